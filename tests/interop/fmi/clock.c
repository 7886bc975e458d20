/* Time does not drift. A macro step of 1/60 s is no binary number; after many of them the system
 * and its partner, on the other side of each transport, have counted the same steps and are at
 * the same time.
 *
 *   test_clock [STEPS [PATTERN]]
 *
 * makes 10 000 steps, or the given number; of all tests, or of those whose name fits a pattern
 * with `*`. docs/processes.md has what ten million gave. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "coupling/system_arrays.h"
#include "fmus.h"
#include "interop/fmi/fmu.h"
#include "remote/serving.h"
#include "the_context.h"

static const double STEP = 1.0 / 60;

static int64_t steps = 10000;

/* A partner that counts ------------------------------------------------------------------------ */

/* Its position is the number of its steps, its velocity the time that it was told last, its
 * acceleration how many steps began or ended at another time than the count says. */
typedef struct counter {
    yk_subsystem base;
    int64_t count;
    int64_t wrong;
    double time;
} counter;

static int counter_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"count", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT};
    (void)self;
    *list = &port;
    return 1;
}

static yk_status counter_connect(yk_subsystem *self, int port, yk_causality causality,
                                 unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static yk_status counter_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)h, (void)inputs;
    counter *c = (counter *)self;
    c->count = 0;
    c->wrong = 0;
    c->time = t;
    return YK_OK;
}

static yk_status counter_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)inputs;
    counter *c = (counter *)self;

    /* To the last bit: a sum of steps would be wrong soon. */
    if (t != (double)c->count * STEP || h != STEP)
        c->wrong++;
    c->count++;
    c->time = t + h;
    return YK_OK;
}

static void counter_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    (void)port;
    const counter *c = (const counter *)self;
    *value = (yk_port_value){0};
    value->motion.orientation.w = 1;
    value->motion.position.x = (double)c->count;
    value->motion.velocity.x = c->time;
    value->motion.acceleration.x = (double)c->wrong;
}

static void counter_destroy(yk_subsystem *self)
{
    free(self);
}

static yk_status counter_create(void *user, yk_context *owner, const char *name,
                                yk_subsystem **subsystem)
{
    static const yk_subsystem_ops ops = {
        .size = sizeof ops,
        .kind = "counter",
        .ports = counter_ports,
        .connect = counter_connect,
        .initialize = counter_start,
        .step = counter_step,
        .get_port_value = counter_output,
        .destroy = counter_destroy,
    };
    (void)user, (void)owner, (void)name;
    counter *c = calloc(1, sizeof *c);
    if (!c)
        return YK_ERROR_MEMORY;

    c->base.ops = &ops;
    *subsystem = &c->base;
    return YK_OK;
}

/* Runs ----------------------------------------------------------------------------------------- */

/* All steps of a system with this partner alone, which is destroyed. */
static void count(const char *transport, yk_subsystem *partner)
{
    static const char *const name = "partner";
    yk_system_description def = {0};
    def.subsystems = &partner;
    def.names = &name;
    def.subsystem_count = 1;
    def.step = STEP;
    def.scheme.ops = yk_scheme_find("explicit");

    yk_system *system;
    if (yk_system_make(context, &def, &system) != YK_OK || yk_system_initialize(system) != YK_OK)
        fail_msg("%s: %s", transport, yk_last_message(context));

    double began = yk_clock_seconds();
    for (int64_t i = 0; i < steps; i++)
        if (yk_system_step(system, NULL) != YK_OK)
            fail_msg("%s: %s", transport, yk_last_message(context));
    double seconds = yk_clock_seconds() - began;

    /* The clock of the system is a count. */
    double end = (double)steps * STEP;
    assert_int_equal(yk_system_step_count(system), steps);
    assert_true(yk_system_time(system) == end);

    /* The partner's end is the last beginning and a step more, rounded once. */
    yk_port_value value;
    partner->ops->get_port_value(partner, 0, &value);
    const yk_motion *m = &value.motion;
    print_message("%-22s %.0f steps, t = %.17g s, %.3f us per step\n", transport, m->position.x,
                  m->velocity.x, 1e6 * seconds / (double)steps);
    assert_true(m->position.x == (double)steps);
    assert_true(fabs(m->velocity.x - end) <= DBL_EPSILON * end);
    assert_true(m->acceleration.x == 0);

    yk_system_destroy(system);
    partner->ops->destroy(partner);
}

static void test_process(void **state)
{
    (void)state;
    yk_subsystem *partner = NULL;
    assert_int_equal(counter_create(NULL, context, "", &partner), YK_OK);
    count("in this process", partner);
}

static void count_remote(const char *transport, const char *address, bool socket_only)
{
    serving s;
    assert_true(serving_start(&s, address, NULL, counter_create));
    yk_remote_def def = yk_remote_default();
    def.address = s.address;
    def.disable_shared_memory = socket_only;
    yk_subsystem *partner = NULL;
    if (yk_remote_create(context, &def, &partner) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    count(transport, partner);
    serving_stop(&s);
}

static void test_memory(void **state)
{
    (void)state;
    count_remote("shared memory", NULL, false);
}

static void test_unix(void **state)
{
    (void)state;
    count_remote("UNIX socket", NULL, true);
}

static void test_tcp(void **state)
{
    (void)state;
    count_remote("TCP socket", "tcp:127.0.0.1:0", true);
}

/* Both versions of FMI. */
static void count_fmus(bool child)
{
    static const fmu_recipe recipes[] = {
        {.name = "counter2", .xml = "counter2.xml", .binary = "counter2", .library = "counter"},
        {.name = "counter3", .xml = "counter3.xml", .binary = "counter3", .library = "counter"},
    };
    static const yk_fmu_port_def port = {.name = "count",
                                         .kind = YK_PORT_SCALAR,
                                         .quantities = {[YK_FMU_POSITION] = {1, {"steps"}},
                                                        [YK_FMU_VELOCITY] = {1, {"clock"}},
                                                        [YK_FMU_ACCELERATION] = {1, {"0"}},
                                                        [YK_FMU_FORCE] = {1, {"f"}}}};
    for (int i = 0; i < 2; i++) {
        yk_fmu_def def = yk_fmu_default();
        char *file = make_fmu(context, &recipes[i]);
        def.file = file;
        def.ports = &port;
        def.port_count = 1;
        def.child = child;

        yk_subsystem *partner = NULL;
        if (yk_fmu_create(context, &def, &partner) != YK_OK)
            fail_msg("%s", yk_last_message(context));
        char transport[40];
        snprintf(transport, sizeof transport, "FMI %d%s", 2 + i, child ? ", child process" : "");
        count(transport, partner);
        free(file);
    }
}

static void test_fmus(void **state)
{
    (void)state;
    count_fmus(false);
}

static void test_fmus_in_children(void **state)
{
    (void)state;
    count_fmus(true);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        steps = (int64_t)strtod(argv[1], NULL);
    if (argc > 3 || steps < 1) {
        fprintf(stderr, "usage: test_clock [STEPS [PATTERN]]\n");
        return 2;
    }
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_unix),    cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_fmus),    cmocka_unit_test(test_fmus_in_children),
    };
    int failed = cmocka_run_group_tests_name("clock", tests, open_context, close_context);
    remove_test_folder();
    return failed;
}
