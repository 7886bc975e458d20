/* Validation and copy of a description. All errors within a model are found here, and reported with
 * name and unit. */
#include <stdio.h>
#include <string.h>

#include "multibody/multibody.h"

/* Validation ----------------------------------------------------------------------------------- */

static bool quat_usable(yk_quat q)
{
    double norm = yk_q_norm(q);
    return isfinite(norm) && fabs(norm - 1) < 1e-6;
}

static yk_status check_nodes(yk_context *context, const yk_multibody_description *def)
{
    for (int i = 0; i < def->node_count; i++) {
        const yk_multibody_node_def *node = &def->nodes[i];
        if (!node->name || !node->name[0])
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s: node %d has no name: give it one",
                           def->name, i);

        if (!quat_usable(node->orientation))
            return yk_fail(
                context, YK_ERROR_ARGUMENT,
                "%s: the orientation of node '%s' is not a unit quaternion: normalise it",
                def->name, node->name);

        bool finite = yk_v3_finite(node->position) && yk_v3_finite(node->velocity) &&
                      yk_v3_finite(node->angular_velocity) &&
                      yk_v3_finite(node->initial_displacement) &&
                      yk_v3_finite(node->initial_rotation);
        if (!finite)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: node '%s' starts at a position or velocity that is not finite",
                           def->name, node->name);
    }

    return YK_OK;
}

static yk_status check_bodies(yk_context *context, const yk_multibody_description *def)
{
    for (int i = 0; i < def->body_count; i++) {
        const yk_multibody_body_def *body = &def->bodies[i];
        const char *name = body->name ? body->name : "(unnamed)";

        if (body->node.index < 0 || body->node.index >= def->node_count)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: body '%s' is on node %d, but there are %d nodes", def->name, name,
                           body->node.index, def->node_count);

        /* Mass and axes that a body can have. */
        if (!(body->mass > 0 && isfinite(body->mass)))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: the mass of body '%s' must be positive, not %g kg", def->name, name,
                           body->mass);

        if (!quat_usable(body->inertia_orientation) || !yk_v3_finite(body->center_of_mass))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: centre or axes of body '%s' are not usable", def->name, name);

        /* A tensor that no mass distribution can have would make the equations indefinite. */
        char why[240];
        if (!yk_inertia_possible(&body->inertia, why, sizeof why))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: no body has the inertia tensor of body '%s': %s", def->name, name,
                           why);
    }

    return YK_OK;
}

static bool node_usable(const yk_multibody_description *def, int node)
{
    return node >= YK_GROUND_INDEX && node < def->node_count + def->attachment_count;
}

/* The markers of a joint, force or port; `both`: the first is used as well as the second. */
static yk_status check_ends(yk_context *context, const yk_multibody_description *def,
                            const char *what, const char *name, const yk_body_id node[2],
                            const yk_marker marker[2], bool both)
{
    if (!name || !name[0])
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s: a %s has no name: give it one", def->name,
                       what);

    /* Nodes and markers. A force on one body uses its second end only. */
    for (int side = both ? 0 : 1; side < 2; side++) {
        if (!node_usable(def, node[side].index))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: %s '%s' names node %d, but there are %d nodes", def->name, what,
                           name, node[side].index, def->node_count);

        const yk_marker *at = &marker[side];
        if (!yk_v3_finite(at->offset) || !quat_usable(at->orientation))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: marker %d of %s '%s' has an offset that is not finite or an "
                           "orientation that is not a unit quaternion",
                           def->name, side + 1, what, name);
    }

    /* A joint must connect two different bodies. */
    if (both && node[0].index == node[1].index) {
        const char *where = "the ground";
        if (yk_body_is_valid(node[0]))
            where = yk_multibody_start_pose(def, node[0].index).name;
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: %s '%s' has both ends on %s: join two different nodes", def->name, what,
                       name, where);
    }

    return YK_OK;
}

static yk_status check_joints(yk_context *context, const yk_multibody_description *def)
{
    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        yk_status status =
            check_ends(context, def, "joint", joint->name, joint->bodies, joint->markers, true);
        if (status != YK_OK)
            return status;

        status = yk_joint_check(context, def->name, joint);
        if (status != YK_OK)
            return status;

        int signal = joint->signal_port.index;
        if (signal != YK_NO_ID &&
            (signal >= def->port_count || def->ports[signal].kind != YK_PORT_SIGNAL))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: the signal of joint '%s' is port %d, which is no signal port",
                           def->name, joint->name, signal);

        /* The terms of a coupling follow each other. */
        int first = joint->adds_to.index;
        bool follows = first >= 0 && first < i && def->joints[first].adds_to.index == YK_NO_ID &&
                       yk_joint_traits_of(def->joints[first].kind)->coupled &&
                       (first == i - 1 || def->joints[i - 1].adds_to.index == first);
        if (first != YK_NO_ID && !follows)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: '%s' adds to joint %d: add the terms of a coupling one after the "
                           "other, and let adds_to name the first",
                           def->name, joint->name, first);
    }

    return YK_OK;
}

static yk_status check_forces(yk_context *context, const yk_multibody_description *def)
{
    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        yk_status status = yk_force_check(context, def->name, force);
        if (status != YK_OK)
            return status;

        bool both = yk_force_kind_acts_on_both(force->kind);
        status = check_ends(context, def, yk_force_kind_name(force->kind), force->name,
                            force->bodies, force->markers, both);
        if (status != YK_OK)
            return status;

        /* The terms of a sum follow each other. */
        int first = force->adds_to.index;
        bool follows = first >= 0 && first < i && def->forces[first].adds_to.index == YK_NO_ID &&
                       yk_force_kind_has_coordinate(def->forces[first].kind) &&
                       (first == i - 1 || def->forces[i - 1].adds_to.index == first);
        if (first != YK_NO_ID && !follows)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: '%s' adds to force %d: add the terms of a sum one after the other, "
                           "and let adds_to name the first",
                           def->name, force->name, first);

        /* The load comes from a signal port, or from a feedback on channels of the model. */
        if (force->signal_port.index >= def->port_count ||
            (force->signal_port.index >= 0 &&
             def->ports[force->signal_port.index].kind != YK_PORT_SIGNAL))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: the input of %s '%s' is no signal port of the model", def->name,
                           yk_force_kind_name(force->kind), force->name);

        const yk_feedback *feedback = &force->feedback;
        int inputs = feedback->input_count;
        if (feedback->value && (inputs < 0 || inputs > YK_FEEDBACK_INPUTS_MAX))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: the feedback of '%s' has %d inputs, at most %d are allowed",
                           def->name, force->name, inputs, YK_FEEDBACK_INPUTS_MAX);
    }

    return YK_OK;
}

static yk_status check_beams(yk_context *context, const yk_multibody_description *def)
{
    for (int i = 0; i < def->beam_count; i++) {
        const yk_multibody_beam_def *beam = &def->beams[i];
        if (!beam->name || !beam->name[0])
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s: beam %d has no name: give it one",
                           def->name, i);

        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
            if (!node_usable(def, beam->nodes[k].index) || beam->nodes[k].index >= def->node_count)
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "%s: beam '%s' names node %d, but there are %d nodes", def->name,
                               beam->name, beam->nodes[k].index, def->node_count);

            if (!quat_usable(beam->section_orientations[k]) || !yk_v3_finite(beam->offsets[k]))
                return yk_fail(
                    context, YK_ERROR_ARGUMENT,
                    "%s: offset or section axes of beam '%s' at its node %d are not usable",
                    def->name, beam->name, k + 1);
        }

        /* Three nodes, all different. */
        const yk_body_id *node = beam->nodes;
        if (node[0].index == node[1].index || node[1].index == node[2].index ||
            node[2].index == node[0].index)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: beam '%s' names a node twice: it needs three", def->name,
                           beam->name);
    }

    return YK_OK;
}

static yk_status check_flexibles(yk_context *context, const yk_multibody_description *def)
{
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_multibody_flexible_def *flexible = &def->flexibles[i];
        if (!flexible->name || !flexible->name[0] || !flexible->body)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: flexible body %d has no name, or no body: give it both", def->name,
                           i);

        /* A floating frame is the node of one modal body. */
        bool modal = flexible->body->kind == YK_FLEXIBLE_MODAL;
        if (modal && (flexible->node < 0 || flexible->node >= def->node_count))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: the floating frame of '%s' is on node %d, but there are %d nodes",
                           def->name, flexible->name, flexible->node, def->node_count);

        for (int k = 0; k < i && modal; k++) {
            const yk_multibody_flexible_def *other = &def->flexibles[k];
            if (other->body->kind == YK_FLEXIBLE_MODAL && other->node == flexible->node)
                return yk_fail(
                    context, YK_ERROR_ARGUMENT,
                    "%s: '%s' and '%s' float on one node: give each its own, and join them",
                    def->name, other->name, flexible->name);
        }

        /* Its initial state. */
        bool usable = quat_usable(flexible->orientation) && yk_v3_finite(flexible->position) &&
                      yk_v3_finite(flexible->velocity) &&
                      yk_v3_finite(flexible->angular_velocity) && yk_v3_finite(flexible->curvature);
        if (!usable)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: the start of flexible body '%s' is not usable", def->name,
                           flexible->name);
    }

    /* Attachments, by the body that they are on. */
    for (int i = 0; i < def->attachment_count; i++) {
        const yk_multibody_attachment_def *attachment = &def->attachments[i];
        if (!attachment->name || !attachment->name[0])
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s: attachment %d has no name: give it one",
                           def->name, i);

        if (attachment->flexible < 0 || attachment->flexible >= def->flexible_count)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: attachment '%s' is on flexible body %d, but there are %d",
                           def->name, attachment->name, attachment->flexible, def->flexible_count);

        const yk_multibody_flexible_def *flexible = &def->flexibles[attachment->flexible];
        int index = attachment->attachment;
        if (index < 0 || index >= flexible->body->attachments)
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s: '%s' has no attachment %d", def->name,
                           flexible->name, index);
    }

    return YK_OK;
}

static yk_status check_ports(yk_context *context, const yk_multibody_description *def)
{
    for (int i = 0; i < def->port_count; i++) {
        const yk_port_def *port = &def->ports[i];
        if ((unsigned)port->kind > YK_PORT_SIGNAL)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s: port '%s' is of kind %d, which does not exist: take a yk_port_kind",
                           def->name, port->name ? port->name : "", (int)port->kind);
        if (port->kind == YK_PORT_SIGNAL && port->name && port->name[0])
            continue;

        /* A marker port uses one marker, which is the second in the check. */
        bool scalar = port->kind == YK_PORT_SCALAR;
        yk_body_id swapped[2] = {port->bodies[1], port->bodies[0]};
        yk_marker marker[2] = {port->markers[1], port->markers[0]};
        yk_status status = check_ends(context, def, "port", port->name, swapped, marker, scalar);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static yk_status check_options(yk_context *context, const yk_multibody_description *def)
{
    const yk_multibody_options *options = &def->options;
    if (!yk_multibody_integrator_of(options->integrator))
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s: the integrator is of no known kind",
                       def->name);

    if (!(options->rho_inf >= 0 && options->rho_inf <= 1))
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s: rho_inf must be between 0 and 1, not %g",
                       def->name, options->rho_inf);

    if (!(options->newton_relative_tolerance > 0 && options->newton_absolute_tolerance > 0 &&
          options->assembly_tolerance > 0) ||
        options->max_newton_iterations < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: tolerances and the number of iterations must be positive", def->name);

    if (!(options->stabilization_rate >= 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: the stabilisation of constraints must not be negative, not %g",
                       def->name, options->stabilization_rate);

    if (options->integrator == YK_MULTIBODY_CHEBYSHEV &&
        (options->stages < 2 || options->stages > YK_CHEBYSHEV_STAGES_MAX))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: the Runge-Kutta-Chebyshev method has 2 to %d stages, not %d", def->name,
                       YK_CHEBYSHEV_STAGES_MAX, options->stages);

    if (options->error_tolerance < 0 || options->startup_damping < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: error tolerance and damping must not be negative", def->name);

    return YK_OK;
}

/* Copy ----------------------------------------------------------------------------------------- */

/* All names in one block: the first pass measures (store == NULL), the second copies. */
static size_t keep_name(char *store, size_t used, const char **name)
{
    if (!*name)
        return used;

    size_t length = strlen(*name) + 1;
    if (store)
        *name = memcpy(store + used, *name, length);
    return used + length;
}

static size_t keep_names(char *store, yk_multibody_description *def)
{
    size_t used = keep_name(store, 0, &def->name);

    /* The arrays were copied before, so they may be written. */
    yk_multibody_node_def *nodes = (yk_multibody_node_def *)(uintptr_t)def->nodes;
    for (int i = 0; i < def->node_count; i++)
        used = keep_name(store, used, &nodes[i].name);

    yk_multibody_body_def *bodies = (yk_multibody_body_def *)(uintptr_t)def->bodies;
    for (int i = 0; i < def->body_count; i++)
        used = keep_name(store, used, &bodies[i].name);

    yk_joint_def *joints = (yk_joint_def *)(uintptr_t)def->joints;
    for (int i = 0; i < def->joint_count; i++)
        used = keep_name(store, used, &joints[i].name);

    yk_force_def *forces = (yk_force_def *)(uintptr_t)def->forces;
    for (int i = 0; i < def->force_count; i++) {
        used = keep_name(store, used, &forces[i].name);
        const yk_feedback *feedback = &forces[i].feedback;
        const char **inputs = (const char **)(uintptr_t)feedback->inputs;
        for (int k = 0; k < feedback->input_count; k++)
            used = keep_name(store, used, &inputs[k]);
    }

    yk_multibody_beam_def *beams = (yk_multibody_beam_def *)(uintptr_t)def->beams;
    for (int i = 0; i < def->beam_count; i++)
        used = keep_name(store, used, &beams[i].name);

    yk_multibody_flexible_def *flexibles = (yk_multibody_flexible_def *)(uintptr_t)def->flexibles;
    for (int i = 0; i < def->flexible_count; i++)
        used = keep_name(store, used, &flexibles[i].name);

    yk_multibody_attachment_def *attachments =
        (yk_multibody_attachment_def *)(uintptr_t)def->attachments;
    for (int i = 0; i < def->attachment_count; i++)
        used = keep_name(store, used, &attachments[i].name);

    yk_port_def *ports = (yk_port_def *)(uintptr_t)def->ports;
    for (int i = 0; i < def->port_count; i++)
        used = keep_name(store, used, &ports[i].name);

    return used;
}

static const void *copy_array(yk_context *context, const void *source, int count, size_t size,
                              bool *failed)
{
    if (count <= 0)
        return NULL;

    void *copy = yk_allocate(context, (size_t)count, size);
    if (!copy) {
        *failed = true;
        return NULL;
    }

    return memcpy(copy, source, (size_t)count * size);
}

/* Initial amplitudes of a modal body, if given. */
static const double *copy_start(yk_context *context, const double *amplitudes,
                                const yk_flexible *body, bool *failed)
{
    if (!amplitudes || body->kind != YK_FLEXIBLE_MODAL)
        return NULL;
    return copy_array(context, amplitudes, body->coordinates, sizeof *amplitudes, failed);
}

static yk_status copy_def(yk_multibody_model *model, const yk_multibody_description *def)
{
    yk_context *context = model->context;
    bool failed = false;

    /* All arrays first, so that the copied ones can be released if a later one fails. */
    model->def = *def;
    yk_multibody_description *own = &model->def;
#define COPY(array, count) \
    own->array = copy_array(context, def->array, def->count, sizeof *def->array, &failed)
    COPY(nodes, node_count);
    COPY(bodies, body_count);
    COPY(joints, joint_count);
    COPY(forces, force_count);
    COPY(beams, beam_count);
    COPY(shapes, shape_count);
    COPY(ports, port_count);
    COPY(flexibles, flexible_count);
    COPY(attachments, attachment_count);
    if (def->force_channels)
        COPY(force_channels, force_count);
#undef COPY

    /* Data that their elements point to. */
    yk_force_def *forces = (yk_force_def *)(uintptr_t)own->forces;
    for (int i = 0; i < def->force_count && forces; i++) {
        yk_feedback *feedback = &forces[i].feedback;
        if (!feedback->value)
            *feedback = (yk_feedback){0};
        feedback->inputs = copy_array(context, feedback->inputs, feedback->input_count,
                                      sizeof *feedback->inputs, &failed);
    }

    yk_multibody_flexible_def *flexibles = (yk_multibody_flexible_def *)(uintptr_t)own->flexibles;
    for (int i = 0; i < def->flexible_count && flexibles; i++) {
        yk_multibody_flexible_def *flexible = &flexibles[i];
        const yk_flexible *body = flexible->body;
        yk_flexible_keep(body);
        flexible->amplitudes = copy_start(context, flexible->amplitudes, body, &failed);
        flexible->amplitude_rates = copy_start(context, flexible->amplitude_rates, body, &failed);
    }

    if (failed)
        return YK_ERROR_MEMORY;

    /* Names last, in one block. */
    model->name_store = yk_allocate(context, keep_names(NULL, &model->def), 1);
    if (!model->name_store)
        return YK_ERROR_MEMORY;

    keep_names(model->name_store, &model->def);
    return YK_OK;
}

static void release_array(yk_context *context, const void *array)
{
    yk_free(context, (void *)(uintptr_t)array);
}

void yk_multibody_destroy(yk_multibody *self)
{
    if (!self)
        return;

    /* All data of the start, then the description. */
    yk_multibody_model *model = &self->model;
    yk_context *context = model->context;
    const yk_multibody_description *def = &model->def;
    yk_multibody_release_compiled(self);

    /* Data that the elements of the description point to, then the arrays. */
    for (int i = 0; i < def->force_count && def->forces; i++)
        release_array(context, def->forces[i].feedback.inputs);
    for (int i = 0; i < def->flexible_count && def->flexibles; i++) {
        yk_flexible_release((yk_flexible *)(uintptr_t)def->flexibles[i].body);
        release_array(context, def->flexibles[i].amplitudes);
        release_array(context, def->flexibles[i].amplitude_rates);
    }

    const void *const arrays[] = {def->nodes, def->bodies,        def->joints,      def->forces,
                                  def->beams, def->flexibles,     def->attachments, def->shapes,
                                  def->ports, def->force_channels};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_free(context, (void *)(uintptr_t)arrays[i]);

    yk_free(context, model->name_store);
    yk_free(context, model->ports);
    yk_free(context, model->port_list);
    yk_free(context, self->work.own_inputs);
    yk_free(context, self->work.wrench);
    yk_free(context, model->channels);
    yk_free(context, model->sources);
    yk_free(context, model->part_transforms);
    yk_free(context, model->part_rates);
    yk_free(context, model->channel_names);
    yk_multibody_release_parameters(model);
    yk_free(context, self);
}

/* Ports of the subsystem, and memory for their causalities. */
static yk_status make_ports(yk_multibody_model *model, yk_multibody_workspace *work)
{
    int count = model->def.port_count;

    model->ports = yk_allocate(model->context, (size_t)count, sizeof *model->ports);
    model->port_list = yk_allocate(model->context, (size_t)count, sizeof *model->port_list);
    work->own_inputs = yk_allocate(model->context, (size_t)count, sizeof *work->own_inputs);
    work->wrench = yk_allocate(model->context, (size_t)count, sizeof *work->wrench);
    if (!model->ports || !model->port_list || !work->own_inputs || !work->wrench)
        return YK_ERROR_MEMORY;

    /* Until they are connected, they allow all their causalities. */
    for (int i = 0; i < count; i++) {
        const yk_port_def *def = &model->def.ports[i];
        model->ports[i] = (port_model){.def = *def, .joint = -1, .driver = -1};
        model->port_list[i] =
            (yk_port){.name = def->name,
                      .kind = def->kind,
                      .allowed_causalities = YK_CAUSALITY_WRENCH_INPUT | YK_CAUSALITY_MOTION_INPUT};

        /* Signals have no power: neither wrench nor motion. */
        if (def->kind == YK_PORT_SIGNAL)
            model->port_list[i].allowed_causalities = YK_CAUSALITY_SIGNAL_INPUT;
    }

    return YK_OK;
}

/* Resolve the channels that are inputs of feedbacks; channels exist only now. In a merged model
 * they were resolved when its parts were created. */
static yk_status check_feedbacks(const yk_multibody_model *model)
{
    const yk_multibody_description *def = &model->def;
    for (int i = 0; def->part_count == 0 && i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        for (int k = 0; k < force->feedback.input_count; k++) {
            const char *input = force->feedback.inputs[k];
            int channel, component;
            yk_multibody_find_input(model, input, 0, &channel, &component);
            if (component >= 0)
                continue;

            yk_failure_subject subject;
            snprintf(subject.part, sizeof subject.part, "%s", force->name);
            snprintf(subject.item, sizeof subject.item, "%s", input);
            if (channel < 0)
                return yk_fail_about(
                    model->context, YK_ERROR_ARGUMENT, &subject,
                    "%s: the feedback of '%s': there is no channel '%.80s', such as "
                    "'BODY.velocity.x'",
                    def->name, force->name, input);
            return yk_fail_about(
                model->context, YK_ERROR_ARGUMENT, &subject,
                "%s: the feedback of '%s' reads '%.80s': name one component, such as '%.80s.x'",
                def->name, force->name, input, model->channels[channel].name);
        }
    }

    return YK_OK;
}

yk_status yk_multibody_make(yk_context *context, const yk_multibody_description *def,
                            yk_multibody **model)
{
    *model = NULL;
    if (!def->name)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a multibody system needs a name");
    if (def->node_count + def->flexible_count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s: a multibody system needs at least one node",
                       def->name);

    /* All parts of the description by themselves. */
    yk_status (*const checks[])(yk_context *, const yk_multibody_description *) = {
        check_options, check_nodes,  check_bodies, check_flexibles,
        check_joints,  check_forces, check_beams,  check_ports};
    yk_status status = YK_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && status == YK_OK; i++)
        status = checks[i](context, def);
    if (status != YK_OK)
        return status;

    yk_multibody *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->model.context = context;
    made->model.integrator = yk_multibody_integrator_of(def->options.integrator);
    made->work.owner = made;
    made->work.rotation_weight = YK_ROTATION_OF_STEP;
    made->base.ops = yk_multibody_ops();

    /* Copy the data of the description, then create the data derived from them. */
    status = copy_def(&made->model, def);
    if (status == YK_OK)
        status = make_ports(&made->model, &made->work);
    if (status == YK_OK)
        status = yk_multibody_make_channels(&made->model);
    if (status == YK_OK)
        status = yk_multibody_list_parameters(&made->model);
    if (status == YK_OK)
        status = check_feedbacks(&made->model);
    if (status != YK_OK) {
        yk_multibody_destroy(made);
        return status;
    }

    *model = made;
    return YK_OK;
}

yk_subsystem *yk_multibody_subsystem(yk_multibody *self)
{
    return &self->base;
}
