/* Checks of the arguments that users pass to the functions of a system. Ids come from outside: they
 * may be those of another system, or YK_NO_ID of a part that could not be added. */
#include "coupling/arguments.h"

#include "base/context.h"
#include "base/text.h"
#include "coupling/merging.h"
#include "coupling/system.h"

bool yk_system_has_started(const yk_system *system, const char *function)
{
    if (!system)
        return false;
    if (system->started)
        return true;

    yk_fail(system->context, YK_ERROR_ARGUMENT,
            "%s: the system has not started: call yk_system_initialize first, and check its status",
            function);
    return false;
}

/* "yk_system_port_value: there is no subsystem 7; their ids are 0 to 1". */
static bool is_in_range(const yk_system *system, const char *function, const char *what, int id,
                        int count)
{
    if (id >= 0 && id < count)
        return true;

    if (id == YK_NO_ID)
        yk_fail(system->context, YK_ERROR_ARGUMENT,
                "%s: the id of the %s is null, because it was not found or not added", function,
                what);
    else if (count > 0)
        yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: there is no %s %d; the ids are 0 to %d",
                function, what, id, count - 1);
    else
        yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: there is no %s %d, and none at all",
                function, what, id);
    return false;
}

bool yk_system_has_subsystem(const yk_system *system, const char *function, int subsystem)
{
    return system && is_in_range(system, function, "subsystem", subsystem, system->subsystem_count);
}

bool yk_system_has_port(const yk_system *system, const char *function, int subsystem, int port)
{
    if (!yk_system_has_subsystem(system, function, subsystem))
        return false;

    /* A participant that was merged has the ports of all its parts. */
    const yk_system_part *part = &system->parts[subsystem];
    int count = system->participants[part->participant].port_count;
    if (system->merging)
        count = part->port_count;
    return is_in_range(system, function, "port", port, count);
}

bool yk_system_has_channel(const yk_system *system, const char *function, int subsystem,
                           int channel)
{
    if (!yk_system_has_subsystem(system, function, subsystem))
        return false;

    /* A merged participant has the channels of all its parts, then its own. */
    const yk_system_part *part = &system->parts[subsystem];
    const yk_subsystem *shown = system->participants[part->participant].subsystem;
    const yk_channel *list;
    int count = 0;
    if (shown->ops->channels)
        count = shown->ops->channels->list(shown, &list);
    return is_in_range(system, function, "channel", channel, count - part->channel);
}

bool yk_system_has_interface(const yk_system *system, const char *function, int interface)
{
    if (!system)
        return false;

    int count = system->interface_count;
    if (system->merging)
        count = system->merging->interface_count;
    return is_in_range(system, function, "interface", interface, count);
}

bool yk_system_has_wire(const yk_system *system, const char *function, int wire)
{
    return system && is_in_range(system, function, "wire", wire, system->wire_count);
}

bool yk_system_has_loop(const yk_system *system, const char *function, int loop)
{
    return system && is_in_range(system, function, "algebraic loop", loop, system->loop_count);
}

bool yk_system_has_input(const yk_system *system, const char *function, int input)
{
    return system && is_in_range(system, function, "input", input, system->input_count);
}

bool yk_system_has_parameter(const yk_system *system, const char *function, int parameter,
                             int count)
{
    return system && is_in_range(system, function, "parameter", parameter, count);
}

bool yk_system_has_memory(const yk_system *system, const char *function, const char *argument,
                          const void *memory)
{
    if (!system)
        return false;
    if (memory)
        return true;

    yk_refuse_null(system->context, function, argument);
    return false;
}

/* Largest number of changed characters of a name that is suggested. */
enum { SUGGESTION_DISTANCE = 3 };

void yk_system_report_not_found(const yk_system *system, const char *function, const char *what,
                                const char *name, yk_name_at name_at, const void *list, int count)
{
    const char *nearest = NULL;
    int smallest = SUGGESTION_DISTANCE + 1;
    for (int i = 0; i < count; i++) {
        const char *other = name_at(list, i);
        int distance = other ? yk_text_distance(name, other, smallest) : smallest;
        if (distance < smallest) {
            smallest = distance;
            nearest = other;
        }
    }

    if (nearest)
        yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: %s '%.80s' not found. Did you mean '%s'?",
                function, what, name, nearest);
    else
        yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: %s '%.80s' not found among %d", function,
                what, name, count);
}
