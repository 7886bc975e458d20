/* Impact laws: Newton's cradle by each of them, impacts on joints, and that none creates energy. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#include "math/so3.h"

static yk_material bouncing(double restitution, double friction)
{
    return (yk_material){.friction = friction, .restitution = restitution};
}

static scene weightless(yk_impact_law law)
{
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    def.impact_law = law;
    def.max_recovery_speed = 1e-9; /* overlaps of turning bodies are left alone: impacts act only */
    return scene_make(&def);
}

/* Balls of radius 0.05 in a row that touch, with these speeds: their speeds after one step. */
static void knock(yk_impact_law law, double restitution, int count, const double *speeds,
                  double *after)
{
    scene s = weightless(law);
    for (int i = 0; i < count; i++) {
        int ball = add_ball(&s, 0.05, yk_v3(0.1 * i, 0, 0), bouncing(restitution, 0.3));
        set_velocity(&s, ball, yk_v3(speeds[i], 0, 0), yk_v3(0, 0, 0));
    }
    start(&s, 1e-3);
    run(&s, 1e-3, 1);
    for (int i = 0; i < count; i++)
        after[i] = motion_of(&s, i).velocity.x;
    scene_end(&s);
}

static void test_cradle(void **state)
{
    (void)state;
    const struct {
        yk_impact_law law;
        double restitution;
        int count;
        double before[5], after[5];
    } cases[] = {
        {YK_IMPACT_NEWTON, 1, 5, {1, 0, 0, 0, 0}, {-0.6, 0.4, 0.4, 0.4, 0.4}},
        {YK_IMPACT_POISSON, 1, 5, {1, 0, 0, 0, 0}, {-0.6, 0.4, 0.4, 0.4, 0.4}},
        {YK_IMPACT_SEQUENTIAL, 1, 5, {1, 0, 0, 0, 0}, {0, 0, 0, 0, 1}},
        {YK_IMPACT_SEQUENTIAL, 1, 5, {1, 1, 0, 0, 0}, {0, 0, 0, 1, 1}},
        {YK_IMPACT_SEQUENTIAL, 1, 5, {1, 0, 0, 0, -1}, {-1, 0, 0, 0, 1}},
        {YK_IMPACT_SEQUENTIAL, 1, 5, {0, 0, 2, 0, 0}, {0, 0, 0, 0, 2}},
        /* Impacts of the balls 1-2, 2-3, 1-2; then they part. */
        {YK_IMPACT_SEQUENTIAL, 0.5, 3, {1, 0, 0}, {0.203125, 0.234375, 0.5625}},
        {YK_IMPACT_SEQUENTIAL, 0, 3, {3, 0, 0}, {1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double after[5];
        knock(cases[i].law, cases[i].restitution, cases[i].count, cases[i].before, after);
        for (int k = 0; k < cases[i].count; k++)
            assert_near(after[k], cases[i].after[k], 1e-10);
    }
}

/* A ball of mass m hits a lever on a hinge at the distance r: what it meets is J / r^2. The lever
 * receives the impulse, the hinge what is left of it. */
static void test_lever(void **state)
{
    (void)state;
    for (yk_impact_law law = YK_IMPACT_POISSON; law <= YK_IMPACT_SEQUENTIAL; law++) {
        scene s = weightless(law);
        const double mass = 3, half = 0.5, e = 0.7;
        yk_mat3 inertia = yk_m3_diagonal(0.2, 0.2, mass * half * half / 3);
        int lever = add_solid(&s, YK_SOLID_BOX, yk_v3(half, 0.05, 0.05), yk_v3(half, 0, 0),
                              yk_q_identity(), mass, inertia, bouncing(e, 0));
        yk_joint_def hinge = yk_joint_default();
        hinge.kind = YK_JOINT_REVOLUTE;
        hinge.bodies[1] = (yk_body_id){lever};
        hinge.markers[1].offset = yk_v3(-half, 0, 0);
        int joint = yk_world_add_joint(s.world, &hinge);
        assert_true(joint >= 0);
        int ball = add_ball(&s, 0.1, yk_v3(0.8, 0.15, 0), bouncing(e, 0));
        set_velocity(&s, ball, yk_v3(0, -2, 0), yk_v3(0, 0, 0));

        const double h = 1e-4;
        start(&s, h);
        run(&s, h, 1);
        double m = yk_nonsmooth_body_mass(s.world, ball);
        double j = mass * (2 * half) * (2 * half) / 3;
        double p = (1 + e) * 2 / (1 / m + 0.8 * 0.8 / j);
        assert_near(motion_of(&s, ball).velocity.y, -2 + p / m, 1e-9);
        assert_near(motion_of(&s, lever).angular_velocity.z, -0.8 * p / j, 1e-9);
        double centre = mass * half * -0.8 * p / j; /* momentum of the lever's centre */
        assert_near(yk_nonsmooth_joint_reaction(s.world, joint).force.y * h, centre + p, 1e-8);
        scene_end(&s);
    }
}

static double kinetic_energy(const scene *s)
{
    yk_energy energy;
    yk_nonsmooth_energy(s->world, &energy);
    return energy.kinetic;
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* Boxes with friction and unlike restitution thrown at each other and at walls: corners slide and
 * stick, and coefficients differ, where Newton's law gains energy. */
static void test_no_energy_is_created(void **state)
{
    (void)state;
    double most[3] = {0};
    for (yk_impact_law law = YK_IMPACT_NEWTON; law <= YK_IMPACT_SEQUENTIAL; law++) {
        for (uint64_t number = 1; number <= 40; number++) {
            uint64_t seed = number;
            scene s = weightless(law);
            yk_nonsmooth_shape_def walls = yk_nonsmooth_shape_default();
            walls.kind = YK_SOLID_BOX_CAVITY;
            walls.size = yk_v3(0.16, 0.16, 0.16);
            walls.material = bouncing(1, 2);
            assert_true(yk_world_add_shape(s.world, &walls) >= 0);
            for (int i = 0; i < 3; i++) {
                yk_vec3 turn = yk_v3(uniform(&seed), uniform(&seed), uniform(&seed));
                int box =
                    add_solid(&s, YK_SOLID_BOX, yk_v3(0.06, 0.02, 0.02), yk_v3(0.1 * (i - 1), 0, 0),
                              yk_so3_exp(turn), 1, yk_m3_diagonal(2e-4, 1.3e-3, 1.3e-3),
                              bouncing(i == 0 ? 0.4 : 1, 0.2 + 0.5 * i));
                double x = uniform(&seed), y = uniform(&seed), z = uniform(&seed);
                set_velocity(&s, box, yk_v3(x, y, z), yk_v3(5 * z, 5 * x, 5 * y));
            }
            start(&s, 1e-3);
            for (int i = 0; i < 200; i++) {
                double before = kinetic_energy(&s);
                run(&s, 1e-3, 1);
                most[law] = fmax(most[law], kinetic_energy(&s) / before - 1);
            }
            scene_end(&s);
        }
    }
    print_message("largest gain in a step: Newton %.2g, Poisson %.2g, sequential %.2g\n", most[0],
                  most[1], most[2]);
    assert_true(most[YK_IMPACT_NEWTON] > 1e-3); /* the case is one in which it happens */
    assert_true(most[YK_IMPACT_POISSON] < 1e-9);
    assert_true(most[YK_IMPACT_SEQUENTIAL] < 1e-9);
}

/* Momentum goes into the bodies that are hit, also those of known motion: the reaction of a fixed
 * wall is the change of momentum over the step. */
static void test_wall_receives_the_impulse(void **state)
{
    (void)state;
    scene s = weightless(YK_IMPACT_SEQUENTIAL);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    int wall = yk_world_add_body(s.world, &body);
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){wall};
    shape.kind = YK_SOLID_BOX;
    shape.size = yk_v3(0.1, 0.5, 0.5);
    shape.material = bouncing(0.8, 0);
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    int ball = add_ball(&s, 0.1, yk_v3(0.2, 0, 0), bouncing(0.8, 0));
    set_velocity(&s, ball, yk_v3(-3, 0, 0), yk_v3(0, 0, 0));
    start(&s, 1e-3);
    run(&s, 1e-3, 1);
    double m = yk_nonsmooth_body_mass(s.world, ball);
    assert_near(motion_of(&s, ball).velocity.x, 2.4, 1e-9);
    assert_relative(yk_nonsmooth_reaction(s.world, wall).force.x, m * 5.4 / 1e-3, 1e-9);
    assert_relative(yk_nonsmooth_contact_force(s.world, ball, wall).x, m * 5.4 / 1e-3, 1e-9);
    scene_end(&s);
}

/* New memory holds a byte that the test chooses. */
static void *filled(void *user, void *block, size_t bytes)
{
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    if (block)
        return realloc(block, bytes);

    void *fresh = malloc(bytes);
    if (fresh)
        memset(fresh, *(const int *)user, bytes);
    return fresh;
}

/* The former contents of memory do not matter: two boxes and balls that hit each other. */
static void test_old_memory_does_not_matter(void **state)
{
    (void)state;
    for (yk_impact_law law = YK_IMPACT_NEWTON; law <= YK_IMPACT_SEQUENTIAL; law++) {
        yk_vec3 after[2][4];
        for (int dirty = 0; dirty < 2; dirty++) {
            int byte = dirty ? 0x40 : 0;
            yk_context_def context = yk_context_default();
            context.allocate = filled;
            context.allocate_user = &byte;
            yk_nonsmooth_def def = scene_default();
            def.gravity = yk_v3(0, 0, 0);
            def.impact_law = law;
            scene s = {.context = yk_context_create(&context)};
            assert_int_equal(yk_world_create(s.context, &def, &s.world), YK_OK);
            for (int i = 0; i < 4; i++) {
                yk_vec3 at = {0.12 * i, 0.01 * (i % 2), 0.007 * i};
                int body;
                if (i % 2)
                    body = add_ball(&s, 0.05, at, bouncing(0.7, 0.4));
                else
                    body = add_box(&s, yk_v3(0.05, 0.06, 0.04), at, 1, bouncing(0.7, 0.4));
                set_velocity(&s, body, yk_v3(1 - i, 0.1 * i, 0), yk_v3(1, i, 2));
            }
            start(&s, 1e-3);
            run(&s, 1e-3, 100);
            for (int i = 0; i < 4; i++)
                after[dirty][i] = motion_of(&s, i).velocity;
            scene_end(&s);
        }
        assert_memory_equal(after[0], after[1], sizeof after[0]);
        assert_true(fabs(after[0][3].x + 2) > 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cradle),
        cmocka_unit_test(test_lever),
        cmocka_unit_test(test_no_energy_is_created),
        cmocka_unit_test(test_wall_receives_the_impulse),
        cmocka_unit_test(test_old_memory_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
