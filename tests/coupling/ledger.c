/* The energy balance of coupled systems, for every scheme, integrator and number of substeps: the
 * energy errors of the interfaces and of the integration vanish with the step size, and the work of
 * external loads is reported. */
#include <string.h>

#include "any_scheme.h"
#include "coupling/system_arrays.h"
#include "test.h"
#include "yoke/oscillator.h"

static yk_context *context;

static const char *const names[] = {"a", "b"};
static const yk_interface_def joint = {.name = "joint",
                                       .wrench_subsystem = {0},
                                       .motion_subsystem = {1},
                                       .constrained_axes = YK_AXIS_X};

static double push(void *user, double t)
{
    (void)user;
    return 3 * sin(7 * t);
}

typedef struct parts {
    yk_oscillator_integrator integrator[2];
    int substeps[2];
} parts;

typedef struct sums {
    double created, numerical, external, dissipated, stored;
} sums;

/* 1.1 kg on 440 N/m with a damper and a force, a tenth of a kilogram of it beyond the joint: 1
 * s. */
static sums run_pair(const parts *of, const any_scheme *scheme, double h)
{
    yk_subsystem *masses[2];
    for (int i = 0; i < 2; i++) {
        yk_oscillator_def def = yk_oscillator_default();
        def.integrator = of->integrator[i], def.rho_inf = 1;
        def.mass = i ? 0.1 : 1, def.stiffness = i ? 40 : 400, def.damping = i ? 0.2 : 0.5;
        def.position = 0.05, def.velocity = 0.3;
        if (i == 0)
            def.force = (yk_time_function){.evaluate = push};
        assert_int_equal(yk_oscillator_create(context, &def, &masses[i]), YK_OK);
    }
    yk_system_description def = {.subsystems = masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .substeps = of->substeps,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = h};
    yk_system *system = NULL;
    assert_int_equal(any_scheme_create(context, &def, scheme, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int n = 0; n < (int)(1 / h + 0.5); n++)
        assert_true(!YK_FAILED(yk_system_step(system, NULL)));

    sums s = {.created =
                  yk_system_interface_statistics(system, (yk_interface_id){0}).energy_created};
    for (int i = 0; i < 2; i++) {
        yk_energy_balance b = yk_system_energy_balance(system, (yk_subsystem_id){i});
        yk_energy energy;
        assert_true(yk_system_energy(system, (yk_subsystem_id){i}, &energy));
        assert_true(b.known);
        /* The definition, and the account of the subsystem itself. */
        assert_near(b.kinetic + b.potential - b.initial + b.dissipated,
                    b.external_work + b.interface_work + b.numerical, 1e-12);
        assert_near(b.external_work, energy.work - energy.port_work, 1e-14);
        s.numerical += fabs(b.numerical);
        s.external += b.external_work;
        s.dissipated += b.dissipated;
        s.stored += b.kinetic + b.potential;
    }
    yk_interface_statistics face = yk_system_interface_statistics(system, (yk_interface_id){0});
    assert_near(face.work[0] + face.work[1], face.energy_created, 1e-12);

    yk_system_destroy(system);
    for (int i = 0; i < 2; i++)
        masses[i]->ops->destroy(masses[i]);
    return s;
}

/* Both masses as one, by classical Runge-Kutta in fine steps: force, losses and what is stored
 * after 1 s. */
static sums exact_pair(void)
{
    const double m = 1.1, k = 440, c = 0.7, h = 1e-5;
    double y[4] = {0.05, 0.3, 0, 0};
    for (int n = 0; n < 100000; n++) {
        double slope[4][4], at[4];
        for (int stage = 0; stage < 4; stage++) {
            double fraction = stage == 0 ? 0 : stage == 3 ? h : h / 2, t = n * h + fraction;
            for (int i = 0; i < 4; i++)
                at[i] = y[i] + (stage ? fraction * slope[stage - 1][i] : 0);
            slope[stage][0] = at[1];
            slope[stage][1] = (push(NULL, t) - k * at[0] - c * at[1]) / m;
            slope[stage][2] = push(NULL, t) * at[1];
            slope[stage][3] = c * at[1] * at[1];
        }
        for (int i = 0; i < 4; i++)
            y[i] += h / 6 * (slope[0][i] + 2 * slope[1][i] + 2 * slope[2][i] + slope[3][i]);
    }
    return (sums){
        .external = y[2], .dissipated = y[3], .stored = 0.5 * (m * y[1] * y[1] + k * y[0] * y[0])};
}

enum { SCHEMES = 10 };

static void list_schemes(any_scheme list[SCHEMES], const char *name[SCHEMES])
{
    for (int i = 0; i < SCHEMES; i++)
        list[i] = any_scheme_default();
    name[0] = "explicit, index-1";
    name[1] = "explicit, original", list[1].inputs = YK_MODIFIED_INPUTS_NONE;
    name[2] = "jacobi", list[2].order = YK_SEQUENCE_JACOBI;
    for (int i = 3; i < 6; i++)
        list[i].ops = yk_scheme_tight(), list[i].tolerance = 1e-9;
    name[3] = "loose", list[3].iterations = 0;
    name[4] = "tight";
    name[5] = "tight, quasi-newton", list[5].acceleration = YK_ACCELERATION_QUASI_NEWTON;
    name[6] = "index1", list[6].ops = yk_scheme_index1(), list[6].relative_tolerance = 1e-10;
    name[7] = "rim", list[7].ops = yk_scheme_rim();
    for (int i = 0; i < 8; i++)
        list[i].exchange = YK_EXCHANGE_FORCE_MOTION;
    name[8] = "explicit, forces", list[8].exchange = YK_EXCHANGE_FORCE_FORCE;
    name[9] = "loose, forces", list[9].exchange = YK_EXCHANGE_FORCE_FORCE;
    list[9].ops = yk_scheme_tight(), list[9].iterations = 0;
}

static const parts cases[] = {
    {{YK_OSCILLATOR_EXACT, YK_OSCILLATOR_EXACT}, {1, 1}},
    {{YK_OSCILLATOR_TWO_STEP, YK_OSCILLATOR_SEMI_IMPLICIT}, {1, 1}},
    {{YK_OSCILLATOR_SEMI_IMPLICIT, YK_OSCILLATOR_TWO_STEP}, {1, 1}},
    {{YK_OSCILLATOR_TWO_STEP, YK_OSCILLATOR_SEMI_IMPLICIT}, {1, 4}},
    {{YK_OSCILLATOR_TWO_STEP, YK_OSCILLATOR_SEMI_IMPLICIT}, {4, 1}},
    {{YK_OSCILLATOR_SEMI_IMPLICIT, YK_OSCILLATOR_SEMI_IMPLICIT}, {2, 6}},
};

static void every_row_is_right_in_the_limit_of_small_steps(void **state)
{
    (void)state;
    sums truth = exact_pair();
    any_scheme schemes[SCHEMES];
    const char *name[SCHEMES];
    list_schemes(schemes, name);
    for (int s = 0; s < SCHEMES; s++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            /* A two-step motion side is unstable with schemes that do not iterate. */
            bool iterates = schemes[s].ops == yk_scheme_index1() || s == 4 || s == 5 || s >= 8;
            if (cases[i].integrator[1] == YK_OSCILLATOR_TWO_STEP && !iterates)
                continue;
            /* Solvers of low order follow polynomials in several substeps. */
            parts of = cases[i];
            for (int side = 0; side < 2 && schemes[s].ops == yk_scheme_index1(); side++)
                if (of.integrator[side] != YK_OSCILLATOR_EXACT)
                    of.substeps[side] = 4;
            sums coarse = run_pair(&of, &schemes[s], 1e-3),
                 fine = run_pair(&of, &schemes[s], 2.5e-4);
            double scale = truth.stored + truth.dissipated, limit = 0.35, rounding = 1e-8 * scale;
            double before = fabs(coarse.created) + coarse.numerical,
                   after = fabs(fine.created) + fine.numerical;
            if (!(after < fmax(limit * before, rounding)))
                print_error("%s, case %d: %.3g and %.3g of the energy made\n", name[s], (int)i,
                            before / scale, after / scale);
            assert_true(after < fmax(limit * before, rounding));
            assert_near(fine.external, truth.external, 0.03 * fabs(truth.external));
            assert_near(fine.dissipated, truth.dissipated, 0.02 * truth.dissipated);
            assert_near(fine.stored, truth.stored, 0.03 * scale);
        }
}

/* A partner that does not tell its energy: what goes through its interface is known all the
 * same. */
static void a_partner_without_energy_is_still_watched(void **state)
{
    (void)state;
    yk_subsystem *masses[2];
    for (int i = 0; i < 2; i++) {
        yk_oscillator_def def = yk_oscillator_default();
        def.stiffness = 400, def.position = 0.05;
        assert_int_equal(yk_oscillator_create(context, &def, &masses[i]), YK_OK);
    }
    const yk_subsystem_ops *reported = masses[1]->ops;
    yk_subsystem_ops silent = *reported;
    silent.energy = NULL;
    masses[1]->ops = &silent;

    /* Two-step with two-step and equal masses: unstable at every step. */
    any_scheme scheme = any_scheme_default();
    scheme.inputs = YK_MODIFIED_INPUTS_NONE, scheme.exchange = YK_EXCHANGE_FORCE_MOTION;
    yk_system_description def = {.subsystems = masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = 1e-3};
    yk_system *system = NULL;
    assert_int_equal(any_scheme_create(context, &def, &scheme, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int n = 0; n < 60; n++)
        assert_true(!YK_FAILED(yk_system_step(system, NULL)));
    yk_energy_balance a = yk_system_energy_balance(system, (yk_subsystem_id){0}),
                      b = yk_system_energy_balance(system, (yk_subsystem_id){1});
    yk_interface_statistics face = yk_system_interface_statistics(system, (yk_interface_id){0});
    assert_true(a.known && !b.known);
    assert_near(b.external_work, -face.work[1], 0);
    /* 1 J at the start. */
    assert_true(a.numerical + face.energy_created > 10);
    yk_system_destroy(system);
    masses[1]->ops = reported;
    for (int i = 0; i < 2; i++)
        masses[i]->ops->destroy(masses[i]);
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_right_in_the_limit_of_small_steps),
        cmocka_unit_test(a_partner_without_energy_is_still_watched),
    };
    int failed = cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
