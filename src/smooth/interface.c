/* The reduced interface model of a mechanism with joints: paper rim (5)-(7), at the level of accelerations; and the model
 * of its next step, which is the mechanism as the integrator moves it.
 *
 * With the rows B of the port velocities and the matrix of the masses and joints of the consistent start,
 *
 *   | M  G^T | | a |   | f - c + B^T wrench |
 *   | G   0  | | l | = | -(dG/dt) v         |      rate of the ports: B a + (dB/dt) v
 *
 * one solution gives the rate without wrenches, one per port velocity a column of the inverse effective mass. The
 * matrix has factors of its own, so that those of the step stay as they are.
 *
 * The model of a step is one correction of Newton's method from the integrator's prediction, and one solution per port
 * velocity with the same factors. Methods that evaluate accelerations (Runge-Kutta) answer by those in the middle of the
 * step. */
#include <string.h>

#include "math/so3.h"
#include "smooth/internal.h"

/* As at the start: keeps the matrix regular where joints are redundant. */
static const double REDUNDANT_COMPLIANCE = 1e-9;

struct smooth_interface {
    yk_sparse *matrix;
    port_row *rows;
    int row_count;
    double *right;
    yk_port_value *begin; /* of every port, at the start of the step */
    bool pivoted;         /* the matrix has been factored once: its pivots are kept, so that the next times cost less */
};

int yk_smooth_port_size(const port_model *port)
{
    if (port->causality != YK_TAKES_WRENCH) return 0;
    return port->def.kind == YK_PORT_SCALAR ? 1 : 6;
}

static yk_vec3 arm_of(const yk_smooth_workspace *work, const port_model *port, int side)
{
    return yk_m3_apply(work->trial[port->node[side]].frame.rotation, port->def.marker[side].offset);
}

static void marker_rows(const yk_smooth_workspace *work, const port_model *port, port_row *rows)
{
    yk_vec3 arm = arm_of(work, port, 0), w = work->trial[port->node[0]].frame.angular_velocity;
    yk_vec3 centripetal = yk_v3_cross(w, yk_v3_cross(w, arm));
    for (int k = 0; k < 6; k++) {
        yk_vec3 axis = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        rows[k] = (port_row){.frame = {port->node[0], -1}};
        rows[k].linear[0] = k < 3 ? axis : yk_v3(0, 0, 0);
        rows[k].angular[0] = k < 3 ? yk_v3_cross(arm, axis) : axis;
        rows[k].bias = k < 3 ? yk_v3_dot(axis, centripetal) : 0;
    }
}

/* The distance of two markers. */
static void scalar_row(const yk_smooth_workspace *work, const port_model *port, port_row *row)
{
    yk_vec3 arm[2], at[2], velocity[2], centripetal[2];
    for (int side = 0; side < 2; side++) {
        const yk_frame *frame = &work->trial[port->node[side]].frame;
        arm[side] = arm_of(work, port, side);
        yk_vec3 swing = yk_v3_cross(frame->angular_velocity, arm[side]);
        at[side] = yk_v3_add(frame->position, arm[side]);
        velocity[side] = yk_v3_add(frame->velocity, swing);
        centripetal[side] = yk_v3_cross(frame->angular_velocity, swing);
    }
    yk_vec3 along = yk_v3_sub(at[1], at[0]), rate = yk_v3_sub(velocity[1], velocity[0]), axis = yk_v3_unit(along);
    double length = yk_v3_norm(along), speed = yk_v3_dot(axis, rate);
    *row = (port_row){.frame = {port->node[0], port->node[1]}};
    for (int side = 0; side < 2; side++) {
        row->linear[side] = yk_v3_scale(side == 0 ? -1 : 1, axis);
        row->angular[side] = yk_v3_cross(arm[side], row->linear[side]);
        row->bias += yk_v3_dot(row->linear[side], centripetal[side]);
    }
    if (length > 0) row->bias += (yk_v3_norm2(rate) - speed * speed) / length;
}

void yk_smooth_port_rows(const yk_smooth_model *model, const yk_smooth_workspace *work, port_row *row)
{
    for (int i = 0; i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        int size = yk_smooth_port_size(port);
        if (size == 6) marker_rows(work, port, row);
        if (size == 1) scalar_row(work, port, row);
        row += size;
    }
}

static yk_status create_interface(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_linear_solver *solver = &smooth->solver;
    yk_context *context = model->context;
    struct smooth_interface *made = yk_allocate(context, 1, sizeof *made);
    if (!made) return YK_ERROR_MEMORY;
    smooth->interface = made;
    for (int i = 0; i < model->def.port_count; i++) made->row_count += yk_smooth_port_size(&model->ports[i]);
    made->rows = yk_allocate(context, (size_t)made->row_count, sizeof *made->rows);
    made->right = yk_allocate(context, (size_t)model->unknown_count, sizeof *made->right);
    made->begin = yk_allocate(context, (size_t)model->def.port_count, sizeof *made->begin);
    yk_sparse_entry *entries = yk_allocate(context, solver->entry_count, sizeof *entries);
    int *entry_index = yk_allocate(context, solver->entry_count, sizeof *entry_index);
    yk_status status = made->rows && made->right && made->begin && entries && entry_index ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) {
        yk_smooth_pattern(model, &smooth->work, entries);
        status =
            yk_sparse_create(context, model->unknown_count, entries, solver->entry_count, entry_index, &made->matrix);
    }
    yk_release(context, entries);
    yk_release(context, entry_index);
    return status;
}

void yk_smooth_release_interface(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    if (!smooth->interface) return;
    yk_sparse_destroy(smooth->interface->matrix);
    yk_release(model->context, smooth->interface->rows);
    yk_release(model->context, smooth->interface->right);
    yk_release(model->context, smooth->interface->begin);
    yk_release(model->context, smooth->interface);
    smooth->interface = NULL;
}

/* The assembled matrix, in factors of its own. Both matrices have the same pattern, so their values have the same places. */
static yk_status factor_own(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_linear_solver *solver = &smooth->solver;
    struct smooth_interface *interface = smooth->interface;
    size_t count = yk_sparse_nonzeros(solver->matrix);
    memcpy(yk_sparse_values(interface->matrix), yk_sparse_values(solver->matrix), count * sizeof(double));
    int column = 0;
    yk_status status = interface->pivoted ? YK_OK : yk_sparse_factor(interface->matrix, &column);
    if (status == YK_OK) status = yk_sparse_refactor(interface->matrix, &column);
    interface->pivoted = status == YK_OK;
    if (status == YK_OK) return YK_OK;
    char owner[128];
    return yk_fail(model->context, status, "%s: the interface model at t = %g has no unique solution at %s",
                   model->def.name, smooth->work.t, yk_smooth_owner(model, column, owner, sizeof owner));
}

static yk_status factor(yk_smooth *smooth)
{
    yk_smooth_workspace *work = &smooth->work;
    double compliance = work->compliance, loss = work->loss, potential = work->potential;
    double supply = work->supply, port_supply = work->port_supply;
    const yk_input *inputs = work->inputs;
    work->inputs = NULL;
    work->compliance = smooth->state.clock->redundant != 0 ? REDUNDANT_COMPLIANCE : 0;
    yk_smooth_assemble(&smooth->model, work, &smooth->solver, LEVEL_ACCELERATION);
    work->inputs = inputs;
    work->compliance = compliance, work->loss = loss, work->potential = potential;
    work->supply = supply, work->port_supply = port_supply;
    return factor_own(smooth);
}

static void solve(yk_smooth *smooth, double *right)
{
    const yk_smooth_model *model = &smooth->model;
    for (int i = 0; i < model->unknown_count; i++) right[i] *= model->unknown_scale[i];
    yk_sparse_solve(smooth->interface->matrix, right);
    for (int i = 0; i < model->unknown_count; i++) right[i] *= model->unknown_scale[i];
}

void yk_smooth_push(const yk_smooth_model *model, const yk_smooth_workspace *work, const port_row *row, double *right)
{
    for (int side = 0; side < 2; side++) {
        if (row->frame[side] < 0) continue;
        yk_wrench wrench = {row->linear[side], row->angular[side]};
        yk_smooth_push_frame(model, work, row->frame[side], 1 / model->mass_scale, &wrench, right);
    }
}

/* Of the solved accelerations; `driven`: and what frames of prescribed motion and places of flexible bodies have without
 * them. */
static double rate_of(const yk_smooth_model *model, const yk_smooth_workspace *work, const port_row *row,
                      const double *solution, bool driven)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        if (row->frame[side] < 0) continue;
        const trial_node *node = &work->trial[row->frame[side]];
        yk_vec3 linear, angular;
        yk_smooth_pull_frame(model, work, row->frame[side], solution, &linear, &angular);
        if (driven && model->nodes[row->frame[side]].unknown < 0) {
            linear = yk_v3_add(linear, node->acceleration);
            angular = yk_v3_add(angular, node->angular_acceleration);
        }
        rate += yk_v3_dot(row->linear[side], linear) + yk_v3_dot(row->angular[side], angular);
    }
    return rate;
}

/* Memory at the first call, and whether the caller's arrays have the right size. */
static yk_status prepare(yk_smooth *smooth, int size)
{
    const yk_smooth_model *model = &smooth->model;
    yk_status status = smooth->interface ? YK_OK : create_interface(smooth);
    if (status != YK_OK) {
        yk_smooth_release_interface(smooth);
        return status;
    }
    if (size == smooth->interface->row_count) return YK_OK;
    return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: the interface model has %d velocities, not %d",
                   model->def.name, smooth->interface->row_count, size);
}

yk_status yk_smooth_interface_model(yk_smooth *smooth, yk_interface_model *out)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    yk_status status = prepare(smooth, out->size);
    if (status != YK_OK) return status;
    struct smooth_interface *interface = smooth->interface;
    int n = interface->row_count;
    out->lead = 0.5;
    if (n == 0) return YK_OK;
    status = factor(smooth);
    if (status != YK_OK) return status;
    yk_smooth_port_rows(model, work, interface->rows);
    memcpy(interface->right, work->right, (size_t)model->unknown_count * sizeof *interface->right);
    solve(smooth, interface->right);
    for (int i = 0; i < n; i++)
        out->rate[i] = rate_of(model, work, &interface->rows[i], interface->right, true) + interface->rows[i].bias;
    for (int j = 0; j < n; j++) {
        memset(interface->right, 0, (size_t)model->unknown_count * sizeof *interface->right);
        yk_smooth_push(model, work, &interface->rows[j], interface->right);
        solve(smooth, interface->right);
        for (int i = 0; i < n; i++)
            out->inverse_mass[i * n + j] = rate_of(model, work, &interface->rows[i], interface->right, false);
    }
    return YK_OK;
}

/* The next step ---------------------------------------------------------------------------------------------------- */

static double *put(double *to, yk_vec3 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
    return to + 3;
}

/* Velocities of the ports as the trial has them, and their displacements since the start of the step. */
static void read_ports(yk_smooth *smooth, double *velocity, double *displacement)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_show_attachments(model, &smooth->work);
    for (int i = 0; i < model->def.port_count; i++) {
        const yk_motion *from = &smooth->interface->begin[i].motion;
        int size = yk_smooth_port_size(&model->ports[i]);
        if (size == 0) continue;
        yk_port_value value;
        yk_smooth_port_output(model, &smooth->work, i, &value);
        const yk_motion *to = &value.motion;
        if (size == 1) {
            *velocity++ = to->velocity.x;
            *displacement++ = to->position.x - from->position.x;
            continue;
        }
        velocity = put(put(velocity, to->velocity), to->angular_velocity);
        displacement = put(displacement, yk_v3_sub(to->position, from->position));
        displacement = put(displacement, yk_so3_log(yk_q_mul(to->orientation, yk_q_conjugate(from->orientation))));
    }
}

/* An implicit step: one correction of Newton's method from its prediction. */
static yk_status model_by_newton(yk_smooth *smooth, double t, double h, yk_step_model *out)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    struct smooth_interface *interface = smooth->interface;
    int n = interface->row_count;
    size_t bytes = (size_t)model->unknown_count * sizeof *interface->right;
    model->integrator->open(model, state, work, t, h);
    work->input_time = h;
    yk_smooth_input_frames(model, work);

    /* Factors of this very place: joints make a mechanism stiff in some directions and light in others, and what an old
     * direction mixes of the two would be multiplied by their ratio. */
    model->integrator->momenta(model, work);
    yk_smooth_assemble(model, work, &smooth->solver, LEVEL_STEP);
    yk_status status = factor_own(smooth);
    if (status != YK_OK) return status;

    /* Columns: the equations of nodes are multiplied by c^2 (internal.h). */
    model->integrator->characterise(model, work, out);
    double rate = 1 / (out->lead * h); /* by which velocities follow positions */
    yk_smooth_port_rows(model, work, interface->rows);
    for (int j = 0; j < n; j++) {
        memset(interface->right, 0, bytes);
        yk_smooth_push(model, work, &interface->rows[j], interface->right);
        for (int i = 0; i < model->unknown_count; i++) interface->right[i] *= work->c * work->c;
        solve(smooth, interface->right);
        for (int i = 0; i < n; i++)
            out->mobility[i * n + j] = rate * rate_of(model, work, &interface->rows[i], interface->right, false);
    }

    /* The step itself, with the wrenches of the inputs. */
    solve(smooth, work->right);
    model->integrator->update(model, state, work);
    read_ports(smooth, out->velocity, out->displacement);
    return YK_OK;
}

static double acceleration_of(const yk_motion *motion, int k)
{
    const yk_vec3 *v = k < 3 ? &motion->acceleration : &motion->angular_acceleration;
    return k % 3 == 0 ? v->x : k % 3 == 1 ? v->y : v->z;
}

/* A step by evaluations, or many steps: velocities by the accelerations in its middle, displacements by a straight line through these
 * and those at its start. */
static yk_status model_by_rates(yk_smooth *smooth, double h, yk_step_model *out)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    struct smooth_interface *interface = smooth->interface;
    int n = interface->row_count;
    read_ports(smooth, out->velocity, out->displacement);
    yk_smooth_move_along(model, state, work, 0.5 * h);
    work->compliance = state->clock->redundant != 0 ? REDUNDANT_COMPLIANCE : 0;
    yk_smooth_assemble(model, work, &smooth->solver, LEVEL_ACCELERATION);
    yk_status status = factor_own(smooth);
    if (status != YK_OK) return status;

    yk_smooth_port_rows(model, work, interface->rows);
    memcpy(interface->right, work->right, (size_t)model->unknown_count * sizeof *interface->right);
    solve(smooth, interface->right);
    int i = 0;
    for (int port = 0; port < model->def.port_count; port++) {
        int size = yk_smooth_port_size(&model->ports[port]);
        for (int k = 0; k < size; k++, i++) {
            double begin = acceleration_of(&interface->begin[port].motion, k);
            double middle = rate_of(model, work, &interface->rows[i], interface->right, true) + interface->rows[i].bias;
            out->displacement[i] = h * (out->velocity[i] + h * (begin + 2 * middle) / 6);
            out->velocity[i] += h * middle;
        }
    }
    for (int j = 0; j < n; j++) {
        memset(interface->right, 0, (size_t)model->unknown_count * sizeof *interface->right);
        yk_smooth_push(model, work, &interface->rows[j], interface->right);
        solve(smooth, interface->right);
        for (i = 0; i < n; i++)
            out->mobility[i * n + j] = h * rate_of(model, work, &interface->rows[i], interface->right, false);
    }
    /* Many implicit steps take a wrench half of one of them later than its middle. */
    out->lead = 0.5;
    out->sample = 0.5;
    if (model->integrator->open) out->sample += 0.5 / out->steps;
    out->weight[0] = 1, out->weight[1] = out->weight[2] = 0;
    out->memory = 0;
    return YK_OK;
}

yk_status yk_smooth_step_model(yk_smooth *smooth, double t, double h, yk_step_model *out)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    yk_status status = prepare(smooth, out->size);
    if (status != YK_OK || out->size == 0) return status;
    double loss = work->loss, potential = work->potential;
    double supply = work->supply, port_supply = work->port_supply;
    for (int i = 0; i < model->def.port_count; i++) yk_smooth_port_output(model, work, i, &smooth->interface->begin[i]);

    if (model->integrator->open && out->steps <= 1)
        status = model_by_newton(smooth, t, h, out);
    else
        status = model_by_rates(smooth, h, out);

    work->stabilisation = 0;
    work->loss = loss, work->potential = potential;
    work->supply = supply, work->port_supply = port_supply;
    yk_smooth_trial_from_state(model, &smooth->state, work);
    return status;
}
