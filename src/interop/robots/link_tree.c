/* The lists of a robot, and the welding of its links. */
#include "interop/robots/link_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Lists ---------------------------------------------------------------------------------------- */

int yk_robot_add_link(yk_robot *robot, const yk_robot_link *link)
{
    return yk_building_append(&robot->import->building, &robot->links, &robot->link_count, link,
                              sizeof *link);
}

int yk_robot_add_joint(yk_robot *robot, const yk_robot_joint *joint)
{
    return yk_building_append(&robot->import->building, &robot->joints, &robot->joint_count, joint,
                              sizeof *joint);
}

int yk_robot_add_shape(yk_robot *robot, const yk_robot_shape *shape)
{
    return yk_building_append(&robot->import->building, &robot->shapes, &robot->shape_count, shape,
                              sizeof *shape);
}

int yk_robot_add_frame(yk_robot *robot, const yk_robot_frame *frame)
{
    return yk_building_append(&robot->import->building, &robot->frames, &robot->frame_count, frame,
                              sizeof *frame);
}

int yk_robot_add_named_pair(yk_robot *robot, const yk_robot_named_pair *pair)
{
    return yk_building_append(&robot->import->building, &robot->named_pairs,
                              &robot->named_pair_count, pair, sizeof *pair);
}

/* Geometry ------------------------------------------------------------------------------------- */

yk_pose yk_robot_place(yk_pose outer, yk_pose inner)
{
    yk_vec3 shift = yk_q_rotate(outer.orientation, inner.position);
    yk_quat orientation = yk_q_unit(yk_q_mul(outer.orientation, inner.orientation));
    return (yk_pose){yk_v3_add(outer.position, shift), orientation};
}

/* Welding -------------------------------------------------------------------------------------- */

static int welded(const yk_robot *robot, int link)
{
    while (link >= 0 && robot->links[link].into != link)
        link = robot->links[link].into;
    return link;
}

/* Whether a massless link carries something with mass. */
static bool carries_mass(const yk_robot *robot, int link)
{
    for (int i = 0; i < robot->joint_count; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        if (joint->closes || joint->kind == YK_ROBOT_FIXED || welded(robot, joint->parent) != link)
            continue;

        /* A carried link may itself be massless and carry more. */
        if (robot->links[joint->child].body.mass > 0 || carries_mass(robot, joint->child))
            return true;
    }
    return false;
}

yk_status yk_robot_finish(yk_robot *robot)
{
    for (int i = 0; i < robot->link_count; i++)
        robot->links[i].above = YK_ROBOT_GROUND;
    for (int i = 0; i < robot->joint_count; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        if (!joint->closes)
            robot->links[joint->child].above = joint->parent;
    }

    /* Parents precede their children in the lists, so masses move up from the end. */
    for (int i = robot->joint_count - 1; i >= 0; i--) {
        const yk_robot_joint *joint = &robot->joints[i];
        if (joint->kind != YK_ROBOT_FIXED || joint->closes)
            continue;

        yk_robot_link *child = &robot->links[joint->child];

        child->into = joint->parent;
        if (joint->parent >= 0 && child->body.mass > 0) {
            yk_pose center = {child->body.center, yk_q_identity()};
            yk_import_add_mass(&robot->links[joint->parent].body, child->body.mass, center,
                               child->body.inertia);
        }

        /* Users attach things to the frame of a welded link, so keep it. */
        yk_robot_frame frame = {child->name, joint->child, child->pose};
        if (yk_robot_add_frame(robot, &frame) < 0)
            return YK_ERROR_MEMORY;
    }

    /* Drop massless links that carry no mass, because nothing determines their acceleration. */
    for (int i = robot->joint_count - 1; i >= 0; i--) {
        yk_robot_joint *joint = &robot->joints[i];
        yk_robot_link *child = &robot->links[joint->child];
        bool moves = joint->kind != YK_ROBOT_FIXED && !joint->closes;
        if (!moves || child->body.mass > 0 || carries_mass(robot, joint->child))
            continue;

        yk_import_add_note(robot->import, child->element,
                           "link '%s' has no mass: it is fixed to what its joint '%s' hangs on",
                           child->name, joint->name);

        joint->kind = YK_ROBOT_FIXED;
        child->into = joint->parent;
    }

    /* Everything belongs to the remaining links now. */
    for (int i = 0; i < robot->joint_count; i++) {
        yk_robot_joint *joint = &robot->joints[i];
        joint->parent = welded(robot, joint->parent);
        joint->child = welded(robot, joint->child);
    }

    for (int i = 0; i < robot->shape_count; i++) {
        yk_robot_shape *shape = &robot->shapes[i];
        shape->owner = shape->link;
        shape->link = welded(robot, shape->link);
    }
    for (int i = 0; i < robot->frame_count; i++)
        robot->frames[i].link = welded(robot, robot->frames[i].link);

    return YK_OK;
}
