/* Invalid frames from either side: the client ends with a message, the server reports the reason,
 * and neither crashes nor hangs. */
#include "test.h"

#include <sys/socket.h>

#include "base/clock.h"
#include "remote/frame.h"
#include "serving.h"
#include "the_context.h"
#include "yoke/oscillator.h"

static const double PATIENCE = 60; /* s; no case takes as long */

static yk_status create_mass(void *user, yk_context *owner, const char *name,
                             yk_subsystem **subsystem)
{
    (void)user, (void)name;
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = 1;
    return yk_oscillator_create(owner, &def, subsystem);
}

/* A good server in a process of its own; the socket that leads to it. */
static pid_t serve_mass(int *client)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        yk_server_def def = yk_server_default();
        def.address = "unix:";
        def.create = create_mass;
        def.client_timeout = PATIENCE;
        yk_serve_connected(context, &def, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    *client = ends[0];
    return process;
}

static void end_process(pid_t process)
{
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

/* Damages -------------------------------------------------------------------------------------- */

typedef enum damage {
    LENGTH_WITHOUT_END,
    KIND_ZERO,
    KIND_UNKNOWN,
    NOT_ZERO,
    KIND_OF_ANOTHER,
    NUMBER_OF_ANOTHER,
    BODY_TOO_SHORT,
    BODY_TOO_LONG,
    BODY_EMPTY,
    CUT_IN_THE_HEADER,
    CUT_IN_THE_BODY,
    DAMAGES
} damage;

/* A frame as bytes, damaged; `frame` has room for eight bytes more. Returns how many to send. */
static size_t break_frame(unsigned char *frame, size_t length, damage how)
{
    uint32_t body = (uint32_t)(length - YK_FRAME_HEADER);
    switch (how) {
    case LENGTH_WITHOUT_END: memset(frame, 0xff, 4); break;
    case KIND_ZERO: frame[4] = 0; break;
    case KIND_UNKNOWN: frame[4] = 99; break;
    case NOT_ZERO: frame[6] = 1; break;
    case KIND_OF_ANOTHER: frame[4] = frame[4] == YK_FRAME_CHANNELS ? 1 : YK_FRAME_CHANNELS; break;
    case NUMBER_OF_ANOTHER: frame[8] ^= 0x40; break;
    case BODY_TOO_SHORT:
        body -= 4;
        length -= 4;
        break;
    case BODY_TOO_LONG:
        memset(frame + length, 0, 8);
        body += 8;
        length += 8;
        break;
    case BODY_EMPTY:
        body = 0;
        length = YK_FRAME_HEADER;
        break;
    case CUT_IN_THE_HEADER: return 7;
    case CUT_IN_THE_BODY: return length - 3;
    case DAMAGES: break;
    }
    if (how >= BODY_TOO_SHORT)
        memcpy(frame, &body, sizeof body);
    return length;
}

static size_t read_frame(int fd, unsigned char *frame, size_t capacity)
{
    uint32_t body;
    if (recv(fd, frame, YK_FRAME_HEADER, MSG_WAITALL) != YK_FRAME_HEADER)
        return 0;
    memcpy(&body, frame, sizeof body);
    if (body > capacity - YK_FRAME_HEADER)
        return 0;
    if (body > 0 && recv(fd, frame + YK_FRAME_HEADER, body, MSG_WAITALL) != (ssize_t)body)
        return 0;
    return YK_FRAME_HEADER + body;
}

/* Broken answers ------------------------------------------------------------------------------- */

/* Stands between a client and a good server, damages one answer and ends. */
static void lie(int client, int server, int stage, damage how)
{
    static unsigned char frame[1 << 16];
    for (int i = 0; i <= stage; i++) {
        size_t length = read_frame(client, frame, sizeof frame);
        if (length == 0 || send(server, frame, length, MSG_NOSIGNAL) != (ssize_t)length)
            return;
        length = read_frame(server, frame, sizeof frame - 8);
        if (length == 0)
            return;
        if (i == stage)
            length = break_frame(frame, length, how);
        if (send(client, frame, length, MSG_NOSIGNAL) != (ssize_t)length)
            return;
    }
}

/* Hello, describe, connect, start, step: until one fails. */
static yk_status use(int socket, char *message, size_t capacity)
{
    yk_remote_host host = {.name = "'mass'"};
    yk_remote_def def = yk_remote_default();
    def.address = "unix:";
    def.timeout = PATIENCE;
    def.disable_shared_memory = true;
    yk_subsystem *mass = NULL;
    yk_status status = yk_remote_attach(context, &def, socket, &host, &mass);

    yk_input input = {.base_orientation = {1, 0, 0, 0}};
    if (status == YK_OK)
        status = mass->ops->connect(mass, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X);
    if (status == YK_OK)
        status = mass->ops->initialize(mass, 0, 1e-3, NULL);
    if (status == YK_OK)
        status = mass->ops->step(mass, 0, 1e-3, &input);

    snprintf(message, capacity, "%s", yk_last_message(context));
    if (mass)
        mass->ops->destroy(mass);
    return status;
}

/* Stands between a client and a good server, and replaces the status of the answer to a step. */
static void replace_status(int client, int server, int32_t status)
{
    enum { STEP_ANSWER = 4 };
    static unsigned char frame[1 << 16];
    for (int i = 0; i <= STEP_ANSWER; i++) {
        size_t length = read_frame(client, frame, sizeof frame);
        if (length == 0 || send(server, frame, length, MSG_NOSIGNAL) != (ssize_t)length)
            return;
        length = read_frame(server, frame, sizeof frame);
        if (length == 0)
            return;
        if (i == STEP_ANSWER)
            memcpy(frame + YK_FRAME_HEADER, &status, sizeof status);
        if (send(client, frame, length, MSG_NOSIGNAL) != (ssize_t)length)
            return;
    }
}

/* Every error of the list arrives unchanged; other numbers are no answer. */
static void test_statuses(void **state)
{
    (void)state;
    for (int32_t sent = YK_ERROR_ABORTED - 2; sent < 0; sent++) {
        int server;
        pid_t good = serve_mass(&server);
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        pid_t liar = fork();
        if (liar == 0) {
            close(ends[0]);
            replace_status(ends[1], server, sent);
            _exit(0);
        }
        close(ends[1]);
        close(server);

        char message[YK_PARTNER_MESSAGE];
        yk_status status = use(ends[0], message, sizeof message);
        yk_status expected = YK_ERROR_EXTERNAL;
        if (sent >= YK_ERROR_ABORTED)
            expected = (yk_status)sent;
        if (status != expected)
            fail_msg("status %d arrives as %d: '%s'", sent, status, message);

        end_process(liar);
        end_process(good);
    }
}

static void test_answers(void **state)
{
    static const char *const says[DAMAGES] = {
        [LENGTH_WITHOUT_END] = "sent what is no frame of this protocol",
        [KIND_ZERO] = "sent what is no frame of this protocol (kind 0,",
        [KIND_UNKNOWN] = "sent what is no frame of this protocol (kind 99,",
        [NOT_ZERO] = "sent what is no frame of this protocol",
        [KIND_OF_ANOTHER] = "sent an answer that does not fit the question",
        [NUMBER_OF_ANOTHER] = "sent an answer that does not fit the question",
        [BODY_TOO_SHORT] = "sent an answer that does not fit the question",
        [BODY_TOO_LONG] = "sent an answer that does not fit the question",
        [BODY_EMPTY] = "sent an answer that does not fit the question",
        [CUT_IN_THE_HEADER] = "has ended",
        [CUT_IN_THE_BODY] = "has ended",
    };
    (void)state;
    for (int i = 0; i < 5 * DAMAGES; i++) {
        int server;
        pid_t good = serve_mass(&server);
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        pid_t liar = fork();
        if (liar == 0) {
            close(ends[0]);
            lie(ends[1], server, i / DAMAGES, (damage)(i % DAMAGES));
            _exit(0);
        }
        close(ends[1]);
        close(server);

        char message[YK_PARTNER_MESSAGE];
        double began = yk_clock_seconds();
        yk_status status = use(ends[0], message, sizeof message);
        assert_true(yk_clock_seconds() - began < PATIENCE);
        if (status != YK_ERROR_EXTERNAL || !strstr(message, "the partner 'mass' ") ||
            !strstr(message, says[i % DAMAGES]))
            fail_msg("answer %d, damage %d: status %d, '%s'", i / DAMAGES, i % DAMAGES, status,
                     message);

        end_process(liar);
        end_process(good);
    }
}

/* Broken questions ----------------------------------------------------------------------------- */

/* Questions as numbers: `w` a whole one, `d` a double, `i` an input of a port, of this degree, `s`
 * the eight letters that a hello begins with, or eight others. */
typedef struct question {
    yk_frame_kind kind;
    const char *layout;
    double values[8];
} question;

static const question hello = {YK_FRAME_HELLO, "swwwdddd", {1, 1}};
static const question connect_wrench = {
    YK_FRAME_CONNECT, "www", {0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X}};
static const question start_mass = {YK_FRAME_START, "ddw", {0, 1e-3, 0}};
static const question step_mass = {YK_FRAME_STEP, "ddwi", {0, 1e-3, 1, 0}};

static size_t write_question(unsigned char *frame, const question *q, uint64_t number)
{
    yk_body body = {.context = context};
    const double *value = q->values;
    for (const char *c = q->layout; *c; c++, value++) {
        static const double zeros[10];
        uint32_t whole = (uint32_t)*value;
        switch (*c) {
        case 's': yk_put_bytes(&body, *value == 1 ? "YOKEWIRE" : "GET / HT", 8); break;
        case 'w': yk_put_whole(&body, whole); break;
        case 'd': yk_put_number(&body, *value); break;
        case 'i':
            yk_put_whole(&body, whole);
            for (uint32_t i = 0; i <= whole && i < 20; i++)
                yk_put_numbers(&body, zeros, 6);
            yk_put_numbers(&body, zeros, 4);
            break;
        default: fail_msg("unknown letter %c", *c);
        }
    }

    /* The header as docs/protocol.md has it. */
    uint32_t length = (uint32_t)body.length;
    uint16_t kind = (uint16_t)q->kind;
    memset(frame, 0, YK_FRAME_HEADER);
    memcpy(frame, &length, sizeof length);
    memcpy(frame + 4, &kind, sizeof kind);
    memcpy(frame + 8, &number, sizeof number);
    if (length > 0)
        memcpy(frame + YK_FRAME_HEADER, body.bytes, length);
    yk_free(context, body.bytes);
    return YK_FRAME_HEADER + length;
}

/* After these questions, in order, comes the one that is wrong. */
static const question *const good[] = {&hello, &connect_wrench, &start_mass, &step_mass};

/* Sends good questions, then this frame, and returns the message of the answer; empty where the
 * connection ends without one. */
static void provoke(int good_count, const unsigned char *frame, size_t length, char *message,
                    size_t capacity)
{
    int server;
    pid_t process = serve_mass(&server);
    unsigned char bytes[2000];
    for (int i = 0; i < good_count; i++) {
        size_t count = write_question(bytes, good[i], (uint64_t)i);
        assert_int_equal(send(server, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
        assert_true(read_frame(server, bytes, sizeof bytes) > 0);
        assert_true(bytes[YK_FRAME_HEADER] == 0);
    }

    /* Nothing follows, so that a server that waits for more sees the end. */
    assert_int_equal(send(server, frame, length, MSG_NOSIGNAL), (ssize_t)length);
    shutdown(server, SHUT_WR);
    message[0] = '\0';
    size_t count = read_frame(server, bytes, sizeof bytes);
    if (count > 0) {
        yk_body body = {.bytes = bytes + YK_FRAME_HEADER, .length = count - YK_FRAME_HEADER};
        assert_true((int32_t)yk_get_whole(&body) < 0);
        yk_get_text(&body, message, capacity);
    }

    /* It ends by itself, without a signal. */
    close(server);
    int code;
    assert_int_equal(waitpid(process, &code, 0), process);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

static void test_damaged_questions(void **state)
{
    (void)state;
    static const char *const fits[] = {"a connection begins with a hello",
                                       "there is no such port, or it cannot be connected like this",
                                       "the inputs do not fit the ports",
                                       "the inputs do not fit the ports"};
    for (int stage = 0; stage < 4; stage++) {
        for (int how = 0; how < DAMAGES; how++) {
            /* Any number will do for a question, and any kind that comes in time. */
            if (how == NUMBER_OF_ANOTHER || how == KIND_OF_ANOTHER)
                continue;

            unsigned char frame[2000];
            size_t length = write_question(frame, good[stage], 77);
            length = break_frame(frame, length, (damage)how);
            char message[YK_PARTNER_MESSAGE];
            provoke(stage, frame, length, message, sizeof message);

            const char *expected = fits[stage];
            if (how < KIND_OF_ANOTHER)
                expected = "the client sent what is no frame of this protocol";
            if (how >= CUT_IN_THE_HEADER)
                expected = "";
            if (strncmp(message, expected, strlen(expected)) != 0 || !message[0] != !expected[0])
                fail_msg("question %d, damage %d: '%s'", stage, how, message);
        }
    }
}

/* Complete frames that request missing things, or at a wrong time. */
static void test_wrong_questions(void **state)
{
    static const struct {
        int after; /* how many good questions */
        question q;
        const char *says;
    } rows[] = {
        {0, {YK_FRAME_HELLO, "swwwdddd", {0, 1}}, "a connection begins with a hello"},
        {0,
         {YK_FRAME_HELLO, "swwwdddd", {1, 9}},
         "this server speaks version 1 of the protocol, the client 9"},
        {0, {YK_FRAME_DESCRIBE, "", {0}}, "a connection begins with a hello"},
        {0, {YK_FRAME_HELLO, "swww", {1, 1, 0, 99999}}, "a connection begins with a hello"},
        {1, {YK_FRAME_HELLO, "swwwdddd", {1, 1}}, "this is no question at this point"},
        {1, {YK_FRAME_PROOF, "dddddddd", {0}}, "this is no question at this point"},
        {1,
         {YK_FRAME_CONNECT, "www", {99, 1, 1}},
         "there is no such port, or it cannot be connected like this"},
        {1,
         {YK_FRAME_CONNECT, "www", {0, 64, 1}},
         "there is no such port, or it cannot be connected like this"},
        {2,
         {YK_FRAME_CONNECT, "www", {0, 1, 1}},
         "there is no such port, or it cannot be connected like this"},
        {2, {YK_FRAME_STEP, "ddwi", {0, 1e-3, 1, 0}}, "the subsystem has not been started"},
        {2, {YK_FRAME_STATE_GET, "", {0}}, "the subsystem has not been started"},
        {2, {YK_FRAME_START, "ddwi", {0, 1e-3, 1, 9}}, "the inputs do not fit the ports"},
        {3, {YK_FRAME_STEP, "ddw", {0, 1e-3, 0}}, "the inputs do not fit the ports"},
        {3, {YK_FRAME_STEP, "ddwii", {0, 1e-3, 1, 0, 0}}, "the inputs do not fit the ports"},
        {3,
         {YK_FRAME_SENSITIVITY, "ddwiw", {0, 1e-3, 1, 0, 1000}},
         "the inputs do not fit the ports, or it has no derivatives"},
        {3,
         {YK_FRAME_INTERFACE_MODEL, "ddwiw", {0, 1e-3, 1, 0, 1e6}},
         "the size does not fit the ports, or it has no interface model"},
        {3,
         {YK_FRAME_STEP_MODEL, "ddwiww", {0, 1e-3, 1, 0, 1, 4e9}},
         "the size does not fit the ports, or it has no step model"},
        {3, {YK_FRAME_STATE_SET, "d", {0}}, "it has no state image, or one of another size"},
        {3, {YK_FRAME_PREDICT, "wd", {7, 1e-3}}, "there is no such port, or nothing is predicted"},
        {3,
         {YK_FRAME_MOVE_PORT, "wwddddd", {0, 1}},
         "there is no such port, or it cannot be moved"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char frame[2000];
        size_t length = write_question(frame, &rows[i].q, 77);
        char message[YK_PARTNER_MESSAGE];
        provoke(rows[i].after, frame, length, message, sizeof message);
        if (strcmp(message, rows[i].says) != 0)
            fail_msg("question %zu: '%s'", i, message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_damaged_questions),
        cmocka_unit_test(test_wrong_questions),
    };
    return cmocka_run_group_tests_name("broken frames", tests, open_context, close_context);
}
