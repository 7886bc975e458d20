/* The reduced interface model of a mechanism with joints (Peiret et al. 2020, equations 5 to 7, on
 * acceleration level), and the model of its next step with the integrator.
 *
 * With the rows B of the port velocities and the matrix of the masses and joints of the consistent
 * start,
 *
 *   | M  G^T | | a |   | f - c + B^T wrench |
 *   | G   0  | | l | = | -(dG/dt) v         |      rate of the ports: B a + (dB/dt) v
 *
 * one solution gives the rate without wrenches, and one solution per port velocity a column of the
 * inverse effective mass. The matrix has its own factors, so that those of the step are not
 * changed.
 *
 * The model of a step is one Newton correction from the integrator's prediction, and one solution
 * per port velocity with the same factors. Methods that evaluate accelerations (Runge-Kutta) use
 * those in the middle of the step. */
#include <string.h>

#include "math/polynomial.h"
#include "math/so3.h"
#include "multibody/multibody.h"

/* As at the start: keeps the matrix regular if joints are redundant. */
static const double REDUNDANT_COMPLIANCE = 1e-9;

struct interface_solver {
    yk_sparse *matrix;
    port_row *rows;
    int row_count;
    double *right;

    /* The frames that carry the ports. If they have fewer velocities than the ports, columns follow
     * from the response of the frames: slots[2 i + side] is the place of a row's frame in
     * `frames`, `response` the matrix of their velocities, `carried` a row of it. */
    int *frames, frame_count;
    int *slots;
    double *response, *carried;
    yk_port_value *begin; /* of every port, at the start of the step */
    /* factored before: the pivots are kept, which makes later factorizations cheaper */
    bool pivoted;
};

/* Velocities of the ports ---------------------------------------------------------------------- */

int yk_multibody_port_size(const port_model *port)
{
    if (port->causality != YK_CAUSALITY_WRENCH_INPUT)
        return 0;
    return yk_port_freedoms(port->def.kind);
}

void yk_multibody_port_rows(const yk_multibody_model *model, const yk_multibody_workspace *work,
                            port_row *row)
{
    for (int i = 0; i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        int size = yk_multibody_port_size(port);
        if (size == 0)
            continue;

        /* Arms, velocities and centripetal accelerations of one marker, or of both ends. */
        yk_vec3 arm[2], at[2], velocity[2], centripetal[2];
        for (int side = 0; side < (size == 1 ? 2 : 1); side++) {
            const yk_frame *frame = &work->trial[port->node[side]].frame;
            arm[side] = yk_m3_apply(frame->rotation, port->def.markers[side].offset);
            yk_vec3 swing = yk_v3_cross(frame->angular_velocity, arm[side]);
            at[side] = yk_v3_add(frame->position, arm[side]);
            velocity[side] = yk_v3_add(frame->velocity, swing);
            centripetal[side] = yk_v3_cross(frame->angular_velocity, swing);
        }

        /* A marker: v + w x arm, and w. */
        if (size == 6) {
            for (int k = 0; k < 3; k++) {
                yk_vec3 axis = yk_v3(k == 0, k == 1, k == 2);
                port_row *linear = &row[k];
                port_row *angular = &row[3 + k];

                *linear = *angular = (port_row){.frame = {port->node[0], -1}};
                linear->linear[0] = axis;
                linear->angular[0] = yk_v3_cross(arm[0], axis);
                linear->bias = yk_v3_dot(axis, centripetal[0]);
                angular->angular[0] = axis;
            }
            row += size;
            continue;
        }

        /* A distance: its rate from the velocities, and the part of its second derivative that
         * remains without accelerations. */
        yk_vec3 along = yk_v3_sub(at[1], at[0]);
        yk_vec3 axis = yk_v3_unit(along);
        yk_vec3 rate = yk_v3_sub(velocity[1], velocity[0]);
        double length = yk_v3_norm(along);
        double speed = yk_v3_dot(axis, rate);
        *row = (port_row){.frame = {port->node[0], port->node[1]}};
        for (int side = 0; side < 2; side++) {
            row->linear[side] = yk_v3_scale(side == 0 ? -1 : 1, axis);
            row->angular[side] = yk_v3_cross(arm[side], row->linear[side]);
            row->bias += yk_v3_dot(row->linear[side], centripetal[side]);
        }
        if (length > 0)
            row->bias += (yk_v3_norm2(rate) - speed * speed) / length;
        row += size;
    }
}

void yk_multibody_push(const yk_multibody_model *model, const yk_multibody_workspace *work,
                       const port_row *row, double *right)
{
    for (int side = 0; side < 2; side++) {
        if (row->frame[side] < 0)
            continue;

        yk_wrench wrench = {row->linear[side], row->angular[side]};
        yk_multibody_push_frame(model, work, row->frame[side], 1 / model->mass_scale, &wrench,
                                right);
    }
}

/* From the solved accelerations; `driven`: including those of frames with prescribed motion and of
 * attachments of flexible bodies. */
static double port_rate(const yk_multibody_model *model, const yk_multibody_workspace *work,
                        const port_row *row, const double *solution, bool driven)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        int frame = row->frame[side];
        if (frame < 0)
            continue;

        yk_vec3 linear, angular;
        yk_multibody_pull_frame(model, work, frame, solution, &linear, &angular);

        if (driven && model->nodes[frame].unknown < 0) {
            linear = yk_v3_add(linear, work->trial[frame].acceleration);
            angular = yk_v3_add(angular, work->trial[frame].angular_acceleration);
        }

        rate += yk_v3_dot(row->linear[side], linear) + yk_v3_dot(row->angular[side], angular);
    }

    return rate;
}

/* The matrix of its own ------------------------------------------------------------------------ */

void yk_multibody_release_interface(yk_multibody *self)
{
    struct interface_solver *made = self->interface;
    yk_context *context = self->model.context;

    if (!made)
        return;

    yk_sparse_destroy(made->matrix);
    yk_free(context, made->rows);
    yk_free(context, made->right);
    yk_free(context, made->frames);
    yk_free(context, made->slots);
    yk_free(context, made->response);
    yk_free(context, made->begin);
    yk_free(context, made);
    self->interface = NULL;
}

enum { FRAME_VELOCITIES = 6 };

/* Lists the frames of the ports. `response` stays NULL if they have more velocities than the ports. */
static yk_status list_frames(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             struct interface_solver *made)
{
    yk_context *context = model->context;
    int n = made->row_count;
    int *place = yk_allocate(context, (size_t)model->frame_count, sizeof *place);
    made->frames = yk_allocate(context, 2 * (size_t)n, sizeof *made->frames);
    made->slots = yk_allocate(context, 2 * (size_t)n, sizeof *made->slots);
    if (!place || !made->frames || !made->slots) {
        yk_free(context, place);
        return YK_ERROR_MEMORY;
    }

    /* place[frame]: 1 + its place. */
    yk_multibody_port_rows(model, work, made->rows);
    for (int i = 0; i < 2 * n; i++) {
        int frame = made->rows[i / 2].frame[i % 2];
        made->slots[i] = -1;
        if (frame < 0)
            continue;
        if (place[frame] == 0) {
            made->frames[made->frame_count] = frame;
            place[frame] = ++made->frame_count;
        }
        made->slots[i] = place[frame] - 1;
    }

    yk_free(context, place);
    size_t size = FRAME_VELOCITIES * (size_t)made->frame_count;
    if (size >= (size_t)n)
        return YK_OK;
    made->response = yk_allocate(context, size * (size + 1), sizeof *made->response);
    if (!made->response)
        return YK_ERROR_MEMORY;
    made->carried = made->response + size * size;
    return YK_OK;
}

/* Allocate at the first call, and check the size of the caller's arrays. */
static yk_status prepare_interface(yk_multibody *self, int size)
{
    const yk_multibody_model *model = &self->model;
    yk_context *context = model->context;

    if (!self->interface) {
        struct interface_solver *made = yk_allocate(context, 1, sizeof *made);
        if (!made)
            return YK_ERROR_MEMORY;

        self->interface = made;

        for (int i = 0; i < model->def.port_count; i++)
            made->row_count += yk_multibody_port_size(&model->ports[i]);

        made->rows = yk_allocate(context, (size_t)made->row_count, sizeof *made->rows);
        made->right = yk_allocate(context, (size_t)model->unknown_count, sizeof *made->right);
        made->begin = yk_allocate(context, (size_t)model->def.port_count, sizeof *made->begin);

        /* The pattern of the solver's matrix, so that values have the same indices. */
        size_t count = self->solver.entry_count;
        yk_sparse_entry *entries = yk_allocate(context, count, sizeof *entries);
        int *entry_index = yk_allocate(context, count, sizeof *entry_index);
        yk_status status = YK_ERROR_MEMORY;
        if (made->rows && made->right && made->begin && entries && entry_index) {
            yk_multibody_pattern(model, &self->work, entries);
            status = yk_sparse_create(context, model->unknown_count, entries, count, entry_index,
                                      &made->matrix);
        }
        if (status == YK_OK)
            status = list_frames(model, &self->work, made);

        yk_free(context, entries);
        yk_free(context, entry_index);
        if (status != YK_OK) {
            yk_multibody_release_interface(self);
            return status;
        }
    }

    if (size == self->interface->row_count)
        return YK_OK;

    return yk_fail(context, YK_ERROR_ARGUMENT, "%s: the interface model has %d velocities, not %d",
                   model->def.name, self->interface->row_count, size);
}

/* The assembled matrix, in factors of its own. */
static yk_status factor_own(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    struct interface_solver *interface = self->interface;
    yk_sparse *from = self->solver.matrix;

    memcpy(yk_sparse_values(interface->matrix), yk_sparse_values(from),
           yk_sparse_nonzeros(from) * sizeof(double));

    /* Choose pivots once, then refactor. */
    int column = 0;
    yk_status status = YK_OK;
    if (!interface->pivoted)
        status = yk_sparse_factor(interface->matrix, &column);
    if (status == YK_OK)
        status = yk_sparse_refactor(interface->matrix, &column);
    interface->pivoted = status == YK_OK;
    if (status == YK_OK)
        return YK_OK;

    char owner[128];
    return yk_fail(
        model->context, status, "%s: the interface model at t = %g has no unique solution at %s",
        model->def.name, self->work.t, yk_multibody_owner(model, column, owner, sizeof owner));
}

static void solve_interface(const yk_multibody_model *model,
                            const struct interface_solver *interface, double *right)
{
    for (int i = 0; i < model->unknown_count; i++)
        right[i] *= model->unknown_scale[i];
    yk_sparse_solve(interface->matrix, right);
    for (int i = 0; i < model->unknown_count; i++)
        right[i] *= model->unknown_scale[i];
}

/* Rates of the port velocities at the trial without further wrenches: B a + (dB/dt) v. The solution
 * remains in interface->right. */
static void read_rates(yk_multibody *self, double *rate)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    struct interface_solver *interface = self->interface;

    yk_multibody_port_rows(model, work, interface->rows);
    memcpy(interface->right, work->right, (size_t)model->unknown_count * sizeof *interface->right);
    solve_interface(model, interface, interface->right);

    for (int i = 0; i < interface->row_count; i++) {
        const port_row *row = &interface->rows[i];
        rate[i] = port_rate(model, work, row, interface->right, true) + row->bias;
    }
}

/* Response of the velocities of the frames to unit wrenches on the frames, row-major. */
static void read_frame_response(yk_multibody *self, double equation, double scale)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    struct interface_solver *interface = self->interface;
    double *right = interface->right;
    int size = FRAME_VELOCITIES * interface->frame_count;

    for (int j = 0; j < size; j++) {
        int k = j % FRAME_VELOCITIES;
        yk_vec3 axis = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        yk_wrench wrench = {.force = {0, 0, 0}};
        if (k < 3)
            wrench.force = axis;
        else
            wrench.torque = axis;

        memset(right, 0, (size_t)model->unknown_count * sizeof *right);
        yk_multibody_push_frame(model, work, interface->frames[j / FRAME_VELOCITIES],
                                equation / model->mass_scale, &wrench, right);
        solve_interface(model, interface, right);

        double *out = interface->response + j;
        for (int i = 0; i < interface->frame_count; i++) {
            yk_vec3 linear, angular;
            yk_multibody_pull_frame(model, work, interface->frames[i], right, &linear, &angular);
            const double moved[FRAME_VELOCITIES] = {linear.x,  linear.y,  linear.z,
                                                    angular.x, angular.y, angular.z};
            for (int r = 0; r < FRAME_VELOCITIES; r++, out += size)
                *out = scale * moved[r];
        }
    }
}

/* Coefficients of a row with respect to the velocities of one of its frames. */
static void row_coefficients(const port_row *row, int side, double of[FRAME_VELOCITIES])
{
    of[0] = row->linear[side].x;
    of[1] = row->linear[side].y;
    of[2] = row->linear[side].z;
    of[3] = row->angular[side].x;
    of[4] = row->angular[side].y;
    of[5] = row->angular[side].z;
}

/* The same as read_columns() from the response of the frames. */
static void expand_columns(yk_multibody *self, double *matrix)
{
    struct interface_solver *interface = self->interface;
    int n = interface->row_count;
    int size = FRAME_VELOCITIES * interface->frame_count;
    double *carried = interface->carried;

    for (int i = 0; i < n; i++) {
        memset(carried, 0, (size_t)size * sizeof *carried);
        for (int side = 0; side < 2; side++) {
            int slot = interface->slots[2 * i + side];
            if (slot < 0)
                continue;

            double of[FRAME_VELOCITIES];
            row_coefficients(&interface->rows[i], side, of);
            const double *response = interface->response + slot * FRAME_VELOCITIES * size;
            for (int k = 0; k < FRAME_VELOCITIES; k++, response += size)
                for (int c = 0; of[k] != 0 && c < size; c++)
                    carried[c] += of[k] * response[c];
        }

        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int side = 0; side < 2; side++) {
                int slot = interface->slots[2 * j + side];
                if (slot < 0)
                    continue;

                double by[FRAME_VELOCITIES];
                row_coefficients(&interface->rows[j], side, by);
                const double *from = carried + slot * FRAME_VELOCITIES;
                for (int k = 0; k < FRAME_VELOCITIES; k++)
                    sum += from[k] * by[k];
            }
            matrix[i * n + j] = sum;
        }
    }
}

/* Response of each port velocity to a unit wrench along every other: column j of the matrix.
 * Equations of the nodes are multiplied by `equation`, responses by `scale`. */
static void read_columns(yk_multibody *self, double equation, double scale, double *matrix)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;

    struct interface_solver *interface = self->interface;
    if (interface->response) {
        read_frame_response(self, equation, scale);
        expand_columns(self, matrix);
        return;
    }

    double *right = interface->right;
    int n = interface->row_count;
    for (int j = 0; j < n; j++) {
        memset(right, 0, (size_t)model->unknown_count * sizeof *right);
        yk_multibody_push(model, work, &interface->rows[j], right);
        for (int i = 0; i < model->unknown_count; i++)
            right[i] *= equation;
        solve_interface(model, interface, right);
        for (int i = 0; i < n; i++)
            matrix[i * n + j] = scale * port_rate(model, work, &interface->rows[i], right, false);
    }
}

yk_status yk_multibody_interface_model(yk_multibody *self, yk_interface_model *out)
{
    yk_status status = prepare_interface(self, out->row_count);
    if (status != YK_OK)
        return status;

    out->theta = 0.5;
    if (self->interface->row_count == 0)
        return YK_OK;

    /* The equations without wrenches. The powers of the trial are restored. */
    yk_multibody_workspace *work = &self->work;
    double compliance = work->compliance;
    double loss = work->loss;
    double potential = work->potential;
    double supply = work->supply;
    double port_supply = work->port_supply;
    const yk_input *inputs = work->inputs;

    /* If joints are redundant, with a small compliance. */
    work->inputs = NULL;
    work->compliance = 0;
    if (self->state.clock->redundant != 0)
        work->compliance = REDUNDANT_COMPLIANCE;
    yk_multibody_assemble(&self->model, work, &self->solver, LEVEL_ACCELERATION);

    work->inputs = inputs;
    work->compliance = compliance;
    work->loss = loss;
    work->potential = potential;
    work->supply = supply;
    work->port_supply = port_supply;

    /* One solution for the rates, one for each column. */
    status = factor_own(self);
    if (status != YK_OK)
        return status;

    read_rates(self, out->free_acceleration);
    read_columns(self, 1, 1, out->inverse_mass);

    return YK_OK;
}

/* The next step -------------------------------------------------------------------------------- */

static double *put_vector(double *to, yk_vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    return to + 3;
}

/* Velocities of the ports in the trial, and their displacements since the start of the step. */
static void read_ports(yk_multibody *self, double *velocity, double *displacement)
{
    const yk_multibody_model *model = &self->model;

    yk_multibody_show_attachments(model, &self->work);
    for (int i = 0; i < model->def.port_count; i++) {
        int size = yk_multibody_port_size(&model->ports[i]);
        if (size == 0)
            continue;

        yk_port_value value;
        yk_multibody_port_output(model, &self->work, i, &value);

        const yk_motion *from = &self->interface->begin[i].motion;
        const yk_motion *to = &value.motion;

        if (size == 1) {
            *velocity++ = to->velocity.x;
            *displacement++ = to->position.x - from->position.x;
            continue;
        }

        yk_quat rotated = yk_q_mul(to->orientation, yk_q_conjugate(from->orientation));
        velocity = put_vector(velocity, to->velocity);
        velocity = put_vector(velocity, to->angular_velocity);
        displacement = put_vector(displacement, yk_v3_sub(to->position, from->position));
        displacement = put_vector(displacement, yk_so3_log(rotated));
    }
}

/* An implicit step: one correction of Newton's method from its prediction. */
static yk_status model_by_newton(yk_multibody *self, double t, double h, yk_step_model *out)
{
    const yk_multibody_model *model = &self->model;
    const integrator *method = model->integrator;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;

    method->open(model, state, work, t, h);
    work->input_time = h;
    yk_multibody_input_frames(model, work);

    /* Factors of exactly this pose. Joints make a mechanism stiff in some directions and light in
     * others; if old directions mixed the two, the error would be multiplied by the ratio of their
     * stiffnesses. */
    method->momenta(model, work);
    yk_multibody_assemble(model, work, &self->solver, LEVEL_STEP);
    yk_status status = factor_own(self);
    if (status != YK_OK)
        return status;

    /* Columns: the equations of nodes are multiplied by c^2 (multibody.h); the ratio of velocities
     * to positions is a constant. */
    method->characterise(model, work, out);
    if (!out->omit_mobility) {
        double rate = 1 / (out->theta * h);
        yk_multibody_port_rows(model, work, self->interface->rows);
        read_columns(self, work->c * work->c, rate, out->mobility);
    }

    /* The step itself, with the wrenches of the inputs. */
    solve_interface(model, self->interface, work->right);
    method->update(model, state, work);
    read_ports(self, out->velocity, out->displacement);

    return YK_OK;
}

/* A step by evaluations, or many internal steps: velocities from the accelerations in the middle,
 * displacements from a linear acceleration through these and those at the start. */
static yk_status model_by_rates(yk_multibody *self, double h, yk_step_model *out)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    read_ports(self, out->velocity, out->displacement);

    /* The equations in the middle of the step. */
    yk_multibody_move_along(model, &self->state, work, 0.5 * h);
    work->compliance = 0;
    if (self->state.clock->redundant != 0)
        work->compliance = REDUNDANT_COMPLIANCE;
    yk_multibody_assemble(model, work, &self->solver, LEVEL_ACCELERATION);
    yk_status status = factor_own(self);
    if (status != YK_OK)
        return status;

    /* The motion without further wrenches, and the effect of wrenches. */
    double *middle = out->displacement; /* until it is known */
    read_rates(self, middle);

    /* Displacements by a' that is linear in time: h v + h^2 a_begin / 2 + weight h^3 a'', with 1/6 as
     * the weight of the exact solution. */
    double weight = 1.0 / 6;
    if (model->integrator->cubic_weight)
        weight = model->integrator->cubic_weight(&model->def.options);
    int i = 0;
    for (int port = 0; port < model->def.port_count; port++) {
        const yk_motion *motion = &self->interface->begin[port].motion;
        yk_vec3 linear = motion->acceleration;
        yk_vec3 angular = motion->angular_acceleration;
        const double first[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
        int size = yk_multibody_port_size(&model->ports[port]);
        for (int k = 0; k < size; k++, i++) {
            double begin = first[k];
            double rate = middle[i];
            double curve = 0.5 * begin + 2 * weight * (rate - begin);
            out->displacement[i] = h * (out->velocity[i] + h * curve);
            out->velocity[i] += h * rate;
        }
    }

    if (!out->omit_mobility)
        read_columns(self, 1, h, out->mobility);

    /* Many implicit internal steps use a wrench half an internal step later than the middle. */
    out->theta = 0.5;
    out->wrench_point = 0.5;
    if (yk_multibody_is_implicit(model->integrator))
        out->wrench_point += 0.5 / out->substep_count;
    out->wrench_weights[0] = 1;
    out->wrench_weights[1] = out->wrench_weights[2] = 0;
    out->memory_factor = 0;

    return YK_OK;
}

yk_status yk_multibody_step_model(yk_multibody *self, double t, double h, yk_step_model *out)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_status status = prepare_interface(self, out->row_count);
    if (status != YK_OK || out->row_count == 0)
        return status;

    /* The powers of the trial, and the ports at the start of the step. */
    double loss = work->loss;
    double potential = work->potential;
    double supply = work->supply;
    double port_supply = work->port_supply;
    for (int i = 0; i < model->def.port_count; i++)
        yk_multibody_port_output(model, work, i, &self->interface->begin[i]);

    if (yk_multibody_is_implicit(model->integrator) && out->substep_count <= 1) {
        status = model_by_newton(self, t, h, out);
    } else {
        status = model_by_rates(self, h, out);
    }

    /* Restore the model. */
    work->stabilisation = 0;
    work->loss = loss;
    work->potential = potential;
    work->supply = supply;
    work->port_supply = port_supply;
    yk_multibody_trial_from_state(model, &self->state, work);

    return status;
}
