/* The hydraulic circuit, compared with the equations of the paper and with an independent
 * integration, also where those equations are not valid: cavitation, end stops, reversed flow. */
#include "physics/cylinder.h"

#include <string.h>

#include "context.h"
#include "inputs.h"
#include "math/polynomial.h"
#include "test.h"

/* The cylinder of rim table 1, example 1, whose friction is not that of the default. */
static yk_hydraulic_cylinder_def example_cylinder(void)
{
    yk_hydraulic_cylinder_def def = yk_hydraulic_cylinder_default();
    def.cylinder.viscous_friction = 1e5;
    return def;
}

static const yk_fluid fluid = {.compressibility = 6.53e-10,
                               .compressibility_2 = -1.19e-18,
                               .density = 850,
                               .vapor_pressure = 0};

static double opening(void *user, double t)
{
    return *(const double *)user + 0.03 * sin(14 * t);
}

static double constant(void *user, double t)
{
    (void)t;
    return *(const double *)user;
}

/* One cylinder at rest at 0.8 m, its port joined. */
static yk_subsystem *create(yk_context *context, yk_hydraulic_def *def,
                            yk_hydraulic_cylinder_def *cylinder)
{
    yk_subsystem *made;
    cylinder->name = "ram";
    cylinder->initial_actuator_length = 0.8;
    yk_hydraulic_builder *builder = yk_hydraulic_begin(context, def);
    assert_int_equal(yk_hydraulic_add_cylinder(builder, cylinder).index, 0);
    yk_status status = yk_hydraulic_create(builder, &made);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    assert_int_equal(made->ops->connect(made, 0, YK_CAUSALITY_MOTION_INPUT, YK_AXIS_X), YK_OK);
    return made;
}

static double channel(const yk_subsystem *s, const char *name)
{
    const yk_channel *list;
    int count = s->ops->channels->list(s, &list);
    for (int i = 0; i < count; i++) {
        double value;
        if (strcmp(list[i].name, name) != 0)
            continue;
        s->ops->channels->read(s, i, &value);
        return value;
    }
    fail_msg("there is no channel %s", name);
    return 0;
}

static double balance(const yk_subsystem *s)
{
    yk_energy e;
    s->ops->energy->read(s, &e);
    return e.kinetic + e.potential + e.dissipated - e.work;
}

/* From `from` to `to` at a constant speed. */
static yk_status move(yk_subsystem *s, double t, double from, double to, double time, int steps)
{
    double h = time / steps, rate = (to - from) / time;
    for (int i = 0; i < steps; i++) {
        yk_input inputs[2] = {linear_signal(from + rate * i * h, rate)};
        yk_status status = s->ops->step(s, t + i * h, h, inputs);
        if (YK_FAILED(status))
            return status;
    }
    return YK_OK;
}

static void bulk_modulus_and_enthalpy_follow_the_density(void **state)
{
    (void)state;
    /* Beyond its range the law is continued by its tangent, without a jump of the slope. */
    double limit = yk_fluid_limit(&fluid);
    assert_true(limit > 2e8 && yk_fluid_fill_slope(&fluid, limit) > 0);
    assert_near(yk_fluid_fill(&fluid, limit + 1e6),
                yk_fluid_fill(&fluid, limit - 1e6) + 2e6 * yk_fluid_fill_slope(&fluid, limit),
                1e-5);
    for (double p = limit - 5e5; p < 4e8; p += 4.3e7) {
        double d = 1e4,
               slope =
                   (yk_fluid_enthalpy(&fluid, p + d) - yk_fluid_enthalpy(&fluid, p - d)) / (2 * d);
        assert_near(slope, 1 / yk_fluid_fill(&fluid, p), 1e-8);
    }
    for (double p = 0; p < 2e8; p += 1.3e7) {
        double beta = (1 + fluid.compressibility * p + fluid.compressibility_2 * p * p) /
                      (fluid.compressibility + 2 * fluid.compressibility_2 * p);
        assert_near(yk_fluid_fill(&fluid, p) / yk_fluid_fill_slope(&fluid, p), beta, 1e-6 * beta);
        double d = 1e4,
               slope =
                   (yk_fluid_enthalpy(&fluid, p + d) - yk_fluid_enthalpy(&fluid, p - d)) / (2 * d);
        assert_near(slope, 1 / yk_fluid_fill(&fluid, p), 1e-8);
    }
    /* The same integral where the discriminant is not positive. */
    yk_fluid other = {.compressibility = 6e-10, .compressibility_2 = 9e-20};
    for (int k = 0; k < 2; k++, other.compressibility_2 = 2e-18) {
        double p = 3e7, d = 1e3;
        double slope =
            (yk_fluid_enthalpy(&other, p + d) - yk_fluid_enthalpy(&other, p - d)) / (2 * d);
        assert_near(slope, 1 / yk_fluid_fill(&other, p), 1e-7);
    }
}

static void derivatives_are_those_of_the_rates(void **state)
{
    (void)state;
    yk_cylinder c = example_cylinder().cylinder;
    c.area[0] = 4e-3, c.leakage = 2e-11, c.valve.time_constant = 0.02;
    /* Usual; above the pump; a cavity; closed centre, both ways; in the rounded part of the root;
     * beyond the range of the density law. */
    const double points[][3] = {{3e6, 5e6, 0.44}, {8e6, 2e6, 0.6}, {-3e7, 4e6, 0.3},
                                {2e6, 3e6, -0.4}, {2e6, 3e6, 0.7}, {7.6e6 - 50, 1e5 + 30, 0.5},
                                {3e8, 5e6, 0.44}};
    for (int k = 0; k < 14; k++) {
        const double *point = points[k / 2];
        c.valve.kind = k / 2 == 3 || k / 2 == 4 ? YK_VALVE_CLOSED_CENTER : YK_VALVE_OPEN_CENTER;
        c.valve.allow_backflow = k % 2;
        yk_cylinder_drive drive = {
            .length = 0.03, .rate = -0.2, .command = 0.5, .pump = 7.6e6, .tank = 1e5};
        double analytic[9];
        yk_cylinder_jacobian(&c, &fluid, &drive, point, analytic);
        for (int j = 0; j < 3; j++) {
            double d = j < 2 ? 1 : 1e-6, y[3], up[3], down[3];
            memcpy(y, point, sizeof y);
            y[j] = point[j] + d;
            yk_cylinder_rate(&c, &fluid, &drive, y, up);
            y[j] = point[j] - d;
            yk_cylinder_rate(&c, &fluid, &drive, y, down);
            for (int i = 0; i < 3; i++) {
                double numeric = (up[i] - down[i]) / (2 * d),
                       size = fmax(fabs(numeric), j < 2 ? 1e-2 : 1);
                assert_near(analytic[3 * i + j], numeric, 2e-5 * size);
            }
        }
    }
}

/* rim 5.2: the openings of example 1 hold 11.23 and 2.51 kN; the force follows from the openings
 * alone. */
static void an_open_valve_holds_a_force(void **state)
{
    yk_context *context = *state;
    const double spools[2] = {0.44160, 0.48711};
    for (int i = 0; i < 2; i++) {
        yk_hydraulic_def def = yk_hydraulic_default();
        yk_hydraulic_cylinder_def cylinder = example_cylinder();
        double k = spools[i];
        cylinder.spool_command = (yk_time_function){.evaluate = constant, .user = &k};
        yk_subsystem *s = create(context, &def, &cylinder);
        assert_int_equal(s->ops->initialize(s, 0, 1e-3, NULL), YK_OK);
        double expected = 6.5e-3 * 7.5e6 * (1 - 2 * k) / ((1 - k) * (1 - k) + k * k);
        assert_near(channel(s, "ram.piston_force"), expected, 1e-8);
        yk_port_value value = {0};
        assert_int_equal(move(s, 0, 0.8, 0.8, 0.1, 20), YK_OK);
        s->ops->get_port_value(s, 0, &value);
        assert_near(value.wrench.force.x, -expected, 1e-3);
        assert_near(channel(s, "ram.flow_1"), 0, 1e-12);
        s->ops->destroy(s);
    }
}

/* Without a command an open valve is in its centre, and the oil presses on both sides equally. */
static void without_a_command_valves_are_neutral(void **state)
{
    yk_hydraulic_def def = yk_hydraulic_default();
    yk_hydraulic_cylinder_def cylinder = example_cylinder();
    yk_subsystem *s = create(*state, &def, &cylinder);
    assert_int_equal(s->ops->initialize(s, 0, 1e-3, NULL), YK_OK);
    assert_near(channel(s, "ram.spool_position"), 0.5, 0);
    assert_near(channel(s, "ram.piston_force"), 0, 1e-9);
    s->ops->destroy(s);
}

/* A cylinder that nothing is joined to stands still. */
static void a_cylinder_alone_stands_still(void **state)
{
    double k = 0.4;
    yk_hydraulic_def def = yk_hydraulic_default();
    yk_hydraulic_cylinder_def cylinder = example_cylinder();
    cylinder.name = "ram",
    cylinder.spool_command = (yk_time_function){.evaluate = constant, .user = &k};
    yk_subsystem *s;
    yk_hydraulic_builder *builder = yk_hydraulic_begin(*state, &def);
    yk_hydraulic_add_cylinder(builder, &cylinder);
    assert_int_equal(yk_hydraulic_create(builder, &s), YK_OK);
    assert_int_equal(s->ops->initialize(s, 0, 1e-3, NULL), YK_OK);
    double thrust = channel(s, "ram.piston_force");
    yk_input inputs[2] = {{0}};
    for (int i = 0; i < 10; i++)
        assert_int_equal(s->ops->step(s, 1e-3 * i, 1e-3, inputs), YK_OK);
    assert_relative(channel(s, "ram.piston_force"), thrust, 1e-9);
    s->ops->destroy(s);
}

/* rim (47), (48) as they are printed, by the classical Runge-Kutta method in tiny steps. */
static void paper_rates(double t, const double p[2], double rates[2])
{
    double s = 0.04 * sin(6 * t), v = 0.24 * cos(6 * t), k = 0.45 + 0.03 * sin(14 * t), ap = 6.5e-3,
           cd = 0.67;
    double ai = 5e-4 * k, ao = 5e-4 * (1 - k), l[2] = {0.221 - s, 0.221 + s}, beta[2];
    for (int i = 0; i < 2; i++)
        beta[i] = (1 + 6.53e-10 * p[i] - 1.19e-18 * p[i] * p[i]) / (6.53e-10 - 2 * 1.19e-18 * p[i]);
    double q1 = ai * cd * sqrt(2 * (7.6e6 - p[0]) / 850) - ao * cd * sqrt(2 * (p[0] - 1e5) / 850);
    double q2 = ao * cd * sqrt(2 * (7.6e6 - p[1]) / 850) - ai * cd * sqrt(2 * (p[1] - 1e5) / 850);
    rates[0] = beta[0] / (ap * l[0]) * (ap * v + q1);
    rates[1] = beta[1] / (ap * l[1]) * (-ap * v + q2);
}

static void runge_kutta(double t, double h, double p[2])
{
    double k[4][2], y[2];
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int i = 0; i < 4; i++) {
        for (int r = 0; r < 2; r++)
            y[r] = p[r] + (i ? at[i] * h * k[i - 1][r] : 0);
        paper_rates(t + at[i] * h, y, k[i]);
    }
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 2; r++)
            p[r] += h * weight[i] * k[i][r];
}

/* The cubic of each step is the sine to O(h^4). */
static void follow_sine(yk_subsystem *s, int steps, double end)
{
    double h = end / steps;
    for (int i = 0; i < steps; i++) {
        double t = i * h, cubic[4];
        hermite_cubic(h, 0.8 + 0.04 * sin(6 * t), 0.24 * cos(6 * t), 0.8 + 0.04 * sin(6 * (t + h)),
                      0.24 * cos(6 * (t + h)), cubic);
        yk_input inputs[2] = {{.degree = 3}};
        for (int c = 0; c < 4; c++)
            inputs[0].linear[c].x = cubic[c];
        assert_int_equal(s->ops->step(s, t, h, inputs), YK_OK);
    }
}

static void pressures_follow_the_printed_equations(void **state)
{
    double p[2] = {3e6, 4e6}, k = 0.45, t = 0;
    for (int i = 0; i < 40000; i++, t = i * 1e-5)
        runge_kutta(t, 1e-5, p);
    yk_context *context = *state;
    for (int controlled = 0; controlled < 2; controlled++) {
        yk_hydraulic_def def = yk_hydraulic_default();
        yk_hydraulic_cylinder_def cylinder = example_cylinder();
        cylinder.spool_command = (yk_time_function){.evaluate = opening, .user = &k};
        cylinder.initial_state = YK_HYDRAULIC_INITIAL_PRESSURE;
        cylinder.pressure[0] = 3e6, cylinder.pressure[1] = 4e6;
        def.relative_tolerance = controlled ? 1e-9 : 0;
        def.max_step = 2e-4;
        yk_subsystem *s = create(context, &def, &cylinder);
        yk_input begin[2] = {linear_signal(0.8, 0.24)};
        assert_int_equal(s->ops->initialize(s, 0, 1e-3, begin), YK_OK);
        follow_sine(s, 400, 0.4);
        assert_near(channel(s, "ram.pressure_1"), p[0], 2e-1);
        assert_near(channel(s, "ram.pressure_2"), p[1], 2e-1);
        assert_near(channel(s, "ram.piston_force"), 6.5e-3 * (p[1] - p[0]) - 1e5 * 0.24 * cos(2.4),
                    2e-3);
        s->ops->destroy(s);
    }
}

/* A closed valve: the piston is pulled until a cavity opens, and brought back. No liquid is lost,
 * and no energy. */
static void a_cavity_opens_and_closes(void **state)
{
    yk_context *context = *state;
    yk_hydraulic_def def = yk_hydraulic_default();
    yk_hydraulic_cylinder_def cylinder = example_cylinder();
    cylinder.cylinder.valve.kind = YK_VALVE_CLOSED_CENTER;
    cylinder.cylinder.viscous_friction = 0;
    cylinder.initial_state = YK_HYDRAULIC_INITIAL_FORCE;
    def.fluid.vapor_pressure = 2e4;
    def.relative_tolerance =
        1e-10; /* the kink where the cavity opens costs fixed steps some pascal */
    yk_subsystem *s = create(context, &def, &cylinder);
    yk_input begin[2] = {linear_signal(0.8, 0)};
    assert_int_equal(s->ops->initialize(s, 0, 1e-3, begin), YK_OK);
    double before = balance(s), p1 = channel(s, "ram.pressure_1"),
           p2 = channel(s, "ram.pressure_2");
    assert_near(p1 + p2, 7.7e6, 1e-6);
    assert_int_equal(move(s, 0, 0.8, 0.81, 0.1, 100), YK_OK);
    assert_near(channel(s, "ram.pressure_2"), 2e4, 0);
    double grown = 0.231 / 0.221,
           fill = 1 + fluid.compressibility * p2 + fluid.compressibility_2 * p2 * p2,
           vapour = 1 + fluid.compressibility * 2e4 + fluid.compressibility_2 * 4e8;
    assert_near(channel(s, "ram.vapor_fraction_2"), 1 - fill / grown / vapour, 1e-10);
    assert_in_range((int)(1e4 * channel(s, "ram.cavitation_time")), 930, 1000);
    assert_int_equal(move(s, 0.1, 0.81, 0.8, 0.1, 100), YK_OK);
    assert_near(channel(s, "ram.pressure_1"), p1, 1e-2);
    assert_near(channel(s, "ram.pressure_2"), p2, 1e-2);
    assert_near(channel(s, "ram.vapor_fraction_2"), 0, 0);
    assert_near(balance(s), before, 2e-3);
    s->ops->destroy(s);
}

static void keep_log(void *user, yk_log_level level, const char *text)
{
    (void)level;
    strncat(user, text, 2000 - strlen(user) - 1);
}

/* Into the stop at full extension and out again: force, energy, and what the log says. */
static void the_piston_meets_its_stops(void **state)
{
    (void)state;
    char log[2000] = "";
    yk_context_def context_def = yk_context_default();
    context_def.log = keep_log, context_def.log_user = log;
    yk_context *context = yk_context_create(&context_def);
    yk_hydraulic_def def = yk_hydraulic_default();
    yk_hydraulic_cylinder_def cylinder = example_cylinder();
    double k = 0.45;
    cylinder.spool_command = (yk_time_function){.evaluate = constant, .user = &k};
    cylinder.cylinder.min_chamber_length = 5e-3;
    yk_subsystem *s = create(context, &def, &cylinder);
    yk_input begin[2] = {linear_signal(0.8, 0)};
    assert_int_equal(s->ops->initialize(s, 0, 1e-3, begin), YK_OK);
    double before = balance(s);
    assert_int_equal(move(s, 0, 0.8, 1.016, 1, 1000), YK_OK);
    assert_near(channel(s, "ram.stop_time"), 0, 0);
    double free = channel(s, "ram.piston_force");
    assert_int_equal(move(s, 1, 1.016, 1.017, 0.005, 10), YK_OK);
    assert_true(channel(s, "ram.piston_force") < free - 1e8 * 1e-3);
    assert_near(channel(s, "ram.stop_time"), 0.005, 1e-6);
    assert_int_equal(move(s, 1.005, 1.017, 1.016, 0.005, 10), YK_OK);
    assert_near(balance(s), before, 2);
    yk_energy e;
    s->ops->energy->read(s, &e);
    assert_true(e.dissipated > 1e4);
    assert_near(channel(s, "ram.stop_time"), 0.01, 2e-4);
    s->ops->destroy(s);
    assert_non_null(strstr(log, "cylinder 'ram': its piston was at an end stop for 0.0"));
    yk_context_destroy(context);
}

/* A pump weaker than the load: without backflow the chamber keeps its pressure, with it it is
 * emptied. */
static void fluid_flows_back_only_where_it_may(void **state)
{
    yk_context *context = *state;
    for (int backflow = 0; backflow < 2; backflow++) {
        yk_hydraulic_def def = yk_hydraulic_default();
        yk_hydraulic_cylinder_def cylinder = example_cylinder();
        double k = 0;
        cylinder.spool_command = (yk_time_function){.evaluate = constant, .user = &k};
        cylinder.cylinder.valve.allow_backflow = backflow;
        cylinder.initial_state = YK_HYDRAULIC_INITIAL_PRESSURE;
        cylinder.pressure[0] = 1e5, cylinder.pressure[1] = 2e7;
        yk_subsystem *s = create(context, &def, &cylinder);
        yk_input begin[2] = {linear_signal(0.8, 0)};
        assert_int_equal(s->ops->initialize(s, 0, 1e-3, begin), YK_OK);
        assert_int_equal(move(s, 0, 0.8, 0.8, 0.1, 100), YK_OK);
        assert_near(channel(s, "ram.pressure_2"), backflow ? 7.6e6 : 2e7, backflow ? 1e3 : 1e-3);
        assert_near(channel(s, "ram.backflow_blocked_time"), backflow ? 0 : 0.1, 1e-9);
        s->ops->destroy(s);
    }
}

/* Motion that no oil allows ends with words, not with numbers. */
static void impossible_motion_is_named(void **state)
{
    yk_context *context = *state;
    yk_hydraulic_def def = yk_hydraulic_default();
    yk_hydraulic_cylinder_def cylinder = example_cylinder();
    cylinder.cylinder.valve.kind = YK_VALVE_CLOSED_CENTER;
    cylinder.initial_state = YK_HYDRAULIC_INITIAL_FORCE;
    yk_subsystem *s = create(context, &def, &cylinder);
    yk_input begin[2] = {linear_signal(0.8, 0)};
    assert_int_equal(s->ops->initialize(s, 0, 1e-3, begin), YK_OK);
    yk_status status = move(s, 0, 0.8, 0.99, 0.1, 100);
    assert_int_equal(status, YK_ERROR_DIVERGED);
    assert_non_null(strstr(s->ops->last_message(s), "cylinder 'ram'"));
    s->ops->destroy(s);
}

static void expect_refusal(yk_context *context, const yk_hydraulic_def *def,
                           const yk_hydraulic_cylinder_def *cylinder, const char *words)
{
    yk_subsystem *s;
    yk_hydraulic_builder *builder = yk_hydraulic_begin(context, def);
    if (cylinder)
        yk_hydraulic_add_cylinder(builder, cylinder);
    assert_int_equal(yk_hydraulic_create(builder, &s), YK_ERROR_ARGUMENT);
    assert_null(s);
    if (!strstr(yk_last_message(context), words))
        print_error("message: %s\n", yk_last_message(context));
    assert_non_null(strstr(yk_last_message(context), words));
}

static void bad_definitions_are_refused(void **state)
{
    yk_context *context = *state;
    yk_hydraulic_def def = yk_hydraulic_default();
    yk_hydraulic_cylinder_def cylinder = example_cylinder();
    expect_refusal(context, &def, NULL, "at least one cylinder");
    cylinder.name = "ram";
    cylinder.cylinder.length = 0;
    expect_refusal(context, &def, &cylinder, "cylinder 'ram': areas, length");
    cylinder.cylinder = example_cylinder().cylinder;
    cylinder.cylinder.min_chamber_length = 0.3;
    expect_refusal(context, &def, &cylinder, "must leave the piston space");
    cylinder.cylinder = example_cylinder().cylinder;
    def.fluid.vapor_pressure = 2e5;
    expect_refusal(context, &def, &cylinder, "vapour pressure (200000 Pa)");
    def = yk_hydraulic_default();
    cylinder.cylinder.valve.kind = YK_VALVE_CLOSED_CENTER;
    yk_subsystem *s = create(context, &def, &cylinder);
    assert_int_equal(s->ops->initialize(s, 0, 1e-3, NULL), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(s->ops->last_message(s), "is closed at the start"));
    s->ops->destroy(s);
}

/* A piston at 40 % of 1 m, with stops of 50 mm: free from -0.55 to 0.35 m, and pushed back by what
 * it has gone beyond. */
static void stops_push_back_at_both_ends(void **state)
{
    (void)state;
    yk_cylinder c = {
        .length = 1, .initial_fraction = 0.4, .min_chamber_length = 0.05, .stop_stiffness = 1e6};
    assert_near(yk_cylinder_stop_force(&c, 0, 1), 0, 0);
    assert_near(yk_cylinder_stop_force(&c, 0.34, 1), 0, 0);
    assert_near(yk_cylinder_stop_force(&c, -0.54, 1), 0, 0);
    assert_near(yk_cylinder_stop_force(&c, 0.36, 0), -1e4, 1e-8);
    assert_near(yk_cylinder_stop_force(&c, -0.57, 0), 2e4, 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_push_back_at_both_ends),
        cmocka_unit_test(bulk_modulus_and_enthalpy_follow_the_density),
        cmocka_unit_test(derivatives_are_those_of_the_rates),
        cmocka_unit_test(an_open_valve_holds_a_force),
        cmocka_unit_test(without_a_command_valves_are_neutral),
        cmocka_unit_test(a_cylinder_alone_stands_still),
        cmocka_unit_test(pressures_follow_the_printed_equations),
        cmocka_unit_test(a_cavity_opens_and_closes),
        cmocka_unit_test(the_piston_meets_its_stops),
        cmocka_unit_test(fluid_flows_back_only_where_it_may),
        cmocka_unit_test(impossible_motion_is_named),
        cmocka_unit_test(bad_definitions_are_refused),
    };
    return cmocka_run_group_tests_name("hydraulic", tests, create_context, destroy_context);
}
