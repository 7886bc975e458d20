/* Stability of the scheme index1 on the two-mass test model: figures 14 and 15 of its paper,
 * through the running code. */
#include "coupling/system_arrays.h"
#include "test.h"
#include "the_context.h"
#include "yoke/analysis.h"
#include "yoke/oscillator.h"

/* One mass with the eigenvalue real +- i imaginary over a step of 1 s; paper index1 (42) with the
 * sign corrected. */
static yk_oscillator_def mass_with(double mass, double real, double imaginary)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = mass;
    def.stiffness = mass * (real * real + imaginary * imaginary);
    def.damping = -2 * mass * real;
    def.integrator = YK_OSCILLATOR_EXACT;
    return def;
}

typedef struct ratios {
    double mass, real, imaginary;
} ratios;

static double radius_of(int degree, double real, double imaginary, const ratios *r)
{
    static const char *const names[2] = {"one", "two"};
    yk_subsystem *masses[2];
    yk_oscillator_def defs[2] = {mass_with(1, real, imaginary),
                                 mass_with(r->mass, real * r->real, imaginary * r->imaginary)};
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_oscillator_create(context, &defs[i], &masses[i]), YK_OK);
    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    yk_system_description def = {.subsystems = masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = 1};
    yk_index1_options options = yk_index1_options_default();
    options.polynomial_degree = degree;
    options.jacobian_update = YK_JACOBIAN_UPDATE_EVERY_STEP;
    options.tolerance = 0, options.relative_tolerance = 1e-12;
    def.scheme = (yk_scheme_def){yk_scheme_index1(), &options};
    yk_system *system;
    double radius = NAN;
    assert_int_equal(yk_system_make(context, &def, &system), YK_OK);
    yk_status status = yk_spectral_radius(context, system, true, &radius);
    if (status != YK_OK)
        print_error("%g %g: %s\n", real, imaginary, yk_last_message(context));
    assert_int_equal(status, YK_OK);
    yk_system_destroy(system);
    for (int i = 0; i < 2; i++)
        masses[i]->ops->destroy(masses[i]);
    return radius;
}

/* The cases of figures 14 and 15: symmetric; mass, damping and frequency ratio alone; all three. */
enum { SYMMETRIC, MASS, DAMPING, FREQUENCY, EVERYTHING, SETS };
static const ratios sets[SETS] = {
    {1, 1, 1}, {1e3, 1, 1}, {1, 1e3, 1}, {1, 1, 1e3}, {1e3, 1e3, 1e3}};

enum { POINTS = 16 };

/* Points that are not stable, on a grid over the left half-plane, or on its edge (no damping). */
static int unstable_points(int degree, double range, const ratios *r, bool edge)
{
    int count = 0;
    for (int i = 0; i < (edge ? 1 : POINTS); i++) {
        for (int j = 0; j < POINTS; j++) {
            double real = edge ? 0 : -range * (i + 1) / POINTS,
                   imaginary = range * (j + 0.5) / POINTS;
            count += !(radius_of(degree, real, imaginary, r) <= YK_SPECTRAL_RADIUS_LIMIT);
        }
    }
    return count;
}

static void cubic_wrenches_are_stable_on_the_grids_of_the_paper(void **state)
{
    (void)state;
    for (int i = 0; i < SETS; i++) {
        assert_int_equal(unstable_points(3, 10, &sets[i], false), 0);
        assert_int_equal(unstable_points(3, 1000, &sets[i], false), 0);
    }
}

/* Near the imaginary axis, and only where the frequencies differ. */
static void quadratic_wrenches_are_unstable_with_a_frequency_ratio(void **state)
{
    (void)state;
    for (int i = 0; i < SETS; i++) {
        bool off_axis = i == FREQUENCY, on_axis = i == FREQUENCY || i == EVERYTHING;
        assert_int_equal(unstable_points(2, 10, &sets[i], false) > 0, off_axis);
        for (int scale = 0; scale < 2; scale++)
            assert_int_equal(unstable_points(2, scale ? 1000 : 10, &sets[i], true) > 0, on_axis);
    }
}

/* Radii of the recurrence in 60 digits. The last is a tongue that the paper's grid misses:
 * without damping, a step of almost 126 periods of mass 1 is unstable with cubic wrenches too. */
static void radii_are_those_of_the_recurrence(void **state)
{
    (void)state;
    assert_relative(radius_of(2, 0, 125, &sets[FREQUENCY]), 2.481887, 1e-4);
    assert_relative(radius_of(2, 0, 375, &sets[EVERYTHING]), 1.0001032, 1e-6);
    assert_relative(radius_of(3, 0, 125, &sets[FREQUENCY]), 1.0, 1e-6);
    assert_relative(radius_of(3, 0, 1000 * 9.5 / 12, &sets[FREQUENCY]), 5.63167, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubic_wrenches_are_stable_on_the_grids_of_the_paper),
        cmocka_unit_test(quadratic_wrenches_are_unstable_with_a_frequency_ratio),
        cmocka_unit_test(radii_are_those_of_the_recurrence),
    };
    return cmocka_run_group_tests_name("stability of index1", tests, open_context, close_context);
}
