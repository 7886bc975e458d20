/* Flexible bodies in a model: sharing of bodies between models; coordinates; frames of attachments;
 * momenta and energies; and in the passes of assembly the equations of the bodies, and the joints
 * and forces at their attachments.
 *
 * The frame of an attachment follows the coordinates q of its body, dx = J dq, so that an
 * attachment has no unknowns. A joint with gradient g and reaction lambda at the attachment has the
 * gradient J^T g in the coordinates. Its reaction, and every load f of a force, becomes J^T f,
 * whose derivative is J^T (df/dx) J plus that of J^T at constant load. So all joints and forces act
 * on an attachment as on a node. */
#include <string.h>

#include "math/so3.h"
#include "multibody/flexible_kind.h"

/* Sharing -------------------------------------------------------------------------------------- */

yk_flexible *yk_flexible_begin(yk_context *context)
{
    yk_flexible *body = yk_allocate(context, 1, sizeof *body);
    if (!body)
        return NULL;

    /* One user: the caller. */
    body->context = context;
    body->users = 1;
    return body;
}

yk_flexible *yk_flexible_keep(const yk_flexible *body)
{
    yk_flexible *shared = (yk_flexible *)(uintptr_t)body;
    shared->users++;
    return shared;
}

void yk_flexible_release(yk_flexible *body)
{
    if (!body || --body->users > 0)
        return;

    yk_context *context = body->context;
    yk_ffrf_destroy(context, &body->modal);
    yk_free(context, body->nodes);
    yk_free(context, body->bends);
    yk_free(context, body->amplitude_units);
    yk_free(context, body->store);
    yk_free(context, body);
}

double yk_flexible_mass(const yk_flexible *body)
{
    if (body->kind == YK_FLEXIBLE_MODAL)
        return body->modal.mass;
    return body->elements * (body->element.weight[0] + body->element.weight[6]);
}

yk_vec3 yk_flexible_attachment(const yk_flexible *body, int attachment)
{
    if (body->kind == YK_FLEXIBLE_MODAL)
        return body->nodes[attachment].position;
    return yk_v3(body->element.length * attachment, 0, 0);
}

/* The largest displacement of the body per unit of a coordinate (m). */
static double reach_of(const yk_flexible *body, int coordinate)
{
    if (body->kind == YK_FLEXIBLE_MODAL)
        return body->modal.reach[coordinate];

    /* Relative to the position of the node: gradients along the rod by its length, across it by the
     * size of the section. */
    int vector = coordinate % (YK_ANCF_NODE + YK_ANCF_MIDDLE) / 3;

    return sqrt(body->element.mass[vector][vector] / body->element.mass[0][0]);
}

/* In a model ----------------------------------------------------------------------------------- */

int yk_multibody_coordinates_of(const yk_multibody_description *def)
{
    int count = 0;
    for (int i = 0; i < def->flexible_count; i++)
        count += def->flexibles[i].body->coordinates;

    return count;
}

int yk_multibody_frame_of(const yk_multibody_model *model, int node)
{
    /* Nodes, the ground, prescribed frames, attachments. */
    if (node == YK_GROUND_INDEX)
        return model->node_count;
    if (node < model->node_count)
        return node;
    return model->attachment_first + node - model->node_count;
}

yk_multibody_node_def yk_multibody_start_pose(const yk_multibody_description *def, int node)
{
    if (node == YK_GROUND_INDEX)
        return yk_multibody_node_default();
    if (node < def->node_count)
        return def->nodes[node];

    /* The origin of the body: its floating frame, or the start of a rod. */
    const yk_multibody_attachment_def *attachment = &def->attachments[node - def->node_count];
    const yk_multibody_flexible_def *flexible = &def->flexibles[attachment->flexible];
    yk_multibody_node_def at = {
        .position = flexible->position,
        .orientation = flexible->orientation,
        .velocity = flexible->velocity,
        .angular_velocity = flexible->angular_velocity,
    };
    if (flexible->body->kind == YK_FLEXIBLE_MODAL)
        at = def->nodes[flexible->node];
    at.name = attachment->name;

    /* The undeformed body relative to it. */
    yk_vec3 own = yk_flexible_attachment(flexible->body, attachment->attachment);
    yk_vec3 arm = yk_q_rotate(at.orientation, own);
    at.position = yk_v3_add(at.position, arm);
    at.velocity = yk_v3_add(at.velocity, yk_v3_cross(at.angular_velocity, arm));

    return at;
}

/* Compilation ---------------------------------------------------------------------------------- */

/* Values, rates, second derivatives, and the tangent of one element. */
size_t yk_multibody_flexible_words(const yk_flexible *body)
{
    return 3 * (size_t)body->coordinates + yk_flexible_kind_of(body)->tangent_words(body);
}

/* The map of an attachment, and its data for loads. */
size_t yk_multibody_attachment_words(const yk_flexible *body, const attachment_model *attachment)
{
    return 6 * (size_t)attachment->count + yk_flexible_kind_of(body)->attachment_words(body);
}

yk_status yk_multibody_compile_flexibles(yk_multibody_model *model)
{
    const yk_multibody_description *def = &model->def;
    yk_context *context = model->context;

    /* Numbers of coordinates, and of unknowns that move attachments. */
    size_t coordinates = (size_t)yk_multibody_coordinates_of(def);
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

    /* Bodies, and the scales of their coordinates. */
    int coordinate = 0;
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_multibody_flexible_def *flexible = &def->flexibles[i];
        const yk_flexible *body = flexible->body;
        bool modal = body->kind == YK_FLEXIBLE_MODAL;

        model->flexibles[i] = (flexible_model){
            .name = flexible->name,
            .body = body,
            .node = modal ? flexible->node : -1,
            .coordinate = coordinate,
        };

        for (int k = 0; k < body->coordinates; k++) {
            double reach = reach_of(body, k);
            model->reach[coordinate + k] = reach;
            model->fraction[coordinate + k] = reach / model->length_scale;

            /* Gradients of a rod rotate its sections, so they count as rotations. */
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

void yk_multibody_release_flexibles(yk_multibody_model *model)
{
    yk_context *context = model->context;

    yk_free(context, model->flexibles);
    yk_free(context, model->attachments);
    yk_free(context, model->reach);
    yk_free(context, model->fraction);
    yk_free(context, model->attachment_columns);
    yk_free(context, model->attachment_moves);

    model->flexibles = NULL;
    model->attachments = NULL;
    model->reach = NULL;
    model->fraction = NULL;
    model->attachment_columns = NULL;
    model->attachment_moves = NULL;
}

void yk_multibody_start_flexibles(const yk_multibody_model *model, yk_multibody_state *state)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        yk_flexible_kind_of(of->body)->start(&model->def.flexibles[i],
                                             &state->coordinate_now[of->coordinate]);
    }
}

/* Attachments ---------------------------------------------------------------------------------- */

/* The kind of the body that an attachment belongs to. */
static const flexible_kind *kind_at(const yk_multibody_model *model, int attachment)
{
    return yk_flexible_kind_of(model->flexibles[model->attachments[attachment].flexible].body);
}

/* Copies the trial's coordinates to contiguous arrays, from which the bodies read them. */
static void gather_coordinates(const yk_multibody_model *model, yk_multibody_workspace *work)
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

void yk_multibody_place_flexibles(const yk_multibody_model *model, yk_multibody_workspace *work,
                                  unsigned what)
{
    gather_coordinates(model, work);

    for (int i = 0; i < model->def.attachment_count; i++)
        kind_at(model, i)->locate(model, work, i, what);
}

void yk_multibody_show_attachments(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    if (model->def.flexible_count == 0)
        return;

    /* A restored state contains only the orientation of its nodes; outputs must not depend on more. */
    for (int i = 0; i < model->def.flexible_count; i++) {
        if (model->flexibles[i].node < 0)
            continue;

        trial_node *node = &work->trial[model->flexibles[i].node];
        node->frame.rotation = yk_q_matrix(yk_q_unit(node->orientation));
    }

    yk_multibody_place_flexibles(model, work, ATTACHMENT_FRAMES);
}

const trial_node *yk_multibody_shown(const yk_multibody_model *model,
                                     const yk_multibody_workspace *work, int frame, trial_node *own)
{
    int attachment = model->nodes[frame].attachment;
    if (attachment < 0)
        return &work->trial[frame];

    /* Orientation and accelerations, which no equation needs. */
    *own = work->trial[frame];
    own->orientation = yk_so3_quat(own->frame.rotation);
    kind_at(model, attachment)->accelerate(model, work, attachment, own);

    return own;
}

void yk_multibody_accelerate_attachments(const yk_multibody_model *model,
                                         yk_multibody_workspace *work)
{
    for (int i = 0; i < model->def.attachment_count; i++) {
        trial_node own;
        int frame = model->attachments[i].frame;
        work->trial[frame] = *yk_multibody_shown(model, work, frame, &own);
    }
}

void yk_multibody_push_frame(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int frame, double scale, const yk_wrench *wrench, double *right)
{
    const node_model *node = &model->nodes[frame];
    const yk_vec3 force = wrench->force;
    const yk_vec3 torque = wrench->torque;
    const double load[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};

    /* On a node the load acts unchanged. */
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

void yk_multibody_pull_frame(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int frame, const double *change, yk_vec3 *linear, yk_vec3 *angular)
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

int yk_multibody_outline(const yk_multibody_model *model, int flexible)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return yk_flexible_kind_of(body)->outline(body);
}

yk_vec3 yk_multibody_outline_point(const yk_multibody_model *model,
                                   const yk_multibody_workspace *work, int flexible, int point)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return yk_flexible_kind_of(body)->outline_point(model, work, flexible, point);
}

/* Momenta and energies ------------------------------------------------------------------------- */

void yk_multibody_flexible_inertias(const yk_multibody_model *model, yk_multibody_workspace *work,
                                    bool with_rates)
{
    gather_coordinates(model, work);

    /* Rates of momenta are needed in a step only. */
    double inverse = with_rates ? 1 / work->c : 0;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        /* workspace; copied again before the next use */
        double *momentum = work->flexibles[i].second;

        yk_flexible_kind_of(of->body)->momenta(model, work, i, with_rates, momentum);

        /* Rates in a step: p' = (p - past) / c. */
        trial_coordinate *trial = &work->coordinates[of->coordinate];
        for (int k = 0; k < of->body->coordinates; k++) {
            trial[k].momentum = momentum[k];
            if (with_rates)
                trial[k].momentum_rate = inverse * (trial[k].momentum - trial[k].momentum_past);
        }
    }
}

void yk_multibody_flexible_momenta(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    /* They overwrite the arrays of the trial, which are copied again. */
    gather_coordinates(model, work);
    for (int i = 0; i < model->def.flexible_count; i++)
        yk_flexible_kind_of(model->flexibles[i].body)->momentum_rates(model, work, i);

    gather_coordinates(model, work);
}

/* For a model between steps, whose attachments have been evaluated: the copied values are those of
 * the trial. */
static void sum_energies(const yk_multibody_model *model, const yk_multibody_workspace *work,
                         yk_energy *energy, double *loss)
{
    for (int i = 0; i < model->def.flexible_count; i++)
        yk_flexible_kind_of(model->flexibles[i].body)->energy(model, work, i, energy, loss);
}

void yk_multibody_flexible_energy(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, yk_energy *energy)
{
    double loss = 0;
    sum_energies(model, work, energy, &loss);
}

double yk_multibody_flexible_loss(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work)
{
    /* Without damping the sum is zero. */
    bool damped = false;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const yk_flexible *body = model->flexibles[i].body;
        damped |= body->modal.damped || body->element.damping_ratio > 0;
    }

    if (!damped)
        return 0;

    yk_energy energy = {0};
    double loss = 0;
    sum_energies(model, work, &energy, &loss);

    return loss;
}

double yk_multibody_flexible_strain(const yk_multibody_model *model,
                                    const yk_multibody_workspace *work, int flexible)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return yk_flexible_kind_of(body)->strain_energy(body, &work->flexibles[flexible]);
}

/* Equations ------------------------------------------------------------------------------------ */

/* One end of a joint or a force: unknowns that move it, and the map from them to the frame (NULL:
 * they are those of the frame). */
typedef struct end {
    int count;
    const int *column;
    const unsigned char *moves;
    const double *jacobian;
    int own[6];
} end;

static void end_of(const yk_multibody_model *model, const yk_multibody_workspace *work, int frame,
                   end *e)
{
    const node_model *node = &model->nodes[frame];
    *e = (end){0};

    /* An attachment of a flexible body, a node, or a fixed frame. */
    if (node->attachment >= 0) {
        const attachment_model *attachment = &model->attachments[node->attachment];
        e->count = attachment->count;
        e->column = attachment->column;
        e->moves = attachment->moves;
        e->jacobian = work->attachments[node->attachment].jacobian;
    } else if (node->unknown >= 0) {
        for (int k = 0; k < 6; k++)
            e->own[k] = node->unknown + k;
        e->count = 6;
        e->column = e->own;
    }
}

/* Structure of unknown k of an end: whether it can be moved by a force, or by a torque; masks of
 * their components. */
static bool carries(const end *e, int k, unsigned force, unsigned torque)
{
    /* The first three are displacements along the global axes, of a frame or of a rod's node. */
    if (k < 3)
        return force >> k & 1u;
    if (!e->moves)
        return torque >> (k - 3) & 1u;

    bool moves = force && e->moves[k] & ATTACHMENT_MOVES;
    bool rotates = torque && e->moves[k] & ATTACHMENT_ROTATIONS;

    return moves || rotates;
}

void yk_multibody_chain_row(const yk_multibody_model *model, const yk_multibody_workspace *work,
                            const joint_model *joint, const yk_row *row, int equation,
                            const yk_gradient *gradient, bool hold, sink *to, sink_mode mode)
{
    unsigned mask = yk_row_mask(row);
    for (int side = 0; side < 2; side++) {
        const yk_vec3 force = gradient->force[side];
        const yk_vec3 torque = gradient->torque[side];
        const double load[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
        unsigned forces = mask >> (6 * side) & 7u;
        unsigned torques = mask >> (6 * side + 3) & 7u;

        /* A marker at the origin has no arm. */
        if (row->kind == YK_ROW_POINT && yk_v3_norm2(joint->joint.offset[side]) == 0)
            torques = 0;

        /* J^T g, in the row of the constraint and in the column of its multiplier. */
        end e;
        end_of(model, work, joint->node[side], &e);
        for (int k = 0; k < e.count; k++) {
            if (!carries(&e, k, forces, torques))
                continue;

            double value = 0;
            if (!e.jacobian && !hold)
                value = load[k];
            for (int r = 0; r < 6 && e.jacobian && !hold; r++)
                value += e.jacobian[e.count * r + k] * load[r];
            sink_put(to, mode, equation, e.column[k], value);
            sink_put(to, mode, e.column[k], equation, value);
        }
    }

    if (!joint->adds)
        sink_put(to, mode, equation, equation, hold ? -1 : -work->compliance);
}

/* J_a^T part J_b: loads on end a by motion of end b. `bits` of the rows of force and of torque:
 * by displacement (1), by rotation (2). */
static void chain_part(const end *a, const end *b, const unsigned bits[2], double part[6][6],
                       sink *to, sink_mode mode)
{
    const unsigned all = 7;

    unsigned columns = bits[0] | bits[1];
    unsigned by_displacement = columns & 1u ? all : 0;
    unsigned by_rotation = columns & 2u ? all : 0;
    unsigned of_force = bits[0] ? all : 0;
    unsigned of_torque = bits[1] ? all : 0;

    for (int j = 0; j < b->count; j++) {
        if (!carries(b, j, by_displacement, by_rotation))
            continue;

        /* part J_b */
        double right[6];
        for (int r = 0; r < 6 && mode == SINK_ADD; r++) {
            right[r] = b->jacobian ? 0 : part[r][j];
            for (int k = 0; k < 6 && b->jacobian; k++)
                right[r] += part[r][k] * b->jacobian[b->count * k + j];
        }

        /* J_a^T times that. */
        for (int i = 0; i < a->count; i++) {
            if (!carries(a, i, of_force, of_torque))
                continue;

            double sum = 0;
            if (mode == SINK_ADD && !a->jacobian)
                sum = right[i];
            for (int r = 0; r < 6 && mode == SINK_ADD && a->jacobian; r++)
                sum += a->jacobian[a->count * r + i] * right[r];
            sink_put(to, mode, a->column[i], b->column[j], sum);
        }
    }
}

void yk_multibody_chain_blocks(const yk_multibody_model *model, const yk_multibody_workspace *work,
                               const int node[2], const yk_mat3 block[4][4], unsigned mask,
                               sink *to, sink_mode mode)
{
    end e[2];
    end_of(model, work, node[0], &e[0]);
    end_of(model, work, node[1], &e[1]);

    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            unsigned by_force = mask >> (8 * a + 2 * b) & 3u;
            unsigned by_torque = mask >> (8 * a + 4 + 2 * b) & 3u;
            const unsigned bits[2] = {by_force, by_torque};
            if (!(bits[0] | bits[1]) || !e[a].count || !e[b].count)
                continue;

            /* The blocks of both ends as one matrix of six rows. */
            double part[6][6];
            for (int i = 0; i < 6 && mode == SINK_ADD; i++) {
                for (int j = 0; j < 6; j++)
                    part[i][j] = block[2 * a + i / 3][2 * b + j / 3].m[i % 3][j % 3];
            }
            chain_part(&e[a], &e[b], bits, part, to, mode);
        }
    }
}

void yk_multibody_flexible_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                                assembly_level level, double weight, sink *to, sink_mode mode)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_kind *kind = yk_flexible_kind_of(model->flexibles[i].body);
        kind->pass(model, work, i, level, weight, to, mode);
    }
}

void yk_multibody_place_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                             sink *to, sink_mode mode)
{
    for (int i = 0; i < model->def.attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        const flexible_kind *kind =
            yk_flexible_kind_of(model->flexibles[attachment->flexible].body);
        const yk_wrench *load = &work->load[attachment->frame];

        /* J^T of the load on the attachment, including loads of ports. */
        if (mode != SINK_RECORD) {
            const yk_wrench *port = &work->attachments[i].port;
            kind->spread_load(model, work, i, yk_v3_add(load->force, port->force),
                              yk_v3_add(load->torque, port->torque));
        }

        if (mode == SINK_NONE)
            continue;

        /* Its derivative. Loads of ports are inputs, not part of the model: they add nothing to the
         * matrix, not even rounding errors. */
        int n = attachment->count;
        double *tangent = work->flexibles[attachment->flexible].tangent;
        if (mode == SINK_ADD) {
            memset(tangent, 0, (size_t)(n * n) * sizeof *tangent);
            if (to->node > 0)
                kind->spread_stiffness(model, work, i, load, -to->node);
        }

        /* The position of a rod's node is a coordinate, so forces add nothing. Neither does a force
         * with a displacement of the frame. */
        for (int j = 3; j < n; j++) {
            for (int k = 3; k < n; k++)
                sink_put(to, mode, attachment->column[k], attachment->column[j],
                         tangent[n * k + j]);
        }
    }
}
