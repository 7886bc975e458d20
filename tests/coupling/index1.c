/* The scheme index1 on oscillators with exact integrators: the errors and orders of paper index1,
 * momentum, rollback, threads, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "any_scheme.h"
#include "coupling/system_arrays.h"
#include "test.h"
#include "the_context.h"
#include "yoke/oscillator.h"

enum { MASSES_MAX = 32 };

typedef struct chain {
    int count;
    yk_subsystem *masses[MASSES_MAX];
    yk_system *system;
} chain;

static const yk_interface_def joint = {.name = "joint",
                                       .wrench_subsystem = {0},
                                       .motion_subsystem = {1},
                                       .constrained_axes = YK_AXIS_X};
static const char *const names[] = {"one", "two"};

static any_scheme index1(int degree)
{
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_index1();
    scheme.degree = degree;
    return scheme;
}

/* The two masses of paper index1 4.1. */
static void paper_masses(yk_oscillator_def defs[2])
{
    for (int i = 0; i < 2; i++) {
        defs[i] = yk_oscillator_default();
        defs[i].mass = i + 1, defs[i].stiffness = 1000, defs[i].damping = 10,
        defs[i].velocity = 100;
        defs[i].integrator = YK_OSCILLATOR_EXACT;
    }
}

/* Subsystems that do not tell their sensitivities, so that they are differenced. */
static bool silent;
static yk_subsystem_ops silent_ops;

static void open_pair(chain *c, const yk_oscillator_def *defs, const any_scheme *scheme, double h)
{
    *c = (chain){.count = 2};
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_oscillator_create(context, &defs[i], &c->masses[i]), YK_OK);
    silent_ops = *c->masses[0]->ops;
    silent_ops.sensitivity = NULL;
    for (int i = 0; silent && i < 2; i++)
        c->masses[i]->ops = &silent_ops;
    yk_system_description def = {.subsystems = c->masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = h};
    assert_int_equal(any_scheme_create(context, &def, scheme, &c->system), YK_OK);
    assert_int_equal(yk_system_initialize(c->system), YK_OK);
}

static void close_chain(chain *c)
{
    yk_system_destroy(c->system);
    for (int i = 0; i < c->count; i++)
        c->masses[i]->ops->destroy(c->masses[i]);
}

static const yk_port_value *mass(const chain *c, int i)
{
    return yk_system_port_value(c->system, (yk_subsystem_id){i}, (yk_port_id){0});
}

/* Both masses as one: 3 x'' + 20 x' + 2000 x = 0 from x = 0 with 100 m/s. */
static double exact_position(double t)
{
    double decay = 20.0 / 6, omega = sqrt(2000.0 / 3 - decay * decay);
    return 100 / omega * exp(-decay * t) * sin(omega * t);
}

static double exact_velocity(double t)
{
    double decay = 20.0 / 6, omega = sqrt(2000.0 / 3 - decay * decay);
    return 100 * exp(-decay * t) * (cos(omega * t) - decay / omega * sin(omega * t));
}

/* Largest distance of a mass from the exact motion until `end`. */
static double largest_error(const any_scheme *scheme, double h, double end)
{
    chain c;
    yk_oscillator_def defs[2];
    paper_masses(defs);
    open_pair(&c, defs, scheme, h);
    double largest = 0;
    for (int64_t n = 1; n <= llround(end / h); n++) {
        assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
        for (int i = 0; i < 2; i++)
            largest =
                fmax(largest, fabs(mass(&c, i)->motion.position.x - exact_position((double)n * h)));
    }
    close_chain(&c);
    return largest;
}

/* Values of the recurrence in 40 digits; papers/README has the same to 0.3 %. */
static void errors_are_those_of_the_recurrence(void **state)
{
    (void)state;
    any_scheme quadratic = index1(2), cubic = index1(3);
    assert_relative(largest_error(&quadratic, 1e-2, 1), 1.0726697e-7, 1e-5);
    assert_relative(largest_error(&quadratic, 5e-3, 1), 3.3577764e-9, 1e-4);
    assert_relative(largest_error(&cubic, 1e-2, 1), 2.2245442e-9, 1e-4);
    assert_relative(largest_error(&cubic, 5e-3, 1), 3.5033235e-11, 5e-3);
}

static void degree_k_has_its_order(void **state)
{
    (void)state;
    static const double order[4] = {3, 4, 5, 6}, coarse[4] = {1e-3, 5e-3, 5e-3, 1e-2};
    for (int k = 0; k < 4; k++) {
        any_scheme scheme = index1(k);
        double ratio =
            largest_error(&scheme, coarse[k], 1) / largest_error(&scheme, coarse[k] / 2, 1);
        assert_near(log2(ratio), order[k], 0.1);
    }
}

static double first_velocity_error(int degree, double h)
{
    chain c;
    yk_oscillator_def defs[2];
    paper_masses(defs);
    any_scheme scheme = index1(degree);
    open_pair(&c, defs, &scheme, h);
    assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
    double error = fabs(mass(&c, 0)->motion.velocity.x - exact_velocity(h));
    close_chain(&c);
    return error;
}

/* The start is exact, so the error of the first step is the local error. Of the velocity, because
 * it is well above rounding; studies/index1 has both in extended precision. */
static void local_error_is_one_order_higher(void **state)
{
    (void)state;
    assert_near(log2(first_velocity_error(2, 4e-3) / first_velocity_error(2, 2e-3)), 6, 0.1);
    assert_near(log2(first_velocity_error(3, 1.6e-2) / first_velocity_error(3, 8e-3)), 7, 0.1);
}

/* The first mass by the implicit two-step method, the other by semi-implicit Euler, in four
 * substeps each. */
static double low_order_error(int degree, double h)
{
    static const int substeps[2] = {4, 4};
    yk_oscillator_def defs[2];
    paper_masses(defs);
    defs[0].integrator = YK_OSCILLATOR_TWO_STEP, defs[1].integrator = YK_OSCILLATOR_SEMI_IMPLICIT;
    chain c = {.count = 2};
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_oscillator_create(context, &defs[i], &c.masses[i]), YK_OK);
    yk_system_description def = {.subsystems = c.masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .substeps = substeps,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = h};
    any_scheme scheme = index1(degree);
    assert_int_equal(any_scheme_create(context, &def, &scheme, &c.system), YK_OK);
    assert_int_equal(yk_system_initialize(c.system), YK_OK);
    double largest = 0;
    for (int i = 0; i < lround(0.5 / h); i++) {
        assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
        largest = fmax(largest, fabs(mass(&c, 0)->motion.position.x -
                                     exact_position(yk_system_time(c.system))));
    }
    close_chain(&c);
    return largest;
}

/* Solvers that disagree in what they make of a wrench within a step still agree in its impulse:
 * no error stays when the step goes to zero. */
static void solvers_of_low_order_keep_theirs(void **state)
{
    (void)state;
    for (int degree = 0; degree < 4; degree++) {
        double fine = low_order_error(degree, 5e-4);
        assert_near(log2(low_order_error(degree, 1e-3) / fine), 1, 0.1);
        assert_true(fine < 0.02 * 100 / sqrt(2000.0 / 3));
    }
}

static void one_newton_step_suffices_for_linear_systems(void **state)
{
    (void)state;
    any_scheme iterated = index1(3), single = index1(3);
    single.iterations = 1;
    assert_relative(largest_error(&single, 1e-2, 1), largest_error(&iterated, 1e-2, 1), 1e-6);
}

static void differences_give_the_jacobian_of_the_sensitivities(void **state)
{
    (void)state;
    any_scheme reported = index1(3), measured = index1(3);
    measured.jacobian = YK_JACOBIAN_UPDATE_FINITE_DIFFERENCES;
    for (int reuse = 0; reuse < 2; reuse++) {
        reported.jacobian = reuse ? YK_JACOBIAN_UPDATE_REUSE : YK_JACOBIAN_UPDATE_EVERY_STEP;
        assert_relative(largest_error(&measured, 1e-2, 1), largest_error(&reported, 1e-2, 1), 1e-4);
    }
}

/* A Jacobian that is kept costs its differences once. */
static void a_kept_jacobian_is_computed_once(void **state)
{
    (void)state;
    for (int reuse = 0; reuse < 2; reuse++) {
        chain c;
        yk_oscillator_def defs[2];
        paper_masses(defs);
        any_scheme scheme = index1(3);
        scheme.jacobian = reuse ? YK_JACOBIAN_UPDATE_REUSE : YK_JACOBIAN_UPDATE_FINITE_DIFFERENCES;
        silent = reuse;
        open_pair(&c, defs, &scheme, 1e-2);
        silent = false;
        for (int i = 0; i < 50; i++)
            assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
        yk_system_statistics s = yk_system_get_statistics(c.system);
        assert_int_equal((int)scheme_statistic(c.system, "coupling Jacobians"), reuse ? 1 : 50);
        /* Three parameters on either side. */
        assert_int_equal((int)scheme_statistic(c.system, "calls of subsystems"), reuse ? 6 : 300);
        assert_int_equal(s.iterations, 100); /* predictor and corrector */
        close_chain(&c);
    }
}

static void constraints_hold_on_all_levels_without_creating_momentum_or_energy(void **state)
{
    (void)state;
    chain c;
    yk_oscillator_def defs[2];
    paper_masses(defs);
    any_scheme scheme = index1(3);
    open_pair(&c, defs, &scheme, 1e-2);
    for (int n = 0; n < 100; n++) {
        const yk_port_value *a = mass(&c, 0), *b = mass(&c, 1);
        assert_near(a->motion.position.x, b->motion.position.x, 1e-13);
        assert_near(a->motion.velocity.x, b->motion.velocity.x, 1e-10);
        assert_near(a->motion.acceleration.x, b->motion.acceleration.x, 1e-7);
        assert_true(a->wrench.force.x == -b->wrench.force.x);
        assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
    }
    double energy = 0.5 * 3 * 100 * 100;
    assert_near(yk_system_interface_statistics(c.system, (yk_interface_id){0}).energy_created, 0,
                1e-8 * energy);
    close_chain(&c);
}

/* Equal halves need no force between them: what rounding leaves of it converges to nothing in
 * particular. */
static void a_joint_without_load_is_no_trouble(void **state)
{
    (void)state;
    chain c;
    yk_oscillator_def defs[2];
    paper_masses(defs);
    defs[1] = defs[0];
    any_scheme scheme = index1(3);
    scheme.tolerance = 0, scheme.relative_tolerance = 1e-12;
    open_pair(&c, defs, &scheme, 1e-2);
    for (int n = 0; n < 100; n++)
        assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
    assert_near(mass(&c, 0)->wrench.force.x, 0, 1e-8);
    close_chain(&c);
}

static void start_finds_the_initial_wrench(void **state)
{
    (void)state;
    chain c;
    yk_oscillator_def defs[2];
    paper_masses(defs);
    any_scheme scheme = index1(3);
    open_pair(&c, defs, &scheme, 1e-2);
    assert_relative(mass(&c, 0)->wrench.force.x, 1000.0 / 3, 1e-12); /* paper index1 4.1 */
    close_chain(&c);
}

static void rollback_repeats_the_run_bit_for_bit(void **state)
{
    (void)state;
    for (int reuse = 0; reuse < 2; reuse++) {
        chain c;
        yk_oscillator_def defs[2];
        paper_masses(defs);
        defs[0].integrator = YK_OSCILLATOR_TWO_STEP;
        any_scheme scheme = index1(2);
        scheme.jacobian = reuse ? YK_JACOBIAN_UPDATE_REUSE : YK_JACOBIAN_UPDATE_EVERY_STEP;
        open_pair(&c, defs, &scheme, 1e-3);
        yk_state_layout layout = yk_system_state_layout(c.system);
        double *mark = malloc(3 * layout.word_count * sizeof *mark),
               *one = mark + layout.word_count, *two = one + layout.word_count;
        for (int i = 0; i < 7; i++)
            yk_system_step(c.system, NULL);
        yk_system_get_state(c.system, mark);
        for (int i = 0; i < 9; i++)
            yk_system_step(c.system, NULL);
        yk_system_get_state(c.system, one);
        assert_int_equal(yk_system_set_state(c.system, mark), YK_OK);
        for (int i = 0; i < 9; i++)
            yk_system_step(c.system, NULL);
        yk_system_get_state(c.system, two);
        assert_memory_equal(one, two, layout.word_count * sizeof *one);
        free(mark);
        close_chain(&c);
    }
}

static int requests;

static void *count_requests(void *user, void *block, size_t bytes)
{
    (void)user;
    requests++;
    if (bytes)
        return realloc(block, bytes);
    free(block);
    return NULL;
}

static void stepping_allocates_nothing(void **state)
{
    (void)state;
    yk_context *usual = context;
    yk_context_def counting = yk_context_default();
    counting.allocate = count_requests;
    context = yk_context_create(&counting);
    for (int displacement = 0; displacement < 3; displacement++) {
        chain c;
        yk_oscillator_def defs[2];
        paper_masses(defs);
        any_scheme scheme = index1(3);
        scheme.jacobian = (yk_jacobian_update)displacement;
        open_pair(&c, defs, &scheme, 1e-2);
        assert_int_equal(yk_system_step(c.system, NULL),
                         YK_OK); /* the first factorisation takes its memory */
        requests = 0;
        for (int i = 0; i < 20; i++)
            assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
        assert_int_equal(requests, 0);
        close_chain(&c);
    }
    yk_context_destroy(context);
    context = usual;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_the_recurrence),
        cmocka_unit_test(degree_k_has_its_order),
        cmocka_unit_test(local_error_is_one_order_higher),
        cmocka_unit_test(solvers_of_low_order_keep_theirs),
        cmocka_unit_test(one_newton_step_suffices_for_linear_systems),
        cmocka_unit_test(differences_give_the_jacobian_of_the_sensitivities),
        cmocka_unit_test(a_kept_jacobian_is_computed_once),
        cmocka_unit_test(constraints_hold_on_all_levels_without_creating_momentum_or_energy),
        cmocka_unit_test(a_joint_without_load_is_no_trouble),
        cmocka_unit_test(start_finds_the_initial_wrench),
        cmocka_unit_test(rollback_repeats_the_run_bit_for_bit),
        cmocka_unit_test(stepping_allocates_nothing),
    };
    return cmocka_run_group_tests_name("index1", tests, open_context, close_context);
}
