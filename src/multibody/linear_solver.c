/* Pattern, order of elimination and scaling of the matrix; factors, which are kept over steps and
 * rotate with the bodies; solutions.
 *
 * Order of elimination: nodes by minimum degree of the graph of joints and forces; the equations of
 * each joint directly after the first of its nodes if that node has enough remaining degrees of
 * freedom, otherwise after the second. A pivot of an equation is then -G M^-1 G^T and not the zero
 * in the matrix, and a chain is eliminated from its ends inwards without fill-in. */
#include "multibody/linear_solver.h"

#include <string.h>

#include "multibody/assemble.h"

static const int REFINEMENTS = 6;

/* The node with which an end of a joint or force moves: the floating frame of a modal body; -1 if
 * there is none, or only coordinates, which are eliminated first. */
static int graph_node(const yk_multibody_model *model, int frame)
{
    const node_model *node = &model->nodes[frame];
    if (node->attachment >= 0)
        return model->flexibles[model->attachments[node->attachment].flexible].node;

    return node->unknown < 0 ? -1 : frame;
}

static size_t add_edge(yk_sparse_entry *edges, size_t count, int a, int b)
{
    if (a < 0 || b < 0)
        return count;

    /* Both ways. */
    edges[count++] = (yk_sparse_entry){a, b};
    edges[count++] = (yk_sparse_entry){b, a};
    return count;
}

/* The node after which each joint's equations come, -1: after all. */
static void assign_joints(const yk_multibody_model *model, const int *node_order, int *rank,
                          int *freedom, int *owner)
{
    /* A node can have six rows before its pivots are used up. */
    for (int k = 0; k < model->node_count; k++) {
        rank[node_order[k]] = k;
        freedom[k] = 6;
    }

    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];

        /* The end that is eliminated first, and the one that is eliminated last. */
        int rows = joint->adds ? 0 : joint->joint.row_count;
        int first = -1;
        int last = -1;
        for (int side = 0; side < 2; side++) {
            int node = graph_node(model, joint->node[side]);
            if (node < 0)
                continue;
            if (first < 0 || rank[node] < rank[first])
                first = node;
            if (last < 0 || rank[node] > rank[last])
                last = node;
        }

        /* A node takes only as many rows as it has degrees of freedom. */
        int chosen = last;
        if (first >= 0 && freedom[first] >= rows)
            chosen = first;
        if (joint->chained && chosen >= 0 && freedom[chosen] < rows)
            chosen = -1;
        if (chosen >= 0)
            freedom[chosen] -= rows;
        owner[i] = chosen;
    }
}

/* Coordinates, then nodes with the joints that they own, then the other joints. */
static void write_order(const yk_multibody_model *model, const int *node_order, const int *owner,
                        int *head, int *next, int *order)
{
    /* Joints of each node as linked lists. */
    for (int i = 0; i < model->node_count; i++)
        head[i] = -1;
    for (int i = model->joint_count - 1; i >= 0; i--) {
        if (owner[i] < 0)
            continue;

        next[i] = head[owner[i]];
        head[owner[i]] = i;
    }

    /* Coordinates. */
    int at = 0;
    for (int k = 0; k < model->coordinate_count; k++)
        order[at++] = model->coordinate_first + k;

    /* Nodes, each with the rows of its joints. */
    for (int k = 0; k < model->node_count; k++) {
        int node = node_order[k];
        for (int u = 0; u < 6; u++)
            order[at++] = 6 * node + u;
        for (int i = head[node]; i >= 0; i = next[i]) {
            const joint_model *joint = &model->joints[i];
            for (int r = 0; r < joint->joint.row_count && !joint->adds; r++)
                order[at++] = model->motion_count + joint->row + r;
        }
    }

    /* Rows that no node could take. */
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        if (owner[i] >= 0 || joint->adds)
            continue;

        for (int r = 0; r < joint->joint.row_count; r++)
            order[at++] = model->motion_count + joint->row + r;
    }
}

static yk_status elimination_order(const yk_multibody_model *model, int *order)
{
    yk_context *context = model->context;
    size_t n = (size_t)model->node_count;
    size_t m = (size_t)model->joint_count;
    size_t forces = (size_t)model->def.force_count;
    size_t beams = (size_t)model->def.beam_count;

    /* Joints, forces and beams between nodes are the edges of a graph. */
    size_t edge_count = 2 * (m + forces) + 6 * beams;
    yk_sparse_entry *edges = yk_allocate(context, edge_count, sizeof *edges);
    int *block = yk_allocate(context, 4 * n + 2 * m, sizeof *block);
    yk_status status = YK_OK;
    size_t count = 0;
    if (!edges || !block)
        status = YK_ERROR_MEMORY;
    for (int i = 0; i < model->joint_count && status == YK_OK; i++) {
        const int *node = model->joints[i].node;
        count = add_edge(edges, count, graph_node(model, node[0]), graph_node(model, node[1]));
    }
    for (int i = 0; i < model->def.force_count && status == YK_OK; i++) {
        const int *node = model->forces[i].node;
        count = add_edge(edges, count, graph_node(model, node[0]), graph_node(model, node[1]));
    }
    for (int i = 0; i < model->def.beam_count && status == YK_OK; i++) {
        const int *node = model->beams[i].node;
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
            int a = graph_node(model, node[k]);
            int b = graph_node(model, node[(k + 1) % YK_BEAM_NODE_COUNT]);
            count = add_edge(edges, count, a, b);
        }
    }

    /* Nodes by minimum degree, then joints after the nodes that own them. */
    if (status == YK_OK) {
        int *node_order = block;
        int *rank = node_order + n;
        int *freedom = rank + n;
        int *head = freedom + n;
        int *owner = head + n;
        int *next = owner + m;
        if (model->node_count)
            status = yk_graph_order(context, model->node_count, edges, count, node_order);
        if (status == YK_OK) {
            assign_joints(model, node_order, rank, freedom, owner);
            write_order(model, node_order, owner, head, next, order);
        }
    }

    yk_free(context, edges);
    yk_free(context, block);
    return status;
}

/* Kept factors that turn with the bodies ------------------------------------------------------- */

/* The inertia of a thin rod, the stiffness of a beam and that of a rod in absolute coordinates
 * differ by orders of magnitude along and across. In global axes such a block of the matrix is
 * outdated as soon as its body has rotated by a fraction of that ratio; in the body's own axes it
 * hardly changes. So equations and unknowns of such bodies are rotated back, vector by vector, to
 * their directions when the factors were made,
 *
 *   x = D A^-1 D^T b,    D = R R_then^T  for every vector that R rotates,
 *
 * which is equivalent to a matrix that was assembled in the axes of the bodies. A and its assembly
 * are not affected.
 *
 * Both vectors of a node with slender inertia, of a floating frame and of a beam's node rotate with
 * the node; the vectors at a node of a rod rotate with the section there. Other nodes would have no
 * advantage. */

/* End nodes and middle nodes of a rod alternate. */
static int stations(const yk_flexible *body)
{
    return body->kind == YK_FLEXIBLE_ROD ? 2 * body->elements + 1 : 0;
}

/* The rotating vectors and their bodies; allocates memory for them. */
static yk_status list_carried(const yk_multibody_model *model, yk_linear_solver *solver)
{
    const yk_multibody_description *def = &model->def;
    yk_context *context = model->context;
    bool *chosen = yk_allocate(context, (size_t)model->node_count, sizeof *chosen);
    if (!chosen)
        return YK_ERROR_MEMORY;

    /* Nodes that have an advantage: slender ones, floating frames, those of beams. */
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
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
            if (model->nodes[node[k]].unknown >= 0)
                chosen[node[k]] = true;
        }
    }

    /* The number of vectors. */
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

    /* At the nodes of rods r_y and r_z are the last coordinates. */
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

    yk_free(context, chosen);
    return solver->carried ? YK_OK : YK_ERROR_MEMORY;
}

static yk_mat3 axes_of(const yk_multibody_model *model, const yk_multibody_workspace *work,
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

void yk_multibody_carry_from_here(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, yk_linear_solver *solver)
{
    for (int k = 0; k < solver->carried_count; k++) {
        carried_vectors *of = &solver->carried[k];
        of->then = axes_of(model, work, of);
    }
}

void yk_multibody_solve_carried(const yk_multibody_model *model, const yk_multibody_workspace *work,
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

    yk_multibody_solve(model, solver, vector);

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

/* The solver ----------------------------------------------------------------------------------- */

yk_status yk_linear_solver_create(const yk_multibody_model *model, yk_multibody_workspace *work,
                                  yk_linear_solver *solver)
{
    yk_context *context = model->context;

    *solver = (yk_linear_solver){0};
    yk_status status = list_carried(model, solver);
    if (status != YK_OK)
        return status;

    /* The pattern is recorded by a pass of assembly. */
    solver->entry_count = yk_multibody_pattern(model, work, NULL);
    yk_sparse_entry *entries = yk_allocate(context, solver->entry_count, sizeof *entries);
    int *order = yk_allocate(context, (size_t)model->unknown_count, sizeof *order);
    solver->entry_index = yk_allocate(context, solver->entry_count, sizeof *solver->entry_index);
    if (!entries || !order || !solver->entry_index)
        status = YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = elimination_order(model, order);
    if (status == YK_OK) {
        yk_multibody_pattern(model, work, entries);
        status =
            yk_sparse_create_ordered(context, model->unknown_count, entries, solver->entry_count,
                                     solver->entry_index, order, &solver->matrix);
    }

    /* Release the data from which the pattern was made. */
    yk_free(context, entries);
    yk_free(context, order);
    if (status != YK_OK)
        return status;

    /* Each entry is scaled by its row and its column. */
    solver->entry_scale =
        yk_allocate(context, yk_sparse_nonzeros(solver->matrix), sizeof *solver->entry_scale);
    if (!solver->entry_scale)
        return YK_ERROR_MEMORY;

    /* The compliance of an equation is in scaled units already. */
    const int *starts = yk_sparse_column_starts(solver->matrix);
    const int *rows = yk_sparse_rows(solver->matrix);
    const double *scale = model->unknown_scale;
    for (int j = 0; j < model->unknown_count; j++) {
        for (int k = starts[j]; k < starts[j + 1]; k++) {
            bool compliance = rows[k] == j && j >= model->motion_count;
            solver->entry_scale[k] = compliance ? 1 : scale[j] * scale[rows[k]];
        }
    }

    return YK_OK;
}

void yk_linear_solver_release(const yk_multibody_model *model, yk_linear_solver *solver)
{
    yk_sparse_destroy(solver->matrix);
    yk_free(model->context, solver->entry_index);
    yk_free(model->context, solver->entry_scale);
    yk_free(model->context, solver->carried);
    *solver = (yk_linear_solver){0};
}

yk_status yk_multibody_factor_failed(const yk_multibody_model *model,
                                     const yk_multibody_workspace *work, yk_status status,
                                     int column)
{
    char owner[128];
    yk_multibody_owner(model, column, owner, sizeof owner);

    if (status == YK_ERROR_NOT_FINITE)
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: the equations at t = %g are not finite at %s: use a smaller step, or "
                       "check its forces",
                       model->def.name, work->t, owner);

    if (status != YK_ERROR_SINGULAR)
        return status;

    return yk_fail(model->context, status,
                   "%s: the equations at t = %g have no unique solution at %s: a massless node "
                   "moves freely there, or its joints lock; give it mass or a joint",
                   model->def.name, work->t, owner);
}

yk_status yk_multibody_factor(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              yk_linear_solver *solver)
{
    int column = 0;
    yk_status status = yk_sparse_refactor(solver->matrix, &column);

    /* If that fails there are no factors. */
    if (status != YK_OK) {
        solver->match = false;
        return yk_multibody_factor_failed(model, work, status, column);
    }

    solver->factorisations++;
    return YK_OK;
}

void yk_multibody_solve(const yk_multibody_model *model, const yk_linear_solver *solver,
                        double *vector)
{
    for (int i = 0; i < model->unknown_count; i++)
        vector[i] *= model->unknown_scale[i];

    yk_sparse_solve(solver->matrix, vector);
    for (int i = 0; i < model->unknown_count; i++)
        vector[i] *= model->unknown_scale[i];
}

void yk_multibody_solve_refined(const yk_multibody_model *model, yk_multibody_workspace *work,
                                const yk_linear_solver *solver)
{
    int n = model->unknown_count;
    const double *scale = model->unknown_scale;
    double *b = work->right;
    double *solution = work->work_vector;
    double *residual = work->work_vector + n;

    /* The initial solution is zero, so the first residual is the right-hand side. */
    for (int i = 0; i < n; i++)
        b[i] *= scale[i];
    memset(solution, 0, (size_t)n * sizeof *solution);
    memcpy(residual, b, (size_t)n * sizeof *b);

    /* The factors are those of A with its compliance, the residuals those of A without it: the
     * undetermined part of redundant rows gets the least norm. */
    for (int k = 0; k < REFINEMENTS; k++) {
        yk_sparse_solve(solver->matrix, residual);
        for (int i = 0; i < n; i++)
            solution[i] += residual[i];

        /* b - A x with the matrix without its compliance. */
        yk_sparse_multiply(solver->matrix, solution, residual);
        for (int i = model->motion_count; i < n; i++)
            residual[i] += work->compliance * solution[i];
        for (int i = 0; i < n; i++)
            residual[i] = b[i] - residual[i];
    }

    /* In the units of the model. */
    for (int i = 0; i < n; i++)
        b[i] = solution[i] * scale[i];
}
