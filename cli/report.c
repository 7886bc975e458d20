/* yoke report: recorded runs as one HTML file with 3D playback, plots and findings; and the page of
 * the viewer, which that file and live runs show. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"
#include "cli.h"
#include "report.h"

static const char usage[] =
    "report RESULTS... [OPTIONS]\n"
    "       yoke report TABLE.csv... [OPTIONS]\n"
    "\n"
    "Write one self-contained HTML file with 3D playback, plots and findings. "
    "Several runs are overlaid. Tables that stability, convergence, sweep and modes "
    "wrote with -o become maps, curves and shapes.";

enum { FILES_MAX = 16 };

/* The page ------------------------------------------------------------------------------------- */

/* The assembler puts the file into the program, because a literal of its size would be slow to
 * compile. CMake defines YOKE_VIEWER_PAGE. */
__asm__(".section .rodata\n"
        ".global yoke_viewer_begin\n"
        ".global yoke_viewer_end\n"
        "yoke_viewer_begin:\n"
        ".incbin \"" YOKE_VIEWER_PAGE "\"\n"
        "yoke_viewer_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char yoke_viewer_begin[], yoke_viewer_end[];

const char *viewer_page(size_t *length)
{
    *length = (size_t)(yoke_viewer_end - yoke_viewer_begin);
    return yoke_viewer_begin;
}

const char *viewer_mark(const char *page, size_t length)
{
    size_t size = strlen(VIEWER_MARK);
    for (size_t i = 0; i + size <= length; i++)
        if (page[i] == '<' && memcmp(page + i, VIEWER_MARK, size) == 0)
            return page + i;

    return NULL;
}

/* The report ----------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *length)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        print_err("yoke: cannot read '%s': %s\n", path, strerror(errno));
        return NULL;
    }

    /* Its size is unknown if it is a pipe. */
    char *text = NULL;
    size_t count = 0;
    size_t capacity = 0;
    while (!feof(stream) && !ferror(stream)) {
        if (count + 65536 >= capacity) {
            capacity = 2 * capacity + 65536;
            char *grown = realloc(text, capacity);
            if (!grown)
                break;

            text = grown;
        }
        count += fread(text + count, 1, capacity - count - 1, stream);
    }

    bool whole = feof(stream) && !ferror(stream);
    fclose(stream);
    if (!whole || !text) {
        print_err("yoke: cannot read '%s'\n", path);
        free(text);
        return NULL;
    }

    /* A file may be used as text: one byte was left for its end. */
    text[count] = '\0';
    *length = count;
    return text;
}

/* The page with the data in place of its mark, as a script with this id. It states in advance
 * whether something is drawn in 3D, so that the page prepares for that while it unpacks the data. */
static bool write_report(const char *file, const char *page, size_t length, const char *id,
                         bool drawn, const unsigned char *packed, size_t bytes)
{
    /* A page has one mark, which the build of the viewer inserts. */
    const char *at = viewer_mark(page, length);
    if (!at) {
        print_err("yoke: the viewer has no place for data: it is not one of `yoke report`\n");
        return false;
    }

    yk_output output = yk_output_open(file);
    FILE *out = output.stream;
    if (!out)
        return close_written(&output, file);

    /* The data in base 64, three bytes as four letters, because a page may contain text only. */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    fwrite(page, 1, (size_t)(at - page), out);
    fprintf(out, "<script id=\"%s\" type=\"text/plain\"%s>", id, drawn ? " data-drawn" : "");
    for (size_t i = 0; i < bytes; i += 3) {
        unsigned word = (unsigned)packed[i] << 16;
        if (i + 1 < bytes)
            word |= (unsigned)packed[i + 1] << 8;
        if (i + 2 < bytes)
            word |= packed[i + 2];
        fputc(digits[word >> 18], out);
        fputc(digits[word >> 12 & 63], out);
        fputc(i + 1 < bytes ? digits[word >> 6 & 63] : '=', out);
        fputc(i + 2 < bytes ? digits[word & 63] : '=', out);
    }
    fputs("</script>", out);
    at += strlen(VIEWER_MARK);
    fwrite(at, 1, length - (size_t)(at - page), out);

    long size = ftell(out);
    if (!close_written(&output, file))
        return false;

    print_out("report %s, %.1f MB\n", file, (double)size / 1e6);
    return true;
}

/* Whether a file is a table of an analysis: CSV whose first column is not time. A sweep may begin
 * with time.step. */
static bool is_table(const char *path)
{
    if (!ends_in(path, ".csv"))
        return false;

    /* A file that cannot be read is rejected when it is loaded. */
    char title[8] = "";
    FILE *stream = yk_regular_open(NULL, path, YK_ERROR_FILE);
    if (!stream)
        return false;

    size_t count = fread(title, 1, sizeof title - 1, stream);
    fclose(stream);
    if (count == 0)
        return false;

    const char *first = title[0] == '"' ? title + 1 : title;
    bool time = strncmp(first, "time", 4) == 0 && strchr(" [,\"\r\n", first[4]);
    return !time;
}

int command_report(int argc, char **argv)
{
    const char *files[FILES_MAX];
    const char *file = "report.html";
    const char *viewer = NULL;
    int frames = 0;

    const option_row rows[] = {
        {"output", OPTION_TEXT, &file, "FILE", "Write the page to FILE (default: report.html)"},
        {"frames", OPTION_COUNT, &frames, "N",
         "Keep at most N frames per run (default: as many as fit in 64 MB)"},
        {"viewer", OPTION_TEXT, &viewer, "FILE",
         "Use another viewer page (for developers of the viewer)"},
        {.kind = OPTION_END},
    };

    int count = options_parse(usage, rows, argc, argv, files, 1, FILES_MAX);
    if (count < 0)
        return options_exit(count);

    static const char *const endings[] = {"html", "htm", NULL};
    if (!options_ending("-o", file, endings))
        return EXIT_MISUSE;

    /* The page: the viewer that was built into the program, or one under development. */
    size_t length = 0;
    const char *page = viewer_page(&length);
    char *own = NULL;
    if (viewer) {
        own = read_file(viewer, &length);
        page = own;
        if (!own)
            return EXIT_MISUSE;
    }

    if (length == 0) {
        print_err("yoke: this program was built without the viewer, for want of Node.js: "
                  "install nodejs and npm and build it\n"
                  "again, or build viewer/ elsewhere (npm ci && npm run build) and give "
                  "--viewer viewer/dist/index.html\n");
        return EXIT_FAILED;
    }

    yk_context *context = open_context();
    if (!context) {
        free(own);
        return EXIT_FAILED;
    }

    /* The data: of runs, or of analyses, but not of both. */
    bool tables = false;
    for (int i = 0; i < count; i++)
        tables = tables || is_table(files[i]);

    report_source sources[FILES_MAX] = {{0}};
    bool drawn = false;
    int code = EXIT_GOOD;
    for (int i = 0; i < count && code == EXIT_GOOD; i++) {
        report_source *source = &sources[i];
        source->file = files[i];
        if (tables && !is_table(files[i])) {
            print_err("yoke: '%s' is a run and others are tables of an analysis; a report has "
                      "the one or the other\n",
                      files[i]);
            code = EXIT_MISUSE;
        } else if (tables) {
            size_t size = 0;
            source->text = read_file(files[i], &size);
            if (!source->text)
                code = EXIT_MISUSE;
        } else if (yk_record_load(context, files[i], &source->record) != YK_OK) {
            print_failure(context);
            code = EXIT_MISUSE;
        }

        /* Whether there is something to show in 3D. */
        const yk_record_scene *scene = NULL;
        if (source->record)
            scene = yk_record_get_header(source->record)->scene;
        if (scene && scene->shape_count > 0)
            drawn = true;
    }

    /* Packing fails only if memory is missing. */
    unsigned char *packed = NULL;
    size_t bytes = 0;
    if (code == EXIT_GOOD && tables)
        packed = report_pack_tables(sources, count, &bytes);
    else if (code == EXIT_GOOD)
        packed = report_pack(sources, count, false, frames, &bytes);
    if (code == EXIT_GOOD && !packed)
        code = print_no_memory();

    const char *id = "yoke-data";
    if (tables)
        id = "yoke-tables";
    if (packed && !write_report(file, page, length, id, drawn, packed, bytes))
        code = EXIT_FAILED;

    for (int i = 0; i < count; i++) {
        free(sources[i].text);
        yk_record_destroy(sources[i].record);
    }
    free(packed);
    yk_context_destroy(context);
    free(own);
    return code;
}
