/* Outcome of every call that can fail, as one list.
 *
 * Zero is success, a negative value an error (the call did nothing useful), a positive value a
 * numerical outcome that the caller may accept (the result stands, but is not what was asked
 * for).
 *
 *   status != YK_OK    the call did not do what it was asked to: the question after every call
 *   YK_FAILED(status)  nothing useful was done: the question if outcomes are accepted, such as steps
 *                      that did not converge or an interrupted run
 *
 * YK_REDUNDANT_CONSTRAINTS is the outcome of `start` of a single subsystem (yoke/subsystem.h). Redundant joints
 * do not change the motion, so yk_system_initialize turns it into a warning and returns YK_OK. */
#ifndef YOKE_STATUS_H
#define YOKE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, text) */
#define YK_STATUS_LIST(X)                                                           \
    X(YK_OK, 0, "success")                                                          \
    X(YK_ERROR_MEMORY, -1, "out of memory")                                         \
    X(YK_ERROR_ARGUMENT, -2, "invalid argument")                                    \
    X(YK_ERROR_INPUT, -3, "invalid input file")                                     \
    X(YK_ERROR_FILE, -4, "file cannot be read or written")                          \
    X(YK_ERROR_CAPABILITY, -5, "a subsystem lacks a capability that was asked for") \
    X(YK_ERROR_SINGULAR, -6, "matrix is singular")                                  \
    X(YK_ERROR_NOT_FINITE, -7, "a value became infinite or not a number")           \
    X(YK_ERROR_DIVERGED, -8, "the solution diverged")                               \
    X(YK_ERROR_NO_SOLUTION, -9, "the problem has no solution")                      \
    X(YK_ERROR_SUBSYSTEM, -10, "a subsystem failed")                                \
    X(YK_ERROR_EXTERNAL, -11, "an external program or library failed")              \
    X(YK_ERROR_INTERNAL, -12, "internal error")                                     \
    X(YK_ERROR_ABORTED, -13, "stopped by the caller in the midst of a step")        \
    X(YK_NOT_CONVERGED, 1, "iterations did not converge to the tolerance")          \
    X(YK_STEP_CUT, 2, "the step was cut")                                           \
    X(YK_REDUNDANT_CONSTRAINTS, 3,                                                  \
      "redundant constraints were solved with least-norm multipliers")              \
    X(YK_INTERRUPTED, 4, "interrupted by the caller")

typedef enum yk_status {
#define YK_STATUS_ENUM(name, value, text) name = value,
    YK_STATUS_LIST(YK_STATUS_ENUM)
#undef YK_STATUS_ENUM
} yk_status;

#define YK_FAILED(status) ((status) < 0)

#ifdef __cplusplus
}
#endif

#endif
