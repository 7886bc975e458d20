/* Finds the links of a robot that have no contact with each other.
 *
 * Links overlap at their joints, and collision shapes of robots are often larger than the parts
 * that they represent. Contacts between two links of a robot are left out in three cases:
 *
 *     - a joint connects them, also through links without shapes;
 *     - the model says so: <exclude> of MJCF, <disable_collisions> of SRDF;
 *     - they overlap in the configuration of the file.
 *
 * A part is a link into which others may be welded, or the links that are fixed to the ground by
 * one root: the base of a robot. Shapes of the ground that belong to no link, such as the floor,
 * have contact with every link. */
#include <stdlib.h>
#include <string.h>

#include "interop/robots/link_tree.h"
#include "model/files.h"
#include "nonsmooth/narrow_phase.h"

/* Smallest overlap that is not rounding, relative to the size of the smaller shape. */
static const double OVERLAP = 1e-6;

/* Parts ---------------------------------------------------------------------------------------- */

static int welded_into(const yk_robot *robot, int link)
{
    while (link >= 0 && robot->links[link].into != link)
        link = robot->links[link].into;
    return link;
}

static int root_of(const yk_robot *robot, int link)
{
    while (robot->links[link].above >= 0)
        link = robot->links[link].above;
    return link;
}

int yk_robot_part_of(const yk_robot *robot, int link)
{
    if (link < 0)
        return YK_ROBOT_GROUND;
    int into = welded_into(robot, link);
    return into >= 0 ? into : root_of(robot, link);
}

bool yk_robot_is_base(const yk_robot *robot, int part)
{
    return part >= 0 && welded_into(robot, part) < 0;
}

static bool has_contact_shape(const yk_robot *robot, int part)
{
    for (int i = 0; i < robot->shape_count; i++) {
        const yk_robot_shape *shape = &robot->shapes[i];
        if (shape->has_contact && yk_robot_part_of(robot, shape->owner) == part)
            return true;
    }
    return false;
}

bool yk_robot_excludes(const yk_robot *robot, int a, int b)
{
    for (int i = 0; i < robot->exclusion_count; i++) {
        const int *part = robot->exclusions[i].part;
        if ((part[0] == a && part[1] == b) || (part[0] == b && part[1] == a))
            return true;
    }
    return false;
}

bool yk_robot_types_meet(const yk_robot_shape *a, const yk_robot_shape *b)
{
    return (a->contact_type & b->contact_affinity) || (b->contact_type & a->contact_affinity);
}

yk_status yk_robot_exclude(yk_robot *robot, int link_a, int link_b)
{
    yk_robot_exclusion pair = {{yk_robot_part_of(robot, link_a), yk_robot_part_of(robot, link_b)}};
    bool needless = pair.part[0] == pair.part[1] || pair.part[0] < 0 || pair.part[1] < 0;
    if (needless || yk_robot_excludes(robot, pair.part[0], pair.part[1]))
        return YK_OK;

    int id = yk_building_append(&robot->import->building, &robot->exclusions,
                                &robot->exclusion_count, &pair, sizeof pair);
    return id < 0 ? YK_ERROR_MEMORY : YK_OK;
}

/* Joints --------------------------------------------------------------------------------------- */

/* The next link above with a shape that has contact. */
static int neighbour_above(const yk_robot *robot, int link)
{
    int part = yk_robot_part_of(robot, link), above = link;
    do
        above = robot->links[above].above;
    while (above >= 0 && (yk_robot_part_of(robot, above) == part ||
                          !has_contact_shape(robot, yk_robot_part_of(robot, above))));
    return above;
}

static yk_status exclude_neighbours(yk_robot *robot)
{
    yk_status status = YK_OK;
    for (int i = 0; i < robot->link_count && status == YK_OK; i++) {
        if (!has_contact_shape(robot, yk_robot_part_of(robot, i)))
            continue;

        int above = neighbour_above(robot, i);
        bool is_base = above >= 0 && yk_robot_is_base(robot, yk_robot_part_of(robot, above));
        if (above >= 0 && robot->joints_separate && (!is_base || robot->base_joints_separate))
            status = yk_robot_exclude(robot, above, i);
    }

    for (int i = 0; i < robot->joint_count && status == YK_OK; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        if (joint->closes && joint->parent >= 0)
            status = yk_robot_exclude(robot, joint->parent, joint->child);
    }
    return status;
}

static yk_status exclude_named_pairs(yk_robot *robot)
{
    yk_status status = YK_OK;
    for (int i = 0; i < robot->named_pair_count && status == YK_OK; i++)
        status =
            yk_robot_exclude(robot, robot->named_pairs[i].link[0], robot->named_pairs[i].link[1]);
    return status;
}

/* Overlaps ------------------------------------------------------------------------------------- */

typedef struct bounds {
    yk_vec3 low, high;
} bounds;

/* The convex pieces of a shape: one solid, or the triangles of a mesh. */
typedef struct pieces {
    yk_mesh mesh;
    yk_vec3 (*corners)[3];
    yk_solid *solids;
    bounds *boxes;
    int count;
    bounds whole;
} pieces;

static void release_pieces(yk_context *context, pieces *p)
{
    yk_mesh_release(context, &p->mesh);
    yk_free(context, p->corners);
    yk_free(context, p->solids);
    yk_free(context, p->boxes);
    *p = (pieces){0};
}

static bounds bounds_of(const yk_solid *solid)
{
    static const yk_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double low[3], high[3];
    for (int i = 0; i < 3; i++) {
        high[i] = yk_v3_dot(axes[i], yk_solid_support(solid, axes[i]));
        low[i] = yk_v3_dot(axes[i], yk_solid_support(solid, yk_v3_neg(axes[i])));
    }
    return (bounds){{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

static bool bounds_meet(const bounds *a, const bounds *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static yk_status make_pieces(yk_robot *robot, const char *model, const yk_robot_shape *shape,
                             pieces *made)
{
    yk_context *context = robot->import->context;
    *made = (pieces){.count = 1};
    yk_solid solid = {.position = shape->pose.position,
                      .rotation = yk_q_matrix(shape->pose.orientation),
                      .size = yk_v3(shape->size.x, 0, 0.5 * shape->size.z)};
    switch (shape->kind) {
    case YK_ROBOT_SPHERE: solid.kind = YK_SOLID_SPHERE; break;
    case YK_ROBOT_BOX:
        solid.kind = YK_SOLID_BOX;
        solid.size = yk_v3_scale(0.5, shape->size);
        break;
    case YK_ROBOT_CYLINDER: solid.kind = YK_SOLID_CYLINDER; break;
    case YK_ROBOT_CAPSULE: solid.kind = YK_SOLID_CAPSULE; break;
    case YK_ROBOT_PLANE: made->count = 0; return YK_OK;
    case YK_ROBOT_MESH: solid.kind = YK_SOLID_MESH; break;
    }

    if (shape->kind == YK_ROBOT_MESH) {
        char path[4096];
        yk_robot_mesh_path(model, shape, shape->above, path, sizeof path);
        yk_status status = yk_mesh_read(context, path, shape->scale, &made->mesh);
        if (status != YK_OK)
            return status;
        made->count = made->mesh.triangle_count;
        made->corners = yk_allocate(context, (size_t)made->count, sizeof *made->corners);
    }

    made->solids = yk_allocate(context, (size_t)made->count, sizeof *made->solids);
    made->boxes = yk_allocate(context, (size_t)made->count, sizeof *made->boxes);
    if (!made->solids || !made->boxes || (shape->kind == YK_ROBOT_MESH && !made->corners))
        return YK_ERROR_MEMORY;

    for (int i = 0; i < made->count; i++) {
        made->solids[i] = solid;
        if (shape->kind == YK_ROBOT_MESH) {
            for (int k = 0; k < 3; k++)
                made->corners[i][k] = made->mesh.points[made->mesh.triangles[i][k]];
            made->solids[i].points = made->corners[i];
            made->solids[i].point_count = 3;
        }

        bounds *box = &made->boxes[i];
        *box = bounds_of(&made->solids[i]);
        if (i == 0)
            made->whole = *box;
        made->whole.low =
            yk_v3(fmin(made->whole.low.x, box->low.x), fmin(made->whole.low.y, box->low.y),
                  fmin(made->whole.low.z, box->low.z));
        made->whole.high =
            yk_v3(fmax(made->whole.high.x, box->high.x), fmax(made->whole.high.y, box->high.y),
                  fmax(made->whole.high.z, box->high.z));
    }
    return YK_OK;
}

static bool pieces_overlap(const pieces *a, const pieces *b)
{
    if (a->count == 0 || b->count == 0 || !bounds_meet(&a->whole, &b->whole))
        return false;

    double size = fmin(yk_v3_norm(yk_v3_sub(a->whole.high, a->whole.low)),
                       yk_v3_norm(yk_v3_sub(b->whole.high, b->whole.low)));
    for (int i = 0; i < a->count; i++) {
        if (!bounds_meet(&a->boxes[i], &b->whole))
            continue;
        for (int k = 0; k < b->count; k++) {
            if (!bounds_meet(&a->boxes[i], &b->boxes[k]))
                continue;

            yk_vec3 direction, point;
            if (yk_solid_direction(&a->solids[i], &b->solids[k], &direction, &point) <
                -OVERLAP * size)
                return true;
        }
    }
    return false;
}

/* A sheet inside another one does not overlap it; the solver agrees. */
static yk_status exclude_overlaps(yk_robot *robot, const char *model)
{
    yk_context *context = robot->import->context;
    size_t count = (size_t)robot->shape_count;
    pieces *all = yk_allocate(context, count > 0 ? count : 1, sizeof *all);
    yk_status status = all ? YK_OK : YK_ERROR_MEMORY;
    for (size_t i = 0; i < count && status == YK_OK; i++)
        if (robot->shapes[i].has_contact && robot->shapes[i].owner >= 0)
            status = make_pieces(robot, model, &robot->shapes[i], &all[i]);

    for (size_t i = 0; i < count && status == YK_OK; i++) {
        for (size_t k = 0; k < i && status == YK_OK; k++) {
            const yk_robot_shape *a = &robot->shapes[k], *b = &robot->shapes[i];
            int part_a = yk_robot_part_of(robot, a->owner);
            int part_b = yk_robot_part_of(robot, b->owner);
            bool one_robot = part_a >= 0 && part_b >= 0 && part_a != part_b &&
                             root_of(robot, part_a) == root_of(robot, part_b);
            if (!one_robot || !a->has_contact || !b->has_contact || !yk_robot_types_meet(a, b) ||
                yk_robot_excludes(robot, part_a, part_b) || !pieces_overlap(&all[k], &all[i]))
                continue;

            yk_import_add_note(
                robot->import, robot->links[b->owner].element,
                "links '%s' and '%s' overlap in the configuration of the file: they do "
                "not touch each other",
                robot->links[a->owner].name, robot->links[b->owner].name);
            status = yk_robot_exclude(robot, part_a, part_b);
        }
    }

    for (size_t i = 0; all && i < count; i++)
        release_pieces(context, &all[i]);
    yk_free(context, all);
    return status;
}

yk_status yk_robot_find_exclusions(yk_robot *robot, const char *model)
{
    yk_status status = exclude_neighbours(robot);
    if (status == YK_OK)
        status = exclude_named_pairs(robot);
    if (status == YK_OK)
        status = exclude_overlaps(robot, model);
    return status;
}
