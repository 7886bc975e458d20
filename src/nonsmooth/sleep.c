/* Sleeping: islands of bodies that have come to rest are left alone until something disturbs them.
 *
 * An island is what contacts, joints and force laws connect through bodies that forces move; it is found by union of
 * neighbours, the lowest slot being the root, so it depends on nothing but the contacts. It falls asleep when each of
 * its bodies has been slower than the limits for the given time, and wakes as a whole. Contacts count from the envelope
 * on, in both directions, so that no sleeping body ever touches one that is awake.
 *
 * What is disturbed is marked in `disturbed`, for bodies that are awake as well: whoever stands on a slowly tilting plane
 * may be slow, but does not rest. Motions, loads and drives count as changed against what they were when they last
 * changed, so that the slowest ones are seen as well, only later. */
#include <string.h>

#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

/* Changes below these are rounding: of places in terms of the smallest radius and in rad, of wrenches in terms of the
 * weight and of the wrench itself. */
static const double POSE_TRACE = 1e-10, WRENCH_TRACE = 1e-8;

/* Islands ---------------------------------------------------------------------------------------------------------- */

static int32_t root_of(int32_t *root, int32_t i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

static void join(yk_nonsmooth *self, int32_t a, int32_t b)
{
    if (!yk_world_is_dynamic(self, a) || !yk_world_is_dynamic(self, b)) return;
    int32_t *root = self->sleep.root;
    a = root_of(root, a), b = root_of(root, b);
    root[a > b ? a : b] = a > b ? b : a;
}

static void find_islands(yk_nonsmooth *self, const yk_contact_list *contacts)
{
    for (size_t i = 0; i < self->dynamic_count; i++) self->sleep.root[i] = (int32_t)i;
    for (size_t i = 0; i < contacts->count; i++)
        join(self, self->parts[contacts->keys[i].a].body, self->parts[contacts->keys[i].b].body);
    for (size_t i = 0; i < self->joint_count; i++) {
        const yk_joint_slot *joint = &self->joints[i];
        if (joint->port < 0) join(self, joint->slot_a, joint->slot_b);
    }
    for (size_t i = 0; i < self->force_count; i++) join(self, self->forces[i].slot_a, self->forces[i].slot_b);
}

/* Bodies ----------------------------------------------------------------------------------------------------------- */

static void disturb(yk_nonsmooth *self, int32_t slot)
{
    if (yk_world_is_dynamic(self, slot)) self->sleep.disturbed[slot] = 1;
}

static bool moves(const yk_nonsmooth *self, int32_t slot)
{
    return slot >= 0 && !yk_world_is_dynamic(self, slot) && self->sleep.disturbed[slot];
}

/* Marks parts that sleep or stand. The list of near pairs has none of two such parts, so it is made anew when one of
 * them is disturbed. */
static void mark_still(yk_nonsmooth *self)
{
    bool disturbs = false;
    for (size_t i = 0; i < self->part_count; i++) {
        int32_t slot = self->parts[i].body;
        bool stands = yk_world_is_dynamic(self, slot) ? yk_world_is_asleep(self, slot) : !moves(self, slot);
        bool still = stands && self->sleep.asleep > 0;
        disturbs = disturbs || (self->sleep.still[i] && !still);
        self->sleep.still[i] = still;
    }
    if (disturbs) yk_world_forget_list(self);
}

/* Wakes the islands in which someone was disturbed; false if there is none. */
static bool wake_islands(yk_nonsmooth *self, double h)
{
    yk_sleep *sleep = &self->sleep;
    bool any = false;
    for (size_t i = 0; i < self->dynamic_count && sleep->asleep > 0 && !any; i++)
        any = sleep->disturbed[i] && isinf(sleep->rest_time[i]);
    if (!any) return false;
    find_islands(self, &sleep->frozen);
    for (size_t i = 0; i < self->dynamic_count; i++)
        if (sleep->disturbed[i] && isinf(sleep->rest_time[i])) sleep->disturbed[root_of(sleep->root, (int32_t)i)] = 1;
    for (size_t i = 0; i < self->dynamic_count; i++)
        if (isinf(sleep->rest_time[i]) && sleep->disturbed[root_of(sleep->root, (int32_t)i)]) sleep->rest_time[i] = 0;
    yk_frozen_return(self, h);
    return true;
}

void yk_sleep_wake(yk_nonsmooth *self, int32_t slot)
{
    if (!self->sleep.rest_time) return;
    memset(self->sleep.disturbed, slot < 0, self->body_count * sizeof *self->sleep.disturbed);
    if (slot >= 0) disturb(self, slot);
    for (size_t i = 0; i < self->dynamic_count; i++)
        if (self->sleep.disturbed[i] && !isinf(self->sleep.rest_time[i])) self->sleep.rest_time[i] = 0;
    wake_islands(self, self->run.step);
}

/* What disturbs ---------------------------------------------------------------------------------------------------- */

/* Whether something has left its place; the new one is remembered. */
static bool has_moved(const yk_nonsmooth *self, yk_location *place, yk_vec3 position, yk_quat orientation)
{
    yk_quat rotation = yk_q_mul(orientation, yk_q_conjugate(place->orientation));
    double shift = yk_v3_norm(yk_v3_sub(position, place->position));
    double angle = 2 * sqrt(rotation.x * rotation.x + rotation.y * rotation.y + rotation.z * rotation.z);
    if (shift <= POSE_TRACE * self->smallest_radius && angle <= POSE_TRACE) return false;
    *place = (yk_location){position, orientation};
    return true;
}

static void notice_known_bodies(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    yk_sleep *sleep = &self->sleep;
    size_t known = yk_world_known_count(self);
    if (known == 0) return;
    memcpy(sleep->ahead, self->bodies + self->dynamic_count, known * sizeof *sleep->ahead);
    yk_world_follow(self, t, h, inputs, sleep->ahead);
    for (size_t i = 0; i < known; i++) {
        const yk_body_state *body = &sleep->ahead[i];
        yk_vec3 position = yk_v3_axpy(h, body->velocity, body->position);
        yk_quat orientation = yk_q_mul(yk_so3_exp(yk_v3_scale(h, body->angular_velocity)), body->orientation);
        sleep->disturbed[self->dynamic_count + i] = has_moved(self, &sleep->poses[i], position, orientation);
    }
}

static void disturb_port(yk_nonsmooth *self, const yk_port_slot *port)
{
    disturb(self, port->slot);
    if (port->line) disturb(self, port->far_slot);
}

static void notice_ports(yk_nonsmooth *self, double h, const yk_input *inputs)
{
    for (size_t i = 0; inputs && i < self->port_count; i++) {
        const yk_port_slot *port = &self->ports[i];
        /* A partner that asks how the port answers gets the answer of one that is awake. */
        if (port->causality == YK_TAKES_WRENCH && self->interface) disturb_port(self, port);
        if (port->causality != YK_TAKES_MOTION || port->whole_body) continue;
        yk_motion end = yk_input_motion(&inputs[i], self->port_list[i].kind, h);
        yk_location *place = &self->sleep.poses[yk_world_known_count(self) + i];
        if (has_moved(self, place, end.position, end.orientation)) disturb_port(self, port);
    }
}

/* A drive at constant speed goes on moving its bodies; one to a position rests with its function. */
static void notice_joints(yk_nonsmooth *self, double t, double h)
{
    for (size_t i = 0; i < self->joint_count; i++) {
        const yk_joint_slot *joint = &self->joints[i];
        double value = joint->joint.driven ? yk_function_value(joint->def.drive, t + h) : 0;
        bool at_speed = joint->joint.driven && yk_row_on_velocity(joint->joint.row[joint->joint.row_count - 1].kind);
        bool changed = value != self->sleep.drives[i] || (at_speed && value != 0);
        self->sleep.drives[i] = value;
        if (changed || moves(self, joint->slot_a)) disturb(self, joint->slot_b);
        if (changed || moves(self, joint->slot_b)) disturb(self, joint->slot_a);
    }
}

static bool differs(yk_vec3 now, yk_vec3 then, double scale)
{
    return yk_v3_norm(yk_v3_sub(now, then)) > WRENCH_TRACE * (scale + yk_v3_norm(then));
}

static void notice_wrenches(yk_nonsmooth *self)
{
    yk_sleep *sleep = &self->sleep;
    if (!sleep->wrenches) return;
    double g = yk_v3_norm(self->def.gravity);
    for (size_t i = 0; i < self->dynamic_count; i++) {
        const yk_wrench *now = &self->applied[i];
        double weight = self->models[i].mass * g;
        if (!differs(now->force, sleep->wrenches[i].force, weight) &&
            !differs(now->torque, sleep->wrenches[i].torque, weight * self->smallest_radius))
            continue;
        sleep->wrenches[i] = *now;
        sleep->disturbed[i] = 1;
    }
}

static void notice_contacts(yk_nonsmooth *self, const yk_contact_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        int32_t a = self->parts[list->keys[i].a].body, b = self->parts[list->keys[i].b].body;
        if (moves(self, a) || (yk_world_is_dynamic(self, a) && !yk_world_is_asleep(self, a))) {
            if (moves(self, a) || yk_world_is_asleep(self, b)) disturb(self, b);
        }
        if (moves(self, b) || (yk_world_is_dynamic(self, b) && !yk_world_is_asleep(self, b))) {
            if (moves(self, b) || yk_world_is_asleep(self, a)) disturb(self, a);
        }
    }
}

bool yk_sleep_begin(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    yk_sleep *sleep = &self->sleep;
    memset(sleep->disturbed, 0, self->body_count * sizeof *sleep->disturbed);
    notice_known_bodies(self, t, h, inputs);
    notice_ports(self, h, inputs);
    notice_joints(self, t, h);
    notice_wrenches(self);
    if (memchr(sleep->disturbed + self->dynamic_count, 1, yk_world_known_count(self)))
        notice_contacts(self, &sleep->frozen);
    wake_islands(self, h);
    mark_still(self);
    if (sleep->asleep < self->dynamic_count) return false;
    return !memchr(sleep->disturbed, 1, self->body_count);
}

bool yk_sleep_was_touched(yk_nonsmooth *self, double h)
{
    notice_contacts(self, &self->next);
    if (!wake_islands(self, h)) return false;
    mark_still(self);
    return true;
}

/* Falling asleep --------------------------------------------------------------------------------------------------- */

/* Counts the time at rest; true if someone has been at rest for long enough. */
static bool count_rest_time(yk_nonsmooth *self, double h)
{
    const yk_sleeping *limits = &self->def.sleeping;
    double angular = limits->angular_speed > 0 ? limits->angular_speed : limits->speed / self->smallest_radius;
    double speed2 = limits->speed * limits->speed, angular2 = angular * angular;
    bool any = false;
    for (size_t i = 0; i < self->dynamic_count; i++) {
        double *rest_time = &self->sleep.rest_time[i];
        if (isinf(*rest_time)) continue;
        const yk_body_state *body = &self->bodies[i];
        bool slow = yk_v3_norm2(body->velocity) <= speed2 && yk_v3_norm2(body->angular_velocity) <= angular2;
        *rest_time = slow && !self->sleep.disturbed[i] ? *rest_time + h : 0;
        any = any || *rest_time >= limits->after;
    }
    return any;
}

/* What is left of its motion is lost. */
static void put_to_sleep(yk_nonsmooth *self, size_t slot)
{
    yk_body_state *body = &self->bodies[slot];
    self->run.dissipated += yk_world_body_kinetic(self, slot, body->velocity, body->angular_velocity);
    body->velocity = body->angular_velocity = yk_v3(0, 0, 0);
    self->sleep.rest_time[slot] = INFINITY;
}

void yk_sleep_end(yk_nonsmooth *self, double h)
{
    yk_sleep *sleep = &self->sleep;
    if (sleep->asleep < self->dynamic_count && count_rest_time(self, h)) {
        /* From here on `disturbed` marks the roots of islands that go on. */
        memset(sleep->disturbed, 0, self->body_count * sizeof *sleep->disturbed);
        find_islands(self, &self->cache);
        for (size_t i = 0; i < self->dynamic_count; i++)
            if (sleep->rest_time[i] < self->def.sleeping.after) sleep->disturbed[root_of(sleep->root, (int32_t)i)] = 1;
        size_t fallen = 0;
        for (size_t i = 0; i < self->dynamic_count; i++) {
            if (isinf(sleep->rest_time[i]) || sleep->disturbed[root_of(sleep->root, (int32_t)i)]) continue;
            put_to_sleep(self, i);
            fallen++;
        }
        if (fallen > 0) yk_frozen_take(self, h);
    }
    self->report.asleep = sleep->asleep;
}

void yk_sleep_start(yk_nonsmooth *self, double t, const yk_input *inputs)
{
    yk_sleep *sleep = &self->sleep;
    if (!sleep->rest_time) return;
    size_t known = yk_world_known_count(self);
    for (size_t i = 0; i < self->dynamic_count; i++) sleep->rest_time[i] = 0;
    for (size_t i = 0; i < known; i++) {
        const yk_body_state *body = &self->bodies[self->dynamic_count + i];
        sleep->poses[i] = (yk_location){body->position, body->orientation};
    }
    for (size_t i = 0; i < self->port_count; i++) {
        sleep->poses[known + i] = (yk_location){.orientation = {1, 0, 0, 0}};
        if (!inputs || self->ports[i].causality != YK_TAKES_MOTION) continue;
        yk_motion motion = yk_input_motion(&inputs[i], self->port_list[i].kind, 0);
        sleep->poses[known + i] = (yk_location){motion.position, motion.orientation};
    }
    for (size_t i = 0; i < self->joint_count; i++)
        sleep->drives[i] = self->joints[i].joint.driven ? yk_function_value(self->joints[i].def.drive, t) : 0;
    if (sleep->wrenches) memset(sleep->wrenches, 0, self->dynamic_count * sizeof *sleep->wrenches);
    sleep->frozen.count = sleep->frozen.round_count = 0;
    memset(sleep->still, 0, self->part_count * sizeof *sleep->still);
    yk_frozen_sum(self);
}
