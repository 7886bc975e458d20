/* Quantities of a system that can be recorded or read by name: "left.mass.position",
 * "joint.gap_velocity".
 *
 * A row tells where a quantity is stored. Scenarios resolve the names of `record.channels` to rows,
 * with messages that name file and line (model/channels.c). Programs read all quantities of a
 * system through yoke/access.h (channels.c). Both use the tables below. */
#ifndef YK_COUPLING_CHANNELS_H
#define YK_COUPLING_CHANNELS_H

#include "yoke/access.h"

typedef enum yk_channel_kind {
    YK_CHANNEL_PORT,        /* doubles of a port's value */
    YK_CHANNEL_GAP,         /* one of the four numbers of yk_interface_gap */
    YK_CHANNEL_ENERGY,      /* doubles of yk_energy */
    YK_CHANNEL_CREATED,     /* energy created by an interface */
    YK_CHANNEL_ITERATIONS,  /* iterations of the scheme in the last macro step */
    YK_CHANNEL_WIRE,        /* the value of a wire */
    YK_CHANNEL_OF_SUBSYSTEM /* a channel of a subsystem */
} yk_channel_kind;

typedef struct yk_channel_row {
    yk_channel_kind kind;
    int components;
    int subsystem,
        /* The interface or wire is stored in `subsystem`, the channel of a subsystem in `port`. */
        port;
    int offset;       /* First component, in doubles. */
    int channel_size; /* Components of the whole channel of a subsystem. */
} yk_channel_row;

/* A quantity of a port: a run of doubles in yk_port_value. */
typedef struct yk_port_quantity {
    const char *name;
    const char *unit; /* NULL: none */
    int offset;       /* in doubles */
    int size[3];      /* by yk_port_kind; 0: ports of this kind do not have the quantity */
    bool is_default;  /* recorded if a scenario names no channels */
} yk_port_quantity;

typedef struct yk_gap_quantity {
    const char *name, *unit;
    bool is_rotation; /* marker ports only */
} yk_gap_quantity;

enum { YK_PORT_QUANTITY_COUNT = 10, YK_GAP_QUANTITY_COUNT = 4, YK_ENERGY_QUANTITY_COUNT = 4 };

extern const yk_port_quantity yk_port_quantities[YK_PORT_QUANTITY_COUNT];
extern const yk_gap_quantity yk_gap_quantities[YK_GAP_QUANTITY_COUNT];
extern const char *const yk_energy_quantities[YK_ENERGY_QUANTITY_COUNT];

/* Reads the components of a row. `scratch` has room for the whole channel of a subsystem. */
void yk_channel_row_read(const yk_system *system, const yk_channel_row *row, double *scratch,
                         double *values);

/* The channels of a system by name. They are listed at the first request. */
typedef struct yk_channel_table yk_channel_table;
yk_status yk_channel_table_create(yk_context *context, yk_channel_table **table);
void yk_channel_table_destroy(yk_channel_table *table);

#endif
