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

#include "coupling/force_force/balance.h"
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
} explicit_scheme;

static const yk_input_weights INDEX_2 = {1, 1, 0};
static const yk_input_weights INDEX_3 = {1, 0, 0};

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
        for (int i = 0; i < system->interface_count; i++) {
            const yk_interface *interface = &system->interfaces[i];
            bool a_advanced = interface->a_index < index;
            if (!yk_is_motion_side(interface, participant))
                continue;
            if (yk_windows_meet(system, interface))
                yk_windows_prescribe(system, i, a_advanced);
            else
                yk_system_prescribe_weighted(system, i, x->weights, a_advanced);
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
    for (int i = 0; i < system->interface_count; i++)
        if (!yk_both_take_wrench(&system->interfaces[i]))
            yk_system_prescribe_weighted(system, i, x->weights, false);

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
        yk_status status = yk_balance_solve(x->balance, system, x->weights);
        if (status != YK_OK)
            return status;
    }

    if (x->options.sequence == YK_SEQUENCE_JACOBI)
        return step_in_parallel(x, system);
    return step_in_sequence(x, system);
}

/* Life ----------------------------------------------------------------------------------------- */

static yk_status explicit_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    explicit_scheme *x = yk_allocate(system->context, 1, sizeof *x);
    if (!x)
        return YK_ERROR_MEMORY;

    x->options = *(const yk_explicit_options *)options;
    *scheme = &x->base;

    /* Equation (26) with the macro step. */
    double h = system->step;
    x->own_weights.position = x->options.alpha * h * h;
    x->own_weights.velocity = x->options.beta * h;
    x->own_weights.acceleration = x->options.gamma;
    const yk_input_weights *const by_inputs[] = {
        [YK_MODIFIED_INPUTS_NONE] = NULL,
        [YK_MODIFIED_INPUTS_INDEX_1] = &yk_weights_index1,
        [YK_MODIFIED_INPUTS_INDEX_2] = &INDEX_2,
        [YK_MODIFIED_INPUTS_INDEX_3] = &INDEX_3,
        [YK_MODIFIED_INPUTS_WEIGHTED] = &x->own_weights,
    };
    x->weights = by_inputs[x->options.modified_inputs];

    /* Only Jacobi steps several subsystems at the same time. */
    yk_status status = yk_balance_create(system, &x->balance);
    if (status != YK_OK || x->options.sequence != YK_SEQUENCE_JACOBI)
        return status;
    return yk_system_use_threads(system, x->options.thread_count);
}

static void explicit_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_balance_destroy(((explicit_scheme *)scheme)->balance, system);
    yk_free(system->context, scheme);
}

static yk_status explicit_initialize(yk_scheme *scheme, yk_system *system)
{
    return yk_balance_start(((explicit_scheme *)scheme)->balance, system);
}

static yk_state_layout explicit_state_layout(const yk_scheme *scheme, const yk_system *system)
{
    (void)system;
    return yk_balance_layout(((const explicit_scheme *)scheme)->balance);
}

static void explicit_state_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                               double *opaque)
{
    (void)system;
    (void)opaque;
    yk_balance_get(((const explicit_scheme *)scheme)->balance, continuous);
}

static void explicit_state_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                               const double *opaque)
{
    (void)opaque;
    yk_balance *balance = ((explicit_scheme *)scheme)->balance;
    yk_balance_set(balance, continuous);
    yk_balance_take_over(balance, system);
}

/* The scheme ----------------------------------------------------------------------------------- */

static const yk_option_choice inputs_words[] = {
    {"none", "the predicted motion as it is"},
    {"index-1", "modified inputs with alpha = 2/h², beta = 2/h, gamma = 1"},
    {"index-2", "modified inputs with alpha = 1/h, beta = 1, gamma = 0"},
    {"index-3", "modified inputs with alpha = 1, beta = gamma = 0"},
    {NULL, NULL},
};

#define ROW(type, field) .kind = YK_OPTION_##type, YK_MEMBER(yk_explicit_options, field)

static const yk_option weights_rows[] = {
    {"alpha", ROW(NUMBER, alpha), .required = true, .unit = "1/s²", .range = YK_NOT_NEGATIVE,
     .description = "weight of the position error"},
    {"beta", ROW(NUMBER, beta), .required = true, .unit = "1/s", .range = YK_NOT_NEGATIVE,
     .description = "weight of the velocity error"},
    {"gamma", ROW(NUMBER, gamma), .required = true, .range = YK_NOT_NEGATIVE,
     .description = "weight of the acceleration error"},
    {0},
};

static const yk_option_section weights_section = {
    "modified_inputs", "Weights of their own; only the ratios matter.", weights_rows};

enum { EXCHANGE_ROW = 1, INPUTS_ROW = 2 };

static const yk_option options[] = {
    {"sequence", ROW(CHOICE, sequence), .default_text = "gauss-seidel", .choices = yk_order_words,
     .description = "sequence of the subsystems"},
    [EXCHANGE_ROW] =
        {"exchange", ROW(CHOICE, exchange), .has_derived_default = true,
         .choices = yk_exchange_words,
         .description =
             "what crosses an interface; auto where it is absent, but force-motion where "
             "`modified_inputs` "
             "are given"},
    [INPUTS_ROW] =
        {"modified_inputs", ROW(FORM, modified_inputs), .default_text = "index-1",
         .has_derived_default = true, .choices = inputs_words, .section = &weights_section,
         .description =
             "what is prescribed to the sides that receive a motion; index-1 where it is "
             "absent"},
    {"threads", ROW(INTEGER, thread_count), .default_text = "1", .range = YK_BETWEEN(0, 1024),
     .description =
         "with sequence jacobi: subsystems that advance at the same time; 0 is one per core"},
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

    /* `inputs` apply to prescribed motions only. */
    o->exchange = YK_EXCHANGE_AUTO;
    if (given >> INPUTS_ROW & 1)
        o->exchange = YK_EXCHANGE_FORCE_MOTION;
}

static yk_status explicit_check(yk_context *context, const void *own)
{
    const yk_explicit_options *o = own;
    if (o->modified_inputs != YK_MODIFIED_INPUTS_WEIGHTED)
        return YK_OK;

    /* The sum of the weights is the divisor in equation (26). */
    double sum = o->alpha + o->beta + o->gamma;
    bool negative = o->alpha < 0 || o->beta < 0 || o->gamma < 0;
    if (!negative && sum > 0 && isfinite(sum))
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "scheme explicit: the weights of the modified inputs (alpha %g, beta %g, gamma "
                   "%g) must not be negative, and one must be greater than 0",
                   o->alpha, o->beta, o->gamma);
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
    };

    return &ops;
}

yk_explicit_options yk_explicit_options_default(void)
{
    yk_explicit_options own;
    yk_scheme_set_defaults(yk_scheme_explicit(), &own);
    return own;
}
