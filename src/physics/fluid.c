#include "physics/fluid.h"

double yk_fluid_enthalpy(const yk_fluid *fluid, double pressure)
{
    double a = fluid->a, b = fluid->b, square = a * a - 4 * b, ratio = pressure / (2 + a * pressure);
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
