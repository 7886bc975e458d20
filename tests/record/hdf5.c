/* HDF5 files as other programs read them: the layout as the HDF5 library sees it, killed and
 * failing runs, threads. */
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "folder.h"

static void record_file(test_folder *folder, const char *name, size_t rows,
                        const yk_record_summary *summary)
{
    yk_recorder *recorder = create_file_recorder(folder, name);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, rows);
    assert_int_equal(yk_recorder_end(recorder, summary), YK_OK);
    yk_recorder_destroy(recorder);
}

static void assert_text_attribute(hid_t object, const char *name, const char *expected)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    char *text = NULL;
    assert_true(H5Aread(attribute, type, &text) >= 0);
    assert_string_equal(text, expected);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_UTF8);
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
}

static void assert_table(hid_t file, const char *path, const char *unit, int rank, hsize_t rows,
                         hsize_t columns)
{
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(dataset >= 0);
    hid_t space = H5Dget_space(dataset);
    hsize_t size[2] = {0, 1};
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    H5Sget_simple_extent_dims(space, size, NULL);
    assert_int_equal(size[0], rows);
    assert_int_equal(size[1], columns);
    assert_text_attribute(dataset, "units", unit);
    H5Sclose(space);

    /* Its rows are those of the time, which is a dimension scale. */
    bool scale = strcmp(path, "/time") == 0;
    hid_t attribute = H5Aopen(dataset, scale ? "REFERENCE_LIST" : "DIMENSION_LIST", H5P_DEFAULT);
    assert_true(attribute >= 0);
    if (!scale) {
        hvl_t scales[2];
        hid_t type = H5Aget_type(attribute);
        assert_true(H5Aread(attribute, type, scales) >= 0);
        assert_int_equal(scales[0].len, 1);
        hid_t found = H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, scales[0].p);
        char name[16] = "";
        H5Iget_name(found, name, sizeof name);
        assert_string_equal(name, "/time");
        if (rank > 1)
            assert_int_equal(scales[1].len, 0);
        hid_t entries = H5Aget_space(attribute);
        H5Dvlen_reclaim(type, entries, H5P_DEFAULT, scales);
        H5Sclose(entries);
        H5Oclose(found);
        H5Tclose(type);
    }
    H5Aclose(attribute);
    H5Dclose(dataset);
}

static void layout_is_the_documented_one(void **state)
{
    test_folder *folder = *state;
    const yk_record_value values[] = {
        {.name = "largest error", .value = 1.5e-7, .unit = "m", .text = "at the tip"}};
    record_file(folder, "a.h5", 1030, &(yk_record_summary){values, 1});
    hid_t file = H5Fopen(in_folder(folder, "a.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_text_attribute(file, "format", "yoke results");
    char software[64];
    snprintf(software, sizeof software, "yoke %s", yk_version());
    assert_text_attribute(file, "software", software);
    assert_text_attribute(file, "title", sample_header.title);
    assert_text_attribute(file, "scenario_yaml", sample_header.scenario_text);
    assert_text_attribute(file, "command", sample_header.command);
    assert_table(file, "/time", "s", 1, 1030, 1);
    assert_table(file, "/channels/left/position", "m", 2, 1030, 3);
    assert_table(file, "/channels/left~2", "J", 1, 1030, 1); /* "left" is a group already */
    assert_table(file, "/channels/left/position~2/x", "1", 1, 1030,
                 1); /* and "left.position" a dataset */
    assert_table(file, "/channels/a_b/_/c/_", "\xc2\xb5m", 1, 1030, 1);
    assert_table(file, "/channels/a_b/_/c/_~2", "\xc2\xb5m", 2, 1030, 4);
    assert_table(file, "/channels/_/_", "1", 2, 1030, 5);
    double error = 0;
    hid_t dataset = H5Dopen2(file, "/summary/largest error", H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &error) >= 0);
    assert_near(error, 1.5e-7, 0);
    assert_text_attribute(dataset, "units", "m");
    assert_text_attribute(dataset, "text", "at the tip");
    H5Dclose(dataset);
    H5Fclose(file);
}

static void header_and_summary_come_back(void **state)
{
    test_folder *folder = *state;
    const yk_record_value values[] = {{.name = "steps", .value = 1030, .unit = "1"},
                                      {.name = "scheme", .text = "explicit, index-1"},
                                      {.name = "a/b.c", .value = NAN},
                                      {.name = "a/b", .value = -0.0}};
    record_file(folder, "a.h5", 5, &(yk_record_summary){values, 4});
    yk_record *record = load_file(folder, "a.h5");
    assert_string_equal(yk_record_get_header(record)->title, sample_header.title);
    assert_string_equal(yk_record_get_header(record)->scenario_text, sample_header.scenario_text);
    assert_string_equal(yk_record_get_header(record)->command, sample_header.command);
    const yk_record_summary *summary = yk_record_get_summary(record);
    assert_int_equal(summary->count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(summary->values[i].name, values[i].name);
        assert_same_bits(summary->values[i].value, values[i].value);
        assert_string_equal(summary->values[i].unit, values[i].unit ? values[i].unit : "1");
        assert_string_equal(summary->values[i].text, values[i].text ? values[i].text : "");
    }
    yk_record_destroy(record);
}

static void scenarios_may_be_long(void **state)
{
    test_folder *folder = *state;
    enum { LENGTH = 300000 }; /* attributes proper end at 64 KiB */
    char *scenario = malloc(LENGTH + 1);
    for (int i = 0; i < LENGTH; i++)
        scenario[i] = (char)('a' + i % 26);
    scenario[LENGTH] = '\0';
    yk_record_header header = sample_header;
    header.scenario_text = scenario;
    yk_recorder *recorder = create_file_recorder(folder, "a.h5");
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    record_samples(recorder, 0, 1);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    yk_recorder_destroy(recorder);
    yk_record *record = load_file(folder, "a.h5");
    assert_string_equal(yk_record_get_header(record)->scenario_text, scenario);
    yk_record_destroy(record);
    free(scenario);
}

static void a_hundred_thousand_samples_come_back(void **state)
{
    record_file(*state, "a.h5", 100000, NULL);
    yk_record *record = load_file(*state, "a.h5");
    assert_samples(record, 100000);
    yk_record_destroy(record);
}

static void equal_runs_give_equal_files(void **state)
{
    test_folder *folder = *state;
    size_t first_length, second_length;
    record_file(folder, "a.h5", 3000, NULL);
    char *first = read_whole(in_folder(folder, "a.h5"), &first_length);
    sleep(1); /* a time stamp would have to show */
    record_file(folder, "a.h5", 3000, NULL);
    char *second = read_whole(in_folder(folder, "a.h5"), &second_length);
    assert_int_equal(first_length, second_length);
    assert_memory_equal(first, second, first_length);
    free(first);
    free(second);
}

static void abandoned_run_leaves_its_rows_in_the_part(void **state)
{
    test_folder *folder = *state;
    yk_recorder *recorder = create_file_recorder(folder, "a.h5");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 1500);
    yk_recorder_destroy(recorder);
    assert_false(file_exists(in_folder(folder, "a.h5")));
    yk_record *record = load_file(folder, "a.h5.part");
    assert_channels(record);
    assert_samples(record, 1500);
    assert_false(yk_record_is_complete(record));
    yk_record_destroy(record);
}

static int run_child(test_folder *folder, void (*work)(test_folder *))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* a crash of the child is to be seen, not handled */
        work(folder);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void record_and_die(test_folder *folder)
{
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, "a.h5");
    def.block_rows = 500; /* not the size of a chunk */
    def.flush_interval = 1e9;
    yk_recorder *recorder = NULL;
    yk_file_recorder_create(folder->context, &def, &recorder);
    yk_recorder_begin(recorder, &sample_header);
    record_samples(recorder, 0, 4700);
    raise(SIGKILL);
}

static void killed_run_leaves_whole_blocks(void **state)
{
    int status = run_child(*state, record_and_die);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    yk_record *record = load_file(*state, "a.h5.part");
    assert_channels(record);
    assert_samples(record, 4500);
    assert_false(yk_record_is_complete(record));
    yk_record_destroy(record);
}

static void begin_and_die(test_folder *folder)
{
    yk_recorder *recorder = create_file_recorder(folder, "a.h5");
    yk_recorder_begin(recorder, &sample_header);
    raise(SIGKILL);
}

static void run_killed_before_its_first_block_says_so(void **state)
{
    test_folder *folder = *state;
    run_child(folder, begin_and_die);
    yk_record *record = NULL;
    assert_int_equal(yk_record_load(folder->context, in_folder(folder, "a.h5"), &record),
                     YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(folder->context), "a.h5.part'"));
    assert_int_equal(yk_record_load(folder->context, in_folder(folder, "a.h5.part"), &record),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_last_message(folder->context), "no samples"));
}

static void fill_the_disk(test_folder *folder)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {500000, 500000};
    setrlimit(RLIMIT_FSIZE, &limit);
    yk_recorder *recorder = create_file_recorder(folder, "a.h5");
    if (yk_recorder_begin(recorder, &sample_header) != YK_OK)
        _exit(2);
    double row[SAMPLE_WIDTH];
    yk_status status = YK_OK;
    for (size_t i = 0; i < 50000 && status == YK_OK; i++) {
        sample_row(i, row, SAMPLE_WIDTH);
        status = yk_recorder_sample(recorder, sample_time(i), row);
    }
    bool named = strstr(yk_last_message(folder->context), "a.h5.part'") != NULL &&
                 strstr(yk_last_message(folder->context), "File too large") != NULL;
    bool again = yk_recorder_sample(recorder, 0, row) == YK_ERROR_FILE &&
                 yk_recorder_end(recorder, NULL) == YK_ERROR_FILE;
    yk_recorder_destroy(recorder);
    exit(status == YK_ERROR_FILE && named && again ? 0 : 1); /* with the library's own clean-up */
}

static void full_disk_is_an_error_and_leaves_whole_blocks(void **state)
{
    int status = run_child(*state, fill_the_disk);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_false(file_exists(in_folder(*state, "a.h5")));
    yk_record *record = load_file(*state, "a.h5.part"); /* up to the block that did not fit */
    assert_samples(record, 3072);
    yk_record_destroy(record);
}

/* A file is read in a copy of the process. The C library guarantees that its allocator can be used
 * there while other threads run; the allocators of sanitizers do not. */
static void *record_in_thread(void *user)
{
    test_folder *mine = user;
    for (int i = 0; i < 20; i++) {
        record_file(mine, "a.h5", 1500, NULL);
        if (SANITIZED)
            continue;

        yk_record *record = load_file(mine, "a.h5");
        assert_samples(record, 1500);
        yk_record_destroy(record);
    }
    return NULL;
}

/* Contexts are independent, HDF5 is not: its lock is ours to hold. */
static void threads_may_record_at_the_same_time(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    void *folders[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(open_folder(&folders[i]), 0);
        pthread_create(&threads[i], NULL, record_in_thread, folders[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        yk_record *record = load_file(folders[i], "a.h5");
        assert_samples(record, 1500);
        yk_record_destroy(record);
        close_folder(&folders[i]);
    }
}

/* Rows are read from the file when they are needed: not from its name, and only those asked for. */
static void opened_files_are_read_on_demand(void **state)
{
    test_folder *folder = *state;
    const yk_record_value values[] = {{.name = "step_count", .value = 7, .unit = "1"}};
    record_file(folder, "a.h5", 3000, &(yk_record_summary){values, 1});
    yk_record *record = NULL;
    assert_int_equal(yk_record_open(folder->context, in_folder(folder, "a.h5"), &record), YK_OK);
    assert_int_equal(unlink(in_folder(folder, "a.h5")), 0);
    assert_true(yk_record_is_complete(record));
    assert_int_equal(yk_record_get_summary(record)->count, 1);
    assert_near(yk_record_get_summary(record)->values[0].value, 7, 0);
    assert_channels(record);
    assert_samples(record, 3000);
    const double *column = yk_record_column(record, 0, 1);
    assert_ptr_equal(column, yk_record_column(record, 0, 1));
    assert_null(yk_record_column(record, SAMPLE_CHANNELS, 0));

    /* A record from a file can be used again, with channels of its own. */
    yk_recorder *recorder = yk_record_recorder(record);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 5000);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    assert_samples(record, 5000);
    yk_record_destroy(record);
}

static void opened_files_that_shrink_give_an_error(void **state)
{
    test_folder *folder = *state;
    record_file(folder, "a.h5", 3000, NULL);
    yk_record *record = NULL;
    assert_int_equal(yk_record_open(folder->context, in_folder(folder, "a.h5"), &record), YK_OK);
    assert_int_equal(truncate(in_folder(folder, "a.h5"), 4096), 0);
    for (int again = 0; again < 2; again++) {
        assert_null(yk_record_column(record, SAMPLE_CHANNELS - 1, 4));
        assert_non_null(strstr(yk_last_message(folder->context), "the file was cut off meanwhile"));

        /* The message is that of the last call, also after another error. */
        assert_null(yk_record_column(record, SAMPLE_CHANNELS, 0));
        assert_non_null(strstr(yk_last_message(folder->context), "there is no component"));
    }
    assert_int_equal(yk_record_row_count(record), 3000);
    yk_record_destroy(record);
}

static size_t allocated;

static void *count_bytes(void *user, void *memory, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(memory);
        return NULL;
    }
    allocated += bytes;
    return realloc(memory, bytes);
}

static void opening_does_not_depend_on_the_number_of_rows(void **state)
{
    test_folder *folder = *state;
    record_file(folder, "a.h5", 50000, NULL);
    yk_context_def def = yk_context_default();
    def.allocate = count_bytes;
    yk_context *context = yk_context_create(&def);
    allocated = 0;
    yk_record *record = NULL;
    assert_int_equal(yk_record_open(context, in_folder(folder, "a.h5"), &record), YK_OK);
    assert_true(allocated < 200000);
    allocated = 0;
    assert_non_null(yk_record_column(record, 1, 0));
    assert_in_range(allocated, 50000 * sizeof(double), 50000 * sizeof(double) + 100000);
    yk_record_destroy(record);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(layout_is_the_documented_one, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(header_and_summary_come_back, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(scenarios_may_be_long, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_hundred_thousand_samples_come_back, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(equal_runs_give_equal_files, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(abandoned_run_leaves_its_rows_in_the_part, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(killed_run_leaves_whole_blocks, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(run_killed_before_its_first_block_says_so, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(full_disk_is_an_error_and_leaves_whole_blocks, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(opened_files_are_read_on_demand, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(opened_files_that_shrink_give_an_error, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(opening_does_not_depend_on_the_number_of_rows, open_folder,
                                        close_folder),
        cmocka_unit_test(threads_may_record_at_the_same_time),
    };
    return cmocka_run_group_tests_name("record/hdf5", tests, NULL, NULL);
}
