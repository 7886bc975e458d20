/* Four round contacts at a time: nodes, velocities, impulses. Inlined by the kernels in
 * network_spheres.c and network_gradient.c. */
#ifndef YK_CONTACT_NETWORK_LANES_H
#define YK_CONTACT_NETWORK_LANES_H

#include "contact/network_data.h"
#include "math/simd.h"

/* Transposes rows of four numbers to columns. */
YK_INLINE void transpose(yk_v4 *r)
{
    /* Pairs of rows, then pairs of pairs. */
    yk_v4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
    yk_v4 b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    yk_v4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
    yk_v4 d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);

    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

YK_INLINE yk_v4 square_root(yk_v4 x)
{
    return (yk_v4){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}

/* Four nodes: velocity x, y, z, inverse mass, spin x, y, z, spin inverse mass. */
typedef struct four_nodes {
    yk_v4 linear[4];
    yk_v4 angular[4];
} four_nodes;

YK_INLINE void load_nodes(const yk_network_node *nodes, const int32_t *index, four_nodes *f)
{
    for (int k = 0; k < LANES; k++) {
        const double *line = &nodes[index[k]].velocity.x;
        f->linear[k] = yk_v4_load(line);
        f->angular[k] = yk_v4_load(line + 4);
    }

    /* From nodes to components, four nodes in each. */
    transpose(f->linear);
    transpose(f->angular);
}

YK_INLINE void store_nodes(yk_network_node *nodes, const int32_t *index, four_nodes *f)
{
    transpose(f->linear);
    transpose(f->angular);

    for (int k = 0; k < LANES; k++) {
        double *line = &nodes[index[k]].velocity.x;
        yk_v4_store(line, f->linear[k]);
        yk_v4_store(line + 4, f->angular[k]);
    }
}

YK_INLINE void load_lanes(const lane_vectors *from, yk_v4 *v)
{
    for (int k = 0; k < 3; k++)
        v[k] = yk_v4_load(from->c[k]);
}

/* Softness of four contacts, along the normal and perpendicular to it. */
typedef struct four_soft {
    yk_v4 normal, tangent;
} four_soft;

/* Of the contacts of a group; none where there is no array. */
YK_INLINE four_soft load_softness(const soft_group *softness, uint32_t group)
{
    if (!softness)
        return (four_soft){yk_v4_set(0), yk_v4_set(0)};
    return (four_soft){yk_v4_load(softness[group].normal), yk_v4_load(softness[group].tangent)};
}

YK_INLINE yk_v4 dot(const yk_v4 *a, const yk_v4 *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Adds the velocity by softness under p to u; p_normal = n . p. */
YK_INLINE void add_yield(four_soft soft, const yk_v4 *n, const yk_v4 *p, yk_v4 p_normal, yk_v4 *u)
{
    yk_v4 along = (soft.normal - soft.tangent) * p_normal;
    for (int k = 0; k < 3; k++)
        u[k] += soft.tangent * p[k] + along * n[k];
}

YK_INLINE void cross(const yk_v4 *a, const yk_v4 *b, yk_v4 *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Relative velocity without bias: u = va - vb + n x (sa + sb). */
YK_INLINE void pair_velocity(const four_nodes *a, const four_nodes *b, const yk_v4 *n, yk_v4 *u)
{
    yk_v4 spin[3], rotation[3];
    for (int k = 0; k < 3; k++)
        spin[k] = a->angular[k] + b->angular[k];

    cross(n, spin, rotation);

    for (int k = 0; k < 3; k++)
        u[k] = a->linear[k] - b->linear[k] + rotation[k];
}

YK_INLINE void single_velocity(const four_nodes *a, const yk_v4 *surface, const yk_v4 *n, yk_v4 *u)
{
    yk_v4 rotation[3];
    cross(n, a->angular, rotation);

    for (int k = 0; k < 3; k++)
        u[k] = a->linear[k] - surface[k] + rotation[k];
}

/* The new impulses of four contacts, by the formulas in the header of network_spheres.c; u_normal
 * includes the bias. dn, dt: of the nodes; soft: to be added to them. */
YK_INLINE void solve_four(bool coulomb, double relaxation_factor, const yk_v4 *n, yk_v4 mu,
                          yk_v4 dn, yk_v4 dt, four_soft soft, const yk_v4 *u, yk_v4 u_normal,
                          const yk_v4 *p, yk_v4 *next)
{
    const yk_v4 omega = yk_v4_set(relaxation_factor);
    const yk_v4 least = yk_v4_set(1e-300);
    const yk_v4 zero = yk_v4_set(0);
    const yk_v4 one = yk_v4_set(1);
    yk_v4 p_normal = dot(n, p);
    yk_v4 along = dot(n, u);

    /* The over-relaxed step includes softness. */
    if (relaxation_factor != 1) {
        dn += soft.normal * (one - omega);
        dt += soft.tangent * (one - omega);
        soft.normal *= omega;
        soft.tangent *= omega;
    }

    /* a along the normal, b perpendicular to it. */
    yk_v4 b[3];
    yk_v4 a = dn * p_normal - omega * u_normal;
    yk_v4 out = dt * p_normal - omega * along;
    for (int k = 0; k < 3; k++)
        b[k] = dt * p[k] - omega * u[k] - out * n[k];
    yk_v4 length = square_root(dot(b, b));
    yk_v4 hard_n = dn + soft.normal;
    yk_v4 hard_t = dt + soft.tangent;

    /* Without friction, the normal impulse must not become negative. */
    yk_v4 press = yk_v4_max(a, zero);
    yk_mask4 inside = length * hard_n <= mu * press * hard_t;

    /* The normal impulse is top / bottom, for sticking and for sliding. */
    yk_v4 top = coulomb ? press : yk_v4_max(a + mu * length, zero);
    yk_v4 bottom = coulomb ? hard_n : hard_n + mu * mu * hard_t;
    top = yk_v4_select(inside, press, top);
    bottom = yk_v4_max(yk_v4_select(inside, hard_n, bottom), least);
    yk_v4 normal = top / bottom;

    /* Factor of b: 1 / dT if sticking, the limit of friction if sliding. */
    yk_v4 fraction = yk_v4_select(inside, one, mu * top) /
                     yk_v4_max(yk_v4_select(inside, hard_t, bottom * length), least);
    for (int k = 0; k < 3; k++)
        next[k] = normal * n[k] + fraction * b[k];
}

/* Adds an impulse to the nodes of four pairs. */
YK_INLINE void kick_pair(const yk_v4 *n, const yk_v4 *change, four_nodes *a, four_nodes *b)
{
    /* Forces are opposite to each other, torques are not, because arms and forces both change sign. */
    yk_v4 rotation[3];
    cross(n, change, rotation);

    for (int k = 0; k < 3; k++) {
        a->linear[k] += a->linear[3] * change[k];
        b->linear[k] -= b->linear[3] * change[k];
        a->angular[k] -= a->angular[3] * rotation[k];
        b->angular[k] -= b->angular[3] * rotation[k];
    }
}

YK_INLINE void kick_single(const yk_v4 *n, const yk_v4 *change, four_nodes *a)
{
    yk_v4 rotation[3];
    cross(n, change, rotation);

    for (int k = 0; k < 3; k++) {
        a->linear[k] += a->linear[3] * change[k];
        a->angular[k] -= a->angular[3] * rotation[k];
    }
}

#endif
