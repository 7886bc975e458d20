/* The nonsmooth solver behind the contract of yoke/subsystem.h. */
#include <string.h>

#include "base/text.h"
#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

static yk_nonsmooth *world_of(yk_subsystem *self)
{
    return (yk_nonsmooth *)self;
}

static const yk_nonsmooth *const_world_of(const yk_subsystem *self)
{
    return (const yk_nonsmooth *)self;
}

static int get_ports(const yk_subsystem *self, const yk_port **list)
{
    const yk_nonsmooth *world = const_world_of(self);
    *list = world->port_list;
    return (int)(world->port_count + world->signal_count);
}

/* Connection ------------------------------------------------------------------------------------------------------- */

/* Rows for the prescribed motions; the input's frame is body b. */
static yk_status add_port_joint(yk_nonsmooth *world, int index, unsigned constrained)
{
    yk_port_slot *port = &world->ports[index];
    yk_nonsmooth_joint_def def = yk_nonsmooth_joint_default();
    def.body_a = port->body;
    def.marker_a = port->marker;
    int joint = yk_nonsmooth_add_joint(world, &def);
    if (joint < 0) return (yk_status)joint;
    yk_marker input = yk_marker_default();
    world->joints[joint].joint = yk_joint_of_axes(constrained, &port->marker, &input);
    world->joints[joint].port = index;
    port->joint = joint;
    return YK_OK;
}

static bool moved_by_forces(const yk_nonsmooth *world, int body)
{
    return body >= 0 && world->models[body].drive == YK_MOVED_BY_FORCES;
}

/* A row that keeps the distance at the input. */
static yk_status add_line_joint(yk_nonsmooth *world, int index)
{
    const yk_port_slot *port = &world->ports[index];
    yk_nonsmooth_joint_def def = yk_nonsmooth_joint_default();
    def.kind = YK_JOINT_DISTANCE;
    def.body_a = port->body, def.body_b = port->far_body;
    def.marker_a = port->marker, def.marker_b = port->far_marker;
    int joint = yk_nonsmooth_add_joint(world, &def);
    if (joint < 0) return (yk_status)joint;
    world->joints[joint].driver = index;
    return YK_OK;
}

static unsigned mask_of(const yk_nonsmooth *world, const yk_part *part)
{
    return part->geometry < 0 ? ~0u : world->geometries[part->geometry].mask;
}

/* A body of known motion passes through what never moves: no force could stop either of them. */
static void warn_of_walls(const yk_nonsmooth *world, const yk_port_slot *port)
{
    bool touches = false, walls = false;
    for (size_t i = 0; i < world->part_count; i++) {
        const yk_part *part = &world->parts[i];
        if (mask_of(world, part) == 0) continue;
        bool still = part->body < 0 || world->models[part->body].drive == YK_FIXED;
        touches = touches || part->body == port->body;
        walls = walls || still;
    }
    if (!touches || !walls) return;
    yk_log(world->context, YK_LOG_WARNING,
           "the body of port '%s' follows the motion of its partner in all directions: the ground and fixed bodies do "
           "not stop it, it passes through them; if they meet, put both bodies of the interface into one subsystem",
           port->name);
}

static yk_status connect_port(yk_subsystem *self, int index, yk_causality causality, unsigned constrained)
{
    yk_nonsmooth *world = world_of(self);
    if (index < 0 || (size_t)index >= world->port_count + world->signal_count)
        return yk_fail(world->context, YK_ERROR_ARGUMENT, "there is no port %d", index);
    if (world->port_numbers[index] < 0) {
        world->signals[~world->port_numbers[index]].connected = true;
        return YK_OK;
    }
    if (world->world_count > 0)
        return yk_fail(world->context, YK_ERROR_CAPABILITY, "ports of a merged nonsmooth model cannot be joined");
    yk_port_slot *port = &world->ports[index];
    yk_body_model *body = &world->models[port->body];
    if (world->slot_of || port->causality != YK_UNCONNECTED)
        return yk_fail(world->context, YK_ERROR_ARGUMENT, "port %s is connected already, or the run has started",
                       port->name);
    if (!moved_by_forces(world, port->body) && !(port->line && moved_by_forces(world, port->far_body)))
        return yk_fail(world->context, YK_ERROR_ARGUMENT,
                       "port %s is on a body that is fixed or follows a prescribed motion: free it, or tie the partner "
                       "to the ground "
                       "inside its own subsystem",
                       port->name);
    port->causality = causality;
    port->constrained = constrained;
    if (causality != YK_TAKES_MOTION) return YK_OK;
    if (port->line) return add_line_joint(world, index);
    port->whole_body = (constrained & YK_AXES_ALL) == YK_AXES_ALL;
    if (!port->whole_body) return add_port_joint(world, index, constrained);
    body->drive = YK_PRESCRIBED_BY_PORT;
    warn_of_walls(world, port);
    return YK_OK;
}

static yk_status place_port(yk_subsystem *self, int index, const yk_vec3 *position, const yk_quat *orientation)
{
    yk_nonsmooth *world = world_of(self);
    if (index < 0 || (size_t)index >= world->port_count || world->ports[index].line)
        return yk_fail(world->context, YK_ERROR_ARGUMENT, "there is no marker port %d", index);
    yk_port_slot *port = &world->ports[index];
    yk_motion body;
    yk_nonsmooth_body_motion(world, port->body, &body);
    if (position) port->marker.offset = yk_q_rotate_back(body.orientation, yk_v3_sub(*position, body.position));
    if (orientation) port->marker.orientation = yk_q_unit(yk_q_mul(yk_q_conjugate(body.orientation), *orientation));
    return YK_OK;
}

/* Start ------------------------------------------------------------------------------------------------------------ */

/* The body stands where its marker has the given motion. */
static void stand_at(yk_body_state *body, const yk_marker *marker, const yk_motion *motion)
{
    body->orientation = yk_q_unit(yk_q_mul(motion->orientation, yk_q_conjugate(marker->orientation)));
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset);
    body->position = yk_v3_sub(motion->position, arm);
    body->angular_velocity = motion->angular_velocity;
    body->velocity = yk_v3_sub(motion->velocity, yk_v3_cross(motion->angular_velocity, arm));
}

static void place_known_bodies(yk_nonsmooth *world, double t, const yk_input *inputs)
{
    yk_marker centre = yk_marker_default();
    for (size_t i = 0; i < world->prescription_count; i++) {
        const yk_prescription *p = &world->prescriptions[i];
        yk_motion motion = yk_world_prescribed(world, p, t);
        stand_at(&world->bodies[world->slot_of[p->body]], &centre, &motion);
    }
    for (size_t i = 0; inputs && i < world->port_count; i++) {
        const yk_port_slot *port = &world->ports[i];
        if (!port->whole_body) continue;
        yk_motion motion = yk_input_motion(&inputs[i], YK_PORT_MARKER, 0);
        stand_at(&world->bodies[port->slot], &port->marker, &motion);
    }
}

static void clear_outputs(yk_nonsmooth *world)
{
    for (size_t i = 0; i < world->port_count; i++) {
        world->ports[i].wrench = (yk_wrench){.force = {0, 0, 0}};
        world->ports[i].rate = (yk_twist){.linear = {0, 0, 0}};
    }
    for (size_t i = 0; i < world->signal_count; i++) world->signals[i].value = 0;
    for (size_t i = 0; i < world->joint_count; i++) world->joints[i].wrench = (yk_wrench){.force = {0, 0, 0}};
    for (size_t i = 0; i < world->joint_row_capacity; i++) world->joint_impulses[i] = 0;
    for (size_t i = 0; i < world->body_count - world->dynamic_count; i++)
        world->reactions[i] = (yk_wrench){.force = {0, 0, 0}};
    world->report = (yk_nonsmooth_report){0};
}

static void take_wrenches(yk_nonsmooth *world, const yk_input *inputs)
{
    for (size_t i = 0; inputs && i < world->signal_count; i++)
        if (world->signals[i].connected) world->signals[i].value = yk_input_scalar(&inputs[world->signals[i].place], 0);

    for (size_t i = 0; inputs && i < world->port_count; i++) {
        yk_port_slot *port = &world->ports[i];
        if (port->causality != YK_TAKES_WRENCH) continue;
        if (port->line)
            port->wrench.force.x = yk_input_scalar(&inputs[i], 0);
        else
            port->wrench = yk_input_wrench(&inputs[i], 0);
    }
}

/* Once, when the state's size is asked for or at the first start. */
static yk_status lay_out(yk_nonsmooth *world)
{
    if (world->slot_of) return YK_OK;
    if (world->body_count == 0) return yk_fail(world->context, YK_ERROR_ARGUMENT, "there is no body in the model");
    yk_status status = yk_world_layout(world);
    if (status < 0) yk_world_release_layout(world);
    return status;
}

static yk_status start_world(yk_nonsmooth *world, double t, double h, const yk_input *inputs)
{
    if (!(h > 0)) return yk_fail(world->context, YK_ERROR_ARGUMENT, "the step %g must be positive", h);
    yk_status status = lay_out(world);
    if (status < 0) return status;
    world->started = true;
    for (size_t i = 0; i < world->body_count; i++) world->bodies[i] = world->initial[world->body_of[i]];
    world->run = (yk_run){.time = t};
    world->cache.count = world->cache.round_count = 0;
    yk_world_index_cache(world);
    clear_outputs(world);
    take_wrenches(world, inputs);
    place_known_bodies(world, t, inputs);
    yk_sleep_start(world, t, inputs);
    world->largest_residual = 0;
    yk_world_forget_list(world);
    return yk_world_start_passages(world);
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    return start_world(world_of(self), t, h, inputs);
}

yk_status yk_nonsmooth_start(yk_nonsmooth *self, double t, double h)
{
    return start_world(self, t, h, NULL);
}

/* Steps ------------------------------------------------------------------------------------------------------------ */

static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    return yk_world_step(world_of(self), t, h, inputs);
}

yk_status yk_nonsmooth_step(yk_nonsmooth *self, double h)
{
    return yk_world_step(self, self->run.time, h, NULL);
}

/* Outputs ---------------------------------------------------------------------------------------------------------- */

static yk_motion marker_motion(const yk_body_state *body, const yk_twist *rate, const yk_marker *marker)
{
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset), w = body->angular_velocity;
    yk_vec3 centripetal = yk_v3_cross(w, yk_v3_cross(w, arm));
    yk_vec3 tangential = yk_v3_cross(rate->angular, arm);
    return (yk_motion){.position = yk_v3_add(body->position, arm),
                       .velocity = yk_v3_add(body->velocity, yk_v3_cross(w, arm)),
                       .acceleration = yk_v3_add(rate->linear, yk_v3_add(tangential, centripetal)),
                       .orientation = yk_q_mul(body->orientation, marker->orientation),
                       .angular_velocity = w,
                       .angular_acceleration = rate->angular};
}

/* The wrench of the joint that merging made: told on its second body, its opposite acts at the same point. */
static yk_wrench merged_wrench(const yk_nonsmooth *world, const yk_port_slot *port, yk_vec3 position)
{
    const yk_joint_slot *joint = &world->joints[port->merged];
    yk_wrench wrench = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < port->merged_count; i++) {
        wrench.force = yk_v3_add(wrench.force, joint[i].wrench.force);
        wrench.torque = yk_v3_add(wrench.torque, joint[i].wrench.torque);
    }
    if (port->merged_side == 1) return wrench;
    const yk_body_state *other = &world->bodies[joint->slot_b];
    yk_vec3 at = yk_v3_add(other->position, yk_q_rotate(other->orientation, joint->joint.offset[1]));
    yk_vec3 torque = yk_v3_add(wrench.torque, yk_v3_cross(yk_v3_sub(at, position), wrench.force));
    return (yk_wrench){yk_v3_neg(wrench.force), yk_v3_neg(torque)};
}

static void output(const yk_subsystem *self, int index, yk_port_value *value)
{
    const yk_nonsmooth *world = const_world_of(self);
    if (world->port_numbers[index] < 0) {
        *value = (yk_port_value){.motion.orientation = {1, 0, 0, 0}};
        value->motion.position.x = world->signals[~world->port_numbers[index]].value;
        return;
    }
    const yk_port_slot *port = &world->ports[world->port_numbers[index]];
    if (port->line) {
        yk_world_line_output(world, port, value);
        return;
    }
    value->motion = marker_motion(&world->bodies[port->slot], &port->rate, &port->marker);
    value->wrench = port->merged_count > 0 ? merged_wrench(world, port, value->motion.position) : port->wrench;
}

/* At constant velocity: accelerations of a nonsmooth motion say nothing about the next step. */
static void predict(const yk_subsystem *self, int index, double h, yk_motion *motion)
{
    const yk_nonsmooth *world = const_world_of(self);
    const yk_port_slot *port = &world->ports[index];
    if (port->line) {
        yk_world_predict_line(world, port, h, motion);
        return;
    }
    yk_body_state body = world->bodies[port->slot];
    body.position = yk_v3_axpy(h, body.velocity, body.position);
    body.orientation = yk_q_unit(yk_q_mul(yk_so3_exp(yk_v3_scale(h, body.angular_velocity)), body.orientation));
    *motion = marker_motion(&body, &port->rate, &port->marker);
}

static void destroy(yk_subsystem *self)
{
    yk_nonsmooth_destroy(world_of(self));
}

static const char *message(const yk_subsystem *self)
{
    return yk_last_message(const_world_of(self)->context);
}

/* Asked for when a system is wired, before start: the model is frozen then. */
static yk_state_layout state_layout(const yk_subsystem *self)
{
    yk_nonsmooth *world = (yk_nonsmooth *)(uintptr_t)self;
    if (lay_out(world) < 0) return (yk_state_layout){0};
    return yk_world_state_layout(world);
}

static void state_get(const yk_subsystem *self, double *image)
{
    yk_world_state_get(const_world_of(self), image);
}

static yk_status state_set(yk_subsystem *self, const double *image)
{
    return yk_world_state_set(world_of(self), image);
}

static void energy(const yk_subsystem *self, yk_energy *result)
{
    yk_nonsmooth_energy(const_world_of(self), result);
}

static int get_channels(const yk_subsystem *self, const yk_channel **list)
{
    yk_nonsmooth *world = (yk_nonsmooth *)(uintptr_t)self;
    if (yk_world_name_channels(world) < 0) yk_world_release_channels(world);
    *list = world->channels;
    return (int)world->channel_count;
}

static void read_channel(const yk_subsystem *self, int channel, double *values)
{
    yk_world_read_channel(const_world_of(self), (size_t)channel, values);
}

static int get_shapes(const yk_subsystem *self, yk_shape *list, int capacity)
{
    return yk_world_shapes(const_world_of(self), list, capacity);
}

static yk_status interface_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                 yk_interface_model *model)
{
    return yk_world_interface_model(world_of(self), t, h, inputs, model);
}

static yk_status free_mass(const yk_subsystem *self, double mass, yk_port_kind kind, yk_subsystem **made)
{
    *made = NULL;
    if (kind == YK_PORT_SIGNAL) return YK_ERROR_CAPABILITY;
    const yk_nonsmooth *model = const_world_of(self);
    yk_nonsmooth_def def = model->def;
    def.gravity = yk_v3(0, 0, 0);
    def.contact_capacity = 0;
    def.threads = 1;
    def.sleeping = yk_nonsmooth_default().sleeping;
    yk_nonsmooth *world = NULL;
    yk_status status = yk_nonsmooth_create(model->context, &def, &world);
    if (status < 0) return status;

    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.mass = mass;
    body.inertia = yk_m3_diagonal(mass, mass, mass);
    int added = yk_nonsmooth_add_body(world, &body);

    /* A scalar port is the distance from a point on the x axis. */
    yk_marker markers[2] = {yk_marker_default(), yk_marker_default()};
    if (added >= 0 && kind == YK_PORT_SCALAR) {
        const int bodies[2] = {YK_WORLD, added};
        markers[0].offset = yk_v3(-1, 0, 0);
        added = yk_nonsmooth_add_line_port(world, "mass", bodies, markers);
    } else if (added >= 0) {
        added = yk_nonsmooth_add_port(world, "mass", added, &markers[0]);
    }
    if (added < 0) {
        yk_nonsmooth_destroy(world);
        return (yk_status)added;
    }
    *made = yk_nonsmooth_subsystem(world);
    return YK_OK;
}

const yk_subsystem_ops *yk_nonsmooth_ops(void)
{
    static const yk_subsystem_ops ops = {.size = sizeof ops,
                                         .kind = "nonsmooth",
                                         .ports = get_ports,
                                         .connect = connect_port,
                                         .start = start,
                                         .step = step,
                                         .output = output,
                                         .destroy = destroy,
                                         .message = message,
                                         .state_layout = state_layout,
                                         .state_get = state_get,
                                         .state_set = state_set,
                                         .predict = predict,
                                         .energy = energy,
                                         .channels = get_channels,
                                         .channel_read = read_channel,
                                         .shapes = get_shapes,
                                         .interface_model = interface_model,
                                         .place_port = place_port,
                                         .free_mass = free_mass,
                                         .merge = yk_nonsmooth_merge};
    return &ops;
}

yk_subsystem *yk_nonsmooth_subsystem(yk_nonsmooth *self)
{
    return &self->base;
}
