/* Islands that sweeps leave unsolved.
 *
 * Gauss-Seidel passes an impulse on from contact to contact. Where many contacts stand in a row,
 * or a heavy body stands on light ones, that takes very many sweeps: their number grows with the
 * square of the length and with the ratio of masses. Such islands are small beside heaps, and the
 * accurate method solves them at once. An island is what contacts and joints connect through nodes
 * that move; it is assembled by itself, with the velocities that its nodes would have without its
 * impulses,
 *
 *   q = u - W r         from the present velocities u and impulses r
 *
 * and solved from r on. The result is kept where it violates the conditions less than r did.
 *
 * What sweeps leave of a stiff island, one in which masses differ much, is worse than its size
 * says: velocities that are small for light bodies add up under the heavy one, and it wanders off.
 * Small stiff islands are therefore solved much further than the tolerance. */
#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "contact/network_newton.h"

enum {
    SWEEPS = 50,         /* between two looks at the residual */
    ROUNDS = 3,          /* of them, while they gain */
    NEWTON_MAX = 100000, /* contacts of an island for Newton's method */
    ISLAND_MAX = 400,    /* contacts; the cost of the accurate method grows faster than that */
    STIFF_MAX = 150,     /* of a stiff island, which is solved more often */
    ACCURATE_STEPS = 60  /* of an island */
};
/* A round of sweeps that leaves more than this of the residual gains too little. */
static const double GAIN = 0.7;
/* Ratio of masses that makes an island stiff, and its tolerance by that of the whole. */
static const double STIFF_RATIO = 20;
/* The tolerance of an island, by that of the whole: the norm of its residual is another one. */
static const double INNER_TOLERANCE = 1e-3;

/* Speed at which a contact without an impulse opens, by that which the step resolves, beyond which it
 * is left out at first. */
static const double DISTANT = 10;

/* Violation by the speed which the step resolves, with the impulses of the last step, beyond which the
 * contacts of an island change so much that Newton's method takes many steps: sweeps are cheaper. A
 * structure that begins without impulses falls by the resolved speed. */
static const double NEAR_REST = 2;

/* Which islands are solved: those in which masses differ much, all of them, or by Newton's method alone
 * those without round contacts, or those with few. */
typedef enum which { STIFF, ALL, STRUCTURES, MIXED } which;

typedef struct islands {
    size_t count;
    size_t *start;     /* of each island in `elements`, and behind the last */
    uint32_t *element; /* contacts, then blocks of joints, island by island, rising */
    uint32_t *round;   /* round contacts of each island */
    int32_t *local;    /* per node: its number in its island, or -1 */
    double *lightest;  /* inverse mass, of each island; and the heaviest */
    double *heaviest;
} islands;

/* The nodes of element i; -1 where there is none, or it does not move. A distant contact has none. */
static void moving_nodes(const yk_network *network, size_t i, int32_t nodes[2])
{
    /* Where an element holds its nodes depends on its kind. */
    nodes[0] = nodes[1] = -1;
    if (i >= network->contact_count) {
        const joint_block *b = &network->joint_blocks[i - network->contact_count];
        nodes[0] = network->joints[b->first].a;
        nodes[1] = network->joints[b->first].b;
    } else {
        contact_slot at = network->slots[i];
        uint32_t group = at.index / LANES;
        uint32_t lane = at.index % LANES;

        if (at.kind == SLOT_PAIR) {
            nodes[0] = network->pairs[group].a[lane];
            nodes[1] = network->pairs[group].b[lane];
        } else if (at.kind == SLOT_SINGLE) {
            nodes[0] = network->singles[group].a[lane];
        } else if (at.kind == SLOT_ROLLING) {
            const rolling_group *g = &network->rollings[group];
            nodes[0] = g->a[lane];
            if ((size_t)g->b[lane] < network->node_count)
                nodes[1] = g->b[lane];
        } else if (at.kind == SLOT_GENERAL && !network->generals[at.index].distant) {
            nodes[0] = network->generals[at.index].a;
            nodes[1] = network->generals[at.index].b;
        }
    }

    /* Nodes that nothing moves belong to no island. */
    for (int side = 0; side < 2; side++) {
        if (!node_is_dynamic(network, nodes[side]))
            nodes[side] = -1;
    }
}

static int32_t root_of(int32_t *parent, int32_t node)
{
    /* Paths are halved on the way up. */
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }

    return node;
}

/* Lists the islands that are small enough and have no joint with bounds, which the accurate
 * method does not know. */
static yk_status list_islands(yk_context *context, const yk_network *network, size_t most,
                              islands *all)
{
    size_t nodes = network->node_count;
    size_t count = network->contact_count + network->joint_block_count;

    /* All memory is scratch: the caller releases it at once. */
    int32_t *parent = yk_allocate(context, nodes + 1, sizeof *parent);
    uint32_t *size = yk_allocate(context, nodes + 1, sizeof *size);
    int32_t *island = yk_allocate(context, nodes + 1, sizeof *island);
    all->local = yk_allocate(context, nodes + 1, sizeof *all->local);
    all->element = yk_allocate(context, count + 1, sizeof *all->element);
    all->start = yk_allocate(context, nodes + 2, sizeof *all->start);
    all->round = yk_allocate(context, nodes + 1, sizeof *all->round);
    all->lightest = yk_allocate(context, nodes + 1, sizeof *all->lightest);
    all->heaviest = yk_allocate(context, nodes + 1, sizeof *all->heaviest);
    if (!parent || !size || !island || !all->local || !all->element || !all->start || !all->round ||
        !all->lightest || !all->heaviest)
        return YK_ERROR_MEMORY;

    /* Nodes that an element connects have one root. */
    for (size_t i = 0; i < nodes; i++)
        parent[i] = (int32_t)i;

    for (size_t i = 0; i < count; i++) {
        int32_t ends[2];
        moving_nodes(network, i, ends);
        if (ends[0] >= 0 && ends[1] >= 0)
            parent[root_of(parent, ends[0])] = root_of(parent, ends[1]);
    }

    /* Elements of each root. */
    for (size_t i = 0; i < count; i++) {
        int32_t ends[2];
        moving_nodes(network, i, ends);

        int32_t node = ends[0] >= 0 ? ends[0] : ends[1];
        if (node < 0)
            continue;

        size[root_of(parent, node)]++;
    }

    /* Numbers of the islands, and where each begins. */
    all->count = 0;
    for (size_t i = 0; i < nodes; i++) {
        island[i] = -1;
        if (parent[i] != (int32_t)i || size[i] == 0 || size[i] > most)
            continue;

        island[i] = (int32_t)all->count;
        all->start[all->count + 1] = all->start[all->count] + size[i];
        all->count++;
    }

    /* Where the next element of each goes. */
    size_t *next = yk_allocate(context, all->count + 1, sizeof *next);
    if (!next)
        return YK_ERROR_MEMORY;

    /* The elements of each, in rising order. */
    memcpy(next, all->start, all->count * sizeof *next);
    for (size_t i = 0; i < count; i++) {
        int32_t ends[2];
        moving_nodes(network, i, ends);
        int32_t node = ends[0] >= 0 ? ends[0] : ends[1];
        if (node < 0)
            continue;

        int32_t own = island[root_of(parent, node)];
        if (own < 0)
            continue;
        all->element[next[own]++] = (uint32_t)i;
        if (i < network->contact_count && network->slots[i].kind != SLOT_GENERAL)
            all->round[own]++;
    }

    /* The lightest and the heaviest node of each, as inverse masses. */
    for (size_t i = 0; i < all->count; i++)
        all->heaviest[i] = INFINITY;

    for (size_t i = 0; i < nodes; i++) {
        int32_t own = island[root_of(parent, (int32_t)i)];
        double inverse_mass = network->nodes[i].inverse_mass;
        all->local[i] = -1;

        if (own < 0 || !(inverse_mass > 0))
            continue;
        all->lightest[own] = fmax(all->lightest[own], inverse_mass);
        all->heaviest[own] = fmin(all->heaviest[own], inverse_mass);
    }

    return YK_OK;
}

/* The largest violation of the conditions by r and u, a velocity as that of the network is. */
static double largest_violation(const yk_contact_problem *problem, yk_friction_model friction,
                                double rho, const double *r, const double *u)
{
    const int *first = problem->w.first;
    double largest = 0;

    /* Contacts by their natural map, joints by the velocity of their rows. */
    for (int i = 0; i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        double map[YK_CONTACT_DIM_MAX];
        double sum = 0;

        yk_cone_natural_map(&cone, friction, rho, r + first[i], u + first[i], map);
        for (int k = 0; k < cone.dim; k++)
            sum += map[k] * map[k];
        largest = fmax(largest, sqrt(sum) / rho);
    }

    for (int k = first[problem->contact_count]; k < problem->row_count; k++)
        largest = fmax(largest, fabs(u[k]));
    return largest;
}

/* New impulses of an element, and what their change does to its nodes. */
static void take_impulses(yk_network *network, size_t i, const element *e, const double *next,
                          const double *last)
{
    /* Where the impulses are kept. */
    if (i < network->contact_count) {
        yk_network_set_impulse(network, i, next);
    } else {
        const joint_block *b = &network->joint_blocks[i - network->contact_count];
        for (int k = 0; k < e->dim; k++)
            network->joints[b->first + (size_t)k].impulse = next[k];
    }

    /* Velocities follow the change. */
    for (int side = 0; side < 2; side++) {
        int32_t index = e->node[side];
        if (!node_is_dynamic(network, index))
            continue;

        /* What the change of the impulses does to the node. */
        yk_vec3 force = yk_v3(0, 0, 0);
        yk_vec3 moment = yk_v3(0, 0, 0);
        for (int k = 0; k < e->dim; k++) {
            force = yk_v3_axpy(next[k] - last[k], e->linear[side][k], force);
            moment = yk_v3_axpy(next[k] - last[k], e->spin[side][k], moment);
        }

        yk_network_node *node = &network->nodes[index];
        node->velocity = yk_v3_axpy(node->inverse_mass, force, node->velocity);
        node->spin = yk_v3_add(node->spin, node_spin_response(network, index, moment));
    }
}

/* An island whose elements are gathered. */
typedef struct gathered {
    const uint32_t *list;
    size_t count, contacts, points;
    size_t rows;
    element *elements;
    double *r, *last; /* impulses: to be solved for, and as they are */
    bool bounded;     /* some joint has bounds */
} gathered;

static const joint_block *joints_of(const yk_network *network, uint32_t index)
{
    return &network->joint_blocks[index - network->contact_count];
}

/* Elements, numbers of their nodes within the island, and impulses. */
static yk_status gather(yk_context *context, yk_network *network, const islands *all, size_t island,
                        gathered *own)
{
    *own = (gathered){
        .list = all->element + all->start[island],
        .count = all->start[island + 1] - all->start[island],
    };
    own->elements = yk_allocate(context, own->count, sizeof *own->elements);
    if (!own->elements)
        return YK_ERROR_MEMORY;

    for (size_t i = 0; i < own->count; i++) {
        element *e = &own->elements[i];
        yk_network_element(network, own->list[i], e);
        own->contacts += own->list[i] < network->contact_count;
        own->rows += (size_t)e->dim;

        for (int side = 0; side < 2; side++) {
            int32_t node = e->node[side];
            if (node_is_dynamic(network, node) && all->local[node] < 0)
                all->local[node] = (int32_t)own->points++;
        }
    }

    own->r = yk_allocate(context, own->rows, sizeof *own->r);
    own->last = yk_allocate(context, own->rows, sizeof *own->last);
    if (!own->r || !own->last)
        return YK_ERROR_MEMORY;

    double *r = own->r;
    for (size_t i = 0; i < own->count; r += own->elements[i++].dim) {
        if (i < own->contacts) {
            yk_network_contact_impulse(network, own->list[i], r);
            continue;
        }

        const yk_joint_row *rows = &network->joints[joints_of(network, own->list[i])->first];
        own->bounded = own->bounded || !isinf(rows->lower) || !isinf(rows->upper);
        for (int k = 0; k < own->elements[i].dim; k++)
            r[k] = rows[k].impulse;
    }

    memcpy(own->last, own->r, own->rows * sizeof *own->r);
    return YK_OK;
}

/* Newton's method in the velocities: cheap, and for islands of many contacts. */
static yk_status solve_by_newton(yk_context *context, yk_network *network,
                                 const yk_contact_options *options,
                                 const yk_island_tolerances *tolerances, const islands *all,
                                 gathered *own, yk_newton_result *result)
{
    size_t blocks = own->count - own->contacts;
    const yk_joint_row **rows = yk_allocate(context, blocks + 1, sizeof *rows);
    if (!rows)
        return YK_ERROR_MEMORY;
    for (size_t k = 0; k < blocks; k++)
        rows[k] = &network->joints[joints_of(network, own->list[own->contacts + k])->first];

    yk_newton_island island = {
        .elements = own->elements,
        .count = own->count,
        .contacts = own->contacts,
        .rows = rows,
        .local = all->local,
        .points = own->points,
    };
    return yk_newton_solve_island(context, network, &island, options->friction_model, tolerances,
                                  own->r, result);
}

/* The accurate method, from the present impulses on. */
static yk_status solve_accurately(yk_context *context, yk_network *network,
                                  const yk_contact_options *options, double tolerance,
                                  const islands *all, gathered *own, int *steps)
{
    /* The problem of the island alone. */
    yk_contact_problem problem;
    yk_status status = yk_elements_assemble(context, network, own->elements, own->count,
                                            own->contacts, all->local, own->points, &problem);
    if (status != YK_OK)
        return status;

    size_t rows = own->rows;
    double *r = yk_allocate(context, rows, sizeof *r);
    double *u = yk_allocate(context, rows, sizeof *u);
    if (!r || !u)
        return YK_ERROR_MEMORY;

    /* Without their own impulses the nodes would have other velocities: q = u - W r. */
    memcpy(r, own->last, rows * sizeof *r);
    yk_contact_multiply(&problem, r, u);
    double norm = 0;
    for (size_t k = 0; k < rows; k++) {
        double soft = problem.softness[k] * r[k];
        double present = problem.q[k];
        problem.q[k] = present - (u[k] - soft);
        u[k] = present + soft;
        norm += problem.q[k] * problem.q[k];
    }

    /* Nothing to do where the sweeps were enough. */
    double before = largest_violation(&problem, options->friction_model, network->rho, r, u);
    if (!(before > tolerance))
        return YK_OK;

    /* From the present impulses on, much further than what is asked of the island. */
    yk_contact_options accurate = *options;
    yk_contact_report report;
    accurate.method = YK_CONTACT_INTERIOR_POINT;
    accurate.max_iterations = ACCURATE_STEPS;
    accurate.warm_start = true;
    accurate.residual_history = NULL;
    accurate.tolerance = 1e-8;
    if (norm > 0)
        accurate.tolerance = INNER_TOLERANCE * tolerance / sqrt(norm);

    status = yk_contact_solve(context, &problem, &accurate, r, u, &report);
    *steps += report.iterations;
    if (status == YK_ERROR_MEMORY)
        return status;

    /* An island that cannot be solved keeps what the sweeps gave. */
    if (!YK_FAILED(status) &&
        largest_violation(&problem, options->friction_model, network->rho, r, u) < before)
        memcpy(own->r, r, rows * sizeof *r);
    return YK_OK;
}

/* The largest violation of an island without round contacts. */
static double island_violation(const yk_network *network, const islands *all, size_t island,
                               yk_friction_model friction)
{
    double largest = 0;
    for (size_t k = all->start[island]; k < all->start[island + 1]; k++) {
        size_t i = all->element[k];
        if (i < network->contact_count) {
            contact_slot at = network->slots[i];
            if (at.kind != SLOT_GENERAL)
                continue;
            const general_contact *c = &network->generals[at.index];
            largest = fmax(largest, yk_general_violation(network, c, friction, network->rho));
            continue;
        }

        const joint_block *b = joints_of(network, (uint32_t)i);
        for (uint32_t row = 0; row < b->count; row++)
            largest = fmax(largest, yk_joint_violation(network, b->first + row, network->rho));
    }

    return sqrt(largest);
}

/* Whether the impulses of an island change no relative velocity by more than this in the step. */
static bool is_steady(const yk_network *network, const islands *all, size_t island, double speed)
{
    for (size_t k = all->start[island]; k < all->start[island + 1]; k++) {
        size_t i = all->element[k];
        if (i >= network->contact_count || network->slots[i].kind != SLOT_GENERAL)
            continue;
        const general_contact *c = &network->generals[network->slots[i].index];
        if (c->impulse[0] > 0 && yk_general_change(network, c) > speed)
            return false;
    }

    return true;
}

/* Sweeps leave alone what is solved; Newton's method what moves. */
static void mark_island(yk_network *network, const islands *all, size_t island, bool solved,
                        bool moving)
{
    for (size_t k = all->start[island]; k < all->start[island + 1]; k++) {
        size_t i = all->element[k];
        if (i >= network->contact_count) {
            network->joint_blocks[i - network->contact_count].solved = solved;
        } else if (network->slots[i].kind == SLOT_GENERAL) {
            network->generals[network->slots[i].index].solved = solved;
            network->generals[network->slots[i].index].moving = moving;
        }
    }
}

static bool is_moving(const yk_network *network, const islands *all, size_t island)
{
    for (size_t k = all->start[island]; k < all->start[island + 1]; k++) {
        size_t i = all->element[k];
        if (i < network->contact_count && network->slots[i].kind == SLOT_GENERAL &&
            network->generals[network->slots[i].index].moving)
            return true;
    }

    return false;
}

/* Solves one island if it violates its conditions by more than the tolerance of rest. Memory is
 * that of the context, released when all islands are done. */
static yk_status solve_island(yk_context *context, yk_network *network,
                              const yk_contact_options *options,
                              const yk_island_tolerances *tolerances, const islands *all,
                              size_t island, which kind, yk_contact_report *report)
{
    gathered own;
    bool structure = kind == STRUCTURES || kind == MIXED;
    yk_newton_result result = {0};
    yk_status status = gather(context, network, all, island, &own);
    if (status == YK_OK)
        status = solve_by_newton(context, network, options, tolerances, all, &own, &result);
    if (status != YK_OK)
        return status;
    report->iterations += result.steps;
    if (result.steps > 0)
        report->method = YK_CONTACT_INTERIOR_POINT;

    /* The accurate method knows no bounds. */
    if (!structure && !result.solved && own.count <= ISLAND_MAX && !own.bounded) {
        int steps = 0;
        status = solve_accurately(context, network, options, tolerances->rest, all, &own, &steps);
        if (status != YK_OK)
            return status;
        report->iterations += steps;
        if (steps > 0)
            report->method = YK_CONTACT_INTERIOR_POINT;
    }

    /* The impulses that are new, and what they change. */
    size_t first = 0;
    for (size_t i = 0; i < own.count; first += (size_t)own.elements[i++].dim)
        take_impulses(network, own.list[i], &own.elements[i], own.r + first, own.last + first);

    if (kind == STRUCTURES && result.solved)
        mark_island(network, all, island, true, false);
    return YK_OK;
}

/* Whether an island is one of those to be solved. */
static bool is_wanted(const yk_network *network, const islands *all, size_t island, which kind)
{
    size_t size = all->start[island + 1] - all->start[island];
    size_t round = all->round[island];
    switch (kind) {
    case STIFF:
        return all->lightest[island] > STIFF_RATIO * all->heaviest[island] && size <= STIFF_MAX;
    case STRUCTURES: return round == 0;
    case MIXED: return round > 0 && 2 * round < size && !is_moving(network, all, island);
    default: return true;
    }
}

/* Looks at an island before all sweeps; false: Newton's method has nothing to do there, as the island is
 * solved or moves. */
static bool begin_structure(yk_network *network, const yk_contact_options *options,
                            const yk_island_tolerances *tolerances, const islands *all,
                            size_t island)
{
    double violation = island_violation(network, all, island, options->friction_model);
    bool solved = all->round[island] == 0 && violation <= tolerances->rest &&
                  is_steady(network, all, island, tolerances->steady);
    bool moving = options->tolerance == 0 && !(violation <= NEAR_REST * network->resolution);
    mark_island(network, all, island, solved, moving);
    return !solved && !moving;
}

/* Solves islands of a kind that violate their conditions by more than the tolerance of rest. */
static yk_status solve_islands(yk_network *network, const yk_contact_options *options,
                               const yk_island_tolerances *tolerances, which kind,
                               yk_contact_report *report)
{
    if (!network->scratch)
        network->scratch = yk_scratch_create(network->context);
    if (!network->scratch)
        return YK_ERROR_MEMORY;

    yk_context *context = yk_scratch_context(network->scratch);

    islands all = {0};
    yk_status status = list_islands(context, network, NEWTON_MAX, &all);

    for (size_t i = 0; i < all.count && status == YK_OK; i++) {
        if (kind == STRUCTURES && !begin_structure(network, options, tolerances, &all, i))
            continue;
        if (is_wanted(network, &all, i, kind))
            status = solve_island(context, network, options, tolerances, &all, i, kind, report);
    }

    yk_scratch_reset(network->scratch);
    if (status != YK_OK)
        return status;

    report->residual = yk_network_measure(network, options->friction_model, NULL);
    return YK_OK;
}

/* Contacts without an impulse that open, or close much more slowly than they would need to, join no
 * islands. Returns their number. */
static size_t mark_distant(yk_network *network, double speed)
{
    size_t count = 0;
    for (size_t i = 0; i < network->general_count; i++) {
        general_contact *c = &network->generals[i];
        double u[YK_CONTACT_DIM_MAX];
        yk_general_velocity(network->nodes, c, u);

        bool acts = false;
        for (int k = 0; k < c->dim; k++)
            acts = acts || c->impulse[k] != 0;
        c->distant = !acts && u[0] > speed;
        count += c->distant;
    }

    return count;
}

bool yk_network_is_steady(const yk_network *network, double speed)
{
    for (size_t i = 0; i < network->general_count; i++) {
        const general_contact *c = &network->generals[i];
        if (c->impulse[0] > 0 && yk_general_change(network, c) > speed)
            return false;
    }

    return true;
}

yk_status yk_network_solve_structures(yk_network *network, const yk_contact_options *options,
                                      const yk_island_tolerances *tolerances, bool mixed,
                                      yk_contact_report *report)
{
    which kind = mixed ? MIXED : STRUCTURES;
    size_t distant = mark_distant(network, DISTANT * network->resolution);
    yk_status status = solve_islands(network, options, tolerances, kind, report);

    /* With all contacts, if one of those that were left out is needed. */
    if (distant > 0) {
        mark_distant(network, INFINITY);
        if (status == YK_OK && report->residual > tolerances->loose)
            status = solve_islands(network, options, tolerances, kind, report);
    }

    return status;
}

yk_island_tolerances yk_equal_tolerances(double tolerance)
{
    return (yk_island_tolerances){tolerance, tolerance, INFINITY, tolerance, tolerance};
}

yk_status yk_network_improve(yk_network *network, const yk_contact_options *options,
                             double tolerance, yk_contact_report *report)
{
    yk_network_rho(network);

    /* Stiff islands first, which there can be only where masses differ. */
    double lightest = 0;
    double heaviest = INFINITY;
    for (size_t i = 0; i < network->node_count; i++) {
        double inverse_mass = network->nodes[i].inverse_mass;
        if (!(inverse_mass > 0))
            continue;
        lightest = fmax(lightest, inverse_mass);
        heaviest = fmin(heaviest, inverse_mass);
    }

    yk_status status = YK_OK;
    if (lightest > STIFF_RATIO * heaviest) {
        yk_island_tolerances stiff = yk_equal_tolerances(YK_STIFF_TOLERANCE * tolerance);
        status = solve_islands(network, options, &stiff, STIFF, report);
    }

    /* More sweeps, as long as they gain. */
    for (int round = 0; round < ROUNDS && report->residual > tolerance; round++) {
        double before = report->residual;
        report->iterations += yk_network_sweeps(network, options, SWEEPS);
        report->residual = yk_network_measure(network, options->friction_model, NULL);
        if (!(report->residual < GAIN * before))
            break;
    }

    /* What is left goes to the accurate method, island by island. */
    if (status == YK_OK && report->residual > tolerance) {
        yk_island_tolerances all = yk_equal_tolerances(tolerance);
        status = solve_islands(network, options, &all, ALL, report);
    }
    if (status != YK_OK || isfinite(report->residual))
        return status;
    return yk_fail(network->context, YK_ERROR_NOT_FINITE,
                   "contact network: velocities are not finite after %d iterations; check masses, "
                   "normals and biases",
                   report->iterations);
}
