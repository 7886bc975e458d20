/* A scheme with the options of all schemes in one struct, so that tests can vary both in loops.
 * Options that the selected scheme does not have are ignored. */
#ifndef YK_TESTS_ANY_SCHEME_H
#define YK_TESTS_ANY_SCHEME_H

#include "coupling/system_arrays.h"

typedef struct any_scheme {
    const yk_scheme_ops *ops;
    yk_sequence order;
    yk_exchange exchange;
    yk_modified_inputs inputs;          /* of explicit */
    yk_modified_inputs iterated_inputs; /* of tight */
    double alpha, beta, gamma;
    yk_motion_extrapolation motion;
    int iterations; /* of relaxed: sweeps */
    double tolerance, relative_tolerance;
    yk_acceleration acceleration;
    yk_prescribed_velocity velocity;
    int halvings, threads;
    int degree;
    yk_jacobian_update jacobian;
    yk_extrapolation extrapolation;
    yk_interface_model_source models;
    yk_slow_wrench wrenches;
    yk_position_update positions;
    int exchanges;
    yk_subsystem_list fast;
} any_scheme;

/* Explicit, with the defaults that the schemes have. */
static inline any_scheme any_scheme_default(void)
{
    return (any_scheme){.ops = yk_scheme_explicit(),
                        .inputs = YK_MODIFIED_INPUTS_INDEX_1,
                        .iterations = 20,
                        .tolerance = 1e-6,
                        .acceleration = YK_ACCELERATION_QUASI_NEWTON,
                        .threads = 1,
                        .degree = 3};
}

/* Any scheme's options; the largest decides the size. */
typedef union any_options {
    yk_explicit_options explicit_scheme;
    yk_tight_options tight;
    yk_monolithic_options monolithic;
    yk_index1_options index1;
    yk_rim_options rim;
    yk_relaxed_options relaxed;
} any_options;

static inline yk_scheme_def any_scheme_def(const any_scheme *s, any_options *room)
{
    if (s->ops == yk_scheme_explicit())
        room->explicit_scheme = (yk_explicit_options){.sequence = s->order,
                                                      .exchange = s->exchange,
                                                      .modified_inputs = s->inputs,
                                                      .alpha = s->alpha,
                                                      .beta = s->beta,
                                                      .gamma = s->gamma,
                                                      .extrapolation = s->motion,
                                                      .thread_count = s->threads};
    if (s->ops == yk_scheme_tight() || s->ops == yk_scheme_loose())
        room->tight =
            (yk_tight_options){.max_iterations = s->ops == yk_scheme_tight() ? s->iterations : 0,
                               .tolerance = s->tolerance,
                               .relative_tolerance = s->relative_tolerance,
                               .acceleration = s->acceleration,
                               .prescribed_velocity = s->velocity,
                               .max_halvings = s->halvings,
                               .exchange = s->exchange,
                               .sequence = s->order,
                               .modified_inputs = s->iterated_inputs,
                               .alpha = s->alpha,
                               .beta = s->beta,
                               .gamma = s->gamma,
                               .extrapolation = s->motion,
                               .thread_count = s->threads};
    if (s->ops == yk_scheme_monolithic())
        room->monolithic = (yk_monolithic_options){.max_iterations = s->iterations};
    if (s->ops == yk_scheme_index1())
        room->index1 = (yk_index1_options){.polynomial_degree = s->degree,
                                           .max_iterations = s->iterations,
                                           .tolerance = s->tolerance,
                                           .relative_tolerance = s->relative_tolerance,
                                           .jacobian_update = s->jacobian,
                                           .thread_count = s->threads};
    if (s->ops == yk_scheme_rim())
        room->rim = (yk_rim_options){.sequence = s->order,
                                     .exchange = s->exchange,
                                     .extrapolation = s->extrapolation,
                                     .interface_models = s->models,
                                     .slow_wrench = s->wrenches,
                                     .position_update = s->positions,
                                     .exchanges_per_step = s->exchanges,
                                     .fast_subsystems = s->fast,
                                     .thread_count = s->threads};
    if (s->ops == yk_scheme_relaxed())
        room->relaxed = (yk_relaxed_options){.sequence = s->order,
                                             .acceleration = s->acceleration,
                                             .relative_tolerance = s->relative_tolerance,
                                             .max_sweeps = s->iterations,
                                             .thread_count = s->threads};
    return (yk_scheme_def){.ops = s->ops, .options = room};
}

/* A system with this scheme in place of the def's own. */
static inline yk_status any_scheme_create(yk_context *context, const yk_system_description *def,
                                          const any_scheme *scheme, yk_system **system)
{
    any_options room;
    yk_system_description with = *def;
    with.scheme = any_scheme_def(scheme, &room);
    return yk_system_make(context, &with, system);
}

/* A number that the scheme counts, by the beginning of its text; -1: it counts none of that
 * name. */
static inline double scheme_statistic(const yk_system *system, const char *text)
{
    yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX];
    int count = yk_system_scheme_statistics(system, rows);
    for (int i = 0; i < count; i++) {
        const char *a = rows[i].name, *b = text;
        while (*b && *a == *b)
            a++, b++;
        if (!*b)
            return rows[i].value;
    }
    return -1;
}

#endif
