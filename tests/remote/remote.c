/* Remote subsystems: bitwise the same results as in one process for every transport, and servers
 * that exit, hang, or do not know the secret. Under mpirun -n 2 the ranks are those of the
 * launcher. */
#include "test.h"

#include <math.h>
#include <time.h>

#include "context.h"
#include "coupling/system_arrays.h"
#include "rank_serving.h"
#include "serving.h"
#include "yoke/oscillator.h"
#include "yoke/scenario.h"

static yk_status create_half(void *user, yk_context *context, const char *name,
                             yk_subsystem **subsystem)
{
    (void)user;
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = 2;
    def.stiffness = 300;
    def.damping = 0.5;
    def.velocity = 0.1;
    if (strcmp(name, "left") != 0 && strcmp(name, "right") != 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "there is no '%s' here", name);
    if (strcmp(name, "right") == 0) {
        def.mass = 1;
        def.integrator = YK_OSCILLATOR_SEMI_IMPLICIT;
    }
    return yk_oscillator_create(context, &def, subsystem);
}

/* The two halves coupled; where they live decides `make`. Returns the hash of the final state. */
typedef yk_status (*make_half)(yk_context *context, const char *name, const void *user,
                               yk_subsystem **subsystem);

static yk_status make_here(yk_context *context, const char *name, const void *user,
                           yk_subsystem **subsystem)
{
    (void)user;
    return create_half(NULL, context, name, subsystem);
}

static yk_status make_there(yk_context *context, const char *name, const void *user,
                            yk_subsystem **subsystem)
{
    yk_remote_def def = *(const yk_remote_def *)user;
    def.subsystem = name;
    return yk_remote_create(context, &def, subsystem);
}

/* On a rank the halves lie in turns, each to be met once. */
enum { ON_RANK = 20 };
static rank_serving rank;
static int met;

static yk_status create_on_rank(yk_context *context, int index, yk_subsystem **subsystem)
{
    return create_half(NULL, context, index % 2 ? "right" : "left", subsystem);
}

static yk_status make_on_rank(yk_context *context, const char *name, const void *user,
                              yk_subsystem **subsystem)
{
    (void)user;
    return yk_ranks_remote(context, rank.ranks, 1, met++, name, 20, subsystem);
}

static uint64_t run(yk_context *context, const char *scheme, make_half make, const void *user)
{
    static const char *const names[] = {"left", "right"};
    yk_subsystem *halves[2];
    for (int i = 0; i < 2; i++)
        if (make(context, names[i], user, &halves[i]) != YK_OK)
            fail_msg("%s", yk_last_message(context));
    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    yk_system_description def = {0};
    def.subsystems = halves;
    def.names = names;
    def.subsystem_count = 2;
    def.interfaces = &joint;
    def.interface_count = 1;
    def.step = 1e-3;
    def.scheme.ops = yk_scheme_find(scheme);
    def.substeps = (const int[]){4, 4};
    yk_system *system;
    if (yk_system_make(context, &def, &system) != YK_OK || yk_system_initialize(system) != YK_OK)
        fail_msg("%s: %s", scheme, yk_last_message(context));
    for (int i = 0; i < 200; i++)
        if (YK_FAILED(yk_system_step(system, NULL)))
            fail_msg("%s: %s", scheme, yk_last_message(context));
    uint64_t hash;
    assert_int_equal(yk_system_state_hash(system, &hash), YK_OK);
    yk_system_destroy(system);
    for (int i = 0; i < 2; i++)
        halves[i]->ops->destroy(halves[i]);
    return hash;
}

/* Every scheme, by memory, by a UNIX socket, by TCP and by messages between ranks. */
static void test_bits(void **state)
{
    static const char *const schemes[] = {"explicit", "loose", "tight", "index1", "rim"};
    serving local;
    serving inet;
    assert_true(serving_start(&local, NULL, NULL, create_half));
    assert_true(serving_start(&inet, "tcp:127.0.0.1:0", NULL, create_half));
    yk_remote_def defs[3];
    for (int i = 0; i < 3; i++)
        defs[i] = yk_remote_default();
    defs[0].address = local.address;
    defs[1].address = local.address;
    defs[1].disable_shared_memory = true;
    defs[2].address = inet.address;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        uint64_t here = run(*state, schemes[i], make_here, NULL);
        for (int k = 0; k < 3; k++)
            if (run(*state, schemes[i], make_there, &defs[k]) != here)
                fail_msg("%s: other bits over %s", schemes[i], defs[k].address);
        if (run(*state, schemes[i], make_on_rank, NULL) != here)
            fail_msg("%s: other bits between ranks", schemes[i]);
    }
    serving_stop(&local);
    serving_stop(&inet);
}

/* An arm on a ball joint, smooth or nonsmooth. */
static yk_scenario *load_arm(yk_context *context, const char *solver)
{
    char text[400];
    snprintf(text, sizeof text,
             "time: {end: 1, step: 1e-3}\n"
             "subsystems:\n"
             "  - {name: arm, solver: %s, gravity: [0, -9.81, 0],\n"
             "     bodies: {bar: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}},\n"
             "     joints: {pin: {type: spherical, between: [ground, bar], at: [0, 0, 0]}},\n"
             "     ports: {end: {body: bar, offset: [0.5, 0, 0]}}}\n"
             "coupling: {scheme: explicit}\n",
             solver);
    yk_scenario_def def = yk_scenario_default();
    def.path = "arm.yaml";
    def.text = text;
    yk_scenario *scenario = NULL;
    if (yk_scenario_load(context, &def, NULL, &scenario) != YK_OK)
        fprintf(stderr, "%s\n", yk_last_message(context));
    return scenario;
}

/* By the name of its solver; what it is made of stays as long as the process. */
static yk_status create_arm(void *user, yk_context *context, const char *name,
                            yk_subsystem **subsystem)
{
    (void)user;
    yk_scenario *scenario = load_arm(context, name);
    if (!scenario)
        return YK_ERROR_INPUT;
    *subsystem = yk_scenario_get_info(scenario)->subsystems[0];
    return YK_OK;
}

/* The interface model of a partner is the one that it has at home, to the last number. */
static void test_interface_model(void **state)
{
    static const char *const solvers[] = {"multibody", "nonsmooth"};
    static const double leads[] = {0.5, 1};
    yk_context *context = *state;
    serving s;
    assert_true(serving_start(&s, NULL, NULL, create_arm));
    for (int i = 0; i < 2; i++) {
        yk_scenario *here = load_arm(context, solvers[i]);
        assert_non_null(here);
        yk_subsystem *arms[2] = {yk_scenario_get_info(here)->subsystems[0]};
        yk_remote_def def = yk_remote_default();
        def.address = s.address;
        def.subsystem = solvers[i];
        if (yk_remote_create(context, &def, &arms[1]) != YK_OK)
            fail_msg("%s", yk_last_message(context));

        double mass[2][36], rate[2][6];
        yk_interface_model models[2];
        const yk_input inputs[1] = {{.base_orientation = {1, 0, 0, 0}}};
        for (int k = 0; k < 2; k++) {
            const yk_subsystem_ops *ops = arms[k]->ops;
            models[k] = (yk_interface_model){
                .row_count = 6, .inverse_mass = mass[k], .free_acceleration = rate[k]};
            assert_int_equal(ops->connect(arms[k], 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL),
                             YK_OK);
            assert_int_equal(ops->initialize(arms[k], 0, 1e-3, inputs), YK_OK);
            if (ops->interface_model->evaluate(arms[k], 0, 1e-3, inputs, &models[k]) != YK_OK)
                fail_msg("%s: %s", solvers[i], ops->last_message(arms[k]));
            assert_near(models[k].theta, leads[i], 0);
        }
        assert_memory_equal(mass[0], mass[1], sizeof mass[0]);
        assert_memory_equal(rate[0], rate[1], sizeof rate[0]);
        arms[1]->ops->destroy(arms[1]);
        yk_scenario_destroy(here);
    }
    serving_stop(&s);
}

static yk_subsystem *open_left(yk_context *context, const serving *s, double deadline, bool socket)
{
    yk_remote_def def = yk_remote_default();
    def.address = s->address;
    def.subsystem = "left";
    def.timeout = deadline;
    def.disable_shared_memory = socket;
    yk_subsystem *left;
    if (yk_remote_create(context, &def, &left) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    assert_int_equal(left->ops->connect(left, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X), YK_OK);
    assert_int_equal(left->ops->initialize(left, 0, 1e-3, NULL), YK_OK);
    return left;
}

/* All processes of the server: the one that listens, and those of its clients. */
static void signal_group(const serving *s, int number)
{
    assert_int_equal(kill(-s->process, number), 0);
}

static void test_end(void **state)
{
    for (int socket = 0; socket < 2; socket++) {
        serving s;
        assert_true(serving_start(&s, NULL, NULL, create_half));
        yk_subsystem *left = open_left(*state, &s, 20, socket);
        yk_input input = {0};
        assert_int_equal(left->ops->step(left, 0, 1e-3, &input), YK_OK);
        signal_group(&s, SIGKILL);
        assert_int_equal(left->ops->step(left, 1e-3, 1e-3, &input), YK_ERROR_EXTERNAL);
        assert_non_null(strstr(left->ops->last_message(left), "the partner 'left' at unix:"));
        assert_non_null(strstr(left->ops->last_message(left), "has ended"));
        /* It stays so, and no call waits again. */
        assert_int_equal(left->ops->step(left, 1e-3, 1e-3, &input), YK_ERROR_EXTERNAL);
        left->ops->destroy(left);
        serving_stop(&s);
    }
}

static void test_silence(void **state)
{
    for (int socket = 0; socket < 2; socket++) {
        serving s;
        assert_true(serving_start(&s, NULL, NULL, create_half));
        yk_subsystem *left = open_left(*state, &s, 0.5, socket);
        signal_group(&s, SIGSTOP);
        yk_input input = {0};
        assert_int_equal(left->ops->step(left, 0, 1e-3, &input), YK_ERROR_EXTERNAL);
        assert_non_null(strstr(left->ops->last_message(left), "did not answer within 0.5 s"));
        left->ops->destroy(left);
        signal_group(&s, SIGKILL);
        serving_stop(&s);
    }
}

/* The same for ranks, whose end only their launcher can see. */
static void test_silent_rank(void **state)
{
    yk_context *context = *state;
    if (yk_ranks_launched())
        skip();

    static const int signals[] = {SIGSTOP, SIGKILL};
    for (int i = 0; i < 2; i++) {
        rank_serving s;
        assert_true(rank_serving_start(&s, create_on_rank, 2));
        yk_subsystem *left;
        assert_int_equal(yk_ranks_remote(context, s.ranks, 1, 0, "left", 0.5, &left), YK_OK);
        assert_int_equal(left->ops->connect(left, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X), YK_OK);
        assert_int_equal(left->ops->initialize(left, 0, 1e-3, NULL), YK_OK);
        assert_int_equal(kill(s.process, signals[i]), 0);
        if (signals[i] == SIGKILL)
            waitpid(s.process, NULL, 0);
        yk_input input = {0};
        assert_int_equal(left->ops->step(left, 0, 1e-3, &input), YK_ERROR_EXTERNAL);
        const char *message = left->ops->last_message(left);
        assert_non_null(strstr(message, "the partner 'left' on rank 1 (host host-1)"));
        if (signals[i] == SIGSTOP)
            assert_non_null(strstr(message, "did not answer within 0.5 s"));
        else
            assert_non_null(strstr(message, "cannot be reached any more"));
        left->ops->destroy(left);
        kill(s.process, SIGKILL);
        rank_serving_stop(&s);
    }
}

/* A state that could not be read is no state: neither a hash nor a checkpoint is made of it. */
static void test_lost_state(void **state)
{
    for (int socket = 0; socket < 2; socket++) {
        serving s;
        assert_true(serving_start(&s, NULL, NULL, create_half));
        yk_subsystem *left = open_left(*state, &s, 2, socket);
        double image[64] = {0};
        assert_true(left->ops->rollback->layout(left).word_count <= 64);
        left->ops->rollback->get(left, image);
        assert_int_equal(left->ops->remote->last_status(left), YK_OK);

        yk_system_description def = {0};
        def.subsystems = &left;
        def.names = (const char *const[]){"left"};
        def.subsystem_count = 1;
        def.step = 1e-3;
        def.scheme.ops = yk_scheme_find("explicit");
        yk_system *system;
        uint64_t hash;
        if (yk_system_make(*state, &def, &system) != YK_OK || yk_system_initialize(system) != YK_OK)
            fail_msg("%s", yk_last_message(*state));
        assert_int_equal(yk_system_state_hash(system, &hash), YK_OK);
        assert_int_equal(yk_system_remote_status(system), YK_OK);

        signal_group(&s, SIGSTOP);
        assert_int_equal(yk_system_state_hash(system, &hash), YK_ERROR_EXTERNAL);
        assert_int_equal(yk_system_remote_status(system), YK_ERROR_EXTERNAL);
        assert_non_null(strstr(yk_last_message(*state), "did not answer within 2 s"));
        yk_system_destroy(system);
        left->ops->destroy(left);
        signal_group(&s, SIGKILL);
        serving_stop(&s);
    }
}

static void test_refusals(void **state)
{
    yk_context *context = *state;
    yk_subsystem *subsystem;
    yk_remote_def def = yk_remote_default();
    def.timeout = 0.3;
    static const char *const addresses[] = {"nowhere", "unix:", "tcp:localhost", "tcp:127.0.0.1:x"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        def.address = addresses[i];
        assert_int_equal(yk_remote_create(context, &def, &subsystem), YK_ERROR_ARGUMENT);
    }
    def.address = "unix:/tmp/there-is-no-such-server";
    assert_int_equal(yk_remote_create(context, &def, &subsystem), YK_ERROR_EXTERNAL);
    assert_non_null(strstr(yk_last_message(context), "no server listens at"));

    serving s;
    assert_true(serving_start(&s, NULL, NULL, create_half));
    def.address = s.address;
    def.subsystem = "middle";
    def.timeout = 20;
    assert_true(YK_FAILED(yk_remote_create(context, &def, &subsystem)));
    assert_non_null(strstr(yk_last_message(context), "there is no 'middle' here"));
    serving_stop(&s);

    yk_server_def server = yk_server_default();
    server.address = "tcp:0.0.0.0:0";
    server.create = create_half;
    assert_int_equal(yk_serve(context, &server), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "that needs a shared secret"));
}

static void test_secret(void **state)
{
    yk_context *context = *state;
    serving s;
    assert_true(serving_start(&s, NULL, "a secret of both sides", create_half));
    yk_remote_def def = yk_remote_default();
    def.address = s.address;
    def.subsystem = "left";
    yk_subsystem *subsystem;
    assert_true(YK_FAILED(yk_remote_create(context, &def, &subsystem)));
    assert_non_null(strstr(yk_last_message(context), "asks for a shared secret"));
    def.secret = "another secret of one side";
    assert_true(YK_FAILED(yk_remote_create(context, &def, &subsystem)));
    assert_non_null(strstr(yk_last_message(context), "the secret is not the server's"));
    def.secret = "a secret of both sides";
    assert_int_equal(yk_remote_create(context, &def, &subsystem), YK_OK);
    subsystem->ops->destroy(subsystem);
    serving_stop(&s);

    /* A server that does not ask is not the one that was meant. */
    assert_true(serving_start(&s, NULL, NULL, create_half));
    assert_true(YK_FAILED(yk_remote_create(context, &def, &subsystem)));
    assert_non_null(strstr(yk_last_message(context), "does not ask for the secret"));
    serving_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),       cmocka_unit_test(test_end),
        cmocka_unit_test(test_silence),    cmocka_unit_test(test_silent_rank),
        cmocka_unit_test(test_lost_state), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_secret),     cmocka_unit_test(test_interface_model),
    };
    if (!rank_serving_start(&rank, create_on_rank, ON_RANK))
        return 1;
    int failed = cmocka_run_group_tests_name("remote", tests, create_context, destroy_context);
    return failed + !rank_serving_stop(&rank);
}
