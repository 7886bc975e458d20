/* Measures of signals with known results, and sweeps: parallel, resumable, and with failed runs
 * reported as failed. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/scenario_run.h"
#include "test.h"
#include "yoke/analysis.h"

static yk_context *context;

/* 2 + 3 sin(2 pi 7.3 t) + 0.5 sin(2 pi 31 t), 4 s at 1 kHz. */
static yk_record *make_record(void)
{
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(context, &record), YK_OK);
    yk_record_channel channel = {"x", "m", 1, NULL};
    yk_recorder *recorder = yk_record_recorder(record);
    assert_int_equal(
        yk_recorder_begin(recorder, &(yk_record_header){.channels = &channel, .channel_count = 1}),
        YK_OK);
    for (int i = 0; i <= 4000; i++) {
        double t = i * 1e-3, rotation = 2 * acos(-1) * t,
               x = 2 + 3 * sin(7.3 * rotation) + 0.5 * sin(31 * rotation);
        yk_recorder_sample(recorder, t, &x);
    }
    return record;
}

static double value_of(const yk_record *record, const char *text)
{
    yk_measure measure;
    double value = NAN;
    assert_int_equal(yk_measure_parse(context, text, &measure), YK_OK);
    assert_int_equal(yk_measure_value(context, &measure, record, &value), YK_OK);
    return value;
}

static void measures_have_their_known_values(void **state)
{
    (void)state;
    yk_record *record = make_record();
    assert_near(value_of(record, "frequency(x)"), 7.3, 1e-4);
    assert_near(value_of(record, "line(x, 7.3)"), 3, 2e-3);
    assert_near(value_of(record, "line(x, 31)"), 0.5, 2e-3);
    assert_near(value_of(record, "line( x , 20 )"), 0, 2e-3);
    assert_near(value_of(record, "mean(x, 0, 10)"), 2, 0.02);
    assert_near(value_of(record, "deviation(x)"), sqrt(9.25 / 2), 0.02);
    assert_near(value_of(record, "rms(x)"), sqrt(4 + 9.25 / 2), 0.03);
    assert_true(value_of(record, "max(x)") > 4.9 && value_of(record, "min(x)") < -0.9);
    assert_near(value_of(record, "amplitude(x)"),
                0.5 * (value_of(record, "max(x)") - value_of(record, "min(x)")), 1e-15);
    assert_near(value_of(record, "final(x)"),
                2 + 3 * sin(2 * acos(-1) * 29.2) + 0.5 * sin(2 * acos(-1) * 124), 1e-9);
    yk_record_destroy(record);
}

static void bad_measures_are_refused(void **state)
{
    (void)state;
    const char *const bad[][2] = {
        {"rmss(x)", "did you mean rms"},         {"rms", "write rms(channel)"},
        {"rms(x", "write rms(channel)"},         {"rms(x, 2, 1)", "write rms(channel)"},
        {"line(x)", "line(channel, frequency)"}, {"rms(x) y", "write rms(channel)"}};
    yk_measure measure;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(yk_measure_parse(context, bad[i][0], &measure), YK_ERROR_ARGUMENT);
        assert_non_null(strstr(yk_last_message(context), bad[i][1]));
    }
    yk_record *record = make_record();
    double value;
    assert_int_equal(yk_measure_parse(context, "rms(y)", &measure), YK_OK);
    assert_int_equal(yk_measure_value(context, &measure, record, &value), YK_ERROR_ARGUMENT);
    assert_int_equal(yk_measure_parse(context, "rms(x, 10, 11)", &measure), YK_OK);
    assert_int_equal(yk_measure_value(context, &measure, record, &value), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "fewer than two samples"));
    yk_record_destroy(record);
}

static const char *const stiffnesses[] = {"2000", "4500", "8000"}, *const schemes[] = {"monolithic",
                                                                                       "tight"};
static const yk_sweep_axis axes[] = {{"coupling.scheme", schemes, 2},
                                     {"parameters.stiffness", stiffnesses, 3}};
static const char *const measures[] = {"frequency(left.mass.position)", "peak(left.mass.velocity)"};

static yk_sweep_options make_sweep(void)
{
    yk_sweep_options def = {
        .axes = axes, .axis_count = 2, .measures = measures, .measure_count = 2, .jobs = 1};
    def.scenario = yk_scenario_default();
    def.scenario.path = YOKE_SOURCE_DIR "/models/two-mass-oscillator/scenario.yaml";
    return def;
}

static yk_status run_sweep(const yk_sweep_options *def, double *results)
{
    yk_diagnostics *diagnostics = NULL;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    yk_status status = yk_sweep(context, def, diagnostics, results);
    yk_diagnostics_destroy(diagnostics);
    return status;
}

static void every_combination_is_run_and_threads_change_nothing(void **state)
{
    (void)state;
    yk_sweep_options def = make_sweep();
    double one[12], two[12];
    char units[4][YK_SWEEP_UNIT_MAX];
    def.units = units;
    assert_int_equal(yk_sweep_run_count(&def), 6);
    assert_string_equal(yk_sweep_value(&def, 4, 0), "tight");
    assert_string_equal(yk_sweep_value(&def, 4, 1), "4500");
    assert_int_equal(run_sweep(&def, one), YK_OK);

    /* A word has none, a parameter that of the keys which it is the value of. */
    static const char *const expected_units[] = {"", "N/m", "Hz", "m/s"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(units[i], expected_units[i]);
    def.jobs = 3;
    assert_int_equal(run_sweep(&def, two), YK_OK);
    assert_memory_equal(one, two, sizeof one);
    for (int run = 0; run < 6; run++) {
        double expected = sqrt(atof(yk_sweep_value(&def, run, 1)) / 2) / (2 * acos(-1));
        assert_relative(one[2 * run], expected, 0.02); /* a half second holds but a few periods */
        assert_near(one[2 * run + 1], 0.1, 1e-6);
    }
}

static int runs_done;

static bool stop_after_two(void *user, int done, int total)
{
    (void)user;
    (void)total;
    runs_done = done;
    return done < 2;
}

static void a_stopped_sweep_is_taken_up_from_its_journal(void **state)
{
    (void)state;
    char journal[] = "/tmp/yoke-sweep-XXXXXX";
    int file = mkstemp(journal);
    assert_true(file >= 0);
    close(file);
    yk_sweep_options def = make_sweep();
    double whole[12], resumed[12];
    assert_int_equal(run_sweep(&def, whole), YK_OK);
    def.journal = journal;
    def.progress = stop_after_two;
    assert_int_equal(run_sweep(&def, resumed), YK_INTERRUPTED);
    assert_int_equal(runs_done, 2);
    assert_true(isnan(resumed[11]));
    /* A line that a kill cut off must not be taken for a result. */
    FILE *end = fopen(journal, "a");
    fprintf(end, "0123456789abcdef 1.5");
    fclose(end);
    def.progress = NULL;
    assert_int_equal(run_sweep(&def, resumed), YK_OK);
    assert_memory_equal(whole, resumed, sizeof whole);
    /* Another step is another scenario: nothing of the journal fits. */
    const char *finer = "time.step=5e-5";
    def.scenario.overrides = &finer, def.scenario.override_count = 1;
    double fine[12];
    assert_int_equal(run_sweep(&def, fine), YK_OK);
    assert_true(fine[6] != whole[6]);
    unlink(journal);
}

/* Bits that change in a journal must not become values of the table. */
static void damaged_lines_of_a_journal_are_run_again(void **state)
{
    (void)state;
    char journal[] = "/tmp/yoke-sweep-XXXXXX";
    int file = mkstemp(journal);
    assert_true(file >= 0);
    close(file);
    yk_sweep_options def = make_sweep();
    double whole[12], again[12];
    def.journal = journal;
    assert_int_equal(run_sweep(&def, whole), YK_OK);
    FILE *stream = fopen(journal, "r");
    char bytes[4096];
    size_t length = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    assert_true(length > 200 && length < sizeof bytes);

    /* Digits become other digits, and lines and fields are joined and parted. */
    for (size_t at = 3; at < length; at += 7) {
        char before = bytes[at];
        bytes[at] = (char)(before ^ (at % 2 ? 1 : 16));
        stream = fopen(journal, "w");
        assert_int_equal(fwrite(bytes, 1, length, stream), length);
        fclose(stream);
        bytes[at] = before;
        assert_int_equal(run_sweep(&def, again), YK_OK);
        assert_memory_equal(whole, again, sizeof whole);
    }

    /* A journal that cannot be read is not an empty one. */
    unlink(journal);
    assert_int_equal(mkdir(journal, 0700), 0);
    assert_int_equal(run_sweep(&def, again), YK_ERROR_FILE);
    rmdir(journal);
}

/* Copies a file of the modal cantilever, with one text in it replaced by another of the same
 * length. */
static void copy_model_file(const char *folder, const char *name, const char *old, const char *new)
{
    char path[256], bytes[1 << 14];
    snprintf(path, sizeof path, YOKE_SOURCE_DIR "/models/modal-cantilever/%s", name);
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    size_t count = fread(bytes, 1, sizeof bytes - 1, from);
    fclose(from);
    bytes[count] = '\0';
    char *at = old ? strstr(bytes, old) : NULL;
    assert_true(!old || at);
    if (at)
        memcpy(at, new, strlen(new));

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, count, to), count);
    fclose(to);
}

/* A modal body whose table of frequencies changes between two sweeps. */
static void a_changed_data_file_is_run_again(void **state)
{
    (void)state;
    static const char *const files[] = {"scenario.yaml", "nodes.csv", "modes.csv",
                                        "frequencies.csv"};
    char folder[] = "/tmp/yoke-sweep-XXXXXX", path[64], journal[64];
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 4; i++)
        copy_model_file(folder, files[i], NULL, NULL);
    snprintf(path, sizeof path, "%s/scenario.yaml", folder);
    snprintf(journal, sizeof journal, "%s/journal", folder);

    static const char *const ends[] = {"0.02"};
    static const char *const peak[] = {"max(strip.strip.modal_amplitude_1)"};
    yk_sweep_axis axis = {"time.end", ends, 1};
    yk_sweep_options def = {.axes = &axis, .axis_count = 1, .measures = peak, .measure_count = 1};
    def.scenario = yk_scenario_default();
    def.scenario.path = path;
    def.journal = journal;
    double first, again, changed;
    assert_int_equal(run_sweep(&def, &first), YK_OK);
    assert_int_equal(run_sweep(&def, &again), YK_OK);
    assert_true(first == again);
    copy_model_file(folder, "frequencies.csv", "1,26.", "1,96.");
    assert_int_equal(run_sweep(&def, &changed), YK_OK);
    assert_true(changed < 0.9 * first);

    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    unlink(journal);
    rmdir(folder);
}

static void count_warnings(void *user, yk_log_level level, const char *message)
{
    (void)level;
    if (strstr(message, "time.step=1e-3") && strstr(message, "failed"))
        ++*(int *)user;
}

static void failed_runs_are_named_and_the_others_stand(void **state)
{
    (void)state;
    int warnings = 0;
    yk_context_def quiet = yk_context_default();
    quiet.log = count_warnings, quiet.log_user = &warnings;
    yk_context *own = yk_context_create(&quiet);
    static const char *const steps[] = {"1e-3", "1e-5"};
    static const char *const unstable[] = {"coupling.modified_inputs=none", "time.end=20",
                                           "record.every=100"};
    yk_sweep_axis axis = {"time.step", steps, 1};
    yk_sweep_options def = make_sweep();
    def.axes = &axis, def.axis_count = 1;
    def.scenario.overrides = unstable, def.scenario.override_count = 3;
    double results[4];
    yk_diagnostics *diagnostics = NULL;
    yk_diagnostics_create(own, &diagnostics);
    assert_int_equal(yk_sweep(own, &def, diagnostics, results), YK_ERROR_SUBSYSTEM);
    assert_true(isnan(results[0]));
    assert_int_equal(warnings, 1);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(own);
}

static void mistakes_are_found_before_anything_runs(void **state)
{
    (void)state;
    yk_sweep_options def = make_sweep();
    yk_sweep_axis wrong = {"coupling.shceme", schemes, 2};
    def.axes = &wrong, def.axis_count = 1;
    double results[12];
    assert_int_equal(run_sweep(&def, results), YK_ERROR_INPUT);
    def = make_sweep();
    const char *const bad = "rms(left.mass.positon)";
    def.measures = &bad, def.measure_count = 1;
    assert_int_equal(run_sweep(&def, results), YK_ERROR_INPUT);
}

/* The spectral radius of the step instead of a recorded channel: that of the closed form at 1 ms
 * with the original inputs, and less than 1 with index-1 inputs. */
static void stability_can_be_swept(void **state)
{
    (void)state;
    static const char *const inputs[] = {"none", "index-1"};
    static const char *const radius[] = {"radius", "coupling"};
    const char *const step = "time.step=1e-3";
    yk_sweep_axis axis = {"coupling.modified_inputs", inputs, 2};
    yk_stability_options stability = yk_stability_options_default();
    yk_sweep_options def = make_sweep();
    def.axes = &axis, def.axis_count = 1;
    def.measures = radius, def.measure_count = 2;
    def.scenario.overrides = &step, def.scenario.override_count = 1;
    double results[4], given[4];
    assert_int_equal(run_sweep(&def, results), YK_OK);
    assert_relative(results[0], 1.10532447731, 1e-6);
    assert_true(results[2] < 1 + 1e-6);
    def.stability = &stability;
    assert_int_equal(run_sweep(&def, given), YK_OK);
    assert_memory_equal(given, results, sizeof given);
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_have_their_known_values),
        cmocka_unit_test(bad_measures_are_refused),
        cmocka_unit_test(a_changed_data_file_is_run_again),
        cmocka_unit_test(every_combination_is_run_and_threads_change_nothing),
        cmocka_unit_test(a_stopped_sweep_is_taken_up_from_its_journal),
        cmocka_unit_test(damaged_lines_of_a_journal_are_run_again),
        cmocka_unit_test(failed_runs_are_named_and_the_others_stand),
        cmocka_unit_test(mistakes_are_found_before_anything_runs),
        cmocka_unit_test(stability_can_be_swept),
    };
    int failed = cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
