/* From positions to contact rows, and the impulses back.
 *
 * Contacts come in two classes. Round ones (sphere with sphere, sphere with a plane or cavity of known motion) are
 * found by a few lines here, and stored as a key alone: their geometry is computed anew where it is needed, which costs
 * less than memory. General ones go through collide.h in batches and keep their geometry for the step.
 *
 *   list of near pairs  ->  keys of contacts in canonical order  ->  plan  ->  rows with the impulses of the last step
 *
 * Canonical order: by row of the list, then partner, then feature. It depends on positions alone and not on when the
 * list was made, so that a run which was rolled back and repeated gives the same bits. */
#include <string.h>

#include "nonsmooth/world.h"

enum {
    BATCH_PAIRS = 1024,
    BATCH_CHUNK = 16,
    MEETS = 1 << 30 /* marks a partner in the list of near pairs between the two passes of a search */
};

static const yk_material *pair_material(const yk_nonsmooth *self, const yk_part *a, const yk_part *b)
{
    return &self->pair_materials[(size_t)a->material * self->material_count + (size_t)b->material];
}

bool yk_world_resists_rotation(const yk_nonsmooth *self, const yk_part *a, const yk_part *b)
{
    const yk_material *m = pair_material(self, a, b);
    return m->rolling > 0 || m->spinning > 0;
}

/* Fast path of the solver: lever arms along the normal on every side that moves. */
static bool has_round_arms(const yk_nonsmooth *self, const yk_part *a, const yk_part *b)
{
    if (yk_world_resists_rotation(self, a, b)) return false;
    return (a->round || !yk_world_is_dynamic(self, a->body)) && (b->round || !yk_world_is_dynamic(self, b->body));
}

/* Round contacts --------------------------------------------------------------------------------------------------- */

static double approach_speed(const yk_nonsmooth *self, const yk_part *a, const yk_part *b, yk_vec3 normal, yk_vec3 at)
{
    yk_vec3 relative = self->bodies[a->body].velocity;
    if (b->body >= 0) {
        const yk_body_state *body = &self->bodies[b->body];
        yk_vec3 velocity = body->velocity;
        if (!b->round)
            velocity = yk_v3_add(velocity, yk_v3_cross(body->angular_velocity, yk_v3_sub(at, body->position)));
        relative = yk_v3_sub(relative, velocity);
    }
    return yk_v3_dot(relative, normal);
}

/* Two spheres: unit normal from a to b and the gap. */
static double sphere_gap(const yk_ball *a, const yk_ball *b, yk_vec3 *normal)
{
    yk_vec3 d = yk_v3_sub(b->centre, a->centre);
    double distance = yk_v3_norm(d);
    *normal = distance > 0 ? yk_v3_scale(1 / distance, d) : yk_v3(0, 0, 1);
    return distance - a->radius - b->radius;
}

typedef struct round_search {
    yk_nonsmooth *self;
    double h;
    double reach; /* gaps beyond the envelope up to here count where the pair closes them within the step */
    bool counting;
} round_search;

static bool spheres_meet(const round_search *search, size_t i, size_t j)
{
    const yk_nonsmooth *self = search->self;
    const yk_ball *a = &self->balls[i], *b = &self->balls[j];
    yk_vec3 d = yk_v3_sub(b->centre, a->centre);
    double squared = yk_v3_norm2(d), near = a->radius + b->radius + self->envelope;
    if (squared < near * near) return true;
    double far = a->radius + b->radius + search->reach;
    if (squared >= far * far) return false;
    yk_vec3 normal;
    double gap = sphere_gap(a, b, &normal);
    return gap < search->h * approach_speed(self, &self->parts[i], &self->parts[j], normal, b->centre);
}

static void add_round(const round_search *search, size_t i, size_t j, uint32_t feature, uint32_t *count)
{
    yk_nonsmooth *self = search->self;
    if (!search->counting) {
        size_t at = self->row_contacts[i] + *count;
        const yk_part *b = &self->parts[j];
        self->next.keys[at] = (yk_contact_key){(int32_t)i, (int32_t)j, feature};
        self->pairs[at] = (yk_pair){self->parts[i].body, b->round ? b->body : YK_NETWORK_NONE, self->round_kind};
    }
    (*count)++;
}

static void meet_walls(const round_search *search, size_t i, size_t j, uint32_t *count)
{
    const yk_nonsmooth *self = search->self;
    const yk_solid *outside = &self->unbounded[j - self->finite_count];
    const yk_ball *ball = &self->balls[i];
    yk_touch touch;
    for (uint32_t wall = 0; wall < YK_WALLS; wall++) {
        if (!yk_sphere_at_wall(outside, wall, ball->centre, ball->radius, search->reach, &touch)) continue;
        if (touch.gap >= self->envelope &&
            touch.gap >=
                search->h * approach_speed(self, &self->parts[i], &self->parts[j], touch.normal, touch.point_b))
            continue;
        add_round(search, i, j, wall, count);
    }
}

/* What neither moves nor can be moved does not meet anew. */
static bool pair_sleeps(const yk_nonsmooth *self, size_t a, size_t b)
{
    return self->sleep.asleep > 0 && self->sleep.still[a] && self->sleep.still[b];
}

static void round_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const round_search *search = user;
    yk_nonsmooth *self = search->self;
    const yk_broad *broad = &self->broad;
    for (size_t i = begin; i < end; i++) {
        uint32_t count = 0;
        for (uint32_t k = broad->row_start[i]; k < broad->row_start[i + 1]; k++) {
            int32_t j = broad->partners[k];
            if (j < 0) continue;
            size_t other = (size_t)(j & ~MEETS);
            if (pair_sleeps(self, i, other)) continue;
            if (other >= self->finite_count) {
                meet_walls(search, i, other, &count);
            } else if (search->counting) {
                if (!spheres_meet(search, i, other)) continue;
                broad->partners[k] = j | MEETS;
                count++;
            } else if (j & MEETS) {
                broad->partners[k] = j & ~MEETS;
                add_round(search, i, other, 0, &count);
            }
        }
        if (search->counting) self->row_contacts[i + 1] = count;
    }
}

static yk_status check_capacity(const yk_nonsmooth *self, size_t count, size_t capacity)
{
    if (count <= capacity) return YK_OK;
    return yk_fail(self->context, YK_ERROR_MEMORY,
                   "%zu contact points at t = %g, room for %zu: raise contact.capacity, or reduce contact.envelope",
                   count, self->run.time, capacity);
}

static yk_status find_round(yk_nonsmooth *self, double h, double reach)
{
    round_search search = {self, h, reach, true};
    self->row_contacts[0] = 0;
    yk_pool_run(self->pool, self->finite_count, YK_PAIR_CHUNK, round_chunk, &search);
    uint64_t sum = 0;
    for (size_t i = 1; i <= self->finite_count; i++) {
        sum += self->row_contacts[i];
        self->row_contacts[i] = (uint32_t)sum;
    }
    yk_status status = check_capacity(self, (size_t)sum + self->sleep.frozen.count, self->contact_capacity);
    if (status < 0) return status;
    self->next.round_count = self->next.count = (size_t)sum;
    search.counting = false;
    yk_pool_run(self->pool, self->finite_count, YK_PAIR_CHUNK, round_chunk, &search);
    return YK_OK;
}

/* General contacts ------------------------------------------------------------------------------------------------- */

typedef struct general_search {
    yk_nonsmooth *self;
    double h;
    size_t first; /* pair of the batch */
} general_search;

/* Fast pairs are seen from farther away, so that they cannot pass each other within the step. */
static double pair_margin(const yk_nonsmooth *self, const yk_part *a, const yk_part *b, double h)
{
    yk_vec3 relative = {0, 0, 0};
    double rotating = 0;
    if (a->body >= 0) {
        relative = self->bodies[a->body].velocity;
        rotating += yk_v3_norm(self->bodies[a->body].angular_velocity);
    }
    if (b->body >= 0) {
        relative = yk_v3_sub(relative, self->bodies[b->body].velocity);
        rotating += yk_v3_norm(self->bodies[b->body].angular_velocity);
    }
    double approach = h * (yk_v3_norm(relative) + rotating * self->smallest_radius);
    return fmax(self->envelope, fmin(approach, self->smallest_radius));
}

static void general_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const general_search *search = user;
    yk_nonsmooth *self = search->self;
    for (size_t k = begin; k < end; k++) {
        const int32_t *pair = self->general_pairs[search->first + k];
        self->batch_counts[k] = 0;
        if (pair_sleeps(self, (size_t)pair[0], (size_t)pair[1])) continue;
        yk_solid a = yk_world_solid(self, (size_t)pair[0]), b = yk_world_solid(self, (size_t)pair[1]);
        double margin = pair_margin(self, &self->parts[pair[0]], &self->parts[pair[1]], search->h);
        self->batch_counts[k] = yk_collide(&a, &b, margin, self->batch + k * YK_MANIFOLD_MAX);
    }
}

static yk_status append_touches(yk_nonsmooth *self, const int32_t *pair, const yk_touch *list, int count)
{
    const yk_part *a = &self->parts[pair[0]], *b = &self->parts[pair[1]];
    bool flip = !yk_world_is_dynamic(self, a->body);
    int32_t node_a = flip ? b->body : a->body, node_b = flip ? a->body : b->body;
    if (!yk_world_is_dynamic(self, node_b)) node_b = YK_NETWORK_NONE;
    int32_t kind = has_round_arms(self, a, b) ? self->round_kind : YK_PAIR_GENERAL;
    size_t general = self->next.count - self->next.round_count;
    const yk_contact_list *frozen = &self->sleep.frozen;
    yk_status status = check_capacity(self, self->next.count + frozen->count + (size_t)count, self->contact_capacity);
    if (status == YK_OK)
        status =
            check_capacity(self, general + frozen->count - frozen->round_count + (size_t)count, self->general_capacity);
    for (int i = 0; i < count && status == YK_OK; i++) {
        size_t at = self->next.count++;
        self->next.keys[at] = (yk_contact_key){pair[0], pair[1], list[i].feature};
        self->pairs[at] = (yk_pair){node_a, node_b, kind};
        self->touches[general++] = list[i];
    }
    return status;
}

static yk_status find_general(yk_nonsmooth *self, double h)
{
    for (size_t first = 0; first < self->general_pair_count; first += BATCH_PAIRS) {
        size_t count = self->general_pair_count - first;
        if (count > BATCH_PAIRS) count = BATCH_PAIRS;
        general_search search = {self, h, first};
        yk_pool_run(self->pool, count, BATCH_CHUNK, general_chunk, &search);
        for (size_t k = 0; k < count; k++) {
            yk_status status = append_touches(self, self->general_pairs[first + k], self->batch + k * YK_MANIFOLD_MAX,
                                              self->batch_counts[k]);
            if (status < 0) return status;
        }
    }
    return YK_OK;
}

/* Meshes ----------------------------------------------------------------------------------------------------------- */

/* A solid on a flat stretch of mesh must not feel the edges inside it. Contacts of one solid with one mesh are chained;
 * one at an edge or corner goes when a face contact of the chain lies in a plane that holds its point, or when another
 * contact is at the same point. */
static bool is_ghost(const yk_nonsmooth *self, size_t g, size_t other)
{
    const yk_touch *t = &self->touches[g], *o = &self->touches[other];
    yk_vec3 apart = yk_v3_sub(t->point_b, o->point_b);
    double tolerance = 1e-3 * self->smallest_radius;
    bool edge = t->feature > 0, other_edge = o->feature > 0;
    if (yk_v3_norm(apart) < tolerance) return edge == other_edge ? other < g : edge;
    return edge && !other_edge && fabs(yk_v3_dot(apart, o->normal)) < tolerance;
}

static int32_t mesh_side(const yk_nonsmooth *self, const yk_contact_key *key, int32_t *solid)
{
    bool a = self->parts[key->a].kind == YK_SOLID_TRIANGLE, b = self->parts[key->b].kind == YK_SOLID_TRIANGLE;
    if (a == b) return -1;
    *solid = a ? key->b : key->a;
    return self->parts[a ? key->a : key->b].shape;
}

static void chain_mesh_contacts(yk_nonsmooth *self, size_t general)
{
    const yk_contact_key *keys = self->next.keys + self->next.round_count;
    int32_t solid;
    for (size_t g = 0; g < general; g++)
        if (mesh_side(self, &keys[g], &solid) >= 0 && (size_t)solid < self->finite_count) self->mesh_last[solid] = -1;
    for (size_t g = 0; g < general; g++) {
        self->mesh_link[g] = -1;
        if (mesh_side(self, &keys[g], &solid) < 0 || (size_t)solid >= self->finite_count) continue;
        self->mesh_link[g] = self->mesh_last[solid];
        self->mesh_last[solid] = (int32_t)g;
    }
}

static bool mesh_contact_counts(const yk_nonsmooth *self, size_t g)
{
    const yk_contact_key *keys = self->next.keys + self->next.round_count;
    int32_t solid, other_solid;
    int32_t mesh = mesh_side(self, &keys[g], &solid);
    if (mesh < 0 || (size_t)solid >= self->finite_count) return true;
    for (int32_t k = self->mesh_last[solid]; k >= 0; k = self->mesh_link[k]) {
        if ((size_t)k == g || mesh_side(self, &keys[k], &other_solid) != mesh) continue;
        if (is_ghost(self, g, (size_t)k)) return false;
    }
    return true;
}

static void drop_ghosts(yk_nonsmooth *self)
{
    size_t first = self->next.round_count, general = self->next.count - first, kept = 0;
    if (!self->mesh_last || general == 0) return;
    chain_mesh_contacts(self, general);
    for (size_t g = 0; g < general; g++)
        if (!mesh_contact_counts(self, g)) self->pairs[first + g].kind = -1;
    for (size_t g = 0; g < general; g++) {
        if (self->pairs[first + g].kind < 0) continue;
        self->pairs[first + kept] = self->pairs[first + g];
        self->next.keys[first + kept] = self->next.keys[first + g];
        self->touches[kept++] = self->touches[g];
    }
    self->next.count = first + kept;
}

yk_status yk_world_find_contacts(yk_nonsmooth *self, double h)
{
    double reach;
    yk_status status;
    do {
        self->next.count = self->next.round_count = 0;
        status = yk_world_update_list(self, h, &reach);
        if (status == YK_OK) status = find_round(self, h, reach);
        if (status == YK_OK) status = find_general(self, h);
        if (status == YK_OK) drop_ghosts(self);
    } while (status == YK_OK && self->sleep.rest_time && yk_sleep_was_touched(self, h));
    self->report.contacts = self->next.count + self->sleep.frozen.count;
    self->report.near_pairs = self->broad.partner_count;
    return status;
}

/* Rows ------------------------------------------------------------------------------------------------------------- */

yk_touch yk_world_touch(const yk_nonsmooth *self, const yk_contact_list *list, size_t contact)
{
    if (contact >= list->round_count) return self->touches[contact - list->round_count];
    const yk_contact_key *key = &list->keys[contact];
    const yk_ball *a = &self->balls[key->a];
    yk_touch touch = {.gap = 0};
    if ((size_t)key->b >= self->finite_count) {
        yk_sphere_at_wall(&self->unbounded[(size_t)key->b - self->finite_count], key->feature, a->centre, a->radius,
                          INFINITY, &touch);
        return touch;
    }
    const yk_ball *b = &self->balls[key->b];
    touch.gap = sphere_gap(a, b, &touch.normal);
    touch.point_a = yk_v3_axpy(a->radius, touch.normal, a->centre);
    touch.point_b = yk_v3_axpy(-b->radius, touch.normal, b->centre);
    return touch;
}

static yk_vec3 point_velocity(const yk_body_state *body, yk_vec3 at)
{
    return yk_v3_add(body->velocity, yk_v3_cross(body->angular_velocity, yk_v3_sub(at, body->position)));
}

static yk_vec3 velocity_before(const yk_nonsmooth *self, const yk_part *part, yk_vec3 at)
{
    if (part->body < 0) return yk_v3(0, 0, 0);
    yk_body_state body = self->bodies[part->body];
    body.velocity = self->before[part->body].linear;
    body.angular_velocity = self->before[part->body].angular;
    return point_velocity(&body, at);
}

/* tight (19): gap / h, with the speed of recovery bounded; or the rebound of Newton's impact law where the contact
 * closes within the step. `separation` is the rate of the gap at the beginning of the step. */
static double contact_bias(const yk_nonsmooth *self, double gap, double restitution, double separation, double h)
{
    if (restitution > 0) {
        double least = self->def.bounce_speed > 0 ? self->def.bounce_speed : h * yk_v3_norm(self->def.gravity);
        if (separation < -least && gap + h * separation <= 0) return restitution * separation;
    }
    double recovery = self->def.recovery_speed > 0 ? self->def.recovery_speed : self->envelope / h;
    return fmax(gap / h, -recovery);
}

/* rim (41): the force K overlap + D rate at the end of the step. A gap closes before anything yields. */
static void yield(const yk_material *material, double gap, double h, yk_contact *contact)
{
    double rate = h * material->stiffness + material->damping;
    contact->softness = 1 / (h * rate);
    if (gap < 0 && contact->bias <= 0) contact->bias = material->stiffness * gap / rate;
}

/* The impulse of the same contact in the last step. */
static size_t find_in_cache(const yk_nonsmooth *self, const yk_contact_key *key, bool round)
{
    const yk_contact_list *cache = &self->cache;
    size_t k = cache->round_count, end = cache->count;
    if (round) {
        k = self->last_row_contacts[key->a], end = self->last_row_contacts[key->a + 1];
    } else {
        for (size_t high = end; k < high;) {
            size_t middle = k + (high - k) / 2;
            const yk_contact_key *at = &cache->keys[middle];
            if (at->a < key->a || (at->a == key->a && at->b < key->b))
                k = middle + 1;
            else
                high = middle;
        }
    }
    for (; k < end && cache->keys[k].a == key->a && cache->keys[k].b <= key->b; k++)
        if (cache->keys[k].b == key->b && cache->keys[k].feature == key->feature) return k;
    return SIZE_MAX;
}

/* The sides of a contact as the solver wants them: p is moved by forces. */
typedef struct contact_sides {
    const yk_part *p, *q;
    yk_vec3 at_p, at_q;
    bool flipped; /* p is b */
} contact_sides;

static contact_sides sides_of(const yk_nonsmooth *self, const yk_contact_key *key, const yk_touch *touch)
{
    const yk_part *a = &self->parts[key->a], *b = &self->parts[key->b];
    if (yk_world_is_dynamic(self, a->body)) return (contact_sides){a, b, touch->point_a, touch->point_b, false};
    return (contact_sides){b, a, touch->point_b, touch->point_a, true};
}

static void start_from_cache(const yk_nonsmooth *self, const yk_contact_key *key, bool round, bool flipped,
                             yk_contact *contact)
{
    size_t last = find_in_cache(self, key, round);
    contact->impulse = contact->torque = yk_v3(0, 0, 0);
    if (last == SIZE_MAX) return;
    double sign = flipped ? -1 : 1;
    contact->impulse = yk_v3_scale(sign, self->impulses[last]);
    if (last >= self->cache.round_count)
        contact->torque = yk_v3_scale(sign, self->torques[last - self->cache.round_count]);
}

static void make_contact(const yk_nonsmooth *self, size_t i, double h, yk_contact *contact)
{
    const yk_contact_key *key = &self->next.keys[i];
    yk_touch touch = yk_world_touch(self, &self->next, i);
    contact_sides sides = sides_of(self, key, &touch);
    const yk_material *material = pair_material(self, sides.p, sides.q);
    contact->normal = sides.flipped ? touch.normal : yk_v3_neg(touch.normal);
    contact->mu = material->friction;
    double separation = 0;
    if (material->restitution > 0) {
        yk_vec3 u = yk_v3_sub(velocity_before(self, sides.p, sides.at_p), velocity_before(self, sides.q, sides.at_q));
        separation = yk_v3_dot(contact->normal, u);
    }
    contact->bias = contact_bias(self, touch.gap, material->restitution, separation, h);
    contact->softness = 0;
    if (material->stiffness > 0) yield(material, touch.gap, h, contact);
    start_from_cache(self, key, i < self->next.round_count, sides.flipped, contact);
    if (self->pairs[i].b == YK_NETWORK_NONE)
        contact->surface =
            sides.q->body < 0 ? yk_v3(0, 0, 0) : point_velocity(&self->bodies[sides.q->body], sides.at_q);
    if (self->pairs[i].kind == YK_PAIR_ROUND) return;
    contact->mu_spin = material->spinning;
    contact->mu_roll = material->rolling;
    contact->arm_a = yk_v3_sub(sides.at_p, self->bodies[sides.p->body].position);
    if (self->pairs[i].b != YK_NETWORK_NONE)
        contact->arm_b = yk_v3_sub(sides.at_q, self->bodies[sides.q->body].position);
}

typedef struct set_job {
    yk_nonsmooth *self;
    double h;
} set_job;

static void set_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    const set_job *job = user;
    double deepest = 0;
    yk_contact contact = {.softness = 0};
    for (size_t i = begin; i < end; i++) {
        make_contact(job->self, i, job->h, &contact);
        deepest = fmax(deepest, -contact.bias * job->h);
        yk_network_set(job->self->network, i, &contact);
    }
    job->self->partials[chunk] = deepest;
}

/* Bodies of known motion already have the velocity of the end of the step, `before` that of its beginning. */
yk_status yk_world_set_contacts(yk_nonsmooth *self, double h)
{
    yk_status status = yk_network_plan(self->network, self->pairs, self->next.count);
    if (status < 0) return status;
    size_t chunk = self->next.count / self->partial_count + 1;
    if (chunk < YK_PAIR_CHUNK) chunk = YK_PAIR_CHUNK;
    set_job job = {self, h};
    yk_pool_run(self->pool, self->next.count, chunk, set_chunk, &job);
    self->report.deepest_overlap = 0;
    for (size_t i = 0; i * chunk < self->next.count; i++)
        self->report.deepest_overlap = fmax(self->report.deepest_overlap, self->partials[i]);
    return YK_OK;
}

/* Impulses --------------------------------------------------------------------------------------------------------- */

static void receive(yk_nonsmooth *self, const yk_part *part, yk_vec3 at, yk_vec3 impulse, yk_vec3 torque)
{
    if (part->body < 0) return;
    yk_wrench *sum = &self->received[(size_t)part->body - self->dynamic_count];
    yk_vec3 arm = yk_v3_sub(at, self->bodies[part->body].position);
    sum->force = yk_v3_add(sum->force, impulse);
    sum->torque = yk_v3_add(sum->torque, yk_v3_add(torque, yk_v3_cross(arm, impulse)));
}

/* What sleeping bodies bring is there from the start. */
void yk_world_clear_received(yk_nonsmooth *self, double h)
{
    for (size_t i = 0; i < yk_world_known_count(self); i++) {
        const yk_wrench nothing = {.force = {0, 0, 0}},
                        *held = self->sleep.rest_time ? &self->sleep.received[i] : &nothing;
        self->received[i] = (yk_wrench){yk_v3_scale(h, held->force), yk_v3_scale(h, held->torque)};
    }
}

void yk_world_take_impulses(yk_nonsmooth *self, double h)
{
    yk_contact_list *next = &self->next;
    yk_world_clear_received(self, h);
    for (size_t i = 0; i < next->count; i++) {
        const yk_part *a = &self->parts[next->keys[i].a], *b = &self->parts[next->keys[i].b];
        bool flip = !yk_world_is_dynamic(self, a->body);
        yk_vec3 impulse = yk_network_impulse(self->network, i), torque = {0, 0, 0};
        if (self->pairs[i].kind == YK_PAIR_GENERAL) torque = yk_network_torque(self->network, i);
        if (self->pairs[i].b == YK_NETWORK_NONE) {
            yk_touch touch = yk_world_touch(self, next, i);
            receive(self, flip ? a : b, flip ? touch.point_a : touch.point_b, yk_v3_neg(impulse), yk_v3_neg(torque));
        }
        self->impulses[i] = flip ? yk_v3_neg(impulse) : impulse;
        if (i >= next->round_count) self->torques[i - next->round_count] = flip ? yk_v3_neg(torque) : torque;
    }
    yk_contact_list used = self->cache;
    self->cache = *next;
    *next = used;
    uint32_t *rows = self->last_row_contacts;
    self->last_row_contacts = self->row_contacts;
    self->row_contacts = rows;
}

void yk_world_index_cache(yk_nonsmooth *self)
{
    size_t k = 0;
    for (size_t i = 0; i <= self->finite_count; i++) {
        while (k < self->cache.round_count && (size_t)self->cache.keys[k].a < i) k++;
        self->last_row_contacts[i] = (uint32_t)k;
    }
}
