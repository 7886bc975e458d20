/* Equations of motion of a floating-frame body; ffrf.h has the method. All is computed in the
 * axes of the floating frame and turned to global axes at the end.
 *
 * yk_ffrf_evaluate has the equations by accelerations, yk_ffrf_rest the same by momenta. */
#include "smooth/ffrf.h"

#include "smooth/ffrf_shape.h"

/* Shape and motion ----------------------------------------------------------------------------- */

/* Adds the sum of pair_ij p_j, what amplitudes or their rates add to Y_i, for all i. */
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

void yk_ffrf_shape_at(const yk_ffrf *body, const double *p, yk_ffrf_shape *at)
{
    int n = body->modes;

    /* Y_i = spread_i + pair_ij p_j, and what the shapes of second order add to the first moments,
     * curve_ij p_j */
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
    yk_ffrf_shape at;
    yk_ffrf_shape_at(body, amplitude, &at);
    return (yk_inertia){.mass = body->mass, .moment = at.moment, .tensor = at.tensor};
}

void yk_ffrf_see(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                 const yk_ffrf_shape *at, yk_ffrf_seen *s)
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

/* A force, a torque about the origin and the loads of the modes, in the axes of the floating
 * frame. */
typedef struct body_loads {
    yk_vec3 force, torque;
    double *modal;
} body_loads;

/* The mass matrix times accelerations, or velocities; `at` is the shape whose masses count. */
static void apply_mass(const yk_ffrf *body, const yk_ffrf_shape *at, yk_vec3 a, yk_vec3 alpha,
                       const double *second, body_loads *loads)
{
    int n = body->modes;
    yk_vec3 force = yk_v3_axpy(body->mass, a, yk_v3_cross(alpha, at->moment));
    yk_vec3 torque = yk_v3_add(yk_v3_cross(at->moment, a), yk_m3_apply(at->tensor, alpha));

    for (int i = 0; i < n; i++) {
        force = yk_v3_axpy(second[i], at->shift[i], force);
        torque = yk_v3_axpy(second[i], at->spin[i], torque);

        /* and of each mode: S_i . a + Gamma_i . alpha + M_ij p_j'' */
        double modal = yk_v3_dot(at->shift[i], a) + yk_v3_dot(at->spin[i], alpha);
        for (int j = 0; j < n; j++)
            modal += body->modal_mass[n * i + j] * second[j];
        loads->modal[i] = modal;
    }

    loads->force = force;
    loads->torque = torque;
}

/* Centrifugal, gyroscopic and Coriolis loads. */
static void add_velocity_loads(const yk_ffrf *body, const yk_ffrf_motion *motion,
                               const yk_ffrf_shape *at, const yk_ffrf_seen *s, body_loads *loads)
{
    /* w x (w x S + 2 drift) and w x (J w + swirl) + 2 flow w, as if rigid */
    yk_vec3 w = s->w;
    yk_vec3 swing = yk_v3_add(yk_v3_cross(w, at->moment), yk_v3_scale(2, s->drift));
    yk_vec3 spin = yk_v3_add(yk_m3_apply(at->tensor, w), s->swirl);
    yk_vec3 torque = yk_v3_axpy(2, yk_ffrf_half_tensor(&s->flow, w), yk_v3_cross(w, spin));
    loads->force = yk_v3_add(loads->force, yk_v3_cross(w, swing));
    loads->torque = yk_v3_add(loads->torque, torque);

    /* Rates of the shapes, and the modes in the turning frame. */
    for (int i = 0; i < body->modes; i++) {
        loads->force = yk_v3_axpy(motion->rate[i], s->bend[i], loads->force);
        loads->torque = yk_v3_axpy(motion->rate[i], yk_ffrf_axial(&s->rate[i]), loads->torque);
        yk_vec3 whirl = yk_ffrf_half_tensor(&at->spread[i], w);
        loads->modal[i] += yk_v3_dot(w, yk_v3_sub(s->gyro[i], whirl));
    }
}

/* Weight, elasticity and damping, all energies, and everything turned to global axes. */
static void finish_loads(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                         const yk_ffrf_shape *at, const yk_ffrf_seen *s, body_loads *sum,
                         yk_ffrf_loads *loads)
{
    const yk_mat3 axes = motion->frame.rotation;
    int n = body->modes;

    /* Weight. */
    sum->force = yk_v3_axpy(-body->mass, s->g, sum->force);
    sum->torque = yk_v3_sub(sum->torque, yk_v3_cross(at->moment, s->g));
    for (int i = 0; i < n; i++)
        sum->modal[i] -= yk_v3_dot(at->shift[i], s->g);

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

        sum->modal[i] += elastic + viscous;
        loads->potential += 0.5 * elastic * motion->amplitude[i];
        loads->loss += viscous * motion->rate[i];
        loads->kinetic += 0.5 * momentum * motion->rate[i];
    }

    loads->force = yk_m3_apply(axes, sum->force);
    loads->torque = yk_m3_apply(axes, sum->torque);
}

void yk_ffrf_evaluate(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                      yk_ffrf_loads *loads)
{
    const yk_mat3 axes = motion->frame.rotation;
    yk_vec3 a = yk_m3_apply_transposed(axes, motion->acceleration);
    yk_vec3 alpha = yk_m3_apply_transposed(axes, motion->angular_acceleration);
    body_loads sum = {.modal = loads->modal};

    /* The shape that the amplitudes make, and the motion as the frame sees it. */
    yk_ffrf_shape at;
    yk_ffrf_seen s;
    yk_ffrf_shape_at(body, motion->amplitude, &at);
    yk_ffrf_see(body, motion, gravity, &at, &s);

    /* With a constant mass, accelerations meet the undeformed body. */
    if (body->constant_mass) {
        yk_ffrf_shape undeformed;
        yk_ffrf_shape_at(body, NULL, &undeformed);
        apply_mass(body, &undeformed, a, alpha, motion->second, &sum);
    } else {
        apply_mass(body, &at, a, alpha, motion->second, &sum);
    }

    add_velocity_loads(body, motion, &at, &s, &sum);
    finish_loads(body, motion, gravity, &at, &s, &sum, loads);
}

/* Loads by momenta ----------------------------------------------------------------------------- */

/* With a constant mass: momenta of the undeformed body, and all velocity loads less those that
 * their change contains. */
static void rest_of_constant(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                             yk_momentum *momentum, double *modal_momentum, yk_ffrf_loads *loads)
{
    const yk_mat3 axes = motion->frame.rotation;
    yk_ffrf_shape at;
    yk_ffrf_shape plain;
    yk_ffrf_seen s;

    yk_ffrf_shape_at(body, motion->amplitude, &at);
    yk_ffrf_shape_at(body, NULL, &plain);
    yk_ffrf_see(body, motion, gravity, &at, &s);

    /* Momenta of the undeformed body. */
    body_loads momenta = {.modal = modal_momentum};
    apply_mass(body, &plain, s.v, s.w, motion->rate, &momenta);
    *momentum = (yk_momentum){yk_m3_apply(axes, momenta.force), yk_m3_apply(axes, momenta.torque)};

    /* All velocity loads of the deformed one, */
    body_loads sum = {.modal = loads->modal};
    for (int i = 0; i < body->modes; i++)
        sum.modal[i] = 0;
    add_velocity_loads(body, motion, &at, &s, &sum);

    /* less those that the change of these momenta contains. */
    yk_vec3 drift = {0, 0, 0};
    yk_vec3 spin = yk_m3_apply(plain.tensor, s.w);
    for (int i = 0; i < body->modes; i++) {
        drift = yk_v3_axpy(motion->rate[i], plain.shift[i], drift);
        spin = yk_v3_axpy(motion->rate[i], plain.spin[i], spin);
        sum.modal[i] -= yk_v3_dot(s.v, yk_v3_cross(s.w, plain.shift[i]));
    }

    yk_vec3 swing = yk_v3_add(yk_v3_cross(s.w, plain.moment), drift);
    sum.force = yk_v3_sub(sum.force, yk_v3_cross(s.w, swing));
    yk_vec3 turning = yk_v3_add(yk_v3_cross(s.w, spin), yk_v3_cross(s.v, drift));
    sum.torque = yk_v3_sub(sum.torque, turning);

    finish_loads(body, motion, gravity, &at, &s, &sum, loads);
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

/* The second moments W, from their list of what is not zero. */
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

/* What an iteration of a time integration asks for most often: one pass over the shapes, and
 * nothing is formed by shape of which only sums are needed. With Y_i = int u (du/dp_i)^T =
 * spread_i + pair_ij p_j, seen from the frame,
 *
 *   Gamma_i = axial(Y_i)
 *   dT/dp_i = Y_i : (w.w I - w w^T) + w . sum_j axial(pair_ji) p_j'
 *             + (v x w) . S_i + v . sum_j curve_ij p_j'
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

    /* Of each shape: S_i - shift_i, Gamma_i, and what the rates have in dT/dp_i; from the lists
     * of what is not zero. */
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
        const yk_ffrf_swirl *swirl = &body->swirls[k];
        slope[swirl->i] += rate[swirl->j] * w_axis[swirl->axis] * swirl->value;
        gamma[swirl->j][swirl->axis] += p[swirl->i] * swirl->value;
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

    /* What is beside the momenta of the frame: the weight. */
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
