/* The scene of a run and its frames: stored in memory, stored in HDF5, and rejected if invalid. */
#include "folder.h"

static const char *const subsystems[] = {"crane", "pump"};
static const char *const solvers[] = {"multibody", "hydraulic"};
static const yk_vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};

static const yk_record_body bodies[] = {
    {.name = "base", .subsystem = 0, .motion = YK_SCENE_MOTION_FIXED, .orientation = {1, 0, 0, 0}},
    {.name = "boom \xe2\x80\x93 1",
     .subsystem = 0,
     .motion = YK_SCENE_MOTION_FULL,
     .has_strain = true,
     .position = {1, 2, 3},
     .orientation = {0.6, 0, 0.8, 0}},
    {.subsystem = 1, .motion = YK_SCENE_MOTION_POINT, .orientation = {1, 0, 0, 0}},
};

static const yk_shape shapes[] = {
    {.kind = YK_SHAPE_BOX,
     .body = 1,
     .end_body = 1,
     .orientation = {1, 0, 0, 0},
     .size = {1, 2, 3}},
    {.kind = YK_SHAPE_ACTUATOR,
     .name = "lift",
     .body = YK_SCENE_GROUND,
     .end_body = 1,
     .orientation = {1, 0, 0, 0},
     .size = {0.5, 0, 0}},
    {.kind = YK_SHAPE_HULL,
     .body = 0,
     .end_body = 0,
     .orientation = {0, 1, 0, 0},
     .points = corners,
     .point_count = 4},
};

static const yk_record_connection links[] = {
    {.name = "tip", .kind = YK_CONNECTION_MARKERS, .from = 0, .to = 1},
    {.name = "command", .kind = YK_CONNECTION_WIRE, .from = 1, .to = 0},
};

static const yk_record_scene scene = {
    .subsystems = subsystems,
    .solvers = solvers,
    .subsystem_count = 2,
    .bodies = bodies,
    .body_count = 3,
    .shapes = shapes,
    .shape_count = 3,
    .connections = links,
    .connection_count = 2,
    .contact_count = 2,
    .monitor_version = YK_MONITOR_VERSION,
    .up = {0, 1, 0},
};

/* Two positions, one orientation, one strain, one wrench, figures of two subsystems and one interface and
 * the iterations, two contacts. */
enum {
    FRAME_SIZE = 2 * 3 + 4 + 1 + 9 +
                 (2 * YK_MONITOR_SUBSYSTEM_VALUES + YK_MONITOR_INTERFACE_VALUES + 1) + 2 * 9,
    FRAMES = 150
};

static float frame_value(int frame, int k)
{
    return (float)frame + 0.001f * (float)k;
}

static void record_scene(yk_recorder *recorder, int frames)
{
    yk_record_header header = sample_header;
    header.scene = &scene;
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    record_samples(recorder, 0, 3);
    for (int i = 0; i < frames; i++) {
        float values[FRAME_SIZE];
        for (int k = 0; k < FRAME_SIZE; k++)
            values[k] = frame_value(i, k);
        assert_int_equal(yk_recorder_frame(recorder, 0.5 * i, values), YK_OK);
    }
}

static void assert_scene(const yk_record *record, int frames)
{
    const yk_record_scene *found = yk_record_get_header(record)->scene;
    assert_non_null(found);
    assert_int_equal(found->subsystem_count, 2);
    assert_string_equal(found->subsystems[1], "pump");
    assert_string_equal(found->solvers[0], "multibody");
    assert_near(found->up.y, 1, 0);

    assert_int_equal(found->body_count, 3);
    assert_string_equal(found->bodies[1].name, "boom \xe2\x80\x93 1");
    assert_string_equal(found->bodies[2].name, "");
    assert_int_equal(found->bodies[2].motion, YK_SCENE_MOTION_POINT);
    assert_int_equal(found->bodies[2].subsystem, 1);
    assert_true(found->bodies[1].has_strain && !found->bodies[0].has_strain);
    assert_near(found->bodies[1].position.z, 3, 0);
    assert_near(found->bodies[1].orientation.y, 0.8, 0);

    assert_int_equal(found->shape_count, 3);
    assert_int_equal(found->shapes[1].kind, YK_SHAPE_ACTUATOR);
    assert_string_equal(found->shapes[1].name, "lift");
    assert_int_equal(found->shapes[1].body, YK_SCENE_GROUND);
    assert_int_equal(found->shapes[1].end_body, 1);
    assert_near(found->shapes[0].size.z, 3, 0);
    assert_int_equal(found->shapes[2].point_count, 4);
    assert_near(found->shapes[2].points[3].z, 3, 0);

    assert_int_equal(found->contact_count, 2);
    assert_int_equal(found->monitor_version, YK_MONITOR_VERSION);
    assert_int_equal(found->connection_count, 2);
    assert_string_equal(found->connections[0].name, "tip");
    assert_int_equal(found->connections[1].kind, YK_CONNECTION_WIRE);
    assert_int_equal(found->connections[1].from, 1);

    assert_int_equal(yk_scene_frame_value_count(found), FRAME_SIZE);
    assert_int_equal(yk_record_frame_count(record), frames);
    for (int i = 0; i < frames; i++) {
        assert_near(yk_record_frame_time(record, (size_t)i), 0.5 * i, 0);
        const float *values = yk_record_frame(record, (size_t)i);
        for (int k = 0; k < FRAME_SIZE; k++)
            assert_true(values[k] == frame_value(i, k));
    }
}

static void frames_come_back_from_memory(void **state)
{
    test_folder *folder = *state;
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    for (int again = 0; again < 2; again++) {
        record_scene(yk_record_recorder(record), FRAMES);
        assert_int_equal(yk_recorder_end(yk_record_recorder(record), NULL), YK_OK);
        assert_scene(record, FRAMES);
    }

    /* A run without a scene leaves nothing of the one before. */
    assert_int_equal(yk_recorder_begin(yk_record_recorder(record), &sample_header), YK_OK);
    assert_null(yk_record_get_header(record)->scene);
    assert_int_equal(yk_record_frame_count(record), 0);
    yk_record_destroy(record);
}

static void frames_come_back_from_a_file(void **state)
{
    test_folder *folder = *state;
    for (int frames = 0; frames <= FRAMES; frames += FRAMES / 2) {
        yk_recorder *recorder = create_file_recorder(folder, "scene.h5");
        record_scene(recorder, frames);
        assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
        yk_recorder_destroy(recorder);

        yk_record *record = NULL;
        assert_int_equal(yk_record_load(folder->context, in_folder(folder, "scene.h5"), &record),
                         YK_OK);
        assert_scene(record, frames);
        yk_record_destroy(record);
        assert_int_equal(yk_record_open(folder->context, in_folder(folder, "scene.h5"), &record),
                         YK_OK);
        assert_scene(record, frames);
        yk_record_destroy(record);
    }
}

/* The frames written until then are in the file, and the next record begins with an empty file. */
static void a_run_that_is_given_up_keeps_its_frames(void **state)
{
    test_folder *folder = *state;
    yk_recorder *recorder = create_file_recorder(folder, "open.h5");
    record_scene(recorder, FRAMES);
    yk_recorder_destroy(recorder);
    yk_record *record = NULL;
    assert_int_equal(yk_record_load(folder->context, in_folder(folder, "open.h5.part"), &record),
                     YK_OK);
    assert_scene(record, FRAMES);
    assert_false(yk_record_is_complete(record));
    yk_record_destroy(record);
}

static void csv_leaves_frames_out(void **state)
{
    test_folder *folder = *state;
    yk_recorder *recorder = create_file_recorder(folder, "scene.csv");
    record_scene(recorder, 3);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    yk_recorder_destroy(recorder);
}

/* Records of earlier versions contain these numbers. */
static void stored_numbers_do_not_change(void **state)
{
    (void)state;
    static const yk_shape_kind kinds[] = {
        YK_SHAPE_SPHERE,          YK_SHAPE_BOX,   YK_SHAPE_CYLINDER,
        YK_SHAPE_CAPSULE,         YK_SHAPE_LINE,  YK_SHAPE_THIN_LINE,
        YK_SHAPE_ACTUATOR,        YK_SHAPE_HULL,  YK_SHAPE_BOX_CAVITY,
        YK_SHAPE_CYLINDER_CAVITY, YK_SHAPE_PLANE, YK_SHAPE_JOINT,
        YK_SHAPE_ELLIPSOID,
    };
    assert_int_equal(sizeof kinds / sizeof *kinds, YK_SHAPE_KIND_COUNT);
    for (int i = 0; i < YK_SHAPE_KIND_COUNT; i++)
        assert_int_equal(kinds[i], i);

    static const yk_scene_motion motions[] = {YK_SCENE_MOTION_FIXED, YK_SCENE_MOTION_POINT,
                                              YK_SCENE_MOTION_FULL};
    static const yk_connection_kind link_kinds[] = {YK_CONNECTION_MARKERS, YK_CONNECTION_SCALAR,
                                                    YK_CONNECTION_WIRE};
    static const yk_port_kind port_kinds[] = {YK_PORT_SCALAR, YK_PORT_MARKER, YK_PORT_SIGNAL};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(motions[i], i);
        assert_int_equal(link_kinds[i], i);
        assert_int_equal(port_kinds[i], i);
    }
}

static void a_scene_that_is_not_sound_is_refused(void **state)
{
    test_folder *folder = *state;
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    yk_shape lost = shapes[0];
    lost.body = 3;
    yk_shape unknown = shapes[0];
    unknown.kind = (yk_shape_kind)YK_SHAPE_KIND_COUNT;
    yk_record_connection nowhere = {.name = "x", .from = 0, .to = 2};
    yk_record_scene wrong_shape = scene, wrong_kind = scene, wrong_link = scene,
                    of_a_later_version = scene;
    wrong_shape.shapes = &lost;
    wrong_shape.shape_count = 1;
    wrong_kind.shapes = &unknown;
    wrong_kind.shape_count = 1;
    wrong_link.connections = &nowhere;
    wrong_link.connection_count = 1;
    of_a_later_version.monitor_version = YK_MONITOR_VERSION + 1;
    const yk_record_scene *const cases[] = {&wrong_shape, &wrong_kind, &wrong_link,
                                            &of_a_later_version};
    for (int i = 0; i < 4; i++) {
        yk_record_header header = sample_header;
        header.scene = cases[i];
        assert_int_equal(yk_recorder_begin(yk_record_recorder(record), &header), YK_ERROR_ARGUMENT);
    }
    yk_record_destroy(record);
}

/* Two energies, four gaps and an energy, and the iterations. */
static void frames_of_the_first_layout_have_fewer_figures(void **state)
{
    (void)state;
    yk_record_scene old = scene;
    old.monitor_version = 1;
    assert_int_equal(yk_scene_table_value_count(&old, YK_FRAME_MONITOR), 2 + 5 + 1);
    old.monitor_version = 0;
    assert_int_equal(yk_scene_table_value_count(&old, YK_FRAME_MONITOR), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_come_back_from_memory, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(frames_come_back_from_a_file, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_run_that_is_given_up_keeps_its_frames, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(csv_leaves_frames_out, open_folder, close_folder),
        cmocka_unit_test(frames_of_the_first_layout_have_fewer_figures),
        cmocka_unit_test(stored_numbers_do_not_change),
        cmocka_unit_test_setup_teardown(a_scene_that_is_not_sound_is_refused, open_folder,
                                        close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
