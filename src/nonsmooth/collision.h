/* Collision: where the solids are, which may touch soon, and which contacts there are now. It
 * reads the model and the state, and changes neither.
 *
 *   near.c      solids at their poses, and the list of near pairs that serves several steps
 *   search.c    contacts of the present configuration, in canonical order */
#ifndef YK_NONSMOOTH_COLLISION_H
#define YK_NONSMOOTH_COLLISION_H

#include "contact/network.h"
#include "nonsmooth/broad.h"
#include "nonsmooth/state.h"

/* General pairs whose contacts are found at a time. */
enum { YK_BATCH_PAIRS = 1024 };

/* The list of near pairs, and the poses for which it was made. */
typedef struct yk_near_list {
    yk_broad pairs;
    double margin;         /* reach of the list; 0: there is none */
    double wall_margin;    /* the same for pairs with an unbounded solid */
    yk_ball *balls;        /* of all parts */
    yk_quat *orientations; /* of parts that are not round: by extent_of, then the unbounded ones */
    uint8_t *absent;       /* as of yk_collision, when it was made */
    double reach;          /* from the centre of unbounded solids to the farthest ball */
    double skin;           /* as it was last chosen */
    size_t age;            /* steps */
    /* Pairs that leave the rows of the broad phase because they are not of round solids. */
    size_t general_count, general_capacity;
    int32_t (*general)[2];
} yk_near_list;

typedef struct yk_collision {
    yk_pool *pool;
    const yk_world_model *model;
    const yk_world_state *state;

    yk_ball *balls;        /* finite parts, now */
    yk_solid *unbounded;   /* the others, now */
    int32_t *extent_of;    /* per finite part: index in half_extents; -1: round */
    yk_vec3 *half_extents; /* of boxes along the axes */
    size_t extent_count;
    uint8_t *still;  /* per part: sleeps or does not move in this step; NULL: bodies do not sleep */
    uint8_t *absent; /* per finite part: its body is not there; NULL: all are */
    yk_near_list near;
    bool rebuilt; /* the list was made anew in this step */

    yk_contact_list found;
    yk_touch *touches; /* of the general contacts */
    yk_pair *pairs;    /* of all contacts: the nodes of the contact problem */
    /* yk_pair_kind of pairs with lever arms along the normal; and where rolling is resisted */
    int32_t round_kind, rolling_kind;

    /* Work space of the search */
    yk_touch *batch; /* one batch of general pairs */
    int *batch_counts;
    int32_t *mesh_last,
        *mesh_link;   /* chains of contacts with the triangles of a mesh; NULL: no mesh */
    double *partials; /* one per chunk of parts */

    /* What its loops over chunks share. */
    double h; /* the step */
    /* gaps beyond the envelope up to here count where the pair closes them within the step */
    double reach;
    bool counting;      /* first pass over rows: only the number of contacts of each */
    size_t batch_first; /* general pair of the batch */
    yk_vec3 common;     /* shift or velocity that all parts share */
} yk_collision;

/* Of the model and the state, which stay where they are. */
yk_status yk_collision_create(yk_pool *pool, const yk_world_model *model,
                              const yk_world_state *state, yk_collision *collision);
void yk_collision_destroy(yk_collision *collision);
size_t yk_collision_bytes(const yk_collision *collision);

/* near.c: solids at their poses and a list of near pairs that is good for gaps up to `reach`. */
yk_status yk_collision_update_list(yk_collision *collision, double h, double *reach);
void yk_collision_forget_list(yk_collision *collision);
yk_solid yk_world_solid(const yk_world_model *model, const yk_world_state *state, size_t part);
yk_vec3 yk_world_part_centre(const yk_world_model *model, const yk_world_state *state, size_t part);
/* Two parts of one body, of different worlds, or of two bodies whose motion is known, never
 * touch. */
bool yk_world_may_touch(const void *model, size_t a, size_t b);
/* Whether groups and masks let two parts touch. */
bool yk_world_layers_meet(const yk_world_model *model, const yk_part *a, const yk_part *b);

/* search.c: fills `found`, `touches` and `pairs`. Geometry of a contact of that list, or of one
 * made at the same poses. */
yk_status yk_collision_search(yk_collision *collision, double h);
yk_touch yk_collision_touch(const yk_collision *collision, const yk_contact_list *list,
                            size_t contact);

#endif
