/* The YAML reader: the tree with source positions, and a readable message for every kind of syntax
 * error. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/yaml_tree.h"

typedef struct reading {
    yk_context *context;
    yk_diagnostics *diagnostics;
    yk_store store;
    yk_source source;
    yk_node *root;
} reading;

static reading read_text(const char *text, size_t length)
{
    reading r = {.context = yk_context_create(NULL)};
    r.store.context = r.context;
    assert_int_equal(yk_diagnostics_create(r.context, &r.diagnostics), YK_OK);
    yk_source *source = yk_store_take(&r.store, sizeof *source);
    *source = (yk_source){"file.yaml", text, length, true};
    assert_int_equal(yk_yaml_read(&r.store, source, r.diagnostics, &r.root), YK_OK);
    return r;
}

static reading read_good(const char *text)
{
    reading r = read_text(text, strlen(text));
    if (yk_diagnostics_count(r.diagnostics))
        print_error("%s", yk_diagnostics_format(r.diagnostics));
    assert_int_equal(yk_diagnostics_count(r.diagnostics), 0);
    assert_non_null(r.root);
    return r;
}

static void release(reading *r)
{
    yk_store_destroy(&r->store);
    yk_diagnostics_destroy(r->diagnostics);
    yk_context_destroy(r->context);
}

/* A compact picture of a tree: {a:1,b:[x,'y']}; quoted scalars in quotes. */
static void draw(yk_context *context, yk_text *text, const yk_node *node)
{
    if (node->key)
        yk_text_add(context, text, "%s:", node->key);
    if (node->kind == YK_NODE_SCALAR) {
        yk_text_add(context, text, node->quoted ? "'%s'" : "%s", node->text);
        return;
    }
    yk_text_add(context, text, node->kind == YK_NODE_MAP ? "{" : "[");
    for (const yk_node *child = node->first; child; child = child->next) {
        draw(context, text, child);
        if (child->next)
            yk_text_add(context, text, ",");
    }
    yk_text_add(context, text, node->kind == YK_NODE_MAP ? "}" : "]");
}

static void assert_tree(reading *r, const char *expected)
{
    yk_text text = {0};
    draw(r->context, &text, r->root);
    assert_string_equal(text.data, expected);
    yk_text_destroy(r->context, &text);
}

static void trees_have_the_shape_of_the_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"a: 1\nb: [x, 'y', \"z\"]\n", "{a:1,b:[x,'y','z']}"},
        {"a:\n  b:\n    - c\n    - d: e\n", "{a:{b:[c,{d:e}]}}"},
        {"# only a comment before\n---\na: ~\n...\n", "{a:~}"},
        {"a:\nb: ''\n", "{a:,b:''}"},
        {"text: |\n  two\n  lines\n", "{text:'two\nlines\n'}"},
        {"base: &b {m: 1, k: [2, 3]}\nother: *b\n", "{base:{m:1,k:[2,3]},other:{m:1,k:[2,3]}}"},
        {"base: &b {m: 1, k: 2}\nother: {<<: *b, k: 3, c: 4}\n",
         "{base:{m:1,k:2},other:{k:3,c:4,m:1}}"},
        {"a: &a {x: 1}\nb: &b {x: 2, y: 3}\nc: {<<: [*a, *b]}\n",
         "{a:{x:1},b:{x:2,y:3},c:{x:1,y:3}}"},
        {"a: &x 1\nb: &x 2\nc: *x\n", "{a:1,b:2,c:2}"},
        {"\xEF\xBB\xBF"
         "a: caf\xC3\xA9\r\nb: 2\r\n",
         "{a:caf\xC3\xA9,b:2}"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"just words", "just words"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r = read_good(cases[i].text);
        assert_tree(&r, cases[i].tree);
        release(&r);
    }
}

static void nodes_know_their_places_and_paths(void **state)
{
    (void)state;
    reading r = read_good("t: 1\nlist:\n  - {name: tip, 'key': value}\n  - caf\xC3\xA9: \"x y\"\n");
    const yk_node *list = yk_node_get(r.root, "list");
    const yk_node *value = yk_node_get(list->first, "key");
    char path[YK_PATH_MAX];
    assert_string_equal(yk_node_path(value, path), "list[0].key");
    assert_int_equal(value->line, 3);
    assert_int_equal(value->column, 24);
    assert_int_equal(value->length, 5);
    assert_int_equal(yk_node_key_location(value).column, 17);
    assert_string_equal(yk_node_name(list->first), "tip");
    assert_null(yk_node_name(yk_node_at(list, 1)));
    const yk_node *quoted = yk_node_at(list, 1)->first;
    assert_int_equal(quoted->line, 4);
    assert_int_equal(quoted->column, 11);
    assert_int_equal(quoted->length, 5);
    assert_string_equal(yk_node_path(r.root, path), "");
    assert_null(yk_node_at(list, 2));
    assert_null(yk_node_get(list, "key"));
    release(&r);
}

static void long_paths_lose_their_beginning(void **state)
{
    (void)state;
    char text[1000] = "";
    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), 100, "%*slevel_with_a_long_name_%02d:\n", i, "", i);
    strcat(text, "                    x: 1\n");
    reading r = read_good(text);
    const yk_node *node = r.root;
    while (node->first)
        node = node->first;
    char path[YK_PATH_MAX];
    yk_node_path(node, path);
    assert_true(strlen(path) < YK_PATH_MAX);
    static const char end[] = ".level_with_a_long_name_18.level_with_a_long_name_19.x";
    assert_string_equal(path + strlen(path) - strlen(end), end);
    release(&r);
}

/* The first message and its place. */
static void assert_complaint(const char *text, size_t length, int line, int column,
                             const char *message)
{
    reading r = read_text(text, length);
    const yk_diagnostic *first = yk_diagnostics_at(r.diagnostics, 0);
    if (!first)
        print_error("no complaint about: %s\n", text);
    assert_non_null(first);
    if (strcmp(first->message, message) != 0 || first->line != line || first->column != column)
        print_error("%s\n%d:%d %s\n", text, first->line, first->column, first->message);
    assert_string_equal(first->message, message);
    assert_int_equal(first->line, line);
    assert_int_equal(first->column, column);
    release(&r);
}

static void mistakes_are_reported_in_plain_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } cases[] = {
        {"", 0, 0, "the file is empty"},
        {"# nothing\n", 0, 0, "the file is empty"},
        {"a: 1\n\tb: 2\n", 2, 1, "a tab indents this line; indent with spaces"},
        {"a:\n\tb: 2\n", 2, 1, "a tab indents this line; indent with spaces"},
        {"a: {b: 1\nc: 2\n", 2, 2,
         "a '{' is not closed, or a ',' is missing between its entries; it was opened in line 1"},
        {"a: {b: 1\n", 1, 4, "a '{' is not closed, or a ',' is missing between its entries"},
        {"a: {b: 1 c: 2}\n", 1, 11, "a '{' is not closed, or a ',' is missing between its entries"},
        {"a: [1, 2\n", 1, 4, "a '[' is not closed, or a ',' is missing between its items"},
        {"a: 'text\nb: 2\n", 1, 4, "a quote is opened and never closed"},
        {"a: b: c\n", 1, 5,
         "a ':' where no key can stand; put text that contains ': ' in quotes, and give keys of "
         "one section the same "
         "indentation"},
        {"a: 1\nb\nc: 2\n", 3, 1,
         "this line has no 'key: value'; a ':' followed by a space is missing"},
        {"a:\n  b: 1\n c: 2\n", 3, 2,
         "the indentation does not match the lines above; keys of one section start in the same "
         "column"},
        {"a: @b\n", 1, 4, "text cannot start with '@' or '`'; put it in quotes"},
        {"a: %b\n", 1, 4, "text cannot start with '%'; put it in quotes"},
        {"a: \"\\d\"\n", 1, 5,
         "unknown escape after '\\' in double quotes; use single quotes for text with backslashes"},
        {"a: 1\n---\nb: 2\n", 2, 1, "a second document starts here; one file holds one scenario"},
        {"a: 1\nb: 2\na: 3\n", 3, 1, "is given twice, first in line 1; remove one of them"},
        {"a: *b\n", 1, 4,
         "no anchor '&b' before this alias; put text that starts with '*' in quotes"},
        {"a: &a [1, *a]\n", 1, 11, "the alias '*a' is inside its own anchor"},
        {"a: !!float 3\n", 1, 4,
         "tags such as 'tag:yaml.org,2002:float' have no meaning in a scenario; remove it"},
        {"a: !x 3\n", 1, 4, "tags such as '!x' have no meaning in a scenario; remove it"},
        {"? [a, b]\n: 1\n", 1, 3,
         "a key must be a word, not a list or a section; put expressions with commas in quotes"},
        {": 1\n", 1, 1, "a key is missing before ':'"},
        {"a: &x b\n*x : 1\n", 2, 1, "a key cannot be an alias"},
        {"&k a: 1\n", 1, 1, "keys cannot have anchors (&name)"},
        {"a: {<<: 3}\n", 1, 9,
         "after '<<' comes a section, or a list of sections, to take entries from"},
        {"a: \"x\\0y\"\n", 1, 4, "text with a zero character (\\0)"},
        {"a: 1\nb: \x01\n", 2, 4, "a control character; the file must be plain text"},
        {"a: 1\nb: caf\xE9\n", 2, 7,
         "a character that is not UTF-8; save the file in UTF-8 encoding"},
        {"\xFF\xFE", 0, 0, "is encoded in UTF-16; save it in UTF-8 encoding"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_complaint(cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].column,
                         cases[i].message);
    assert_complaint("a: 1\nb\0: 2", 11, 2, 2,
                     "a zero byte; the file is binary, or not encoded in UTF-8");
}

static void limits_hold(void **state)
{
    (void)state;
    char deep[200];
    memset(deep, '[', 100);
    deep[100] = '\0';
    assert_complaint(deep, 100, 1, 65, "more than 64 levels of nesting");

    /* Ten lists of ten aliases each: 10^9 nodes if they were expanded without a limit. */
    yk_context *context = yk_context_create(NULL);
    yk_text bomb = {0};
    yk_text_add(context, &bomb, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++) {
        yk_text_add(context, &bomb, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            yk_text_add(context, &bomb, "%s*a%d", k ? ", " : "", i - 1);
        yk_text_add(context, &bomb, "]\n");
    }
    reading r = read_text(bomb.data, bomb.length);
    assert_non_null(
        strstr(yk_diagnostics_at(r.diagnostics, 0)->message, "more than a million values"));
    release(&r);

    yk_text many = {0};
    for (int i = 0; i < 1001; i++)
        yk_text_add(context, &many, "- &a%d x\n", i);
    r = read_text(many.data, many.length);
    assert_string_equal(yk_diagnostics_at(r.diagnostics, 0)->message,
                        "more than 1000 anchors (&name)");
    release(&r);
    yk_text_destroy(context, &bomb);
    yk_text_destroy(context, &many);
    yk_context_destroy(context);
}

static void unreadable_files_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *path, *message;
    } cases[] = {
        {"no/such/file.yaml", "cannot be opened: No such file or directory"},
        {YOKE_SOURCE_DIR, "cannot be read: Is a directory"},
        {"/dev/zero",
         "is larger than 64 MiB, the limit of a scenario; put bulk data into a file of its own"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r = {.context = yk_context_create(NULL)};
        r.store.context = r.context;
        assert_int_equal(yk_diagnostics_create(r.context, &r.diagnostics), YK_OK);
        assert_int_equal(yk_yaml_open(&r.store, cases[i].path, r.diagnostics, &r.source), YK_OK);
        assert_null(r.source.text);
        const yk_diagnostic *first = yk_diagnostics_at(r.diagnostics, 0);
        assert_string_equal(first->message, cases[i].message);
        assert_string_equal(first->source, cases[i].path);
        assert_int_equal(first->line, 0);
        release(&r);
    }
}

/* Overrides ------------------------------------------------------------------------------------ */

static const char base[] = "coupling: {scheme: explicit}\n"
                           "interfaces:\n"
                           "  - {name: root, joint: fixed}\n"
                           "  - {name: tip, joint: fixed}\n"
                           "record:\n";

static void overrides_change_and_add_values(void **state)
{
    (void)state;
    static const struct {
        const char *assignment, *tree;
    } cases[] = {
        {"coupling.scheme=tight", "{coupling:{scheme:tight},interfaces:[{name:root,joint:fixed},{"
                                  "name:tip,joint:fixed}],record:}"},
        {"interfaces[0].joint=revolute", "{coupling:{scheme:explicit},interfaces:[{name:root,joint:"
                                         "revolute},{name:tip,joint:fixed}],record:}"},
        {"interfaces.tip.joint={constrained_axes: [x, y]}",
         "{coupling:{scheme:explicit},interfaces:[{name:root,joint:fixed},{"
         "name:tip,joint:{constrained_axes:[x,y]}}],record:}"},
        {"record.every=10", "{coupling:{scheme:explicit},interfaces:[{name:root,joint:fixed},{name:"
                            "tip,joint:fixed}],record:{every:10}}"},
        {"a.b.c=2*k", "{coupling:{scheme:explicit},interfaces:[{name:root,joint:fixed},{name:tip,"
                      "joint:fixed}],record:,"
                      "a:{b:{c:2*k}}}"},
        {"interfaces=[]", "{coupling:{scheme:explicit},interfaces:[],record:}"},
        {"interfaces[1]={name: end}",
         "{coupling:{scheme:explicit},interfaces:[{name:root,joint:fixed},{name:end}],record:}"},
        {"title=a=b", "{coupling:{scheme:explicit},interfaces:[{name:root,joint:fixed},{name:tip,"
                      "joint:fixed}],record:,title:a=b}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r = read_good(base);
        assert_int_equal(yk_override_apply(&r.store, r.root, cases[i].assignment, r.diagnostics),
                         YK_OK);
        assert_int_equal(yk_diagnostics_count(r.diagnostics), 0);
        assert_tree(&r, cases[i].tree);
        release(&r);
    }
}

static void later_overrides_see_earlier_ones(void **state)
{
    (void)state;
    reading r = read_good("a: {b: 1}\n");
    yk_override_apply(&r.store, r.root, "a.c.d=2", r.diagnostics);
    yk_override_apply(&r.store, r.root, "a.c.e=3", r.diagnostics);
    yk_override_apply(&r.store, r.root, "a.b=4", r.diagnostics);
    yk_override_apply(&r.store, r.root, "f=5", r.diagnostics);
    assert_tree(&r, "{a:{b:4,c:{d:2,e:3}},f:5}");
    const yk_node *value = yk_node_get(yk_node_get(r.root, "a"), "b");
    assert_string_equal(value->from->name, "--set a.b");
    assert_int_equal(yk_diagnostics_count(r.diagnostics), 0);
    release(&r);
}

static void bad_overrides_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *assignment, *source, *message;
    } cases[] = {
        {"coupling.scheme", "--set coupling.scheme",
         "a path and a value are expected, as in coupling.scheme=tight"},
        {"=3", "--set ", "a path and a value are expected, as in coupling.scheme=tight"},
        {"coupling.scheme=", "--set coupling.scheme", "the value after '=' is missing"},
        {"coupling..x=1", "--set coupling..x",
         "the path has an empty step; write it as coupling.scheme=tight"},
        {"[0].x=1", "--set [0].x", "'[' starts an index such as interfaces[0]"},
        {"interfaces[x]=1", "--set interfaces[x]", "'[' starts an index such as interfaces[0]"},
        {"interfaces[0]x=1", "--set interfaces[0]x",
         "a '.' is missing between the steps of the path"},
        {"interfaces[2].joint=fixed", "--set interfaces[2].joint",
         "the list has no item [2]; it has 2, counted from [0]"},
        {"interfaces.tp.joint=fixed", "--set interfaces.tp.joint",
         "the list has no item named 'tp'. Did you mean 'tip'?"},
        {"interfaces.middle.joint=fixed", "--set interfaces.middle.joint",
         "the list has no item named 'middle'. Give the name of an item, or an index such as [0]."},
        {"coupling.scheme.x=1", "--set coupling.scheme.x",
         "'coupling.scheme' is a value, not a section"},
        {"coupling[0]=1", "--set coupling[0]",
         "'coupling' is a section, not a list; name a key instead of an index"},
        {"a=[1", "--set a", "a '[' is not closed, or a ',' is missing between its items"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r = read_good(base);
        assert_int_equal(yk_override_apply(&r.store, r.root, cases[i].assignment, r.diagnostics),
                         YK_OK);
        assert_int_equal(yk_diagnostics_count(r.diagnostics), 1);
        assert_string_equal(yk_diagnostics_at(r.diagnostics, 0)->message, cases[i].message);
        assert_string_equal(yk_diagnostics_at(r.diagnostics, 0)->source, cases[i].source);
        release(&r);
    }
}

/* Diagnostics ---------------------------------------------------------------------------------- */

static void messages_show_the_line_and_the_place(void **state)
{
    (void)state;
    reading r = read_good("caf\xC3\xA9: [1, wrong]\n");
    char text[512];
    yk_node_error(r.diagnostics, yk_node_at(r.root->first, 1), "is %s", "bad\x1B[31m");
    char *printed = yk_diagnostics_format(r.diagnostics);
    snprintf(text, sizeof text, "%s",
             "file.yaml:1:11: error: caf\xC3\xA9[1]: is bad?[31m\n"
             "    1 | caf\xC3\xA9: [1, wrong]\n"
             "      |           ^~~~~\n");
    assert_string_equal(printed, text);
    yk_free(r.context, printed);
    release(&r);
}

static void long_lines_are_shown_around_the_place(void **state)
{
    (void)state;
    char text[1000];
    memset(text, ' ', sizeof text);
    memcpy(text, "a: [", 4);
    for (int i = 4; i < 990; i += 3)
        memcpy(text + i, "1, ", 3);
    strcpy(text + 991, "oops]");
    reading r = read_good(text);
    const yk_node *last = r.root->first->last;
    yk_node_error(r.diagnostics, last, "no");
    const yk_diagnostic *entry = yk_diagnostics_at(r.diagnostics, 0);
    assert_int_equal(entry->column, 992);
    assert_int_equal(entry->caret, 60);
    assert_string_equal(entry->excerpt + 60, "oops]");
    release(&r);
}

static void the_list_keeps_a_hundred_and_counts_the_rest(void **state)
{
    (void)state;
    reading r = read_good("a: 1\n");
    for (int i = 0; i < 250; i++)
        yk_node_error(r.diagnostics, r.root, "%d", i);
    yk_node_warning(r.diagnostics, r.root, "late");
    assert_int_equal(yk_diagnostics_count(r.diagnostics), 100);
    assert_int_equal(yk_diagnostics_error_count(r.diagnostics), 250);
    assert_int_equal(yk_diagnostics_warning_count(r.diagnostics), 1);
    char *printed = yk_diagnostics_format(r.diagnostics);
    assert_non_null(strstr(printed, "... and 151 more\n"));
    yk_free(r.context, printed);
    assert_null(yk_diagnostics_at(r.diagnostics, 100));
    assert_null(yk_diagnostics_at(r.diagnostics, -1));
    release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_have_the_shape_of_the_text),
        cmocka_unit_test(nodes_know_their_places_and_paths),
        cmocka_unit_test(long_paths_lose_their_beginning),
        cmocka_unit_test(mistakes_are_reported_in_plain_words),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(unreadable_files_are_reported),
        cmocka_unit_test(overrides_change_and_add_values),
        cmocka_unit_test(later_overrides_see_earlier_ones),
        cmocka_unit_test(bad_overrides_are_reported),
        cmocka_unit_test(messages_show_the_line_and_the_place),
        cmocka_unit_test(long_lines_are_shown_around_the_place),
        cmocka_unit_test(the_list_keeps_a_hundred_and_counts_the_rest),
    };
    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
