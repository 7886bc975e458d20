/* A consistent start: positions that satisfy the joints, then velocities, then accelerations and multipliers.
 *
 * All three use the matrix of the masses, | M/s G^T; G -e |: positions and velocities move as little as possible in the
 * metric of the masses, so a rough guess becomes the nearest assembled state. The small e keeps the matrix regular when
 * joints are redundant; refinement against the equations without e removes its effect, and leaves multipliers of least
 * norm. */
#include <string.h>

#include "math/so3.h"
#include "smooth/internal.h"

static const double start_compliance = 1e-9;
/* A massless node takes this share of the typical mass. */
static const double start_idle_mass = 1e-6;
static const int refinements = 6;
static const int assembly_iterations = 100;

static void initial_state(yk_smooth *model, double t, double h)
{
    memset(model->image, 0, model->image_words * sizeof *model->image);
    for (int i = 0; i < model->node_count; i++) {
        const yk_smooth_node_def *node = &model->def.nodes[i];
        node_state *now = &model->state.now[i];
        now->position = yk_v3_add(node->position, node->displacement);
        now->orientation = yk_q_unit(node->orientation);
        if (yk_v3_norm2(node->rotation) > 0)
            now->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(node->rotation), now->orientation));
        now->velocity = node->velocity;
        now->angular_velocity = node->angular_velocity;
        model->state.before[i].orientation = now->orientation;
    }
    yk_smooth_start_flexibles(model);
    clock_state *clock = model->state.clock;
    clock->t = t;
    clock->h = h;
    for (int i = 0; i < model->def.port_count; i++) model->ports[i].effort = (yk_effort){0};
    for (int i = model->node_count; i < model->frame_count; i++) model->trial[i].frame = yk_frame_ground();
    yk_smooth_keep_inputs(model);
    model->factors_match = false;
    yk_smooth_trial_from_state(model);
}

/* b - A x with the matrix without its compliance, all in scaled unknowns. */
static void residual_without_compliance(yk_smooth *model, const double *x, const double *b, double *residual)
{
    yk_sparse_multiply(model->matrix, x, residual);
    for (int i = model->motion_count; i < model->unknown_count; i++) residual[i] += model->compliance * x[i];
    for (int i = 0; i < model->unknown_count; i++) residual[i] = b[i] - residual[i];
}

/* Solves with the factors at hand; the solution replaces model->right. */
void yk_smooth_solve_refined(yk_smooth *model)
{
    size_t n = (size_t)model->unknown_count;
    double *solution = model->work_vector, *residual = model->work_vector + n, *b = model->right;
    for (size_t i = 0; i < n; i++) b[i] *= model->unknown_scale[i];
    memset(solution, 0, n * sizeof *solution);
    memcpy(residual, b, n * sizeof *b);
    for (int k = 0; k < refinements; k++) {
        yk_sparse_solve(model->matrix, residual);
        for (size_t i = 0; i < n; i++) solution[i] += residual[i];
        residual_without_compliance(model, solution, b, residual);
    }
    for (size_t i = 0; i < n; i++) b[i] = solution[i] * model->unknown_scale[i];
}

static yk_status factor_start(yk_smooth *model)
{
    int column = 0;
    yk_status status = yk_sparse_factor(model->matrix, &column);
    char owner[128];
    if (status == YK_ERROR_SINGULAR)
        return yk_fail(model->context, status, "%s: the start has no unique solution at %s: give it mass or a joint",
                       model->def.name, yk_smooth_owner(model, column, owner, sizeof owner));
    return status;
}

/* Joint with the largest residual in a right-hand side. */
static int worst_row(const yk_smooth *model, const double *right, double *size)
{
    int worst = 0;
    *size = 0;
    for (int r = 0; r < model->row_count; r++) {
        double value = fabs(right[model->motion_count + r]);
        if (value > *size || isnan(value)) *size = value, worst = r;
    }
    return model->motion_count + worst;
}

double yk_smooth_share(const yk_smooth *model, int unknown)
{
    if (unknown >= model->coordinate_first) return model->share[unknown - model->coordinate_first];
    return yk_smooth_turns(model, unknown) ? 1 : 1 / model->length_scale;
}

double yk_smooth_largest_change(const yk_smooth *model)
{
    double largest = 0;
    for (int i = 0; i < model->motion_count; i++)
        largest = fmax(largest, fabs(model->right[i]) * yk_smooth_share(model, i));
    return largest;
}

void yk_smooth_move_nodes(yk_smooth *model, double share)
{
    for (int i = 0; i < model->node_count; i++) {
        const double *change = &model->right[model->nodes[i].unknown];
        trial_node *node = &model->trial[i];
        node->frame.position = yk_v3_axpy(share, yk_v3(change[0], change[1], change[2]), node->frame.position);
        yk_turn turn = yk_turn_of(yk_v3_scale(share, yk_v3(change[3], change[4], change[5])));
        node->orientation = yk_q_unit(yk_q_mul(turn.rotation, node->orientation));
        node->frame.rotation = yk_q_matrix(node->orientation);
    }
    for (int k = 0; k < model->coordinate_count; k++)
        model->coordinates[k].value += share * model->right[model->coordinate_first + k];
}

/* Gauss-Newton with steps of at most half a length scale or half a radian. */
static yk_status assemble_positions(yk_smooth *model)
{
    double gap = 0, limit = model->def.options.assembly * fmax(1, model->length_scale);
    int worst = 0;
    for (int k = 0; k < assembly_iterations; k++) {
        yk_smooth_assemble(model, LEVEL_POSITION, true);
        worst = worst_row(model, model->right, &gap);
        if (gap == 0) return YK_OK;
        yk_status status = factor_start(model);
        if (status != YK_OK) return status;
        yk_smooth_solve_refined(model);
        double change = yk_smooth_largest_change(model);
        if (!isfinite(change)) break;
        yk_smooth_move_nodes(model, change > 0.5 ? 0.5 / change : 1);
        /* Converged quadratically: the next gap would be rounding. */
        if (gap < limit && change < 1e-6) return YK_OK;
    }
    if (gap < limit) return YK_OK;
    char owner[128];
    return yk_fail(
        model->context, YK_ERROR_NO_SOLUTION,
        "%s: the mechanism cannot be assembled at t = %g: %s stays open by %.3g (m or rad); check its markers "
        "and lengths, or start closer",
        model->def.name, model->t, yk_smooth_owner(model, worst, owner, sizeof owner), gap);
}

/* Adds the solution to the velocities; returns the largest speed. */
static double add_velocities(yk_smooth *model)
{
    double speed = 0;
    for (int i = 0; i < model->node_count; i++) {
        const double *change = &model->right[model->nodes[i].unknown];
        yk_frame *frame = &model->trial[i].frame;
        frame->velocity = yk_v3_add(frame->velocity, yk_v3(change[0], change[1], change[2]));
        frame->angular_velocity = yk_v3_add(frame->angular_velocity, yk_v3(change[3], change[4], change[5]));
        speed = fmax(speed, yk_v3_norm(frame->velocity) + model->length_scale * yk_v3_norm(frame->angular_velocity));
    }
    for (int k = 0; k < model->coordinate_count; k++)
        model->coordinates[k].rate += model->right[model->coordinate_first + k];
    return speed;
}

/* Nodes that are to be kept are only heavy, and move a little with the rest. A second round, from where the others are
 * now, leaves them what they were given to the last digit, unless the joints forbid it. */
static yk_status project_velocities(yk_smooth *model)
{
    yk_smooth_assemble(model, LEVEL_VELOCITY, true);
    yk_status status = factor_start(model);
    if (status != YK_OK) return status;
    yk_smooth_solve_refined(model);
    double speed = add_velocities(model);
    bool again = false;
    for (int i = 0; i < model->node_count; i++) {
        if (!model->nodes[i].keep) continue;
        yk_frame *frame = &model->trial[i].frame;
        const double *change = &model->right[model->nodes[i].unknown];
        frame->velocity = yk_v3_sub(frame->velocity, yk_v3(change[0], change[1], change[2]));
        frame->angular_velocity = yk_v3_sub(frame->angular_velocity, yk_v3(change[3], change[4], change[5]));
        again = true;
    }
    if (again) {
        yk_smooth_assemble(model, LEVEL_VELOCITY, false);
        yk_smooth_solve_refined(model);
        speed = add_velocities(model);
    }
    yk_smooth_assemble(model, LEVEL_VELOCITY, false);
    double rate;
    int worst = worst_row(model, model->right, &rate);
    if (rate <= 1e-6 * (1 + speed)) return YK_OK;
    char owner[128];
    return yk_fail(model->context, YK_ERROR_NO_SOLUTION,
                   "%s: no velocities satisfy all joints at t = %g: %s is off by %.3g (m/s or rad/s); its prescribed "
                   "motion contradicts the others",
                   model->def.name, model->t, yk_smooth_owner(model, worst, owner, sizeof owner), rate);
}

/* Rates of the momenta that belong to accelerations. */
static void momenta_from(yk_smooth *model, int i)
{
    trial_node *node = &model->trial[i];
    yk_inertia_global inertia;
    yk_vec3 force, torque;
    yk_inertia_turn(&model->nodes[i].inertia, &node->frame.rotation, &inertia);
    yk_inertia_bias(&inertia, &node->frame, &force, &torque);
    node->momentum = yk_inertia_momentum(&inertia, node->frame.velocity, node->frame.angular_velocity);
    yk_momentum change = yk_inertia_momentum(&inertia, node->acceleration, node->angular_acceleration);
    node->momentum_rate.linear = yk_v3_add(change.linear, force);
    node->momentum_rate.angular =
        yk_v3_sub(yk_v3_add(change.angular, torque), yk_v3_cross(node->frame.velocity, node->momentum.linear));
}

void yk_smooth_momenta(yk_smooth *model)
{
    for (int i = 0; i < model->node_count; i++) momenta_from(model, i);
    if (model->def.flexible_count) yk_smooth_flexible_momenta(model);
}

static yk_status solve_accelerations(yk_smooth *model)
{
    yk_smooth_momenta(model);
    yk_smooth_assemble(model, LEVEL_ACCELERATION, true);
    yk_status status = factor_start(model);
    if (status != YK_OK) return status;
    yk_smooth_solve_refined(model);
    for (int i = 0; i < model->node_count; i++) {
        const double *value = &model->right[model->nodes[i].unknown];
        trial_node *node = &model->trial[i];
        node->acceleration = yk_v3(value[0], value[1], value[2]);
        node->angular_acceleration = yk_v3(value[3], value[4], value[5]);
        momenta_from(model, i);
    }
    for (int k = 0; k < model->coordinate_count; k++)
        model->coordinates[k].acceleration = model->right[model->coordinate_first + k];
    if (model->def.flexible_count) yk_smooth_flexible_momenta(model);
    for (int r = 0; r < model->row_count; r++)
        model->lambda[r] = model->mass_scale * model->right[model->motion_count + r];
    return YK_OK;
}

static void keep_start(yk_smooth *model)
{
    yk_smooth_state_from_trial(model);
    yk_smooth_drive_powers(model);
    model->state.clock->supply = model->supply;
    model->state.clock->port_supply = model->port_supply;
    model->state.clock->loss = model->loss + yk_smooth_beam_loss(model);
}

/* From assembled positions in the trial: velocities, accelerations, redundancy, and the state of a run that begins. */
yk_status yk_smooth_begin(yk_smooth *model)
{
    model->c = 0;
    model->damping = yk_smooth_damping_at(model, model->t);
    model->compliance = start_compliance;
    model->idle_mass = start_idle_mass;
    model->factors_match = false;
    yk_status status = project_velocities(model);
    if (status != YK_OK) return status;
    status = solve_accelerations(model);
    if (status != YK_OK) return status;
    keep_start(model);
    yk_status outcome = yk_smooth_find_redundant(model); /* where no node is heavy because it is to be kept */
    if (outcome < 0) return outcome;
    model->idle_mass = 0;
    model->state.clock->steps = 0;
    status = model->integrator->begin(model);
    return status == YK_OK ? outcome : status;
}

/* Multipliers of constraints at position level repeat their errors by a factor of about -rho_inf from step to step, and by
 * more where the joints' directions turn. */
static void warn_of_undamped_reactions(const yk_smooth *model)
{
    const yk_smooth_options *options = &model->def.options;
    bool stabilised = options->integrator == YK_SMOOTH_GENERALISED_ALPHA && options->form == YK_SMOOTH_ODE;
    if (options->integrator == YK_SMOOTH_RUNGE_KUTTA || stabilised || model->row_count == 0 || options->rho_inf <= 0.9)
        return;
    yk_log(
        model->context, YK_LOG_WARNING,
        "%s: rho_inf = %g hardly damps errors of the joints' reactions, which may grow until the run fails: take 0.9 "
        "or less",
        model->def.name, options->rho_inf);
}

yk_status yk_smooth_consistent_start(yk_smooth *model, double t, double h)
{
    initial_state(model, t, h);
    model->report = (yk_smooth_report){.unknowns = model->unknown_count};
    model->told_cuts = false;
    model->input_time = 0;
    yk_smooth_input_frames(model);
    model->c = 0;
    model->damping = 0;
    model->compliance = start_compliance;
    model->idle_mass = start_idle_mass;
    yk_status status = assemble_positions(model);
    if (status != YK_OK) return status;
    status = yk_smooth_begin(model);
    warn_of_undamped_reactions(model);
    if (status < 0 || !model->def.options.static_start) return status;
    yk_status rest = yk_smooth_equilibrium(model);
    return rest == YK_OK ? yk_smooth_begin(model) : rest;
}
