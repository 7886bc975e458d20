/* Joints at interfaces, by every name of the scenario and with either subsystem as first side, in
 * general poses: all schemes keep them, report that they do, and agree with the merged system. */
#include <string.h>

#include "math/so3.h"
#include "scenario_run.h"

static const char *const joints[] = {
    "fixed",  "spherical", "revolute", "universal",     "cylindrical",      "prismatic",
    "planar", "in-line",   "in-plane", "parallel-axes", "fixed-orientation"};
enum { JOINTS = sizeof joints / sizeof *joints };

/* Rotation vectors of the markers in their bodies, and where the first side's marker is in the
 * frame of the second's: free coordinates of the joint are far from zero. */
static yk_motion place_in_second(const char *joint)
{
    yk_motion m = {.orientation = yk_q_identity()};
    yk_quat about_x = yk_so3_exp(yk_v3(0.7, 0, 0)), about_y = yk_so3_exp(yk_v3(0, -0.9, 0)),
            about_z = yk_so3_exp(yk_v3(0, 0, 1.1));
    yk_quat any = yk_q_mul(about_x, yk_q_mul(about_y, about_z));
    if (!strcmp(joint, "spherical")) {
        m.orientation = any;
    } else if (!strcmp(joint, "revolute")) {
        m.orientation = about_z;
    } else if (!strcmp(joint, "universal")) {
        m.orientation = yk_q_mul(about_x, about_y);
    } else if (!strcmp(joint, "cylindrical")) {
        m.orientation = about_z, m.position.z = 0.3;
    } else if (!strcmp(joint, "prismatic")) {
        m.position.z = 0.3;
    } else if (!strcmp(joint, "planar")) {
        m.orientation = about_z, m.position = yk_v3(0.2, -0.1, 0);
    } else if (!strcmp(joint, "in-line")) {
        m.orientation = any, m.position.z = 0.3;
    } else if (!strcmp(joint, "in-plane")) {
        m.orientation = any, m.position = yk_v3(0.2, -0.1, 0);
    } else if (!strcmp(joint, "parallel-axes")) {
        m.orientation = about_z, m.position = yk_v3(0.2, -0.1, 0.3);
    } else if (!strcmp(joint, "fixed-orientation")) {
        m.position = yk_v3(0.2, -0.1, 0.3);
    }
    return m;
}

static int print_quat(char *text, size_t size, const char *key, yk_quat q)
{
    return snprintf(text, size, "%s: [%.17g, %.17g, %.17g, %.17g]", key, q.w, q.x, q.y, q.z);
}

/* Two free bodies of unequal inertia, moving as one rigid body at the start. */
static void write_scenario(char *text, size_t size, const char *joint, const char *first,
                           const char *second)
{
    const yk_vec3 spin = yk_v3(1.5, -2.0, 1.0), drift = yk_v3(0.2, 0.1, -0.3);
    yk_motion in_second = place_in_second(joint);
    yk_quat frame = yk_so3_exp(yk_v3(0.3, -0.5, 0.8)); /* of the second side's marker */
    yk_quat marker[2] = {yk_q_mul(frame, in_second.orientation), frame};
    yk_vec3 origin[2] = {yk_q_rotate(frame, in_second.position), yk_v3(0, 0, 0)};
    const char *names[2] = {first, second};
    int n = snprintf(text, size, "time: {end: 0.2, step: 1e-3}\nsubsystems:\n");
    for (int i = 0; i < 2; i++) {
        /* The body has an orientation of its own and its marker off its centre. */
        bool heavy = !strcmp(names[i], "heavy");
        yk_quat own = heavy ? yk_so3_exp(yk_v3(-0.4, 0.6, 0.2)) : yk_so3_exp(yk_v3(1, 0.2, -0.7));
        yk_vec3 offset = heavy ? yk_v3(0.1, -0.2, 0.15) : yk_v3(-0.2, 0.1, 0.05);
        yk_vec3 position = yk_v3_sub(origin[i], yk_q_rotate(own, offset));
        yk_vec3 velocity = yk_v3_add(drift, yk_v3_cross(spin, position));
        char orientations[2][160];
        print_quat(orientations[0], sizeof orientations[0], "orientation", own);
        print_quat(orientations[1], sizeof orientations[1], "orientation",
                   yk_q_mul(yk_q_conjugate(own), marker[i]));
        n += snprintf(text + n, size - (size_t)n,
                      "  %s:\n    solver: multibody\n    gravity: [0, 0, -9.81]\n"
                      "    bodies:\n      body: {mass: %s, inertia: %s, %s,\n"
                      "        position: [%.17g, %.17g, %.17g], velocity: [%.17g, %.17g, %.17g],\n"
                      "        angular_velocity: [%.17g, %.17g, %.17g]}\n"
                      "    ports: {end: {body: body, offset: [%g, %g, %g], %s}}\n",
                      names[i], heavy ? "5" : "0.05",
                      heavy ? "[0.2, 0.3, 0.25]" : "[1e-3, 5e-4, 1.2e-3]", orientations[0],
                      position.x, position.y, position.z, velocity.x, velocity.y, velocity.z,
                      spin.x, spin.y, spin.z, offset.x, offset.y, offset.z, orientations[1]);
    }
    snprintf(text + n, size - (size_t)n,
             "interfaces: [{name: joint, between: [%s.end, %s.end], joint: %s}]\n"
             "coupling: {scheme: monolithic}\n"
             "record: {channels: [heavy.body.position, heavy.body.angular_velocity, "
             "light.body.position, light.body.angular_velocity]}\n",
             first, second, joint);
}

/* Runs with the keys of `coupling` and compares with the merged system at the end. */
static void compare_with_merged(const char *text, const run *merged, const char *scheme,
                                double tolerance, double gap)
{
    char set[128];
    snprintf(set, sizeof set, "coupling={scheme: %s}", scheme);
    const char *const overrides[] = {set, NULL};
    run r = open_text("joint", text, overrides);
    run_to(&r, 0.2);
    for (int i = 0; i < r.info->values_per_sample; i++)
        assert_near(r.sample[i], merged->sample[i], tolerance);
    yk_interface_gap largest =
        yk_system_interface_statistics(r.system, (yk_interface_id){0}).max_gap;
    assert_near(largest.position, 0, gap);
    assert_near(largest.rotation, 0, gap);
    close_run(&r);
}

static void every_joint_is_kept_on_either_side(void **state)
{
    (void)state;
    static const char *const orders[2][2] = {{"heavy", "light"}, {"light", "heavy"}};
    for (int i = 0; i < 2 * JOINTS; i++) {
        char text[4096];
        const char *const *order = orders[i % 2];
        write_scenario(text, sizeof text, joints[i / 2], order[0], order[1]);
        const char *const overrides[] = {NULL};
        run merged = open_text("joint", text, overrides);
        run_to(&merged, 0.2);
        compare_with_merged(text, &merged, "index1", 1e-4, 1e-9);
        compare_with_merged(text, &merged, "explicit", 1e-3, 1e-5);
        /* Modified inputs prescribe the motion of the lighter side. */
        if (i % 2 == 0)
            compare_with_merged(text, &merged, "explicit, modified_inputs: index-1", 2e-4, 2e-5);
        compare_with_merged(text, &merged, "loose", 1e-3, 1e-5);
        compare_with_merged(text, &merged, "rim", 1e-3, 1e-5);
        compare_with_merged(text, &merged, "tight", 1e-3, 1e-5);
        close_run(&merged);
    }
}

/* The universal joint between rod and slider prescribes more than the slider can do together with
 * its guide, so that tight has no solution and all others agree. */
static void slider_crank_runs_under_all_schemes(void **state)
{
    (void)state;
    static const char model[] = "relaxed-slider-crank/scenario.yaml";
    static const char *const schemes[] = {"relaxed", "explicit", "loose", "index1", "rim"};
    const char *const merged_set[] = {"coupling.scheme=monolithic", "time.step=2e-4", NULL};
    run merged = open_run(model, merged_set);
    run_to(&merged, 0.4);
    for (int i = 0; i < 5; i++) {
        char set[64];
        snprintf(set, sizeof set, "coupling={scheme: %s}", schemes[i]);
        const char *const overrides[] = {set, "time.step=2e-4", NULL};
        run r = open_run(model, overrides);
        run_to(&r, 0.4);
        for (int k = 0; k < r.info->values_per_sample; k++)
            assert_near(r.sample[k], merged.sample[k], 1e-4);
        if (i > 0) {
            yk_interface_gap largest =
                yk_system_interface_statistics(r.system, (yk_interface_id){0}).max_gap;
            assert_near(largest.position + largest.rotation, 0, 1e-8);
            assert_near(largest.velocity + largest.angular_velocity, 0, 1e-4);
        }
        close_run(&r);
    }
    close_run(&merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slider_crank_runs_under_all_schemes),
        cmocka_unit_test(every_joint_is_kept_on_either_side),
    };
    return cmocka_run_group_tests_name("interface_joints", tests, NULL, NULL);
}
