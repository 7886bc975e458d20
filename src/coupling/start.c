/* The start of a system: every participant by itself, then initial wrenches and accelerations
 * that fit each other, as the scheme finds them. Without them the first step would be of lower
 * order. */
#include <math.h>

#include "coupling/merging.h"
#include "coupling/unknowns.h"

/* Iterations that a consistent start may take, and what counts as consistent. */
enum { START_ITERATIONS = 100 };
static const double START_TOLERANCE = 1e-12;

static yk_status start_participant(yk_system *system, int participant, const yk_input *inputs)
{
    yk_participant *p = &system->participants[participant];
    double h = system->h / p->substeps;
    p->status = p->subsystem->ops->start(p->subsystem, system->start, h, inputs);
    if (YK_FAILED(p->status))
        return yk_system_report_failure(system, participant);

    /* A reservation of the first start is reported; those that follow repeat it. */
    if (p->status != YK_OK && !inputs)
        yk_log(system->context, YK_LOG_WARNING, "subsystem '%s': %s", p->name,
               yk_participant_message(p));

    yk_system_gather(p);
    return YK_OK;
}

yk_status yk_system_start_participant(yk_system *system, int participant)
{
    yk_wires_carry_start(system, participant);
    return start_participant(system, participant, yk_system_inputs(system, participant));
}

/* Wrench sides first, each with the wrench applied to it; then motion sides with the acceleration
 * that follows. */
static yk_status start_sweep(yk_system *system)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->wrench_sequence[index];

        /* Where it is a motion side: the motion of its partners now, with their accelerations. */
        for (int i = 0; i < system->interface_count; i++) {
            yk_interface *interface = &system->interfaces[i];
            if (!yk_is_motion_side(interface, participant))
                continue;

            /* In a circle the acceleration of A is an unknown as the wrenches are. */
            yk_motion a = yk_value_a(system, interface)->motion;
            if (interface->lagged) {
                a.acceleration = interface->given.acceleration;
                a.angular_acceleration = interface->given.angular_acceleration;
            }

            interface->origin = a.position;
            yk_input_taylor(interface->kind, &a, yk_input_b(system, interface));
        }

        yk_status status = yk_system_start_participant(system, participant);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

yk_status yk_system_start_consistently(yk_system *system)
{
    if (system->interface_count + system->wire_count == 0)
        return YK_OK;

    /* From no wrenches at all. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (yk_both_take_wrench(interface))
            continue;

        const yk_wrench none = {{0, 0, 0}, {0, 0, 0}};
        interface->given = yk_value_a(system, interface)->motion;
        yk_system_apply_wrench(system, i, &none);
    }

    /* Fixed-point iterations of wrenches and signals, accelerated. In the first sweep wires may
     * carry what their sources had before they started. */
    double change = 0;
    for (int iteration = 0; iteration < START_ITERATIONS; iteration++) {
        yk_status status = start_sweep(system);
        if (status != YK_OK)
            return status;

        change = yk_wires_start_change(system);
        for (int i = 0; i < system->start_unknowns_count; i++) {
            yk_unknowns *w = &system->start_unknowns[i];
            yk_unknowns_read(system, w);

            /* How far H(x) is from x, against its size. */
            double difference = 0;
            double size = 0;
            for (int k = 0; k < w->size; k++) {
                difference += fabs(w->fresh[k] - w->applied[k]);
                size += fabs(w->fresh[k]);
            }

            change = fmax(change, difference / (1 + size));

            /* What the motion sides needed, to the wrench sides. */
            if (iteration == 0)
                yk_accelerator_restart(w->accelerator);
            yk_accelerator_next(w->accelerator, w->applied, w->fresh, w->next);
            yk_unknowns_apply(system, w, w->next);
        }

        bool settled = iteration > 0 || system->wire_count == 0;
        if (settled && change <= START_TOLERANCE)
            return YK_OK;
    }

    /* The run is possible all the same. */
    yk_log(system->context, YK_LOG_WARNING,
           "the initial wrenches and signals did not settle (relative change %g); the first steps "
           "are less accurate",
           change);
    return YK_OK;
}

yk_status yk_system_start(yk_system *system)
{
    /* The clock and everything that is counted begin anew. */
    system->step_count = 0;
    system->t = system->start;
    system->h = system->step;
    system->statistics = (yk_system_statistics){0};

    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        p->statistics = (yk_subsystem_statistics){0};
        p->timed_calls = 0;
        p->earlier_step = 0;
    }

    for (int i = 0; i < system->interface_count; i++) {
        system->interfaces[i].statistics = (yk_interface_statistics){0};
        system->interfaces[i].residual = 0;
    }

    /* Each participant by itself. Gaps are looked at before anything closes them: the assembly of
     * merged parts, and motion sides that go at once where they are prescribed to be. */
    yk_status status = YK_OK;
    if (system->merging)
        status = yk_merging_check_start(system);
    for (int i = 0; status == YK_OK && i < system->participant_count; i++)
        status = start_participant(system, i, NULL);
    if (status != YK_OK)
        return status;

    yk_system_keep_start(system);

    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        const yk_interface_error *gap = &interface->statistics.largest;

        /* Where partners of another master are is known when they are met. */
        if (yk_windows_meet(system, interface))
            continue;

        yk_ledger_add_gap(system, interface, system->start);
        interface->start_gap = gap->position;
        status = yk_system_report_start_gap(system, interface->def.name, gap);
        if (status != YK_OK)
            return status;
    }

    /* All together. A scheme to fall back to starts first: the run begins where the one in use
     * leaves the subsystems. */
    status = yk_policy_start(system);
    if (status == YK_OK)
        status = system->scheme->ops->start(system->scheme, system);
    if (status != YK_OK)
        return status;

    /* Subsystems that have started know the size of their states. */
    status = yk_system_prepare_states(system);
    if (status != YK_OK)
        return status;

    status = yk_controller_start(system);
    if (status != YK_OK)
        return status;

    status = yk_windows_start(system);
    if (status != YK_OK)
        return status;

    /* Gaps and energies that the run begins with. */
    for (int i = 0; i < system->interface_count; i++)
        yk_ledger_add_gap(system, &system->interfaces[i], system->start);

    yk_ledger_start(system);

    /* The wrenches that a rollback to the start returns to. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        if (!p->mean_wrenches)
            continue;

        for (int port = 0; port < p->port_count; port++)
            p->mean_wrenches[port] = p->values[port].wrench;
    }

    return YK_OK;
}
