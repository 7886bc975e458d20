/* Inputs: signals that the program sets while the system runs.
 *
 * An input is the value of a signal port at which no wire ends. The value is stored in the inputs
 * of the participant, so that checkpoints and snapshots include it. It stays constant until it is
 * set again. */
#include <math.h>
#include <string.h>

#include "coupling/arguments.h"
#include "coupling/system.h"
#include "coupling/wire.h"

/* Participant and port of an input, also after merging. */
static yk_status resolve_input(const yk_system *system, const yk_system_input_def *def,
                               yk_external_input *input)
{
    yk_context *context = system->context;
    if (def->subsystem < 0 || def->subsystem >= system->subsystem_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "input '%s': subsystem %d does not exist",
                       def->name, def->subsystem);

    const yk_system_part *part = &system->parts[def->subsystem];
    const yk_participant *p = &system->participants[part->participant];
    int port_count = system->merging ? part->port_count : p->port_count;
    if (def->port < 0 || def->port >= port_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "input '%s': subsystem '%s' has no port %d",
                       def->name, part->name, def->port);

    const yk_port *port = &p->ports[part->port + def->port];
    if (!(port->allowed_causalities & YK_CAUSALITY_SIGNAL_INPUT))
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "input '%s': port '%s' of subsystem '%s' is not a signal input", def->name,
                       port->name, part->name);
    if (!isfinite(def->value))
        return yk_fail(context, YK_ERROR_ARGUMENT, "input '%s': its value %g is not finite",
                       def->name, def->value);

    *input = (yk_external_input){def->name, part->participant, part->port + def->port};
    return YK_OK;
}

/* A signal port has one source: one wire or one input. */
static yk_status check_source(const yk_system *system, const yk_external_input *input, int earlier)
{
    const char *other = NULL;
    for (int i = 0; i < system->wire_count && !other; i++) {
        const yk_wire_def *wire = &system->wires[i].def;
        if (wire->target_subsystem.index == input->participant &&
            wire->target_port.index == input->port)
            other = wire->name;
    }
    for (int i = 0; i < earlier && !other; i++)
        if (system->inputs[i].participant == input->participant &&
            system->inputs[i].port == input->port)
            other = system->inputs[i].name;
    if (!other)
        return YK_OK;

    const yk_participant *p = &system->participants[input->participant];
    return yk_fail(
        system->context, YK_ERROR_ARGUMENT,
        "'%s' and '%s' both set port '%s' of subsystem '%s': a signal port has one source", other,
        input->name, p->ports[input->port].name, p->name);
}

yk_status yk_inputs_create(yk_system *system, const yk_system_description *def)
{
    if (def->input_count == 0)
        return YK_OK;

    system->inputs = yk_allocate(system->context, (size_t)def->input_count, sizeof *system->inputs);
    if (!system->inputs)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < def->input_count; i++) {
        yk_external_input *input = &system->inputs[i];
        yk_status status = resolve_input(system, &def->inputs[i], input);
        if (status == YK_OK)
            status = check_source(system, input, i);
        if (status != YK_OK)
            return status;

        yk_participant *p = &system->participants[input->participant];
        status =
            p->subsystem->ops->connect(p->subsystem, input->port, YK_CAUSALITY_SIGNAL_INPUT, 0);
        if (status != YK_OK)
            return status;

        p->inputs[input->port].degree = 0;
        p->inputs[input->port].linear[0].x = def->inputs[i].value;
        system->input_count++;
    }
    return YK_OK;
}

int yk_system_input_count(const yk_system *system)
{
    return system ? system->input_count : 0;
}

static const char *name_of_input(const void *list, int index)
{
    return ((const yk_external_input *)list)[index].name;
}

yk_input_id yk_system_find_input(const yk_system *system, const char *name)
{
    if (!yk_system_has_memory(system, __func__, "name", name))
        return YK_NULL_INPUT;
    for (int i = 0; i < system->input_count; i++)
        if (strcmp(system->inputs[i].name, name) == 0)
            return (yk_input_id){i};

    yk_system_report_not_found(system, __func__, "input", name, name_of_input, system->inputs,
                               system->input_count);
    return YK_NULL_INPUT;
}

yk_status yk_system_set_input(yk_system *system, yk_input_id input, double value)
{
    if (!yk_system_has_input(system, __func__, input.index))
        return YK_ERROR_ARGUMENT;
    if (!isfinite(value))
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "%s: the value %g of input '%s' is not finite", __func__, value,
                       system->inputs[input.index].name);

    const yk_external_input *of = &system->inputs[input.index];
    system->participants[of->participant].inputs[of->port].linear[0].x = value;
    return YK_OK;
}

double yk_system_input_value(const yk_system *system, yk_input_id input)
{
    if (!yk_system_has_input(system, __func__, input.index))
        return NAN;

    const yk_external_input *of = &system->inputs[input.index];
    return system->participants[of->participant].inputs[of->port].linear[0].x;
}
