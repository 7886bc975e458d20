/* The contacts of the present configuration.
 *
 * There are two classes. Round contacts (sphere with sphere, sphere with a plane or cavity of known
 * motion) are found by a few lines in this file and stored as a key only: their geometry is
 * recomputed where it is needed, which costs less than memory access. General contacts are found by
 * narrow_phase.h in batches, and their geometry is stored for the step.
 *
 *   list of near pairs -> keys of contacts in canonical order, and the pairs of nodes of the
 *   contact problem
 *
 * The canonical order is by row of the list, then partner, then feature. It depends on positions
 * alone and not on the age of the list, so that a run that was rolled back and repeated gives the
 * same bits. */
#include "nonsmooth/collision.h"
#include "nonsmooth/solids/solid.h"

enum {
    BATCH_CHUNK = 16,
    MEETS =
        /* 1 << 30 marks a partner in the list of near pairs between the two passes of a search */
    1 << 30
};

/* Two parts that neither move nor can be moved have no new contacts. */
static bool both_still(const yk_collision *collision, size_t a, size_t b)
{
    return collision->state->sleep.asleep > 0 && collision->still[a] && collision->still[b];
}

/* `frozen`: contacts of sleeping bodies count too. */
static yk_status check_capacity(const yk_collision *collision, size_t count, size_t frozen,
                                size_t capacity)
{
    if (count + frozen <= capacity)
        return YK_OK;
    return yk_fail(collision->model->context, YK_ERROR_MEMORY,
                   "%zu contact points at t = %g s, memory for %zu: raise the capacity for "
                   "contacts, or reduce their envelope",
                   count + frozen, collision->state->run.time, capacity);
}

/* Round contacts ------------------------------------------------------------------------------- */

/* From the center of a to that of the nearest image of b. */
static yk_vec3 between(const yk_world_model *model, const yk_ball *a, const yk_ball *b)
{
    yk_vec3 d = yk_v3_sub(b->centre, a->centre);
    if (model->periodic)
        d = yk_v3_add(d, yk_world_image(model, a->centre, b->centre));
    return d;
}

/* Two spheres: unit normal from a to b and the gap. */
static double sphere_gap(const yk_world_model *model, const yk_ball *a, const yk_ball *b,
                         yk_vec3 *normal)
{
    yk_vec3 d = between(model, a, b);
    double distance = yk_v3_norm(d);
    *normal = distance > 0 ? yk_v3_scale(1 / distance, d) : yk_v3(0, 0, 1);
    return distance - a->radius - b->radius;
}

/* Whether sphere a closes the gap to b within the step; `at` is the point of b. */
static bool closes(const yk_collision *collision, size_t i, size_t j, yk_vec3 normal, yk_vec3 at,
                   double gap)
{
    const yk_part *a = &collision->model->parts[i], *b = &collision->model->parts[j];
    const yk_body_state *bodies = collision->state->bodies;

    yk_vec3 relative = bodies[a->body].velocity;

    /* A sphere's own spin does not change its gap, but that of a wall does. */
    if (b->body >= 0) {
        const yk_body_state *body = &bodies[b->body];
        yk_vec3 velocity = body->velocity;
        if (!b->round)
            velocity = yk_world_point_velocity(body, at);
        relative = yk_v3_sub(relative, velocity);
    }

    return gap < collision->h * yk_v3_dot(relative, normal);
}

static bool spheres_meet(const yk_collision *collision, size_t i, size_t j)
{
    const yk_ball *a = &collision->balls[i], *b = &collision->balls[j];

    /* Squared distances decide for most pairs, without a square root. */
    double squared = yk_v3_norm2(between(collision->model, a, b));
    double near = a->radius + b->radius + collision->model->envelope;

    if (squared < near * near)
        return true;

    /* Beyond the envelope, only pairs that approach fast enough count. */
    double far = a->radius + b->radius + collision->reach;
    if (squared >= far * far)
        return false;

    yk_vec3 normal;
    double gap = sphere_gap(collision->model, a, b, &normal);
    return closes(collision, i, j, normal, b->centre, gap);
}

/* Counts in the first pass, fills the row in the second. */
static void add_round(const yk_collision *collision, size_t i, size_t j, uint32_t feature,
                      uint32_t *count)
{
    if (!collision->counting) {
        const yk_part *a = &collision->model->parts[i], *b = &collision->model->parts[j];

        size_t at = collision->found.rows[i] + *count;
        collision->found.keys[at] = (yk_contact_key){(int32_t)i, (int32_t)j, feature};
        collision->pairs[at] =
            (yk_pair){a->body, b->round ? b->body : YK_NETWORK_NONE, collision->round_kind};
    }

    (*count)++;
}

static void meet_walls(const yk_collision *collision, size_t i, size_t j, uint32_t *count)
{
    const yk_solid *outside = &collision->unbounded[j - collision->model->finite_count];
    const yk_ball *ball = &collision->balls[i];

    /* A sphere touches each wall of a cavity at most once, so the wall identifies the contact. */
    unsigned walls = yk_solid_ops_of(outside->kind)->walls;

    yk_touch touch;
    for (uint32_t wall = 0; wall < YK_WALLS; wall++) {
        if (!(walls >> wall & 1))
            continue;
        if (!yk_sphere_at_wall(outside, wall, ball->centre, ball->radius, collision->reach, &touch))
            continue;
        if (touch.gap < collision->model->envelope ||
            closes(collision, i, j, touch.normal, touch.point_b, touch.gap))
            add_round(collision, i, j, wall, count);
    }
}

static void round_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const yk_collision *collision = user;
    const yk_broad *near = &collision->near.pairs;

    for (size_t i = begin; i < end; i++) {
        uint32_t count = 0;
        for (uint32_t k = near->row_start[i]; k < near->row_start[i + 1]; k++) {
            int32_t j = near->partners[k];
            if (j < 0)
                continue; /* a general pair */

            size_t other = (size_t)(j & ~MEETS);
            if (both_still(collision, i, other))
                continue;

            /* Walls are checked in both passes, spheres in the first pass only, which marks those
             * in contact. */
            if (other >= collision->model->finite_count) {
                meet_walls(collision, i, other, &count);
            } else if (collision->counting) {
                if (!spheres_meet(collision, i, other))
                    continue;

                near->partners[k] = j | MEETS;
                count++;
            } else if (j & MEETS) {
                near->partners[k] = j & ~MEETS;
                add_round(collision, i, other, 0, &count);
            }
        }

        if (collision->counting)
            collision->found.rows[i + 1] = count;
    }
}

/* Two passes over the rows, so that threads write to known places: lengths of rows, then contacts. */
static yk_status find_round(yk_collision *collision)
{
    const yk_world_model *model = collision->model;
    yk_contact_list *found = &collision->found;

    collision->counting = true;
    yk_pool_run(collision->pool, model->finite_count, YK_PAIR_CHUNK, round_chunk, collision);

    /* From lengths to the starts of rows. */
    uint64_t sum = 0;

    found->rows[0] = 0;
    for (size_t i = 1; i <= model->finite_count; i++) {
        sum += found->rows[i];
        found->rows[i] = (uint32_t)sum;
    }

    size_t frozen = collision->state->sleep.frozen.count;
    yk_status status = check_capacity(collision, (size_t)sum, frozen, model->contact_capacity);
    if (status != YK_OK)
        return status;

    /* The second pass stores the contacts. */
    found->round_count = found->count = (size_t)sum;
    collision->counting = false;
    yk_pool_run(collision->pool, model->finite_count, YK_PAIR_CHUNK, round_chunk, collision);
    return YK_OK;
}

/* General contacts ----------------------------------------------------------------------------- */

static void general_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const yk_collision *collision = user;
    const yk_world_model *model = collision->model;
    const yk_body_state *bodies = collision->state->bodies;

    for (size_t k = begin; k < end; k++) {
        const int32_t *pair = collision->near.general[collision->batch_first + k];
        size_t i = (size_t)pair[0], j = (size_t)pair[1];
        collision->batch_counts[k] = 0;
        if (both_still(collision, i, j))
            continue;

        /* Fast pairs are detected from farther away, so that they cannot pass each other within the
         * step. */
        int32_t slot_a = model->parts[i].body, slot_b = model->parts[j].body;
        yk_vec3 relative = {0, 0, 0};
        double rotating = 0;
        if (slot_a >= 0) {
            relative = bodies[slot_a].velocity;
            rotating += yk_v3_norm(bodies[slot_a].angular_velocity);
        }

        if (slot_b >= 0) {
            relative = yk_v3_sub(relative, bodies[slot_b].velocity);
            rotating += yk_v3_norm(bodies[slot_b].angular_velocity);
        }

        double approach = collision->h * (yk_v3_norm(relative) + rotating * model->smallest_radius);
        double margin = fmax(model->envelope, fmin(approach, model->smallest_radius));

        /* Solids at the present poses of their bodies. */
        yk_solid a = yk_world_solid(model, collision->state, i);
        yk_solid b = yk_world_solid(model, collision->state, j);
        yk_vec3 shift = {0, 0, 0};
        /* Walls look the same from every period and have no images. */
        if (model->periodic && j < model->finite_count)
            shift = yk_world_image(model, a.position, b.position);
        b.position = yk_v3_add(b.position, shift);
        yk_touch *list = collision->batch + k * YK_MANIFOLD_MAX;
        int count = yk_collide(&a, &b, margin, list);

        /* Points of b are on the body itself, not on its image. */
        for (int n = 0; n < count && model->periodic; n++)
            list[n].point_b = yk_v3_sub(list[n].point_b, shift);
        collision->batch_counts[k] = count;
    }
}

/* Appends the contacts of one pair to the list. */
static yk_status append_general(yk_collision *collision, const int32_t *pair, const yk_touch *list,
                                int count)
{
    const yk_world_model *model = collision->model;
    const yk_contact_list *frozen = &collision->state->sleep.frozen;
    yk_contact_list *found = &collision->found;
    const yk_part *a = &model->parts[pair[0]], *b = &model->parts[pair[1]];

    /* The first node belongs to a dynamic body. */
    bool dynamic_a = yk_world_is_dynamic(model, a->body);
    bool dynamic_b = yk_world_is_dynamic(model, b->body);
    yk_pair nodes = {b->body, YK_NETWORK_NONE, YK_PAIR_GENERAL};
    if (dynamic_a)
        nodes.a = a->body;
    if (dynamic_a && dynamic_b)
        nodes.b = b->body;

    /* The fast path of the solver uses lever arms along the normal on every moving side. */
    bool round_arms = (a->round || !dynamic_a) && (b->round || !dynamic_b);
    if (round_arms) {
        nodes.kind = collision->round_kind;
        if (yk_world_resists_rotation(model, a, b))
            nodes.kind = collision->rolling_kind;
    }

    /* Lists have the capacity that was chosen when the model was frozen. */
    size_t general = found->count - found->round_count, more = (size_t)count;
    yk_status status =
        check_capacity(collision, found->count + more, frozen->count, model->contact_capacity);
    if (status != YK_OK)
        return status;

    status = check_capacity(collision, general + more, frozen->count - frozen->round_count,
                            model->general_capacity);
    if (status != YK_OK)
        return status;

    for (int i = 0; i < count; i++) {
        size_t at = found->count++;
        found->keys[at] = (yk_contact_key){pair[0], pair[1], list[i].feature};
        collision->pairs[at] = nodes;
        collision->touches[general++] = list[i];
    }

    return YK_OK;
}

/* In batches: threads find the contacts of many pairs, which are then appended in order. */
static yk_status find_general(yk_collision *collision)
{
    const yk_near_list *near = &collision->near;
    for (size_t first = 0; first < near->general_count; first += YK_BATCH_PAIRS) {
        /* The last batch may be shorter. */
        size_t count = near->general_count - first;
        if (count > YK_BATCH_PAIRS)
            count = YK_BATCH_PAIRS;

        collision->batch_first = first;
        yk_pool_run(collision->pool, count, BATCH_CHUNK, general_chunk, collision);

        /* In the order of the pairs, whichever thread found them. */
        for (size_t k = 0; k < count; k++) {
            const yk_touch *list = collision->batch + k * YK_MANIFOLD_MAX;
            yk_status status = append_general(collision, near->general[first + k], list,
                                              collision->batch_counts[k]);
            if (status != YK_OK)
                return status;
        }
    }

    return YK_OK;
}

/* Meshes --------------------------------------------------------------------------------------- */

/* The mesh (as a shape) and the solid of a contact between a triangle and something else; -1:
 * there is none. */
static int32_t mesh_of(const yk_world_model *model, const yk_contact_key *key, int32_t *solid)
{
    const yk_part *a = &model->parts[key->a], *b = &model->parts[key->b];

    /* Between two meshes, or with a wall, no contact hides another. */
    bool mesh_a = yk_solid_is_thin(a->kind), mesh_b = yk_solid_is_thin(b->kind);
    *solid = mesh_a ? key->b : key->a;
    if (mesh_a == mesh_b || (size_t)*solid >= model->finite_count)
        return -1;
    return mesh_a ? a->shape : b->shape;
}

/* A solid on a flat part of a mesh must not feel internal edges. A contact at an edge or corner is
 * removed if the plane of a face contact contains its point, or if another contact is at the same
 * point. */
static void drop_covered_contacts(yk_collision *collision)
{
    const yk_world_model *model = collision->model;
    yk_contact_list *found = &collision->found;
    size_t first = found->round_count, general = found->count - first;
    yk_contact_key *keys = found->keys + first;
    yk_pair *pairs = collision->pairs + first;
    int32_t *last = collision->mesh_last, *link = collision->mesh_link;

    if (!last || general == 0)
        return;

    /* Contacts of one solid with meshes are linked, from the last to the first. */
    int32_t solid, other_solid;
    for (size_t g = 0; g < general; g++)
        if (mesh_of(model, &keys[g], &solid) >= 0)
            last[solid] = -1;
    for (size_t g = 0; g < general; g++) {
        link[g] = -1;
        if (mesh_of(model, &keys[g], &solid) < 0)
            continue;

        link[g] = last[solid];
        last[solid] = (int32_t)g;
    }

    /* Each is compared with the others in its chain that are on the same mesh. */
    double tolerance = 1e-3 * model->smallest_radius;
    for (size_t g = 0; g < general; g++) {
        const yk_touch *touch = &collision->touches[g];
        bool edge = touch->edge, covered = false;
        int32_t mesh = mesh_of(model, &keys[g], &solid);
        if (mesh < 0)
            continue;

        for (int32_t k = last[solid]; k >= 0 && !covered; k = link[k]) {
            if ((size_t)k == g || mesh_of(model, &keys[k], &other_solid) != mesh)
                continue;

            const yk_touch *other = &collision->touches[k];
            yk_vec3 apart = yk_v3_sub(touch->point_b, other->point_b);
            apart = yk_v3_add(apart, yk_world_image(model, other->point_b, touch->point_b));
            bool other_edge = other->edge;

            if (yk_v3_norm(apart) >= tolerance)
                covered = edge && !other_edge && fabs(yk_v3_dot(apart, other->normal)) < tolerance;
            else
                covered = edge == other_edge ? (size_t)k < g : edge;
        }

        if (covered)
            pairs[g].kind = -1;
    }

    /* Close the gaps in the list. */
    size_t kept = 0;
    for (size_t g = 0; g < general; g++) {
        if (pairs[g].kind < 0)
            continue;

        pairs[kept] = pairs[g];
        keys[kept] = keys[g];
        collision->touches[kept++] = collision->touches[g];
    }

    found->count = first + kept;
}

yk_status yk_collision_search(yk_collision *collision, double h)
{
    collision->found.count = collision->found.round_count = 0;

    /* Use the list, or rebuild it. */
    collision->h = h;
    yk_status status = yk_collision_update_list(collision, h, &collision->reach);

    /* Round contacts come first in the list. */
    if (status == YK_OK)
        status = find_round(collision);
    if (status == YK_OK)
        status = find_general(collision);
    if (status == YK_OK)
        drop_covered_contacts(collision);
    return status;
}

yk_touch yk_collision_touch(const yk_collision *collision, const yk_contact_list *list,
                            size_t contact)
{
    if (contact >= list->round_count)
        return collision->touches[contact - list->round_count];

    /* Round contacts: a sphere with a wall of known motion, or with another sphere. */
    const yk_contact_key *key = &list->keys[contact];
    const yk_ball *a = &collision->balls[key->a];
    yk_touch touch = {.gap = 0};
    if ((size_t)key->b >= collision->model->finite_count) {
        const yk_solid *outside =
            &collision->unbounded[(size_t)key->b - collision->model->finite_count];
        yk_sphere_at_wall(outside, key->feature, a->centre, a->radius, INFINITY, &touch);
        return touch;
    }

    const yk_ball *b = &collision->balls[key->b];
    touch.gap = sphere_gap(collision->model, a, b, &touch.normal);
    touch.point_a = yk_v3_axpy(a->radius, touch.normal, a->centre);
    touch.point_b = yk_v3_axpy(-b->radius, touch.normal, b->centre);
    return touch;
}
