/* The table of kinds, and what follows from a row for any solid: support points, bounds, mass. */
#include "nonsmooth/solids/solid.h"

static const yk_solid_ops *const rows[] = {
    [YK_SOLID_SPHERE] = &yk_sphere_ops,
    [YK_SOLID_CAPSULE] = &yk_capsule_ops,
    [YK_SOLID_BOX] = &yk_box_ops,
    [YK_SOLID_CYLINDER] = &yk_cylinder_ops,
    [YK_SOLID_HULL] = &yk_hull_ops,
    [YK_SOLID_TRIANGLE] = &yk_triangle_ops,
    [YK_SOLID_PLANE] = &yk_plane_ops,
    [YK_SOLID_CYLINDER_CAVITY] = &yk_cylinder_cavity_ops,
    [YK_SOLID_BOX_CAVITY] = &yk_box_cavity_ops,
};

const yk_solid_ops *yk_solid_ops_of(yk_solid_kind kind)
{
    return rows[kind];
}

bool yk_solid_is_valid(const yk_solid *solid)
{
    if ((size_t)solid->kind >= sizeof rows / sizeof *rows)
        return false;
    return yk_v3_finite(solid->size) && rows[solid->kind]->valid(solid);
}

bool yk_solid_has_points(yk_solid_kind kind)
{
    return rows[kind]->from_points;
}

yk_vec3 yk_solid_support(const yk_solid *solid, yk_vec3 direction)
{
    /* Kinds know their own axes only: into them, and back. */
    yk_vec3 d = yk_m3_apply_transposed(solid->rotation, direction);
    yk_vec3 local = rows[solid->kind]->support(solid, d);
    return yk_v3_add(solid->position, yk_m3_apply(solid->rotation, local));
}

int yk_solid_face(const yk_solid *solid, yk_vec3 normal, yk_vec3 polygon[YK_POLYGON_MAX])
{
    yk_vec3 n = yk_m3_apply_transposed(solid->rotation, normal);
    int count = rows[solid->kind]->face(solid, n, polygon);
    for (int i = 0; i < count; i++)
        polygon[i] = yk_v3_add(solid->position, yk_m3_apply(solid->rotation, polygon[i]));
    return count;
}

double yk_solid_skin(const yk_solid *solid)
{
    return rows[solid->kind]->under_skin ? solid->size.x : 0;
}

double yk_solid_radius(const yk_solid *solid)
{
    return rows[solid->kind]->radius(solid);
}

yk_vec3 yk_solid_half_extent(const yk_solid *solid)
{
    static const yk_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double half[3];

    /* Hulls need not be centred: the wider of both sides counts. */
    for (int i = 0; i < 3; i++) {
        yk_vec3 back = yk_v3_neg(axes[i]);
        double high =
            yk_v3_dot(axes[i], yk_v3_sub(yk_solid_support(solid, axes[i]), solid->position));
        double low = yk_v3_dot(back, yk_v3_sub(yk_solid_support(solid, back), solid->position));
        half[i] = fmax(high, low);
    }

    return yk_v3(half[0], half[1], half[2]);
}

double yk_solid_clearance(const yk_solid *solid, yk_vec3 at)
{
    yk_vec3 local = yk_m3_apply_transposed(solid->rotation, yk_v3_sub(at, solid->position));
    return rows[solid->kind]->clearance(solid, local);
}

yk_vec3 yk_solid_centre(const yk_solid *solid)
{
    if (!rows[solid->kind]->centre)
        return yk_v3(0, 0, 0);
    return rows[solid->kind]->centre(solid);
}

double yk_solid_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    *inertia = yk_m3_zero();
    if (!rows[solid->kind]->mass)
        return 0;
    return rows[solid->kind]->mass(solid, density, inertia);
}
