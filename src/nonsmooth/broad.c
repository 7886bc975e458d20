#include "nonsmooth/broad.h"

#include <string.h>

enum {
    LEVELS_MAX = 32,
    CELL_BITS = 20, /* per direction; cells beyond share the outermost one, which costs time and nothing else */
    CELL_LAST = (1 << CELL_BITS) - 2,
    ROWS_CHUNK = 512,
    DIGIT_BITS = 10,
    DIGITS = 1 << DIGIT_BITS,
    FEW = 8 /* a coarser level of no more than this is compared one by one */
};

typedef struct grid_level {
    double cell;
    size_t begin, end; /* in the sorted order */
} grid_level;

typedef struct build_job {
    yk_broad *broad;
    const yk_broad_input *input;
    double margin, wall_margin;
    yk_vec3 origin;
    int level_count;
    grid_level levels[LEVELS_MAX];
    bool counting; /* first pass: only lengths of rows */
} build_job;

yk_status yk_broad_create(yk_context *context, yk_pool *pool, size_t finite, yk_broad *broad)
{
    *broad = (yk_broad){.context = context, .pool = pool, .finite = finite};
    broad->partner_capacity = 8 * finite + 64;
    broad->row_start = yk_allocate(context, finite + 1, sizeof *broad->row_start);
    broad->partners = yk_reallocate(context, NULL, broad->partner_capacity, sizeof *broad->partners);
    broad->keys = yk_reallocate(context, NULL, finite, sizeof *broad->keys);
    broad->spare_keys = yk_reallocate(context, NULL, finite, sizeof *broad->spare_keys);
    broad->order = yk_reallocate(context, NULL, finite, sizeof *broad->order);
    broad->spare_order = yk_reallocate(context, NULL, finite, sizeof *broad->spare_order);
    broad->sorted = yk_reallocate(context, NULL, finite, sizeof *broad->sorted);
    broad->level = yk_reallocate(context, NULL, finite, sizeof *broad->level);
    if (broad->row_start && broad->partners && broad->keys && broad->spare_keys && broad->order && broad->spare_order &&
        broad->sorted && broad->level)
        return YK_OK;
    yk_broad_destroy(broad);
    return YK_ERROR_MEMORY;
}

void yk_broad_destroy(yk_broad *broad)
{
    if (!broad->context) return;
    yk_release(broad->context, broad->row_start);
    yk_release(broad->context, broad->partners);
    yk_release(broad->context, broad->keys);
    yk_release(broad->context, broad->spare_keys);
    yk_release(broad->context, broad->order);
    yk_release(broad->context, broad->spare_order);
    yk_release(broad->context, broad->sorted);
    yk_release(broad->context, broad->level);
    *broad = (yk_broad){0};
}

size_t yk_broad_memory(const yk_broad *broad)
{
    size_t per_solid =
        sizeof *broad->row_start + 2 * sizeof *broad->keys + 2 * sizeof *broad->order + sizeof *broad->sorted + 1;
    return broad->finite * per_solid + broad->partner_capacity * sizeof *broad->partners;
}

/* Cells ------------------------------------------------------------------------------------------------------------ */

/* Numbered from 1, so that the neighbour on the low side has a number too. */
static uint64_t cell_number(double offset, double cell)
{
    double number = floor(offset / cell);
    if (!(number > 0)) return 1;
    return number < CELL_LAST ? (uint64_t)number + 1 : CELL_LAST;
}

static uint64_t cell_key(uint64_t x, uint64_t y, uint64_t z)
{
    return (z << (2 * CELL_BITS)) | (y << CELL_BITS) | x;
}

/* Smallest and largest radius and the low corner of all centres. */
static void find_bounds(const yk_broad_input *input, double *smallest, double *largest, yk_vec3 *low)
{
    *smallest = INFINITY;
    *largest = 0;
    *low = yk_v3(INFINITY, INFINITY, INFINITY);
    for (size_t i = 0; i < input->finite; i++) {
        const yk_ball *ball = &input->balls[i];
        *smallest = fmin(*smallest, ball->radius);
        *largest = fmax(*largest, ball->radius);
        low->x = fmin(low->x, ball->centre.x);
        low->y = fmin(low->y, ball->centre.y);
        low->z = fmin(low->z, ball->centre.z);
    }
}

static void choose_levels(build_job *job)
{
    double smallest, largest;
    find_bounds(job->input, &smallest, &largest, &job->origin);
    double cell = 2 * smallest + job->margin;
    job->level_count = 1;
    job->levels[0].cell = cell;
    while (cell < 2 * largest + job->margin && job->level_count < LEVELS_MAX) {
        cell *= 2;
        job->levels[job->level_count++].cell = cell;
    }
    /* Beyond 2^32 between the sizes the last level takes all. */
    if (cell < 2 * largest + job->margin) job->levels[job->level_count - 1].cell = 2 * largest + job->margin;
}

static int level_of(const build_job *job, double radius)
{
    int level = 0;
    while (level < job->level_count - 1 && job->levels[level].cell < 2 * radius + job->margin) level++;
    return level;
}

static uint64_t key_of(const build_job *job, const yk_ball *ball, int level)
{
    double cell = job->levels[level].cell;
    yk_vec3 offset = yk_v3_sub(ball->centre, job->origin);
    return cell_key(cell_number(offset.x, cell), cell_number(offset.y, cell), cell_number(offset.z, cell));
}

/* Sorting ---------------------------------------------------------------------------------------------------------- */

/* Stable radix sort of one digit; returns false and leaves everything in place when all keys have the same digit. */
static bool sort_digit(const uint64_t *keys, const uint32_t *order, size_t count, int shift, uint64_t *out_keys,
                       uint32_t *out_order)
{
    size_t start[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) start[(keys[i] >> shift) & (DIGITS - 1)]++;
    if (start[(keys[0] >> shift) & (DIGITS - 1)] == count) return false;
    size_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        size_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        size_t to = start[(keys[i] >> shift) & (DIGITS - 1)]++;
        out_keys[to] = keys[i];
        out_order[to] = order[i];
    }
    return true;
}

static void sort_level(yk_broad *broad, size_t begin, size_t end)
{
    if (begin == end) return;
    uint64_t *keys = broad->keys + begin, *other_keys = broad->spare_keys + begin;
    uint32_t *order = broad->order + begin, *other_order = broad->spare_order + begin;
    for (int shift = 0; shift < 3 * CELL_BITS; shift += DIGIT_BITS) {
        if (!sort_digit(keys, order, end - begin, shift, other_keys, other_order)) continue;
        uint64_t *k = keys;
        uint32_t *o = order;
        keys = other_keys, other_keys = k;
        order = other_order, other_order = o;
    }
    if (keys == broad->keys + begin) return;
    memcpy(broad->keys + begin, keys, (end - begin) * sizeof *keys);
    memcpy(broad->order + begin, order, (end - begin) * sizeof *order);
}

static void sort_into_cells(build_job *job)
{
    yk_broad *broad = job->broad;
    size_t count[LEVELS_MAX] = {0};
    for (size_t i = 0; i < broad->finite; i++) {
        broad->level[i] = (uint8_t)level_of(job, job->input->balls[i].radius);
        count[broad->level[i]]++;
    }
    size_t at = 0;
    for (int l = 0; l < job->level_count; l++) {
        job->levels[l].begin = job->levels[l].end = at;
        at += count[l];
    }
    for (size_t i = 0; i < broad->finite; i++) {
        size_t place = job->levels[broad->level[i]].end++;
        broad->keys[place] = key_of(job, &job->input->balls[i], broad->level[i]);
        broad->order[place] = (uint32_t)i;
    }
    for (int l = 0; l < job->level_count; l++) sort_level(broad, job->levels[l].begin, job->levels[l].end);
    for (size_t k = 0; k < broad->finite; k++) broad->sorted[k] = job->input->balls[broad->order[k]];
}

/* Pairs ------------------------------------------------------------------------------------------------------------ */

static yk_vec3 box_of(const yk_broad_input *input, size_t i)
{
    int32_t extent = input->extent_of ? input->extent_of[i] : -1;
    double r = input->balls[i].radius;
    return extent < 0 ? yk_v3(r, r, r) : input->half_extents[extent];
}

static bool boxes_near(const yk_broad_input *input, size_t a, size_t b, double margin)
{
    yk_vec3 d = yk_v3_sub(input->balls[a].centre, input->balls[b].centre);
    yk_vec3 ea = box_of(input, a), eb = box_of(input, b);
    return fabs(d.x) < ea.x + eb.x + margin && fabs(d.y) < ea.y + eb.y + margin && fabs(d.z) < ea.z + eb.z + margin;
}

/* Whether the ball is near the k-th in the order of cells. */
static inline bool balls_near(const build_job *job, const yk_ball *ball, size_t k)
{
    const yk_ball *other = &job->broad->sorted[k];
    double x = ball->centre.x - other->centre.x, y = ball->centre.y - other->centre.y,
           z = ball->centre.z - other->centre.z;
    double reach = ball->radius + other->radius + job->margin;
    return x * x + y * y + z * z < reach * reach;
}

static bool both_still(const build_job *job, size_t a, size_t b)
{
    return job->input->still && job->input->still[a] && job->input->still[b];
}

static bool may_pair(const build_job *job, size_t a, size_t b)
{
    const yk_broad_input *input = job->input;
    if (both_still(job, a, b)) return false;
    if (input->extent_of && (input->extent_of[a] >= 0 || input->extent_of[b] >= 0) &&
        !boxes_near(input, a, b, job->margin))
        return false;
    return !input->may_touch || input->may_touch(input->user, a, b);
}

/* A row under construction: counts in the first pass, fills in the second. */
static void add_partner(build_job *job, size_t row, size_t partner, uint32_t *length)
{
    if (!job->counting) job->broad->partners[job->broad->row_start[row] + *length] = (int32_t)partner;
    (*length)++;
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

static void search_coarse_cells(build_job *job, size_t i, const grid_level *level, uint32_t *length)
{
    const yk_broad *broad = job->broad;
    const yk_ball *ball = &job->input->balls[i];
    yk_vec3 p = yk_v3_sub(ball->centre, job->origin);
    double reach = ball->radius + (level->cell + job->margin) / 2, cell = level->cell;
    uint64_t x0 = cell_number(p.x - reach, cell), x1 = cell_number(p.x + reach, cell);
    uint64_t y1 = cell_number(p.y + reach, cell), z1 = cell_number(p.z + reach, cell);
    for (uint64_t z = cell_number(p.z - reach, cell); z <= z1; z++) {
        for (uint64_t y = cell_number(p.y - reach, cell); y <= y1; y++) {
            uint64_t last = cell_key(x1, y, z);
            size_t k = first_not_below(broad->keys, level->begin, level->end, cell_key(x0, y, z));
            for (; k < level->end && broad->keys[k] <= last; k++)
                if (balls_near(job, ball, k) && may_pair(job, i, broad->order[k]))
                    add_partner(job, i, broad->order[k], length);
        }
    }
}

static void search_coarser(build_job *job, size_t i, int level, uint32_t *length)
{
    const yk_broad *broad = job->broad;
    for (int l = level + 1; l < job->level_count; l++) {
        const grid_level *coarse = &job->levels[l];
        if (coarse->end - coarse->begin > FEW) {
            search_coarse_cells(job, i, coarse, length);
            continue;
        }
        for (size_t k = coarse->begin; k < coarse->end; k++)
            if (balls_near(job, &job->input->balls[i], k) && may_pair(job, i, broad->order[k]))
                add_partner(job, i, broad->order[k], length);
    }
}

static void search_unbounded(build_job *job, size_t i, uint32_t *length)
{
    const yk_broad_input *input = job->input;
    const yk_ball *ball = &input->balls[i];
    for (size_t k = 0; k < input->unbounded; k++) {
        size_t partner = input->finite + k;
        if (both_still(job, i, partner)) continue;
        if (yk_solid_clearance(&input->unbounded_solids[k], ball->centre) >= ball->radius + job->wall_margin) continue;
        if (!input->may_touch || input->may_touch(input->user, i, partner)) add_partner(job, i, partner, length);
    }
}

static void sort_row(int32_t *row, uint32_t length)
{
    for (uint32_t i = 1; i < length; i++) {
        int32_t value = row[i];
        uint32_t at = i;
        for (; at > 0 && row[at - 1] > value; at--) row[at] = row[at - 1];
        row[at] = value;
    }
}

typedef struct row_cursors {
    size_t at[9];   /* first solid of the three cells around, in each of the neighbouring rows of cells */
    size_t past[9]; /* and the first one after them; kept up for solids that are still */
} row_cursors;

static uint64_t shifted(uint64_t key, int row)
{
    int64_t shift =
        (int64_t)(row % 3 - 1) * (INT64_C(1) << CELL_BITS) + (int64_t)(row / 3 - 1) * (INT64_C(1) << (2 * CELL_BITS));
    return (uint64_t)((int64_t)key + shift);
}

/* Solids that move, in the order of cells up to the k-th. */
static void count_moving(const build_job *job)
{
    const yk_broad *broad = job->broad;
    uint32_t moving = 0;
    for (size_t k = 0; job->input->still && k < broad->finite; k++) {
        moving += !job->input->still[broad->order[k]];
        broad->spare_order[k] = moving;
    }
}

static bool some_move(const yk_broad *broad, size_t begin, size_t end)
{
    uint32_t before = begin > 0 ? broad->spare_order[begin - 1] : 0;
    return begin < end && broad->spare_order[end - 1] > before;
}

static void search_own_level(build_job *job, const grid_level *level, size_t entry, row_cursors *cursors,
                             uint32_t *length)
{
    const yk_broad *broad = job->broad;
    const uint64_t *keys = broad->keys;
    size_t i = broad->order[entry];
    const yk_ball ball = broad->sorted[entry];
    for (int row = 0; row < 9; row++) {
        uint64_t middle = shifted(keys[entry], row);
        size_t k = cursors->at[row];
        while (k < level->end && keys[k] < middle - 1) k++;
        cursors->at[row] = k;
        if (job->input->still && job->input->still[i]) {
            size_t past = cursors->past[row] > k ? cursors->past[row] : k;
            while (past < level->end && keys[past] <= middle + 1) past++;
            cursors->past[row] = past;
            if (!some_move(broad, k, past)) continue;
        }
        for (; k < level->end && keys[k] <= middle + 1; k++)
            if (balls_near(job, &ball, k) && broad->order[k] > i && may_pair(job, i, broad->order[k]))
                add_partner(job, i, broad->order[k], length);
    }
}

static void search_level_chunk(build_job *job, int l, size_t begin, size_t end)
{
    yk_broad *broad = job->broad;
    const grid_level *level = &job->levels[l];
    row_cursors cursors = {{0}, {0}};
    for (int row = 0; row < 9; row++)
        cursors.at[row] = first_not_below(broad->keys, level->begin, level->end, shifted(broad->keys[begin], row) - 1);
    for (size_t entry = begin; entry < end; entry++) {
        size_t i = broad->order[entry];
        uint32_t length = 0;
        search_own_level(job, level, entry, &cursors, &length);
        search_coarser(job, i, l, &length);
        search_unbounded(job, i, &length);
        if (job->counting)
            broad->row_start[i + 1] = length;
        else
            sort_row(broad->partners + broad->row_start[i], length);
    }
}

/* A chunk of the sorted order may cross from one level to the next. */
static void search_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    build_job *job = user;
    for (int l = 0; l < job->level_count; l++) {
        size_t from = begin > job->levels[l].begin ? begin : job->levels[l].begin;
        size_t to = end < job->levels[l].end ? end : job->levels[l].end;
        if (from < to) search_level_chunk(job, l, from, to);
    }
}

static yk_status add_up_rows(yk_broad *broad)
{
    uint64_t sum = 0;
    broad->row_start[0] = 0;
    for (size_t i = 1; i <= broad->finite; i++) {
        sum += broad->row_start[i];
        if (sum > INT32_MAX)
            return yk_fail(broad->context, YK_ERROR_ARGUMENT,
                           "more than 2^31 pairs of near solids: use a smaller envelope or step");
        broad->row_start[i] = (uint32_t)sum;
    }
    broad->partner_count = (size_t)sum;
    if (broad->partner_count <= broad->partner_capacity) return YK_OK;
    size_t capacity = broad->partner_count + broad->partner_count / 4;
    int32_t *partners = yk_reallocate(broad->context, broad->partners, capacity, sizeof *partners);
    if (!partners) return YK_ERROR_MEMORY;
    broad->partners = partners;
    broad->partner_capacity = capacity;
    return YK_OK;
}

yk_status yk_broad_build(yk_broad *broad, const yk_broad_input *input, double margin, double wall_margin)
{
    broad->partner_count = 0;
    if (broad->finite == 0) return YK_OK;
    build_job job = {.broad = broad, .input = input, .margin = margin, .wall_margin = wall_margin, .counting = true};
    choose_levels(&job);
    sort_into_cells(&job);
    count_moving(&job);
    yk_pool_run(broad->pool, broad->finite, ROWS_CHUNK, search_chunk, &job);
    yk_status status = add_up_rows(broad);
    if (status < 0) return status;
    job.counting = false;
    yk_pool_run(broad->pool, broad->finite, ROWS_CHUNK, search_chunk, &job);
    return YK_OK;
}
