/* Flexible bodies in the passes of assembly: their own equations, and the joints and forces at their places.
 *
 * The frame of a place follows the coordinates q of its body, dx = J dq. A joint with gradient g and reaction lambda at the
 * place has the gradient J^T g in the coordinates; its reaction, and every load f of a force, becomes J^T f, whose
 * derivative is J^T (df/dx) J plus that of J^T at a fixed load. So nothing is added to the unknowns for a place, and all
 * joints and forces work at it as they do at a node. */
#include <string.h>

#include "smooth/sink.h"

/* What moves one end of a joint or a force: unknowns, and the map from them to the frame (NULL: they are the frame's). */
typedef struct end {
    int count;
    const int *column;
    const unsigned char *moves;
    const double *jacobian;
    int own[6];
} end;

static void end_of(const yk_smooth_model *model, const yk_smooth_workspace *work, int frame, end *e)
{
    const node_model *node = &model->nodes[frame];
    *e = (end){0};
    if (node->attachment >= 0) {
        const attachment_model *attachment = &model->attachments[node->attachment];
        e->count = attachment->count, e->column = attachment->column, e->moves = attachment->moves;
        e->jacobian = work->attachments[node->attachment].jacobian;
    } else if (node->unknown >= 0) {
        for (int k = 0; k < 6; k++) e->own[k] = node->unknown + k;
        e->count = 6, e->column = e->own;
    }
}

/* Whether unknown k of an end can carry a force, or a torque, by structure. */
static bool carries(const end *e, int k, unsigned force, unsigned torque)
{
    if (!e->moves) return (k < 3 ? force >> k : torque >> (k - 3)) & 1u;
    /* the first three move along the global axes, of a frame or of a rod's node */
    if (k < 3) return force >> k & 1u;
    return (force && e->moves[k] & ATTACHMENT_MOVES) || (torque && e->moves[k] & ATTACHMENT_ROTATIONS);
}

void yk_smooth_chain_row(const yk_smooth_model *model, const yk_smooth_workspace *work, const joint_model *joint,
                         const yk_row *row, int equation, const yk_gradient *gradient, bool hold, sink *to,
                         sink_mode mode)
{
    unsigned mask = yk_row_mask(row);
    for (int side = 0; side < 2; side++) {
        const yk_vec3 force = gradient->force[side], torque = gradient->torque[side];
        const double load[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
        unsigned forces = mask >> (6 * side) & 7u, torques = mask >> (6 * side + 3) & 7u;
        if (row->kind == YK_ROW_POINT && yk_v3_norm2(joint->joint.offset[side]) == 0) torques = 0;
        end e;
        end_of(model, work, joint->node[side], &e);
        for (int k = 0; k < e.count; k++) {
            if (!carries(&e, k, forces, torques)) continue;
            double value = 0;
            if (!e.jacobian && !hold) value = load[k];
            for (int r = 0; r < 6 && e.jacobian && !hold; r++) value += e.jacobian[e.count * r + k] * load[r];
            put(to, mode, equation, e.column[k], value);
            put(to, mode, e.column[k], equation, value);
        }
    }
    put(to, mode, equation, equation, hold ? -1 : -work->compliance);
}

/* One of the four parts of a pair's matrix: loads on end i by motion of end j. */
static void chain_part(const end *a, const end *b, const unsigned bits[2], const double part[6][6], sink *to,
                       sink_mode mode)
{
    unsigned columns = bits[0] | bits[1], all = 7;
    for (int j = 0; j < b->count; j++) {
        double right[6];
        if (!carries(b, j, columns & 1u ? all : 0, columns & 2u ? all : 0)) continue;
        for (int r = 0; r < 6 && mode == SINK_ADD; r++) {
            right[r] = b->jacobian ? 0 : part[r][j];
            for (int k = 0; k < 6 && b->jacobian; k++) right[r] += part[r][k] * b->jacobian[b->count * k + j];
        }
        for (int i = 0; i < a->count; i++) {
            if (!carries(a, i, bits[0] ? all : 0, bits[1] ? all : 0)) continue;
            double sum = 0;
            if (mode == SINK_ADD && !a->jacobian) sum = right[i];
            for (int r = 0; r < 6 && mode == SINK_ADD && a->jacobian; r++)
                sum += a->jacobian[a->count * r + i] * right[r];
            put(to, mode, a->column[i], b->column[j], sum);
        }
    }
}

void yk_smooth_chain_blocks(const yk_smooth_model *model, const yk_smooth_workspace *work, const int node[2],
                            const yk_mat3 block[4][4], unsigned mask, sink *to, sink_mode mode)
{
    end e[2];
    end_of(model, work, node[0], &e[0]);
    end_of(model, work, node[1], &e[1]);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            /* of the rows of force and of torque: by displacement (1), by rotation (2) */
            const unsigned bits[2] = {mask >> (4 * (2 * a) + 2 * b) & 3u, mask >> (4 * (2 * a + 1) + 2 * b) & 3u};
            if (!(bits[0] | bits[1]) || !e[a].count || !e[b].count) continue;
            double part[6][6];
            for (int i = 0; i < 6 && mode == SINK_ADD; i++)
                for (int j = 0; j < 6; j++) part[i][j] = block[2 * a + i / 3][2 * b + j / 3].m[i % 3][j % 3];
            chain_part(&e[a], &e[b], bits, (const double(*)[6])part, to, mode);
        }
}

/* Modal bodies ---------------------------------------------------------------------------------------------------- */

/* In a step the loads beside the momenta were found with these; elsewhere accelerations, or rates, are zero. */
static void modal_loads(const yk_smooth_model *model, yk_smooth_workspace *work, const flexible_model *of,
                        const flexible_trial *at, const yk_ffrf_motion *motion, assembly_level level)
{
    static const double still[YK_FFRF_MODES_MAX] = {0};
    const yk_ffrf *body = &of->body->modal;
    yk_ffrf_loads *loads = at->loads;
    if (level != LEVEL_STEP) {
        yk_ffrf_motion coasting = *motion;
        coasting.acceleration = coasting.angular_acceleration = yk_v3(0, 0, 0);
        coasting.second = still;
        yk_ffrf_evaluate(body, &coasting, model->def.gravity, loads);
    }
    yk_wrench *load = &work->load[of->node];
    load->force = yk_v3_sub(load->force, loads->force);
    load->torque = yk_v3_sub(load->torque, loads->torque);
    for (int k = 0; k < body->modes; k++) work->coordinates[of->coordinate + k].load -= loads->modal[k];
    work->potential += loads->potential;
}

static void modal_pass(const yk_smooth_model *model, yk_smooth_workspace *work, const flexible_model *of,
                       const flexible_trial *at, assembly_level level, double weight, const scales *s, sink *to,
                       sink_mode mode)
{
    const trial_node *node = &work->trial[of->node];
    yk_ffrf_motion motion = {.frame = node->frame, .amplitude = at->value, .rate = at->rate};
    if (mode != SINK_RECORD) modal_loads(model, work, of, at, &motion, level);
    if (mode == SINK_NONE) return;
    int modes = of->body->coordinates, size = 6 + modes;
    int frame = model->nodes[of->node].unknown, first = model->coordinate_first + of->coordinate - 6;
    if (mode == SINK_ADD)
        yk_ffrf_tangent(&of->body->modal, &motion, model->def.gravity, s->c, work->rotation_weight, work->damping,
                        at->tangent);
    double scale = s->inertia * (model->nodes[of->node].keep ? weight : 1);
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            if (of->body->modal.coupled[size * i + j])
                put(to, mode, i < 6 ? frame + i : first + i, j < 6 ? frame + j : first + j,
                    scale * at->tangent[size * i + j]);
}

/* Rods ------------------------------------------------------------------------------------------------------------ */

static void rod_loads(const yk_smooth_model *model, yk_smooth_workspace *work, const flexible_model *of,
                      const flexible_trial *at)
{
    const yk_ancf *element = &of->body->element;
    const double g[3] = {model->def.gravity.x, model->def.gravity.y, model->def.gravity.z};
    for (int e = 0; e < of->body->elements; e++) {
        int first = yk_flexible_rod_node(e);
        trial_coordinate *trial = &work->coordinates[of->coordinate + first];
        yk_ancf_loads loads;
        yk_ancf_evaluate(element, at->value + first, at->rate + first, &loads);
        work->potential += loads.energy;
        for (int i = 0; i < YK_ANCF_COORDINATES; i++) {
            double weight = element->weight[i / 3] * g[i % 3];
            trial[i].load += loads.force[i] + weight;
            work->potential -= weight * trial[i].value;
        }
    }
}

static void rod_element(const yk_smooth_model *model, const yk_smooth_workspace *work, const flexible_model *of,
                        const flexible_trial *at, int e, const scales *s, sink *to, sink_mode mode)
{
    enum { N = YK_ANCF_COORDINATES };
    const yk_ancf *element = &of->body->element;
    int first = model->coordinate_first + of->coordinate + yk_flexible_rod_node(e);
    double(*transform)[N] = (double(*)[N])at->tangent, (*rate)[N] = transform + N;
    bool stiff = mode == SINK_ADD && s->node > 0, damped = stiff && element->damping_ratio > 0;
    if (stiff)
        yk_ancf_tangent(element, at->value + yk_flexible_rod_node(e), at->rate + yk_flexible_rod_node(e), transform,
                        damped ? rate : NULL);
    double inertia = s->inertia * (1 + s->c * work->damping);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double value = 0;
            if (mode == SINK_ADD && i % 3 == j % 3) value = inertia * element->mass[i / 3][j / 3];
            if (stiff) value -= s->node * transform[i][j];
            if (damped) value -= s->rate * rate[i][j];
            put(to, mode, first + i, first + j, value);
        }
}

void yk_smooth_flexible_pass(const yk_smooth_model *model, yk_smooth_workspace *work, assembly_level level,
                             double weight, const scales *s, sink *to, sink_mode mode)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        const flexible_trial *at = &work->flexibles[i];
        if (of->body->kind == YK_FLEXIBLE_MODAL) {
            modal_pass(model, work, of, at, level, weight, s, to, mode);
            continue;
        }
        if (mode != SINK_RECORD) rod_loads(model, work, of, at);
        for (int e = 0; e < of->body->elements && mode != SINK_NONE; e++)
            rod_element(model, work, of, at, e, s, to, mode);
    }
}

/* Places ---------------------------------------------------------------------------------------------------------- */

static void spread_modal(yk_smooth_workspace *work, const flexible_model *of, const attachment_model *attachment,
                         const attachment_trial *there, yk_vec3 force, yk_vec3 torque)
{
    double modal[YK_FFRF_MODES_MAX];
    int modes = of->body->coordinates;
    for (int k = 0; k < modes; k++) modal[k] = 0;
    yk_wrench *frame = &work->load[of->node];
    yk_vec3 about = yk_ffrf_node_spread(&of->body->nodes[attachment->attachment], modes, &work->trial[of->node].frame,
                                        &there->pose, force, torque, modal);
    frame->force = yk_v3_add(frame->force, force);
    frame->torque = yk_v3_add(frame->torque, about);
    for (int k = 0; k < modes; k++) work->coordinates[of->coordinate + k].load += modal[k];
}

/* J^T of the load on a place. */
static void spread_load(const yk_smooth_model *model, yk_smooth_workspace *work, const attachment_model *attachment,
                        const attachment_trial *there)
{
    const flexible_model *of = &model->flexibles[attachment->flexible];
    const yk_wrench *load = &work->load[attachment->frame];
    yk_vec3 force = yk_v3_add(load->force, there->port.force), torque = yk_v3_add(load->torque, there->port.torque);
    if (of->body->kind == YK_FLEXIBLE_MODAL) {
        spread_modal(work, of, attachment, there, force, torque);
        return;
    }
    const double value[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    for (int k = 0; k < attachment->count; k++) {
        double general = 0;
        for (int r = 0; r < 6; r++) general += there->jacobian[attachment->count * r + k] * value[r];
        work->coordinates[attachment->column[k] - model->coordinate_first].load += general;
    }
}

/* What ports exert is input, not part of the model: it adds nothing to the matrix, not even by rounding. */
static void spread_stiffness(const yk_smooth_model *model, yk_smooth_workspace *work,
                             const attachment_model *attachment, const attachment_trial *there, const scales *s,
                             sink *to, sink_mode mode)
{
    const flexible_model *of = &model->flexibles[attachment->flexible];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    const yk_wrench *load = &work->load[attachment->frame];
    int n = attachment->count;
    if (mode == SINK_ADD) {
        memset(at->tangent, 0, (size_t)(n * n) * sizeof *at->tangent);
        if (s->node > 0 && of->body->kind == YK_FLEXIBLE_MODAL) {
            yk_ffrf_node_stiffness(&of->body->nodes[attachment->attachment], of->body->coordinates,
                                   &work->trial[of->node].frame, at->value, &there->pose, load->force, load->torque,
                                   -s->node, at->tangent);
        } else if (s->node > 0) {
            const double *from = at->value + yk_flexible_rod_node(attachment->attachment);
            double section[YK_ANCF_SECTION];
            for (int k = 0; k < YK_ANCF_SECTION; k++) section[k] = from[k < 3 ? k : k + 3];
            yk_ancf_section_stiffness(section, load->torque, -s->node, at->tangent);
        }
    }
    /* The position of a rod's node is a coordinate: forces add nothing. Nor does a force by the frame's displacement. */
    for (int j = 3; j < n; j++)
        for (int i = 3; i < n; i++) put(to, mode, attachment->column[i], attachment->column[j], at->tangent[n * i + j]);
}

void yk_smooth_place_pass(const yk_smooth_model *model, yk_smooth_workspace *work, const scales *s, sink *to,
                          sink_mode mode)
{
    for (int i = 0; i < model->def.attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        if (mode != SINK_RECORD) spread_load(model, work, attachment, &work->attachments[i]);
        if (mode != SINK_NONE) spread_stiffness(model, work, attachment, &work->attachments[i], s, to, mode);
    }
}
