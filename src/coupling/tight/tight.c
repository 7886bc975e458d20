/* The tight scheme: the macro step is repeated until the interface wrenches converge (Zhang et al.
 * 2020, section 3.1, figure 3).
 *
 * In each sweep the motion sides step with the motion that the wrench sides last reached (the
 * predicted motion in the first sweep), and the wrench sides with the resulting reaction wrenches.
 * Wrench sides with single iterations make one iteration of their own solver per sweep; the others
 * are rolled back and step again. Without repetitions this is the loose scheme (figure 4). With an
 * acceleration the sweeps are those of accelerated.c. A step that does not converge can be divided
 * into halves. */
#include "coupling/tight/tight.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "coupling/loops.h"
#include "coupling/participant.h"
#include "coupling/scheme_options.h"
#include "coupling/step_frame.h"

/* Inputs --------------------------------------------------------------------------------------- */

/* The motion input. A side that makes several steps, or follows polynomials in one step, receives a
 * cubic. A side that makes fewer steps than its partner receives the position that the velocity of
 * A leads to: prescribing positions alone would leave an unstable mode (spectral radius 2.2 at
 * equal masses). */
void yk_tight_motion_input(const yk_tight *x, yk_system *system, int number, const yk_motion *end)
{
    yk_interface *interface = &system->interfaces[number];
    const yk_motion *start = yk_before_a(system, interface);
    yk_input *input = yk_input_b(system, interface);
    interface->origin = end->position;
    if (x->weights) {
        yk_input_modified(interface->kind, interface->def.constrained_axes, x->weights, system->h,
                          start, yk_before_b(system, interface), end, input);
        return;
    }

    /* Whether a participant resolves variations within the macro step. */
    bool a_inside = x->looks_inside[interface->def.wrench_subsystem.index];
    bool b_inside = x->looks_inside[interface->def.motion_subsystem.index];
    bool iterates = x->options.max_iterations > 0;
    bool slower = a_inside && !b_inside;
    if (b_inside && iterates)
        yk_input_cubic(interface->kind, system->h, start, end, input);
    else if (x->options.prescribed_velocity == YK_PRESCRIBED_VELOCITY_PARTNER ||
             (slower && iterates))
        yk_input_original(interface->kind, start, end, input);
    else
        yk_input_interpolated(interface->kind, system->h, start, end, input);
}

/* The wrench input if one of the sides makes several steps. A solver returns the wrench at the end
 * of its step, so the mean over n steps of B belongs to the time H (1 + 1/n) / 2. A line through it
 * and through the mean of the previous macro step is of second order wherever A evaluates it, and
 * the total impulse on A is the sum of the means, because the slopes cancel from one macro step to
 * the next. */
void yk_tight_wrench_input(const yk_tight *x, const yk_system *system, int number)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_interface_def *def = &interface->def;
    yk_input *input = yk_input_a(system, interface);

    /* Neither side resolves the macro step: the wrench is constant, as in Zhang et al. 2020. */
    bool a_inside = x->looks_inside[def->wrench_subsystem.index];
    bool b_inside = x->looks_inside[def->motion_subsystem.index];
    if ((!a_inside && !b_inside) || x->options.max_iterations == 0) {
        yk_input_constant(interface->kind, &interface->applied, input);
        return;
    }

    /* The line through the means of this macro step and of the last one. */
    const yk_participant *b = yk_interface_b(system, interface);
    double fraction = 0.5 + 0.5 / b->substeps;
    double at = fraction * system->h;
    double last = 0;
    if (b->substeps > 1)
        last = b->earlier_step;
    double since = at + (1 - fraction) * last;
    yk_input_line(interface->kind, &interface->applied, at, &x->before[number], since, input);
}

void yk_tight_wrench_inputs(const yk_tight *x, yk_system *system, int participant)
{
    const yk_participant *p = &system->participants[participant];
    for (int k = 0; k < p->joined_count; k++) {
        const yk_interface *interface = &system->interfaces[p->joined[k]];
        if (yk_is_wrench_side(interface, participant))
            yk_tight_wrench_input(x, system, p->joined[k]);
    }
}

/* Save the wrenches before the step, from which lines begin. */
static void keep_wrenches(yk_tight *x, const yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_port_value *b = yk_value_b(system, interface);
        yk_vec3 origin = yk_before_a(system, interface)->position;
        x->before[i] = yk_wrench_opposite(interface->kind, b, origin);
    }
}

/* Plain sweeps --------------------------------------------------------------------------------- */

void yk_tight_set_wrenches(const yk_tight *x, yk_system *system, int participant, bool first,
                           bool *converged, double *change)
{
    yk_participant *p = &system->participants[participant];
    if (p->wrench_size == 0)
        return;

    yk_system_pack_wrenches(system, participant);

    const double *fresh = p->fresh;
    for (int k = 0; !first && k < p->joined_count; k++) {
        yk_interface *interface = &system->interfaces[p->joined[k]];
        if (!yk_is_wrench_side(interface, participant))
            continue;

        /* The change since the last sweep, compared with the tolerance. */
        yk_port_kind kind = interface->kind;
        yk_wrench wrench;
        fresh = yk_wrench_unpack(kind, fresh, &wrench);
        yk_wrench difference = yk_wrench_combine(kind, &wrench, -1, &interface->applied);
        double size = yk_wrench_size(kind, &difference);
        if (size > *change)
            *change = size;

        double limit = x->options.tolerance;
        limit += x->options.relative_tolerance * yk_wrench_size(kind, &wrench);
        interface->residual = 0;
        if (!(size <= limit)) {
            interface->residual = size;
            *converged = false;
        }
    }

    yk_system_apply_wrenches(system, participant, p->fresh);
    if (x->options.max_iterations > 0)
        yk_tight_wrench_inputs(x, system, participant);
}

/* Sweeps over all participants until no wrench changes, or the limit is reached (figure 3). */
static yk_status tight_iterate(const yk_tight *x, yk_system *system, yk_step_report *report)
{
    int limit = x->options.max_iterations;
    if (limit > 0)
        yk_system_save_participants(system);

    bool converged = false;
    bool last = false;
    double change = 0;
    int sweeps = 0;

    while (!converged && !last) {
        bool first = sweeps == 0;
        last = sweeps == limit;
        sweeps++;
        converged = !first;
        change = 0;

        for (int index = 0; index < system->participant_count; index++) {
            int participant = system->sequence[index];

            /* Motions from the last sweep; in the first sweep, predicted motions. */
            const yk_participant *p = &system->participants[participant];
            for (int k = 0; k < p->joined_count; k++) {
                int i = p->joined[k];
                const yk_interface *interface = &system->interfaces[i];
                if (!yk_is_motion_side(interface, participant))
                    continue;

                const yk_motion *end = &yk_value_a(system, interface)->motion;
                yk_motion predicted;
                if (first && interface->a_index >= interface->b_index) {
                    yk_motion_history_predict(x->history, system, i, &predicted);
                    end = &predicted;
                }

                yk_tight_motion_input(x, system, i, end);
            }

            /* Apply reaction wrenches, and signals. */
            yk_tight_set_wrenches(x, system, participant, first, &converged, &change);
            double signal_change = yk_system_update_signals(system, participant);

            /* After the last wrench side no other wrench side needs a repetition. */
            if (!first && index <= x->last_wrench_index)
                converged = converged && signal_change <= YK_TIGHT_SIGNAL_TOLERANCE;
            bool final = last || (converged && index >= x->last_wrench_index);

            /* Make one iteration of its own solver (the final step closes its trial), or the whole
             * step again. */
            yk_status status = YK_OK;
            if (x->iterates[participant] && !final) {
                status = yk_system_iterate(system, participant);
            } else {
                if (!x->iterates[participant] && !first)
                    status = yk_system_rollback_participant(system, participant);
                if (!YK_FAILED(status))
                    status = yk_system_advance_participant(system, participant);
            }

            if (YK_FAILED(status))
                return yk_system_report_failure(system, participant);
        }
    }

    report->iterations += sweeps;
    report->wrench_change = change;

    /* Only the last wrench side knows, when it is called, that the sweep has converged; close the
     * trials of the wrench sides before it here. */
    for (int index = 0; !last && index < x->last_wrench_index; index++) {
        int participant = system->sequence[index];
        if (!x->iterates[participant] || !system->participants[participant].wrench_size)
            continue;
        if (YK_FAILED(yk_system_advance_participant(system, participant)))
            return yk_system_report_failure(system, participant);
    }

    if (converged || limit == 0)
        return YK_OK;
    return YK_NOT_CONVERGED;
}

/* Steps ---------------------------------------------------------------------------------------- */

/* From t to t + h, in one step or in two halves. */
static yk_status tight_step_or_halve(yk_tight *x, yk_system *system, double t, double h,
                                     int halvings, yk_step_report *report)
{
    yk_system_begin_part(system, t, h);
    yk_status status;
    if (x->newtons)
        status = yk_tight_iterate_newton(x, system, report);
    else if (x->unknowns)
        status = yk_tight_iterate_accelerated(x, system, report);
    else if (x->options.sequence == YK_SEQUENCE_JACOBI)
        status = yk_tight_iterate_jacobi(x, system, report);
    else
        status = tight_iterate(x, system, report);
    if (status != YK_NOT_CONVERGED || halvings == 0) {
        if (!YK_FAILED(status))
            yk_motion_history_add_step(x->history, system);
        return status;
    }

    /* Return to the start of the step. */
    for (int i = 0; i < system->participant_count; i++) {
        if (YK_FAILED(yk_system_rollback_participant(system, i)))
            return yk_system_report_failure(system, i);

        yk_system_gather(&system->participants[i]);
        system->participants[i].advanced = false;
    }

    report->halved = true;

    /* Each half is a step of its own. */
    yk_status first = tight_step_or_halve(x, system, t, h / 2, halvings - 1, report);
    if (YK_FAILED(first))
        return first;

    yk_system_end_part(system);
    keep_wrenches(x, system);
    yk_status second = tight_step_or_halve(x, system, t + h / 2, h / 2, halvings - 1, report);

    if (second != YK_OK)
        return second;
    return first;
}

static yk_status tight_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    /* Balanced interfaces belong to the loose scheme. Its single sweep uses their wrenches
     * unchanged. */
    yk_tight *x = (yk_tight *)scheme;
    if (x->balance) {
        yk_status status = yk_balance_solve(x->balance, system, &yk_weights_index1, x->history);
        if (status != YK_OK)
            return status;
    }

    if (x->options.max_iterations > 0)
        keep_wrenches(x, system);
    return tight_step_or_halve(x, system, system->t, system->h, x->options.max_halvings, report);
}

/* Life ----------------------------------------------------------------------------------------- */

/* What the inputs of motion sides use of the motions of their partners at the end of the step. */
static yk_unknown_motion used_motion(const yk_tight *x)
{
    if (x->weights)
        return YK_UNKNOWN_ACCELERATION;
    if (x->options.prescribed_velocity == YK_PRESCRIBED_VELOCITY_PARTNER)
        return YK_UNKNOWN_VELOCITY;
    return YK_UNKNOWN_POSITION;
}

static void destroy_newtons(yk_tight *x, yk_context *context)
{
    for (int i = 0; x->newtons && i < x->unknowns_count; i++)
        yk_interface_newton_destroy(context, x->newtons[i]);
    yk_free(context, x->newtons);
    x->newtons = NULL;
}

/* Systems with too many interfaces for least squares: Newton's method with the sparse Jacobian, if it
 * applies to all of their unknowns. */
static yk_status use_newton(yk_tight *x, yk_system *system, const yk_unknowns_def *def)
{
    yk_context *context = system->context;
    yk_unknowns_def simultaneous = *def;
    simultaneous.simultaneous = true;
    yk_unknowns *list;
    int count;
    yk_status status = yk_unknowns_create(system, &simultaneous, &list, &count);
    bool applies = status == YK_OK;
    for (int i = 0; applies && i < count; i++)
        applies = yk_interface_newton_applies(system, &list[i]);
    if (!applies) {
        yk_unknowns_destroy(context, list, count);
        return status;
    }

    yk_unknowns_destroy(context, x->unknowns, x->unknowns_count);
    x->unknowns = list;
    x->unknowns_count = count;
    x->newtons = yk_allocate(context, (size_t)count, sizeof(yk_interface_newton *));
    if (!x->newtons)
        return YK_ERROR_MEMORY;

    for (int i = 0; status == YK_OK && i < count; i++)
        status = yk_interface_newton_create(system, &list[i], &x->newtons[i]);
    return status;
}

static yk_status tight_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    yk_context *context = system->context;
    yk_tight *x = yk_allocate(context, 1, sizeof *x);
    if (!x)
        return YK_ERROR_MEMORY;

    /* The same for tight and loose. */
    x->options = *(const yk_tight_options *)options;
    *scheme = &x->base;

    const yk_tight_options *o = &x->options;
    x->weights = yk_modified_inputs_weights(o->modified_inputs, o->alpha, o->beta, o->gamma,
                                            system->step, &x->own_weights);
    yk_status status = yk_motion_history_create(system, o->extrapolation, &x->history);
    bool jacobi = o->sequence == YK_SEQUENCE_JACOBI;
    if (status == YK_OK && jacobi)
        status = yk_system_use_threads(system, o->thread_count);
    if (status != YK_OK)
        return status;

    size_t participants = (size_t)system->participant_count;
    x->iterates = yk_allocate(context, 2 * participants, sizeof *x->iterates);
    x->before = yk_allocate(context, (size_t)system->interface_count, sizeof *x->before);
    if (!x->iterates || !x->before)
        return YK_ERROR_MEMORY;

    x->looks_inside = x->iterates + participants;

    /* Acceleration needs the dependence of the answer on the wrench, so the answer must be
     * converged. A step in parts would have to be iterated part by part, but a motion side steps as
     * a whole. */
    yk_acceleration acceleration = x->options.acceleration;

    /* Plain repetition and relaxation do not converge for algebraic loops whose gain is 1 or more. */
    if (x->options.max_iterations > 0 && yk_loops_need_iterations(system))
        acceleration = YK_ACCELERATION_QUASI_NEWTON;
    for (int i = 0; i < system->participant_count; i++) {
        /* A participant with iterations but without rollback, such as an external solver behind a
         * socket, allows plain sweeps only. */
        const yk_subsystem_ops *ops = system->participants[i].subsystem->ops;
        if (ops->iteration && !ops->rollback)
            acceleration = YK_ACCELERATION_NONE;
    }

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *p = &system->participants[i];
        bool plain = acceleration == YK_ACCELERATION_NONE && p->substeps == 1;
        x->iterates[i] = plain && p->subsystem->ops->iteration;
        x->looks_inside[i] = p->substeps > 1 || yk_subsystem_can_follow_polynomials(p->subsystem);
    }

    /* Single iterations are for pure wrench sides; after the last of them the convergence of a
     * sweep is known. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        x->iterates[interface->def.motion_subsystem.index] = false;
        if (!yk_both_take_wrench(interface) && interface->a_index > x->last_wrench_index)
            x->last_wrench_index = interface->a_index;
    }

    status = yk_balance_create(system, NULL, &x->balance);
    if (status != YK_OK)
        return status;
    if (acceleration == YK_ACCELERATION_NONE || x->options.max_iterations == 0)
        return YK_OK;

    /* One factor cannot serve several interfaces; least squares need all of them in one vector. */
    yk_unknowns_def def = {
        .kind = acceleration,
        .what = acceleration == YK_ACCELERATION_QUASI_NEWTON ? YK_UNKNOWNS_OF_JOINED
                                                             : YK_UNKNOWNS_OF_SIDES,
        .motion = used_motion(x),
        .simultaneous = jacobi,
        .tolerance = x->options.tolerance,
        .relative_tolerance = x->options.relative_tolerance,
    };

    x->options.acceleration = acceleration;
    status = yk_unknowns_create(system, &def, &x->unknowns, &x->unknowns_count);
    if (status != YK_OK || acceleration != YK_ACCELERATION_QUASI_NEWTON ||
        !yk_unknowns_exceed_columns(x->unknowns, x->unknowns_count))
        return status;
    return use_newton(x, system, &def);
}

static void tight_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_tight *x = (yk_tight *)scheme;
    yk_balance_destroy(x->balance, system);
    yk_motion_history_destroy(x->history, system);
    destroy_newtons(x, system->context);
    yk_unknowns_destroy(system->context, x->unknowns, x->unknowns_count);
    yk_free(system->context, x->iterates);
    yk_free(system->context, x->before);
    yk_free(system->context, x);
}

static yk_status tight_initialize(yk_scheme *scheme, yk_system *system)
{
    yk_tight *x = (yk_tight *)scheme;
    yk_motion_history_restart(x->history);
    for (int i = 0; i < x->unknowns_count; i++) {
        yk_accelerator_restart(x->unknowns[i].accelerator);
        if (x->newtons)
            yk_interface_newton_restart(x->newtons[i]);
    }

    return yk_balance_start(x->balance, system);
}

static yk_state_layout tight_state_layout(const yk_scheme *scheme, const yk_system *system)
{
    (void)system;
    const yk_tight *x = (const yk_tight *)scheme;
    yk_state_layout layout = yk_balance_layout(x->balance);
    yk_state_layout history = yk_motion_history_layout(x->history);
    layout.word_count += history.word_count;
    layout.continuous_count += history.continuous_count;
    for (int i = 0; i < x->unknowns_count; i++)
        layout.word_count += x->newtons ? yk_interface_newton_words(x->newtons[i])
                                        : yk_accelerator_words(x->unknowns[i].accelerator);

    return layout;
}

static size_t count_opaque(const yk_motion_history *history)
{
    yk_state_layout layout = yk_motion_history_layout(history);
    return layout.word_count - layout.continuous_count;
}

static void tight_state_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                            double *opaque)
{
    (void)system;
    const yk_tight *x = (const yk_tight *)scheme;
    yk_balance_get(x->balance, &continuous, &opaque);
    yk_motion_history_get(x->history, continuous, opaque);
    opaque += count_opaque(x->history);
    /* The accelerators' data of earlier steps cannot be recomputed. */
    for (int i = 0; i < x->unknowns_count; i++) {
        if (x->newtons) {
            yk_interface_newton_get(x->newtons[i], opaque);
            opaque += yk_interface_newton_words(x->newtons[i]);
            continue;
        }

        const yk_accelerator *accelerator = x->unknowns[i].accelerator;
        yk_accelerator_get(accelerator, opaque);
        opaque += yk_accelerator_words(accelerator);
    }
}

static void tight_state_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                            const double *opaque)
{
    yk_tight *x = (yk_tight *)scheme;

    /* In the order of state_get. */
    yk_balance_set(x->balance, &continuous, &opaque);
    yk_motion_history_set(x->history, continuous, opaque);
    opaque += count_opaque(x->history);
    yk_balance_take_over(x->balance, system);
    for (int i = 0; i < x->unknowns_count; i++) {
        if (x->newtons) {
            yk_interface_newton_set(x->newtons[i], opaque);
            opaque += yk_interface_newton_words(x->newtons[i]);
            continue;
        }

        yk_accelerator *accelerator = x->unknowns[i].accelerator;
        yk_accelerator_set(accelerator, opaque);
        opaque += yk_accelerator_words(accelerator);
    }
}

static bool tight_is_valid_state(const yk_scheme *scheme, const yk_system *system,
                                 const double *continuous, const double *opaque)
{
    (void)system;
    (void)continuous;
    const yk_tight *x = (const yk_tight *)scheme;
    if (!yk_balance_is_valid(x->balance, &opaque) ||
        !yk_motion_history_is_valid(x->history, opaque))
        return false;

    opaque += count_opaque(x->history);
    for (int i = 0; i < x->unknowns_count; i++) {
        if (x->newtons) {
            if (!yk_interface_newton_is_valid(x->newtons[i], opaque))
                return false;
            opaque += yk_interface_newton_words(x->newtons[i]);
            continue;
        }

        const yk_accelerator *accelerator = x->unknowns[i].accelerator;
        if (!yk_accelerator_is_valid(accelerator, opaque))
            return false;
        opaque += yk_accelerator_words(accelerator);
    }

    return true;
}

static void tight_handle_event(yk_scheme *scheme, yk_system *system)
{
    (void)system;
    yk_motion_history_restart(((yk_tight *)scheme)->history);
    yk_balance_restart(((yk_tight *)scheme)->balance);
}

/* The schemes ---------------------------------------------------------------------------------- */

static const yk_option_choice velocity_words[] = {
    {"difference", "from the positions at both ends of the step, by SLERP for rotations"},
    {"partner", "that of the partner's marker at the end of the step"},
    {NULL, NULL},
};

#define ROW(type, field) .kind = YK_OPTION_##type, YK_MEMBER(yk_tight_options, field)
#define EXCHANGE_TEXT "exchanged quantities if nothing is repeated; default: auto"
#define EXTRAPOLATION_ROW                                                               \
    {                                                                                   \
        "motion_extrapolation", ROW(CHOICE, extrapolation),                             \
            .has_derived_default = true, .default_text = "solver",                      \
            .choices = yk_extrapolation_words,                                          \
            .description = "motion that is prescribed before the partner has stepped; " \
                           "under the scheme tight, the start of the iteration"         \
    }
#define VELOCITY_ROW                                                                            \
    {                                                                                           \
        "prescribed_velocity", ROW(CHOICE, prescribed_velocity),                                \
            .default_text = "difference", .choices = velocity_words,                            \
            .description = "the velocity that is prescribed to the sides that receive a motion" \
    }

static const yk_option weights_rows[] = {
    YK_MODIFIED_INPUTS_WEIGHTS(yk_tight_options),
};

static const yk_option_section weights_section = {
    "modified_inputs", "Weights of their own; only the ratios matter.", weights_rows};

enum { ITERATIONS_ROW, TOLERANCE_ROW, RELATIVE_ROW, ACCELERATION_ROW, TIGHT_EXCHANGE_ROW };

static const yk_option tight_rows[] = {
    [ITERATIONS_ROW] = {"max_iterations", ROW(INTEGER, max_iterations), .default_text = "20",
                        .has_derived_default = true, .range = YK_NOT_NEGATIVE,
                        .description =
                            "maximum number of repetitions of a macro step; 0 is the scheme loose. "
                            "Default: 50 with an acceleration, otherwise 20"},
    [TOLERANCE_ROW] = {"absolute_tolerance", ROW(NUMBER, tolerance), .unit = "N, N m",
                       .default_text = "1e-6", .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
                       .description =
                           "largest change of an interface wrench that counts as converged"},
    [RELATIVE_ROW] =
        {"relative_tolerance", ROW(NUMBER, relative_tolerance), .has_derived_default = true,
         .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
         .description =
             "the same, relative to the wrench. Default: 1e-9 with an acceleration, otherwise 0"},
    [ACCELERATION_ROW] = {"acceleration", ROW(CHOICE, acceleration), .default_text = "quasi-newton",
                          .choices = yk_acceleration_words,
                          .description = "acceleration of the repetitions"},
    [TIGHT_EXCHANGE_ROW] = {"exchange", ROW(CHOICE, exchange), .has_derived_default = true,
                            .choices = yk_exchange_words, .description = EXCHANGE_TEXT},
    VELOCITY_ROW,
    {"max_halvings", ROW(INTEGER, max_halvings), .default_text = "0", .range = YK_BETWEEN(0, 20),
     .description = "number of times that a step that does not converge may be halved"},
    {"sequence", ROW(CHOICE, sequence), .default_text = "gauss-seidel", .choices = yk_order_words,
     .description = "sequence of the subsystems in a repetition"},
    {"modified_inputs", ROW(FORM, modified_inputs), .default_text = "none",
     .choices = yk_modified_inputs_words, .section = &weights_section,
     .description = "motion that is prescribed, as in the scheme explicit; replaces "
                    "`prescribed_velocity`"},
    EXTRAPOLATION_ROW,
    {"threads", ROW(INTEGER, thread_count), .default_text = "1", .range = YK_BETWEEN(0, 1024),
     .only_with = {"sequence", {"jacobi"}},
     .description = "subsystems that advance at the same time; 0 is one per "
                    "core"},
    {0},
};

enum { LOOSE_EXCHANGE_ROW, LOOSE_EXTRAPOLATION_ROW };

static const yk_option loose_rows[] = {
    [LOOSE_EXCHANGE_ROW] = {"exchange", ROW(CHOICE, exchange), .has_derived_default = true,
                            .choices = yk_exchange_words,
                            .description = "exchanged quantities; default: force-motion if "
                                           "`motion_extrapolation` is given, otherwise auto"},
    [LOOSE_EXTRAPOLATION_ROW] = EXTRAPOLATION_ROW,
    VELOCITY_ROW,
    {0},
};

static const yk_scheme_variant variants[] = {
    {"tight, quasi-newton",
     YK_VARIANT_REFERENCE | YK_VARIANT_STRICTER,
     20,
     {"acceleration=quasi-newton", "absolute_tolerance=1e-12", "relative_tolerance=1e-12",
      "max_iterations=60", "max_halvings=0"}},
    {"tight", YK_VARIANT_REMEDY, 4, {"acceleration=quasi-newton"}},
    {"tight", YK_VARIANT_ANY_MASS_RATIO, 4, {"acceleration=quasi-newton", "max_iterations=50"}},
    {"tight", YK_VARIANT_CANDIDATE, 4, {"acceleration=none"}},
    {"tight, aitken", YK_VARIANT_CANDIDATE | YK_VARIANT_BASELINE, 4, {"acceleration=aitken"}},
    {"tight, quasi-newton",
     YK_VARIANT_CANDIDATE | YK_VARIANT_BASELINE,
     4,
     {"acceleration=quasi-newton"}},
    {0},
};

static unsigned tight_traits(const void *own)
{
    const yk_tight_options *o = own;
    unsigned set =
        YK_SCHEME_CARRIES_SIGNALS | YK_SCHEME_EXCHANGES_MOTION | YK_SCHEME_SHIFTS_TORQUE_POINT;

    /* Without repetitions the scheme is loose, which needs no rollback and supports balanced
     * interfaces. */
    if (o->max_iterations == 0) {
        if (o->exchange != YK_EXCHANGE_FORCE_MOTION)
            set |= YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE;
        return set;
    }

    if (o->acceleration == YK_ACCELERATION_QUASI_NEWTON)
        set |= YK_SCHEME_ACCELERATES;
    return set | YK_SCHEME_NEEDS_ROLLBACK | YK_SCHEME_ITERATES;
}

/* Default of max_iterations. An accelerated iteration may need many sweeps in its first steps, and
 * at kinks of contact and friction. */
static void tight_derive(void *own, uint64_t given)
{
    yk_tight_options *o = own;
    bool accelerated = o->acceleration != YK_ACCELERATION_NONE;
    if (accelerated && !(given >> ITERATIONS_ROW & 1))
        o->max_iterations = 50;
    if (accelerated && !(given >> RELATIVE_ROW & 1))
        o->relative_tolerance = 1e-9;
    if (!(given >> TIGHT_EXCHANGE_ROW & 1))
        o->exchange = YK_EXCHANGE_AUTO;
}

static void derive_loose(void *own, uint64_t given)
{
    if (given >> LOOSE_EXCHANGE_ROW & 1)
        return;

    /* Extrapolation applies to prescribed motions only. */
    yk_tight_options *o = own;
    o->exchange = YK_EXCHANGE_AUTO;
    if (given >> LOOSE_EXTRAPOLATION_ROW & 1)
        o->exchange = YK_EXCHANGE_FORCE_MOTION;
}

static yk_status tight_check(yk_context *context, const void *own)
{
    const yk_tight_options *o = own;
    if (o->sequence == YK_SEQUENCE_JACOBI && o->acceleration == YK_ACCELERATION_AITKEN &&
        o->max_iterations > 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "scheme tight: `acceleration: aitken` has one factor for wrenches, but in "
                       "`sequence: jacobi` motions are unknown as well; choose `acceleration: "
                       "quasi-newton` or `sequence: gauss-seidel`");
    return yk_modified_inputs_check(context, "tight", o->modified_inputs, o->alpha, o->beta,
                                    o->gamma);
}

static void tight_configure_for_trial(void *own, double tolerance)
{
    yk_tight_options *o = own;
    o->tolerance = tolerance;
    o->relative_tolerance = fmax(o->relative_tolerance, 1e-6);
    o->thread_count = 1;
    o->max_halvings = 0;
}

static void tight_tolerances(const void *own, double *absolute, double *relative)
{
    const yk_tight_options *o = own;
    *absolute = o->tolerance;
    *relative = o->relative_tolerance;
}

static void tight_display_name(const void *own, char *text, size_t capacity)
{
    const yk_tight_options *o = own;
    const char *name = "tight";
    if (o->max_iterations == 0)
        name = "loose (tight without iterations)";
    else if (o->sequence == YK_SEQUENCE_JACOBI)
        name = "tight, jacobi";
    snprintf(text, capacity, "%s", name);
}

static yk_causality tight_second_side_causality(const void *own, const yk_port_pair *joined)
{
    const yk_tight_options *o = own;

    /* With repetitions the second side receives motion; without them, interfaces may be balanced. */
    if (o->max_iterations > 0)
        return YK_CAUSALITY_MOTION_INPUT;
    return yk_balance_second_side(o->exchange, joined);
}

/* Halved steps reset all accelerations. */
static bool tight_needs_rollback_of(const yk_scheme *scheme, const yk_system *system,
                                    int participant)
{
    (void)system;
    const yk_tight *x = (const yk_tight *)scheme;
    return !x->iterates[participant] || x->options.max_halvings > 0;
}

static const char *tight_convergence_hint(const yk_scheme *scheme)
{
    const yk_tight *x = (const yk_tight *)scheme;
    if (x->options.acceleration != YK_ACCELERATION_QUASI_NEWTON)
        return "quasi-Newton acceleration";
    return "more iterations or a smaller macro step";
}

#define OPERATIONS                                                                              \
    .size = sizeof(yk_scheme_ops), .options_size = sizeof(yk_tight_options),                    \
    .traits = tight_traits, .create = tight_create, .destroy = tight_destroy,                   \
    .initialize = tight_initialize, .step = tight_step,                                         \
    .configure_for_trial = tight_configure_for_trial, .tolerances = tight_tolerances,           \
    .display_name = tight_display_name, .second_side_causality = tight_second_side_causality,   \
    .needs_rollback_of = tight_needs_rollback_of, .convergence_hint = tight_convergence_hint,   \
    .state_layout = tight_state_layout, .state_get = tight_state_get,                           \
    .state_set = tight_state_set, .is_valid_state = tight_is_valid_state, .check = tight_check, \
    .handle_event = tight_handle_event

const yk_scheme_ops *yk_scheme_tight(void)
{
    static const yk_scheme_ops ops = {
        OPERATIONS,
        .name = "tight",
        .description = "the macro step is repeated until the interface wrenches converge",
        .options = tight_rows,
        .variants = variants,
        .derive = tight_derive,
    };

    return &ops;
}

const yk_scheme_ops *yk_scheme_loose(void)
{
    static const yk_scheme_ops ops = {
        OPERATIONS,
        .name = "loose",
        .description = "the scheme tight with `max_iterations` 0: nothing is repeated",
        .options = loose_rows,
        .derive = derive_loose,
    };

    return &ops;
}

yk_tight_options yk_tight_options_default(void)
{
    yk_tight_options own;
    yk_scheme_set_defaults(yk_scheme_tight(), &own);
    return own;
}

yk_tight_options yk_loose_default(void)
{
    yk_tight_options own;
    yk_scheme_set_defaults(yk_scheme_loose(), &own);
    return own;
}
