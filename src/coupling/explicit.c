/* The explicit scheme: each subsystem is called once per macro step.
 *
 * paper explicit 3.1, figure 2. Gauss-Seidel: the motion side of an interface goes first with the motion that its
 * partner predicts, the effort side follows with the effort that this took. Jacobi: all go at once, effort sides with
 * the effort of the last step. The inputs of motion sides are those of (20), or of (25), (26). Interfaces that are
 * balanced get their efforts before any subsystem moves (balance.h); the order does not matter to them. */
#include "coupling/balance.h"
#include "coupling/interface.h"
#include "coupling/system.h"

void yk_explicit_motion_input(yk_system *system, yk_link *link, bool a_advanced)
{
    yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    const yk_motion *a_start = &a->before[link->def.effort_port];
    yk_motion predicted;
    const yk_motion *a_end = &a->values[link->def.effort_port].motion;
    if (!a_advanced) {
        yk_system_predict(system, link, &predicted);
        a_end = &predicted;
    }
    link->origin = a_end->position;
    yk_signal *input = &b->inputs[link->def.motion_port];
    const yk_inputs *inputs = &system->scheme.inputs;
    if (inputs->modified)
        yk_input_modified(link->kind, link->def.constrained, inputs, system->h, &b->before[link->def.motion_port],
                          a_end, input);
    else
        yk_input_original(link->kind, a_start, a_end, input);
}

static void set_effort_inputs(yk_system *system, int member)
{
    yk_system_pack_efforts(system, member);
    yk_system_apply_efforts(system, member, system->members[member].fresh);
}

static yk_status gauss_seidel(yk_system *system)
{
    for (int place = 0; place < system->member_count; place++) {
        int member = system->sequence[place];
        for (int i = 0; i < system->link_count; i++) {
            yk_link *link = &system->links[i];
            if (link->def.motion_subsystem == member && !link->balanced)
                yk_explicit_motion_input(system, link, link->a_place < place);
        }
        if (system->members[member].effort_size) set_effort_inputs(system, member);
        yk_system_feed(system, member);
        yk_status status = yk_system_advance(system, member);
        if (status < 0) return yk_system_blame(system, member);
    }
    return YK_OK;
}

static void advance_range(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    for (size_t i = begin; i < end; i++) yk_system_advance(user, (int)i);
}

/* The efforts of the last step belong to where the partners were at its end. */
static void keep_origins(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        link->origin = yk_link_a(system, link)->before[link->def.effort_port].position;
    }
}

static yk_status jacobi(yk_system *system)
{
    keep_origins(system);
    for (int i = 0; i < system->member_count; i++) {
        if (system->members[i].effort_size) set_effort_inputs(system, i);
        yk_system_feed(system, i);
    }
    for (int i = 0; i < system->link_count; i++)
        if (!system->links[i].balanced) yk_explicit_motion_input(system, &system->links[i], false);
    if (system->pool)
        yk_pool_run(system->pool, (size_t)system->member_count, 1, advance_range, system);
    else
        advance_range(system, 0, (size_t)system->member_count, 0);
    for (int i = 0; i < system->member_count; i++)
        if (system->members[i].status < 0) return yk_system_blame(system, i);
    return YK_OK;
}

yk_status yk_explicit_step(yk_system *system, yk_step_report *report)
{
    report->iterations = 1;
    yk_status status = system->balance ? yk_balance_solve(system) : YK_OK;
    if (status < 0) return status;
    return system->scheme.order == YK_ORDER_JACOBI ? jacobi(system) : gauss_seidel(system);
}
