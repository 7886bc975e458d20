/* Relations and wires in the scheme index1: unknowns in addition to the multipliers. A wire is an
 * unknown if it closes a loop within the step (see below). A relation is an interface whose side B
 * cannot receive a wrench, such as a hydraulic cylinder: it receives a motion and answers with a
 * wrench.
 *
 * A relation has no constraint: the position of A is prescribed to B. But the wrench of a stiff
 * relation depends directly on the motion, so it is solved together with the constraints, by the
 * same Newton iteration. A receives a polynomial lambda with the shapes of a multiplier. B receives
 * the parabola from its present position to the position and velocity of A at the end of the step,
 * and answers with its wrench f on A after each of its substeps. The conditions are on moments of
 * both,
 *
 *   L1 = int (1 - tau) lambda = f(1/3) / 2,   L2 = int lambda = int f,   L3 = lambda(1) = f(1)
 *
 * which determine the position, velocity and acceleration of a free mass under lambda at the end of
 * the step. L2 transfers the impulse. L1 is a quadrature at the Radau nodes 1/3 and 1: for linear
 * relations this is the method Radau IIA of third order, which brings stiff springs to rest in one
 * step; with the exact first moment they would overshoot more in each step. The shapes of wrench.c
 * are dual to the moments, so that their part of the Jacobian is the identity. Integrals over
 * substeps use Gregory's rule; for a relation with a single substep, its wrench at the end is used.
 * Wrenches of relations have at most degree 2: a cubic that has to continue the previous one can
 * oscillate about a stiff relation from step to step. */
#include <math.h>

#include "coupling/index1/index1.h"

/* Change of a motion for finite differences, relative to its size. */
static const double CHANGE = 1e-7;

/* Moments -------------------------------------------------------------------------------------- */

/* Weight of sample i of 0 to n in the integral over n intervals, n >= 2. */
static double gregory(int i, int n)
{
    static const double correction[] = {-1.0 / 8, 1.0 / 6, -1.0 / 24};

    /* The trapezoidal rule, corrected at both ends by differences. */
    double weight = 1;
    if (i == 0 || i == n)
        weight = 0.5;
    if (i < 3)
        weight += correction[i];
    int to_end = n - i;
    if (to_end >= 0 && to_end < 3)
        weight += correction[to_end];
    return weight;
}

/* The same without sample 0, which is extrapolated: the prescribed parabola may begin with another
 * velocity than the last one ended with, so the wrench may jump. */
static double mean_weight(int i, int n)
{
    static const double by_line[] = {2, -1, 0};
    static const double by_parabola[] = {3, -3, 1};
    const double *extrapolation = by_parabola;
    if (n < 3)
        extrapolation = by_line;

    /* The weight of sample 0 is distributed to the samples from which it is extrapolated. */
    double weight = gregory(i, n);
    if (i <= 3)
        weight += gregory(0, n) * extrapolation[i - 1];
    return weight / n;
}

/* Weight of sample i of 1 to n, n >= 2, in the interpolation at 1/3 of the step: the parabola (n =
 * 2: the line) through the nearest samples. */
static double third_weight(int i, int n)
{
    if (n == 2)
        return i == 1 ? 4.0 / 3 : -1.0 / 3;

    /* In intervals, relative to the middle sample of the three. */
    int middle = (int)fmax(2, fmin(n - 1, round(n / 3.0)));
    double x = n / 3.0 - middle;
    if (i == middle - 1)
        return x * (x - 1) / 2;
    if (i == middle)
        return (1 - x) * (1 + x);
    if (i == middle + 1)
        return x * (x + 1) / 2;
    return 0;
}

void yk_index1_substep(yk_scheme *scheme, yk_system *system, int participant, int number)
{
    yk_motion *moments = ((yk_index1 *)scheme)->moments[participant];
    if (!moments)
        return;

    const yk_participant *p = &system->participants[participant];
    int n = p->substeps;

    for (int port = 0; port < p->port_count; port++) {
        yk_motion *sum = &moments[port];
        if (number == 0) {
            *sum = (yk_motion){.orientation = yk_q_identity()};
            continue;
        }

        /* f(1/3) / 2, the mean, and f(1). */
        double f = -p->values[port].wrench.force.x;
        double third = 1;
        double mean = 1;
        if (n > 1) {
            third = third_weight(number, n);
            mean = mean_weight(number, n);
        }

        sum->position.x += third / 2 * f;
        sum->velocity.x += mean * f;
        sum->acceleration.x = f;
    }
}

/* Motions -------------------------------------------------------------------------------------- */

void yk_index1_predict_relation(yk_system *system, int number)
{
    const yk_index1 *x = yk_index1_of(system);
    yk_index1_interface *own = &x->interfaces[number];
    const yk_motion *now = yk_before_a(system, &system->interfaces[number]);
    /* Extrapolate with the jerk of the last step. */
    double h = system->h;
    double a = now->acceleration.x;
    double jerk = 0;
    if (x->last_step > 0)
        jerk = (a - own->earlier[0].acceleration.x) / x->last_step;

    own->given[0] = now->position.x + h * (now->velocity.x + h * (a / 2 + h * jerk / 6));
    own->given[1] = now->velocity.x + h * (a + h * jerk / 2);
}

void yk_index1_motion_input(const yk_system *system, int number, const double given[2],
                            yk_input *input)
{
    /* The parabola from the position of B to the given position and velocity. */
    double h = system->h;
    double start = yk_before_b(system, &system->interfaces[number])->position.x;
    double rate = (given[0] - start) / h;
    input->degree = 2;
    input->linear[0].x = start;
    input->linear[1].x = 2 * rate - given[1];
    input->linear[2].x = (given[1] - rate) / h;
}

double yk_index1_motion_change(const yk_system *system, int number)
{
    /* As an acceleration whose displacement over the step is larger than rounding errors. */
    const yk_motion *start = yk_before_a(system, &system->interfaces[number]);
    double h = system->h;
    double size = fabs(start->position.x);
    size += h * fabs(start->velocity.x);
    size += h * h * fabs(start->acceleration.x);
    if (!(size > 0))
        size = 1;
    return CHANGE * size / (h * h);
}

/* Conditions ----------------------------------------------------------------------------------- */

double *yk_index1_evaluate_relation(const yk_system *system, int number, double *residual,
                                    double *condition, double *force)
{
    const yk_index1_interface *own = &yk_index1_of(system)->interfaces[number];
    const yk_index1_basis *basis = own->basis;

    /* The moments of lambda, and of the answer of B. */
    const yk_motion answer = yk_index1_answer(system, number, 1);
    const double wrench[YK_LEVELS] = {
        answer.position.x,
        answer.velocity.x,
        answer.acceleration.x,
    };
    double moments[YK_LEVELS] = {0};
    for (int power = 0; power < YK_INPUT_COEFFICIENT_COUNT; power++) {
        double c = own->multiplier[0].power[power];
        moments[0] += c / ((power + 1) * (power + 2));
        moments[1] += c / (power + 1);
        moments[2] += c;
    }

    for (int e = 0; e < basis->parameters; e++) {
        double sum = 0;
        for (int level = 0; level < YK_LEVELS; level++)
            sum += basis->moment[e][level] * (moments[level] - wrench[level]);

        *force = fmax(*force, fabs(sum));
        *residual++ = sum;
    }

    /* The motion that B was given, and the motion of A. */
    const yk_motion *a = &yk_value_a(system, &system->interfaces[number])->motion;
    double h = system->h;
    double position = (own->given[0] - a->position.x) / (h * h);
    double velocity = (own->given[1] - a->velocity.x) / h;
    *condition = fmax(*condition, fmax(fabs(position), fabs(velocity)));
    *residual++ = position;
    *residual++ = velocity;
    return residual;
}

void yk_index1_relation_work(const yk_system *system, int number, yk_interface_work *work)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_index1_interface *own = &yk_index1_of(system)->interfaces[number];
    const yk_index1_basis *basis = own->basis;
    const yk_motion *from = yk_before_a(system, interface);
    const yk_motion *to = &yk_value_a(system, interface)->motion;
    const yk_input *given = yk_input_b(system, interface);

    /* Along the path of A, and along the parabola of B. */
    double h = system->h;
    yk_path path = yk_path_between(YK_PORT_SCALAR, h, from, to);

    /* Power at the nodes, times their weights: for A along its path, for B along its prescribed
     * motion. */
    for (int node = 0; node <= basis->degree; node++) {
        double tau = basis->node[node];
        double t = tau * h;
        double wrench = yk_poly_value(own->multiplier[0].power, basis->degree, tau);
        yk_motion a;
        yk_path_at(&path, t, &a);
        double impulse = basis->weight[node] * h * wrench;
        work->work[0] += impulse * a.velocity.x;
        work->work[1] -= impulse * yk_input_scalar_rate(given, t);
    }

    work->energy_created = work->work[0] + work->work[1];
}

/* Wires whose values are unknowns -----------------------------------------------------------------
 *
 * A controller that measures a motion and commands a valve closes a loop within the step. If its
 * signals were only updated after each run, the loop would be a fixed-point iteration next to
 * Newton's method for the wrenches, and might not converge. So the value of a wire at the end of
 * the step is an unknown like the wrenches, if the responses of both of its ends are computed by
 * finite differences; the condition is that the source has this value. Between the ends of the step
 * the value is a straight line. The other wires are updated after each run: wires that hold, that
 * end at the participant where they begin, or that touch a participant that reports sensitivities
 * (which do not cover signals). */

/* Change of a value for finite differences: relative, and for values near zero. */
static const double SIGNAL_CHANGE = 1e-6;
static const double LEAST_SIGNAL_CHANGE = 1e-8;

yk_status yk_index1_create_wires(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    x->wires = yk_allocate(system->context, (size_t)system->wire_count, sizeof *x->wires);
    if (!x->wires)
        return YK_ERROR_MEMORY;

    /* Select the wires that can be unknowns. */
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        int source = def->source_subsystem.index;
        int target = def->target_subsystem.index;
        if (def->sample_and_hold || source == target)
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
        /* Extrapolate the line through the starts of this step and the last. */
        double now = system->wires[x->wires[i].wire].before;
        double earlier = x->wires[i].earlier;
        x->wires[i].end = now;
        if (x->last_step > 0)
            x->wires[i].end = now + (now - earlier) * system->h / x->last_step;
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

    /* The wires that are updated after each run first, then the unknowns. */
    yk_system_update_signals(system, participant);
    for (int i = 0; i < x->wire_count; i++) {
        const yk_wire_def *def = &system->wires[x->wires[i].wire].def;
        if (def->target_subsystem.index != participant)
            continue;

        yk_input *input = &system->participants[participant].inputs[def->target_port.index];
        yk_index1_wire_input(system, i, x->wires[i].end, input);
    }
}

double yk_index1_wire_change(const yk_system *system, int number)
{
    const yk_index1 *x = yk_index1_of(system);
    double before = system->wires[x->wires[number].wire].before;
    return LEAST_SIGNAL_CHANGE + SIGNAL_CHANGE * (fabs(x->wires[number].end) + fabs(before));
}

double yk_index1_evaluate_wires(const yk_system *system, double *residual)
{
    const yk_index1 *x = yk_index1_of(system);
    double largest = 0;
    for (int i = 0; i < x->wire_count; i++) {
        double now = system->wires[x->wires[i].wire].now;
        residual[i] = x->wires[i].end - now;
        largest = fmax(largest, fabs(residual[i]) / (1 + fabs(now)));
        if (!isfinite(residual[i]))
            largest = INFINITY;
    }

    return largest;
}

void yk_index1_keep_wires(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < x->wire_count; i++)
        x->wires[i].earlier = system->wires[x->wires[i].wire].before;
}
