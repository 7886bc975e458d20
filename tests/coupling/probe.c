/* Properties of interfaces that probing finds: known masses, and an algebraic loop. */
#include "context.h"
#include "coupling/system_arrays.h"
#include "massless_damper.h"
#include "test.h"
#include "yoke/oscillator.h"

static const char *const names[] = {"left", "right"};
static const yk_interface_def joint = {
    .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};

static yk_system *join(yk_context *context, yk_subsystem *left, yk_subsystem *right,
                       const yk_scheme_ops *kind)
{
    yk_subsystem *const parts[] = {left, right};
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = 1e-4};
    def.scheme.ops = kind; /* which exchanges motions where nothing else is asked for */
    yk_system *system = NULL;
    assert_int_equal(yk_system_make(context, &def, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    return system;
}

static yk_subsystem *mass(yk_context *context, double kg, double stiffness,
                          yk_oscillator_integrator integrator)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = kg, def.stiffness = stiffness, def.integrator = integrator, def.velocity = 0.1;
    yk_subsystem *made = NULL;
    assert_int_equal(yk_oscillator_create(context, &def, &made), YK_OK);
    return made;
}

static void masses_are_those_of_the_sides(void **state)
{
    const yk_oscillator_integrator integrators[] = {
        YK_OSCILLATOR_TWO_STEP, YK_OSCILLATOR_SEMI_IMPLICIT, YK_OSCILLATOR_EXACT};
    for (int i = 0; i < 9; i++) {
        yk_subsystem *left = mass(*state, 0.5, 100, integrators[i / 3]),
                     *right = mass(*state, 3, 0, integrators[i % 3]);
        yk_system *system = join(*state, left, right, yk_scheme_explicit());
        for (int k = 0; k < 7; k++)
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
        yk_interface_masses probe;
        assert_int_equal(yk_system_probe_interfaces(system, 1e-4, &probe), YK_OK);
        assert_int_equal(probe.axis, 0);
        assert_relative(probe.wrench_mass, 0.5, 1e-3);
        assert_relative(probe.mass_ratio, 6.0, 1e-3);
        yk_system_destroy(system);
        left->ops->destroy(left), right->ops->destroy(right);
    }
}

/* The run continues as if nothing had been tried. */
static void probing_changes_nothing(void **state)
{
    double position[2];
    int64_t calls[2];
    for (int probed = 0; probed < 2; probed++) {
        yk_subsystem *left = mass(*state, 1, 5000, YK_OSCILLATOR_TWO_STEP),
                     *right = mass(*state, 1, 0, YK_OSCILLATOR_SEMI_IMPLICIT);
        yk_system *system = join(*state, left, right, yk_scheme_tight());
        yk_interface_masses probe;
        for (int k = 0; k < 20; k++) {
            if (probed)
                assert_int_equal(yk_system_probe_interfaces(system, 1e-4, &probe), YK_OK);
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
        }
        position[probed] =
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
        calls[probed] = yk_system_subsystem_statistics(system, (yk_subsystem_id){1}).calls;
        yk_system_destroy(system);
        left->ops->destroy(left), right->ops->destroy(right);
    }
    assert_memory_equal(&position[0], &position[1], sizeof position[0]);
    assert_int_equal(calls[0], calls[1]);
}

static void what_has_no_mass_is_lighter_in_shorter_steps(void **state)
{
    damper left = {.base = {&damper_ops}};
    yk_oscillator_def def = yk_oscillator_default();
    def.integrator = YK_OSCILLATOR_SEMI_IMPLICIT;
    yk_subsystem *right = NULL;
    assert_int_equal(yk_oscillator_create(*state, &def, &right), YK_OK);
    yk_system *system = join(*state, &left.base, right, yk_scheme_explicit());
    yk_interface_masses probe;
    assert_int_equal(yk_system_probe_interfaces(system, 1e-4, &probe), YK_OK);
    double longer = probe.mass_ratio;
    assert_int_equal(yk_system_probe_interfaces(system, 1e-5, &probe), YK_OK);
    assert_relative(probe.mass_ratio, 10 * longer, 1e-6); /* m / (c h), and two steps */
    assert_relative(longer, 1 * 0.1 / 2e-4, 1e-6);
    yk_system_destroy(system);
    right->ops->destroy(right);
}

static void what_cannot_be_tried_is_unknown(void **state)
{
    yk_subsystem *left = mass(*state, 1, 5000, YK_OSCILLATOR_TWO_STEP),
                 *right = mass(*state, 1, 0, YK_OSCILLATOR_TWO_STEP);
    yk_system *system = join(*state, left, right, yk_scheme_monolithic());
    yk_interface_masses probe = {.mass_ratio = NAN};
    assert_int_equal(yk_system_probe_interfaces(system, 1e-4, &probe), YK_OK);
    assert_true(isnan(probe.mass_ratio));
    yk_system_destroy(system);
    left->ops->destroy(left), right->ops->destroy(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_are_those_of_the_sides),
        cmocka_unit_test(probing_changes_nothing),
        cmocka_unit_test(what_has_no_mass_is_lighter_in_shorter_steps),
        cmocka_unit_test(what_cannot_be_tried_is_unknown),
    };
    return cmocka_run_group_tests_name("probe", tests, create_context, destroy_context);
}
