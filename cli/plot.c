/* yoke plot: recorded channels over time as a picture. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "pictures.h"
#include "record/memory.h"

/* A picture has fewer columns of pixels than a quarter of the rows. */
enum { FILES_MAX = 16, CURVES_MAX = 64, ROWS_MAX = 8192 };

typedef struct picture {
    int file_count;
    const char *files[FILES_MAX];
    yk_record *records[FILES_MAX];
    int curve_count;
    picture_curve curves[CURVES_MAX];
    char runs[FILES_MAX][64]; /* names of the files in a picture of several */
} picture;

/* Adds all components of a channel, or only one. False after a message. */
static bool add_curves(picture *p, int file, int channel, int only)
{
    const yk_record_channel *c = &yk_record_get_header(p->records[file])->channels[channel];
    for (int i = 0; i < c->component_count; i++) {
        if (only >= 0 && only != i)
            continue;

        if (p->curve_count == CURVES_MAX) {
            print_err("yoke: more than %d curves; choose with --channel\n", CURVES_MAX);
            return false;
        }

        p->curves[p->curve_count++] = (picture_curve){
            .record = p->records[file],
            .channel = channel,
            .component = i,
            .run = p->file_count > 1 ? p->runs[file] : NULL,
            .is_asked_for = only >= 0,
        };
    }

    return true;
}

/* Calls each run by the name of its file without folder and ending. */
static void name_runs(picture *p)
{
    for (int file = 0; file < p->file_count; file++) {
        const char *stem = behind_last(p->files[file], '/');
        const char *dot = strrchr(stem, '.');
        int length = dot && dot > stem ? (int)(dot - stem) : (int)strlen(stem);
        snprintf(p->runs[file], sizeof *p->runs, "%.*s", length, stem);
    }
}

static bool report_missing(const picture *p, int file, const char *word)
{
    /* Suggest the nearest name for a misspelled one, otherwise list all names. */
    const yk_record_header *header = yk_record_get_header(p->records[file]);
    const char **names = calloc((size_t)header->channel_count + 1, sizeof *names);
    const char *nearest = NULL;
    for (int i = 0; names && i < header->channel_count; i++)
        names[i] = header->channels[i].name;
    if (names)
        nearest = yk_text_nearest(word, names);

    print_err("yoke: %s has no channel '%s'", p->files[file], word);
    if (nearest)
        print_err(", did you mean '%s'? It has:", nearest);
    else
        print_err(". It has:");
    for (int i = 0; i < header->channel_count; i++)
        print_err("%s %s", i ? "," : "", header->channels[i].name);
    print_err("\n");

    free(names);
    return false;
}

/* "left.mass.position" or, for one component, "tip.position.y" or "tip.position.y". */
static bool add_channel(picture *p, int file, const char *word)
{
    int channel = yk_record_find_channel(p->records[file], word);
    if (channel >= 0)
        return add_curves(p, file, channel, -1);

    /* The component is after the last mark. */
    size_t length = strlen(word);
    while (length > 0 && word[length] != ':' && word[length] != '.')
        length--;
    if (length == 0)
        return report_missing(p, file, word);

    /* The channel, then its component by label. */
    const char *component = word + length + 1;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    channel = yk_record_find_channel(p->records[file], name);
    if (channel < 0)
        return report_missing(p, file, word);

    const yk_record_channel *c = &yk_record_get_header(p->records[file])->channels[channel];
    for (int i = 0; i < c->component_count; i++)
        if (strcmp(c->labels[i], component) == 0)
            return add_curves(p, file, channel, i);

    /* The channel exists, so the label must be wrong. */
    print_err("yoke: channel '%s' has no component '%s'; it has", name, component);
    for (int i = 0; i < c->component_count; i++)
        print_err("%s %s", i ? "," : "", c->labels[i]);
    print_err("\n");
    return false;
}

/* Adds the channels of a file that fit into the picture and counts the others. Orientations come last: their four numbers
 * tell a reader least. False after a message. */
static bool add_first_channels(picture *p, int file, int *left_out)
{
    /* More panels or curves than these cannot be distinguished. */
    enum { PANELS = 4, CURVES = 6 };
    const yk_record_header *header = yk_record_get_header(p->records[file]);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < header->channel_count; i++) {
            bool orients = header->channels[i].component_count == 4 &&
                           ends_in(header->channels[i].name, ".orientation");
            if (orients != (pass == 1))
                continue;

            /* Its own curves and those of this file that share its panel. */
            picture_curve added = {.record = p->records[file], .channel = i};
            int beside = header->channels[i].component_count;
            bool opens = true;
            for (int k = 0; k < p->curve_count; k++) {
                if (!picture_shares_panel(&p->curves[k], &added))
                    continue;

                opens = false;
                if (p->curves[k].record == p->records[file])
                    beside++;
            }

            int panels = picture_panel_count(p->curves, p->curve_count);
            if (beside > CURVES || (opens && panels >= PANELS))
                (*left_out)++;
            else if (!add_curves(p, file, i, -1))
                return false;
        }
    }
    return true;
}

int command_plot(int argc, char **argv)
{
    option_list wanted = {0};
    const char *base = "plot";
    const char *title = NULL;

    const option_row rows[] = {
        {"channel", OPTION_LIST, &wanted, "NAME",
         "Plot this channel or component, e.g. tip.position.y; may be repeated (default: all)"},
        {"output", OPTION_TEXT, &base, "BASE",
         "Write BASE.svg, or the .svg, .png or .pdf file of this name (default: plot)"},
        {"title", OPTION_TEXT, &title, "TEXT", "Set the title (default: title of the record)"},
        {.kind = OPTION_END},
    };

    picture *p = calloc(1, sizeof *p);
    if (!p)
        return EXIT_FAILED;

    /* The options write the names of the files into it. */
    int code = EXIT_GOOD;
    yk_context *context = NULL;
    p->file_count = options_parse("plot RESULTS... [OPTIONS]\n\nPlot recorded channels over time.",
                                  rows, argc, argv, p->files, 1, FILES_MAX);
    if (p->file_count < 0)
        code = options_exit(p->file_count);
    else if (!picture_is_named("--output", base))
        code = EXIT_MISUSE;
    else if (!(context = open_context()))
        code = EXIT_FAILED;

    name_runs(p);
    int left_out = 0;
    for (int file = 0; context && file < p->file_count && code == EXIT_GOOD; file++) {
        yk_status status =
            yk_record_load_thin(context, p->files[file], ROWS_MAX, &p->records[file]);
        if (status != YK_OK) {
            print_failure(context);
            code = input_code(status);
            break;
        }

        /* The requested channels, or as many as fit into a readable picture. */
        bool good = true;
        if (wanted.count == 0)
            good = add_first_channels(p, file, &left_out);
        for (int i = 0; good && i < wanted.count; i++)
            good = add_channel(p, file, wanted.items[i]);
        if (!good)
            code = EXIT_MISUSE;
    }

    /* One picture of all curves. */
    if (context && code == EXIT_GOOD) {
        if (!title)
            title = yk_record_get_header(p->records[0])->title;
        if (picture_curves(context, base, title, p->curves, p->curve_count) == YK_OK)
            print_picture(base);
        else
            code = print_failure(context);
        if (code == EXIT_GOOD && left_out > 0)
            print_out(
                "%d channel%s left out: choose with --channel, or see all with `yoke report`\n",
                left_out, plural(left_out));
    }

    /* Curves point into the records, so release these last. */
    for (int i = 0; i < p->file_count; i++)
        yk_record_destroy(p->records[i]);
    yk_context_destroy(context);
    free(p);
    return code;
}
