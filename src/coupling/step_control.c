/* Macro steps of variable size.
 *
 * Errors are those of the interface motions in one step, expressed as velocities: a difference in
 * position counts as the velocity that causes it within the step. So errors add up to the tolerance
 * times the distance covered: a tenth of the tolerance gives a tenth of the error at the end. There
 * are two estimates. A scheme that predicts the step before it makes it has the difference at no
 * cost. All other schemes make the step once as a whole and once in two halves, and the run
 * continues from the halves. A step whose error is too large, or in which a subsystem fails, is
 * rolled back and repeated with a smaller size. So impacts are located and passed with the smallest
 * step.
 *
 * For an error of order p, the step size follows from its p-th root. The order is that of the
 * coupled solvers, which none of them reports; two attempts at the same step show it. Some errors
 * do not decrease with the step size: the residuals of iterations of a solver or of the coupling.
 * If several steps in a row are too inaccurate at the smallest size, the cause is not an impact,
 * and their common error is taken as the floor. Steps then grow again as long as their error stays
 * near the floor. */
#include "coupling/step_control.h"

#include <math.h>

#include "coupling/failure.h"
#include "coupling/step_frame.h"
#include "coupling/system.h"
#include "math/so3.h"

/* Safety factor and limits of the change of a step size. */
static const double SAFETY = 0.9;
static const double GROWTH = 2;
static const double SHRINKAGE = 0.2;
/* Smaller changes of the step size are not made: multistep solvers react to every change with an
 * error. */
static const double NOTABLE_GROWTH = 1.2;
/* Error estimate by whole and half steps: initial order, and its bounds. */
static const double FIRST_ORDER = 2;
static const double LEAST_ORDER = 1;
static const double GREATEST_ORDER = 3;
/* Number of steps in a row at the smallest size whose errors define the floor, factor by which an
 * error may exceed the floor, and factor by which the floor decreases after a step that is better
 * than the tolerance. */
enum { FUTILE_STEPS = 4 };
static const double ABOVE_FLOOR = 2;
static const double FADING = 0.7;
/* Fraction of a wrench that iterations may leave in a step that is accepted despite its error. */
static const double FAR_OFF = 0.1;
/* Fraction of the step that a step may be longer or shorter to end on the grid or an event. */
static const double SLIVER = 1e-9;
/* Default smallest step relative to the largest, and first step relative to the smallest. */
static const double DEFAULT_SMALLEST = 1e-4;
static const double FIRST = 100;

yk_step_control yk_step_control_default(void)
{
    return (yk_step_control){.absolute_tolerance = 1e-9};
}

static bool is_controlled(const yk_system *system)
{
    return system->control.def.relative_tolerance > 0;
}

/* Life ----------------------------------------------------------------------------------------- */

yk_status yk_controller_create(yk_system *system, const yk_step_control *def)
{
    yk_controller *c = &system->control;
    yk_context *context = system->context;
    c->def = *def;

    /* Defaults of sizes follow from the macro step. */
    if (c->def.max_step == 0)
        c->def.max_step = system->step;
    if (c->def.min_step == 0)
        c->def.min_step = DEFAULT_SMALLEST * c->def.max_step;

    double smallest = c->def.min_step;
    double largest = c->def.max_step;
    bool tolerances =
        def->relative_tolerance >= 0 && def->relative_tolerance < 1 && def->absolute_tolerance >= 0;
    bool sizes = smallest > 0 && smallest <= largest && largest <= system->step;
    if (!tolerances || !sizes)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "step control: the tolerance (%g) must lie between 0 and 1, the absolute "
                       "one (%g) must not be negative, and the smallest step (%g s), the largest "
                       "(%g s) and the macro step (%g s) must be positive and ascending",
                       def->relative_tolerance, def->absolute_tolerance, smallest, largest,
                       system->step);
    if (is_controlled(system) && system->interface_count == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "step control measures the motions of interfaces, and with scheme %s there "
                       "are none: take steps of one size, or another scheme",
                       yk_system_scheme_name(system));

    /* Events are passed one after the other. */
    for (int i = 0; i < def->event_time_count; i++) {
        bool ascending = i == 0 || def->event_times[i] > def->event_times[i - 1];
        if (!isfinite(def->event_times[i]) || !ascending)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "event %d at %g s: events must be finite and in ascending order", i + 1,
                           def->event_times[i]);
    }

    if (!is_controlled(system))
        return YK_OK;

    /* Results of whole steps, to be compared with those of halves. */
    size_t sides = 2 * (size_t)system->interface_count;
    c->whole = yk_allocate(context, sides, sizeof *c->whole);
    c->middle = yk_allocate(context, sides, sizeof *c->middle);
    if (!c->whole || !c->middle)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

void yk_controller_destroy(yk_system *system)
{
    yk_free(system->context, system->control.image);
    yk_free(system->context, system->control.whole);
    yk_free(system->context, system->control.middle);
}

void yk_controller_get(const yk_controller *controller, double words[YK_CONTROLLER_WORDS])
{
    words[0] = controller->proposal;
    words[1] = controller->speed;
    words[2] = controller->spin;
    words[3] = controller->order;
    words[4] = controller->floor;
    words[5] = controller->futile;
    words[6] = controller->least;
}

bool yk_controller_set(yk_controller *controller, const double words[YK_CONTROLLER_WORDS])
{
    /* Errors of a diverged step are not finite; the size of a step and a count always are. */
    const yk_step_control *def = &controller->def;
    bool in_range = words[0] >= def->min_step && words[0] <= def->max_step;
    if (!(words[5] >= 0) || (def->relative_tolerance > 0 && !in_range))
        return false;

    controller->proposal = words[0];
    controller->speed = words[1];
    controller->spin = words[2];
    controller->order = words[3];
    controller->floor = words[4];
    controller->futile = words[5];
    controller->least = words[6];
    return true;
}

/* Errors --------------------------------------------------------------------------------------- */

static void raise_to(double *largest, double value)
{
    /* A maximum that keeps values that are not a number. */
    if (!(value <= *largest))
        *largest = value;
}

void yk_motion_error(yk_port_kind kind, double h, const yk_motion *a, const yk_motion *b,
                     double *speed, double *spin)
{
    /* A difference in position counts as the velocity that causes it in the step. */
    if (kind == YK_PORT_SCALAR) {
        raise_to(speed, fabs(a->velocity.x - b->velocity.x));
        raise_to(speed, fabs(a->position.x - b->position.x) / h);
        return;
    }

    raise_to(speed, yk_v3_norm(yk_v3_sub(a->velocity, b->velocity)));
    raise_to(speed, yk_v3_norm(yk_v3_sub(a->position, b->position)) / h);
    yk_quat rotation = yk_q_mul(a->orientation, yk_q_conjugate(b->orientation));
    raise_to(spin, yk_v3_norm(yk_v3_sub(a->angular_velocity, b->angular_velocity)));
    raise_to(spin, yk_v3_norm(yk_so3_log(rotation)) / h);
}

/* Updates the largest velocities of the interfaces so far, to which errors are relative. */
static void observe_speeds(yk_system *system)
{
    yk_controller *c = &system->control;
    for (int i = 0; i < 2 * system->interface_count; i++) {
        const yk_motion *m = yk_system_interface_motion(system, i / 2, i % 2);
        if (system->interfaces[i / 2].kind == YK_PORT_SCALAR) {
            raise_to(&c->speed, fabs(m->velocity.x));
            continue;
        }

        raise_to(&c->speed, yk_v3_norm(m->velocity));
        raise_to(&c->spin, yk_v3_norm(m->angular_velocity));
    }
}

yk_status yk_controller_start(yk_system *system)
{
    yk_controller *c = &system->control;

    /* The first step is small because the errors are unknown. */
    c->proposal = fmin(c->def.max_step, FIRST * c->def.min_step);
    c->speed = 0;
    c->spin = 0;
    c->floor = 0;
    c->least = 0;
    c->futile = 0;
    c->order = FIRST_ORDER;

    /* A motion that starts from rest has no typical velocity yet, so the velocity after one macro
     * step counts too. */
    for (int i = 0; i < 2 * system->interface_count; i++) {
        const yk_motion *m = yk_system_interface_motion(system, i / 2, i % 2);
        if (system->interfaces[i / 2].kind == YK_PORT_SCALAR) {
            raise_to(&c->speed, system->step * fabs(m->acceleration.x));
            continue;
        }

        raise_to(&c->speed, system->step * yk_v3_norm(m->acceleration));
        raise_to(&c->spin, system->step * yk_v3_norm(m->angular_acceleration));
    }

    observe_speeds(system);

    if (!is_controlled(system) && !yk_policy_repeats(system))
        return YK_OK;

    /* The size of states is known now. */
    double *image =
        yk_reallocate(system->context, c->image, system->layout.word_count, sizeof *image);
    if (!image)
        return YK_ERROR_MEMORY;

    c->image = image;

    return YK_OK;
}

/* One attempt ---------------------------------------------------------------------------------- */

/* One step of the scheme from t over h. Iterations are counted over all parts of a step. */
static yk_status take_part(yk_system *system, double t, double h, yk_step_report *report)
{
    yk_step_report part = {0};
    yk_system_begin_part(system, t, h);
    yk_status status = system->scheme->ops->step(system->scheme, system, &part);

    /* Outputs that are not finite are an error, whatever the scheme returns. */
    if (!YK_FAILED(status)) {
        yk_status finite = yk_system_check_finite(system);
        if (finite != YK_OK)
            status = finite;
    }

    part.iterations += report->iterations;
    part.halved = part.halved || report->halved;
    *report = part;
    return status;
}

void yk_controller_keep(yk_system *system)
{
    yk_system_get_state(system, system->control.image);
    for (int i = 0; i < system->interface_count; i++)
        system->interfaces[i].kept = system->interfaces[i].statistics;
}

yk_status yk_controller_take_back(yk_system *system)
{
    /* The state image contains the previous order; restore the observed one. */
    double order = system->control.order;
    yk_status status = yk_system_set_state(system, system->control.image);
    if (status != YK_OK)
        return status;

    system->control.order = order;
    yk_system_keep_start(system);
    for (int i = 0; i < system->interface_count; i++)
        system->interfaces[i].statistics = system->interfaces[i].kept;

    return YK_OK;
}

/* Makes the step as a whole, then in two halves, from which the run continues. Raises speed and
 * spin to the differences. */
static yk_status take_twice(yk_system *system, double t, double h, yk_step_report *report,
                            double *speed, double *spin)
{
    yk_controller *c = &system->control;
    int sides = 2 * system->interface_count;
    yk_status whole = take_part(system, t, h, report);
    if (YK_FAILED(whole))
        return whole;

    /* Result of the whole step, and its expected middle for a smooth motion. */
    for (int i = 0; i < sides; i++) {
        yk_port_kind kind = system->interfaces[i / 2].kind;
        const yk_motion *begin = yk_system_interface_motion_at_step_start(system, i / 2, i % 2);
        yk_input path = {.base_orientation = yk_q_identity()};
        c->whole[i] = *yk_system_interface_motion(system, i / 2, i % 2);
        yk_input_cubic(kind, h, begin, &c->whole[i], &path);
        c->middle[i] = yk_input_motion(&path, kind, h / 2);
    }

    yk_status status = yk_controller_take_back(system);
    if (status != YK_OK)
        return status;

    /* In the middle of the step only positions are compared: velocities of the cubic polynomial are
     * of lower order. */
    yk_status first = take_part(system, t, h / 2, report);
    if (YK_FAILED(first))
        return first;

    for (int i = 0; i < sides; i++) {
        const yk_motion *now = yk_system_interface_motion(system, i / 2, i % 2);
        c->middle[i].velocity = now->velocity;
        c->middle[i].angular_velocity = now->angular_velocity;
        yk_motion_error(system->interfaces[i / 2].kind, h, &c->middle[i], now, speed, spin);
    }

    yk_system_end_part(system);

    /* At the end compare positions and velocities. */
    yk_status second = take_part(system, t + h / 2, h / 2, report);
    if (YK_FAILED(second))
        return second;

    for (int i = 0; i < sides; i++) {
        const yk_motion *now = yk_system_interface_motion(system, i / 2, i % 2);
        yk_motion_error(system->interfaces[i / 2].kind, h, &c->whole[i], now, speed, spin);
    }

    if (second != YK_OK)
        return second;
    return first;
}

/* Makes a step of size h and finds its error relative to the tolerance, and the power of h with
 * which the error falls. */
static yk_status try_step(yk_system *system, double t, double h, yk_step_report *report,
                          double *error, double *order)
{
    yk_controller *c = &system->control;
    const yk_scheme_ops *ops = system->scheme->ops;
    double speed = 0;
    double spin = 0;
    yk_status status;
    if (ops->estimate_error && ops->predicts_step && ops->predicts_step(system->scheme, system)) {
        /* The scheme predicts its steps: the error is the difference from the prediction. */
        status = take_part(system, t, h, report);
        if (YK_FAILED(status))
            return status;

        *order = ops->estimate_error(system->scheme, system, &speed, &spin);
    } else {
        /* The error is the difference between the whole step and two halves. */
        double known = 0;
        if (ops->order)
            known = ops->order(system->scheme, system);
        *order = c->order;
        if (known > 0)
            *order = known;

        status = take_twice(system, t, h, report, &speed, &spin);
        if (YK_FAILED(status))
            return status;
    }

    /* Against the tolerance, relative to the largest velocities so far. */
    observe_speeds(system);
    double linear = speed / (c->def.relative_tolerance * c->speed + c->def.absolute_tolerance);
    double angular = 0;
    if (spin > 0)
        angular = spin / (c->def.relative_tolerance * c->spin + c->def.absolute_tolerance);
    *error = fmax(linear, angular);
    return status;
}

bool yk_step_is_recoverable(yk_status status)
{
    /* Failures that depend on the step size or on the wrenches. */
    return status == YK_NOT_CONVERGED || status == YK_ERROR_SINGULAR ||
           status == YK_ERROR_NOT_FINITE || status == YK_ERROR_DIVERGED ||
           status == YK_ERROR_NO_SOLUTION || status == YK_ERROR_SUBSYSTEM;
}

/* The size that follows ------------------------------------------------------------------------ */

/* Factor of the step size for which the error becomes `allowed`. */
static double factor_for(double error, double order, double allowed)
{
    /* An error that is not finite gives no estimate. */
    if (!isfinite(error))
        return SHRINKAGE;
    if (!(error > 0))
        return GROWTH;
    return fmax(SHRINKAGE, fmin(GROWTH, SAFETY * pow(error / allowed, -1 / order)));
}

/* Whether iterations left so much of a wrench that the step is invalid. */
static bool is_far_off(const yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        double wrench = yk_wrench_size(interface->kind, &interface->applied);
        if (!(interface->residual <= FAR_OFF * wrench))
            return true;
    }

    return false;
}

yk_status yk_controller_step(yk_system *system, double t, double left, double *taken,
                             yk_step_report *report)
{
    *taken = left;
    if (!is_controlled(system))
        return take_part(system, t, left, report);

    /* Save the state for a rollback. */
    yk_controller *c = &system->control;
    yk_controller_keep(system);

    /* The proposed size, without a tiny remainder at the end. */
    double proposed = c->proposal;
    double h = proposed;
    if (h >= left * (1 - SLIVER))
        h = left;
    else if (h > left / 2)
        h = left / 2;

    /* Error and size of the previous attempt. */
    double last_h = 0;
    double last_error = 0;

    for (;;) {
        double error = 0;
        double order = 0;
        yk_status status = try_step(system, t, h, report, &error, &order);
        bool failed = YK_FAILED(status);
        bool smallest = h <= c->def.min_step * (1 + SLIVER);
        if (failed && (smallest || !yk_step_is_recoverable(status)))
            return status;

        /* Two attempts at one step show the order of the error. If the error hardly falls, there is
         * a discontinuity. */
        if (!failed && last_error > 1) {
            double shown = log(last_error / error) / log(last_h / h);
            double mean = 0.5 * (c->order + shown);
            if (shown > 0.5 * LEAST_ORDER)
                c->order = fmax(LEAST_ORDER, fmin(GREATEST_ORDER, mean));
        }

        /* Iterations that ended at their limit are part of the error. */
        double allowed = fmax(1, ABOVE_FLOOR * c->floor);
        bool good = !failed && error <= 1;
        bool tolerable = !failed && error <= allowed;
        bool give_up = is_far_off(system) || c->futile + 1 >= FUTILE_STEPS;
        if (status == YK_NOT_CONVERGED && !tolerable && smallest && give_up)
            return yk_system_report_never_converges(system, t + h, report);

        double next = h * SHRINKAGE;
        if (!failed)
            next = h * factor_for(error, order, allowed);

        /* Repeat with a smaller size. */
        if (!tolerable && !smallest) {
            system->statistics.steps_rejected++;
            yk_status restored = yk_controller_take_back(system);
            if (restored != YK_OK)
                return restored;

            last_h = h;
            last_error = error;
            if (failed)
                last_error = 0;
            h = fmax(c->def.min_step, fmin(next, SAFETY * h));
            continue;
        }

        /* Accept the step. The step does not grow if a larger one has just failed. A step that was
         * shortened to end at an event is no reason to reduce the proposal. */
        *taken = h;
        double before = proposed;
        if (last_h > 0) {
            next = fmin(next, h);
            before = h;
        }

        /* Small changes are not worth their disturbance. */
        if (next >= h && before > next)
            next = before;
        if (next > h && next < NOTABLE_GROWTH * h)
            next = h;
        c->proposal = fmin(c->def.max_step, fmax(c->def.min_step, next));

        /* If several smallest steps in a row have similar errors, these are the floor. A step that
         * is better than the tolerance lowers the floor. */
        if (good)
            c->floor *= FADING;
        if (tolerable)
            c->futile = 0;
        else
            c->futile++;
        if (c->futile <= 1)
            c->least = error;
        else
            c->least = fmin(c->least, error);
        if (c->futile >= FUTILE_STEPS && isfinite(c->least)) {
            c->floor = c->least;
            c->futile = 0;
        }

        /* Multistep methods should discard their history after a step that is too inaccurate. */
        system->statistics.steps_accepted_at_min_step += !good;
        if (!tolerable)
            yk_system_announce_event(system);
        return status;
    }
}
