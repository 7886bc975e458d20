/* Checkpoints whose words were changed by somebody who also made the checksum good, and the runs that
 * are resumed from them: a run either continues or is refused with a message.
 *
 * The first byte of an input selects a run of the table below, which is broken off after a few steps
 * once per process. Each group of 12 bytes then changes one word of its checkpoint: section, kind of
 * the change, index of the word (two bytes), value (eight bytes). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/checkpoint.h"
#include "targets.h"
#include "yoke/analysis.h"

enum { OVERRIDES_MAX = 5, CHANGE_BYTES = 12, CHECKPOINT_STEPS = 8 };

typedef struct resumed_run {
    const char *model;
    const char *overrides[OVERRIDES_MAX];
} resumed_run;

/* All kinds of subsystems, schemes and policies, as small as possible: the end is 20 steps from the
 * start. */
static const resumed_run runs[] = {
    {"two-mass-oscillator", {"time.step=2e-4", "time.end=0.004"}},
    {"two-mass-oscillator", {"time.step=2e-4", "time.end=0.004", "coupling.scheme=tight"}},
    {"two-mass-oscillator", {"time.step=2e-4", "time.end=0.004", "coupling.scheme=rim"}},
    {"two-mass-oscillator",
     {"time.step=2e-4", "time.end=0.004", "coupling.on_failure={type: fallback, scheme: tight}"}},
    {"split-pendulum", {"time.step=1e-3", "time.end=0.02", "time.step_tolerance=1e-4"}},
    {"split-pendulum", {"time.step=1e-3", "time.end=0.02", "coupling.scheme=loose"}},
    {"split-pendulum",
     {"time.step=1e-3", "time.end=0.02", "coupling={scheme: index1, polynomial_degree: 2}"}},
    {"split-pendulum",
     {"time.step=1e-3", "time.end=0.02", "coupling={scheme: tight, on_failure: {type: halve}}"}},
    {"relaxed-slider-crank", {"time.step=1e-3", "time.end=0.02"}},
    {"controlled-arm", {"time.step=1e-3", "time.end=0.02"}},
    {"servo-cylinder", {"time.step=1e-3", "time.end=0.02"}},
    {"box-stack",
     {"time.step=1e-3", "time.end=0.02",
      "subsystems.world.sleeping={speed_threshold: 0.1, angular_speed_threshold: 1, delay: 2e-3}"}},
    {"newton-cradle", {"time.step=1e-3", "time.end=0.02"}},
    {"fed-hopper", {"time.step=1e-3", "time.end=0.02"}},
    {"slider-crank",
     {"time.step=1e-3", "time.end=0.02",
      "subsystems.mechanism.integrator={type: runge-kutta, step_tolerance: 1e-7}"}},
    {"floating-slider-crank", {"time.step=1e-3", "time.end=0.02"}},
};

enum { RUNS = sizeof runs / sizeof *runs, SECTIONS = 4 };

static const char *const sections[SECTIONS] = {"run", "state", "memory", "watch"};

static void require(bool promise, const char *what)
{
    if (promise)
        return;

    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* A recorder that keeps nothing and breaks the run off at a sample. */
typedef struct breaking_recorder {
    yk_recorder base;
    int left; /* samples; negative: never */
} breaking_recorder;

static yk_status begin_nothing(yk_recorder *self, const yk_record_header *header)
{
    (void)self;
    (void)header;
    return YK_OK;
}

static yk_status count_sample(yk_recorder *self, double time, const double *row)
{
    (void)time;
    (void)row;
    breaking_recorder *recorder = (breaking_recorder *)self;
    return recorder->left-- == 0 ? YK_ERROR_EXTERNAL : YK_OK;
}

static yk_status end_nothing(yk_recorder *self, const yk_record_summary *summary)
{
    (void)self;
    (void)summary;
    return YK_OK;
}

static yk_status keep_nothing(yk_recorder *self, yk_journal_position *position)
{
    (void)self;
    *position = (yk_journal_position){.count = 1};
    return YK_OK;
}

static yk_status resume_nothing(yk_recorder *self, const yk_record_header *header,
                                const yk_journal_position *position)
{
    (void)self;
    (void)header;
    (void)position;
    return YK_OK;
}

static const yk_recorder_ops breaking_ops = {.size = sizeof breaking_ops,
                                             .kind = "breaking",
                                             .begin = begin_nothing,
                                             .sample = count_sample,
                                             .end = end_nothing,
                                             .sync = keep_nothing,
                                             .resume = resume_nothing};

static yk_scenario *load_run(yk_context *context, const resumed_run *run, const char *text)
{
    static yk_cache *settled;
    if (!settled)
        settled = yk_cache_create();

    char path[512];
    snprintf(path, sizeof path, "%s/models/%s/scenario.yaml", YOKE_SOURCE_DIR, run->model);
    const char *overrides[OVERRIDES_MAX + 1] = {"record.every=1"};
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    def.text = text;
    def.cache = settled;
    if (!text) {
        def.overrides = overrides;
        def.override_count = 1;
        for (int i = 0; i < OVERRIDES_MAX && run->overrides[i]; i++)
            overrides[def.override_count++] = run->overrides[i];
    }

    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    require(yk_diagnostics_create(context, &diagnostics) == YK_OK, "there are diagnostics");
    if (yk_scenario_load(context, &def, diagnostics, &scenario) != YK_OK)
        fprintf(stderr, "%s", yk_diagnostics_format(diagnostics));
    require(scenario != NULL, "the scenario of a run can be loaded");
    yk_diagnostics_destroy(diagnostics);
    return scenario;
}

/* The sections of a run's checkpoint. */
typedef struct kept_run {
    unsigned char *bytes[SECTIONS];
    size_t count[SECTIONS];
    char *text; /* of its scenario */
} kept_run;

static const kept_run *break_off(int number, const char *path)
{
    static kept_run all[RUNS];
    kept_run *kept = &all[number];
    if (kept->text)
        return kept;

    /* A start does not overwrite the checkpoint of another run. */
    unlink(path);
    char previous[4096];
    snprintf(previous, sizeof previous, "%s.previous", path);
    unlink(previous);

    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_run(context, &runs[number], NULL);
    breaking_recorder recorder = {.base.ops = &breaking_ops, .left = CHECKPOINT_STEPS + 2};
    yk_run_options def = {.recorder = &recorder.base,
                          .checkpoint_path = path,
                          .checkpoint_unit = YK_CHECKPOINT_STEPS,
                          .checkpoint_interval = CHECKPOINT_STEPS};
    yk_run_report report;
    yk_status status = yk_run(context, scenario, &def, &report);
    require(status == YK_ERROR_EXTERNAL, "a run is broken off");

    yk_checkpoint_file *file = NULL;
    require(yk_checkpoint_read(context, path, &file) == YK_OK, "the run has left a checkpoint");
    for (int i = 0; i < SECTIONS; i++) {
        const void *bytes = yk_checkpoint_find(file, sections[i], &kept->count[i]);
        kept->bytes[i] = malloc(kept->count[i] + 1);
        memcpy(kept->bytes[i], bytes, kept->count[i]);
    }

    char *text = yk_scenario_resolved_text(scenario);
    kept->text = strdup(text);
    yk_free(context, text);
    yk_checkpoint_close(context, file);
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    return kept;
}

/* Values at which counts, indices and truth values break. */
static const uint64_t values[] = {0,
                                  1,
                                  2,
                                  255,
                                  (uint64_t)-1,
                                  UINT64_C(0x7fffffff),
                                  UINT64_C(0x80000000),
                                  UINT64_C(0x7fffffffffffffff),
                                  UINT64_C(0x8000000000000000),
                                  UINT64_C(0x7ff0000000000000),  /* infinity */
                                  UINT64_C(0x7ff8000000000000),  /* NaN */
                                  UINT64_C(0xbff0000000000000),  /* -1.0 */
                                  UINT64_C(0x41dfffffffc00000),  /* 2147483647.0 */
                                  UINT64_C(0x4330000000000001)}; /* 4503599627370497.0 */

static void change_word(unsigned char *bytes, size_t count, const unsigned char *change)
{
    size_t words = count / 8;
    if (words == 0)
        return;

    size_t index = (size_t)(change[2] | change[3] << 8) % words;
    unsigned char *word = bytes + 8 * index;
    switch (change[1] % 5) {
    case 0: memcpy(word, change + 4, 8); break;
    case 1: memcpy(word, change + 4, 4); break;
    case 2: memcpy(word + 4, change + 4, 4); break;
    case 3: word[change[4] % 8] = change[5]; break;
    default: memcpy(word, &values[change[4] % (sizeof values / sizeof *values)], 8); break;
    }
}

static void resume_changed(const unsigned char *data, size_t size)
{
    static char path[128];
    if (!path[0])
        snprintf(path, sizeof path, "%s", fuzz_write_file("a.checkpoint", "", 0));

    int number = data[0] % RUNS;
    const kept_run *kept = break_off(number, path);
    unsigned char *changed[SECTIONS];
    for (int i = 0; i < SECTIONS; i++) {
        changed[i] = malloc(kept->count[i] + 1);
        memcpy(changed[i], kept->bytes[i], kept->count[i]);
    }

    for (size_t at = 1; at + CHANGE_BYTES <= size; at += CHANGE_BYTES) {
        int section = data[at] % SECTIONS;
        change_word(changed[section], kept->count[section], data + at);
    }

    yk_context *context = yk_context_create(NULL);
    yk_checkpoint_section list[SECTIONS] = {0};
    for (int i = 0; i < SECTIONS; i++) {
        strcpy(list[i].name, sections[i]);
        list[i].bytes = changed[i];
        list[i].count = kept->count[i];
    }

    yk_checkpoint_remove(context, path);
    require(yk_checkpoint_write(context, path, list, SECTIONS) == YK_OK, "it can be written");
    yk_checkpoint *checkpoint = NULL;
    yk_status status = yk_checkpoint_load(context, path, &checkpoint);
    require(status == YK_OK || yk_last_message(context)[0], "a refusal says why");
    require(status == YK_OK || size > 1, "an unchanged checkpoint can be loaded");
    if (status == YK_OK) {
        yk_scenario *scenario = load_run(context, &runs[number], kept->text);
        breaking_recorder recorder = {.base.ops = &breaking_ops, .left = -1};
        yk_run_options def = {.recorder = &recorder.base, .resume_from = checkpoint};
        yk_run_report report;
        status = yk_run(context, scenario, &def, &report);
        require(!YK_FAILED(status) || yk_last_message(context)[0], "a failure says why");
        require(!YK_FAILED(status) || size > 1, "an unchanged checkpoint can be resumed");
        yk_scenario_destroy(scenario);
    }

    yk_checkpoint_destroy(checkpoint);
    yk_checkpoint_remove(context, path);
    yk_context_destroy(context);
    for (int i = 0; i < SECTIONS; i++)
        free(changed[i]);
}

void fuzz_resume(const unsigned char *data, size_t size)
{
    unsigned char *bytes = fuzz_take_bytes(data, &size);
    if (size > 0)
        resume_changed(bytes, size);
    free(bytes);
}
