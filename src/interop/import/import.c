/* Selects the format of a model, and keeps what its reader produces. */
#include "interop/import/importer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

yk_import_options yk_import_options_default(void)
{
    return (yk_import_options){.mesh_folder = ""};
}

/* Formats -------------------------------------------------------------------------------------- */

static bool has_ending(const yk_import_format *format, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && format->endings[i]; i++)
        if (strcmp(dot, format->endings[i]) == 0)
            return true;
    return false;
}

static const yk_import_format *find_by_ending(const char *path)
{
    for (int i = 0; yk_import_formats[i]; i++)
        if (has_ending(yk_import_formats[i], path))
            return yk_import_formats[i];
    return NULL;
}

static const yk_import_format *find_by_root(const yk_xml_element *root)
{
    const char *name = yk_xml_local_name(root->name);
    for (int i = 0; yk_import_formats[i]; i++) {
        const char *expected = yk_import_formats[i]->root_element;
        if (expected && strcmp(expected, name) == 0)
            return yk_import_formats[i];
    }
    return NULL;
}

static yk_status refuse_root(yk_import *import, const yk_xml_element *root)
{
    char known[300] = "";
    for (int i = 0; yk_import_formats[i]; i++) {
        const yk_import_format *format = yk_import_formats[i];
        size_t length = strlen(known);
        if (format->root_element)
            snprintf(known + length, sizeof known - length, "%s<%s> (%s)", length ? ", " : "",
                     format->root_element, format->name);
    }
    return yk_import_fail(import, root,
                          "the format with the root element <%.60s> is unknown. "
                          "Expected one of %s.",
                          root->name, known);
}

/* Life cycle ----------------------------------------------------------------------------------- */

yk_status yk_import_read(yk_context *context, const char *path, const yk_import_options *options,
                         yk_import **import)
{
    *import = NULL;
    yk_import *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->context = context;
    self->building.context = context;
    self->options = *options;

    const char *name = yk_import_keep_name(self, path);
    const yk_import_format *format = find_by_ending(path);
    yk_xml *xml = NULL;
    yk_xml_element *root = NULL;
    yk_status status = name ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK && !format) {
        status = yk_xml_read(context, path, &xml);
        if (status == YK_OK)
            root = yk_xml_root(xml);
        if (root)
            format = find_by_root(root);
        if (root && !format)
            status = refuse_root(self, root);
    }
    if (status == YK_OK)
        status = format->read(self, name, root);
    yk_xml_destroy(xml);

    if (status != YK_OK) {
        yk_import_destroy(self);
        return status;
    }
    *import = self;
    return YK_OK;
}

void yk_import_destroy(yk_import *import)
{
    if (!import)
        return;

    yk_context *context = import->context;
    for (int i = 0; i < import->file_count; i++)
        yk_free(context, import->files[i]);
    for (int i = 0; i < import->document_count; i++)
        yk_xml_destroy(import->documents[i]);
    yk_free(context, import->notes);
    free(import->scenario); /* from open_memstream() */
    yk_free(context, import);
}

int yk_import_notes(const yk_import *import, const yk_import_note **notes)
{
    *notes = import->notes;
    return import->note_count;
}

const char *yk_import_summary(const yk_import *import)
{
    return import->summary;
}

const char *yk_import_scenario(const yk_import *import)
{
    return import->scenario;
}

/* Notes ---------------------------------------------------------------------------------------- */

const char *yk_import_keep_name(yk_import *import, const char *file)
{
    if (import->file_count == YK_IMPORT_FILES_MAX)
        return NULL;

    char *copy = yk_text_copy(import->context, file);
    if (copy)
        import->files[import->file_count++] = copy;
    return copy;
}

void yk_import_add_note(yk_import *import, const yk_xml_element *element, const char *format, ...)
{
    yk_import_note note = {.file = element->file, .line = element->line};

    /* Refer to the kept name, because a document may be destroyed before its notes are read. */
    for (int i = 0; i < import->file_count; i++)
        if (strcmp(import->files[i], element->file) == 0)
            note.file = import->files[i];

    va_list arguments;
    va_start(arguments, format);
    yk_format_list(note.text, sizeof note.text, format, arguments);
    va_end(arguments);

    /* Notes become comments of the scenario. Names in them may contain line breaks, and names that
     * were cut may end within a character. */
    yk_text_make_printable(note.text);

    yk_building_append(&import->building, &import->notes, &import->note_count, &note, sizeof note);
}

/* Attributes ----------------------------------------------------------------------------------- */

yk_status yk_import_fail(yk_import *import, const yk_xml_element *element, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return yk_fail(import->context, YK_ERROR_INPUT, "%s:%d: %s", element->file, element->line,
                   text);
}

yk_status yk_import_read_numbers(yk_import *import, const yk_xml_element *element, const char *name,
                                 const char *text, double *values, int min_count, int max_count,
                                 int *count)
{
    int found = 0;
    const char *at = text;

    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            break;

        /* A whole word that is a finite number: no "1.5mm", no "nan". */
        char *end;
        double value = yk_text_number(at, &end);
        bool whole = end != at && (!*end || isspace((unsigned char)*end));
        if (!whole || !isfinite(value))
            return yk_import_fail(import, element, "%s of <%s>: '%.40s' is not a number", name,
                                  element->name, at);

        if (found == max_count)
            return yk_import_fail(import, element, "%s of <%s> has more than %d numbers", name,
                                  element->name, max_count);

        values[found++] = value;
        at = end;
    }

    if (found < min_count)
        return yk_import_fail(import, element, "%s of <%s> has %d numbers, expected %d", name,
                              element->name, found, min_count);

    if (count)
        *count = found;
    return YK_OK;
}
