/* The macro clock, and macro steps of variable size.
 *
 * yk_system_step ends at the next multiple of the macro step, whatever happens in between: the clock counts whole steps,
 * and only the way from one count to the next is cut, at events and where the error asks for it. So neither the clock nor
 * the times of results depend on the control.
 *
 * Errors are those of the interface motions in one step, as velocities: a difference in position counts by the speed that
 * would make it in the step. Two estimates are used. The scheme index1 has predicted the step before it takes it, so the
 * difference costs nothing; it is the error of the prediction, which is of lower order than the result's and therefore
 * errs on the safe side. Everything else takes the step once as a whole and once in two halves, and goes on with the
 * halves. A step whose error is too large, or in which a subsystem fails, is taken back and repeated with a smaller size;
 * so impacts are found and passed with the smallest step. */
#include <float.h>
#include <math.h>

#include "coupling/index1.h"
#include "coupling/relaxed.h"
#include "math/so3.h"

static const double SAFETY = 0.9, GROWTH = 2, SHRINKAGE = 0.2;
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
    if (is_controlled(system) && system->link_count == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "step control measures the motions of interfaces, and with scheme %s there are none: set "
                       "time.tolerance to 0, or choose another scheme",
                       yk_system_scheme_name(system));
    yk_status status = check_events(context, def);
    if (status < 0 || !is_controlled(system)) return status;
    c->whole = yk_allocate(context, 2 * (size_t)system->link_count, sizeof *c->whole);
    return c->whole ? YK_OK : YK_ERROR_MEMORY;
}

void yk_controller_destroy(yk_system *system)
{
    yk_release(system->context, system->control.image);
    yk_release(system->context, system->control.whole);
}

/* Errors ----------------------------------------------------------------------------------------------------------- */

static const yk_motion *side_motion(const yk_system *system, const yk_link *link, int side)
{
    return side == 0 ? &yk_link_a(system, link)->values[link->def.effort_port].motion
                     : &yk_link_b(system, link)->values[link->def.motion_port].motion;
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

static void keep_whole(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++)
        for (int side = 0; side < 2; side++)
            system->control.whole[2 * i + side] = *side_motion(system, &system->links[i], side);
}

static void compare_with_whole(const yk_system *system, double h, double *speed, double *spin)
{
    for (int i = 0; i < system->link_count; i++)
        for (int side = 0; side < 2; side++)
            yk_motion_error(system->links[i].kind, h, &system->control.whole[2 * i + side],
                            side_motion(system, &system->links[i], side), speed, spin);
}

/* The largest velocities of the interfaces up to now. */
static void observe_speeds(yk_system *system)
{
    yk_controller *c = &system->control;
    for (int i = 0; i < system->link_count; i++) {
        for (int side = 0; side < 2; side++) {
            const yk_motion *m = side_motion(system, &system->links[i], side);
            bool scalar = system->links[i].kind == YK_PORT_SCALAR;
            raise_to(&c->speed, scalar ? fabs(m->velocity.x) : yk_v3_norm(m->velocity));
            if (!scalar) raise_to(&c->spin, yk_v3_norm(m->angular_velocity));
        }
    }
}

/* At the start also what they will have after one macro step: motion from rest has no size yet. */
static void expect_speeds(yk_system *system)
{
    yk_controller *c = &system->control;
    for (int i = 0; i < 2 * system->link_count; i++) {
        const yk_motion *m = side_motion(system, &system->links[i / 2], i % 2);
        bool scalar = system->links[i / 2].kind == YK_PORT_SCALAR;
        raise_to(&c->speed, system->step * (scalar ? fabs(m->acceleration.x) : yk_v3_norm(m->acceleration)));
        if (!scalar) raise_to(&c->spin, system->step * yk_v3_norm(m->angular_acceleration));
    }
    observe_speeds(system);
}

yk_status yk_controller_start(yk_system *system)
{
    yk_controller *c = &system->control;
    c->proposal = fmin(c->def.largest, FIRST * c->def.smallest);
    c->speed = c->spin = 0;
    expect_speeds(system);
    if (!is_controlled(system)) return YK_OK;
    double *image = yk_reallocate(system->context, c->image, system->layout.words, sizeof *image);
    if (!image) return YK_ERROR_MEMORY;
    c->image = image;
    return YK_OK;
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
    report->effort_change = part.effort_change;
    return status;
}

static yk_status take_halves(yk_system *system, double t, double h, yk_step_report *report)
{
    yk_status first = take_part(system, t, h / 2, report);
    if (first < 0) return first;
    yk_system_observe(system);
    yk_system_keep_earlier(system);
    yk_system_keep_start(system);
    yk_status second = take_part(system, t + h / 2, h / 2, report);
    return second != YK_OK ? second : first;
}

/* Back to the start of the step, as if it had not been tried. */
static yk_status take_back(yk_system *system)
{
    yk_status status = yk_system_state_set(system, system->control.image);
    if (status < 0) return status;
    yk_system_keep_start(system);
    for (int i = 0; i < system->link_count; i++) system->links[i].statistics = system->links[i].kept;
    return YK_OK;
}

/* The step as a whole, then in halves. */
static yk_status take_twice(yk_system *system, double t, double h, yk_step_report *report, attempt *a)
{
    yk_controller *c = &system->control;
    a->order = system->index1 ? system->scheme.index1.degree + 4 : 2;
    yk_status status = take_part(system, t, h, report);
    if (status != YK_OK) return status;
    keep_whole(system);
    status = take_back(system);
    if (status == YK_OK) status = take_halves(system, t, h, report);
    if (status != YK_OK) return status;
    double speed = 0, spin = 0;
    observe_speeds(system);
    compare_with_whole(system, h, &speed, &spin);
    a->error = relative_error(c, speed, spin);
    return YK_OK;
}

static yk_status take_predicted(yk_system *system, double t, double h, yk_step_report *report, attempt *a)
{
    a->order = system->scheme.index1.degree + 2;
    yk_status status = take_part(system, t, h, report);
    if (status != YK_OK) return status;
    double speed = 0, spin = 0;
    observe_speeds(system);
    yk_index1_estimate(system, &speed, &spin);
    a->error = relative_error(&system->control, speed, spin);
    return YK_OK;
}

bool yk_step_can_be_mended(yk_status status)
{
    return status == YK_NOT_CONVERGED || status == YK_ERROR_SINGULAR || status == YK_ERROR_NOT_FINITE ||
           status == YK_ERROR_DIVERGED || status == YK_ERROR_NO_SOLUTION || status == YK_ERROR_SUBSYSTEM;
}

static double factor_for(const attempt *a, bool mended)
{
    if (mended || !isfinite(a->error)) return SHRINKAGE;
    if (!(a->error > 0)) return GROWTH;
    return fmax(SHRINKAGE, fmin(GROWTH, SAFETY * pow(a->error, -1 / a->order)));
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
    bool predicted = system->index1 && yk_index1_has_history(system);
    return predicted ? take_predicted(system, t, h, report, a) : take_twice(system, t, h, report, a);
}

/* The size to try first: as proposed, without leaving a sliver at the end. */
static double first_size(const yk_system *system, double room)
{
    double h = system->control.proposal;
    if (h >= room * (1 - SLIVER)) return room;
    return h > room / 2 ? room / 2 : h;
}

static void propose(yk_system *system, double h, double next)
{
    yk_controller *c = &system->control;
    /* A step that was cut to end somewhere says nothing against the size that was proposed before. */
    if (next > h && c->proposal > next) next = c->proposal;
    c->proposal = fmin(c->def.largest, fmax(c->def.smallest, next));
}

/* From t over `room` at most; the size that was taken is left in system->h, or in two halves of it. */
static yk_status controlled_step(yk_system *system, double t, double room, double *taken, yk_step_report *report)
{
    yk_controller *c = &system->control;
    double h = first_size(system, room);
    yk_system_state_get(system, c->image);
    for (int i = 0; i < system->link_count; i++) system->links[i].kept = system->links[i].statistics;
    for (;;) {
        attempt a = {0};
        yk_status status = try_step(system, t, h, report, &a);
        if (status < 0 && !yk_step_can_be_mended(status)) return status;
        bool good = status == YK_OK && a.error <= 1, smallest = h <= c->def.smallest * (1 + SLIVER);
        double next = h * factor_for(&a, status != YK_OK);
        if (smallest && status < 0) return status;
        if (good || smallest) {
            *taken = h;
            propose(system, h, next);
            system->statistics.steps_forced += !good;
            if (!good && system->index1) yk_index1_jump(system);
            return status;
        }
        system->statistics.steps_rejected++;
        yk_status restored = take_back(system);
        if (restored < 0) return restored;
        c->proposal = h = fmax(c->def.smallest, fmin(next, h / 2));
    }
}

/* From one count of the clock to the next --------------------------------------------------------------------------- */

/* The next event after t that a member announces. Those that follow each other within a macro step, such as samples of
 * a fast controller, are the member's own affair. */
static double announced_event(const yk_system *system, const yk_member *m, double t)
{
    if (!m->subsystem->ops->next_event) return INFINITY;
    double event = m->subsystem->ops->next_event(m->subsystem, t);
    if (!isfinite(event)) return INFINITY;
    double following = m->subsystem->ops->next_event(m->subsystem, event * (1 + DBL_EPSILON));
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
    for (int i = 0; i < system->member_count; i++)
        next = fmin(next, announced_event(system, &system->members[i], t + sliver));
    *event = next <= end + sliver;
    return *event && next < end - sliver ? next : end;
}

/* Steps end a few digits before an event and go on at it, so that functions of time are taken on its own side by both. */
static double just_before(const yk_system *system, double event)
{
    return 16 * DBL_EPSILON * fmax(fabs(event), system->step);
}

static void tell_unconverged(yk_system *system, double t, double h, const yk_step_report *report)
{
    yk_system_statistics *statistics = &system->statistics;
    if (statistics->steps_not_converged++ == 0) {
        statistics->first_not_converged = t;
        statistics->worst_not_converged = system->relaxed ? system->relaxed->blamed : 0;
    }
    statistics->time_not_converged += h;
    if (system->relaxed) statistics->residual_not_converged += system->relaxed->left;
    if (system->relaxed) return; /* has named the part and the remedy */
    yk_fail(system->context, YK_NOT_CONVERGED,
            "at t = %g s the scheme %s did not converge in %d iterations: the interface efforts still change by %g (N, "
            "N m), the tolerance is %g; use %sa smaller time.step or more coupling.iterations",
            t, yk_system_scheme_name(system), report->iterations - 1, report->effort_change, system->scheme.tolerance,
            system->scheme.kind == YK_SCHEME_TIGHT ? "coupling.relaxation aitken, " : "");
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
    if (status == YK_NOT_CONVERGED) tell_unconverged(system, t + *taken, *taken, &part);
    report->iterations += part.iterations;
    report->halved = report->halved || part.halved;
    report->effort_change = part.effort_change;
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
