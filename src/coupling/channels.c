/* The channels of a system: names, units, and the places of their numbers. */
#include "coupling/channels.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "coupling/arguments.h"
#include "coupling/system.h"

/* Tables --------------------------------------------------------------------------------------- */

#define AT(member) ((int)(offsetof(yk_port_value, member) / sizeof(double)))
const yk_port_quantity yk_port_quantities[YK_PORT_QUANTITY_COUNT] = {
    {"position", "m", AT(motion.position), {1, 3, 0}, true},
    {"orientation", NULL, AT(motion.orientation), {0, 4, 0}, true},
    {"velocity", "m/s", AT(motion.velocity), {1, 3, 0}, true},
    {"angular_velocity", "rad/s", AT(motion.angular_velocity), {0, 3, 0}, true},
    {"acceleration", "m/s^2", AT(motion.acceleration), {1, 3, 0}, false},
    {"angular_acceleration", "rad/s^2", AT(motion.angular_acceleration), {0, 3, 0}, false},
    {"force", "N", AT(wrench.force), {1, 3, 0}, true},
    {"torque", "N m", AT(wrench.torque), {0, 3, 0}, true},
    {"wrench", "N, N m", AT(wrench), {0, 6, 0}, false},
    {"value", NULL, AT(motion.position), {0, 0, 1}, true},
};
_Static_assert(sizeof(yk_wrench) == 6 * sizeof(double), "a wrench is six doubles in a row");

const yk_gap_quantity yk_gap_quantities[YK_GAP_QUANTITY_COUNT] = {
    {"gap_position", "m", false},
    {"gap_rotation", "rad", true},
    {"gap_velocity", "m/s", false},
    {"gap_angular_velocity", "rad/s", true},
};
_Static_assert(sizeof(yk_interface_gap) == YK_GAP_QUANTITY_COUNT * sizeof(double),
               "the gaps are four doubles in a row");

const char *const yk_energy_quantities[YK_ENERGY_QUANTITY_COUNT] = {"kinetic", "potential",
                                                                    "dissipated", "work"};
_Static_assert(offsetof(yk_energy, port_work) == YK_ENERGY_QUANTITY_COUNT * sizeof(double),
               "the four energies are doubles in a row");

/* Reading -------------------------------------------------------------------------------------- */

void yk_channel_row_read(const yk_system *system, const yk_channel_row *row, double *scratch,
                         double *values)
{
    double own[YK_ENERGY_QUANTITY_COUNT] = {0};
    const double *from = own;

    switch (row->kind) {
    case YK_CHANNEL_PORT:
        from = (const double *)yk_system_port_value(system, (yk_subsystem_id){row->subsystem},
                                                    (yk_port_id){row->port});
        break;
    case YK_CHANNEL_GAP: {
        yk_interface_gap gap = yk_system_interface_gap(system, (yk_interface_id){row->subsystem});
        memcpy(own, &gap, sizeof gap);
        break;
    }
    case YK_CHANNEL_ENERGY: {
        yk_energy energy;
        yk_system_energy(system, (yk_subsystem_id){row->subsystem}, &energy);
        memcpy(own, &energy, sizeof own);
        break;
    }
    case YK_CHANNEL_CREATED:
        own[0] = yk_system_interface_statistics(system, (yk_interface_id){row->subsystem})
                     .energy_created;
        break;
    case YK_CHANNEL_ITERATIONS: own[0] = yk_system_get_statistics(system).last_iterations; break;
    case YK_CHANNEL_WIRE:
        own[0] = yk_system_wire_value(system, (yk_wire_id){row->subsystem});
        break;
    case YK_CHANNEL_OF_SUBSYSTEM:
        yk_system_read_channel(system, (yk_subsystem_id){row->subsystem}, row->port, scratch);
        from = scratch;
        break;
    }

    for (int k = 0; k < row->components; k++)
        values[k] = from[row->offset + k];
}

/* The list of a system ------------------------------------------------------------------------- */

typedef struct entry {
    char *name;
    const char *unit;
    yk_channel_row row;
} entry;

struct yk_channel_table {
    yk_context *context;
    bool filled;
    int count, capacity;
    entry *entries;
    double *scratch; /* for the largest channel of a subsystem */
};

yk_status yk_channel_table_create(yk_context *context, yk_channel_table **table)
{
    *table = yk_allocate(context, 1, sizeof **table);
    if (!*table)
        return YK_ERROR_MEMORY;
    (*table)->context = context;
    return YK_OK;
}

static void clear_table(yk_channel_table *table)
{
    for (int i = 0; i < table->count; i++)
        yk_free(table->context, table->entries[i].name);
    yk_free(table->context, table->entries);
    yk_free(table->context, table->scratch);
    table->entries = NULL;
    table->scratch = NULL;
    table->count = table->capacity = 0;
}

void yk_channel_table_destroy(yk_channel_table *table)
{
    if (!table)
        return;

    clear_table(table);
    yk_free(table->context, table);
}

/* Adds "owner.port.quantity", or "owner.quantity" if the port is NULL. */
static yk_status add_entry(yk_channel_table *table, const char *owner, const char *port,
                           const char *quantity, const char *unit, yk_channel_row row)
{
    if (table->count == table->capacity) {
        int capacity = table->capacity ? 2 * table->capacity : 32;
        entry *grown =
            yk_reallocate(table->context, table->entries, (size_t)capacity, sizeof *grown);
        if (!grown)
            return YK_ERROR_MEMORY;
        table->entries = grown;
        table->capacity = capacity;
    }

    size_t bytes = strlen(owner) + (port ? strlen(port) + 1 : 0) + strlen(quantity) + 2;
    char *name = yk_allocate(table->context, bytes, 1);
    if (!name)
        return YK_ERROR_MEMORY;
    if (port)
        snprintf(name, bytes, "%s.%s.%s", owner, port, quantity);
    else
        snprintf(name, bytes, "%s.%s", owner, quantity);

    if (!unit || !unit[0])
        unit = "1";
    table->entries[table->count++] = (entry){name, unit, row};
    return YK_OK;
}

/* The unit that a subsystem gives to a number of its port. Quantities with power are converted to SI if the subsystem has
 * units of its own. */
static const char *port_unit(const yk_system *system, int subsystem, int port, int offset,
                             yk_port_kind kind, const char *unit)
{
    const yk_system_part *part = &system->parts[subsystem];
    const yk_subsystem *object = system->participants[part->participant].subsystem;
    bool is_converted = part->length != 1 || part->mass != 1;
    if (!object->ops->port_unit || (kind != YK_PORT_SIGNAL && is_converted))
        return unit;

    const char *own = object->ops->port_unit(object, part->port + port, offset);
    return own && own[0] ? own : unit;
}

static yk_status add_port(const yk_system *system, yk_channel_table *table, int subsystem, int port)
{
    const yk_system_part *part = &system->parts[subsystem];
    const yk_port *of = &system->participants[part->participant].ports[part->port + port];

    for (int i = 0; i < YK_PORT_QUANTITY_COUNT; i++) {
        const yk_port_quantity *q = &yk_port_quantities[i];
        if (q->size[of->kind] == 0)
            continue;

        yk_channel_row row = {.kind = YK_CHANNEL_PORT,
                              .components = q->size[of->kind],
                              .subsystem = subsystem,
                              .port = port,
                              .offset = q->offset};
        const char *unit = port_unit(system, subsystem, port, q->offset, of->kind, q->unit);
        yk_status status = add_entry(table, part->name, of->name, q->name, unit, row);
        if (status != YK_OK)
            return status;
    }
    return YK_OK;
}

static yk_status add_subsystem(const yk_system *system, yk_channel_table *table, int subsystem)
{
    const yk_system_part *part = &system->parts[subsystem];
    const yk_participant *p = &system->participants[part->participant];
    int port_count = system->merging ? part->port_count : p->port_count;
    for (int port = 0; port < port_count; port++) {
        yk_status status = add_port(system, table, subsystem, port);
        if (status != YK_OK)
            return status;
    }

    if (p->subsystem->ops->energy) {
        yk_channel_row row = {.kind = YK_CHANNEL_ENERGY,
                              .components = YK_ENERGY_QUANTITY_COUNT,
                              .subsystem = subsystem};
        yk_status status = add_entry(table, part->name, NULL, "energy", "J", row);
        if (status != YK_OK)
            return status;
    }

    const yk_channel *channels = NULL;
    int count = 0;
    if (p->subsystem->ops->channels)
        count = p->subsystem->ops->channels->list(p->subsystem, &channels);
    int first = part->channel;
    int last = count;
    for (int i = 0; system->merging && i < system->subsystem_count; i++) {
        const yk_system_part *other = &system->parts[i];
        if (other->participant == part->participant && other->channel > first &&
            other->channel < last)
            last = other->channel;
    }

    for (int i = first; i < last; i++) {
        yk_channel_row row = {.kind = YK_CHANNEL_OF_SUBSYSTEM,
                              .components = channels[i].component_count,
                              .subsystem = subsystem,
                              .port = i - first,
                              .channel_size = channels[i].component_count};
        yk_status status =
            add_entry(table, part->name, NULL, channels[i].name, channels[i].unit, row);
        if (status != YK_OK)
            return status;
    }
    return YK_OK;
}

/* Gaps and created energy; the force and the motion of an interface are those of its first port. */
static yk_status add_interface(const yk_system *system, yk_channel_table *table, int interface)
{
    const yk_interface *of = &system->interfaces[interface];
    for (int i = 0; i < YK_GAP_QUANTITY_COUNT; i++) {
        const yk_gap_quantity *q = &yk_gap_quantities[i];
        if (q->is_rotation && of->kind != YK_PORT_MARKER)
            continue;

        yk_channel_row row = {
            .kind = YK_CHANNEL_GAP, .components = 1, .subsystem = interface, .offset = i};
        yk_status status = add_entry(table, of->def.name, NULL, q->name, q->unit, row);
        if (status != YK_OK)
            return status;
    }

    yk_channel_row created = {.kind = YK_CHANNEL_CREATED, .components = 1, .subsystem = interface};
    yk_status status = add_entry(table, of->def.name, NULL, "energy_created", "J", created);

    for (int i = 0; status == YK_OK && i < YK_PORT_QUANTITY_COUNT; i++) {
        const yk_port_quantity *q = &yk_port_quantities[i];
        if (q->size[of->kind] == 0)
            continue;

        yk_channel_row row = {.kind = YK_CHANNEL_PORT,
                              .components = q->size[of->kind],
                              .subsystem = of->def.wrench_subsystem.index,
                              .port = of->def.wrench_port.index,
                              .offset = q->offset};
        status = add_entry(table, of->def.name, NULL, q->name, q->unit, row);
    }
    return status;
}

static yk_status fill_table(const yk_system *system, yk_channel_table *table)
{
    for (int i = 0; i < system->subsystem_count; i++) {
        yk_status status = add_subsystem(system, table, i);
        if (status != YK_OK)
            return status;
    }

    for (int i = 0; i < system->interface_count; i++) {
        yk_status status = add_interface(system, table, i);
        if (status != YK_OK)
            return status;
    }

    for (int i = 0; i < system->wire_count; i++) {
        yk_channel_row row = {.kind = YK_CHANNEL_WIRE, .components = 1, .subsystem = i};
        yk_status status = add_entry(table, system->wires[i].def.name, NULL, "value", NULL, row);
        if (status != YK_OK)
            return status;
    }

    yk_channel_row iterations = {.kind = YK_CHANNEL_ITERATIONS, .components = 1};
    yk_status status = add_entry(table, "coupling", NULL, "iteration_count", "1", iterations);
    if (status != YK_OK)
        return status;

    int largest = 1;
    for (int i = 0; i < table->count; i++)
        if (table->entries[i].row.channel_size > largest)
            largest = table->entries[i].row.channel_size;
    table->scratch = yk_allocate(table->context, (size_t)largest, sizeof *table->scratch);
    return table->scratch ? YK_OK : YK_ERROR_MEMORY;
}

/* NULL: memory is missing. */
static const yk_channel_table *table_of(const yk_system *system)
{
    yk_channel_table *table = system->channels;
    if (table->filled)
        return table;

    if (fill_table(system, table) != YK_OK) {
        clear_table(table);
        return NULL;
    }
    table->filled = true;
    return table;
}

int yk_system_channel_count(const yk_system *system)
{
    const yk_channel_table *table = system ? table_of(system) : NULL;
    return table ? table->count : 0;
}

/* The entry of an id; NULL after a message. */
static const entry *find_entry(const yk_system *system, const char *function, yk_channel_id channel)
{
    const yk_channel_table *table = table_of(system);
    if (!table)
        return NULL;
    if (channel.index >= 0 && channel.index < table->count)
        return &table->entries[channel.index];

    if (channel.index == YK_NO_ID) {
        yk_fail(system->context, YK_ERROR_ARGUMENT,
                "%s: the id of the channel is null, because it was not found", function);
        return NULL;
    }

    yk_fail(
        system->context, YK_ERROR_ARGUMENT,
        "%s: channel %d does not exist: use an id that yk_system_find_channel returned for this "
        "system",
        function, channel.index);
    return NULL;
}

yk_channel_info yk_system_channel_at(const yk_system *system, yk_channel_id channel)
{
    const entry *e = system ? find_entry(system, __func__, channel) : NULL;
    if (!e)
        return (yk_channel_info){.name = "", .unit = "1"};
    return (yk_channel_info){e->name, e->unit, e->row.components};
}

static const char *name_of_entry(const void *list, int index)
{
    return ((const entry *)list)[index].name;
}

yk_channel_id yk_system_find_channel(const yk_system *system, const char *name)
{
    if (!yk_system_has_memory(system, __func__, "name", name))
        return YK_NULL_CHANNEL;
    const yk_channel_table *table = table_of(system);
    if (!table)
        return YK_NULL_CHANNEL;

    for (int i = 0; i < table->count; i++)
        if (strcmp(table->entries[i].name, name) == 0)
            return (yk_channel_id){i};
    yk_system_report_not_found(system, __func__, "channel", name, name_of_entry, table->entries,
                               table->count);
    return YK_NULL_CHANNEL;
}

yk_status yk_system_read_channels(const yk_system *system, const yk_channel_id *channels, int count,
                                  double *values)
{
    if (!yk_system_has_started(system, __func__))
        return YK_ERROR_ARGUMENT;
    if (count < 0 || (count > 0 && (!channels || !values)))
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "%s: %d channels are to be read, but an array is missing", __func__, count);

    for (int i = 0; i < count; i++) {
        const entry *e = find_entry(system, __func__, channels[i]);
        if (!e)
            return yk_last_status(system->context);
        yk_channel_row_read(system, &e->row, system->channels->scratch, values);
        values += e->row.components;
    }
    return YK_OK;
}
