/* Subsystems controlled by an external coupling library (yk_time_window_ops), and macro steps that
 * the library repeats.
 *
 * Such a subsystem steps last in a macro step, so that the library receives motions that were
 * reached. In an implicit coupling of the library, the macro step is one of its time windows: while
 * its iterations have not converged, everything that can be rolled back returns to the start of the
 * step, which is repeated with the new data of the library. */
#include "coupling/time_window.h"

#include "coupling/participant.h"
#include "coupling/scheme_options.h"
#include "coupling/state.h"
#include "coupling/system.h"

#include <math.h>
#include <string.h>

/* Statistics of a participant, with the count of its timed calls. */
enum { COUNT_WORDS = sizeof(yk_subsystem_statistics) / sizeof(double) + 1 };

/* Relative difference between a macro step and a window that counts as rounding error. */
static const double SLIVER = 1e-9;

bool yk_windows_meet(const yk_system *system, const yk_interface *interface)
{
    return yk_interface_a(system, interface)->subsystem->ops->time_windows ||
           yk_interface_b(system, interface)->subsystem->ops->time_windows;
}

bool yk_system_uses_time_windows(const yk_system *system)
{
    if (!system)
        return false;

    for (int i = 0; i < system->participant_count; i++)
        if (system->participants[i].subsystem->ops->time_windows)
            return true;
    return false;
}

void yk_windows_prescribe(yk_system *system, int number, bool a_advanced)
{
    /* The motion at the end of the step, as far as it is known. */
    if (!a_advanced) {
        yk_motion end;
        yk_system_predict_motion(system, number, &end);
        yk_system_prescribe_motion(system, number, &end);
        return;
    }

    /* Both ends with their velocities. */
    yk_interface *interface = &system->interfaces[number];
    const yk_motion *end = &yk_value_a(system, interface)->motion;
    interface->origin = end->position;
    yk_input_cubic(interface->kind, system->h, yk_before_a(system, interface), end,
                   yk_input_b(system, interface));
}

yk_status yk_windows_check(const yk_system *system)
{
    if (system->traits & YK_SCHEME_SUPPORTS_TIME_WINDOWS)
        return YK_OK;

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *p = &system->participants[i];
        if (p->subsystem->ops->time_windows)
            return yk_fail(system->context, YK_ERROR_CAPABILITY,
                           "subsystem '%s' (%s) is carried by another master, to which scheme %s "
                           "cannot give what was reached; choose scheme %s in order gauss-seidel",
                           p->name, p->subsystem->ops->kind, yk_system_scheme_name(system),
                           yk_scheme_name_with(YK_SCHEME_SUPPORTS_TIME_WINDOWS));
    }

    return YK_OK;
}

yk_status yk_windows_start(yk_system *system)
{
    const yk_participant *master = NULL;
    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *p = &system->participants[i];
        const yk_time_window_ops *ops = p->subsystem->ops->time_windows;
        double window = ops ? ops->repeatable_window(p->subsystem) : 0;
        if (!(window > 0))
            continue;
        if (fabs(window - system->step) > SLIVER * system->step)
            return yk_fail(system->context, YK_ERROR_CAPABILITY,
                           "subsystem '%s' (%s) repeats windows of %g s, the macro step is %g s: "
                           "make both the same",
                           p->name, p->subsystem->ops->kind, window, system->step);

        master = p;
    }

    if (!master)
        return YK_OK;

    /* Roll back all other participants. */
    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *p = &system->participants[i];
        if (p->subsystem->ops->time_windows || yk_participant_can_return(p))
            continue;
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "subsystem '%s' (%s) repeats macro steps, but '%s' (%s) cannot return to an "
                       "earlier state; choose an explicit coupling there",
                       master->name, master->subsystem->ops->kind, p->name,
                       p->subsystem->ops->kind);
    }

    /* State, coupling data and statistics of every participant. */
    size_t words = system->returning.word_count + yk_system_checkpoint_size(system);
    words += COUNT_WORDS * (size_t)system->participant_count;
    double *window = yk_reallocate(system->context, system->window, words, sizeof *window);
    if (!window)
        return YK_ERROR_MEMORY;

    system->window = window;
    return YK_OK;
}

void yk_windows_keep(yk_system *system)
{
    yk_system_get_state(system, system->window);
    yk_system_get_checkpoint_data(system, system->window + system->returning.word_count);
}

bool yk_windows_repeat(const yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        const yk_subsystem *subsystem = system->participants[i].subsystem;
        if (subsystem->ops->time_windows && subsystem->ops->time_windows->must_repeat(subsystem))
            return true;
    }

    return false;
}

yk_status yk_windows_return(yk_system *system)
{
    double *memory = system->window + system->returning.word_count;
    yk_status status = yk_system_set_state(system, system->window);
    if (YK_FAILED(status))
        return status;

    /* Calls remain counted. */
    double *counts = memory + yk_system_checkpoint_size(system);
    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *p = &system->participants[i];
        memcpy(counts + i * COUNT_WORDS, &p->statistics, sizeof p->statistics);
        counts[(i + 1) * COUNT_WORDS - 1] = (double)p->timed_calls;
    }

    status = yk_system_set_checkpoint_data(system, memory);
    if (YK_FAILED(status))
        return status;

    /* Read the new data of the library. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        memcpy(&p->statistics, counts + i * COUNT_WORDS, sizeof p->statistics);
        p->timed_calls = (int64_t)counts[(i + 1) * COUNT_WORDS - 1];
        if (p->subsystem->ops->time_windows)
            yk_system_gather(p);
    }

    return YK_OK;
}
