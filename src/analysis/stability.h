/* Stability of the coupling of a scenario: growth of deviations about a state of a run, the bodies
 * that move in them, and whether the coupling or the motion causes the growth.
 *
 *   map      from deviations of a state image to those some macro steps later, and its eigenvalues
 *   growth   per macro step from the derivative of the step and from the run itself, and per second
 *            from the more reliable of the two
 *   mode     bodies that an eigenvector moves, and the interface that drives it
 *   rerun    the same scenario with another step or scheme, for comparison
 *   compare  the verdict */
#ifndef YK_ANALYSIS_STABILITY_H
#define YK_ANALYSIS_STABILITY_H

#include "analysis/remedies.h"
#include "math/eigen.h"

/* The map of a step: step_map.c ---------------------------------------------------------------- */

/* Number of macro steps of the map. */
enum { YK_PASSAGE = 8 };

typedef struct yk_step_map {
    yk_context *context;
    yk_system *system;
    size_t words, n; /* of the image, and of its continuous part */
    double *earlier; /* image YK_PASSAGE steps before the base */
    /* image about which the map is linearized; its opaque words are used with every perturbation */
    double *base;
    double *probe;        /* admissible perturbation of single words of `earlier` */
    double *scale;        /* resulting deviation of the words of `base`; 0: the word is constant */
    double *plus, *minus; /* images in work */
    bool reached; /* the run itself reached the base: later failures concern deviations from it */
    /* processor time (yk_processor_seconds) after which steps end with YK_INTERRUPTED */
    double deadline;
    int64_t steps;       /* total number of macro steps */
    int64_t unconverged; /* number of steps whose iterations did not converge */
    double left;         /* N, N m: sum over these of the last change of a wrench */
} yk_step_map;

/* Allocates; the system must have been initialized. */
yk_status yk_step_map_open(yk_context *context, yk_system *system, yk_step_map *map);
void yk_step_map_close(yk_step_map *map);

/* Uses the present state as `earlier`, advances to the base, and finds the scales; `vector`
 * receives a deviation of length one, in scales, that the system itself produced. */
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
    int count; /* descending in modulus */

    /* Of one macro step, imaginary part >= 0. Residuals are those of the map over YK_PASSAGE steps,
     * relative to its eigenvalue; vectors are in scaled words, the imaginary one is NULL if the
     * eigenvalue is real. */
    yk_arnoldi_pair pairs[YK_STABILITY_MODES_MAX];
    double errors[YK_STABILITY_MODES_MAX]; /* of the moduli */
    double *vectors;
    double amplitude; /* of the finite differences */
    int dimension;    /* of the space in which eigenvalues were computed */
} yk_spectrum;

/* `start`: a deviation produced by the system. `brief`: only the first modes, with fewer sizes of
 * differences. The spectrum must be released, whatever the status. */
yk_status yk_spectrum_find(yk_step_map *map, const double *start, bool brief,
                           yk_spectrum *spectrum);
void yk_spectrum_release(yk_context *context, yk_spectrum *spectrum);

/* Growth --------------------------------------------------------------------------------------- */

typedef struct yk_growth_def {
    double time;    /* s, of the state */
    bool rest;      /* search for a state of rest near it first */
    int track;      /* macro steps over which the growth is followed along the run; 0: none */
    double notable; /* 1/s, growth that matters within the run */
    bool brief;     /* only the largest growth, with less work */
    /* In scales: instead of modes, follow a deviation of this amplitude that the system produces
     * along the run; 0: modes. */
    double follow;
} yk_growth_def;

typedef struct yk_growth {
    double time; /* s, of the reached state */
    double step; /* s */

    /* Of the least stable mode, from the derivative. */
    double radius, error; /* per macro step */
    double frequency;     /* Hz */
    double phase;         /* rad per macro step, 0 to pi */

    /* Amplitude of the finite differences for the modes, in scales. */
    double amplitude;

    /* Along the run, per macro step; NaN: not followed. */
    double tracked;

    /* Logarithm of the largest growth of a deviation while it was followed. */
    double witnessed;

    /* The accepted estimate: the derivative if the run confirms it, otherwise the run. */
    bool confirmed;
    double rate, rate_error; /* 1/s */

    int mode_count;
    struct {
        double rate, error; /* 1/s */
        double frequency;   /* Hz */
        double phase;       /* rad per macro step */
    } modes[YK_STABILITY_MODES_MAX];
} yk_growth;

/* Advances the system to YK_PASSAGE macro steps before the time, and finds the modes there. The map
 * must be open on the initialized system; afterwards the state is its base. The spectrum must be
 * released, whatever the status. A negative status: the run broke down, or cannot be analyzed;
 * YK_INTERRUPTED: the time limit was reached. */
yk_status yk_growth_find(yk_step_map *map, const yk_scenario_info *info, const yk_growth_def *def,
                         yk_spectrum *spectrum, yk_growth *growth);

/* Follows the least stable mode along the run, if requested, and selects the accepted estimate. The
 * base of the map moves on. */
yk_status yk_growth_follow(yk_step_map *map, const yk_growth_def *def, const yk_spectrum *spectrum,
                           yk_growth *growth);

/* Follows a deviation from the present state along the run for so many macro steps, three time
 * constants of its growth: the logarithm of its largest growth in the last quarter, NaN if it is
 * not known, and whether it grows exponentially. Deviations of a regular motion grow in proportion to the time, although an
 * eigenvalue at one instant may be large. */
yk_status yk_growth_along_run(yk_step_map *map, double amplitude, int64_t steps, double *logarithm,
                              bool *exponential);

/* Statuses of a step that mean "this run breaks down" and not "this cannot be analyzed". */
bool yk_growth_broke_down(yk_status status);

/* Modes ---------------------------------------------------------------------------------------- */

/* Fills the members that need the eigenvectors; `imaginary` may be NULL. The vectors are in scaled
 * words. */
yk_status yk_stability_describe(yk_step_map *map, const yk_scenario_info *info, double amplitude,
                                const double *real, const double *imaginary,
                                yk_stability_mode *mode);

/* Reruns --------------------------------------------------------------------------------------- */

enum { YK_RERUN_MESSAGE = 400 };

/* Data shared by the reruns of one scenario. */
typedef struct yk_rerun_source {
    yk_context *context;
    const yk_scenario_info *info;
    char *text; /* the resolved scenario */
    yk_cache *cache;
    bool owns_cache;
    bool to_rounding; /* the scenario itself was loaded for finite differences, like its reruns */
} yk_rerun_source;

/* A rerun has a context of its own, so that its messages do not mix with those of the analyzed
 * scenario. */
typedef struct yk_rerun {
    yk_context *context;
    yk_scenario *scenario;
    yk_system *system;
    const yk_scenario_info *info;
    char message[YK_RERUN_MESSAGE]; /* reason of a failed load or start; "" after success */
} yk_rerun;

/* Loads, creates and initializes the system; after a negative status the message has the reason.
 * Must be closed in any case. */
yk_status yk_rerun_open(const yk_rerun_source *source, const yk_changes *changes, yk_rerun *rerun);
/* One of its subsystems alone, with unconnected ports, initialized. The caller owns the system. */
yk_status yk_rerun_alone(yk_rerun *rerun, int subsystem, yk_system **system);
void yk_rerun_close(yk_rerun *rerun);

/* Comparison ----------------------------------------------------------------------------------- */

typedef struct yk_comparison {
    yk_rerun_source source;
    const yk_stability_options *def;
    yk_stability_report *report;
    double deadline; /* processor time limit for everything */
    /* see yk_growth_def: growth that is only visible along the run is compared with the same kind
     * of growth */
    double follow;
    double at_step; /* 1/s, growth of the reference at the step of the scheme, for remedies */
    /* Of the growth along the whole run, once it is known: see yk_growth_along_run. */
    double amplitude, witnessed, run_growth;
    bool along_run_known, grows_along_run;
    bool first_sample; /* near the start all schemes agree on the state */
    /* Largest growth of the motion at any state so far, and its reference: for states that other
     * schemes do not reach. */
    yk_stability_rate largest;
    char largest_reference[64];
} yk_comparison;

/* Fills the verdict and its members for a growth of the scheme itself. */
yk_status yk_compare(yk_comparison *c, const yk_growth *growth);

/* Whether the run of a reference breaks down too at the time at which the scheme's run did. */
yk_status yk_compare_breakdown(yk_comparison *c, double time, const char *message);

/* For an unstable coupling: the longest stable step, and the cheapest scheme that is stable at the
 * scenario's step. */
yk_status yk_compare_remedies(yk_comparison *c);

#endif
