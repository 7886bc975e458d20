/* Stability of the coupling of a scenario: how fast deviations grow about a state of a run, who
 * moves in them, and whether that growth is the coupling's or the motion's.
 *
 *   map      from deviations of a state image to those some macro steps later, and its eigenvalues
 *   growth   per macro step by the derivative of the step and by the run itself, and per second
 *            by whichever of the two is to be believed
 *   mode     what an eigenvector moves, and at which interface it is driven
 *   rerun    the scenario once more with another step or scheme, to compare with
 *   compare  the verdict */
#ifndef YK_ANALYSIS_STABILITY_H
#define YK_ANALYSIS_STABILITY_H

#include "analysis/remedies.h"
#include "math/eigen.h"

/* The map of a step: step_map.c ---------------------------------------------------------------- */

/* Macro steps of the map. */
enum { YK_PASSAGE = 8 };

typedef struct yk_step_map {
    yk_context *context;
    yk_system *system;
    size_t words, n; /* of the image, and of its continuous part */
    double *earlier; /* image YK_PASSAGE steps before the base */
    /* image about which the map is linearised; its opaque words go with every perturbation */
    double *base;
    double *probe; /* perturbation that single words of `earlier` bear */
    double *scale; /* deviation that the words of `base` then show; 0: a word that nothing moves */
    double *plus, *minus; /* images in work */
    bool
        reached; /* the run itself came to the base: what fails afterwards are deviations from it */
    /* of the processor (yk_processor_seconds), after which steps end with YK_INTERRUPTED */
    double deadline;
    int64_t steps;       /* macro steps that were taken for all this */
    int64_t unconverged; /* those whose iterations did not converge */
    double left; /* N, N m: sum over these of the change of a wrench in their last iteration */
} yk_step_map;

/* Allocates; the system must have been started. */
yk_status yk_step_map_open(yk_context *context, yk_system *system, yk_step_map *map);
void yk_step_map_close(yk_step_map *map);

/* Takes the present state for `earlier`, goes on to the base, and finds the scales; `vector`
 * receives a deviation in scales that the system itself made, of length one. */
yk_status yk_step_map_set_base(yk_step_map *map, double *vector);

/* One macro step from an image, in place. */
yk_status yk_step_map_step(yk_step_map *map, double *image);
/* Macro steps of the run itself, from the present state of the system. */
yk_status yk_step_map_run(yk_step_map *map, int64_t steps);

/* image = base + amplitude * (scaled vector). */
void yk_step_map_perturb(const yk_step_map *map, double amplitude, const double *vector,
                         double *image);

/* vector = factor * (plus - minus) in scales. */
void yk_step_map_scale(const yk_step_map *map, double factor, const double *plus,
                       const double *minus, double *vector);

/* Newton's method for an image that a step leaves as it is, with the clock standing still, near
 * the base. */
yk_status yk_step_map_rest(yk_step_map *map);

/* The largest eigenvalues of the macro step about the base. */
typedef struct yk_spectrum {
    int count; /* falling in modulus */

    /* Of one macro step, imaginary part >= 0. Residuals are those of the map over YK_PASSAGE steps,
     * relative to its eigenvalue; vectors are in scaled words, the imaginary one NULL where the
     * eigenvalue is real. */
    yk_arnoldi_pair pairs[YK_STABILITY_MODES_MAX];
    double errors[YK_STABILITY_MODES_MAX]; /* of the moduli */
    double *vectors;
    double amplitude; /* of the differences that it comes from */
    int dimension;    /* of the space in which eigenvalues were computed */
} yk_spectrum;

/* `start`: a deviation that the system made. Brief: the first modes alone, with fewer sizes of
 * differences. The spectrum must be released, whatever the status. */
yk_status yk_spectrum_find(yk_step_map *map, const double *start, bool brief,
                           yk_spectrum *spectrum);
void yk_spectrum_release(yk_context *context, yk_spectrum *spectrum);

/* Growth --------------------------------------------------------------------------------------- */

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
    double phase;         /* rad per macro step, 0 to pi */

    /* Of the differences that the modes come from, in scales. */
    double amplitude;

    /* Along the run, per macro step; NaN: not followed, or not to be followed. */
    double tracked;

    /* Logarithm of the most that a deviation grew while it was followed. */
    double witnessed;

    /* What is believed: the derivative where the run confirms it, else the run. */
    bool confirmed;
    double rate, rate_error; /* 1/s */

    int mode_count;
    struct {
        double rate, error; /* 1/s */
        double frequency;   /* Hz */
        double phase;       /* rad per macro step */
    } modes[YK_STABILITY_MODES_MAX];
} yk_growth;

/* Carries the system on to YK_PASSAGE macro steps before the time, and finds the modes there. The
 * map must be open on the started system, and has the state as its base afterwards. The spectrum
 * must be released, whatever the status. A negative status: the run broke down, or cannot be
 * asked; YK_INTERRUPTED: the time is over. */
yk_status yk_growth_find(yk_step_map *map, const yk_scenario_info *info, const yk_growth_def *def,
                         yk_spectrum *spectrum, yk_growth *growth);

/* Follows the least stable mode along the run, where that is asked for, and decides which growth
 * is believed. The base of the map moves on. */
yk_status yk_growth_follow(yk_step_map *map, const yk_growth_def *def, const yk_spectrum *spectrum,
                           yk_growth *growth);

/* Statuses of a step that mean "this run breaks down" and not "this cannot be asked". */
bool yk_growth_broke_down(yk_status status);

/* Modes ---------------------------------------------------------------------------------------- */

/* Fills what the eigenvalue alone does not say; `imaginary` may be NULL. The vectors are in
 * scaled words. */
yk_status yk_stability_describe(yk_step_map *map, const yk_scenario_info *info, double amplitude,
                                const double *real, const double *imaginary,
                                yk_stability_mode *mode);

/* Reruns --------------------------------------------------------------------------------------- */

enum { YK_RERUN_MESSAGE = 400 };

/* What reruns of one scenario share. */
typedef struct yk_rerun_source {
    yk_context *context;
    const yk_scenario_info *info;
    char *text; /* the resolved scenario */
    yk_cache *cache;
    bool owns_cache;
    bool to_rounding; /* the scenario itself was loaded for differences, as its reruns are */
} yk_rerun_source;

/* It has a context of its own, so that its messages do not mix with those of the scenario that is
 * asked about. */
typedef struct yk_rerun {
    yk_context *context;
    yk_scenario *scenario;
    yk_system *system;
    const yk_scenario_info *info;
    char message[YK_RERUN_MESSAGE]; /* why it could not be loaded or started; "" if it could */
} yk_rerun;

/* Loads, creates and starts the system; a negative status leaves its reason in the message. Must
 * be closed in any case. */
yk_status yk_rerun_open(const yk_rerun_source *source, const yk_changes *changes, yk_rerun *rerun);
/* One subsystem of it on its own, its ports left free; started. The system is the caller's. */
yk_status yk_rerun_alone(yk_rerun *rerun, int subsystem, yk_system **system);
void yk_rerun_close(yk_rerun *rerun);

/* Comparison ----------------------------------------------------------------------------------- */

typedef struct yk_comparison {
    yk_rerun_source source;
    const yk_stability_options *def;
    yk_stability_report *report;
    double deadline; /* of the processor, for all of it */
    /* see yk_growth_def: growth of the scheme that only shows along its run is compared with the
     * like */
    double follow;
    double at_step;    /* 1/s, growth of the reference at the step of the scheme, for remedies */
    bool first_sample; /* all schemes agree on the state: it is near the start */
    /* Largest growth of the motion at any state so far, and of which reference: for states that
     * other schemes do not come to. */
    yk_stability_rate largest;
    char largest_reference[64];
} yk_comparison;

/* Fills the verdict and what belongs to it for a growth of the scheme itself. */
yk_status yk_compare(yk_comparison *c, const yk_growth *growth);

/* The scheme's run broke down at a time: does that of a reference too? */
yk_status yk_compare_breakdown(yk_comparison *c, double time, const char *message);

/* Of a coupling that is unstable: the longest stable step, and the cheapest scheme that is stable
 * at the scenario's step. */
yk_status yk_compare_remedies(yk_comparison *c);

#endif
