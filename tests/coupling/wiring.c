/* Mistakes in the connections are found when the system is created, and each message names what to
 * change. */
#include <string.h>

#include "coupling/system_arrays.h"
#include "test.h"
#include "yoke/oscillator.h"

static yk_context *context;
static yk_subsystem *masses[3];
static const char *const names[] = {"left", "right", "far"};

static void expect_refusal(const yk_system_description *def, yk_status expected, const char *words)
{
    yk_system *system = NULL;
    assert_int_equal(yk_system_make(context, def, &system), expected);
    assert_null(system);
    if (!strstr(yk_last_message(context), words))
        print_error("message: %s\n", yk_last_message(context));
    assert_non_null(strstr(yk_last_message(context), words));
}

static yk_system_description def_with(const yk_interface_def *interfaces, int count)
{
    return (yk_system_description){.subsystems = masses,
                                   .names = names,
                                   .subsystem_count = 3,
                                   .interfaces = interfaces,
                                   .interface_count = count,
                                   .step = 1e-3};
}

static void interfaces_must_name_ports_that_exist(void **state)
{
    (void)state;
    yk_interface_def wrong = {
        .name = "joint", .motion_subsystem = {7}, .constrained_axes = YK_AXIS_X};
    yk_system_description def = def_with(&wrong, 1);
    expect_refusal(&def, YK_ERROR_ARGUMENT, "interface 'joint': there is no subsystem 7");
    wrong.motion_subsystem = (yk_subsystem_id){1}, wrong.motion_port = (yk_port_id){3};
    expect_refusal(&def, YK_ERROR_ARGUMENT, "subsystem 'right' has no port 3");
    wrong.motion_subsystem = (yk_subsystem_id){0}, wrong.motion_port = (yk_port_id){0};
    expect_refusal(&def, YK_ERROR_ARGUMENT, "joins subsystem 'left' with itself");
}

static void a_port_is_joined_once(void **state)
{
    (void)state;
    yk_interface_def twice[2] = {{.name = "one", .wrench_subsystem = {0}, .motion_subsystem = {1}},
                                 {.name = "two", .wrench_subsystem = {2}, .motion_subsystem = {1}}};
    yk_system_description def = def_with(twice, 2);
    expect_refusal(&def, YK_ERROR_ARGUMENT,
                   "interfaces 'one' and 'two' both use port 'mass' of subsystem 'right'");
}

static void steps_and_schemes_have_limits(void **state)
{
    (void)state;
    yk_interface_def joint = {.name = "joint", .wrench_subsystem = {0}, .motion_subsystem = {1}};
    yk_system_description def = def_with(&joint, 1);
    def.step = 0;
    expect_refusal(&def, YK_ERROR_ARGUMENT, "macro step is 0 s");
    def.step = 1e-3;
    yk_explicit_options weighted = yk_explicit_options_default();
    weighted.modified_inputs = YK_MODIFIED_INPUTS_WEIGHTED;
    def.scheme = (yk_scheme_def){yk_scheme_explicit(), &weighted};
    expect_refusal(&def, YK_ERROR_ARGUMENT, "one must be greater than 0");
    weighted.alpha = -1, weighted.beta = 2, weighted.gamma = 1;
    expect_refusal(&def, YK_ERROR_ARGUMENT, "must not be negative");
    yk_tight_options tight = yk_tight_options_default();
    tight.max_iterations = -3;
    def.scheme = (yk_scheme_def){yk_scheme_tight(), &tight};
    expect_refusal(&def, YK_ERROR_ARGUMENT,
                   "scheme tight: the option 'max_iterations' is -3, must be 0 or more");
    tight = yk_tight_options_default(), tight.max_halvings = 21;
    expect_refusal(&def, YK_ERROR_ARGUMENT,
                   "the option 'max_halvings' is 21, must be between 0 and 20");
    def.subsystem_count = 0;
    expect_refusal(&def, YK_ERROR_ARGUMENT, "at least one subsystem");
}

/* A subsystem without rollback: the oscillator's table less the state operations. */
/* One subsystem, or several without a connection, run under every scheme. */
static void without_interfaces_all_schemes_run(void **state)
{
    (void)state;
    for (int i = 0; yk_scheme_at(i); i++) {
        yk_system_description def = def_with(NULL, 0);
        def.scheme.ops = yk_scheme_at(i);
        yk_system *system;
        assert_int_equal(yk_system_make(context, &def, &system), YK_OK);
        assert_int_equal(yk_system_initialize(system), YK_OK);
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
        yk_system_destroy(system);
    }
}

static void schemes_say_what_a_subsystem_lacks(void **state)
{
    (void)state;
    yk_subsystem_ops poor = *masses[0]->ops;
    poor.rollback = NULL, poor.merge = NULL, poor.kind = "recorded tape";
    const yk_subsystem_ops *rich = masses[1]->ops;
    yk_interface_def joint = {.name = "joint", .wrench_subsystem = {0}, .motion_subsystem = {1}};
    yk_system_description def = def_with(&joint, 1);
    def.scheme.ops = yk_scheme_tight();
    masses[1]->ops = &poor;
    expect_refusal(&def, YK_ERROR_CAPABILITY,
                   "scheme tight repeats steps, but subsystem 'right' (recorded tape) cannot");
    def.scheme.ops = yk_scheme_explicit();
    def.control.relative_tolerance = 1e-3;
    expect_refusal(&def, YK_ERROR_CAPABILITY,
                   "scheme explicit with step control repeats steps whose error is too large, but "
                   "subsystem 'right'");
    def.control.relative_tolerance = 0;
    def.scheme.ops = yk_scheme_monolithic();
    expect_refusal(&def, YK_ERROR_CAPABILITY,
                   "kinds cannot be merged to one: model both in one solver; the schemes tight and "
                   "index1 keep subsystems apart");
    const yk_rollback_ops half = {
        .size = sizeof half, .layout = rich->rollback->layout, .get = rich->rollback->get};
    poor.rollback = &half;
    def.scheme.ops = yk_scheme_explicit();
    expect_refusal(&def, YK_ERROR_CAPABILITY, "has the capability rollback only in part");
    poor.rollback = NULL;
    poor.step = NULL;
    expect_refusal(&def, YK_ERROR_CAPABILITY, "lacks a required operation");
    poor.size = 8;
    expect_refusal(&def, YK_ERROR_CAPABILITY, "another version of the contract");
    masses[1]->ops = rich;
}

static void stay_at_rest(void *user, double t, double value[3])
{
    (void)user;
    (void)t;
    value[0] = value[1] = value[2] = 0;
}

/* A kind that refuses to merge names its reason, and the coupling the schemes that help. */
static void a_refused_merge_is_answered_with_other_schemes(void **state)
{
    (void)state;
    const yk_relative_motion drive[6] = {{.evaluate = stay_at_rest}};
    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    joint.drive = drive;
    yk_system_description def = def_with(&joint, 1);
    def.scheme.ops = yk_scheme_monolithic();
    expect_refusal(&def, YK_ERROR_CAPABILITY,
                   "scheme monolithic: oscillators with a prescribed relative motion cannot be "
                   "merged to one mass; the schemes tight and index1 keep subsystems apart");
}

static int create_masses(void **state)
{
    (void)state;
    context = yk_context_create(NULL);
    yk_oscillator_def def = yk_oscillator_default();
    for (int i = 0; i < 3; i++)
        if (yk_oscillator_create(context, &def, &masses[i]) != YK_OK)
            return -1;
    return 0;
}

static int destroy_masses(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        masses[i]->ops->destroy(masses[i]);
    yk_context_destroy(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interfaces_must_name_ports_that_exist),
        cmocka_unit_test(a_port_is_joined_once),
        cmocka_unit_test(steps_and_schemes_have_limits),
        cmocka_unit_test(without_interfaces_all_schemes_run),
        cmocka_unit_test(schemes_say_what_a_subsystem_lacks),
        cmocka_unit_test(a_refused_merge_is_answered_with_other_schemes),
    };
    return cmocka_run_group_tests_name("wiring", tests, create_masses, destroy_masses);
}
