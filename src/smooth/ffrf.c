/* Equations of motion of a floating-frame body; ffrf.h has the method. All is computed in the axes of the floating frame
 * and turned to global axes at the end. */
#include "smooth/ffrf.h"

#include "smooth/ffrf_shape.h"

/* Shape at the given amplitudes ----------------------------------------------------------------------------------- */

/* Adds the sum of pair_ij p_j, what amplitudes or their rates add to Y_i, for all i. */
static void contract(const yk_ffrf *body, const double *p, yk_mat3 *sum)
{
    for (int i = 0; i < body->modes; i++) {
        double *entry = &sum[i].m[0][0];
        for (int k = body->first_term[i]; k < body->first_term[i + 1]; k++)
            entry[body->terms[k].entry] += body->terms[k].value * p[body->terms[k].j];
    }
}

/* Sets to[i] to the sum of value_ij p_j. */
static void contract_vectors(const yk_ffrf_bend *list, int count, int modes, const double *p, yk_vec3 *to)
{
    for (int i = 0; i < modes; i++) to[i] = yk_v3(0, 0, 0);
    for (int k = 0; k < count; k++) to[list[k].i] = yk_v3_axpy(p[list[k].j], list[k].value, to[list[k].i]);
}

void yk_ffrf_shape_at(const yk_ffrf *body, const double *p, yk_ffrf_shape *at)
{
    yk_mat3 second = body->second;
    at->moment = body->moment;
    for (int i = 0; i < body->modes; i++) at->spread[i] = body->spread[i], at->shift[i] = body->shift[i];
    if (p) contract(body, p, at->spread);
    if (p && body->curve_count) contract_vectors(body->curves, body->curve_count, body->modes, p, at->shift);
    for (int i = 0; i < body->modes; i++) {
        yk_vec3 bend = p && body->curve_count ? at->shift[i] : yk_v3(0, 0, 0);
        at->shift[i] = yk_v3_add(body->shift[i], bend);
        at->spin[i] = yk_ffrf_axial(&at->spread[i]);
        if (!p) continue;
        at->moment = yk_v3_axpy(p[i], yk_v3_axpy(-0.5, bend, at->shift[i]), at->moment);
        /* p_i (Y_i + spread_i) / 2 and its transpose */
        const yk_mat3 *now = &at->spread[i], *plain = &body->spread[i];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                second.m[r][c] += 0.5 * p[i] * (now->m[r][c] + plain->m[r][c] + now->m[c][r] + plain->m[c][r]);
    }
    at->tensor = yk_ffrf_tensor(&second);
}

yk_inertia yk_ffrf_inertia(const yk_ffrf *body, const double *amplitude)
{
    yk_ffrf_shape at;
    yk_ffrf_shape_at(body, amplitude, &at);
    return (yk_inertia){.mass = body->mass, .moment = at.moment, .tensor = at.tensor};
}

void yk_ffrf_see(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, const yk_ffrf_shape *at,
                 yk_ffrf_seen *s)
{
    const yk_mat3 rotation = motion->frame.rotation;
    s->v = yk_m3_apply_transposed(rotation, motion->frame.velocity);
    s->w = yk_m3_apply_transposed(rotation, motion->frame.angular_velocity);
    s->g = yk_m3_apply_transposed(rotation, gravity);
    s->drift = s->swirl = yk_v3(0, 0, 0);
    s->flow = yk_m3_zero();
    int n = body->modes;
    for (int i = 0; i < n; i++) s->rate[i] = yk_m3_zero();
    contract(body, motion->rate, s->rate);
    contract_vectors(body->curves, body->curve_count, n, motion->rate, s->bend);
    contract_vectors(body->gyros, body->gyro_count, n, motion->rate, s->gyro);
    for (int i = 0; i < n; i++) {
        double rate = motion->rate[i];
        s->drift = yk_v3_axpy(rate, at->shift[i], s->drift);
        s->swirl = yk_v3_axpy(rate, at->spin[i], s->swirl);
        yk_m3_add_to(&s->flow, rate, at->spread[i]);
    }
}

/* Loads ----------------------------------------------------------------------------------------------------------- */

/* The mass matrix times accelerations; `at` is the shape whose masses count. */
static void inertia_of_accelerations(const yk_ffrf *body, const yk_ffrf_shape *at, yk_vec3 a, yk_vec3 alpha,
                                     const double *second, yk_vec3 *force, yk_vec3 *torque, double *modal)
{
    int n = body->modes;
    *force = yk_v3_axpy(body->mass, a, yk_v3_cross(alpha, at->moment));
    *torque = yk_v3_add(yk_v3_cross(at->moment, a), yk_m3_apply(at->tensor, alpha));
    for (int i = 0; i < n; i++) {
        *force = yk_v3_axpy(second[i], at->shift[i], *force);
        *torque = yk_v3_axpy(second[i], at->spin[i], *torque);
        modal[i] = yk_v3_dot(at->shift[i], a) + yk_v3_dot(at->spin[i], alpha);
        for (int j = 0; j < n; j++) modal[i] += body->modal_mass[n * i + j] * second[j];
    }
}

/* Centrifugal, gyroscopic and Coriolis loads. */
static void add_velocity_loads(const yk_ffrf *body, const yk_ffrf_motion *motion, const yk_ffrf_shape *at,
                               const yk_ffrf_seen *s, yk_vec3 *force, yk_vec3 *torque, double *modal)
{
    yk_vec3 w = s->w;
    *force = yk_v3_add(*force, yk_v3_cross(w, yk_v3_add(yk_v3_cross(w, at->moment), yk_v3_scale(2, s->drift))));
    yk_vec3 spin = yk_v3_add(yk_m3_apply(at->tensor, w), s->swirl);
    *torque = yk_v3_add(*torque, yk_v3_axpy(2, yk_ffrf_half_tensor(&s->flow, w), yk_v3_cross(w, spin)));
    for (int i = 0; i < body->modes; i++) {
        *force = yk_v3_axpy(motion->rate[i], s->bend[i], *force);
        *torque = yk_v3_axpy(motion->rate[i], yk_ffrf_axial(&s->rate[i]), *torque);
        modal[i] += yk_v3_dot(w, yk_v3_sub(s->gyro[i], yk_ffrf_half_tensor(&at->spread[i], w)));
    }
}

static void add_weight(const yk_ffrf *body, const yk_ffrf_shape *at, yk_vec3 g, yk_vec3 *force, yk_vec3 *torque,
                       double *modal)
{
    *force = yk_v3_axpy(-body->mass, g, *force);
    *torque = yk_v3_sub(*torque, yk_v3_cross(at->moment, g));
    for (int i = 0; i < body->modes; i++) modal[i] -= yk_v3_dot(at->shift[i], g);
}

static void energies(const yk_ffrf *body, const yk_ffrf_motion *motion, const yk_ffrf_shape *at, const yk_ffrf_seen *s,
                     yk_ffrf_loads *loads)
{
    int n = body->modes;
    yk_vec3 spin = yk_v3_axpy(0.5, yk_m3_apply(at->tensor, s->w), s->swirl);
    yk_vec3 move = yk_v3_add(yk_v3_cross(s->w, at->moment), s->drift);
    loads->kinetic = 0.5 * body->mass * yk_v3_norm2(s->v) + yk_v3_dot(s->v, move) + yk_v3_dot(s->w, spin);
    loads->loss = 0;
    for (int i = 0; i < n; i++) {
        double elastic = 0, viscous = 0, momentum = 0;
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
}

void yk_ffrf_evaluate(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, yk_ffrf_loads *loads)
{
    yk_ffrf_shape at, plain;
    yk_ffrf_seen s;
    yk_vec3 force, torque;
    yk_ffrf_shape_at(body, motion->amplitude, &at);
    yk_ffrf_see(body, motion, gravity, &at, &s);
    if (body->constant_mass) yk_ffrf_shape_at(body, NULL, &plain);
    const yk_mat3 rotation = motion->frame.rotation;
    inertia_of_accelerations(
        body, body->constant_mass ? &plain : &at, yk_m3_apply_transposed(rotation, motion->acceleration),
        yk_m3_apply_transposed(rotation, motion->angular_acceleration), motion->second, &force, &torque, loads->modal);
    add_velocity_loads(body, motion, &at, &s, &force, &torque, loads->modal);
    add_weight(body, &at, s.g, &force, &torque, loads->modal);
    yk_vec3 centre = yk_m3_apply(motion->frame.rotation, at.moment);
    loads->potential = -yk_v3_dot(gravity, yk_v3_axpy(body->mass, motion->frame.position, centre));
    energies(body, motion, &at, &s, loads);
    loads->force = yk_m3_apply(motion->frame.rotation, force);
    loads->torque = yk_m3_apply(motion->frame.rotation, torque);
}

/* With a constant mass: all velocity loads, less those that the changing momenta of the undeformed body contain. */
static void add_other_velocity_loads(const yk_ffrf *body, const yk_ffrf_motion *motion, const yk_ffrf_shape *at,
                                     const yk_ffrf_shape *plain, const yk_ffrf_seen *s, yk_vec3 *force, yk_vec3 *torque,
                                     double *modal)
{
    add_velocity_loads(body, motion, at, s, force, torque, modal);
    yk_vec3 drift = {0, 0, 0}, spin = yk_m3_apply(plain->tensor, s->w);
    for (int i = 0; i < body->modes; i++) {
        drift = yk_v3_axpy(motion->rate[i], plain->shift[i], drift);
        spin = yk_v3_axpy(motion->rate[i], plain->spin[i], spin);
        modal[i] -= yk_v3_dot(s->v, yk_v3_cross(s->w, plain->shift[i]));
    }
    yk_vec3 swing = yk_v3_add(yk_v3_cross(s->w, plain->moment), drift);
    *force = yk_v3_sub(*force, yk_v3_cross(s->w, swing));
    *torque = yk_v3_sub(*torque, yk_v3_add(yk_v3_cross(s->w, spin), yk_v3_cross(s->v, drift)));
}

static void rest_of_constant(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, yk_momentum *momentum,
                             double *modal_momentum, yk_ffrf_loads *loads)
{
    yk_ffrf_shape at, plain;
    yk_ffrf_seen s;
    const yk_mat3 rotation = motion->frame.rotation;
    yk_vec3 force = {0, 0, 0}, torque = {0, 0, 0}, linear, angular;
    yk_ffrf_shape_at(body, motion->amplitude, &at);
    yk_ffrf_see(body, motion, gravity, &at, &s);
    for (int i = 0; i < body->modes; i++) loads->modal[i] = 0;
    yk_ffrf_shape_at(body, NULL, &plain);
    inertia_of_accelerations(body, &plain, s.v, s.w, motion->rate, &linear, &angular, modal_momentum);
    add_other_velocity_loads(body, motion, &at, &plain, &s, &force, &torque, loads->modal);
    *momentum = (yk_momentum){yk_m3_apply(rotation, linear), yk_m3_apply(rotation, angular)};
    add_weight(body, &at, s.g, &force, &torque, loads->modal);
    yk_vec3 centre = yk_m3_apply(rotation, at.moment);
    loads->potential = -yk_v3_dot(gravity, yk_v3_axpy(body->mass, motion->frame.position, centre));
    energies(body, motion, &at, &s, loads);
    loads->force = yk_m3_apply(rotation, force);
    loads->torque = yk_m3_apply(rotation, torque);
}

void yk_ffrf_rest(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, yk_momentum *momentum,
                  double *modal_momentum, yk_ffrf_loads *loads)
{
    if (body->constant_mass) {
        rest_of_constant(body, motion, gravity, momentum, modal_momentum, loads);
    } else {
        yk_ffrf_rest_of_changing(body, motion, gravity, momentum, modal_momentum, loads);
    }
}
