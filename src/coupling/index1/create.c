/* What the scheme index1 keeps: made with the system, and its part of the state image. */
#include <string.h>

#include "coupling/index1/index1.h"

/* A Jacobian of the interfaces and of so many of the wires that are solved for. */
static yk_status create_jacobian(yk_system *system, const yk_jacobian_def *sizes, int wires,
                                 yk_jacobian **jacobian)
{
    const yk_index1 *x = yk_index1_of(system);
    yk_context *context = system->context;
    size_t count = (size_t)(system->interface_count + wires);
    yk_jacobian_interface *interfaces = yk_allocate(context, count, sizeof *interfaces);
    if (!interfaces)
        return YK_ERROR_MEMORY;

    /* Constraints and relations ... */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        const yk_constraint *constraint = &x->interfaces[i].constraint;
        int global_rows = 0;
        if (constraint->kind == YK_PORT_MARKER && constraint->row[0].kind == YK_ROW_POINT)
            global_rows = 3;
        interfaces[i] = (yk_jacobian_interface){
            .participant = {def->wrench_subsystem, def->motion_subsystem},
            .port = {def->wrench_port, def->motion_port},
            .rows = constraint->row_count,
            .relation = yk_index1_is_relation(interface),
            .global_rows = global_rows,
            .coordinates = yk_coordinates(interface->kind),
        };
    }

    /* ... then wires. */
    for (int i = 0; i < wires; i++) {
        const yk_wire_def *wire = &system->wires[x->wires[i].wire].def;
        interfaces[system->interface_count + i] = (yk_jacobian_interface){
            .participant = {wire->source_subsystem, wire->target_subsystem},
            .port = {wire->source_port, wire->target_port},
            .rows = 1,
            .wire = true,
            .coordinates = YK_SCALAR_COORDINATES,
        };
    }

    yk_jacobian_def def = *sizes;
    def.participant_count = system->participant_count;
    def.interface_count = (int)count;
    def.interfaces = interfaces;
    yk_status status = yk_jacobian_create(context, &def, jacobian);
    yk_release(context, interfaces);

    return status;
}

/* Memory for the sensitivities of those that give them, for one step per macro step. */
static yk_status create_sensitivities(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    yk_context *context = system->context;
    size_t participants = (size_t)system->participant_count;
    x->sensitivity = yk_allocate(context, participants, sizeof *x->sensitivity);
    if (!x->sensitivity)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < system->participant_count; i++) {
        /* Those of the others are found by finite differences. */
        if (!yk_index1_has_sensitivity(system, i))
            continue;

        /* Its rows by all coefficients of all of its wrenches. */
        const yk_port_response *r = yk_jacobian_response(x->jacobian, i);
        int width = 0;
        for (int c = 0; c < r->connection_count; c++) {
            int interface = r->connections[c].interface;
            width += yk_port_freedoms(x->interfaces[interface].constraint.kind);
        }

        size_t words = (size_t)(r->rows * width * YK_INPUT_COEFFICIENTS);
        x->sensitivity[i] = yk_allocate(context, words, sizeof **x->sensitivity);
        if (!x->sensitivity[i])
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

yk_status yk_index1_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    yk_context *context = system->context;
    yk_index1 *x = yk_allocate(context, 1, sizeof *x);
    if (!x)
        return YK_ERROR_MEMORY;

    x->options = *(const yk_index1_options *)options;
    *scheme = &x->base;

    for (int i = 0; i < YK_INPUT_COEFFICIENTS; i++)
        x->bases[i] = yk_index1_basis_of(i);
    x->basis = &x->bases[x->options.degree];
    size_t participants = (size_t)system->participant_count;
    x->interfaces = yk_allocate(context, (size_t)system->interface_count, sizeof *x->interfaces);
    x->moments = yk_allocate(context, participants, sizeof *x->moments);
    x->difference_runs = yk_allocate(context, participants, sizeof *x->difference_runs);
    if (!x->interfaces || !x->moments || !x->difference_runs)
        return YK_ERROR_MEMORY;

    /* Substeps of participants that do not follow polynomials get straight lines or means
     * instead, so that both sides of an interface receive the same impulse. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        p->shaped = !yk_follows_polynomials(p->subsystem);
    }

    /* Constraints, and memory for the moments of what is behind relations. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        x->interfaces[i].constraint =
            yk_constraint_make(interface->kind, def->constrained, def->drive);

        yk_motion **moments = &x->moments[def->motion_subsystem];
        if (!yk_index1_is_relation(interface) || *moments)
            continue;

        size_t ports = (size_t)yk_interface_b(system, interface)->port_count;
        *moments = yk_allocate(context, ports, sizeof **moments);
        if (!*moments)
            return YK_ERROR_MEMORY;
    }

    /* The Jacobians: of a step, and of the accelerations at the start. */
    yk_status status = yk_index1_create_wires(system);
    if (status != YK_OK)
        return status;

    const yk_jacobian_def whole = {
        .parameters = x->basis->parameters,
        .motions = YK_INDEX1_MOTIONS,
    };
    status = create_jacobian(system, &whole, x->wire_count, &x->jacobian);
    if (status != YK_OK)
        return status;

    const yk_jacobian_def start = {
        .parameters = 1,
        .motions = 1,
        .first_level = YK_LEVELS - 1,
    };
    status = create_jacobian(system, &start, 0, &x->start_jacobian);
    if (status != YK_OK)
        return status;

    status = create_sensitivities(system);
    if (status != YK_OK)
        return status;

    /* Newton's method, and threads for the runs of all subsystems. */
    size_t size = (size_t)yk_jacobian_size(x->jacobian);
    x->correction = yk_allocate(context, size, sizeof *x->correction);
    x->applied = yk_allocate(context, size, sizeof *x->applied);
    x->change = yk_allocate(context, size, sizeof *x->change);
    if (!x->correction || !x->applied || !x->change)
        return YK_ERROR_MEMORY;
    return yk_system_use_threads(system, x->options.threads);
}

void yk_index1_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_index1 *x = (yk_index1 *)scheme;

    /* Where creation failed, some of it was not made. */
    for (int i = 0; x->moments && i < system->participant_count; i++)
        yk_release(system->context, x->moments[i]);

    yk_release(system->context, x->moments);
    yk_release(system->context, x->difference_runs);

    for (int i = 0; x->sensitivity && i < system->participant_count; i++)
        yk_release(system->context, x->sensitivity[i]);

    yk_release(system->context, x->sensitivity);
    yk_jacobian_destroy(x->jacobian);
    yk_jacobian_destroy(x->start_jacobian);
    yk_release(system->context, x->interfaces);
    yk_release(system->context, x->wires);
    yk_release(system->context, x->correction);
    yk_release(system->context, x->applied);
    yk_release(system->context, x->change);
    yk_release(system->context, x);
}

/* State ---------------------------------------------------------------------------------------- */

/* The scalars of the state, as the image holds them. */
enum { LAST_STEP, JACOBIAN_STEP, JACOBIAN_DEGREE, LAST_RATE, JUMPED, SCALARS };
enum {
    EARLIER_WORDS = 2 * sizeof(yk_motion) / sizeof(double),
    MEAN_WORDS = 2 * sizeof(yk_wrench) / sizeof(double)
};

yk_state_layout yk_index1_layout(const yk_scheme *scheme, const yk_system *system)
{
    const yk_index1 *x = (const yk_index1 *)scheme;
    yk_state_layout layout = {.words = SCALARS + (size_t)x->wire_count};
    for (int i = 0; i < system->interface_count; i++) {
        size_t rows = (size_t)x->interfaces[i].constraint.row_count;
        layout.continuous += rows * YK_INPUT_COEFFICIENTS + MEAN_WORDS;
        layout.words += EARLIER_WORDS + rows + 1;
    }

    /* Responses that are kept were learned, and cannot be computed again. */
    if (x->options.jacobian == YK_JACOBIAN_REUSE)
        layout.words += yk_jacobian_words(x->jacobian);
    layout.words += layout.continuous;

    return layout;
}

void yk_index1_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                   double *opaque)
{
    const yk_index1 *x = (const yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *own = &x->interfaces[i];
        int rows = own->constraint.row_count;
        size_t words = (size_t)rows * YK_INPUT_COEFFICIENTS;
        memcpy(continuous, own->multiplier, words * sizeof *continuous);
        memcpy(continuous + words, own->last_mean, sizeof own->last_mean);
        continuous += words + MEAN_WORDS;

        memcpy(opaque, own->earlier, sizeof own->earlier);
        opaque += EARLIER_WORDS;

        for (int row = 0; row < rows; row++)
            *opaque++ = own->trend[row];
        *opaque++ = own->repeats;
    }

    /* What decides on the next prediction and on the Jacobian. */
    opaque[LAST_STEP] = x->last_step;
    opaque[JACOBIAN_STEP] = x->jacobian_step;
    opaque[JACOBIAN_DEGREE] = x->jacobian_degree;
    opaque[LAST_RATE] = x->last_rate;
    opaque[JUMPED] = x->jumped;
    opaque += SCALARS;

    for (int i = 0; i < x->wire_count; i++)
        *opaque++ = x->wires[i].earlier;
    if (x->options.jacobian == YK_JACOBIAN_REUSE)
        yk_jacobian_get(x->jacobian, opaque);
}

void yk_index1_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                   const double *opaque)
{
    /* In the order of yk_index1_get. */
    yk_index1 *x = (yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        int rows = own->constraint.row_count;
        size_t words = (size_t)rows * YK_INPUT_COEFFICIENTS;
        memcpy(own->multiplier, continuous, words * sizeof *continuous);
        memcpy(own->last_mean, continuous + words, sizeof own->last_mean);
        continuous += words + MEAN_WORDS;

        memcpy(own->earlier, opaque, sizeof own->earlier);
        opaque += EARLIER_WORDS;

        for (int row = 0; row < rows; row++)
            own->trend[row] = *opaque++;

        own->repeats = *opaque++ != 0;
    }

    x->last_step = opaque[LAST_STEP];
    x->jacobian_step = opaque[JACOBIAN_STEP];
    x->jacobian_degree = (int)opaque[JACOBIAN_DEGREE];
    x->last_rate = opaque[LAST_RATE];
    x->jumped = opaque[JUMPED] != 0;
    opaque += SCALARS;

    for (int i = 0; i < x->wire_count; i++)
        x->wires[i].earlier = *opaque++;
    if (x->options.jacobian == YK_JACOBIAN_REUSE)
        yk_jacobian_set(x->jacobian, opaque);
}
