/* Small systems that the programs of this folder share, built only with the public headers. */
#ifndef YOKE_TESTS_API_H
#define YOKE_TESTS_API_H

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "yoke/yoke.h"

/* Both succeed, or the test fails with the message of the context. */
#define assert_ok(context, call) \
    yk_assert_status((context), (call), YK_OK, #call, __FILE__, __LINE__)
#define assert_refused(context, call, status) \
    yk_assert_status((context), (call), (status), #call, __FILE__, __LINE__)

static inline void yk_assert_status(yk_context *context, yk_status status, yk_status expected,
                                    const char *call, const char *file, int line)
{
    if (status == expected)
        return;
    print_error("%s returned '%s', expected '%s': %s\n", call, yk_status_text(status),
                yk_status_text(expected), yk_last_message(context));
    _fail(file, line);
}

/* A free rigid cube of the solver for nonsmooth mechanics, without gravity, with a port at its center. */
static inline yk_subsystem *yk_test_free_cube(yk_context *context, double mass)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.gravity = (yk_vec3){0, 0, 0};
    yk_nonsmooth_builder *builder = yk_nonsmooth_begin(context, &def);
    yk_nonsmooth_body_def cube =
        yk_nonsmooth_body_named("cube", mass, yk_inertia_box(mass, 1, 1, 1), (yk_vec3){0, 0, 0});
    yk_body_id body = yk_nonsmooth_add_body(builder, &cube);
    yk_nonsmooth_add_marker_port(builder, "center", body, yk_marker_default());
    return yk_nonsmooth_create_or_null(builder);
}

/* The same cube as a multibody system. */
static inline yk_subsystem *yk_test_free_body(yk_context *context, double mass)
{
    yk_multibody_def def = yk_multibody_default();
    def.gravity = (yk_vec3){0, 0, 0};
    yk_multibody_builder *builder = yk_multibody_begin(context, &def);
    yk_multibody_body_def cube =
        yk_multibody_body_named("cube", mass, yk_inertia_box(mass, 1, 1, 1), (yk_vec3){0, 0, 0});
    yk_body_id body = yk_multibody_add_body(builder, &cube);
    yk_multibody_add_marker_port(builder, "center", body, yk_marker_default());
    return yk_multibody_create_or_null(builder);
}

/* A mass on a spring, deflected at the start. */
static inline yk_subsystem *yk_test_oscillator(yk_context *context, double mass, double stiffness)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = mass;
    def.stiffness = stiffness;
    def.position = 0.1;
    yk_subsystem *made = NULL;
    yk_oscillator_create(context, &def, &made);
    return made;
}

static inline yk_system_builder *yk_test_begin(yk_context *context, double step,
                                               yk_scheme_def scheme)
{
    yk_system_def def = yk_system_default();
    def.macro_step = step;
    def.scheme = scheme;
    return yk_system_begin(context, &def);
}

/* Creates and initializes the system of a builder. */
static inline yk_system *yk_test_start(yk_context *context, yk_system_builder *builder)
{
    yk_system *system = NULL;
    assert_ok(context, yk_system_create(builder, &system));
    assert_ok(context, yk_system_initialize(system));
    return system;
}

#endif
