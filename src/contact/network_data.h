/* What is inside a network; for the network_*.c files only.
 *
 *   network.c          storage, filling, reading back
 *   network_coloring.c     blocks, colours, groups of four
 *   network_spheres.c    kernels of round contacts, four at a time
 *   network_rolling.c  kernels of round contacts with spinning and rolling friction
 *   network_general.c  general contacts and joints, one at a time
 *   network_islands.c  islands that sweeps do not solve, by Newton's or the accurate method
 *   network_newton.c   Newton's method on one island
 *   network_solve.c    the solvers: Gauss-Seidel over the plan, projected gradient, the accurate one assembled
 *   network_assemble.c contacts and joints as blocks of rows, the assembled problem
 *   response.c         how the nodes answer while the contacts keep their state
 */
#ifndef YK_CONTACT_NETWORK_DATA_H
#define YK_CONTACT_NETWORK_DATA_H

#include <stdatomic.h>

#include "base/context.h"
#include "contact/network.h"

enum { LANES = 4 };

/* Three components of four vectors. */
typedef struct lane_vectors {
    double c[3][LANES];
} lane_vectors;

/* Four contacts between spheres that share no node: 288 bytes, 72 per contact. Lanes that are not
 * used have nodes without mass of their own. */
typedef struct pair_group {
    lane_vectors normal;
    lane_vectors impulse;
    double bias[LANES];
    double mu[LANES];
    int32_t a[LANES], b[LANES];
} pair_group;

/* Four contacts of spheres with surfaces of prescribed motion; velocity is that of the surface,
 * with the bias taken off. */
typedef struct single_group {
    lane_vectors normal;
    lane_vectors impulse;
    lane_vectors velocity;
    double mu[LANES];
    int32_t a[LANES];
    int32_t other[LANES]; /* node of the surface, or YK_NODE_NONE */
} single_group;

/* Four round contacts with spinning and rolling friction, of spheres with each other or with
 * surfaces of prescribed motion; then b is a node without mass, and velocity as above. */
typedef struct rolling_group {
    lane_vectors normal;
    lane_vectors impulse;
    lane_vectors torque;
    lane_vectors velocity;
    double mu[LANES], mu_spin[LANES], mu_roll[LANES];
    double inverse_length_a[LANES], inverse_length_b[LANES];
    int32_t a[LANES], b[LANES];
    int32_t other[LANES]; /* as of single contacts; not read where b moves */
    /* Steps in the metric dN, dT, dR, and sqrt(dT / dN), sqrt(dR / dN): see network_rolling.c. */
    double step_n[LANES], step_t[LANES], step_r[LANES];
    double root_t[LANES], root_r[LANES];
} rolling_group;

/* How four round contacts yield, beside their group where some do. */
typedef struct soft_group {
    double normal[LANES];
    double tangent[LANES];
} soft_group;

typedef struct general_contact {
    int32_t a, b;
    int32_t dim;          /* 3, or 6 with spinning and rolling friction */
    yk_vec3 frame[3];     /* normal, tangents */
    yk_vec3 arm_a, arm_b; /* over the nodes' lengths */
    double inverse_length_a, inverse_length_b;
    double drive[3];  /* bias and motion of the surface, in the frame */
    double before[3]; /* bias and relative velocity at the start of the step, in the frame */
    double mu, mu_spin, mu_roll;
    double softness[3]; /* of the rows of the force */
    /* in the frame: force, then torque about normal and tangents */
    double impulse[YK_CONTACT_DIM_MAX];
    double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
    /* of w with softness: normal, and the largest eigenvalue of the tangential part */
    double dn, dt;
    double ds, dr; /* the same of spinning and rolling, where dim is 6 */
    bool solved;   /* by Newton's method: sweeps leave it alone */
    bool distant;  /* too far away to join islands */
    bool moving;   /* its island is left to sweeps */
} general_contact;

/* Inverse inertia times length^2, and the length. */
typedef struct node_extra {
    double inverse[6]; /* xx, yy, zz, xy, xz, yz */
    double length;
    double has_tensor; /* not zero: `inverse` holds, else spin_inverse_mass of the node */
} node_extra;

enum { SLOT_PAIR, SLOT_SINGLE, SLOT_ROLLING, SLOT_GENERAL, SLOT_IDLE };

/* Where a contact lives: a lane of a group (group * LANES + lane) or a general contact. */
typedef struct contact_slot {
    uint32_t index;
    uint8_t kind;    /* SLOT_PAIR and its kin */
    uint8_t swapped; /* a and b exchanged: normal and impulse have the other sign */
    uint16_t unused;
} contact_slot;

/* Work that one thread does from start to end. */
typedef struct block {
    uint32_t pair_begin, pair_end;
    uint32_t single_begin, single_end;
    uint32_t rolling_begin, rolling_end;
    uint32_t general_begin, general_end;
} block;

typedef struct joint_row {
    yk_vec3 linear_a, spin_a, linear_b, spin_b; /* coefficients on velocity and spin */
    yk_vec3 kick_a, kick_b;                     /* what a unit impulse adds to the spins */
} joint_row;

/* Rows [first, first + count) solved together. */
typedef struct joint_block {
    uint32_t first;
    uint32_t count;
    bool solved; /* as of a contact */
    double inverse[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
} joint_block;

/* A contact or a joint as a block of rows: up to six, on node a and perhaps b. */
typedef struct element {
    int32_t node[2];
    int dim;
    yk_vec3 linear[2][YK_CONTACT_DIM_MAX], spin[2][YK_CONTACT_DIM_MAX];
    double free_rate[YK_CONTACT_DIM_MAX]; /* bias and prescribed motion */
    double softness[YK_CONTACT_DIM_MAX];
    double mu, mu_spin, mu_roll;
} element;

/* Elements at each point (node or slot): those of point k are list[start[k]] to
 * list[start[k + 1] - 1], rising. */
typedef struct yk_incidence {
    int *start; /* points + 2 */
    int *list;  /* 2 per element */
} yk_incidence;

typedef struct array {
    void *raw;  /* as allocated */
    void *data; /* aligned to 64 bytes */
    size_t capacity;
    size_t size; /* of an element */
} array;

struct yk_network {
    yk_context *context;
    /* memory of the accurate solver, kept between steps; NULL before it is first used */
    yk_scratch *scratch;
    yk_pool *pool;
    size_t node_count, contact_count;
    /* node_count and then two without mass per block, for lanes that are not used */
    yk_network_node *nodes;
    node_extra *extras;
    contact_slot *slots;
    pair_group *pairs;
    single_group *singles;
    rolling_group *rollings;
    general_contact *generals;
    soft_group *pair_softness; /* NULL when no contact is soft */
    soft_group *single_softness;
    bool soft;
    bool baseline; /* no AVX2: for comparison */
    block *blocks; /* in the order of colours; the last one is the tail, worked off by one thread */
    size_t block_count;
    uint32_t *colour_start; /* colour_count + 1 */
    size_t colour_count;
    /* Blocks of colour c that are meant for thread m: shares[c (members + 1) + m] up to that of
     * m + 1, of about the same number of contacts each. */
    uint32_t *shares;
    int members; /* threads at work on a colour */
    struct {
        _Alignas(64) atomic_uint count; /* in a cache line of its own */
    } * taken; /* per member: how many blocks of its share have been taken */
    size_t pair_groups, single_groups, rolling_groups, general_count;
    yk_joint_row *joints;
    size_t joint_count;
    joint_row *joint_rows;
    joint_block *joint_blocks;
    size_t joint_block_count;
    double *partials;  /* per block and joint phase: largest, sum of squares, rows */
    double resolution; /* see yk_network_set_resolution */
    bool makes_all_sweeps;
    double rho; /* that violations are measured with, see yk_network_rho */
    /* Sum of the impulses that are missing or excessive, of the last measurement (N s). */
    double impulse_residual;
    array nodes_array, extras_array, slots_array, pairs_array, singles_array, rollings_array,
        generals_array, pair_softness_array, single_softness_array, blocks_array, colours_array,
        shares_array, taken_array, joint_rows_array, joint_blocks_array, partials_array,
        gradient_array, gradient_nodes_array, plan_array;
};

/* Memory for `count` elements, old contents lost; false when out of memory. Takes an eighth more
 * than asked for. */
bool yk_array_reserve(yk_context *context, array *a, size_t count, size_t size);

/* Calls `work` for all blocks, `repeats` times; blocks of one colour at the same time. `after`
 * follows the last colour of each repetition (may be NULL). */
void yk_network_run(yk_network *network,
                    void (*work)(yk_network *network, size_t block, void *user),
                    void (*after)(yk_network *network, void *user), void *user, int repeats);

/* Gauss-Seidel sweeps from the present impulses and velocities. */
/* Returns the number of sweeps: fewer than asked for after a stop. */
int yk_network_sweeps(yk_network *network, const yk_contact_options *options, int sweeps);

/* 1 / mean of the diagonal of W, which the network keeps; and the violation with that, as of
 * yk_network_residual. */
double yk_network_rho(yk_network *network);
double yk_network_measure(yk_network *network, yk_friction_model friction, double *rms);
/* Adds what the impulses do to the nodes, or sets them to zero. */
void yk_network_start(yk_network *network, bool warm_start);
void yk_report_note(const yk_contact_options *options, yk_contact_report *report, double residual);

/* Violations of the conditions by an island (m/s), from small to large. */
typedef struct yk_island_tolerances {
    double exact;  /* aim of Newton's method */
    double rest;   /* impulses of the last step that violate the conditions by less may be kept */
    double steady; /* largest change of a relative velocity in the step with which they are kept */
    double good;   /* accepted if a further step gains little */
    double loose;  /* accepted after many steps */
} yk_island_tolerances;

yk_island_tolerances yk_equal_tolerances(double tolerance);
/* Whether the impulses change no relative velocity of a general contact by more than this. */
bool yk_network_is_steady(const yk_network *network, double speed);
/* Islands by Newton's method: those without round contacts, which sweeps then leave alone, or those with
 * few. */
yk_status yk_network_solve_structures(yk_network *network, const yk_contact_options *options,
                                      const yk_island_tolerances *tolerances, bool mixed,
                                      yk_contact_report *report);

yk_status yk_network_solve_gradient(yk_network *network, const yk_contact_options *options,
                                    yk_contact_report *report);

/* Kernels of round contacts over [begin, end) groups. */
void yk_round_sweep(yk_network *network, const block *b, const yk_contact_options *options);
/* Adds the effect of the impulses to the nodes; sets the impulses to zero. */
void yk_round_apply(yk_network *network, const block *b);
void yk_round_clear(yk_network *network, const block *b);
/* Largest square, sum of squares and sum of the contacts' violations; rho as in yk_network_residual. */
void yk_round_residual(const yk_network *network, const block *b, bool coulomb, double rho,
                       double partial[3]);
/* Sum of the diagonal of W over the block's contacts, and its rows. */
void yk_round_diagonal(const yk_network *network, const block *b, double partial[3]);

/* The same of round contacts with spinning and rolling friction. Prepare makes local matrices and
 * must follow the last change of inertia. */
void yk_rolling_prepare(yk_network *network);
void yk_rolling_sweep(yk_network *network, const block *b, const yk_contact_options *options);
void yk_rolling_apply(yk_network *network, const block *b);
void yk_rolling_clear(yk_network *network, const block *b);
void yk_rolling_residual(const yk_network *network, const block *b, bool coulomb, double rho,
                         double partial[3]);
void yk_rolling_diagonal(const yk_network *network, const block *b, double partial[3]);

void yk_general_prepare(yk_network *network);
void yk_general_sweep(yk_network *network, const block *b, yk_friction_model friction,
                      double relaxation_factor, bool exact);
void yk_general_apply(yk_network *network, const block *b);
void yk_general_clear(yk_network *network, const block *b);
void yk_general_residual(const yk_network *network, const block *b, yk_friction_model friction,
                         double rho, double partial[3]);
/* The square of the violation of one contact (m^2/s^2). */
double yk_general_violation(const yk_network *network, const general_contact *c,
                            yk_friction_model friction, double rho);
/* Change of the relative velocity of a contact in the step (m/s). */
double yk_general_change(const yk_network *network, const general_contact *c);
void yk_general_diagonal(const yk_network *network, const block *b, double partial[3]);
/* Relative velocity in the frame, of velocities and (dim 6) spins, when the nodes move like
 * these. */
void yk_general_velocity(const yk_network_node *nodes, const general_contact *c, double *u);
void yk_general_add(yk_network *network, const general_contact *c, const double *change);

/* Blocks of rows that are solved together, and their coefficients; prepare brings their inverses
 * too. */
yk_status yk_joints_scale(yk_network *network);
yk_status yk_joints_prepare(yk_network *network);
/* Rate of a row when the nodes move like these; what an impulse does to the nodes; x M^-1 y of
 * two rows on the same nodes. */
double yk_joint_rate(const yk_network *network, const yk_network_node *nodes, size_t row,
                     double impulse);
void yk_joint_kick(yk_network *network, size_t row, double impulse);
double yk_joint_product(const yk_network *network, const yk_joint_row *nodes, const joint_row *x,
                        const joint_row *y);
/* The square of the violation of one row, and sweeps over all rows. */
double yk_joint_violation(const yk_network *network, size_t row, double rho);
void yk_joints_sweep(yk_network *network, double relaxation_factor);
void yk_joints_apply(yk_network *network);
void yk_joints_residual(const yk_network *network, double rho, double partial[3]);

/* Element i: the contacts in the order of the pairs in their frames, then the blocks of joints
 * (yk_joints_prepare). */
void yk_network_element(const yk_network *network, size_t i, element *e);
/* The impulse of a contact in the frame of its element. */
void yk_network_contact_impulse(const yk_network *network, size_t contact, double *r);
void yk_network_set_impulse(yk_network *network, size_t contact, const double *r);
/* The problem of some elements, the first `contacts` of them contacts; q has the present velocities
 * of their nodes. Nodes are numbered by `local` from 0 to `points` - 1; NULL: as in the network. */
yk_status yk_elements_assemble(yk_context *context, const yk_network *network,
                               const element *elements, size_t count, size_t contacts,
                               const int32_t *local, size_t points, yk_contact_problem *problem);
/* Fills the lists of `in` from the points at both ends of each element (-1: none). */
void yk_incidence_list(size_t points, size_t count, const int32_t (*ends)[2], yk_incidence *in);
/* Element i and all that share a point with it, rising: the columns of a block row of W. Returns
 * their number. mark: per element, the last i that it was listed for (-1 at first). */
int yk_incidence_neighbours(const yk_incidence *in, const int32_t (*ends)[2], size_t i, int *mark,
                            int *columns);
/* yk_network_assemble with the memory of another context, which the caller names again to destroy
 * the problem. */
yk_status yk_network_assemble_in(yk_context *context, yk_network *network,
                                 yk_contact_problem *problem);
/* Impulses of all contacts and joints from the rows of the assembled problem. */
void yk_network_give_impulses(yk_network *network, const yk_contact_problem *problem,
                              const double *r);

/* K x with the node's tensor. */
static inline yk_vec3 node_spin_response(const yk_network *network, int32_t node, yk_vec3 x)
{
    const node_extra *extra = network->extras ? &network->extras[node] : NULL;
    if (!extra || extra->has_tensor == 0)
        return yk_v3_scale(network->nodes[node].spin_inverse_mass, x);

    const double *k = extra->inverse;
    return yk_v3(k[0] * x.x + k[3] * x.y + k[4] * x.z, k[3] * x.x + k[1] * x.y + k[5] * x.z,
                 k[4] * x.x + k[5] * x.y + k[2] * x.z);
}

static inline double node_length(const yk_network *network, int32_t node)
{
    return network->extras ? network->extras[node].length : 1;
}

static inline bool node_is_dynamic(const yk_network *network, int32_t node)
{
    if (node < 0)
        return false;

    const yk_network_node *n = &network->nodes[node];
    return n->inverse_mass > 0 || n->spin_inverse_mass > 0 ||
           (network->extras && network->extras[node].has_tensor != 0);
}

#endif
