/* yoke schema: the reference of all scenario keys. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* A function that receives each page of the reference; false ends the walk. */
typedef bool page_visitor(void *user, int page, const char *name, const char *text);

/* EXIT_GOOD also if the visitor ended the walk. */
static int visit_pages(const loaded *l, page_visitor *visit, void *user)
{
    const char *name;
    char *text;
    for (int page = 0;
         (text = yk_scenario_reference_page(l->context, l->scenario, page, &name)) || name;
         page++) {
        if (!text)
            return print_failure(l->context);
        bool goes_on = visit(user, page, name, text);
        yk_free(l->context, text);
        if (!goes_on)
            break;
    }
    return EXIT_GOOD;
}

/* Pages as files of a folder. */
typedef struct page_folder {
    const char *folder;
    bool failed; /* after a message */
} page_folder;

static bool write_page(void *user, int page, const char *name, const char *text)
{
    page_folder *files = user;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s.md", files->folder, page ? "scenario/" : "", name);
    yk_output output = yk_output_open(path);
    if (output.stream)
        fputs(text, output.stream);
    files->failed = !close_written(&output, path);
    return !files->failed;
}

/* Writes each page of the reference into the folder: scenario.md, and scenario/NAME.md for the others. */
static int write_pages(const loaded *l, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/scenario", folder);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return print_unwritable(path);

    page_folder files = {.folder = folder};
    int code = visit_pages(l, write_page, &files);
    return files.failed ? EXIT_FAILED : code;
}

/* One page by its name. */
typedef struct page_choice {
    const char *name;
    bool found;
} page_choice;

static bool print_if_wanted(void *user, int page, const char *name, const char *text)
{
    (void)page;
    page_choice *wanted = user;
    wanted->found = strcmp(name, wanted->name) == 0;
    if (wanted->found)
        fputs(text, stdout);
    return !wanted->found;
}

static int print_page(const loaded *l, const char *name)
{
    page_choice wanted = {.name = name};
    int code = visit_pages(l, print_if_wanted, &wanted);
    if (code != EXIT_GOOD || wanted.found)
        return code;

    print_err("yoke: there is no page '%s'; `yoke schema` prints the list of pages first\n", name);
    return EXIT_MISUSE;
}

int command_schema(int argc, char **argv)
{
    const char *page = NULL, *folder = NULL;
    bool json = false;
    const option_row rows[] = {
        {"page", OPTION_TEXT, &page, "NAME", "Print one page, such as joints, forces or coupling"},
        {"json", OPTION_FLAG, &json, NULL,
         "Print a JSON Schema, for completion and checks in editors (docs/json.md)"},
        {"folder", OPTION_TEXT, &folder, "FOLDER", "Write each page as a file into a folder"},
        {.kind = OPTION_END},
    };
    const char *path = NULL;
    int parsed =
        options_parse("schema [SCENARIO] [OPTIONS]\n\nPrint the reference of all scenario keys as "
                      "Markdown, with those of the plug-ins of a scenario.",
                      rows, argc, argv, &path, 0, 1);
    if (parsed < 0)
        return options_exit(parsed);

    /* With a scenario, the keys of its plug-ins too. */
    loaded l = {0};
    if (path && !load_scenario(path, &(option_list){0}, LOAD_TO_RUN, &l))
        return l.code;
    if (!path)
        l.context = open_context();
    if (!l.context)
        return EXIT_FAILED;

    int code = EXIT_GOOD;
    if (page || folder) {
        code = page ? print_page(&l, page) : write_pages(&l, folder);
    } else {
        char *text = json ? yk_scenario_json_schema(l.context, l.scenario)
                          : yk_scenario_schema_markdown(l.context, l.scenario);
        if (text)
            fputs(text, stdout);
        else
            code = print_failure(l.context);
        yk_free(l.context, text);
    }

    close_scenario(&l);
    return code;
}
