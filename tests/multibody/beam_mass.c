/* The effect of the beam's mass matrix on the accuracy: natural frequencies of a cantilever with
 * lumped nodal masses, with the mass matrix of the element, and with the consistent mass matrix of
 * the parabolic shape functions. */
#include "context.h"
#include "multibody/beam.h"
#include "multibody/modes.h"
#include "test.h"

enum { ELEMENTS = 8, ENTRIES = 36 * ELEMENTS };

typedef struct planar {
    yk_matrix_entry mass[ENTRIES], stiffness[ENTRIES];
    yk_linear_system system;
} planar;

static yk_beam_section bar(void)
{
    yk_beam_section_def def = yk_beam_section_default();
    def.young_modulus = 2.1e11, def.poisson_ratio = 0.3, def.density = 7800;
    yk_beam_section_set_rectangle(&def, 0.01, 0.02);
    return yk_beam_section_from_def(&def);
}

/* Deflection along y and rotation about z of the three nodes, unless the first is clamped. */
static void add(yk_linear_matrix *matrix, yk_matrix_entry *list, int first, double element[6][6])
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            if (first + i >= 0 && first + j >= 0)
                list[matrix->count++] = (yk_matrix_entry){first + i, first + j, element[i][j]};
}

static void stiffness_of(const yk_beam *beam, const yk_beam_def *def, double element[6][6])
{
    static const int unknown[2] = {1, 5};
    yk_frame node[YK_BEAM_NODE_COUNT];
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
        node[i] = (yk_frame){.position = def->position[i], .rotation = yk_m3_identity()};
    yk_beam_loads loads;
    yk_beam_jacobian jacobian;
    yk_beam_evaluate(beam, (const yk_frame *const[]){&node[0], &node[1], &node[2]}, &loads,
                     &jacobian);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            element[i][j] =
                -jacobian.pose[6 * (i / 2) + unknown[i % 2]][6 * (j / 2) + unknown[j % 2]];
}

static void lumps_of(const yk_beam_def *def, double element[6][6])
{
    yk_inertia lump[YK_BEAM_NODE_COUNT];
    yk_beam_lumps(def, lump);
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
        element[2 * i][2 * i] = lump[i].mass;
        element[2 * i][2 * i + 1] = element[2 * i + 1][2 * i] = lump[i].moment.x;
        element[2 * i + 1][2 * i + 1] = lump[i].tensor.m[2][2];
    }
}

static void shapes_of(const yk_beam_section *section, double length, double element[6][6])
{
    static const double integral[3][3] = {{4, 2, -1}, {2, 16, 2}, {-1, 2, 4}}; /* by 30 */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            element[2 * i][2 * j] = section->mass * length * integral[i][j] / 30;
            element[2 * i + 1][2 * j + 1] = section->inertia.m[2][2] * length * integral[i][j] / 30;
        }
}

/* The second and third bending frequency (rad/s) of a cantilever of 1 m. */
static void frequencies(yk_context *context, int elements, bool lumped, double omega[2])
{
    static planar p;
    p.system = (yk_linear_system){
        .unknowns = 4 * elements, .mass = {p.mass, 0}, .stiffness = {p.stiffness, 0}};
    yk_beam_section section = bar();
    double length = 1.0 / elements;
    for (int e = 0; e < elements; e++) {
        yk_beam_def def = yk_beam_straight(yk_v3(e * length, 0, 0), yk_v3((e + 1) * length, 0, 0),
                                           yk_v3(0, 1, 0), &section);
        yk_beam beam;
        assert_int_equal(yk_beam_create(context, &def, &beam), YK_OK);
        double stiffness[6][6], mass[6][6] = {{0}};
        stiffness_of(&beam, &def, stiffness);
        if (lumped)
            lumps_of(&def, mass);
        else
            shapes_of(&section, length, mass);
        add(&p.system.stiffness, p.stiffness, 4 * e - 2, stiffness);
        add(&p.system.mass, p.mass, 4 * e - 2, mass);
    }
    yk_modes_options options = yk_modes_default();
    options.count = 3;
    yk_linear_modes *modes;
    assert_int_equal(yk_linear_modes_solve(context, &p.system, &options, &modes), YK_OK);
    omega[0] = modes->imaginary[1], omega[1] = modes->imaginary[2];
    yk_linear_modes_destroy(modes);
}

/* Timoshenko's beam, from fine meshes of both kinds. The errors that the head of beam.h names, in
 * per cent. */
static void lumps_cost_less_than_a_consistent_mass(void **state)
{
    static const double exact[2] = {52.4993, 146.888};
    static const double with_lumps[2][2] = {{0.208, 1.671}, {0.012, 0.097}},
                        with_shapes[2] = {0.376, 2.773};
    double found[2];
    for (int k = 0; k < 2; k++) {
        frequencies(*state, 4 << k, true, found);
        for (int i = 0; i < 2; i++)
            assert_near(100 * (found[i] / (2 * YK_PI * exact[i]) - 1), with_lumps[k][i], 2e-3);
    }
    frequencies(*state, 4, false, found);
    for (int i = 0; i < 2; i++)
        assert_near(100 * (found[i] / (2 * YK_PI * exact[i]) - 1), with_shapes[i], 2e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lumps_cost_less_than_a_consistent_mass)};
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
