#include "coupling/surrogate.h"

#include <math.h>
#include <string.h>

#include "coupling/system.h"

/* Steps in which a deviation is followed, and by how much more it may be in the last quarter than
 * in the second. */
enum { STEPS = 320 };
static const double STEADY = 1.5;
/* A wrench so many times those of the first steps has no need to be followed. */
enum { FIRST = 12 };
static const double EXPLODED = 1e4;
/* Deviation at the start, in the units of each word; what is noise beside the largest wrench, and
 * what iterations leave. */
static const double DEVIATION = 1e-6;
static const double NOISE = 1e-5;
static const double LEFT = 1e-9;

yk_status yk_surrogate_create(const yk_system *system, const int sides[2], yk_port_kind kind,
                              double step, double ratio, yk_surrogate *surrogate)
{
    static const char *const names[2] = {"wrench side", "motion side"};
    *surrogate = (yk_surrogate){.system = NULL};

    /* A free mass in place of each side, by the same method. */
    const double mass[2] = {1, ratio};
    int substeps[2];

    for (int i = 0; i < 2; i++) {
        const yk_participant *p = &system->participants[sides[i]];
        const yk_merging_ops *ops = p->subsystem->ops->merging;
        substeps[i] = p->substeps;
        if (!ops)
            return YK_ERROR_CAPABILITY;

        yk_status status = ops->free_mass(p->subsystem, mass[i], kind, &surrogate->masses[i]);
        if (status != YK_OK)
            return status;
    }

    /* Wrenches are those that the deviation from rest causes. */
    const yk_scheme_ops *scheme = system->scheme_def.ops;
    double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
    memcpy(options, system->scheme_def.options, scheme->options_size);
    if (scheme->simplify)
        scheme->simplify(options, LEFT * DEVIATION * fmax(1, ratio) / (step * step));

    yk_interface_def joint = {.name = "joint", .motion_subsystem = 1, .constrained = YK_AXIS_X};
    yk_system_description def = {
        .subsystems = surrogate->masses,
        .names = names,
        .subsystem_count = 2,
        .substeps = substeps,
        .interfaces = &joint,
        .interface_count = 1,
        .scheme = {.ops = scheme, .options = options},
        .step = step,
        .control = yk_step_control_default(),
    };

    return yk_system_make(system->context, &def, &surrogate->system);
}

void yk_surrogate_destroy(yk_surrogate *surrogate)
{
    yk_system_destroy(surrogate->system);
    for (int i = 0; i < 2; i++)
        if (surrogate->masses[i])
            surrogate->masses[i]->ops->destroy(surrogate->masses[i]);
}

yk_status yk_surrogate_try(yk_context *context, const yk_surrogate *surrogate,
                           yk_surrogate_fate *fate)
{
    yk_system *system = surrogate->system;
    *fate = YK_SURROGATE_UNSTABLE;
    yk_status status = yk_system_start(system);
    if (status != YK_OK)
        return status;
    if (system->layout.words == 0)
        return YK_ERROR_CAPABILITY;

    /* Every word of the state is moved a little, some up and some down. */
    double *image = yk_allocate(context, system->layout.words, sizeof *image);
    if (!image)
        return YK_ERROR_MEMORY;

    yk_system_state_get(system, image);
    unsigned seed = 1;
    for (size_t i = 0; i < system->layout.continuous; i++) {
        seed = seed * 1664525u + 1013904223u;
        image[i] += DEVIATION * (seed / 2147483648.0 - 1);
    }

    status = yk_system_state_set(system, image);
    yk_release(context, image);

    /* The largest wrench of the first steps, of the second quarter, and of the last. */
    double largest = 0;
    double first = 0;
    double second = 0;
    double last = 0;
    bool converged = true;

    for (int i = 0; !YK_FAILED(status) && i < STEPS && largest <= EXPLODED * first; i++) {
        status = yk_system_step(system, NULL);
        converged = converged && status != YK_NOT_CONVERGED;
        double wrench = fabs(yk_system_output(system, 1, 0)->wrench.force.x);
        if (!(wrench <= largest))
            largest = wrench;
        if (i < FIRST)
            first = largest;
        if (i >= STEPS / 4 && i < STEPS / 2 && wrench > second)
            second = wrench;
        if (i >= 3 * STEPS / 4 && wrench > last)
            last = wrench;
    }

    if (status == YK_ERROR_MEMORY)
        return status;

    /* Iterations that end early are no harm as long as what they leave does not grow. */
    bool grew = last > fmax(STEADY * second, NOISE * largest);
    if (YK_FAILED(status) || largest > EXPLODED * first)
        grew = true;
    *fate = YK_SURROGATE_STABLE;
    if (grew && converged)
        *fate = YK_SURROGATE_UNSTABLE;
    else if (grew)
        *fate = YK_SURROGATE_NOT_CONVERGED;
    return YK_OK;
}
