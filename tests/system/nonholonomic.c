/* Knife edges and rolling discs at interfaces, against closed forms, in all schemes that apply wrenches to both sides or merge
 * the subsystems: a skate on an inclined plane, a sleigh, a disc that rolls down a plane, and one that rolls in a circle.
 * A disc on a platform that moves is compared with the merged system. */
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"
#include "scenario_run.h"

enum { TEXT_MAX = 4096, VALUES_MAX = 12 };

static const double GRAVITY = 9.81;

/* A scenario with the ground as a subsystem of its own, and the expected values of its channels at the end. */
typedef struct example {
    const char *name;
    char text[TEXT_MAX];
    double end;
    double expected[VALUES_MAX];
    int count;
} example;

static const char ground[] =
    "  ground:\n    solver: multibody\n    integrator: runge-kutta\n    gravity: [slope, 0, drop]\n"
    "    bodies: {floor: {mass: 1, inertia: [1, 1, 1]}}\n"
    "    joints: {hold: {type: fixed, between: [ground, floor]}}\n"
    "    ports: {surface: {body: floor, offset: [0.3, -0.2, 0]}}\n";

/* The blade below the centre of mass, on a plane with the slope a = g sin(angle): from rest, with the angular velocity w, the
 * skate moves on a cycloid across the slope. */
static void make_skate(example *e)
{
    const double a = 3, w = 2;
    e->name = "skate";
    e->end = 1;
    snprintf(
        e->text, TEXT_MAX,
        "parameters: {slope: %g, drop: 0}\ntime: {end: 1, step: 1e-2}\nsubsystems:\n%s"
        "  skate:\n    solver: multibody\n    integrator: runge-kutta\n    gravity: [slope, 0, 0]\n"
        "    bodies: {body: {mass: 2, inertia: [0.1, 0.2, 0.3], angular_velocity: [0, 0, %g]}}\n"
        "    ports: {blade: {body: body}}\n"
        "interfaces:\n  edge: {between: [skate.blade, ground.surface], joint: knife-edge}\n"
        "record: {channels: [skate.body.position, skate.body.velocity]}\n",
        a, ground, w);
    double t = e->end;
    double u = a / w * sin(w * t);
    e->count = 6;
    e->expected[0] = a / (2 * w * w) * pow(sin(w * t), 2);
    e->expected[1] = a / (2 * w * w) * (w * t - 0.5 * sin(2 * w * t));
    e->expected[2] = 0;
    e->expected[3] = u * cos(w * t);
    e->expected[4] = u * sin(w * t);
    e->expected[5] = 0;
}

/* Chaplygin's sleigh: the centre of mass is the distance a ahead of the blade. The speed of the blade is c tanh(b t), the
 * angular velocity w / cosh(b t). */
static void make_sleigh(example *e)
{
    const double a = 0.4, mass = 2, inertia = 0.3, w = 5;
    e->name = "sleigh";
    e->end = 1;
    snprintf(
        e->text, TEXT_MAX,
        "parameters: {slope: 0, drop: 0}\ntime: {end: 1, step: 1e-2}\nsubsystems:\n%s"
        "  sleigh:\n    solver: multibody\n    integrator: runge-kutta\n    gravity: [0, 0, 0]\n"
        "    bodies: {body: {mass: %g, inertia: [0.1, 0.2, %g], velocity: [0, %g, 0], "
        "angular_velocity: [0, 0, %g]}}\n"
        "    ports: {blade: {body: body, offset: [-%g, 0, 0]}}\n"
        "interfaces:\n  edge: {between: [sleigh.blade, ground.surface], joint: knife-edge}\n"
        "record: {channels: [sleigh.blade.velocity, sleigh.body.angular_velocity]}\n",
        ground, mass, inertia, a * w, w, a);
    double k = (inertia + mass * a * a) / mass;
    double c = w * sqrt(k);
    double b = a * c / k;
    double u = c * tanh(b * e->end);
    /* The integral of w / cosh(b t). */
    double heading = w / b * 2 * atan(tanh(b * e->end / 2));
    e->count = 6;
    e->expected[0] = u * cos(heading);
    e->expected[1] = u * sin(heading);
    e->expected[2] = 0;
    e->expected[3] = 0;
    e->expected[4] = 0;
    e->expected[5] = w / cosh(b * e->end);
}

/* An upright disc rolls straight down a plane. */
static void make_incline(example *e)
{
    const double mass = 2, radius = 0.3, inertia = 0.07, slope = 2;
    e->name = "incline";
    e->end = 1;
    snprintf(e->text, TEXT_MAX,
             "parameters: {slope: %g, drop: -9}\ntime: {end: 1, step: 1e-2}\nsubsystems:\n%s"
             "  wheel:\n    solver: multibody\n    integrator: runge-kutta\n"
             "    gravity: [slope, 0, drop]\n"
             "    bodies: {disc: {mass: %g, inertia: [0.05, %g, 0.05], position: [0, 0, %g]}}\n"
             "    ports: {centre: {body: disc, orientation: [0.70710678118654757, "
             "-0.70710678118654757, 0, 0]}}\n"
             "interfaces:\n  contact: {between: [wheel.centre, ground.surface], joint: rolling, "
             "radius: %g}\n"
             "record: {channels: [wheel.disc.position, wheel.disc.velocity, "
             "wheel.disc.angular_velocity]}\n",
             slope, ground, mass, inertia, radius, radius);
    double a = slope / (1 + inertia / (mass * radius * radius));
    double t = e->end;
    const double expected[9] = {0.5 * a * t * t, 0, radius, a * t, 0, 0, 0, a * t / radius, 0};
    e->count = 9;
    memcpy(e->expected, expected, sizeof expected);
}

/* A disc that leans rolls in a circle: with the axle at the angle theta to the vertical, c and s its cosine and sine, the
 * precession W and the angular velocity w about the axle,
 * (J + m r^2) W w - I W^2 c + m g r c / s = 0, and the centre moves with the speed r w on a circle with the angular velocity
 * W. */
static void make_circle(example *e)
{
    const double mass = 2, radius = 0.3, axial = 0.09, across = 0.045, precession = 3;
    const double c = 0.5, s = sqrt(0.75);
    double w = across * precession * precession * c - mass * GRAVITY * radius * c / s;
    w /= precession * (axial + mass * radius * radius);
    double spin = w - precession * c;
    double speed = -radius * w;
    double path = speed / precession;
    e->name = "circle";
    e->end = 1;
    snprintf(e->text, TEXT_MAX,
             "parameters: {slope: 0, drop: -%.17g}\ntime: {end: 1, step: 1e-2}\nsubsystems:\n%s"
             "  wheel:\n    solver: multibody\n    integrator: runge-kutta\n"
             "    gravity: [slope, 0, drop]\n"
             "    bodies:\n      disc: {mass: %g, inertia: [%g, %g, %g], position: [%.17g, 0, "
             "%.17g], orientation: [%.17g, 0, 0.5, 0],\n"
             "        velocity: [0, %.17g, 0], angular_velocity: [%.17g, 0, %.17g]}\n"
             "    ports: {centre: {body: disc}}\n"
             "interfaces:\n  contact: {between: [wheel.centre, ground.surface], joint: rolling, "
             "radius: %g}\n"
             "record: {channels: [wheel.disc.position, wheel.disc.velocity]}\n",
             GRAVITY, ground, mass, across, across, axial, path, radius * s, s, speed, spin * s,
             precession + spin * c, radius);
    double angle = precession * e->end;
    const double expected[6] = {path * cos(angle),   path * sin(angle),  radius * s,
                                -speed * sin(angle), speed * cos(angle), 0};
    e->count = 6;
    memcpy(e->expected, expected, sizeof expected);
}

typedef void (*make_example)(example *e);
static const make_example examples[] = {make_skate, make_sleigh, make_incline, make_circle};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* Largest error at the end with the given overrides, up to a NULL. *gap receives the largest gap and slip. */
static double error_of(const example *e, const char *const *overrides, double *gap)
{
    run r = open_text(e->name, e->text, overrides);
    run_to(&r, e->end);
    double error = 0;
    for (int i = 0; i < e->count; i++)
        error = fmax(error, fabs(r.sample[i] - e->expected[i]));
    *gap = yk_system_interface_statistics(r.system, (yk_interface_id){0}).max_gap.position;
    close_run(&r);
    return error;
}

/* index1 with a solver that follows its wrenches: the order is that of the holonomic joints. */
static void index1_is_of_high_order(void **state)
{
    (void)state;
    static const double bounds[EXAMPLES] = {1e-9, 1e-7, 1e-9, 1e-7};
    for (int i = 0; i < EXAMPLES; i++) {
        example e;
        examples[i](&e);
        double gap, coarse_gap;
        static const char scheme[] = "coupling={scheme: index1, absolute_tolerance: 1e-9}";
        const char *const coarse[] = {scheme, "time.step=1e-1", NULL};
        const char *const fine[] = {scheme, "time.step=5e-2", NULL};
        double first = error_of(&e, coarse, &coarse_gap);
        double second = error_of(&e, fine, &gap);
        assert_true(second < bounds[i]);
        assert_near(gap, 0, 1e-9);
        if (first > 1e-9)
            assert_true(first > 24 * second);
    }
}

/* All other schemes, at the order of their solvers. */
static void every_scheme_rolls(void **state)
{
    (void)state;
    static const char *const schemes[] = {"explicit", "loose", "rim", "monolithic"};
    for (int i = 0; i < EXAMPLES; i++) {
        for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
            example e;
            examples[i](&e);
            char scheme[64];
            snprintf(scheme, sizeof scheme, "coupling={scheme: %s}", schemes[k]);
            double gap[2];
            const char *const coarse[] = {scheme, "time.step=4e-3", NULL};
            const char *const fine[] = {scheme, "time.step=2e-3", NULL};
            double first = error_of(&e, coarse, &gap[0]);
            double second = error_of(&e, fine, &gap[1]);
            assert_true(second < 2e-4);
            assert_true(gap[1] < 1e-6);
            if (first > 1e-9)
                assert_true(first > 3 * second);
        }
    }
}

/* Both sides move: a leaning disc rolls on a platform that slides, turns and is lighter than the disc. */
static void write_platform(char *text, const char *wheel_solver)
{
    const double s = sqrt(0.75), radius = 0.3;
    const yk_vec3 spin = {-3.5, 0.4, 2}, table = {0.3, 0, 0};
    yk_vec3 contact = {radius * 0.5, 0, -radius * s};
    yk_vec3 velocity = yk_v3_sub(table, yk_v3_cross(spin, contact));
    snprintf(text, TEXT_MAX,
             "time: {end: 0.5, step: 1e-3}\nsubsystems:\n"
             "  base:\n    solver: multibody\n    gravity: [0, 0, -9.81]\n"
             "    bodies: {table: {mass: 0.5, inertia: [0.1, 0.1, 0.1], velocity: [%g, 0, 0]}}\n"
             "    joints: {floor: {type: planar, between: [ground, table], at: [0, 0, 0]}}\n"
             "    forces: {pull: {type: spring, between: [ground, table], markers: [{offset: [-1, "
             "0, 0]}, {offset: [0, "
             "0, 0]}], stiffness: 20, free_length: 0.9}}\n"
             "    ports: {top: {body: table, offset: [0, 0.1, 0]}}\n"
             "  wheel:\n    solver: %s\n    gravity: [0, 0, -9.81]\n"
             "    bodies:\n      disc: {mass: 2, inertia: [0.05, 0.05, 0.09], position: [0.2, 0, "
             "%.17g], orientation: [%.17g, 0, 0.5, 0],\n"
             "        velocity: [%.17g, %.17g, %.17g], angular_velocity: [%g, %g, %g]}\n"
             "    ports: {centre: {body: disc}}\n"
             "interfaces:\n  contact: {between: [wheel.centre, base.top], joint: rolling, radius: "
             "%g}\n"
             "record: {channels: [wheel.disc.position, wheel.disc.angular_velocity, "
             "base.table.position, base.table.angular_velocity]}\n",
             table.x, wheel_solver, radius * s, s, velocity.x, velocity.y, velocity.z, spin.x,
             spin.y, spin.z, radius);
}

/* Largest difference from the merged system at the end. */
static double difference(const char *text, const run *merged, const char *scheme,
                         const char *step_size)
{
    char set[96];
    snprintf(set, sizeof set, "coupling={scheme: %s}", scheme);
    const char *const overrides[] = {set, step_size, NULL};
    run r = open_text("platform", text, overrides);
    run_to(&r, 0.5);
    double largest = 0;
    for (int i = 0; i < r.info->values_per_sample; i++)
        largest = fmax(largest, fabs(r.sample[i] - merged->sample[i]));
    close_run(&r);
    return largest;
}

static void both_sides_may_move(void **state)
{
    (void)state;
    static char text[TEXT_MAX];
    write_platform(text, "multibody");
    const char *const exact[] = {"coupling={scheme: monolithic}", "time.step=1e-4", NULL};
    run merged = open_text("platform", text, exact);
    run_to(&merged, 0.5);

    /* Schemes with multibody parts, of second order: near the error of the solver itself. */
    static const char *const schemes[] = {"monolithic", "explicit", "rim", "index1", "relaxed"};
    double reference = 0;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        double coarse = difference(text, &merged, schemes[i], "time.step=2e-3");
        double fine = difference(text, &merged, schemes[i], "time.step=1e-3");
        if (i == 0)
            reference = fine;
        assert_true(fine < 3 * reference);
        assert_true(coarse > 3 * fine);
    }

    /* With the contact solver on one side, of first order. */
    static const char *const mixed[] = {"index1", "explicit, exchange: force-force"};
    write_platform(text, "nonsmooth");
    for (int i = 0; i < 2; i++) {
        double coarse = difference(text, &merged, mixed[i], "time.step=2e-3");
        double fine = difference(text, &merged, mixed[i], "time.step=1e-3");
        assert_true(fine < 0.08);
        assert_true(coarse > 1.7 * fine && coarse < 2.3 * fine);
    }

    close_run(&merged);
}

/* Replays from a saved state give the same slip: the accumulated slip is part of the state. */
static void slip_is_part_of_the_state(void **state)
{
    (void)state;
    static const char *const schemes[] = {"coupling={scheme: explicit}",
                                          "coupling={scheme: index1}"};
    for (int i = 0; i < 2; i++) {
        example e;
        make_circle(&e);
        const char *const overrides[] = {schemes[i], NULL};
        run r = open_text(e.name, e.text, overrides);
        run_to(&r, 0.5);
        size_t words = yk_system_state_layout(r.system).word_count;
        double *image = malloc(words * sizeof *image);
        assert_non_null(image);
        assert_int_equal(yk_system_get_state(r.system, image), YK_OK);
        uint64_t hash[2];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(yk_system_set_state(r.system, image), YK_OK);
            for (int n = 0; n < 10; n++)
                step(&r);
            assert_int_equal(yk_system_state_hash(r.system, &hash[k]), YK_OK);
        }
        assert_true(hash[0] == hash[1]);
        free(image);
        close_run(&r);
    }
}

/* Schemes that prescribe a motion to the second side refuse these joints, and name others. */
static void motion_sides_are_refused(void **state)
{
    (void)state;
    static const char *const schemes[] = {"coupling={scheme: tight}",
                                          "coupling={scheme: explicit, exchange: force-motion}"};
    for (int i = 0; i < 2; i++) {
        example e;
        make_skate(&e);
        yk_context *context = yk_context_create(NULL);
        const char *const overrides[] = {schemes[i], NULL};
        yk_scenario *scenario = load_scenario(context, e.name, e.text, overrides);
        yk_system *system;
        assert_int_equal(yk_scenario_system(scenario, &system), YK_ERROR_CAPABILITY);
        assert_non_null(strstr(yk_last_message(context), "knife edge"));
        assert_non_null(strstr(yk_last_message(context), "index1"));
        yk_scenario_destroy(scenario);
        yk_context_destroy(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index1_is_of_high_order),  cmocka_unit_test(every_scheme_rolls),
        cmocka_unit_test(both_sides_may_move),      cmocka_unit_test(slip_is_part_of_the_state),
        cmocka_unit_test(motion_sides_are_refused),
    };
    return cmocka_run_group_tests_name("nonholonomic", tests, NULL, NULL);
}
