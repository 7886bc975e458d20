/* The explicit scheme: each subsystem makes one step per macro step (Zhang et al. 2022, section
 * 3.1, figure 2).
 *
 * Gauss-Seidel: the motion side of an interface makes its step first, with the predicted motion of
 * the wrench side; the wrench side follows with the reaction wrench of this motion. Jacobi: all
 * subsystems step at the same time, and wrench sides use the wrench of the last step. Inputs of
 * motion sides are the original inputs (equation 20) or modified inputs (equations 25 and 26).
 * Interfaces with a wrench on both sides have their wrenches computed before any subsystem steps
 * (force_force/balance.h), in either sequence. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "coupling/extrapolation.h"
#include "coupling/force_force/balance.h"
#include "coupling/modified_inputs.h"
#include "coupling/participant.h"
#include "coupling/scheme_options.h"
#include "coupling/step_frame.h"
#include "coupling/system.h"
#include "coupling/time_window.h"

typedef struct explicit_scheme {
    yk_scheme base;
    yk_explicit_options options;
    const yk_input_weights *weights; /* NULL: original inputs */
    yk_input_weights own_weights;
    yk_balance *balance; /* NULL: no interface has a wrench on both sides. */
    yk_motion_history *history;
} explicit_scheme;

/* Steps ---------------------------------------------------------------------------------------- */

/* Applies the latest reaction wrenches to one participant. */
static inline void set_wrench_inputs(yk_system *system, int participant)
{
    const yk_participant *p = &system->participants[participant];
    if (p->wrench_size == 0)
        return;

    yk_system_pack_wrenches(system, participant);
    yk_system_apply_wrenches(system, participant, p->fresh);
}

/* Motion sides step before their wrench sides. */
static yk_status step_in_sequence(const explicit_scheme *x, yk_system *system)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];

        /* A wrench side that has not stepped yet predicts its motion. */
        const yk_participant *p = &system->participants[participant];
        for (int k = 0; k < p->joined_count; k++) {
            int i = p->joined[k];
            const yk_interface *interface = &system->interfaces[i];
            bool a_advanced = interface->a_index < index;
            if (!yk_is_motion_side(interface, participant))
                continue;
            if (yk_windows_meet(system, interface)) {
                yk_windows_prescribe(system, i, a_advanced);
                continue;
            }

            yk_motion end = yk_value_a(system, interface)->motion;
            if (!a_advanced)
                yk_motion_history_predict(x->history, system, i, &end);
            yk_system_prescribe_weighted(system, i, x->weights, &end);
        }

        set_wrench_inputs(system, participant);
        yk_system_update_signals(system, participant);

        if (YK_FAILED(yk_system_advance_participant(system, participant)))
            return yk_system_report_failure(system, participant);
    }

    return YK_OK;
}

/* All subsystems step with the values at the start of the step. */
static yk_status step_in_parallel(const explicit_scheme *x, yk_system *system)
{
    /* The wrenches of the last step act at the positions of the wrench sides at its end. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        interface->origin = yk_before_a(system, interface)->position;
    }

    for (int i = 0; i < system->participant_count; i++) {
        set_wrench_inputs(system, i);
        yk_system_update_signals(system, i);
    }

    /* No subsystem has advanced yet, so extrapolate every motion. */
    for (int i = 0; i < system->interface_count; i++) {
        if (yk_both_take_wrench(&system->interfaces[i]))
            continue;

        yk_motion end;
        yk_motion_history_predict(x->history, system, i, &end);
        yk_system_prescribe_weighted(system, i, x->weights, &end);
    }

    /* Send the steps of subsystems in other processes ahead. Report the first failure. */
    for (int i = 0; i < system->participant_count; i++)
        yk_system_post(system, i);
    yk_system_advance_all(system, yk_system_advance_participant);
    for (int i = 0; i < system->participant_count; i++)
        if (YK_FAILED(system->participants[i].status))
            return yk_system_report_failure(system, i);

    return YK_OK;
}

static yk_status explicit_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    explicit_scheme *x = (explicit_scheme *)scheme;
    report->iterations = 1;
    if (x->balance) {
        yk_status status = yk_balance_solve(x->balance, system, x->weights, x->history);
        if (status != YK_OK)
            return status;
    }

    yk_status status;
    if (x->options.sequence == YK_SEQUENCE_JACOBI)
        status = step_in_parallel(x, system);
    else
        status = step_in_sequence(x, system);
    if (!YK_FAILED(status))
        yk_motion_history_add_step(x->history, system);
    return status;
}

static void explicit_handle_event(yk_scheme *scheme, yk_system *system)
{
    (void)system;
    yk_motion_history_restart(((explicit_scheme *)scheme)->history);
    yk_balance_restart(((explicit_scheme *)scheme)->balance);
}

/* Life ----------------------------------------------------------------------------------------- */

static yk_status explicit_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    explicit_scheme *x = yk_allocate(system->context, 1, sizeof *x);
    if (!x)
        return YK_ERROR_MEMORY;

    x->options = *(const yk_explicit_options *)options;
    *scheme = &x->base;

    const yk_explicit_options *o = &x->options;
    x->weights = yk_modified_inputs_weights(o->modified_inputs, o->alpha, o->beta, o->gamma,
                                            system->step, &x->own_weights);

    /* Only Jacobi steps several subsystems at the same time. */
    yk_status status = yk_motion_history_create(system, o->extrapolation, &x->history);
    if (status == YK_OK)
        status = yk_balance_create(system, NULL, &x->balance);
    if (status != YK_OK || x->options.sequence != YK_SEQUENCE_JACOBI)
        return status;
    return yk_system_use_threads(system, x->options.thread_count);
}

static void explicit_destroy(yk_scheme *scheme, yk_system *system)
{
    explicit_scheme *x = (explicit_scheme *)scheme;
    yk_balance_destroy(x->balance, system);
    yk_motion_history_destroy(x->history, system);
    yk_free(system->context, x);
}

static yk_status explicit_initialize(yk_scheme *scheme, yk_system *system)
{
    explicit_scheme *x = (explicit_scheme *)scheme;
    yk_motion_history_restart(x->history);
    return yk_balance_start(x->balance, system);
}

static yk_state_layout explicit_state_layout(const yk_scheme *scheme, const yk_system *system)
{
    (void)system;
    const explicit_scheme *x = (const explicit_scheme *)scheme;
    yk_state_layout layout = yk_balance_layout(x->balance);
    yk_state_layout history = yk_motion_history_layout(x->history);
    layout.word_count += history.word_count;
    layout.continuous_count += history.continuous_count;
    return layout;
}

static void explicit_state_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                               double *opaque)
{
    (void)system;
    const explicit_scheme *x = (const explicit_scheme *)scheme;
    yk_balance_get(x->balance, &continuous, &opaque);
    yk_motion_history_get(x->history, continuous, opaque);
}

static void explicit_state_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                               const double *opaque)
{
    explicit_scheme *x = (explicit_scheme *)scheme;
    yk_balance_set(x->balance, &continuous, &opaque);
    yk_motion_history_set(x->history, continuous, opaque);
    yk_balance_take_over(x->balance, system);
}

static bool explicit_is_valid_state(const yk_scheme *scheme, const yk_system *system,
                                    const double *continuous, const double *opaque)
{
    (void)system;
    (void)continuous;
    const explicit_scheme *x = (const explicit_scheme *)scheme;
    return yk_balance_is_valid(x->balance, &opaque) &&
           yk_motion_history_is_valid(x->history, opaque);
}

/* The scheme ----------------------------------------------------------------------------------- */

#define ROW(type, field) .kind = YK_OPTION_##type, YK_MEMBER(yk_explicit_options, field)

static const yk_option weights_rows[] = {
    YK_MODIFIED_INPUTS_WEIGHTS(yk_explicit_options),
};

static const yk_option_section weights_section = {
    "modified_inputs", "Weights of their own; only the ratios matter.", weights_rows};

enum { EXCHANGE_ROW = 1, INPUTS_ROW = 2, EXTRAPOLATION_ROW = 3 };

static const yk_option options[] = {
    {"sequence", ROW(CHOICE, sequence), .default_text = "gauss-seidel", .choices = yk_order_words,
     .description = "sequence of the subsystems"},
    [EXCHANGE_ROW] = {"exchange", ROW(CHOICE, exchange), .has_derived_default = true,
                      .choices = yk_exchange_words,
                      .description =
                          "exchanged quantities; default: force-motion if `modified_inputs` or "
                          "`motion_extrapolation` are given, otherwise auto"},
    [INPUTS_ROW] = {"modified_inputs", ROW(FORM, modified_inputs), .default_text = "index-1",
                    .has_derived_default = true, .choices = yk_modified_inputs_words,
                    .section = &weights_section,
                    .description =
                        "motion input of the sides that receive a motion; default: index-1"},
    [EXTRAPOLATION_ROW] =
        {"motion_extrapolation", ROW(CHOICE, extrapolation), .default_text = "solver",
         .has_derived_default = true, .choices = yk_extrapolation_words,
         .description = "motion that is prescribed to a side before its partner has stepped"},
    {"threads", ROW(INTEGER, thread_count), .default_text = "1", .range = YK_BETWEEN(0, 1024),
     .only_with = {"sequence", {"jacobi"}},
     .description = "subsystems that advance at the same time; 0 is one per core"},
    {0},
};

static const yk_scheme_variant variants[] = {
    {"explicit", YK_VARIANT_REMEDY, 1, {"sequence=gauss-seidel", "exchange=auto"}},
    {"explicit", YK_VARIANT_REMEDY, 2, {"sequence=gauss-seidel", "modified_inputs=index-1"}},
    {"explicit", YK_VARIANT_DRIFT_REMEDY, 2, {"modified_inputs=index-1"}},
    {"explicit, force-force", YK_VARIANT_CANDIDATE, 1, {"sequence=gauss-seidel", "exchange=auto"}},
    {"explicit, index-1",
     YK_VARIANT_CANDIDATE | YK_VARIANT_BASELINE,
     1,
     {"sequence=gauss-seidel", "modified_inputs=index-1"}},
    {"explicit, index-2",
     YK_VARIANT_CANDIDATE,
     1,
     {"sequence=gauss-seidel", "modified_inputs=index-2"}},
    {"explicit, index-3",
     YK_VARIANT_CANDIDATE,
     1,
     {"sequence=gauss-seidel", "modified_inputs=index-3"}},
    {"explicit, unmodified",
     YK_VARIANT_CANDIDATE,
     1,
     {"sequence=gauss-seidel", "modified_inputs=none"}},
    {"explicit, jacobi", YK_VARIANT_CANDIDATE, 1, {"sequence=jacobi", "modified_inputs=index-1"}},
    {0},
};

static unsigned explicit_traits(const void *own)
{
    const yk_explicit_options *o = own;
    unsigned set = YK_SCHEME_CARRIES_SIGNALS | YK_SCHEME_EXCHANGES_MOTION;

    /* Without a weight of the position, the sides may drift apart. */
    bool original = o->modified_inputs == YK_MODIFIED_INPUTS_NONE;
    if (original || (o->modified_inputs == YK_MODIFIED_INPUTS_WEIGHTED && !(o->alpha > 0)))
        set |= YK_SCHEME_IGNORES_POSITIONS;
    if (o->exchange != YK_EXCHANGE_FORCE_MOTION)
        set |= YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE;
    if (o->sequence == YK_SEQUENCE_GAUSS_SEIDEL)
        set |= YK_SCHEME_SUPPORTS_TIME_WINDOWS;
    return set;
}

static void explicit_derive(void *own, uint64_t given)
{
    yk_explicit_options *o = own;
    if (given >> EXCHANGE_ROW & 1)
        return;

    /* Both apply to prescribed motions only. */
    o->exchange = YK_EXCHANGE_AUTO;
    if ((given >> INPUTS_ROW | given >> EXTRAPOLATION_ROW) & 1)
        o->exchange = YK_EXCHANGE_FORCE_MOTION;
}

static yk_status explicit_check(yk_context *context, const void *own)
{
    const yk_explicit_options *o = own;
    return yk_modified_inputs_check(context, "explicit", o->modified_inputs, o->alpha, o->beta,
                                    o->gamma);
}

static void explicit_configure_for_trial(void *own, double tolerance)
{
    /* Trials have two bodies. */
    (void)tolerance;
    ((yk_explicit_options *)own)->thread_count = 1;
}

static void explicit_display_name(const void *own, char *text, size_t capacity)
{
    const yk_explicit_options *o = own;
    snprintf(text, capacity, "explicit, %s", yk_order_words[o->sequence].name);
}

static yk_causality explicit_second_side_causality(const void *own, const yk_port_pair *joined)
{
    return yk_balance_second_side(((const yk_explicit_options *)own)->exchange, joined);
}

const yk_scheme_ops *yk_scheme_explicit(void)
{
    static const yk_scheme_ops ops = {
        .size = sizeof ops,
        .name = "explicit",
        .description = "each subsystem is called once per macro step",
        .options_size = sizeof(yk_explicit_options),
        .options = options,
        .variants = variants,
        .traits = explicit_traits,
        .create = explicit_create,
        .destroy = explicit_destroy,
        .initialize = explicit_initialize,
        .step = explicit_step,
        .derive = explicit_derive,
        .check = explicit_check,
        .configure_for_trial = explicit_configure_for_trial,
        .display_name = explicit_display_name,
        .second_side_causality = explicit_second_side_causality,
        .state_layout = explicit_state_layout,
        .state_get = explicit_state_get,
        .state_set = explicit_state_set,
        .is_valid_state = explicit_is_valid_state,
        .handle_event = explicit_handle_event,
    };

    return &ops;
}

yk_explicit_options yk_explicit_options_default(void)
{
    yk_explicit_options own;
    yk_scheme_set_defaults(yk_scheme_explicit(), &own);
    return own;
}
