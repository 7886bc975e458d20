/* The part of the Python package that is written in C: guards around a running system, interrupts, and the table of a
 * subsystem that is written in Python. generate.py reads the parts between the marks. */
#ifndef YOKE_PYTHON_NATIVE_H
#define YOKE_PYTHON_NATIVE_H

#include "yoke/access.h"
#include "yoke/analysis.h"

/* cffi */

/* Results of guarded calls in addition to yk_status. */
enum { YOKE_PY_CLOSED = 100, YOKE_PY_BUSY = 101 };

/* A system that a Python object uses. It is used by one thread at a time. */
typedef struct yoke_py_guard {
    yk_system *system; /* NULL: closed. */
    double macro_step; /* s */
    struct yoke_py_interrupt *interrupt;
    int busy;
} yoke_py_guard;

/* YK_OK: the caller may use the system, and must release the guard. */
int yoke_py_acquire(yoke_py_guard *guard);
void yoke_py_release(yoke_py_guard *guard);
int yoke_py_step(yoke_py_guard *guard);
int yoke_py_steps(yoke_py_guard *guard, int64_t count);
int yoke_py_run_until(yoke_py_guard *guard, double end);

/* Interrupts of a context: should_stop of a context, with the struct as its user. */
typedef struct yoke_py_interrupt {
    int stop;           /* Nonzero: end the work at the end of the macro step. */
    int64_t deadline;   /* Time after which a macro step is given up as well (ns, monotonic clock). */
    int64_t next_check; /* Time at which Python is asked again (ns, monotonic clock). */
    void *handle;       /* Given to yoke_py_check_signals(). */
} yoke_py_interrupt;

bool yoke_py_should_stop(void *interrupt);
/* Requests the end of the work, from a callback. */
void yoke_py_request_stop(yoke_py_interrupt *interrupt);

/* Passes a record with its frames and its summary to a recorder. */
yk_status yoke_py_copy_record(const yk_record *record, yk_recorder *recorder);

/* A compiled function that advances the state from t to t + h, and sets the outputs from the state; with h = 0 it sets the
 * outputs alone. Inputs and outputs are by port, in the order of the ports:
 *
 *   inputs     scalar and signal ports: 4 coefficients, of the powers 0 to 3 of the time since t; markers: 3 numbers for
 *              each power, first of the force or position, then of the torque or rotation
 *   outputs    scalar ports: position, velocity, acceleration, force; signal ports: the value; markers: the 25 numbers of
 *              a yk_port_value
 *
 * Returns 0, or another number if the step failed. */
typedef int (*yoke_py_function)(double t, double h, double *state, const double *inputs, double *outputs);

/* A subsystem that is written in Python, with a compiled function or without. */
typedef struct yoke_py_subsystem {
    yk_subsystem base;
    void *handle;
    const yk_port *ports;
    int port_count;
    yk_port_value *values; /* One per port. */
    const yk_channel *channels;
    int channel_count;
    double **channel_values; /* One array per channel. */
    double *state;
    size_t state_size;
    yoke_py_function function; /* NULL: methods in Python. */
    double *inputs, *outputs;  /* Of the function. */
    char message[1000];
} yoke_py_subsystem;

/* Operations with a compiled function; no Python is called. */
yk_status yoke_py_function_step(yk_subsystem *self, double t, double h, const yk_input *inputs);
yk_status yoke_py_function_set_state(yk_subsystem *self, const double *image);

int yoke_py_ports(const yk_subsystem *self, const yk_port **list);
void yoke_py_get_port_value(const yk_subsystem *self, int port, yk_port_value *value);
const char *yoke_py_last_message(const yk_subsystem *self);
yk_state_layout yoke_py_layout(const yk_subsystem *self);
void yoke_py_get_state(const yk_subsystem *self, double *image);
int yoke_py_list_channels(const yk_subsystem *self, const yk_channel **list);
void yoke_py_read_channel(const yk_subsystem *self, int channel, double *values);

/* cffi */

#endif
