/* The schemes on the two-mass oscillator: the papers' error tables, momentum, energy,
 * determinism, failures. */
#include <stdlib.h>
#include <string.h>

#include "any_scheme.h"
#include "coupling/system_arrays.h"
#include "test.h"
#include "yoke/oscillator.h"

static yk_context *context;

typedef struct pair {
    yk_subsystem *masses[2];
    yk_system *system;
} pair;

static const char *const names[] = {"left", "right"};

static yk_oscillator_def first_mass(double stiffness, double rho_inf, double velocity)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.stiffness = stiffness, def.rho_inf = rho_inf, def.velocity = velocity;
    return def;
}

static yk_oscillator_def second_mass(double velocity)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.velocity = velocity, def.integrator = YK_OSCILLATOR_SEMI_IMPLICIT;
    return def;
}

static const yk_interface_def joint = {.name = "joint",
                                       .wrench_subsystem = {0},
                                       .motion_subsystem = {1},
                                       .constrained_axes = YK_AXIS_X};

static yk_status open_with_substeps(pair *p, const yk_oscillator_def *defs,
                                    const any_scheme *scheme, double h, const int *substeps)
{
    *p = (pair){0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_oscillator_create(context, &defs[i], &p->masses[i]), YK_OK);
    yk_system_description def = {.subsystems = p->masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .substeps = substeps,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = h};
    yk_status status = any_scheme_create(context, &def, scheme, &p->system);
    return status == YK_OK ? yk_system_initialize(p->system) : status;
}

static yk_status open_masses(pair *p, const yk_oscillator_def *defs, const any_scheme *scheme,
                             double h)
{
    return open_with_substeps(p, defs, scheme, h, NULL);
}

static void close_masses(pair *p)
{
    yk_system_destroy(p->system);
    for (int i = 0; i < 2; i++)
        p->masses[i]->ops->destroy(p->masses[i]);
}

static double position(const pair *p, int mass)
{
    return yk_system_port_value(p->system, (yk_subsystem_id){mass}, (yk_port_id){0})
        ->motion.position.x;
}

/* Free vibration of both masses (1 kg each on 5000 N/m), released at x = 0 with v0. */
static const double OMEGA = 50;

/* Puts both masses on the exact motion at t = h with the exact history at t = 0, as the reference
 * computation starts. The words are those of the oscillators: x, v, a now, x, v, a before,
 * wrench. */
static void set_exact_history(yk_system *system, double v0, double h)
{
    yk_state_layout layout = yk_system_state_layout(system);
    double *image = malloc(layout.word_count * sizeof *image), s = sin(OMEGA * h),
           c = cos(OMEGA * h);
    assert_int_equal(layout.continuous_count, 14);
    yk_system_get_state(system, image);
    for (int mass = 0; mass < 2; mass++) {
        double *word = image + 7 * mass;
        word[0] = v0 / OMEGA * s, word[1] = v0 * c, word[2] = -v0 * OMEGA * s;
        word[3] = 0, word[4] = v0, word[5] = 0;
    }
    assert_int_equal(yk_system_set_state(system, image), YK_OK);
    free(image);
}

/* Relative L1 error of a mass over a run: explicit (47), tight (34). */
static double relative_error(const any_scheme *scheme, double rho_inf, double v0, double h,
                             double end, int mass, bool exact_history)
{
    pair p;
    yk_oscillator_def defs[2] = {first_mass(5000, rho_inf, v0), second_mass(v0)};
    assert_int_equal(open_masses(&p, defs, scheme, h), YK_OK);
    double error = 0, sum = 0;
    int64_t steps = llround(end / h);
    for (int64_t n = 1; n <= steps; n++) {
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
        if (n == 1 && exact_history)
            set_exact_history(p.system, v0, h);
        double exact = v0 / OMEGA * sin(OMEGA * (double)n * h);
        error += fabs(position(&p, mass) - exact);
        sum += fabs(exact);
    }
    close_masses(&p);
    return error / sum;
}

static void explicit_errors_are_those_of_the_paper(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    static const double steps[] = {1e-3, 1e-4, 1e-5}, errors[] = {1.40e-1, 1.55e-2, 1.57e-3};
    for (int i = 0; i < 3; i++) {
        double exact_start = relative_error(&scheme, 0.56, 0.1, steps[i], 0.5, 0, true);
        assert_near(exact_start, errors[i], 0.00501 * pow(10, floor(log10(errors[i]))));
        /* From our own start the first step adds its share: at most one step's part of the
         * error. */
        double own_start = relative_error(&scheme, 0.56, 0.1, steps[i], 0.5, 0, false);
        assert_relative(own_start, exact_start, 5 * steps[i]);
    }
}

static void tight_errors_are_those_of_the_paper(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight();
    scheme.iterations = 50;
    assert_near(relative_error(&scheme, 0.6, 1, 1e-3, 0.1, 1, false), 3.2e-2, 0.05e-2);
    assert_near(relative_error(&scheme, 0.6, 1, 1e-4, 0.1, 1, false), 3.29e-3, 0.005e-3);
    assert_near(relative_error(&scheme, 0.6, 1, 1e-5, 0.1, 1, false), 3.30e-4, 0.005e-4);
    scheme.acceleration = YK_ACCELERATION_AITKEN;
    assert_near(relative_error(&scheme, 0.6, 1, 1e-4, 0.1, 1, false), 3.29e-3, 0.005e-3);
}

static void monolithic_is_of_second_order(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_monolithic();
    double coarse = relative_error(&scheme, 0.6, 1, 1e-3, 0.1, 1, false),
           fine = relative_error(&scheme, 0.6, 1, 5e-4, 0.1, 1, false);
    assert_true(log2(coarse / fine) > 1.9);
    assert_true(fine < 1e-3);
}

/* An exact motion side is given straight lines: its wrench is the mean that changes its
 * momentum. */
static void tight_converges_with_an_exact_motion_side(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight(), scheme.acceleration = YK_ACCELERATION_AITKEN;
    double errors[2];
    for (int i = 0; i < 2; i++) {
        double h = i ? 1e-4 : 2e-4;
        pair p;
        yk_oscillator_def defs[2] = {first_mass(5000, 0.6, 1), second_mass(1)};
        defs[1].integrator = YK_OSCILLATOR_EXACT;
        assert_int_equal(open_masses(&p, defs, &scheme, h), YK_OK);
        for (int n = 0; n < lround(0.02 / h); n++)
            assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
        errors[i] = fabs(position(&p, 1) - sin(OMEGA * 0.02) / OMEGA);
        close_masses(&p);
    }
    assert_true(log2(errors[0] / errors[1]) > 0.9);
    assert_true(errors[1] < 1e-4);
}

/* A start out of equilibrium: the joint force at t = 0 is m2 a, and the first step must know it. */
static void start_finds_the_initial_wrench(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    pair p;
    yk_oscillator_def defs[2] = {first_mass(5000, 0.6, 0), second_mass(0)};
    defs[0].position = defs[1].position = 0.01;
    defs[1].mass = 30;
    assert_int_equal(open_masses(&p, defs, &scheme, 1e-4), YK_OK);
    double a = -5000 * 0.01 / 31;
    assert_relative(yk_system_port_value(p.system, (yk_subsystem_id){0}, (yk_port_id){0})
                        ->motion.acceleration.x,
                    a, 1e-10);
    assert_relative(
        yk_system_port_value(p.system, (yk_subsystem_id){1}, (yk_port_id){0})->wrench.force.x,
        30 * a, 1e-10);
    close_masses(&p);
}

static const any_scheme *all_schemes(int *count)
{
    static any_scheme list[11];
    for (int i = 0; i < 11; i++)
        list[i] = any_scheme_default();
    list[1].inputs = YK_MODIFIED_INPUTS_NONE;
    list[2].order = YK_SEQUENCE_JACOBI;
    list[3].ops = yk_scheme_tight(), list[3].iterations = 0;
    list[4].ops = yk_scheme_tight();
    list[5].ops = yk_scheme_tight(), list[5].acceleration = YK_ACCELERATION_AITKEN;
    list[6].motion = YK_MOTION_EXTRAPOLATION_QUADRATIC;
    list[7].motion = YK_MOTION_EXTRAPOLATION_HERMITE;
    list[8].ops = yk_scheme_tight(), list[8].iterated_inputs = YK_MODIFIED_INPUTS_INDEX_1;
    for (int i = 9; i < 11; i++)
        list[i].ops = yk_scheme_tight(), list[i].order = YK_SEQUENCE_JACOBI, list[i].threads = 2;
    list[10].acceleration = YK_ACCELERATION_NONE;
    list[10].motion = YK_MOTION_EXTRAPOLATION_LINEAR;
    *count = 11;
    return list;
}

/* The wrench that one side receives is the opposite of the other's, to the last bit: at the end of
 * the same step, or of the step before for Jacobi. */
static void each_side_receives_what_the_other_gave(void **state)
{
    (void)state;
    int count;
    const any_scheme *schemes = all_schemes(&count);
    for (int s = 0; s < count; s++) {
        pair p;
        yk_oscillator_def defs[2] = {first_mass(900, 0.6, 1), second_mass(1)};
        defs[1].stiffness = 10, defs[1].damping = 0.5, defs[1].mass = 0.7;
        assert_int_equal(open_masses(&p, defs, &schemes[s], 1e-3), YK_OK);
        for (int n = 0; n < 50; n++) {
            double given_before =
                yk_system_port_value(p.system, (yk_subsystem_id){1}, (yk_port_id){0})
                    ->wrench.force.x;
            assert_true(!YK_FAILED(yk_system_step(p.system, NULL)));
            double given = yk_system_port_value(p.system, (yk_subsystem_id){1}, (yk_port_id){0})
                               ->wrench.force.x;
            double received = yk_system_port_value(p.system, (yk_subsystem_id){0}, (yk_port_id){0})
                                  ->wrench.force.x;
            bool late =
                schemes[s].ops == yk_scheme_explicit() && schemes[s].order == YK_SEQUENCE_JACOBI;
            assert_true(received == -(late ? given_before : given));
        }
        close_masses(&p);
    }
}

/* The two masses move together up to the tolerance of the tight scheme; the interface work shows what
 * is left. */
static void tight_scheme_closes_the_gap(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight(), scheme.tolerance = 1e-9, scheme.iterations = 60;
    pair p;
    yk_oscillator_def defs[2] = {first_mass(5000, 0.6, 1), second_mass(1)};
    assert_int_equal(open_masses(&p, defs, &scheme, 1e-4), YK_OK);
    for (int n = 0; n < 1000; n++)
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
    yk_interface_statistics gap = yk_system_interface_statistics(p.system, (yk_interface_id){0});
    assert_true(gap.max_gap.position < 1e-9 * 1e-8);
    assert_true(fabs(gap.energy_created) < 1e-12);
    yk_system_statistics all = yk_system_get_statistics(p.system);
    assert_int_equal(all.steps, 1000);
    assert_int_equal(yk_system_subsystem_statistics(p.system, (yk_subsystem_id){1}).calls,
                     all.iterations);
    close_masses(&p);
}

static void unstable_coupling_creates_energy_and_is_named(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.inputs = YK_MODIFIED_INPUTS_NONE;
    pair p;
    yk_oscillator_def defs[2] = {first_mass(5000, 0.56, 0.1), second_mass(0.1)};
    assert_int_equal(open_masses(&p, defs, &scheme, 1e-3), YK_OK);
    yk_status status = YK_OK;
    for (int n = 0; n < 500; n++)
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
    /* The masses started with 0.01 J in all. */
    assert_true(yk_system_interface_statistics(p.system, (yk_interface_id){0}).energy_created >
                1e3);
    while (status == YK_OK && yk_system_step_count(p.system) < 100000)
        status = yk_system_step(p.system, NULL);
    assert_int_equal(status, YK_ERROR_NOT_FINITE);
    const char *message = yk_last_message(context);
    assert_int_equal(strncmp(message, "the coupling is unstable: ", 26), 0);
    assert_non_null(strstr(message, "at interface 'joint' between '"));
    assert_non_null(strstr(message, " to t = "));
    assert_non_null(strstr(message, "subsystem '"));
    assert_non_null(strstr(message, "the scheme index1"));
    assert_null(strstr(message, "()"));
    assert_null(strstr(message, "apart"));
    close_masses(&p);

    /* Sides that start apart are said to be. */
    defs[1].position = 0.25;
    assert_int_equal(open_masses(&p, defs, &scheme, 1e-3), YK_OK);
    do {
        status = yk_system_step(p.system, NULL);
    } while (status == YK_OK && yk_system_step_count(p.system) < 100000);
    assert_int_equal(status, YK_ERROR_NOT_FINITE);
    assert_non_null(strstr(yk_last_message(context), "which are 0.25 m apart at first"));
    close_masses(&p);
}

static void unconverged_iterations_are_reported_and_the_run_goes_on(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight(), scheme.iterations = 2,
    scheme.acceleration = YK_ACCELERATION_NONE;
    pair p;
    yk_oscillator_def defs[2] = {first_mass(5000, 0.6, 1), second_mass(1)};
    assert_int_equal(open_masses(&p, defs, &scheme, 1e-3), YK_OK);
    yk_status status = YK_OK;
    for (int n = 0; n < 10; n++)
        status = yk_system_step(p.system, NULL);
    assert_int_equal(status, YK_NOT_CONVERGED);
    assert_non_null(strstr(yk_last_message(context), "did not converge in 2 iterations"));
    assert_true(yk_system_get_statistics(p.system).steps_not_converged > 0);
    close_masses(&p);
}

/* A heavy partner needs relaxation: the plain fixed point diverges above a mass ratio of 1 / b0^2
 * = 3.7. */
static void aitken_carries_a_heavy_partner(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight(), scheme.acceleration = YK_ACCELERATION_AITKEN;
    pair p;
    yk_oscillator_def defs[2] = {first_mass(5000, 0.6, 1), second_mass(1)};
    defs[1].mass = 1000;
    assert_int_equal(open_masses(&p, defs, &scheme, 1e-3), YK_OK);
    for (int n = 0; n < 100; n++)
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
    assert_true(yk_system_get_statistics(p.system).max_iterations <= 6);
    close_masses(&p);
}

/* The first run continues, the second starts at the mark: the image must hold all that the next step
 * depends on. */
static void check_rollback(const any_scheme *scheme, const int *substeps, int steps_before)
{
    pair p;
    yk_oscillator_def defs[2] = {first_mass(700, 0.5, 1), second_mass(1)};
    assert_int_equal(open_with_substeps(&p, defs, scheme, 1e-3, substeps), YK_OK);
    for (int n = 0; n < steps_before; n++)
        yk_system_step(p.system, NULL);
    size_t words = yk_system_state_layout(p.system).word_count;
    double *mark = malloc(words * sizeof *mark);
    yk_system_get_state(p.system, mark);
    double time = yk_system_time(p.system), end[2];
    for (int run = 0; run < 2; run++) {
        if (run > 0)
            assert_int_equal(yk_system_set_state(p.system, mark), YK_OK);
        assert_true(yk_system_time(p.system) == time);
        for (int n = 0; n < 20; n++)
            yk_system_step(p.system, NULL);
        end[run] = position(&p, 1);
    }
    assert_memory_equal(&end[0], &end[1], sizeof(double));
    free(mark);
    close_masses(&p);
}

static void rollback_repeats_the_run_bit_for_bit(void **state)
{
    (void)state;
    int count;
    const any_scheme *schemes = all_schemes(&count);
    const int substeps[2] = {3, 2};
    for (int s = 0; s < count; s++) {
        check_rollback(&schemes[s], NULL, 20);
        check_rollback(&schemes[s], NULL, 0);
        if (schemes[s].ops == yk_scheme_monolithic())
            continue;
        check_rollback(&schemes[s], substeps, 20);
        check_rollback(&schemes[s], substeps, 0);
    }
}

/* A subsystem is started with the step that it makes itself. */
static double started_with[2];
static const yk_subsystem *started[2];
static yk_status (*start_mass)(yk_subsystem *self, double t, double h, const yk_input *inputs);

static yk_status note_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    started_with[self == started[1]] = h;
    return start_mass(self, t, h, inputs);
}

static void substeps_begin_with_their_own_length(void **state)
{
    (void)state;
    pair p = {0};
    yk_oscillator_def defs[2] = {first_mass(700, 0.5, 1), second_mass(1)};
    static yk_subsystem_ops noted;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(yk_oscillator_create(context, &defs[i], &p.masses[i]), YK_OK);
        noted = *p.masses[i]->ops;
        start_mass = noted.initialize;
        noted.initialize = note_start;
        started[i] = p.masses[i];
    }
    for (int i = 0; i < 2; i++)
        p.masses[i]->ops = &noted;
    any_scheme scheme = any_scheme_default();
    yk_system_description def = {.subsystems = p.masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .substeps = (const int[]){4, 1},
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = 1e-3};
    assert_int_equal(any_scheme_create(context, &def, &scheme, &p.system), YK_OK);
    assert_int_equal(yk_system_initialize(p.system), YK_OK);
    assert_near(started_with[0], 2.5e-4, 1e-18);
    assert_near(started_with[1], 1e-3, 0);
    close_masses(&p);
}

/* Error at 0.1 s of two masses that swing with OMEGA, where only the first makes several steps. */
static double error_of_substeps(double h)
{
    pair p;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight();
    scheme.tolerance = 1e-10;
    yk_oscillator_def defs[2] = {first_mass(5000, 1, 0.1), second_mass(0.1)};
    defs[1].integrator = YK_OSCILLATOR_TWO_STEP;
    assert_int_equal(open_with_substeps(&p, defs, &scheme, h, (const int[]){4, 1}), YK_OK);
    int steps = (int)lround(0.1 / h);
    double error = 0;
    for (int n = 1; n <= steps; n++) {
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
        error = fmax(error, fabs(position(&p, 0) - 0.1 / OMEGA * sin(OMEGA * n * h)));
    }
    close_masses(&p);
    return error;
}

static void tight_keeps_its_order_with_substeps_on_one_side(void **state)
{
    (void)state;
    double coarse = error_of_substeps(1e-3);
    double fine = error_of_substeps(5e-4);
    assert_true(coarse < 1e-3 * 0.1 / OMEGA);
    assert_near(log2(coarse / fine), 2, 0.1);
}

static void jacobi_gives_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    double reference[2] = {0};
    for (int threads = 1; threads <= 3; threads++) {
        any_scheme scheme = any_scheme_default();
        scheme.order = YK_SEQUENCE_JACOBI, scheme.threads = threads;
        pair p;
        yk_oscillator_def defs[2] = {first_mass(700, 0.5, 1), second_mass(1)};
        assert_int_equal(open_masses(&p, defs, &scheme, 1e-3), YK_OK);
        for (int n = 0; n < 200; n++)
            assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
        for (int i = 0; i < 2; i++) {
            double x = position(&p, i);
            if (threads == 1)
                reference[i] = x;
            assert_memory_equal(&x, &reference[i], sizeof x);
        }
        close_masses(&p);
    }
}

/* Both sequences solve the same equations. */
static void tight_finds_the_same_motion_in_both_sequences(void **state)
{
    (void)state;
    static const yk_modified_inputs inputs[] = {YK_MODIFIED_INPUTS_NONE, YK_MODIFIED_INPUTS_INDEX_1,
                                                YK_MODIFIED_INPUTS_INDEX_2};
    static const yk_acceleration rules[] = {YK_ACCELERATION_NONE, YK_ACCELERATION_QUASI_NEWTON};
    for (int i = 0; i < 3; i++) {
        double reference[2] = {0};
        for (int n = 0; n < 6; n++) {
            any_scheme scheme = any_scheme_default();
            scheme.ops = yk_scheme_tight();
            scheme.iterations = 200;
            scheme.tolerance = 1e-11;
            scheme.iterated_inputs = inputs[i];
            scheme.acceleration = rules[n % 2];
            scheme.order = n < 2 ? YK_SEQUENCE_GAUSS_SEIDEL : YK_SEQUENCE_JACOBI;
            scheme.threads = n < 4 ? 1 : 2;
            pair p;
            yk_oscillator_def defs[2] = {first_mass(700, 0.5, 1), second_mass(1)};
            defs[1].mass = 0.7;
            assert_int_equal(open_masses(&p, defs, &scheme, 1e-3), YK_OK);
            for (int k = 0; k < 100; k++)
                assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
            for (int side = 0; side < 2; side++) {
                if (n == 0)
                    reference[side] = position(&p, side);
                assert_near(position(&p, side), reference[side], 1e-13);
            }
            close_masses(&p);
        }
    }
}

/* Equation (26) with the motion that the iteration has found; weights {1, 0, 0} close the gap of the positions. */
static void tight_prescribes_modified_inputs(void **state)
{
    (void)state;
    double h = 1e-3;
    for (int c = 0; c < 4; c++) {
        static const yk_modified_inputs inputs[] = {
            YK_MODIFIED_INPUTS_INDEX_1, YK_MODIFIED_INPUTS_INDEX_2, YK_MODIFIED_INPUTS_INDEX_3,
            YK_MODIFIED_INPUTS_WEIGHTED};
        const double weights[][3] = {{2, 2, 1}, {1, 1, 0}, {1, 0, 0}, {3e5 * h * h, 40 * h, 0.5}};
        const double *w = weights[c];
        any_scheme scheme = any_scheme_default();
        scheme.ops = yk_scheme_tight();
        scheme.iterations = 50;
        scheme.tolerance = 1e-11;
        scheme.iterated_inputs = inputs[c];
        scheme.alpha = 3e5;
        scheme.beta = 40;
        scheme.gamma = 0.5;
        pair p;
        yk_oscillator_def defs[2] = {first_mass(700, 0.5, 1), second_mass(1)};
        assert_int_equal(open_masses(&p, defs, &scheme, h), YK_OK);
        yk_motion b = {.velocity = {1, 0, 0}};
        double largest_gap = 0;
        for (int n = 0; n < 50; n++) {
            assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
            yk_motion a =
                yk_system_port_value(p.system, (yk_subsystem_id){0}, (yk_port_id){0})->motion;
            double sum = w[0] * (a.position.x - b.position.x) / h + w[1] * a.velocity.x +
                         w[2] * (b.velocity.x + h * a.acceleration.x);
            b = yk_system_port_value(p.system, (yk_subsystem_id){1}, (yk_port_id){0})->motion;
            assert_near(b.velocity.x, sum / (w[0] + w[1] + w[2]), 1e-12);
            largest_gap = fmax(largest_gap, fabs(a.position.x - b.position.x));
        }
        close_masses(&p);
        if (inputs[c] == YK_MODIFIED_INPUTS_INDEX_3)
            assert_true(largest_gap < 1e-15);
        else
            assert_true(largest_gap > 1e-9);
    }
}

/* The motion that is prescribed before the partner has stepped determines the error of schemes that do not repeat steps.
 * After a tight iteration it does not matter. */
static void extrapolation_is_used_where_nothing_is_repeated(void **state)
{
    (void)state;
    double position_of[3][5];
    for (int s = 0; s < 3; s++) {
        for (int e = 0; e < 5; e++) {
            any_scheme scheme = any_scheme_default();
            if (s > 0)
                scheme.ops = yk_scheme_tight();
            scheme.iterations = s == 1 ? 0 : 50;
            scheme.tolerance = 1e-11;
            scheme.velocity = YK_PRESCRIBED_VELOCITY_PARTNER;
            scheme.motion = (yk_motion_extrapolation)e;
            scheme.exchange = YK_EXCHANGE_FORCE_MOTION;
            pair p;
            yk_oscillator_def defs[2] = {first_mass(700, 0.5, 1), second_mass(1)};
            defs[1].mass = 0.1;
            assert_int_equal(open_masses(&p, defs, &scheme, 1e-3), YK_OK);
            for (int n = 0; n < 100; n++)
                assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
            position_of[s][e] = position(&p, 0);
            close_masses(&p);
        }
    }
    for (int e = 1; e < 5; e++) {
        assert_true(position_of[0][e] != position_of[0][e - 1]);
        assert_true(position_of[1][e] != position_of[1][e - 1]);
        assert_near(position_of[2][e], position_of[2][0], 1e-13);
    }
}

/* Error at t = 0.1 s of the explicit scheme, relative to the amplitude; the second mass is so light that the coupling is stable. */
static double error_with_extrapolation(yk_motion_extrapolation kind, double h)
{
    any_scheme scheme = any_scheme_default();
    scheme.motion = kind;
    pair p;
    yk_oscillator_def defs[2] = {first_mass(5000, 0.56, 1), second_mass(1)};
    defs[1].mass = 0.1;
    assert_int_equal(open_masses(&p, defs, &scheme, h), YK_OK);
    double omega = sqrt(5000 / 1.1);
    double error = 0;
    for (int64_t n = 1; n <= llround(0.1 / h); n++) {
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
        double exact = sin(omega * (double)n * h);
        error = fmax(error, fabs(omega * position(&p, 0) - exact));
    }
    close_masses(&p);
    return error;
}

/* The wrench belongs to a motion that was prescribed before it was known, and the motion side is of first order: so is the scheme
 * with every extrapolation. */
static void explicit_is_of_first_order_with_every_extrapolation(void **state)
{
    (void)state;
    for (int e = 0; e < 5; e++) {
        double coarse = error_with_extrapolation((yk_motion_extrapolation)e, 2e-4);
        double fine = error_with_extrapolation((yk_motion_extrapolation)e, 1e-4);
        assert_near(log2(coarse / fine), 1, 0.1);
    }
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_errors_are_those_of_the_paper),
        cmocka_unit_test(tight_errors_are_those_of_the_paper),
        cmocka_unit_test(monolithic_is_of_second_order),
        cmocka_unit_test(tight_converges_with_an_exact_motion_side),
        cmocka_unit_test(start_finds_the_initial_wrench),
        cmocka_unit_test(each_side_receives_what_the_other_gave),
        cmocka_unit_test(tight_scheme_closes_the_gap),
        cmocka_unit_test(unstable_coupling_creates_energy_and_is_named),
        cmocka_unit_test(unconverged_iterations_are_reported_and_the_run_goes_on),
        cmocka_unit_test(aitken_carries_a_heavy_partner),
        cmocka_unit_test(rollback_repeats_the_run_bit_for_bit),
        cmocka_unit_test(substeps_begin_with_their_own_length),
        cmocka_unit_test(tight_keeps_its_order_with_substeps_on_one_side),
        cmocka_unit_test(jacobi_gives_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(tight_finds_the_same_motion_in_both_sequences),
        cmocka_unit_test(tight_prescribes_modified_inputs),
        cmocka_unit_test(extrapolation_is_used_where_nothing_is_repeated),
        cmocka_unit_test(explicit_is_of_first_order_with_every_extrapolation),
    };
    int failed = cmocka_run_group_tests_name("schemes", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
