/* Values and derivatives come from one formula, by two kinds of arithmetic: a dual number carries its derivative with respect
 * to one coordinate, and a series carries the first and second rate of a dual number. */
#include "coupling/rolling.h"

#include <math.h>
#include <string.h>

enum { X, Y, Z };
enum { NO_COORDINATE = -1 };

/* Square of the sine below which a disc lies flat and has no contact point. */
static const double FLAT = 1e-24;

/* Dual numbers and their time series ----------------------------------------------------------- */

typedef struct dual {
    double value, change;
} dual;

typedef struct dual_vector {
    yk_vec3 value, change;
} dual_vector;

typedef struct series {
    dual at[YK_LEVELS];
} series;

typedef struct vector_series {
    dual_vector at[YK_LEVELS];
} vector_series;

static dual dual_axpy(double factor, dual a, dual b)
{
    return (dual){factor * a.value + b.value, factor * a.change + b.change};
}

static dual dual_multiply(dual a, dual b)
{
    return (dual){a.value * b.value, a.change * b.value + a.value * b.change};
}

static dual_vector vector_axpy(double factor, dual_vector a, dual_vector b)
{
    return (dual_vector){yk_v3_axpy(factor, a.value, b.value),
                         yk_v3_axpy(factor, a.change, b.change)};
}

static dual_vector vector_scale(dual a, dual_vector b)
{
    yk_vec3 change = yk_v3_axpy(a.change, b.value, yk_v3_scale(a.value, b.change));
    return (dual_vector){yk_v3_scale(a.value, b.value), change};
}

static dual_vector vector_cross(dual_vector a, dual_vector b)
{
    yk_vec3 change = yk_v3_cross(a.change, b.value);
    change = yk_v3_add(change, yk_v3_cross(a.value, b.change));
    return (dual_vector){yk_v3_cross(a.value, b.value), change};
}

static dual vector_dot(dual_vector a, dual_vector b)
{
    double change = yk_v3_dot(a.change, b.value) + yk_v3_dot(a.value, b.change);
    return (dual){yk_v3_dot(a.value, b.value), change};
}

/* Products of series: Leibniz' rule, applied twice. */

static series series_multiply(const series *a, const series *b)
{
    const dual *u = a->at;
    const dual *w = b->at;
    series c;
    c.at[0] = dual_multiply(u[0], w[0]);
    c.at[1] = dual_axpy(1, dual_multiply(u[1], w[0]), dual_multiply(u[0], w[1]));
    c.at[2] = dual_axpy(1, dual_multiply(u[2], w[0]), dual_multiply(u[0], w[2]));
    c.at[2] = dual_axpy(2, dual_multiply(u[1], w[1]), c.at[2]);
    return c;
}

static series series_dot(const vector_series *a, const vector_series *b)
{
    const dual_vector *u = a->at;
    const dual_vector *w = b->at;
    series c;
    c.at[0] = vector_dot(u[0], w[0]);
    c.at[1] = dual_axpy(1, vector_dot(u[1], w[0]), vector_dot(u[0], w[1]));
    c.at[2] = dual_axpy(1, vector_dot(u[2], w[0]), vector_dot(u[0], w[2]));
    c.at[2] = dual_axpy(2, vector_dot(u[1], w[1]), c.at[2]);
    return c;
}

static vector_series series_scale(const series *a, const vector_series *b)
{
    const dual *u = a->at;
    const dual_vector *w = b->at;
    vector_series c;
    c.at[0] = vector_scale(u[0], w[0]);
    c.at[1] = vector_axpy(1, vector_scale(u[1], w[0]), vector_scale(u[0], w[1]));
    c.at[2] = vector_axpy(1, vector_scale(u[2], w[0]), vector_scale(u[0], w[2]));
    c.at[2] = vector_axpy(2, vector_scale(u[1], w[1]), c.at[2]);
    return c;
}

static vector_series series_cross(const vector_series *a, const vector_series *b)
{
    const dual_vector *u = a->at;
    const dual_vector *w = b->at;
    vector_series c;
    c.at[0] = vector_cross(u[0], w[0]);
    c.at[1] = vector_axpy(1, vector_cross(u[1], w[0]), vector_cross(u[0], w[1]));
    c.at[2] = vector_axpy(1, vector_cross(u[2], w[0]), vector_cross(u[0], w[2]));
    c.at[2] = vector_axpy(2, vector_cross(u[1], w[1]), c.at[2]);
    return c;
}

static vector_series series_add(const vector_series *a, double factor, const vector_series *b)
{
    vector_series c;
    for (int i = 0; i < YK_LEVELS; i++)
        c.at[i] = vector_axpy(factor, b->at[i], a->at[i]);
    return c;
}

/* 1 / sqrt(q), by the chain rule; 0 for a flat disc. */
static series series_inverse_root(const series *q)
{
    series c;
    memset(&c, 0, sizeof c);
    double value = q->at[0].value;
    if (!(value > FLAT))
        return c;

    double root = 1 / sqrt(value);
    dual inverse = {root, -0.5 * root / value * q->at[0].change};
    dual cube = dual_multiply(inverse, dual_multiply(inverse, inverse));
    dual fifth = dual_multiply(cube, dual_multiply(inverse, inverse));
    dual square = dual_multiply(q->at[1], q->at[1]);
    const dual none = {0, 0};
    c.at[0] = inverse;
    c.at[1] = dual_axpy(-0.5, dual_multiply(cube, q->at[1]), none);
    c.at[2] = dual_axpy(-0.5, dual_multiply(cube, q->at[2]), none);
    c.at[2] = dual_axpy(0.75, dual_multiply(fifth, square), c.at[2]);
    return c;
}

/* Motions of the sides ------------------------------------------------------------------------- */

/* A side with its derivative with respect to one coordinate, in the order of step_sensitivity. */
typedef struct moving_side {
    vector_series position; /* With velocity and acceleration. */
    vector_series spin;     /* Angular velocity and acceleration; the third entry is zero. */
    yk_quat orientation;
    yk_vec3 rotation; /* Change of the orientation, as a rotation vector. */
} moving_side;

static moving_side side_of(const yk_motion *motion, int coordinate)
{
    moving_side side;
    memset(&side, 0, sizeof side);
    side.position.at[0].value = motion->position;
    side.position.at[1].value = motion->velocity;
    side.position.at[2].value = motion->acceleration;
    side.spin.at[0].value = motion->angular_velocity;
    side.spin.at[1].value = motion->angular_acceleration;
    side.orientation = motion->orientation;
    if (coordinate == NO_COORDINATE)
        return side;

    int k = coordinate % 3;
    int level = coordinate / 6;
    yk_vec3 unit = {k == X, k == Y, k == Z};
    if (coordinate % 6 < 3)
        side.position.at[level].change = unit;
    else if (level == 0)
        side.rotation = unit;
    else
        side.spin.at[level - 1].change = unit;

    return side;
}

/* An axis of a side, which rotates with it. */
static vector_series axis_of(const moving_side *side, int k)
{
    yk_vec3 axis = yk_q_rotate(side->orientation, yk_v3(k == X, k == Y, k == Z));
    const dual_vector *omega = side->spin.at;
    vector_series v;
    v.at[0] = (dual_vector){axis, yk_v3_cross(side->rotation, axis)};
    v.at[1] = vector_cross(omega[0], v.at[0]);
    v.at[2] = vector_axpy(1, vector_cross(omega[1], v.at[0]), vector_cross(omega[0], v.at[1]));
    return v;
}

/* The rate of a series. Its last entry is unknown and set to zero. */
static vector_series rate_of(const vector_series *v)
{
    vector_series rate;
    memset(&rate, 0, sizeof rate);
    rate.at[0] = v->at[1];
    rate.at[1] = v->at[2];
    return rate;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Stores a velocity with its rate as the upper levels of a row. */
static void set_velocity(const series *velocity, dual out[YK_LEVELS])
{
    out[0] = (dual){0, 0};
    out[1] = velocity->at[0];
    out[2] = velocity->at[1];
}

static void knife_edge_row(const moving_side *a, const moving_side *b, dual out[YK_LEVELS])
{
    vector_series d = series_add(&a->position, -1, &b->position);
    vector_series carried = series_cross(&b->spin, &d);
    vector_series velocity = rate_of(&d);
    velocity = series_add(&velocity, -1, &carried);
    vector_series blade = axis_of(a, Y);
    series slip = series_dot(&blade, &velocity);
    set_velocity(&slip, out);
}

static void rolling_rows(const moving_side *a, const moving_side *b, double radius,
                         dual out[YK_SLIP_ROWS][YK_LEVELS])
{
    vector_series normal = axis_of(b, Z);
    vector_series axle = axis_of(a, Z);
    vector_series d = series_add(&a->position, -1, &b->position);

    /* q = s^2 = 1 - c^2. */
    series cosine = series_dot(&normal, &axle);
    series q = series_multiply(&cosine, &cosine);
    for (int i = 0; i < YK_LEVELS; i++)
        q.at[i] = (dual){-q.at[i].value, -q.at[i].change};
    q.at[0].value += 1;
    series inverse = series_inverse_root(&q);
    series sine = series_multiply(&q, &inverse);

    /* The disc touches the plane. */
    series height = series_dot(&normal, &d);
    for (int i = 0; i < YK_LEVELS; i++)
        out[0][i] = dual_axpy(-radius, sine.at[i], height.at[i]);

    /* The contact point from A's origin, and its velocity relative to B. */
    vector_series carried = series_scale(&cosine, &axle);
    vector_series contact = series_add(&normal, -1, &carried);
    contact = series_scale(&inverse, &contact);
    const dual_vector none = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < YK_LEVELS; i++)
        contact.at[i] = vector_axpy(-radius, contact.at[i], none);

    vector_series arm = series_add(&d, 1, &contact);
    vector_series of_a = series_cross(&a->spin, &contact);
    vector_series of_b = series_cross(&b->spin, &arm);
    vector_series velocity = rate_of(&d);
    velocity = series_add(&velocity, 1, &of_a);
    velocity = series_add(&velocity, -1, &of_b);

    vector_series along = series_cross(&axle, &normal);
    along = series_scale(&inverse, &along);
    vector_series across = series_cross(&normal, &along);
    series slip = series_dot(&along, &velocity);
    set_velocity(&slip, out[1]);
    slip = series_dot(&across, &velocity);
    set_velocity(&slip, out[2]);
}

/* All rows, with their derivatives with respect to a coordinate of a side. */
static void evaluate(const yk_constraint *constraint, const yk_constraint_kinematics *kinematics,
                     int side, int coordinate, dual out[YK_SLIP_ROWS][YK_LEVELS])
{
    moving_side a = side_of(&kinematics->a, side == 0 ? coordinate : NO_COORDINATE);
    moving_side b = side_of(&kinematics->b, side == 1 ? coordinate : NO_COORDINATE);
    memset(out, 0, YK_SLIP_ROWS * sizeof *out);
    if (constraint->row[0].kind == YK_ROW_SLIP_B)
        knife_edge_row(&a, &b, out[0]);
    else
        rolling_rows(&a, &b, constraint->radius, out);
}

bool yk_constraint_is_nonholonomic(const yk_constraint *constraint)
{
    int kind = constraint->row[0].kind;
    return kind == YK_ROW_SLIP_B || kind == YK_ROW_WHEEL;
}

void yk_rolling_value(const yk_constraint *constraint, const yk_constraint_kinematics *kinematics,
                      double g[YK_LEVELS][YK_JOINT_ROWS_MAX])
{
    dual rows[YK_SLIP_ROWS][YK_LEVELS];
    evaluate(constraint, kinematics, 0, NO_COORDINATE, rows);

    for (int i = 0; i < constraint->row_count; i++) {
        for (int level = 0; level < YK_LEVELS; level++)
            g[level][i] = rows[i][level].value;
        if (yk_row_on_velocity(&constraint->row[i]))
            g[0][i] = kinematics->slip[i];
    }
}

void yk_rolling_differentiate(const yk_constraint *constraint,
                              const yk_constraint_kinematics *kinematics, int levels,
                              yk_constraint_gradient *gradient)
{
    for (int side = 0; side < 2; side++) {
        /* The slip needs the derivatives with respect to the velocities. */
        int most = levels > 2 ? levels : 2;
        for (int coordinate = 0; coordinate < 6 * most; coordinate++) {
            dual rows[YK_SLIP_ROWS][YK_LEVELS];
            evaluate(constraint, kinematics, side, coordinate, rows);

            for (int i = 0; i < constraint->row_count; i++) {
                bool slips = yk_row_on_velocity(&constraint->row[i]);
                int level = coordinate / 6;
                if (slips && level == 1)
                    gradient->by[side][0][i][coordinate - 6] = rows[i][1].change;
                if (level >= levels)
                    continue;

                for (int of = slips ? 1 : 0; of < levels; of++)
                    gradient->by[side][of][i][coordinate] = rows[i][of].change;
            }
        }
    }
}

void yk_rolling_unit_wrenches(const yk_constraint *constraint,
                              const yk_constraint_kinematics *kinematics, int row,
                              yk_wrench wrench[2])
{
    /* The derivatives of the rate with respect to the velocities. */
    for (int side = 0; side < 2; side++) {
        double by[6];
        for (int k = 0; k < 6; k++) {
            dual rows[YK_SLIP_ROWS][YK_LEVELS];
            evaluate(constraint, kinematics, side, 6 + k, rows);
            by[k] = rows[row][1].change;
        }

        wrench[side].force = yk_v3(by[0], by[1], by[2]);
        wrench[side].torque = yk_v3(by[3], by[4], by[5]);
    }
}
