/* Stability of a coupling scheme from the scheme itself.
 *
 * papers explicit 4.1.2 and tight 4.3 derive recurrence matrices by hand; here the same matrix
 * comes from the code that runs: one macro step is applied to every unit vector of the state
 * image. That covers every scheme and subsystem whose step is linear, without a derivation that
 * could differ from the program. */
#include <math.h>
#include <string.h>

#include "math/eigen.h"
#include "yoke/analysis.h"

/* Steps after which multistep methods have filled their history and counters have settled. */
enum { WARM_UP_STEPS = 4 };

typedef struct step_map {
    yk_system *system;
    bool accept_unconverged;
    size_t words, continuous;
    double *base;   /* the image at rest, after warm-up */
    double *image;  /* perturbed */
    double *origin; /* the step's result from the base */
    double *matrix; /* row-major */
} step_map;

/* One macro step from `image`, in place. */
static yk_status apply(step_map *map, double *image)
{
    yk_status status = yk_system_state_set(map->system, image);
    if (status < 0)
        return status;
    status = yk_system_step(map->system, NULL);
    if (status < 0 || (status > 0 && !map->accept_unconverged))
        return status;
    yk_system_state_get(map->system, image);
    return YK_OK;
}

static yk_status differentiate(step_map *map)
{
    size_t n = map->continuous, bytes = map->words * sizeof(double);
    memcpy(map->origin, map->base, bytes);
    yk_status status = apply(map, map->origin);
    for (size_t j = 0; status == YK_OK && j < n; j++) {
        memcpy(map->image, map->base, bytes);
        map->image[j] += 1;
        status = apply(map, map->image);
        for (size_t i = 0; i < n; i++)
            map->matrix[i * n + j] = map->image[i] - map->origin[i];
    }
    return status;
}

static yk_status warm_up(step_map *map)
{
    yk_status status = YK_OK;
    for (int i = 0; status >= 0 && i < WARM_UP_STEPS; i++)
        status = yk_system_step(map->system, NULL);
    if (status < 0)
        return status;
    yk_system_state_get(map->system, map->base);
    return YK_OK;
}

yk_status yk_stability_radius(yk_context *context, yk_system *system, bool accept_unconverged,
                              double *radius)
{
    *radius = NAN;
    yk_status started = yk_system_start(system);
    if (started < 0)
        return started;
    yk_state_layout layout = yk_system_state_layout(system);
    if (layout.words == 0)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "stability: a subsystem cannot return to an earlier state");
    step_map map = {.system = system,
                    .accept_unconverged = accept_unconverged,
                    .words = layout.words,
                    .continuous = layout.continuous};
    map.base =
        yk_allocate(context, 3 * map.words + map.continuous * map.continuous, sizeof *map.base);
    if (!map.base)
        return YK_ERROR_MEMORY;
    map.image = map.base + map.words;
    map.origin = map.image + map.words;
    map.matrix = map.origin + map.words;
    yk_status status = warm_up(&map);
    if (status == YK_OK)
        status = differentiate(&map);
    if (status == YK_OK)
        status = yk_eigen_spectral_radius(context, (int)map.continuous, map.matrix, radius);
    yk_release(context, map.base);
    yk_status restarted = yk_system_start(system);
    return status != YK_OK ? status : restarted;
}
