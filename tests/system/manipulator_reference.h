/* The manipulator of the paper on the scheme rim, example 1, before its sphere touches the block:
 * the equations in two angles and four pressures, integrated by the classical Runge-Kutta method.
 * Independent of the solvers: it uses point masses, a rod, and the paper's equations (46)-(52) as
 * printed. */
#ifndef YOKE_TESTS_MANIPULATOR_REFERENCE_H
#define YOKE_TESTS_MANIPULATOR_REFERENCE_H

#include <math.h>
#include <string.h>

typedef struct reference {
    double t;
    double y[8]; /* theta_1, theta_2, their rates, p1 and p2 of both actuators */
    double length_start[2], kappa[2];
} reference;

static const double REFERENCE_G = 9.81, REFERENCE_AREA = 6.5e-3, REFERENCE_PUMP = 7.6e6,
                    REFERENCE_TANK = 1e5;

typedef struct reference_geometry {
    double length[2];
    double by[2][2]; /* derivative of the lengths by the angles */
} reference_geometry;

static inline reference_geometry reference_place(const double *y)
{
    double c1 = cos(y[0]), s1 = sin(y[0]), c2 = cos(y[1]), s2 = sin(y[1]);
    double dx = 0.5 * c1 - 0.3, dy = 0.5 * s1 + 0.3, ex = 0.1 * c1 + 0.45 * c2,
           ey = 0.1 * s1 + 0.45 * s2;
    reference_geometry g;
    g.length[0] = hypot(dx, dy), g.length[1] = hypot(ex, ey);
    g.by[0][0] = 0.5 * (dy * c1 - dx * s1) / g.length[0], g.by[0][1] = 0;
    g.by[1][0] = 0.1 * (ey * c1 - ex * s1) / g.length[1];
    g.by[1][1] = 0.45 * (ey * c2 - ex * s2) / g.length[1];
    return g;
}

/* Opening that holds a force at rest: p2 - p1 of (47), (48) without motion. */
static inline double reference_opening(double force)
{
    double r = force / (REFERENCE_AREA * (REFERENCE_PUMP - REFERENCE_TANK));
    return (sqrt(1 - r * r) - 1 + r) / (2 * r);
}

static inline double reference_rate_of_length(const reference_geometry *g, const double *y,
                                              int actuator)
{
    return g->by[actuator][0] * y[2] + g->by[actuator][1] * y[3];
}

static inline double reference_force(const double *y, int actuator)
{
    reference_geometry g = reference_place(y);
    double push = (y[5 + 2 * actuator] - y[4 + 2 * actuator]) * REFERENCE_AREA;
    return push - 1e5 * reference_rate_of_length(&g, y, actuator);
}

static inline void reference_pressures(const reference *r, double t, const double *y,
                                       const reference_geometry *g, int actuator, double rate[2])
{
    double k = r->kappa[actuator] - (actuator == 1 ? 0.015 * fmin(fmax(t - 1, 0), 1) : 0);
    double s = g->length[actuator] - r->length_start[actuator],
           v = reference_rate_of_length(g, y, actuator);
    const double *p = &y[4 + 2 * actuator];
    double in = 5e-4 * k * 0.67, out = 5e-4 * (1 - k) * 0.67, beta[2];
    for (int i = 0; i < 2; i++)
        beta[i] = (1 + 6.53e-10 * p[i] - 1.19e-18 * p[i] * p[i]) / (6.53e-10 - 2 * 1.19e-18 * p[i]);
    double q1 = in * sqrt(2 * (REFERENCE_PUMP - p[0]) / 850) -
                out * sqrt(2 * (p[0] - REFERENCE_TANK) / 850);
    double q2 = out * sqrt(2 * (REFERENCE_PUMP - p[1]) / 850) -
                in * sqrt(2 * (p[1] - REFERENCE_TANK) / 850);
    rate[0] = beta[0] / (REFERENCE_AREA * (0.221 - s)) * (REFERENCE_AREA * v + q1);
    rate[1] = beta[1] / (REFERENCE_AREA * (0.221 + s)) * (-REFERENCE_AREA * v + q2);
}

/* Lagrange's equations of a rod of 200 kg on O and two point masses of 250 and 100 kg. */
static inline void reference_rates(const reference *r, double t, const double *y, double *rate)
{
    reference_geometry g = reference_place(y);
    double f[2] = {reference_force(y, 0), reference_force(y, 1)}, difference = y[0] - y[1];
    double m11 = 200.0 / 3 + 350, m12 = 50 * cos(difference), m22 = 25,
           coriolis = 50 * sin(difference);
    double q1 = f[0] * g.by[0][0] + f[1] * g.by[1][0] - 450 * REFERENCE_G * cos(y[0]) -
                coriolis * y[3] * y[3];
    double q2 = f[1] * g.by[1][1] - 50 * REFERENCE_G * cos(y[1]) + coriolis * y[2] * y[2];
    double determinant = m11 * m22 - m12 * m12;
    rate[0] = y[2], rate[1] = y[3];
    rate[2] = (m22 * q1 - m12 * q2) / determinant;
    rate[3] = (m11 * q2 - m12 * q1) / determinant;
    for (int i = 0; i < 2; i++)
        reference_pressures(r, t, y, &g, i, &rate[4 + 2 * i]);
}

/* In static equilibrium. */
static inline reference reference_begin(void)
{
    reference r = {.y = {acos(-1) / 6, -acos(-1) / 3}};
    reference_geometry g = reference_place(r.y);
    double force[2];
    force[1] = 50 * REFERENCE_G * cos(r.y[1]) / g.by[1][1];
    force[0] = (450 * REFERENCE_G * cos(r.y[0]) - g.by[1][0] * force[1]) / g.by[0][0];
    for (int i = 0; i < 2; i++) {
        double k = r.kappa[i] = reference_opening(force[i]), in = k * k, out = (1 - k) * (1 - k);
        r.length_start[i] = g.length[i];
        r.y[4 + 2 * i] = (in * REFERENCE_PUMP + out * REFERENCE_TANK) / (in + out);
        r.y[5 + 2 * i] = (out * REFERENCE_PUMP + in * REFERENCE_TANK) / (in + out);
    }
    return r;
}

static inline void reference_step(reference *r, double h)
{
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[4][8], y[8];
    for (int i = 0; i < 4; i++) {
        for (int c = 0; c < 8; c++)
            y[c] = r->y[c] + (i ? at[i] * h * k[i - 1][c] : 0);
        reference_rates(r, r->t + at[i] * h, y, k[i]);
    }
    for (int c = 0; c < 8; c++)
        for (int i = 0; i < 4; i++)
            r->y[c] += h * weight[i] * k[i][c];
    r->t += h;
}

#endif
