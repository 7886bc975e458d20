/* Modal bodies from files: the same body from lumped masses, from its invariants and from the
 * record groups of another program, and what is said about files that are wrong. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "failing_allocator.h"
#include "model/modal.h"
#include "multibody/def.h"
#include "test.h"

enum { NODES = 6, MODES = 3 };

/* A crooked body of lumps with inertia of their own and shapes that move, turn and draw in. */
typedef struct lumps {
    double mass[NODES];
    yk_vec3 position[NODES];
    double rotary[NODES][3];
    yk_vec3 shape[MODES][NODES], rotation[MODES][NODES];
    yk_vec3 bend[MODES][MODES][NODES];
    double frequency[MODES];
} lumps;

static lumps make_lumps(bool rotary, bool bends)
{
    lumps l = {.frequency = {20, 31, 57}};
    for (int k = 0; k < NODES; k++) {
        l.mass[k] = 0.2 + 0.03 * k;
        l.position[k] = yk_v3(0.2 * k, 0.05 * sin(k), 0.03 * cos(2 * k));
        for (int d = 0; d < 3 && rotary; d++)
            l.rotary[k][d] = 1e-3 * (1 + 0.1 * d + 0.05 * k);
        for (int i = 0; i < MODES; i++) {
            double x = 0.2 * k;
            l.shape[i][k] =
                yk_v3(0.1 * x * sin(i + k), x * x * cos((i + 1) * x), x * x * sin(2 * i + 3 * x));
            if (rotary)
                l.rotation[i][k] = yk_v3(0.3 * x * i, -x * cos(i + x), x * sin(i + 2 * x));
            for (int j = 0; j < MODES && bends; j++)
                l.bend[i][j][k] =
                    yk_v3(-x * x * x * cos(i - j), 0.1 * x * x * sin(i + j), 0.05 * x * x);
        }
    }
    return l;
}

/* Files ---------------------------------------------------------------------------------------- */

typedef struct folder {
    char path[64];
    char names[8][96];
    int count;
} folder;

static FILE *open_file(folder *f, const char *name)
{
    if (f->count == 0) {
        strcpy(f->path, "/tmp/yoke-modal-XXXXXX");
        assert_non_null(mkdtemp(f->path));
    }
    char path[sizeof f->names[0]];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    strcpy(f->names[f->count++], path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static const char *write_file(folder *f, const char *name, const char *text)
{
    FILE *file = open_file(f, name);
    fputs(text, file);
    fclose(file);
    return f->names[f->count - 1];
}

static void remove_folder(folder *f)
{
    static const char *const written[] = {"nodes.csv", "modes.csv", "second_order.csv",
                                          "invariants.csv"};
    char path[128];
    for (int i = 0; i < f->count; i++)
        unlink(f->names[i]);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", f->path, written[i]);
        unlink(path);
    }
    rmdir(f->path);
}

static yk_modal_files write_tables(folder *f, const lumps *l, bool bends)
{
    yk_modal_files files = {0};
    FILE *nodes = open_file(f, "n.csv");
    files.nodes = f->names[f->count - 1];
    fprintf(nodes, "# lumps\nmass,node,x,y,z,ixx,iyy,izz,colour\n");
    FILE *modes = open_file(f, "m.csv");
    files.modes = f->names[f->count - 1];
    fprintf(modes, "mode,node,ux,uy,uz,rx,ry,rz\n");
    FILE *second = bends ? open_file(f, "s.csv") : NULL;
    if (bends)
        files.second_order = f->names[f->count - 1], fprintf(second, "mode,other,node,ux,uy,uz\n");
    for (int k = 0; k < NODES; k++) {
        yk_vec3 at = l->position[k];
        fprintf(nodes, "%.17g,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,red\n", l->mass[k], 10 * k,
                at.x, at.y, at.z, l->rotary[k][0], l->rotary[k][1], l->rotary[k][2]);
        for (int i = 0; i < MODES; i++) {
            yk_vec3 u = l->shape[i][k], t = l->rotation[i][k];
            fprintf(modes, "%d,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", i + 1, 10 * k, u.x, u.y,
                    u.z, t.x, t.y, t.z);
            for (int j = i; j < MODES && bends; j++) {
                yk_vec3 g = l->bend[i][j][k];
                fprintf(second, "%d,%d,%d,%.17g,%.17g,%.17g\n", j + 1, i + 1, 10 * k, g.x, g.y,
                        g.z);
            }
        }
    }
    fclose(nodes), fclose(modes);
    if (second)
        fclose(second);
    FILE *frequencies = open_file(f, "f.csv");
    files.frequencies = f->names[f->count - 1];
    fprintf(frequencies, "mode,frequency,damping\n");
    for (int i = 0; i < MODES; i++)
        fprintf(frequencies, "%d,%.17g,0.01\n", i + 1, l->frequency[i]);
    fclose(frequencies);
    return files;
}

static yk_flexible *read_body(yk_context *context, const yk_modal_files *files, const int points[2])
{
    yk_flexible *body;
    yk_status status = yk_modal_read(context, files, points, points ? 2 : 0, &body);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    return body;
}

static const int ends[2] = {0, 10 * (NODES - 1)};

/* The same body -------------------------------------------------------------------------------- */

static void assert_matrix(const yk_mat3 *a, const yk_mat3 *b, double tolerance)
{
    for (int k = 0; k < 9; k++)
        assert_near(a->m[k / 3][k % 3], b->m[k / 3][k % 3], tolerance);
}

static void assert_vector(yk_vec3 a, yk_vec3 b, double tolerance)
{
    assert_near(yk_v3_norm(yk_v3_sub(a, b)), 0, tolerance);
}

static void assert_same(const yk_ffrf *a, const yk_ffrf *b, double tolerance)
{
    int n = a->modes;
    assert_int_equal(n, b->modes);
    assert_near(a->mass, b->mass, tolerance);
    assert_vector(a->moment, b->moment, tolerance);
    assert_matrix(&a->second, &b->second, tolerance);
    for (int i = 0; i < n; i++) {
        assert_vector(a->shift[i], b->shift[i], tolerance);
        assert_matrix(&a->spread[i], &b->spread[i], tolerance);
    }
    for (int k = 0; k < n * n; k++) {
        assert_matrix(&a->pair[k], &b->pair[k], tolerance);
        assert_vector(a->curve[k], b->curve[k], tolerance);
        assert_vector(a->gyro[k], b->gyro[k], 4 * tolerance);
        assert_near(a->modal_mass[k], b->modal_mass[k], tolerance);
        assert_relative(1 + a->stiffness[k], 1 + b->stiffness[k], tolerance);
        assert_near(a->damping[k], b->damping[k], 1e3 * tolerance);
    }
}

/* A pendulum on the body's first point, turning and falling; where its last point is after a
 * while. */
static yk_vec3 swing(yk_context *context, const yk_flexible *body)
{
    yk_multibody_description def = yk_multibody_description_empty();
    yk_multibody_node_def node = yk_multibody_node_default();
    node.name = "frame", node.angular_velocity = yk_v3(1, 2, 6);
    yk_multibody_flexible_def flexible = yk_multibody_flexible_default();
    flexible.name = "body", flexible.body = body, flexible.node = 0;
    const yk_multibody_attachment_def places[2] = {{"near", 0, 0}, {"far", 0, 1}};
    yk_joint_def joint = yk_joint_default();
    joint.name = "ball", joint.kind = YK_JOINT_SPHERICAL, joint.bodies[1] = (yk_body_id){1};
    joint.markers[0].offset = yk_flexible_attachment(body, 0);
    def.gravity = yk_v3(0, 0, -9.81);
    def.nodes = &node, def.node_count = 1;
    def.flexibles = &flexible, def.flexible_count = 1;
    def.attachments = places, def.attachment_count = 2;
    def.joints = &joint, def.joint_count = 1;
    def.options.newton_relative_tolerance = 1e-10, def.options.newton_absolute_tolerance = 1e-13;
    yk_multibody *model;
    assert_int_equal(yk_multibody_make(context, &def, &model), YK_OK);
    assert_true(!YK_FAILED(yk_multibody_start(model, 0, 1e-3)));
    for (int i = 0; i < 200; i++)
        assert_int_equal(yk_multibody_step(model, i * 1e-3, 1e-3), YK_OK);
    yk_motion motion;
    yk_multibody_motion(model, 2, &motion);
    yk_multibody_destroy(model);
    return motion.position;
}

/* Lumped masses, and the invariants that were written of them. */
static void invariants_make_the_same_body(void **state)
{
    for (int bends = 0; bends < 2; bends++) {
        folder f = {0};
        lumps l = make_lumps(true, bends);
        yk_modal_files files = write_tables(&f, &l, bends);
        yk_flexible *lumped = read_body(*state, &files, ends);
        assert_int_equal(yk_modal_write(*state, lumped, f.path), YK_OK);
        char path[4][96];
        static const char *const names[] = {"nodes.csv", "modes.csv", "second_order.csv",
                                            "invariants.csv"};
        for (int i = 0; i < 4; i++)
            snprintf(path[i], sizeof path[i], "%s/%s", f.path, names[i]);
        yk_modal_files again = {.nodes = path[0],
                                .modes = path[1],
                                .second_order = bends ? path[2] : NULL,
                                .invariants = path[3]};
        const int places[2] = {1, 2};
        yk_flexible *given = read_body(*state, &again, places);
        assert_same(&lumped->modal, &given->modal, 1e-14);
        assert_int_equal(given->nodes[1].bend_count, bends ? MODES * MODES : 0);
        yk_vec3 one = swing(*state, lumped), other = swing(*state, given);
        assert_vector(one, other, 1e-12);
        /* The shapes of second order are seen at all. */
        if (bends) {
            files.second_order = NULL;
            yk_flexible *without = read_body(*state, &files, ends);
            assert_true(yk_v3_norm(yk_v3_sub(swing(*state, without), one)) > 1e-6);
            yk_flexible_release(without);
        }
        yk_flexible_release(given);
        yk_flexible_release(lumped);
        remove_folder(&f);
    }
}

/* Shapes in any unit move the body the same, and cost the same. */
static void normalisation_does_not_matter(void **state)
{
    yk_vec3 first = {0, 0, 0};
    static const double scales[] = {1, 1e-8, 1e8};
    for (int k = 0; k < 3; k++) {
        folder f = {0};
        lumps l = make_lumps(true, false);
        for (int i = 0; i < MODES * NODES; i++) {
            yk_vec3 *shape = &l.shape[0][0] + i, *rotation = &l.rotation[0][0] + i;
            *shape = yk_v3_scale(scales[k], *shape), *rotation = yk_v3_scale(scales[k], *rotation);
        }
        yk_modal_files files = write_tables(&f, &l, false);
        yk_flexible *body = read_body(*state, &files, ends);
        yk_vec3 at = swing(*state, body);
        if (k == 0)
            first = at;
        assert_vector(at, first, 1e-11);
        yk_flexible_release(body);
        remove_folder(&f);
    }
}

/* Modes are chosen by their numbers; without points and nodes the frame is all there is. */
static void modes_can_be_chosen(void **state)
{
    folder f = {0};
    lumps l = make_lumps(true, false);
    yk_modal_files files = write_tables(&f, &l, false);
    yk_flexible *whole = read_body(*state, &files, ends);
    const double chosen[2] = {3, 1};
    files.use = chosen, files.use_count = 2;
    yk_flexible *part = read_body(*state, &files, ends);
    assert_int_equal(part->modal.modes, 2);
    assert_near(part->modal.stiffness[3], whole->modal.stiffness[8], 0);
    assert_vector(part->modal.gyro[1], whole->modal.gyro[2], 1e-15);
    assert_int_equal(yk_modal_write(*state, whole, f.path), YK_OK);
    char path[96];
    snprintf(path, sizeof path, "%s/invariants.csv", f.path);
    yk_modal_files bare = {.invariants = path, .use = chosen, .use_count = 2, .damping_ratio = 0.5};
    yk_flexible *again = read_body(*state, &bare, NULL);
    assert_same(&part->modal, &again->modal, 1e-14);
    assert_true(again->length > 0.3 && again->length < 3);
    yk_flexible_release(again);
    yk_flexible_release(part);
    yk_flexible_release(whole);
    remove_folder(&f);
}

/* Record groups of MBDyn's modal joint --------------------------------------------------------- */

enum { LUMPED = 1, RIGID = 2, INVARIANTS = 4, STRESS = 8 };

static void write_rows(FILE *file, int rows, int columns, const double *values)
{
    for (int k = 0; k < rows * columns; k++)
        fprintf(file, "%.17g%c", values[k], k % columns == columns - 1 ? '\n' : ' ');
    fprintf(file, "**\n");
}

static double component(yk_vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* Invariants by their definitions, summed over the lumps. */
static void write_shape_records(FILE *file, const lumps *l)
{
    double inv3[3][MODES] = {0}, inv4[3][MODES] = {0}, inv8[3][MODES][3] = {0};
    double inv5[3][MODES][MODES] = {0}, inv9[3][MODES][MODES][3] = {0};
    for (int k = 0; k < NODES; k++)
        for (int i = 0; i < MODES; i++) {
            double m = l->mass[k];
            yk_vec3 u = l->position[k], s = l->shape[i][k], rotated = yk_v3_cross(u, s);
            yk_mat3 eight = yk_m3_scale(-m, yk_m3_mul(yk_m3_skew(u), yk_m3_skew(s)));
            for (int r = 0; r < 3; r++) {
                inv3[r][i] += m * component(s, r);
                inv4[r][i] += m * component(rotated, r);
                for (int c = 0; c < 3; c++)
                    inv8[r][i][c] += eight.m[r][c];
                for (int j = 0; j < MODES; j++) {
                    yk_vec3 other = l->shape[j][k];
                    yk_mat3 nine = yk_m3_scale(m, yk_m3_mul(yk_m3_skew(s), yk_m3_skew(other)));
                    inv5[r][i][j] += m * component(yk_v3_cross(s, other), r);
                    for (int c = 0; c < 3; c++)
                        inv9[r][i][j][c] += nine.m[r][c];
                }
            }
        }
    fprintf(file, "** RECORD GROUP 14, INVARIANT 3\n");
    write_rows(file, 3, MODES, &inv3[0][0]);
    fprintf(file, "** RECORD GROUP 15, INVARIANT 4\n");
    write_rows(file, 3, MODES, &inv4[0][0]);
    fprintf(file, "** RECORD GROUP 16, INVARIANT 8\n");
    write_rows(file, 3, 3 * MODES, &inv8[0][0][0]);
    fprintf(file, "** RECORD GROUP 17, INVARIANT 5\n");
    write_rows(file, 3, MODES * MODES, &inv5[0][0][0]);
    fprintf(file, "** RECORD GROUP 18, INVARIANT 9\n");
    write_rows(file, 3, 3 * MODES * MODES, &inv9[0][0][0][0]);
}

/* The stiffness that a load adds where points move by g_ij: minus its work on them. Loads by
 * motion are -m (a at u0). */
static double stress(const lumps *l, int load, int i, int j)
{
    double sum = 0;
    if (load >= 12) {
        yk_vec3 g = l->bend[i][j][(load - 12) / 6];
        return (load - 12) % 6 < 3 ? -component(g, (load - 12) % 6) : 0;
    }
    static const int first[] = {0, 1, 2, 0, 1, 2}, second[] = {0, 1, 2, 1, 2, 0};
    for (int k = 0; k < NODES; k++) {
        yk_vec3 a = {0, 0, 0}, unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        if (load < 6) { /* w x (w x u0), the part with this product of the components of w */
            int p = first[load], q = second[load];
            a = yk_v3_cross(unit[p], yk_v3_cross(unit[q], l->position[k]));
            if (p != q)
                a = yk_v3_add(a, yk_v3_cross(unit[q], yk_v3_cross(unit[p], l->position[k])));
        } else if (load < 9) {
            a = yk_v3_cross(unit[load - 6], l->position[k]);
        } else {
            a = unit[load - 9];
        }
        sum += l->mass[k] * yk_v3_dot(a, l->bend[i][j][k]);
    }
    return sum;
}

static void write_stress_records(FILE *file, const lumps *l)
{
    enum { LOADS = 12 + 6 * NODES };
    fprintf(file, "** RECORD GROUP 19, MODAL STRESS STIFFENING MATRIX\n%d\n", LOADS);
    for (int load = 0; load < LOADS; load++) {
        fprintf(file, "%d\n", load + 1);
        for (int i = 0; i < MODES; i++)
            for (int j = 0; j < MODES; j++)
                fprintf(file, "%.17g\n", stress(l, load, i, j));
    }
    fprintf(file, "**\n");
}

static void write_rigid_record(FILE *file, const yk_ffrf *body)
{
    yk_inertia rigid = yk_ffrf_inertia(body, NULL);
    yk_vec3 centre = yk_v3_scale(1 / body->mass, body->moment);
    yk_mat3 arm = yk_m3_skew(centre),
            about = yk_m3_add(rigid.tensor, yk_m3_scale(body->mass, yk_m3_mul(arm, arm)));
    fprintf(file, "** RECORD GROUP 12, RIGID BODY INERTIA MATRIX\n%.17g\n%.17g %.17g %.17g\n",
            body->mass, centre.x, centre.y, centre.z);
    write_rows(file, 3, 3, &about.m[0][0]);
}

static const char *write_fem(folder *f, const char *name, const lumps *l, const yk_ffrf *body,
                             unsigned records)
{
    FILE *file = open_file(f, name);
    fprintf(file,
            "** MODAL DATA\n** RECORD GROUP 1,HEADER\n**   REVISION,  NODE,  NORMAL, ...\nREV0 %d "
            "%d 0 0 0\n**\n",
            NODES, MODES);
    fprintf(file, "** RECORD GROUP 2,FINITE ELEMENT NODE LIST\n");
    for (int k = 0; k < NODES; k++)
        fprintf(file, " %d", 10 * k);
    for (int d = 0; d < 3; d++) {
        fprintf(file, "\n** RECORD GROUP %d,NODAL COORDINATES\n", 5 + d);
        for (int k = 0; k < NODES; k++)
            fprintf(file, "%.17g\n", component(l->position[k], d));
    }
    fprintf(file, "** RECORD GROUP 8,MODE SHAPES\n");
    for (int i = 0; i < MODES; i++) {
        fprintf(file, "** NORMAL MODE SHAPE # %d\n", i + 1);
        for (int k = 0; k < NODES; k++) {
            yk_vec3 u = l->shape[i][k], t = l->rotation[i][k];
            fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g\n", u.x, u.y, u.z, t.x, t.y, t.z);
        }
    }
    fprintf(file, "** RECORD GROUP 9,MODAL MASS MATRIX\n");
    write_rows(file, MODES, MODES, body->modal_mass);
    fprintf(file, "** RECORD GROUP 10,MODAL STIFFNESS MATRIX\n");
    write_rows(file, MODES, MODES, body->stiffness);
    fprintf(file, "** RECORD GROUP 13,MODAL DAMPING MATRIX\n");
    write_rows(file, MODES, MODES, body->damping);
    if (records & LUMPED) {
        fprintf(file, "** RECORD GROUP 11,DIAGONAL OF LUMPED MASS MATRIX\n");
        for (int k = 0; k < NODES; k++)
            fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g\n", l->mass[k], l->mass[k],
                    l->mass[k], l->rotary[k][0], l->rotary[k][1], l->rotary[k][2]);
    }
    if (records & RIGID)
        write_rigid_record(file, body);
    if (records & INVARIANTS)
        write_shape_records(file, l);
    if (records & STRESS)
        write_stress_records(file, l);
    fprintf(file, "** END OF FILE\n");
    fclose(file);
    return f->names[f->count - 1];
}

static void record_groups_make_the_same_body(void **state)
{
    static const unsigned cases[] = {LUMPED, LUMPED | RIGID, RIGID | INVARIANTS,
                                     RIGID | INVARIANTS | STRESS, LUMPED | STRESS};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        folder f = {0};
        bool bends = cases[k] & STRESS;
        lumps l = make_lumps(!(cases[k] & INVARIANTS) && !bends, bends);
        yk_modal_files tables = write_tables(&f, &l, bends);
        yk_flexible *lumped = read_body(*state, &tables, ends);
        yk_modal_files files = {.fem = write_fem(&f, "body.fem", &l, &lumped->modal, cases[k])};
        yk_flexible *body = read_body(*state, &files, ends);
        assert_same(&lumped->modal, &body->modal, 1e-13);
        assert_vector(swing(*state, lumped), swing(*state, body), 1e-11);
        yk_flexible_release(body);
        yk_flexible_release(lumped);
        remove_folder(&f);
    }
}

/* Errors --------------------------------------------------------------------------------------- */

static void refused(yk_context *context, const yk_modal_files *files, const char *part)
{
    static const int points[1] = {7};
    yk_flexible *body;
    yk_status status =
        yk_modal_read(context, files, points, files->nodes || files->fem ? 1 : 0, &body);
    const char *said = status == YK_OK ? "nothing" : yk_last_message(context);
    if (status != YK_ERROR_ARGUMENT || !strstr(said, part))
        print_error("said: %s\nwanted: %s\n", said, part);
    assert_int_equal(status, YK_ERROR_ARGUMENT);
    assert_non_null(strstr(said, part));
    assert_null(body);
}

static void tables_say_what_is_wrong(void **state)
{
    static const char nodes[] = "node,x,y,z,mass\n3,0,0,0,1\n7,1,0,0,1\n";
    static const char modes[] = "mode,node,ux,uy,uz\n1,7,0,1,0\n",
                      frequencies[] = "mode,frequency\n1,20\n";
    static const struct {
        const char *nodes, *modes, *frequencies, *part;
    } wrong[] = {
        {"node,x,y,z\n7,0,0,0\n", modes, frequencies, "n.csv:1: there is no column 'mass'"},
        {"# lumps\nnode,x,y,z,mass\n7,0,0,zero,1\n", modes, frequencies,
         "n.csv:3:7: expected a number under 'z'"},
        {"node,x,y,z,mass\n7,0,0\n", modes, frequencies, "n.csv:2:6: there is nothing under 'z'"},
        {"node,x,y,z,mass\n7.5,0,0,0,1\n", modes, frequencies,
         "n.csv:2:1: expected a whole number under 'node'"},
        {"node,x,y,z,mass\n7,0,0,0,1\n7,1,0,0,1\n", modes, frequencies, "two nodes 7"},
        {"node,x,y,z,mass\n7,0,0,0,-1\n", modes, frequencies,
         "n.csv:2: node 7 has the negative mass"},
        {"node,x,y,z,mass,x\n", modes, frequencies, "n.csv:1:17: there are two columns 'x'"},
        {"", modes, frequencies, "is empty"},
        {"node,x,y,z,mass\n3,0,0,0,1\n", "mode,node,ux,uy,uz\n1,3,0,1,0\n", frequencies,
         "has no node 7"},
        {nodes, "mode,node,ux,uy,uz\n1,8,0,1,0\n", frequencies, "m.csv:2: there is no node 8 in"},
        {nodes, "mode,node,ux,uy,uz\n2,7,0,1,0\n", frequencies, "moves no mass"},
        {nodes, modes, "mode,frequency\n1,0\n",
         "f.csv:2: mode 1 has the frequency 0: leave out the rigid modes"},
        {nodes, modes, "mode,frequency\n", "holds no numbers"},
        {nodes, modes, "mode,frequency\n1,20\n1,30\n", "lists mode 1 twice"},
        {nodes, modes, "mode,frequency,mass\n1,20,0.01\n",
         "the mass matrix of frame and shapes is not positive"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        folder f = {0};
        yk_modal_files files = {.nodes = write_file(&f, "n.csv", wrong[i].nodes),
                                .modes = write_file(&f, "m.csv", wrong[i].modes),
                                .frequencies = write_file(&f, "f.csv", wrong[i].frequencies)};
        refused(*state, &files, wrong[i].part);
        remove_folder(&f);
    }
}

/* Two unit masses at x = 0 and 1, the second of which moves along y; each case adds to it or
 * spoils it. */
#define RIGID_ROWS "mass,,,,2\nmoment,,,x,1\ninertia,,,yy,1\ninertia,,,zz,1\n"
#define MODE_ROWS "momentum,1,,y,1\nspin,1,,z,1\nmodal_mass,1,1,,1\n"
#define NAMES "quantity,i,j,component,value\n"

static void invariants_say_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"quantity,i,j,value\nmass,,,2\n", "there is no column 'component'"},
        {NAMES RIGID_ROWS MODE_ROWS, "has no 'stiffness' of any mode"},
        {NAMES "stiffness,1,1,,9\nmas,,,,2\n",
         "i.csv:3:1: quantity 'mas' not found. Did you mean 'mass'?"},
        {NAMES "stiffness,1,1,,9\nmass,1,,,2\n",
         "i.csv:3:6: 'mass' is no quantity of a mode: leave 'i' empty"},
        {NAMES "stiffness,1,1,,9\nmodal_mass,1,,,2\n",
         "i.csv:3:14: 'modal_mass' belongs to two modes"},
        {NAMES "stiffness,1,1,,9\nmoment,,,xx,2\n",
         "i.csv:3:10: 'moment' has the components x, y, z, not 'xx'"},
        {NAMES "stiffness,1,1,,9\nmass,,,x,2\n", "i.csv:3:8: 'mass' has no components"},
        {NAMES "stiffness,1,1,,9\nmass,,,,two\n",
         "i.csv:3:9: expected a number under 'value', found 'two'"},
        {NAMES "stiffness,1,1,,9\nmass,,,,\n", "i.csv:3:9: there is nothing under 'value'"},
        {NAMES "stiffness,1,1,,9\nstiffness,1,1,,8\n", "lists mode 1 twice"},
        {NAMES "stiffness,1,1,,9\nmass,,,,2\nmass,,,,2\n",
         "i.csv:4:9: this number of 'mass' is already in line 3"},
        {NAMES "stiffness,1,1,,9\n" MODE_ROWS, "has 'momentum' but no 'mass'"},
        {NAMES "stiffness,1,1,,9\nmass,,,,2\n" MODE_ROWS, "has no 'inertia'"},
        {NAMES "stiffness,1,1,,9\n" RIGID_ROWS, "no positive 'modal_mass' of mode 1"},
        {NAMES "stiffness,1,1,,9\ncoriolis,1,1,x,1\n" RIGID_ROWS MODE_ROWS,
         "of a mode with itself is zero"},
        {NAMES "stiffness,1,1,,9\nstiffness,2,2,,9\nstiffness,1,2,,1\nstiffness,2,1,,2\n" RIGID_ROWS
             MODE_ROWS,
         "i.csv:4: 'stiffness' of modes 1 and 2 is 1, but 2 in line 5: they must be the same"},
        {NAMES "stiffness,1,1,,9\nstiffness,2,2,,9\ncoriolis,1,2,x,1\ncoriolis,2,1,x,1\n" RIGID_ROWS
             MODE_ROWS,
         "differ in sign alone"},
        {NAMES "stiffness,1,1,,-9\n" RIGID_ROWS MODE_ROWS, "modal stiffness of shape 1 is -9"},
        {NAMES
         "stiffness,1,1,,9\nstiffness,2,2,,9\nstiffness,1,2,,10\nmodal_mass,2,2,,1\n" RIGID_ROWS
             MODE_ROWS,
         "stiffness matrix is not positive"},
        {NAMES
         "stiffness,1,1,,9\nstiffness,2,2,,9\nmodal_mass,1,2,,1\nmodal_mass,2,2,,1\n" RIGID_ROWS
             MODE_ROWS,
         "modal mass matrix is not positive"},
        {NAMES "stiffness,1,1,,9\ndamping,1,1,,-1\n" RIGID_ROWS MODE_ROWS,
         "modal damping of shape 1 is -1"},
        {NAMES "stiffness,1,1,,9\ninertia,,,xx,5\n" RIGID_ROWS MODE_ROWS,
         "the one about x is larger than the other two"},
        {NAMES "stiffness,1,1,,9\ninertia,,,yz,3\n" RIGID_ROWS MODE_ROWS, "products of inertia"},
        {NAMES "stiffness,1,1,,9\nmass,,,,2\nmoment,,,x,1\ninertia,,,yy,0.2\ninertia,,,zz,0."
               "2\n" MODE_ROWS,
         "inertia (about the frame"},
        {NAMES "stiffness,1,1,,9\n" RIGID_ROWS
               "momentum,1,,y,1\nspin,1,,z,1\nmodal_mass,1,1,,0.01\n",
         "different bodies, units or normalisations"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        folder f = {0};
        yk_modal_files files = {.invariants = write_file(&f, "i.csv", wrong[i].text)};
        refused(*state, &files, wrong[i].part);
        remove_folder(&f);
    }
    /* The files without the errors are valid. */
    folder f = {0};
    yk_modal_files files = {
        .invariants = write_file(&f, "i.csv", NAMES "stiffness,1,1,,9\n" RIGID_ROWS MODE_ROWS)};
    yk_flexible *body = read_body(*state, &files, NULL);
    assert_near(body->modal.slowest, 3, 1e-14);
    yk_flexible_release(body);

    /* Modes that it does not have: another one, half of one, one that is no int. */
    const double absent[] = {4, 1.5, 1e30};
    const char *const said[] = {"'selected_modes' names mode 4", "'selected_modes' names mode 1.5",
                                "mode 1e+30"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        files.use = &absent[i];
        files.use_count = 1;
        refused(*state, &files, said[i]);
    }

    remove_folder(&f);
}

/* Frequencies that are given with a stiffness only select the modes, also if the first one
 * has no stiffness of its own. */
static void a_stiffness_counts_more_than_frequencies(void **state)
{
    folder f = {0};
    yk_modal_files files = {
        .frequencies = write_file(&f, "f.csv", "mode,frequency\n1,20\n2,31\n"),
        .invariants = write_file(
            &f, "i.csv", NAMES "stiffness,2,2,,9\nmodal_mass,2,2,,1\n" RIGID_ROWS MODE_ROWS),
    };
    yk_flexible *body = read_body(*state, &files, NULL);
    assert_near(body->modal.stiffness[0], 0, 0);
    assert_near(body->modal.stiffness[3], 9, 0);
    yk_flexible_release(body);
    remove_folder(&f);
}

#define FEM_HEAD "** RECORD GROUP 1,HEADER\n** counts\nREV0 1 1 0 0 0\n"
#define FEM_NODES                                                                                  \
    "** RECORD GROUP 2,NODES\n7\n** RECORD GROUP 5,X\n0\n** RECORD GROUP 6,Y\n0\n** RECORD GROUP " \
    "7,Z\n0\n"                                                                                     \
    "** RECORD GROUP 8,SHAPES\n** MODE 1\n0 1 0 0 0 0\n"
#define FEM_MATRICES "** RECORD GROUP 9,MASS\n1\n** RECORD GROUP 10,STIFFNESS\n9\n"

static void record_groups_say_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"nothing\n", "has no line '** RECORD GROUP 1'"},
        {"** RECORD GROUP 2,NODES\n7\n", "record group 2 precedes record group 1"},
        {"** RECORD GROUP 1,HEADER\n** counts\nREV0 1 1 0\n",
         "record group 1 ends after 3 numbers of 5"},
        {"** RECORD GROUP 1,HEADER\n** counts\nREV0 1.5 1 0 0 0\n", "b.fem:3:6: expected a count"},
        {FEM_HEAD FEM_NODES, "has no record group 9"},
        {FEM_HEAD FEM_NODES FEM_MATRICES, "neither lumped masses"},
        {FEM_HEAD FEM_HEAD, "record group 1 occurs twice"},
        {FEM_HEAD "** RECORD GROUP 2,NODES\n7 8\n", "b.fem:5:3: record group 2 has more numbers"},
        {FEM_HEAD "** RECORD GROUP 2,NODES\n**\n", "record group 2 ends after 0 numbers of 1"},
        {FEM_HEAD "** RECORD GROUP 5,X\nseven\n",
         "b.fem:5:1: expected a number of record group 5, found 'seven'"},
        {"** RECORD GROUP 1,HEADER\n** counts\nREV0 9000000 9000000 0 0 0\n** RECORD GROUP "
         "9,MASS\n1\n",
         "more than the file holds"},
        {FEM_HEAD "** RECORD GROUP 21,NEW\n", "record groups 1 to 19 are known, not 21"},
        {FEM_HEAD FEM_NODES
         "** RECORD GROUP 9,MASS\n1\n** RECORD GROUP 10,STIFFNESS\n0\n** RECORD GROUP 11,LUMPS\n"
         "1 1 1 1 1 1\n",
         "leave the rigid modes out"},
        {FEM_HEAD FEM_NODES FEM_MATRICES
         "** RECORD GROUP 14,I3\n0 1 0\n** RECORD GROUP 11,LUMPS\n1 1 1 1 1 1\n",
         "no mass and inertia"},
        {FEM_HEAD FEM_NODES FEM_MATRICES
         "** RECORD GROUP 11,LUMPS\n1 1 1 1 1 1\n** RECORD GROUP 19,STRESS\n1 19 1.D0\n",
         "loads are counted from 1 to 18"},
        {FEM_HEAD FEM_NODES FEM_MATRICES
         "** RECORD GROUP 11,LUMPS\n1 1 1 1 1 1\n** RECORD GROUP 19,STRESS\n19 1 1.D0\n",
         "record group 19 has at most 18 matrices, not 19"},
        {FEM_HEAD FEM_NODES FEM_MATRICES
         "** RECORD GROUP 11,LUMPS\n1 1 1 1 1 1\n** RECORD GROUP 19,STRESS\n-1 1 1.D0\n",
         "record group 19 has at most 18 matrices, not -1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        folder f = {0};
        yk_modal_files files = {.fem = write_file(&f, "b.fem", wrong[i].text)};
        refused(*state, &files, wrong[i].part);
        remove_folder(&f);
    }
    /* The files without the errors are valid; nodes with words for names are counted. */
    static const char lumps_of_it[] = "** RECORD GROUP 11,LUMPS\n1 1 1 1 1 1\n";
    char text[1024];
    snprintf(text, sizeof text, FEM_HEAD "%s" FEM_MATRICES "%s", FEM_NODES, lumps_of_it);
    for (int named = 0; named < 2; named++) {
        folder f = {0};
        if (named)
            *strchr(strstr(text, "GROUP 2"), '7') = 'N';
        yk_modal_files files = {.fem = write_file(&f, "b.fem", text)};
        const int point = named ? 1 : 7;
        yk_flexible *body;
        assert_int_equal(yk_modal_read(*state, &files, &point, 1, &body), YK_OK);
        yk_flexible_release(body);
        remove_folder(&f);
    }
    yk_modal_files none = {.fem = "/nowhere/b.fem"};
    refused(*state, &none, "cannot be opened");
}

/* Memory that runs out at any request: an error, and nothing left behind. */
static void memory_that_runs_out_is_reported(void **state)
{
    folder f = {0};
    lumps l = make_lumps(false, true);
    yk_modal_files tables = write_tables(&f, &l, true);
    yk_flexible *lumped = read_body(*state, &tables, ends);
    assert_int_equal(yk_modal_write(*state, lumped, f.path), YK_OK);
    char path[96];
    snprintf(path, sizeof path, "%s/invariants.csv", f.path);
    const yk_modal_files cases[] = {
        tables,
        {.invariants = path},
        {.fem = write_fem(&f, "body.fem", &l, &lumped->modal, LUMPED | STRESS)},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        yk_status status = YK_ERROR_MEMORY;
        long allowed = 1; /* the context itself */
        for (; status != YK_OK && allowed < 1000; allowed++) {
            budget b = {.fails = allowed};
            yk_context *context = budget_context(&b);
            if (!context)
                continue;
            yk_flexible *body;
            status = yk_modal_read(context, &cases[k], ends, cases[k].invariants ? 0 : 2, &body);
            assert_true(status == YK_OK || status == YK_ERROR_MEMORY);
            yk_flexible_release(body);
            yk_context_destroy(context);
            assert_int_equal(b.open, 0);
        }
        assert_int_equal(status, YK_OK);
        assert_true(allowed > 5);
    }
    yk_flexible_release(lumped);
    remove_folder(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_make_the_same_body),
        cmocka_unit_test(modes_can_be_chosen),
        cmocka_unit_test(record_groups_make_the_same_body),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(normalisation_does_not_matter),
        cmocka_unit_test(tables_say_what_is_wrong),
        cmocka_unit_test(invariants_say_what_is_wrong),
        cmocka_unit_test(a_stiffness_counts_more_than_frequencies),
        cmocka_unit_test(record_groups_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
