/* Islands solved by the method of multipliers with Newton's method in the velocities of the nodes.
 *
 * Gauss-Seidel passes an impulse on from contact to contact, and needs a number of sweeps that grows
 * with the square of the length of a structure. Newton's method sees the whole structure at once. Its
 * unknowns are the six velocities of each node, not the impulses: faces that rest on each other have
 * more contact points than degrees of freedom, and their W is singular, while the matrix below is
 * positive definite for any set of contacts.
 *
 *   p+ = P_K(p - sigma (u(v) + lift))      the impulses as a function of the velocities
 *   F(v) = M (v - v0) - D (p+ - p0) = 0    the velocities fit to the impulses
 *
 * F is the gradient of a convex function of v (Rockafellar 1976; Zhao, Sun, Toh 2010 for Newton's
 * method on it), with the derivative
 *
 *   H = M + sigma D P_K' D^T
 *
 * a sparse matrix with a 6 x 6 block per node and per pair of nodes that touch. The line search looks
 * for the zero of the slope along the step. When F vanishes, p+ takes the place of p, which
 * multiplies the error of p by about 1 / (1 + sigma W). The lift is that of true Coulomb friction
 * (de Saxce, Feng 1998), of the velocities before.
 *
 * A structure at rest begins from the impulses of the last step and needs no step at all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/cone.h"
#include "contact/network_newton.h"
#include "math/sparse.h"

enum {
    NODE = 6,                  /* velocities of a node */
    BLOCK = NODE * NODE,       /* numbers of a block of H */
    OUTER_MAX = 12,            /* new impulses */
    INNER_MAX = 20,            /* factorisations for each */
    TOTAL_MAX = 60,            /* of all */
    MANY = 10,                 /* after which the loose tolerance is good enough */
    SEARCH_MAX = 8,            /* trials of a line search */
    FLOPS_PER_CONTACT = 150000 /* of a factorisation: if it takes more, sweeps are cheaper */
};

/* sigma by the diagonal of a contact's own W. The smallest eigenvalues of W of a wall of 24 courses are
 * about 1e-4 of its diagonal: with 1e4, new impulses would remove only a quarter of the violation. */
static const double PENALTY = 1e6;
/* From impulses that are far from the solution sigma begins lower, since most contacts change their state
 * first: with the full one the velocities of a pyramid of 1035 bricks are not found in 20 steps. */
static const double GENTLE = 1e-4;
/* New impulses that leave more than this of the violation gain little; and after many steps. */
static const double GAIN = 0.5;
static const double GAIN_OF_MANY = 0.2;
/* The present sigma is kept, and with it the factors, if new impulses leave less than this. */
static const double FAST_GAIN = 0.1;
/* A violation by the tolerance that is far from the solution. */
static const double FAR = 1e3;
/* Factor on sigma after each solution for the velocities, until it is this much by the full one. */
static const double HARDER = 10;
static const double HARDEST = 1e3;
/* F, as a velocity, that is small enough for new impulses: by the tolerance, and by the violation of
 * the present ones. */
static const double INNER = 0.1;
static const double INEXACT = 0.03;
/* Slope at the end of a line search by that at its beginning. */
static const double SLOPE = 0.5;
/* Difference of P_K' below which the factors are used again. A friction that turns by an angle a adds
 * sigma a^2 to the slope in a direction where it was zero, which has to be small compared with the mass. */
static const double SAME_SLOPE = 1e-4;
/* Speed at which contacts open that count as sticking in the first step, by the violation. */
static const double PRESS = 1e-3;
/* F cannot become smaller than this many rounding errors of the impulses. */
static const double ROUNDING = 1e-15;

/* A contact or a block of joint rows. */
typedef struct row_block {
    int32_t node[2];    /* of the island, or -1 */
    int32_t edge;       /* of the pair of nodes; -1: one node */
    int32_t dim, first; /* rows */
    bool joint;
    yk_cone cone;
    double sigma;
} row_block;

typedef struct edge {
    int32_t a, b; /* a < b */
} edge;

typedef struct newton {
    yk_context *context;
    const yk_network *network;
    const yk_newton_island *island;
    row_block *parts;
    size_t rows, points;
    int32_t *node; /* of the network */
    /* Per row: the coefficients on the velocities of both nodes, rate without them. */
    double (*jacobian)[2][NODE];
    double *free_rate, *lower, *upper;
    double *lift; /* per part */
    /* Impulses: at the start; before, and by the present velocities. */
    double *start, *p, *next;
    double *target; /* that are projected */
    /* Velocities: at the start, now, those that fit to the impulses; F and the step. */
    double *v0, *v, *fit, *force, *step, *trial;
    double (*mass)[BLOCK];
    /* H: the pattern of its factors, and where the blocks of nodes and edges belong. */
    edge *edges;
    size_t edge_count;
    double *blocks; /* of the nodes, then of the edges */
    double *slopes; /* P_K' of all parts, of the last factorisation */
    bool factored;  /* with the present sigma */
    size_t *index;  /* of the numbers of these blocks, then of the transposed blocks of the edges */
    yk_supernodal *lu;
    double rho;
    bool coulomb;
} newton;

/* Rates ---------------------------------------------------------------------------------------- */

static double row_rate(const newton *s, const row_block *part, size_t row, const double *v)
{
    double rate = s->free_rate[row];
    for (int side = 0; side < 2; side++) {
        if (part->node[side] < 0)
            continue;
        const double *x = v + NODE * (size_t)part->node[side];
        const double *c = s->jacobian[row][side];
        rate += ((c[0] * x[0] + c[1] * x[1]) + (c[2] * x[2] + c[3] * x[3])) +
                (c[4] * x[4] + c[5] * x[5]);
    }

    return rate;
}

static void part_rates(const newton *s, const row_block *part, const double *v, double *u)
{
    for (int k = 0; k < part->dim; k++)
        u[k] = row_rate(s, part, (size_t)(part->first + k), v);
}

/* force += D p of a part. */
static void add_impulse(const newton *s, const row_block *part, const double *p, double *force)
{
    for (int side = 0; side < 2; side++) {
        if (part->node[side] < 0)
            continue;
        double *x = force + NODE * (size_t)part->node[side];
        for (int k = 0; k < part->dim; k++) {
            const double *c = s->jacobian[part->first + k][side];
            for (int l = 0; l < NODE; l++)
                x[l] += c[l] * p[k];
        }
    }
}

/* The nearest point of the cone of sliding friction, as of yk_cone_project. */
static inline void project_sliding(double mu, const double *x, double *p)
{
    double length = sqrt(x[1] * x[1] + x[2] * x[2]);
    if (length <= mu * x[0]) {
        memcpy(p, x, 3 * sizeof *p);
        return;
    }

    double normal = fmax(0, (x[0] + mu * length) / (1 + mu * mu));
    double ratio = length > 0 ? mu * normal / length : 0;
    p[0] = normal;
    p[1] = ratio * x[1];
    p[2] = ratio * x[2];
}

/* The impulses of a part that its rates u ask for with a given sigma. */
static void project(const newton *s, size_t i, double sigma, const double *u, double *target,
                    double *p)
{
    const row_block *part = &s->parts[i];
    const double *before = s->p + part->first;

    for (int k = 0; k < part->dim; k++)
        target[k] = before[k] - sigma * u[k];
    if (part->joint) {
        const double *lower = s->lower + part->first;
        const double *upper = s->upper + part->first;
        for (int k = 0; k < part->dim; k++)
            p[k] = fmin(upper[k], fmax(lower[k], target[k]));
        return;
    }

    target[0] -= sigma * s->lift[i];
    if (part->dim == 3) {
        project_sliding(part->cone.mu[0], target, p);
    } else {
        yk_cone_project(&part->cone, target, p);
    }
}

/* force = M (v - v0). */
static void begin_force(newton *s, const double *v)
{
    for (size_t n = 0; n < s->points; n++) {
        double change[NODE];
        for (int k = 0; k < NODE; k++)
            change[k] = v[NODE * n + (size_t)k] - s->v0[NODE * n + (size_t)k];
        for (int k = 0; k < NODE; k++) {
            const double *row = s->mass[n] + NODE * k;
            double sum = 0;
            for (int l = 0; l < NODE; l++)
                sum += row[l] * change[l];
            s->force[NODE * n + (size_t)k] = sum;
        }
    }
}

/* F at velocities v, with the impulses in `next`. */
static void evaluate(newton *s, const double *v)
{
    double u[YK_CONTACT_DIM_MAX];

    begin_force(s, v);
    for (size_t i = 0; i < s->island->count; i++) {
        const row_block *part = &s->parts[i];
        double *next = s->next + part->first;
        double change[YK_CONTACT_DIM_MAX];
        part_rates(s, part, v, u);
        project(s, i, part->sigma, u, s->target + part->first, next);
        for (int k = 0; k < part->dim; k++)
            change[k] = s->start[part->first + k] - next[k];
        add_impulse(s, part, change, s->force);
    }
}

/* The velocities that fit to the impulses in `next`: v0 + M^-1 D (next - start), and the largest
 * difference to the present ones. */
static double fit_velocities(newton *s)
{
    size_t size = NODE * s->points;
    double *force = s->fit;
    memset(force, 0, size * sizeof *force);
    for (size_t i = 0; i < s->island->count; i++) {
        const row_block *part = &s->parts[i];
        double change[YK_CONTACT_DIM_MAX];
        for (int k = 0; k < part->dim; k++)
            change[k] = s->next[part->first + k] - s->start[part->first + k];
        add_impulse(s, part, change, force);
    }

    double largest = 0;
    for (size_t n = 0; n < s->points; n++) {
        double *x = force + NODE * n;
        double inverse_mass = s->network->nodes[s->node[n]].inverse_mass;
        yk_vec3 spin = node_spin_response(s->network, s->node[n], yk_v3(x[3], x[4], x[5]));
        const double change[NODE] = {
            inverse_mass * x[0], inverse_mass * x[1], inverse_mass * x[2], spin.x, spin.y, spin.z};
        for (int k = 0; k < NODE; k++) {
            x[k] = s->v0[NODE * n + (size_t)k] + change[k];
            largest = fmax(largest, fabs(x[k] - s->v[NODE * n + (size_t)k]));
        }
    }

    return largest;
}

/* The largest violation of the conditions by impulses p and velocities v, as that of a network. */
static double violation(const newton *s, const double *p, const double *v)
{
    double largest = 0;
    for (size_t i = 0; i < s->island->count; i++) {
        const row_block *part = &s->parts[i];
        const double *own = p + part->first;
        double u[YK_CONTACT_DIM_MAX];
        double map[YK_CONTACT_DIM_MAX];
        part_rates(s, part, v, u);

        double sum = 0;
        if (part->joint) {
            for (int k = 0; k < part->dim; k++) {
                double moved = own[k] - s->rho * u[k];
                moved = fmin(s->upper[part->first + k], fmax(s->lower[part->first + k], moved));
                sum = fmax(sum, (own[k] - moved) * (own[k] - moved));
            }
        } else {
            yk_friction_model friction = YK_FRICTION_CONVEX_CONE;
            if (s->coulomb)
                friction = YK_FRICTION_COULOMB;
            yk_cone_natural_map(&part->cone, friction, s->rho, own, u, map);
            for (int k = 0; k < part->dim; k++)
                sum += map[k] * map[k];
        }
        largest = fmax(largest, sqrt(sum) / s->rho);
    }

    return largest;
}

/* Matrix --------------------------------------------------------------------------------------- */

/* to += left^T right, of `dim` rows. */
static inline void add_product(int dim, double (*left)[2][NODE], int side, double (*right)[NODE],
                               double *to)
{
    for (int k = 0; k < dim; k++) {
        const double *c = left[k][side];
        for (int m = 0; m < NODE; m++) {
            for (int l = 0; l < NODE; l++)
                to[NODE * m + l] += c[m] * right[k][l];
        }
    }
}

/* P_K' of a part for its present target; false: zero. */
static bool set_slope(const newton *s, const row_block *part, double *slope)
{
    const double *target = s->target + part->first;
    const double *p = s->next + part->first;
    int dim = part->dim;
    bool inside = true;
    bool acts = part->joint;
    for (int k = 0; k < dim; k++) {
        inside = inside && p[k] == target[k];
        acts = acts || p[k] != 0;
    }

    /* What is not projected, and rows of joints, which are projected one by one. */
    memset(slope, 0, (size_t)(dim * dim) * sizeof *slope);
    if (!acts)
        return false;
    if (inside || part->joint) {
        for (int k = 0; k < dim; k++)
            slope[k * dim + k] = p[k] == target[k];
        return true;
    }

    yk_cone_projection_slope(&part->cone, target, slope);
    return true;
}

/* Slopes of all parts; false: they are those of the last factorisation, up to small differences. */
static bool update_slopes(newton *s)
{
    bool changed = !s->factored;
    double *last = s->slopes;
    for (size_t i = 0; i < s->island->count; i++) {
        const row_block *part = &s->parts[i];
        double slope[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
        int size = part->dim * part->dim;
        set_slope(s, part, slope);
        for (int k = 0; k < size && !changed; k++)
            changed = fabs(slope[k] - last[k]) > SAME_SLOPE;

        /* Once one differs all are replaced, those before as well, which hardly differ. */
        if (changed)
            memcpy(last, slope, (size_t)size * sizeof *last);
        last += size;
    }

    return changed;
}

/* H with the present slopes. */
static void assemble(newton *s)
{
    size_t points = s->points;
    memcpy(s->blocks, s->mass, points * sizeof *s->mass);
    memset(s->blocks + BLOCK * points, 0, BLOCK * s->edge_count * sizeof *s->blocks);

    const double *slope = s->slopes;
    for (size_t i = 0; i < s->island->count; slope += s->parts[i].dim * s->parts[i].dim, i++) {
        const row_block *part = &s->parts[i];
        int dim = part->dim;

        /* sigma P_K' D^T of each side, then D times that. */
        double(*rows)[2][NODE] = s->jacobian + part->first;
        for (int side = 0; side < 2; side++) {
            if (part->node[side] < 0)
                continue;

            double right[YK_CONTACT_DIM_MAX][NODE] = {{0}};
            for (int k = 0; k < dim; k++) {
                for (int l = 0; l < dim; l++) {
                    double factor = part->sigma * slope[k * dim + l];
                    if (factor == 0)
                        continue;
                    for (int m = 0; m < NODE; m++)
                        right[k][m] += factor * rows[l][side][m];
                }
            }

            /* The block of the node; that of the pair is the block (a, b) with a < b. */
            add_product(dim, rows, side, right, s->blocks + BLOCK * (size_t)part->node[side]);
            if (part->node[1 - side] >= 0 && part->node[1 - side] < part->node[side])
                add_product(dim, rows, 1 - side, right,
                            s->blocks + BLOCK * (points + (size_t)part->edge));
        }
    }
}

static bool factor(newton *s)
{
    double *store = yk_supernodal_clear(s->lu);
    size_t numbers = BLOCK * (s->points + s->edge_count);
    const size_t *index = s->index;
    for (size_t k = 0; k < numbers; k++)
        store[index[k]] = s->blocks[k];

    /* Blocks of pairs a second time. */
    index += numbers;
    const double *pairs = s->blocks + BLOCK * s->points;
    for (size_t k = 0; k < BLOCK * s->edge_count; k++)
        store[index[k]] = pairs[k];

    return yk_supernodal_factor(s->lu, 0);
}

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a;
    const edge *y = b;
    if (x->a != y->a)
        return (x->a > y->a) - (x->a < y->a);
    return (x->b > y->b) - (x->b < y->b);
}

static edge edge_of(const row_block *part)
{
    edge e = {part->node[0], part->node[1]};
    if (e.a > e.b)
        e = (edge){part->node[1], part->node[0]};
    return e;
}

/* Pairs of nodes, the pattern of H, and its factors; they are NULL where they would take too much. */
static yk_status analyse(newton *s)
{
    yk_context *context = s->context;
    size_t points = s->points;
    size_t count = s->island->count;

    s->edges = yk_allocate(context, count + 1, sizeof *s->edges);
    if (!s->edges)
        return YK_ERROR_MEMORY;

    /* Contacts of one pair of nodes mostly follow each other. */
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        edge e = edge_of(&s->parts[i]);
        if (e.a >= 0 && (found == 0 || compare_edges(&s->edges[found - 1], &e) != 0))
            s->edges[found++] = e;
    }
    qsort(s->edges, found, sizeof *s->edges, compare_edges);

    s->edge_count = 0;
    for (size_t i = 0; i < found; i++) {
        if (i == 0 || compare_edges(&s->edges[i], &s->edges[i - 1]) != 0)
            s->edges[s->edge_count++] = s->edges[i];
    }

    for (size_t i = 0; i < count; i++) {
        edge e = edge_of(&s->parts[i]);
        s->parts[i].edge = -1;
        if (e.a < 0)
            continue;
        if (i > 0 && s->parts[i - 1].edge >= 0 &&
            compare_edges(&s->edges[s->parts[i - 1].edge], &e) == 0) {
            s->parts[i].edge = s->parts[i - 1].edge;
            continue;
        }
        const edge *at = bsearch(&e, s->edges, s->edge_count, sizeof e, compare_edges);
        s->parts[i].edge = (int32_t)(at - s->edges);
    }

    /* The pattern in compressed columns, with the diagonal. */
    size_t edges = s->edge_count;
    int *start = yk_allocate(context, points + 2, sizeof *start);
    int *row = yk_allocate(context, points + 2 * edges, sizeof *row);
    int *order = yk_allocate(context, points, sizeof *order);
    int *size = yk_allocate(context, points, sizeof *size);
    size_t numbers = BLOCK * (points + edges);
    s->blocks = yk_allocate(context, numbers, sizeof *s->blocks);
    s->index = yk_allocate(context, numbers + BLOCK * edges, sizeof *s->index);
    if (!start || !row || !order || !size || !s->blocks || !s->index)
        return YK_ERROR_MEMORY;

    for (size_t n = 0; n < points; n++) {
        size[n] = NODE;
        start[n + 2]++;
    }
    for (size_t k = 0; k < edges; k++) {
        start[s->edges[k].a + 2]++;
        start[s->edges[k].b + 2]++;
    }
    for (size_t n = 2; n < points + 2; n++)
        start[n] += start[n - 1];

    /* Rows rise in each column: first those above the diagonal, in the order of the edges. */
    for (size_t k = 0; k < edges; k++)
        row[start[s->edges[k].b + 1]++] = s->edges[k].a;
    for (size_t n = 0; n < points; n++)
        row[start[n + 1]++] = (int)n;
    for (size_t k = 0; k < edges; k++)
        row[start[s->edges[k].a + 1]++] = s->edges[k].b;

    yk_status status = yk_elimination_order(context, (int)points, start, row, order);
    if (status != YK_OK)
        return status;

    /* With b blocks in each column of L and each row of U, an elimination of a node takes 2 b^2 products
     * of blocks. */
    double flops = (double)FLOPS_PER_CONTACT * (double)count / (double)points;
    double columns = sqrt(flops / (2 * 2 * NODE * BLOCK)) + 1;
    yk_supernodal_def def = {
        .vertices = (int)points,
        .size = size,
        .starts = start,
        .rows = row,
        .row_order = order,
        .column_order = order,
        .most = (size_t)(2 * columns * BLOCK * (double)points),
    };
    status = yk_supernodal_create(context, &def, &s->lu);
    if (status != YK_OK || !s->lu)
        return status;

    /* Where the numbers of the blocks belong. */
    size_t *index = s->index;
    for (size_t n = 0; n < points; n++) {
        for (int e = 0; e < BLOCK; e++)
            *index++ =
                yk_supernodal_index(s->lu, NODE * (int)n + e / NODE, NODE * (int)n + e % NODE);
    }
    for (int transposed = 0; transposed < 2; transposed++) {
        for (size_t k = 0; k < edges; k++) {
            for (int e = 0; e < BLOCK; e++) {
                int r = NODE * s->edges[k].a + e / NODE;
                int c = NODE * s->edges[k].b + e % NODE;
                *index++ = transposed ? yk_supernodal_index(s->lu, c, r)
                                      : yk_supernodal_index(s->lu, r, c);
            }
        }
    }

    return YK_OK;
}

/* Set-up --------------------------------------------------------------------------------------- */

/* The mass matrix of a node; false: an impulse does not move it in some direction. */
static bool set_mass(newton *s, size_t point)
{
    int32_t index = s->node[point];
    double inverse_mass = s->network->nodes[index].inverse_mass;
    double *mass = s->mass[point];
    if (!(inverse_mass > 0))
        return false;

    yk_mat3 response;
    for (int k = 0; k < 3; k++) {
        mass[NODE * k + k] = 1 / inverse_mass;
        yk_vec3 axis = {k == 0, k == 1, k == 2};
        yk_vec3 column = node_spin_response(s->network, index, axis);
        response.m[0][k] = column.x;
        response.m[1][k] = column.y;
        response.m[2][k] = column.z;
    }

    yk_mat3 inertia = yk_m3_inverse(response);
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l < 3; l++) {
            double value = inertia.m[k][l];
            if (!isfinite(value))
                return false;
            mass[NODE * (3 + k) + 3 + l] = value;
        }
    }
    return true;
}

/* The rows of an element; false: it is one that this method does not know. */
static bool set_part(newton *s, size_t i, int32_t first)
{
    const yk_newton_island *island = s->island;
    const element *e = &island->elements[i];
    row_block *part = &s->parts[i];

    part->dim = e->dim;
    part->first = first;
    part->joint = i >= island->contacts;
    part->cone = (yk_cone){.dim = e->dim, .mu = {e->mu, e->mu_spin, e->mu_roll}};

    double diagonal = 0;
    for (int k = 0; k < e->dim; k++) {
        size_t row = (size_t)(first + k);
        if (e->softness[k] > 0)
            return false;
        s->free_rate[row] = e->free_rate[k];
        s->lower[row] = -INFINITY;
        s->upper[row] = INFINITY;
        for (int side = 0; side < 2; side++) {
            int32_t node = e->node[side];
            part->node[side] = -1;
            if (node < 0)
                continue;

            /* A node that nothing moves adds its velocity. */
            yk_vec3 l = e->linear[side][k];
            yk_vec3 w = e->spin[side][k];
            const yk_network_node *n = &s->network->nodes[node];
            if (island->local[node] < 0) {
                s->free_rate[row] += yk_v3_dot(l, n->velocity) + yk_v3_dot(w, n->spin);
                continue;
            }

            part->node[side] = island->local[node];
            const double c[NODE] = {l.x, l.y, l.z, w.x, w.y, w.z};
            memcpy(s->jacobian[row][side], c, sizeof c);
            diagonal += n->inverse_mass * yk_v3_norm2(l) +
                        yk_v3_dot(w, node_spin_response(s->network, node, w));
        }
    }

    part->sigma = PENALTY * e->dim / diagonal;
    return isfinite(part->sigma) && part->sigma > 0;
}

static yk_status allocate(newton *s)
{
    yk_context *context = s->context;
    size_t count = s->island->count;
    size_t size = NODE * s->points;

    size_t slopes = 0;
    for (size_t i = 0; i < count; i++)
        slopes += (size_t)(s->island->elements[i].dim * s->island->elements[i].dim);
    s->slopes = yk_allocate(context, slopes + 1, sizeof *s->slopes);
    s->parts = yk_allocate(context, count, sizeof *s->parts);
    s->lift = yk_allocate(context, count, sizeof *s->lift);
    s->jacobian = yk_allocate(context, s->rows, sizeof *s->jacobian);
    s->mass = yk_allocate(context, s->points, sizeof *s->mass);
    s->node = yk_allocate(context, s->points, sizeof *s->node);
    if (!s->slopes || !s->parts || !s->lift || !s->jacobian || !s->mass || !s->node)
        return YK_ERROR_MEMORY;

    double **of_rows[] = {&s->free_rate, &s->lower, &s->upper, &s->p,
                          &s->next,      &s->start, &s->target};
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = yk_allocate(context, s->rows, sizeof **of_rows[k]);
        if (!*of_rows[k])
            return YK_ERROR_MEMORY;
    }

    double **of_nodes[] = {&s->v0, &s->v, &s->fit, &s->force, &s->step, &s->trial};
    for (size_t k = 0; k < sizeof of_nodes / sizeof *of_nodes; k++) {
        *of_nodes[k] = yk_allocate(context, size, sizeof **of_nodes[k]);
        if (!*of_nodes[k])
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

/* Solution ------------------------------------------------------------------------------------- */

static double slope_along(const newton *s)
{
    double sum = 0;
    for (size_t k = 0; k < NODE * s->points; k++)
        sum += s->force[k] * s->step[k];
    return sum;
}

/* From v along the step to where F has no component along it; leaves F there. The slope rises along
 * the way, as F is the gradient of a convex function. False: the step does not lead down. */
static bool search(newton *s)
{
    size_t size = NODE * s->points;
    double begin = slope_along(s);
    if (!(begin < 0))
        return false;

    double low = 0, low_slope = begin;
    double high = -1, high_slope = 0;
    double way = 1;
    for (int trial = 0; trial < SEARCH_MAX; trial++) {
        for (size_t k = 0; k < size; k++)
            s->trial[k] = s->v[k] + way * s->step[k];
        evaluate(s, s->trial);
        double slope = slope_along(s);
        if (!isfinite(slope))
            return false;
        if (fabs(slope) <= SLOPE * -begin)
            break;

        if (slope < 0) {
            low = way;
            low_slope = slope;
        } else {
            high = way;
            high_slope = slope;
        }

        /* Secants, kept away from both ends. */
        if (high < 0) {
            way *= 2;
        } else {
            double part = -low_slope / (high_slope - low_slope);
            way = low + fmin(0.9, fmax(0.1, part)) * (high - low);
        }
    }

    memcpy(s->v, s->trial, size * sizeof *s->v);
    return true;
}

/* The step of Newton's method from F and the present slopes; false: it is not finite. */
static bool find_step(newton *s, int *steps)
{
    if (update_slopes(s)) {
        assemble(s);
        s->factored = factor(s);
        if (!s->factored)
            return false;
        ++*steps;
    }

    for (size_t k = 0; k < NODE * s->points; k++)
        s->step[k] = -s->force[k];
    yk_supernodal_solve(s->lu, s->step);
    return true;
}

/* A first step if little has changed since the last solution: each contact keeps the state that its
 * present impulse has, open, sticking or sliding. With the large sigma, small velocities would change the
 * states of contacts that keep them. */
static bool predict_velocities(newton *s, int *steps)
{
    double u[YK_CONTACT_DIM_MAX];
    double before = fit_velocities(s);
    memcpy(s->trial, s->v, NODE * s->points * sizeof *s->trial);

    begin_force(s, s->v);
    for (size_t i = 0; i < s->island->count; i++) {
        const row_block *part = &s->parts[i];
        part_rates(s, part, s->v, u);
        project(s, i, s->rho, u, s->target + part->first, s->next + part->first);
    }
    if (update_slopes(s))
        s->factored = false;

    /* F as a linear function: p - sigma P_K' u. */
    const double *slope = s->slopes;
    for (size_t i = 0; i < s->island->count; slope += s->parts[i].dim * s->parts[i].dim, i++) {
        const row_block *part = &s->parts[i];
        const double *p = s->p + part->first;
        double change[YK_CONTACT_DIM_MAX];
        part_rates(s, part, s->v, u);
        if (!part->joint)
            u[0] += s->lift[i];
        for (int k = 0; k < part->dim; k++) {
            change[k] = s->start[part->first + k] - p[k];
            for (int l = 0; l < part->dim; l++)
                change[k] += part->sigma * slope[k * part->dim + l] * u[l];
        }
        add_impulse(s, part, change, s->force);
    }

    assemble(s);
    s->factored = factor(s);
    if (!s->factored)
        return false;
    ++*steps;
    for (size_t k = 0; k < NODE * s->points; k++)
        s->step[k] = -s->force[k];
    yk_supernodal_solve(s->lu, s->step);
    for (size_t k = 0; k < NODE * s->points; k++)
        s->v[k] = s->trial[k] + s->step[k];

    evaluate(s, s->v);
    if (fit_velocities(s) < before)
        return true;
    memcpy(s->v, s->trial, NODE * s->points * sizeof *s->v);
    evaluate(s, s->v);
    return true;
}

/* Contacts without an impulse that open by less than a speed count as sticking in the first step, since
 * faces that fall together are loaded as soon as the lowest one is stopped. One by one they would need a
 * step for each course of a structure. */
static void press_contacts(newton *s, double speed)
{
    for (size_t i = 0; i < s->island->contacts; i++) {
        const row_block *part = &s->parts[i];
        double *target = s->target + part->first;
        double *p = s->next + part->first;
        if (p[0] > 0 || target[0] < -part->sigma * speed)
            continue;
        for (int k = 0; k < part->dim; k++)
            target[k] = p[k] = k == 0;
    }
}

/* Velocities that fit to their impulses. False: they were not found. */
static bool solve_velocities(newton *s, double enough, bool predicts, double press, int *steps)
{
    evaluate(s, s->v);
    if (press > 0)
        press_contacts(s, press);
    if (predicts && !predict_velocities(s, steps))
        return false;

    for (int inner = 0; inner < INNER_MAX && *steps < TOTAL_MAX; inner++) {
        /* Pressed contacts have other impulses than those of F. */
        bool pressed = press > 0 && inner == 0;
        if (!pressed && fit_velocities(s) <= enough)
            return true;
        if (yk_context_should_stop(s->context) || !find_step(s, steps) || !search(s))
            return false;
    }

    return fit_velocities(s) <= enough;
}

static void set_lifts(newton *s)
{
    for (size_t i = 0; s->coulomb && i < s->island->contacts; i++) {
        const row_block *part = &s->parts[i];
        double u[YK_CONTACT_DIM_MAX];
        part_rates(s, part, s->v, u);
        s->lift[i] = yk_cone_lift(&part->cone, u);
    }
}

static void scale_sigma(newton *s, double factor)
{
    for (size_t i = 0; i < s->island->count; i++)
        s->parts[i].sigma *= factor;
    s->factored = false;
}

/* Rounding errors of F as a velocity: sigma multiplies those of the rates. */
static double rounding_of_force(const newton *s)
{
    double largest = 0;
    for (size_t k = 0; k < NODE * s->points; k++)
        largest = fmax(largest, fabs(s->v0[k]));
    return ROUNDING * PENALTY * largest;
}

/* Impulses that violate the conditions by less than a tolerance, else the best. */
static void iterate(newton *s, const yk_island_tolerances *tolerances, double *r,
                    yk_newton_result *result)
{
    size_t bytes = NODE * s->points * sizeof *s->v;
    double limit = FAR * tolerances->good;
    bool far = result->violation > limit;
    double share = 1; /* of the full sigma */
    if (far) {
        double closeness = limit / result->violation;
        share = fmax(GENTLE, closeness * sqrt(closeness));
        scale_sigma(s, share);
    }

    /* Only impulses of a structure at rest serve several steps. */
    double exact = far ? tolerances->good : tolerances->exact;
    double least = fmax(INNER * exact, rounding_of_force(s));
    for (int outer = 0; outer < OUTER_MAX && result->steps < TOTAL_MAX; outer++) {
        set_lifts(s);
        double press = far && outer == 0 ? PRESS * result->violation : 0;
        double enough = fmax(least, far ? INEXACT * result->violation : 0);
        bool found = solve_velocities(s, enough, !far && outer == 0, press, &result->steps);

        /* The impulses of the present velocities, and the velocities that fit to them. */
        fit_velocities(s);
        double now = violation(s, s->next, s->fit);
        double gain = result->steps >= MANY ? GAIN_OF_MANY : GAIN;
        bool slow = share >= 1 && now > gain * result->violation;
        double before = result->violation;
        bool better = now < before;
        if (better) {
            result->violation = now;
            memcpy(r, s->next, s->rows * sizeof *r);
        }
        double tolerance = exact;
        if (!found || result->steps >= MANY || now > GAIN_OF_MANY * before)
            tolerance = tolerances->good;
        if (slow)
            tolerance = tolerances->loose;
        result->solved = result->violation <= tolerance;
        if (result->solved || (!found && !better))
            return;

        memcpy(s->p, s->next, s->rows * sizeof *s->p);
        memcpy(s->v, s->fit, bytes);
        if (share >= HARDEST || (share >= 1 && now < FAST_GAIN * before))
            continue;
        share *= HARDER;
        scale_sigma(s, HARDER);
    }
}

yk_status yk_newton_solve_island(yk_context *context, const yk_network *network,
                                 const yk_newton_island *island, yk_friction_model friction,
                                 const yk_island_tolerances *tolerances, double *r,
                                 yk_newton_result *result)
{
    newton s = {
        .context = context,
        .network = network,
        .island = island,
        .points = island->points,
        .rho = network->rho,
        .coulomb = friction == YK_FRICTION_COULOMB,
    };

    *result = (yk_newton_result){.violation = INFINITY};
    if (friction == YK_FRICTION_PYRAMID)
        return YK_OK;

    for (size_t i = 0; i < island->count; i++)
        s.rows += (size_t)island->elements[i].dim;
    yk_status status = allocate(&s);
    if (status != YK_OK)
        return status;

    /* Nodes, then rows. */
    for (size_t i = 0; i < island->count; i++) {
        for (int side = 0; side < 2; side++) {
            int32_t node = island->elements[i].node[side];
            if (node >= 0 && island->local[node] >= 0)
                s.node[island->local[node]] = node;
        }
    }
    for (size_t n = 0; n < s.points; n++) {
        const yk_network_node *node = &network->nodes[s.node[n]];
        const double v[NODE] = {node->velocity.x, node->velocity.y, node->velocity.z,
                                node->spin.x,     node->spin.y,     node->spin.z};
        memcpy(s.v0 + NODE * n, v, sizeof v);
        if (!set_mass(&s, n))
            return YK_OK;
    }

    int32_t first = 0;
    for (size_t i = 0; i < island->count; i++) {
        if (!set_part(&s, i, first))
            return YK_OK;
        if (i >= island->contacts) {
            const yk_joint_row *rows = island->rows[i - island->contacts];
            for (int k = 0; k < island->elements[i].dim; k++) {
                s.lower[first + k] = rows[k].lower;
                s.upper[first + k] = rows[k].upper;
            }
        }
        first += island->elements[i].dim;
    }

    memcpy(s.v, s.v0, NODE * s.points * sizeof *s.v);
    memcpy(s.p, r, s.rows * sizeof *s.p);
    memcpy(s.start, r, s.rows * sizeof *s.start);
    result->violation = violation(&s, r, s.v0);
    result->solved = result->violation <= tolerances->exact;
    if (result->solved)
        return YK_OK;

    status = analyse(&s);
    if (status == YK_OK && s.lu)
        iterate(&s, tolerances, r, result);
    return status;
}
