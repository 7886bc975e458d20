/* Collision detection: places of the solids, pairs that may touch soon, and present contacts. It
 * reads the model and the state, and changes neither.
 *
 *   broad_phase.c          pairs of solids that may touch soon
 *   neighbor_list.c        solids at their poses, and the list of near pairs, which is valid for
 *                          several steps
 *   contact_detection.c    contacts of the present configuration, in canonical order */
#ifndef YK_NONSMOOTH_COLLISION_H
#define YK_NONSMOOTH_COLLISION_H

#include "contact/network.h"
#include "nonsmooth/state.h"

/* Broad phase ---------------------------------------------------------------------------------- */

/* A list of pairs that remains valid until something has moved far (broad_phase.c). */
typedef struct yk_ball {
    yk_vec3 centre;
    double radius;
} yk_ball;

/* Solids as the broad phase needs them, numbered from 0; the finite ones come first. */
typedef struct yk_broad_input {
    size_t finite, unbounded;
    const yk_ball *balls; /* finite solids */
    yk_vec3 low, period;  /* space is periodic from `low` on; 0: not in this direction */
    /* finite: index in half_extents, -1 for spheres; NULL: all are spheres */
    const int32_t *extent_of;
    const yk_vec3 *half_extents; /* boxes along the axes */
    const yk_solid *unbounded_solids;
    const uint8_t *
        /* per solid; NULL: none. Two solids that do not move form no pair, and a solid surrounded
         * by such solids is not searched */
        still;
    const uint8_t *absent; /* of finite solids: excluded; NULL: none is */
    bool (*may_touch)(const void *user, size_t a, size_t b);
    const void *user;
} yk_broad_input;

enum { YK_BROAD_LEVELS = 32 };

typedef struct yk_broad {
    yk_context *context;
    yk_pool *pool;
    size_t finite;
    uint32_t *row_start; /* finite + 1 */
    int32_t *partners;
    size_t partner_count, partner_capacity;
    /* Workspace of a build: an entry for each present solid, and for its images. */
    size_t entry_capacity;
    uint64_t *keys, *spare_keys;
    uint32_t *order, *spare_order;
    yk_ball *sorted; /* positions in the order of cells, so that a search reads memory in order */
    int32_t *found;  /* rows of a first pass, chunk by chunk */
    uint8_t *level;
    uint32_t *counts; /* of digits, of the parts of a sort */
    /* The present build. The caller owns the solids. */
    const yk_broad_input *input;
    double margin, wall_margin;
    yk_vec3 origin; /* low corner of all centers */
    double largest; /* largest radius */
    bool periodic;  /* in some direction */
    uint32_t mask;  /* mask of the solid number in an entry of the order */
    size_t entries; /* in the sorted order: all present solids */
    int level_count;
    struct {
        double cell;
        size_t begin, end; /* in the sorted order */
    } levels[YK_BROAD_LEVELS];
} yk_broad;

yk_status yk_broad_create(yk_context *context, yk_pool *pool, size_t finite, yk_broad *broad);
void yk_broad_destroy(yk_broad *broad);

/* Lists all pairs whose balls and boxes are nearer than the margin; with unbounded solids, nearer
 * than the wall margin.
 */
yk_status yk_broad_build(yk_broad *broad, const yk_broad_input *input, double margin,
                         double wall_margin);

size_t yk_broad_memory(const yk_broad *broad);

/* Collision ------------------------------------------------------------------------------------ */

/* General pairs whose contacts are found together. */
enum { YK_BATCH_PAIRS = 1024 };

/* The list of near pairs, and the poses for which it was built. */
typedef struct yk_near_list {
    yk_broad pairs;
    double margin;      /* range of the list; 0: there is none */
    double wall_margin; /* the same for pairs with an unbounded solid */
    yk_ball *balls;     /* of all parts */
    /* of parts that are not round: ordered by extent_of, then the unbounded ones */
    yk_quat *orientations;
    uint8_t *absent; /* yk_collision.absent at the time of the build */
    double reach;    /* distance from the center of unbounded solids to the farthest ball */
    double skin;     /* last chosen skin */
    size_t age;      /* steps */
    /* General pairs, which are taken out of the rows of the broad phase. */
    size_t general_count, general_capacity;
    int32_t (*general)[2];
} yk_near_list;

typedef struct yk_collision {
    yk_pool *pool;
    const yk_world_model *model;
    const yk_world_state *state;

    yk_ball *balls;        /* present finite parts */
    yk_solid *unbounded;   /* present unbounded parts */
    int32_t *extent_of;    /* per finite part: index in half_extents; -1: round */
    yk_vec3 *half_extents; /* half edges of boxes along the axes */
    size_t extent_count;
    uint8_t *still;  /* per part: asleep or not moving in this step; NULL: bodies do not sleep */
    uint8_t *absent; /* per finite part: its body is absent; NULL: none is */
    yk_near_list near;
    bool rebuilt; /* the list was rebuilt in this step */

    yk_contact_list found;
    yk_touch *touches; /* of the general contacts */
    yk_pair *pairs;    /* of all contacts: the nodes of the contact problem */
    /* kinds of yk_pair with lever arms along the normal; and with rolling resistance */
    int32_t round_kind, rolling_kind;

    /* Workspace of the search */
    yk_touch *batch; /* one batch of general pairs */
    int *batch_counts;
    int32_t *mesh_last,
        *mesh_link;   /* chains of contacts with the triangles of a mesh; NULL: no mesh */
    double *partials; /* one per chunk of parts */

    /* Data of parallel loops over chunks. */
    double h; /* the step */
    /* gaps between the envelope and this limit count if the pair closes them within the step */
    double reach;
    bool counting;      /* first pass over rows: only count the contacts of each */
    size_t batch_first; /* general pair of the batch */
    yk_vec3 common;     /* displacement or velocity that all parts share */
} yk_collision;

/* Model and state, owned by the caller. */
yk_status yk_collision_create(yk_pool *pool, const yk_world_model *model,
                              const yk_world_state *state, yk_collision *collision);
void yk_collision_destroy(yk_collision *collision);
size_t yk_collision_bytes(const yk_collision *collision);

/* neighbor_list.c: updates the poses of the solids and a list of near pairs that contains all gaps
 * up to `reach`. */
yk_status yk_collision_update_list(yk_collision *collision, double h, double *reach);
void yk_collision_forget_list(yk_collision *collision);
yk_solid yk_world_solid(const yk_world_model *model, const yk_world_state *state, size_t part);
yk_vec3 yk_world_part_centre(const yk_world_model *model, const yk_world_state *state, size_t part);
/* Whether two parts can never touch: parts of one body, of different worlds, or of two bodies with
 * known motion. */
bool yk_world_may_touch(const void *model, size_t a, size_t b);
/* Whether groups, masks and exclusions of a frozen model allow two parts to touch. */
bool yk_world_layers_meet(const yk_world_model *model, const yk_part *a, const yk_part *b);

/* contact_detection.c: fills `found`, `touches` and `pairs`. The second function gives the geometry
 * of a contact of that list, or of one found at the same poses. */
yk_status yk_collision_search(yk_collision *collision, double h);
yk_touch yk_collision_touch(const yk_collision *collision, const yk_contact_list *list,
                            size_t contact);

#endif
