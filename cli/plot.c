/* yoke plot: recorded wanted over time as a picture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "commands.h"
#include "pictures.h"
#include "scenario.h"
#include "yoke/analysis.h"

enum { FILES_MAX = 16, CURVES_MAX = 64 };

typedef struct picture {
    yk_context *context;
    int file_count;
    const char *files[FILES_MAX];
    yk_record *records[FILES_MAX];
    int curve_count;
    picture_curve curves[CURVES_MAX];
    char titles[CURVES_MAX][128];
} picture;

/* The name of a file without folder and ending, for the legend. */
static int stem(const char *file, const char **begin)
{
    const char *slash = strrchr(file, '/');
    *begin = slash ? slash + 1 : file;
    const char *dot = strrchr(*begin, '.');
    return dot && dot > *begin ? (int)(dot - *begin) : (int)strlen(*begin);
}

static bool add_curve(picture *p, int file, int channel, int component)
{
    if (p->curve_count == CURVES_MAX) {
        fprintf(stderr, "yoke: more than %d curves; choose with --channel\n", CURVES_MAX);
        return false;
    }
    const yk_record_channel *c = &yk_record_get_header(p->records[file])->channels[channel];
    char *title = p->titles[p->curve_count];
    const char *name;
    int length = p->file_count > 1 ? stem(p->files[file], &name) : 0;
    snprintf(title, sizeof *p->titles, "%s%s%s%s%.*s", c->name, c->components > 1 ? ":" : "",
             c->components > 1 ? c->labels[component] : "", length ? ", " : "", length,
             length ? name : "");
    p->curves[p->curve_count++] = (picture_curve){p->records[file], channel, component, title};
    return true;
}

static bool add_components(picture *p, int file, int channel, int only)
{
    int components = yk_record_get_header(p->records[file])->channels[channel].components;
    for (int i = 0; i < components; i++)
        if ((only < 0 || only == i) && !add_curve(p, file, channel, i))
            return false;
    return true;
}

static bool report_missing(const picture *p, int file, const char *word)
{
    const yk_record_header *header = yk_record_get_header(p->records[file]);
    const char **names = calloc((size_t)header->channel_count + 1, sizeof *names);
    for (int i = 0; names && i < header->channel_count; i++)
        names[i] = header->channels[i].name;
    const char *nearest = names ? yk_text_nearest(word, names) : NULL;
    fprintf(stderr, "yoke: %s has no channel '%s'", p->files[file], word);
    if (nearest)
        fprintf(stderr, ", did you mean '%s'?", nearest);
    fprintf(stderr, "%s It has:", nearest ? "" : ".");
    for (int i = 0; i < header->channel_count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", header->channels[i].name);
    fprintf(stderr, "\n");
    free(names);
    return false;
}

/* "left.mass.position" or, for one component, "tip.position.y" or "tip.position:y". */
static bool add_channel(picture *p, int file, const char *word)
{
    int channel = yk_record_find(p->records[file], word);
    if (channel >= 0)
        return add_components(p, file, channel, -1);

    /* The component stands behind the last mark. */
    size_t length = strlen(word);
    while (length > 0 && word[length] != ':' && word[length] != '.')
        length--;
    if (length == 0)
        return report_missing(p, file, word);
    const char *component = word + length + 1;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    channel = yk_record_find(p->records[file], name);
    if (channel < 0)
        return report_missing(p, file, word);

    const yk_record_channel *c = &yk_record_get_header(p->records[file])->channels[channel];
    for (int i = 0; i < c->components; i++)
        if (strcmp(c->labels[i], component) == 0)
            return add_components(p, file, channel, i);
    fprintf(stderr, "yoke: channel '%s' has no component '%s'; it has", name, component);
    for (int i = 0; i < c->components; i++)
        fprintf(stderr, "%s %s", i ? "," : "", c->labels[i]);
    fprintf(stderr, "\n");
    return false;
}

static bool collect(picture *p, const option_list *wanted)
{
    for (int file = 0; file < p->file_count; file++) {
        if (yk_record_load(p->context, p->files[file], &p->records[file]) < 0) {
            print_failure(p->context);
            return false;
        }
        int channels = yk_record_get_header(p->records[file])->channel_count;
        for (int i = 0; wanted->count == 0 && i < channels; i++)
            if (!add_components(p, file, i, -1))
                return false;
        for (int i = 0; i < wanted->count; i++)
            if (!add_channel(p, file, wanted->items[i]))
                return false;
    }
    return true;
}

int command_plot(int argc, char **argv)
{
    option_list wanted = {0};
    const char *base = "plot", *title = NULL;
    const option_row rows[] = {
        {"channel", OPTION_LIST, &wanted, "NAME",
         "a recorded channel, or a component of it (tip.position.y) [all]"},
        {"o", OPTION_TEXT, &base, "BASE", "pictures BASE.svg and BASE.png [plot]"},
        {"title", OPTION_TEXT, &title, "TEXT", "title of the picture [that of the record]"},
        {.kind = OPTION_END},
    };
    picture *p = calloc(1, sizeof *p);
    if (!p)
        return EXIT_FAILED;
    p->file_count = options_parse("plot RESULTS ... [--channel NAME ...] [-o BASE]", rows, argc,
                                  argv, p->files, 1, FILES_MAX);
    int code = p->file_count < 0 ? options_exit(p->file_count) : EXIT_MISUSE;
    p->context = p->file_count < 0 ? NULL : open_context();
    if (p->context && collect(p, &wanted)) {
        if (!title)
            title = yk_record_get_header(p->records[0])->title;
        if (picture_curves(p->context, base, title, p->curves, p->curve_count) < 0) {
            code = print_failure(p->context);
        } else {
            printf("picture %s.svg, %s.png\n", base, base);
            code = EXIT_GOOD;
        }
    }
    for (int i = 0; i < p->file_count; i++)
        yk_record_destroy(p->records[i]);
    yk_context_destroy(p->context);
    free(p);
    return code;
}
