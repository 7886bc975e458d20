/* Derivatives of the momenta of a floating-frame body, as a time integration sees them, column by
 * column in its own axes and turned to global axes at the end.
 *
 * Everything depends on the unknowns through v, w and p' as the body sees them, which the
 * integration ties to dx, dtheta and dp by c, and through p itself. So each column is a small
 * change (c dv, c dw, c dp', dp), pushed through the differentials of momenta and remaining
 * loads. */
#include "smooth/ffrf_shape.h"

/* A change of motion in the body's axes: velocities times c, and at most one amplitude and its
 * rate. */
typedef struct change {
    yk_vec3 v, w;
    int mode; /* -1: none; else c dp' = dp = 1 */
} change;

typedef struct columns {
    const yk_ffrf *body;
    const yk_ffrf_shape *at;    /* present shape */
    const yk_ffrf_shape *heavy; /* shape whose masses make the momenta */
    const yk_ffrf_seen *s;
    yk_vec3 linear, angular; /* momenta, body's axes */
    double c, damping;
    double *tangent;
    int size;
    /* dT/dp_i by w and by v, which is also what the momenta change by with p_i */
    yk_vec3 slope_w[YK_FFRF_MODES_MAX], slope_v[YK_FFRF_MODES_MAX];
} columns;

static void put_vector(const columns *f, int row, int column, yk_vec3 v)
{
    double *at = &f->tangent[f->size * row + column];
    at[0] = v.x;
    at[f->size] = v.y;
    at[2 * f->size] = v.z;
}

/* The rate of the momenta, what else depends on motion, and the elasticity; without the rotation
 * of the frame itself. */
static void motion_column(const columns *f, const change *by, int column)
{
    const yk_ffrf *body = f->body;
    double c = f->c;
    double fraction = 1 + c * f->damping;
    int mode = by->mode;

    /* c times the changes of the momenta: by the velocities; by an amplitude and its rate, S_j and
     * Gamma_j, which p_j' multiplies; and by the change of S, J, S_i and Gamma_i with p_j. */
    const yk_ffrf_shape *at = f->heavy;
    yk_vec3 linear = yk_v3_axpy(body->mass, by->v, yk_v3_cross(by->w, at->moment));
    yk_vec3 angular = yk_v3_add(yk_v3_cross(at->moment, by->v), yk_m3_apply(at->tensor, by->w));
    if (mode >= 0) {
        linear = yk_v3_add(linear, at->shift[mode]);
        angular = yk_v3_add(angular, at->spin[mode]);
    }
    if (mode >= 0 && !body->constant_mass) {
        linear = yk_v3_axpy(c, f->slope_v[mode], linear);
        angular = yk_v3_axpy(c, f->slope_w[mode], angular);
    }

    /* p' */
    put_vector(f, 0, column, yk_v3_scale(fraction, linear));

    /* l' + v x p, and the weight */
    yk_vec3 swing = yk_v3_add(yk_v3_cross(by->v, f->linear), yk_v3_cross(f->s->v, linear));
    yk_vec3 torque = yk_v3_axpy(c, swing, yk_v3_scale(fraction, angular));
    if (mode >= 0)
        torque = yk_v3_axpy(-c * c, yk_v3_cross(f->at->shift[mode], f->s->g), torque);
    put_vector(f, 3, column, torque);

    /* pi_i' - dT/dp_i, weight, damping and elasticity */
    yk_vec3 v = f->s->v;
    yk_vec3 w = f->s->w;
    int n = body->modes;
    for (int i = 0; i < n; i++) {
        double modal = yk_v3_dot(f->heavy->shift[i], by->v) + yk_v3_dot(f->heavy->spin[i], by->w);
        double slope = yk_v3_dot(by->w, f->slope_w[i]) + yk_v3_dot(by->v, f->slope_v[i]);
        int k = n * i + mode;
        if (mode >= 0) {
            const yk_mat3 *pair = &body->pair[k];
            yk_vec3 curve = body->curve[k];

            /* c times the change of S_i . v + Gamma_i . w + M_ij p_j' */
            modal += body->modal_mass[k];
            if (!body->constant_mass) {
                double moved = yk_v3_dot(curve, v) + yk_v3_dot(yk_ffrf_axial(pair), w);
                modal = modal + c * moved;
            }

            /* c times the change of dT/dp_i */
            slope += yk_v3_dot(v, curve) + yk_v3_dot(w, yk_ffrf_axial(&body->pair[n * mode + i]));
            double whirl = yk_v3_dot(w, yk_ffrf_half_tensor(pair, w));
            slope = slope + c * (whirl + yk_v3_dot(v, yk_v3_cross(w, curve)));
        }

        double sum = fraction * modal - c * slope;
        if (mode >= 0) {
            double elastic = body->stiffness[k] - yk_v3_dot(body->curve[k], f->s->g);
            sum += c * body->damping[k] + c * c * elastic;
        }

        f->tangent[f->size * (6 + i) + column] = sum;
    }
}

/* A rotation by d leaves what stands still behind, a becomes a + a x d as the body sees it, and
 * turns the loads with it. */
static void add_turned_loads(const columns *f)
{
    double c = f->c;
    double rate = c * (1 + c * f->damping);
    double mass = f->body->mass;
    yk_vec3 g = f->s->g;
    yk_vec3 moment = f->at->moment;

    /* c^2 times the loads: rates of the momenta and the weight */
    yk_vec3 weight = yk_v3_scale(-mass, g);
    yk_vec3 lever = yk_v3_neg(yk_v3_cross(moment, g));
    yk_vec3 force = yk_v3_axpy(c * c, weight, yk_v3_scale(rate, f->linear));
    yk_vec3 arms = yk_v3_add(lever, yk_v3_cross(f->s->v, f->linear));
    yk_vec3 torque = yk_v3_axpy(c * c, arms, yk_v3_scale(rate, f->angular));

    /* Column by column: the weight stands still, the loads turn. */
    for (int j = 0; j < 3; j++) {
        yk_vec3 unit = {j == 0, j == 1, j == 2};
        yk_vec3 fall = yk_v3_scale(-c * c, yk_v3_cross(g, unit));
        yk_vec3 rotated[2] = {
            yk_v3_axpy(mass, fall, yk_v3_cross(unit, force)),
            yk_v3_add(yk_v3_cross(moment, fall), yk_v3_cross(unit, torque)),
        };

        for (int part = 0; part < 2; part++) {
            double *at = &f->tangent[f->size * 3 * part + 3 + j];
            at[0] += rotated[part].x;
            at[f->size] += rotated[part].y;
            at[2 * f->size] += rotated[part].z;
        }

        for (int i = 0; i < f->body->modes; i++)
            f->tangent[f->size * (6 + i) + 3 + j] += yk_v3_dot(f->at->shift[i], fall);
    }
}

/* Rows and columns of the frame from the body's axes to global ones. */
static void rotate_to_global(const columns *f, const yk_mat3 *axes)
{
    int n = f->size;

    /* Rows, */
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < 6; i += 3) {
            const double *at = &f->tangent[n * i + j];
            put_vector(f, i, j, yk_m3_apply(*axes, yk_v3(at[0], at[n], at[2 * n])));
        }
    }

    /* then columns. */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 6; j += 3) {
            double *at = &f->tangent[n * i + j];
            yk_vec3 v = yk_m3_apply(*axes, yk_v3(at[0], at[1], at[2]));
            at[0] = v.x;
            at[1] = v.y;
            at[2] = v.z;
        }
    }
}

void yk_ffrf_tangent(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, double c,
                     double fraction, double damping, double *tangent)
{
    yk_ffrf_shape at;
    yk_ffrf_shape undeformed;
    yk_ffrf_seen s;

    yk_ffrf_shape_at(body, motion->amplitude, &at);
    yk_ffrf_see(body, motion, gravity, &at, &s);

    columns f; /* without an initialiser, which would clear all slopes */
    f.body = body;
    f.at = &at;
    f.heavy = &at;
    f.s = &s;
    f.c = c;
    f.damping = damping;
    f.tangent = tangent;
    f.size = 6 + body->modes;
    if (body->constant_mass) {
        yk_ffrf_shape_at(body, NULL, &undeformed);
        f.heavy = &undeformed;
    }

    /* Momenta of the frame. */
    f.linear = yk_v3_axpy(body->mass, s.v, yk_v3_cross(s.w, f.heavy->moment));
    f.angular = yk_v3_add(yk_v3_cross(f.heavy->moment, s.v), yk_m3_apply(f.heavy->tensor, s.w));
    for (int i = 0; i < body->modes; i++) {
        f.linear = yk_v3_axpy(motion->rate[i], f.heavy->shift[i], f.linear);
        f.angular = yk_v3_axpy(motion->rate[i], f.heavy->spin[i], f.angular);
    }

    /* dT/dp_i by v and by w. */
    for (int i = 0; i < body->modes; i++) {
        /* swirl: axial of the sum of pair_ji p_j' */
        yk_vec3 swirl = yk_v3_sub(yk_ffrf_axial(&s.rate[i]), s.gyro[i]);
        yk_vec3 tensor = yk_v3_scale(2, yk_ffrf_half_tensor(&at.spread[i], s.w));
        f.slope_v[i] = yk_v3_add(yk_v3_cross(s.w, at.shift[i]), s.bend[i]);
        f.slope_w[i] = yk_v3_add(yk_v3_add(yk_v3_cross(at.shift[i], s.v), tensor), swirl);
    }

    /* Columns of displacements, rotations and amplitudes. */
    for (int j = 0; j < 6; j++) {
        yk_vec3 unit = {j % 3 == 0, j % 3 == 1, j % 3 == 2};
        change by = {.mode = -1};

        if (j < 3) {
            by.v = unit;
        } else {
            /* c dw = (1 - fraction c w x) d and the turned view, w x d */
            by.w = yk_v3_axpy((1 - fraction) * c, yk_v3_cross(s.w, unit), unit);
            by.v = yk_v3_scale(c, yk_v3_cross(s.v, unit));
        }

        motion_column(&f, &by, j);
    }

    for (int j = 0; j < body->modes; j++) {
        change by = {.mode = j};
        motion_column(&f, &by, 6 + j);
    }

    add_turned_loads(&f);
    rotate_to_global(&f, &motion->frame.rotation);
}

static bool is_zero(const yk_mat3 *a)
{
    for (int k = 0; k < 9; k++) {
        if (a->m[k / 3][k % 3] != 0)
            return false;
    }
    return true;
}

bool yk_ffrf_coupled(const yk_ffrf *body, int row, int column)
{
    int n = body->modes;

    /* The frame with itself. */
    if (row < 3 && column < 3)
        return row == column;
    if (row < 6 && column < 6)
        return true;

    /* Two modes. */
    if (row >= 6 && column >= 6) {
        int k = n * (row - 6) + column - 6;
        int l = n * (column - 6) + row - 6;
        bool modal = body->modal_mass[k] != 0 || body->stiffness[k] != 0 || body->damping[k] != 0;
        bool inertial =
            yk_v3_norm2(body->curve[k]) > 0 || !is_zero(&body->pair[k]) || !is_zero(&body->pair[l]);
        return modal || inertial;
    }

    /* A mode with a rotation of the frame, or with its displacement. */
    if (row >= 3 && column >= 3)
        return true;

    int mode = row > column ? row - 6 : column - 6;
    bool moves = yk_v3_norm2(body->shift[mode]) > 0;
    for (int k = 0; k < n; k++)
        moves |= yk_v3_norm2(body->curve[n * mode + k]) > 0;

    return moves;
}
