/* Files of other formats, damaged files and empty files: each gives an error with the position and
 * the reason, and none crashes the program. */
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include "folder.h"

/* Loads must fail with this message. */
static void refuse(test_folder *folder, const char *name, yk_status status, const char *message)
{
    yk_record *record = NULL;
    yk_status got = yk_record_load(folder->context, in_folder(folder, name), &record);
    const char *text = yk_last_message(folder->context);
    if (got != status || !strstr(text, message) || !strstr(text, name))
        fail_msg("%s: '%s' lacks '%s' or '%s'", yk_status_name(got), text, message, name);
    assert_null(record);
}

static void refuse_text(test_folder *folder, const char *text, const char *message)
{
    write_file(in_folder(folder, "a.csv"), text, strlen(text));
    refuse(folder, "a.csv", YK_ERROR_INPUT, message);
}

static void files_that_are_not_there(void **state)
{
    test_folder *folder = *state;
    refuse(folder, "a.h5", YK_ERROR_FILE, "No such file or directory");
    mkdir(in_folder(folder, "b"), 0700);
    refuse(folder, "b", YK_ERROR_FILE, "not a regular file");
    rmdir(in_folder(folder, "b"));
    write_file(in_folder(folder, "a.h5"), "", 0);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "is empty");
}

/* The least file descriptor that is free. */
static int next_descriptor(void)
{
    int descriptor = open("/dev/null", O_RDONLY);
    close(descriptor);
    return descriptor;
}

/* Good files and bad ones are closed: as many descriptors are free as before. */
static void files_are_closed(void **state)
{
    test_folder *folder = *state;
    int before = next_descriptor();
    write_file(in_folder(folder, "good.csv"), "time [s],x\n0,1\n1,2\n", 19);
    for (int i = 0; i < 3; i++) {
        yk_record *record = NULL;
        assert_int_equal(yk_record_load(folder->context, in_folder(folder, "good.csv"), &record),
                         YK_OK);
        yk_record_destroy(record);
        refuse_text(folder, "hello\n", "the first column must be 'time [s]'");
    }
    assert_int_equal(next_descriptor(), before);
}

static void tables_that_are_not_ours(void **state)
{
    refuse_text(*state, "x,y\n1,2\n", "the first column must be 'time [s]', not 'x'");
    refuse_text(*state, "hello\n", "the first column must be 'time [s]'");
    refuse_text(*state, "\n", "the first column must be 'time [s]'");
    refuse_text(*state, "time,x,x\n1,2,3\n", "'x' is recorded twice");
    refuse_text(*state, "time,\n1,2\n", "has no name");
    write_file(in_folder(*state, "a.csv"), "time\0,x\n", 8);
    refuse(*state, "a.csv", YK_ERROR_INPUT, "neither an HDF5 file nor text");
}

static void tables_that_are_cut_off_or_broken(void **state)
{
    refuse_text(*state, "time [s],x\n0,1\n1,2", ":3: the last line has no line break");
    refuse_text(*state, "time [s],x\n0,1\n1\n", ":3: fewer than the 2 fields");
    refuse_text(*state, "time [s],x\n0,1,5\n", ":2: more than the 2 fields");
    refuse_text(*state, "time [s],x\n0,1\n\n1,a\n", ":4: 'a' in column 2 ('x') is not a number");
    refuse_text(*state, "time [s],x\n0,\n", ":2: '' in column 2");
    refuse_text(*state, "time [s],\"x\n0,1\n", ":1: a quote is opened and never closed");
    refuse_text(*state, "time [s],\"x\"y\n0,1\n", ":1: a field continues after its closing quote");
    refuse_text(*state, "time [s],x", ":1: the last line has no line break");
    refuse_text(*state, "time [s],x\n", "no samples");
    refuse_text(*state, "time [s],x\n0,1\n1,1e5 m\n", "is not a number");
}

static void tables_of_others_are_welcome(void **state)
{
    const char text[] = "\xef\xbb\xbfTime,\"a b\"\r\n 0 ,1\r\n1e-1,\"-2\"\r\n\r\n";
    write_file(in_folder(*state, "a.csv"), text, strlen(text));
    yk_record *record = load_file(*state, "a.csv");
    assert_int_equal(yk_record_row_count(record), 2);
    assert_int_equal(yk_record_find_channel(record, "a b"), 0);
    assert_near(yk_record_times(record)[1], 0.1, 0);
    assert_near(yk_record_column(record, 0, 0)[1], -2, 0);
    yk_record_destroy(record);
}

static void record_hdf5(test_folder *folder, size_t rows)
{
    yk_recorder *recorder = create_file_recorder(folder, "a.h5");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, rows);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    yk_recorder_destroy(recorder);
}

static void a_record_without_samples_says_so(void **state)
{
    record_hdf5(*state, 0);
    refuse(*state, "a.h5", YK_ERROR_INPUT, "no samples");
}

static void hdf5_files_of_others(void **state)
{
    test_folder *folder = *state;
    H5Fclose(H5Fcreate(in_folder(folder, "a.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    refuse(folder, "a.h5", YK_ERROR_INPUT, "HDF5 file of another program");
}

static void set_integer(hid_t object, const char *name, int value)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT, &value) >= 0);
    H5Aclose(attribute);
}

/* Opens a good file for writing; what is done to it must be noticed. */
static hid_t open_good(test_folder *folder)
{
    record_hdf5(folder, 100);
    hid_t file = H5Fopen(in_folder(folder, "a.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *to)
{
    (void)info;
    hid_t attribute = H5Aopen(from, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    if (H5Tget_class(type) == H5T_STRING || H5Tget_class(type) == H5T_INTEGER) {
        char bytes[256];
        assert_true(H5Aread(attribute, type, bytes) >= 0);
        hid_t copy = H5Acreate2(*(hid_t *)to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Awrite(copy, type, bytes) >= 0);
        if (H5Tis_variable_str(type) > 0)
            H5Dvlen_reclaim(type, space, H5P_DEFAULT, bytes);
        H5Aclose(copy);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return 0;
}

/* Puts a dataset of other extents in the place of another. */
static void replace_dataset(hid_t file, const char *path, int rank, const hsize_t *size,
                            bool allocated)
{
    hid_t space = H5Screate_simple(rank, size, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (allocated)
        H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    hid_t made =
        H5Dcreate2(file, "/new", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    hid_t old = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(made >= 0 && old >= 0);
    H5Aiterate2(old, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &made);
    H5Dclose(old);
    H5Dclose(made);
    H5Pclose(properties);
    H5Sclose(space);
    H5Ldelete(file, path, H5P_DEFAULT);
    assert_true(H5Lmove(file, "/new", file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void hdf5_files_that_were_tampered_with(void **state)
{
    test_folder *folder = *state;
    hid_t file = open_good(folder);
    set_integer(file, "format_version", 99);
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "format version 99");

    file = open_good(folder);
    H5Ldelete(file, "/time", H5P_DEFAULT);
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "it has no time");

    file = open_good(folder);
    H5Ldelete(file, "/channels", H5P_DEFAULT);
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "a group is missing");

    file = open_good(folder);
    H5Adelete_by_name(file, "/channels/left/position", "name", H5P_DEFAULT);
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "no name or no order");

    /* A dataset with other extents, which has the attributes of the old one. */
    file = open_good(folder);
    replace_dataset(file, "/channels/left/position", 2, (const hsize_t[]){99, 3}, true);
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "'left.position' has 99 rows and time has 100");

    file = open_good(folder);
    replace_dataset(file, "/time", 1, (const hsize_t[]){(hsize_t)1 << 50}, false);
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "a dataset is larger than the file");

    /* A dataset in chunks, as other programs may write it. */
    file = open_good(folder);
    H5Ldelete(file, "/time", H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, (const hsize_t[]){100}, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, (const hsize_t[]){100});
    H5Dclose(
        H5Dcreate2(file, "/time", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "time is not a column of numbers");

    file = open_good(folder);
    H5Lcreate_hard(file, "/channels", file, "/channels/left/again", H5P_DEFAULT,
                   H5P_DEFAULT); /* a ring of groups */
    H5Fclose(file);
    refuse(folder, "a.h5", YK_ERROR_INPUT, "its groups have no end");
}

/* A record is the same in any format, also an incomplete one. */
static void records_are_converted(void **state)
{
    test_folder *folder = *state;
    record_hdf5(folder, 100);
    char from[512];
    char to[512];
    size_t count;
    snprintf(from, sizeof from, "%s", in_folder(folder, "a.h5"));
    snprintf(to, sizeof to, "%s", in_folder(folder, "b.csv"));
    assert_int_equal(yk_record_convert(folder->context, from, to, &count), YK_OK);
    assert_int_equal(count, 100);
    yk_record *record = load_file(folder, "b.csv");
    assert_channels(record);
    assert_samples(record, 100);
    yk_record_destroy(record);

    yk_recorder *killed = create_file_recorder(folder, "c.h5");
    assert_int_equal(yk_recorder_begin(killed, &sample_header), YK_OK);
    record_samples(killed, 0, 20);
    yk_recorder_destroy(killed);
    snprintf(from, sizeof from, "%s", in_folder(folder, "c.h5.part"));
    snprintf(to, sizeof to, "%s", in_folder(folder, "d.h5"));
    assert_int_equal(yk_record_convert(folder->context, from, to, &count), YK_OK);
    assert_int_equal(count, 20);
    record = load_file(folder, "d.h5");
    assert_samples(record, 20);
    assert_false(yk_record_is_complete(record));
    yk_record_destroy(record);

    assert_int_equal(yk_record_convert(folder->context, from, "d.txt", &count), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(folder->context), ".h5, .hdf5 or .csv"));
}

static void hdf5_files_cut_off_anywhere(void **state)
{
    test_folder *folder = *state;
    record_hdf5(folder, 100);
    size_t length;
    char *bytes = read_whole(in_folder(folder, "a.h5"), &length);
    for (size_t kept = 8; kept < length; kept += length / 37) {
        write_file(in_folder(folder, "b.h5"), bytes, kept);
        refuse(folder, "b.h5", YK_ERROR_INPUT, "truncated");
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_that_are_not_there, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(files_are_closed, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(tables_that_are_not_ours, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(tables_that_are_cut_off_or_broken, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(tables_of_others_are_welcome, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_record_without_samples_says_so, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(hdf5_files_of_others, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(hdf5_files_that_were_tampered_with, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(records_are_converted, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(hdf5_files_cut_off_anywhere, open_folder, close_folder),
    };
    return cmocka_run_group_tests_name("record/load", tests, NULL, NULL);
}
