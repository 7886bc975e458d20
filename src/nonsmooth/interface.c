/* The reduced interface model of the bodies behind the ports that take wrenches: paper rim section 4.
 *
 * The rows of the next step are set up as for a step, at the present configuration; instead of a solution, contacts
 * keep the state that their last impulses and the present velocities show (contact/response.h), unless the wrenches of the
 * last step would close or open them. One solution gives the
 * velocities at the end of a step without wrenches at the ports, one more per port velocity a column of the inverse
 * effective mass (56). */
#include "contact/response.h"
#include "nonsmooth/world.h"

enum { REVIEWS = 4 }; /* of the states of contacts, at most */

/* A velocity of a port: what it reads of one or two bodies. The same coefficients turn its wrench into forces. */
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

static void marker_rows(const yk_nonsmooth *self, const yk_port_slot *port, port_row *rows)
{
    const yk_body_state *body = &self->bodies[port->slot];
    yk_vec3 arm = yk_q_rotate(body->orientation, port->marker.offset), w = body->angular_velocity;
    yk_vec3 centripetal = yk_v3_cross(w, yk_v3_cross(w, arm));
    for (int k = 0; k < 6; k++) {
        yk_vec3 axis = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        rows[k] = (port_row){.slot = {port->slot, -1}};
        rows[k].linear[0] = k < 3 ? axis : yk_v3(0, 0, 0);
        rows[k].angular[0] = k < 3 ? yk_v3_cross(arm, axis) : axis;
        rows[k].bias = k < 3 ? yk_v3_dot(axis, centripetal) : 0;
    }
}

static void line_row(const yk_nonsmooth *self, const yk_port_slot *port, port_row *row)
{
    yk_world_line line = yk_world_line_at(self, port);
    *row = (port_row){.slot = {port->slot, port->far_slot}, .bias = line.bias};
    for (int side = 0; side < 2; side++) row->linear[side] = line.force[side], row->angular[side] = line.torque[side];
}

static int port_size(const yk_nonsmooth *self, size_t port)
{
    if (self->ports[port].causality != YK_TAKES_WRENCH) return 0;
    return self->port_list[port].kind == YK_PORT_SCALAR ? 1 : 6;
}

static void list_rows(const yk_nonsmooth *self, port_row *rows)
{
    for (size_t i = 0; i < self->port_count; i++) {
        int size = port_size(self, i);
        if (size == 6) marker_rows(self, &self->ports[i], rows);
        if (size == 1) line_row(self, &self->ports[i], rows);
        rows += size;
    }
}

static yk_status create_interface(yk_nonsmooth *self)
{
    yk_context *context = self->context;
    struct yk_world_interface *made = yk_allocate(context, 1, sizeof *made);
    if (!made) return YK_ERROR_MEMORY;
    self->interface = made;
    for (size_t i = 0; i < self->port_count; i++) made->row_count += port_size(self, i);
    made->present = yk_allocate(context, self->dynamic_count, sizeof *made->present);
    made->rows = yk_allocate(context, (size_t)made->row_count, sizeof *made->rows);
    made->nodes = yk_allocate(context, 2 * (size_t)made->row_count, sizeof *made->nodes);
    if (!made->present || !made->rows || !made->nodes) return YK_ERROR_MEMORY;
    list_rows(self, made->rows);
    for (int i = 0; i < made->row_count; i++)
        for (int side = 0; side < 2; side++)
            if (yk_world_is_dynamic(self, made->rows[i].slot[side]))
                made->nodes[made->node_count++] = made->rows[i].slot[side];
    return yk_response_create(context, &made->response);
}

void yk_world_release_interface(yk_nonsmooth *self)
{
    struct yk_world_interface *made = self->interface;
    if (!made) return;
    yk_response_destroy(made->response);
    yk_release(self->context, made->present);
    yk_release(self->context, made->rows);
    yk_release(self->context, made->nodes);
    yk_release(self->context, made);
    self->interface = NULL;
}

static double side_rate(const port_row *row, int side, yk_vec3 linear, yk_vec3 angular)
{
    return yk_v3_dot(row->linear[side], linear) + yk_v3_dot(row->angular[side], angular);
}

/* With the velocities before the step. */
static double present_rate(const yk_nonsmooth *self, const port_row *row)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        if (row->slot[side] < 0) continue;
        const yk_twist *before = &self->before[row->slot[side]];
        rate += side_rate(row, side, before->linear, before->angular);
    }
    return rate;
}

/* With those of the solution. Bodies of known motion have the velocity of the end of the step in `bodies`, and no change
 * of it. */
static double solved_rate(const yk_nonsmooth *self, const port_row *row, bool change)
{
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        int slot = row->slot[side];
        if (slot < 0) continue;
        const yk_response *response = self->interface->response;
        if (yk_world_is_dynamic(self, slot))
            rate += side_rate(row, side, yk_response_velocity(response, slot),
                              yk_response_angular_velocity(response, slot));
        else if (!change)
            rate += side_rate(row, side, self->bodies[slot].velocity, self->bodies[slot].angular_velocity);
    }
    return rate;
}

static void note_present(const yk_nonsmooth *self, yk_network_node *present)
{
    for (size_t i = 0; i < self->dynamic_count; i++) {
        double radius = self->models[i].radius;
        present[i].velocity = self->before[i].linear;
        present[i].spin = yk_v3_scale(radius > 0 ? radius : 1, self->before[i].angular);
    }
}

/* The end of a step with the wrenches of the last one. */
static void expect(yk_nonsmooth *self, double h)
{
    const struct yk_world_interface *interface = self->interface;
    const port_row *row = interface->rows;
    yk_response_begin_free(interface->response);
    for (size_t i = 0; i < self->port_count; i++) {
        const yk_wrench *wrench = &self->ports[i].wrench;
        const double values[6] = {wrench->force.x,  wrench->force.y,  wrench->force.z,
                                  wrench->torque.x, wrench->torque.y, wrench->torque.z};
        for (int k = 0; k < port_size(self, i); k++, row++)
            for (int side = 0; side < 2; side++)
                if (yk_world_is_dynamic(self, row->slot[side]))
                    yk_response_push(interface->response, row->slot[side],
                                     yk_v3_scale(h * values[k], row->linear[side]),
                                     yk_v3_scale(h * values[k], row->angular[side]));
    }
    yk_response_solve(interface->response);
}

/* Contacts that would close or open within the step do so here, too. */
static yk_status review(yk_nonsmooth *self, double h, const yk_response_def *def)
{
    double speed = 1e-2 * h * yk_v3_norm(self->def.gravity) + 1e-9;
    bool changed = self->report.contacts > 0;
    for (int i = 0; i < REVIEWS && changed; i++) {
        expect(self, h);
        yk_status status = yk_response_review(self->interface->response, def, speed, &changed);
        if (status < 0) return status;
    }
    return YK_OK;
}

static yk_status factor(yk_nonsmooth *self, double h)
{
    struct yk_world_interface *interface = self->interface;
    note_present(self, interface->present);
    yk_response_def def = {.friction = self->def.solver.friction,
                           .present = interface->present,
                           .impulse_scale = self->run.step > 0 ? h / self->run.step : 1,
                           .nodes = interface->nodes,
                           .node_count = interface->node_count};
    yk_status status = yk_response_factor(interface->response, self->network, &def);
    return status == YK_OK ? review(self, h, &def) : status;
}

static void solve(yk_nonsmooth *self, double h, yk_interface_model *model)
{
    const struct yk_world_interface *interface = self->interface;
    yk_response *response = interface->response;
    int n = interface->row_count;
    yk_response_begin_free(response);
    yk_response_solve(response);
    for (int i = 0; i < n; i++) {
        const port_row *row = &interface->rows[i];
        model->rate[i] = (solved_rate(self, row, false) - present_rate(self, row)) / h + row->bias;
    }
    for (int j = 0; j < n; j++) {
        const port_row *row = &interface->rows[j];
        yk_response_begin_zero(response);
        for (int side = 0; side < 2; side++)
            if (yk_world_is_dynamic(self, row->slot[side]))
                yk_response_push(response, row->slot[side], row->linear[side], row->angular[side]);
        yk_response_solve_refined(response);
        for (int i = 0; i < n; i++) model->inverse_mass[i * n + j] = solved_rate(self, &interface->rows[i], true);
    }
}

yk_status yk_world_interface_model(yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                                   yk_interface_model *model)
{
    yk_status status = self->interface ? YK_OK : create_interface(self);
    if (status < 0) {
        yk_world_release_interface(self);
        return status;
    }
    if (model->size != self->interface->row_count)
        return yk_fail(self->context, YK_ERROR_ARGUMENT, "the interface model has %d velocities, not %d",
                       self->interface->row_count, model->size);
    model->lead = 1;
    if (model->size == 0) return YK_OK;
    list_rows(self, self->interface->rows);
    status = yk_world_find_contacts(self, h);
    if (status < 0) return status;
    yk_world_set_free_motion(self, t, h, inputs);
    status = yk_world_set_contacts(self, h);
    if (status == YK_OK) status = yk_world_set_rows(self, t, h, inputs);
    if (status == YK_OK) status = factor(self, h);
    if (status == YK_OK) solve(self, h, model);
    for (size_t i = self->dynamic_count; i < self->body_count; i++) {
        self->bodies[i].velocity = self->before[i].linear;
        self->bodies[i].angular_velocity = self->before[i].angular;
    }
    return status;
}
