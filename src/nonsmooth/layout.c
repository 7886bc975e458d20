/* Start: the order of bodies and parts in memory, and all memory that stepping needs.
 *
 * Bodies are sorted along a Morton curve through their initial places, those that forces move before the others: what
 * touches is then near in memory, and a body's slot is its node in the solver. */
#include <stdlib.h>
#include <string.h>

#include "nonsmooth/world.h"

enum { MORTON_BITS = 20, GENERAL_PER_PART = 12, BATCH_PAIRS = 1024 };

typedef struct place_in_order {
    uint64_t key;
    int32_t body;
} place_in_order;

static uint64_t spread_bits(uint64_t x)
{
    uint64_t spread = 0;
    for (int i = 0; i < MORTON_BITS; i++) spread |= (x >> i & 1) << (3 * i);
    return spread;
}

static uint64_t morton_number(double offset, double size)
{
    double x = size > 0 ? offset / size * ((1 << MORTON_BITS) - 1) : 0;
    return spread_bits(x > 0 ? (uint64_t)x : 0);
}

static int compare_places(const void *left, const void *right)
{
    const place_in_order *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->body < b->body ? -1 : a->body > b->body;
}

static void find_box(const yk_nonsmooth *self, yk_vec3 *low, double *size)
{
    yk_vec3 lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < self->body_count; i++) {
        yk_vec3 p = self->initial[i].position;
        lower = yk_v3(fmin(lower.x, p.x), fmin(lower.y, p.y), fmin(lower.z, p.z));
        upper = yk_v3(fmax(upper.x, p.x), fmax(upper.y, p.y), fmax(upper.z, p.z));
    }
    yk_vec3 edge = yk_v3_sub(upper, lower);
    *low = lower;
    *size = fmax(edge.x, fmax(edge.y, edge.z));
}

static yk_status sort_bodies(yk_nonsmooth *self)
{
    place_in_order *poses = yk_reallocate(self->context, NULL, self->body_count, sizeof *poses);
    if (!poses) return YK_ERROR_MEMORY;
    yk_vec3 low;
    double size;
    find_box(self, &low, &size);
    self->dynamic_count = 0;
    for (size_t i = 0; i < self->body_count; i++) {
        yk_vec3 p = yk_v3_sub(self->initial[i].position, low);
        uint64_t key = morton_number(p.x, size) | morton_number(p.y, size) << 1 | morton_number(p.z, size) << 2;
        bool dynamic = self->models[i].drive == YK_MOVED_BY_FORCES;
        self->dynamic_count += dynamic;
        poses[i] = (place_in_order){dynamic ? key : UINT64_MAX, (int32_t)i};
    }
    qsort(poses, self->body_count, sizeof *poses, compare_places);
    for (size_t slot = 0; slot < self->body_count; slot++) {
        self->body_of[slot] = poses[slot].body;
        self->slot_of[poses[slot].body] = (int32_t)slot;
    }
    yk_release(self->context, poses);
    return YK_OK;
}

/* A body moved by forces with one centred sphere and equal principal inertias needs no tensor and no lever arms. */
static void find_round_bodies(yk_nonsmooth *self, const int32_t *parts_of_body)
{
    for (size_t i = 0; i < self->part_count; i++) {
        yk_part *part = &self->parts[i];
        part->round = 0;
        if (part->body < 0 || part->kind != YK_SOLID_SPHERE || parts_of_body[part->body] != 1) continue;
        yk_body_model *body = &self->models[part->body];
        if (body->drive != YK_MOVED_BY_FORCES) continue;
        if (part->geometry < 0) {
            part->round = 1;
            continue;
        }
        const yk_part_geometry *geometry = &self->geometries[part->geometry];
        yk_mat3 j = self->tensors[body->tensor].body;
        yk_mat3 rest = yk_m3_sub(j, yk_m3_scale(j.m[0][0], yk_m3_identity()));
        double off = 0;
        for (int k = 0; k < 9; k++) off = fmax(off, fabs(rest.m[k / 3][k % 3]));
        if (yk_v3_norm2(geometry->position) > 0 || off > 0) continue;
        part->round = 1;
        body->radius = geometry->size.x;
        body->inertia = j.m[0][0];
    }
}

static yk_status mark_round_bodies(yk_nonsmooth *self)
{
    int32_t *parts_of_body = yk_allocate(self->context, self->body_count, sizeof *parts_of_body);
    if (!parts_of_body) return YK_ERROR_MEMORY;
    for (size_t i = 0; i < self->part_count; i++)
        if (self->parts[i].body >= 0) parts_of_body[self->parts[i].body]++;
    find_round_bodies(self, parts_of_body);
    /* A sphere that got a second shape, or that is not moved by forces, takes the general way. */
    yk_status status = YK_OK;
    for (size_t i = 0; i < self->part_count && status == YK_OK; i++) {
        yk_part *part = &self->parts[i];
        if (part->round || part->geometry >= 0) continue;
        yk_body_model *body = &self->models[part->body];
        if (body->drive != YK_MOVED_BY_FORCES) continue;
        status =
            yk_fail(self->context, YK_ERROR_ARGUMENT,
                    "body %d was added as a sphere and has other shapes: add it as a body with shapes", part->body);
    }
    yk_release(self->context, parts_of_body);
    return status;
}

/* Finite parts first, each group in the order of slots. */
static int part_rank(const yk_part *part)
{
    return yk_solid_is_finite(part->kind) ? 0 : 1;
}

static yk_status sort_parts(yk_nonsmooth *self)
{
    self->finite_count = 0;
    if (self->part_count == 0) return YK_OK;
    place_in_order *poses = yk_reallocate(self->context, NULL, self->part_count, sizeof *poses);
    yk_part *sorted = yk_reallocate(self->context, NULL, self->part_count, sizeof *sorted);
    if (!poses || !sorted) {
        yk_release(self->context, poses);
        yk_release(self->context, sorted);
        return YK_ERROR_MEMORY;
    }
    for (size_t i = 0; i < self->part_count; i++) {
        yk_part *part = &self->parts[i];
        if (part->body >= 0) part->body = self->slot_of[part->body];
        int rank = part_rank(part);
        self->finite_count += rank == 0;
        uint64_t slot = part->body < 0 ? self->body_count : (uint64_t)part->body;
        poses[i] = (place_in_order){(uint64_t)rank << 40 | slot, (int32_t)i};
    }
    qsort(poses, self->part_count, sizeof *poses, compare_places);
    for (size_t i = 0; i < self->part_count; i++) sorted[i] = self->parts[poses[i].body];
    memcpy(self->parts, sorted, self->part_count * sizeof *sorted);
    yk_release(self->context, poses);
    yk_release(self->context, sorted);
    return YK_OK;
}

static yk_status sort_models(yk_nonsmooth *self)
{
    yk_body_model *sorted = yk_reallocate(self->context, NULL, self->body_count, sizeof *sorted);
    if (!sorted) return YK_ERROR_MEMORY;
    for (size_t slot = 0; slot < self->body_count; slot++) sorted[slot] = self->models[self->body_of[slot]];
    memcpy(self->models, sorted, self->body_count * sizeof *sorted);
    yk_release(self->context, sorted);
    return YK_OK;
}

static int slot_or_world(const yk_nonsmooth *self, int body)
{
    return body < 0 ? -1 : self->slot_of[body];
}

static void place_slots(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->joint_count; i++) {
        self->joints[i].slot_a = slot_or_world(self, self->joints[i].def.body_a);
        self->joints[i].slot_b = slot_or_world(self, self->joints[i].def.body_b);
    }
    for (size_t i = 0; i < self->force_count; i++) {
        self->forces[i].slot_a = slot_or_world(self, self->forces[i].def.body_a);
        self->forces[i].slot_b = slot_or_world(self, self->forces[i].def.body_b);
    }
    for (size_t i = 0; i < self->port_count; i++) {
        self->ports[i].slot = self->slot_of[self->ports[i].body];
        self->ports[i].far_slot = slot_or_world(self, self->ports[i].far_body);
    }
}

/* Reserves --------------------------------------------------------------------------------------------------------- */

/* Each block of work space with its size: one list, so that reserving, releasing and counting agree. */
typedef struct reserve {
    void *place; /* address of the pointer */
    size_t count, size;
} reserve;

enum { RESERVES_MAX = 48 };

static size_t joint_row_total(const yk_nonsmooth *self)
{
    size_t rows = 0;
    for (size_t i = 0; i < self->joint_count; i++) rows += (size_t)self->joints[i].joint.row_count;
    return rows;
}

static size_t general_parts(const yk_nonsmooth *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->finite_count; i++) count += !self->parts[i].round;
    return count;
}

static bool has_mesh(const yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->finite_count; i++)
        if (self->parts[i].kind == YK_SOLID_TRIANGLE) return true;
    return false;
}

static size_t list_reserves(yk_nonsmooth *self, reserve *list)
{
    size_t bodies = self->body_count, finite = self->finite_count, contacts = self->contact_capacity;
    size_t general = self->general_capacity, unbounded = self->part_count - finite, others = general_parts(self);
    size_t known = bodies - self->dynamic_count;
    bool plain = self->force_count == 0 && self->port_count == 0, sleeps = self->def.sleeping.speed > 0;
    size_t kept = sleeps ? contacts : 0, general_kept = sleeps ? general : 0,
           movable = sleeps ? self->dynamic_count : 0;
    yk_sleep *sleep = &self->sleep;
    const reserve all[] = {
        {&self->bodies, bodies, sizeof *self->bodies},
        {&self->before, bodies, sizeof *self->before},
        {&self->applied, plain ? 0 : bodies, sizeof *self->applied},
        {&self->received, known, sizeof *self->received},
        {&self->reactions, known, sizeof *self->reactions},
        {&self->balls, finite, sizeof *self->balls},
        {&self->listed, self->part_count, sizeof *self->listed},
        {&self->rotated, self->rotated_count, sizeof *self->rotated},
        {&self->extent_of, finite, sizeof *self->extent_of},
        {&self->half_extents, others, sizeof *self->half_extents},
        {&self->unbounded, unbounded, sizeof *self->unbounded},
        {&self->row_contacts, finite + 1, sizeof *self->row_contacts},
        {&self->last_row_contacts, finite + 1, sizeof *self->last_row_contacts},
        {&self->cache.keys, contacts, sizeof *self->cache.keys},
        {&self->impulses, contacts, sizeof *self->impulses},
        {&self->torques, general, sizeof *self->torques},
        {&self->next.keys, contacts, sizeof *self->next.keys},
        {&self->pairs, contacts, sizeof *self->pairs},
        {&self->touches, general, sizeof *self->touches},
        {&self->batch, general ? (size_t)BATCH_PAIRS * YK_MANIFOLD_MAX : 0, sizeof *self->batch},
        {&self->batch_counts, BATCH_PAIRS, sizeof *self->batch_counts},
        {&self->mesh_last, has_mesh(self) ? finite : 0, sizeof *self->mesh_last},
        {&self->mesh_link, has_mesh(self) ? general : 0, sizeof *self->mesh_link},
        {&self->joint_rows, self->joint_row_capacity, sizeof *self->joint_rows},
        {&self->joint_impulses, self->joint_row_capacity, sizeof *self->joint_impulses},
        {&self->pair_materials, self->material_count * self->material_count, sizeof *self->pair_materials},
        {&self->partials, self->partial_count, sizeof *self->partials},
        {&sleep->rest_time, movable, sizeof *sleep->rest_time},
        {&sleep->wrenches, plain ? 0 : movable, sizeof *sleep->wrenches},
        {&sleep->root, movable, sizeof *sleep->root},
        {&sleep->disturbed, sleeps ? bodies : 0, sizeof *sleep->disturbed},
        {&sleep->still, sleeps ? self->part_count : 0, sizeof *sleep->still},
        {&sleep->poses, sleeps ? known + self->port_count : 0, sizeof *sleep->poses},
        {&sleep->ahead, sleeps ? known : 0, sizeof *sleep->ahead},
        {&sleep->received, sleeps ? known : 0, sizeof *sleep->received},
        {&sleep->drives, sleeps ? self->joint_count : 0, sizeof *sleep->drives},
        {&sleep->frozen.keys, kept, sizeof *sleep->frozen.keys},
        {&sleep->forces, kept, sizeof *sleep->forces},
        {&sleep->torques, general_kept, sizeof *sleep->torques},
        {&sleep->points, kept, sizeof *sleep->points},
        {&sleep->spare_keys, kept, sizeof *sleep->spare_keys},
        {&sleep->spare_forces, kept, sizeof *sleep->spare_forces},
        {&sleep->spare_torques, general_kept, sizeof *sleep->spare_torques},
        {&sleep->spare_points, kept, sizeof *sleep->spare_points},
    };
    memcpy(list, all, sizeof all);
    return sizeof all / sizeof *all;
}

static yk_status take_reserves(yk_nonsmooth *self)
{
    reserve list[RESERVES_MAX];
    size_t count = list_reserves(self, list);
    for (size_t i = 0; i < count; i++) {
        void **place = list[i].place;
        /* Not zeroed: pages that are never used are never touched. */
        if (list[i].count == 0) continue;
        *place = yk_reallocate(self->context, NULL, list[i].count, list[i].size);
        if (!*place) return YK_ERROR_MEMORY;
    }
    return YK_OK;
}

void yk_world_release_layout(yk_nonsmooth *self)
{
    if (!self->slot_of) return;
    reserve list[RESERVES_MAX];
    size_t count = list_reserves(self, list);
    for (size_t i = 0; i < count; i++) {
        void **place = list[i].place;
        yk_release(self->context, *place);
        *place = NULL;
    }
    yk_broad_destroy(&self->broad);
    yk_world_release_interface(self);
    yk_network_destroy(self->network);
    yk_release(self->context, self->general_pairs);
    yk_release(self->context, self->passages);
    yk_release(self->context, self->slot_of);
    yk_release(self->context, self->body_of);
    self->network = NULL;
    self->general_pairs = NULL;
    self->passages = NULL;
    self->passage_count = 0;
    self->slot_of = self->body_of = NULL;
}

size_t yk_nonsmooth_memory(const yk_nonsmooth *self)
{
    size_t bytes = self->body_capacity * (sizeof *self->initial + sizeof *self->models + sizeof *self->names) +
                   self->part_capacity * sizeof *self->parts + self->geometry_capacity * sizeof *self->geometries +
                   self->point_capacity * sizeof *self->points + self->tensor_capacity * sizeof *self->tensors;
    if (!self->slot_of) return bytes;
    reserve list[RESERVES_MAX];
    size_t count = list_reserves((yk_nonsmooth *)(uintptr_t)self, list);
    for (size_t i = 0; i < count; i++) bytes += list[i].count * list[i].size;
    return bytes + 2 * self->body_count * sizeof *self->slot_of + yk_broad_memory(&self->broad) +
           yk_network_memory(self->network) + self->general_pair_capacity * sizeof *self->general_pairs;
}

/* Sizes ------------------------------------------------------------------------------------------------------------ */

/* Room for contacts, so many for each of `count` bodies, and as many again in small beds: walls are near to all bodies there,
 * a trial step of a coupling presses them together, and room costs little. */
static size_t ample(size_t count, size_t each)
{
    enum { SMALL = 2000 };
    return each * (count + (count < SMALL ? count : SMALL));
}

static void choose_capacities(yk_nonsmooth *self)
{
    size_t others = general_parts(self), round = self->finite_count - others, moving = 0;
    for (size_t i = 0; i < self->finite_count; i++) moving += yk_world_is_dynamic(self, self->parts[i].body);
    /* Equal spheres touch six others on average, three contacts each; walls and near misses add to that. */
    size_t general = GENERAL_PER_PART * others + (others || self->material_count ? 2 * YK_MANIFOLD_MAX : 0);
    for (size_t i = 0; i < self->material_count; i++)
        if (self->materials[i].rolling > 0 || self->materials[i].spinning > 0) general = ample(round, 5) + general;
    bool mixed = others > 0 || self->part_count > self->finite_count;
    if (mixed && others > 0) general += 6 * moving;
    for (size_t i = self->finite_count; i < self->part_count; i++)
        if (yk_world_is_dynamic(self, self->parts[i].body)) general += ample(moving, 2) + 64;
    self->general_capacity = general;
    self->contact_capacity = ample(round, 5) + general + 64;
    if (self->def.contact_capacity > 0) {
        self->contact_capacity = (size_t)self->def.contact_capacity;
        if (self->general_capacity > 0) self->general_capacity = self->contact_capacity;
    }
}

/* Of two surfaces that yield the softer counts, of one that yields and one that does not the former. */
static const yk_material *softer(const yk_material *p, const yk_material *q)
{
    if (p->stiffness == 0 || q->stiffness == 0) return p->stiffness > 0 ? p : q;
    return p->stiffness <= q->stiffness ? p : q;
}

static void combine_materials(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->material_count; i++) {
        for (size_t k = 0; k < self->material_count; k++) {
            const yk_material *p = &self->materials[i], *q = &self->materials[k], *soft = softer(p, q);
            self->pair_materials[i * self->material_count + k] = (yk_material){fmin(p->friction, q->friction),
                                                                               fmin(p->restitution, q->restitution),
                                                                               fmin(p->rolling, q->rolling),
                                                                               fmin(p->spinning, q->spinning),
                                                                               soft->stiffness,
                                                                               soft->damping};
        }
    }
}

static void choose_envelope(yk_nonsmooth *self)
{
    double smallest = INFINITY, any = INFINITY;
    for (size_t i = 0; i < self->finite_count; i++) {
        double radius = self->balls[i].radius;
        any = fmin(any, radius);
        if (yk_world_is_dynamic(self, self->parts[i].body)) smallest = fmin(smallest, radius);
    }
    if (!isfinite(smallest)) smallest = isfinite(any) ? any : 1;
    self->smallest_radius = smallest;
    self->envelope = self->def.envelope > 0 ? self->def.envelope : 0.03 * smallest;
}

static void number_extents(yk_nonsmooth *self)
{
    int32_t count = 0;
    for (size_t i = 0; i < self->finite_count; i++) {
        self->extent_of[i] = self->parts[i].round ? -1 : count++;
        yk_solid solid = yk_world_solid(self, i);
        self->balls[i].radius =
            self->parts[i].round ? self->models[self->parts[i].body].radius : yk_solid_radius(&solid);
    }
}

static yk_status create_network(yk_nonsmooth *self)
{
    yk_network_def def = yk_network_default();
    def.nodes = self->dynamic_count;
    def.contacts = self->contact_capacity;
    def.joint_rows = self->joint_row_capacity;
    def.pool = self->pool;
    for (size_t i = 0; i < self->material_count; i++) def.soft = def.soft || self->materials[i].stiffness > 0;
    yk_status status = yk_network_create(self->context, &def, &self->network);
    if (status < 0) return status;
    self->nodes = yk_network_nodes(self->network, self->dynamic_count);
    if (!self->nodes) return YK_ERROR_MEMORY;
    for (size_t i = 0; i < self->dynamic_count; i++) {
        self->nodes[i] = (yk_network_node){.inverse_mass = 1 / self->models[i].mass};
        if (self->models[i].radius > 0) status = yk_network_radius(self->network, i, self->models[i].radius);
        if (status < 0) return status;
    }
    return status;
}

/* Lists that grew while the model was built are cut to what is used. */
static void trim(yk_nonsmooth *self, void *array, size_t *capacity, size_t count, size_t size)
{
    void **place = array;
    if (count == 0) return;
    void *cut = yk_reallocate(self->context, *place, count, size);
    if (!cut) return;
    *place = cut;
    *capacity = count;
}

static void trim_model(yk_nonsmooth *self)
{
    size_t capacity = self->body_capacity;
    trim(self, &self->initial, &capacity, self->body_count, sizeof *self->initial);
    trim(self, &self->models, &capacity, self->body_count, sizeof *self->models);
    trim(self, &self->names, &self->body_capacity, self->body_count, sizeof *self->names);
    trim(self, &self->parts, &self->part_capacity, self->part_count, sizeof *self->parts);
}

static yk_status number_slots(yk_nonsmooth *self)
{
    trim_model(self);
    self->slot_of = yk_reallocate(self->context, NULL, self->body_count, sizeof *self->slot_of);
    self->body_of = yk_reallocate(self->context, NULL, self->body_count, sizeof *self->body_of);
    if (!self->slot_of || !self->body_of) return YK_ERROR_MEMORY;
    yk_status status = mark_round_bodies(self);
    if (status == YK_OK) status = sort_bodies(self);
    if (status == YK_OK) status = sort_models(self);
    if (status == YK_OK) status = sort_parts(self);
    return status;
}

yk_status yk_world_layout(yk_nonsmooth *self)
{
    yk_status status = number_slots(self);
    if (status < 0) return status;
    place_slots(self);
    self->joint_row_capacity = joint_row_total(self);
    choose_capacities(self);
    self->rotated_count = general_parts(self) + self->part_count - self->finite_count;
    self->partial_count = (self->body_count + self->finite_count) / YK_BODY_CHUNK + 64;
    status = take_reserves(self);
    if (status < 0) return status;
    for (size_t i = 0; i < self->body_count; i++) self->bodies[i] = self->initial[self->body_of[i]];
    number_extents(self);
    combine_materials(self);
    choose_envelope(self);
    /* Friction of a box has axes, which the fast path does not know. */
    self->round_kind = self->def.solver.friction == YK_FRICTION_BOX ? YK_PAIR_GENERAL : YK_PAIR_ROUND;
    status = yk_broad_create(self->context, self->pool, self->finite_count, &self->broad);
    if (status == YK_OK) status = create_network(self);
    return status;
}
