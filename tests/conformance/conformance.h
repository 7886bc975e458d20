/* One suite that every kind of subsystem must pass.
 *
 * A case creates the subsystem and sets its inputs; the suite checks the guarantees of the contract
 * in yoke/subsystem.h: the table of operations, restarts, bit-exact rollback,
 * convergence under halved steps, the energy balance of the ports, and that stepping allocates
 * nothing. */
#ifndef YOKE_TESTS_CONFORMANCE_H
#define YOKE_TESTS_CONFORMANCE_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

typedef struct conformance_case {
    const char *name;
    yk_status (*create)(yk_context *context, const void *user, yk_subsystem **subsystem);
    const void *user;
    int port;               /* the port that is driven */
    int answer;             /* the port that answers, counted from there; 0: the same */
    yk_causality causality; /* and how: by a sine of wrench, or of motion */
    unsigned constrained;   /* YK_AXIS mask */
    double amplitude;       /* N (and N m), or m (and rad) */
    double frequency;       /* rad/s */
    double step;            /* s; also halved and quartered */
    int steps;
    /* of motion (or wrench, for motion ports) under halved steps; 0: exact; negative: not
     * checked */
    double order;
    double energy_order; /* of the energy balance; 0: exact to rounding; negative: not checked */
    double scale;        /* size of the outputs, for "to rounding" */
} conformance_case;

/* Runs all checks as a cmocka group per case; returns the number of failed tests. */
int conformance_run(const conformance_case *cases, int count);

#endif
