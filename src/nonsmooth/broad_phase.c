/* The broad phase: a list of the pairs of solids that may touch soon, which remains valid until
 * something has moved far.
 *
 * Every finite solid has a ball and a box around it. Balls are assigned to cells of a grid by their
 * centers. A cell is as wide as the ball, so that all neighbours are in the 27 surrounding cells.
 * Solids of different size are in different levels, each with cells twice as wide as those of the
 * level below:
 *
 *   level 2  | | | a solid searches its own level (for solids with a larger
 *   level 1  | o | | | o | number, so that a pair is found once) and the coarser levels
 *   level 0  | o | o |   | o |   |   | o |   |
 *
 * Cells are not stored: the solids of a level are sorted by cell (radix sort, rows of cells along
 * x), and nine cursors, one per neighbouring row, move along with the searching solid. Time and
 * memory are linear in the number of solids, wherever they are. Unbounded solids (planes, cavities)
 * are compared with every ball.
 *
 * If space is periodic, centers are moved to the first period, and balls near its faces have images
 * beyond the opposite face. An image can be found, but does not search.
 *
 *        low                        high
 *   (2)   |  1               2       |  (1)        2 searches to the right and finds the image of 1
 *
 * A ball must be found only once, so two balls and the margin must fit into half a period.
 *
 * The list has rows: row i contains the partners of solid i in ascending order. Its contents depend
 * on its age, but the pairs nearer than the margin, and their order, do not: contacts are the same
 * bit for bit whether the list is new or old. */
#include <string.h>

#include "base/context.h"
#include "nonsmooth/collision.h"

enum {
    /* per direction; cells beyond share the outermost one, which only costs time */
    CELL_BITS = 20,
    CELL_LAST = (1 << CELL_BITS) - 2,
    ROWS_CHUNK = 512,
    DIGIT_BITS = 10,
    DIGITS = 1 << DIGIT_BITS,
    SORT_PARTS = 64,      /* of a level, sorted by different threads */
    SORT_PART_MIN = 8192, /* entries */
    /* bits of the solid number in an entry; the bits above are the code of the image */
    SOLID_BITS = 26,
    SOLID_MASK = (1 << SOLID_BITS) - 1,
    FEW = 8,        /* a coarser level with at most this number of solids is compared one by one */
    FOUND_MAX = 12, /* partners per entry for which a chunk has memory in the first pass */
    BLOCKS_MAX = 10
};

/* Memory --------------------------------------------------------------------------------------- */

/* Counts of digits: enough for the parts of all entries, images included. */
static size_t count_entries(size_t finite)
{
    size_t parts = 8 * finite / SORT_PART_MIN + 1;
    return DIGITS * (parts < SORT_PARTS ? parts : SORT_PARTS);
}

static size_t list_blocks(yk_broad *broad, yk_block *list)
{
    size_t finite = broad->finite, entries = broad->entry_capacity;
    const yk_block blocks[] = {
        YK_BLOCK(broad->row_start, finite + 1), YK_BLOCK(broad->partners, broad->partner_capacity),
        YK_BLOCK(broad->keys, entries),         YK_BLOCK(broad->spare_keys, entries),
        YK_BLOCK(broad->order, entries),        YK_BLOCK(broad->spare_order, entries),
        YK_BLOCK(broad->sorted, entries),       YK_BLOCK(broad->found, FOUND_MAX * entries),
        YK_BLOCK(broad->level, finite),         YK_BLOCK(broad->counts, count_entries(finite)),
    };
    memcpy(list, blocks, sizeof blocks);
    return sizeof blocks / sizeof *blocks;
}

yk_status yk_broad_create(yk_context *context, yk_pool *pool, size_t finite, yk_broad *broad)
{
    *broad = (yk_broad){.context = context, .pool = pool, .finite = finite};

    /* An estimate; rows that need more get it when they are built. */
    broad->partner_capacity = 8 * finite + 64;
    broad->entry_capacity = finite;

    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(broad, blocks);
    yk_status status = yk_blocks_take(context, blocks, count);
    if (status != YK_OK) {
        yk_broad_destroy(broad);
        return status;
    }

    /* Rows are read before the first list is made. */
    memset(broad->row_start, 0, (finite + 1) * sizeof *broad->row_start);
    return YK_OK;
}

void yk_broad_destroy(yk_broad *broad)
{
    if (!broad->context)
        return;

    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(broad, blocks);

    yk_blocks_release(broad->context, blocks, count);
    *broad = (yk_broad){0};
}

size_t yk_broad_memory(const yk_broad *broad)
{
    yk_broad copy = *broad;
    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(&copy, blocks);
    return yk_blocks_bytes(blocks, count);
}

/* Cells ---------------------------------------------------------------------------------------- */

/* Numbered from 1, so that the neighbour on the low side has a number too. */
static uint64_t cell_number(double offset, double cell)
{
    double number = floor(offset / cell);
    if (!(number > 0))
        return 1;
    return number < CELL_LAST ? (uint64_t)number + 1 : CELL_LAST;
}

static uint64_t cell_key(uint64_t x, uint64_t y, uint64_t z)
{
    return (z << (2 * CELL_BITS)) | (y << CELL_BITS) | x;
}

static bool is_absent(const yk_broad *broad, size_t i)
{
    return broad->input->absent && broad->input->absent[i];
}

static size_t solid_at(const yk_broad *broad, size_t entry)
{
    return broad->order[entry] & broad->mask;
}

/* Move to the first period. */
static double wrap(double x, double low, double period)
{
    return period > 0 ? x - period * floor((x - low) / period) : x;
}

static yk_vec3 wrapped(const yk_broad *broad, yk_vec3 p)
{
    yk_vec3 low = broad->input->low, period = broad->input->period;
    if (!broad->periodic)
        return p;
    return yk_v3(wrap(p.x, low.x, period.x), wrap(p.y, low.y, period.y),
                 wrap(p.z, low.z, period.z));
}

/* Image of a coordinate in addition to itself: 0 none, 1 one period higher, 2 lower. Solids on the
 * other side of a face find it there. */
static uint32_t image_of(double x, double low, double period, double reach)
{
    double above = x - low;
    if (!(period > 0))
        return 0;
    if (above < 0.5 * period)
        return above < reach ? 1 : 0;
    return period - above < reach ? 2 : 0;
}

/* Displacement of an image, from its code. */
static double image_shift(uint32_t image, double period)
{
    if (image == 0)
        return 0;
    return image == 1 ? period : -period;
}

/* The images of a solid: at most one in each direction, and their combinations. Codes have two bits
 * for each direction; the first is the solid itself. */
static int list_images(const yk_broad *broad, size_t i, yk_vec3 *at, uint32_t codes[8])
{
    const yk_ball *ball = &broad->input->balls[i];
    *at = wrapped(broad, ball->centre);
    codes[0] = 0;
    if (!broad->periodic)
        return 1;

    /* A solid has an image only if it may touch something beyond a face. */
    yk_vec3 low = broad->input->low, period = broad->input->period;
    double reach = ball->radius + broad->largest + broad->margin;
    const uint32_t image[3] = {image_of(at->x, low.x, period.x, reach),
                               image_of(at->y, low.y, period.y, reach),
                               image_of(at->z, low.z, period.z, reach)};
    int count = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (image[axis] == 0)
            continue;

        /* Combine with all previous ones. */
        for (int k = 0; k < count; k++)
            codes[count + k] = codes[k] | image[axis] << (2 * axis);
        count *= 2;
    }

    return count;
}

static yk_vec3 image_at(const yk_broad *broad, yk_vec3 at, uint32_t code)
{
    yk_vec3 period = broad->input->period;
    return yk_v3(at.x + image_shift(code & 3, period.x),
                 at.y + image_shift(code >> 2 & 3, period.y),
                 at.z + image_shift(code >> 4 & 3, period.z));
}

static void choose_levels(yk_broad *broad)
{
    double smallest = INFINITY, largest = 0;
    yk_vec3 low = {INFINITY, INFINITY, INFINITY};

    /* The range of sizes, and the low corner from which cells are numbered. */
    for (size_t i = 0; i < broad->input->finite; i++) {
        const yk_ball *ball = &broad->input->balls[i];
        if (is_absent(broad, i))
            continue;

        smallest = fmin(smallest, ball->radius);
        largest = fmax(largest, ball->radius);
        yk_vec3 at = wrapped(broad, ball->centre);
        low.x = fmin(low.x, at.x);
        low.y = fmin(low.y, at.y);
        low.z = fmin(low.z, at.z);
    }

    /* Images are below the lowest. */
    double beyond = broad->periodic ? 2 * largest + broad->margin : 0;
    broad->origin = yk_v3_sub(low, yk_v3(beyond, beyond, beyond));
    broad->largest = largest;

    /* Cells of the finest level hold the smallest ball, each next level is twice as wide. */
    double cell = 2 * smallest + broad->margin;
    double widest = 2 * largest + broad->margin;
    broad->level_count = 1;
    broad->levels[0].cell = cell;
    while (cell < widest && broad->level_count < YK_BROAD_LEVELS) {
        cell *= 2;
        broad->levels[broad->level_count++].cell = cell;
    }

    /* If sizes differ by more than 2^32, the last level contains all larger ones. */
    if (cell < widest)
        broad->levels[broad->level_count - 1].cell = widest;
}

/* Sorting -------------------------------------------------------------------------------------- */

/* Stable radix sort of one digit, in parts: counts of each part, then places. */
typedef struct digit_sort {
    const uint64_t *keys;
    const uint32_t *order;
    int shift;
    uint64_t *out_keys;
    uint32_t *out_order;
    uint32_t *start; /* of each part: counts of its digits, then where they go */
} digit_sort;

static size_t digit_at(const digit_sort *sort, size_t i)
{
    return (sort->keys[i] >> sort->shift) & (DIGITS - 1);
}

static void count_digits(void *user, size_t begin, size_t end, size_t part)
{
    const digit_sort *sort = user;
    uint32_t *count = sort->start + DIGITS * part;
    memset(count, 0, DIGITS * sizeof *count);
    for (size_t i = begin; i < end; i++)
        count[digit_at(sort, i)]++;
}

/* In input order, which makes the sort stable. */
static void place_digits(void *user, size_t begin, size_t end, size_t part)
{
    const digit_sort *sort = user;
    uint32_t *start = sort->start + DIGITS * part;
    for (size_t i = begin; i < end; i++) {
        uint32_t to = start[digit_at(sort, i)]++;
        sort->out_keys[to] = sort->keys[i];
        sort->out_order[to] = sort->order[i];
    }
}

/* Returns false and changes nothing if all keys have the same digit. The result does not depend on the
 * number of parts. */
static bool sort_digit(yk_broad *broad, digit_sort *sort, size_t count)
{
    size_t size = count / SORT_PARTS + 1;
    if (size < SORT_PART_MIN)
        size = SORT_PART_MIN;
    size_t parts = (count - 1) / size + 1;
    yk_pool_run(broad->pool, count, size, count_digits, sort);

    /* From counts to the start of each digit in each part. */
    uint32_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        uint32_t before = sum;
        for (size_t k = 0; k < parts; k++) {
            uint32_t here = sort->start[DIGITS * k + d];
            sort->start[DIGITS * k + d] = sum;
            sum += here;
        }
        if (sum - before == count)
            return false;
    }

    yk_pool_run(broad->pool, count, size, place_digits, sort);
    return true;
}

/* Sorts the solids of one level by cell. */
static void sort_level(yk_broad *broad, size_t begin, size_t end)
{
    size_t count = end - begin;
    if (count == 0)
        return;

    /* Digit by digit, from the lowest; the two pairs of arrays exchange their roles. */
    digit_sort sort = {
        .keys = broad->keys + begin,
        .order = broad->order + begin,
        .out_keys = broad->spare_keys + begin,
        .out_order = broad->spare_order + begin,
        .start = broad->counts,
    };
    for (; sort.shift < 3 * CELL_BITS; sort.shift += DIGIT_BITS) {
        if (!sort_digit(broad, &sort, count))
            continue;

        /* The output is the next input, in one of two places. */
        bool spare = sort.keys == broad->keys + begin;
        sort.keys = (spare ? broad->spare_keys : broad->keys) + begin;
        sort.order = (spare ? broad->spare_order : broad->order) + begin;
        sort.out_keys = (spare ? broad->keys : broad->spare_keys) + begin;
        sort.out_order = (spare ? broad->order : broad->spare_order) + begin;
    }

    /* After an odd number of digits the result is in the spare arrays. */
    if (sort.keys == broad->keys + begin)
        return;

    memcpy(broad->keys + begin, sort.keys, count * sizeof *sort.keys);
    memcpy(broad->order + begin, sort.order, count * sizeof *sort.order);
}

/* Allocates entries; reallocation is needed only if there are more images than ever before. */
static yk_status reserve_entries(yk_broad *broad, size_t entries)
{
    if (entries <= broad->entry_capacity)
        return YK_OK;

    /* A quarter more, so that a few more images need no reallocation. */
    size_t capacity = entries + entries / 4;
    struct {
        void *list;
        size_t size;
    } const arrays[] = {
        {&broad->keys, sizeof *broad->keys},     {&broad->spare_keys, sizeof *broad->spare_keys},
        {&broad->order, sizeof *broad->order},   {&broad->spare_order, sizeof *broad->spare_order},
        {&broad->sorted, sizeof *broad->sorted}, {&broad->found, FOUND_MAX * sizeof *broad->found},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void **list = arrays[i].list;
        void *grown = yk_reallocate(broad->context, *list, capacity, arrays[i].size);
        if (!grown)
            return YK_ERROR_MEMORY;
        *list = grown;
    }

    broad->entry_capacity = capacity;
    return YK_OK;
}

/* Balls in the order of the cells. */
static void gather_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const yk_broad *broad = user;

    for (size_t k = begin; k < end; k++) {
        broad->sorted[k] = broad->input->balls[solid_at(broad, k)];
        if (broad->periodic)
            broad->sorted[k].centre = image_at(broad, wrapped(broad, broad->sorted[k].centre),
                                               broad->order[k] >> SOLID_BITS);
    }
}

static yk_status sort_into_cells(yk_broad *broad)
{
    const yk_ball *balls = broad->input->balls;
    uint32_t codes[8];
    yk_vec3 at;

    /* Assign each solid, with its images, to the finest level whose cells can contain its ball. */
    size_t count[YK_BROAD_LEVELS] = {0};
    for (size_t i = 0; i < broad->finite; i++) {
        if (is_absent(broad, i))
            continue;

        double width = 2 * balls[i].radius + broad->margin;
        int level = 0;
        while (level < broad->level_count - 1 && broad->levels[level].cell < width)
            level++;

        broad->level[i] = (uint8_t)level;
        count[level] += (size_t)list_images(broad, i, &at, codes);
    }

    /* Levels follow each other in the sorted order. */
    size_t begin = 0;
    for (int l = 0; l < broad->level_count; l++) {
        broad->levels[l].begin = broad->levels[l].end = begin;
        begin += count[l];
    }

    broad->entries = begin;
    yk_status status = reserve_entries(broad, begin);
    if (status != YK_OK)
        return status;

    /* Keys of the cells that the centres lie in. */
    for (size_t i = 0; i < broad->finite; i++) {
        if (is_absent(broad, i))
            continue;

        uint8_t level = broad->level[i];
        double cell = broad->levels[level].cell;
        int images = list_images(broad, i, &at, codes);
        for (int k = 0; k < images; k++) {
            yk_vec3 p = yk_v3_sub(image_at(broad, at, codes[k]), broad->origin);
            size_t entry = broad->levels[level].end++;
            broad->keys[entry] =
                cell_key(cell_number(p.x, cell), cell_number(p.y, cell), cell_number(p.z, cell));
            broad->order[entry] = (uint32_t)i;
            if (broad->periodic)
                broad->order[entry] |= codes[k] << SOLID_BITS;
        }
    }

    /* Sort by cells, so that neighbours in space are neighbours in memory. */
    for (int l = 0; l < broad->level_count; l++)
        sort_level(broad, broad->levels[l].begin, broad->levels[l].end);

    /* Balls in the same order, for sequential reading. */
    yk_pool_run(broad->pool, broad->entries, ROWS_CHUNK, gather_chunk, broad);
    return YK_OK;
}

/* Pairs ---------------------------------------------------------------------------------------- */

static yk_vec3 box_of(const yk_broad_input *input, size_t i)
{
    double r = input->balls[i].radius;
    int32_t extent = input->extent_of[i];
    return extent < 0 ? yk_v3(r, r, r) : input->half_extents[extent];
}

/* Whether the ball is near the k-th ball in the order of cells. */
static inline bool balls_near(const yk_broad *broad, const yk_ball *ball, size_t k)
{
    const yk_ball *other = &broad->sorted[k];
    double x = ball->centre.x - other->centre.x;
    double y = ball->centre.y - other->centre.y;
    double z = ball->centre.z - other->centre.z;
    double reach = ball->radius + other->radius + broad->margin;
    return x * x + y * y + z * z < reach * reach;
}

static bool both_still(const yk_broad *broad, size_t a, size_t b)
{
    const uint8_t *still = broad->input->still;
    return still && still[a] && still[b];
}

/* The shortest distance of images, from that of the solids. */
static yk_vec3 nearest(const yk_broad *broad, yk_vec3 d)
{
    yk_vec3 period = broad->input->period;
    if (period.x > 0)
        d.x -= period.x * rint(d.x / period.x);
    if (period.y > 0)
        d.y -= period.y * rint(d.y / period.y);
    if (period.z > 0)
        d.z -= period.z * rint(d.z / period.z);
    return d;
}

/* For two solids whose balls are near. */
static bool may_pair(const yk_broad *broad, size_t a, size_t b)
{
    const yk_broad_input *input = broad->input;
    if (both_still(broad, a, b))
        return false;

    /* For solids other than spheres, boxes are more accurate than balls. */
    if (input->extent_of && (input->extent_of[a] >= 0 || input->extent_of[b] >= 0)) {
        yk_vec3 d = yk_v3_sub(input->balls[a].centre, input->balls[b].centre);
        if (broad->periodic)
            d = nearest(broad, d);
        yk_vec3 reach = yk_v3_add(box_of(input, a), box_of(input, b));
        double margin = broad->margin;
        bool near = fabs(d.x) < reach.x + margin && fabs(d.y) < reach.y + margin &&
                    fabs(d.z) < reach.z + margin;
        if (!near)
            return false;
    }

    return !input->may_touch || input->may_touch(input->user, a, b);
}

/* A row under construction. It is counted completely, even if its memory is full. */
typedef struct partner_row {
    int32_t *list;
    size_t room;
    uint32_t length;
} partner_row;

static void add_partner(partner_row *row, size_t partner)
{
    if (row->length < row->room)
        row->list[row->length] = (int32_t)partner;
    row->length++;
}

static size_t first_not_below(const uint64_t *keys, size_t begin, size_t end, uint64_t key)
{
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (keys[middle] < key)
            begin = middle + 1;
        else
            end = middle;
    }

    return begin;
}

/* Partners among the solids [k, end) of a coarser level, up to the cell with the last key. */
static void search_run(const yk_broad *broad, size_t i, const yk_ball *ball, size_t k, size_t end,
                       uint64_t last, partner_row *row)
{
    for (; k < end && broad->keys[k] <= last; k++) {
        size_t other = solid_at(broad, k);
        if (balls_near(broad, ball, k) && may_pair(broad, i, other))
            add_partner(row, other);
    }
}

static void search_coarser_level(const yk_broad *broad, size_t i, const yk_ball *ball, int level,
                                 partner_row *row)
{
    size_t begin = broad->levels[level].begin, end = broad->levels[level].end;
    if (end - begin <= FEW) {
        search_run(broad, i, ball, begin, end, UINT64_MAX, row);
        return;
    }

    /* All cells that may contain a partner's center, a run of them along x at a time. */
    yk_vec3 p = yk_v3_sub(ball->centre, broad->origin);
    double cell = broad->levels[level].cell;
    /* The largest ball of the level has the radius (cell - margin) / 2. */
    double reach = ball->radius + (cell + broad->margin) / 2;

    uint64_t x0 = cell_number(p.x - reach, cell), x1 = cell_number(p.x + reach, cell);
    uint64_t y0 = cell_number(p.y - reach, cell), y1 = cell_number(p.y + reach, cell);
    uint64_t z0 = cell_number(p.z - reach, cell), z1 = cell_number(p.z + reach, cell);
    for (uint64_t z = z0; z <= z1; z++) {
        for (uint64_t y = y0; y <= y1; y++) {
            size_t k = first_not_below(broad->keys, begin, end, cell_key(x0, y, z));
            search_run(broad, i, ball, k, end, cell_key(x1, y, z), row);
        }
    }
}

static void search_unbounded(const yk_broad *broad, size_t i, partner_row *row)
{
    const yk_broad_input *input = broad->input;
    const yk_ball *ball = &input->balls[i];

    for (size_t k = 0; k < input->unbounded; k++) {
        size_t partner = input->finite + k;
        if (both_still(broad, i, partner))
            continue;

        /* From the center of the ball, the distance to a wall is that of its nearest point. */
        double clearance = yk_solid_clearance(&input->unbounded_solids[k], ball->centre);
        if (clearance >= ball->radius + broad->wall_margin)
            continue;
        if (!input->may_touch || input->may_touch(input->user, i, partner))
            add_partner(row, partner);
    }
}

/* The cell of the same x in one of the nine rows around. */
static uint64_t neighbour_key(uint64_t key, int row)
{
    int64_t y = row % 3 - 1, z = row / 3 - 1;
    int64_t shift = y * (INT64_C(1) << CELL_BITS) + z * (INT64_C(1) << (2 * CELL_BITS));
    return (uint64_t)((int64_t)key + shift);
}

/* Partners in the own level with a larger number. The cursors move along with the searching solid:
 * `at` is the first solid of the three neighbouring cells in each of the neighbouring rows, `past`
 * the first one after them. The cursors are also updated for solids that do not move. */
static void search_own_level(const yk_broad *broad, int level, size_t entry, size_t at[9],
                             size_t past[9], partner_row *row)
{
    const uint64_t *keys = broad->keys;
    const yk_ball ball = broad->sorted[entry];
    size_t i = solid_at(broad, entry), end = broad->levels[level].end;
    bool still = broad->input->still && broad->input->still[i];

    for (int line = 0; line < 9; line++) {
        uint64_t middle = neighbour_key(keys[entry], line);

        /* Move the cursor to the first of the three cells. */
        size_t k = at[line];
        while (k < end && keys[k] < middle - 1)
            k++;
        at[line] = k;

        /* A solid that does not move is searched only if one of its neighbours moves; spare_order
         * contains counts of moving solids. */
        if (still) {
            size_t after = past[line] > k ? past[line] : k;
            while (after < end && keys[after] <= middle + 1)
                after++;
            past[line] = after;

            uint32_t before = k > 0 ? broad->spare_order[k - 1] : 0;
            if (k == after || broad->spare_order[after - 1] == before)
                continue;
        }

        /* The three neighbouring cells along x. */
        for (; k < end && keys[k] <= middle + 1; k++) {
            size_t other = solid_at(broad, k);
            if (balls_near(broad, &ball, k) && other > i && may_pair(broad, i, other))
                add_partner(row, other);
        }
    }
}

static void sort_row(int32_t *row, uint32_t length)
{
    for (uint32_t i = 1; i < length; i++) {
        int32_t value = row[i];
        uint32_t at = i;
        for (; at > 0 && row[at - 1] > value; at--)
            row[at] = row[at - 1];
        row[at] = value;
    }
}

/* Whether an entry has a row: images have none. */
static bool has_row(const yk_broad *broad, size_t entry)
{
    return solid_at(broad, entry) == broad->order[entry];
}

/* Finds the rows of solids [begin, end) of the sorted order, which may span several levels. If
 * `found` is not NULL, stores them there one after another with their lengths in row_start;
 * otherwise at their final places. */
static void search_rows(const yk_broad *broad, size_t begin, size_t end, int32_t *found)
{
    size_t room = FOUND_MAX * (end - begin);

    for (int l = 0; l < broad->level_count; l++) {
        /* The part of the chunk in this level. */
        size_t level_begin = broad->levels[l].begin, level_end = broad->levels[l].end;
        size_t from = begin > level_begin ? begin : level_begin;
        size_t to = end < level_end ? end : level_end;
        if (from >= to)
            continue;

        /* Cursors at the first solid of the chunk; from there on they only move forward. */
        size_t at[9], past[9] = {0};
        for (int line = 0; line < 9; line++) {
            uint64_t first = neighbour_key(broad->keys[from], line) - 1;
            at[line] = first_not_below(broad->keys, level_begin, level_end, first);
        }

        for (size_t entry = from; entry < to; entry++) {
            if (!has_row(broad, entry))
                continue;

            size_t i = solid_at(broad, entry);
            partner_row row = {.list = found, .room = room};
            if (!found)
                row = (partner_row){broad->partners + broad->row_start[i], SIZE_MAX, 0};

            /* Each pair once: at the solid of the finer level, or at the smaller number within a
             * level. */
            search_own_level(broad, l, entry, at, past, &row);
            for (int m = l + 1; m < broad->level_count; m++)
                search_coarser_level(broad, i, &broad->sorted[entry], m, &row);
            search_unbounded(broad, i, &row);
            if (!found)
                continue;

            /* The next row follows. If the memory is full, rows are only counted. */
            broad->row_start[i + 1] = row.length;
            size_t used = row.length < room ? row.length : room;
            found += used;
            room -= used;
        }
    }
}

/* First pass: rows and their lengths. */
static void find_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const yk_broad *broad = user;
    search_rows(broad, begin, end, broad->found + FOUND_MAX * begin);
}

/* Second pass, when the start of each row is known: store the partners in ascending order,
 * independent of the cells. */
static void place_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const yk_broad *broad = user;

    /* A chunk whose memory was too small searches again. */
    size_t total = 0;
    for (size_t entry = begin; entry < end; entry++) {
        size_t i = solid_at(broad, entry);
        if (has_row(broad, entry))
            total += broad->row_start[i + 1] - broad->row_start[i];
    }

    bool whole = total <= FOUND_MAX * (end - begin);
    if (!whole)
        search_rows(broad, begin, end, NULL);

    /* The first pass stored its rows one after another, in the order of cells. */
    const int32_t *found = broad->found + FOUND_MAX * begin;
    for (size_t entry = begin; entry < end; entry++) {
        if (!has_row(broad, entry))
            continue;

        size_t i = solid_at(broad, entry);
        int32_t *row = broad->partners + broad->row_start[i];
        uint32_t length = broad->row_start[i + 1] - broad->row_start[i];
        if (whole) {
            memcpy(row, found, length * sizeof *row);
            found += length;
        }
        sort_row(row, length);
    }
}

yk_status yk_broad_build(yk_broad *broad, const yk_broad_input *input, double margin,
                         double wall_margin)
{
    broad->partner_count = 0;
    if (broad->finite == 0)
        return YK_OK;

    broad->input = input;
    broad->margin = margin;
    broad->wall_margin = wall_margin;

    /* In periodic space, entries need bits for the image. */
    broad->mask = UINT32_MAX;
    broad->periodic = input->period.x > 0 || input->period.y > 0 || input->period.z > 0;
    if (broad->periodic)
        broad->mask = SOLID_MASK;
    if (broad->finite > broad->mask)
        return yk_fail(broad->context, YK_ERROR_ARGUMENT,
                       "%zu solids in periodic space, the limit is %d", broad->finite, SOLID_MASK);

    choose_levels(broad);
    yk_status status = sort_into_cells(broad);
    if (status != YK_OK)
        return status;

    /* Counts of moving solids in the order of cells, up to the k-th. */
    uint32_t moving = 0;
    for (size_t k = 0; input->still && k < broad->entries; k++) {
        moving += !input->still[solid_at(broad, k)];
        broad->spare_order[k] = moving;
    }

    /* First pass: rows and their lengths, whose sums are the starts. */
    memset(broad->row_start, 0, (broad->finite + 1) * sizeof *broad->row_start);
    yk_pool_run(broad->pool, broad->entries, ROWS_CHUNK, find_chunk, broad);

    uint64_t sum = 0;
    broad->row_start[0] = 0;
    for (size_t i = 1; i <= broad->finite; i++) {
        sum += broad->row_start[i];
        if (sum > INT32_MAX)
            return yk_fail(broad->context, YK_ERROR_ARGUMENT,
                           "more than 2^31 pairs of near solids: use a smaller envelope or step");
        broad->row_start[i] = (uint32_t)sum;
    }

    /* If there are more pairs than ever before, allocate more memory, with a margin. */
    broad->partner_count = (size_t)sum;
    if (broad->partner_count > broad->partner_capacity) {
        size_t capacity = broad->partner_count + broad->partner_count / 4;
        int32_t *partners =
            yk_reallocate(broad->context, broad->partners, capacity, sizeof *partners);
        if (!partners)
            return YK_ERROR_MEMORY;

        broad->partners = partners;
        broad->partner_capacity = capacity;
    }

    /* Second pass: store the rows. */
    yk_pool_run(broad->pool, broad->entries, ROWS_CHUNK, place_chunk, broad);
    return YK_OK;
}
