/* The scheme tight in the sequence jacobi: all subsystems make a sweep at the same time, with what the sweep before has reached.
 *
 * Plain sweeps pass motions and wrenches on as they came out. Then two iterations of Gauss-Seidel type run interleaved, so that a
 * sweep contracts by the square root of what a sweep in sequence contracts, and a step has converged if the wrenches agree in two
 * sweeps in succession. */
#include "coupling/participant.h"
#include "coupling/step_frame.h"
#include "coupling/tight/tight.h"

/* One participant: an iteration of its own solver, or the step. */
static yk_status advance(yk_system *system, int participant)
{
    const yk_tight *x = (const yk_tight *)system->scheme;
    if (x->iterates[participant] && !x->last_sweep)
        return yk_system_iterate(system, participant);
    return yk_system_advance_participant(system, participant);
}

yk_status yk_tight_sweep_jacobi(yk_tight *x, yk_system *system, bool first, bool last)
{
    x->last_sweep = last;
    for (int i = 0; i < system->participant_count; i++) {
        if (first || x->iterates[i])
            continue;
        if (YK_FAILED(yk_system_rollback_participant(system, i)))
            return yk_system_report_failure(system, i);
    }

    /* Send the steps of subsystems in other processes ahead. Report the first failure. */
    for (int i = 0; i < system->participant_count; i++)
        if (!x->iterates[i])
            yk_system_post(system, i);
    yk_system_advance_all(system, advance);
    for (int i = 0; i < system->participant_count; i++)
        if (YK_FAILED(system->participants[i].status))
            return yk_system_report_failure(system, i);
    return YK_OK;
}

/* Motions that the wrench sides have reached; in the first sweep predicted ones. */
static void set_motions(const yk_tight *x, yk_system *system, bool first)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (yk_both_take_wrench(interface))
            continue;

        yk_motion end = yk_value_a(system, interface)->motion;
        if (first)
            yk_motion_history_predict(x->history, system, i, &end);
        yk_tight_motion_input(x, system, i, &end);
    }
}

/* The wrench sides make the step once more, with exactly what the motion sides gave in the last sweep; solvers that iterated end
 * their step. */
static yk_status close_step(const yk_tight *x, yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        if (system->participants[i].wrench_size == 0 && !x->iterates[i])
            continue;

        yk_status status = YK_OK;
        if (!x->iterates[i])
            status = yk_system_rollback_participant(system, i);
        if (!YK_FAILED(status))
            status = yk_system_advance_participant(system, i);
        if (YK_FAILED(status))
            return yk_system_report_failure(system, i);
    }

    return YK_OK;
}

yk_status yk_tight_iterate_jacobi(yk_tight *x, yk_system *system, yk_step_report *report)
{
    int limit = x->options.max_iterations;
    if (limit > 0)
        yk_system_save_participants(system);

    /* The wrenches of the last step belong to the positions of the wrench sides at its end. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        interface->origin = yk_before_a(system, interface)->position;
    }

    bool converged = false;
    double change = 0;
    for (int sweeps = 0; sweeps <= limit; sweeps++) {
        bool first = sweeps == 0;
        bool earlier = converged;
        converged = !first;
        change = 0;

        /* Wrenches first: they belong to the motions of the sweep before. */
        for (int i = 0; i < system->participant_count; i++)
            yk_tight_set_wrenches(x, system, i, first, &converged, &change);
        for (int i = 0; i < system->participant_count; i++) {
            double signal_change = yk_system_update_signals(system, i);
            converged = converged && signal_change <= YK_TIGHT_SIGNAL_TOLERANCE;
        }

        report->wrench_change = change;
        if (converged && earlier)
            return close_step(x, system);

        set_motions(x, system, first);
        yk_status status = yk_tight_sweep_jacobi(x, system, first, sweeps == limit);
        report->iterations++;
        if (YK_FAILED(status))
            return status;
    }

    return limit == 0 ? YK_OK : YK_NOT_CONVERGED;
}
