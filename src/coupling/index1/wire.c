/* Wires in the scheme index1.
 *
 * A controller that measures a motion and commands a valve closes a loop within the step.
 * Followed run by run, such a loop would be a fixed point of its own beside Newton's method for
 * the wrenches, and need not converge. So the value of a wire at the end of the step is an
 * unknown as the wrenches are, where both its ends are differenced; the condition is that its
 * source gives it. Between the ends of the step the value is a straight line. Wires that hold,
 * that end where they begin, or that touch a participant that gives its sensitivities (which have
 * no signals) are followed run by run. */
#include <math.h>

#include "coupling/index1/index1.h"

/* Change of a value for finite differences: relative, and where it is nothing. */
static const double CHANGE = 1e-6;
static const double LEAST_CHANGE = 1e-8;

yk_status yk_index1_create_wires(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    x->wires = yk_allocate(system->context, (size_t)system->wire_count, sizeof *x->wires);
    if (!x->wires)
        return YK_ERROR_MEMORY;

    /* Which of them can be solved for. */
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        int source = def->source_subsystem;
        int target = def->target_subsystem;
        if (def->hold || source == target)
            continue;

        bool from = yk_index1_has_sensitivity(system, source);
        bool to = yk_index1_has_sensitivity(system, target);
        if (!from && !to)
            x->wires[x->wire_count++].wire = i;
    }

    return YK_OK;
}

void yk_index1_predict_wires(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < x->wire_count; i++) {
        yk_index1_wire *own = &x->wires[i];
        /* On the line through the starts of this step and the last. */
        double now = system->wires[own->wire].before;
        own->end = now;
        if (x->last_step > 0)
            own->end = now + (now - own->earlier) * system->h / x->last_step;
    }
}

void yk_index1_correct_wires(yk_system *system, const double *correction)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < x->wire_count; i++)
        x->wires[i].end -= correction[i];
}

void yk_index1_wire_input(const yk_system *system, int number, double end, yk_input *input)
{
    /* A line between both ends of the step. */
    int wire = yk_index1_of(system)->wires[number].wire;
    double begin = system->wires[wire].before;
    input->degree = 1;
    input->linear[0].x = begin;
    input->linear[1].x = (end - begin) / system->h;
}

void yk_index1_carry_signals(yk_system *system, int participant)
{
    const yk_index1 *x = yk_index1_of(system);

    /* Those that are followed first, then those that are solved for. */
    yk_system_carry_signals(system, participant);
    for (int i = 0; i < x->wire_count; i++) {
        const yk_wire_def *def = &system->wires[x->wires[i].wire].def;
        if (def->target_subsystem != participant)
            continue;

        yk_input *input = &system->participants[participant].inputs[def->target_port];
        yk_index1_wire_input(system, i, x->wires[i].end, input);
    }
}

double yk_index1_wire_change(const yk_system *system, int number)
{
    const yk_index1_wire *own = &yk_index1_of(system)->wires[number];
    double before = system->wires[own->wire].before;
    return LEAST_CHANGE + CHANGE * (fabs(own->end) + fabs(before));
}

void yk_index1_evaluate_wires(const yk_system *system, double *residual)
{
    const yk_index1 *x = yk_index1_of(system);
    /* The condition: what was given, less what the source gives. */
    for (int i = 0; i < x->wire_count; i++)
        residual[i] = x->wires[i].end - system->wires[x->wires[i].wire].now;
}

void yk_index1_keep_wires(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < x->wire_count; i++)
        x->wires[i].earlier = system->wires[x->wires[i].wire].before;
}
