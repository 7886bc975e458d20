/* Expressions of time that have no value, as sqrt(1 - t) has none after t = 1 s: the cause of what
 * solvers then call an explosion, a singular matrix or pressures that cannot be found. */
#ifndef YK_MODEL_UNDEFINED_H
#define YK_MODEL_UNDEFINED_H

#include "yoke/model.h"

/* Whether one of the scenario's expressions of time alone is not finite within the step from t to
 * t + h; if so, which one, where it stands and when, as text. */
bool yk_scenario_find_undefined(const yk_scenario *scenario, double t, double h, char *what,
                                size_t capacity);

#endif
