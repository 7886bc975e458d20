/* Poses of the solids, and the list of pairs that may touch soon: when it is built, and how long it
 * remains valid.
 *
 * Pairs depend on relative motion only, so displacements and speeds are measured relative to the
 * mean motion of all solids: shaking a container with its contents does not invalidate the list.
 * Walls have a wider margin of their own: a bed that flies through its container moves as a whole,
 * and only relative to the walls. */
#include <string.h>

#include <stdlib.h>

#include "base/context.h"
#include "nonsmooth/collision.h"

enum { BLOCKS_MAX = 20 };

static size_t chunk_count(const yk_world_model *model)
{
    return (model->finite_count + YK_BODY_CHUNK - 1) / YK_BODY_CHUNK;
}

/* Memory --------------------------------------------------------------------------------------- */

static size_t list_blocks(yk_collision *collision, yk_block *list)
{
    const yk_world_model *model = collision->model;
    size_t finite = model->finite_count, unbounded = model->part_count - finite;
    size_t others = yk_world_general_parts(model);
    size_t contacts = model->contact_capacity, general = model->general_capacity;

    /* Chains of mesh contacts are needed where there is a mesh. */
    bool mesh = false;
    for (size_t i = 0; i < finite && !mesh; i++)
        mesh = yk_solid_is_thin(model->parts[i].kind);

    const yk_block blocks[] = {
        YK_BLOCK(collision->balls, finite),
        YK_BLOCK(collision->unbounded, unbounded),
        YK_BLOCK(collision->extent_of, finite),
        YK_BLOCK(collision->half_extents, others),
        YK_BLOCK_IF(model->def.sleeping.speed_threshold > 0, collision->still, model->part_count),
        YK_BLOCK_IF(yk_world_may_be_absent(model), collision->absent, finite),
        YK_BLOCK_IF(yk_world_may_be_absent(model), collision->near.absent, finite),
        YK_BLOCK(collision->near.balls, model->part_count),
        YK_BLOCK(collision->near.orientations, others + unbounded),
        YK_BLOCK(collision->found.keys, contacts),
        YK_BLOCK(collision->found.rows, finite + 1),
        YK_BLOCK(collision->touches, general),
        YK_BLOCK(collision->pairs, contacts),
        YK_BLOCK_IF(general > 0, collision->batch, (size_t)YK_BATCH_PAIRS * YK_MANIFOLD_MAX),
        YK_BLOCK_IF(general > 0, collision->batch_counts, YK_BATCH_PAIRS),
        YK_BLOCK_IF(mesh, collision->mesh_last, finite),
        YK_BLOCK_IF(mesh, collision->mesh_link, general),
        YK_BLOCK(collision->partials, chunk_count(model)),
    };
    memcpy(list, blocks, sizeof blocks);
    return sizeof blocks / sizeof *blocks;
}

yk_status yk_collision_create(yk_pool *pool, const yk_world_model *model,
                              const yk_world_state *state, yk_collision *collision)
{
    *collision = (yk_collision){.pool = pool, .model = model, .state = state};

    /* Pyramid friction has axes, which the fast paths do not support; rolling contacts support
     * neither softness nor the steps of the gradient method. */
    const yk_contact_options *solver = &model->def.contact_options;
    collision->round_kind = YK_PAIR_ROUND;
    collision->rolling_kind = YK_PAIR_ROLLING;
    if (solver->friction_model == YK_FRICTION_PYRAMID)
        collision->round_kind = collision->rolling_kind = YK_PAIR_GENERAL;
    if (solver->method == YK_CONTACT_PROJECTED_GRADIENT)
        collision->rolling_kind = YK_PAIR_GENERAL;
    if (model->yields)
        collision->rolling_kind = YK_PAIR_GENERAL;

    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(collision, blocks);
    yk_status status = yk_blocks_take(model->context, blocks, count);
    if (status == YK_OK)
        status = yk_broad_create(model->context, pool, model->finite_count, &collision->near.pairs);
    if (status != YK_OK)
        return status;

    /* Balls keep their radius; solids that are not round have a box too. */
    for (size_t i = 0; i < model->finite_count; i++) {
        const yk_part *part = &model->parts[i];
        collision->extent_of[i] = part->round ? -1 : (int32_t)collision->extent_count++;
        collision->balls[i].radius = yk_world_part_radius(model, part);
    }

    return YK_OK;
}

void yk_collision_destroy(yk_collision *collision)
{
    if (!collision->model)
        return;

    yk_context *context = collision->model->context;

    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(collision, blocks);
    yk_blocks_release(context, blocks, count);
    yk_broad_destroy(&collision->near.pairs);
    yk_free(context, collision->near.general);
    *collision = (yk_collision){.rebuilt = false};
}

size_t yk_collision_bytes(const yk_collision *collision)
{
    yk_collision copy = *collision;
    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(&copy, blocks);
    return yk_blocks_bytes(blocks, count) + yk_broad_memory(&collision->near.pairs) +
           collision->near.general_capacity * sizeof *collision->near.general;
}

/* Solids --------------------------------------------------------------------------------------- */

yk_vec3 yk_world_part_centre(const yk_world_model *model, const yk_world_state *state, size_t index)
{
    const yk_part *part = &model->parts[index];
    yk_vec3 local = {0, 0, 0};
    if (part->geometry >= 0)
        local = model->geometries[part->geometry].position;
    if (part->body < 0)
        return local;

    /* With the body. */
    const yk_body_state *body = &state->bodies[part->body];
    return yk_v3_add(body->position, yk_q_rotate(body->orientation, local));
}

static yk_quat part_orientation(const yk_world_model *model, const yk_world_state *state,
                                size_t index)
{
    const yk_part *part = &model->parts[index];
    yk_quat local = yk_q_identity();
    if (part->geometry >= 0)
        local = model->geometries[part->geometry].orientation;
    return part->body < 0 ? local : yk_q_mul(state->bodies[part->body].orientation, local);
}

yk_solid yk_world_solid(const yk_world_model *model, const yk_world_state *state, size_t index)
{
    const yk_part *part = &model->parts[index];

    yk_solid solid = yk_world_part_solid(model, part);
    solid.position = yk_world_part_centre(model, state, index);
    if (part->geometry >= 0)
        solid.rotation = yk_q_matrix(part_orientation(model, state, index));
    return solid;
}

static void place_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    yk_collision *collision = user;
    const yk_world_state *state = collision->state;

    for (size_t i = begin; i < end; i++) {
        const yk_part *part = &collision->model->parts[i];
        if (collision->absent)
            collision->absent[i] = yk_world_is_absent(collision->model, state, part->body);

        /* The ball of a round body is centered at its center of mass. */
        if (part->round)
            collision->balls[i].centre = state->bodies[part->body].position;
        else
            collision->balls[i].centre = yk_world_part_centre(collision->model, state, i);
    }
}

/* Making the list ------------------------------------------------------------------------------ */

int yk_world_compare_exclusions(const void *a, const void *b)
{
    const int32_t *p = ((const yk_exclusion *)a)->body, *q = ((const yk_exclusion *)b)->body;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

static bool is_excluded(const yk_world_model *model, const yk_part *a, const yk_part *b)
{
    if (model->exclusion_count == 0 || a->body < 0 || b->body < 0)
        return false;

    int32_t first = model->body_of[a->body], second = model->body_of[b->body];
    yk_exclusion wanted = {{first < second ? first : second, first < second ? second : first}};
    return bsearch(&wanted, model->exclusions, model->exclusion_count, sizeof wanted,
                   yk_world_compare_exclusions) != NULL;
}

bool yk_world_layers_meet(const yk_world_model *model, const yk_part *a, const yk_part *b)
{
    if (is_excluded(model, a, b))
        return false;

    /* Spheres without a geometry are in the first group and touch all others. */
    unsigned group_a = 1, group_b = 1, mask_a = ~0u, mask_b = ~0u;
    if (a->geometry >= 0) {
        group_a = model->geometries[a->geometry].group;
        mask_a = model->geometries[a->geometry].mask;
    }

    if (b->geometry >= 0) {
        group_b = model->geometries[b->geometry].group;
        mask_b = model->geometries[b->geometry].mask;
    }

    return (mask_a & group_b) && (mask_b & group_a);
}

bool yk_world_may_touch(const void *user, size_t i, size_t j)
{
    const yk_world_model *model = user;
    const yk_part *a = &model->parts[i], *b = &model->parts[j];
    if (a->body == b->body || a->world != b->world)
        return false;
    if (!yk_world_is_dynamic(model, a->body) && !yk_world_is_dynamic(model, b->body))
        return false;
    return yk_world_layers_meet(model, a, b);
}

/* A sphere with a sphere, or with a plane or cavity of known motion: the search does not need
 * narrow_phase.h for it. */
static bool is_round_pair(const yk_world_model *model, const yk_part *a, const yk_part *b)
{
    if (!a->round || yk_world_resists_rotation(model, a, b))
        return false;
    return b->round || (!yk_solid_is_finite(b->kind) && !yk_world_is_dynamic(model, b->body));
}

/* Moves general pairs from the rows (marked by the complement of the number) to a separate list. */
static yk_status separate_general_pairs(yk_collision *collision)
{
    const yk_world_model *model = collision->model;
    yk_near_list *near = &collision->near;

    near->general_count = 0;
    if (model->general_capacity == 0)
        return YK_OK;

    /* Round pairs stay in the rows, where the fast search finds them. */
    const uint32_t *row_start = near->pairs.row_start;
    for (size_t i = 0; i < model->finite_count; i++) {
        for (uint32_t k = row_start[i]; k < row_start[i + 1]; k++) {
            int32_t j = near->pairs.partners[k];
            if (is_round_pair(model, &model->parts[i], &model->parts[j]))
                continue;

            /* The complement tells the fast search to skip it. */
            near->pairs.partners[k] = ~j;

            /* More of them than ever before. */
            if (near->general_count == near->general_capacity) {
                size_t capacity = near->general_capacity * 2 + 256;
                void *grown =
                    yk_reallocate(model->context, near->general, capacity, sizeof *near->general);
                if (!grown)
                    return YK_ERROR_MEMORY;

                near->general = grown;
                near->general_capacity = capacity;
            }

            int32_t *pair = near->general[near->general_count++];
            pair[0] = (int32_t)i;
            pair[1] = j;
        }
    }

    return YK_OK;
}

static bool is_absent(const yk_collision *collision, size_t part)
{
    return collision->absent && collision->absent[part];
}

/* Index of the stored orientation of a part that is not round. */
static size_t orientation_index(const yk_collision *collision, size_t part)
{
    size_t finite = collision->model->finite_count;
    if (part < finite)
        return (size_t)collision->extent_of[part];
    return collision->extent_count + part - finite;
}

/* Distance of the farthest point of the parts from a point. */
static void reach_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    const yk_collision *collision = user;
    double largest = 0;

    for (size_t i = begin; i < end; i++) {
        const yk_ball *ball = &collision->balls[i];
        if (is_absent(collision, i))
            continue;

        yk_vec3 arm = yk_v3_sub(ball->centre, collision->common);
        largest = fmax(largest, yk_v3_norm(arm) + ball->radius);
    }

    collision->partials[chunk] = largest;
}

/* The largest of the results of all chunks; `common` is the vector that the work refers to. */
static double largest_over_chunks(yk_collision *collision, yk_pool_work work, yk_vec3 common)
{
    collision->common = common;
    yk_pool_run(collision->pool, collision->model->finite_count, YK_BODY_CHUNK, work, collision);

    double largest = 0;
    for (size_t i = 0; i < chunk_count(collision->model); i++)
        largest = fmax(largest, collision->partials[i]);
    return largest;
}

static yk_status make_list(yk_collision *collision, double margin, double wall_margin)
{
    const yk_world_model *model = collision->model;
    yk_near_list *near = &collision->near;
    size_t finite = model->finite_count;

    /* Boxes along the axes around parts that are not round. */
    for (size_t i = 0; i < finite; i++) {
        if (collision->extent_of[i] < 0)
            continue;

        yk_solid solid = yk_world_solid(model, collision->state, i);
        collision->half_extents[collision->extent_of[i]] = yk_solid_half_extent(&solid);
    }

    /* Data of the solids for the broad phase; boxes and stillness only if needed. */
    yk_broad_input input = {
        .finite = finite,
        .unbounded = model->part_count - finite,
        .balls = collision->balls,
        .low = model->def.periodic.lower,
        .period = model->period,
        .extent_of = collision->extent_of,
        .half_extents = collision->half_extents,
        .unbounded_solids = collision->unbounded,
        .still = collision->still,
        .absent = collision->absent,
        .may_touch = yk_world_may_touch,
        .user = model,
    };
    if (collision->extent_count == 0)
        input.extent_of = NULL;
    if (collision->state->sleep.asleep == 0)
        input.still = NULL;

    yk_status status = yk_broad_build(&near->pairs, &input, margin, wall_margin);
    if (status == YK_OK)
        status = separate_general_pairs(collision);
    if (status != YK_OK)
        return status;

    /* The poses from which displacements are measured. */
    near->reach = 0;
    if (finite > 0)
        memcpy(near->balls, collision->balls, finite * sizeof *near->balls);
    if (collision->absent)
        memcpy(near->absent, collision->absent, finite * sizeof *near->absent);
    for (size_t i = finite; i < model->part_count; i++) {
        yk_vec3 centre = collision->unbounded[i - finite].position;

        /* The sweep of a rotating wall increases with the distance of a solid. */
        near->balls[i].centre = centre;
        near->reach = fmax(near->reach, largest_over_chunks(collision, reach_chunk, centre));
    }

    /* The rotation of a solid that is not round counts as displacement too. */
    for (size_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].round)
            continue;

        yk_quat orientation = part_orientation(model, collision->state, i);
        near->orientations[orientation_index(collision, i)] = orientation;
    }

    /* Range of the list, which is valid as long as displacements stay below it. */
    near->margin = margin;
    near->wall_margin = wall_margin;
    collision->rebuilt = true;
    return YK_OK;
}

void yk_collision_forget_list(yk_collision *collision)
{
    collision->near.margin = 0;
}

/* Whether it serves ---------------------------------------------------------------------------- */

/* Largest possible displacement of a point of the part since the list was built, relative to the
 * common displacement. */
static double drift_of(const yk_collision *collision, size_t i, yk_vec3 centre, yk_vec3 shift)
{
    const yk_world_model *model = collision->model;
    const yk_near_list *near = &collision->near;
    double drift = yk_v3_norm(yk_v3_sub(yk_v3_sub(centre, near->balls[i].centre), shift));

    if (model->parts[i].round)
        return drift;

    /* The chord of an arc of unit radius is twice the sine of half the angle. */
    yk_quat p = near->orientations[orientation_index(collision, i)];
    yk_quat q = part_orientation(model, collision->state, i);
    double cosine = fabs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z);
    double reach = i < model->finite_count ? collision->balls[i].radius : near->reach;
    return drift + 2 * reach * sqrt(fmax(0, 1 - cosine * cosine));
}

static void drift_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    const yk_collision *collision = user;
    double largest = 0;

    for (size_t i = begin; i < end; i++) {
        if (is_absent(collision, i))
            continue;

        largest =
            fmax(largest, drift_of(collision, i, collision->balls[i].centre, collision->common));
    }

    collision->partials[chunk] = largest;
}

static void speed_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    const yk_collision *collision = user;
    double largest = 0;

    for (size_t i = begin; i < end; i++) {
        const yk_part *part = &collision->model->parts[i];
        if (is_absent(collision, i))
            continue;
        if (part->body < 0) {
            largest = fmax(largest, yk_v3_norm(collision->common));
            continue;
        }

        /* The fastest point of the solid. */
        const yk_body_state *body = &collision->state->bodies[part->body];
        const yk_ball *ball = &collision->balls[i];
        double speed = yk_v3_norm(yk_v3_sub(body->velocity, collision->common));
        if (!part->round) {
            double arm = yk_v3_norm(yk_v3_sub(ball->centre, body->position)) + ball->radius;
            speed += arm * yk_v3_norm(body->angular_velocity);
        }
        largest = fmax(largest, speed);
    }

    collision->partials[chunk] = largest;
}

/* Whether the list contains every pair with a gap below `reach`. */
static bool list_serves(yk_collision *collision, double reach)
{
    const yk_near_list *near = &collision->near;
    size_t finite = collision->model->finite_count;

    if (near->margin == 0)
        return false;

    /* Bodies that appeared after the build are not in the list. */
    if (collision->absent && memcmp(collision->absent, near->absent, finite) != 0)
        return false;

    /* The mean of every 64th solid: any common motion is valid, a good estimate saves work. */
    yk_vec3 shift = {0, 0, 0};
    size_t count = 0;
    for (size_t i = 0; i < finite; i += 64) {
        if (is_absent(collision, i))
            continue;

        shift = yk_v3_add(shift, yk_v3_sub(collision->balls[i].centre, near->balls[i].centre));
        count++;
    }

    if (count > 0)
        shift = yk_v3_scale(1.0 / (double)count, shift);

    /* Both solids of a pair may have moved; walls have their own limit. */
    double drift = largest_over_chunks(collision, drift_chunk, shift), walls = 0;
    for (size_t i = finite; i < collision->model->part_count; i++)
        walls =
            fmax(walls, drift_of(collision, i, collision->unbounded[i - finite].position, shift));
    return 2 * drift + reach <= near->margin && drift + walls + reach <= near->wall_margin;
}

/* An upper bound of the approach per step of all pairs, limited to the smallest radius: faster
 * pairs tunnel at this step size. */
static double find_approach(yk_collision *collision, double h)
{
    const yk_world_model *model = collision->model;
    const yk_body_state *bodies = collision->state->bodies;

    /* The mean velocity, by every 64th solid. */
    yk_vec3 common = {0, 0, 0};
    size_t count = 0;
    for (size_t i = 0; i < model->finite_count; i += 64) {
        int32_t slot = model->parts[i].body;
        if (is_absent(collision, i))
            continue;
        if (slot >= 0)
            common = yk_v3_add(common, bodies[slot].velocity);
        count++;
    }

    if (count > 0)
        common = yk_v3_scale(1.0 / (double)count, common);

    /* The fastest solid and the fastest wall relative to it. */
    double speed = largest_over_chunks(collision, speed_chunk, common), walls = 0;
    for (size_t i = model->finite_count; i < model->part_count; i++) {
        int32_t slot = model->parts[i].body;
        yk_vec3 velocity = {0, 0, 0}, angular_velocity = {0, 0, 0};
        if (slot >= 0) {
            velocity = bodies[slot].velocity;
            angular_velocity = bodies[slot].angular_velocity;
        }

        double rotating = collision->near.reach * yk_v3_norm(angular_velocity);
        walls = fmax(walls, yk_v3_norm(yk_v3_sub(velocity, common)) + rotating);
    }

    /* Gravity may increase the approach by h g within the step. */
    double approach = h * (fmax(2 * speed, speed + walls) + h * yk_v3_norm(model->def.gravity));
    return fmin(approach, model->smallest_radius);
}

yk_status yk_collision_update_list(yk_collision *collision, double h, double *reach)
{
    const yk_world_model *model = collision->model;
    yk_near_list *near = &collision->near;
    size_t finite = model->finite_count;

    collision->rebuilt = false;

    /* Solids at the present poses of their bodies. */
    yk_pool_run(collision->pool, finite, YK_BODY_CHUNK, place_chunk, collision);
    for (size_t i = finite; i < model->part_count; i++)
        collision->unbounded[i - finite] = yk_world_solid(model, collision->state, i);

    /* Most steps end here. */
    *reach = fmax(model->envelope, find_approach(collision, h));
    near->age++;
    if (list_serves(collision, *reach))
        return YK_OK;

    /* Fast pairs are listed from farther away than this step needs, because otherwise the list
     * would be invalid in the next one. */
    double seen = *reach;
    if (seen > model->envelope)
        seen *= YK_REACH_AHEAD;

    /* A list that became invalid after a few steps gets a wider skin, one that lasted long a
     * thinner one: building it costs about as much as reading it forty times. Contacts do not
     * depend on the skin. */
    double least = 0.05 * model->smallest_radius, most = YK_SKIN_MOST * model->smallest_radius;
    if (near->skin == 0)
        near->skin = 2 * least;
    if (near->margin > 0 && near->age < 8)
        near->skin = fmin(most, 1.5 * near->skin);
    if (near->age > 100)
        near->skin = fmax(least, near->skin / 1.5);

    double margin = seen + (model->def.skin > 0 ? model->def.skin : near->skin);
    near->age = 0;
    return make_list(collision, margin, margin + model->smallest_radius);
}
