/* Every type of the schema: the values it accepts, the result it stores, and its messages about
 * invalid values. */
#include "test.h"

#include <string.h>

#include "math/so3.h"
#include "model/schema.h"

static const yk_option_choice colours[] = {
    {"red", "warm"}, {"green", "calm"}, {"blue", "cold"}, {NULL, NULL}};
static const yk_option point_fields[] = {
    {"x", YK_OPTION_NUMBER, "m", .required = true, .description = "abscissa"},
    {"y", YK_OPTION_NUMBER, "m", "2", .description = "ordinate"},
    {0},
};
static const yk_option_section point = {"point", NULL, point_fields};
static const yk_option radius_fields[] = {{"radius", YK_OPTION_NUMBER, "m", .required = true,
                                           .range = YK_POSITIVE, .description = "radius"},
                                          {0}};
static const yk_option edge_fields[] = {{"edges", YK_OPTION_NUMBERS, "m", "[1, 2, 3]",
                                         .min_count = 3, .max_count = 3, .range = YK_POSITIVE,
                                         .description = "edges"},
                                        {0}};
static const yk_option_section sphere = {"sphere", NULL, radius_fields},
                               box = {"box", NULL, edge_fields};
static const yk_option_section *const shapes[] = {&sphere, &box, NULL};
static const yk_option common_fields[] = {
    {"density", YK_OPTION_NUMBER, "kg/m^3", "1000", .description = "density"}, {0}};
static const yk_option_section common = {"shape", NULL, common_fields};
static const yk_option shape_item = {"shape",
                                     YK_OPTION_VARIANT,
                                     .section = &common,
                                     .variants = shapes,
                                     .selector = "type",
                                     .default_variant = "box",
                                     .description = "a shape"};
static const yk_option colour_item = {"colours", YK_OPTION_CHOICE, .choices = colours,
                                      .description = ""};

static const yk_option fields[] = {
    {"parameters", YK_OPTION_PARAMETERS, .max_count = 100, .description = ""},
    {"number", YK_OPTION_NUMBER, "kg", .range = YK_POSITIVE, .description = ""},
    {"integer", YK_OPTION_INTEGER, .range = YK_BETWEEN(-5, 5), .description = ""},
    {"boolean", YK_OPTION_BOOLEAN, .description = ""},
    {"text", YK_OPTION_TEXT, .description = ""},
    {"name", YK_OPTION_NAME, .description = ""},
    {"choice", YK_OPTION_CHOICE, .choices = colours, .description = ""},
    {"function", YK_OPTION_FUNCTION, "N", .description = ""},
    {"vector", YK_OPTION_NUMBERS, "m", .min_count = 3, .max_count = 3, .description = ""},
    {"numbers", YK_OPTION_NUMBERS, .min_count = 1, .description = ""},
    {"functions", YK_OPTION_FUNCTIONS, "N", .min_count = 3, .max_count = 3, .description = ""},
    {"orientation", YK_OPTION_ORIENTATION, .description = ""},
    {"inertia", YK_OPTION_INERTIA, "kg m^2", .description = ""},
    {"path", YK_OPTION_PATH, .description = ""},
    {"section", YK_OPTION_SECTION, .section = &point, .description = ""},
    {"form", YK_OPTION_FORM, .choices = colours, .section = &point, .description = ""},
    {"variant", YK_OPTION_VARIANT, .section = &common, .variants = shapes, .selector = "type",
     .description = ""},
    {"list", YK_OPTION_LIST, .min_count = 1, .max_count = 2, .item = &colour_item,
     .description = ""},
    {"named", YK_OPTION_NAMED, .max_count = 3, .item = &shape_item, .description = ""},
    {0},
};
static const yk_option_section all = {"all", NULL, fields};

typedef struct checking {
    yk_context *context;
    yk_diagnostics *diagnostics;
    yk_store store;
    yk_node *root;
} checking;

static checking check(const char *text)
{
    checking c = {.context = yk_context_create(NULL)};
    c.store.context = c.context;
    assert_int_equal(yk_diagnostics_create(c.context, &c.diagnostics), YK_OK);
    yk_source *source = yk_store_take(&c.store, sizeof *source);
    *source = (yk_source){"file.yaml", text, strlen(text), true};
    assert_int_equal(yk_yaml_read(&c.store, source, c.diagnostics, &c.root), YK_OK);
    assert_non_null(c.root);
    yk_resolver resolver = {.store = &c.store, .diagnostics = c.diagnostics};
    yk_resolve_section(&resolver, c.root, &all);
    assert_int_equal(resolver.status, YK_OK);
    assert_int_equal(c.root->valid, yk_diagnostics_error_count(c.diagnostics) == 0);
    return c;
}

static checking check_good(const char *text)
{
    checking c = check(text);
    if (yk_diagnostics_count(c.diagnostics))
        print_error("%s", yk_diagnostics_format(c.diagnostics));
    assert_int_equal(yk_diagnostics_count(c.diagnostics), 0);
    return c;
}

static void release(checking *c)
{
    yk_store_destroy(&c->store);
    yk_diagnostics_destroy(c->diagnostics);
    yk_context_destroy(c->context);
}

static void values_are_stored(void **state)
{
    (void)state;
    checking c =
        check_good("parameters: {c: a+b, a: 2, b: 3*a}\n"
                   "number: '2*c'\n"
                   "integer: a-4\n"
                   "boolean: yes\n"
                   "text: 'a: b'\n"
                   "name: left-arm_2\n"
                   "choice: green\n"
                   "function: 3*a\n"
                   "vector: [1, a, -c/2]\n"
                   "numbers: [4]\n"
                   "functions: [sin(t), 0, a*t]\n"
                   "inertia: [1, 2, 3]\n"
                   "path: data/mesh.obj\n"
                   "section: {x: 1}\n"
                   "form: blue\n"
                   "variant: {type: sphere, radius: 0.5}\n"
                   "list: [blue, red]\n"
                   "named: {ball: {type: sphere, radius: 1}, crate: box, other: {density: 5}}\n");
    assert_near(yk_node_number(c.root, "number"), 16, 0);
    assert_int_equal(yk_node_integer(c.root, "integer"), -2);
    assert_true(yk_node_boolean(c.root, "boolean"));
    assert_string_equal(yk_node_text(c.root, "text"), "a: b");
    assert_string_equal(yk_node_text(c.root, "name"), "left-arm_2");
    assert_int_equal(yk_node_choice(c.root, "choice"), 1);
    assert_near(yk_node_number(c.root, "function"), 6, 0);
    yk_vec3 v = yk_node_vector(c.root, "vector");
    assert_near(v.x, 1, 0);
    assert_near(v.y, 2, 0);
    assert_near(v.z, -4, 0);
    assert_int_equal(yk_node_get(c.root, "numbers")->value_count, 1);
    const yk_node *inertia = yk_node_get(c.root, "inertia");
    assert_int_equal(inertia->value_count, 9);
    assert_near(inertia->values[4], 2, 0);
    assert_near(inertia->values[1], 0, 0);
    assert_near(yk_node_number(yk_node_get(c.root, "section"), "y"), 2, 0);
    assert_int_equal(yk_node_choice(c.root, "form"), 2);
    const yk_node *variant = yk_node_get(c.root, "variant");
    assert_int_equal(variant->choice, 0);
    assert_near(yk_node_number(variant, "density"), 1000, 0);
    const yk_node *named = yk_node_get(c.root, "named");
    assert_string_equal(yk_node_name(named->first->next), "crate");
    assert_int_equal(named->first->next->choice, 1);
    assert_near(yk_node_vector(named->first->next, "edges").z, 3, 0);
    assert_int_equal(named->last->choice, 1);
    assert_near(yk_node_number(named->last, "density"), 5, 0);
    release(&c);
}

static void sections_may_be_left_empty(void **state)
{
    (void)state;
    checking c = check_good("parameters:\nnamed:\n");
    release(&c);
    c = check_good("named:\n  - {name: a, type: sphere, radius: 2}\n  - name: b\n");
    assert_string_equal(yk_node_name(yk_node_get(c.root, "named")->last), "b");
    release(&c);
    c = check_good("form: {x: 3}\n");
    assert_int_equal(yk_node_choice(c.root, "form"), -1);
    release(&c);
}

static void inertia_may_be_given_by_rows(void **state)
{
    (void)state;
    checking c = check_good("inertia: [[1, 0.5, 0], [0.5, 2, 0.1], [0, 0.1, 3]]\n");
    const yk_node *inertia = yk_node_get(c.root, "inertia");
    assert_near(inertia->values[1], 0.5, 0);
    assert_near(inertia->values[7], 0.1, 0);
    release(&c);
}

/* All spellings of one rotation: a third of a rotation about (1, 1, 1), which takes x to y, y to
 * z and z to x. */
static void spellings_of_a_rotation_agree(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "[0.5, 0.5, 0.5, 0.5]",
        "{quaternion: [0.5, 0.5, 0.5, 0.5]}",
        "{axis: [2, 2, 2], angle: 2*pi/3}",
        "{axis: [1, 1, 1], angle: rad(120)}",
        "{rotation_vector: [2*pi/3/sqrt(3), 2*pi/3/sqrt(3), 2*pi/3/sqrt(3)]}",
        "{euler: [pi/2, pi/2, 0], euler_order: xyz}",
        "{euler: [pi/2, pi/2, 0]}",
        "{euler: [pi/2, 0, pi/2], euler_order: zyx}",
        "{euler: [pi/2, pi/2, 0], euler_order: zxz}",
        "{euler: [0, pi/2, pi/2], euler_order: zyz}",
        "{x: [0, 3, 0], y: [0, 1, 1]}",
        "{x: [0, 1, 0], z: [2, 0, 0]}",
        "{y: [0, 0, 1], z: [1, 0, 0]}",
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        char text[200];
        snprintf(text, sizeof text, "orientation: %s\n", spellings[i]);
        checking c = check_good(text);
        yk_quat q = yk_node_orientation(c.root, "orientation");
        double x_error = yk_v3_norm(yk_v3_sub(yk_q_rotate(q, yk_v3(1, 0, 0)), yk_v3(0, 1, 0)));
        double y_error = yk_v3_norm(yk_v3_sub(yk_q_rotate(q, yk_v3(0, 1, 0)), yk_v3(0, 0, 1)));
        if (x_error > 1e-15 || y_error > 1e-15)
            print_error("%s\n", spellings[i]);
        assert_near(x_error, 0, 1e-15);
        assert_near(y_error, 0, 1e-15);
        release(&c);
    }
}

/* One mistake each: where it is and what is said. */
static void mistakes_have_one_message_each(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *path, *message;
    } cases[] = {
        {"number: heavy", 9, "number",
         "expected a number in kg, greater than 0: unknown name 'heavy'. Define it under "
         "'parameters'."},
        {"number: -1", 9, "number", "expected a number in kg, greater than 0, but found '-1'"},
        {"number: 1-2", 9, "number",
         "expected a number in kg, greater than 0, but found '1-2', which is -1"},
        {"number: [1]", 9, "number",
         "expected a number in kg, greater than 0, but found a list of 1"},
        {"number:", 8, "number", "expected a number in kg, greater than 0, but found nothing"},
        {"number: 2*t", 11, "number",
         "expected a number in kg, greater than 0: time 't' cannot be used here: the value must be "
         "constant"},
        {"number: '1 + 2 3'", 16, "number",
         "expected a number in kg, greater than 0: an operator is missing before '3'"},
        {"number: 1/0", 9, "number",
         "expected a number in kg, greater than 0: the value is not finite (a division by zero, or "
         "an overflow)"},
        {"integer: 1.5", 10, "integer",
         "expected a whole number, between -5 and 5, but found '1.5'"},
        {"integer: 6", 10, "integer", "expected a whole number, between -5 and 5, but found '6'"},
        {"boolean: maybe", 10, "boolean", "expected true or false, but found 'maybe'"},
        {"text: {a: 1}", 7, "text", "expected a text, but found a section"},
        {"name: 2nd", 7, "name",
         "'2nd' cannot be a name; a name starts with a letter (a to z, A to Z) and has at most 60 "
         "letters, digits, '_' "
         "and '-'"},
        {"choice: gren", 9, "choice", "unknown value 'gren'. Did you mean 'green'?"},
        {"choice: yellow", 9, "choice", "unknown value 'yellow'. Expected red, green or blue."},
        {"function: sin(x)", 15, "function",
         "expected a number or an expression of time in N: unknown name 'x'. Define it under "
         "'parameters'."},
        {"vector: [1, 2]", 9, "vector", "expected a list of 3 numbers in m, but found a list of 2"},
        {"vector: [1, two, 3]", 13, "vector[1]",
         "expected a number in m: unknown name 'two'. Define it under 'parameters'."},
        {"numbers: []", 10, "numbers",
         "expected a list of 1 or more numbers, but found a list of 0"},
        {"functions: [t, t, u]", 19, "functions[2]",
         "expected a number or an expression of time in N: unknown name 'u'. Define it under "
         "'parameters'."},
        {"orientation: [1, 0, 0]", 14, "orientation",
         "expected an orientation such as [w, x, y, z] or {axis: [0, 0, 1], angle: 0.5}, but found "
         "a "
         "list of 3"},
        {"orientation: [1, 1, 0, 0]", 14, "orientation",
         "a quaternion [w, x, y, z] for a rotation has length 1"},
        {"orientation: {axis: [1, 0, 0]}", 14, "orientation",
         "'angle' in rad is missing next to 'axis'"},
        {"orientation: {angle: 1}", 14, "orientation", "'axis' is missing next to 'angle'"},
        {"orientation: {axis: [0, 0, 0], angle: 1}", 14, "orientation",
         "the axis has no direction: its length is zero"},
        {"orientation: {x: [1, 0, 0]}", 14, "orientation",
         "give two of the axes x, y, z; the third follows"},
        {"orientation: {x: [1, 0, 0], y: [2, 0, 0]}", 14, "orientation",
         "the two axes are parallel, or one has no length"},
        {"orientation: {euler_order: xyz}", 14, "orientation",
         "'euler_order' is for 'euler', which is missing"},
        {"orientation: {rotation_vector: [1, 0, 0], euler: [0, 0, 0]}", 14, "orientation",
         "give one of: quaternion; axis and angle; rotation_vector; euler (and euler_order); two "
         "of x, y, z"},
        {"orientation: {}", 14, "orientation",
         "give one of: quaternion; axis and angle; rotation_vector; euler (and euler_order); two "
         "of x, y, z"},
        {"inertia: [1, 2]", 10, "inertia",
         "expected three numbers (a diagonal) or three rows of a symmetric matrix in kg m^2, but "
         "found "
         "a list of 2"},
        {"inertia: [[1, 2, 0], [0, 1, 0], [0, 0, 1]]", 10, "inertia",
         "expected three numbers (a diagonal) or three rows of a symmetric matrix in kg m^2; the "
         "matrix is not "
         "symmetric"},
        {"path: []", 7, "path", "expected the name of a file, but found a list of 0"},
        {"section: {y: 1}", 1, "section", "'x' is missing. Expected a number in m (abscissa)."},
        {"section: {x: 1, z: 3}", 17, "section.z", "unknown key 'z'. Expected x or y."},
        {"section: 3", 10, "section",
         "expected a section with keys such as 'x', 'y', but found '3'"},
        {"form: grene", 7, "form", "unknown value 'grene'. Did you mean 'green'?"},
        {"form: [1]", 7, "form",
         "expected red, green or blue, or a section, but found a list of 1"},
        {"variant: {radius: 1}", 1, "variant",
         "'type' is missing. Expected a section with 'type': sphere or box."},
        {"variant: {type: sphere}", 1, "variant",
         "'radius' is missing. Expected a number in m, greater than 0 (radius)."},
        {"variant: {type: spere, radius: 1}", 17, "variant.type",
         "unknown value 'spere'. Did you mean 'sphere'?"},
        {"variant: {type: [sphere]}", 17, "variant.type",
         "expected a section with 'type': sphere or box, but found a list of 1"},
        {"variant: {type: box, radius: 1}", 22, "variant.radius",
         "unknown key 'radius'. Expected type, density or edges."},
        {"variant: [box]", 10, "variant",
         "expected a section with 'type': sphere or box, but found a list of 1"},
        {"variant: bx", 10, "variant.type", "unknown value 'bx'. Did you mean 'box'?"},
        {"list: red", 7, "list", "expected a list of 1 to 2 colours, but found 'red'"},
        {"list: [red, red, red]", 7, "list",
         "expected a list of 1 to 2 colours, but found a list of 3"},
        {"list: [red, gren]", 13, "list[1]", "unknown value 'gren'. Did you mean 'green'?"},
        {"named: [box]", 9, "named[0]", "expected a section with 'name', but found 'box'"},
        {"named: [{type: box}]", 9, "named[0]", "'name' is missing: a name for this shape"},
        {"named: [{name: a}, {name: b}, {name: a}]", 38, "named[2]",
         "the name 'a' is already used in line 1"},
        {"named: {a.b: box}", 9, "named.a.b",
         "'a.b' cannot be a name; a name starts with a letter (a to z, A to Z) and has at most 60 "
         "letters, digits, '_' "
         "and '-'"},
        {"named: {a: box, b: box, c: box, d: box}", 1, "named",
         "expected at most 3 shapes, but found 4"},
        {"named: box", 8, "named",
         "expected a section of named items, or a list of items with 'name', but found 'box'"},
        {"parameters: [1]", 13, "parameters",
         "expected a section of names and numbers, but found a list of 1"},
        {"parameters: {a: b}", 17, "parameters.a",
         "expected a number: unknown name 'b'. Define it under 'parameters'."},
        {"parameters: {aa: bbb, bb: 1}", 18, "parameters.aa",
         "expected a number: unknown name 'bbb'. Did you mean 'bb'?"},
        {"parameters: {a: b, b: c, c: a}", 29, "parameters.c",
         "depends on itself through 'a'; parameters cannot be circular"},
        {"parameters: {a: a+1}", 17, "parameters.a",
         "depends on itself; parameters cannot be circular"},
        {"parameters: {sin: 1}", 14, "parameters.sin",
         "cannot be a parameter's name: 'sin' is the name of a function"},
        {"parameters: {t: 1}", 14, "parameters.t", "cannot be a parameter's name: 't' is time"},
        {"parameters: {a: 1/0, b: a}", 17, "parameters.a",
         "expected a number: the value is not finite (a division by zero, or an overflow)"},
        {"parameters: {a: [1]}", 17, "parameters.a", "expected a number, but found a list of 1"},
        {"named: {a: {repeat: 2}}", 9, "named.a",
         "the name 'a' is already used in line 1; names of repeated items have the index in them, "
         "as in "
         "\"link_{i}\""},
        {"named: {'a{i}': {repeat: many}}", 26, "named.a{i}.repeat",
         "expected a whole number: unknown name 'many'. Define it under 'parameters'."},
        {"named: {'a{i}': {repeat: {from: 1}}}", 18, "named.a{i}.repeat",
         "'to' is missing. Expected a whole number (its last value; none is made if it is below "
         "`from`)."},
        {"named: {'a{i}': {repeat: {index: pi, to: 1}}}", 26, "named.a{i}.repeat",
         "the index cannot be 'pi', which is the number 3.14159..."},
        {"named: {'a{j}': {repeat: 1}}", 9, "named.a{j}",
         "'a{j}' cannot be a name; a name starts with a letter (a to z, A to Z) and has at most 60 "
         "letters, digits, "
         "'_' and '-'"},
        {"named: {'a{i}': {repeat: 2000000}}", 17, "named.a{i}",
         "the repetition makes more than a million values"},
        {"nmber: 1", 1, "nmber", "unknown key 'nmber'. Did you mean 'number'?"},
        {"[]", 1, "",
         "expected a section with keys such as 'parameters', 'number', 'integer', but found a list "
         "of "
         "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        checking c = check(cases[i].text);
        const yk_diagnostic *first = yk_diagnostics_at(c.diagnostics, 0);
        char *printed = yk_diagnostics_format(c.diagnostics);
        if (yk_diagnostics_count(c.diagnostics) != 1 ||
            strcmp(first->message, cases[i].message) != 0 || first->column != cases[i].column ||
            strcmp(first->path, cases[i].path) != 0)
            print_error("%s\n%s", cases[i].text, printed);
        assert_int_equal(yk_diagnostics_count(c.diagnostics), 1);
        assert_string_equal(first->message, cases[i].message);
        assert_int_equal(first->column, cases[i].column);
        assert_string_equal(first->path, cases[i].path);
        yk_free(c.context, printed);
        release(&c);
    }
}

/* Positions inside an expression refer to the text of the file; otherwise they refer to the whole
 * value. */
static void places_inside_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column, length;
    } cases[] = {
        {"number: 1 + oops", 1, 13, 4},         {"number: \"1 + oops\"", 1, 14, 4},
        {"number: \"1 +\\x20oops\"", 1, 9, 13}, {"number: |\n  1 + oops\n", 1, 9, 1},
        {"number: 1 +\n  oops\n", 1, 9, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        checking c = check(cases[i].text);
        const yk_diagnostic *first = yk_diagnostics_at(c.diagnostics, 0);
        assert_int_equal(first->line, cases[i].line);
        assert_int_equal(first->column, cases[i].column);
        assert_int_equal(first->length, cases[i].length);
        release(&c);
    }
}

static void repeated_items_are_copied_and_filled_in(void **state)
{
    (void)state;
    checking c = check_good(
        "parameters: {n: 3, size: 0.5}\n"
        "named:\n"
        "  - {name: 'ball_{i}', repeat: n, type: sphere, radius: '{i}*size', density: '{i^2}'}\n");
    const yk_node *named = yk_node_get(c.root, "named");
    assert_int_equal(named->count, 3);
    assert_string_equal(yk_node_name(named->first), "ball_1");
    assert_string_equal(yk_node_name(named->last), "ball_3");
    assert_near(yk_node_number(named->last, "radius"), 1.5, 0);
    assert_near(yk_node_number(named->last, "density"), 9, 0);
    release(&c);
    c = check_good("named: {'b{2*k+1}': {repeat: {index: k, from: 0, to: 1}}, other: box, "
                   "'none{i}': {repeat: 0}}\n");
    named = yk_node_get(c.root, "named");
    assert_int_equal(named->count, 3);
    assert_string_equal(yk_node_name(named->first), "b1");
    assert_string_equal(yk_node_name(named->first->next), "b3");
    assert_string_equal(yk_node_name(named->last), "other");
    release(&c);
}

static void a_chain_of_parameters_resolves_in_any_order(void **state)
{
    (void)state;
    checking c =
        check_good("parameters: {e: d+1, d: c+1, c: b+1, b: a+1, a: 1, f: e*e}\nnumber: f\n");
    assert_near(yk_node_number(c.root, "number"), 25, 0);
    release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_stored),
        cmocka_unit_test(sections_may_be_left_empty),
        cmocka_unit_test(inertia_may_be_given_by_rows),
        cmocka_unit_test(spellings_of_a_rotation_agree),
        cmocka_unit_test(mistakes_have_one_message_each),
        cmocka_unit_test(places_inside_expressions),
        cmocka_unit_test(repeated_items_are_copied_and_filled_in),
        cmocka_unit_test(a_chain_of_parameters_resolves_in_any_order),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
