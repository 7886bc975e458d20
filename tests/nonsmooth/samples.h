/* Random bounded solids of all kinds, in arrangements that are difficult for the distance search. */
#ifndef YOKE_TESTS_NONSMOOTH_SAMPLES_H
#define YOKE_TESTS_NONSMOOTH_SAMPLES_H

#include "math/so3.h"
#include "nonsmooth/narrow_phase.h"
#include "nonsmooth/packing.h"
#include "test.h"

enum { HULL_POINTS = 12 };

static const struct {
    yk_solid_kind kind;
    const char *name;
} kinds[] = {
    {YK_SOLID_SPHERE, "sphere"},       {YK_SOLID_CAPSULE, "capsule"}, {YK_SOLID_BOX, "box"},
    {YK_SOLID_CYLINDER, "cylinder"},   {YK_SOLID_HULL, "hull"},       {YK_SOLID_MESH, "triangle"},
    {YK_SOLID_ELLIPSOID, "ellipsoid"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Free: any pose, from deep overlaps to twice the size apart. Thin: needles, plates and flat hulls.
 * Aligned: parallel faces, edges in one plane, parallel axes. Touching: within 1 % of the size of
 * contact. Distant: hulls and triangles that are far from the origins of their frames. */
typedef enum arrangement { FREE, THIN, ALIGNED, TOUCHING, DISTANT, ARRANGEMENTS } arrangement;

static const char *const arrangement_names[ARRANGEMENTS] = {
    [FREE] = "free",         [THIN] = "thin",       [ALIGNED] = "aligned",
    [TOUCHING] = "touching", [DISTANT] = "distant",
};

typedef struct sample {
    yk_solid solid;
    yk_vec3 points[HULL_POINTS];
} sample;

static inline double between(uint64_t *stream, double low, double high)
{
    return low + (high - low) * yk_random(stream);
}

static inline yk_vec3 random_direction(uint64_t *stream)
{
    for (;;) {
        yk_vec3 p = {between(stream, -1, 1), between(stream, -1, 1), between(stream, -1, 1)};
        double length = yk_v3_norm(p);
        if (length > 0.1 && length < 1)
            return yk_v3_scale(1 / length, p);
    }
}

/* A multiple of a quarter from `least` on. */
static inline double on_grid(uint64_t *stream, double least, int steps)
{
    return least + 0.25 * floor(between(stream, 0, steps));
}

static inline yk_vec3 random_size(uint64_t *stream, arrangement how)
{
    double size[3];
    for (int i = 0; i < 3; i++) {
        size[i] = between(stream, 0.2, 1.2);
        if (how == THIN)
            size[i] = 0.01 * pow(120, yk_random(stream));
        if (how == ALIGNED)
            size[i] = on_grid(stream, 0.25, 3);
    }
    return yk_v3(size[0], size[1], size[2]);
}

static inline yk_vec3 random_point(uint64_t *stream, arrangement how)
{
    yk_vec3 p = yk_v3_scale(0.7, random_direction(stream));
    if (how == THIN)
        p.z *= 0.02;
    if (how == ALIGNED)
        p = yk_v3(on_grid(stream, -0.5, 5), on_grid(stream, -0.5, 5), on_grid(stream, -0.5, 5));
    if (how == DISTANT)
        p = yk_v3_add(p, yk_v3(20, -15, 10));
    return p;
}

/* Volume of the largest tetrahedron, or area of the triangle: a solid must not be degenerate. */
static inline double extent_of_points(const yk_vec3 *p, int count)
{
    double most = 0;
    for (int i = 3; i < count; i++) {
        for (int k = 2; k < i; k++) {
            yk_vec3 normal = yk_v3_cross(yk_v3_sub(p[1], p[0]), yk_v3_sub(p[k], p[0]));
            most = fmax(most, fabs(yk_v3_dot(normal, yk_v3_sub(p[i], p[0]))));
        }
    }
    if (count == 3)
        most = yk_v3_norm(yk_v3_cross(yk_v3_sub(p[1], p[0]), yk_v3_sub(p[2], p[0])));
    return most;
}

/* The middle of the solid is at `position`. */
static inline void make_sample(uint64_t *stream, yk_solid_kind kind, arrangement how, sample *made)
{
    yk_solid *solid = &made->solid;
    *solid = (yk_solid){.kind = kind, .size = random_size(stream, how)};

    solid->rotation =
        yk_q_matrix(yk_so3_exp(yk_v3_scale(3 * yk_random(stream), random_direction(stream))));
    solid->position = yk_v3_scale(2 * yk_random(stream), random_direction(stream));
    if (how == ALIGNED) {
        double quarter = YK_PI / 2;
        yk_vec3 about_x = {quarter * floor(between(stream, 0, 4)), 0, 0};
        yk_vec3 about_y = {0, quarter * floor(between(stream, 0, 4)), 0};
        solid->rotation =
            yk_m3_mul(yk_q_matrix(yk_so3_exp(about_x)), yk_q_matrix(yk_so3_exp(about_y)));
        solid->position =
            yk_v3(on_grid(stream, -1, 9), on_grid(stream, -1, 9), on_grid(stream, -1, 9));
    }

    if (kind != YK_SOLID_HULL && kind != YK_SOLID_MESH)
        return;

    solid->points = made->points;
    solid->point_count = kind == YK_SOLID_HULL ? HULL_POINTS : 3;
    do {
        for (int i = 0; i < solid->point_count; i++)
            made->points[i] = random_point(stream, how);
    } while (!(extent_of_points(made->points, solid->point_count) > 1e-3));

    if (how == DISTANT)
        solid->position =
            yk_v3_sub(solid->position, yk_m3_apply(solid->rotation, yk_v3(20, -15, 10)));
}

#endif
