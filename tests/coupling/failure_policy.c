/* Steps that fail: the step size is halved and doubled again, or another scheme takes the step; and
 * configurations that are rejected. */
#include <stdlib.h>
#include <string.h>

#include "coupling/system_arrays.h"
#include "test.h"
#include "the_context.h"
#include "yoke/oscillator.h"

/* A mass that cannot make steps longer than a limit during a time. */
typedef struct brittle {
    yk_subsystem base;
    yk_subsystem *mass;
    double limit, from, to;
    bool silent; /* it gives a position that is no number, instead of an error */
    bool broken;
} brittle;

static int ports(const yk_subsystem *self, const yk_port **list)
{
    yk_subsystem *mass = ((const brittle *)self)->mass;
    return mass->ops->ports(mass, list);
}

static yk_status connect_port(yk_subsystem *self, int port, yk_causality causality,
                              unsigned constrained)
{
    yk_subsystem *mass = ((brittle *)self)->mass;
    return mass->ops->connect(mass, port, causality, constrained);
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    yk_subsystem *mass = ((brittle *)self)->mass;
    return mass->ops->initialize(mass, t, h, inputs);
}

static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    brittle *b = (brittle *)self;
    bool fails = h > b->limit && t > b->from - 1e-9 && t < b->to - 1e-9;
    b->broken = fails && b->silent;
    if (fails && !b->silent)
        return YK_ERROR_DIVERGED;
    return b->mass->ops->step(b->mass, t, h, inputs);
}

static void output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const brittle *b = (const brittle *)self;
    b->mass->ops->get_port_value(b->mass, port, value);
    if (b->broken)
        value->motion.position.x = NAN;
}

static void destroy(yk_subsystem *self)
{
    brittle *b = (brittle *)self;
    b->mass->ops->destroy(b->mass);
    free(b);
}

static yk_state_layout layout(const yk_subsystem *self)
{
    const yk_subsystem *mass = ((const brittle *)self)->mass;
    return mass->ops->rollback->layout(mass);
}

static void get(const yk_subsystem *self, double *image)
{
    const yk_subsystem *mass = ((const brittle *)self)->mass;
    mass->ops->rollback->get(mass, image);
}

static yk_status set(yk_subsystem *self, const double *image)
{
    brittle *b = (brittle *)self;
    b->broken = false;
    return b->mass->ops->rollback->set(b->mass, image);
}

static const yk_rollback_ops rollback = {
    .size = sizeof rollback, .layout = layout, .get = get, .set = set};
static const yk_subsystem_ops brittle_ops = {
    .size = sizeof brittle_ops,
    .kind = "brittle",
    .ports = ports,
    .connect = connect_port,
    .initialize = start,
    .step = step,
    .get_port_value = output,
    .destroy = destroy,
    .rollback = &rollback,
};
static const yk_subsystem_ops fixed_ops = {
    .size = sizeof fixed_ops,
    .kind = "brittle",
    .ports = ports,
    .connect = connect_port,
    .initialize = start,
    .step = step,
    .get_port_value = output,
    .destroy = destroy,
};

static yk_subsystem *make_mass(double mass)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = mass;
    def.stiffness = 20;
    def.velocity = 0.3;
    def.integrator = YK_OSCILLATOR_EXACT;
    yk_subsystem *made;
    assert_int_equal(yk_oscillator_create(context, &def, &made), YK_OK);
    return made;
}

typedef struct pair {
    brittle *brittle;
    yk_subsystem *subsystems[2];
    yk_system *system;
} pair;

static const double STEP = 0.01;
static const char *const names[] = {"brittle", "carried"};
static const yk_interface_def joint = {.name = "joint",
                                       .wrench_subsystem = {0},
                                       .motion_subsystem = {1},
                                       .constrained_axes = YK_AXIS_X};

static const yk_explicit_options by_motion = {.modified_inputs = YK_MODIFIED_INPUTS_INDEX_1,
                                              .thread_count = 1};

typedef struct pair_def {
    yk_failure_policy policy;
    double limit, from, to;
    double tolerance;
    bool silent, fixed, merged;
} pair_def;

static yk_status try_pair(pair *p, const pair_def *d)
{
    *p = (pair){0};
    p->brittle = calloc(1, sizeof *p->brittle);
    p->brittle->base.ops = d->fixed ? &fixed_ops : &brittle_ops;
    p->brittle->mass = make_mass(4);
    p->brittle->limit = d->limit;
    p->brittle->from = d->from;
    p->brittle->to = d->to;
    p->brittle->silent = d->silent;
    p->subsystems[0] = &p->brittle->base;
    if (d->merged) {
        destroy(p->subsystems[0]);
        p->subsystems[0] = make_mass(4);
    }

    p->subsystems[1] = make_mass(1);
    yk_system_description def = {
        .subsystems = p->subsystems,
        .names = names,
        .subsystem_count = 2,
        .interfaces = &joint,
        .interface_count = 1,
        .scheme = {.ops = yk_scheme_explicit(), .options = &by_motion},
        .step = STEP,
        .control = yk_step_control_default(),
        .on_failure = d->policy,
    };
    if (d->merged)
        def.scheme = (yk_scheme_def){.ops = yk_scheme_monolithic()};
    def.control.relative_tolerance = d->tolerance;
    yk_status status = yk_system_make(context, &def, &p->system);
    return status == YK_OK ? yk_system_initialize(p->system) : status;
}

static void open_pair(pair *p, const pair_def *d)
{
    yk_status status = try_pair(p, d);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
}

static void close_pair(pair *p)
{
    yk_system_destroy(p->system);
    for (int i = 0; i < 2; i++)
        p->subsystems[i]->ops->destroy(p->subsystems[i]);
}

static yk_status steps(pair *p, int count)
{
    yk_status status = YK_OK;
    for (int i = 0; i < count && !YK_FAILED(status); i++)
        status = yk_system_step(p->system, NULL);
    return status;
}

static uint64_t hash_of(pair *p)
{
    uint64_t hash;
    assert_int_equal(yk_system_state_hash(p->system, &hash), YK_OK);
    return hash;
}

/* Steps longer than 3 ms fail from 0.1 to 0.15 s. */
static pair_def hard_to_pass(yk_on_failure action)
{
    pair_def d = {.limit = 3e-3, .from = 0.1, .to = 0.15};
    d.policy = yk_failure_policy_default();
    d.policy.action = action;
    return d;
}

static void stopping_is_the_default(void **state)
{
    (void)state;
    pair_def d = hard_to_pass(YK_ON_FAILURE_STOP);
    pair p;
    open_pair(&p, &d);
    assert_int_equal(steps(&p, 10), YK_OK);
    assert_int_equal(yk_system_step(p.system, NULL), YK_ERROR_DIVERGED);
    assert_non_null(strstr(yk_last_message(context), "brittle"));
    assert_true(yk_system_get_failures(p.system).count == 0);
    close_pair(&p);
}

/* Two failures lead to quarter steps. These are kept for 8 good ones; the halves after them fail
 * within the bad time and are halved again, and behind it the steps grow to the whole. */
static void halved_steps_pass_and_grow_again(void **state)
{
    (void)state;
    for (int silent = 0; silent < 2; silent++) {
        pair_def d = hard_to_pass(YK_ON_FAILURE_HALVE);
        d.silent = silent;
        pair p;
        open_pair(&p, &d);
        assert_int_equal(steps(&p, 40), YK_OK);
        assert_near(yk_system_time(p.system), 0.4, 1e-15);

        yk_system_failures f = yk_system_get_failures(p.system);
        assert_true(f.count >= 3 && f.count < 8);
        assert_near(f.first_time, 0.1, 1e-12);
        assert_true(f.last_time < 0.15);
        assert_near(f.min_step, STEP / 4, 1e-15);
        assert_int_equal(f.subsystem.index, 0);
        assert_false(f.used_fallback);
        assert_non_null(strstr(f.first_message, "brittle"));

        /* 10 whole steps, the bad time in quarters, and 8 halves before wholes come again. */
        yk_system_statistics s = yk_system_get_statistics(p.system);
        assert_near(s.min_step, STEP / 4, 1e-15);
        assert_near(s.max_step, STEP, 1e-15);
        assert_true(s.steps > 40 + 15 && s.steps < 80);
        int64_t before = s.steps;
        assert_int_equal(steps(&p, 5), YK_OK);
        assert_true(yk_system_get_statistics(p.system).steps == before + 5);
        close_pair(&p);
    }
}

/* Smaller steps change the result by their errors only. */
static void results_are_those_of_the_motion(void **state)
{
    (void)state;
    pair_def d = hard_to_pass(YK_ON_FAILURE_HALVE);
    pair_def whole = d;
    whole.limit = 1;
    pair a, b;
    open_pair(&a, &d);
    open_pair(&b, &whole);
    assert_int_equal(steps(&a, 40), YK_OK);
    assert_int_equal(steps(&b, 40), YK_OK);
    double with =
        yk_system_port_value(a.system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    double without =
        yk_system_port_value(b.system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    assert_true(with != without);
    assert_relative(with, without, 0.02);

    /* Without a failure, a policy changes no bit of the motion. */
    whole.policy.action = YK_ON_FAILURE_STOP;
    pair c;
    open_pair(&c, &whole);
    assert_int_equal(steps(&c, 40), YK_OK);
    assert_true(
        without ==
        yk_system_port_value(c.system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x);
    close_pair(&a);
    close_pair(&b);
    close_pair(&c);
}

static void a_limit_of_halvings_ends_the_run(void **state)
{
    (void)state;
    pair_def d = hard_to_pass(YK_ON_FAILURE_HALVE);
    d.policy.max_halvings = 1;
    pair p;
    open_pair(&p, &d);
    assert_int_equal(steps(&p, 10), YK_OK);
    assert_int_equal(yk_system_step(p.system, NULL), YK_ERROR_DIVERGED);
    assert_non_null(strstr(yk_last_message(context), "halved 1 times"));
    close_pair(&p);
}

static yk_tight_options tight_options;

static pair_def falling_back(void)
{
    pair_def d = hard_to_pass(YK_ON_FAILURE_FALLBACK);
    tight_options = yk_tight_options_default();
    d.policy.fallback_scheme = (yk_scheme_def){.ops = yk_scheme_tight(), .options = &tight_options};
    return d;
}

/* The step that failed, and all after it, are those of the other scheme from the same state. */
static void the_other_scheme_goes_on(void **state)
{
    (void)state;
    pair_def d = falling_back();
    pair p;
    open_pair(&p, &d);
    assert_int_equal(steps(&p, 10), YK_OK);
    assert_false(yk_system_get_failures(p.system).used_fallback);
    assert_int_equal(yk_system_get_statistics(p.system).max_iterations, 1);

    /* The brittle subsystem fails under every scheme, which ends the run. */
    assert_int_equal(yk_system_step(p.system, NULL), YK_ERROR_DIVERGED);
    assert_true(yk_system_get_failures(p.system).used_fallback);
    assert_non_null(strstr(yk_last_message(context), "tight"));
    close_pair(&p);

    /* It fails but once. */
    open_pair(&p, &d);
    assert_int_equal(steps(&p, 10), YK_OK);
    p.brittle->to = 0;
    assert_int_equal(yk_system_switch_to_fallback(p.system, "seen from outside"), YK_OK);
    assert_int_equal(yk_system_switch_to_fallback(p.system, "again"), YK_ERROR_CAPABILITY);
    assert_int_equal(steps(&p, 30), YK_OK);
    assert_true(yk_system_get_statistics(p.system).max_iterations > 1);
    yk_system_failures f = yk_system_get_failures(p.system);
    assert_near(f.first_time, 0.1, 1e-12);
    assert_string_equal(f.first_message, "seen from outside");

    /* A restarted system uses the first scheme and repeats the run bit for bit. */
    uint64_t hash = hash_of(&p);
    assert_int_equal(yk_system_initialize(p.system), YK_OK);
    assert_int_equal(steps(&p, 10), YK_OK);
    assert_int_equal(yk_system_get_statistics(p.system).max_iterations, 1);
    assert_int_equal(yk_system_switch_to_fallback(p.system, "seen from outside"), YK_OK);
    assert_int_equal(steps(&p, 30), YK_OK);
    assert_true(hash == hash_of(&p));
    close_pair(&p);
}

/* From any state image, another system continues the run to the same bits: before the failure, among
 * halved steps, and after falling back. */
static void images_know_where_a_policy_is(void **state)
{
    (void)state;
    pair_def policies[2] = {hard_to_pass(YK_ON_FAILURE_HALVE), falling_back()};
    policies[1].limit = 1;
    for (int k = 0; k < 2; k++) {
        pair p, q;
        open_pair(&p, &policies[k]);
        open_pair(&q, &policies[k]);
        yk_state_layout size = yk_system_state_layout(p.system);
        double *image = calloc(size.word_count, sizeof *image);
        for (int at = 8; at <= 24; at += 8) {
            assert_int_equal(yk_system_initialize(p.system), YK_OK);
            for (int i = 0; i < 40; i++) {
                if (i == at)
                    yk_system_get_state(p.system, image);
                if (k == 1 && i == 12)
                    assert_int_equal(yk_system_switch_to_fallback(p.system, "now"), YK_OK);
                assert_int_equal(steps(&p, 1), YK_OK);
            }

            assert_int_equal(yk_system_set_state(q.system, image), YK_OK);
            for (int i = at; i < 40; i++) {
                if (k == 1 && i == 12)
                    assert_int_equal(yk_system_switch_to_fallback(q.system, "now"), YK_OK);
                assert_int_equal(steps(&q, 1), YK_OK);
            }

            assert_true(hash_of(&p) == hash_of(&q));
        }

        free(image);
        close_pair(&p);
        close_pair(&q);
    }
}

static void refuse(const pair_def *d, yk_status expected, const char *says)
{
    pair p;
    assert_int_equal(try_pair(&p, d), expected);
    if (!strstr(yk_last_message(context), says))
        print_error("'%s' is not in: %s\n", says, yk_last_message(context));
    assert_non_null(strstr(yk_last_message(context), says));
    close_pair(&p);
}

static void misuse_is_refused_before_the_run(void **state)
{
    (void)state;
    pair_def d = hard_to_pass(YK_ON_FAILURE_HALVE);
    d.policy.max_halvings = 21;
    refuse(&d, YK_ERROR_ARGUMENT, "1 to 20");
    d = hard_to_pass(YK_ON_FAILURE_HALVE);
    d.policy.steps_before_doubling = 0;
    refuse(&d, YK_ERROR_ARGUMENT, "good");
    d = hard_to_pass(YK_ON_FAILURE_HALVE);
    d.tolerance = 1e-3;
    refuse(&d, YK_ERROR_ARGUMENT, "step control");
    d = hard_to_pass(YK_ON_FAILURE_HALVE);
    d.fixed = true;
    refuse(&d, YK_ERROR_CAPABILITY, "cannot return to an earlier state");

    d = hard_to_pass(YK_ON_FAILURE_FALLBACK);
    refuse(&d, YK_ERROR_ARGUMENT, "name one");
    d.policy.fallback_scheme.ops = yk_scheme_explicit();
    refuse(&d, YK_ERROR_ARGUMENT, "name another");
    d.policy.fallback_scheme.ops = yk_scheme_monolithic();
    refuse(&d, YK_ERROR_CAPABILITY, "merge");
    d.policy.fallback_scheme.ops = yk_scheme_index1();
    refuse(&d, YK_ERROR_CAPABILITY, "a wrench to both sides with the second");
    d.policy.fallback_scheme.ops = yk_scheme_tight();
    d.merged = true;
    refuse(&d, YK_ERROR_CAPABILITY, "merge");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopping_is_the_default),
        cmocka_unit_test(halved_steps_pass_and_grow_again),
        cmocka_unit_test(results_are_those_of_the_motion),
        cmocka_unit_test(a_limit_of_halvings_ends_the_run),
        cmocka_unit_test(the_other_scheme_goes_on),
        cmocka_unit_test(images_know_where_a_policy_is),
        cmocka_unit_test(misuse_is_refused_before_the_run),
    };
    return cmocka_run_group_tests_name("failure_policy", tests, open_context, close_context);
}
