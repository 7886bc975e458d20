/* The order of work: who may be solved at the same time as whom.
 *
 *   nodes       0 ... 511 | 512 ... 1023 | ...     blocks of consecutive nodes, neighbours in space
 *   contacts    each goes to the block of its lower node that moves
 *   blocks      coloured greedily: blocks of one colour touch no common block of nodes
 *   in a block  contacts are dealt into open groups of four: the first open group that has neither
 *               of the two nodes takes it. For every node a mask of 64 bits says which open groups
 *               it is in, so a contact finds its group with one find-first-set
 *
 * Contacts of nodes that very many contacts share (a container that moves freely) would chain all
 * blocks together; they form the tail, which one thread works off after the colours. */
#include <string.h>

#include "contact/network_data.h"

enum {
    BLOCK_NODES = 512,
    ONE_BLOCK_NODES = 2048, /* up to here one block: threads would only wait for each other */
    OPEN_GROUPS = 64,
    COLOURS_MAX = 64,
    CROWDED = 200 /* contacts of a node, above which they go to the tail */
};

/* Which nodes of a contact move. */
typedef enum mobility { NOBODY, ONLY_A, ONLY_B, BOTH } mobility;

typedef struct plan {
    yk_network *network;
    const yk_pair *pairs;
    size_t count, node_blocks;
    uint32_t *owner;             /* per contact: block, node_blocks for the tail */
    uint32_t *order;             /* contacts sorted by block */
    uint32_t *begin;             /* of each block in order; node_blocks + 2 */
    uint64_t *open_mask;         /* per node: open groups that it is in */
    uint32_t *degree;            /* per node */
    uint64_t *colour_mask;       /* per block of nodes: colours that touch it */
    uint8_t *colour;             /* per block */
    uint32_t *stamp;             /* per block of nodes: last block that touched it */
    uint8_t *who;                /* per contact: which of its nodes move */
    size_t kinds[SLOT_IDLE + 1]; /* number of contacts of each kind */
    bool failed;                 /* out of memory while dealing */
} plan;

/* One piece of memory for all arrays of the plan, kept for the next time. */
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
        {(void **)&p->open_mask, nodes * sizeof *p->open_mask},
        {(void **)&p->degree, nodes * sizeof *p->degree},
        {(void **)&p->colour_mask, blocks * sizeof *p->colour_mask},
        {(void **)&p->colour, blocks * sizeof *p->colour},
        {(void **)&p->stamp, blocks * sizeof *p->stamp},
        {(void **)&p->who, p->count * sizeof *p->who},
    };

    /* Each begins with a cache line. */
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
    memset(p->colour_mask, 0, blocks * sizeof *p->colour_mask);
    memset(p->stamp, 0xff, blocks * sizeof *p->stamp);
    return true;
}

/* Contacts to blocks: that of the lower node that moves, or the tail where a node is crowded. */
static void assign_blocks(plan *p)
{
    /* Who moves, and how many contacts each node shares with another that moves. */
    for (size_t i = 0; i < p->count; i++) {
        /* Both sides count: what shares a node that moves cannot be solved at the same time. */
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

    /* The home of each contact. */
    for (size_t i = 0; i < p->count; i++) {
        const yk_pair *pair = &p->pairs[i];
        p->owner[i] = 0;
        if (p->node_blocks == 1)
            continue;

        /* Nodes near each other in number are near each other in space. */
        int32_t home = pair->a;
        bool both = p->who[i] == BOTH;
        if (p->who[i] == ONLY_B || (both && pair->b < pair->a))
            home = pair->b;

        p->owner[i] = (uint32_t)home / BLOCK_NODES;

        /* A node with very many contacts would chain all blocks together. */
        if (both && (p->degree[pair->a] > CROWDED || p->degree[pair->b] > CROWDED))
            p->owner[i] = (uint32_t)p->node_blocks;
    }

    /* Sorted by block, stable; block k is order[begin[k]] to order[begin[k + 1]]. */
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

typedef struct dealer {
    plan *plan;
    slot_kind kind; /* of the groups */
    uint32_t dummy; /* first of the two nodes for lanes that are not used */
    uint64_t open;  /* groups that have been begun */
    uint8_t fill[OPEN_GROUPS];
    uint32_t contact[OPEN_GROUPS][LANES];
    int newest;
} dealer;

/* The nodes of a contact, the one that moves first. */
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

/* Makes a group of the contacts in a slot, which is free then. */
static void close_group(dealer *d, int slot)
{
    plan *p = d->plan;
    yk_network *network = p->network;

    /* Memory for one more group of the dealer's kind. */
    size_t *count = &network->rolling_groups;
    array *groups = &network->rollings_array;
    if (d->kind == SLOT_PAIR) {
        count = &network->pair_groups;
        groups = &network->pairs_array;
    } else if (d->kind == SLOT_SINGLE) {
        count = &network->single_groups;
        groups = &network->singles_array;
    }
    size_t number = (*count)++;
    if (!yk_array_grow(network->context, groups, number, number + 1)) {
        p->failed = true;
        return;
    }
    network->pairs = network->pairs_array.data;
    network->singles = network->singles_array.data;
    network->rollings = network->rollings_array.data;

    /* Lanes that are not used keep these zeros. */
    if (d->kind == SLOT_PAIR)
        network->pairs[number] = (pair_group){0};
    if (d->kind == SLOT_SINGLE)
        network->singles[number] = (single_group){0};
    if (d->kind == SLOT_ROLLING)
        network->rollings[number] = (rolling_group){0};

    uint64_t bit = UINT64_C(1) << slot;
    for (int lane = 0; lane < LANES; lane++) {
        int32_t a = (int32_t)d->dummy;
        int32_t b = (int32_t)d->dummy + 1;
        int32_t other = YK_NETWORK_NONE;

        /* Each contact gets its lane; its nodes are free for other groups in this slot. */
        if (lane < d->fill[slot]) {
            uint32_t contact = d->contact[slot][lane];
            nodes_in_order(p, contact, &a, &other);
            p->open_mask[a] &= ~bit;
            if (p->who[contact] == BOTH) {
                b = other;
                p->open_mask[b] &= ~bit;
            }
            network->slots[contact] = (contact_slot){
                .index = (uint32_t)number * LANES + (uint32_t)lane,
                .kind = (uint8_t)d->kind,
                .swapped = p->who[contact] == ONLY_B,
            };
        }

        if (d->kind == SLOT_PAIR) {
            pair_group *group = &network->pairs[number];
            group->a[lane] = a;
            group->b[lane] = b;
        } else if (d->kind == SLOT_SINGLE) {
            single_group *group = &network->singles[number];
            group->a[lane] = a;
            group->other[lane] = other;
        } else {
            rolling_group *group = &network->rollings[number];
            group->a[lane] = a;
            group->b[lane] = b;
            group->other[lane] = other;
            group->inverse_length_a[lane] = 1;
            group->inverse_length_b[lane] = 1;
        }
    }

    /* The slot is free for another group. */
    d->open &= ~bit;
    d->fill[slot] = 0;
}

/* Which slots a contact of two or of one node that moves goes to. */
static slot_kind kind_of(const plan *p, uint32_t contact)
{
    if (p->who[contact] == NOBODY)
        return SLOT_IDLE;
    if (p->pairs[contact].kind == YK_PAIR_GENERAL)
        return SLOT_GENERAL;
    if (p->pairs[contact].kind == YK_PAIR_ROLLING)
        return SLOT_ROLLING;
    return p->who[contact] == BOTH ? SLOT_PAIR : SLOT_SINGLE;
}

/* Deals the contacts of one block: pairs, singles, those that resist rolling, and in the first pass
 * general ones. */
static void deal_block(plan *p, size_t number, uint32_t dummy, block *out)
{
    yk_network *network = p->network;

    out->pair_begin = (uint32_t)network->pair_groups;
    out->single_begin = (uint32_t)network->single_groups;
    out->rolling_begin = (uint32_t)network->rolling_groups;
    out->general_begin = (uint32_t)network->general_count;

    /* One kind after the other, so that each has the slots for itself. */
    for (slot_kind kind = SLOT_PAIR; kind <= SLOT_ROLLING; kind++) {
        if (kind != SLOT_PAIR && p->kinds[kind] == 0)
            continue;
        dealer d = {.plan = p, .kind = kind, .dummy = dummy, .newest = OPEN_GROUPS - 1};

        for (uint32_t k = p->begin[number]; k < p->begin[number + 1] && !p->failed; k++) {
            uint32_t i = p->order[k];
            const yk_pair *pair = &p->pairs[i];
            slot_kind own = kind_of(p, i);

            if (own == SLOT_IDLE) {
                network->slots[i] = (contact_slot){.kind = SLOT_IDLE};
            } else if (own == SLOT_GENERAL && kind == SLOT_PAIR) {
                size_t at = network->general_count++;

                network->slots[i] = (contact_slot){.index = (uint32_t)at, .kind = SLOT_GENERAL};
                network->generals[at] = (general_contact){.a = pair->a, .b = pair->b, .dim = 3};
            }

            /* Others have their own pass. */
            if (own != kind)
                continue;

            /* Into the first open group that has neither of its nodes, else into a new one in the
             * slot of the oldest: slots are opened in turn, so the oldest is the one after the
             * newest. */
            int32_t a;
            int32_t b;
            nodes_in_order(p, i, &a, &b);

            /* Groups that one of its nodes is in are not for it. */
            bool both = p->who[i] == BOTH;
            uint64_t busy = p->open_mask[a];
            if (both)
                busy |= p->open_mask[b];

            uint64_t fit = d.open & ~busy;
            int slot = (d.newest + 1) % OPEN_GROUPS;
            if (fit)
                slot = __builtin_ctzll(fit);
            uint64_t bit = UINT64_C(1) << slot;
            if (!fit) {
                if (d.open & bit)
                    close_group(&d, slot);
                d.open |= bit;
                d.newest = slot;
            }

            /* The contact takes the next lane; a full group is closed. */
            d.contact[slot][d.fill[slot]] = i;
            d.fill[slot]++;
            p->open_mask[a] |= bit;
            if (both)
                p->open_mask[b] |= bit;
            if (d.fill[slot] == LANES)
                close_group(&d, slot);
        }

        /* What is left open, oldest first. */
        for (int k = 0; k < OPEN_GROUPS; k++) {
            int slot = (d.newest + 1 + k) % OPEN_GROUPS;
            if (d.open >> slot & 1)
                close_group(&d, slot);
        }
    }

    out->pair_end = (uint32_t)network->pair_groups;
    out->single_end = (uint32_t)network->single_groups;
    out->rolling_end = (uint32_t)network->rolling_groups;
    out->general_end = (uint32_t)network->general_count;
}

/* Colours -------------------------------------------------------------------------------------- */

/* Visits every block of nodes that block `number` touches, once: gathers their colours, and adds
 * one to them. */
static uint64_t visit_touched(plan *p, size_t number, uint64_t add, uint32_t stamp)
{
    uint64_t seen = 0;
    for (uint32_t k = p->begin[number]; k < p->begin[number + 1]; k++) {
        const yk_pair *pair = &p->pairs[p->order[k]];
        const int32_t nodes[2] = {pair->a, pair->b};

        for (int side = 0; side < 2; side++) {
            if (!node_is_dynamic(p->network, nodes[side]))
                continue;

            size_t touched = (size_t)nodes[side] / BLOCK_NODES;
            if (p->stamp[touched] == stamp)
                continue;

            p->stamp[touched] = stamp;
            seen |= p->colour_mask[touched];
            p->colour_mask[touched] |= add;
        }
    }

    return seen;
}

/* Memory for full groups, and some that stay open at the end of each block; more are made as
 * needed. */
static bool reserve_groups(plan *p)
{
    yk_network *network = p->network;
    yk_context *context = network->context;

    for (size_t i = 0; i < p->count; i++)
        p->kinds[kind_of(p, (uint32_t)i)]++;

    /* Groups that are not full at the end of a block are some more. */
    size_t spare = 8 * p->node_blocks + 8;
    size_t pairs = p->kinds[SLOT_PAIR] / LANES + spare;
    size_t singles = p->kinds[SLOT_SINGLE] / LANES + spare;
    size_t rollings = 1;
    if (p->kinds[SLOT_ROLLING] > 0)
        rollings = p->kinds[SLOT_ROLLING] / LANES + spare;
    size_t generals = p->kinds[SLOT_GENERAL] + 1;

    /* Memory, kept from step to step. */
    if (!yk_array_reserve(context, &network->pairs_array, pairs, sizeof(pair_group)) ||
        !yk_array_reserve(context, &network->singles_array, singles, sizeof(single_group)) ||
        !yk_array_reserve(context, &network->rollings_array, rollings, sizeof(rolling_group)) ||
        !yk_array_reserve(context, &network->generals_array, generals, sizeof(general_contact)))
        return false;

    network->pairs = network->pairs_array.data;
    network->singles = network->singles_array.data;
    network->rollings = network->rollings_array.data;
    network->generals = network->generals_array.data;
    return true;
}

/* Deals all blocks, colour by colour, then the tail. The dummies of a block are two nodes of its
 * own, so that blocks at work at the same time share none. */
static void deal_all(plan *p)
{
    yk_network *network = p->network;
    uint32_t *start = network->colour_start;
    size_t nodes = network->node_count;
    size_t colours = 1;

    /* A block takes the first colour that nothing near it has. */
    p->colour[0] = 0;
    for (size_t k = 0; p->node_blocks > 1 && k < p->node_blocks; k++) {
        uint64_t used = visit_touched(p, k, 0, (uint32_t)(2 * k));
        int colour = COLOURS_MAX - 1;
        if (~used)
            colour = __builtin_ctzll(~used);

        p->colour[k] = (uint8_t)colour;
        visit_touched(p, k, UINT64_C(1) << colour, (uint32_t)(2 * k + 1));

        if ((size_t)colour + 1 > colours)
            colours = (size_t)colour + 1;
    }

    /* Where 64 colours do not suffice, blocks of the last one may be in each other's way, and
     * every one becomes a colour of its own. */
    size_t dealt = 0;
    size_t count = 0;
    for (size_t c = 0; c < colours; c++) {
        start[count++] = (uint32_t)dealt;
        for (size_t k = 0; k < p->node_blocks; k++) {
            if (p->colour[k] != c)
                continue;
            if (c == COLOURS_MAX - 1 && dealt > start[count - 1])
                start[count++] = (uint32_t)dealt;
            deal_block(p, k, (uint32_t)(nodes + 2 * k), &network->blocks[dealt++]);
        }
    }

    /* The tail is a colour of one block. */
    size_t tail = p->node_blocks;
    if (p->begin[tail + 1] > p->begin[tail]) {
        start[count++] = (uint32_t)dealt;
        deal_block(p, tail, (uint32_t)(nodes + 2 * tail), &network->blocks[dealt++]);
    }

    start[count] = (uint32_t)dealt;
    network->colour_count = count;
    network->block_count = dealt;
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

    /* Memory, but for the groups, whose number is not known yet. */
    plan p = {.network = network, .pairs = pairs, .count = count, .node_blocks = 1};
    if (nodes > ONE_BLOCK_NODES)
        p.node_blocks = (nodes + BLOCK_NODES - 1) / BLOCK_NODES;

    size_t blocks = p.node_blocks + COLOURS_MAX + 2;
    if (!reserve_plan(&p) ||
        !yk_array_reserve(context, &network->slots_array, count, sizeof(contact_slot)) ||
        !yk_array_reserve(context, &network->blocks_array, blocks, sizeof(block)) ||
        !yk_array_reserve(context, &network->colours_array, blocks, sizeof(uint32_t)) ||
        !yk_array_reserve(context, &network->partials_array, 3 * (blocks + 1), sizeof(double)))
        return yk_fail(context, YK_ERROR_MEMORY,
                       "contact network: no memory for a plan of %zu contacts", count);

    network->slots = network->slots_array.data;
    network->blocks = network->blocks_array.data;
    network->colour_start = network->colours_array.data;
    network->partials = network->partials_array.data;
    memset(network->nodes + nodes, 0, 2 * (p.node_blocks + 1) * sizeof *network->nodes);

    /* Contacts to blocks, colours to blocks, contacts to groups. */
    assign_blocks(&p);
    bool done = reserve_groups(&p);
    if (done) {
        deal_all(&p);
        done = !p.failed;
    }

    /* Softness of round contacts, where the network was made for it. */
    size_t row = sizeof *network->pair_softness;
    size_t pair_groups = network->pair_groups;
    size_t single_groups = network->single_groups;
    if (done && network->soft) {
        done = yk_array_reserve(context, &network->pair_softness_array, pair_groups + 1, row) &&
               yk_array_reserve(context, &network->single_softness_array, single_groups + 1, row);
    }
    if (!done) {
        network->block_count = network->colour_count = 0;
        return yk_fail(context, YK_ERROR_MEMORY, "contact network: no memory for %zu contacts",
                       count);
    }

    if (network->soft) {
        network->pair_softness = network->pair_softness_array.data;
        network->single_softness = network->single_softness_array.data;
        memset(network->pair_softness, 0, pair_groups * row);
        memset(network->single_softness, 0, single_groups * row);
    }

    network->contact_count = count;
    return YK_OK;
}
