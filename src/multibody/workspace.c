/* The workspace of a step: its memory, and functions on the trial that all integrators share:
 * prescribed inputs, adding solutions, powers, and the copies between the trial and the accepted
 * state. */
#include "multibody/workspace.h"

#include <string.h>

#include "math/polynomial.h"
#include "multibody/assemble.h"
#include "multibody/integrator.h"

/* Memory --------------------------------------------------------------------------------------- */

/* Inputs of the model's own and the wrenches of the ports exist as long as the model, because
 * callers may read them before the start. */
yk_status yk_multibody_workspace_create(const yk_multibody_model *model,
                                        yk_multibody_workspace *work)
{
    yk_context *context = model->context;
    size_t frames = (size_t)model->frame_count;
    size_t rows = (size_t)model->row_count;
    size_t unknowns = (size_t)model->unknown_count;
    size_t scratch = 0;

    /* Workspace of the integrator, as long as it requests. */
    if (model->integrator->scratch_words)
        scratch = model->integrator->scratch_words(model);

    work->trial = yk_allocate(context, frames, sizeof *work->trial);
    work->coordinates =
        yk_allocate(context, (size_t)model->coordinate_count, sizeof *work->coordinates);
    work->lambda = yk_allocate(context, rows, sizeof *work->lambda);
    work->angle = yk_allocate(context, (size_t)model->angle_count, sizeof *work->angle);
    work->dependent_row = yk_allocate(context, rows, sizeof *work->dependent_row);
    work->load = yk_allocate(context, frames, sizeof *work->load);
    work->right = yk_allocate(context, unknowns, sizeof *work->right);
    work->work_vector = yk_allocate(context, 2 * unknowns, sizeof *work->work_vector);
    work->scratch = yk_allocate(context, scratch, sizeof *work->scratch);
    bool complete = work->trial && work->coordinates && work->lambda && work->angle && work->load &&
                    work->right && work->work_vector && work->scratch && work->dependent_row;
    if (!complete)
        return YK_ERROR_MEMORY;

    yk_multibody_use_all_rows(model, work);

    /* Frames without motion are at the origin. */
    for (int i = 0; i < model->frame_count; i++) {
        work->trial[i].frame = yk_frame_ground();
        work->trial[i].orientation = yk_q_identity();
    }

    /* Bodies read their coordinates from arrays of their own; an attachment stores the map from
     * them to its frame. */
    const yk_multibody_description *def = &model->def;
    size_t words = 0;
    for (int i = 0; i < def->flexible_count; i++)
        words += yk_multibody_flexible_words(model->flexibles[i].body);
    for (int i = 0; i < def->attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        const yk_flexible *body = model->flexibles[attachment->flexible].body;
        words += yk_multibody_attachment_words(body, attachment);
    }

    size_t bodies = (size_t)def->flexible_count;
    size_t attachments = (size_t)def->attachment_count;
    work->flexibles = yk_allocate(context, bodies, sizeof *work->flexibles);
    work->flexible_loads = yk_allocate(context, bodies, sizeof *work->flexible_loads);
    work->attachments = yk_allocate(context, attachments, sizeof *work->attachments);
    work->flexible_store = yk_allocate(context, words, sizeof *work->flexible_store);
    if (!work->flexibles || !work->flexible_loads || !work->attachments || !work->flexible_store)
        return YK_ERROR_MEMORY;

    /* One block of memory, bodies first and then attachments. */
    double *at = work->flexible_store;
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_flexible *body = model->flexibles[i].body;
        int n = body->coordinates;

        work->flexibles[i] = (flexible_trial){
            .value = at,
            .rate = at + n,
            .second = at + 2 * n,
            .tangent = at + 3 * n,
            .loads = &work->flexible_loads[i],
        };
        at += yk_multibody_flexible_words(body);
    }

    for (int i = 0; i < def->attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        const yk_flexible *body = model->flexibles[attachment->flexible].body;
        yk_vec3 *pull = (yk_vec3 *)(at + 6 * attachment->count);
        work->attachments[i].jacobian = at;
        work->attachments[i].pose.pull = pull;
        at += yk_multibody_attachment_words(body, attachment);
    }

    return YK_OK;
}

void yk_multibody_workspace_release(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    yk_context *context = model->context;

    void *const blocks[] = {
        work->trial,         work->coordinates,    work->lambda,         work->load,
        work->right,         work->work_vector,    work->scratch,        work->flexibles,
        work->attachments,   work->flexible_loads, work->flexible_store, work->pushed,
        work->dependent_row, work->angle,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(context, blocks[i]);

    /* A model is compiled again if the connections of its ports change. */
    work->pushed = NULL;
    work->trial = NULL;
    work->coordinates = NULL;
    work->lambda = NULL;
    work->angle = NULL;
    work->load = NULL;
    work->right = NULL;
    work->work_vector = NULL;
    work->scratch = NULL;
    work->flexibles = NULL;
    work->flexible_loads = NULL;
    work->attachments = NULL;
    work->flexible_store = NULL;
    work->dependent_row = NULL;
}

void yk_multibody_use_all_rows(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    for (int r = 0; r < model->row_count; r++)
        work->dependent_row[r] = false;
}

/* Inputs --------------------------------------------------------------------------------------- */

double yk_multibody_damping_at(const yk_multibody_model *model, double t)
{
    const yk_multibody_options *options = &model->def.options;
    double start = options->startup_damping_full_until;
    double end = options->startup_damping_end;

    if (options->startup_damping == 0 || t >= end)
        return 0;

    if (t <= start)
        return options->startup_damping;

    /* Interpolates linearly from start to end. */
    return options->startup_damping * (end - t) / (end - start);
}

void yk_multibody_input_frames(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    if (!work->inputs)
        return;

    for (int i = 0; i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->driver < 0)
            continue;

        /* The prescribed motion of the port at this time. */
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

/* Solutions ------------------------------------------------------------------------------------ */

double yk_multibody_largest_change(const yk_multibody_model *model,
                                   const yk_multibody_workspace *work)
{
    double largest = 0;
    for (int i = 0; i < model->motion_count; i++)
        largest = fmax(largest, fabs(work->right[i]) * yk_multibody_relative_size(model, i));
    return largest;
}

void yk_multibody_move_nodes(const yk_multibody_model *model, yk_multibody_workspace *work,
                             double fraction)
{
    for (int i = 0; i < model->node_count; i++) {
        const double *change = &work->right[model->nodes[i].unknown];
        yk_vec3 move = {change[0], change[1], change[2]};
        yk_vec3 rotation = {change[3], change[4], change[5]};
        trial_node *node = &work->trial[i];

        /* Adds dx and the exponential of dtheta, which are the unknowns of the equations. */
        node->frame.position = yk_v3_axpy(fraction, move, node->frame.position);

        yk_rotation step = yk_rotation_of(yk_v3_scale(fraction, rotation));
        node->orientation = yk_q_unit(yk_q_mul(step.quaternion, node->orientation));
        node->frame.rotation = yk_q_matrix(node->orientation);
    }

    for (int k = 0; k < model->coordinate_count; k++)
        work->coordinates[k].value += fraction * work->right[model->coordinate_first + k];
}

void yk_multibody_add_velocities(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    for (int i = 0; i < model->node_count; i++) {
        const double *change = &work->right[model->nodes[i].unknown];
        yk_frame *frame = &work->trial[i].frame;
        yk_vec3 linear = {change[0], change[1], change[2]};
        yk_vec3 angular = {change[3], change[4], change[5]};

        frame->velocity = yk_v3_add(frame->velocity, linear);
        frame->angular_velocity = yk_v3_add(frame->angular_velocity, angular);
    }

    for (int k = 0; k < model->coordinate_count; k++)
        work->coordinates[k].rate += work->right[model->coordinate_first + k];
}

void yk_multibody_read_multipliers(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    for (int r = 0; r < model->row_count; r++)
        work->lambda[r] = model->mass_scale * work->right[model->motion_count + r];
}

void yk_multibody_read_accelerations(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    for (int i = 0; i < model->node_count; i++) {
        const double *value = &work->right[model->nodes[i].unknown];

        trial_node *node = &work->trial[i];

        node->acceleration = yk_v3(value[0], value[1], value[2]);
        node->angular_acceleration = yk_v3(value[3], value[4], value[5]);
    }

    for (int k = 0; k < model->coordinate_count; k++)
        work->coordinates[k].acceleration = work->right[model->coordinate_first + k];

    yk_multibody_read_multipliers(model, work);
}

void yk_multibody_momenta(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &work->trial[i];
        const yk_frame *frame = &node->frame;
        yk_inertia inertia;
        yk_vec3 force, torque;

        yk_inertia_rotate(&model->nodes[i].inertia, &frame->rotation, &inertia);

        /* p' = M a and the terms of velocities; the balance about a moving node has the term v x p
         * separately. */
        yk_inertia_bias(&inertia, frame, &force, &torque);
        node->momentum = yk_inertia_momentum(&inertia, frame->velocity, frame->angular_velocity);
        yk_momentum change =
            yk_inertia_momentum(&inertia, node->acceleration, node->angular_acceleration);

        yk_vec3 own = yk_v3_cross(frame->velocity, node->momentum.linear);
        yk_vec3 angular = yk_v3_add(change.angular, torque);
        node->momentum_rate.linear = yk_v3_add(change.linear, force);
        node->momentum_rate.angular = yk_v3_sub(angular, own);
    }

    if (model->def.flexible_count)
        yk_multibody_flexible_momenta(model, work);
}

/* Powers --------------------------------------------------------------------------------------- */

void yk_multibody_drive_powers(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    bool placed = model->def.flexible_count == 0;
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        if (!joint->driven && joint->port < 0)
            continue;

        /* Accelerations of attachments are needed only if joints have drives. */
        if (!placed)
            yk_multibody_place_flexibles(model, work, ATTACHMENT_FRAMES);
        placed = true;

        /* The speed of a drive itself is no work of the bodies. */
        yk_drive drive = {0};
        if (joint->driven)
            drive = yk_multibody_drive(work, joint, work->t, false);

        /* Relative to a prescribed frame at rest, speeds are those of the body. */
        yk_frame still = work->trial[joint->node[1]].frame;
        if (joint->port >= 0 && !joint->driven)
            still.velocity = still.angular_velocity = yk_v3(0, 0, 0);
        yk_joint_kinematics where;
        yk_joint_kinematics_at(&joint->joint, &work->trial[joint->node[0]].frame, &still,
                               joint->driven ? &drive : NULL, &where);

        /* Minus the multiplier times the speed along its row. */
        double power = 0;
        for (int r = 0; r < joint->joint.row_count; r++) {
            const yk_row *row = &joint->joint.row[r];
            double speed = yk_row_rate(row, &where);
            if (yk_row_on_velocity(row))
                speed += where.drive.value;
            power -= work->lambda[joint->row + r] * speed;
        }

        work->supply += power;
        if (joint->port >= 0)
            work->port_supply += power;
    }
}

void yk_multibody_balance_energy(const yk_multibody_model *model, yk_multibody_state *state,
                                 yk_multibody_workspace *work)
{
    clock_state *clock = state->clock;

    /* Powers at the end of the step. */
    yk_multibody_drive_powers(model, work);
    work->loss += yk_multibody_beam_loss(model, work);

    /* By the trapezoidal rule over the powers at both ends of the step. */
    clock->work += 0.5 * work->h * (clock->supply + work->supply);
    clock->port_work += 0.5 * work->h * (clock->port_supply + work->port_supply);
    clock->dissipated += 0.5 * work->h * (clock->loss + work->loss);

    clock->supply = work->supply;
    clock->port_supply = work->port_supply;
    clock->loss = work->loss;
}

/* Placements ----------------------------------------------------------------------------------- */

void yk_multibody_keep_placement(const yk_multibody_model *model,
                                 const yk_multibody_workspace *work, yk_frame *frames,
                                 coordinate_reference *coordinates)
{
    for (int i = 0; i < model->frame_count; i++)
        frames[i] = work->trial[i].frame;

    for (int k = 0; k < model->coordinate_count; k++) {
        const trial_coordinate *trial = &work->coordinates[k];
        coordinates[k] = (coordinate_reference){.value = trial->value, .rate = trial->rate};
    }
}

void yk_multibody_swap_placement(const yk_multibody_model *model, yk_multibody_workspace *work,
                                 yk_frame *frames, coordinate_reference *coordinates)
{
    for (int i = 0; i < model->frame_count; i++) {
        yk_frame swap = work->trial[i].frame;
        work->trial[i].frame = frames[i];
        frames[i] = swap;
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        trial_coordinate *trial = &work->coordinates[k];
        coordinate_reference swap = {.value = trial->value, .rate = trial->rate};
        trial->value = coordinates[k].value;
        trial->rate = coordinates[k].rate;
        coordinates[k] = swap;
    }
}

/* Trial and state ------------------------------------------------------------------------------ */

void yk_multibody_keep_inputs(const yk_multibody_model *model, yk_multibody_state *state,
                              const yk_multibody_workspace *work)
{
    for (int i = 0; i < model->def.port_count; i++)
        state->wrench[i] = work->wrench[i];

    for (int i = model->node_count; i < model->frame_count; i++)
        state->driven[i] = work->trial[i].frame;
}

/* Copies nodes, coordinates, multipliers and inputs of the trial to the accepted state, which is
 * overwritten. */
/* Angles of the trial within half a turn of their references, which they replace. */
static void count_turns(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    for (int i = 0; i < model->joint_count && model->angle_count > 0; i++) {
        const joint_model *joint = &model->joints[i];
        if (joint->angle < 0)
            continue;

        const yk_frame *a = &work->trial[joint->node[0]].frame;
        const yk_frame *b = &work->trial[joint->node[1]].frame;
        yk_joint_kinematics kinematics;
        yk_drive near = {.near_angle = work->angle[joint->angle]};
        yk_joint_kinematics_at(&joint->joint, a, b, &near, &kinematics);
        double value = yk_row_value(&joint->joint.row[0], &kinematics);
        work->angle[joint->angle] = value / joint->joint.ratio;
    }

    for (int i = 0; i < model->def.force_count && model->angle_count > 0; i++) {
        const force_model *force = &model->forces[i];
        if (force->angle >= 0)
            work->angle[force->angle] = yk_multibody_coordinate(work, force).value;
    }
}

void yk_multibody_state_from_trial(const yk_multibody_model *model, yk_multibody_state *state,
                                   yk_multibody_workspace *work)
{
    yk_multibody_show_attachments(model, work);

    for (int i = 0; i < model->node_count; i++) {
        const trial_node *node = &work->trial[i];
        state->now[i] = (node_state){
            .position = node->frame.position,
            .orientation = node->orientation,
            .velocity = node->frame.velocity,
            .angular_velocity = node->frame.angular_velocity,
            .momentum = node->momentum,
            .momentum_rate = node->momentum_rate,
            .acceleration = node->acceleration,
            .angular_acceleration = node->angular_acceleration,
        };
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        const trial_coordinate *trial = &work->coordinates[k];
        state->coordinate_now[k] = (coordinate_state){
            .value = trial->value,
            .rate = trial->rate,
            .momentum = trial->momentum,
            .momentum_rate = trial->momentum_rate,
            .acceleration = trial->acceleration,
        };
    }

    memcpy(state->lambda, work->lambda, (size_t)model->row_count * sizeof *work->lambda);
    count_turns(model, work);
    memcpy(state->angle, work->angle, (size_t)model->angle_count * sizeof *work->angle);

    yk_multibody_keep_inputs(model, state, work);
}

void yk_multibody_trial_from_state(const yk_multibody_model *model, const yk_multibody_state *state,
                                   yk_multibody_workspace *work)
{
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &state->now[i];
        trial_node *node = &work->trial[i];

        /* The rotation of a state, bit for bit that of the step that computed it, whose quaternion
         * was normalized. Perturbed images need not be normalized. */
        yk_quat q = now->orientation;
        double norm2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        if (fabs(norm2 - 1) >= 1e-14)
            q = yk_q_unit(q);

        node->frame = (yk_frame){
            .position = now->position,
            .rotation = yk_q_matrix(q),
            .velocity = now->velocity,
            .angular_velocity = now->angular_velocity,
        };
        node->orientation = now->orientation;
        node->momentum = now->momentum;
        node->momentum_rate = now->momentum_rate;
        node->acceleration = now->acceleration;
        node->angular_acceleration = now->angular_acceleration;
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        work->coordinates[k] = (trial_coordinate){
            .value = now->value,
            .rate = now->rate,
            .momentum = now->momentum,
            .momentum_rate = now->momentum_rate,
            .acceleration = now->acceleration,
        };
    }

    memcpy(work->lambda, state->lambda, (size_t)model->row_count * sizeof *work->lambda);
    memcpy(work->angle, state->angle, (size_t)model->angle_count * sizeof *work->angle);

    /* Wrenches on the ports, and the frames that they prescribe. */
    for (int i = 0; i < model->def.port_count; i++)
        work->wrench[i] = state->wrench[i];
    for (int i = model->node_count; i < model->frame_count; i++)
        work->trial[i].frame = state->driven[i];
    yk_multibody_show_attachments(model, work);

    /* No trial is open. */
    work->t = state->clock->t;
    work->open = work->relaxing = false;
}
