/* The narrow phase: the table of kinds, what follows from a row for any solid (support points,
 * bounds, mass), and which function finds the contact points of two kinds. */
#include "nonsmooth/solids/solid.h"

/* Kinds ---------------------------------------------------------------------------------------- */

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

/* Contact points ------------------------------------------------------------------------------- */

void yk_swap_sides(yk_touch *list, int count)
{
    for (int i = 0; i < count; i++) {
        yk_vec3 point_a = list[i].point_a;
        list[i].point_a = list[i].point_b;
        list[i].point_b = point_a;
        list[i].normal = yk_v3_neg(list[i].normal);
    }
}

/* Contacts with a triangle in another direction than its normal are at its edges: inside a mesh
 * they are not felt (search.c). */
static void mark_edges(const yk_solid *solid, yk_touch *list, int count)
{
    const yk_solid_ops *kind = yk_solid_ops_of(solid->kind);
    if (!kind->plane_normal)
        return;

    yk_vec3 normal = yk_m3_apply(solid->rotation, kind->plane_normal(solid));
    for (int i = 0; i < count; i++)
        if (fabs(yk_v3_dot(normal, list[i].normal)) < 0.99)
            list[i].edge = true;
}

/* A sphere against a finite solid that has its nearest point to the centre in closed form. */
static int collide_sphere(const yk_solid *sphere, const yk_solid *other, double margin,
                          yk_touch *list)
{
    /* In the frame of the solid. */
    yk_vec3 centre =
        yk_m3_apply_transposed(other->rotation, yk_v3_sub(sphere->position, other->position));
    yk_nearest near = yk_solid_ops_of(other->kind)->nearest(other, centre);
    double skin = yk_solid_skin(other);
    double gap = near.distance - sphere->size.x - skin;
    if (gap >= margin)
        return 0;

    /* Back into global axes; the normal points from the sphere into the solid. */
    yk_vec3 outward = yk_m3_apply(other->rotation, near.normal);
    yk_vec3 at = yk_v3_add(other->position, yk_m3_apply(other->rotation, near.point));
    list[0] = (yk_touch){
        .point_a = yk_v3_axpy(-sphere->size.x, outward, sphere->position),
        .point_b = yk_v3_axpy(skin, outward, at),
        .normal = yk_v3_neg(outward),
        .gap = gap,
        .feature = near.feature,
        .edge = near.feature > 0,
    };
    return 1;
}

int yk_collide(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    /* The kind that is listed first is a: spheres before all others, finite solids before
     * unbounded ones. */
    if (a->kind > b->kind) {
        int count = yk_collide(b, a, margin, list);
        yk_swap_sides(list, count);
        return count;
    }

    /* Planes and cavities find their own contacts; a sphere has at most one with each wall. */
    const yk_solid_ops *kind_a = yk_solid_ops_of(a->kind);
    const yk_solid_ops *kind_b = yk_solid_ops_of(b->kind);
    if (kind_b->collide_finite) {
        if (!yk_solid_is_finite(a->kind))
            return 0;
        if (a->kind != YK_SOLID_SPHERE)
            return kind_b->collide_finite(a, b, margin, list);

        int count = 0;
        for (uint32_t wall = 0; wall < YK_WALLS; wall++)
            if (kind_b->walls >> wall & 1)
                count += yk_sphere_at_wall(b, wall, a->position, a->size.x, margin, &list[count]);
        return count;
    }

    /* Closed forms where there are any, else the search over all directions. */
    if (a->kind == YK_SOLID_SPHERE && kind_b->nearest)
        return collide_sphere(a, b, margin, list);
    if (a->kind == b->kind && kind_a->collide_own_kind)
        return kind_a->collide_own_kind(a, b, margin, list);

    /* Triangles are the last of the finite kinds and meet each other above: only b can be one. */
    int count = yk_collide_convex(a, b, margin, list);
    mark_edges(b, list, count);
    return count;
}
