/* Relative motions that interfaces prescribe, and how many of them a subsystem can perform. */
#include "context.h"
#include "test.h"
#include "yoke/analysis.h"

/* A link that is hinged to the ground as well has one freedom, and a clamp prescribes six. */
static void prescribed_motions_are_counted(void **state)
{
    static const char *const solvers[] = {"subsystems.lower.solver=multibody",
                                          "subsystems.lower.solver=nonsmooth"};
    static const char *const post = "subsystems.lower.joints={post: {type: revolute, between: "
                                    "[ground, link], at: [0, -200, 0], axis: [1, 0, 0]}}";
    static const struct {
        const char *joint;
        bool post;
        int prescribed, independent;
    } cases[] = {{"fixed", false, 6, 6},   {"revolute", false, 5, 5},
                 {"fixed", true, 6, 1},    {"revolute", true, 5, 1},
                 {"in-plane", true, 1, 0}, {"{constrained_axes: [y]}", true, 1, 1}};
    for (int k = 0; k < 12; k++) {
        char set[96];
        yk_scenario_def def = yk_scenario_default();
        snprintf(set, sizeof set, "interfaces.knee.joint=%s", cases[k / 2].joint);
        const char *const overrides[] = {solvers[k % 2], set, post};
        def.path = YOKE_SOURCE_DIR "/models/hinged-links/scenario.yaml";
        def.overrides = overrides;
        def.override_count = cases[k / 2].post ? 3 : 2;
        yk_prescribed_dofs freedoms;
        assert_int_equal(yk_scenario_prescribed_dofs(*state, &def, (yk_subsystem_id){1}, &freedoms),
                         YK_OK);
        if (freedoms.independent_count != cases[k / 2].independent)
            print_error("%s\n", set);
        assert_int_equal(freedoms.prescribed_count, cases[k / 2].prescribed);
        assert_int_equal(freedoms.independent_count, cases[k / 2].independent);
    }
}

/* The length between the ground and a body is one motion, which a slide along it leaves free and a
 * slide across it does not. */
static void lengths_are_counted(void **state)
{
    static const char *const text =
        "parameters: {along: 1}\n"
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  mass: {solver: oscillator, mass: 1}\n"
        "  slide:\n"
        "    solver: multibody\n"
        "    bodies: {block: {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0]}}\n"
        "    joints: {way: {type: prismatic, between: [ground, block], at: [2, 0, 0],\n"
        "                   axis: [along, 1 - along, 0]}}\n"
        "    ports: {rod: {type: distance, between: [ground, block]}}\n"
        "interfaces: {pin: {between: [mass.mass, slide.rod], joint: fixed}}\n"
        "coupling: {scheme: explicit}\n";
    for (int along = 0; along < 2; along++) {
        const char *const overrides[] = {along ? "parameters.along=1" : "parameters.along=0"};
        yk_scenario_def def = yk_scenario_default();
        def.path = "file.yaml";
        def.text = text;
        def.overrides = overrides;
        def.override_count = 1;
        yk_prescribed_dofs freedoms;
        assert_int_equal(yk_scenario_prescribed_dofs(*state, &def, (yk_subsystem_id){1}, &freedoms),
                         YK_OK);
        assert_int_equal(freedoms.prescribed_count, 1);
        assert_int_equal(freedoms.independent_count, along);
    }
}

/* Systems that cannot be analysed are reported, and no motions are counted. */
static void what_has_no_interface_model_is_refused(void **state)
{
    yk_scenario_def def = yk_scenario_default();
    yk_prescribed_dofs freedoms = {7, 7};
    def.path = YOKE_SOURCE_DIR "/models/controlled-arm/scenario.yaml";
    assert_int_equal(yk_scenario_prescribed_dofs(*state, &def, (yk_subsystem_id){2}, &freedoms),
                     YK_ERROR_CAPABILITY);
    assert_int_equal(freedoms.prescribed_count, 0);
    assert_int_equal(freedoms.independent_count, 0);

    def.path = YOKE_SOURCE_DIR "/models/controlled-arm/no-such-scenario.yaml";
    assert_true(
        YK_FAILED(yk_scenario_prescribed_dofs(*state, &def, (yk_subsystem_id){0}, &freedoms)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prescribed_motions_are_counted),
        cmocka_unit_test(lengths_are_counted),
        cmocka_unit_test(what_has_no_interface_model_is_refused),
    };
    return cmocka_run_group_tests_name("freedoms", tests, create_context, destroy_context);
}
