/* The monolithic reference: subsystems that interfaces join are merged to one, with the interfaces as constraints inside
 * (merging.c). What is left steps side by side; wires that go in a circle are repeated until they settle, so that the
 * reference has no delay of its own. */
#include <math.h>

#include "coupling/system.h"

/* Relative change of a wire that counts as none. */
static const double SETTLED = 1e-10;

/* Whether a wire runs against the order of the participants, so that its target steps before its source. */
static bool runs_back(const yk_system *system)
{
    for (int i = 0; i < system->wire_count; i++) {
        int place[2] = {0, 0};
        const yk_wire_def *def = &system->wires[i].def;
        if (def->hold) continue;
        for (int k = 0; k < system->participant_count; k++) {
            if (system->sequence[k] == def->target_subsystem) place[0] = k;
            if (system->sequence[k] == def->source_subsystem) place[1] = k;
        }
        if (place[0] <= place[1]) return true;
    }
    return false;
}

static yk_status advance_all(yk_system *system, bool again, double *change)
{
    *change = 0;
    for (int place = 0; place < system->participant_count; place++) {
        int participant = system->sequence[place];
        *change = fmax(*change, yk_system_carry_signals(system, participant));
        yk_status status = again ? yk_system_rewind(system, participant) : YK_OK;
        if (status >= 0) status = yk_system_advance(system, participant);
        if (status < 0) return yk_system_report_failure(system, participant);
    }
    return YK_OK;
}

yk_status yk_monolithic_step(yk_system *system, yk_step_report *report)
{
    double change;
    bool repeats = runs_back(system) && system->layout.words > 0;
    if (repeats) yk_system_mark(system);

    yk_status status = advance_all(system, false, &change);
    report->iterations = 1;
    while (repeats && status >= 0) {
        status = advance_all(system, true, &change);
        report->iterations++;
        if (status < 0 || change <= SETTLED) break;
        if (report->iterations > system->scheme.iterations) return YK_NOT_CONVERGED;
    }
    return status;
}
