/* Algebraic loops over wires.
 *
 *      +-> y1 = k1 (r - y2) --+        A wire whose value at the end of a step depends
 *      |                      |        on itself at the same time, through subsystems with
 *      +--- y2 = k2 y1 <------+        direct feed-through, is part of an algebraic loop.
 *
 * Detection: wires are the nodes of a graph, with an edge from a wire to each wire that its target
 * feeds through to (yk_subsystem_ops.feeds_through). Strongly connected components with a cycle are
 * loops; loops that share a participant are one loop. Wires with `sample_and_hold` carry values of
 * the start of the step and close no loop. The same holds for states: positions, velocities,
 * pressures, integrals.
 *
 * Solution: the participants of a loop are advanced in sequence. Wires against the sequence are
 * torn: Newton's method finds their values z at the end of the step so that F(z) - z = 0, where
 * F(z) are the resulting values of their sources. Each evaluation is a step of the loop's
 * participants from the same state, so the participants need rollback. Derivatives are finite
 * differences, computed again in each step: no data are kept between steps, so that a step after a
 * rollback is repeated bit for bit.
 *
 * A loop through a participant that has interfaces, or that cannot be rolled back, is solved in
 * this way at the start only, where an evaluation initializes the participants again with the
 * present interface wrenches. During steps its signals depend on the wrenches: a scheme that
 * iterates solves for both together, and with other schemes the signals lag by a step. */
#include "coupling/loops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "coupling/arguments.h"
#include "coupling/state.h"
#include "coupling/step_frame.h"
#include "coupling/system.h"
#include "coupling/wire.h"
#include "math/dense.h"
#include "math/eigen.h"

/* Largest number of Newton iterations per step, and of halvings of one correction. */
enum { ITERATIONS = 40, HALVINGS = 12 };

/* Correction, relative to a signal or to 1, that counts as converged; correction that is accepted
 * if rounding errors prevent more. */
static const double CONVERGED = 1e-12;
static const double GOOD_ENOUGH = 1e-8;

/* Change of a signal for finite differences, relative to the signal or to 1. The differences of a
 * linear loop are then accurate to about 1e-11. */
static const double CHANGE = 1e-5;

/* A pivot of F' - 1 below this fraction of F' and 1 is a rounding error of the differences. */
static const double SINGULAR = 1e-9;

/* Derivatives are recomputed after an iteration that left more than this fraction of the residual. */
static const double SLOW = 0.1;

/* Detection ------------------------------------------------------------------------------------ */

/* A subsystem that does not declare its feed-through may pass every input signal to every output
 * signal; its channels and its ports with power count as states. */
static bool feeds_through(const yk_participant *p, int input, const yk_wire_def *output)
{
    const yk_subsystem_ops *ops = p->subsystem->ops;
    if (ops->feeds_through)
        return ops->feeds_through(p->subsystem, input, output->source_port.index,
                                  output->source_channel, output->component_index);
    return output->source_port.index >= 0 &&
           p->ports[output->source_port.index].kind == YK_PORT_SIGNAL;
}

/* Tarjan's algorithm for strongly connected components, over wires. */
typedef struct search {
    yk_system *system;
    int count; /* Number of visited wires. */
    int *index, *lowest;
    int *stack, depth;
    bool *stacked;
    int *component; /* Per wire; -1: not part of a cycle. */
    int components;
} search;

static bool is_edge(const yk_system *system, const yk_wire *from, const yk_wire *to)
{
    const yk_participant *p = &system->participants[from->def.target_subsystem.index];
    return !from->def.sample_and_hold && !to->def.sample_and_hold &&
           feeds_through(p, from->def.target_port.index, &to->def);
}

static void visit(search *s, int number)
{
    const yk_system *system = s->system;
    const yk_wire *wire = &system->wires[number];
    const yk_participant *target = &system->participants[wire->def.target_subsystem.index];
    s->index[number] = s->lowest[number] = ++s->count;
    s->stack[s->depth++] = number;
    s->stacked[number] = true;

    bool own_successor = false;
    for (int i = 0; i < target->wire_count; i++) {
        const yk_wire *next = target->wires[i];
        int k = (int)(next - system->wires);
        if (!is_edge(system, wire, next))
            continue;

        own_successor = own_successor || k == number;
        if (s->index[k] == 0) {
            visit(s, k);
            if (s->lowest[k] < s->lowest[number])
                s->lowest[number] = s->lowest[k];
        } else if (s->stacked[k] && s->index[k] < s->lowest[number]) {
            s->lowest[number] = s->index[k];
        }
    }

    if (s->lowest[number] != s->index[number])
        return;

    /* A component with a single wire is a loop only if the wire feeds itself. */
    bool cycle = own_successor || s->stack[s->depth - 1] != number;
    int member;
    do {
        member = s->stack[--s->depth];
        s->stacked[member] = false;
        if (cycle)
            s->component[member] = s->components;
    } while (member != number);
    s->components += cycle;
}

/* "'a.loop' -> 'b.loop.measured'" for each wire. */
static yk_status describe(const yk_system *system, yk_loop *loop)
{
    yk_text text = {0};
    for (int i = 0; i < loop->wire_count; i++) {
        const yk_wire_def *def = &system->wires[loop->wires[i]].def;
        const yk_participant *from = &system->participants[def->source_subsystem.index];
        const yk_participant *to = &system->participants[def->target_subsystem.index];
        const yk_channel *channels = NULL;
        const char *source = "";
        if (def->source_port.index >= 0)
            source = from->ports[def->source_port.index].name;
        else if (from->subsystem->ops->channels->list(from->subsystem, &channels) > 0)
            source = channels[def->source_channel].name;
        yk_text_add(system->context, &text, "%s'%s.%s' -> '%s.%s'", i ? ", " : "", from->name,
                    source, to->name, to->ports[def->target_port.index].name);
    }

    loop->text = text.data;
    return text.failed ? YK_ERROR_MEMORY : YK_OK;
}

static bool can_return(const yk_system *system, const int *loop_of, int loop)
{
    for (int i = 0; i < system->participant_count; i++)
        if (loop_of[i] == loop && !yk_participant_can_return(&system->participants[i]))
            return false;
    return true;
}

static bool has_interface(const yk_system *system, const int *loop_of, int loop)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        if (loop_of[def->wrench_subsystem.index] == loop ||
            loop_of[def->motion_subsystem.index] == loop)
            return true;
    }
    return false;
}

/* Merges loops that share a participant, because a participant is advanced only once in an
 * evaluation. */
static int join_components(const search *s, int *loop_of)
{
    const yk_system *system = s->system;
    /* No longer used for Tarjan's algorithm; one entry per wire is enough, because there are fewer
     * components. */
    int *root = s->index;
    for (int i = 0; i < s->components; i++)
        root[i] = i;

    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < system->wire_count; i++) {
            if (s->component[i] < 0)
                continue;

            int *of = &loop_of[system->wires[i].def.target_subsystem.index];
            int own = root[s->component[i]];
            if (*of == own)
                continue;

            changed = true;
            int other = *of;
            *of = own;
            for (int k = 0; other >= 0 && k < s->components; k++)
                if (root[k] == other)
                    root[k] = own;
            for (int k = 0; other >= 0 && k < system->participant_count; k++)
                if (loop_of[k] == other)
                    loop_of[k] = own;
        }
    }

    /* Number the loops from 0 without gaps. */
    int count = 0;
    for (int i = 0; i < s->components; i++) {
        if (root[i] != i)
            continue;
        for (int k = 0; k < system->participant_count; k++)
            if (loop_of[k] == i)
                loop_of[k] = -2 - count;
        count++;
    }
    for (int k = 0; k < system->participant_count; k++)
        loop_of[k] = loop_of[k] < -1 ? -2 - loop_of[k] : -1;
    return count;
}

static yk_status make_loops(search *s, int *loop_of)
{
    yk_system *system = s->system;
    yk_context *context = system->context;
    int count = join_components(s, loop_of);
    if (count == 0)
        return YK_OK;

    system->loops = yk_allocate(context, (size_t)count, sizeof *system->loops);
    if (!system->loops)
        return YK_ERROR_MEMORY;

    system->loop_count = count;
    for (int n = 0; n < count; n++) {
        yk_loop *loop = &system->loops[n];
        loop->wires = yk_allocate(context, (size_t)system->wire_count, sizeof *loop->wires);
        loop->members =
            yk_allocate(context, (size_t)system->participant_count, sizeof *loop->members);
        if (!loop->wires || !loop->members)
            return YK_ERROR_MEMORY;

        /* Newton's method needs rollback, and signals that do not depend on interface wrenches. */
        loop->coupled = has_interface(system, loop_of, n);
        loop->solvable = !loop->coupled && can_return(system, loop_of, n);
        loop->only_at_start = !loop->solvable || (system->traits & YK_SCHEME_IS_FORCE_FORCE);
        for (int i = 0; i < system->wire_count; i++)
            if (s->component[i] >= 0 && loop_of[system->wires[i].def.target_subsystem.index] == n)
                loop->wires[loop->wire_count++] = i;

        for (int i = 0; i < system->participant_count; i++) {
            if (loop_of[i] != n)
                continue;
            loop->members[loop->member_count++] = i;
            system->participants[i].loop = loop;
        }

        yk_status status = describe(system, loop);
        if (status != YK_OK)
            return status;

        if (!loop->solvable)
            continue;

        for (int i = 0; i < system->wire_count; i++) {
            yk_wire *wire = &system->wires[i];
            bool inside = loop_of[wire->def.source_subsystem.index] == n &&
                          loop_of[wire->def.target_subsystem.index] == n;
            wire->looped = wire->looped || (inside && !wire->def.sample_and_hold);
        }
    }

    return YK_OK;
}

yk_status yk_loops_create(yk_system *system)
{
    if (system->wire_count == 0)
        return YK_OK;

    yk_context *context = system->context;
    size_t count = (size_t)system->wire_count;
    size_t participants = (size_t)system->participant_count;
    int *numbers = yk_allocate(context, 4 * count + participants, sizeof *numbers);
    bool *stacked = yk_allocate(context, count, sizeof *stacked);
    yk_status status = YK_ERROR_MEMORY;
    if (numbers && stacked) {
        search s = {
            .system = system,
            .index = numbers,
            .lowest = numbers + count,
            .stack = numbers + 2 * count,
            .component = numbers + 3 * count,
            .stacked = stacked,
        };
        int *loop_of = numbers + 4 * count;
        for (size_t i = 0; i < count; i++)
            s.component[i] = -1;
        for (size_t i = 0; i < participants; i++)
            loop_of[i] = -1;
        for (size_t i = 0; i < count; i++)
            if (s.index[i] == 0)
                visit(&s, (int)i);
        status = make_loops(&s, loop_of);
    }

    yk_free(context, numbers);
    yk_free(context, stacked);
    return status;
}

static void sort_members(const yk_system *system, yk_loop *loop)
{
    /* Subsystems with interfaces start with the wrenches that are applied to them, so wrench sides
     * come first. */
    const int *sequence = loop->solvable ? system->sequence : system->wrench_sequence;
    int sorted = 0;
    for (int index = 0; index < system->participant_count; index++) {
        for (int k = sorted; k < loop->member_count; k++) {
            if (loop->members[k] != sequence[index])
                continue;
            loop->members[k] = loop->members[sorted];
            loop->members[sorted++] = sequence[index];
        }
    }
}

/* Determines the order of evaluation and the torn wires, and allocates memory. The sequence must be
 * known. */
yk_status yk_loops_order(yk_system *system)
{
    yk_context *context = system->context;
    for (int n = 0; n < system->loop_count; n++) {
        yk_loop *loop = &system->loops[n];
        sort_members(system, loop);
        loop->torn = yk_allocate(context, (size_t)system->wire_count, sizeof *loop->torn);
        if (!loop->torn)
            return YK_ERROR_MEMORY;

        for (int i = 0; i < system->wire_count; i++) {
            const yk_wire *wire = &system->wires[i];
            int from = -1;
            int to = -1;
            for (int k = 0; k < loop->member_count; k++) {
                if (loop->members[k] == wire->def.source_subsystem.index)
                    from = k;
                if (loop->members[k] == wire->def.target_subsystem.index)
                    to = k;
            }

            if (!wire->def.sample_and_hold && from >= to && to >= 0)
                loop->torn[loop->torn_count++] = i;
        }

        size_t size = (size_t)loop->torn_count;
        loop->memory = yk_allocate(context, 5 * size + 2 * size * size, sizeof *loop->memory);
        loop->pivot = yk_allocate(context, size, sizeof *loop->pivot);
        if (!loop->memory || !loop->pivot)
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

void yk_loops_destroy(yk_system *system)
{
    for (int n = 0; system->loops && n < system->loop_count; n++) {
        yk_loop *loop = &system->loops[n];
        void *blocks[] = {loop->wires,  loop->members, loop->torn,
                          loop->memory, loop->pivot,   loop->text};
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            yk_free(system->context, blocks[i]);
    }

    yk_free(system->context, system->loops);
}

/* Solution ------------------------------------------------------------------------------------- */

typedef struct newton {
    yk_system *system;
    yk_loop *loop;
    bool at_start;
    /* Evaluation of one participant. The evaluations of all participants in order are F. */
    yk_loop_evaluation evaluate;
    void *user;
    int evaluations;
    double *z, *trial; /* Present and trial values. */
    double *residual, *trial_residual, *step;
    double *slope, *factors; /* F' - 1 */
} newton;

/* F(z) - z, and its size relative to z. */
static yk_status find_residual(newton *n, const double *z, double *residual, double *size)
{
    yk_system *system = n->system;
    const yk_loop *loop = n->loop;
    for (int i = 0; i < loop->torn_count; i++) {
        system->wires[loop->torn[i]].torn = true;
        system->wires[loop->torn[i]].torn_end = z[i];
    }

    yk_status status = YK_OK;
    n->evaluations++;
    for (int i = 0; status == YK_OK && i < loop->member_count; i++) {
        yk_status own = n->evaluate(system, loop->members[i], n->user);
        if (YK_FAILED(own))
            status = own;
    }

    *size = 0;
    for (int i = 0; i < loop->torn_count; i++) {
        yk_wire *wire = &system->wires[loop->torn[i]];
        wire->torn = false;
        residual[i] = wire->now - z[i];
        *size = fmax(*size, fabs(residual[i]) / (1 + fabs(z[i])));
        if (!isfinite(residual[i]))
            *size = INFINITY;
    }

    return status;
}

/* Computes F' - 1 at z by finite differences. */
static yk_status find_differences(newton *n)
{
    const yk_loop *loop = n->loop;
    int size = loop->torn_count;
    for (int k = 0; k < size; k++) {
        double change = CHANGE * (1 + fabs(n->z[k]));
        memcpy(n->trial, n->z, (size_t)size * sizeof *n->trial);
        n->trial[k] += change;
        double unused;
        yk_status status = find_residual(n, n->trial, n->trial_residual, &unused);
        if (status != YK_OK)
            return status;

        for (int i = 0; i < size; i++)
            n->slope[i * size + k] = (n->trial_residual[i] - n->residual[i]) / change;
    }

    return YK_OK;
}

/* Computes F' - 1 at z and factors it. */
static yk_status find_slope(newton *n)
{
    const yk_loop *loop = n->loop;
    int size = loop->torn_count;
    yk_status status = find_differences(n);
    if (status != YK_OK)
        return status;

    /* Signals have different units, so scale to relative changes. At a loop gain of 1 only rounding
     * errors remain in a pivot. */
    memcpy(n->factors, n->slope, (size_t)size * (size_t)size * sizeof *n->factors);
    double largest = 1;
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++) {
            double scale = (1 + fabs(n->z[k])) / (1 + fabs(n->z[i]));
            double gain = (n->slope[i * size + k] + (i == k)) * scale;
            n->factors[i * size + k] *= scale;
            largest = fmax(largest, fabs(gain));
        }

    if (!isfinite(largest) || yk_lu_factor(size, n->factors, loop->pivot) != YK_OK)
        return YK_ERROR_SINGULAR;
    for (int i = 0; i < size; i++)
        if (!(fabs(n->factors[i * size + i]) > SINGULAR * largest))
            return YK_ERROR_SINGULAR;
    return YK_OK;
}

/* Computes the Newton correction of z and returns its relative size. */
static double find_step(newton *n)
{
    int size = n->loop->torn_count;
    for (int i = 0; i < size; i++)
        n->step[i] = -n->residual[i] / (1 + fabs(n->z[i]));
    yk_lu_solve(size, n->factors, n->loop->pivot, n->step);

    double largest = 0;
    for (int i = 0; i < size; i++) {
        largest = fmax(largest, fabs(n->step[i]));
        n->step[i] *= 1 + fabs(n->z[i]);
    }
    return largest;
}

/* Sets z + step, or a part of the step if the residual does not decrease; *better: whether it
 * decreased. */
static yk_status take_step(newton *n, double *size, bool *better)
{
    int count = n->loop->torn_count;
    double part = 1;
    for (int halving = 0; halving <= HALVINGS; halving++, part /= 2) {
        for (int i = 0; i < count; i++)
            n->trial[i] = n->z[i] + part * n->step[i];

        double trial_size;
        yk_status status = find_residual(n, n->trial, n->trial_residual, &trial_size);
        if (status != YK_OK)
            return status;
        if (!(trial_size < *size))
            continue;

        memcpy(n->z, n->trial, (size_t)count * sizeof *n->z);
        memcpy(n->residual, n->trial_residual, (size_t)count * sizeof *n->residual);
        *size = trial_size;
        *better = true;
        return YK_OK;
    }

    /* Evaluates at the best z again, so that the participants have its outputs. */
    *better = false;
    return find_residual(n, n->z, n->residual, size);
}

static yk_status solve(newton *n, yk_status *outcome)
{
    double size;
    *outcome = YK_OK;
    yk_status status = find_residual(n, n->z, n->residual, &size);
    if (status != YK_OK || size == 0)
        return status;

    bool fresh = false;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        if (!isfinite(size)) {
            *outcome = YK_ERROR_NOT_FINITE;
            return YK_OK;
        }

        if (!fresh) {
            status = find_slope(n);
            if (status == YK_ERROR_SINGULAR) {
                *outcome = status;
                return YK_OK;
            }
            if (status != YK_OK)
                return status;
        }

        double before = size;
        double correction = find_step(n);
        bool better;
        if (correction <= CONVERGED && !fresh)
            return find_residual(n, n->z, n->residual, &size);
        if (correction <= CONVERGED)
            return YK_OK;
        status = take_step(n, &size, &better);
        if (status != YK_OK || size == 0)
            return status;

        /* Rounding errors may prevent any improvement. */
        if (!better && correction <= GOOD_ENOUGH)
            return YK_OK;
        if (!better && !fresh) {
            *outcome = YK_ERROR_NO_SOLUTION;
            return YK_OK;
        }
        fresh = better && size <= SLOW * before;
    }

    *outcome = YK_ERROR_NO_SOLUTION;
    return YK_OK;
}

/* The error of an unsolved loop, with its name. */
static yk_status report(const newton *n, yk_status outcome)
{
    const yk_system *system = n->system;
    const char *why = "it has no solution, or its signals have grown beyond all numbers";
    if (outcome == YK_ERROR_SINGULAR)
        why = "its loop gain is 1, so that it has no solution or any";
    return yk_fail(
        system->context, outcome,
        "at t = %g s the algebraic loop %s cannot be solved: %s; change a gain, or let "
        "one of its wires carry the value at the start of the step (sample_and_hold: true)",
        n->at_start ? system->start : system->t + system->h, n->loop->text, why);
}

static newton begin_newton(yk_system *system, yk_loop *loop, bool at_start,
                           yk_loop_evaluation evaluate, void *user)
{
    size_t size = (size_t)loop->torn_count;
    double *memory = loop->memory;
    newton n = {
        .system = system,
        .loop = loop,
        .at_start = at_start,
        .evaluate = evaluate,
        .user = user,
        .z = memory,
        .trial = memory + size,
        .residual = memory + 2 * size,
        .trial_residual = memory + 3 * size,
        .step = memory + 4 * size,
        .slope = memory + 5 * size,
        .factors = memory + 5 * size + size * size,
    };
    for (size_t i = 0; i < size; i++) {
        const yk_wire *wire = &system->wires[loop->torn[i]];
        n.z[i] = at_start ? wire->now : wire->before;
    }

    return n;
}

static yk_status solve_loop(yk_system *system, yk_loop *loop, bool at_start,
                            yk_loop_evaluation evaluate, void *user)
{
    newton n = begin_newton(system, loop, at_start, evaluate, user);
    yk_status outcome;
    yk_status status = solve(&n, &outcome);
    loop->solved++;
    loop->evaluations += n.evaluations;
    if (status == YK_OK && outcome != YK_OK)
        status = report(&n, outcome);
    return status;
}

/* The loop was solved when the first of its participants was advanced. */
static yk_status solve_once(yk_system *system, int participant, bool at_start,
                            yk_loop_evaluation evaluate, void *user)
{
    yk_participant *p = &system->participants[participant];
    if (p->loop_done) {
        p->loop_done = false;
        return p->status;
    }

    yk_loop *loop = p->loop;
    loop->status = YK_OK;
    loop->status = solve_loop(system, loop, at_start, evaluate, user);
    for (int i = 0; i < loop->member_count; i++)
        system->participants[loop->members[i]].loop_done = loop->members[i] != participant;
    if (YK_FAILED(loop->status))
        p->status = loop->status;
    return p->status;
}

/* A step of a participant in an evaluation. */
typedef struct step_evaluation {
    yk_loop_evaluation advance;
    void *user;
} step_evaluation;

static yk_status evaluate_step(yk_system *system, int participant, void *user)
{
    /* From the start of the step, also if the participant has made it before. */
    yk_participant *p = &system->participants[participant];
    yk_status status = YK_OK;
    p->loop_done = false;
    if (p->advanced)
        status = yk_system_rollback_participant(system, participant);
    else
        yk_system_mark_participant(system, participant);

    const step_evaluation *step = user;
    yk_wires_carry_again(system, participant);
    if (!YK_FAILED(status))
        status = step->advance(system, participant, step->user);
    if (YK_FAILED(status))
        return yk_system_report_failure(system, participant);
    return status;
}

yk_status yk_loops_advance(yk_system *system, int participant, yk_loop_evaluation advance,
                           void *user)
{
    step_evaluation step = {advance, user};
    return solve_once(system, participant, false, evaluate_step, &step);
}

yk_status yk_loops_start(yk_system *system, int participant, yk_loop_evaluation start)
{
    return solve_once(system, participant, true, start, NULL);
}

yk_status yk_loops_start_joined(yk_system *system, yk_loop_evaluation start)
{
    for (int n = 0; n < system->loop_count; n++) {
        yk_loop *loop = &system->loops[n];
        if (loop->solvable)
            continue;

        loop->status = solve_loop(system, loop, true, start, NULL);
        if (YK_FAILED(loop->status))
            return loop->status;
    }
    return YK_OK;
}

bool yk_loops_need_iterations(const yk_system *system)
{
    for (int n = 0; n < system->loop_count; n++)
        if (!system->loops[n].solvable)
            return true;
    return false;
}

/* Gain ----------------------------------------------------------------------------------------- */

static yk_status advance_member(yk_system *system, int participant, void *user)
{
    (void)user;
    return yk_system_advance_participant(system, participant);
}

yk_status yk_loops_find_gain(yk_system *system, yk_loop *loop, double *gain)
{
    yk_system_keep_start(system);

    /* Motion sides continue their present motion. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        yk_participant *p = &system->participants[interface->def.motion_subsystem.index];
        int port = interface->def.motion_port.index;
        yk_input_taylor(interface->kind, &p->values[port].motion, &p->inputs[port]);
    }

    step_evaluation step = {advance_member, NULL};
    newton n = begin_newton(system, loop, false, evaluate_step, &step);
    double unused;
    yk_status status = find_residual(&n, n.z, n.residual, &unused);
    if (status == YK_OK)
        status = find_differences(&n);
    if (status != YK_OK)
        return status;

    int size = loop->torn_count;
    for (int i = 0; i < size; i++)
        n.slope[i * size + i] += 1;
    return yk_eigen_spectral_radius(system->context, size, n.slope, gain);
}

void yk_loops_begin_step(yk_system *system)
{
    for (int n = 0; n < system->loop_count; n++)
        for (int i = 0; i < system->loops[n].member_count; i++)
            system->participants[system->loops[n].members[i]].loop_done = false;
}

/* Queries of users --------------------------------------------------------------------------- */

int yk_system_loop_count(const yk_system *system)
{
    return system ? system->loop_count : 0;
}

yk_algebraic_loop yk_system_loop(const yk_system *system, int number)
{
    if (!yk_system_has_loop(system, __func__, number))
        return (yk_algebraic_loop){.text = "", .wire = {-1}};

    const yk_loop *loop = &system->loops[number];
    bool iterated = system->traits & YK_SCHEME_ITERATES;
    return (yk_algebraic_loop){
        .text = loop->text,
        .wire = {loop->wires[0]},
        .solved = loop->solvable ? loop->solved > 0 || !system->started : iterated,
        .iterated = iterated && (!loop->solvable || loop->only_at_start),
        .coupled = loop->coupled,
    };
}
