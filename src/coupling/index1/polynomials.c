/* The polynomials of the scheme index1.
 *
 * The shapes are those of paper index1 (23), (24): a free mass answers to p_1 with its position
 * at the end of the step only, to p_2 with its velocity, to p_3 with its acceleration, so the
 * scaled Jacobian of free masses is diagonal. The same holds for degrees 0 and 1, which have
 * fewer parameters: degree 1 meets position and velocity, degree 0 the sum of both scaled
 * conditions (either of them alone would leave the other undamped).
 *
 * Where the direction of a wrench rotates during the step, the polynomial of the wrench meets
 * direction times multiplier at the nodes of Gauss (degrees 0, 1), Radau (2) and Lobatto (3).
 * With these it has the same first moments over the step, and the same value at the ends where
 * the degree fixes it, up to the order of the scheme.
 *
 * Where a port is between the ends of the step, to take such directions, is given by its path. */
#include <string.h>

#include "coupling/index1/index1.h"
#include "math/so3.h"

static const yk_index1_basis bases[YK_INPUT_COEFFICIENTS] = {
    {.degree = 0, .parameters = 1, .shape = {{2.0 / 3}}, .condition = {{1, 1, 0}}, .node = {0.5}},
    {.degree = 1,
     .parameters = 2,
     .shape = {{6, -12}, {-2, 6}},
     .condition = {{1, 0, 0}, {0, 1, 0}},
     .node = {0.2113248654051871177, 0.7886751345948128823}},
    {.degree = 2,
     .parameters = 3,
     .shape = {{12, -48, 36}, {-6, 30, -24}, {1, -6, 6}},
     .condition = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .node = {0.1550510257216821902, 0.6449489742783178098, 1}},
    {.degree = 3,
     .parameters = 3,
     .shape = {{0, 60, -180, 120}, {0, -24, 84, -60}, {0, 3, -12, 10}},
     .condition = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .node = {0, 0.2763932022500210304, 0.7236067977499789696, 1}},
};

yk_index1_basis yk_index1_basis_of(int degree)
{
    yk_index1_basis basis = bases[degree];
    memcpy(basis.moment, basis.condition, sizeof basis.moment);

    /* A constant wrench is that of the relation at the end of the step. */
    if (degree == 0) {
        basis.moment[0][0] = 0;
        basis.moment[0][1] = 0;
        basis.moment[0][2] = 1 / basis.shape[0][0];
    }

    /* Lagrange's polynomials of the nodes, and their integrals. */
    for (int i = 0; i <= degree; i++) {
        double value[YK_INDEX1_NODES] = {0};
        value[i] = 1;
        yk_poly_interpolate(basis.node, value, degree, basis.lagrange[i]);

        for (int power = 0; power <= degree; power++)
            basis.weight[i] += basis.lagrange[i][power] / (power + 1);
    }

    return basis;
}

/* Paths of ports between the ends of a macro step ---------------------------------------------- */

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

    /* The rotation vector that leads from one orientation to the other, and the rates that it has
     * at the end: omega = T theta', alpha = T' theta' + T theta''. */
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

yk_path yk_path_from(yk_port_kind kind, const yk_motion *from)
{
    yk_path path = {.kind = kind, .orientation = yk_q_identity()};
    /* The Taylor series that the motion is known by. */
    path.linear[0] = from->position;
    path.linear[1] = from->velocity;
    path.linear[2] = yk_v3_scale(0.5, from->acceleration);
    if (kind == YK_PORT_SCALAR)
        return path;

    path.angular[1] = from->angular_velocity;
    path.angular[2] = yk_v3_scale(0.5, from->angular_acceleration);
    path.orientation = from->orientation;

    return path;
}

/* Horner's rule, with the rate. */
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
