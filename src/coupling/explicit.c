/* The explicit scheme: each subsystem is called once per macro step.
 *
 * paper explicit 3.1, figure 2. Gauss-Seidel: the motion side of an interface goes first with the motion that its
 * partner predicts, the wrench side follows with the wrench that this took. Jacobi: all go at once, wrench sides with
 * the wrench of the last step. The inputs of motion sides are those of (20), or of (25), (26). Interfaces that are
 * balanced get their wrenches before any subsystem moves (balance.h); the order does not matter to them. */
#include "coupling/balance.h"
#include "coupling/interface.h"
#include "coupling/system.h"

void yk_explicit_motion_input(yk_system *system, yk_interface *interface, bool a_advanced)
{
    yk_participant *a = yk_interface_a(system, interface), *b = yk_interface_b(system, interface);
    const yk_motion *a_start = &a->before[interface->def.wrench_port];
    yk_motion predicted;
    const yk_motion *a_end = &a->values[interface->def.wrench_port].motion;
    if (!a_advanced) {
        yk_system_predict(system, interface, &predicted);
        a_end = &predicted;
    }
    interface->origin = a_end->position;
    yk_input *input = &b->inputs[interface->def.motion_port];
    const yk_explicit_inputs *inputs = &system->scheme.inputs;
    if (inputs->modified)
        yk_input_modified(interface->kind, interface->def.constrained, inputs, system->h,
                          &b->before[interface->def.motion_port], a_end, input);
    else
        yk_input_original(interface->kind, a_start, a_end, input);
}

static void set_wrench_inputs(yk_system *system, int participant)
{
    yk_system_pack_wrenches(system, participant);
    yk_system_apply_wrenches(system, participant, system->participants[participant].fresh);
}

static yk_status gauss_seidel(yk_system *system)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];
        for (int i = 0; i < system->interface_count; i++) {
            yk_interface *interface = &system->interfaces[i];
            if (interface->def.motion_subsystem == participant && !interface->balanced)
                yk_explicit_motion_input(system, interface, interface->a_index < index);
        }
        if (system->participants[participant].wrench_size) set_wrench_inputs(system, participant);
        yk_system_carry_signals(system, participant);
        yk_status status = yk_system_advance(system, participant);
        if (status < 0) return yk_system_report_failure(system, participant);
    }
    return YK_OK;
}

static void advance_range(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    for (size_t i = begin; i < end; i++) yk_system_advance(user, (int)i);
}

/* The wrenches of the last step belong to where the partners were at its end. */
static void keep_origins(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        interface->origin = yk_interface_a(system, interface)->before[interface->def.wrench_port].position;
    }
}

static yk_status jacobi(yk_system *system)
{
    keep_origins(system);
    for (int i = 0; i < system->participant_count; i++) {
        if (system->participants[i].wrench_size) set_wrench_inputs(system, i);
        yk_system_carry_signals(system, i);
    }
    for (int i = 0; i < system->interface_count; i++)
        if (!system->interfaces[i].balanced) yk_explicit_motion_input(system, &system->interfaces[i], false);
    if (system->pool)
        yk_pool_run(system->pool, (size_t)system->participant_count, 1, advance_range, system);
    else
        advance_range(system, 0, (size_t)system->participant_count, 0);
    for (int i = 0; i < system->participant_count; i++)
        if (system->participants[i].status < 0) return yk_system_report_failure(system, i);
    return YK_OK;
}

yk_status yk_explicit_step(yk_system *system, yk_step_report *report)
{
    report->iterations = 1;
    yk_status status = system->balance ? yk_balance_solve(system) : YK_OK;
    if (status < 0) return status;
    return system->scheme.order == YK_ORDER_JACOBI ? jacobi(system) : gauss_seidel(system);
}
