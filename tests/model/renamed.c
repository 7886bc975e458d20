/* Keys and values that were renamed: each old name is rejected with a message that gives the
 * present name, wherever the present name is valid. */
#include "test.h"

#include <string.h>

#include "model/scenario.h"

enum { SECTIONS_MAX = 400, FIELDS_MAX = 2000 };

/* All sections and fields of the file format, each once. */
typedef struct catalog {
    const yk_option_section *sections[SECTIONS_MAX];
    int section_count;
    const yk_option *choices[FIELDS_MAX];  /* with words */
    const yk_option *variants[FIELDS_MAX]; /* with a selector */
    int choice_count, variant_count;
} catalog;

static void collect_section(catalog *c, const yk_option_section *section);

static void collect_field(catalog *c, const yk_option *field)
{
    if (!field)
        return;
    if (field->choices)
        c->choices[c->choice_count++] = field;
    if (field->section)
        collect_section(c, field->section);
    if (field->variants)
        c->variants[c->variant_count++] = field;
    for (int i = 0; field->variants && field->variants[i]; i++)
        collect_section(c, field->variants[i]);
    collect_field(c, field->item);
    assert_true(c->choice_count < FIELDS_MAX && c->variant_count < FIELDS_MAX);
}

static void collect_section(catalog *c, const yk_option_section *section)
{
    for (int i = 0; i < c->section_count; i++)
        if (c->sections[i] == section)
            return;

    assert_true(c->section_count < SECTIONS_MAX);
    c->sections[c->section_count++] = section;
    for (const yk_option *field = section->options; field->key; field++)
        collect_field(c, field);
}

static bool has_word(const yk_option *field, const char *word)
{
    for (const yk_option_choice *w = field->choices; w && w->name; w++)
        if (strcmp(w->name, word) == 0)
            return true;
    for (int i = 0; field->variants && field->variants[i]; i++)
        if (strcmp(field->variants[i]->name, word) == 0)
            return true;
    return false;
}

/* Whether resolving the text against the field reports the message. */
static bool reports(yk_context *context, const yk_option *field, const char *text,
                    const char *message)
{
    yk_store store = {.context = context};
    yk_diagnostics *diagnostics;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    yk_source source = {"file.yaml", text, strlen(text), true};
    yk_node *root;
    assert_int_equal(yk_yaml_read(&store, &source, diagnostics, &root), YK_OK);
    yk_resolver resolver = {.store = &store, .diagnostics = diagnostics};
    yk_resolve(&resolver, root, field);

    bool found = false;
    for (int i = 0; i < yk_diagnostics_count(diagnostics); i++)
        found = found || strcmp(yk_diagnostics_at(diagnostics, i)->message, message) == 0;
    yk_diagnostics_destroy(diagnostics);
    yk_store_destroy(&store);
    return found;
}

/* The section has the key that a renamed one moved to, and no longer the old one. */
static bool has_moved_in(const yk_option_section *section, const char *old, const char *current)
{
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(current, "."), current);
    const yk_option *field = yk_option_find(section->options, first);
    const char *rest = strchr(current, '.');
    if (field && rest)
        return !yk_option_find(section->options, old) && field->section &&
               yk_option_find(field->section->options, rest + 1);
    return field && !yk_option_find(section->options, old);
}

static void renamed_keys_are_refused(void **state)
{
    const catalog *c = *state;
    yk_context *context = yk_context_create(NULL);
    const char *old, *current;
    for (int i = 0; yk_retired_word(YK_WORD_KEY, i, &old, &current); i++) {
        char text[100], message[200];
        snprintf(text, sizeof text, "{%s: 1}", old);
        snprintf(message, sizeof message, "unknown key '%s'. It was renamed to '%s'.", old,
                 current);
        bool refused = false;
        for (int k = 0; k < c->section_count && !refused; k++) {
            const yk_option field = {.kind = YK_OPTION_SECTION, .section = c->sections[k]};
            refused = has_moved_in(c->sections[k], old, current) &&
                      reports(context, &field, text, message);
        }
        for (int k = 0; k < c->variant_count && !refused; k++)
            refused = strcmp(c->variants[k]->selector, current) == 0 &&
                      reports(context, c->variants[k], text, message);
        if (!refused)
            fail_msg("nothing says: %s", message);
    }
    yk_context_destroy(context);
}

static void renamed_values_are_refused(void **state)
{
    const catalog *c = *state;
    yk_context *context = yk_context_create(NULL);
    const char *old, *current;
    for (int i = 0; yk_retired_word(YK_WORD_VALUE, i, &old, &current); i++) {
        char message[200];
        snprintf(message, sizeof message, "unknown value '%s'. It was renamed to '%s'.", old,
                 current);
        bool refused = false;
        for (int k = 0; k < c->choice_count && !refused; k++)
            refused = has_word(c->choices[k], current) && !has_word(c->choices[k], old) &&
                      reports(context, c->choices[k], old, message);
        for (int k = 0; k < c->variant_count && !refused; k++)
            refused = has_word(c->variants[k], current) && !has_word(c->variants[k], old) &&
                      reports(context, c->variants[k], old, message);
        if (!refused)
            fail_msg("nothing says: %s", message);
    }
    yk_context_destroy(context);
}

static void other_names_of_a_word_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *meant;
    } rows[] = {{"weld", "fixed"},
                {"hinge", "revolute"},
                {"dt", "step"},
                {"atol", "absolute_tolerance"},
                {"IQN-ILS", "quasi-newton"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const valid[] = {"other", rows[i].meant, NULL};
        assert_string_equal(yk_word_meant(rows[i].typed, valid), rows[i].meant);
    }
}

int main(void)
{
    yk_context *context = yk_context_create(NULL);
    yk_store store = {.context = context};
    const yk_extensions none = {0};
    static catalog all;
    collect_section(&all, yk_scenario_section(&store, &none, yk_scheme_at(0), NULL));
    collect_section(&all, &yk_orientation_section);
    for (int i = 1; yk_scheme_at(i); i++)
        collect_section(&all, yk_coupling_section(&store, &none, yk_scheme_at(i), NULL));
    void *state = &all;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(renamed_keys_are_refused, state),
        cmocka_unit_test_prestate(renamed_values_are_refused, state),
        cmocka_unit_test(other_names_of_a_word_are_understood),
    };
    int failures = cmocka_run_group_tests_name("renamed", tests, NULL, NULL);
    yk_store_destroy(&store);
    yk_context_destroy(context);
    return failures;
}
