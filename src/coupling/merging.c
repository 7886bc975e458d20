/* Schemes that merge: which subsystems become one participant, and the system that is left of them.
 *
 * Subsystems that interfaces join, directly or through others, are one group and are merged by
 * their own kind; its ports and channels are those of its parts in order. A subsystem without
 * interfaces, such as a controller, stays as it is. What is left has no interfaces, only wires,
 * and is built like any other system. */
#include "coupling/merging.h"

#include <stdio.h>
#include <string.h>

#include "coupling/interface.h"
#include "coupling/system.h"
#include "math/vec3.h"

enum { NAME_LENGTH = 128 };

/* Groups --------------------------------------------------------------------------------------- */

/* The smallest number of a subsystem that is joined to each, directly or through others. */
static void find_leaders(const yk_system_def *def, int *leader)
{
    for (int i = 0; i < def->subsystem_count; i++)
        leader[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < def->interface_count; i++) {
            int *a = &leader[def->interfaces[i].wrench_subsystem],
                *b = &leader[def->interfaces[i].motion_subsystem];
            if (*a == *b)
                continue;
            int least = *a < *b ? *a : *b;
            *a = *b = least;
            changed = true;
        }
    }
}

static yk_status check_ends(const yk_system *system, const yk_system_def *def)
{
    for (int i = 0; i < def->interface_count; i++) {
        const yk_interface_def *face = &def->interfaces[i];
        const int participant[2] = {face->wrench_subsystem, face->motion_subsystem};
        const int port[2] = {face->wrench_port, face->motion_port};
        for (int side = 0; side < 2; side++) {
            const yk_port *ports;
            bool known = participant[side] >= 0 && participant[side] < def->subsystem_count;
            const yk_subsystem *of = known ? def->subsystems[participant[side]] : NULL;
            if (!known || port[side] < 0 || port[side] >= of->ops->ports(of, &ports))
                return yk_fail(system->context, YK_ERROR_ARGUMENT,
                               "interface '%s': there is no port %d of a subsystem %d", face->name,
                               port[side], participant[side]);
        }
    }
    return YK_OK;
}

/* Every interface lies between two subsystems of one kind that can be merged. */
static yk_status check_kinds(const yk_system *system, const yk_system_def *def)
{
    const char *scheme = yk_system_scheme_name(system);
    for (int i = 0; i < def->interface_count; i++) {
        const yk_interface_def *face = &def->interfaces[i];
        int a = face->wrench_subsystem, b = face->motion_subsystem;
        const yk_subsystem_ops *first = def->subsystems[a]->ops, *second = def->subsystems[b]->ops;
        if (first != second)
            return yk_fail(system->context, YK_ERROR_CAPABILITY,
                           "scheme %s: interface '%s' joins '%s' (%s) and '%s' (%s), and "
                           "subsystems of different kinds "
                           "cannot be merged to one. Choose the scheme tight or index1, or model "
                           "both in one solver",
                           scheme, face->name, def->names[a], first->kind, def->names[b],
                           second->kind);
        if (!first->merging)
            return yk_fail(system->context, YK_ERROR_CAPABILITY,
                           "scheme %s: interface '%s' joins '%s' and '%s', and subsystems of the "
                           "kind %s cannot be "
                           "merged to one. Choose the scheme tight or index1",
                           scheme, face->name, def->names[a], def->names[b], first->kind);
    }
    return YK_OK;
}

static yk_status fill_group(yk_system *system, const yk_system_def *def, const int *leader,
                            int first, yk_group *group)
{
    yk_context *context = system->context;
    size_t count = 0;
    for (int i = first; i < def->subsystem_count; i++)
        count += leader[i] == first;
    group->parts = yk_allocate(context, count, sizeof *group->parts);
    group->objects = yk_allocate(context, count, sizeof(yk_subsystem *));
    group->name = yk_allocate(context, NAME_LENGTH, 1);
    if (!group->parts || !group->objects || !group->name)
        return YK_ERROR_MEMORY;
    int participant = (int)(group - system->merging->groups), port = 0, channel = 0;
    size_t used = 0;
    for (int i = first; i < def->subsystem_count; i++) {
        if (leader[i] != first)
            continue;
        const yk_subsystem *object = group->objects[group->part_count] = def->subsystems[i];
        const yk_port *ports;
        const yk_channel *channels;
        group->parts[group->part_count] = i;
        yk_system_part *place = &system->parts[i];
        place->participant = participant;
        place->port = port;
        place->channel = channel;
        place->shows = i == first;
        port += object->ops->ports(object, &ports);
        channel += object->ops->channels ? object->ops->channels->list(object, &channels) : 0;
        if (used < NAME_LENGTH)
            used += (size_t)snprintf(group->name + used, NAME_LENGTH - used, "%s%s",
                                     group->part_count ? " + " : "", def->names[i]);
        group->part_count++;
    }
    return YK_OK;
}

/* Placements and joints ------------------------------------------------------------------------ */

static bool same_transform(const yk_transform *a, const yk_transform *b)
{
    return a->length == b->length && a->mass == b->mass &&
           memcmp(&a->position, &b->position, sizeof a->position) == 0 &&
           memcmp(&a->orientation, &b->orientation, sizeof a->orientation) == 0;
}

/* A placement as one that is placed itself sees it: x of the part is at p + Q (l x) of the
 * reference. */
static yk_transform relative_transform(const yk_transform *part, const yk_transform *reference)
{
    yk_vec3 displacement = yk_v3_sub(part->position, reference->position);
    return (yk_transform){
        .position = yk_v3_scale(1 / reference->length,
                                yk_q_rotate_back(reference->orientation, displacement)),
        .orientation = yk_q_mul(yk_q_conjugate(reference->orientation), part->orientation),
        .length = part->length / reference->length,
        .mass = part->mass / reference->mass,
    };
}

/* The group has the units and axes of its first part, so that parts which agree need not be
 * converted. */
static yk_status place_group(yk_system *system, const yk_system_def *def, yk_group *group)
{
    if (!def->transforms)
        return YK_OK;
    const yk_transform *first = &def->transforms[group->parts[0]];
    bool same = true;
    for (int i = 1; i < group->part_count; i++)
        same = same && same_transform(&def->transforms[group->parts[i]], first);
    if (same)
        return YK_OK;
    group->transforms =
        yk_allocate(system->context, (size_t)group->part_count, sizeof *group->transforms);
    if (!group->transforms)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < group->part_count; i++)
        group->transforms[i] = relative_transform(&def->transforms[group->parts[i]], first);
    return YK_OK;
}

static int place_in(const yk_group *group, int subsystem)
{
    int i = 0;
    while (group->parts[i] != subsystem)
        i++;
    return i;
}

static yk_status join_group(yk_system *system, const yk_system_def *def, yk_group *group)
{
    int count = 0;
    group->joints =
        yk_allocate(system->context, (size_t)def->interface_count, sizeof *group->joints);
    if (!group->joints)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < def->interface_count; i++) {
        const yk_interface_def *face = &def->interfaces[i];
        if (&system->merging->groups[system->parts[face->wrench_subsystem].participant] != group)
            continue;
        group->joints[count++] = (yk_merge_joint){.part_a = place_in(group, face->wrench_subsystem),
                                                  .port_a = face->wrench_port,
                                                  .part_b = place_in(group, face->motion_subsystem),
                                                  .port_b = face->motion_port,
                                                  .constrained = face->constrained,
                                                  .drive = face->drive};
    }
    group->merge =
        (yk_merge_def){.parts = group->objects,
                       .part_count = group->part_count,
                       .transforms = group->transforms,
                       .joints = group->joints,
                       .joint_count = count,
                       .length = def->transforms ? def->transforms[group->parts[0]].length : 1,
                       .relaxed = (system->traits & YK_SCHEME_RELAXES_PARTS) != 0};
    return YK_OK;
}

/* The system that is left ---------------------------------------------------------------------- */

/* Its participants have names, units and steps of their own; those of a group are the first
 * part's, and one step. */
static void reduce(yk_system *system, const yk_system_def *def)
{
    yk_merging *merging = system->merging;
    for (int i = 0; i < merging->group_count; i++) {
        const yk_group *group = &merging->groups[i];
        int first = group->parts[0];
        bool merged = group->merged != NULL;
        merging->subsystems[i] = merged ? group->merged : def->subsystems[first];
        merging->names[i] = merged ? group->name : def->names[first];
        if (def->transforms)
            merging->transforms[i] = def->transforms[first];
        merging->substeps[i] = def->substeps && !merged ? def->substeps[first] : 1;
    }
    for (int i = 0; i < def->wire_count; i++) {
        yk_wire_def *wire = &merging->wires[i];
        *wire = def->wires[i];
        const yk_system_part *from = &system->parts[wire->source_subsystem],
                             *to = &system->parts[wire->target_subsystem];
        wire->source_subsystem = from->participant;
        if (wire->source_port >= 0)
            wire->source_port += from->port;
        wire->source_channel += from->channel;
        wire->target_subsystem = to->participant;
        wire->target_port += to->port;
    }
    merging->reduced = *def;
    merging->reduced.subsystems = merging->subsystems;
    merging->reduced.names = merging->names;
    merging->reduced.subsystem_count = merging->group_count;
    merging->reduced.transforms = def->transforms ? merging->transforms : NULL;
    merging->reduced.substeps = merging->substeps;
    merging->reduced.interface_count = 0;
    merging->reduced.wires = merging->wires;
}

static yk_status check_wires(const yk_system *system, const yk_system_def *def)
{
    for (int i = 0; i < def->wire_count; i++) {
        const yk_wire_def *wire = &def->wires[i];
        bool known = wire->source_subsystem >= 0 && wire->source_subsystem < def->subsystem_count &&
                     wire->target_subsystem >= 0 && wire->target_subsystem < def->subsystem_count;
        if (!known)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "wire '%s' names a subsystem that is not there",
                           wire->name ? wire->name : "unnamed");
    }
    return YK_OK;
}

static yk_status take_memory(yk_system *system, const yk_system_def *def)
{
    yk_context *context = system->context;
    yk_merging *merging = system->merging;
    size_t count = (size_t)def->subsystem_count;
    merging->groups = yk_allocate(context, count, sizeof *merging->groups);
    merging->subsystems = yk_allocate(context, count, sizeof(yk_subsystem *));
    merging->names = yk_allocate(context, count, sizeof *merging->names);
    merging->transforms = yk_allocate(context, count, sizeof *merging->transforms);
    merging->substeps = yk_allocate(context, count, sizeof *merging->substeps);
    merging->wires = yk_allocate(context, (size_t)def->wire_count, sizeof *merging->wires);
    merging->interfaces =
        yk_allocate(context, (size_t)def->interface_count, sizeof *merging->interfaces);
    bool complete = merging->groups && merging->subsystems && merging->names &&
                    merging->transforms && merging->substeps && merging->wires &&
                    merging->interfaces;
    if (!complete)
        return YK_ERROR_MEMORY;
    merging->interface_count = def->interface_count;
    for (int i = 0; i < def->interface_count; i++)
        merging->interfaces[i] = def->interfaces[i];
    return YK_OK;
}

yk_status yk_merging_create(yk_system *system, const yk_system_def *def)
{
    yk_context *context = system->context;
    yk_status status = check_ends(system, def);
    if (status == YK_OK)
        status = check_wires(system, def);
    if (status == YK_OK)
        status = check_kinds(system, def);
    if (status < 0)
        return status;
    system->merging = yk_allocate(context, 1, sizeof *system->merging);
    if (!system->merging)
        return YK_ERROR_MEMORY;
    status = take_memory(system, def);
    if (status < 0)
        return status;

    int *leader = yk_allocate(context, (size_t)def->subsystem_count, sizeof *leader);
    if (!leader)
        return YK_ERROR_MEMORY;
    find_leaders(def, leader);
    for (int i = 0; i < def->subsystem_count && status == YK_OK; i++)
        if (leader[i] == i)
            status = fill_group(system, def, leader, i,
                                &system->merging->groups[system->merging->group_count++]);
    yk_release(context, leader);

    for (int i = 0; i < system->merging->group_count && status == YK_OK; i++) {
        yk_group *group = &system->merging->groups[i];
        if (group->part_count == 1)
            continue;
        status = place_group(system, def, group);
        if (status == YK_OK)
            status = join_group(system, def, group);
        if (status == YK_OK)
            status = group->objects[0]->ops->merging->merge(&group->merge, &group->merged);
    }
    if (status == YK_OK)
        reduce(system, def);
    return status;
}

/* Start ---------------------------------------------------------------------------------------- */

/* Where a part has its port by itself, in units and axes of the whole system. */
static yk_motion motion_of_part(const yk_system *system, const yk_group *group, int part, int port,
                                yk_port_kind kind)
{
    yk_subsystem *object = group->objects[part];
    const yk_transform *participant =
        system->participants[group - system->merging->groups].transform;
    yk_port_value value = {.motion.orientation = {1, 0, 0, 0}};
    object->ops->output(object, port, &value);
    if (group->transforms)
        yk_transform_motion(&group->transforms[part], kind, &value.motion);
    if (participant)
        yk_transform_motion(participant, kind, &value.motion);
    return value.motion;
}

yk_status yk_merging_check_start(yk_system *system)
{
    yk_merging *merging = system->merging;
    for (int i = 0; i < merging->group_count; i++) {
        const yk_group *group = &merging->groups[i];
        bool alone = true;
        for (int k = 0; k < group->part_count && group->merged; k++) {
            yk_subsystem *part = group->objects[k];
            yk_status status = part->ops->start(part, system->start, system->step, NULL);
            if (status == YK_ERROR_MEMORY)
                return status;
            alone = status >= 0 && alone;
        }
        if (!group->merged || !alone)
            continue; /* a part that cannot stand alone has no place of its own */

        for (int k = 0; k < merging->interface_count; k++) {
            const yk_interface_def *def = &merging->interfaces[k];
            if (system->parts[def->wrench_subsystem].participant != i)
                continue;
            int a = place_in(group, def->wrench_subsystem),
                b = place_in(group, def->motion_subsystem);
            const yk_port *ports;
            group->objects[a]->ops->ports(group->objects[a], &ports);
            yk_port_kind kind = ports[def->wrench_port].kind;
            yk_motion first = motion_of_part(system, group, a, def->wrench_port, kind);
            yk_motion second = motion_of_part(system, group, b, def->motion_port, kind);
            yk_interface_error gap = yk_gap_between(kind, def, &first, &second, system->start);
            yk_status status =
                yk_system_report_start_gap(system, def->name ? def->name : "unnamed", &gap);
            if (status < 0)
                return status;
        }
    }
    return YK_OK;
}

/* Parts one by one ----------------------------------------------------------------------------- */

static yk_subsystem *copy_of(const yk_system *system, int participant, int copy)
{
    const yk_group *group = &system->merging->groups[participant];
    return group->copies ? group->copies[copy] : group->merged;
}

yk_status yk_merging_make_copies(yk_system *system, int participant)
{
    yk_group *group = &system->merging->groups[participant];
    group->copies = yk_allocate(system->context, (size_t)group->part_count, sizeof(yk_subsystem *));
    if (!group->copies)
        return YK_ERROR_MEMORY;
    group->copies[0] = group->merged;
    yk_status status = YK_OK;
    for (int i = 1; i < group->part_count && status == YK_OK; i++)
        status = group->objects[0]->ops->merging->merge(&group->merge, &group->copies[i]);
    return status;
}

yk_status yk_merging_part_words(yk_system *system, int participant, int part, size_t *words,
                                size_t *unknowns)
{
    yk_subsystem *whole = system->merging->groups[participant].merged;
    return whole->ops->parts->words(whole, part, words, unknowns);
}

/* In the state of the merged subsystem, with the memory that relaxing takes. */
yk_status yk_merging_start_copies(yk_system *system, int participant)
{
    yk_group *group = &system->merging->groups[participant];
    for (int i = 1; group->copies && i < group->part_count; i++) {
        yk_subsystem *copy = group->copies[i];
        size_t words, unknowns;
        yk_status status = copy->ops->start(copy, system->start, system->step, NULL);
        if (status >= 0)
            status = copy->ops->parts->words(copy, i, &words, &unknowns);
        if (status < 0)
            return status;
    }
    size_t image = group->merged->ops->rollback->layout(group->merged).words;
    if (!group->image)
        group->image = yk_allocate(system->context, image, sizeof *group->image);
    return group->image ? YK_OK : YK_ERROR_MEMORY;
}

yk_status yk_merging_synchronise(yk_system *system, int participant)
{
    const yk_group *group = &system->merging->groups[participant];
    if (!group->copies)
        return YK_OK;
    group->merged->ops->rollback->get(group->merged, group->image);
    for (int i = 1; i < group->part_count; i++) {
        yk_status status = group->copies[i]->ops->rollback->set(group->copies[i], group->image);
        if (status < 0)
            return status;
    }
    return YK_OK;
}

yk_status yk_merging_relax(yk_system *system, int participant, int copy, int part,
                           const yk_input *inputs, double *change)
{
    yk_subsystem *on = copy_of(system, participant, copy);
    return on->ops->parts->relax(on, part, system->t, system->h, inputs, change);
}

void yk_merging_part_get(const yk_system *system, int participant, int copy, int part,
                         double *words)
{
    yk_subsystem *on = copy_of(system, participant, copy);
    on->ops->parts->get(on, part, words);
}

void yk_merging_part_set(yk_system *system, int participant, int copy, int part,
                         const double *words)
{
    yk_subsystem *on = copy_of(system, participant, copy);
    on->ops->parts->set(on, part, words);
}

const char *yk_merging_message(const yk_system *system, int participant, int copy)
{
    const yk_subsystem *on = copy_of(system, participant, copy);
    return on->ops->message ? on->ops->message(on) : "unknown";
}

void yk_merging_destroy(yk_system *system)
{
    yk_merging *merging = system->merging;
    yk_context *context = system->context;
    if (!merging)
        return;
    for (int i = 0; merging->groups && i < merging->group_count; i++) {
        yk_group *group = &merging->groups[i];
        for (int k = 1; group->copies && k < group->part_count; k++)
            if (group->copies[k])
                group->copies[k]->ops->destroy(group->copies[k]);
        if (group->merged)
            group->merged->ops->destroy(group->merged);
        yk_release(context, group->copies);
        yk_release(context, group->image);
        yk_release(context, group->parts);
        yk_release(context, group->objects);
        yk_release(context, group->transforms);
        yk_release(context, group->joints);
        yk_release(context, group->name);
    }
    yk_release(context, merging->groups);
    yk_release(context, merging->subsystems);
    yk_release(context, merging->names);
    yk_release(context, merging->transforms);
    yk_release(context, merging->substeps);
    yk_release(context, merging->wires);
    yk_release(context, merging->interfaces);
    yk_release(context, merging);
    system->merging = NULL;
}
