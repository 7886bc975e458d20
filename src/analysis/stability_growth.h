/* How fast deviations grow about a state of a run of one system: per macro step by the derivative
 * of the step and by the run itself, and per second by whichever of the two is to be believed. */
#ifndef YK_ANALYSIS_STABILITY_GROWTH_H
#define YK_ANALYSIS_STABILITY_GROWTH_H

#include "analysis/spectrum.h"
#include "analysis/step_map.h"

typedef struct yk_growth_def {
    double time;    /* s, of the state */
    bool rest;      /* first look for a state of rest near it */
    int track;      /* macro steps over which the growth is followed along the run; 0: not */
    double notable; /* 1/s, growth that matters within the run */
    bool brief;     /* the largest growth alone, with less work */
    /* In scales: no modes, but a deviation of this amplitude that the system makes is followed
     * along the run; 0: modes. */
    double follow;
} yk_growth_def;

typedef struct yk_growth {
    double time; /* s, of the state that was reached */
    double step; /* s */

    /* Of the least stable mode, by the derivative. */
    double radius, error; /* per macro step */
    double frequency;     /* Hz */
    double rotation;      /* rad per macro step, 0 to pi */

    double amplitude; /* of the differences that the modes come from, in scales */

    double tracked; /* along the run, per macro step; NaN: not followed, or not to be followed */

    double witnessed; /* logarithm of the most that a deviation grew while it was followed */

    /* What is believed: the derivative where the run confirms it, else the run. */
    bool confirmed;
    double rate, rate_error; /* 1/s */

    int mode_count;
    struct {
        double rate, error; /* 1/s */
        double frequency;   /* Hz */
        double rotation;    /* rad per macro step */
    } modes[YK_STABILITY_MODES];
} yk_growth;

/* Carries the system on to YK_PASSAGE macro steps before the time, and finds the modes there. The
 * map must be open on the started system, and has the state as its base afterwards. The spectrum
 * must be given back, whatever the status. A negative status: the run broke down, or cannot be
 * asked; YK_INTERRUPTED: the time is over. */
yk_status yk_growth_find(yk_step_map *map, const yk_scenario_info *info, const yk_growth_def *def,
                         yk_spectrum *spectrum, yk_growth *growth);

/* Follows the least stable mode along the run, where that is asked for, and decides which growth
 * is believed. The base of the map moves on. */
yk_status yk_growth_follow(yk_step_map *map, const yk_growth_def *def, const yk_spectrum *spectrum,
                           yk_growth *growth);

/* Statuses of a step that mean "this run breaks down" and not "this cannot be asked". */
bool yk_growth_broke_down(yk_status status);

#endif
