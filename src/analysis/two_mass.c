/* Stability of a coupling scheme, computed from the scheme itself, and stability maps of the
 * two-mass oscillator (Zhang et al. 2022, section 4.1; Zhang et al. 2020, section 4.3).
 *
 * Zhang et al. 2022 (4.1.2) and Zhang et al. 2020 (4.3) derive recurrence matrices by hand; here
 * the same matrix is obtained from the running code: one macro step is applied to every unit vector
 * of the state image. This covers every scheme and subsystem whose step is linear, without a
 * derivation that could differ from the program. */
#include <math.h>
#include <string.h>

#include "coupling/system_arrays.h"
#include "math/eigen.h"
#include "yoke/analysis.h"
#include "yoke/oscillator.h"

/* Radius of a linear step ---------------------------------------------------------------------- */

/* Steps after which multistep methods have their history and counters are constant. */
enum { WARM_UP_STEPS = 4 };

/* One macro step from `image`, in place. */
static yk_status apply(yk_system *system, bool accept_unconverged, double *image)
{
    /* The residual of iterations is part of the analyzed step, or an error. */
    yk_status status = yk_system_set_state(system, image);
    if (YK_FAILED(status))
        return status;

    status = yk_system_step(system, NULL);
    if (YK_FAILED(status) || (status != YK_OK && !accept_unconverged))
        return status;

    yk_system_get_state(system, image);

    return YK_OK;
}

yk_status yk_spectral_radius(yk_context *context, yk_system *system, bool accept_unconverged,
                             double *radius)
{
    *radius = NAN;
    yk_status status = yk_system_initialize(system);
    if (YK_FAILED(status))
        return status;

    yk_state_layout layout = yk_system_state_layout(system);
    if (layout.word_count == 0)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "stability: a subsystem cannot return to an earlier state");

    size_t n = layout.continuous_count;
    double *base = yk_allocate(context, 3 * layout.word_count + n * n, sizeof *base);
    if (!base)
        return YK_ERROR_MEMORY;

    double *image = base + layout.word_count;
    double *origin = image + layout.word_count;
    double *matrix = origin + layout.word_count;

    /* The state at rest, and the result of a step from it. */
    status = YK_OK;
    for (int i = 0; !YK_FAILED(status) && i < WARM_UP_STEPS; i++)
        status = yk_system_step(system, NULL);
    if (!YK_FAILED(status)) {
        yk_system_get_state(system, base);
        memcpy(origin, base, layout.word_count * sizeof *base);
        status = apply(system, accept_unconverged, origin);
    }

    /* Column by column: effect of a unit of one word. */
    for (size_t j = 0; status == YK_OK && j < n; j++) {
        memcpy(image, base, layout.word_count * sizeof *base);
        image[j] += 1;
        status = apply(system, accept_unconverged, image);
        for (size_t i = 0; i < n; i++)
            matrix[i * n + j] = image[i] - origin[i];
    }

    if (status == YK_OK)
        status = yk_eigen_spectral_radius(context, (int)n, matrix, radius);

    yk_free(context, base);
    yk_status restarted = yk_system_initialize(system);

    return status != YK_OK ? status : restarted;
}

/* The two-mass oscillator ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
} parameters[] = {
    {"rho-inf", offsetof(yk_two_mass_model, rho_inf)},
    {"omega-h", offsetof(yk_two_mass_model, omega_h)},
    {"mass-ratio", offsetof(yk_two_mass_model, mass_ratio)},
    {"frequency-ratio", offsetof(yk_two_mass_model, frequency_ratio)},
    {"damping", offsetof(yk_two_mass_model, damping)},
    {"damping-ratio", offsetof(yk_two_mass_model, damping_ratio)},
};

enum { PARAMETER_COUNT = sizeof parameters / sizeof *parameters };

const char *const *yk_two_mass_parameter_names(void)
{
    static const char *const names[] = {"rho-inf", "omega-h",       "mass-ratio", "frequency-ratio",
                                        "damping", "damping-ratio", NULL};
    return names;
}

double *yk_two_mass_find_parameter(yk_two_mass_model *model, const char *name)
{
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return (double *)((char *)model + parameters[i].offset);

    return NULL;
}

yk_two_mass_model yk_two_mass_default(void)
{
    return (yk_two_mass_model){
        .rho_inf = 0.6,
        .omega_h = 0.1,
        .mass_ratio = 1,
        .damping_ratio = 0,
        .integrators = {YK_TWO_MASS_TWO_STEP, YK_TWO_MASS_SEMI_IMPLICIT},
        .scheme = yk_scheme_default(),
    };
}

yk_status yk_two_mass_radius(yk_context *context, const yk_two_mass_model *model, double *radius)
{
    static const yk_oscillator_integrator integrators[] = {
        [YK_TWO_MASS_TWO_STEP] = YK_OSCILLATOR_TWO_STEP,
        [YK_TWO_MASS_SEMI_IMPLICIT] = YK_OSCILLATOR_SEMI_IMPLICIT,
        [YK_TWO_MASS_EXACT] = YK_OSCILLATOR_EXACT,
    };

    static const char *const names[2] = {"mass 1", "mass 2"};
    *radius = NAN;

    /* Mass 1 is 1 kg and the step 1 s, so that omega_h is the frequency: the eigenvalues depend on
     * ratios only. */
    const double mass[2] = {1, model->mass_ratio};
    const double omega[2] = {model->omega_h, model->omega_h * model->frequency_ratio};
    const double damping[2] = {model->damping, model->damping * model->damping_ratio};
    yk_subsystem *masses[2] = {NULL, NULL};
    yk_status status = YK_OK;

    for (int i = 0; status == YK_OK && i < 2; i++) {
        yk_oscillator_def def = yk_oscillator_default();
        def.mass = mass[i];
        def.stiffness = mass[i] * omega[i] * omega[i];
        def.damping = 2 * mass[i] * omega[i] * damping[i];
        def.integrator = integrators[model->integrators[i]];
        def.rho_inf = model->rho_inf;
        status = yk_oscillator_create(context, &def, &masses[i]);
    }

    yk_interface_def joint = {.name = "joint",
                              .wrench_subsystem = {0},
                              .motion_subsystem = {1},
                              .constrained_axes = YK_AXIS_X};
    yk_system_description def = {
        .subsystems = masses,
        .names = names,
        .subsystem_count = 2,
        .interfaces = &joint,
        .interface_count = 1,
        .scheme = model->scheme,
        .step = 1,
    };

    yk_system *system = NULL;
    if (status == YK_OK)
        status = yk_system_make(context, &def, &system);
    if (status == YK_OK)
        status = yk_spectral_radius(context, system, model->fixed_iterations, radius);

    yk_system_destroy(system);
    for (int i = 0; i < 2; i++)
        if (masses[i])
            masses[i]->ops->destroy(masses[i]);

    return status;
}

/* Maps ----------------------------------------------------------------------------------------- */

double yk_map_axis_value(const yk_map_axis *axis, int index)
{
    /* The ends exactly as given. */
    if (axis->count < 2 || index == 0)
        return axis->first;
    if (index == axis->count - 1)
        return axis->last;

    double fraction = (double)index / (axis->count - 1);
    if (axis->is_logarithmic)
        return axis->first * pow(axis->last / axis->first, fraction);

    return axis->first + fraction * (axis->last - axis->first);
}

static yk_status check_axis(yk_context *context, const yk_map_axis *axis)
{
    /* A parameter that there is, with values that can be spaced so. */
    yk_two_mass_model probe;
    if (!yk_two_mass_find_parameter(&probe, axis->parameter))
        return yk_fail(context, YK_ERROR_ARGUMENT, "map: unknown parameter '%s'", axis->parameter);
    if (axis->count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "map: %s needs at least one value",
                       axis->parameter);
    if (axis->is_logarithmic && !(axis->first > 0 && axis->last > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "map: %s is spaced by ratios, so its ends must be positive",
                       axis->parameter);

    return YK_OK;
}

yk_status yk_two_mass_map(yk_context *context, const yk_two_mass_model *model, const yk_map_axis *x,
                          const yk_map_axis *y, double *radii,
                          void (*progress)(void *user, double fraction), void *user)
{
    /* Both axes before the first point. */
    yk_status status = check_axis(context, x);
    if (status == YK_OK)
        status = check_axis(context, y);
    if (status != YK_OK)
        return status;

    yk_two_mass_model point = *model;
    double *along_x = yk_two_mass_find_parameter(&point, x->parameter);
    double *along_y = yk_two_mass_find_parameter(&point, y->parameter);
    if (!along_x || !along_y)
        return YK_ERROR_ARGUMENT; /* which the check of the axes has excluded */

    for (int j = 0; j < y->count; j++) {
        *along_y = yk_map_axis_value(y, j);

        for (int i = 0; i < x->count; i++) {
            *along_x = yk_map_axis_value(x, i);
            double *radius = &radii[(size_t)j * (size_t)x->count + (size_t)i];
            status = yk_two_mass_radius(context, &point, radius);

            /* A scheme that does not converge or overflows in one step is unstable. */
            bool unconverged = status != YK_OK && !YK_FAILED(status);
            bool unstable = unconverged || status == YK_ERROR_NOT_FINITE;
            if (unstable)
                *radius = INFINITY;
            else if (status != YK_OK)
                return status;
        }

        if (progress)
            progress(user, (double)(j + 1) / y->count);
    }

    return YK_OK;
}

double yk_stable_fraction(const double *radii, size_t count)
{
    size_t stable = 0;
    for (size_t i = 0; i < count; i++)
        stable += radii[i] <= YK_SPECTRAL_RADIUS_LIMIT;
    return count ? (double)stable / (double)count : 0;
}
