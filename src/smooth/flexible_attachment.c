/* Flexible bodies in a model: their coordinates, and the frames of their attachments, which
 * follow the coordinates and are never solved for. */
#include <string.h>

#include "math/so3.h"
#include "smooth/flexible_kind.h"

int yk_smooth_coordinates_of(const yk_smooth_description *def)
{
    int count = 0;
    for (int i = 0; i < def->flexible_count; i++)
        count += def->flexibles[i].body->coordinates;

    return count;
}

int yk_smooth_frame_of(const yk_smooth_model *model, int node)
{
    /* Nodes, the ground, prescribed frames, attachments. */
    if (node == YK_GROUND)
        return model->node_count;
    if (node < model->node_count)
        return node;
    return model->attachment_first + node - model->node_count;
}

yk_smooth_node_def yk_smooth_start_pose(const yk_smooth_description *def, int node)
{
    if (node == YK_GROUND)
        return yk_smooth_node_default();
    if (node < def->node_count)
        return def->nodes[node];

    /* The origin of the body: its floating frame, or the start of a rod. */
    const yk_smooth_attachment_def *attachment = &def->attachments[node - def->node_count];
    const yk_smooth_flexible_def *flexible = &def->flexibles[attachment->flexible];
    yk_smooth_node_def at = {
        .position = flexible->position,
        .orientation = flexible->orientation,
        .velocity = flexible->velocity,
        .angular_velocity = flexible->angular_velocity,
    };
    if (flexible->body->kind == YK_FLEXIBLE_MODAL)
        at = def->nodes[flexible->node];
    at.name = attachment->name;

    /* The undeformed body from there on. */
    yk_vec3 own = yk_flexible_attachment(flexible->body, attachment->attachment);
    yk_vec3 arm = yk_q_rotate(at.orientation, own);
    at.position = yk_v3_add(at.position, arm);
    at.velocity = yk_v3_add(at.velocity, yk_v3_cross(at.angular_velocity, arm));

    return at;
}

/* Compilation ---------------------------------------------------------------------------------- */

/* Values, rates, second derivatives, and the tangent of one element. */
size_t yk_smooth_flexible_words(const yk_flexible *body)
{
    return 3 * (size_t)body->coordinates + yk_flexible_kind_of(body)->tangent_words(body);
}

/* The map to an attachment, and what its pose keeps. */
size_t yk_smooth_attachment_words(const yk_flexible *body, const attachment_model *attachment)
{
    return 6 * (size_t)attachment->count + yk_flexible_kind_of(body)->attachment_words(body);
}

yk_status yk_smooth_compile_flexibles(yk_smooth_model *model)
{
    const yk_smooth_description *def = &model->def;
    yk_context *context = model->context;

    /* How many coordinates there are, and unknowns that move attachments. */
    size_t coordinates = (size_t)yk_smooth_coordinates_of(def);
    size_t columns = 0;
    for (int i = 0; i < def->attachment_count; i++) {
        const yk_flexible *body = def->flexibles[def->attachments[i].flexible].body;
        columns += (size_t)yk_flexible_kind_of(body)->attachment_columns(body);
    }

    /* Memory of bodies, coordinates and attachments. */
    model->flexibles = yk_allocate(context, (size_t)def->flexible_count, sizeof *model->flexibles);
    model->attachments =
        yk_allocate(context, (size_t)def->attachment_count, sizeof *model->attachments);
    model->reach = yk_allocate(context, coordinates, sizeof *model->reach);
    model->fraction = yk_allocate(context, coordinates, sizeof *model->fraction);
    model->attachment_columns = yk_allocate(context, columns, sizeof *model->attachment_columns);
    model->attachment_moves = yk_allocate(context, columns, 1);

    bool bodies = model->flexibles && model->reach && model->fraction;
    bool attachments = model->attachments && model->attachment_columns && model->attachment_moves;
    if (!bodies || !attachments)
        return YK_ERROR_MEMORY;

    /* Bodies, and what their coordinates are measured by. */
    int coordinate = 0;
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_smooth_flexible_def *flexible = &def->flexibles[i];
        const yk_flexible *body = flexible->body;
        bool modal = body->kind == YK_FLEXIBLE_MODAL;

        model->flexibles[i] = (flexible_model){
            .name = flexible->name,
            .body = body,
            .node = modal ? flexible->node : -1,
            .coordinate = coordinate,
        };

        for (int k = 0; k < body->coordinates; k++) {
            double reach = yk_flexible_reach(body, k);
            model->reach[coordinate + k] = reach;
            model->fraction[coordinate + k] = reach / model->length_scale;

            /* Gradients of a rod turn its sections: they count as rotations. */
            bool gradient = !modal && k % (YK_ANCF_NODE + YK_ANCF_MIDDLE) >= 3;
            if (gradient)
                model->fraction[coordinate + k] = 1;
        }

        coordinate += body->coordinates;
    }

    /* Attachments, and the unknowns that move them. */
    int *column = model->attachment_columns;
    unsigned char *moves = model->attachment_moves;
    for (int i = 0; i < def->attachment_count; i++) {
        const yk_flexible *body = model->flexibles[def->attachments[i].flexible].body;
        const flexible_kind *kind = yk_flexible_kind_of(body);
        attachment_model *made = &model->attachments[i];

        *made = (attachment_model){
            .flexible = def->attachments[i].flexible,
            .attachment = def->attachments[i].attachment,
            .frame = model->attachment_first + i,
            .count = kind->attachment_columns(body),
            .column = column,
            .moves = moves,
        };
        column += made->count;
        moves += made->count;
        kind->map_attachment(model, made);
    }

    return YK_OK;
}

void yk_smooth_release_flexibles(yk_smooth_model *model)
{
    yk_context *context = model->context;

    yk_release(context, model->flexibles);
    yk_release(context, model->attachments);
    yk_release(context, model->reach);
    yk_release(context, model->fraction);
    yk_release(context, model->attachment_columns);
    yk_release(context, model->attachment_moves);

    model->flexibles = NULL;
    model->attachments = NULL;
    model->reach = NULL;
    model->fraction = NULL;
    model->attachment_columns = NULL;
    model->attachment_moves = NULL;
}

void yk_smooth_start_flexibles(const yk_smooth_model *model, yk_smooth_state *state)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        yk_flexible_kind_of(of->body)->start(&model->def.flexibles[i],
                                             &state->coordinate_now[of->coordinate]);
    }
}

/* Attachments ---------------------------------------------------------------------------------- */

/* The kind of the body that an attachment belongs to. */
static const flexible_kind *kind_at(const yk_smooth_model *model, int attachment)
{
    return yk_flexible_kind_of(model->flexibles[model->attachments[attachment].flexible].body);
}

void yk_smooth_gather_flexibles(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        const trial_coordinate *trial = &work->coordinates[of->coordinate];
        flexible_trial *at = &work->flexibles[i];

        for (int k = 0; k < of->body->coordinates; k++) {
            at->value[k] = trial[k].value;
            at->rate[k] = trial[k].rate;
            at->second[k] = trial[k].acceleration;
        }
    }
}

void yk_smooth_place_flexibles(const yk_smooth_model *model, yk_smooth_workspace *work,
                               unsigned what)
{
    yk_smooth_gather_flexibles(model, work);

    for (int i = 0; i < model->def.attachment_count; i++)
        kind_at(model, i)->locate(model, work, i, what);
}

void yk_smooth_show_attachments(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    if (model->def.flexible_count == 0)
        return;

    /* A restored state has no more than the orientation of its nodes: what is shown must not
     * depend on more. */
    for (int i = 0; i < model->def.flexible_count; i++) {
        if (model->flexibles[i].node < 0)
            continue;

        trial_node *node = &work->trial[model->flexibles[i].node];
        node->frame.rotation = yk_q_matrix(yk_q_unit(node->orientation));
    }

    yk_smooth_place_flexibles(model, work, ATTACHMENT_FRAMES);
}

const trial_node *yk_smooth_shown(const yk_smooth_model *model, const yk_smooth_workspace *work,
                                  int frame, trial_node *own)
{
    int attachment = model->nodes[frame].attachment;
    if (attachment < 0)
        return &work->trial[frame];

    /* Orientation and accelerations, which no equation asks for. */
    *own = work->trial[frame];
    own->orientation = yk_so3_quat(own->frame.rotation);
    kind_at(model, attachment)->accelerate(model, work, attachment, own);

    return own;
}

void yk_smooth_accelerate_attachments(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->def.attachment_count; i++) {
        trial_node own;
        int frame = model->attachments[i].frame;
        work->trial[frame] = *yk_smooth_shown(model, work, frame, &own);
    }
}

void yk_smooth_push_frame(const yk_smooth_model *model, const yk_smooth_workspace *work, int frame,
                          double scale, const yk_wrench *wrench, double *right)
{
    const node_model *node = &model->nodes[frame];
    const yk_vec3 force = wrench->force;
    const yk_vec3 torque = wrench->torque;
    const double load[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};

    /* A node feels it as it is. */
    if (node->unknown >= 0) {
        for (int k = 0; k < 6; k++)
            right[node->unknown + k] += scale * load[k];
    }

    if (node->attachment < 0)
        return;

    /* J^T of the load */
    const attachment_model *attachment = &model->attachments[node->attachment];
    const double *jacobian = work->attachments[node->attachment].jacobian;
    for (int k = 0; k < attachment->count; k++) {
        double sum = 0;
        for (int r = 0; r < 6; r++)
            sum += jacobian[attachment->count * r + k] * load[r];
        right[attachment->column[k]] += scale * sum;
    }
}

void yk_smooth_pull_frame(const yk_smooth_model *model, const yk_smooth_workspace *work, int frame,
                          const double *change, yk_vec3 *linear, yk_vec3 *angular)
{
    const node_model *node = &model->nodes[frame];
    double sum[6] = {0};

    /* A node: its own unknowns. */
    if (node->unknown >= 0)
        memcpy(sum, change + node->unknown, sizeof sum);

    /* J of the change */
    if (node->attachment >= 0) {
        const attachment_model *attachment = &model->attachments[node->attachment];
        const double *jacobian = work->attachments[node->attachment].jacobian;
        for (int k = 0; k < attachment->count; k++) {
            for (int r = 0; r < 6; r++)
                sum[r] += jacobian[attachment->count * r + k] * change[attachment->column[k]];
        }
    }

    *linear = yk_v3(sum[0], sum[1], sum[2]);
    *angular = yk_v3(sum[3], sum[4], sum[5]);
}

int yk_smooth_outline(const yk_smooth_model *model, int flexible)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return yk_flexible_kind_of(body)->outline(body);
}

yk_vec3 yk_smooth_outline_point(const yk_smooth_model *model, const yk_smooth_workspace *work,
                                int flexible, int point)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return yk_flexible_kind_of(body)->outline_point(model, work, flexible, point);
}
