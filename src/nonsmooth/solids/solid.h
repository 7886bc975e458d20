/* Operations of a kind of solid: one constant table per kind, in the file of that kind.
 *
 * To add a kind: an enumerator of yk_solid_kind, a file in this folder with its table, and a row in
 * YK_SOLID_LIST. Scenarios, particles, contact detection, masses and drawings follow from the table.
 *
 * Points and directions are in the frame of the solid unless stated otherwise. An operation that a kind
 * does not have is NULL; the comment of the operation says what NULL means.
 *
 * Finite kinds are convex. A contact of two finite solids comes from the nearest point of a solid to
 * the center of a ball, from the function of two solids of one kind, or, for all others, from support
 * points and faces (narrow_phase.c). Unbounded kinds are everything outside a region; their walls meet
 * the extreme points of finite solids (unbounded.c). */
#ifndef YK_NONSMOOTH_SOLIDS_SOLID_H
#define YK_NONSMOOTH_SOLIDS_SOLID_H

#include "nonsmooth/narrow_phase.h"
#include "yoke/option.h"
#include "yoke/subsystem.h"

/* The kinds of solids: X(NAME, KIND) for the table yk_NAME_ops of YK_SOLID_KIND. The order is that of
 * the documentation, and of the two solids of a pair: yk_collide exchanges them unless the first
 * comes earlier in this list, so that a pair gives the same bits in both orders. Functions for pairs
 * rely on three facts: the sphere is first, solids without thickness are the last of the finite
 * kinds, and unbounded kinds come after all finite ones. */

/* Kinds other than the sphere that are defined by their size and that viewers draw as they are. */
#define YK_PRIMITIVE_SOLID_LIST(X) \
    X(capsule, CAPSULE)            \
    X(box, BOX)                    \
    X(cylinder, CYLINDER)          \
    X(ellipsoid, ELLIPSOID)

/* Finite kinds other than the sphere with a volume, which can be particles. */
#define YK_CONVEX_SOLID_LIST(X) \
    YK_PRIMITIVE_SOLID_LIST(X)  \
    X(hull, HULL)

#define YK_SOLID_LIST(X)                \
    X(sphere, SPHERE)                   \
    YK_CONVEX_SOLID_LIST(X)             \
    X(triangle, MESH)                   \
    X(plane, PLANE)                     \
    X(cylinder_cavity, CYLINDER_CAVITY) \
    X(box_cavity, BOX_CAVITY)

/* The point of a surface nearest to a given one, and the unit normal there, away from the solid. */
typedef struct yk_nearest {
    yk_vec3 point, normal;
    double distance;  /* negative inside */
    uint32_t feature; /* of a triangle: 0 face, 1 to 3 edges, 4 to 6 corners */
} yk_nearest;

/* A wall that a solid is inside of, in the frame of the solid: flat, or the inside of a cylinder. */
typedef struct yk_wall {
    bool curved;
    yk_vec3 normal; /* of a flat wall: unit, out of the cavity */
    yk_vec3 middle; /* of a curved wall: a point of its axis, and the unit direction of that axis */
    yk_vec3 axis;
} yk_wall;

/* Unit direction out of the cavity at a point: where the wall is nearest. All directions are equal on
 * the axis of a curved wall; one of them is returned. */
yk_vec3 yk_wall_outward(const yk_wall *wall, yk_vec3 at);

/* Points that bound a solid against a wall, with a rounding about them. */
typedef struct yk_extremes {
    const yk_vec3 *points;
    int count;
    double rounding;
    yk_vec3 own[12]; /* room for points that are made for one wall */
} yk_extremes;

#define YK_PLACE(name, kind) YK_PLACE_##kind,
typedef enum yk_place_in_pair { YK_SOLID_LIST(YK_PLACE) } yk_place_in_pair;
#undef YK_PLACE

typedef struct yk_solid_ops {
    /* The word for the kind in scenarios and messages, its description and its keys. The members of the
     * keys are those of the size (yk_vec3), see yk_solid_kind. Other keys (points, walls) are read by
     * name. */
    yk_option_section section;
    yk_shape_kind shape; /* the shape that viewers draw */
    bool ball;           /* a sphere about the position, of radius size.x */
    bool from_points;    /* defined by its points; the size is not read and cannot be changed */
    bool (*valid)(const yk_solid *solid);

    /* Mass properties of a homogeneous solid. `centre`: center of mass (NULL: the position). `mass`:
     * mass and inertia about the center of mass (NULL: the kind has no volume). */
    yk_vec3 (*centre)(const yk_solid *solid);
    double (*mass)(const yk_solid *solid, double density, yk_mat3 *inertia);

    /* Whether a point is in the region of a sink. NULL: the kind cannot be a sink. */
    bool (*contains)(const yk_solid *solid, yk_vec3 point);

    /* Operations of finite kinds ----------------------------------------------------------------- */

    double (*radius)(const yk_solid *solid); /* of a ball about the position that holds the solid */
    yk_vec3 (*support)(const yk_solid *solid, yk_vec3 direction); /* farthest point */
    /* The farthest point of the point or line under the skin of a sphere or capsule, in global axes.
     * The skin has the thickness size.x. NULL: the kind has no skin. */
    yk_vec3 (*under_skin)(const yk_solid *solid, yk_vec3 direction);
    /* Least half width: the solid whose size is reduced by less than this on all sides is inside the
     * solid. NULL: the size cannot be reduced. */
    double (*thickness)(const yk_solid *solid);
    bool shrinks; /* can be made thinner by scaling its points about their middle */
    /* The face, edge or corner that looks along a unit normal, in order around it. Returns the number
     * of points. */
    int (*face)(const yk_solid *solid, yk_vec3 normal, yk_vec3 polygon[YK_POLYGON_MAX]);
    /* Skin of a feature with this number of points; negative: the feature does not determine the
     * direction of contact. NULL: the skin of the solid. */
    double (*face_skin)(const yk_solid *solid, int count);
    yk_nearest (*nearest)(const yk_solid *solid, yk_vec3 point); /* NULL: no closed form */
    yk_vec3 (*plane_normal)(const yk_solid *solid); /* of a thin solid. NULL: it has a thickness */
    /* Points that can be nearest to a wall. Contacts are identified by the index of their point:
     * number and order of the points must not depend on the size of the scene, and should change as
     * little as possible while the solid moves. */
    void (*extremes)(const yk_solid *solid, const yk_wall *wall, yk_extremes *set);
    /* Contacts of two solids of this kind. NULL: as for any two finite kinds. */
    int (*collide_own_kind)(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list);

    /* Operations of unbounded kinds -------------------------------------------------------------- */

    double (*clearance)(const yk_solid *solid, yk_vec3 point); /* to the nearest wall; negative
                                                                  inside the solid */
    /* Height of a point above a wall, and the wall's normal there towards the free side, in global
     * axes. Returns false if that wall is open. yk_sphere_at_wall defines the numbers of walls. */
    unsigned walls; /* bits of the walls that the kind has */
    bool (*wall)(const yk_solid *solid, uint32_t wall, yk_vec3 at, double *height, yk_vec3 *inward);
    int (*collide_finite)(const yk_solid *finite, const yk_solid *solid, double margin,
                          yk_touch *list);
} yk_solid_ops;

/* The place of a kind in YK_SOLID_LIST. */
int yk_solid_place_in_pair(yk_solid_kind kind);
/* NULL: the kind is unknown. */
const yk_solid_ops *yk_solid_ops_of(yk_solid_kind kind);

#define YK_OPS(name, kind) extern const yk_solid_ops yk_##name##_ops;
YK_SOLID_LIST(YK_OPS)
#undef YK_OPS

/* Keys that several kinds have. */
#define YK_SOLID_RADIUS                                                                    \
    {                                                                                      \
        "radius", YK_OPTION_NUMBER, "m", .required = true, YK_MEMBER(yk_vec3, x),          \
                                         .range = YK_POSITIVE, .description = "its radius" \
    }
#define YK_SOLID_LENGTH(text)                                                                    \
    {                                                                                            \
        "length", YK_OPTION_NUMBER, "m", .required = true, YK_MEMBER(yk_vec3, z), .factor = 0.5, \
                                         .range = YK_POSITIVE, .description = (text)             \
    }
#define YK_SOLID_SIZE(text)                                                                       \
    {                                                                                             \
        "size", YK_OPTION_NUMBERS, "m", .required = true, .size = sizeof(yk_vec3), .factor = 0.5, \
                                        .min_count = 3, .max_count = 3, .description = (text)     \
    }

/* Keys of a surface: `points`, and `file` with `scale`. */
extern const yk_option_section yk_surface_keys;
extern const yk_option yk_solid_point_item;

/* A face is taken as such up to this angle (sine) from the direction of contact. */
static const double YK_FACE_SLOPE = 0.05;

static inline double yk_sign(double x)
{
    return x < 0 ? -1 : 1;
}

static inline double yk_clamp(double x, double limit)
{
    if (x > limit)
        return limit;
    return x < -limit ? -limit : x;
}

/* From the nearest point q of a thin or outer set to p; `fallback` is the normal where they
 * coincide. */
static inline yk_nearest yk_nearest_of_point(yk_vec3 p, yk_vec3 q, yk_vec3 fallback)
{
    yk_vec3 away = yk_v3_sub(p, q);
    double distance = yk_v3_norm(away);
    yk_vec3 normal = distance > 0 ? yk_v3_scale(1 / distance, away) : fallback;
    return (yk_nearest){.point = q, .normal = normal, .distance = distance};
}

/* Of kinds that are made of points. */
double yk_points_radius(const yk_solid *solid);
yk_vec3 yk_points_support(const yk_solid *solid, yk_vec3 direction);
int yk_points_face(const yk_solid *solid, yk_vec3 normal, yk_vec3 *polygon);
void yk_points_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set);

#endif
