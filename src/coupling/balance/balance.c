#include "coupling/balance/balance.h"

#include "base/clock.h"
#include "coupling/interface.h"
#include "coupling/system.h"
#include "math/so3.h"

/* Weights of g / h^2, g' / h and g'' in the condition at the end of a step. */
static const double CONDITION[1][YK_LEVELS] = {{1, 1, 0}};

void yk_balance_directions(yk_balance_interface *own, double t, const yk_motion *a,
                           const yk_motion *b)
{
    yk_constraint_kinematics kinematics;
    yk_constraint_kinematics_at(&own->constraint, t, a, b, &kinematics);
    for (int row = 0; row < own->constraint.row_count; row++) {
        yk_wrench unit[2];
        yk_constraint_unit_wrenches(&own->constraint, &kinematics, row, unit);
        own->unit[0][row] = unit[0];
        own->unit[1][row] = unit[1];
    }
}

static yk_wrench wrench_of(const yk_balance_interface *own, int side)
{
    yk_wrench sum = {.force = {0, 0, 0}};
    for (int row = 0; row < own->constraint.row_count; row++)
        sum = yk_wrench_combine(own->constraint.kind, &sum, own->multiplier[row],
                                &own->unit[side][row]);
    return sum;
}

void yk_balance_apply(yk_system *system, yk_balance_interface *own)
{
    yk_interface *interface = &system->interfaces[own->interface];
    for (int side = 0; side < 2; side++) {
        yk_wrench wrench = wrench_of(own, side);
        yk_wrench change = yk_wrench_combine(interface->kind, &wrench, -1, &own->wrench[side]);
        yk_wrench applied = yk_wrench_combine(interface->kind, &wrench, own->shift[side], &change);
        yk_participant *participant = yk_balance_side(system, interface, side);
        yk_input_constant(interface->kind, &applied,
                          &participant->inputs[yk_balance_port(interface, side)]);
        if (side == 0)
            interface->applied = applied;
    }
}

/* Models of the step --------------------------------------------------------------------------- */

/* A subsystem that knows the mechanism only: its velocities follow the wrenches over the whole
 * step. */
static yk_status ask_for_interface_model(yk_balance *balance, yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    yk_balance_participant *own = &balance->participants[participant];
    int n = own->size;
    double h = system->h;
    const yk_input *inputs = yk_system_inputs(system, participant);
    yk_interface_model given = {
        .size = n, .inverse_mass = own->inverse_mass, .rate = own->rate, .lead = 1};
    yk_status status = yk_system_interface_model(system, participant, &given);
    if (status < 0)
        return status;

    /* Many steps follow a wrench as a method of second order does in one. */
    double lead = 0.5 + (given.lead - 0.5) / m->substeps;
    yk_step_model *model = &own->model;
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0)
            continue;
        yk_port_value now;
        m->subsystem->ops->output(m->subsystem, port, &now);
        const yk_motion *motion = &now.motion;
        double velocity[6] = {motion->velocity.x,         motion->velocity.y,
                              motion->velocity.z,         motion->angular_velocity.x,
                              motion->angular_velocity.y, motion->angular_velocity.z};
        int size = yk_port_freedoms(m->ports[port].kind);
        for (int k = 0; k < size; k++)
            model->displacement[offset + k] = (1 - lead) * h * velocity[k];
        for (int k = 0; k < size; k++)
            model->velocity[offset + k] = velocity[k];
        yk_wrench wrench = {inputs[port].linear[0], inputs[port].angular[0]};
        yk_wrench_pack(m->ports[port].kind, &wrench, own->inverse_mass + n * n + offset);
    }
    const double *wrenches = own->inverse_mass + n * n;
    for (int i = 0; i < n; i++) {
        double rate = given.rate[i];
        for (int j = 0; j < n; j++) {
            model->mobility[i * n + j] = h * given.inverse_mass[i * n + j];
            rate += given.inverse_mass[i * n + j] * wrenches[j];
        }
        model->velocity[i] += h * rate;
        model->displacement[i] += lead * h * model->velocity[i];
    }
    model->lead = lead;
    model->sample = 1 - lead;
    return status;
}

static yk_status ask(yk_balance *balance, yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    yk_balance_participant *own = &balance->participants[participant];
    double begin = yk_clock_seconds();
    own->model.steps = m->substeps;
    if (m->subsystem->ops->step_model) {
        yk_system_step_model(system, participant, own->offsets, &own->model);
    } else {
        m->status = ask_for_interface_model(balance, system, participant);
        if (m->status >= 0)
            yk_participant_transform_step_model(m, own->offsets, &own->model);
    }
    yk_system_count_model(system, participant, begin);
    return m->status < 0 ? yk_system_report_failure(system, participant) : YK_OK;
}

static yk_vec3 take3(const double *array)
{
    return yk_v3(array[0], array[1], array[2]);
}

/* Where the model says that a side will be at the end of the step. */
static yk_motion end_of(const yk_balance *balance, const yk_system *system,
                        const yk_interface *interface, int side)
{
    const yk_participant *m = yk_balance_side(system, interface, side);
    const yk_balance_participant *own = &balance->participants[m - system->participants];
    int port = yk_balance_port(interface, side), offset = own->offsets[port];
    const double *velocity = own->model.velocity + offset,
                 *displacement = own->model.displacement + offset;
    yk_motion end = m->before[port];
    if (interface->kind == YK_PORT_SCALAR) {
        end.position.x += displacement[0];
        end.velocity.x = velocity[0];
        return end;
    }
    end.position = yk_v3_add(end.position, take3(displacement));
    end.orientation = yk_q_unit(yk_q_mul(yk_so3_exp(take3(displacement + 3)), end.orientation));
    end.velocity = take3(velocity);
    end.angular_velocity = take3(velocity + 3);
    return end;
}

/* Conditions ----------------------------------------------------------------------------------- */

/* The motions of a subsystem's ports at the end of the step by the multipliers: rows and columns
 * as in jacobian.h. */
static void fill_response(yk_balance *balance, double h, int participant)
{
    const yk_balance_participant *own = &balance->participants[participant];
    yk_port_response *r = yk_jacobian_response(balance->jacobian, participant);
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        const yk_balance_interface *pushed = &balance->interfaces[by->interface];
        int columns = own->offsets[by->port];
        for (int row = 0; row < pushed->constraint.row_count; row++) {
            double wrench[6];
            const double *end =
                yk_wrench_pack(pushed->constraint.kind, &pushed->unit[by->side][row], wrench);
            double carried = 1 + pushed->shift[by->side];
            for (int j = 0; j < r->connection_count; j++) {
                const yk_connection *of = &r->connections[j];
                int size = yk_port_freedoms(balance->interfaces[of->interface].constraint.kind);
                for (int k = 0; k < size; k++) {
                    const double *mobility =
                        own->model.mobility + (own->offsets[of->port] + k) * own->size + columns;
                    double velocity = 0;
                    for (int c = 0; c < end - wrench; c++)
                        velocity += mobility[c] * wrench[c];
                    velocity *= carried / h;
                    double *to = r->matrix + (of->row + k) * r->columns + by->column + row;
                    to[0] = own->model.lead * velocity;
                    to[size * r->columns] = velocity;
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

/* The conditions where the models are, into the residual, and their derivatives. */
static yk_status linearise(yk_balance *balance, yk_system *system)
{
    double h = system->h, *residual = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        yk_motion a = end_of(balance, system, interface, 0),
                  b = end_of(balance, system, interface, 1);
        yk_constraint_kinematics kinematics;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_kinematics_at(&own->constraint, system->t + h, &a, &b, &kinematics);
        yk_constraint_value(&own->constraint, &kinematics, g);
        yk_constraint_differentiate(&own->constraint, &kinematics, &own->gradient);
        for (int row = 0; row < own->constraint.row_count; row++)
            *residual++ = CONDITION[0][0] * g[0][row] / (h * h) + CONDITION[0][1] * g[1][row] / h;
    }
    yk_jacobian_renew(balance->jacobian);
    yk_conditions conditions = {CONDITION, CONDITION, h};
    yk_status status = yk_jacobian_assemble(balance->jacobian, gradient_of, balance, &conditions);
    if (status == YK_OK)
        return YK_OK;
    return yk_fail(system->context, status,
                   "at t = %g s the joints between the subsystems have no unique forces: the "
                   "motions of both sides do not "
                   "follow them; remove interfaces that join what is already joined, or let the "
                   "interfaces exchange motion and "
                   "wrench",
                   system->t + h);
}

/* Before the step ------------------------------------------------------------------------------ */

static yk_motion carried_on(yk_port_kind kind, const yk_motion *from, double h)
{
    yk_motion to = *from;
    to.position =
        yk_v3_axpy(h, yk_v3_axpy(h / 2, from->acceleration, from->velocity), from->position);
    if (kind == YK_PORT_SCALAR)
        return to;
    yk_vec3 rotation =
        yk_v3_scale(h, yk_v3_axpy(h / 2, from->angular_acceleration, from->angular_velocity));
    to.orientation = yk_q_unit(yk_q_mul(yk_so3_exp(rotation), from->orientation));
    return to;
}

/* Directions of the wrenches where the earlier side takes them, and by how much they are carried
 * on to the other. */
static void set_directions(const yk_balance *balance, const yk_system *system,
                           yk_balance_interface *own)
{
    const yk_interface *interface = &system->interfaces[own->interface];
    double sample[2];
    for (int side = 0; side < 2; side++) {
        const yk_participant *m = yk_balance_side(system, interface, side);
        sample[side] = balance->participants[m - system->participants].model.sample;
    }
    double earlier = sample[0] < sample[1] ? sample[0] : sample[1];
    own->shift[0] = sample[0] - earlier;
    own->shift[1] = sample[1] - earlier;
    const yk_motion *a = &yk_interface_a(system, interface)->before[interface->def.wrench_port];
    const yk_motion *b = &yk_interface_b(system, interface)->before[interface->def.motion_port];
    yk_motion a_there = carried_on(interface->kind, a, earlier * system->h);
    yk_motion b_there = carried_on(interface->kind, b, earlier * system->h);
    yk_balance_directions(own, system->t + earlier * system->h, &a_there, &b_there);
}

yk_status yk_balance_solve(yk_balance *balance, yk_system *system, const yk_input_weights *weights)
{
    /* What is known of the other inputs before anything has moved. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!yk_both_take_wrench(interface) &&
            balance->participants[interface->def.motion_subsystem].size > 0)
            yk_system_prescribe_weighted(system, i, weights, false);
    }

    /* The step as it will be with the multipliers of the last one. */
    for (int i = 0; i < balance->count; i++) {
        set_directions(balance, system, &balance->interfaces[i]);
        yk_balance_apply(system, &balance->interfaces[i]);
    }
    for (int i = 0; i < system->participant_count; i++) {
        if (balance->participants[i].size == 0)
            continue;
        yk_status status = ask(balance, system, i);
        if (status < 0)
            return status;
        fill_response(balance, system->h, i);
    }
    yk_status status = linearise(balance, system);
    if (status < 0)
        return status;

    /* With the multipliers that close the joints. */
    yk_jacobian_solve(balance->jacobian, balance->residual);
    const double *correction = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        for (int row = 0; row < own->constraint.row_count; row++)
            own->multiplier[row] -= *correction++;
        yk_balance_apply(system, own);
        for (int side = 0; side < 2; side++)
            own->wrench[side] = wrench_of(own, side);
    }
    return YK_OK;
}
