/* A consistent start: positions that satisfy the joints, then velocities, then accelerations and
 * multipliers; and which joint equations are redundant.
 *
 * All of them use the matrix of the masses, | M/s G^T; G -e |: positions and velocities move as
 * little as possible in the metric of the masses, so a rough guess becomes the nearest assembled
 * state. The small e keeps the matrix regular when joints are redundant; refinement against the
 * equations without e removes its effect, and leaves multipliers of least norm. */
#include <string.h>

#include "base/text.h"
#include "math/so3.h"
#include "smooth/internal.h"

/* Redundant joint equations -------------------------------------------------------------------- */

/* How many there are, and whose.
 *
 * Multipliers y with G^T y = 0 change nothing in the motion. They are found by inverse iteration
 * with the factored matrix of the start, whose Schur complement is -(G M^-1 G^T s + e): a vector
 * without components in that null space grows by at most 1/(smallest eigenvalue), one inside by
 * 1/e. Vectors are found one by one, each orthogonal to those before, until one is not annihilated
 * by G^T. Iterations go on while |G^T y| falls: light bodies have eigenvalues so close to e that a
 * few of them would not tell. The cost is that of a few sparse solutions per redundant equation,
 * so long chains are no burden.
 *
 * A model with redundant equations is integrated with a compliance of the joints so small that no
 * gap is seen, which singles out the multipliers of least norm (internal.h). */

enum {
    NULL_VECTORS_MAX = 256,
    NAMES_MAX = 12,
    INVERSE_ITERATIONS_LEAST = 3,
    INVERSE_ITERATIONS_MOST = 60
};

/* A vector with |G^T y| below this fraction of |y| counts as annihilated. */
static const double NULL_FRACTION = 1e-6;

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Unit vector orthogonal to the `count` rows of `basis`; false if nothing is left. */
static bool orthonormalise(int m, const double *basis, int count, double *y)
{
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < count; k++) {
            const double *row = basis + (size_t)k * (size_t)m;
            double along = dot(m, row, y);
            for (int i = 0; i < m; i++)
                y[i] -= along * row[i];
        }
    }

    double norm = sqrt(dot(m, y, y));
    if (!(norm > 1e-100))
        return false;

    for (int i = 0; i < m; i++)
        y[i] /= norm;

    return true;
}

static void put_multipliers(const yk_smooth_model *model, const double *y, double *full)
{
    memset(full, 0, (size_t)model->motion_count * sizeof *full);
    memcpy(full + model->motion_count, y, (size_t)model->row_count * sizeof *y);
}

/* The next vector of the null space, into y; false if there is no other. */
static bool next_null_vector(const yk_smooth_model *model, yk_smooth_workspace *work,
                             const yk_linear_solver *solver, const double *basis, int count,
                             uint64_t *seed, double *y)
{
    int m = model->row_count;

    /* From a vector at random, orthogonal to those that are known. */
    for (int i = 0; i < m; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        y[i] = (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
    }

    if (!orthonormalise(m, basis, count, y))
        return false;

    /* Inverse iteration, as long as |G^T y| falls. */
    double size = INFINITY;
    for (int k = 1; k <= INVERSE_ITERATIONS_MOST; k++) {
        put_multipliers(model, y, work->right);
        yk_sparse_solve(solver->matrix, work->right);
        memcpy(y, work->right + model->motion_count, (size_t)m * sizeof *y);
        if (!orthonormalise(m, basis, count, y))
            return false;
        if (k < INVERSE_ITERATIONS_LEAST)
            continue;

        /* |G^T y| */
        put_multipliers(model, y, work->right);
        yk_sparse_multiply(solver->matrix, work->right, work->work_vector);
        double now = sqrt(dot(model->motion_count, work->work_vector, work->work_vector));
        if (now < NULL_FRACTION)
            return true;
        if (!(now < 0.95 * size))
            return false;

        size = now;
    }

    return false;
}

/* Names the joints whose equations the vectors of the basis mix. */
static yk_status report_redundant(const yk_smooth_model *model, const double *basis, int count)
{
    /* Joints that have a part in any of the vectors. */
    yk_text names = {0};
    int involved = 0;

    for (int j = 0; j < model->joint_count; j++) {
        const joint_model *joint = &model->joints[j];
        double largest = 0;

        for (int k = 0; k < count; k++) {
            const double *row = basis + (size_t)k * (size_t)model->row_count + (size_t)joint->row;
            for (int r = 0; r < joint->joint.row_count; r++)
                largest = fmax(largest, fabs(row[r]));
        }

        if (largest < 1e-4)
            continue;

        const char *comma = involved > 0 ? ", " : "";
        if (involved++ < NAMES_MAX)
            yk_text_add(model->context, &names, "%s'%s'", comma, joint->name);
    }

    if (involved > NAMES_MAX)
        yk_text_add(model->context, &names, " and %d more", involved - NAMES_MAX);

    yk_status status =
        yk_fail(model->context, YK_REDUNDANT,
                "%s: %s%d joint equation%s redundant among the joints %s: reactions there are "
                "those of least norm; replace joints by ones that constrain less where they matter",
                model->def.name, count == NULL_VECTORS_MAX ? "at least " : "", count,
                count == 1 ? " is" : "s are", names.data ? names.data : "");
    yk_text_destroy(model->context, &names);

    return status;
}

/* With the factors of the start: YK_REDUNDANT with the joints in the message. */
static yk_status find_redundant(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_context *context = model->context;
    size_t m = (size_t)model->row_count;
    size_t capacity = 4;

    smooth->state.clock->redundant = 0;
    smooth->work.report.redundant = 0;
    if (m == 0)
        return YK_OK;

    double *basis = yk_allocate(context, capacity * m, sizeof *basis);
    if (!basis)
        return YK_ERROR_MEMORY;

    /* Vectors of the null space one by one, with memory for as many as there are. */
    uint64_t seed = 1;
    int count = 0;
    while (count < NULL_VECTORS_MAX && count < model->row_count) {
        double *next = basis + (size_t)count * m;
        if (!next_null_vector(model, &smooth->work, &smooth->solver, basis, count, &seed, next))
            break;

        if ((size_t)++count < capacity)
            continue;

        capacity *= 2;
        double *grown = yk_reallocate(context, basis, capacity * m, sizeof *basis);
        if (!grown) {
            yk_release(context, basis);
            return YK_ERROR_MEMORY;
        }

        basis = grown;
    }

    /* Steps will want multipliers of least norm. */
    smooth->work.report.redundant = count;
    smooth->state.clock->redundant = count > 0;

    yk_status status = YK_OK;
    if (count)
        status = report_redundant(model, basis, count);
    yk_release(context, basis);

    return status;
}

/* Positions, velocities, accelerations --------------------------------------------------------- */

static const double START_COMPLIANCE = 1e-9;
/* A massless node takes this fraction of the typical mass. */
static const double START_IDLE_MASS = 1e-6;
static const int ASSEMBLY_ITERATIONS = 100;

/* Solves with new factors of the assembled matrix. */
static yk_status solve_start(const yk_smooth_model *model, yk_smooth_workspace *work,
                             yk_linear_solver *solver)
{
    int column = 0;
    yk_status status = yk_sparse_factor(solver->matrix, &column);
    if (status == YK_ERROR_SINGULAR) {
        char owner[128];
        return yk_fail(model->context, status,
                       "%s: the start has no unique solution at %s: give it mass or a joint",
                       model->def.name, yk_smooth_owner(model, column, owner, sizeof owner));
    }

    if (status == YK_OK)
        yk_smooth_solve_refined(model, work, solver);

    return status;
}

/* The row with the largest residual in the right-hand side, as an unknown. */
static int worst_row(const yk_smooth_model *model, const yk_smooth_workspace *work, double *size)
{
    int worst = 0;
    *size = 0;
    for (int r = 0; r < model->row_count; r++) {
        double value = fabs(work->right[model->motion_count + r]);
        if (!(value > *size || isnan(value)))
            continue;

        *size = value;
        worst = r;
    }

    return model->motion_count + worst;
}

/* Gauss-Newton with steps of at most half a length scale or half a radian. */
static yk_status assemble_positions(const yk_smooth_model *model, yk_smooth_workspace *work,
                                    yk_linear_solver *solver)
{
    double gap = 0;
    double limit = model->def.options.assembly * fmax(1, model->length_scale);
    int worst = 0;

    for (int k = 0; k < ASSEMBLY_ITERATIONS; k++) {
        yk_smooth_assemble(model, work, solver, LEVEL_POSITION);
        worst = worst_row(model, work, &gap);
        if (gap == 0)
            return YK_OK;

        yk_status status = solve_start(model, work, solver);
        if (status != YK_OK)
            return status;

        double change = yk_smooth_largest_change(model, work);
        if (!isfinite(change))
            break;

        yk_smooth_move_nodes(model, work, change > 0.5 ? 0.5 / change : 1);

        /* Converged quadratically: the next gap would be rounding. */
        if (gap < limit && change < 1e-6)
            return YK_OK;
    }

    if (gap < limit)
        return YK_OK;

    char owner[128];
    return yk_fail(model->context, YK_ERROR_NO_SOLUTION,
                   "%s: the mechanism cannot be assembled at t = %g: %s stays open by %.3g (m or "
                   "rad); check its markers and lengths, or start closer",
                   model->def.name, work->t, yk_smooth_owner(model, worst, owner, sizeof owner),
                   gap);
}

static yk_status project_velocities(const yk_smooth_model *model, yk_smooth_workspace *work,
                                    yk_linear_solver *solver)
{
    /* The nearest velocities that satisfy all rows. */
    yk_smooth_assemble(model, work, solver, LEVEL_VELOCITY);
    yk_status status = solve_start(model, work, solver);
    if (status != YK_OK)
        return status;

    yk_smooth_add_velocities(model, work);

    /* Nodes that are to be kept are only heavy, and move a little with the rest. A second round,
     * from where the others are now, leaves them what they were given to the last digit, unless
     * the joints forbid it. */
    bool again = false;
    for (int i = 0; i < model->node_count; i++) {
        if (!model->nodes[i].keep)
            continue;

        yk_frame *frame = &work->trial[i].frame;
        const double *change = &work->right[model->nodes[i].unknown];
        yk_vec3 linear = {change[0], change[1], change[2]};
        yk_vec3 angular = {change[3], change[4], change[5]};
        frame->velocity = yk_v3_sub(frame->velocity, linear);
        frame->angular_velocity = yk_v3_sub(frame->angular_velocity, angular);
        again = true;
    }

    if (again) {
        yk_smooth_assemble(model, work, NULL, LEVEL_VELOCITY);
        yk_smooth_solve_refined(model, work, solver);
        yk_smooth_add_velocities(model, work);
    }

    /* What is left of the rows, against the largest speed. */
    double speed = 0;
    for (int i = 0; i < model->node_count; i++) {
        const yk_frame *frame = &work->trial[i].frame;
        double arc = model->length_scale * yk_v3_norm(frame->angular_velocity);
        speed = fmax(speed, yk_v3_norm(frame->velocity) + arc);
    }

    yk_smooth_assemble(model, work, NULL, LEVEL_VELOCITY);
    double rate;
    int worst = worst_row(model, work, &rate);
    if (rate <= 1e-6 * (1 + speed))
        return YK_OK;

    char owner[128];
    return yk_fail(model->context, YK_ERROR_NO_SOLUTION,
                   "%s: no velocities satisfy all joints at t = %g: %s is off by %.3g (m/s or "
                   "rad/s); its prescribed motion contradicts the others",
                   model->def.name, work->t, yk_smooth_owner(model, worst, owner, sizeof owner),
                   rate);
}

/* From assembled positions in the trial: velocities, accelerations, redundancy, and the state of
 * a run that begins. */
yk_status yk_smooth_begin_motion(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    clock_state *clock = state->clock;

    /* The matrix of the masses, with all nodes that have none held a little. */
    work->c = 0;
    work->damping = yk_smooth_damping_at(model, work->t);
    work->compliance = START_COMPLIANCE;
    work->idle_mass = START_IDLE_MASS;
    solver->match = false;
    yk_status status = project_velocities(model, work, solver);
    if (status != YK_OK)
        return status;

    /* Accelerations and multipliers; artificial damping needs the momenta before, the state those
     * after. */
    yk_smooth_momenta(model, work);
    yk_smooth_assemble(model, work, solver, LEVEL_ACCELERATION);
    status = solve_start(model, work, solver);
    if (status != YK_OK)
        return status;

    yk_smooth_read_accelerations(model, work);
    yk_smooth_momenta(model, work);

    /* The state, and the powers at its time. */
    yk_smooth_state_from_trial(model, state, work);
    yk_smooth_drive_powers(model, work);
    clock->supply = work->supply;
    clock->port_supply = work->port_supply;
    clock->loss = work->loss + yk_smooth_beam_loss(model, work);

    /* Redundant rows, with the matrix in which no node is heavy because it is to be kept. */
    yk_status outcome = find_redundant(smooth);
    if (YK_FAILED(outcome))
        return outcome;

    /* The integrator's own first factors. */
    work->idle_mass = 0;
    clock->steps = 0;
    status = model->integrator->begin(smooth);
    return status == YK_OK ? outcome : status;
}

/* Where a node is given to start: displacements and rotations come on top of the reference pose. */
static void given_pose(const yk_smooth_node_def *node, yk_vec3 *position, yk_quat *orientation)
{
    *position = yk_v3_add(node->position, node->displacement);
    *orientation = yk_q_unit(node->orientation);
    if (yk_v3_norm2(node->rotation) > 0)
        *orientation = yk_q_unit(yk_q_mul(yk_so3_exp(node->rotation), *orientation));
}

/* The state as the def has it, before any joint is satisfied. */
static void initial_state(yk_smooth *smooth, double t, double h)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;

    memset(state->image, 0, state->words * sizeof *state->image);

    for (int i = 0; i < model->node_count; i++) {
        const yk_smooth_node_def *node = &model->def.nodes[i];
        node_state *now = &state->now[i];

        given_pose(node, &now->position, &now->orientation);
        now->velocity = node->velocity;
        now->angular_velocity = node->angular_velocity;
        state->before[i].orientation = now->orientation;
    }

    yk_smooth_start_flexibles(model, state);
    state->clock->t = t;
    state->clock->h = h;

    /* Ports exert nothing yet, and nothing is prescribed. */
    for (int i = 0; i < model->def.port_count; i++)
        work->wrench[i] = (yk_wrench){0};
    for (int i = model->node_count; i < model->frame_count; i++)
        work->trial[i].frame = yk_frame_ground();

    yk_smooth_keep_inputs(model, state, work);
    smooth->solver.match = false;
    yk_smooth_trial_from_state(model, state, work);
}

/* Fraction of a given velocity that joints may change before that is worth a word: a rough guess is
 * changed by less. */
static const double NOTABLE_CHANGE = 0.5;

/* Joints that forbid a velocity are a mistake of the model more often than a guess. The node is
 * named whose velocity was changed most. */
static void warn_of_velocities(const yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    double length = model->length_scale;
    double largest = 0;
    int worst = -1;
    for (int i = 0; i < model->node_count; i++) {
        const yk_smooth_node_def *given = &model->def.nodes[i];
        const node_state *now = &smooth->state.now[i];
        double size = yk_v3_norm(given->velocity) + length * yk_v3_norm(given->angular_velocity);
        double change =
            yk_v3_norm(yk_v3_sub(now->velocity, given->velocity)) +
            length * yk_v3_norm(yk_v3_sub(now->angular_velocity, given->angular_velocity));
        if (size > 0 && change > NOTABLE_CHANGE * size && change > largest) {
            largest = change;
            worst = i;
        }
    }

    if (worst < 0)
        return;

    const yk_smooth_node_def *given = &model->def.nodes[worst];
    const node_state *now = &smooth->state.now[worst];
    yk_log(model->context, YK_LOG_WARNING,
           "%s: the joints forbid the velocity that '%s' is given, %.3g m/s and %.3g rad/s: it "
           "starts with %.3g m/s and %.3g rad/s; give velocities that all joints allow",
           model->def.name, model->nodes[worst].name, yk_v3_norm(given->velocity),
           yk_v3_norm(given->angular_velocity), yk_v3_norm(now->velocity),
           yk_v3_norm(now->angular_velocity));
}

/* Movement by joints at the start, as a fraction of the size of the model, and rotation (rad), that
 * a rough guess of poses does not need. */
static const double NOTABLE_MOVEMENT = 0.2;
static const double NOTABLE_ROTATION = 0.5;

/* Joints bring a rough guess of the poses together. A body that goes far for that has a joint in
 * the wrong place, most often one without a place of its own. */
static void warn_of_poses(const yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    double length = model->length_scale;
    double largest = 0;
    double moved = 0;
    double rotated = 0;
    int worst = -1;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &smooth->state.now[i];
        yk_vec3 position;
        yk_quat orientation;
        given_pose(&model->def.nodes[i], &position, &orientation);

        double distance = yk_v3_norm(yk_v3_sub(now->position, position));
        yk_quat between = yk_q_mul(now->orientation, yk_q_conjugate(orientation));
        double angle = yk_v3_norm(yk_so3_log(between));
        bool notable = distance > NOTABLE_MOVEMENT * length || angle > NOTABLE_ROTATION;
        if (!notable || distance + length * angle <= largest)
            continue;

        largest = distance + length * angle;
        moved = distance;
        rotated = angle;
        worst = i;
    }

    if (worst >= 0)
        yk_log(model->context, YK_LOG_WARNING,
               "%s: the joints move '%s' by %.3g m and %.3g rad at the start, away from where it "
               "is given; give poses that fit the joints, and joints their place: without one they "
               "hold the origins of their bodies together",
               model->def.name, model->nodes[worst].name, moved, rotated);
}

yk_status yk_smooth_consistent_start(yk_smooth *smooth, double t, double h)
{
    const yk_smooth_model *model = &smooth->model;
    const yk_smooth_options *options = &model->def.options;
    yk_smooth_workspace *work = &smooth->work;

    initial_state(smooth, t, h);
    work->report = (yk_smooth_report){.unknowns = model->unknown_count};
    smooth->solver.factorisations = 0;
    yk_smooth_watch_reset(smooth);

    /* Positions that satisfy the joints. */
    work->input_time = 0;
    yk_smooth_input_frames(model, work);
    work->c = 0;
    work->damping = 0;
    work->compliance = START_COMPLIANCE;
    work->idle_mass = START_IDLE_MASS;
    yk_status status = assemble_positions(model, work, &smooth->solver);
    if (status != YK_OK)
        return status;

    /* Velocities, accelerations and multipliers. */
    status = yk_smooth_begin_motion(smooth);

    /* Once: starts with inputs repeat this one. */
    if (!YK_FAILED(status) && work->inputs == work->own_inputs) {
        warn_of_poses(smooth);
        warn_of_velocities(smooth);
    }

    /* Multipliers of constraints at position level repeat their errors by a factor of about
     * -rho_inf from step to step, and by more where the joints' directions turn. */
    const integrator *method = model->integrator;
    bool ode = !yk_smooth_is_implicit(method) || (method->is_ode && method->is_ode(options));
    if (!ode && model->row_count > 0 && options->rho_inf > 0.9)
        yk_log(model->context, YK_LOG_WARNING,
               "%s: rho_inf = %g hardly damps errors of the joints' reactions, which may grow "
               "until the run fails: take 0.9 or less",
               model->def.name, options->rho_inf);

    /* From there to static equilibrium, where it is wanted. */
    if (YK_FAILED(status) || !options->static_start)
        return status;

    yk_status rest = yk_smooth_equilibrium(smooth);
    return rest == YK_OK ? yk_smooth_begin_motion(smooth) : rest;
}
