#include "model/undefined.h"

#include <math.h>
#include <stdio.h>

#include "model/scenario.h"

/* Moments of a step that are looked at: those at which solvers evaluate most functions, its ends
 * and its middle, and some between. */
enum { MOMENTS = 9 };

bool yk_scenario_find_undefined(const yk_scenario *scenario, double t, double h, char *what,
                                size_t capacity)
{
    for (int i = 0; i < MOMENTS; i++) {
        double moment = t + h * i / (MOMENTS - 1);
        for (const yk_scenario_function *f = scenario->builder.functions; f; f = f->next) {
            if (!f->of_time)
                continue;

            double value = yk_expression_value(f->expression, &moment);
            if (isfinite(value))
                continue;

            /* As mistakes of the scenario are reported: file and line, or what set it. */
            yk_location location = yk_node_location(f->node);
            char line[32] = "";
            if (location.source->has_lines)
                snprintf(line, sizeof line, ":%d:%d", location.line, location.column);
            char path[YK_PATH_MAX];
            const char *kind = "infinite";
            if (isnan(value))
                kind = "not a number";
            snprintf(what, capacity,
                     "%.200s%s: %s: '%.200s' is %s at t = %g s; give it a value for the whole run, "
                     "as a condition 'a ? b : c' can",
                     location.source->name, line, yk_node_path(f->node, path), f->node->text, kind,
                     moment);
            return true;
        }
    }

    return false;
}
