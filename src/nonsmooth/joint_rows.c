/* Joints as rows of the contact problem: g/h + dg/dt = 0 with all geometry from the start of the
 * step (Zhang et al. 2020, equation 18; Zhang et al. 2022, equation 11c). The velocities of bodies
 * with known motion, and the drive, enter through dg/dt at zero velocity of the others.
 *
 * A port with some prescribed motions is the same with the prescribed frame in place of body b:
 * Zhang et al. 2022 (14), (18), with u21 the input at the start of the step and u22 its rate at the
 * end. A line port whose distance may be prescribed is one more such row (see below).
 *
 * Viscous damping at joints is a row with the impulse p = -c h dg/dt at the end of the step, thus
 * with the softness 1/(c h) and without g: implicit Euler, which is stable for all c and h. */
#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

/* With the velocity at the end of the step if it is known, otherwise zero. */
static yk_frame known_frame(const yk_nonsmooth *self, int slot)
{
    yk_frame frame = yk_world_frame(&self->state, slot);
    if (yk_world_is_dynamic(&self->model, slot))
        frame.velocity = frame.angular_velocity = yk_v3(0, 0, 0);
    return frame;
}

/* The value at the start and the rate at the end, as for prescribed frames; a prescribed speed is
 * that at the end. */
static yk_drive joint_drive(const yk_joint_model *joint, double t, double h, const yk_input *inputs)
{
    yk_time_function drive = joint->def.drive;
    double unit = joint->def.drive_scale;

    /* A line port prescribes a distance. */
    if (joint->driver >= 0) {
        const yk_input *input = &inputs[joint->driver];
        return (yk_drive){.value = yk_input_scalar(input, 0),
                          .rate = yk_input_scalar_rate(input, h)};
    }

    /* Rods of constant length, then drives at a speed, then drives along a function. */
    if (joint->def.kind == YK_JOINT_DISTANCE && !drive.evaluate)
        return (yk_drive){.value = joint->def.length};
    if (yk_row_on_velocity(&joint->joint.row[joint->joint.row_count - 1]))
        return (yk_drive){.value = unit * yk_function_value(drive, t + h)};
    return (yk_drive){
        .value = unit * yk_function_value(drive, t),
        .rate = unit * yk_world_rate(drive, t + h, h / 16),
    };
}

/* Whether it has rows in this step: one of its bodies is dynamic, and none sleeps. */
static bool acts(const yk_nonsmooth *self, const yk_joint_model *joint)
{
    const yk_world_model *model = &self->model;

    int a = joint->slot_a, b = joint->slot_b;
    if (!yk_world_is_dynamic(model, a) && !yk_world_is_dynamic(model, b))
        return false;
    return !yk_world_is_asleep(model, &self->state, a) &&
           !yk_world_is_asleep(model, &self->state, b);
}

/* Side a of a row is a dynamic body: that of the joint's side a if there is one. */
static int first_side(const yk_nonsmooth *self, const yk_joint_model *joint)
{
    return yk_world_is_dynamic(&self->model, joint->slot_a) ? 0 : 1;
}

/* Change of the speed at a joint in the first step, relative to the speed, above which a warning is
 * given; speeds (m/s) below the second number are ignored. */
static const double NOTABLE_CHANGE = 0.5;
static const double NO_SPEED = 1e-6;

/* Gap of a joint at the start (m, rad) that exceeds rounding errors of given poses. */
static const double NOTABLE_GAP = 1e-4;

static const char *joint_name(const yk_joint_model *joint)
{
    return joint->name ? joint->name : "";
}

/* Initial poses that violate a joint, which the first step corrects within its time, and velocities
 * that violate it, which the step removes like an impact. One warning each, about the joint with
 * the largest violation. */
static void warn_of_start(const yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    double largest = 0;
    double widest = NOTABLE_GAP;
    const yk_joint_model *worst = NULL;
    const yk_joint_model *open = NULL;
    bool worst_turns = false;
    bool open_turns = false;
    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        if (joint->port >= 0 || joint->driver >= 0 || !acts(self, joint))
            continue;

        yk_frame a = yk_world_frame(&self->state, joint->slot_a);
        yk_frame b = yk_world_frame(&self->state, joint->slot_b);
        yk_drive drive = joint_drive(joint, t, h, inputs);
        yk_joint_kinematics place;
        yk_joint_kinematics_at(&joint->joint, &a, &b, &drive, &place);

        /* Relative to the velocities of the bodies at the joint. */
        double speed = yk_v3_norm(a.velocity) + yk_v3_norm(b.velocity) +
                       yk_v3_norm(a.angular_velocity) + yk_v3_norm(b.angular_velocity);
        for (int k = 0; k < joint->joint.row_count; k++) {
            const yk_row *row = &joint->joint.row[k];
            double rate = fabs(yk_row_rate(row, &place));
            if (rate > NOTABLE_CHANGE * speed + NO_SPEED && rate > largest) {
                largest = rate;
                worst = joint;
                worst_turns = yk_row_is_angle(row);
            }

            /* A row on velocities does not restrict poses. */
            if (yk_row_on_velocity(row))
                continue;

            double gap = fabs(yk_row_value(row, &place));
            if (gap > widest) {
                widest = gap;
                open = joint;
                open_turns = yk_row_is_angle(row);
            }
        }
    }

    if (open)
        yk_log(self->context, YK_LOG_WARNING,
               "joint '%s' starts open by %.3g %s, which the first step closes within %.3g s; give "
               "poses that fit the joint, and the joint its place: without one it holds the "
               "origins of its bodies together",
               joint_name(open), open_turns ? widest : widest * model->def.length_unit,
               open_turns ? "rad" : "m", h);
    if (worst)
        yk_log(
            self->context, YK_LOG_WARNING,
            "joint '%s' forbids the velocities that its bodies start with, by %.3g %s, which the "
            "first step takes away like an impact; give velocities that all joints allow",
            joint_name(worst), worst_turns ? largest : largest * model->def.length_unit,
            worst_turns ? "rad/s" : "m/s");
}

/* Adds the rows of the damping of a list of forces. Side a of the rows is the body `leading` if both
 * bodies are dynamic, so that they agree with the rows of a joint. */
static size_t add_dampers(yk_nonsmooth *self, int list, int leading, double h, size_t count)
{
    const yk_world_model *model = &self->model;
    yk_problem *problem = &self->problem;

    for (int i = list; i >= 0; i = model->forces[i].next_damper) {
        const yk_force_model *force = &model->forces[i];
        const int slots[2] = {force->slot_a, force->slot_b};
        if (yk_world_is_idle(model, &self->state, slots[0]) ||
            yk_world_is_idle(model, &self->state, slots[1]))
            continue;

        bool both = yk_world_is_dynamic(model, slots[0]) && yk_world_is_dynamic(model, slots[1]);
        int first = yk_world_is_dynamic(model, slots[0]) ? 0 : 1;
        if (both && slots[1] == leading)
            first = 1;
        int second = 1 - first;

        problem->damper_row[i] = count;
        yk_frame a = yk_world_frame(&self->state, slots[0]);
        yk_frame b = yk_world_frame(&self->state, slots[1]);
        yk_frame other = known_frame(self, slots[second]);
        size_t guess = force->own_rows;
        for (int k = 0; k < 6; k++) {
            if (!(force->damping[k] > 0))
                continue;

            yk_vec3 g[4];
            yk_force_damper_gradient(&force->law, &a, &b, k, g);
            yk_joint_row *row = &problem->joint_rows[count++];
            *row = (yk_joint_row){
                .a = slots[first],
                .b = both ? slots[second] : YK_NETWORK_NONE,
                .linear_a = g[2 * first],
                .angular_a = g[2 * first + 1],
                .bias = yk_v3_dot(g[2 * second], other.velocity) +
                        yk_v3_dot(g[2 * second + 1], other.angular_velocity),
                .softness = 1 / (force->damping[k] * h),
                .lower = -INFINITY,
                .upper = INFINITY,
                .impulse = self->state.joint_impulses[guess++],
            };
            if (!both)
                continue;

            row->linear_b = g[2 * second];
            row->angular_b = g[2 * second + 1];
        }
    }

    return count;
}

yk_status yk_world_set_joint_rows(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    yk_problem *problem = &self->problem;
    size_t count = 0;

    if (self->steps == 0)
        warn_of_start(self, t, h, inputs);

    /* Bodies that sleep have no rows of dampers either. */
    for (size_t i = 0; i < model->force_count; i++)
        problem->damper_row[i] = SIZE_MAX;

    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        problem->first_row[i] = count;
        if (!acts(self, joint))
            continue;

        /* The joint at its present place, with the known velocities. */
        yk_frame a = known_frame(self, joint->slot_a);
        yk_frame b = known_frame(self, joint->slot_b);

        /* A port that receives motion: its pose at the start of the step and its velocity at the
         * end. */
        if (joint->port >= 0) {
            yk_motion begin = yk_input_motion(&inputs[joint->port], YK_PORT_MARKER, 0);
            yk_motion end = yk_input_motion(&inputs[joint->port], YK_PORT_MARKER, h);
            b = (yk_frame){begin.position, yk_q_matrix(begin.orientation), end.velocity,
                           end.angular_velocity};
        }

        yk_drive drive = joint_drive(joint, t, h, inputs);
        yk_joint_kinematics place;
        yk_joint_kinematics_at(&joint->joint, &a, &b, &drive, &place);

        /* Rows have one or two dynamic sides. */
        const int slots[2] = {joint->slot_a, joint->slot_b};
        int first = first_side(self, joint), second = 1 - first;
        bool both = first == 0 && yk_world_is_dynamic(model, joint->slot_b);
        for (int k = 0; k < joint->joint.row_count; k++) {
            const yk_row *equation = &joint->joint.row[k];
            yk_gradient g;
            yk_row_gradient(equation, &place, &g);

            /* g/h + dg/dt, or dg/dt alone if a velocity is prescribed. */
            double bias = yk_row_rate(equation, &place);
            if (!yk_row_on_velocity(equation))
                bias += yk_row_value(equation, &place) / h;

            /* The impulse of the last step is a good first guess of this one. */
            yk_joint_row *row = &problem->joint_rows[count++];
            *row = (yk_joint_row){
                .a = slots[first],
                .b = both ? slots[second] : YK_NETWORK_NONE,
                .linear_a = g.force[first],
                .angular_a = g.torque[first],
                .bias = bias,
                .lower = -INFINITY,
                .upper = INFINITY,
                .impulse = self->state.joint_impulses[joint->own_rows + (size_t)k],
            };
            if (!both)
                continue;

            row->linear_b = g.force[second];
            row->angular_b = g.torque[second];
        }

        count = add_dampers(self, joint->dampers, slots[0], h, count);
    }

    count = add_dampers(self, model->free_dampers, -1, h, count);

    /* Joints of sleeping bodies have no rows, so the number of rows varies. */
    problem->joint_row_count = count;
    if (model->joint_row_count == 0 && model->joint_count == 0)
        return YK_OK;
    return yk_network_joints(problem->network, problem->joint_rows, count);
}

/* Reactions ------------------------------------------------------------------------------------ */

static void add_wrench(yk_wrench *sum, double scale, yk_vec3 force, yk_vec3 torque)
{
    sum->force = yk_v3_axpy(scale, force, sum->force);
    sum->torque = yk_v3_axpy(scale, torque, sum->torque);
}

/* Impulses of the joint on its two bodies, about their centers of mass. The markers have not moved
 * since the rows were set. */
static void joint_impulses(const yk_nonsmooth *self, size_t index, yk_wrench wrench[2])
{
    const yk_joint_model *joint = &self->model.joints[index];
    const yk_joint_row *rows = &self->problem.joint_rows[self->problem.first_row[index]];
    int first = first_side(self, joint), second = 1 - first;

    wrench[0] = wrench[1] = (yk_wrench){.force = {0, 0, 0}};

    /* The gradient of a row is the wrench of a unit impulse. */
    for (int k = 0; k < joint->joint.row_count; k++) {
        const yk_joint_row *row = &rows[k];
        add_wrench(&wrench[first], row->impulse, row->linear_a, row->angular_a);
        if (row->b != YK_NETWORK_NONE)
            add_wrench(&wrench[second], row->impulse, row->linear_b, row->angular_b);
    }

    if (joint->port >= 0 || (first == 0 && yk_world_is_dynamic(&self->model, joint->slot_b)))
        return;

    /* A body with known motion, or the ground, receives the opposite wrench about its own origin. */
    const int slots[2] = {joint->slot_a, joint->slot_b};
    yk_frame here = yk_world_frame(&self->state, slots[first]);
    yk_frame there = yk_world_frame(&self->state, slots[second]);
    yk_vec3 shift = yk_v3_sub(here.position, there.position);
    yk_vec3 torque = yk_v3_add(wrench[first].torque, yk_v3_cross(shift, wrench[first].force));
    wrench[second] = (yk_wrench){yk_v3_neg(wrench[first].force), yk_v3_neg(torque)};
}

/* By the mean velocity of the step. */
static double impulse_work(const yk_nonsmooth *self, int slot, const yk_wrench *impulse)
{
    if (slot < 0)
        return 0;

    const yk_body_state *body = &self->state.bodies[slot];
    const yk_twist *before = &self->step.before[slot];
    yk_vec3 v = yk_v3_add(body->velocity, before->linear);
    yk_vec3 w = yk_v3_add(body->angular_velocity, before->angular);
    return 0.5 * (yk_v3_dot(v, impulse->force) + yk_v3_dot(w, impulse->torque));
}

/* The mean wrench over the step about a marker. */
static yk_wrench at_marker(const yk_nonsmooth *self, int slot, yk_vec3 offset,
                           const yk_wrench *impulse, double h)
{
    yk_vec3 arm = offset;
    if (slot >= 0)
        arm = yk_q_rotate(self->state.bodies[slot].orientation, offset);

    yk_vec3 torque = yk_v3_sub(impulse->torque, yk_v3_cross(arm, impulse->force));
    return (yk_wrench){yk_v3_scale(1 / h, impulse->force), yk_v3_scale(1 / h, torque)};
}

/* Impulses of dampers: initial guesses of the next step, and wrenches on bodies with known motion. */
static void take_dampers(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;

    for (size_t i = 0; i < model->force_count; i++) {
        const yk_force_model *force = &model->forces[i];
        size_t first = self->problem.damper_row[i];
        if (force->damper_count == 0 || first == SIZE_MAX)
            continue;

        const int slots[2] = {force->slot_a, force->slot_b};
        yk_frame a = yk_world_frame(&self->state, slots[0]);
        yk_frame b = yk_world_frame(&self->state, slots[1]);
        double *guess = &self->state.joint_impulses[force->own_rows];
        for (int k = 0; k < 6; k++) {
            if (!(force->damping[k] > 0))
                continue;

            double impulse = self->problem.joint_rows[first++].impulse;
            *guess++ = impulse;
            yk_vec3 g[4];
            yk_force_damper_gradient(&force->law, &a, &b, k, g);
            for (int side = 0; side < 2; side++) {
                if (slots[side] < 0 || yk_world_is_dynamic(model, slots[side]))
                    continue;

                size_t known = (size_t)slots[side] - model->dynamic_count;
                add_wrench(&self->step.received[known], impulse, g[2 * side], g[2 * side + 1]);
            }
        }
    }
}

void yk_world_take_reactions(yk_nonsmooth *self, double h)
{
    const yk_world_model *model = &self->model;
    yk_world_state *state = &self->state;

    take_dampers(self);
    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        if (!acts(self, joint))
            continue;

        /* Initial guess of the next step. */
        const yk_joint_row *rows = &self->problem.joint_rows[self->problem.first_row[i]];
        for (int k = 0; k < joint->joint.row_count; k++)
            state->joint_impulses[joint->own_rows + (size_t)k] = rows[k].impulse;

        /* Wrenches on bodies with known motion. */
        yk_wrench wrench[2];
        joint_impulses(self, i, wrench);

        const int slots[2] = {joint->slot_a, joint->port >= 0 ? -1 : joint->slot_b};
        for (int side = 0; side < 2; side++) {
            if (slots[side] < 0 || yk_world_is_dynamic(model, slots[side]))
                continue;

            yk_wrench *received = &self->step.received[(size_t)slots[side] - model->dynamic_count];
            add_wrench(received, 1, wrench[side].force, wrench[side].torque);
        }

        /* Outputs of the joint and of the port that it belongs to. */
        state->joints[i] = at_marker(self, joint->slot_b, joint->joint.offset[1], &wrench[1], h);
        if (joint->port >= 0) {
            yk_vec3 offset = model->ports[joint->port].marker.offset;
            state->ports[joint->port].wrench =
                at_marker(self, joint->slot_a, offset, &wrench[0], h);
        }

        if (joint->driver >= 0)
            state->ports[joint->driver].wrench.force.x = rows[0].impulse / h;

        /* Work of ports and drives is supplied; the work of other joints is dissipated. */
        if (joint->port < 0 && !joint->joint.driven)
            continue;

        double work =
            impulse_work(self, slots[0], &wrench[0]) + impulse_work(self, slots[1], &wrench[1]);
        self->step.supply += work;
        if (joint->port >= 0 || joint->driver >= 0)
            self->step.port_work += work;
    }
}

/* Line ports ----------------------------------------------------------------------------------- */

/* The distance of two markers on two bodies, or on one and the ground, as a scalar port: an
 * actuator.
 *
 *   a ----- e -----> b      position |d|, velocity e . d', wrench pushes the markers apart
 *
 * Like everything in the step, the direction is that at the start. A prescribed distance is a row
 * like a driven joint: the input's value at the start of the step and its rate at the end. */

/* The vector from marker to marker, and its direction. */
static yk_world_line line_between(const yk_port_model *port, const yk_frame *a, const yk_frame *b)
{
    yk_vec3 wa = a->angular_velocity, wb = b->angular_velocity;
    yk_vec3 arm_a = yk_m3_apply(a->rotation, port->marker.offset);
    yk_vec3 arm_b = yk_m3_apply(b->rotation, port->far_marker.offset);
    yk_vec3 d = yk_v3_sub(yk_v3_add(b->position, arm_b), yk_v3_add(a->position, arm_a));
    yk_vec3 e = yk_v3_unit(d);

    /* Length and rate. */
    yk_vec3 velocity_a = yk_v3_add(a->velocity, yk_v3_cross(wa, arm_a));
    yk_vec3 velocity_b = yk_v3_add(b->velocity, yk_v3_cross(wb, arm_b));
    yk_vec3 velocity = yk_v3_sub(velocity_b, velocity_a);
    yk_world_line line = {.length = yk_v3_norm(d), .rate = yk_v3_dot(e, velocity)};

    /* d'' at constant velocities: centripetal along e, and the squared speed across e divided by
     * the length. */
    yk_vec3 centripetal_a = yk_v3_cross(wa, yk_v3_cross(wa, arm_a));
    yk_vec3 centripetal_b = yk_v3_cross(wb, yk_v3_cross(wb, arm_b));
    double across = yk_v3_norm2(velocity) - line.rate * line.rate;
    line.bias = yk_v3_dot(e, yk_v3_sub(centripetal_b, centripetal_a));
    if (line.length > 0)
        line.bias += across / line.length;

    /* A unit wrench pushes the bodies apart. */
    line.force[0] = yk_v3_neg(e);
    line.force[1] = e;
    line.torque[0] = yk_v3_cross(arm_a, line.force[0]);
    line.torque[1] = yk_v3_cross(arm_b, line.force[1]);
    return line;
}

yk_world_line yk_world_line_at(const yk_nonsmooth *self, const yk_port_model *port)
{
    yk_frame a = yk_world_frame(&self->state, port->slot);
    yk_frame b = yk_world_frame(&self->state, port->far_slot);
    return line_between(port, &a, &b);
}

static yk_frame frame_ahead(const yk_world_state *state, int slot, double h)
{
    if (slot < 0)
        return yk_frame_ground();

    const yk_body_state *body = &state->bodies[slot];

    yk_quat rotation = yk_so3_exp(yk_v3_scale(h, body->angular_velocity));
    return (yk_frame){
        yk_v3_axpy(h, body->velocity, body->position),
        yk_q_matrix(yk_q_mul(rotation, body->orientation)),
        body->velocity,
        body->angular_velocity,
    };
}

yk_world_line yk_world_line_ahead(const yk_nonsmooth *self, const yk_port_model *port, double h)
{
    yk_frame a = frame_ahead(&self->state, port->slot, h);
    yk_frame b = frame_ahead(&self->state, port->far_slot, h);
    return line_between(port, &a, &b);
}
