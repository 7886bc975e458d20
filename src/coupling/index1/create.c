/* What the scheme index1 keeps: made with the system, and its part of the state image. */
#include <string.h>

#include "coupling/index1/index1.h"

/* The sizes of the def are given; interfaces are added, and `wires` of those that are solved
 * for. */
static yk_status create_jacobian(yk_system *system, yk_jacobian_def def, int wires,
                                 yk_jacobian **jacobian)
{
    yk_context *context = system->context;
    def.participant_count = system->participant_count,
    def.interface_count = system->interface_count + wires;
    yk_jacobian_interface *interfaces =
        yk_allocate(context, (size_t)def.interface_count, sizeof *interfaces);
    if (!interfaces)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface_def *joint = &system->interfaces[i].def;
        const yk_constraint *constraint = &yk_index1_of(system)->interfaces[i].constraint;
        bool point = constraint->kind == YK_PORT_MARKER && constraint->row[0].kind == YK_ROW_POINT;
        interfaces[i] = (yk_jacobian_interface){
            .participant = {joint->wrench_subsystem, joint->motion_subsystem},
            .port = {joint->wrench_port, joint->motion_port},
            .rows = constraint->row_count,
            .relation = yk_index1_is_relation(&system->interfaces[i]),
            .global_rows = point ? 3 : 0,
            .coordinates = yk_coordinates(system->interfaces[i].kind)};
    }
    for (int i = 0; i < wires; i++) {
        const yk_wire_def *wire = &system->wires[yk_index1_of(system)->wires[i].wire].def;
        interfaces[system->interface_count + i] =
            (yk_jacobian_interface){.participant = {wire->source_subsystem, wire->target_subsystem},
                                    .port = {wire->source_port, wire->target_port},
                                    .rows = 1,
                                    .wire = true,
                                    .coordinates = YK_SCALAR_COORDINATES};
    }
    def.interfaces = interfaces;
    yk_status status = yk_jacobian_create(context, &def, jacobian);
    yk_release(context, interfaces);
    return status;
}

/* Room for the sensitivities of those that tell them, for one step per macro step. */
static yk_status create_sensitivities(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    x->sensitivity =
        yk_allocate(system->context, (size_t)system->participant_count, sizeof *x->sensitivity);
    if (!x->sensitivity)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < system->participant_count; i++) {
        const yk_port_response *r = yk_jacobian_response(x->jacobian, i);
        if (!yk_index1_has_sensitivity(system, i))
            continue;
        int width = 0;
        for (int c = 0; c < r->connection_count; c++)
            width += x->interfaces[r->connections[c].interface].constraint.kind == YK_PORT_SCALAR
                         ? 1
                         : 6;
        width *= YK_INPUT_COEFFICIENTS;
        x->sensitivity[i] =
            yk_allocate(system->context, (size_t)r->rows * (size_t)width, sizeof **x->sensitivity);
        if (!x->sensitivity[i])
            return YK_ERROR_MEMORY;
    }
    return YK_OK;
}

static yk_status create_moments(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        yk_motion **moments = &x->moments[interface->def.motion_subsystem];
        if (!yk_index1_is_relation(interface) || *moments)
            continue;
        *moments =
            yk_allocate(system->context, (size_t)yk_interface_b(system, interface)->port_count,
                        sizeof **moments);
        if (!*moments)
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
    x->base.ops = yk_scheme_index1();
    x->options = *(const yk_index1_options *)options;
    *scheme = &x->base;

    for (int i = 0; i < YK_INPUT_COEFFICIENTS; i++)
        x->bases[i] = yk_index1_basis_of(i);
    x->basis = &x->bases[x->options.degree];
    size_t participants = (size_t)system->participant_count;
    x->interfaces = yk_allocate(context, (size_t)system->interface_count, sizeof *x->interfaces);
    x->moments = yk_allocate(context, participants, sizeof(yk_motion *));
    x->difference_runs = yk_allocate(context, participants, sizeof *x->difference_runs);
    if (!x->interfaces || !x->moments || !x->difference_runs)
        return YK_ERROR_MEMORY;

    /* Substeps of participants that do not follow polynomials get straight lines or means in
     * their place, so that both sides of an interface receive the same impulse. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        m->shaped = !yk_follows_polynomials(m->subsystem);
    }
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        x->interfaces[i].constraint =
            yk_constraint_make(interface->kind, interface->def.constrained, interface->def.drive);
    }
    const yk_jacobian_def whole = {.parameters = x->basis->parameters,
                                   .motions = YK_INDEX1_MOTIONS};
    const yk_jacobian_def start = {.parameters = 1, .motions = 1, .first_level = YK_LEVELS - 1};
    yk_status status = create_moments(system);
    if (status == YK_OK)
        status = yk_index1_create_wires(system);
    if (status == YK_OK)
        status = create_jacobian(system, whole, x->wire_count, &x->jacobian);
    if (status == YK_OK)
        status = create_jacobian(system, start, 0, &x->start_jacobian);
    if (status == YK_OK)
        status = create_sensitivities(system);
    if (status < 0)
        return status;
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
        layout.continuous +=
            (size_t)x->interfaces[i].constraint.row_count * YK_INPUT_COEFFICIENTS + MEAN_WORDS;
        layout.words += EARLIER_WORDS + (size_t)x->interfaces[i].constraint.row_count + 1;
    }
    if ((x->options.jacobian == YK_JACOBIAN_REUSE))
        layout.words += yk_jacobian_words(x->jacobian);
    layout.words += layout.continuous;
    return layout;
}

void yk_index1_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                   double *opaque)
{
    const yk_index1 *x = (const yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *interface = &x->interfaces[i];
        size_t words = (size_t)interface->constraint.row_count * YK_INPUT_COEFFICIENTS;
        memcpy(continuous, interface->multiplier, words * sizeof *continuous);
        memcpy(continuous + words, interface->last_mean, sizeof interface->last_mean);
        memcpy(opaque, interface->earlier, sizeof interface->earlier);
        continuous += words + MEAN_WORDS, opaque += EARLIER_WORDS;
        for (int row = 0; row < interface->constraint.row_count; row++)
            *opaque++ = interface->trend[row];
        *opaque++ = interface->repeats;
    }
    opaque[LAST_STEP] = x->last_step, opaque[JACOBIAN_STEP] = x->jacobian_step;
    opaque[JACOBIAN_DEGREE] = x->jacobian_degree, opaque[LAST_RATE] = x->last_rate;
    opaque[JUMPED] = x->jumped;
    opaque += SCALARS;
    for (int i = 0; i < x->wire_count; i++)
        *opaque++ = x->wires[i].earlier;
    if ((x->options.jacobian == YK_JACOBIAN_REUSE))
        yk_jacobian_get(x->jacobian, opaque);
}

void yk_index1_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                   const double *opaque)
{
    yk_index1 *x = (yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *interface = &x->interfaces[i];
        size_t words = (size_t)interface->constraint.row_count * YK_INPUT_COEFFICIENTS;
        memcpy(interface->multiplier, continuous, words * sizeof *continuous);
        memcpy(interface->last_mean, continuous + words, sizeof interface->last_mean);
        memcpy(interface->earlier, opaque, sizeof interface->earlier);
        continuous += words + MEAN_WORDS, opaque += EARLIER_WORDS;
        for (int row = 0; row < interface->constraint.row_count; row++)
            interface->trend[row] = *opaque++;
        interface->repeats = *opaque++ != 0;
    }
    x->last_step = opaque[LAST_STEP], x->jacobian_step = opaque[JACOBIAN_STEP];
    x->jacobian_degree = (int)opaque[JACOBIAN_DEGREE], x->last_rate = opaque[LAST_RATE];
    x->jumped = opaque[JUMPED] != 0;
    opaque += SCALARS;
    for (int i = 0; i < x->wire_count; i++)
        x->wires[i].earlier = *opaque++;
    if (x->options.jacobian == YK_JACOBIAN_REUSE)
        yk_jacobian_set(x->jacobian, opaque);
}
