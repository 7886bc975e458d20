/* Merging for the schemes relaxed and monolithic: the subsystems that become one participant, and
 * the remaining system.
 *
 * Subsystems that interfaces connect, directly or through others, form a group and are merged by
 * their own kind of solver, or by a kind that accepts the others. The ports and channels of the merged subsystem are those of its parts
 * in order. A subsystem without interfaces, such as a controller, is not changed. The remaining
 * system has no interfaces, only wires, and is created like any other system. */
#include "coupling/merging.h"

#include <stdio.h>
#include <string.h>

#include "coupling/energy_balance.h"
#include "coupling/failure.h"
#include "coupling/scheme_options.h"

enum { NAME_LENGTH = 128 };

/* Groups --------------------------------------------------------------------------------------- */

/* Reason why subsystems cannot be merged, and schemes that do not merge. */
static yk_status refuse(const yk_system *system, yk_status status, const char *why)
{
    return yk_fail(system->context, status,
                   "scheme %s: %s; the schemes %s and %s keep subsystems apart",
                   yk_system_scheme_name(system), why, yk_scheme_name_with(YK_SCHEME_ITERATES),
                   yk_scheme_name_with(YK_SCHEME_IS_FORCE_FORCE));
}

/* Whether the solver of the first kind can hold subsystems of the second. */
static bool accepts(const yk_subsystem_ops *first, const yk_subsystem_ops *second)
{
    return first == second || (first->rigid_merge && second->rigid_parts);
}

typedef yk_status (*merge_function)(const yk_merge_def *def, yk_subsystem **merged);

/* The operation that merges a group: of a kind that accepts the kinds of all parts. NULL: none. */
static merge_function merge_of(const yk_group *group)
{
    bool alike = true;
    for (int i = 0; i < group->part_count; i++)
        alike = alike && group->objects[i]->ops == group->objects[0]->ops;
    if (alike)
        return group->objects[0]->ops->merge->merge;

    for (int i = 0; i < group->part_count; i++) {
        const yk_subsystem_ops *ops = group->objects[i]->ops;
        bool all = ops->rigid_merge != NULL;
        for (int k = 0; k < group->part_count; k++)
            all = all && accepts(ops, group->objects[k]->ops);
        if (all)
            return ops->rigid_merge->merge;
    }

    return NULL;
}

/* Checks that every interface connects two existing ports of subsystems whose kinds can be merged,
 * and every wire two existing subsystems. */
static yk_status check_joined(const yk_system *system, const yk_system_description *def)
{
    for (int i = 0; i < def->interface_count; i++) {
        const yk_interface_def *interface = &def->interfaces[i];
        const char *name = interface->name;
        const int subsystem[2] = {interface->wrench_subsystem.index,
                                  interface->motion_subsystem.index};
        const int port[2] = {interface->wrench_port.index, interface->motion_port.index};

        /* Both ports exist. */
        for (int side = 0; side < 2; side++) {
            int number = subsystem[side];
            int ports = 0;
            if (number >= 0 && number < def->subsystem_count) {
                const yk_subsystem *of = def->subsystems[number];
                const yk_port *list;
                ports = of->ops->ports(of, &list);
            }

            if (port[side] < 0 || port[side] >= ports)
                return yk_fail(system->context, YK_ERROR_ARGUMENT,
                               "interface '%s': there is no port %d of a subsystem %d", name,
                               port[side], number);
        }

        /* Subsystems are merged by an operation of their kind. */
        const char *a = def->names[subsystem[0]];
        const char *b = def->names[subsystem[1]];
        const yk_subsystem_ops *first = def->subsystems[subsystem[0]]->ops;
        const yk_subsystem_ops *second = def->subsystems[subsystem[1]]->ops;
        char why[512];
        if (!accepts(first, second) && !accepts(second, first)) {
            snprintf(why, sizeof why,
                     "interface '%s' joins '%s' (%s) and '%s' (%s), and subsystems of different "
                     "kinds cannot be merged to one: model both in one solver",
                     name, a, first->kind, b, second->kind);
            return refuse(system, YK_ERROR_CAPABILITY, why);
        }

        if (!first->merge) {
            snprintf(why, sizeof why,
                     "interface '%s' joins '%s' and '%s', and subsystems of the kind %s cannot be "
                     "merged to one",
                     name, a, b, first->kind);
            return refuse(system, YK_ERROR_CAPABILITY, why);
        }
    }

    for (int i = 0; i < def->wire_count; i++) {
        const yk_wire_def *wire = &def->wires[i];
        int source = wire->source_subsystem.index;
        int target = wire->target_subsystem.index;

        /* Ports are checked when the remaining system is created. */
        bool from = source >= 0 && source < def->subsystem_count;
        bool to = target >= 0 && target < def->subsystem_count;
        if (!from || !to)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "wire '%s' names a subsystem that is not there",
                           wire->name ? wire->name : "unnamed");
    }

    return YK_OK;
}

/* Adds all subsystems with the same leader to a group. */
static yk_status fill_group(yk_system *system, const yk_system_description *def, const int *leader,
                            int first)
{
    yk_context *context = system->context;
    int participant = system->merging->group_count++;
    yk_group *group = &system->merging->groups[participant];
    /* Allocate for its parts. */
    size_t count = 0;
    for (int i = first; i < def->subsystem_count; i++)
        count += leader[i] == first;

    group->parts = yk_allocate(context, count, sizeof *group->parts);
    group->elsewhere = yk_allocate(context, count, sizeof *group->elsewhere);
    group->objects = yk_allocate(context, count, sizeof *group->objects);
    group->name = yk_allocate(context, NAME_LENGTH, 1);
    if (!group->parts || !group->elsewhere || !group->objects || !group->name)
        return YK_ERROR_MEMORY;

    /* Ports and channels are those of the parts in order; the name joins all of their names. */
    int port = 0;
    int channel = 0;
    int body = 0;
    size_t used = 0;

    for (int i = first; i < def->subsystem_count; i++) {
        if (leader[i] != first)
            continue;

        int number = group->part_count++;
        yk_subsystem *object = def->subsystems[i];
        group->objects[number] = object;
        group->parts[number] = i;

        /* The first part is solved on the merged subsystem itself. */
        if (def->copies && number > 0)
            group->elsewhere[number] = def->copies[i];

        yk_system_part *part = &system->parts[i];
        part->participant = participant;
        part->port = port;
        part->channel = channel;
        part->body = body;
        part->body_count = 0;
        part->shows = i == first;

        const yk_port *ports;
        const yk_channel *channels;
        part->port_count = object->ops->ports(object, &ports);
        port += part->port_count;
        if (object->ops->channels)
            channel += object->ops->channels->list(object, &channels);
        if (object->ops->bodies)
            part->body_count = object->ops->bodies->count(object);
        body += part->body_count;
        if (used < NAME_LENGTH)
            used += (size_t)snprintf(group->name + used, NAME_LENGTH - used, "%s%s",
                                     number ? " + " : "", def->names[i]);
    }

    return YK_OK;
}

/* Parts ---------------------------------------------------------------------------------------- */
static int index_in(const yk_group *group, int subsystem)
{
    int i = 0;
    while (group->parts[i] != subsystem)
        i++;
    return i;
}

/* Description of the merge: the parts of a group, in units and axes of the first part, and the
 * interfaces between them as joints. */
static yk_status describe_merge(yk_system *system, const yk_system_description *def,
                                int participant)
{
    yk_context *context = system->context;
    yk_group *group = &system->merging->groups[participant];
    const yk_transform *whole = NULL;
    if (def->transforms)
        whole = &def->transforms[group->parts[0]];

    /* Parts with the units and axes of the first one need no conversion. */
    bool same = true;
    for (int i = 1; whole && i < group->part_count; i++) {
        const yk_transform *t = &def->transforms[group->parts[i]];
        bool units = t->length_unit == whole->length_unit && t->mass_unit == whole->mass_unit;
        bool origins = memcmp(&t->position, &whole->position, sizeof t->position) == 0;
        bool axes = memcmp(&t->orientation, &whole->orientation, sizeof t->orientation) == 0;
        same = same && units && origins && axes;
    }

    if (!same) {
        size_t count = (size_t)group->part_count;
        group->transforms = yk_allocate(context, count, sizeof *group->transforms);
        if (!group->transforms)
            return YK_ERROR_MEMORY;
    }

    /* x of a part is at p + Q (l x) of the whole. */
    for (int i = 0; !same && i < group->part_count; i++) {
        const yk_transform *part = &def->transforms[group->parts[i]];
        yk_transform *t = &group->transforms[i];
        yk_vec3 displacement = yk_v3_sub(part->position, whole->position);
        yk_vec3 local = yk_q_rotate_back(whole->orientation, displacement);
        t->position = yk_v3_scale(1 / whole->length_unit, local);
        t->orientation = yk_q_mul(yk_q_conjugate(whole->orientation), part->orientation);
        t->length_unit = part->length_unit / whole->length_unit;
        t->mass_unit = part->mass_unit / whole->mass_unit;
    }

    /* Interfaces of the group. */
    size_t most = (size_t)def->interface_count;
    group->joints = yk_allocate(context, most, sizeof *group->joints);
    if (!group->joints)
        return YK_ERROR_MEMORY;

    int count = 0;
    for (int i = 0; i < def->interface_count; i++) {
        const yk_interface_def *interface = &def->interfaces[i];
        if (system->parts[interface->wrench_subsystem.index].participant != participant)
            continue;

        yk_merge_joint *joint = &group->joints[count++];
        joint->part_a = index_in(group, interface->wrench_subsystem.index);
        joint->port_a = interface->wrench_port.index;
        joint->part_b = index_in(group, interface->motion_subsystem.index);
        joint->port_b = interface->motion_port.index;
        joint->constrained_axes = interface->constrained_axes;
        joint->drive = interface->drive;
        joint->radius = interface->radius;
    }

    group->merge = (yk_merge_def){
        .parts = group->objects,
        .part_count = group->part_count,
        .transforms = group->transforms,
        .joints = group->joints,
        .joint_count = count,
        .length_unit = whole ? whole->length_unit : 1,
        .separate_parts = (system->traits & YK_SCHEME_SOLVES_PARTS_SEPARATELY) != 0,
    };

    return YK_OK;
}

/* The system that is left ---------------------------------------------------------------------- */

static void reduce(yk_system *system, const yk_system_description *def)
{
    yk_merging *merging = system->merging;

    /* Names, units and steps of the participants. A group has those of its first part, and one step
     * per macro step. */
    for (int i = 0; i < merging->group_count; i++) {
        const yk_group *group = &merging->groups[i];
        int first = group->parts[0];
        merging->subsystems[i] = def->subsystems[first];
        merging->names[i] = def->names[first];
        merging->substeps[i] = 1;
        if (group->merged) {
            merging->subsystems[i] = group->merged;
            merging->names[i] = group->name;
        } else if (def->substeps) {
            merging->substeps[i] = def->substeps[first];
        }

        if (def->transforms)
            merging->transforms[i] = def->transforms[first];
    }

    /* Wires, with the indices of their ends in the participants. */
    for (int i = 0; i < def->wire_count; i++) {
        yk_wire_def *wire = &merging->wires[i];
        *wire = def->wires[i];
        const yk_system_part *from = &system->parts[wire->source_subsystem.index];
        const yk_system_part *to = &system->parts[wire->target_subsystem.index];
        wire->source_subsystem = (yk_subsystem_id){from->participant};
        if (wire->source_port.index >= 0)
            wire->source_port.index += from->port;
        wire->source_channel += from->channel;
        wire->target_subsystem = (yk_subsystem_id){to->participant};
        wire->target_port.index += to->port;
    }

    /* Everything else as in the description, without interfaces. */
    yk_system_description *reduced = &merging->reduced;
    *reduced = *def;
    reduced->subsystems = merging->subsystems;
    reduced->names = merging->names;
    reduced->subsystem_count = merging->group_count;
    if (def->transforms)
        reduced->transforms = merging->transforms;
    reduced->substeps = merging->substeps;
    reduced->interface_count = 0;
    reduced->wires = merging->wires;
}

yk_status yk_merging_create(yk_system *system, const yk_system_description *def)
{
    yk_status status = check_joined(system, def);
    if (status != YK_OK)
        return status;

    yk_context *context = system->context;
    yk_merging *merging = yk_allocate(context, 1, sizeof *merging);
    if (!merging)
        return YK_ERROR_MEMORY;

    system->merging = merging;
    size_t count = (size_t)def->subsystem_count;
    size_t interfaces = (size_t)def->interface_count;
    size_t wires = (size_t)def->wire_count;
    merging->groups = yk_allocate(context, count, sizeof *merging->groups);
    merging->subsystems = yk_allocate(context, count, sizeof *merging->subsystems);
    merging->names = yk_allocate(context, count, sizeof *merging->names);
    merging->transforms = yk_allocate(context, count, sizeof *merging->transforms);
    merging->substeps = yk_allocate(context, count, sizeof *merging->substeps);
    merging->wires = yk_allocate(context, wires, sizeof *merging->wires);
    merging->interfaces = yk_allocate(context, interfaces, sizeof *merging->interfaces);
    if (!merging->groups || !merging->subsystems || !merging->names || !merging->transforms)
        return YK_ERROR_MEMORY;
    if (!merging->substeps || !merging->wires || !merging->interfaces)
        return YK_ERROR_MEMORY;

    merging->interface_count = def->interface_count;
    for (int i = 0; i < def->interface_count; i++)
        merging->interfaces[i] = def->interfaces[i];

    /* Finds connected subsystems. The leader of a subsystem is the smallest index of all subsystems
     * connected to it, directly or through others. Each interface gives both sides the smaller
     * leader until nothing changes. */
    int *leader = yk_allocate(context, count, sizeof *leader);
    if (!leader)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < def->subsystem_count; i++)
        leader[i] = i;

    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < def->interface_count; i++) {
            int *a = &leader[def->interfaces[i].wrench_subsystem.index];
            int *b = &leader[def->interfaces[i].motion_subsystem.index];
            if (*a == *b)
                continue;

            int least = *a < *b ? *a : *b;
            *a = least;
            *b = least;
            changed = true;
        }
    }

    /* For a copy of one group, subsystems outside of it may be absent. */
    for (int i = 0; i < def->subsystem_count && status == YK_OK; i++)
        if (leader[i] == i && def->subsystems[i])
            status = fill_group(system, def, leader, i);

    yk_free(context, leader);
    if (status != YK_OK)
        return status;

    /* Merge each group to one subsystem. */
    for (int i = 0; i < merging->group_count; i++) {
        yk_group *group = &merging->groups[i];
        if (group->part_count == 1)
            continue;

        status = describe_merge(system, def, i);
        if (status != YK_OK)
            return status;

        /* A chain of interfaces may connect kinds of which none accepts all. */
        merge_function merge = merge_of(group);
        if (!merge) {
            char why[256];
            snprintf(why, sizeof why,
                     "interfaces connect '%s', and no solver can hold all of these kinds",
                     group->name);
            return refuse(system, YK_ERROR_CAPABILITY, why);
        }

        /* The kind of solver may refuse. It knows the reason, but not a scheme that works. */
        status = merge(&group->merge, &group->merged);
        if (status == YK_ERROR_ARGUMENT || status == YK_ERROR_CAPABILITY) {
            char why[512];
            snprintf(why, sizeof why, "%s", yk_last_message(context));
            return refuse(system, status, why);
        }

        if (status != YK_OK)
            return status;
    }

    reduce(system, def);
    return YK_OK;
}

/* Start ---------------------------------------------------------------------------------------- */

/* Position of a part's port before merging, in units and axes of the system. */
static yk_motion motion_of_part(const yk_system *system, int participant, int part, int port,
                                yk_port_kind kind)
{
    const yk_group *group = &system->merging->groups[participant];
    const yk_subsystem *object = group->objects[part];
    const yk_transform *whole = system->participants[participant].transform;

    /* The output before the merged subsystem is assembled: converted from the units of the
     * participant to those of the part, then to those of the system. */
    yk_port_value value = {.motion.orientation = {1, 0, 0, 0}};
    object->ops->get_port_value(object, port, &value);
    if (group->transforms)
        yk_transform_motion(&group->transforms[part], kind, &value.motion);
    if (whole)
        yk_transform_motion(whole, kind, &value.motion);
    return value.motion;
}

yk_status yk_merging_check_start(yk_system *system)
{
    yk_merging *merging = system->merging;
    for (int i = 0; i < merging->group_count; i++) {
        const yk_group *group = &merging->groups[i];
        if (!group->merged)
            continue;

        /* A part that cannot be initialized alone has no pose. */
        bool alone = true;
        for (int k = 0; k < group->part_count; k++) {
            yk_subsystem *part = group->objects[k];
            yk_status status = part->ops->initialize(part, system->start, system->step, NULL);
            if (status == YK_ERROR_MEMORY)
                return status;

            alone = alone && !YK_FAILED(status);
        }

        if (!alone)
            continue;

        /* Both sides of the joints, as each part has them. */
        for (int k = 0; k < merging->interface_count; k++) {
            const yk_interface_def *def = &merging->interfaces[k];
            if (system->parts[def->wrench_subsystem.index].participant != i)
                continue;

            /* In units and axes of the system, as without merging. */
            int a = index_in(group, def->wrench_subsystem.index);
            int b = index_in(group, def->motion_subsystem.index);
            const yk_port *ports;
            group->objects[a]->ops->ports(group->objects[a], &ports);
            yk_port_kind kind = ports[def->wrench_port.index].kind;
            yk_motion first = motion_of_part(system, i, a, def->wrench_port.index, kind);
            yk_motion second = motion_of_part(system, i, b, def->motion_port.index, kind);
            yk_interface_gap gap = yk_gap_between(kind, def, &first, &second, system->start);
            const char *name = def->name ? def->name : "unnamed";
            yk_status status = yk_system_report_start_gap(system, name, &gap, false);
            if (status != YK_OK)
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
    merge_function merge = merge_of(group);
    size_t count = (size_t)group->part_count;
    group->copies = yk_allocate(system->context, count, sizeof *group->copies);
    if (!group->copies)
        return YK_ERROR_MEMORY;

    /* The first part runs on the merged subsystem itself. */
    group->copies[0] = group->merged;
    for (int i = 1; i < group->part_count; i++) {
        yk_status status = YK_OK;
        group->copies[i] = group->elsewhere[i];
        if (!group->copies[i])
            status = merge(&group->merge, &group->copies[i]);
        if (status != YK_OK)
            return status;

        /* Connect the signal inputs of the participant in the copy too. */
        yk_subsystem *copy = group->copies[i];
        for (int k = 0; k < system->wire_count; k++) {
            const yk_wire_def *wire = &system->wires[k].def;
            if (wire->target_subsystem.index != participant)
                continue;

            status =
                copy->ops->connect(copy, wire->target_port.index, YK_CAUSALITY_SIGNAL_INPUT, 0);
            if (status != YK_OK)
                return status;
        }
    }

    return YK_OK;
}

yk_status yk_merging_part_words(yk_system *system, int participant, int part, size_t *words,
                                size_t *unknowns)
{
    yk_subsystem *whole = system->merging->groups[participant].merged;
    return whole->ops->relaxed->part_state_size(whole, part, words, unknowns);
}

/* The size includes the data that relaxing adds to the state of the merged subsystem. */
yk_status yk_merging_start_copies(yk_system *system, int participant)
{
    yk_group *group = &system->merging->groups[participant];
    for (int i = 1; group->copies && i < group->part_count; i++) {
        /* Request the words of all parts once, so that the subsystem allocates its memory before
         * the first step. */
        yk_subsystem *copy = group->copies[i];
        yk_status status = copy->ops->initialize(copy, system->start, system->step, NULL);
        for (int part = 0; part < group->part_count && !YK_FAILED(status); part++) {
            size_t words;
            size_t unknowns;
            status = copy->ops->relaxed->part_state_size(copy, part, &words, &unknowns);
        }

        if (YK_FAILED(status))
            return status;
    }

    size_t image = group->merged->ops->rollback->layout(group->merged).word_count;
    if (!group->image)
        group->image = yk_allocate(system->context, image, sizeof *group->image);
    if (!group->image)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

yk_status yk_merging_synchronise(yk_system *system, int participant)
{
    const yk_group *group = &system->merging->groups[participant];
    if (!group->copies)
        return YK_OK;

    /* Through the state image of the participant. */
    group->merged->ops->rollback->get(group->merged, group->image);
    for (int i = 1; i < group->part_count; i++) {
        yk_subsystem *copy = group->copies[i];
        if (group->elsewhere[i])
            continue;

        yk_status status = copy->ops->rollback->set(copy, group->image);
        if (YK_FAILED(status))
            return status;
    }

    return YK_OK;
}

bool yk_merging_is_elsewhere(const yk_system *system, int participant, int copy)
{
    return system->merging->groups[participant].elsewhere[copy];
}

void yk_merging_post(yk_system *system, int participant, int copy, int part, const yk_input *inputs,
                     bool first)
{
    /* A failure is reported by the following relaxation. */
    const yk_group *group = &system->merging->groups[participant];
    yk_subsystem *on = group->copies[copy];
    const double *image = NULL;
    if (first)
        image = group->image;
    on->ops->remote->begin_relax(on, part, system->t, system->h, inputs, image);
}

yk_status yk_merging_relax(yk_system *system, int participant, int copy, int part,
                           const yk_input *inputs, double *change)
{
    yk_subsystem *on = copy_of(system, participant, copy);
    return on->ops->relaxed->relax_part(on, part, system->t, system->h, inputs, change);
}

void yk_merging_part_get(const yk_system *system, int participant, int copy, int part,
                         double *words)
{
    yk_subsystem *on = copy_of(system, participant, copy);
    on->ops->relaxed->get_part_state(on, part, words);
}

void yk_merging_part_set(yk_system *system, int participant, int copy, int part,
                         const double *words)
{
    yk_subsystem *on = copy_of(system, participant, copy);
    on->ops->relaxed->set_part_state(on, part, words);
}

const char *yk_merging_message(const yk_system *system, int participant, int copy)
{
    const yk_subsystem *on = copy_of(system, participant, copy);
    if (on->ops->last_message)
        return on->ops->last_message(on);
    return "unknown";
}

yk_subsystem *yk_merging_take(yk_system *system, int subsystem)
{
    yk_group *group = &system->merging->groups[system->parts[subsystem].participant];
    yk_subsystem *merged = group->merged;
    group->merged = NULL;
    return merged;
}

void yk_merging_destroy(yk_system *system)
{
    yk_merging *merging = system->merging;
    yk_context *context = system->context;
    if (!merging)
        return;

    for (int i = 0; merging->groups && i < merging->group_count; i++) {
        yk_group *group = &merging->groups[i];

        /* The first copy is the merged subsystem itself. */
        for (int k = 1; group->copies && k < group->part_count; k++) {
            yk_subsystem *copy = group->copies[k];
            if (copy && !group->elsewhere[k])
                copy->ops->destroy(copy);
        }

        if (group->merged)
            group->merged->ops->destroy(group->merged);
        yk_free(context, group->copies);
        yk_free(context, group->elsewhere);
        yk_free(context, group->image);
        yk_free(context, group->parts);
        yk_free(context, group->objects);
        yk_free(context, group->transforms);
        yk_free(context, group->joints);
        yk_free(context, group->name);
    }

    yk_free(context, merging->groups);
    yk_free(context, merging->subsystems);
    yk_free(context, merging->names);
    yk_free(context, merging->transforms);
    yk_free(context, merging->substeps);
    yk_free(context, merging->wires);
    yk_free(context, merging->interfaces);
    yk_free(context, merging);
    system->merging = NULL;
}
