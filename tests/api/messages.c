/* Messages of subsystems that share a context, and warnings of programs that set no log. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "yoke/multibody.h"
#include "yoke/nonsmooth.h"
#include "yoke/system.h"

static yk_subsystem *rod(yk_context *context, const char *model, const char *port)
{
    yk_multibody_def def = yk_multibody_default();
    def.name = model;
    yk_multibody_builder *builder = yk_multibody_begin(context, &def);
    yk_multibody_body_def body =
        yk_multibody_body_named("rod", 2, yk_inertia_box(2, 1, 0.04, 0.04), (yk_vec3){0.5, 0, 0});
    yk_body_id id = yk_multibody_add_body(builder, &body);
    yk_multibody_add_marker_port(builder, port, id, yk_marker_default());
    return yk_multibody_create_or_null(builder);
}

static yk_subsystem *box(yk_context *context)
{
    yk_nonsmooth_builder *builder = yk_nonsmooth_begin(context, NULL);
    yk_nonsmooth_body_def body =
        yk_nonsmooth_body_named("box", 2, yk_inertia_box(2, 1, 1, 1), (yk_vec3){0, 0, 1});
    yk_body_id id = yk_nonsmooth_add_body(builder, &body);
    yk_nonsmooth_add_marker_port(builder, "lid", id, yk_marker_default());
    return yk_nonsmooth_create_or_null(builder);
}

/* A failure is reported with the name of one subsystem: the text must be its own, whichever failed
 * last. */
static void test_each_solver_keeps_its_own_message(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_subsystem *solvers[] = {rod(context, "first", "left"), rod(context, "second", "right"),
                               box(context)};
    const char *const named[] = {"first", "second", "no port 7"};
    enum { COUNT = sizeof solvers / sizeof *solvers };

    for (int i = 0; i < COUNT; i++) {
        const yk_subsystem_ops *ops = solvers[i]->ops;
        yk_status status =
            i < 2 ? ops->step(solvers[i], 0, 1e-3, NULL)
                  : ops->connect(solvers[i], 7, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL);
        assert_int_equal(status, YK_ERROR_ARGUMENT);
    }

    for (int i = 0; i < COUNT; i++) {
        const char *message = solvers[i]->ops->last_message(solvers[i]);
        if (!strstr(message, named[i]))
            fail_msg("solver %d says: %s", i, message);
        for (int k = 0; k < COUNT; k++)
            assert_true(k == i || !strstr(message, named[k]));
    }

    for (int i = 0; i < COUNT; i++)
        solvers[i]->ops->destroy(solvers[i]);
    yk_context_destroy(context);
}

/* Text that a function writes to stderr; valid until the next call. */
static const char *stderr_of(void (*function)(void))
{
    static char text[4096];
    char path[] = "/tmp/yoke-messages-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);

    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    function();
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);

    ssize_t length = pread(file, text, sizeof text - 1, 0);
    assert_true(length >= 0);
    text[length] = '\0';
    close(file);
    return text;
}

static yk_status redundant_status;

/* A rod that two coaxial pins hold: five equations twice. */
static void start_redundant_model(void)
{
    yk_context *context = yk_context_create(NULL);
    yk_multibody_builder *builder = yk_multibody_begin(context, NULL);
    yk_multibody_body_def body =
        yk_multibody_body_named("rod", 2, yk_inertia_box(2, 1, 0.04, 0.04), (yk_vec3){0.5, 0, 0});
    yk_body_id id = yk_multibody_add_body(builder, &body);
    for (int i = 0; i < 2; i++) {
        yk_marker axis = yk_marker_along((yk_vec3){0, 0.1 * i, 0}, (yk_vec3){0, 1, 0});
        yk_joint_def pin =
            yk_joint_at(i ? "second pin" : "pin", YK_JOINT_REVOLUTE, YK_GROUND, id, axis);
        yk_multibody_add_joint(builder, &pin);
    }

    yk_system_def def = yk_system_default();
    def.macro_step = 1e-3;
    yk_system_builder *whole = yk_system_begin(context, &def);
    yk_system_add_owned_subsystem(whole, "pendulum", yk_multibody_create_or_null(builder));
    yk_system *system = NULL;
    redundant_status = yk_system_create(whole, &system);
    if (redundant_status == YK_OK)
        redundant_status = yk_system_initialize(system);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

static void start_redundant_model_silently(void)
{
    yk_context_def def = yk_context_default();
    def.log = NULL;
    yk_context *context = yk_context_create(&def);
    yk_log(context, YK_LOG_WARNING, "this is dropped");
    yk_context_destroy(context);
}

/* Redundant joints do not change the motion: the start succeeds, and a warning names them. */
static void test_warnings_reach_stderr(void **state)
{
    (void)state;
    const char *text = stderr_of(start_redundant_model);
    assert_int_equal(redundant_status, YK_OK);
    assert_non_null(strstr(text, "warning"));
    assert_non_null(strstr(text, "pin"));
    assert_string_equal(stderr_of(start_redundant_model_silently), "");
}

/* Starts a system of subsystems that may be joined by one interface, with the default context. */
static void start_system(yk_context *context, yk_subsystem *parts[], int count,
                         const yk_interface_def *joined)
{
    yk_system_def def = yk_system_default();
    def.macro_step = 1e-3;
    yk_system_builder *whole = yk_system_begin(context, &def);
    for (int i = 0; i < count; i++)
        yk_system_add_owned_subsystem(whole, i ? "second" : "first", parts[i]);
    if (joined)
        yk_system_add_interface(whole, joined);

    yk_system *system = NULL;
    assert_int_equal(yk_system_create(whole, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    assert_int_equal(yk_system_step(system, NULL), YK_OK);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* A box whose lid is 0.2 m above the marker that moves it. */
static void start_open_interface(void)
{
    yk_context *context = yk_context_create(NULL);
    yk_multibody_builder *builder = yk_multibody_begin(context, NULL);
    yk_multibody_body_def body =
        yk_multibody_body_named("rod", 2, yk_inertia_box(2, 1, 0.04, 0.04), (yk_vec3){0, 0, 0.8});
    yk_body_id id = yk_multibody_add_body(builder, &body);
    yk_multibody_add_marker_port(builder, "end", id, yk_marker_default());

    yk_subsystem *parts[] = {yk_multibody_create_or_null(builder), box(context)};
    yk_interface_def joined = yk_interface_between("grip", (yk_subsystem_id){0}, (yk_port_id){0},
                                                   (yk_subsystem_id){1}, (yk_port_id){0});
    start_system(context, parts, 2, &joined);
}

/* 64 spheres of radius 0.1 m in a box of 0.04 m3: 6.7 times its volume. */
static void start_overfull_box(void)
{
    yk_context *context = yk_context_create(NULL);
    yk_nonsmooth_builder *builder = yk_nonsmooth_begin(context, NULL);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.name = "container";
    body.fixed = true;
    yk_body_id id = yk_nonsmooth_add_body(builder, &body);
    yk_particles_def particles = yk_particles_in_box(64, 0.1, (yk_vec3){0.2, 0.2, 0.125});
    yk_nonsmooth_add_particles_in_body(builder, id, &particles);

    yk_subsystem *parts[] = {yk_nonsmooth_create_or_null(builder)};
    start_system(context, parts, 1, NULL);
}

/* Programs that set no log learn of starts that the first steps tear apart. */
static void test_warnings_of_bad_starts_reach_stderr(void **state)
{
    (void)state;
    const char *text = stderr_of(start_open_interface);
    assert_non_null(strstr(text, "warning: interface 'grip': its two sides start 0.2 m and 0 rad"));

    text = stderr_of(start_overfull_box);
    assert_non_null(
        strstr(text, "warning: a particle and container overlap by 13.2 m at the start"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_solver_keeps_its_own_message),
        cmocka_unit_test(test_warnings_reach_stderr),
        cmocka_unit_test(test_warnings_of_bad_starts_reach_stderr),
    };
    return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}
