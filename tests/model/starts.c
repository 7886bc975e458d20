/* Invalid initial states: poses and velocities that violate joints, bodies that overlap, impossible
 * inertia tensors, interfaces whose sides start apart. Each is reported; valid initial states raise
 * no message. */
#include "loading.h"

static char heard[4096];
static int warnings;

static void hear(void *user, yk_log_level level, const char *message)
{
    (void)user;
    if (level != YK_LOG_WARNING)
        return;

    warnings++;
    size_t used = strlen(heard);
    snprintf(heard + used, sizeof heard - used, "%s\n", message);
}

/* Loads a scenario with an override, starts it and makes a step. */
static void start(const char *text, const char *override)
{
    heard[0] = '\0';
    warnings = 0;
    yk_context_def context = yk_context_default();
    context.log = hear;
    yk_scenario_def def = yk_scenario_default();
    def.path = "file.yaml";
    def.text = text;
    def.overrides = &override;
    def.override_count = override != NULL;
    loading l = load_in(yk_context_create(&context), &def);
    if (l.status != YK_OK)
        print_error("%s", l.text);
    assert_int_equal(l.status, YK_OK);

    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    assert_true(!YK_FAILED(yk_system_step(system, NULL)));
    unload(&l);
}

/* A link on a hinge at the origin, which moves as such. */
static const char smooth[] =
    "parameters: {spin: 0.5, slip: 0}\n"
    "time: {end: 1, step: 1e-3}\n"
    "subsystems:\n"
    "  m:\n"
    "    solver: multibody\n"
    "    bodies: {link: {mass: 1, inertia: [1, 1, 1], position: [0.2, 0, 0],\n"
    "                    velocity: [slip, 0.2*spin, 0], angular_velocity: [0, 0, spin]}}\n"
    "    joints: {hinge: {type: revolute, between: [ground, link], at: [0, 0, 0]}}\n";

static const char nonsmooth[] =
    "parameters: {spin: 0.5, slip: 0}\n"
    "time: {end: 1, step: 1e-3}\n"
    "subsystems:\n"
    "  m:\n"
    "    solver: nonsmooth\n"
    "    bodies: {link: {mass: 1, inertia: [1, 1, 1], position: [0.2, 0, 0],\n"
    "                    velocity: [slip, 0.2*spin, 0], angular_velocity: [0, 0, spin]}}\n"
    "    joints: {hinge: {type: revolute, between: [ground, link], at: [0, 0, 0]}}\n";

static void velocities_that_joints_forbid_are_named(void **state)
{
    (void)state;
    start(smooth, NULL);
    assert_int_equal(warnings, 0);
    start(smooth, "parameters.slip=3");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(heard, "the joints forbid the velocity that 'link' is given, 3"));

    start(nonsmooth, NULL);
    assert_int_equal(warnings, 0);
    start(nonsmooth, "parameters.slip=3");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(heard, "joint 'hinge' forbids the velocities"));

    /* A rough guess is none. */
    start(smooth, "parameters.slip=0.05");
    assert_int_equal(warnings, 0);
}

/* Numbers in warnings are in SI units, for any units of the subsystem. */
static void warnings_are_in_si_units(void **state)
{
    (void)state;
    static const char text[] =
        "parameters: {slip: 0, away: 200}\n"
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  m:\n"
        "    solver: %s\n"
        "    units: {length: mm, mass: kg}\n"
        "    bodies: {link: {mass: 1, inertia: [1e6, 1e6, 1e6], position: [away, 0, 0],\n"
        "                    velocity: [slip, 0, 0]}}\n"
        "    joints: {hinge: {type: revolute, between: [ground, link],\n"
        "                     markers: [{offset: [200, 0, 0]}, {}]}}\n";
    static const struct {
        const char *solver, *override, *words;
    } cases[] = {
        {"multibody", "parameters.slip=3000", "is given, 3 m/s and 0 rad/s"},
        {"multibody", "parameters.away=700", "move 'link' by 0.5 m and 0 rad"},
        {"nonsmooth", "parameters.slip=3000", "by 3 m/s, which"},
        {"nonsmooth", "parameters.away=700", "open by 0.5 m, which"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[sizeof text + 16];
        snprintf(file, sizeof file, text, cases[i].solver);
        start(file, cases[i].override);
        assert_int_equal(warnings, 1);
        if (!strstr(heard, cases[i].words))
            fail_msg("%s, %s: %s", cases[i].solver, cases[i].override, heard);
    }

    /* Two spheres of 100 mm, of which one is in the other. */
    start("time: {end: 1, step: 1e-3}\n"
          "subsystems:\n"
          "  m:\n"
          "    solver: nonsmooth\n"
          "    units: {length: mm, mass: kg}\n"
          "    bodies:\n"
          "      a: {shapes: [{type: sphere, radius: 100, density: 1e-6}]}\n"
          "      b: {shapes: [{type: sphere, radius: 100, density: 1e-6}]}\n",
          NULL);
    assert_non_null(strstr(heard, "a and b overlap by 0.2 m at the start"));
}

static void poses_that_joints_do_not_allow_are_named(void **state)
{
    (void)state;

    static const char text[] =
        "parameters: {away: 0.2}\n"
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  m:\n"
        "    solver: %s\n"
        "    bodies: {link: {mass: 1, inertia: [1, 1, 1], position: [away, 0, 0]}}\n"
        "    joints: {hinge: {type: revolute, between: [ground, link],\n"
        "                     markers: [{offset: [0.2, 0, 0]}, {}]}}\n";

    /* No message if the start satisfies the joint; joints of the multibody solver assemble rough guesses. */
    char file[sizeof text + 16];
    snprintf(file, sizeof file, text, "multibody");
    start(file, NULL);
    assert_int_equal(warnings, 0);
    start(file, "parameters.away=0.21");
    assert_int_equal(warnings, 0);
    start(file, "parameters.away=0.7");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(heard, "the joints move 'link' by 0.5 m and 0 rad at the start"));

    snprintf(file, sizeof file, text, "nonsmooth");
    start(file, NULL);
    assert_int_equal(warnings, 0);
    start(file, "parameters.away=0.7");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(heard, "joint 'hinge' starts open by 0.5 m,"));
}

static void bodies_inside_of_each_other_are_named(void **state)
{
    (void)state;
    const char *text = "time: {end: 1, step: 1e-3}\n"
                       "subsystems:\n"
                       "  m:\n"
                       "    solver: nonsmooth\n"
                       "    bodies:\n"
                       "      a: {shapes: [{type: sphere, radius: 0.1, density: 1000}]}\n"
                       "      b: {position: [0, 0, 0.3],\n"
                       "          shapes: [{type: sphere, radius: 0.1, density: 1000}]}\n";
    start(text, NULL);
    assert_int_equal(warnings, 0);
    start(text, "subsystems.m.bodies.b.position=[0, 0, 0]");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(heard, "a and b overlap by 0.2 m at the start"));
}

static void tensors_that_no_body_has_are_refused(void **state)
{
    (void)state;
    const char *texts[] = {smooth, nonsmooth};
    const char *override = "subsystems.m.bodies.link.inertia=[1, 1, 100]";
    for (int i = 0; i < 2; i++) {
        loading l = load_with(texts[i], &override, 1);
        assert_int_equal(l.status, YK_ERROR_INPUT);
        assert_non_null(strstr(l.text, "exceeds the sum of the other two"));
        unload(&l);
    }
}

static void sides_that_start_apart_are_named(void **state)
{
    (void)state;
    const char *text = "time: {end: 1, step: 1e-3}\n"
                       "subsystems:\n"
                       "  a: {solver: oscillator, mass: 1}\n"
                       "  b: {solver: oscillator, mass: 1}\n"
                       "interfaces: {joint: {between: [a.mass, b.mass]}}\n"
                       "coupling: {scheme: explicit, modified_inputs: index-1}\n";
    start(text, NULL);
    assert_int_equal(warnings, 0);
    start(text, "subsystems.b.position=0.1");
    assert_true(warnings > 0);
    assert_non_null(strstr(heard, "its two sides start 0.1 m and 0 rad apart"));
    start(text, "subsystems.b.velocity=1000");
    assert_non_null(strstr(heard, "velocities that differ by 1e+03 m/s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_that_joints_forbid_are_named),
        cmocka_unit_test(poses_that_joints_do_not_allow_are_named),
        cmocka_unit_test(warnings_are_in_si_units),
        cmocka_unit_test(bodies_inside_of_each_other_are_named),
        cmocka_unit_test(tensors_that_no_body_has_are_refused),
        cmocka_unit_test(sides_that_start_apart_are_named),
    };
    return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
