/* Your own coupling scheme, run by a scenario that names it.
 *
 * Averaged Jacobi: all subsystems step at the same time, with the values at the start of the step.
 * Second sides of interfaces follow the predicted motion of their partners, first sides
 * receive a weighted mean of the wrenches of the last two steps. The weight is an option, and a key
 * of the scenario next to `scheme`.
 *
 *   cc scheme.c $(pkg-config --cflags --libs yoke) -lm
 *
 * If the library is not in a folder of the system, add -Wl,-rpath,$(pkg-config --variable=libdir yoke). */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include <yoke/scenario.h>
#include <yoke/scheme_ops.h>
#include <yoke/system.h>

typedef struct averaged_options {
    double weight; /* of the newer of the two wrenches */
} averaged_options;

typedef struct averaged {
    yk_scheme base; /* first, so that Yoke finds the operations */
    averaged_options options;
    yk_wrench last[]; /* one per interface: the state */
} averaged;

static yk_status averaged_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    size_t wrenches = (size_t)yk_system_interface_count(system) * sizeof(yk_wrench);
    averaged *self = yk_allocate(yk_system_context(system), 1, sizeof *self + wrenches);
    if (!self)
        return YK_ERROR_MEMORY;

    self->options = *(const averaged_options *)options;
    *scheme = &self->base;
    return YK_OK;
}

static void averaged_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_free(yk_system_context(system), scheme);
}

static yk_status averaged_start(yk_scheme *scheme, yk_system *system)
{
    averaged *self = (averaged *)scheme;
    yk_status status = yk_system_initialize_wrenches(system);
    for (int i = 0; !YK_FAILED(status) && i < yk_system_interface_count(system); i++)
        self->last[i] = yk_system_reaction_wrench(system, i);
    return status;
}

static yk_vec3 mean(double weight, yk_vec3 now, yk_vec3 last)
{
    return (yk_vec3){weight * now.x + (1 - weight) * last.x, weight * now.y + (1 - weight) * last.y,
                     weight * now.z + (1 - weight) * last.z};
}

static yk_status averaged_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    averaged *self = (averaged *)scheme;
    report->iterations = 1;

    for (int i = 0; i < yk_system_interface_count(system); i++) {
        /* The weighted mean for the wrench side. */
        yk_wrench now = yk_system_reaction_wrench(system, i);
        yk_wrench *last = &self->last[i];
        yk_wrench applied = {mean(self->options.weight, now.force, last->force),
                             mean(self->options.weight, now.torque, last->torque)};
        yk_system_apply_wrench(system, i, &applied);
        *last = now;

        /* The motion side follows the predicted motion of the wrench side. */
        yk_motion end;
        yk_system_predict_motion(system, i, &end);
        yk_system_prescribe_motion(system, i, &end);
    }

    /* Update all signals before any subsystem steps. */
    for (int i = 0; i < yk_system_participant_count(system); i++)
        yk_system_update_signals(system, i);
    for (int i = 0; i < yk_system_participant_count(system); i++)
        if (YK_FAILED(yk_system_advance_participant(system, i)))
            return yk_system_report_failure(system, i);
    return YK_OK;
}

/* The last wrenches are the state that a rollback restores. */
static double *averaged_state(yk_scheme *scheme, const yk_system *system, size_t *count)
{
    *count = (size_t)yk_system_interface_count(system) * sizeof(yk_wrench) / sizeof(double);
    return (double *)((averaged *)scheme)->last;
}

static const yk_option averaged_rows[] = {
    {"weight", YK_OPTION_NUMBER, YK_MEMBER(averaged_options, weight), .default_text = "0.5",
     .range = YK_BETWEEN(0, 1), .description = "of the newer of the two wrenches"},
    {0},
};

static const yk_scheme_ops averaged_ops = {
    .size = sizeof averaged_ops,
    .name = "averaged",
    .description = "all at once, with the mean of the last two wrenches",
    .options_size = sizeof(averaged_options),
    .options = averaged_rows,
    .constant_traits = YK_SCHEME_CARRIES_SIGNALS | YK_SCHEME_EXCHANGES_MOTION,
    .create = averaged_create,
    .destroy = averaged_destroy,
    .initialize = averaged_start,
    .step = averaged_step,
    .state_array = averaged_state,
};

/* The program ---------------------------------------------------------------------------------- */

static const char scenario_text[] =
    "time: {end: 1, step: 1e-4}\n"
    "subsystems:\n"
    "  left: {solver: oscillator, mass: 1, stiffness: 100, position: 0.1, integrator: two-step}\n"
    "  right: {solver: oscillator, mass: 0.2, position: 0.1, integrator: semi-implicit}\n"
    "interfaces:\n"
    "  - {name: clamp, between: [left.mass, right.mass]}\n"
    "coupling: {scheme: averaged, weight: 0.75}\n";

/* Loads the scenario with one value changed, or none; prints its errors. */
static yk_scenario *load(yk_context *context, const char *override)
{
    const yk_scheme_ops *const schemes[] = {&averaged_ops};
    yk_scenario_def def = yk_scenario_default();
    def.text = scenario_text;
    def.schemes = schemes;
    def.scheme_count = 1;
    def.overrides = &override;
    def.override_count = override != NULL;

    yk_scenario *scenario = NULL;
    yk_diagnostics *diagnostics = NULL;
    if (yk_diagnostics_create(context, &diagnostics) == YK_OK)
        yk_scenario_load(context, &def, diagnostics, &scenario);
    for (int i = 0; diagnostics && i < yk_diagnostics_count(diagnostics); i++) {
        const yk_diagnostic *found = yk_diagnostics_at(diagnostics, i);
        printf("  %s: %s\n", found->path, found->message);
    }
    yk_diagnostics_destroy(diagnostics);
    return scenario;
}

int main(void)
{
    yk_context *context = yk_context_create(NULL);
    printf("Yoke %s: your own scheme\n\nMessages of the check for weight 2:\n", yk_version());
    yk_scenario *wrong = load(context, "coupling.weight=2");
    yk_scenario *scenario = load(context, NULL);

    yk_system *system = NULL;
    yk_status status = YK_ERROR_INPUT;
    if (scenario)
        status = yk_scenario_system(scenario, &system);
    if (status == YK_OK)
        status = yk_system_run(system, 1);

    /* The two masses act as one mass on one spring. */
    double error = INFINITY;
    if (status == YK_OK) {
        double x =
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
        double exact = 0.1 * cos(sqrt(100 / 1.2));
        error = fabs(x - exact);
        printf("\nPosition %.6f m, exact %.6f m, error %.1e m\n", x, exact, error);
    } else {
        fprintf(stderr, "%s\n", yk_last_message(context));
    }

    bool refused = wrong == NULL;
    yk_scenario_destroy(wrong);
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    return refused && error < 1e-3 ? 0 : 1;
}
