/* Whether the energy of a run is accounted for: what there is against what there was and what was
 * fed in.
 *
 * At some hundred instants of the run the balances of all subsystems (yk_system_balance) are
 * summed up. What is more than the energy at the start and fed in was made by the coupling or by
 * the integration, and where it is a large share of them the motion cannot be right, whoever made
 * it. The share is always taken of energy that is known to be real: kinetic energy at the start,
 * potential energy released since, work fed in from outside; never of what the run itself has
 * made.
 *
 * Fractions of single instants mislead: methods that are sound let the energy swing about its
 * value, and first steps from rest are wrong by much of nearly nothing. So instants are averaged
 * over windows, and what counts is the end of the run, or several windows in a row in which more
 * was made than there is. */
#ifndef YK_ANALYSIS_BUDGET_H
#define YK_ANALYSIS_BUDGET_H

#include "yoke/coupling.h"
#include "yoke/model.h"

enum { YK_BUDGET_WINDOWS = 64 };

/* Sums over a window of instants. */
typedef struct yk_budget_window {
    int looks;
    double made, created; /* J: by interfaces and integration together; by interfaces alone */
    double scale; /* J: energy at the start and fed in by its end, at least what is not rounding */
} yk_budget_window;

typedef struct yk_budget {
    yk_system *system;
    const yk_scenario_info *info;
    int64_t stride, next; /* macro steps between looks */
    double start_kinetic, start_potential;
    double released, fed; /* largest so far */
    double dissipated;    /* at the last look */
    double rounding;      /* of the energies and works */
    double sound; /* J: energy at the start and fed in when no more than that had been made */
    double largest_kinetic, lowest_potential, highest_potential;
    bool not_finite; /* an energy was */
    int count;
    yk_budget_window windows[YK_BUDGET_WINDOWS];
} yk_budget;

/* After the start of the system. */
void yk_budget_open(yk_budget *budget, yk_system *system, const yk_scenario_info *info);
/* After a macro step, numbered from 1. */
void yk_budget_step(yk_budget *budget, int64_t step);
/* Once more, at the end or where the run failed. */
void yk_budget_look(yk_budget *budget, int64_t step);

/* What the run shows, as fractions of the energy at the start and fed in. */
typedef struct yk_budget_result {
    double made; /* by interfaces and integration: at the end, or where it was largest for long */
    double lost; /* at the end, as far as the interfaces took it */
    /* J: that these are fractions of; where more is made than there is, as it was before */
    double scale;
    double dissipated; /* J */
} yk_budget_result;

yk_budget_result yk_budget_conclude(const yk_budget *budget);

#endif
