#include "coupling/balance.h"

#include "base/clock.h"
#include "coupling/interface.h"
#include "coupling/placement.h"
#include "math/so3.h"

/* Weights of g / h^2, g' / h and g'' in the condition at the end of a step. */
static const double CONDITION[1][YK_LEVELS] = {{1, 1, 0}};

void yk_balance_directions(yk_balance_link *own, double t, const yk_motion *a, const yk_motion *b)
{
    yk_constraint_place place;
    yk_constraint_place_at(&own->constraint, t, a, b, &place);
    for (int row = 0; row < own->constraint.row_count; row++) {
        yk_effort unit[2];
        yk_constraint_unit_efforts(&own->constraint, &place, row, unit);
        own->unit[0][row] = unit[0];
        own->unit[1][row] = unit[1];
    }
}

static yk_effort effort_of(const yk_balance_link *own, int side)
{
    yk_effort sum = {.force = {0, 0, 0}};
    for (int row = 0; row < own->constraint.row_count; row++)
        sum = yk_effort_combine(own->constraint.kind, &sum, own->multiplier[row], &own->unit[side][row]);
    return sum;
}

void yk_balance_apply(yk_system *system, yk_balance_link *own)
{
    yk_link *link = &system->links[own->link];
    for (int side = 0; side < 2; side++) {
        yk_effort effort = effort_of(own, side);
        yk_effort change = yk_effort_combine(link->kind, &effort, -1, &own->effort[side]);
        yk_effort applied = yk_effort_combine(link->kind, &effort, own->shift[side], &change);
        yk_member *member = yk_balance_side(system, link, side);
        yk_input_constant(link->kind, &applied, &member->inputs[yk_balance_port(link, side)]);
        if (side == 0) link->applied = applied;
    }
}

/* Models of the step ----------------------------------------------------------------------------------------------- */

/* A subsystem that knows the mechanism only: its velocities follow the efforts over the whole step. */
static yk_status ask_for_interface_model(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    yk_balance_member *own = &system->balance->members[member];
    int n = own->size;
    double h = system->h;
    const yk_signal *inputs = yk_system_inputs(system, member);
    yk_interface_model told = {.size = n, .inverse_mass = own->inverse_mass, .rate = own->rate, .lead = 1};
    yk_status status = m->subsystem->ops->interface_model(m->subsystem, system->t, h, inputs, &told);
    if (status < 0) return status;

    /* Many steps follow an effort as a method of second order does in one. */
    double lead = 0.5 + (told.lead - 0.5) / m->substeps;
    yk_step_model *model = &own->model;
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0) continue;
        yk_port_value now;
        m->subsystem->ops->output(m->subsystem, port, &now);
        const yk_motion *motion = &now.motion;
        double velocity[6] = {motion->velocity.x,         motion->velocity.y,         motion->velocity.z,
                              motion->angular_velocity.x, motion->angular_velocity.y, motion->angular_velocity.z};
        int size = m->ports[port].kind == YK_PORT_SCALAR ? 1 : 6;
        for (int k = 0; k < size; k++) model->displacement[offset + k] = (1 - lead) * h * velocity[k];
        for (int k = 0; k < size; k++) model->velocity[offset + k] = velocity[k];
        yk_effort effort = {inputs[port].linear[0], inputs[port].angular[0]};
        yk_effort_pack(m->ports[port].kind, &effort, own->inverse_mass + n * n + offset);
    }
    const double *efforts = own->inverse_mass + n * n;
    for (int i = 0; i < n; i++) {
        double rate = told.rate[i];
        for (int j = 0; j < n; j++) {
            model->mobility[i * n + j] = h * told.inverse_mass[i * n + j];
            rate += told.inverse_mass[i * n + j] * efforts[j];
        }
        model->velocity[i] += h * rate;
        model->displacement[i] += lead * h * model->velocity[i];
    }
    model->lead = lead;
    model->sample = 1 - lead;
    return status;
}

static yk_status ask(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    yk_balance_member *own = &system->balance->members[member];
    double begin = yk_clock_seconds();
    own->model.steps = m->substeps;
    const yk_subsystem_ops *ops = m->subsystem->ops;
    m->status = ops->step_model
                    ? ops->step_model(m->subsystem, system->t, system->h, yk_system_inputs(system, member), &own->model)
                    : ask_for_interface_model(system, member);
    for (int port = 0; m->placement && port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0) continue;
        yk_placement_rates(m->placement, m->ports[port].kind, own->model.velocity + offset);
        yk_placement_rates(m->placement, m->ports[port].kind, own->model.displacement + offset);
        yk_placement_response(m->placement, m->ports[port].kind, offset, own->size, own->model.mobility);
    }
    m->statistics.model_seconds += yk_clock_seconds() - begin;
    m->statistics.model_calls++;
    return m->status < 0 ? yk_system_blame(system, member) : YK_OK;
}

static yk_vec3 take3(const double *array)
{
    return yk_v3(array[0], array[1], array[2]);
}

/* Where the model says that a side will be at the end of the step. */
static yk_motion end_of(const yk_system *system, const yk_link *link, int side)
{
    const yk_member *m = yk_balance_side(system, link, side);
    const yk_balance_member *own = &system->balance->members[m - system->members];
    int port = yk_balance_port(link, side), offset = own->offsets[port];
    const double *velocity = own->model.velocity + offset, *displacement = own->model.displacement + offset;
    yk_motion end = m->before[port];
    if (link->kind == YK_PORT_SCALAR) {
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

/* Conditions ------------------------------------------------------------------------------------------------------- */

/* The motions of a subsystem's ports at the end of the step by the multipliers: rows and columns as in jacobian.h. */
static void fill_response(yk_system *system, int member)
{
    struct yk_balance *balance = system->balance;
    const yk_balance_member *own = &balance->members[member];
    yk_response *r = yk_jacobian_response(balance->jacobian, member);
    double h = system->h;
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        const yk_balance_link *pushed = &balance->links[by->link];
        int columns = own->offsets[by->port];
        for (int row = 0; row < pushed->constraint.row_count; row++) {
            double effort[6];
            const double *end = yk_effort_pack(pushed->constraint.kind, &pushed->unit[by->side][row], effort);
            double carried = 1 + pushed->shift[by->side];
            for (int j = 0; j < r->connection_count; j++) {
                const yk_connection *of = &r->connections[j];
                int size = balance->links[of->link].constraint.kind == YK_PORT_SCALAR ? 1 : 6;
                for (int k = 0; k < size; k++) {
                    const double *mobility = own->model.mobility + (own->offsets[of->port] + k) * own->size + columns;
                    double velocity = 0;
                    for (int c = 0; c < end - effort; c++) velocity += mobility[c] * effort[c];
                    velocity *= carried / h;
                    double *to = r->matrix + (of->row + k) * r->columns + by->column + row;
                    to[0] = own->model.lead * velocity;
                    to[size * r->columns] = velocity;
                }
            }
        }
    }
}

static const yk_constraint_gradient *gradient_of(void *user, int link)
{
    const yk_system *system = user;
    return &system->balance->links[link].gradient;
}

/* The conditions where the models are, into the residual, and their derivatives. */
static yk_status linearise(yk_system *system)
{
    struct yk_balance *balance = system->balance;
    double h = system->h, *residual = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        yk_balance_link *own = &balance->links[i];
        const yk_link *link = &system->links[own->link];
        yk_motion a = end_of(system, link, 0), b = end_of(system, link, 1);
        yk_constraint_place place;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_place_at(&own->constraint, system->t + h, &a, &b, &place);
        yk_constraint_value(&own->constraint, &place, g);
        yk_constraint_differentiate(&own->constraint, &place, &own->gradient);
        for (int row = 0; row < own->constraint.row_count; row++)
            *residual++ = CONDITION[0][0] * g[0][row] / (h * h) + CONDITION[0][1] * g[1][row] / h;
    }
    yk_jacobian_renew(balance->jacobian);
    yk_conditions conditions = {CONDITION, CONDITION, h};
    yk_status status = yk_jacobian_assemble(balance->jacobian, gradient_of, system, &conditions);
    if (status == YK_OK) return YK_OK;
    return yk_fail(
        system->context, status,
        "at t = %g s the joints between the subsystems have no unique forces: the motions of both sides do not "
        "follow them; remove interfaces that join what is already joined, or choose coupling.exchange motion",
        system->t + h);
}

/* Before the step ---------------------------------------------------------------------------------------------------- */

static yk_motion carried_on(yk_port_kind kind, const yk_motion *from, double h)
{
    yk_motion to = *from;
    to.position = yk_v3_axpy(h, yk_v3_axpy(h / 2, from->acceleration, from->velocity), from->position);
    if (kind == YK_PORT_SCALAR) return to;
    yk_vec3 turn = yk_v3_scale(h, yk_v3_axpy(h / 2, from->angular_acceleration, from->angular_velocity));
    to.orientation = yk_q_unit(yk_q_mul(yk_so3_exp(turn), from->orientation));
    return to;
}

/* Directions of the efforts where the earlier side takes them, and by how much they are carried on to the other. */
static void set_directions(yk_system *system, yk_balance_link *own)
{
    const yk_link *link = &system->links[own->link];
    double sample[2];
    for (int side = 0; side < 2; side++) {
        const yk_member *m = yk_balance_side(system, link, side);
        sample[side] = system->balance->members[m - system->members].model.sample;
    }
    double earlier = sample[0] < sample[1] ? sample[0] : sample[1];
    own->shift[0] = sample[0] - earlier;
    own->shift[1] = sample[1] - earlier;
    const yk_motion *a = &yk_link_a(system, link)->before[link->def.effort_port];
    const yk_motion *b = &yk_link_b(system, link)->before[link->def.motion_port];
    yk_motion a_there = carried_on(link->kind, a, earlier * system->h);
    yk_motion b_there = carried_on(link->kind, b, earlier * system->h);
    yk_balance_directions(own, system->t + earlier * system->h, &a_there, &b_there);
}

yk_status yk_balance_solve(yk_system *system)
{
    struct yk_balance *balance = system->balance;

    /* What is known of the other inputs before anything has moved. */
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (!link->balanced && balance->members[link->def.motion_subsystem].size > 0)
            yk_explicit_motion_input(system, &system->links[i], false);
    }

    /* The step as it will be with the multipliers of the last one. */
    for (int i = 0; i < balance->count; i++) {
        set_directions(system, &balance->links[i]);
        yk_balance_apply(system, &balance->links[i]);
    }
    for (int i = 0; i < system->member_count; i++) {
        if (balance->members[i].size == 0) continue;
        yk_status status = ask(system, i);
        if (status < 0) return status;
        fill_response(system, i);
    }
    yk_status status = linearise(system);
    if (status < 0) return status;

    /* With the multipliers that close the joints. */
    yk_jacobian_solve(balance->jacobian, balance->residual);
    const double *correction = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        yk_balance_link *own = &balance->links[i];
        for (int row = 0; row < own->constraint.row_count; row++) own->multiplier[row] -= *correction++;
        yk_balance_apply(system, own);
        for (int side = 0; side < 2; side++) own->effort[side] = effort_of(own, side);
    }
    return YK_OK;
}
