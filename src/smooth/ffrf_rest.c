/* A floating-frame body by its momenta, in one pass over the shapes: what an iteration of a time integration asks for
 * most often, so nothing is formed by shape of which only sums are needed. With Y_i = int u (du/dp_i)^T = spread_i +
 * pair_ij p_j, seen from the frame,
 *
 *   Gamma_i = axial(Y_i)
 *   dT/dp_i = Y_i : (w.w I - w w^T) + w . sum_j axial(pair_ji) p_j' + (v x w) . S_i + v . sum_j curve_ij p_j'
 *   T = (v.p + w.l + p_i' pi_i) / 2 */
#include "smooth/ffrf_shape.h"

/* Of each shape, from the lists of what is not zero. */
typedef struct fractions {
    yk_vec3 bend[YK_FFRF_MODES_MAX];   /* S_i - shift_i */
    double spin[YK_FFRF_MODES_MAX][3]; /* Gamma_i */
    double slope[YK_FFRF_MODES_MAX];   /* what the rates have in dT/dp_i */
} fractions;

static void find_fractions(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 v, yk_vec3 w, fractions *of)
{
    for (int i = 0; i < body->modes; i++) {
        of->bend[i] = yk_v3(0, 0, 0);
        yk_vec3 spin = yk_ffrf_axial(&body->spread[i]);
        of->spin[i][0] = spin.x, of->spin[i][1] = spin.y, of->spin[i][2] = spin.z;
        of->slope[i] = 0;
    }
    for (int k = 0; k < body->curve_count; k++) {
        const yk_ffrf_bend *curve = &body->curves[k];
        of->bend[curve->i] = yk_v3_axpy(motion->amplitude[curve->j], curve->value, of->bend[curve->i]);
        of->slope[curve->i] += motion->rate[curve->j] * yk_v3_dot(v, curve->value);
    }
    const double rotating[3] = {w.x, w.y, w.z};
    for (int k = 0; k < body->swirl_count; k++) { /* axial(pair_ji) */
        const yk_ffrf_swirl *swirl = &body->swirls[k];
        of->slope[swirl->i] += motion->rate[swirl->j] * rotating[swirl->axis] * swirl->value;
        of->spin[swirl->j][swirl->axis] += motion->amplitude[swirl->i] * swirl->value;
    }
}

static double row_times(const double *matrix, int n, int i, bool diagonal, const double *vector)
{
    if (diagonal) return matrix[(n + 1) * i] * vector[i];
    double sum = 0;
    for (int j = 0; j < n; j++) sum += matrix[n * i + j] * vector[j];
    return sum;
}

/* Y_i : whirl */
static double whirled(const yk_ffrf *body, int i, const double *amplitude, const yk_mat3 *whirl)
{
    const double *spread = &body->spread[i].m[0][0], *factor = &whirl->m[0][0];
    double sum = 0, change = 0;
    for (int k = 0; k < 9; k++) sum += spread[k] * factor[k];
    for (int k = body->first_term[i]; k < body->first_term[i + 1]; k++)
        change += body->terms[k].value * amplitude[body->terms[k].j] * factor[body->terms[k].entry];
    return sum + change;
}

static yk_mat3 second_at(const yk_ffrf *body, const double *p)
{
    double sum[YK_FFRF_SYMMETRIC];
    for (int e = 0; e < YK_FFRF_SYMMETRIC; e++) {
        double square = 0;
        for (int k = body->first_square[e]; k < body->first_square[e + 1]; k++)
            square += body->squares[k].value * p[body->squares[k].i] * p[body->squares[k].j];
        sum[e] = square;
    }
    for (int i = 0; i < body->modes; i++) {
        const yk_mat3 *a = &body->spread[i];
        for (int k = 0; k < 3; k++) sum[k] += 2 * p[i] * a->m[k][k];
        sum[3] += p[i] * (a->m[0][1] + a->m[1][0]);
        sum[4] += p[i] * (a->m[0][2] + a->m[2][0]);
        sum[5] += p[i] * (a->m[1][2] + a->m[2][1]);
    }
    yk_mat3 change = {{{sum[0], sum[3], sum[4]}, {sum[3], sum[1], sum[5]}, {sum[4], sum[5], sum[2]}}};
    return yk_m3_add(body->second, change);
}

void yk_ffrf_rest_of_changing(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, yk_momentum *momentum,
                              double *modal_momentum, yk_ffrf_loads *loads)
{
    const yk_mat3 rotation = motion->frame.rotation;
    const double *p = motion->amplitude, *rate = motion->rate;
    int n = body->modes;
    yk_vec3 v = yk_m3_apply_transposed(rotation, motion->frame.velocity);
    yk_vec3 w = yk_m3_apply_transposed(rotation, motion->frame.angular_velocity);
    yk_vec3 pull = yk_v3_add(yk_v3_cross(v, w), yk_m3_apply_transposed(rotation, gravity));
    double square = yk_v3_norm2(w), kinetic = 0, strain = 0, loss = 0;
    yk_mat3 whirl = yk_m3_sub(yk_m3_diagonal(square, square, square), yk_m3_outer(w, w));
    yk_vec3 moment = body->moment, linear = {0, 0, 0}, angular = {0, 0, 0};
    fractions of;
    find_fractions(body, motion, v, w, &of);
    for (int i = 0; i < n; i++) {
        yk_vec3 shift = yk_v3_add(body->shift[i], of.bend[i]);
        yk_vec3 spin = {of.spin[i][0], of.spin[i][1], of.spin[i][2]};
        double elastic = row_times(body->stiffness, n, i, body->diagonal, p);
        double viscous = body->damped ? row_times(body->damping, n, i, false, rate) : 0;
        double own = row_times(body->modal_mass, n, i, body->diagonal, rate);
        double slope = of.slope[i] + whirled(body, i, p, &whirl) + yk_v3_dot(pull, shift);
        modal_momentum[i] = yk_v3_dot(shift, v) + yk_v3_dot(spin, w) + own;
        loads->modal[i] = elastic + viscous - slope;
        moment = yk_v3_axpy(p[i], yk_v3_axpy(0.5, of.bend[i], body->shift[i]), moment);
        linear = yk_v3_axpy(rate[i], shift, linear);
        angular = yk_v3_axpy(rate[i], spin, angular);
        kinetic += 0.5 * rate[i] * modal_momentum[i];
        strain += 0.5 * p[i] * elastic;
        loss += rate[i] * viscous;
    }
    yk_mat3 second = second_at(body, p), tensor = yk_ffrf_tensor(&second);
    linear = yk_v3_add(yk_v3_axpy(body->mass, v, yk_v3_cross(w, moment)), linear);
    angular = yk_v3_add(yk_v3_add(yk_v3_cross(moment, v), yk_m3_apply(tensor, w)), angular);
    *momentum = (yk_momentum){yk_m3_apply(rotation, linear), yk_m3_apply(rotation, angular)};
    yk_vec3 centre = yk_m3_apply(rotation, moment);
    loads->force = yk_v3_scale(-body->mass, gravity);
    loads->torque = yk_v3_neg(yk_v3_cross(centre, gravity));
    loads->kinetic = kinetic + 0.5 * (yk_v3_dot(v, linear) + yk_v3_dot(w, angular));
    loads->potential = strain - yk_v3_dot(gravity, yk_v3_axpy(body->mass, motion->frame.position, centre));
    loads->loss = loss;
}
