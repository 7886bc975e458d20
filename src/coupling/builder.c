/* The builder of yoke/system.h. It collects the parts in the arrays of one description, from which
 * the system is created. */
#include <math.h>
#include <string.h>

#include "base/builder.h"
#include "base/context.h"
#include "coupling/system.h"
#include "coupling/system_arrays.h"
#include "coupling/wiring.h"

/* Defaults ------------------------------------------------------------------------------------- */

yk_system_def yk_system_default(void)
{
    return (yk_system_def){
        .scheme = yk_scheme_default(),
        .step_control = yk_step_control_default(),
        .on_failure = yk_failure_policy_default(),
    };
}

yk_subsystem_def yk_subsystem_default(void)
{
    return (yk_subsystem_def){.transform = yk_transform_identity(), .substeps = 1};
}

yk_subsystem_def yk_subsystem_named(const char *name, yk_subsystem *subsystem)
{
    yk_subsystem_def def = yk_subsystem_default();
    def.name = name;
    def.subsystem = subsystem;
    return def;
}

yk_interface_def yk_interface_default(void)
{
    return (yk_interface_def){.constrained_axes = YK_AXES_ALL};
}

yk_interface_def yk_interface_between(const char *name, yk_subsystem_id wrench_subsystem,
                                      yk_port_id wrench_port, yk_subsystem_id motion_subsystem,
                                      yk_port_id motion_port)
{
    yk_interface_def def = yk_interface_default();
    def.name = name;
    def.wrench_subsystem = wrench_subsystem;
    def.wrench_port = wrench_port;
    def.motion_subsystem = motion_subsystem;
    def.motion_port = motion_port;
    return def;
}

yk_wire_def yk_wire_default(void)
{
    return (yk_wire_def){.gain = 1};
}

/* Building ------------------------------------------------------------------------------------- */

struct yk_system_builder {
    yk_building building;
    yk_system_def def;
    yk_subsystem_def *subsystems;
    int subsystem_count;
    yk_interface_def *interfaces;
    int interface_count;
    yk_wire_def *wires;
    int wire_count;
    yk_system_input_def *inputs;
    int input_count;
};

yk_system_builder *yk_system_begin(yk_context *context, const yk_system_def *def)
{
    yk_system_builder *builder = yk_allocate(context, 1, sizeof *builder);
    if (!builder)
        return NULL;

    /* Errors from here on are collected and reported at the end. */
    builder->building.context = context;
    builder->def = yk_system_default();
    if (def)
        builder->def = *def;
    return builder;
}

yk_subsystem_id yk_system_add_subsystem(yk_system_builder *builder, const yk_subsystem_def *def)
{
    if (!builder)
        return YK_NULL_SUBSYSTEM;

    yk_building *building = &builder->building;
    yk_context *context = building->context;
    if (!yk_building_has_def(building, __func__, def))
        return YK_NULL_SUBSYSTEM;

    /* All messages name the subsystem. */
    if (!def->name || !def->name[0]) {
        yk_building_refuse(
            building, yk_fail(context, YK_ERROR_ARGUMENT, "a subsystem has no name: give it one"));
        return YK_NULL_SUBSYSTEM;
    }

    /* Creating the subsystem has failed, and the context has the message. */
    if (!def->subsystem) {
        char why[YK_BUILDING_MESSAGE];
        strncpy(why, yk_last_message(context), sizeof why - 1);
        why[sizeof why - 1] = 0;
        const char *separator = "";
        if (why[0])
            separator = ": ";
        yk_building_refuse(building,
                           yk_fail(context, YK_ERROR_ARGUMENT, "subsystem '%s' was not created%s%s",
                                   def->name, separator, why));
        return YK_NULL_SUBSYSTEM;
    }

    /* An object can be stepped only once per step and destroyed only once. */
    for (int i = 0; i < builder->subsystem_count; i++)
        if (builder->subsystems[i].subsystem == def->subsystem) {
            yk_building_refuse(
                building, yk_fail(context, YK_ERROR_ARGUMENT,
                                  "subsystem '%s' is the same object as '%s': create a second one",
                                  def->name, builder->subsystems[i].name));
            return YK_NULL_SUBSYSTEM;
        }

    return (yk_subsystem_id){yk_building_append(building, &builder->subsystems,
                                                &builder->subsystem_count, def, sizeof *def)};
}

/* Whether a subsystem is in the builder already, which then destroys it. */
static bool owns(const yk_system_builder *builder, const yk_subsystem *subsystem)
{
    for (int i = 0; builder && i < builder->subsystem_count; i++)
        if (builder->subsystems[i].subsystem == subsystem && builder->subsystems[i].owned)
            return true;
    return false;
}

yk_subsystem_id yk_system_add_owned_subsystem(yk_system_builder *builder, const char *name,
                                              yk_subsystem *subsystem)
{
    yk_subsystem_def def = yk_subsystem_named(name, subsystem);
    def.owned = true;
    yk_subsystem_id id = yk_system_add_subsystem(builder, &def);

    /* A subsystem that could not be added has no other owner. */
    if (id.index == YK_NO_ID && subsystem && !owns(builder, subsystem))
        subsystem->ops->destroy(subsystem);
    return id;
}

/* The port of a subsystem that was added; NULL after a message. If adding the subsystem failed,
 * that has been reported already. */
static const yk_port *find_port(yk_system_builder *builder, const char *what, const char *name,
                                int subsystem, int port)
{
    yk_building *building = &builder->building;
    if (subsystem == YK_NO_ID && building->status != YK_OK)
        return NULL;

    if (subsystem < 0 || subsystem >= builder->subsystem_count) {
        yk_building_refuse(building,
                           yk_fail(building->context, YK_ERROR_ARGUMENT,
                                   "%s '%s' names subsystem %d, which was not added: take the id "
                                   "that adding returned",
                                   what, name, subsystem));
        return NULL;
    }

    const yk_subsystem_def *owner = &builder->subsystems[subsystem];
    if (yk_contract_check(building->context, owner->subsystem, owner->name) != YK_OK) {
        yk_building_refuse(building, yk_last_status(building->context));
        return NULL;
    }

    const yk_port *list;
    int count = owner->subsystem->ops->ports(owner->subsystem, &list);
    if (port < 0 || port >= count) {
        yk_building_refuse(building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                                             "%s '%s': subsystem '%s' has no port %d; it has %d",
                                             what, name, owner->name, port, count));
        return NULL;
    }

    return &list[port];
}

yk_interface_id yk_system_add_interface(yk_system_builder *builder, const yk_interface_def *def)
{
    if (!builder)
        return YK_NULL_INTERFACE;

    yk_building *building = &builder->building;
    if (!yk_building_has_def(building, __func__, def))
        return YK_NULL_INTERFACE;
    if (!def->name || !def->name[0]) {
        yk_building_refuse(building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                                             "an interface has no name: give it one"));
        return YK_NULL_INTERFACE;
    }

    /* Report the errors of both sides. */
    const yk_port *wrench_port = find_port(builder, "interface", def->name,
                                           def->wrench_subsystem.index, def->wrench_port.index);
    const yk_port *motion_port = find_port(builder, "interface", def->name,
                                           def->motion_subsystem.index, def->motion_port.index);
    if (!wrench_port || !motion_port)
        return YK_NULL_INTERFACE;

    /* A scalar port has one coordinate. */
    yk_interface_def interface = *def;
    if (motion_port->kind == YK_PORT_SCALAR)
        interface.constrained_axes &= YK_AXIS_X;
    if (interface.constrained_axes == 0) {
        yk_building_refuse(building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                                             "interface '%s' constrains no axis", def->name));
        return YK_NULL_INTERFACE;
    }

    unsigned whole = YK_AXIS_DISTANCE | YK_AXIS_KNIFE_EDGE | YK_AXIS_ROLLING;
    unsigned alone = interface.constrained_axes & whole;
    if (alone && interface.constrained_axes != alone) {
        yk_building_refuse(
            building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                              "interface '%s' combines a distance, a knife edge or a rolling disc "
                              "with other axes: give each an interface of its own",
                              def->name));
        return YK_NULL_INTERFACE;
    }
    if (alone == YK_AXIS_ROLLING && !(interface.radius > 0 && isfinite(interface.radius))) {
        yk_building_refuse(building,
                           yk_fail(building->context, YK_ERROR_ARGUMENT,
                                   "interface '%s' needs the radius of its rolling disc, not %g m",
                                   def->name, interface.radius));
        return YK_NULL_INTERFACE;
    }
    return (yk_interface_id){yk_building_append(
        building, &builder->interfaces, &builder->interface_count, &interface, sizeof interface)};
}

yk_interface_id yk_system_connect_ports(yk_system_builder *builder, const char *name,
                                        yk_subsystem_id wrench_subsystem, yk_port_id wrench_port,
                                        yk_subsystem_id motion_subsystem, yk_port_id motion_port)
{
    yk_interface_def def =
        yk_interface_between(name, wrench_subsystem, wrench_port, motion_subsystem, motion_port);
    return yk_system_add_interface(builder, &def);
}

yk_wire_id yk_system_add_wire(yk_system_builder *builder, const yk_wire_def *def)
{
    if (!builder)
        return YK_NULL_WIRE;

    yk_building *building = &builder->building;
    if (!yk_building_has_def(building, __func__, def))
        return YK_NULL_WIRE;
    if (!def->name || !def->name[0]) {
        yk_building_refuse(building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                                             "a wire has no name: give it one"));
        return YK_NULL_WIRE;
    }

    if (!isfinite(def->gain) || !isfinite(def->offset)) {
        yk_building_refuse(building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                                             "wire '%s': gain (%g) and offset (%g) must be finite",
                                             def->name, def->gain, def->offset));
        return YK_NULL_WIRE;
    }

    /* yk_system_create() checks channels, because it knows their sizes. */
    int source = def->source_port.index;
    if (source < 0)
        source = 0;
    if (!find_port(builder, "wire", def->name, def->source_subsystem.index, source) ||
        !find_port(builder, "wire", def->name, def->target_subsystem.index, def->target_port.index))
        return YK_NULL_WIRE;
    return (yk_wire_id){
        yk_building_append(building, &builder->wires, &builder->wire_count, def, sizeof *def)};
}

yk_input_id yk_system_add_input(yk_system_builder *builder, const char *name,
                                yk_subsystem_id subsystem, yk_port_id port, double value)
{
    if (!builder)
        return YK_NULL_INPUT;

    yk_building *building = &builder->building;
    if (!name || !name[0]) {
        yk_building_refuse(building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                                             "an input has no name: give it one"));
        return YK_NULL_INPUT;
    }
    if (!find_port(builder, "input", name, subsystem.index, port.index))
        return YK_NULL_INPUT;

    yk_system_input_def def = {name, subsystem.index, port.index, value};
    return (yk_input_id){
        yk_building_append(building, &builder->inputs, &builder->input_count, &def, sizeof def)};
}

/* The whole ------------------------------------------------------------------------------------ */

/* The parts as arrays of one description. */
static yk_status make(yk_system_builder *builder, yk_system **system)
{
    yk_context *context = builder->building.context;
    size_t count = (size_t)builder->subsystem_count;
    yk_subsystem **subsystems = yk_allocate(context, count + 1, sizeof *subsystems);
    const char **names = yk_allocate(context, count + 1, sizeof *names);
    yk_transform *transforms = yk_allocate(context, count + 1, sizeof *transforms);
    int *substeps = yk_allocate(context, count + 1, sizeof *substeps);
    yk_subsystem **owned = yk_allocate(context, count + 1, sizeof *owned);
    yk_status status = YK_ERROR_MEMORY;

    if (subsystems && names && transforms && substeps && owned) {
        /* Without transforms, no value of a subsystem is converted. */
        yk_transform same = yk_transform_identity();
        bool transformed = false;
        for (size_t i = 0; i < count; i++) {
            const yk_subsystem_def *def = &builder->subsystems[i];
            subsystems[i] = def->subsystem;
            names[i] = def->name;
            transforms[i] = def->transform;
            substeps[i] = def->substeps;
            transformed |= memcmp(&def->transform, &same, sizeof same) != 0;
        }

        yk_system_description whole = {
            .subsystems = subsystems,
            .names = names,
            .subsystem_count = builder->subsystem_count,
            .transforms = transformed ? transforms : NULL,
            .substeps = substeps,
            .interfaces = builder->interfaces,
            .interface_count = builder->interface_count,
            .wires = builder->wires,
            .wire_count = builder->wire_count,
            .inputs = builder->inputs,
            .input_count = builder->input_count,
            .scheme = builder->def.scheme,
            .start = builder->def.start_time,
            .step = builder->def.macro_step,
            .control = builder->def.step_control,
            .on_failure = builder->def.on_failure,
        };

        /* yk_system_create_from_arrays() copies what it needs from the arrays. */
        status = yk_system_make(context, &whole, system);
    }

    /* From here on the system destroys the subsystems that it owns. */
    if (status == YK_OK) {
        yk_system *made = *system;
        made->owned = owned;
        owned = NULL;
        for (size_t i = 0; i < count; i++) {
            yk_subsystem_def *def = &builder->subsystems[i];
            if (def->owned)
                made->owned[made->owned_count++] = def->subsystem;
            def->owned = false;
        }
    }

    /* The system has copies of the data that it keeps. */
    yk_free(context, subsystems);
    yk_free(context, names);
    yk_free(context, transforms);
    yk_free(context, substeps);
    yk_free(context, owned);
    return status;
}

yk_status yk_system_create(yk_system_builder *builder, yk_system **system)
{
    if (system)
        *system = NULL;
    if (!builder)
        return YK_ERROR_MEMORY;
    if (!system) {
        yk_status status = yk_refuse_null(builder->building.context, __func__, "system");
        yk_system_discard(builder);
        return status;
    }

    /* Names of subsystems, interfaces and inputs must be unique. */
    yk_building *building = &builder->building;
    if (builder->subsystem_count > 0)
        yk_building_unique(building, "subsystems", &builder->subsystems->name,
                           builder->subsystem_count, sizeof *builder->subsystems);
    if (builder->interface_count > 0)
        yk_building_unique(building, "interfaces", &builder->interfaces->name,
                           builder->interface_count, sizeof *builder->interfaces);
    if (builder->wire_count > 0)
        yk_building_unique(building, "wires", &builder->wires->name, builder->wire_count,
                           sizeof *builder->wires);
    if (builder->input_count > 0)
        yk_building_unique(building, "inputs", &builder->inputs->name, builder->input_count,
                           sizeof *builder->inputs);

    /* Report the errors of all parts. */
    yk_status status = yk_building_finish(building);
    if (status == YK_OK)
        status = make(builder, system);
    yk_system_discard(builder);
    return status;
}

void yk_system_discard(yk_system_builder *builder)
{
    if (!builder)
        return;

    for (int i = 0; i < builder->subsystem_count; i++) {
        const yk_subsystem_def *def = &builder->subsystems[i];
        if (def->owned)
            def->subsystem->ops->destroy(def->subsystem);
    }

    yk_context *context = builder->building.context;
    yk_free(context, builder->subsystems);
    yk_free(context, builder->interfaces);
    yk_free(context, builder->wires);
    yk_free(context, builder->inputs);
    yk_free(context, builder);
}
