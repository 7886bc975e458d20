/* Freezes a model: the order of bodies and parts in memory, and constants derived from the model,
 * including the check whether space may be periodic (Allen, Tildesley 1987).
 *
 * Bodies are sorted along a Morton curve through their initial positions, dynamic bodies before the
 * others. So touching bodies are near in memory, and a body's slot is its node in the contact
 * problem. */
#include <stdlib.h>
#include <string.h>

#include "nonsmooth/model.h"
#include "nonsmooth/solids/solid.h"

enum { MORTON_BITS = 20, GENERAL_PER_PART = 12 };

yk_solid yk_world_part_solid(const yk_world_model *model, const yk_part *part)
{
    /* Spheres added with their body have the radius of the body. */
    yk_solid solid = {.kind = part->kind, .rotation = yk_m3_identity()};
    if (part->geometry < 0) {
        solid.size.x = model->bodies[part->body].radius;
        return solid;
    }

    /* All others as given. */
    const yk_part_geometry *geometry = &model->geometries[part->geometry];
    solid.size = geometry->size;
    solid.open = geometry->open;
    solid.point_count = geometry->point_count;
    solid.outside = geometry->outside;
    if (geometry->point_count > 0)
        solid.points = model->points + geometry->first_point;
    return solid;
}

/* Order ---------------------------------------------------------------------------------------- */

typedef struct sort_entry {
    uint64_t key;
    int32_t index; /* breaks ties between equal keys */
} sort_entry;

static int compare_entries(const void *left, const void *right)
{
    const sort_entry *a = left, *b = right;
    if (a->key < b->key)
        return -1;
    if (a->key > b->key)
        return 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Every third bit of the Morton number. */
static uint64_t morton_bits(double offset, double size)
{
    if (!(size > 0) || !(offset > 0))
        return 0;

    uint64_t x = (uint64_t)(offset / size * ((1 << MORTON_BITS) - 1));

    uint64_t spread = 0;
    for (int i = 0; i < MORTON_BITS; i++)
        spread |= (x >> i & 1) << (3 * i);
    return spread;
}

/* Assigns slots to the bodies and sorts their models by them. `entries` and `sorted` are workspace. */
static void sort_bodies(yk_world_model *model, sort_entry *entries, yk_body_model *sorted)
{
    size_t count = model->body_count;

    /* A cube about all bodies. */
    yk_vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        yk_vec3 p = model->initial[i].position;
        low = yk_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = yk_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }

    yk_vec3 edge = yk_v3_sub(high, low);
    double size = fmax(edge.x, fmax(edge.y, edge.z));

    /* Bodies with known motion keep the user's order, after all others. */
    model->dynamic_count = 0;
    for (size_t i = 0; i < count; i++) {
        yk_vec3 p = yk_v3_sub(model->initial[i].position, low);
        uint64_t key =
            morton_bits(p.x, size) | morton_bits(p.y, size) << 1 | morton_bits(p.z, size) << 2;
        bool dynamic = model->bodies[i].drive == YK_MOVED_BY_FORCES;
        model->dynamic_count += dynamic;
        entries[i] = (sort_entry){dynamic ? key : UINT64_MAX, (int32_t)i};
    }

    qsort(entries, count, sizeof *entries, compare_entries);

    /* Slots, and the models in their order. */
    for (size_t slot = 0; slot < count; slot++) {
        int32_t body = entries[slot].index;
        model->body_of[slot] = body;
        model->slot_of[body] = (int32_t)slot;

        sorted[slot] = model->bodies[body];
    }

    memcpy(model->bodies, sorted, count * sizeof *sorted);
}

/* Finite parts first, each group sorted by slots, those of the world last. */
static void sort_parts(yk_world_model *model, sort_entry *entries, yk_part *sorted)
{
    size_t count = model->part_count;
    model->finite_count = 0;
    if (count == 0)
        return;

    /* Parts refer to slots from here on. */
    for (size_t i = 0; i < count; i++) {
        yk_part *part = &model->parts[i];
        uint64_t slot = model->body_count;
        if (part->body >= 0) {
            part->body = model->slot_of[part->body];
            slot = (uint64_t)part->body;
        }

        /* Unbounded parts come after all finite ones, whatever their slot. */
        bool finite = yk_solid_is_finite(part->kind);
        model->finite_count += finite;
        entries[i] = (sort_entry){(uint64_t)!finite << 40 | slot, (int32_t)i};
    }

    qsort(entries, count, sizeof *entries, compare_entries);

    for (size_t i = 0; i < count; i++)
        sorted[i] = model->parts[entries[i].index];
    memcpy(model->parts, sorted, count * sizeof *sorted);
}

/* A dynamic body with one centered sphere and equal principal inertias is round: it needs no tensor
 * and no lever arms. Bodies and parts still have the user's numbers. */
static yk_status mark_round_parts(yk_world_model *model)
{
    int32_t *parts_of_body = model->slot_of; /* workspace: slots are not assigned yet */
    memset(parts_of_body, 0, model->body_count * sizeof *parts_of_body);
    for (size_t i = 0; i < model->part_count; i++)
        if (model->parts[i].body >= 0)
            parts_of_body[model->parts[i].body]++;

    /* Each part by itself. */
    for (size_t i = 0; i < model->part_count; i++) {
        yk_part *part = &model->parts[i];
        part->round = 0;
        if (part->body < 0)
            continue;

        yk_body_model *body = &model->bodies[part->body];
        bool dynamic = body->drive == YK_MOVED_BY_FORCES;
        bool alone = yk_solid_is_ball(part->kind) && parts_of_body[part->body] == 1 && dynamic;

        /* Spheres added with their body have no tensor and are always round. */
        if (part->geometry < 0) {
            part->round = alone;
            if (alone || !dynamic)
                continue;
            return yk_fail(
                model->context, YK_ERROR_ARGUMENT,
                "body %d was added as a sphere and has other shapes: add it as a body with shapes",
                part->body);
        }

        if (!alone)
            continue;

        /* Others are round if geometry and inertia have no preferred direction. */
        const yk_part_geometry *geometry = &model->geometries[part->geometry];
        const yk_mat3 *j = &model->tensors[body->tensor].body;
        double off = 0;
        for (int k = 0; k < 9; k++) {
            double equal = k % 4 == 0 ? j->m[0][0] : 0;
            off = fmax(off, fabs(j->m[k / 3][k % 3] - equal));
        }

        if (off > 0 || yk_v3_norm2(geometry->position) > 0)
            continue;

        part->round = 1;
        body->radius = geometry->size.x;
        body->inertia = j->m[0][0];
    }

    return YK_OK;
}

static int slot_or_world(const yk_world_model *model, int body)
{
    return body < 0 ? -1 : model->slot_of[body];
}

/* Makes the viscous damping of a force implicit if one of its bodies moves by forces. The rows
 * follow those of a joint of the same bodies, because such rows are solved together. */
static void find_dampers(yk_world_model *model, int index)
{
    yk_force_model *force = &model->forces[index];
    force->next_damper = -1;
    if (!yk_world_is_dynamic(model, force->slot_a) && !yk_world_is_dynamic(model, force->slot_b))
        return;

    force->damper_count = yk_force_take_dampers(&force->law, force->damping);
    if (force->damper_count == 0)
        return;

    force->own_rows = model->joint_row_count;
    model->joint_row_count += (size_t)force->damper_count;
    int *list = &model->free_dampers;
    for (size_t i = 0; i < model->joint_count; i++) {
        yk_joint_model *joint = &model->joints[i];
        bool same = joint->slot_a == force->slot_a && joint->slot_b == force->slot_b;
        bool reverse = joint->slot_a == force->slot_b && joint->slot_b == force->slot_a;
        if (joint->port >= 0 || !(same || reverse))
            continue;

        list = &joint->dampers;
        break;
    }

    force->next_damper = *list;
    *list = index;
}

static void find_slots(yk_world_model *model)
{
    /* Impulses of all joints are in one list, in the order of the joints. */
    model->joint_row_count = 0;
    for (size_t i = 0; i < model->joint_count; i++) {
        yk_joint_model *joint = &model->joints[i];
        joint->slot_a = slot_or_world(model, joint->def.bodies[0].index);
        joint->slot_b = slot_or_world(model, joint->def.bodies[1].index);
        joint->dampers = -1;
        joint->own_rows = model->joint_row_count;
        model->joint_row_count += (size_t)joint->joint.row_count;
    }

    /* Forces and ports refer to slots as well. */
    model->free_dampers = -1;
    for (size_t i = 0; i < model->force_count; i++) {
        yk_force_model *force = &model->forces[i];
        force->slot_a = slot_or_world(model, force->def.bodies[0].index);
        force->slot_b = slot_or_world(model, force->def.bodies[1].index);
        find_dampers(model, (int)i);
    }

    for (size_t i = 0; i < model->port_count; i++) {
        yk_port_model *port = &model->ports[i];
        port->slot = model->slot_of[port->body];
        port->far_slot = slot_or_world(model, port->far_body);
    }
}

/* Materials and sizes -------------------------------------------------------------------------- */

/* Properties of every pair of materials: combined from both, or specified for the pair. */
static void combine_materials(yk_world_model *model)
{
    size_t count = model->material_count;
    for (size_t i = 0; i < count * count; i++) {
        const yk_material *p = &model->materials[i / count];
        const yk_material *q = &model->materials[i % count];

        yk_material material = yk_material_combine(p, q);
        for (size_t k = 0; k < model->surface_pair_count; k++) {
            const yk_material_pair_def *pair = &model->surface_pairs[k];
            int a = pair->surface_ids[0], b = pair->surface_ids[1];
            if ((p->surface_id == a && q->surface_id == b) ||
                (p->surface_id == b && q->surface_id == a))
                material = pair->material;
        }

        model->pair_laws[i] = yk_surface_law_of(&material);
        model->yields =
            model->yields || material.stiffness > 0 || material.plane_strain_modulus > 0;
        model->coheres = model->coheres || material.cohesion > 0;
    }
}

static void choose_envelope(yk_world_model *model)
{
    /* The envelope is relative to the smallest moving solid. */
    double smallest = INFINITY, any = INFINITY;
    for (size_t i = 0; i < model->finite_count; i++) {
        const yk_part *part = &model->parts[i];
        double radius = yk_world_part_radius(model, part);
        any = fmin(any, radius);
        if (yk_world_is_dynamic(model, part->body))
            smallest = fmin(smallest, radius);
    }

    /* Models without moving solids still need a length. */
    if (!isfinite(smallest))
        smallest = any;
    if (!isfinite(smallest))
        smallest = 1;

    /* Three hundredths of its radius by default. */
    model->smallest_radius = smallest;
    model->envelope = model->def.envelope;
    if (!(model->envelope > 0))
        model->envelope = 0.03 * smallest;
}

/* Unsupported combinations of solver and contacts. */
static yk_status check_laws(const yk_world_model *model)
{
    size_t count = model->material_count;
    for (size_t i = 0; i < count * count; i++) {
        const yk_material *material = &model->pair_laws[i].material;
        if (material->cohesion_range > model->envelope)
            return yk_fail(model->context, YK_ERROR_ARGUMENT,
                           "cohesion reaches %g m, and contacts are seen from a gap of %g m on: "
                           "give a larger envelope",
                           material->cohesion_range, model->envelope);

        bool gradient = model->def.contact_options.method == YK_CONTACT_PROJECTED_GRADIENT;
        if (material->plane_strain_modulus > 0 && gradient)
            return yk_fail(
                model->context, YK_ERROR_CAPABILITY,
                "elastic surfaces need another method than the projected gradient, whose "
                "steps are as long across the normal as along it");
    }

    return YK_OK;
}

/* Capacity for contacts: the given number for each of `count` bodies, and twice that in small beds,
 * in which all bodies are near walls and trial steps of a coupling compress them; memory is cheap. */
static size_t ample(size_t count, size_t each)
{
    enum { SMALL = 2000 };
    size_t more = count < SMALL ? count : SMALL;
    return each * (count + more);
}

static void choose_capacities(yk_world_model *model)
{
    size_t others = yk_world_general_parts(model), round = model->finite_count - others, moving = 0;
    for (size_t i = 0; i < model->finite_count; i++)
        moving += yk_world_is_dynamic(model, model->parts[i].body);

    /* General contacts: those of solids that are not round; all contacts if there is rolling
     * resistance; those with moving walls. */
    size_t general = GENERAL_PER_PART * others;
    if (others > 0 || model->material_count > 0)
        general += 2 * YK_MANIFOLD_MAX;
    for (size_t i = 0; i < model->material_count; i++)
        if (model->materials[i].rolling_friction > 0 || model->materials[i].spinning_friction > 0)
            general = ample(round, 5) + general;
    /* The contact of a sphere with one of them is general too. */
    if (others > 0)
        general += 6 * moving;
    for (size_t i = model->finite_count; i < model->part_count; i++)
        if (yk_world_is_dynamic(model, model->parts[i].body))
            general += ample(moving, 2) + 64;

    model->general_capacity = general;

    /* Equal spheres touch six others on average, which is three contacts each; walls and near
     * misses add to that. */
    model->contact_capacity = ample(round, 5) + general + 64;
    if (model->def.contact_capacity > 0) {
        model->contact_capacity = (size_t)model->def.contact_capacity;
        if (model->general_capacity > 0)
            model->general_capacity = model->contact_capacity;
    }
}

/* Periods -------------------------------------------------------------------------------------- */

/* Periodic space: checks that the solids of a model allow it.
 *
 * Positions are not wrapped. A contact is that of the images nearest to each other (the minimum
 * image convention; Allen, Tildesley 1987): the second one is shifted by whole periods towards the
 * first, in the broad phase (broad_phase.c) and in the search (contact_detection.c), and its
 * contact points are given on the body itself, so that the code after the search is not affected.
 * This is valid as long as no second image can be near, and walls look the same from every period. */

/* Cosine of an angle that counts as right. */
static const double SQUARE = 1e-9;

static const char axis_names[3] = {'x', 'y', 'z'};

static double component(yk_vec3 v, int axis)
{
    if (axis == 0)
        return v.x;
    return axis == 1 ? v.y : v.z;
}

/* Whether the motion of the body of a part keeps its walls parallel to the periods. */
static bool keeps_orientation(const yk_world_model *model, const yk_part *part)
{
    if (part->body < 0 || model->bodies[part->body].drive == YK_FIXED)
        return true;
    if (model->bodies[part->body].drive != YK_PRESCRIBED_BY_FUNCTION)
        return false;

    for (size_t i = 0; i < model->prescription_count; i++) {
        const yk_prescription *motion = &model->prescriptions[i];
        if (motion->body != model->body_of[part->body])
            continue;

        /* The motion of a function is unknown; the rotations of a path are known. */
        bool turns = motion->function != NULL;
        for (int k = 0; k < 3; k++)
            turns = turns || motion->path.rotation[k].evaluate;
        return !turns;
    }

    return false;
}

/* Whether the walls of a plane or cavity are invariant along an axis. */
static bool runs_along(const yk_world_model *model, const yk_part *part, int axis)
{
    const yk_part_geometry *geometry = &model->geometries[part->geometry];
    yk_solid solid = yk_world_part_solid(model, part);
    yk_quat orientation = geometry->orientation;
    if (part->body >= 0)
        orientation = yk_q_mul(model->initial[model->body_of[part->body]].orientation, orientation);
    solid.rotation = yk_q_matrix(orientation);

    /* Compare two places, between which a curved wall changes unless it is parallel to the axis. */
    const yk_vec3 places[2] = {{0.3, 0.5, 0.7}, {-0.6, 0.4, 0.2}};
    const yk_solid_ops *ops = yk_solid_ops_of(solid.kind);
    for (uint32_t wall = 0; wall < YK_WALLS; wall++) {
        for (int k = 0; k < 2 && ops->walls >> wall & 1; k++) {
            double height;
            yk_vec3 inward;
            if (ops->wall(&solid, wall, places[k], &height, &inward) &&
                fabs(component(inward, axis)) > SQUARE)
                return false;
        }
    }

    return true;
}

static yk_status check_axis(const yk_world_model *model, int axis)
{
    yk_context *context = model->context;
    double period = component(model->period, axis);
    char name = axis_names[axis];

    /* Balls of the two largest solids of different bodies. */
    double largest[2] = {0, 0};
    int32_t owner = -2;
    for (size_t i = 0; i < model->finite_count; i++) {
        const yk_part *part = &model->parts[i];
        double radius = yk_world_part_radius(model, part);
        if (part->body == owner && owner >= 0) {
            largest[0] = fmax(largest[0], radius);
        } else if (radius > largest[0]) {
            largest[1] = largest[0];
            largest[0] = radius;
            owner = part->body;
        } else {
            largest[1] = fmax(largest[1], radius);
        }

        /* A body must not touch its own image. */
        double reach = radius;
        if (part->geometry >= 0)
            reach += yk_v3_norm(model->geometries[part->geometry].position);
        if (yk_world_is_dynamic(model, part->body) && 2 * reach > 0.5 * period)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "space repeats itself every %g m along %c, and a body is up to %g m "
                           "long: at most half of the period is possible",
                           period, name, 2 * reach);
    }

    /* Up to the range of the list of near pairs. */
    double margin = YK_REACH_AHEAD * fmax(model->envelope, model->smallest_radius) +
                    fmax(YK_SKIN_MOST * model->smallest_radius, model->def.skin);
    double least = 2 * (largest[0] + largest[1] + margin);
    if (model->finite_count > 0 && period < least)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "space repeats itself every %g m along %c, and the largest solids are %g m "
            "and %g m across: the period must be at least %g m, so that only one image of "
            "a solid is near another one; take planes for what is larger",
            period, name, 2 * largest[0], 2 * largest[1], least);

    /* Unbounded solids have no images, so they must look the same from every period. */
    for (size_t i = model->finite_count; i < model->part_count; i++) {
        const yk_part *part = &model->parts[i];
        if (!runs_along(model, part, axis))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "space repeats itself along %c, and shape %d, a %s, is not the same all "
                           "along it: turn it, or leave walls across that direction out",
                           name, part->shape, yk_solid_ops_of(part->kind)->section.name);
        if (!keeps_orientation(model, part))
            return yk_fail(
                context, YK_ERROR_ARGUMENT,
                "space repeats itself along %c, and shape %d, a %s, is on a body that may "
                "turn: put it on the ground, or on a body whose rotation is not "
                "prescribed",
                name, part->shape, yk_solid_ops_of(part->kind)->section.name);
    }

    return YK_OK;
}

static yk_status freeze_period(yk_world_model *model)
{
    const yk_periodic_box *periodic = &model->def.periodic;
    model->period = yk_v3_sub(periodic->upper, periodic->lower);
    model->periodic = false;

    for (int axis = 0; axis < 3; axis++) {
        double period = component(model->period, axis);
        /* A direction without extent is not periodic. */
        if (period == 0)
            continue;
        if (!(period > 0 && isfinite(period)))
            return yk_fail(model->context, YK_ERROR_ARGUMENT,
                           "space is to repeat itself along %c from %g m to %g m: the second must "
                           "be larger",
                           axis_names[axis], component(periodic->lower, axis),
                           component(periodic->upper, axis));

        model->periodic = true;
        yk_status status = check_axis(model, axis);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* Freezing ------------------------------------------------------------------------------------- */

/* Shrinks a list that grew while the model was built. */
static void trim(yk_context *context, void *array, size_t *capacity, size_t count, size_t size)
{
    void **pointer = array;
    if (count == 0)
        return;

    void *cut = yk_reallocate(context, *pointer, count, size);
    if (!cut)
        return;
    *pointer = cut;
    *capacity = count;
}

yk_status yk_world_freeze(yk_world_model *model)
{
    yk_context *context = model->context;
    size_t bodies = model->body_count, materials = model->material_count,
           capacity = model->body_capacity;

    if (bodies == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "there is no body in the model");

    /* Nothing is added from here on: release unused memory. */
    trim(context, &model->initial, &capacity, bodies, sizeof *model->initial);
    trim(context, &model->bodies, &capacity, bodies, sizeof *model->bodies);
    trim(context, &model->names, &model->body_capacity, bodies, sizeof *model->names);
    trim(context, &model->parts, &model->part_capacity, model->part_count, sizeof *model->parts);

    /* Arrays that remain with the model. */
    int32_t *slot_of = yk_reallocate(context, model->slot_of, bodies, sizeof *slot_of);
    if (slot_of)
        model->slot_of = slot_of;
    int32_t *body_of = yk_reallocate(context, model->body_of, bodies, sizeof *body_of);
    if (body_of)
        model->body_of = body_of;
    yk_surface_law *pairs =
        yk_reallocate(context, model->pair_laws, materials * materials, sizeof *pairs);
    if (pairs)
        model->pair_laws = pairs;
    if (!slot_of || !body_of || (materials > 0 && !pairs))
        return YK_ERROR_MEMORY;

    /* Allocate workspace first, so that nothing can fail once the order changes. */
    size_t longer = bodies > model->part_count ? bodies : model->part_count;
    sort_entry *entries = yk_reallocate(context, NULL, longer, sizeof *entries);
    yk_body_model *sorted_bodies = yk_reallocate(context, NULL, bodies, sizeof *sorted_bodies);
    yk_part *sorted_parts = yk_reallocate(context, NULL, model->part_count, sizeof *sorted_parts);
    yk_status status = YK_ERROR_MEMORY;
    if (entries && sorted_bodies && (sorted_parts || model->part_count == 0))
        status = mark_round_parts(model);
    if (status == YK_OK) {
        sort_bodies(model, entries, sorted_bodies);
        sort_parts(model, entries, sorted_parts);
        if (model->exclusion_count > 0)
            qsort(model->exclusions, model->exclusion_count, sizeof *model->exclusions,
                  yk_world_compare_exclusions);
        model->frozen = true;
        find_slots(model);
        combine_materials(model);
        choose_envelope(model);
        choose_capacities(model);
        status = check_laws(model);
        if (status == YK_OK)
            status = freeze_period(model);
        if (status == YK_OK)
            status = yk_world_freeze_flow(model);
    }

    yk_free(context, entries);
    yk_free(context, sorted_bodies);
    yk_free(context, sorted_parts);
    return status;
}

size_t yk_world_model_bytes(const yk_world_model *model)
{
    size_t per_body = sizeof *model->initial + sizeof *model->bodies + sizeof *model->names;
    if (model->frozen)
        per_body += sizeof *model->slot_of + sizeof *model->body_of;
    return model->body_capacity * per_body + model->part_capacity * sizeof *model->parts +
           model->geometry_capacity * sizeof *model->geometries +
           model->point_capacity * sizeof *model->points +
           model->tensor_capacity * sizeof *model->tensors;
}
