/* Checkpoint files: the check that they can be written, and the removal of both files. */
#include "record/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static void folders_that_are_not_there_are_told_before(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    char folder[] = "/tmp/yoke-checkpoint-XXXXXX", path[80], missing[80], left[90];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    snprintf(missing, sizeof missing, "%s/none/state", folder);
    snprintf(left, sizeof left, "%s.new", path);
    assert_int_equal(yk_checkpoint_try(context, path), YK_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(yk_checkpoint_try(context, missing), YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(context), missing));

    /* Existing files are not changed. */
    const yk_checkpoint_section section = {"name", "bytes", 5};
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_checkpoint_write(context, path, &section, 1), YK_OK);
    assert_int_equal(yk_checkpoint_try(context, path), YK_OK);
    yk_checkpoint_file *file = NULL;
    size_t count = 0;
    assert_int_equal(yk_checkpoint_read(context, path, &file), YK_OK);
    const char *bytes = yk_checkpoint_find(file, "name", &count);
    assert_int_equal(count, 5);
    assert_memory_equal(bytes, "bytes", 5);
    assert_null(yk_checkpoint_find(file, "other", &count));
    yk_checkpoint_close(context, file);

    /* Nothing is left, or the folder could not be removed. */
    yk_checkpoint_remove(context, path);
    assert_int_equal(rmdir(folder), 0);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_that_are_not_there_are_told_before),
    };
    return cmocka_run_group_tests_name("checkpoint files", tests, NULL, NULL);
}
