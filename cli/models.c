/* yoke models: the scenarios of the model library, which is installed with the program. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"
#include "json.h"

enum { PATH_LENGTH = 4096, TITLE_LENGTH = 120, MODELS_MAX = 512 };

/* The installed library, or the source tree of a build. */
static bool find_library(char *folder, size_t capacity)
{
    static const char *const candidates[] = {"../share/yoke/models", "../../models"};
    return find_beside_program(candidates, sizeof candidates / sizeof *candidates, folder,
                               capacity);
}

bool find_model(const char *name, char *path, size_t capacity)
{
    char folder[PATH_LENGTH];
    bool is_name = *name && *name != '.' && !strchr(name, '/');
    if (!is_name || !find_library(folder, sizeof folder))
        return false;

    int length = snprintf(path, capacity, "%s/%s/scenario.yaml", folder, name);
    return length < (int)capacity && access(path, R_OK) == 0;
}

/* The names of all models, sorted. Returns their number, or -1 after a message. The entries are to
 * be freed. */
static int list_models(char *folder, size_t capacity, struct dirent ***entries)
{
    if (!find_library(folder, capacity)) {
        print_err("yoke: the model library is not installed (share/yoke/models)\n");
        return -1;
    }

    int count = scandir(folder, entries, NULL, alphasort);
    if (count < 0) {
        print_err("yoke: cannot read %s: %s\n", folder, strerror(errno));
        return -1;
    }

    int kept = 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_LENGTH];
        if (find_model((*entries)[i]->d_name, path, sizeof path))
            (*entries)[kept++] = (*entries)[i];
        else
            free((*entries)[i]);
    }
    return kept;
}

/* The line "title: ..." of a scenario; "" if there is none. */
static void read_title(const char *name, char title[TITLE_LENGTH])
{
    char path[PATH_LENGTH];
    char line[256];
    title[0] = '\0';
    FILE *stream = find_model(name, path, sizeof path) ? fopen(path, "r") : NULL;
    while (stream && fgets(line, sizeof line, stream)) {
        if (strncmp(line, "title:", 6) != 0)
            continue;

        const char *text = line + 6 + strspn(line + 6, " \"'");
        snprintf(title, TITLE_LENGTH, "%.*s", (int)strcspn(text, "\"\n"), text);
        break;
    }
    if (stream)
        fclose(stream);
}

static int print_models(bool as_json)
{
    char folder[PATH_LENGTH];
    struct dirent **entries = NULL;
    int count = list_models(folder, sizeof folder, &entries);
    if (count < 0)
        return EXIT_FAILED;

    json_writer json = {0};
    if (as_json) {
        json = json_begin(stdout);
        json_open_array(&json, "models");
    }

    for (int i = 0; i < count; i++) {
        char title[TITLE_LENGTH];
        read_title(entries[i]->d_name, title);
        if (as_json) {
            json_open_object(&json, NULL);
            json_text(&json, "name", entries[i]->d_name);
            json_text(&json, "title", title);
            json_close(&json);
        } else {
            print_out("  %-24s %s\n", entries[i]->d_name, title);
        }
        free(entries[i]);
    }
    free(entries);

    if (as_json) {
        json_close(&json);
        json_end(&json);
    } else {
        print_out("\nRun one with `yoke run NAME`, copy one with `yoke models copy NAME`.\n");
    }
    return EXIT_GOOD;
}

/* Copies one file; false after a message. */
static bool copy_file(const char *from, const char *to)
{
    FILE *source = fopen(from, "rb");
    if (!source) {
        print_err("yoke: cannot read %s: %s\n", from, strerror(errno));
        return false;
    }

    yk_output output = yk_output_open(to);
    char block[4096];
    for (size_t count; output.stream && (count = fread(block, 1, sizeof block, source)) > 0;)
        fwrite(block, 1, count, output.stream);
    bool good = !ferror(source);
    fclose(source);
    return close_written(&output, to) && good;
}

/* Copies a folder with everything in it; false after a message. */
static bool copy_folder(const char *from, const char *to)
{
    DIR *entries = opendir(from);
    if (!entries || mkdir(to, 0777) != 0) {
        print_err("yoke: cannot copy %s to %s: %s\n", from, to, strerror(errno));
        if (entries)
            closedir(entries);
        return false;
    }

    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(entries));) {
        if (entry->d_name[0] == '.')
            continue;

        char source[PATH_LENGTH];
        char target[PATH_LENGTH];
        struct stat info;
        int lengths[2] = {snprintf(source, sizeof source, "%s/%s", from, entry->d_name),
                          snprintf(target, sizeof target, "%s/%s", to, entry->d_name)};
        good = lengths[0] < PATH_LENGTH && lengths[1] < PATH_LENGTH && stat(source, &info) == 0;
        if (good && S_ISDIR(info.st_mode))
            good = copy_folder(source, target);
        else if (good)
            good = copy_file(source, target);
    }
    closedir(entries);
    return good;
}

static int report_unknown_model(const char *name)
{
    char folder[PATH_LENGTH];
    struct dirent **entries = NULL;
    int count = list_models(folder, sizeof folder, &entries);
    if (count < 0)
        return EXIT_FAILED;

    const char *names[MODELS_MAX + 1] = {NULL};
    for (int i = 0; i < count && i < MODELS_MAX; i++)
        names[i] = entries[i]->d_name;
    const char *nearest = yk_text_nearest(name, names);
    print_err("yoke: model '%s' not found.", name);
    if (nearest)
        print_err(" Did you mean '%s'?", nearest);
    print_err("\n`yoke models` lists the models.\n");

    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return EXIT_MISUSE;
}

static int copy_model(const char *name, const char *target)
{
    char path[PATH_LENGTH];
    if (!find_model(name, path, sizeof path))
        return report_unknown_model(name);

    if (access(target, F_OK) == 0) {
        print_err("yoke: '%s' already exists. Give another folder: yoke models copy %s FOLDER\n",
                  target, name);
        return EXIT_MISUSE;
    }

    *strrchr(path, '/') = '\0';
    if (!copy_folder(path, target))
        return EXIT_FAILED;
    print_out("%s/scenario.yaml\n", target);
    return EXIT_GOOD;
}

static const char usage[] =
    "models [OPTIONS]\n"
    "       yoke models copy NAME [FOLDER]\n\n"
    "List the scenarios of the model library, or copy one. Commands that read a scenario also take "
    "the name of a model: `yoke run crank-damper`.";

int command_models(int argc, char **argv)
{
    bool as_json = false;
    const char *words[3] = {NULL, NULL, NULL};
    const option_row rows[] = {JSON_ROW(&as_json), {.kind = OPTION_END}};
    int parsed = options_parse(usage, rows, argc, argv, words, 0, 3);
    if (parsed < 0)
        return options_exit(parsed);

    if (parsed == 0)
        return print_models(as_json);

    static const char *const actions[] = {"list", "copy", NULL};
    int index;
    if (!operand_pick("models", words[0], actions, &index))
        return EXIT_MISUSE;
    if (index == 0)
        return print_models(as_json);
    if (!words[1]) {
        print_err("yoke: missing argument: yoke models copy NAME [FOLDER]\n");
        return EXIT_MISUSE;
    }
    return copy_model(words[1], words[2] ? words[2] : words[1]);
}
