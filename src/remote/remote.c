/* A stand-in for a subsystem in another process.
 *
 * Each operation is a request and an answer (frame.h). Data that are needed after every step are
 * part of the answer to the step and stored here: outputs, energies, the next event, and
 * predictions for another step of the same size.
 *
 * Saving states, rollback and posted steps do not wait: their answers are received when they are
 * needed. At most two are in transit, which every transport carries without a reader. */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/text.h"
#include "remote/frame.h"
#include "yoke/remote.h"

enum { AWAITED_MAX = 2 };

/* A part of a merged subsystem: its sizes; its words in the last answer; and its unknowns as
 * changed by the caller since, which are sent with the next request. */
typedef struct known_part {
    size_t words, unknowns;
    double *reached, *given;
    bool is_given;
} known_part;

/* A unit named by the server. */
typedef struct remote_unit {
    struct remote_unit *next;
    char text[64];
} remote_unit;

typedef struct remote {
    yk_subsystem base;
    yk_subsystem_ops ops; /* with the capabilities of the other side */
    yk_context *context;
    yk_transport *transport;
    double deadline; /* of an answer (s) */
    char name[300];  /* "'beam' at unix:/tmp/beam" */
    yk_remote_host host;
    char message[YK_PARTNER_MESSAGE];
    bool broken; /* the connection is unusable */

    /* Description of the subsystem. */
    uint32_t capabilities;
    int input_degree;
    yk_port *ports;
    int port_count;
    yk_causality *causalities;
    yk_channel *channels;
    int channel_count;
    size_t *channel_first; /* first number of each channel among those of all */
    size_t channel_words;  /* of all */

    /* The request and the answer. */
    yk_body body;
    uint64_t number;

    /* Requests whose answers have not been received yet, the oldest first; and the outcome of one
     * that failed, which is reported by the next call. */
    yk_frame_kind awaited[AWAITED_MAX];
    int awaited_count;
    yk_status outcome;

    /* Posted steps, those of them that were requested since, and the answer to all. */
    int posted, taken;
    bool model_posted; /* a step model, whose answer is received into the same body */
    yk_body ahead;

    /* Data of the last answer. */
    yk_port_value *values;
    yk_energy energy;
    yk_state_layout layout;
    double *mark;              /* if the server does not save states */
    double event_after, event; /* the next event after a time; NaN: unknown */
    double predicted_step;     /* of the predictions; NaN: there are none */
    yk_motion *predicted;
    double *samples;  /* of all channels */
    bool sampled;     /* the channels that were read before are up to date */
    bool all_sampled; /* all channels are up to date */
    bool *read;       /* per channel: it has been read before */
    int read_count;

    /* Parts that were described; the part that is being relaxed there, -1: none; the state that was
     * last sent for it. */
    known_part *parts;
    int part_count, relaxing;
    double *image;

    /* Further descriptions. Counters are shown as last received, and sent back if the caller has
     * changed them. */
    double rho_inf;
    bool image_is_local;
    remote_unit *units; /* of ports, as received */
    unsigned char *counts, *counts_before;
    size_t count_bytes;
    bool counts_shown;

    /* The scene, after the first request. */
    yk_scene_body *bodies;
    yk_shape *shapes;
    int body_count, shape_count;
    yk_vec3 gravity;
    bool seen;
} remote;

/* Questions ------------------------------------------------------------------------------------ */

/* A failure of the connection, with the partner's name before its message. It is permanent. */
static yk_status give_up(remote *r, yk_status status)
{
    char partner[330];
    snprintf(partner, sizeof partner, "the partner %s", r->name);
    r->broken = true;
    return yk_partner_failed(r->context, status, partner, r->message);
}

static int32_t get_outcome(yk_body *body, char message[YK_PARTNER_MESSAGE])
{
    int32_t outcome = (int32_t)yk_get_whole(body);
    yk_get_text(body, message, YK_PARTNER_MESSAGE);
    return outcome;
}

static yk_status nonsense(remote *r)
{
    yk_fail(r->context, YK_ERROR_EXTERNAL, "sent an answer that does not fit the question");
    return give_up(r, YK_ERROR_EXTERNAL);
}

/* Sends the content of the body. */
static yk_status send(remote *r, yk_frame_kind kind)
{
    /* After a failure both ends may disagree about what was sent, so nothing more is sent. */
    if (r->broken)
        return yk_fail(r->context, YK_ERROR_EXTERNAL, "%s", r->message);

    double deadline = yk_clock_seconds() + r->deadline;
    yk_status status = yk_frame_send(r->transport, kind, ++r->number, &r->body, deadline);
    if (status != YK_OK)
        return give_up(r, status);
    return YK_OK;
}

/* Receives the answer to a request: its status, and the message of a failure. The rest of the
 * answer is in the body. */
static yk_status receive(remote *r, yk_frame_kind kind, uint64_t number, yk_body *body)
{
    /* Answers arrive in the order of the requests; check kind and number. */
    uint16_t got_kind = 0;
    uint64_t got_number = 0;
    double deadline = yk_clock_seconds() + r->deadline;
    yk_status status = yk_frame_receive(r->transport, &got_kind, &got_number, body, deadline);
    if (status != YK_OK) {
        /* Transports measure how long they have waited, which is less if they began late. */
        if (yk_clock_seconds() > deadline)
            yk_fail(r->context, status, "did not answer within %.3g s", r->deadline);
        return give_up(r, status);
    }

    if (got_kind != kind || got_number != number)
        return nonsense(r);

    /* Every answer begins with a valid status and a message. */
    char message[YK_PARTNER_MESSAGE];
    int32_t outcome = get_outcome(body, message);
    if (body->failed || !yk_status_is_known(outcome))
        return nonsense(r);

    /* The message of an earlier failure is kept until it has been reported. */
    status = (yk_status)outcome;
    if (r->outcome == YK_OK)
        snprintf(r->message, sizeof r->message, "%s", message);
    if (YK_FAILED(status))
        return yk_fail(r->context, status, "%s", r->message);
    return status;
}

/* Checks the end of an answer; `status` is its beginning. */
static yk_status done(remote *r, yk_status status)
{
    if (!yk_body_is_done(&r->body))
        return nonsense(r);
    return status;
}

/* Data in every answer after which the state has changed. */
static void read_state(remote *r, yk_body *body)
{
    /* The stored channels belong to the previous state. */
    size_t n = (size_t)r->port_count;
    r->sampled = false;

    /* The capabilities, which both sides know, determine the content. */
    yk_get_numbers(body, (double *)r->values, n * sizeof *r->values / sizeof(double));
    if (r->capabilities & YK_CAN_COUNT_ENERGY)
        yk_get_numbers(body, &r->energy.kinetic, sizeof r->energy / sizeof(double));
    if (r->capabilities & YK_CAN_ANNOUNCE_EVENTS) {
        r->event_after = yk_get_number(body);
        r->event = yk_get_number(body);
    }

    /* Predictions are valid for the step size with which they were made. */
    r->predicted_step = NAN;
    if (yk_get_whole(body) == 1) {
        r->predicted_step = yk_get_number(body);
        yk_get_numbers(body, (double *)r->predicted, n * sizeof *r->predicted / sizeof(double));
    }
}

/* Receives the answer to the oldest pending request. */
static void take_oldest(remote *r)
{
    /* Requests are numbered consecutively, so the number of the oldest follows from the newest. */
    yk_frame_kind kind = r->awaited[0];
    uint64_t number = r->number - (uint64_t)(r->awaited_count - 1);
    r->awaited_count--;
    r->awaited[0] = r->awaited[1];
    if (r->broken)
        return;

    /* Steps are read when they are requested; a rollback changes the state. */
    yk_body *body = &r->body;
    if (kind == YK_FRAME_STEPS || kind == YK_FRAME_STEP_MODEL || kind == YK_FRAME_RELAX)
        body = &r->ahead;
    yk_status status = receive(r, kind, number, body);
    if (!YK_FAILED(status) && kind == YK_FRAME_REWIND) {
        read_state(r, body);
        status = done(r, status);
    }

    /* Keep the first failure. */
    if (YK_FAILED(status) && r->outcome == YK_OK)
        r->outcome = status;
}

static void take_all(remote *r)
{
    while (r->awaited_count > 0)
        take_oldest(r);
}

/* Sends counters that the caller has changed since they were shown. */
static void return_counts(remote *r)
{
    if (!r->counts_shown)
        return;

    /* Usually they are unchanged: only resumed runs set them. */
    r->counts_shown = false;
    if (memcmp(r->counts, r->counts_before, r->count_bytes) == 0)
        return;

    /* Not by ask(), which sends counters itself. A failure is reported by the next call. */
    r->body.length = 0;
    r->body.failed = false;
    yk_put_whole(&r->body, (uint32_t)r->count_bytes);
    yk_put_bytes(&r->body, r->counts, r->count_bytes);

    yk_status status = send(r, YK_FRAME_COUNTS);
    if (status == YK_OK)
        status = receive(r, YK_FRAME_COUNTS, r->number, &r->body);
    if (YK_FAILED(status) && r->outcome == YK_OK)
        r->outcome = status;
}

/* Begins a request whose answer will be awaited. */
static yk_body *ask(remote *r)
{
    take_all(r);
    return_counts(r);

    r->body.length = 0;
    r->body.failed = false;
    return &r->body;
}

/* Sends the content of the body and waits for the answer. */
static yk_status answer(remote *r, yk_frame_kind kind)
{
    /* A failure of a pending request is reported by the next call. */
    yk_status status = r->outcome;
    r->outcome = YK_OK;
    if (status != YK_OK)
        return yk_fail(r->context, status, "%s", r->message);

    status = send(r, kind);
    if (status != YK_OK)
        return status;
    return receive(r, kind, r->number, &r->body);
}

/* Sends the content of the body, and leaves its answer pending. */
static yk_status post(remote *r, yk_frame_kind kind)
{
    yk_status status = send(r, kind);
    if (status == YK_OK)
        r->awaited[r->awaited_count++] = kind;
    return status;
}

/* Begins such a request. */
static yk_body *ask_later(remote *r)
{
    /* With more requests in transit than a transport holds, both ends could wait for each other. */
    while (r->awaited_count == AWAITED_MAX)
        take_oldest(r);

    /* Wait for the answer about counters, because its answer must come before that of the next
     * request. */
    if (r->counts_shown) {
        take_all(r);
        return_counts(r);
    }

    r->body.length = 0;
    r->body.failed = false;
    return &r->body;
}

/* t, h and the inputs. */
static void put_step(remote *r, double t, double h, const yk_input *inputs)
{
    /* Inputs of unconnected ports are only marked as absent. */
    yk_body *body = &r->body;
    yk_put_number(body, t);
    yk_put_number(body, h);
    yk_put_whole(body, inputs != NULL);
    for (int i = 0; inputs && i < r->port_count; i++)
        yk_put_input(body, &inputs[i], r->causalities[i] != YK_CAUSALITY_NONE);
}

static yk_body *ask_step(remote *r, double t, double h, const yk_input *inputs)
{
    yk_body *body = ask(r);
    put_step(r, t, h, inputs);
    return body;
}

/* Rows and columns of the wrench ports, `marker` and `scalar` for each. */
static size_t count_wrench_rows(const remote *r, size_t marker, size_t scalar)
{
    return yk_wrench_rows(r->ports, r->causalities, r->port_count, marker, scalar);
}

/* Operations ----------------------------------------------------------------------------------- */

static int remote_ports(const yk_subsystem *self, const yk_port **list)
{
    const remote *r = (const remote *)self;
    *list = r->ports;
    return r->port_count;
}

static const char *remote_message(const yk_subsystem *self)
{
    return ((const remote *)self)->message;
}

static int remote_input_degree(const yk_subsystem *self)
{
    return ((const remote *)self)->input_degree;
}

static yk_status remote_connect(yk_subsystem *self, int port, yk_causality causality,
                                unsigned constrained)
{
    remote *r = (remote *)self;
    yk_body *body = ask(r);
    yk_put_whole(body, (uint32_t)port);
    yk_put_whole(body, (uint32_t)causality);
    yk_put_whole(body, constrained);

    yk_status status = answer(r, YK_FRAME_CONNECT);
    if (YK_FAILED(status))
        return status;

    /* From now on its inputs are sent. */
    r->causalities[port] = causality;
    return done(r, status);
}

static yk_status remote_move_port(yk_subsystem *self, int port, const yk_vec3 *position,
                                  const yk_quat *orientation)
{
    remote *r = (remote *)self;
    static const yk_vec3 origin = {0, 0, 0};
    static const yk_quat identity = {1, 0, 0, 0};
    yk_body *body = ask(r);
    yk_put_whole(body, (uint32_t)port);

    /* Unchanged values are sent too, and marked as not given. */
    uint32_t given = 0;
    if (position)
        given |= 1;
    else
        position = &origin;
    if (orientation)
        given |= 2;
    else
        orientation = &identity;
    yk_put_whole(body, given);
    yk_put_numbers(body, &position->x, 3);
    yk_put_numbers(body, &orientation->w, 4);

    yk_status status = answer(r, YK_FRAME_MOVE_PORT);
    if (YK_FAILED(status))
        return status;

    return done(r, status);
}

/* The layout of an image in an answer. One with more continuous words than words is an error, which
 * done() reports. */
static void read_layout(remote *r)
{
    r->layout.word_count = yk_get_whole(&r->body);
    r->layout.continuous_count = yk_get_whole(&r->body);
    if (r->layout.continuous_count > r->layout.word_count)
        r->body.failed = true;
}

/* Memory for all later requests and answers, of which state images are the largest. */
static bool reserve_images(remote *r)
{
    size_t ports = (size_t)r->port_count * (sizeof(yk_input) + 2 * sizeof(yk_port_value));
    size_t words = r->layout.word_count + r->channel_words;
    return yk_body_reserve(&r->body, ports + 8 * words + YK_PARTNER_MESSAGE);
}

static yk_status remote_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    /* Posted steps belong to the previous state. */
    remote *r = (remote *)self;
    ask_step(r, t, h, inputs);
    r->posted = 0;
    yk_status status = answer(r, YK_FRAME_START);
    if (YK_FAILED(status))
        return status;

    read_layout(r);
    read_state(r, &r->body);
    status = done(r, status);
    if (!YK_FAILED(status) && !reserve_images(r))
        return YK_ERROR_MEMORY;
    if (YK_FAILED(status) || r->capabilities & YK_CAN_WORK_AHEAD)
        return status;

    /* For a server that does not save states, the image is stored here. */
    double *mark = yk_reallocate(r->context, r->mark, r->layout.word_count + 1, sizeof *mark);
    if (!mark)
        return YK_ERROR_MEMORY;
    r->mark = mark;
    return status;
}

/* The next of the posted steps. */
static yk_status take_step(remote *r)
{
    /* All posted steps have one answer; if one of them failed, it contains nothing else. */
    take_all(r);
    yk_status status = r->outcome;
    r->outcome = YK_OK;
    if (YK_FAILED(status)) {
        r->posted = 0;
        return yk_fail(r->context, status, "%s", r->message);
    }

    /* Each has its own outcome and state. */
    int32_t outcome = get_outcome(&r->ahead, r->message);
    read_state(r, &r->ahead);

    r->taken++;
    if (r->taken == r->posted)
        r->posted = 0;

    /* Failures have an answer of their own; the last step ends this one. */
    bool sound = !r->ahead.failed && yk_status_is_known(outcome) && !YK_FAILED(outcome);
    if (!sound || (r->posted == 0 && !yk_body_is_done(&r->ahead)))
        return nonsense(r);
    return (yk_status)outcome;
}

static yk_status remote_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    /* A posted step is in progress with the same inputs, or finished. */
    remote *r = (remote *)self;
    if (r->posted > 0)
        return take_step(r);

    ask_step(r, t, h, inputs);
    yk_status status = answer(r, YK_FRAME_STEP);
    if (YK_FAILED(status))
        return status;

    /* Data that the scheme needs before the next step. */
    read_state(r, &r->body);
    return done(r, status);
}

static yk_status remote_post(yk_subsystem *self, double t, double h, const yk_input *inputs,
                             int left)
{
    /* The first posted step begins the frame, the last one sends it. */
    remote *r = (remote *)self;
    if (r->posted == 0) {
        yk_put_whole(ask_later(r), (uint32_t)left + 1);
        r->taken = 0;
    }

    put_step(r, t, h, inputs);
    r->posted++;
    if (left > 0)
        return YK_OK;

    yk_status status = post(r, YK_FRAME_STEPS);
    if (status != YK_OK)
        r->posted = 0;
    return status;
}

static void remote_mark(yk_subsystem *self)
{
    /* The image remains on the server and need not be transferred. */
    remote *r = (remote *)self;
    ask_later(r);
    post(r, YK_FRAME_MARK);
}

static yk_status remote_rewind(yk_subsystem *self)
{
    /* Steps that were not requested any more are discarded with their results. */
    remote *r = (remote *)self;
    ask_later(r);
    r->posted = 0;
    r->model_posted = false;
    return post(r, YK_FRAME_REWIND);
}

static yk_status remote_check(const yk_subsystem *self)
{
    /* A lost connection is permanent; other failures are reported once. */
    remote *r = (remote *)(uintptr_t)self;
    take_all(r);
    if (r->broken)
        return YK_ERROR_EXTERNAL;
    return r->outcome;
}

static void remote_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    remote *r = (remote *)(uintptr_t)self;
    take_all(r);
    *value = r->values[port];
}

static yk_status remote_iterate(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                yk_iteration_report *report)
{
    remote *r = (remote *)self;
    ask_step(r, t, h, inputs);
    yk_status status = answer(r, YK_FRAME_ITERATE);
    if (YK_FAILED(status))
        return status;

    /* The trial remains open on the server; the scheme reads its outputs next. */
    report->correction = yk_get_number(&r->body);
    report->converged = yk_get_whole(&r->body) != 0;
    read_state(r, &r->body);
    return done(r, status);
}

static yk_status remote_sensitivity(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                    int degree, double *matrix)
{
    remote *r = (remote *)self;
    yk_put_whole(ask_step(r, t, h, inputs), (uint32_t)degree);
    yk_status status = answer(r, YK_FRAME_SENSITIVITY);
    if (YK_FAILED(status))
        return status;

    /* Three motions of each port, by each coefficient of the wrenches. */
    size_t columns = count_wrench_rows(r, 6, 1) * ((size_t)degree + 1);
    yk_get_numbers(&r->body, matrix, count_wrench_rows(r, 18, 3) * columns);
    read_state(r, &r->body);
    return done(r, status);
}

static yk_status remote_interface_model(yk_subsystem *self, double t, double h,
                                        const yk_input *inputs, yk_interface_model *model)
{
    remote *r = (remote *)self;
    yk_put_whole(ask_step(r, t, h, inputs), (uint32_t)model->row_count);
    yk_status status = answer(r, YK_FRAME_INTERFACE_MODEL);
    if (YK_FAILED(status))
        return status;

    /* Derivatives of velocity rates by wrenches, and the rates without wrenches. */
    size_t n = (size_t)model->row_count;
    yk_get_numbers(&r->body, model->inverse_mass, n * n);
    yk_get_numbers(&r->body, model->free_acceleration, n);
    model->theta = yk_get_number(&r->body);
    return done(r, status);
}

static void put_model(yk_body *body, const yk_step_model *model)
{
    yk_put_whole(body, (uint32_t)model->row_count);
    yk_put_whole(body, (uint32_t)model->substep_count);
}

static yk_status remote_post_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                   const yk_step_model *model)
{
    /* If there is none, the scheme gets the failure when it requests the model. */
    remote *r = (remote *)self;
    if (!r->ops.step_model)
        return YK_OK;

    ask_later(r);
    put_step(r, t, h, inputs);
    put_model(&r->body, model);

    yk_status status = post(r, YK_FRAME_STEP_MODEL);
    r->model_posted = status == YK_OK;
    return status;
}

static yk_status remote_step_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                   yk_step_model *model)
{
    /* The answer is pending, or is requested now. */
    remote *r = (remote *)self;
    yk_body *body = &r->body;
    yk_status status;
    if (r->model_posted) {
        body = &r->ahead;
        r->model_posted = false;
        take_all(r);
        status = r->outcome;
        r->outcome = YK_OK;
        if (status != YK_OK)
            yk_fail(r->context, status, "%s", r->message);
    } else {
        ask_step(r, t, h, inputs);
        put_model(body, model);
        status = answer(r, YK_FRAME_STEP_MODEL);
    }

    if (YK_FAILED(status))
        return status;

    /* The numbers in the order of the contract, starting with those per port. */
    size_t n = (size_t)model->row_count;
    yk_get_numbers(body, model->velocity, n);
    yk_get_numbers(body, model->displacement, n);
    yk_get_numbers(body, model->mobility, n * n);
    model->theta = yk_get_number(body);
    model->wrench_point = yk_get_number(body);
    yk_get_numbers(body, model->wrench_weights, 3);
    model->memory_factor = yk_get_number(body);
    if (!yk_body_is_done(body))
        return nonsense(r);
    return status;
}

/* The following four operations of the contract cannot fail: the next call reports the failure. */
static bool has_failed(remote *r, yk_status status)
{
    if (YK_FAILED(status) && r->outcome == YK_OK)
        r->outcome = status;
    return YK_FAILED(status);
}

static void remote_predict(const yk_subsystem *self, int port, double h, yk_motion *motion)
{
    remote *r = (remote *)(uintptr_t)self;
    take_all(r);

    /* With the size of the last step, as usual, it is part of the last answer. */
    if (h == r->predicted_step && r->causalities[port] == YK_CAUSALITY_WRENCH_INPUT) {
        *motion = r->predicted[port];
        return;
    }

    /* Request another step size; after a failure the motion is unchanged. */
    yk_body *body = ask(r);
    yk_put_whole(body, (uint32_t)port);
    yk_put_number(body, h);

    *motion = r->values[port].motion;
    if (has_failed(r, answer(r, YK_FRAME_PREDICT)))
        return;

    yk_get_numbers(&r->body, &motion->position.x, sizeof *motion / sizeof(double));
    done(r, YK_OK);
}

static double remote_next_event(const yk_subsystem *self, double t)
{
    remote *r = (remote *)(uintptr_t)self;
    take_all(r);

    /* The event of the last answer is the next one for all times up to it. */
    if (t >= r->event_after && t < r->event)
        return r->event;

    /* Request another time and store the answer; without an answer there is no event. */
    yk_put_number(ask(r), t);
    if (has_failed(r, answer(r, YK_FRAME_NEXT_EVENT)))
        return INFINITY;

    double event = yk_get_number(&r->body);
    if (done(r, YK_OK) != YK_OK)
        return INFINITY;

    r->event_after = t;
    r->event = event;
    return event;
}

static void remote_state_get(const yk_subsystem *self, double *image)
{
    /* Zeros, in case the partner has disconnected: `check` reports it. */
    remote *r = (remote *)(uintptr_t)self;
    memset(image, 0, r->layout.word_count * sizeof *image);
    ask(r);
    if (has_failed(r, answer(r, YK_FRAME_STATE_GET)))
        return;

    yk_get_numbers(&r->body, image, r->layout.word_count);
    done(r, YK_OK);
}

static void remote_read_channel(const yk_subsystem *self, int channel, double *values)
{
    remote *r = (remote *)(uintptr_t)self;
    take_all(r);

    /* The first channel that is ever read brings all, and the first that is read after a step
     * brings those that were read before: channels that are not recorded are not transferred. */
    yk_frame_kind kind = YK_FRAME_CHANNELS;
    if (r->read_count > 0 && r->capabilities & YK_CAN_CHOOSE_CHANNELS)
        kind = YK_FRAME_SOME_CHANNELS;
    bool all = kind == YK_FRAME_CHANNELS;
    bool is_new = !r->read[channel];
    r->read[channel] = true;
    r->read_count += is_new;

    /* If the request fails, the old numbers are kept; the next call reports the failure. */
    if (!r->sampled || (is_new && !r->all_sampled)) {
        yk_body *body = ask(r);
        if (!all)
            yk_put_whole(body, (uint32_t)r->read_count);
        for (int i = 0; !all && i < r->channel_count; i++)
            if (r->read[i])
                yk_put_whole(body, (uint32_t)i);

        r->sampled = true;
        r->all_sampled = all;
        if (!has_failed(r, answer(r, kind))) {
            for (int i = 0; i < r->channel_count; i++)
                if (all || r->read[i])
                    yk_get_numbers(body, r->samples + r->channel_first[i],
                                   (size_t)r->channels[i].component_count);
            done(r, YK_OK);
        }
    }

    /* Their numbers stand one after another. */
    size_t components = (size_t)r->channels[channel].component_count;
    memcpy(values, r->samples + r->channel_first[channel], components * sizeof *values);
}

static yk_status remote_state_set(yk_subsystem *self, const double *image)
{
    remote *r = (remote *)self;
    yk_put_numbers(ask(r), image, r->layout.word_count);
    r->posted = 0;
    yk_status status = answer(r, YK_FRAME_STATE_SET);
    if (YK_FAILED(status))
        return status;

    /* All stored data belong to another state. */
    read_state(r, &r->body);
    return done(r, status);
}

static yk_state_layout remote_layout(const yk_subsystem *self)
{
    return ((const remote *)self)->layout;
}

static const char *remote_port_unit(const yk_subsystem *self, int port, int offset)
{
    remote *r = (remote *)(uintptr_t)self;
    yk_body *body = ask(r);
    yk_put_whole(body, (uint32_t)port);
    yk_put_whole(body, (uint32_t)offset);
    r->outcome = answer(r, YK_FRAME_PORT_UNIT);
    if (YK_FAILED(r->outcome))
        return NULL;

    char text[sizeof r->units->text];
    yk_get_text(&r->body, text, sizeof text);
    r->outcome = done(r, YK_OK);
    if (YK_FAILED(r->outcome))
        return NULL;

    /* The caller keeps the text: equal units share one. */
    remote_unit *unit = r->units;
    while (unit && strcmp(unit->text, text) != 0)
        unit = unit->next;
    if (unit)
        return unit->text;

    unit = yk_allocate(r->context, 1, sizeof *unit);
    if (!unit)
        return NULL;
    memcpy(unit->text, text, sizeof text);
    unit->next = r->units;
    r->units = unit;
    return unit->text;
}

/* Informs the server how states will be used. The answer contains the layout of an image if the
 * subsystem has been initialized; a failure is reported by the next call. */
static void remote_expect_states(yk_subsystem *self, yk_state_use use)
{
    remote *r = (remote *)self;
    yk_put_whole(ask(r), (uint32_t)use);
    r->outcome = answer(r, YK_FRAME_STATE_USE);
    if (YK_FAILED(r->outcome))
        return;

    read_layout(r);
    r->outcome = done(r, YK_OK);
    if (!YK_FAILED(r->outcome) && !reserve_images(r))
        r->outcome = YK_ERROR_MEMORY;
}

static void remote_energy(const yk_subsystem *self, yk_energy *energy)
{
    remote *r = (remote *)(uintptr_t)self;
    take_all(r);
    *energy = r->energy;
}

/* Parts ---------------------------------------------------------------------------------------- */

static yk_status remote_part_words(yk_subsystem *self, int part, size_t *words, size_t *unknowns)
{
    remote *r = (remote *)self;
    yk_put_whole(ask(r), (uint32_t)part);
    yk_status status = answer(r, YK_FRAME_PART_WORDS);
    if (YK_FAILED(status))
        return status;

    /* Parts are described in order, and their words must fit in one frame. */
    *words = yk_get_whole(&r->body);
    *unknowns = yk_get_whole(&r->body);
    if (part > r->part_count || *unknowns > *words ||
        *words > YK_FRAME_BODY_MAX / sizeof *r->parts->reached)
        return nonsense(r);
    if (part < r->part_count)
        return done(r, status);

    /* Both sides begin with zeros. */
    size_t count = (size_t)part + 1;
    known_part *grown = yk_reallocate(r->context, r->parts, count, sizeof *grown);
    double *numbers = yk_allocate(r->context, *words + *unknowns + 1, sizeof *numbers);

    if (grown)
        r->parts = grown;
    if (!grown || !numbers) {
        yk_free(r->context, numbers);
        return YK_ERROR_MEMORY;
    }

    r->parts[r->part_count++] = (known_part){
        .words = *words,
        .unknowns = *unknowns,
        .reached = numbers,
        .given = numbers + *words,
    };

    /* The last sent state: later requests contain only the changes. */
    if (!r->image)
        r->image = yk_allocate(r->context, r->layout.word_count + 1, sizeof *r->image);
    if (!r->image)
        return YK_ERROR_MEMORY;
    return done(r, status);
}

static void remote_part_get(yk_subsystem *self, int part, double *words)
{
    const remote *r = (remote *)self;
    memcpy(words, r->parts[part].reached, r->parts[part].words * sizeof *words);
}

/* The other side keeps its other words, which result from its own relaxations. */
static void remote_part_set(yk_subsystem *self, int part, const double *words)
{
    known_part *p = &((remote *)self)->parts[part];
    memcpy(p->given, words, p->unknowns * sizeof *words);
    p->is_given = true;
}

static yk_status remote_post_relax(yk_subsystem *self, int part, double t, double h,
                                   const yk_input *inputs, const double *image)
{
    remote *r = (remote *)self;
    yk_body *body = ask_later(r);
    put_step(r, t, h, inputs);
    yk_put_whole(body, (uint32_t)part);

    /* Another state ends the trial and invalidates its data. */
    yk_put_whole(body, image != NULL);
    if (image)
        yk_put_changes(body, image, r->image, r->layout.word_count);

    /* Unknowns that were set since the last request belong to another state now. */
    uint32_t count = 0;
    for (int i = 0; i < r->part_count; i++) {
        r->parts[i].is_given = r->parts[i].is_given && !image;
        count += r->parts[i].is_given;
    }

    yk_put_whole(body, count);
    for (int i = 0; i < r->part_count; i++) {
        known_part *p = &r->parts[i];
        if (!p->is_given)
            continue;

        yk_put_whole(body, (uint32_t)i);
        yk_put_numbers(body, p->given, p->unknowns);
        p->is_given = false;
    }

    yk_status status = post(r, YK_FRAME_RELAX);
    if (status == YK_OK)
        r->relaxing = part;
    return status;
}

static yk_status remote_relax(yk_subsystem *self, int part, double t, double h,
                              const yk_input *inputs, double *change)
{
    /* The answer is pending, or is requested now. */
    remote *r = (remote *)self;
    yk_status status = YK_OK;
    if (r->relaxing != part)
        status = remote_post_relax(self, part, t, h, inputs, NULL);
    if (status != YK_OK)
        return status;

    r->relaxing = -1;
    take_all(r);
    status = r->outcome;
    r->outcome = YK_OK;
    if (YK_FAILED(status))
        return yk_fail(r->context, status, "%s", r->message);

    /* Only words with changed bits were sent. */
    *change = yk_get_number(&r->ahead);
    yk_get_changes(&r->ahead, r->parts[part].reached, r->parts[part].words);
    if (!yk_body_is_done(&r->ahead))
        return nonsense(r);
    return status;
}

/* More about it ------------------------------------------------------------------------------- */

static yk_status read_about(remote *r)
{
    ask(r);
    yk_status status = answer(r, YK_FRAME_ABOUT);
    if (YK_FAILED(status))
        return status;

    /* NaN: the subsystem does not report the spectral radius of its method. */
    r->rho_inf = yk_get_number(&r->body);
    r->image_is_local = yk_get_whole(&r->body) != 0;

    /* Counters that are not part of the image. Their number is known after the first request. */
    size_t bytes = yk_get_whole(&r->body);
    if (bytes > YK_TEXT_MAX || (r->counts && bytes != r->count_bytes))
        return nonsense(r);

    if (!r->counts) {
        r->counts = yk_allocate(r->context, bytes + 1, 1);
        r->counts_before = yk_allocate(r->context, bytes + 1, 1);
        r->count_bytes = bytes;
        if (!r->counts || !r->counts_before)
            return YK_ERROR_MEMORY;
    }

    /* The received values, to detect changes by the caller. */
    yk_get_bytes(&r->body, r->counts, bytes);
    memcpy(r->counts_before, r->counts, bytes);
    return done(r, status);
}

static double remote_rho_inf(const yk_subsystem *self)
{
    return ((const remote *)self)->rho_inf;
}

static bool remote_image_is_local(const yk_subsystem *self)
{
    remote *r = (remote *)(uintptr_t)self;
    read_about(r);
    return r->image_is_local;
}

static size_t remote_counts(yk_subsystem *self, void **data)
{
    remote *r = (remote *)self;
    read_about(r);
    r->counts_shown = true;
    *data = r->counts;
    return r->count_bytes;
}

/* An optional name; false: memory is missing. */
static bool read_name(remote *r, const char **name)
{
    char text[1024];
    *name = NULL;
    if (yk_get_whole(&r->body) == 0)
        return true;

    yk_get_text(&r->body, text, sizeof text);
    *name = yk_text_copy(r->context, text);
    return *name;
}

/* Bodies and shapes are constant, so they are requested once. */
static yk_status read_scene(remote *r)
{
    if (r->seen)
        return YK_OK;

    /* Requested once, because a scene does not change. */
    r->seen = true;
    ask(r);
    yk_status status = answer(r, YK_FRAME_SCENE);
    if (YK_FAILED(status))
        return status;

    /* The bodies. */
    yk_body *body = &r->body;
    yk_get_numbers(body, &r->gravity.x, 3);
    uint32_t bodies = yk_get_whole(body);
    if (body->failed || bodies > YK_SCENE_MAX)
        return nonsense(r);

    r->bodies = yk_allocate(r->context, bodies + 1, sizeof *r->bodies);
    if (!r->bodies)
        return YK_ERROR_MEMORY;

    for (uint32_t i = 0; i < bodies && !body->failed; i++) {
        yk_scene_body *one = &r->bodies[r->body_count++];
        if (!read_name(r, &one->name))
            return YK_ERROR_MEMORY;

        one->motion = (yk_scene_motion)yk_get_whole(body);
        one->part_index = (int)yk_get_whole(body);
        one->has_strain = yk_get_whole(body) != 0;
    }

    /* The shapes on them, some with points of their own. */
    uint32_t shapes = yk_get_whole(body);
    if (body->failed || shapes > YK_SCENE_MAX)
        return nonsense(r);

    r->shapes = yk_allocate(r->context, shapes + 1, sizeof *r->shapes);
    if (!r->shapes)
        return YK_ERROR_MEMORY;

    for (uint32_t i = 0; i < shapes && !body->failed; i++) {
        yk_shape *one = &r->shapes[r->shape_count++];
        uint32_t kind = yk_get_whole(body);
        if (!read_name(r, &one->name))
            return YK_ERROR_MEMORY;

        one->body = (int)yk_get_whole(body);
        one->end_body = (int)yk_get_whole(body);
        one->open_walls = yk_get_whole(body);
        yk_get_numbers(body, &one->position.x, 3);
        yk_get_numbers(body, &one->orientation.w, 4);
        yk_get_numbers(body, &one->size.x, 3);

        /* Reject an invalid kind or count before memory is allocated for it. */
        uint32_t points = yk_get_whole(body);
        if (body->failed || kind >= YK_SHAPE_KIND_COUNT || points > YK_SCENE_MAX)
            return nonsense(r);
        one->kind = (yk_shape_kind)kind;
        if (points == 0)
            continue;

        yk_vec3 *list = yk_allocate(r->context, points, sizeof *list);
        if (!list)
            return YK_ERROR_MEMORY;

        yk_get_numbers(body, &list->x, 3 * (size_t)points);
        one->points = list;
        one->point_count = (int)points;
    }

    return done(r, status);
}

static int remote_bodies(const yk_subsystem *self, yk_scene_body *list, int capacity)
{
    remote *r = (remote *)(uintptr_t)self;
    if (read_scene(r) != YK_OK)
        return 0;

    for (int i = 0; i < r->body_count && i < capacity; i++)
        list[i] = r->bodies[i];
    return r->body_count;
}

static int remote_shapes(const yk_subsystem *self, yk_shape *list, int capacity)
{
    remote *r = (remote *)(uintptr_t)self;
    if (read_scene(r) != YK_OK)
        return 0;

    for (int i = 0; i < r->shape_count && i < capacity; i++)
        list[i] = r->shapes[i];
    return r->shape_count;
}

static void remote_poses(const yk_subsystem *self, yk_scene_pose *list)
{
    remote *r = (remote *)(uintptr_t)self;

    /* This operation of the contract cannot fail either. */
    size_t count = (size_t)r->body_count;
    memset(list, 0, count * sizeof *list);
    ask(r);
    if (has_failed(r, answer(r, YK_FRAME_POSES)))
        return;

    yk_get_numbers(&r->body, &list->position.x, count * sizeof *list / sizeof(double));
    done(r, YK_OK);
}

static yk_vec3 remote_gravity(const yk_subsystem *self)
{
    remote *r = (remote *)(uintptr_t)self;
    read_scene(r);
    return r->gravity;
}

static int remote_contact_points(const yk_subsystem *self, yk_contact_point *list, int capacity)
{
    remote *r = (remote *)(uintptr_t)self;
    yk_put_whole(ask(r), (uint32_t)capacity);
    if (has_failed(r, answer(r, YK_FRAME_CONTACT_POINTS)))
        return 0;

    /* With a capacity of 0: the largest possible number. */
    uint32_t count = yk_get_whole(&r->body);
    if (capacity > 0 && count <= (uint32_t)capacity)
        yk_get_numbers(&r->body, &list->point.x, count * sizeof *list / sizeof(double));
    if (done(r, YK_OK) != YK_OK || count > YK_SCENE_MAX)
        return 0;
    return (int)count;
}

static int remote_channels(const yk_subsystem *self, const yk_channel **list)
{
    const remote *r = (const remote *)self;
    *list = r->channels;
    return r->channel_count;
}

static void remote_destroy(yk_subsystem *self)
{
    /* The connection ends the server. */
    remote *r = (remote *)self;
    if (r->transport)
        r->transport->ops->close(r->transport);

    /* Texts that were copied when they came. */
    for (int i = 0; r->ports && i < r->port_count; i++)
        yk_free(r->context, (void *)(uintptr_t)r->ports[i].name);
    for (int i = 0; r->channels && i < r->channel_count; i++) {
        yk_free(r->context, (void *)(uintptr_t)r->channels[i].name);
        yk_free(r->context, (void *)(uintptr_t)r->channels[i].unit);
    }

    for (int i = 0; i < r->body_count; i++)
        yk_free(r->context, (void *)(uintptr_t)r->bodies[i].name);
    for (int i = 0; i < r->shape_count; i++) {
        yk_free(r->context, (void *)(uintptr_t)r->shapes[i].name);
        yk_free(r->context, (void *)(uintptr_t)r->shapes[i].points);
    }

    for (int i = 0; i < r->part_count; i++)
        yk_free(r->context, r->parts[i].reached);
    yk_free(r->context, r->parts);
    for (remote_unit *unit = r->units, *next; unit; unit = next) {
        next = unit->next;
        yk_free(r->context, unit);
    }
    yk_free(r->context, r->image);
    yk_free(r->context, r->read);

    /* Releases the child process, or other resources of the partner. */
    yk_free(r->context, (void *)(uintptr_t)r->ops.kind);
    if (r->host.release)
        r->host.release(r->host.user);

    void *blocks[] = {
        r->ports,      r->causalities, r->channels,      r->values,        r->predicted,
        r->samples,    r->bodies,      r->shapes,        r->channel_first, r->counts,
        r->body.bytes, r->ahead.bytes, r->counts_before, r->mark,          r};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(r->context, blocks[i]);
}

static const yk_rollback_ops rollback_ops = {
    .size = sizeof(yk_rollback_ops),
    .layout = remote_layout,
    .get = remote_state_get,
    .set = remote_state_set,
};
static const yk_iteration_ops iteration_ops = {sizeof(yk_iteration_ops), remote_iterate};
static const yk_sensitivity_ops sensitivity_ops = {sizeof(yk_sensitivity_ops), remote_sensitivity};
static const yk_interface_model_ops interface_model_ops = {sizeof(yk_interface_model_ops),
                                                           remote_interface_model};
static const yk_step_model_ops step_model_ops = {sizeof(yk_step_model_ops), remote_step_model};
static const yk_relaxed_ops part_ops = {
    .size = sizeof(yk_relaxed_ops),
    .relax_part = remote_relax,
    .part_state_size = remote_part_words,
    .get_part_state = remote_part_get,
    .set_part_state = remote_part_set,
};
static const yk_event_ops event_ops = {sizeof(yk_event_ops), remote_next_event};
static const yk_energy_ops energy_ops = {sizeof(yk_energy_ops), remote_energy};
static const yk_remote_ops remote_ops = {
    .size = sizeof(yk_remote_ops),
    .begin_step = remote_post,
    .begin_step_model = remote_post_model,
    .begin_relax = remote_post_relax,
    .save_state = remote_mark,
    .restore_state = remote_rewind,
    .last_status = remote_check,
};
static const yk_scene_ops scene_ops = {
    .size = sizeof(yk_scene_ops),
    .bodies = remote_bodies,
    .shapes = remote_shapes,
    .poses = remote_poses,
    .gravity = remote_gravity,
};
static const yk_contact_point_ops contact_point_ops = {sizeof(yk_contact_point_ops),
                                                       remote_contact_points};
static const yk_channel_ops channel_ops = {sizeof(yk_channel_ops), remote_channels,
                                           remote_read_channel};

/* For servers that do not save states, the image is transferred, and nothing is posted. */

static yk_status plain_post(yk_subsystem *self, double t, double h, const yk_input *inputs,
                            int left)
{
    (void)self, (void)t, (void)h, (void)inputs, (void)left;
    return YK_ERROR_CAPABILITY;
}

static yk_status plain_post_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                  const yk_step_model *model)
{
    (void)self, (void)t, (void)h, (void)inputs, (void)model;
    return YK_OK;
}

static yk_status plain_post_relax(yk_subsystem *self, int part, double t, double h,
                                  const yk_input *inputs, const double *image)
{
    (void)self, (void)part, (void)t, (void)h, (void)inputs, (void)image;
    return YK_ERROR_CAPABILITY;
}

static void plain_mark(yk_subsystem *self)
{
    remote_state_get(self, ((remote *)self)->mark);
}

static yk_status plain_rewind(yk_subsystem *self)
{
    return remote_state_set(self, ((remote *)self)->mark);
}

static const yk_remote_ops plain_ops = {
    .size = sizeof(yk_remote_ops),
    .begin_step = plain_post,
    .begin_step_model = plain_post_model,
    .begin_relax = plain_post_relax,
    .save_state = plain_mark,
    .restore_state = plain_rewind,
    .last_status = remote_check,
};

/* Meeting -------------------------------------------------------------------------------------- */

/* The handshake: hello, the proof of the secret, and the shared memory. */
static yk_status meet(remote *r, const yk_remote_def *def, int socket)
{
    /* Hello. The number of this handshake makes a proof of another one useless. */
    bool local = strncmp(def->address, "unix:", 5) == 0 && !def->disable_shared_memory;
    unsigned char own[YK_NONCE];
    randombytes_buf(own, sizeof own);

    yk_body *body = ask(r);
    yk_put_bytes(body, "YOKEWIRE", 8);
    yk_put_whole(body, YK_PROTOCOL_VERSION);
    yk_put_whole(body, local);
    yk_put_text(body, def->subsystem);
    yk_put_bytes(body, own, sizeof own);

    yk_status status = answer(r, YK_FRAME_HELLO);
    if (YK_FAILED(status))
        return status;

    /* Requirements and capabilities of the server: bit 0 a proof of the secret, bit 1 shared
     * memory. */
    unsigned char theirs[YK_NONCE];
    uint32_t flags = yk_get_whole(body);
    yk_get_bytes(body, theirs, sizeof theirs);
    status = done(r, YK_OK);
    if (status != YK_OK)
        return status;

    /* Both sides prove that they know the secret, the client first. */
    if (flags & 1) {
        if (!def->secret)
            return yk_fail(r->context, YK_ERROR_EXTERNAL, "%s asks for a shared secret", r->name);

        unsigned char proof[YK_PROOF];
        unsigned char expected[YK_PROOF];
        yk_proof(def->secret, "yoke client", theirs, own, proof);
        yk_put_bytes(ask(r), proof, sizeof proof);

        status = answer(r, YK_FRAME_PROOF);
        if (YK_FAILED(status))
            return status;

        /* Without this check, any process could answer at the address. */
        yk_get_bytes(body, proof, sizeof proof);
        yk_proof(def->secret, "yoke server", own, theirs, expected);
        if (done(r, YK_OK) != YK_OK || sodium_memcmp(proof, expected, sizeof proof) != 0)
            return yk_fail(r->context, YK_ERROR_EXTERNAL, "%s does not know the secret", r->name);
    } else if (def->secret) {
        return yk_fail(r->context, YK_ERROR_EXTERNAL,
                       "%s does not ask for the secret: it is not the server that was meant",
                       r->name);
    }

    /* Memory can be shared over a local socket only. */
    if (!(flags & 2))
        return YK_OK;

    /* From here on frames go through memory; the socket remains open. */
    int memory;
    yk_transport *shared = NULL;
    int beside = dup(socket);
    if (beside >= 0 && yk_memory_create(&memory)) {
        if (yk_send_descriptor(socket, memory))
            shared = yk_memory_transport(r->context, memory, beside, true);
        close(memory);
    }

    if (!shared) {
        if (beside >= 0)
            close(beside);
        return yk_fail(r->context, YK_ERROR_EXTERNAL, "no memory can be shared with %s", r->name);
    }

    r->transport->ops->close(r->transport);
    r->transport = shared;
    return YK_OK;
}

/* Description of the subsystem: ports, capabilities, channels. */
static yk_status read_description(remote *r)
{
    ask(r);
    yk_status status = answer(r, YK_FRAME_DESCRIBE);
    if (YK_FAILED(status))
        return status;

    /* The header. Do not trust it: counts have limits, and the body must not be shorter. */
    yk_body *body = &r->body;
    char text[1024];
    yk_get_text(body, text, sizeof text);
    char *kind = yk_text_copy(r->context, text);
    r->ops.kind = kind;
    r->capabilities = yk_get_whole(body);
    r->input_degree = (int)yk_get_whole(body);

    uint32_t ports = yk_get_whole(body);
    if (body->failed || ports > YK_PORTS_MAX || r->input_degree > YK_INPUT_DEGREE_MAX)
        return nonsense(r);

    r->ports = yk_allocate(r->context, ports + 1, sizeof *r->ports);
    r->causalities = yk_allocate(r->context, ports + 1, sizeof *r->causalities);
    r->values = yk_allocate(r->context, ports + 1, sizeof *r->values);
    r->predicted = yk_allocate(r->context, ports + 1, sizeof *r->predicted);
    if (!kind || !r->ports || !r->causalities || !r->values || !r->predicted)
        return YK_ERROR_MEMORY;

    /* A port counts as soon as it has a name, so that exactly the created ones are released. */
    for (uint32_t i = 0; i < ports; i++) {
        yk_get_text(body, text, sizeof text);
        uint32_t port_kind = yk_get_whole(body);
        char *name = yk_text_copy(r->context, text);
        r->ports[i] = (yk_port){name, (yk_port_kind)port_kind, yk_get_whole(body)};
        r->port_count++;
        if (!name)
            return YK_ERROR_MEMORY;
        if (port_kind > YK_PORT_SIGNAL)
            return nonsense(r);
    }

    /* Channels, and the first number of each in an answer with all of them. */
    uint32_t channels = yk_get_whole(body);
    if (body->failed || channels > YK_REMOTE_CHANNELS_MAX)
        return nonsense(r);

    r->channels = yk_allocate(r->context, channels + 1, sizeof *r->channels);
    r->channel_first = yk_allocate(r->context, channels + 1, sizeof *r->channel_first);
    if (!r->channels || !r->channel_first)
        return YK_ERROR_MEMORY;

    for (uint32_t i = 0; i < channels; i++) {
        yk_channel *channel = &r->channels[i];
        yk_get_text(body, text, sizeof text);
        channel->name = yk_text_copy(r->context, text);
        yk_get_text(body, text, sizeof text);
        channel->unit = yk_text_copy(r->context, text);
        uint32_t components = yk_get_whole(body);

        /* Counted before it is checked, like ports, so that its texts are released. */
        r->channel_count++;
        if (!channel->name || !channel->unit)
            return YK_ERROR_MEMORY;
        if (components == 0 || components > YK_TEXT_MAX)
            return nonsense(r);

        channel->component_count = (int)components;
        r->channel_first[i] = r->channel_words;
        r->channel_words += components;
    }

    r->samples = yk_allocate(r->context, r->channel_words + 1, sizeof *r->samples);
    r->read = yk_allocate(r->context, channels + 1, sizeof *r->read);
    if (!r->samples || !r->read)
        return YK_ERROR_MEMORY;
    return done(r, YK_OK);
}

yk_remote_def yk_remote_default(void)
{
    return (yk_remote_def){.subsystem = "", .timeout = 30};
}

yk_status yk_remote_over(yk_context *context, const yk_remote_def *def, yk_transport *transport,
                         int socket, const yk_remote_host *host, yk_subsystem **subsystem)
{
    /* The object owns transport and host from here on, also after a failure. */
    *subsystem = NULL;
    remote *r = yk_allocate(context, 1, sizeof *r);
    if (!r) {
        transport->ops->close(transport);
        if (host->release)
            host->release(host->user);
        return YK_ERROR_MEMORY;
    }

    r->context = context;
    r->transport = transport;
    r->body.context = context;
    r->ahead.context = context;
    r->deadline = def->timeout;

    /* Comparisons with NaN are false: no event and no prediction is known yet. */
    r->event_after = NAN;
    r->predicted_step = NAN;
    r->relaxing = -1;
    r->host = *host;
    snprintf(r->name, sizeof r->name, "%s", host->name);

    /* Its table of operations: the required ones, then those of the other side's capabilities. */
    r->ops = (yk_subsystem_ops){
        .size = sizeof(yk_subsystem_ops),
        .ports = remote_ports,
        .connect = remote_connect,
        .initialize = remote_start,
        .step = remote_step,
        .get_port_value = remote_output,
        .destroy = remote_destroy,
        .last_message = remote_message,
        .max_input_degree = remote_input_degree,
    };

    r->base.ops = &r->ops;

    /* Handshake, then request the description. */
    yk_status status = YK_OK;
    if (sodium_init() < 0)
        status = YK_ERROR_EXTERNAL;
    if (status == YK_OK && socket >= 0) {
        r->body.meeting = true;
        status = meet(r, def, socket);
        r->body.meeting = false;
    }
    if (status == YK_OK)
        status = read_description(r);
    if (status == YK_OK && r->capabilities & YK_CAN_WORK_AHEAD)
        status = read_about(r);

    if (status != YK_OK) {
        remote_destroy(&r->base);
        return status;
    }

    /* A capability exists if the other side has it. */
    if (r->capabilities & YK_CAN_PREDICT)
        r->ops.predict = remote_predict;
    if (r->capabilities & YK_CAN_MOVE_PORTS)
        r->ops.move_port = remote_move_port;
    if (r->capabilities & YK_CAN_ROLL_BACK)
        r->ops.rollback = &rollback_ops;
    if (r->capabilities & YK_CAN_EXPECT_STATES)
        r->ops.expect_states = remote_expect_states;
    if (r->capabilities & YK_CAN_NAME_UNITS)
        r->ops.port_unit = remote_port_unit;
    if (r->capabilities & YK_CAN_ITERATE)
        r->ops.iteration = &iteration_ops;
    if (r->capabilities & YK_CAN_DIFFERENTIATE)
        r->ops.sensitivity = &sensitivity_ops;
    if (r->capabilities & YK_CAN_REDUCE)
        r->ops.interface_model = &interface_model_ops;
    if (r->capabilities & YK_CAN_MODEL_STEP)
        r->ops.step_model = &step_model_ops;
    if (r->capabilities & YK_CAN_ANNOUNCE_EVENTS)
        r->ops.events = &event_ops;
    if (r->capabilities & YK_CAN_COUNT_ENERGY)
        r->ops.energy = &energy_ops;
    if (r->capabilities & YK_CAN_BE_RECORDED)
        r->ops.channels = &channel_ops;
    if (r->capabilities & YK_CAN_BE_SEEN)
        r->ops.scene = &scene_ops;
    if (r->capabilities & YK_CAN_SHOW_CONTACTS)
        r->ops.contact_points = &contact_point_ops;

    /* Capabilities of later versions of the server. */
    r->ops.remote = &plain_ops;
    if (r->capabilities & YK_CAN_WORK_AHEAD) {
        r->ops.remote = &remote_ops;
        if (r->capabilities & YK_CAN_RELAX)
            r->ops.relaxed = &part_ops;
        r->ops.is_state_process_local = remote_image_is_local;
        if (r->count_bytes > 0)
            r->ops.counters = remote_counts;
        if (!isnan(r->rho_inf))
            r->ops.rho_inf = remote_rho_inf;
    }

    *subsystem = &r->base;
    return YK_OK;
}

yk_status yk_remote_attach(yk_context *context, const yk_remote_def *def, int socket,
                           const yk_remote_host *host, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    yk_transport *transport = yk_socket_transport(context, socket);
    if (transport)
        return yk_remote_over(context, def, transport, socket, host, subsystem);

    /* The subsystem releases socket and host, also after a failure. */
    close(socket);
    if (host->release)
        host->release(host->user);
    return YK_ERROR_MEMORY;
}

yk_status yk_remote_create(yk_context *context, const yk_remote_def *def, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    if (!def->address || !(def->timeout > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a remote subsystem needs an address and a deadline above 0 s");

    int socket = -1;
    yk_status status =
        yk_socket_connect(context, def->address, yk_clock_seconds() + def->timeout, &socket);
    if (status != YK_OK)
        return status;

    /* The address is part of messages, because several partners may have subsystems of the same
     * name. */
    char name[300];
    snprintf(name, sizeof name, "'%.100s' at %.180s", def->subsystem, def->address);
    yk_remote_host host = {.name = name};
    return yk_remote_attach(context, def, socket, &host, subsystem);
}
