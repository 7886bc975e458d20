/* The contacts of sleeping bodies, kept apart from those that are found anew in every step.
 *
 * They hold mean forces instead of impulses, so that they serve steps of any length, and the
 * point where they press on a body of known motion, whose reaction they are part of. Both lists
 * are in canonical order, and contacts change between them by merging; no pair is ever in both. */
#include "nonsmooth/world.h"

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

/* Moves the contacts of `from` that sleep, or that do not, into `to`. */
static void transfer(yk_nonsmooth *self, yk_contact_list *from, yk_contact_list *to, bool asleep,
                     double factor)
{
    const yk_world_model *model = &self->model;

    /* `from` is compacted in place; `to` and what moves are merged into the spare list. */
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

            /* Those of `to` that come before it in the canonical order. */
            for (; k < to_end && comes_before(&to->keys[k], &old.keys[i]); k++)
                copy_contact(to, k, &merged, merged.count++, 1);

            /* Where it presses on a body of known motion, if it does. */
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

        merged.round_count = merged.count;
        kept.round_count = kept.count;
    }

    from->count = kept.count;
    from->round_count = kept.round_count;

    /* The arrays of `to` become the spare ones; rows stay, and so do points where `to` has none. */
    yk_contact_list used = *to;
    *to = merged;
    to->rows = used.rows;
    self->sleep.spare = used;
    self->sleep.spare.rows = NULL;
    if (!used.points) {
        self->sleep.spare.points = merged.points;
        to->points = NULL;
    }
}

void yk_frozen_take(yk_nonsmooth *self, double h)
{
    transfer(self, &self->state.contacts, &self->state.sleep.frozen, true, 1 / h);

    self->has_points = false;
    yk_contact_list_index(&self->model, &self->state.contacts);
    yk_frozen_sum(self);
}

void yk_frozen_return(yk_nonsmooth *self, double h)
{
    transfer(self, &self->state.sleep.frozen, &self->state.contacts, false, h);
    self->has_points = false;
    yk_contact_list_index(&self->model, &self->state.contacts);
    yk_frozen_sum(self);
}

/* What sleeping bodies bring to those of known motion ------------------------------------------ */

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

void yk_frozen_sum(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    const yk_world_state *state = &self->state;

    /* How many sleep, which decides whether the step has anything to solve. */
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
