/* Outputs of a model: motions, reactions, ports, energies. All are read from the trial, which
 * equals the accepted state between steps. */
#include <string.h>

#include "multibody/multibody.h"

/* Motions and reactions ------------------------------------------------------------------------ */

const yk_multibody_description *yk_multibody_definition(const yk_multibody *self)
{
    return &self->model.def;
}

yk_multibody *yk_multibody_of(yk_subsystem *subsystem)
{
    return subsystem->ops == yk_multibody_ops() ? (yk_multibody *)subsystem : NULL;
}

void yk_multibody_motion_of(const trial_node *node, const yk_marker *marker, yk_motion *motion)
{
    const yk_frame *frame = &node->frame;
    yk_vec3 arm = yk_m3_apply(frame->rotation, marker->offset);
    yk_vec3 w = frame->angular_velocity;
    yk_vec3 swing = yk_v3_cross(w, arm);
    yk_vec3 tangential = yk_v3_cross(node->angular_acceleration, arm);
    yk_vec3 centripetal = yk_v3_cross(w, swing);

    /* The arm rotates with the frame. */
    motion->position = yk_v3_add(frame->position, arm);
    motion->velocity = yk_v3_add(frame->velocity, swing);
    motion->acceleration = yk_v3_add(node->acceleration, yk_v3_add(tangential, centripetal));
    motion->orientation = yk_q_mul(node->orientation, marker->orientation);
    motion->angular_velocity = w;
    motion->angular_acceleration = node->angular_acceleration;
}

/* Of a marker on a node or attachment of the def. */
static yk_motion marker_motion(const yk_multibody_model *model, const yk_multibody_workspace *work,
                               int node, const yk_marker *marker)
{
    trial_node own;
    const trial_node *shown =
        yk_multibody_shown(model, work, yk_multibody_frame_of(model, node), &own);

    yk_motion motion;
    yk_multibody_motion_of(shown, marker, &motion);
    return motion;
}

void yk_multibody_marker_motion(const yk_multibody *self, int node, const yk_marker *marker,
                                yk_motion *motion)
{
    *motion = marker_motion(&self->model, &self->work, node, marker);
}

void yk_multibody_motion(const yk_multibody *self, int node, yk_motion *motion)
{
    yk_marker origin = yk_marker_default();
    yk_multibody_marker_motion(self, node, &origin, motion);
}

/* The joint's wrench on one of its bodies, about its marker there. */
static void joint_wrench(const yk_multibody_workspace *work, const joint_model *joint, int side,
                         yk_wrench *wrench)
{
    const yk_frame *a = &work->trial[joint->node[0]].frame;
    const yk_frame *b = &work->trial[joint->node[1]].frame;

    /* A driven joint has the value of its drive in its rows. */
    yk_drive drive = {0};
    const yk_drive *driven = NULL;
    if (yk_multibody_has_drive(joint)) {
        drive = yk_multibody_drive(work, joint, work->t, false);
        driven = &drive;
    }

    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(&joint->joint, a, b, driven, &kinematics);

    /* Every row acts along its gradient; the torque is moved from the frame to the marker. */
    yk_vec3 arm = side ? kinematics.b.arm : kinematics.a.arm;
    *wrench = (yk_wrench){0};
    for (int r = 0; r < joint->joint.row_count; r++) {
        yk_gradient gradient;
        yk_row_gradient(&joint->joint.row[r], &kinematics, &gradient);
        yk_vec3 force = gradient.force[side];
        yk_vec3 torque = yk_v3_sub(gradient.torque[side], yk_v3_cross(arm, force));

        double lambda = -work->lambda[joint->row + r];
        wrench->force = yk_v3_axpy(lambda, force, wrench->force);
        wrench->torque = yk_v3_axpy(lambda, torque, wrench->torque);
    }
}

void yk_multibody_reaction(const yk_multibody *self, int joint, yk_wrench *reaction)
{
    joint_wrench(&self->work, &self->model.joints[joint], 1, reaction);
}

/* Ports ---------------------------------------------------------------------------------------- */

void yk_multibody_port_output(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              int index, yk_port_value *value)
{
    const port_model *port = &model->ports[index];
    memset(value, 0, sizeof *value);

    /* A signal has no power: its value is stored as the position. */
    if (port->def.kind == YK_PORT_SIGNAL) {
        value->motion.position.x = work->wrench[index].force.x;
        value->motion.orientation = yk_q_identity();
        return;
    }

    /* A port that receives a motion returns the wrench that it needs; one that receives a wrench
     * returns that wrench. */
    value->wrench = work->wrench[index];
    if (port->def.kind == YK_PORT_SCALAR) {
        /* The distance of two markers: l = |d|, l' = e . d', l'' = e . d'' + (|d'|^2 - l'^2) / l */
        const yk_port_def *def = &port->def;
        yk_motion a = marker_motion(model, work, def->bodies[0].index, &def->markers[0]);
        yk_motion b = marker_motion(model, work, def->bodies[1].index, &def->markers[1]);
        yk_vec3 d = yk_v3_sub(b.position, a.position);
        yk_vec3 e = yk_v3_unit(d);
        yk_vec3 rate = yk_v3_sub(b.velocity, a.velocity);
        yk_vec3 second = yk_v3_sub(b.acceleration, a.acceleration);
        double length = yk_v3_norm(d);
        double speed = yk_v3_dot(e, rate);
        double rotating = 0;
        if (length > 0)
            rotating = (yk_v3_norm2(rate) - speed * speed) / length;

        yk_motion *motion = &value->motion;
        motion->position.x = length;
        motion->velocity.x = speed;
        motion->acceleration.x = yk_v3_dot(e, second) + rotating;
        motion->orientation = yk_q_identity();

        if (port->joint >= 0)
            value->wrench.force.x = -work->lambda[model->joints[port->joint].row];
        return;
    }

    /* A marker with its motion, and the wrench of the joint that prescribes it. */
    value->motion = marker_motion(model, work, port->def.bodies[0].index, &port->def.markers[0]);
    if (port->joint >= 0)
        joint_wrench(work, &model->joints[port->joint], 0, &value->wrench);

    /* If merging has put joints in place of the port, their reactions. */
    for (int i = 0; i < port->merged_count; i++) {
        yk_wrench wrench;
        joint_wrench(work, &model->joints[port->merged + i], port->merged_side, &wrench);
        value->wrench.force = yk_v3_add(value->wrench.force, wrench.force);
        value->wrench.torque = yk_v3_add(value->wrench.torque, wrench.torque);
    }
}

/* Energies ------------------------------------------------------------------------------------- */

static void beam_loads(const yk_multibody_workspace *work, const beam_model *of,
                       yk_beam_loads *loads)
{
    const yk_frame *const node[YK_BEAM_NODE_COUNT] = {&work->trial[of->node[0]].frame,
                                                      &work->trial[of->node[1]].frame,
                                                      &work->trial[of->node[2]].frame};
    yk_beam_evaluate(&of->beam, node, loads, NULL);
}

void yk_multibody_beam_loads(const yk_multibody *self, int beam, yk_beam_loads *loads)
{
    beam_loads(&self->work, &self->model.beams[beam], loads);
}

void yk_multibody_energy(const yk_multibody *self, yk_energy *energy)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    const clock_state *clock = self->state.clock;

    *energy = (yk_energy){
        .dissipated = clock->dissipated, .work = clock->work, .port_work = clock->port_work};

    /* Kinetic energy and weight of what is fixed to the nodes. */
    for (int i = 0; i < model->node_count; i++) {
        const yk_inertia *own = &model->nodes[i].inertia;
        const yk_frame *frame = &work->trial[i].frame;
        yk_vec3 v = frame->velocity;
        yk_vec3 w = frame->angular_velocity;
        if (!model->nodes[i].massive)
            continue;

        yk_inertia inertia;
        yk_inertia_rotate(own, &frame->rotation, &inertia);
        yk_momentum momentum = yk_inertia_momentum(&inertia, v, w);
        energy->kinetic += yk_inertia_kinetic(&momentum, v, w);

        yk_vec3 moment = yk_m3_apply(frame->rotation, own->moment);
        moment = yk_v3_axpy(own->mass, frame->position, moment);
        energy->potential += -yk_v3_dot(moment, model->def.gravity);
    }

    /* Springs, beams and flexible bodies. */
    for (int i = 0; i < model->def.force_count; i++) {
        const force_model *force = &model->forces[i];
        if (yk_multibody_is_scalar(force)) {
            energy->potential += yk_multibody_scalar_force(work, force, 0).energy;
            continue;
        }

        const yk_frame *a = &work->trial[force->node[0]].frame;
        const yk_frame *b = &work->trial[force->node[1]].frame;
        yk_force_load load;
        yk_force_evaluate(&force->law, a, b, 0, &load, NULL);
        energy->potential += load.energy;
    }

    for (int i = 0; i < model->def.beam_count; i++) {
        yk_beam_loads loads;
        beam_loads(work, &model->beams[i], &loads);
        energy->potential += loads.energy;
    }

    yk_multibody_flexible_energy(model, work, energy);
}

double yk_multibody_strain_energy(const yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    double sum = 0;

    for (int i = 0; i < model->def.beam_count; i++) {
        yk_beam_loads loads;
        beam_loads(&self->work, &model->beams[i], &loads);
        sum += loads.energy;
    }

    for (int i = 0; i < model->def.flexible_count; i++)
        sum += yk_multibody_flexible_strain(model, &self->work, i);

    return sum;
}

double yk_multibody_beam_loss(const yk_multibody_model *model, const yk_multibody_workspace *work)
{
    double loss = 0;
    for (int i = 0; i < model->def.beam_count; i++) {
        if (!model->beams[i].beam.damped)
            continue;

        yk_beam_loads loads;
        beam_loads(work, &model->beams[i], &loads);
        loss += loads.loss;
    }

    return loss + yk_multibody_flexible_loss(model, work);
}

/* The rest ------------------------------------------------------------------------------------- */

void yk_multibody_report_get(const yk_multibody *self, yk_multibody_report *report)
{
    *report = self->work.report;
    report->factorisations = self->solver.factorisations;
}
