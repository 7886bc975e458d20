/* Ellipsoids: nearest points against the condition that defines them, contacts with walls against
 * dense samples of the surface, and the rocking period of a spheroid on a plane. */
#include "scene.h"

#include "math/so3.h"
#include "nonsmooth/solids/solid.h"
#include "samples.h"

static yk_vec3 surface_point(const yk_solid *s, yk_vec3 unit)
{
    yk_vec3 local = {s->size.x * unit.x, s->size.y * unit.y, s->size.z * unit.z};
    return yk_v3_add(s->position, yk_m3_apply(s->rotation, local));
}

/* Level of a point in the frame of the solid: 1 on the surface. */
static double level(yk_vec3 size, yk_vec3 p)
{
    return yk_v3_norm(yk_v3(p.x / size.x, p.y / size.y, p.z / size.z));
}

static void check_nearest(const yk_solid *s, yk_vec3 p, uint64_t *stream)
{
    yk_nearest near = yk_ellipsoid_ops.nearest(s, p);
    double scale = yk_v3_norm(s->size) + yk_v3_norm(p);
    assert_near(level(s->size, near.point), 1, 1e-12);
    assert_near(yk_v3_norm(near.normal), 1, 1e-12);
    assert_true((near.distance < 0) == (level(s->size, p) < 1) || fabs(near.distance) < 1e-12);

    /* The point is on the normal, and no other point of the surface is nearer. */
    yk_vec3 off = yk_v3_sub(yk_v3_sub(p, near.point), yk_v3_scale(near.distance, near.normal));
    assert_near(yk_v3_norm(off), 0, 1e-9 * scale);
    for (int i = 0; i < 500; i++) {
        yk_vec3 u = random_direction(stream);
        yk_vec3 q = {s->size.x * u.x, s->size.y * u.y, s->size.z * u.z};
        assert_true(yk_v3_norm(yk_v3_sub(p, q)) >= fabs(near.distance) - 1e-12 * scale);
    }
}

static void test_nearest_points(void **state)
{
    (void)state;
    uint64_t stream = 1;
    for (int k = 0; k < 500; k++) {
        yk_solid s = {.kind = YK_SOLID_ELLIPSOID, .rotation = yk_m3_identity()};
        s.size = random_size(&stream, k % 2 ? THIN : FREE);
        yk_vec3 p = yk_v3_scale(between(&stream, 0, 2), random_direction(&stream));

        /* Also in planes and on axes of symmetry, and next to them. */
        if (k % 5 == 1)
            p.x = 0;
        if (k % 7 == 1)
            p.y = 1e-17;
        if (k % 11 == 1)
            p.z = 0;
        check_nearest(&s, p, &stream);
    }

    /* Centers, and equal half axes. */
    yk_solid s = {.kind = YK_SOLID_ELLIPSOID, .rotation = yk_m3_identity()};
    static const yk_vec3 sizes[] = {{1, 2, 3}, {1, 1, 1}, {1, 1, 5}, {5, 1, 1}};
    for (int k = 0; k < 4; k++) {
        s.size = sizes[k];
        check_nearest(&s, yk_v3(0, 0, 0), &stream);
        check_nearest(&s, yk_v3(0, 0, 0.1), &stream);
        check_nearest(&s, yk_v3(0.1, 0, 0), &stream);
        check_nearest(&s, yk_v3(0, 4, 0), &stream);
    }
}

/* The smallest room between points of the surface and the walls. */
static double sampled_gap(const yk_solid *s, const yk_solid *outside)
{
    enum { N = 400 };
    double least = INFINITY;
    for (int i = 0; i <= N; i++) {
        for (int k = 0; k < 2 * N; k++) {
            double polar = YK_PI * i / N, around = YK_PI * k / N;
            yk_vec3 u = {sin(polar) * cos(around), sin(polar) * sin(around), cos(polar)};
            least = fmin(least, yk_solid_clearance(outside, surface_point(s, u)));
        }
    }
    return least;
}

static void test_walls(void **state)
{
    (void)state;
    uint64_t stream = 2;
    static const yk_solid_kind outside[] = {YK_SOLID_PLANE, YK_SOLID_BOX_CAVITY,
                                            YK_SOLID_CYLINDER_CAVITY};
    for (int k = 0; k < 30; k++) {
        sample made;
        make_sample(&stream, YK_SOLID_ELLIPSOID, FREE, &made);
        yk_solid *s = &made.solid;
        s->position = yk_v3_scale(between(&stream, 0, 0.3), random_direction(&stream));
        if (k % 4 == 0)
            s->position = yk_v3(0, 0, 0); /* on the axis: both sides are equally near */
        yk_solid wall = {.kind = outside[k % 3], .size = {1.3, 1.4, 1.5}};
        wall.rotation = yk_q_matrix(yk_so3_exp(random_direction(&stream)));

        yk_touch list[YK_MANIFOLD_MAX];
        int count = yk_collide(s, &wall, 10, list);
        double least = INFINITY;
        for (int i = 0; i < count; i++) {
            yk_vec3 local =
                yk_m3_apply_transposed(s->rotation, yk_v3_sub(list[i].point_a, s->position));
            assert_near(level(s->size, local), 1, 1e-9);
            least = fmin(least, list[i].gap);
        }
        double sampled = sampled_gap(s, &wall);
        assert_true(least <= sampled + 1e-12);
        assert_near(least, sampled, 1e-4);
    }
}

/* A spheroid that rolls on its flank: the radius of curvature R = a^2 / c at the bottom raises the
 * center, omega^2 = m g (R - c) / (J + m c^2). */
static void test_rocking_period(void **state)
{
    (void)state;
    const double a = 0.2, c = 0.1, mass = 3, h = 2e-5;
    const double curvature_radius = a * a / c, inertia = mass * (a * a + c * c) / 5;
    const double omega = sqrt(mass * SCENE_G * (curvature_radius - c) / (inertia + mass * c * c));

    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    add_floor(&s, rough(1));
    yk_solid solid = {.kind = YK_SOLID_ELLIPSOID, .size = {a, c, c}};
    yk_mat3 tensor;
    double volume = yk_solid_mass(&solid, 1, &tensor);
    int egg = add_solid(&s, YK_SOLID_ELLIPSOID, solid.size, yk_v3(0, 0, c), yk_q_identity(), mass,
                        yk_m3_scale(mass / volume, tensor), rough(1));

    /* It rolls: the point of contact is at rest. */
    const double rate = 0.02;
    set_velocity(&s, egg, yk_v3(rate * c, 0, 0), yk_v3(0, rate, 0));
    start(&s, h);

    /* Half a period lies between two zeros of the angular velocity. */
    double zeros[2] = {0, 0}, before = rate;
    int found = 0;
    for (int i = 1; i * h < 10 / omega && found < 2; i++) {
        run(&s, h, 1);
        double now = motion_of(&s, egg).angular_velocity.y;
        if (now * before < 0)
            zeros[found++] = h * (i - now / (now - before));
        before = now;
    }
    assert_int_equal(found, 2);
    assert_relative(YK_PI / (zeros[1] - zeros[0]), omega, 2e-3);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_points),
        cmocka_unit_test(test_walls),
        cmocka_unit_test(test_rocking_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
