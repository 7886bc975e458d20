/* The equations of the trial and their matrix, in one pass over nodes, joints, forces and ports.
 * The same pass in recording mode gives the pattern, so that pattern and assembly cannot disagree:
 * entry k of the pass is always added at values[entry[k]]. Equations: multibody.h. */

#include <string.h>

#include "math/polynomial.h"
#include "multibody/assemble.h"

/* Factor of the mass of a node that should move little in the assembly of positions and velocities. */
static const double KEPT_WEIGHT = 1e8;

/* A sink for equations with the weight c that accepts no entries yet. */
static sink sink_of(const yk_multibody_model *model, double c)
{
    double inverse = 1 / model->mass_scale;
    return (sink){.c = c, .inertia = inverse, .node = c * c * inverse, .rate = c * inverse};
}

static void add_wrench(yk_wrench *sum, yk_vec3 force, yk_vec3 torque)
{
    sum->force = yk_v3_add(sum->force, force);
    sum->torque = yk_v3_add(sum->torque, torque);
}

/* Nodes ---------------------------------------------------------------------------------------- */

static inline void node_matrix(const yk_multibody_model *model, const yk_multibody_workspace *work,
                               int i, double weight, sink *to, sink_mode mode)
{
    const node_model *node = &model->nodes[i];
    const yk_frame *frame = &work->trial[i].frame;
    int u = node->unknown;
    double square = model->length_scale * model->length_scale;

    /* Massless nodes have no inertia in a step, and a small one at the start, so that their joints
     * can place them. */
    double idle = 0;
    if (to->c <= 0)
        idle = weight * work->idle_mass;
    if (!node->massive) {
        for (int k = 0; k < 3; k++)
            sink_put(to, mode, u + k, u + k, idle);
        for (int k = 3; k < 6; k++)
            sink_put(to, mode, u + k, u + k, idle * square);
        return;
    }

    /* Inertia as in a step, yk_inertia_tangent(). */
    double tangent[6][6] = {{0}};
    if (mode == SINK_ADD) {
        yk_inertia inertia;
        yk_inertia_rotate(&node->inertia, &frame->rotation, &inertia);
        yk_inertia_tangent(&inertia, frame, to->c, work->rotation_weight, tangent);
        if (node->eccentric) {
            /* The torque of the weight changes with the arm of the centre of mass: d(S x g) = (S
             * g^T - S.g I) dtheta. */
            yk_vec3 gravity = model->def.gravity;
            yk_mat3 rotates = yk_m3_outer(inertia.moment, gravity);
            double dot = yk_v3_dot(inertia.moment, gravity);
            for (int k = 0; k < 3; k++) {
                for (int j = 0; j < 3; j++) {
                    double own = k == j ? dot : 0;
                    tangent[3 + k][3 + j] -= to->c * to->c * (rotates.m[k][j] - own);
                }
            }
        }
    }

    /* Point masses have no rotary inertia: their undetermined rotation must not make the start
     * singular. */
    double point = idle * 1e-3 * square;
    double scale = weight * to->inertia * (1 + to->c * work->damping);
    for (int k = 0; k < 3; k++)
        sink_put(to, mode, u + k, u + k, scale * tangent[k][k]);
    for (int j = 3; j < 6; j++) {
        for (int k = 3; k < 6; k++) {
            double added = k == j ? point : 0;
            sink_put(to, mode, u + k, u + j, scale * tangent[k][j] + added);
        }
    }

    if (!node->eccentric)
        return;

    /* Displacements and rotations are coupled by the arm of the centre of mass. */
    for (int j = 0; j < 3; j++) {
        for (int k = 3; k < 6; k++) {
            sink_put(to, mode, u + k, u + j, scale * tangent[k][j]);
            sink_put(to, mode, u + j, u + k, scale * tangent[j][k]);
        }
    }
}

void yk_multibody_inertias(const yk_multibody_model *model, yk_multibody_workspace *work,
                           bool with_rates)
{
    double inverse = with_rates ? 1 / work->c : 0;
    for (int i = 0; i < model->node_count; i++) {
        if (!model->nodes[i].massive)
            continue;

        const yk_inertia *inertia = &model->nodes[i].inertia;
        trial_node *node = &work->trial[i];
        const yk_frame *frame = &node->frame;
        yk_vec3 v = frame->velocity;
        yk_vec3 w = frame->angular_velocity;

        /* J w = R (J0 (R^T w)): cheaper than rotating the tensor. */
        yk_vec3 own = yk_m3_apply(inertia->tensor, yk_m3_apply_transposed(frame->rotation, w));
        yk_vec3 spin = yk_m3_apply(frame->rotation, own);

        /* p = m v + w x S, l = J w + S x v */
        node->momentum.linear = yk_v3_scale(inertia->mass, v);
        node->momentum.angular = spin;
        if (model->nodes[i].eccentric) {
            yk_vec3 moment = yk_m3_apply(frame->rotation, inertia->moment);
            node->momentum.linear = yk_v3_add(node->momentum.linear, yk_v3_cross(w, moment));
            node->momentum.angular = yk_v3_add(spin, yk_v3_cross(moment, v));
        }

        /* p' = (p - past) / c */
        if (!with_rates)
            continue;

        yk_vec3 linear = yk_v3_sub(node->momentum.linear, node->momentum_past.linear);
        yk_vec3 angular = yk_v3_sub(node->momentum.angular, node->momentum_past.angular);
        node->momentum_rate.linear = yk_v3_scale(inverse, linear);
        node->momentum_rate.angular = yk_v3_scale(inverse, angular);
    }

    if (model->def.flexible_count)
        yk_multibody_flexible_inertias(model, work, with_rates);
}

/* Gravity and artificial damping start the loads of each node. */
static void node_loads(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    yk_vec3 g = model->def.gravity;
    double damping = work->damping;

    for (int i = 0; i < model->node_count; i++) {
        const node_model *node = &model->nodes[i];
        const trial_node *trial = &work->trial[i];
        const yk_frame *frame = &trial->frame;
        yk_wrench *load = &work->load[i];

        /* Weight, about the node. */
        load->force = yk_v3_scale(node->inertia.mass, g);
        load->torque = yk_v3(0, 0, 0);
        work->potential -= yk_v3_dot(load->force, frame->position);
        if (node->eccentric) {
            yk_vec3 moment = yk_m3_apply(frame->rotation, node->inertia.moment);
            load->torque = yk_v3_cross(moment, g);
            work->potential -= yk_v3_dot(moment, g);
        }

        if (work->pushed) {
            const yk_wrench *pushed = &work->pushed[i];
            add_wrench(load, pushed->force, pushed->torque);
            work->supply += yk_v3_dot(pushed->force, frame->velocity) +
                            yk_v3_dot(pushed->torque, frame->angular_velocity);
        }

        if (damping <= 0)
            continue;

        /* -damping times the momenta, and the loss of kinetic energy. */
        double kinetic =
            yk_inertia_kinetic(&trial->momentum, frame->velocity, frame->angular_velocity);
        load->force = yk_v3_axpy(-damping, trial->momentum.linear, load->force);
        load->torque = yk_v3_axpy(-damping, trial->momentum.angular, load->torque);
        work->loss += 2 * damping * kinetic;
    }

    /* Other frames, and coordinates. */
    for (int i = model->node_count; i < model->frame_count; i++)
        work->load[i] = (yk_wrench){0};

    for (int k = 0; k < model->coordinate_count; k++) {
        trial_coordinate *trial = &work->coordinates[k];
        trial->load = -damping * trial->momentum;
        work->loss += damping * trial->momentum * trial->rate;
    }
}

/* The balance of loads and inertia: rates of the momenta in a step, velocity-dependent forces for
 * accelerations. */
static void node_right(const yk_multibody_model *model, yk_multibody_workspace *work,
                       assembly_level level, const sink *to)
{
    bool accelerations = level == LEVEL_ACCELERATION;
    double scale = accelerations ? to->inertia : to->node;

    for (int i = 0; i < model->node_count; i++) {
        const node_model *of = &model->nodes[i];
        const trial_node *node = &work->trial[i];
        yk_vec3 force = work->load[i].force;
        yk_vec3 torque = work->load[i].torque;

        /* Forces of velocities, or rates of momenta. */
        if (accelerations) {
            yk_inertia inertia;
            yk_vec3 bias_force, bias_torque;
            yk_inertia_rotate(&of->inertia, &node->frame.rotation, &inertia);
            yk_inertia_bias(&inertia, &node->frame, &bias_force, &bias_torque);
            force = yk_v3_sub(force, bias_force);
            torque = yk_v3_sub(torque, bias_torque);
        } else if (of->massive) {
            force = yk_v3_sub(force, node->momentum_rate.linear);
            torque = yk_v3_sub(torque, node->momentum_rate.angular);
            if (of->eccentric)
                torque =
                    yk_v3_sub(torque, yk_v3_cross(node->frame.velocity, node->momentum.linear));
        }

        /* Into the equations, in units of the matrix. */
        double *right = &work->right[of->unknown];
        right[0] += scale * force.x;
        right[1] += scale * force.y;
        right[2] += scale * force.z;
        right[3] += scale * torque.x;
        right[4] += scale * torque.y;
        right[5] += scale * torque.z;
    }

    /* Flexible bodies have added these forces of their coordinates to the loads. */
    for (int k = 0; k < model->coordinate_count; k++) {
        const trial_coordinate *trial = &work->coordinates[k];
        double force = trial->load;
        if (!accelerations)
            force -= trial->momentum_rate;
        work->right[model->coordinate_first + k] += scale * force;
    }
}

/* Joints --------------------------------------------------------------------------------------- */

/* The polynomial that a wire brings, with its derivatives; between steps its last value. */
static yk_drive signal_drive(const yk_multibody_workspace *work, const joint_model *joint, double t,
                             bool with_rates, yk_drive start)
{
    yk_drive drive = start;
    if (!work->inputs) {
        drive.value += joint->drive_unit * work->wrench[joint->signal].force.x;
        return drive;
    }

    const yk_input *signal = &work->inputs[joint->signal];
    double local = t - work->t + work->input_time;
    drive.value += joint->drive_unit * yk_input_scalar(signal, local);
    if (!with_rates)
        return drive;

    drive.rate = joint->drive_unit * yk_input_scalar_rate(signal, local);
    drive.second = joint->drive_unit * yk_input_scalar_second_rate(signal, local);
    return drive;
}

/* Keeps the value of the signal of a joint for the time between steps. */
static void keep_signal(yk_multibody_workspace *work, const joint_model *joint)
{
    if (joint->signal >= 0 && work->inputs)
        work->wrench[joint->signal].force.x =
            yk_input_scalar(&work->inputs[joint->signal], work->input_time);
}

yk_drive yk_multibody_drive(const yk_multibody_workspace *work, const joint_model *joint, double t,
                            bool with_rates)
{
    /* A length that is given as a polynomial; between steps it continues. */
    if (joint->port >= 0) {
        if (!work->inputs)
            return (yk_drive){0};

        const yk_input *signal = &work->inputs[joint->port];
        double local = t - work->t + work->input_time;
        yk_drive length = {.value = yk_input_scalar(signal, local)};
        if (!with_rates)
            return length;

        length.rate = yk_input_scalar_rate(signal, local);
        length.second = yk_input_scalar_second_rate(signal, local);
        return length;
    }

    /* A coupling starts from the coordinates at the start. */
    yk_drive start = {.value = joint->sum};
    if (joint->angle >= 0)
        start.near_angle = work->angle[joint->angle];
    if (joint->signal >= 0)
        return signal_drive(work, joint, t, with_rates, start);
    if (!joint->drive.evaluate)
        return start;

    /* A function of the user, in its own units. */
    yk_time_function drive = joint->drive;
    yk_drive result = {.value = drive.evaluate(drive.user, t)};
    if (with_rates) {
        /* Central differences of order eight. Integrators on acceleration level request a fraction
         * of their step, so that the error has the same order as their own; otherwise 1e-8 of the
         * size of the start's step is sufficient. */
        static const double first[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
        static const double second[4] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
        double step = work->drive_step > 0 ? work->drive_step : 1e-4;
        double rate = 0;
        double curvature = -205.0 / 72 * result.value;
        for (int k = 0; k < 4; k++) {
            double after = drive.evaluate(drive.user, t + (k + 1) * step);
            double before = drive.evaluate(drive.user, t - (k + 1) * step);
            rate += first[k] * (after - before);
            curvature += second[k] * (after + before);
        }

        result.rate = rate / step;
        result.second = curvature / (step * step);
    }

    result.value *= joint->drive_unit;
    result.rate *= joint->drive_unit;
    result.second *= joint->drive_unit;
    result.value += start.value;
    result.near_angle = start.near_angle;

    return result;
}

/* A row on acceleration level: (d/dt + beta)^2 of the row (its second derivative if beta is zero),
 * without the contribution of the unknown accelerations. Rows on velocity level are differentiated
 * once. `all`: include the trial's accelerations of all frames, not only of those with prescribed
 * motion. */
static double row_acceleration(const yk_multibody_model *model, const yk_multibody_workspace *work,
                               const joint_model *joint, const yk_row *row,
                               const yk_joint_kinematics *kinematics, const yk_drive *drive,
                               const yk_gradient *gradient, bool all)
{
    double beta = work->stabilisation;
    const trial_node *end[2] = {&work->trial[joint->node[0]], &work->trial[joint->node[1]]};
    double residual = yk_row_bias(row, &joint->joint, &end[0]->frame, &end[1]->frame, drive);

    if (beta != 0 && (work->stabilises_velocities || yk_row_on_velocity(row))) {
        residual = residual + beta * yk_row_rate(row, kinematics);
    } else if (beta != 0) {
        residual = residual +
                   beta * (2 * yk_row_rate(row, kinematics) + beta * yk_row_value(row, kinematics));
    }

    /* Contribution of prescribed frames, or of all frames. */
    double known = 0;
    for (int side = 0; side < 2; side++) {
        bool ground = joint->node[side] == model->node_count;
        bool moves = joint->node[side] < model->node_count;
        if (ground || (moves && !all))
            continue;

        known += yk_v3_dot(gradient->force[side], end[side]->acceleration) +
                 yk_v3_dot(gradient->torque[side], end[side]->angular_acceleration);
    }

    return residual + known;
}

static inline void row_matrix(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              const joint_model *joint, const yk_row *row, int equation,
                              const yk_gradient *gradient, bool hold, sink *to, sink_mode mode)
{
    if (joint->chained) {
        yk_multibody_chain_row(model, work, joint, row, equation, gradient, hold, to, mode);
        return;
    }

    unsigned mask = yk_row_mask(row);
    const double *entry = (const double *)gradient;
    for (int part = 0; part < 4; part++) {
        /* Order in memory: force a, force b, torque a, torque b. */
        int body = part & 1, torque = part >> 1;
        int u = model->nodes[joint->node[body]].unknown;
        unsigned bits = mask >> (3 * (2 * body + torque)) & 7u;
        if (u < 0 || !bits)
            continue;

        for (int k = 0; k < 3; k++) {
            if (!(bits >> k & 1u))
                continue;

            double value = hold ? 0 : entry[3 * part + k];
            sink_put(to, mode, equation, u + 3 * torque + k, value);
            sink_put(to, mode, u + 3 * torque + k, equation, value);
        }
    }

    if (!joint->adds)
        sink_put(to, mode, equation, equation, hold ? -1 : -work->compliance);
}

static inline void joint_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                              const joint_model *joint, assembly_level level, sink *to,
                              sink_mode mode)
{
    const int *node = joint->node;
    const yk_joint *equations = &joint->joint;
    bool stabilised = level == LEVEL_STEP && work->stabilisation > 0;
    bool accelerated = level == LEVEL_ACCELERATION || stabilised;
    yk_drive drive = {0};

    bool driven = yk_multibody_has_drive(joint);
    if (mode != SINK_RECORD)
        keep_signal(work, joint);
    if (driven && mode != SINK_RECORD)
        drive = yk_multibody_drive(work, joint, work->t, level == LEVEL_VELOCITY || accelerated);
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(equations, &work->trial[node[0]].frame, &work->trial[node[1]].frame,
                           driven ? &drive : NULL, &kinematics);

    /* The rows of a joint: residuals, reactions, gradients. */
    int first = model->motion_count + joint->row;
    const double *lambda = &work->lambda[joint->row];
    yk_wrench *load_a = &work->load[node[0]];
    yk_wrench *load_b = &work->load[node[1]];
    for (int r = 0; r < equations->row_count; r++) {
        const yk_row *row = &equations->row[r];
        bool on_velocity = yk_row_on_velocity(row);

        yk_gradient gradient;
        yk_row_gradient(row, &kinematics, &gradient);
        if (mode != SINK_RECORD) {
            /* The residual of the equation on the requested level. Rows on velocity have no
             * position level. */
            double residual = 0;
            if (accelerated) {
                residual = row_acceleration(model, work, joint, row, &kinematics, &drive, &gradient,
                                            stabilised);
                if (stabilised)
                    residual *= on_velocity ? work->velocity_row_weight : work->row_weight;
            } else if (level == LEVEL_VELOCITY) {
                residual = yk_row_rate(row, &kinematics);
            } else if (!on_velocity) {
                residual = yk_row_value(row, &kinematics);
            } else if (level == LEVEL_STEP) {
                residual = to->c * yk_row_rate(row, &kinematics);
            }

            if (work->compliance > 0 && to->node > 0 && !joint->adds) {
                double scale = model->unknown_scale[first + r];
                residual -= work->compliance * to->node * lambda[r] / (scale * scale);
            }
            if (work->dependent_row[joint->row + r])
                residual = 0;

            if (joint->adds)
                work->right[first + r] -= residual;
            else
                work->right[first + r] = -residual;

            /* The reaction on both bodies; multipliers are unknowns on the levels with
             * accelerations. */
            double force = level == LEVEL_ACCELERATION ? 0 : -lambda[r];
            load_a->force = yk_v3_axpy(force, gradient.force[0], load_a->force);
            load_a->torque = yk_v3_axpy(force, gradient.torque[0], load_a->torque);
            load_b->force = yk_v3_axpy(force, gradient.force[1], load_b->force);
            load_b->torque = yk_v3_axpy(force, gradient.torque[1], load_b->torque);
        }

        if (mode == SINK_NONE)
            continue;

        bool hold = (level == LEVEL_POSITION || level == LEVEL_STATIC) && on_velocity;
        hold = hold || work->dependent_row[joint->row + r];
        row_matrix(model, work, joint, row, first + r, &gradient, hold, to, mode);
    }

    if (mode == SINK_NONE)
        return;

    /* The gradients rotate with the bodies, and so do the reactions. */
    yk_mat3 stiffness[4][4];
    memset(stiffness, 0, sizeof stiffness);
    if (mode == SINK_ADD && to->node > 0) {
        for (int r = 0; r < equations->row_count; r++)
            yk_row_stiffness(&equations->row[r], &kinematics, to->node * lambda[r], stiffness);
    }

    if (joint->chained) {
        yk_multibody_chain_blocks(model, work, node, (const yk_mat3(*)[4])stiffness,
                                  joint->stiffness_mask, to, mode);
        return;
    }

    for (int i = 0; i < 4; i++) {
        int row = model->nodes[node[i >> 1]].unknown;
        for (int j = 0; j < 4; j++) {
            int column = model->nodes[node[j >> 1]].unknown;
            if (!(joint->stiffness_mask >> (4 * i + j) & 1u) || row < 0 || column < 0)
                continue;

            sink_put_block(to, mode, row + 3 * (i & 1), column + 3 * (j & 1), 1, &stiffness[i][j]);
        }
    }
}

/* Forces --------------------------------------------------------------------------------------- */

static void add_load(yk_multibody_workspace *work, const int node[2], const yk_force_load *load)
{
    add_wrench(&work->load[node[0]], load->part[0], load->part[1]);
    add_wrench(&work->load[node[1]], load->part[2], load->part[3]);
    work->supply += load->supply;
    work->loss += load->loss;
    work->potential += load->energy;
}

static inline yk_mat3 pair_block(const sink *to, const yk_force_tangent *tangent, int i, int j)
{
    return yk_m3_add(yk_m3_scale(-to->node, tangent->pose[i][j]),
                     yk_m3_scale(-to->rate, tangent->rate[i][j]));
}

yk_force_coordinate yk_multibody_coordinate(const yk_multibody_workspace *work,
                                            const force_model *force)
{
    const int *node = force->node;
    double near = force->angle >= 0 ? work->angle[force->angle] : 0;
    return yk_force_coordinate_at(&force->law, &work->trial[node[0]].frame,
                                  &work->trial[node[1]].frame, near);
}

yk_scalar_force yk_multibody_scalar_force(const yk_multibody_workspace *work,
                                          const force_model *force, double load)
{
    double value = 0;
    double rate = 0;
    for (int i = 0; i < force->term_count; i++) {
        yk_force_coordinate term = yk_multibody_coordinate(work, &force[i]);
        value += force[i].ratio * term.value;
        rate += force[i].ratio * term.rate;
    }

    return yk_force_scalar(&force->law, value, rate, load);
}

/* Block of one node by another, which may be the same or an attachment. */
static inline void node_block(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              int row_node, int column_node, yk_mat3 quarter[2][2], sink *to,
                              sink_mode mode)
{
    if (model->nodes[row_node].attachment >= 0 || model->nodes[column_node].attachment >= 0) {
        const int node[2] = {row_node, column_node};
        yk_mat3 block[4][4];
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++)
                block[i][2 + j] = quarter[i][j];
        }
        yk_multibody_chain_blocks(model, work, node, (const yk_mat3(*)[4])block, 0xccu, to, mode);
        return;
    }

    int row = model->nodes[row_node].unknown;
    int column = model->nodes[column_node].unknown;
    for (int i = 0; i < 2 && row >= 0 && column >= 0; i++) {
        for (int j = 0; j < 2; j++)
            sink_put_block(to, mode, row + 3 * i, column + 3 * j, 1, &quarter[i][j]);
    }
}

/* A law on a sum of coordinates. */
static inline void scalar_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                               const force_model *force, double load, sink *to, sink_mode mode)
{
    yk_scalar_force scalar = {0};
    if (mode != SINK_RECORD) {
        scalar = yk_multibody_scalar_force(work, force, load);
        work->supply += scalar.supply;
        work->loss += scalar.loss;
        work->potential += scalar.energy;
    }

    /* The force along the gradient of each term, and its derivative by the sum: products of the
     * gradients of all terms. */
    double sum_stiffness = -to->node * scalar.by_value - to->rate * scalar.by_rate;
    for (int m = 0; m < force->term_count; m++) {
        const force_model *own = &force[m];
        yk_force_coordinate term = {0};
        if (mode != SINK_RECORD) {
            term = yk_multibody_coordinate(work, own);
            double size = -own->ratio * scalar.force;
            for (int side = 0; side < 2; side++)
                add_wrench(&work->load[own->node[side]], yk_v3_scale(size, term.gradient[2 * side]),
                           yk_v3_scale(size, term.gradient[2 * side + 1]));
        }
        if (mode == SINK_NONE)
            continue;

        yk_force_tangent geometric = {0};
        if (mode == SINK_ADD)
            yk_force_geometric(&own->law, &work->trial[own->node[0]].frame,
                               &work->trial[own->node[1]].frame, own->ratio * scalar.force,
                               &geometric);
        for (int k = 0; k < force->term_count; k++) {
            const force_model *other = &force[k];
            yk_force_coordinate by = {0};
            if (mode == SINK_ADD)
                by = yk_multibody_coordinate(work, other);

            double factor = sum_stiffness * own->ratio * other->ratio;
            for (int a = 0; a < 2; a++) {
                for (int b = 0; b < 2; b++) {
                    yk_mat3 quarter[2][2];
                    for (int i = 0; i < 2; i++) {
                        for (int j = 0; j < 2; j++) {
                            yk_mat3 *block = &quarter[i][j];
                            *block = yk_m3_scale(-factor, yk_m3_outer(term.gradient[2 * a + i],
                                                                      by.gradient[2 * b + j]));
                            if (k == m)
                                yk_m3_add_to(block, -to->node,
                                             geometric.pose[2 * a + i][2 * b + j]);
                        }
                    }
                    node_block(model, work, own->node[a], other->node[b], quarter, to, mode);
                }
            }
        }
    }
}

static inline void force_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                              const force_model *force, sink *to, sink_mode mode)
{
    if (force->term_count == 0)
        return;

    const int *node = force->node;
    bool both = yk_force_kind_acts_on_both(force->law.kind);

    /* The load from a signal (between steps its last value), from a feedback, or from a function. */
    double load = both ? 0 : 1;
    if (force->input >= 0 && mode != SINK_RECORD) {
        double *signal = &work->wrench[force->input].force.x;
        bool taken = model->ports[force->input].causality == YK_CAUSALITY_SIGNAL_INPUT;
        if (taken && work->inputs)
            *signal = yk_input_scalar(&work->inputs[force->input], work->input_time);
        load = force->load_unit * (taken ? *signal : 0);
    } else if (force->feedback.value && mode != SINK_RECORD) {
        double inputs[YK_FEEDBACK_INPUTS_MAX];
        for (int i = 0; i < force->feedback.input_count; i++) {
            int channel = force->channel[i];
            inputs[i] = yk_multibody_channel_value(work->owner, channel, force->component[i]);
        }
        load = force->load_unit * force->feedback.value(force->feedback.user, work->t, inputs);
    } else if (force->load.evaluate && mode != SINK_RECORD) {
        load = force->load_unit * force->load.evaluate(force->load.user, work->t);
    }

    if (yk_multibody_is_scalar(force)) {
        scalar_pass(model, work, force, load, to, mode);
        return;
    }

    /* Evaluate the force law at both frames. */
    yk_force_load result;
    yk_force_tangent tangent;
    yk_force_evaluate(&force->law, &work->trial[node[0]].frame, &work->trial[node[1]].frame, load,
                      &result, mode == SINK_NONE ? NULL : &tangent);

    /* Add loads in every pass, and the matrix if it is requested. */
    if (mode != SINK_RECORD)
        add_load(work, node, &result);
    if (mode == SINK_NONE)
        return;

    /* Stiffness and damping. At an attachment of a flexible body, those of its coordinates. */
    if (force->chained) {
        yk_mat3 block[4][4];
        for (int i = 0; i < 4 && mode == SINK_ADD; i++) {
            for (int j = 0; j < 4; j++)
                block[i][j] = pair_block(to, &tangent, i, j);
        }
        yk_multibody_chain_blocks(model, work, node, (const yk_mat3(*)[4])block,
                                  both ? 0xffffu : 0xcc00u, to, mode);
        return;
    }

    /* A force on one body has the blocks of the second alone. */
    for (int i = both ? 0 : 2; i < 4; i++) {
        int row = model->nodes[node[i >> 1]].unknown;
        for (int j = both ? 0 : 2; j < 4; j++) {
            int column = model->nodes[node[j >> 1]].unknown;
            if (row < 0 || column < 0)
                continue;

            yk_mat3 block = pair_block(to, &tangent, i, j);
            sink_put_block(to, mode, row + 3 * (i & 1), column + 3 * (j & 1), 1, &block);
        }
    }
}

/* Beams ---------------------------------------------------------------------------------------- */

static inline void beam_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                             const beam_model *beam, sink *to, sink_mode mode)
{
    /* If only masses count, nothing is added to the matrix. */
    bool stiff = mode == SINK_ADD && to->node > 0;
    const int *node = beam->node;
    yk_beam_jacobian jacobian;
    if (mode != SINK_RECORD) {
        const yk_frame *const frame[YK_BEAM_NODE_COUNT] = {
            &work->trial[node[0]].frame, &work->trial[node[1]].frame, &work->trial[node[2]].frame};

        yk_beam_loads loads;
        yk_beam_evaluate(&beam->beam, frame, &loads, stiff ? &jacobian : NULL);
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++)
            add_wrench(&work->load[node[k]], loads.force[k], loads.torque[k]);
        work->potential += loads.energy;
    }

    if (mode == SINK_NONE)
        return;

    /* Stiffness and damping, column by column. */
    int unknown[YK_BEAM_NODE_COUNT];
    for (int k = 0; k < YK_BEAM_NODE_COUNT; k++)
        unknown[k] = model->nodes[node[k]].unknown;
    for (int b = 0; b < YK_BEAM_NODE_COUNT; b++) {
        for (int j = 0; j < 6 && unknown[b] >= 0; j++) {
            for (int a = 0; a < YK_BEAM_NODE_COUNT; a++) {
                /* Six rows of one node in one column. */
                if (unknown[a] < 0)
                    continue;
                if (mode == SINK_RECORD) {
                    for (int k = 0; k < 6; k++)
                        sink_put(to, mode, unknown[a] + k, unknown[b] + j, 0);
                    continue;
                }

                const int *entry = to->entry_index + to->cursor;
                int row = 6 * a;
                int column = 6 * b + j;
                to->cursor += 6;
                if (!stiff)
                    continue;

                for (int k = 0; k < 6; k++)
                    to->values[entry[k]] -= to->node * jacobian.pose[row + k][column];
                for (int k = 0; k < 6 && beam->beam.damped; k++)
                    to->values[entry[k]] -= to->rate * jacobian.rate[row + k][column];
            }
        }
    }
}

/* Ports that take wrenches --------------------------------------------------------------------- */

/* Wrenches are inputs, not part of the model. They add nothing to the matrix, so that it depends on
 * the state alone. */
static void port_loads(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    for (int i = 0; work->inputs && i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->causality != YK_CAUSALITY_WRENCH_INPUT)
            continue;

        /* The wrench at this time, which is also the output of the port. */
        const yk_frame *frame = &work->trial[port->node[0]].frame;
        yk_wrench wrench = yk_input_wrench(&work->inputs[i], work->input_time);
        work->wrench[i] = wrench;

        /* At a marker it acts with its arm. */
        if (port->def.kind == YK_PORT_MARKER) {
            yk_vec3 arm = yk_m3_apply(frame->rotation, port->def.markers[0].offset);
            yk_vec3 torque = yk_v3_add(wrench.torque, yk_v3_cross(arm, wrench.force));
            yk_vec3 velocity =
                yk_v3_add(frame->velocity, yk_v3_cross(frame->angular_velocity, arm));

            add_wrench(&work->load[port->node[0]], wrench.force, torque);
            double power = yk_v3_dot(wrench.force, velocity) +
                           yk_v3_dot(wrench.torque, frame->angular_velocity);
            work->supply += power;
            work->port_supply += power;
            continue;
        }

        /* A scalar port acts like a spring without stiffness whose load is the wrench: positive
         * wrenches push the ends apart. */
        const yk_joint *distance = &port->distance;
        yk_force_law law = {.kind = YK_FORCE_SPRING,
                            .offset = {distance->offset[0], distance->offset[1]},
                            .axes = {distance->axes[0], distance->axes[1]}};
        yk_force_load result;
        yk_force_evaluate(&law, frame, &work->trial[port->node[1]].frame, -wrench.force.x, &result,
                          NULL);
        add_load(work, port->node, &result);
        work->port_supply += result.supply;
    }
}

/* One pass ------------------------------------------------------------------------------------- */

static inline void pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                        assembly_level level, sink *to, sink_mode mode)
{
    const yk_multibody_description *def = &model->def;
    bool weigh = level == LEVEL_POSITION || level == LEVEL_VELOCITY;

    /* Nodes that should move little are heavy in the assembly of positions and velocities. */
    for (int i = 0; i < model->node_count && mode != SINK_NONE; i++)
        node_matrix(model, work, i, weigh && model->nodes[i].keep ? KEPT_WEIGHT : 1, to, mode);
    for (int i = 0; i < def->force_count; i++)
        force_pass(model, work, &model->forces[i], to, mode);
    for (int i = 0; i < def->beam_count; i++)
        beam_pass(model, work, &model->beams[i], to, mode);
    for (int i = 0; i < model->joint_count; i++)
        joint_pass(model, work, &model->joints[i], level, to, mode);

    /* Flexible bodies, then the loads on their attachments. */
    if (def->flexible_count == 0)
        return;

    yk_multibody_flexible_pass(model, work, level, weigh ? KEPT_WEIGHT : 1, to, mode);
    yk_multibody_place_pass(model, work, to, mode);
}

size_t yk_multibody_pattern(const yk_multibody_model *model, yk_multibody_workspace *work,
                            yk_sparse_entry *entries)
{
    sink to = sink_of(model, 1);
    to.entries = entries;
    pass(model, work, LEVEL_STEP, &to, SINK_RECORD);
    return to.cursor;
}

void yk_multibody_assemble(const yk_multibody_model *model, yk_multibody_workspace *work,
                           yk_linear_solver *solver, assembly_level level)
{
    bool in_time = level == LEVEL_STEP || level == LEVEL_STATIC;
    sink to = sink_of(model, in_time ? work->c : 0);

    work->supply = work->port_supply = work->loss = work->potential = 0;
    memset(work->right, 0, (size_t)model->motion_count * sizeof *work->right);

    /* Frames of flexible bodies follow the coordinates; stabilized rows also need their
     * accelerations. */
    if (model->def.flexible_count) {
        unsigned what = ATTACHMENT_LOADS;
        if (solver)
            what |= ATTACHMENT_MAPS;
        if (level == LEVEL_ACCELERATION)
            what |= ATTACHMENT_BIASES;
        yk_multibody_place_flexibles(model, work, what);
        if (level == LEVEL_STEP && work->stabilisation > 0)
            yk_multibody_accelerate_attachments(model, work);
    }

    /* Loads on nodes and from ports. Those of ports on attachments are stored separately from loads
     * of elements. */
    node_loads(model, work);
    port_loads(model, work);
    for (int i = 0; i < model->def.attachment_count; i++) {
        yk_wrench *load = &work->load[model->attachments[i].frame];
        work->attachments[i].port = *load;
        *load = (yk_wrench){0};
    }

    /* Elements: their loads and rows, and the matrix with them. */
    if (solver) {
        to.entry_index = solver->entry_index;
        to.values = yk_sparse_values(solver->matrix);
        size_t count = yk_sparse_nonzeros(solver->matrix);
        memset(to.values, 0, count * sizeof *to.values);
        pass(model, work, level, &to, SINK_ADD);
        for (size_t k = 0; k < count; k++)
            to.values[k] *= solver->entry_scale[k];
    } else {
        pass(model, work, level, &to, SINK_NONE);
    }

    if (in_time || level == LEVEL_ACCELERATION)
        node_right(model, work, level, &to);
}
