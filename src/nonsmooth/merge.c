/* Several worlds as one: bodies, shapes, joints, forces and ports one after the other, with joints where the ports were
 * coupled. Solids of different worlds do not touch each other, as they do not when the worlds are coupled. */
#include <string.h>

#include "base/text.h"
#include "nonsmooth/world.h"

/* Where the things of each world begin in the whole. */
typedef struct totals {
    size_t bodies, tensors, parts, geometries, points, materials, shapes, joints, forces, ports, signals, prescriptions;
} totals;

static const yk_nonsmooth *world_at(const yk_merge_def *merge, int part)
{
    return (const yk_nonsmooth *)merge->parts[part];
}

static totals totals_before(const yk_merge_def *merge, int part)
{
    totals sum = {0};
    for (int i = 0; i < part; i++) {
        const yk_nonsmooth *world = world_at(merge, i);
        sum.bodies += world->body_count;
        sum.tensors += world->tensor_count;
        sum.parts += world->part_count;
        sum.geometries += world->geometry_count;
        sum.points += world->point_count;
        sum.materials += world->material_count;
        sum.shapes += world->shape_count;
        sum.joints += world->joint_count;
        sum.forces += world->force_count;
        sum.ports += world->port_count;
        sum.signals += world->signal_count;
        sum.prescriptions += world->prescription_count;
    }
    return sum;
}

/* Checks ------------------------------------------------------------------------------------------------------------- */

static yk_status check_worlds(yk_context *context, const yk_merge_def *merge)
{
    const yk_nonsmooth_def *first = &world_at(merge, 0)->def;
    if (merge->relaxed)
        return yk_fail(
            context, YK_ERROR_CAPABILITY,
            "nonsmooth subsystems cannot be relaxed part by part; choose the scheme monolithic, tight or index1");
    if (merge->transforms)
        return yk_fail(
            context, YK_ERROR_CAPABILITY,
            "nonsmooth subsystems are merged as they are, and these have different units or frames: give all "
            "the same, or choose the scheme tight or index1");
    for (int i = 0; i < merge->part_count; i++) {
        const yk_nonsmooth *world = world_at(merge, i);
        const yk_sleeping *a = &first->sleeping, *b = &world->def.sleeping;
        if (world->slot_of)
            return yk_fail(context, YK_ERROR_ARGUMENT, "a nonsmooth subsystem that has started cannot be merged");
        if (yk_v3_norm(yk_v3_sub(world->def.gravity, first->gravity)) > 0)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "nonsmooth subsystems with different gravity cannot be merged: give all the same, or choose "
                           "the scheme tight or index1");
        if (a->speed != b->speed || a->angular_speed != b->angular_speed || a->after != b->after)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "nonsmooth subsystems that go to sleep differently cannot be merged: give all the same "
                           "'sleeping', or choose the scheme tight or index1");
    }
    for (int i = 0; i < merge->joint_count; i++) {
        const yk_merge_joint *joint = &merge->joints[i];
        const yk_nonsmooth *a = world_at(merge, joint->part_a), *b = world_at(merge, joint->part_b);
        bool known = (size_t)joint->port_a < a->port_count && (size_t)joint->port_b < b->port_count;
        if (!known || a->ports[joint->port_a].line || b->ports[joint->port_b].line)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "ports '%s' and '%s' cannot be merged: only markers can be joined rigidly",
                           known ? a->ports[joint->port_a].name : "?", known ? b->ports[joint->port_b].name : "?");
    }
    return YK_OK;
}

/* The strictest of what the worlds ask of their solver and of contacts. */
static yk_nonsmooth_def common_def(const yk_merge_def *merge)
{
    yk_nonsmooth_def def = world_at(merge, 0)->def;
    for (int i = 1; i < merge->part_count; i++) {
        const yk_nonsmooth_def *other = &world_at(merge, i)->def;
        def.solver.tolerance = fmin(def.solver.tolerance, other->solver.tolerance);
        if (other->solver.iterations > def.solver.iterations) def.solver.iterations = other->solver.iterations;
        bool chosen = def.envelope == 0 || other->envelope == 0;
        def.envelope = chosen ? 0 : fmin(def.envelope, other->envelope);
        bool roomy = def.contact_capacity == 0 || other->contact_capacity == 0;
        def.contact_capacity = roomy ? 0 : def.contact_capacity + other->contact_capacity;
    }
    return def;
}

/* Copies ------------------------------------------------------------------------------------------------------------- */

static yk_status take_memory(yk_nonsmooth *whole, const totals *sum, int world_count, int joint_count)
{
    yk_context *context = whole->context;
    size_t worlds = (size_t)world_count + 1;
    size_t joints = sum->joints + YK_JOINT_PIECES_MAX * (size_t)joint_count;
    struct {
        void *list;
        size_t count, size, *capacity;
    } const arrays[] = {
        {&whole->initial, sum->bodies, sizeof *whole->initial, &whole->body_capacity},
        {&whole->models, sum->bodies, sizeof *whole->models, &whole->body_capacity},
        {&whole->names, sum->bodies, sizeof *whole->names, &whole->body_capacity},
        {&whole->tensors, sum->tensors, sizeof *whole->tensors, &whole->tensor_capacity},
        {&whole->parts, sum->parts, sizeof *whole->parts, &whole->part_capacity},
        {&whole->geometries, sum->geometries, sizeof *whole->geometries, &whole->geometry_capacity},
        {&whole->points, sum->points, sizeof *whole->points, &whole->point_capacity},
        {&whole->materials, sum->materials, sizeof *whole->materials, &whole->material_capacity},
        {&whole->joints, joints, sizeof *whole->joints, &whole->joint_capacity},
        {&whole->forces, sum->forces, sizeof *whole->forces, &whole->force_capacity},
        {&whole->ports, sum->ports, sizeof *whole->ports, &whole->port_capacity},
        {&whole->signals, sum->signals, sizeof *whole->signals, &whole->signal_capacity},
        {&whole->prescriptions, sum->prescriptions, sizeof *whole->prescriptions, &whole->prescription_capacity},
        {&whole->world_bodies, worlds, sizeof *whole->world_bodies, NULL},
        {&whole->driven_lengths, 3 * (size_t)joint_count, sizeof *whole->driven_lengths, NULL},
        {&whole->world_joints, worlds, sizeof *whole->world_joints, NULL},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void *memory = yk_allocate(context, arrays[i].count, arrays[i].size);
        if (!memory) return YK_ERROR_MEMORY;
        memcpy(arrays[i].list, &memory, sizeof memory);
        if (arrays[i].capacity) *arrays[i].capacity = arrays[i].count;
    }
    return YK_OK;
}

static char *copied_name(yk_nonsmooth *whole, const char *name, yk_status *status)
{
    char *copy = name ? yk_text_copy(whole->context, name) : NULL;
    if (name && !copy) *status = YK_ERROR_MEMORY;
    return copy;
}

static int shifted(int body, const totals *at)
{
    return body < 0 ? body : body + (int)at->bodies;
}

static yk_status copy_bodies(yk_nonsmooth *whole, const yk_nonsmooth *world, const totals *at)
{
    yk_status status = YK_OK;
    for (size_t i = 0; i < world->body_count; i++, whole->body_count++) {
        size_t to = at->bodies + i;
        whole->initial[to] = world->initial[i];
        whole->models[to] = world->models[i];
        if (world->models[i].tensor >= 0) whole->models[to].tensor += (int32_t)at->tensors;
        whole->names[to] = copied_name(whole, world->names[i], &status);
    }
    for (size_t i = 0; i < world->tensor_count; i++) whole->tensors[whole->tensor_count++] = world->tensors[i];
    for (size_t i = 0; i < world->prescription_count; i++) {
        yk_prescription *made = &whole->prescriptions[whole->prescription_count++];
        *made = world->prescriptions[i];
        made->body = shifted(made->body, at);
    }
    return status;
}

static void copy_shapes(yk_nonsmooth *whole, const yk_nonsmooth *world, const totals *at, int number)
{
    for (size_t i = 0; i < world->part_count; i++) {
        yk_part *made = &whole->parts[whole->part_count++];
        *made = world->parts[i];
        made->body = shifted(made->body, at);
        made->shape += (int32_t)at->shapes;
        made->material += (int32_t)at->materials;
        made->world = (uint16_t)number;
        if (made->geometry >= 0) made->geometry += (int32_t)at->geometries;
    }
    for (size_t i = 0; i < world->geometry_count; i++) {
        yk_part_geometry *made = &whole->geometries[whole->geometry_count++];
        *made = world->geometries[i];
        made->first_point += (int32_t)at->points;
    }
    for (size_t i = 0; i < world->point_count; i++) whole->points[whole->point_count++] = world->points[i];
    for (size_t i = 0; i < world->material_count; i++) whole->materials[whole->material_count++] = world->materials[i];
    whole->shape_count += world->shape_count;
}

static yk_status copy_joints_and_forces(yk_nonsmooth *whole, const yk_nonsmooth *world, const totals *at)
{
    for (size_t i = 0; i < world->joint_count; i++) {
        yk_nonsmooth_joint_def def = world->joints[i].def;
        def.name = world->joints[i].name;
        def.body_a = shifted(def.body_a, at), def.body_b = shifted(def.body_b, at);
        int made = yk_nonsmooth_add_joint(whole, &def);
        if (made < 0) return (yk_status)made;
    }
    for (size_t i = 0; i < world->force_count; i++) {
        yk_nonsmooth_force_def def = world->forces[i].def;
        def.name = world->forces[i].name;
        def.body_a = shifted(def.body_a, at), def.body_b = shifted(def.body_b, at);
        if (def.input >= 0) def.input += (int)at->signals;
        int made = yk_nonsmooth_add_force(whole, &def);
        if (made < 0) return (yk_status)made;
    }
    return YK_OK;
}

static yk_status copy_ports(yk_nonsmooth *whole, const yk_nonsmooth *world, const totals *at, int number)
{
    yk_status status = YK_OK;
    for (size_t i = 0; i < world->port_count; i++) {
        yk_port_slot *made = &whole->ports[whole->port_count++];
        const yk_port_slot *port = &world->ports[i];
        *made = (yk_port_slot){.body = shifted(port->body, at),
                               .marker = port->marker,
                               .joint = -1,
                               .line = port->line,
                               .far_body = shifted(port->far_body, at),
                               .far_marker = port->far_marker,
                               .world = number};
        made->name = copied_name(whole, port->name, &status);
    }
    for (size_t i = 0; i < world->signal_count; i++) {
        yk_signal_slot *made = &whole->signals[whole->signal_count++];
        *made = (yk_signal_slot){.world = number};
        made->name = copied_name(whole, world->signals[i].name, &status);
    }
    return status;
}

/* A relative motion that an interface prescribes, as the drive of a joint: angles, and lengths in units of the whole. */
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

/* Constrained motions are named in the axes of b, so b's marker comes first; the ports show the wrench of the joints. */
static yk_status join(yk_nonsmooth *whole, const yk_merge_def *merge, const yk_merge_joint *joint)
{
    totals at_a = totals_before(merge, joint->part_a), at_b = totals_before(merge, joint->part_b);
    yk_port_slot *a = &whole->ports[at_a.ports + (size_t)joint->port_a];
    yk_port_slot *b = &whole->ports[at_b.ports + (size_t)joint->port_b];
    unsigned driven = 0;
    for (int k = 0; joint->drive && k < 6; k++)
        if (joint->drive[k].evaluate) driven |= 1u << k;
    yk_joint_piece pieces[YK_JOINT_PIECES_MAX];
    int count = yk_joint_pieces(joint->constrained, driven, pieces);
    if (count == 0)
        return yk_fail(
            whole->context, YK_ERROR_CAPABILITY,
            "ports '%s' and '%s' cannot be merged: of the rotations between them one can be prescribed, with "
            "the other two held or both free; choose the scheme index1",
            a->name, b->name);

    a->merged = b->merged = (int)whole->joint_count;
    a->merged_count = b->merged_count = count;
    a->merged_side = 1;
    for (int i = 0; i < count; i++) {
        yk_nonsmooth_joint_def def = yk_nonsmooth_joint_default();
        def.kind = pieces[i].kind;
        def.constrained = pieces[i].constrained;
        def.body_a = b->body, def.body_b = a->body;
        def.marker_a = b->marker, def.marker_b = a->marker;
        def.marker_a.orientation = yk_q_mul(def.marker_a.orientation, pieces[i].axes);
        def.marker_b.orientation = yk_q_mul(def.marker_b.orientation, pieces[i].axes);
        if (pieces[i].driven >= 3)
            def.drive =
                (yk_function){.value = driven_angle, .user = (void *)(uintptr_t)&joint->drive[pieces[i].driven]};
        if (pieces[i].driven >= 0 && pieces[i].driven < 3) {
            yk_driven_length *length = &whole->driven_lengths[whole->driven_count++];
            *length = (yk_driven_length){&joint->drive[pieces[i].driven], merge->length};
            def.drive = (yk_function){.value = driven_length, .user = length};
        }
        int made = yk_nonsmooth_add_joint(whole, &def);
        if (made < 0) return (yk_status)made;
    }
    return YK_OK;
}

yk_status yk_nonsmooth_merge(const yk_merge_def *merge, yk_subsystem **merged)
{
    *merged = NULL;
    yk_context *context = world_at(merge, 0)->context;
    yk_status status = check_worlds(context, merge);
    if (status < 0) return status;
    yk_nonsmooth *whole;
    yk_nonsmooth_def def = common_def(merge);
    status = yk_nonsmooth_create(context, &def, &whole);
    if (status < 0) return status;

    totals sum = totals_before(merge, merge->part_count);
    status = take_memory(whole, &sum, merge->part_count, merge->joint_count);
    whole->world_count = merge->part_count;
    for (int i = 0; i < merge->part_count && status == YK_OK; i++) {
        const yk_nonsmooth *world = world_at(merge, i);
        totals at = totals_before(merge, i);
        whole->world_bodies[i] = at.bodies, whole->world_joints[i] = at.joints;
        status = copy_bodies(whole, world, &at);
        copy_shapes(whole, world, &at, i);
        if (status == YK_OK) status = copy_ports(whole, world, &at, i);
        if (status == YK_OK) status = copy_joints_and_forces(whole, world, &at);
    }
    if (status == YK_OK) {
        whole->world_bodies[merge->part_count] = sum.bodies;
        whole->world_joints[merge->part_count] = sum.joints;
        status = yk_world_list_ports(whole);
    }
    for (int i = 0; i < merge->joint_count && status == YK_OK; i++) status = join(whole, merge, &merge->joints[i]);
    if (status == YK_OK) status = yk_world_name_channels(whole); /* nobody asks for them by name */
    if (status < 0) {
        yk_nonsmooth_destroy(whole);
        return status;
    }
    *merged = yk_nonsmooth_subsystem(whole);
    return YK_OK;
}
