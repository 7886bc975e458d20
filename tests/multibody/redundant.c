/* Redundant joints: the motion is that of an equivalent model without redundancy, and the reactions
 * are smooth functions of the state, in any pose. */
#include <string.h>

#include "math/so3.h"
#include "run.h"

enum { POSES = 4 };

/* Axis-aligned and oblique orientations of the whole model. */
static yk_quat pose(int i)
{
    static const yk_vec3 rotation[POSES] = {
        {0, 0, 0}, {0, 0.5 * YK_PI, 0}, {0.7, -0.4, 1.1}, {-2.1, 0.3, 0.2}};
    return yk_so3_exp(rotation[i]);
}

/* A joint at a point of the model, given in the frame of the model like the positions of the bodies,
 * whose axis z is along z of the model turned by `turn`. */
static void join(run *r, yk_joint_kind kind, const char *name, int a, int b, yk_vec3 at,
                 yk_quat model, yk_quat turn)
{
    int body[2] = {a, b};
    yk_marker marker[2];
    for (int side = 0; side < 2; side++) {
        yk_vec3 origin = {0, 0, 0};
        if (body[side] != YK_GROUND_INDEX)
            origin = r->kit.nodes[body[side]].position;
        yk_vec3 offset = yk_v3_sub(yk_q_rotate(model, at), origin);
        marker[side] = kit_marker(offset, yk_q_mul(model, turn));
    }
    kit_joint(&r->kit, kind, name, a, marker[0], b, marker[1]);
}

static int add_body(run *r, const char *name, yk_vec3 position, yk_quat model, double mass,
                    double inertia)
{
    int node = kit_node(&r->kit, name, yk_q_rotate(model, position), yk_q_identity());
    kit_body(&r->kit, node, mass, inertia, inertia, inertia);
    return node;
}

/* A shaft along z of the model in two bearings, of three parts that are fixed to each other, with an
 * eccentric mass that drives it. Without redundancy the second bearing is absent: the motion is the
 * same, as all parts are rigid. */
static void shaft(run *r, yk_quat model, bool redundant)
{
    const yk_quat along = yk_q_identity();
    kit_open(&r->kit, 8);
    r->kit.def.gravity = yk_v3(1, -9.81, 2);
    int part[3];
    static const char *const names[3] = {"left", "middle", "right"};
    for (int i = 0; i < 3; i++)
        part[i] = add_body(r, names[i], yk_v3(i == 1 ? 0.1 : 0, 0, 0.25 + 0.5 * i), model, 1, 0.02);
    join(r, YK_JOINT_REVOLUTE, "bearing", YK_GROUND_INDEX, part[0], yk_v3(0, 0, 0), model, along);
    join(r, YK_JOINT_FIXED, "flange", part[0], part[1], yk_v3(0, 0, 0.5), model, along);
    join(r, YK_JOINT_FIXED, "coupling", part[1], part[2], yk_v3(0, 0, 1), model, along);
    if (redundant)
        join(r, YK_JOINT_REVOLUTE, "end", YK_GROUND_INDEX, part[2], yk_v3(0, 0, 1.5), model, along);
}

/* A door leaf on two coaxial hinges, or on one. */
static void door(run *r, yk_quat model, bool redundant)
{
    const yk_quat along = yk_q_identity();
    kit_open(&r->kit, 8);
    r->kit.def.gravity = yk_v3(3, -5, 2);
    int leaf = add_body(r, "leaf", yk_v3(0.4, 0.2, 0), model, 10, 0.6);
    join(r, YK_JOINT_REVOLUTE, "low", YK_GROUND_INDEX, leaf, yk_v3(0, 0, -0.8), model, along);
    if (redundant)
        join(r, YK_JOINT_REVOLUTE, "high", YK_GROUND_INDEX, leaf, yk_v3(0, 0, 0.8), model, along);
}

/* A planar four-bar in the plane x y of the model. Without redundancy one pin is a ball joint and
 * one slides along its axis. */
static void four_bar(run *r, yk_quat model, bool redundant)
{
    const yk_quat along = yk_q_identity();
    kit_open(&r->kit, 8);
    r->kit.def.gravity = yk_q_rotate(model, yk_v3(0.5, -9.81, 0));
    int crank = add_body(r, "crank", yk_v3(0, 0.25, 0), model, 1, 0.02);
    int rod = add_body(r, "coupler", yk_v3(0.5, 0.6, 0), model, 1, 0.09);
    int rocker = add_body(r, "rocker", yk_v3(1.1, 0.35, 0), model, 1, 0.03);
    join(r, YK_JOINT_REVOLUTE, "A", YK_GROUND_INDEX, crank, yk_v3(0, 0, 0), model, along);
    join(r, YK_JOINT_REVOLUTE, "B", crank, rod, yk_v3(0, 0.5, 0), model, along);
    join(r, redundant ? YK_JOINT_REVOLUTE : YK_JOINT_SPHERICAL, "C", rod, rocker, yk_v3(1, 0.7, 0),
         model, along);
    join(r, redundant ? YK_JOINT_REVOLUTE : YK_JOINT_CYLINDRICAL, "D", YK_GROUND_INDEX, rocker,
         yk_v3(1.2, 0, 0), model, along);
}

/* Two pendulum links that are fixed to each other at both ends. */
static void fixed_twice(run *r, yk_quat model, bool redundant)
{
    const yk_quat along = yk_q_identity();
    kit_open(&r->kit, 8);
    r->kit.def.gravity = yk_v3(1, -9.81, 2);
    int a = add_body(r, "a", yk_v3(0.5, 0.1, 0), model, 1, 0.05);
    int b = add_body(r, "b", yk_v3(0.5, -0.2, 0.1), model, 2, 0.08);
    join(r, YK_JOINT_REVOLUTE, "pin", YK_GROUND_INDEX, a, yk_v3(0, 0, 0), model, along);
    join(r, YK_JOINT_FIXED, "near", a, b, yk_v3(0.2, 0, 0), model, along);
    if (redundant)
        join(r, YK_JOINT_FIXED, "far", a, b, yk_v3(0.8, 0, 0), model, along);
}

/* A model, and how many of its joint equations are redundant. */
typedef struct redundant_model {
    const char *name;
    void (*build)(run *r, yk_quat model, bool redundant);
    int equations;
} redundant_model;

static const redundant_model models[] = {{"shaft", shaft, 5},
                                         {"door", door, 5},
                                         {"four-bar", four_bar, 3},
                                         {"fixed twice", fixed_twice, 6}};
enum { MODELS = sizeof models / sizeof *models };

static void motions_are_those_of_the_equivalent_model(void **state)
{
    (void)state;
    static const yk_multibody_integrator integrators[] = {YK_MULTIBODY_TWO_STEP,
                                                          YK_MULTIBODY_GENERALIZED_ALPHA};
    for (int k = 0; k < MODELS * POSES * 2; k++) {
        const redundant_model *m = &models[k / 2 % MODELS];
        run r[2];
        for (int i = 0; i < 2; i++) {
            m->build(&r[i], pose(k / 2 / MODELS), i == 0);
            r[i].kit.def.options.integrator = integrators[k % 2];
            r[i].kit.def.options.newton_relative_tolerance = 1e-8;
            run_start(&r[i], 1e-3);
            yk_multibody_report report;
            yk_multibody_report_get(r[i].model, &report);
            assert_int_equal(report.redundant, i == 0 ? m->equations : 0);
        }
        for (int step = 1; step <= 10; step++) {
            run_to(&r[0], 0.05 * step);
            run_to(&r[1], 0.05 * step);
            for (int node = 0; node < r[0].kit.def.node_count; node++) {
                yk_motion a = run_motion(&r[0], node), b = run_motion(&r[1], node);
                assert_near(yk_v3_norm(yk_v3_sub(a.position, b.position)), 0, 1e-9);
                assert_near(yk_v3_norm(yk_v3_sub(a.velocity, b.velocity)), 0, 1e-8);
            }
        }
        run_stop(&r[0]);
        run_stop(&r[1]);
    }
}

/* The largest force of a joint of the model. */
static double largest_reaction(const run *r)
{
    double largest = 0;
    for (int j = 0; j < r->kit.def.joint_count; j++) {
        yk_wrench reaction;
        yk_multibody_reaction(r->model, j, &reaction);
        largest = fmax(largest, yk_v3_norm(reaction.force));
    }
    return largest;
}

/* Rounding errors of the gaps, of 1e-16 m, must not appear in the reactions. Third differences in
 * time are of the size of the step cubed; errors of single steps would be multiplied by 8. */
static void reactions_are_smooth_in_time(void **state)
{
    (void)state;
    enum { STEPS = 100, SKIPPED = 20, JOINTS = 4 };
    for (int k = 0; k < MODELS * POSES; k++) {
        run r;
        models[k % MODELS].build(&r, pose(k / MODELS), true);
        double h = 5e-4;
        run_start(&r, h);
        yk_vec3 past[JOINTS][3];
        memset(past, 0, sizeof past);
        for (int step = 1; step <= STEPS; step++) {
            run_to(&r, step * h);
            double scale = largest_reaction(&r);
            for (int j = 0; j < r.kit.def.joint_count; j++) {
                yk_wrench now;
                yk_multibody_reaction(r.model, j, &now);
                yk_vec3 third = yk_v3_sub(now.force, past[j][2]);
                third = yk_v3_axpy(3, yk_v3_sub(past[j][1], past[j][0]), third);
                if (step > SKIPPED)
                    assert_near(yk_v3_norm(third) / scale, 0, 2e-6);
                past[j][2] = past[j][1];
                past[j][1] = past[j][0];
                past[j][0] = now.force;
            }
        }
        run_stop(&r);
    }
}

/* The equations that are left out are those of the joint that is listed last: the shaft hangs in its
 * first bearing. */
static void the_last_joint_of_a_loop_carries_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < POSES; i++) {
        run r[2];
        for (int k = 0; k < 2; k++) {
            shaft(&r[k], pose(i), k == 0);
            run_start(&r[k], 1e-3);
            run_to(&r[k], 0.1);
        }
        for (int j = 0; j < r[0].kit.def.joint_count; j++) {
            yk_wrench a, b = {{0, 0, 0}, {0, 0, 0}};
            yk_multibody_reaction(r[0].model, j, &a);
            if (j < r[1].kit.def.joint_count)
                yk_multibody_reaction(r[1].model, j, &b);
            assert_near(yk_v3_norm(yk_v3_sub(a.force, b.force)), 0, 1e-4); /* of 40 N */
            assert_near(yk_v3_norm(yk_v3_sub(a.torque, b.torque)), 0, 1e-4);
        }
        run_stop(&r[0]);
        run_stop(&r[1]);
    }
}

/* A parallelogram that starts stretched out, where it could also become a crossed four-bar: there
 * one equation in the plane depends on the others, but the motion needs it. With pins at all joints
 * three equations out of the plane are redundant in every position. */
static void equations_that_depend_in_one_position_are_kept(void **state)
{
    (void)state;
    const yk_quat along = yk_q_identity();
    for (int pins = 0; pins < 2; pins++) {
        run r;
        kit_open(&r.kit, 8);
        r.kit.def.gravity = yk_v3(0, 0, 0);
        int crank = add_body(&r, "crank", yk_v3(0.5, 0, 0), along, 1, 0.02);
        int rod = add_body(&r, "coupler", yk_v3(1.5, 0, 0), along, 1, 0.09);
        int rocker = add_body(&r, "rocker", yk_v3(1.5, 0, 0), along, 1, 0.02);
        join(&r, YK_JOINT_REVOLUTE, "A", YK_GROUND_INDEX, crank, yk_v3(0, 0, 0), along, along);
        join(&r, YK_JOINT_REVOLUTE, "B", crank, rod, yk_v3(1, 0, 0), along, along);
        join(&r, pins ? YK_JOINT_REVOLUTE : YK_JOINT_SPHERICAL, "C", rod, rocker, yk_v3(2, 0, 0),
             along, along);
        join(&r, pins ? YK_JOINT_REVOLUTE : YK_JOINT_CYLINDRICAL, "D", YK_GROUND_INDEX, rocker,
             yk_v3(1, 0, 0), along, along);
        double rate = 2;
        const int turning[2] = {crank, rocker};
        for (int i = 0; i < 2; i++) {
            r.kit.nodes[turning[i]].angular_velocity = yk_v3(0, 0, rate);
            r.kit.nodes[turning[i]].velocity = yk_v3(0, 0.5 * rate, 0);
        }
        r.kit.nodes[rod].velocity = yk_v3(0, rate, 0);
        run_start(&r, 1e-3);
        yk_multibody_report report;
        yk_multibody_report_get(r.model, &report);
        assert_int_equal(report.redundant, 1 + 3 * pins);
        run_to(&r, 0.5);

        /* The coupler still ends where the rocker does, at the distance of a crank from D. */
        yk_marker coupler_end = yk_marker_at(0.5, 0, 0), rocker_end = yk_marker_at(0.5, 0, 0);
        yk_motion a, b;
        yk_multibody_marker_motion(r.model, rod, &coupler_end, &a);
        yk_multibody_marker_motion(r.model, rocker, &rocker_end, &b);
        assert_near(yk_v3_norm(yk_v3_sub(a.position, b.position)), 0, 1e-9);
        assert_near(yk_v3_norm(yk_v3_sub(a.position, yk_v3(1, 0, 0))), 1, 1e-9);
        assert_near(a.position.z, 0, 1e-9);
        assert_true(fabs(a.position.y) > 0.1);
        run_stop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motions_are_those_of_the_equivalent_model),
        cmocka_unit_test(reactions_are_smooth_in_time),
        cmocka_unit_test(the_last_joint_of_a_loop_carries_nothing),
        cmocka_unit_test(equations_that_depend_in_one_position_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
