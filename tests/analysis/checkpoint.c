/* Runs that are interrupted and resumed from a checkpoint, in another context with another number
 * of threads, end with bitwise the same state and the same record as uninterrupted runs, for
 * solvers and schemes of all kinds. Also the messages about checkpoints that do not match the
 * scenario. */
#include <unistd.h>

#include "analysis/run.h"
#include "base/text.h"
#include "load_scenario.h"
#include "record/checkpoint.h"
#include "record/folder.h"
#include "yoke/analysis.h"

/* A recorder that passes everything on, and breaks the run off at a sample. */
typedef struct breaking {
    yk_recorder base;
    yk_recorder *to;
    int left; /* samples */
} breaking;

static yk_status break_begin(yk_recorder *self, const yk_record_header *header)
{
    return yk_recorder_begin(((breaking *)self)->to, header);
}

static yk_status break_sample(yk_recorder *self, double time, const double *row)
{
    breaking *b = (breaking *)self;
    if (b->left-- == 0)
        return YK_ERROR_EXTERNAL;
    return yk_recorder_sample(b->to, time, row);
}

static yk_status break_frame(yk_recorder *self, double time, const float *values)
{
    return yk_recorder_frame(((breaking *)self)->to, time, values);
}

static yk_status break_end(yk_recorder *self, const yk_record_summary *summary)
{
    return yk_recorder_end(((breaking *)self)->to, summary);
}

static yk_status break_keep(yk_recorder *self, yk_journal_position *position)
{
    return yk_recorder_sync(((breaking *)self)->to, position);
}

static yk_status break_resume(yk_recorder *self, const yk_record_header *header,
                              const yk_journal_position *position)
{
    return yk_recorder_resume(((breaking *)self)->to, header, position);
}

static const yk_recorder_ops breaking_ops = {
    .size = sizeof breaking_ops,
    .kind = "breaking",
    .begin = break_begin,
    .sample = break_sample,
    .frame = break_frame,
    .end = break_end,
    .sync = break_keep,
    .resume = break_resume,
};

enum { OVERRIDES_MAX = 7 };

typedef struct resumed_case {
    const char *name, *model;
    int steps; /* to the break, a little after a checkpoint */
    const char *overrides[OVERRIDES_MAX];
} resumed_case;

static const resumed_case cases[] = {
    {"explicit", "two-mass-oscillator", 300, {"time.end=0.06"}},
    {"tight, quasi-newton", "two-mass-oscillator", 300, {"time.end=0.06", "coupling.scheme=tight"}},
    {"rim", "two-mass-oscillator", 300, {"time.end=0.06", "coupling.scheme=rim"}},
    {"monolithic", "two-mass-oscillator", 300, {"time.end=0.06", "coupling.scheme=monolithic"}},
    {"particles that come and go", "fed-hopper", 700, {"time.end=1"}},
    {"fallen back",
     "two-mass-oscillator",
     300,
     {"time.end=0.06", "parameters.right_mass=1.9",
      "coupling.on_failure={type: fallback, scheme: tight}"}},
    {"before it falls back",
     "two-mass-oscillator",
     60,
     {"time.end=0.02", "parameters.right_mass=1.9",
      "coupling.on_failure={type: fallback, scheme: tight}"}},
    {"step control", "split-pendulum", 50, {"time.end=0.2", "time.step_tolerance=1e-4"}},
    {"loose", "split-pendulum", 50, {"time.end=0.2", "coupling.scheme=loose"}},
    {"index1",
     "split-pendulum",
     50,
     {"time.end=0.2", "coupling={scheme: index1, polynomial_degree: 2}"}},
    {"relaxed", "relaxed-slider-crank", 60, {"time.step=1e-3", "time.end=0.1"}},
    {"relaxed, jacobi",
     "relaxed-slider-crank",
     60,
     {"time.step=1e-3", "time.end=0.1",
      "coupling={scheme: relaxed, sequence: jacobi, max_sweeps: 60, threads: 2}"}},
    {"particles, explicit", "cantilever-damper", 60, {"time.end=0.01"}},
    {"particles, tight", "cantilever-damper", 30, {"time.end=0.005", "coupling.scheme=tight"}},
    {"particles, loose", "cantilever-damper", 30, {"time.end=0.005", "coupling.scheme=loose"}},
    {"particles, rim", "cantilever-damper", 30, {"time.end=0.005", "coupling.scheme=rim"}},
    {"particles alone", "particle-damper", 60, {"time.end=0.01"}},
    {"boxes that rest", "box-stack", 50, {"time.end=0.1"}},
    {"impacts", "newton-cradle", 100, {"time.end=0.2"}},
    {"wires and a controller", "controlled-arm", 100, {"time.end=0.2"}},
    {"wires, tight", "controlled-arm", 50, {"time.end=0.1", "coupling.scheme=tight"}},
    {"hydraulics", "servo-cylinder", 100, {"time.end=0.2"}},
    {"three subsystems", "hinged-links", 100, {"time.end=0.2"}},
    {"a crane", "log-crane", 40, {"time.end=0.08"}},
    {"modes", "floating-slider-crank", 40, {"time.step=1e-3", "time.end=0.08"}},
    {"runge-kutta",
     "slider-crank",
     6,
     {"time.step=1e-2", "time.end=0.1",
      "subsystems.mechanism.integrator={type: runge-kutta, step_tolerance: 1e-7}"}},
};

/* A scenario, loaded in a context of its own. */
typedef struct opened {
    yk_context *context;
    yk_scenario *scenario;
} opened;

static yk_cache *settled; /* where particles came to rest */

static opened open_scenario(const char *path, const char *text, const char *const *overrides,
                            int threads)
{
    yk_context_def context = yk_context_default();
    context.thread_count = threads;
    opened made = {.context = yk_context_create(&context)};
    yk_scenario_def def = describe_scenario(path, text, overrides);
    def.cache = settled;
    made.scenario = load_described(made.context, &def);
    return made;
}

static void close_scenario(opened *o)
{
    yk_scenario_destroy(o->scenario);
    yk_context_destroy(o->context);
}

/* Runs to a file, with checkpoints there; broken off after so many samples (-1: not). */
static yk_status run_to(opened *o, test_folder *folder, const char *file, yk_run_options *def,
                        int samples, yk_run_report *report)
{
    yk_file_recorder_def to = yk_file_recorder_default();
    to.path = in_folder(folder, file);
    breaking recorder = {.base.ops = &breaking_ops, .left = samples};
    assert_int_equal(yk_file_recorder_create(o->context, &to, &recorder.to), YK_OK);
    def->recorder = &recorder.base;
    def->frame_count = 7;
    def->command = "test";
    yk_status status = yk_run(o->context, o->scenario, def, report);
    yk_recorder_destroy(recorder.to);
    return status;
}

static bool is_time(const char *name)
{
    const char *what = strstr(name, "wall_time");
    return what && strcmp(what, "wall_time") == 0;
}

/* All rows, frames and figures are equal, except the wall time. */
static void assert_same_record(test_folder *folder, const char *a_name, const char *b_name)
{
    yk_record *a = load_file(folder, a_name);
    yk_record *b = load_file(folder, b_name);
    const yk_record_header *header = yk_record_get_header(a);
    size_t rows = yk_record_row_count(a);
    assert_int_equal(rows, yk_record_row_count(b));
    assert_memory_equal(yk_record_times(a), yk_record_times(b), rows * sizeof(double));
    for (int i = 0; i < header->channel_count; i++)
        for (int c = 0; c < header->channels[i].component_count; c++)
            assert_memory_equal(yk_record_column(a, i, c), yk_record_column(b, i, c),
                                rows * sizeof(double));

    size_t frames = yk_record_frame_count(a);
    assert_int_equal(frames, yk_record_frame_count(b));
    for (size_t i = 0; i < frames; i++)
        assert_memory_equal(yk_record_frame(a, i), yk_record_frame(b, i),
                            yk_scene_frame_value_count(header->scene) * sizeof(float));

    const yk_record_summary *sums[] = {yk_record_get_summary(a), yk_record_get_summary(b)};
    assert_int_equal(sums[0]->count, sums[1]->count);
    for (int i = 0; i < sums[0]->count; i++) {
        const yk_record_value *x = &sums[0]->values[i], *y = &sums[1]->values[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->text, y->text);
        if (!is_time(x->name))
            assert_same_bits(x->value, y->value);
    }
    yk_record_destroy(a);
    yk_record_destroy(b);
}

static void runs_go_on_as_if_never_stopped(void **state)
{
    test_folder *folder = *state;
    settled = yk_cache_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const resumed_case *c = &cases[i];
        char checkpoint[600];
        snprintf(checkpoint, sizeof checkpoint, "%s", in_folder(folder, "b.checkpoint"));

        /* Through. */
        const char *overrides[OVERRIDES_MAX + 1] = {"record.every=1"};
        for (int k = 0; k + 1 < OVERRIDES_MAX; k++)
            overrides[k + 1] = c->overrides[k];
        opened whole = open_scenario(model_file(c->model), NULL, overrides, 1);
        yk_run_report expected, report;
        yk_status outcome = run_to(&whole, folder, "a.h5", &(yk_run_options){0}, -1, &expected);
        assert_false(YK_FAILED(outcome));
        close_scenario(&whole);

        /* Broken off, some steps after the second checkpoint. */
        opened broken = open_scenario(model_file(c->model), NULL, overrides, 1);
        yk_run_options def = {.checkpoint_path = checkpoint,
                              .checkpoint_unit = YK_CHECKPOINT_STEPS,
                              .checkpoint_interval = 2 * c->steps / 5,
                              .note = "b.h5"};
        yk_status status = run_to(&broken, folder, "b.h5", &def, c->steps, &report);
        if (status != YK_ERROR_EXTERNAL || !report.can_resume)
            fail_msg("%s: %d, %s", c->name, status, yk_last_message(broken.context));
        close_scenario(&broken);
        assert_true(file_exists(in_folder(folder, "b.h5.part")));
        assert_true(file_exists(in_folder(folder, "b.checkpoint.previous")));

        /* And on, elsewhere. */
        yk_context *reader = yk_context_create(NULL);
        yk_checkpoint *from = NULL;
        assert_int_equal(yk_checkpoint_load(reader, checkpoint, &from), YK_OK);
        const yk_checkpoint_info *info = yk_checkpoint_get_info(from);
        assert_string_equal(info->note, "b.h5");
        assert_int_equal(info->step, 2 * (2 * c->steps / 5));
        opened resumed = open_scenario(info->scenario_path, info->scenario_text, NULL, 3);
        def.resume_from = from;
        status = run_to(&resumed, folder, "b.h5", &def, -1, &report);
        if (status != outcome || report.state_hash != expected.state_hash)
            fail_msg("%s: another end: status %d and %d, %s", c->name, status, outcome,
                     yk_last_message(resumed.context));
        assert_int_equal(report.step_count, expected.step_count);
        close_scenario(&resumed);
        yk_checkpoint_destroy(from);
        yk_context_destroy(reader);
        assert_same_record(folder, "a.h5", "b.h5");
        assert_false(file_exists(in_folder(folder, "b.checkpoint")));
        assert_false(file_exists(in_folder(folder, "b.h5.part")));
    }
    yk_cache_destroy(settled);
    settled = NULL;
}

/* A run of two-mass-oscillator that leaves a checkpoint and a journal. */
static void leave_checkpoint(test_folder *folder, char *checkpoint, size_t capacity)
{
    snprintf(checkpoint, capacity, "%s", in_folder(folder, "b.checkpoint"));

    /* A start does not overwrite the checkpoint of an earlier call. */
    unlink(checkpoint);
    unlink(in_folder(folder, "b.checkpoint.previous"));
    const char *overrides[OVERRIDES_MAX] = {"time.end=0.06"};
    opened broken = open_scenario(model_file("two-mass-oscillator"), NULL, overrides, 1);
    yk_run_report report;
    yk_run_options def = {.checkpoint_path = checkpoint,
                          .checkpoint_unit = YK_CHECKPOINT_SIMULATED_TIME,
                          .checkpoint_interval = 0.01};
    assert_int_equal(run_to(&broken, folder, "b.h5", &def, 300, &report), YK_ERROR_EXTERNAL);
    close_scenario(&broken);
}

static void expect_no_checkpoint(test_folder *folder, const char *path, yk_status expected,
                                 const char *message)
{
    yk_checkpoint *from = NULL;
    assert_int_equal(yk_checkpoint_load(folder->context, path, &from), expected);
    assert_null(from);
    if (!strstr(yk_last_message(folder->context), message))
        fail_msg("'%s' lacks '%s'", yk_last_message(folder->context), message);
}

static void damaged_checkpoints_are_refused(void **state)
{
    test_folder *folder = *state;
    char path[600];
    leave_checkpoint(folder, path, sizeof path);
    size_t length;
    char *bytes = read_whole(path, &length);
    char other[600];
    snprintf(other, sizeof other, "%s", in_folder(folder, "other"));
    expect_no_checkpoint(folder, other, YK_ERROR_FILE, "No such file");
    write_file(other, "something else", 14);
    expect_no_checkpoint(folder, other, YK_ERROR_INPUT, "is not a checkpoint");
    for (size_t cut = 8; cut < length; cut += 211) {
        write_file(other, bytes, cut);
        expect_no_checkpoint(folder, other, YK_ERROR_INPUT, "checkpoint");
    }
    for (size_t at = 0; at < length; at += 89) {
        bytes[at] ^= 4;
        write_file(other, bytes, length);
        bytes[at] ^= 4;
        expect_no_checkpoint(folder, other, YK_ERROR_INPUT, "");
    }

    /* The one before it steps in. */
    yk_checkpoint *from = NULL;
    write_file(path, bytes, length / 2);
    assert_int_equal(yk_checkpoint_load(folder->context, path, &from), YK_OK);
    assert_int_equal(yk_checkpoint_get_info(from)->step, 100);
    yk_checkpoint_destroy(from);
    free(bytes);
}

static void resume_into(test_folder *folder, const char *model, const char *message)
{
    yk_checkpoint *from = NULL;
    char checkpoint[600];
    snprintf(checkpoint, sizeof checkpoint, "%s", in_folder(folder, "b.checkpoint"));
    assert_int_equal(yk_checkpoint_load(folder->context, checkpoint, &from), YK_OK);
    const char *overrides[OVERRIDES_MAX] = {"time.end=0.06"};
    opened o = open_scenario(model_file(model), NULL, overrides, 1);
    yk_run_report report;
    yk_run_options def = {.checkpoint_path = checkpoint, .resume_from = from};
    assert_int_equal(run_to(&o, folder, "b.h5", &def, -1, &report), YK_ERROR_INPUT);
    if (!strstr(yk_last_message(o.context), message))
        fail_msg("'%s' lacks '%s'", yk_last_message(o.context), message);
    close_scenario(&o);
    yk_checkpoint_destroy(from);
}

/* Replaces bytes of a section, and writes the checkpoint with a good checksum. */
static void craft(test_folder *folder, const char *path, const char *section, size_t at,
                  const void *bytes, size_t count)
{
    static const char *const names[] = {"run", "state", "memory", "watch"};
    enum { SECTIONS = 4 };
    yk_checkpoint_section list[SECTIONS] = {0};
    yk_checkpoint_file *file = NULL;
    assert_int_equal(yk_checkpoint_read(folder->context, path, &file), YK_OK);
    for (int i = 0; i < SECTIONS; i++) {
        snprintf(list[i].name, sizeof list[i].name, "%s", names[i]);
        const void *found = yk_checkpoint_find(file, names[i], &list[i].count);
        char *copy = malloc(list[i].count + 1);
        memcpy(copy, found, list[i].count);
        if (strcmp(names[i], section) == 0) {
            assert_true(at + count <= list[i].count);
            memcpy(copy + at, bytes, count);
        }
        list[i].bytes = copy;
    }
    yk_checkpoint_close(folder->context, file);
    yk_checkpoint_remove(folder->context, path);
    assert_int_equal(yk_checkpoint_write(folder->context, path, list, SECTIONS), YK_OK);
    for (int i = 0; i < SECTIONS; i++)
        free((void *)(uintptr_t)list[i].bytes);
}

/* A checksum keeps damage out, but not somebody who computes it again: counts, indices and truth values
 * of a restored run are checked one by one. */
static void crafted_checkpoints_are_refused(void **state)
{
    test_folder *folder = *state;
    char path[600];
    size_t budget = sizeof(int64_t);
    size_t watched = budget + sizeof(yk_budget);
    size_t memory_failures = sizeof(yk_system_statistics);
    int wrong_count = -1000000;
    int large_count = YK_BUDGET_WINDOWS + 1;
    unsigned char wrong_bool = 0x55;
    double not_a_number = NAN;
    int64_t wrong_step = 3;
    const struct {
        const char *section;
        size_t at;
        const void *bytes;
        size_t count;
    } crafted[] = {
        {"watch", watched + offsetof(yk_watched, ripple.count), &wrong_count, sizeof wrong_count},
        {"watch", watched + offsetof(yk_watched, probe.axis), &wrong_count, sizeof wrong_count},
        {"watch", budget + offsetof(yk_budget, count), &large_count, sizeof large_count},
        {"watch", budget + offsetof(yk_budget, count), &wrong_count, sizeof wrong_count},
        {"watch", budget + offsetof(yk_budget, moves), &wrong_bool, 1},
        {"watch", budget + offsetof(yk_budget, not_finite), &wrong_bool, 1},
        {"watch", budget + offsetof(yk_budget, stride), &wrong_step, sizeof wrong_step},
        {"memory", memory_failures + offsetof(yk_system_failures, used_fallback), &wrong_bool, 1},
        {"memory", memory_failures + offsetof(yk_system_failures, subsystem), &large_count,
         sizeof large_count},
        {"memory", offsetof(yk_system_statistics, worst_subsystem), &large_count,
         sizeof large_count},
        {"state", 0, &not_a_number, sizeof not_a_number},
    };
    for (size_t i = 0; i < sizeof crafted / sizeof *crafted; i++) {
        leave_checkpoint(folder, path, sizeof path);
        craft(folder, path, crafted[i].section, crafted[i].at, crafted[i].bytes, crafted[i].count);
        resume_into(folder, "two-mass-oscillator", "cannot continue from this checkpoint");
    }
}

static void foreign_checkpoints_and_journals_are_refused(void **state)
{
    test_folder *folder = *state;
    char path[600];
    leave_checkpoint(folder, path, sizeof path);
    resume_into(folder, "double-pendulum", "a state of");

    /* A journal that was cut, damaged or is another run's. */
    size_t length;
    char *bytes = read_whole(in_folder(folder, "b.h5.part"), &length);
    write_file(in_folder(folder, "b.h5.part"), bytes, length / 3);
    resume_into(folder, "two-mass-oscillator", "shorter than it was");
    bytes[length / 4] ^= 1;
    write_file(in_folder(folder, "b.h5.part"), bytes, length);
    resume_into(folder, "two-mass-oscillator", "b.h5.part");
    bytes[length / 4] ^= 1;
    bytes[100] ^= 1;
    write_file(in_folder(folder, "b.h5.part"), bytes, length);
    resume_into(folder, "two-mass-oscillator", "another run");
    free(bytes);
}

/* Runs of the same scenario, so that only the contents tell their journals apart. */
static void journals_of_other_runs_are_refused(void **state)
{
    test_folder *folder = *state;
    char path[600];
    leave_checkpoint(folder, path, sizeof path);

    /* A row that was recorded differently, with the checksum of its block as it should be. */
    size_t length;
    char *bytes = read_whole(in_folder(folder, "b.h5.part"), &length);
    size_t at = 24;
    uint64_t size = 0;
    memcpy(&size, bytes + at + 8, sizeof size);
    at += 32 + size;
    bytes[at + 40] ^= 1;
    memcpy(&size, bytes + at + 8, sizeof size);
    uint64_t checksum = yk_checksum_bytes(YK_HASH_START, bytes + at, 24);
    checksum = yk_checksum_bytes(checksum, bytes + at + 32, size);
    memcpy(bytes + at + 24, &checksum, sizeof checksum);
    write_file(in_folder(folder, "b.h5.part"), bytes, length);
    free(bytes);
    resume_into(folder, "two-mass-oscillator", "another run of the same scenario");
    assert_true(file_exists(path));
}

/* The same command again, as a service manager or a batch system gives it. */
static void checkpoints_are_not_overwritten_by_another_start(void **state)
{
    test_folder *folder = *state;
    char path[600];
    leave_checkpoint(folder, path, sizeof path);
    size_t before, after;
    char *then = read_whole(path, &before);
    const char *overrides[OVERRIDES_MAX] = {"time.end=0.06"};
    for (int i = 0; i < 3; i++) {
        opened o = open_scenario(model_file("two-mass-oscillator"), NULL, overrides, 1);
        yk_run_report report;
        yk_run_options def = {.checkpoint_path = path,
                              .checkpoint_unit = YK_CHECKPOINT_SIMULATED_TIME,
                              .checkpoint_interval = 0.01};
        assert_int_equal(run_to(&o, folder, "b.h5", &def, -1, &report), YK_ERROR_FILE);
        assert_non_null(strstr(yk_last_message(o.context), "yoke resume"));
        close_scenario(&o);
        assert_false(file_exists(in_folder(folder, "b.h5.part.old")));
        if (i < 2) {
            char *now = read_whole(path, &after);
            assert_int_equal(before, after);
            assert_memory_equal(then, now, before);
            free(now);
        }

        /* Also when only the one before it is left. */
        if (i == 1)
            assert_int_equal(unlink(path), 0);
    }
    free(then);
}

/* Data files that have changed are named, also if nothing is recorded. */
static void changed_files_are_refused(void **state)
{
    test_folder *folder = *state;
    char scenario[600], table[600], checkpoint[600];
    snprintf(scenario, sizeof scenario, "%s", in_folder(folder, "scenario.yaml"));
    snprintf(table, sizeof table, "%s", in_folder(folder, "frequencies.csv"));
    snprintf(checkpoint, sizeof checkpoint, "%s", in_folder(folder, "b.checkpoint"));
    static const char *const files[] = {"scenario.yaml", "frequencies.csv", "modes.csv",
                                        "nodes.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char from[600];
        snprintf(from, sizeof from, "%s", model_file("modal-cantilever"));
        strcpy(strrchr(from, '/') + 1, files[i]);
        size_t length;
        char *bytes = read_whole(from, &length);
        write_file(in_folder(folder, files[i]), bytes, length);
        free(bytes);
    }

    const char *overrides[OVERRIDES_MAX] = {"time.end=0.02"};
    for (int recorded = 0; recorded < 2; recorded++) {
        opened broken = open_scenario(scenario, NULL, overrides, 1);
        yk_run_report report;
        yk_run_options def = {.checkpoint_path = checkpoint,
                              .checkpoint_unit = YK_CHECKPOINT_STEPS,
                              .checkpoint_interval = 2};
        assert_int_equal(run_to(&broken, folder, "b.h5", &def, 6, &report), YK_ERROR_EXTERNAL);
        close_scenario(&broken);

        size_t length;
        char *bytes = read_whole(table, &length);
        char *line = strstr(bytes, "1,26");
        assert_non_null(line);
        line[3] = '7';
        write_file(table, bytes, length);

        yk_checkpoint *from = NULL;
        assert_int_equal(yk_checkpoint_load(folder->context, checkpoint, &from), YK_OK);
        const yk_checkpoint_info *info = yk_checkpoint_get_info(from);
        opened o = open_scenario(info->scenario_path, info->scenario_text, NULL, 1);
        def.resume_from = from;
        yk_status status;
        if (recorded)
            status = run_to(&o, folder, "b.h5", &def, -1, &report);
        else
            status = yk_run(o.context, o.scenario, &(yk_run_options){.resume_from = from}, &report);
        assert_int_equal(status, YK_ERROR_INPUT);
        assert_non_null(strstr(yk_last_message(o.context), "frequencies.csv' has changed"));
        close_scenario(&o);
        yk_checkpoint_destroy(from);

        line[3] = '6';
        write_file(table, bytes, length);
        free(bytes);
        assert_int_equal(unlink(checkpoint), 0);
        assert_int_equal(unlink(in_folder(folder, "b.checkpoint.previous")), 0);
    }
}

static void records_that_cannot_be_resumed_are_named(void **state)
{
    test_folder *folder = *state;
    char checkpoint[600];
    snprintf(checkpoint, sizeof checkpoint, "%s", in_folder(folder, "b.checkpoint"));
    const char *overrides[OVERRIDES_MAX] = {"time.end=0.06"};
    opened o = open_scenario(model_file("two-mass-oscillator"), NULL, overrides, 1);
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(o.context, &record), YK_OK);
    yk_run_options def = {.checkpoint_path = checkpoint,
                          .checkpoint_unit = YK_CHECKPOINT_STEPS,
                          .checkpoint_interval = 10,
                          .recorder = yk_record_recorder(record)};
    assert_int_equal(yk_run(o.context, o.scenario, &def, NULL), YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(o.context), "kind memory"));
    yk_record_destroy(record);
    close_scenario(&o);
}

static void subsystems_that_cannot_be_saved_are_named(void **state)
{
    test_folder *folder = *state;
    char checkpoint[600];
    snprintf(checkpoint, sizeof checkpoint, "%s", in_folder(folder, "b.checkpoint"));
    opened o = open_scenario(model_file("two-mass-oscillator"), NULL, NULL, 1);

    /* Its second subsystem has no rollback. */
    yk_subsystem *right = yk_scenario_get_info(o.scenario)->subsystems[1];
    const yk_subsystem_ops *whole = right->ops;
    yk_subsystem_ops less = *whole;
    less.rollback = NULL;
    right->ops = &less;
    yk_run_options def = {.checkpoint_path = checkpoint,
                          .checkpoint_unit = YK_CHECKPOINT_STEPS,
                          .checkpoint_interval = 10};
    assert_int_equal(yk_run(o.context, o.scenario, &def, NULL), YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(o.context), "'right' (oscillator)"));
    assert_non_null(strstr(yk_last_message(o.context), "run without checkpoints"));
    assert_false(file_exists(checkpoint));
    right->ops = whole;
    close_scenario(&o);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_go_on_as_if_never_stopped),
        TEST(damaged_checkpoints_are_refused),
        TEST(crafted_checkpoints_are_refused),
        TEST(foreign_checkpoints_and_journals_are_refused),
        TEST(journals_of_other_runs_are_refused),
        TEST(checkpoints_are_not_overwritten_by_another_start),
        TEST(changed_files_are_refused),
        TEST(records_that_cannot_be_resumed_are_named),
        TEST(subsystems_that_cannot_be_saved_are_named),
    };
    return cmocka_run_group_tests_name("analysis/checkpoint", tests, NULL, NULL);
}
