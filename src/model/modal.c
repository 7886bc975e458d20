/* What the readers of modal bodies share, and the body that is made of what they found. */
#include "model/modal.h"

#include <stdlib.h>

void *yk_modal_take(yk_modal *modal, size_t count, size_t size)
{
    return yk_store_take(&modal->store, (count ? count : 1) * size);
}

bool yk_modal_uses(const yk_modal *modal, int mode_number)
{
    for (int i = 0; i < modal->files->use_count; i++)
        if ((int)modal->files->use[i] == mode_number)
            return true;
    return modal->files->use_count == 0;
}

static yk_status check_use(yk_modal *modal, const char *path)
{
    for (int i = 0; i < modal->files->use_count; i++)
        if (yk_modal_mode(modal, (int)modal->files->use[i]) < 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "'use' names mode %g, which %s does not have", modal->files->use[i],
                           path);
    return YK_OK;
}

yk_status yk_modal_take_modes(yk_modal *modal, const int *numbers, int count, const char *path)
{
    modal->mode_number = yk_modal_take(modal, (size_t)count, sizeof *modal->mode_number);
    if (!modal->mode_number)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++) {
        if (!yk_modal_uses(modal, numbers[i]))
            continue;
        if (yk_modal_mode(modal, numbers[i]) >= 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s lists mode %d twice", path,
                           numbers[i]);
        modal->mode_number[modal->mode_count++] = numbers[i];
    }
    yk_status status = check_use(modal, path);
    if (status != YK_OK)
        return status;
    if (modal->mode_count > YK_FFRF_MODES_MAX)
        return yk_fail(
            modal->context, YK_ERROR_ARGUMENT,
            "%s has %d modes, but at most %d can be used: choose them with the key 'use'", path,
            modal->mode_count, YK_FFRF_MODES_MAX);
    size_t squares = (size_t)modal->mode_count * (size_t)modal->mode_count;
    modal->stiffness = yk_modal_take(modal, squares, sizeof *modal->stiffness);
    modal->damping = yk_modal_take(modal, squares, sizeof *modal->damping);
    return modal->stiffness && modal->damping ? YK_OK : YK_ERROR_MEMORY;
}

yk_status yk_modal_take_nodes(yk_modal *modal, int count)
{
    size_t nodes = (size_t)count, n = (size_t)modal->mode_count;
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

typedef struct numbered {
    int number, index;
} numbered;

static int compare_numbers(const void *a, const void *b)
{
    const numbered *one = a, *other = b;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return (one->index > other->index) - (one->index < other->index);
}

yk_status yk_modal_order_nodes(yk_modal *modal, const char *path)
{
    numbered *sorted = yk_modal_take(modal, (size_t)modal->node_count, sizeof *sorted);
    if (!sorted)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < modal->node_count; i++)
        sorted[i] = (numbered){modal->node_number[i], i};
    qsort(sorted, (size_t)modal->node_count, sizeof *sorted, compare_numbers);
    for (int i = 0; i < modal->node_count; i++) {
        modal->node_order[i] = sorted[i].index;
        if (i && sorted[i].number == sorted[i - 1].number)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s has two nodes %d", path,
                           sorted[i].number);
    }
    return YK_OK;
}

int yk_modal_node(const yk_modal *modal, int number)
{
    int low = 0, high = modal->node_count - 1;
    while (low <= high) {
        int middle = (low + high) / 2, at = modal->node_order[middle];
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
    size_t n = (size_t)modal->mode_count;
    modal->weighs = true;
    modal->shift = yk_modal_take(modal, n, sizeof *modal->shift);
    modal->spread = yk_modal_take(modal, n, sizeof *modal->spread);
    modal->pair = yk_modal_take(modal, n * n, sizeof *modal->pair);
    modal->curve = yk_modal_take(modal, n * n, sizeof *modal->curve);
    return modal->shift && modal->spread && modal->pair && modal->curve ? YK_OK : YK_ERROR_MEMORY;
}

yk_mat3 yk_modal_second_moment(const yk_mat3 *tensor)
{
    double half = 0.5 * (tensor->m[0][0] + tensor->m[1][1] + tensor->m[2][2]);
    return yk_m3_sub(yk_m3_diagonal(half, half, half), *tensor);
}

/* Shapes ask for rotations of all nodes, or of none. */
static void link_rotations(yk_modal *modal)
{
    for (int i = 0; i < modal->node_count && modal->rotates; i++)
        modal->points[i].rotation = modal->points[i].displacement + modal->mode_count;
}

double yk_modal_lumped_mass(const yk_modal *modal, int i)
{
    double sum = 0;
    for (int k = 0; k < modal->node_count; k++) {
        const yk_ffrf_point *p = &modal->points[k];
        sum += p->mass * yk_v3_norm2(p->displacement[i]);
        if (!modal->rotates)
            continue;

        yk_vec3 rotation = p->displacement[modal->mode_count + i];
        double trace = p->second.m[0][0] + p->second.m[1][1] + p->second.m[2][2];
        sum +=
            trace * yk_v3_norm2(rotation) - yk_v3_dot(rotation, yk_m3_apply(p->second, rotation));
    }
    return sum;
}

void yk_modal_damp(yk_modal *modal)
{
    int n = modal->mode_count;
    for (int k = 0; k < n * n; k++)
        if (modal->damping[k] != 0)
            return;

    for (int i = 0; i < n; i++) {
        double mass =
            modal->modal_mass ? modal->modal_mass[(n + 1) * i] : yk_modal_lumped_mass(modal, i);
        double critical = 2 * sqrt(fmax(0, mass * modal->stiffness[(n + 1) * i]));
        modal->damping[(n + 1) * i] = modal->files->damping_ratio * critical;
    }
}

static yk_status make(yk_modal *modal, const int *points, int point_count, yk_flexible **body)
{
    int *attachments = yk_modal_take(modal, (size_t)point_count, sizeof *attachments);
    if (!attachments)
        return YK_ERROR_MEMORY;

    for (int k = 0; k < point_count; k++) {
        attachments[k] = yk_modal_node(modal, points[k]);
        if (attachments[k] < 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s has no node %d",
                           modal->files->fem     ? modal->files->fem
                           : modal->files->nodes ? modal->files->nodes
                                                 : "the body without a table of nodes",
                           points[k]);
    }
    const yk_ffrf_invariants invariants = {modal->mass,  modal->moment, modal->second,
                                           modal->shift, modal->spread, modal->pair,
                                           modal->curve};
    yk_ffrf_def def = {.mode_count = modal->mode_count,
                       .points = modal->points,
                       .point_count = modal->node_count,
                       .invariants = modal->weighs ? &invariants : NULL,
                       .mass = modal->modal_mass,
                       .stiffness = modal->stiffness,
                       .damping = modal->damping,
                       .constant_mass = modal->files->constant_mass};
    return yk_flexible_modal(modal->context, &def, attachments, point_count, body);
}

yk_status yk_modal_read(yk_context *context, const yk_modal_files *files, const int *points,
                        int point_count, yk_flexible **body)
{
    yk_modal modal = {.context = context, .files = files, .store = {.context = context}};
    *body = NULL;
    yk_status status = files->fem ? yk_modal_read_fem(&modal) : yk_modal_read_tables(&modal);
    if (status == YK_OK) {
        link_rotations(&modal);
        status = make(&modal, points, point_count, body);
    }
    yk_store_destroy(&modal.store);
    return status;
}
