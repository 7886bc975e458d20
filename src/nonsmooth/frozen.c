/* The contacts of sleeping bodies, kept apart from those that are found anew in every step.
 *
 * They hold mean forces instead of impulses, so that they serve steps of any length, and the point where they press on
 * a body of known motion, whose reaction they are part of. Both lists are in canonical order, and contacts change
 * between them by merging; no pair is ever in both. */
#include "nonsmooth/world.h"

/* A list with what belongs to its contacts, and room for its successor. */
typedef struct store {
    yk_contact_list *list;
    yk_vec3 **impulses, **torques;
    yk_vec3 **points; /* NULL: none */
} store;

static store cache_of(yk_nonsmooth *self)
{
    return (store){&self->cache, &self->impulses, &self->torques, NULL};
}

static store frozen_of(yk_nonsmooth *self)
{
    return (store){&self->sleep.frozen, &self->sleep.forces, &self->sleep.torques, &self->sleep.points};
}

static bool sleeps(const yk_nonsmooth *self, const yk_contact_key *key)
{
    return yk_world_is_asleep(self, self->parts[key->a].body) || yk_world_is_asleep(self, self->parts[key->b].body);
}

static bool comes_before(const yk_contact_key *a, const yk_contact_key *b)
{
    return a->a != b->a ? a->a < b->a : a->b < b->b;
}

/* Where the contact presses on a body of known motion; any point if it does not. */
static yk_vec3 point_on_known(const yk_nonsmooth *self, const yk_contact_list *list, size_t i)
{
    const yk_part *a = &self->parts[list->keys[i].a], *b = &self->parts[list->keys[i].b];
    bool dynamic_a = yk_world_is_dynamic(self, a->body), dynamic_b = yk_world_is_dynamic(self, b->body);
    if (dynamic_a && dynamic_b) return yk_v3(0, 0, 0);
    yk_touch touch = yk_world_touch(self, list, i);
    return dynamic_a ? touch.point_b : touch.point_a;
}

/* Copies contact i of `from` to place `at` of another store; both places are given with their first general contact. */
static void copy_contact(const store *from, size_t i, size_t from_round, const store *to, size_t at, size_t to_round,
                         double factor)
{
    to->list->keys[at] = from->list->keys[i];
    (*to->impulses)[at] = yk_v3_scale(factor, (*from->impulses)[i]);
    if (i >= from_round) (*to->torques)[at - to_round] = yk_v3_scale(factor, (*from->torques)[i - from_round]);
    if (to->points && from->points) (*to->points)[at] = (*from->points)[i];
}

/* Moves the contacts of `from` that sleep, or that do not, into `to`. */
static void transfer(yk_nonsmooth *self, store from, store to, bool asleep, double factor)
{
    yk_contact_list merged = {.keys = self->sleep.spare_keys}, old_from = *from.list, old_to = *to.list;
    store out = {&merged, &self->sleep.spare_forces, &self->sleep.spare_torques, &self->sleep.spare_points};
    size_t i = 0, k = 0, kept = 0;
    for (int general = 0; general < 2; general++) {
        size_t end = general ? old_from.count : old_from.round_count;
        size_t to_end = general ? old_to.count : old_to.round_count;
        for (; i < end; i++) {
            if (sleeps(self, &old_from.keys[i]) != asleep) {
                copy_contact(&from, i, old_from.round_count, &from, kept++, from.list->round_count, 1);
                continue;
            }
            for (; k < to_end && comes_before(&old_to.keys[k], &old_from.keys[i]); k++)
                copy_contact(&to, k, old_to.round_count, &out, merged.count++, merged.round_count, 1);
            if (asleep) self->sleep.spare_points[merged.count] = point_on_known(self, &old_from, i);
            copy_contact(&from, i, old_from.round_count, &out, merged.count++, merged.round_count, factor);
        }
        for (; k < to_end; k++) copy_contact(&to, k, old_to.round_count, &out, merged.count++, merged.round_count, 1);
        if (general) continue;
        merged.round_count = merged.count;
        from.list->round_count = kept;
    }
    from.list->count = kept;
    self->sleep.spare_keys = to.list->keys;
    *to.list = merged;
    yk_vec3 *impulses = *to.impulses, *torques = *to.torques;
    *to.impulses = self->sleep.spare_forces;
    *to.torques = self->sleep.spare_torques;
    self->sleep.spare_forces = impulses;
    self->sleep.spare_torques = torques;
    if (!to.points) return;
    yk_vec3 *points = *to.points;
    *to.points = self->sleep.spare_points;
    self->sleep.spare_points = points;
}

void yk_frozen_take(yk_nonsmooth *self, double h)
{
    transfer(self, cache_of(self), frozen_of(self), true, 1 / h);
    yk_world_index_cache(self);
    yk_frozen_sum(self);
}

void yk_frozen_return(yk_nonsmooth *self, double h)
{
    transfer(self, frozen_of(self), cache_of(self), false, h);
    yk_world_index_cache(self);
    yk_frozen_sum(self);
}

/* What sleeping bodies bring to those of known motion -------------------------------------------------------------- */

static void add_wrench(yk_nonsmooth *self, int32_t slot, yk_vec3 at, yk_vec3 force, yk_vec3 torque)
{
    if (slot < 0 || yk_world_is_dynamic(self, slot)) return;
    yk_wrench *sum = &self->sleep.received[(size_t)slot - self->dynamic_count];
    yk_vec3 arm = yk_v3_sub(at, self->bodies[slot].position);
    sum->force = yk_v3_add(sum->force, force);
    sum->torque = yk_v3_add(sum->torque, yk_v3_add(torque, yk_v3_cross(arm, force)));
}

static void add_contacts(yk_nonsmooth *self)
{
    const yk_sleep *sleep = &self->sleep;
    for (size_t i = 0; i < sleep->frozen.count; i++) {
        const yk_contact_key *key = &sleep->frozen.keys[i];
        bool general = i >= sleep->frozen.round_count;
        yk_vec3 torque = general ? sleep->torques[i - sleep->frozen.round_count] : yk_v3(0, 0, 0);
        add_wrench(self, self->parts[key->a].body, sleep->points[i], sleep->forces[i], torque);
        add_wrench(self, self->parts[key->b].body, sleep->points[i], yk_v3_neg(sleep->forces[i]), yk_v3_neg(torque));
    }
}

/* Their wrenches are kept for marker b. */
static void add_joints(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->joint_count; i++) {
        const yk_joint_slot *joint = &self->joints[i];
        if (!yk_world_is_asleep(self, joint->slot_a) && !yk_world_is_asleep(self, joint->slot_b)) continue;
        yk_vec3 at = joint->joint.offset[1];
        if (joint->slot_b >= 0) {
            const yk_body_state *body = &self->bodies[joint->slot_b];
            at = yk_v3_add(body->position, yk_q_rotate(body->orientation, at));
        }
        const yk_wrench *wrench = &joint->wrench;
        add_wrench(self, joint->slot_b, at, wrench->force, wrench->torque);
        add_wrench(self, joint->slot_a, at, yk_v3_neg(wrench->force), yk_v3_neg(wrench->torque));
    }
}

void yk_frozen_sum(yk_nonsmooth *self)
{
    self->sleep.asleep = 0;
    for (size_t i = 0; i < self->dynamic_count; i++) self->sleep.asleep += yk_world_is_asleep(self, (int32_t)i);
    for (size_t i = 0; i < yk_world_known_count(self); i++) self->sleep.received[i] = (yk_wrench){.force = {0, 0, 0}};
    add_contacts(self);
    add_joints(self);
}
