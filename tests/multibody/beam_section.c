/* Properties of beam sections against handbook values. */
#include "math/vec3.h"
#include "yoke/multibody.h"

#include "test.h"

static void rectangle_has_handbook_values(void **unused)
{
    (void)unused;
    yk_beam_section_def def = yk_beam_section_default();
    yk_beam_section_set_rectangle(&def, 2, 2);
    assert_near(def.torsion_constant / 16, 0.140577014955154,
                1e-11); /* Timoshenko and Goodier: 0.1406 */
    yk_beam_section_set_rectangle(&def, 2, 4);
    assert_near(def.torsion_constant / (4 * 8), 0.2286816771196, 1e-12); /* 0.229 */
    assert_near(def.area, 8, 1e-14);
    assert_near(def.area_moment_z, 4.0 * 8 / 12, 1e-14);
    assert_near(def.area_moment_y, 2.0 * 64 / 12, 1e-14);
    yk_beam_section_set_rectangle(&def, 1000, 1);
    assert_relative(def.torsion_constant, 1000.0 / 3 * (1 - 0.630249e-3), 1e-8); /* thin strip */
}

static void tube_has_handbook_values(void **unused)
{
    (void)unused;
    yk_beam_section_def def = yk_beam_section_default();
    def.poisson_ratio = 0.29;
    yk_beam_section_set_tube(&def, 1, 0);
    assert_near(def.area, YK_PI, 1e-14);
    assert_near(def.area_moment_y, YK_PI / 4, 1e-14);
    assert_near(def.torsion_constant, YK_PI / 2, 1e-14);
    assert_near(def.shear_factor_y, 0.885584, 1e-6); /* Cowper: 6 (1 + nu) / (7 + 6 nu) */
    def.poisson_ratio = 0.3;
    yk_beam_section_set_tube(&def, 1, 0.999999);
    assert_near(def.shear_factor_y, 0.5306, 1e-4); /* thin-walled: 2 (1 + nu) / (4 + 3 nu) */
}

static void stiffness_and_mass_of_steel(void **unused)
{
    (void)unused;
    yk_beam_section_def def = {
        .young_modulus = 2e11, .poisson_ratio = 0.25, .density = 8000, .rayleigh_beta = 1e-3};
    yk_beam_section_set_rectangle(&def, 0.01, 0.03);
    yk_beam_section section = yk_beam_section_from_def(&def);
    assert_relative(section.stiffness[0][0], 6e7, 1e-12);
    assert_relative(section.stiffness[1][1], 8e10 * 3e-4 * 5 / 6, 1e-12);
    assert_relative(section.stiffness[5][5], 2e11 * 0.03 * 1e-6 / 12, 1e-12);
    assert_relative(section.damping[5][5], 2e8 * 0.03 * 1e-6 / 12, 1e-12);
    assert_relative(section.mass, 2.4, 1e-12);
    assert_relative(section.inertia.m[0][0], 2.4 * (1e-4 + 9e-4) / 12, 1e-12);
    assert_relative(section.inertia.m[1][1], 2.4 * 9e-4 / 12, 1e-12);
    assert_near(section.stiffness[1][5], 0, 0);
}

/* With an eccentric reference line, extension bends; after a quarter turn y and z are exchanged. */
static void moved_section(void **unused)
{
    (void)unused;
    yk_beam_section_def def = yk_beam_section_default();
    yk_beam_section_set_rectangle(&def, 0.01, 0.03);
    yk_beam_section centred = yk_beam_section_from_def(&def);
    yk_beam_section beside = yk_beam_section_transformed(&centred, 0, 0.2, 0);
    double ea = centred.stiffness[0][0];
    /* Curvature about z shortens what lies on the side of y: the old line, at y = -0.2, is
     * stretched. */
    assert_relative(beside.stiffness[0][5], 0.2 * ea, 1e-12);
    assert_relative(beside.stiffness[5][0], 0.2 * ea, 1e-12);
    assert_relative(beside.stiffness[5][5], centred.stiffness[5][5] + 0.04 * ea, 1e-12);
    assert_near(beside.center_of_mass.y, -0.2, 1e-15);
    yk_beam_section rotated = yk_beam_section_transformed(&centred, YK_PI / 2, 0, 0);
    assert_relative(rotated.stiffness[4][4], centred.stiffness[5][5], 1e-12);
    assert_relative(rotated.stiffness[5][5], centred.stiffness[4][4], 1e-12);
    assert_relative(rotated.inertia.m[1][1], centred.inertia.m[2][2], 1e-12);
    yk_beam_section back = yk_beam_section_transformed(&beside, 0, -0.2, 0);
    for (int i = 0; i < 36; i++)
        assert_near((&back.stiffness[0][0])[i], (&centred.stiffness[0][0])[i], 1e-12 * ea);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangle_has_handbook_values),
        cmocka_unit_test(tube_has_handbook_values),
        cmocka_unit_test(stiffness_and_mass_of_steel),
        cmocka_unit_test(moved_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
