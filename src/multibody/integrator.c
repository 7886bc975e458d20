/* The available integrators: one row per kind. */
#include "multibody/integrator.h"

/* Largest number of internal steps in one call. Inputs are polynomials of low degree over the step:
 * a coupling that needs more cannot be accurate. */
enum { COUPLED_ATTEMPTS_MAX = 2000, ATTEMPTS_MAX = 1000000 };

const integrator *yk_multibody_integrator_of(yk_multibody_integrator kind)
{
    static const integrator *const table[YK_MULTIBODY_INTEGRATOR_COUNT] = {
        [YK_MULTIBODY_TWO_STEP] = &yk_multibody_two_step,
        [YK_MULTIBODY_RUNGE_KUTTA] = &yk_multibody_runge_kutta,
        [YK_MULTIBODY_GENERALIZED_ALPHA] = &yk_multibody_generalized_alpha,
        [YK_MULTIBODY_CHEBYSHEV] = &yk_multibody_chebyshev,
    };

    if ((unsigned)kind >= YK_MULTIBODY_INTEGRATOR_COUNT)
        return NULL;

    return table[kind];
}

/* Compliance for redundant joint equations: 1e-14 length scales per unit of acceleration of the
 * typical mass, in the units of the matrix. It selects the multipliers of least norm and causes no
 * visible gap. */
double yk_multibody_redundant_compliance(const yk_multibody_model *model,
                                         const yk_multibody_state *state,
                                         const yk_multibody_workspace *work)
{
    if (state->clock->redundant == 0)

        return 0;
    return fmax(1e-14 * model->length_scale / (work->c * work->c), 1e-14);
}

double yk_multibody_next_size(double chosen, double left)
{
    if (left <= chosen * (1 + 1e-9))

        return left;
    return left < 2 * chosen ? 0.5 * left : chosen;
}

yk_status yk_multibody_go_on(const yk_multibody_model *model, double t, double h, double done,
                             int attempts)
{
    if (yk_context_should_stop(model->context))
        return yk_fail(model->context, YK_ERROR_ABORTED, "%s: stopped at t = %g", model->def.name,
                       t + done);
    int most = model->def.port_count > 0 ? COUPLED_ATTEMPTS_MAX : ATTEMPTS_MAX;
    if (attempts < most)
        return YK_OK;

    return yk_fail(model->context, YK_ERROR_DIVERGED,
                   "%s: %d internal steps have led from t = %g only %.3g %% of the way to t = %g, "
                   "which is the limit: motions or forces are too fast for this step; use a "
                   "smaller step, a larger tolerance, or look for what makes them so fast",
                   model->def.name, most, t, 100 * done / h, t + h);
}

void yk_multibody_predict_taylor(const yk_multibody_model *model, const yk_multibody_state *state,
                                 int i, double h, trial_node *node)
{
    (void)model;
    const node_state *now = &state->now[i];
    yk_vec3 v = now->velocity;
    yk_vec3 a = now->acceleration;
    yk_vec3 w = now->angular_velocity;
    yk_vec3 b = now->angular_acceleration;
    double half = 0.5 * h * h;

    /* To second order in h, with the rotation in the chart around the present one. */
    node->frame.position = yk_v3_axpy(h, v, yk_v3_axpy(half, a, now->position));
    node->frame.velocity = yk_v3_axpy(h, a, v);
    node->frame.angular_velocity = yk_v3_axpy(h, b, w);
    node->rotation = yk_rotation_of(yk_v3_axpy(h, w, yk_v3_scale(half, b)));
    node->orientation = yk_q_unit(yk_q_mul(node->rotation.quaternion, now->orientation));
    node->frame.rotation = yk_q_matrix(node->orientation);
    node->acceleration = a;
    node->angular_acceleration = b;
}

void yk_multibody_move_along(const yk_multibody_model *model, const yk_multibody_state *state,
                             yk_multibody_workspace *work, double s)
{
    for (int i = 0; i < model->node_count; i++)
        yk_multibody_predict_taylor(model, state, i, s, &work->trial[i]);

    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        work->coordinates[k].value = now->value + s * (now->rate + 0.5 * s * now->acceleration);
        work->coordinates[k].rate = now->rate + s * now->acceleration;
    }

    work->t = state->clock->t + s;
    work->input_time = s;
    yk_multibody_input_frames(model, work);
}
