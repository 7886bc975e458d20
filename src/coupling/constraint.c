#include "coupling/constraint.h"

#include <string.h>

#include "coupling/rolling.h"
#include "math/polynomial.h"

/* Vectors with their first and second rate ----------------------------------------------------- */

typedef struct jet {
    yk_vec3 at[YK_LEVELS];
} jet;

static yk_vec3 unit(int k)
{
    return yk_v3(k == 0, k == 1, k == 2);
}

/* A vector fixed to a frame that rotates with the given angular velocity and acceleration. */
static jet rotating(yk_vec3 v, yk_vec3 omega, yk_vec3 alpha)
{
    yk_vec3 rate = yk_v3_cross(omega, v);
    yk_vec3 second = yk_v3_add(yk_v3_cross(alpha, v), yk_v3_cross(omega, rate));
    return (jet){{v, rate, second}};
}

/* Product rule, applied twice. */
static jet jet_cross(const jet *a, const jet *b)
{
    /* (a x b)'' = a'' x b + 2 a' x b' + a x b''. */
    yk_vec3 mixed = yk_v3_cross(a->at[1], b->at[1]);
    yk_vec3 first = yk_v3_cross(a->at[2], b->at[0]);
    yk_vec3 last = yk_v3_cross(a->at[0], b->at[2]);
    yk_vec3 outer = yk_v3_add(first, last);

    jet c;
    c.at[0] = yk_v3_cross(a->at[0], b->at[0]);
    c.at[1] = yk_v3_cross(a->at[1], b->at[0]);
    c.at[1] = yk_v3_add(c.at[1], yk_v3_cross(a->at[0], b->at[1]));
    c.at[2] = yk_v3_axpy(2, mixed, outer);

    return c;
}

static void add_dot(const jet *a, const jet *b, double sum[YK_LEVELS])
{
    sum[0] += yk_v3_dot(a->at[0], b->at[0]);
    sum[1] += yk_v3_dot(a->at[1], b->at[0]) + yk_v3_dot(a->at[0], b->at[1]);
    sum[2] += yk_v3_dot(a->at[2], b->at[0]) + 2 * yk_v3_dot(a->at[1], b->at[1]) +
              yk_v3_dot(a->at[0], b->at[2]);
}

/* The constraint and its kinematics ------------------------------------------------------------ */

yk_constraint yk_constraint_make(yk_port_kind kind, unsigned constrained,
                                 const yk_relative_motion *drive)
{
    yk_constraint c = {.kind = kind, .row_count = 1, .drive = drive};
    if (kind == YK_PORT_SCALAR)
        return c;

    /* One row. The unit of a distance is its length at the start. */
    if (constrained & YK_AXIS_DISTANCE) {
        double length[YK_LEVELS];
        drive[0].evaluate(drive[0].user, 0, length);
        c.row[0] = (yk_row){YK_ROW_DISTANCE, 0, 0};
        c.length = 1;
        if (length[0] > 0)
            c.length = length[0];
        c.rotates = true;
        return c;
    }

    if (constrained & (YK_AXIS_KNIFE_EDGE | YK_AXIS_ROLLING)) {
        static const yk_row knife_edge = {YK_ROW_SLIP_B, 1, 0};
        static const yk_row rolling[YK_SLIP_ROWS] = {
            {YK_ROW_WHEEL, 0, 0}, {YK_ROW_ROLL, 0, 0}, {YK_ROW_ROLL, 1, 0}};
        c.rotates = true;
        c.row[0] = knife_edge;
        if (constrained & YK_AXIS_KNIFE_EDGE)
            return c;

        memcpy(c.row, rolling, sizeof rolling);
        c.row_count = YK_SLIP_ROWS;
        c.radius = 1;
        return c;
    }

    /* The rows of the joint. Rows along global axes keep their direction. */
    yk_marker origin = yk_marker_default();
    yk_joint joint = yk_joint_of_axes(constrained, &origin, &origin);
    c.row_count = joint.row_count;
    c.rotates = drive;

    for (int i = 0; i < c.row_count; i++) {
        c.row[i] = joint.row[i];
        c.rotates = c.rotates || c.row[i].kind != YK_ROW_POINT;
    }

    return c;
}

yk_constraint yk_constraint_of(yk_port_kind kind, const yk_interface_def *def)
{
    yk_constraint c = yk_constraint_make(kind, def->constrained_axes, def->drive);
    if (c.radius > 0)
        c.radius = def->radius;
    return c;
}

/* B's frame moved by the drive. The drive prescribes the motion of A's marker in B's frame. */
static void move_frame(const yk_relative_motion *drive, double t,
                       yk_constraint_kinematics *kinematics)
{
    double value[6][YK_LEVELS] = {{0}};
    for (int i = 0; i < 6; i++)
        if (drive[i].evaluate)
            drive[i].evaluate(drive[i].user, t, value[i]);

    /* The drive as a motion on SO(3); its rotation vector has these rates. */
    static const double taylor[YK_LEVELS] = {1, 1, 0.5};
    yk_input input = {.degree = 2, .base_orientation = yk_q_identity()};

    for (int i = 0; i < YK_LEVELS; i++) {
        yk_vec3 linear = yk_v3(value[0][i], value[1][i], value[2][i]);
        yk_vec3 angular = yk_v3(value[3][i], value[4][i], value[5][i]);
        input.linear[i] = yk_v3_scale(taylor[i], linear);
        input.angular[i] = yk_v3_scale(taylor[i], angular);
    }

    yk_motion local = yk_input_motion(&input, YK_PORT_MARKER, 0);

    /* Relative velocity and acceleration in a rotating frame. */
    yk_motion *b = &kinematics->b;
    yk_quat frame = b->orientation;
    yk_vec3 omega = b->angular_velocity;
    yk_vec3 alpha = b->angular_acceleration;
    yk_vec3 slide = yk_q_rotate(frame, local.velocity);
    jet reach = rotating(yk_q_rotate(frame, local.position), omega, alpha);
    reach.at[1] = yk_v3_add(reach.at[1], slide);
    reach.at[2] = yk_v3_axpy(2, yk_v3_cross(omega, slide), reach.at[2]);
    reach.at[2] = yk_v3_add(reach.at[2], yk_q_rotate(frame, local.acceleration));
    b->position = yk_v3_add(b->position, reach.at[0]);
    b->velocity = yk_v3_add(b->velocity, reach.at[1]);
    b->acceleration = yk_v3_add(b->acceleration, reach.at[2]);

    /* Angular velocities add up, and the relative one rotates with the frame. */
    yk_vec3 spin = yk_q_rotate(frame, local.angular_velocity);
    yk_vec3 carried = yk_v3_add(alpha, yk_v3_cross(omega, spin));
    yk_vec3 relative = yk_q_rotate(frame, local.angular_acceleration);
    b->angular_acceleration = yk_v3_add(carried, relative);
    b->angular_velocity = yk_v3_add(omega, spin);
    b->orientation = yk_q_mul(frame, local.orientation);
    memcpy(kinematics->reach, reach.at, sizeof kinematics->reach);
}

void yk_constraint_kinematics_at(const yk_constraint *constraint, double t, const yk_motion *a,
                                 const yk_motion *b, yk_constraint_kinematics *kinematics)
{
    memset(kinematics, 0, sizeof *kinematics);
    kinematics->a = *a;
    kinematics->b = *b;
    kinematics->spin[0] = b->angular_velocity;
    kinematics->spin[1] = b->angular_acceleration;

    const yk_relative_motion *drive = constraint->drive;
    if (!drive)
        return;

    /* A distance has a length instead of a frame. */
    if (constraint->length > 0) {
        drive[0].evaluate(drive[0].user, t, kinematics->length);
        return;
    }

    if (constraint->kind == YK_PORT_MARKER) {
        move_frame(drive, t, kinematics);
        return;
    }

    /* A scalar port is driven along its only coordinate. */
    double value[YK_LEVELS] = {0};
    if (drive[0].evaluate)
        drive[0].evaluate(drive[0].user, t, value);
    kinematics->b.position.x += value[0];
    kinematics->b.velocity.x += value[1];
    kinematics->b.acceleration.x += value[2];
}

/* Rows as products u . w ----------------------------------------------------------------------- */

static jet displacement_between(const yk_constraint_kinematics *p)
{
    return (jet){{
        yk_v3_sub(p->a.position, p->b.position),
        yk_v3_sub(p->a.velocity, p->b.velocity),
        yk_v3_sub(p->a.acceleration, p->b.acceleration),
    }};
}

static jet axis_of(const yk_motion *m, int k)
{
    yk_vec3 axis = yk_q_rotate(m->orientation, unit(k));
    return rotating(axis, m->angular_velocity, m->angular_acceleration);
}

static jet left_of(const yk_constraint *constraint, const yk_row *row,
                   const yk_constraint_kinematics *kinematics)
{
    /* First factor of a row: a global axis, an axis of B, or the displacement over twice the
     * length. */
    if (row->kind == YK_ROW_POINT)
        return (jet){{unit(row->k)}};
    if (row->kind != YK_ROW_DISTANCE)
        return axis_of(&kinematics->b, row->k);

    jet u = displacement_between(kinematics);
    for (int i = 0; i < YK_LEVELS; i++)
        u.at[i] = yk_v3_scale(0.5 / constraint->length, u.at[i]);

    return u;
}

static jet right_of(const yk_row *row, const yk_constraint_kinematics *kinematics)
{
    if (row->kind == YK_ROW_AXES)
        return axis_of(&kinematics->a, row->l);
    return displacement_between(kinematics);
}

void yk_constraint_value(const yk_constraint *constraint,
                         const yk_constraint_kinematics *kinematics,
                         double g[YK_LEVELS][YK_JOINT_ROWS_MAX])
{
    const yk_motion *a = &kinematics->a;
    const yk_motion *b = &kinematics->b;

    /* x_A - x_B on every level. */
    if (constraint->kind == YK_PORT_SCALAR) {
        g[0][0] = a->position.x - b->position.x;
        g[1][0] = a->velocity.x - b->velocity.x;
        g[2][0] = a->acceleration.x - b->acceleration.x;
        return;
    }

    if (yk_constraint_is_nonholonomic(constraint)) {
        yk_rolling_value(constraint, kinematics, g);
        return;
    }

    for (int i = 0; i < constraint->row_count; i++) {
        double value[YK_LEVELS] = {0};

        /* A distance: minus l(t)^2 / 2l. */
        if (constraint->length > 0) {
            const double *l = kinematics->length;
            value[0] = -l[0] * l[0] / (2 * constraint->length);
            value[1] = -l[0] * l[1] / constraint->length;
            value[2] = -(l[1] * l[1] + l[0] * l[2]) / constraint->length;
        }

        /* The product and its rates. */
        jet u = left_of(constraint, &constraint->row[i], kinematics);
        jet w = right_of(&constraint->row[i], kinematics);
        add_dot(&u, &w, value);

        for (int level = 0; level < YK_LEVELS; level++)
            g[level][i] = value[level];
    }
}

/* Derivatives ---------------------------------------------------------------------------------- */

/* Change of the displacement between the origins, and of the rotation of the side, by a unit change
 * of one coordinate of one side. */
typedef struct variation {
    jet displacement, rotation;
    bool rotates;
} variation;

static variation variation_of(const yk_constraint_kinematics *p, int side, int coordinate)
{
    int level = coordinate / 6;
    variation v = {.rotates = coordinate % 6 >= 3};
    yk_vec3 change = unit(coordinate % 3);

    /* The displacement is the position of a minus the position of b. */
    if (!v.rotates) {
        v.displacement.at[level] = change;
        if (side == 1)
            v.displacement.at[level] = yk_v3_neg(change);
        return v;
    }

    /* The rotation and its rates: delta omega = (delta theta)' - omega x delta theta. */
    yk_vec3 omega = p->spin[0];
    yk_vec3 alpha = p->spin[1];
    if (side == 0) {
        omega = p->a.angular_velocity;
        alpha = p->a.angular_acceleration;
    }

    jet changes = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    changes.at[level] = change;
    yk_vec3 *r = v.rotation.at;
    r[0] = changes.at[0];
    r[1] = yk_v3_add(changes.at[1], yk_v3_cross(omega, r[0]));
    yk_vec3 carried = yk_v3_add(yk_v3_cross(alpha, r[0]), yk_v3_cross(omega, r[1]));
    r[2] = yk_v3_add(changes.at[2], carried);
    if (side == 0)
        return v;

    /* The driven origin moves with B: - rotation x reach. */
    jet reach;
    memcpy(reach.at, p->reach, sizeof reach.at);
    v.displacement = jet_cross(&reach, &v.rotation);

    return v;
}

/* d(u . w) = du . w + u . dw of one row. */
static void vary(const yk_row *row, const jet *u, const jet *w, int side, const variation *v,
                 double change[YK_LEVELS])
{
    /* Both factors of a distance are the displacement. */
    if (row->kind == YK_ROW_DISTANCE) {
        double half[YK_LEVELS] = {0};
        add_dot(u, &v->displacement, half);

        for (int level = 0; level < YK_LEVELS; level++)
            change[level] += 2 * half[level];
        return;
    }

    /* Axes rotate with their sides. */
    if (row->kind != YK_ROW_POINT && v->rotates && side == 1) {
        jet du = jet_cross(&v->rotation, u);
        add_dot(&du, w, change);
    }

    if (row->kind != YK_ROW_AXES) {
        add_dot(u, &v->displacement, change);
    } else if (v->rotates && side == 0) {
        jet dw = jet_cross(&v->rotation, w);
        add_dot(u, &dw, change);
    }
}

/* Gradients on position and velocity level with respect to one side. With u and w, the factors of the
 * row, and R, the vector from B's own origin to the driven origin, a row changes by
 *
 *   T . dx + P . dtheta       T = u or -u      P = u x w + u x R     or   w x u
 *
 * for displacements dx and rotations dtheta of the side; its rate by T and P for the rates of both,
 * and by T' . dx + (P' + P x omega) . dtheta, because the change of omega is dtheta' - omega x
 * dtheta. */
static void differentiate_row(const yk_row *row, const yk_constraint_kinematics *p, int side,
                              const jet *u, const jet *w,
                              double out[YK_LEVELS][YK_JOINT_ROWS_MAX][YK_MARKER_COORDINATES],
                              int number)
{
    yk_vec3 translation[2] = {{0, 0, 0}, {0, 0, 0}};
    yk_vec3 rotation[2] = {{0, 0, 0}, {0, 0, 0}};
    bool displaced = row->kind != YK_ROW_AXES;
    for (int level = 0; displaced && level < 2; level++) {
        /* Both factors of a distance are the displacement. */
        double factor = row->kind == YK_ROW_DISTANCE ? 2 : 1;
        translation[level] = yk_v3_scale(side == 0 ? factor : -factor, u->at[level]);
    }

    /* Axes that rotate with the side. */
    const jet *turned = NULL;
    const jet *other = NULL;
    if (side == 1 && (row->kind == YK_ROW_AXES || row->kind == YK_ROW_IN_PLANE)) {
        turned = u;
        other = w;
    } else if (side == 0 && row->kind == YK_ROW_AXES) {
        turned = w;
        other = u;
    }
    if (turned) {
        rotation[0] = yk_v3_cross(turned->at[0], other->at[0]);
        rotation[1] = yk_v3_add(yk_v3_cross(turned->at[1], other->at[0]),
                                yk_v3_cross(turned->at[0], other->at[1]));
    }

    /* The driven origin moves with B. */
    if (side == 1 && displaced) {
        const yk_vec3 *reach = p->reach;
        yk_vec3 forward = yk_v3_neg(translation[0]);
        yk_vec3 rate = yk_v3_neg(translation[1]);
        yk_vec3 moved = yk_v3_cross(forward, reach[0]);
        yk_vec3 moving = yk_v3_add(yk_v3_cross(forward, reach[1]), yk_v3_cross(rate, reach[0]));
        rotation[0] = yk_v3_add(rotation[0], moved);
        rotation[1] = yk_v3_add(rotation[1], moving);
    }

    yk_vec3 omega = side == 0 ? p->a.angular_velocity : p->spin[0];
    yk_vec3 turn = yk_v3_add(rotation[1], yk_v3_cross(rotation[0], omega));
    const yk_vec3 columns[4] = {translation[1], turn, translation[0], rotation[0]};
    for (int i = 0; i < 2; i++) {
        double *position = out[0][number] + 3 * i;
        position[0] = columns[2 + i].x;
        position[1] = columns[2 + i].y;
        position[2] = columns[2 + i].z;
    }
    for (int i = 0; i < 4; i++) {
        double *velocity = out[1][number] + 3 * i;
        velocity[0] = columns[i].x;
        velocity[1] = columns[i].y;
        velocity[2] = columns[i].z;
    }
}

void yk_constraint_differentiate(const yk_constraint *constraint,
                                 const yk_constraint_kinematics *kinematics,
                                 yk_constraint_gradient *gradient)
{
    yk_constraint_differentiate_levels(constraint, kinematics, YK_LEVELS, gradient);
}

void yk_constraint_differentiate_levels(const yk_constraint *constraint,
                                        const yk_constraint_kinematics *kinematics, int levels,
                                        yk_constraint_gradient *gradient)
{
    memset(gradient, 0, sizeof *gradient);
    gradient->distance = yk_v3_norm(kinematics->a.position);

    /* x_A - x_B on every level. */
    if (constraint->kind == YK_PORT_SCALAR) {
        for (int level = 0; level < levels; level++) {
            gradient->by[0][level][0][level] = 1;
            gradient->by[1][level][0][level] = -1;
        }

        return;
    }

    if (yk_constraint_is_nonholonomic(constraint)) {
        yk_rolling_differentiate(constraint, kinematics, levels, gradient);
        return;
    }

    /* Compute both factors of every row once. */
    jet u[YK_JOINT_ROWS_MAX];
    jet w[YK_JOINT_ROWS_MAX];

    for (int i = 0; i < constraint->row_count; i++) {
        u[i] = left_of(constraint, &constraint->row[i], kinematics);
        w[i] = right_of(&constraint->row[i], kinematics);
    }

    if (levels <= 2) {
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < constraint->row_count; i++)
                differentiate_row(&constraint->row[i], kinematics, side, &u[i], &w[i],
                                  gradient->by[side], i);
        return;
    }

    /* For every coordinate of both sides. */
    for (int side = 0; side < 2; side++) {
        for (int coordinate = 0; coordinate < 6 * levels; coordinate++) {
            variation v = variation_of(kinematics, side, coordinate);
            for (int i = 0; i < constraint->row_count; i++) {
                double change[YK_LEVELS] = {0};
                vary(&constraint->row[i], &u[i], &w[i], side, &v, change);

                for (int level = 0; level < levels; level++)
                    gradient->by[side][level][i][coordinate] = change[level];
            }
        }
    }
}

void yk_constraint_unit_wrenches(const yk_constraint *constraint,
                                 const yk_constraint_kinematics *kinematics, int row,
                                 yk_wrench wrench[2])
{
    memset(wrench, 0, 2 * sizeof *wrench);
    if (constraint->kind == YK_PORT_SCALAR) {
        wrench[0].force.x = 1;
        wrench[1].force.x = -1;
        return;
    }

    if (yk_constraint_is_nonholonomic(constraint)) {
        yk_rolling_unit_wrenches(constraint, kinematics, row, wrench);
        return;
    }

    const yk_row *r = &constraint->row[row];
    yk_vec3 u = left_of(constraint, r, kinematics).at[0];
    yk_vec3 w = right_of(r, kinematics).at[0];

    /* A force along the line between both origins. */
    if (r->kind == YK_ROW_DISTANCE) {
        wrench[0].force = yk_v3_scale(2, u);
        wrench[1].force = yk_v3_scale(-2, u);
        return;
    }

    /* Two axes that stay perpendicular: a torque about their common normal. */
    if (r->kind == YK_ROW_AXES) {
        wrench[0].torque = yk_v3_cross(w, u);
        wrench[1].torque = yk_v3_cross(u, w);
        return;
    }

    /* The opposite force acts on B at A's origin or, if the points coincide, at B's own origin. */
    yk_vec3 arm = kinematics->reach[0];
    if (r->kind != YK_ROW_POINT)
        arm = yk_v3_add(kinematics->reach[0], w);
    wrench[0].force = u;
    wrench[1].force = yk_v3_neg(u);
    wrench[1].torque = yk_v3_cross(u, arm);
}
