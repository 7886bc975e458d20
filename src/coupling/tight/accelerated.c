/* The tight scheme with acceleration: one macro step as a fixed point x = H(x) of the interface
 * wrenches (interface_fixed_point.h).
 *
 * The initial x consists of the wrenches at the end of the previous step. In each sweep all
 * subsystems make the step again: wrench sides first, with x, then the motion sides with the
 * resulting motion, so that H depends on x alone even if a subsystem is a wrench side at one
 * interface and a motion side at another. If interfaces form a cycle, or wires run against this
 * order, the quantity that a subsystem receives from its partner is part of x.
 *
 * At the end the wrench sides step once more with the reaction wrenches of the last sweep, so that
 * each side receives exactly the wrench of the other. The remaining gap is the effect of the
 * tolerance of the wrenches on the motion. A step that does not converge is accepted with the best
 * x.
 *
 * If a subsystem fails to step with some x, the change to this x is shortened. */
#include <math.h>
#include <string.h>

#include "coupling/participant.h"
#include "coupling/tight/tight.h"
#include "coupling/wire.h"

/* Number of times in a step that the change to a failed x is shortened, and factor of each
 * shortening. */
enum { SHORTENINGS_MAX = 8 };
static const double SHORTENING = 0.1;

void yk_tight_apply(const yk_tight *x, yk_system *system, const yk_unknowns *w,
                    const double *values)
{
    yk_unknowns_apply(system, w, values);
    for (int k = 0; k < w->interface_count; k++)
        yk_tight_wrench_input(x, system, w->interfaces[k]);
}

void yk_tight_begin_unknowns(yk_tight *x, yk_system *system)
{
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        for (int k = 0; k < w->interface_count; k++) {
            yk_interface *interface = &system->interfaces[w->interfaces[k]];
            interface->applied = yk_system_reaction_wrench(system, w->interfaces[k]);
            w->largest[k] = yk_wrench_size(interface->kind, &interface->applied);
        }

        yk_unknowns_read(system, w);
        yk_tight_apply(x, system, w, w->applied);
    }
}

bool yk_tight_shorten(yk_tight *x, yk_system *system, int *shortenings)
{
    if ((*shortenings)++ == SHORTENINGS_MAX)
        return false;

    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        yk_unknowns_read(system, w);
        for (int k = 0; k < w->size; k++)
            w->next[k] = w->tried[k] + SHORTENING * (w->applied[k] - w->tried[k]);
        yk_tight_apply(x, system, w, w->next);
    }

    return true;
}

/* Advances all subsystems at the same time, with the motions and signals of x. */
yk_status yk_tight_sweep_together(yk_tight *x, yk_system *system, bool first)
{
    for (int i = 0; i < system->interface_count; i++)
        if (!yk_both_take_wrench(&system->interfaces[i]))
            yk_tight_motion_input(x, system, i, &system->interfaces[i].given);
    for (int i = 0; i < system->participant_count; i++)
        yk_system_carry_given_signals(system, i, YK_CARRY_ALL_GIVEN);
    return yk_tight_sweep_jacobi(x, system, first, true);
}

/* Advances all subsystems once, from the start of the step. */
static yk_status sweep(yk_tight *x, yk_system *system, bool first)
{
    if (x->options.sequence == YK_SEQUENCE_JACOBI)
        return yk_tight_sweep_together(x, system, first);

    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->wrench_sequence[index];

        /* Motion sides receive the present motion of their partners. */
        const yk_participant *p = &system->participants[participant];
        for (int k = 0; k < p->joined_count; k++) {
            int i = p->joined[k];
            const yk_interface *interface = &system->interfaces[i];
            if (interface->def.motion_subsystem.index != participant)
                continue;

            const yk_motion *end = yk_system_interface_motion(system, i, 0);
            if (interface->lagged)
                end = &interface->given;
            yk_tight_motion_input(x, system, i, end);
        }

        yk_system_carry_given_signals(system, participant, YK_CARRY_GIVEN_BACKWARD);

        /* The first time from the present state, then from the saved state. */
        yk_status status = YK_OK;
        if (!first)
            status = yk_system_rollback_participant(system, participant);
        if (!YK_FAILED(status))
            status = yk_system_advance_participant(system, participant);
        if (YK_FAILED(status))
            return yk_system_report_failure(system, participant);
    }

    return YK_OK;
}

/* Whether x is the fixed point; *change: the largest difference of wrenches in x and H(x). */
static bool has_converged(yk_tight *x, yk_system *system, double *change)
{
    *change = 0;
    bool all = true;

    /* Check all vectors, because each check stores the residuals of its interfaces. */
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        yk_unknowns_read(system, w);
        all = yk_unknowns_settled(system, w, change) && all;
    }

    /* Signals that were given before they were known. */
    bool jacobi = x->options.sequence == YK_SEQUENCE_JACOBI;
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        double limit = YK_TIGHT_SIGNAL_TOLERANCE * (1 + fabs(wire->now));
        if (wire->lagged || (jacobi && yk_wire_can_lag(wire)))
            all = all && fabs(wire->now - wire->given) <= limit;
    }

    return all;
}

/* The next x, from this one and earlier ones. */
static void accelerate(yk_tight *x, yk_system *system)
{
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        memcpy(w->tried, w->applied, (size_t)w->size * sizeof(double));

        /* Keep a converged vector if it depends on no other vector. */
        double change = 0;
        bool closed = w->lagged_count + w->wire_count == 0;
        if (closed && yk_unknowns_settled(system, w, &change))
            continue;

        yk_accelerator_next(w->accelerator, w->applied, w->fresh, w->next);
        yk_tight_apply(x, system, w, w->next);
    }

    /* A relaxation factor applies to wrenches only. Motions and signals take their resulting
     * values. */
    if (x->options.acceleration != YK_ACCELERATION_AITKEN)
        return;

    for (int i = 0; i < system->interface_count; i++)
        if (system->interfaces[i].lagged)
            system->interfaces[i].given = *yk_system_interface_motion(system, i, 0);

    for (int i = 0; i < system->wire_count; i++)
        system->wires[i].given = system->wires[i].now;
}

/* Sets the next x to H(x). */
static void pass_on(const yk_tight *x, yk_system *system)
{
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        memcpy(w->tried, w->applied, (size_t)w->size * sizeof(double));
        memcpy(w->next, w->fresh, (size_t)w->size * sizeof(double));
        yk_tight_apply(x, system, w, w->next);
    }
}

/* Motion sides before wrench sides: their present reaction wrenches are applied. */
yk_status yk_tight_exchange(const yk_tight *x, yk_system *system)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];
        const yk_participant *p = &system->participants[participant];
        if (p->wrench_size == 0)
            continue;

        /* With the reaction wrenches of the last sweep. */
        yk_system_pack_wrenches(system, participant);
        yk_system_apply_wrenches(system, participant, p->fresh);
        yk_tight_wrench_inputs(x, system, participant);

        yk_status status = yk_system_rollback_participant(system, participant);
        if (!YK_FAILED(status))
            status = yk_system_advance_participant(system, participant);
        if (YK_FAILED(status))
            return yk_system_report_failure(system, participant);
    }

    return YK_OK;
}

yk_status yk_tight_iterate_accelerated(yk_tight *x, yk_system *system, yk_step_report *report)
{
    yk_system_save_participants(system);

    /* Initial x: the wrenches at the end of the previous step, referred to the places of the wrench
     * sides at that time. Motions that must be given before they are known are predicted, and wires
     * keep their values. */
    bool circle = false;
    bool jacobi = x->options.sequence == YK_SEQUENCE_JACOBI;
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        bool unknown = interface->lagged || jacobi;
        circle = circle || unknown;
        interface->origin = yk_system_interface_motion_at_step_start(system, i, 0)->position;
        if (unknown)
            yk_motion_history_predict(x->history, system, i, &interface->given);
    }

    for (int i = 0; i < system->wire_count; i++)
        system->wires[i].given = system->wires[i].before;

    yk_tight_begin_unknowns(x, system);
    for (int i = 0; i < x->unknowns_count; i++)
        yk_accelerator_begin(x->unknowns[i].accelerator);

    /* In a cycle the wrenches can agree by chance while the given motions do not, so they must
     * agree twice. */
    bool agreed = !circle;
    int shortenings = 0;
    int limit = x->options.max_iterations;

    for (int number = 0;; number++) {
        yk_status status = sweep(x, system, number == 0);
        report->iterations++;

        /* A subsystem failed with this x: shorten the change. */
        if (status != YK_OK) {
            bool give_up = number == 0 || number >= limit || status == YK_ERROR_MEMORY;
            if (give_up || !yk_tight_shorten(x, system, &shortenings))
                return status;
            continue;
        }

        /* At the fixed point each side receives the wrench of the other. */
        bool converged = has_converged(x, system, &report->wrench_change);
        if (converged && agreed)
            return yk_tight_exchange(x, system);
        if (number >= limit)
            break;

        /* The wrenches can agree while the motions do not. Verify them by a sweep with H(x). */
        agreed = !circle || converged;
        if (jacobi && converged)
            pass_on(x, system);
        else
            accelerate(x, system);
    }

    /* Not converged: accept the step with the best x. */
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_unknowns *w = &x->unknowns[i];
        memcpy(w->next, w->applied, (size_t)w->size * sizeof(double));
        yk_accelerator_best(w->accelerator, w->next);
        yk_tight_apply(x, system, w, w->next);
    }

    yk_status status = sweep(x, system, false);
    has_converged(x, system, &report->wrench_change);

    if (status != YK_OK)
        return status;
    return YK_NOT_CONVERGED;
}
