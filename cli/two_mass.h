/* yoke stability without a scenario, and what its maps share with those of scenarios. */
#ifndef YOKE_CLI_TWO_MASS_H
#define YOKE_CLI_TWO_MASS_H

#include "options.h"
#include "yoke/analysis.h"

typedef struct two_mass_request {
    yk_two_mass model;
    double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)]; /* of its scheme */
    const char *scheme, *order, *exchange, *inputs, *acceleration, *integrators;
    double iterations;
    option_list maps;
    const char *output, *plot;
} two_mass_request;

/* The exit code. */
int two_mass_run(two_mass_request *request);

enum { MAP_NAME_MAX = 160 };

/* "rho-inf=0:1:51", optionally ":log"; the name goes to `name`, to which the axis then points.
 * False after a message. */
bool map_axis_read(const char *text, yk_map_axis *axis, char *name, size_t capacity);
bool map_write(const char *file, const yk_map_axis *x, const yk_map_axis *y, const double *radii);

#endif
