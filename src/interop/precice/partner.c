/* A participant of the coupling library preCICE as a subsystem: it represents the solvers of flows
 * and fields that are coupled with this system.
 *
 *   motion port   displacements (velocities) of the vertices are written at the end of a step, and
 *                 forces are read for the next step: this system is the structure
 *   wrench port   forces on the vertices are written, and displacements are read: this system loads
 *                 a structure that is computed elsewhere
 *
 * preCICE provides values over the time window that begins. If a partner has computed it already (a
 * serial coupling in which it is first, or an iteration of an implicit one), those at its end are
 * new; otherwise the last ones continue. They are read for the end of the next step. A motion that
 * can be read ahead becomes the prediction of the port.
 *
 * Chourdakis, Davis, Rodenberg et al. 2022; the interface is that of version 3. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "interop/precice/partner.h"
#include "math/polynomial.h"
#include "math/so3.h"

enum { PORTS_MAX = 10000, VERTICES_MAX = 10000000 };

/* Fraction of a step by which a time window may end earlier or later than the step. */
static const double SLIVER = 1e-9;

typedef struct one_port {
    yk_vertices vertices;
    yk_vec3 axis; /* of a scalar port */
    size_t first; /* of its vertices */
    bool connected;

    /* A scalar port uses this marker as well. */
    yk_motion motion;  /* at the end of the last step */
    yk_motion kept;    /* at the start of the time window of an implicit coupling */
    yk_motion next;    /* as far as it is known in advance */
    yk_motion sent;    /* last written; forces that are read belong to it */
    yk_wrench wrench;  /* on the subsystem */
    yk_wrench impulse; /* of the time window so far (N s, N m s) */
} one_port;

typedef struct precice {
    yk_subsystem base;
    yk_context *context;
    yk_precice_host *host;
    yk_precice_data data;
    int displacement, velocity; /* indices of the data of the motion; -1: not exchanged */
    yk_causality takes;
    yk_port *list;
    one_port *ports;
    int count;
    yk_vec3 *points; /* of all ports */
    size_t values;   /* of one data */
    double *written, *read;

    yk_precice_state state;
    bool initialized, stepped;
    bool implicit;
    double window;       /* s, of an implicit coupling */
    double window_start; /* s */
    double elapsed;      /* s of the time window */
    char message[512];
} precice;

static yk_status fail(precice *p, yk_status status, const char *text)
{
    snprintf(p->message, sizeof p->message, "%s", text);
    return yk_fail(p->context, status, "%s", text);
}

/* Values --------------------------------------------------------------------------------------- */

static size_t offset(const precice *p, const one_port *port)
{
    return port->first * (size_t)p->state.dimensions;
}

/* The inputs of the ports at a time of the step, as values of the vertices; `h` after the last
 * time. */
static void write_values(precice *p, const yk_input *inputs, double time, double h)
{
    p->elapsed += h;

    for (int i = 0; i < p->count; i++) {
        one_port *port = &p->ports[i];
        yk_port_kind kind = p->list[i].kind;
        double *first = p->written + offset(p, port);

        /* The wrench, at the expected places of the vertices. */
        if (p->takes == YK_CAUSALITY_WRENCH_INPUT) {
            yk_wrench wrench = {{0, 0, 0}, {0, 0, 0}};
            if (port->connected && kind == YK_PORT_SCALAR)
                wrench.force = yk_v3_scale(yk_input_scalar(&inputs[i], time), port->axis);
            else if (port->connected)
                wrench = yk_input_wrench(&inputs[i], time);

            /* With several steps per time window the partner sees the last value: send the mean, so
             * that no impulse is lost. */
            port->wrench = wrench;
            port->impulse.force = yk_v3_axpy(h, wrench.force, port->impulse.force);
            port->impulse.torque = yk_v3_axpy(h, wrench.torque, port->impulse.torque);
            if (p->elapsed > h) {
                wrench.force = yk_v3_scale(1 / p->elapsed, port->impulse.force);
                wrench.torque = yk_v3_scale(1 / p->elapsed, port->impulse.torque);
            }

            yk_vertices_distribute(&port->vertices, &port->next, &wrench, first);
            continue;
        }

        /* The motion; a scalar port moves along its axis. */
        if (port->connected && kind == YK_PORT_SCALAR) {
            double path = yk_input_scalar(&inputs[i], time);
            double rate = yk_input_scalar_rate(&inputs[i], time);
            port->sent.position = yk_v3_axpy(path, port->axis, port->vertices.position);
            port->sent.velocity = yk_v3_scale(rate, port->axis);
        } else if (port->connected) {
            port->sent = yk_input_motion(&inputs[i], kind, time);
        }

        /* Each of the data is an array: displacements of all vertices, then velocities. */
        if (p->displacement >= 0)
            yk_vertices_displace(&port->vertices, &port->sent,
                                 first + (size_t)p->displacement * p->values);
        if (p->velocity >= 0)
            yk_vertices_move(&port->vertices, &port->sent, first + (size_t)p->velocity * p->values);
    }
}

/* The motion `h` after another one, from these values. */
static void read_motion(const precice *p, one_port *port, const double *values, double h,
                        const yk_motion *before, yk_motion *motion)
{
    const double *first = values + offset(p, port);
    *motion = *before;
    if (p->velocity >= 0)
        yk_vertices_fit_velocity(&port->vertices, first + (size_t)p->velocity * p->values, motion);

    /* From velocities alone, their mean moves the marker. */
    if (p->displacement < 0) {
        yk_vec3 velocity = yk_v3_add(before->velocity, motion->velocity);
        yk_vec3 spin = yk_v3_add(before->angular_velocity, motion->angular_velocity);
        motion->position = yk_v3_axpy(0.5 * h, velocity, before->position);
        yk_quat rotation = yk_so3_exp(yk_v3_scale(0.5 * h, spin));
        motion->orientation = yk_q_mul(rotation, before->orientation);
        return;
    }

    /* Displacements are relative to the reference: errors of earlier steps do not accumulate. */
    yk_vertices_fit(&port->vertices, first + (size_t)p->displacement * p->values, motion);
    if (p->velocity >= 0 || !(h > 0))
        return;

    /* From displacements alone, their differences are the velocity. */
    yk_quat rotation = yk_q_mul(motion->orientation, yk_q_conjugate(before->orientation));
    motion->velocity = yk_v3_scale(1 / h, yk_v3_sub(motion->position, before->position));
    motion->angular_velocity = yk_v3_scale(1 / h, yk_so3_log(rotation));
}

/* The data of the other participants, `h` after the last motion. */
static void read_values(precice *p, double h)
{
    size_t set = (size_t)p->data.read_count * p->values;
    const double *now = p->read;
    const double *later = p->read + set;

    /* For a window that ended, or is repeated, the impulse starts from zero. */
    bool begins = p->state.complete || p->state.repeats;
    if (begins)
        p->elapsed = 0;

    for (int i = 0; i < p->count; i++) {
        one_port *port = &p->ports[i];
        if (begins)
            port->impulse = (yk_wrench){{0, 0, 0}, {0, 0, 0}};

        /* Forces on this system, for the next step; the subsystem has the opposite. */
        if (p->takes == YK_CAUSALITY_MOTION_INPUT) {
            yk_wrench wrench =
                yk_vertices_reduce(&port->vertices, &port->sent, later + offset(p, port));
            port->wrench = (yk_wrench){yk_v3_neg(wrench.force), yk_v3_neg(wrench.torque)};
            port->motion = p->state.repeats ? port->kept : port->sent;
        } else if (p->state.repeats) {
            port->motion = port->kept;
        } else {
            yk_motion before = port->motion;
            read_motion(p, port, now, h, &before, &port->motion);
        }

        /* Start of a window to which an implicit coupling may return. */
        if (p->state.begins)
            port->kept = port->motion;
        if (p->takes == YK_CAUSALITY_MOTION_INPUT)
            continue;

        /* If present and later values are equal, they are not known in advance, or the system is at
         * rest: continue the motion. */
        if (memcmp(now, later, set * sizeof *now) != 0) {
            read_motion(p, port, later, p->state.ahead, &port->motion, &port->next);
            continue;
        }

        port->next = port->motion;
        double ahead = p->state.ahead;
        port->next.position = yk_v3_axpy(ahead, port->motion.velocity, port->motion.position);
        yk_quat rotation = yk_so3_exp(yk_v3_scale(ahead, port->motion.angular_velocity));
        port->next.orientation = yk_q_mul(rotation, port->motion.orientation);
    }
}

static yk_status check_finite(precice *p)
{
    size_t count = 2 * (size_t)p->data.read_count * p->values;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(p->read[i]))
            return fail(p, YK_ERROR_NOT_FINITE,
                        "preCICE gave a value that is not finite: a partner has diverged");
    return YK_OK;
}

/* The host keeps its message until the next call. */
static yk_status keep_message(precice *p, yk_status status)
{
    if (status != YK_OK)
        snprintf(p->message, sizeof p->message, "%.500s", yk_precice_message(p->host));
    return status;
}

/* Operations ----------------------------------------------------------------------------------- */

static int precice_ports(const yk_subsystem *self, const yk_port **list)
{
    const precice *p = (const precice *)self;
    *list = p->list;
    return p->count;
}

static yk_status precice_connect(yk_subsystem *self, int port, yk_causality causality,
                                 unsigned constrained)
{
    precice *p = (precice *)self;
    one_port *own = &p->ports[port];

    /* Forces on vertices can represent a torque only if they have an arm about every axis. */
    bool torque = causality == YK_CAUSALITY_WRENCH_INPUT && p->list[port].kind == YK_PORT_MARKER &&
                  constrained & YK_AXES_ROTATION;
    if (torque && !own->vertices.rotates) {
        snprintf(p->message, sizeof p->message,
                 "port '%.100s' has %d vertices %s, which carry no torque: give it %s, or a joint "
                 "that leaves rotations free (spherical)",
                 p->list[port].name, own->vertices.count,
                 own->vertices.count > 1 ? "on a line" : "(one point)",
                 p->state.dimensions == 2 ? "two" : "three that are not on a line");
        return yk_fail(p->context, YK_ERROR_CAPABILITY, "%s", p->message);
    }

    own->connected = true;
    return YK_OK;
}

static yk_status initialize(precice *p, double t, double h, const yk_input *inputs)
{
    if (p->initialized)
        return YK_OK;

    /* Vertices in as many coordinates as the mesh has, two or three. */
    size_t n = (size_t)p->state.dimensions;
    double *coordinates = yk_allocate(p->context, p->values, sizeof *coordinates);
    if (!coordinates)
        return YK_ERROR_MEMORY;
    for (size_t i = 0; i < p->values / n; i++)
        memcpy(coordinates + i * n, &p->points[i].x, n * sizeof *coordinates);

    /* Waits for the partners here, and may already exchange data with them. */
    p->initialized = true;
    write_values(p, inputs, 0, 0);
    yk_status status = keep_message(
        p, yk_precice_initialize(p->host, coordinates, p->written, h, &p->state, p->read));
    yk_free(p->context, coordinates);

    if (status == YK_OK)
        status = check_finite(p);
    if (status != YK_OK)
        return status;

    /* A first request for a checkpoint shows that windows will be repeated. */
    p->implicit = p->state.begins;
    p->window = p->state.longest;
    p->window_start = t;
    read_values(p, 0);
    return YK_OK;
}

/* Connect to the partners when the initial data of this side are known. */
static yk_status precice_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    precice *p = (precice *)self;
    if (p->stepped)
        return fail(p, YK_ERROR_CAPABILITY, "preCICE cannot be initialized again: start a new run");
    if (!inputs)
        return YK_OK;
    return initialize(p, t, h, inputs);
}

static yk_status precice_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    precice *p = (precice *)self;
    yk_status status = initialize(p, t, h, inputs);
    p->stepped = true;

    /* A window that is repeated begins where it began before. */
    if (status == YK_OK && p->state.repeats && fabs(t - p->window_start) > SLIVER * h)
        return fail(p, YK_ERROR_CAPABILITY,
                    "preCICE repeats this time window, and the step goes on: an implicit coupling "
                    "needs a system that returns to the start of its macro step");

    /* One time window, a part of one, or several. */
    double done = 0;
    while (status == YK_OK && h - done > SLIVER * h) {
        if (!p->state.ongoing) {
            char text[200];
            yk_format(text, sizeof text,
                      "preCICE has ended its coupling at t = %.9g s: max-time in its configuration "
                      "is before the end of the run",
                      t + done);
            return fail(p, YK_ERROR_EXTERNAL, text);
        }

        /* Up to the end of the window, without a remainder from rounding. */
        double step = h - done;
        if (p->state.longest < step * (1 + SLIVER))
            step = p->state.longest;
        done += step;

        write_values(p, inputs, fmin(done, h), step);
        status =
            keep_message(p, yk_precice_advance(p->host, step, p->written, h, &p->state, p->read));
        if (status == YK_OK)
            status = check_finite(p);
        if (status == YK_OK)
            read_values(p, step);

        /* The next window begins here; if it is repeated, the step ends at the present time. */
        if (status == YK_OK && p->state.begins && !p->state.repeats)
            p->window_start = t + done;
        if (p->state.repeats)
            break;
    }

    return status;
}

static void precice_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const precice *p = (const precice *)self;
    const one_port *own = &p->ports[port];
    *value = (yk_port_value){.motion = own->motion, .wrench = own->wrench};
    if (p->list[port].kind == YK_PORT_MARKER)
        return;

    /* Along its axis. */
    yk_vec3 path = yk_v3_sub(own->motion.position, own->vertices.position);
    *value = (yk_port_value){0};
    value->motion.position.x = yk_v3_dot(path, own->axis);
    value->motion.velocity.x = yk_v3_dot(own->motion.velocity, own->axis);
    value->wrench.force.x = yk_v3_dot(own->wrench.force, own->axis);
}

/* The known end of the step; for a shorter step, a part of it. */
static void precice_predict(const yk_subsystem *self, int port, double h, yk_motion *motion)
{
    const precice *p = (const precice *)self;
    const one_port *own = &p->ports[port];
    double part = 1;
    if (p->state.ahead > 0)
        part = h / p->state.ahead;

    /* A line in the position, and in the rotation vector from the present orientation. */
    yk_motion end = own->next;
    yk_vec3 path = yk_v3_sub(own->next.position, own->motion.position);
    yk_quat rotation = yk_q_mul(own->next.orientation, yk_q_conjugate(own->motion.orientation));
    if (fabs(part - 1) > SLIVER) {
        end.position = yk_v3_axpy(part, path, own->motion.position);
        yk_quat partly = yk_so3_exp(yk_v3_scale(part, yk_so3_log(rotation)));
        end.orientation = yk_q_mul(partly, own->motion.orientation);
    }

    if (p->list[port].kind == YK_PORT_MARKER) {
        *motion = end;
        return;
    }

    *motion = (yk_motion){0};
    motion->position.x = yk_v3_dot(yk_v3_sub(end.position, own->vertices.position), own->axis);
    motion->velocity.x = yk_v3_dot(end.velocity, own->axis);
}

static double precice_repeated(const yk_subsystem *self)
{
    const precice *p = (const precice *)self;
    return p->implicit ? p->window : 0;
}

static bool precice_again(const yk_subsystem *self)
{
    return ((const precice *)self)->state.repeats;
}

static const char *precice_message(const yk_subsystem *self)
{
    return ((const precice *)self)->message;
}

static void precice_destroy(yk_subsystem *self)
{
    precice *p = (precice *)self;
    yk_precice_close(p->host);
    for (int i = 0; p->list && i < p->count; i++)
        yk_free(p->context, (void *)(uintptr_t)p->list[i].name);
    void *blocks[] = {p->list, p->ports, p->points, p->written, p->read, p};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(p->context, blocks[i]);
}

/* Creation ------------------------------------------------------------------------------------- */

yk_precice_def yk_precice_default(void)
{
    return (yk_precice_def){
        .library = "libprecice.so.3",
        .causality = YK_CAUSALITY_MOTION_INPUT,
        .displacement = "Displacement",
        .force = "Force",
        .timeout = 600,
    };
}

static yk_status check_def(yk_context *context, const yk_precice_def *def, size_t *vertices)
{
    if (!def->library || !def->participant || !def->config_file || !def->mesh || !def->force)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "a participant of preCICE needs a library, its name, a configuration, a mesh "
            "and data for forces");
    if (!def->displacement && !def->velocity)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a participant of preCICE needs data for displacements, velocities or both");
    if (def->causality != YK_CAUSALITY_MOTION_INPUT && def->causality != YK_CAUSALITY_WRENCH_INPUT)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "ports of a participant of preCICE take motions or wrenches");
    if (!(def->timeout > 0) || def->port_count < 1 || def->port_count > PORTS_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a participant of preCICE needs a deadline above 0 s and 1 to %d ports",
                       PORTS_MAX);

    /* A port without vertices gets one at its own position. */
    *vertices = 0;
    for (int i = 0; i < def->port_count; i++) {
        int own = def->ports[i].vertex_count;
        *vertices += (size_t)(own > 0 ? own : 1);
    }

    if (*vertices > VERTICES_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a participant of preCICE has %zu vertices, the most are %d", *vertices,
                       VERTICES_MAX);
    return YK_OK;
}

/* Directions of the data. */
static void choose_data(precice *p, const yk_precice_def *def)
{
    /* Displacements, velocities, or both, in this order. */
    const char *motions[YK_PRECICE_DATA_MAX] = {0};
    int count = 0;
    p->displacement = -1;
    p->velocity = -1;
    if (def->displacement) {
        p->displacement = count;
        motions[count++] = def->displacement;
    }

    if (def->velocity) {
        p->velocity = count;
        motions[count++] = def->velocity;
    }

    /* Motions go in one direction and forces in the other, by the causality of the ports. */
    const char **to = p->data.written;
    const char **forces = p->data.read;
    p->data.written_count = count;
    p->data.read_count = 1;
    if (def->causality == YK_CAUSALITY_WRENCH_INPUT) {
        to = p->data.read;
        forces = p->data.written;
        p->data.written_count = 1;
        p->data.read_count = count;
    }

    memcpy(to, motions, sizeof motions);
    forces[0] = def->force;
}

static yk_status make_ports(precice *p, const yk_precice_def *def)
{
    size_t first = 0;
    for (int i = 0; i < def->port_count; i++) {
        const yk_precice_port_def *from = &def->ports[i];
        one_port *port = &p->ports[i];

        /* A port with an axis is a scalar port. */
        bool scalar = yk_v3_norm2(from->axis) > 0;
        char *name = yk_text_copy(p->context, from->name);
        p->list[i] = (yk_port){name, scalar ? YK_PORT_SCALAR : YK_PORT_MARKER, def->causality};
        p->count++;
        if (!name)
            return YK_ERROR_MEMORY;

        /* Its vertices, or one where the port is. */
        int own = from->vertex_count;
        p->points[first] = from->position;
        for (int k = 0; k < own; k++)
            p->points[first + (size_t)k] = from->vertices[k];

        port->first = first;
        port->axis = yk_v3_unit(from->axis);
        port->vertices = (yk_vertices){
            .position = from->position,
            .orientation = from->orientation,
            .points = p->points + first,
            .count = own > 0 ? own : 1,
        };

        /* Until data arrive, the port is at rest at its initial position. */
        port->motion.position = from->position;
        port->motion.orientation = from->orientation;
        port->kept = port->next = port->sent = port->motion;
        first += (size_t)port->vertices.count;
    }

    return YK_OK;
}

yk_status yk_precice_create(yk_context *context, const yk_precice_def *def,
                            yk_subsystem **subsystem)
{
    static const yk_time_window_ops windows = {sizeof windows, precice_repeated, precice_again};
    static const yk_subsystem_ops ops = {
        .size = sizeof ops,
        .kind = "precice",
        .ports = precice_ports,
        .connect = precice_connect,
        .initialize = precice_start,
        .step = precice_step,
        .get_port_value = precice_output,
        .destroy = precice_destroy,
        .last_message = precice_message,
        .predict = precice_predict,
        .time_windows = &windows,
    };

    *subsystem = NULL;
    size_t vertices = 0;
    yk_status status = check_def(context, def, &vertices);
    if (status != YK_OK)
        return status;

    precice *p = yk_allocate(context, 1, sizeof *p);
    if (!p)
        return YK_ERROR_MEMORY;

    p->base.ops = &ops;
    p->context = context;
    p->takes = def->causality;
    choose_data(p, def);

    /* Memory for three numbers of a vertex; a mesh may have two. */
    size_t values = 3 * vertices;
    p->list = yk_allocate(context, (size_t)def->port_count, sizeof *p->list);
    p->ports = yk_allocate(context, (size_t)def->port_count, sizeof *p->ports);
    p->points = yk_allocate(context, vertices, sizeof *p->points);
    p->written = yk_allocate(context, (size_t)p->data.written_count * values, sizeof *p->written);
    p->read = yk_allocate(context, 2 * (size_t)p->data.read_count * values, sizeof *p->read);
    if (!p->list || !p->ports || !p->points || !p->written || !p->read)
        status = YK_ERROR_MEMORY;

    if (status == YK_OK)
        status = make_ports(p, def);
    if (status == YK_OK)
        status = yk_precice_open(context, def, &p->data, (int)vertices, &p->host, &p->state);
    if (status != YK_OK) {
        precice_destroy(&p->base);
        return status;
    }

    /* The dimensions of the mesh determine the possible motions of the vertices. */
    p->values = vertices * (size_t)p->state.dimensions;
    for (int i = 0; i < p->count; i++) {
        p->ports[i].vertices.dimensions = p->state.dimensions;
        yk_vertices_prepare(&p->ports[i].vertices);
    }

    *subsystem = &p->base;
    return YK_OK;
}
