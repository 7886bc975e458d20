/* Creation, initialization and public steps of a coupled system.
 *
 * yk_system_step() always ends at the next multiple of the macro step. The clock counts whole macro
 * steps. Only the time between two counts is subdivided: at events, by step control
 * (step_control.c), and after failures (failure_policy.c). Therefore neither the clock nor the
 * times of results depend on subdivisions. */
#include "coupling/system.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "coupling/access.h"
#include "coupling/energy_balance.h"
#include "coupling/failure.h"
#include "coupling/interface_fixed_point.h"
#include "coupling/loops.h"
#include "coupling/merging.h"
#include "coupling/participant.h"
#include "coupling/scheme_options.h"
#include "coupling/state.h"
#include "coupling/step_control.h"
#include "coupling/step_frame.h"
#include "coupling/time_window.h"
#include "coupling/wire.h"
#include "coupling/wiring.h"

/* Fraction of the step that a step may be longer or shorter to end on the grid or an event. */
static const double SLIVER = 1e-9;

/* Creation ------------------------------------------------------------------------------------- */

/* Sets the scheme with its options, and the participants. */
static yk_status begin(yk_system *system, const yk_system_description *asked)
{
    yk_context *context = system->context;

    /* A scheme that needs interfaces has nothing to solve without them: subsystems then step
     * independently. */
    yk_scheme_def scheme = asked->scheme;
    if (!scheme.ops)
        scheme.ops = yk_scheme_at(0);
    yk_status status = yk_scheme_validate(context, &scheme);
    if (status != YK_OK)
        return status;
    if (asked->interface_count == 0 && yk_scheme_traits(&scheme) & YK_SCHEME_NEEDS_INTERFACES)
        scheme = yk_scheme_default();
    status = yk_system_copy_options(system, &scheme);
    if (status != YK_OK)
        return status;

    system->traits = yk_scheme_traits(&system->scheme_def);
    system->substep = scheme.ops->after_substep;

    /* Without merging every subsystem is a participant of its own. */
    system->subsystem_count = asked->subsystem_count;
    system->parts = yk_allocate(context, (size_t)asked->subsystem_count, sizeof *system->parts);
    if (!system->parts)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < asked->subsystem_count; i++) {
        system->parts[i].name = asked->names[i];
        system->parts[i].participant = i;
        system->parts[i].shows = true;
        system->parts[i].body_count = -1;

        yk_transform transform = yk_transform_identity();
        if (asked->transforms)
            transform = asked->transforms[i];
        system->parts[i].length = transform.length_unit;
        system->parts[i].mass = transform.mass_unit;
    }

    /* A scheme that merges has fewer participants, and a description without interfaces. */
    if (system->traits & YK_SCHEME_MERGES)
        return yk_merging_create(system, asked);
    return YK_OK;
}

static yk_status build(yk_system *system, const yk_system_description *asked)
{
    yk_status status = begin(system, asked);
    if (status != YK_OK)
        return status;

    /* The wiring is created before the scheme, which reads it. Requirements on the participants are
     * checked last. */
    const yk_system_description *def = asked;
    if (system->merging)
        def = &system->merging->reduced;
    status = yk_wiring_create(system, def);
    if (status != YK_OK)
        return status;

    status = yk_system_create_scheme(system);
    if (status != YK_OK)
        return status;

    status = yk_controller_create(system, &def->control);
    if (status != YK_OK)
        return status;

    status = yk_policy_create(system, &asked->on_failure);
    if (status != YK_OK)
        return status;

    status = yk_windows_check(system);
    if (status != YK_OK)
        return status;

    status = yk_inputs_create(system, asked);
    if (status != YK_OK)
        return status;

    status = yk_channel_table_create(system->context, &system->channels);
    if (status != YK_OK)
        return status;

    /* Now it is known which participants must support rollback. */
    return yk_system_check_rollback(system);
}

yk_status yk_system_make(yk_context *context, const yk_system_description *def, yk_system **system)
{
    /* Requirements that involve several parts of the system. */
    *system = NULL;
    if (def->subsystem_count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a system needs at least one subsystem");
    if (!(def->step > 0) || !isfinite(def->step) || !isfinite(def->start))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "the macro step is %g s from %g s on, must be positive and finite",
                       def->step, def->start);

    yk_system *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->start = def->start;
    made->step = def->step;
    made->h = def->step;
    made->failure = (yk_failure){.subsystem = {-1}, .interface = {-1}};

    /* Destroys a system that may be incomplete. */
    yk_status status = build(made, def);
    if (status != YK_OK) {
        yk_system_destroy(made);
        return status;
    }

    *system = made;
    return YK_OK;
}

yk_status yk_system_make_copy(yk_context *context, const yk_system_description *def, int subsystem,
                              yk_subsystem **copy)
{
    /* Merges a subsystem without creating the rest of the system. */
    *copy = NULL;
    yk_system *system = yk_allocate(context, 1, sizeof *system);
    if (!system)
        return YK_ERROR_MEMORY;

    system->context = context;
    yk_status status = begin(system, def);
    if (status == YK_OK && system->merging)
        *copy = yk_merging_take(system, subsystem);
    if (status == YK_OK && !*copy)
        status = yk_fail(context, YK_ERROR_ARGUMENT, "subsystem '%s' is not merged with others",
                         def->names[subsystem]);

    yk_system_destroy(system);
    return status;
}

void yk_system_destroy(yk_system *system)
{
    if (!system)
        return;

    /* In the reverse order of creation. */
    yk_context *context = system->context;
    yk_pool_destroy(system->pool);
    yk_policy_destroy(system);
    if (system->scheme)
        system->scheme->ops->destroy(system->scheme, system);
    yk_controller_destroy(system);
    yk_wiring_destroy(system);
    yk_merging_destroy(system);
    yk_free(context, system->options);
    yk_free(context, system->option_items);
    yk_channel_table_destroy(system->channels);
    yk_free(context, system->inputs);
    yk_free(context, system->pending.list);
    yk_free(context, system->parts);
    yk_free(context, system->scratch);
    yk_free(context, system->window);
    for (int i = 0; i < system->owned_count; i++)
        system->owned[i]->ops->destroy(system->owned[i]);
    yk_free(context, system->owned);
    yk_free(context, system);
}

/* Steps ---------------------------------------------------------------------------------------- */

double yk_system_time(const yk_system *system)
{
    return system ? system->start + (double)system->step_count * system->step : NAN;
}

int64_t yk_system_step_count(const yk_system *system)
{
    return system ? system->step_count : 0;
}

/* The next event after t, if it comes before the end of the step; otherwise the end. */
static double next_stop(const yk_system *system, double t, double end, bool *event)
{
    const yk_step_control *control = &system->control.def;
    double sliver = SLIVER * system->step;

    /* Events listed in the def ... */
    double next = INFINITY;
    int listed = 0;

    while (listed < control->event_time_count && control->event_times[listed] <= t + sliver)
        listed++;
    if (listed < control->event_time_count)
        next = control->event_times[listed];

    /* ... and events announced by subsystems. If these follow each other within a macro step, such
     * as samples of a fast controller, they are handled by the subsystem alone. */
    for (int i = 0; i < system->participant_count; i++) {
        const yk_subsystem *subsystem = system->participants[i].subsystem;
        const yk_event_ops *events = subsystem->ops->events;
        if (!events)
            continue;

        double own = events->next_time(subsystem, t + sliver);
        if (!(own < next) || own > end + sliver)
            continue;

        double following = events->next_time(subsystem, own * (1 + DBL_EPSILON));
        if (following - own > system->step * (1 + SLIVER))
            next = own;
    }

    /* An event at the end of the step does not subdivide it. */
    *event = next <= end + sliver;
    if (*event && next < end - sliver)
        return next;
    return end;
}

/* Steps from one count of the clock to the next. */
static yk_status make_step(yk_system *system, yk_step_report *report)
{
    *report = (yk_step_report){0};

    /* Multiply the counts instead of adding steps, so that the clock does not drift. */
    double begin = yk_system_time(system);
    double end = system->start + (double)(system->step_count + 1) * system->step;
    double t = begin;
    yk_status worst = YK_OK;
    yk_system_statistics *s = &system->statistics;

    while (t < end) {
        /* Up to the next event or to the end of the macro step. */
        bool event;
        double stop = next_stop(system, t, end, &event);
        double left = stop - t;
        if (t == begin && stop == end)
            left = system->step;

        /* Steps end slightly before an event and the next one starts at it, so that both evaluate
         * functions of time on their own side of the event. */
        if (event)
            left -= 16 * DBL_EPSILON * fmax(fabs(stop), system->step);

        /* Take the whole remainder, or the part that step control and the failure policy choose. */
        yk_step_report part = {0};
        double taken;
        yk_system_keep_start(system);
        yk_status status = yk_policy_step(system, t, left, &taken, &part);
        if (YK_FAILED(status))
            return status;
        if (status > worst)
            worst = status;

        /* The step is accepted; update the statistics. */
        yk_system_keep_step(system);
        s->steps++;
        s->iterations += part.iterations;
        s->steps_halved += part.halved;
        if (part.iterations > s->max_iterations)
            s->max_iterations = part.iterations;
        if (s->steps == 1 || taken < s->min_step)
            s->min_step = taken;
        if (taken > s->max_step)
            s->max_step = taken;
        report->iterations += part.iterations;
        report->halved = report->halved || part.halved;
        report->wrench_change = part.wrench_change;

        /* Add the residual if iterations ended at their limit. */
        if (status == YK_NOT_CONVERGED) {
            if (s->steps_not_converged++ == 0) {
                s->first_not_converged_time = t + taken;
                s->worst_subsystem = part.worst_subsystem;
            }

            s->time_not_converged += taken;
            s->residual_not_converged += part.residual;
            if (!part.has_message)
                yk_system_report_not_converged(system, t + taken, &part);
        }

        /* The step ended early: continue from there. */
        if (taken != left) {
            t += taken;
            continue;
        }

        t = stop;
        if (event)
            yk_system_announce_event(system);
    }

    system->step_count++;
    s->last_iterations = report->iterations;
    return worst;
}

/* A macro step that an external coupling library may repeat. */
static yk_status make_windowed_step(yk_system *system, yk_step_report *report)
{
    if (!system->window)
        return make_step(system, report);

    /* The external library limits its own iterations. */
    int iterations = 0;
    yk_windows_keep(system);
    yk_status status = make_step(system, report);
    while (!YK_FAILED(status) && yk_windows_repeat(system)) {
        iterations += report->iterations;
        status = yk_windows_return(system);
        if (!YK_FAILED(status))
            status = make_step(system, report);
    }

    /* Report the iterations of the last repetition. */
    yk_system_statistics *s = &system->statistics;
    report->iterations += iterations;
    s->iterations += iterations;
    s->last_iterations = report->iterations;
    if (report->iterations > s->max_iterations)
        s->max_iterations = report->iterations;
    return status;
}

/* Calls a callback of the program. The result is YK_OK, YK_INTERRUPTED or an error. */
static yk_status call_back(yk_system *system, const yk_step_callback *callback, const char *name)
{
    if (!callback->call)
        return YK_OK;

    yk_status status = callback->call(callback->user, system, yk_system_time(system));
    if (status == YK_OK || status == YK_INTERRUPTED || YK_FAILED(status))
        return status;
    return yk_fail(
        system->context, YK_ERROR_ARGUMENT,
        "the function %s returned '%s' at t = %g s, must return YK_OK, YK_INTERRUPTED or "
        "an error",
        name, yk_status_text(status), yk_system_time(system));
}

static yk_status step_with_callbacks(yk_system *system, yk_step_report *report)
{
    system->phase = YK_PHASE_BEFORE_STEP;
    yk_status status = call_back(system, &system->before_step, "before_step");
    system->phase = YK_PHASE_STEP;
    if (status == YK_OK)
        status = make_windowed_step(system, report);

    /* The function is called again before the next attempt. */
    if (status == YK_INTERRUPTED || YK_FAILED(status)) {
        yk_system_drop_callback_wrenches(system);
        return status;
    }

    yk_system_clear_wrenches(system);
    system->phase = YK_PHASE_AFTER_STEP;
    yk_status outcome = call_back(system, &system->after_step, "after_step");
    return outcome == YK_OK ? status : outcome;
}

yk_status yk_system_step(yk_system *system, yk_step_report *report)
{
    if (!yk_system_has_started(system, __func__))
        return YK_ERROR_ARGUMENT;
    if (system->phase != YK_PHASE_IDLE)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "%s: a function that runs before or after a step cannot step the system",
                       __func__);

    yk_step_report own;
    if (!report)
        report = &own;
    yk_status status = step_with_callbacks(system, report);
    system->phase = YK_PHASE_IDLE;
    return status;
}

/* Steps to the first macro step that ends at or after `end`. */
static yk_status step_until(yk_system *system, double end)
{
    /* A step that ends at most a rounding error before `end` is the last one. */
    yk_status worst = YK_OK;
    double last = end - SLIVER * system->step;
    while (yk_system_time(system) < last) {
        if (yk_context_should_stop(system->context))
            return YK_INTERRUPTED;

        yk_status status = yk_system_step(system, NULL);
        if (YK_FAILED(status) || status == YK_INTERRUPTED)
            return status;
        if (status > worst)
            worst = status;
    }
    return worst;
}

yk_status yk_system_run_until(yk_system *system, double end)
{
    if (!yk_system_has_started(system, __func__))
        return YK_ERROR_ARGUMENT;
    if (!isfinite(end))
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: the end is %g s, must be finite",
                       __func__, end);
    return step_until(system, end);
}

yk_status yk_system_run(yk_system *system, double end)
{
    if (!system)
        return YK_ERROR_ARGUMENT;
    if (!isfinite(end))
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: the end is %g s, must be finite",
                       __func__, end);

    yk_status start = yk_system_initialize(system);
    if (YK_FAILED(start))
        return start;
    yk_status status = step_until(system, end);
    return status == YK_OK ? start : status;
}

/* Initialization ----------------------------------------------------------------------------------
 *
 * Initializes every participant by itself, then finds initial wrenches and accelerations that agree
 * with each other, as the scheme requires. Without them the first step would be of lower order. */

/* Largest number of iterations of a consistent start, and its tolerance. */
enum { START_ITERATIONS = 100 };
static const double START_TOLERANCE = 1e-12;

static yk_status start_participant(yk_system *system, int participant, const yk_input *inputs)
{
    yk_participant *p = &system->participants[participant];
    double h = system->h / p->substeps;
    p->status = p->subsystem->ops->initialize(p->subsystem, system->start, h, inputs);
    if (YK_FAILED(p->status) && inputs)
        return yk_system_report_failure(system, participant);

    /* The failure of a participant during its own initialization is not caused by the coupling. */
    if (YK_FAILED(p->status)) {
        system->failure = (yk_failure){.status = p->status,
                                       .time = system->start,
                                       .subsystem = {participant},
                                       .interface = {-1},
                                       .is_cause_known = true};
        return yk_fail(system->context, p->status,
                       "at t = %g s (before the first step) subsystem '%s' failed: %s",
                       system->start, p->name, yk_participant_message(p));
    }

    /* Report a warning of the first initialization; later initializations repeat it. */
    if (p->status != YK_OK && !inputs)
        yk_log(system->context, YK_LOG_WARNING, "subsystem '%s': %s", p->name,
               yk_participant_message(p));

    yk_system_gather(p);
    return YK_OK;
}

static yk_status start_with_inputs(yk_system *system, int participant, void *user)
{
    (void)user;
    yk_wires_carry_start(system, participant);
    return start_participant(system, participant, yk_system_inputs(system, participant));
}

yk_status yk_system_start_participant(yk_system *system, int participant)
{
    const yk_loop *loop = system->participants[participant].loop;
    if (loop && loop->solvable)
        return yk_loops_start(system, participant, start_with_inputs);
    return start_with_inputs(system, participant, NULL);
}

yk_status yk_system_start_joined_loops(yk_system *system)
{
    return yk_loops_start_joined(system, start_with_inputs);
}

/* Initializes a participant with the present wrenches on it, and with the present motion of the
 * partners that it follows. */
static yk_status start_side(yk_system *system, int participant, void *user)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (!yk_is_motion_side(interface, participant))
            continue;

        /* In a cycle the acceleration of A is an unknown, like the wrenches. */
        yk_motion a = yk_value_a(system, interface)->motion;
        if (interface->lagged) {
            a.acceleration = interface->given.acceleration;
            a.angular_acceleration = interface->given.angular_acceleration;
        }

        interface->origin = a.position;
        yk_input_taylor(interface->kind, &a, yk_input_b(system, interface));
    }

    return start_with_inputs(system, participant, user);
}

/* Wrench sides first, each with the wrench applied to it; then motion sides with the resulting
 * acceleration. */
static yk_status start_sweep(yk_system *system)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->wrench_sequence[index];
        yk_status status;
        if (system->participants[participant].loop)
            status = yk_loops_start(system, participant, start_side);
        else
            status = start_side(system, participant, NULL);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

yk_status yk_system_initialize_wrenches(yk_system *system)
{
    if (system->interface_count + system->wire_count == 0)
        return YK_OK;

    /* The iteration starts with zero wrenches. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (yk_both_take_wrench(interface))
            continue;

        const yk_wrench none = {{0, 0, 0}, {0, 0, 0}};
        interface->given = yk_value_a(system, interface)->motion;
        yk_system_apply_wrench(system, i, &none);
    }

    /* Fixed-point iterations of wrenches and signals, with acceleration. In the first sweep, wires
     * may have values from before the start of their sources. */
    double change = 0;
    for (int iteration = 0; iteration < START_ITERATIONS; iteration++) {
        yk_status status = start_sweep(system);
        if (status != YK_OK)
            return status;

        change = yk_wires_start_change(system);
        for (int i = 0; i < system->start_unknowns_count; i++) {
            yk_unknowns *w = &system->start_unknowns[i];
            yk_unknowns_read(system, w);

            /* Difference of H(x) and x, relative to the wrenches. */
            double difference = 0;
            double size = 0;
            for (int k = 0; k < w->size; k++) {
                difference += fabs(w->fresh[k] - w->applied[k]);
                size += fabs(w->fresh[k]);
            }

            change = fmax(change, difference / (1 + size));

            /* Apply the reaction wrenches of the motion sides to the wrench sides. */
            if (iteration == 0)
                yk_accelerator_restart(w->accelerator);
            yk_accelerator_next(w->accelerator, w->applied, w->fresh, w->next);
            yk_unknowns_apply(system, w, w->next);
        }

        bool settled = iteration > 0 || system->wire_count == 0;
        if (settled && change <= START_TOLERANCE)
            return YK_OK;
    }

    /* The run is possible nevertheless, so this is only a warning. */
    yk_log(system->context, YK_LOG_WARNING,
           "the initial wrenches and signals did not settle (relative change %g); the first steps "
           "are less accurate",
           change);
    return YK_OK;
}

static yk_status start_system(yk_system *system)
{
    /* Reset the clock and all statistics. */
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
        memset(system->interfaces[i].slip, 0, sizeof system->interfaces[i].slip);
    }

    yk_system_announce_states(system);

    /* Each participant by itself. Check the gaps before the assembly of merged parts or a motion
     * side that moves to its prescribed position closes them. */
    yk_status status = YK_OK;
    if (system->merging)
        status = yk_merging_check_start(system);
    for (int i = 0; status == YK_OK && i < system->participant_count; i++)
        status = start_participant(system, i, NULL);
    if (status != YK_OK)
        return status;

    system->started = true;
    yk_system_keep_start(system);

    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        const yk_interface_gap *gap = &interface->statistics.max_gap;

        /* The initial motions of subsystems under external control are known when they are
         * initialized. */
        if (yk_windows_meet(system, interface))
            continue;

        yk_ledger_add_gap(system, interface, system->start);
        interface->start_gap = *gap;
        status = yk_system_report_start_gap(
            system, interface->def.name, gap,
            yk_system_is_motion_prescribed(system, (yk_interface_id){i}));
        if (status != YK_OK)
            return status;
    }

    /* All together. A fallback scheme starts first, because the run begins in the state in which
     * the scheme in use leaves the subsystems. */
    status = yk_policy_start(system);
    if (status == YK_OK)
        status = system->scheme->ops->initialize(system->scheme, system);
    if (status != YK_OK)
        return status;

    /* Initialized subsystems know the size of their states. */
    status = yk_system_prepare_states(system);
    if (status != YK_OK)
        return status;

    status = yk_controller_start(system);
    if (status != YK_OK)
        return status;

    status = yk_windows_start(system);
    if (status != YK_OK)
        return status;

    /* Initial gaps and energies. */
    for (int i = 0; i < system->interface_count; i++)
        yk_ledger_add_gap(system, &system->interfaces[i], system->start);

    yk_ledger_start(system);

    /* The wrenches that a rollback to the start restores. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        if (!p->mean_wrenches)
            continue;

        for (int port = 0; port < p->port_count; port++)
            p->mean_wrenches[port] = p->values[port].wrench;
    }

    return YK_OK;
}

yk_status yk_system_initialize(yk_system *system)
{
    if (!system)
        return YK_ERROR_ARGUMENT;
    if (system->phase != YK_PHASE_IDLE)
        return yk_fail(
            system->context, YK_ERROR_ARGUMENT,
            "%s: a function that runs before or after a step cannot initialize the system",
            __func__);

    /* A failed start leaves inconsistent states. */
    yk_system_clear_wrenches(system);
    system->started = false;
    yk_status status = start_system(system);
    if (YK_FAILED(status))
        system->started = false;
    return status;
}
