/* Making and sharing of flexible bodies. */
#include "smooth/flexible.h"

#include <string.h>

static yk_status begin(yk_context *context, yk_flexible_kind kind, yk_flexible **body)
{
    *body = yk_allocate(context, 1, sizeof **body);
    if (!*body)
        return YK_ERROR_MEMORY;

    /* One user: the caller, until others keep it. */
    (*body)->context = context;
    (*body)->users = 1;
    (*body)->kind = kind;

    return YK_OK;
}

static yk_status finish(yk_status status, yk_flexible **body)
{
    if (status != YK_OK && *body) {
        yk_flexible_release(*body);
        *body = NULL;
    }

    return status;
}

yk_status yk_flexible_rod(yk_context *context, const yk_ffrf_rod_def *def, yk_flexible **body)
{
    yk_status status = begin(context, YK_FLEXIBLE_MODAL, body);
    if (status != YK_OK)
        return status;

    /* Stations of the outline are attachments behind those of the def. */
    size_t count = (size_t)def->attachment_count + YK_FLEXIBLE_OUTLINE;
    double *attachments = yk_allocate(context, count, sizeof *attachments);
    if (!attachments)
        return finish(YK_ERROR_MEMORY, body);

    if (def->attachment_count)
        memcpy(attachments, def->attachments, (size_t)def->attachment_count * sizeof *attachments);
    for (int k = 0; k < YK_FLEXIBLE_OUTLINE; k++)
        attachments[def->attachment_count + k] = def->length * k / (YK_FLEXIBLE_OUTLINE - 1);

    yk_ffrf_rod_def with_outline = *def;
    with_outline.attachments = attachments;
    with_outline.attachment_count = (int)count;

    yk_flexible *made = *body;
    status = yk_ffrf_rod_create(context, &with_outline, &made->store_rod);
    yk_release(context, attachments);
    if (status != YK_OK)
        return finish(status, body);

    /* The first of these attachments are the body's own. */
    made->modal = made->store_rod.body;
    made->nodes = made->store_rod.nodes;
    made->length = def->length;
    made->coordinates = made->modal.modes;
    made->attachments = def->attachment_count;
    made->outline = YK_FLEXIBLE_OUTLINE;

    return YK_OK;
}

yk_status yk_flexible_modal(yk_context *context, const yk_ffrf_def *def, const int *attachments,
                            int attachment_count, yk_flexible **body)
{
    yk_status status = begin(context, YK_FLEXIBLE_MODAL, body);
    if (status != YK_OK)
        return status;

    yk_flexible *made = *body;
    status = yk_ffrf_create(context, def, &made->modal);

    /* An attachment keeps its own copy of the shapes, as the def may go. */
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
    if (status != YK_OK)
        return finish(status, body);

    made->coordinates = def->mode_count;
    made->attachments = attachment_count;

    /* Its size: the reach of its points, or that of a rod with its radius of gyration. */
    for (int k = 0; k < def->point_count; k++) {
        yk_vec3 arm = yk_v3_sub(def->points[k].position, def->points[0].position);
        made->length = fmax(made->length, yk_v3_norm(arm));
    }

    const yk_mat3 *second = &made->modal.second;
    double spread = second->m[0][0] + second->m[1][1] + second->m[2][2];
    if (made->length == 0)
        made->length = sqrt(3 * spread / made->modal.mass);

    return YK_OK;
}

yk_status yk_flexible_ancf(yk_context *context, const yk_ancf_rod_def *def, yk_flexible **body)
{
    *body = NULL;
    if (def->elements < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a rod needs at least one element, not %d",
                       def->elements);

    yk_status status = begin(context, YK_FLEXIBLE_ROD, body);
    if (status != YK_OK)
        return status;

    /* Nodes at the ends of elements and in their middles. */
    yk_flexible *made = *body;
    made->length = def->length;
    made->elements = def->elements;
    made->coordinates = yk_flexible_rod_node(def->elements) + YK_ANCF_NODE;
    made->attachments = def->elements + 1;

    /* One element that is straight where it has no strain stands for all. */
    double part = def->length / def->elements;
    double coordinates[YK_ANCF_COORDINATES];
    yk_frame origin = yk_frame_ground();
    yk_ancf_straight(&origin, 0, part, coordinates, NULL);

    return finish(yk_ancf_create(context, part, &def->section, coordinates, &made->element), body);
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

    /* A rod's shapes are its own, and all of it goes with them. */
    yk_context *context = body->context;
    if (body->store_rod.nodes) {
        yk_ffrf_rod_destroy(context, &body->store_rod);
    } else {
        yk_ffrf_destroy(context, &body->modal);
        yk_release(context, body->nodes);
        yk_release(context, body->bends);
        yk_release(context, body->store);
    }

    yk_release(context, body);
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

double yk_flexible_reach(const yk_flexible *body, int coordinate)
{
    if (body->kind == YK_FLEXIBLE_MODAL)
        return body->modal.reach[coordinate];

    /* Against the position of the node: gradients along the rod by its length, across it by the
     * section's size. */
    int vector = coordinate % (YK_ANCF_NODE + YK_ANCF_MIDDLE) / 3;

    return sqrt(body->element.mass[vector][vector] / body->element.mass[0][0]);
}
