/* Analyses of coupled systems: stability of a coupling scheme, and pictures of the results. */
#ifndef YOKE_ANALYSIS_H
#define YOKE_ANALYSIS_H

#include "yoke/base.h"
#include "yoke/coupling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Spectral radius of the macro step of a linear system, from the running code: the step map is differentiated word by
 * word of the state image, about rest. Above 1 the coupled simulation grows without bound, whatever the model does.
 * Steps that do not converge end it with YK_NOT_CONVERGED unless they are accepted as they are. The system is left at
 * its start. */
yk_status yk_stability_radius(yk_context *context, yk_system *system, bool accept_unconverged, double *radius);

/* As in papers explicit (37), (38); exact: by the matrix exponential. */
typedef enum yk_two_mass_integrator {
    YK_TWO_MASS_TWO_STEP,
    YK_TWO_MASS_SEMI_IMPLICIT,
    YK_TWO_MASS_EXACT
} yk_two_mass_integrator;

/* The two-mass oscillator, the test equation of coupling schemes (papers explicit 4.1, tight 4), without dimensions:
 * mass 1 takes the effort, mass 2 the motion. */
typedef struct yk_two_mass {
    double rho_inf;         /* of the two-step method */
    double omega_h;         /* natural frequency of mass 1 alone times the macro step */
    double mass_ratio;      /* m2 / m1 */
    double frequency_ratio; /* omega2 / omega1 */
    double damping;         /* damping ratio xi1 of mass 1 */
    double damping_ratio;   /* xi2 / xi1 */
    yk_two_mass_integrator integrators[2];
    yk_scheme_def scheme;
    bool fixed_iterations; /* the radius is that of scheme.iterations repetitions, converged or not */
} yk_two_mass;

/* rho_inf 0.6, omega_h 0.1, equal masses, no spring or damper on mass 2; two-step and semi-implicit; the default scheme
 * with tolerances that make its iterations converge fully. */
yk_two_mass yk_two_mass_default(void);

/* The names of the six numbers above, as on the command line ("rho-inf", "omega-h", ...); NULL-terminated. */
const char *const *yk_two_mass_parameters(void);
/* The number with that name; NULL if there is none. */
double *yk_two_mass_parameter(yk_two_mass *model, const char *name);

yk_status yk_two_mass_radius(yk_context *context, const yk_two_mass *model, double *radius);

/* One axis of a map: `count` values from first to last, evenly spaced (or by equal ratios). */
typedef struct yk_map_axis {
    const char *parameter;
    double first, last;
    int count;
    bool logarithmic;
} yk_map_axis;

double yk_map_axis_value(const yk_map_axis *axis, int index);

/* Spectral radius up to which a point of a map counts as stable: 1 but for rounding (paper tight 4.3). */
#define YK_STABILITY_LIMIT (1 + 1e-6)

/* Radii over two parameters: radii[j * x.count + i] at x value i and y value j. Infinite where the scheme does not
 * converge. `progress` (may be NULL) is told the finished fraction. */
yk_status yk_two_mass_map(yk_context *context, const yk_two_mass *model, const yk_map_axis *x, const yk_map_axis *y,
                          double *radii, void (*progress)(void *user, double fraction), void *user);

/* Share of the radii that are stable. */
double yk_stable_share(const double *radii, size_t count);

/* Runs gnuplot on a script, once per picture: base.svg and base.png. The script must not set terminal or output. */
yk_status yk_plot(yk_context *context, const char *base, const char *script);

/* Draws a map to base.svg and base.png: stable points filled, the boundary where the radius crosses 1. */
yk_status yk_plot_map(yk_context *context, const char *base, const char *title, const yk_map_axis *x,
                      const yk_map_axis *y, const double *radii);

#ifdef __cplusplus
}
#endif

#endif
