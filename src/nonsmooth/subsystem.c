/* Implements the contract of yoke/subsystem.h with the nonsmooth solver. */
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

/* Connection ----------------------------------------------------------------------------------- */

static int get_ports(const yk_subsystem *self, const yk_port **list)
{
    const yk_world_model *model = &const_world_of(self)->model;
    *list = model->port_list;
    return (int)(model->port_count + model->signal_count);
}

static bool moved_by_forces(const yk_world_model *model, int body)
{
    return body >= 0 && model->bodies[body].drive == YK_MOVED_BY_FORCES;
}

/* A row that keeps the distance of a line equal to the input, or rows for the prescribed motions of
 * a marker, with the input's frame as body b. */
static yk_status add_port_joint(yk_nonsmooth *world, int index, unsigned constrained)
{
    yk_world_model *model = &world->model;
    yk_port_model *port = &model->ports[index];
    yk_joint_def def = yk_joint_default();

    def.bodies[0] = (yk_body_id){port->body};
    def.markers[0] = port->marker;

    /* The far end of a line is a body of this model. */
    if (port->line) {
        def.kind = YK_JOINT_DISTANCE;
        def.bodies[1] = (yk_body_id){port->far_body};
        def.markers[1] = port->far_marker;
    }

    int joint = yk_world_add_joint(world, &def);
    if (joint == YK_NO_ID)
        return yk_last_status(model->context);

    /* A line drives its joint with the length in the input. */
    if (port->line) {
        model->joints[joint].driver = index;
        return YK_OK;
    }

    /* The input's frame replaces body b. */
    yk_marker input = yk_marker_default();
    model->joints[joint].joint = yk_joint_of_axes(constrained, &port->marker, &input);
    model->joints[joint].port = index;
    port->joint = joint;
    return YK_OK;
}

static yk_status connect_world(yk_subsystem *self, int index, yk_causality causality,
                               unsigned constrained)
{
    yk_nonsmooth *world = world_of(self);
    yk_world_model *model = &world->model;
    yk_context *context = world->context;

    if (index < 0 || (size_t)index >= model->port_count + model->signal_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "there is no port %d", index);

    /* Signals need nothing else. */
    if (model->port_numbers[index] < 0) {
        model->signals[~model->port_numbers[index]].connected = true;
        return YK_OK;
    }

    /* Ports: once, before the start, on a movable body. */
    if (model->world_count > 0)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "ports of a merged nonsmooth model cannot be joined");

    yk_port_model *port = &model->ports[index];
    if (model->frozen || port->causality != YK_CAUSALITY_NONE)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "port %s is connected already, or the run has started", port->name);
    if (!moved_by_forces(model, port->body) &&
        !(port->line && moved_by_forces(model, port->far_body)))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "port %s is on a body that is fixed or follows a prescribed motion: free "
                       "it, or tie the partner "
                       "to the ground inside its own subsystem",
                       port->name);

    /* Wrenches are applied as they are; motions need rows in the equations. */
    port->causality = causality;
    port->constrained = constrained;
    if (causality != YK_CAUSALITY_MOTION_INPUT)
        return YK_OK;

    /* A body whose six motions are prescribed needs no rows: its velocity is known. */
    port->whole_body = !port->line && (constrained & YK_AXES_ALL) == YK_AXES_ALL;
    if (!port->whole_body)
        return add_port_joint(world, index, constrained);

    model->bodies[port->body].drive = YK_PRESCRIBED_BY_PORT;
    if (yk_world_body_may_pass(model, port->body))
        yk_log(context, YK_LOG_WARNING,
               "the body of port '%s' follows the motion of its partner in all directions: the "
               "ground and fixed bodies do not stop it, it passes through them; if they meet, put "
               "both bodies of the interface into one subsystem",
               port->name);
    return YK_OK;
}

static yk_status move_port(yk_subsystem *self, int index, const yk_vec3 *position,
                           const yk_quat *orientation)
{
    yk_nonsmooth *world = world_of(self);
    yk_world_model *model = &world->model;

    if (index < 0 || (size_t)index >= model->port_count || model->ports[index].line)
        return yk_fail(world->context, YK_ERROR_ARGUMENT, "there is no marker port %d", index);

    /* From the present pose of the body. */
    yk_port_model *port = &model->ports[index];
    yk_marker *marker = &port->marker;
    yk_motion body;
    yk_nonsmooth_body_motion(world, port->body, &body);

    if (position)
        marker->offset = yk_q_rotate_back(body.orientation, yk_v3_sub(*position, body.position));
    if (orientation)
        marker->orientation = yk_q_unit(yk_q_mul(yk_q_conjugate(body.orientation), *orientation));
    return YK_OK;
}

/* Run ------------------------------------------------------------------------------------------ */

/* Stores the message of a status, because other subsystems use the same context. */
static yk_status keep(yk_subsystem *self, yk_status status)
{
    yk_nonsmooth *world = world_of(self);
    return yk_keep_message(&world->message, world->context, status);
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    return keep(self, yk_world_start(world_of(self), t, h, inputs));
}

static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    return keep(self, yk_world_step(world_of(self), t, h, inputs));
}

static yk_status connect_port(yk_subsystem *self, int index, yk_causality causality,
                              unsigned constrained)
{
    return keep(self, connect_world(self, index, causality, constrained));
}

static void destroy(yk_subsystem *self)
{
    yk_nonsmooth_destroy(world_of(self));
}

static const char *message(const yk_subsystem *self)
{
    return const_world_of(self)->message.text;
}

/* Called when a system is created, before the start: the model is frozen then. */
static yk_state_layout state_layout(const yk_subsystem *self)
{
    yk_nonsmooth *world = (yk_nonsmooth *)(uintptr_t)self;
    if (yk_world_lay_out(world) != YK_OK)
        return (yk_state_layout){0};
    return yk_world_image_layout(&world->model);
}

static void state_get(const yk_subsystem *self, double *image)
{
    const yk_nonsmooth *world = const_world_of(self);
    yk_world_write_image(&world->model, &world->state, image);
}

static yk_status state_set(yk_subsystem *self, const double *image)
{
    return keep(self, yk_world_set_state(world_of(self), image));
}

/* Outputs -------------------------------------------------------------------------------------- */

static yk_motion marker_motion(const yk_body_state *body, const yk_twist *rate,
                               const yk_marker *marker)
{
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset), w = body->angular_velocity;

    /* The acceleration of a point of a rigid body: a + w' x r + w x (w x r). */
    yk_vec3 centripetal = yk_v3_cross(w, yk_v3_cross(w, arm));
    yk_vec3 tangential = yk_v3_cross(rate->angular, arm);

    return (yk_motion){
        .position = yk_v3_add(body->position, arm),
        .velocity = yk_v3_add(body->velocity, yk_v3_cross(w, arm)),
        .acceleration = yk_v3_add(rate->linear, yk_v3_add(tangential, centripetal)),
        .orientation = yk_q_mul(body->orientation, marker->orientation),
        .angular_velocity = w,
        .angular_acceleration = rate->angular,
    };
}

static void set_line_motion(const yk_world_line *line, const yk_port_state *state,
                            yk_motion *motion)
{
    motion->position.x = line->length;
    motion->velocity.x = line->rate;
    motion->acceleration.x = state->rate.linear.x;
}

static void output(const yk_subsystem *self, int index, yk_port_value *value)
{
    const yk_nonsmooth *world = const_world_of(self);
    int number = world->model.port_numbers[index];

    /* The value of a signal is the one that the step used. */
    if (number < 0) {
        *value = (yk_port_value){.motion.orientation = {1, 0, 0, 0}};
        value->motion.position.x = world->state.signals[~number];
        return;
    }

    /* A line is a scalar port: its length, the rate of it, and the force along it. */
    const yk_port_model *port = &world->model.ports[number];
    const yk_port_state *state = &world->state.ports[number];
    if (port->line) {
        yk_world_line line = yk_world_line_at(world, port);
        set_line_motion(&line, state, &value->motion);
        value->wrench.force.x = state->wrench.force.x;
        return;
    }

    /* A marker: its motion, and its wrench: the applied one, or the reaction of its joints. */
    value->motion = marker_motion(&world->state.bodies[port->slot], &state->rate, &port->marker);
    value->wrench = state->wrench;
    if (port->merged_count == 0)
        return;

    /* The wrench of the joints that merging created, which is stored for their second body. */
    yk_wrench wrench = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < port->merged_count; i++) {
        const yk_wrench *part = &world->state.joints[port->merged + i];
        wrench.force = yk_v3_add(wrench.force, part->force);
        wrench.torque = yk_v3_add(wrench.torque, part->torque);
    }

    /* Its opposite acts on the first body, about the position of its own marker. */
    if (port->merged_side != 1) {
        const yk_joint_model *joint = &world->model.joints[port->merged];
        const yk_body_state *other = &world->state.bodies[joint->slot_b];
        yk_vec3 at =
            yk_v3_add(other->position, yk_q_rotate(other->orientation, joint->joint.offset[1]));
        yk_vec3 arm = yk_v3_sub(at, value->motion.position);
        yk_vec3 torque = yk_v3_add(wrench.torque, yk_v3_cross(arm, wrench.force));
        wrench = (yk_wrench){yk_v3_neg(wrench.force), yk_v3_neg(torque)};
    }

    value->wrench = wrench;
}

/* With constant velocity: accelerations of a nonsmooth motion do not predict the next step. */
static void predict(const yk_subsystem *self, int index, double h, yk_motion *motion)
{
    const yk_nonsmooth *world = const_world_of(self);
    const yk_port_model *port = &world->model.ports[index];
    const yk_port_state *state = &world->state.ports[index];

    if (port->line) {
        yk_world_line line = yk_world_line_ahead(world, port, h);
        set_line_motion(&line, state, motion);
        return;
    }

    /* The same formula as the solver: x + h v, and the rotation by h w. */
    yk_body_state body = world->state.bodies[port->slot];
    yk_quat rotation = yk_so3_exp(yk_v3_scale(h, body.angular_velocity));
    body.position = yk_v3_axpy(h, body.velocity, body.position);
    body.orientation = yk_q_unit(yk_q_mul(rotation, body.orientation));
    *motion = marker_motion(&body, &state->rate, &port->marker);
}

static void energy(const yk_subsystem *self, yk_energy *result)
{
    yk_nonsmooth_energy(const_world_of(self), result);
}

static int get_channels(const yk_subsystem *self, const yk_channel **list)
{
    yk_nonsmooth *world = (yk_nonsmooth *)(uintptr_t)self;
    if (yk_world_name_channels(world) != YK_OK)
        yk_world_release_channels(world);
    *list = world->channels;
    return (int)world->channel_count;
}

static void read_channel(const yk_subsystem *self, int channel, double *values)
{
    yk_world_read_channel(const_world_of(self), (size_t)channel, values);
}

static int scene_bodies(const yk_subsystem *self, yk_scene_body *list, int capacity)
{
    return yk_world_scene_bodies(const_world_of(self), list, capacity);
}

static int scene_shapes(const yk_subsystem *self, yk_shape *list, int capacity)
{
    return yk_world_scene_shapes(const_world_of(self), list, capacity);
}

static yk_vec3 scene_gravity(const yk_subsystem *self)
{
    return const_world_of(self)->model.def.gravity;
}

static void scene_poses(const yk_subsystem *self, yk_scene_pose *list)
{
    yk_world_scene_poses(const_world_of(self), list);
}

static int list_contact_points(const yk_subsystem *self, yk_contact_point *list, int capacity)
{
    return yk_world_contact_points(const_world_of(self), list, capacity);
}

static yk_status interface_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                 yk_interface_model *model)
{
    return keep(self, yk_world_interface_model(world_of(self), t, h, inputs, model));
}

/* A free mass of the same solver, with one port. */
static yk_status free_mass(const yk_subsystem *self, double mass, yk_port_kind kind,
                           yk_subsystem **made)
{
    *made = NULL;
    if (kind == YK_PORT_SIGNAL)
        return YK_ERROR_CAPABILITY;

    /* The same solver, without gravity. */
    const yk_nonsmooth *model = const_world_of(self);
    yk_nonsmooth_def def = model->model.def;
    def.gravity = yk_v3(0, 0, 0);
    def.periodic = yk_nonsmooth_default().periodic;
    def.contact_capacity = 0;
    def.thread_count = 1;
    def.sleeping = yk_nonsmooth_default().sleeping;

    yk_nonsmooth *world = NULL;
    yk_status status = yk_world_create(model->context, &def, &world);
    if (status != YK_OK)
        return status;

    /* Its inertia is that of the mass at a distance of one metre, so that rotations have an inertia
     * too. */
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.mass = mass;
    body.inertia = yk_m3_diagonal(mass, mass, mass);
    int added = yk_world_add_body(world, &body);

    /* A scalar port is the distance from a point on the x axis. */
    yk_marker markers[2] = {yk_marker_default(), yk_marker_default()};
    if (added != YK_NO_ID && kind == YK_PORT_SCALAR) {
        const yk_body_id bodies[2] = {YK_GROUND, {added}};
        markers[0].offset = yk_v3(-1, 0, 0);
        added = yk_world_add_line_port(world, "mass", bodies, markers);
    } else if (added != YK_NO_ID) {
        added = yk_world_add_port(world, "mass", added, &markers[0]);
    }

    if (added == YK_NO_ID) {
        yk_nonsmooth_destroy(world);
        return yk_last_status(model->context);
    }

    *made = yk_nonsmooth_subsystem(world);
    return YK_OK;
}

/* Residuals and steps since the start, which are consecutive members. */
static size_t counts(yk_subsystem *subsystem, void **data)
{
    yk_nonsmooth *self = (yk_nonsmooth *)subsystem;
    *data = &self->largest_residual;
    return offsetof(yk_nonsmooth, unresolved_steps) + sizeof self->unresolved_steps -
           offsetof(yk_nonsmooth, largest_residual);
}

static bool is_diagnostic_channel(const yk_subsystem *subsystem, int channel)
{
    return yk_world_is_diagnostic_channel((const yk_nonsmooth *)subsystem, channel);
}

const yk_subsystem_ops *yk_nonsmooth_ops(void)
{
    static const yk_rollback_ops rollback_ops = {.size = sizeof(yk_rollback_ops),
                                                 .layout = state_layout,
                                                 .get = state_get,
                                                 .set = state_set};
    static const yk_interface_model_ops interface_model_ops = {
        .size = sizeof(yk_interface_model_ops), .evaluate = interface_model};
    static const yk_merge_ops merging_ops = {
        .size = sizeof(yk_merge_ops), .merge = yk_nonsmooth_merge, .create_free_mass = free_mass};
    static const yk_rigid_merge_ops rigid_merging_ops = {.size = sizeof(yk_rigid_merge_ops),
                                                         .merge = yk_nonsmooth_merge};
    static const yk_energy_ops energy_ops = {.size = sizeof(yk_energy_ops), .read = energy};
    static const yk_channel_ops channels_ops = {
        .size = sizeof(yk_channel_ops), .list = get_channels, .read = read_channel};
    static const yk_scene_ops scene_ops = {.size = sizeof(yk_scene_ops),
                                           .bodies = scene_bodies,
                                           .shapes = scene_shapes,
                                           .poses = scene_poses,
                                           .gravity = scene_gravity};
    static const yk_contact_point_ops contact_point_ops = {.size = sizeof(yk_contact_point_ops),
                                                           .list = list_contact_points};
    static const yk_subsystem_ops ops = {.size = sizeof ops,
                                         .kind = "nonsmooth",
                                         .ports = get_ports,
                                         .connect = connect_port,
                                         .initialize = start,
                                         .step = step,
                                         .get_port_value = output,
                                         .destroy = destroy,
                                         .last_message = message,
                                         .counters = counts,
                                         .is_diagnostic_channel = is_diagnostic_channel,
                                         .rollback = &rollback_ops,
                                         .predict = predict,
                                         .energy = &energy_ops,
                                         .channels = &channels_ops,
                                         .contact_points = &contact_point_ops,
                                         .scene = &scene_ops,
                                         .bodies = &yk_nonsmooth_body_ops,
                                         .parameters = &yk_nonsmooth_parameter_ops,
                                         .rigid_merge = &rigid_merging_ops,
                                         .interface_model = &interface_model_ops,
                                         .move_port = move_port,
                                         .merge = &merging_ops};
    return &ops;
}

yk_subsystem *yk_nonsmooth_subsystem(yk_nonsmooth *self)
{
    return &self->base;
}
