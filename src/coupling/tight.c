/* The tight scheme: the macro step is repeated until the interface wrenches do not change any more.
 *
 * paper tight 3.1, figure 3. In each sweep the motion sides step with the motion that the wrench sides last reached
 * (the predicted motion at first), and the wrench sides with the wrenches that this took. Wrench sides that can iterate
 * make one iteration of their own solver per sweep; the others are rewound and step again. No repetition at all is the
 * loose scheme (figure 4). With an acceleration the sweeps are those of tight_accelerated.c. A step that does not converge can
 * be cut in halves. */
#include "coupling/balance.h"
#include "coupling/interface.h"
#include "coupling/system.h"

/* Relative change of a wire that counts as none. */
static const double SIGNAL_TOLERANCE = 1e-9;

typedef struct sweep {
    int number; /* from 0 */
    bool last;  /* the iteration limit is reached */
    bool converged;
    double wrench_change;
} sweep;

/* Whether a side sees what happens within the macro step. */
static bool looks_inside(const yk_participant *m)
{
    return m->substeps > 1 || yk_follows_polynomials(m->subsystem);
}

/* A side that makes several steps, or follows polynomials in one, follows a cubic. One that makes fewer steps than its partner is told the place that the
 * velocity of A leads to: places alone would leave a mode that grows (radius 2.2 at equal masses). */
void yk_tight_motion_input(yk_system *system, yk_interface *interface, const yk_motion *end)
{
    const yk_participant *a = yk_interface_a(system, interface), *b = yk_interface_b(system, interface);
    const yk_motion *start = &a->before[interface->def.wrench_port];
    yk_input *input = &b->inputs[interface->def.motion_port];
    bool iterates = system->scheme.iterations > 0, slower = looks_inside(a) && !looks_inside(b);
    if (looks_inside(b) && iterates)
        yk_input_cubic(interface->kind, system->h, start, end, input);
    else if (system->scheme.velocity == YK_VELOCITY_MARKER || (slower && iterates))
        yk_input_original(interface->kind, start, end, input);
    else
        yk_input_interpolated(interface->kind, system->h, start, end, input);
}

/* The wrenches before the step, from which those of the step rise or fall. */
static void keep_wrenches(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        const yk_participant *a = yk_interface_a(system, interface), *b = yk_interface_b(system, interface);
        yk_vec3 origin = a->before[interface->def.wrench_port].position;
        interface->before = yk_wrench_opposite(interface->kind, &b->values[interface->def.motion_port], origin);
    }
}

/* Where one of the sides makes several steps. A solver answers with the wrench at the end of its step, so the mean over n
 * steps of B belongs to the time H (1 + 1/n) / 2. A line through it and through the mean of the macro step before is of
 * second order wherever A reads it, and what A receives in all is the sum of the means, for the slopes cancel out from one
 * macro step to the next. */
void yk_tight_wrench_input(const yk_system *system, const yk_interface *interface)
{
    const yk_participant *a = yk_interface_a(system, interface), *b = yk_interface_b(system, interface);
    yk_input *input = &a->inputs[interface->def.wrench_port];
    bool changes = looks_inside(a) || looks_inside(b);
    if (!changes || system->scheme.iterations == 0) {
        yk_input_constant(interface->kind, &interface->applied, input);
        return;
    }
    double h = system->h, fraction = 0.5 + 0.5 / b->substeps;
    double last = b->substeps > 1 ? b->earlier_step : 0;
    double since = fraction * h + (1 - fraction) * last;
    yk_input_line(interface->kind, &interface->applied, fraction * h, &interface->before, since, input);
}

static void set_motion_input(yk_system *system, yk_interface *interface, const sweep *now)
{
    yk_motion end = yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
    bool known = now->number > 0 || interface->a_index < interface->b_index;
    if (!known) yk_system_predict(system, interface, &end);
    interface->origin = end.position;
    yk_tight_motion_input(system, interface, &end);
}

/* True if the wrench changed by no more than the tolerance since the last sweep. */
static bool has_settled(const yk_system *system, yk_interface *interface, const yk_wrench *wrench, sweep *now)
{
    if (now->number == 0) return true;
    yk_wrench change = yk_wrench_combine(interface->kind, wrench, -1, &interface->applied);
    double size = yk_wrench_size(interface->kind, &change);
    double limit = system->scheme.tolerance;
    limit += system->scheme.relative_tolerance * yk_wrench_size(interface->kind, wrench);
    if (size > now->wrench_change) now->wrench_change = size;
    interface->residual = size <= limit ? 0 : size;
    return size <= limit;
}

void yk_tight_wrench_inputs(yk_system *system, int participant)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem == participant && !interface->balanced)
            yk_tight_wrench_input(system, interface);
    }
}

/* Takes the wrenches of the motion sides to a participant, together. */
static void set_wrench_inputs(yk_system *system, int participant, sweep *now)
{
    yk_participant *m = &system->participants[participant];
    yk_system_pack_wrenches(system, participant);
    bool settled = true;
    const double *fresh = m->fresh;
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || interface->balanced) continue;
        yk_wrench wrench;
        fresh = yk_wrench_unpack(interface->kind, fresh, &wrench);
        settled = has_settled(system, interface, &wrench, now) && settled;
    }
    now->converged = now->converged && settled;
    yk_system_apply_wrenches(system, participant, m->fresh);
    yk_tight_wrench_inputs(system, participant);
}

/* final: nothing will be repeated after this participant, so an open trial is closed. */
static yk_status move_participant(yk_system *system, int participant, const sweep *now, bool final)
{
    yk_participant *m = &system->participants[participant];
    if (m->iterates) return final ? yk_system_advance(system, participant) : yk_system_iterate(system, participant);
    if (now->number > 0) {
        yk_status status = yk_system_rewind(system, participant);
        if (status < 0) return status;
    }
    return yk_system_advance(system, participant);
}

static yk_status run_sweep(yk_system *system, sweep *now)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];
        for (int i = 0; i < system->interface_count; i++)
            if (system->interfaces[i].def.motion_subsystem == participant && !system->interfaces[i].balanced)
                set_motion_input(system, &system->interfaces[i], now);
        if (system->participants[participant].wrench_size) set_wrench_inputs(system, participant, now);
        bool settled = yk_system_carry_signals(system, participant) <= SIGNAL_TOLERANCE;
        /* Behind the last wrench side nothing is left that could be repeated for it. */
        if (now->number > 0 && index <= system->last_wrench_index) now->converged = now->converged && settled;
        bool final = now->last || (now->converged && index >= system->last_wrench_index);
        yk_status status = move_participant(system, participant, now, final);
        if (status < 0) return yk_system_report_failure(system, participant);
    }
    return YK_OK;
}

/* Only the last wrench side knows in its rotation that the sweep has converged; the trials of those before it are closed
 * here. */
static yk_status close_trials(yk_system *system)
{
    for (int index = 0; index < system->last_wrench_index; index++) {
        int participant = system->sequence[index];
        if (!system->participants[participant].iterates || !system->participants[participant].wrench_size) continue;
        if (yk_system_advance(system, participant) < 0) return yk_system_report_failure(system, participant);
    }
    return YK_OK;
}

static yk_status iterate(yk_system *system, yk_step_report *report)
{
    int limit = system->scheme.iterations;
    if (limit > 0) yk_system_mark(system);
    sweep now = {0};
    for (;; now.number++) {
        now.last = now.number == limit;
        now.converged = now.number > 0;
        now.wrench_change = 0;
        yk_status status = run_sweep(system, &now);
        if (status < 0) return status;
        if (now.converged || now.last) break;
    }
    report->iterations += now.number + 1;
    report->wrench_change = now.wrench_change;
    if (!now.last) {
        yk_status status = close_trials(system);
        if (status < 0) return status;
    }
    return now.converged || limit == 0 ? YK_OK : YK_NOT_CONVERGED;
}

/* From t to t + h, in one go or in two halves. */
static yk_status take(yk_system *system, double t, double h, int halvings, yk_step_report *report)
{
    system->t = t, system->h = h;
    yk_status status = system->unknowns ? yk_tight_iterate_accelerated(system, report) : iterate(system, report);
    if (status != YK_NOT_CONVERGED || halvings == 0) return status;
    for (int i = 0; i < system->participant_count; i++) {
        if (yk_system_rewind(system, i) < 0) return yk_system_report_failure(system, i);
        yk_system_gather(&system->participants[i]);
        system->participants[i].advanced = false;
    }
    report->halved = true;
    yk_status first = take(system, t, h / 2, halvings - 1, report);
    if (first < 0) return first;
    yk_system_observe(system);
    yk_system_keep_earlier(system);
    yk_system_keep_start(system);
    keep_wrenches(system);
    yk_status second = take(system, t + h / 2, h / 2, halvings - 1, report);
    return second != YK_OK ? second : first;
}

yk_status yk_tight_step(yk_system *system, yk_step_report *report)
{
    /* Balanced interfaces are those of the loose scheme, whose one sweep takes their wrenches as they are. */
    yk_status status = system->balance ? yk_balance_solve(system) : YK_OK;
    if (status < 0) return status;
    if (system->scheme.iterations > 0) keep_wrenches(system);
    return take(system, system->t, system->h, system->scheme.halvings, report);
}
