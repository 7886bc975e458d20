/* MBDyn as a subsystem: the peer of its `force: ..., external structural` over a stream socket.
 *
 * Every message begins with one byte:
 *
 *   2  data                       5  abort: the simulation ends        7  negotiation: flags, nodes
 *   6  data, and the next step    4  the next step, with old forces    8  agreed
 *
 * followed by numbers in the byte order of the machine, field by field for all nodes: from MBDyn
 * positions, rotations, velocities, angular velocities and, if agreed, accelerations and angular
 * accelerations; to MBDyn forces and torques. The sequence depends on the coupling:
 *
 *   staggered   <- 6 motion at t0 (twice), -> 2 forces;   then per step  -> 2 forces, <- 6 motion
 *   loose       <- 6 motion at t0, -> 6 forces, <- 6 predicted motion;   per step the last two
 *   tight       <- 2 motion at t0, -> 6 forces, <- 2 predicted motion; per iteration -> 2 forces,
 *               <- 2 motion; at the end of a step -> 6 forces, <- 2 predicted motion of the next
 *
 * With loose and tight coupling MBDyn never sends the converged motion at the end of a step. Tight:
 * the last iterate is used instead. Loose: the next prediction, extrapolated backwards by one step. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "math/so3.h"
#include "remote/frame.h"
#include "yoke/mbdyn.h"

enum { DATA = 2, ABORT = 5, DATA_AND_GO = 6, NEGOTIATION = 7, AGREED = 8 };
enum { NODAL = 0x2, ACCELERATIONS = 0x8, VECTOR = 0x100, MATRIX = 0x200, EULER123 = 0x400 };
enum { NODES_MAX = 10000 };

typedef struct mbdyn {
    yk_subsystem base;
    yk_subsystem_ops ops;
    yk_context *context;
    yk_transport *transport;
    yk_mbdyn_def def;
    char name[300]; /* "MBDyn at unix:/tmp/socket" */
    char message[YK_PARTNER_MESSAGE];
    yk_port *ports;
    int count;

    double *numbers;      /* of a message */
    yk_motion *motion;    /* at the end of the last step, or of the open trial */
    yk_motion *predicted; /* of the next step; during iterations, the previous iterate */
    yk_wrench *wrenches;  /* sent last */
    bool met;             /* the first motion has arrived */
    bool stepped;         /* a step was made */
    bool iterated;        /* in this step */
    bool ended;           /* MBDyn has announced its end */
    bool broken;
} mbdyn;

/* Messages ------------------------------------------------------------------------------------- */

/* A failure of the connection is permanent. */
static yk_status give_up(mbdyn *m, yk_status status)
{
    m->broken = true;
    return yk_partner_failed(m->context, status, m->name, m->message);
}

static yk_status send_wrenches(mbdyn *m, unsigned char command)
{
    /* After its end MBDyn reads nothing more; the message names the final time that is too early. */
    if (m->broken)
        return yk_fail(m->context, YK_ERROR_EXTERNAL, "%s", m->message);
    if (m->ended) {
        yk_fail(m->context, YK_ERROR_EXTERNAL,
                "has reached the end of its own simulation: its final time is before this step");
        return give_up(m, YK_ERROR_EXTERNAL);
    }

    /* All forces, then all torques. */
    size_t n = (size_t)m->count;
    double *forces = m->numbers;
    double *torques = m->numbers + 3 * n;
    for (size_t i = 0; i < n; i++) {
        memcpy(forces + 3 * i, &m->wrenches[i].force.x, 3 * sizeof *forces);
        memcpy(torques + 3 * i, &m->wrenches[i].torque.x, 3 * sizeof *torques);
    }

    double deadline = yk_clock_seconds() + m->def.timeout;
    yk_status status = m->transport->ops->send(m->transport, &command, 1, m->numbers,
                                               6 * n * sizeof(double), deadline);
    if (status != YK_OK)
        return give_up(m, status);
    return YK_OK;
}

static yk_quat read_rotation(const mbdyn *m, const double *r)
{
    switch (m->def.orientation) {
    case YK_MBDYN_ORIENTATION_VECTOR: return yk_so3_exp((yk_vec3){r[0], r[1], r[2]});

    /* Degrees, about x, the new y and the newest z. */
    case YK_MBDYN_ORIENTATION_EULER123: {
        const double degree = acos(-1) / 180;
        yk_quat x = yk_so3_exp(yk_v3(degree * r[0], 0, 0));
        yk_quat y = yk_so3_exp(yk_v3(0, degree * r[1], 0));
        yk_quat z = yk_so3_exp(yk_v3(0, 0, degree * r[2]));
        return yk_q_mul(x, yk_q_mul(y, z));
    }

    /* A matrix comes column by column. */
    case YK_MBDYN_ORIENTATION_MATRIX: {
        yk_mat3 matrix;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                matrix.m[i][k] = r[3 * k + i];
        return yk_so3_quat(matrix);
    }
    }

    return (yk_quat){1, 0, 0, 0};
}

static yk_vec3 read_vector(const double *from)
{
    return (yk_vec3){from[0], from[1], from[2]};
}

/* Waits for a motion; the end of the simulation sets `ended`, and leaves the motion unchanged. */
static yk_status receive_motion(mbdyn *m, unsigned char expected, yk_motion *motion)
{
    const yk_transport_ops *ops = m->transport->ops;
    size_t n = (size_t)m->count;
    double deadline = yk_clock_seconds() + m->def.timeout;

    /* The command determines the following data; an unexpected one belongs to another coupling. */
    unsigned char command = 0;
    yk_status status = ops->receive(m->transport, &command, 1, deadline);
    if (status != YK_OK)
        return give_up(m, status);

    /* It has reached its final time, or was stopped. */
    if (command == ABORT) {
        m->ended = true;
        return YK_OK;
    }

    /* A wrong command means that the two sides do not agree on the order of messages. */
    if (command != expected) {
        static const char *const words[] = {"staggered", "loose", "tight"};
        yk_fail(m->context, YK_ERROR_EXTERNAL,
                "sent command %d where %d belongs: its coupling is not %s, as was said when the "
                "subsystem was created",
                command, expected, words[m->def.coupling]);
        return give_up(m, YK_ERROR_EXTERNAL);
    }

    /* Number of values per node, as agreed by both sides. */
    size_t rotation = 3;
    if (m->def.orientation == YK_MBDYN_ORIENTATION_MATRIX)
        rotation = 9;
    size_t per_node = 3 + rotation + 6;
    if (m->def.sends_accelerations)
        per_node += 6;

    /* All of them in one message. */
    size_t bytes = n * per_node * sizeof(double);
    status = ops->receive(m->transport, m->numbers, bytes, deadline);
    if (status != YK_OK)
        return give_up(m, status);

    /* Field by field, each for all nodes. */
    const double *positions = m->numbers;
    const double *rotations = positions + 3 * n;
    const double *velocities = rotations + rotation * n;
    const double *spins = velocities + 3 * n;
    const double *accelerations = spins + 3 * n;
    for (size_t i = 0; i < n; i++) {
        motion[i] = (yk_motion){
            .position = read_vector(positions + 3 * i),
            .orientation = read_rotation(m, rotations + rotation * i),
            .velocity = read_vector(velocities + 3 * i),
            .angular_velocity = read_vector(spins + 3 * i),
        };

        if (!m->def.sends_accelerations)
            continue;

        motion[i].acceleration = read_vector(accelerations + 3 * i);
        motion[i].angular_acceleration = read_vector(accelerations + 3 * (n + i));
    }

    /* Aborts the simulation in MBDyn if it diverges. */
    for (size_t i = 0; i < n * per_node; i++) {
        if (isfinite(m->numbers[i]))
            continue;

        yk_fail(m->context, YK_ERROR_NOT_FINITE, "sent a motion that is not finite");
        return give_up(m, YK_ERROR_NOT_FINITE);
    }

    return YK_OK;
}

/* The forces at the end of the step, which MBDyn's methods need. */
static void keep_wrenches(mbdyn *m, const yk_input *inputs, double h)
{
    for (int i = 0; inputs && i < m->count; i++) {
        const yk_input *input = &inputs[i];
        yk_vec3 force = {0};
        yk_vec3 torque = {0};

        /* Horner's rule. */
        for (int k = input->degree; k >= 0; k--) {
            force = yk_v3_add(yk_v3_scale(h, force), input->linear[k]);
            torque = yk_v3_add(yk_v3_scale(h, torque), input->angular[k]);
        }

        m->wrenches[i] = (yk_wrench){force, torque};
    }
}

/* The same motion a step earlier or later, at constant velocities. */
static void move(const mbdyn *m, const yk_motion *from, double h, yk_motion *to)
{
    for (int i = 0; i < m->count; i++) {
        to[i] = from[i];
        to[i].position = yk_v3_add(from[i].position, yk_v3_scale(h, from[i].velocity));
        yk_quat rotation = yk_so3_exp(yk_v3_scale(h, from[i].angular_velocity));
        to[i].orientation = yk_q_mul(rotation, from[i].orientation);
    }
}

/* Loose and tight: the forces at t0, from which MBDyn computes its accelerations there, are sent
 * before the first prediction arrives. */
static yk_status ensure_prediction(mbdyn *m)
{
    if (m->def.coupling == YK_MBDYN_COUPLING_STAGGERED || m->stepped)
        return YK_OK;

    /* Tight coupling marks every motion as repeatable. */
    unsigned char expected = DATA_AND_GO;
    if (m->def.coupling == YK_MBDYN_COUPLING_TIGHT)
        expected = DATA;

    m->stepped = true;
    yk_status status = send_wrenches(m, DATA_AND_GO);
    if (status == YK_OK)
        status = receive_motion(m, expected, m->predicted);
    return status;
}

/* Operations ----------------------------------------------------------------------------------- */

static int mbdyn_ports(const yk_subsystem *self, const yk_port **list)
{
    const mbdyn *m = (const mbdyn *)self;
    *list = m->ports;
    return m->count;
}

static yk_status mbdyn_connect(yk_subsystem *self, int port, yk_causality causality,
                               unsigned constrained)
{
    /* No preparation: MBDyn does not distinguish connected nodes. */
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static yk_status mbdyn_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    /* MBDyn's protocol has no rollback. */
    (void)t;
    mbdyn *m = (mbdyn *)self;
    if (m->stepped) {
        yk_fail(m->context, YK_ERROR_CAPABILITY, "cannot be initialized again: start a new run");
        return give_up(m, YK_ERROR_CAPABILITY);
    }

    /* The start may be repeated with other wrenches until the first step. */
    keep_wrenches(m, inputs, 0);
    if (m->met)
        return YK_OK;

    /* The motion at t0. Until MBDyn predicts, the next one follows at constant velocities. */
    unsigned char expected = DATA_AND_GO;
    if (m->def.coupling == YK_MBDYN_COUPLING_TIGHT)
        expected = DATA;

    yk_status status = receive_motion(m, expected, m->motion);
    if (status != YK_OK)
        return status;

    m->met = true;
    move(m, m->motion, h, m->predicted);
    return YK_OK;
}

static yk_status mbdyn_iterate(yk_subsystem *self, double t, double h, const yk_input *inputs,
                               yk_iteration_report *report)
{
    (void)t;
    mbdyn *m = (mbdyn *)self;
    size_t bytes = (size_t)m->count * sizeof *m->motion;
    yk_status status = ensure_prediction(m);
    if (status != YK_OK)
        return status;

    /* The previous iterate is stored in place of the prediction; the first one is the prediction. */
    if (!m->iterated)
        memcpy(m->motion, m->predicted, bytes);
    memcpy(m->predicted, m->motion, bytes);
    m->iterated = true;

    /* Command 2: MBDyn repeats its step with these forces, and does not advance. */
    keep_wrenches(m, inputs, h);
    status = send_wrenches(m, DATA);
    if (status == YK_OK)
        status = receive_motion(m, DATA, m->motion);

    /* The change by the iteration, rotations as velocities over the step; MBDyn's own tolerance is
     * unknown. */
    double change = 0;
    double size = 0;
    for (int i = 0; i < m->count; i++) {
        const yk_motion *now = &m->motion[i];
        const yk_motion *before = &m->predicted[i];
        yk_vec3 velocity = yk_v3_sub(now->velocity, before->velocity);
        yk_vec3 spin = yk_v3_sub(now->angular_velocity, before->angular_velocity);

        change = fmax(change, yk_v3_norm(velocity));
        change = fmax(change, h * yk_v3_norm(spin));
        size = fmax(size, yk_v3_norm(now->velocity));
        size = fmax(size, h * yk_v3_norm(now->angular_velocity));
    }

    /* Relative to the fastest node; at rest only the last term remains. */
    const double tolerance = 1e-6;
    report->correction = change / (tolerance * size + 1e-12);
    report->converged = report->correction <= 1;
    return status;
}

static yk_status mbdyn_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    mbdyn *m = (mbdyn *)self;
    bool first = !m->stepped;
    yk_status status = YK_OK;
    switch (m->def.coupling) {
    case YK_MBDYN_COUPLING_STAGGERED:
        /* The motion at t0 arrives twice, and requests forces twice. */
        m->stepped = true;
        keep_wrenches(m, inputs, h);

        for (int i = first ? 0 : 1; status == YK_OK && i < 2; i++) {
            status = send_wrenches(m, DATA);
            if (status == YK_OK)
                status = receive_motion(m, DATA_AND_GO, m->motion);
        }

        /* MBDyn sends no prediction with this coupling: constant velocities. */
        move(m, m->motion, h, m->predicted);
        return status;

    case YK_MBDYN_COUPLING_LOOSE:
        status = ensure_prediction(m);
        if (status != YK_OK)
            return status;

        /* The forces belong to the prediction; the motion is the start of the next one. */
        keep_wrenches(m, inputs, h);
        memcpy(m->motion, m->predicted, (size_t)m->count * sizeof *m->motion);
        status = send_wrenches(m, DATA_AND_GO);
        if (status == YK_OK)
            status = receive_motion(m, DATA_AND_GO, m->predicted);
        if (status == YK_OK && !m->ended)
            move(m, m->predicted, -h, m->motion);
        return status;

    /* One iteration at least, then the forces that close the step. */
    case YK_MBDYN_COUPLING_TIGHT: {
        yk_iteration_report report;
        if (!m->iterated)
            status = mbdyn_iterate(self, t, h, inputs, &report);
        if (status != YK_OK)
            return status;

        m->iterated = false;

        /* Command 6: MBDyn accepts the step, and answers with the prediction of the next. */
        keep_wrenches(m, inputs, h);
        status = send_wrenches(m, DATA_AND_GO);
        if (status == YK_OK)
            status = receive_motion(m, DATA, m->predicted);
        return status;
    }
    }

    return YK_ERROR_INTERNAL;
}

/* The wrench is the one that was sent, because MBDyn does not return it. */
static void mbdyn_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const mbdyn *m = (const mbdyn *)self;
    *value = (yk_port_value){.motion = m->motion[port], .wrench = m->wrenches[port]};
}

/* MBDyn's own prediction, if it sends one. */
static void mbdyn_predict(const yk_subsystem *self, int port, double h, yk_motion *motion)
{
    mbdyn *m = (mbdyn *)(uintptr_t)self;
    (void)h;
    ensure_prediction(m); /* a failure is reported by the next step */
    *motion = m->predicted[port];
}

static const char *mbdyn_message(const yk_subsystem *self)
{
    return ((const mbdyn *)self)->message;
}

static void mbdyn_destroy(yk_subsystem *self)
{
    mbdyn *m = (mbdyn *)self;
    if (m->transport) {
        /* MBDyn ends after its step, if it still runs. */
        unsigned char command = ABORT;
        if (!m->ended && !m->broken)
            m->transport->ops->send(m->transport, &command, 1, NULL, 0, yk_clock_seconds() + 1);
        m->transport->ops->close(m->transport);
    }

    for (int i = 0; m->ports && i < m->count; i++)
        yk_free(m->context, (void *)(uintptr_t)m->ports[i].name);
    void *blocks[] = {m->ports, m->numbers, m->motion, m->predicted, m->wrenches, m};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(m->context, blocks[i]);
}

static const yk_iteration_ops iteration_ops = {sizeof(yk_iteration_ops), mbdyn_iterate};

/* Creation ------------------------------------------------------------------------------------- */

yk_mbdyn_def yk_mbdyn_default(void)
{
    return (yk_mbdyn_def){.timeout = 30};
}

/* Connects, or waits until MBDyn connects. */
static yk_status open_socket(mbdyn *m, int *fd)
{
    double deadline = yk_clock_seconds() + m->def.timeout;
    if (!m->def.mbdyn_connects)
        return yk_socket_connect(m->context, m->def.address, deadline, fd);

    int listening;
    yk_status status = yk_socket_listen(m->context, m->def.address, false, &listening);
    if (status != YK_OK)
        return status;

    /* One MBDyn for one subsystem: do not accept further connections. */
    status = yk_socket_accept(m->context, listening, deadline, fd);
    close(listening);
    yk_socket_remove(m->def.address);
    return status;
}

/* Both sides state the fields and the number of nodes; the connecting side speaks first. */
static yk_status negotiate(mbdyn *m)
{
    static const uint32_t rotations[] = {MATRIX, VECTOR, EULER123};
    uint32_t flags = NODAL | rotations[m->def.orientation];
    if (m->def.sends_accelerations)
        flags |= ACCELERATIONS;

    const uint32_t own[2] = {flags, (uint32_t)m->count};
    const yk_transport_ops *ops = m->transport->ops;
    double deadline = yk_clock_seconds() + m->def.timeout;
    unsigned char command = NEGOTIATION;

    yk_status status;

    /* If MBDyn listens, it compares them, and agrees or not. */
    if (!m->def.mbdyn_connects) {
        status = ops->send(m->transport, &command, 1, own, sizeof own, deadline);
        if (status == YK_OK)
            status = ops->receive(m->transport, &command, 1, deadline);
        if (status != YK_OK)
            return give_up(m, status);
        if (command == AGREED)
            return YK_OK;

        yk_fail(m->context, YK_ERROR_EXTERNAL,
                "does not agree to %d nodes with %saccelerations and this kind of orientation: "
                "compare with the force in its input file",
                m->count, m->def.sends_accelerations ? "" : "no ");
        return give_up(m, YK_ERROR_EXTERNAL);
    }

    /* If MBDyn connects, it states its fields, and agrees. */
    uint32_t theirs[2] = {0, 0};
    unsigned char agreed = 0;

    status = ops->receive(m->transport, &command, 1, deadline);
    if (status == YK_OK)
        status = ops->receive(m->transport, theirs, sizeof theirs, deadline);
    if (status == YK_OK)
        status = ops->receive(m->transport, &agreed, 1, deadline);
    if (status != YK_OK)
        return give_up(m, status);

    if (command == NEGOTIATION && agreed == AGREED && theirs[0] == own[0] && theirs[1] == own[1])
        return YK_OK;

    yk_fail(m->context, YK_ERROR_EXTERNAL,
            "offers %u nodes with flags 0x%x, and %d with 0x%x were expected: compare with the "
            "force in its input file",
            theirs[1], theirs[0], m->count, own[0]);
    return give_up(m, YK_ERROR_EXTERNAL);
}

yk_status yk_mbdyn_create(yk_context *context, const yk_mbdyn_def *def, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    if (!def->address || !(def->timeout > 0) || def->node_count < 1 || def->node_count > NODES_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a model in MBDyn needs an address, a deadline above 0 s and 1 to %d nodes",
                       NODES_MAX);

    mbdyn *m = yk_allocate(context, 1, sizeof *m);
    if (!m)
        return YK_ERROR_MEMORY;

    m->context = context;
    m->def = *def;
    snprintf(m->name, sizeof m->name, "MBDyn at %.200s", def->address);

    m->ops = (yk_subsystem_ops){
        .size = sizeof(yk_subsystem_ops),
        .kind = "mbdyn",
        .ports = mbdyn_ports,
        .connect = mbdyn_connect,
        .initialize = mbdyn_start,
        .step = mbdyn_step,
        .get_port_value = mbdyn_output,
        .destroy = mbdyn_destroy,
        .last_message = mbdyn_message,
        .predict = mbdyn_predict,
    };

    /* Only tight coupling lets a step be repeated before it is accepted. */
    if (def->coupling == YK_MBDYN_COUPLING_TIGHT)
        m->ops.iteration = &iteration_ops;
    m->base.ops = &m->ops;

    /* A message has 24 numbers of a node at most: all fields, with a matrix. */
    size_t n = (size_t)def->node_count;
    m->ports = yk_allocate(context, n, sizeof *m->ports);
    m->numbers = yk_allocate(context, 24 * n, sizeof *m->numbers);
    m->motion = yk_allocate(context, n, sizeof *m->motion);
    m->predicted = yk_allocate(context, n, sizeof *m->predicted);
    m->wrenches = yk_allocate(context, n, sizeof *m->wrenches);

    yk_status status = YK_OK;
    if (!m->ports || !m->numbers || !m->motion || !m->predicted || !m->wrenches)
        status = YK_ERROR_MEMORY;

    /* External structural forces act on nodes: MBDyn has no other causality there. */
    for (int i = 0; status == YK_OK && i < def->node_count; i++) {
        char *name = yk_text_copy(context, def->nodes[i]);
        m->ports[i] = (yk_port){name, YK_PORT_MARKER, YK_CAUSALITY_WRENCH_INPUT};
        m->motion[i].orientation.w = 1;
        m->count++;
        if (!name)
            status = YK_ERROR_MEMORY;
    }

    /* Connecting is repeated, and listening waits, until the deadline. */
    int fd = -1;
    if (status == YK_OK)
        status = open_socket(m, &fd);

    if (status == YK_OK) {
        m->transport = yk_socket_transport(context, fd);
        status = YK_ERROR_MEMORY;
        if (m->transport)
            status = negotiate(m);
    }

    if (status != YK_OK) {
        if (fd >= 0 && !m->transport)
            close(fd);
        mbdyn_destroy(&m->base);
        return status;
    }

    *subsystem = &m->base;
    return YK_OK;
}
