/* Momenta and energies of flexible bodies. */
#include "smooth/flexible_kind.h"

void yk_smooth_flexible_inertias(const yk_smooth_model *model, yk_smooth_workspace *work,
                                 bool with_rates)
{
    yk_smooth_gather_flexibles(model, work);
    double inverse = with_rates ? 1 / work->c : 0;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        double *momentum = work->flexibles[i].second; /* gathered anew before it is read again */

        yk_flexible_kind_of(of->body)->momenta(model, work, i, with_rates, momentum);

        /* Their rates as the step has them: p' = (p - past) / c. */
        trial_coordinate *trial = &work->coordinates[of->coordinate];
        for (int k = 0; k < of->body->coordinates; k++) {
            trial[k].momentum = momentum[k];
            if (with_rates)
                trial[k].momentum_rate = inverse * (trial[k].momentum - trial[k].momentum_past);
        }
    }
}

void yk_smooth_flexible_momenta(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    yk_smooth_gather_flexibles(model, work);
    for (int i = 0; i < model->def.flexible_count; i++)
        yk_flexible_kind_of(model->flexibles[i].body)->momentum_rates(model, work, i);
    yk_smooth_gather_flexibles(model, work);
}

/* Asks for a model between steps, whose attachments have been shown: the gathered values are
 * those of the trial. */
static void sum_energies(const yk_smooth_model *model, const yk_smooth_workspace *work,
                         yk_energy *energy, double *loss)
{
    for (int i = 0; i < model->def.flexible_count; i++)
        yk_flexible_kind_of(model->flexibles[i].body)->energy(model, work, i, energy, loss);
}

void yk_smooth_flexible_energy(const yk_smooth_model *model, const yk_smooth_workspace *work,
                               yk_energy *energy)
{
    double loss = 0;
    sum_energies(model, work, energy, &loss);
}

double yk_smooth_flexible_loss(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    bool damped = false;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const yk_flexible *body = model->flexibles[i].body;
        damped |= body->modal.damped || body->element.damping_ratio > 0;
    }

    if (!damped)
        return 0;

    yk_energy energy = {0};
    double loss = 0;
    sum_energies(model, work, &energy, &loss);

    return loss;
}

double yk_smooth_flexible_strain(const yk_smooth_model *model, const yk_smooth_workspace *work,
                                 int flexible)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return yk_flexible_kind_of(body)->strain_energy(body, &work->flexibles[flexible]);
}
