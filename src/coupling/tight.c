/* The tight scheme: the macro step is repeated until the interface efforts do not change any more.
 *
 * paper tight 3.1, figure 3. In each sweep the motion sides step with the motion that the effort sides last reached
 * (the predicted motion at first), and the effort sides with the efforts that this took. Effort sides that can iterate
 * make one iteration of their own solver per sweep; the others are rewound and step again. No repetition at all is the
 * loose scheme (figure 4). With a relaxation the sweeps are those of tight_accelerated.c. A step that does not converge can
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
    double effort_change;
} sweep;

/* Whether a side sees what happens within the macro step. */
static bool looks_inside(const yk_member *m)
{
    return m->substeps > 1 || yk_follows_polynomials(m->subsystem);
}

/* A side that makes several steps, or follows polynomials in one, follows a cubic. One that makes fewer steps than its partner is told the place that the
 * velocity of A leads to: places alone would leave a mode that grows (radius 2.2 at equal masses). */
void yk_tight_motion_input(yk_system *system, yk_link *link, const yk_motion *end)
{
    const yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    const yk_motion *start = &a->before[link->def.effort_port];
    yk_signal *input = &b->inputs[link->def.motion_port];
    bool iterates = system->scheme.iterations > 0, slower = looks_inside(a) && !looks_inside(b);
    if (looks_inside(b) && iterates)
        yk_input_cubic(link->kind, system->h, start, end, input);
    else if (system->scheme.velocity == YK_VELOCITY_MARKER || (slower && iterates))
        yk_input_original(link->kind, start, end, input);
    else
        yk_input_interpolated(link->kind, system->h, start, end, input);
}

/* The efforts before the step, from which those of the step rise or fall. */
static void keep_efforts(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        const yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
        yk_vec3 origin = a->before[link->def.effort_port].position;
        link->before = yk_effort_opposite(link->kind, &b->values[link->def.motion_port], origin);
    }
}

/* Where one of the sides makes several steps. A solver answers with the effort at the end of its step, so the mean over n
 * steps of B belongs to the time H (1 + 1/n) / 2. A line through it and through the mean of the macro step before is of
 * second order wherever A reads it, and what A receives in all is the sum of the means, for the slopes cancel out from one
 * macro step to the next. */
void yk_tight_effort_input(const yk_system *system, const yk_link *link)
{
    const yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    yk_signal *input = &a->inputs[link->def.effort_port];
    bool changes = looks_inside(a) || looks_inside(b);
    if (!changes || system->scheme.iterations == 0) {
        yk_input_constant(link->kind, &link->applied, input);
        return;
    }
    double h = system->h, share = 0.5 + 0.5 / b->substeps;
    double last = b->substeps > 1 ? b->earlier_step : 0;
    double since = share * h + (1 - share) * last;
    yk_input_line(link->kind, &link->applied, share * h, &link->before, since, input);
}

static void set_motion_input(yk_system *system, yk_link *link, const sweep *now)
{
    yk_motion end = yk_link_a(system, link)->values[link->def.effort_port].motion;
    bool known = now->number > 0 || link->a_place < link->b_place;
    if (!known) yk_system_predict(system, link, &end);
    link->origin = end.position;
    yk_tight_motion_input(system, link, &end);
}

/* True if the effort changed by no more than the tolerance since the last sweep. */
static bool has_settled(const yk_system *system, yk_link *link, const yk_effort *effort, sweep *now)
{
    if (now->number == 0) return true;
    yk_effort change = yk_effort_combine(link->kind, effort, -1, &link->applied);
    double size = yk_effort_size(link->kind, &change);
    double limit = system->scheme.tolerance;
    limit += system->scheme.relative_tolerance * yk_effort_size(link->kind, effort);
    if (size > now->effort_change) now->effort_change = size;
    link->residual = size <= limit ? 0 : size;
    return size <= limit;
}

void yk_tight_effort_inputs(yk_system *system, int member)
{
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (link->def.effort_subsystem == member && !link->balanced) yk_tight_effort_input(system, link);
    }
}

/* Takes the efforts of the motion sides to a member, together. */
static void set_effort_inputs(yk_system *system, int member, sweep *now)
{
    yk_member *m = &system->members[member];
    yk_system_pack_efforts(system, member);
    bool settled = true;
    const double *fresh = m->fresh;
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        if (link->def.effort_subsystem != member || link->balanced) continue;
        yk_effort effort;
        fresh = yk_effort_unpack(link->kind, fresh, &effort);
        settled = has_settled(system, link, &effort, now) && settled;
    }
    now->converged = now->converged && settled;
    yk_system_apply_efforts(system, member, m->fresh);
    yk_tight_effort_inputs(system, member);
}

/* final: nothing will be repeated after this member, so an open trial is closed. */
static yk_status move_member(yk_system *system, int member, const sweep *now, bool final)
{
    yk_member *m = &system->members[member];
    if (m->iterates) return final ? yk_system_advance(system, member) : yk_system_iterate(system, member);
    if (now->number > 0) {
        yk_status status = yk_system_rewind(system, member);
        if (status < 0) return status;
    }
    return yk_system_advance(system, member);
}

static yk_status run_sweep(yk_system *system, sweep *now)
{
    for (int place = 0; place < system->member_count; place++) {
        int member = system->sequence[place];
        for (int i = 0; i < system->link_count; i++)
            if (system->links[i].def.motion_subsystem == member && !system->links[i].balanced)
                set_motion_input(system, &system->links[i], now);
        if (system->members[member].effort_size) set_effort_inputs(system, member, now);
        bool settled = yk_system_feed(system, member) <= SIGNAL_TOLERANCE;
        /* Behind the last effort side nothing is left that could be repeated for it. */
        if (now->number > 0 && place <= system->last_effort_place) now->converged = now->converged && settled;
        bool final = now->last || (now->converged && place >= system->last_effort_place);
        yk_status status = move_member(system, member, now, final);
        if (status < 0) return yk_system_blame(system, member);
    }
    return YK_OK;
}

/* Only the last effort side knows in its turn that the sweep has converged; the trials of those before it are closed
 * here. */
static yk_status close_trials(yk_system *system)
{
    for (int place = 0; place < system->last_effort_place; place++) {
        int member = system->sequence[place];
        if (!system->members[member].iterates || !system->members[member].effort_size) continue;
        if (yk_system_advance(system, member) < 0) return yk_system_blame(system, member);
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
        now.effort_change = 0;
        yk_status status = run_sweep(system, &now);
        if (status < 0) return status;
        if (now.converged || now.last) break;
    }
    report->iterations += now.number + 1;
    report->effort_change = now.effort_change;
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
    yk_status status = system->wrenches ? yk_tight_iterate_accelerated(system, report) : iterate(system, report);
    if (status != YK_NOT_CONVERGED || halvings == 0) return status;
    for (int i = 0; i < system->member_count; i++) {
        if (yk_system_rewind(system, i) < 0) return yk_system_blame(system, i);
        yk_system_gather(&system->members[i]);
        system->members[i].advanced = false;
    }
    report->halved = true;
    yk_status first = take(system, t, h / 2, halvings - 1, report);
    if (first < 0) return first;
    yk_system_observe(system);
    yk_system_keep_earlier(system);
    yk_system_keep_start(system);
    keep_efforts(system);
    yk_status second = take(system, t + h / 2, h / 2, halvings - 1, report);
    return second != YK_OK ? second : first;
}

yk_status yk_tight_step(yk_system *system, yk_step_report *report)
{
    /* Balanced interfaces are those of the loose scheme, whose one sweep takes their efforts as they are. */
    yk_status status = system->balance ? yk_balance_solve(system) : YK_OK;
    if (status < 0) return status;
    if (system->scheme.iterations > 0) keep_efforts(system);
    return take(system, system->t, system->h, system->scheme.halvings, report);
}
