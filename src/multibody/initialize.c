/* A consistent start: positions that satisfy the joints, then velocities, then accelerations and
 * multipliers; and the detection of redundant joint equations.
 *
 * All of them use the matrix of the masses, | M/s G^T; G -e |: positions and velocities change as
 * little as possible in the metric of the masses, so that a rough guess becomes the nearest
 * assembled state. The small e keeps the matrix regular if joints are redundant; refinement against
 * the equations without e removes its effect. */
#include <string.h>

#include "base/text.h"
#include "math/dependence.h"
#include "math/so3.h"
#include "multibody/multibody.h"

/* Redundant joint equations -------------------------------------------------------------------- */

/* Multipliers y with G^T y = 0 (a self-stress) do not change the motion. Rows of G with a
 * coefficient in such a combination are redundant among each other, and their multipliers are not
 * unique. Two cases are treated differently:
 *
 *   permanent   The rows depend on each other in every position, such as those of two bearings of
 *               one shaft, or of the pins of a planar four-bar. A set of rows without which the
 *               others are independent is left out for the whole run; their multipliers are 0.
 *   in passing  The rows depend on each other in the present position only, as at the dead point
 *               of a mechanism. All rows are kept, with a compliance so small that no gap is seen
 *               (multibody.h).
 *
 * If rows of the first kind were kept, the multipliers of a step would contain the rounding errors
 * of the gaps divided by the compliance, and a gap of inconsistent prescribed motions likewise. */

enum { NAMES_MAX = 12 };

/* A combination of unit rows counts as zero below this length: axes that are parallel to seven
 * digits do not lock a shaft between two bearings. */
static const double NULL_LENGTH = 1e-6;

/* A row participates in a combination if its coefficient is larger than this. */
static const double NOTABLE_PART = 1e-4;

/* Names the joints with redundant equations. */
static yk_status report_redundant(const yk_multibody_model *model, const yk_dependence *dependence)
{
    yk_text names = {0};
    int involved = 0;

    for (int j = 0; j < model->joint_count; j++) {
        const joint_model *joint = &model->joints[j];
        const double *part = dependence->part + joint->row;
        double largest = 0;
        for (int r = 0; r < joint->joint.row_count; r++)
            largest = fmax(largest, part[r]);
        if (largest < NOTABLE_PART)
            continue;

        const char *comma = involved > 0 ? ", " : "";
        if (involved++ < NAMES_MAX)
            yk_text_add(model->context, &names, "%s'%s'", comma, joint->name);
    }

    if (involved > NAMES_MAX)
        yk_text_add(model->context, &names, " and %d more", involved - NAMES_MAX);

    yk_status status =
        yk_fail(model->context, YK_REDUNDANT_CONSTRAINTS,
                "%s: %d joint equation%s redundant among the joints %s: how these joints share "
                "their reactions is not determined; replace joints by ones that constrain less if "
                "the shares matter",
                model->def.name, dependence->count, dependence->count == 1 ? " is" : "s are",
                names.data ? names.data : "");
    yk_text_destroy(model->context, &names);

    return status;
}

/* The columns of G that belong together: those of a node, and those of a flexible body. */
static void group_columns(const yk_multibody_model *model, int *group, int *group_count)
{
    for (int i = 0; i < model->coordinate_first; i++)
        group[i] = i / 6;

    *group_count = model->node_count;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        for (int k = 0; k < of->body->coordinates; k++)
            group[model->coordinate_first + of->coordinate + k] = *group_count;
        (*group_count)++;
    }
}

/* The constraint gradient G, as in the assembled matrix. Returns the number of entries; `entries`
 * may be NULL. */
static size_t list_gradient(const yk_multibody_model *model, const yk_linear_solver *solver,
                            yk_matrix_entry *entries)
{
    const int *starts = yk_sparse_column_starts(solver->matrix);
    const int *rows = yk_sparse_rows(solver->matrix);
    const double *values = yk_sparse_values(solver->matrix);
    size_t count = 0;

    for (int column = 0; column < model->motion_count; column++) {
        for (int i = starts[column]; i < starts[column + 1]; i++) {
            if (rows[i] < model->motion_count || values[i] == 0)
                continue;
            if (entries)
                entries[count] =
                    (yk_matrix_entry){rows[i] - model->motion_count, column, values[i]};
            count++;
        }
    }

    return count;
}

/* Scales rotations to arcs of the mean lever arm of the rows, so that displacements and rotations
 * have equal weight in any unit, for any size of the model and any distribution of mass. `squares`
 * contains two numbers per row: of displacements and of rotations. */
static void scale_rotations(const yk_multibody_model *model, yk_matrix_entry *entries, size_t count,
                            double *squares)
{
    memset(squares, 0, 2 * (size_t)model->row_count * sizeof *squares);
    for (size_t i = 0; i < count; i++) {
        const yk_matrix_entry *entry = &entries[i];
        if (entry->column < model->coordinate_first)
            squares[2 * entry->row + yk_multibody_is_rotation(model, entry->column)] +=
                entry->value * entry->value;
    }

    /* In radii of gyration, as in the matrix. */
    double sum = 0;
    int levers = 0;
    for (int i = 0; i < model->row_count; i++) {
        if (squares[2 * i] > 0 && squares[2 * i + 1] > 0) {
            sum += sqrt(squares[2 * i + 1] / squares[2 * i]);
            levers++;
        }
    }

    if (!(sum > 0))
        return;

    for (size_t i = 0; i < count; i++) {
        if (yk_multibody_is_rotation(model, entries[i].column))
            entries[i].value *= levers / sum;
    }
}

/* The dependence of the rows in the assembled matrix. Release the result by
 * yk_dependence_release(). */
static yk_status find_dependence(const yk_multibody *self, yk_dependence *dependence)
{
    const yk_multibody_model *model = &self->model;
    yk_context *context = model->context;
    size_t entry_count = list_gradient(model, &self->solver, NULL);
    yk_matrix_entry *entries = yk_allocate(context, entry_count + 1, sizeof *entries);
    int *group = yk_allocate(context, (size_t)model->motion_count + 1, sizeof *group);
    double *squares = yk_allocate(context, 2 * (size_t)model->row_count, sizeof *squares);
    yk_status status = YK_ERROR_MEMORY;
    if (entries && group && squares) {
        list_gradient(model, &self->solver, entries);
        scale_rotations(model, entries, entry_count, squares);
        yk_dependence_def def = {
            .rows = model->row_count,
            .columns = model->motion_count,
            .entries = entries,
            .entry_count = entry_count,
            .group = group,
            .tolerance = NULL_LENGTH,
        };
        group_columns(model, group, &def.group_count);
        status = yk_dependence_find(context, &def, dependence);
    }

    yk_free(context, entries);
    yk_free(context, group);
    yk_free(context, squares);
    return status;
}

/* Positions, velocities, accelerations --------------------------------------------------------- */

static const double START_COMPLIANCE = 1e-9;
/* A massless node takes this fraction of the typical mass. */
static const double START_IDLE_MASS = 1e-6;
static const int ASSEMBLY_ITERATIONS = 100;
static const int NEIGHBOUR_ITERATIONS = 12;

/* Whether a factorization chooses new pivots or uses those of the last one, which is several times
 * cheaper. */
typedef enum pivot_choice {
    PIVOTS_NEW,
    PIVOTS_KEPT,
} pivot_choice;

/* Solves with the factors of the assembled matrix. */
static yk_status solve_start(const yk_multibody_model *model, yk_multibody_workspace *work,
                             yk_linear_solver *solver, pivot_choice pivots)
{
    int column = 0;
    yk_status status = pivots == PIVOTS_NEW ? yk_sparse_factor(solver->matrix, &column)
                                            : yk_sparse_refactor(solver->matrix, &column);
    if (status == YK_ERROR_SINGULAR) {
        char owner[128];
        return yk_fail(model->context, status,
                       "%s: the start has no unique solution at %s: give it mass or a joint",
                       model->def.name, yk_multibody_owner(model, column, owner, sizeof owner));
    }

    if (status == YK_OK)
        yk_multibody_solve_refined(model, work, solver);

    return status;
}

/* The row with the largest residual in the right-hand side, as an unknown. */
static int worst_row(const yk_multibody_model *model, const yk_multibody_workspace *work,
                     double *size)
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

/* A residual of a row with its unit, in SI units. */
typedef struct residual {
    double value;
    const char *unit;
} residual;

/* The residual of a row of a joint, on position or velocity level. `row` counts all unknowns. */
static residual residual_of(const yk_multibody_model *model, int row, double value, bool velocity)
{
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        for (int k = 0; k < joint->joint.row_count; k++)
            if (model->motion_count + joint->row + k == row &&
                yk_row_is_angle(&joint->joint.row[k]))
                return (residual){value, velocity ? "rad/s" : "rad"};
    }

    return (residual){value * model->def.length_unit, velocity ? "m/s" : "m"};
}

/* Gap below which positions count as assembled. */
static double assembly_limit(const yk_multibody_model *model)
{
    return model->def.options.assembly_tolerance * fmax(1, model->length_scale);
}

/* Gauss-Newton with steps of at most half a length scale or half a radian. */
static yk_status assemble_positions(const yk_multibody_model *model, yk_multibody_workspace *work,
                                    yk_linear_solver *solver, pivot_choice pivots, int iterations)
{
    double gap = 0;
    double limit = assembly_limit(model);
    int worst = 0;

    for (int k = 0; k < iterations; k++) {
        yk_multibody_assemble(model, work, solver, LEVEL_POSITION);
        worst = worst_row(model, work, &gap);
        if (gap == 0)
            return YK_OK;

        yk_status status = solve_start(model, work, solver, pivots);
        if (status != YK_OK)
            return status;

        double change = yk_multibody_largest_change(model, work);
        if (!isfinite(change))
            break;

        yk_multibody_move_nodes(model, work, change > 0.5 ? 0.5 / change : 1);

        /* Quadratic convergence: the next gap would be a rounding error. */
        if (gap < limit && change < 1e-6)
            return YK_OK;
    }

    if (gap < limit)
        return YK_OK;

    char owner[128];
    residual left = residual_of(model, worst, gap, false);
    return yk_fail(
        model->context, YK_ERROR_NO_SOLUTION,
        "%s: the mechanism cannot be assembled at t = %g: %s stays open by %.3g %s; check "
        "its markers and lengths, or start closer",
        model->def.name, work->t, yk_multibody_owner(model, worst, owner, sizeof owner), left.value,
        left.unit);
}

static yk_status project_velocities(const yk_multibody_model *model, yk_multibody_workspace *work,
                                    yk_linear_solver *solver)
{
    /* The nearest velocities that satisfy all rows. */
    yk_multibody_assemble(model, work, solver, LEVEL_VELOCITY);
    yk_status status = solve_start(model, work, solver, PIVOTS_NEW);
    if (status != YK_OK)
        return status;

    yk_multibody_add_velocities(model, work);

    /* Nodes that should keep their velocities are only heavy, and move a little with the rest. A
     * second iteration, from the present velocities of the others, keeps theirs to the last digit,
     * unless the joints prevent it. */
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
        yk_multibody_assemble(model, work, NULL, LEVEL_VELOCITY);
        yk_multibody_solve_refined(model, work, solver);
        yk_multibody_add_velocities(model, work);
    }

    /* The residual of the rows, relative to the largest speed. */
    double speed = 0;
    for (int i = 0; i < model->node_count; i++) {
        const yk_frame *frame = &work->trial[i].frame;
        double arc = model->length_scale * yk_v3_norm(frame->angular_velocity);
        speed = fmax(speed, yk_v3_norm(frame->velocity) + arc);
    }

    yk_multibody_assemble(model, work, NULL, LEVEL_VELOCITY);
    double rate;
    int worst = worst_row(model, work, &rate);
    if (rate <= 1e-6 * (1 + speed))
        return YK_OK;

    char owner[128];
    residual left = residual_of(model, worst, rate, true);
    return yk_fail(model->context, YK_ERROR_NO_SOLUTION,
                   "%s: no velocities satisfy all joints at t = %g: %s is off by %.3g %s; its "
                   "prescribed motion contradicts the others",
                   model->def.name, work->t, yk_multibody_owner(model, worst, owner, sizeof owner),
                   left.value, left.unit);
}

/* Rows that follow from others in every position ----------------------------------------------- */

/* Displacement of the nodes to a neighbouring position, relative to the length scale and in
 * radians. */
static const double DISPLACEMENT = 0.01;

/* A random displacement of all nodes. */
static void random_displacement(const yk_multibody_model *model, double *displacement)
{
    uint64_t seed = UINT64_C(88172645463325252);
    for (int i = 0; i < model->unknown_count; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double random = (double)(seed >> 11) * 0x1p-52 - 1;
        double length = yk_multibody_is_rotation(model, i) ? 1 : model->length_scale;
        displacement[i] = i < model->coordinate_first ? DISPLACEMENT * length * random : 0;
    }
}

/* Moves the trial to a neighbouring position: all nodes by a random displacement, less the part that
 * violates the joints to first order. The remaining gaps are of second order, in a long chain of
 * loops too. */
static yk_status move_to_neighbour(const yk_multibody_model *model, yk_multibody_workspace *work,
                                   yk_linear_solver *solver)
{
    int n = model->unknown_count;
    double *displacement = yk_allocate(model->context, 2 * (size_t)n, sizeof *displacement);
    if (!displacement)
        return YK_ERROR_MEMORY;

    /* The rates of the rows, with the matrix of scaled unknowns and equations. */
    double *rates = displacement + n;
    random_displacement(model, displacement);
    yk_multibody_assemble(model, work, solver, LEVEL_POSITION);
    for (int i = 0; i < n; i++)
        work->right[i] = displacement[i] / model->unknown_scale[i];
    yk_sparse_multiply(solver->matrix, work->right, rates);
    for (int i = 0; i < n; i++)
        work->right[i] = i < model->motion_count ? 0 : -rates[i] / model->unknown_scale[i];

    yk_status status = solve_start(model, work, solver, PIVOTS_NEW);
    for (int i = 0; i < model->motion_count; i++)
        work->right[i] += displacement[i];
    if (status == YK_OK)
        yk_multibody_move_nodes(model, work, 1);

    yk_free(model->context, displacement);
    return status;
}

/* Moves the trial to an assembled neighbouring position. Drives are released, because a driven
 * mechanism may have no other position, and so are the rows in `released` (may be NULL). */
static yk_status assemble_neighbour(yk_multibody *self, const bool *released)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    for (int j = 0; j < model->joint_count; j++) {
        const joint_model *joint = &model->joints[j];
        for (int r = 0; r < joint->joint.row_count; r++) {
            int row = joint->row + r;
            work->dependent_row[row] = joint->driven || (released && released[row]);
        }
    }

    yk_status status = move_to_neighbour(model, work, &self->solver);
    if (status == YK_OK)
        status = assemble_positions(model, work, &self->solver, PIVOTS_KEPT, NEIGHBOUR_ITERATIONS);
    yk_multibody_use_all_rows(model, work);
    return status;
}

/* The largest gap of the given rows in the trial; infinite if a row has no gap because it constrains
 * velocities, or if its drive was released. */
static double largest_gap(yk_multibody *self, const bool *rows)
{
    const yk_multibody_model *model = &self->model;
    double largest = 0;

    yk_multibody_assemble(model, &self->work, NULL, LEVEL_POSITION);
    for (int j = 0; j < model->joint_count; j++) {
        const joint_model *joint = &model->joints[j];
        for (int r = 0; r < joint->joint.row_count; r++) {
            if (!rows[joint->row + r])
                continue;
            double gap = fabs(self->work.right[model->motion_count + joint->row + r]);
            if (joint->driven || yk_row_on_velocity(&joint->joint.row[r]))
                gap = INFINITY;
            largest = fmax(largest, gap);
        }
    }

    return largest;
}

/* Finds the dependence of all rows in an assembled neighbouring position; none if the joints do not
 * assemble. `here` is the dependence in the present position. */
static yk_status find_dependence_nearby(yk_multibody *self, const yk_dependence *here,
                                        yk_dependence *nearby)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    /* Without the dependent rows the equations are regular, and Newton's method reaches the next
     * position without the compliance, which would slow it down in a long chain of loops. */
    work->compliance = 0;
    yk_status status = assemble_neighbour(self, here->chosen);
    work->compliance = START_COMPLIANCE;

    /* If gaps open, some rows depend on others in passing only. */
    if (status != YK_OK || largest_gap(self, here->chosen) > assembly_limit(model)) {
        yk_multibody_trial_from_state(model, &self->state, work);
        status = assemble_neighbour(self, NULL);
    }

    if (status == YK_OK) {
        yk_multibody_assemble(model, work, &self->solver, LEVEL_ACCELERATION);
        status = find_dependence(self, nearby);
    } else if (status == YK_ERROR_NO_SOLUTION || status == YK_ERROR_SINGULAR) {
        status = YK_OK;
    }

    yk_multibody_trial_from_state(model, &self->state, work);
    return status;
}

/* With the assembled matrix of the start, and the state of the trial: YK_REDUNDANT_CONSTRAINTS with
 * the joints in the message. */
static yk_status find_redundant(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    self->state.clock->redundant = 0;
    work->report.redundant = 0;
    if (model->row_count == 0)
        return YK_OK;

    yk_dependence here = {0};
    yk_dependence nearby = {0};
    yk_status status = find_dependence(self, &here);
    if (status == YK_OK && here.count > 0)
        status = find_dependence_nearby(self, &here, &nearby);

    /* Leave out the rows that depend on others in the neighbouring position. */
    int left_out = 0;
    for (int r = 0; r < model->row_count && nearby.count > 0; r++) {
        work->dependent_row[r] = nearby.chosen[r];
        left_out += nearby.chosen[r];
    }

    work->report.redundant = here.count;
    self->state.clock->redundant = here.count > left_out;
    if (status == YK_OK && here.count > 0)
        status = report_redundant(model, &here);
    yk_dependence_release(model->context, &here);
    yk_dependence_release(model->context, &nearby);

    return status;
}

/* The start ------------------------------------------------------------------------------------- */

/* Accelerations and multipliers of the trial, and the state with the powers at its time. */
static yk_status start_accelerations(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    clock_state *clock = self->state.clock;

    /* Artificial damping needs the momenta in advance, the state afterwards. */
    yk_multibody_momenta(model, work);
    yk_multibody_assemble(model, work, &self->solver, LEVEL_ACCELERATION);
    yk_status status = solve_start(model, work, &self->solver, PIVOTS_NEW);
    if (status != YK_OK)
        return status;

    yk_multibody_read_accelerations(model, work);
    yk_multibody_momenta(model, work);

    yk_multibody_state_from_trial(model, &self->state, work);
    yk_multibody_drive_powers(model, work);
    clock->supply = work->supply;
    clock->port_supply = work->port_supply;
    clock->loss = work->loss + yk_multibody_beam_loss(model, work);
    return YK_OK;
}

/* From assembled positions in the trial: velocities, accelerations, redundancy, and the initial
 * state of a run. */
yk_status yk_multibody_begin_motion(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    clock_state *clock = state->clock;

    /* The matrix of the masses, with a small mass for all massless nodes. */
    work->c = 0;
    work->damping = yk_multibody_damping_at(model, work->t);
    work->compliance = START_COMPLIANCE;
    work->idle_mass = START_IDLE_MASS;
    solver->match = false;
    yk_multibody_use_all_rows(model, work);
    yk_status status = project_velocities(model, work, solver);
    if (status != YK_OK)
        return status;

    status = start_accelerations(self);
    if (status != YK_OK)
        return status;

    /* Detect redundant rows, with the matrix in which no node is heavy. If rows are left out, the
     * multipliers of the others change. */
    yk_status outcome = find_redundant(self);
    if (outcome == YK_REDUNDANT_CONSTRAINTS)
        status = start_accelerations(self);
    if (YK_FAILED(outcome))
        return outcome;
    if (status != YK_OK)
        return status;

    /* The integrator's own first factors. */
    work->idle_mass = 0;
    clock->steps = 0;
    status = model->integrator->begin(self);
    return status == YK_OK ? outcome : status;
}

/* Displacements and rotations given for the start of a node are relative to the reference pose. */
static void given_pose(const yk_multibody_node_def *node, yk_vec3 *position, yk_quat *orientation)
{
    *position = yk_v3_add(node->position, node->initial_displacement);
    *orientation = yk_q_unit(node->orientation);
    if (yk_v3_norm2(node->initial_rotation) > 0)
        *orientation = yk_q_unit(yk_q_mul(yk_so3_exp(node->initial_rotation), *orientation));
}

/* The state in the def, before joints are satisfied. */
static void initial_state(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;

    memset(state->image, 0, state->words * sizeof *state->image);

    for (int i = 0; i < model->node_count; i++) {
        const yk_multibody_node_def *node = &model->def.nodes[i];
        node_state *now = &state->now[i];

        given_pose(node, &now->position, &now->orientation);
        now->velocity = node->velocity;
        now->angular_velocity = node->angular_velocity;
        state->before[i].orientation = now->orientation;
    }

    yk_multibody_start_flexibles(model, state);
    state->clock->t = t;
    state->clock->h = h;

    /* Ports have no wrenches and no prescribed motions yet. */
    for (int i = 0; i < model->def.port_count; i++)
        work->wrench[i] = (yk_wrench){0};
    for (int i = model->node_count; i < model->frame_count; i++)
        work->trial[i].frame = yk_frame_ground();

    memcpy(state->angle, model->angle_start, (size_t)model->angle_count * sizeof *state->angle);
    memcpy(work->angle, model->angle_start, (size_t)model->angle_count * sizeof *work->angle);
    yk_multibody_keep_inputs(model, state, work);
    self->solver.match = false;
    yk_multibody_trial_from_state(model, state, work);
}

/* Fraction of a given velocity above which a change by the joints is reported: a rough guess is
 * changed by less. */
static const double NOTABLE_CHANGE = 0.5;

/* If joints prevent a given velocity, this is usually an error in the model and not a rough guess.
 * The message names the node whose velocity was changed most. */
static void warn_of_velocities(const yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    double length = model->length_scale;
    double largest = 0;
    int worst = -1;
    for (int i = 0; i < model->node_count; i++) {
        const yk_multibody_node_def *given = &model->def.nodes[i];
        const node_state *now = &self->state.now[i];
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

    const yk_multibody_node_def *given = &model->def.nodes[worst];
    const node_state *now = &self->state.now[worst];
    yk_log(model->context, YK_LOG_WARNING,
           "%s: the joints forbid the velocity that '%s' is given, %.3g m/s and %.3g rad/s: it "
           "starts with %.3g m/s and %.3g rad/s; give velocities that all joints allow",
           model->def.name, model->nodes[worst].name,
           yk_v3_norm(given->velocity) * model->def.length_unit,
           yk_v3_norm(given->angular_velocity), yk_v3_norm(now->velocity) * model->def.length_unit,
           yk_v3_norm(now->angular_velocity));
}

/* Limit of the movement by joints at the start, relative to the size of the model, and of the
 * rotation (rad). A rough guess of poses is corrected by less. */
static const double NOTABLE_MOVEMENT = 0.2;
static const double NOTABLE_ROTATION = 0.5;

/* Joints correct a rough guess of the poses. If a body moves far, a joint is probably in the wrong
 * place, most often because it has no position of its own. */
static void warn_of_poses(const yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    double length = model->length_scale;
    double largest = 0;
    double moved = 0;
    double rotated = 0;
    int worst = -1;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &self->state.now[i];
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
               model->def.name, model->nodes[worst].name, moved * model->def.length_unit, rotated);
}

yk_status yk_multibody_consistent_start(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_options *options = &model->def.options;
    yk_multibody_workspace *work = &self->work;

    yk_multibody_use_all_rows(model, work);
    initial_state(self, t, h);
    work->report = (yk_multibody_report){.unknowns = model->unknown_count};
    self->solver.factorisations = 0;
    yk_multibody_watch_reset(self);

    /* Positions that satisfy the joints. */
    work->input_time = 0;
    yk_multibody_input_frames(model, work);
    work->c = 0;
    work->damping = 0;
    work->compliance = START_COMPLIANCE;
    work->idle_mass = START_IDLE_MASS;
    yk_status status =
        assemble_positions(model, work, &self->solver, PIVOTS_NEW, ASSEMBLY_ITERATIONS);
    if (status != YK_OK)
        return status;

    /* Velocities, accelerations and multipliers. */
    status = yk_multibody_begin_motion(self);

    /* Only once: starts with inputs repeat it. */
    if (!YK_FAILED(status) && work->inputs == work->own_inputs) {
        warn_of_poses(self);
        warn_of_velocities(self);
    }

    /* Errors of the multipliers of constraints on position level change by a factor of about
     * -rho_inf from step to step, and by more if the directions of the joints rotate. */
    const integrator *method = model->integrator;
    bool ode = !yk_multibody_is_implicit(method) || (method->is_ode && method->is_ode(options));
    if (!ode && model->row_count > 0 && options->rho_inf > 0.9)
        yk_log(model->context, YK_LOG_WARNING,
               "%s: rho_inf = %g hardly damps errors of the joints' reactions, which may grow "
               "until the run fails: take 0.9 or less",
               model->def.name, options->rho_inf);

    /* From there to static equilibrium, if requested. */
    if (YK_FAILED(status) || !options->start_in_equilibrium)
        return status;

    yk_status rest = yk_multibody_equilibrium(self);
    return rest == YK_OK ? yk_multibody_begin_motion(self) : rest;
}
