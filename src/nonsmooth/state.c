/* The image of a run: everything that the next step depends on, and the outputs of the last one.
 *
 *   bodies   position, orientation, velocity, angular velocity         continuous
 *   run      time, energies, step
 *   outputs  of ports, reactions of bodies of known motion, joints
 *   cache    contacts of the last step with their impulses, up to the capacity
 *   sleep    who sleeps since when, with which contacts, and what would wake them
 *
 * The list of near pairs is not part of it: contacts do not depend on its age (broad.h). */
#include <string.h>

#include "nonsmooth/world.h"

enum { BODY_WORDS = sizeof(yk_body_state) / sizeof(double), WRENCH_WORDS = 6, CONTACT_WORDS = 5, PLACE_WORDS = 7 };

static size_t sleep_words(const yk_nonsmooth *self)
{
    const yk_sleep *sleep = &self->sleep;
    if (!sleep->rest_time) return 0;
    size_t poses = yk_world_known_count(self) + self->port_count;
    size_t wrenches = sleep->wrenches ? WRENCH_WORDS * self->dynamic_count : 0;
    /* Frozen contacts and the cache have one capacity together; points come on top. */
    return self->dynamic_count + PLACE_WORDS * poses + wrenches + self->joint_count + 2 + 3 * self->contact_capacity;
}

yk_state_layout yk_world_state_layout(const yk_nonsmooth *self)
{
    size_t continuous = self->body_count * BODY_WORDS;
    size_t outputs = 2 * WRENCH_WORDS * self->port_count +
                     WRENCH_WORDS * (yk_world_known_count(self) + self->joint_count) + self->joint_row_capacity;
    outputs += self->signal_count;
    size_t cache = 2 + CONTACT_WORDS * self->contact_capacity + 3 * self->general_capacity;
    return (yk_state_layout){continuous + sizeof self->run / sizeof(double) + outputs + cache + sleep_words(self),
                             continuous};
}

/* One walk serves both directions, so that they cannot disagree. */
typedef struct image_walk {
    double *at;
    bool reading; /* from the image */
} image_walk;

static void copy_words(image_walk *walk, void *data, size_t bytes)
{
    if (bytes == 0) return;
    if (walk->reading)
        memcpy(data, walk->at, bytes);
    else
        memcpy(walk->at, data, bytes);
    walk->at += (bytes + sizeof(double) - 1) / sizeof(double);
}

static void walk_outputs(image_walk *walk, yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->port_count; i++) {
        copy_words(walk, &self->ports[i].wrench, sizeof self->ports[i].wrench);
        copy_words(walk, &self->ports[i].rate, sizeof self->ports[i].rate);
    }
    for (size_t i = 0; i < self->signal_count; i++)
        copy_words(walk, &self->signals[i].value, sizeof self->signals[i].value);
    copy_words(walk, self->reactions, yk_world_known_count(self) * sizeof *self->reactions);
    for (size_t i = 0; i < self->joint_count; i++)
        copy_words(walk, &self->joints[i].wrench, sizeof self->joints[i].wrench);
    copy_words(walk, self->joint_impulses, self->joint_row_capacity * sizeof *self->joint_impulses);
}

static yk_status walk_contacts(image_walk *walk, yk_nonsmooth *self, yk_contact_list *list, yk_vec3 *impulses,
                               yk_vec3 *torques)
{
    uint64_t counts[2] = {list->count, list->round_count};
    copy_words(walk, counts, sizeof counts);
    if (counts[0] > self->contact_capacity || counts[1] > counts[0] || counts[0] - counts[1] > self->general_capacity)
        return yk_fail(self->context, YK_ERROR_ARGUMENT, "the state image does not belong to this model");
    list->count = (size_t)counts[0];
    list->round_count = (size_t)counts[1];
    for (size_t i = 0; i < list->count; i++) {
        uint64_t words[2] = {(uint64_t)(uint32_t)list->keys[i].a << 32 | (uint32_t)list->keys[i].b,
                             list->keys[i].feature};
        copy_words(walk, words, sizeof words);
        list->keys[i] = (yk_contact_key){(int32_t)(words[0] >> 32), (int32_t)(uint32_t)words[0], (uint32_t)words[1]};
    }
    copy_words(walk, impulses, list->count * sizeof *impulses);
    if (list->count > list->round_count) copy_words(walk, torques, (list->count - list->round_count) * sizeof *torques);
    return YK_OK;
}

static yk_status walk_sleep(image_walk *walk, yk_nonsmooth *self)
{
    yk_sleep *sleep = &self->sleep;
    if (!sleep->rest_time) return YK_OK;
    copy_words(walk, sleep->rest_time, self->dynamic_count * sizeof *sleep->rest_time);
    copy_words(walk, sleep->poses, (yk_world_known_count(self) + self->port_count) * sizeof *sleep->poses);
    if (sleep->wrenches) copy_words(walk, sleep->wrenches, self->dynamic_count * sizeof *sleep->wrenches);
    copy_words(walk, sleep->drives, self->joint_count * sizeof *sleep->drives);
    yk_status status = walk_contacts(walk, self, &sleep->frozen, sleep->forces, sleep->torques);
    if (status == YK_OK) copy_words(walk, sleep->points, sleep->frozen.count * sizeof *sleep->points);
    return status;
}

static yk_status walk_image(yk_nonsmooth *self, image_walk *walk)
{
    copy_words(walk, self->bodies, self->body_count * sizeof *self->bodies);
    copy_words(walk, &self->run, sizeof self->run);
    walk_outputs(walk, self);
    yk_status status = walk_contacts(walk, self, &self->cache, self->impulses, self->torques);
    return status == YK_OK ? walk_sleep(walk, self) : status;
}

void yk_world_state_get(const yk_nonsmooth *self, double *image)
{
    image_walk walk = {image, false};
    walk_image((yk_nonsmooth *)(uintptr_t)self, &walk);
    double *end = image + yk_world_state_layout(self).words;
    memset(walk.at, 0, (size_t)(end - walk.at) * sizeof *image);
}

yk_status yk_world_state_set(yk_nonsmooth *self, const double *image)
{
    image_walk walk = {(double *)(uintptr_t)image, true};
    yk_status status = walk_image(self, &walk);
    if (status < 0) return status;
    yk_world_index_cache(self);
    if (self->sleep.rest_time) yk_frozen_sum(self);
    /* Perturbed quaternions are brought back to unit length; those that are unit to rounding stay as they are. */
    for (size_t i = 0; i < self->body_count; i++) {
        double norm = yk_q_norm(self->bodies[i].orientation);
        if (fabs(norm - 1) > 1e-14 && norm > 0) self->bodies[i].orientation = yk_q_unit(self->bodies[i].orientation);
    }
    return YK_OK;
}

/* Looking and placing between steps -------------------------------------------------------------------------------- */

double yk_nonsmooth_time(const yk_nonsmooth *self)
{
    return self->run.time;
}

double yk_nonsmooth_body_mass(const yk_nonsmooth *self, int body)
{
    return self->models[self->slot_of ? self->slot_of[body] : body].mass;
}

void yk_nonsmooth_body_motion(const yk_nonsmooth *self, int body, yk_motion *motion)
{
    const yk_body_state *state = self->started ? &self->bodies[self->slot_of[body]] : &self->initial[body];
    *motion = (yk_motion){.position = state->position,
                          .velocity = state->velocity,
                          .orientation = state->orientation,
                          .angular_velocity = state->angular_velocity};
}

void yk_nonsmooth_set_motion(yk_nonsmooth *self, int body, const yk_motion *motion)
{
    yk_body_state *state = self->started ? &self->bodies[self->slot_of[body]] : &self->initial[body];
    *state =
        (yk_body_state){motion->position, yk_q_unit(motion->orientation), motion->velocity, motion->angular_velocity};
    if (self->started) yk_sleep_wake(self, self->slot_of[body]);
}

yk_wrench yk_nonsmooth_reaction(const yk_nonsmooth *self, int body)
{
    size_t slot = (size_t)self->slot_of[body];
    return slot < self->dynamic_count ? (yk_wrench){.force = {0, 0, 0}} : self->reactions[slot - self->dynamic_count];
}

/* Sum of `impulses` on the body in slot `slot` from the one in slot `other`. */
static yk_vec3 sum_between(const yk_nonsmooth *self, const yk_contact_list *list, const yk_vec3 *impulses, int32_t slot,
                           int32_t other)
{
    yk_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < list->count; i++) {
        int32_t a = self->parts[list->keys[i].a].body, b = self->parts[list->keys[i].b].body;
        if (a == slot && b == other) sum = yk_v3_add(sum, impulses[i]);
        if (b == slot && a == other) sum = yk_v3_sub(sum, impulses[i]);
    }
    return sum;
}

yk_vec3 yk_nonsmooth_contact_force(const yk_nonsmooth *self, int body, int from)
{
    int32_t slot = body < 0 ? -1 : self->slot_of[body], other = from < 0 ? -1 : self->slot_of[from];
    yk_vec3 sum = sum_between(self, &self->cache, self->impulses, slot, other);
    yk_vec3 held = sum_between(self, &self->sleep.frozen, self->sleep.forces, slot, other);
    return self->run.step > 0 ? yk_v3_axpy(1 / self->run.step, sum, held) : sum;
}

void yk_nonsmooth_report_read(const yk_nonsmooth *self, yk_nonsmooth_report *report)
{
    *report = self->report;
}

void yk_nonsmooth_violation(yk_nonsmooth *self, double *rms, double *largest)
{
    yk_network_violation violation = yk_network_residual(self->network, self->def.solver.friction);
    *rms = violation.rms;
    *largest = violation.largest;
}
