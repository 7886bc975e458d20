/* The reduced interface model of the bodies with wrench ports (Peiret et al. 2020, section 4).
 *
 * The rows of the next step are set up as for a step, at the present configuration. Instead of a
 * solution, contacts keep the state that follows from their last impulses and the present
 * velocities (contact/response.h), unless the wrenches of the last step would close or open them.
 * One solution gives the velocities at the end of a step without wrenches at the ports; one more
 * per port velocity gives a column of the inverse effective mass (equation 56). */
#include "contact/response.h"
#include "math/polynomial.h"
#include "nonsmooth/world.h"

enum { REVIEWS = 4 }; /* largest number of reviews of the contact states */

/* A velocity of a port as a linear combination of the velocities of one or two bodies. The same
 * coefficients convert its wrench to forces. */
typedef struct port_row {
    int slot[2]; /* -1: none, or the ground */
    yk_vec3 linear[2], angular[2];
    double bias; /* its rate at constant velocities of the bodies */
} port_row;

struct yk_world_interface {
    yk_response *response;
    yk_network_node *present;
    port_row *rows;
    int32_t *nodes;
    int row_count, node_count;
};

static int port_size(const yk_world_model *model, size_t port)
{
    if (model->ports[port].causality != YK_CAUSALITY_WRENCH_INPUT)
        return 0;
    return yk_port_freedoms(model->port_list[port].kind);
}

static void list_rows(const yk_nonsmooth *self, port_row *rows)
{
    for (size_t i = 0; i < self->model.port_count; i++) {
        const yk_port_model *port = &self->model.ports[i];
        int size = port_size(&self->model, i);

        /* A line: its force on both bodies. */
        if (size == 1) {
            yk_world_line line = yk_world_line_at(self, port);
            *rows = (port_row){.slot = {port->slot, port->far_slot}, .bias = line.bias};
            for (int side = 0; side < 2; side++) {
                rows->linear[side] = line.force[side];
                rows->angular[side] = line.torque[side];
            }
        }

        /* A marker: three velocities of its point, three of its frame. */
        for (int k = 0; size == 6 && k < 6; k++) {
            const yk_body_state *body = &self->state.bodies[port->slot];
            yk_vec3 arm = yk_q_rotate(body->orientation, port->marker.offset),
                    w = body->angular_velocity;

            yk_vec3 axis = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            rows[k] = (port_row){.slot = {port->slot, -1}};
            /* The point accelerates by w x (w x arm) at constant velocities. */
            if (k < 3) {
                rows[k].linear[0] = axis;
                rows[k].angular[0] = yk_v3_cross(arm, axis);
                rows[k].bias = yk_v3_dot(axis, yk_v3_cross(w, yk_v3_cross(w, arm)));
            } else {
                rows[k].angular[0] = axis;
            }
        }

        rows += size;
    }
}

static yk_status create_interface(yk_nonsmooth *self)
{
    yk_context *context = self->context;
    const yk_world_model *model = &self->model;

    struct yk_world_interface *made = yk_allocate(context, 1, sizeof *made);

    if (!made)
        return YK_ERROR_MEMORY;

    self->interface = made;

    /* Memory for as many velocities as the ports have. */
    for (size_t i = 0; i < model->port_count; i++)
        made->row_count += port_size(model, i);
    made->present = yk_allocate(context, model->dynamic_count, sizeof *made->present);
    made->rows = yk_allocate(context, (size_t)made->row_count, sizeof *made->rows);
    made->nodes = yk_allocate(context, 2 * (size_t)made->row_count, sizeof *made->nodes);
    if (!made->present || !made->rows || !made->nodes)
        return YK_ERROR_MEMORY;

    /* Nodes moved by the ports, for which the response is computed. */
    list_rows(self, made->rows);
    for (int i = 0; i < 2 * made->row_count; i++) {
        int slot = made->rows[i / 2].slot[i % 2];
        if (yk_world_is_dynamic(model, slot))
            made->nodes[made->node_count++] = slot;
    }

    return yk_response_create(context, &made->response);
}

void yk_world_release_interface(yk_nonsmooth *self)
{
    struct yk_world_interface *made = self->interface;
    if (!made)
        return;

    yk_response_destroy(made->response);
    yk_free(self->context, made->present);
    yk_free(self->context, made->rows);
    yk_free(self->context, made->nodes);
    yk_free(self->context, made);
    self->interface = NULL;
}

/* Rates of ports ------------------------------------------------------------------------------- */

static double side_rate(const port_row *row, int side, yk_vec3 linear, yk_vec3 angular)
{
    return yk_v3_dot(row->linear[side], linear) + yk_v3_dot(row->angular[side], angular);
}

/* Uses the velocities of the solution. Bodies with known motion already have the velocity at the
 * end of the step. */
static double solved_rate(const yk_nonsmooth *self, const port_row *row, bool change)
{
    const yk_response *response = self->interface->response;
    double rate = 0;

    for (int side = 0; side < 2; side++) {
        int slot = row->slot[side];
        if (slot < 0)
            continue;

        if (yk_world_is_dynamic(&self->model, slot)) {
            yk_vec3 v = yk_response_velocity(response, slot);
            rate += side_rate(row, side, v, yk_response_angular_velocity(response, slot));
        } else if (!change) {
            const yk_body_state *body = &self->state.bodies[slot];
            rate += side_rate(row, side, body->velocity, body->angular_velocity);
        }
    }

    return rate;
}

/* A force along the row, on its dynamic bodies. */
static void push(const yk_nonsmooth *self, const port_row *row, double force)
{
    for (int side = 0; side < 2; side++) {
        if (!yk_world_is_dynamic(&self->model, row->slot[side]))
            continue;

        yk_response_push(self->interface->response, row->slot[side],
                         yk_v3_scale(force, row->linear[side]),
                         yk_v3_scale(force, row->angular[side]));
    }
}

/* Solution ------------------------------------------------------------------------------------- */

/* Factors the problem with contacts in their present states, after opening and closing those that
 * would change within a step with the wrenches of the last one. */
static yk_status factor(yk_nonsmooth *self, double h)
{
    const yk_world_model *model = &self->model;
    struct yk_world_interface *interface = self->interface;

    /* Velocities before the step show which contacts stick and which slip. */
    for (size_t i = 0; i < model->dynamic_count; i++) {
        double radius = model->bodies[i].radius;
        const yk_twist *before = &self->step.before[i];
        interface->present[i].velocity = before->linear;
        interface->present[i].spin = yk_v3_scale(radius > 0 ? radius : 1, before->angular);
    }

    /* Impulses of the last step belong to its step size. */
    double step = self->state.run.step;
    yk_response_def def = {
        .friction = model->def.contact_options.friction_model,
        .present = interface->present,
        .impulse_scale = step > 0 ? h / step : 1,
        .nodes = interface->nodes,
        .node_count = interface->node_count,
    };

    yk_status status = yk_response_factor(interface->response, self->problem.network, &def);

    /* A velocity change by gravity in one step is significant; a hundredth of it is the limit of
     * noise. */
    double speed = 1e-2 * h * yk_v3_norm(model->def.gravity) + 1e-9;
    bool changed = self->report.contacts > 0;
    for (int i = 0; i < REVIEWS && changed && status == YK_OK; i++) {
        const port_row *row = interface->rows;

        /* The next step with the wrenches of the last one. */
        yk_response_begin_free(interface->response);
        for (size_t k = 0; k < model->port_count; k++) {
            yk_vec3 f = self->state.ports[k].wrench.force, m = self->state.ports[k].wrench.torque;
            const double values[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
            for (int n = 0; n < port_size(model, k); n++, row++)
                push(self, row, h * values[n]);
        }

        yk_response_solve(interface->response);
        status = yk_response_review(interface->response, &def, speed, &changed);
    }

    return status;
}

static void solve(yk_nonsmooth *self, double h, yk_interface_model *model)
{
    const struct yk_world_interface *interface = self->interface;
    yk_response *response = interface->response;
    int n = interface->row_count;

    /* Accelerations without wrenches at the ports. */
    yk_response_begin_free(response);
    yk_response_solve(response);
    for (int i = 0; i < n; i++) {
        const port_row *row = &interface->rows[i];
        double present = 0;
        for (int side = 0; side < 2; side++) {
            if (row->slot[side] < 0)
                continue;

            const yk_twist *before = &self->step.before[row->slot[side]];
            present += side_rate(row, side, before->linear, before->angular);
        }

        /* The change over the step, and the terms of the markers' motion at constant velocities. */
        model->free_acceleration[i] = (solved_rate(self, row, false) - present) / h + row->bias;
    }

    /* Columns of the inverse mass: responses to unit wrenches. */
    for (int j = 0; j < n; j++) {
        yk_response_begin_zero(response);

        push(self, &interface->rows[j], 1);
        yk_response_solve_refined(response);
        for (int i = 0; i < n; i++)
            model->inverse_mass[i * n + j] = solved_rate(self, &interface->rows[i], true);
    }
}

yk_status yk_world_interface_model(yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                                   yk_interface_model *model)
{
    /* Allocate memory at the first request. */
    yk_status status = YK_OK;
    if (!self->interface)
        status = create_interface(self);
    if (status != YK_OK) {
        yk_world_release_interface(self);
        return status;
    }

    if (model->row_count != self->interface->row_count)
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "the interface model has %d velocities, not %d", self->interface->row_count,
                       model->row_count);

    model->theta = 1;
    if (model->row_count == 0)
        return YK_OK;

    /* Rows of the next step. */
    list_rows(self, self->interface->rows);
    status = yk_world_find_contacts(self, h);
    if (status != YK_OK)
        return status;

    /* Free motion without wrenches at the ports, then contacts and joints as in a step. */
    yk_world_set_free_motion(self, t, h, inputs);
    status = yk_world_set_contacts(self, h);
    if (status == YK_OK)
        status = yk_world_set_joint_rows(self, t, h, inputs);

    if (status == YK_OK)
        status = factor(self, h);
    if (status == YK_OK)
        solve(self, h, model);

    /* Restore bodies with known motion, which have not made the step. */
    for (size_t i = self->model.dynamic_count; i < self->model.body_count; i++) {
        self->state.bodies[i].velocity = self->step.before[i].linear;
        self->state.bodies[i].angular_velocity = self->step.before[i].angular;
    }

    return status;
}
