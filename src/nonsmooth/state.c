/* The image of a run:
 *
 *   bodies    position, orientation, velocity, angular velocity         continuous
 *   run       time, energies, step
 *   outputs   of ports, reactions of bodies with known motion, joints
 *   flow      absent bodies, totals of emitters and sinks
 *   contacts  of the last step with their impulses, up to the capacity
 *   sleep     rest times, frozen contacts, and values whose change wakes bodies
 *
 * The list of near pairs is not part of it: contacts do not depend on its age (broad_phase.c). */
#include <string.h>

#include "base/context.h"
#include "base/restored.h"
#include "nonsmooth/state.h"

enum {
    BODY_WORDS = sizeof(yk_body_state) / sizeof(double),
    RUN_WORDS = sizeof(((yk_world_state *)NULL)->run) / sizeof(double),
    PORT_WORDS = sizeof(yk_port_state) / sizeof(double),
    WRENCH_WORDS = sizeof(yk_wrench) / sizeof(double),
    POSE_WORDS = sizeof(yk_pose) / sizeof(double),
    EMITTER_WORDS = sizeof(yk_emitter_state) / sizeof(double),
    SINK_WORDS = sizeof(yk_sink_state) / sizeof(double),
    CONTACT_WORDS = 5, /* key, impulse */
    BLOCKS_MAX = 24
};

/* Memory --------------------------------------------------------------------------------------- */

static bool sleeps(const yk_world_model *model)
{
    return model->def.sleeping.speed_threshold > 0;
}

/* Whether there are loads other than gravity, contacts and joints. */
static bool has_loads(const yk_world_model *model)
{
    return model->force_count > 0 || model->port_count > 0;
}

static size_t list_blocks(const yk_world_model *model, yk_world_state *state, yk_block *list)
{
    size_t known = yk_world_known_count(model), dynamic = model->dynamic_count;
    size_t contacts = model->contact_capacity, general = model->general_capacity;

    /* Contacts of sleeping bodies may be as many as there is room for. */
    bool asleep = sleeps(model);

    yk_sleep_state *sleep = &state->sleep;
    const yk_block blocks[] = {
        YK_BLOCK(state->bodies, model->body_count),
        YK_BLOCK(state->ports, model->port_count),
        YK_BLOCK(state->signals, model->signal_count),
        YK_BLOCK(state->reactions, known),
        YK_BLOCK(state->joints, model->joint_count),
        YK_BLOCK(state->joint_impulses, model->joint_row_count),
        YK_BLOCK(state->contacts.keys, contacts),
        YK_BLOCK(state->contacts.rows, model->finite_count + 1),
        YK_BLOCK(state->contacts.impulses, contacts),
        YK_BLOCK(state->contacts.torques, general),
        YK_BLOCK_IF(asleep, sleep->rest_time, dynamic),
        YK_BLOCK_IF(asleep, sleep->poses, known + model->port_count),
        YK_BLOCK_IF(asleep && has_loads(model), sleep->wrenches, dynamic),
        YK_BLOCK_IF(asleep, sleep->drives, model->joint_count),
        YK_BLOCK_IF(asleep, sleep->frozen.keys, contacts),
        YK_BLOCK_IF(asleep, sleep->frozen.impulses, contacts),
        YK_BLOCK_IF(asleep, sleep->frozen.torques, general),
        YK_BLOCK_IF(asleep, sleep->frozen.points, contacts),
        YK_BLOCK_IF(yk_world_may_be_absent(model), state->absent, dynamic),
        YK_BLOCK(state->emitters, model->emitter_count),
        YK_BLOCK(state->sinks, model->sink_count),
    };
    memcpy(list, blocks, sizeof blocks);
    return sizeof blocks / sizeof *blocks;
}

yk_status yk_world_state_create(const yk_world_model *model, yk_world_state *state)
{
    *state = (yk_world_state){.run = {0}};

    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(model, state, blocks);
    yk_status status = yk_blocks_take(model->context, blocks, count);
    if (status == YK_OK)
        yk_world_state_begin(model, 0, state);
    return status;
}

void yk_world_state_destroy(const yk_world_model *model, yk_world_state *state)
{
    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(model, state, blocks);
    yk_blocks_release(model->context, blocks, count);
}

size_t yk_world_state_bytes(const yk_world_model *model, const yk_world_state *state)
{
    yk_world_state copy = *state;
    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(model, &copy, blocks);
    return yk_blocks_bytes(blocks, count);
}

void yk_contact_list_index(const yk_world_model *model, yk_contact_list *list)
{
    size_t k = 0;
    for (size_t i = 0; i <= model->finite_count; i++) {
        while (k < list->round_count && (size_t)list->keys[k].a < i)
            k++;
        list->rows[i] = (uint32_t)k;
    }
}

void yk_world_state_begin(const yk_world_model *model, double t, yk_world_state *state)
{
    memset(&state->run, 0, sizeof state->run);
    state->run.time = t;

    /* Bodies at the poses of the model, sorted by slots; all outputs zero. */
    for (size_t i = 0; i < model->body_count; i++)
        state->bodies[i] = model->initial[model->body_of[i]];

    for (size_t i = 0; i < model->port_count; i++)
        state->ports[i] = (yk_port_state){.wrench = {.force = {0, 0, 0}}};
    for (size_t i = 0; i < model->signal_count; i++)
        state->signals[i] = 0;
    for (size_t i = 0; i < yk_world_known_count(model); i++)
        state->reactions[i] = (yk_wrench){.force = {0, 0, 0}};
    for (size_t i = 0; i < model->joint_count; i++)
        state->joints[i] = (yk_wrench){.force = {0, 0, 0}};
    for (size_t i = 0; i < model->joint_row_count; i++)
        state->joint_impulses[i] = 0;

    /* No contacts, so that the first step starts with zero impulses. */
    state->contacts.count = state->contacts.round_count = 0;
    yk_contact_list_index(model, &state->contacts);

    /* Particles of emitters are absent. */
    if (state->absent)
        memset(state->absent, 0, model->dynamic_count * sizeof *state->absent);
    for (size_t i = 0; i < model->emitter_count; i++) {
        const yk_emitter_model *emitter = &model->emitters[i];
        state->emitters[i] =
            (yk_emitter_state){.from = fmax(emitter->from, t), .random = emitter->seed};
        for (size_t k = emitter->first; k < emitter->first + emitter->count; k++)
            state->absent[model->slot_of[k]] = 1;
    }

    for (size_t i = 0; i < model->sink_count; i++)
        state->sinks[i] = (yk_sink_state){0};
}

/* The image ------------------------------------------------------------------------------------ */

yk_state_layout yk_world_image_layout(const yk_world_model *model)
{
    size_t known = yk_world_known_count(model), contacts = model->contact_capacity;

    /* In the order of walk_image. */
    size_t continuous = model->body_count * BODY_WORDS;
    size_t outputs = PORT_WORDS * model->port_count + model->signal_count;

    outputs += WRENCH_WORDS * (known + model->joint_count) + model->joint_row_count;

    size_t cache = 2 + CONTACT_WORDS * contacts + 3 * model->general_capacity;

    /* Frozen contacts and those of the last step have one capacity together; points come on top. */
    size_t sleep = 0;
    if (sleeps(model)) {
        sleep =
            model->dynamic_count + POSE_WORDS * (known + model->port_count) + model->joint_count;
        if (has_loads(model))
            sleep += WRENCH_WORDS * model->dynamic_count;
        sleep += 2 + 3 * contacts;
    }

    size_t flow = EMITTER_WORDS * model->emitter_count + SINK_WORDS * model->sink_count;
    if (yk_world_may_be_absent(model))
        flow += model->dynamic_count;

    return (yk_state_layout){continuous + RUN_WORDS + outputs + cache + sleep + flow, continuous};
}

/* One function for both directions, so that they cannot disagree. */
typedef struct image_walk {
    const yk_world_model *model;
    double *at, *end;
    bool reading; /* reads from the image */
} image_walk;

static yk_status refuse_image(const image_walk *walk)
{
    return yk_fail(walk->model->context, YK_ERROR_ARGUMENT,
                   "the state image does not belong to this model");
}

static void copy_words(image_walk *walk, void *data, size_t bytes)
{
    if (bytes == 0)
        return;

    if (walk->reading)
        memcpy(data, walk->at, bytes);
    else
        memcpy(walk->at, data, bytes);
    walk->at += (bytes + sizeof(double) - 1) / sizeof(double);
}

static yk_status walk_contacts(image_walk *walk, yk_contact_list *list)
{
    const yk_world_model *model = walk->model;

    /* Counts of another model would exceed the arrays. Both lists of the state share the capacity
     * of the image. */
    uint64_t counts[2] = {list->count, list->round_count};
    copy_words(walk, counts, sizeof counts);
    bool fits = counts[0] <= model->contact_capacity && counts[1] <= counts[0] &&
                counts[0] - counts[1] <= model->general_capacity;
    if (!fits)
        return refuse_image(walk);

    size_t listed = CONTACT_WORDS * counts[0] + 3 * (counts[0] - counts[1]);
    if (list->points)
        listed += 3 * counts[0];
    if (listed > (size_t)(walk->end - walk->at))
        return refuse_image(walk);

    list->count = (size_t)counts[0];
    list->round_count = (size_t)counts[1];

    /* A key is two words. */
    for (size_t i = 0; i < list->count; i++) {
        yk_contact_key *key = &list->keys[i];
        uint64_t words[2] = {(uint64_t)(uint32_t)key->a << 32 | (uint32_t)key->b, key->feature};
        copy_words(walk, words, sizeof words);
        *key = (yk_contact_key){(int32_t)(words[0] >> 32), (int32_t)(uint32_t)words[0],
                                (uint32_t)words[1]};
        if (words[0] >> 32 >= model->part_count || (uint32_t)words[0] >= model->part_count)
            return refuse_image(walk);
    }

    /* Impulses of all contacts, torques of the general ones only. */
    copy_words(walk, list->impulses, list->count * sizeof *list->impulses);
    size_t general = list->count - list->round_count;
    if (general > 0)
        copy_words(walk, list->torques, general * sizeof *list->torques);
    return YK_OK;
}

/* Only particles can be absent, and emitters count them. */
static bool is_valid_flow(const yk_world_model *model, const yk_world_state *state)
{
    for (size_t i = 0; state->absent && i < model->dynamic_count; i++)
        if (state->absent[i] > (model->leaves[i] ? 1u : 0u))
            return false;

    for (size_t i = 0; i < model->emitter_count; i++) {
        const yk_emitter_state *emitter = &state->emitters[i];
        if (emitter->next >= model->emitters[i].count || emitter->exhausted > 1 ||
            emitter->count > (uint64_t)YK_RESTORED_MOST)
            return false;
    }

    return true;
}

static yk_status walk_image(image_walk *walk, yk_world_state *state)
{
    const yk_world_model *model = walk->model;
    size_t known = yk_world_known_count(model);

    /* The continuous part comes first, as required by the layout. */
    copy_words(walk, state->bodies, model->body_count * sizeof *state->bodies);
    copy_words(walk, &state->run, sizeof state->run);

    /* Outputs. */
    copy_words(walk, state->ports, model->port_count * sizeof *state->ports);
    copy_words(walk, state->signals, model->signal_count * sizeof *state->signals);
    copy_words(walk, state->reactions, known * sizeof *state->reactions);
    copy_words(walk, state->joints, model->joint_count * sizeof *state->joints);
    copy_words(walk, state->joint_impulses, model->joint_row_count * sizeof *state->joint_impulses);

    /* Absent bodies, and totals of emitters and sinks. */
    if (state->absent)
        copy_words(walk, state->absent, model->dynamic_count * sizeof *state->absent);
    copy_words(walk, state->emitters, model->emitter_count * sizeof *state->emitters);
    copy_words(walk, state->sinks, model->sink_count * sizeof *state->sinks);
    if (!is_valid_flow(model, state))
        return refuse_image(walk);

    /* Contacts, and those of sleeping bodies. */
    yk_status status = walk_contacts(walk, &state->contacts);
    yk_sleep_state *sleep = &state->sleep;
    if (status != YK_OK || !sleep->rest_time)
        return status;

    /* Rest times, and values whose change wakes bodies. */
    copy_words(walk, sleep->rest_time, model->dynamic_count * sizeof *sleep->rest_time);
    copy_words(walk, sleep->poses, (known + model->port_count) * sizeof *sleep->poses);
    if (sleep->wrenches)
        copy_words(walk, sleep->wrenches, model->dynamic_count * sizeof *sleep->wrenches);
    copy_words(walk, sleep->drives, model->joint_count * sizeof *sleep->drives);
    status = walk_contacts(walk, &sleep->frozen);
    if (status == YK_OK)
        copy_words(walk, sleep->frozen.points, sleep->frozen.count * sizeof *sleep->frozen.points);
    return status;
}

void yk_world_write_image(const yk_world_model *model, const yk_world_state *state, double *image)
{
    image_walk walk = {model, image, image + yk_world_image_layout(model).word_count, false};
    walk_image(&walk, (yk_world_state *)(uintptr_t)state);

    /* Lists that are shorter than their capacity leave unused words at the end. */
    memset(walk.at, 0, (size_t)(walk.end - walk.at) * sizeof *image);
}

yk_status yk_world_read_image(const yk_world_model *model, yk_world_state *state,
                              const double *image)
{
    double *at = (double *)(uintptr_t)image;
    image_walk walk = {model, at, at + yk_world_image_layout(model).word_count, true};
    yk_status status = walk_image(&walk, state);
    if (status != YK_OK)
        return status;

    /* The index of rows follows from the keys. */
    yk_contact_list_index(model, &state->contacts);
    return YK_OK;
}
