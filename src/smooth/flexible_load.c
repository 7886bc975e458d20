/* Momenta and energies of flexible bodies. Momenta of a floating frame join those of what else is fixed to its node. */
#include <string.h>

#include "smooth/workspace.h"

static yk_ffrf_motion motion_of(const yk_smooth_workspace *work, const flexible_model *of, const flexible_trial *at)
{
    const trial_node *node = &work->trial[of->node];
    return (yk_ffrf_motion){.frame = node->frame,
                            .acceleration = node->acceleration,
                            .angular_acceleration = node->angular_acceleration,
                            .amplitude = at->value,
                            .rate = at->rate,
                            .second = at->second};
}

/* The mass matrix of a rod times the rates, or accelerations, of its coordinates. */
static void rod_momenta(const yk_flexible *body, const double *rate, double *momentum)
{
    memset(momentum, 0, (size_t)body->coordinates * sizeof *momentum);
    for (int e = 0; e < body->elements; e++)
        yk_ancf_momenta(&body->element, rate + yk_flexible_rod_node(e), momentum + yk_flexible_rod_node(e));
}

static void add_momentum(trial_node *node, yk_momentum add, double inverse)
{
    node->momentum.linear = yk_v3_add(node->momentum.linear, add.linear);
    node->momentum.angular = yk_v3_add(node->momentum.angular, add.angular);
    if (inverse == 0) return;
    node->momentum_rate.linear = yk_v3_scale(inverse, yk_v3_sub(node->momentum.linear, node->momentum_past.linear));
    node->momentum_rate.angular = yk_v3_scale(inverse, yk_v3_sub(node->momentum.angular, node->momentum_past.angular));
}

/* With the momenta of a modal body comes what is beside them: it is kept for the assembly of the step. */
void yk_smooth_flexible_inertias(const yk_smooth_model *model, yk_smooth_workspace *work, bool with_rates)
{
    double inverse = with_rates ? 1 / work->c : 0;
    yk_smooth_gather_flexibles(model, work);
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        const flexible_trial *at = &work->flexibles[i];
        double *momentum = at->second; /* gathered anew before it is read again */
        if (of->body->kind == YK_FLEXIBLE_MODAL) {
            yk_ffrf_motion motion = motion_of(work, of, at);
            yk_momentum frame;
            yk_ffrf_rest(&of->body->modal, &motion, model->def.gravity, &frame, momentum, at->loads);
            add_momentum(&work->trial[of->node], frame, inverse);
        } else {
            rod_momenta(of->body, at->rate, momentum);
        }
        for (int k = 0; k < of->body->coordinates; k++) {
            trial_coordinate *trial = &work->coordinates[of->coordinate + k];
            trial->momentum = momentum[k];
            if (with_rates) trial->momentum_rate = inverse * (trial->momentum - trial->momentum_past);
        }
    }
}

/* All loads at the accelerations less what is beside the momenta: the rates of the momenta. */
static void modal_momenta(const yk_smooth_model *model, yk_smooth_workspace *work, const flexible_model *of,
                          const flexible_trial *at)
{
    yk_ffrf_motion motion = motion_of(work, of, at);
    const yk_ffrf *body = &of->body->modal;
    double momentum[YK_FFRF_MODES_MAX];
    yk_ffrf_loads all, *rest = at->loads; /* kept for the assembly of the step */
    yk_momentum frame;
    yk_ffrf_evaluate(body, &motion, model->def.gravity, &all);
    yk_ffrf_rest(body, &motion, model->def.gravity, &frame, momentum, rest);
    trial_node *node = &work->trial[of->node];
    add_momentum(node, frame, 0);
    yk_vec3 torque = yk_v3_sub(all.torque, rest->torque);
    torque = yk_v3_sub(torque, yk_v3_cross(node->frame.velocity, frame.linear));
    node->momentum_rate.linear = yk_v3_add(node->momentum_rate.linear, yk_v3_sub(all.force, rest->force));
    node->momentum_rate.angular = yk_v3_add(node->momentum_rate.angular, torque);
    for (int k = 0; k < of->body->coordinates; k++) {
        work->coordinates[of->coordinate + k].momentum = momentum[k];
        work->coordinates[of->coordinate + k].momentum_rate = all.modal[k] - rest->modal[k];
    }
}

void yk_smooth_flexible_momenta(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    yk_smooth_gather_flexibles(model, work);
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        const flexible_trial *at = &work->flexibles[i];
        if (of->body->kind == YK_FLEXIBLE_MODAL) {
            modal_momenta(model, work, of, at);
            continue;
        }
        trial_coordinate *trial = &work->coordinates[of->coordinate];
        double *result = at->value; /* gathered anew before it is read again */
        rod_momenta(of->body, at->rate, result);
        for (int k = 0; k < of->body->coordinates; k++) trial[k].momentum = result[k];
        rod_momenta(of->body, at->second, result);
        for (int k = 0; k < of->body->coordinates; k++) trial[k].momentum_rate = result[k];
    }
    yk_smooth_gather_flexibles(model, work);
}

/* Energies ask for a model between steps, whose places have been shown: the gathered values are those of the trial. */
static void rod_energy(const yk_smooth_model *model, const flexible_model *of, const flexible_trial *at,
                       yk_energy *energy, double *loss)
{
    const yk_flexible *body = of->body;
    const yk_ancf *element = &body->element;
    for (int e = 0; e < body->elements; e++) {
        const double *q = at->value + yk_flexible_rod_node(e), *v = at->rate + yk_flexible_rod_node(e);
        yk_ancf_loads loads;
        yk_ancf_evaluate(element, q, v, &loads);
        *loss += loads.loss;
        energy->potential += loads.energy;
        for (int i = 0; i < YK_ANCF_VECTORS; i++) {
            yk_vec3 r = {q[3 * i], q[3 * i + 1], q[3 * i + 2]}, u = {v[3 * i], v[3 * i + 1], v[3 * i + 2]};
            energy->potential -= element->weight[i] * yk_v3_dot(model->def.gravity, r);
            for (int j = 0; j < YK_ANCF_VECTORS; j++) {
                yk_vec3 w = {v[3 * j], v[3 * j + 1], v[3 * j + 2]};
                energy->kinetic += 0.5 * element->mass[i][j] * yk_v3_dot(u, w);
            }
        }
    }
}

static void sum_energies(const yk_smooth_model *model, const yk_smooth_workspace *work, yk_energy *energy, double *loss)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        const flexible_trial *at = &work->flexibles[i];
        if (of->body->kind == YK_FLEXIBLE_ROD) {
            rod_energy(model, of, at, energy, loss);
            continue;
        }
        yk_ffrf_motion motion = motion_of(work, of, at);
        yk_ffrf_loads loads;
        yk_momentum frame;
        double momentum[YK_FFRF_MODES_MAX];
        yk_ffrf_rest(&of->body->modal, &motion, model->def.gravity, &frame, momentum, &loads);
        energy->kinetic += loads.kinetic;
        energy->potential += loads.potential;
        *loss += loads.loss;
    }
}

void yk_smooth_flexible_energy(const yk_smooth_model *model, const yk_smooth_workspace *work, yk_energy *energy)
{
    double loss = 0;
    sum_energies(model, work, energy, &loss);
}

double yk_smooth_flexible_loss(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    yk_energy energy = {0};
    double loss = 0;
    bool damped = false;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const yk_flexible *body = model->flexibles[i].body;
        damped |= body->modal.damped || body->element.damping_ratio > 0;
    }
    if (damped) sum_energies(model, work, &energy, &loss);
    return loss;
}

double yk_smooth_flexible_strain(const yk_smooth_model *model, const yk_smooth_workspace *work, int flexible)
{
    const flexible_trial *at = &work->flexibles[flexible];
    const yk_flexible *body = model->flexibles[flexible].body;
    double sum = 0;
    for (int e = 0; e < body->elements; e++) {
        yk_ancf_loads loads;
        yk_ancf_evaluate(&body->element, at->value + yk_flexible_rod_node(e), at->rate + yk_flexible_rod_node(e),
                         &loads);
        sum += loads.energy;
    }
    int n = body->modal.modes;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) sum += 0.5 * body->modal.stiffness[n * i + j] * at->value[i] * at->value[j];
    return sum;
}
