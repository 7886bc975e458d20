/* Creation, state image and consistent start of the scheme index1. */
#include <math.h>
#include <string.h>

#include "base/restored.h"
#include "coupling/index1/index1.h"
#include "coupling/participant.h"

/* A Jacobian of the interfaces and of the first `wires` wires that are unknowns. */
static yk_status create_jacobian(yk_system *system, const yk_jacobian_def *sizes, int wires,
                                 yk_jacobian **jacobian)
{
    const yk_index1 *x = yk_index1_of(system);
    yk_context *context = system->context;
    size_t count = (size_t)(system->interface_count + wires);
    yk_jacobian_interface *interfaces = yk_allocate(context, count, sizeof *interfaces);
    if (!interfaces)
        return YK_ERROR_MEMORY;

    /* Constraints and relations ... */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        const yk_constraint *constraint = &x->interfaces[i].constraint;
        int global_rows = 0;
        if (constraint->kind == YK_PORT_MARKER && constraint->row[0].kind == YK_ROW_POINT)
            global_rows = 3;
        interfaces[i] = (yk_jacobian_interface){
            .participant = {def->wrench_subsystem.index, def->motion_subsystem.index},
            .port = {def->wrench_port.index, def->motion_port.index},
            .rows = constraint->row_count,
            .relation = yk_index1_is_relation(interface),
            .global_rows = global_rows,
            .coordinates = yk_coordinates(interface->kind),
        };
    }

    /* ... then wires. */
    for (int i = 0; i < wires; i++) {
        const yk_wire_def *wire = &system->wires[x->wires[i].wire].def;
        interfaces[system->interface_count + i] = (yk_jacobian_interface){
            .participant = {wire->source_subsystem.index, wire->target_subsystem.index},
            .port = {wire->source_port.index, wire->target_port.index},
            .rows = 1,
            .wire = true,
            .coordinates = YK_SCALAR_COORDINATES,
        };
    }

    yk_jacobian_def def = *sizes;
    def.participant_count = system->participant_count;
    def.interface_count = (int)count;
    def.interfaces = interfaces;
    yk_status status = yk_jacobian_create(context, &def, jacobian);
    yk_free(context, interfaces);

    return status;
}

/* Allocate the sensitivities of participants that report them, for one step per macro step. */
static yk_status create_sensitivities(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    yk_context *context = system->context;
    size_t participants = (size_t)system->participant_count;
    x->sensitivity = yk_allocate(context, participants, sizeof *x->sensitivity);
    if (!x->sensitivity)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < system->participant_count; i++) {
        /* The responses of the others are found by finite differences. */
        if (!yk_index1_has_sensitivity(system, i))
            continue;

        /* Rows by all coefficients of all of its wrenches. */
        const yk_port_response *r = yk_jacobian_response(x->jacobian, i);
        int width = 0;
        for (int c = 0; c < r->connection_count; c++) {
            int interface = r->connections[c].interface;
            width += yk_port_freedoms(x->interfaces[interface].constraint.kind);
        }

        size_t words = (size_t)(r->rows * width * YK_INPUT_COEFFICIENT_COUNT);
        x->sensitivity[i] = yk_allocate(context, words, sizeof **x->sensitivity);
        if (!x->sensitivity[i])
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

yk_status yk_index1_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    yk_context *context = system->context;
    yk_index1 *x = yk_allocate(context, 1, sizeof *x);
    if (!x)
        return YK_ERROR_MEMORY;

    x->options = *(const yk_index1_options *)options;
    *scheme = &x->base;

    for (int i = 0; i < YK_INPUT_COEFFICIENT_COUNT; i++)
        x->bases[i] = yk_index1_basis_of(i);
    x->basis = &x->bases[x->options.polynomial_degree];
    size_t participants = (size_t)system->participant_count;
    x->interfaces = yk_allocate(context, (size_t)system->interface_count, sizeof *x->interfaces);
    x->moments = yk_allocate(context, participants, sizeof *x->moments);
    x->difference_runs = yk_allocate(context, participants, sizeof *x->difference_runs);
    if (!x->interfaces || !x->moments || !x->difference_runs)
        return YK_ERROR_MEMORY;

    /* Substeps of participants that do not follow polynomials get straight lines or means instead,
     * so that both sides of an interface receive the same impulse. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        p->shaped = !yk_subsystem_can_follow_polynomials(p->subsystem);
    }

    /* Constraints, and moments of relations. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        x->interfaces[i].constraint = yk_constraint_of(interface->kind, def);

        yk_motion **moments = &x->moments[def->motion_subsystem.index];
        if (!yk_index1_is_relation(interface) || *moments)
            continue;

        size_t ports = (size_t)yk_interface_b(system, interface)->port_count;
        *moments = yk_allocate(context, ports, sizeof **moments);
        if (!*moments)
            return YK_ERROR_MEMORY;
    }

    /* The Jacobians: of a step, and of the accelerations at the start. */
    yk_status status = yk_index1_create_wires(system);
    if (status != YK_OK)
        return status;

    const yk_jacobian_def whole = {
        .parameters = x->basis->parameters,
        .motions = YK_INDEX1_MOTIONS,
    };
    status = create_jacobian(system, &whole, x->wire_count, &x->jacobian);
    if (status != YK_OK)
        return status;

    const yk_jacobian_def start = {
        .parameters = 1,
        .motions = 1,
        .first_level = YK_LEVELS - 1,
    };
    status = create_jacobian(system, &start, 0, &x->start_jacobian);
    if (status != YK_OK)
        return status;

    status = create_sensitivities(system);
    if (status != YK_OK)
        return status;

    /* Vectors of Newton's method, and threads for the runs of all subsystems. */
    size_t size = (size_t)yk_jacobian_size(x->jacobian);
    x->correction = yk_allocate(context, size, sizeof *x->correction);
    x->applied = yk_allocate(context, size, sizeof *x->applied);
    x->change = yk_allocate(context, size, sizeof *x->change);
    x->held = yk_allocate(context, size, sizeof *x->held);
    if (!x->correction || !x->applied || !x->change || !x->held)
        return YK_ERROR_MEMORY;
    return yk_system_use_threads(system, x->options.thread_count);
}

void yk_index1_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_index1 *x = (yk_index1 *)scheme;

    /* If creation failed, some members do not exist. */
    for (int i = 0; x->moments && i < system->participant_count; i++)
        yk_free(system->context, x->moments[i]);

    yk_free(system->context, x->moments);
    yk_free(system->context, x->difference_runs);

    for (int i = 0; x->sensitivity && i < system->participant_count; i++)
        yk_free(system->context, x->sensitivity[i]);

    yk_free(system->context, x->sensitivity);
    yk_jacobian_destroy(x->jacobian);
    yk_jacobian_destroy(x->start_jacobian);
    yk_free(system->context, x->interfaces);
    yk_free(system->context, x->wires);
    yk_free(system->context, x->correction);
    yk_free(system->context, x->applied);
    yk_free(system->context, x->change);
    yk_free(system->context, x->held);
    yk_free(system->context, x);
}

/* State ---------------------------------------------------------------------------------------- */

/* The scalars of the state, in the order of the image. */
enum { LAST_STEP, JACOBIAN_STEP, JACOBIAN_DEGREE, LAST_RATE, JUMPED, SCALARS };
enum {
    EARLIER_WORDS = 2 * sizeof(yk_motion) / sizeof(double),
    MEAN_WORDS = 2 * sizeof(yk_wrench) / sizeof(double)
};

yk_state_layout yk_index1_layout(const yk_scheme *scheme, const yk_system *system)
{
    const yk_index1 *x = (const yk_index1 *)scheme;
    yk_state_layout layout = {.word_count = SCALARS + (size_t)x->wire_count};
    for (int i = 0; i < system->interface_count; i++) {
        size_t rows = (size_t)x->interfaces[i].constraint.row_count;
        layout.continuous_count += rows * YK_INPUT_COEFFICIENT_COUNT + MEAN_WORDS;
        layout.word_count += EARLIER_WORDS + rows + 1;
    }

    /* Kept responses contain Broyden updates and cannot be recomputed. */
    if (x->options.jacobian_update == YK_JACOBIAN_UPDATE_REUSE)
        layout.word_count += yk_jacobian_words(x->jacobian);
    layout.word_count += layout.continuous_count;

    return layout;
}

void yk_index1_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                   double *opaque)
{
    const yk_index1 *x = (const yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *own = &x->interfaces[i];
        int rows = own->constraint.row_count;
        size_t words = (size_t)rows * YK_INPUT_COEFFICIENT_COUNT;
        memcpy(continuous, own->multiplier, words * sizeof *continuous);
        memcpy(continuous + words, own->last_mean, sizeof own->last_mean);
        continuous += words + MEAN_WORDS;

        memcpy(opaque, own->earlier, sizeof own->earlier);
        opaque += EARLIER_WORDS;

        for (int row = 0; row < rows; row++)
            *opaque++ = own->trend[row];
        *opaque++ = own->repeats;
    }

    /* Data for the next prediction and for the decision about the Jacobian. */
    opaque[LAST_STEP] = x->last_step;
    opaque[JACOBIAN_STEP] = x->jacobian_step;
    opaque[JACOBIAN_DEGREE] = x->jacobian_degree;
    opaque[LAST_RATE] = x->last_rate;
    opaque[JUMPED] = x->jumped;
    opaque += SCALARS;

    for (int i = 0; i < x->wire_count; i++)
        *opaque++ = x->wires[i].earlier;
    if (x->options.jacobian_update == YK_JACOBIAN_UPDATE_REUSE)
        yk_jacobian_get(x->jacobian, opaque);
}

bool yk_index1_is_valid(const yk_scheme *scheme, const yk_system *system, const double *continuous,
                        const double *opaque)
{
    (void)continuous;
    const yk_index1 *x = (const yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++)
        opaque += EARLIER_WORDS + x->interfaces[i].constraint.row_count + 1;
    if (!yk_is_restored_word(opaque[JACOBIAN_DEGREE], YK_INPUT_DEGREE_MAX))
        return false;
    if (x->options.jacobian_update != YK_JACOBIAN_UPDATE_REUSE)
        return true;

    return yk_jacobian_is_valid(x->jacobian, opaque + SCALARS + x->wire_count);
}

void yk_index1_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                   const double *opaque)
{
    /* In the order of yk_index1_get(). */
    yk_index1 *x = (yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        int rows = own->constraint.row_count;
        size_t words = (size_t)rows * YK_INPUT_COEFFICIENT_COUNT;
        memcpy(own->multiplier, continuous, words * sizeof *continuous);
        memcpy(own->last_mean, continuous + words, sizeof own->last_mean);
        continuous += words + MEAN_WORDS;

        memcpy(own->earlier, opaque, sizeof own->earlier);
        opaque += EARLIER_WORDS;

        for (int row = 0; row < rows; row++)
            own->trend[row] = *opaque++;

        own->repeats = *opaque++ != 0;
    }

    x->last_step = opaque[LAST_STEP];
    x->jacobian_step = opaque[JACOBIAN_STEP];
    x->jacobian_degree = (int)opaque[JACOBIAN_DEGREE];
    x->last_rate = opaque[LAST_RATE];
    x->jumped = opaque[JUMPED] != 0;
    opaque += SCALARS;

    for (int i = 0; i < x->wire_count; i++)
        x->wires[i].earlier = *opaque++;
    if (x->options.jacobian_update == YK_JACOBIAN_UPDATE_REUSE)
        yk_jacobian_set(x->jacobian, opaque);
}

/* Consistent start --------------------------------------------------------------------------------
 *
 * Finds multipliers that satisfy the constraints on acceleration level.
 *
 * Initial accelerations depend linearly on the multipliers, so one Newton step from zero solves the
 * problem; the second step removes rounding errors. Derivatives are differences of starts with one
 * multiplier changed at a time, as in Meyer et al. 2018 (3) for the oscillator, here for any
 * subsystems. Sides with a prescribed motion are given accelerations in the same way, and their
 * wrenches are the unknowns of their partners. */

enum { START_CORRECTIONS = 3 };
static const double CHANGE = 1; /* N, N m */
/* Relative accelerations that remain (m/s^2, rad/s^2), relative to the largest, above which a
 * message is set. */
static const double NOTABLE = 1e-6;
/* A wrench that counts as zero (N, N m): rounding errors leave accelerations that would need one. */
static const double NO_WRENCH = 1e-14;
/* Avoids a division of zero by zero. */
static const double LEAST = 1e-300;

/* Side B of a relation is given the motion of A with the acceleration given[0]. */
static void give_acceleration(const yk_system *system, int number, double acceleration)
{
    const yk_interface *interface = &system->interfaces[number];
    yk_motion motion = yk_value_a(system, interface)->motion;
    motion.acceleration.x = acceleration;
    yk_input_taylor(YK_PORT_SCALAR, &motion, yk_input_b(system, interface));
}

/* Initializes a participant. At the start the answers of relations are values, not moments. */
static yk_status start_participant(yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    yk_status status = yk_system_start_participant(system, participant);
    yk_motion *moments = yk_index1_of(system)->moments[participant];
    for (int port = 0; moments && port < p->port_count; port++)
        moments[port] = (yk_motion){.acceleration.x = -p->values[port].wrench.force.x};

    return status;
}

/* Starts with one multiplier, or one acceleration, changed at a time; then without a change. */
static yk_status start_with_response(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_participant *p = &system->participants[participant];
    yk_port_response *r = yk_jacobian_response(x->start_jacobian, participant);

    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        const yk_index1_interface *own = &x->interfaces[by->interface];
        bool relation = yk_index1_is_relation(&system->interfaces[by->interface]);
        yk_input *input = &p->inputs[by->port];

        for (int row = 0; row < own->constraint.row_count; row++) {
            yk_input kept = *input;
            if (by->side == 1 && relation) {
                give_acceleration(system, by->interface, own->given[0] + CHANGE);
            } else {
                yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
                memcpy(multiplier, own->multiplier, sizeof multiplier);
                multiplier[row].power[0] += CHANGE;
                yk_index1_input(own, by->side, system->h, multiplier, input);
            }

            yk_status status = start_participant(system, participant);
            *input = kept;
            if (status != YK_OK)
                return status;

            /* Store the answers for comparison with those of the start without a change. */
            yk_motion *motion = r->motion + (by->column + row) * r->connection_count;
            for (int k = 0; k < r->connection_count; k++) {
                const yk_connection *c = &r->connections[k];
                motion[k] = yk_index1_answer(system, c->interface, c->side);
            }
        }
    }

    /* The start without a change. */
    yk_status status = start_participant(system, participant);
    if (status != YK_OK)
        return status;

    for (int column = 0; column < r->columns; column++) {
        const yk_motion *motion = r->motion + column * r->connection_count;
        for (int i = 0; i < r->connection_count; i++) {
            const yk_connection *c = &r->connections[i];
            yk_port_kind kind = x->interfaces[c->interface].constraint.kind;
            yk_motion now = yk_index1_answer(system, c->interface, c->side);
            double *entry = r->matrix + c->row * r->columns + column;
            yk_motion_difference(kind, &now, &motion[i], 1 / CHANGE, entry, r->columns);
        }
    }

    return YK_OK;
}

static yk_status start_all(yk_system *system, bool response)
{
    /* Sets wrenches from the multipliers, and the accelerations that relations are given. */
    yk_index1_set_inputs(system);
    for (int i = 0; i < system->interface_count; i++)
        if (yk_index1_is_relation(&system->interfaces[i]))
            give_acceleration(system, i, yk_index1_of(system)->interfaces[i].given[0]);

    for (int i = 0; i < system->participant_count; i++) {
        yk_status status;
        if (response)
            status = start_with_response(system, i);
        else
            status = start_participant(system, i);
        if (status != YK_OK)
            return status;
    }

    return yk_system_start_joined_loops(system);
}

/* Newton's method on acceleration level -------------------------------------------------------- */

/* Residuals: relative accelerations, and those of relations. Returns the largest, relative to the
 * accelerations of the sides. *scale is the largest acceleration of a side in all evaluations,
 * because a system in equilibrium has no accelerations once its wrenches are found. */
static double index1_evaluate_start(const yk_system *system, double *residual, double *scale)
{
    double largest = 0;
    double relations = 0;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *own = &yk_index1_of(system)->interfaces[i];

        /* A relation: the wrench, and the prescribed acceleration. */
        if (yk_index1_is_relation(&system->interfaces[i])) {
            double wrench = yk_index1_answer(system, i, 1).acceleration.x;
            double applied = own->multiplier[0].power[0];
            double acceleration = yk_index1_answer(system, i, 0).acceleration.x;
            double given = own->given[0];
            residual[0] = applied - wrench;
            residual[1] = given - acceleration;
            double force = fabs(residual[0]) / (LEAST + fabs(applied) + fabs(wrench));
            double motion = fabs(residual[1]) / (LEAST + fabs(given) + fabs(acceleration));
            relations = fmax(relations, fmax(force, motion));
            residual += 2;
            continue;
        }

        /* A constraint, on acceleration level. */
        yk_constraint_kinematics at;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_index1_kinematics(system, i, system->start, &at);
        yk_constraint_value(&own->constraint, &at, g);

        for (int row = 0; row < own->constraint.row_count; row++) {
            *residual++ = g[2][row];
            largest = fmax(largest, fabs(g[2][row]));
        }

        /* The scale of accelerations. */
        double linear = yk_v3_norm(at.a.acceleration) + yk_v3_norm(at.b.acceleration);
        double angular =
            yk_v3_norm(at.a.angular_acceleration) + yk_v3_norm(at.b.angular_acceleration);
        *scale = fmax(*scale, linear);
        *scale = fmax(*scale, angular);
    }

    return fmax(largest / *scale, relations);
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_system *system = user;
    yk_index1_interface *own = &yk_index1_of(system)->interfaces[interface];
    yk_constraint_kinematics at;
    yk_index1_kinematics(system, interface, system->start, &at);
    yk_constraint_differentiate(&own->constraint, &at, &own->gradient);

    return &own->gradient;
}

/* The largest acceleration of a port by a wrench that is none. */
static double find_acceleration_error(const yk_system *system)
{
    const yk_index1 *x = yk_index1_of(system);
    double largest = 0;
    for (int i = 0; i < system->participant_count; i++) {
        const yk_port_response *r = yk_jacobian_response(x->start_jacobian, i);
        for (int k = 0; k < r->rows * r->columns; k++)
            largest = fmax(largest, fabs(r->matrix[k]));
    }

    return NO_WRENCH * largest;
}

static void clear_wrenches(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &yk_index1_of(system)->interfaces[i];
        memset(own->multiplier, 0, sizeof own->multiplier);
        memset(own->given, 0, sizeof own->given);
    }
}

/* The mobility of a port, from its block on the diagonal of an interface model. */
static yk_mobility port_mobility(const yk_participant *p, const yk_interface_model *model,
                                 int offset)
{
    double largest[2] = {0, 0};
    for (int k = 0; k < 6; k++) {
        double mobility = model->inverse_mass[(offset + k) * (model->row_count + 1)];
        largest[k / 3] = fmax(largest[k / 3], mobility);
    }

    /* Convert from the units of the subsystem. */
    yk_mobility mobility = {largest[0], largest[1]};
    if (p->transform) {
        double length = p->transform->length_unit;
        mobility.translation /= p->transform->mass_unit;
        mobility.rotation /= p->transform->mass_unit * length * length;
    }

    return mobility;
}

/* Stores the mobility of every marker port of a participant. Wires have no ports with mobility. */
static void set_mobilities(yk_system *system, int participant, yk_jacobian *jacobian,
                           const yk_interface_model *model, const int *offsets)
{
    yk_index1 *x = yk_index1_of(system);
    const yk_participant *p = &system->participants[participant];
    yk_port_response *r = yk_jacobian_response(jacobian, participant);

    for (int i = 0; i < r->connection_count; i++) {
        yk_connection *c = &r->connections[i];
        bool joined = c->interface < system->interface_count;
        if (!joined || offsets[c->port] < 0 || p->ports[c->port].kind != YK_PORT_MARKER)
            continue;

        yk_mobility *most = &x->interfaces[c->interface].mobility;
        c->mobility = port_mobility(p, model, offsets[c->port]);
        most->translation = fmax(most->translation, c->mobility.translation);
        most->rotation = fmax(most->rotation, c->mobility.rotation);
    }
}

/* Responses are known for the directions of the interfaces only. If none of these moves a
 * subsystem, the other directions are needed to detect that the responses are rounding errors. A
 * subsystem without an interface model is judged by its responses alone. */
static yk_status find_mobilities(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_context *context = system->context;
    const yk_participant *p = &system->participants[participant];
    if (!p->subsystem->ops->interface_model)
        return YK_OK;

    int *offsets = yk_allocate(context, (size_t)p->port_count, sizeof *offsets);
    if (!offsets)
        return YK_ERROR_MEMORY;

    int size = yk_system_number_velocities(system, participant, offsets);
    if (size == 0) {
        yk_free(context, offsets);
        return YK_OK;
    }

    size_t n = (size_t)size;
    double *inverse_mass = yk_allocate(context, n * n, sizeof *inverse_mass);
    double *rate = yk_allocate(context, n, sizeof *rate);
    yk_interface_model model = {
        .row_count = size, .inverse_mass = inverse_mass, .free_acceleration = rate};
    yk_status status = YK_ERROR_MEMORY;
    if (inverse_mass && rate) {
        status = yk_system_interface_model(system, participant, &model);
        if (!YK_FAILED(status)) {
            set_mobilities(system, participant, x->jacobian, &model, offsets);
            set_mobilities(system, participant, x->start_jacobian, &model, offsets);
        }

        /* A subsystem that has no model at present is judged by its responses. */
        if (status != YK_ERROR_MEMORY)
            status = YK_OK;
    }

    yk_free(context, offsets);
    yk_free(context, inverse_mass);
    yk_free(context, rate);
    return status;
}

yk_status yk_index1_start(yk_scheme *scheme, yk_system *system)
{
    /* Discard the data of an earlier run. */
    yk_index1 *x = (yk_index1 *)scheme;
    x->jacobians = 0;
    memset(x->difference_runs, 0, (size_t)system->participant_count * sizeof *x->difference_runs);
    x->last_step = 0;
    x->jacobian_step = 0;
    x->last_rate = 0;
    x->jacobian_degree = 0;
    x->basis = &x->bases[0];
    clear_wrenches(system);

    /* Directions at the start, for a constant wrench. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        own->basis = x->basis;
        yk_constraint_kinematics at;
        yk_index1_kinematics(system, i, system->start, &at);

        for (int row = 0; row < own->constraint.row_count; row++) {
            yk_wrench unit[2];
            yk_constraint_unit_wrenches(&own->constraint, &at, row, unit);
            own->unit[0][0][row] = unit[0];
            own->unit[1][0][row] = unit[1];
        }
    }

    /* Newton's method. It fails if the accelerations do not depend on the wrenches. */
    static const double accelerations[1][YK_LEVELS] = {{0, 0, 1}};
    bool consistent = false;
    double scale = LEAST;

    for (int i = 0; i <= START_CORRECTIONS; i++) {
        yk_status status = start_all(system, i == 0);
        if (status != YK_OK)
            return status;

        for (int k = 0; i == 0 && k < system->participant_count; k++) {
            status = find_mobilities(system, k);
            if (status != YK_OK)
                return status;
        }

        /* Accelerations are compared with what rounding can leave, not with rounding errors. */
        if (i == 0)
            scale = fmax(scale, find_acceleration_error(system) / NOTABLE);

        double left = index1_evaluate_start(system, x->correction, &scale);
        consistent = i == START_CORRECTIONS && left <= NOTABLE;
        if (i == START_CORRECTIONS)
            break;

        if (i == 0) {
            yk_jacobian_renew(x->start_jacobian);
            status = yk_jacobian_assemble(x->start_jacobian, gradient_of, system, accelerations,
                                          accelerations, 1);
            if (status != YK_OK)
                break;

            bool redundant = yk_jacobian_is_redundant(x->start_jacobian);
            yk_jacobian_expect_redundant(x->jacobian, redundant);
        }

        yk_jacobian_solve(x->start_jacobian, x->correction, NULL);
        const double *correction = x->correction;
        for (int k = 0; k < system->interface_count; k++) {
            yk_index1_interface *own = &x->interfaces[k];
            for (int row = 0; row < own->constraint.row_count; row++)
                own->multiplier[row].power[0] -= *correction++;
            if (yk_index1_is_relation(&system->interfaces[k]))
                own->given[0] -= *correction++;
        }
    }

    x->jumped = !consistent;
    if (consistent)
        return YK_OK;

    /* Without initial wrenches, the first step has to find its wrenches as after a jump. */
    yk_log(system->context, YK_LOG_WARNING,
           "the accelerations at the interfaces do not fit each other at the start; the first step "
           "finds wrenches without those of the start");
    clear_wrenches(system);

    return start_all(system, false);
}
