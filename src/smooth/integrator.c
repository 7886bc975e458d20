/* The integrators that a model can be given: one row per kind. */
#include "smooth/internal.h"

const integrator *yk_smooth_integrator_of(yk_smooth_integrator kind)
{
    static const integrator *const table[YK_SMOOTH_INTEGRATORS] = {[YK_SMOOTH_TWO_STEP] = &yk_smooth_two_step,
                                                                   [YK_SMOOTH_RUNGE_KUTTA] = &yk_smooth_runge_kutta,
                                                                   [YK_SMOOTH_GENERALISED_ALPHA] =
                                                                       &yk_smooth_generalised_alpha};
    return table[kind];
}

double yk_smooth_next_size(double chosen, double left)
{
    if (left <= chosen * (1 + 1e-9)) return left;
    return left < 2 * chosen ? 0.5 * left : chosen;
}

void yk_smooth_predict_taylor(const yk_smooth *model, int i, double h, trial_node *node)
{
    const node_state *now = &model->state.now[i];
    node->frame.position = yk_v3_axpy(h, now->velocity, yk_v3_axpy(0.5 * h * h, now->acceleration, now->position));
    node->frame.velocity = yk_v3_axpy(h, now->acceleration, now->velocity);
    node->turn = yk_turn_of(yk_v3_axpy(h, now->angular_velocity, yk_v3_scale(0.5 * h * h, now->angular_acceleration)));
    node->orientation = yk_q_unit(yk_q_mul(node->turn.rotation, now->orientation));
    node->frame.rotation = yk_q_matrix(node->orientation);
    node->frame.angular_velocity = yk_v3_axpy(h, now->angular_acceleration, now->angular_velocity);
    node->acceleration = now->acceleration;
    node->angular_acceleration = now->angular_acceleration;
}

void yk_smooth_move_along(yk_smooth *model, double s)
{
    for (int i = 0; i < model->node_count; i++) yk_smooth_predict_taylor(model, i, s, &model->trial[i]);
    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &model->state.coordinate_now[k];
        model->coordinates[k].value = now->value + s * (now->rate + 0.5 * s * now->acceleration);
        model->coordinates[k].rate = now->rate + s * now->acceleration;
    }

    model->t = model->state.clock->t + s;
    model->input_time = s;
    yk_smooth_input_frames(model);
}
