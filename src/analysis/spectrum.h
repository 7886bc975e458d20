/* The largest eigenvalues of the macro step about the base of a step map. */
#ifndef YK_ANALYSIS_SPECTRUM_H
#define YK_ANALYSIS_SPECTRUM_H

#include "analysis/step_map.h"

typedef struct yk_eigenpair {
    double real, imaginary; /* of one macro step, imaginary part >= 0 */
    double error;           /* of the modulus */
    double residual;        /* of the map over YK_PASSAGE steps, relative to its eigenvalue */
    double *vector[2]; /* real and imaginary part in scaled words; the second NULL if it is real */
} yk_eigenpair;

typedef struct yk_spectrum {
    int count; /* falling in modulus */
    yk_eigenpair pairs[YK_STABILITY_MODES];
    double *vectors;
    double amplitude; /* of the differences that it comes from */
    int dimension;    /* of the space in which eigenvalues were computed */
} yk_spectrum;

/* `start`: a deviation that the system made. Brief: the first modes alone, with fewer sizes of
 * differences. The spectrum must be given back, whatever the status. */
yk_status yk_spectrum_find(yk_step_map *map, const double *start, bool brief,
                           yk_spectrum *spectrum);
void yk_spectrum_release(yk_context *context, yk_spectrum *spectrum);

#endif
