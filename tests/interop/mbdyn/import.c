/* Models of MBDyn as scenarios: the same motion as a scenario written by hand, every kind of
 * statement by its numbers, and problems with file and line. */
#include "interop/importing.h"

static yk_context *context;

static char folder[] = "/tmp/yoke-mbdyn-XXXXXX";

static void write_file(const char *name, const char *text, char *path)
{
    snprintf(path, 200, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The scenario of a model, with channels to record; to be freed. NULL where it is refused. */
static char *import_text(const char *model, const char *channels)
{
    char path[200];
    write_file("model.mbd", model, path);
    yk_import_options options = yk_import_options_default();
    return import_file(context, path, &options, channels);
}

static const char pendulum[] =
    "# two links, as in models/\n"
    "begin: initial value;\n"
    "  initial time: 0.; final time: 1.; time step: 5e-4; method: ms, .6;\n"
    "end: initial value;\n"
    "set: const real L = .4; set: real W0 = .5; set: integer LOWER = 2;\n"
    "reference: 10, L, 0., 0., euler, 0., 0., 90.*deg2rad, 0., W0*L, 0., 0., 0., W0;\n"
    "begin: nodes;\n"
    "  structural: 1, dynamic, L/2., 0., 0., eye, 0., W0*L/2., 0., 0., 0., W0;\n"
    "  structural: LOWER, dynamic, reference, 10, 0., -L/2., 0.,\n"
    "    reference, 10, 1, 0., -1., 0., 2, 1., 0., 0., reference, 10, null, reference, 10, null;\n"
    "end: nodes;\n"
    "begin: elements;\n"
    "  body: 1, 1, 1., null, diag, 1., 1., 1.;\n"
    "  body: 2, LOWER, condense, 2, .5, .1, 0., 0., diag, .5, .495, .495,\n"
    "    .5, -.1, 0., 0., matr, .5, 0., 0., 0., .495, 0., 0., 0., .495;\n"
    "  joint: 1, revolute pin, 1, -L/2., 0., 0., 0., 0., 0.;\n"
    "  joint: 2, revolute hinge, 1, position, L/2., 0., 0.,\n"
    "    LOWER, position, reference, other node, L/2, 0., 0.; /* the elbow\n */\n"
    "  gravity: uniform, 0., -1., 0., const, 9.81;\n"
    "  aeromodal: 5, LOWER;\n"
    "  joint: 7, revolute hinge, 1, null, 99, null;\n"
    "  force: 8, external structural, socket, create, yes, port, 9000, coupling, tight, 2, LOWER, "
    "1;\n"
    "end: elements;\n";

/* Labels that are counted through, as by a file that is included again and again. */
static void test_counted_labels(void **state)
{
    (void)state;
    char *text = import_text("begin: nodes;\n"
                             "set: integer I = 1;\n"
                             "structural: I, dynamic, null, eye, null, null;\n"
                             "set: I = 2;\n"
                             "structural: I, dynamic, null, eye, null, null;\n"
                             "end: nodes;\n"
                             "begin: elements;\n"
                             "body: I, I, 1., null, eye;\n"
                             "set: I = 1;\n"
                             "body: I, I, 1., null, eye;\n"
                             "end: elements;\n",
                             "");
    if (!text)
        fail_msg("%s", yk_last_message(context));
    assert_contains(text, "      I: {position");
    assert_contains(text, "      node_2: {position");
    assert_contains(text, "      body_2: {node: node_2");
    assert_contains(text, "      I_body: {node: I");
    free(text);
}

static void test_double_pendulum(void **state)
{
    (void)state;
    char *text = import_text(pendulum, "model.LOWER.position, model.LOWER.angular_velocity");
    if (!text)
        fail_msg("%s", yk_last_message(context));
    assert_contains(text, "#   line 21: element 'aeromodal'");
    assert_contains(text, "#   line 22: joint 7: there is no node 99");
    assert_contains(text, "#   line 23: force of type 'external structural': its nodes are ports");
    assert_contains(text, "    ports:\n      LOWER: {body: LOWER}\n      node_1: {body: node_1}\n");
    run imported = open_text("pendulum.yaml", text, NULL);
    static const char *const recorded[] = {
        "record.channels=[mechanism.lower.position, mechanism.lower.angular_velocity]", NULL};
    run own = open_run("double-pendulum/scenario.yaml", recorded);
    run_to(&imported, 1);
    run_to(&own, 1);
    for (int i = 0; i < 6; i++)
        assert_near(imported.sample[i], own.sample[i], 1e-9);
    close_run(&imported);
    close_run(&own);
    free(text);
}

/* Each statement becomes its line. */
static void test_statements(void **state)
{
    (void)state;
    static const char model[] =
        "begin: nodes;\n"
        "structural: 1, static, null, eye, null, null;\n"
        "structural: 2, dynamic, 1., 0., 0., eye, null, null;\n"
        "structural: 3, dynamic, 2., 0., 0., eye, null, null;\n"
        "end: nodes;\n"
        "begin: elements;\n"
        "body: 2, 2, 2., null, eye; body: 3, 3, 1., null, eye;\n"
        "joint: 1, clamp, 1, node, node;\n"
        "joint: 2, rod, 1, 3, from nodes, linear viscoelastic, 100., proportional, .1;\n"
        "joint: 3, deformable hinge, 1, 2, linear elastic generic, diag, 1., 2., 3.;\n"
        "joint: 9, deformable hinge, 1, 3, linear elastic generic, matr, 4., 0., 0., 0., 5., 0., "
        "0., "
        "0., 6.;\n"
        "joint: 10, deformable hinge, 2, 3, linear elastic generic, sym, 7., 0., 0., 8., 0., 9.;\n"
        "joint: 11, deformable hinge, 2, 3, linear elastic, 11.;\n"
        "joint: 12, deformable hinge, 2, 3, linear viscoelastic isotropic, 12., .5;\n"
        "joint: 13, deformable hinge, 2, 3, linear elastic bistop, 13., yes, 0., 1.;\n"
        "joint: 4, total pin joint, 3, position, null, position constraint, 1, 0, 1, null,\n"
        "  orientation constraint, active, active, inactive, null;\n"
        "joint: 5, distance, 2, 3, const, 1.;\n"
        "force: 6, absolute, 3, position, null, 0., 1., 0., sine, 0., 2.*pi, .5, forever, 0.;\n"
        "couple: 7, follower, 2, 0., 0., 1., string, \"3*sin(2*Time)\";\n"
        "beam3: 8, 1, null, 2, null, 3, null, eye, linear elastic generic, diag, 1e6, 1e5, 1e5, "
        "10., 20.,"
        " 30., same, same;\n"
        "end: elements;\n";
    char *text = import_text(model, "model.node_3.position");
    if (!text)
        fail_msg("%s", yk_last_message(context));
    assert_contains(text, "joint_1: {type: fixed, between: [ground, node_1]");
    assert_contains(text, "rod_2: {type: spring, between: [node_1, node_3]");
    assert_contains(text, "stiffness: 50, damping: 5, free_length: 2}");
    assert_contains(text, "stiffness: [0, 0, 0, 1, 2, 3], damping: [0, 0, 0, 0, 0, 0]}");
    assert_contains(text, "stiffness: [0, 0, 0, 4, 5, 6], damping: [0, 0, 0, 0, 0, 0]}");
    assert_contains(text, "stiffness: [0, 0, 0, 7, 8, 9], damping: [0, 0, 0, 0, 0, 0]}");
    assert_contains(text, "stiffness: [0, 0, 0, 11, 11, 11], damping: [0, 0, 0, 0, 0, 0]}");
    assert_contains(text, "stiffness: [0, 0, 0, 12, 12, 12], damping: [0, 0, 0, 0.5, 0.5, 0.5]}");
    assert_contains(text, "constitutive law 'linear elastic bistop'");
    assert_contains(text, "type: custom, between: [ground, node_3]");
    assert_contains(text, "constrained_axes: [x, z, rx, ry]");
    assert_contains(text, "distance: \"1\"");
    assert_contains(text, "body: node_3, offset: [0, 0, 0], vector: [0, 1, 0], follower: false");
    assert_contains(text, "factor: \"3*sin(2*t)\"");
    assert_contains(text, "beam_8: {nodes: [node_1, node_2, node_3], section_z: [0, 0, 1]");
    assert_contains(text, "section: {type: matrix, mass_per_length: 0, stiffness: [1e+06, 100000, "
                          "100000, 10, 20, 30]");
    run r = open_text("statements.yaml", text, NULL);
    close_run(&r);
    free(text);
}

/* A constant of an included file, and a problem in one. */
static void test_included_files(void **state)
{
    (void)state;
    char path[200];
    write_file("constants.set", "set: real X = 7.;\n", path);
    char *text = import_text("include: \"constants.set\";\nbegin: nodes;\n"
                             "structural: 1, dynamic, X, 0., 0., eye, null, null;\nend: nodes;\n"
                             "begin: elements;\nbody: 1, 1, 1., null, eye;\nend: elements;\n",
                             "model.node_1.position");
    if (!text)
        fail_msg("%s", yk_last_message(context));
    assert_contains(text, "position: [7, 0, 0]");
    free(text);

    write_file("constants.set", "\nset: real X = 7*;\n", path);
    assert_null(import_text("include: \"constants.set\";\n", ""));
    assert_contains(yk_last_message(context), "constants.set:2:");
    assert_null(import_text("include: \"absent.set\";\n", ""));
    assert_contains(yk_last_message(context), "absent.set");
    assert_null(import_text("include: \"model.mbd\";\n", ""));
    assert_contains(yk_last_message(context), "more than");
}

/* A scenario without an element: one node at the position that three expressions give. */
static char *import_position(const char *before, const char *position)
{
    char model[2000];
    snprintf(model, sizeof model,
             "%s\nbegin: nodes;\nstructural: 1, dynamic, %s, eye, null, null;\nend: nodes;\n",
             before, position);
    return import_text(model, "");
}

/* Values of constants after statements of several forms. */
static void test_lists_of_statements(void **state)
{
    (void)state;
    static const struct {
        const char *before, *position, *expected;
    } cases[] = {
        /* The example of MBDyn's input manual. */
        {"set: (\n"
         "  real EA = 1e6; # N, (axial; stiffness\n"
         "  real GA = EA/4.; // N, shear = stiffness)\n"
         "  const real EJ = 1e3; /* Nm^2,\n bending (stiffness; */\n"
         "0);",
         "EA, GA, EJ", "[1e+06, 250000, 1000]"},
        /* The last statement may have a semicolon, too. */
        {"set: (integer A = 1; integer B = A + 1; A = 5;);", "A, B, 0.", "[5, 2, 0]"},
        {"set: (real A = .6);", "A, 0., 0.", "[0.6, 0, 0]"},
        {"set: (real A=(real B = 2.; B*(B + 1.)); bool C = (A >= 6) && (A == 6); C = C);",
         "A, B, C", "[6, 2, 1]"},
        {"set: integer N; set: real y; set: (bool B; y = 3);", "N, y, B", "[0, 3, 0]"},
        {"set: integer W = 10; set: ifndef integer W = 11; set: ifndef const integer V = 12;",
         "W, V, 0.", "[10, 12, 0]"},
        {"set: (string s = \"a;(b=c\"; real A = 2.); set: string u = \"x;y\";", "A, 0., 0.",
         "[2, 0, 0]"},
        {"set: (real A = max(1., min(2., 3.)); real B = (A) + (1.));", "A, B, 0.", "[2, 3, 0]"},
        {"set: real real_a = 4.; set: real constant = 5.;", "real_a, constant, in2m",
         "[4, 5, 0.0254]"},
        /* A list is a number like any other, and is evaluated once. */
        {"set: integer N = 0;", "(N = N + 1), 2*(N = N + 1; N*10.), (N + 1)", "[1, 40, 3]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = import_position(cases[i].before, cases[i].position);
        if (!text)
            fail_msg("%s: %s", cases[i].before, yk_last_message(context));
        assert_contains(text, cases[i].expected);
        free(text);
    }
}

/* Comments may have any encoding. Notes that are cut stay UTF-8. */
static void test_encoding(void **state)
{
    (void)state;
    char model[1200];
    for (int shift = 0; shift < 4; shift++) {
        char keyword[400] = "aaaa";
        keyword[shift] = 0;
        while (strlen(keyword) < 300)
            strcat(keyword, "\xE2\x82\xAC");
        snprintf(model, sizeof model,
                 "# Gr\xF6\xDF"
                 "e (m\n"
                 "begin: nodes; /* L\xE4nge */\n"
                 "structural: 1, dynamic, null, eye, null, null;\nend: nodes;\n"
                 "begin: elements;\nbody: 1, 1, 1., null, eye;\n%s: 1;\nend: elements;\n",
                 keyword);
        char *text = import_text(model, "model.node_1.position");
        if (!text)
            fail_msg("%s", yk_last_message(context));
        assert_contains(text, "\xE2\x82\xAC");
        run r = open_text("encoding.yaml", text, NULL);
        close_run(&r);
        free(text);
    }
}

/* A label that counts: the node and its body have the same number. */
static void test_label_that_counts(void **state)
{
    (void)state;
    char *text = import_text("set: integer N = 6;\n"
                             "begin: nodes;\n"
                             "structural: (N = N + 1), dynamic, null, eye, null, null;\n"
                             "structural: (N = N + 1), dynamic, null, eye, null, null;\n"
                             "end: nodes;\n"
                             "begin: elements;\nbody: N, N, 1., null, eye;\nend: elements;\n"
                             "This text is (not read;\n",
                             "");
    if (!text)
        fail_msg("%s", yk_last_message(context));
    assert_contains(text, "      node_7: {position");
    assert_contains(text, "      node_8: {position");
    assert_contains(text, "node: node_8");
    free(text);
}

/* A mass on a rod without gravity: with the tension F - k eps0 it moves as a harmonic oscillator
 * about the length l0 (1 + eps0 - F/k). */
static void test_prestrain_of_rod(void **state)
{
    (void)state;
    static const struct {
        const char *law;
        double prestrain, prestress;
    } cases[] = {{"prestrain, const, .02", .02, 0},
                 {"prestrain, -.03", -.03, 0},
                 {"prestrain, single, string, \"EPS + 0*Time\"", .04, 0},
                 {"prestress, 2.", 0, 2},
                 {"prestress, -2., prestrain, component, const, .01", .01, -2}};
    const double k = 200, l0 = .5, mass = 2, end = .3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[1000];
        snprintf(model, sizeof model,
                 "begin: initial value; final time: 1.; time step: 1e-4; end: initial value;\n"
                 "set: real EPS = .04;\n"
                 "begin: nodes;\n"
                 "structural: 1, static, null, eye, null, null;\n"
                 "structural: 2, dynamic, .5, 0., 0., eye, null, null;\n"
                 "end: nodes;\n"
                 "begin: elements;\n"
                 "body: 2, 2, %g, null, eye;\n"
                 "joint: 1, clamp, 1, node, node;\n"
                 "joint: 2, rod, 1, 2, from nodes, linear elastic, %g, %s;\n"
                 "end: elements;\n",
                 mass, k, cases[i].law);
        char *text = import_text(model, "model.node_2.position");
        if (!text)
            fail_msg("%s", yk_last_message(context));

        run r = open_text("rod.yaml", text, NULL);
        run_to(&r, end);
        double omega = sqrt(k / l0 / mass);
        double shift = l0 * (cases[i].prestrain - cases[i].prestress / k);
        assert_near(r.sample[0], l0 + shift * (1 - cos(omega * end)), 1e-6);
        close_run(&r);
        free(text);
    }
}

/* A prestrain that grows at a constant rate: x'' = -k/(m l0) (x - l0 - l0 a t). */
static void test_prestrain_of_time(void **state)
{
    (void)state;
    char *text =
        import_text("begin: initial value; final time: 1.; time step: 1e-4; end: initial value;\n"
                    "begin: nodes;\n"
                    "structural: 1, static, null, eye, null, null;\n"
                    "structural: 2, dynamic, .5, 0., 0., eye, null, null;\n"
                    "end: nodes;\n"
                    "begin: elements;\n"
                    "body: 2, 2, 2., null, eye;\n"
                    "joint: 1, clamp, 1, node, node;\n"
                    "joint: 2, rod, 1, 2, .5, linear elastic, 200., prestrain, linear, 0., .1;\n"
                    "end: elements;\n",
                    "model.node_2.position");
    if (!text)
        fail_msg("%s", yk_last_message(context));

    run r = open_text("rod.yaml", text, NULL);
    const double end = .3, omega = sqrt(200), rate = .5 * .1;
    run_to(&r, end);
    assert_near(r.sample[0], .5 + rate * (end - sin(omega * end) / omega), 1e-6);
    close_run(&r);
    free(text);
}

/* Each part of an element that the scenario does not have is a note with its line. */
static void test_notes(void **state)
{
    (void)state;
    char *text = import_text(
        "begin: control data;\nmodel: static;\nend: control data;\n"
        "begin: nodes;\n"
        "structural: 1, static, null, eye, null, null;\n"
        "structural: 2, dynamic, .5, 0., 0., eye, null, null;\n"
        "end: nodes;\n"
        "begin: elements;\n"
        "body: 2, 2, 2., null, eye, output, no;\n"
        "joint: 1, deformable hinge, 1, 2, linear elastic, 1., prestress, 1., 0., 0.;\n"
        "joint: 2, deformable hinge, 1, 2, linear elastic, 1., prestrain, 1., 0., 0., time;\n"
        "joint: 3, deformable hinge, 1, 2, linear elastic, 3., prestress, null, prestrain, null;\n"
        "joint: 4, spherical hinge, 1, .5, 0., 0., 2, null, friction, .1;\n"
        "joint: 5, rod, 1, 2, 0., linear elastic, 1.;\n"
        "set: [node, SPEED, 2, structural, string=\"XP[1]\"];\n"
        "couple: 6, absolute, 2, 1., 0., 0., string, \"(real a = 2.; a*Time)\";\n"
        "end: elements;\n",
        "");
    if (!text)
        fail_msg("%s", yk_last_message(context));
    assert_contains(text, "#   line 2: model 'static'");
    assert_contains(text, "#   line 10: joint 1: a prestress can be imported for rods only");
    assert_contains(text, "#   line 11: joint 2: a prestrain can be imported for rods only");
    assert_contains(text, "stiffness: [0, 0, 0, 3, 3, 3]");
    assert_contains(text, "#   line 13: joint 4: its arguments from 'friction' on");
    assert_contains(text, "#   line 14: joint 5: the length 0 m of a rod is not positive");
    assert_contains(text, "#   line 15: variable [node, SPEED");
    assert_contains(text, "#   line 16: couple 6: the formula");
    assert_null(strstr(text, "line 9:"));
    assert_null(strstr(text, "line 12:"));
    free(text);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *model, *message;
    } cases[] = {
        {"", "there is no structural node"},
        {"begin: nodes;\nstructural: 1, dynamic, 1., 2.;\nend: nodes;",
         ":2: the statement ends too early"},
        {"begin: nodes;\nstructural: 1, dynamic, 1., 2., 3., 1, 0., 0., 0.;\nend: nodes;", ":2:"},
        {"begin: nodes;\n\nstructural: 1, dynamic, reference, 5, null, eye, null, null;\nend: "
         "nodes;",
         ":3: there is no reference 5"},
        {"set: real X = unknown;", "unknown name 'unknown'"},
        {"begin: nodes;\nstructural: 1, dynamic, null, 1/0., 1., 0., 0., null, null;\nend: nodes;",
         ":2: '1/0.' is not a number: the value is not finite"},
        {"begin: nodes;\nstructural: 1, dynamic, null, 1.5, 1., 0., 0., null, null;\nend: nodes;",
         ":2: an axis is a whole number, 1 to 3, not 1.5"},
        {"begin: nodes;\nstructural: 1, dynamic, null, 1, 1., 0., 0., 1e99, 0., 1., 0., null, "
         "null;\nend: nodes;",
         ":2: an axis is a whole number, 1 to 3, not 1e+99"},
        {"begin: data;\nproblem: inverse dynamics;\nend: data;\n",
         ":2: the problem 'inverse dynamics' cannot be imported"},
        {"begin: data;\nproblem: initial value;\nend: data;\nbegin: inverse dynamics;\n",
         ":4: the problem 'inverse dynamics' cannot be imported"},
        {"set: (\nreal A = 1.;\n\n/* a\n comment */ real B = A*C; 0);",
         ":5: 'A*C' is not a number"},
        {"\nset: (real A = 1.;\nreal B = 2.;\n",
         ":2: the statement does not end: a ')' is missing"},
        {"# gr\xFC\xDF\n\nset: real L\xE4nge = 1.;", ":3: a character that is not UTF-8"},
        {"begin: elements;\ngr\xFC\xDF: 1;\nend: elements;", ":2: a character that is not UTF-8"},
        {"\nset: string A = \"a;\n", ":2: the statement does not end: a closing quote is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(import_text(cases[i].model, ""));
        assert_contains(yk_last_message(context), cases[i].message);
    }
}

int main(void)
{
    context = yk_context_create(NULL);
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted_labels),
        cmocka_unit_test(test_double_pendulum),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_included_files),
        cmocka_unit_test(test_lists_of_statements),
        cmocka_unit_test(test_label_that_counts),
        cmocka_unit_test(test_prestrain_of_rod),
        cmocka_unit_test(test_prestrain_of_time),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_encoding),
        cmocka_unit_test(test_refusals),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const files[] = {"model.mbd", "constants.set"};
    for (int i = 0; i < 2; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    yk_context_destroy(context);
    return failed;
}
