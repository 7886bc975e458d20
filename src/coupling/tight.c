/* The tight scheme: the macro step is repeated until the interface efforts do not change any more.
 *
 * paper tight 3.1, figure 3. In each sweep the motion sides step with the motion that the effort sides last reached
 * (the predicted motion at first), and the effort sides with the effort that this took. Effort sides that can iterate
 * make one iteration of their own solver per sweep; the others are rewound and step again. A sweep whose efforts have
 * converged is the last one: its efforts are applied as they are, so that what one side gives the other receives. No
 * repetition at all is the loose scheme (figure 4). */
#include <math.h>

#include "coupling/interface.h"
#include "coupling/system.h"

typedef struct sweep {
    int number; /* from 0 */
    bool last;  /* the iteration limit is reached */
    bool converged;
    double effort_change;
} sweep;

static void set_motion_input(yk_system *system, yk_link *link, const sweep *now)
{
    yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    const yk_motion *a_end = &a->values[link->def.effort_port].motion;
    yk_motion predicted;
    bool known = now->number > 0 || link->a_place < link->b_place;
    if (!known) {
        yk_system_predict(system, link, &predicted);
        a_end = &predicted;
    }
    yk_input_interpolated(link->kind, system->h, &a->before[link->def.effort_port], a_end,
                          &b->inputs[link->def.motion_port]);
}

/* Takes the effort of side B to side A: as it is when it has converged or may not be repeated, else relaxed. */
static void set_effort_input(yk_system *system, yk_link *link, sweep *now)
{
    yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    yk_effort effort =
        yk_effort_opposite(link->kind, &b->values[link->def.motion_port], &a->before[link->def.effort_port]);
    if (now->number > 0) {
        yk_effort change = yk_effort_combine(link->kind, &effort, -1, &link->applied);
        double size = yk_effort_size(link->kind, &change);
        double limit =
            system->scheme.tolerance + system->scheme.relative_tolerance * yk_effort_size(link->kind, &effort);
        bool close = size <= limit;
        now->converged = now->converged && close;
        now->effort_change = fmax(now->effort_change, size);
        if (system->scheme.relaxation == YK_RELAXATION_AITKEN && !close && !now->last)
            effort = yk_aitken_relax(link, &change, now->number == 1);
    }
    link->applied = effort;
    yk_input_constant(link->kind, &effort, &a->inputs[link->def.effort_port]);
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
    int links_left = system->link_count;
    for (int place = 0; place < system->member_count; place++) {
        int member = system->sequence[place];
        for (int i = 0; i < system->link_count; i++) {
            yk_link *link = &system->links[i];
            if (link->def.motion_subsystem == member) set_motion_input(system, link, now);
            if (link->def.effort_subsystem == member) set_effort_input(system, link, now), links_left--;
        }
        bool final = now->last || (now->converged && links_left == 0);
        yk_status status = move_member(system, member, now, final);
        if (status < 0) return yk_system_blame(system, member);
    }
    return YK_OK;
}

yk_status yk_tight_step(yk_system *system, yk_step_report *report)
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
    report->iterations = now.number + 1;
    report->effort_change = now.effort_change;
    return now.converged || limit == 0 ? YK_OK : YK_NOT_CONVERGED;
}
