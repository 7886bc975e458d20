/* Analyses with an allocator that fails at the n-th request, for every n: an error each time,
 * never a crash or a leak. */
#include "failing_allocator.h"
#include "test.h"
#include "yoke/analysis.h"

/* A ball on a floor, and two masses that are joined. */
static const char *const parts =
    "time: {end: 2e-3, step: 1e-3}\n"
    "subsystems:\n"
    "  bed:\n"
    "    solver: nonsmooth\n"
    "    ground_shapes: [{type: plane}]\n"
    "    bodies: {ball: {position: [0, 0, 1], shapes: [{type: sphere, radius: 1, density: 1}]}}\n"
    "  left: {solver: oscillator, mass: 1, stiffness: 100, velocity: 0.1}\n"
    "  right: {solver: oscillator, mass: 1, velocity: 0.1}\n"
    "interfaces: {line: {between: [left.mass, right.mass], joint: fixed}}\n"
    "coupling: {scheme: explicit}\n";

static yk_scenario_def def_of(const char *text)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = "file.yaml";
    def.text = text;
    return def;
}

static yk_status run(yk_context *context)
{
    yk_scenario_def def = def_of(parts);
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_record *record = NULL;
    yk_run_report report;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_scenario_load(context, &def, diagnostics, &scenario);
    if (status == YK_OK)
        status = yk_record_create(context, &record);
    if (status == YK_OK) {
        yk_run_options run_def = {
            .recorder = yk_record_recorder(record), .frame_count = 1, .max_contacts_per_frame = 1};
        status = yk_run(context, scenario, &run_def, &report);
    }

    yk_record_destroy(record);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    return status;
}

static yk_status sweep(yk_context *context)
{
    static const char *const values[] = {"1", "2"};
    static const yk_sweep_axis axis = {"subsystems.left.mass", values, 2};
    static const char *const measure = "peak(left.mass.velocity)";
    yk_sweep_options def = {.scenario = def_of(parts),
                            .axes = &axis,
                            .axis_count = 1,
                            .measures = &measure,
                            .measure_count = 1,
                            .jobs = 1};
    yk_diagnostics *diagnostics = NULL;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    double results[2] = {NAN, NAN};
    if (status == YK_OK)
        status = yk_sweep(context, &def, diagnostics, results);

    /* A run without memory has no result, and those that have one are right. */
    for (int i = 0; i < 2; i++) {
        if (isnan(results[i]))
            status = YK_ERROR_MEMORY;
        else
            assert_near(results[i], 0.1, 1e-3);
    }
    yk_diagnostics_destroy(diagnostics);
    return status;
}

static yk_status count_freedoms(yk_context *context)
{
    yk_scenario_def def = yk_scenario_default();
    yk_prescribed_dofs freedoms;
    def.path = YOKE_SOURCE_DIR "/models/hinged-links/scenario.yaml";
    return yk_scenario_prescribed_dofs(context, &def, (yk_subsystem_id){1}, &freedoms);
}

/* With all that come after it, and alone: then a run may do without what it asked for. */
static void every_request_fails(yk_status (*analysis)(yk_context *context))
{
    for (int once = 0; once < 2; once++) {
        bool done = false;
        long count = 0;
        for (; !done; count++) {
            budget b = {.fails = count, .once = once};
            yk_context *context = budget_context(&b);
            yk_status status = YK_ERROR_MEMORY;
            if (context)
                status = analysis(context);
            yk_context_destroy(context);

            done = !b.failed;
            assert_int_equal(b.open, 0);
            if (done)
                assert_int_equal(status, YK_OK);
            else if (!once || status != YK_OK)
                assert_int_equal(status, YK_ERROR_MEMORY);
        }
        assert_true(count > 10);
    }
}

static void runs_report_lack_of_memory(void **state)
{
    (void)state;
    every_request_fails(run);
}

static void sweeps_report_lack_of_memory(void **state)
{
    (void)state;
    every_request_fails(sweep);
}

static void freedoms_report_lack_of_memory(void **state)
{
    (void)state;
    every_request_fails(count_freedoms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_report_lack_of_memory),
        cmocka_unit_test(sweeps_report_lack_of_memory),
        cmocka_unit_test(freedoms_report_lack_of_memory),
    };
    return cmocka_run_group_tests_name("memory of analyses", tests, NULL, NULL);
}
