/* The frame of a section in absolute nodal coordinates, and its derivatives.
 *
 * With x along r_y x r_z and y*, z* the dual vectors of r_y, r_z in the section's plane,
 *
 *   dtheta = - (x cross y*) (x . dr_y) - (x cross z*) (x . dr_z)
 *            + x (turn_y . dr_y + turn_z . dr_z) / 2,
 *
 * turn_y = (x cross r_y) / |r_y|^2: tilts of the plane, and the mean of the turns of both
 * gradients in it. Second derivatives come from forward differentiation of these few lines, a
 * direction at a time. */
#include <string.h>

#include "smooth/ancf.h"

/* A number or vector and its derivative in one direction. */
typedef struct scalar {
    double v, d;
} scalar;

typedef struct vector {
    yk_vec3 v, d;
} vector;

static scalar dot(vector a, vector b)
{
    return (scalar){yk_v3_dot(a.v, b.v), yk_v3_dot(a.d, b.v) + yk_v3_dot(a.v, b.d)};
}

static vector cross(vector a, vector b)
{
    return (vector){yk_v3_cross(a.v, b.v), yk_v3_add(yk_v3_cross(a.d, b.v), yk_v3_cross(a.v, b.d))};
}

static vector scale(scalar s, vector a)
{
    return (vector){yk_v3_scale(s.v, a.v), yk_v3_axpy(s.d, a.v, yk_v3_scale(s.v, a.d))};
}

static vector add(vector a, vector b)
{
    return (vector){yk_v3_add(a.v, b.v), yk_v3_add(a.d, b.d)};
}

static scalar inverse(scalar s)
{
    return (scalar){1 / s.v, -s.d / (s.v * s.v)};
}

static scalar negative(scalar s)
{
    return (scalar){-s.v, -s.d};
}

static scalar half(scalar s)
{
    return (scalar){0.5 * s.v, 0.5 * s.d};
}

/* The section's normal, the tilts (x cross dual) and the turns of both gradients. */
typedef struct section {
    vector x, tilt[2], rotation[2];
} section;

static section section_of(vector y, vector z)
{
    vector normal = cross(y, z);
    scalar square = dot(normal, normal);
    double length = sqrt(square.v);
    scalar area = {length, 0.5 * square.d / length};
    scalar by_area = inverse(area);
    section s = {.x = scale(by_area, normal)};

    /* y* = z cross x / area, so x cross y* = z / area; likewise x cross z* = -y / area. */
    s.tilt[0] = scale(by_area, z);
    s.tilt[1] = scale(negative(by_area), y);

    /* Half of each, as the mean of both counts. */
    s.rotation[0] = scale(half(inverse(dot(y, y))), cross(s.x, y));
    s.rotation[1] = scale(half(inverse(dot(z, z))), cross(s.x, z));

    return s;
}

static vector vector_of(const double *value, const double *direction)
{
    vector v = {{value[0], value[1], value[2]}, {0, 0, 0}};
    if (direction)
        v.d = yk_v3(direction[0], direction[1], direction[2]);
    return v;
}

void yk_ancf_section_pose(const double coordinates[YK_ANCF_SECTION],
                          const double rates[YK_ANCF_SECTION], yk_frame *placed, double *jacobian)
{
    vector y = vector_of(coordinates + 3, NULL);
    vector z = vector_of(coordinates + 6, NULL);
    section s = section_of(y, z);

    placed->position = yk_v3(coordinates[0], coordinates[1], coordinates[2]);
    placed->velocity = yk_v3(rates[0], rates[1], rates[2]);

    /* The axes y and z by equal angles from r_y and r_z: the bisector of their directions is that
     * of the frame's axes. */
    yk_vec3 normal = s.x.v;
    yk_vec3 middle = yk_v3_unit(yk_v3_add(yk_v3_unit(y.v), yk_v3_unit(z.v)));
    yk_vec3 across = yk_v3_cross(normal, middle);
    yk_vec3 second = yk_v3_scale(sqrt(0.5), yk_v3_sub(middle, across));
    placed->rotation = yk_m3_columns(normal, second, yk_v3_cross(normal, second));

    /* dtheta of the head of this file, with rates in the place of changes */
    yk_vec3 y_rate = yk_v3(rates[3], rates[4], rates[5]);
    yk_vec3 z_rate = yk_v3(rates[6], rates[7], rates[8]);
    double twist = yk_v3_dot(s.rotation[0].v, y_rate) + yk_v3_dot(s.rotation[1].v, z_rate);
    yk_vec3 spin = yk_v3_scale(-yk_v3_dot(s.x.v, y_rate), s.tilt[0].v);
    spin = yk_v3_axpy(-yk_v3_dot(s.x.v, z_rate), s.tilt[1].v, spin);
    placed->angular_velocity = yk_v3_axpy(twist, s.x.v, spin);
    if (!jacobian)
        return;

    /* The same by each coordinate. */
    memset(jacobian, 0, 6 * YK_ANCF_SECTION * sizeof *jacobian);
    for (int i = 0; i < 3; i++)
        jacobian[YK_ANCF_SECTION * i + i] = 1;
    for (int k = 0; k < 2; k++) {
        yk_mat3 map =
            yk_m3_sub(yk_m3_outer(s.x.v, s.rotation[k].v), yk_m3_outer(s.tilt[k].v, s.x.v));
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                jacobian[YK_ANCF_SECTION * (3 + i) + 3 + 3 * k + j] = map.m[i][j];
        }
    }
}

void yk_ancf_section_bias(const double coordinates[YK_ANCF_SECTION],
                          const double rates[YK_ANCF_SECTION], yk_vec3 *acceleration,
                          yk_vec3 *angular_acceleration)
{
    /* The angular velocity, differentiated along the rates. */
    vector y = vector_of(coordinates + 3, rates + 3);
    vector z = vector_of(coordinates + 6, rates + 6);
    section s = section_of(y, z);
    vector spin = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 2; k++) {
        vector rate = vector_of(rates + 3 + 3 * k, NULL);
        spin = add(spin, scale(negative(dot(s.x, rate)), s.tilt[k]));
        spin = add(spin, scale(dot(s.rotation[k], rate), s.x));
    }

    *acceleration = yk_v3(0, 0, 0);
    *angular_acceleration = spin.d;
}

void yk_ancf_section_stiffness(const double coordinates[YK_ANCF_SECTION], yk_vec3 torque,
                               double factor, double *tangent)
{
    vector fixed = {torque, {0, 0, 0}};
    for (int column = 3; column < YK_ANCF_SECTION; column++) {
        double direction[YK_ANCF_SECTION] = {0};
        direction[column] = 1;
        section s = section_of(vector_of(coordinates + 3, direction + 3),
                               vector_of(coordinates + 6, direction + 6));

        /* The torque on r_y and r_z: the transposed map times it, differentiated along one
         * coordinate. */
        for (int k = 0; k < 2; k++) {
            vector twist = scale(dot(fixed, s.x), s.rotation[k]);
            vector load = add(twist, scale(negative(dot(fixed, s.tilt[k])), s.x));
            double *at = &tangent[YK_ANCF_SECTION * (3 + 3 * k) + column];
            at[0] += factor * load.d.x;
            at[YK_ANCF_SECTION] += factor * load.d.y;
            at[2 * YK_ANCF_SECTION] += factor * load.d.z;
        }
    }
}
