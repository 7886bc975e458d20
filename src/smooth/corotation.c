/* Kept factors that turn with the bodies.
 *
 * The inertia of a thin rod, the stiffness of a beam and that of a rod in absolute coordinates
 * differ by orders of magnitude along and across. In global axes such a block of the matrix is
 * out of date as soon as its body has turned by a fraction of that ratio; in the body's own axes
 * it hardly changes. So equations and unknowns of such bodies are turned back, vector by vector,
 * to where they were when the factors were made,
 *
 *   x = D A^-1 D^T b,    D = R R_then^T  on every vector that is carried by R,
 *
 * which is the matrix assembled in the axes of the bodies and kept there. A and its assembly know
 * nothing of it.
 *
 * Carried are both vectors of a node with slender inertia, of a floating frame and of a beam's
 * node, by the node's own rotation; and the vectors at a node of a rod, by the section there.
 * Other nodes have nothing to gain. */
#include "smooth/linear_solver.h"

/* End nodes and middles of a rod take turns. */
static int stations(const yk_flexible *body)
{
    return body->kind == YK_FLEXIBLE_ROD ? 2 * body->elements + 1 : 0;
}

yk_status yk_smooth_list_carried(const yk_smooth_model *model, yk_linear_solver *solver)
{
    const yk_smooth_description *def = &model->def;
    yk_context *context = model->context;
    bool *chosen = yk_allocate(context, (size_t)model->node_count, sizeof *chosen);
    if (!chosen)
        return YK_ERROR_MEMORY;

    /* Which nodes have something to gain: slender ones, floating frames, those of beams. */
    for (int i = 0; i < model->node_count; i++) {
        /* The smallest moment below about a thirtieth of the others: det J < (tr J)^3 / 240. */
        const yk_mat3 *j = &model->nodes[i].inertia.tensor;
        yk_vec3 x = yk_m3_column(j, 0);
        yk_vec3 y = yk_m3_column(j, 1);
        yk_vec3 z = yk_m3_column(j, 2);
        double trace = x.x + y.y + z.z;
        chosen[i] = 240 * yk_v3_dot(x, yk_v3_cross(y, z)) < trace * trace * trace;
    }
    for (int i = 0; i < def->flexible_count; i++) {
        if (model->flexibles[i].node >= 0)
            chosen[model->flexibles[i].node] = true;
    }

    for (int i = 0; i < def->beam_count; i++) {
        const int *node = model->beams[i].node;
        for (int k = 0; k < YK_BEAM_NODES; k++) {
            if (model->nodes[node[k]].unknown >= 0)
                chosen[node[k]] = true;
        }
    }

    /* How many vectors that makes. */
    int count = 0;
    for (int i = 0; i < model->node_count; i++)
        count += chosen[i];
    for (int i = 0; i < def->flexible_count; i++)
        count += stations(model->flexibles[i].body);

    solver->carried = yk_allocate(context, (size_t)count, sizeof *solver->carried);
    solver->carried_count = solver->carried ? count : 0;

    /* Both vectors of a node. */
    carried_vectors *made = solver->carried;
    for (int i = 0; i < model->node_count && solver->carried; i++) {
        if (chosen[i])
            *made++ = (carried_vectors){.first = model->nodes[i].unknown, .vectors = 2, .node = i};
    }

    /* At the nodes of rods r_y and r_z come last. */
    for (int i = 0; i < def->flexible_count && solver->carried; i++) {
        const flexible_model *of = &model->flexibles[i];
        int first = model->coordinate_first + of->coordinate;

        for (int k = 0; k < stations(of->body); k++) {
            int size = k % 2 ? YK_ANCF_MIDDLE : YK_ANCF_NODE;
            *made++ = (carried_vectors){
                .first = first, .vectors = size / 3, .node = -1, .section = first + size - 6};
            first += size;
        }
    }

    yk_release(context, chosen);
    return solver->carried ? YK_OK : YK_ERROR_MEMORY;
}

static yk_mat3 axes_of(const yk_smooth_model *model, const yk_smooth_workspace *work,
                       const carried_vectors *of)
{
    if (of->node >= 0)
        return work->trial[of->node].frame.rotation;

    /* The section of a rod: across r_y and r_z, then along r_y. */
    const trial_coordinate *at = &work->coordinates[of->section - model->coordinate_first];
    yk_vec3 r_y = {at[0].value, at[1].value, at[2].value};
    yk_vec3 r_z = {at[3].value, at[4].value, at[5].value};
    yk_vec3 x = yk_v3_unit(yk_v3_cross(r_y, r_z));
    yk_vec3 y = yk_v3_unit(r_y);

    return yk_m3_columns(x, y, yk_v3_cross(x, y));
}

void yk_smooth_carry_from_here(const yk_smooth_model *model, const yk_smooth_workspace *work,
                               yk_linear_solver *solver)
{
    for (int k = 0; k < solver->carried_count; k++) {
        carried_vectors *of = &solver->carried[k];
        of->then = axes_of(model, work, of);
    }
}

void yk_smooth_solve_carried(const yk_smooth_model *model, const yk_smooth_workspace *work,
                             yk_linear_solver *solver, double *vector)
{
    /* D^T b */
    for (int k = 0; k < solver->carried_count; k++) {
        carried_vectors *of = &solver->carried[k];
        of->rotation = yk_m3_mul(axes_of(model, work, of), yk_m3_transpose(of->then));

        double *at = &vector[of->first];
        for (int i = 0; i < of->vectors; i++, at += 3) {
            yk_vec3 v = yk_m3_apply_transposed(of->rotation, yk_v3(at[0], at[1], at[2]));
            at[0] = v.x;
            at[1] = v.y;
            at[2] = v.z;
        }
    }

    yk_smooth_solve(model, solver, vector);

    /* D x */
    for (int k = 0; k < solver->carried_count; k++) {
        const carried_vectors *of = &solver->carried[k];
        double *at = &vector[of->first];
        for (int i = 0; i < of->vectors; i++, at += 3) {
            yk_vec3 v = yk_m3_apply(of->rotation, yk_v3(at[0], at[1], at[2]));
            at[0] = v.x;
            at[1] = v.y;
            at[2] = v.z;
        }
    }
}
