/* Checkpoints of a run: all data that its next step depends on, in one file that is replaced as a
 * whole.
 *
 * The state image of the system contains the start of the next step; additional data contain
 * statistics and the last outputs of ports, interfaces and wires; the watch contains the
 * observations for findings. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "analysis/run.h"
#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/builder.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/scenario.h"
#include "record/checkpoint.h"
#include "record/serialize.h"

/* Sections of the file. */
static const char RUN[] = "run", STATE[] = "state", MEMORY[] = "memory", WATCH[] = "watch";

struct yk_checkpoint {
    yk_context *context;
    yk_checkpoint_file *file;
    yk_checkpoint_info info; /* points into the file, except the path */
    char *path;              /* path of the scenario */
    const char *inputs;      /* of the run */
    bool converged;
    double seconds; /* elapsed time of the run so far */
    yk_journal_position position;
};

/* Writing -------------------------------------------------------------------------------------- */

yk_status yk_checkpointer_open(yk_context *context, const yk_run_options *def,
                               yk_scenario *scenario, yk_system *system, yk_watch *watch,
                               yk_checkpointer *made)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    *made = (yk_checkpointer){
        .context = context,
        .def = def,
        .system = system,
        .watch = watch,
        .info = info,
        .last_time = info->start,
        .last_clock = yk_clock_seconds(),
    };

    /* Every subsystem must be able to save its state to a file. */
    int unsaved = yk_system_first_without_state(system).index;
    if (unsaved >= 0)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "checkpoints need the state of every subsystem, and '%s' (%s) cannot give "
                       "its state to be kept in a file: run without checkpoints, or take one that "
                       "can (of FMUs one that serialises its state, of partners and plug-ins one "
                       "that offers rollback)",
                       info->subsystem_names[unsaved], info->subsystem_solvers[unsaved]);
    if (def->recorder && !yk_recorder_can_resume(def->recorder))
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "checkpoints need a record that can be resumed, and a record of kind %s "
                       "cannot; record to files, or run without checkpoints",
                       def->recorder->ops->kind);

    /* Do not overwrite the checkpoint of a run that did not end. */
    if (def->checkpoint_path && !def->resume_from &&
        yk_checkpoint_exists(context, def->checkpoint_path))
        return yk_fail(context, YK_ERROR_FILE,
                       "'%s' is the checkpoint of a run that did not end. `yoke resume %s` "
                       "continues that run, and `yoke run --resume-or-start` does so by itself. To "
                       "start again, remove '%s' and '%s.previous', or choose another name "
                       "(checkpoint.file)",
                       def->checkpoint_path, def->checkpoint_path, def->checkpoint_path,
                       def->checkpoint_path);

    /* Report an unusable name now, not when the first checkpoint is due. */
    if (def->checkpoint_path) {
        yk_status status = yk_checkpoint_try(context, def->checkpoint_path);
        if (status != YK_OK)
            return status;
    }

    /* Another run reads the checkpoints; this run never returns to their states. */
    made->state_words = yk_system_saved_layout(system).word_count;
    if (made->state_words == 0)
        return yk_fail(context, YK_ERROR_SUBSYSTEM,
                       "checkpoints need the state of every subsystem, and one of them did not "
                       "give its state; run without checkpoints");

    /* Memory for one image, reused by every checkpoint. */
    made->memory_words = yk_system_checkpoint_size(system);
    made->watch_words = yk_watch_words(watch);
    size_t words = made->state_words + made->memory_words + made->watch_words;
    made->words = yk_allocate(context, words, sizeof *made->words);
    made->scenario = yk_scenario_resolved_text(scenario);
    made->inputs = yk_scenario_inputs(scenario);
    if (!made->words || !made->scenario || !made->inputs)
        return YK_ERROR_MEMORY;

    return YK_OK;
}

void yk_checkpointer_close(yk_checkpointer *self)
{
    yk_free(self->context, self->words);
    yk_free(self->context, self->scenario);
    yk_free(self->context, self->inputs);
}

bool yk_checkpointer_due(const yk_checkpointer *self, int64_t step, double clock)
{
    double every = self->def->checkpoint_interval;
    switch (self->def->checkpoint_unit) {
    case YK_CHECKPOINT_STEPS: return step - self->last_step >= (int64_t)every;
    case YK_CHECKPOINT_SIMULATED_TIME:
        /* An interval that is no multiple of the step is rounded to whole steps. */
        return yk_system_time(self->system) - self->last_time >= every - 0.5 * self->info->step;
    case YK_CHECKPOINT_WALL_TIME: return clock - self->last_clock >= every;
    default: return false;
    }
}

yk_status yk_checkpointer_write(yk_checkpointer *self, int64_t step, bool converged, double seconds)
{
    const yk_run_options *def = self->def;
    self->last_step = step;
    self->last_time = yk_system_time(self->system);
    self->last_clock = yk_clock_seconds();

    /* The record first: data that a checkpoint refers to must be on the disk. */
    yk_journal_position position = {0};
    if (def->recorder) {
        yk_status status = yk_recorder_sync(def->recorder, &position);
        if (status != YK_OK)
            return status;
    }

    /* Data to load the same scenario again, and the position of the run. The path is stored
     * relative to the checkpoint, so that the current folder does not matter when the run is
     * resumed. The absolute path is used if the checkpoint was moved alone. */
    char *relative = yk_path_relative(self->context, self->info->path, def->checkpoint_path);
    char *whole_path = realpath(self->info->path, NULL);
    yk_pack pack = {.context = self->context};
    yk_pack_text(&pack, yk_version());
    yk_pack_text(&pack, relative);
    yk_pack_text(&pack, whole_path);
    pack.failed = pack.failed || !relative;
    yk_free(self->context, relative);
    free(whole_path);
    yk_pack_text(&pack, self->inputs);
    yk_pack_text(&pack, self->scenario);
    yk_pack_text(&pack, def->command);
    yk_pack_text(&pack, def->note);
    yk_pack_number(&pack, (uint64_t)def->frame_count);
    yk_pack_number(&pack, (uint64_t)step);
    yk_pack_bytes(&pack, &self->last_time, sizeof self->last_time);
    yk_pack_number(&pack, converged);
    yk_pack_bytes(&pack, &seconds, sizeof seconds);
    yk_pack_number(&pack, (uint64_t)position.count);
    for (int i = 0; i < position.count; i++) {
        yk_pack_number(&pack, position.length[i]);
        yk_pack_number(&pack, position.digest[i]);
    }

    /* Data on which the next step depends. */
    double *state = self->words;
    double *memory = state + self->state_words;
    double *watch = memory + self->memory_words;
    yk_system_get_state(self->system, state);
    yk_system_get_checkpoint_data(self->system, memory);
    yk_watch_save(self->watch, watch);

    /* An incomplete state must not replace an older complete one. */
    yk_status whole = yk_system_remote_status(self->system);
    if (whole != YK_OK) {
        yk_pack_destroy(&pack);
        return whole;
    }

    /* Sections are found by their names. */
    yk_checkpoint_section sections[] = {
        {.bytes = pack.data, .count = pack.size},
        {.bytes = state, .count = self->state_words * sizeof *state},
        {.bytes = memory, .count = self->memory_words * sizeof *state},
        {.bytes = watch, .count = self->watch_words * sizeof *state},
    };
    memcpy(sections[0].name, RUN, sizeof RUN);
    memcpy(sections[1].name, STATE, sizeof STATE);
    memcpy(sections[2].name, MEMORY, sizeof MEMORY);
    memcpy(sections[3].name, WATCH, sizeof WATCH);

    yk_status status = YK_ERROR_MEMORY;
    if (!pack.failed)
        status = yk_checkpoint_write(self->context, def->checkpoint_path, sections, 4);
    yk_pack_destroy(&pack);
    if (status == YK_OK)
        self->written = true;

    return status;
}

/* Reading -------------------------------------------------------------------------------------- */

static double unpack_double(yk_unpack *pack)
{
    double value = 0;
    const void *from = yk_unpack_bytes(pack, sizeof value);
    if (from)
        memcpy(&value, from, sizeof value);

    return value;
}

static yk_status read_run(yk_checkpoint *self, const char *path)
{
    size_t bytes = 0;
    yk_unpack pack = {.data = yk_checkpoint_find(self->file, RUN, &bytes)};
    pack.size = bytes;

    /* Another version may compute other bits, and use another layout. */
    const char *version = yk_unpack_text(&pack);
    if (!pack.failed && strcmp(version, yk_version()) != 0)
        return yk_fail(self->context, YK_ERROR_INPUT,
                       "'%s' was written by version %s, and this is %s, which may compute other "
                       "bits: go on with that version",
                       path, version, yk_version());

    /* In the order of packing. */
    const char *relative = yk_unpack_text(&pack);
    const char *whole = yk_unpack_text(&pack);
    self->inputs = yk_unpack_text(&pack);
    self->info.scenario_text = yk_unpack_text(&pack);
    self->info.command = yk_unpack_text(&pack);
    self->info.note = yk_unpack_text(&pack);
    self->info.frame_count = (int)yk_unpack_number(&pack);
    self->info.step = (int64_t)yk_unpack_number(&pack);
    self->info.time = unpack_double(&pack);
    self->converged = yk_unpack_number(&pack) != 0;
    self->seconds = unpack_double(&pack);

    /* Lengths of the files of the record. */
    self->position.count = yk_unpack_count(&pack, 2 * sizeof(uint64_t));
    if (self->position.count > YK_RECORD_FILES_MAX)
        pack.failed = true;
    for (int i = 0; !pack.failed && i < self->position.count; i++) {
        self->position.length[i] = yk_unpack_number(&pack);
        self->position.digest[i] = yk_unpack_number(&pack);
    }

    if (pack.failed)
        return yk_fail(self->context, YK_ERROR_INPUT,
                       "'%s' is a checkpoint of something else than a run, or of another build of "
                       "this program",
                       path);

    self->path = yk_path_resolve(self->context, relative, path);
    if (self->path && *whole && access(self->path, F_OK) != 0) {
        yk_free(self->context, self->path);
        self->path = yk_text_copy(self->context, whole);
    }

    self->info.scenario_path = self->path;
    return self->path ? YK_OK : YK_ERROR_MEMORY;
}

yk_status yk_checkpoint_load(yk_context *context, const char *path, yk_checkpoint **checkpoint)
{
    *checkpoint = NULL;
    if (!path)
        return yk_refuse_null(context, __func__, "path");

    yk_checkpoint *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->context = context;
    yk_status status = yk_checkpoint_read(context, path, &self->file);
    if (status == YK_OK)
        status = read_run(self, path);
    if (status != YK_OK) {
        yk_checkpoint_destroy(self);
        return status;
    }

    *checkpoint = self;
    return YK_OK;
}

void yk_checkpoint_destroy(yk_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;

    yk_checkpoint_close(checkpoint->context, checkpoint->file);
    yk_free(checkpoint->context, checkpoint->path);
    yk_free(checkpoint->context, checkpoint);
}

const yk_checkpoint_info *yk_checkpoint_get_info(const yk_checkpoint *checkpoint)
{
    return &checkpoint->info;
}

/* The file of a line "# HASH PATH"; NULL if the line is of another kind. */
static const char *input_of_line(const char *line)
{
    bool file = strncmp(line, "# ", 2) == 0 && strncmp(line, "# version ", 10) != 0 &&
                strncmp(line, "# scenario ", 11) != 0;
    const char *space = file ? strchr(line + 2, ' ') : NULL;
    return space ? space + 1 : NULL;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Files that the scenario names must have the same contents. Their paths may differ, because the
 * run may be resumed from another folder. */
static yk_status check_inputs(yk_context *context, const char *then, const char *now)
{
    while (*then || *now) {
        const char *was = input_of_line(then);
        const char *is = input_of_line(now);
        if ((was || is) && (!was || !is || was - then != is - now ||
                            memcmp(then, now, (size_t)(was - then)) != 0)) {
            const char *name = is ? is : was;
            return yk_fail(context, YK_ERROR_INPUT,
                           "'%.*s' has changed since the run was stopped. Restore the file, or "
                           "start the run again",
                           (int)strcspn(name, "\n"), name);
        }

        then = next_line(then);
        now = next_line(now);
    }

    return YK_OK;
}

yk_status yk_checkpointer_restore(yk_checkpointer *self, const yk_checkpoint *from)
{
    yk_status status = check_inputs(self->context, from->inputs, self->inputs);
    if (status != YK_OK)
        return status;

    /* The record continues with its original header. */
    char *inputs = yk_text_copy(self->context, from->inputs);
    if (!inputs)
        return YK_ERROR_MEMORY;
    yk_free(self->context, self->inputs);
    self->inputs = inputs;

    /* The system was created again from the scenario: the number of words must agree with the file. */
    size_t state_bytes, memory_bytes, watch_bytes;
    const double *state = yk_checkpoint_find(from->file, STATE, &state_bytes);
    const double *memory = yk_checkpoint_find(from->file, MEMORY, &memory_bytes);
    const double *watch = yk_checkpoint_find(from->file, WATCH, &watch_bytes);
    bool fits = state && memory && watch && state_bytes == self->state_words * sizeof *state &&
                memory_bytes == self->memory_words * sizeof *state &&
                watch_bytes == self->watch_words * sizeof *state;
    if (!fits)
        return yk_fail(self->context, YK_ERROR_INPUT,
                       "the checkpoint has a state of %zu words, and the system that is to go on "
                       "from it one of %zu: files that the scenario names have changed since, or "
                       "another build of the program wrote it",
                       state_bytes / sizeof *state, self->state_words);

    /* The checksum detects damage, not manipulation: every count, index and truth value is checked
     * where it is restored, and the numbers of the motion here. */
    size_t continuous = yk_system_state_layout(self->system).continuous_count;
    for (size_t i = 0; status == YK_OK && i < continuous; i++)
        if (!isfinite(state[i]))
            status =
                yk_fail(self->context, YK_ERROR_INPUT, "word %zu of the state is %g", i, state[i]);
    if (status == YK_OK)
        status = yk_system_set_state(self->system, state);
    if (!YK_FAILED(status))
        status = yk_system_set_checkpoint_data(self->system, memory);
    if (!YK_FAILED(status))
        status = yk_watch_restore(self->watch, watch);
    int64_t step = from->info.step;
    if (!YK_FAILED(status) &&
        (step != yk_system_step_count(self->system) || step > self->info->step_count))
        status = yk_fail(self->context, YK_ERROR_INPUT,
                         "it was written after step %lld of %lld, and its state is that after step "
                         "%lld",
                         (long long)step, (long long)self->info->step_count,
                         (long long)yk_system_step_count(self->system));
    if (YK_FAILED(status)) {
        char why[YK_BUILDING_MESSAGE];
        snprintf(why, sizeof why, "%s", yk_last_message(self->context));
        return yk_fail(
            self->context, YK_ERROR_INPUT,
            "the run cannot continue from this checkpoint: %s; resume from an older one, "
            "or run the scenario from its start",
            why);
    }

    /* Restore the state of the run; the interval to the next checkpoint starts here. */
    self->converged = from->converged;
    self->seconds = from->seconds;
    self->position = from->position;
    self->last_step = from->info.step;
    self->last_time = yk_system_time(self->system);
    self->last_clock = yk_clock_seconds();
    self->written = true;

    return YK_OK;
}
