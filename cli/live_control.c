#include "live_control.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/decimal.h"
#include "cli.h"

/* Time between two looks at interrupts during a pause (ns). */
enum { PAUSE_INTERVAL = 50000000 };

/* A parameter of a subsystem. */
typedef struct live_parameter {
    char *name; /* "left.stiffness" */
    const yk_parameter *limits;
    yk_subsystem_id subsystem;
    yk_parameter_id id;
    double value;     /* present value */
    double requested; /* value for the next macro step; NaN: no request */
} live_parameter;

struct live_control {
    pthread_mutex_t lock; /* of everything below */
    yk_context *context;
    pthread_cond_t wake;
    live_parameter *parameters;
    int parameter_count;
    bool can_pause, is_paused, is_advancing;
    yk_text changes;
    char refusal[256]; /* the last request that the run refused */
};

live_control *live_control_create(void)
{
    yk_context_def def = yk_context_default();
    def.log = NULL;
    live_control *control = calloc(1, sizeof *control);
    yk_context *context = yk_context_create(&def);
    if (!control || !context) {
        yk_context_destroy(context);
        free(control);
        return NULL;
    }

    control->context = context;
    pthread_mutex_init(&control->lock, NULL);
    pthread_cond_init(&control->wake, NULL);
    return control;
}

void live_control_destroy(live_control *control)
{
    if (!control)
        return;

    for (int i = 0; i < control->parameter_count; i++)
        yk_free(control->context, control->parameters[i].name);
    yk_free(control->context, control->parameters);
    yk_text_destroy(control->context, &control->changes);
    yk_context_destroy(control->context);
    pthread_cond_destroy(&control->wake);
    pthread_mutex_destroy(&control->lock);
    free(control);
}

/* The thread of the run ------------------------------------------------------------------------ */

/* Sets a requested value and notes the change. With the lock held. */
static void apply_request(live_control *control, yk_system *system, live_parameter *parameter,
                          double time)
{
    double value = parameter->requested;
    parameter->requested = NAN;
    yk_status status = yk_system_set_parameter(system, parameter->subsystem, parameter->id, value);
    if (status != YK_OK) {
        snprintf(control->refusal, sizeof control->refusal, "%s was not changed: %s",
                 parameter->name, yk_status_name(status));
        return;
    }

    parameter->value = value;
    control->refusal[0] = 0;
    char text[YK_DECIMAL_BYTES];
    yk_decimal_write(value, text);
    yk_text_add(control->context, &control->changes, "%st = %.9g s: %s = %s%s%s",
                control->changes.length > 0 ? "; " : "", time, parameter->name, text,
                parameter->limits->unit[0] ? " " : "", parameter->limits->unit);
}

/* Before each macro step: changes parameters, and waits as long as the run is paused. */
static yk_status follow_requests(void *user, yk_system *system, double time)
{
    live_control *control = user;
    pthread_mutex_lock(&control->lock);
    while (control->is_paused && !control->is_advancing && !was_interrupted()) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PAUSE_INTERVAL;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&control->wake, &control->lock, &until);
    }

    for (int i = 0; i < control->parameter_count; i++)
        if (!isnan(control->parameters[i].requested))
            apply_request(control, system, &control->parameters[i], time);
    pthread_mutex_unlock(&control->lock);
    return YK_OK;
}

/* Lists the parameters of all subsystems. With the lock held. */
static yk_status list_parameters(live_control *control, const yk_scenario_info *info,
                                 const yk_system *system)
{
    size_t capacity = 0;
    for (int i = 0; i < info->subsystem_count; i++)
        capacity += (size_t)yk_system_parameter_count(system, (yk_subsystem_id){i});

    control->parameters = yk_allocate(control->context, capacity + 1, sizeof *control->parameters);
    if (!control->parameters)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < info->subsystem_count; i++) {
        yk_subsystem_id subsystem = {i};
        for (int k = 0; k < yk_system_parameter_count(system, subsystem); k++) {
            yk_parameter_id id = {k};
            const yk_parameter *limits = yk_system_parameter_at(system, subsystem, id);
            yk_text name = {0};
            yk_text_add(control->context, &name, "%s.%s", info->subsystem_names[i], limits->name);
            if (name.failed)
                return YK_ERROR_MEMORY;

            control->parameters[control->parameter_count++] = (live_parameter){
                .name = name.data,
                .limits = limits,
                .subsystem = subsystem,
                .id = id,
                .value = yk_system_parameter_value(system, subsystem, id),
                .requested = NAN,
            };
        }
    }
    return YK_OK;
}

yk_status live_control_attach(live_control *control, const yk_scenario_info *info,
                              yk_system *system, bool can_pause)
{
    pthread_mutex_lock(&control->lock);
    yk_status status = list_parameters(control, info, system);
    control->can_pause = can_pause;
    pthread_mutex_unlock(&control->lock);
    yk_system_set_before_step(system, follow_requests, control);
    return status;
}

void live_control_end_advance(live_control *control)
{
    pthread_mutex_lock(&control->lock);
    control->is_advancing = false;
    pthread_mutex_unlock(&control->lock);
}

const char *live_control_changes(const live_control *control)
{
    return control->changes.data;
}

/* The thread of the page ----------------------------------------------------------------------- */

bool live_control_post(live_control *control, live_request request)
{
    pthread_mutex_lock(&control->lock);
    bool possible = control->can_pause || request == LIVE_RESUME;
    if (possible) {
        control->is_paused = request != LIVE_RESUME;
        control->is_advancing = request == LIVE_ADVANCE;
        pthread_cond_signal(&control->wake);
    }
    pthread_mutex_unlock(&control->lock);
    return possible;
}

const char *live_control_set(live_control *control, const char *name, double value)
{
    const char *reason = "there is no such parameter";
    pthread_mutex_lock(&control->lock);
    for (int i = 0; i < control->parameter_count; i++) {
        live_parameter *parameter = &control->parameters[i];
        if (strcmp(parameter->name, name) != 0)
            continue;

        reason = NULL;
        if (!(value >= parameter->limits->minimum && value <= parameter->limits->maximum) ||
            !isfinite(value))
            reason = "the value is outside of its limits";
        else
            parameter->requested = value;
        break;
    }
    pthread_mutex_unlock(&control->lock);
    return reason;
}

static void write_number(yk_context *context, yk_text *json, const char *key, double value)
{
    if (fabs(value) < DBL_MAX)
        yk_text_add(context, json, ",\"%s\":%.17g", key, value);
    else
        yk_text_add(context, json, ",\"%s\":null", key);
}

void live_control_write(live_control *control, yk_context *context, yk_text *json)
{
    pthread_mutex_lock(&control->lock);
    yk_text_add(context, json, "{\"paused\":%s,\"can_pause\":%s,\"refusal\":",
                control->is_paused && !control->is_advancing ? "true" : "false",
                control->can_pause ? "true" : "false");
    yk_text_add_json(context, json, control->refusal);
    yk_text_add(context, json, ",\"parameters\":[");
    for (int i = 0; i < control->parameter_count; i++) {
        const live_parameter *parameter = &control->parameters[i];
        bool requested = !isnan(parameter->requested);
        yk_text_add(context, json, "%s{\"name\":", i > 0 ? "," : "");
        yk_text_add_json(context, json, parameter->name);
        yk_text_add(context, json, ",\"unit\":");
        yk_text_add_json(context, json, parameter->limits->unit);
        write_number(context, json, "value", requested ? parameter->requested : parameter->value);
        write_number(context, json, "minimum", parameter->limits->minimum);
        write_number(context, json, "maximum", parameter->limits->maximum);
        yk_text_add(context, json, "}");
    }
    yk_text_add(context, json, "]}");
    pthread_mutex_unlock(&control->lock);
}
