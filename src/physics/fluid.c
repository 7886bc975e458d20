/* Enthalpy of the fluid of fluid.h (paper rim (49)). */
#include "physics/fluid.h"

/* The integral of dp / (1 + a p + b p^2). */
static double within(const yk_fluid *fluid, double p)
{
    double a = fluid->a;
    double b = fluid->b;
    double square = a * a - 4 * b;
    double ratio = p / (2 + a * p);

    /* By the sign of the discriminant. */
    if (square > 0) {
        double root = sqrt(square);
        return 2 / root * atanh(root * ratio);
    }

    if (square < 0) {
        double root = sqrt(-square);
        return 2 / root * atan(root * ratio);
    }

    return 2 * ratio;
}

double yk_fluid_enthalpy(const yk_fluid *fluid, double pressure)
{
    double p = fmin(pressure, yk_fluid_limit(fluid));
    if (p == pressure)
        return within(fluid, p);

    /* Beyond the range of the law: along the tangent of the density. */
    double slope = yk_fluid_fill_slope(fluid, p);
    return within(fluid, p) + log1p(slope * (pressure - p) / yk_fluid_fill(fluid, p)) / slope;
}
