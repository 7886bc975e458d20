/* Cost of recording per sample: to memory, to files, and for rows from narrow to wide. */
#include "yoke/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

enum { SAMPLES = 20000, WIDTH_MAX = 600 };

/* Channels of three components each, or the six doubles of two masses' position, velocity and
 * force. */
static void record_samples(bench *run, yk_recorder *recorder, int vectors)
{
    static yk_record_channel channels[WIDTH_MAX / 3];
    static char names[WIDTH_MAX / 3][24];
    double row[WIDTH_MAX];
    for (int i = 0; i < vectors; i++) {
        snprintf(names[i], sizeof names[i], "part%d.value", i);
        channels[i] = (yk_record_channel){.name = names[i], .unit = "m", .component_count = 3};
    }
    for (int i = 0; i < 3 * vectors; i++)
        row[i] = 1.0 / (i + 3);
    const yk_record_header header = {.channels = channels, .channel_count = vectors};
    while (bench_repeat(run)) {
        if (!bench_check(run, yk_recorder_begin(recorder, &header)))
            return;
        yk_status status = YK_OK;
        bench_start(run);
        for (int i = 0; i < SAMPLES && status == YK_OK; i++) {
            row[0] = i * 1e-4;
            status = yk_recorder_sample(recorder, row[0], row);
        }
        bench_stop(run, SAMPLES);
        bench_check(run, status);
        bench_check(run, yk_recorder_end(recorder, NULL));
    }
}

static void to_memory(bench *run, int vectors)
{
    yk_record *record = NULL;
    if (!bench_check(run, yk_record_create(bench_context(run), &record)))
        return;
    record_samples(run, yk_record_recorder(record), vectors);
    yk_record_destroy(record);
}

static void to_file(bench *run, yk_record_format format)
{
    char path[] = "yoke-bench-XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0) {
        bench_fail(run, "no temporary file");
        return;
    }
    close(descriptor);
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = path;
    def.format = format;
    yk_recorder *recorder = NULL;
    if (bench_check(run, yk_file_recorder_create(bench_context(run), &def, &recorder))) {
        record_samples(run, recorder, 2);
        yk_recorder_destroy(recorder);
    }
    unlink(path);
}

/* Memory that has never been touched, as in the first run of a program. */
static void memory_fresh(bench *run)
{
    const yk_record_channel channels[] = {{.name = "a", .component_count = 3},
                                          {.name = "b", .component_count = 3}};
    const yk_record_header header = {.channels = channels, .channel_count = 2};
    const double row[6] = {1, 2, 3, 4, 5, 6};
    while (bench_repeat(run)) {
        yk_record *record = NULL;
        if (!bench_check(run, yk_record_create(bench_context(run), &record)))
            return;
        yk_recorder *recorder = yk_record_recorder(record);
        yk_status status = yk_recorder_begin(recorder, &header);
        bench_start(run);
        for (int i = 0; i < SAMPLES && status == YK_OK; i++)
            status = yk_recorder_sample(recorder, i * 1e-4, row);
        bench_stop(run, SAMPLES);
        bench_check(run, status);
        yk_record_destroy(record);
    }
}

static void memory_6(bench *run)
{
    to_memory(run, 2);
}

static void memory_60(bench *run)
{
    to_memory(run, 20);
}

static void memory_600(bench *run)
{
    to_memory(run, 200);
}

static void hdf5_6(bench *run)
{
    to_file(run, YK_RECORD_FORMAT_HDF5);
}

static void csv_6(bench *run)
{
    to_file(run, YK_RECORD_FORMAT_CSV);
}

const bench_case bench_record[] = {
    {.name = "record/memory-6", .unit = "sample", .run = memory_6},
    {.name = "record/memory-6-fresh",
     .unit = "sample",
     .run = memory_fresh,
     .relative_to = "record/memory-6"},
    {.name = "record/memory-60",
     .unit = "sample",
     .run = memory_60,
     .relative_to = "record/memory-6"},
    {.name = "record/memory-600",
     .unit = "sample",
     .run = memory_600,
     .relative_to = "record/memory-6"},
    {.name = "record/hdf5-6", .unit = "sample", .run = hdf5_6, .relative_to = "record/memory-6"},
    {.name = "record/csv-6", .unit = "sample", .run = csv_6, .relative_to = "record/memory-6"},
    {0},
};
