/* The joints, as lists of rows; see joint.h for the equations of the rows, which joint_row.c
 * computes. */
#include "mechanics/joint.h"

enum { X = 0, Y = 1, Z = 2 };

static const yk_drive_traits drives[YK_JOINT_DRIVES] = {
    [YK_JOINT_DRIVE_LENGTH] = {.name = "length"},
    [YK_JOINT_DRIVE_ANGLE] = {.name = "angle", .required = true, .angular = true},
    [YK_JOINT_DRIVE_POSITION] = {.name = "distance", .required = true},
    [YK_JOINT_DRIVE_SPIN] = {.name = "rate",
                             .required = true,
                             .angular = true,
                             .on_velocity = true},
    [YK_JOINT_DRIVE_SPEED] = {.name = "rate", .required = true, .on_velocity = true},
};

/* The drive of a joint enters its last row. */
typedef struct joint_table {
    yk_joint_traits traits;
    int row_count;
    yk_row row[YK_JOINT_ROWS_MAX];
} joint_table;

/* clang-format off */
#define POINT    {YK_ROW_POINT, X, 0}, {YK_ROW_POINT, Y, 0}, {YK_ROW_POINT, Z, 0}
#define PARALLEL {YK_ROW_AXES, X, Z}, {YK_ROW_AXES, Y, Z}
#define LOCKED   {YK_ROW_AXES, X, Z}, {YK_ROW_AXES, Y, Z}, {YK_ROW_AXES, X, Y}
#define IN_LINE  {YK_ROW_IN_PLANE, X, 0}, {YK_ROW_IN_PLANE, Y, 0}
#define ALONG_Z  {YK_ROW_IN_PLANE, Z, 0}
#define ROLLING  {YK_ROW_WHEEL, 0, 0}, {YK_ROW_ROLL, 0, 0}, {YK_ROW_ROLL, 1, 0}
/* clang-format on */

static const joint_table table[YK_JOINT_KINDS] = {
    [YK_JOINT_SPHERICAL] = {{.name = "spherical"}, 3, {POINT}},
    [YK_JOINT_REVOLUTE] = {{.name = "revolute", .motion = YK_MOTION_ROTATION},
                           5,
                           {POINT, PARALLEL}},
    [YK_JOINT_UNIVERSAL] = {{.name = "universal"}, 4, {POINT, {YK_ROW_AXES, X, Y}}},
    [YK_JOINT_PRISMATIC] = {{.name = "prismatic", .motion = YK_MOTION_TRANSLATION},
                            5,
                            {IN_LINE, LOCKED}},
    [YK_JOINT_CYLINDRICAL] = {{.name = "cylindrical", .motion = YK_MOTION_ROTATION},
                              4,
                              {IN_LINE, PARALLEL}},
    [YK_JOINT_PLANAR] = {{.name = "planar"}, 3, {ALONG_Z, PARALLEL}},
    [YK_JOINT_CLAMP] = {{.name = "clamp"}, 6, {POINT, LOCKED}},
    [YK_JOINT_DISTANCE] = {{.name = "distance", .drive = YK_JOINT_DRIVE_LENGTH},
                           1,
                           {{YK_ROW_DISTANCE, 0, 0}}},
    [YK_JOINT_IN_LINE] = {{.name = "in-line", .motion = YK_MOTION_TRANSLATION}, 2, {IN_LINE}},
    [YK_JOINT_IN_PLANE] = {{.name = "in-plane"}, 1, {ALONG_Z}},
    [YK_JOINT_PARALLEL_AXES] = {{.name = "parallel-axes"}, 2, {PARALLEL}},
    [YK_JOINT_ORIENTATION] = {{.name = "orientation"}, 3, {LOCKED}},
    [YK_JOINT_DRIVEN_ROTATION] = {{"rotation", YK_JOINT_DRIVE_ANGLE, YK_MOTION_ROTATION},
                                  1,
                                  {{YK_ROW_AXES, X, Y}}},
    [YK_JOINT_DRIVEN_POSITION] = {{"position", YK_JOINT_DRIVE_POSITION, YK_MOTION_TRANSLATION},
                                  1,
                                  {ALONG_Z}},
    [YK_JOINT_DRIVEN_SPIN] = {{.name = "angular-velocity", .drive = YK_JOINT_DRIVE_SPIN},
                              1,
                              {{YK_ROW_SPIN, Z, 0}}},
    [YK_JOINT_DRIVEN_SPEED] = {{.name = "velocity", .drive = YK_JOINT_DRIVE_SPEED},
                               1,
                               {{YK_ROW_SLIP_A, Z, 0}}},
    [YK_JOINT_KNIFE_EDGE] = {{.name = "knife-edge"}, 1, {{YK_ROW_SLIP_B, Y, 0}}},
    [YK_JOINT_ROLLING] = {{.name = "rolling"}, 3, {ROLLING}},
    [YK_JOINT_AXES] = {{.name = "axes"}, 0, {{0}}},
};

const yk_joint_traits *yk_joint_traits_of(yk_joint_kind kind)
{
    return &table[kind].traits;
}

const yk_drive_traits *yk_drive_traits_of(yk_joint_drive kind)
{
    return &drives[kind];
}

const char *yk_joint_name(yk_joint_kind kind)
{
    return table[kind].traits.name;
}

/* A joint between two markers that has no rows yet. */
static yk_joint joint_between(yk_joint_kind kind, const yk_marker *a, const yk_marker *b)
{
    yk_joint joint = {.kind = kind, .offset = {a->offset, b->offset}};

    joint.axes[0] = yk_q_matrix(yk_q_unit(a->orientation));
    joint.axes[1] = yk_q_matrix(yk_q_unit(b->orientation));

    return joint;
}

yk_joint yk_joint_make(yk_joint_kind kind, const yk_marker *a, const yk_marker *b, double length)
{
    const joint_table *entry = &table[kind];
    yk_joint joint = joint_between(kind, a, b);

    /* Rows and drive of its kind. */
    joint.length = length;
    joint.driven = entry->traits.drive != YK_JOINT_DRIVE_NONE;
    joint.row_count = entry->row_count;
    for (int i = 0; i < joint.row_count; i++)
        joint.row[i] = entry->row[i];

    return joint;
}

yk_joint yk_joint_of_axes(unsigned constrained, const yk_marker *a, const yk_marker *b)
{
    yk_joint joint = joint_between(YK_JOINT_AXES, a, b);
    int n = 0;

    /* Translations: all three are a point that is common, in axes that do not turn. */
    if ((constrained & YK_AXES_TRANSLATION) == YK_AXES_TRANSLATION) {
        for (int k = 0; k < 3; k++)
            joint.row[n++] = (yk_row){YK_ROW_POINT, k, 0};
    } else {
        for (int k = 0; k < 3; k++) {
            if (constrained & (unsigned)(YK_AXIS_X << k))
                joint.row[n++] = (yk_row){YK_ROW_IN_PLANE, k, 0};
        }
    }

    /* Rotations: those that stay free decide which pairs of axes may stay perpendicular. */
    int fixed_count = 0;
    int fixed_axis = 2;
    int free_axis = 2;
    for (int k = 0; k < 3; k++) {
        bool fixed = constrained & (unsigned)(YK_AXIS_RX << k);
        if (fixed) {
            fixed_count++;
            fixed_axis = k;
        } else {
            free_axis = k;
        }
    }

    /* All three, two or one of them. */
    if (fixed_count == 3) {
        joint.row[n++] = (yk_row){YK_ROW_AXES, X, Z};
        joint.row[n++] = (yk_row){YK_ROW_AXES, Y, Z};
        joint.row[n++] = (yk_row){YK_ROW_AXES, X, Y};
    } else if (fixed_count == 2) {
        /* As in a revolute joint: the axis of the free rotation stays perpendicular to the other
         * two of a. */
        for (int k = 0; k < 3; k++) {
            if (k != free_axis)
                joint.row[n++] = (yk_row){YK_ROW_AXES, k, free_axis};
        }
    } else if (fixed_count == 1) {
        /* As in a universal joint: the axes of the two free rotations stay perpendicular. */
        joint.row[n++] = (yk_row){YK_ROW_AXES, (fixed_axis + 1) % 3, (fixed_axis + 2) % 3};
    }

    joint.row_count = n;
    return joint;
}

yk_joint yk_joint_of(const yk_joint_def *def)
{
    if (def->kind == YK_JOINT_AXES)
        return yk_joint_of_axes(def->constrained, &def->marker[0], &def->marker[1]);
    return yk_joint_make(def->kind, &def->marker[0], &def->marker[1], def->length);
}

int yk_joint_pieces(unsigned constrained, unsigned driven,
                    yk_joint_piece pieces[YK_JOINT_PIECES_MAX])
{
    /* The rotation of a marker that brings its z to x, y and z. */
    static const yk_quat to_axis[3] = {{0.5, 0.5, 0.5, 0.5}, {0.5, -0.5, -0.5, -0.5}, {1, 0, 0, 0}};

    /* A distance is one joint, driven or not. */
    if (constrained & YK_AXIS_DISTANCE) {
        pieces[0] = (yk_joint_piece){YK_JOINT_DISTANCE, 0, to_axis[Z], X};
        return 1;
    }

    /* One rotation at most can be driven: alone, or with both others held. */
    unsigned held = constrained & ~driven;
    int driven_rotations = 0;
    int held_rotations = 0;
    for (int k = 3; k < 6; k++) {
        driven_rotations += driven >> k & 1;
        held_rotations += held >> k & 1;
    }

    if (driven_rotations > 1)
        return 0;
    if (driven_rotations == 1 && held_rotations == 1)
        return 0;

    /* Rows of translations turn with a driven rotation: those across its axis must be held
     * together, or free. */
    for (int k = 0; k < 3; k++) {
        if (!(driven >> (3 + k) & 1))
            continue;

        bool first = constrained >> (k + 1) % 3 & 1;
        bool second = constrained >> (k + 2) % 3 & 1;
        if (first != second)
            return 0;
    }

    /* What is held is one joint, each driven motion another. */
    int count = 0;
    if (held)
        pieces[count++] = (yk_joint_piece){YK_JOINT_AXES, held, to_axis[Z], -1};

    for (int k = 0; k < 6; k++) {
        if (!(driven >> k & 1))
            continue;

        yk_joint_kind kind = k < 3 ? YK_JOINT_DRIVEN_POSITION : YK_JOINT_DRIVEN_ROTATION;
        pieces[count++] = (yk_joint_piece){kind, 0, to_axis[k % 3], k};
    }

    return count;
}

void yk_joint_kinematics_at(const yk_joint *joint, const yk_frame *body_a, const yk_frame *body_b,
                            const yk_drive *drive, yk_joint_kinematics *kinematics)
{
    /* Both markers and what separates them. */
    yk_marker_place(body_a, joint->offset[0], &joint->axes[0], &kinematics->a);
    yk_marker_place(body_b, joint->offset[1], &joint->axes[1], &kinematics->b);
    kinematics->d = yk_v3_sub(kinematics->b.position, kinematics->a.position);
    kinematics->length = joint->length;

    /* A distance that is not driven keeps its length. */
    kinematics->drive = (yk_drive){0};
    if (joint->driven && drive)
        kinematics->drive = *drive;
    if (joint->kind == YK_JOINT_DISTANCE && !drive)
        kinematics->drive.value = joint->length;

    /* A driven rotation turns x and y of a about its z. */
    if (joint->kind == YK_JOINT_DRIVEN_ROTATION) {
        double c = cos(kinematics->drive.value);
        double s = sin(kinematics->drive.value);
        yk_vec3 x = kinematics->a.axis[X];
        yk_vec3 y = kinematics->a.axis[Y];
        kinematics->a.axis[X] = yk_v3_axpy(s, y, yk_v3_scale(c, x));
        kinematics->a.axis[Y] = yk_v3_axpy(-s, x, yk_v3_scale(c, y));
    }
}

yk_joint_reading yk_joint_read(const yk_joint *joint, const yk_frame *body_a,
                               const yk_frame *body_b)
{
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(joint, body_a, body_b, NULL, &kinematics);
    const yk_marker_frame *a = &kinematics.a;
    const yk_marker_frame *b = &kinematics.b;
    yk_vec3 z = a->axis[Z];

    /* Rates as seen from a, whose axes turn. */
    yk_vec3 spin = yk_v3_sub(body_b->angular_velocity, body_a->angular_velocity);
    yk_vec3 speed = yk_v3_sub(b->velocity, a->velocity);
    speed = yk_v3_sub(speed, yk_v3_cross(body_a->angular_velocity, kinematics.d));

    return (yk_joint_reading){
        .angle = atan2(yk_v3_dot(a->axis[Y], b->axis[X]), yk_v3_dot(a->axis[X], b->axis[X])),
        .angle_rate = yk_v3_dot(z, spin),
        .displacement = yk_v3_dot(z, kinematics.d),
        .displacement_rate = yk_v3_dot(z, speed),
    };
}
