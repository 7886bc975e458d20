/* No contact creates energy: every kind of solid on every other, in random poses, dropped and
 * sliding. */
#include "scene.h"

#include <stdlib.h>

#include "math/so3.h"

/* Number of cases per pair of shapes; `test_energy 10000` runs at least so many in all. */
static int cases = 8;

static const double SECONDS = 0.4;

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

static yk_vec3 random_vector(uint64_t *seed, double size)
{
    double x = uniform(seed), y = uniform(seed), z = uniform(seed);
    return yk_v3(size * x, size * y, size * z);
}

/* A cube as a hull and as a closed mesh. */
static const yk_vec3 corners[8] = {
    {-0.045, -0.045, -0.045}, {0.045, -0.045, -0.045}, {-0.045, 0.045, -0.045},
    {0.045, 0.045, -0.045},   {-0.045, -0.045, 0.045}, {0.045, -0.045, 0.045},
    {-0.045, 0.045, 0.045},   {0.045, 0.045, 0.045},
};
static const int triangles[12][3] = {
    {0, 2, 3}, {3, 1, 0}, {4, 5, 7}, {7, 6, 4}, {0, 1, 5}, {5, 4, 0},
    {2, 6, 7}, {7, 3, 2}, {0, 4, 6}, {6, 2, 0}, {1, 3, 7}, {7, 5, 1},
};

static const struct {
    const char *name;
    yk_solid_kind kind;
    yk_vec3 size;
} solids[] = {
    {"sphere", YK_SOLID_SPHERE, {0.05, 0.05, 0.05}},
    {"capsule", YK_SOLID_CAPSULE, {0.03, 0.03, 0.03}},
    {"box", YK_SOLID_BOX, {0.05, 0.04, 0.03}},
    {"cylinder", YK_SOLID_CYLINDER, {0.04, 0.04, 0.04}},
    {"hull", YK_SOLID_HULL, {0.04, 0.04, 0.04}},
    {"mesh", YK_SOLID_MESH, {0.04, 0.04, 0.04}},
    {"plane", YK_SOLID_PLANE, {0.04, 0.04, 0.04}},
};
enum { SOLIDS = sizeof solids / sizeof *solids, FINITE = SOLIDS - 1, MESH = 5 };

static void add(scene *s, int solid, int body, yk_quat orientation, yk_material material)
{
    yk_nonsmooth_shape_def def = yk_nonsmooth_shape_default();
    def.body = (yk_body_id){body};
    def.kind = solids[solid].kind;
    def.size = solids[solid].size;
    def.orientation = orientation;
    def.material = material;
    def.points = corners;
    def.point_count = 8;
    def.triangles = triangles;
    def.triangle_count = 12;
    assert_true(yk_world_add_shape(s->world, &def) >= 0);
}

/* The largest rise of kinetic and potential energy above its least value before, without what
 * restitution gives back of that which is gone. */
static double largest_rise(int moving, int fixed, int number, double h, yk_material material)
{
    uint64_t seed = (uint64_t)(1000 * number + 10 * fixed + moving);
    yk_nonsmooth_def def = scene_default();
    def.contact_options.max_iterations = 100;
    scene s = scene_make(&def);

    /* Every second pair is in line with the axes, every third slides. */
    yk_quat tilted = yk_so3_exp(random_vector(&seed, 2));
    bool finite = solids[fixed].kind != YK_SOLID_PLANE;
    add(&s, fixed, YK_GROUND_INDEX, number % 2 && finite ? tilted : yk_q_identity(), material);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.inertia = yk_m3_diagonal(1.5e-3, 1.5e-3, 1.5e-3);
    body.position = yk_v3(0.02 * uniform(&seed), 0.02 * uniform(&seed), finite ? 0.17 : 0.09);
    if (number % 4 > 1)
        body.orientation = yk_so3_exp(random_vector(&seed, 2));
    if (number % 3 == 2)
        body.velocity = yk_v3(0.5 * uniform(&seed), 0.5 * uniform(&seed), 0);
    add(&s, moving, yk_world_add_body(s.world, &body), yk_q_identity(), material);

    assert_int_equal(yk_nonsmooth_start(s.world, 0, h), YK_OK);
    double first = 0, least = INFINITY, rise = 0;
    double back = material.restitution * material.restitution;
    for (int i = 0; i < (int)(SECONDS / h); i++) {
        yk_energy energy;
        yk_nonsmooth_energy(s.world, &energy);
        double now = energy.kinetic + energy.potential;
        if (i == 0)
            first = now;
        least = fmin(least, now);
        rise = fmax(rise, now - least - back * (first - least));
        assert_true(!YK_FAILED(yk_nonsmooth_step(s.world, h)));
    }
    scene_end(&s);
    return rise;
}

/* The bodies weigh 1 kg and fall 0.1 m: they have 1 J to lose. What the stepping under gravity is
 * wrong by, h/2 m g dv, is 0.007 J for one impact; an overlap that is undone lifts a body by one
 * envelope, 0.0016 m at most, which is another 0.016 J. */
static void check_all_pairs(yk_material material, int count)
{
    int created = 0;
    for (int fixed = 0; fixed < SOLIDS; fixed++) {
        for (int moving = 0; moving < FINITE; moving++) {
            for (int i = 0; i < count; i++) {
                double rise = largest_rise(moving, fixed, i, 1e-3, material);
                if (!(rise > 0.023))
                    continue;
                print_error("%s on %s, case %d: %.3g J\n", solids[moving].name, solids[fixed].name,
                            i, rise);
                created++;
            }
        }
    }
    assert_int_equal(created, 0);
}

static void test_contacts_create_no_energy(void **state)
{
    (void)state;
    check_all_pairs(rough(0.4), cases);
}

/* Static friction, and cohesion of half the weight at each point. */
static void test_sticky_contacts_create_no_energy(void **state)
{
    (void)state;
    yk_material sticky = {.friction = 0.3, .static_friction = 0.6, .cohesion = 5};
    check_all_pairs(sticky, (cases + 3) / 4);
}

/* Elastic surfaces: what is round yields by Hertz's law and gives back what it stores. */
static void test_elastic_contacts_create_no_energy(void **state)
{
    (void)state;
    yk_material elastic = {.friction = 0.4, .restitution = 0.5, .plane_strain_modulus = 1e8};
    check_all_pairs(elastic, (cases + 3) / 4);
}

/* Small steps see overlaps more often, and undo them by larger pushes. */
static void test_meshes_in_small_steps(void **state)
{
    (void)state;
    for (int moving = 2; moving < FINITE; moving++)
        for (int i = 0; i < 2; i++)
            assert_true(largest_rise(moving, MESH, i, 1e-4, rough(0.4)) < 0.023);
}

/* A cube that lies flat on another, off its middle, stays: without friction nothing may push it in
 * its plane, and no overlap be seen, as hull and as mesh, also one whose corners run clockwise. */
static void test_flat_faces_lie_still(void **state)
{
    (void)state;
    static int inside_out[12][3];
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++)
            inside_out[i][k] = triangles[i][2 - k];

    const yk_solid_kind kinds[3] = {YK_SOLID_HULL, YK_SOLID_MESH, YK_SOLID_MESH};
    for (int pair = 0; pair < 9; pair++) {
        yk_nonsmooth_def def = scene_default();
        scene s = scene_make(&def);
        add_floor(&s, rough(0));
        int cubes[2];
        for (int i = 0; i < 2; i++) {
            int form = i == 0 ? pair % 3 : pair / 3;
            yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
            body.inertia = yk_m3_diagonal(1.5e-3, 1.5e-3, 1.5e-3);
            body.position = yk_v3(0.013 * i, 0.007 * i, 0.045 + 0.09 * i);
            cubes[i] = yk_world_add_body(s.world, &body);
            yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
            shape.body = (yk_body_id){cubes[i]};
            shape.kind = kinds[form];
            shape.material = rough(0);
            shape.points = corners;
            shape.point_count = 8;
            shape.triangles = form == 2 ? (const int(*)[3])inside_out : triangles;
            shape.triangle_count = 12;
            assert_true(yk_world_add_shape(s.world, &shape) >= 0);
        }

        assert_int_equal(yk_nonsmooth_start(s.world, 0, 1e-3), YK_OK);
        for (int i = 0; i < 300; i++)
            assert_true(!YK_FAILED(yk_nonsmooth_step(s.world, 1e-3)));
        for (int i = 0; i < 2; i++) {
            yk_motion now = motion_of(&s, cubes[i]);
            assert_near(now.position.x, 0.013 * i, 1e-7);
            assert_near(now.position.y, 0.007 * i, 1e-7);
            assert_near(now.position.z, 0.045 + 0.09 * i, 1e-7);
            assert_near(now.orientation.w, 1, 1e-12);
        }
        scene_end(&s);
    }
}

int main(int argc, char **argv)
{
    int pairs = SOLIDS * FINITE;
    if (argc > 1)
        cases = (atoi(argv[1]) + pairs - 1) / pairs;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contacts_create_no_energy),
                                       cmocka_unit_test(test_sticky_contacts_create_no_energy),
                                       cmocka_unit_test(test_elastic_contacts_create_no_energy),
                                       cmocka_unit_test(test_meshes_in_small_steps),
                                       cmocka_unit_test(test_flat_faces_lie_still)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
