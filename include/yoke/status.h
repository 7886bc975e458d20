/* Status codes of all functions that can fail.
 *
 * 0 is success. A negative status is an error: the function had no useful effect. A positive status is a numerical
 * outcome that the caller may accept, such as a step that did not converge.
 *
 *     status != YK_OK      The function did not do exactly what was requested. Check this after every call.
 *     YK_FAILED(status)    The function failed. Check this if positive outcomes are acceptable.
 *
 * YK_REDUNDANT_CONSTRAINTS is returned when a single subsystem is initialized (yoke/subsystem.h). Redundant joints do
 * not change the motion, so yk_system_initialize() turns this status into a warning and returns YK_OK. */
#ifndef YOKE_STATUS_H
#define YOKE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, text) */
#define YK_STATUS_LIST(X)                                                  \
    X(YK_OK, 0, "success")                                                 \
    X(YK_ERROR_MEMORY, -1, "out of memory")                                \
    X(YK_ERROR_ARGUMENT, -2, "invalid argument")                           \
    X(YK_ERROR_INPUT, -3, "invalid input file")                            \
    X(YK_ERROR_FILE, -4, "file cannot be read or written")                 \
    X(YK_ERROR_CAPABILITY, -5, "a subsystem lacks a required capability")  \
    X(YK_ERROR_SINGULAR, -6, "matrix is singular")                         \
    X(YK_ERROR_NOT_FINITE, -7, "a value became infinite or not a number")  \
    X(YK_ERROR_DIVERGED, -8, "the solution diverged")                      \
    X(YK_ERROR_NO_SOLUTION, -9, "the problem has no solution")             \
    X(YK_ERROR_SUBSYSTEM, -10, "a subsystem failed")                       \
    X(YK_ERROR_EXTERNAL, -11, "an external program or library failed")     \
    X(YK_ERROR_INTERNAL, -12, "internal error")                            \
    X(YK_ERROR_ABORTED, -13, "stopped by the caller during a step")        \
    X(YK_NOT_CONVERGED, 1, "iterations did not converge to the tolerance") \
    X(YK_STEP_CUT, 2, "the step was shortened")                            \
    X(YK_REDUNDANT_CONSTRAINTS, 3,                                         \
      "redundant constraints were solved with least-norm multipliers")     \
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
