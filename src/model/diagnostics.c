/* A list of messages about an input file, formatted like those of compilers. */
#include "model/yaml_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { KEPT_MAX = 100, MESSAGE_MAX = 1024, EXCERPT_MAX = 100, EXCERPT_BEFORE = 60 };

struct yk_diagnostics {
    yk_context *context;
    yk_diagnostic *list;
    int count, capacity;
    int errors, warnings; /* including those that were not stored */
    bool failed;
};

yk_status yk_diagnostics_create(yk_context *context, yk_diagnostics **diagnostics)
{
    *diagnostics = yk_allocate(context, 1, sizeof **diagnostics);
    if (!*diagnostics)
        return YK_ERROR_MEMORY;

    (*diagnostics)->context = context;
    return YK_OK;
}

void yk_diagnostics_destroy(yk_diagnostics *diagnostics)
{
    if (!diagnostics)
        return;

    /* The texts of an entry are one block that begins with the name of the source. */
    for (int i = 0; i < diagnostics->count; i++)
        yk_free(diagnostics->context, (void *)(uintptr_t)diagnostics->list[i].source);

    yk_free(diagnostics->context, diagnostics->list);
    yk_free(diagnostics->context, diagnostics);
}

int yk_diagnostics_count(const yk_diagnostics *diagnostics)
{
    return diagnostics->count;
}

int yk_diagnostics_error_count(const yk_diagnostics *diagnostics)
{
    return diagnostics->errors;
}

int yk_diagnostics_warning_count(const yk_diagnostics *diagnostics)
{
    return diagnostics->warnings;
}

const yk_diagnostic *yk_diagnostics_at(const yk_diagnostics *diagnostics, int index)
{
    if (index < 0 || index >= diagnostics->count)
        return NULL;
    return &diagnostics->list[index];
}

bool yk_diagnostics_full(const yk_diagnostics *diagnostics)
{
    return diagnostics->count >= KEPT_MAX || diagnostics->failed;
}

bool yk_diagnostics_failed(const yk_diagnostics *diagnostics)
{
    return diagnostics->failed;
}

/* The excerpt ---------------------------------------------------------------------------------- */

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Size of the line break at `at` in bytes, 0 if there is none: the same breaks as in libyaml. */
static size_t break_length(const char *at, const char *end)
{
    if (at < end && *at == '\n')
        return 1;
    if (at < end && *at == '\r')
        return at + 1 < end && at[1] == '\n' ? 2 : 1;

    /* Next line, line separator and paragraph separator of Unicode. */
    if (end - at >= 2 && memcmp(at, "\xC2\x85", 2) == 0)
        return 2;
    if (end - at >= 3 && (memcmp(at, "\xE2\x80\xA8", 3) == 0 || memcmp(at, "\xE2\x80\xA9", 3) == 0))
        return 3;

    return 0;
}

static const char *line_start(const yk_source *source, int line)
{
    const char *at = source->text;
    const char *end = source->text + source->length;

    /* A line ends with its break, which may have two bytes. */
    while (at < end && line > 1) {
        size_t skip = break_length(at, end);
        if (skip)
            line--;

        at += skip ? skip : 1;
    }

    return at;
}

/* Skips characters up to the end of the line; returns the number of skipped characters. */
static int skip_characters(const char **at, const char *end, int count)
{
    /* A character of UTF-8 is a first byte and those that continue it. */
    int skipped = 0;
    for (; skipped < count && *at < end && !break_length(*at, end); skipped++) {
        do
            (*at)++;
        while (*at < end && continues_character(**at));
    }

    return skipped;
}

const char *yk_source_at(const yk_source *source, int line, int column)
{
    const char *at = line_start(source, line);
    skip_characters(&at, source->text + source->length, column - 1);
    return at;
}

/* Adding --------------------------------------------------------------------------------------- */

/* Appends `bytes` of text and a terminator to the block, returns where the text is. */
static const char *add_text(char **block, const char *text, size_t bytes)
{
    char *copy = *block;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    *block += bytes + 1;

    /* Terminals must not receive control characters from a file. */
    for (char *at = copy; *at; at++) {
        bool control = (unsigned char)*at < 0x20 || *at == 0x7F;
        if (*at == '\t')
            *at = ' ';
        else if (control)
            *at = '?';
    }

    return copy;
}

static bool keep(yk_diagnostics *diagnostics, yk_severity severity, yk_location location,
                 const char *path, const char *message)
{
    /* Memory for twice as many. */
    if (diagnostics->count == diagnostics->capacity) {
        int capacity = diagnostics->capacity ? 2 * diagnostics->capacity : 8;
        yk_diagnostic *grown =
            yk_reallocate(diagnostics->context, diagnostics->list, (size_t)capacity, sizeof *grown);
        if (!grown)
            return false;

        diagnostics->list = grown;
        diagnostics->capacity = capacity;
    }

    /* The line of the location, or the part of a long line around it. */
    const yk_source *source = location.source;
    const char *line = "";
    size_t line_bytes = 0;
    int caret = 0;
    if (source && source->text && location.line >= 1) {
        const char *end = source->text + source->length;
        line = line_start(source, location.line);
        caret = location.column > 0 ? location.column - 1 : 0;
        if (caret > EXCERPT_BEFORE)
            caret -= skip_characters(&line, end, caret - EXCERPT_BEFORE);

        /* Bytes of the visible characters: a line may be longer. */
        const char *at = line;
        skip_characters(&at, end, EXCERPT_MAX);
        line_bytes = (size_t)(at - line);
    }

    /* All texts of the entry are one block. */
    const char *name = source ? source->name : "";
    size_t name_bytes = strlen(name);
    size_t path_bytes = strlen(path);
    size_t message_bytes = strlen(message);
    char *block = yk_allocate(diagnostics->context,
                              name_bytes + path_bytes + message_bytes + line_bytes + 4, 1);
    if (!block)
        return false;

    /* Overrides have no lines to show. */
    yk_diagnostic *added = &diagnostics->list[diagnostics->count++];
    *added = (yk_diagnostic){.severity = severity, .caret = caret};
    if (source && source->has_lines) {
        added->line = location.line;
        added->column = location.line ? location.column : 0;
    }

    added->length = location.length > 0 ? location.length : 1;
    added->source = add_text(&block, name, name_bytes);
    added->path = add_text(&block, path, path_bytes);
    added->message = add_text(&block, message, message_bytes);
    added->excerpt = add_text(&block, line, line_bytes);

    return true;
}

/* Whether the message was reported for the same place in a text. */
static bool is_known(const yk_diagnostics *diagnostics, yk_severity severity, yk_location location,
                     const char *message)
{
    for (int i = 0; i < diagnostics->count && location.line > 0; i++) {
        const yk_diagnostic *entry = &diagnostics->list[i];
        if (entry->line == location.line && entry->column == location.column &&
            entry->severity == severity && strcmp(entry->source, location.source->name) == 0 &&
            strcmp(entry->message, message) == 0)
            return true;
    }

    return false;
}

void yk_report(yk_diagnostics *diagnostics, yk_severity severity, yk_location location,
               const char *path, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(message, sizeof message, format, arguments);
    va_end(arguments);

    /* A full buffer may contain an incomplete UTF-8 sequence at its end: the first byte tells its
     * length. */
    size_t length = strlen(message);
    size_t tail = 0;
    while (tail < length && tail < 3 && continues_character(message[length - 1 - tail]))
        tail++;
    if (tail < length) {
        unsigned char lead = (unsigned char)message[length - 1 - tail];
        size_t expected = (size_t)(lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0);
        if (tail < expected)
            message[length - 1 - tail] = '\0';
    }

    /* One mistake in a repeated item or in a component is one message. */
    if (is_known(diagnostics, severity, location, message))
        return;

    /* All messages are counted, the first hundred are stored. */
    if (severity == YK_SEVERITY_ERROR)
        diagnostics->errors++;
    else
        diagnostics->warnings++;
    if (yk_diagnostics_full(diagnostics))
        return;

    if (!keep(diagnostics, severity, location, path ? path : "", message))
        diagnostics->failed = true;
}

void yk_diagnostics_sort(yk_diagnostics *diagnostics)
{
    /* Insertion sort keeps the order of equal entries; the list is short. */
    yk_diagnostic *list = diagnostics->list;
    for (int i = 1; i < diagnostics->count; i++) {
        yk_diagnostic moved = list[i];
        int j = i;
        for (; j > 0; j--) {
            /* The file first, line by line, then the overrides, which have no lines. */
            const yk_diagnostic *before = &list[j - 1];
            bool later = before->column > moved.column;
            if (before->line != moved.line)
                later = before->line > moved.line;
            if ((before->line == 0) != (moved.line == 0))
                later = before->line == 0;
            if (!later)
                break;

            list[j] = *before;
        }

        list[j] = moved;
    }
}

/* Layout --------------------------------------------------------------------------------------- */

char *yk_diagnostics_format(const yk_diagnostics *diagnostics)
{
    yk_context *context = diagnostics->context;
    yk_text text = {0};

    /* Without entries it is an empty text; NULL: memory is missing. */
    yk_text_add(context, &text, "%s", "");

    for (int i = 0; i < diagnostics->count; i++) {
        /* file:line:column: error: path: message */
        const yk_diagnostic *entry = &diagnostics->list[i];
        if (entry->source[0])
            yk_text_add(context, &text, "%s:", entry->source);
        if (entry->line)
            yk_text_add(context, &text, "%d:%d:", entry->line, entry->column);
        if (entry->source[0])
            yk_text_add(context, &text, " ");

        bool error = entry->severity == YK_SEVERITY_ERROR;
        yk_text_add(context, &text, "%s: ", error ? "error" : "warning");
        if (entry->path[0])
            yk_text_add(context, &text, "%s: ", entry->path);

        yk_text_add(context, &text, "%s\n", entry->message);
        if (!entry->excerpt[0])
            continue;

        /* The line, with the location marked below it. */
        if (entry->line)
            yk_text_add(context, &text, "%5d", entry->line);
        else
            yk_text_add(context, &text, "     ");

        yk_text_add(context, &text, " | %s\n      | %*s^", entry->excerpt, entry->caret, "");

        /* Only within the visible part of the line. */
        int characters = 0;
        for (const char *at = entry->excerpt; *at; at++)
            characters += !continues_character(*at);

        for (int k = 1; k < entry->length && k < characters - entry->caret; k++)
            yk_text_add(context, &text, "~");
        yk_text_add(context, &text, "\n");
    }

    /* Number of messages that were not stored. */
    int dropped = diagnostics->errors + diagnostics->warnings - diagnostics->count;
    if (dropped > 0)
        yk_text_add(context, &text, "... and %d more\n", dropped);
    if (text.failed)
        yk_text_destroy(context, &text);

    return text.data;
}
