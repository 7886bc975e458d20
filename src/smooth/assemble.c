/* The equations of the trial and their matrix, in one pass over nodes, joints, forces and ports. The same pass, run in
 * recording mode, gives the pattern, so that pattern and assembly cannot disagree: entry k of the pass is always added
 * at values[entry[k]]. Equations: internal.h. */
#include <string.h>

#include "math/polynomial.h"
#include "smooth/sink.h"

static inline void subtract(double *to, yk_vec3 v, double scale)
{
    to[0] -= scale * v.x;
    to[1] -= scale * v.y;
    to[2] -= scale * v.z;
}

static scales scales_of(const yk_smooth_model *model, double c)
{
    double inverse = 1 / model->mass_scale;
    return (scales){.c = c, .inertia = inverse, .node = c * c * inverse, .rate = c * inverse};
}

/* A node that is to be kept in place is so much heavier while positions and velocities are assembled. */
static const double KEPT_WEIGHT = 1e8;

/* The torque of the weight changes with the arm of the centre of mass: d(S x g) = (S g^T - S.g I) dtheta. */
static void weight_stiffness(const yk_inertia_global *inertia, yk_vec3 gravity, double c, double tangent[6][6])
{
    yk_mat3 rotates = yk_m3_outer(inertia->moment, gravity);
    double dot = yk_v3_dot(inertia->moment, gravity);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) tangent[3 + i][3 + j] -= c * c * (rotates.m[i][j] - (i == j ? dot : 0));
}

static inline void node_matrix(const yk_smooth_model *model, const yk_smooth_workspace *work, int i, double weight,
                               const scales *s, sink *to, sink_mode mode)
{
    const node_model *node = &model->nodes[i];
    int u = node->unknown;
    double square = model->length_scale * model->length_scale;
    if (!node->massive) {
        double fraction = s->c > 0 ? 0 : weight * work->idle_mass;
        for (int k = 0; k < 6; k++) put(to, mode, u + k, u + k, k < 3 ? fraction : fraction * square);
        return;
    }
    double tangent[6][6] = {{0}};
    if (mode == SINK_ADD) {
        yk_inertia_global inertia;
        yk_inertia_rotate(&node->inertia, &work->trial[i].frame.rotation, &inertia);
        yk_inertia_tangent(&inertia, &work->trial[i].frame, s->c, work->rotation_weight, tangent);
        if (node->eccentric) weight_stiffness(&inertia, model->def.gravity, s->c, tangent);
    }
    double scale = weight * s->inertia * (1 + s->c * work->damping);
    /* Point masses have no inertia of rotation: that their rotation is free must not make the start singular. */
    double point = s->c > 0 ? 0 : weight * work->idle_mass * 1e-3 * square;
    for (int k = 0; k < 3; k++) put(to, mode, u + k, u + k, scale * tangent[k][k]);
    for (int j = 3; j < 6; j++)
        for (int k = 3; k < 6; k++) put(to, mode, u + k, u + j, scale * tangent[k][j] + (k == j ? point : 0));
    if (!node->eccentric) return;
    for (int j = 0; j < 3; j++)
        for (int k = 3; k < 6; k++) {
            put(to, mode, u + k, u + j, scale * tangent[k][j]);
            put(to, mode, u + j, u + k, scale * tangent[j][k]);
        }
}

void yk_smooth_inertias(const yk_smooth_model *model, yk_smooth_workspace *work, bool with_rates)
{
    double inverse = with_rates ? 1 / work->c : 0;
    for (int i = 0; i < model->node_count; i++) {
        if (!model->nodes[i].massive) continue;
        const yk_inertia *inertia = &model->nodes[i].inertia;
        trial_node *node = &work->trial[i];
        const yk_frame *frame = &node->frame;
        /* J w = R (J0 (R^T w)): cheaper than to turn the tensor. */
        yk_vec3 spin =
            yk_m3_apply(frame->rotation,
                        yk_m3_apply(inertia->tensor, yk_m3_apply_transposed(frame->rotation, frame->angular_velocity)));
        node->momentum.linear = yk_v3_scale(inertia->mass, frame->velocity);
        node->momentum.angular = spin;
        if (model->nodes[i].eccentric) {
            yk_vec3 moment = yk_m3_apply(frame->rotation, inertia->moment);
            yk_vec3 swing = yk_v3_cross(frame->angular_velocity, moment);
            node->momentum.linear = yk_v3_add(node->momentum.linear, swing);
            node->momentum.angular = yk_v3_add(spin, yk_v3_cross(moment, frame->velocity));
        }
        if (!with_rates) continue;
        yk_vec3 linear = yk_v3_sub(node->momentum.linear, node->momentum_past.linear);
        yk_vec3 angular = yk_v3_sub(node->momentum.angular, node->momentum_past.angular);
        node->momentum_rate.linear = yk_v3_scale(inverse, linear);
        node->momentum_rate.angular = yk_v3_scale(inverse, angular);
    }
    if (model->def.flexible_count) yk_smooth_flexible_inertias(model, work, with_rates);
}

/* Gravity and artificial damping start the loads of each node. */
static void node_loads(const yk_smooth_model *model, yk_smooth_workspace *work, double potential[1])
{
    yk_vec3 g = model->def.gravity;
    for (int i = 0; i < model->node_count; i++) {
        const node_model *node = &model->nodes[i];
        const trial_node *trial = &work->trial[i];
        yk_wrench *load = &work->load[i];
        load->force = yk_v3_scale(node->inertia.mass, g);
        load->torque = yk_v3(0, 0, 0);
        *potential -= yk_v3_dot(load->force, trial->frame.position);
        if (node->eccentric) {
            yk_vec3 moment = yk_m3_apply(trial->frame.rotation, node->inertia.moment);
            load->torque = yk_v3_cross(moment, g);
            *potential -= yk_v3_dot(moment, g);
        }
        if (work->damping > 0) {
            load->force = yk_v3_axpy(-work->damping, trial->momentum.linear, load->force);
            load->torque = yk_v3_axpy(-work->damping, trial->momentum.angular, load->torque);
            work->loss += 2 * work->damping *
                          yk_inertia_kinetic(&trial->momentum, trial->frame.velocity, trial->frame.angular_velocity);
        }
    }
    for (int i = model->node_count; i < model->frame_count; i++) work->load[i] = (yk_wrench){0};
    for (int k = 0; k < model->coordinate_count; k++) {
        trial_coordinate *trial = &work->coordinates[k];
        trial->load = -work->damping * trial->momentum;
        work->loss += work->damping * trial->momentum * trial->rate;
    }
}

static void node_right(const yk_smooth_model *model, yk_smooth_workspace *work, assembly_level level, const scales *s)
{
    for (int i = 0; i < model->node_count; i++) {
        const trial_node *node = &work->trial[i];
        double *right = &work->right[model->nodes[i].unknown];
        yk_vec3 force = work->load[i].force, torque = work->load[i].torque;
        double scale = s->node;
        if (level == LEVEL_ACCELERATION) {
            yk_inertia_global inertia;
            yk_vec3 bias_force, bias_torque;
            yk_inertia_rotate(&model->nodes[i].inertia, &node->frame.rotation, &inertia);
            yk_inertia_bias(&inertia, &node->frame, &bias_force, &bias_torque);
            force = yk_v3_sub(force, bias_force);
            torque = yk_v3_sub(torque, bias_torque);
            scale = s->inertia;
        } else if (model->nodes[i].massive) {
            force = yk_v3_sub(force, node->momentum_rate.linear);
            torque = yk_v3_sub(torque, node->momentum_rate.angular);
            if (model->nodes[i].eccentric)
                torque = yk_v3_sub(torque, yk_v3_cross(node->frame.velocity, node->momentum.linear));
        }
        subtract(right, force, -scale);
        subtract(right + 3, torque, -scale);
    }
    bool rates = level != LEVEL_ACCELERATION;
    for (int k = 0; k < model->coordinate_count; k++) {
        const trial_coordinate *trial = &work->coordinates[k];
        double force = trial->load - (rates ? trial->momentum_rate : 0);
        work->right[model->coordinate_first + k] += (rates ? s->node : s->inertia) * force;
    }
}

/* Joints ---------------------------------------------------------------------------------------------------------- */

/* Derivatives of a drive by central differences of order eight. Integrators on acceleration level ask for a fraction of
 * their step, so that the error is of the order of their own; else, at the start, 1e-8 of their size is ample. */
static void difference(const yk_smooth_workspace *work, const yk_smooth_function *drive, double t, double step,
                       yk_drive *result)
{
    static const double first[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    static const double second[4] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
    double rate = 0, curvature = -205.0 / 72 * result->value;
    for (int k = 0; k < 4; k++) {
        double after = drive->value(drive->user, work->owner, t + (k + 1) * step);
        double before = drive->value(drive->user, work->owner, t - (k + 1) * step);
        rate += first[k] * (after - before);
        curvature += second[k] * (after + before);
    }
    result->rate = rate / step;
    result->second = curvature / (step * step);
}

yk_drive yk_smooth_drive(const yk_smooth_workspace *work, const joint_model *joint, double t, bool with_rates)
{
    const yk_smooth_function *drive = &joint->drive;
    if (joint->port >= 0 && !work->inputs) return (yk_drive){0}; /* between steps it goes on as it was */
    if (joint->port >= 0) {                                      /* a length that arrives as a polynomial */
        const yk_input *signal = &work->inputs[joint->port];
        double local = t - work->t + work->input_time;
        yk_drive length = {.value = yk_input_scalar(signal, local)};
        if (with_rates) {
            length.rate = yk_input_scalar_rate(signal, local);
            length.second = yk_input_scalar_second_rate(signal, local);
        }
        return length;
    }
    yk_drive result = {.value = drive->value(drive->user, work->owner, t)};
    if (with_rates) difference(work, drive, t, work->drive_step > 0 ? work->drive_step : 1e-4, &result);
    result.value *= joint->drive_unit, result.rate *= joint->drive_unit, result.second *= joint->drive_unit;
    return result;
}

static inline void row_matrix(const yk_smooth_model *model, const yk_smooth_workspace *work, const joint_model *joint,
                              const yk_row *row, int equation, const yk_gradient *gradient, bool hold, sink *to,
                              sink_mode mode)
{
    if (joint->chained) {
        yk_smooth_chain_row(model, work, joint, row, equation, gradient, hold, to, mode);
        return;
    }
    unsigned mask = yk_row_mask(row);
    const double *entry = (const double *)gradient;
    for (int part = 0; part < 4; part++) {
        /* Order in memory: force a, force b, torque a, torque b. */
        int body = part & 1, torque = part >> 1;
        int u = model->nodes[joint->node[body]].unknown;
        unsigned bits = mask >> (3 * (2 * body + torque)) & 7u;
        if (u < 0 || !bits) continue;
        for (int k = 0; k < 3; k++) {
            if (!(bits >> k & 1u)) continue;
            double value = hold ? 0 : entry[3 * part + k];
            put(to, mode, equation, u + 3 * torque + k, value);
            put(to, mode, u + 3 * torque + k, equation, value);
        }
    }
    put(to, mode, equation, equation, hold ? -1 : -work->compliance);
}

static inline void joint_stiffness(const yk_smooth_model *model, const yk_smooth_workspace *work,
                                   const joint_model *joint, const yk_joint_kinematics *kinematics,
                                   const double *lambda, double scale, sink *to, sink_mode mode)
{
    yk_mat3 stiffness[4][4];
    memset(stiffness, 0, sizeof stiffness);
    if (mode == SINK_ADD && scale > 0)
        for (int r = 0; r < joint->joint.row_count; r++)
            yk_row_stiffness(&joint->joint.row[r], kinematics, scale * lambda[r], stiffness);
    if (joint->chained) {
        yk_smooth_chain_blocks(model, work, joint->node, (const yk_mat3(*)[4])stiffness, joint->stiffness_mask, to,
                               mode);
        return;
    }
    for (int i = 0; i < 4; i++) {
        int row = model->nodes[joint->node[i >> 1]].unknown;
        for (int j = 0; j < 4; j++) {
            int column = model->nodes[joint->node[j >> 1]].unknown;
            if (!(joint->stiffness_mask >> (4 * i + j) & 1u) || row < 0 || column < 0) continue;
            put_block(to, mode, row + 3 * (i & 1), column + 3 * (j & 1), 1, &stiffness[i][j]);
        }
    }
}

/* (d/dt + beta)^2 of a row, without what the unknown accelerations contribute; rows on velocity are differentiated once. */
static double stabilised(const yk_smooth_workspace *work, const joint_model *joint, const yk_row *row,
                         const yk_joint_kinematics *kinematics, const yk_drive *drive)
{
    double beta = work->stabilisation;
    double bias =
        yk_row_bias(row, &joint->joint, &work->trial[joint->node[0]].frame, &work->trial[joint->node[1]].frame, drive);
    if (beta == 0) return bias;
    if (yk_row_on_velocity(row->kind)) return bias + beta * yk_row_rate(row, kinematics);
    return bias + beta * (2 * yk_row_rate(row, kinematics) + beta * yk_row_value(row, kinematics));
}

static double row_residual(const yk_smooth_workspace *work, const joint_model *joint, const yk_row *row,
                           const yk_joint_kinematics *kinematics, const yk_drive *drive, assembly_level level,
                           const scales *s)
{
    bool velocity_row = yk_row_on_velocity(row->kind);
    switch (level) {
    case LEVEL_VELOCITY: return yk_row_rate(row, kinematics);
    case LEVEL_ACCELERATION: return stabilised(work, joint, row, kinematics, drive);
    case LEVEL_STEP: return velocity_row ? s->c * yk_row_rate(row, kinematics) : yk_row_value(row, kinematics);
    default: return velocity_row ? 0 : yk_row_value(row, kinematics);
    }
}

/* What frames contribute to the second derivative of a row by their own accelerations: those that are prescribed, or
 * all. */
static double acceleration_along(const yk_smooth_model *model, const yk_smooth_workspace *work,
                                 const joint_model *joint, const yk_gradient *gradient, bool all)
{
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const trial_node *node = &work->trial[joint->node[side]];
        if (joint->node[side] == model->node_count || (joint->node[side] < model->node_count && !all)) continue;
        sum += yk_v3_dot(gradient->force[side], node->acceleration) +
               yk_v3_dot(gradient->torque[side], node->angular_acceleration);
    }
    return sum;
}

static inline void joint_pass(const yk_smooth_model *model, yk_smooth_workspace *work, const joint_model *joint,
                              assembly_level level, const scales *s, sink *to, sink_mode mode)
{
    yk_drive drive = {0};
    bool driven = joint->driven;
    bool accelerated = level == LEVEL_ACCELERATION || (level == LEVEL_STEP && work->stabilisation > 0);
    bool with_rates = level == LEVEL_VELOCITY || accelerated;
    if (driven && mode != SINK_RECORD) drive = yk_smooth_drive(work, joint, work->t, with_rates);
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(&joint->joint, &work->trial[joint->node[0]].frame, &work->trial[joint->node[1]].frame,
                           driven ? &drive : NULL, &kinematics);
    int first = model->motion_count + joint->row;
    const double *lambda = &work->lambda[joint->row];
    yk_wrench *load_a = &work->load[joint->node[0]], *load_b = &work->load[joint->node[1]];
    for (int r = 0; r < joint->joint.row_count; r++) {
        const yk_row *row = &joint->joint.row[r];
        bool hold = (level == LEVEL_POSITION || level == LEVEL_STATIC) && yk_row_on_velocity(row->kind);
        yk_gradient gradient;
        yk_row_gradient(row, &kinematics, &gradient);
        if (mode != SINK_RECORD) {
            double residual =
                row_residual(work, joint, row, &kinematics, &drive, accelerated ? LEVEL_ACCELERATION : level, s);
            if (accelerated) residual += acceleration_along(model, work, joint, &gradient, level == LEVEL_STEP);
            if (accelerated && level == LEVEL_STEP)
                residual *= yk_row_on_velocity(row->kind) ? work->velocity_row_weight : work->row_weight;
            if (work->compliance > 0 && s->node > 0) {
                double scale = model->unknown_scale[first + r];
                residual -= work->compliance * s->node * lambda[r] / (scale * scale);
            }
            work->right[first + r] = -residual;
            double force = level == LEVEL_ACCELERATION ? 0 : -lambda[r];
            load_a->force = yk_v3_axpy(force, gradient.force[0], load_a->force);
            load_a->torque = yk_v3_axpy(force, gradient.torque[0], load_a->torque);
            load_b->force = yk_v3_axpy(force, gradient.force[1], load_b->force);
            load_b->torque = yk_v3_axpy(force, gradient.torque[1], load_b->torque);
        }
        if (mode != SINK_NONE) row_matrix(model, work, joint, row, first + r, &gradient, hold, to, mode);
    }
    if (mode != SINK_NONE) joint_stiffness(model, work, joint, &kinematics, lambda, s->node, to, mode);
}

/* Forces ---------------------------------------------------------------------------------------------------------- */

/* At a place of a flexible body. */
static void chained_pair(const yk_smooth_model *model, const yk_smooth_workspace *work, const int node[2], bool both,
                         const scales *s, const yk_force_tangent *tangent, sink *to, sink_mode mode)
{
    yk_mat3 block[4][4];
    for (int i = 0; i < 4 && mode == SINK_ADD; i++)
        for (int j = 0; j < 4; j++)
            block[i][j] =
                yk_m3_add(yk_m3_scale(-s->node, tangent->pose[i][j]), yk_m3_scale(-s->rate, tangent->rate[i][j]));
    yk_smooth_chain_blocks(model, work, node, (const yk_mat3(*)[4])block, both ? 0xffffu : 0xcc00u, to, mode);
}

static inline void pair_blocks(const yk_smooth_model *model, const int node[2], bool both, const scales *s,
                               const yk_force_tangent *tangent, sink *to, sink_mode mode)
{
    for (int i = both ? 0 : 2; i < 4; i++) {
        int row = model->nodes[node[i >> 1]].unknown;
        for (int j = both ? 0 : 2; j < 4; j++) {
            int column = model->nodes[node[j >> 1]].unknown;
            if (row < 0 || column < 0) continue;
            yk_mat3 block =
                yk_m3_add(yk_m3_scale(-s->node, tangent->pose[i][j]), yk_m3_scale(-s->rate, tangent->rate[i][j]));
            put_block(to, mode, row + 3 * (i & 1), column + 3 * (j & 1), 1, &block);
        }
    }
}

static void add_load(yk_smooth_workspace *work, const int node[2], const yk_force_load *load)
{
    for (int side = 0; side < 2; side++) {
        yk_wrench *sum = &work->load[node[side]];
        sum->force = yk_v3_add(sum->force, load->part[2 * side]);
        sum->torque = yk_v3_add(sum->torque, load->part[2 * side + 1]);
    }
    work->supply += load->supply;
    work->loss += load->loss;
    work->potential += load->energy;
}

/* What a signal port takes; between steps the last value that it took. */
static double signal_at(const yk_smooth_model *model, yk_smooth_workspace *work, int index)
{
    if (model->ports[index].causality != YK_TAKES_SIGNAL) return 0;
    yk_wrench *taken = &work->wrench[index];
    if (work->inputs) taken->force.x = yk_input_scalar(&work->inputs[index], work->input_time);
    return taken->force.x;
}

static inline void force_pass(const yk_smooth_model *model, yk_smooth_workspace *work, const force_model *force,
                              const scales *s, sink *to, sink_mode mode)
{
    bool both = yk_force_on_both(force->law.kind);
    double load = both ? 0 : 1;
    if (force->input >= 0 && mode != SINK_RECORD) {
        load = force->load_unit * signal_at(model, work, force->input);
    } else if (force->load.value && mode != SINK_RECORD) {
        work->first_channel = force->first_channel;
        load = force->load_unit * force->load.value(force->load.user, work->owner, work->t);
        work->first_channel = 0;
    }
    yk_force_load result;
    yk_force_tangent tangent;
    yk_force_evaluate(&force->law, &work->trial[force->node[0]].frame, &work->trial[force->node[1]].frame, load,
                      &result, mode == SINK_NONE ? NULL : &tangent);
    if (mode != SINK_RECORD) add_load(work, force->node, &result);
    if (mode == SINK_NONE) return;
    if (force->chained) {
        chained_pair(model, work, force->node, both, s, &tangent, to, mode);
    } else {
        pair_blocks(model, force->node, both, s, &tangent, to, mode);
    }
}

/* Beams ----------------------------------------------------------------------------------------------------------- */

/* Six rows of one node in one column. */
static inline void beam_rows(const beam_model *beam, const scales *s, const yk_beam_jacobian *jacobian, int i, int j,
                             int row, int column, sink *to, sink_mode mode)
{
    if (mode == SINK_ADD && s->node == 0) { /* where masses alone decide nothing is added */
        to->cursor += 6;
        return;
    }
    if (mode == SINK_RECORD) {
        for (int k = 0; k < 6; k++) put(to, mode, row + k, column, 0);
        return;
    }
    const int *entry = to->entry_index + to->cursor;
    for (int k = 0; k < 6; k++) to->values[entry[k]] -= s->node * jacobian->pose[i + k][j];
    for (int k = 0; k < 6 && beam->beam.damped; k++) to->values[entry[k]] -= s->rate * jacobian->rate[i + k][j];
    to->cursor += 6;
}

static inline void beam_blocks(const yk_smooth_model *model, const beam_model *beam, const scales *s,
                               const yk_beam_jacobian *jacobian, sink *to, sink_mode mode)
{
    int unknown[YK_BEAM_NODES];
    for (int k = 0; k < YK_BEAM_NODES; k++) unknown[k] = model->nodes[beam->node[k]].unknown;
    for (int b = 0; b < YK_BEAM_NODES; b++)
        for (int j = 0; j < 6 && unknown[b] >= 0; j++)
            for (int a = 0; a < YK_BEAM_NODES; a++)
                if (unknown[a] >= 0)
                    beam_rows(beam, s, jacobian, 6 * a, 6 * b + j, unknown[a], unknown[b] + j, to, mode);
}

static inline void beam_pass(const yk_smooth_model *model, yk_smooth_workspace *work, const beam_model *beam,
                             const scales *s, sink *to, sink_mode mode)
{
    yk_beam_jacobian jacobian;
    if (mode != SINK_RECORD) {
        const yk_frame *const node[YK_BEAM_NODES] = {
            &work->trial[beam->node[0]].frame, &work->trial[beam->node[1]].frame, &work->trial[beam->node[2]].frame};
        yk_beam_loads loads;
        yk_beam_evaluate(&beam->beam, node, &loads, mode == SINK_ADD && s->node > 0 ? &jacobian : NULL);
        for (int k = 0; k < YK_BEAM_NODES; k++) {
            yk_wrench *sum = &work->load[beam->node[k]];
            sum->force = yk_v3_add(sum->force, loads.force[k]);
            sum->torque = yk_v3_add(sum->torque, loads.torque[k]);
        }
        work->potential += loads.energy;
    }
    if (mode != SINK_NONE) beam_blocks(model, beam, s, &jacobian, to, mode);
}

/* Ports that take wrenches ----------------------------------------------------------------------------------------- */

/* Wrenches are inputs, not part of the model: they add nothing to the matrix, so that it depends on the state alone. */
static void marker_port(yk_smooth_workspace *work, const port_model *port, yk_wrench wrench)
{
    const yk_frame *frame = &work->trial[port->node[0]].frame;
    yk_vec3 arm = yk_m3_apply(frame->rotation, port->def.marker[0].offset);
    yk_wrench *load = &work->load[port->node[0]];
    load->force = yk_v3_add(load->force, wrench.force);
    load->torque = yk_v3_add(load->torque, yk_v3_add(wrench.torque, yk_v3_cross(arm, wrench.force)));
    yk_vec3 velocity = yk_v3_add(frame->velocity, yk_v3_cross(frame->angular_velocity, arm));
    double power = yk_v3_dot(wrench.force, velocity) + yk_v3_dot(wrench.torque, frame->angular_velocity);
    work->supply += power;
    work->port_supply += power;
}

/* A scalar port is a spring without stiffness whose load is the wrench: positive wrenches lengthen. */
static void scalar_port(yk_smooth_workspace *work, const port_model *port, double wrench)
{
    yk_force_law law = {.kind = YK_FORCE_SPRING,
                        .offset = {port->distance.offset[0], port->distance.offset[1]},
                        .axes = {port->distance.axes[0], port->distance.axes[1]}};
    yk_force_load result;
    yk_force_evaluate(&law, &work->trial[port->node[0]].frame, &work->trial[port->node[1]].frame, -wrench, &result,
                      NULL);
    add_load(work, port->node, &result);
    work->port_supply += result.supply;
}

static void port_loads(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    if (!work->inputs) return;
    for (int i = 0; i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->causality != YK_TAKES_WRENCH) continue;
        yk_wrench wrench = yk_input_wrench(&work->inputs[i], work->input_time);
        work->wrench[i] = wrench;
        if (port->def.kind == YK_PORT_MARKER) {
            marker_port(work, port, wrench);
        } else {
            scalar_port(work, port, wrench.force.x);
        }
    }
}

/* One pass -------------------------------------------------------------------------------------------------------- */

static inline void pass(const yk_smooth_model *model, yk_smooth_workspace *work, assembly_level level, const scales *s,
                        sink *to, sink_mode mode)
{
    bool weigh = level == LEVEL_POSITION || level == LEVEL_VELOCITY;
    for (int i = 0; i < model->node_count && mode != SINK_NONE; i++)
        node_matrix(model, work, i, weigh && model->nodes[i].keep ? KEPT_WEIGHT : 1, s, to, mode);
    for (int i = 0; i < model->def.force_count; i++) force_pass(model, work, &model->forces[i], s, to, mode);
    for (int i = 0; i < model->def.beam_count; i++) beam_pass(model, work, &model->beams[i], s, to, mode);
    for (int i = 0; i < model->joint_count; i++) joint_pass(model, work, &model->joints[i], level, s, to, mode);
    if (model->def.flexible_count == 0) return;
    yk_smooth_flexible_pass(model, work, level, weigh ? KEPT_WEIGHT : 1, s, to, mode);
    yk_smooth_place_pass(model, work, s, to, mode);
}

size_t yk_smooth_pattern(const yk_smooth_model *model, yk_smooth_workspace *work, yk_sparse_entry *entries)
{
    sink to = {.entries = entries};
    scales s = scales_of(model, 1);
    pass(model, work, LEVEL_STEP, &s, &to, SINK_RECORD);
    return to.cursor;
}

void yk_smooth_assemble(const yk_smooth_model *model, yk_smooth_workspace *work, yk_linear_solver *solver,
                        assembly_level level)
{
    bool in_time = level == LEVEL_STEP || level == LEVEL_STATIC;
    scales s = scales_of(model, in_time ? work->c : 0);
    work->supply = work->port_supply = work->loss = work->potential = 0;
    if (model->def.flexible_count) {
        bool second = level == LEVEL_ACCELERATION;
        yk_smooth_place_flexibles(model, work,
                                  ATTACHMENT_LOADS | (solver ? ATTACHMENT_MAPS : 0) | (second ? ATTACHMENT_BIASES : 0));
        /* which the stabilised rows read */
        if (level == LEVEL_STEP && work->stabilisation > 0) yk_smooth_accelerate_attachments(model, work);
    }
    memset(work->right, 0, (size_t)model->motion_count * sizeof *work->right);
    node_loads(model, work, &work->potential);
    port_loads(model, work);
    for (int i = 0; i < model->def.attachment_count; i++) {
        yk_wrench *load = &work->load[model->attachments[i].frame];
        work->attachments[i].port = *load;
        *load = (yk_wrench){0};
    }
    if (solver) {
        sink to = {.entry_index = solver->entry_index, .values = yk_sparse_values(solver->matrix)};
        memset(to.values, 0, yk_sparse_nonzeros(solver->matrix) * sizeof *to.values);
        pass(model, work, level, &s, &to, SINK_ADD);
        size_t count = yk_sparse_nonzeros(solver->matrix);
        for (size_t k = 0; k < count; k++) to.values[k] *= solver->entry_scale[k];
    } else {
        pass(model, work, level, &s, NULL, SINK_NONE);
    }
    if (level == LEVEL_STEP || level == LEVEL_STATIC || level == LEVEL_ACCELERATION) node_right(model, work, level, &s);
}
