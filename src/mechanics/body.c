/* Inertia and momenta of body.h, and the functions of yoke/mechanics.h for markers, ports and
 * simple inertias. With skew(s) u = s x u, the derivatives by a rotation theta of the node are
 * those of its first moment, dS = theta x S, and of its second, dJ w = theta x J w - J (theta x w). */
#include "mechanics/body.h"

#include <stdio.h>

#include "base/text.h"
#include "math/so3.h"

/* Descriptions --------------------------------------------------------------------------------- */

yk_marker yk_marker_default(void)
{
    return yk_marker_at(0, 0, 0);
}

yk_marker yk_marker_at(double x, double y, double z)
{
    return (yk_marker){.offset = {x, y, z}, .orientation = yk_q_identity()};
}

yk_marker yk_marker_along(yk_vec3 origin, yk_vec3 axis)
{
    yk_vec3 x, y, z = yk_v3_unit(axis);
    yk_v3_tangents(z, &x, &y);
    return (yk_marker){.offset = origin, .orientation = yk_so3_quat(yk_m3_columns(x, y, z))};
}

yk_marker yk_marker_towards(yk_vec3 origin, yk_vec3 towards)
{
    return yk_marker_along(origin, yk_v3_sub(towards, origin));
}

yk_marker yk_marker_in_body(yk_marker global, yk_vec3 position, yk_quat orientation)
{
    return (yk_marker){
        .offset = yk_q_rotate_back(orientation, yk_v3_sub(global.offset, position)),
        .orientation = yk_q_unit(yk_q_mul(yk_q_conjugate(orientation), global.orientation)),
    };
}

yk_port_def yk_port_default(void)
{
    return (yk_port_def){
        .kind = YK_PORT_MARKER,
        .bodies = {YK_GROUND, YK_GROUND},
        .markers = {yk_marker_default(), yk_marker_default()},
    };
}

yk_port_def yk_port_marker(const char *name, yk_body_id body, yk_marker marker)
{
    yk_port_def port = yk_port_default();
    port.name = name;
    port.bodies[0] = body;
    port.markers[0] = marker;
    return port;
}

yk_port_def yk_port_distance(const char *name, yk_body_id body_a, yk_marker marker_a,
                             yk_body_id body_b, yk_marker marker_b)
{
    return (yk_port_def){
        .name = name,
        .kind = YK_PORT_SCALAR,
        .bodies = {body_a, body_b},
        .markers = {marker_a, marker_b},
    };
}

yk_port_def yk_port_signal(const char *name)
{
    yk_port_def port = yk_port_default();
    port.name = name;
    port.kind = YK_PORT_SIGNAL;
    return port;
}

yk_mat3 yk_inertia_box(double mass, double x, double y, double z)
{
    double twelfth = mass / 12;
    return yk_m3_diagonal(twelfth * (y * y + z * z), twelfth * (z * z + x * x),
                          twelfth * (x * x + y * y));
}

yk_mat3 yk_inertia_sphere(double mass, double radius)
{
    double moment = 0.4 * mass * radius * radius;
    return yk_m3_diagonal(moment, moment, moment);
}

yk_mat3 yk_inertia_cylinder(double mass, double radius, double length)
{
    double across = mass * (3 * radius * radius + length * length) / 12;
    return yk_m3_diagonal(across, across, 0.5 * mass * radius * radius);
}

/* Inertia -------------------------------------------------------------------------------------- */

yk_mat3 yk_inertia_of_point(double mass, yk_vec3 b)
{
    double square = yk_v3_norm2(b);

    return yk_m3_scale(mass, yk_m3_sub(yk_m3_diagonal(square, square, square), yk_m3_outer(b, b)));
}

yk_inertia yk_inertia_of_body(double mass, yk_vec3 centre, yk_mat3 central, yk_quat axes)
{
    /* Rotated to the node's axes, then moved to its origin (parallel axis theorem). */
    yk_mat3 rotated = yk_m3_rotate(yk_q_matrix(axes), central);

    return (yk_inertia){
        .mass = mass,
        .moment = yk_v3_scale(mass, centre),
        .tensor = yk_m3_add(rotated, yk_inertia_of_point(mass, centre)),
    };
}

void yk_inertia_add(yk_inertia *sum, const yk_inertia *part)
{
    sum->mass += part->mass;
    sum->moment = yk_v3_add(sum->moment, part->moment);
    sum->tensor = yk_m3_add(sum->tensor, part->tensor);
}

/* Eigenvalues of a symmetric matrix in ascending order, by the trigonometric solution of its
 * characteristic equation. */
static void principal_moments(yk_mat3 a, double moment[3])
{
    /* a = mean I + p b, where b has no trace and the eigenvalues 2 cos(phi + 2 pi k / 3), cos(3
     * phi) = det(b) / 2. */
    double mean = (a.m[0][0] + a.m[1][1] + a.m[2][2]) / 3;
    for (int i = 0; i < 3; i++)
        a.m[i][i] -= mean;

    double square = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            square += a.m[i][j] * a.m[i][j];
    }

    double p = sqrt(square / 6);

    double half_determinant = 0;
    if (p > 0)
        half_determinant = fmax(-1, fmin(1, yk_m3_determinant(yk_m3_scale(1 / p, a)) / 2));
    double phi = acos(half_determinant) / 3;

    for (int i = 0; i < 3; i++)
        moment[i] = mean + 2 * p * cos(phi + 2 * YK_PI / 3 * (i + 1));

    /* The first one is the smallest. */
    double middle = moment[1];
    moment[1] = fmin(middle, moment[2]);
    moment[2] = fmax(middle, moment[2]);
}

double yk_inertia_least(const yk_inertia *inertia)
{
    /* About the centre of mass. */
    yk_mat3 central = inertia->tensor;
    if (inertia->mass > 0) {
        yk_vec3 centre = yk_v3_scale(1 / inertia->mass, inertia->moment);
        central = yk_m3_sub(central, yk_inertia_of_point(inertia->mass, centre));
    }

    double moment[3];
    principal_moments(central, moment);

    return moment[0];
}

bool yk_inertia_possible(const yk_mat3 *central, char *why, size_t size)
{
    static const double rounded_digits = 5e-3;

    double largest = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double entry = central->m[i][j];
            if (!isfinite(entry)) {
                snprintf(why, size, "it has a number that is not finite");
                return false;
            }

            largest = fmax(largest, fabs(entry));
        }
    }

    /* Symmetric. */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < i; j++) {
            double below = central->m[i][j];
            double above = central->m[j][i];
            if (fabs(below - above) <= 1e-9 * largest)
                continue;

            yk_format(why, size, "it is not symmetric: %g in row %d and %g in row %d", above, j + 1,
                      below, i + 1);
            return false;
        }
    }

    /* Equal moments are accurate to half of the digits only. */
    double rounding = 1e-7 * largest;
    double moment[3];
    principal_moments(*central, moment);
    if (moment[0] < -rounding) {
        yk_format(why, size,
                  "its smallest principal moment is %.4g kg m^2, below zero: give it about the "
                  "centre of mass",
                  moment[0]);
        return false;
    }

    /* A = sum m (y^2 + z^2) and so on: B + C - A = 2 sum m x^2. */
    double most = moment[0] + moment[1];
    if (moment[2] - most > rounded_digits * moment[2] + rounding) {
        yk_format(why, size,
                  "its largest principal moment, %.4g kg m^2, exceeds the sum of the other two, "
                  "%.4g: a flat plate has as much as both together and no body more; for motion in "
                  "a plane alone give the others half of it, %.4g",
                  moment[2], most, 0.5 * moment[2]);
        return false;
    }

    return true;
}

void yk_inertia_rotate(const yk_inertia *inertia, const yk_mat3 *rotation, yk_inertia *global)
{
    global->mass = inertia->mass;
    global->moment = yk_m3_apply(*rotation, inertia->moment);

    /* R J R^T, computed for one half only, so that it is exactly symmetric. */
    yk_mat3 half = yk_m3_mul(*rotation, inertia->tensor);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            const double *row = rotation->m[j];
            double sum = half.m[i][0] * row[0] + half.m[i][1] * row[1] + half.m[i][2] * row[2];
            global->tensor.m[i][j] = sum;
            global->tensor.m[j][i] = sum;
        }
    }
}

yk_momentum yk_inertia_momentum(const yk_inertia *inertia, yk_vec3 velocity,
                                yk_vec3 angular_velocity)
{
    yk_vec3 v = velocity;
    yk_vec3 w = angular_velocity;
    yk_vec3 s = inertia->moment;

    return (yk_momentum){
        .linear = yk_v3_axpy(inertia->mass, v, yk_v3_cross(w, s)),
        .angular = yk_v3_add(yk_v3_cross(s, v), yk_m3_apply(inertia->tensor, w)),
    };
}

double yk_inertia_kinetic(const yk_momentum *momentum, yk_vec3 velocity, yk_vec3 angular_velocity)
{
    return 0.5 *
           (yk_v3_dot(momentum->linear, velocity) + yk_v3_dot(momentum->angular, angular_velocity));
}

static void set_block(double tangent[6][6], int row, int column, yk_mat3 block)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            tangent[row + i][column + j] = block.m[i][j];
    }
}

void yk_inertia_tangent(const yk_inertia *inertia, const yk_frame *node, double c, double fraction,
                        double tangent[6][6])
{
    yk_vec3 v = node->velocity;
    yk_vec3 w = node->angular_velocity;
    yk_vec3 s = inertia->moment;
    yk_mat3 tensor = inertia->tensor;
    double m = inertia->mass;

    /* Momentum of the mass at the node, and the spin J w: c d(J w) = J (c dw + c w x) theta - c
     * skew(J w) theta. */
    yk_mat3 c_dw = yk_m3_sub(yk_m3_identity(), yk_m3_skew(yk_v3_scale(c * fraction, w)));
    yk_vec3 spin = yk_m3_apply(tensor, w);
    yk_mat3 angular = yk_m3_mul(tensor, yk_m3_add(c_dw, yk_m3_skew(yk_v3_scale(c, w))));
    angular = yk_m3_sub(angular, yk_m3_skew(yk_v3_scale(c, spin)));
    set_block(tangent, 0, 0, yk_m3_diagonal(m, m, m));

    /* If its center of mass is at the node, this is all. */
    if (s.x == 0 && s.y == 0 && s.z == 0) {
        set_block(tangent, 0, 3, yk_m3_zero());
        set_block(tangent, 3, 0, yk_m3_zero());
        set_block(tangent, 3, 3, angular);
        return;
    }

    /* c dp = -skew(S) c dw - c skew(w) skew(S) theta */
    yk_mat3 skew_s = yk_m3_skew(s);
    yk_mat3 swept = yk_m3_scale(c, yk_m3_mul(yk_m3_skew(w), skew_s));
    yk_mat3 linear = yk_m3_scale(-1, yk_m3_add(yk_m3_mul(skew_s, c_dw), swept));
    set_block(tangent, 0, 3, linear);

    /* c dl and c^2 d(v x p), by the velocity and by the rotation */
    yk_mat3 c_skew_v = yk_m3_skew(yk_v3_scale(c, v));
    set_block(tangent, 3, 0, yk_m3_sub(skew_s, yk_m3_skew(yk_v3_scale(c, yk_v3_cross(w, s)))));
    angular = yk_m3_add(angular, yk_m3_mul(c_skew_v, skew_s));
    set_block(tangent, 3, 3, yk_m3_add(angular, yk_m3_mul(c_skew_v, linear)));
}

void yk_inertia_bias(const yk_inertia *inertia, const yk_frame *node, yk_vec3 *force,
                     yk_vec3 *torque)
{
    yk_vec3 w = node->angular_velocity;
    *force = yk_v3_cross(w, yk_v3_cross(w, inertia->moment));

    /* d/dt (S x v) - S x a + v x p = (w x S) x v + v x (w x S) = 0 */
    *torque = yk_v3_cross(w, yk_m3_apply(inertia->tensor, w));
}
