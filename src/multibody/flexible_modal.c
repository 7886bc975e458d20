/* Modal bodies in a model: small deformations seen from a floating frame (ffrf.h), which is a node
 * of the model. An attachment is moved by the six unknowns of that node and by the amplitudes, in
 * this order. */
#include <string.h>

#include "multibody/flexible_kind.h"

enum { RIGID = 6 };

yk_status yk_flexible_modal(yk_context *context, const yk_ffrf_def *def, const int *attachments,
                            int attachment_count, yk_flexible **body)
{
    *body = NULL;
    yk_flexible *made = yk_flexible_begin(context);
    if (!made)
        return YK_ERROR_MEMORY;

    yk_status status = yk_ffrf_create(context, def, &made->modal);

    /* An attachment has its own copy of the shapes, because the def may be released. */
    size_t n = (size_t)def->mode_count;
    size_t count = (size_t)attachment_count;
    made->nodes = yk_allocate(context, count, sizeof *made->nodes);
    made->bends = yk_allocate(context, count * n * n, sizeof *made->bends);
    yk_vec3 *store = yk_allocate(context, 2 * count * n, sizeof *store);
    made->store = store;
    if (status == YK_OK && (!made->nodes || !made->bends || !store))
        status = YK_ERROR_MEMORY;
    for (size_t k = 0; k < count && status == YK_OK; k++, store += 2 * n) {
        if (attachments[k] < 0 || attachments[k] >= def->point_count) {
            status = yk_fail(context, YK_ERROR_ARGUMENT,
                             "the flexible body has %d points: there is no point %d",
                             def->point_count, attachments[k]);
            break;
        }
        yk_ffrf_point point = def->points[attachments[k]];
        point.displacement = memcpy(store, point.displacement, n * sizeof *store);
        if (point.rotation)
            point.rotation = memcpy(store + n, point.rotation, n * sizeof *store);
        made->nodes[k] = yk_ffrf_node_of(&point, def->mode_count, made->bends + k * n * n);
    }
    if (status != YK_OK) {
        yk_flexible_release(made);
        return status;
    }

    made->kind = YK_FLEXIBLE_MODAL;
    made->coordinates = def->mode_count;
    made->attachments = attachment_count;

    /* Size of a body: the distance of its points, or that of a rod with its radius of gyration. */
    for (int k = 0; k < def->point_count; k++) {
        yk_vec3 arm = yk_v3_sub(def->points[k].position, def->points[0].position);
        made->length = fmax(made->length, yk_v3_norm(arm));
    }

    const yk_mat3 *second = &made->modal.second;
    double spread = second->m[0][0] + second->m[1][1] + second->m[2][2];
    if (made->length == 0)
        made->length = sqrt(3 * spread / made->modal.mass);

    *body = made;
    return YK_OK;
}

static int attachment_columns(const yk_flexible *body)
{
    return RIGID + body->coordinates;
}

static size_t tangent_words(const yk_flexible *body)
{
    size_t n = (size_t)(RIGID + body->coordinates);
    return n * n;
}

/* Displacements by amplitudes. */
static size_t attachment_words(const yk_flexible *body)
{
    return 3 * (size_t)body->coordinates;
}

static void map_attachment(const yk_multibody_model *model, attachment_model *attachment)
{
    const flexible_model *of = &model->flexibles[attachment->flexible];
    int first = 6 * model->node_count + of->coordinate;

    /* Six unknowns of the floating frame, then the amplitudes. */
    for (int k = 0; k < RIGID; k++)
        attachment->column[k] = 6 * of->node + k;
    for (int i = 0; i < of->body->coordinates; i++)
        attachment->column[RIGID + i] = first + i;

    /* Shapes that displace or rotate the attachment. */
    const yk_ffrf_node *node = &of->body->nodes[attachment->attachment];
    bool apart = yk_v3_norm2(node->position) > 0;
    for (int i = 0; i < of->body->coordinates; i++) {
        bool moves = yk_v3_norm2(node->displacement[i]) > 0;
        for (int k = 0; k < node->bend_count; k++)
            moves |= node->bends[k].i == i;

        bool rotates = node->rotation && yk_v3_norm2(node->rotation[i]) > 0;
        apart |= moves;

        attachment->moves[RIGID + i] = 0;
        if (moves)
            attachment->moves[RIGID + i] |= ATTACHMENT_MOVES;
        if (rotates)
            attachment->moves[RIGID + i] |= ATTACHMENT_ROTATIONS;
    }

    /* A rotation of the frame does not move an attachment at the origin that no shape moves. */
    for (int k = 0; k < 3; k++) {
        attachment->moves[k] = ATTACHMENT_MOVES;
        attachment->moves[3 + k] = ATTACHMENT_ROTATIONS;
        if (apart)
            attachment->moves[3 + k] |= ATTACHMENT_MOVES;
    }
}

static void modal_start(const yk_multibody_flexible_def *def, coordinate_state *now)
{
    for (int k = 0; k < def->body->coordinates; k++) {
        now[k].value = 0;
        now[k].rate = 0;
        if (def->amplitudes)
            now[k].value = def->amplitudes[k];
        if (def->amplitude_rates)
            now[k].rate = def->amplitude_rates[k];
    }
}

/* Attachments ---------------------------------------------------------------------------------- */

static void locate(const yk_multibody_model *model, yk_multibody_workspace *work, int index,
                   unsigned what)
{
    const attachment_model *attachment = &model->attachments[index];
    const flexible_model *of = &model->flexibles[attachment->flexible];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    yk_ffrf_pose *pose = &work->attachments[index].pose;
    const yk_ffrf_node *node = &of->body->nodes[attachment->attachment];
    const yk_frame *frame = &work->trial[of->node].frame;
    trial_node *trial = &work->trial[attachment->frame];
    int modes = of->body->coordinates;

    /* The frame first, because the attachments need its pose. */
    yk_ffrf_node_pose(node, modes, frame, at->value, at->rate, pose, &trial->frame);
    if (what & ATTACHMENT_MAPS)
        yk_ffrf_node_jacobian(node, modes, frame, pose, work->attachments[index].jacobian);
    if (what & ATTACHMENT_BIASES)
        yk_ffrf_node_bias(node, modes, frame, at->value, at->rate, pose, &trial->acceleration,
                          &trial->angular_acceleration);
}

static void accelerate(const yk_multibody_model *model, const yk_multibody_workspace *work,
                       int index, trial_node *own)
{
    const attachment_model *attachment = &model->attachments[index];
    const flexible_model *of = &model->flexibles[attachment->flexible];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    const yk_ffrf_pose *pose = &work->attachments[index].pose;
    const yk_ffrf_node *node = &of->body->nodes[attachment->attachment];
    const trial_node *frame = &work->trial[of->node];
    const yk_mat3 axes = frame->frame.rotation;
    int modes = of->body->coordinates;

    /* The part caused by velocities, */
    yk_ffrf_node_bias(node, modes, &frame->frame, at->value, at->rate, pose, &own->acceleration,
                      &own->angular_acceleration);

    /* the second derivatives of the amplitudes, */
    yk_vec3 pull = {0, 0, 0};
    yk_vec3 rotation = {0, 0, 0};
    for (int i = 0; i < modes; i++) {
        pull = yk_v3_axpy(at->second[i], pose->pull[i], pull);
        if (node->rotation)
            rotation = yk_v3_axpy(at->second[i], node->rotation[i], rotation);
    }

    if (node->rotation)
        rotation = yk_rotation_tangent(&pose->rotation, rotation);

    /* and the acceleration of the frame. */
    yk_vec3 swing = yk_v3_cross(frame->angular_acceleration, yk_m3_apply(axes, pose->position));
    yk_vec3 moved = yk_v3_add(swing, yk_m3_apply(axes, pull));
    yk_vec3 rotated = yk_v3_add(frame->angular_acceleration, yk_m3_apply(axes, rotation));
    own->acceleration = yk_v3_add(yk_v3_add(own->acceleration, frame->acceleration), moved);
    own->angular_acceleration = yk_v3_add(own->angular_acceleration, rotated);
}

static void spread_load(const yk_multibody_model *model, yk_multibody_workspace *work, int index,
                        yk_vec3 force, yk_vec3 torque)
{
    const attachment_model *attachment = &model->attachments[index];
    const flexible_model *of = &model->flexibles[attachment->flexible];
    const yk_ffrf_node *node = &of->body->nodes[attachment->attachment];
    int modes = of->body->coordinates;

    /* The load on the amplitudes is the work of the load on the displacement of their shapes. */
    double modal[YK_FFRF_MODES_MAX];
    for (int k = 0; k < modes; k++)
        modal[k] = 0;

    const yk_frame *floating = &work->trial[of->node].frame;
    const yk_ffrf_pose *pose = &work->attachments[index].pose;
    yk_vec3 about = yk_ffrf_node_spread(node, modes, floating, pose, force, torque, modal);

    /* The force acts on the frame unchanged, with its torque about the origin. */
    yk_wrench *frame = &work->load[of->node];
    frame->force = yk_v3_add(frame->force, force);
    frame->torque = yk_v3_add(frame->torque, about);
    for (int k = 0; k < modes; k++)
        work->coordinates[of->coordinate + k].load += modal[k];
}

static void spread_stiffness(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int index, const yk_wrench *load, double scale)
{
    const attachment_model *attachment = &model->attachments[index];
    const flexible_model *of = &model->flexibles[attachment->flexible];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    yk_ffrf_node_stiffness(&of->body->nodes[attachment->attachment], of->body->coordinates,
                           &work->trial[of->node].frame, at->value, &work->attachments[index].pose,
                           load->force, load->torque, scale, at->tangent);
}

/* Momenta and energies ------------------------------------------------------------------------- */

static yk_ffrf_motion motion_of(const yk_multibody_model *model, const yk_multibody_workspace *work,
                                int flexible)
{
    const trial_node *node = &work->trial[model->flexibles[flexible].node];
    const flexible_trial *at = &work->flexibles[flexible];

    return (yk_ffrf_motion){
        .frame = node->frame,
        .acceleration = node->acceleration,
        .angular_acceleration = node->angular_acceleration,
        .amplitude = at->value,
        .rate = at->rate,
        .second = at->second,
    };
}

/* Add the momentum of the frame to that of the rigid bodies on its node. */
static void add_momentum(trial_node *node, const yk_momentum *add)
{
    node->momentum.linear = yk_v3_add(node->momentum.linear, add->linear);
    node->momentum.angular = yk_v3_add(node->momentum.angular, add->angular);
}

/* The loads in addition to the momenta are computed together with them; keep them for the assembly
 * of the step. */
static void modal_momenta(const yk_multibody_model *model, yk_multibody_workspace *work,
                          int flexible, bool with_rates, double *momentum)
{
    const flexible_model *of = &model->flexibles[flexible];
    yk_ffrf_motion motion = motion_of(model, work, flexible);

    /* Momenta, and the other terms of the equations. */
    yk_momentum frame;
    yk_ffrf_rest(&of->body->modal, &motion, model->def.gravity, &frame, momentum,
                 work->flexibles[flexible].loads);

    trial_node *node = &work->trial[of->node];
    add_momentum(node, &frame);
    if (!with_rates)
        return;

    /* Rates in a step: p' = (p - past) / c. */
    double inverse = 1 / work->c;
    yk_vec3 linear = yk_v3_sub(node->momentum.linear, node->momentum_past.linear);
    yk_vec3 angular = yk_v3_sub(node->momentum.angular, node->momentum_past.angular);
    node->momentum_rate.linear = yk_v3_scale(inverse, linear);
    node->momentum_rate.angular = yk_v3_scale(inverse, angular);
}

/* All loads at the accelerations minus the loads without momenta: the rates of the momenta. */
static void momentum_rates(const yk_multibody_model *model, yk_multibody_workspace *work,
                           int flexible)
{
    const flexible_model *of = &model->flexibles[flexible];
    const yk_ffrf *body = &of->body->modal;
    yk_ffrf_motion motion = motion_of(model, work, flexible);
    yk_ffrf_loads all;
    yk_ffrf_loads *rest = work->flexibles[flexible].loads; /* kept for the assembly of the step */
    yk_momentum frame;
    double momentum[YK_FFRF_MODES_MAX];

    yk_ffrf_evaluate(body, &motion, model->def.gravity, &all);
    yk_ffrf_rest(body, &motion, model->def.gravity, &frame, momentum, rest);

    /* The equation of the frame contains l' + v x p in addition to the loads. */
    trial_node *node = &work->trial[of->node];
    add_momentum(node, &frame);
    yk_vec3 torque = yk_v3_sub(all.torque, rest->torque);
    torque = yk_v3_sub(torque, yk_v3_cross(node->frame.velocity, frame.linear));
    yk_vec3 force = yk_v3_sub(all.force, rest->force);
    node->momentum_rate.linear = yk_v3_add(node->momentum_rate.linear, force);
    node->momentum_rate.angular = yk_v3_add(node->momentum_rate.angular, torque);

    /* Those of the amplitudes. */
    trial_coordinate *trial = &work->coordinates[of->coordinate];
    for (int k = 0; k < of->body->coordinates; k++) {
        trial[k].momentum = momentum[k];
        trial[k].momentum_rate = all.modal[k] - rest->modal[k];
    }
}

static void add_energy(const yk_multibody_model *model, const yk_multibody_workspace *work,
                       int flexible, yk_energy *energy, double *loss)
{
    const flexible_model *of = &model->flexibles[flexible];
    yk_ffrf_motion motion = motion_of(model, work, flexible);

    yk_ffrf_loads loads;
    yk_momentum frame;
    double momentum[YK_FFRF_MODES_MAX];

    yk_ffrf_rest(&of->body->modal, &motion, model->def.gravity, &frame, momentum, &loads);

    energy->kinetic += loads.kinetic;
    energy->potential += loads.potential;
    *loss += loads.loss;
}

static double strain_energy(const yk_flexible *body, const flexible_trial *at)
{
    int n = body->modal.modes;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            sum += 0.5 * body->modal.stiffness[n * i + j] * at->value[i] * at->value[j];
    }

    return sum;
}

/* Equations ------------------------------------------------------------------------------------ */

static void pass(const yk_multibody_model *model, yk_multibody_workspace *work, int flexible,
                 assembly_level level, double weight, sink *to, sink_mode mode)
{
    static const double still[YK_FFRF_MODES_MAX] = {0};
    const flexible_model *of = &model->flexibles[flexible];
    const flexible_trial *at = &work->flexibles[flexible];
    const yk_ffrf *body = &of->body->modal;
    yk_ffrf_motion motion = {
        .frame = work->trial[of->node].frame, .amplitude = at->value, .rate = at->rate};

    /* Loads: those beside the momenta in a step, where they were found with these; elsewhere all
     * of them at accelerations of zero. */
    if (mode != SINK_RECORD) {
        if (level != LEVEL_STEP) {
            yk_ffrf_motion coasting = motion;
            coasting.second = still;
            yk_ffrf_evaluate(body, &coasting, model->def.gravity, at->loads);
        }

        /* They act on the node of the frame and on the amplitudes. */
        yk_wrench *load = &work->load[of->node];
        load->force = yk_v3_sub(load->force, at->loads->force);
        load->torque = yk_v3_sub(load->torque, at->loads->torque);
        for (int k = 0; k < body->modes; k++)
            work->coordinates[of->coordinate + k].load -= at->loads->modal[k];
        work->potential += at->loads->potential;
    }

    if (mode == SINK_NONE)
        return;

    /* The matrix, its nonzero entries only. */
    if (mode == SINK_ADD)
        yk_ffrf_tangent(body, &motion, model->def.gravity, to->c, work->rotation_weight,
                        work->damping, at->tangent);

    double scale = to->inertia * (model->nodes[of->node].keep ? weight : 1);

    /* Unknowns of the frame and of the amplitudes. */
    int size = RIGID + body->modes;
    int unknown[RIGID + YK_FFRF_MODES_MAX];
    for (int k = 0; k < RIGID; k++)
        unknown[k] = model->nodes[of->node].unknown + k;
    for (int k = 0; k < body->modes; k++)
        unknown[RIGID + k] = model->coordinate_first + of->coordinate + k;

    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            if (body->coupled[size * i + j])
                sink_put(to, mode, unknown[i], unknown[j], scale * at->tangent[size * i + j]);
        }
    }
}

/* Stations of the outline are nodes after the attachments. */
static int outline(const yk_flexible *body)
{
    return body->outline;
}

static yk_vec3 outline_point(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int flexible, int point)
{
    const flexible_model *of = &model->flexibles[flexible];
    const flexible_trial *at = &work->flexibles[flexible];
    const yk_ffrf_node *node = &of->body->nodes[of->body->attachments + point];
    yk_vec3 pull[YK_FFRF_MODES_MAX];
    yk_ffrf_pose pose = {.pull = pull};
    yk_frame placed;

    yk_ffrf_node_pose(node, of->body->coordinates, &work->trial[of->node].frame, at->value,
                      at->rate, &pose, &placed);

    return placed.position;
}

const flexible_kind yk_flexible_kind_modal = {
    .attachment_columns = attachment_columns,
    .tangent_words = tangent_words,
    .attachment_words = attachment_words,
    .map_attachment = map_attachment,
    .start = modal_start,
    .locate = locate,
    .accelerate = accelerate,
    .momenta = modal_momenta,
    .momentum_rates = momentum_rates,
    .energy = add_energy,
    .strain_energy = strain_energy,
    .pass = pass,
    .spread_load = spread_load,
    .spread_stiffness = spread_stiffness,
    .outline = outline,
    .outline_point = outline_point,
};
