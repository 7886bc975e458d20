/* What all integrators share about the step that is being solved: prescribed frames, powers, and the way between the trial
 * and the accepted state. */
#include <string.h>

#include "math/polynomial.h"
#include "smooth/assemble.h"

/* Frames that the inputs prescribe, at the end of the trial. */
void yk_smooth_input_frames(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    if (!work->inputs) return;
    for (int i = 0; i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->driver < 0) continue;
        yk_motion motion = yk_input_motion(&work->inputs[i], YK_PORT_MARKER, work->input_time);
        trial_node *node = &work->trial[port->driver];
        node->frame = (yk_frame){.position = motion.position,
                                 .rotation = yk_q_matrix(yk_q_unit(motion.orientation)),
                                 .velocity = motion.velocity,
                                 .angular_velocity = motion.angular_velocity};
        node->orientation = motion.orientation;
        node->acceleration = motion.acceleration;
        node->angular_acceleration = motion.angular_acceleration;
    }
}

double yk_smooth_damping_at(const yk_smooth_model *model, double t)
{
    const yk_smooth_options *options = &model->def.options;
    if (options->damping == 0 || t >= options->damping_end) return 0;
    if (t <= options->damping_start) return options->damping;
    return options->damping * (options->damping_end - t) / (options->damping_end - options->damping_start);
}

/* Power that prescribed motions bring in: minus the multiplier times the speed along its row. */
static double drive_power(const yk_smooth_workspace *work, const joint_model *joint)
{
    yk_drive drive = {0};
    bool driven = joint->driven;
    if (driven) drive = yk_smooth_drive(work, joint, work->t, false);
    yk_frame still = work->trial[joint->node[1]].frame;
    if (joint->port >= 0 && !driven) still.velocity = still.angular_velocity = yk_v3(0, 0, 0);
    yk_joint_kinematics where;
    yk_joint_kinematics_at(&joint->joint, &work->trial[joint->node[0]].frame, &still, driven ? &drive : NULL, &where);
    double power = 0;
    for (int r = 0; r < joint->joint.row_count; r++) {
        const yk_row *row = &joint->joint.row[r];
        double speed = yk_row_rate(row, &where);
        if (yk_row_on_velocity(row->kind)) speed += where.drive.value;
        power -= work->lambda[joint->row + r] * speed;
    }
    return power;
}

void yk_smooth_drive_powers(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    bool placed = model->def.flexible_count == 0;
    for (int i = 0; i < model->joint_count; i++) {
        if (!model->joints[i].driven && model->joints[i].port < 0) continue;
        if (!placed) yk_smooth_place_flexibles(model, work, ATTACHMENT_FRAMES);
        placed = true;
        double power = drive_power(work, &model->joints[i]);
        work->supply += power;
        if (model->joints[i].port >= 0) work->port_supply += power;
    }
}

void yk_smooth_balance_energy(const yk_smooth_model *model, yk_smooth_state *state, yk_smooth_workspace *work)
{
    clock_state *clock = state->clock;
    yk_smooth_drive_powers(model, work);
    work->loss += yk_smooth_beam_loss(model, work);
    clock->work += 0.5 * work->h * (clock->supply + work->supply);
    clock->port_work += 0.5 * work->h * (clock->port_supply + work->port_supply);
    clock->dissipated += 0.5 * work->h * (clock->loss + work->loss);
    clock->supply = work->supply;
    clock->port_supply = work->port_supply;
    clock->loss = work->loss;
}

void yk_smooth_keep_inputs(const yk_smooth_model *model, yk_smooth_state *state, const yk_smooth_workspace *work)
{
    for (int i = 0; i < model->def.port_count; i++) state->wrench[i] = work->wrench[i];
    for (int i = model->node_count; i < model->frame_count; i++) state->driven[i] = work->trial[i].frame;
}

/* Nodes, coordinates, multipliers and inputs of the trial become the accepted state; what it was before is lost. */
void yk_smooth_state_from_trial(const yk_smooth_model *model, yk_smooth_state *state, yk_smooth_workspace *work)
{
    yk_smooth_show_attachments(model, work);
    for (int i = 0; i < model->node_count; i++) {
        const trial_node *node = &work->trial[i];
        state->now[i] = (node_state){.position = node->frame.position,
                                     .orientation = node->orientation,
                                     .velocity = node->frame.velocity,
                                     .angular_velocity = node->frame.angular_velocity,
                                     .momentum = node->momentum,
                                     .momentum_rate = node->momentum_rate,
                                     .acceleration = node->acceleration,
                                     .angular_acceleration = node->angular_acceleration};
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        const trial_coordinate *trial = &work->coordinates[k];
        state->coordinate_now[k] = (coordinate_state){.value = trial->value,
                                                      .rate = trial->rate,
                                                      .momentum = trial->momentum,
                                                      .momentum_rate = trial->momentum_rate,
                                                      .acceleration = trial->acceleration};
    }
    memcpy(state->lambda, work->lambda, (size_t)model->row_count * sizeof *work->lambda);
    yk_smooth_keep_inputs(model, state, work);
}

/* The rotation of a state: to the bit that of the step that made it, whose quaternion was made unit before. Images that
 * were displaced from outside need not be. */
static yk_mat3 rotation_of(yk_quat q)
{
    double norm2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return yk_q_matrix(fabs(norm2 - 1) < 1e-14 ? q : yk_q_unit(q));
}

void yk_smooth_trial_from_state(const yk_smooth_model *model, const yk_smooth_state *state, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &state->now[i];
        trial_node *node = &work->trial[i];
        node->frame = (yk_frame){.position = now->position,
                                 .rotation = rotation_of(now->orientation),
                                 .velocity = now->velocity,
                                 .angular_velocity = now->angular_velocity};
        node->orientation = now->orientation;
        node->momentum = now->momentum;
        node->momentum_rate = now->momentum_rate;
        node->acceleration = now->acceleration;
        node->angular_acceleration = now->angular_acceleration;
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        work->coordinates[k] = (trial_coordinate){.value = now->value,
                                                  .rate = now->rate,
                                                  .momentum = now->momentum,
                                                  .momentum_rate = now->momentum_rate,
                                                  .acceleration = now->acceleration};
    }
    memcpy(work->lambda, state->lambda, (size_t)model->row_count * sizeof *work->lambda);
    for (int i = 0; i < model->def.port_count; i++) work->wrench[i] = state->wrench[i];
    for (int i = model->node_count; i < model->frame_count; i++) work->trial[i].frame = state->driven[i];
    yk_smooth_show_attachments(model, work);
    work->t = state->clock->t;
    work->open = work->relaxing = false;
}
