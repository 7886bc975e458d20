/* Joints as rows of the contact problem: g/h + dg/dt = 0 with everything from the configuration at the beginning of the
 * step (tight (18), explicit (11c)). The velocities of bodies of known motion, and the drive, enter through dg/dt at
 * zero velocity of the others.
 *
 * A port with some of its motions prescribed is the same with the prescribed frame in place of body b: explicit (14),
 * (18) with u21 the input at the beginning of the step and u22 its rate at the end. */
#include "math/polynomial.h"
#include "nonsmooth/world.h"

yk_frame yk_world_frame(const yk_nonsmooth *self, int slot)
{
    if (slot < 0) return yk_frame_ground();
    const yk_body_state *body = &self->bodies[slot];
    return (yk_frame){body->position, yk_q_matrix(body->orientation), body->velocity, body->angular_velocity};
}

/* With the velocity of the end of the step where it is known, and none where it is not. */
static yk_frame known_frame(const yk_nonsmooth *self, int slot)
{
    yk_frame frame = yk_world_frame(self, slot);
    if (yk_world_is_dynamic(self, slot)) frame.velocity = frame.angular_velocity = yk_v3(0, 0, 0);
    return frame;
}

static yk_frame input_frame(const yk_input *input, double h)
{
    yk_motion begin = yk_input_motion(input, YK_PORT_MARKER, 0);
    yk_motion end = yk_input_motion(input, YK_PORT_MARKER, h);
    return (yk_frame){begin.position, yk_q_matrix(begin.orientation), end.velocity, end.angular_velocity};
}

/* The value at the beginning and the rate at the end, as for prescribed frames; a prescribed speed is that at the end.
 */
static yk_drive joint_drive(const yk_joint_slot *joint, double t, double h, const yk_input *inputs)
{
    yk_function drive = joint->def.drive;
    if (joint->driver >= 0) {
        const yk_input *input = &inputs[joint->driver];
        return (yk_drive){.value = yk_input_scalar(input, 0), .rate = yk_input_scalar_rate(input, h)};
    }
    if (joint->def.kind == YK_JOINT_DISTANCE && !drive.value) return (yk_drive){.value = joint->def.length};
    if (yk_row_on_velocity(joint->joint.row[joint->joint.row_count - 1].kind))
        return (yk_drive){.value = yk_function_value(drive, t + h)};
    return (yk_drive){.value = yk_function_value(drive, t), .rate = yk_world_rate(drive, t + h, h / 16)};
}

static void set_row(const yk_nonsmooth *self, const yk_joint_slot *joint, const yk_joint_kinematics *kinematics, int k,
                    double h, yk_joint_row *row)
{
    const yk_row *equation = &joint->joint.row[k];
    yk_gradient g;
    yk_row_gradient(equation, kinematics, &g);
    double bias = yk_row_rate(equation, kinematics);
    if (!yk_row_on_velocity(equation->kind)) bias += yk_row_value(equation, kinematics) / h;
    int first = yk_world_is_dynamic(self, joint->slot_a) ? 0 : 1, second = 1 - first;
    int slots[2] = {joint->slot_a, joint->slot_b};
    bool both = first == 0 && yk_world_is_dynamic(self, joint->slot_b);
    *row = (yk_joint_row){.a = slots[first],
                          .b = both ? slots[second] : YK_NETWORK_NONE,
                          .linear_a = g.force[first],
                          .angular_a = g.torque[first],
                          .bias = bias,
                          .lower = -INFINITY,
                          .upper = INFINITY,
                          .impulse = self->joint_impulses[joint->own_row + (size_t)k]};
    if (!both) return;
    row->linear_b = g.force[second];
    row->angular_b = g.torque[second];
}

static bool joint_sleeps(const yk_nonsmooth *self, const yk_joint_slot *joint)
{
    return yk_world_is_asleep(self, joint->slot_a) || yk_world_is_asleep(self, joint->slot_b);
}

yk_status yk_world_set_rows(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    size_t count = 0;
    for (size_t i = 0, own = 0; i < self->joint_count; own += (size_t)self->joints[i++].joint.row_count) {
        yk_joint_slot *joint = &self->joints[i];
        joint->first_row = count;
        joint->own_row = own;
        if (!yk_world_is_dynamic(self, joint->slot_a) && !yk_world_is_dynamic(self, joint->slot_b)) continue;
        if (joint_sleeps(self, joint)) continue;
        yk_frame a = known_frame(self, joint->slot_a);
        yk_frame b = joint->port >= 0 ? input_frame(&inputs[joint->port], h) : known_frame(self, joint->slot_b);
        yk_drive drive = joint_drive(joint, t, h, inputs);
        yk_joint_kinematics kinematics;
        yk_joint_kinematics_at(&joint->joint, &a, &b, &drive, &kinematics);
        for (int k = 0; k < joint->joint.row_count; k++)
            set_row(self, joint, &kinematics, k, h, &self->joint_rows[count++]);
    }
    self->joint_row_count = count;
    return self->joint_count > 0 ? yk_network_joints(self->network, self->joint_rows, count) : YK_OK;
}

/* Reactions -------------------------------------------------------------------------------------------------------- */

static void add_wrench(yk_wrench *sum, double scale, yk_vec3 force, yk_vec3 torque)
{
    sum->force = yk_v3_axpy(scale, force, sum->force);
    sum->torque = yk_v3_axpy(scale, torque, sum->torque);
}

/* Impulses of the joint on its two bodies, about their centres of mass. The markers have not moved since set_rows. */
static void joint_impulses(const yk_nonsmooth *self, const yk_joint_slot *joint, yk_wrench wrench[2])
{
    yk_frame a = yk_world_frame(self, joint->slot_a), b = yk_world_frame(self, joint->slot_b);
    bool port = joint->port >= 0;
    int dynamic_a = yk_world_is_dynamic(self, joint->slot_a) ? 0 : 1;
    wrench[0] = wrench[1] = (yk_wrench){.force = {0, 0, 0}};
    for (int k = 0; k < joint->joint.row_count; k++) {
        const yk_joint_row *row = &self->joint_rows[joint->first_row + (size_t)k];
        int first = dynamic_a, second = 1 - first;
        add_wrench(&wrench[first], row->impulse, row->linear_a, row->angular_a);
        if (row->b != YK_NETWORK_NONE) add_wrench(&wrench[second], row->impulse, row->linear_b, row->angular_b);
    }
    if (port || (yk_world_is_dynamic(self, joint->slot_a) && yk_world_is_dynamic(self, joint->slot_b))) return;
    /* The other side receives the opposite wrench, seen from its own origin. */
    int first = dynamic_a, second = 1 - first;
    yk_vec3 shift = yk_v3_sub(first == 0 ? a.position : b.position, first == 0 ? b.position : a.position);
    wrench[second].force = yk_v3_neg(wrench[first].force);
    wrench[second].torque = yk_v3_neg(yk_v3_add(wrench[first].torque, yk_v3_cross(shift, wrench[first].force)));
}

static double impulse_work(const yk_nonsmooth *self, int slot, const yk_wrench *impulse)
{
    if (slot < 0) return 0;
    yk_vec3 v = yk_v3_add(self->bodies[slot].velocity, self->before[slot].linear);
    yk_vec3 w = yk_v3_add(self->bodies[slot].angular_velocity, self->before[slot].angular);
    return 0.5 * (yk_v3_dot(v, impulse->force) + yk_v3_dot(w, impulse->torque));
}

static yk_wrench at_marker(const yk_nonsmooth *self, int slot, yk_vec3 offset, const yk_wrench *impulse, double h)
{
    yk_vec3 arm = slot < 0 ? offset : yk_q_rotate(self->bodies[slot].orientation, offset);
    yk_vec3 torque = yk_v3_sub(impulse->torque, yk_v3_cross(arm, impulse->force));
    return (yk_wrench){yk_v3_scale(1 / h, impulse->force), yk_v3_scale(1 / h, torque)};
}

void yk_world_take_reactions(yk_nonsmooth *self, double h)
{
    for (size_t i = 0; i < self->joint_count; i++) {
        yk_joint_slot *joint = &self->joints[i];
        if (!yk_world_is_dynamic(self, joint->slot_a) && !yk_world_is_dynamic(self, joint->slot_b)) continue;
        if (joint_sleeps(self, joint)) continue;
        for (int k = 0; k < joint->joint.row_count; k++)
            self->joint_impulses[joint->own_row + (size_t)k] = self->joint_rows[joint->first_row + (size_t)k].impulse;
        yk_wrench wrench[2];
        joint_impulses(self, joint, wrench);
        int slots[2] = {joint->slot_a, joint->port >= 0 ? -1 : joint->slot_b};
        for (int side = 0; side < 2; side++) {
            if (slots[side] < 0 || yk_world_is_dynamic(self, slots[side])) continue;
            add_wrench(&self->received[(size_t)slots[side] - self->dynamic_count], 1, wrench[side].force,
                       wrench[side].torque);
        }
        if (joint->port >= 0) {
            yk_port_slot *port = &self->ports[joint->port];
            port->wrench = at_marker(self, joint->slot_a, port->marker.offset, &wrench[0], h);
        }
        if (joint->driver >= 0)
            self->ports[joint->driver].wrench.force.x = self->joint_rows[joint->first_row].impulse / h;
        joint->wrench = at_marker(self, joint->slot_b, joint->joint.offset[1], &wrench[1], h);
        /* What ports and drives bring in is work, what other joints lose goes to the losses. */
        if (joint->port >= 0 || joint->joint.driven) {
            double work = impulse_work(self, slots[0], &wrench[0]) + impulse_work(self, slots[1], &wrench[1]);
            self->step_supply += work;
            if (joint->port >= 0 || joint->driver >= 0) self->step_port_work += work;
        }
    }
}

yk_wrench yk_nonsmooth_joint_reaction(const yk_nonsmooth *self, int joint)
{
    return self->joints[joint].wrench;
}
