/* Scenarios with errors: every file of the folder bad/ gives exactly the messages of the file with the
 * same name.
 *
 * Lines that start with "#set " are overrides. test_bad --update rewrites the expectations; read
 * the difference. */
#include "loading.h"

#include <dirent.h>
#include <stdlib.h>

static const char folder[] = YOKE_SOURCE_DIR "/tests/model/bad";

enum { FILES_MAX = 200, OVERRIDES_MAX = 20 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 100000);
    fread(text, 1, 99999, file);
    fclose(file);
    return text;
}

/* Takes the overrides out of copies of the lines that hold them; returns how many. */
static int find_overrides(const char *text, char *overrides[OVERRIDES_MAX])
{
    int count = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n')
            line++;
        if (strncmp(line, "#set ", 5) != 0)
            continue;
        assert_true(count < OVERRIDES_MAX);
        size_t length = strcspn(line + 5, "\n");
        overrides[count] = calloc(1, length + 1);
        memcpy(overrides[count++], line + 5, length);
    }
    return count;
}

static loading load_file(const char *name, const char *text)
{
    char *overrides[OVERRIDES_MAX];
    int count = find_overrides(text, overrides);
    yk_scenario_def def = yk_scenario_default();
    def.path = name;
    def.text = text;
    def.overrides = (const char *const *)overrides;
    def.override_count = count;
    loading l = load_in(yk_context_create(NULL), &def);
    for (int i = 0; i < count; i++)
        free(overrides[i]);
    return l;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_files(char *names[FILES_MAX])
{
    int count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (struct dirent *entry = readdir(open); entry; entry = readdir(open)) {
        const char *ending = strrchr(entry->d_name, '.');
        if (!ending || strcmp(ending, ".yaml") != 0)
            continue;
        assert_true(count < FILES_MAX);
        names[count++] = strdup(entry->d_name);
    }
    closedir(open);
    qsort(names, (size_t)count, sizeof *names, by_name);
    return count;
}

static void check_file(const char *name, bool update)
{
    char path[1000], expected_path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(expected_path, sizeof expected_path, "%s/%.*s.txt", folder, (int)strlen(name) - 5,
             name);
    char *text = read_file(path);
    loading l = load_file(name, text);
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_null(l.scenario);
    assert_true(yk_diagnostics_error_count(l.diagnostics) > 0);
    if (update) {
        FILE *file = fopen(expected_path, "wb");
        fputs(l.text, file);
        fclose(file);
    }
    char *expected = read_file(expected_path);
    if (!expected || strcmp(expected, l.text) != 0)
        print_error("%s gives\n%s", name, l.text);
    assert_non_null(expected);
    assert_string_equal(l.text, expected);
    free(text);
    free(expected);
    unload(&l);
}

static bool updating;

static void each_file_gives_its_messages(void **state)
{
    (void)state;
    char *names[FILES_MAX];
    int count = list_files(names);
    assert_true(count > 10);
    for (int i = 0; i < count; i++) {
        check_file(names[i], updating);
        free(names[i]);
    }
}

static void ten_mistakes_give_ten_messages(void **state)
{
    (void)state;
    char *text = read_file(YOKE_SOURCE_DIR "/tests/model/bad/ten.yaml");
    loading l = load_file("ten.yaml", text);
    assert_int_equal(yk_diagnostics_error_count(l.diagnostics), 10);
    assert_int_equal(yk_diagnostics_count(l.diagnostics), 10);
    for (int i = 0; i < 10; i++) {
        const yk_diagnostic *entry = yk_diagnostics_at(l.diagnostics, i);
        assert_true(entry->line > 0 && entry->column > 0);
        assert_true(entry->path[0]);
        if (i > 0)
            assert_true(entry->line >= yk_diagnostics_at(l.diagnostics, i - 1)->line);
    }
    assert_non_null(strstr(yk_last_message(l.context), "ten.yaml has 10 mistakes"));
    free(text);
    unload(&l);
}

int main(int count, char **arguments)
{
    updating = count > 1 && strcmp(arguments[1], "--update") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_gives_its_messages),
        cmocka_unit_test(ten_mistakes_give_ten_messages),
    };
    return cmocka_run_group_tests_name("bad scenarios", tests, NULL, NULL);
}
