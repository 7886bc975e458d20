/* Invalid frames from a client or a server that violates the protocol. Each must lead to a message
 * within the deadline, and a server continues to serve its other clients. */
#include "test.h"

#include <math.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "context.h"
#include "remote/frame.h"
#include "serving.h"
#include "yoke/oscillator.h"

static yk_status create_one(void *user, yk_context *context, const char *name,
                            yk_subsystem **subsystem)
{
    (void)user, (void)name;
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = 1;
    return yk_oscillator_create(context, &def, subsystem);
}

/* The same numbers on every machine. */
static uint32_t random_state = 1;
static uint32_t draw(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

/* Damages some bytes of a message that was right. */
static void damage(unsigned char *bytes, size_t *length, int how)
{
    switch (how % 5) {
    case 0: *length = draw() % (*length + 1); break;
    case 1: bytes[draw() % *length] ^= (unsigned char)(1 + draw() % 255); break;
    case 2: memset(bytes, 0xff, 4); break;
    case 3:
        for (size_t i = 0; i < *length; i++)
            bytes[i] = (unsigned char)draw();
        break;
    case 4: memset(bytes + 16, 0xff, *length - 16); break;
    }
}

/* Servers that lie ----------------------------------------------------------------------------- */

/* Relays a client to a good server byte by byte, but damages one of the answers. */
static void relay(int client, int server, int number, int how)
{
    static unsigned char bytes[1 << 16];
    for (int i = 0;; i++) {
        ssize_t got = recv(client, bytes, sizeof bytes, 0);
        if (got <= 0 || send(server, bytes, (size_t)got, MSG_NOSIGNAL) != got)
            return;
        got = recv(server, bytes, sizeof bytes, 0);
        if (got <= 0)
            return;
        size_t length = (size_t)got;
        if (i == number)
            damage(bytes, &length, how);
        if (length > 0 && send(client, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
            return;
        if (i == number && length < (size_t)got)
            return;
    }
}

static void test_answers(void **state)
{
    yk_context *context = *state;
    serving s;
    assert_true(serving_start(&s, NULL, NULL, create_one));
    int refused = 0;
    for (int i = 0; i < 60; i++) {
        char address[] = "unix:/tmp/yoke-relay-XXXXXX/socket";
        char *folder = address + 5;
        folder[strlen(folder) - 7] = '\0';
        assert_non_null(mkdtemp(folder));
        folder[strlen(folder)] = '/';
        int listening;
        assert_int_equal(yk_socket_listen(context, address, false, &listening), YK_OK);
        uint32_t seed = draw();
        fflush(NULL);
        pid_t liar = fork();
        if (liar == 0) {
            random_state = seed;
            int server;
            int client = accept(listening, NULL, NULL);
            if (yk_socket_connect(context, s.address, yk_clock_seconds() + 20, &server) == YK_OK)
                relay(client, server, i % 4, i / 4);
            _exit(0);
        }
        close(listening);

        /* Damage that leaves the protocol whole may change a number, and no more than that. */
        yk_remote_def def = yk_remote_default();
        def.address = address;
        def.timeout = 2;
        def.disable_shared_memory = true;
        yk_subsystem *subsystem = NULL;
        double began = yk_clock_seconds();
        yk_status status = yk_remote_create(context, &def, &subsystem);
        if (status == YK_OK && subsystem->ops->connect)
            status = subsystem->ops->connect(subsystem, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X);
        if (status == YK_OK)
            status = subsystem->ops->initialize(subsystem, 0, 1e-3, NULL);
        assert_true(yk_clock_seconds() - began < 30);
        if (YK_FAILED(status)) {
            refused++;
            assert_true(strlen(yk_last_message(context)) > 10);
        }
        if (subsystem)
            subsystem->ops->destroy(subsystem);
        kill(liar, SIGKILL);
        waitpid(liar, NULL, 0);
        unlink(address + 5);
        address[strlen(address) - 7] = '\0';
        rmdir(address + 5);
    }
    assert_true(refused >= 40);
    serving_stop(&s);
}

/* Clients that lie ----------------------------------------------------------------------------- */

static void test_questions(void **state)
{
    yk_context *context = *state;
    serving s;
    assert_true(serving_start(&s, NULL, NULL, create_one));
    for (int i = 0; i < 60; i++) {
        int fd;
        assert_int_equal(yk_socket_connect(context, s.address, yk_clock_seconds() + 20, &fd),
                         YK_OK);

        /* A good hello for the second half of them, then a question of any kind. */
        yk_body body = {.context = context};
        unsigned char nonce[YK_NONCE] = {0};
        yk_put_bytes(&body, "YOKEWIRE", 8);
        yk_put_whole(&body, YK_PROTOCOL_VERSION);
        yk_put_whole(&body, 0);
        yk_put_text(&body, "");
        yk_put_bytes(&body, nonce, sizeof nonce);
        if (i >= 30) {
            yk_transport *transport = yk_socket_transport(context, dup(fd));
            double deadline = yk_clock_seconds() + 20;
            uint16_t kind;
            uint64_t number;
            assert_int_equal(yk_frame_send(transport, YK_FRAME_HELLO, 1, &body, deadline), YK_OK);
            assert_int_equal(yk_frame_receive(transport, &kind, &number, &body, deadline), YK_OK);
            transport->ops->close(transport);
            body.length = draw() % 200;
            assert_true(yk_body_reserve(&body, 256));
            for (size_t k = 0; k < body.length; k++)
                body.bytes[k] = (unsigned char)draw();
        }
        unsigned char frame[600] = {0};
        size_t length = 16 + body.length;
        uint32_t count = (uint32_t)body.length;
        memcpy(frame, &count, sizeof count);
        frame[4] = (unsigned char)(i < 30 ? YK_FRAME_HELLO : i % YK_FRAME_KIND_END);
        memcpy(frame + 16, body.bytes, body.length);
        if (i < 30)
            damage(frame, &length, i);
        if (length > 0)
            assert_int_equal(send(fd, frame, length, MSG_NOSIGNAL), (ssize_t)length);

        /* An answer, or the end of the connection; for less than a frame the server waits. */
        shutdown(fd, SHUT_WR);
        char answer[2000];
        while (recv(fd, answer, sizeof answer, 0) > 0)
            ;
        close(fd);
        yk_free(context, body.bytes);
    }

    /* The server is well. */
    yk_remote_def def = yk_remote_default();
    def.address = s.address;
    yk_subsystem *subsystem;
    assert_int_equal(yk_remote_create(context, &def, &subsystem), YK_OK);
    subsystem->ops->destroy(subsystem);
    serving_stop(&s);
}

/* Bodies --------------------------------------------------------------------------------------- */

static void test_bodies(void **state)
{
    yk_body body = {.context = *state};
    yk_put_whole(&body, 7);
    yk_put_number(&body, -0.0);
    yk_put_text(&body, "wrench");
    char text[4];
    assert_int_equal(yk_get_whole(&body), 7);
    assert_true(signbit(yk_get_number(&body)));
    yk_get_text(&body, text, sizeof text);
    assert_string_equal(text, "wre");
    assert_true(yk_body_is_done(&body));
    assert_true(yk_get_number(&body) == 0);
    assert_true(body.failed);

    /* An input keeps all its bits, and those of a port that is not connected are not read. */
    yk_input input = {.degree = 2, .base_orientation = {0.5, 0.5, 0.5, 0.5}};
    for (int i = 0; i <= 2; i++) {
        input.linear[i] = (yk_vec3){0.1 * i, NAN, -1e300};
        input.angular[i] = (yk_vec3){1.0 / 3, 5e-324, INFINITY};
    }
    yk_input back;
    body.length = body.at = 0;
    body.failed = false;
    yk_put_input(&body, &input, true);
    yk_get_input(&body, &back);
    assert_memory_equal(&input, &back, sizeof input);
    assert_true(yk_body_is_done(&body));

    /* Only the numbers whose bits have changed are sent; without a change, none. */
    double kept[6] = {1, NAN, 0, 4, 5, 6};
    double there[6] = {1, NAN, 0, 4, 5, 6};
    const double now[6] = {1, NAN, -0.0, 4, 5.5, INFINITY};
    body.length = body.at = 0;
    yk_put_changes(&body, now, kept, 6);
    assert_int_equal(body.length, 2 * 8 + 3 * sizeof *now);
    yk_get_changes(&body, there, 6);
    assert_true(yk_body_is_done(&body));
    assert_memory_equal(there, now, sizeof now);
    assert_memory_equal(kept, now, sizeof now);
    yk_put_changes(&body, now, kept, 0);
    assert_true(yk_body_is_done(&body));

    /* Runs behind the end, and such as never come to one. */
    static const uint32_t lies[][2] = {{7, 0}, {5, 2}, {0, 7}, {0, 0}, {0xffffffff, 1}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        body.length = body.at = 0;
        body.failed = false;
        yk_put_whole(&body, lies[i][0]);
        yk_put_whole(&body, lies[i][1]);
        yk_put_numbers(&body, now, 6);
        yk_get_changes(&body, there, 6);
        assert_true(body.failed);
    }

    yk_free(*state, body.bytes);
}

/* The table of questions in docs/protocol.md has a row for each kind of frame, under its number and name. */
static void test_document(void **state)
{
    (void)state;
    FILE *stream = fopen(YOKE_SOURCE_DIR "/docs/protocol.md", "r");
    assert_non_null(stream);
    char line[4096];
    bool in_questions = false;
    unsigned documented = 0;
    while (fgets(line, sizeof line, stream)) {
        if (strncmp(line, "## ", 3) == 0)
            in_questions = strncmp(line, "## Questions", 12) == 0;
        char *name;
        unsigned kind = (unsigned)strtoul(line + 1, &name, 10);
        if (!in_questions || line[0] != '|' || kind == 0)
            continue;

        char *end = strstr(name, " |");
        assert_non_null(end);
        *end = '\0';
        name += strspn(name, " ");
        for (char *at = name; *at; at++)
            if (*at == ' ')
                *at = '_';
        assert_non_null(yk_frame_name(kind));
        assert_string_equal(name, yk_frame_name(kind));
        documented++;
    }
    fclose(stream);
    assert_int_equal(documented, YK_FRAME_KIND_END - 1);
    assert_null(yk_frame_name(0));
    assert_null(yk_frame_name(YK_FRAME_KIND_END));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests_name("frames", tests, create_context, destroy_context);
}
