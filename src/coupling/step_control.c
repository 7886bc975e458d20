/* The macro clock, and macro steps of variable size.
 *
 * yk_system_step ends at the next multiple of the macro step, whatever happens in between: the clock counts whole steps,
 * and only the way from one count to the next is cut, at events and where the error asks for it. So neither the clock nor
 * the times of results depend on the control.
 *
 * Errors are those of the interface motions in one step, as velocities: a difference in position counts by the speed that
 * would make it in the step. So errors add up to the tolerance times the way that was gone: a tenth of the tolerance gives
 * a tenth of the error at the end. Two estimates are used. The scheme index1 with solvers that follow polynomials has
 * predicted the step before it takes it, so the difference costs nothing; it is the error of the prediction, which is of
 * lower order than the result's and therefore errs on the safe side. Everything else takes the step once as a whole and once
 * in two halves, and goes on with the halves. A step whose error is too large, or in which a subsystem fails, is taken back
 * and repeated with a smaller size; so impacts are found and passed with the smallest step.
 *
 * An error of order p asks for steps as its p-th root. The order is that of the coupled solvers, which nobody tells; two
 * attempts at the same step show it. Some errors no step makes smaller: what iterations of a solver or of the coupling
 * leave. Where several steps in a row are too inaccurate at the smallest size this is no impact, and what they have in
 * common is taken for the floor; steps then grow again as long as their error stays near it. */
#include <float.h>
#include <math.h>

#include "coupling/index1.h"
#include "coupling/interface.h"
#include "coupling/relaxed.h"
#include "math/polynomial.h"
#include "math/so3.h"

static const double SAFETY = 0.9, GROWTH = 2, SHRINKAGE = 0.2;
/* A step is not changed for less: solvers that remember steps answer every change with an error. */
static const double NOTABLE_GROWTH = 1.2;
/* Of an error by whole and half steps: the power of the step by which it falls, at first, and within which bounds. */
static const double FIRST_ORDER = 2, LEAST_ORDER = 1, GREATEST_ORDER = 3;
/* Steps in a row at the smallest size whose errors make the floor, by how much of it an error may be larger, and how
 * much of it is left after a step that is better than the tolerance. */
enum { FUTILE_STEPS = 4 };
/* Fraction of a wrench that iterations may leave in a step that is taken in spite of its error. */
static const double FAR_OFF = 0.1;
static const double ABOVE_FLOOR = 2, FADING = 0.7;
/* Fraction of the step that a step may be longer or shorter to end on the grid or an event. */
static const double SLIVER = 1e-9;
/* Smallest step, against the largest, where none is given. */
static const double DEFAULT_SMALLEST = 1e-4;
/* The first step, against the smallest. */
static const double FIRST = 100;

yk_step_control yk_step_control_default(void)
{
    return (yk_step_control){.absolute = 1e-9};
}

static bool is_controlled(const yk_system *system)
{
    return system->control.def.tolerance > 0;
}

/* Creation --------------------------------------------------------------------------------------------------------- */

static yk_status check_events(yk_context *context, const yk_step_control *def)
{
    for (int i = 0; i < def->event_count; i++) {
        bool ascending = i == 0 || def->events[i] > def->events[i - 1];
        if (isfinite(def->events[i]) && ascending) continue;
        return yk_fail(context, YK_ERROR_ARGUMENT, "event %d at %g s: events must be finite and in ascending order",
                       i + 1, def->events[i]);
    }
    return YK_OK;
}

yk_status yk_controller_create(yk_system *system, const yk_step_control *def)
{
    yk_controller *c = &system->control;
    yk_context *context = system->context;
    c->def = *def;
    if (c->def.largest == 0) c->def.largest = system->step;
    if (c->def.smallest == 0) c->def.smallest = DEFAULT_SMALLEST * c->def.largest;
    bool good = def->tolerance >= 0 && def->tolerance < 1 && def->absolute >= 0 && c->def.smallest > 0;
    if (!good || c->def.smallest > c->def.largest || c->def.largest > system->step)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "step control: the tolerance (%g) must lie between 0 and 1, the absolute one (%g) must not be "
                       "negative, and the smallest step (%g s), the largest (%g s) and the macro step (%g s) must be "
                       "positive and ascending",
                       def->tolerance, def->absolute, c->def.smallest, c->def.largest, system->step);
    if (is_controlled(system) && system->interface_count == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "step control measures the motions of interfaces, and with scheme %s there are none: set "
                       "time.tolerance to 0, or choose another scheme",
                       yk_system_scheme_name(system));
    yk_status status = check_events(context, def);
    if (status < 0 || !is_controlled(system)) return status;
    size_t sides = 2 * (size_t)system->interface_count;
    c->whole = yk_allocate(context, sides, sizeof *c->whole);
    c->middle = yk_allocate(context, sides, sizeof *c->middle);
    return c->whole && c->middle ? YK_OK : YK_ERROR_MEMORY;
}

void yk_controller_destroy(yk_system *system)
{
    yk_release(system->context, system->control.image);
    yk_release(system->context, system->control.whole);
    yk_release(system->context, system->control.middle);
}

/* Errors ----------------------------------------------------------------------------------------------------------- */

static const yk_motion *side_motion(const yk_system *system, const yk_interface *interface, int side)
{
    return side == 0 ? &yk_interface_a(system, interface)->values[interface->def.wrench_port].motion
                     : &yk_interface_b(system, interface)->values[interface->def.motion_port].motion;
}

static void raise_to(double *largest, double value)
{
    if (!(value <= *largest)) *largest = value;
}

void yk_motion_error(yk_port_kind kind, double h, const yk_motion *a, const yk_motion *b, double *speed, double *spin)
{
    if (kind == YK_PORT_SCALAR) {
        raise_to(speed, fabs(a->velocity.x - b->velocity.x));
        raise_to(speed, fabs(a->position.x - b->position.x) / h);
        return;
    }
    raise_to(speed, yk_v3_norm(yk_v3_sub(a->velocity, b->velocity)));
    raise_to(speed, yk_v3_norm(yk_v3_sub(a->position, b->position)) / h);
    raise_to(spin, yk_v3_norm(yk_v3_sub(a->angular_velocity, b->angular_velocity)));
    raise_to(spin, yk_v3_norm(yk_so3_log(yk_q_mul(a->orientation, yk_q_conjugate(b->orientation)))) / h);
}

static const yk_motion *side_start(const yk_system *system, const yk_interface *interface, int side)
{
    return side == 0 ? &yk_interface_a(system, interface)->before[interface->def.wrench_port]
                     : &yk_interface_b(system, interface)->before[interface->def.motion_port];
}

/* Where the whole step led, and where it passed by in its middle if nothing happened on the way. */
static void keep_whole(yk_system *system, double h)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        for (int side = 0; side < 2; side++) {
            const yk_motion *end = side_motion(system, interface, side);
            yk_input displacement = {.orientation = yk_q_identity()};
            yk_input_cubic(interface->kind, h, side_start(system, interface, side), end, &displacement);
            system->control.whole[2 * i + side] = *end;
            system->control.middle[2 * i + side] = yk_input_motion(&displacement, interface->kind, h / 2);
        }
    }
}

/* In the middle of the step places count alone: velocities of the cubic are of lower order. */
static void compare_with_middle(const yk_system *system, double h, double *speed, double *spin)
{
    for (int i = 0; i < 2 * system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i / 2];
        const yk_motion *now = side_motion(system, interface, i % 2);
        yk_motion middle = system->control.middle[i];
        middle.velocity = now->velocity, middle.angular_velocity = now->angular_velocity;
        yk_motion_error(interface->kind, h, &middle, now, speed, spin);
    }
}

static void compare_with_whole(const yk_system *system, double h, double *speed, double *spin)
{
    for (int i = 0; i < system->interface_count; i++)
        for (int side = 0; side < 2; side++)
            yk_motion_error(system->interfaces[i].kind, h, &system->control.whole[2 * i + side],
                            side_motion(system, &system->interfaces[i], side), speed, spin);
}

/* The largest velocities of the interfaces up to now. */
static void observe_speeds(yk_system *system)
{
    yk_controller *c = &system->control;
    for (int i = 0; i < system->interface_count; i++) {
        for (int side = 0; side < 2; side++) {
            const yk_motion *m = side_motion(system, &system->interfaces[i], side);
            bool scalar = system->interfaces[i].kind == YK_PORT_SCALAR;
            raise_to(&c->speed, scalar ? fabs(m->velocity.x) : yk_v3_norm(m->velocity));
            if (!scalar) raise_to(&c->spin, yk_v3_norm(m->angular_velocity));
        }
    }
}

/* At the start also what they will have after one macro step: motion from rest has no size yet. */
static void expect_speeds(yk_system *system)
{
    yk_controller *c = &system->control;
    for (int i = 0; i < 2 * system->interface_count; i++) {
        const yk_motion *m = side_motion(system, &system->interfaces[i / 2], i % 2);
        bool scalar = system->interfaces[i / 2].kind == YK_PORT_SCALAR;
        raise_to(&c->speed, system->step * (scalar ? fabs(m->acceleration.x) : yk_v3_norm(m->acceleration)));
        if (!scalar) raise_to(&c->spin, system->step * yk_v3_norm(m->angular_acceleration));
    }
    observe_speeds(system);
}

yk_status yk_controller_start(yk_system *system)
{
    yk_controller *c = &system->control;
    c->proposal = fmin(c->def.largest, FIRST * c->def.smallest);
    c->speed = c->spin = c->floor = c->least = c->futile = 0;
    c->order = FIRST_ORDER;
    expect_speeds(system);
    if (!is_controlled(system)) return YK_OK;
    double *image = yk_reallocate(system->context, c->image, system->layout.words, sizeof *image);
    if (!image) return YK_ERROR_MEMORY;
    c->image = image;
    return YK_OK;
}

void yk_controller_get(const yk_controller *controller, double words[YK_CONTROLLER_WORDS])
{
    const yk_controller *c = controller;
    const double all[YK_CONTROLLER_WORDS] = {c->proposal, c->speed, c->spin, c->order, c->floor, c->futile, c->least};
    for (int i = 0; i < YK_CONTROLLER_WORDS; i++) words[i] = all[i];
}

void yk_controller_set(yk_controller *controller, const double words[YK_CONTROLLER_WORDS])
{
    controller->proposal = words[0], controller->speed = words[1], controller->spin = words[2];
    controller->order = words[3], controller->floor = words[4];
    controller->futile = words[5], controller->least = words[6];
}

static double relative_error(const yk_controller *c, double speed, double spin)
{
    double linear = speed / (c->def.tolerance * c->speed + c->def.absolute);
    double angular = spin > 0 ? spin / (c->def.tolerance * c->spin + c->def.absolute) : 0;
    return fmax(linear, angular);
}

/* One step --------------------------------------------------------------------------------------------------------- */

typedef struct attempt {
    double error; /* against the tolerance */
    double order; /* by which power of the step it falls */
} attempt;

static yk_status take_part(yk_system *system, double t, double h, yk_step_report *report)
{
    yk_step_report part = {0};
    system->t = t, system->h = h;
    yk_status status = yk_system_scheme_step(system, &part);
    report->iterations += part.iterations;
    report->halved = report->halved || part.halved;
    report->wrench_change = part.wrench_change;
    return status;
}

/* Speed and spin are raised to the differences from the whole step. */
static yk_status take_halves(yk_system *system, double t, double h, yk_step_report *report, double *speed, double *spin)
{
    yk_status first = take_part(system, t, h / 2, report);
    if (first < 0) return first;
    compare_with_middle(system, h, speed, spin);
    yk_system_observe(system);
    yk_system_keep_earlier(system);
    yk_system_keep_start(system);
    yk_status second = take_part(system, t + h / 2, h / 2, report);
    if (second < 0) return second;
    compare_with_whole(system, h, speed, spin);
    return second != YK_OK ? second : first;
}

/* Back to the start of the step, as if it had not been tried; only the order that attempts showed is kept. */
static yk_status take_back(yk_system *system)
{
    double order = system->control.order;
    yk_status status = yk_system_state_set(system, system->control.image);
    if (status < 0) return status;
    system->control.order = order;
    yk_system_keep_start(system);
    for (int i = 0; i < system->interface_count; i++) system->interfaces[i].statistics = system->interfaces[i].kept;
    return YK_OK;
}

/* Whether index1 predicts as its solvers move: those that do not follow polynomials leave wrenches that bend as the steps
 * change, and a prediction that says nothing of errors. */
static bool is_exact(const yk_system *system)
{
    if (!system->index1) return false;
    for (int i = 0; i < system->participant_count; i++)
        if (system->participants[i].low_order) return false;
    return true;
}

/* The step as a whole, then in halves. */
static yk_status take_twice(yk_system *system, double t, double h, yk_step_report *report, attempt *a)
{
    yk_controller *c = &system->control;
    a->order = is_exact(system) ? system->scheme.index1.degree + 4 : c->order;
    yk_status whole = take_part(system, t, h, report);
    if (whole < 0) return whole;
    double speed = 0, spin = 0;
    keep_whole(system, h);
    yk_status status = take_back(system);
    if (status == YK_OK) status = take_halves(system, t, h, report, &speed, &spin);
    if (status < 0) return status;
    observe_speeds(system);
    a->error = relative_error(c, speed, spin);
    return status;
}

static yk_status take_predicted(yk_system *system, double t, double h, yk_step_report *report, attempt *a)
{
    a->order = system->scheme.index1.degree + 2;
    yk_status status = take_part(system, t, h, report);
    if (status < 0) return status;
    double speed = 0, spin = 0;
    observe_speeds(system);
    yk_index1_estimate(system, &speed, &spin);
    a->error = relative_error(&system->control, speed, spin);
    return status;
}

bool yk_step_can_be_mended(yk_status status)
{
    return status == YK_NOT_CONVERGED || status == YK_ERROR_SINGULAR || status == YK_ERROR_NOT_FINITE ||
           status == YK_ERROR_DIVERGED || status == YK_ERROR_NO_SOLUTION || status == YK_ERROR_SUBSYSTEM;
}

/* By how much the step is to change for its error to come to `allowed`. */
static double factor_for(const attempt *a, bool failed, double allowed)
{
    if (failed || !isfinite(a->error)) return SHRINKAGE;
    if (!(a->error > 0)) return GROWTH;
    return fmax(SHRINKAGE, fmin(GROWTH, SAFETY * pow(a->error / allowed, -1 / a->order)));
}

/* Two attempts at one step show by which power of its size the error falls; where it hardly does, something jumps there. */
static void learn_order(yk_controller *c, double h, double error, double last_h, double last_error)
{
    double order = log(last_error / error) / log(last_h / h);
    if (!(order > 0.5 * LEAST_ORDER)) return;
    c->order = fmax(LEAST_ORDER, fmin(GREATEST_ORDER, 0.5 * (c->order + order)));
}

/* What is left of errors that no step makes smaller. */
static void keep_floor(yk_controller *c, double error, bool good, bool forced)
{
    c->futile = forced ? c->futile + 1 : 0;
    if (good) c->floor *= FADING;
    c->least = c->futile <= 1 ? error : fmin(c->least, error);
    if (c->futile < FUTILE_STEPS || !isfinite(c->least)) return;
    c->floor = c->least;
    c->futile = 0;
}

static void count_step(yk_system *system, double h, const yk_step_report *report)
{
    yk_system_statistics *s = &system->statistics;
    s->steps++;
    s->iterations += report->iterations;
    s->steps_halved += report->halved;
    if (report->iterations > s->largest_iterations) s->largest_iterations = report->iterations;
    if (s->steps == 1 || h < s->smallest_step) s->smallest_step = h;
    if (h > s->largest_step) s->largest_step = h;
}

static yk_status try_step(yk_system *system, double t, double h, yk_step_report *report, attempt *a)
{
    bool predicted = is_exact(system) && yk_index1_has_history(system);
    return predicted ? take_predicted(system, t, h, report, a) : take_twice(system, t, h, report, a);
}

/* The size to try first: as proposed, without leaving a sliver at the end. */
static double first_size(const yk_system *system, double room)
{
    double h = system->control.proposal;
    if (h >= room * (1 - SLIVER)) return room;
    return h > room / 2 ? room / 2 : h;
}

static void propose(yk_controller *c, double h, double next, double proposed)
{
    /* A step that was cut to end somewhere says nothing against the size that was proposed before. */
    if (next >= h && proposed > next) next = proposed;
    if (next > h && next < NOTABLE_GROWTH * h) next = h;
    c->proposal = fmin(c->def.largest, fmax(c->def.smallest, next));
}

/* Whether iterations left so much of a wrench that the step is none. */
static bool is_far_off(const yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!(interface->residual <= FAR_OFF * yk_wrench_size(interface->kind, &interface->applied))) return true;
    }
    return false;
}

static yk_status never_converges(yk_system *system, double t, const yk_step_report *report)
{
    bool plain = system->scheme.acceleration != YK_ACCELERATION_QUASI_NEWTON;
    const char *accelerated =
        system->scheme.kind == YK_SCHEME_TIGHT && plain ? "coupling.acceleration quasi-newton or " : "";
    return yk_fail(
        system->context, YK_ERROR_DIVERGED,
        "at t = %g s the iterations of scheme %s do not converge, and no step mends that: at the smallest one "
        "(%g s) the interface wrenches still change by %g (N, N m); use %scoupling.scheme index1, or exchange the "
        "sides (`between`): the one that takes the motion cannot give way to a wall",
        t, yk_system_scheme_name(system), system->control.def.smallest, report->wrench_change, accelerated);
}

/* From t over `room` at most; the size that was taken is left in system->h, or in two halves of it. */
static yk_status controlled_step(yk_system *system, double t, double room, double *taken, yk_step_report *report)
{
    yk_controller *c = &system->control;
    double h = first_size(system, room), proposed = c->proposal, last_h = 0, last_error = 0;
    yk_system_state_get(system, c->image);
    for (int i = 0; i < system->interface_count; i++) system->interfaces[i].kept = system->interfaces[i].statistics;
    for (;;) {
        attempt a = {0};
        yk_status status = try_step(system, t, h, report, &a);
        if (status < 0 && !yk_step_can_be_mended(status)) return status;
        bool failed = status < 0, smallest = h <= c->def.smallest * (1 + SLIVER);
        if (failed && smallest) return status;
        if (!failed && last_error > 1) learn_order(c, h, a.error, last_h, last_error);

        /* Iterations that ended at their limit show in the error as far as they matter. */
        double allowed = fmax(1, ABOVE_FLOOR * c->floor);
        bool good = !failed && a.error <= 1, tolerable = !failed && a.error <= allowed;
        double next = h * factor_for(&a, failed, allowed);
        bool give_up = is_far_off(system) || c->futile + 1 >= FUTILE_STEPS;
        if (status == YK_NOT_CONVERGED && !tolerable && smallest && give_up)
            return never_converges(system, t + h, report);
        if (tolerable || smallest) {
            *taken = h;
            if (last_h > 0) next = fmin(next, h); /* no growth where a larger step has just failed */
            propose(c, h, next, last_h > 0 ? h : proposed);
            keep_floor(c, a.error, good, !tolerable);
            system->statistics.steps_forced += !good;
            if (!tolerable && system->index1) yk_index1_jump(system);
            return status;
        }

        system->statistics.steps_rejected++;
        yk_status restored = take_back(system);
        if (restored < 0) return restored;
        last_h = h, last_error = failed ? 0 : a.error;
        h = fmax(c->def.smallest, fmin(next, SAFETY * h));
    }
}

/* From one count of the clock to the next --------------------------------------------------------------------------- */

/* The next event after t that a participant announces. Those that follow each other within a macro step, such as samples of
 * a fast controller, are the participant's own affair. */
static double announced_event(const yk_system *system, const yk_participant *m, double t)
{
    if (!m->subsystem->ops->events) return INFINITY;
    double event = m->subsystem->ops->events->next(m->subsystem, t);
    if (!isfinite(event)) return INFINITY;
    double following = m->subsystem->ops->events->next(m->subsystem, event * (1 + DBL_EPSILON));
    return following - event > system->step * (1 + SLIVER) ? event : INFINITY;
}

/* The next event after t, if it comes before the end of the step; otherwise the end. */
static double next_stop(const yk_system *system, double t, double end, bool *event)
{
    const yk_step_control *def = &system->control.def;
    double sliver = SLIVER * system->step, next = INFINITY;
    int listed = 0;
    while (listed < def->event_count && def->events[listed] <= t + sliver) listed++;
    if (listed < def->event_count) next = def->events[listed];
    for (int i = 0; i < system->participant_count; i++)
        next = fmin(next, announced_event(system, &system->participants[i], t + sliver));
    *event = next <= end + sliver;
    return *event && next < end - sliver ? next : end;
}

/* Steps end a few digits before an event and go on at it, so that functions of time are taken on its own side by both. */
static double just_before(const yk_system *system, double event)
{
    return 16 * DBL_EPSILON * fmax(fabs(event), system->step);
}

static void report_unconverged(yk_system *system, double t, double h, const yk_step_report *report)
{
    yk_system_statistics *statistics = &system->statistics;
    if (statistics->steps_not_converged++ == 0) {
        statistics->first_not_converged = t;
        statistics->worst_not_converged = system->relaxed ? system->relaxed->source : 0;
    }
    statistics->time_not_converged += h;
    if (system->relaxed) statistics->residual_not_converged += system->relaxed->left;
    if (system->relaxed) return; /* has named the part and the remedy */
    yk_fail(
        system->context, YK_NOT_CONVERGED,
        "at t = %g s the scheme %s did not converge in %d iterations: the interface wrenches still change by %g (N, "
        "N m), the tolerance is %g; use %s",
        t, yk_system_scheme_name(system), report->iterations - 1, report->wrench_change, system->scheme.tolerance,
        system->scheme.kind == YK_SCHEME_TIGHT && system->scheme.acceleration != YK_ACCELERATION_QUASI_NEWTON
            ? "coupling.acceleration quasi-newton"
            : "more coupling.iterations or a smaller time.step");
}

/* One step that is taken, and the books. */
static yk_status take_step(yk_system *system, double t, double room, double *taken, yk_step_report *report)
{
    yk_step_report part = {0};
    yk_system_keep_start(system);
    *taken = room;
    yk_status status =
        is_controlled(system) ? controlled_step(system, t, room, taken, &part) : take_part(system, t, room, &part);
    if (status < 0) return status;
    yk_system_observe(system);
    yk_system_keep_earlier(system);
    count_step(system, *taken, &part);
    if (status == YK_NOT_CONVERGED) report_unconverged(system, t + *taken, *taken, &part);
    report->iterations += part.iterations;
    report->halved = report->halved || part.halved;
    report->wrench_change = part.wrench_change;
    return status;
}

yk_status yk_system_step(yk_system *system, yk_step_report *report)
{
    yk_step_report own;
    if (!report) report = &own;
    *report = (yk_step_report){0};
    double begin = yk_system_time(system), t = begin;
    double end = system->start + (double)(system->step_count + 1) * system->step;
    yk_status worst = YK_OK;
    while (t < end) {
        bool event;
        double stop = next_stop(system, t, end, &event), taken;
        double room = t == begin && stop == end ? system->step : stop - t;
        if (event) room -= just_before(system, stop);
        yk_status status = take_step(system, t, room, &taken, report);
        if (status < 0) return status;
        if (status > worst) worst = status;
        bool there = taken == room;
        t = there ? stop : t + taken;
        if (there && event && system->index1) yk_index1_jump(system);
    }
    system->step_count++;
    return worst;
}
