/* The robot of the readers: its lists, numbers of attributes, welding of links. */
#include "import/link_tree.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "math/eigen.h"
#include "mechanics/body.h"

/* Radius of gyration of bodies that a model gives no extent, m. */
static const double SMALLEST_GYRATION = 1e-3;

/* Lists ---------------------------------------------------------------------------------------- */

int yk_robot_add_link(yk_robot *robot, const yk_robot_link *link)
{
    return yk_building_append(&robot->building, &robot->links, &robot->link_count, link,
                              sizeof *link);
}

int yk_robot_add_joint(yk_robot *robot, const yk_robot_joint *joint)
{
    return yk_building_append(&robot->building, &robot->joints, &robot->joint_count, joint,
                              sizeof *joint);
}

int yk_robot_add_shape(yk_robot *robot, const yk_robot_shape *shape)
{
    return yk_building_append(&robot->building, &robot->shapes, &robot->shape_count, shape,
                              sizeof *shape);
}

int yk_robot_add_frame(yk_robot *robot, const yk_robot_frame *frame)
{
    return yk_building_append(&robot->building, &robot->frames, &robot->frame_count, frame,
                              sizeof *frame);
}

int yk_robot_add_named_pair(yk_robot *robot, const yk_robot_named_pair *pair)
{
    return yk_building_append(&robot->building, &robot->named_pairs, &robot->named_pair_count, pair,
                              sizeof *pair);
}

const char *yk_robot_keep(yk_robot *robot, const char *file)
{
    if (robot->file_count == YK_ROBOT_FILES)
        return NULL;

    char *copy = yk_text_copy(robot->context, file);
    if (copy)
        robot->files[robot->file_count++] = copy;
    return copy;
}

void yk_robot_note(yk_robot *robot, const yk_xml_element *element, const char *format, ...)
{
    yk_import_note note = {.file = element->file, .line = element->line};

    /* The name as the robot keeps it: a document may be gone before its notes are read. */
    for (int i = 0; i < robot->file_count; i++)
        if (strcmp(robot->files[i], element->file) == 0)
            note.file = robot->files[i];

    va_list arguments;
    va_start(arguments, format);
    yk_format_list(note.text, sizeof note.text, format, arguments);
    va_end(arguments);

    /* Notes become comments of the scenario. Names in them may have line breaks, and cut names may
     * end within a character. */
    yk_text_make_printable(note.text);

    yk_building_append(&robot->building, &robot->notes, &robot->note_count, &note, sizeof note);
}

/* Attributes ----------------------------------------------------------------------------------- */

yk_status yk_robot_fail(yk_robot *robot, const yk_xml_element *element, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return yk_fail(robot->context, YK_ERROR_INPUT, "%s:%d: %s", element->file, element->line, text);
}

yk_status yk_robot_numbers(yk_robot *robot, const yk_xml_element *element, const char *name,
                           const char *text, double *values, int least, int most, int *count)
{
    int found = 0;
    const char *at = text;

    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            break;

        /* A whole word that is a finite number: no "1.5mm", no "nan". */
        char *end;
        double value = yk_text_number(at, &end);
        bool whole = end != at && (!*end || isspace((unsigned char)*end));
        if (!whole || !isfinite(value))
            return yk_robot_fail(robot, element, "%s of <%s>: '%.40s' is not a number", name,
                                 element->name, at);

        if (found == most)
            return yk_robot_fail(robot, element, "%s of <%s> has more than %d numbers", name,
                                 element->name, most);

        values[found++] = value;
        at = end;
    }

    if (found < least)
        return yk_robot_fail(robot, element, "%s of <%s> has %d numbers, expected %d", name,
                             element->name, found, least);

    if (count)
        *count = found;
    return YK_OK;
}

/* Geometry ------------------------------------------------------------------------------------- */

double yk_robot_step(const yk_robot *robot, const yk_import_options *options)
{
    static const double usual = 1e-3;
    if (options->step > 0)
        return options->step;
    return robot->step > 0 ? robot->step : usual;
}

yk_pose yk_robot_place(yk_pose outer, yk_pose inner)
{
    yk_vec3 shift = yk_q_rotate(outer.orientation, inner.position);
    yk_quat orientation = yk_q_unit(yk_q_mul(outer.orientation, inner.orientation));
    return (yk_pose){yk_v3_add(outer.position, shift), orientation};
}

void yk_robot_add_mass(yk_robot_link *link, double mass, yk_pose centre, yk_mat3 own)
{
    double sum = link->mass + mass;
    if (!(sum > 0))
        return;

    /* Both about their common centre. */
    yk_vec3 weighed = yk_v3_scale(link->mass / sum, link->centre);
    yk_vec3 common = yk_v3_axpy(mass / sum, centre.position, weighed);

    /* Each part's own inertia, and that of its mass away from the common centre. */
    yk_mat3 first = yk_inertia_of_point(link->mass, yk_v3_sub(link->centre, common));
    yk_mat3 second = yk_inertia_of_point(mass, yk_v3_sub(centre.position, common));
    yk_mat3 added = yk_m3_rotate(yk_q_matrix(centre.orientation), own);
    link->inertia = yk_m3_add(yk_m3_add(link->inertia, first), yk_m3_add(added, second));

    link->mass = sum;
    link->centre = common;
}

/* No body has a principal moment larger than the sum of the other two, and models often do; a
 * body without extent has none at all. The moments that are too small are raised. */
yk_status yk_robot_mend_inertia(yk_robot *robot, yk_robot_link *link, bool may_vanish)
{
    /* Principal axes and moments. */
    double axes[9], unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, moments[3];
    memcpy(axes, link->inertia.m, sizeof axes);
    yk_status status = yk_eigen_symmetric_pair(robot->context, 3, axes, unit, moments);
    if (status != YK_OK)
        return status;

    /* In ascending order. Where two must be raised, both by one factor. */
    double least = 0;
    if (!may_vanish)
        least = SMALLEST_GYRATION * SMALLEST_GYRATION * link->mass;
    double mended[3] = {fmax(moments[0], least), fmax(moments[1], least), fmax(moments[2], least)};

    /* The smaller two must sum to the largest one at least. */
    double sum = mended[0] + mended[1];
    if (sum < mended[2] && sum > 0) {
        mended[0] *= mended[2] / sum;
        mended[1] *= mended[2] / sum;
    } else if (sum < mended[2]) {
        mended[0] = mended[1] = mended[2] / 2;
    }

    /* Raised by rounding only, the inertia stays as it was given. */
    double raised =
        fmax(mended[0] - moments[0], fmax(mended[1] - moments[1], mended[2] - moments[2]));
    if (!(raised > 1e-9 * mended[2]))
        return YK_OK;

    yk_robot_note(
        robot, link->element,
        "inertia of link '%s': no body has the principal moments %.4g, %.4g, %.4g kg m^2; "
        "taken as %.4g, %.4g, %.4g",
        link->name, moments[0], moments[1], moments[2], mended[0], mended[1], mended[2]);

    /* The matrix from its axes: the sum of moment times axis times axis transposed. */
    link->inertia = yk_m3_zero();
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                link->inertia.m[i][j] += mended[k] * axes[3 * k + i] * axes[3 * k + j];

    return YK_OK;
}

/* Welding -------------------------------------------------------------------------------------- */

static int welded(const yk_robot *robot, int link)
{
    while (link >= 0 && robot->links[link].into != link)
        link = robot->links[link].into;
    return link;
}

/* Whether something with mass hangs on a link that has none. */
static bool carries_mass(const yk_robot *robot, int link)
{
    for (int i = 0; i < robot->joint_count; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        if (joint->closes || joint->kind == YK_ROBOT_FIXED || welded(robot, joint->parent) != link)
            continue;

        /* What hangs on it may itself be without mass, and carry more. */
        if (robot->links[joint->child].mass > 0 || carries_mass(robot, joint->child))
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

    /* Parents come before their children in the lists, so that masses move up link by link from
     * the end. */
    for (int i = robot->joint_count - 1; i >= 0; i--) {
        const yk_robot_joint *joint = &robot->joints[i];
        if (joint->kind != YK_ROBOT_FIXED || joint->closes)
            continue;

        yk_robot_link *child = &robot->links[joint->child];

        child->into = joint->parent;
        if (joint->parent >= 0 && child->mass > 0) {
            yk_pose centre = {child->centre, yk_q_identity()};
            yk_robot_add_mass(&robot->links[joint->parent], child->mass, centre, child->inertia);
        }

        /* A welded frame is where users attach things. */
        yk_robot_frame frame = {child->name, joint->child, child->pose};
        if (yk_robot_add_frame(robot, &frame) < 0)
            return YK_ERROR_MEMORY;
    }

    /* Nothing accelerates a link without mass that carries none. */
    for (int i = robot->joint_count - 1; i >= 0; i--) {
        yk_robot_joint *joint = &robot->joints[i];
        yk_robot_link *child = &robot->links[joint->child];
        bool moves = joint->kind != YK_ROBOT_FIXED && !joint->closes;
        if (!moves || child->mass > 0 || carries_mass(robot, joint->child))
            continue;

        yk_robot_note(robot, child->element,
                      "link '%s' has no mass: it is fixed to what its joint '%s' hangs on",
                      child->name, joint->name);

        joint->kind = YK_ROBOT_FIXED;
        child->into = joint->parent;
    }

    /* Everything now belongs to the links that are left. */
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
