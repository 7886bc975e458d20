/* The scene of a record as VTKHDF: read back as its specification says, with the HDF5 library alone. */
#include <hdf5.h>
#include <math.h>

#include "folder.h"

enum { FRAMES = 5 };

static const char *const subsystems[] = {"machine", "grains"};
static const char *const solvers[] = {"multibody", "nonsmooth"};

/* The corners of a cube, and points in the middle of two of its faces and of the whole. */
static const yk_vec3 cube[] = {{0, 0, 0},     {1, 0, 0},     {0, 1, 0},      {1, 1, 0},
                               {0, 0, 1},     {1, 0, 1},     {0, 1, 1},      {1, 1, 1},
                               {0.5, 0.5, 0}, {1, 0.5, 0.5}, {0.5, 0.5, 0.5}};

static const yk_record_body bodies[] = {
    {.name = "arm", .subsystem = 0, .motion = YK_SCENE_MOTION_FULL, .has_strain = true},
    {.subsystem = 1, .motion = YK_SCENE_MOTION_POINT, .orientation = {1, 0, 0, 0}},
    {.name = "stone", .subsystem = 1, .orientation = {1, 0, 0, 0}, .position = {7, 0, 0}},
};

#define UPRIGHT .orientation = {1, 0, 0, 0}
static const yk_shape shapes[] = {
    {.kind = YK_SHAPE_BOX, .body = 0, .end_body = 0, UPRIGHT, .size = {1, 2, 3}},
    {.kind = YK_SHAPE_SPHERE, .body = 1, .end_body = 1, UPRIGHT, .size = {0.25, 0, 0}},
    {.kind = YK_SHAPE_HULL, .body = 2, .end_body = 2, UPRIGHT, .points = cube, .point_count = 11},
    {.kind = YK_SHAPE_LINE, .body = YK_SCENE_GROUND, .end_body = 0, UPRIGHT, .size = {1, 0, 0}},
    {.kind = YK_SHAPE_SPHERE, .body = 2, .end_body = 2, UPRIGHT, .size = {2, 0, 0}},
    {.kind = YK_SHAPE_CAPSULE, .body = 2, .end_body = 2, UPRIGHT, .size = {1, 0, 2}},
    {.kind = YK_SHAPE_PLANE, .body = YK_SCENE_GROUND, .end_body = YK_SCENE_GROUND, UPRIGHT},
};

static const yk_record_scene scene = {
    .subsystems = subsystems,
    .solvers = solvers,
    .subsystem_count = 2,
    .bodies = bodies,
    .body_count = 3,
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof *shapes,
    .up = {0, 0, 1},
};

/* Positions of two bodies, an orientation and a strain: the arm makes quarter turns about z. */
static void fill_frame(int frame, float *values)
{
    float half = 0.25F * 3.14159265F * (float)frame;
    const float filled[11] = {(float)frame,       0,          0, 0, 0,
                              2 + (float)frame,   cosf(half), 0, 0, sinf(half),
                              0.5F + (float)frame};
    memcpy(values, filled, sizeof filled);
}

static yk_record *record_scene(test_folder *folder, int frames)
{
    yk_record *record;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    yk_recorder *recorder = yk_record_recorder(record);
    yk_record_header header = sample_header;
    header.scene = &scene;
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    record_samples(recorder, 0, 3);
    for (int i = 0; i < frames; i++) {
        float values[11];
        fill_frame(i, values);
        assert_int_equal(yk_recorder_frame(recorder, 0.5 * i, values), YK_OK);
    }
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    return record;
}

/* All numbers of a dataset, which has so many. */
static void read_dataset(hid_t file, const char *name, hid_t type, size_t count, void *values)
{
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(dataset >= 0);
    hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    if (count > 0)
        assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
}

static int64_t read_number(hid_t file, const char *name)
{
    int64_t number;
    read_dataset(file, name, H5T_NATIVE_INT64, 1, &number);
    return number;
}

/* Cells of one kind, whose offsets and points are sound; returns how many there are. */
static int64_t check_cells(hid_t file, const char *kind, int64_t points, int64_t *edges)
{
    char name[64];
    snprintf(name, sizeof name, "VTKHDF/%s/NumberOfCells", kind);
    int64_t cells = read_number(file, name);
    snprintf(name, sizeof name, "VTKHDF/%s/NumberOfConnectivityIds", kind);
    int64_t ids = read_number(file, name);

    int64_t *offsets = calloc((size_t)cells + 1, sizeof *offsets);
    snprintf(name, sizeof name, "VTKHDF/%s/Offsets", kind);
    read_dataset(file, name, H5T_NATIVE_INT64, (size_t)cells + 1, offsets);
    assert_int_equal(offsets[0], 0);
    for (int64_t i = 0; i < cells; i++)
        assert_true(offsets[i + 1] > offsets[i]);
    assert_int_equal(offsets[cells], ids);
    free(offsets);

    int64_t *connectivity = calloc((size_t)ids + 1, sizeof *connectivity);
    snprintf(name, sizeof name, "VTKHDF/%s/Connectivity", kind);
    read_dataset(file, name, H5T_NATIVE_INT64, (size_t)ids, connectivity);
    for (int64_t i = 0; i < ids; i++)
        assert_true(connectivity[i] >= 0 && connectivity[i] < points);
    free(connectivity);
    *edges = ids;
    return cells;
}

static void steps_and_cells_are_as_specified(void **state)
{
    test_folder *folder = *state;
    yk_record *record = record_scene(folder, FRAMES);
    const char *path = in_folder(folder, "scene.vtkhdf");
    assert_int_equal(yk_record_export_vtkhdf(folder->context, record, path), YK_OK);
    assert_int_equal(yk_record_export_vtkhdf(folder->context, record, path), YK_OK); /* again */
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);

    /* 8 corners, a particle, 11 points, 2 ends; 11 rings and 2 poles, 12 rings and 2 poles. */
    int64_t points = read_number(file, "VTKHDF/NumberOfPoints");
    int64_t solid = 8 + 11 + (11 * 24 + 2) + (12 * 24 + 2);
    assert_int_equal(points, solid + 1 + 2);
    int64_t corners;
    assert_int_equal(check_cells(file, "Vertices", points, &corners), 1);
    assert_int_equal(check_cells(file, "Lines", points, &corners), 1);
    assert_int_equal(corners, 2);
    assert_int_equal(check_cells(file, "Strips", points, &corners), 0);

    /* The surfaces of four bodies are closed: corners - edges + faces = 2 of each. Of the
     * hull's points one is inside of it, and two are inside of faces. */
    int64_t faces = check_cells(file, "Polygons", points, &corners);
    assert_int_equal(faces, 6 + 6 + 12 * 24 + 13 * 24);
    assert_int_equal(corners % 2, 0);
    assert_int_equal(solid - 3 - corners / 2 + faces, 2 * 4);

    /* Every step has its own points, and the cells of the first. */
    int64_t ids[4 * FRAMES];
    read_dataset(file, "VTKHDF/Steps/PointOffsets", H5T_NATIVE_INT64, FRAMES, ids);
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(ids[i], i * points);
    read_dataset(file, "VTKHDF/Steps/NumberOfParts", H5T_NATIVE_INT64, FRAMES, ids);
    assert_int_equal(ids[FRAMES - 1], 1);
    read_dataset(file, "VTKHDF/Steps/CellOffsets", H5T_NATIVE_INT64, 4 * FRAMES, ids);
    read_dataset(file, "VTKHDF/Steps/ConnectivityIdOffsets", H5T_NATIVE_INT64, 4 * FRAMES, ids);
    assert_int_equal(ids[4 * FRAMES - 1], 0);
    double times[FRAMES];
    read_dataset(file, "VTKHDF/Steps/Values", H5T_NATIVE_DOUBLE, FRAMES, times);
    assert_near(times[2], 1.0, 0);

    H5Fclose(file);
    yk_record_destroy(record);
}

static void points_are_where_frames_have_them(void **state)
{
    test_folder *folder = *state;
    yk_record *record = record_scene(folder, FRAMES);
    const char *path = in_folder(folder, "scene.vtkhdf");
    assert_int_equal(yk_record_export_vtkhdf(folder->context, record, path), YK_OK);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    size_t points = (size_t)read_number(file, "VTKHDF/NumberOfPoints");
    float *at = calloc(points * FRAMES, 3 * sizeof *at);
    float *numbers = calloc(points * FRAMES, sizeof *numbers);

    /* The first corner of the box (-1, -2, -3) turns by 90 degrees from frame to frame. */
    read_dataset(file, "VTKHDF/Points", H5T_NATIVE_FLOAT, points * FRAMES * 3, at);
    const double turned[FRAMES][2] = {{-1, -2}, {2, -1}, {1, 2}, {-2, 1}, {-1, -2}};
    for (size_t i = 0; i < FRAMES; i++) {
        const float *corner = at + 3 * i * points;
        assert_near((double)corner[0], (double)i + turned[i][0], 1e-5);
        assert_near((double)corner[1], turned[i][1], 1e-5);
        assert_near((double)corner[2], -3, 1e-5);
        const float *particle = corner + 3 * 8L;
        assert_near((double)particle[2], 2 + (double)i, 0);
    }

    /* The owners of the points, in all steps; and the strain of each step. */
    read_dataset(file, "VTKHDF/PointData/radius", H5T_NATIVE_FLOAT, points, numbers);
    assert_near((double)numbers[8], 0.25, 0);
    assert_near((double)numbers[9], 0, 0);
    read_dataset(file, "VTKHDF/PointData/subsystem", H5T_NATIVE_FLOAT, points, numbers);
    assert_near((double)numbers[7], 0, 0);
    assert_near((double)numbers[8], 1, 0);
    read_dataset(file, "VTKHDF/PointData/body", H5T_NATIVE_FLOAT, points, numbers);
    assert_near((double)numbers[9], 2, 0);
    read_dataset(file, "VTKHDF/PointData/strain", H5T_NATIVE_FLOAT, points * FRAMES, numbers);
    assert_near((double)numbers[3 * points], 3.5, 0);
    assert_near((double)numbers[3 * points + 8], 0, 0);

    free(at);
    free(numbers);
    H5Fclose(file);
    yk_record_destroy(record);
}

static void what_cannot_be_written_is_said(void **state)
{
    test_folder *folder = *state;
    yk_record *record = record_scene(folder, 0);
    const char *path = in_folder(folder, "scene.vtkhdf");
    assert_int_equal(yk_record_export_vtkhdf(folder->context, record, path), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_last_message(folder->context), "no frames"));
    assert_false(file_exists(path));
    yk_record_destroy(record);

    record = record_scene(folder, 1);
    path = in_folder(folder, "absent/scene.vtkhdf");
    assert_int_equal(yk_record_export_vtkhdf(folder->context, record, path), YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(folder->context), "absent/scene.vtkhdf"));
    yk_record_destroy(record);
}

/* A particle that is not there in a frame has no size in it, and bounds of the scene stay finite. */
static void particles_that_come_and_go(void **state)
{
    test_folder *folder = *state;
    yk_record *record;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    yk_recorder *recorder = yk_record_recorder(record);
    yk_record_header header = sample_header;
    header.scene = &scene;
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    record_samples(recorder, 0, 3);
    for (int i = 0; i < 3; i++) {
        float values[11];
        fill_frame(i, values);
        if (i != 1)
            values[3] = values[4] = values[5] = NAN;
        assert_int_equal(yk_recorder_frame(recorder, 0.5 * i, values), YK_OK);
    }
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);

    const char *path = in_folder(folder, "flow.vtkhdf");
    assert_int_equal(yk_record_export_vtkhdf(folder->context, record, path), YK_OK);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    size_t points = (size_t)read_number(file, "VTKHDF/NumberOfPoints");
    float *at = calloc(points * 3, 3 * sizeof *at);
    float *radii = calloc(points * 3, sizeof *radii);
    int64_t offsets[3];
    read_dataset(file, "VTKHDF/Points", H5T_NATIVE_FLOAT, points * 3 * 3, at);
    read_dataset(file, "VTKHDF/PointData/radius", H5T_NATIVE_FLOAT, points * 3, radii);
    read_dataset(file, "VTKHDF/Steps/PointDataOffsets/radius", H5T_NATIVE_INT64, 3, offsets);
    for (size_t i = 0; i < 9 * points; i++)
        assert_true(isfinite(at[i]));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(offsets[i], i * points);
        assert_near(radii[i * points + 8], i == 1 ? 0.25 : 0, 0);
    }
    assert_near(at[3 * (points + 8) + 2], 3, 0);
    free(at);
    free(radii);
    H5Fclose(file);
    yk_record_destroy(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_and_cells_are_as_specified, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(points_are_where_frames_have_them, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(particles_that_come_and_go, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_said, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
