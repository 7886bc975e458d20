/* The joints of joint.h: first the fundamental constraints, each with value, gradient and
 * stiffness, and one table of all; then the joints as lists of them.
 *
 * With displacements dx and rotations dtheta of the bodies, r_a and r_b the arms from the bodies'
 * origins to the markers,
 *
 *   d(origin of a) = dx_a + dtheta_a x r_a,   d(a_k) = dtheta_a x a_k,   and the same for b.
 *
 * A row whose direction e rotates with a acts on a at the origin of b: its arm there is r_a + d. */
#include "mechanics/joint.h"

#include "math/so3.h"

enum { X = 0, Y = 1, Z = 2 };
enum { FORCE_A, TORQUE_A, FORCE_B, TORQUE_B };

static double component(yk_vec3 v, int k)
{
    const double values[3] = {v.x, v.y, v.z};
    return values[k];
}

/* A unit force e on b at its marker, the opposite on a with the given arm. */
static void unit_force(const yk_joint_kinematics *kinematics, yk_vec3 e, yk_vec3 arm_a,
                       yk_gradient *gradient)
{
    gradient->force[0] = yk_v3_neg(e);
    gradient->torque[0] = yk_v3_cross(e, arm_a);
    gradient->force[1] = e;
    gradient->torque[1] = yk_v3_cross(kinematics->b.arm, e);
}

/* From the origin of body a to that of marker b. */
static yk_vec3 arm_to_b(const yk_joint_kinematics *kinematics)
{
    return yk_v3_add(kinematics->a.arm, kinematics->d);
}

/* Point: g = d . E_k --------------------------------------------------------------------------- */

static double point_value(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    return component(kinematics->d, row->k);
}

static void point_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                           yk_gradient *gradient)
{
    yk_vec3 e = {row->k == X, row->k == Y, row->k == Z};
    unit_force(kinematics, e, kinematics->a.arm, gradient);
}

/* sum += factor times the derivative of (theta x arm) x E_k by theta, which has only a column and a
 * diagonal. */
static void add_turned_arm(int k, yk_vec3 arm, double factor, yk_mat3 *sum)
{
    double along = factor * component(arm, k);

    sum->m[0][k] += factor * arm.x;
    sum->m[1][k] += factor * arm.y;
    sum->m[2][k] += factor * arm.z;

    for (int i = 0; i < 3; i++)
        sum->m[i][i] -= along;
}

static void point_stiffness(const yk_row *row, const yk_joint_kinematics *kinematics, double lambda,
                            yk_mat3 stiffness[4][4])
{
    add_turned_arm(row->k, kinematics->a.arm, -lambda, &stiffness[TORQUE_A][TORQUE_A]);
    add_turned_arm(row->k, kinematics->b.arm, lambda, &stiffness[TORQUE_B][TORQUE_B]);
}

/* In plane: g = a_k . d - drive ---------------------------------------------------------------- */

static double in_plane_value(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    return yk_v3_dot(kinematics->a.axis[row->k], kinematics->d) - kinematics->drive.value;
}

static void along_a_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                             yk_gradient *gradient)
{
    unit_force(kinematics, kinematics->a.axis[row->k], arm_to_b(kinematics), gradient);
}

static void in_plane_stiffness(const yk_row *row, const yk_joint_kinematics *kinematics,
                               double lambda, yk_mat3 stiffness[4][4])
{
    yk_vec3 e = kinematics->a.axis[row->k];
    yk_vec3 arm_a = arm_to_b(kinematics);
    yk_vec3 arm_b = kinematics->b.arm;
    yk_mat3 skew_e = yk_m3_skew(e);
    yk_mat3 both = yk_m3_mul(skew_e, yk_m3_skew(arm_b));

    /* Forces -e and e: de = theta_a x e. */
    yk_m3_add_to(&stiffness[FORCE_A][TORQUE_A], lambda, skew_e);
    yk_m3_add_to(&stiffness[FORCE_B][TORQUE_A], -lambda, skew_e);

    /* Torque e x arm_a on a, where arm_a = x_b + r_b - x_a. */
    yk_m3_add_to(&stiffness[TORQUE_A][FORCE_A], -lambda, skew_e);
    yk_m3_add_to(&stiffness[TORQUE_A][FORCE_B], lambda, skew_e);
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_A], lambda, yk_m3_rotated_cross(e, arm_a));
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_B], -lambda, both);

    /* Torque r_b x e on b. */
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_A], -lambda, yk_m3_transpose(both));
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_B], lambda, yk_m3_rotated_cross(arm_b, e));
}

/* Axes: g = a_k . b_l -------------------------------------------------------------------------- */

static double axes_value(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    return yk_v3_dot(kinematics->a.axis[row->k], kinematics->b.axis[row->l]);
}

static void axes_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                          yk_gradient *gradient)
{
    yk_vec3 normal = yk_v3_cross(kinematics->a.axis[row->k], kinematics->b.axis[row->l]);
    *gradient = (yk_gradient){.torque = {normal, yk_v3_neg(normal)}};
}

static void axes_stiffness(const yk_row *row, const yk_joint_kinematics *kinematics, double lambda,
                           yk_mat3 stiffness[4][4])
{
    yk_vec3 a_k = kinematics->a.axis[row->k];
    yk_vec3 b_l = kinematics->b.axis[row->l];
    yk_mat3 by_a = yk_m3_rotated_cross(a_k, b_l);                  /* (theta_a x a_k) x b_l */
    yk_mat3 by_b = yk_m3_scale(-1, yk_m3_rotated_cross(b_l, a_k)); /* a_k x (theta_b x b_l) */

    /* Opposite torques on both bodies. */
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_A], lambda, by_a);
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_B], lambda, by_b);
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_A], -lambda, by_a);
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_B], -lambda, by_b);
}

/* Distance: g = |d| - drive -------------------------------------------------------------------- */

static double distance_value(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    (void)row;
    return yk_v3_norm(kinematics->d) - kinematics->drive.value;
}

static void distance_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                              yk_gradient *gradient)
{
    (void)row;
    unit_force(kinematics, yk_v3_unit(kinematics->d), kinematics->a.arm, gradient);
}

static void distance_stiffness(const yk_row *row, const yk_joint_kinematics *kinematics,
                               double lambda, yk_mat3 stiffness[4][4])
{
    (void)row;
    yk_vec3 e = yk_v3_unit(kinematics->d);
    double length = yk_v3_norm(kinematics->d);

    /* e = d/|d| rotates with d: de = (I - e e^T)/|d| dd, where dd = jacobian . (dx_a, dtheta_a,
     * dx_b, dtheta_b). */
    yk_mat3 across = yk_m3_scale(1 / length, yk_m3_sub(yk_m3_identity(), yk_m3_outer(e, e)));
    yk_mat3 jacobian[4] = {
        yk_m3_scale(-1, yk_m3_identity()),
        yk_m3_skew(kinematics->a.arm),
        yk_m3_identity(),
        yk_m3_scale(-1, yk_m3_skew(kinematics->b.arm)),
    };

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            yk_mat3 rotated = yk_m3_mul(across, jacobian[j]);
            yk_m3_add_to(&stiffness[i][j], lambda,
                         yk_m3_mul(yk_m3_transpose(jacobian[i]), rotated));
        }
    }

    /* The arms rotate under e. */
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_A], -lambda,
                 yk_m3_rotated_cross(kinematics->a.arm, e));
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_B], lambda, yk_m3_rotated_cross(kinematics->b.arm, e));
}

/* Slip and spin: on velocity level ------------------------------------------------------------- */

static void along_b_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                             yk_gradient *gradient)
{
    unit_force(kinematics, kinematics->b.axis[row->k], arm_to_b(kinematics), gradient);
}

static void spin_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                          yk_gradient *gradient)
{
    yk_vec3 axis = kinematics->a.axis[row->k];
    *gradient = (yk_gradient){.torque = {yk_v3_neg(axis), axis}};
}

/* Angle: g = angle of b about a_z - drive ------------------------------------------------------ */

static double angle_value(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    (void)row;
    const yk_vec3 *a = kinematics->a.axis;
    yk_vec3 b = kinematics->b.axis[X];
    double near = kinematics->drive.near_angle;
    double wrapped = atan2(yk_v3_dot(a[Y], b), yk_v3_dot(a[X], b));
    return near + remainder(wrapped - near, 2 * YK_PI) - kinematics->drive.value;
}

/* With q = a_z . b_x, the torque on b is (a_z - q b_x) / (1 - q^2): a_z if the z axes are parallel. */
static yk_vec3 angle_torque(const yk_joint_kinematics *kinematics, double *square)
{
    yk_vec3 z = kinematics->a.axis[Z];
    yk_vec3 x = kinematics->b.axis[X];
    double q = yk_v3_dot(z, x);
    *square = 1 - q * q;
    return yk_v3_scale(1 / *square, yk_v3_axpy(-q, x, z));
}

static void angle_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                           yk_gradient *gradient)
{
    (void)row;
    double square;
    yk_vec3 torque = angle_torque(kinematics, &square);
    *gradient = (yk_gradient){.torque = {yk_v3_neg(torque), torque}};
}

/* dq = n . (theta_a - theta_b) with n = a_z x b_x, and both axes rotate. */
static void angle_stiffness(const yk_row *row, const yk_joint_kinematics *kinematics, double lambda,
                            yk_mat3 stiffness[4][4])
{
    (void)row;
    yk_vec3 z = kinematics->a.axis[Z];
    yk_vec3 x = kinematics->b.axis[X];
    double q = yk_v3_dot(z, x);
    double square;
    yk_vec3 torque = angle_torque(kinematics, &square);
    yk_vec3 along_q = yk_v3_axpy(-2 * q, torque, x);
    yk_mat3 by_q = yk_m3_outer(along_q, yk_v3_cross(z, x));
    yk_mat3 by_a = yk_m3_scale(-1, yk_m3_add(yk_m3_skew(z), by_q));
    yk_mat3 by_b = yk_m3_add(yk_m3_scale(q, yk_m3_skew(x)), by_q);

    double factor = lambda / square;
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_A], factor, by_a);
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_B], factor, by_b);
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_A], -factor, by_a);
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_B], -factor, by_b);
}

/* Wheel: g = a_z . d - r sqrt(1 - (a_z . b_z)^2) ----------------------------------------------- */

/* A disc about b_z on the plane normal to a_z, for wheel and roll. Roll: the contact point has no
 * velocity. */
typedef struct wheel {
    double cosine, sine;   /* of the angle between both axes */
    yk_vec3 contact;       /* from the disc's centre */
    yk_vec3 along, across; /* directions of rolling, in the plane */
} wheel;

static wheel wheel_of(const yk_joint_kinematics *kinematics)
{
    yk_vec3 normal = kinematics->a.axis[Z];
    yk_vec3 axle = kinematics->b.axis[Z];
    yk_vec3 along = yk_v3_cross(axle, normal);
    wheel w = {.cosine = yk_v3_dot(normal, axle), .sine = yk_v3_norm(along)};

    /* A disc that lies flat has no contact point. */
    double inverse = 0;
    if (w.sine > 1e-12)
        inverse = 1 / w.sine;

    /* The contact point is the lowest point of the disc. */
    w.along = yk_v3_scale(inverse, along);
    w.across = yk_v3_cross(normal, w.along);
    w.contact = yk_v3_scale(-kinematics->length * inverse, yk_v3_axpy(-w.cosine, axle, normal));

    return w;
}

static double wheel_value(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    (void)row;

    wheel w = wheel_of(kinematics);
    return yk_v3_dot(kinematics->a.axis[Z], kinematics->d) - kinematics->length * w.sine;
}

static void wheel_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                           yk_gradient *gradient)
{
    (void)row;
    wheel w = wheel_of(kinematics);
    unit_force(kinematics, kinematics->a.axis[Z], arm_to_b(kinematics), gradient);

    /* The lowest point rises as the disc tilts: -r d(sine) = r cosine/sine d(cosine). */
    double factor = 0;
    if (w.sine > 1e-12)
        factor = kinematics->length * w.cosine / w.sine;
    yk_vec3 lean = yk_v3_scale(factor, yk_v3_cross(kinematics->a.axis[Z], kinematics->b.axis[Z]));
    gradient->torque[0] = yk_v3_add(gradient->torque[0], lean);
    gradient->torque[1] = yk_v3_sub(gradient->torque[1], lean);
}

static void roll_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                          yk_gradient *gradient)
{
    wheel w = wheel_of(kinematics);
    yk_vec3 e = row->k == 0 ? w.along : w.across;
    unit_force(kinematics, e, yk_v3_add(arm_to_b(kinematics), w.contact), gradient);
    gradient->torque[1] = yk_v3_add(gradient->torque[1], yk_v3_cross(w.contact, e));
}

/* All rows: one table -------------------------------------------------------------------------- */

#define BLOCK(i, j) (1u << (4 * (i) + (j)))
#define TORQUE_DIAGONAL (BLOCK(TORQUE_A, TORQUE_A) | BLOCK(TORQUE_B, TORQUE_B))
#define TORQUE_BLOCKS (TORQUE_DIAGONAL | BLOCK(TORQUE_A, TORQUE_B) | BLOCK(TORQUE_B, TORQUE_A))
#define FORCES_BY_A (BLOCK(FORCE_A, TORQUE_A) | BLOCK(FORCE_B, TORQUE_A))
#define TORQUE_BY_FORCES (BLOCK(TORQUE_A, FORCE_A) | BLOCK(TORQUE_A, FORCE_B))

enum { MASK_TORQUES = 7u << 3 | 7u << 9, MASK_ALL = 0xfffu, BLOCKS_ALL = 0xffffu };

/* Term of the drive that is subtracted from the rate of a row. */
typedef enum row_drive {
    DRIVE_NOTHING,
    DRIVE_RATE,   /* a position is prescribed */
    DRIVE_VALUE,  /* a velocity is prescribed */
    DRIVE_TURNING /* the drive rotates the axis of a about a_z relative to its body */
} row_drive;

typedef struct row_kind {
    row_drive drive;
    unsigned mask;                                                /* of the gradient */
    unsigned blocks;                                              /* of the stiffness */
    double (*value)(const yk_row *, const yk_joint_kinematics *); /* NULL: on velocity level */
    void (*gradient)(const yk_row *, const yk_joint_kinematics *, yk_gradient *);
    void (*stiffness)(const yk_row *, const yk_joint_kinematics *, double,
                      yk_mat3[4][4]); /* NULL: left out */
} row_kind;

static const row_kind rows[] = {
    [YK_ROW_POINT] = {DRIVE_NOTHING, 0, TORQUE_DIAGONAL, point_value, point_gradient,
                      point_stiffness},
    [YK_ROW_IN_PLANE] = {DRIVE_RATE, MASK_ALL, TORQUE_BLOCKS | FORCES_BY_A | TORQUE_BY_FORCES,
                         in_plane_value, along_a_gradient, in_plane_stiffness},
    [YK_ROW_AXES] = {DRIVE_TURNING, MASK_TORQUES, TORQUE_BLOCKS, axes_value, axes_gradient,
                     axes_stiffness},
    [YK_ROW_DISTANCE] = {DRIVE_RATE, MASK_ALL, BLOCKS_ALL, distance_value, distance_gradient,
                         distance_stiffness},
    [YK_ROW_WHEEL] = {DRIVE_NOTHING, MASK_ALL, 0, wheel_value, wheel_gradient, NULL},
    [YK_ROW_SLIP_A] = {DRIVE_VALUE, MASK_ALL, 0, NULL, along_a_gradient, NULL},
    [YK_ROW_SLIP_B] = {DRIVE_VALUE, MASK_ALL, 0, NULL, along_b_gradient, NULL},
    [YK_ROW_SPIN] = {DRIVE_VALUE, MASK_TORQUES, 0, NULL, spin_gradient, NULL},
    [YK_ROW_ROLL] = {DRIVE_NOTHING, MASK_ALL, 0, NULL, roll_gradient, NULL},
    [YK_ROW_ANGLE] = {DRIVE_RATE, MASK_TORQUES, TORQUE_BLOCKS, angle_value, angle_gradient,
                      angle_stiffness},
};

bool yk_row_on_velocity(const yk_row *row)
{
    return rows[row->kind].value == NULL;
}

bool yk_row_is_angle(const yk_row *row)
{
    return rows[row->kind].mask == MASK_TORQUES;
}

double yk_row_value(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    if (yk_row_on_velocity(row))
        return 0;

    return kinematics->ratio * rows[row->kind].value(row, kinematics);
}

void yk_row_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                     yk_gradient *gradient)
{
    rows[row->kind].gradient(row, kinematics, gradient);
    if (kinematics->ratio == 1)
        return;

    for (int side = 0; side < 2; side++) {
        gradient->force[side] = yk_v3_scale(kinematics->ratio, gradient->force[side]);
        gradient->torque[side] = yk_v3_scale(kinematics->ratio, gradient->torque[side]);
    }
}

double yk_row_rate(const yk_row *row, const yk_joint_kinematics *kinematics)
{
    const yk_marker_frame *a = &kinematics->a;
    const yk_marker_frame *b = &kinematics->b;

    /* Velocities of the bodies through the gradient. */
    yk_gradient g;
    yk_row_gradient(row, kinematics, &g);
    yk_vec3 body_a = yk_v3_sub(a->velocity, yk_v3_cross(a->angular_velocity, a->arm));
    yk_vec3 body_b = yk_v3_sub(b->velocity, yk_v3_cross(b->angular_velocity, b->arm));
    double rate = yk_v3_dot(g.force[0], body_a) + yk_v3_dot(g.torque[0], a->angular_velocity) +
                  yk_v3_dot(g.force[1], body_b) + yk_v3_dot(g.torque[1], b->angular_velocity);

    /* Term of the drive for fixed bodies. */
    switch (rows[row->kind].drive) {
    case DRIVE_NOTHING: break;
    case DRIVE_RATE: return rate - kinematics->ratio * kinematics->drive.rate;
    case DRIVE_VALUE: return rate - kinematics->ratio * kinematics->drive.value;
    case DRIVE_TURNING:
        if (kinematics->drive.rate != 0) {
            yk_vec3 rotating = yk_v3_cross(a->axis[Z], a->axis[row->k]);
            rate += kinematics->drive.rate * yk_v3_dot(rotating, b->axis[row->l]);
        }
        break;
    }

    return rate;
}

/* A body after a time with constant velocity and angular velocity. */
static yk_frame coast(const yk_frame *body, double time)
{
    yk_frame moved = *body;

    moved.position = yk_v3_axpy(time, body->velocity, body->position);
    moved.rotation =
        yk_m3_mul(yk_so3_exp_matrix(yk_v3_scale(time, body->angular_velocity)), body->rotation);
    return moved;
}

/* The rate is known in closed form, so one central difference of it along the motion with constant
 * velocities gives the second derivative at zero acceleration, with an error of second order in the
 * step. */
double yk_row_bias(const yk_row *row, const yk_joint *joint, const yk_frame *body_a,
                   const yk_frame *body_b, const yk_drive *drive)
{
    double speed = yk_v3_norm(body_a->angular_velocity) + yk_v3_norm(body_b->angular_velocity);
    double step = 1e-5 / (1 + speed);
    double rate[2];

    for (int side = 0; side < 2; side++) {
        double time = side ? step : -step;
        yk_frame a = coast(body_a, time);
        yk_frame b = coast(body_b, time);

        /* The drive continues as well. */
        yk_drive moved = {0};
        if (drive) {
            moved.value = drive->value + time * (drive->rate + 0.5 * time * drive->second);
            moved.rate = drive->rate + time * drive->second;
            moved.second = drive->second;
            moved.near_angle = drive->near_angle;
        }

        yk_joint_kinematics kinematics;
        yk_joint_kinematics_at(joint, &a, &b, drive ? &moved : NULL, &kinematics);
        rate[side] = yk_row_rate(row, &kinematics);
    }

    return (rate[1] - rate[0]) / (2 * step);
}

void yk_row_stiffness(const yk_row *row, const yk_joint_kinematics *kinematics, double lambda,
                      yk_mat3 stiffness[4][4])
{
    if (rows[row->kind].stiffness)
        rows[row->kind].stiffness(row, kinematics, kinematics->ratio * lambda, stiffness);
}

unsigned yk_row_mask(const yk_row *row)
{
    if (row->kind != YK_ROW_POINT)
        return rows[row->kind].mask;

    /* A force along one global axis has no torque about it. */
    unsigned force = 1u << row->k;
    unsigned torque = 7u & ~force;

    return force | torque << 3 | force << 6 | torque << 9;
}

unsigned yk_row_stiffness_mask(const yk_row *row)
{
    return rows[row->kind].blocks;
}

/* The joints ----------------------------------------------------------------------------------- */

/* clang-format off */
#define POINT    {YK_ROW_POINT, X, 0}, {YK_ROW_POINT, Y, 0}, {YK_ROW_POINT, Z, 0}
#define PARALLEL {YK_ROW_AXES, X, Z}, {YK_ROW_AXES, Y, Z}
#define LOCKED   {YK_ROW_AXES, X, Z}, {YK_ROW_AXES, Y, Z}, {YK_ROW_AXES, X, Y}
#define IN_LINE  {YK_ROW_IN_PLANE, X, 0}, {YK_ROW_IN_PLANE, Y, 0}
#define ALONG_Z  {YK_ROW_IN_PLANE, Z, 0}
#define ROLLING  {YK_ROW_WHEEL, 0, 0}, {YK_ROW_ROLL, 0, 0}, {YK_ROW_ROLL, 1, 0}
/* clang-format on */

/* The drive of a joint enters its last row. */
typedef struct joint_kind {
    yk_joint_traits traits;
    int row_count;
    yk_row row[YK_JOINT_ROWS_MAX];
} joint_kind;

static const joint_kind joints[YK_JOINT_KIND_COUNT] = {
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
    [YK_JOINT_FIXED] = {{.name = "fixed"}, 6, {POINT, LOCKED}},
    [YK_JOINT_DISTANCE] = {{.name = "distance", .drive = {.name = "distance"}},
                           1,
                           {{YK_ROW_DISTANCE, 0, 0}}},
    [YK_JOINT_IN_LINE] = {{.name = "in-line", .motion = YK_MOTION_TRANSLATION}, 2, {IN_LINE}},
    [YK_JOINT_IN_PLANE] = {{.name = "in-plane"}, 1, {ALONG_Z}},
    [YK_JOINT_PARALLEL_AXES] = {{.name = "parallel-axes"}, 2, {PARALLEL}},
    [YK_JOINT_FIXED_ORIENTATION] = {{.name = "fixed-orientation"}, 3, {LOCKED}},
    [YK_JOINT_DRIVEN_ROTATION] = {{.name = "driven-rotation",
                                   .drive = {"angle", .required = true, .angular = true},
                                   .motion = YK_MOTION_ROTATION},
                                  1,
                                  {{YK_ROW_AXES, X, Y}}},
    [YK_JOINT_DRIVEN_TRANSLATION] = {{.name = "driven-translation",
                                      .drive = {"displacement", .required = true},
                                      .motion = YK_MOTION_TRANSLATION},
                                     1,
                                     {ALONG_Z}},
    [YK_JOINT_DRIVEN_ANGULAR_VELOCITY] = {{.name = "driven-angular-velocity",
                                           .drive = {"angular_velocity", .required = true,
                                                     .angular = true, .on_velocity = true}},
                                          1,
                                          {{YK_ROW_SPIN, Z, 0}}},
    [YK_JOINT_DRIVEN_VELOCITY] = {{.name = "driven-velocity",
                                   .drive = {"velocity", .required = true, .on_velocity = true}},
                                  1,
                                  {{YK_ROW_SLIP_A, Z, 0}}},
    [YK_JOINT_KNIFE_EDGE] = {{.name = "knife-edge"}, 1, {{YK_ROW_SLIP_B, Y, 0}}},
    [YK_JOINT_ROLLING] = {{.name = "rolling"}, 3, {ROLLING}},
    [YK_JOINT_CUSTOM] = {{.name = "custom"}, 0, {{0}}},
    [YK_JOINT_COUPLED_ROTATION] = {{.name = "coupled-rotation",
                                    .drive = {"value", .angular = true},
                                    .motion = YK_MOTION_ROTATION,
                                    .coupled = true},
                                   1,
                                   {{YK_ROW_ANGLE, Z, 0}}},
    [YK_JOINT_COUPLED_TRANSLATION] = {{.name = "coupled-translation",
                                       .drive = {.name = "value"},
                                       .motion = YK_MOTION_TRANSLATION,
                                       .coupled = true},
                                      1,
                                      {ALONG_Z}},
    [YK_JOINT_COUPLED_DISTANCE] = {{.name = "coupled-distance",
                                    .drive = {.name = "value"},
                                    .coupled = true},
                                   1,
                                   {{YK_ROW_DISTANCE, 0, 0}}},
};

yk_joint_def yk_joint_default(void)
{
    return (yk_joint_def){
        .kind = YK_JOINT_FIXED,
        .bodies = {YK_GROUND, YK_GROUND},
        .markers = {yk_marker_default(), yk_marker_default()},
        .drive_scale = 1,
        .signal_port = YK_NULL_PORT,
        .adds_to = YK_NULL_JOINT,
        .ratio = 1,
    };
}

yk_joint_def yk_joint_named(const char *name, yk_joint_kind kind, yk_body_id body_a,
                            yk_body_id body_b)
{
    yk_joint_def def = yk_joint_default();
    def.name = name;
    def.kind = kind;
    def.bodies[0] = body_a;
    def.bodies[1] = body_b;
    return def;
}

yk_joint_def yk_joint_at(const char *name, yk_joint_kind kind, yk_body_id body_a, yk_body_id body_b,
                         yk_marker global)
{
    yk_joint_def def = yk_joint_named(name, kind, body_a, body_b);
    def.markers[0] = global;
    def.marker_is_global = true;
    return def;
}

yk_status yk_joint_check(yk_context *context, const char *model, const yk_joint_def *def)
{
    const char *name = def->name ? def->name : "";
    if ((unsigned)def->kind >= YK_JOINT_KIND_COUNT)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: joint '%s' is of no known kind (%d): take a yk_joint_kind", model, name,
                       (int)def->kind);

    /* A length that a drive prescribes needs no constant. */
    bool has_drive = def->drive.evaluate || def->signal_port.index != YK_NO_ID;
    bool needs_length =
        def->kind == YK_JOINT_ROLLING || (def->kind == YK_JOINT_DISTANCE && !has_drive);
    if (needs_length && !(def->length > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: joint '%s' needs a positive length, not %g m", model, name,
                       def->length);
    if (def->kind == YK_JOINT_CUSTOM && !(def->constrained_axes & YK_AXES_ALL))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: joint '%s' constrains no motion: name its axes", model, name);
    if (joints[def->kind].traits.drive.required && !has_drive)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: joint '%s' prescribes a motion but has no drive", model, name);
    if (def->signal_port.index != YK_NO_ID && (def->drive.evaluate || def->signal_port.index < 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: joint '%s' takes its motion from a function or from the id of a signal "
                       "port, not from both",
                       model, name);
    if (def->signal_port.index != YK_NO_ID && !joints[def->kind].traits.drive.name)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: joint '%s' prescribes no motion, so it takes no signal", model, name);
    bool coupled = joints[def->kind].traits.coupled;
    if (!coupled && def->adds_to.index != YK_NO_ID)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: joint '%s' adds to another joint, but it is of kind %s: take a coupled "
                       "kind, or YK_NO_ID for adds_to",
                       model, name, joints[def->kind].traits.name);
    if (coupled && (def->ratio == 0 || !isfinite(def->ratio)))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: coupling '%s' has a term with the ratio %g: take a finite number other "
                       "than zero",
                       model, name, def->ratio);
    return YK_OK;
}

const yk_joint_traits *yk_joint_traits_of(yk_joint_kind kind)
{
    return &joints[kind].traits;
}

const char *yk_joint_kind_name(yk_joint_kind kind)
{
    if ((unsigned)kind >= YK_JOINT_KIND_COUNT)
        return "unknown";
    return joints[kind].traits.name;
}

/* A joint between two markers that has no rows yet. */
static yk_joint joint_between(yk_joint_kind kind, const yk_marker *a, const yk_marker *b)
{
    yk_joint joint = {.kind = kind, .offset = {a->offset, b->offset}, .ratio = 1};

    joint.axes[0] = yk_q_matrix(yk_q_unit(a->orientation));
    joint.axes[1] = yk_q_matrix(yk_q_unit(b->orientation));

    return joint;
}

yk_joint yk_joint_make(yk_joint_kind kind, const yk_marker *a, const yk_marker *b, double length)
{
    yk_joint joint = joint_between(kind, a, b);

    /* Rows and drive of its kind. */
    joint.length = length;
    joint.driven = joints[kind].traits.drive.name != NULL;
    joint.row_count = joints[kind].row_count;
    for (int i = 0; i < joint.row_count; i++)
        joint.row[i] = joints[kind].row[i];

    return joint;
}

yk_joint yk_joint_of_axes(unsigned constrained, const yk_marker *a, const yk_marker *b)
{
    yk_joint joint = joint_between(YK_JOINT_CUSTOM, a, b);
    int n = 0;

    /* Translations: all three form a common point, in axes that do not rotate. */
    if ((constrained & YK_AXES_TRANSLATION) == YK_AXES_TRANSLATION) {
        for (int k = 0; k < 3; k++)
            joint.row[n++] = (yk_row){YK_ROW_POINT, k, 0};
    } else {
        for (int k = 0; k < 3; k++) {
            if (constrained & (unsigned)(YK_AXIS_X << k))
                joint.row[n++] = (yk_row){YK_ROW_IN_PLANE, k, 0};
        }
    }

    /* Rotations: the free ones determine which pairs of axes may remain perpendicular. */
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
        /* As in a revolute joint: the axis of the free rotation remains perpendicular to the other
         * two of a. */
        for (int k = 0; k < 3; k++) {
            if (k != free_axis)
                joint.row[n++] = (yk_row){YK_ROW_AXES, k, free_axis};
        }
    } else if (fixed_count == 1) {
        /* As in a universal joint: the axes of the two free rotations remain perpendicular. */
        joint.row[n++] = (yk_row){YK_ROW_AXES, (fixed_axis + 1) % 3, (fixed_axis + 2) % 3};
    }

    joint.row_count = n;
    return joint;
}

yk_joint yk_joint_of(const yk_joint_def *def)
{
    if (def->kind == YK_JOINT_CUSTOM)
        return yk_joint_of_axes(def->constrained_axes, &def->markers[0], &def->markers[1]);

    yk_joint joint = yk_joint_make(def->kind, &def->markers[0], &def->markers[1], def->length);
    if (joints[def->kind].traits.coupled)
        joint.ratio = def->ratio;
    return joint;
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

    /* So are nonholonomic joints. */
    if (constrained & (YK_AXIS_KNIFE_EDGE | YK_AXIS_ROLLING)) {
        yk_joint_kind kind = YK_JOINT_KNIFE_EDGE;
        if (constrained & YK_AXIS_ROLLING)
            kind = YK_JOINT_ROLLING;
        pieces[0] = (yk_joint_piece){kind, 0, to_axis[Z], -1};
        return 1;
    }

    /* At most one rotation can be driven: alone, or if both others are constrained. */
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

    /* Rows of translations rotate with a driven rotation: those perpendicular to its axis must both
     * be constrained, or both free. */
    for (int k = 0; k < 3; k++) {
        if (!(driven >> (3 + k) & 1))
            continue;

        bool first = constrained >> (k + 1) % 3 & 1;
        bool second = constrained >> (k + 2) % 3 & 1;
        if (first != second)
            return 0;
    }

    /* The constrained motions are one joint, each driven motion another. */
    int count = 0;
    if (held)
        pieces[count++] = (yk_joint_piece){YK_JOINT_CUSTOM, held, to_axis[Z], -1};

    for (int k = 0; k < 6; k++) {
        if (!(driven >> k & 1))
            continue;

        yk_joint_kind kind = k < 3 ? YK_JOINT_DRIVEN_TRANSLATION : YK_JOINT_DRIVEN_ROTATION;
        pieces[count++] = (yk_joint_piece){kind, 0, to_axis[k % 3], k};
    }

    return count;
}

void yk_joint_kinematics_at(const yk_joint *joint, const yk_frame *body_a, const yk_frame *body_b,
                            const yk_drive *drive, yk_joint_kinematics *kinematics)
{
    /* Both markers and their relative pose. */
    yk_marker_place(body_a, joint->offset[0], &joint->axes[0], &kinematics->a);
    yk_marker_place(body_b, joint->offset[1], &joint->axes[1], &kinematics->b);
    kinematics->d = yk_v3_sub(kinematics->b.position, kinematics->a.position);
    kinematics->length = joint->length;
    kinematics->ratio = joint->ratio;

    /* A distance that is not driven keeps its length. */
    kinematics->drive = (yk_drive){0};
    if (joint->driven && drive)
        kinematics->drive = *drive;
    if (joint->ratio != 1) {
        kinematics->drive.value /= joint->ratio;
        kinematics->drive.rate /= joint->ratio;
        kinematics->drive.second /= joint->ratio;
    }
    if (joint->kind == YK_JOINT_DISTANCE && !drive)
        kinematics->drive.value = joint->length;

    /* A driven rotation rotates x and y of a about its z. */
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

    /* Rates in a's axes, which rotate. */
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
