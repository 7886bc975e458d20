/* Output files are written completely or not at all: after any failure before they are closed, the
 * old file is unchanged. */
#define _DEFAULT_SOURCE
#include "base/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/folder.h"

static void assert_contents(const char *path, const char *expected)
{
    size_t length;
    char *text = read_whole(path, &length);
    assert_string_equal(text, expected);
    free(text);
}

static int count_files(const test_folder *folder)
{
    int count = 0;
    DIR *listing = opendir(folder->path);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void files_are_replaced_when_they_are_complete(void **state)
{
    test_folder *folder = *state;
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder(folder, "a"));
    for (int i = 0; i < 2; i++) {
        yk_output output = yk_output_open(path);
        assert_non_null(output.stream);
        fprintf(output.stream, "version %d", i);
        if (i == 0)
            assert_int_equal(access(path, F_OK), -1);
        else
            assert_contents(path, "version 0");
        assert_true(yk_output_close(&output));
    }
    assert_contents(path, "version 1");

    /* An output that is discarded leaves no file. */
    yk_output output = yk_output_open(path);
    fputs("something else", output.stream);
    yk_output_discard(&output);
    assert_contents(path, "version 1");
    assert_int_equal(count_files(folder), 1);
}

static void a_kill_or_a_full_disk_leaves_the_old_file(void **state)
{
    test_folder *folder = *state;
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder(folder, "a"));
    write_file(path, "old", 3);
    for (int killed = 0; killed < 2; killed++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 1000, .rlim_max = 1000});
            yk_output output = yk_output_open(path);
            for (int i = 0; i < (killed ? 10 : 10000); i++)
                fputs("new", output.stream);
            fflush(output.stream);
            if (killed)
                raise(SIGKILL);
            _exit(!yk_output_close(&output) && errno == EFBIG ? 7 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (killed)
            assert_true(WIFSIGNALED(status));
        else
            assert_int_equal(WEXITSTATUS(status), 7);
        assert_contents(path, "old");
        assert_int_equal(count_files(folder), killed ? 2 : 1);
    }
}

static void links_rights_and_devices_stay(void **state)
{
    test_folder *folder = *state;
    char path[512], link[512];
    snprintf(path, sizeof path, "%s", in_folder(folder, "a"));
    snprintf(link, sizeof link, "%s", in_folder(folder, "link"));
    write_file(path, "old", 3);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("a", link), 0);
    yk_output output = yk_output_open(link);
    fputs("new", output.stream);
    assert_true(yk_output_close(&output));
    assert_contents(path, "new");
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);

    output = yk_output_open("/dev/null");
    fputs("new", output.stream);
    assert_true(yk_output_close(&output));

    /* Neither a folder nor what is in no folder. */
    output = yk_output_open(folder->path);
    assert_null(output.stream);
    assert_false(yk_output_close(&output));
    output = yk_output_open("/nowhere/a");
    assert_null(output.stream);
    assert_int_equal(errno, ENOENT);
    assert_false(yk_output_close(&output));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_are_replaced_when_they_are_complete),
        TEST(a_kill_or_a_full_disk_leaves_the_old_file),
        TEST(links_rights_and_devices_stay),
    };
    return cmocka_run_group_tests_name("base/output", tests, NULL, NULL);
}
