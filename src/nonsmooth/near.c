/* Where the solids are, and the list of pairs that may touch soon: when it is made, and how long it serves.
 *
 * Pairs depend on relative motion alone, so drift and speed are measured against the mean motion of all solids: a
 * container that is shaken with its contents does not wear out the list. Walls have a wider margin of their own: a bed
 * that flies through its container moves as one, and only against the walls. */
#include <string.h>

#include "nonsmooth/world.h"

/* Solids ----------------------------------------------------------------------------------------------------------- */

static yk_vec3 part_centre(const yk_nonsmooth *self, const yk_part *part)
{
    yk_vec3 local = part->geometry < 0 ? yk_v3(0, 0, 0) : self->geometries[part->geometry].position;
    if (part->body < 0) return local;
    const yk_body_state *body = &self->bodies[part->body];
    return yk_v3_add(body->position, yk_q_rotate(body->orientation, local));
}

static yk_quat part_orientation(const yk_nonsmooth *self, const yk_part *part)
{
    yk_quat local = part->geometry < 0 ? yk_q_identity() : self->geometries[part->geometry].orientation;
    return part->body < 0 ? local : yk_q_mul(self->bodies[part->body].orientation, local);
}

yk_quat yk_world_part_orientation(const yk_nonsmooth *self, size_t part)
{
    return part_orientation(self, &self->parts[part]);
}

yk_solid yk_world_solid(const yk_nonsmooth *self, size_t index)
{
    const yk_part *part = &self->parts[index];
    yk_solid solid = {.kind = part->kind, .position = part_centre(self, part)};
    if (part->geometry < 0) {
        solid.rotation = yk_m3_identity();
        solid.size.x = self->models[part->body].radius;
        return solid;
    }
    const yk_part_geometry *geometry = &self->geometries[part->geometry];
    solid.rotation = yk_q_matrix(part_orientation(self, part));
    solid.size = geometry->size;
    solid.open = geometry->open;
    solid.points = geometry->point_count > 0 ? self->points + geometry->first_point : NULL;
    solid.point_count = geometry->point_count;
    return solid;
}

static void place_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    yk_nonsmooth *self = user;
    for (size_t i = begin; i < end; i++) {
        const yk_part *part = &self->parts[i];
        self->balls[i].centre = part->round ? self->bodies[part->body].position : part_centre(self, part);
    }
}

static void place_solids(yk_nonsmooth *self)
{
    yk_pool_run(self->pool, self->finite_count, YK_BODY_CHUNK, place_chunk, self);
    for (size_t i = self->finite_count; i < self->part_count; i++)
        self->unbounded[i - self->finite_count] = yk_world_solid(self, i);
}

/* The list ------------------------------------------------------------------------------------------- */

bool yk_world_layers_meet(const yk_nonsmooth *self, const yk_part *a, const yk_part *b)
{
    if (a->geometry < 0 && b->geometry < 0) return true;
    const yk_part_geometry *qa = a->geometry < 0 ? NULL : &self->geometries[a->geometry];
    const yk_part_geometry *qb = b->geometry < 0 ? NULL : &self->geometries[b->geometry];
    unsigned group_a = qa ? qa->group : 1, mask_a = qa ? qa->mask : ~0u;
    unsigned group_b = qb ? qb->group : 1, mask_b = qb ? qb->mask : ~0u;
    return (mask_a & group_b) && (mask_b & group_a);
}

static bool may_touch(const void *user, size_t a, size_t b)
{
    const yk_nonsmooth *self = user;
    const yk_part *pa = &self->parts[a], *pb = &self->parts[b];
    if (pa->body == pb->body || pa->world != pb->world) return false;
    if (!yk_world_is_dynamic(self, pa->body) && !yk_world_is_dynamic(self, pb->body)) return false;
    return yk_world_layers_meet(self, pa, pb);
}

/* Found here, without collide.h. */
static bool is_round_pair(const yk_nonsmooth *self, const yk_part *a, const yk_part *b)
{
    if (!a->round || yk_world_resists_rotation(self, a, b)) return false;
    return b->round || (!yk_solid_is_finite(b->kind) && !yk_world_is_dynamic(self, b->body));
}

/* General pairs leave the rows (marked by the complement of the number) for a list of their own. */
static yk_status part_general_pairs(yk_nonsmooth *self)
{
    yk_broad *broad = &self->broad;
    self->general_pair_count = 0;
    if (self->general_capacity == 0) return YK_OK;
    for (size_t i = 0; i < self->finite_count; i++) {
        for (uint32_t k = broad->row_start[i]; k < broad->row_start[i + 1]; k++) {
            int32_t j = broad->partners[k];
            if (is_round_pair(self, &self->parts[i], &self->parts[j])) continue;
            broad->partners[k] = ~j;
            if (self->general_pair_count == self->general_pair_capacity) {
                size_t capacity = self->general_pair_capacity * 2 + 256;
                void *grown = yk_reallocate(self->context, self->general_pairs, capacity, sizeof *self->general_pairs);
                if (!grown) return YK_ERROR_MEMORY;
                self->general_pairs = grown;
                self->general_pair_capacity = capacity;
            }
            int32_t *pair = self->general_pairs[self->general_pair_count++];
            pair[0] = (int32_t)i;
            pair[1] = j;
        }
    }
    return YK_OK;
}

static size_t rotated_index(const yk_nonsmooth *self, size_t part)
{
    size_t unbounded = self->part_count - self->finite_count, others = self->rotated_count - unbounded;
    return part < self->finite_count ? (size_t)self->extent_of[part] : others + part - self->finite_count;
}

static void remember_poses(yk_nonsmooth *self)
{
    self->reach = 0;
    if (self->finite_count > 0) memcpy(self->listed, self->balls, self->finite_count * sizeof *self->balls);
    for (size_t i = self->finite_count; i < self->part_count; i++) {
        yk_vec3 centre = self->unbounded[i - self->finite_count].position;
        self->listed[i].centre = centre;
        for (size_t k = 0; k < self->finite_count; k++) {
            const yk_ball *ball = &self->balls[k];
            self->reach = fmax(self->reach, yk_v3_norm(yk_v3_sub(ball->centre, centre)) + ball->radius);
        }
    }
    for (size_t i = 0; i < self->part_count; i++)
        if (!self->parts[i].round) self->rotated[rotated_index(self, i)] = part_orientation(self, &self->parts[i]);
}

static yk_status make_list(yk_nonsmooth *self, double margin, double wall_margin)
{
    for (size_t i = 0; i < self->finite_count; i++) {
        if (self->extent_of[i] < 0) continue;
        yk_solid solid = yk_world_solid(self, i);
        self->half_extents[self->extent_of[i]] = yk_solid_half_extent(&solid);
    }
    yk_broad_input input = {.finite = self->finite_count,
                            .unbounded = self->part_count - self->finite_count,
                            .balls = self->balls,
                            .extent_of = self->rotated_count > 0 ? self->extent_of : NULL,
                            .half_extents = self->half_extents,
                            .unbounded_solids = self->unbounded,
                            .still = self->sleep.asleep > 0 ? self->sleep.still : NULL,
                            .may_touch = may_touch,
                            .user = self};
    yk_status status = yk_broad_build(&self->broad, &input, margin, wall_margin);
    if (status == YK_OK) status = part_general_pairs(self);
    if (status < 0) return status;
    remember_poses(self);
    self->listed_margin = margin;
    self->listed_wall_margin = wall_margin;
    self->report.rebuilt = true;
    return YK_OK;
}

void yk_world_forget_list(yk_nonsmooth *self)
{
    self->listed_margin = 0;
}

/* How far a point of the part can have moved since the list was made, beyond the common shift. */
static double drift_of(const yk_nonsmooth *self, size_t i, yk_vec3 centre, yk_vec3 shift)
{
    double drift = yk_v3_norm(yk_v3_sub(yk_v3_sub(centre, self->listed[i].centre), shift));
    if (self->parts[i].round) return drift;
    yk_quat p = self->rotated[rotated_index(self, i)], q = part_orientation(self, &self->parts[i]);
    double cosine = fabs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z);
    double reach = i < self->finite_count ? self->balls[i].radius : self->reach;
    return drift + 2 * reach * sqrt(fmax(0, 1 - cosine * cosine));
}

typedef struct motion_job {
    yk_nonsmooth *self;
    yk_vec3 common; /* shift or velocity that all share */
} motion_job;

static void drift_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    const motion_job *job = user;
    yk_nonsmooth *self = job->self;
    double largest = 0;
    for (size_t i = begin; i < end; i++) largest = fmax(largest, drift_of(self, i, self->balls[i].centre, job->common));
    self->partials[chunk] = largest;
}

static size_t chunk_count(const yk_nonsmooth *self)
{
    return (self->finite_count + YK_BODY_CHUNK - 1) / YK_BODY_CHUNK;
}

static double largest_over_chunks(yk_nonsmooth *self, yk_pool_work work, yk_vec3 common)
{
    motion_job job = {self, common};
    yk_pool_run(self->pool, self->finite_count, YK_BODY_CHUNK, work, &job);
    double largest = 0;
    for (size_t i = 0; i < chunk_count(self); i++) largest = fmax(largest, self->partials[i]);
    return largest;
}

/* Every 64th solid will do: any common motion is right, a good one saves work. */
static yk_vec3 common_shift(const yk_nonsmooth *self)
{
    yk_vec3 sum = {0, 0, 0};
    size_t count = 0;
    for (size_t i = 0; i < self->finite_count; i += 64, count++)
        sum = yk_v3_add(sum, yk_v3_sub(self->balls[i].centre, self->listed[i].centre));
    return count > 0 ? yk_v3_scale(1.0 / (double)count, sum) : sum;
}

/* Whether every pair with a gap below `reach` is in the list. */
static bool list_serves(yk_nonsmooth *self, double reach)
{
    if (self->listed_margin == 0) return false;
    yk_vec3 shift = common_shift(self);
    double drift = largest_over_chunks(self, drift_chunk, shift), walls = 0;
    for (size_t i = self->finite_count; i < self->part_count; i++)
        walls = fmax(walls, drift_of(self, i, self->unbounded[i - self->finite_count].position, shift));
    return 2 * drift + reach <= self->listed_margin && drift + walls + reach <= self->listed_wall_margin;
}

static void speed_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    const motion_job *job = user;
    yk_nonsmooth *self = job->self;
    double largest = 0;
    for (size_t i = begin; i < end; i++) {
        const yk_part *part = &self->parts[i];
        if (part->body < 0) {
            largest = fmax(largest, yk_v3_norm(job->common));
            continue;
        }
        const yk_body_state *body = &self->bodies[part->body];
        double speed = yk_v3_norm(yk_v3_sub(body->velocity, job->common));
        if (!part->round) {
            double arm = yk_v3_norm(yk_v3_sub(self->balls[i].centre, body->position)) + self->balls[i].radius;
            speed += arm * yk_v3_norm(body->angular_velocity);
        }
        largest = fmax(largest, speed);
    }
    self->partials[chunk] = largest;
}

static yk_vec3 common_velocity(const yk_nonsmooth *self)
{
    yk_vec3 sum = {0, 0, 0};
    size_t count = 0;
    for (size_t i = 0; i < self->finite_count; i += 64, count++)
        if (self->parts[i].body >= 0) sum = yk_v3_add(sum, self->bodies[self->parts[i].body].velocity);
    return count > 0 ? yk_v3_scale(1.0 / (double)count, sum) : sum;
}

/* An approach per step that no pair exceeds, but not more than the smallest radius: faster ones tunnel at this step. */
static double find_approach(yk_nonsmooth *self, double h)
{
    yk_vec3 common = common_velocity(self);
    double speed = largest_over_chunks(self, speed_chunk, common), walls = 0;
    for (size_t i = self->finite_count; i < self->part_count; i++) {
        int32_t slot = self->parts[i].body;
        yk_body_state still = {.velocity = {0, 0, 0}};
        const yk_body_state *body = slot < 0 ? &still : &self->bodies[slot];
        double rotating = self->reach * yk_v3_norm(body->angular_velocity);
        walls = fmax(walls, yk_v3_norm(yk_v3_sub(body->velocity, common)) + rotating);
    }
    double approach = h * (fmax(2 * speed, speed + walls) + h * yk_v3_norm(self->def.gravity));
    return fmin(approach, self->smallest_radius);
}

/* A list that wore out after a few steps gets a wider skin, one that lasted long a thinner one: making it costs about
 * as much as reading it forty times. Contacts do not depend on this. */
static double choose_skin(yk_nonsmooth *self)
{
    if (self->def.skin > 0) return self->def.skin;
    double least = 0.05 * self->smallest_radius, most = 0.5 * self->smallest_radius;
    if (self->skin == 0) self->skin = 2 * least;
    if (self->listed_margin > 0 && self->list_age < 8) self->skin = fmin(most, 1.5 * self->skin);
    if (self->list_age > 100) self->skin = fmax(least, self->skin / 1.5);
    return self->skin;
}

yk_status yk_world_update_list(yk_nonsmooth *self, double h, double *reach)
{
    self->report.rebuilt = false;
    place_solids(self);
    *reach = fmax(self->envelope, find_approach(self, h));
    self->list_age++;
    if (list_serves(self, *reach)) return YK_OK;
    double skin = choose_skin(self);
    double seen = *reach * (*reach > self->envelope ? 1.25 : 1);
    self->list_age = 0;
    return make_list(self, seen + skin, seen + skin + self->smallest_radius);
}
