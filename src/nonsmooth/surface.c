/* Laws of two surfaces that touch, at one contact point and over one step.
 *
 *   friction    F_T <= mu F_N with mu = mu_k + (mu_s - mu_k) exp(-(v / v_s)^2), v the sliding speed at
 *               the beginning of the step (Stribeck's curve: Armstrong-Helouvry, Dupont,
 *               Canudas de Wit 1994). The coefficient is known when the problem of the step is posed, so
 *               that it stays a problem of Coulomb's law; what sticks has mu_s, what slides mu_k.
 *   cohesion    a constant force c pulls the surfaces together while they touch: F_N >= -c and
 *               F_T <= mu (F_N + c), the friction cone moved down by c (Tasora, Anitescu, Negrini,
 *               Negrut 2013). In the problem stand F_N + c and the pull c on both bodies.
 *   Hertz       F_N = k d^(3/2) + zeta sqrt(5 m k) d^(1/4) d', k = 4/3 E sqrt(R), of the overlap d of
 *               solids with radii R and the reduced mass m (Tsuji, Tanaka, Ishida 1992)
 *
 * The damper of Hertz's law gives one coefficient of restitution for all speeds. Along the variable
 * s, ds = d^(1/4) dt, the contact is a linear oscillator with the damping ratio zeta (Antypov,
 * Elliott 2011), and as contacts do not pull it ends where the force ends, with
 *
 *   e = exp(-2 zeta arccos(zeta) / sqrt(1 - zeta^2))             (Schwager, Poeschel 2007) */
#include <math.h>

#include "nonsmooth/model.h"

/* Between sticking and sliding where no speed is given, m/s: 1e-5 to 1e-1 are measured
 * (Armstrong-Helouvry, Dupont, Canudas de Wit 1994). */
static const double STRIBECK_SPEED = 1e-3;
/* Restitution below this would need dampers under which contacts creep to where they rest. */
static const double LEAST_RESTITUTION = 0.05;
/* Least damper of a row, in masses per step: rows need one, and this one is not felt. */
static const double LEAST_RATE = 1e-6;

/* The smaller of two that are not zero, or the one that is not. */
static double smaller_given(double a, double b)
{
    if (a == 0 || b == 0)
        return fmax(a, b);
    return fmin(a, b);
}

yk_material yk_material_combine(const yk_material *a, const yk_material *b)
{
    /* The softer of two surfaces yields; one without stiffness is rigid. */
    const yk_material *soft = a;
    if (a->stiffness == 0 || (b->stiffness > 0 && b->stiffness < a->stiffness))
        soft = b;

    /* Elastic surfaces both yield, each by its part. */
    double modulus = fmax(a->modulus, b->modulus);
    if (a->modulus > 0 && b->modulus > 0)
        modulus = 1 / (1 / a->modulus + 1 / b->modulus);

    /* A surface without static friction sticks no better than it slides. */
    double static_a = fmax(a->static_friction, a->friction);
    double static_b = fmax(b->static_friction, b->friction);

    /* Of friction, rebound and cohesion the smaller counts. */
    return (yk_material){
        .friction = fmin(a->friction, b->friction),
        .restitution = fmin(a->restitution, b->restitution),
        .rolling = fmin(a->rolling, b->rolling),
        .spinning = fmin(a->spinning, b->spinning),
        .stiffness = soft->stiffness,
        .damping = soft->damping,
        .static_friction = fmin(static_a, static_b),
        .stribeck_speed = smaller_given(a->stribeck_speed, b->stribeck_speed),
        .cohesion = fmin(a->cohesion, b->cohesion),
        .cohesion_range = smaller_given(a->cohesion_range, b->cohesion_range),
        .modulus = modulus,
    };
}

double yk_surface_friction(const yk_material *material, double sliding)
{
    double more = material->static_friction - material->friction;
    if (!(more > 0))
        return material->friction;

    double speed = STRIBECK_SPEED;
    if (material->stribeck_speed > 0)
        speed = material->stribeck_speed;
    double ratio = sliding / speed;
    return material->friction + more * exp(-ratio * ratio);
}

/* -ln e of a damping ratio; it rises with it. */
static double lost(double zeta)
{
    double root = sqrt(fabs(1 - zeta * zeta));
    if (root < 1e-6)
        return 2;
    if (zeta < 1)
        return 2 * zeta * acos(zeta) / root;
    return 2 * zeta * acosh(zeta) / root;
}

yk_surface_law yk_surface_law_of(const yk_material *material)
{
    yk_surface_law law = {.material = *material};
    if (!(material->modulus > 0) || material->restitution >= 1)
        return law;

    /* The damping ratio of the restitution, by bisection. */
    double wanted = -log(fmax(material->restitution, LEAST_RESTITUTION));
    double low = 0, high = 10;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (lost(middle) < wanted)
            low = middle;
        else
            high = middle;
    }

    law.damping_ratio = high;
    return law;
}

/* The force F = F(d) + theta h K rate + D rate at the end of the step, d at its beginning.
 * theta = 0 is explicit and keeps the energy of oscillations that the step resolves; theta = 1 is
 * implicit and stable for any stiffness, and damps. With z = h^2 K / m, theta = z / (1 + z) takes a
 * fraction of the order z^2 of the energy per step where z is small, and is implicit where z is
 * large. K is that of the deepest overlap that the step can come to. */
void yk_surface_hertz(const yk_surface_law *law, const yk_hertz_contact *at, double h,
                      double *softness, double *bias)
{
    double k = 4. / 3 * law->material.modulus / sqrt(at->curvature);
    double overlap = fmax(0, -at->gap);
    double deepest = fmax(overlap, -(at->gap + h * at->separation));
    double stiffness = 1.5 * k * sqrt(deepest);

    double z = h * h * stiffness / at->mass;
    double theta = z / (1 + z);
    double damping = law->damping_ratio * sqrt(5 * at->mass * k) * sqrt(sqrt(overlap));
    double rate = fmax(theta * h * stiffness + damping, LEAST_RATE * at->mass / h);

    /* Until they touch, the gap closes before anything yields. */
    *softness = 1 / (h * rate);
    *bias = at->gap / h;
    if (overlap > 0)
        *bias = -k * overlap * sqrt(overlap) / rate;
}
