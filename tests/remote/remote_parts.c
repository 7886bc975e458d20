/* Parts of a merged subsystem that other processes solve with the scheme relaxed: bitwise the same
 * result as in one process for every transport, with a controller on one of the parts and after a
 * state has been restored. Under mpirun -n 2 the ranks are those of the launcher. */
#include "test.h"

#include "context.h"
#include "coupling/system_arrays.h"
#include "rank_serving.h"
#include "serving.h"
#include "yoke/scenario.h"

/* Three links, the last with a motor that a controller turns. */
static const char text[] =
    "time: {end: 1, step: 2e-3}\n"
    "subsystems:\n"
    "  - {name: link_0, solver: multibody, gravity: [0, -9.81, 0],\n"
    "     bodies: {bar: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [0.1, 0, 0]}},\n"
    "     joints: {pin: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 0, "
    "1]}},\n"
    "     ports: {end: {body: bar, offset: [0.1, 0, 0]}}}\n"
    "  - {name: link_1, solver: multibody, gravity: [0, -9.81, 0],\n"
    "     bodies: {bar: {mass: 0.7, inertia: [0.01, 0.01, 0.01], position: [0.3, 0, 0]}},\n"
    "     ports: {begin: {body: bar, offset: [-0.1, 0, 0]}, end: {body: bar, offset: [0.1, 0, "
    "0]}}}\n"
    "  - {name: link_2, solver: multibody, gravity: [0, -9.81, 0],\n"
    "     bodies: {bar: {mass: 0.5, inertia: [0.01, 0.01, 0.01], position: [0.5, 0, 0]},\n"
    "              wheel: {mass: 0.1, inertia: [0.001, 0.001, 0.001], position: [0.6, 0, 0]}},\n"
    "     joints: {axle: {type: revolute, between: [bar, wheel], at: [0.6, 0, 0], axis: [0, 0, "
    "1]}},\n"
    "     forces: {motor: {type: motor, joint: axle, signal_port: torque}},\n"
    "     ports: {begin: {body: bar, offset: [-0.1, 0, 0]}}}\n"
    "  - {name: pd, solver: control, loops: {angle: {reference: 0.5, proportional: 1, derivative: "
    "0.1}}}\n"
    "interfaces:\n"
    "  - {name: \"hinge_{i}\", repeat: 2, between: [\"link_{i-1}.end\", \"link_{i}.begin\"],\n"
    "     joint: spherical}\n"
    "wires:\n"
    "  angle: {from: link_2.axle.angle, to: pd.angle.measured}\n"
    "  rate: {from: link_2.axle.angular_velocity, to: pd.angle.rate}\n"
    "  torque: {from: pd.angle, to: link_2.torque}\n"
    "coupling: {scheme: relaxed, sequence: jacobi}\n";

enum { PARTS = 3, SUBSYSTEMS = 4 };

static yk_scenario *load(yk_context *context)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = "links.yaml";
    def.text = text;
    yk_scenario *scenario = NULL;
    if (yk_scenario_load(context, &def, NULL, &scenario) != YK_OK)
        fprintf(stderr, "%s\n", yk_last_message(context));
    return scenario;
}

static yk_system_description describe(const yk_scenario *scenario)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    return (yk_system_description){
        .subsystems = info->subsystems,
        .names = info->subsystem_names,
        .subsystem_count = info->subsystem_count,
        .interfaces = info->interfaces,
        .interface_count = info->interface_count,
        .wires = info->wires,
        .wire_count = info->wire_count,
        .scheme = info->scheme,
        .step = info->step,
        .control = info->step_control,
        .on_failure = info->on_failure,
    };
}

/* A copy of the whole, for one of its parts; what it is made of stays as long as the process. */
static yk_status create_copy(void *user, yk_context *context, const char *name,
                             yk_subsystem **subsystem)
{
    (void)user;
    yk_scenario *scenario = load(context);
    if (!scenario)
        return YK_ERROR_INPUT;

    yk_system_description def = describe(scenario);
    return yk_system_make_copy(context, &def, name[5] - '0', subsystem);
}

/* Ranks have what they were started with, each to be met once. */
enum { ON_RANK = 4 };
static rank_serving rank;
static int met;

static yk_status create_on_rank(yk_context *context, int index, yk_subsystem **subsystem)
{
    return create_copy(NULL, context, index % 2 ? "link_2" : "link_1", subsystem);
}

/* The hash of the state after some steps, ten of which are taken back: with all parts here (NULL),
 * on a rank, or behind an address. */
static uint64_t run(yk_context *context, const char *address, bool socket_only, bool by_rank)
{
    yk_scenario *scenario = load(context);
    assert_non_null(scenario);
    yk_subsystem *copies[SUBSYSTEMS] = {NULL};
    yk_system_description def = describe(scenario);
    def.copies = copies;
    for (int i = 1; i < PARTS && (address || by_rank); i++) {
        yk_remote_def there = yk_remote_default();
        there.address = address;
        there.subsystem = def.names[i];
        there.disable_shared_memory = socket_only;
        yk_status status;
        if (by_rank)
            status = yk_ranks_remote(context, rank.ranks, 1, met++, def.names[i], 20, &copies[i]);
        else
            status = yk_remote_create(context, &there, &copies[i]);
        if (status != YK_OK)
            fail_msg("%s", yk_last_message(context));
    }

    yk_system *system;
    if (yk_system_make(context, &def, &system) != YK_OK || YK_FAILED(yk_system_initialize(system)))
        fail_msg("%s", yk_last_message(context));
    double *image = NULL;
    for (int i = 0; i < 60; i++) {
        if (i == 20) {
            image = yk_allocate(context, yk_system_state_layout(system).word_count, sizeof *image);
            assert_non_null(image);
            yk_system_get_state(system, image);
        }

        if (i == 30)
            assert_int_equal(yk_system_set_state(system, image), YK_OK);
        if (YK_FAILED(yk_system_step(system, NULL)))
            fail_msg("%s", yk_last_message(context));
    }

    uint64_t hash;
    assert_int_equal(yk_system_state_hash(system, &hash), YK_OK);
    yk_free(context, image);
    yk_system_destroy(system);
    for (int i = 0; i < SUBSYSTEMS; i++)
        if (copies[i])
            copies[i]->ops->destroy(copies[i]);
    yk_scenario_destroy(scenario);
    return hash;
}

static void test_bits(void **state)
{
    serving local;
    serving inet;
    assert_true(serving_start(&local, NULL, NULL, create_copy));
    assert_true(serving_start(&inet, "tcp:127.0.0.1:0", NULL, create_copy));
    uint64_t here = run(*state, NULL, false, false);
    assert_int_equal(run(*state, local.address, false, false), here);
    assert_int_equal(run(*state, local.address, true, false), here);
    assert_int_equal(run(*state, inet.address, true, false), here);
    assert_int_equal(run(*state, NULL, false, true), here);
    serving_stop(&local);
    serving_stop(&inet);
}

/* A part that is not there, and words of a subsystem that is no part of anything. */
static void test_refusals(void **state)
{
    yk_context *context = *state;
    yk_subsystem *copy;
    size_t words;
    size_t unknowns;
    assert_int_equal(yk_ranks_remote(context, rank.ranks, 1, met++, "link_1", 20, &copy), YK_OK);
    assert_int_equal(copy->ops->initialize(copy, 0, 2e-3, NULL), YK_OK);
    for (int part = 0; part < PARTS; part++) {
        assert_int_equal(copy->ops->relaxed->part_state_size(copy, part, &words, &unknowns), YK_OK);
        assert_int_equal(unknowns, part < 2 ? 6 : 12);
        assert_true(words > unknowns);
    }

    assert_true(YK_FAILED(copy->ops->relaxed->part_state_size(copy, PARTS, &words, &unknowns)));
    assert_non_null(strstr(yk_last_message(context), "there is no part 3"));
    assert_true(YK_FAILED(copy->ops->relaxed->part_state_size(copy, PARTS + 1, &words, &unknowns)));
    assert_non_null(strstr(yk_last_message(context), "there is no such part"));
    copy->ops->destroy(copy);

    yk_scenario *scenario = load(context);
    yk_system_description def = describe(scenario);
    assert_true(YK_FAILED(yk_system_make_copy(context, &def, PARTS, &copy)));
    assert_non_null(strstr(yk_last_message(context), "'pd' is not merged with others"));
    yk_scenario_destroy(scenario);
}

/* Questions that do not fit --------------------------------------------------------------------- */

/* A transport that hands out one question and takes its answer. */
typedef struct one_question {
    yk_transport base;
    unsigned char bytes[1 << 14];
    size_t at;
    int32_t status; /* of the answer */
} one_question;

static yk_status give(yk_transport *self, void *bytes, size_t count, double deadline)
{
    (void)deadline;
    one_question *q = (one_question *)self;
    memcpy(bytes, q->bytes + q->at, count);
    q->at += count;
    return YK_OK;
}

static yk_status take(yk_transport *self, const void *head, size_t head_count, const void *body,
                      size_t count, double deadline)
{
    (void)head, (void)head_count, (void)deadline;
    assert_true(count >= sizeof(int32_t));
    memcpy(&((one_question *)self)->status, body, sizeof(int32_t));
    return YK_OK;
}

static void close_nothing(yk_transport *self)
{
    (void)self;
}

static int32_t ask(yk_session *session, one_question *q, yk_frame_kind kind, const yk_body *body)
{
    uint32_t length = (uint32_t)body->length;
    uint16_t code = (uint16_t)kind;
    memset(q->bytes, 0, YK_FRAME_HEADER);
    memcpy(q->bytes, &length, sizeof length);
    memcpy(q->bytes + 4, &code, sizeof code);
    if (length > 0)
        memcpy(q->bytes + YK_FRAME_HEADER, body->bytes, length);
    q->at = 0;
    q->status = 1;
    assert_int_equal(yk_session_answer(session), YK_OK);
    return q->status;
}

static void put_step(yk_body *body, int ports)
{
    static const yk_input input = {.base_orientation = {1, 0, 0, 0}};
    body->length = 0;
    yk_put_number(body, 0);
    yk_put_number(body, 2e-3);
    yk_put_whole(body, 1);
    for (int i = 0; i < ports; i++)
        yk_put_input(body, &input, false);
}

static void test_misfits(void **state)
{
    static const yk_transport_ops ops = {take, give, close_nothing};
    yk_context *context = *state;
    yk_scenario *scenario = load(context);
    yk_system_description def = describe(scenario);
    yk_subsystem *copy;
    assert_int_equal(yk_system_make_copy(context, &def, 1, &copy), YK_OK);
    one_question q = {.base = {&ops, context}};
    yk_session *session;
    assert_int_equal(yk_session_open(context, &q.base, copy, NULL, &session), YK_OK);
    const yk_port *list;
    int ports = copy->ops->ports(copy, &list);

    /* Nothing is relaxed before its part was asked for. */
    yk_body body = {.context = context};
    put_step(&body, ports);
    assert_int_equal(ask(session, &q, YK_FRAME_START, &body), YK_OK);
    put_step(&body, ports);
    for (int i = 0; i < 3; i++)
        yk_put_whole(&body, 0);
    assert_true(ask(session, &q, YK_FRAME_RELAX, &body) < 0);
    for (uint32_t part = 0; part < PARTS; part++) {
        body.length = 0;
        yk_put_whole(&body, part);
        assert_int_equal(ask(session, &q, YK_FRAME_PART_WORDS, &body), YK_OK);
    }

    /* A good question, and all of its beginnings. */
    static const double unknowns[6] = {0.1, -9.81};
    put_step(&body, ports);
    yk_put_whole(&body, 1);
    yk_put_whole(&body, 0);
    yk_put_whole(&body, 1);
    yk_put_whole(&body, 0);
    yk_put_numbers(&body, unknowns, 6);
    size_t whole = body.length;
    size_t tail = 4 * sizeof(uint32_t) + sizeof unknowns;
    assert_int_equal(ask(session, &q, YK_FRAME_RELAX, &body), YK_OK);
    for (body.length = 0; body.length < whole; body.length++)
        assert_true(ask(session, &q, YK_FRAME_RELAX, &body) < 0);
    body.length = whole + 1;
    assert_true(yk_body_reserve(&body, whole + 1));
    assert_true(ask(session, &q, YK_FRAME_RELAX, &body) < 0);

    /* Another part than there are; an image that is not there; more parts, and one that is not. */
    body.length = whole;
    for (size_t i = 0; i < 4; i++) {
        uint32_t kept;
        const uint32_t wrong = 99;
        unsigned char *field = body.bytes + whole - tail + i * sizeof wrong;
        memcpy(&kept, field, sizeof kept);
        memcpy(field, &wrong, sizeof wrong);
        assert_true(ask(session, &q, YK_FRAME_RELAX, &body) < 0);
        memcpy(field, &kept, sizeof kept);
    }

    assert_int_equal(ask(session, &q, YK_FRAME_RELAX, &body), YK_OK);
    yk_free(context, body.bytes);
    yk_session_close(session);
    copy->ops->destroy(copy);
    yk_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_misfits),
    };
    if (!rank_serving_start(&rank, create_on_rank, ON_RANK))
        return 1;
    int failed =
        cmocka_run_group_tests_name("remote parts", tests, create_context, destroy_context);
    return failed + !rank_serving_stop(&rank);
}
