/* Which solids may touch soon (the broad phase): a list of pairs that stays valid while nothing
 * has moved far.
 *
 * Every finite solid has a ball and a box about it. Balls are put in cells of a grid by the place
 * of their centre; the cell is as wide as the ball, so that whatever comes near is in one of the
 * 27 cells around. Solids of different size live in different levels, each with cells twice as
 * wide as the one below:
 *
 *   level 2  |               |               |      a solid looks for partners in its own level (those with a larger
 *   level 1  |   o   |       |       |   o   |      number, so that a pair is found once) and in the coarser levels
 *   level 0  | o | o |   | o |   |   | o |   |
 *
 * Cells are never stored: the solids of a level are sorted by cell (radix sort, rows of cells
 * along x), and nine cursors, one per neighbouring row, move along with the solid that looks.
 * Work and memory are linear in the number of solids, wherever they are. Unbounded solids
 * (planes, cavities) are compared with every ball.
 *
 * Where space repeats itself, centres are brought into the first period, and balls near its faces are
 * there a second time, as images beyond the opposite face: an image is found, and does not look.
 *
 *        low                        high
 *   (2)   |  1               2       |  (1)        2 looks to the right and finds the image of 1
 *
 * A ball must be found only once, so that two of them with the margin have to fit into half a period.
 *
 * The list is in rows: row i has the partners of solid i in rising order. Its contents depend on
 * how old it is, but the pairs nearer than the margin, and their order, do not: contacts are the
 * same bits whether the list is fresh or old.
 */
#ifndef YK_NONSMOOTH_BROAD_H
#define YK_NONSMOOTH_BROAD_H

#include "base/pool.h"
#include "nonsmooth/collide.h"

typedef struct yk_ball {
    yk_vec3 centre;
    double radius;
} yk_ball;

/* What the broad phase needs to know of the solids, numbered from 0; the finite ones come first. */
typedef struct yk_broad_input {
    size_t finite, unbounded;
    const yk_ball *balls; /* finite */
    yk_vec3 low, period;  /* space repeats itself from `low` on; 0: not in this direction */
    /* finite: index in half_extents, -1 for spheres; NULL: all are spheres */
    const int32_t *extent_of;
    const yk_vec3 *half_extents; /* boxes along the axes */
    const yk_solid *unbounded_solids;
    const uint8_t *
        still; /* NULL: none; of two that do not move there is no pair, and where all around are still, no
                             search */
    const uint8_t *absent; /* of finite ones: left out; NULL: none is */
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
    /* Work space of a build: an entry for each that is there, and for its images. */
    size_t entry_capacity;
    uint64_t *keys, *spare_keys;
    uint32_t *order, *spare_order;
    yk_ball
        *sorted; /* where they are, in the order of cells, so that a search reads memory in order */
    int32_t *found; /* rows of a first pass, chunk by chunk */
    uint8_t *level;
    /* The build itself, of solids that the caller has for so long. */
    const yk_broad_input *input;
    double margin, wall_margin;
    yk_vec3 origin; /* low corner of all centres */
    double largest; /* radius of all */
    bool periodic;  /* in some direction */
    uint32_t mask;  /* of the solid in an entry of the order */
    size_t entries; /* in the sorted order: all that are there */
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

#endif
