#include "coupling/path.h"

#include "math/polynomial.h"
#include "math/so3.h"

static void between(double h, yk_vec3 y0, yk_vec3 v0, yk_vec3 a0, yk_vec3 y1, yk_vec3 v1,
                    yk_vec3 a1, yk_vec3 c[YK_PATH_COEFFICIENTS])
{
    double x[YK_PATH_COEFFICIENTS];
    double y[YK_PATH_COEFFICIENTS];
    double z[YK_PATH_COEFFICIENTS];
    yk_poly_quintic(h, y0.x, v0.x, a0.x, y1.x, v1.x, a1.x, x);
    yk_poly_quintic(h, y0.y, v0.y, a0.y, y1.y, v1.y, a1.y, y);
    yk_poly_quintic(h, y0.z, v0.z, a0.z, y1.z, v1.z, a1.z, z);
    for (int i = 0; i < YK_PATH_COEFFICIENTS; i++)
        c[i] = yk_v3(x[i], y[i], z[i]);
}

yk_path yk_path_between(yk_port_kind kind, double h, const yk_motion *from, const yk_motion *to)
{
    yk_path path = {.kind = kind, .orientation = yk_q_identity()};
    between(h, from->position, from->velocity, from->acceleration, to->position, to->velocity,
            to->acceleration, path.linear);
    if (kind != YK_PORT_MARKER)
        return path;

    /* The rotation vector from one orientation to the other, and its rates at the end: omega = T
     * theta', alpha = T' theta' + T theta''. */
    yk_quat back = yk_q_conjugate(from->orientation);
    yk_vec3 theta = yk_so3_log(yk_q_mul(to->orientation, back));
    yk_mat3 inverse = yk_so3_left_tangent_inverse(theta);
    yk_vec3 rate = yk_m3_apply(inverse, to->angular_velocity);
    yk_vec3 curved = yk_m3_apply(yk_so3_left_tangent_rate(theta, rate), rate);
    yk_vec3 second = yk_m3_apply(inverse, yk_v3_sub(to->angular_acceleration, curved));
    between(h, yk_v3(0, 0, 0), from->angular_velocity, from->angular_acceleration, theta, rate,
            second, path.angular);
    path.orientation = from->orientation;

    return path;
}

/* Horner's rule, with the derivative. */
static void evaluate(const yk_vec3 c[YK_PATH_COEFFICIENTS], double t, yk_vec3 *value, yk_vec3 *rate)
{
    *value = c[YK_PATH_COEFFICIENTS - 1];
    *rate = yk_v3(0, 0, 0);

    for (int i = YK_PATH_COEFFICIENTS - 2; i >= 0; i--) {
        *rate = yk_v3_axpy(t, *rate, *value);
        *value = yk_v3_axpy(t, *value, c[i]);
    }
}

void yk_path_at(const yk_path *path, double t, yk_motion *motion)
{
    evaluate(path->linear, t, &motion->position, &motion->velocity);
    motion->acceleration = yk_v3(0, 0, 0);
    motion->orientation = path->orientation;
    motion->angular_velocity = yk_v3(0, 0, 0);
    motion->angular_acceleration = yk_v3(0, 0, 0);
    if (path->kind == YK_PORT_SCALAR)
        return;

    /* R = exp(theta) R_0, omega = T(theta) theta'. */
    yk_vec3 theta;
    yk_vec3 rate;
    evaluate(path->angular, t, &theta, &rate);
    motion->orientation = yk_q_mul(yk_so3_exp(theta), path->orientation);
    motion->angular_velocity = yk_m3_apply(yk_so3_left_tangent(theta), rate);
}
