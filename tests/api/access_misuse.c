/* Wrong uses of yoke/access.h: every function with NULL, with ids out of range and before the start. Each returns what its
 * header says, and reports the argument if there is a system to report to. */
#include "api.h"

typedef struct misuse {
    const char *name;
    /* Whether the function returned what its header says. */
    bool (*use)(yk_system *system);
    const char *named; /* must be part of the message; NULL: none is expected */
} misuse;

static const yk_channel_id CHANNEL = {0};
static const yk_wrench PUSH = {{1, 0, 0}, {0, 0, 0}};
static double numbers[64];
static yk_body_state states[4];
static yk_contact_point points[4];
static yk_snapshot *snapshot;

#define USE(name, condition)            \
    static bool name(yk_system *system) \
    {                                   \
        (void)system;                   \
        return (condition);             \
    }

#define REFUSED(name, call) USE(name, (call) == YK_ERROR_ARGUMENT)

/* Without a system. */
USE(count_channels_of_null, yk_system_channel_count(NULL) == 0)
USE(channel_of_null, yk_system_channel_at(NULL, CHANNEL).name[0] == '\0')
USE(find_channel_of_null, !yk_channel_is_valid(yk_system_find_channel(NULL, "a")))
REFUSED(read_channels_of_null, yk_system_read_channels(NULL, &CHANNEL, 1, numbers))
USE(count_bodies_of_null, yk_system_body_count(NULL, (yk_subsystem_id){0}) == 0)
USE(body_name_of_null, !yk_system_body_name(NULL, (yk_subsystem_id){0}, (yk_body_id){0}))
USE(find_body_of_null, !yk_body_is_valid(yk_system_find_body(NULL, (yk_subsystem_id){0}, "a")))
REFUSED(read_bodies_of_null,
        yk_system_read_bodies(NULL, (yk_subsystem_id){0}, (yk_body_id){0}, 1, states))
REFUSED(set_bodies_of_null,
        yk_system_set_bodies(NULL, (yk_subsystem_id){0}, (yk_body_id){0}, 1, states))
REFUSED(push_body_of_null,
        yk_system_apply_body_wrench(NULL, (yk_subsystem_id){0}, (yk_body_id){0}, PUSH, NULL))
USE(contacts_of_null, yk_system_read_contacts(NULL, (yk_subsystem_id){0}, points, 4) == 0)
USE(count_inputs_of_null, yk_system_input_count(NULL) == 0)
USE(find_input_of_null, !yk_input_is_valid(yk_system_find_input(NULL, "a")))
REFUSED(set_input_of_null, yk_system_set_input(NULL, (yk_input_id){0}, 1))
USE(input_of_null, isnan(yk_system_input_value(NULL, (yk_input_id){0})))
USE(count_parameters_of_null, yk_system_parameter_count(NULL, (yk_subsystem_id){0}) == 0)
USE(parameter_of_null, !yk_system_parameter_at(NULL, (yk_subsystem_id){0}, (yk_parameter_id){0}))
USE(find_parameter_of_null,
    !yk_parameter_is_valid(yk_system_find_parameter(NULL, (yk_subsystem_id){0}, "a")))
USE(parameter_value_of_null,
    isnan(yk_system_parameter_value(NULL, (yk_subsystem_id){0}, (yk_parameter_id){0})))
REFUSED(set_parameter_of_null,
        yk_system_set_parameter(NULL, (yk_subsystem_id){0}, (yk_parameter_id){0}, 1))
USE(callbacks_of_null,
    (yk_system_set_before_step(NULL, NULL, NULL), yk_system_set_after_step(NULL, NULL, NULL), true))
REFUSED(run_null, yk_system_run_until(NULL, 1))
REFUSED(snapshot_of_null, yk_snapshot_create(NULL, &snapshot))
REFUSED(save_null, yk_snapshot_save(NULL, NULL))
REFUSED(restore_null, yk_snapshot_restore(NULL, NULL))
REFUSED(clone_null, yk_snapshot_clone(NULL, &snapshot))
USE(data_of_null, !yk_snapshot_data(NULL, NULL))
REFUSED(snapshot_of_no_data, yk_snapshot_from_data(NULL, NULL, 0, &snapshot))
USE(destroy_null, (yk_snapshot_destroy(NULL), yk_subsystem_destroy(NULL), true))

/* Before the start. */
REFUSED(read_channels_early, yk_system_read_channels(system, &CHANNEL, 1, numbers))
USE(count_bodies_early, yk_system_body_count(system, (yk_subsystem_id){0}) == 0)
REFUSED(read_bodies_early,
        yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, states))
REFUSED(set_bodies_early,
        yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, states))
REFUSED(push_body_early,
        yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0}, PUSH, NULL))
USE(contacts_early, yk_system_read_contacts(system, (yk_subsystem_id){0}, points, 4) == 0)
REFUSED(run_early, yk_system_run_until(system, 1))
REFUSED(snapshot_early, yk_snapshot_create(system, &snapshot))

/* With wrong arguments. */
USE(channel_of_no_id, yk_system_channel_at(system, YK_NULL_CHANNEL).name[0] == '\0')
USE(channel_too_large, yk_system_channel_at(system, (yk_channel_id){9999}).component_count == 0)
USE(find_channel_without_name, !yk_channel_is_valid(yk_system_find_channel(system, NULL)))
USE(find_no_channel, !yk_channel_is_valid(yk_system_find_channel(system, "nowhere.at.all")))
REFUSED(read_no_channel, yk_system_read_channels(system, &(yk_channel_id){9999}, 1, numbers))
REFUSED(read_null_channel, yk_system_read_channels(system, &YK_NULL_CHANNEL, 1, numbers))
REFUSED(read_without_channels, yk_system_read_channels(system, NULL, 1, numbers))
REFUSED(read_without_values, yk_system_read_channels(system, &CHANNEL, 1, NULL))
REFUSED(read_less_than_none, yk_system_read_channels(system, &CHANNEL, -1, numbers))
USE(bodies_of_no_subsystem, yk_system_body_count(system, (yk_subsystem_id){7}) == 0)
USE(name_of_no_body, !yk_system_body_name(system, (yk_subsystem_id){0}, (yk_body_id){99}))
USE(find_body_without_name,
    !yk_body_is_valid(yk_system_find_body(system, (yk_subsystem_id){0}, NULL)))
REFUSED(read_no_body,
        yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){99}, 1, states))
REFUSED(read_too_many_bodies,
        yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 2147483647, states))
REFUSED(read_bodies_nowhere,
        yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, NULL))
REFUSED(read_bodies_of_no_subsystem,
        yk_system_read_bodies(system, YK_NULL_SUBSYSTEM, (yk_body_id){0}, 1, states))
REFUSED(set_no_body,
        yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){99}, 1, states))
REFUSED(set_bodies_from_nowhere,
        yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, NULL))
REFUSED(set_bodies_to_zero,
        yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, states))
USE(read_bodies_of_oscillator, yk_system_read_bodies(system, (yk_subsystem_id){1}, (yk_body_id){0},
                                                     1, states) == YK_ERROR_CAPABILITY)
REFUSED(push_no_body,
        yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){99}, PUSH, NULL))
REFUSED(push_with_nan, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                   (yk_wrench){{NAN, 0, 0}, {0, 0, 0}}, NULL))
REFUSED(push_at_nan, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                 PUSH, &(yk_vec3){0, NAN, 0}))
USE(contacts_of_no_subsystem, yk_system_read_contacts(system, (yk_subsystem_id){9}, points, 4) == 0)
USE(contacts_nowhere, yk_system_read_contacts(system, (yk_subsystem_id){0}, NULL, 4) == 0)
USE(fewer_contacts_than_none,
    yk_system_read_contacts(system, (yk_subsystem_id){0}, points, -1) == 0)
USE(find_input_without_name, !yk_input_is_valid(yk_system_find_input(system, NULL)))
REFUSED(set_no_input, yk_system_set_input(system, (yk_input_id){3}, 1))
REFUSED(set_input_below, yk_system_set_input(system, YK_NULL_INPUT, 1))
REFUSED(set_input_to_infinity, yk_system_set_input(system, (yk_input_id){0}, INFINITY))
USE(no_input, isnan(yk_system_input_value(system, (yk_input_id){3})))
USE(parameters_of_no_subsystem, yk_system_parameter_count(system, (yk_subsystem_id){5}) == 0)
USE(no_parameter, !yk_system_parameter_at(system, (yk_subsystem_id){1}, (yk_parameter_id){99}) &&
                      !yk_system_parameter_at(system, (yk_subsystem_id){1}, YK_NULL_PARAMETER))
USE(find_parameter_without_name,
    !yk_parameter_is_valid(yk_system_find_parameter(system, (yk_subsystem_id){1}, NULL)))
USE(value_of_no_parameter,
    isnan(yk_system_parameter_value(system, (yk_subsystem_id){1}, (yk_parameter_id){99})))
REFUSED(set_parameter_of_no_subsystem,
        yk_system_set_parameter(system, (yk_subsystem_id){5}, (yk_parameter_id){0}, 1))
REFUSED(set_no_parameter,
        yk_system_set_parameter(system, (yk_subsystem_id){1}, (yk_parameter_id){99}, 1))
REFUSED(set_parameter_to_nan,
        yk_system_set_parameter(system, (yk_subsystem_id){1}, (yk_parameter_id){0}, NAN))
REFUSED(run_to_nowhere, yk_system_run_until(system, NAN))
REFUSED(snapshot_to_nowhere, yk_snapshot_create(system, NULL))
REFUSED(save_nothing, yk_snapshot_save(NULL, system))
REFUSED(restore_nothing, yk_snapshot_restore(NULL, system))

#define ROW(name, named)   \
    {                      \
#name, name, named \
    }

static const misuse without_system[] = {
    ROW(count_channels_of_null, NULL),
    ROW(channel_of_null, NULL),
    ROW(find_channel_of_null, NULL),
    ROW(read_channels_of_null, NULL),
    ROW(count_bodies_of_null, NULL),
    ROW(body_name_of_null, NULL),
    ROW(find_body_of_null, NULL),
    ROW(read_bodies_of_null, NULL),
    ROW(set_bodies_of_null, NULL),
    ROW(push_body_of_null, NULL),
    ROW(contacts_of_null, NULL),
    ROW(count_inputs_of_null, NULL),
    ROW(find_input_of_null, NULL),
    ROW(set_input_of_null, NULL),
    ROW(input_of_null, NULL),
    ROW(count_parameters_of_null, NULL),
    ROW(parameter_of_null, NULL),
    ROW(find_parameter_of_null, NULL),
    ROW(parameter_value_of_null, NULL),
    ROW(set_parameter_of_null, NULL),
    ROW(callbacks_of_null, NULL),
    ROW(run_null, NULL),
    ROW(snapshot_of_null, NULL),
    ROW(save_null, NULL),
    ROW(restore_null, NULL),
    ROW(clone_null, NULL),
    ROW(data_of_null, NULL),
    ROW(snapshot_of_no_data, NULL),
    ROW(destroy_null, NULL),
};

static const misuse before_start[] = {
    ROW(read_channels_early, "initialize"), ROW(count_bodies_early, "initialize"),
    ROW(read_bodies_early, "initialize"),   ROW(set_bodies_early, "initialize"),
    ROW(push_body_early, "initialize"),     ROW(contacts_early, "initialize"),
    ROW(run_early, "initialize"),           ROW(snapshot_early, "initialize"),
};

static const misuse with_wrong_arguments[] = {
    ROW(channel_of_no_id, "null"),
    ROW(channel_too_large, "channel 9999"),
    ROW(find_channel_without_name, "name"),
    ROW(find_no_channel, "'nowhere.at.all'"),
    ROW(read_no_channel, "channel 9999"),
    ROW(read_null_channel, "null"),
    ROW(read_without_channels, "array"),
    ROW(read_without_values, "array"),
    ROW(read_less_than_none, "-1 channels"),
    ROW(bodies_of_no_subsystem, "subsystem 7"),
    ROW(name_of_no_body, "99"),
    ROW(find_body_without_name, "name"),
    ROW(read_no_body, "99"),
    ROW(read_too_many_bodies, "2147483646"),
    ROW(read_bodies_nowhere, "array"),
    ROW(read_bodies_of_no_subsystem, "subsystem is null"),
    ROW(set_no_body, "99"),
    ROW(set_bodies_from_nowhere, "array"),
    ROW(set_bodies_to_zero, "quaternion"),
    ROW(read_bodies_of_oscillator, "oscillator"),
    ROW(push_no_body, "99"),
    ROW(push_with_nan, "finite"),
    ROW(push_at_nan, "finite"),
    ROW(contacts_of_no_subsystem, "subsystem 9"),
    ROW(contacts_nowhere, "array"),
    ROW(fewer_contacts_than_none, "array"),
    ROW(find_input_without_name, "name"),
    ROW(set_no_input, "input 3"),
    ROW(set_input_below, "input is null"),
    ROW(set_input_to_infinity, "'command'"),
    ROW(no_input, "input 3"),
    ROW(parameters_of_no_subsystem, "subsystem 5"),
    ROW(no_parameter, "parameter is null"),
    ROW(find_parameter_without_name, "name"),
    ROW(value_of_no_parameter, "parameter 99"),
    ROW(set_parameter_of_no_subsystem, "subsystem 5"),
    ROW(set_no_parameter, "parameter 99"),
    ROW(set_parameter_to_nan, "'stiffness'"),
    ROW(run_to_nowhere, "finite"),
    ROW(snapshot_to_nowhere, "snapshot"),
    ROW(save_nothing, "snapshot"),
    ROW(restore_nothing, "snapshot"),
};

/* A cube with a force that an input loads, and an oscillator. */
static yk_system *make_system(yk_context *context)
{
    yk_nonsmooth_builder *model = yk_nonsmooth_begin(context, NULL);
    yk_nonsmooth_body_def cube =
        yk_nonsmooth_body_named("cube", 2, yk_inertia_box(2, 1, 1, 1), (yk_vec3){0, 0, 0});
    yk_force_def force = yk_force_default();
    yk_port_def signal = yk_port_signal("force");
    force.name = "drive";
    force.kind = YK_FORCE_FORCE;
    force.bodies[1] = yk_nonsmooth_add_body(model, &cube);
    force.vector = (yk_vec3){1, 0, 0};
    force.signal_port = yk_nonsmooth_add_port(model, &signal);
    yk_nonsmooth_add_force(model, &force);
    yk_system_builder *builder = yk_test_begin(context, 1e-3, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "cube", yk_nonsmooth_create_or_null(model));
    yk_system_add_owned_subsystem(builder, "mass", yk_test_oscillator(context, 1, 100));
    yk_system_add_input(builder, "command", (yk_subsystem_id){0}, (yk_port_id){0}, 0);
    yk_system *system = NULL;
    assert_ok(context, yk_system_create(builder, &system));
    return system;
}

static void use_wrongly(yk_context *context, yk_system *system, const misuse *rows, size_t count)
{
    int failures = 0;
    for (size_t i = 0; i < count; i++) {
        if (context)
            yk_fail(context, YK_OK, "no message");
        bool expected = rows[i].use(system);
        const char *message = context ? yk_last_message(context) : "";
        if (expected && (!rows[i].named || strstr(message, rows[i].named)))
            continue;
        print_error("%s: %s; message: %s\n", rows[i].name,
                    expected ? "the message does not name the argument" : "wrong result", message);
        failures++;
    }
    assert_int_equal(failures, 0);
}

static void test_no_system(void **state)
{
    (void)state;
    use_wrongly(NULL, NULL, without_system, sizeof without_system / sizeof *without_system);
}

static void test_before_start(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system *system = make_system(context);
    use_wrongly(context, system, before_start, sizeof before_start / sizeof *before_start);

    /* Channels, inputs and parameters are known before the start. */
    assert_true(yk_system_channel_count(system) > 0);
    assert_true(yk_system_input_value(system, (yk_input_id){0}) == 0);
    assert_true(yk_system_parameter_value(system, (yk_subsystem_id){1}, (yk_parameter_id){0}) ==
                100);
    assert_ok(context, yk_system_set_input(system, (yk_input_id){0}, 8));
    assert_ok(context,
              yk_system_set_parameter(system, (yk_subsystem_id){1}, (yk_parameter_id){0}, 50));
    assert_ok(context, yk_system_initialize(system));
    assert_true(yk_system_input_value(system, (yk_input_id){0}) == 8);
    assert_true(yk_system_parameter_value(system, (yk_subsystem_id){1}, (yk_parameter_id){0}) ==
                50);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

static void test_wrong_arguments(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system *system = make_system(context);
    assert_ok(context, yk_system_initialize(system));
    use_wrongly(context, system, with_wrong_arguments,
                sizeof with_wrong_arguments / sizeof *with_wrong_arguments);
    assert_false(YK_FAILED(yk_system_step(system, NULL)));
    yk_system_destroy(system);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_system),
        cmocka_unit_test(test_before_start),
        cmocka_unit_test(test_wrong_arguments),
    };
    return cmocka_run_group_tests_name("access_misuse", tests, NULL, NULL);
}
