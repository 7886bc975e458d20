/* Whether the tables of a subsystem are such that this library can call them. */
#include <string.h>

#include "coupling/system.h"

typedef void (*operation)(void);

/* A group of capabilities: where its table hangs, how large that is, and where its operations
 * begin. */
typedef struct group {
    const char *name;
    size_t offset; /* in yk_subsystem_ops */
    size_t size;
    size_t first; /* operation; the others follow up to the end */
} group;

#define GROUP(member, type, operation)                                                       \
    {                                                                                        \
#member, offsetof(yk_subsystem_ops, member), sizeof(type), offsetof(type, operation) \
    }

static const group groups[] = {
    GROUP(rollback, yk_rollback_ops, layout),
    GROUP(iteration, yk_iteration_ops, iterate),
    GROUP(sensitivity, yk_sensitivity_ops, step),
    GROUP(interface_model, yk_interface_model_ops, evaluate),
    GROUP(step_model, yk_step_model_ops, evaluate),
    GROUP(merging, yk_merging_ops, merge),
    GROUP(parts, yk_part_ops, relax),
    GROUP(events, yk_event_ops, next),
    GROUP(energy, yk_energy_ops, read),
    GROUP(channels, yk_channel_ops, list),
    GROUP(scene, yk_scene_ops, bodies),
    GROUP(contact_points, yk_contact_point_ops, list),
    GROUP(remote, yk_remote_ops, post),
    GROUP(windows, yk_window_ops, repeated),
};

static yk_status check_size(yk_context *context, const char *name, const char *table, size_t size,
                            size_t expected)
{
    if (size == expected)
        return YK_OK;
    return yk_fail(context, YK_ERROR_CAPABILITY,
                   "subsystem '%s' was built for another version of the contract (its table %s has "
                   "%zu bytes, this library's %zu): rebuild it",
                   name, table, size, expected);
}

yk_status yk_contract_check(yk_context *context, const yk_subsystem *subsystem, const char *name)
{
    const yk_subsystem_ops *ops = subsystem->ops;
    yk_status status = check_size(context, name, "of operations", ops->size, sizeof *ops);
    if (status != YK_OK)
        return status;

    /* What every subsystem does. */
    const char *kind = "unknown kind";
    if (ops->kind)
        kind = ops->kind;
    if (!ops->ports || !ops->connect || !ops->start || !ops->step || !ops->output || !ops->destroy)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "subsystem '%s' (%s) lacks a required operation: ports, connect, start, "
                       "step, output or destroy",
                       name, kind);

    /* What it may do besides, each group absent or whole. */
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const group *g = &groups[i];
        const char *table;
        memcpy(&table, (const char *)ops + g->offset, sizeof table);
        if (!table)
            continue;

        /* Every table begins with its size. */
        size_t size;
        memcpy(&size, table, sizeof size);
        status = check_size(context, name, g->name, size, g->size);
        if (status != YK_OK)
            return status;

        /* An operation is a pointer to a function, whatever its type. */
        for (size_t at = g->first; at < g->size; at += sizeof(operation)) {
            operation one;
            memcpy(&one, table + at, sizeof one);
            if (!one)
                return yk_fail(context, YK_ERROR_CAPABILITY,
                               "subsystem '%s' (%s) has the capability %s only in part: all of its "
                               "operations, or none",
                               name, kind, g->name);
        }
    }

    return YK_OK;
}
