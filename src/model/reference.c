/* The reference of all scenario keys, written from the tables of the schema.
 *
 * The tables form a tree in which sections repeat: both mechanical solvers have the same joints,
 * and most forces have the same markers. The reference documents each table once, on the page of
 * its topic, and links to it from every other place. The tree is walked twice: the first walk
 * finds the page and heading of each table, the second writes the pages. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/reference.h"
#include "model/scenario.h"

enum { PATH_MAX_LENGTH = 200, PAGES_MAX = 32 };

/* A table that has been documented. */
typedef struct yk_reference_place {
    const void *table; /* fields, variants or words */
    int page;
    char anchor[PATH_MAX_LENGTH];
    int uses; /* includes of the table in other tables */
} yk_reference_place;

/* A key for the index. */
typedef struct yk_reference_entry {
    const char *key;
    int page;
    char section[PATH_MAX_LENGTH];
    char anchor[PATH_MAX_LENGTH];
} yk_reference_entry;

typedef struct yk_reference {
    yk_context *context;
    const yk_extensions *extensions;
    yk_text pages[PAGES_MAX];
    yk_reference_place *places;
    int place_count, place_capacity;
    yk_reference_entry *entries;
    int entry_count, entry_capacity;
    const void **visited; /* tables that this walk has written */
    int visited_count, visited_capacity;
    bool failed;
    bool writing; /* second walk */
    /* The present position of the walk. */
    int page;
    char anchor[PATH_MAX_LENGTH];
    char section[PATH_MAX_LENGTH];
} yk_reference;

/* Memory --------------------------------------------------------------------------------------- */

/* Makes room for one more item; false when out of memory. */
static bool reserve(yk_reference *r, void *array, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return true;

    int larger = *capacity ? 2 * *capacity : 64;
    void **items = array;
    void *grown = yk_reallocate(r->context, *items, (size_t)larger, size);
    if (!grown) {
        r->failed = true;
        return false;
    }
    *items = grown;
    *capacity = larger;
    return true;
}

static yk_reference_place *find_place(const yk_reference *r, const void *table)
{
    for (int i = 0; i < r->place_count; i++)
        if (r->places[i].table == table)
            return &r->places[i];
    return NULL;
}

static yk_reference_place *take_place(yk_reference *r, const void *table)
{
    yk_reference_place *place = find_place(r, table);
    if (place || !reserve(r, &r->places, r->place_count, &r->place_capacity, sizeof *place))
        return place;

    place = &r->places[r->place_count++];
    *place = (yk_reference_place){.table = table, .page = -1};
    return place;
}

/* Whether the walk meets the table for the first time; remembers it. */
static bool visit(yk_reference *r, const void *table)
{
    for (int i = 0; i < r->visited_count; i++)
        if (r->visited[i] == table)
            return false;
    if (!reserve(r, &r->visited, r->visited_count, &r->visited_capacity, sizeof *r->visited))
        return false;

    r->visited[r->visited_count++] = table;
    return true;
}

/* Text ----------------------------------------------------------------------------------------- */

static void add(yk_reference *r, const char *format, ...) YK_PRINTF(2, 3);

static void add(yk_reference *r, const char *format, ...)
{
    if (!r->writing)
        return;

    va_list arguments;
    va_start(arguments, format);
    yk_text_add_list(r->context, &r->pages[r->page], format, arguments);
    va_end(arguments);
}

/* The anchor that GitHub and pandoc give to a heading. */
static void make_anchor(const char *title, char *anchor, size_t capacity)
{
    size_t length = 0;
    for (const char *c = title; *c && length + 1 < capacity; c++) {
        unsigned char byte = (unsigned char)*c;
        if (isalnum(byte) || byte == '_' || byte == '-')
            anchor[length++] = (char)tolower(byte);
        else if (byte == ' ')
            anchor[length++] = '-';
    }
    anchor[length] = '\0';
}

static void add_heading(yk_reference *r, int level, const char *title)
{
    if (level > 6)
        level = 6;
    /* A page starts with its title. */
    bool first = r->pages[r->page].length == 0;
    const char *gap = first ? "" : "\n";
    add(r, "%s%.*s %s\n\n", gap, level, "######", title);
    make_anchor(title, r->anchor, sizeof r->anchor);
    snprintf(r->section, sizeof r->section, "%s", title);
}

/* Notes that the table is documented under the present heading. */
static void place_table(yk_reference *r, const void *table)
{
    yk_reference_place *place = take_place(r, table);
    if (!place || place->page >= 0)
        return;

    place->page = r->page;
    snprintf(place->anchor, sizeof place->anchor, "%s", r->anchor);
}

/* The start of a link to a page from the present one: "joints.md". */
static void add_page_link(yk_reference *r, int page)
{
    if (page == r->page)
        return;
    if (page == 0)
        add(r, "../scenario.md");
    else
        add(r, "%s%s.md", r->page == 0 ? "scenario/" : "", yk_reference_topics[page].name);
}

/* Where a table is documented: "(joints.md#jointsname)". */
static void add_target(yk_reference *r, const void *table)
{
    const yk_reference_place *place = find_place(r, table);
    if (!place || place->page < 0)
        return;

    add(r, "(");
    add_page_link(r, place->page);
    add(r, "#%s)", place->anchor);
}

/* Tables --------------------------------------------------------------------------------------- */

/* "`cone`, `coulomb`" */
static void add_choices(yk_reference *r, const yk_option_choice *words)
{
    for (const yk_option_choice *word = words; word->name; word++)
        add(r, "%s`%s`", word == words ? "" : ", ", word->name);
}

static void add_count(yk_reference *r, const yk_option *field)
{
    add(r, "list of ");
    if (field->max_count && field->min_count == field->max_count)
        add(r, "%d ", field->min_count);
}

/* The table that describes a value, for a link; NULL: none. */
static const void *table_of(const yk_option *field)
{
    switch (field->kind) {
    case YK_OPTION_SECTION:
    case YK_OPTION_FORM: return field->section->options;
    case YK_OPTION_VARIANT: return field->variants;
    case YK_OPTION_LIST:
    case YK_OPTION_TABLES:
    case YK_OPTION_COMPONENTS:
    case YK_OPTION_NAMED: return table_of(field->item);
    case YK_OPTION_ORIENTATION: return yk_orientation_section.options;
    default: return NULL;
    }
}

static void add_linked(yk_reference *r, const yk_option *field, const char *text)
{
    const void *table = table_of(field);
    const yk_reference_place *place = table ? find_place(r, table) : NULL;
    bool linked = place && place->page >= 0;
    add(r, linked ? "[%s]" : "%s", text);
    if (linked)
        add_target(r, table);
}

/* What a value is, with its bounds: the second column of a table. */
static void add_type(yk_reference *r, const yk_option *field)
{
    static const char *const names[] = {
        [YK_OPTION_NUMBER] = "number",
        [YK_OPTION_INTEGER] = "whole number",
        [YK_OPTION_BOOLEAN] = "`true` or `false`",
        [YK_OPTION_TEXT] = "text",
        [YK_OPTION_NAME] = "name",
        [YK_OPTION_FUNCTION] = "function of time",
        [YK_OPTION_INERTIA] = "3 numbers or 3 rows",
        [YK_OPTION_PATH] = "file",
        [YK_OPTION_SUBSYSTEMS] = "list of subsystems",
        [YK_OPTION_PARAMETERS] = "names and numbers",
        [YK_OPTION_EXPRESSION] = "expression",
        [YK_OPTION_TREE] = "see below",
    };
    switch (field->kind) {
    case YK_OPTION_CHOICE: add_choices(r, field->choices); break;
    case YK_OPTION_FORM:
        add_choices(r, field->choices);
        add(r, ", or a ");
        add_linked(r, field, "section");
        break;
    case YK_OPTION_NUMBERS:
        add_count(r, field);
        add(r, "numbers");
        break;
    case YK_OPTION_FUNCTIONS:
        add_count(r, field);
        add(r, "functions of time");
        break;
    case YK_OPTION_LIST:
        add_count(r, field);
        add_linked(r, field, field->item->key);
        break;
    case YK_OPTION_TABLES:
    case YK_OPTION_COMPONENTS:
    case YK_OPTION_NAMED: add_linked(r, field, "named items"); break;
    case YK_OPTION_SECTION: add_linked(r, field, "section"); break;
    case YK_OPTION_ORIENTATION: add_linked(r, field, "orientation"); break;
    case YK_OPTION_VARIANT:
        add_linked(r, field, "section");
        add(r, " by `%s`", field->selector);
        break;
    default: add(r, "%s", names[field->kind]); break;
    }

    if (field->range.bounds & YK_BOUND_MINIMUM) {
        const char *sign = field->range.bounds & YK_BOUND_MINIMUM_OPEN ? ">" : "≥";
        add(r, ", %s %g", sign, field->range.minimum);
    }
    if (field->range.bounds & YK_BOUND_MAXIMUM) {
        const char *sign = field->range.bounds & YK_BOUND_MAXIMUM_OPEN ? "<" : "≤";
        add(r, ", %s %g", sign, field->range.maximum);
    }
    if (field->accepts_auto)
        add(r, ", or `auto`");
}

static void add_index_entry(yk_reference *r, const char *key)
{
    if (!r->writing ||
        !reserve(r, &r->entries, r->entry_count, &r->entry_capacity, sizeof *r->entries))
        return;

    yk_reference_entry *entry = &r->entries[r->entry_count++];
    entry->key = key;
    entry->page = r->page;
    snprintf(entry->section, sizeof entry->section, "%s", r->section);
    snprintf(entry->anchor, sizeof entry->anchor, "%s", r->anchor);
}

static void add_row(yk_reference *r, const yk_option *field)
{
    add_index_entry(r, field->key);
    add(r, "| `%s` | ", field->key);
    add_type(r, field);
    add(r, " | %s | ", field->unit ? field->unit : "");
    if (field->required)
        add(r, "required");
    else if (field->default_text)
        add(r, "`%s`", field->default_text);
    add(r, " | %s", field->description);
    const yk_option_condition *condition = &field->only_with;
    if (condition->key && !condition->words[0])
        add(r, ". Only with `%s`", condition->key);
    for (int i = 0; condition->key && i < YK_CONDITION_WORDS_MAX && condition->words[i]; i++) {
        if (i == 0)
            add(r, ". Only with `%s: %s`", condition->key, condition->words[i]);
        else
            add(r, " or `%s`", condition->words[i]);
    }
    add(r, " |\n");
}

/* Whether several tables include the section, so that it has a heading of its own. A single key is
 * repeated instead. */
static bool is_shared(const yk_reference *r, const yk_option_section *section)
{
    const yk_reference_place *place = find_place(r, section->options);
    bool single = section->options[0].key && !section->options[1].key;
    return place && place->uses > 1 && !single;
}

/* Rows of the keys that the table has of its own, and of those that it alone includes. */
static bool add_rows(yk_reference *r, const yk_option_section *section, bool titled)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE && is_shared(r, field->section))
            continue;
        if (field->kind == YK_OPTION_INCLUDE) {
            titled = add_rows(r, field->section, titled);
            continue;
        }
        if (!titled)
            add(r, "| key | value | unit | default | meaning |\n|---|---|---|---|---|\n");
        titled = true;
        add_row(r, field);
    }
    return titled;
}

/* "`a`, `b`": all keys of a section. */
static void add_key_names(yk_reference *r, const yk_option_section *section, bool first)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE)
            add_key_names(r, field->section, first);
        else
            add(r, "%s`%s`", first ? "" : ", ", field->key);
        first = false;
    }
}

/* "Also: [`a`, `b`](#shared-keys-a-b)." for each shared table that the section includes. */
static void add_shared(yk_reference *r, const yk_option_section *section, bool *any)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind != YK_OPTION_INCLUDE)
            continue;
        if (!is_shared(r, field->section)) {
            add_shared(r, field->section, any);
            continue;
        }
        add(r, "%s[", *any ? "; " : "\nAnd the shared keys ");
        add_key_names(r, field->section, true);
        add(r, "]");
        add_target(r, field->section->options);
        *any = true;
    }
}

/* The meaning of words, where they have one, at their first place. */
static void add_meanings(yk_reference *r, const yk_option_section *section)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE && !is_shared(r, field->section))
            add_meanings(r, field->section);
        if (field->kind == YK_OPTION_INCLUDE || !field->choices || !field->choices[0].description)
            continue;

        if (!visit(r, field->choices)) {
            add(r, "\n`%s`: see [its words]", field->key);
            add_target(r, field->choices);
            add(r, ".\n");
            continue;
        }
        place_table(r, field->choices);
        add(r, "\n`%s`:\n\n", field->key);
        for (const yk_option_choice *word = field->choices; word->name; word++)
            add(r, "- `%s`: %s\n", word->name, word->description);
    }
}

/* Sections ------------------------------------------------------------------------------------- */

static void describe_below(yk_reference *r, const yk_option *field, const char *path, int level);

/* The shared tables that the section includes, under headings of their own. */
static void describe_shared(yk_reference *r, const yk_option_section *section, const char *path,
                            int level);

static void describe_fields(yk_reference *r, const yk_option_section *section, const char *path,
                            int level)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE) {
            if (!is_shared(r, field->section))
                describe_fields(r, field->section, path, level);
            continue;
        }
        char below[PATH_MAX_LENGTH];
        snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", field->key);
        describe_below(r, field, below, level);
    }
}

/* The keys of a section, and the sections below it. `path` is empty at the top. */
static void describe_keys(yk_reference *r, const yk_option_section *section, const char *path,
                          int level)
{
    add_rows(r, section, false);
    bool any = false;
    add_shared(r, section, &any);
    if (any)
        add(r, ".\n");
    add_meanings(r, section);
    describe_shared(r, section, path, level);
    describe_fields(r, section, path, level);
}

static void describe_shared(yk_reference *r, const yk_option_section *section, const char *path,
                            int level)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind != YK_OPTION_INCLUDE)
            continue;
        if (!is_shared(r, field->section)) {
            describe_shared(r, field->section, path, level);
            continue;
        }
        if (!visit(r, field->section->options))
            continue;

        /* Named by its first keys. */
        char title[PATH_MAX_LENGTH] = "Shared keys";
        int named = 0;
        for (const yk_option *key = field->section->options; key->key && named < 3; key++) {
            if (key->kind == YK_OPTION_INCLUDE)
                continue;
            size_t length = strlen(title);
            snprintf(title + length, sizeof title - length, "%s `%s`", named++ ? "," : "",
                     key->key);
        }
        add_heading(r, level, title);
        place_table(r, field->section->options);
        describe_keys(r, field->section, path, level);
    }
}

static bool has_keys(const yk_option_section *section)
{
    return section->options[0].key != NULL;
}

/* A solver has a page of its own, or stands on the last page if it comes from outside. */
static bool is_solver(const yk_option *field)
{
    return strcmp(field->selector, "solver") == 0;
}

static void describe_variant(yk_reference *r, const yk_option *field,
                             const yk_option_section *variant, const char *path, int level)
{
    if (!visit(r, variant->options))
        return;

    int page = r->page;
    char title[PATH_MAX_LENGTH];
    bool solver = is_solver(field);
    if (solver) {
        r->page = yk_reference_topic(variant->name);
        snprintf(title, sizeof title, "`%s: %s`", field->selector, variant->name);
        level = 2;
        path = "";
    } else {
        snprintf(title, sizeof title, "%s, `%s: %s`", path, field->selector, variant->name);
    }
    add_heading(r, level, title);
    place_table(r, variant->options);
    if (variant->description && variant->description[0])
        add(r, "%s\n\n", variant->description);
    describe_keys(r, variant, path, solver ? 3 : level + 1);
    r->page = page;
}

/* Length of the first sentence. */
static int first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    return (int)(end ? (size_t)(end - text) + 1 : strlen(text));
}

/* All kinds in one table; those with keys of their own follow. */
static void describe_variants(yk_reference *r, const yk_option *field, const char *path, int level)
{
    add_heading(r, level, path);
    place_table(r, field->variants);
    add(r, "%s. The key `%s` selects the kind", field->description, field->selector);
    if (field->default_variant)
        add(r, " (default: `%s`)", field->default_variant);
    add(r, "; a kind that needs no other keys can be given as the word alone.\n\n");

    add(r, "| `%s` | meaning |\n|---|---|\n", field->selector);
    for (const yk_option_section *const *variant = field->variants; *variant; variant++) {
        bool linked = has_keys(*variant);
        add(r, linked ? "| [`%s`]" : "| `%s`", (*variant)->name);
        if (linked)
            add_target(r, (*variant)->options);
        const char *text = (*variant)->description ? (*variant)->description : "";
        add(r, " | %.*s |\n", first_sentence(text), text);
    }

    if (field->section && visit(r, field->section->options)) {
        place_table(r, field->section->options);
        add(r, "\n%s\n\n", is_solver(field) ? "Keys of every subsystem:" : "Keys of all kinds:");
        describe_keys(r, field->section, path, level + 1);
    }
    for (const yk_option_section *const *variant = field->variants; *variant; variant++)
        if (has_keys(*variant) || is_solver(field))
            describe_variant(r, field, *variant, path, level + 1);
}

/* What is below a key, on the page of its topic, unless it has been described. */
static void describe_below(yk_reference *r, const yk_option *field, const char *path, int level)
{
    char below[PATH_MAX_LENGTH];
    int page = r->page;
    int topic = yk_reference_topic_of_section(yk_reference_topics[page].name, path);
    if (topic >= 0 && topic != page) {
        r->page = topic;
        level = 2;
    }

    switch (field->kind) {
    case YK_OPTION_VARIANT:
        if (visit(r, field->variants))
            describe_variants(r, field, path, level);
        break;
    case YK_OPTION_SECTION:
    case YK_OPTION_FORM:
        if (!visit(r, field->section->options))
            break;
        add_heading(r, level, path);
        place_table(r, field->section->options);
        if (field->section->description && field->section->description[0])
            add(r, "%s\n\n", field->section->description);
        describe_keys(r, field->section, path, level + 1);
        break;
    case YK_OPTION_TABLES:
    case YK_OPTION_COMPONENTS:
    case YK_OPTION_NAMED:
        snprintf(below, sizeof below, "%s.NAME", path);
        describe_below(r, field->item, below, level);
        break;
    case YK_OPTION_LIST:
        snprintf(below, sizeof below, "%s[]", path);
        describe_below(r, field->item, below, level);
        break;
    default: break;
    }
    r->page = page;
}

/* Counts how many tables include each section. */
static void count_includes(yk_reference *r, const yk_option_section *section);

static void count_use(yk_reference *r, const yk_option_section *section)
{
    yk_reference_place *place = take_place(r, section->options);
    if (place)
        place->uses++;
    count_includes(r, section);
}

static void count_field(yk_reference *r, const yk_option *field)
{
    switch (field->kind) {
    case YK_OPTION_SECTION:
    case YK_OPTION_FORM: count_includes(r, field->section); break;
    case YK_OPTION_VARIANT:
        if (field->section)
            count_use(r, field->section);
        for (const yk_option_section *const *variant = field->variants; *variant; variant++)
            count_use(r, *variant);
        break;
    case YK_OPTION_LIST:
    case YK_OPTION_TABLES:
    case YK_OPTION_COMPONENTS:
    case YK_OPTION_NAMED: count_field(r, field->item); break;
    default: break;
    }
}

static void count_includes(yk_reference *r, const yk_option_section *section)
{
    if (!visit(r, section->options))
        return;

    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE) {
            count_use(r, field->section);
        } else {
            count_field(r, field);
        }
    }
}

/* Pages ---------------------------------------------------------------------------------------- */

/* The words of expressions, as rows. */
static void add_expression_words(yk_reference *r)
{
    add(r, "| | |\n|---|---|\n");
    for (const yk_option_choice *word = yk_expression_words(); word->name; word++) {
        add(r, "| `");
        for (const char *c = word->name; *c; c++) /* a bar would end the column */
            add(r, *c == '|' ? "\\%c" : "%c", *c);
        add(r, "` | %s |\n", word->description);
    }
}

/* Which scheme has which option. */
static void add_scheme_table(yk_reference *r)
{
    add_heading(r, 2, "Options by scheme");
    add(r, "All options stand under [coupling](#coupling). A scheme ignores the options of others, "
           "so that one changed word selects another scheme.\n\n"
           "| `scheme` | meaning | options |\n|---|---|---|\n");
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(r->extensions, i)); i++) {
        add(r, "| `%s` | %s | ", ops->name, ops->description);
        for (const yk_option *row = ops->options; row && row->key; row++)
            add(r, "%s`%s`", row == ops->options ? "" : ", ", row->key);
        add(r, " |\n");
    }
}

static void start_pages(yk_reference *r)
{
    for (r->page = 0; yk_reference_topics[r->page].name; r->page++) {
        const yk_reference_topic_row *topic = &yk_reference_topics[r->page];
        char title[PATH_MAX_LENGTH];
        snprintf(title, sizeof title, "%s", topic->title);
        add_heading(r, 1, title);
        add(r, "<!-- Written by `yoke schema` from the tables in src/model; do not edit. -->\n\n");
        add(r, "%s", topic->introduction);
        if (topic->example)
            add(r, "\n```yaml\n%s```\n", topic->example);
    }
    r->page = 0;
}

static void walk(yk_reference *r, const yk_option_section *section)
{
    r->visited_count = 0;
    start_pages(r);
    add(r, "\n## Pages\n\n| page | contents |\n|---|---|\n");
    for (int i = 1; yk_reference_topics[i].name; i++)
        add(r, "| [%s](scenario/%s.md) | %s |\n", yk_reference_topics[i].title,
            yk_reference_topics[i].name, yk_reference_topics[i].contents);
    add_heading(r, 2, "Keys of the file");
    describe_keys(r, section, "", 2);

    r->page = yk_reference_topic("values");
    add_heading(r, 2, "Expressions");
    add_expression_words(r);
    add_heading(r, 2, "repeat");
    place_table(r, yk_repeat_section.options);
    add(r, "%s\n\n", yk_repeat_section.description);
    describe_keys(r, &yk_repeat_section, "repeat", 3);
    add_heading(r, 2, "orientation");
    place_table(r, yk_orientation_section.options);
    add(r, "%s\n\n", yk_orientation_section.description);
    describe_keys(r, &yk_orientation_section, "orientation", 3);

    r->page = yk_reference_topic("coupling");
    add_scheme_table(r);
}

static int compare_entries(const void *first, const void *second)
{
    const yk_reference_entry *a = first, *b = second;
    int order = strcmp(a->key, b->key);
    if (order == 0)
        order = a->page - b->page;
    return order ? order : strcmp(a->anchor, b->anchor);
}

/* All keys in alphabetical order, each with the sections that have it. */
static void add_index(yk_reference *r)
{
    r->page = yk_reference_topic("keys");
    if (r->entry_count > 0)
        qsort(r->entries, (size_t)r->entry_count, sizeof *r->entries, compare_entries);
    add(r, "\n| key | sections |\n|---|---|\n");
    for (int i = 0; i < r->entry_count; i++) {
        const yk_reference_entry *entry = &r->entries[i];
        bool starts = i == 0 || strcmp(entry->key, entry[-1].key) != 0;
        bool ends = i + 1 == r->entry_count || strcmp(entry->key, entry[1].key) != 0;
        if (starts)
            add(r, "| `%s` | ", entry->key);
        add(r, "%s[%s](", starts ? "" : "; ", entry->section);
        add_page_link(r, entry->page);
        add(r, "#%s)%s", entry->anchor, ends ? " |\n" : "");
    }
}

/* Writes all pages; false when out of memory. */
static bool write_pages(yk_reference *r, const yk_scenario *scenario)
{
    yk_store store = {.context = r->context};
    yk_extensions none = {0};
    r->extensions = scenario ? &scenario->extensions : &none;
    const yk_option_section *section = yk_scenario_section(&store, r->extensions, NULL, NULL);
    if (!section) {
        yk_store_destroy(&store);
        return false;
    }

    count_includes(r, section);
    walk(r, section);
    r->writing = true;
    walk(r, section);
    add_index(r);
    yk_store_destroy(&store);

    for (int i = 0; i < PAGES_MAX; i++)
        r->failed = r->failed || r->pages[i].failed;
    return !r->failed;
}

static void destroy_reference(yk_reference *r)
{
    for (int i = 0; i < PAGES_MAX; i++)
        yk_text_destroy(r->context, &r->pages[i]);
    yk_free(r->context, r->places);
    yk_free(r->context, r->entries);
    yk_free(r->context, r->visited);
}

char *yk_scenario_reference_page(yk_context *context, const yk_scenario *scenario, int page,
                                 const char **name)
{
    int count = 0;
    while (yk_reference_topics[count].name)
        count++;
    *name = page >= 0 && page < count ? yk_reference_topics[page].name : NULL;
    if (!*name)
        return NULL;

    yk_reference r = {.context = context};
    char *text = NULL;
    if (write_pages(&r, scenario)) {
        text = r.pages[page].data;
        r.pages[page] = (yk_text){0};
    }
    destroy_reference(&r);
    return text;
}

char *yk_scenario_schema_markdown(yk_context *context, const yk_scenario *scenario)
{
    yk_reference r = {.context = context};
    yk_text text = {0};
    if (write_pages(&r, scenario))
        for (int i = 0; yk_reference_topics[i].name; i++)
            yk_text_add(context, &text, "%s%s", i ? "\n" : "", r.pages[i].data);

    destroy_reference(&r);
    if (text.failed)
        yk_text_destroy(context, &text);
    return text.data;
}
