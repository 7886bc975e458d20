/* The scheme index1: coupling wrenches as polynomials, with the constraints satisfied on position,
 * velocity and acceleration level at the end of every macro step (Meyer et al. 2018, sections 2.2
 * and 3).
 *
 * All sides receive wrenches. A step consists of
 *
 *   predict   extrapolate the multipliers of the last step (8); all subsystems advance with them,
 *             in parallel
 *   correct   Newton's method on the scaled conditions g/H^2, g'/H, g'' (22) for the free
 *             parameters of the polynomials (36), (38); the subsystems are rolled back and advance
 *             again
 *
 * with one correction as in the paper, or until the wrenches converge. The Jacobian (37) is that of
 * jacobian.h, for any graph of subsystems and interfaces. If there is nothing to extrapolate from
 * (in the first step, and after an event), the step is always iterated, because a single correction
 * of a poor prediction would reduce the order. After an event the multipliers may jump, so a cubic,
 * which continues the previous polynomial, is replaced by a quadratic for one step. */
#include "coupling/index1/index1.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "coupling/participant.h"
#include "coupling/step_control.h"
#include "math/polynomial.h"

/* Limit of corrections if the scheme must iterate although a single correction was requested. */
enum { FIRST_ITERATIONS = 20 };
/* Number of corrections in a step that may be undone because they increased the residual. */
enum { RETREATS = 6 };
/* If the residual decreases by less than this factor, Newton's method is not converging properly,
 * and the Jacobian is recomputed. */
static const double SLOW = 0.3;
/* Mean factor per correction above which the next step recomputes a kept Jacobian: below it,
 * several more corrections are cheaper than the runs for a new one. */
static const double RENEWAL_RATE = 0.05;
/* Scaled conditions, relative to the numbers of which they are differences, that the solvers of
 * subsystems may leave. */
static const double UNKNOWABLE = 1e-10;
/* A wrench (N, N m) that counts as zero: rounding errors of a system at rest. */
static const double NOTHING = 1e-100;
/* Relative change of the wrenches above which an iterate is not accepted. */
static const double FAR = 0.01;
/* Tolerance for the difference between the source of a wire and the value that its target was
 * given, relative to 1 + |signal|. */
static const double SIGNAL_TOLERANCE = 1e-9;
/* Ratio of step sizes beyond which a kept Jacobian is not used. The scaled Jacobian depends on the
 * step size only through the dynamics of the subsystems. */
static const double OTHER_STEP = 10;
/* Relative size below which corrections that do not decrease are regarded as rounding errors, or as
 * the effect of wires that are updated after each run. */
static const double ROUNDING = 1e-7;
static const double WIRED = 1e-6;

/* Prediction ----------------------------------------------------------------------------------- */

/* The polynomial of the last step as a polynomial of the next one, which is `ratio` times as long. */
static yk_index1_multiplier extrapolated(const yk_index1_multiplier *last, double ratio)
{
    /* Shift to tau at the end of the last step, then scale to the tau of the next one. */
    yk_index1_multiplier next = *last;
    yk_poly_shift(next.power, YK_INPUT_DEGREE_MAX, 1);
    double scale = 1;
    for (int power = 1; power <= YK_INPUT_DEGREE_MAX; power++) {
        scale *= ratio;
        next.power[power] *= scale;
    }

    return next;
}

/* Prediction of one row: the last polynomial extrapolated, or its shape repeated. A solver of first
 * order misses the position at the end of every step, and the wrenches that correct this have the
 * same curvature in every step, however small the step is. */
static yk_index1_multiplier predicted(const yk_index1_interface *interface, int row, double ratio,
                                      bool repeat)
{
    const yk_index1_multiplier *last = &interface->last[row];
    int degree = interface->basis->degree;
    yk_index1_multiplier next;
    if (!repeat) {
        next = extrapolated(last, ratio);
    } else {
        /* Cubics continue at the end of the last one, others continue the trend of the means. */
        next = *last;
        if (degree == 3)
            next.power[0] = yk_poly_value(next.power, YK_INPUT_DEGREE_MAX, 1);
        else
            next.power[0] += ratio * interface->trend[row];
    }

    /* A polynomial of lower degree cannot contain the highest terms of a longer one. */
    for (int power = degree + 1; power < YK_INPUT_COEFFICIENT_COUNT; power++)
        next.power[power] = 0;

    return next;
}

/* Predicts the multipliers of the step, the directions of their wrenches, and all other inputs. */
static void predict(yk_system *system)
{
    /* After a jump, and always for relations, do not use a cubic that would have to continue the
     * last one. */
    yk_index1 *x = yk_index1_of(system);
    int degree = x->options.polynomial_degree;
    if (degree == 3 && x->jumped)
        degree = 2;
    x->basis = &x->bases[degree];

    /* Predict the multipliers in the way that would have been better in the last step. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        own->basis = x->basis;
        if (degree > 2 && yk_index1_is_relation(&system->interfaces[i]))
            own->basis = &x->bases[2];

        memcpy(own->last, own->multiplier, sizeof own->last);
        if (x->last_step == 0)
            continue;

        double ratio = system->h / x->last_step;
        for (int row = 0; row < own->constraint.row_count; row++)
            own->multiplier[row] = predicted(own, row, ratio, own->repeats);
    }

    /* Predict motions, signals and directions, and set the inputs. */
    for (int i = 0; i < system->interface_count; i++)
        if (yk_index1_is_relation(&system->interfaces[i]))
            yk_index1_predict_relation(system, i);

    yk_index1_predict_wires(system);
    yk_index1_predict_directions(system);
    yk_index1_set_inputs(system);
}

static double mean_of(const yk_index1_multiplier *multiplier)
{
    /* The integral over [0, 1]. */
    double mean = 0;
    for (int power = 0; power < YK_INPUT_COEFFICIENT_COUNT; power++)
        mean += multiplier->power[power] / (power + 1);
    return mean;
}

/* Determines which prediction would have been better in the finished step, and the trend of the
 * means, which is needed to repeat the shape of the last step. */
static void compare_predictions(const yk_system *system, yk_index1_interface *own)
{
    const yk_index1 *x = yk_index1_of(system);
    const yk_index1_basis *basis = own->basis;
    int rows = own->constraint.row_count;
    if (x->last_step == 0) {
        own->repeats = false;
        memset(own->trend, 0, sizeof own->trend);
        return;
    }

    /* The largest error at the nodes of the extrapolated and of the repeated polynomial. */
    double error[2] = {0, 0};
    for (int row = 0; row < rows; row++) {
        for (int repeat = 0; repeat < 2; repeat++) {
            double step_ratio = system->h / x->last_step;
            yk_index1_multiplier next = predicted(own, row, step_ratio, repeat);
            for (int node = 0; node <= basis->degree; node++) {
                double tau = basis->node[node];
                double is = yk_poly_value(own->multiplier[row].power, basis->degree, tau);
                double was = yk_poly_value(next.power, basis->degree, tau);
                error[repeat] = fmax(error[repeat], fabs(is - was));
            }
        }
    }

    own->repeats = error[1] < error[0];

    /* Means belong to the middles of their steps. */
    double ratio = x->last_step / system->h;
    for (int row = 0; row < rows; row++) {
        double change = mean_of(&own->multiplier[row]) - mean_of(&own->last[row]);
        own->trend[row] = 2 * change / (1 + ratio);
    }
}

/* Runs of all subsystems ----------------------------------------------------------------------- */

static yk_status run_participant(yk_system *system, int participant)
{
    const yk_index1 *x = yk_index1_of(system);
    bool begun = system->participants[participant].posted;
    if (x->rewinds && !begun) {
        yk_status status = yk_system_rollback_participant(system, participant);
        if (YK_FAILED(status))
            return status;
    }

    if (x->responds)
        return yk_index1_advance_with_response(system, participant);
    return yk_system_advance_participant(system, participant);
}

/* Advances all subsystems over the step at the same time; reports the first failure. */
static yk_status run_all(yk_system *system, bool rewind, bool response)
{
    yk_index1 *x = yk_index1_of(system);
    x->rewinds = rewind;
    x->responds = response;
    if (response)
        yk_index1_find_change(system);
    for (int i = 0; i < system->participant_count; i++)
        yk_index1_carry_signals(system, i);

    /* Requests to other processes are sent before waiting for any of them. */
    for (int i = 0; i < system->participant_count && !response; i++) {
        if (!system->participants[i].subsystem->ops->remote)
            continue;
        if (!rewind || !YK_FAILED(yk_system_rollback_participant(system, i)))
            yk_system_post(system, i);
    }

    /* In parallel, with the available threads. */
    yk_system_advance_all(system, run_participant);

    for (int i = 0; i < system->participant_count; i++)
        if (YK_FAILED(system->participants[i].status))
            return yk_system_report_failure(system, i);

    return YK_OK;
}

/* Conditions ----------------------------------------------------------------------------------- */

/* State of the iteration of a step. */
typedef struct newton {
    int corrections, limit;

    /* Number of corrections that were undone completely or by half. */
    int retreats;

    /* The present correction has its full length. */
    bool single;

    /* The Jacobian was computed in this step; the next run computes a new one. */
    bool renewed, response;

    /* Largest change of a multiplier at a node: by the present correction, by the first one, and by
     * the previous one; largest multiplier at a node. */
    double change, first_change, last_change;
    double size;

    /* Mean factor by which corrections decreased, as long as they were significant. */
    double rate;

    /* Residuals of the conditions, and the numbers of which they are differences: of the scaled
     * conditions on motions, of these motions, and of the wrenches of relations (N). */
    double condition, motion, force;

    /* Largest difference between the value of a wire that is an unknown and its source, relative to
     * 1 + |source|, now and before the last correction. */
    double signal, last_signal;
} newton;

/* The size of the numbers of which the scaled conditions are differences. The conditions cannot be
 * more accurate than the rounding errors of these numbers. */
static double motion_size(yk_port_kind kind, const yk_motion *m, double h)
{
    if (kind == YK_PORT_SCALAR) {
        double position = fabs(m->position.x) / (h * h);
        double velocity = fabs(m->velocity.x) / h;
        return position + velocity + fabs(m->acceleration.x);
    }

    double moved = yk_v3_norm(m->position) / (h * h);
    moved += yk_v3_norm(m->velocity) / h;
    moved += yk_v3_norm(m->acceleration);

    double rotated = 1 / (h * h);
    rotated += yk_v3_norm(m->angular_velocity) / h;
    rotated += yk_v3_norm(m->angular_acceleration);
    return fmax(moved, rotated);
}

/* The scaled conditions of Meyer et al. 2018 (22). */
static void index1_evaluate(const yk_system *system, double *residual, newton *n)
{
    const yk_index1 *x = yk_index1_of(system);
    const yk_index1_basis *basis = x->basis;
    double h = system->h;
    const double scale[YK_LEVELS] = {1 / (h * h), 1 / h, 1};
    n->condition = 0;
    n->motion = 0;
    n->force = 0;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_constraint *constraint = &x->interfaces[i].constraint;
        yk_constraint_kinematics at;
        yk_index1_kinematics(system, i, system->t + h, &at);
        n->motion = fmax(n->motion, motion_size(constraint->kind, &at.a, h));
        n->motion = fmax(n->motion, motion_size(constraint->kind, &at.b, h));

        /* Relations have their own conditions. */
        if (yk_index1_is_relation(&system->interfaces[i])) {
            residual = yk_index1_evaluate_relation(system, i, residual, &n->condition, &n->force);
            continue;
        }

        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_value(constraint, &at, g);

        /* Each is a sum over the levels, with the weights of the basis. */
        for (int e = 0; e < basis->parameters; e++) {
            for (int row = 0; row < constraint->row_count; row++) {
                double sum = 0;
                for (int level = 0; level < YK_LEVELS; level++)
                    sum += basis->condition[e][level] * scale[level] * g[level][row];

                n->condition = fmax(n->condition, fabs(sum));
                *residual++ = sum;
            }
        }
    }

    n->last_signal = n->signal;
    n->signal = yk_index1_evaluate_wires(system, residual);
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_system *system = user;
    return &yk_index1_of(system)->interfaces[interface].gradient;
}

static yk_motion motion_of(void *user, int interface, int side)
{
    return yk_index1_answer(user, interface, side);
}

/* Assembles the Jacobian at the present motions, from responses that are new or that the last
 * correction has updated. */
static yk_status find_jacobian(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);

    /* Gradients of the constraints at the present motions. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        if (yk_index1_is_relation(&system->interfaces[i]))
            continue;

        yk_constraint_kinematics at;
        yk_index1_kinematics(system, i, system->t + system->h, &at);
        yk_constraint_differentiate(&own->constraint, &at, &own->gradient);
    }

    yk_status status = yk_jacobian_assemble(x->jacobian, gradient_of, system, x->basis->condition,
                                            x->basis->moment, system->h);
    if (status == YK_OK)
        return status;

    /* The next step needs no new Jacobian. */
    x->jacobian_step = 0;
    return yk_fail(system->context, status,
                   "at t = %g s scheme index1 has no coupling Jacobian: the motions at the "
                   "interfaces do not follow their wrenches independently on position, velocity "
                   "and acceleration level; give the subsystems four or more substeps, a smaller "
                   "degree of the wrenches, or remove interfaces that join what is already joined",
                   system->t + system->h);
}

/* Corrections ---------------------------------------------------------------------------------- */

/* The present parameters of all multipliers. Each shape determines one of the scaled position,
 * velocity and acceleration that a polynomial causes for a free unit mass, and has no effect on the
 * other two. So these three numbers are the parameters. The part of a cubic that continues the step
 * before has no effect on any of them. */
static void hold_parameters(const yk_system *system, double *held)
{
    const yk_index1 *x = yk_index1_of(system);
    memset(held, 0, (size_t)yk_jacobian_size(x->jacobian) * sizeof *held);

    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *own = &x->interfaces[i];
        int rows = own->constraint.row_count;
        for (int row = 0; row < rows && !yk_index1_is_relation(&system->interfaces[i]); row++) {
            const double *power = own->multiplier[row].power;
            double reached[YK_LEVELS] = {0};
            for (int k = 0; k <= own->basis->degree; k++) {
                reached[0] += power[k] / ((k + 1) * (k + 2));
                reached[1] += power[k] / (k + 1);
                reached[2] += power[k];
            }

            for (int e = 0; e < own->basis->parameters; e++)
                for (int level = 0; level < YK_LEVELS; level++)
                    held[e * rows + row] += own->basis->condition[e][level] * reached[level];
        }

        held += yk_jacobian_interface_size(x->jacobian, i);
    }
}

/* Effect of the correction on the multipliers. */
static void measure(yk_system *system, newton *n)
{
    const yk_index1 *x = yk_index1_of(system);
    const double *correction = x->correction;
    n->change = 0;
    n->size = 0;

    /* At all nodes of all rows, at which directions are evaluated too. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *own = &x->interfaces[i];
        const yk_index1_basis *basis = own->basis;
        int rows = own->constraint.row_count;
        double left = 0;

        for (int row = 0; row < rows; row++) {
            for (int node = 0; node <= basis->degree; node++) {
                double tau = basis->node[node];
                double change = 0;
                for (int k = 0; k < basis->parameters; k++) {
                    double shape = yk_poly_value(basis->shape[k], basis->degree, tau);
                    change += correction[k * rows + row] * shape;
                }

                left = fmax(left, fabs(change));
                n->change = fmax(n->change, fabs(change));
                if (!isfinite(change))
                    n->change = INFINITY;

                double value = yk_poly_value(own->multiplier[row].power, basis->degree, tau);
                n->size = fmax(n->size, fabs(value));
            }
        }

        /* Residual of the wrench if this is the last correction. */
        system->interfaces[i].residual = left;
        correction += yk_jacobian_interface_size(x->jacobian, i);
    }
}

/* Subtracts the correction from all unknowns, and sets the inputs. */
static void apply(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    const double *correction = x->correction;

    for (int i = 0; i < yk_jacobian_size(x->jacobian); i++)
        x->applied[i] = -correction[i];

    /* Convert parameters of the multipliers to powers of tau. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        const yk_index1_basis *basis = own->basis;
        int rows = own->constraint.row_count;

        for (int k = 0; k < x->basis->parameters; k++) {
            for (int row = 0; row < rows; row++) {
                double amount = correction[k * rows + row];
                for (int power = 0; power <= basis->degree; power++)
                    own->multiplier[row].power[power] -= amount * basis->shape[k][power];
            }
        }

        /* The motion that side B of a relation is given. */
        if (yk_index1_is_relation(&system->interfaces[i])) {
            const double *given = correction + rows * x->basis->parameters;
            for (int k = 0; k < YK_INDEX1_MOTIONS; k++)
                own->given[k] -= yk_level_size(k, system->h) * given[k];
        }

        correction += yk_jacobian_interface_size(x->jacobian, i);
    }

    /* Evaluate directions at the predicted motions. */
    yk_index1_correct_wires(system, correction);
    yk_index1_update_directions(system, x->applied);
    yk_index1_set_inputs(system);
}

/* Whether a correction is larger than rounding errors, and than the effect of wires that are not
 * unknowns. */
static bool has_weight(const yk_system *system, double change, double size)
{
    bool followed = system->wire_count > yk_index1_of(system)->wire_count;
    double least = ROUNDING;
    if (followed)
        least = WIRED;
    return change > least * size;
}

static bool has_converged(const yk_system *system, const newton *n)
{
    const yk_index1_options *options = &yk_index1_of(system)->options;
    if (!(n->signal <= SIGNAL_TOLERANCE))
        return false;

    /* Within the tolerance, or as accurate as the arithmetic allows. */
    double relative = options->relative_tolerance * n->size;
    double limit = NOTHING + options->tolerance + relative;
    bool motions = n->condition <= 4 * DBL_EPSILON * n->motion;
    bool forces = n->force <= 4 * DBL_EPSILON * n->size;
    if (n->change <= limit || (motions && forces))
        return true;

    /* Corrections that do not decrease any more are caused by rounding errors and by the
     * subsystems' own solvers. */
    bool stalls = n->corrections >= 2 && n->change > 0.5 * n->last_change;
    bool unknowable = n->condition <= UNKNOWABLE * n->motion;
    bool small = !has_weight(system, n->change, n->size);
    if (unknowable && !has_weight(system, n->force, n->size))
        small = true;

    return stalls && small;
}

/* Accept the last iterate if it is near the solution; wrong wrenches would tear the subsystems
 * apart. */
static yk_status give_up(const yk_system *system, const newton *n)
{
    bool small = n->change <= FAR * n->size;
    bool held = n->condition <= 1e3 * UNKNOWABLE * n->motion;
    if (!(n->signal <= FAR))
        return yk_fail(
            system->context, YK_ERROR_DIVERGED,
            "at t = %g s (step %lld) scheme index1 finds no values of the wires that "
            "their sources give: after %d corrections they still differ by %g of their "
            "size; take a smaller macro step, change a gain, or set sample_and_hold: true for a "
            "wire of the loop",
            system->t + system->h, (long long)system->step_count + 1, n->corrections, n->signal);
    if (small || held)
        return YK_NOT_CONVERGED;
    return yk_fail(system->context, YK_ERROR_DIVERGED,
                   "at t = %g s (step %lld) scheme index1 finds no wrenches that hold the joints: "
                   "after %d corrections they still change by %g (N, N m) of %g; take a smaller "
                   "macro step, or let step control choose it",
                   system->t + system->h, (long long)system->step_count + 1, n->corrections,
                   n->change, n->size);
}

/* Undoes a part of the last correction. A kept Jacobian is then recomputed at the iterate before
 * the failure. With a new Jacobian, only half of the correction is applied, and only a few times,
 * because contacts that open and close make the residual nonsmooth. */
static void retreat(yk_system *system, newton *n)
{
    yk_index1 *x = yk_index1_of(system);
    double part = 1;
    if (n->renewed)
        part = 0.5;

    for (int i = 0; i < yk_jacobian_size(x->jacobian); i++) {
        x->correction[i] = part * x->change[i];
        x->change[i] -= x->correction[i];
    }

    n->response = !n->renewed;
    n->retreats++;

    /* Reference for the next iterate. */
    n->change = INFINITY;
    if (n->renewed)
        n->change = n->last_change;
    apply(system);
}

/* Newton's method for the parameters of all multipliers. */
static yk_status index1_iterate(yk_system *system, newton *n)
{
    yk_index1 *x = yk_index1_of(system);
    for (;; n->corrections++) {
        bool first = n->corrections == 0;
        bool last = n->corrections == n->limit;
        bool can_retreat = !first && !last && !n->single && n->retreats < RETREATS;

        /* Inaccurate wrenches may make a subsystem fail; try half of the correction. */
        yk_status status = run_all(system, !first, n->response);
        if (status != YK_OK && can_retreat && yk_step_is_recoverable(status)) {
            retreat(system, n);
            continue;
        }

        if (status != YK_OK)
            return status;

        /* Save the prediction, which step control compares with the result. */
        for (int i = 0; first && i < system->interface_count; i++)
            for (int side = 0; side < 2; side++)
                x->interfaces[i].predicted[side] = *yk_system_interface_motion(system, i, side);
        if (n->single && n->corrections == 1)
            return YK_OK;

        /* Update the responses with the results of the run. Changes along redundant constraints cause
         * no motion, so responses with such constraints would only take over errors. */
        if (n->response) {
            n->response = false;
            n->renewed = true;
            x->jacobians++;
            x->jacobian_step = system->h;
            x->jacobian_degree = x->basis->degree;
            yk_jacobian_renew(x->jacobian);
            yk_jacobian_keep(x->jacobian, motion_of, system);
        } else if (first) {
            yk_jacobian_keep(x->jacobian, motion_of, system);
        } else if (has_weight(system, n->change, n->size) &&
                   !yk_jacobian_is_redundant(x->jacobian)) {
            yk_jacobian_learn(x->jacobian, x->applied, system->h, motion_of, system);
        }

        /* The correction: J^-1 times the residual. */
        status = find_jacobian(system);
        if (status != YK_OK)
            return status;

        index1_evaluate(system, x->correction, n);
        /* The first correction reduces the wrenches of redundant constraints to those of least norm.
         * In later corrections, a reduction would only add the errors of the Jacobian. */
        hold_parameters(system, x->held);
        yk_jacobian_solve(x->jacobian, x->correction, first ? x->held : NULL);
        n->last_change = n->change;
        measure(system, n);
        bool weighs = has_weight(system, n->change, n->size);
        if (first)
            n->first_change = n->change;
        else if (has_weight(system, n->last_change, n->size))
            n->rate = pow(n->change / n->first_change, 1.0 / n->corrections);

        /* Converged, or at the limit. */
        if (!n->single && has_converged(system, n))
            return YK_OK;
        if (last)
            return give_up(system, n);

        /* The correction increased the residual; the next one would be even larger. */
        bool worse = !(n->change <= n->last_change) && (weighs || !isfinite(n->change));
        if (worse && can_retreat) {
            retreat(system, n);
            continue;
        }

        if (!isfinite(n->change))
            return give_up(system, n);

        /* The next run, with a new Jacobian if corrections decrease slowly. */
        bool slow = !first && weighs && n->change > SLOW * n->last_change;
        slow =
            slow || (!first && n->signal > SIGNAL_TOLERANCE && n->signal > SLOW * n->last_signal);
        n->response = !n->single && !n->renewed && slow;

        for (int i = 0; i < yk_jacobian_size(x->jacobian); i++)
            x->change[i] = -x->correction[i];

        apply(system);
    }
}

/* Steps ---------------------------------------------------------------------------------------- */

static yk_quat rotation_of(void *user, int participant, int port)
{
    const yk_system *system = user;
    const yk_participant *p = &system->participants[participant];
    yk_quat before = p->before[port].orientation;
    return yk_q_mul(p->values[port].motion.orientation, yk_q_conjugate(before));
}

/* Whether there is a previous step to extrapolate from. */
static bool foretells(const yk_scheme *scheme, const yk_system *system)
{
    (void)system;
    const yk_index1 *x = (const yk_index1 *)scheme;
    return x->last_step > 0 && !x->jumped;
}

static yk_status index1_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    yk_index1 *x = (yk_index1 *)scheme;
    predict(system);
    yk_system_save_participants(system);

    /* A single correction is sufficient if there was a prediction. */
    newton n = {.limit = x->options.max_iterations};
    if (n.limit == 1) {
        n.limit = FIRST_ITERATIONS;
        n.single = foretells(scheme, system);
    }

    /* A single correction must be accurate, so the Jacobian must be from the same step size and
     * degree, and is recomputed if it converged poorly. */
    double ratio = system->h / x->jacobian_step;
    bool kept =
        x->options.max_iterations != 1 && x->options.jacobian_update == YK_JACOBIAN_UPDATE_REUSE;
    kept = kept && x->jacobian_step != 0;
    bool other = ratio > OTHER_STEP || ratio < 1 / OTHER_STEP;
    other = other || x->jacobian_degree != x->basis->degree;
    n.response = !kept || other || x->last_rate > RENEWAL_RATE;

    yk_status status = index1_iterate(system, &n);
    if (YK_FAILED(status))
        return status;

    /* Residuals within the tolerance count as converged. */
    for (int i = 0; status == YK_OK && i < system->interface_count; i++)
        yk_system_set_interface_residual(system, i, 0);

    report->iterations = n.corrections + 1;
    report->wrench_change = n.change;

    /* Save the data for the prediction of the next step. */
    x->last_rate = n.rate;
    if (x->options.jacobian_update == YK_JACOBIAN_UPDATE_REUSE)
        yk_jacobian_rotate(x->jacobian, rotation_of, system);
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        compare_predictions(system, own);
        own->earlier[0] = *yk_before_a(system, &system->interfaces[i]);
        own->earlier[1] = *yk_before_b(system, &system->interfaces[i]);
        memcpy(own->last_mean, own->mean, sizeof own->last_mean);
    }

    yk_index1_keep_wires(system);
    x->last_step = system->h;
    x->jumped = false;

    return status;
}

/* Step control --------------------------------------------------------------------------------- */

/* With solvers that do not follow polynomials, the curvature of the wrenches changes with the step
 * size, and the prediction says nothing about the error. */
static bool is_exact(const yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++)
        if (system->participants[i].shaped)
            return false;
    return true;
}

static double index1_order(const yk_scheme *scheme, const yk_system *system)
{
    const yk_index1 *x = (const yk_index1 *)scheme;

    /* The error of one step is one order higher than the error of the run, which is of order 5 for
     * degree 2 and 6 for degree 3. */
    if (!is_exact(system))
        return 0;
    return x->options.polynomial_degree + 4;
}

static bool predicts_errors(const yk_scheme *scheme, const yk_system *system)
{
    return is_exact(system) && foretells(scheme, system);
}

/* The difference of prediction and result is the error of the prediction. It is of lower order than
 * the error of the result, so it is a conservative estimate. */
static double index1_estimate_error(const yk_scheme *scheme, const yk_system *system, double *speed,
                                    double *spin)
{
    const yk_index1 *x = (const yk_index1 *)scheme;
    for (int i = 0; i < system->interface_count; i++) {
        yk_port_kind kind = system->interfaces[i].kind;
        for (int side = 0; side < 2; side++) {
            const yk_motion *expected = &x->interfaces[i].predicted[side];
            const yk_motion *reached = yk_system_interface_motion(system, i, side);
            yk_motion_error(kind, system->h, expected, reached, speed, spin);
        }
    }

    return x->options.polynomial_degree + 2;
}

/* Updates from before a jump are not valid after it. */
static void index1_handle_event(yk_scheme *scheme, yk_system *system)
{
    yk_index1 *x = (yk_index1 *)scheme;

    /* Continue the multipliers from their end values, as constants. */
    for (int i = 0; i < system->interface_count && x->last_step > 0; i++) {
        yk_index1_interface *interface = &x->interfaces[i];
        for (int row = 0; row < interface->constraint.row_count; row++)
            interface->multiplier[row] = extrapolated(&interface->multiplier[row], 0);
    }

    x->jumped = true;
    x->last_step = 0;
}

/* The scheme ----------------------------------------------------------------------------------- */

static const yk_option_choice jacobian_words[] = {
    {"reuse",
     "kept over steps and improved by every correction, recomputed if it no longer converges"},
    {"every-step", "recomputed in every step"},
    {"finite-differences",
     "recomputed in every step by finite differences, even if subsystems have sensitivities"},
    {NULL, NULL},
};

#define ROW(type, field) .kind = YK_OPTION_##type, YK_MEMBER(yk_index1_options, field)

static const yk_option options[] = {
    {"polynomial_degree", ROW(INTEGER, polynomial_degree), .default_text = "3",
     .range = YK_BETWEEN(0, YK_INPUT_DEGREE_MAX),
     .description = "degree of the wrenches in time; with exact solvers the order is 2, 4, 5, 6 "
                    "for 0 to 3, with others that of the solvers"},
    {"max_iterations", ROW(INTEGER, max_iterations), .default_text = "20", .range = YK_AT_LEAST(1),
     .description = "maximum number of corrections per macro step; 1 is the single Newton step of "
                    "Meyer et al. 2018"},
    {"absolute_tolerance", ROW(NUMBER, tolerance), .unit = "N, N m", .default_text = "1e-6",
     .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
     .description = "largest change of an interface wrench that counts as converged"},
    {"relative_tolerance", ROW(NUMBER, relative_tolerance), .default_text = "0",
     .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
     .description = "the same, relative to the wrench"},
    {"jacobian_update", ROW(CHOICE, jacobian_update), .default_text = "reuse",
     .choices = jacobian_words, .description = "computation of the coupling Jacobian"},
    {"threads", ROW(INTEGER, thread_count), .default_text = "1", .range = YK_BETWEEN(0, 1024),
     .description = "subsystems that advance at the same time; 0 is one per core"},
    {0},
};

static const yk_scheme_variant variants[] = {
    {"index1", YK_VARIANT_REFERENCE, 30, {"polynomial_degree=3", "max_iterations=20"}},
    {"index1", YK_VARIANT_REMEDY, 5, {"polynomial_degree=3"}},
    {"index1, degree 2", YK_VARIANT_CANDIDATE, 5, {"polynomial_degree=2"}},
    {"index1, degree 3", YK_VARIANT_CANDIDATE | YK_VARIANT_BASELINE, 5, {"polynomial_degree=3"}},
    {0},
};

static void index1_tighten_tolerances(void *own)
{
    yk_index1_options *o = own;
    o->tolerance = 0;
    o->relative_tolerance = 1e-13;
}

static void index1_tolerances(const void *own, double *absolute, double *relative)
{
    const yk_index1_options *o = own;
    *absolute = o->tolerance;
    *relative = o->relative_tolerance;
}

/* Smallest number of substeps with which a participant can satisfy all constraint levels (*fewest:
 * without an error), and the recommended number. A single step that does not follow variations of
 * the wrench within it cannot set position, velocity and acceleration at its end independently. */
static int substeps(const void *own, const yk_subsystem *subsystem, int *fewest)
{
    enum { USUAL = 4 };
    const yk_index1_options *o = own;
    *fewest = 1;
    if (yk_subsystem_can_follow_polynomials(subsystem))
        return 1;

    *fewest = 3;
    if (o->polynomial_degree < 2)
        *fewest = o->polynomial_degree + 1;
    return USUAL;
}

/* Wrenches on both sides. A scalar port that receives motion only is given one: it is a relation,
 * not a constraint. */
static yk_causality index1_second_side_causality(const void *own, const yk_port_pair *joined)
{
    (void)own;
    const yk_port *ports;
    joined->subsystem[1]->ops->ports(joined->subsystem[1], &ports);
    const yk_port *b = &ports[joined->port[1]];
    unsigned takes =
        b->allowed_causalities & (YK_CAUSALITY_WRENCH_INPUT | YK_CAUSALITY_MOTION_INPUT);
    if (b->kind == YK_PORT_SCALAR && takes == YK_CAUSALITY_MOTION_INPUT)
        return YK_CAUSALITY_MOTION_INPUT;
    return YK_CAUSALITY_WRENCH_INPUT;
}

static const char *remedy(const yk_scheme *scheme)
{
    (void)scheme;
    return "more iterations or a smaller macro step";
}

static int index1_statistics(const yk_scheme *scheme, const yk_system *system,
                             yk_scheme_statistic *rows)
{
    const yk_index1 *x = (const yk_index1 *)scheme;
    double runs = 0;
    for (int i = 0; i < system->participant_count; i++)
        runs += (double)x->difference_runs[i];
    rows[0] = (yk_scheme_statistic){"coupling Jacobians", (double)x->jacobians};
    rows[1] = (yk_scheme_statistic){"calls of subsystems for their finite differences", runs};

    return 2;
}

const yk_scheme_ops *yk_scheme_index1(void)
{
    static const yk_scheme_ops ops = {
        .size = sizeof ops,
        .name = "index1",
        .description = "wrenches on both sides as polynomials in time, constraints satisfied on "
                       "position, velocity and acceleration level; of high order",
        .options_size = sizeof(yk_index1_options),
        .options = options,
        .variants = variants,
        .constant_traits = YK_SCHEME_CARRIES_SIGNALS | YK_SCHEME_NEEDS_INTERFACES |
                           YK_SCHEME_NEEDS_ROLLBACK | YK_SCHEME_ITERATES | YK_SCHEME_IS_FORCE_FORCE,
        .create = yk_index1_create,
        .destroy = yk_index1_destroy,
        .initialize = yk_index1_start,
        .step = index1_step,
        .tighten_tolerances = index1_tighten_tolerances,
        .tolerances = index1_tolerances,
        .default_substeps = substeps,
        .second_side_causality = index1_second_side_causality,
        .convergence_hint = remedy,
        .state_layout = yk_index1_layout,
        .state_get = yk_index1_get,
        .state_set = yk_index1_set,
        .is_valid_state = yk_index1_is_valid,
        .order = index1_order,
        .predicts_step = predicts_errors,
        .estimate_error = index1_estimate_error,
        .handle_event = index1_handle_event,
        .after_substep = yk_index1_substep,
        .substep_input = yk_index1_substep_input,
        .interface_work = yk_index1_work,
        .statistics = index1_statistics,
    };

    return &ops;
}

yk_index1_options yk_index1_options_default(void)
{
    yk_index1_options own;
    yk_scheme_set_defaults(yk_scheme_index1(), &own);
    return own;
}
