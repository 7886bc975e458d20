/* Rotations by the Stumpff functions c_k(x) = sum over j of (-x)^j / (k + 2j)!, x = |theta|^2:
 *
 *   exp matrix  R  = I + c1 S + c2 S^2             S = skew(theta)
 *   tangent     T  = I + c2 S + c3 S^2
 *               T' follows from dc2/dt = (2 c4 - c3) theta.theta'
 *                               dc3/dt = (3 c5 - c4) theta.theta'
 *   inverse     T^-1 = I - S/2 + (c3 - 2 c4) / (2 c2) S^2
 *
 * The recurrence c_k = 1/k! - x c_(k+2) loses accuracy at small angles if it is solved for c_(k+2),
 * and none if it is used in the other direction. So c4 and c5 are computed from their series below
 * two radians and from sine and cosine above. */
#include "math/so3.h"

/* 1/k! (1 - x/((k+1)(k+2)) (1 - x/((k+3)(k+4)) (...))); eleven terms are accurate to rounding
 * errors for x <= 4. */
static inline double stumpff_series(int k, double inverse_factorial, double x)
{
    double sum = 1;
    for (int j = k + 21; j > k; j -= 2)
        sum = 1 - x / (double)(j * (j + 1)) * sum;

    return inverse_factorial * sum;
}

/* c[k] = c_k(x) for k = 2 to 5. */
static void stumpff(double x, double c[6])
{
    if (x < 4) {
        c[4] = stumpff_series(4, 1.0 / 24, x);
        c[5] = stumpff_series(5, 1.0 / 120, x);
        c[2] = 0.5 - x * c[4];
        c[3] = 1.0 / 6 - x * c[5];
        return;
    }

    /* By sine and cosine, without cancellation in c2. */
    double angle = sqrt(x);
    double half_sine = sin(0.5 * angle);
    c[2] = 2 * half_sine * half_sine / x;
    c[3] = (1 - sin(angle) / angle) / x;
    c[4] = (0.5 - c[2]) / x;
    c[5] = (1.0 / 6 - c[3]) / x;
}

/* S^2 of S = skew(a) */
static yk_mat3 skew_squared(yk_vec3 a)
{
    double square = yk_v3_norm2(a);
    return yk_m3_sub(yk_m3_outer(a, a), yk_m3_diagonal(square, square, square));
}

/* I + p S + q S^2 */
static yk_mat3 quadratic_in_skew(yk_vec3 a, double p, double q)
{
    yk_mat3 sum = yk_m3_add(yk_m3_scale(p, yk_m3_skew(a)), yk_m3_scale(q, skew_squared(a)));
    return yk_m3_add(yk_m3_identity(), sum);
}

yk_quat yk_so3_exp(yk_vec3 theta)
{
    double x = yk_v3_norm2(theta);
    double angle = sqrt(x);

    /* The squared angle underflows long before the angle: below 1e-8 the limit is exact to
     * rounding. */
    double scale = 0.5;
    if (!(x < 1e-16))
        scale = sin(0.5 * angle) / angle;

    return (yk_quat){cos(0.5 * angle), scale * theta.x, scale * theta.y, scale * theta.z};
}

yk_vec3 yk_so3_log(yk_quat q)
{
    /* q and -q are the same rotation: use that with w > 0. At exactly pi both axes are valid; use
     * the one whose first nonzero component is positive, so that q and -q give the same there as
     * well. */
    double first = q.w;
    if (first == 0)
        first = q.x;
    if (first == 0)
        first = q.y;
    if (first == 0)
        first = q.z;
    double sign = first < 0 ? -1 : 1;

    /* atan2 of half sine and half cosine is accurate everywhere, unlike acos(w) near 0 and asin
     * near pi. */
    double w = fabs(q.w);
    double x = q.x * q.x + q.y * q.y + q.z * q.z;
    double sine = sqrt(x);
    double scale = 2 / w;
    if (!(x < 1e-30 * w * w))
        scale = 2 * atan2(sine, w) / sine;

    return yk_v3_scale(sign * scale, yk_v3(q.x, q.y, q.z));
}

yk_mat3 yk_so3_exp_matrix(yk_vec3 theta)
{
    return yk_q_matrix(yk_so3_exp(theta));
}

/* Shepperd's method: divide by the largest of 4w^2, 4x^2, 4y^2, 4z^2, which are sums of the
 * diagonal. */
yk_quat yk_so3_quat(yk_mat3 r)
{
    double(*m)[3] = r.m;
    double trace = m[0][0] + m[1][1] + m[2][2];
    int largest = 0;
    if (m[1][1] > m[0][0])
        largest = 1;
    if (m[2][2] > m[largest][largest])
        largest = 2;

    double w;
    double v[3];
    if (trace >= m[largest][largest]) {
        w = 1 + trace;
        v[0] = m[2][1] - m[1][2];
        v[1] = m[0][2] - m[2][0];
        v[2] = m[1][0] - m[0][1];
    } else {
        int i = largest;
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        w = m[k][j] - m[j][k];
        v[i] = 1 + m[i][i] - m[j][j] - m[k][k];
        v[j] = m[j][i] + m[i][j];
        v[k] = m[k][i] + m[i][k];
    }

    /* Choose q or -q such that w >= 0. */
    double sign = w < 0 ? -1 : 1;
    return yk_q_unit((yk_quat){sign * w, sign * v[0], sign * v[1], sign * v[2]});
}

yk_vec3 yk_so3_log_matrix(yk_mat3 r)
{
    return yk_so3_log(yk_so3_quat(r));
}

yk_mat3 yk_so3_left_tangent(yk_vec3 theta)
{
    double c[6];
    stumpff(yk_v3_norm2(theta), c);
    return quadratic_in_skew(theta, c[2], c[3]);
}

yk_mat3 yk_so3_left_tangent_inverse(yk_vec3 theta)
{
    double c[6];
    stumpff(yk_v3_norm2(theta), c);
    return quadratic_in_skew(theta, -0.5, (c[3] - 2 * c[4]) / (2 * c[2]));
}

yk_mat3 yk_so3_left_tangent_rate(yk_vec3 theta, yk_vec3 theta_rate)
{
    double c[6];
    stumpff(yk_v3_norm2(theta), c);

    /* Derivatives of c2, c3 and of S^2 by time. */
    double half_x_rate = yk_v3_dot(theta, theta_rate);
    double c2_rate = (2 * c[4] - c[3]) * half_x_rate;
    double c3_rate = (3 * c[5] - c[4]) * half_x_rate;
    yk_mat3 skew_square_rate =
        yk_m3_sub(yk_m3_add(yk_m3_outer(theta, theta_rate), yk_m3_outer(theta_rate, theta)),
                  yk_m3_diagonal(2 * half_x_rate, 2 * half_x_rate, 2 * half_x_rate));

    yk_mat3 rate = yk_m3_add(yk_m3_scale(c2_rate, yk_m3_skew(theta)),
                             yk_m3_scale(c[2], yk_m3_skew(theta_rate)));

    rate = yk_m3_add(rate, yk_m3_scale(c3_rate, skew_squared(theta)));
    return yk_m3_add(rate, yk_m3_scale(c[3], skew_square_rate));
}
