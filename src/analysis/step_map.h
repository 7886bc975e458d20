/* The macro step of a coupled system as a map of state images, differentiated by running it.
 *
 *   deviation of the image at t  ->  deviation of the image some macro steps later
 *
 * Perturbing single words of an image leaves the set of states that the system can reach:
 * quaternions lose their length, constraints open, what a multistep method remembers no longer
 * fits. Such parts die out within some steps, but as long as they live they are amplified by 1/h
 * and 1/h^2, and small errors of the differences would appear as eigenvalues that are not there.
 * So the map is taken over several macro steps at once, in which they vanish and what belongs to
 * the spectrum stays; its eigenvalues are powers of those of one step. Words are scaled by what
 * they show when all words were perturbed and the perturbation has passed some steps: that is how
 * much each moves with the others, whatever its unit. */
#ifndef YK_ANALYSIS_STEP_MAP_H
#define YK_ANALYSIS_STEP_MAP_H

#include "math/eigen.h"
#include "yoke/analysis.h"

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

/* The derivative along a vector of scaled words at the base, over some macro steps, by the
 * central difference of an amplitude in scales. */
yk_status yk_step_map_apply(yk_step_map *map, int steps, double amplitude, const double *vector,
                            double *image);

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
    yk_arnoldi_pair pairs[YK_STABILITY_MODES];
    double errors[YK_STABILITY_MODES]; /* of the moduli */
    double *vectors;
    double amplitude; /* of the differences that it comes from */
    int dimension;    /* of the space in which eigenvalues were computed */
} yk_spectrum;

/* `start`: a deviation that the system made. Brief: the first modes alone, with fewer sizes of
 * differences. The spectrum must be released, whatever the status. */
yk_status yk_spectrum_find(yk_step_map *map, const double *start, bool brief,
                           yk_spectrum *spectrum);
void yk_spectrum_release(yk_context *context, yk_spectrum *spectrum);

#endif
