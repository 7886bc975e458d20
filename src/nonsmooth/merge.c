/* Merges several worlds: bodies, shapes, joints, forces and ports one after another, with joints in
 * place of coupled ports. Solids of different worlds do not touch each other, as in the coupled
 * case. Mechanisms of rigid bodies of other solvers become worlds first (adopt.c). */
#include <string.h>

#include "base/text.h"
#include "nonsmooth/world.h"

static const yk_world_model *model_at(const yk_merge_def *merge, int part)
{
    return &((const yk_nonsmooth *)merge->parts[part])->model;
}

/* First elements of each world in the whole. */
typedef struct totals {
    size_t bodies, tensors, parts, geometries, points, materials, surface_pairs, exclusions,
        surfaces, shapes, joints, forces, ports, signals, prescriptions, emitters, sinks;
} totals;

static totals totals_before(const yk_merge_def *merge, int part)
{
    totals sum = {0};
    for (int i = 0; i < part; i++) {
        const yk_world_model *model = model_at(merge, i);
        sum.bodies += model->body_count;
        sum.tensors += model->tensor_count;
        sum.parts += model->part_count;
        sum.geometries += model->geometry_count;
        sum.points += model->point_count;
        sum.materials += model->material_count;
        sum.surface_pairs += model->surface_pair_count;
        sum.exclusions += model->exclusion_count;
        sum.surfaces += (size_t)model->surface_count;
        sum.shapes += model->shape_count;
        sum.joints += model->joint_count;
        sum.forces += model->force_count;
        sum.ports += model->port_count;
        sum.signals += model->signal_count;
        sum.prescriptions += model->prescription_count;
        sum.emitters += model->emitter_count;
        sum.sinks += model->sink_count;
    }

    return sum;
}

/* Checks --------------------------------------------------------------------------------------- */

/* Impacts change velocities at once, so that no part has differential equations of its own. */
static yk_status refuse_separate_parts(yk_context *context)
{
    return yk_fail(context, YK_ERROR_CAPABILITY,
                   "nonsmooth subsystems cannot be relaxed part by part");
}

static yk_status check_worlds(yk_context *context, const yk_merge_def *merge)
{
    if (merge->separate_parts)
        return refuse_separate_parts(context);
    if (merge->transforms)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "nonsmooth subsystems are merged as they are, and these have different "
                       "units or frames: give all the same");

    /* A common step needs the same gravity and the same sleeping options. Adopted worlds have those
     * of the others. */
    const yk_nonsmooth_def *first = &model_at(merge, 0)->def;
    for (int i = 0; i < merge->part_count; i++) {
        const yk_world_model *model = model_at(merge, i);
        const yk_sleep_options *a = &first->sleeping, *b = &model->def.sleeping;

        if (model->frozen)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "a nonsmooth subsystem that has started cannot be merged");
        if (yk_v3_norm(yk_v3_sub(model->def.gravity, first->gravity)) > 0)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "nonsmooth subsystems with different gravity cannot be merged: give all "
                           "the same");
        const yk_periodic_box *p = &first->periodic, *q = &model->def.periodic;
        if (yk_v3_norm(yk_v3_sub(p->lower, q->lower)) > 0 ||
            yk_v3_norm(yk_v3_sub(p->upper, q->upper)) > 0)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "nonsmooth subsystems whose space repeats itself differently cannot be "
                           "merged: give all the same period");
        if (model->def.impact_law != first->impact_law)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "nonsmooth subsystems with different impact laws cannot be merged: give "
                           "all the same");
        if (a->speed_threshold != b->speed_threshold ||
            a->angular_speed_threshold != b->angular_speed_threshold || a->delay != b->delay)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "nonsmooth subsystems that go to sleep differently cannot be merged: "
                           "give all the same rule of sleeping");
    }

    /* Lines are actuators, which cannot be joined rigidly. */
    for (int i = 0; i < merge->joint_count; i++) {
        const yk_merge_joint *joint = &merge->joints[i];
        const yk_world_model *a = model_at(merge, joint->part_a),
                             *b = model_at(merge, joint->part_b);
        if ((size_t)joint->port_a >= a->port_count + a->signal_count ||
            (size_t)joint->port_b >= b->port_count + b->signal_count)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "a joint between parts names a port that is not there");

        int number_a = a->port_numbers[joint->port_a], number_b = b->port_numbers[joint->port_b];
        if (number_a < 0 || number_b < 0)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "signal ports cannot be merged: only markers can be joined");

        const yk_port_model *port_a = &a->ports[number_a], *port_b = &b->ports[number_b];
        if (port_a->line || port_b->line)
            return yk_fail(
                context, YK_ERROR_CAPABILITY,
                "ports '%s' and '%s' cannot be merged: only markers can be joined rigidly",
                port_a->name, port_b->name);
    }

    return YK_OK;
}

/* Copies --------------------------------------------------------------------------------------- */

static yk_status take_memory(yk_world_model *whole, const totals *sum, int world_count,
                             int joint_count)
{
    /* The final length of all lists is known here. */
    size_t worlds = (size_t)world_count + 1;
    size_t joints = sum->joints + YK_JOINT_PIECES_MAX * (size_t)joint_count;
    struct {
        void *list;
        size_t count, size, *capacity;
    } const arrays[] = {
        {&whole->initial, sum->bodies, sizeof *whole->initial, &whole->body_capacity},
        {&whole->bodies, sum->bodies, sizeof *whole->bodies, &whole->body_capacity},
        {&whole->names, sum->bodies, sizeof *whole->names, &whole->body_capacity},
        {&whole->tensors, sum->tensors, sizeof *whole->tensors, &whole->tensor_capacity},
        {&whole->parts, sum->parts, sizeof *whole->parts, &whole->part_capacity},
        {&whole->geometries, sum->geometries, sizeof *whole->geometries, &whole->geometry_capacity},
        {&whole->points, sum->points, sizeof *whole->points, &whole->point_capacity},
        {&whole->materials, sum->materials, sizeof *whole->materials, &whole->material_capacity},
        {&whole->surface_pairs, sum->surface_pairs, sizeof *whole->surface_pairs,
         &whole->surface_pair_capacity},
        {&whole->exclusions, sum->exclusions, sizeof *whole->exclusions,
         &whole->exclusion_capacity},
        {&whole->joints, joints, sizeof *whole->joints, &whole->joint_capacity},
        {&whole->forces, sum->forces, sizeof *whole->forces, &whole->force_capacity},
        {&whole->ports, sum->ports, sizeof *whole->ports, &whole->port_capacity},
        {&whole->signals, sum->signals, sizeof *whole->signals, &whole->signal_capacity},
        {&whole->prescriptions, sum->prescriptions, sizeof *whole->prescriptions,
         &whole->prescription_capacity},
        {&whole->emitters, sum->emitters, sizeof *whole->emitters, NULL},
        {&whole->sinks, sum->sinks, sizeof *whole->sinks, NULL},
        {&whole->world_bodies, worlds, sizeof *whole->world_bodies, NULL},
        {&whole->origins, sum->bodies, sizeof *whole->origins, NULL},
        {&whole->world_joints, worlds, sizeof *whole->world_joints, NULL},
        {&whole->world_forces, worlds, sizeof *whole->world_forces, NULL},
        {&whole->driven_lengths, 3 * (size_t)joint_count, sizeof *whole->driven_lengths, NULL},
    };

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void *memory = yk_allocate(whole->context, arrays[i].count, arrays[i].size);
        if (!memory)
            return YK_ERROR_MEMORY;

        memcpy(arrays[i].list, &memory, sizeof memory);
        if (arrays[i].capacity)
            *arrays[i].capacity = arrays[i].count;
    }

    return YK_OK;
}

static char *copied_name(yk_world_model *whole, const char *name, yk_status *status)
{
    /* Bodies, joints and forces may have no name. */
    char *copy = name ? yk_text_copy(whole->context, name) : NULL;
    if (name && !copy)
        *status = YK_ERROR_MEMORY;
    return copy;
}

/* A body of a world in the whole; the ground is unchanged. */
static int shifted(int body, const totals *at)
{
    return body < 0 ? body : body + (int)at->bodies;
}

/* Appends all elements of a world. */
static yk_status copy_world(yk_nonsmooth *merged, const yk_world_model *world, const totals *at,
                            int number)
{
    yk_world_model *whole = &merged->model;
    yk_status status = YK_OK;

    /* Bodies, their tensors, and their prescribed motions. */
    for (size_t i = 0; i < world->body_count; i++) {
        size_t to = whole->body_count++;
        whole->initial[to] = world->initial[i];
        whole->bodies[to] = world->bodies[i];
        if (world->bodies[i].tensor >= 0)
            whole->bodies[to].tensor += (int32_t)at->tensors;
        whole->names[to] = copied_name(whole, world->names[i], &status);
        if (world->origins)
            whole->origins[to] = world->origins[i];
    }

    for (size_t i = 0; i < world->tensor_count; i++)
        whole->tensors[whole->tensor_count++] = world->tensors[i];

    for (size_t i = 0; i < world->prescription_count; i++) {
        yk_prescription *made = &whole->prescriptions[whole->prescription_count++];
        *made = world->prescriptions[i];
        made->body = shifted(made->body, at);
    }

    /* Emitters and sinks of this world only. */
    for (size_t i = 0; i < world->emitter_count; i++) {
        yk_emitter_model *made = &whole->emitters[whole->emitter_count++];
        *made = world->emitters[i];
        made->name = copied_name(whole, world->emitters[i].name, &status);
        made->first += at->bodies;
        made->world = number;
    }

    for (size_t i = 0; i < world->sink_count; i++) {
        yk_sink_model *made = &whole->sinks[whole->sink_count++];
        *made = world->sinks[i];
        made->name = copied_name(whole, world->sinks[i].name, &status);
        made->world = number;
    }

    /* Solids, with their original world. */
    for (size_t i = 0; i < world->part_count; i++) {
        yk_part *made = &whole->parts[whole->part_count++];
        *made = world->parts[i];
        made->body = shifted(made->body, at);
        made->shape += (int32_t)at->shapes;
        made->material += (int32_t)at->materials;
        made->world = (uint16_t)number;
        if (made->geometry >= 0)
            made->geometry += (int32_t)at->geometries;
    }

    /* Geometries refer to points by their index in the whole. */
    for (size_t i = 0; i < world->geometry_count; i++) {
        yk_part_geometry *made = &whole->geometries[whole->geometry_count++];
        *made = world->geometries[i];
        made->first_point += (int32_t)at->points;
    }

    for (size_t i = 0; i < world->point_count; i++)
        whole->points[whole->point_count++] = world->points[i];

    /* Surface numbers are shifted, so that pairs of one world do not apply to another. */
    for (size_t i = 0; i < world->material_count; i++) {
        yk_material *made = &whole->materials[whole->material_count++];
        *made = world->materials[i];
        if (made->surface_id > 0)
            made->surface_id += (int)at->surfaces;
    }

    for (size_t i = 0; i < world->surface_pair_count; i++) {
        yk_material_pair_def *made = &whole->surface_pairs[whole->surface_pair_count++];
        *made = world->surface_pairs[i];
        made->surface_ids[0] += (int)at->surfaces;
        made->surface_ids[1] += (int)at->surfaces;
    }

    for (size_t i = 0; i < world->exclusion_count; i++) {
        const int32_t *body = world->exclusions[i].body;
        whole->exclusions[whole->exclusion_count++] =
            (yk_exclusion){{shifted(body[0], at), shifted(body[1], at)}};
    }

    whole->shape_count += world->shape_count;

    /* Ports and signals, not connected. */
    for (size_t i = 0; i < world->port_count; i++) {
        const yk_port_model *port = &world->ports[i];
        whole->ports[whole->port_count++] = (yk_port_model){
            .name = copied_name(whole, port->name, &status),
            .body = shifted(port->body, at),
            .marker = port->marker,
            .joint = -1,
            .line = port->line,
            .far_body = shifted(port->far_body, at),
            .far_marker = port->far_marker,
            .world = number,
            .place = port->place,
        };
    }

    for (size_t i = 0; i < world->signal_count; i++) {
        char *name = copied_name(whole, world->signals[i].name, &status);
        whole->signals[whole->signal_count++] =
            (yk_signal_model){.name = name, .world = number, .place = world->signals[i].place};
    }

    if (status != YK_OK)
        return status;

    /* Joints and forces by their add functions. */
    for (size_t i = 0; i < world->joint_count; i++) {
        yk_joint_def def = world->joints[i].def;
        def.name = world->joints[i].name;
        for (int side = 0; side < 2; side++)
            def.bodies[side] = (yk_body_id){shifted(def.bodies[side].index, at)};

        if (yk_world_add_joint(merged, &def) == YK_NO_ID)
            return yk_last_status(world->context);
    }

    for (size_t i = 0; i < world->force_count; i++) {
        yk_force_def def = world->forces[i].def;
        def.name = world->forces[i].name;
        for (int side = 0; side < 2; side++)
            def.bodies[side] = (yk_body_id){shifted(def.bodies[side].index, at)};
        if (def.signal_port.index >= 0)
            def.signal_port.index += (int)at->signals;

        if (yk_world_add_force(merged, &def) == YK_NO_ID)
            return yk_last_status(world->context);
    }

    return status;
}

/* Joints --------------------------------------------------------------------------------------- */

/* A relative motion that an interface prescribes, as the drive of a joint: angles, and lengths in
 * units of the whole. */
static double driven_angle(void *user, double t)
{
    const yk_relative_motion *drive = user;
    double value[3];
    drive->evaluate(drive->user, t, value);
    return value[0];
}

static double driven_length(void *user, double t)
{
    const yk_driven_length *length = user;
    return driven_angle((void *)(uintptr_t)length->motion, t) / length->unit;
}

/* Constrained motions are in the axes of b, so b's marker comes first; the ports return the wrench
 * of the joints. */
static yk_status join(yk_nonsmooth *world, const yk_merge_def *merge, const yk_merge_joint *joint)
{
    yk_world_model *whole = &world->model;
    totals at_a = totals_before(merge, joint->part_a), at_b = totals_before(merge, joint->part_b);
    int number_a = model_at(merge, joint->part_a)->port_numbers[joint->port_a];
    int number_b = model_at(merge, joint->part_b)->port_numbers[joint->port_b];
    yk_port_model *a = &whole->ports[at_a.ports + (size_t)number_a];
    yk_port_model *b = &whole->ports[at_b.ports + (size_t)number_b];

    /* Joints of this solver that together constrain and prescribe these motions. */
    unsigned driven = 0;
    for (int k = 0; joint->drive && k < 6; k++)
        if (joint->drive[k].evaluate)
            driven |= 1u << k;

    yk_joint_piece pieces[YK_JOINT_PIECES_MAX];
    int count = yk_joint_pieces(joint->constrained_axes, driven, pieces);
    if (count == 0)
        return yk_fail(whole->context, YK_ERROR_CAPABILITY,
                       "ports '%s' and '%s' cannot be merged: of the rotations between them one "
                       "can be prescribed, with the other two held or both free",
                       a->name, b->name);

    /* Both ports return the wrench of these joints, each for its own side. */
    a->merged = b->merged = (int)whole->joint_count;
    a->merged_count = b->merged_count = count;
    a->merged_side = 1;

    for (int i = 0; i < count; i++) {
        const yk_joint_piece *piece = &pieces[i];
        yk_joint_def def = yk_joint_default();
        def.kind = piece->kind;
        def.constrained_axes = piece->constrained;
        def.length = joint->radius / merge->length_unit;
        def.bodies[0] = (yk_body_id){b->body};
        def.bodies[1] = (yk_body_id){a->body};
        def.markers[0] = b->marker;
        def.markers[1] = a->marker;
        for (int side = 0; side < 2; side++)
            def.markers[side].orientation = yk_q_mul(def.markers[side].orientation, piece->axes);

        /* The prescribed motion of the interface drives the joint. */
        if (piece->driven >= 3) {
            const yk_relative_motion *angle = &joint->drive[piece->driven];
            def.drive =
                (yk_time_function){.evaluate = driven_angle, .user = (void *)(uintptr_t)angle};
        } else if (piece->driven >= 0) {
            yk_driven_length *length = &whole->driven_lengths[whole->driven_count++];
            *length = (yk_driven_length){&joint->drive[piece->driven], merge->length_unit};
            def.drive = (yk_time_function){.evaluate = driven_length, .user = length};
        }

        if (yk_world_add_joint(world, &def) == YK_NO_ID)
            return yk_last_status(whole->context);
    }

    return YK_OK;
}

/* Merges worlds. `origins` are the parts as they were given; those of another kind name their
 * channels. */
static yk_status merge_worlds(const yk_merge_def *merge, yk_subsystem *const *origins,
                              yk_subsystem **merged)
{
    yk_context *context = model_at(merge, 0)->context;
    yk_status status = check_worlds(context, merge);
    if (status != YK_OK)
        return status;

    /* The strictest options of all worlds for the solver and for contacts; options that one leaves
     * open (0) are chosen again. */
    yk_nonsmooth_def def = model_at(merge, 0)->def;
    for (int i = 1; i < merge->part_count; i++) {
        const yk_nonsmooth_def *other = &model_at(merge, i)->def;
        def.contact_options.tolerance =
            fmin(def.contact_options.tolerance, other->contact_options.tolerance);
        if (other->contact_options.max_iterations > def.contact_options.max_iterations)
            def.contact_options.max_iterations = other->contact_options.max_iterations;

        bool chosen = def.envelope == 0 || other->envelope == 0;
        def.envelope = chosen ? 0 : fmin(def.envelope, other->envelope);
        bool open = def.contact_capacity == 0 || other->contact_capacity == 0;
        def.contact_capacity = open ? 0 : def.contact_capacity + other->contact_capacity;
    }

    /* Create the solver and model of the whole. */
    yk_nonsmooth *world;
    status = yk_world_create(context, &def, &world);
    if (status != YK_OK)
        return status;

    /* One world after the other. */
    yk_world_model *whole = &world->model;
    totals sum = totals_before(merge, merge->part_count);
    status = take_memory(whole, &sum, merge->part_count, merge->joint_count);
    whole->world_count = merge->part_count;
    for (int i = 0; i < merge->part_count && status == YK_OK; i++) {
        const yk_world_model *model = model_at(merge, i);
        totals at = totals_before(merge, i);
        whole->world_bodies[i] = at.bodies;
        whole->world_joints[i] = at.joints;
        whole->world_forces[i] = at.forces;
        status = copy_world(world, model, &at, i);
    }

    /* Joints between the worlds. */
    if (status == YK_OK) {
        /* End of the ranges of the last world. */
        whole->world_bodies[merge->part_count] = sum.bodies;
        whole->world_joints[merge->part_count] = sum.joints;
        whole->world_forces[merge->part_count] = sum.forces;
        status = yk_world_list_ports(whole);
    }

    for (int i = 0; i < merge->joint_count && status == YK_OK; i++)
        status = join(world, merge, &merge->joints[i]);
    if (status == YK_OK)
        status = yk_world_name_merged_channels(world, origins); /* before they are searched */

    if (status != YK_OK) {
        yk_nonsmooth_destroy(world);
        return status;
    }

    *merged = yk_nonsmooth_subsystem(world);
    return YK_OK;
}

/* Makes worlds of the parts of other kinds, with gravity and options of the first world. */
static yk_status adopt_others(const yk_merge_def *merge, int first, yk_subsystem **worlds)
{
    yk_context *context = model_at(merge, first)->context;
    if (merge->separate_parts)
        return refuse_separate_parts(context);

    for (int i = 0; i < merge->part_count; i++) {
        if (merge->parts[i]->ops == yk_nonsmooth_ops())
            continue;

        yk_nonsmooth *world;
        yk_status status =
            yk_nonsmooth_adopt(context, &model_at(merge, first)->def, merge->parts[i], &world);
        if (status != YK_OK)
            return status;
        worlds[i] = yk_nonsmooth_subsystem(world);
    }

    return YK_OK;
}

yk_status yk_nonsmooth_merge(const yk_merge_def *merge, yk_subsystem **merged)
{
    *merged = NULL;
    bool alike = true;
    for (int i = 0; i < merge->part_count; i++)
        alike = alike && merge->parts[i]->ops == yk_nonsmooth_ops();
    if (alike)
        return merge_worlds(merge, merge->parts, merged);

    /* Adopted worlds exist only until their elements are copied. The first part of this kind has the
     * context. */
    size_t count = (size_t)merge->part_count;
    int own = 0;
    while (own < merge->part_count - 1 && merge->parts[own]->ops != yk_nonsmooth_ops())
        own++;
    yk_context *context = model_at(merge, own)->context;
    yk_subsystem **worlds = yk_allocate(context, count, sizeof *worlds);
    yk_subsystem **parts = yk_allocate(context, count, sizeof *parts);
    yk_status status = YK_ERROR_MEMORY;
    if (worlds && parts)
        status = adopt_others(merge, own, worlds);

    yk_merge_def all = *merge;
    all.parts = parts;
    for (int i = 0; i < merge->part_count && status == YK_OK; i++)
        parts[i] = worlds[i] ? worlds[i] : merge->parts[i];
    if (status == YK_OK)
        status = merge_worlds(&all, merge->parts, merged);

    for (size_t i = 0; worlds && i < count; i++)
        if (worlds[i])
            worlds[i]->ops->destroy(worlds[i]);
    yk_free(context, parts);
    yk_free(context, worlds);
    return status;
}
