#include "coupling/constraint.h"

#include <string.h>

#include "math/polynomial.h"

/* A vector with its first and second rate. */
typedef struct jet {
    yk_vec3 at[YK_LEVELS];
} jet;

static yk_vec3 unit(int k)
{
    return yk_v3(k == 0, k == 1, k == 2);
}

/* A vector fixed to what turns with the angular velocity and acceleration. */
static jet rotating(yk_vec3 v, yk_vec3 omega, yk_vec3 alpha)
{
    yk_vec3 rate = yk_v3_cross(omega, v);
    return (jet){{v, rate, yk_v3_add(yk_v3_cross(alpha, v), yk_v3_cross(omega, rate))}};
}

static jet jet_sub(const jet *a, const jet *b)
{
    jet c;
    for (int i = 0; i < YK_LEVELS; i++)
        c.at[i] = yk_v3_sub(a->at[i], b->at[i]);
    return c;
}

/* The product rule, twice. */
static jet jet_cross(const jet *a, const jet *b)
{
    yk_vec3 mixed = yk_v3_cross(a->at[1], b->at[1]);
    return (jet){
        {yk_v3_cross(a->at[0], b->at[0]),
         yk_v3_add(yk_v3_cross(a->at[1], b->at[0]), yk_v3_cross(a->at[0], b->at[1])),
         yk_v3_axpy(2, mixed,
                    yk_v3_add(yk_v3_cross(a->at[2], b->at[0]), yk_v3_cross(a->at[0], b->at[2])))}};
}

static void add_dot(const jet *a, const jet *b, double sum[YK_LEVELS])
{
    sum[0] += yk_v3_dot(a->at[0], b->at[0]);
    sum[1] += yk_v3_dot(a->at[1], b->at[0]) + yk_v3_dot(a->at[0], b->at[1]);
    sum[2] += yk_v3_dot(a->at[2], b->at[0]) + 2 * yk_v3_dot(a->at[1], b->at[1]) +
              yk_v3_dot(a->at[0], b->at[2]);
}

yk_constraint yk_constraint_make(yk_port_kind kind, unsigned constrained,
                                 const yk_relative_motion *drive)
{
    yk_constraint c = {.kind = kind, .row_count = 1, .drive = drive};
    if (kind == YK_PORT_SCALAR)
        return c;
    if (constrained & YK_AXIS_DISTANCE) {
        double length[YK_LEVELS];
        drive[0].evaluate(drive[0].user, 0, length);
        c.row[0] = (yk_row){YK_ROW_DISTANCE, 0, 0};
        c.length = length[0] > 0 ? length[0] : 1;
        c.rotates = true;
        return c;
    }
    yk_marker origin = yk_marker_default();
    yk_joint joint = yk_joint_of_axes(constrained, &origin, &origin);
    c.row_count = joint.row_count;
    for (int i = 0; i < c.row_count; i++) {
        c.row[i] = joint.row[i];
        c.rotates = c.rotates || c.row[i].kind != YK_ROW_POINT;
    }
    c.rotates = c.rotates || drive;
    return c;
}

/* The prescribed motion of A's marker in B's frame. */
static yk_motion driven(const yk_relative_motion *drive, double t)
{
    double value[6][YK_LEVELS] = {{0}};
    for (int i = 0; i < 6; i++)
        if (drive[i].evaluate)
            drive[i].evaluate(drive[i].user, t, value[i]);
    static const double taylor[YK_LEVELS] = {1, 1, 0.5};
    yk_input input = {.degree = 2, .orientation = yk_q_identity()};
    for (int i = 0; i < YK_LEVELS; i++) {
        input.linear[i] = yk_v3_scale(taylor[i], yk_v3(value[0][i], value[1][i], value[2][i]));
        input.angular[i] = yk_v3_scale(taylor[i], yk_v3(value[3][i], value[4][i], value[5][i]));
    }
    return yk_input_motion(&input, YK_PORT_MARKER, 0);
}

static void move_frame(const yk_relative_motion *drive, double t,
                       yk_constraint_kinematics *kinematics)
{
    yk_motion displacement = driven(drive, t), *b = &kinematics->b;
    yk_vec3 omega = b->angular_velocity, alpha = b->angular_acceleration;
    yk_vec3 slide = yk_q_rotate(b->orientation, displacement.velocity);
    jet reach = rotating(yk_q_rotate(b->orientation, displacement.position), omega, alpha);
    reach.at[1] = yk_v3_add(reach.at[1], slide);
    reach.at[2] = yk_v3_axpy(2, yk_v3_cross(omega, slide), reach.at[2]);
    reach.at[2] = yk_v3_add(reach.at[2], yk_q_rotate(b->orientation, displacement.acceleration));
    yk_vec3 spin = yk_q_rotate(b->orientation, displacement.angular_velocity);
    b->position = yk_v3_add(b->position, reach.at[0]);
    b->velocity = yk_v3_add(b->velocity, reach.at[1]);
    b->acceleration = yk_v3_add(b->acceleration, reach.at[2]);
    b->angular_acceleration =
        yk_v3_add(yk_v3_add(alpha, yk_v3_cross(omega, spin)),
                  yk_q_rotate(b->orientation, displacement.angular_acceleration));
    b->angular_velocity = yk_v3_add(omega, spin);
    b->orientation = yk_q_mul(b->orientation, displacement.orientation);
    memcpy(kinematics->reach, reach.at, sizeof kinematics->reach);
}

void yk_constraint_kinematics_at(const yk_constraint *constraint, double t, const yk_motion *a,
                                 const yk_motion *b, yk_constraint_kinematics *kinematics)
{
    *kinematics = (yk_constraint_kinematics){
        .a = *a, .b = *b, .spin = {b->angular_velocity, b->angular_acceleration}};
    const yk_relative_motion *drive = constraint->drive;
    if (!drive)
        return;
    if (constraint->length > 0) {
        drive[0].evaluate(drive[0].user, t, kinematics->length);
        return;
    }
    if (constraint->kind == YK_PORT_MARKER) {
        move_frame(drive, t, kinematics);
        return;
    }
    double value[YK_LEVELS] = {0};
    if (drive[0].evaluate)
        drive[0].evaluate(drive[0].user, t, value);
    kinematics->b.position.x += value[0], kinematics->b.velocity.x += value[1],
        kinematics->b.acceleration.x += value[2];
}

static jet displacement_between(const yk_constraint_kinematics *p)
{
    jet a = {{p->a.position, p->a.velocity, p->a.acceleration}};
    jet b = {{p->b.position, p->b.velocity, p->b.acceleration}};
    return jet_sub(&a, &b);
}

static jet axis_of(const yk_motion *m, int k)
{
    return rotating(yk_q_rotate(m->orientation, unit(k)), m->angular_velocity,
                    m->angular_acceleration);
}

static jet jet_scale(double factor, const jet *a)
{
    jet b;
    for (int i = 0; i < YK_LEVELS; i++)
        b.at[i] = yk_v3_scale(factor, a->at[i]);
    return b;
}

/* The two factors of a row. */
static jet left_of(const yk_constraint *constraint, const yk_row *row,
                   const yk_constraint_kinematics *kinematics)
{
    if (row->kind == YK_ROW_DISTANCE) {
        jet displacement = displacement_between(kinematics);
        return jet_scale(0.5 / constraint->length, &displacement);
    }
    return row->kind == YK_ROW_POINT ? (jet){{unit(row->k)}} : axis_of(&kinematics->b, row->k);
}

static jet right_of(const yk_row *row, const yk_constraint_kinematics *kinematics)
{
    return row->kind == YK_ROW_AXES ? axis_of(&kinematics->a, row->l)
                                    : displacement_between(kinematics);
}

void yk_constraint_value(const yk_constraint *constraint,
                         const yk_constraint_kinematics *kinematics,
                         double g[YK_LEVELS][YK_JOINT_ROWS_MAX])
{
    if (constraint->kind == YK_PORT_SCALAR) {
        g[0][0] = kinematics->a.position.x - kinematics->b.position.x;
        g[1][0] = kinematics->a.velocity.x - kinematics->b.velocity.x;
        g[2][0] = kinematics->a.acceleration.x - kinematics->b.acceleration.x;
        return;
    }
    for (int i = 0; i < constraint->row_count; i++) {
        jet u = left_of(constraint, &constraint->row[i], kinematics),
            w = right_of(&constraint->row[i], kinematics);
        double value[YK_LEVELS] = {0};
        if (constraint->length > 0) { /* less l(t)^2 / 2l */
            const double *l = kinematics->length;
            value[0] = -l[0] * l[0] / (2 * constraint->length);
            value[1] = -l[0] * l[1] / constraint->length;
            value[2] = -(l[1] * l[1] + l[0] * l[2]) / constraint->length;
        }
        add_dot(&u, &w, value);
        for (int level = 0; level < YK_LEVELS; level++)
            g[level][i] = value[level];
    }
}

/* The turn that a change of one coordinate means, with its rates: delta omega = (delta theta)' -
 * omega x delta theta. */
static jet rotation_of(int level, yk_vec3 change, yk_vec3 omega, yk_vec3 alpha)
{
    jet rotation = {.at[0] = level == 0 ? change : yk_v3(0, 0, 0)};
    rotation.at[1] =
        yk_v3_add(level == 1 ? change : yk_v3(0, 0, 0), yk_v3_cross(omega, rotation.at[0]));
    rotation.at[2] = yk_v3_add(
        level == 2 ? change : yk_v3(0, 0, 0),
        yk_v3_add(yk_v3_cross(alpha, rotation.at[0]), yk_v3_cross(omega, rotation.at[1])));
    return rotation;
}

/* What a unit change of one coordinate of one side changes: the way between the origins, and the
 * rotation of the side. */
typedef struct variation {
    jet displacement, rotation;
    bool rotates;
} variation;

static variation variation_of(const yk_constraint_kinematics *p, int side, int coordinate)
{
    int level = coordinate / 6, k = coordinate % 3;
    variation v = {.rotates = coordinate % 6 >= 3};
    yk_vec3 change = unit(k);
    if (!v.rotates) {
        v.displacement.at[level] = side == 0 ? change : yk_v3_neg(change);
        return v;
    }
    bool a = side == 0;
    v.rotation = rotation_of(level, change, a ? p->a.angular_velocity : p->spin[0],
                             a ? p->a.angular_acceleration : p->spin[1]);
    if (a)
        return v;
    jet reach;
    memcpy(reach.at, p->reach, sizeof reach.at);
    v.displacement = jet_cross(&reach, &v.rotation); /* - turn x reach */
    return v;
}

/* A row with its factors u and w. */
typedef struct product {
    const yk_row *row;
    jet u, w;
} product;

static void vary(const product *p, int side, const variation *v, double change[YK_LEVELS])
{
    bool rotating = p->row->kind != YK_ROW_POINT && p->row->kind != YK_ROW_DISTANCE;
    bool left_rotates = v->rotates && side == 1 && rotating;
    if (left_rotates) {
        jet du = jet_cross(&v->rotation, &p->u);
        add_dot(&du, &p->w, change);
    }
    if (p->row->kind == YK_ROW_DISTANCE) { /* both factors are the way */
        double half[YK_LEVELS] = {0};
        add_dot(&p->u, &v->displacement, half);
        for (int level = 0; level < YK_LEVELS; level++)
            change[level] += 2 * half[level];
    } else if (p->row->kind != YK_ROW_AXES) {
        add_dot(&p->u, &v->displacement, change);
    } else if (v->rotates && side == 0) {
        jet dw = jet_cross(&v->rotation, &p->w);
        add_dot(&p->u, &dw, change);
    }
}

static void differentiate_scalar(yk_constraint_gradient *gradient)
{
    for (int level = 0; level < YK_LEVELS; level++) {
        gradient->by[0][level][0][level] = 1;
        gradient->by[1][level][0][level] = -1;
    }
}

void yk_constraint_differentiate(const yk_constraint *constraint,
                                 const yk_constraint_kinematics *kinematics,
                                 yk_constraint_gradient *gradient)
{
    memset(gradient, 0, sizeof *gradient);
    if (constraint->kind == YK_PORT_SCALAR) {
        differentiate_scalar(gradient);
        return;
    }
    product products[YK_JOINT_ROWS_MAX];
    for (int i = 0; i < constraint->row_count; i++) {
        const yk_row *row = &constraint->row[i];
        products[i] =
            (product){row, left_of(constraint, row, kinematics), right_of(row, kinematics)};
    }
    for (int side = 0; side < 2; side++) {
        for (int coordinate = 0; coordinate < YK_MARKER_COORDINATES; coordinate++) {
            variation v = variation_of(kinematics, side, coordinate);
            for (int i = 0; i < constraint->row_count; i++) {
                double change[YK_LEVELS] = {0};
                vary(&products[i], side, &v, change);
                for (int level = 0; level < YK_LEVELS; level++)
                    gradient->by[side][level][i][coordinate] = change[level];
            }
        }
    }
}

void yk_constraint_unit_wrenches(const yk_constraint *constraint,
                                 const yk_constraint_kinematics *kinematics, int row,
                                 yk_wrench wrench[2])
{
    wrench[0] = wrench[1] = (yk_wrench){{0, 0, 0}, {0, 0, 0}};
    if (constraint->kind == YK_PORT_SCALAR) {
        wrench[0].force.x = 1, wrench[1].force.x = -1;
        return;
    }
    const yk_row *r = &constraint->row[row];
    yk_vec3 u = left_of(constraint, r, kinematics).at[0], w = right_of(r, kinematics).at[0];
    if (r->kind == YK_ROW_DISTANCE) { /* along the line between both origins */
        wrench[0].force = yk_v3_scale(2, u);
        wrench[1].force = yk_v3_scale(-2, u);
        return;
    }
    if (r->kind == YK_ROW_AXES) {
        wrench[0].torque = yk_v3_cross(w, u);
        wrench[1].torque = yk_v3_cross(u, w);
        return;
    }
    wrench[0].force = u;
    wrench[1].force = yk_v3_neg(u);
    /* The opposite force acts on B at A's origin, or, for points that coincide, at B's own. */
    yk_vec3 arm =
        r->kind == YK_ROW_POINT ? kinematics->reach[0] : yk_v3_add(kinematics->reach[0], w);
    wrench[1].torque = yk_v3_cross(u, arm);
}
