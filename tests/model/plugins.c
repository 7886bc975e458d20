/* Solvers from plug-ins: a correct one, one for each possible mistake, and the same table of
 * functions registered by a program. */
#include "loading.h"

#include <stdio.h>

#include "yoke/system.h"

/* A scenario whose subsystem `a` is of the plug-in PLUGIN_FOLDER/`file`. */
static loading load(const char *file, const char *keys, bool forbid)
{
    char text[2000];
    snprintf(text, sizeof text,
             "plugins: [%s]\n"
             "time: {end: 1, step: 0.125}\n"
             "subsystems:\n"
             "  a: {solver: test-mass, %s}\n",
             file, keys);
    yk_scenario_def def = yk_scenario_default();
    def.path = PLUGIN_FOLDER "/scenario.yaml";
    def.text = text;
    def.forbid_external_code = forbid;
    return load_in(yk_context_create(NULL), &def);
}

static void expect(const char *file, const char *keys, const char *message)
{
    loading l = load(file, keys, false);
    assert_int_equal(l.status, YK_ERROR_INPUT);
    if (!strstr(l.text, message))
        fail_msg("%s: expected '%s', got\n%s", file, message, l.text);
    unload(&l);
}

/* A constant force F on a mass from rest: x = F t^2 / (2 m), which the steps hit exactly. */
static void test_good(void **state)
{
    (void)state;
    loading l = load("test_plugin_0.so", "mass: 2, force: 4, start: [1, 0.5]", false);
    if (l.status != YK_OK)
        fail_msg("%s", l.text);
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_int_equal(info->plugin_count, 1);
    assert_string_equal(info->plugins[0].name, "test plug-in 1.0");
    assert_string_equal(info->subsystem_solvers[0], "test-mass");

    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
    yk_port_value value;
    info->subsystems[0]->ops->get_port_value(info->subsystems[0], 0, &value);
    assert_true(value.motion.position.x == 1 + 0.5 + 0.5 * 2);
    assert_true(value.motion.velocity.x == 0.5 + 2);

    /* The reference of keys knows it. */
    char *reference = yk_scenario_schema_markdown(l.context, l.scenario);
    assert_non_null(strstr(reference, "`solver: test-mass`"));
    assert_non_null(strstr(reference, "A mass that a force moves."));
    yk_free(l.context, reference);
    unload(&l);
}

/* Every kind of option arrives, those that are not written with their defaults. */
static void test_options(void **state)
{
    (void)state;
    expect("test_plugin_8.so", "mass: 2", "2|" PLUGIN_FOLDER "/none.csv|plain|0,0|0|0|0|0|0");
    expect("test_plugin_8.so",
           "mass: 3, file: /a/b.csv, label: two words, start: [1, 2], extra: [4, 5, 6], "
           "force: 10*t, choice: second, heavy: true",
           "3|/a/b.csv|two words|1,2|3|5|20|1|1");
}

static void test_keys(void **state)
{
    (void)state;
    expect("test_plugin_0.so", "force: 1", "subsystems.a: 'mass' is missing");
    expect("test_plugin_0.so", "mass: 1e6", "subsystems.a.mass:");
    expect("test_plugin_0.so", "mass: 1, start: [1, 2, 3]", "subsystems.a.start:");
    expect("test_plugin_0.so", "mass: 1, choice: third", "Expected first or second");
    expect("test_plugin_0.so", "masse: 1", "Did you mean 'mass'?");
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        const char *message;
    } cases[] = {
        {"absent.so", "plugins[0]: cannot be loaded:"},
        {"cmake_install.cmake", "plugins[0]: cannot be loaded:"},
        {"test_plugin_empty.so", "is no plug-in of Yoke: it exports no function yoke_plugin"},
        {"test_plugin_1.so", "its yoke_plugin() returned NULL"},
        {"test_plugin_2.so", "was built for version 99 of the plug-in contract"},
        {"test_plugin_3.so", "(a table of 16 bytes)"},
        {"test_plugin_4.so", "a solver's table has 8 bytes"},
        {"test_plugin_5.so", "solver test-mass has no name, no text or no function create"},
        {"test_plugin_6.so", "there is a solver 'oscillator' already"},
        {"test_plugin_7.so", "solver test-mass: the row of 'file' needs"},
        {"test_plugin_9.so", "solver test-mass made no subsystem, and gave no reason"},
        {"test_plugin_10.so", "its subsystem has a table of 24 bytes"},
        {"[test_plugin_0.so, test_plugin_0.so]", "plugins[0]: expected a text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].file, "mass: 1", cases[i].message);
    expect("test_plugin_0.so, test_plugin_0.so", "mass: 1",
           "plugins[1]: there is a solver 'test-mass' already");

    loading l = load("test_plugin_0.so", "mass: 1", true);
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "plug-ins are forbidden here"));
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests_name("plugins", tests, NULL, NULL);
}
