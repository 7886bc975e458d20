#include "mechanics/joint.h"

#include "math/so3.h"

/* The closed set of joints as data: name, rows, and whether the drive enters the last row. */
typedef struct joint_table {
    const char *name;
    bool driven;
    int row_count;
    yk_row row[YK_JOINT_ROWS_MAX];
} joint_table;

enum { X = 0, Y = 1, Z = 2 };

#define POINT                                   \
    {YK_ROW_POINT, X, 0}, {YK_ROW_POINT, Y, 0}, \
    {                                           \
        YK_ROW_POINT, Z, 0                      \
    }
#define PARALLEL          \
    {YK_ROW_AXES, X, Z},  \
    {                     \
        YK_ROW_AXES, Y, Z \
    }
#define LOCKED                                \
    {YK_ROW_AXES, X, Z}, {YK_ROW_AXES, Y, Z}, \
    {                                         \
        YK_ROW_AXES, X, Y                     \
    }
#define IN_LINE               \
    {YK_ROW_IN_PLANE, X, 0},  \
    {                         \
        YK_ROW_IN_PLANE, Y, 0 \
    }

static const joint_table table[YK_JOINT_KINDS] = {
    [YK_JOINT_SPHERICAL] = {"spherical", false, 3, {POINT}},
    [YK_JOINT_REVOLUTE] = {"revolute", false, 5, {POINT, PARALLEL}},
    [YK_JOINT_UNIVERSAL] = {"universal", false, 4, {POINT, {YK_ROW_AXES, X, Y}}},
    [YK_JOINT_PRISMATIC] = {"prismatic", false, 5, {IN_LINE, LOCKED}},
    [YK_JOINT_CYLINDRICAL] = {"cylindrical", false, 4, {IN_LINE, PARALLEL}},
    [YK_JOINT_PLANAR] = {"planar", false, 3, {{YK_ROW_IN_PLANE, Z, 0}, PARALLEL}},
    [YK_JOINT_CLAMP] = {"clamp", false, 6, {POINT, LOCKED}},
    [YK_JOINT_DISTANCE] = {"distance", true, 1, {{YK_ROW_DISTANCE, 0, 0}}},
    [YK_JOINT_IN_LINE] = {"in-line", false, 2, {IN_LINE}},
    [YK_JOINT_IN_PLANE] = {"in-plane", false, 1, {{YK_ROW_IN_PLANE, Z, 0}}},
    [YK_JOINT_PARALLEL_AXES] = {"parallel-axes", false, 2, {PARALLEL}},
    [YK_JOINT_ORIENTATION] = {"orientation", false, 3, {LOCKED}},
    [YK_JOINT_DRIVEN_ROTATION] = {"rotation", true, 1, {{YK_ROW_AXES, X, Y}}},
    [YK_JOINT_DRIVEN_POSITION] = {"position", true, 1, {{YK_ROW_IN_PLANE, Z, 0}}},
    [YK_JOINT_DRIVEN_SPIN] = {"angular-velocity", true, 1, {{YK_ROW_SPIN, Z, 0}}},
    [YK_JOINT_DRIVEN_SPEED] = {"velocity", true, 1, {{YK_ROW_SLIP_A, Z, 0}}},
    [YK_JOINT_KNIFE_EDGE] = {"knife-edge", false, 1, {{YK_ROW_SLIP_B, Y, 0}}},
    [YK_JOINT_ROLLING] = {"rolling", false, 3, {{YK_ROW_WHEEL, 0, 0}, {YK_ROW_ROLL, 0, 0}, {YK_ROW_ROLL, 1, 0}}},
    [YK_JOINT_AXES] = {"axes", false, 0, {{0}}},
};

const char *yk_joint_name(yk_joint_kind kind)
{
    return table[kind].name;
}

bool yk_row_on_velocity(yk_row_kind kind)
{
    return kind >= YK_ROW_SLIP_A;
}

static yk_joint joint_of_rows(yk_joint_kind kind, const yk_marker *a, const yk_marker *b)
{
    return (yk_joint){.kind = kind,
                      .offset = {a->offset, b->offset},
                      .axes = {yk_q_matrix(yk_q_unit(a->orientation)), yk_q_matrix(yk_q_unit(b->orientation))}};
}

yk_joint yk_joint_make(yk_joint_kind kind, const yk_marker *a, const yk_marker *b, double length)
{
    yk_joint joint = joint_of_rows(kind, a, b);
    joint.row_count = table[kind].row_count;
    joint.driven = table[kind].driven;
    joint.length = length;
    for (int i = 0; i < joint.row_count; i++) joint.row[i] = table[kind].row[i];
    return joint;
}

/* Rotations that stay free decide which pairs of axes may stay perpendicular: a constrained rotation about k keeps the
 * other two axes apart. With one or two rotations free the z-like axis of the free rotation is kept parallel or
 * perpendicular as in revolute and universal joints. */
yk_joint yk_joint_of_axes(unsigned constrained, const yk_marker *a, const yk_marker *b)
{
    yk_joint joint = joint_of_rows(YK_JOINT_AXES, a, b);
    int n = 0;
    if ((constrained & YK_AXES_TRANSLATION) == YK_AXES_TRANSLATION) {
        for (int k = 0; k < 3; k++) joint.row[n++] = (yk_row){YK_ROW_POINT, k, 0};
    } else {
        for (int k = 0; k < 3; k++)
            if (constrained & (unsigned)(YK_AXIS_X << k)) joint.row[n++] = (yk_row){YK_ROW_IN_PLANE, k, 0};
    }
    bool fixed[3];
    int fixed_count = 0, free_axis = 2;
    for (int k = 0; k < 3; k++) {
        fixed[k] = constrained & (unsigned)(YK_AXIS_RX << k);
        fixed_count += fixed[k];
        if (!fixed[k]) free_axis = k;
    }
    if (fixed_count == 3) {
        for (int k = 0; k < 3; k++) joint.row[n++] = (yk_row){YK_ROW_AXES, k == 2 ? X : k, k == 2 ? Y : Z};
    } else if (fixed_count == 2) {
        for (int k = 0; k < 3; k++)
            if (k != free_axis) joint.row[n++] = (yk_row){YK_ROW_AXES, k, free_axis};
    } else if (fixed_count == 1) {
        for (int k = 0; k < 3; k++)
            if (fixed[k]) joint.row[n++] = (yk_row){YK_ROW_AXES, (k + 1) % 3, (k + 2) % 3};
    }
    joint.row_count = n;
    return joint;
}

int yk_joint_pieces(unsigned constrained, unsigned driven, yk_joint_piece pieces[YK_JOINT_PIECES_MAX])
{
    /* z of the marker to x, y and z: the axes in turn. */
    static const yk_quat to_axis[3] = {{0.5, 0.5, 0.5, 0.5}, {0.5, -0.5, -0.5, -0.5}, {1, 0, 0, 0}};
    int count = 0;
    if (constrained & YK_AXIS_DISTANCE) {
        pieces[count++] = (yk_joint_piece){YK_JOINT_DISTANCE, 0, to_axis[Z], X};
        return count;
    }
    unsigned rest = constrained & ~driven, turned = driven & YK_AXES_ROTATION, others = rest & YK_AXES_ROTATION;
    int turned_count = 0, others_count = 0;
    for (int k = 3; k < 6; k++) turned_count += turned >> k & 1, others_count += others >> k & 1;
    if (turned_count > 1 || (turned_count == 1 && others_count == 1)) return 0;
    /* Rows of translations turn with the drive: those across its axis must be held together, or free together. */
    for (int k = 0; k < 3; k++) {
        bool across = (constrained >> (k + 1) % 3 & 1) != (constrained >> (k + 2) % 3 & 1);
        if (turned >> (3 + k) & 1 && across) return 0;
    }
    if (rest) pieces[count++] = (yk_joint_piece){YK_JOINT_AXES, rest, to_axis[Z], -1};
    for (int k = 0; k < 6; k++) {
        if (!(driven >> k & 1)) continue;
        yk_joint_kind kind = k < 3 ? YK_JOINT_DRIVEN_POSITION : YK_JOINT_DRIVEN_ROTATION;
        pieces[count++] = (yk_joint_piece){kind, 0, to_axis[k % 3], k};
    }
    return count;
}

void yk_joint_place_at(const yk_joint *joint, const yk_frame *body_a, const yk_frame *body_b, const yk_drive *drive,
                       yk_joint_place *place)
{
    yk_marker_place(body_a, joint->offset[0], &joint->axes[0], &place->a);
    yk_marker_place(body_b, joint->offset[1], &joint->axes[1], &place->b);
    place->d = yk_v3_sub(place->b.position, place->a.position);
    place->drive = joint->driven && drive ? *drive : (yk_drive){0};
    place->length = joint->length;
    if (joint->kind == YK_JOINT_DRIVEN_ROTATION) {
        /* x and y of a turned about its z by the driven angle. */
        double c = cos(place->drive.value), s = sin(place->drive.value);
        yk_vec3 x = place->a.axis[X], y = place->a.axis[Y];
        place->a.axis[X] = yk_v3_axpy(s, y, yk_v3_scale(c, x));
        place->a.axis[Y] = yk_v3_axpy(-s, x, yk_v3_scale(c, y));
    }
    if (joint->kind == YK_JOINT_DISTANCE && !drive) place->drive.value = joint->length;
}

yk_joint_reading yk_joint_read(const yk_joint *joint, const yk_frame *body_a, const yk_frame *body_b)
{
    yk_joint_place place;
    yk_joint_place_at(joint, body_a, body_b, NULL, &place);
    const yk_marker_frame *a = &place.a, *b = &place.b;
    yk_vec3 z = a->axis[Z], speed = yk_v3_sub(b->velocity, a->velocity);
    return (yk_joint_reading){
        .angle = atan2(yk_v3_dot(a->axis[Y], b->axis[X]), yk_v3_dot(a->axis[X], b->axis[X])),
        .angle_rate = yk_v3_dot(z, yk_v3_sub(body_b->angular_velocity, body_a->angular_velocity)),
        .displacement = yk_v3_dot(z, place.d),
        .displacement_rate = yk_v3_dot(z, yk_v3_sub(speed, yk_v3_cross(body_a->angular_velocity, place.d))),
    };
}

static double component(yk_vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* A disc about b_z on the plane a_z: cosine s of the angle between them, its sine, the point of contact from the
 * disc's centre, and the directions along and across the rolling. */
typedef struct wheel {
    double s, sine;
    yk_vec3 contact; /* from the disc's centre */
    yk_vec3 direction[2];
} wheel;

static wheel wheel_of(const yk_joint_place *place)
{
    yk_vec3 n = place->a.axis[Z], axle = place->b.axis[Z];
    wheel w = {.s = yk_v3_dot(n, axle)};
    yk_vec3 along = yk_v3_cross(axle, n);
    w.sine = yk_v3_norm(along);
    double inverse = w.sine > 1e-12 ? 1 / w.sine : 0; /* a disc that lies flat has no point of contact */
    w.direction[0] = yk_v3_scale(inverse, along);
    w.direction[1] = yk_v3_cross(n, w.direction[0]);
    w.contact = yk_v3_scale(-place->length * inverse, yk_v3_axpy(-w.s, axle, n));
    return w;
}

double yk_row_value(const yk_row *row, const yk_joint_place *place)
{
    switch (row->kind) {
    case YK_ROW_POINT: return component(place->d, row->k);
    case YK_ROW_IN_PLANE: return yk_v3_dot(place->a.axis[row->k], place->d) - place->drive.value;
    case YK_ROW_AXES: return yk_v3_dot(place->a.axis[row->k], place->b.axis[row->l]);
    case YK_ROW_DISTANCE: return yk_v3_norm(place->d) - place->drive.value;
    case YK_ROW_WHEEL: {
        wheel w = wheel_of(place);
        return yk_v3_dot(place->a.axis[Z], place->d) - place->length * w.sine;
    }
    default: return 0;
    }
}

/* A unit force e on b at its marker, the opposite on a. */
static void pull(const yk_joint_place *place, yk_vec3 e, yk_vec3 arm_a, yk_gradient *gradient)
{
    gradient->force[0] = yk_v3_neg(e);
    gradient->torque[0] = yk_v3_cross(e, arm_a);
    gradient->force[1] = e;
    gradient->torque[1] = yk_v3_cross(place->b.arm, e);
}

void yk_row_gradient(const yk_row *row, const yk_joint_place *place, yk_gradient *gradient)
{
    const yk_marker_frame *a = &place->a, *b = &place->b;
    /* Arm on a of a force through b's origin: the row's axis turns with a. */
    yk_vec3 reach = yk_v3_add(a->arm, place->d);
    switch (row->kind) {
    case YK_ROW_POINT: {
        yk_vec3 e = {row->k == 0, row->k == 1, row->k == 2};
        pull(place, e, a->arm, gradient);
        return;
    }
    case YK_ROW_IN_PLANE:
    case YK_ROW_SLIP_A: pull(place, a->axis[row->k], reach, gradient); return;
    case YK_ROW_SLIP_B: pull(place, b->axis[row->k], reach, gradient); return;
    case YK_ROW_DISTANCE: pull(place, yk_v3_unit(place->d), a->arm, gradient); return;
    case YK_ROW_AXES: {
        yk_vec3 n = yk_v3_cross(a->axis[row->k], b->axis[row->l]);
        *gradient = (yk_gradient){.torque = {n, yk_v3_neg(n)}};
        return;
    }
    case YK_ROW_SPIN: *gradient = (yk_gradient){.torque = {yk_v3_neg(a->axis[row->k]), a->axis[row->k]}}; return;
    case YK_ROW_WHEEL: {
        wheel w = wheel_of(place);
        pull(place, a->axis[Z], reach, gradient);
        double factor = w.sine > 1e-12 ? place->length * w.s / w.sine : 0;
        yk_vec3 n = yk_v3_scale(factor, yk_v3_cross(a->axis[Z], b->axis[Z]));
        gradient->torque[0] = yk_v3_add(gradient->torque[0], n);
        gradient->torque[1] = yk_v3_sub(gradient->torque[1], n);
        return;
    }
    case YK_ROW_ROLL: {
        wheel w = wheel_of(place);
        yk_vec3 e = w.direction[row->k];
        pull(place, e, yk_v3_add(reach, w.contact), gradient);
        gradient->torque[1] = yk_v3_add(gradient->torque[1], yk_v3_cross(w.contact, e));
        return;
    }
    }
}

/* Velocities through the gradient; what the drive adds at fixed bodies is subtracted. */
static double rate_from(const yk_row *row, const yk_joint_place *place, const yk_gradient *gradient)
{
    const yk_marker_frame *a = &place->a, *b = &place->b;
    yk_vec3 body_a = yk_v3_sub(a->velocity, yk_v3_cross(a->angular_velocity, a->arm));
    yk_vec3 body_b = yk_v3_sub(b->velocity, yk_v3_cross(b->angular_velocity, b->arm));
    double rate = yk_v3_dot(gradient->force[0], body_a) + yk_v3_dot(gradient->torque[0], a->angular_velocity) +
                  yk_v3_dot(gradient->force[1], body_b) + yk_v3_dot(gradient->torque[1], b->angular_velocity);
    switch (row->kind) {
    case YK_ROW_IN_PLANE:
    case YK_ROW_DISTANCE: return rate - place->drive.rate;
    case YK_ROW_SLIP_A:
    case YK_ROW_SLIP_B:
    case YK_ROW_SPIN: return rate - place->drive.value;
    case YK_ROW_AXES:
        /* The driven axis turns about a_z on top of the body. */
        if (place->drive.rate == 0) return rate;
        return rate + place->drive.rate * yk_v3_dot(yk_v3_cross(a->axis[Z], a->axis[row->k]), b->axis[row->l]);
    default: return rate;
    }
}

double yk_row_rate(const yk_row *row, const yk_joint_place *place)
{
    yk_gradient gradient;
    yk_row_gradient(row, place, &gradient);
    return rate_from(row, place, &gradient);
}

/* A body moved on for a time with constant velocity and angular velocity. */
static yk_frame coast(const yk_frame *body, double time)
{
    yk_frame moved = *body;
    moved.position = yk_v3_axpy(time, body->velocity, body->position);
    moved.rotation = yk_m3_mul(yk_so3_exp_matrix(yk_v3_scale(time, body->angular_velocity)), body->rotation);
    return moved;
}

/* The rate is known in closed form, so one central difference of it along the coasting motion gives the second
 * derivative at zero acceleration, with an error of the square of the step: this is needed once, at the start. */
double yk_row_bias(const yk_row *row, const yk_joint *joint, const yk_frame *body_a, const yk_frame *body_b,
                   const yk_drive *drive)
{
    double speed = yk_v3_norm(body_a->angular_velocity) + yk_v3_norm(body_b->angular_velocity);
    double step = 1e-5 / (1 + speed);
    double rate[2];
    for (int side = 0; side < 2; side++) {
        double time = side ? step : -step;
        yk_frame a = coast(body_a, time), b = coast(body_b, time);
        yk_drive moved = {0};
        if (drive)
            moved = (yk_drive){.value = drive->value + time * (drive->rate + 0.5 * time * drive->second),
                               .rate = drive->rate + time * drive->second,
                               .second = drive->second};
        yk_joint_place place;
        yk_joint_place_at(joint, &a, &b, drive ? &moved : NULL, &place);
        rate[side] = yk_row_rate(row, &place);
    }
    return (rate[1] - rate[0]) / (2 * step);
}

enum { FORCE_A, TORQUE_A, FORCE_B, TORQUE_B };

/* The force lambda e with e fixed in space: only the arms turn. */
static void stiffness_of_arms(const yk_joint_place *place, yk_vec3 e, double lambda, yk_mat3 stiffness[4][4])
{
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_A], -lambda, yk_m3_turned_cross(place->a.arm, e));
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_B], lambda, yk_m3_turned_cross(place->b.arm, e));
}

/* e turns with a: d(lambda e) = lambda theta_a x e; torque on a is e x (arm + d), with arm + d = x_b + r_b - x_a. */
static void stiffness_in_plane(const yk_row *row, const yk_joint_place *place, double lambda, yk_mat3 stiffness[4][4])
{
    yk_vec3 e = place->a.axis[row->k], reach = yk_v3_add(place->a.arm, place->d);
    yk_mat3 skew_e = yk_m3_skew(e), skew_b = yk_m3_skew(place->b.arm);
    yk_m3_add_to(&stiffness[FORCE_A][TORQUE_A], lambda, skew_e);
    yk_m3_add_to(&stiffness[FORCE_B][TORQUE_A], -lambda, skew_e);
    yk_m3_add_to(&stiffness[TORQUE_A][FORCE_A], -lambda, skew_e);
    yk_m3_add_to(&stiffness[TORQUE_A][FORCE_B], lambda, skew_e);
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_A], lambda, yk_m3_turned_cross(e, reach));
    yk_mat3 both = yk_m3_mul(skew_e, skew_b);
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_B], -lambda, both);
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_A], -lambda, yk_m3_transpose(both));
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_B], lambda, yk_m3_turned_cross(place->b.arm, e));
}

static void stiffness_axes(const yk_row *row, const yk_joint_place *place, double lambda, yk_mat3 stiffness[4][4])
{
    yk_vec3 e = place->a.axis[row->k], f = place->b.axis[row->l];
    yk_mat3 by_a = yk_m3_turned_cross(e, f);                  /* (theta_a x e) x f */
    yk_mat3 by_b = yk_m3_scale(-1, yk_m3_turned_cross(f, e)); /* e x (theta_b x f) */
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_A], lambda, by_a);
    yk_m3_add_to(&stiffness[TORQUE_A][TORQUE_B], lambda, by_b);
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_A], -lambda, by_a);
    yk_m3_add_to(&stiffness[TORQUE_B][TORQUE_B], -lambda, by_b);
}

/* e = d/|d| turns with the relative displacement: de = (I - e e^T)/|d| (dp_b - dp_a). */
static void stiffness_distance(const yk_joint_place *place, double lambda, yk_mat3 stiffness[4][4])
{
    yk_vec3 e = yk_v3_unit(place->d);
    double length = yk_v3_norm(place->d);
    yk_mat3 across = yk_m3_scale(1 / length, yk_m3_sub(yk_m3_identity(), yk_m3_outer(e, e)));
    /* rows and columns of dp: -I, skew(r_a), I, -skew(r_b), so that dp_b - dp_a = jacobian . (dx, dtheta) */
    yk_mat3 jacobian[4] = {yk_m3_scale(-1, yk_m3_identity()), yk_m3_skew(place->a.arm), yk_m3_identity(),
                           yk_m3_scale(-1, yk_m3_skew(place->b.arm))};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            yk_m3_add_to(&stiffness[i][j], lambda,
                         yk_m3_mul(yk_m3_transpose(jacobian[i]), yk_m3_mul(across, jacobian[j])));
    stiffness_of_arms(place, e, lambda, stiffness);
}

/* yk_m3_turned_cross(arm, E_k) has only a column and a diagonal. */
static void stiffness_point(int k, yk_vec3 arm, double lambda, yk_mat3 *sum)
{
    double along = lambda * component(arm, k);
    sum->m[0][k] += lambda * arm.x;
    sum->m[1][k] += lambda * arm.y;
    sum->m[2][k] += lambda * arm.z;
    for (int i = 0; i < 3; i++) sum->m[i][i] -= along;
}

void yk_row_stiffness(const yk_row *row, const yk_joint_place *place, double lambda, yk_mat3 stiffness[4][4])
{
    switch (row->kind) {
    case YK_ROW_POINT:
        stiffness_point(row->k, place->a.arm, -lambda, &stiffness[TORQUE_A][TORQUE_A]);
        stiffness_point(row->k, place->b.arm, lambda, &stiffness[TORQUE_B][TORQUE_B]);
        return;
    case YK_ROW_IN_PLANE: stiffness_in_plane(row, place, lambda, stiffness); return;
    case YK_ROW_AXES: stiffness_axes(row, place, lambda, stiffness); return;
    case YK_ROW_DISTANCE: stiffness_distance(place, lambda, stiffness); return;
    default: return;
    }
}

unsigned yk_row_mask(const yk_row *row)
{
    unsigned component_k = 1u << row->k, others = 7u & ~component_k;
    switch (row->kind) {
    case YK_ROW_POINT: return component_k | others << 3 | component_k << 6 | others << 9;
    case YK_ROW_AXES:
    case YK_ROW_SPIN: return 7u << 3 | 7u << 9;
    default: return 0xfffu;
    }
}

unsigned yk_row_stiffness_mask(const yk_row *row)
{
    unsigned torque_a = 1u << (4 * TORQUE_A + TORQUE_A), torque_b = 1u << (4 * TORQUE_B + TORQUE_B);
    unsigned cross = 1u << (4 * TORQUE_A + TORQUE_B) | 1u << (4 * TORQUE_B + TORQUE_A);
    switch (row->kind) {
    case YK_ROW_POINT: return torque_a | torque_b;
    case YK_ROW_AXES: return torque_a | torque_b | cross;
    case YK_ROW_IN_PLANE:
        return torque_a | torque_b | cross | 1u << (4 * FORCE_A + TORQUE_A) | 1u << (4 * FORCE_B + TORQUE_A) |
               1u << (4 * TORQUE_A + FORCE_A) | 1u << (4 * TORQUE_A + FORCE_B);
    case YK_ROW_DISTANCE: return 0xffffu;
    default: return 0;
    }
}
