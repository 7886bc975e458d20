/* The monolithic reference: the subsystems merged to one, with the interface joints as constraints inside it. */
#include "coupling/system.h"

static yk_status merge_parts(const yk_system *system, const yk_system_def *def, yk_merge_joint *joints,
                             yk_subsystem **merged)
{
    const yk_subsystem_ops *ops = def->subsystems[0]->ops;
    for (int i = 0; i < def->subsystem_count; i++) {
        const yk_subsystem_ops *part = def->subsystems[i]->ops;
        if (!part->merge)
            return yk_fail(
                system->context, YK_ERROR_CAPABILITY,
                "scheme %s: subsystems of the kind %s ('%s') cannot be merged with others to one system. Choose "
                "the scheme explicit or tight",
                yk_system_scheme_name(system), part->kind, def->names[i]);
        if (part != ops)
            return yk_fail(system->context, YK_ERROR_CAPABILITY,
                           "scheme %s: '%s' (%s) and '%s' (%s) cannot be merged to one system; it needs subsystems of "
                           "one kind that can. Choose the scheme explicit or tight",
                           yk_system_scheme_name(system), def->names[0], ops->kind, def->names[i], part->kind);
    }
    for (int i = 0; i < def->interface_count; i++) {
        const yk_interface_def *face = &def->interfaces[i];
        joints[i] = (yk_merge_joint){.part_a = face->effort_subsystem,
                                     .port_a = face->effort_port,
                                     .part_b = face->motion_subsystem,
                                     .port_b = face->motion_port,
                                     .constrained = face->constrained};
    }
    return ops->merge(def->subsystems, def->subsystem_count, joints, def->interface_count, merged);
}

yk_status yk_monolithic_copy(const yk_system *system, const yk_system_def *def, yk_subsystem **merged)
{
    *merged = NULL;
    yk_merge_joint *joints = yk_allocate(system->context, (size_t)def->interface_count, sizeof *joints);
    yk_status status = joints ? merge_parts(system, def, joints, merged) : YK_ERROR_MEMORY;
    yk_release(system->context, joints);
    return status;
}

yk_status yk_monolithic_merge(yk_system *system, const yk_system_def *def)
{
    yk_context *context = system->context;
    system->port_offsets = yk_allocate(context, (size_t)def->subsystem_count, sizeof *system->port_offsets);
    system->channel_offsets = yk_allocate(context, (size_t)def->subsystem_count, sizeof *system->channel_offsets);
    if (!system->port_offsets || !system->channel_offsets) return YK_ERROR_MEMORY;
    yk_status status = yk_monolithic_copy(system, def, &system->merged);
    if (status < 0) return status;
    int port = 0, channel = 0;
    for (int i = 0; i < def->subsystem_count; i++) {
        const yk_subsystem *part = def->subsystems[i];
        const yk_port *ports;
        const yk_channel *channels;
        system->port_offsets[i] = port;
        system->channel_offsets[i] = channel;
        port += part->ops->ports(part, &ports);
        channel += part->ops->channels ? part->ops->channels(part, &channels) : 0;
    }
    return YK_OK;
}

yk_status yk_monolithic_step(yk_system *system, yk_step_report *report)
{
    report->iterations = 1;
    return yk_system_advance(system, 0) < 0 ? yk_system_blame(system, 0) : YK_OK;
}
