/* The other end of a remote subsystem: listens, and serves each client in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/frame.h"
#include "yoke/remote.h"

/* Largest number of processes: for all clients, and for those that have not completed the
 * handshake. */
enum { CLIENTS_MAX = 256, UNKNOWN_CLIENTS_MAX = 16 };

/* Time for a client to complete the handshake (s). */
static const double MEETING_SECONDS = 10;

/* A part of a merged subsystem: its sizes, and its words as last sent. */
typedef struct known_part {
    size_t words, unknowns;
    double *sent;
} known_part;

/* One client. */
struct yk_session {
    yk_context *context;
    const yk_server_def *def;
    yk_transport *transport;
    int socket;
    int known; /* pipe to the server: receives a byte after the handshake; -1: none */
    double meeting_deadline;
    yk_body in, out;

    yk_subsystem *subsystem;
    const yk_subsystem_ops *ops;
    const yk_port *ports;
    int port_count;
    yk_causality *causalities;
    yk_input *inputs;
    double t, h; /* of the request */
    double end;  /* present time of the state */
    bool started;
    double *numbers; /* as many as in the largest answer so far */
    size_t number_count;
    double *mark;       /* saved state for rollback; NULL: there is none */
    bool states_unused; /* the client does not use state images */
    known_part *parts;  /* parts that were described to the client */
    int part_count;
    double *image; /* last image received with a relaxation */
    double seconds;
    const char *failure; /* reason why a subsystem could not be created */
};

/* Answers -------------------------------------------------------------------------------------- */

/* Begins an answer with the outcome of a call; false: a failure, which is the whole answer. */
static bool begin(yk_session *s, yk_status status, const char *message)
{
    s->out.length = 0;
    s->out.failed = false;

    yk_put_whole(&s->out, (uint32_t)status);
    yk_put_text(&s->out, status == YK_OK ? "" : message);
    return !YK_FAILED(status);
}

/* The same, with the message of the subsystem. */
static bool begin_with(yk_session *s, yk_status status)
{
    const char *message = yk_status_text(status);
    if (status != YK_OK && s->ops->last_message)
        message = s->ops->last_message(s->subsystem);
    return begin(s, status, message);
}

/* The request does not fit its kind, or comes at a wrong time. */
static void refuse(yk_session *s, const char *why)
{
    begin(s, YK_ERROR_EXTERNAL, why);
}

static double *take_numbers(yk_session *s, size_t count)
{
    /* Grows to the size of the largest answer. */
    if (count > s->number_count) {
        double *grown = yk_reallocate(s->context, s->numbers, count, sizeof *grown);
        if (!grown)
            return NULL;

        s->numbers = grown;
        s->number_count = count;
    }

    return s->numbers;
}

/* Data that a client needs after each change of the state: outputs, energies, the next event and,
 * if `h` > 0, predictions for a step of that size. Remote subsystems store them, so that a step is
 * one request. */
static void put_state(yk_session *s, double h)
{
    const yk_subsystem_ops *ops = s->ops;

    /* All outputs, because the server does not know which ones a scheme reads. */
    yk_body *out = &s->out;
    for (int i = 0; i < s->port_count; i++) {
        yk_port_value value = {0};
        ops->get_port_value(s->subsystem, i, &value);
        yk_put_numbers(out, &value.motion.position.x, sizeof value / sizeof(double));
    }

    /* NaN remains if a subsystem does not count the work of its ports. */
    if (ops->energy) {
        yk_energy energy = {.port_work = NAN};
        ops->energy->read(s->subsystem, &energy);
        yk_put_numbers(out, &energy.kinetic, sizeof energy / sizeof(double));
    }

    /* With the time to which it refers, because the client may ask for another time. */
    if (ops->events) {
        yk_put_number(out, s->end);
        yk_put_number(out, ops->events->next_time(s->subsystem, s->end));
    }

    /* Schemes usually predict with the size of the last step. */
    bool predicts = h > 0 && ops->predict;
    yk_put_whole(out, predicts);
    if (!predicts)
        return;

    /* Only wrench ports are predicted; the frame contains numbers for all of them. */
    yk_put_number(out, h);
    for (int i = 0; i < s->port_count; i++) {
        yk_motion motion = {.orientation = {1, 0, 0, 0}};
        if (s->causalities[i] == YK_CAUSALITY_WRENCH_INPUT)
            ops->predict(s->subsystem, i, h, &motion);
        yk_put_numbers(out, &motion.position.x, sizeof motion / sizeof(double));
    }
}

/* Questions ------------------------------------------------------------------------------------ */

/* t, h and inputs, which may be missing. */
static const yk_input *get_step(yk_session *s)
{
    s->t = yk_get_number(&s->in);
    s->h = yk_get_number(&s->in);
    if (yk_get_whole(&s->in) == 0)
        return NULL;

    for (int i = 0; i < s->port_count; i++)
        yk_get_input(&s->in, &s->inputs[i]);
    return s->inputs;
}

/* Sizes of the wrench ports, as counted by the client. */
static size_t count_wrench_rows(const yk_session *s, size_t marker, size_t scalar)
{
    return yk_wrench_rows(s->ports, s->causalities, s->port_count, marker, scalar);
}

static void answer_describe(yk_session *s)
{
    /* Its capabilities, group by group of the contract; the bits are part of the protocol. */
    const yk_subsystem_ops *ops = s->ops;
    const struct {
        bool is_there;
        uint32_t bit;
    } groups[] = {
        {ops->predict, YK_CAN_PREDICT},
        {ops->move_port, YK_CAN_MOVE_PORTS},
        {ops->rollback, YK_CAN_ROLL_BACK},
        {ops->iteration, YK_CAN_ITERATE},
        {ops->sensitivity, YK_CAN_DIFFERENTIATE},
        {ops->interface_model, YK_CAN_REDUCE},
        {ops->step_model, YK_CAN_MODEL_STEP},
        {ops->events, YK_CAN_ANNOUNCE_EVENTS},
        {ops->energy, YK_CAN_COUNT_ENERGY},
        {ops->channels, YK_CAN_BE_RECORDED},
        {ops->scene, YK_CAN_BE_SEEN},
        {ops->contact_points, YK_CAN_SHOW_CONTACTS},
        {ops->relaxed && ops->rollback, YK_CAN_RELAX},
        {ops->channels, YK_CAN_CHOOSE_CHANNELS},
        {ops->expect_states && ops->rollback, YK_CAN_EXPECT_STATES},
        {ops->port_unit, YK_CAN_NAME_UNITS},
        {true, YK_CAN_WORK_AHEAD},
    };

    uint32_t capabilities = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (groups[i].is_there)
            capabilities |= groups[i].bit;

    /* The contract's default: a step uses one value of an input, or its mean. */
    uint32_t degree = 0;
    if (ops->max_input_degree)
        degree = (uint32_t)ops->max_input_degree(s->subsystem);

    /* The order is that of docs/protocol.md. */
    yk_body *out = &s->out;
    begin(s, YK_OK, "");
    yk_put_text(out, ops->kind);
    yk_put_whole(out, capabilities);
    yk_put_whole(out, degree);

    yk_put_whole(out, (uint32_t)s->port_count);
    for (int i = 0; i < s->port_count; i++) {
        yk_put_text(out, s->ports[i].name);
        yk_put_whole(out, (uint32_t)s->ports[i].kind);
        yk_put_whole(out, s->ports[i].allowed_causalities);
    }

    /* Channels with their units, so that records look as if the subsystem were in the same process. */
    const yk_channel *channels = NULL;
    int count = 0;
    if (ops->channels)
        count = ops->channels->list(s->subsystem, &channels);
    yk_put_whole(out, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        yk_put_text(out, channels[i].name);
        yk_put_text(out, channels[i].unit);
        yk_put_whole(out, (uint32_t)channels[i].component_count);
    }
}

static void answer_connect(yk_session *s)
{
    uint32_t port = yk_get_whole(&s->in);
    uint32_t causality = yk_get_whole(&s->in);
    uint32_t constrained = yk_get_whole(&s->in);

    /* A port may be connected once, and only as it allows. */
    if (!yk_body_is_done(&s->in) || port >= (uint32_t)s->port_count ||
        !(s->ports[port].allowed_causalities & causality) ||
        s->causalities[port] != YK_CAUSALITY_NONE) {
        refuse(s, "there is no such port, or it cannot be connected like this");
        return;
    }

    /* Both sides derive the rows of matrices from the connections. */
    yk_status status =
        s->ops->connect(s->subsystem, (int)port, (yk_causality)causality, constrained);
    if (!YK_FAILED(status))
        s->causalities[port] = (yk_causality)causality;
    begin_with(s, status);
}

static void answer_move_port(yk_session *s)
{
    /* The request contains both, whether or not they were given. */
    yk_vec3 position;
    yk_quat orientation;
    uint32_t port = yk_get_whole(&s->in);
    uint32_t given = yk_get_whole(&s->in);
    yk_get_numbers(&s->in, &position.x, 3);
    yk_get_numbers(&s->in, &orientation.w, 4);

    if (!yk_body_is_done(&s->in) || port >= (uint32_t)s->port_count || !s->ops->move_port) {
        refuse(s, "there is no such port, or it cannot be moved");
        return;
    }

    /* Bit 0: the position was given; bit 1: the orientation. */
    const yk_vec3 *new_position = NULL;
    const yk_quat *new_orientation = NULL;
    if (given & 1)
        new_position = &position;
    if (given & 2)
        new_orientation = &orientation;

    begin_with(s, s->ops->move_port(s->subsystem, (int)port, new_position, new_orientation));
}

/* The client allocates state images with this. No words: there are no images, or they are not used. */
static void put_layout(yk_session *s)
{
    yk_state_layout layout = {0};
    if (s->ops->rollback && s->started && !s->states_unused)
        layout = s->ops->rollback->layout(s->subsystem);
    yk_put_whole(&s->out, (uint32_t)layout.word_count);
    yk_put_whole(&s->out, (uint32_t)layout.continuous_count);
}

static void answer_start(yk_session *s)
{
    const yk_input *inputs = get_step(s);
    if (!yk_body_is_done(&s->in)) {
        refuse(s, "the inputs do not fit the ports");
        return;
    }

    /* Inputs may be missing at the start. */
    yk_status status = s->ops->initialize(s->subsystem, s->t, s->h, inputs);
    if (!begin_with(s, status))
        return;

    /* From here on the table of requests allows those of a running subsystem. */
    s->started = true;
    s->end = s->t;

    put_layout(s);
    put_state(s, s->h);
}

static void answer_port_unit(yk_session *s)
{
    uint32_t port = yk_get_whole(&s->in);
    uint32_t offset = yk_get_whole(&s->in);
    bool known = port < (uint32_t)s->port_count && offset < sizeof(yk_port_value) / sizeof(double);
    if (!yk_body_is_done(&s->in) || !s->ops->port_unit || !known) {
        refuse(s, "there is no such number of a port");
        return;
    }

    const char *unit = s->ops->port_unit(s->subsystem, (int)port, (int)offset);
    begin(s, YK_OK, "");
    yk_put_text(&s->out, unit ? unit : "");
}

/* Whether the client will use state images; their layout, if the subsystem has been initialized. */
static void answer_state_use(yk_session *s)
{
    uint32_t use = yk_get_whole(&s->in);
    if (!yk_body_is_done(&s->in) || !s->ops->expect_states || use > YK_STATES_RESTORED) {
        refuse(s, "the use of states is unknown, or the subsystem does not ask for it");
        return;
    }

    s->states_unused = use == YK_STATES_UNUSED;
    s->ops->expect_states(s->subsystem, (yk_state_use)use);
    begin(s, YK_OK, "");
    put_layout(s);
}

static void answer_step(yk_session *s)
{
    const yk_input *inputs = get_step(s);
    if (!yk_body_is_done(&s->in) || !inputs) {
        refuse(s, "the inputs do not fit the ports");
        return;
    }

    /* A failure is the answer; the client rolls back, or ends the run. */
    yk_status status = s->ops->step(s->subsystem, s->t, s->h, inputs);
    if (!begin_with(s, status))
        return;

    /* Events are requested from here on. */
    s->end = s->t + s->h;
    put_state(s, s->h);
}

/* Several steps, each with its outcome and state. After a failure the answer contains only the
 * failure. */
static void answer_steps(yk_session *s)
{
    /* Several steps in one message, for macro steps with substeps. */
    uint32_t count = yk_get_whole(&s->in);
    begin(s, YK_OK, "");

    for (uint32_t i = 0; i < count; i++) {
        const yk_input *inputs = get_step(s);
        if (s->in.failed || !inputs) {
            refuse(s, "the inputs do not fit the ports");
            return;
        }

        /* A failed step is the whole answer, because the client does not need the previous ones. */
        yk_status status = s->ops->step(s->subsystem, s->t, s->h, inputs);
        if (YK_FAILED(status)) {
            begin_with(s, status);
            return;
        }

        /* Like the beginning of an answer. */
        const char *message = "";
        if (status != YK_OK && s->ops->last_message)
            message = s->ops->last_message(s->subsystem);
        yk_put_whole(&s->out, (uint32_t)status);
        yk_put_text(&s->out, message);

        s->end = s->t + s->h;
        put_state(s, s->h);
    }

    if (!yk_body_is_done(&s->in))
        refuse(s, "there are more inputs than steps");
}

static void answer_iterate(yk_session *s)
{
    const yk_input *inputs = get_step(s);
    if (!yk_body_is_done(&s->in) || !inputs || !s->ops->iteration) {
        refuse(s, "the inputs do not fit the ports, or it cannot iterate");
        return;
    }

    yk_iteration_report report = {0};
    yk_status status = s->ops->iteration->iterate(s->subsystem, s->t, s->h, inputs, &report);
    if (!begin_with(s, status))
        return;

    yk_put_number(&s->out, report.correction);
    yk_put_whole(&s->out, (uint32_t)report.converged);

    /* A trial is open: there is no next step to predict. */
    put_state(s, 0);
}

static void answer_sensitivity(yk_session *s)
{
    const yk_input *inputs = get_step(s);
    uint32_t degree = yk_get_whole(&s->in);
    if (!yk_body_is_done(&s->in) || !inputs || degree > YK_INPUT_DEGREE_MAX ||
        !s->ops->sensitivity) {
        refuse(s, "the inputs do not fit the ports, or it has no derivatives");
        return;
    }

    /* Position, velocity and acceleration of each port by each coefficient of the inputs. */
    size_t columns = count_wrench_rows(s, 6, 1) * (degree + 1);
    size_t count = count_wrench_rows(s, 18, 3) * columns;
    double *matrix = take_numbers(s, count + 1);

    /* A normal step, with derivatives. */
    yk_status status = YK_ERROR_MEMORY;
    if (matrix)
        status = s->ops->sensitivity->step_with_sensitivity(s->subsystem, s->t, s->h, inputs,
                                                            (int)degree, matrix);
    if (!begin_with(s, status))
        return;

    /* The derivatives belong to a step, after which the state is that at its end. */
    s->end = s->t + s->h;
    yk_put_numbers(&s->out, matrix, count);
    put_state(s, s->h);
}

static void answer_interface_model(yk_session *s)
{
    const yk_input *inputs = get_step(s);
    size_t n = yk_get_whole(&s->in);
    if (!yk_body_is_done(&s->in) || n != count_wrench_rows(s, 6, 1) || !s->ops->interface_model) {
        refuse(s, "the size does not fit the ports, or it has no interface model");
        return;
    }

    /* One block for the matrix and the vector, in the order in which they are sent. */
    double *numbers = take_numbers(s, n * n + n + 1);
    if (!numbers) {
        begin(s, YK_ERROR_MEMORY, "out of memory");
        return;
    }

    yk_interface_model model = {
        .row_count = (int)n, .inverse_mass = numbers, .free_acceleration = numbers + n * n};
    yk_status status = s->ops->interface_model->evaluate(s->subsystem, s->t, s->h, inputs, &model);
    if (!begin_with(s, status))
        return;

    yk_put_numbers(&s->out, numbers, n * n + n);
    yk_put_number(&s->out, model.theta);
}

static void answer_step_model(yk_session *s)
{
    const yk_input *inputs = get_step(s);
    size_t n = yk_get_whole(&s->in);
    uint32_t steps = yk_get_whole(&s->in);

    if (!yk_body_is_done(&s->in) || n != count_wrench_rows(s, 6, 1) || steps > 1000000 ||
        !s->ops->step_model) {
        refuse(s, "the size does not fit the ports, or it has no step model");
        return;
    }

    /* One block for both vectors and the matrix, in the order in which they are sent. */
    double *numbers = take_numbers(s, n * n + 2 * n + 1);
    if (!numbers) {
        begin(s, YK_ERROR_MEMORY, "out of memory");
        return;
    }

    yk_step_model model = {.row_count = (int)n, .substep_count = (int)steps};
    model.velocity = numbers;
    model.displacement = numbers + n;
    model.mobility = numbers + 2 * n;
    yk_status status = s->ops->step_model->evaluate(s->subsystem, s->t, s->h, inputs, &model);
    if (!begin_with(s, status))
        return;

    /* The rest are single numbers for interfaces with a wrench on both sides. */
    yk_put_numbers(&s->out, numbers, n * n + 2 * n);
    yk_put_number(&s->out, model.theta);
    yk_put_number(&s->out, model.wrench_point);
    yk_put_numbers(&s->out, model.wrench_weights, 3);
    yk_put_number(&s->out, model.memory_factor);
}

static void answer_state_get(yk_session *s)
{
    const yk_rollback_ops *rollback = s->ops->rollback;
    size_t words = 0;
    if (rollback)
        words = rollback->layout(s->subsystem).word_count;

    double *image = take_numbers(s, words + 1);
    if (!rollback || !image) {
        refuse(s, "it has no state image");
        return;
    }

    rollback->get(s->subsystem, image);
    begin(s, YK_OK, "");
    yk_put_numbers(&s->out, image, words);
}

static void answer_state_set(yk_session *s)
{
    const yk_rollback_ops *rollback = s->ops->rollback;
    size_t words = 0;
    if (rollback)
        words = rollback->layout(s->subsystem).word_count;

    /* Read the whole image before setting any of it, because a partial image is invalid. */
    double *image = take_numbers(s, words + 1);

    if (image)
        yk_get_numbers(&s->in, image, words);

    if (!rollback || !image || !yk_body_is_done(&s->in)) {
        refuse(s, "it has no state image, or one of another size");
        return;
    }

    /* An image replaces everything: predictions and stored data are read again. */
    yk_status status = rollback->set(s->subsystem, image);
    if (begin_with(s, status))
        put_state(s, s->h);
}

/* The state stays on the server: a client that repeats a step needs no image. */
static void answer_mark(yk_session *s)
{
    /* Memory is allocated at the first request, because most clients save no state. */
    const yk_rollback_ops *rollback = s->ops->rollback;
    if (rollback && !s->mark) {
        size_t words = rollback->layout(s->subsystem).word_count;
        s->mark = yk_allocate(s->context, words + 1, sizeof *s->mark);
    }

    if (!rollback || !s->mark) {
        refuse(s, "it has no state image");
        return;
    }

    rollback->get(s->subsystem, s->mark);
    begin(s, YK_OK, "");
}

static void answer_rewind(yk_session *s)
{
    if (!s->mark) {
        refuse(s, "no state was kept");
        return;
    }

    /* The saved state remains: a step may be repeated from it any number of times. */
    yk_status status = s->ops->rollback->set(s->subsystem, s->mark);
    if (begin_with(s, status))
        put_state(s, s->h);
}

/* Data that are not in the first description: NaN if the subsystem does not report them. */
static void answer_about(yk_session *s)
{
    double rho_inf = NAN;
    if (s->ops->rho_inf)
        rho_inf = s->ops->rho_inf(s->subsystem);

    /* Whether an image is valid outside of this process, which is known after the start. */
    bool local = s->started && s->ops->is_state_process_local &&
                 s->ops->is_state_process_local(s->subsystem);
    begin(s, YK_OK, "");
    yk_put_number(&s->out, rho_inf);
    yk_put_whole(&s->out, local);

    /* Counters are transferred as bytes; only the subsystem knows their meaning. */
    void *counts = NULL;
    size_t bytes = 0;
    if (s->ops->counters)
        bytes = s->ops->counters(s->subsystem, &counts);
    yk_put_whole(&s->out, (uint32_t)bytes);
    yk_put_bytes(&s->out, counts, bytes);
}

/* Counters of a resumed run. */
static void answer_counts(yk_session *s)
{
    void *counts = NULL;
    size_t bytes = 0;
    if (s->ops->counters)
        bytes = s->ops->counters(s->subsystem, &counts);

    /* They overwrite the subsystem's own, so their number must be equal. */
    if (yk_get_whole(&s->in) != bytes || s->in.length - s->in.at != bytes) {
        refuse(s, "it counts something else");
        return;
    }

    /* They are memory of the subsystem. */
    yk_get_bytes(&s->in, counts, bytes);
    begin(s, YK_OK, "");
}

static void put_name(yk_body *body, const char *name)
{
    yk_put_whole(body, name != NULL);
    if (name)
        yk_put_text(body, name);
}

static void answer_scene(yk_session *s)
{
    const yk_scene_ops *scene = s->ops->scene;
    if (!scene) {
        refuse(s, "it has no scene");
        return;
    }

    /* Bodies and shapes, as in the contract. */
    int body_count = scene->bodies(s->subsystem, NULL, 0);
    int shape_count = scene->shapes(s->subsystem, NULL, 0);
    yk_scene_body *bodies = yk_allocate(s->context, (size_t)body_count + 1, sizeof *bodies);
    yk_shape *shapes = yk_allocate(s->context, (size_t)shape_count + 1, sizeof *shapes);
    if (!bodies || !shapes) {
        yk_free(s->context, bodies);
        yk_free(s->context, shapes);
        begin(s, YK_ERROR_MEMORY, "out of memory");
        return;
    }

    scene->bodies(s->subsystem, bodies, body_count);
    scene->shapes(s->subsystem, shapes, shape_count);

    /* In the order of docs/protocol.md; points follow the shape to which they belong. */
    begin(s, YK_OK, "");
    yk_body *out = &s->out;
    yk_vec3 gravity = scene->gravity(s->subsystem);
    yk_put_numbers(out, &gravity.x, 3);
    yk_put_whole(out, (uint32_t)body_count);
    for (int i = 0; i < body_count; i++) {
        put_name(out, bodies[i].name);
        yk_put_whole(out, (uint32_t)bodies[i].motion);
        yk_put_whole(out, (uint32_t)bodies[i].part_index);
        yk_put_whole(out, (uint32_t)bodies[i].has_strain);
    }

    yk_put_whole(out, (uint32_t)shape_count);
    for (int i = 0; i < shape_count; i++) {
        const yk_shape *one = &shapes[i];
        yk_put_whole(out, (uint32_t)one->kind);
        put_name(out, one->name);
        yk_put_whole(out, (uint32_t)one->body);
        yk_put_whole(out, (uint32_t)one->end_body);
        yk_put_whole(out, one->open_walls);
        yk_put_numbers(out, &one->position.x, 3);
        yk_put_numbers(out, &one->orientation.w, 4);
        yk_put_numbers(out, &one->size.x, 3);
        yk_put_whole(out, (uint32_t)one->point_count);
        yk_put_bytes(out, one->points, (size_t)one->point_count * sizeof *one->points);
    }

    yk_free(s->context, bodies);
    yk_free(s->context, shapes);
}

static void answer_poses(yk_session *s)
{
    const yk_scene_ops *scene = s->ops->scene;
    size_t count = 0;
    if (scene)
        count = (size_t)scene->bodies(s->subsystem, NULL, 0);

    size_t words = count * sizeof(yk_scene_pose) / sizeof(double);
    double *numbers = take_numbers(s, words + 1);
    if (!scene || !numbers) {
        refuse(s, "it has no scene");
        return;
    }

    /* Cleared, so that nothing of an earlier answer is sent if a pose is not written. */
    memset(numbers, 0, words * sizeof *numbers);
    scene->poses(s->subsystem, (yk_scene_pose *)numbers);
    begin(s, YK_OK, "");
    yk_put_numbers(&s->out, numbers, words);
}

static void answer_contact_points(yk_session *s)
{
    uint32_t capacity = yk_get_whole(&s->in);
    const yk_contact_point_ops *ops = s->ops->contact_points;
    size_t words = (size_t)capacity * sizeof(yk_contact_point) / sizeof(double);

    /* The client requests a number: memory is allocated only below a limit. */
    double *numbers = NULL;
    if (ops && yk_body_is_done(&s->in) && capacity <= YK_SCENE_MAX)
        numbers = take_numbers(s, words + 1);
    if (!numbers) {
        refuse(s, "it has no contact points, or too many are asked for");
        return;
    }

    /* With a capacity of 0 the subsystem returns the largest possible number. */
    int count = ops->list(s->subsystem, (yk_contact_point *)numbers, (int)capacity);
    begin(s, YK_OK, "");
    yk_put_whole(&s->out, (uint32_t)count);
    if (capacity > 0)
        yk_put_numbers(&s->out, numbers, (size_t)count * sizeof(yk_contact_point) / sizeof(double));
}

static void answer_predict(yk_session *s)
{
    uint32_t port = yk_get_whole(&s->in);
    double h = yk_get_number(&s->in);
    if (!yk_body_is_done(&s->in) || port >= (uint32_t)s->port_count || !s->ops->predict) {
        refuse(s, "there is no such port, or nothing is predicted");
        return;
    }

    /* Ports that cannot be predicted keep the identity. */
    yk_motion motion = {.orientation = {1, 0, 0, 0}};
    s->ops->predict(s->subsystem, (int)port, h, &motion);
    begin(s, YK_OK, "");
    yk_put_numbers(&s->out, &motion.position.x, sizeof motion / sizeof(double));
}

static void answer_next_event(yk_session *s)
{
    double t = yk_get_number(&s->in);
    if (!yk_body_is_done(&s->in) || !s->ops->events) {
        refuse(s, "it announces no events");
        return;
    }

    begin(s, YK_OK, "");
    yk_put_number(&s->out, s->ops->events->next_time(s->subsystem, t));
}

/* The numbers of one channel; false: memory is missing. */
static bool put_channel(yk_session *s, const yk_channel *list, int channel)
{
    size_t components = (size_t)list[channel].component_count;
    double *values = take_numbers(s, components);
    if (!values) {
        begin(s, YK_ERROR_MEMORY, "out of memory");
        return false;
    }

    /* Cleared, so that nothing of an earlier answer is sent. */
    memset(values, 0, components * sizeof *values);
    s->ops->channels->read(s->subsystem, channel, values);
    yk_put_numbers(&s->out, values, components);
    return true;
}

static void answer_channels(yk_session *s)
{
    if (!s->ops->channels) {
        refuse(s, "it has no channels");
        return;
    }

    /* All of them in one answer: one request per sample. */
    const yk_channel *channels;
    int count = s->ops->channels->list(s->subsystem, &channels);
    begin(s, YK_OK, "");
    for (int i = 0; i < count; i++)
        if (!put_channel(s, channels, i))
            return;
}

/* Channels that a client names, in its order. */
static void answer_some_channels(yk_session *s)
{
    const yk_channel *channels = NULL;
    uint32_t known = 0;
    if (s->ops->channels)
        known = (uint32_t)s->ops->channels->list(s->subsystem, &channels);

    uint32_t count = yk_get_whole(&s->in);
    begin(s, YK_OK, "");

    /* A count that is too large reaches the end of the body, and stops there. */
    for (uint32_t i = 0; i < count && !s->in.failed; i++) {
        uint32_t channel = yk_get_whole(&s->in);
        if (channel >= known) {
            refuse(s, "there is no such channel");
            return;
        }

        if (!put_channel(s, channels, (int)channel))
            return;
    }

    if (!yk_body_is_done(&s->in))
        refuse(s, "the channels do not fit their number");
}

/* Sizes of a part, which the client requests for all parts before it relaxes any. */
static void answer_part_words(yk_session *s)
{
    uint32_t part = yk_get_whole(&s->in);
    if (!yk_body_is_done(&s->in) || !s->ops->relaxed || !s->ops->rollback ||
        part > (uint32_t)s->part_count || part >= YK_PARTS_MAX) {
        refuse(s, "there is no such part");
        return;
    }

    /* The subsystem allocates the memory for relaxing now, or gives the reason why its parts cannot
     * be relaxed. */
    size_t words = 0;
    size_t unknowns = 0;
    yk_status status = s->ops->relaxed->part_state_size(s->subsystem, (int)part, &words, &unknowns);
    if (!begin_with(s, status))
        return;

    yk_put_whole(&s->out, (uint32_t)words);
    yk_put_whole(&s->out, (uint32_t)unknowns);
    if (part < (uint32_t)s->part_count)
        return;

    /* One more part, without sent words. */
    known_part *grown =
        yk_reallocate(s->context, s->parts, (size_t)s->part_count + 1, sizeof *grown);
    if (grown)
        s->parts = grown;
    double *sent = yk_allocate(s->context, words + 1, sizeof *sent);
    if (!grown || !sent) {
        yk_free(s->context, sent);
        begin(s, YK_ERROR_MEMORY, "out of memory");
        return;
    }

    s->parts[s->part_count++] = (known_part){words, unknowns, sent};
}

/* A relaxation of one part, with the results of the others. */
static void answer_relax(yk_session *s)
{
    static const char MISFIT[] = "the inputs do not fit the ports, or there is no such part";
    const yk_input *inputs = get_step(s);
    uint32_t part = yk_get_whole(&s->in);
    bool anew = yk_get_whole(&s->in) != 0;
    if (s->in.failed || !inputs || part >= (uint32_t)s->part_count) {
        refuse(s, MISFIT);
        return;
    }

    /* The state at the start of the step, if it is not that of the open trial. */
    if (anew) {
        size_t words = s->ops->rollback->layout(s->subsystem).word_count;
        if (!s->image)
            s->image = yk_allocate(s->context, words + 1, sizeof *s->image);
        if (!s->image) {
            begin(s, YK_ERROR_MEMORY, "out of memory");
            return;
        }

        yk_get_changes(&s->in, s->image, words);
        if (s->in.failed) {
            refuse(s, MISFIT);
            return;
        }

        yk_status status = s->ops->rollback->set(s->subsystem, s->image);
        if (YK_FAILED(status)) {
            begin_with(s, status);
            return;
        }
    }

    /* Results of other parts: their unknowns; their other words are kept. */
    const yk_relaxed_ops *parts = s->ops->relaxed;
    uint32_t count = yk_get_whole(&s->in);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = yk_get_whole(&s->in);
        bool known = !s->in.failed && !anew && other < (uint32_t)s->part_count;
        double *words = NULL;
        if (known)
            words = take_numbers(s, s->parts[other].words + 1);
        if (!words) {
            refuse(s, MISFIT);
            return;
        }

        parts->get_part_state(s->subsystem, (int)other, words);
        yk_get_numbers(&s->in, words, s->parts[other].unknowns);
        parts->set_part_state(s->subsystem, (int)other, words);
    }

    if (!yk_body_is_done(&s->in)) {
        refuse(s, MISFIT);
        return;
    }

    /* The result of this part. */
    double change = 0;
    const known_part *own = &s->parts[part];
    double *words = take_numbers(s, own->words + 1);
    yk_status status = YK_ERROR_MEMORY;
    if (words)
        status = parts->relax_part(s->subsystem, (int)part, s->t, s->h, inputs, &change);
    if (!begin_with(s, status))
        return;

    /* Only words that have changed since they were last sent. */
    parts->get_part_state(s->subsystem, (int)part, words);
    yk_put_number(&s->out, change);
    yk_put_changes(&s->out, words, own->sent, own->words);
}

/* Times at which a request is allowed. */
typedef enum question_time { ASK_ANY, ASK_RUNNING } question_time;

typedef struct question {
    void (*answer)(yk_session *s);
    question_time time;
} question;

#define QUESTION(number, id, name, when) [YK_FRAME_##id] = {answer_##name, ASK_##when},
static const question questions[YK_FRAME_KIND_END] = {YK_QUESTION_FRAMES(QUESTION)};
#undef QUESTION

/* One client ----------------------------------------------------------------------------------- */

static double client_deadline(const yk_session *s)
{
    if (s->in.meeting)
        return s->meeting_deadline;
    if (s->def && s->def->client_timeout > 0)
        return yk_clock_seconds() + s->def->client_timeout;

    return INFINITY;
}

static yk_status reply(yk_session *s, uint16_t kind, uint64_t number)
{
    return yk_frame_send(s->transport, (yk_frame_kind)kind, number, &s->out, client_deadline(s));
}

static yk_status receive(yk_session *s, uint16_t *kind, uint64_t *number)
{
    yk_status status = yk_frame_receive(s->transport, kind, number, &s->in, client_deadline(s));

    /* Data after an invalid frame cannot be read: answer with the reason, and end. */
    if (status != YK_OK && s->in.failed) {
        char why[YK_PARTNER_MESSAGE];
        snprintf(why, sizeof why, "the client %.900s", yk_last_message(s->context));
        refuse(s, why);
        reply(s, YK_FRAME_HELLO, *number);
    }

    return status;
}

/* From here on the client may send larger frames, without a time limit. */
static void make_known(yk_session *s)
{
    s->in.meeting = false;
    if (s->known >= 0 && write(s->known, "k", 1) != 1)
        yk_log(s->context, YK_LOG_WARNING, "the server has ended before its client");
}

/* The handshake: hello, the proof of the secret, the subsystem, and the shared memory. Until it is
 * complete, frames are short, and the client has a few seconds for all of them. */
static yk_status meet(yk_session *s)
{
    const yk_server_def *def = s->def;
    s->in.meeting = true;
    s->meeting_deadline = yk_clock_seconds() + MEETING_SECONDS;
    uint16_t kind;
    uint64_t number;
    yk_status status = receive(s, &kind, &number);
    if (status != YK_OK)
        return status;

    /* Read the whole hello before checking it: missing bytes are read as zeros. */
    char magic[8];
    char name[256];
    unsigned char theirs[YK_NONCE];
    yk_get_bytes(&s->in, magic, sizeof magic);
    uint32_t version = yk_get_whole(&s->in);
    uint32_t flags = yk_get_whole(&s->in);
    yk_get_text(&s->in, name, sizeof name);
    yk_get_bytes(&s->in, theirs, sizeof theirs);

    /* The hello of another version may end differently: check its version first. */
    bool greeting = kind == YK_FRAME_HELLO && memcmp(magic, "YOKEWIRE", 8) == 0;
    if (greeting && version != YK_PROTOCOL_VERSION) {
        char why[100];
        snprintf(why, sizeof why, "this server speaks version %d of the protocol, the client %u",
                 YK_PROTOCOL_VERSION, version);

        refuse(s, why);
        reply(s, kind, number);
        return YK_ERROR_EXTERNAL;
    }

    if (!greeting || !yk_body_is_done(&s->in)) {
        refuse(s, "a connection begins with a hello");
        reply(s, YK_FRAME_HELLO, number);
        return YK_ERROR_EXTERNAL;
    }

    /* Without a secret, create the subsystem before the answer, which reports a failure. */
    bool local = (flags & 1) && strncmp(def->address, "unix:", 5) == 0;
    unsigned char own[YK_NONCE];
    randombytes_buf(own, sizeof own);

    status = YK_OK;
    if (!def->secret) {
        make_known(s);
        status = def->create(def->user, s->context, name, &s->subsystem);
    }

    if (begin(s, status, yk_last_message(s->context))) {
        /* Bit 0: a proof must follow; bit 1: memory can be shared. */
        uint32_t answer_flags = 0;
        if (def->secret)
            answer_flags |= 1;
        if (local)
            answer_flags |= 2;
        yk_put_whole(&s->out, answer_flags);
        yk_put_bytes(&s->out, own, sizeof own);
    }

    yk_status sent = reply(s, kind, number);
    if (YK_FAILED(status))
        return status;
    if (sent != YK_OK)
        return sent;

    /* With a secret, nothing is created before the client has proved that it knows it; then the
     * server proves the same. */
    if (def->secret) {
        status = receive(s, &kind, &number);
        if (status != YK_OK)
            return status;

        unsigned char proof[YK_PROOF];
        unsigned char expected[YK_PROOF];

        yk_get_bytes(&s->in, proof, sizeof proof);
        yk_proof(def->secret, "yoke client", own, theirs, expected);

        /* Compared in constant time, which does not reveal the length of a correct prefix. */
        bool good = kind == YK_FRAME_PROOF && yk_body_is_done(&s->in) &&
                    sodium_memcmp(proof, expected, sizeof proof) == 0;

        if (!good) {
            refuse(s, "the secret is not the server's");
        } else {
            make_known(s);
            status = def->create(def->user, s->context, name, &s->subsystem);
            if (begin(s, status, yk_last_message(s->context))) {
                yk_proof(def->secret, "yoke server", theirs, own, proof);
                yk_put_bytes(&s->out, proof, sizeof proof);
            }
        }

        sent = reply(s, YK_FRAME_PROOF, number);
        if (!good || YK_FAILED(status) || sent != YK_OK)
            return YK_ERROR_EXTERNAL;
    }

    /* The client sends the memory; from here on frames go through it, and the socket remains open
     * to show that the client is alive. */
    if (!local)
        return YK_OK;

    int memory = yk_receive_descriptor(
        s->socket, fmin(client_deadline(s), yk_clock_seconds() + MEETING_SECONDS));
    int beside = dup(s->socket);
    yk_transport *shared = NULL;
    if (memory >= 0 && beside >= 0)
        shared = yk_memory_transport(s->context, memory, beside, false);

    if (memory >= 0)
        close(memory);

    if (!shared) {
        if (beside >= 0)
            close(beside);
        return yk_fail(s->context, YK_ERROR_EXTERNAL, "the client shares no memory");
    }

    s->transport->ops->close(s->transport);
    s->transport = shared;
    return YK_OK;
}

/* The subsystem exists: describe its ports, and allocate their inputs. */
static yk_status attach(yk_session *s)
{
    s->ops = s->subsystem->ops;
    s->port_count = s->ops->ports(s->subsystem, &s->ports);

    size_t count = (size_t)s->port_count + 1;
    s->causalities = yk_allocate(s->context, count, sizeof *s->causalities);
    s->inputs = yk_allocate(s->context, count, sizeof *s->inputs);
    if (!s->causalities || !s->inputs)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

yk_status yk_session_answer(yk_session *s)
{
    uint16_t kind;
    uint64_t number;
    yk_status status = receive(s, &kind, &number);
    if (status != YK_OK)
        return status;

    /* Every request gets an answer, also an invalid one, because the client waits for it. */
    double begun = yk_clock_seconds();
    if (!s->subsystem)
        refuse(s, s->failure);
    else if (!questions[kind].answer)
        refuse(s, "this is no question at this point");
    else if (questions[kind].time == ASK_RUNNING && !s->started)
        refuse(s, "the subsystem has not been started");
    else
        questions[kind].answer(s);

    /* Computing time of a running subsystem, without the wait for the request. */
    if (questions[kind].time == ASK_RUNNING)
        s->seconds += yk_clock_seconds() - begun;

    return reply(s, kind, number);
}

static void release(yk_session *s)
{
    s->transport->ops->close(s->transport);
    for (int i = 0; i < s->part_count; i++)
        yk_free(s->context, s->parts[i].sent);

    void *blocks[] = {s->in.bytes, s->out.bytes, s->causalities, s->inputs,
                      s->numbers,  s->mark,      s->parts,       s->image};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(s->context, blocks[i]);
}

/* Serves one client. */
static void serve_client(yk_context *context, const yk_server_def *def, int socket, int known)
{
    yk_session s = {.context = context, .def = def, .socket = socket, .known = known};
    s.in.context = context;
    s.out.context = context;
    s.transport = yk_socket_transport(context, socket);

    if (!s.transport) {
        close(socket);
        return;
    }

    yk_status status = meet(&s);
    if (status == YK_OK)
        status = attach(&s);

    /* Until the client disconnects. */
    while (status == YK_OK)
        status = yk_session_answer(&s);

    release(&s);
}

void yk_serve_connected(yk_context *context, const yk_server_def *def, int socket)
{
    serve_client(context, def, socket, -1);
}

/* Sessions of their own ------------------------------------------------------------------------ */

yk_status yk_session_open(yk_context *context, yk_transport *transport, yk_subsystem *subsystem,
                          const char *failure, yk_session **session)
{
    *session = NULL;
    yk_session *s = yk_allocate(context, 1, sizeof *s);
    if (!s) {
        transport->ops->close(transport);
        return YK_ERROR_MEMORY;
    }

    s->context = context;
    s->transport = transport;
    s->subsystem = subsystem;
    s->failure = failure;
    s->known = -1;
    s->in.context = context;
    s->out.context = context;

    /* Without a subsystem every request is answered by the failure, and no ports are needed. */
    yk_status status = YK_OK;
    if (subsystem)
        status = attach(s);
    if (status != YK_OK) {
        yk_session_close(s);
        return status;
    }

    *session = s;
    return YK_OK;
}

double yk_session_seconds(const yk_session *s)
{
    return s->seconds;
}

void yk_session_close(yk_session *s)
{
    if (!s)
        return;

    release(s);
    yk_free(s->context, s);
}

/* Many clients --------------------------------------------------------------------------------- */

yk_server_def yk_server_default(void)
{
    return (yk_server_def){0};
}

/* A process that serves one client. */
typedef struct server_client {
    pid_t process;
    int pipe;   /* receives a byte after the handshake */
    bool known; /* the handshake is complete */
} server_client;

typedef struct server {
    yk_context *context;
    const yk_server_def *def;
    int listening;
    server_client clients[CLIENTS_MAX];
    int count;
    bool had_one; /* some client has completed the handshake */
} server;

static void forget_client(server *s, int index)
{
    server_client *client = &s->clients[index];
    close(client->pipe);
    if (!client->known)
        waitpid(client->process, NULL, 0);
    *client = s->clients[--s->count];
}

/* Updates which clients have completed the handshake, and which have disconnected. */
static void look_after_clients(server *s)
{
    for (int i = s->count - 1; i >= 0; i--) {
        server_client *client = &s->clients[i];
        char byte;
        if (!client->known && read(client->pipe, &byte, 1) == 1) {
            client->known = true;
            s->had_one = true;
        }

        /* Reap a process that has ended. */
        if (waitpid(client->process, NULL, WNOHANG) == client->process) {
            close(client->pipe);
            *client = s->clients[--s->count];
        }
    }
}

static int count_clients(const server *s, bool known)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        count += s->clients[i].known == known;
    return count;
}

/* Starts a process for one client, so that a crash ends that client only. If no process can be
 * started, the client is rejected and the server continues. */
static void accept_client(server *s)
{
    int socket = accept(s->listening, NULL, NULL);
    if (socket < 0)
        return;

    int ends[2] = {-1, -1};
    pid_t child = -1;
    if (pipe(ends) == 0)
        child = fork();
    if (child == 0) {
        close(s->listening);
        close(ends[0]);
        for (int i = 0; i < s->count; i++)
            close(s->clients[i].pipe);
        serve_client(s->context, s->def, socket, ends[1]);
        _exit(0);
    }

    int error = errno;
    close(socket);
    if (ends[1] >= 0)
        close(ends[1]);
    if (child > 0) {
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        s->clients[s->count++] = (server_client){.process = child, .pipe = ends[0]};
        return;
    }

    if (ends[0] >= 0)
        close(ends[0]);
    yk_log(s->context, YK_LOG_WARNING, "a client was turned away, there is no process for it: %s",
           strerror(error));
    const struct timespec pause = {.tv_nsec = 50000000};
    nanosleep(&pause, NULL);
}

/* Waits until a client connects, one completes the handshake, or 50 ms have passed. */
static void wait_for_events(server *s, bool accepting)
{
    struct pollfd events[1 + CLIENTS_MAX];
    nfds_t count = 0;
    if (accepting)
        events[count++] = (struct pollfd){.fd = s->listening, .events = POLLIN};
    for (int i = 0; i < s->count; i++)
        if (!s->clients[i].known)
            events[count++] = (struct pollfd){.fd = s->clients[i].pipe, .events = POLLIN};
    if (poll(events, count, 50) > 0 && accepting && events[0].revents & POLLIN)
        accept_client(s);
}

yk_status yk_serve(yk_context *context, const yk_server_def *def)
{
    if (!def->address || !def->create)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a server needs an address and a function that makes subsystems");

    if (sodium_init() < 0)
        return YK_ERROR_EXTERNAL;

    int listening;
    yk_status status = yk_socket_listen(context, def->address, def->secret != NULL, &listening);
    if (status != YK_OK)
        return status;

    char name[300];
    yk_socket_name(def->address, listening, name, sizeof name);

    /* Checks every 50 ms whether clients have disconnected and whether it must end. */
    server serving = {.context = context, .def = def, .listening = listening};
    while (!def->on_idle || def->on_idle(def->user, name)) {
        look_after_clients(&serving);

        /* A server for one client ends with it. */
        int unknown = count_clients(&serving, false);
        int known = count_clients(&serving, true);
        if (def->stop_after_first_client && serving.had_one && known == 0)
            break;

        /* If the table is full, connections wait in the queue of the system. */
        bool full = unknown >= UNKNOWN_CLIENTS_MAX || unknown + known >= CLIENTS_MAX;
        wait_for_events(&serving, !full && !(def->stop_after_first_client && serving.had_one));
    }

    /* The processes of connected clients serve them until they disconnect. */
    for (int i = 0; i < serving.count; i++)
        if (!serving.clients[i].known)
            kill(serving.clients[i].process, SIGKILL);
    while (serving.count > 0)
        forget_client(&serving, serving.count - 1);
    close(listening);
    yk_socket_remove(def->address);
    return status;
}
