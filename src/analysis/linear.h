/* Linear models of a running system, see yk_linearize().
 *
 *   observe  the quantities of a system as numbers, and differences of two observations
 *   fit      discrete and continuous matrices from observed deviations
 *   model    modes, frequency response
 *   write    files */
#ifndef YK_ANALYSIS_LINEAR_H
#define YK_ANALYSIS_LINEAR_H

#include "analysis/stability.h"
#include "yoke/access.h"

/* Observations: linear_observe.c --------------------------------------------------------------- */

/* Preference of a quantity as a state. */
typedef enum yk_observed_class {
    YK_OBSERVED_MOTION, /* positions, angles, velocities: in fixed axes */
    YK_OBSERVED_OTHER,  /* other channels, such as pressures or integrals of a controller */
    YK_OBSERVED_WORD,   /* a word of the state of a subsystem without bodies; it has no name */
    YK_OBSERVED_OUTPUT, /* never a state: forces, accelerations, energies, diagnostics */
    YK_OBSERVED_CLASSES
} yk_observed_class;

/* One number of an observation. A rotation is three numbers, from a quaternion of four. */
typedef struct yk_observed_row {
    yk_observed_class kind;
    bool is_rotation; /* a component of the rotation between two observed orientations */
    int raw;          /* index in the raw observation; of a rotation: of the quaternion */
    int axis;         /* of a rotation */
    char name[160];
    char unit[24];
} yk_observed_row;

typedef struct yk_observer {
    yk_context *context;
    yk_system *system;
    int row_count, raw_count;
    yk_observed_row *rows;
    int body_subsystems; /* number of subsystems */
    int channel_raw;     /* first raw number of the channels */
    int word_raw;        /* first raw number of the words */
    int *words;          /* number of them, per subsystem */
    yk_subsystem *const *subsystems;
    yk_channel_id *channels;
    int channel_count;
    yk_body_state *bodies; /* buffer */
    double *image;         /* buffer */
} yk_observer;

yk_status yk_observer_create(yk_context *context, const yk_scenario *scenario, yk_system *system,
                             yk_observer *observer);
void yk_observer_release(yk_observer *observer);
/* The present state, as raw numbers. */
yk_status yk_observer_read(yk_observer *observer, double *raw);
/* rows = factor * (plus - minus). */
void yk_observer_difference(const yk_observer *observer, double factor, const double *plus,
                            const double *minus, double *rows);
/* First row of a channel with this name, and their number; or of one component. 0: not found. */
int yk_observer_find(const yk_observer *observer, const char *name, int *first);

/* Fitting: linear_fit.c ------------------------------------------------------------------------ */

/* Deviations as columns: `before` and `after` one step, both row_count x column_count. */
typedef struct yk_deviations {
    int row_count, column_count;
    double *before, *after;
} yk_deviations;

/* Selects independent rows as states, at most `capacity`; returns their number. `rows` receives
 * their indices. *complete: the states predict all quantities of motion. */
int yk_linear_select(yk_context *context, const yk_observer *observer,
                     const yk_deviations *deviations, int *rows, int capacity, bool *complete,
                     yk_status *status);

/* The matrix that maps the values of the states before the step to `count` rows: of the same or of
 * another time. matrix: count x state_count. */
yk_status yk_linear_regress(yk_context *context, const yk_deviations *deviations, const int *states,
                            int state_count, const double *values, const int *rows, int count,
                            double *matrix);

/* Continuous A (n x n) and B (n x m) from those of a step, in place, by the bilinear
 * transformation. */
yk_status yk_linear_make_continuous(yk_context *context, double step, int n, int m, double *a,
                                    double *b);

/* The model: linear_model.c -------------------------------------------------------------------- */

yk_status yk_linear_model_create(yk_context *context, int states, int inputs, int outputs,
                                 yk_linear_model **model);
/* Fills the modes from the matrix A. */
yk_status yk_linear_model_find_modes(yk_linear_model *model);

#endif
