/* The scene of a run: subsystems with units and axes of their own appear in one scene, in metres
 * and in the axes of the system. */
#include "analysis/run.h"

#include <string.h>

#include "context.h"
#include "load_scenario.h"
#include "math/vec3.h"
#include "test.h"
#include "yoke/analysis.h"

/* Runs a scenario, from its file or as a text, with one frame at the start and one at the end. */
static yk_record *run(yk_context *context, const char *path, const char *text,
                      const char *const *overrides)
{
    yk_scenario *scenario = load_scenario(context, path, text, overrides);
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(context, &record), YK_OK);
    yk_run_report report;
    yk_run_options run_def = {
        .recorder = yk_record_recorder(record), .frame_count = 1, .max_contacts_per_frame = 3};
    assert_int_equal(yk_run(context, scenario, &run_def, &report), YK_OK);
    assert_int_equal(yk_record_frame_count(record), 2);
    yk_scenario_destroy(scenario);
    return record;
}

static const float *table_of(const yk_record *record, size_t frame, yk_frame_table table)
{
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    const float *values = yk_record_frame(record, frame);
    for (int i = 0; i < (int)table; i++)
        values += yk_scene_table_value_count(scene, (yk_frame_table)i);
    return values;
}

static void assert_vector(const float *actual, double x, double y, double z)
{
    assert_near(actual[0], x, 1e-5);
    assert_near(actual[1], y, 1e-5);
    assert_near(actual[2], z, 1e-5);
}

/* A ball of 4/3 pi kg on the floor of a subsystem in mm and g, whose x, y, z are z, x, y of the
 * whole; two blocks of 1 kg that fall as one, of which only the first has weight; two masses on a
 * line. */
static const char *const parts =
    "time: {end: 0.1, step: 1e-3}\n"
    "subsystems:\n"
    "  bed:\n"
    "    solver: nonsmooth\n"
    "    units: {length: mm, mass: g}\n"
    "    pose: {position: [1, 2, 3], orientation: {x: [0, 0, 1], y: [1, 0, 0]}}\n"
    "    gravity: [0, 0, -9810]\n"
    "    ground_shapes: [{type: plane}]\n"
    "    bodies:\n"
    "      ball: {position: [10, 20, 100], shapes: [{type: sphere, radius: 100, density: 1e-3}]}\n"
    "  first:\n"
    "    solver: multibody\n"
    "    gravity: [0, -10, 0]\n"
    "    bodies: {block: {mass: 1, inertia: [1, 1, 1], position: [5, 0, 0]}}\n"
    "    ports: {end: {body: block}}\n"
    "  second:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    bodies: {block: {mass: 1, inertia: [1, 1, 1], position: [5, 0, 0]}}\n"
    "    ports: {end: {body: block}}\n"
    "  left: {solver: oscillator, mass: 1, stiffness: 100, velocity: 0.1}\n"
    "  right: {solver: oscillator, mass: 1, velocity: 0.1}\n"
    "interfaces:\n"
    "  cut: {between: [first.end, second.end], joint: fixed}\n"
    "  line: {between: [left.mass, right.mass], joint: fixed}\n"
    "coupling: {scheme: tight}\n";

static void scenes_of_subsystems_are_one(void **state)
{
    yk_record *record = run(*state, "file.yaml", parts, (const char *[]){NULL});
    const yk_record_scene *scene = yk_record_get_header(record)->scene;

    /* Bodies with their owners; up is against the weight of the first that has one. */
    assert_int_equal(scene->subsystem_count, 5);
    assert_true(scene->monitor_version);
    assert_near(scene->up.x, 0, 1e-12);
    assert_near(scene->up.y, 1, 1e-12);
    assert_near(scene->up.z, 0, 1e-12);
    const yk_record_body *ball = &scene->bodies[0];
    assert_string_equal(ball->name, "ball");
    assert_int_equal(ball->subsystem, 0);
    assert_int_equal(ball->motion, YK_SCENE_MOTION_FULL);
    assert_near(ball->position.x, 1.02, 1e-12);
    assert_near(ball->position.y, 2.1, 1e-12);
    assert_near(ball->position.z, 3.01, 1e-12);
    assert_near(fabs(ball->orientation.w), 0.5, 1e-12);
    assert_string_equal(scene->bodies[1].name, "block");
    assert_int_equal(scene->bodies[1].subsystem, 1);
    assert_int_equal(scene->bodies[2].subsystem, 2);

    /* The sphere in metres on its body; the floor on the ground where the subsystem has it. */
    int spheres = 0;
    int floors = 0;
    for (int i = 0; i < scene->shape_count; i++) {
        const yk_shape *shape = &scene->shapes[i];
        if (shape->body == 0) {
            spheres++;
            assert_near(shape->size.x, 0.1, 1e-12);
        } else if (shape->body == YK_SCENE_GROUND) {
            yk_vec3 normal = yk_q_rotate(shape->orientation, yk_v3(0, 0, 1));
            floors++;
            assert_near(shape->position.x, 1, 1e-12);
            assert_near(shape->position.y, 2, 1e-12);
            assert_near(shape->position.z, 3, 1e-12);
            assert_near(normal.y, 1, 1e-12);
        }
    }
    assert_int_equal(spheres, 1);
    assert_int_equal(floors, 1);

    /* Links, of which that between markers has a wrench: the second block takes half of the first's
     * weight. */
    assert_int_equal(scene->connection_count, 2);
    assert_string_equal(scene->connections[0].name, "cut");
    assert_int_equal(scene->connections[0].kind, YK_CONNECTION_MARKERS);
    assert_int_equal(scene->connections[0].from, 1);
    assert_int_equal(scene->connections[0].to, 2);
    assert_int_equal(scene->connections[1].kind, YK_CONNECTION_SCALAR);
    assert_int_equal(scene->connections[1].from, 3);
    assert_int_equal(scene->connections[1].to, 4);
    assert_int_equal(yk_scene_table_value_count(scene, YK_FRAME_WRENCH), 9);
    const float *wrench = table_of(record, 1, YK_FRAME_WRENCH);
    assert_vector(wrench, 5, -0.5 * 5 * 0.01, 0);
    assert_vector(wrench + 3, 0, 5, 0);
    assert_vector(wrench + 6, 0, 0, 0);

    /* Poses at the end: the ball has stayed, the blocks have fallen by 5 m/s2 t2/2. */
    const float *position = table_of(record, 1, YK_FRAME_POSITION);
    assert_vector(position, 1.02, 2.1, 3.01);
    assert_vector(position + 3, 5, -0.025, 0);
    assert_vector(position + 6, 5, -0.025, 0);
    const float *orientation = table_of(record, 1, YK_FRAME_ORIENTATION);
    assert_near(fabsf(orientation[0]), 0.5, 1e-6);
    assert_near(fabsf(orientation[4]), 1, 1e-6);

    /* One contact, with the weight of the ball in N, and nothing behind it. */
    double weight = 4.0 / 3 * acos(-1) * 9.81;
    assert_int_equal(scene->contact_count, 3);
    const float *contact = table_of(record, 1, YK_FRAME_CONTACT);
    assert_vector(contact, 1.02, 2, 3.01);
    assert_near(fabsf(contact[4]), 1, 1e-6);
    assert_relative(contact[7] * contact[4], weight, 1e-5);
    for (int i = 9; i < 27; i++)
        assert_true(contact[i] == 0);

    yk_record_destroy(record);
}

/* Figures in the order of the subsystems and interfaces. */
static void frames_have_what_is_watched(void **state)
{
    yk_record *record = run(*state, "file.yaml", parts, (const char *[]){NULL});
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    const int interfaces = 5 * YK_MONITOR_SUBSYSTEM_VALUES;
    const int last = interfaces + 2 * YK_MONITOR_INTERFACE_VALUES;
    assert_int_equal(yk_scene_table_value_count(scene, YK_FRAME_MONITOR), last + 1);
    const float *watch = table_of(record, 1, YK_FRAME_MONITOR);

    /* Energies that integration made are rounding for bodies at rest and in free fall. */
    for (int i = 0; i < 3; i++)
        assert_near(watch[i * YK_MONITOR_SUBSYSTEM_VALUES], 0, 1e-4);

    /* Gaps that the tight scheme leaves, and the energy that it made of them; it iterates. */
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 5; k++)
            assert_near(watch[interfaces + i * YK_MONITOR_INTERFACE_VALUES + k], 0, 1e-4);
    assert_true(watch[last] >= 1);

    yk_record_destroy(record);
}

/* Subsystems that one solver computes as a whole keep their names and bodies. */
static void parts_of_a_whole_are_told_apart(void **state)
{
    const char *const merged[] = {"coupling={scheme: relaxed}", "time.end=2e-3", NULL};
    yk_record *record =
        run(*state, YOKE_SOURCE_DIR "/models/hinged-links/scenario.yaml", NULL, merged);
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    assert_int_equal(scene->body_count, 2);
    assert_int_equal(scene->bodies[0].subsystem, 0);
    assert_int_equal(scene->bodies[1].subsystem, 1);

    /* (1, 0, 0) + 0.4 m against x. */
    assert_near(scene->bodies[1].position.x, 0.6, 1e-9);
    assert_near(scene->bodies[1].position.y, 0, 1e-9);
    yk_record_destroy(record);
}

static void wires_are_links(void **state)
{
    yk_record *record = run(*state, YOKE_SOURCE_DIR "/models/controlled-arm/scenario.yaml", NULL,
                            (const char *[]){"time.end=2e-3", NULL});
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    assert_int_equal(scene->connection_count, 4);
    assert_int_equal(scene->connections[0].kind, YK_CONNECTION_MARKERS);
    assert_string_equal(scene->connections[3].name, "torque");
    assert_int_equal(scene->connections[3].kind, YK_CONNECTION_WIRE);
    assert_int_equal(scene->connections[3].from, 2);
    assert_int_equal(scene->connections[3].to, 0);
    yk_record_destroy(record);
}

/* Points of hulls in metres; without weight z is up. */
static void hulls_have_their_points(void **state)
{
    static const char *const text = "time: {end: 1e-3, step: 1e-3}\n"
                                    "subsystems:\n"
                                    "  w:\n"
                                    "    solver: nonsmooth\n"
                                    "    units: {length: mm, mass: g}\n"
                                    "    gravity: [0, 0, 0]\n"
                                    "    bodies:\n"
                                    "      wedge:\n"
                                    "        shapes: [{type: hull, density: 1e-3,\n"
                                    "                  points: [[-25, -50, -75], [75, -50, -75], "
                                    "[-25, 150, -75], [-25, -50, 225]]}]\n";
    yk_record *record = run(*state, "file.yaml", text, (const char *[]){NULL});
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    assert_near(scene->up.z, 1, 0);
    assert_int_equal(scene->shape_count, 1);
    const yk_shape *hull = &scene->shapes[0];
    assert_int_equal(hull->point_count, 4);

    /* Distances between the corners, wherever the shape has its origin. */
    double longest = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            longest = fmax(longest, yk_v3_norm(yk_v3_sub(hull->points[i], hull->points[k])));
    assert_near(longest, sqrt(0.13), 1e-12);
    yk_record_destroy(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_of_subsystems_are_one),
        cmocka_unit_test(frames_have_what_is_watched),
        cmocka_unit_test(parts_of_a_whole_are_told_apart),
        cmocka_unit_test(wires_are_links),
        cmocka_unit_test(hulls_have_their_points),
    };
    return cmocka_run_group_tests_name("scene", tests, create_context, destroy_context);
}
