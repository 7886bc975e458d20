/* Shared by the tests of recorders: a context and a temporary folder for each test, a header with
 * unusual names, and rows with known bits. */
#ifndef YOKE_TESTS_RECORD_FOLDER_H
#define YOKE_TESTS_RECORD_FOLDER_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "yoke/record.h"

typedef struct test_folder {
    yk_context *context;
    char path[256];
    char file[512]; /* filled by in_folder */
} test_folder;

static inline int open_folder(void **state)
{
    test_folder *made = calloc(1, sizeof *made);
    snprintf(made->path, sizeof made->path, "record-XXXXXX"); /* in the folder of the build */
    made->context = yk_context_create(NULL);
    *state = made;
    return made->context && mkdtemp(made->path) ? 0 : -1;
}

static inline int close_folder(void **state)
{
    test_folder *self = *state;
    chmod(self->path, 0700);
    DIR *listing = opendir(self->path);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(listing), entry->d_name, 0);
    closedir(listing);
    int removed = rmdir(self->path);
    yk_context_destroy(self->context);
    free(self);
    return removed;
}

/* The path of a file in the folder, valid until the next call. */
static inline const char *in_folder(test_folder *self, const char *name)
{
    snprintf(self->file, sizeof self->file, "%s/%s", self->path, name);
    return self->file;
}

static inline bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static inline void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
}

/* The whole file with a terminator; to be freed. */
static inline char *read_whole(const char *path, size_t *length)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *length = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*length + 1);
    assert_int_equal(fread(bytes, 1, *length, stream), *length);
    bytes[*length] = '\0';
    fclose(stream);
    return bytes;
}

/* Channels ------------------------------------------------------------------------------------- */

static const char *const odd_labels[] = {"a, b", "[x]:1"};

static const yk_record_channel sample_channels[] = {
    {.name = "left.position", .unit = "m", .component_count = 3},
    {.name = "left", .unit = "J", .component_count = 1}, /* also a group of the one before */
    {.name = "left.position.x", .component_count = 1},
    {.name = "beam \"A\", end\nmarker.force [x]: \\ ",
     .unit = "N/mm^2 [abs]",
     .component_count = 2,
     .labels = odd_labels},
    {.name = "a/b..c.",
     .unit = "\xc2\xb5m",
     .component_count = 1}, /* slashes, empty parts, UTF-8 */
    {.name = "a_b..c.", .unit = "\xc2\xb5m", .component_count = 4},
    {.name = ".", .unit = "1", .component_count = 5},
};

enum { SAMPLE_CHANNELS = sizeof sample_channels / sizeof *sample_channels, SAMPLE_WIDTH = 17 };

static const yk_record_header sample_header = {.title = "Two masses \xe2\x80\x93 and a \"quote\"",
                                               .scenario_text = "title: x\ntime: {end: 2}\n",
                                               .command = "yoke run x.yaml",
                                               .channels = sample_channels,
                                               .channel_count = SAMPLE_CHANNELS};

/* Any number of them are alike only if all their bits are: small, large, negative, denormal,
 * infinite, NaN. */
static inline double sample_value(size_t row, size_t column)
{
    static const double special[] = {
        INFINITY, -INFINITY, NAN, -0.0, 5e-324, -1.7976931348623157e308, 0.1, 1e22};
    uint64_t mix = (row * 1000003 + column) * 0x9e3779b97f4a7c15u;
    if (mix % 7 == 0)
        return special[mix / 7 % 8];
    return ldexp((double)(int64_t)mix, (int)(mix >> 58) - 90);
}

static inline void sample_row(size_t row, double *values, size_t width)
{
    for (size_t i = 0; i < width; i++)
        values[i] = sample_value(row, i);
}

static inline double sample_time(size_t row)
{
    return 1e-4 * (double)row;
}

static inline void record_samples(yk_recorder *recorder, size_t first, size_t end)
{
    double row[SAMPLE_WIDTH];
    for (size_t i = first; i < end; i++) {
        sample_row(i, row, SAMPLE_WIDTH);
        assert_int_equal(yk_recorder_sample(recorder, sample_time(i), row), YK_OK);
    }
}

static inline void assert_same_bits(double actual, double expected)
{
    if (isnan(expected))
        assert_true(isnan(actual));
    else
        assert_memory_equal(&actual, &expected, sizeof actual);
}

static inline void assert_samples(const yk_record *record, size_t rows)
{
    assert_int_equal(yk_record_row_count(record), rows);
    const yk_record_header *header = yk_record_get_header(record);
    for (size_t i = 0; i < rows; i++)
        assert_same_bits(yk_record_times(record)[i], sample_time(i));
    size_t column = 0;
    for (int channel = 0; channel < header->channel_count; channel++)
        for (int c = 0; c < header->channels[channel].component_count; c++, column++)
            for (size_t i = 0; i < rows; i++)
                assert_same_bits(yk_record_column(record, channel, c)[i], sample_value(i, column));
    assert_int_equal(column, SAMPLE_WIDTH);
}

/* Names, units and labels as given, with the default labels filled in. */
static inline void assert_channels(const yk_record *record)
{
    static const char *const position[] = {"x", "y", "z"}, *const orientation[] = {"w", "x", "y",
                                                                                   "z"};
    static const char *const numbers[] = {"1", "2", "3", "4", "5"}, *const none[] = {""};
    const char *const *const labels[] = {position, none,        none,   odd_labels,
                                         none,     orientation, numbers};
    const yk_record_header *header = yk_record_get_header(record);
    assert_int_equal(header->channel_count, SAMPLE_CHANNELS);
    for (int i = 0; i < SAMPLE_CHANNELS; i++) {
        const yk_record_channel *channel = &header->channels[i], *given = &sample_channels[i];
        assert_string_equal(channel->name, given->name);
        assert_string_equal(channel->unit, given->unit ? given->unit : "1");
        assert_int_equal(channel->component_count, given->component_count);
        for (int c = 0; c < given->component_count; c++)
            assert_string_equal(channel->labels[c], labels[i][c]);
        assert_int_equal(yk_record_find_channel(record, given->name), i);
    }
    assert_int_equal(yk_record_find_channel(record, "right"), -1);
}

static inline yk_recorder *create_file_recorder(test_folder *folder, const char *name)
{
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, name);
    yk_recorder *recorder = NULL;
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_OK);
    return recorder;
}

static inline yk_record *load_file(test_folder *folder, const char *name)
{
    yk_record *record = NULL;
    yk_status status = yk_record_load(folder->context, in_folder(folder, name), &record);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(folder->context));
    assert_int_equal(status, YK_OK);
    return record;
}

#endif
