/* Contact points of two solids at given poses (the narrow phase).
 *
 * A solid is convex and finite (sphere, capsule, box, cylinder, ellipsoid, hull, triangle), or it
 * is everything outside a region: below a plane, around a cylindrical or a box-shaped cavity. The
 * latter are exact: a sphere in a cylindrical cavity meets a smooth wall. Points are reported if
 * the gap is below the margin, so that a solver knows a contact before it closes.
 *
 *             a                          normal:  unit vector from a to b
 *          -----. point_a               gap: (point_b - point_a) . normal, negative if they overlap
 *               | v normal feature: identifies the place on the two solids (corner 3, wall,
 *          -----. point_b                        clipped edge); constant while the same features
 *                                                touch
 *             b */
#ifndef YK_NONSMOOTH_COLLIDE_H
#define YK_NONSMOOTH_COLLIDE_H

#include <stdint.h>

#include "math/vec3.h"
#include "yoke/nonsmooth.h"

typedef struct yk_solid {
    yk_solid_kind kind;
    unsigned open; /* cavities: mask of YK_WALL_LEFT and its kin */
    yk_vec3 position;
    yk_mat3 rotation;
    yk_vec3 size;
    const yk_vec3 *points; /* hull, triangle: in the frame of the solid */
    int point_count;
    /* Triangle of a closed mesh: 1: its outside is the side from which its corners run
     * counterclockwise; -1: the other side. 0: it has two sides. */
    int outside;
} yk_solid;

enum { YK_MANIFOLD_MAX = 16 };

typedef struct yk_touch {
    yk_vec3 point_a, point_b;
    yk_vec3 normal;
    double gap;
    uint32_t feature;
    bool edge; /* with a triangle: at its edge or corner, in a direction other than its normal */
} yk_touch;

/* Whether the kind is known, the size is finite and the kind accepts the size and the points. The
 * other functions require a valid kind. */
bool yk_solid_is_valid(const yk_solid *solid);
/* The kind with a name from its table, such as "box-cavity". There must be one. */
yk_solid_kind yk_solid_kind_named(const char *name);
/* Whether the solid is convex and bounded; otherwise it is everything outside a region. */
bool yk_solid_is_finite(yk_solid_kind kind);
/* Whether the solid is a sphere of radius size.x about its position. */
bool yk_solid_is_ball(yk_solid_kind kind);
/* Whether the solid has no thickness, like the triangles of a mesh. */
bool yk_solid_is_thin(yk_solid_kind kind);
/* Whether the solid has a volume, so that a density gives a mass (see yk_solid_mass). */
bool yk_solid_has_mass(yk_solid_kind kind);
/* Whether the solid is defined by its points. Its size is then not read and cannot be changed. */
bool yk_solid_has_points(yk_solid_kind kind);

/* Fills `list` (YK_MANIFOLD_MAX long) and returns the number of points. At most one of the solids
 * may be a cavity or plane. */
int yk_collide(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list);

/* The point of a finite solid farthest along `direction`. */
yk_vec3 yk_solid_support(const yk_solid *solid, yk_vec3 direction);

/* Radius about its position that contains a finite solid, and half edges of its box parallel to the
 * axes. */
double yk_solid_radius(const yk_solid *solid);
yk_vec3 yk_solid_half_extent(const yk_solid *solid);

/* Distance from a point to the nearest wall of a plane or cavity; negative inside the solid. */
double yk_solid_clearance(const yk_solid *solid, yk_vec3 at);

/* Properties of a homogeneous sphere, capsule, box, cylinder or hull, in its axes: center of mass
 * relative to its position, mass, and inertia about that center. 0 for others. */
yk_vec3 yk_solid_centre(const yk_solid *solid);
double yk_solid_mass(const yk_solid *solid, double density, yk_mat3 *inertia);

/* Between the files of the narrow phase. ------------------------------------------------------- */

int yk_collide_convex(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list);
/* Contact points of the facing features of two solids, for a direction from a to b; 0: they are
 * farther apart than the margin, -1: the features give no point. */
int yk_meet_features(const yk_solid *a, const yk_solid *b, yk_vec3 n, double margin,
                     yk_touch *list);
/* The same; if the features give no point, uses the point on a and the gap of the search. */
int yk_meet_along(const yk_solid *a, const yk_solid *b, yk_vec3 n, double gap, yk_vec3 on_a,
                  double margin, yk_touch *list);

/* The fast path of spheres in cavities: wall 0 is a plane or the curved wall, 1 to 6 are the flat
 * walls of a cavity in the order of the YK_WALL bits; the kind must have the wall (yk_solid_ops).
 * Returns false if the wall is left out or the gap is not below the margin. */
enum { YK_WALLS = 7 };
bool yk_sphere_at_wall(const yk_solid *outside, uint32_t wall, yk_vec3 centre, double radius,
                       double margin, yk_touch *touch);

/* Unit direction from a to b with the largest gap, the nearest point of the surface of a, and that
 * gap. The gap is exact up to rounding errors if the solids are apart. If they overlap, no
 * neighbouring direction has a smaller overlap. */
double yk_solid_direction(const yk_solid *a, const yk_solid *b, yk_vec3 *direction, yk_vec3 *point);
/* Radius of the rounding about the point or line inside a sphere or capsule; 0: no rounding. */
double yk_solid_skin(const yk_solid *solid);

enum { YK_POLYGON_MAX = 24 };

/* Contact points of two polygons, which are the facing faces, edges or corners of the solids: clips
 * the incident polygon at the sides of the reference polygon (at least three points) with the
 * outward normal `normal`. point_a is on the reference side. */
int yk_clip_polygons(const yk_vec3 *reference, int reference_count, yk_vec3 normal,
                     const yk_vec3 *incident, int incident_count, double margin, yk_touch *list);

/* Exchanges the roles of a and b. */
void yk_swap_sides(yk_touch *list, int count);

#endif
