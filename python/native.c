/* Included by the source that generate.py makes: cffi defines the functions of callbacks.h there. */
#include "native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Interrupts ----------------------------------------------------------------------------------- */

static int yoke_py_check_signals(void *handle);

/* Time in which a macro step may end after an interrupt (ns), and between two checks for signals. */
enum { GRACE = 1000000000, CHECK_INTERVAL = 100000000 };

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void yoke_py_request_stop(yoke_py_interrupt *interrupt)
{
    __atomic_store_n(&interrupt->deadline, now() + GRACE, __ATOMIC_RELAXED);
    __atomic_store_n(&interrupt->stop, 1, __ATOMIC_RELEASE);
}

/* Asks Python at most ten times per second, and by one thread at a time. */
static bool is_stop_requested(yoke_py_interrupt *interrupt)
{
    if (__atomic_load_n(&interrupt->stop, __ATOMIC_ACQUIRE))
        return true;

    int64_t time = now();
    int64_t next = __atomic_load_n(&interrupt->next_check, __ATOMIC_RELAXED);
    if (time < next || !__atomic_compare_exchange_n(&interrupt->next_check, &next, time + CHECK_INTERVAL, false,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;

    if (yoke_py_check_signals(interrupt->handle))
        yoke_py_request_stop(interrupt);
    return __atomic_load_n(&interrupt->stop, __ATOMIC_ACQUIRE);
}

bool yoke_py_should_stop(void *user)
{
    yoke_py_interrupt *interrupt = user;
    return is_stop_requested(interrupt) && now() >= __atomic_load_n(&interrupt->deadline, __ATOMIC_RELAXED);
}

/* Guards --------------------------------------------------------------------------------------- */

int yoke_py_acquire(yoke_py_guard *guard)
{
    if (__atomic_exchange_n(&guard->busy, 1, __ATOMIC_ACQUIRE))
        return YOKE_PY_BUSY;
    if (guard->system)
        return YK_OK;

    yoke_py_release(guard);
    return YOKE_PY_CLOSED;
}

void yoke_py_release(yoke_py_guard *guard)
{
    __atomic_store_n(&guard->busy, 0, __ATOMIC_RELEASE);
}

int yoke_py_step(yoke_py_guard *guard)
{
    int status = yoke_py_acquire(guard);
    if (status != YK_OK)
        return status;

    status = yk_system_step(guard->system, NULL);
    yoke_py_release(guard);
    return status;
}

/* Makes macro steps until the time has reached the end, at most `count`. */
static int make_steps(yoke_py_guard *guard, int64_t count, double end)
{
    int status = yoke_py_acquire(guard);
    if (status != YK_OK)
        return status;

    double last = end - 1e-9 * guard->macro_step;
    for (int64_t i = 0; i < count && yk_system_time(guard->system) < last; i++) {
        yk_status made = yk_system_step(guard->system, NULL);
        if (made != YK_OK)
            status = made;
        if (YK_FAILED(made) || made == YK_INTERRUPTED)
            break;
        if (is_stop_requested(guard->interrupt)) {
            status = YK_INTERRUPTED;
            break;
        }
    }

    yoke_py_release(guard);
    return status;
}

int yoke_py_steps(yoke_py_guard *guard, int64_t count)
{
    return make_steps(guard, count, INFINITY);
}

int yoke_py_run_until(yoke_py_guard *guard, double end)
{
    return make_steps(guard, INT64_MAX, end);
}

/* Records -------------------------------------------------------------------------------------- */

yk_status yoke_py_copy_record(const yk_record *record, yk_recorder *recorder)
{
    const yk_record_header *header = yk_record_get_header(record);
    size_t width = 0;
    for (int i = 0; i < header->channel_count; i++)
        width += (size_t)header->channels[i].component_count;
    const double **columns = malloc((width + 1) * sizeof *columns);
    double *row = malloc((width + 1) * sizeof *row);
    yk_status status = columns && row ? yk_recorder_begin(recorder, header) : YK_ERROR_MEMORY;

    size_t column = 0;
    for (int i = 0; status == YK_OK && i < header->channel_count; i++)
        for (int k = 0; k < header->channels[i].component_count; k++)
            if (!(columns[column++] = yk_record_column(record, i, k)))
                status = YK_ERROR_FILE;

    const double *times = yk_record_times(record);
    if (!times)
        status = status == YK_OK ? YK_ERROR_FILE : status;
    size_t rows = yk_record_row_count(record);
    for (size_t i = 0; status == YK_OK && i < rows; i++) {
        for (size_t k = 0; k < width; k++)
            row[k] = columns[k][i];
        status = yk_recorder_sample(recorder, times[i], row);
    }
    size_t frames = yk_record_frame_count(record);
    for (size_t i = 0; status == YK_OK && i < frames; i++)
        status = yk_recorder_frame(recorder, yk_record_frame_time(record, i), yk_record_frame(record, i));
    if (status == YK_OK)
        status = yk_recorder_end(recorder, yk_record_get_summary(record));

    free(row);
    free(columns);
    return status;
}

/* Subsystems ----------------------------------------------------------------------------------- */

int yoke_py_ports(const yk_subsystem *self, const yk_port **list)
{
    const yoke_py_subsystem *s = (const yoke_py_subsystem *)self;
    *list = s->ports;
    return s->port_count;
}

void yoke_py_get_port_value(const yk_subsystem *self, int port, yk_port_value *value)
{
    const yoke_py_subsystem *s = (const yoke_py_subsystem *)self;
    *value = s->values[port];
}

const char *yoke_py_last_message(const yk_subsystem *self)
{
    return ((const yoke_py_subsystem *)self)->message;
}

yk_state_layout yoke_py_layout(const yk_subsystem *self)
{
    size_t size = ((const yoke_py_subsystem *)self)->state_size;
    return (yk_state_layout){.word_count = size, .continuous_count = size};
}

void yoke_py_get_state(const yk_subsystem *self, double *image)
{
    const yoke_py_subsystem *s = (const yoke_py_subsystem *)self;
    memcpy(image, s->state, s->state_size * sizeof *image);
}

int yoke_py_list_channels(const yk_subsystem *self, const yk_channel **list)
{
    const yoke_py_subsystem *s = (const yoke_py_subsystem *)self;
    *list = s->channels;
    return s->channel_count;
}

void yoke_py_read_channel(const yk_subsystem *self, int channel, double *values)
{
    const yoke_py_subsystem *s = (const yoke_py_subsystem *)self;
    memcpy(values, s->channel_values[channel], (size_t)s->channels[channel].component_count * sizeof *values);
}

/* Compiled functions --------------------------------------------------------------------------- */

static double *add_coefficients(double *to, const yk_input *input, bool angular, bool all_components)
{
    const yk_vec3 *from = angular ? input->angular : input->linear;
    for (int power = 0; power <= YK_INPUT_DEGREE_MAX; power++) {
        yk_vec3 v = power <= input->degree ? from[power] : (yk_vec3){0, 0, 0};
        *to++ = v.x;
        if (all_components) {
            *to++ = v.y;
            *to++ = v.z;
        }
    }
    return to;
}

static yk_status call_function(yoke_py_subsystem *s, double t, double h, const yk_input *inputs)
{
    static const yk_input none = {.degree = 0};
    double *to = s->inputs;
    for (int i = 0; i < s->port_count; i++) {
        const yk_input *input = inputs ? &inputs[i] : &none;
        bool is_marker = s->ports[i].kind == YK_PORT_MARKER;
        to = add_coefficients(to, input, false, is_marker);
        if (is_marker)
            to = add_coefficients(to, input, true, true);
    }

    int failed = s->function(t, h, s->state, s->inputs, s->outputs);
    if (failed != 0) {
        snprintf(s->message, sizeof s->message, "the function of the subsystem returned %d at t = %g s", failed, t);
        return YK_ERROR_SUBSYSTEM;
    }
    for (size_t i = 0; i < s->state_size; i++)
        if (!isfinite(s->state[i])) {
            snprintf(s->message, sizeof s->message, "the state became infinite or not a number");
            return YK_ERROR_NOT_FINITE;
        }

    const double *from = s->outputs;
    for (int i = 0; i < s->port_count; i++) {
        yk_port_value *value = &s->values[i];
        switch (s->ports[i].kind) {
        case YK_PORT_MARKER:
            memcpy(value, from, sizeof *value);
            from += sizeof *value / sizeof *from;
            break;
        case YK_PORT_SIGNAL: value->motion.position.x = *from++; break;
        default:
            value->motion.position.x = *from++;
            value->motion.velocity.x = *from++;
            value->motion.acceleration.x = *from++;
            value->wrench.force.x = *from++;
        }
    }
    return YK_OK;
}

yk_status yoke_py_function_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    return call_function((yoke_py_subsystem *)self, t, h, inputs);
}

yk_status yoke_py_function_set_state(yk_subsystem *self, const double *image)
{
    yoke_py_subsystem *s = (yoke_py_subsystem *)self;
    memcpy(s->state, image, s->state_size * sizeof *image);
    return call_function(s, 0, 0, NULL);
}
