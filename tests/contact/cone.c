/* Projections on friction cones: defining identities, and derivatives against differences. */
#include "contact/cone.h"

#include "contact/problems.h"

static const int dims[] = {1, 2, 3, 4, 6};
enum { DIMS = sizeof dims / sizeof *dims };

static yk_cone random_cone(stream *s, int dim)
{
    return (yk_cone){.dim = dim,
                     .mu = {0.5 + 0.5 * fabs(next_number(s)), 0.3 * fabs(next_number(s)),
                            0.2 + 0.1 * next_number(s)}};
}

/* y = P(x) is the nearest point of a convex cone K if and only if y is in K, x - y in the polar
 * cone, and both are perpendicular. */
static void projection_is_nearest_point(void **state)
{
    (void)state;
    stream s = {1};
    for (int trial = 0; trial < 2000; trial++) {
        yk_cone cone = random_cone(&s, dims[trial % DIMS]);
        double x[6], y[6], rest[6], dot = 0, again[6];
        for (int k = 0; k < cone.dim; k++)
            x[k] = next_number(&s);
        yk_cone_project(&cone, x, y);
        for (int k = 0; k < cone.dim; k++) {
            rest[k] = x[k] - y[k];
            dot += rest[k] * y[k];
        }
        for (int g = 0; g < YK_FRICTION_GROUPS; g++)
            assert_true(yk_cone_group_norm(cone.dim, g, y) <=
                            cone.mu[g] * y[0] * (1 + 1e-14) + 1e-300 ||
                        yk_cone_group_start[g] >= cone.dim);
        assert_true(y[0] >= 0);
        assert_near(dot, 0, 1e-14);
        /* polar: -rest_N >= sum of mu |rest_g| */
        assert_true(-rest[0] >= yk_cone_lift(&cone, rest) - 1e-14);
        yk_cone_project(&cone, y, again);
        for (int k = 0; k < cone.dim; k++)
            assert_near(again[k], y[k], 1e-15);
    }
}

static void projection_known_values(void **state)
{
    (void)state;
    yk_cone cone = {.dim = 3, .mu = {0.5}};
    double inside[] = {1, 0.3, 0.4}, below[] = {-1, 0.1, 0}, beside[] = {0, 3, 4}, y[3];
    yk_cone_project(&cone, inside, y);
    assert_near(y[1], 0.3, 0);
    yk_cone_project(&cone, below, y);
    assert_near(y[0], 0, 0);
    assert_near(y[1], 0, 0);
    yk_cone_project(&cone, beside, y); /* n = mu |t| / (1 + mu^2) = 2 */
    assert_near(y[0], 2, 1e-15);
    assert_near(y[1], 0.6, 1e-15);
    assert_near(y[2], 0.8, 1e-15);
}

static void frictionless_groups_vanish(void **state)
{
    (void)state;
    yk_cone cone = {.dim = 6};
    double x[] = {2, 1, 1, 1, 1, 1}, y[6];
    yk_cone_project(&cone, x, y);
    assert_near(y[0], 2, 0);
    for (int k = 1; k < 6; k++)
        assert_near(y[k], 0, 0);
}

static void box_clips_each_component(void **state)
{
    (void)state;
    yk_cone cone = {.dim = 3, .mu = {0.5}};
    double x[] = {-1, 3, -0.2}, y[3];
    yk_box_project(&cone, 2, x, y);
    assert_near(y[0], 0, 0);
    assert_near(y[1], 1, 0);
    assert_near(y[2], -0.2, 0);
}

/* Change of the natural map along a direction, by central differences with u moving by W
 * direction. */
static void map_slope(const yk_cone *cone, yk_friction_model model, double rho, const double *r,
                      const double *u, const double *d, const double *wd, double h, double *slope)
{
    double ends[2][6];
    for (int side = 0; side < 2; side++) {
        double sign = side == 0 ? -h : h, rh[6], uh[6];
        for (int k = 0; k < cone->dim; k++) {
            rh[k] = r[k] + sign * d[k];
            uh[k] = u[k] + sign * wd[k];
        }
        yk_cone_natural_map(cone, model, rho, rh, uh, ends[side]);
    }
    for (int k = 0; k < cone->dim; k++)
        slope[k] = (ends[1][k] - ends[0][k]) / (2 * h);
}

static void newton_equation_matches_differences(void **state)
{
    (void)state;
    stream s = {7};
    const yk_friction_model models[] = {YK_FRICTION_CONVEX_CONE, YK_FRICTION_COULOMB,
                                        YK_FRICTION_PYRAMID};
    int compared = 0;
    for (int trial = 0; trial < 1500; trial++) {
        yk_cone cone = random_cone(&s, dims[trial % DIMS]);
        yk_friction_model model = models[trial / DIMS % 3];
        double r[6], u[6], d[6], wd[6], left[36], right[36], g[6], map[6];
        double rho = 0.7, coarse[6], fine[6];
        for (int k = 0; k < cone.dim; k++) {
            r[k] = next_number(&s) + (k == 0);
            u[k] = next_number(&s);
            d[k] = next_number(&s);
            wd[k] = next_number(&s);
        }
        map_slope(&cone, model, rho, r, u, d, wd, 1e-5, coarse);
        map_slope(&cone, model, rho, r, u, d, wd, 5e-6, fine);
        double kink = 0;
        for (int k = 0; k < cone.dim; k++)
            kink = fmax(kink, fabs(fine[k] - coarse[k]));
        if (kink > 1e-6)
            continue; /* the map has a corner between */
        yk_cone_linearise(&cone, model, rho, r, u, left, right, g);
        yk_cone_natural_map(&cone, model, rho, r, u, map);
        for (int k = 0; k < cone.dim; k++) {
            double slope = 0;
            for (int l = 0; l < cone.dim; l++)
                slope += left[k * cone.dim + l] * wd[l] + right[k * cone.dim + l] * d[l];
            assert_near(fine[k], rho * slope, 1e-4);
            assert_near(g[k], -map[k] / rho, 1e-14);
        }
        compared++;
    }
    assert_true(compared > 1400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_is_nearest_point),
        cmocka_unit_test(projection_known_values),
        cmocka_unit_test(frictionless_groups_vanish),
        cmocka_unit_test(box_clips_each_component),
        cmocka_unit_test(newton_equation_matches_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
