/* Functions that all kinds of subsystems use when they are built from a scenario: functions of
 * time, references by name, and messages with the position in the file. */
#include "test.h"

#include <string.h>

#include "model/scenario.h"

static const yk_option fields[] = {
    {"parameters", YK_OPTION_PARAMETERS, .description = ""},
    {"constant", YK_OPTION_FUNCTION, .description = ""},
    {"zero", YK_OPTION_FUNCTION, .description = ""},
    {"varying", YK_OPTION_FUNCTION, .description = ""},
    {"path", YK_OPTION_PATH, .description = ""},
    {"root", YK_OPTION_PATH, .description = ""},
    {"body", YK_OPTION_TEXT, .description = ""},
    {"other", YK_OPTION_TEXT, .description = ""},
    {0},
};
static const yk_option_section section = {"test", NULL, fields};

static const char text[] = "parameters: {a: 2}\n"
                           "constant: 3*a\n"
                           "zero: 0\n"
                           "varying: a*t\n"
                           "path: data/mesh.obj\n"
                           "root: /data/mesh.obj\n"
                           "body: rod\n"
                           "other: crnak\n";
static const char collection_text[] = "- {name: rod}\n- {name: crank}\n- {name: block}\n";

typedef struct building {
    yk_context *context;
    yk_diagnostics *diagnostics;
    yk_store store;
    yk_source source, collection_source;
    yk_resolver resolver;
    yk_builder builder;
    yk_node *root, *collection;
} building;

static void begin(building *b)
{
    *b = (building){.context = yk_context_create(NULL)};
    b->store.context = b->context;
    assert_int_equal(yk_diagnostics_create(b->context, &b->diagnostics), YK_OK);
    b->source = (yk_source){"file.yaml", text, strlen(text), true};
    b->collection_source = (yk_source){"file.yaml", collection_text, strlen(collection_text), true};
    assert_int_equal(yk_yaml_read(&b->store, &b->source, b->diagnostics, &b->root), YK_OK);
    assert_int_equal(yk_yaml_read(&b->store, &b->collection_source, b->diagnostics, &b->collection),
                     YK_OK);
    b->resolver = (yk_resolver){.store = &b->store, .diagnostics = b->diagnostics};
    yk_resolve_section(&b->resolver, b->root, &section);
    assert_true(b->root->valid);
    b->builder = (yk_builder){
        .store = &b->store, .diagnostics = b->diagnostics, .scope = &b->resolver.scope};
    b->builder.folder = "models/arm/";
}

static void end(building *b)
{
    for (yk_scenario_function *f = b->builder.functions; f; f = f->next)
        yk_expression_destroy(f->expression);
    yk_store_destroy(&b->store);
    yk_diagnostics_destroy(b->diagnostics);
    yk_context_destroy(b->context);
}

static void functions_of_time(void **state)
{
    (void)state;
    building b;
    begin(&b);
    yk_time_function f;
    assert_int_equal(yk_builder_function(&b.builder, b.root, "constant", &f), YK_OK);
    assert_near(yk_function_value(f, 5), 6, 0);
    assert_int_equal(yk_builder_function(&b.builder, b.root, "varying", &f), YK_OK);
    assert_near(yk_function_value(f, 5), 10, 0);
    assert_int_equal(yk_builder_function(&b.builder, b.root, "zero", &f), YK_OK);
    assert_null(f.evaluate);
    assert_int_equal(yk_builder_function(&b.builder, b.root, "absent", &f), YK_OK);
    assert_null(f.evaluate);
    end(&b);
}

static void references_by_name(void **state)
{
    (void)state;
    building b;
    begin(&b);
    const yk_names *names = yk_builder_names(&b.builder, b.collection);
    assert_int_equal(yk_builder_find(&b.builder, names, yk_node_get(b.root, "body"), "body", NULL),
                     0);
    assert_int_equal(yk_diagnostics_count(b.diagnostics), 0);
    assert_int_equal(yk_builder_find(&b.builder, names, yk_node_get(b.root, "other"), "body", NULL),
                     -1);
    const yk_diagnostic *first = yk_diagnostics_at(b.diagnostics, 0);
    assert_string_equal(first->message, "body 'crnak' not found. Did you mean 'crank'?");
    assert_string_equal(first->path, "other");
    assert_int_equal(first->line, 8);
    const yk_names *none = yk_builder_names(&b.builder, NULL);
    assert_int_equal(yk_builder_find(&b.builder, none, yk_node_get(b.root, "body"), "body", NULL),
                     -1);
    assert_string_equal(yk_diagnostics_at(b.diagnostics, 1)->message,
                        "body 'rod' not found. There are none.");
    end(&b);
}

static void files_are_found_from_the_scenario(void **state)
{
    (void)state;
    building b;
    begin(&b);
    assert_string_equal(yk_builder_path(&b.builder, b.root, "path"), "models/arm/data/mesh.obj");
    assert_string_equal(yk_builder_path(&b.builder, b.root, "root"), "/data/mesh.obj");
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_time),
        cmocka_unit_test(references_by_name),
        cmocka_unit_test(files_are_found_from_the_scenario),
    };
    return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
