/* Controllers (yoke/control.h) as subsystems. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/builder.h"
#include "base/context.h"
#include "base/restored.h"
#include "base/text.h"
#include "math/polynomial.h"
#include "physics/options.h"
#include "yoke/control.h"

/* Ports of a loop. */
enum { COMMAND, MEASURED, RATE, REFERENCE, LOOP_PORTS };

/* State of a loop, in the order of the state image. */
typedef struct loop_state {
    double command;
    double
        integral; /* I times the integral of the error, without the part that the limits suppressed. */
    double error;    /* At the last evaluation. */
    double smoothed; /* Error after the filter. */
} loop_state;

typedef struct loop_memory {
    double reference; /* At the last evaluation. */
    double limited;   /* Time during which the command was limited (s). */
} loop_memory;

enum {
    STATE_WORDS = sizeof(loop_state) / sizeof(double),
    MEMORY_WORDS = sizeof(loop_memory) / sizeof(double)
};

/* Channels of a loop. The name of the loop precedes these names. */
enum { ERROR_CHANNEL, INTEGRAL_CHANNEL, LIMITED_CHANNEL, LOOP_CHANNELS };
static const yk_channel loop_channels[LOOP_CHANNELS] = {
    {".error", "1", 1}, {".integral", "1", 1}, {".command_limited_time", "s", 1}};

/* Parameters of a loop that may be changed between steps, named in the same way. */
static const struct {
    yk_parameter of;
    size_t offset; /* In yk_control_loop_def. */
} loop_parameters[] = {
    {{".proportional", "", -DBL_MAX, DBL_MAX}, offsetof(yk_control_loop_def, proportional)},
    {{".integral", "1/s", -DBL_MAX, DBL_MAX}, offsetof(yk_control_loop_def, integral)},
    {{".derivative", "s", -DBL_MAX, DBL_MAX}, offsetof(yk_control_loop_def, derivative)},
    {{".command_offset", "", -DBL_MAX, DBL_MAX}, offsetof(yk_control_loop_def, command_offset)},
    {{".min_command", "", -INFINITY, INFINITY}, offsetof(yk_control_loop_def, min_command)},
    {{".max_command", "", -INFINITY, INFINITY}, offsetof(yk_control_loop_def, max_command)},
    {{".max_command_rate", "1/s", 0, INFINITY}, offsetof(yk_control_loop_def, max_command_rate)},
};
enum { LOOP_PARAMETERS = sizeof loop_parameters / sizeof *loop_parameters };

typedef struct loop {
    yk_control_loop_def def;
    char *name, *port_names[LOOP_PORTS], *channel_names[LOOP_CHANNELS];
    char *parameter_names[LOOP_PARAMETERS];
    bool connected[LOOP_PORTS];
    loop_state *now;
    loop_memory *memory;
} loop;

typedef struct control {
    yk_subsystem subsystem;
    yk_context *context;
    char *name;
    double period, longest;
    int count;
    loop *loops;
    yk_port *ports;
    double *image;   /* States, memories, number of samples. */
    double *samples; /* In the image: number of samples since the start. */
    double start;
    yk_channel *channels;
    yk_parameter *parameters;
    char failure[160]; /* Message of a step that was refused. */
} control;

static const yk_subsystem_ops control_ops;

/* Control law ------------------------------------------------------------------------------------------ */

/* A loop and its input signals in the present step. */
typedef struct view {
    const loop *of;
    const yk_input *inputs; /* Of the loop; NULL: unknown. */
    double begin;           /* Start of the local time of the signals (s). */
} view;

static double input_at(const view *v, int port, double t)
{
    if (!v->inputs || !v->of->connected[port])
        return 0;

    return yk_input_scalar(&v->inputs[port], t - v->begin);
}

static double reference_at(const view *v, double t)
{
    if (v->of->connected[REFERENCE])
        return input_at(v, REFERENCE, t);

    return yk_function_value(v->of->def.reference, t);
}

static double error_at(const view *v, double t)
{
    return reference_at(v, t) - input_at(v, MEASURED, t);
}

/* e' after the filter. Exact for an error that is linear in the step. */
static double filtered_derivative(loop_state *s, double filter, double h, double begin, double end)
{
    double ramp = (end - begin) / h;
    if (filter <= 0)
        return ramp;

    double decay = exp(-h / filter);
    s->smoothed = end - ramp * filter + (s->smoothed - begin + ramp * filter) * decay;
    return (end - s->smoothed) / filter;
}

/* Moves the command towards `wanted` as far as the limits allow. True: the command reached it. */
static bool set_command(const loop *l, double wanted, double h)
{
    const yk_control_loop_def *def = &l->def;

    double most = def->max_command_rate * h;
    double command = fmax(l->now->command - most, fmin(l->now->command + most, wanted));
    command = fmax(def->min_command, fmin(def->max_command, command));
    l->now->command = command;
    if (command == wanted)
        return true;

    l->memory->limited += h;
    return false;
}

/* Advances a loop from t - h to t. `integral` is the integral of the error over this time. */
static void advance_loop(const view *v, double t, double h, double integral)
{
    const yk_control_loop_def *def = &v->of->def;
    loop_state *s = v->of->now;
    loop_memory *memory = v->of->memory;
    double reference = reference_at(v, t);
    double error = error_at(v, t);
    double part = def->integral * integral;

    /* Change of the error for the derivative term: the measured rate integrated by Simpson's rule, or the difference of
     * the error. */
    bool has_rate = v->of->connected[RATE];
    double change = error - s->error;
    if (has_rate) {
        double ends = input_at(v, RATE, t - h) + 4 * input_at(v, RATE, t - h / 2);
        double rates = ends + input_at(v, RATE, t);
        change = reference - memory->reference - rates * h / 6;
    }

    double wanted;
    if (def->output == YK_CONTROL_OUTPUT_RATE) {
        /* The state of the filter is the integral of the smoothed derivative. */
        double grown = change;
        if (def->derivative_filter > 0) {
            double before = s->smoothed;
            filtered_derivative(s, def->derivative_filter, h, error - change, error);
            grown = s->smoothed - before;
        }

        double grows = h * (s->integral + 0.5 * part);
        wanted = s->command + def->proportional * integral + grows + def->derivative * grown;
    } else {
        /* Use the measured rate at the end of the step. Its mean would lag by half a step. */
        double rate = filtered_derivative(s, def->derivative_filter, h, error - change, error);
        if (has_rate && def->derivative_filter <= 0)
            rate = (reference - memory->reference) / h - input_at(v, RATE, t);

        double p_part = def->command_offset + def->proportional * error;
        wanted = p_part + s->integral + part + def->derivative * rate;
    }

    /* Anti-windup: do not integrate an error that drives a limited command further. */
    bool free = set_command(v->of, wanted, h);
    if (free || part * (wanted - s->command) <= 0)
        s->integral += part;

    s->error = error;
    memory->reference = reference;
}

/* Steps ---------------------------------------------------------------------------------------- */

/* Largest number of internal steps or samples in one step. */
static const double PARTS_MAX = 1e8;

static yk_status control_step(yk_subsystem *subsystem, double t, double h, const yk_input *inputs)
{
    control *self = (control *)subsystem;
    double period = self->period;

    self->failure[0] = '\0';
    double part = period > 0 ? period : self->longest;
    if (part > 0 && h / part > PARTS_MAX) {
        yk_format(self->failure, sizeof self->failure,
                  "a step of %g s has %.3g steps of the controller (%g s each), more than %g: make "
                  "it shorter",
                  h, h / part, part, PARTS_MAX);
        return YK_ERROR_ARGUMENT;
    }

    /* A sample at the end of the step belongs to this step, also if rounding moves its time. */
    double end = t + h + 1e-9 * h;
    double taken = *self->samples;

    for (int i = 0; i < self->count; i++) {
        view v = {&self->loops[i], &inputs[LOOP_PORTS * i], t};
        if (period <= 0) {
            int parts = 1;
            if (self->longest > 0)
                parts = (int)fmax(1, ceil(h / self->longest * (1 - 1e-9)));

            /* Integrate the error by Simpson's rule. */
            double width = h / parts;
            for (int k = 0; k < parts; k++) {
                double from = t + k * width;
                double to = from + width;
                double ends = error_at(&v, from) + 4 * error_at(&v, from + width / 2);
                advance_loop(&v, to, width, (ends + error_at(&v, to)) * width / 6);
            }
        } else {
            taken = *self->samples;
            double sample = self->start + (taken + 1) * period;
            while (sample <= end) {
                advance_loop(&v, sample, period, period * error_at(&v, sample));
                taken++;
                sample = self->start + (taken + 1) * period;
            }
        }

        if (!isfinite(v.of->now->command))
            return YK_ERROR_NOT_FINITE;
    }

    /* All loops have the same samples, so count them once. */
    *self->samples = taken;
    return YK_OK;
}

static yk_status control_initialize(yk_subsystem *subsystem, double t, double h,
                                    const yk_input *inputs)
{
    control *self = (control *)subsystem;
    (void)h;

    self->start = t;
    *self->samples = 0;

    for (int i = 0; i < self->count; i++) {
        loop *l = &self->loops[i];
        view v = {l, inputs ? &inputs[LOOP_PORTS * i] : NULL, t};
        double error = inputs ? error_at(&v, t) : 0;

        *l->now = (loop_state){.error = error, .smoothed = error};
        *l->memory = (loop_memory){.reference = reference_at(&v, t)};

        /* The command at the start: without integral, and with D only where no filter has to
         * fill. */
        const yk_control_loop_def *def = &l->def;
        double wanted = def->command_offset;
        if (def->output == YK_CONTROL_OUTPUT_VALUE) {
            wanted += def->proportional * error;
            if (def->derivative_filter <= 0)
                wanted -= def->derivative * input_at(&v, RATE, t);
        }

        l->now->command = fmax(def->min_command, fmin(def->max_command, wanted));
    }

    return YK_OK;
}

/* Operations ----------------------------------------------------------------------------------- */

static int get_ports(const yk_subsystem *subsystem, const yk_port **list)
{
    const control *self = (const control *)subsystem;
    *list = self->ports;
    return LOOP_PORTS * self->count;
}

static yk_status control_connect(yk_subsystem *subsystem, int port, yk_causality causality,
                                 unsigned constrained)
{
    control *self = (control *)subsystem;
    (void)constrained;
    if (port < 0 || port >= LOOP_PORTS * self->count ||
        !(self->ports[port].allowed_causalities & causality))
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "%s: port %d cannot be connected like this", self->name, port);
    self->loops[port / LOOP_PORTS].connected[port % LOOP_PORTS] = true;

    return YK_OK;
}

static void control_get_port_value(const yk_subsystem *subsystem, int port, yk_port_value *value)
{
    const control *self = (const control *)subsystem;
    const loop *l = &self->loops[port / LOOP_PORTS];
    switch (port % LOOP_PORTS) {
    case COMMAND: value->motion.position.x = l->now->command; return;
    case MEASURED: value->motion.position.x = l->memory->reference - l->now->error; return;
    case REFERENCE: value->motion.position.x = l->memory->reference; return;
    default: return;
    }
}

/* P and D respond without delay; with YK_CONTROL_OUTPUT_RATE only D does. */
static bool control_feeds_through(const yk_subsystem *subsystem, int input, int port, int channel,
                                  int component)
{
    (void)component;
    const control *self = (const control *)subsystem;
    const loop *l = &self->loops[input / LOOP_PORTS];
    int given = input % LOOP_PORTS;
    if (port < 0) {
        bool error = channel % LOOP_CHANNELS == ERROR_CHANNEL;
        return channel / LOOP_CHANNELS == input / LOOP_PORTS && error && given != RATE;
    }
    if (port / LOOP_PORTS != input / LOOP_PORTS || port % LOOP_PORTS != COMMAND)
        return false;

    bool has_rate = l->connected[RATE];
    bool proportional = l->def.output == YK_CONTROL_OUTPUT_VALUE && l->def.proportional != 0;
    bool derivative = l->def.derivative != 0;
    switch (given) {
    case MEASURED: return proportional || (derivative && !has_rate);
    case RATE:
        return derivative && l->def.output == YK_CONTROL_OUTPUT_VALUE &&
               l->def.derivative_filter <= 0;
    default: return proportional || derivative;
    }
}

static const char *control_message(const yk_subsystem *subsystem)
{
    const control *self = (const control *)subsystem;
    if (self->failure[0])
        return self->failure;
    return "a command is not finite; check the gains and the measured signals";
}

static size_t image_words(const control *self)
{
    return (size_t)self->count * (STATE_WORDS + MEMORY_WORDS) + 1;
}

static yk_state_layout control_state_layout(const yk_subsystem *subsystem)
{
    const control *self = (const control *)subsystem;
    return (yk_state_layout){.word_count = image_words(self),
                             .continuous_count = (size_t)self->count * STATE_WORDS};
}

static void control_get_state(const yk_subsystem *subsystem, double *image)
{
    const control *self = (const control *)subsystem;
    memcpy(image, self->image, image_words(self) * sizeof *image);
}

static yk_status control_set_state(yk_subsystem *subsystem, const double *image)
{
    control *self = (control *)subsystem;
    if (!yk_is_restored_word(image[image_words(self) - 1], YK_RESTORED_MOST))
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "the state does not belong to this controller");

    memcpy(self->image, image, image_words(self) * sizeof *image);
    return YK_OK;
}

static int get_channels(const yk_subsystem *subsystem, const yk_channel **list)
{
    const control *self = (const control *)subsystem;
    *list = self->channels;
    return LOOP_CHANNELS * self->count;
}

static void channel_read(const yk_subsystem *subsystem, int channel, double *values)
{
    const control *self = (const control *)subsystem;
    const loop *l = &self->loops[channel / LOOP_CHANNELS];
    switch (channel % LOOP_CHANNELS) {
    case ERROR_CHANNEL: *values = l->now->error; return;
    case INTEGRAL_CHANNEL: *values = l->now->integral; return;
    default: *values = l->memory->limited; return;
    }
}

/* Events are those of the references, and the samples. */
static double control_next_event(const yk_subsystem *subsystem, double t)
{
    const control *self = (const control *)subsystem;
    double next = INFINITY;

    /* The source of a wire announces the events of its signal. */
    for (int i = 0; i < self->count; i++) {
        const loop *l = &self->loops[i];
        if (!l->connected[REFERENCE])
            next = fmin(next, yk_function_next_event(l->def.reference, t));
    }

    if (self->period <= 0)
        return next;

    double count = floor((t - self->start) / self->period) + 1;
    double sample = self->start + count * self->period;

    /* Rounding may return the present sample again. */
    if (!(sample > t))
        sample += self->period;

    return fmin(next, sample);
}

static void control_destroy(yk_subsystem *subsystem)
{
    control *self = (control *)subsystem;
    if (!self)
        return;

    yk_context *context = self->context;

    /* The controller may be incomplete after a failed creation. */
    for (int i = 0; self->loops && i < self->count; i++) {
        yk_free(context, self->loops[i].name);
        for (int k = 0; k < LOOP_PORTS; k++)
            yk_free(context, self->loops[i].port_names[k]);
        for (int k = 0; k < LOOP_CHANNELS; k++)
            yk_free(context, self->loops[i].channel_names[k]);
        for (int k = 0; k < LOOP_PARAMETERS; k++)
            yk_free(context, self->loops[i].parameter_names[k]);
    }

    yk_free(context, self->loops);
    yk_free(context, self->ports);
    yk_free(context, self->image);
    yk_free(context, self->channels);
    yk_free(context, self->parameters);
    yk_free(context, self->name);
    yk_free(context, self);
}

/* Creation ------------------------------------------------------------------------------------- */

yk_control_loop_def yk_control_loop_default(void)
{
    yk_control_loop_def def = {
        .min_command = -INFINITY, .max_command = INFINITY, .max_command_rate = INFINITY};
    yk_option_set_defaults(yk_control_loop_options.options, &def);
    return def;
}

yk_control_def yk_control_default(void)
{
    yk_control_def def = {.name = "control"};
    yk_option_set_defaults(yk_control_options.options, &def);
    return def;
}

static yk_status check_loop(yk_context *context, const yk_control_loop_def *def)
{
    const char *name = def->name;
    if (!name || !name[0])
        return yk_fail(context, YK_ERROR_ARGUMENT, "a loop has no name: give it one");

    if ((unsigned)def->output > YK_CONTROL_OUTPUT_RATE)
        return yk_fail(context, YK_ERROR_ARGUMENT, "loop '%s': output %d is unknown", name,
                       (int)def->output);

    if (!isfinite(def->proportional + def->integral + def->derivative + def->command_offset))
        return yk_fail(context, YK_ERROR_ARGUMENT, "loop '%s': gains and offset must be finite",
                       name);

    if (!(def->min_command < def->max_command))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "loop '%s': the limits of its command (%g, %g) leave it no range", name,
                       def->min_command, def->max_command);
    if (!(def->command_offset >= def->min_command && def->command_offset <= def->max_command))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "loop '%s': the offset %g is outside the limits %g to %g", name,
                       def->command_offset, def->min_command, def->max_command);

    if (!(def->max_command_rate > 0) || !(def->derivative_filter >= 0))
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "loop '%s': the rate limit (%g 1/s) must be positive, the filter (%g s) not negative",
            name, def->max_command_rate, def->derivative_filter);

    return YK_OK;
}

struct yk_control_builder {
    yk_building building;
    yk_control_def def;
    yk_control_loop_def *loops;
    int loop_count;
};

yk_control_builder *yk_control_begin(yk_context *context, const yk_control_def *def)
{
    yk_control_builder *builder = yk_allocate(context, 1, sizeof *builder);
    if (!builder)
        return NULL;

    builder->building.context = context;
    builder->def = def ? *def : yk_control_default();
    def = &builder->def;
    yk_status status = YK_OK;
    if (!def->name || !def->name[0]) {
        status = yk_fail(context, YK_ERROR_ARGUMENT, "a controller needs a name");
    } else if (!(def->sample_period >= 0) || !(def->max_step >= 0)) {
        status = yk_fail(context, YK_ERROR_ARGUMENT,
                         "period (%g s) and step (%g s) must not be negative", def->sample_period,
                         def->max_step);
    }

    if (status != YK_OK)
        yk_building_refuse(&builder->building, status);

    return builder;
}

yk_port_id yk_control_add_loop(yk_control_builder *builder, const yk_control_loop_def *def)
{
    if (!builder || !yk_building_has_def(&builder->building, __func__, def))
        return YK_NULL_PORT;

    yk_status status = check_loop(builder->building.context, def);
    if (status != YK_OK) {
        yk_building_refuse(&builder->building, status);
        return YK_NULL_PORT;
    }

    int index = yk_building_append(&builder->building, &builder->loops, &builder->loop_count, def,
                                   sizeof *def);
    return index == YK_NO_ID ? YK_NULL_PORT : (yk_port_id){LOOP_PORTS * index};
}

void yk_control_discard(yk_control_builder *builder)
{
    if (!builder)
        return;

    yk_free(builder->building.context, builder->loops);
    yk_free(builder->building.context, builder);
}

static yk_status fill_control(control *self, const yk_control_builder *builder)
{
    static const char *const endings[LOOP_PORTS] = {"", ".measured", ".rate", ".reference"};
    yk_context *context = self->context;
    const yk_control_def *def = &builder->def;
    size_t count = (size_t)builder->loop_count;
    self->count = builder->loop_count;

    self->period = def->sample_period;
    self->longest = def->max_step;
    self->name = yk_text_copy(context, def->name);
    self->loops = yk_allocate(context, count, sizeof *self->loops);
    self->ports = yk_allocate(context, LOOP_PORTS * count, sizeof *self->ports);
    self->channels = yk_allocate(context, LOOP_CHANNELS * count, sizeof *self->channels);
    self->parameters = yk_allocate(context, LOOP_PARAMETERS * count, sizeof *self->parameters);
    self->image = yk_allocate(context, image_words(self), sizeof *self->image);
    if (!self->name || !self->loops || !self->ports || !self->channels || !self->parameters ||
        !self->image)
        return YK_ERROR_MEMORY;

    /* The state image has the states of all loops, then their memories, then the number of samples. */
    loop_state *states = (loop_state *)self->image;
    loop_memory *memory = (loop_memory *)(self->image + count * STATE_WORDS);
    self->samples = self->image + count * (STATE_WORDS + MEMORY_WORDS);

    for (size_t i = 0; i < count; i++) {
        loop *l = &self->loops[i];
        *l = (loop){.def = builder->loops[i], .now = &states[i], .memory = &memory[i]};
        l->name = yk_text_copy(context, l->def.name);
        if (!l->name)
            return YK_ERROR_MEMORY;

        for (int k = 0; k < LOOP_PORTS; k++) {
            l->port_names[k] = yk_text_join(context, l->name, endings[k]);
            if (!l->port_names[k])
                return YK_ERROR_MEMORY;

            /* Without a wire, the function is the reference and the rate comes from differences. */
            unsigned causality =
                k == COMMAND ? YK_CAUSALITY_SIGNAL_OUTPUT : YK_CAUSALITY_SIGNAL_INPUT;
            if (k == RATE || k == REFERENCE)
                causality |= YK_OPTIONAL_SIGNAL;
            self->ports[LOOP_PORTS * (int)i + k] =
                (yk_port){l->port_names[k], YK_PORT_SIGNAL, causality};
        }

        for (int k = 0; k < LOOP_CHANNELS; k++) {
            yk_channel *channel = &self->channels[LOOP_CHANNELS * (int)i + k];
            *channel = loop_channels[k];
            l->channel_names[k] = yk_text_join(context, l->name, channel->name);
            channel->name = l->channel_names[k];
            if (!channel->name)
                return YK_ERROR_MEMORY;
        }

        for (int k = 0; k < LOOP_PARAMETERS; k++) {
            yk_parameter *parameter = &self->parameters[LOOP_PARAMETERS * (int)i + k];
            *parameter = loop_parameters[k].of;
            l->parameter_names[k] = yk_text_join(context, l->name, parameter->name);
            parameter->name = l->parameter_names[k];
            if (!parameter->name)
                return YK_ERROR_MEMORY;
        }
    }

    return YK_OK;
}

static yk_status create_control(yk_control_builder *builder, yk_subsystem **subsystem)
{
    yk_context *context = builder->building.context;
    if (builder->building.status == YK_OK && builder->loop_count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a controller needs at least one loop");

    /* Ports are named after loops, so the names must differ. */
    if (builder->loop_count > 0)
        yk_building_unique(&builder->building, "loops", &builder->loops->name, builder->loop_count,
                           sizeof *builder->loops);
    yk_status status = yk_building_finish(&builder->building);
    if (status != YK_OK)
        return status;

    control *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->subsystem.ops = &control_ops;
    self->context = context;

    status = fill_control(self, builder);
    if (status != YK_OK) {
        control_destroy(&self->subsystem);
        return status;
    }

    *subsystem = &self->subsystem;
    return YK_OK;
}

yk_status yk_control_create(yk_control_builder *builder, yk_subsystem **subsystem)
{
    if (subsystem)
        *subsystem = NULL;
    if (!builder)
        return YK_ERROR_MEMORY;

    yk_status status;
    if (subsystem)
        status = create_control(builder, subsystem);
    else
        status = yk_refuse_null(builder->building.context, __func__, "subsystem");
    yk_control_discard(builder);
    return status;
}

static int get_parameters(const yk_subsystem *subsystem, const yk_parameter **list)
{
    const control *self = (const control *)subsystem;
    *list = self->parameters;
    return LOOP_PARAMETERS * self->count;
}

static double *parameter_at(const control *self, int parameter)
{
    yk_control_loop_def *def = &self->loops[parameter / LOOP_PARAMETERS].def;
    return (double *)(void *)((char *)def + loop_parameters[parameter % LOOP_PARAMETERS].offset);
}

static double get_parameter(const yk_subsystem *subsystem, int parameter)
{
    return *parameter_at((const control *)subsystem, parameter);
}

static yk_status set_parameter(yk_subsystem *subsystem, int parameter, double value)
{
    control *self = (control *)subsystem;
    double *at = parameter_at(self, parameter);
    double before = *at;
    *at = value;

    const yk_control_loop_def *def = &self->loops[parameter / LOOP_PARAMETERS].def;
    if (def->min_command <= def->max_command)
        return YK_OK;
    *at = before;
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "%s: '%s' of %g leaves no range between the limits of the command", self->name,
                   self->parameters[parameter].name, value);
}

static const yk_parameter_ops control_parameter_ops = {.size = sizeof(yk_parameter_ops),
                                                       .list = get_parameters,
                                                       .get = get_parameter,
                                                       .set = set_parameter};
static const yk_rollback_ops control_rollback_ops = {.size = sizeof(yk_rollback_ops),
                                                     .layout = control_state_layout,
                                                     .get = control_get_state,
                                                     .set = control_set_state};
static const yk_event_ops control_events_ops = {.size = sizeof(yk_event_ops),
                                                .next_time = control_next_event};
static const yk_channel_ops control_channels_ops = {
    .size = sizeof(yk_channel_ops), .list = get_channels, .read = channel_read};
static const yk_subsystem_ops control_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "control",
    .ports = get_ports,
    .connect = control_connect,
    .initialize = control_initialize,
    .step = control_step,
    .get_port_value = control_get_port_value,
    .destroy = control_destroy,
    .last_message = control_message,
    .feeds_through = control_feeds_through,
    .rollback = &control_rollback_ops,
    .channels = &control_channels_ops,
    .events = &control_events_ops,
    .parameters = &control_parameter_ops,
};
