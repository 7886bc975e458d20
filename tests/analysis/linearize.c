/* Linear models of coupled systems against closed forms: two masses across an interface, a control
 * loop over wires, a pendulum, a rotor with gyroscopic effect. */
#include <complex.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

static const double PI = 3.14159265358979323846;

static yk_linear_model *linearize(yk_context *context, const char *text,
                                  const yk_linearize_options *options)
{
    yk_scenario_def def = describe_scenario("linearize.yaml", text, NULL);
    yk_linear_model *model = NULL;
    if (yk_linearize(context, &def, NULL, options, &model) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    assert_true(model->is_complete);
    return model;
}

/* Masses m1 = 2 + 1 and m2 = 3 with k1 = 800, c1 = 4 to the ground and k2 = 500, c2 = 2 between. The
 * first mass consists of two parts, in different subsystems. */
static const char TWO_MASSES[] =
    "time: {end: 1, step: 1e-3}\n"
    "parameters: {push: 0}\n"
    "subsystems:\n"
    "  a:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    bodies: {mass: {mass: 2}}\n"
    "    joints: {guide: {type: prismatic, between: [ground, mass], at: [0, 0, 0], axis: [1, 0, "
    "0]}}\n"
    "    forces: {spring: {type: joint-spring, joint: guide, stiffness: 800, damping: 4}}\n"
    "    ports: {end: {body: mass}}\n"
    "  b:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    bodies: {link: {mass: 1}, mass: {mass: 3, position: [0.5, 0, 0]}}\n"
    "    joints:\n"
    "      guide: {type: prismatic, between: [ground, link], at: [0, 0, 0], axis: [1, 0, 0]}\n"
    "      slide: {type: prismatic, between: [link, mass], at: [0, 0, 0], axis: [1, 0, 0]}\n"
    "    forces:\n"
    "      spring: {type: joint-spring, joint: slide, stiffness: 500, damping: 2}\n"
    "      push: {type: force, body: mass, vector: [1, 0, 0], factor: push}\n"
    "    ports: {end: {body: link}}\n"
    "interfaces: [{name: joint, between: [a.end, b.end], joint: {constrained_axes: [x]}}]\n"
    "coupling: {scheme: tight}\n"
    "record: {channels: [a.mass.position]}\n";

/* Displacement of the first mass by a force on the second. */
static double complex two_mass_response(double frequency)
{
    double complex s = 2 * PI * frequency * I;
    double complex z12 = 2 * s + 500;
    double complex z1 = 3 * s * s + 4 * s + 800 + z12;
    double complex z2 = 3 * s * s + z12;
    return z12 / (z1 * z2 - z12 * z12);
}

static void two_masses_across_an_interface_have_their_modes(void **state)
{
    yk_linearize_options options = yk_linearize_options_default();
    yk_linear_model *model = linearize(*state, TWO_MASSES, &options);
    assert_int_equal(model->state_count, 4);
    assert_int_equal(model->mode_count, 2);

    /* Roots of the characteristic polynomial, by numpy.linalg.eigvals. */
    const double real[2] = {-0.19814558733169474, -1.135187746001638};
    const double frequency[2] = {1.480444379228199, 3.6017427666492243};
    for (int i = 0; i < 2; i++) {
        const yk_linear_mode *mode = &model->modes[i];
        assert_near(mode->real, real[i], 2e-5);
        assert_near(mode->frequency, frequency[i], 1e-5);
        assert_false(mode->is_free || mode->is_uncertain);
    }
    yk_linear_model_destroy(model);
}

static void wrenches_and_parameters_are_inputs(void **state)
{
    const char *const inputs[] = {"b.mass.force.x", "parameters.push"};
    const char *const outputs[] = {"a.mass.position.x", "b.mass.acceleration.x"};
    yk_linearize_options options = yk_linearize_options_default();
    options.inputs = inputs;
    options.input_count = 2;
    options.outputs = outputs;
    options.output_count = 2;
    yk_linear_model *model = linearize(*state, TWO_MASSES, &options);
    assert_int_equal(model->input_count, 2);
    assert_int_equal(model->output_count, 2);
    assert_string_equal(model->inputs[0].unit, "N");
    assert_string_equal(model->outputs[0].unit, "m");

    /* The acceleration follows the force at once: D = 1/m. */
    assert_near(model->d[0], 0, 1e-9);
    assert_near(model->d[2], 1.0 / 3, 1e-5);
    assert_near(model->d[3], 1.0 / 3, 1e-5);

    const double frequencies[] = {0.1, 1, 1.48, 2.5, 3.6, 10};
    for (int i = 0; i < 6; i++) {
        double complex expected = two_mass_response(frequencies[i]);
        double real[4], imaginary[4];
        assert_int_equal(yk_linear_model_response(model, frequencies[i], real, imaginary), YK_OK);
        for (int k = 0; k < 2; k++)
            assert_true(cabs(real[k] + I * imaginary[k] - expected) < 2e-4 * cabs(expected));
    }
    yk_linear_model_destroy(model);
}

/* m s^2 x = -(P + I/s + D s/(T s + 1)) x: the integral and the filter have no channel. */
static void a_control_loop_over_wires_has_its_poles(void **state)
{
    static const char TEXT[] =
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  logic:\n"
        "    solver: blocks\n"
        "    inputs: [x]\n"
        "    blocks:\n"
        "      force: {type: pid, input: 0 - x, proportional: 400, integral: 300, derivative: 30,\n"
        "              derivative_filter: 10 ms}\n"
        "  axis:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies: {table: {mass: 5}}\n"
        "    joints: {guide: {type: prismatic, between: [ground, table], at: [0, 0, 0], axis: [1, "
        "0, 0]}}\n"
        "    forces: {drive: {type: motor, joint: guide, signal_port: drive}}\n"
        "    ports: {table: {body: table}}\n"
        "wires:\n"
        "  x: {from: axis.table.position.x, to: logic.x}\n"
        "  force: {from: logic.force, to: axis.drive}\n"
        "coupling: {scheme: tight}\n"
        "record: {channels: [axis.table.position]}\n";
    yk_linearize_options options = yk_linearize_options_default();
    yk_linear_model *model = linearize(*state, TEXT, &options);

    /* numpy.roots([m T, m, P T + D, P + I T, I]) */
    assert_int_equal(model->state_count, 4);
    assert_int_equal(model->mode_count, 3);
    assert_near(model->modes[0].real, -0.79112597, 1e-6);
    assert_near(model->modes[1].real, -2.77910534, 1e-5);
    assert_near(2 * PI * model->modes[1].frequency, 8.55919036, 1e-5);
    assert_near(model->modes[2].real, -93.65066335, 1e-3);
    yk_linear_model_destroy(model);
}

static const char PENDULUM[] =
    "time: {end: 9, step: 1e-3}\n"
    "parameters: {x: 0, damping: 0}\n"
    "subsystems:\n"
    "  p:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies: {bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [x, -sqrt(1 - x*x), 0]}}\n"
    "    joints: {pin: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
    "    forces: {friction: {type: joint-spring, joint: pin, stiffness: 0, damping: damping}}\n"
    "record: {channels: [p.bob.position]}\n";

/* J s^2 + d s + m g l = 0 with J = 0.1 + 2: about the equilibrium, found from elsewhere. */
static void a_pendulum_is_linearized_about_its_equilibrium(void **state)
{
    yk_linearize_options options = yk_linearize_options_default();
    yk_linear_model *model = linearize(*state, PENDULUM, &options);
    assert_int_equal(model->mode_count, 1);
    assert_near(model->modes[0].frequency, sqrt(2 * 9.81 / 2.1) / (2 * PI), 1e-6);
    yk_linear_model_destroy(model);

    const char *const overrides[] = {"parameters.x=0.3", "parameters.damping=20", NULL};
    yk_scenario_def def = describe_scenario("pendulum.yaml", PENDULUM, overrides);
    options.find_equilibrium = true;
    assert_int_equal(yk_linearize(*state, &def, NULL, &options, &model), YK_OK);
    assert_int_equal(model->mode_count, 2);
    assert_near(model->modes[0].real, -1.11048315, 2e-4);
    assert_near(model->modes[1].real, -8.41332638, 2e-4);
    yk_linear_model_destroy(model);
}

/* A disk that spins in a housing on elastic supports: It s^2 -+ i Ip w s + k = 0. */
static void a_rotor_has_its_whirl_frequencies(void **state)
{
    static const char TEXT[] =
        "time: {end: 1, step: 5e-4}\n"
        "subsystems:\n"
        "  rotor:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies:\n"
        "      housing: {mass: 1, inertia: [0.01, 0.01, 0.01]}\n"
        "      disk: {mass: 9, inertia: [0.05, 0.05, 0.09], angular_velocity: [0, 0, 200]}\n"
        "    joints: {bearing: {type: revolute, between: [housing, disk], at: [0, 0, 0], axis: [0, "
        "0, 1]}}\n"
        "    forces:\n"
        "      shaft: {type: bushing, between: [ground, housing],\n"
        "              stiffness: [2e5, 2e5, 3e5, 800, 800, 5e3]}\n"
        "record: {channels: [rotor.disk.position]}\n";
    yk_linearize_options options = yk_linearize_options_default();
    yk_linear_model *model = linearize(*state, TEXT, &options);

    double spin = 0.09 * 200;
    double root = sqrt(spin * spin + 4 * 0.06 * 800);
    const double expected[] = {(root - spin) / 0.12, (root + spin) / 0.12, sqrt(2e5 / 10)};
    for (int k = 0; k < 3; k++) {
        double least = INFINITY;
        for (int i = 0; i < model->mode_count; i++)
            least = fmin(least, fabs(model->modes[i].imaginary - expected[k]));
        assert_true(least < 2e-4 * expected[k]);
    }
    yk_linear_model_destroy(model);
}

static void bad_requests_are_explained(void **state)
{
    const char *input = "b.mass.force.w";
    yk_scenario_def def = describe_scenario("linearize.yaml", TWO_MASSES, NULL);
    yk_linearize_options options = yk_linearize_options_default();
    yk_linear_model *model;
    options.inputs = &input;
    options.input_count = 1;
    assert_int_equal(yk_linearize(*state, &def, NULL, &options, &model), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "unknown input 'b.mass.force.w'"));
    input = "parameters.none";
    assert_int_equal(yk_linearize(*state, &def, NULL, &options, &model), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "no parameter 'none'"));

    const char *output = "a.mass.colour";
    options = yk_linearize_options_default();
    options.outputs = &output;
    options.output_count = 1;
    assert_int_equal(yk_linearize(*state, &def, NULL, &options, &model), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "no channel 'a.mass.colour'"));
    assert_null(model);

    options = yk_linearize_options_default();
    options.max_halvings = 1;
    assert_int_equal(yk_linearize(*state, &def, NULL, &options, &model), YK_ERROR_ARGUMENT);
}

/* A finite element model has more stiff modes than random deviations resolve: no model is better than
 * a wrong one. */
static void a_model_that_does_not_converge_is_refused(void **state)
{
    yk_scenario_def def = describe_scenario(model_file("cantilever"), NULL, NULL);
    yk_linearize_options options = yk_linearize_options_default();
    yk_linear_model *model;
    assert_int_equal(yk_linearize(*state, &def, NULL, &options, &model), YK_ERROR_NO_SOLUTION);
    assert_null(model);
    assert_non_null(strstr(yk_last_message(*state), "yoke modes"));
}

/* The bytes of a MAT file of version 5: header, and the matrix A by columns. */
static void files_have_the_matrices(void **state)
{
    yk_linearize_options options = yk_linearize_options_default();
    yk_linear_model *model = linearize(*state, PENDULUM, &options);
    char path[] = "linearize_test.mat";
    assert_int_equal(yk_linear_model_write(model, path), YK_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char bytes[128 + 8 + 16 + 16 + 16 + 8 + 32];
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
    unlink(path);
    assert_memory_equal(bytes, "MATLAB 5.0 MAT-file", 19);
    assert_memory_equal(bytes + 126, "IM", 2);
    assert_int_equal(bytes[128], 14);
    assert_int_equal(bytes[128 + 4], 16 + 16 + 16 + 8 + 32);
    assert_int_equal(bytes[128 + 8 + 16 + 16 + 8], 'A');
    double a[4];
    memcpy(a, bytes + sizeof bytes - sizeof a, sizeof a);
    assert_true(a[0] == model->a[0] && a[1] == model->a[2] && a[2] == model->a[1] &&
                a[3] == model->a[3]);

    char table[] = "linearize_test.csv";
    assert_int_equal(yk_linear_model_write(model, table), YK_OK);
    file = fopen(table, "r");
    char line[400];
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    unlink(table);
    assert_memory_equal(line, "row,p.", 6);
    assert_int_equal(yk_linear_model_write(model, "model.txt"), YK_ERROR_ARGUMENT);
    yk_linear_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_masses_across_an_interface_have_their_modes),
        cmocka_unit_test(wrenches_and_parameters_are_inputs),
        cmocka_unit_test(a_control_loop_over_wires_has_its_poles),
        cmocka_unit_test(a_pendulum_is_linearized_about_its_equilibrium),
        cmocka_unit_test(a_rotor_has_its_whirl_frequencies),
        cmocka_unit_test(bad_requests_are_explained),
        cmocka_unit_test(a_model_that_does_not_converge_is_refused),
        cmocka_unit_test(files_have_the_matrices),
    };
    return cmocka_run_group_tests_name("linearize", tests, create_context, destroy_context);
}
