/* Records under failures: a process killed before or during any write, a disk that rejects any
 * write and all later ones, failing reads, changed bits, two recorders with the same file name,
 * links and folders in place of the file. In each case the data flushed before is recovered
 * bitwise, no other data is accepted in its place, and the process ends with the documented status.
 *
 * The system calls that access the disk are replaced here by functions that count and fail on
 * demand. */
#define _DEFAULT_SOURCE /* syscall, MAP_ANONYMOUS */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "failing_allocator.h"
#include "folder.h"

typedef enum attack { NONE, COUNT, FAIL, FAIL_ONCE, KILL_BEFORE, KILL_INSIDE } attack;

static attack mode;
static int calls;        /* that reach the disk, so far */
static int chosen;       /* the one under attack */
static int failure;      /* the error that it gives */
static int *shared_rows; /* whole rows that reached the journal, as the parent sees it */

/* True: the present call is to fail. May not return. */
static bool attacked(int file, const void *bytes, size_t size, off_t offset)
{
    if (mode == NONE)
        return false;

    calls++;
    if (mode == KILL_INSIDE && calls == chosen) {
        syscall(SYS_pwrite64, file, bytes, size / 2, offset);
        raise(SIGKILL);
    }
    if (mode == KILL_BEFORE && calls == chosen)
        raise(SIGKILL);
    if ((mode == FAIL && calls >= chosen) || (mode == FAIL_ONCE && calls == chosen)) {
        errno = failure;
        return true;
    }
    return false;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    if (attacked(file, bytes, size, offset))
        return -1;
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset);
ssize_t pwrite64(int file, const void *bytes, size_t size, off_t offset)
{
    return pwrite(file, bytes, size, offset);
}

/* Reads, counted separately: each fails from the chosen one on, or the chosen one alone. */
static int reads, failing_read;
static bool fails_once;

static ssize_t read_or_fail(long call, int file, void *bytes, size_t size, off_t offset)
{
    bool counted = failing_read > 0;
    reads += counted;
    if (counted && (fails_once ? reads == failing_read : reads >= failing_read)) {
        errno = EIO;
        return -1;
    }
    return syscall(call, file, bytes, size, offset);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset)
{
    return read_or_fail(SYS_pread64, file, bytes, size, offset);
}

ssize_t pread64(int file, void *bytes, size_t size, off_t offset);
ssize_t pread64(int file, void *bytes, size_t size, off_t offset)
{
    return read_or_fail(SYS_pread64, file, bytes, size, offset);
}

int fsync(int file)
{
    if (attacked(file, "", 0, 0))
        return -1;
    return 0; /* there is no power cut here, and disks are slow */
}

int fdatasync(int file)
{
    if (attacked(file, "", 0, 0))
        return -1;
    return 0;
}

int rename(const char *from, const char *to)
{
    if (attacked(-1, "", 0, 0))
        return -1;
    return (int)syscall(SYS_rename, from, to);
}

/* A record with rows and frames ----------------------------------------------------------------- */

enum { ROWS = 250, BLOCK = 50, FRAME_EVERY = 100, FRAME_SIZE = 7 };

static const char *const names[] = {"ball"};
static const yk_record_body bodies[] = {
    {.name = "ball", .motion = YK_SCENE_MOTION_FULL, .orientation = {1, 0, 0, 0}}};
static const yk_record_scene scene = {.subsystems = names,
                                      .solvers = names,
                                      .subsystem_count = 1,
                                      .bodies = bodies,
                                      .body_count = 1,
                                      .up = {0, 0, 1}};

/* Ends the child with the status of the first call that failed, as users see it: with exit, where
 * libraries clean up. */
static void record_all(test_folder *folder, const char *name)
{
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, name);
    def.block_rows = BLOCK;
    def.flush_interval = 1e9;
    def.sync_interval = 0;
    yk_recorder *recorder = NULL;
    yk_status status = yk_file_recorder_create(folder->context, &def, &recorder);
    yk_record_header header = sample_header;
    header.scene = &scene;
    if (status == YK_OK)
        status = yk_recorder_begin(recorder, &header);

    for (size_t i = 0; i < ROWS && status == YK_OK; i++) {
        double row[SAMPLE_WIDTH];
        sample_row(i, row, SAMPLE_WIDTH);
        status = yk_recorder_sample(recorder, sample_time(i), row);
        if (status == YK_OK && (i + 1) % BLOCK == 0)
            *shared_rows = (int)i + 1;
        const float frame[FRAME_SIZE] = {(float)i};
        if (status == YK_OK && i % FRAME_EVERY == 0)
            status = yk_recorder_frame(recorder, sample_time(i), frame);
    }

    if (status == YK_OK)
        status = yk_recorder_end(recorder, NULL);
    const char *message = yk_last_message(folder->context);
    bool named = status == YK_OK || strstr(message, name) != NULL;
    yk_recorder_destroy(recorder);
    exit(named ? -status : 100);
}

static int run_attacked(test_folder *folder, const char *name, attack kind, int call)
{
    unlink(in_folder(folder, name));
    char part[64];
    snprintf(part, sizeof part, "%s.part", name);
    unlink(in_folder(folder, part));
    *shared_rows = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* a crash is to be seen, not handled */
        signal(SIGABRT, SIG_DFL);
        mode = kind;
        chosen = call;
        failure = call % 2 ? ENOSPC : EIO;
        record_all(folder, name);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* A record of the first rows, at least `least` of them, all as they were recorded. */
static void assert_beginning(test_folder *folder, const char *name, size_t least, bool complete)
{
    yk_record *record = NULL;
    yk_status status = yk_record_load(folder->context, in_folder(folder, name), &record);
    if (status != YK_OK && least == 0)
        return; /* before the first block there is nothing to be read, and it is said */

    if (status != YK_OK)
        fail_msg("%s", yk_last_message(folder->context));
    assert_true(yk_record_row_count(record) >= least);
    assert_channels(record);
    assert_samples(record, yk_record_row_count(record));
    for (size_t i = 0; i < yk_record_frame_count(record); i++)
        assert_near(yk_record_frame(record, i)[0], (double)(i * FRAME_EVERY), 0);
    assert_int_equal(yk_record_is_complete(record), complete);
    yk_record_destroy(record);
}

/* The remaining files: the complete results file, or its journal. */
static void assert_survived(test_folder *folder, const char *name)
{
    char part[64];
    snprintf(part, sizeof part, "%s.part", name);
    if (file_exists(in_folder(folder, name))) {
        assert_beginning(folder, name, ROWS, true);
        return;
    }
    size_t rows = (size_t)*shared_rows;
    if (rows > 0)
        assert_true(file_exists(in_folder(folder, part)));
    if (!file_exists(in_folder(folder, part)))
        return;

    yk_record *record = NULL;
    bool complete = yk_record_load(folder->context, in_folder(folder, part), &record) == YK_OK &&
                    yk_record_is_complete(record);
    yk_record_destroy(record);
    assert_beginning(folder, part, rows, complete);

    /* And the results file can still be made. */
    if (rows > 0) {
        char whole[512];
        snprintf(whole, sizeof whole, "%s", in_folder(folder, name));
        yk_recovery_report recovery;
        assert_int_equal(
            yk_record_recover_journal(folder->context, in_folder(folder, part), whole, &recovery),
            YK_OK);
        assert_int_equal(recovery.is_complete, complete);
        assert_true(recovery.row_count >= rows);
        bool csv = strstr(name, ".csv") != NULL;
        if (!csv)
            assert_beginning(folder, name, rows, complete);
    }
}

static int open_attacked(void **state)
{
    shared_rows =
        mmap(NULL, sizeof *shared_rows, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared_rows == MAP_FAILED ? -1 : open_folder(state);
}

static int close_attacked(void **state)
{
    munmap(shared_rows, sizeof *shared_rows);
    return close_folder(state);
}

static void attack_every_call(test_folder *folder, const char *name, attack kind, int expected)
{
    int tried = 0;
    for (int call = 1;; call++) {
        int status = run_attacked(folder, name, kind, call);
        bool through = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        bool fell = WIFEXITED(status) && WEXITSTATUS(status) == -YK_ERROR_FILE;
        if (kind == KILL_BEFORE || kind == KILL_INSIDE) {
            /* HDF5 is written by a process of its own, whose end the other one reports. */
            bool reported = WIFEXITED(status) && WEXITSTATUS(status) == -YK_ERROR_EXTERNAL;
            fell = reported || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        if (!through && !fell)
            fail_msg("%s, call %d: status %#x", name, call, (unsigned)status);
        assert_survived(folder, name);
        tried++;

        /* The last call syncs the folder; its failure is ignored. */
        if (through && call > expected)
            break;
    }
    assert_true(tried > expected);
}

static void a_kill_before_any_write_costs_the_last_block(void **state)
{
    attack_every_call(*state, "a.h5", KILL_BEFORE, 25);
    attack_every_call(*state, "a.csv", KILL_BEFORE, 25);
}

static void a_kill_inside_any_write_costs_the_last_block(void **state)
{
    attack_every_call(*state, "a.h5", KILL_INSIDE, 25);
}

static void an_error_that_stays_leaves_the_journal(void **state)
{
    attack_every_call(*state, "a.h5", FAIL, 25);
    attack_every_call(*state, "a.csv", FAIL, 25);
}

static void an_error_that_passes_leaves_the_journal(void **state)
{
    attack_every_call(*state, "a.h5", FAIL_ONCE, 25);
}

/* Bytes that were changed, also in the middle: nothing behind them is believed. */
static void damage_is_seen_wherever_it_is(void **state)
{
    test_folder *folder = *state;
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, "a.h5");
    def.block_rows = BLOCK;
    yk_recorder *recorder = NULL;
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_OK);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 5 * BLOCK);
    yk_recorder_destroy(recorder);
    size_t length;
    char *bytes = read_whole(in_folder(folder, "a.h5.part"), &length);
    for (size_t at = 0; at < length; at += at < 200 ? 1 : 97) {
        bytes[at] ^= 0x10;
        write_file(in_folder(folder, "b.part"), bytes, length);
        bytes[at] ^= 0x10;
        yk_record *record = NULL;
        yk_status status = yk_record_load(folder->context, in_folder(folder, "b.part"), &record);
        if (status == YK_OK) {
            assert_samples(record, yk_record_row_count(record));
            bool process = at >= 16 && at < 24; /* the one that wrote it, without weight */
            assert_true(process || yk_record_row_count(record) < 5 * BLOCK);
        }
        yk_record_destroy(record);
    }
    free(bytes);
}

/* A record of five blocks that is ready to end. */
static yk_recorder *begin_blocks(test_folder *folder, const char *name)
{
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, name);
    def.block_rows = BLOCK;
    yk_recorder *recorder = NULL;
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_OK);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 5 * BLOCK);
    return recorder;
}

/* Changes one bit of the second block of rows. */
static void flip_bit(test_folder *folder, const char *part)
{
    const size_t block = 32 + BLOCK * (1 + SAMPLE_WIDTH) * sizeof(double);
    size_t length;
    char *bytes = read_whole(in_folder(folder, part), &length);
    bytes[length - 3 * block - block / 2] ^= 1;
    write_file(in_folder(folder, part), bytes, length);
    free(bytes);
}

/* A bit that changes during the run: the record is not made of the rest, and is not removed;
 * what is intact comes back, with the range of time that is missing. */
static void a_damaged_journal_is_kept_and_recovered_around(void **state)
{
    test_folder *folder = *state;
    static const char *const files[] = {"a.csv", "a.h5"};
    for (int i = 0; i < 2; i++) {
        char part[16], path[512], recovered[512];
        snprintf(part, sizeof part, "%s.part", files[i]);
        yk_recorder *recorder = begin_blocks(folder, files[i]);
        flip_bit(folder, part);
        assert_int_equal(yk_recorder_end(recorder, NULL), YK_ERROR_FILE);
        assert_non_null(strstr(yk_last_message(folder->context), part));
        yk_recorder_destroy(recorder);
        assert_false(file_exists(in_folder(folder, files[i])));
        assert_true(file_exists(in_folder(folder, part)));

        /* Readers refuse it, and recovery leaves one block out. */
        yk_record *record = NULL;
        assert_int_equal(yk_record_load(folder->context, in_folder(folder, part), &record),
                         YK_ERROR_INPUT);
        assert_non_null(strstr(yk_last_message(folder->context), "yoke recover"));
        yk_recovery_report recovery;
        snprintf(path, sizeof path, "%s", in_folder(folder, part));
        snprintf(recovered, sizeof recovered, "%s", in_folder(folder, "b.h5"));
        assert_int_equal(yk_record_recover_journal(folder->context, path, recovered, &recovery),
                         YK_OK);
        assert_true(recovery.is_complete);
        assert_int_equal(recovery.row_count, 4 * BLOCK);
        assert_int_equal(recovery.gap_count, 1);
        assert_near(recovery.gaps[0].after, sample_time(BLOCK - 1), 0);
        assert_near(recovery.gaps[0].before, sample_time(2 * BLOCK), 0);

        /* The result is not marked as a complete record. */
        record = load_file(folder, "b.h5");
        assert_false(yk_record_is_complete(record));
        assert_int_equal(yk_record_row_count(record), 4 * BLOCK);
        assert_near(yk_record_times(record)[BLOCK], sample_time(2 * BLOCK), 0);
        yk_record_destroy(record);
    }
}

/* A read that fails says nothing about the journal: it stays, and the record comes back whole. */
static void a_read_error_at_the_end_keeps_the_journal(void **state)
{
    test_folder *folder = *state;
    int failed = 0;
    for (int first = 1;; first++) {
        yk_recorder *recorder = begin_blocks(folder, "a.csv");
        reads = 0;
        failing_read = first;
        yk_status status = yk_recorder_end(recorder, NULL);
        failing_read = 0;
        yk_recorder_destroy(recorder);
        if (status == YK_OK)
            break;

        failed++;
        assert_int_equal(status, YK_ERROR_FILE);
        assert_non_null(strstr(yk_last_message(folder->context), "Input/output error"));
        assert_false(file_exists(in_folder(folder, "a.csv")));
        yk_recovery_report recovery;
        char part[512], path[512];
        snprintf(part, sizeof part, "%s", in_folder(folder, "a.csv.part"));
        snprintf(path, sizeof path, "%s", in_folder(folder, "b.csv"));
        assert_int_equal(yk_record_recover_journal(folder->context, part, path, &recovery), YK_OK);
        assert_int_equal(recovery.row_count, 5 * BLOCK);
        assert_true(recovery.is_complete && recovery.gap_count == 0);

        /* Recovery does not take a read error for damage, either. */
        reads = 0;
        failing_read = first;
        status = yk_record_recover_journal(folder->context, part, path, &recovery);
        failing_read = 0;
        assert_int_equal(status, YK_ERROR_FILE);
        unlink(part);
    }
    assert_true(failed > 10);
}

/* A read of an HDF5 file that fails, each of them once: what cannot be read is not taken for what is
 * not there. */
static void a_read_error_never_shortens_a_record(void **state)
{
    test_folder *folder = *state;
    yk_recorder *recorder = begin_blocks(folder, "a.h5");
    const yk_record_value value = {.name = "steps", .value = 250, .unit = "1", .text = "all"};
    assert_int_equal(yk_recorder_end(recorder, &(yk_record_summary){&value, 1}), YK_OK);
    yk_recorder_destroy(recorder);

    int failed = 0;
    int passed = 0; /* in a row: the count of reads is known to the reading process alone */
    fails_once = true;
    for (int chosen_read = 1; passed < 3; chosen_read++) {
        yk_record *record = NULL;
        reads = 0;
        failing_read = chosen_read;
        yk_status status = yk_record_load(folder->context, in_folder(folder, "a.h5"), &record);
        failing_read = 0;
        if (status != YK_OK) {
            assert_int_equal(status, YK_ERROR_FILE);
            assert_non_null(strstr(yk_last_message(folder->context), "cannot read"));
            failed++;
            passed = 0;
            continue;
        }
        passed++;
        assert_channels(record);
        assert_int_equal(yk_record_row_count(record), 5 * BLOCK);
        assert_samples(record, 5 * BLOCK);
        assert_true(yk_record_is_complete(record));
        assert_int_equal(yk_record_get_summary(record)->count, 1);
        assert_string_equal(yk_record_get_header(record)->title, sample_header.title);
        yk_record_destroy(record);
    }
    fails_once = false;
    assert_true(failed > 20);
}

/* Memory that is missing while an HDF5 file is read is no damage of the file. */
static void missing_memory_is_not_called_damage(void **state)
{
    test_folder *folder = *state;
    yk_recorder *recorder = begin_blocks(folder, "a.h5");
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    yk_recorder_destroy(recorder);
    int missed = 0;
    bool done = false;
    for (long count = 0; !done; count++) {
        budget b = {.fails = count, .once = true};
        yk_context *context = budget_context(&b);
        yk_record *record = NULL;
        yk_status status = YK_ERROR_MEMORY;
        if (context)
            status = yk_record_load(context, in_folder(folder, "a.h5"), &record);
        if (status != YK_OK && status != YK_ERROR_MEMORY)
            fail_msg("request %ld: %s", count, yk_last_message(context));
        if (status == YK_OK)
            assert_channels(record);
        missed += status == YK_ERROR_MEMORY;
        yk_record_destroy(record);
        yk_context_destroy(context);
        done = status == YK_OK && !b.failed && count > 200;
    }
    assert_true(missed > 50);
}

/* Two runs, one name ---------------------------------------------------------------------------- */

static void refuse_second(test_folder *folder, const char *name)
{
    yk_recorder *first = create_file_recorder(folder, name);
    yk_recorder *second = create_file_recorder(folder, name);
    assert_int_equal(yk_recorder_begin(first, &sample_header), YK_OK);
    record_samples(first, 0, 10);
    assert_int_equal(yk_recorder_begin(second, &sample_header), YK_ERROR_FILE);
    char process[32];
    snprintf(process, sizeof process, "(process %d)", (int)getpid());
    assert_non_null(strstr(yk_last_message(folder->context), "another run"));
    assert_non_null(strstr(yk_last_message(folder->context), process));
    yk_recorder_destroy(second);

    /* The first has not noticed. */
    record_samples(first, 10, 3000);
    assert_int_equal(yk_recorder_end(first, NULL), YK_OK);
    yk_recorder_destroy(first);
    yk_record *record = load_file(folder, name);
    assert_samples(record, 3000);
    yk_record_destroy(record);
}

static void a_second_recorder_of_the_same_name_is_refused(void **state)
{
    refuse_second(*state, "a.h5");
    refuse_second(*state, "a.csv");
}

static void an_unfinished_record_is_kept(void **state)
{
    test_folder *folder = *state;
    yk_recorder *killed = create_file_recorder(folder, "a.h5");
    assert_int_equal(yk_recorder_begin(killed, &sample_header), YK_OK);
    record_samples(killed, 0, 20);
    yk_recorder_destroy(killed);
    yk_recorder *next = create_file_recorder(folder, "a.h5");
    assert_int_equal(yk_recorder_begin(next, &sample_header), YK_OK);
    record_samples(next, 0, 5);
    assert_int_equal(yk_recorder_end(next, NULL), YK_OK);
    yk_recorder_destroy(next);
    yk_record *record = load_file(folder, "a.h5.part.old");
    assert_samples(record, 20);
    yk_record_destroy(record);
    assert_false(file_exists(in_folder(folder, "a.h5.part")));

    /* All that are killed after it are kept as well. */
    for (size_t rows = 21; rows < 24; rows++) {
        killed = create_file_recorder(folder, "a.h5");
        assert_int_equal(yk_recorder_begin(killed, &sample_header), YK_OK);
        record_samples(killed, 0, rows);
        yk_recorder_destroy(killed);
    }
    static const char *const kept[] = {"a.h5.part.old", "a.h5.part.old.2", "a.h5.part.old.3",
                                       "a.h5.part"};
    for (size_t i = 0; i < 4; i++) {
        record = load_file(folder, kept[i]);
        assert_samples(record, 20 + i);
        yk_record_destroy(record);
    }
}

static void links_are_not_followed(void **state)
{
    test_folder *folder = *state;
    write_file(in_folder(folder, "precious"), "precious", 8);
    assert_int_equal(symlink("precious", in_folder(folder, "a.h5.part")), 0);
    yk_recorder *recorder = create_file_recorder(folder, "a.h5");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(folder->context), "it is a link"));
    yk_recorder_destroy(recorder);

    /* Nor under the name of the file while it is made: what has it goes. */
    assert_int_equal(symlink("precious", in_folder(folder, "b.csv.new")), 0);
    recorder = create_file_recorder(folder, "b.csv");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 3);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    yk_recorder_destroy(recorder);
    size_t length;
    char *text = read_whole(in_folder(folder, "precious"), &length);
    assert_string_equal(text, "precious");
    free(text);
}

static void pipes_in_the_way_are_refused(void **state)
{
    test_folder *folder = *state;
    assert_int_equal(mkfifo(in_folder(folder, "a.h5.part"), 0600), 0);
    yk_recorder *recorder = create_file_recorder(folder, "a.h5");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_ERROR_FILE);
    yk_recorder_destroy(recorder);
}

static void a_folder_that_vanishes_is_an_error_at_the_end(void **state)
{
    test_folder *folder = *state;
    char name[] = "gone/a.h5";
    mkdir(in_folder(folder, "gone"), 0700);
    yk_recorder *recorder = create_file_recorder(folder, name);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 2000);
    assert_int_equal(unlink(in_folder(folder, "gone/a.h5.part")), 0);
    assert_int_equal(rmdir(in_folder(folder, "gone")), 0);
    record_samples(recorder, 2000, 3000);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(folder->context), "No such file or directory"));
    yk_recorder_destroy(recorder);
}

static void only_journals_are_recovered(void **state)
{
    test_folder *folder = *state;
    yk_recovery_report recovery;
    char part[512], whole[512];
    snprintf(part, sizeof part, "%s", in_folder(folder, "a.part"));
    snprintf(whole, sizeof whole, "%s", in_folder(folder, "a.h5"));
    assert_int_equal(yk_record_recover_journal(folder->context, part, whole, &recovery),
                     YK_ERROR_FILE);
    write_file(part, "time [s]\n1\n", 11);
    assert_int_equal(yk_record_recover_journal(folder->context, part, whole, &recovery),
                     YK_ERROR_INPUT);
    assert_false(file_exists(whole));

    /* The journal of a running process is left alone. */
    yk_recorder *recorder = create_file_recorder(folder, "b.h5");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 2000);
    snprintf(part, sizeof part, "%s", in_folder(folder, "b.h5.part"));
    assert_int_equal(yk_record_recover_journal(folder->context, part, whole, &recovery),
                     YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(folder->context), "another run"));
    yk_recorder_destroy(recorder);
}

/* A journal that is read with an allocator that fails at the n-th request, for every n. */
static void journals_are_read_or_memory_is_missed(void **state)
{
    test_folder *folder = *state;
    int status = run_attacked(folder, "a.h5", KILL_BEFORE, 20);
    assert_true(WIFSIGNALED(status));
    bool done = false;
    for (long count = 0; !done; count++) {
        budget b = {.fails = count};
        yk_context *context = budget_context(&b);
        yk_record *record = NULL;
        yk_status loaded = YK_ERROR_MEMORY;
        if (context)
            loaded = yk_record_load(context, in_folder(folder, "a.h5.part"), &record);
        yk_record_destroy(record);
        yk_context_destroy(context);
        assert_int_equal(b.open, 0);
        done = !b.failed;
        assert_int_equal(loaded, done ? YK_OK : YK_ERROR_MEMORY);
        assert_true(count < 10000);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_attacked, close_attacked)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_kill_before_any_write_costs_the_last_block),
        TEST(a_kill_inside_any_write_costs_the_last_block),
        TEST(an_error_that_stays_leaves_the_journal),
        TEST(an_error_that_passes_leaves_the_journal),
        TEST(damage_is_seen_wherever_it_is),
        TEST(a_damaged_journal_is_kept_and_recovered_around),
        TEST(a_read_error_at_the_end_keeps_the_journal),
        TEST(a_read_error_never_shortens_a_record),
        TEST(missing_memory_is_not_called_damage),
        TEST(a_second_recorder_of_the_same_name_is_refused),
        TEST(an_unfinished_record_is_kept),
        TEST(links_are_not_followed),
        TEST(pipes_in_the_way_are_refused),
        TEST(a_folder_that_vanishes_is_an_error_at_the_end),
        TEST(only_journals_are_recovered),
        TEST(journals_are_read_or_memory_is_missed),
    };
    return cmocka_run_group_tests_name("record/faults", tests, NULL, NULL);
}
