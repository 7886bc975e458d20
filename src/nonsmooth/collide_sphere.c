/* A sphere against a finite solid that tells its nearest point to the centre in closed form. */
#include "nonsmooth/solids/solid.h"

int yk_collide_sphere(const yk_solid *sphere, const yk_solid *other, double margin, yk_touch *list)
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
