/* Flexible bodies in a model: their coordinates, and the frames of their places, which follow the coordinates and are
 * never solved for. */
#include <stdio.h>
#include <string.h>

#include "math/so3.h"
#include "smooth/workspace.h"

enum { RIGID = 6 };

int yk_smooth_coordinates_of(const yk_smooth_def *def)
{
    int count = 0;
    for (int i = 0; i < def->flexible_count; i++) count += def->flexibles[i].body->coordinates;
    return count;
}

int yk_smooth_frame_of(const yk_smooth_model *model, int node)
{
    if (node == YK_SMOOTH_GROUND) return model->node_count;
    return node < model->node_count ? node : model->attachment_first + node - model->node_count;
}

static yk_frame start_frame(const yk_smooth_flexible_def *def)
{
    return (yk_frame){.position = def->position,
                      .rotation = yk_q_matrix(yk_q_unit(def->orientation)),
                      .velocity = def->velocity,
                      .angular_velocity = def->angular_velocity};
}

yk_smooth_node_def yk_smooth_start_pose(const yk_smooth_def *def, int node)
{
    if (node == YK_SMOOTH_GROUND) return yk_smooth_node_default();
    if (node < def->node_count) return def->nodes[node];
    const yk_smooth_attachment_def *attachment = &def->attachments[node - def->node_count];
    const yk_smooth_flexible_def *flexible = &def->flexibles[attachment->flexible];
    yk_smooth_node_def at = {.name = attachment->name,
                             .position = flexible->position,
                             .orientation = flexible->orientation,
                             .velocity = flexible->velocity,
                             .angular_velocity = flexible->angular_velocity};
    if (flexible->body->kind == YK_FLEXIBLE_MODAL) {
        at = def->nodes[flexible->node];
        at.name = attachment->name;
    }
    yk_vec3 arm = yk_q_rotate(at.orientation, yk_flexible_attachment(flexible->body, attachment->attachment));
    at.position = yk_v3_add(at.position, arm);
    at.velocity = yk_v3_add(at.velocity, yk_v3_cross(at.angular_velocity, arm));
    return at;
}

/* Compilation ----------------------------------------------------------------------------------------------------- */

static int columns_of(const yk_flexible *body)
{
    return body->kind == YK_FLEXIBLE_MODAL ? RIGID + body->coordinates : YK_ANCF_SECTION;
}

/* Values, rates, second derivatives, and the tangent of one element. */
size_t yk_smooth_flexible_words(const yk_flexible *body)
{
    bool modal = body->kind == YK_FLEXIBLE_MODAL;
    size_t n = modal ? (size_t)(RIGID + body->coordinates) : YK_ANCF_COORDINATES;
    return 3 * (size_t)body->coordinates + (modal ? 1 : 2) * n * n;
}

/* The map to a place, and the displacements by amplitudes there. */
size_t yk_smooth_attachment_words(const yk_flexible *body, const attachment_model *attachment)
{
    size_t words = 6 * (size_t)attachment->count;
    if (body->kind == YK_FLEXIBLE_MODAL) words += 3 * (size_t)body->coordinates;
    return words;
}

static void list_columns(const yk_smooth_model *model, const flexible_model *of, attachment_model *attachment)
{
    int first = 6 * model->node_count + of->coordinate;
    if (of->body->kind == YK_FLEXIBLE_MODAL) {
        for (int k = 0; k < attachment->count; k++)
            attachment->column[k] = k < RIGID ? 6 * of->node + k : first + k - RIGID;
        return;
    }
    /* r, then r_y and r_z: the gradient along the line stands between them */
    first += yk_flexible_rod_node(attachment->attachment);
    for (int k = 0; k < YK_ANCF_SECTION; k++) attachment->column[k] = first + (k < 3 ? k : k + 3);
}

/* A place in the origin that no shape moves follows the frame's displacement alone, and so on. */
static void list_moves(const yk_flexible *body, attachment_model *attachment)
{
    if (body->kind == YK_FLEXIBLE_ROD) {
        for (int k = 0; k < attachment->count; k++)
            attachment->moves[k] = k < 3 ? ATTACHMENT_MOVES : ATTACHMENT_ROTATIONS;
        return;
    }
    const yk_ffrf_node *node = &body->nodes[attachment->attachment];
    bool apart = yk_v3_norm2(node->position) > 0;
    for (int i = 0; i < body->coordinates; i++) {
        bool moves = yk_v3_norm2(node->displacement[i]) > 0;
        for (int k = 0; k < node->bend_count; k++) moves |= node->bends[k].i == i;
        bool rotates = node->rotation && yk_v3_norm2(node->rotation[i]) > 0;
        attachment->moves[RIGID + i] =
            (unsigned char)((moves ? ATTACHMENT_MOVES : 0) | (rotates ? ATTACHMENT_ROTATIONS : 0));
        apart |= moves;
    }
    for (int k = 0; k < RIGID; k++)
        attachment->moves[k] =
            (unsigned char)(k < 3 ? ATTACHMENT_MOVES : ATTACHMENT_ROTATIONS | (apart ? ATTACHMENT_MOVES : 0));
}

yk_status yk_smooth_compile_flexibles(yk_smooth_model *model)
{
    const yk_smooth_def *def = &model->def;
    yk_context *context = model->context;
    size_t coordinates = (size_t)yk_smooth_coordinates_of(def), columns = 0;
    for (int i = 0; i < def->attachment_count; i++)
        columns += (size_t)columns_of(def->flexibles[def->attachments[i].flexible].body);
    model->flexibles = yk_allocate(context, (size_t)def->flexible_count, sizeof *model->flexibles);
    model->attachments = yk_allocate(context, (size_t)def->attachment_count, sizeof *model->attachments);
    model->reach = yk_allocate(context, coordinates, sizeof *model->reach);
    model->fraction = yk_allocate(context, coordinates, sizeof *model->fraction);
    model->attachment_columns = yk_allocate(context, columns, sizeof *model->attachment_columns);
    model->attachment_moves = yk_allocate(context, columns, 1);
    bool complete = model->flexibles && model->attachments && model->reach && model->fraction &&
                    model->attachment_columns && model->attachment_moves;
    if (!complete) return YK_ERROR_MEMORY;

    int coordinate = 0;
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_smooth_flexible_def *flexible = &def->flexibles[i];
        const yk_flexible *body = flexible->body;
        bool modal = body->kind == YK_FLEXIBLE_MODAL;
        model->flexibles[i] = (flexible_model){
            .name = flexible->name, .body = body, .node = modal ? flexible->node : -1, .coordinate = coordinate};
        for (int k = 0; k < body->coordinates; k++) {
            /* Gradients of a rod turn its sections: they count as rotations. */
            bool rotates = !modal && k % (YK_ANCF_NODE + YK_ANCF_MIDDLE) >= 3;
            double reach = yk_flexible_reach(body, k);
            model->reach[coordinate + k] = reach;
            model->fraction[coordinate + k] = rotates ? 1 : reach / model->length_scale;
        }
        coordinate += body->coordinates;
    }

    int *column = model->attachment_columns;
    unsigned char *moves = model->attachment_moves;
    for (int i = 0; i < def->attachment_count; i++) {
        const flexible_model *of = &model->flexibles[def->attachments[i].flexible];
        attachment_model *made = &model->attachments[i];
        *made = (attachment_model){.flexible = def->attachments[i].flexible,
                                   .attachment = def->attachments[i].attachment,
                                   .frame = model->attachment_first + i,
                                   .count = columns_of(of->body),
                                   .column = column,
                                   .moves = moves};
        column += made->count;
        moves += made->count;
        list_columns(model, of, made);
        list_moves(of->body, made);
    }
    return YK_OK;
}

void yk_smooth_release_flexibles(yk_smooth_model *model)
{
    yk_context *context = model->context;
    yk_release(context, model->flexibles), model->flexibles = NULL;
    yk_release(context, model->attachments), model->attachments = NULL;
    yk_release(context, model->reach), model->reach = NULL;
    yk_release(context, model->fraction), model->fraction = NULL;
    yk_release(context, model->attachment_columns), model->attachment_columns = NULL;
    yk_release(context, model->attachment_moves), model->attachment_moves = NULL;
}

/* Modal bodies with the amplitudes that they are given, rods with their curvature. */
void yk_smooth_start_flexibles(const yk_smooth_model *model, yk_smooth_state *state)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        const yk_smooth_flexible_def *def = &model->def.flexibles[i];
        coordinate_state *now = &state->coordinate_now[of->coordinate];
        if (of->body->kind == YK_FLEXIBLE_MODAL) {
            for (int k = 0; k < of->body->coordinates; k++) {
                now[k].value = def->amplitudes ? def->amplitudes[k] : 0;
                now[k].rate = def->amplitude_rates ? def->amplitude_rates[k] : 0;
            }
            continue;
        }
        yk_frame start = start_frame(def);
        double part = of->body->element.length, value[YK_ANCF_COORDINATES], rate[YK_ANCF_COORDINATES];
        for (int e = 0; e < of->body->elements; e++) {
            yk_ancf_arc(&start, def->curvature, e * part, part, value, rate);
            for (int k = 0; k < YK_ANCF_COORDINATES; k++)
                now[yk_flexible_rod_node(e) + k] = (coordinate_state){.value = value[k], .rate = rate[k]};
        }
    }
}

/* Places ---------------------------------------------------------------------------------------------------------- */

static void gather(const yk_smooth_workspace *work, const flexible_model *of, flexible_trial *at)
{
    const trial_coordinate *trial = &work->coordinates[of->coordinate];
    for (int k = 0; k < of->body->coordinates; k++) {
        at->value[k] = trial[k].value;
        at->rate[k] = trial[k].rate;
        at->second[k] = trial[k].acceleration;
    }
}

static void section_of(int node, const double *from, double section[YK_ANCF_SECTION])
{
    const double *at = from + yk_flexible_rod_node(node);
    for (int k = 0; k < YK_ANCF_SECTION; k++) section[k] = at[k < 3 ? k : k + 3];
}

static void place_modal(yk_smooth_workspace *work, const flexible_model *of, const flexible_trial *at,
                        const attachment_model *attachment, attachment_trial *there, unsigned what)
{
    const yk_ffrf_node *node = &of->body->nodes[attachment->attachment];
    const yk_frame *frame = &work->trial[of->node].frame;
    trial_node *trial = &work->trial[attachment->frame];
    int modes = of->body->coordinates;
    yk_ffrf_node_pose(node, modes, frame, at->value, at->rate, &there->pose, &trial->frame);
    if (what & ATTACHMENT_MAPS) yk_ffrf_node_jacobian(node, modes, frame, &there->pose, there->jacobian);
    if (what & ATTACHMENT_BIASES)
        yk_ffrf_node_bias(node, modes, frame, at->value, at->rate, &there->pose, &trial->acceleration,
                          &trial->angular_acceleration);
}

static void place_section(yk_smooth_workspace *work, const flexible_trial *at, const attachment_model *attachment,
                          attachment_trial *there, unsigned what)
{
    trial_node *trial = &work->trial[attachment->frame];
    double value[YK_ANCF_SECTION], rate[YK_ANCF_SECTION];
    section_of(attachment->attachment, at->value, value);
    section_of(attachment->attachment, at->rate, rate);
    yk_ancf_section_pose(value, rate, &trial->frame, what ? there->jacobian : NULL);
    if (what & ATTACHMENT_BIASES) yk_ancf_section_bias(value, rate, &trial->acceleration, &trial->angular_acceleration);
}

void yk_smooth_gather_flexibles(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->def.flexible_count; i++) gather(work, &model->flexibles[i], &work->flexibles[i]);
}

void yk_smooth_place_flexibles(const yk_smooth_model *model, yk_smooth_workspace *work, unsigned what)
{
    yk_smooth_gather_flexibles(model, work);
    for (int i = 0; i < model->def.attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        const flexible_model *of = &model->flexibles[attachment->flexible];
        const flexible_trial *at = &work->flexibles[attachment->flexible];
        if (of->body->kind == YK_FLEXIBLE_MODAL) {
            place_modal(work, of, at, attachment, &work->attachments[i], what);
        } else {
            place_section(work, at, attachment, &work->attachments[i], what);
        }
    }
}

void yk_smooth_show_attachments(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    if (model->def.flexible_count == 0) return;
    /* A restored state has no more than the orientation of its nodes: what is shown must not depend on more. */
    for (int i = 0; i < model->def.flexible_count; i++) {
        if (model->flexibles[i].node < 0) continue;
        trial_node *node = &work->trial[model->flexibles[i].node];
        node->frame.rotation = yk_q_matrix(yk_q_unit(node->orientation));
    }
    yk_smooth_place_flexibles(model, work, ATTACHMENT_FRAMES);
}

static void modal_acceleration(const yk_smooth_workspace *work, const flexible_model *of, const flexible_trial *at,
                               const attachment_model *attachment, const attachment_trial *there, trial_node *own)
{
    const yk_ffrf_node *node = &of->body->nodes[attachment->attachment];
    const trial_node *frame = &work->trial[of->node];
    int modes = of->body->coordinates;
    yk_vec3 pull = {0, 0, 0}, rotation = {0, 0, 0};
    yk_ffrf_node_bias(node, modes, &frame->frame, at->value, at->rate, &there->pose, &own->acceleration,
                      &own->angular_acceleration);
    for (int i = 0; i < modes; i++) {
        pull = yk_v3_axpy(at->second[i], there->pose.pull[i], pull);
        if (node->rotation) rotation = yk_v3_axpy(at->second[i], node->rotation[i], rotation);
    }
    if (node->rotation) rotation = yk_rotation_tangent(&there->pose.rotation, rotation);
    const yk_mat3 axes = frame->frame.rotation;
    yk_vec3 swing = yk_v3_cross(frame->angular_acceleration, yk_m3_apply(axes, there->pose.position));
    own->acceleration =
        yk_v3_add(yk_v3_add(own->acceleration, frame->acceleration), yk_v3_add(swing, yk_m3_apply(axes, pull)));
    own->angular_acceleration =
        yk_v3_add(own->angular_acceleration, yk_v3_add(frame->angular_acceleration, yk_m3_apply(axes, rotation)));
}

static void section_acceleration(const flexible_trial *at, const attachment_model *attachment, trial_node *own)
{
    double value[YK_ANCF_SECTION], rate[YK_ANCF_SECTION], second[YK_ANCF_SECTION];
    section_of(attachment->attachment, at->value, value);
    section_of(attachment->attachment, at->rate, rate);
    section_of(attachment->attachment, at->second, second);
    yk_frame moved; /* its velocities are what the map makes of the second derivatives */
    yk_ancf_section_bias(value, rate, &own->acceleration, &own->angular_acceleration);
    yk_ancf_section_pose(value, second, &moved, NULL);
    own->acceleration = yk_v3_add(own->acceleration, moved.velocity);
    own->angular_acceleration = yk_v3_add(own->angular_acceleration, moved.angular_velocity);
}

const trial_node *yk_smooth_shown(const yk_smooth_model *model, const yk_smooth_workspace *work, int frame,
                                  trial_node *own)
{
    if (model->nodes[frame].attachment < 0) return &work->trial[frame];
    const attachment_model *attachment = &model->attachments[model->nodes[frame].attachment];
    const attachment_trial *there = &work->attachments[model->nodes[frame].attachment];
    const flexible_model *of = &model->flexibles[attachment->flexible];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    *own = work->trial[frame];
    own->orientation = yk_so3_quat(own->frame.rotation);
    if (of->body->kind == YK_FLEXIBLE_MODAL) {
        modal_acceleration(work, of, at, attachment, there, own);
    } else {
        section_acceleration(at, attachment, own);
    }
    return own;
}

void yk_smooth_accelerate_attachments(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->def.attachment_count; i++) {
        trial_node own;
        work->trial[model->attachments[i].frame] = *yk_smooth_shown(model, work, model->attachments[i].frame, &own);
    }
}

void yk_smooth_push_frame(const yk_smooth_model *model, const yk_smooth_workspace *work, int frame, double scale,
                          const yk_wrench *wrench, double *right)
{
    const node_model *node = &model->nodes[frame];
    const double load[6] = {wrench->force.x,  wrench->force.y,  wrench->force.z,
                            wrench->torque.x, wrench->torque.y, wrench->torque.z};
    if (node->unknown >= 0)
        for (int k = 0; k < 6; k++) right[node->unknown + k] += scale * load[k];
    if (node->attachment < 0) return;
    const attachment_model *attachment = &model->attachments[node->attachment];
    const attachment_trial *there = &work->attachments[node->attachment];
    for (int k = 0; k < attachment->count; k++) {
        double sum = 0;
        for (int r = 0; r < 6; r++) sum += there->jacobian[attachment->count * r + k] * load[r];
        right[attachment->column[k]] += scale * sum;
    }
}

void yk_smooth_pull_frame(const yk_smooth_model *model, const yk_smooth_workspace *work, int frame,
                          const double *change, yk_vec3 *linear, yk_vec3 *angular)
{
    const node_model *node = &model->nodes[frame];
    double sum[6] = {0};
    if (node->unknown >= 0) memcpy(sum, change + node->unknown, sizeof sum);
    if (node->attachment >= 0) {
        const attachment_model *attachment = &model->attachments[node->attachment];
        const attachment_trial *there = &work->attachments[node->attachment];
        for (int k = 0; k < attachment->count; k++)
            for (int r = 0; r < 6; r++)
                sum[r] += there->jacobian[attachment->count * r + k] * change[attachment->column[k]];
    }
    *linear = yk_v3(sum[0], sum[1], sum[2]);
    *angular = yk_v3(sum[3], sum[4], sum[5]);
}

/* Pieces of an element that are drawn straight. */
enum { PIECES = 4 };

int yk_smooth_outline(const yk_smooth_model *model, int flexible)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return body->kind == YK_FLEXIBLE_ROD ? PIECES * body->elements + 1 : body->outline;
}

yk_vec3 yk_smooth_outline_point(const yk_smooth_model *model, const yk_smooth_workspace *work, int flexible, int point)
{
    const flexible_model *of = &model->flexibles[flexible];
    const flexible_trial *at = &work->flexibles[flexible];
    if (of->body->kind == YK_FLEXIBLE_MODAL) {
        yk_vec3 pull[YK_FFRF_MODES_MAX];
        yk_ffrf_pose pose = {.pull = pull};
        yk_frame placed;
        yk_ffrf_node_pose(&of->body->nodes[of->body->attachments + point], of->body->coordinates,
                          &work->trial[of->node].frame, at->value, at->rate, &pose, &placed);
        return placed.position;
    }
    int last = of->body->elements - 1, element = point / PIECES < last ? point / PIECES : last;
    double xi = (double)(point - PIECES * element) / PIECES;
    return yk_ancf_line(&of->body->element, at->value + yk_flexible_rod_node(element), xi);
}
