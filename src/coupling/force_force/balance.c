#include "coupling/force_force/balance.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/restored.h"
#include "coupling/participant.h"
#include "coupling/slip.h"
#include "coupling/step_frame.h"
#include "math/so3.h"

/* Weights of g / h^2, g' / h and g'' in the condition at the end of a step. */
static const double CONDITION[1][YK_LEVELS] = {{1, 1, 0}};
/* Levels in the condition: position and velocity. */
enum { LEVELS = 2 };

/* Side 0 is the wrench side, side 1 the second side. */
static int port_on(const yk_interface *interface, int side)
{
    if (side == 0)
        return interface->def.wrench_port.index;
    return interface->def.motion_port.index;
}

static yk_participant *participant_on(const yk_system *system, const yk_interface *interface,
                                      int side)
{
    if (side == 0)
        return yk_interface_a(system, interface);
    return yk_interface_b(system, interface);
}

void yk_balance_directions(yk_balance_interface *own, double t, const yk_motion *a,
                           const yk_motion *b)
{
    yk_constraint_kinematics kinematics;
    yk_constraint_kinematics_at(&own->constraint, t, a, b, &kinematics);

    /* Unit wrenches on both sides, equal and opposite. */
    for (int row = 0; row < own->constraint.row_count; row++) {
        yk_wrench unit[2];
        yk_constraint_unit_wrenches(&own->constraint, &kinematics, row, unit);
        own->unit[0][row] = unit[0];
        own->unit[1][row] = unit[1];
    }
}

static yk_wrench wrench_of(const yk_balance_interface *own, int side)
{
    yk_port_kind kind = own->constraint.kind;
    yk_wrench sum = {.force = {0, 0, 0}};
    for (int row = 0; row < own->constraint.row_count; row++)
        sum = yk_wrench_combine(kind, &sum, own->multiplier[row], &own->unit[side][row]);

    return sum;
}

void yk_balance_apply(yk_system *system, yk_balance_interface *own)
{
    yk_interface *interface = &system->interfaces[own->interface];
    yk_port_kind kind = interface->kind;

    /* The wrench on the later side is extrapolated by a part of its change since the last step. */
    for (int side = 0; side < 2; side++) {
        yk_wrench wrench = wrench_of(own, side);
        yk_wrench change = yk_wrench_combine(kind, &wrench, -1, &own->wrench[side]);
        yk_wrench applied = yk_wrench_combine(kind, &wrench, own->shift[side], &change);
        if (side == 0)
            interface->applied = applied;

        const yk_participant *p = participant_on(system, interface, side);
        yk_input_constant(kind, &applied, &p->inputs[port_on(interface, side)]);
    }
}

/* Models of the step --------------------------------------------------------------------------- */

/* Step model of a subsystem that reports an interface model only: its velocities follow the
 * wrenches over the whole step. */
static yk_status ask_for_interface_model(yk_balance *balance, yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    yk_balance_participant *own = &balance->participants[participant];
    yk_step_model *model = &own->model;
    int n = own->size;
    double h = system->h;
    const yk_input *inputs = yk_system_inputs(system, participant);
    yk_interface_model given = {
        .row_count = n,
        .inverse_mass = own->inverse_mass,
        .free_acceleration = own->rate,
        .theta = 1,
    };
    yk_status status = yk_system_interface_model(system, participant, &given);
    if (YK_FAILED(status))
        return status;

    /* A subsystem with many substeps follows a wrench like a method of second order. */
    double lead = 0.5 + (given.theta - 0.5) / p->substeps;
    model->theta = lead;
    model->wrench_point = 1 - lead;

    /* From the present velocities, in the units of the participant ... */
    for (int port = 0; port < p->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0)
            continue;

        yk_port_kind kind = p->ports[port].kind;
        yk_port_value now;
        p->subsystem->ops->get_port_value(p->subsystem, port, &now);
        yk_wrench velocity = {now.motion.velocity, now.motion.angular_velocity};
        yk_wrench_pack(kind, &velocity, model->velocity + offset);

        for (int k = offset; k < offset + yk_port_freedoms(kind); k++)
            model->displacement[k] = (1 - lead) * h * model->velocity[k];

        yk_wrench wrench = {inputs[port].linear[0], inputs[port].angular[0]};
        yk_wrench_pack(kind, &wrench, own->wrenches + offset);
    }

    /* ... to those at the end, with the wrenches of the inputs. */
    for (int i = 0; i < n; i++) {
        double rate = given.free_acceleration[i];
        for (int j = 0; j < n; j++) {
            model->mobility[i * n + j] = h * given.inverse_mass[i * n + j];
            rate += given.inverse_mass[i * n + j] * own->wrenches[j];
        }

        model->velocity[i] += h * rate;
        model->displacement[i] += lead * h * model->velocity[i];
    }

    return status;
}

static yk_vec3 take3(const double *array)
{
    return yk_v3(array[0], array[1], array[2]);
}

/* Predicted motion of a side at the end of the step, from the model. */
static yk_motion end_of(const yk_balance *balance, const yk_system *system,
                        const yk_interface *interface, int side)
{
    const yk_participant *p = participant_on(system, interface, side);
    const yk_balance_participant *own = &balance->participants[p - system->participants];
    int port = port_on(interface, side);
    const double *velocity = own->model.velocity + own->offsets[port];
    const double *displacement = own->model.displacement + own->offsets[port];

    /* Start from the present motion. */
    yk_motion end = p->before[port];
    if (interface->kind == YK_PORT_SCALAR) {
        end.position.x += displacement[0];
        end.velocity.x = velocity[0];
        return end;
    }

    /* The displacement of a rotation is its rotation vector in the global frame. */
    yk_quat rotation = yk_so3_exp(take3(displacement + 3));
    end.position = yk_v3_add(end.position, take3(displacement));
    end.orientation = yk_q_unit(yk_q_mul(rotation, end.orientation));
    end.velocity = take3(velocity);
    end.angular_velocity = take3(velocity + 3);

    return end;
}

/* Conditions ----------------------------------------------------------------------------------- */

/* Derivatives of the motions of a subsystem's ports at the end of the step with respect to the
 * multipliers; rows and columns as in jacobian.h. */
static void fill_response(yk_balance *balance, double h, int participant)
{
    const yk_balance_participant *own = &balance->participants[participant];
    const yk_step_model *model = &own->model;
    yk_port_response *r = yk_jacobian_response(balance->jacobian, participant);

    for (int i = 0; i < r->connection_count; i++) {
        yk_connection *c = &r->connections[i];
        yk_port_kind kind = balance->interfaces[c->interface].constraint.kind;
        for (int k = 0; k < yk_port_freedoms(kind); k++) {
            int coordinate = own->offsets[c->port] + k;
            double mobility = model->mobility[coordinate * own->size + coordinate] / h;
            double *largest = k < 3 ? &c->mobility.translation : &c->mobility.rotation;
            *largest = k % 3 == 0 ? mobility : fmax(*largest, mobility);
        }
    }

    /* For each column: a unit of one multiplier at one port moves all ports. */
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        const yk_balance_interface *pushed = &balance->interfaces[by->interface];
        yk_port_kind kind = pushed->constraint.kind;
        int first = own->offsets[by->port];
        double carried = 1 + pushed->shift[by->side];

        for (int row = 0; row < pushed->constraint.row_count; row++) {
            double wrench[6];
            yk_wrench_pack(kind, &pushed->unit[by->side][row], wrench);

            for (int j = 0; j < r->connection_count; j++) {
                const yk_connection *of = &r->connections[j];
                int size = yk_port_freedoms(balance->interfaces[of->interface].constraint.kind);

                for (int k = 0; k < size; k++) {
                    int moved = own->offsets[of->port] + k;
                    const double *mobility = model->mobility + moved * own->size + first;
                    double velocity = 0;
                    for (int c = 0; c < yk_port_freedoms(kind); c++)
                        velocity += mobility[c] * wrench[c];

                    velocity *= carried / h;

                    /* Rows of positions, and rows of velocities scaled one level lower. */
                    double *entry = r->matrix + (of->row + k) * r->columns + by->column + row;
                    entry[0] = model->theta * velocity;
                    entry[size * r->columns] = velocity;
                }
            }
        }
    }
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_balance *balance = user;
    return &balance->interfaces[interface].gradient;
}

void yk_balance_conditions(const yk_balance_interface *own, double h,
                           const yk_constraint_kinematics *kinematics, double *conditions)
{
    double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
    yk_constraint_value(&own->constraint, kinematics, g);
    for (int row = 0; row < own->constraint.row_count; row++)
        conditions[row] = CONDITION[0][0] * g[0][row] / (h * h) + CONDITION[0][1] * g[1][row] / h;
}

/* Evaluates the conditions at the predicted motions into the residual; `differentiate`: also their
 * gradients. */
static void evaluate_conditions(yk_balance *balance, const yk_system *system, bool differentiate)
{
    double *residual = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        yk_motion a = end_of(balance, system, interface, 0);
        yk_motion b = end_of(balance, system, interface, 1);
        yk_constraint_kinematics kinematics;
        yk_constraint_kinematics_at(&own->constraint, system->t + system->h, &a, &b, &kinematics);
        yk_slip_at_end(system, own->interface, &own->constraint, &kinematics);
        yk_balance_conditions(own, system->h, &kinematics, residual);
        if (differentiate)
            yk_constraint_differentiate_levels(&own->constraint, &kinematics, LEVELS,
                                               &own->gradient);
        residual += own->constraint.row_count;
    }
}

/* Computes new factors from the responses and gradients, or uses those of an earlier step. */
static yk_status prepare_factors(yk_balance *balance, yk_system *system, bool compute)
{
    if (!compute)
        return yk_jacobian_restore(balance->jacobian);

    double h = system->h;
    yk_jacobian_renew(balance->jacobian);
    yk_status status =
        yk_jacobian_assemble(balance->jacobian, gradient_of, balance, CONDITION, CONDITION, h);
    if (status == YK_OK)
        return YK_OK;
    return yk_fail(system->context, status,
                   "at t = %g s the joints between the subsystems have no unique forces: the "
                   "motions of both sides do not follow them; remove interfaces that join what is "
                   "already joined, or let the interfaces exchange motion and wrench",
                   system->t + h);
}

/* Before the step ------------------------------------------------------------------------------ */

/* A motion after the time h, with its present acceleration. */
static yk_motion carried_on(yk_port_kind kind, const yk_motion *from, double h)
{
    /* x + h v + h^2 a / 2; rotations by the mean angular velocity. */
    yk_motion to = *from;
    yk_vec3 velocity = yk_v3_axpy(h / 2, from->acceleration, from->velocity);
    to.position = yk_v3_axpy(h, velocity, from->position);
    if (kind == YK_PORT_SCALAR)
        return to;

    yk_vec3 spin = yk_v3_axpy(h / 2, from->angular_acceleration, from->angular_velocity);
    yk_quat rotation = yk_so3_exp(yk_v3_scale(h, spin));
    to.orientation = yk_q_unit(yk_q_mul(rotation, from->orientation));

    return to;
}

/* The step model of a participant: its own, or one derived from its interface model. Errors are
 * stored in the participant's status. Without `mobility` the subsystem may leave the mobility out. */
static void ask_for_step_model(yk_balance *balance, yk_system *system, int participant,
                               bool mobility)
{
    yk_participant *m = &system->participants[participant];
    yk_balance_participant *own = &balance->participants[participant];
    own->model.substep_count = m->substeps;
    own->model.omit_mobility = !mobility;
    if (m->subsystem->ops->step_model) {
        yk_system_step_model(system, participant, own->offsets, &own->model);
        return;
    }

    m->status = ask_for_interface_model(balance, system, participant);
    if (!YK_FAILED(m->status))
        yk_participant_transform_step_model(m, own->offsets, &own->model);
}

void yk_balance_take_over(yk_balance *balance, yk_system *system)
{
    if (!balance || balance->asked || system->step_count == 0)
        return;

    for (int i = 0; i < system->participant_count; i++)
        if (balance->participants[i].size > 0)
            ask_for_step_model(balance, system, i, false);
    balance->asked = true;
}

/* Requests the step models for the present inputs from all subsystems, and the responses if
 * `mobility` is set. Requests to other processes are sent first and waited for last. */
static yk_status ask_for_step_models(yk_balance *balance, yk_system *system, bool mobility)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_balance_participant *own = &balance->participants[i];
        own->model.substep_count = system->participants[i].substeps;
        own->model.omit_mobility = !mobility;
        if (own->size > 0)
            yk_system_post_step_model(system, i, &own->model);
    }

    for (int n = 0; n < 2 * system->participant_count; n++) {
        int i = n % system->participant_count;
        bool elsewhere = system->participants[i].subsystem->ops->remote;
        bool last = n >= system->participant_count;
        if (balance->participants[i].size == 0 || elsewhere != last)
            continue;

        double begin = yk_clock_seconds();
        ask_for_step_model(balance, system, i, mobility);
        yk_system_count_model(system, i, begin);
        if (YK_FAILED(system->participants[i].status))
            return yk_system_report_failure(system, i);

        if (mobility)
            fill_response(balance, system->h, i);
    }

    balance->asked = true;
    return YK_OK;
}

yk_status yk_balance_solve(yk_balance *balance, yk_system *system, const yk_input_weights *weights,
                           const yk_motion_history *history)
{
    /* Set the other inputs to their predictions; no subsystem has advanced yet. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        int motion_side = interface->def.motion_subsystem.index;
        if (yk_both_take_wrench(interface) || balance->participants[motion_side].size == 0)
            continue;

        yk_motion end;
        yk_motion_history_predict(history, system, i, &end);
        yk_system_prescribe_weighted(system, i, weights, &end);
    }

    yk_balance_measure_factors(balance, system);

    /* Directions of the wrenches at the time at which the earlier side evaluates them, and
     * extrapolation to the later side. Then set the inputs from the multipliers of the last step. */
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        const yk_interface_def *def = &interface->def;
        double sample_a = balance->participants[def->wrench_subsystem.index].model.wrench_point;
        double sample_b = balance->participants[def->motion_subsystem.index].model.wrench_point;
        double earlier = sample_a < sample_b ? sample_a : sample_b;
        own->shift[0] = sample_a - earlier;
        own->shift[1] = sample_b - earlier;

        double time = earlier * system->h;
        yk_motion a = carried_on(interface->kind, yk_before_a(system, interface), time);
        yk_motion b = carried_on(interface->kind, yk_before_b(system, interface), time);
        yk_balance_directions(own, system->t + time, &a, &b);
        yk_balance_apply(system, own);
    }

    /* Predict the step, with the responses to wrenches if the factors are renewed. */
    bool compute = yk_balance_needs_factors(balance, system->h);
    yk_status status = ask_for_step_models(balance, system, compute);
    if (status != YK_OK)
        return status;
    evaluate_conditions(balance, system, compute);
    if (!compute && yk_balance_has_jump(balance, balance->residual)) {
        compute = true;
        status = ask_for_step_models(balance, system, compute);
        if (status != YK_OK)
            return status;
        evaluate_conditions(balance, system, compute);
    }

    bool compare = compute && yk_balance_try_old_factors(balance);
    status = prepare_factors(balance, system, compute);
    if (status != YK_OK)
        return status;
    double conditions = yk_jacobian_condition_size(balance->jacobian, balance->residual);

    /* Apply the multipliers that satisfy the joints. */
    double *held = balance->held;
    for (int i = 0; i < balance->count; i++)
        for (int row = 0; row < balance->interfaces[i].constraint.row_count; row++)
            *held++ = balance->interfaces[i].multiplier[row];
    yk_jacobian_solve(balance->jacobian, balance->residual, balance->held);
    if (compare)
        yk_balance_compare_factors(balance);
    const double *correction = balance->residual;

    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        for (int row = 0; row < own->constraint.row_count; row++)
            own->multiplier[row] -= *correction++;

        yk_balance_apply(system, own);

        for (int side = 0; side < 2; side++)
            own->wrench[side] = wrench_of(own, side);
    }

    yk_balance_age_factors(balance, system, conditions, compute);
    return YK_OK;
}

/* Creation ---------------------------------------------------------------------------------------
 *
 * Selection of the balanced interfaces, memory for their models, and their part of the state image. */

enum { WRENCH_WORDS = sizeof(yk_wrench) / sizeof(double) };

yk_causality yk_balance_second_side(yk_exchange exchange, const yk_port_pair *joined)
{
    if (exchange == YK_EXCHANGE_FORCE_MOTION)
        return YK_CAUSALITY_MOTION_INPUT;

    /* Both sides must be able to receive a wrench, and to predict their next step. */
    for (int side = 0; side < 2; side++) {
        const yk_subsystem *subsystem = joined->subsystem[side];
        const yk_subsystem_ops *ops = subsystem->ops;
        const yk_port *ports;
        ops->ports(subsystem, &ports);
        if (!(ports[joined->port[side]].allowed_causalities & YK_CAUSALITY_WRENCH_INPUT))
            return YK_CAUSALITY_MOTION_INPUT;

        bool steps = ops->step_model;
        bool mechanism = exchange == YK_EXCHANGE_FORCE_FORCE && ops->interface_model;
        if (!steps && !mechanism)
            return YK_CAUSALITY_MOTION_INPUT;
    }

    return YK_CAUSALITY_WRENCH_INPUT;
}

/* All connected wrench ports of a participant have velocities in its model, in the order of the
 * ports. */
static yk_status create_participant(yk_balance *balance, yk_system *system, int participant)
{
    yk_context *context = system->context;
    const yk_participant *p = &system->participants[participant];
    yk_balance_participant *own = &balance->participants[participant];
    own->offsets = yk_allocate(context, (size_t)p->port_count, sizeof *own->offsets);
    if (!own->offsets)
        return YK_ERROR_MEMORY;

    own->size = yk_system_number_velocities(system, participant, own->offsets);

    /* The step model, and the buffers to derive it from an interface model. */
    size_t n = (size_t)own->size;
    double *memory = yk_allocate(context, 4 * n + 2 * n * n, sizeof *memory);
    if (!memory)
        return YK_ERROR_MEMORY;

    own->model.row_count = own->size;
    own->model.velocity = memory;
    own->model.displacement = memory + n;
    own->model.mobility = memory + 2 * n;
    own->rate = own->model.mobility + n * n;
    own->inverse_mass = own->rate + n;
    own->wrenches = own->inverse_mass + n * n;

    return YK_OK;
}

static bool is_balanced(const yk_system *system, const bool *excluded, int interface)
{
    if (excluded && excluded[interface])
        return false;
    return yk_both_take_wrench(&system->interfaces[interface]);
}

yk_status yk_balance_create(yk_system *system, const bool *excluded, yk_balance **made)
{
    /* Most systems have no balanced interfaces. */
    yk_context *context = system->context;
    int count = 0;
    for (int i = 0; i < system->interface_count; i++)
        count += is_balanced(system, excluded, i);
    if (count == 0)
        return YK_OK;

    yk_balance *balance = yk_allocate(context, 1, sizeof *balance);
    if (!balance)
        return YK_ERROR_MEMORY;

    *made = balance;
    size_t size = (size_t)count;
    size_t participants = (size_t)system->participant_count;
    balance->participants = yk_allocate(context, participants, sizeof *balance->participants);
    balance->interfaces = yk_allocate(context, size, sizeof *balance->interfaces);
    if (!balance->participants || !balance->interfaces)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!is_balanced(system, excluded, i))
            continue;

        yk_balance_interface *own = &balance->interfaces[balance->count++];
        const yk_interface_def *def = &interface->def;
        own->interface = i;
        own->constraint = yk_constraint_of(interface->kind, def);

        /* Both participants, with all of their wrench ports. */
        const int sides[2] = {def->wrench_subsystem.index, def->motion_subsystem.index};
        for (int side = 0; side < 2; side++) {
            if (balance->participants[sides[side]].size > 0)
                continue;

            yk_status status = create_participant(balance, system, sides[side]);
            if (status != YK_OK)
                return status;
        }
    }

    /* One condition and one multiplier for every row of every joint. */
    yk_jacobian_interface *interfaces = yk_allocate(context, size, sizeof *interfaces);
    if (!interfaces)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < balance->count; i++) {
        const yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface_def *def = &system->interfaces[own->interface].def;
        interfaces[i] = (yk_jacobian_interface){
            .participant = {def->wrench_subsystem.index, def->motion_subsystem.index},
            .port = {def->wrench_port.index, def->motion_port.index},
            .rows = own->constraint.row_count,
            .coordinates = yk_coordinates(own->constraint.kind),
        };
    }

    yk_jacobian_def def = {
        .participant_count = system->participant_count,
        .interface_count = balance->count,
        .interfaces = interfaces,
        .parameters = 1,
        .motions = 1,
        .first_level = 0,
    };
    yk_status status = yk_jacobian_create(context, &def, &balance->jacobian);
    yk_free(context, interfaces);
    if (status != YK_OK)
        return status;

    size_t rows = (size_t)yk_jacobian_size(balance->jacobian);
    balance->rows = (int)rows;
    balance->residual = yk_allocate(context, 3 * rows, sizeof *balance->residual);
    if (!balance->residual)
        return YK_ERROR_MEMORY;

    balance->held = balance->residual + rows;
    balance->old_correction = balance->held + rows;
    return YK_OK;
}

void yk_balance_copy_start(yk_balance *balance, const yk_balance *started)
{
    yk_balance_restart(balance);
    for (int i = 0; balance && i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_balance_interface *from = started->interfaces;
        while (from->interface != own->interface)
            from++;
        memcpy(own->multiplier, from->multiplier, sizeof own->multiplier);
        memcpy(own->wrench, from->wrench, sizeof own->wrench);
    }
}

void yk_balance_destroy(yk_balance *balance, yk_system *system)
{
    if (!balance)
        return;

    /* All vectors of a model are one block. */
    for (int i = 0; balance->participants && i < system->participant_count; i++) {
        yk_free(system->context, balance->participants[i].offsets);
        yk_free(system->context, balance->participants[i].model.velocity);
    }

    yk_jacobian_destroy(balance->jacobian);
    yk_free(system->context, balance->participants);
    yk_free(system->context, balance->interfaces);
    yk_free(system->context, balance->residual);
    yk_free(system->context, balance);
}

/* State ---------------------------------------------------------------------------------------- */

enum { KEPT_WORDS = sizeof(yk_kept_factors) / sizeof(double) };

yk_state_layout yk_balance_layout(const yk_balance *balance)
{
    if (!balance)
        return (yk_state_layout){.word_count = 0};

    /* Multipliers and wrenches, from which the next step extrapolates; then the kept factors. */
    size_t words = 0;
    for (int i = 0; i < balance->count; i++)
        words += (size_t)balance->interfaces[i].constraint.row_count + 2 * WRENCH_WORDS;
    size_t opaque = KEPT_WORDS + yk_jacobian_matrix_words(balance->jacobian);
    return (yk_state_layout){.word_count = words + opaque, .continuous_count = words};
}

void yk_balance_get(const yk_balance *balance, double **continuous, double **opaque)
{
    double *words = *continuous;
    for (int i = 0; balance && i < balance->count; i++) {
        /* Multipliers, then the wrenches of both sides. */
        const yk_balance_interface *own = &balance->interfaces[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(words, own->multiplier, rows * sizeof *words);
        memcpy(words + rows, own->wrench, sizeof own->wrench);
        words += rows + 2 * WRENCH_WORDS;
    }

    *continuous = words;
    if (!balance)
        return;

    /* A matrix that will not be used again is not stored. */
    size_t count = yk_jacobian_matrix_words(balance->jacobian);
    memcpy(*opaque, &balance->kept, sizeof balance->kept);
    *opaque += KEPT_WORDS;
    if (balance->kept.valid != 0)
        yk_jacobian_get_matrix(balance->jacobian, *opaque);
    else
        memset(*opaque, 0, count * sizeof **opaque);
    *opaque += count;
}

void yk_balance_set(yk_balance *balance, const double **continuous, const double **opaque)
{
    const double *words = *continuous;
    for (int i = 0; balance && i < balance->count; i++) {
        /* In the order of yk_balance_get(). */
        yk_balance_interface *own = &balance->interfaces[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(own->multiplier, words, rows * sizeof *words);
        memcpy(own->wrench, words + rows, sizeof own->wrench);
        words += rows + 2 * WRENCH_WORDS;
    }

    *continuous = words;
    if (!balance)
        return;

    memcpy(&balance->kept, *opaque, sizeof balance->kept);
    *opaque += KEPT_WORDS;
    if (balance->kept.valid != 0)
        yk_jacobian_set_matrix(balance->jacobian, *opaque);
    *opaque += yk_jacobian_matrix_words(balance->jacobian);
}

bool yk_balance_is_valid(const yk_balance *balance, const double **opaque)
{
    if (!balance)
        return true;

    yk_kept_factors kept;
    memcpy(&kept, *opaque, sizeof kept);
    const double *matrix = *opaque + KEPT_WORDS;
    size_t count = yk_jacobian_matrix_words(balance->jacobian);
    *opaque = matrix + count;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(matrix[i]))
            return false;
    return yk_is_restored_word(kept.valid, 1) && yk_is_restored_word(kept.age, YK_RESTORED_MOST) &&
           yk_is_restored_word(kept.unmeasured, YK_RESTORED_MOST) && isfinite(kept.h);
}
