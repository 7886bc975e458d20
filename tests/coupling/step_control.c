/* Macro steps of variable size: the grid of results, events, discontinuities, and the number of
 * steps saved. */
#include <stdlib.h>
#include <string.h>

#include "any_scheme.h"
#include "coupling/system_arrays.h"
#include "test.h"
#include "the_context.h"
#include "yoke/oscillator.h"

typedef struct pair {
    yk_subsystem *masses[2];
    yk_system *system;
} pair;

static const yk_interface_def joint = {.name = "joint",
                                       .wrench_subsystem = {0},
                                       .motion_subsystem = {1},
                                       .constrained_axes = YK_AXIS_X};
static const char *const names[] = {"pushed", "carried"};

/* A push of 4 ms in a motion with a period of 2 s. */
static double push(void *user, double t)
{
    (void)user;
    double s = (t - 1.3) / 2e-3;
    return 200 * exp(-s * s);
}

/* 5 N from t = 0.25 s on. */
static double jump(void *user, double t)
{
    (void)user;
    return t < 0.25 ? 0 : 5;
}

static double next_jump(void *user, double t)
{
    (void)user;
    return t < 0.25 ? 0.25 : INFINITY;
}

/* So many per second that steps do not care. */
static double next_of_many(void *user, double t)
{
    (void)user;
    return (floor(t * 1e3) + 1) / 1e3;
}

typedef struct pair_def {
    const yk_scheme_ops *scheme;
    double step;
    yk_step_control control;
    double (*force)(void *user, double t);
    double (*next_event)(void *user, double t);
    int substeps;
} pair_def;

static yk_status try_pair(pair *p, const pair_def *d)
{
    *p = (pair){0};
    for (int i = 0; i < 2; i++) {
        yk_oscillator_def mass = yk_oscillator_default();
        mass.mass = 4 - 3 * i, mass.stiffness = 15 * mass.mass, mass.damping = 0.3,
        mass.velocity = 0.2;
        mass.integrator = YK_OSCILLATOR_EXACT;
        if (i == 0)
            mass.force.evaluate = d->force, mass.force.next_event = d->next_event;
        assert_int_equal(yk_oscillator_create(context, &mass, &p->masses[i]), YK_OK);
    }
    int substeps[2] = {d->substeps ? d->substeps : 1, d->substeps ? d->substeps : 1};
    yk_system_description def = {.subsystems = p->masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .substeps = substeps,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = d->step,
                                 .control = d->control};
    any_scheme scheme = any_scheme_default();
    scheme.ops = d->scheme;
    scheme.tolerance = 0,
    scheme.relative_tolerance = d->scheme == yk_scheme_index1() ? 1e-11 : 1e-6;
    yk_status status = any_scheme_create(context, &def, &scheme, &p->system);
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
        p->masses[i]->ops->destroy(p->masses[i]);
}

enum { SAMPLES = 20 };
static const double SAMPLE_STEP = 0.1;

typedef struct result {
    double position[SAMPLES];
    int64_t calls;
    yk_system_statistics statistics;
} result;

/* Positions every 0.1 s, from one step per sample or several. */
static result sample_run(const pair_def *d)
{
    pair p;
    result r;
    open_pair(&p, d);
    int steps = (int)lround(SAMPLE_STEP / d->step);
    for (int i = 0; i < SAMPLES; i++) {
        for (int n = 0; n < steps; n++)
            assert_true(!YK_FAILED(yk_system_step(p.system, NULL)));
        r.position[i] = yk_system_port_value(p.system, (yk_subsystem_id){0}, (yk_port_id){0})
                            ->motion.position.x;
        assert_near(yk_system_time(p.system), (i + 1) * SAMPLE_STEP, 1e-15 * steps * (i + 1));
    }
    r.calls = yk_system_subsystem_statistics(p.system, (yk_subsystem_id){0}).calls;
    r.statistics = yk_system_get_statistics(p.system);
    close_pair(&p);
    return r;
}

static double difference(const result *a, const result *b)
{
    double largest = 0;
    for (int i = 0; i < SAMPLES; i++)
        largest = fmax(largest, fabs(a->position[i] - b->position[i]));
    return largest;
}

static pair_def pushed(double step, double tolerance)
{
    return (pair_def){
        .scheme = yk_scheme_index1(),
        .step = step,
        .control = {.relative_tolerance = tolerance, .absolute_tolerance = 1e-9, .min_step = 1e-5},
        .force = push,
        .substeps = 20};
}

/* At equal error, less than half of the best fixed step's calls. */
static void fast_and_slow_phases_need_fewer_calls(void **state)
{
    (void)state;
    pair_def fine = pushed(SAMPLE_STEP / 256, 0), varied = pushed(SAMPLE_STEP, 1e-3);
    result reference = sample_run(&fine), r = sample_run(&varied);
    double error = difference(&r, &reference);
    assert_true(error < 1e-9);
    assert_true(r.statistics.steps_rejected > 0 && r.statistics.min_step < 1e-3);
    assert_true(r.statistics.max_step >= SAMPLE_STEP / 2);
    int64_t best = INT64_MAX;
    for (int n = 1; n <= 64; n *= 2) {
        pair_def d = pushed(SAMPLE_STEP / n, 0);
        result fixed = sample_run(&d);
        if (difference(&fixed, &reference) <= error && fixed.calls < best)
            best = fixed.calls;
    }
    assert_true(2 * r.calls < best);
}

static void the_error_follows_the_tolerance(void **state)
{
    (void)state;
    pair_def exact = pushed(SAMPLE_STEP / 64, 0);
    result reference = sample_run(&exact);
    double last = INFINITY;
    for (double tolerance = 1e-2; tolerance > 5e-4; tolerance /= 4) {
        pair_def d = pushed(SAMPLE_STEP, tolerance);
        d.scheme = yk_scheme_explicit();
        result r = sample_run(&d);
        double error = difference(&r, &reference);
        assert_true(error < 0.4 * last && error < 0.1 * tolerance);
        last = error;
    }
}

/* The scheme tight is of second order with solvers that follow polynomials, and with substeps:
 * few steps are enough. */
static void higher_order_saves_steps(void **state)
{
    (void)state;
    pair_def exact = pushed(SAMPLE_STEP / 64, 0), low = pushed(SAMPLE_STEP, 6.25e-4), high = low;
    low.scheme = yk_scheme_explicit();
    high.scheme = yk_scheme_tight();
    result reference = sample_run(&exact), many = sample_run(&low);
    assert_true(difference(&many, &reference) < 0.2 * low.control.relative_tolerance);
    for (int substeps = 1; substeps <= 20; substeps += 19) {
        high.substeps = substeps;
        result few = sample_run(&high);
        assert_true(difference(&few, &reference) < 0.2 * high.control.relative_tolerance);
        assert_true(20 * few.statistics.steps < many.statistics.steps);
    }
}

/* Half-way between two of the grid's times the force jumps. */
static double jump_error(int steps, const yk_step_control *control)
{
    pair_def coarse = {.scheme = yk_scheme_index1(),
                       .step = SAMPLE_STEP / steps,
                       .control = *control,
                       .force = jump};
    static const double at = 0.25;
    pair_def fine = {.scheme = yk_scheme_index1(),
                     .step = 1e-3,
                     .control = {.event_times = &at, .event_time_count = 1},
                     .force = jump};
    result r = sample_run(&coarse), reference = sample_run(&fine);
    return difference(&r, &reference);
}

static void steps_end_at_events(void **state)
{
    (void)state;
    static const double events[] = {-1, 0, 0.25, 0.3, 77};
    yk_step_control none = yk_step_control_default(), reported = none;
    reported.event_times = events, reported.event_time_count = 5;
    assert_true(jump_error(1, &none) > 1e-5);
    assert_true(jump_error(1, &reported) < 1e-10);
}

/* The same bits as if the events were listed; if there are too many of them, as if there
 * were none. */
static void subsystems_announce_events(void **state)
{
    (void)state;
    static const double at = 0.25;
    pair_def plain = {.scheme = yk_scheme_index1(), .step = SAMPLE_STEP, .force = jump},
             listed = plain, reported = plain, crowded = plain;
    listed.control.event_times = &at, listed.control.event_time_count = 1;
    reported.next_event = next_jump, crowded.next_event = next_of_many;
    result by_list = sample_run(&listed), by_word = sample_run(&reported);
    assert_memory_equal(by_list.position, by_word.position, sizeof by_list.position);
    result none = sample_run(&plain), many = sample_run(&crowded);
    assert_memory_equal(none.position, many.position, sizeof none.position);
    assert_true(difference(&none, &by_word) > 1e-5);
}

/* Errors of jumps that fall inside steps have the first order; where steps end at them, that of
 * the scheme. */
static double order_with(double (*next_event)(void *user, double t))
{
    double error[2];
    static const double at = 0.25;
    pair_def fine = {.scheme = yk_scheme_index1(),
                     .step = 1e-3,
                     .control = {.event_times = &at, .event_time_count = 1},
                     .force = jump};
    result reference = sample_run(&fine);
    for (int i = 0; i < 2; i++) {
        pair_def d = {.scheme = yk_scheme_index1(),
                      .step = SAMPLE_STEP / (i + 1),
                      .force = jump,
                      .next_event = next_event};
        result r = sample_run(&d);
        error[i] = difference(&r, &reference);
    }
    return log2(error[0] / error[1]);
}

static void announced_events_keep_the_order(void **state)
{
    (void)state;
    assert_true(order_with(NULL) < 3);
    assert_true(order_with(next_jump) > 5);
}

static void the_largest_step_is_kept(void **state)
{
    (void)state;
    pair_def d = pushed(SAMPLE_STEP, 1e-2);
    d.control.max_step = SAMPLE_STEP / 5;
    result r = sample_run(&d);
    assert_true(r.statistics.max_step <= SAMPLE_STEP / 5 * (1 + 1e-9));
}

static void jumps_that_nobody_announced_are_found(void **state)
{
    (void)state;
    yk_step_control control = {
        .relative_tolerance = 1e-4, .absolute_tolerance = 1e-9, .min_step = 1e-5};
    assert_true(jump_error(1, &control) < 1e-5);
    pair_def d = {
        .scheme = yk_scheme_index1(), .step = SAMPLE_STEP, .control = control, .force = jump};
    result r = sample_run(&d);
    assert_true(r.statistics.steps_rejected > 0 && r.statistics.min_step < 1e-3);
    assert_true(r.statistics.steps < 150);
}

static void rollback_repeats_the_run_bit_for_bit(void **state)
{
    (void)state;
    for (int scheme = 0; scheme < 2; scheme++) {
        pair p;
        pair_def d = pushed(SAMPLE_STEP, 1e-3);
        d.scheme = scheme ? yk_scheme_index1() : yk_scheme_tight();
        open_pair(&p, &d);
        yk_state_layout layout = yk_system_state_layout(p.system);
        double *mark = malloc(3 * layout.word_count * sizeof *mark),
               *one = mark + layout.word_count, *two = one + layout.word_count;
        for (int i = 0; i < 11; i++)
            assert_true(!YK_FAILED(yk_system_step(p.system, NULL)));
        yk_system_get_state(p.system, mark);
        for (int i = 0; i < 5; i++)
            assert_true(!YK_FAILED(yk_system_step(p.system, NULL)));
        yk_system_get_state(p.system, one);
        assert_int_equal(yk_system_set_state(p.system, mark), YK_OK);
        for (int i = 0; i < 5; i++)
            assert_true(!YK_FAILED(yk_system_step(p.system, NULL)));
        yk_system_get_state(p.system, two);
        assert_memory_equal(one, two, layout.word_count * sizeof *one);
        free(mark);
        close_pair(&p);
    }
}

static void bad_controls_are_refused(void **state)
{
    (void)state;
    static const double backwards[] = {2, 1};
    const struct {
        yk_step_control control;
        const yk_scheme_ops *scheme;
        const char *says;
    } cases[] = {
        {{.relative_tolerance = -1}, yk_scheme_index1(), "tolerance"},
        {{.relative_tolerance = 1e-3, .min_step = 1}, yk_scheme_index1(), "smallest"},
        {{.relative_tolerance = 1e-3, .min_step = 0.02, .max_step = 0.01},
         yk_scheme_index1(),
         "largest"},
        {{.event_times = backwards, .event_time_count = 2}, yk_scheme_explicit(), "ascending"},
        {{.relative_tolerance = 1e-3}, yk_scheme_monolithic(), "interfaces"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pair p;
        pair_def d = {.scheme = cases[i].scheme, .step = 0.1, .control = cases[i].control};
        assert_int_equal(try_pair(&p, &d), YK_ERROR_ARGUMENT);
        assert_non_null(strstr(yk_last_message(context), cases[i].says));
        close_pair(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_and_slow_phases_need_fewer_calls),
        cmocka_unit_test(the_error_follows_the_tolerance),
        cmocka_unit_test(higher_order_saves_steps),
        cmocka_unit_test(steps_end_at_events),
        cmocka_unit_test(subsystems_announce_events),
        cmocka_unit_test(announced_events_keep_the_order),
        cmocka_unit_test(the_largest_step_is_kept),
        cmocka_unit_test(jumps_that_nobody_announced_are_found),
        cmocka_unit_test(rollback_repeats_the_run_bit_for_bit),
        cmocka_unit_test(bad_controls_are_refused),
    };
    return cmocka_run_group_tests_name("step control", tests, open_context, close_context);
}
