/* One instance of an exported model: inputs within a step, steps and their derivatives, and the
 * state as bytes. */
#include "interop/fmi/export.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "math/polynomial.h"
#include "math/so3.h"
#include "model/scenario.h"

enum { PATH_BYTES = 4096, MESSAGE = 600, SAMPLES = 4 };

enum { VALUE_DOUBLES = sizeof(yk_port_value) / sizeof(double) };

struct yk_exported {
    yk_context *context;
    yk_log_function log;
    void *log_user;
    char scenario[PATH_BYTES];
    char token[256];
    char subsystem[256];
    bool wrenches;
    yk_export_start *starts; /* of inputs, from the notes */
    int start_count;
    double *channel; /* values of one channel of a subsystem */
    yk_export_model model;
    yk_system *system; /* of a whole system */
    char message[MESSAGE];

    yk_exported_mode mode;
    double time;
    double stop;        /* end of the run, s; infinite: unknown */
    bool started;       /* the model has been initialized with the present inputs */
    double *parameters; /* as they were set */
    /* since the instance was created or reset; others follow the scenario */
    bool *parameter_set;
    bool parameters_pending; /* since the model was opened */
    double *sample;          /* of a whole system */

    /* For each port: the present input, its rates, and the motion at the end of the last step. */
    yk_port_value *given, *rates, *before;
    bool inputs_set; /* some were set since the instance was created or reset */
    bool has_rates;
    yk_input *inputs;
    yk_port_value *asked; /* of each port, at the times within a step */

    /* If the steps of the model can be differentiated: the last step, its state image at both ends,
     * and the derivatives by coefficients of its inputs as sensitivities have them. */
    double step_begin, step_size; /* s; size 0: none was made since the start or a rollback */
    size_t image_words;
    double *image[2];
    double *matrix;
    int matrix_degree; /* of the coefficients in the matrix; -1: unknown */
    int asked_degree;  /* the highest requested degree */
};

yk_fmi_status yk_exported_answer(yk_status status)
{
    if (YK_FAILED(status))
        return YK_FMI_ERROR;
    return YK_FMI_OK;
}

static yk_status fail(yk_exported *self, yk_status status, const char *text)
{
    if (text != self->message)
        snprintf(self->message, sizeof self->message, "%s", text);

    self->log(self->log_user, YK_LOG_ERROR, self->message);
    return status;
}

/* Reason of the failure of the subsystem's last call, in its own words if available. */
static yk_status fail_subsystem(yk_exported *self, yk_status status)
{
    const yk_subsystem *object = self->model.object;
    const char *text = yk_status_text(status);
    if (object->ops->last_message)
        text = object->ops->last_message(object);
    return fail(self, status, text);
}

static double *value_at(yk_port_value *value, int offset)
{
    return (double *)value + offset;
}

/* Position, velocity and acceleration for each freedom of a port that takes a wrench. */
static int port_rows(const yk_export_model *m, int port)
{
    if (m->causalities[port] != YK_CAUSALITY_WRENCH_INPUT)
        return 0;
    return m->ports[port].kind == YK_PORT_MARKER ? 18 : 3;
}

/* Loading -------------------------------------------------------------------------------------- */

static void close_model(yk_exported *self)
{
    yk_free(self->context, self->given);
    yk_free(self->context, self->rates);
    yk_free(self->context, self->before);
    yk_free(self->context, self->inputs);
    yk_free(self->context, self->asked);
    yk_free(self->context, self->sample);
    yk_free(self->context, self->channel);
    yk_free(self->context, self->image[0]);
    yk_free(self->context, self->image[1]);
    yk_free(self->context, self->matrix);

    /* It may be opened again, or destroyed without opening it. */
    self->given = NULL;
    self->rates = NULL;
    self->before = NULL;
    self->inputs = NULL;
    self->asked = NULL;
    self->sample = NULL;
    self->channel = NULL;
    self->image[0] = NULL;
    self->image[1] = NULL;
    self->image_words = 0;
    self->matrix = NULL;

    yk_export_close(&self->model);
    self->system = NULL;
}

/* The model with the parameters that have been set. */
static yk_status open_model(yk_exported *self)
{
    /* Parameters that were set are overrides of the scenario; they are those of the old model. */
    enum { TEXT = 160 };
    char(*texts)[TEXT] = NULL;
    const char *overrides[YK_PARAMETERS_MAX];
    int count = 0;

    if (self->parameters_pending) {
        texts = yk_allocate(self->context, YK_PARAMETERS_MAX, sizeof *texts);
        if (!texts)
            return fail(self, YK_ERROR_MEMORY, "out of memory");

        for (int i = 0; i < self->model.variable_count && count < YK_PARAMETERS_MAX; i++) {
            const yk_export_variable *v = &self->model.variables[i];
            if (v->role != YK_EXPORT_PARAMETER || !self->parameter_set[v->offset])
                continue;

            yk_format(texts[count], TEXT, "%.120s=%.17g", v->name, self->parameters[v->offset]);
            overrides[count] = texts[count];
            count++;
        }
    }

    /* The old model has named its parameters, and is no longer needed. */
    close_model(self);

    /* Load the scenario again, because everything may depend on every parameter. */
    yk_export_def def = {
        .scenario = self->scenario,
        .wrenches = self->wrenches,
        .overrides = overrides,
        .override_count = count,
        .starts = self->starts,
        .start_count = self->start_count,
    };

    if (self->subsystem[0])
        def.subsystem = self->subsystem;

    yk_status status = yk_export_open(self->context, &def, &self->model);
    yk_free(self->context, texts);
    if (status != YK_OK)
        return fail(self, status, yk_last_message(self->context));

    /* Inputs from the importer, and outputs. */
    const yk_export_model *m = &self->model;
    size_t ports = (size_t)m->port_count + 1;
    self->given = yk_allocate(self->context, ports, sizeof *self->given);
    self->rates = yk_allocate(self->context, ports, sizeof *self->rates);
    self->before = yk_allocate(self->context, ports, sizeof *self->before);
    self->inputs = yk_allocate(self->context, ports, sizeof *self->inputs);
    self->asked = yk_allocate(self->context, SAMPLES * ports, sizeof *self->asked);

    size_t words = (size_t)m->info->values_per_sample + 1;
    self->sample = yk_allocate(self->context, words, sizeof *self->sample);

    size_t widest = 1;
    for (int i = 0; i < m->channel_count; i++)
        if ((size_t)m->channels[i].component_count > widest)
            widest = (size_t)m->channels[i].component_count;
    self->channel = yk_allocate(self->context, widest, sizeof *self->channel);

    if (!self->given || !self->rates || !self->before || !self->inputs || !self->asked ||
        !self->sample || !self->channel)
        return fail(self, YK_ERROR_MEMORY, "out of memory");

    if (m->differentiable) {
        size_t rows = 0;
        for (int i = 0; i < m->port_count; i++)
            rows += (size_t)port_rows(m, i);

        /* A column for each coefficient of each freedom, of which there are three rows. */
        size_t columns = rows / 3 * YK_INPUT_COEFFICIENT_COUNT;
        self->matrix = yk_allocate(self->context, rows * columns + 1, sizeof *self->matrix);
        if (!self->matrix)
            return fail(self, YK_ERROR_MEMORY, "out of memory");
    }

    /* Inputs that are not set have the start value of the description. */
    for (int i = 0; i < m->variable_count; i++) {
        const yk_export_variable *v = &m->variables[i];

        if (v->role == YK_EXPORT_INPUT)
            *value_at(&self->given[v->port], v->offset) = v->start;
        if (v->role == YK_EXPORT_PARAMETER && !self->parameter_set[v->offset])
            self->parameters[v->offset] = v->start;
    }

    self->parameters_pending = false;
    self->started = false;
    self->step_size = 0;

    /* Opening a whole system initializes it; a subsystem is initialized with the inputs that will
     * be set. */
    if (m->subsystem < 0) {
        status = yk_scenario_system(m->scenario, &self->system);
        self->started = true;
        yk_scenario_read_sample(m->scenario, self->sample);
    }

    return status;
}

yk_exported *yk_exported_create(const char *resources, const char *token, yk_log_function log,
                                void *user)
{
    yk_exported *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;

    self->log = log;
    self->log_user = user;

    /* The messages of the library go to the importer. */
    yk_context_def def = yk_context_default();
    def.log = log;
    def.log_user = user;
    def.log_level = YK_LOG_WARNING;
    def.thread_count = 1; /* the importer decides about threads */
    self->context = yk_context_create(&def);

    /* The notes of the export: token, subsystem, whether ports take wrenches, signals. */
    char path[PATH_BYTES];
    char lines[3][256] = {"", "", ""};
    snprintf(path, sizeof path, "%.3900s/%s", resources ? resources : "", YK_EXPORT_NOTES);

    FILE *notes = fopen(path, "r");
    for (int i = 0; notes && i < 3; i++) {
        if (!fgets(lines[i], sizeof lines[i], notes))
            break;

        lines[i][strcspn(lines[i], "\n")] = '\0';
    }

    char line[256];
    while (notes && self->context && fgets(line, sizeof line, notes)) {
        yk_export_start start;
        char *end;
        start.port = (int)strtol(line, &end, 10);
        start.offset = (int)strtol(end, &end, 10);
        uint64_t bits = strtoull(end, NULL, 16);
        memcpy(&start.value, &bits, sizeof bits);
        size_t count = (size_t)self->start_count + 1;
        yk_export_start *grown = yk_reallocate(self->context, self->starts, count, sizeof *grown);
        if (!grown)
            break;
        self->starts = grown;
        self->starts[self->start_count++] = start;
    }

    if (notes)
        fclose(notes);

    /* A description of another export does not fit the model. */
    char problem[600] = "";

    if (!self->context)
        snprintf(problem, sizeof problem, "out of memory");
    else if (!notes)
        snprintf(problem, sizeof problem, "the FMU's resources are not at %.400s", path);
    else if (!token || strcmp(token, lines[0]) != 0)
        snprintf(problem, sizeof problem,
                 "the description has the token %.60s, the model in the FMU %.60s",
                 token ? token : "none", lines[0]);

    if (problem[0]) {
        log(user, YK_LOG_ERROR, problem);
        yk_exported_destroy(self);
        return NULL;
    }

    snprintf(self->token, sizeof self->token, "%s", lines[0]);
    snprintf(self->subsystem, sizeof self->subsystem, "%s", lines[1]);
    self->wrenches = lines[2][0] == '1';
    snprintf(self->scenario, sizeof self->scenario, "%.3900s/%s", resources, YK_EXPORT_SCENARIO);

    /* Values as set; the model is opened again if its start depends on them. */
    self->parameters = yk_allocate(self->context, YK_PARAMETERS_MAX, sizeof *self->parameters);
    self->parameter_set =
        yk_allocate(self->context, YK_PARAMETERS_MAX, sizeof *self->parameter_set);
    if (!self->parameters || !self->parameter_set || yk_exported_reset(self) != YK_OK) {
        yk_exported_destroy(self);
        return NULL;
    }
    return self;
}

void yk_exported_destroy(yk_exported *self)
{
    if (!self)
        return;

    if (self->context) {
        close_model(self);
        yk_free(self->context, self->parameters);
        yk_free(self->context, self->parameter_set);
        yk_free(self->context, self->starts);
        yk_context_destroy(self->context);
    }

    free(self);
}

/* Start ---------------------------------------------------------------------------------------- */

/* The input of a port at one time, as a constant; a motion with its rates. */
static void constant_input(const yk_exported *self, int port, yk_input *input)
{
    const yk_port_value *given = &self->given[port];
    const yk_motion *motion = &given->motion;
    yk_causality takes = self->model.causalities[port];
    *input = (yk_input){.base_orientation = yk_q_identity()};

    /* A motion has its rates, for a consistent start. */
    if (takes == YK_CAUSALITY_WRENCH_INPUT) {
        input->linear[0] = given->wrench.force;
        input->angular[0] = given->wrench.torque;
    } else if (takes == YK_CAUSALITY_SIGNAL_INPUT) {
        input->linear[0].x = motion->position.x;
    } else if (takes == YK_CAUSALITY_MOTION_INPUT) {
        input->degree = 2;
        input->linear[0] = motion->position;
        input->linear[1] = motion->velocity;
        input->linear[2] = yk_v3_scale(0.5, motion->acceleration);
        input->angular[1] = motion->angular_velocity;
        input->angular[2] = yk_v3_scale(0.5, motion->angular_acceleration);

        if (self->model.ports[port].kind == YK_PORT_MARKER)
            input->base_orientation = yk_q_unit(motion->orientation);
    }
}

/* Initializes a subsystem with its present inputs, unless that has been done. */
static yk_status start_model(yk_exported *self)
{
    if (self->started)
        return YK_OK;

    const yk_export_model *m = &self->model;
    yk_status status = YK_OK;

    /* A whole system is initialized with its scenario. */
    if (m->subsystem >= 0) {
        for (int i = 0; i < m->port_count; i++)
            constant_input(self, i, &self->inputs[i]);

        status = m->object->ops->initialize(m->object, self->time, m->info->step, self->inputs);
        if (YK_FAILED(status))
            return fail_subsystem(self, status);

        /* Motions at the start of the first step. */
        memcpy(self->before, self->given, (size_t)m->port_count * sizeof *self->before);
    }

    /* The size of an image is known now. */
    self->step_size = 0;
    if (m->differentiable) {
        size_t words = m->object->ops->rollback->layout(m->object).word_count;
        for (int i = 0; i < 2 && words > self->image_words; i++) {
            yk_free(self->context, self->image[i]);
            self->image[i] = yk_allocate(self->context, words, sizeof **self->image);
            if (!self->image[i])
                return fail(self, YK_ERROR_MEMORY, "out of memory");
        }
        self->image_words = words;
    }

    self->started = true;
    return YK_OK;
}

/* The output of a port. A solver that reaches a prescribed motion with an error, such as one of first
 * order, returns its reaction about the marker where it is. The importer knows only where the marker
 * should be, so the reaction is moved there. */
static yk_port_value port_output(const yk_exported *self, int port)
{
    const yk_export_model *m = &self->model;
    yk_port_value output = {.motion.orientation.w = 1};
    m->object->ops->get_port_value(m->object, port, &output);
    if (m->causalities[port] != YK_CAUSALITY_MOTION_INPUT || m->ports[port].kind != YK_PORT_MARKER)
        return output;

    yk_vec3 given = self->before[port].motion.position;
    yk_vec3 arm = yk_v3_sub(output.motion.position, given);
    output.wrench.torque = yk_v3_add(output.wrench.torque, yk_v3_cross(arm, output.wrench.force));
    return output;
}

/* Opens the model again if parameters were set, because the whole scenario may depend on them.
 * Inputs keep their values. */
static yk_status apply_parameters(yk_exported *self)
{
    if (!self->parameters_pending)
        return YK_OK;

    const yk_export_model *m = &self->model;
    int ports = m->port_count;
    size_t bytes = ((size_t)ports + 1) * sizeof *self->given;
    yk_port_value *given = yk_allocate(self->context, (size_t)ports + 1, sizeof *given);
    if (!given)
        return fail(self, YK_ERROR_MEMORY, "out of memory");

    memcpy(given, self->given, bytes);
    bool set = self->inputs_set;
    yk_status status = open_model(self);
    if (status == YK_OK && m->port_count != ports)
        status = fail(self, YK_ERROR_ARGUMENT,
                      "the parameters change the ports of the model, which an FMU cannot do");
    if (status == YK_OK && set)
        memcpy(self->given, given, bytes);
    yk_free(self->context, given);
    return status;
}

static const char *mode_name(yk_exported_mode mode)
{
    switch (mode) {
    case YK_MODE_INSTANTIATED: return "before initialisation";
    case YK_MODE_INITIALISATION: return "in initialization mode";
    case YK_MODE_STEP: return "between steps";
    case YK_MODE_INTERMEDIATE: return "within a step";
    case YK_MODE_FAILED: return "after a step that failed";
    case YK_MODE_TERMINATED: return "after termination";
    default: return "in an unknown mode";
    }
}

bool yk_exported_allows(yk_exported *self, const char *function, unsigned modes)
{
    if (self->mode & modes)
        return true;

    snprintf(self->message, sizeof self->message, "%s is not allowed %s", function,
             mode_name(self->mode));
    fail(self, YK_ERROR_ARGUMENT, self->message);
    return false;
}

yk_status yk_exported_set_up(yk_exported *self, double start, double stop)
{
    if (!isfinite(start) || !(stop > start)) {
        yk_format(self->message, sizeof self->message,
                  "the run cannot start at %g s and stop at %g s", start, stop);
        return fail(self, YK_ERROR_ARGUMENT, self->message);
    }

    /* The prescribed motions of a whole system depend on its time; a subsystem may begin at any
     * time. */
    const yk_export_model *m = &self->model;
    if (m->subsystem < 0 && fabs(start - m->info->start) > 1e-9 * m->info->step) {
        yk_format(self->message, sizeof self->message, "the model starts at t = %g s, not at %g s",
                  m->info->start, start);
        return fail(self, YK_ERROR_ARGUMENT, self->message);
    }

    self->time = start;
    self->stop = stop;
    return YK_OK;
}

yk_status yk_exported_begin(yk_exported *self)
{
    yk_status status = apply_parameters(self);
    if (status != YK_OK)
        return status;

    /* Until the initialization ends, every input that is set requires another initialization. */
    self->started = self->model.subsystem < 0;
    self->mode = YK_MODE_INITIALISATION;
    return YK_OK;
}

yk_status yk_exported_initialise(yk_exported *self)
{
    yk_status status = apply_parameters(self);
    if (status == YK_OK)
        status = start_model(self);
    if (status == YK_OK)
        self->mode = YK_MODE_STEP;
    return status;
}

void yk_exported_terminate(yk_exported *self)
{
    self->mode = YK_MODE_TERMINATED;
}

yk_status yk_exported_reset(yk_exported *self)
{
    /* Reset (FMI 2, FMI 3): parameters and all else return to their start values. */
    memset(self->parameter_set, 0, YK_PARAMETERS_MAX * sizeof *self->parameter_set);
    self->parameters_pending = false;
    self->inputs_set = false;
    self->stop = INFINITY;
    self->mode = YK_MODE_INSTANTIATED;
    yk_status status = open_model(self);
    if (status == YK_OK)
        self->time = self->model.info->start;
    return status;
}

/* Values --------------------------------------------------------------------------------------- */

static const yk_export_variable *find_variable(yk_exported *self, uint32_t reference)
{
    if (reference < (uint32_t)self->model.variable_count)
        return &self->model.variables[reference];

    snprintf(self->message, sizeof self->message, "there is no variable with the reference %u",
             reference);
    fail(self, YK_ERROR_ARGUMENT, self->message);
    return NULL;
}

yk_status yk_exported_get(yk_exported *self, const uint32_t *references, size_t count,
                          double *values)
{
    if (count > 0 && (!references || !values))
        return fail(self, YK_ERROR_ARGUMENT, "references or values are missing");

    /* Outputs follow parameters that were set before or in initialization mode. */
    yk_status applied = apply_parameters(self);
    if (applied != YK_OK)
        return applied;

    const yk_export_model *m = &self->model;
    int known = -1;
    int known_channel = -1;
    yk_port_value output = {.motion.orientation.w = 1};
    for (size_t i = 0; i < count; i++) {
        const yk_export_variable *v = find_variable(self, references[i]);
        if (!v)
            return YK_ERROR_ARGUMENT;

        if (v->role == YK_EXPORT_TIME) {
            values[i] = self->time;
        } else if (v->role == YK_EXPORT_PARAMETER) {
            values[i] = self->parameters[v->offset];
        } else if (v->role == YK_EXPORT_INPUT) {
            values[i] = *value_at(&self->given[v->port], v->offset);
        } else if (v->port < 0 && v->channel < 0) {
            values[i] = self->sample[v->offset];
        } else if (v->port < 0) {
            /* Components of one channel, which usually come together, are read once. */
            yk_status status = start_model(self);
            if (status != YK_OK)
                return status;

            if (v->channel != known_channel)
                m->object->ops->channels->read(m->object, v->channel, self->channel);
            known_channel = v->channel;
            values[i] = self->channel[v->offset];
        } else {
            /* Read the output of a port once for all of its components. */
            yk_status status = start_model(self);

            if (status != YK_OK)
                return status;

            if (v->port != known) {
                output = port_output(self, v->port);
                known = v->port;
            }

            values[i] = *value_at(&output, v->offset);
        }
    }

    return YK_OK;
}

yk_status yk_exported_set(yk_exported *self, const uint32_t *references, size_t count,
                          const double *values)
{
    if (count > 0 && (!references || !values))
        return fail(self, YK_ERROR_ARGUMENT, "references or values are missing");

    for (size_t i = 0; i < count; i++) {
        const yk_export_variable *v = find_variable(self, references[i]);
        if (!v)
            return YK_ERROR_ARGUMENT;

        if (!isfinite(values[i])) {
            yk_format(self->message, sizeof self->message, "'%.200s' cannot be set to %g", v->name,
                      values[i]);
            return fail(self, YK_ERROR_ARGUMENT, self->message);
        }

        /* Parameters take effect when the model is opened again; they cannot be changed afterwards. */
        bool early = self->mode & (YK_MODE_INSTANTIATED | YK_MODE_INITIALISATION);
        if (v->role == YK_EXPORT_PARAMETER && !early) {
            snprintf(self->message, sizeof self->message,
                     "the parameter '%.200s' is fixed after initialisation", v->name);
            return fail(self, YK_ERROR_ARGUMENT, self->message);
        }

        if (v->role == YK_EXPORT_PARAMETER) {
            bool changed = self->parameters[v->offset] != values[i];
            self->parameter_set[v->offset] |= changed;
            self->parameters_pending |= changed;
            self->parameters[v->offset] = values[i];
        } else if (v->role == YK_EXPORT_INPUT) {
            *value_at(&self->given[v->port], v->offset) = values[i];
            *value_at(&self->rates[v->port], v->offset) = 0;
            self->inputs_set = true;

            /* The next requested output requires an initialization. */
            if (early)
                self->started = false;
        } else {
            snprintf(self->message, sizeof self->message, "'%.200s' cannot be set", v->name);
            return fail(self, YK_ERROR_ARGUMENT, self->message);
        }
    }
    return YK_OK;
}

yk_status yk_exported_set_rates(yk_exported *self, const uint32_t *references, size_t count,
                                const double *rates)
{
    for (size_t i = 0; i < count; i++) {
        const yk_export_variable *v = find_variable(self, references[i]);
        if (!v)
            return YK_ERROR_ARGUMENT;
        if (v->role != YK_EXPORT_INPUT || !isfinite(rates[i])) {
            yk_format(
                self->message, sizeof self->message,
                "'%.200s' cannot have the derivative %g: it is no input, or the number is not "
                "finite",
                v->name, rates[i]);
            return fail(self, YK_ERROR_ARGUMENT, self->message);
        }

        *value_at(&self->rates[v->port], v->offset) = rates[i];
    }

    self->has_rates = true;
    return YK_OK;
}

/* Steps ---------------------------------------------------------------------------------------- */

/* Coefficients that are zero at the top are left out. */
static void trim(yk_input *input)
{
    while (input->degree > 0) {
        yk_vec3 l = input->linear[input->degree];
        yk_vec3 a = input->angular[input->degree];
        if (l.x != 0 || l.y != 0 || l.z != 0 || a.x != 0 || a.y != 0 || a.z != 0)
            return;

        input->degree--;
    }
}

/* The cubic through vectors at four equal times of the step. */
static void interpolate(double h, const yk_vec3 points[SAMPLES], yk_vec3 *coefficients)
{
    double times[SAMPLES];
    double values[3][SAMPLES];
    double c[3][SAMPLES];

    for (int i = 0; i < SAMPLES; i++) {
        times[i] = h * i / (SAMPLES - 1);
        values[0][i] = points[i].x;
        values[1][i] = points[i].y;
        values[2][i] = points[i].z;
    }

    /* Component by component, as polynomials of the time since the step's beginning. */
    for (int k = 0; k < 3; k++)
        yk_poly_interpolate(times, values[k], SAMPLES - 1, c[k]);
    for (int i = 0; i < SAMPLES; i++)
        coefficients[i] = yk_v3(c[0][i], c[1][i], c[2][i]);
}

/* The rotation vector from one orientation, a unit quaternion, to another. */
static yk_vec3 rotation_between(yk_quat from, yk_quat to)
{
    return yk_so3_log(yk_q_mul(yk_q_unit(to), yk_q_conjugate(from)));
}

/* FMI 3: from values at four times. */
static void cubic_input(const yk_exported *self, int port, double h, yk_input *input)
{
    const yk_export_model *m = &self->model;
    bool wrench = m->causalities[port] == YK_CAUSALITY_WRENCH_INPUT;
    bool rotates =
        m->causalities[port] == YK_CAUSALITY_MOTION_INPUT && m->ports[port].kind == YK_PORT_MARKER;
    *input = (yk_input){.degree = SAMPLES - 1, .base_orientation = yk_q_identity()};

    if (rotates)
        input->base_orientation = yk_q_unit(self->asked[port].motion.orientation);

    /* Orientations as rotations from the first one. */
    yk_vec3 linear[SAMPLES];
    yk_vec3 angular[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        const yk_port_value *value = &self->asked[i * m->port_count + port];
        linear[i] = value->motion.position;
        angular[i] = yk_v3(0, 0, 0);

        if (wrench) {
            linear[i] = value->wrench.force;
            angular[i] = value->wrench.torque;
        } else if (rotates) {
            angular[i] = rotation_between(input->base_orientation, value->motion.orientation);
        }
    }

    interpolate(h, linear, input->linear);
    interpolate(h, angular, input->angular);
    trim(input);
}

/* A vector and its rate at both ends: Hermite's cubic, with d = to - from
 *
 *   from + from' t + (3 d - h (2 from' + to')) / h^2 t^2 + (h (from' + to') - 2 d) / h^3 t^3. */
static void hermite(double h, yk_vec3 from, yk_vec3 from_rate, yk_vec3 to, yk_vec3 to_rate,
                    yk_vec3 *c)
{
    yk_vec3 change = yk_v3_sub(to, from);
    yk_vec3 rates = yk_v3_axpy(2, from_rate, to_rate);
    yk_vec3 square = yk_v3_sub(yk_v3_scale(3, change), yk_v3_scale(h, rates));
    yk_vec3 sum = yk_v3_add(from_rate, to_rate);
    yk_vec3 cube = yk_v3_sub(yk_v3_scale(h, sum), yk_v3_scale(2, change));

    /* The line first; add higher terms only if they exceed rounding errors. */
    c[0] = from;
    c[1] = from_rate;
    c[2] = yk_v3(0, 0, 0);
    c[3] = yk_v3(0, 0, 0);

    /* Rounding errors of the positions would be large as an acceleration, so a line remains one. */
    double size = yk_v3_norm(from) + yk_v3_norm(to) + h * yk_v3_norm(sum);
    double rounding = 16 * DBL_EPSILON * size;
    if (yk_v3_norm(square) > rounding || yk_v3_norm(cube) > rounding) {
        c[2] = yk_v3_scale(1 / (h * h), square);
        c[3] = yk_v3_scale(1 / (h * h * h), cube);
    }
}

/* A motion that is known at both ends of the step. */
static void motion_input(const yk_exported *self, int port, double h, const yk_motion *from,
                         const yk_motion *to, yk_input *input)
{
    *input = (yk_input){.degree = 3, .base_orientation = yk_q_identity()};
    hermite(h, from->position, from->velocity, to->position, to->velocity, input->linear);

    if (self->model.ports[port].kind != YK_PORT_MARKER)
        return;

    /* The rate of a rotation vector r is T^-1(r) times the angular velocity. */
    input->base_orientation = yk_q_unit(from->orientation);
    yk_vec3 rotation = rotation_between(input->base_orientation, to->orientation);
    yk_vec3 rate = yk_m3_apply(yk_so3_left_tangent_inverse(rotation), to->angular_velocity);
    hermite(h, yk_v3(0, 0, 0), from->angular_velocity, rotation, rate, input->angular);
}

/* FMI 2: values at the start with their rates. */
static void line_input(const yk_exported *self, int port, double h, yk_input *input)
{
    const yk_export_model *m = &self->model;
    const yk_port_value *given = &self->given[port];
    const yk_port_value *rates = &self->rates[port];
    yk_causality takes = m->causalities[port];
    *input = (yk_input){.degree = 1, .base_orientation = yk_q_identity()};

    if (takes == YK_CAUSALITY_WRENCH_INPUT) {
        input->linear[0] = given->wrench.force;
        input->linear[1] = rates->wrench.force;
        input->angular[0] = given->wrench.torque;
        input->angular[1] = rates->wrench.torque;
    } else if (takes == YK_CAUSALITY_MOTION_INPUT) {
        /* All quantities are lines: together they are the motion at both ends of the step. */
        enum { MOTION_DOUBLES = sizeof(yk_motion) / sizeof(double) };
        yk_port_value end = *given;
        for (int i = 0; i < MOTION_DOUBLES; i++)
            *value_at(&end, i) += h * ((const double *)rates)[i];
        motion_input(self, port, h, &given->motion, &end.motion, input);
    } else {
        input->linear[0] = given->motion.position;
        input->linear[1] = rates->motion.position;
    }

    trim(input);
}

/* Whether a step from t by h continues the present state. After an error the model is unchanged. */
static yk_status check_step(yk_exported *self, double t, double h)
{
    double rounding = 1e-6 * h + 4 * DBL_EPSILON * fabs(t);
    if (!isfinite(t) || !isfinite(h) || !(h > 0))
        yk_format(self->message, sizeof self->message,
                  "a step from %.12g s by %.12g s: times must be finite, and a step positive", t,
                  h);
    else if (fabs(t - self->time) > rounding)
        yk_format(self->message, sizeof self->message,
                  "a step from %.12g s by %.12g s: the model is at %.12g s", t, h, self->time);
    else if (t + h > self->stop + rounding)
        yk_format(self->message, sizeof self->message,
                  "a step from %.12g s by %.12g s ends after the stop time %.12g s", t, h,
                  self->stop);
    else
        return YK_OK;
    return fail(self, YK_ERROR_ARGUMENT, self->message);
}

static yk_status make_step(yk_exported *self, double t, double h, void (*ask)(void *user, double t),
                           void *user)
{
    /* A system makes steps of its own size, with internal inputs. */
    const yk_export_model *m = &self->model;
    yk_status status = YK_OK;
    if (m->subsystem < 0) {
        double own = m->info->step;
        double count = round(h / own);
        /* One communication step is one macro step of the system, or several. */
        for (int i = 0; i < (int)count; i++) {
            status = yk_system_step(self->system, NULL);
            if (YK_FAILED(status))
                return fail(self, status, yk_last_message(self->context));
        }

        yk_scenario_read_sample(m->scenario, self->sample);
        self->time = t + h;
        return YK_OK;
    }

    /* A subsystem makes any step, with inputs from the importer: requested at equal distances over
     * the step, including its ends, if possible. */
    size_t bytes = (size_t)m->port_count * sizeof *self->given;
    for (int i = 0; ask && i < SAMPLES; i++) {
        ask(user, t + h * i / (SAMPLES - 1));
        memcpy(self->asked + i * m->port_count, self->given, bytes);
    }

    /* Available data: samples within the step, rates, its two ends, or one value. */
    for (int i = 0; i < m->port_count; i++) {
        yk_input *input = &self->inputs[i];
        if (ask)
            cubic_input(self, i, h, input);
        else if (self->has_rates)
            line_input(self, i, h, input);
        else if (m->causalities[i] == YK_CAUSALITY_MOTION_INPUT)
            motion_input(self, i, h, &self->before[i].motion, &self->given[i].motion, input);
        else
            constant_input(self, i, input);
    }

    /* Derivatives may be requested afterwards, and are those of this step. */
    self->step_size = 0;
    if (m->differentiable)
        m->object->ops->rollback->get(m->object, self->image[0]);

    /* In equal pieces if its own steps are limited. */
    int pieces = 1;
    if (m->longest_step > 0)
        pieces = (int)fmax(1, ceil(h / m->longest_step * (1 - 1e-9)));
    for (int i = 0; i < pieces; i++) {
        status = m->object->ops->step(m->object, t + h * i / pieces, h / pieces, self->inputs);
        if (YK_FAILED(status))
            return fail_subsystem(self, status);
        for (int port = 0; pieces > 1 && port < m->port_count; port++)
            if (m->causalities[port] != YK_CAUSALITY_NONE)
                self->inputs[port] =
                    yk_input_shift(&self->inputs[port], m->ports[port].kind, h / pieces);
    }

    /* The stored matrix belongs to an earlier step. */
    self->step_begin = t;
    self->step_size = h;
    self->matrix_degree = -1;

    /* Rates hold for one step. */
    memcpy(self->before, self->given, bytes);
    for (int i = 0; self->has_rates && i < m->port_count; i++) {
        if (m->causalities[i] != YK_CAUSALITY_MOTION_INPUT)
            continue;
        /* Pieces have shifted the inputs to the end of the step. */
        double end = pieces > 1 ? 0 : h;
        self->before[i].motion = yk_input_motion(&self->inputs[i], m->ports[i].kind, end);
    }
    memset(self->rates, 0, bytes);
    self->has_rates = false;
    self->time = t + h;
    return YK_OK;
}

yk_status yk_exported_step(yk_exported *self, double t, double h, void (*ask)(void *user, double t),
                           void *user)
{
    const yk_export_model *m = &self->model;
    yk_status status = check_step(self, t, h);
    if (status != YK_OK)
        return status;

    /* A whole system makes multiples of its own step. */
    double own = m->info->step;
    if (m->subsystem < 0 && (round(h / own) < 1 || fabs(h - round(h / own) * own) > 1e-6 * own)) {
        yk_format(self->message, sizeof self->message,
                  "a step by %.12g s: the model makes steps of %.12g s, or multiples of them", h,
                  own);
        return fail(self, YK_ERROR_ARGUMENT, self->message);
    }

    self->mode = YK_MODE_INTERMEDIATE;
    status = make_step(self, t, h, ask, user);
    self->mode = YK_FAILED(status) ? YK_MODE_FAILED : YK_MODE_STEP;
    return status;
}

/* Derivatives ---------------------------------------------------------------------------------- */

/* The derivative of one output by one coefficient of an input. */
static double derivative(const yk_exported *self, const yk_export_variable *unknown,
                         const yk_export_variable *known, int power)
{
    enum {
        ORIENTATION = offsetof(yk_port_value, motion.orientation) / sizeof(double),
        ANGULAR = offsetof(yk_port_value, motion.angular_velocity) / sizeof(double),
        WRENCH = offsetof(yk_port_value, wrench) / sizeof(double)
    };
    const yk_export_model *m = &self->model;

    /* First row of one port and first column of the other. */
    int coefficients = self->matrix_degree + 1;
    int row = 0;
    int column = 0;
    int width = 0;
    for (int i = 0; i < m->port_count; i++) {
        int rows = port_rows(m, i);
        if (i < unknown->port)
            row += rows;
        if (i < known->port)
            column += rows / 3 * coefficients;
        width += rows / 3 * coefficients;
    }

    column += power * (port_rows(m, known->port) / 3) + known->offset - WRENCH;
    const double *of = self->matrix + (size_t)row * (size_t)width + column;

    /* A scalar port has the x components of its linear quantities, three doubles each. */
    int offset = unknown->offset;
    if (m->ports[unknown->port].kind == YK_PORT_SCALAR)
        return of[offset / 3 * width];

    /* Linear and angular rows alternate; position, velocity and acceleration come first here. */
    if (offset < ORIENTATION)
        return of[(offset / 3 * 6 + offset % 3) * width];
    if (offset >= ANGULAR)
        return of[((offset - ANGULAR) / 3 * 6 + 9 + (offset - ANGULAR) % 3) * width];

    /* A small rotation r changes a quaternion q by (0, r) q / 2. */
    yk_port_value now = {.motion.orientation.w = 1};
    m->object->ops->get_port_value(m->object, unknown->port, &now);
    yk_quat r = {0, of[3 * width] / 2, of[4 * width] / 2, of[5 * width] / 2};
    yk_quat change = yk_q_mul(r, now.motion.orientation);
    const double components[4] = {change.w, change.x, change.y, change.z};
    return components[offset - ORIENTATION];
}

/* One component of a channel after the last step, with one coefficient of an input changed. */
static yk_status channel_after(yk_exported *self, const yk_export_variable *unknown,
                               const yk_export_variable *known, int power, double change,
                               double *value)
{
    const yk_subsystem_ops *ops = self->model.object->ops;
    yk_subsystem *object = self->model.object;
    yk_input *input = &self->inputs[known->port];
    yk_input kept = *input;
    int component = known->offset - (int)(offsetof(yk_port_value, wrench) / sizeof(double));
    double *coefficient = &input->linear[power].x + component;
    if (component >= 3)
        coefficient = &input->angular[power].x + (component - 3);
    *coefficient += change;
    if (power > input->degree)
        input->degree = power;

    yk_status status = ops->rollback->set(object, self->image[0]);
    if (!YK_FAILED(status))
        status = ops->step(object, self->step_begin, self->step_size, self->inputs);
    *input = kept;
    if (YK_FAILED(status))
        return fail_subsystem(self, status);

    ops->channels->read(object, unknown->channel, self->channel);
    *value = self->channel[unknown->offset];
    return YK_OK;
}

/* The derivative of a component of a channel: sensitivities cover ports only, so the step is
 * repeated twice, with the coefficient a little smaller and larger. */
static yk_status channel_derivative(yk_exported *self, const yk_export_variable *unknown,
                                    const yk_export_variable *known, int power, double *result)
{
    const yk_subsystem_ops *ops = self->model.object->ops;
    double given = *value_at(&self->given[known->port], known->offset);
    double change = 1e-3 * fmax(1, fabs(given)) / pow(self->step_size, power);
    double less = 0;
    double more = 0;
    ops->rollback->get(self->model.object, self->image[1]);
    yk_status status = channel_after(self, unknown, known, power, -change, &less);
    if (status == YK_OK)
        status = channel_after(self, unknown, known, power, change, &more);

    yk_status back = ops->rollback->set(self->model.object, self->image[1]);
    if (status != YK_OK)
        return status;
    if (YK_FAILED(back))
        return fail_subsystem(self, back);
    *result = (more - less) / (2 * change);
    return YK_OK;
}

yk_status yk_exported_derive(yk_exported *self, bool adjoint, const uint32_t *unknowns,
                             size_t unknown_count, const uint32_t *knowns, size_t known_count,
                             const double *seed, double *result)
{
    const yk_export_model *m = &self->model;
    uint32_t stride = (uint32_t)m->variable_count;
    int degree = 0;

    if (!m->differentiable)
        return fail(self, YK_ERROR_CAPABILITY, "the model has no derivatives by its inputs");

    /* Outputs by inputs, each checked before anything is computed. */
    for (size_t i = 0; i < unknown_count; i++) {
        const yk_export_variable *v = find_variable(self, unknowns[i]);
        if (!v)
            return YK_ERROR_ARGUMENT;
        if (v->role != YK_EXPORT_OUTPUT) {
            snprintf(self->message, sizeof self->message,
                     "derivatives are those of outputs, and '%.200s' is none", v->name);
            return fail(self, YK_ERROR_ARGUMENT, self->message);
        }
    }

    for (size_t k = 0; k < known_count; k++) {
        /* Beyond the variables a reference stands for an input times a power of time. */
        uint32_t power = knowns[k] / stride;
        const yk_export_variable *v = &m->variables[knowns[k] % stride];
        if (v->role != YK_EXPORT_INPUT || power > YK_INPUT_DEGREE_MAX) {
            snprintf(self->message, sizeof self->message,
                     "derivatives are those by inputs, and '%.200s' is none", v->name);
            return fail(self, YK_ERROR_ARGUMENT, self->message);
        }
        if ((int)power > degree)
            degree = (int)power;
    }

    /* The inputs of a step are known, and its start is stored, only until the state is set. */
    if (self->step_size == 0)
        return fail(self, YK_ERROR_ARGUMENT,
                    "derivatives are those of the last step, and none was made since the start or "
                    "since a state was set");

    /* The matrix of the last step is stored. A higher degree that was requested once is kept,
     * because an importer requests the same in every step. */
    if (degree > self->asked_degree)
        self->asked_degree = degree;
    if (self->matrix_degree < self->asked_degree) {
        /* From the start of the step; the state is restored, also after a failure. */
        const yk_subsystem_ops *ops = m->object->ops;
        ops->rollback->get(m->object, self->image[1]);
        yk_status status = ops->rollback->set(m->object, self->image[0]);
        if (status == YK_OK)
            status = ops->sensitivity->step_with_sensitivity(m->object, self->step_begin,
                                                             self->step_size, self->inputs,
                                                             self->asked_degree, self->matrix);
        if (YK_FAILED(status))
            fail_subsystem(self, status);

        yk_status back = ops->rollback->set(m->object, self->image[1]);
        if (YK_FAILED(status))
            return status;
        if (YK_FAILED(back))
            return fail_subsystem(self, back);

        self->matrix_degree = self->asked_degree;
    }

    /* J seed, or the transpose of J times seed. */
    for (size_t i = 0; i < (adjoint ? known_count : unknown_count); i++)
        result[i] = 0;
    for (size_t i = 0; i < unknown_count; i++) {
        for (size_t k = 0; k < known_count; k++) {
            const yk_export_variable *unknown = &m->variables[unknowns[i]];
            const yk_export_variable *known = &m->variables[knowns[k] % stride];
            int power = (int)(knowns[k] / stride);
            double d = 0;
            yk_status status = YK_OK;
            if (unknown->port >= 0)
                d = derivative(self, unknown, known, power);
            else
                status = channel_derivative(self, unknown, known, power, &d);
            if (status != YK_OK)
                return status;

            if (adjoint)
                result[k] += d * seed[i];
            else
                result[i] += d * seed[k];
        }
    }
    return YK_OK;
}

/* State ---------------------------------------------------------------------------------------- */

/* Precedes the present and previous inputs of the ports, and the image of the model. */
typedef struct state_head {
    uint64_t mark;
    uint64_t identity; /* of the model and its parameters */
    uint64_t checksum; /* of all bytes, with zero here; of states that leave the process */
    double time, stop;
    uint32_t mode;
    uint32_t started;
} state_head;

static const uint64_t STATE_MARK = 0x3145544154534b59; /* "YKSTATE1" */

static uint64_t state_identity(const yk_exported *self)
{
    const yk_export_model *m = &self->model;
    uint64_t hash = yk_hash_bytes(YK_HASH_START, self->token, strlen(self->token));
    for (int i = 0; i < m->variable_count; i++)
        if (m->variables[i].role == YK_EXPORT_PARAMETER)
            hash = yk_hash_bytes(hash, &self->parameters[m->variables[i].offset], sizeof(double));
    return hash;
}

size_t yk_exported_state_size(const yk_exported *self)
{
    const yk_export_model *m = &self->model;
    if (!m->rolls_back)
        return 0;

    size_t words;
    if (m->subsystem >= 0)
        words = m->object->ops->rollback->layout(m->object).word_count;
    else
        words = yk_system_state_layout(self->system).word_count;

    if (words == 0)
        return 0;

    size_t ports = 2 * (size_t)m->port_count * VALUE_DOUBLES;
    return sizeof(state_head) + (ports + words) * sizeof(double);
}

void yk_exported_state_get(const yk_exported *self, void *bytes)
{
    const yk_export_model *m = &self->model;
    size_t ports = (size_t)m->port_count * sizeof *self->given;
    state_head *head = bytes;
    *head = (state_head){
        .mark = STATE_MARK,
        .identity = state_identity(self),
        .time = self->time,
        .stop = self->stop,
        .mode = self->mode,
        .started = self->started,
    };

    char *at = (char *)(head + 1);
    memcpy(at, self->given, ports);
    memcpy(at + ports, self->before, ports);

    double *rest = (double *)(void *)(at + 2 * ports);
    if (m->subsystem >= 0)
        m->object->ops->rollback->get(m->object, rest);
    else
        yk_system_get_state(self->system, rest);
}

void yk_exported_state_seal(void *bytes, size_t size)
{
    state_head *head = bytes;
    head->checksum = 0;
    head->checksum = yk_hash_bytes(YK_HASH_START, bytes, size);
}

yk_status yk_exported_state_check(yk_exported *self, const void *bytes, size_t size)
{
    state_head head;
    bool good = size == yk_exported_state_size(self) && size >= sizeof head;
    if (good)
        memcpy(&head, bytes, sizeof head);
    uint64_t checksum = 0;
    if (good) {
        checksum = head.checksum;
        head.checksum = 0;
        uint64_t hash = yk_hash_bytes(YK_HASH_START, &head, sizeof head);
        good =
            checksum == yk_hash_bytes(hash, (const char *)bytes + sizeof head, size - sizeof head);
    }

    if (good)
        return YK_OK;
    return fail(self, YK_ERROR_ARGUMENT, "the bytes are damaged, or no state of this model");
}

yk_status yk_exported_state_set(yk_exported *self, const void *bytes, size_t size)
{
    const yk_export_model *m = &self->model;
    const state_head *head = bytes;
    bool known = head && size == yk_exported_state_size(self) && head->mark == STATE_MARK &&
                 isfinite(head->time) && (head->mode & YK_MODE_ANY) &&
                 (head->mode & (head->mode - 1)) == 0;
    if (!known)
        return fail(self, YK_ERROR_ARGUMENT, "the state is not one of this model");
    if (head->identity != state_identity(self))
        return fail(self, YK_ERROR_ARGUMENT,
                    "the state is that of a model with other parameters: set these first");

    size_t ports = (size_t)m->port_count * sizeof *self->given;
    const char *at = (const char *)(head + 1);

    /* Rates belong to the step in preparation, not to the state. */
    self->time = head->time;
    self->stop = head->stop;
    self->mode = head->mode;
    self->started = head->started != 0;
    memcpy(self->given, at, ports);
    memcpy(self->before, at + ports, ports);
    memset(self->rates, 0, ports);
    self->has_rates = false;
    self->step_size = 0;

    /* A rollback of the model itself, exact to the bit. */
    const double *rest = (const double *)(const void *)(at + 2 * ports);
    yk_status status;

    if (m->subsystem >= 0)
        status = m->object->ops->rollback->set(m->object, rest);
    else
        status = yk_system_set_state(self->system, rest);

    if (YK_FAILED(status))
        return fail(self, status, yk_status_text(status));

    /* Outputs of a whole system are those of a sample. */
    if (m->subsystem < 0)
        yk_scenario_read_sample(m->scenario, self->sample);
    return YK_OK;
}
