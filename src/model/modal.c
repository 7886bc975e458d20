/* Functions shared by the readers of modal bodies, and the creation of the body. */
#include "model/modal.h"

#include <stdlib.h>

void *yk_modal_take(yk_modal *modal, size_t count, size_t size)
{
    return yk_store_take(&modal->store, (count ? count : 1) * size);
}

static bool uses_mode(const yk_modal *modal, int mode_number)
{
    for (int i = 0; i < modal->files->use_count; i++)
        if (modal->files->use[i] == mode_number)
            return true;
    return modal->files->use_count == 0;
}

yk_status yk_modal_take_modes(yk_modal *modal, const int *numbers, int count, const char *path)
{
    const yk_modal_files *files = modal->files;
    modal->mode_number = yk_modal_take(modal, (size_t)count, sizeof *modal->mode_number);
    if (!modal->mode_number)
        return YK_ERROR_MEMORY;

    /* Modes of the file that are used, each once ... */
    for (int i = 0; i < count; i++) {
        if (!uses_mode(modal, numbers[i]))
            continue;
        if (yk_modal_mode(modal, numbers[i]) >= 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s lists mode %d twice", path,
                           numbers[i]);

        modal->mode_number[modal->mode_count++] = numbers[i];
    }

    /* ... and all requested modes. */
    for (int i = 0; i < files->use_count; i++) {
        bool there = false;
        for (int k = 0; k < modal->mode_count; k++)
            there = there || modal->mode_number[k] == files->use[i];
        if (!there)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "'selected_modes' names mode %g, which %s does not have", files->use[i],
                           path);
    }
    if (modal->mode_count > YK_FFRF_MODES_MAX)
        return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                       "%s has %d modes, but at most %d can be used: choose them with the key "
                       "'selected_modes'",
                       path, modal->mode_count, YK_FFRF_MODES_MAX);

    /* Matrices of the modes, all zero. */
    size_t squares = (size_t)modal->mode_count * (size_t)modal->mode_count;
    modal->stiffness = yk_modal_take(modal, squares, sizeof *modal->stiffness);
    modal->damping = yk_modal_take(modal, squares, sizeof *modal->damping);
    if (!modal->stiffness || !modal->damping)
        return YK_ERROR_MEMORY;

    return YK_OK;
}

yk_status yk_modal_take_nodes(yk_modal *modal, int count)
{
    /* Two vectors per node and mode: displacement and rotation. */
    size_t nodes = (size_t)count;
    size_t n = (size_t)modal->mode_count;
    modal->node_count = count;
    modal->node_number = yk_modal_take(modal, nodes, sizeof *modal->node_number);
    modal->node_order = yk_modal_take(modal, nodes, sizeof *modal->node_order);
    modal->points = yk_modal_take(modal, nodes, sizeof *modal->points);
    modal->shapes = yk_modal_take(modal, 2 * nodes * n, sizeof *modal->shapes);
    if (!modal->node_number || !modal->node_order || !modal->points || !modal->shapes)
        return YK_ERROR_MEMORY;

    for (size_t i = 0; i < nodes; i++)
        modal->points[i].displacement = modal->shapes + 2 * n * i;
    return YK_OK;
}

/* Pairs of a number and an index, by rising numbers. */
static int compare_numbers(const void *a, const void *b)
{
    const int *one = a;
    const int *other = b;
    if (one[0] != other[0])
        return one[0] < other[0] ? -1 : 1;
    return (one[1] > other[1]) - (one[1] < other[1]);
}

yk_status yk_modal_order_nodes(yk_modal *modal, const char *path)
{
    size_t count = (size_t)modal->node_count;
    int(*sorted)[2] = yk_modal_take(modal, count, sizeof *sorted);
    if (!sorted)
        return YK_ERROR_MEMORY;

    /* Numbers with their indices. */
    for (int i = 0; i < modal->node_count; i++) {
        sorted[i][0] = modal->node_number[i];
        sorted[i][1] = i;
    }

    /* Equal numbers are adjacent after sorting. */
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    for (int i = 0; i < modal->node_count; i++) {
        modal->node_order[i] = sorted[i][1];
        if (i > 0 && sorted[i][0] == sorted[i - 1][0])
            return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s has two nodes %d", path,
                           sorted[i][0]);
    }

    return YK_OK;
}

int yk_modal_node(const yk_modal *modal, int number)
{
    /* Bisection in the ascending numbers. */
    int low = 0;
    int high = modal->node_count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int at = modal->node_order[middle];
        if (modal->node_number[at] == number)
            return at;
        if (modal->node_number[at] < number)
            low = middle + 1;
        else
            high = middle - 1;
    }

    return -1;
}

int yk_modal_mode(const yk_modal *modal, int number)
{
    for (int i = 0; i < modal->mode_count; i++)
        if (modal->mode_number[i] == number)
            return i;
    return -1;
}

yk_vec3 *yk_modal_bends(yk_modal *modal, int node)
{
    yk_ffrf_point *point = &modal->points[node];
    size_t squares = (size_t)modal->mode_count * (size_t)modal->mode_count;
    if (!point->shortening)
        point->shortening = yk_modal_take(modal, squares, sizeof *point->shortening);
    return (yk_vec3 *)(uintptr_t)point->shortening;
}

yk_status yk_modal_take_invariants(yk_modal *modal)
{
    /* One integral per shape, or per pair of shapes. */
    size_t n = (size_t)modal->mode_count;
    modal->weighs = true;
    modal->shift = yk_modal_take(modal, n, sizeof *modal->shift);
    modal->spread = yk_modal_take(modal, n, sizeof *modal->spread);
    modal->pair = yk_modal_take(modal, n * n, sizeof *modal->pair);
    modal->curve = yk_modal_take(modal, n * n, sizeof *modal->curve);
    if (!modal->shift || !modal->spread || !modal->pair || !modal->curve)
        return YK_ERROR_MEMORY;

    return YK_OK;
}

yk_mat3 yk_modal_second_moment(const yk_mat3 *tensor)
{
    double half = 0.5 * (tensor->m[0][0] + tensor->m[1][1] + tensor->m[2][2]);
    return yk_m3_sub(yk_m3_diagonal(half, half, half), *tensor);
}

double yk_modal_lumped_mass(const yk_modal *modal, int i)
{
    double sum = 0;
    for (int k = 0; k < modal->node_count; k++) {
        const yk_ffrf_point *p = &modal->points[k];
        sum += p->mass * yk_v3_norm2(p->displacement[i]);
        if (!modal->rotates)
            continue;

        /* The inertia of a lump is tr(S) - S of its second moments S. */
        const yk_mat3 *second = &p->second;
        yk_vec3 rotation = p->displacement[modal->mode_count + i];
        double trace = second->m[0][0] + second->m[1][1] + second->m[2][2];
        double along = yk_v3_dot(rotation, yk_m3_apply(*second, rotation));
        sum += trace * yk_v3_norm2(rotation) - along;
    }

    return sum;
}

void yk_modal_damp(yk_modal *modal)
{
    int n = modal->mode_count;

    /* Damping in the files has priority. */
    for (int k = 0; k < n * n; k++)
        if (modal->damping[k] != 0)
            return;

    /* 2 zeta sqrt(m k) for each shape separately. */
    for (int i = 0; i < n; i++) {
        int diagonal = (n + 1) * i;
        double mass;
        if (modal->modal_mass)
            mass = modal->modal_mass[diagonal];
        else
            mass = yk_modal_lumped_mass(modal, i);

        double critical = 2 * sqrt(fmax(0, mass * modal->stiffness[diagonal]));
        modal->damping[diagonal] = modal->files->damping_ratio * critical;
    }
}

yk_status yk_modal_read(yk_context *context, const yk_modal_files *files, const int *points,
                        int point_count, yk_flexible **body)
{
    *body = NULL;
    yk_modal modal = {.context = context, .files = files, .store = {.context = context}};
    yk_status status;
    if (files->fem)
        status = yk_modal_read_fem(&modal);
    else
        status = yk_modal_read_tables(&modal);

    /* Attachments, from numbers of nodes. */
    int *attachments = yk_modal_take(&modal, (size_t)point_count, sizeof *attachments);
    if (status == YK_OK && !attachments)
        status = YK_ERROR_MEMORY;

    for (int k = 0; status == YK_OK && k < point_count; k++) {
        attachments[k] = yk_modal_node(&modal, points[k]);
        if (attachments[k] >= 0)
            continue;

        /* The message names the file that should contain the node. */
        const char *source = "the body without a table of nodes";
        if (files->nodes)
            source = files->nodes;
        if (files->fem)
            source = files->fem;

        status = yk_fail(context, YK_ERROR_ARGUMENT, "%s has no node %d", source, points[k]);
    }

    /* Either all nodes have rotations or none. */
    bool rotates = status == YK_OK && modal.rotates;
    for (int i = 0; rotates && i < modal.node_count; i++)
        modal.points[i].rotation = modal.points[i].displacement + modal.mode_count;

    /* The body, which copies its data, with given invariants instead of lumped masses. */
    const yk_ffrf_invariants invariants = {
        modal.mass, modal.moment, modal.second, modal.shift, modal.spread, modal.pair, modal.curve,
    };
    yk_ffrf_def def = {
        .mode_count = modal.mode_count,
        .points = modal.points,
        .point_count = modal.node_count,
        .mass = modal.modal_mass,
        .stiffness = modal.stiffness,
        .damping = modal.damping,
        .constant_mass = files->constant_mass,
    };
    if (modal.weighs)
        def.invariants = &invariants;
    if (status == YK_OK)
        status = yk_flexible_modal(context, &def, attachments, point_count, body);

    yk_store_destroy(&modal.store);
    return status;
}
