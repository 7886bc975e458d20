/* Round contacts with spinning and rolling friction, four at a time.
 *
 * As in network_spheres.c the lever arms are along the normal, so that the problem of one contact
 * is nearly diagonal in its own frame. With spins s = radius * angular velocity, k = radius^2 /
 * inertia and the relative rotation w = sa / ra - sb / rb,
 *
 *   dN = 1/ma + 1/mb, dT = dN + ka + kb, dR = ka / ra^2 + kb / rb^2 of normal, sliding, rotation
 *
 * and sliding and rolling are coupled by ka / ra - kb / rb only, which is zero for equal spheres. A
 * step of a contact uses the metric diag(dN, dT, dT, dR, dR, dR), enlarged if the coupling could
 * make steps grow (Gershgorin's bound of the eigenvalues exceeds two), and is projected on the cone
 * in that metric (cone.h). network_general.c has the same step for one contact. */
#include <math.h>

#include "contact/network_simd.h"

/* Four impulses in their frames: normal part, sliding vector, spinning part, rolling vector. */
typedef struct four_impulses {
    yk_v4 normal;
    yk_v4 slide[3];
    yk_v4 spin;
    yk_v4 roll[3];
} four_impulses;

/* Splits a force and a torque, or a velocity and a rotation, into their parts along and
 * perpendicular to n. */
YK_INLINE void split(const yk_v4 *n, const yk_v4 *force, const yk_v4 *torque, four_impulses *f)
{
    f->normal = dot(n, force);
    f->spin = dot(n, torque);
    for (int k = 0; k < 3; k++) {
        f->slide[k] = force[k] - f->normal * n[k];
        f->roll[k] = torque[k] - f->spin * n[k];
    }
}

YK_INLINE yk_v4 magnitude(yk_v4 x)
{
    return yk_v4_max(x, -x);
}

/* limit / length, at most one: the factor that reduces friction to its limit. */
YK_INLINE yk_v4 cut(yk_v4 limit, yk_v4 length)
{
    const yk_v4 one = yk_v4_set(1);
    yk_v4 ratio = limit / yk_v4_max(length, yk_v4_set(1e-300));
    return yk_v4_select(length > limit, ratio, one);
}

/* The projection on the cones with the friction coefficients `mu` of their groups (sliding,
 * spinning, rolling), in the metric whose roots relative to that of the normal are `root`. Lengths
 * in the impulses sqrt(metric) p, in which the metric is Euclidean. The normal is the root top /
 * bottom, as in yk_cone_project(), which is found by walking up the pieces of its function: a group
 * is dropped if the root lies above its kink. There are three groups, so that three passes are
 * enough. */
YK_INLINE void project(bool coulomb, const yk_v4 mu[3], const yk_v4 root[3], four_impulses *f)
{
    const yk_v4 zero = yk_v4_set(0);
    const yk_v4 one = yk_v4_set(1);

    /* Lengths of the friction impulses: sliding, spinning, rolling. */
    yk_v4 slide = square_root(dot(f->slide, f->slide));
    yk_v4 spin = magnitude(f->spin);
    yk_v4 roll = square_root(dot(f->roll, f->roll));

    if (coulomb) {
        f->normal = yk_v4_max(f->normal, zero);
    } else {
        /* The root with all groups cut. */
        yk_v4 slope[3] = {mu[0] * root[0], mu[1] * root[1], mu[2] * root[2]};
        yk_v4 length[3] = {slide * root[0], spin * root[1], roll * root[2]};
        yk_v4 top = f->normal;
        yk_v4 bottom = one;
        for (int g = 0; g < 3; g++) {
            top += slope[g] * length[g];
            bottom += slope[g] * slope[g];
        }

        /* Drop the groups with kinks below it. */
        for (int look = 0; look < 3; look++) {
            yk_v4 less = zero;
            yk_v4 fewer = zero;
            for (int g = 0; g < 3; g++) {
                yk_mask4 above = length[g] * bottom < slope[g] * top;
                less += yk_v4_select(above, slope[g] * length[g], zero);
                fewer += yk_v4_select(above, slope[g] * slope[g], zero);
                slope[g] = yk_v4_select(above, zero, slope[g]);
            }

            top -= less;
            bottom -= fewer;
        }

        f->normal = yk_v4_max(top, zero) / bottom;
    }

    /* Limit the friction. */
    yk_v4 slide_left = cut(mu[0] * f->normal, slide);
    yk_v4 roll_left = cut(mu[2] * f->normal, roll);
    f->spin *= cut(mu[1] * f->normal, spin);
    for (int k = 0; k < 3; k++) {
        f->slide[k] *= slide_left;
        f->roll[k] *= roll_left;
    }
}

void yk_rolling_prepare(yk_network *s)
{
    for (size_t g = 0; g < s->rolling_groups; g++) {
        rolling_group *group = &s->rollings[g];
        for (int k = 0; k < LANES; k++) {
            const yk_network_node *a = &s->nodes[group->a[k]];
            const yk_network_node *b = &s->nodes[group->b[k]];

            /* See the header comment; here ka, kb are divided by the radii. */
            double ka = a->spin_inverse_mass * group->inverse_length_a[k];
            double kb = b->spin_inverse_mass * group->inverse_length_b[k];
            double dn = a->inverse_mass + b->inverse_mass;
            double dt = dn + a->spin_inverse_mass + b->spin_inverse_mass;
            double dr = ka * group->inverse_length_a[k] + kb * group->inverse_length_b[k];

            /* Unused lanes, and spheres that cannot rotate, make no step. */
            group->step_n[k] = 0;
            group->step_t[k] = 0;
            group->step_r[k] = 0;
            group->root_t[k] = 1;
            group->root_r[k] = 1;
            if (!(dn > 0) || !(dr > 0))
                continue;

            /* Gershgorin's bound is 1 + coupling; below two, steps cannot grow. */
            double coupling = fabs(ka - kb) / sqrt(dt * dr);
            double enlarged = fmax(1, (1 + coupling) / 1.9);
            group->step_n[k] = 1 / (enlarged * dn);
            group->step_t[k] = 1 / (enlarged * dt);
            group->step_r[k] = 1 / (enlarged * dr);
            group->root_t[k] = sqrt(dt / dn);
            group->root_r[k] = sqrt(dr / dn);
        }
    }
}

/* Velocity and rotation of a relative to b; the velocity of the surface includes the bias. */
YK_INLINE void relative_motion(const rolling_group *group, const four_nodes *a, const four_nodes *b,
                               const yk_v4 *n, yk_v4 *u, yk_v4 *w)
{
    yk_v4 la = yk_v4_load(group->inverse_length_a);
    yk_v4 lb = yk_v4_load(group->inverse_length_b);

    yk_v4 surface[3];
    load_lanes(&group->velocity, surface);

    pair_velocity(a, b, n, u);
    for (int k = 0; k < 3; k++) {
        u[k] -= surface[k];
        w[k] = la * a->angular[k] - lb * b->angular[k];
    }
}

/* Adds force and torque to the nodes of four contacts. */
YK_INLINE void kick_rolling(const rolling_group *group, const yk_v4 *n, const yk_v4 *force,
                            const yk_v4 *torque, four_nodes *a, four_nodes *b)
{
    yk_v4 la = yk_v4_load(group->inverse_length_a);
    yk_v4 lb = yk_v4_load(group->inverse_length_b);

    kick_pair(n, force, a, b);
    for (int k = 0; k < 3; k++) {
        a->angular[k] += a->angular[3] * la * torque[k];
        b->angular[k] -= b->angular[3] * lb * torque[k];
    }
}

YK_INLINE void sweep_rolling(yk_network *s, uint32_t begin, uint32_t end, bool coulomb,
                             double relaxation_factor)
{
    const yk_v4 omega = yk_v4_set(relaxation_factor);

    for (uint32_t g = begin; g < end; g++) {
        rolling_group *group = &s->rollings[g];

        /* Eight nodes and their relative motion. */
        four_nodes a, b;
        yk_v4 n[3], p[3], t[3], u[3], w[3];

        load_nodes(s->nodes, group->a, &a);
        load_nodes(s->nodes, group->b, &b);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);
        load_lanes(&group->torque, t);
        relative_motion(group, &a, &b, n, u, w);

        /* A step in the metric along the normal, perpendicular to it, and of the rotation: p - u /
         * d is split into its parts, and each contact is projected separately. */
        yk_v4 step_n = omega * yk_v4_load(group->step_n);
        yk_v4 step_t = omega * yk_v4_load(group->step_t);
        yk_v4 step_r = omega * yk_v4_load(group->step_r);
        yk_v4 along = dot(n, u);
        yk_v4 force[3], torque[3];
        for (int k = 0; k < 3; k++) {
            force[k] = p[k] - step_t * u[k];
            torque[k] = t[k] - step_r * w[k];
        }

        four_impulses next;
        split(n, force, torque, &next);
        next.normal += (step_t - step_n) * along;

        const yk_v4 mu[3] = {yk_v4_load(group->mu), yk_v4_load(group->mu_spin),
                             yk_v4_load(group->mu_roll)};
        const yk_v4 root_r = yk_v4_load(group->root_r);
        const yk_v4 root[3] = {yk_v4_load(group->root_t), root_r, root_r};
        project(coulomb, mu, root, &next);

        /* Update the nodes immediately. */
        for (int k = 0; k < 3; k++) {
            yk_v4 new_p = next.normal * n[k] + next.slide[k];
            yk_v4 new_t = next.spin * n[k] + next.roll[k];
            force[k] = new_p - p[k];
            torque[k] = new_t - t[k];
            yk_v4_store(group->impulse.c[k], new_p);
            yk_v4_store(group->torque.c[k], new_t);
        }

        kick_rolling(group, n, force, torque, &a, &b);

        store_nodes(s->nodes, group->a, &a);
        store_nodes(s->nodes, group->b, &b);
    }
}

/* The friction law is a constant of the loop that it is inlined into. */
YK_INLINE void sweep_block(yk_network *s, const block *b, const yk_contact_options *options)
{
    if (options->friction_model == YK_FRICTION_COULOMB) {
        sweep_rolling(s, b->rolling_begin, b->rolling_end, true, options->relaxation_factor);
    } else {
        sweep_rolling(s, b->rolling_begin, b->rolling_end, false, options->relaxation_factor);
    }
}

YK_TARGET_AVX2 static void sweep_block_avx2(yk_network *s, const block *b,
                                            const yk_contact_options *options)
{
    sweep_block(s, b, options);
}

void yk_rolling_sweep(yk_network *s, const block *b, const yk_contact_options *options)
{
    if (!s->baseline && yk_have_avx2()) {
        sweep_block_avx2(s, b, options);
    } else {
        sweep_block(s, b, options);
    }
}

void yk_rolling_apply(yk_network *s, const block *b)
{
    for (uint32_t g = b->rolling_begin; g < b->rolling_end; g++) {
        const rolling_group *group = &s->rollings[g];
        four_nodes x, y;
        yk_v4 n[3], p[3], t[3];

        load_nodes(s->nodes, group->a, &x);
        load_nodes(s->nodes, group->b, &y);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);
        load_lanes(&group->torque, t);

        /* Initial guess: the velocities caused by these impulses. */
        kick_rolling(group, n, p, t, &x, &y);
        store_nodes(s->nodes, group->a, &x);
        store_nodes(s->nodes, group->b, &y);
    }
}

void yk_rolling_clear(yk_network *s, const block *b)
{
    for (uint32_t g = b->rolling_begin; g < b->rolling_end; g++) {
        memset(&s->rollings[g].impulse, 0, sizeof s->rollings[g].impulse);
        memset(&s->rollings[g].torque, 0, sizeof s->rollings[g].torque);
    }
}

/* The natural map with one rho for all components, as in yk_cone_natural_map(); rotations count as
 * velocities at the radius of a, torques as impulses there. */
void yk_rolling_residual(const yk_network *s, const block *b, bool coulomb, double rho,
                         double partial[3])
{
    const yk_v4 step = yk_v4_set(rho);
    const yk_v4 one = yk_v4_set(1);

    for (uint32_t g = b->rolling_begin; g < b->rolling_end; g++) {
        const rolling_group *group = &s->rollings[g];
        four_nodes x, y;
        yk_v4 n[3], p[3], t[3], u[3], w[3];

        load_nodes(s->nodes, group->a, &x);
        load_nodes(s->nodes, group->b, &y);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);
        load_lanes(&group->torque, t);
        relative_motion(group, &x, &y, n, u, w);

        /* Common units: rotations as velocities, torques as impulses at the radius. */
        yk_v4 curvature = yk_v4_load(group->inverse_length_a);
        yk_v4 radius = one / curvature;
        for (int k = 0; k < 3; k++) {
            t[k] *= curvature;
            w[k] *= radius;
        }

        const yk_v4 mu[3] = {yk_v4_load(group->mu), yk_v4_load(group->mu_spin) * curvature,
                             yk_v4_load(group->mu_roll) * curvature};
        const yk_v4 root[3] = {one, one, one};

        /* u^: Coulomb's law lifts the normal velocity. */
        four_impulses now, next, rate;
        split(n, p, t, &now);
        split(n, u, w, &rate);
        if (coulomb) {
            rate.normal += mu[0] * square_root(dot(rate.slide, rate.slide));
            rate.normal += mu[1] * magnitude(rate.spin);
            rate.normal += mu[2] * square_root(dot(rate.roll, rate.roll));
        }

        /* P(r - rho u^). */
        next.normal = now.normal - step * rate.normal;
        next.spin = now.spin - step * rate.spin;
        for (int k = 0; k < 3; k++) {
            next.slide[k] = now.slide[k] - step * rate.slide[k];
            next.roll[k] = now.roll[k] - step * rate.roll[k];
        }

        project(false, mu, root, &next);

        /* The square of r - P(r - rho u^). */
        yk_v4 change = now.normal - next.normal;
        yk_v4 spin = now.spin - next.spin;
        yk_v4 sum = change * change + spin * spin;
        for (int k = 0; k < 3; k++) {
            yk_v4 slide = now.slide[k] - next.slide[k];
            yk_v4 roll = now.roll[k] - next.roll[k];
            sum += slide * slide + roll * roll;
        }

        /* Squares in units of velocity, as for the other kinds of contacts. */
        for (int lane = 0; lane < LANES; lane++) {
            double violation = sum[lane] / (rho * rho);
            partial[0] = partial[0] > violation ? partial[0] : violation;
            partial[1] += violation;
            partial[2] += sqrt(violation);
        }
    }
}

void yk_rolling_diagonal(const yk_network *s, const block *b, double partial[3])
{
    for (uint32_t g = b->rolling_begin; g < b->rolling_end; g++) {
        const rolling_group *group = &s->rollings[g];
        for (int k = 0; k < LANES; k++) {
            const yk_network_node *x = &s->nodes[group->a[k]];
            const yk_network_node *y = &s->nodes[group->b[k]];

            /* dN + 2 dT of the contact; unused lanes have no mass. */
            double dn = x->inverse_mass + y->inverse_mass;
            partial[1] += 3 * dn + 2 * (x->spin_inverse_mass + y->spin_inverse_mass);
            if (dn > 0)
                partial[2] += 3;
        }
    }
}
