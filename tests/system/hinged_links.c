/* Interfaces with `at`, `axis` and joints by name: models/hinged-links against the exact motion in
 * every scheme, the same pendulum split at each joint that does not change its motion, and the
 * messages of `yoke check` about an inconsistent initial state. */
#include <math.h>
#include <string.h>

#include "scenario_run.h"

static const double UPPER = -3.0913851689322, LOWER = -1.3626714755306;

static void check_links(const char *scheme, const char *joint, const char *solver, double tolerance)
{
    char set[3][96];
    snprintf(set[0], sizeof set[0], "coupling.scheme=%s", scheme);
    snprintf(set[1], sizeof set[1], "interfaces.knee.joint=%s", joint);
    snprintf(set[2], sizeof set[2], "subsystems.lower.solver=%s", solver);
    const char *const overrides[] = {set[0], set[1], set[2], NULL};
    run r = open_run("hinged-links/scenario.yaml", overrides);
    run_to(&r, 1);
    double error = fmax(fabs(r.sample[0] - UPPER), fabs(r.sample[1] - LOWER));
    if (!(error < tolerance))
        print_error("%s, %s, %s: %g rad/s\n", scheme, joint, solver, error);
    assert_true(error < tolerance);
    close_run(&r);
}

static void all_schemes_join_at_the_hinge(void **state)
{
    (void)state;
    static const char *const schemes[] = {"explicit", "loose",      "tight",
                                          "rim",      "monolithic", "relaxed"};
    for (int i = 0; i < 6; i++)
        check_links(schemes[i], "revolute", "multibody", 3e-6);
    check_links("index1", "revolute", "multibody", 3e-7);
    check_links("tight", "revolute", "nonsmooth", 2e-2);
    check_links("index1", "revolute", "nonsmooth", 2e-2);
}

/* The motion is plane: joints that leave more free across the plane lead to the same one. */
static void other_joints_leave_the_plane_motion(void **state)
{
    (void)state;
    static const char *const joints[] = {"revolute", "spherical", "cylindrical", "in-line",
                                         "{constrained_axes: [x, y, rx]}"};
    static const char *const schemes[] = {"tight", "monolithic", "relaxed", "index1"};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 4; k++)
            check_links(schemes[k], joints[i], "multibody", 3e-6);
}

/* A universal joint with x and y in the plane holds the links in line: one pendulum of 0.8 m. So
 * does a clamp. */
static void joints_by_name_agree_with_their_axes(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"universal", "{constrained_axes: [x, y, z, rz]}"},
        {"fixed", "{constrained_axes: [x, y, z, rx, ry, rz]}"},
        {"prismatic", "{constrained_axes: [x, y, rx, ry, rz]}"},
        {"planar", "{constrained_axes: [z, rx, ry]}"},
        {"in-plane", "{constrained_axes: [z]}"},
        {"parallel-axes", "{constrained_axes: [rx, ry]}"},
        {"fixed-orientation", "{constrained_axes: [rx, ry, rz]}"}};
    for (int i = 0; i < 7; i++) {
        double sample[2][8];
        for (int k = 0; k < 2; k++) {
            char set[96];
            snprintf(set, sizeof set, "interfaces.knee.joint=%s", pairs[i][k]);
            const char *const overrides[] = {"coupling.scheme=monolithic", set, NULL};
            run r = open_run("hinged-links/scenario.yaml", overrides);
            run_to(&r, 0.2);
            memcpy(sample[k], r.sample, sizeof sample[k]);
            close_run(&r);
        }
        assert_memory_equal(sample[0], sample[1], 6 * sizeof(double));
    }
}

static void warn(void *user, yk_log_level level, const char *message)
{
    (void)level;
    strncat(user, message, 2000 - strlen(user));
}

/* Messages at the start of a scenario: warnings, or the reason why it is refused. */
static void start_of(const char *const *overrides, char text[2001])
{
    yk_context_def with_log = yk_context_default();
    text[0] = 0;
    with_log.log = warn, with_log.log_user = text, with_log.log_level = YK_LOG_INFO;
    yk_context *context = yk_context_create(&with_log);
    yk_scenario *scenario = load_scenario(context, model_file("hinged-links"), NULL, overrides);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    if (YK_FAILED(yk_system_initialize(system)))
        strncat(text, yk_last_message(context), 2000 - strlen(text));
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
}

static void a_bad_start_is_reported(void **state)
{
    (void)state;
    static const char *const schemes[] = {"coupling.scheme=tight", "coupling.scheme=index1",
                                          "coupling.scheme=monolithic"};
    const char *place = "subsystems.lower.ports.link={body: link, offset: [0, 0, -300]}";
    const char *fixed = "interfaces.knee={between: [upper.link, lower.link], joint: revolute}";
    const char *rotated =
        "subsystems.lower.ports.link={body: link, orientation: {x: [1, 0, 0], y: [0, 0, 1]}}";
    char text[2001];
    for (int i = 0; i < 3; i++) {
        const char *const good[] = {schemes[i], NULL};
        start_of(good, text);
        assert_string_equal(text, "");
        /* The lower body's own axes are those of the whole, its x is z of the whole: z of its
         * port points to y. */
        const char *const speed[] = {schemes[i],
                                     "subsystems.lower.bodies.link.velocity=[0, 0, 350]", NULL};
        start_of(speed, text);
        assert_non_null(strstr(text, "velocities that differ by 0.05 m/s"));
        const char *const wrong[] = {schemes[i], fixed, rotated, NULL};
        start_of(wrong, text);
        assert_non_null(strstr(text, i < 2 ? "rad apart; give the interface an axis"
                                           : "1.57 rad apart; the assembly"));
        const char *const apart[] = {schemes[i], fixed, place, NULL};
        start_of(apart, text);
        assert_non_null(strstr(text, "apart"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_schemes_join_at_the_hinge),
        cmocka_unit_test(other_joints_leave_the_plane_motion),
        cmocka_unit_test(joints_by_name_agree_with_their_axes),
        cmocka_unit_test(a_bad_start_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
