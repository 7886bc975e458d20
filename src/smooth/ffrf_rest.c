/* A floating-frame body by its momenta, in one pass over the shapes: what an iteration of a time integration asks for
 * most often, so everything that follows from sums is never formed by shape. With Y_i = int u (du/dp_i)^T, seen from the frame,
 *
 *   dT/dp_i = Y_i : (w.w I - w w^T) + w . sum_j axial(pair_ji) p_j' + (v x w) . S_i + v . sum_j curve_ij p_j'
 *   T = (v.p + w.l + p_i' pi_i) / 2 */
#include "smooth/ffrf_shape.h"

/* Sums over all shapes. */
typedef struct sums {
    yk_vec3 moment, linear, angular;
    yk_mat3 second; /* without the transposed share */
    double kinetic, elastic, loss;
} sums;

static double row_times(const double *matrix, int n, int i, bool diagonal, const double *vector)
{
    if (diagonal) return matrix[(n + 1) * i] * vector[i];
    double sum = 0;
    for (int j = 0; j < n; j++) sum += matrix[n * i + j] * vector[j];
    return sum;
}

static double contract(const yk_mat3 *a, const yk_mat3 *b)
{
    double sum = 0;
    for (int r = 0; r < 3; r++) sum += a->m[r][0] * b->m[r][0] + a->m[r][1] * b->m[r][1] + a->m[r][2] * b->m[r][2];
    return sum;
}

/* Y_i at the given amplitudes. */
static yk_mat3 spread_at(const yk_ffrf *body, int i, const double *amplitude)
{
    yk_mat3 y = body->spread[i];
    double *entry = &y.m[0][0];
    for (int k = body->first_term[i]; k < body->first_term[i + 1]; k++)
        entry[body->terms[k].entry] += body->terms[k].value * amplitude[body->terms[k].j];
    return y;
}

/* Of all shapes: S_i - shift_i from the amplitudes, and the parts of the slopes that are linear in the rates. */
static void list_sums(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 v, yk_vec3 w, yk_vec3 *bend,
                      double *slope)
{
    for (int i = 0; i < body->modes; i++) bend[i] = yk_v3(0, 0, 0), slope[i] = 0;
    for (int k = 0; k < body->curve_count; k++) {
        const yk_ffrf_bend *curve = &body->curves[k];
        bend[curve->i] = yk_v3_axpy(motion->amplitude[curve->j], curve->value, bend[curve->i]);
        slope[curve->i] += motion->rate[curve->j] * yk_v3_dot(v, curve->value);
    }
    for (int k = 0; k < body->swirl_count; k++) {
        const yk_ffrf_bend *swirl = &body->swirls[k];
        slope[swirl->i] += motion->rate[swirl->j] * yk_v3_dot(w, swirl->value);
    }
}

static void add_shape(const yk_ffrf *body, const yk_ffrf_motion *motion, int i, yk_vec3 v, yk_vec3 w, yk_vec3 pull,
                      const yk_mat3 *whirl, yk_vec3 bend, double slope, double *momentum, double *load, sums *sum)
{
    int n = body->modes;
    double p = motion->amplitude[i], rate = motion->rate[i];
    yk_mat3 y = spread_at(body, i, motion->amplitude);
    yk_vec3 shift = yk_v3_add(body->shift[i], bend), spin = yk_ffrf_axial(&y);
    double elastic = row_times(body->stiffness, n, i, body->diagonal, motion->amplitude);
    double viscous = body->damped ? row_times(body->damping, n, i, false, motion->rate) : 0;
    double own = row_times(body->modal_mass, n, i, body->diagonal, motion->rate);
    *momentum = yk_v3_dot(shift, v) + yk_v3_dot(spin, w) + own;
    *load = elastic + viscous - (contract(&y, whirl) + slope + yk_v3_dot(pull, shift));
    sum->moment = yk_v3_axpy(p, yk_v3_axpy(0.5, bend, body->shift[i]), sum->moment);
    sum->linear = yk_v3_axpy(rate, shift, sum->linear);
    sum->angular = yk_v3_axpy(rate, spin, sum->angular);
    for (int k = 0; k < 9; k++)
        (&sum->second.m[0][0])[k] += 0.5 * p * ((&y.m[0][0])[k] + (&body->spread[i].m[0][0])[k]);
    sum->kinetic += 0.5 * rate * *momentum;
    sum->elastic += 0.5 * p * elastic;
    sum->loss += rate * viscous;
}

void yk_ffrf_rest_of_changing(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, yk_momentum *momentum,
                              double *modal_momentum, yk_ffrf_loads *loads)
{
    const yk_mat3 turn = motion->frame.rotation;
    yk_vec3 v = yk_m3_apply_transposed(turn, motion->frame.velocity);
    yk_vec3 w = yk_m3_apply_transposed(turn, motion->frame.angular_velocity);
    yk_vec3 g = yk_m3_apply_transposed(turn, gravity), pull = yk_v3_add(yk_v3_cross(v, w), g);
    double square = yk_v3_norm2(w), slope[YK_FFRF_MODES_MAX];
    yk_mat3 whirl = yk_m3_sub(yk_m3_diagonal(square, square, square), yk_m3_outer(w, w));
    yk_vec3 bend[YK_FFRF_MODES_MAX];
    list_sums(body, motion, v, w, bend, slope);
    sums sum = {.moment = body->moment};
    for (int i = 0; i < body->modes; i++)
        add_shape(body, motion, i, v, w, pull, &whirl, bend[i], slope[i], &modal_momentum[i], &loads->modal[i], &sum);
    yk_mat3 second = yk_m3_add(body->second, yk_m3_add(sum.second, yk_m3_transpose(sum.second)));
    yk_mat3 tensor = yk_ffrf_tensor(&second);
    yk_vec3 linear = yk_v3_add(yk_v3_axpy(body->mass, v, yk_v3_cross(w, sum.moment)), sum.linear);
    yk_vec3 angular = yk_v3_add(yk_v3_add(yk_v3_cross(sum.moment, v), yk_m3_apply(tensor, w)), sum.angular);
    *momentum = (yk_momentum){yk_m3_apply(turn, linear), yk_m3_apply(turn, angular)};
    yk_vec3 centre = yk_m3_apply(turn, sum.moment);
    loads->force = yk_v3_scale(-body->mass, gravity);
    loads->torque = yk_v3_neg(yk_v3_cross(centre, gravity));
    loads->kinetic = sum.kinetic + 0.5 * (yk_v3_dot(v, linear) + yk_v3_dot(w, angular));
    loads->potential = sum.elastic - yk_v3_dot(gravity, yk_v3_axpy(body->mass, motion->frame.position, centre));
    loads->loss = sum.loss;
}
