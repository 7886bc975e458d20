/* Laws of surfaces with answers in closed form: static and sliding friction, cohesion, Hertz. */
#include <string.h>

#include "math/vec3.h"
#include "nonsmooth/model.h"
#include "scene.h"

/* Every method that takes the law, with the friction that it knows. */
typedef struct solver_case {
    yk_contact_method method;
    yk_friction_model friction;
} solver_case;

static const solver_case solvers[] = {
    {YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_COULOMB},
    {YK_CONTACT_AUTO, YK_FRICTION_COULOMB},
    {YK_CONTACT_INTERIOR_POINT, YK_FRICTION_COULOMB},
    {YK_CONTACT_PROJECTED_GRADIENT, YK_FRICTION_CONVEX_CONE},
    {YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE},
    {YK_CONTACT_PIVOTING, YK_FRICTION_PYRAMID},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static yk_nonsmooth_def solver_default(const solver_case *how)
{
    yk_nonsmooth_def def = scene_default();
    def.contact_options.method = how->method;
    def.contact_options.friction_model = how->friction;
    def.contact_options.tolerance = 1e-11;
    return def;
}

/* Static and sliding friction ------------------------------------------------------------------ */

/* Speed after 0.2 s of a block on an incline that begins with a speed, and its friction. */
static double slide(const solver_case *how, double angle, yk_material material, double speed,
                    double *friction)
{
    yk_nonsmooth_def def = solver_default(how);
    def.gravity = tilted(angle);
    scene s = scene_make(&def);
    add_floor(&s, material);
    int box = add_box(&s, yk_v3(0.5, 0.5, 0.1), yk_v3(0, 0, 0.1), 2, material);
    start(&s, 1e-3);
    set_velocity(&s, box, yk_v3(speed, 0, 0), yk_v3(0, 0, 0));
    run(&s, 1e-3, 200);
    double v = motion_of(&s, box).velocity.x;
    *friction = -yk_nonsmooth_contact_force(s.world, box, YK_GROUND_INDEX).x;
    scene_end(&s);
    return v;
}

/* Between the two coefficients a block at rest stays at rest, and a sliding block continues to slide. */
static void test_block_sticks_and_goes_on_sliding(void **state)
{
    (void)state;
    double angle = 0.4, weight = 2 * SCENE_G, limit = tan(angle), friction;
    yk_material material = {.friction = 0.6 * limit, .static_friction = 1.05 * limit};
    for (int i = 0; i < SOLVERS; i++) {
        assert_near(slide(&solvers[i], angle, material, 0, &friction), 0, 1e-8);
        assert_relative(friction, weight * sin(angle), 1e-6);

        /* The convex law lifts it in the first step, which costs normal force there. */
        double tolerance = solvers[i].friction == YK_FRICTION_CONVEX_CONE ? 5e-3 : 1e-6;
        double a = SCENE_G * (sin(angle) - material.friction * cos(angle));
        assert_relative(slide(&solvers[i], angle, material, 0.5, &friction), 0.5 + 0.2 * a,
                        tolerance);
        assert_relative(friction, material.friction * weight * cos(angle), tolerance);
    }
}

static void pull_slowly(void *user, double t, yk_motion *motion)
{
    const double *start = user;
    *motion = (yk_motion){.orientation = yk_q_identity()};
    motion->position = yk_v3(start[0] + start[1] * t, 0, 0.1);
    motion->velocity = yk_v3(start[1], 0, 0);
}

/* A block on a spring whose end is pulled slowly: it sticks until the spring pulls with mu_s m g, and
 * then slips half a period of free oscillation about mu_k m g / k, by 2 (mu_s - mu_k) m g / k. */
static void test_stick_slip(void **state)
{
    (void)state;
    double mass = 1, k = 100, mu_s = 0.5, mu_k = 0.3, h = 2e-4;
    double pull[2] = {mu_s * mass * SCENE_G / k - 1e-4, 2e-3};
    yk_nonsmooth_def def = scene_default();
    def.contact_options.friction_model = YK_FRICTION_COULOMB;
    scene s = scene_make(&def);
    yk_material material = {.friction = mu_k, .static_friction = mu_s, .stribeck_velocity = 1e-3};
    add_floor(&s, material);
    int box = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1), mass, material);

    yk_nonsmooth_body_def handle = yk_nonsmooth_body_default();
    handle.position = yk_v3(pull[0], 0, 0.1);
    int hand = yk_world_add_body(s.world, &handle);
    assert_int_equal(yk_world_prescribe(s.world, hand, pull_slowly, pull), YK_OK);
    yk_force_def spring = yk_force_default();
    spring.kind = YK_FORCE_SPRING;
    spring.bodies[0] = (yk_body_id){box};
    spring.bodies[1] = (yk_body_id){hand};
    spring.stiffness = k;
    spring.free_length = 10;
    spring.markers[1].offset = yk_v3(10, 0, 0);
    assert_true(yk_world_add_force(s.world, &spring) >= 0);

    /* The end needs 0.05 s to the limit of sticking; a period of the oscillation is 0.63 s. */
    start(&s, h);
    run(&s, h, (int)(0.045 / h));
    assert_near(motion_of(&s, box).position.x, 0, 1e-9);
    run(&s, h, (int)(0.6 / h));
    assert_relative(motion_of(&s, box).position.x, 2 * (mu_s - mu_k) * mass * SCENE_G / k, 0.03);
    assert_near(motion_of(&s, box).velocity.x, 0, 1e-9);
    scene_end(&s);
}

/* Cohesion ------------------------------------------------------------------------------------- */

typedef enum hanging { BALL, ROLLING_BALL, BOX } hanging;

/* Speed after 0.1 s of what hangs from a ceiling by cohesion that makes up `ratio` of its weight. */
static double hang(const solver_case *how, hanging kind, double ratio, double *force,
                   double *dissipated)
{
    yk_nonsmooth_def def = solver_default(how);
    def.gravity = yk_v3(0, 0, SCENE_G); /* away from the plane */
    scene s = scene_make(&def);
    double mass = 1000 * 4. / 3 * YK_PI * 1e-3;
    int points = kind == BOX ? 4 : 1;
    yk_material material = {.friction = 0.5, .cohesion = ratio * mass * SCENE_G / points};
    if (kind == ROLLING_BALL)
        material.rolling_friction = material.spinning_friction = 1e-3;
    add_floor(&s, material);
    int body;
    if (kind == BOX)
        body = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1), mass, material);
    else
        body = add_ball(&s, 0.1, yk_v3(0, 0, 0.1), material);

    start(&s, 1e-3);
    run(&s, 1e-3, 100);
    double v = motion_of(&s, body).velocity.z;
    *force = yk_nonsmooth_contact_force(s.world, body, YK_GROUND_INDEX).z;
    yk_energy energy;
    yk_nonsmooth_energy(s.world, &energy);
    *dissipated = energy.dissipated;
    scene_end(&s);
    return v;
}

static void test_hangs_up_to_the_cohesion(void **state)
{
    (void)state;
    double mass = 1000 * 4. / 3 * YK_PI * 1e-3, weight = mass * SCENE_G, force, dissipated;
    for (int i = 0; i < SOLVERS; i++) {
        for (int kind = BALL; kind <= BOX; kind++) {
            assert_near(hang(&solvers[i], (hanging)kind, 1.01, &force, &dissipated), 0, 1e-8);
            assert_relative(force, -weight, 1e-6);
            assert_near(dissipated, 0, 1e-6);

            /* A separated ball falls with a hundredth of g through the range of cohesion, and then
             * freely; cohesion takes its force times its range, both to a step. */
            double range = 0.01 * 0.03 * 0.1;
            if (kind == BOX)
                range *= sqrt(3);
            double held = sqrt(2 * range / (0.01 * SCENE_G));
            double v = hang(&solvers[i], (hanging)kind, 0.99, &force, &dissipated);
            assert_near(v, 0.01 * SCENE_G * held + SCENE_G * (0.1 - held), SCENE_G * 1e-3);
            assert_near(force, 0, 1e-12);
            assert_relative(dissipated, 0.99 * weight * range, 2e-3 / held);
        }
    }
}

/* Friction without a normal force: a block that is pulled along a wall holds up to mu times its
 * cohesion, and then slides against that. */
static void test_cohesion_moves_the_cone(void **state)
{
    (void)state;
    double mass = 2, mu = 0.4, c = 5;
    for (int i = 0; i < SOLVERS; i++) {
        for (int slides = 0; slides < 2; slides++) {
            double g = (slides ? 1.2 : 0.99) * mu * 4 * c / mass;
            yk_nonsmooth_def def = solver_default(&solvers[i]);
            def.gravity = yk_v3(g, 0, 0);
            scene s = scene_make(&def);
            yk_material material = {.friction = mu, .cohesion = c};
            add_floor(&s, material);
            int box = add_box(&s, yk_v3(0.5, 0.5, 0.02), yk_v3(0, 0, 0.02), mass, material);
            start(&s, 1e-3);
            run(&s, 1e-3, 200);

            double expected = slides ? 0.2 * (g - mu * 4 * c / mass) : 0;
            double tolerance = solvers[i].friction == YK_FRICTION_CONVEX_CONE ? 5e-3 : 1e-7;
            yk_vec3 force = yk_nonsmooth_contact_force(s.world, box, YK_GROUND_INDEX);
            assert_near(motion_of(&s, box).velocity.x, expected, tolerance);
            assert_near(force.x, slides ? -mu * 4 * c : -mass * g, 1e-2);
            assert_near(force.z, 0, solvers[i].friction == YK_FRICTION_CONVEX_CONE ? 1e-2 : 1e-6);
            scene_end(&s);
        }
    }
}

/* Cohesion that reaches farther than contacts are seen is refused. */
static void test_range_beyond_the_envelope(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    yk_material material = {.cohesion = 1, .cohesion_range = 0.01};
    add_floor(&s, material);
    add_ball(&s, 0.1, yk_v3(0, 0, 0.1), material);
    assert_int_equal(yk_nonsmooth_start(s.world, 0, 1e-3), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(s.context), "larger envelope"));
    scene_end(&s);
}

/* Hertz ---------------------------------------------------------------------------------------- */

static const double MODULUS = 1e7, RADIUS = 0.01;

typedef struct collision {
    double duration;    /* of contact (s) */
    double restitution; /* speed after over speed before */
    double deepest;     /* m */
} collision;

/* A ball against a wall, or two balls against each other, with relative speed v; 1/E* is 1 / MODULUS. */
static collision collide(bool two, double e, double v, double h)
{
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    def.contact_options.tolerance = 1e-9 * v;
    scene s = scene_make(&def);
    yk_material elastic = {.restitution = e, .plane_strain_modulus = MODULUS};
    int balls[2] = {-1, -1};
    if (two) {
        elastic.plane_strain_modulus = 2 * MODULUS;
        balls[1] = add_ball(&s, RADIUS, yk_v3(0, 0, -RADIUS), elastic);
    } else {
        yk_material rigid = {.restitution = 1};
        add_floor(&s, rigid);
    }
    balls[0] = add_ball(&s, RADIUS, yk_v3(0, 0, RADIUS), elastic);
    start(&s, h);
    set_velocity(&s, balls[0], yk_v3(0, 0, two ? -v / 2 : -v), yk_v3(0, 0, 0));
    if (two)
        set_velocity(&s, balls[1], yk_v3(0, 0, v / 2), yk_v3(0, 0, 0));

    collision result = {0};
    for (int i = 0; i < 100000; i++) {
        run(&s, h, 1);
        yk_motion a = motion_of(&s, balls[0]), b = {.orientation = yk_q_identity()};
        double reach = RADIUS;
        if (two) {
            b = motion_of(&s, balls[1]);
            reach = 2 * RADIUS;
        }
        double overlap = reach - (a.position.z - b.position.z);
        double rate = a.velocity.z - b.velocity.z;
        result.deepest = fmax(result.deepest, overlap);
        result.restitution = rate / v;
        result.duration = (i + 1) * h;
        if (rate > 0 &&
            yk_nonsmooth_contact_force(s.world, balls[0], two ? balls[1] : YK_GROUND_INDEX).z == 0)
            break;
    }
    scene_end(&s);
    return result;
}

/* Johnson 1985: overlap (15 m v^2 / (16 E sqrt(R)))^(2/5), duration 2.87 (m^2 / (E^2 R v))^(1/5). */
static void test_hertzian_impact(void **state)
{
    (void)state;
    double mass = 1000 * 4. / 3 * YK_PI * RADIUS * RADIUS * RADIUS, v = 0.3;
    for (int two = 0; two < 2; two++) {
        double m = two ? mass / 2 : mass, r = two ? RADIUS / 2 : RADIUS;
        double duration = 2.868 * pow(m * m / (MODULUS * MODULUS * r * v), 0.2);
        double deepest = pow(15 * m * v * v / (16 * MODULUS * sqrt(r)), 0.4);
        collision fine = collide(two, 1, v, duration / 200);
        assert_relative(fine.duration, duration, 0.015);
        assert_relative(fine.deepest, deepest, 2e-3);
        assert_relative(fine.restitution, 1.0, 2e-3);
    }
}

static void test_restitution_by_damping(void **state)
{
    (void)state;
    static const double wanted[] = {0.9, 0.6, 0.3, 0.1};
    double mass = 1000 * 4. / 3 * YK_PI * RADIUS * RADIUS * RADIUS;
    for (int i = 0; i < 4; i++) {
        for (double v = 0.02; v < 3; v *= 10) {
            double duration = 2.868 * pow(mass * mass / (MODULUS * MODULUS * RADIUS * v), 0.2);
            double coarse = collide(false, wanted[i], v, duration / 200).restitution - wanted[i];
            double fine = collide(false, wanted[i], v, duration / 400).restitution - wanted[i];
            assert_near(fine, 0, 0.01);
            assert_true(fabs(fine) < 0.6 * fabs(coarse) + 1e-4);
        }
    }
}

/* A ball at rest sinks by (m g / k)^(2/3) at every step size; at steps of many durations nothing
 * oscillates and no energy is made. */
static void test_indentation(void **state)
{
    (void)state;
    double mass = 1000 * 4. / 3 * YK_PI * RADIUS * RADIUS * RADIUS;
    double k = 4. / 3 * MODULUS * sqrt(RADIUS);
    double depth = pow(mass * SCENE_G / k, 2. / 3);
    for (double h = 1e-4; h < 0.02; h *= 10) {
        yk_nonsmooth_def def = scene_default();
        def.contact_options.tolerance = 1e-9;
        scene s = scene_make(&def);
        yk_material elastic = {.friction = 0.5, .plane_strain_modulus = 2 * MODULUS};
        add_floor(&s, elastic);
        int ball = add_ball(&s, RADIUS, yk_v3(0, 0, RADIUS + 1e-5), elastic);
        start(&s, h);
        double highest = 0;
        for (int i = 0; i < 3000; i++) {
            run(&s, h, 1);
            yk_motion at = motion_of(&s, ball);
            double energy =
                0.5 * at.velocity.z * at.velocity.z + SCENE_G * (at.position.z - RADIUS - 1e-5);
            highest = fmax(highest, energy);
        }
        assert_relative(RADIUS - motion_of(&s, ball).position.z, depth, 1e-6);
        assert_near(motion_of(&s, ball).velocity.z, 0, 1e-9);
        assert_relative(yk_nonsmooth_contact_force(s.world, ball, YK_GROUND_INDEX).z,
                        mass * SCENE_G, 1e-6);
        assert_true(highest <= 0);
        scene_end(&s);
    }
}

/* Friction of elastic surfaces does not creep: a ball rolls down as a rigid one. */
static void test_elastic_ball_rolls(void **state)
{
    (void)state;
    static const yk_contact_method methods[] = {YK_CONTACT_GAUSS_SEIDEL, YK_CONTACT_INTERIOR_POINT};
    for (int i = 0; i < 2; i++) {
        double angle = 0.3, h = 1e-4;
        yk_nonsmooth_def def = scene_default();
        def.gravity = tilted(angle);
        def.contact_options.method = methods[i];
        def.contact_options.friction_model = YK_FRICTION_COULOMB;
        def.contact_options.tolerance = 1e-10;
        scene s = scene_make(&def);
        yk_material elastic = {.friction = 0.5, .plane_strain_modulus = 2 * MODULUS};
        add_floor(&s, elastic);
        int ball = add_ball(&s, RADIUS, yk_v3(0, 0, RADIUS), elastic);
        start(&s, h);
        run(&s, h, 1000);
        double v = motion_of(&s, ball).velocity.x;
        run(&s, h, 1000);
        assert_relative((motion_of(&s, ball).velocity.x - v) / (1000 * h),
                        SCENE_G * sin(angle) * 5 / 7, 1e-4);
        scene_end(&s);
    }
}

/* A column of balls at a step of many durations: it stands, and every ball carries those above. */
static void test_elastic_column(void **state)
{
    (void)state;
    enum { BALLS = 5 };
    yk_nonsmooth_def def = scene_default();
    def.contact_options.tolerance = 1e-9;
    scene s = scene_make(&def);
    yk_material elastic = {
        .friction = 0.5, .restitution = 0.5, .plane_strain_modulus = 1e3 * MODULUS};
    add_floor(&s, elastic);
    int balls[BALLS];
    for (int i = 0; i < BALLS; i++)
        balls[i] = add_ball(&s, RADIUS, yk_v3(0, 0, (2 * i + 1) * RADIUS), elastic);
    start(&s, 2e-3);
    run(&s, 2e-3, 2000);

    double weight = yk_nonsmooth_body_mass(s.world, balls[0]) * SCENE_G;
    for (int i = 0; i < BALLS; i++) {
        int below = i > 0 ? balls[i - 1] : YK_GROUND_INDEX;
        double force = yk_nonsmooth_contact_force(s.world, balls[i], below).z;
        assert_relative(force, (BALLS - i) * weight, 1e-4);
        assert_near(motion_of(&s, balls[i]).position.x, 0, 1e-9);
    }
    scene_end(&s);
}

static void test_gradient_is_refused(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.contact_options.method = YK_CONTACT_PROJECTED_GRADIENT;
    scene s = scene_make(&def);
    yk_material elastic = {.plane_strain_modulus = MODULUS};
    add_floor(&s, elastic);
    add_ball(&s, RADIUS, yk_v3(0, 0, RADIUS), elastic);
    assert_int_equal(yk_nonsmooth_start(s.world, 0, 1e-3), YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(s.context), "another method"));
    scene_end(&s);
}

/* The softness of a step follows the deepest overlap that it can come to: of solids 0.1 mm apart
 * that approach each other with 1 m/s that is 0.9 mm after 1 ms. */
static void test_softness_of_the_deepest_overlap(void **state)
{
    (void)state;
    yk_surface_law law = {.material = {.plane_strain_modulus = 1e9}};
    yk_hertz_contact at = {.gap = 1e-4, .separation = -1, .curvature = 10, .mass = 2};
    double h = 1e-3, softness, bias;
    yk_surface_hertz(&law, &at, h, &softness, &bias);
    double k = 4. / 3 * 1e9 / sqrt(10);
    double stiffness = 1.5 * k * sqrt(9e-4);
    double z = h * h * stiffness / 2;
    assert_relative(1 / softness, h * h * stiffness * z / (1 + z), 1e-13);
    assert_relative(bias, 0.1, 1e-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_sticks_and_goes_on_sliding),
        cmocka_unit_test(test_stick_slip),
        cmocka_unit_test(test_hangs_up_to_the_cohesion),
        cmocka_unit_test(test_cohesion_moves_the_cone),
        cmocka_unit_test(test_range_beyond_the_envelope),
        cmocka_unit_test(test_softness_of_the_deepest_overlap),
        cmocka_unit_test(test_hertzian_impact),
        cmocka_unit_test(test_restitution_by_damping),
        cmocka_unit_test(test_indentation),
        cmocka_unit_test(test_elastic_ball_rolls),
        cmocka_unit_test(test_elastic_column),
        cmocka_unit_test(test_gradient_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
