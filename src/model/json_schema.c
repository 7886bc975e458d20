/* The schema of scenarios as a JSON Schema, for editors and other programs. */
#include <string.h>

#include "base/text.h"
#include "model/scenario.h"

/* Named items are definitions that are referenced twice: as items of a section and of a list. */
typedef struct schema_writer {
    yk_context *context;
    yk_text definitions;
} schema_writer;

enum { PATH_CAPACITY = 200 };

/* Properties that an item of a collection may have in addition to the keys of its section. */
typedef enum item_kind { NO_ITEM, LIST_ITEM, NAMED_ITEM } item_kind;

static void add_field(schema_writer *w, yk_text *text, const yk_option *field, const char *path,
                      item_kind item);

/* Pieces --------------------------------------------------------------------------------------- */

/* A comma, except at the start of an object or a list. */
static void separate(schema_writer *w, yk_text *text)
{
    char last = text->length > 0 ? text->data[text->length - 1] : '{';
    if (last != '{' && last != '[')
        yk_text_add(w->context, text, ",");
}

static void add_string(schema_writer *w, yk_text *text, const char *before, const char *string)
{
    yk_text_add(w->context, text, "%s", before);
    yk_text_add_json(w->context, text, string);
}

static void add_key(schema_writer *w, yk_text *text, const char *key)
{
    separate(w, text);
    yk_text_add_json(w->context, text, key);
    yk_text_add(w->context, text, ":");
}

static void add_words(schema_writer *w, yk_text *text, const yk_option_choice *words)
{
    for (const yk_option_choice *word = words; word->name; word++) {
        separate(w, text);
        yk_text_add_json(w->context, text, word->name);
    }
}

/* A default is written as in a scenario: a number, a word, [a, b] or {}. */
static void add_default(schema_writer *w, yk_text *text, const char *value)
{
    double number;
    if (value[0] == '[') {
        yk_text_add(w->context, text, "[");
        for (const char *at = value + 1; *at && *at != ']';) {
            char item[64];
            size_t length = strcspn(at, ",]");
            yk_format(item, sizeof item, "%.*s", (int)length, at);
            separate(w, text);
            add_default(w, text, item);
            at += length + (at[length] == ',');
            at += strspn(at, " ");
        }
        yk_text_add(w->context, text, "]");
    } else if (strcmp(value, "{}") == 0 || strcmp(value, "true") == 0 ||
               strcmp(value, "false") == 0) {
        yk_text_add(w->context, text, "%s", value);
    } else if (yk_number_read(value, &number)) {
        yk_text_add(w->context, text, "%.17g", number);
    } else {
        yk_text_add_json(w->context, text, value);
    }
}

static void add_bounds(schema_writer *w, yk_text *text, const yk_option *field)
{
    unsigned bounds = field->range.bounds;
    if (bounds & YK_BOUND_MINIMUM)
        yk_text_add(w->context, text, ",\"%s\":%.17g",
                    bounds & YK_BOUND_MINIMUM_OPEN ? "exclusiveMinimum" : "minimum",
                    field->range.minimum);
    if (bounds & YK_BOUND_MAXIMUM)
        yk_text_add(w->context, text, ",\"%s\":%.17g",
                    bounds & YK_BOUND_MAXIMUM_OPEN ? "exclusiveMaximum" : "maximum",
                    field->range.maximum);
}

static void add_counts(schema_writer *w, yk_text *text, const yk_option *field)
{
    if (field->min_count)
        yk_text_add(w->context, text, ",\"minItems\":%d", field->min_count);
    if (field->max_count)
        yk_text_add(w->context, text, ",\"maxItems\":%d", field->max_count);
}

/* Sections ------------------------------------------------------------------------------------- */

static void add_properties(schema_writer *w, yk_text *text, const yk_option_section *section,
                           const char *path)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE) {
            add_properties(w, text, field->section, path);
            continue;
        }

        char below[PATH_CAPACITY];
        yk_format(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", field->key);
        add_key(w, text, field->key);
        add_field(w, text, field, below, NO_ITEM);
    }
}

static void add_required(schema_writer *w, yk_text *text, const yk_option_section *section)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE)
            add_required(w, text, field->section);
        else if (field->required)
            add_string(w, text, ",", field->key);
    }
}

static bool has_required(const yk_option_section *section)
{
    for (const yk_option *field = section->options; field->key; field++) {
        bool included = field->kind == YK_OPTION_INCLUDE && has_required(field->section);
        if (field->required || included)
            return true;
    }
    return false;
}

/* The keys of one or two sections, of which `common` may be NULL. In a section of a variant, the value of the key
 * `selector` is `word`. */
static void add_object(schema_writer *w, yk_text *text, const yk_option_section *common,
                       const yk_option_section *own, const char *selector, const char *word,
                       bool selector_required, const char *path, item_kind item)
{
    yk_text_add(w->context, text, "\"type\":\"object\",\"properties\":{");
    if (item == NAMED_ITEM) {
        add_key(w, text, "name");
        yk_text_add(w->context, text, "{\"type\":\"string\"}");
    }
    if (item != NO_ITEM) {
        add_key(w, text, "repeat");
        yk_text_add(w->context, text, "{\"$ref\":\"#/definitions/repeat\"}");
    }
    if (selector) {
        add_key(w, text, selector);
        add_string(w, text, "{\"const\":", word);
        yk_text_add(w->context, text, "}");
    }
    if (common)
        add_properties(w, text, common, path);
    add_properties(w, text, own, path);

    yk_text required = {0};
    if (selector && selector_required)
        add_string(w, &required, ",", selector);
    if (common)
        add_required(w, &required, common);
    add_required(w, &required, own);
    yk_text_add(w->context, text, "},\"additionalProperties\":false");
    if (required.data)
        yk_text_add(w->context, text, ",\"required\":[%s]", required.data + 1);
    text->failed = text->failed || required.failed;
    yk_text_destroy(w->context, &required);
}

/* A section by its selector, or the word alone if nothing else is required. */
static void add_variants(schema_writer *w, yk_text *text, const yk_option *field, const char *path,
                         item_kind item)
{
    yk_text_add(w->context, text, "\"anyOf\":[{\"enum\":[");
    bool common_required = field->section && has_required(field->section);
    for (int i = 0; field->variants[i]; i++)
        if (!common_required && !has_required(field->variants[i])) {
            separate(w, text);
            yk_text_add_json(w->context, text, field->variants[i]->name);
        }
    yk_text_add(w->context, text, "]}");

    for (int i = 0; field->variants[i]; i++) {
        const yk_option_section *own = field->variants[i];
        bool is_default = field->default_variant && strcmp(field->default_variant, own->name) == 0;
        char below[PATH_CAPACITY];
        yk_format(below, sizeof below, "%s:%s", path, own->name);
        yk_text_add(w->context, text, ",{");
        add_object(w, text, field->section, own, field->selector, own->name, !is_default, below,
                   item);
        if (own->description)
            add_string(w, text, ",\"description\":", own->description);
        yk_text_add(w->context, text, "}");
    }
    yk_text_add(w->context, text, "]");
}

static void add_named(schema_writer *w, yk_text *text, const yk_option *field, const char *path)
{
    char below[PATH_CAPACITY];
    yk_format(below, sizeof below, "%s.NAME", path);
    yk_text definition = {0};
    add_field(w, &definition, field->item, below, NAMED_ITEM);
    if (definition.data) {
        add_string(w, &w->definitions, ",", below);
        yk_text_add(w->context, &w->definitions, ":%s", definition.data);
    }
    w->definitions.failed = w->definitions.failed || definition.failed;
    yk_text_destroy(w->context, &definition);

    char reference[PATH_CAPACITY + 16];
    yk_format(reference, sizeof reference, "#/definitions/%s", below);
    add_string(w, text,
               "\"type\":[\"object\",\"array\"],\"additionalProperties\":{\"$ref\":", reference);
    add_string(w, text, "},\"items\":{\"$ref\":", reference);
    yk_text_add(w->context, text, "}");
}

/* An instance may also change items of its component, so that it may have other keys. */
static void add_components(schema_writer *w, yk_text *text)
{
    static const char instance[] =
        "{\"type\":\"object\",\"properties\":{\"use\":{\"type\":\"string\"},"
        "\"with\":{\"type\":\"object\"}},\"required\":[\"use\"]}";
    yk_text_add(w->context, text,
                "\"type\":[\"object\",\"array\"],\"additionalProperties\":%s,\"items\":%s",
                instance, instance);
}

/* Fields --------------------------------------------------------------------------------------- */

static void add_type(schema_writer *w, yk_text *text, const yk_option *field, const char *path,
                     item_kind item)
{
    yk_context *context = w->context;
    char below[PATH_CAPACITY];
    switch (field->kind) {
    case YK_OPTION_NUMBER:
    case YK_OPTION_FUNCTION:
    case YK_OPTION_INTEGER:
        /* A text is an expression. */
        yk_text_add(context, text, "\"type\":[\"%s\",\"string\"]",
                    field->kind == YK_OPTION_INTEGER ? "integer" : "number");
        add_bounds(w, text, field);
        break;
    case YK_OPTION_BOOLEAN: yk_text_add(context, text, "\"type\":\"boolean\""); break;
    case YK_OPTION_TEXT:
    case YK_OPTION_NAME:
    case YK_OPTION_PATH:
        yk_text_add(context, text, "\"type\":[\"string\",\"number\",\"boolean\"]");
        break;
    case YK_OPTION_CHOICE:
        yk_text_add(context, text, "\"enum\":[");
        add_words(w, text, field->choices);
        yk_text_add(context, text, "]");
        break;
    case YK_OPTION_NUMBERS:
    case YK_OPTION_FUNCTIONS:
        yk_text_add(context, text,
                    "\"type\":\"array\",\"items\":{\"type\":[\"number\",\"string\"]");
        add_bounds(w, text, field);
        yk_text_add(context, text, "}");
        add_counts(w, text, field);
        break;
    case YK_OPTION_ORIENTATION:
        yk_text_add(context, text, "\"$ref\":\"#/definitions/orientation\"");
        break;
    case YK_OPTION_INERTIA:
        yk_text_add(context, text,
                    "\"type\":\"array\",\"minItems\":3,\"maxItems\":3,"
                    "\"items\":{\"type\":[\"number\",\"string\",\"array\"]}");
        break;
    case YK_OPTION_SECTION:
        add_object(w, text, NULL, field->section, NULL, NULL, false, path, item);
        break;
    case YK_OPTION_FORM:
        yk_text_add(context, text, "\"anyOf\":[{\"enum\":[");
        add_words(w, text, field->choices);
        yk_text_add(context, text, "]},{");
        add_object(w, text, NULL, field->section, NULL, NULL, false, path, item);
        yk_text_add(context, text, "}]");
        break;
    case YK_OPTION_VARIANT: add_variants(w, text, field, path, item); break;
    case YK_OPTION_LIST:
        yk_format(below, sizeof below, "%s[]", path);
        yk_text_add(context, text, "\"type\":\"array\",\"items\":");
        add_field(w, text, field->item, below, LIST_ITEM);
        add_counts(w, text, field);
        break;
    case YK_OPTION_SUBSYSTEMS:
        yk_text_add(context, text, "\"type\":\"array\",\"items\":{\"type\":\"string\"}");
        break;
    case YK_OPTION_TABLES:
    case YK_OPTION_NAMED: add_named(w, text, field, path); break;
    case YK_OPTION_PARAMETERS:
        yk_text_add(
            context, text,
            "\"type\":\"object\",\"additionalProperties\":{\"type\":[\"number\",\"string\"]}");
        break;
    case YK_OPTION_EXPRESSION:
        yk_text_add(context, text, "\"type\":[\"string\",\"number\"]");
        break;
    case YK_OPTION_COMPONENTS: add_components(w, text); break;
    case YK_OPTION_TREE:
        yk_text_add(context, text, "\"type\":[\"object\",\"array\",\"string\"],\"items\":{}");
        break;
    case YK_OPTION_INCLUDE: break;
    }
}

static void add_field(schema_writer *w, yk_text *text, const yk_option *field, const char *path,
                      item_kind item)
{
    yk_text_add(w->context, text, "{");
    add_type(w, text, field, path, item);
    if (field->description && field->description[0])
        add_string(w, text, ",\"description\":", field->description);
    if (field->unit)
        add_string(w, text, ",\"x-unit\":", field->unit);
    if (field->default_text) {
        yk_text_add(w->context, text, ",\"default\":");
        add_default(w, text, field->default_text);
    }
    yk_text_add(w->context, text, "}");
}

char *yk_scenario_json_schema(yk_context *context, const yk_scenario *scenario)
{
    yk_store store = {.context = context};
    yk_extensions extensions = {0};
    if (scenario)
        extensions = scenario->extensions;

    const yk_option_section *section = yk_scenario_section(&store, &extensions, NULL, NULL);
    if (!section) {
        yk_store_destroy(&store);
        return NULL;
    }

    schema_writer w = {.context = context};
    yk_text text = {0};
    yk_text_add(
        context, &text,
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"Yoke scenario\",");
    add_object(&w, &text, NULL, section, NULL, NULL, false, "", NO_ITEM);

    yk_text_add(context, &text,
                ",\"definitions\":{\"repeat\":{\"anyOf\":[{\"type\":[\"integer\",\"string\"]},{");
    add_object(&w, &text, NULL, &yk_repeat_section, NULL, NULL, false, "repeat", NO_ITEM);
    yk_text_add(
        context, &text,
        "}]},\"orientation\":{\"anyOf\":[{\"type\":\"array\",\"minItems\":4,\"maxItems\":4},{");
    add_object(&w, &text, NULL, &yk_orientation_section, NULL, NULL, false, "orientation", NO_ITEM);
    yk_text_add(context, &text, "}]}%s}}\n", w.definitions.data ? w.definitions.data : "");

    if (w.definitions.failed || text.failed)
        yk_text_destroy(context, &text);
    yk_text_destroy(context, &w.definitions);
    yk_store_destroy(&store);
    return text.data;
}
