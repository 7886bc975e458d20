/* The order of work: contacts that can be solved at the same time.
 *
 *   nodes       0 ... 127 | 128 ... 255 | ...      blocks of consecutive nodes, neighbours in space
 *   contacts    each is assigned to the block of its lower moving node
 *   blocks      colored greedily: blocks of one color share no node
 *   in a block contacts are assigned to open groups of four: the first open group that contains
 *   neither of the two nodes. For every node a mask of 64 bits has the open groups that contain it,
 *   so that a contact finds its group with one find-first-set operation
 *   strands     the contacts of a block are assigned in two halves, whose groups then alternate.
 *               Groups filled one after another have common nodes, so each would wait for the
 *               velocities of the one before; the halves are apart in space, so that the processor
 *               works on two groups at the same time
 *
 * Blocks of one color are also assigned at the same time, in the order in which they are solved.
 *
 * Contacts of nodes that very many contacts share (a freely moving container) would connect all
 * blocks; they form the tail, which one thread solves after the colors. */
#include <string.h>

#include "contact/network_data.h"

enum {
    BLOCK_NODES = 128,
    /* up to this number there is only one block: threads would mainly wait for each other */
    ONE_BLOCK_NODES = 2048,
    OPEN_GROUPS = 64,
    COLOURS_MAX = 64,
    CROWDED = 200 /* number of contacts of a node above which they go to the tail */
};

/* Moving nodes of a contact. */
enum { NOBODY, ONLY_A, ONLY_B, BOTH };

typedef struct dealt_group {
    uint32_t contact[LANES];
    uint32_t fill;
    uint32_t place; /* index among the groups of its kind and block */
} dealt_group;

typedef struct plan {
    yk_network *network;
    const yk_pair *pairs;
    size_t count, node_blocks;
    uint32_t *owner;       /* per contact: block, or node_blocks for the tail */
    uint32_t *order;       /* contacts sorted by block */
    uint32_t *begin;       /* of each block in order; node_blocks + 2 */
    uint32_t *number;      /* number of the block at each position in the network */
    uint64_t *open_mask;   /* per node: open groups that contain it */
    uint32_t *degree;      /* per node */
    uint64_t *colour_mask; /* per node: colors that touch it */
    uint8_t *colour;       /* per block */
    uint8_t *who;          /* per contact: its moving nodes */
    dealt_group *dealt;    /* groups of a block, from its first contact on, at most one each */
} plan;

/* One allocation for all arrays of the plan, reused for the next plan. */
static bool reserve_plan(plan *p)
{
    yk_network *network = p->network;
    size_t nodes = network->node_count;
    size_t blocks = p->node_blocks + 2;

    struct {
        void **array;
        size_t bytes;
    } parts[] = {
        {(void **)&p->owner, p->count * sizeof *p->owner},
        {(void **)&p->order, p->count * sizeof *p->order},
        {(void **)&p->begin, blocks * sizeof *p->begin},
        {(void **)&p->number, blocks * sizeof *p->number},
        {(void **)&p->open_mask, nodes * sizeof *p->open_mask},
        {(void **)&p->degree, nodes * sizeof *p->degree},
        {(void **)&p->colour_mask, nodes * sizeof *p->colour_mask},
        {(void **)&p->colour, blocks * sizeof *p->colour},
        {(void **)&p->who, p->count * sizeof *p->who},
        {(void **)&p->dealt, p->count * sizeof *p->dealt},
    };

    /* Each array begins at a cache line. */
    size_t total = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i].bytes = (parts[i].bytes + 63) / 64 * 64;
        total += parts[i].bytes;
    }
    if (!yk_array_reserve(network->context, &network->plan_array, total, 1))
        return false;

    unsigned char *at = network->plan_array.data;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        memcpy(parts[i].array, &at, sizeof at);
        at += parts[i].bytes;
    }

    memset(p->begin, 0, blocks * sizeof *p->begin);
    memset(p->open_mask, 0, nodes * sizeof *p->open_mask);
    memset(p->degree, 0, nodes * sizeof *p->degree);
    memset(p->colour_mask, 0, nodes * sizeof *p->colour_mask);
    return true;
}

/* Assigns contacts to blocks: that of the lower moving node, or the tail if a node has too many
 * contacts. */
static void assign_blocks(plan *p)
{
    /* Moving nodes of each contact, and number of contacts of each node with another moving node. */
    for (size_t i = 0; i < p->count; i++) {
        /* Both sides count, because contacts that share a moving node cannot be solved at the same
         * time. */
        const yk_pair *pair = &p->pairs[i];
        bool a = node_is_dynamic(p->network, pair->a);
        bool b = node_is_dynamic(p->network, pair->b);

        if (a && b) {
            p->who[i] = BOTH;
            p->degree[pair->a]++;
            p->degree[pair->b]++;
        } else if (a) {
            p->who[i] = ONLY_A;
        } else if (b) {
            p->who[i] = ONLY_B;
        } else {
            p->who[i] = NOBODY;
        }
    }

    /* The block of each contact. */
    for (size_t i = 0; i < p->count; i++) {
        const yk_pair *pair = &p->pairs[i];
        p->owner[i] = 0;
        if (p->node_blocks == 1)
            continue;

        /* Nodes with similar numbers are near each other in space. */
        int32_t home = pair->a;
        bool both = p->who[i] == BOTH;
        if (p->who[i] == ONLY_B || (both && pair->b < pair->a))
            home = pair->b;

        p->owner[i] = (uint32_t)home / BLOCK_NODES;

        /* A node with very many contacts would connect all blocks. */
        if (both && (p->degree[pair->a] > CROWDED || p->degree[pair->b] > CROWDED))
            p->owner[i] = (uint32_t)p->node_blocks;
    }

    /* Sort by block, stable; block k is order[begin[k]] to order[begin[k + 1]]. */
    uint32_t *end = p->begin + 1;
    for (size_t i = 0; i < p->count; i++)
        end[p->owner[i]]++;

    for (size_t k = 1; k <= p->node_blocks; k++)
        end[k] += end[k - 1];
    for (size_t i = p->count; i-- > 0;)
        p->order[--end[p->owner[i]]] = (uint32_t)i;

    for (size_t k = 0; k <= p->node_blocks; k++)
        p->begin[k] = end[k];
    p->begin[p->node_blocks + 1] = (uint32_t)p->count;
}

/* Dealing into groups -------------------------------------------------------------------------- */

/* Slots for contacts with two moving nodes, or with one. */
static uint8_t kind_of(const plan *p, uint32_t contact)
{
    if (p->who[contact] == NOBODY)
        return SLOT_IDLE;
    if (p->pairs[contact].kind == YK_PAIR_GENERAL)
        return SLOT_GENERAL;
    if (p->pairs[contact].kind == YK_PAIR_ROLLING)
        return SLOT_ROLLING;
    return p->who[contact] == BOTH ? SLOT_PAIR : SLOT_SINGLE;
}

/* The nodes of a contact, the moving one first. */
static void nodes_in_order(const plan *p, uint32_t contact, int32_t *a, int32_t *b)
{
    /* A contact with one node that moves is seen from that one. */
    const yk_pair *pair = &p->pairs[contact];
    if (p->who[contact] == ONLY_B) {
        *a = pair->b;
        *b = pair->a;
        return;
    }

    *a = pair->a;
    *b = pair->b;
}

/* The nodes of a closed group are available for other groups in its slot. */
static void free_nodes(plan *p, const dealt_group *group, uint64_t slot_bit)
{
    for (uint32_t lane = 0; lane < group->fill; lane++) {
        int32_t a;
        int32_t b;
        nodes_in_order(p, group->contact[lane], &a, &b);
        p->open_mask[a] &= ~slot_bit;
        if (p->who[group->contact[lane]] == BOTH)
            p->open_mask[b] &= ~slot_bit;
    }
}

/* Assigns the contacts [begin, end) of the order that are of one kind to groups from `next` on;
 * returns the end of the groups. */
static dealt_group *deal_strand(plan *p, uint32_t begin, uint32_t end, uint8_t kind,
                                dealt_group *next)
{
    dealt_group open[OPEN_GROUPS]; /* unused slots are not open */
    uint64_t open_slots = 0;
    int newest = OPEN_GROUPS - 1;

    for (uint32_t k = begin; k < end; k++) {
        uint32_t i = p->order[k];
        if (kind_of(p, i) != kind)
            continue;

        /* Exclude groups that contain one of its nodes. */
        int32_t a;
        int32_t b;
        nodes_in_order(p, i, &a, &b);
        bool both = p->who[i] == BOTH;
        uint64_t busy = p->open_mask[a];
        if (both)
            busy |= p->open_mask[b];

        /* Use the first suitable open group, otherwise a new one in the slot of the oldest: slots
         * are opened in turn, so the oldest is the one after the newest. */
        uint64_t fit = open_slots & ~busy;
        int slot = (newest + 1) % OPEN_GROUPS;
        if (fit)
            slot = __builtin_ctzll(fit);
        uint64_t bit = UINT64_C(1) << slot;
        if (!fit) {
            if (open_slots & bit) {
                free_nodes(p, &open[slot], bit);
                *next++ = open[slot];
            }
            open[slot] = (dealt_group){0};
            open_slots |= bit;
            newest = slot;
        }

        /* The contact takes the next lane; a full group is closed. */
        open[slot].contact[open[slot].fill++] = i;
        p->open_mask[a] |= bit;
        if (both)
            p->open_mask[b] |= bit;
        if (open[slot].fill == LANES) {
            free_nodes(p, &open[slot], bit);
            *next++ = open[slot];
            open_slots &= ~bit;
        }
    }

    /* Close the remaining groups, oldest first. */
    for (int k = 0; k < OPEN_GROUPS; k++) {
        int slot = (newest + 1 + k) % OPEN_GROUPS;
        uint64_t bit = UINT64_C(1) << slot;
        if (!(open_slots & bit))
            continue;

        free_nodes(p, &open[slot], bit);
        *next++ = open[slot];
    }
    return next;
}

/* Assigns the contacts of one kind of a block in two strands, whose groups alternate; returns the
 * end of the groups. */
static dealt_group *deal_kind(plan *p, size_t number, uint8_t kind, dealt_group *first)
{
    uint32_t begin = p->begin[number];
    uint32_t end = p->begin[number + 1];
    uint32_t middle = begin + (end - begin) / 2;
    dealt_group *second = deal_strand(p, begin, middle, kind, first);
    dealt_group *last = deal_strand(p, middle, end, kind, second);

    /* After the end of one strand, the other continues alone. */
    uint32_t length[2] = {(uint32_t)(second - first), (uint32_t)(last - second)};
    uint32_t both = length[0] < length[1] ? length[0] : length[1];
    for (uint32_t k = 0; k < length[0]; k++)
        first[k].place = k < both ? 2 * k : both + k;
    for (uint32_t k = 0; k < length[1]; k++)
        second[k].place = k < both ? 2 * k + 1 : both + k;
    return last;
}

/* Assigns the contacts of one block, one kind after another, so that each can use all slots; the
 * ends in the network's block are counts at this stage. */
static void deal_block(yk_network *network, size_t position, void *user)
{
    plan *p = user;
    size_t number = p->number[position];

    size_t kinds[SLOT_IDLE + 1] = {0};
    for (uint32_t k = p->begin[number]; k < p->begin[number + 1]; k++)
        kinds[kind_of(p, p->order[k])]++;

    dealt_group *const first = p->dealt + p->begin[number];
    dealt_group *pairs_end = first;
    if (kinds[SLOT_PAIR] > 0)
        pairs_end = deal_kind(p, number, SLOT_PAIR, first);
    dealt_group *singles_end = pairs_end;
    if (kinds[SLOT_SINGLE] > 0)
        singles_end = deal_kind(p, number, SLOT_SINGLE, pairs_end);
    dealt_group *rollings_end = singles_end;
    if (kinds[SLOT_ROLLING] > 0)
        rollings_end = deal_kind(p, number, SLOT_ROLLING, singles_end);

    network->blocks[position] = (block){
        .pair_end = (uint32_t)(pairs_end - first),
        .single_end = (uint32_t)(singles_end - pairs_end),
        .rolling_end = (uint32_t)(rollings_end - singles_end),
        .general_end = (uint32_t)kinds[SLOT_GENERAL],
    };
}

/* Writing the groups --------------------------------------------------------------------------- */

/* Writes a group to its place in the network. Unused lanes have nodes without mass, and zeros. */
static void write_group(const plan *p, const dealt_group *from, uint8_t kind, uint32_t dummy,
                        size_t place)
{
    yk_network *network = p->network;
    if (kind == SLOT_PAIR)
        network->pairs[place] = (pair_group){0};
    if (kind == SLOT_SINGLE)
        network->singles[place] = (single_group){0};
    if (kind == SLOT_ROLLING)
        network->rollings[place] = (rolling_group){0};

    for (uint32_t lane = 0; lane < LANES; lane++) {
        int32_t a = (int32_t)dummy;
        int32_t b = (int32_t)dummy + 1;
        int32_t other = YK_NETWORK_NONE;

        if (lane < from->fill) {
            uint32_t contact = from->contact[lane];
            nodes_in_order(p, contact, &a, &other);
            if (p->who[contact] == BOTH)
                b = other;
            network->slots[contact] = (contact_slot){
                .index = (uint32_t)place * LANES + lane,
                .kind = (uint8_t)kind,
                .swapped = p->who[contact] == ONLY_B,
            };
        }

        if (kind == SLOT_PAIR) {
            pair_group *group = &network->pairs[place];
            group->a[lane] = a;
            group->b[lane] = b;
        } else if (kind == SLOT_SINGLE) {
            single_group *group = &network->singles[place];
            group->a[lane] = a;
            group->other[lane] = other;
        } else {
            rolling_group *group = &network->rollings[place];
            group->a[lane] = a;
            group->b[lane] = b;
            group->other[lane] = other;
            group->inverse_length_a[lane] = 1;
            group->inverse_length_b[lane] = 1;
        }
    }
}

/* Writes the groups of one kind of a block to [begin, end) of the network. */
static void write_kind(const plan *p, size_t number, uint8_t kind, const dealt_group *from,
                       uint32_t begin, uint32_t end)
{
    /* The dummy nodes of a block are two of its own, so that concurrent blocks share none. */
    uint32_t dummy = (uint32_t)(p->network->node_count + 2 * number);
    for (uint32_t k = 0; k < end - begin; k++)
        write_group(p, &from[k], kind, dummy, begin + from[k].place);
}

static void write_block(yk_network *network, size_t position, void *user)
{
    const plan *p = user;
    size_t number = p->number[position];
    const block *b = &network->blocks[position];

    const dealt_group *from = p->dealt + p->begin[number];
    write_kind(p, number, SLOT_PAIR, from, b->pair_begin, b->pair_end);
    from += b->pair_end - b->pair_begin;
    write_kind(p, number, SLOT_SINGLE, from, b->single_begin, b->single_end);
    from += b->single_end - b->single_begin;
    write_kind(p, number, SLOT_ROLLING, from, b->rolling_begin, b->rolling_end);

    /* Contacts without a group: general ones in the order of the pairs, and those without a moving
     * node. */
    uint32_t general = b->general_begin;
    for (uint32_t k = p->begin[number]; k < p->begin[number + 1]; k++) {
        uint32_t i = p->order[k];
        uint8_t kind = kind_of(p, i);
        if (kind == SLOT_IDLE)
            network->slots[i] = (contact_slot){.kind = SLOT_IDLE};
        if (kind != SLOT_GENERAL)
            continue;

        const yk_pair *pair = &p->pairs[i];
        network->slots[i] = (contact_slot){.index = general, .kind = SLOT_GENERAL};
        network->generals[general++] = (general_contact){.a = pair->a, .b = pair->b, .dim = 3};
    }
}

/* From numbers of groups to their places, block after block. */
static void number_groups(yk_network *network)
{
    for (size_t k = 0; k < network->block_count; k++) {
        block *b = &network->blocks[k];

        b->pair_begin = (uint32_t)network->pair_groups;
        b->single_begin = (uint32_t)network->single_groups;
        b->rolling_begin = (uint32_t)network->rolling_groups;
        b->general_begin = (uint32_t)network->general_count;

        network->pair_groups += b->pair_end;
        network->single_groups += b->single_end;
        network->rolling_groups += b->rolling_end;
        network->general_count += b->general_end;

        b->pair_end = (uint32_t)network->pair_groups;
        b->single_end = (uint32_t)network->single_groups;
        b->rolling_end = (uint32_t)network->rolling_groups;
        b->general_end = (uint32_t)network->general_count;
    }
}

/* Allocates groups and general contacts; the memory is reused in later steps. */
static bool reserve_groups(yk_network *network)
{
    yk_context *context = network->context;
    size_t row = sizeof *network->pair_softness;
    if (!yk_array_reserve(context, &network->pairs_array, network->pair_groups + 1,
                          sizeof(pair_group)) ||
        !yk_array_reserve(context, &network->singles_array, network->single_groups + 1,
                          sizeof(single_group)) ||
        !yk_array_reserve(context, &network->rollings_array, network->rolling_groups + 1,
                          sizeof(rolling_group)) ||
        !yk_array_reserve(context, &network->generals_array, network->general_count + 1,
                          sizeof(general_contact)))
        return false;

    network->pairs = network->pairs_array.data;
    network->singles = network->singles_array.data;
    network->rollings = network->rollings_array.data;
    network->generals = network->generals_array.data;
    if (!network->soft)
        return true;

    /* Softness of round contacts, if the network was created for it. */
    if (!yk_array_reserve(context, &network->pair_softness_array, network->pair_groups + 1, row) ||
        !yk_array_reserve(context, &network->single_softness_array, network->single_groups + 1,
                          row))
        return false;
    network->pair_softness = network->pair_softness_array.data;
    network->single_softness = network->single_softness_array.data;
    memset(network->pair_softness, 0, network->pair_groups * row);
    memset(network->single_softness, 0, network->single_groups * row);
    return true;
}

/* Colours -------------------------------------------------------------------------------------- */

/* Colors of the moving nodes in the contacts of a block; adds one to them. */
static uint64_t visit_nodes(plan *p, size_t number, uint64_t add)
{
    uint64_t seen = 0;
    for (uint32_t k = p->begin[number]; k < p->begin[number + 1]; k++) {
        uint32_t i = p->order[k];
        if (p->who[i] == ONLY_A || p->who[i] == BOTH) {
            seen |= p->colour_mask[p->pairs[i].a];
            p->colour_mask[p->pairs[i].a] |= add;
        }
        if (p->who[i] == ONLY_B || p->who[i] == BOTH) {
            seen |= p->colour_mask[p->pairs[i].b];
            p->colour_mask[p->pairs[i].b] |= add;
        }
    }

    return seen;
}

/* Colors of blocks, and the order of blocks by color, the tail last. */
static void colour_blocks(plan *p)
{
    yk_network *network = p->network;
    uint32_t *start = network->colour_start;
    size_t colours = 1;

    /* A block takes the unused color with the least work so far, so that all colors occupy all
     * threads. */
    size_t contacts[COLOURS_MAX] = {0};
    p->colour[0] = 0;
    for (size_t k = 0; p->node_blocks > 1 && k < p->node_blocks; k++) {
        uint64_t used = visit_nodes(p, k, 0);
        size_t colour = COLOURS_MAX;
        for (size_t c = 0; c < colours; c++) {
            bool least = colour == COLOURS_MAX || contacts[c] < contacts[colour];
            if (!(used >> c & 1) && least)
                colour = c;
        }
        if (colour == COLOURS_MAX)
            colour = colours < COLOURS_MAX ? colours : COLOURS_MAX - 1;

        p->colour[k] = (uint8_t)colour;
        contacts[colour] += p->begin[k + 1] - p->begin[k];
        visit_nodes(p, k, UINT64_C(1) << colour);

        if (colour + 1 > colours)
            colours = colour + 1;
    }

    /* If 64 colors are not enough, blocks of the last color may share nodes, so each becomes a
     * color of its own. */
    size_t blocks = 0;
    size_t count = 0;
    for (size_t c = 0; c < colours; c++) {
        start[count++] = (uint32_t)blocks;
        for (size_t k = 0; k < p->node_blocks; k++) {
            if (p->colour[k] != c)
                continue;
            if (c == COLOURS_MAX - 1 && blocks > start[count - 1])
                start[count++] = (uint32_t)blocks;
            p->number[blocks++] = (uint32_t)k;
        }
    }

    /* The tail is a color with one block. */
    size_t tail = p->node_blocks;
    if (p->begin[tail + 1] > p->begin[tail]) {
        start[count++] = (uint32_t)blocks;
        p->number[blocks++] = (uint32_t)tail;
    }

    start[count] = (uint32_t)blocks;
    network->colour_count = count;
    network->block_count = blocks;
}

/* Divides the blocks of each color into one range per thread, with about the same number of
 * contacts. Consecutive blocks are near each other, so that a thread has the same region of space
 * in all colors and all sweeps. */
static void share_colours(const plan *p)
{
    yk_network *network = p->network;
    const size_t members = (size_t)network->members;

    for (size_t c = 0; c < network->colour_count; c++) {
        uint32_t *share = network->shares + c * (members + 1);
        uint32_t first = network->colour_start[c];
        uint32_t end = network->colour_start[c + 1];
        size_t total = 0;
        for (uint32_t k = first; k < end; k++)
            total += p->begin[p->number[k] + 1] - p->begin[p->number[k]];

        /* Range m ends with the block that contains the end of its share of the contacts. */
        size_t sum = 0;
        uint32_t k = first;
        for (size_t m = 0; m < members; m++) {
            share[m] = k;
            for (; k < end && sum * members < total * (m + 1); k++)
                sum += p->begin[p->number[k] + 1] - p->begin[p->number[k]];
        }
        share[members] = end;
    }
}

yk_status yk_network_plan(yk_network *network, const yk_pair *pairs, size_t count)
{
    yk_context *context = network->context;
    size_t nodes = network->node_count;

    /* If anything fails below, the network is empty. */
    network->contact_count = 0;
    network->block_count = 0;
    network->colour_count = 0;
    network->pair_groups = 0;
    network->single_groups = 0;
    network->rolling_groups = 0;
    network->general_count = 0;

    /* The pairs may come from anywhere. */
    for (size_t i = 0; i < count; i++) {
        const yk_pair *p = &pairs[i];
        bool good_a = p->a >= 0 && (size_t)p->a < nodes;
        bool good_b = p->b >= YK_NETWORK_NONE && p->b != p->a && (p->b < 0 || (size_t)p->b < nodes);
        if (!good_a || !good_b)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "contact network: pair %zu joins the nodes %d and %d of %zu", i, p->a,
                           p->b, nodes);
        if (p->kind < YK_PAIR_ROUND || p->kind > YK_PAIR_GENERAL)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "contact network: pair %zu is of unknown kind %d", i, p->kind);
    }

    if (count > UINT32_MAX / 8)
        return yk_fail(context, YK_ERROR_ARGUMENT, "contact network: %zu contacts are too many",
                       count);

    /* Allocate everything except the groups, whose number is not known yet. */
    plan p = {.network = network, .pairs = pairs, .count = count, .node_blocks = 1};
    if (nodes > ONE_BLOCK_NODES)
        p.node_blocks = (nodes + BLOCK_NODES - 1) / BLOCK_NODES;

    network->members = 1;
    if (network->pool && p.node_blocks > 1)
        network->members = yk_pool_threads(network->pool);

    /* Every block of the last color may become a color of its own. */
    size_t blocks = p.node_blocks + COLOURS_MAX + 2;
    size_t members = (size_t)network->members;
    if (!reserve_plan(&p) ||
        !yk_array_reserve(context, &network->slots_array, count, sizeof(contact_slot)) ||
        !yk_array_reserve(context, &network->blocks_array, blocks, sizeof(block)) ||
        !yk_array_reserve(context, &network->colours_array, blocks, sizeof(uint32_t)) ||
        !yk_array_reserve(context, &network->shares_array, blocks * (members + 1),
                          sizeof(uint32_t)) ||
        !yk_array_reserve(context, &network->taken_array, members, sizeof *network->taken) ||
        !yk_array_reserve(context, &network->partials_array, 3 * (blocks + 1), sizeof(double)))
        return yk_fail(context, YK_ERROR_MEMORY,
                       "contact network: no memory for a plan of %zu contacts", count);

    network->slots = network->slots_array.data;
    network->blocks = network->blocks_array.data;
    network->colour_start = network->colours_array.data;
    network->shares = network->shares_array.data;
    network->taken = network->taken_array.data;
    network->partials = network->partials_array.data;
    for (size_t m = 0; m < members; m++)
        atomic_init(&network->taken[m].count, 0);
    memset(network->nodes + nodes, 0, 2 * (p.node_blocks + 1) * sizeof *network->nodes);

    /* Contacts to blocks, colours to blocks, contacts to groups. */
    assign_blocks(&p);
    colour_blocks(&p);
    share_colours(&p);
    yk_network_run(network, deal_block, NULL, &p, 1);
    number_groups(network);
    if (!reserve_groups(network)) {
        network->block_count = network->colour_count = 0;
        return yk_fail(context, YK_ERROR_MEMORY, "contact network: no memory for %zu contacts",
                       count);
    }
    yk_network_run(network, write_block, NULL, &p, 1);

    network->contact_count = count;
    return YK_OK;
}
