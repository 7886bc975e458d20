/* Implements the contract of yoke/subsystem.h with the solver. */

#include <string.h>

#include "base/restored.h"
#include "math/polynomial.h"
#include "multibody/multibody.h"

static yk_multibody *multibody_of(yk_subsystem *self)
{
    return (yk_multibody *)self;
}

static const yk_multibody *const_multibody_of(const yk_subsystem *self)
{
    return (const yk_multibody *)self;
}

/* Ports ---------------------------------------------------------------------------------------- */

static int ports(const yk_subsystem *self, const yk_port **list)
{
    const yk_multibody *multibody = const_multibody_of(self);
    const yk_multibody_model *model = &multibody->model;
    *list = model->port_list;
    return model->def.port_count;
}

static yk_status connect_port(yk_subsystem *self, int port, yk_causality causality,
                              unsigned constrained)
{
    yk_multibody *multibody = multibody_of(self);
    yk_multibody_model *model = &multibody->model;

    if (port < 0 || port >= model->def.port_count)
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s has no port %d", model->def.name,
                       port);

    /* The chosen causality, and the constrained motions. */
    const yk_port *of = &model->port_list[port];
    unsigned axes = of->kind == YK_PORT_SCALAR ? YK_AXIS_X : YK_AXES_ALL;
    if (!(of->allowed_causalities & causality))
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "%s: port '%s' cannot be connected in this way", model->def.name, of->name);
    if (causality == YK_CAUSALITY_MOTION_INPUT && !(constrained & axes))
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "%s: port '%s' takes a motion but no axis of it", model->def.name, of->name);

    /* The equations change with the causality. */
    model->ports[port].causality = causality;
    model->ports[port].constrained = constrained;
    multibody->compiled = false;

    return YK_OK;
}

static yk_status place_port(yk_subsystem *self, int port, const yk_vec3 *position,
                            const yk_quat *orientation)
{
    yk_multibody *multibody = multibody_of(self);
    yk_multibody_model *model = &multibody->model;

    if (port < 0 || port >= model->def.port_count || model->port_list[port].kind != YK_PORT_MARKER)
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s has no marker port %d",
                       model->def.name, port);

    /* From global axes to those of the body in its initial pose. */
    yk_marker *marker = &model->ports[port].def.markers[0];
    yk_multibody_node_def body =
        yk_multibody_start_pose(&model->def, model->ports[port].def.bodies[0].index);
    if (position)
        marker->offset = yk_q_rotate_back(body.orientation, yk_v3_sub(*position, body.position));
    if (orientation)
        marker->orientation = yk_q_unit(yk_q_mul(yk_q_conjugate(body.orientation), *orientation));

    /* Merging uses the port in the def. */
    yk_port_def *defs = (yk_port_def *)(uintptr_t)model->def.ports;
    defs[port].markers[0] = *marker;
    multibody->compiled = false;

    return YK_OK;
}

/* Steps ---------------------------------------------------------------------------------------- */

static yk_status start_model(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    yk_multibody *multibody = multibody_of(self);
    const yk_multibody_model *model = &multibody->model;
    yk_multibody_workspace *work = &multibody->work;

    if (!(h > 0))
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: the step must be positive, not %g",
                       model->def.name, h);

    yk_status status = YK_OK;
    if (!multibody->compiled)
        status = yk_multibody_compile(multibody);
    if (status != YK_OK)
        return status;

    /* Without inputs, motion ports keep the motion of the def. */
    work->inputs = inputs ? inputs : work->own_inputs;
    for (int i = 0; !inputs && i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        const yk_port_def *def = &port->def;
        yk_input *input = &work->own_inputs[i];
        *input = (yk_input){.base_orientation = yk_q_identity()};
        if (port->causality != YK_CAUSALITY_MOTION_INPUT)
            continue;

        /* Initial pose of the marker, and its motion with its body. */
        yk_multibody_node_def a = yk_multibody_start_pose(&model->def, def->bodies[0].index);
        yk_vec3 arm = yk_q_rotate(a.orientation, def->markers[0].offset);
        yk_vec3 at = yk_v3_add(a.position, arm);
        input->degree = 1;

        /* A distance is unchanged. */
        if (def->kind == YK_PORT_SCALAR) {
            yk_multibody_node_def b = yk_multibody_start_pose(&model->def, def->bodies[1].index);
            yk_vec3 end = yk_v3_add(b.position, yk_q_rotate(b.orientation, def->markers[1].offset));
            input->linear[0].x = yk_v3_norm(yk_v3_sub(end, at));
            continue;
        }

        input->linear[0] = at;
        input->linear[1] = yk_v3_add(a.velocity, yk_v3_cross(a.angular_velocity, arm));
        input->angular[1] = a.angular_velocity;
        input->base_orientation = yk_q_mul(a.orientation, def->markers[0].orientation);
    }

    /* Positions, velocities and accelerations that satisfy all joints. */
    status = yk_multibody_consistent_start(multibody, t, h);
    work->inputs = NULL;
    multibody->started = !YK_FAILED(status);
    if (YK_FAILED(status))
        return status;
    return yk_multibody_watch_start(multibody, status);
}

static yk_status not_started(const yk_multibody_model *model)
{
    return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: start comes before step",
                   model->def.name);
}

static yk_status advance_model(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    yk_multibody *multibody = multibody_of(self);
    const yk_multibody_model *model = &multibody->model;
    yk_multibody_workspace *work = &multibody->work;

    if (!multibody->started)
        return not_started(model);

    /* Motion ports require inputs. */
    for (int i = 0; i < model->def.port_count && !inputs; i++) {
        if (model->ports[i].causality == YK_CAUSALITY_MOTION_INPUT)
            return yk_fail(model->context, YK_ERROR_ARGUMENT,
                           "%s: port '%s' takes a motion but gets no input", model->def.name,
                           model->ports[i].def.name);
    }

    /* A trial that was relaxed part by part is accepted without further iterations. */
    yk_status status = YK_OK;
    work->inputs = inputs;
    if (work->open && work->relaxing) {
        status = yk_multibody_accept_relaxed(multibody);
    } else {
        status = model->integrator->advance(multibody, t, h);
    }

    work->inputs = NULL;
    if (YK_FAILED(status))
        return status;
    return yk_multibody_watch(multibody, status);
}

static yk_status advance_sensitively(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                     int degree, double *matrix)
{
    yk_multibody *multibody = multibody_of(self);
    yk_multibody_workspace *work = &multibody->work;
    if (!multibody->started)
        return not_started(&multibody->model);

    /* The caller owns the inputs; use them during the call. */
    work->inputs = inputs;
    yk_status status = yk_multibody_step_sensitivity(multibody, t, h, degree, matrix);
    work->inputs = NULL;

    return status;
}

static yk_status iterate_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                               yk_iteration_report *report)
{
    yk_multibody *multibody = multibody_of(self);
    const yk_multibody_model *model = &multibody->model;
    yk_multibody_workspace *work = &multibody->work;

    if (!multibody->started)
        return not_started(model);

    work->inputs = inputs;
    yk_status status = model->integrator->iterate(multibody, t, h, report);
    yk_multibody_show_attachments(model, work);
    work->inputs = NULL;

    return status;
}

static void output(const yk_subsystem *self, int index, yk_port_value *value)
{
    const yk_multibody *multibody = const_multibody_of(self);
    yk_multibody_port_output(&multibody->model, &multibody->work, index, value);
}

static void destroy(yk_subsystem *self)
{
    yk_multibody_destroy(multibody_of(self));
}

static const char *message(const yk_subsystem *self)
{
    return const_multibody_of(self)->message.text;
}

/* The state ------------------------------------------------------------------------------------ */

static yk_state_layout state_layout(const yk_subsystem *self)
{
    return yk_multibody_state_layout(&const_multibody_of(self)->model);
}

static void state_get(const yk_subsystem *self, double *image)
{
    const yk_multibody *multibody = const_multibody_of(self);
    const yk_multibody_state *state = &multibody->state;
    memcpy(image, state->image, state->words * sizeof *image);
}

static yk_status set_state(yk_subsystem *self, const double *image)
{
    yk_multibody *multibody = multibody_of(self);
    const yk_multibody_model *model = &multibody->model;
    yk_multibody_state *state = &multibody->state;

    if (!multibody->started)
        return not_started(model);

    /* The only words that are not plain numbers: the level of the kept factors, and the count of
     * steps. */
    double level = image[&state->factor->level - state->image];
    int64_t steps;
    memcpy(&steps, image + ((double *)&state->clock->steps - state->image), sizeof steps);
    if ((level != LEVEL_STEP && level != LEVEL_ACCELERATION) || !yk_is_restored_count(steps))
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "the state image does not belong to this model");
    /* Perturbed orientations are normalized; an image without valid ones is rejected. */
    const double *nodes = image + ((const double *)state->now - state->image);
    for (int i = 0; i < model->def.node_count; i++) {
        node_state node;
        memcpy(&node, nodes + (size_t)i * (sizeof node / sizeof *nodes), sizeof node);
        double norm = yk_q_norm(node.orientation);
        if (!(norm > 0.5 && norm < 2))
            return yk_fail(model->context, YK_ERROR_ARGUMENT,
                           "%s: the state image gives '%s' an orientation of norm %g, must be 1: "
                           "set an image that was read from this model",
                           model->def.name, model->def.nodes[i].name, norm);
    }

    /* The matrix keeps its factors if they are those of the new state. */
    size_t first = (size_t)((double *)state->reference - state->image);
    size_t last = (size_t)((double *)state->clock - state->image);
    bool same = memcmp(state->image + first, image + first, (last - first) * sizeof *image) == 0;
    if (!same)
        multibody->solver.match = false;
    yk_multibody_relaxation_compare(multibody, image);

    /* The trial shows the new state. */
    memcpy(state->image, image, state->words * sizeof *image);
    yk_multibody_trial_from_state(model, state, &multibody->work);
    return YK_OK;
}

/* A frame at t + h, predicted without inputs: nodes by the integrator, attachments of flexible
 * bodies with their present acceleration, prescribed frames unchanged. */
static trial_node predict_frame(const yk_multibody *multibody, int frame, double h)
{
    const yk_multibody_model *model = &multibody->model;

    /* Prescribed frames stay as they are. */
    trial_node node = multibody->work.trial[frame];

    if (frame < model->node_count) {
        model->integrator->predict(model, &multibody->state, frame, h, &node);
    } else if (model->nodes[frame].attachment >= 0) {
        trial_node own;
        const trial_node *now = yk_multibody_shown(model, &multibody->work, frame, &own);
        yk_vec3 v = now->frame.velocity;
        yk_vec3 a = now->acceleration;
        yk_vec3 w = now->frame.angular_velocity;
        yk_vec3 b = now->angular_acceleration;
        yk_rotation rotation = yk_rotation_of(yk_v3_scale(h, yk_v3_axpy(0.5 * h, b, w)));

        node.frame.position = yk_v3_axpy(h, yk_v3_axpy(0.5 * h, a, v), now->frame.position);
        node.frame.velocity = yk_v3_axpy(h, a, v);
        node.frame.angular_velocity = yk_v3_axpy(h, b, w);
        node.orientation = yk_q_unit(yk_q_mul(rotation.quaternion, now->orientation));
        node.frame.rotation = yk_q_matrix(node.orientation);
    }

    return node;
}

static void predict(const yk_subsystem *self, int index, double h, yk_motion *motion)
{
    const yk_multibody *multibody = const_multibody_of(self);
    const port_model *port = &multibody->model.ports[index];
    trial_node node = predict_frame(multibody, port->node[0], h);

    /* The predicted motion of its marker; for a distance also that of the second marker. */
    yk_motion a;
    yk_motion b;
    yk_multibody_motion_of(&node, &port->def.markers[0], &a);
    if (port->def.kind == YK_PORT_MARKER) {
        *motion = a;
        return;
    }

    /* The distance of two markers. */
    node = predict_frame(multibody, port->node[1], h);
    yk_multibody_motion_of(&node, &port->def.markers[1], &b);
    yk_vec3 d = yk_v3_sub(b.position, a.position);
    yk_vec3 axis = yk_v3_unit(d);

    memset(motion, 0, sizeof *motion);
    motion->orientation = yk_q_identity();
    motion->position.x = yk_v3_norm(d);
    motion->velocity.x = yk_v3_dot(axis, yk_v3_sub(b.velocity, a.velocity));
    motion->acceleration.x = yk_v3_dot(axis, yk_v3_sub(b.acceleration, a.acceleration));
}

static double rho_inf(const yk_subsystem *self)
{
    return const_multibody_of(self)->model.def.options.rho_inf;
}

/* What is shown -------------------------------------------------------------------------------- */

static void energy(const yk_subsystem *self, yk_energy *result)
{
    yk_multibody_energy(const_multibody_of(self), result);
}

static int channels(const yk_subsystem *self, const yk_channel **list)
{
    const yk_multibody_model *model = &const_multibody_of(self)->model;
    *list = model->channels;
    return model->channel_count;
}

static void channel_read(const yk_subsystem *self, int channel, double *values)
{
    yk_multibody_channel_read(const_multibody_of(self), channel, values);
}

/* The amplitudes of a modal body. */
static int channel_vector(const yk_subsystem *self, int channel)
{
    const channel_source *source = &const_multibody_of(self)->model.sources[channel];
    return source->group == CHANNEL_FLEXIBLE && source->kind > 0 ? 1 + source->index : 0;
}

static int scene_bodies(const yk_subsystem *self, yk_scene_body *list, int capacity)
{
    return yk_multibody_scene_bodies(const_multibody_of(self), list, capacity);
}

static int scene_shapes(const yk_subsystem *self, yk_shape *list, int capacity)
{
    return yk_multibody_scene_shapes(const_multibody_of(self), list, capacity);
}

static yk_vec3 scene_gravity(const yk_subsystem *self)
{
    return const_multibody_of(self)->model.def.gravity;
}

static void scene_poses(const yk_subsystem *self, yk_scene_pose *list)
{
    yk_multibody_scene_poses(const_multibody_of(self), list);
}

/* Models of the ports, and parts that are relaxed ---------------------------------------------- */

/* On acceleration level the step size does not matter, and prescribed motions continue. */
static yk_status find_interface_model(yk_subsystem *self, double t, double h,
                                      const yk_input *inputs, yk_interface_model *result)
{
    yk_multibody *multibody = multibody_of(self);
    const yk_multibody_model *model = &multibody->model;

    (void)t;
    (void)h;
    if (!multibody->started)
        return not_started(model);

    /* Signals keep the value at the start of the step. */
    for (int i = 0; inputs && i < model->def.port_count; i++) {
        if (model->ports[i].causality == YK_CAUSALITY_SIGNAL_INPUT)
            multibody->work.wrench[i].force.x = yk_input_scalar(&inputs[i], 0);
    }

    return yk_multibody_interface_model(multibody, result);
}

static yk_status find_step_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                 yk_step_model *result)
{
    yk_multibody *multibody = multibody_of(self);
    yk_multibody_workspace *work = &multibody->work;
    if (!multibody->started)
        return not_started(&multibody->model);

    work->inputs = inputs;
    yk_status status = yk_multibody_step_model(multibody, t, h, result);
    work->inputs = NULL;

    return status;
}

static yk_status relax_part(yk_subsystem *self, int part, double t, double h,
                            const yk_input *inputs, double *change)
{
    yk_multibody *multibody = multibody_of(self);
    yk_multibody_workspace *work = &multibody->work;
    if (!multibody->started)
        return not_started(&multibody->model);

    work->inputs = inputs;
    yk_status status = yk_multibody_relax(multibody, part, t, h, change);
    work->inputs = NULL;

    return status;
}

static yk_status count_part_words(yk_subsystem *self, int part, size_t *words, size_t *unknowns)
{
    return yk_multibody_part_words(multibody_of(self), part, words, unknowns);
}

static void part_get(yk_subsystem *self, int part, double *words)
{
    yk_multibody_part_get(multibody_of(self), part, words);
}

static void part_set(yk_subsystem *self, int part, const double *words)
{
    yk_multibody_part_set(multibody_of(self), part, words);
}

static int input_degree(const yk_subsystem *self)
{
    return ((const yk_multibody *)self)->model.integrator->input_degree;
}

/* Operations with a status ----------------------------------------------------------------------
 *
 * Each stores its message, because other subsystems use the same context. */

static yk_status keep(yk_subsystem *self, yk_status status)
{
    yk_multibody *multibody = multibody_of(self);
    return yk_keep_message(&multibody->message, multibody->model.context, status);
}

static yk_status connect(yk_subsystem *self, int port, yk_causality causality, unsigned constrained)
{
    return keep(self, connect_port(self, port, causality, constrained));
}

static yk_status move_port(yk_subsystem *self, int port, const yk_vec3 *position,
                           const yk_quat *orientation)
{
    return keep(self, place_port(self, port, position, orientation));
}

static yk_status subsystem_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    return keep(self, start_model(self, t, h, inputs));
}

static yk_status subsystem_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    return keep(self, advance_model(self, t, h, inputs));
}

static yk_status step_sensitivity(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                  int degree, double *matrix)
{
    return keep(self, advance_sensitively(self, t, h, inputs, degree, matrix));
}

static yk_status subsystem_iterate(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                   yk_iteration_report *report)
{
    return keep(self, iterate_model(self, t, h, inputs, report));
}

static yk_status state_set(yk_subsystem *self, const double *image)
{
    return keep(self, set_state(self, image));
}

static yk_status interface_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                 yk_interface_model *result)
{
    return keep(self, find_interface_model(self, t, h, inputs, result));
}

static yk_status step_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                            yk_step_model *result)
{
    return keep(self, find_step_model(self, t, h, inputs, result));
}

static yk_status subsystem_relax(yk_subsystem *self, int part, double t, double h,
                                 const yk_input *inputs, double *change)
{
    return keep(self, relax_part(self, part, t, h, inputs, change));
}

static yk_status part_words(yk_subsystem *self, int part, size_t *words, size_t *unknowns)
{
    return keep(self, count_part_words(self, part, words, unknowns));
}

static const yk_rollback_ops rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = state_layout, .get = state_get, .set = state_set};
static const yk_iteration_ops iteration_ops = {.size = sizeof(yk_iteration_ops),
                                               .iterate = subsystem_iterate};
static const yk_sensitivity_ops sensitivity_ops = {.size = sizeof(yk_sensitivity_ops),
                                                   .step_with_sensitivity = step_sensitivity};
static const yk_interface_model_ops interface_model_ops = {.size = sizeof(yk_interface_model_ops),
                                                           .evaluate = interface_model};
static const yk_step_model_ops step_model_ops = {.size = sizeof(yk_step_model_ops),
                                                 .evaluate = step_model};
static const yk_merge_ops merging_ops = {.size = sizeof(yk_merge_ops),
                                         .merge = yk_multibody_merge,
                                         .create_free_mass = yk_multibody_free_mass};
static const yk_rigid_parts_ops rigid_parts_ops = {.size = sizeof(yk_rigid_parts_ops),
                                                   .describe = yk_multibody_describe_rigid};
static const yk_relaxed_ops parts_ops = {.size = sizeof(yk_relaxed_ops),
                                         .relax_part = subsystem_relax,
                                         .part_state_size = part_words,
                                         .get_part_state = part_get,
                                         .set_part_state = part_set};
static const yk_energy_ops energy_ops = {.size = sizeof(yk_energy_ops), .read = energy};
static const yk_channel_ops channels_ops = {
    .size = sizeof(yk_channel_ops), .list = channels, .read = channel_read};
static const yk_scene_ops scene_ops = {.size = sizeof(yk_scene_ops),
                                       .bodies = scene_bodies,
                                       .shapes = scene_shapes,
                                       .poses = scene_poses,
                                       .gravity = scene_gravity};
static const yk_subsystem_ops operations = {.size = sizeof(yk_subsystem_ops),
                                            .kind = "multibody",
                                            .ports = ports,
                                            .connect = connect,
                                            .initialize = subsystem_start,
                                            .step = subsystem_step,
                                            .get_port_value = output,
                                            .destroy = destroy,
                                            .last_message = message,
                                            .rollback = &rollback_ops,
                                            .predict = predict,
                                            .rho_inf = rho_inf,
                                            .iteration = &iteration_ops,
                                            .energy = &energy_ops,
                                            .channels = &channels_ops,
                                            .scene = &scene_ops,
                                            .bodies = &yk_multibody_body_ops,
                                            .parameters = &yk_multibody_parameter_ops,
                                            .merge = &merging_ops,
                                            .rigid_parts = &rigid_parts_ops,
                                            .move_port = move_port,
                                            .sensitivity = &sensitivity_ops,
                                            .interface_model = &interface_model_ops,
                                            .relaxed = &parts_ops,
                                            .max_input_degree = input_degree,
                                            .feeds_through = yk_multibody_feeds_through,
                                            .channel_vector = channel_vector,
                                            .step_model = &step_model_ops};

const yk_subsystem_ops *yk_multibody_ops(void)
{
    return &operations;
}

yk_status yk_multibody_start(yk_multibody *multibody, double t, double h)
{
    return subsystem_start(&multibody->base, t, h, NULL);
}

yk_status yk_multibody_step(yk_multibody *multibody, double t, double h)
{
    return subsystem_step(&multibody->base, t, h, NULL);
}

yk_status yk_multibody_statics(yk_multibody *multibody, double t)
{
    if (!multibody->started)
        return not_started(&multibody->model);

    multibody->work.t = t;
    yk_status status = yk_multibody_equilibrium(multibody);
    if (YK_FAILED(status))
        return status;
    return yk_multibody_begin_motion(multibody);
}
