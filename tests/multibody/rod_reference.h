/* Independent reference for the beam tests: the equilibrium of a Cosserat rod under a dead end
 * load, integrated from the clamp to the tip with Runge and Kutta's method and shooting. No
 * finite elements, no code of the beam. */
#ifndef YK_TESTS_ROD_REFERENCE_H
#define YK_TESTS_ROD_REFERENCE_H

#include <string.h>

#include "math/dense.h"
#include "math/vec3.h"

typedef struct rod {
    double length;
    double stiffness[6][6];
    yk_vec3 curvature;     /* of the unloaded rod, in section axes */
    yk_vec3 force, torque; /* on the tip */
} rod;

typedef struct rod_state {
    yk_vec3 place;
    yk_quat frame;
    yk_vec3 moment; /* global */
} rod_state;

enum { ROD_STEPS = 400 };

static inline rod_state rod_slope(const rod *r, const double *factors, const int *pivot,
                                  rod_state y)
{
    yk_quat q = yk_q_unit(y.frame);
    yk_vec3 n = yk_q_rotate_back(q, r->force), m = yk_q_rotate_back(q, y.moment);
    double e[6] = {n.x, n.y, n.z, m.x, m.y, m.z};
    yk_lu_solve(6, factors, pivot, e);
    yk_vec3 slope = yk_q_rotate(q, yk_v3(1 + e[0], e[1], e[2]));
    yk_vec3 k = yk_v3_add(r->curvature, yk_v3(e[3], e[4], e[5]));
    yk_quat spin = yk_q_mul(y.frame, (yk_quat){0, 0.5 * k.x, 0.5 * k.y, 0.5 * k.z});
    return (rod_state){slope, spin, yk_v3_cross(r->force, slope)};
}

static inline rod_state rod_add(rod_state a, double s, rod_state b)
{
    a.place = yk_v3_axpy(s, b.place, a.place);
    a.moment = yk_v3_axpy(s, b.moment, a.moment);
    a.frame.w += s * b.frame.w, a.frame.x += s * b.frame.x, a.frame.y += s * b.frame.y,
        a.frame.z += s * b.frame.z;
    return a;
}

static inline rod_state rod_integrate(const rod *r, yk_vec3 moment)
{
    double factors[36];
    int pivot[6];
    memcpy(factors, r->stiffness, sizeof factors);
    yk_lu_factor(6, factors, pivot);
    rod_state y = {{0, 0, 0}, {1, 0, 0, 0}, moment};
    double h = r->length / ROD_STEPS;
    for (int i = 0; i < ROD_STEPS; i++) {
        rod_state a = rod_slope(r, factors, pivot, y);
        rod_state b = rod_slope(r, factors, pivot, rod_add(y, 0.5 * h, a));
        rod_state c = rod_slope(r, factors, pivot, rod_add(y, 0.5 * h, b));
        rod_state d = rod_slope(r, factors, pivot, rod_add(y, h, c));
        y = rod_add(rod_add(rod_add(rod_add(y, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
        y.frame = yk_q_unit(y.frame);
    }
    return y;
}

/* Newton on the three moments at the clamp, the load applied in eight steps. */
static inline rod_state rod_solve(rod r)
{
    yk_vec3 force = r.force, torque = r.torque, moment = {0, 0, 0};
    rod_state tip = {0};
    for (int step = 1; step <= 8; step++) {
        r.force = yk_v3_scale(step / 8.0, force), r.torque = yk_v3_scale(step / 8.0, torque);
        double size = yk_v3_norm(force) * r.length + yk_v3_norm(torque), scale = 1e-5 * size;
        for (int iteration = 0; iteration < 20; iteration++) {
            tip = rod_integrate(&r, moment);
            yk_vec3 gap = yk_v3_sub(tip.moment, r.torque);
            if (yk_v3_norm(gap) < 1e-12 * size)
                break;
            yk_vec3 column[3];
            for (int j = 0; j < 3; j++) {
                yk_vec3 up = moment, down = moment;
                (&up.x)[j] += scale, (&down.x)[j] -= scale;
                yk_vec3 difference =
                    yk_v3_sub(rod_integrate(&r, up).moment, rod_integrate(&r, down).moment);
                column[j] = yk_v3_scale(0.5 / scale, difference);
            }
            yk_mat3 jacobian = yk_m3_columns(column[0], column[1], column[2]);
            moment = yk_v3_sub(moment, yk_m3_apply(yk_m3_inverse(jacobian), gap));
        }
    }
    return tip;
}

#endif
