/* Equations of motion of a floating-frame body; ffrf.h describes the method. Everything is computed
 * in the axes of the floating frame and rotated to global axes at the end.
 *
 * yk_ffrf_evaluate() gives the equations in terms of accelerations, yk_ffrf_rest() in terms of
 * momenta, and yk_ffrf_tangent() their derivatives for a time integration: everything depends on
 * the unknowns through v, w and p' in the body's axes, which the integration relates to dx, dtheta
 * and dp by c, and through p itself. So each column is the effect of a small change (c dv, c dw, c
 * dp', dp) on the differentials of momenta and remaining loads. */
#include "multibody/ffrf.h"

/* Shape and motion ----------------------------------------------------------------------------- */

/* Inertia of a deformed shape, and its derivatives by the amplitudes. */
typedef struct deformed_shape {
    yk_vec3 moment;
    yk_mat3 tensor;
    yk_vec3 shift[YK_FFRF_MODES_MAX];  /* dS/dp_i */
    yk_vec3 spin[YK_FFRF_MODES_MAX];   /* Gamma_i */
    yk_mat3 spread[YK_FFRF_MODES_MAX]; /* Y_i */
} deformed_shape;

/* Motion in the floating frame, and sums over the rates of the amplitudes. */
typedef struct seen_motion {
    yk_vec3 v, w, g;
    yk_vec3 drift;                   /* sum of dS/dp_i p_i' */
    yk_vec3 swirl;                   /* sum of Gamma_i p_i' */
    yk_mat3 flow;                    /* sum of Y_i p_i' */
    yk_mat3 rate[YK_FFRF_MODES_MAX]; /* sum over j of pair_ij p_j' */
    yk_vec3 bend[YK_FFRF_MODES_MAX]; /* sum over j of curve_ij p_j' */
    yk_vec3 gyro[YK_FFRF_MODES_MAX]; /* sum over j of gyro_ij p_j' */
} seen_motion;

/* tr(Y) w - (Y + Y^T) w / 2: half the derivative of the inertia tensor, applied to w. */
static inline yk_vec3 half_tensor(const yk_mat3 *y, yk_vec3 w)
{
    double trace = y->m[0][0] + y->m[1][1] + y->m[2][2];
    yk_vec3 sum = yk_v3_add(yk_m3_apply(*y, w), yk_m3_apply_transposed(*y, w));
    return yk_v3_axpy(-0.5, sum, yk_v3_scale(trace, w));
}

/* Adds the sum of pair_ij p_j to Y_i, for all i. p may be amplitudes or their rates. */
static void add_pairs(const yk_ffrf *body, const double *p, yk_mat3 *sum)
{
    for (int i = 0; i < body->modes; i++) {
        double *entry = &sum[i].m[0][0];
        for (int k = body->first_term[i]; k < body->first_term[i + 1]; k++) {
            const yk_ffrf_term *term = &body->terms[k];
            entry[term->entry] += term->value * p[term->j];
        }
    }
}

/* Sets to[i] to the sum of value_ij p_j. */
static void contract_vectors(const yk_ffrf_bend *list, int count, int modes, const double *p,
                             yk_vec3 *to)
{
    for (int i = 0; i < modes; i++)
        to[i] = yk_v3(0, 0, 0);
    for (int k = 0; k < count; k++)
        to[list[k].i] = yk_v3_axpy(p[list[k].j], list[k].value, to[list[k].i]);
}

/* Amplitudes NULL: undeformed. */
static void find_shape(const yk_ffrf *body, const double *p, deformed_shape *at)
{
    int n = body->modes;

    /* Y_i = spread_i + pair_ij p_j, and the contribution of shapes of second order to the first
     * moments, curve_ij p_j */
    yk_vec3 bend[YK_FFRF_MODES_MAX];
    for (int i = 0; i < n; i++) {
        at->spread[i] = body->spread[i];
        bend[i] = yk_v3(0, 0, 0);
    }

    if (p) {
        add_pairs(body, p, at->spread);
        contract_vectors(body->curves, body->curve_count, n, p, bend);
    }

    for (int i = 0; i < n; i++) {
        at->shift[i] = yk_v3_add(body->shift[i], bend[i]);
        at->spin[i] = yk_ffrf_axial(&at->spread[i]);
    }

    /* S = S0 + p_i (shift_i + curve_ij p_j / 2); W = W0 + p_i (Y_i + spread_i) / 2 and its
     * transpose */
    yk_mat3 second = body->second;
    at->moment = body->moment;
    for (int i = 0; i < n && p; i++) {
        yk_vec3 shift = yk_v3_axpy(-0.5, bend[i], at->shift[i]);
        at->moment = yk_v3_axpy(p[i], shift, at->moment);

        const yk_mat3 *now = &at->spread[i];
        const yk_mat3 *plain = &body->spread[i];
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++)
                second.m[r][c] +=
                    0.5 * p[i] * (now->m[r][c] + plain->m[r][c] + now->m[c][r] + plain->m[c][r]);
        }
    }

    at->tensor = yk_ffrf_tensor(&second);
}

yk_inertia yk_ffrf_inertia(const yk_ffrf *body, const double *amplitude)
{
    deformed_shape at;
    find_shape(body, amplitude, &at);
    return (yk_inertia){.mass = body->mass, .moment = at.moment, .tensor = at.tensor};
}

static void see_motion(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                       const deformed_shape *at, seen_motion *s)
{
    const yk_mat3 axes = motion->frame.rotation;
    s->v = yk_m3_apply_transposed(axes, motion->frame.velocity);
    s->w = yk_m3_apply_transposed(axes, motion->frame.angular_velocity);
    s->g = yk_m3_apply_transposed(axes, gravity);

    /* By mode. */
    int n = body->modes;
    for (int i = 0; i < n; i++)
        s->rate[i] = yk_m3_zero();
    add_pairs(body, motion->rate, s->rate);
    contract_vectors(body->curves, body->curve_count, n, motion->rate, s->bend);
    contract_vectors(body->gyros, body->gyro_count, n, motion->rate, s->gyro);

    /* Sums over the modes. */
    s->drift = yk_v3(0, 0, 0);
    s->swirl = yk_v3(0, 0, 0);
    s->flow = yk_m3_zero();
    for (int i = 0; i < n; i++) {
        double rate = motion->rate[i];
        s->drift = yk_v3_axpy(rate, at->shift[i], s->drift);
        s->swirl = yk_v3_axpy(rate, at->spin[i], s->swirl);
        yk_m3_add_to(&s->flow, rate, at->spread[i]);
    }
}

/* Loads by accelerations ----------------------------------------------------------------------- */

/* The mass matrix times velocities (the momenta, those of the modes in `modal`), or times
 * accelerations (the loads of inertia). `at` is the shape whose mass distribution is used. */
static yk_momentum apply_mass(const yk_ffrf *body, const deformed_shape *at, yk_vec3 a,
                              yk_vec3 alpha, const double *second, double *modal)
{
    int n = body->modes;
    yk_vec3 force = yk_v3_axpy(body->mass, a, yk_v3_cross(alpha, at->moment));
    yk_vec3 torque = yk_v3_add(yk_v3_cross(at->moment, a), yk_m3_apply(at->tensor, alpha));

    for (int i = 0; i < n; i++) {
        force = yk_v3_axpy(second[i], at->shift[i], force);
        torque = yk_v3_axpy(second[i], at->spin[i], torque);

        /* and of each mode: S_i . a + Gamma_i . alpha + M_ij p_j'' */
        double sum = yk_v3_dot(at->shift[i], a) + yk_v3_dot(at->spin[i], alpha);
        for (int j = 0; j < n; j++)
            sum += body->modal_mass[n * i + j] * second[j];
        modal[i] = sum;
    }

    return (yk_momentum){force, torque};
}

/* Centrifugal, gyroscopic and Coriolis loads, in the axes of the floating frame. */
static void add_velocity_loads(const yk_ffrf *body, const yk_ffrf_motion *motion,
                               const deformed_shape *at, const seen_motion *s, yk_ffrf_loads *loads)
{
    /* w x (w x S + 2 drift) and w x (J w + swirl) + 2 flow w, as if rigid */
    yk_vec3 w = s->w;
    yk_vec3 swing = yk_v3_add(yk_v3_cross(w, at->moment), yk_v3_scale(2, s->drift));
    yk_vec3 spin = yk_v3_add(yk_m3_apply(at->tensor, w), s->swirl);
    yk_vec3 torque = yk_v3_axpy(2, half_tensor(&s->flow, w), yk_v3_cross(w, spin));
    loads->force = yk_v3_add(loads->force, yk_v3_cross(w, swing));
    loads->torque = yk_v3_add(loads->torque, torque);

    /* Rates of the shapes, and the modes in the rotating frame. */
    for (int i = 0; i < body->modes; i++) {
        loads->force = yk_v3_axpy(motion->rate[i], s->bend[i], loads->force);
        loads->torque = yk_v3_axpy(motion->rate[i], yk_ffrf_axial(&s->rate[i]), loads->torque);
        yk_vec3 whirl = half_tensor(&at->spread[i], w);
        loads->modal[i] += yk_v3_dot(w, yk_v3_sub(s->gyro[i], whirl));
    }
}

/* Weight, elasticity and damping, all energies, and rotation to global axes. */
static void finish_loads(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                         const deformed_shape *at, const seen_motion *s, yk_ffrf_loads *loads)
{
    const yk_mat3 axes = motion->frame.rotation;
    int n = body->modes;

    /* Weight. */
    loads->force = yk_v3_axpy(-body->mass, s->g, loads->force);
    loads->torque = yk_v3_sub(loads->torque, yk_v3_cross(at->moment, s->g));
    for (int i = 0; i < n; i++)
        loads->modal[i] -= yk_v3_dot(at->shift[i], s->g);

    yk_vec3 centre = yk_m3_apply(axes, at->moment);
    loads->potential = -yk_v3_dot(gravity, yk_v3_axpy(body->mass, motion->frame.position, centre));

    /* Kinetic energy T of ffrf.h, elasticity and damping. */
    yk_vec3 spin = yk_v3_axpy(0.5, yk_m3_apply(at->tensor, s->w), s->swirl);
    yk_vec3 move = yk_v3_add(yk_v3_cross(s->w, at->moment), s->drift);
    double linear = 0.5 * body->mass * yk_v3_norm2(s->v);
    loads->kinetic = linear + yk_v3_dot(s->v, move) + yk_v3_dot(s->w, spin);
    loads->loss = 0;
    for (int i = 0; i < n; i++) {
        double elastic = 0;
        double viscous = 0;
        double momentum = 0;

        for (int j = 0; j < n; j++) {
            elastic += body->stiffness[n * i + j] * motion->amplitude[j];
            viscous += body->damping[n * i + j] * motion->rate[j];
            momentum += body->modal_mass[n * i + j] * motion->rate[j];
        }

        loads->modal[i] += elastic + viscous;
        loads->potential += 0.5 * elastic * motion->amplitude[i];
        loads->loss += viscous * motion->rate[i];
        loads->kinetic += 0.5 * momentum * motion->rate[i];
    }

    loads->force = yk_m3_apply(axes, loads->force);
    loads->torque = yk_m3_apply(axes, loads->torque);
}

void yk_ffrf_evaluate(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                      yk_ffrf_loads *loads)
{
    const yk_mat3 axes = motion->frame.rotation;
    yk_vec3 a = yk_m3_apply_transposed(axes, motion->acceleration);
    yk_vec3 alpha = yk_m3_apply_transposed(axes, motion->angular_acceleration);

    /* The deformed shape, and the motion in the floating frame. */
    deformed_shape at;
    seen_motion s;
    find_shape(body, motion->amplitude, &at);
    see_motion(body, motion, gravity, &at, &s);

    /* With a constant mass, accelerations act on the undeformed body. */
    yk_momentum inertia;
    if (body->constant_mass) {
        deformed_shape undeformed;
        find_shape(body, NULL, &undeformed);
        inertia = apply_mass(body, &undeformed, a, alpha, motion->second, loads->modal);
    } else {
        inertia = apply_mass(body, &at, a, alpha, motion->second, loads->modal);
    }

    loads->force = inertia.linear;
    loads->torque = inertia.angular;
    add_velocity_loads(body, motion, &at, &s, loads);
    finish_loads(body, motion, gravity, &at, &s, loads);
}

/* Loads by momenta ----------------------------------------------------------------------------- */

/* With a constant mass: momenta of the undeformed body, and all velocity loads minus those
 * contained in the change of these momenta. */
static void rest_of_constant(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                             yk_momentum *momentum, double *modal_momentum, yk_ffrf_loads *loads)
{
    const yk_mat3 axes = motion->frame.rotation;
    deformed_shape at;
    deformed_shape plain;
    seen_motion s;

    find_shape(body, motion->amplitude, &at);
    find_shape(body, NULL, &plain);
    see_motion(body, motion, gravity, &at, &s);

    /* Momenta of the undeformed body. */
    yk_momentum own = apply_mass(body, &plain, s.v, s.w, motion->rate, modal_momentum);
    *momentum = (yk_momentum){yk_m3_apply(axes, own.linear), yk_m3_apply(axes, own.angular)};

    /* All velocity loads of the deformed one, */
    loads->force = yk_v3(0, 0, 0);
    loads->torque = yk_v3(0, 0, 0);
    for (int i = 0; i < body->modes; i++)
        loads->modal[i] = 0;
    add_velocity_loads(body, motion, &at, &s, loads);

    /* minus those contained in the change of these momenta. */
    yk_vec3 drift = {0, 0, 0};
    yk_vec3 spin = yk_m3_apply(plain.tensor, s.w);
    for (int i = 0; i < body->modes; i++) {
        drift = yk_v3_axpy(motion->rate[i], plain.shift[i], drift);
        spin = yk_v3_axpy(motion->rate[i], plain.spin[i], spin);
        loads->modal[i] -= yk_v3_dot(s.v, yk_v3_cross(s.w, plain.shift[i]));
    }

    yk_vec3 swing = yk_v3_add(yk_v3_cross(s.w, plain.moment), drift);
    loads->force = yk_v3_sub(loads->force, yk_v3_cross(s.w, swing));
    yk_vec3 turning = yk_v3_add(yk_v3_cross(s.w, spin), yk_v3_cross(s.v, drift));
    loads->torque = yk_v3_sub(loads->torque, turning);

    finish_loads(body, motion, gravity, &at, &s, loads);
}

/* One row of a matrix times a vector. */
static double row_times(const double *matrix, int n, int i, bool diagonal, const double *vector)
{
    if (diagonal)
        return matrix[(n + 1) * i] * vector[i];

    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += matrix[n * i + j] * vector[j];
    return sum;
}

/* The second moments W, from the list of their nonzero entries. */
static yk_mat3 second_at(const yk_ffrf *body, const double *p)
{
    /* sum of p_i p_j pair_ij / 2 and its transpose */
    double sum[YK_FFRF_SYMMETRIC];
    for (int e = 0; e < YK_FFRF_SYMMETRIC; e++) {
        double square = 0;
        for (int k = body->first_square[e]; k < body->first_square[e + 1]; k++)
            square += body->squares[k].value * p[body->squares[k].i] * p[body->squares[k].j];
        sum[e] = square;
    }

    /* sum of p_i spread_i and its transpose */
    for (int i = 0; i < body->modes; i++) {
        const yk_mat3 *a = &body->spread[i];
        for (int k = 0; k < 3; k++)
            sum[k] += 2 * p[i] * a->m[k][k];
        sum[3] += p[i] * (a->m[0][1] + a->m[1][0]);
        sum[4] += p[i] * (a->m[0][2] + a->m[2][0]);
        sum[5] += p[i] * (a->m[1][2] + a->m[2][1]);
    }

    yk_mat3 change = {
        {{sum[0], sum[3], sum[4]}, {sum[3], sum[1], sum[5]}, {sum[4], sum[5], sum[2]}}};

    return yk_m3_add(body->second, change);
}

/* The quantities that the iterations of a time integration need most often, in one pass over the
 * shapes; only sums over shapes are computed if they are sufficient. With Y_i = int u (du/dp_i)^T =
 * spread_i + pair_ij p_j, in the floating frame,
 *
 *   Gamma_i = axial(Y_i)
 *   dT/dp_i = Y_i : (w.w I - w w^T) + w . sum_j axial(pair_ji) p_j' + (v x w) . S_i + v . sum_j
 *   curve_ij p_j'
 *   T = (v.p + w.l + p_i' pi_i) / 2 */
static void rest_of_changing(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                             yk_momentum *momentum, double *modal_momentum, yk_ffrf_loads *loads)
{
    const yk_mat3 axes = motion->frame.rotation;
    const double *p = motion->amplitude;
    const double *rate = motion->rate;
    int n = body->modes;
    yk_vec3 v = yk_m3_apply_transposed(axes, motion->frame.velocity);
    yk_vec3 w = yk_m3_apply_transposed(axes, motion->frame.angular_velocity);

    /* Per shape: S_i - shift_i, Gamma_i, and the terms of the rates in dT/dp_i; from the lists of
     * nonzero entries. */
    yk_vec3 bend[YK_FFRF_MODES_MAX];
    double gamma[YK_FFRF_MODES_MAX][3];
    double slope[YK_FFRF_MODES_MAX];
    for (int i = 0; i < n; i++) {
        yk_vec3 spin = yk_ffrf_axial(&body->spread[i]);
        gamma[i][0] = spin.x;
        gamma[i][1] = spin.y;
        gamma[i][2] = spin.z;
        bend[i] = yk_v3(0, 0, 0);
        slope[i] = 0;
    }

    for (int k = 0; k < body->curve_count; k++) {
        const yk_ffrf_bend *curve = &body->curves[k];
        bend[curve->i] = yk_v3_axpy(p[curve->j], curve->value, bend[curve->i]);
        slope[curve->i] += rate[curve->j] * yk_v3_dot(v, curve->value);
    }

    const double w_axis[3] = {w.x, w.y, w.z};
    for (int k = 0; k < body->swirl_count; k++) {
        const yk_ffrf_term *swirl = &body->swirls[k];
        slope[swirl->i] += rate[swirl->j] * w_axis[swirl->entry] * swirl->value;
        gamma[swirl->j][swirl->entry] += p[swirl->i] * swirl->value;
    }

    /* Modal momenta and loads, and the sums over the shapes. */
    yk_vec3 pull = yk_v3_add(yk_v3_cross(v, w), yk_m3_apply_transposed(axes, gravity));
    double square = yk_v3_norm2(w);
    yk_mat3 whirl = yk_m3_sub(yk_m3_diagonal(square, square, square), yk_m3_outer(w, w));
    const double *whirl_entry = &whirl.m[0][0];
    yk_vec3 moment = body->moment;
    yk_vec3 linear = {0, 0, 0};
    yk_vec3 angular = {0, 0, 0};
    double kinetic = 0;
    double strain = 0;
    double loss = 0;
    for (int i = 0; i < n; i++) {
        yk_vec3 shift = yk_v3_add(body->shift[i], bend[i]);
        yk_vec3 spin = {gamma[i][0], gamma[i][1], gamma[i][2]};

        /* Y_i : (w.w I - w w^T) */
        const double *spread = &body->spread[i].m[0][0];
        double centrifugal = 0;
        double change = 0;
        for (int k = 0; k < 9; k++)
            centrifugal += spread[k] * whirl_entry[k];
        for (int k = body->first_term[i]; k < body->first_term[i + 1]; k++) {
            const yk_ffrf_term *term = &body->terms[k];
            change += term->value * p[term->j] * whirl_entry[term->entry];
        }

        /* pi_i and m_i = elasticity and damping - dT/dp_i - weight */
        double elastic = row_times(body->stiffness, n, i, body->diagonal, p);
        double viscous = 0;
        if (body->damped)
            viscous = row_times(body->damping, n, i, false, rate);
        double own = row_times(body->modal_mass, n, i, body->diagonal, rate);
        modal_momentum[i] = yk_v3_dot(shift, v) + yk_v3_dot(spin, w) + own;

        double by_motion = slope[i] + (centrifugal + change) + yk_v3_dot(pull, shift);
        loads->modal[i] = elastic + viscous - by_motion;

        /* S, p, l and the energies. */
        yk_vec3 mean = yk_v3_axpy(0.5, bend[i], body->shift[i]);
        moment = yk_v3_axpy(p[i], mean, moment);
        linear = yk_v3_axpy(rate[i], shift, linear);
        angular = yk_v3_axpy(rate[i], spin, angular);
        kinetic += 0.5 * rate[i] * modal_momentum[i];
        strain += 0.5 * p[i] * elastic;
        loss += rate[i] * viscous;
    }

    /* Momenta of the frame. */
    yk_mat3 second = second_at(body, p);
    yk_mat3 tensor = yk_ffrf_tensor(&second);
    linear = yk_v3_add(yk_v3_axpy(body->mass, v, yk_v3_cross(w, moment)), linear);
    angular = yk_v3_add(yk_v3_add(yk_v3_cross(moment, v), yk_m3_apply(tensor, w)), angular);
    *momentum = (yk_momentum){yk_m3_apply(axes, linear), yk_m3_apply(axes, angular)};

    /* In addition to the momenta of the frame: the weight. */
    yk_vec3 centre = yk_m3_apply(axes, moment);
    loads->force = yk_v3_scale(-body->mass, gravity);
    loads->torque = yk_v3_neg(yk_v3_cross(centre, gravity));
    loads->kinetic = kinetic + 0.5 * (yk_v3_dot(v, linear) + yk_v3_dot(w, angular));
    yk_vec3 weighed = yk_v3_axpy(body->mass, motion->frame.position, centre);
    loads->potential = strain - yk_v3_dot(gravity, weighed);
    loads->loss = loss;
}

void yk_ffrf_rest(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                  yk_momentum *momentum, double *modal_momentum, yk_ffrf_loads *loads)
{
    if (body->constant_mass) {
        rest_of_constant(body, motion, gravity, momentum, modal_momentum, loads);
    } else {
        rest_of_changing(body, motion, gravity, momentum, modal_momentum, loads);
    }
}

/* Tangent -------------------------------------------------------------------------------------- */

/* Data for the tangent, which is built column by column in the body's axes and rotated to global
 * axes at the end. */
typedef struct columns {
    const yk_ffrf *body;
    const deformed_shape *at;    /* present shape */
    const deformed_shape *heavy; /* shape whose mass distribution determines the momenta */
    const seen_motion *s;
    yk_vec3 linear, angular; /* momenta, body's axes */
    double c, damping;
    double *tangent;
    int size;
    /* dT/dp_i by w and by v, which is also the change of the momenta with p_i */
    yk_vec3 slope_w[YK_FFRF_MODES_MAX], slope_v[YK_FFRF_MODES_MAX];
} columns;

static void put_vector(const columns *f, int row, int column, yk_vec3 v)
{
    double *at = &f->tangent[f->size * row + column];
    at[0] = v.x;
    at[f->size] = v.y;
    at[2 * f->size] = v.z;
}

/* Changes of the rate of the momenta, of other motion-dependent loads, and of the elasticity,
 * without the rotation of the frame itself: by velocities c dv and c dw in the body's axes, and by
 * one amplitude and its rate, c dp' = dp = 1 (-1: none). */
static void motion_column(const columns *f, yk_vec3 dv, yk_vec3 dw, int mode, int column)
{
    const yk_ffrf *body = f->body;
    double c = f->c;
    double fraction = 1 + c * f->damping;

    /* c times the changes of the momenta: by the velocities; by the rate of an amplitude through
     * S_j and Gamma_j, which are factors of p_j'; and by the change of S, J, S_i and Gamma_i with
     * p_j. */
    const deformed_shape *at = f->heavy;
    yk_vec3 linear = yk_v3_axpy(body->mass, dv, yk_v3_cross(dw, at->moment));
    yk_vec3 angular = yk_v3_add(yk_v3_cross(at->moment, dv), yk_m3_apply(at->tensor, dw));
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
    yk_vec3 swing = yk_v3_add(yk_v3_cross(dv, f->linear), yk_v3_cross(f->s->v, linear));
    yk_vec3 torque = yk_v3_axpy(c, swing, yk_v3_scale(fraction, angular));
    if (mode >= 0)
        torque = yk_v3_axpy(-c * c, yk_v3_cross(f->at->shift[mode], f->s->g), torque);
    put_vector(f, 3, column, torque);

    /* pi_i' - dT/dp_i, weight, damping and elasticity */
    yk_vec3 v = f->s->v;
    yk_vec3 w = f->s->w;
    int n = body->modes;
    for (int i = 0; i < n; i++) {
        double modal = yk_v3_dot(f->heavy->shift[i], dv) + yk_v3_dot(f->heavy->spin[i], dw);
        double slope = yk_v3_dot(dw, f->slope_w[i]) + yk_v3_dot(dv, f->slope_v[i]);
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
            double whirl = yk_v3_dot(w, half_tensor(pair, w));
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

/* Under a rotation by d, a fixed vector a becomes a + a x d in the body's axes. The loads rotate
 * with the body. */
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

    /* Column by column: the weight is fixed, the loads rotate. */
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

/* Rows and columns of the frame, from the body's axes to global axes. */
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
    deformed_shape at;
    deformed_shape undeformed;
    seen_motion s;

    find_shape(body, motion->amplitude, &at);
    see_motion(body, motion, gravity, &at, &s);

    columns f; /* without an initializer, which would clear all slopes */
    f.body = body;
    f.at = &at;
    f.heavy = &at;
    f.s = &s;
    f.c = c;
    f.damping = damping;
    f.tangent = tangent;
    f.size = 6 + body->modes;
    if (body->constant_mass) {
        find_shape(body, NULL, &undeformed);
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
        yk_vec3 tensor = yk_v3_scale(2, half_tensor(&at.spread[i], s.w));
        f.slope_v[i] = yk_v3_add(yk_v3_cross(s.w, at.shift[i]), s.bend[i]);
        f.slope_w[i] = yk_v3_add(yk_v3_add(yk_v3_cross(at.shift[i], s.v), tensor), swirl);
    }

    /* Columns of displacements, rotations and amplitudes. */
    for (int j = 0; j < 6; j++) {
        yk_vec3 unit = {j % 3 == 0, j % 3 == 1, j % 3 == 2};
        yk_vec3 dv = unit;
        yk_vec3 dw = {0, 0, 0};

        /* c dw = (1 - fraction c w x) d and the effect of the rotated axes, w x d */
        if (j >= 3) {
            dw = yk_v3_axpy((1 - fraction) * c, yk_v3_cross(s.w, unit), unit);
            dv = yk_v3_scale(c, yk_v3_cross(s.v, unit));
        }

        motion_column(&f, dv, dw, -1, j);
    }

    for (int j = 0; j < body->modes; j++)
        motion_column(&f, yk_v3(0, 0, 0), yk_v3(0, 0, 0), j, 6 + j);

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
