/* Common code of the FMUs of the tests. A model is a source that defines, before it includes
 * skeleton2.h or skeleton3.h (as VERSION says):
 *
 *   TOKEN               the GUID or instantiation token
 *   VALUES              how many real variables it has; value references count from 0
 *   start[VALUES]       their start values
 *   calculate(v, t)     outputs and rates of states from states and inputs
 *   advance(v, rate, t, h)   co-simulation: the step, with inputs that change at these rates
 *   STATES, state_of[], rate_of[]   continuous states and their rates (0: none)
 *   NOMINALS            optional, FMI 2: initialiser of the nominal values of the states
 *   NEXT_EVENT(v, t)    optional, FMI 2: time of the next event after t; infinity: none
 *   INDICATORS, indicate(v, z), react(v, t)   event indicators; what happens at an event
 *
 * The last variable, v[FAULT], makes it misbehave in a step that ends after t = 0.05 s.
 *
 *   RESTORES_START    a step after which an earlier state may be set begins at the first state
 *   CRASHES_IN_STATE  taking a state crashes */
#ifndef YOKE_TESTS_SKELETON_H
#define YOKE_TESTS_SKELETON_H

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interop/fmi/functions.h"

enum { NO_FAULT, DISCARDS, FAILS, CRASHES, HANGS, ENDS, LOSES_NUMBERS };

#ifdef RESTORES_START
#define RESTORE_START(self, no_rollback)                       \
    do {                                                       \
        if (!(self)->has_first)                                \
            memcpy((self)->first, (self)->v, sizeof(self)->v); \
        (self)->has_first = true;                              \
        if (!(no_rollback))                                    \
            memcpy((self)->v, (self)->first, sizeof(self)->v); \
    } while (0)
#else
#define RESTORE_START(self, no_rollback) (void)(no_rollback)
#endif

#ifdef CRASHES_IN_STATE
#define TAKE_STATE() raise(SIGSEGV)
#else
#define TAKE_STATE() (void)0
#endif

#define EXPORT __attribute__((visibility("default")))

/* Linear models: the derivative of one variable by another is a difference. */
#define DEFINE_PARTIAL                                                         \
    static double partial(const double *v, double t, unsigned of, unsigned by) \
    {                                                                          \
        double low[VALUES], high[VALUES];                                      \
        memcpy(low, v, sizeof low);                                            \
        memcpy(high, v, sizeof high);                                          \
        low[by] -= 1;                                                          \
        high[by] += 1;                                                         \
        calculate(low, t);                                                     \
        calculate(high, t);                                                    \
        return (high[of] - low[of]) / 2;                                       \
    }

#endif
