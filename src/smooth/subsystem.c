/* The contract of yoke/subsystem.h over the solver. */
#include "smooth/subsystem.h"

#include <string.h>

#include "math/polynomial.h"
#include "smooth/internal.h"

static yk_smooth *model_of(yk_subsystem *self)
{
    return (yk_smooth *)self;
}

static const yk_smooth *model_of_const(const yk_subsystem *self)
{
    return (const yk_smooth *)self;
}

static int ports(const yk_subsystem *self, const yk_port **list)
{
    const yk_smooth *smooth = model_of_const(self);
    const yk_smooth_model *model = &smooth->model;
    *list = model->port_list;
    return model->def.port_count;
}

static yk_status connect(yk_subsystem *self, int port, yk_causality causality, unsigned constrained)
{
    yk_smooth *smooth = model_of(self);
    const yk_smooth_model *model = &smooth->model;
    if (port < 0 || port >= model->def.port_count)
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s has no port %d", model->def.name, port);
    bool scalar = model->port_list[port].kind == YK_PORT_SCALAR;
    if (!(model->port_list[port].causalities & causality))
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: port '%s' cannot be connected in this way",
                       model->def.name, model->port_list[port].name);
    if (causality == YK_TAKES_MOTION && !(constrained & (scalar ? YK_AXIS_X : YK_AXES_ALL)))
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: port '%s' takes a motion but no axis of it",
                       model->def.name, model->port_list[port].name);
    model->ports[port].causality = causality;
    model->ports[port].constrained = constrained;
    smooth->compiled = false;
    return YK_OK;
}

static yk_status move_port(yk_subsystem *self, int port, const yk_vec3 *position, const yk_quat *orientation)
{
    yk_smooth *smooth = model_of(self);
    const yk_smooth_model *model = &smooth->model;
    if (port < 0 || port >= model->def.port_count || model->port_list[port].kind != YK_PORT_MARKER)
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s has no marker port %d", model->def.name, port);
    yk_marker *marker = &model->ports[port].def.marker[0];
    yk_smooth_node_def body = yk_smooth_start_pose(&model->def, model->ports[port].def.node[0]);
    if (position) marker->offset = yk_q_rotate_back(body.orientation, yk_v3_sub(*position, body.position));
    if (orientation) marker->orientation = yk_q_unit(yk_q_mul(yk_q_conjugate(body.orientation), *orientation));
    yk_smooth_port_def *defs = (yk_smooth_port_def *)(uintptr_t)model->def.ports;
    defs[port].marker[0] = *marker; /* what merging takes the port from */
    smooth->compiled = false;
    return YK_OK;
}

/* At a start without inputs a motion port keeps the motion of the def. */
static void own_motion(const yk_smooth_model *model, const port_model *port, yk_input *signal)
{
    yk_smooth_node_def a = yk_smooth_start_pose(&model->def, port->def.node[0]),
                       b = yk_smooth_start_pose(&model->def, port->def.node[1]);
    yk_vec3 arm = yk_q_rotate(a.orientation, port->def.marker[0].offset);
    yk_vec3 at = yk_v3_add(a.position, arm);
    *signal = (yk_input){.degree = 1, .orientation = yk_q_identity()};
    if (port->def.kind == YK_PORT_SCALAR) {
        yk_vec3 end = yk_v3_add(b.position, yk_q_rotate(b.orientation, port->def.marker[1].offset));
        signal->linear[0].x = yk_v3_norm(yk_v3_sub(end, at));
        return;
    }
    signal->linear[0] = at;
    signal->linear[1] = yk_v3_add(a.velocity, yk_v3_cross(a.angular_velocity, arm));
    signal->angular[1] = a.angular_velocity;
    signal->orientation = yk_q_mul(a.orientation, port->def.marker[0].orientation);
}

static void own_inputs(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->def.port_count; i++) {
        work->own_inputs[i] = (yk_input){.orientation = yk_q_identity()};
        if (model->ports[i].causality == YK_TAKES_MOTION) own_motion(model, &model->ports[i], &work->own_inputs[i]);
    }
    work->inputs = work->own_inputs;
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    yk_smooth *smooth = model_of(self);
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    if (!(h > 0))
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: the step must be positive, not %g", model->def.name, h);
    if (!smooth->compiled) {
        yk_status status = yk_smooth_compile(smooth);
        if (status != YK_OK) return status;
    }
    work->inputs = inputs;
    if (!inputs) own_inputs(model, work);
    yk_status status = yk_smooth_consistent_start(smooth, t, h);
    work->inputs = NULL;
    smooth->started = status >= 0;
    return status >= 0 ? yk_smooth_watch_start(smooth, status) : status;
}

static yk_status not_started(const yk_smooth_model *model)
{
    return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: start comes before step", model->def.name);
}

static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    yk_smooth *smooth = model_of(self);
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    if (!smooth->started) return not_started(model);
    for (int i = 0; i < model->def.port_count && !inputs; i++)
        if (model->ports[i].causality == YK_TAKES_MOTION)
            return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s: port '%s' takes a motion but gets no input",
                           model->def.name, model->ports[i].def.name);
    work->inputs = inputs;
    yk_status status =
        work->open && work->relaxing ? yk_smooth_accept_relaxed(smooth) : model->integrator->advance(smooth, t, h);
    work->inputs = NULL;
    return status >= 0 ? yk_smooth_watch(smooth, status) : status;
}

static yk_status step_sensitivity(yk_subsystem *self, double t, double h, const yk_input *inputs, int degree,
                                  double *matrix)
{
    yk_smooth *smooth = model_of(self);
    yk_smooth_workspace *work = &smooth->work;
    if (!smooth->started) return not_started(&smooth->model);
    work->inputs = inputs;
    yk_status status = yk_smooth_step_sensitivity(smooth, t, h, degree, matrix);
    work->inputs = NULL;
    return status;
}

static yk_status iterate(yk_subsystem *self, double t, double h, const yk_input *inputs, yk_iteration *report)
{
    yk_smooth *smooth = model_of(self);
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    if (!smooth->started) return not_started(model);
    work->inputs = inputs;
    yk_status status = model->integrator->iterate(smooth, t, h, report);
    yk_smooth_show_attachments(model, work);
    work->inputs = NULL;
    return status;
}

static void output(const yk_subsystem *self, int index, yk_port_value *value)
{
    const yk_smooth *smooth = model_of_const(self);
    yk_smooth_port_output(&smooth->model, &smooth->work, index, value);
}

static void destroy(yk_subsystem *self)
{
    yk_smooth_destroy(model_of(self));
}

static const char *message(const yk_subsystem *self)
{
    return yk_last_message(model_of_const(self)->model.context);
}

static yk_state_layout state_layout(const yk_subsystem *self)
{
    return yk_smooth_state_layout(&model_of_const(self)->model);
}

static void state_get(const yk_subsystem *self, double *image)
{
    const yk_smooth *smooth = model_of_const(self);
    const yk_smooth_state *state = &smooth->state;
    memcpy(image, state->image, state->words * sizeof *image);
}

/* The matrix keeps its factors if they are those of the new state. */
static yk_status state_set(yk_subsystem *self, const double *image)
{
    yk_smooth *smooth = model_of(self);
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    if (!smooth->started) return not_started(model);
    size_t first = (size_t)((double *)state->reference - state->image);
    size_t last = (size_t)((double *)state->clock - state->image);
    bool same = memcmp(state->image + first, image + first, (last - first) * sizeof *image) == 0;
    if (!same) smooth->solver.match = false;
    yk_smooth_relaxation_compare(smooth, image);
    memcpy(state->image, image, state->words * sizeof *image);
    yk_smooth_trial_from_state(model, state, &smooth->work);
    return YK_OK;
}

/* Places of flexible bodies go on with their present acceleration. */
static void predict_place(const trial_node *now, double h, trial_node *node)
{
    const yk_frame *frame = &now->frame;
    node->frame.position = yk_v3_axpy(h, yk_v3_axpy(0.5 * h, now->acceleration, frame->velocity), frame->position);
    node->frame.velocity = yk_v3_axpy(h, now->acceleration, frame->velocity);
    node->frame.angular_velocity = yk_v3_axpy(h, now->angular_acceleration, frame->angular_velocity);
    yk_rotation rotation =
        yk_rotation_of(yk_v3_scale(h, yk_v3_axpy(0.5 * h, now->angular_acceleration, frame->angular_velocity)));
    node->orientation = yk_q_unit(yk_q_mul(rotation.quaternion, now->orientation));
    node->frame.rotation = yk_q_matrix(node->orientation);
}

static void predict(const yk_subsystem *self, int index, double h, yk_motion *motion)
{
    const yk_smooth *smooth = model_of_const(self);
    const yk_smooth_model *model = &smooth->model;
    const yk_smooth_workspace *work = &smooth->work;
    const port_model *port = &model->ports[index];
    trial_node node[2] = {0};
    yk_motion end[2];
    for (int side = 0; side < 2; side++) {
        int i = port->node[side];
        node[side] = work->trial[i];
        if (i < model->node_count) {
            model->integrator->predict(model, &smooth->state, i, h, &node[side]);
        } else if (model->nodes[i].attachment >= 0) {
            trial_node own;
            predict_place(yk_smooth_shown(model, work, i, &own), h, &node[side]);
        }
        yk_smooth_motion_of(&node[side], &port->def.marker[side], &end[side]);
        if (port->def.kind == YK_PORT_MARKER) {
            *motion = end[0];
            return;
        }
    }
    yk_vec3 d = yk_v3_sub(end[1].position, end[0].position);
    memset(motion, 0, sizeof *motion);
    motion->orientation = yk_q_identity();
    motion->position.x = yk_v3_norm(d);
    motion->velocity.x = yk_v3_dot(yk_v3_unit(d), yk_v3_sub(end[1].velocity, end[0].velocity));
    motion->acceleration.x = yk_v3_dot(yk_v3_unit(d), yk_v3_sub(end[1].acceleration, end[0].acceleration));
}

static void energy(const yk_subsystem *self, yk_energy *result)
{
    yk_smooth_energy(model_of_const(self), result);
}

static int channels(const yk_subsystem *self, const yk_channel **list)
{
    const yk_smooth_model *model = &model_of_const(self)->model;
    *list = model->channels;
    return model->channel_count;
}

static void channel_read(const yk_subsystem *self, int channel, double *values)
{
    yk_smooth_channel_read(model_of_const(self), channel, values);
}

/* The line of a flexible rod as a row of straight pieces. */
static int outline(const yk_smooth_model *model, const yk_smooth_workspace *work, int flexible, yk_shape *list,
                   int capacity)
{
    int count = yk_smooth_outline(model, flexible), pieces = count > 1 ? count - 1 : 0;
    if (capacity <= 0 || pieces == 0) return pieces;
    yk_vec3 last = yk_smooth_outline_point(model, work, flexible, 0);
    for (int k = 0; k < pieces && k < capacity; k++) {
        yk_vec3 next = yk_smooth_outline_point(model, work, flexible, k + 1);
        list[k] = (yk_shape){
            .kind = YK_SHAPE_LINE, .position = last, .orientation = yk_q_identity(), .size = yk_v3_sub(next, last)};
        last = next;
    }
    return pieces;
}

static int shapes(const yk_subsystem *self, yk_shape *list, int capacity)
{
    const yk_smooth *smooth = model_of_const(self);
    const yk_smooth_model *model = &smooth->model;
    int count = model->def.shape_count;
    for (int i = 0; i < count && i < capacity; i++) {
        const yk_smooth_shape_def *shape = &model->def.shapes[i];
        yk_motion motion;
        yk_smooth_marker_motion(smooth, shape->node, &shape->marker, &motion);
        list[i] = (yk_shape){
            .kind = shape->kind, .position = motion.position, .orientation = motion.orientation, .size = shape->size};
    }
    for (int i = 0; i < model->def.flexible_count; i++)
        count += outline(model, &smooth->work, i, list + (count < capacity ? count : 0), capacity - count);
    return count;
}

/* At the level of accelerations the size of the step does not matter, and prescribed motions go on as they were. */
static yk_status interface_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                 yk_interface_model *result)
{
    yk_smooth *smooth = model_of(self);
    const yk_smooth_model *model = &smooth->model;
    (void)t;
    (void)h;
    if (!smooth->started) return not_started(model);
    for (int i = 0; inputs && i < model->def.port_count; i++)
        if (model->ports[i].causality == YK_TAKES_SIGNAL)
            smooth->work.wrench[i].force.x = yk_input_scalar(&inputs[i], 0);
    return yk_smooth_interface_model(smooth, result);
}

static yk_status step_model(yk_subsystem *self, double t, double h, const yk_input *inputs, yk_step_model *result)
{
    yk_smooth *smooth = model_of(self);
    yk_smooth_workspace *work = &smooth->work;
    if (!smooth->started) return not_started(&smooth->model);
    work->inputs = inputs;
    yk_status status = yk_smooth_step_model(smooth, t, h, result);
    work->inputs = NULL;
    return status;
}

static yk_status relax(yk_subsystem *self, int part, double t, double h, const yk_input *inputs, double *change)
{
    yk_smooth *smooth = model_of(self);
    yk_smooth_workspace *work = &smooth->work;
    if (!smooth->started) return not_started(&smooth->model);
    work->inputs = inputs;
    yk_status status = yk_smooth_relax(smooth, part, t, h, change);
    work->inputs = NULL;
    return status;
}

static yk_status part_words(yk_subsystem *self, int part, size_t *words, size_t *unknowns)
{
    return yk_smooth_part_words(model_of(self), part, words, unknowns);
}

static void part_get(yk_subsystem *self, int part, double *words)
{
    yk_smooth_part_get(model_of(self), part, words);
}

static void part_set(yk_subsystem *self, int part, const double *words)
{
    yk_smooth_part_set(model_of(self), part, words);
}

static int input_degree(const yk_subsystem *self)
{
    return ((const yk_smooth *)self)->model.integrator->input_degree;
}

static const yk_rollback_ops rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = state_layout, .get = state_get, .set = state_set};
static const yk_iteration_ops iteration_ops = {.size = sizeof(yk_iteration_ops), .iterate = iterate};
static const yk_sensitivity_ops sensitivity_ops = {.size = sizeof(yk_sensitivity_ops), .step = step_sensitivity};
static const yk_interface_model_ops interface_model_ops = {.size = sizeof(yk_interface_model_ops),
                                                           .evaluate = interface_model};
static const yk_step_model_ops step_model_ops = {.size = sizeof(yk_step_model_ops), .evaluate = step_model};
static const yk_merging_ops merging_ops = {
    .size = sizeof(yk_merging_ops), .merge = yk_smooth_merge, .free_mass = yk_smooth_free_mass};
static const yk_part_ops parts_ops = {
    .size = sizeof(yk_part_ops), .relax = relax, .words = part_words, .get = part_get, .set = part_set};
static const yk_energy_ops energy_ops = {.size = sizeof(yk_energy_ops), .read = energy};
static const yk_channel_ops channels_ops = {.size = sizeof(yk_channel_ops), .list = channels, .read = channel_read};
static const yk_subsystem_ops operations = {.size = sizeof(yk_subsystem_ops),
                                            .kind = "smooth",
                                            .ports = ports,
                                            .connect = connect,
                                            .start = start,
                                            .step = step,
                                            .output = output,
                                            .destroy = destroy,
                                            .message = message,
                                            .rollback = &rollback_ops,
                                            .predict = predict,
                                            .iteration = &iteration_ops,
                                            .energy = &energy_ops,
                                            .channels = &channels_ops,
                                            .shapes = shapes,
                                            .merging = &merging_ops,
                                            .move_port = move_port,
                                            .sensitivity = &sensitivity_ops,
                                            .interface_model = &interface_model_ops,
                                            .parts = &parts_ops,
                                            .input_degree = input_degree,
                                            .step_model = &step_model_ops};

const yk_subsystem_ops *yk_smooth_ops(void)
{
    return &operations;
}

yk_status yk_smooth_start(yk_smooth *smooth, double t, double h)
{
    return start(&smooth->base, t, h, NULL);
}

yk_status yk_smooth_step(yk_smooth *smooth, double t, double h)
{
    return step(&smooth->base, t, h, NULL);
}

yk_status yk_smooth_statics(yk_smooth *smooth, double t)
{
    if (!smooth->started) return not_started(&smooth->model);
    smooth->work.t = t;
    yk_status status = yk_smooth_equilibrium(smooth);
    if (status >= 0) status = yk_smooth_begin(smooth);
    return status;
}
