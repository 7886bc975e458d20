/* Flexible bodies in the equations: momenta and energies, and in the passes of assembly their own
 * equations and the joints and forces at their attachments.
 *
 * The frame of an attachment follows the coordinates q of its body, dx = J dq. A joint with
 * gradient g and reaction lambda at the attachment has the gradient J^T g in the coordinates; its
 * reaction, and every load f of a force, becomes J^T f, whose derivative is J^T (df/dx) J plus
 * that of J^T at a fixed load. So nothing is added to the unknowns for an attachment, and all
 * joints and forces work at it as they do at a node. */
#include <string.h>

#include "smooth/flexible_kind.h"

/* Momenta and energies ------------------------------------------------------------------------- */

void yk_smooth_flexible_inertias(const yk_smooth_model *model, yk_smooth_workspace *work,
                                 bool with_rates)
{
    yk_smooth_gather_flexibles(model, work);

    /* Rates of momenta belong to a step. */
    double inverse = with_rates ? 1 / work->c : 0;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        double *momentum = work->flexibles[i].second; /* gathered anew before it is read again */

        yk_flexible_kind_of(of->body)->momenta(model, work, i, with_rates, momentum);

        /* Their rates as the step has them: p' = (p - past) / c. */
        trial_coordinate *trial = &work->coordinates[of->coordinate];
        for (int k = 0; k < of->body->coordinates; k++) {
            trial[k].momentum = momentum[k];
            if (with_rates)
                trial[k].momentum_rate = inverse * (trial[k].momentum - trial[k].momentum_past);
        }
    }
}

void yk_smooth_flexible_momenta(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    /* They use the arrays of the trial, which are gathered again. */
    yk_smooth_gather_flexibles(model, work);
    for (int i = 0; i < model->def.flexible_count; i++)
        yk_flexible_kind_of(model->flexibles[i].body)->momentum_rates(model, work, i);

    yk_smooth_gather_flexibles(model, work);
}

/* Asks for a model between steps, whose attachments have been shown: the gathered values are
 * those of the trial. */
static void sum_energies(const yk_smooth_model *model, const yk_smooth_workspace *work,
                         yk_energy *energy, double *loss)
{
    for (int i = 0; i < model->def.flexible_count; i++)
        yk_flexible_kind_of(model->flexibles[i].body)->energy(model, work, i, energy, loss);
}

void yk_smooth_flexible_energy(const yk_smooth_model *model, const yk_smooth_workspace *work,
                               yk_energy *energy)
{
    double loss = 0;
    sum_energies(model, work, energy, &loss);
}

double yk_smooth_flexible_loss(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    /* Where nothing is damped there is nothing to sum. */
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

double yk_smooth_flexible_strain(const yk_smooth_model *model, const yk_smooth_workspace *work,
                                 int flexible)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return yk_flexible_kind_of(body)->strain_energy(body, &work->flexibles[flexible]);
}

/* Equations ------------------------------------------------------------------------------------ */

/* What moves one end of a joint or a force: unknowns, and the map from them to the frame (NULL:
 * they are the frame's). */
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

    /* An attachment of a flexible body, a node, or what does not move. */
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

/* Whether unknown k of an end can carry a force, or a torque, by structure: masks of their
 * components. */
static bool carries(const end *e, int k, unsigned force, unsigned torque)
{
    /* The first three move along the global axes, of a frame or of a rod's node. */
    if (k < 3)
        return force >> k & 1u;
    if (!e->moves)
        return torque >> (k - 3) & 1u;

    bool moves = force && e->moves[k] & ATTACHMENT_MOVES;
    bool rotates = torque && e->moves[k] & ATTACHMENT_ROTATIONS;

    return moves || rotates;
}

void yk_smooth_chain_row(const yk_smooth_model *model, const yk_smooth_workspace *work,
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

        /* A marker in the origin has no arm. */
        if (row->kind == YK_ROW_POINT && yk_v3_norm2(joint->joint.offset[side]) == 0)
            torques = 0;

        /* J^T g, in the row of the constraint and in the column of its multiplier */
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
            put(to, mode, equation, e.column[k], value);
            put(to, mode, e.column[k], equation, value);
        }
    }

    put(to, mode, equation, equation, hold ? -1 : -work->compliance);
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
            put(to, mode, a->column[i], b->column[j], sum);
        }
    }
}

void yk_smooth_chain_blocks(const yk_smooth_model *model, const yk_smooth_workspace *work,
                            const int node[2], const yk_mat3 block[4][4], unsigned mask, sink *to,
                            sink_mode mode)
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

void yk_smooth_flexible_pass(const yk_smooth_model *model, yk_smooth_workspace *work,
                             assembly_level level, double weight, const scales *s, sink *to,
                             sink_mode mode)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_kind *kind = yk_flexible_kind_of(model->flexibles[i].body);
        kind->pass(model, work, i, level, weight, s, to, mode);
    }
}

void yk_smooth_place_pass(const yk_smooth_model *model, yk_smooth_workspace *work, const scales *s,
                          sink *to, sink_mode mode)
{
    for (int i = 0; i < model->def.attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        const flexible_kind *kind =
            yk_flexible_kind_of(model->flexibles[attachment->flexible].body);
        const yk_wrench *load = &work->load[attachment->frame];

        /* J^T of the load on the attachment, with what ports exert. */
        if (mode != SINK_RECORD) {
            const yk_wrench *port = &work->attachments[i].port;
            kind->spread_load(model, work, i, yk_v3_add(load->force, port->force),
                              yk_v3_add(load->torque, port->torque));
        }

        if (mode == SINK_NONE)
            continue;

        /* Its derivative. What ports exert is input, not part of the model: it adds nothing to
         * the matrix, not even by rounding. */
        int n = attachment->count;
        double *tangent = work->flexibles[attachment->flexible].tangent;
        if (mode == SINK_ADD) {
            memset(tangent, 0, (size_t)(n * n) * sizeof *tangent);
            if (s->node > 0)
                kind->spread_stiffness(model, work, i, load, -s->node);
        }

        /* The position of a rod's node is a coordinate: forces add nothing. Nor does a force by
         * the frame's displacement. */
        for (int j = 3; j < n; j++) {
            for (int k = 3; k < n; k++)
                put(to, mode, attachment->column[k], attachment->column[j], tangent[n * k + j]);
        }
    }
}
