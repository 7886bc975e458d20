/* Effective masses at interfaces, found by trial steps: each subsystem makes two steps with and
 * without a small change of one input, and everything is rolled back.
 *
 *   wrench sides   a constant wrench         -> acceleration: the change of velocity over the steps
 *   motion sides   a constant acceleration   -> the reaction wrench
 *
 * along all constrained axes of all interfaces of the subsystem. With e the wrenches on the wrench
 * sides, a their accelerations, and f the reaction wrenches of the motion sides, the answers are
 * the four matrices of
 *
 *   a = Y e + D a                f = C e + Z a                e = -f
 *
 * D and C are not zero for subsystems that have interfaces of both kinds. The gain of all
 * interfaces together is J in f = -J e, with J = -(C + Z (1 - D)^-1 Y). The gain J_i of one
 * interface, with all others closed, satisfies
 *
 *   1 - J_i = ((1 - J)^-1)_ii^-1
 *
 * and its largest eigenvalue is the mass ratio in the worst direction.
 *
 * Over two steps, the answer of an integrator differs from that of the mass by a factor, which is
 * measured on a free mass in a subsystem of the same kind and divided out. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "coupling/arguments.h"
#include "coupling/loops.h"
#include "coupling/system.h"
#include "math/dense.h"
#include "math/eigen.h"

/* Largest number of unknowns (the matrices are dense), and number of axes of one interface. */
enum { UNKNOWNS_MAX = 600, AXES = 6 };
/* Steps of a trial, and steps after which multistep methods have their history. */
enum { STEPS = 2, WARM_UP = 4 };
/* Smallest displacement (m, rad) by a change of the acceleration: larger than the errors of the
 * solvers' iterations. */
static const double LEAST_DISPLACEMENT = 1e-8;

typedef struct axis {
    /* 0 to 2: translations, 3 to 5: rotations. */
    int interface, number;
    yk_vec3 direction;

    /* From A's marker to B's, the point at which B's force acts on A. */
    yk_vec3 lever;
} axis;

typedef struct gains {
    yk_system *system;
    double h;

    /* All constrained axes, and the n x n matrices over them, row-major. */
    int n;
    axis *axes;
    double *y, *d, *c, *z;

    /* Per axis: mass of A from its own acceleration; acceleration of B from the prescribed one. */
    double *mass, *followed;

    /* For all ports of one participant: outputs without change, with a positive and with a negative
     * change; inputs. */
    int port_capacity;
    yk_port_value *answers;
    yk_input *kept;
} gains;

/* Trials --------------------------------------------------------------------------------------- */

static double component(const axis *a, yk_vec3 linear, yk_vec3 angular)
{
    if (a->number < 3)
        return yk_v3_dot(linear, a->direction);
    return yk_v3_dot(angular, a->direction);
}

/* Makes two steps of a participant from the saved state, with one input changed. An explicit method
 * responds to a spring in the second step only. */
static yk_status try_participant(gains *g, int participant, const axis *changed, bool wrench,
                                 double amount, yk_port_value *answer)
{
    yk_system *system = g->system;
    yk_participant *p = &system->participants[participant];
    size_t ports = (size_t)p->port_count;
    yk_status status = yk_system_rollback_participant(system, participant);
    if (YK_FAILED(status))
        return status;

    memcpy(g->kept, p->inputs, ports * sizeof *g->kept);
    if (changed) {
        const yk_interface_def *def = &system->interfaces[changed->interface].def;
        bool rotates = changed->number >= 3;
        yk_vec3 along = changed->direction;

        /* A change of the wrench at the marker of B, or of its acceleration. */
        if (wrench) {
            yk_input *input = &p->inputs[def->wrench_port.index];
            yk_vec3 torque = along;
            if (!rotates) {
                torque = yk_v3_cross(changed->lever, along);
                input->linear[0] = yk_v3_axpy(amount, along, input->linear[0]);
            }

            input->angular[0] = yk_v3_axpy(amount, torque, input->angular[0]);
        } else {
            yk_input *input = &p->inputs[def->motion_port.index];
            yk_vec3 *second = rotates ? &input->angular[2] : &input->linear[2];
            *second = yk_v3_axpy(amount / 2, along, *second);
        }
    }

    /* Prescribed motions continue from one step to the next. */
    for (int k = 0; !YK_FAILED(status) && k < STEPS; k++) {
        system->t = yk_system_time(system) + k * g->h;
        status = yk_system_advance_participant(system, participant);

        for (int i = 0; i < system->interface_count; i++) {
            const yk_interface *interface = &system->interfaces[i];
            if (!yk_is_motion_side(interface, participant))
                continue;

            yk_input *input = &p->inputs[interface->def.motion_port.index];
            *input = yk_input_shift(input, interface->kind, g->h);
        }
    }

    memcpy(p->inputs, g->kept, ports * sizeof *g->kept);
    memcpy(answer, p->values, ports * sizeof *answer);

    return status;
}

/* Difference of the velocities of two motions along an axis. */
static double speed_between(const axis *seen, const yk_motion *p, const yk_motion *q)
{
    yk_vec3 linear = yk_v3_sub(p->velocity, q->velocity);
    yk_vec3 angular = yk_v3_sub(p->angular_velocity, q->angular_velocity);
    return component(seen, linear, angular);
}

/* Changes of the outputs of a participant by one changed input: a column of two of the matrices. */
static yk_status try_axis(gains *g, int participant, int column, bool wrench)
{
    yk_system *system = g->system;
    const axis *changed = &g->axes[column];
    const yk_interface *interface = &system->interfaces[changed->interface];
    yk_port_value *base = g->answers;
    yk_port_value *plus = base + g->port_capacity;
    yk_port_value *minus = plus + g->port_capacity;

    /* A change of the size of the present wrench. The displacement by an acceleration must exceed
     * the errors of the solvers. */
    double amount;
    if (wrench) {
        const yk_wrench *applied = &interface->applied;
        amount = 1 + fabs(component(changed, applied->force, applied->torque));
    } else {
        const yk_motion *now = &base[interface->def.motion_port.index].motion;
        amount = 1 + fabs(component(changed, now->acceleration, now->angular_acceleration));
        amount = fmax(amount, 2 * LEAST_DISPLACEMENT / (g->h * g->h));
    }

    /* Central difference: the even part of the change is of second order. */
    yk_status status = try_participant(g, participant, changed, wrench, amount, plus);
    if (!YK_FAILED(status))
        status = try_participant(g, participant, changed, wrench, -amount, minus);
    if (YK_FAILED(status))
        return status;

    double *accelerations = g->d;
    double *wrenches = g->z;
    if (wrench) {
        accelerations = g->y;
        wrenches = g->c;
    }

    double time = STEPS * g->h;
    for (int row = 0; row < g->n; row++) {
        const axis *seen = &g->axes[row];
        const yk_interface_def *def = &system->interfaces[seen->interface].def;
        size_t entry = (size_t)row * (size_t)g->n + (size_t)column;

        /* Acceleration of a wrench side, and its mass from its own acceleration. */
        if (def->wrench_subsystem.index == participant) {
            const yk_motion *p = &plus[def->wrench_port.index].motion;
            const yk_motion *q = &minus[def->wrench_port.index].motion;
            double speed = speed_between(seen, p, q);
            accelerations[entry] = speed / (2 * amount * STEPS * g->h);

            yk_vec3 linear = yk_v3_sub(p->acceleration, q->acceleration);
            yk_vec3 angular = yk_v3_sub(p->angular_acceleration, q->angular_acceleration);
            double rate = component(seen, linear, angular);
            if (!(fabs(rate) > 0))
                rate = speed / time;
            if (wrench && row == column)
                g->mass[row] = 2 * amount / rate;
        }

        /* Reaction wrench of a motion side, and its measured acceleration. */
        if (def->motion_subsystem.index == participant) {
            const yk_port_value *p = &plus[def->motion_port.index];
            const yk_port_value *q = &minus[def->motion_port.index];
            yk_vec3 force = yk_v3_sub(p->wrench.force, q->wrench.force);
            yk_vec3 torque = yk_v3_sub(p->wrench.torque, q->wrench.torque);
            wrenches[entry] = component(seen, force, torque) / (2 * amount);

            double speed = speed_between(seen, &p->motion, &q->motion);
            if (!wrench && row == column)
                g->followed[row] = speed / (2 * amount * STEPS * g->h);
        }
    }

    return YK_OK;
}

/* The matrices of a system from its present state. Changes the states. */
static yk_status try_all(gains *g)
{
    yk_system *system = g->system;
    yk_system_save_participants(system);
    system->h = g->h;

    for (int participant = 0; participant < system->participant_count; participant++) {
        /* Without interfaces there are no columns. */
        bool joined = false;
        for (int i = 0; i < g->n; i++) {
            const yk_interface_def *def = &system->interfaces[g->axes[i].interface].def;
            if (def->wrench_subsystem.index == participant ||
                def->motion_subsystem.index == participant)
                joined = true;
        }

        if (!joined)
            continue;

        /* Motion inputs continue the present motion. */
        yk_participant *p = &system->participants[participant];
        for (int i = 0; i < system->interface_count; i++) {
            const yk_interface *interface = &system->interfaces[i];
            int port = interface->def.motion_port.index;
            if (yk_is_motion_side(interface, participant))
                yk_input_taylor(interface->kind, &p->values[port].motion, &p->inputs[port]);
        }

        /* The step without a change, then with a change of each of its inputs. */
        yk_status status = try_participant(g, participant, NULL, false, 0, g->answers);
        for (int i = 0; !YK_FAILED(status) && i < g->n; i++) {
            const yk_interface_def *def = &system->interfaces[g->axes[i].interface].def;
            if (def->wrench_subsystem.index == participant)
                status = try_axis(g, participant, i, true);
            if (!YK_FAILED(status) && def->motion_subsystem.index == participant)
                status = try_axis(g, participant, i, false);
        }

        if (YK_FAILED(status))
            return status;
    }

    return YK_OK;
}

/* Memory --------------------------------------------------------------------------------------- */

/* Lists all constrained axes of interfaces that prescribe a motion; returns their number. */
static int list_axes(const yk_system *system, axis *axes)
{
    int n = 0;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (yk_both_take_wrench(interface))
            continue;

        const yk_motion *a = &yk_value_a(system, interface)->motion;
        const yk_motion *b = &yk_value_b(system, interface)->motion;

        for (int k = 0; k < yk_port_freedoms(interface->kind); k++) {
            if (!(interface->def.constrained_axes >> k & 1))
                continue;

            /* In the axes of B, which the constraint uses. */
            axis along = {.interface = i, .number = k};
            along.direction = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            if (interface->kind == YK_PORT_MARKER) {
                along.direction = yk_q_rotate(b->orientation, along.direction);
                along.lever = yk_v3_sub(b->position, a->position);
            }

            if (axes)
                axes[n] = along;
            n++;
        }
    }

    return n;
}

static yk_status allocate_gains(yk_system *system, double step, gains *g)
{
    *g = (gains){.system = system, .h = step, .n = list_axes(system, NULL)};
    if (g->n == 0 || g->n > UNKNOWNS_MAX)
        return YK_OK;

    yk_context *context = system->context;
    size_t n = (size_t)g->n;
    size_t square = n * n;

    /* Buffers for the answers of one participant at a time. */
    for (int i = 0; i < system->participant_count; i++)
        if (system->participants[i].port_count > g->port_capacity)
            g->port_capacity = system->participants[i].port_count;

    g->axes = yk_allocate(context, n, sizeof *g->axes);
    g->answers = yk_allocate(context, 3 * (size_t)g->port_capacity, sizeof *g->answers);
    g->kept = yk_allocate(context, (size_t)g->port_capacity, sizeof *g->kept);
    g->y = yk_allocate(context, 4 * square + 2 * n, sizeof *g->y);
    if (!g->axes || !g->answers || !g->kept || !g->y)
        return YK_ERROR_MEMORY;

    g->d = g->y + square;
    g->c = g->d + square;
    g->z = g->c + square;
    g->mass = g->z + square;
    g->followed = g->mass + n;
    list_axes(system, g->axes);

    return YK_OK;
}

static void release_gains(gains *g)
{
    yk_context *context = g->system->context;
    yk_free(context, g->axes);
    yk_free(context, g->answers);
    yk_free(context, g->kept);
    yk_free(context, g->y);
}

/* Gains ---------------------------------------------------------------------------------------- */

/* Removes the factor of a participant's method, measured on a free mass. */
static yk_status calibrate(gains *g, int participant)
{
    yk_system *system = g->system;
    int first = -1;
    for (int i = 0; first < 0 && i < g->n; i++) {
        const yk_interface_def *def = &system->interfaces[g->axes[i].interface].def;
        if (def->wrench_subsystem.index == participant ||
            def->motion_subsystem.index == participant)
            first = g->axes[i].interface;
    }

    if (first < 0)
        return YK_OK;

    /* Two free masses in place of both sides. `warm_up`: multistep methods have their history. */
    const int sides[2] = {participant, participant};
    yk_port_kind kind = system->interfaces[first].kind;
    yk_surrogate pair;
    gains own = {.system = system};
    yk_status status = yk_surrogate_create(system, sides, kind, g->h, 1, &pair);
    if (status == YK_OK)
        status = yk_system_initialize(pair.system);
    bool in_progress = system->step_count > 0 && g->h == system->step;

    for (int i = 0; !YK_FAILED(status) && in_progress && i < WARM_UP; i++)
        status = yk_system_step(pair.system, NULL);
    if (!YK_FAILED(status))
        status = allocate_gains(pair.system, g->h, &own);
    if (!YK_FAILED(status) && own.n == 1)
        status = try_all(&own);

    /* For a free mass of 1 kg, any deviation of the answer from 1 is caused by the method. */
    bool known = !YK_FAILED(status) && own.n == 1;
    known = known && own.y[0] > 0 && own.z[0] > 0 && own.followed[0] > 0;

    for (int row = 0; known && row < g->n; row++) {
        const yk_interface_def *def = &system->interfaces[g->axes[row].interface].def;
        for (int column = 0; column < g->n; column++) {
            size_t entry = (size_t)row * (size_t)g->n + (size_t)column;
            if (def->wrench_subsystem.index == participant) {
                g->y[entry] /= own.y[0];
                g->d[entry] /= own.followed[0];
            }

            if (def->motion_subsystem.index == participant)
                g->z[entry] /= own.z[0];
        }
    }

    release_gains(&own);
    yk_surrogate_destroy(&pair);

    /* If the factor is unknown, the answers remain unchanged. */
    if (status == YK_ERROR_MEMORY)
        return status;
    return YK_OK;
}

/* Solves a x = b for `count` columns of b in place; a is overwritten. */
static yk_status solve(int n, double *a, int *pivot, int count, double *b, double *work)
{
    /* One factorization for all columns. */
    yk_status status = yk_lu_factor(n, a, pivot);
    for (int k = 0; status == YK_OK && k < count; k++) {
        for (int i = 0; i < n; i++)
            work[i] = b[i * count + k];

        yk_lu_solve(n, a, pivot, work);
        for (int i = 0; i < n; i++)
            b[i * count + k] = work[i];
    }

    return status;
}

/* K = (1 - J)^-1 into y; c, d and z are overwritten. */
static yk_status close_all(gains *g, double *work, int *pivot)
{
    /* (1 - D)^-1 Y */
    size_t n = (size_t)g->n;
    for (size_t i = 0; i < n * n; i++)
        g->d[i] = (i % (n + 1) == 0) - g->d[i];

    yk_status status = solve(g->n, g->d, pivot, g->n, g->y, work);
    if (status != YK_OK)
        return status;

    /* 1 - J = 1 + C + Z (1 - D)^-1 Y */
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            double sum = (i == k) + g->c[i * n + k];
            for (size_t j = 0; j < n; j++)
                sum += g->z[i * n + j] * g->y[j * n + k];

            g->d[i * n + k] = sum;
        }
    }

    for (size_t i = 0; i < n * n; i++)
        g->y[i] = i % (n + 1) == 0;

    return solve(g->n, g->d, pivot, g->n, g->y, work);
}

/* The gain of one interface with all others closed; its axes begin at `first`. */
static void conclude(const gains *g, int first, int count, yk_interface_masses *probe)
{
    double block[AXES * AXES];
    double gain[AXES * AXES];
    double work[AXES];
    int pivot[AXES];

    /* 1 - J_i = (K_ii)^-1. */
    for (int i = 0; i < count; i++) {
        const double *row = g->y + (size_t)(first + i) * (size_t)g->n;
        for (int k = 0; k < count; k++) {
            block[i * count + k] = row[first + k];
            gain[i * count + k] = i == k;
        }
    }

    if (solve(count, block, pivot, count, gain, work) != YK_OK)
        return;

    /* -J, and its largest eigenvalue. The other eigenvalues belong to directions in which the
     * masses differ less. */
    double real[AXES];
    double imaginary[AXES];
    double vectors[AXES * AXES];

    for (int i = 0; i < count; i++)
        gain[i * count + i] -= 1;

    yk_status status =
        yk_eigen_general_vectors(g->system->context, count, gain, real, imaginary, vectors);
    if (status != YK_OK)
        return;

    int worst = 0;
    for (int i = 1; i < count; i++)
        if (hypot(real[i], imaginary[i]) > hypot(real[worst], imaginary[worst]))
            worst = i;

    double ratio = hypot(real[worst], imaginary[worst]);
    if (!isfinite(ratio))
        return;

    /* The axis nearest to the direction. Translations before rotations, because their components
     * have different units. */
    int along = 0;
    for (int i = 1; i < count; i++)
        if (fabs(vectors[worst * count + i]) > fabs(vectors[worst * count + along]))
            along = i;

    double mass = g->mass[first + along];
    probe->axis = g->axes[first + along].number;
    probe->wrench_mass = mass;
    probe->motion_mass = ratio * mass;
    probe->mass_ratio = ratio;
}

static yk_status find_gains(gains *g, yk_interface_masses *probes)
{
    yk_system *system = g->system;
    yk_context *context = system->context;
    size_t n = (size_t)g->n;
    double *work = yk_allocate(context, n, sizeof *work);
    int *pivot = yk_allocate(context, n, sizeof *pivot);
    yk_status status = YK_OK;
    if (!work || !pivot)
        status = YK_ERROR_MEMORY;

    /* The matrices without the factors of the methods, then the system with all interfaces closed,
     * then each interface. */
    if (status == YK_OK)
        status = try_all(g);
    for (int i = 0; !YK_FAILED(status) && i < system->participant_count; i++)
        status = calibrate(g, i);
    if (!YK_FAILED(status))
        status = close_all(g, work, pivot);

    for (int first = 0, count; status == YK_OK && first < g->n; first += count) {
        int interface = g->axes[first].interface;
        for (count = 1; first + count < g->n && g->axes[first + count].interface == interface;)
            count++;

        conclude(g, first, count, &probes[interface]);
    }

    yk_free(context, work);
    yk_free(context, pivot);

    /* Masses that could not be measured are unknown. */
    if (status == YK_ERROR_MEMORY)
        return status;
    return YK_OK;
}

/* Trials that leave the system as it was -------------------------------------------------------- */

typedef yk_status (*system_trial)(yk_system *system, void *user);

/* Makes a trial and restores everything that it changes: state, inputs, clock and statistics. */
static yk_status try_and_restore(yk_system *system, system_trial trial, void *user)
{
    yk_context *context = system->context;
    size_t participants = (size_t)system->participant_count;
    size_t ports = 0;
    for (size_t i = 0; i < participants; i++)
        ports += (size_t)system->participants[i].port_count;

    double *image = yk_allocate(context, system->layout.word_count, sizeof *image);
    yk_participant *kept = yk_allocate(context, participants, sizeof *kept);
    yk_input *inputs = yk_allocate(context, ports, sizeof *inputs);
    yk_status status = YK_ERROR_MEMORY;
    if (image && kept && inputs) {
        double t = system->t;
        double h = system->h;
        yk_input *next = inputs;
        for (size_t i = 0; i < participants; i++) {
            const yk_participant *p = &system->participants[i];
            memcpy(next, p->inputs, (size_t)p->port_count * sizeof *next);
            next += p->port_count;
            kept[i] = *p;
        }

        yk_system_get_state(system, image);

        /* A failed trial is not reported to the user. */
        yk_quiet_begin(context);
        status = trial(system, user);
        yk_quiet_end(context);

        yk_status restored = yk_system_set_state(system, image);
        if (status == YK_OK)
            status = restored;
        system->t = t;
        system->h = h;

        next = inputs;
        for (size_t i = 0; i < participants; i++) {
            yk_participant *p = &system->participants[i];
            memcpy(p->inputs, next, (size_t)p->port_count * sizeof *next);
            next += p->port_count;
            p->statistics = kept[i].statistics;
            p->timed_calls = kept[i].timed_calls;
            p->status = kept[i].status;
            p->advanced = kept[i].advanced;
        }
    }

    yk_free(context, image);
    yk_free(context, kept);
    yk_free(context, inputs);
    return status;
}

typedef struct interface_trial {
    gains gains;
    yk_interface_masses *probes;
} interface_trial;

static yk_status try_interfaces(yk_system *system, void *user)
{
    (void)system;
    interface_trial *trial = user;
    return find_gains(&trial->gains, trial->probes);
}

yk_status yk_system_probe_interfaces(yk_system *system, double step, yk_interface_masses *probes)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_memory(system, __func__, "probes", probes))
        return YK_ERROR_ARGUMENT;
    if (!(step > 0) || !isfinite(step))
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "%s: the step is %g s, must be positive and finite", __func__, step);

    const yk_interface_masses unknown = {
        .axis = -1,
        .wrench_mass = NAN,
        .motion_mass = NAN,
        .mass_ratio = NAN,
    };

    for (int i = 0; i < system->interface_count; i++)
        probes[i] = unknown;

    /* The mass ratio matters only if wrenches and motions are exchanged. */
    bool exchanges = !(system->traits & (YK_SCHEME_MERGES | YK_SCHEME_IS_FORCE_FORCE));
    if (!exchanges || system->layout.word_count == 0)
        return YK_OK;

    interface_trial trial = {.probes = probes};
    yk_status status = allocate_gains(system, step, &trial.gains);
    if (status == YK_OK && trial.gains.y)
        status = try_and_restore(system, try_interfaces, &trial);
    release_gains(&trial.gains);
    return status;
}

typedef struct loop_trial {
    yk_loop *loop;
    double step, gain;
} loop_trial;

static yk_status try_loop(yk_system *system, void *user)
{
    loop_trial *trial = user;
    system->t = yk_system_time(system);
    system->h = trial->step;
    return yk_loops_find_gain(system, trial->loop, &trial->gain);
}

double yk_system_loop_gain(yk_system *system, int loop, double step)
{
    if (!yk_system_has_started(system, __func__) || !yk_system_has_loop(system, __func__, loop) ||
        system->layout.word_count == 0 || !(step > 0))
        return NAN;

    loop_trial trial = {&system->loops[loop], step, NAN};
    if (try_and_restore(system, try_loop, &trial) != YK_OK)
        return NAN;
    return trial.gain;
}

/* Two free masses ------------------------------------------------------------------------------ */

/* Number of steps in which a deviation is followed, and factor by which it may be larger in the
 * last quarter than in the second. */
enum { PAIR_STEPS = 320 };
static const double STEADY = 1.5;
/* A wrench that is larger than those of the first steps by this factor proves instability. */
enum { FIRST = 12 };
static const double EXPLODED = 1e4;
/* Initial deviation, in the units of each word; noise relative to the largest wrench; residual that
 * iterations may leave. */
static const double DEVIATION = 1e-6;
static const double NOISE = 1e-5;
static const double LEFT = 1e-9;

yk_status yk_surrogate_create(const yk_system *system, const int sides[2], yk_port_kind kind,
                              double step, double ratio, yk_surrogate *surrogate)
{
    static const char *const names[2] = {"wrench side", "motion side"};
    *surrogate = (yk_surrogate){.system = NULL};

    /* A free mass in place of each side, with the same method. */
    const double mass[2] = {1, ratio};
    int substeps[2];

    for (int i = 0; i < 2; i++) {
        const yk_participant *p = &system->participants[sides[i]];
        const yk_merge_ops *ops = p->subsystem->ops->merge;
        substeps[i] = p->substeps;
        if (!ops)
            return YK_ERROR_CAPABILITY;

        yk_status status =
            ops->create_free_mass(p->subsystem, mass[i], kind, &surrogate->masses[i]);
        if (status != YK_OK)
            return status;
    }

    /* The wrenches are caused by the deviation from rest only. */
    const yk_scheme_ops *scheme = system->scheme_def.ops;
    double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
    memcpy(options, system->scheme_def.options, scheme->options_size);
    if (scheme->configure_for_trial)
        scheme->configure_for_trial(options, LEFT * DEVIATION * fmax(1, ratio) / (step * step));

    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    yk_system_description def = {
        .subsystems = surrogate->masses,
        .names = names,
        .subsystem_count = 2,
        .substeps = substeps,
        .interfaces = &joint,
        .interface_count = 1,
        .scheme = {.ops = scheme, .options = options},
        .step = step,
        .control = yk_step_control_default(),
    };

    return yk_system_make(system->context, &def, &surrogate->system);
}

void yk_surrogate_destroy(yk_surrogate *surrogate)
{
    yk_system_destroy(surrogate->system);
    for (int i = 0; i < 2; i++)
        if (surrogate->masses[i])
            surrogate->masses[i]->ops->destroy(surrogate->masses[i]);
}

yk_status yk_surrogate_try(yk_context *context, const yk_surrogate *surrogate,
                           yk_surrogate_fate *fate)
{
    yk_system *system = surrogate->system;
    *fate = YK_SURROGATE_UNSTABLE;
    yk_status status = yk_system_initialize(system);
    if (status != YK_OK)
        return status;
    if (system->layout.word_count == 0)
        return YK_ERROR_CAPABILITY;

    /* Change every word of the state a little, with varying signs. */
    double *image = yk_allocate(context, system->layout.word_count, sizeof *image);
    if (!image)
        return YK_ERROR_MEMORY;

    yk_system_get_state(system, image);
    unsigned seed = 1;
    for (size_t i = 0; i < system->layout.continuous_count; i++) {
        seed = seed * 1664525u + 1013904223u;
        image[i] += DEVIATION * (seed / 2147483648.0 - 1);
    }

    status = yk_system_set_state(system, image);
    yk_free(context, image);

    /* The largest wrench of the first steps, of the second quarter, and of the last quarter. */
    double largest = 0;
    double first = 0;
    double second = 0;
    double last = 0;
    bool converged = true;

    for (int i = 0; !YK_FAILED(status) && i < PAIR_STEPS && largest <= EXPLODED * first; i++) {
        status = yk_system_step(system, NULL);
        converged = converged && status != YK_NOT_CONVERGED;
        double wrench = fabs(
            yk_system_port_value(system, (yk_subsystem_id){1}, (yk_port_id){0})->wrench.force.x);
        if (!(wrench <= largest))
            largest = wrench;
        if (i < FIRST)
            first = largest;
        if (i >= PAIR_STEPS / 4 && i < PAIR_STEPS / 2 && wrench > second)
            second = wrench;
        if (i >= 3 * PAIR_STEPS / 4 && wrench > last)
            last = wrench;
    }

    if (status == YK_ERROR_MEMORY)
        return status;

    /* Iterations that end early do no harm as long as their residual does not grow. */
    bool grew = last > fmax(STEADY * second, NOISE * largest);
    if (YK_FAILED(status) || largest > EXPLODED * first)
        grew = true;
    *fate = YK_SURROGATE_STABLE;
    if (grew && converged)
        *fate = YK_SURROGATE_UNSTABLE;
    else if (grew)
        *fate = YK_SURROGATE_NOT_CONVERGED;
    return YK_OK;
}
