/* Particles of any shape: mass, inertia, size distributions, files, and the generation of initial
 * packings. */
#include "nonsmooth/packing.h"
#include "packing_file.h"
#include "scene.h"

#include <stdio.h>
#include <string.h>

#include "math/so3.h"

static yk_context *context_of_test(void)
{
    yk_context *context = yk_context_create(NULL);
    assert_non_null(context);
    return context;
}

/* Mass and inertia ----------------------------------------------------------------------------- */

/* Two spheres of radius 1 at a distance of 1, about their axis and across it: discs of radius
 * rho(x), by Simpson's rule over half of the axis. */
static void integrate_pair(double *volume, double *along, double *across)
{
    enum { PIECES = 20000 };
    *volume = *along = *across = 0;
    for (int i = 0; i <= PIECES; i++) {
        double x = 1.5 * i / PIECES;
        double rho2 = fmax(0, 1 - (x - 0.5) * (x - 0.5));
        double weight = (i % 2 ? 4 : 2) * 1.5 / PIECES / 3;
        if (i == 0 || i == PIECES)
            weight /= 2;

        double area = YK_PI * rho2;
        *volume += 2 * weight * area;
        *along += 2 * weight * area * rho2 / 2;
        *across += 2 * weight * area * (rho2 / 4 + x * x);
    }
}

static void test_overlap_of_clumps_counts_once(void **state)
{
    (void)state;
    yk_context *context = context_of_test();
    double volume, along, across;
    integrate_pair(&volume, &along, &across);
    const double lens = YK_PI * (4 + 1) * (2 - 1) * (2 - 1) / 12.0;
    assert_near(volume, 8.0 / 3.0 * YK_PI - lens, 1e-9);

    /* In several directions, off the origin: columns must not be seen in the result. */
    const yk_vec3 axes[] = {{1, 0, 0}, {0, 0, 1}, {0.6, 0, 0.8}, {0.48, 0.64, 0.6}};
    for (int i = 0; i < 4; i++) {
        yk_vec3 from = {3, -2, 5}, points[2] = {from, yk_v3_add(from, axes[i])};
        double radii[2] = {1, 1};
        yk_particle_shape shape = {.points = points, .point_count = 2, .radii = radii};
        yk_particle clump;
        assert_int_equal(yk_particle_make(context, &shape, &clump), YK_OK);

        /* Radius of a sphere of equal volume, and inertia about the centre of mass. */
        double radius = cbrt(volume / (4.0 / 3.0 * YK_PI));
        assert_near(clump.radius, radius, 1e-5);
        yk_vec3 middle = yk_v3_add(clump.parts[0].position, clump.parts[1].position);
        assert_near(yk_v3_norm(middle), 0, 1e-4);
        assert_near(clump.reach, 1.5 / radius, 1e-4);

        /* J = across (1 - a a^T) + along a a^T. */
        yk_mat3 found = yk_m3_scale(pow(radius, 5), clump.inertia);
        yk_mat3 expected = yk_m3_scale(across, yk_m3_identity());
        yk_m3_add_to(&expected, along - across, yk_m3_outer(axes[i], axes[i]));
        for (int k = 0; k < 9; k++)
            assert_near(found.m[k / 3][k % 3], expected.m[k / 3][k % 3], 2e-4 * across);
        yk_particle_destroy(context, &clump);
    }
    yk_context_destroy(context);
}

static void test_apart_and_doubled_spheres_are_exact(void **state)
{
    (void)state;
    yk_context *context = context_of_test();

    /* Three that do not overlap: Steiner's theorem. */
    const yk_vec3 points[3] = {{0, 0, 0}, {4, 0, 0}, {0, 3, 0}};
    const double radii[3] = {1, 1, 1};
    yk_particle_shape shape = {.points = points, .point_count = 3, .radii = radii};
    yk_particle clump;
    assert_int_equal(yk_particle_make(context, &shape, &clump), YK_OK);
    double mass = 4.0 / 3.0 * YK_PI, yy = 0, xx = 0;
    for (int i = 0; i < 3; i++) {
        xx += mass * (points[i].x - 4.0 / 3) * (points[i].x - 4.0 / 3);
        yy += mass * (points[i].y - 1) * (points[i].y - 1);
    }
    double own = 3 * 0.4 * mass, scale = pow(cbrt(3), 5);
    assert_near(clump.radius, cbrt(3), 1e-12);
    assert_near(scale * clump.inertia.m[0][0], own + yy, 1e-9);
    assert_near(scale * clump.inertia.m[1][1], own + xx, 1e-9);
    assert_near(scale * clump.inertia.m[2][2], own + xx + yy, 1e-9);
    yk_particle_destroy(context, &clump);

    /* The same sphere three times is one. */
    const yk_vec3 same[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    shape.points = same;
    assert_int_equal(yk_particle_make(context, &shape, &clump), YK_OK);
    assert_near(clump.radius, 1, 1e-4);
    assert_near(clump.inertia.m[1][1], 0.4 * mass, 1e-3);
    yk_particle_destroy(context, &clump);
    yk_context_destroy(context);
}

static void test_solids_are_scaled_to_their_radius(void **state)
{
    (void)state;
    yk_context *context = context_of_test();
    static const yk_vec3 corners[8] = {{1, 1, 1}, {3, 1, 1}, {1, 2, 1}, {3, 2, 1},
                                       {1, 1, 5}, {3, 1, 5}, {1, 2, 5}, {3, 2, 5}};
    const yk_particle_shape shapes[] = {
        {.kind = YK_SOLID_CAPSULE, .size = {0.5, 0.5, 1.5}},
        {.kind = YK_SOLID_BOX, .size = {1, 0.5, 2}},
        {.kind = YK_SOLID_CYLINDER, .size = {1, 1, 2}},
        /* the box once more, with its corner off the origin */
        {.kind = YK_SOLID_HULL, .points = corners, .point_count = 8},
    };

    for (int i = 0; i < 4; i++) {
        yk_particle particle;
        assert_int_equal(yk_particle_make(context, &shapes[i], &particle), YK_OK);
        const yk_solid *part = &particle.parts[0];
        yk_mat3 inertia;
        double volume = yk_solid_mass(part, 1, &inertia);
        assert_near(volume, 4.0 / 3.0 * YK_PI, 1e-12);
        assert_near(yk_v3_norm(yk_solid_centre(part)), 0, 1e-12);
        for (int k = 0; k < 9; k++)
            assert_near(particle.inertia.m[k / 3][k % 3], inertia.m[k / 3][k % 3], 1e-11);
        if (shapes[i].kind == YK_SOLID_HULL)
            assert_near(particle.radius, cbrt(8 / (4.0 / 3.0 * YK_PI)), 1e-12);

        /* The particle as a body: mass and top. */
        yk_nonsmooth_def def = scene_default();
        scene s = scene_make(&def);
        yk_quat standing = yk_q_identity(), lying = yk_so3_exp(yk_v3(0, YK_PI / 2, 0));
        int body =
            yk_particle_add(s.world, &particle, yk_v3(0, 0, 1), standing, 0.01, 2500, rough(0));
        assert_int_equal(body, 0);
        assert_near(yk_nonsmooth_body_mass(s.world, body), 2500 * 4.0 / 3.0 * YK_PI * 1e-6, 1e-15);
        if (shapes[i].kind == YK_SOLID_BOX || shapes[i].kind == YK_SOLID_HULL) {
            double unit = 0.01 / particle.radius;
            assert_near(yk_particle_top(&particle, standing, 0.01), 2 * unit, 1e-12);
            assert_near(yk_particle_top(&particle, lying, 0.01), 1 * unit, 1e-12);
        }
        scene_end(&s);
        yk_particle_destroy(context, &particle);
    }
    yk_context_destroy(context);
}

static void test_shapes_without_sense_are_refused(void **state)
{
    (void)state;
    yk_context *context = context_of_test();
    const yk_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    const double radii[1] = {-1};
    const struct {
        yk_particle_shape shape;
        const char *words;
    } cases[] = {
        {{.kind = YK_SOLID_BOX, .size = {1, 0, 1}}, "of positive size"},
        {{.kind = YK_SOLID_PLANE, .size = {1, 1, 1}}, "their shape is a solid with a volume"},
        {{.kind = YK_SOLID_CAPSULE, .size = {NAN, 1, 1}}, "of positive size"},
        {{.kind = YK_SOLID_HULL, .points = flat, .point_count = 4}, "no volume"},
        {{.points = flat, .point_count = 1, .radii = radii}, "sphere 0 of the clump"},
        {{.points = flat, .point_count = 0, .radii = radii}, "a clump of 0 spheres"},
        {{.points = flat, .point_count = 300, .radii = radii}, "the limit is 256"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yk_particle particle;
        assert_int_equal(yk_particle_make(context, &cases[i].shape, &particle), YK_ERROR_ARGUMENT);
        assert_non_null(strstr(yk_last_message(context), cases[i].words));
    }
    yk_context_destroy(context);
}

/* Sizes ---------------------------------------------------------------------------------------- */

static double normal_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* E r^k over radius^k of a lognormal law of spread s that is cut at c. */
static double lognormal_moment(double k, double s, double c)
{
    double inside = normal_below(c - k * s) - normal_below(-c - k * s);
    return exp(k * k * s * s / 2) * inside / (normal_below(c) - normal_below(-c));
}

static void test_sizes_have_their_moments(void **state)
{
    (void)state;
    yk_context *context = context_of_test();
    yk_packing_def def = yk_packing_default();
    def.count = 40000;
    def.radius = 1e-3;
    def.size = yk_v3(0.1, 0.1, 0.1);
    const struct {
        yk_size_distribution law;
        double spread, cut;
    } cases[] = {{YK_SIZE_UNIFORM, 0.3, 3},
                 {YK_SIZE_NORMAL, 0.2, 3},
                 {YK_SIZE_NORMAL, 0.4, 1.5},
                 {YK_SIZE_LOGNORMAL, 0.3, 2}};

    for (int i = 0; i < 4; i++) {
        double s = cases[i].spread, c = cases[i].cut;
        def.size_distribution = cases[i].law;
        def.spread = s;
        def.size_cutoff = c;
        yk_packing packing;
        assert_int_equal(yk_packing_lattice(context, &def, &packing), YK_OK);

        double mean = 0, square = 0, least = INFINITY, most = 0;
        for (int k = 0; k < def.count; k++) {
            double r = packing.radii[k] / def.radius;
            mean += r / def.count;
            square += r * r / def.count;
            least = fmin(least, r);
            most = fmax(most, r);
        }

        /* Moments of the truncated distributions. */
        double density = exp(-c * c / 2) / sqrt(2 * YK_PI);
        double kept = normal_below(c) - normal_below(-c);
        double expected = 1, variance = s * s / 3, low = 1 - s, high = 1 + s;
        if (cases[i].law == YK_SIZE_NORMAL) {
            variance = s * s * (1 - 2 * c * density / kept);
            low = 1 - c * s;
            high = 1 + c * s;
        } else if (cases[i].law == YK_SIZE_LOGNORMAL) {
            expected = lognormal_moment(1, s, c);
            variance = lognormal_moment(2, s, c) - expected * expected;
            low = exp(-c * s);
            high = exp(c * s);
        }

        /* Four standard errors, and the ends are nearly met. */
        double error = 4 * sqrt(variance / def.count);
        assert_near(mean, expected, error);
        assert_near(square - mean * mean, variance, 0.03 * variance);
        assert_true(least >= low && least < low + 0.02 * (high - low));
        assert_true(most <= high && most > high - 0.02 * (high - low));
        yk_packing_destroy(context, &packing);
    }
    yk_context_destroy(context);
}

static void test_sieves_pass_their_fractions_of_mass(void **state)
{
    (void)state;
    yk_context *context = context_of_test();
    const yk_sieve_point sieves[] = {{1e-3, 0}, {2e-3, 0.3}, {3e-3, 0.3}, {4e-3, 1}};
    yk_packing_def def = yk_packing_default();
    def.count = 40000;
    def.size = yk_v3(0.2, 0.2, 0.2);
    def.sieve_curve = sieves;
    def.sieve_point_count = 4;
    yk_packing packing;
    assert_int_equal(yk_packing_lattice(context, &def, &packing), YK_OK);

    /* Mass that passes openings on and between the sieves. */
    const double openings[][2] = {{1.5e-3, 0.15}, {2e-3, 0.3}, {2.9e-3, 0.3}, {3.5e-3, 0.65}};
    for (int i = 0; i < 4; i++) {
        double all = 0, passing = 0;
        for (int k = 0; k < def.count; k++) {
            double r = packing.radii[k];
            all += r * r * r;
            passing += 2 * r < openings[i][0] ? r * r * r : 0;
            assert_true(2 * r >= 1e-3 * (1 - 1e-12) && 2 * r <= 4e-3 * (1 + 1e-12));
        }
        assert_near(passing / all, openings[i][1], 0.01);
    }
    yk_packing_destroy(context, &packing);

    /* Curves and laws that make no sense. */
    const yk_sieve_point falling[] = {{2e-3, 0}, {1e-3, 1}}, open[] = {{1e-3, 0}, {2e-3, 0.9}};
    def.sieve_point_count = 2;
    def.sieve_curve = falling;
    assert_int_equal(yk_packing_lattice(context, &def, &packing), YK_ERROR_ARGUMENT);
    def.sieve_curve = open;
    assert_int_equal(yk_packing_lattice(context, &def, &packing), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "from 0 at the first to 1 at the last"));
    def.sieve_point_count = 0;
    def.size_distribution = YK_SIZE_NORMAL;
    def.spread = 0.4;
    assert_int_equal(yk_packing_lattice(context, &def, &packing), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "has radii below 0"));
    yk_context_destroy(context);
}

/* Beds ----------------------------------------------------------------------------------------- */

static const yk_vec3 stone[6] = {{1, 0, 0},    {-1, 0, 0}, {0, 0.8, 0},
                                 {0, -0.9, 0}, {0, 0, 1},  {0, 0, -0.7}};
static const yk_vec3 trio[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
static const double trio_radii[3] = {1, 1, 0.8};
static const yk_particle_shape grains[] = {
    {.kind = YK_SOLID_CAPSULE, .size = {1, 1, 1.5}},
    {.kind = YK_SOLID_BOX, .size = {1, 0.8, 1.2}},
    {.kind = YK_SOLID_HULL, .points = stone, .point_count = 6},
    {.points = trio, .point_count = 3, .radii = trio_radii},
};
enum { GRAINS = sizeof grains / sizeof *grains };

/* From the lattice into a box: no overlap at the start, little later, and no energy from nowhere. */
static void test_beds_of_all_shapes_fall_without_gaining_energy(void **state)
{
    (void)state;
    for (int i = 0; i < GRAINS; i++) {
        yk_nonsmooth_def def = scene_default();
        def.contact_options.max_iterations = 100;
        def.contact_options.tolerance = 0;
        scene s = scene_make(&def);
        yk_packing_def bed = yk_packing_default();
        bed.cavity = YK_SOLID_BOX_CAVITY;
        bed.size = yk_v3(0.03, 0.03, 0.03);
        bed.count = 30;
        bed.radius = 5e-3;
        bed.spread = 0.2;
        bed.shape = grains[i];
        yk_packing packing;
        assert_int_equal(yk_packing_lattice(s.context, &bed, &packing), YK_OK);

        yk_nonsmooth_shape_def cavity = yk_packing_container_shape(&bed, YK_GROUND);
        cavity.open_walls = 1u << 5;
        assert_true(yk_world_add_shape(s.world, &cavity) >= 0);
        assert_true(yk_packing_add(s.world, &packing, yk_v3(0, 0, 0), 1000, rough(0.4)) >= 0);
        start(&s, 2e-4);

        yk_energy energy;
        yk_nonsmooth_report report;
        double total = INFINITY, first = 0, deepest = 0;
        for (int k = 0; k < 900; k++) {
            run(&s, 2e-4, 1);
            yk_nonsmooth_energy(s.world, &energy);
            yk_nonsmooth_report_read(s.world, &report);
            if (k == 0) {
                assert_true(report.deepest_overlap == 0);
                first = energy.kinetic + energy.potential;
            }
            total = energy.kinetic + energy.potential;
            deepest = fmax(deepest, report.deepest_overlap);

            /* Free fall gains m g^2 h t / 2 by the step's order, less than 1 % of the drop. */
            assert_true(total <= first + 0.01 * fabs(first));
        }
        assert_true(total < first);
        assert_true(deepest < 0.04 * bed.radius);
        yk_packing_destroy(s.context, &packing);
        scene_end(&s);
    }
}

static void test_other_shapes_settle_and_survive_a_file(void **state)
{
    (void)state;
    yk_context *context = context_of_test();
    yk_packing_def def = yk_packing_default();
    def.cavity = YK_SOLID_BOX_CAVITY;
    def.size = yk_v3(0.02, 0.02, 0.02);
    def.count = 12;
    def.radius = 5e-3;
    def.shape = grains[3];
    def.settling_step = 5e-4;
    yk_packing packing, copy;
    yk_status status = yk_packing_make(context, &def, &packing);
    assert_false(YK_FAILED(status));

    /* They lie in the box, their orientations with them. */
    double highest = 0;
    for (int i = 0; i < def.count; i++) {
        yk_vec3 p = packing.positions[i];
        double top = yk_particle_top(&packing.particle, packing.orientations[i], packing.radii[i]);
        highest = fmax(highest, p.z + 0.02 + top);
        assert_true(fabs(p.x) < 0.02 && fabs(p.y) < 0.02 && p.z > -0.02);
    }
    assert_near(packing.height, highest, 1e-15);

    /* A file keeps every bit; motion comes along. */
    packing.velocities = yk_allocate(context, 12, sizeof *packing.velocities);
    packing.angular_velocities = yk_allocate(context, 12, sizeof *packing.angular_velocities);
    assert_true(packing.velocities && packing.angular_velocities);
    for (int i = 0; i < def.count; i++) {
        packing.velocities[i] = yk_v3(0.1 * i, -1, 1.0 / 3);
        packing.angular_velocities[i] = yk_v3(0, 0.7 * i, -2);
    }
    const char *path = "particles_test.csv";
    write_packing(&packing, path);
    assert_int_equal(yk_packing_read(context, path, &def.shape, &copy), YK_OK);
    assert_int_equal(copy.count, packing.count);
    assert_memory_equal(copy.positions, packing.positions, 12 * sizeof *copy.positions);
    assert_memory_equal(copy.velocities, packing.velocities, 12 * sizeof *copy.velocities);
    assert_memory_equal(copy.angular_velocities, packing.angular_velocities, 12 * sizeof(yk_vec3));
    for (int i = 0; i < def.count; i++) {
        assert_near(copy.orientations[i].w, packing.orientations[i].w, 1e-15);
        assert_near(copy.orientations[i].z, packing.orientations[i].z, 1e-15);
    }
    assert_int_equal(copy.particle.part_count, 3);
    yk_packing_destroy(context, &copy);
    yk_packing_destroy(context, &packing);
    remove(path);
    yk_context_destroy(context);
}

static void test_files_say_what_is_wrong_with_them(void **state)
{
    (void)state;
    yk_context *context = context_of_test();
    const struct {
        const char *text, *words;
    } cases[] = {
        {"0,0,0,1,5\n", ":1: expected 4 finite numbers"},
        {"0,0,0\n", ":1: expected 4 finite numbers"},
        {"0,0,0,-1\n", "a positive radius"},
        {"x,y,z,radius\n0,0,nan,1\n", ":2: expected 4 finite numbers"},
        {"x,y,z,radius,colour\n", "a column 'colour' is unknown"},
        {"x,y,z,radius,x\n", "a column 'x' is unknown or there twice"},
        {"x,y,radius\n", "columns from 'x' to 'radius' belong together, and 3 of them"},
        {"x,y,z,radius,vx\n", "columns from 'vx' to 'vz' belong together, and 1 of them"},
        {"x,y,z,radius,qw,qx,qy,qz\n0,0,0,1,0,0,0,0\n", "no quaternion of zeros"},
        {"# nothing\n\n", "there are no particles"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen("particles_bad.csv", "w");
        assert_non_null(file);
        fputs(cases[i].text, file);
        fclose(file);
        yk_packing packing;
        assert_int_equal(yk_packing_read(context, "particles_bad.csv", NULL, &packing),
                         YK_ERROR_INPUT);
        if (!strstr(yk_last_message(context), cases[i].words))
            fail_msg("'%s' does not say '%s'", yk_last_message(context), cases[i].words);
    }

    /* Columns in any order, with blanks. */
    FILE *file = fopen("particles_bad.csv", "w");
    assert_non_null(file);
    fputs("radius, z, y, x, vz, vy, vx\n1, 2, 3, 4, 5, 6, 7\n", file);
    fclose(file);
    yk_packing packing;
    assert_int_equal(yk_packing_read(context, "particles_bad.csv", NULL, &packing), YK_OK);
    assert_true(packing.radii[0] == 1 && packing.positions[0].x == 4);
    assert_true(packing.velocities[0].x == 7 && packing.velocities[0].z == 5);
    yk_packing_destroy(context, &packing);
    remove("particles_bad.csv");
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap_of_clumps_counts_once),
        cmocka_unit_test(test_apart_and_doubled_spheres_are_exact),
        cmocka_unit_test(test_solids_are_scaled_to_their_radius),
        cmocka_unit_test(test_shapes_without_sense_are_refused),
        cmocka_unit_test(test_sizes_have_their_moments),
        cmocka_unit_test(test_sieves_pass_their_fractions_of_mass),
        cmocka_unit_test(test_beds_of_all_shapes_fall_without_gaining_energy),
        cmocka_unit_test(test_other_shapes_settle_and_survive_a_file),
        cmocka_unit_test(test_files_say_what_is_wrong_with_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
