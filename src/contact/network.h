/* Contact problems in factored form: W = D^T M^-1 D is never assembled.
 *
 * Nodes carry six velocities each, linear and angular, with an inverse mass and an inverse
 * inertia. Contacts and joints connect two nodes, or one node and a surface whose motion is
 * prescribed. The unknowns are the impulses; the nodes' velocities follow them, v = v_free + M^-1
 * D p, and are the result.
 *
 *            normal, towards a
 *       a  <--------- contact ---------  b        u = velocity of a - velocity of b at the contact + bias * normal
 *       +p                              -p        p = impulse on a, global axes
 *
 * Each step of a simulation:
 *
 *   nodes = yk_network_nodes(network, count)          fill with the velocities that they have without contacts
 *   yk_network_plan(network, pairs, n)                who touches whom: finds the order of work (skip it while the
 *                                                     pairs stay the same)
 *   yk_network_set(network, i, &contact)  for all i   geometry, bias, friction, start value of the impulse; any thread
 *   yk_network_solve(network, &options, &report)
 *   nodes[k].velocity, yk_network_impulse(network, i)
 *
 * Memory. A node is one cache line of 64 bytes and 20 of the plan. A contact between two spheres
 * takes 72 bytes in the solver, one of a sphere with a prescribed surface 88, softness 16 more, a
 * general contact 592; the plan adds 41 to each, and arrays are taken an eighth larger than
 * needed: 136 bytes per contact of a heap of a million spheres, nodes' share included. One
 * Gauss-Seidel sweep reads the 72 bytes and writes 24 of them; nodes come from the cache as
 * contacts are worked off in blocks of neighbouring nodes: number the nodes so that neighbours in
 * space are near in number.
 *
 * Order and determinism. Nodes are cut into blocks of fixed size; a contact belongs to the block
 * of its lower dynamic node. Blocks are coloured so that blocks of one colour share no node and
 * may run at the same time. Inside a block contacts are grouped by fours that share no node, one
 * SIMD lane each. All this depends on the pairs alone, so the same bits come out with any number
 * of threads, and with or without AVX2. Nodes of zero inverse mass and inertia never move and
 * join any block. */
#ifndef YK_CONTACT_NETWORK_H
#define YK_CONTACT_NETWORK_H

#include "base/pool.h"
#include "contact/solver.h"
#include "math/vec3.h"

/* Six velocities and their inverse mass. The angular half is scaled with a length of the node so
 * that spheres need no lever arms: `spin` is the angular velocity times the radius,
 * `spin_inverse_mass` is radius^2 / inertia. Nodes that are not spheres use the length 1 and have
 * their tensor set with yk_network_inertia. */
typedef struct yk_network_node {
    yk_vec3 velocity;
    double inverse_mass; /* 0: not moved by impulses */
    yk_vec3 spin;
    double spin_inverse_mass;
} yk_network_node;

static inline yk_network_node yk_network_sphere(yk_vec3 velocity, yk_vec3 angular_velocity,
                                                double radius, double inverse_mass,
                                                double inverse_inertia)
{
    return (yk_network_node){velocity, inverse_mass, yk_v3_scale(radius, angular_velocity),
                             radius * radius * inverse_inertia};
}

enum {
    YK_NETWORK_NONE = -1 /* no second node: a surface of prescribed motion */
};

/* How the nodes of a pair meet. */
enum {
    YK_PAIR_ROUND, /* two spheres, or a sphere on a surface: lever arms along the normal, no rolling friction; the fast
                       path */
    /* the same with spinning and rolling friction, without softness; not for box friction and the
     * gradient method */
    YK_PAIR_ROLLING,
    YK_PAIR_GENERAL /* arms, inertia tensors, spinning and rolling friction */
};

typedef struct yk_pair {
    int32_t a;    /* a node */
    int32_t b;    /* another node, or YK_NETWORK_NONE */
    int32_t kind; /* YK_PAIR_ROUND and its kin */
} yk_pair;

typedef struct yk_contact {
    yk_vec3 normal;  /* unit, towards a */
    yk_vec3 impulse; /* on a: the value to start from */
    double bias;     /* added to the normal velocity: gap / h, restitution (tight (19)) */
    /* velocity of the prescribed surface at the contact; read only where b is YK_NETWORK_NONE */
    yk_vec3 surface;
    double mu; /* sliding friction */
    /* adds softness * impulse to the normal velocity, creep * impulse to the tangential one (rim
     * (42) has one number for both); 0: rigid */
    double softness;
    double creep;
    yk_vec3 arm_a; /* general pairs only: from the reference point of the node to the contact */
    yk_vec3 arm_b; /* ditto, not read where b is YK_NETWORK_NONE */
    /* general pairs: limits the torque about the normal to mu_spin * normal impulse (a length) */
    double mu_spin;
    double mu_roll; /* general pairs: limits the torque about the tangents */
    /* general pairs with box friction: unit, first axis of the box; zero: chosen from the normal */
    yk_vec3 tangent;
    yk_vec3 torque; /* general pairs: start value of the spinning and rolling impulse on a */
    /* general pairs: velocity of a relative to the other side at the start of the step, from which the
     * solver knows whether a structure is at rest */
    yk_vec3 before;
} yk_contact;

/* One row of a joint, a motor or a limit: rate = a . (v_a, omega_a) + b . (v_b, omega_b) + bias,
 * with an impulse in [lower, upper]; infinite bounds make it bilateral. Consecutive rows between
 * the same pair with infinite bounds are solved together as one block of up to six. Angular
 * coefficients are those of the plain angular velocity. */
typedef struct yk_joint_row {
    int32_t a, b; /* b may be YK_NETWORK_NONE */
    yk_vec3 linear_a, angular_a;
    yk_vec3 linear_b, angular_b;
    double bias;
    double softness;
    double lower, upper;
    double impulse; /* in: start value; out: solution */
} yk_joint_row;

typedef struct yk_network_def {
    size_t nodes, contacts, joint_rows; /* reserved at creation; grows when more are asked for */
    yk_pool *pool;                      /* NULL: the calling thread alone */
    /* round contacts may have softness; without it theirs is not read (16 bytes less per
     * contact) */
    bool soft;
} yk_network_def;

typedef struct yk_network yk_network;

yk_network_def yk_network_default(void);
yk_status yk_network_create(yk_context *context, const yk_network_def *def, yk_network **network);
void yk_network_destroy(yk_network *network);

/* Room for `count` nodes, to be filled by the caller and valid until the count changes; NULL when
 * out of memory. */
yk_network_node *yk_network_nodes(yk_network *network, size_t count);
/* For nodes that are not spheres: the inverse inertia tensor in global axes. `spin` of such a
 * node is its angular velocity. */
yk_status yk_network_inertia(yk_network *network, size_t node, const yk_mat3 *inverse);
/* For spheres that take part in general pairs or joints: the radius that scales their spin. */
yk_status yk_network_radius(yk_network *network, size_t node, double radius);

/* Finds the order of work for these pairs; all contacts must be set anew. The inverse masses of
 * the nodes must be in place: whether they are zero decides who is in whose way. */
yk_status yk_network_plan(yk_network *network, const yk_pair *pairs, size_t count);
/* Different contacts may be set by different threads. */
void yk_network_set(yk_network *network, size_t contact, const yk_contact *data);
/* The rows are the caller's, read and written (impulse) by solve. */
yk_status yk_network_joints(yk_network *network, yk_joint_row *rows, size_t count);

/* The speed (m/s) that a step resolves: the automatic method without a number of iterations looks
 * at it. 0: not known. */
void yk_network_set_resolution(yk_network *network, double speed);
/* Whether all sweeps are made if no tolerance is given, also if the residual is small. */
void yk_network_make_all_sweeps(yk_network *network, bool all);

/* YK_OK, YK_NOT_CONVERGED, or an error. Tolerance and residual are velocities (see
 * yk_network_residual). */
yk_status yk_network_solve(yk_network *network, const yk_contact_options *options,
                           yk_contact_report *report);

/* After a solution by sweeps that violates the conditions by more than `tolerance` (m/s): more
 * sweeps as long as they gain, then the accurate method on small islands (network_islands.c).
 * Stiff islands, in which masses differ much, are solved to YK_STIFF_TOLERANCE of it. `report` is
 * that of the solution and goes on. YK_OK whether the tolerance is met or not. */
#define YK_STIFF_TOLERANCE 0.01
yk_status yk_network_improve(yk_network *network, const yk_contact_options *options,
                             double tolerance, yk_contact_report *report);

/* Impulse on node a, global axes. */
yk_vec3 yk_network_impulse(const yk_network *network, size_t contact);
/* Spinning and rolling impulse on node a (general pairs). */
yk_vec3 yk_network_torque(const yk_network *network, size_t contact);

/* The largest of || p - P_K(p - rho u^) || / rho over the contacts with rho = 1 / (mean of the
 * diagonal of W), and their root mean square (rms may be NULL). Rotations of spinning and rolling
 * count as velocities at the arm of a. */
double yk_network_residual(yk_network *network, yk_friction_model friction, double *rms);

/* Sum over all contacts and joints of the impulse by which each misses its conditions, for the last
 * solution (N s). It is the error of the momentum that the contacts exchange in the step. */
double yk_network_impulse_residual(const yk_network *network);

size_t yk_network_memory(yk_network *network);

/* The same problem assembled, contacts in the order of the pairs and in frames (normal, tangents
 * of yk_v3_tangents), followed by the joint rows without bounds. For tests and for the accurate
 * solvers. */
yk_status yk_network_assemble(yk_network *network, yk_contact_problem *problem);
/* The impulses of the network in the order and the frames of the assembled problem. */
void yk_network_take_impulses(const yk_network *network, const yk_contact_problem *problem,
                              double *r);

#endif
