/* The tight scheme with acceleration: one macro step as a fixed point x = H(x) of the interface wrenches (wrenches.h).
 *
 * x begins as the wrenches at the end of the step before. In each sweep all subsystems make the step again: wrench sides
 * first, with x, then the motion sides with the motion that comes of it, so that H depends on x alone even where a
 * subsystem is a wrench side at one interface and a motion side at another. Where interfaces run in a circle, or wires
 * against this order, what a subsystem is told of its partner is part of x.
 *
 * At the end the wrench sides step once more with what the motion sides gave in the last sweep, so that each side receives
 * exactly what the other gave; the gap that this leaves is what the tolerance of the wrenches means as a motion. A step
 * that does not converge is taken with the best x.
 *
 * An x from which a subsystem cannot step says nothing of the step: the way to it is shortened. */
#include <math.h>
#include <string.h>

#include "coupling/interface.h"
#include "coupling/unknowns.h"

/* Relative change of a wire that counts as none. */
static const double SIGNAL_TOLERANCE = 1e-9;
/* How often in a step, and by which factor, the way to an x that cannot be stepped is shortened. */
enum { SHORTENINGS_MAX = 8 };
static const double SHORTENING = 0.1;

static void apply(yk_system *system, const yk_unknowns *w, const double *x)
{
    yk_unknowns_apply(system, w, x);
    for (int k = 0; k < w->interface_count; k++) yk_tight_wrench_input(system, &system->interfaces[w->interfaces[k]]);
}

/* The wrenches at the end of the step before belong to where the wrench sides were then; motions that must be told before
 * they are known are predicted, and wires hold their values. */
static void begin(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        interface->origin = yk_interface_a(system, interface)->before[interface->def.wrench_port].position;
        if (interface->lagged) yk_system_predict(system, interface, &interface->given);
    }
    for (int i = 0; i < system->wire_count; i++) system->wires[i].given = system->wires[i].before;
    for (int i = 0; i < system->unknowns_count; i++) {
        yk_unknowns *w = &system->unknowns[i];
        for (int k = 0; k < w->interface_count; k++) {
            yk_interface *interface = &system->interfaces[w->interfaces[k]];
            const yk_port_value *b = &yk_interface_b(system, interface)->values[interface->def.motion_port];
            interface->applied = yk_wrench_opposite(interface->kind, b, interface->origin);
            interface->largest = yk_wrench_size(interface->kind, &interface->applied);
        }
        yk_unknowns_read(system, w);
        apply(system, w, w->applied);
        yk_accelerator_begin(w->accelerator);
    }
}

/* All subsystems once, from the start of the step. */
static yk_status sweep(yk_system *system, bool first)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->wrench_sequence[index];
        for (int i = 0; i < system->interface_count; i++) {
            yk_interface *interface = &system->interfaces[i];
            if (interface->def.motion_subsystem != participant) continue;
            const yk_motion *known = &yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
            const yk_motion *end = interface->lagged ? &interface->given : known;
            interface->origin = end->position;
            yk_tight_motion_input(system, interface, end);
        }
        yk_system_carry_signals(system, participant);

        yk_status status = first ? YK_OK : yk_system_rewind(system, participant);
        if (status >= 0) status = yk_system_advance(system, participant);
        if (status < 0) return yk_system_report_failure(system, participant);
    }
    return YK_OK;
}

/* Whether x is the fixed point; *change: the largest difference of wrenches in x and H(x). */
static bool has_converged(yk_system *system, double *change)
{
    *change = 0;
    bool all = true;
    for (int i = 0; i < system->unknowns_count; i++) {
        yk_unknowns *w = &system->unknowns[i];
        yk_unknowns_read(system, w);
        all = yk_unknowns_settled(system, w, change) && all;
    }
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        if (wire->lagged) all = all && fabs(wire->now - wire->given) <= SIGNAL_TOLERANCE * (1 + fabs(wire->now));
    }
    return all;
}

static void go_on(yk_system *system)
{
    for (int i = 0; i < system->unknowns_count; i++) {
        yk_unknowns *w = &system->unknowns[i];
        double change = 0;
        memcpy(w->tried, w->applied, (size_t)w->size * sizeof(double));
        bool closed = w->lagged_count + w->wire_count == 0;
        if (closed && yk_unknowns_settled(system, w, &change)) continue;
        yk_accelerator_next(w->accelerator, w->applied, w->fresh, w->next);
        apply(system, w, w->next);
    }

    /* One factor is for wrenches alone. */
    if (system->scheme.acceleration != YK_ACCELERATION_AITKEN) return;
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->lagged)
            interface->given = yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
    }
    for (int i = 0; i < system->wire_count; i++) system->wires[i].given = system->wires[i].now;
}

static void shorten(yk_system *system)
{
    for (int i = 0; i < system->unknowns_count; i++) {
        yk_unknowns *w = &system->unknowns[i];
        yk_unknowns_read(system, w);
        for (int k = 0; k < w->size; k++) w->next[k] = w->tried[k] + SHORTENING * (w->applied[k] - w->tried[k]);
        apply(system, w, w->next);
    }
}

/* Motion sides before wrench sides: what they give now is what the others receive. */
static yk_status exchange(yk_system *system)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];
        if (system->participants[participant].wrench_size == 0) continue;
        yk_system_pack_wrenches(system, participant);
        yk_system_apply_wrenches(system, participant, system->participants[participant].fresh);
        yk_tight_wrench_inputs(system, participant);
        yk_status status = yk_system_rewind(system, participant);
        if (status >= 0) status = yk_system_advance(system, participant);
        if (status < 0) return yk_system_report_failure(system, participant);
    }
    return YK_OK;
}

static yk_status return_to_best(yk_system *system, yk_step_report *report)
{
    for (int i = 0; i < system->unknowns_count; i++) {
        yk_unknowns *w = &system->unknowns[i];
        memcpy(w->next, w->applied, (size_t)w->size * sizeof(double));
        yk_accelerator_best(w->accelerator, w->next);
        apply(system, w, w->next);
    }
    yk_status status = sweep(system, false);
    has_converged(system, &report->wrench_change);
    return status < 0 ? status : YK_NOT_CONVERGED;
}

yk_status yk_tight_iterate_accelerated(yk_system *system, yk_step_report *report)
{
    bool circle = false;
    for (int i = 0; i < system->interface_count; i++) circle = circle || system->interfaces[i].lagged;
    yk_system_mark(system);
    begin(system);

    /* In a circle wrenches can agree by chance while what was told does not: they must do so twice. */
    bool agreed = !circle;
    int shortenings = 0;
    for (int number = 0;; number++) {
        yk_status status = sweep(system, number == 0);
        report->iterations++;
        if (status < 0) {
            bool give_up = number == 0 || shortenings == SHORTENINGS_MAX || number >= system->scheme.iterations;
            if (give_up || status == YK_ERROR_MEMORY) return status;
            shortenings++;
            shorten(system);
            continue;
        }

        bool converged = has_converged(system, &report->wrench_change);
        if (converged && agreed) return exchange(system);
        if (number >= system->scheme.iterations) return return_to_best(system, report);
        agreed = !circle || converged;
        go_on(system);
    }
}
