/* Surfaces from STL and OBJ: a cube of 2 mm in every format, and files with mistakes. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "loading.h"
#include "model/files.h"

static const float corners[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                                    {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};
static const int faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                {2, 3, 7, 6}, {1, 2, 6, 5}, {0, 4, 7, 3}};

static char path[100];

static FILE *open_file(const char *ending)
{
    snprintf(path, sizeof path, "/tmp/yoke-mesh-%d%s", (int)getpid(), ending);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    return file;
}

static void write_triangle(FILE *file, bool binary, const int *face, int k)
{
    const int three[3] = {face[0], face[k], face[k + 1]};
    if (binary) {
        const float normal[3] = {0, 0, 0};
        fwrite(normal, sizeof normal, 1, file);
        for (int i = 0; i < 3; i++)
            fwrite(corners[three[i]], sizeof corners[0], 1, file);
        fwrite("\0", 1, 2, file);
        return;
    }
    fprintf(file, "  facet normal 0 0 0\n    outer loop\n");
    for (int i = 0; i < 3; i++) {
        const float *c = corners[three[i]];
        fprintf(file, "      vertex %g %g %e\n", (double)c[0], (double)c[1], (double)c[2]);
    }
    fprintf(file, "    endloop\n  endfacet\n");
}

/* The volume by the divergence theorem: right only if all triangles look outwards. */
static double volume_of(const yk_mesh *m)
{
    double sum = 0;
    for (int i = 0; i < m->triangle_count; i++) {
        const int *t = m->triangles[i];
        yk_vec3 a = m->points[t[0]];
        yk_vec3 b = m->points[t[1]];
        yk_vec3 c = m->points[t[2]];
        sum += a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) +
               a.z * (b.x * c.y - b.y * c.x);
    }
    return sum / 6;
}

static void check_cube(yk_context *context)
{
    yk_mesh mesh;
    if (yk_mesh_read(context, path, 1e-3, &mesh) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    assert_int_equal(mesh.point_count, 8);
    assert_int_equal(mesh.triangle_count, 12);
    assert_true(fabs(volume_of(&mesh) - 8e-9) < 1e-20);
    yk_mesh_release(context, &mesh);
    unlink(path);
}

static void test_stl(void **state)
{
    for (int binary = 0; binary < 2; binary++) {
        /* A binary file whose header begins as a text would is binary still. */
        FILE *file = open_file(".stl");
        char header[80] = "solid of the program that wrote it";
        uint32_t count = 12;
        if (binary) {
            fwrite(header, sizeof header, 1, file);
            fwrite(&count, sizeof count, 1, file);
        } else {
            fprintf(file, "solid cube\n");
        }
        for (int i = 0; i < 6; i++)
            for (int k = 1; k < 3; k++)
                write_triangle(file, binary, faces[i], k);
        if (!binary)
            fprintf(file, "endsolid cube\n");
        fclose(file);
        check_cube(*state);
    }
}

static void test_obj(void **state)
{
    FILE *file = open_file(".OBJ");
    fprintf(file, "# a cube\no cube\n");
    for (int i = 0; i < 8; i++)
        fprintf(file, "v %g %g %g\n", (double)corners[i][0], (double)corners[i][1],
                (double)corners[i][2]);
    fprintf(file, "vn 0 0 1\nvt 0 0\n");
    for (int i = 0; i < 6; i++) {
        fprintf(file, "f");
        for (int k = 0; k < 4; k++)
            fprintf(file, i % 2 ? " %d/1/1" : " %d", i % 3 ? faces[i][k] + 1 : faces[i][k] - 8);
        fprintf(file, "\n");
    }
    fclose(file);
    check_cube(*state);
}

static void expect(yk_context *context, const char *ending, const char *text, const char *message)
{
    FILE *file = open_file(ending);
    fputs(text, file);
    fclose(file);
    yk_mesh mesh;
    assert_true(YK_FAILED(yk_mesh_read(context, path, 1, &mesh)));
    if (!strstr(yk_last_message(context), message))
        fail_msg("expected '%s', got '%s'", message, yk_last_message(context));
    assert_null(mesh.points);
    unlink(path);
}

static void test_mistakes(void **state)
{
    yk_context *c = *state;
    expect(c, ".ply", "ply", "use a name that ends in .stl or .obj");
    expect(c, ".stl", "", "is no STL file");
    expect(c, ".stl", "solid a\nendsolid a\n", "has no triangles");
    expect(c, ".stl", "solid a\nfacet\nouter loop\nvertex 1 2 x\n", ":4: after 'vertex' three");
    expect(c, ".stl", "solid a\nvertex 1 2 3\nvertex 1 2 4\nendloop\n",
           ":4: a facet has 2 corners");
    expect(c, ".stl", "solid\nvertex 1 2 nan\n", "after 'vertex' three numbers");
    expect(c, ".obj", "v 1 2\n", ":1: after 'v' three numbers");
    expect(c, ".obj", "v 1 2 3\nf 1 2 3\n", ":2: there is no corner 2; 1 have come so far");
    expect(c, ".obj", "v 1 2 3\nv 1 2 4\nf 1 -2\n", ":3: a face has at least 3 corners");
    expect(c, ".obj", "v 1 2 3\nf 99999999999999999999 1 1\n", ":2: there is no corner");
    yk_mesh mesh;
    assert_int_equal(yk_mesh_read(c, "/nowhere/a.stl", 1, &mesh), YK_ERROR_FILE);

    /* A binary file that is cut, of which only the count is there. */
    FILE *file = open_file(".stl");
    char header[80] = "";
    uint32_t count = 1000;
    fwrite(header, sizeof header, 1, file);
    fwrite(&count, sizeof count, 1, file);
    fclose(file);
    assert_int_equal(yk_mesh_read(c, path, 1, &mesh), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_last_message(c), "ends in triangle 1 of 1000"));
    unlink(path);
}

/* In a scenario: a hull from a file falls on a mesh from a file. */
static void test_scenario(void **state)
{
    (void)state;
    FILE *file = open_file(".obj");
    for (int i = 0; i < 8; i++)
        fprintf(file, "v %g %g %g\n", (double)corners[i][0] - 1, (double)corners[i][1] - 1,
                (double)corners[i][2] - 1);
    for (int i = 0; i < 6; i++)
        fprintf(file, "f %d %d %d %d\n", faces[i][0] + 1, faces[i][1] + 1, faces[i][2] + 1,
                faces[i][3] + 1);
    fclose(file);
    char text[1000];
    snprintf(text, sizeof text,
             "time: {end: 1, step: 1e-3}\n"
             "subsystems:\n"
             "  a:\n"
             "    solver: nonsmooth\n"
             "    gravity: [0, 0, -9.81]\n"
             "    ground_shapes: [{type: mesh, file: %s, scale: 0.5}]\n"
             "    bodies:\n"
             "      one: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0.7],\n"
             "            shapes: [{type: hull, file: %s, scale: 0.1}]}\n"
             "    ports: {end: {body: one}}\n",
             path, path);
    loading l = load_good(text);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 1000; i++)
        assert_true(!YK_FAILED(yk_system_step(system, NULL)));
    const yk_port_value *end = yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0});
    assert_true(fabs(end->motion.position.z - 0.6) < 1e-3);
    unload(&l);

    l = load_text("time: {end: 1, step: 1e-3}\n"
                  "subsystems:\n"
                  "  a: {solver: nonsmooth, ground_shapes: [{type: mesh}]}\n");
    assert_non_null(strstr(l.text, "a mesh has 'points' and 'triangles', or a 'file'"));
    unload(&l);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stl),
        cmocka_unit_test(test_obj),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_scenario),
    };
    return cmocka_run_group_tests_name("mesh_file", tests, create_context, destroy_context);
}
