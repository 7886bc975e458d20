/* Sleeping: islands of bodies that have come to rest are not computed until something disturbs
 * them.
 *
 * An island consists of dynamic bodies connected by contacts, joints and force laws. It is found by
 * union-find with the lowest slot as the root, so that it depends on the contacts only. An island
 * falls asleep when each of its bodies has been slower than the limits for the given time, and
 * wakes as a whole. Contacts count from the envelope on, for falling asleep and for waking, so that
 * a sleeping body never touches one that is awake. Contacts among sleeping bodies are stored
 * separately, with mean forces.
 *
 * Bodies that are awake can be disturbed too: a body on a slowly tilting plane may be slow, but is
 * not at rest. Changes of motions, loads and drives are measured relative to their values at the
 * last detected change, so that even the slowest ones are detected, only later. */
#include <string.h>

#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

/* Changes below these are rounding errors: of poses in units of the smallest radius and in rad, of
 * wrenches in units of the weight and of the wrench itself. */
static const double POSE_CHANGE = 1e-10, WRENCH_CHANGE = 1e-8;

/* Islands -------------------------------------------------------------------------------------- */

static int32_t root_of(int32_t *root, int32_t i)
{
    while (root[i] != i)
        i = root[i] = root[root[i]];
    return i;
}

static void join(yk_nonsmooth *self, int32_t a, int32_t b)
{
    if (!yk_world_is_dynamic(&self->model, a) || !yk_world_is_dynamic(&self->model, b))
        return;

    /* The smaller number becomes the root, so that islands do not depend on the order of
     * contacts. */
    int32_t *root = self->sleep.root;
    a = root_of(root, a);
    b = root_of(root, b);
    if (a > b)
        root[a] = b;
    else
        root[b] = a;
}

static void find_islands(yk_nonsmooth *self, const yk_contact_list *contacts)
{
    const yk_world_model *model = &self->model;
    for (size_t i = 0; i < model->dynamic_count; i++)
        self->sleep.root[i] = (int32_t)i;

    /* Bodies connected by contact, joint or force sleep and wake together. */
    for (size_t i = 0; i < contacts->count; i++) {
        const yk_contact_key *key = &contacts->keys[i];
        join(self, model->parts[key->a].body, model->parts[key->b].body);
    }

    /* The other side of a port's joint is not a body of this model. */
    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        if (joint->port < 0)
            join(self, joint->slot_a, joint->slot_b);
    }

    for (size_t i = 0; i < model->force_count; i++)
        join(self, model->forces[i].slot_a, model->forces[i].slot_b);
}

/* Contacts of sleeping bodies ------------------------------------------------------------------ */

/* Contacts of sleeping bodies are stored separately from those found in every step. They contain
 * mean forces instead of impulses, so that they are valid for steps of any length, and the point of
 * action on a body with known motion, for its reaction. Both lists are in canonical order, and
 * contacts are moved between them by merging; no pair is ever in both. */

/* Wrenches of sleeping bodies on those with known motion. */
static void add_wrench(yk_nonsmooth *self, int32_t slot, yk_vec3 at, yk_vec3 force, yk_vec3 torque)
{
    if (slot < 0 || yk_world_is_dynamic(&self->model, slot))
        return;

    /* About the centre of mass of the body. */
    yk_wrench *sum = &self->sleep.received[(size_t)slot - self->model.dynamic_count];

    yk_vec3 arm = yk_v3_sub(at, self->state.bodies[slot].position);
    sum->force = yk_v3_add(sum->force, force);
    sum->torque = yk_v3_add(sum->torque, yk_v3_add(torque, yk_v3_cross(arm, force)));
}

void yk_sleep_sum(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    const yk_world_state *state = &self->state;

    /* The number of sleeping bodies, which decides whether the step has to solve anything. */
    size_t asleep = 0;
    for (size_t i = 0; i < model->dynamic_count; i++)
        asleep += yk_world_is_asleep(model, state, (int32_t)i);
    self->state.sleep.asleep = asleep;

    /* Forces of their contacts. */
    for (size_t i = 0; i < yk_world_known_count(model); i++)
        self->sleep.received[i] = (yk_wrench){.force = {0, 0, 0}};

    const yk_contact_list *frozen = &state->sleep.frozen;
    for (size_t i = 0; i < frozen->count; i++) {
        const yk_contact_key *key = &frozen->keys[i];
        yk_vec3 at = frozen->points[i], force = frozen->impulses[i], torque = {0, 0, 0};
        if (i >= frozen->round_count)
            torque = frozen->torques[i - frozen->round_count];

        add_wrench(self, model->parts[key->a].body, at, force, torque);
        add_wrench(self, model->parts[key->b].body, at, yk_v3_neg(force), yk_v3_neg(torque));
    }

    /* Wrenches of their joints, which are those at marker b. */
    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        bool rests = yk_world_is_asleep(model, state, joint->slot_a) ||
                     yk_world_is_asleep(model, state, joint->slot_b);
        if (!rests)
            continue;

        /* On the ground the offset of a marker is its global position. */
        yk_vec3 at = joint->joint.offset[1];
        if (joint->slot_b >= 0) {
            const yk_body_state *body = &state->bodies[joint->slot_b];
            at = yk_v3_add(body->position, yk_q_rotate(body->orientation, at));
        }

        const yk_wrench *wrench = &state->joints[i];
        add_wrench(self, joint->slot_b, at, wrench->force, wrench->torque);
        add_wrench(self, joint->slot_a, at, yk_v3_neg(wrench->force), yk_v3_neg(wrench->torque));
    }
}

static bool sleeps(const yk_nonsmooth *self, const yk_contact_key *key)
{
    const yk_world_model *model = &self->model;
    return yk_world_is_asleep(model, &self->state, model->parts[key->a].body) ||
           yk_world_is_asleep(model, &self->state, model->parts[key->b].body);
}

static bool comes_before(const yk_contact_key *a, const yk_contact_key *b)
{
    if (a->a != b->a)
        return a->a < b->a;
    return a->b < b->b;
}

/* Copies contact i of `from` to index `at` of `to`, impulses times a factor. While a list is
 * built, its round_count is the index of its first general contact. */
static void copy_contact(const yk_contact_list *from, size_t i, const yk_contact_list *to,
                         size_t at, double factor)
{
    to->keys[at] = from->keys[i];
    to->impulses[at] = yk_v3_scale(factor, from->impulses[i]);
    if (i >= from->round_count)
        to->torques[at - to->round_count] =
            yk_v3_scale(factor, from->torques[i - from->round_count]);
    if (to->points && from->points)
        to->points[at] = from->points[i];
}

/* Moves the contacts of `from` that sleep, or that do not, to `to`. */
static void transfer(yk_nonsmooth *self, yk_contact_list *from, yk_contact_list *to, bool asleep,
                     double factor)
{
    const yk_world_model *model = &self->model;

    /* `from` is compacted in place; `to` and the moved contacts are merged into the spare list. */
    const yk_contact_list old = *from;
    yk_contact_list kept = *from, merged = self->sleep.spare;
    kept.count = kept.round_count = merged.count = merged.round_count = 0;

    /* Round contacts first, then the general ones, each in canonical order. */
    size_t i = 0, k = 0;
    for (int general = 0; general < 2; general++) {
        size_t from_end = old.round_count, to_end = to->round_count;
        if (general) {
            from_end = old.count;
            to_end = to->count;
        }

        for (; i < from_end; i++) {
            if (sleeps(self, &old.keys[i]) != asleep) {
                copy_contact(&old, i, &kept, kept.count++, 1);
                continue;
            }

            /* Contacts of `to` that precede it in the canonical order. */
            for (; k < to_end && comes_before(&to->keys[k], &old.keys[i]); k++)
                copy_contact(to, k, &merged, merged.count++, 1);

            /* Point of action on a body with known motion, if there is one. */
            if (asleep) {
                const yk_contact_key *key = &old.keys[i];
                yk_vec3 *point = &merged.points[merged.count];
                yk_touch touch = yk_collision_touch(&self->collision, &old, i);
                *point = yk_v3(0, 0, 0);
                if (!yk_world_is_dynamic(model, model->parts[key->a].body))
                    *point = touch.point_a;
                if (!yk_world_is_dynamic(model, model->parts[key->b].body))
                    *point = touch.point_b;
            }

            copy_contact(&old, i, &merged, merged.count++, factor);
        }

        for (; k < to_end; k++)
            copy_contact(to, k, &merged, merged.count++, 1);

        if (general)
            continue;

        /* All round contacts are copied: the general ones begin here. */
        merged.round_count = merged.count;
        kept.round_count = kept.count;
    }

    from->count = kept.count;
    from->round_count = kept.round_count;

    /* The arrays of `to` become the spare ones; rows are kept, and points too if `to` has none. */
    yk_contact_list used = *to;
    *to = merged;
    to->rows = used.rows;
    self->sleep.spare = used;
    self->sleep.spare.rows = NULL;
    if (!used.points) {
        self->sleep.spare.points = merged.points;
        to->points = NULL;
    }

    /* Update the data derived from both lists. */
    self->has_points = false;
    yk_contact_list_index(model, &self->state.contacts);
    yk_sleep_sum(self);
}

/* Waking --------------------------------------------------------------------------------------- */

static void disturb(yk_nonsmooth *self, int32_t slot)
{
    if (yk_world_is_dynamic(&self->model, slot))
        self->sleep.disturbed[slot] = 1;
}

/* Of a body of known motion. */
static bool moves(const yk_nonsmooth *self, int32_t slot)
{
    return slot >= 0 && !yk_world_is_dynamic(&self->model, slot) && self->sleep.disturbed[slot];
}

/* Marks parts that sleep or do not move. The list of near pairs contains no pair of two such parts,
 * so it is rebuilt when one of them begins to move. */
static void mark_still(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    uint8_t *still = self->collision.still;
    bool starts = false;

    /* If no body sleeps, the search includes everything. */
    for (size_t i = 0; i < model->part_count; i++) {
        int32_t slot = model->parts[i].body;

        bool stands = !moves(self, slot);
        if (yk_world_is_dynamic(model, slot))
            stands = yk_world_is_asleep(model, &self->state, slot);

        bool now = stands && self->state.sleep.asleep > 0;
        starts = starts || (still[i] && !now);
        still[i] = now;
    }

    if (starts)
        yk_collision_forget_list(&self->collision);
}

/* Wakes the islands with a disturbed body; false if there is none. */
static bool wake_islands(yk_nonsmooth *self, double h)
{
    size_t count = self->model.dynamic_count;
    double *rest_time = self->state.sleep.rest_time;
    uint8_t *disturbed = self->sleep.disturbed;
    int32_t *root = self->sleep.root;

    /* Most steps disturb no sleeping body, and end here. */
    bool any = false;
    for (size_t i = 0; i < count && self->state.sleep.asleep > 0 && !any; i++)
        any = disturbed[i] && isinf(rest_time[i]);
    if (!any)
        return false;

    /* An island is disturbed if one of its bodies is; the mark is stored at its root. */
    find_islands(self, &self->state.sleep.frozen);
    for (size_t i = 0; i < count; i++)
        if (disturbed[i] && isinf(rest_time[i]))
            disturbed[root_of(root, (int32_t)i)] = 1;

    for (size_t i = 0; i < count; i++)
        if (isinf(rest_time[i]) && disturbed[root_of(root, (int32_t)i)])
            rest_time[i] = 0;

    /* Their contacts are again among those with which steps begin. */
    transfer(self, &self->state.sleep.frozen, &self->state.contacts, false, h);
    return true;
}

void yk_sleep_wake(yk_nonsmooth *self, int32_t slot)
{
    double *rest_time = self->state.sleep.rest_time;
    if (!rest_time)
        return;

    uint8_t *disturbed = self->sleep.disturbed;
    memset(disturbed, slot < 0, self->model.body_count * sizeof *disturbed);
    if (slot >= 0)
        disturb(self, slot);

    /* The rest time of bodies that are awake starts again. */
    for (size_t i = 0; i < self->model.dynamic_count; i++)
        if (disturbed[i] && !isinf(rest_time[i]))
            rest_time[i] = 0;
    wake_islands(self, self->state.run.step);
}

/* What disturbs -------------------------------------------------------------------------------- */

/* Whether the pose has changed; stores the new one. */
static bool has_moved(const yk_nonsmooth *self, yk_pose *pose, yk_vec3 position,
                      yk_quat orientation)
{
    /* The angle of a small rotation is twice the length of its vector part. */
    yk_quat rotation = yk_q_mul(orientation, yk_q_conjugate(pose->orientation));
    double shift = yk_v3_norm(yk_v3_sub(position, pose->position));
    double angle =
        2 * sqrt(rotation.x * rotation.x + rotation.y * rotation.y + rotation.z * rotation.z);

    if (shift <= POSE_CHANGE * self->model.smallest_radius && angle <= POSE_CHANGE)
        return false;
    *pose = (yk_pose){position, orientation};
    return true;
}

static void disturb_port(yk_nonsmooth *self, const yk_port_model *port)
{
    disturb(self, port->slot);
    if (port->line)
        disturb(self, port->far_slot);
}

static bool differs(yk_vec3 now, yk_vec3 then, double scale)
{
    return yk_v3_norm(yk_v3_sub(now, then)) > WRENCH_CHANGE * (scale + yk_v3_norm(then));
}

/* A body with known motion that moves disturbs touching bodies; a body that is awake disturbs
 * sleeping ones. */
static void notice_contacts(yk_nonsmooth *self, const yk_contact_list *list)
{
    const yk_world_model *model = &self->model;
    for (size_t i = 0; i < list->count; i++) {
        int32_t bodies[2] = {model->parts[list->keys[i].a].body,
                             model->parts[list->keys[i].b].body};
        for (int side = 0; side < 2; side++) {
            int32_t from = bodies[side], to = bodies[1 - side];
            bool awake =
                yk_world_is_dynamic(model, from) && !yk_world_is_asleep(model, &self->state, from);
            if (moves(self, from) || (awake && yk_world_is_asleep(model, &self->state, to)))
                disturb(self, to);
        }
    }
}

bool yk_sleep_begin(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    uint8_t *disturbed = self->sleep.disturbed;

    memset(disturbed, 0, model->body_count * sizeof *disturbed);

    /* Bodies that follow a function or a port: their pose at the end of the step. */
    size_t first = model->dynamic_count;
    size_t known = yk_world_known_count(model);
    yk_body_state *ahead = self->sleep.ahead;
    if (known > 0) {
        memcpy(ahead, self->state.bodies + first, known * sizeof *ahead);
        yk_world_follow(self, t, h, inputs, ahead);
    }

    /* Relative to the pose at the last detected motion, so that slow motion accumulates. */
    yk_pose *poses = self->state.sleep.poses;
    for (size_t i = 0; i < known; i++) {
        const yk_body_state *body = &ahead[i];
        yk_vec3 position = yk_v3_axpy(h, body->velocity, body->position);
        yk_quat orientation =
            yk_q_mul(yk_so3_exp(yk_v3_scale(h, body->angular_velocity)), body->orientation);
        disturbed[first + i] = has_moved(self, &poses[i], position, orientation);
    }

    /* Ports that receive a motion: the end of the step is compared with the pose of the port at the
     * last detected motion. A partner that requests the response of a port gets that of awake
     * bodies. */
    for (size_t i = 0; inputs && i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        if (port->causality == YK_CAUSALITY_WRENCH_INPUT && self->interface)
            disturb_port(self, port);
        if (port->causality != YK_CAUSALITY_MOTION_INPUT || port->whole_body)
            continue;

        yk_motion end = yk_input_motion(&inputs[i], model->port_list[i].kind, h);
        if (has_moved(self, &poses[known + i], end.position, end.orientation))
            disturb_port(self, port);
    }

    /* Joints: a drive at constant speed keeps moving its bodies; a drive to a position is at rest
     * if its function is. */
    double *drives = self->state.sleep.drives;
    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        bool driven = joint->joint.driven;
        bool at_speed = driven && yk_row_on_velocity(&joint->joint.row[joint->joint.row_count - 1]);
        double value = 0;
        if (driven)
            value = yk_function_value(joint->def.drive, t + h);
        bool changed = value != drives[i] || (at_speed && value != 0);
        drives[i] = value;

        /* A joint also transmits the motion of one of its bodies. */
        if (changed || moves(self, joint->slot_a))
            disturb(self, joint->slot_b);
        if (changed || moves(self, joint->slot_b))
            disturb(self, joint->slot_a);
    }

    /* Loads: relative to the weight and to themselves. */
    yk_wrench *wrenches = self->state.sleep.wrenches;
    double g = yk_v3_norm(model->def.gravity);
    for (size_t i = 0; wrenches && i < model->dynamic_count; i++) {
        const yk_wrench *now = &self->step.applied[i];
        const yk_wrench *then = &wrenches[i];
        double weight = model->bodies[i].mass * g;
        bool same = !differs(now->force, then->force, weight) &&
                    !differs(now->torque, then->torque, weight * model->smallest_radius);
        if (same)
            continue;

        wrenches[i] = *now;
        disturbed[i] = 1;
    }

    /* Then the bodies in contact with disturbed ones. */
    if (memchr(disturbed + model->dynamic_count, 1, yk_world_known_count(model)))
        notice_contacts(self, &self->state.sleep.frozen);

    wake_islands(self, h);
    mark_still(self);

    /* All bodies are asleep or absent, and none is disturbed: the step has nothing to solve. */
    size_t idle = self->state.sleep.asleep;
    for (size_t i = 0; self->state.absent && i < model->dynamic_count; i++)
        idle += self->state.absent[i] && !yk_world_is_asleep(model, &self->state, (int32_t)i);
    if (idle < model->dynamic_count)
        return false;
    return !memchr(disturbed, 1, model->body_count);
}

bool yk_sleep_was_touched(yk_nonsmooth *self, double h)
{
    notice_contacts(self, &self->collision.found);
    if (!wake_islands(self, h))
        return false;

    mark_still(self);
    return true;
}

/* Falling asleep ------------------------------------------------------------------------------- */

void yk_sleep_end(yk_nonsmooth *self, double h)
{
    const yk_sleep_options *limits = &self->model.def.sleeping;
    yk_sleep_state *sleep = &self->state.sleep;
    size_t count = self->model.dynamic_count;
    double angular = limits->angular_speed_threshold;

    /* Without a given limit, the surface of the smallest solid must be slow. */
    if (!(angular > 0))
        angular = limits->speed_threshold / self->model.smallest_radius;

    /* Rest times of awake bodies; returns whether one has rested for long enough. */
    bool any = false;
    for (size_t i = 0; i < count && sleep->asleep < count; i++) {
        double *rest_time = &sleep->rest_time[i];
        if (isinf(*rest_time) || yk_world_is_absent(&self->model, &self->state, (int32_t)i))
            continue;

        /* Slow in translation and rotation, and not disturbed in this step. */
        const yk_body_state *body = &self->state.bodies[i];
        bool slow =
            yk_v3_norm2(body->velocity) <= limits->speed_threshold * limits->speed_threshold &&
            yk_v3_norm2(body->angular_velocity) <= angular * angular;
        if (slow && !self->sleep.disturbed[i])
            *rest_time += h;
        else
            *rest_time = 0;

        any = any || *rest_time >= limits->delay;
    }

    if (any) {
        /* From here on the marks are those of roots of islands that stay awake. */
        uint8_t *awake = self->sleep.disturbed;
        int32_t *root = self->sleep.root;
        memset(awake, 0, self->model.body_count * sizeof *awake);

        /* An island sleeps only as a whole: one body that has not rested long enough keeps it
         * awake. */
        find_islands(self, &self->state.contacts);
        for (size_t i = 0; i < count; i++)
            if (sleep->rest_time[i] < limits->delay)
                awake[root_of(root, (int32_t)i)] = 1;

        /* The remaining kinetic energy is lost. */
        size_t fallen = 0;
        for (size_t i = 0; i < count; i++) {
            if (isinf(sleep->rest_time[i]) || awake[root_of(root, (int32_t)i)])
                continue;

            yk_body_state *body = &self->state.bodies[i];

            self->state.run.dissipated +=
                yk_world_body_kinetic(self, i, body->velocity, body->angular_velocity);
            body->velocity = body->angular_velocity = yk_v3(0, 0, 0);
            sleep->rest_time[i] = INFINITY;
            fallen++;
        }

        /* Move their contacts to the frozen list. */
        if (fallen > 0)
            transfer(self, &self->state.contacts, &self->state.sleep.frozen, true, 1 / h);
    }

    self->report.asleep = sleep->asleep;
}

void yk_sleep_start(yk_nonsmooth *self, double t, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    yk_sleep_state *sleep = &self->state.sleep;

    if (!sleep->rest_time)
        return;

    /* All bodies start awake, with zero rest time. */
    size_t known = yk_world_known_count(model);
    for (size_t i = 0; i < model->dynamic_count; i++)
        sleep->rest_time[i] = 0;

    /* Present values of everything that can disturb bodies. */
    for (size_t i = 0; i < known; i++) {
        const yk_body_state *body = &self->state.bodies[model->dynamic_count + i];
        sleep->poses[i] = (yk_pose){body->position, body->orientation};
    }

    for (size_t i = 0; i < model->port_count; i++) {
        sleep->poses[known + i] = (yk_pose){.orientation = {1, 0, 0, 0}};
        if (!inputs || model->ports[i].causality != YK_CAUSALITY_MOTION_INPUT)
            continue;

        yk_motion motion = yk_input_motion(&inputs[i], model->port_list[i].kind, 0);
        sleep->poses[known + i] = (yk_pose){motion.position, motion.orientation};
    }

    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        sleep->drives[i] = 0;
        if (joint->joint.driven)
            sleep->drives[i] = yk_function_value(joint->def.drive, t);
    }

    /* Loads that exist from the start disturb once, in the first step. */
    if (sleep->wrenches)
        memset(sleep->wrenches, 0, model->dynamic_count * sizeof *sleep->wrenches);

    /* No body sleeps yet. */
    sleep->frozen.count = sleep->frozen.round_count = 0;
    if (model->part_count > 0)
        memset(self->collision.still, 0, model->part_count * sizeof *self->collision.still);
    yk_sleep_sum(self);
}
