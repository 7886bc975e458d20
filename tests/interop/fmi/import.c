/* FMUs as subsystems: results against analytic solutions, rollback, sensitivities, faults. */
#include <math.h>

#include "fmus.h"
#include "interop/fmi/fmu.h"
#include "the_context.h"

static const yk_fmu_port_def mass_port = {.name = "mass",
                                          .kind = YK_PORT_SCALAR,
                                          .quantities = {[YK_FMU_POSITION] = {1, {"x"}},
                                                         [YK_FMU_VELOCITY] = {1, {"v"}},
                                                         [YK_FMU_ACCELERATION] = {1, {"a"}},
                                                         [YK_FMU_FORCE] = {1, {"f"}}}};

static yk_subsystem *create(const char *file, const yk_fmu_port_def *port,
                            const yk_fmu_setting *settings, int setting_count)
{
    yk_fmu_def def = yk_fmu_default();
    def.file = file;
    def.ports = port;
    def.port_count = port ? 1 : 0;
    def.settings = settings;
    def.setting_count = setting_count;
    yk_subsystem *subsystem;
    if (yk_fmu_create(context, &def, &subsystem) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    return subsystem;
}

static void check(yk_subsystem *s, yk_status status)
{
    if (status != YK_OK)
        fail_msg("%s", s->ops->last_message(s));
}

static const double two = 2, stiffness = 50, offset = 0.1;
static const yk_fmu_setting on_spring[] = {
    {"m", &two, 1, NULL}, {"k", &stiffness, 1, NULL}, {"x", &offset, 1, NULL}};

/* m x'' + k x = f0 + f1 t: exact where lines are followed, of second order where the FMU is given
 * values at four middles of the step. */
static void run_mass(const fmu_recipe *recipe, const yk_fmu_port_def *port, double tolerance)
{
    char *file = make_fmu(context, recipe);
    yk_subsystem *s = create(file, port, on_spring, 3);
    const yk_port *ports;
    assert_true(s->ops->ports(s, &ports) >= 1);
    assert_int_equal(ports[0].kind, YK_PORT_SCALAR);
    assert_int_equal(ports[0].allowed_causalities, YK_CAUSALITY_WRENCH_INPUT);
    check(s, s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X));
    check(s, s->ops->initialize(s, 0, 0.01, NULL));

    const double f0 = 3, f1 = 40;
    yk_input inputs[16] = {{.degree = 1}};
    double w = sqrt(stiffness / two);
    for (int i = 0; i < 200; i++) {
        double t = 0.01 * i;
        inputs[0].linear[0].x = f0 + f1 * t;
        inputs[0].linear[1].x = f1;
        check(s, s->ops->step(s, t, 0.01, inputs));
        yk_port_value value = {0};
        s->ops->get_port_value(s, 0, &value);
        double end = 0.01 * (i + 1);
        double e = offset - f0 / stiffness;
        double x =
            (f0 + f1 * end) / stiffness + e * cos(w * end) - f1 / stiffness / w * sin(w * end);
        assert_near(value.motion.position.x, x, tolerance);
        assert_near(value.motion.acceleration.x, (f0 + f1 * end - stiffness * x) / two,
                    stiffness * tolerance);
        assert_near(value.wrench.force.x, f0 + f1 * end, 1e-12);
    }
    s->ops->destroy(s);
    free(file);
}

static void mass_of_fmi_2_follows_lines_exactly(void **state)
{
    (void)state;
    run_mass(&(fmu_recipe){.name = "mass2", MASS2}, &mass_port, 1e-12);
}

static void mass_of_fmi_3_is_asked_within_steps_and_returns_early(void **state)
{
    (void)state;
    run_mass(&(fmu_recipe){.name = "mass3", MASS3}, &mass_port, 2e-6);
}

/* The same equations, integrated here: the force inside each step is that of its own line. The
 * method of order 4 turns by w t (w h)^4 / 120 too little, 5e-7 of the amplitude of 0.16 m. */
static void mass_of_model_exchange_follows_lines(void **state)
{
    (void)state;
    static const fmu_recipe recipe = {
        .name = "exchange2", MASS2, .find = "CoSimulation", .replace = "ModelExchange"};
    run_mass(&recipe, &mass_port, 2e-7);
}

static void terminals_become_ports(void **state)
{
    (void)state;
    run_mass(&(fmu_recipe){.name = "terminal", MASS3}, NULL, 2e-6);
    run_mass(&(fmu_recipe){.name = "terminal", MASS3},
             &(yk_fmu_port_def){.name = "end", .terminal = "flange"}, 2e-6);
}

/* Accelerations by differences where the FMU names none. */
static void missing_rates_are_found(void **state)
{
    (void)state;
    char *file = make_fmu(
        context,
        &(fmu_recipe){.name = "no-rate", MASS2, .find = " derivative=\"2\"", .replace = ""});
    /* Without that attribute the description of the states is wrong, and said to be so. */
    yk_fmu_def def = yk_fmu_default();
    def.file = file;
    yk_subsystem *s;
    assert_int_equal(yk_fmu_create(context, &def, &s), YK_ERROR_INPUT);
    free(file);

    file = make_fmu(context, &(fmu_recipe){.name = "rates", MASS2});
    yk_fmu_port_def port = mass_port;
    port.quantities[YK_FMU_VELOCITY].count = 0;
    port.quantities[YK_FMU_ACCELERATION].count = 0;
    s = create(file, &port, on_spring, 3);
    check(s, s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X));
    check(s, s->ops->initialize(s, 0, 1e-3, NULL));
    yk_input inputs[1] = {{0}};
    double w = sqrt(stiffness / two);
    for (int i = 0; i < 100; i++)
        check(s, s->ops->step(s, 1e-3 * i, 1e-3, inputs));
    yk_port_value value = {0};
    s->ops->get_port_value(s, 0, &value);
    assert_near(value.motion.velocity.x, -offset * w * sin(w * 0.1), 1e-12); /* der(x) */
    assert_near(value.motion.acceleration.x, -offset * w * w * cos(w * 0.1), 2e-2);
    s->ops->destroy(s);
    free(file);
}

static void rollback_repeats_to_the_bit(void **state)
{
    (void)state;
    const fmu_recipe recipes[] = {{.name = "roll2", MASS2}, {.name = "roll3", MASS3}};
    for (int r = 0; r < 2; r++) {
        char *file = make_fmu(context, &recipes[r]);
        yk_subsystem *s = create(file, &mass_port, on_spring, 3);
        assert_non_null(s->ops->rollback);
        check(s, s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X));
        check(s, s->ops->initialize(s, 0, 0.01, NULL));
        yk_input inputs[1] = {{.degree = 0, .linear = {{5, 0, 0}}}};
        check(s, s->ops->step(s, 0, 0.01, inputs));
        size_t words = s->ops->rollback->layout(s).word_count;
        double *image = calloc(words, sizeof *image);
        s->ops->rollback->get(s, image);
        yk_port_value first = {0}, second = {0};
        check(s, s->ops->step(s, 0.01, 0.01, inputs));
        s->ops->get_port_value(s, 0, &first);
        check(s, s->ops->rollback->set(s, image));
        check(s, s->ops->step(s, 0.01, 0.01, inputs));
        s->ops->get_port_value(s, 0, &second);
        assert_memory_equal(&first, &second, sizeof first);
        free(image);
        s->ops->destroy(s);
        free(file);
    }
}

/* States that cannot be serialised are kept by the FMU, and only the last 64. */
static void a_state_that_was_given_up_is_refused(void **state)
{
    (void)state;
    char *file = make_fmu(context, &(fmu_recipe){.name = "kept", MASS3});
    yk_subsystem *s = create(file, &mass_port, NULL, 0);
    check(s, s->ops->initialize(s, 0, 0.01, NULL));
    size_t words = s->ops->rollback->layout(s).word_count;
    double *image = calloc(words, sizeof *image), *other = calloc(words, sizeof *other);
    s->ops->rollback->get(s, image);
    for (int i = 0; i < 63; i++)
        s->ops->rollback->get(s, other);
    assert_int_equal(s->ops->rollback->set(s, image), YK_OK);
    s->ops->rollback->get(s, other);
    assert_int_equal(s->ops->rollback->set(s, image), YK_ERROR_CAPABILITY);
    free(image);
    free(other);
    s->ops->destroy(s);
    free(file);
}

/* x and v at the end of a step of a free mass under f: h^2 / 2m and h / m. */
static void sensitivities_come_from_directional_derivatives(void **state)
{
    (void)state;
    const fmu_recipe recipes[] = {{.name = "sens2", MASS2}, {.name = "sens3", MASS3}};
    for (int r = 0; r < 2; r++) {
        char *file = make_fmu(context, &recipes[r]);
        yk_subsystem *s = create(file, &mass_port, on_spring, 1);
        assert_non_null(s->ops->sensitivity);
        check(s, s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X));
        check(s, s->ops->initialize(s, 0, 0.1, NULL));
        yk_input inputs[1] = {{0}};
        double matrix[3 * 2], h = 0.1;
        check(s, s->ops->sensitivity->step_with_sensitivity(s, 0, h, inputs, 1, matrix));
        const double expected[6] = {
            h * h / 2 / two, h * h * h / 6 / two, h / two, h * h / 2 / two, 1 / two, h / two};
        for (int i = 0; i < 6; i++)
            assert_near(matrix[i], expected[i], 1e-14);
        s->ops->destroy(s);
        free(file);
    }
}

/* Flight times follow from the height; the first bounce is at sqrt(2 h / g). */
static void balls_bounce_at_the_right_times(void **state)
{
    (void)state;
    const fmu_recipe recipes[] = {{.name = "ball2", BALL2}, {.name = "ball3", BALL3}};
    for (int r = 0; r < 2; r++) {
        char *file = make_fmu(context, &recipes[r]);
        yk_subsystem *s = create(file, NULL, NULL, 0);
        const yk_port *ports;
        assert_int_equal(s->ops->ports(s, &ports), 3);
        assert_string_equal(ports[0].name, "h");
        check(s, s->ops->initialize(s, 0, 0.02, NULL));
        const double g = 9.81, e = 0.7;
        double bounce = sqrt(2 / g), speed = g * bounce * e;
        yk_input inputs[3] = {{0}};
        int bounces = 1;
        double next = bounce + 2 * speed / g, last = bounce;
        for (int i = 0; i < 70; i++) {
            check(s, s->ops->step(s, 0.02 * i, 0.02, inputs));
            double t = 0.02 * (i + 1);
            while (t > next) {
                last = next;
                speed *= e;
                next += 2 * speed / g;
                bounces++;
            }
            if (t < bounce)
                continue;
            yk_port_value value = {0};
            s->ops->get_port_value(s, 0, &value);
            double since = t - last;
            assert_near(value.motion.position.x, speed * since - g / 2 * since * since, 1e-11);
            s->ops->get_port_value(s, 2, &value);
            assert_int_equal((int)value.motion.position.x, bounces);
        }
        assert_true(bounces >= 2);
        s->ops->destroy(s);
        free(file);
    }
}

/* The FMU's own clock after 1e5 steps of 1/60 s is the exact count. */
static void time_does_not_drift(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    const fmu_recipe recipes[] = {{.name = "time2", MASS2}, {.name = "time3", MASS3}};
    for (int r = 0; r < 2; r++) {
        char *file = make_fmu(context, &recipes[r]);
        yk_subsystem *s = create(file, &mass_port, NULL, 0);
        const yk_channel *channels;
        int count = s->ops->channels->list(s, &channels), clock = -1;
        for (int i = 0; i < count; i++)
            if (strcmp(channels[i].name, "clock") == 0)
                clock = i;
        assert_true(clock >= 0);
        check(s, s->ops->initialize(s, 0, 1 / 60.0, NULL));
        yk_input inputs[1] = {{0}};
        for (int i = 0; i < COUNT; i++)
            check(s, s->ops->step(s, i / 60.0, 1 / 60.0, inputs));
        double time;
        s->ops->channels->read(s, clock, &time);
        assert_near(time, COUNT / 60.0, 1e-12 * COUNT / 60.0);
        s->ops->destroy(s);
        free(file);
    }
}

/* Ticks at 0.05 s, 0.15 s, ... lie within steps, at 0.1 s on their ends; early and late in a long run. */
static void periodic_clocks_tick(void **state)
{
    (void)state;
    static const struct {
        const char *shift;
        double start, first;
    } rows[] = {{"0.05", 0, 0.05}, {"0.05", 1e5, 0.05}, {"0.1", 0, 0.1}, {"0", 1e5, 0}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char shift[60];
        snprintf(shift, sizeof shift, "shiftDecimal=\"%s\"", rows[r].shift);
        fmu_recipe recipe = {.name = "sampler", SAMPLER3, .find = "shiftDecimal=\"0.05\""};
        recipe.replace = shift;
        char *file = make_fmu(context, &recipe);
        yk_subsystem *s = create(file, NULL, NULL, 0);
        const yk_port *ports;
        assert_int_equal(s->ops->ports(s, &ports), 4);
        check(s, s->ops->connect(s, 0, YK_CAUSALITY_SIGNAL_INPUT, YK_AXIS_X));
        yk_input inputs[4] = {{0}};
        inputs[0].linear[0].x = -1;
        check(s, s->ops->initialize(s, rows[r].start, 0.02, inputs));

        /* The sample is the input of the step in which the clock ticked, or at whose end. */
        double next = rows[r].first;
        int ticks = 0;
        double held = 0;
        if (next == 0) {
            held = -1;
            ticks = 1;
            next = 0.1;
        }
        for (int i = 0; i < 100; i++) {
            inputs[0].linear[0].x = i;
            check(s, s->ops->step(s, rows[r].start + 0.02 * i, 0.02, inputs));
            if (next <= 0.02 * (i + 1) + 1e-6) {
                held = i;
                ticks++;
                next = rows[r].first + 0.1 * ticks;
            }
            double values[4];
            for (int k = 1; k < 4; k++) {
                yk_port_value value = {0};
                s->ops->get_port_value(s, k, &value);
                values[k] = value.motion.position.x;
            }
            assert_near(values[1], held, 0);
            assert_near(values[2], ticks, 0);
            if (ticks > 0)
                assert_near(values[3], rows[r].start + rows[r].first + 0.1 * (ticks - 1), 1e-10);
        }
        assert_true(ticks >= 19);
        s->ops->destroy(s);
        free(file);
    }
}

static void faults_of_a_step_are_named(void **state)
{
    (void)state;
    static const struct {
        double fault;
        const char *text;
    } rows[] = {
        {1, ".fmu: the FMU discarded the step from t = 0.04 s by 0.02 s"},
        {2, ".fmu: fmi2DoStep returned an error; it logged: the model has failed as it was asked "
            "to"},
        {5, ".fmu: the FMU ended the simulation at t = 0.04 s"},
        {6, ".fmu: an output is no longer finite"},
    };
    char *file = make_fmu(context, &(fmu_recipe){.name = "faults", MASS2});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yk_fmu_setting setting = {"fault", &rows[i].fault, 1, NULL};
        yk_subsystem *s = create(file, &mass_port, &setting, 1);
        check(s, s->ops->initialize(s, 0, 0.02, NULL));
        yk_input inputs[1] = {{0}};
        check(s, s->ops->step(s, 0, 0.02, inputs));
        check(s, s->ops->step(s, 0.02, 0.02, inputs));
        assert_true(s->ops->step(s, 0.04, 0.02, inputs) < 0);
        const char *message = s->ops->last_message(s);
        assert_non_null(strstr(message, ".fmu"));
        assert_string_equal(strstr(message, ".fmu"), rows[i].text);
        s->ops->destroy(s);
    }
    free(file);
}

/* The same bits, and faults that would end the run. */
static void a_child_process_gives_the_same_results(void **state)
{
    (void)state;
    char *file = make_fmu(context, &(fmu_recipe){.name = "child", MASS2});
    yk_port_value values[2];
    memset(values, 0, sizeof values);
    for (int child = 0; child < 2; child++) {
        yk_fmu_def def = yk_fmu_default();
        def.file = file;
        def.ports = &mass_port;
        def.port_count = 1;
        def.settings = on_spring;
        def.setting_count = 3;
        def.child = child;
        yk_subsystem *s;
        assert_int_equal(yk_fmu_create(context, &def, &s), YK_OK);
        assert_non_null(s->ops->rollback);
        assert_non_null(s->ops->sensitivity);
        check(s, s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X));
        check(s, s->ops->initialize(s, 0, 0.01, NULL));
        yk_input inputs[1] = {{.degree = 1, .linear = {{5, 0, 0}, {3, 0, 0}}}};
        for (int i = 0; i < 100; i++)
            check(s, s->ops->step(s, 0.01 * i, 0.01, inputs));
        s->ops->get_port_value(s, 0, &values[child]);
        s->ops->destroy(s);
    }
    assert_memory_equal(&values[0], &values[1], sizeof values[0]);
    free(file);
}

static void a_crash_or_a_hang_in_a_child_is_an_error(void **state)
{
    (void)state;
    static const struct {
        double fault;
        const char *text;
    } rows[] = {{3, ".fmu)' in a process of its own has ended"},
                {4, ".fmu)' in a process of its own did not answer within 0.5 s"}};
    char *file = make_fmu(context, &(fmu_recipe){.name = "faulty", MASS2});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yk_fmu_setting setting = {"fault", &rows[i].fault, 1, NULL};
        yk_fmu_def def = yk_fmu_default();
        def.file = file;
        def.ports = &mass_port;
        def.port_count = 1;
        def.settings = &setting;
        def.setting_count = 1;
        def.child = true;
        def.deadline = 0.5;
        yk_subsystem *s;
        assert_int_equal(yk_fmu_create(context, &def, &s), YK_OK);
        check(s, s->ops->initialize(s, 0, 0.02, NULL));
        yk_input inputs[1] = {{0}};
        check(s, s->ops->step(s, 0, 0.02, inputs));
        check(s, s->ops->step(s, 0.02, 0.02, inputs));
        assert_true(s->ops->step(s, 0.04, 0.02, inputs) < 0);
        const char *message = s->ops->last_message(s);
        assert_non_null(strstr(message, "the partner 'fmu ("));
        assert_string_equal(strstr(message, ".fmu"), rows[i].text);
        s->ops->destroy(s);
    }
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_of_fmi_2_follows_lines_exactly),
        cmocka_unit_test(mass_of_fmi_3_is_asked_within_steps_and_returns_early),
        cmocka_unit_test(mass_of_model_exchange_follows_lines),
        cmocka_unit_test(terminals_become_ports),
        cmocka_unit_test(missing_rates_are_found),
        cmocka_unit_test(rollback_repeats_to_the_bit),
        cmocka_unit_test(a_state_that_was_given_up_is_refused),
        cmocka_unit_test(sensitivities_come_from_directional_derivatives),
        cmocka_unit_test(balls_bounce_at_the_right_times),
        cmocka_unit_test(time_does_not_drift),
        cmocka_unit_test(periodic_clocks_tick),
        cmocka_unit_test(faults_of_a_step_are_named),
        cmocka_unit_test(a_child_process_gives_the_same_results),
        cmocka_unit_test(a_crash_or_a_hang_in_a_child_is_an_error),
    };
    int failed = cmocka_run_group_tests_name("import", tests, open_context, close_context);
    remove_test_folder();
    return failed;
}
