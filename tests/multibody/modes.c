/* Modes of models against theory: beams, columns, pendulums, rotors. */
#include "multibody/modes.h"

#include "beam_run.h"
#include "context.h"
#include "math/dense.h"

static yk_modes *find_modes(yk_context *context, yk_multibody *model, int count)
{
    yk_modes_options options = yk_modes_default();
    options.count = count;
    yk_modes *modes;
    yk_status status = yk_modes_find(model, &options, &modes);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    return modes;
}

/* The n-th mode that moves most along y. */
static double frequency_along_y(const yk_modes *modes, int node, int n)
{
    for (int i = 0; i < modes->count; i++) {
        const double *shape = yk_modes_shape(modes, i, node, false);
        if (fabs(shape[1]) + fabs(shape[5]) < 1e-3)
            continue;
        if (n-- == 0)
            return modes->mode[i].frequency;
    }
    fail_msg("not enough modes along y");
    return 0;
}

/* Timoshenko's beam with a rigid body at the tip, independent of any mesh: the state (y, turn,
 * shear force, moment) at the tip follows from that at the clamp by a matrix exponential, and the
 * tip's balance gives a 2 x 2 determinant. */
typedef struct timoshenko {
    double length, bending, shear, mass, inertia; /* EI, GAk, per length rho A and rho I */
    double tip_mass, tip_inertia;
} timoshenko;

static double tip_determinant(const timoshenko *b, double omega)
{
    double w2 = omega * omega, l = b->length;
    /* y' = turn + Q/GA, turn' = M/EI, Q' = -w2 rho A y, M' = -Q - w2 rho I turn; the body: Q = w2
     * m y, M = w2 J turn */
    double a[16] = {
        0, l, l / b->shear,         0,  0, 0, 0, l / b->bending, -w2 * b->mass * l, 0, 0,
        0, 0, -w2 * b->inertia * l, -l, 0};
    double e[16];
    assert_int_equal(yk_dense_exp(4, a, e), YK_OK);
    double d[2][2];
    for (int j = 0; j < 2; j++) {
        double y = e[2 + j], rotation = e[4 + 2 + j], force = e[8 + 2 + j], moment = e[12 + 2 + j];
        d[0][j] = force - w2 * b->tip_mass * y;
        d[1][j] = moment - w2 * b->tip_inertia * rotation;
    }
    return d[0][0] * d[1][1] - d[0][1] * d[1][0];
}

/* Frequency (Hz) of the n-th root from 0 on. */
static double timoshenko_frequency(const timoshenko *b, int n)
{
    double step = 2 * YK_PI * 0.5, low = step, before = tip_determinant(b, low);
    for (;;) {
        double high = low + step, after = tip_determinant(b, high);
        if (before * after < 0 && n-- == 0) {
            for (int i = 0; i < 80; i++) {
                double middle = 0.5 * (low + high), value = tip_determinant(b, middle);
                if (value * before < 0) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            return low / (2 * YK_PI);
        }
        low = high, before = after;
    }
}

/* tight table 3, Timoshenko's beam, and what MBDyn says of the same mesh (shared/reference): its
 * finite volumes are 0.06 and 0.2 % off in the second and third, these elements a tenth of that. */
static void cantilever_has_the_frequencies_of_the_table(void **state)
{
    static const double mbdyn[3] = {15.631, 127.861, 383.522},
                        paper[3] = {15.619, 127.460, 381.082};
    static const double error[3] = {2e-6, 6e-5, 2.5e-4};
    beam_model_def *m = tight_cantilever(10);
    const yk_beam_section *section = &m->beams[0].sections[0];
    timoshenko theory = {0.25,          section->stiffness[5][5], section->stiffness[1][1],
                         section->mass, section->inertia.m[2][2], 0.0555,
                         2.66e-6};
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-4);
    yk_modes *modes = find_modes(*state, model, 8);
    for (int k = 0; k < 3; k++) {
        double frequency = frequency_along_y(modes, m->def.node_count - 1, k);
        assert_relative(frequency, timoshenko_frequency(&theory, k), error[k]);
        assert_relative(frequency, mbdyn[k], 11 * error[k]);
        assert_relative(frequency, paper[k], 0.009); /* where masses are lumped otherwise */
    }
    for (int i = 0; i < modes->count; i++) {
        assert_near(modes->mode[i].damping, 0, 0);
        assert_false(modes->mode[i].free_motion);
    }
    /* The first mode takes along the tip mass and a quarter of the beam. */
    assert_near(modes->mode[0].mass[1], 0.692, 1e-3);
    assert_near(modes->mode[0].mass[2], 0, 1e-12);
    yk_modes_destroy(modes);
    yk_multibody_destroy(model);
}

static void fine_mesh_converges_to_theory(void **state)
{
    beam_model_def *m = tight_cantilever(30);
    double ei = m->beams[0].sections[0].stiffness[5][5],
           ga = m->beams[0].sections[0].stiffness[1][1];
    double mass = m->beams[0].sections[0].mass, inertia = m->beams[0].sections[0].inertia.m[2][2];
    timoshenko theory[2] = {{0.25, ei, ga, mass, inertia, 0.0555, 2.66e-6},
                            {0.25, ei, 1e6 * ga, mass, 0, 0.0555, 2.66e-6}};
    /* Euler and Bernoulli's beam, as quoted with the reference. */
    static const double euler[3] = {15.6313, 127.977, 384.618};
    for (int k = 0; k < 3; k++)
        assert_relative(timoshenko_frequency(&theory[1], k), euler[k], 5e-6);
    for (int slender = 0; slender < 2; slender++) {
        if (slender) {
            for (int i = 0; i < m->def.beam_count; i++)
                for (int p = 0; p < 2; p++) {
                    m->beams[i].sections[p].stiffness[1][1] *= 1e3;
                    m->beams[i].sections[p].inertia.m[2][2] = 0;
                }
        }
        yk_multibody *model = beam_model_create(*state, m);
        beam_model_start(*state, model, 1e-4);
        yk_modes *modes = find_modes(*state, model, 8);
        for (int k = 0; k < 3; k++)
            assert_relative(frequency_along_y(modes, m->def.node_count - 1, k),
                            timoshenko_frequency(&theory[slender], k), 5e-4);
        yk_modes_destroy(modes);
        yk_multibody_destroy(model);
    }
}

static void free_beam_has_six_free_motions(void **state)
{
    beam_model_def *m = beam_model_new();
    yk_beam_section_def steel = yk_beam_section_default();
    yk_beam_section_set_tube(&steel, 0.005, 0.004);
    yk_beam_section section = yk_beam_section_from_def(&steel);
    int first = beam_model_node(m, yk_v3(0, 0, 0), yk_q_identity());
    beam_model_row(m, first, yk_v3(2, 0, 0), 30, &section);
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-4);
    yk_modes *modes = find_modes(*state, model, 12);
    for (int i = 0; i < 6; i++)
        assert_true(modes->mode[i].free_motion);
    /* (4.730 / L)^2 sqrt(EI / rho A) and the next, each in two planes */
    static const double root[2] = {4.73004074, 7.85320462};
    for (int i = 6; i < 10; i++) {
        double b = root[(i - 6) / 2] / 2;
        double expected = b * b * sqrt(section.stiffness[5][5] / section.mass) / (2 * YK_PI);
        assert_false(modes->mode[i].free_motion);
        assert_relative(modes->mode[i].frequency, expected, 1e-3);
    }
    yk_modes_destroy(modes);
    yk_multibody_destroy(model);
}

/* Pinned at both ends and pressed: w^2 = w0^2 (1 - P / P_euler), zero where it buckles, growing
 * beyond. */
static void axial_load_softens_a_column(void **state)
{
    yk_beam_section_def steel = yk_beam_section_default();
    yk_beam_section_set_rectangle(&steel, 0.002, 0.03);
    yk_beam_section section = yk_beam_section_from_def(&steel);
    double length = 1, euler = YK_PI * YK_PI * section.stiffness[5][5] / (length * length);
    double natural =
        YK_PI * YK_PI / (length * length) * sqrt(section.stiffness[5][5] / section.mass);
    static const double fraction[4] = {-1, 0, 0.75, 1.2};
    for (int k = 0; k < 4; k++) {
        beam_model_def *m = beam_model_new();
        int first = beam_model_node(m, yk_v3(0, 0, 0), yk_q_identity());
        int last = beam_model_row(m, first, yk_v3(length, 0, 0), 8, &section);
        beam_model_joint(m, YK_JOINT_REVOLUTE, YK_GROUND_INDEX, first);
        yk_joint_def *guide = beam_model_joint(m, YK_JOINT_IN_LINE, YK_GROUND_INDEX, last);
        guide->markers[0].orientation = yk_so3_exp(yk_v3(0, YK_PI / 2, 0));
        beam_model_force(m, YK_FORCE_FORCE, last, yk_v3(-fraction[k] * euler, 0, 0));
        m->def.options.start_in_equilibrium = true;
        yk_multibody *model = beam_model_create(*state, m);
        beam_model_start(*state, model, 1e-4);
        yk_modes *modes = find_modes(*state, model, 2);
        double square = natural * natural * (1 - fraction[k]);
        if (square > 0) {
            assert_relative(modes->mode[0].omega, sqrt(square), 1e-3);
        } else {
            assert_relative(modes->mode[0].growth, sqrt(-square), 1e-2);
        }
        yk_modes_destroy(modes);
        yk_multibody_destroy(model);
    }
}

/* A body that hangs from a pin: sqrt(m g l / (J + m l^2)); upside down it falls at the same
 * rate. */
static void pendulum_swings(void **state)
{
    for (int up = 0; up < 2; up++) {
        beam_model_def *m = beam_model_new();
        m->def.gravity = yk_v3(0, -9.81, 0);
        int node = beam_model_node(m, yk_v3(0, 0, 0), yk_q_identity());
        beam_model_body(m, node, 2, yk_m3_diagonal(0.1, 0.1, 0.1))->center_of_mass =
            yk_v3(0, up ? 0.5 : -0.5, 0);
        beam_model_joint(m, YK_JOINT_REVOLUTE, YK_GROUND_INDEX, node);
        yk_multibody *model = beam_model_create(*state, m);
        beam_model_start(*state, model, 1e-3);
        yk_modes *modes = find_modes(*state, model, 1);
        double expected = sqrt(2 * 9.81 * 0.5 / (0.1 + 2 * 0.25));
        assert_relative(up ? modes->mode[0].growth : modes->mode[0].omega, expected, 1e-9);
        yk_modes_destroy(modes);
        yk_multibody_destroy(model);
    }
}

/* The same, with the node in the centre of mass and the pin on an arm: the reaction's stiffness
 * makes it swing. */
static void pendulum_swings_by_its_reaction(void **state)
{
    beam_model_def *m = beam_model_new();
    m->def.gravity = yk_v3(0, -9.81, 0);
    int node = beam_model_node(m, yk_v3(0, -0.5, 0), yk_q_identity());
    beam_model_body(m, node, 2, yk_m3_diagonal(0.1, 0.1, 0.1));
    beam_model_joint(m, YK_JOINT_REVOLUTE, YK_GROUND_INDEX, node)->markers[1].offset =
        yk_v3(0, 0.5, 0);
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-3);
    yk_modes *modes = find_modes(*state, model, 1);
    assert_relative(modes->mode[0].omega, sqrt(2 * 9.81 * 0.5 / (0.1 + 2 * 0.25)), 1e-9);
    yk_modes_destroy(modes);
    yk_multibody_destroy(model);
}

/* A mass on a spring and a damper, free along x. */
static void damper_gives_the_damping_ratio(void **state)
{
    beam_model_def *m = beam_model_new();
    int node = beam_model_node(m, yk_v3(1, 0, 0), yk_q_identity());
    beam_model_body(m, node, 4, yk_m3_diagonal(0.1, 0.1, 0.1));
    yk_joint_def *guide = beam_model_joint(m, YK_JOINT_PRISMATIC, YK_GROUND_INDEX, node);
    guide->markers[0].orientation = guide->markers[1].orientation =
        yk_so3_exp(yk_v3(0, YK_PI / 2, 0));
    yk_force_def *spring = beam_model_force(m, YK_FORCE_SPRING, node, yk_v3(0, 0, 0));
    spring->stiffness = 100;
    spring->damping = 6;
    spring->free_length = 1;
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-3);
    yk_modes *modes = find_modes(*state, model, 1);
    assert_relative(modes->mode[0].damping, 6 / (2 * sqrt(400)), 1e-9);
    assert_relative(modes->mode[0].omega, 5 * sqrt(1 - 0.15 * 0.15), 1e-9);
    assert_near(modes->mode[0].mass[0], 1, 1e-9);
    yk_modes_destroy(modes);
    yk_multibody_destroy(model);
}

/* A top that spins upright on its point with n rad/s: A s^2 - i C n s - m g l = 0, by its inertia
 * A about the point and C about its axis. Slow, it falls in a spiral; fast, it stands and has two
 * frequencies. With the node in the centre of mass, and in the point. */
static void spin_holds_a_top_upright(void **state)
{
    double mass = 0.5, l = 0.1, across = 1.4e-3, axial = 1e-3, point = across + mass * l * l;
    static const double spins[2] = {100, 200};
    for (int k = 0; k < 4; k++) {
        double n = spins[k % 2], high = k < 2 ? l : 0;
        beam_model_def *m = beam_model_new();
        m->def.gravity = yk_v3(0, 0, -9.81);
        int node = beam_model_node(m, yk_v3(0, 0, high), yk_q_identity());
        m->nodes[node].angular_velocity = yk_v3(0, 0, n);
        beam_model_body(m, node, mass, yk_m3_diagonal(across, across, axial))->center_of_mass =
            yk_v3(0, 0, l - high);
        beam_model_joint(m, YK_JOINT_SPHERICAL, YK_GROUND_INDEX, node)->markers[1].offset =
            yk_v3(0, 0, -high);
        yk_multibody *model = beam_model_create(*state, m);
        beam_model_start(*state, model, 1e-3);
        yk_modes *modes = find_modes(*state, model, 4);
        double root = axial * axial * n * n - 4 * point * mass * 9.81 * l;
        int free_motions =
            0; /* the rotation about its own axis, with or without its rate as another */
        while (modes->mode[free_motions].free_motion)
            free_motions++;
        assert_true(free_motions >= 1 && free_motions + 2 <= modes->count);
        const yk_mode *slow = &modes->mode[free_motions], *fast = slow + 1;
        if (root < 0) {
            assert_relative(slow->omega, axial * n / (2 * point), 1e-9);
            assert_relative(slow->growth, sqrt(-root) / (2 * point), 1e-9);
            assert_relative(fast->growth, -sqrt(-root) / (2 * point), 1e-9);
        } else {
            assert_relative(slow->omega, (axial * n - sqrt(root)) / (2 * point), 1e-8);
            assert_relative(fast->omega, (axial * n + sqrt(root)) / (2 * point), 1e-8);
            assert_near(slow->growth, 0, 1e-8);
        }
        yk_modes_destroy(modes);
        yk_multibody_destroy(model);
    }
}

static void finding_modes_leaves_the_state_alone(void **state)
{
    beam_model_def *m = tight_cantilever(3);
    m->nodes[6].velocity = yk_v3(0, 0.3, 0);
    yk_motion with, without;
    for (int look = 0; look < 2; look++) {
        yk_multibody *model = beam_model_create(*state, m);
        beam_model_start(*state, model, 1e-4);
        for (int i = 0; i < 50; i++) {
            if (look && i == 20)
                yk_modes_destroy(find_modes(*state, model, 3));
            assert_int_equal(yk_multibody_step(model, 1e-4 * i, 1e-4), YK_OK);
        }
        yk_multibody_motion(model, 6, look ? &with : &without);
        yk_multibody_destroy(model);
    }
    assert_near(with.position.y, without.position.y, 1e-12);
    assert_near(with.velocity.y, without.velocity.y, 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cantilever_has_the_frequencies_of_the_table),
        cmocka_unit_test(fine_mesh_converges_to_theory),
        cmocka_unit_test(free_beam_has_six_free_motions),
        cmocka_unit_test(axial_load_softens_a_column),
        cmocka_unit_test(pendulum_swings),
        cmocka_unit_test(pendulum_swings_by_its_reaction),
        cmocka_unit_test(damper_gives_the_damping_ratio),
        cmocka_unit_test(spin_holds_a_top_upright),
        cmocka_unit_test(finding_modes_leaves_the_state_alone),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
