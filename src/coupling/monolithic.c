/* The monolithic reference: subsystems that interfaces connect are merged to one, with the
 * interfaces as internal constraints (merging.c). The remaining participants step independently.
 * Wires in cycles are repeated until they converge, so that the reference has no delay of its own. */
#include <math.h>
#include <stddef.h>

#include "coupling/merging.h"
#include "coupling/participant.h"

/* Relative change of a wire that counts as converged. */
static const double SETTLED = 1e-10;

yk_status yk_merging_step(yk_system *system, int iterations,
                          yk_status (*prepare)(yk_system *system, int participant, void *user),
                          void *user, yk_step_report *report)
{
    /* Whether wires form a cycle: some wire runs against the order of the participants, so that its
     * target steps before its source. The steps are then repeated, if all participants can be
     * rolled back. */
    bool repeats = false;
    for (int i = 0; system->layout.word_count > 0 && i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        int target = 0;
        int source = 0;
        for (int k = 0; k < system->participant_count; k++) {
            if (system->sequence[k] == def->target_subsystem.index)
                target = k;
            if (system->sequence[k] == def->source_subsystem.index)
                source = k;
        }

        if (!def->sample_and_hold && !system->wires[i].looped && target <= source)
            repeats = true;
    }
    if (repeats)
        yk_system_save_participants(system);

    for (report->iterations = 1;; report->iterations++) {
        double change = 0;
        bool first = report->iterations == 1;

        for (int index = 0; index < system->participant_count; index++) {
            int participant = system->sequence[index];
            change = fmax(change, yk_system_update_signals(system, participant));

            /* The first time from the present state, then from the saved state. */
            yk_status status = YK_OK;
            if (!first)
                status = yk_system_rollback_participant(system, participant);
            if (!YK_FAILED(status))
                status = yk_system_advance_prepared(system, participant, prepare, user);
            if (YK_FAILED(status))
                return yk_system_report_failure(system, participant);
        }

        /* One sweep is enough if no wire runs against the order. */
        if (!repeats || (!first && change <= SETTLED))
            return YK_OK;
        if (!first && report->iterations > iterations)
            return YK_NOT_CONVERGED;
    }
}

/* The scheme ----------------------------------------------------------------------------------- */

typedef struct monolithic {
    yk_scheme base;
    yk_monolithic_options options;
} monolithic;

static yk_status monolithic_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    monolithic *x = yk_allocate(system->context, 1, sizeof *x);
    if (!x)
        return YK_ERROR_MEMORY;

    x->options = *(const yk_monolithic_options *)options;
    *scheme = &x->base;
    return YK_OK;
}

static void monolithic_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_free(system->context, scheme);
}

static yk_status monolithic_initialize(yk_scheme *scheme, yk_system *system)
{
    (void)scheme;
    return yk_system_initialize_wrenches(system);
}

static yk_status monolithic_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    return yk_merging_step(system, ((monolithic *)scheme)->options.max_iterations, NULL, NULL,
                           report);
}

static const yk_option options[] = {
    {"max_iterations", .kind = YK_OPTION_INTEGER, YK_MEMBER(yk_monolithic_options, max_iterations),
     .default_text = "20", .range = YK_NOT_NEGATIVE,
     .description = "maximum number of repetitions of a macro step for wires in cycles"},
    {0},
};

static const yk_scheme_variant variants[] = {
    {"monolithic", YK_VARIANT_REFERENCE | YK_VARIANT_REMEDY, 7, {NULL}},
    {"monolithic", YK_VARIANT_CANDIDATE | YK_VARIANT_BASELINE, 0, {NULL}},
    {0},
};

const yk_scheme_ops *yk_scheme_monolithic(void)
{
    static const yk_scheme_ops ops = {
        .size = sizeof ops,
        .name = "monolithic",
        .description =
            "subsystems that interfaces connect are merged, with the joints as "
            "constraints: the reference; for interfaces between subsystems of one kind, or "
            "between rigid multibody and nonsmooth subsystems",
        .options_size = sizeof(yk_monolithic_options),
        .options = options,
        .variants = variants,
        .constant_traits = YK_SCHEME_CARRIES_SIGNALS | YK_SCHEME_MERGES | YK_SCHEME_IS_REFERENCE,
        .create = monolithic_create,
        .destroy = monolithic_destroy,
        .initialize = monolithic_initialize,
        .step = monolithic_step,
    };

    return &ops;
}

yk_monolithic_options yk_monolithic_options_default(void)
{
    yk_monolithic_options own;
    yk_scheme_set_defaults(yk_scheme_monolithic(), &own);
    return own;
}
