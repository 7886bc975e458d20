/* The integrators that a model can be given: one row per kind. */
#include "smooth/internal.h"

const integrator *yk_smooth_integrator_of(yk_smooth_integrator kind)
{
    static const integrator *const table[YK_SMOOTH_INTEGRATORS] = {[YK_SMOOTH_TWO_STEP] = &yk_smooth_two_step};
    return table[kind];
}
