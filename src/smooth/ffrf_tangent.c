/* Exact derivatives of the loads of a floating-frame body, column by column in its own axes: first by accelerations and
 * velocities, then by amplitudes, last by rotations of the frame, which only turn what is seen from it. */
#include <string.h>

#include "smooth/ffrf_shape.h"

typedef struct frame_columns {
    const yk_ffrf *body;
    const yk_ffrf_motion *motion;
    const yk_ffrf_shape *at;    /* present shape */
    const yk_ffrf_shape *heavy; /* shape whose masses meet accelerations */
    const yk_ffrf_seen *s;
    const yk_ffrf_weights *weights;
    yk_mat3 spin;    /* weights->spin in the body's axes */
    double *tangent; /* in the body's axes until the end */
    int size;
} frame_columns;

static double *entry(const frame_columns *f, int row, int column)
{
    return &f->tangent[(size_t)f->size * (size_t)row + (size_t)column];
}

static void add_vector(const frame_columns *f, int row, int column, double scale, yk_vec3 v)
{
    *entry(f, row, column) += scale * v.x;
    *entry(f, row + 1, column) += scale * v.y;
    *entry(f, row + 2, column) += scale * v.z;
}

static void add_block(const frame_columns *f, int row, int column, double scale, yk_mat3 block)
{
    for (int j = 0; j < 3; j++) add_vector(f, row, column + j, scale, yk_m3_column(&block, j));
}

/* scale times the three columns `block`, times the matrix that the columns' unknowns are turned by. */
static void add_turned_row(const frame_columns *f, int row, int column, double scale, yk_vec3 v, const yk_mat3 *turn)
{
    yk_vec3 turned = turn ? yk_m3_apply_transposed(*turn, v) : v;
    *entry(f, row, column) += scale * turned.x;
    *entry(f, row, column + 1) += scale * turned.y;
    *entry(f, row, column + 2) += scale * turned.z;
}

/* The mass matrix times accelerations that are `turn` times a rotation of the frame (columns 3 to 5), or the plain mass
 * matrix where turn is NULL. */
static void rotation_masses(const frame_columns *f, const yk_ffrf_shape *at, double scale, const yk_mat3 *turn)
{
    yk_mat3 unit = yk_m3_identity();
    if (!turn) turn = &unit;
    add_block(f, 0, 3, -scale, yk_m3_mul(yk_m3_skew(at->moment), *turn));
    add_block(f, 3, 3, scale, yk_m3_mul(at->tensor, *turn));
    for (int i = 0; i < f->body->modes; i++) add_turned_row(f, 6 + i, 3, scale, at->spin[i], turn);
}

static void translation_masses(const frame_columns *f, const yk_ffrf_shape *at, int column, double scale,
                               const yk_mat3 *turn)
{
    yk_mat3 unit = yk_m3_identity();
    if (!turn) turn = &unit;
    add_block(f, 0, column, scale * f->body->mass, *turn);
    add_block(f, 3, column, scale, yk_m3_mul(yk_m3_skew(at->moment), *turn));
    for (int i = 0; i < f->body->modes; i++) add_turned_row(f, 6 + i, column, scale, at->shift[i], turn);
}

static void modal_masses(const frame_columns *f, double scale)
{
    int n = f->body->modes;
    for (int j = 0; j < n; j++) {
        add_vector(f, 0, 6 + j, scale, f->heavy->shift[j]);
        add_vector(f, 3, 6 + j, scale, f->heavy->spin[j]);
        for (int i = 0; i < n; i++) *entry(f, 6 + i, 6 + j) += scale * f->body->modal_mass[n * i + j];
    }
}

/* Derivatives by the angular velocity, times `turn`. */
static void spin_columns(const frame_columns *f, double scale, const yk_mat3 *turn)
{
    const yk_ffrf_seen *s = f->s;
    yk_vec3 w = s->w, swing = yk_v3_cross(w, f->at->moment);
    yk_mat3 omega = yk_m3_skew(w);
    yk_mat3 force = yk_m3_add(yk_m3_skew(yk_v3_axpy(2, s->drift, swing)), yk_m3_mul(omega, yk_m3_skew(f->at->moment)));
    add_block(f, 0, 3, -scale, yk_m3_mul(force, *turn));
    yk_vec3 spin = yk_v3_add(yk_m3_apply(f->at->tensor, w), s->swirl);
    yk_mat3 torque = yk_m3_sub(yk_m3_mul(omega, f->at->tensor), yk_m3_skew(spin));
    for (int j = 0; j < 3; j++) {
        yk_vec3 unit = {j == 0, j == 1, j == 2}, flow = yk_ffrf_half_tensor(&s->flow, unit);
        torque.m[0][j] += 2 * flow.x;
        torque.m[1][j] += 2 * flow.y;
        torque.m[2][j] += 2 * flow.z;
    }
    add_block(f, 3, 3, scale, yk_m3_mul(torque, *turn));
    for (int i = 0; i < f->body->modes; i++) {
        yk_vec3 change = yk_v3_axpy(-2, yk_ffrf_half_tensor(&f->at->spread[i], w), s->gyro[i]);
        add_turned_row(f, 6 + i, 3, scale, change, turn);
    }
}

static void rate_columns(const frame_columns *f, double scale)
{
    int n = f->body->modes;
    yk_vec3 w = f->s->w;
    for (int j = 0; j < n; j++) {
        yk_vec3 curve = yk_v3_scale(2, f->s->bend[j]);
        add_vector(f, 0, 6 + j, scale, yk_v3_axpy(2, yk_v3_cross(w, f->at->shift[j]), curve));
        yk_vec3 swirl = yk_v3_axpy(2, yk_ffrf_half_tensor(&f->at->spread[j], w), yk_v3_cross(w, f->at->spin[j]));
        /* pair_ij + pair_ji, of which only the part that is symmetric in i and j has an axial vector left */
        yk_vec3 both = yk_v3_sub(yk_v3_scale(2, yk_ffrf_axial(&f->s->rate[j])), f->s->gyro[j]);
        add_vector(f, 3, 6 + j, scale, yk_v3_add(swirl, both));
        for (int i = 0; i < n; i++)
            *entry(f, 6 + i, 6 + j) += scale * (yk_v3_dot(w, f->body->gyro[n * i + j]) + f->body->damping[n * i + j]);
    }
}

/* What column j of a sum over i of pair_ij x_i is: pair is symmetric in i and j but for its Coriolis part. */
static yk_mat3 contract_first(const yk_ffrf *body, int j, const double *x)
{
    yk_mat3 sum = yk_m3_zero();
    for (int i = 0; i < body->modes; i++) yk_ffrf_add_scaled(&sum, x[i], &body->pair[body->modes * i + j]);
    return sum;
}

static void amplitude_vectors(const frame_columns *f, int j, double scale)
{
    const yk_ffrf_seen *s = f->s;
    const yk_ffrf *body = f->body;
    yk_vec3 w = s->w, shift = f->at->shift[j], force, torque;
    const yk_mat3 *spread = &f->at->spread[j];
    yk_mat3 rates = contract_first(body, j, f->motion->rate);
    force = yk_v3_cross(w, yk_v3_axpy(2, s->bend[j], yk_v3_cross(w, shift)));
    torque = yk_v3_scale(2, yk_v3_cross(w, yk_ffrf_half_tensor(spread, w)));
    torque = yk_v3_axpy(2, yk_ffrf_half_tensor(&rates, w), torque);
    torque = yk_v3_add(torque, yk_v3_cross(w, yk_ffrf_axial(&rates)));
    torque = yk_v3_sub(torque, yk_v3_cross(shift, s->g));
    if (!body->constant_mass) {
        yk_mat3 seconds = contract_first(body, j, f->motion->second);
        force = yk_v3_add(force, yk_v3_cross(s->alpha, shift));
        for (int i = 0; i < body->modes && body->curved; i++)
            force = yk_v3_axpy(f->motion->second[i], body->curve[body->modes * i + j], force);
        torque = yk_v3_add(torque, yk_v3_cross(shift, s->a));
        torque = yk_v3_axpy(2, yk_ffrf_half_tensor(spread, s->alpha), torque);
        torque = yk_v3_add(torque, yk_ffrf_axial(&seconds));
    }
    add_vector(f, 0, 6 + j, scale, force);
    add_vector(f, 3, 6 + j, scale, torque);
}

static void amplitude_columns(const frame_columns *f, double scale)
{
    const yk_ffrf *body = f->body;
    const yk_ffrf_seen *s = f->s;
    int n = body->modes;
    bool moves = !body->constant_mass;
    yk_vec3 fall = moves ? yk_v3_sub(s->a, s->g) : yk_v3_neg(s->g);
    for (int j = 0; j < n; j++) {
        amplitude_vectors(f, j, scale);
        for (int i = 0; i < n; i++) {
            const yk_mat3 *pair = &body->pair[n * i + j];
            double change = body->stiffness[n * i + j] - yk_v3_dot(s->w, yk_ffrf_half_tensor(pair, s->w));
            if (body->curved) change += yk_v3_dot(body->curve[n * i + j], fall);
            if (moves) change += yk_v3_dot(yk_ffrf_axial(pair), s->alpha);
            *entry(f, 6 + i, 6 + j) += scale * change;
        }
    }
}

/* A rotation of the frame by d turns vectors that stand still the other way: as seen from it, a becomes a + a x d; and
 * loads are turned with it. */
static void rotation_columns(const frame_columns *f, double scale)
{
    const yk_ffrf_seen *s = f->s;
    yk_mat3 acceleration = yk_m3_skew(s->a), weight = yk_m3_skew(yk_v3_neg(s->g));
    yk_mat3 turning = yk_m3_skew(s->alpha), spinning = yk_m3_skew(s->w);
    translation_masses(f, f->heavy, 3, scale, &acceleration);
    translation_masses(f, f->at, 3, scale, &weight);
    rotation_masses(f, f->heavy, scale, &turning);
    spin_columns(f, scale, &spinning);
    yk_ffrf_loads loads;
    yk_ffrf_evaluate(f->body, f->motion, yk_m3_apply(f->motion->frame.rotation, s->g), &loads);
    const yk_mat3 turn = f->motion->frame.rotation;
    add_block(f, 0, 3, -scale, yk_m3_skew(yk_m3_apply_transposed(turn, loads.force)));
    add_block(f, 3, 3, -scale, yk_m3_skew(yk_m3_apply_transposed(turn, loads.torque)));
}

/* Rows and columns of the frame from the body's axes to global ones. */
static void turn_to_global(const frame_columns *f)
{
    const yk_mat3 turn = f->motion->frame.rotation;
    for (int j = 0; j < f->size; j++)
        for (int i = 0; i < 6; i += 3) {
            yk_vec3 v = yk_m3_apply(turn, yk_v3(*entry(f, i, j), *entry(f, i + 1, j), *entry(f, i + 2, j)));
            *entry(f, i, j) = v.x, *entry(f, i + 1, j) = v.y, *entry(f, i + 2, j) = v.z;
        }
    for (int i = 0; i < f->size; i++)
        for (int j = 0; j < 6; j += 3) {
            double *at = entry(f, i, j);
            yk_vec3 v = yk_m3_apply(turn, yk_v3(at[0], at[1], at[2]));
            at[0] = v.x, at[1] = v.y, at[2] = v.z;
        }
}

void yk_ffrf_tangent(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, const yk_ffrf_weights *weights,
                     double *tangent)
{
    yk_ffrf_shape at, plain;
    yk_ffrf_seen s;
    yk_ffrf_shape_at(body, motion->amplitude, &at);
    yk_ffrf_see(body, motion, gravity, &at, &s);
    if (body->constant_mass) yk_ffrf_shape_at(body, NULL, &plain);
    const yk_mat3 turn = motion->frame.rotation;
    frame_columns f = {.body = body,
                       .motion = motion,
                       .at = &at,
                       .heavy = body->constant_mass ? &plain : &at,
                       .s = &s,
                       .weights = weights,
                       .spin = yk_m3_mul(yk_m3_transpose(turn), yk_m3_mul(weights->spin, turn)),
                       .tangent = tangent,
                       .size = 6 + body->modes};
    memset(tangent, 0, (size_t)f.size * (size_t)f.size * sizeof *tangent);
    translation_masses(&f, f.heavy, 0, weights->mass, NULL);
    rotation_masses(&f, f.heavy, weights->mass, &f.spin);
    modal_masses(&f, weights->mass);
    if (weights->rate != 0) {
        spin_columns(&f, weights->rate, &f.spin);
        rate_columns(&f, weights->rate);
    }
    if (weights->placement != 0) {
        rotation_columns(&f, weights->placement);
        amplitude_columns(&f, weights->placement);
    }
    turn_to_global(&f);
}
