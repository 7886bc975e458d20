/* What all integrators share about the step that is being solved: prescribed frames, powers, and the way between the trial
 * and the accepted state. */
#include <string.h>

#include "math/polynomial.h"
#include "smooth/internal.h"

/* Frames that the inputs prescribe, at the end of the trial. */
void yk_smooth_input_frames(yk_smooth *model)
{
    if (!model->inputs) return;
    for (int i = 0; i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->driver < 0) continue;
        yk_motion motion = yk_signal_motion(&model->inputs[i], YK_PORT_MARKER, model->input_time);
        trial_node *node = &model->trial[port->driver];
        node->frame = (yk_frame){.position = motion.position,
                                 .rotation = yk_q_matrix(yk_q_unit(motion.orientation)),
                                 .velocity = motion.velocity,
                                 .angular_velocity = motion.angular_velocity};
        node->orientation = motion.orientation;
        node->acceleration = motion.acceleration;
        node->angular_acceleration = motion.angular_acceleration;
    }
}

double yk_smooth_damping_at(const yk_smooth *model, double t)
{
    const yk_smooth_options *options = &model->def.options;
    if (options->damping == 0 || t >= options->damping_end) return 0;
    if (t <= options->damping_start) return options->damping;
    return options->damping * (options->damping_end - t) / (options->damping_end - options->damping_start);
}

/* Power that prescribed motions bring in: minus the multiplier times the speed along its row. */
static double drive_power(const yk_smooth *model, const joint_model *joint)
{
    yk_drive drive = {0};
    bool driven = joint->drive.value != NULL;
    if (driven) drive = yk_smooth_drive(model, joint, model->t, false);
    yk_frame still = model->trial[joint->node[1]].frame;
    if (joint->port >= 0 && !driven) still.velocity = still.angular_velocity = yk_v3(0, 0, 0);
    yk_joint_place where;
    yk_joint_place_at(&joint->joint, &model->trial[joint->node[0]].frame, &still, driven ? &drive : NULL, &where);
    double power = 0;
    for (int r = 0; r < joint->joint.row_count; r++) {
        const yk_row *row = &joint->joint.row[r];
        double speed = yk_row_rate(row, &where);
        if (yk_row_on_velocity(row->kind)) speed += where.drive.value;
        power -= model->lambda[joint->row + r] * speed;
    }
    return power;
}

void yk_smooth_drive_powers(yk_smooth *model)
{
    bool placed = model->def.flexible_count == 0;
    for (int i = 0; i < model->joint_count; i++) {
        if (!model->joints[i].drive.value && model->joints[i].port < 0) continue;
        if (!placed) yk_smooth_place_flexibles(model, PLACE_FRAMES);
        placed = true;
        double power = drive_power(model, &model->joints[i]);
        model->supply += power;
        if (model->joints[i].port >= 0) model->port_supply += power;
    }
}

void yk_smooth_account(yk_smooth *model)
{
    clock_state *clock = model->state.clock;
    yk_smooth_drive_powers(model);
    model->loss += yk_smooth_beam_loss(model);
    clock->work += 0.5 * model->h * (clock->supply + model->supply);
    clock->port_work += 0.5 * model->h * (clock->port_supply + model->port_supply);
    clock->dissipated += 0.5 * model->h * (clock->loss + model->loss);
    clock->supply = model->supply;
    clock->port_supply = model->port_supply;
    clock->loss = model->loss;
}

void yk_smooth_keep_inputs(yk_smooth *model)
{
    for (int i = 0; i < model->def.port_count; i++) model->state.effort[i] = model->ports[i].effort;
    for (int i = model->node_count; i < model->frame_count; i++) model->state.driven[i] = model->trial[i].frame;
}

/* Nodes, coordinates, multipliers and inputs of the trial become the accepted state; what it was before is lost. */
void yk_smooth_state_from_trial(yk_smooth *model)
{
    yk_smooth_show_places(model);
    for (int i = 0; i < model->node_count; i++) {
        const trial_node *node = &model->trial[i];
        model->state.now[i] = (node_state){.position = node->frame.position,
                                           .orientation = node->orientation,
                                           .velocity = node->frame.velocity,
                                           .angular_velocity = node->frame.angular_velocity,
                                           .momentum = node->momentum,
                                           .momentum_rate = node->momentum_rate,
                                           .acceleration = node->acceleration,
                                           .angular_acceleration = node->angular_acceleration};
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        const trial_coordinate *trial = &model->coordinates[k];
        model->state.coordinate_now[k] = (coordinate_state){.value = trial->value,
                                                            .rate = trial->rate,
                                                            .momentum = trial->momentum,
                                                            .momentum_rate = trial->momentum_rate,
                                                            .acceleration = trial->acceleration};
    }
    memcpy(model->state.lambda, model->lambda, (size_t)model->row_count * sizeof *model->lambda);
    yk_smooth_keep_inputs(model);
}

/* The rotation of a state: to the bit that of the step that made it, whose quaternion was made unit before. Images that
 * were displaced from outside need not be. */
static yk_mat3 rotation_of(yk_quat q)
{
    double norm2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return yk_q_matrix(fabs(norm2 - 1) < 1e-14 ? q : yk_q_unit(q));
}

void yk_smooth_trial_from_state(yk_smooth *model)
{
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &model->state.now[i];
        trial_node *node = &model->trial[i];
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
        const coordinate_state *now = &model->state.coordinate_now[k];
        model->coordinates[k] = (trial_coordinate){.value = now->value,
                                                   .rate = now->rate,
                                                   .momentum = now->momentum,
                                                   .momentum_rate = now->momentum_rate,
                                                   .acceleration = now->acceleration};
    }
    memcpy(model->lambda, model->state.lambda, (size_t)model->row_count * sizeof *model->lambda);
    for (int i = 0; i < model->def.port_count; i++) model->ports[i].effort = model->state.effort[i];
    for (int i = model->node_count; i < model->frame_count; i++) model->trial[i].frame = model->state.driven[i];
    yk_smooth_show_places(model);
    model->t = model->state.clock->t;
    model->open = model->relaxing = false;
}
