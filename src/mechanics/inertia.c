#include "mechanics/inertia.h"

#include <stdio.h>

/* m (|b|^2 I - b b^T), what a point mass at b adds to a tensor about the origin. */
static yk_mat3 point_tensor(double mass, yk_vec3 b)
{
    double square = yk_v3_norm2(b);
    return yk_m3_scale(mass, yk_m3_sub(yk_m3_diagonal(square, square, square), yk_m3_outer(b, b)));
}

yk_inertia yk_inertia_of_body(double mass, yk_vec3 centre, yk_mat3 central, yk_quat axes)
{
    yk_mat3 turn = yk_q_matrix(axes);
    yk_mat3 turned = yk_m3_mul(turn, yk_m3_mul(central, yk_m3_transpose(turn)));
    return (yk_inertia){
        .mass = mass, .moment = yk_v3_scale(mass, centre), .tensor = yk_m3_add(turned, point_tensor(mass, centre))};
}

void yk_inertia_add(yk_inertia *sum, const yk_inertia *part)
{
    sum->mass += part->mass;
    sum->moment = yk_v3_add(sum->moment, part->moment);
    sum->tensor = yk_m3_add(sum->tensor, part->tensor);
}

/* Eigenvalues of a symmetric matrix in ascending order, by the trigonometric solution of its characteristic equation. */
static void principal_moments(yk_mat3 a, double moment[3])
{
    double mean = (a.m[0][0] + a.m[1][1] + a.m[2][2]) / 3;
    for (int i = 0; i < 3; i++) a.m[i][i] -= mean;
    double square = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) square += a.m[i][j] * a.m[i][j];
    double p = sqrt(square / 6);
    double r = p > 0 ? fmax(-1, fmin(1, yk_m3_determinant(yk_m3_scale(1 / p, a)) / 2)) : 0;
    for (int i = 0; i < 3; i++) moment[i] = mean + 2 * p * cos(acos(r) / 3 + 2 * YK_PI / 3 * (i + 1));
    double middle = moment[1];
    moment[1] = fmin(middle, moment[2]);
    moment[2] = fmax(middle, moment[2]);
}

double yk_inertia_least(const yk_inertia *inertia)
{
    yk_mat3 central = inertia->tensor;
    if (inertia->mass > 0)
        central = yk_m3_sub(central, point_tensor(inertia->mass, yk_v3_scale(1 / inertia->mass, inertia->moment)));
    double moment[3];
    principal_moments(central, moment);
    return moment[0];
}

bool yk_inertia_possible(const yk_mat3 *central, char *why, size_t size)
{
    static const double rounded_digits = 5e-3;
    double largest = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            largest = fmax(largest, isfinite(central->m[i][j]) ? fabs(central->m[i][j]) : HUGE_VAL);
    if (!isfinite(largest)) {
        snprintf(why, size, "it has a number that is not finite");
        return false;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (fabs(central->m[i][j] - central->m[j][i]) > 1e-9 * largest) {
                snprintf(why, size, "it is not symmetric: %g in row %d and %g in row %d", central->m[j][i], j + 1,
                         central->m[i][j], i + 1);
                return false;
            }

    /* Equal moments come out with half of the digits. */
    double moment[3], rounding = 1e-7 * largest;
    principal_moments(*central, moment);
    if (moment[0] < -rounding) {
        snprintf(why, size,
                 "its smallest principal moment is %.4g kg m^2, below zero: give it about the centre of mass",
                 moment[0]);
        return false;
    }

    /* A = sum m (y^2 + z^2) and so on: B + C - A = 2 sum m x^2. */
    double most = moment[0] + moment[1];
    if (moment[2] - most > rounded_digits * moment[2] + rounding) {
        snprintf(
            why, size,
            "its largest principal moment, %.4g kg m^2, exceeds the sum of the other two, %.4g: a flat plate has as "
            "much as both together and no body more; for motion in a plane alone give the others half of it, %.4g",
            moment[2], most, 0.5 * moment[2]);
        return false;
    }
    return true;
}

void yk_inertia_turn(const yk_inertia *inertia, const yk_mat3 *rotation, yk_inertia_global *global)
{
    global->mass = inertia->mass;
    global->moment = yk_m3_apply(*rotation, inertia->moment);
    yk_mat3 half = yk_m3_mul(*rotation, inertia->tensor);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double sum =
                half.m[i][0] * rotation->m[j][0] + half.m[i][1] * rotation->m[j][1] + half.m[i][2] * rotation->m[j][2];
            global->tensor.m[i][j] = sum;
            global->tensor.m[j][i] = sum;
        }
    }
}

yk_momentum yk_inertia_momentum(const yk_inertia_global *inertia, yk_vec3 velocity, yk_vec3 angular_velocity)
{
    return (yk_momentum){
        .linear = yk_v3_axpy(inertia->mass, velocity, yk_v3_cross(angular_velocity, inertia->moment)),
        .angular = yk_v3_add(yk_v3_cross(inertia->moment, velocity), yk_m3_apply(inertia->tensor, angular_velocity))};
}

double yk_inertia_kinetic(const yk_momentum *momentum, yk_vec3 velocity, yk_vec3 angular_velocity)
{
    return 0.5 * (yk_v3_dot(momentum->linear, velocity) + yk_v3_dot(momentum->angular, angular_velocity));
}

static void put(double tangent[6][6], int row, int column, yk_mat3 block)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) tangent[row + i][column + j] = block.m[i][j];
}

void yk_inertia_tangent(const yk_inertia_global *inertia, const yk_frame *node, double c, double share,
                        double tangent[6][6])
{
    yk_vec3 v = node->velocity, w = node->angular_velocity, s = inertia->moment;
    yk_mat3 tensor = inertia->tensor;
    yk_mat3 rate = yk_m3_sub(yk_m3_identity(), yk_m3_skew(yk_v3_scale(c * share, w))); /* c dw/dtheta */
    yk_vec3 spin = yk_m3_apply(tensor, w);
    yk_mat3 angular =
        yk_m3_sub(yk_m3_mul(tensor, yk_m3_add(rate, yk_m3_skew(yk_v3_scale(c, w)))), yk_m3_skew(yk_v3_scale(c, spin)));
    put(tangent, 0, 0, yk_m3_diagonal(inertia->mass, inertia->mass, inertia->mass));
    if (s.x == 0 && s.y == 0 && s.z == 0) {
        put(tangent, 0, 3, yk_m3_zero());
        put(tangent, 3, 0, yk_m3_zero());
        put(tangent, 3, 3, angular);
        return;
    }
    yk_mat3 arm = yk_m3_skew(s), omega = yk_m3_skew(w), speed = yk_m3_skew(yk_v3_scale(c, v));
    /* c dp = -skew(s) c dw - c skew(w) skew(s) dtheta */
    yk_mat3 linear = yk_m3_scale(-1, yk_m3_add(yk_m3_mul(arm, rate), yk_m3_scale(c, yk_m3_mul(omega, arm))));
    put(tangent, 0, 3, linear);
    /* c dl from the velocity and from v x p */
    put(tangent, 3, 0, yk_m3_sub(arm, yk_m3_skew(yk_v3_scale(c, yk_v3_cross(w, s)))));
    angular = yk_m3_add(angular, yk_m3_mul(speed, arm));
    put(tangent, 3, 3, yk_m3_add(angular, yk_m3_mul(speed, linear)));
}

void yk_inertia_bias(const yk_inertia_global *inertia, const yk_frame *node, yk_vec3 *force, yk_vec3 *torque)
{
    yk_vec3 w = node->angular_velocity;
    *force = yk_v3_cross(w, yk_v3_cross(w, inertia->moment));
    /* d/dt (S x v) - S x a + v x p = (w x S) x v + v x (w x S) = 0 */
    *torque = yk_v3_cross(w, yk_m3_apply(inertia->tensor, w));
}
