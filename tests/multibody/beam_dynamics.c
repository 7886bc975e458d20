/* Dynamics of beams: a driven cantilever and a flexible slider-crank compared with MBDyn, a
 * rotating cantilever compared with a series solution, and conservation of energy. */
#include "beam_run.h"
#include "context.h"
#include "math/eigen.h"
#include "multibody/modes.h"
#include "reference_table.h"

static double shaker(void *user, double t)
{
    (void)user;
    return 0.25 * sin(2 * YK_PI * 15.5 * t);
}

static void step_to(yk_context *context, yk_multibody *model, double *t, double until, double h)
{
    while (*t < until - 0.5 * h) {
        yk_status status = yk_multibody_step(model, *t, h);
        if (status != YK_OK)
            print_error("%s\n", yk_last_message(context));
        assert_int_equal(status, YK_OK);
        *t += h;
    }
}

/* Over the first 0.3 s; models/cantilever compares the whole two seconds. */
static void driven_cantilever_follows_mbdyn(void **state)
{
    reference_table table =
        reference_table_read(YOKE_SOURCE_DIR "/models/cantilever/reference.csv");
    beam_model_def *m = tight_cantilever(10);
    int tip = m->def.node_count - 1;
    beam_model_force(m, YK_FORCE_FORCE, tip, yk_v3(0, 1, 0))->load.evaluate = shaker;
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-4);
    double t = 0, peak = 0, error = 0, rate_peak = 0, rate_error = 0;
    for (int i = 0; i < table.rows && table.value[i][0] < 0.3; i++) {
        const double *row = table.value[i];
        step_to(*state, model, &t, row[0], 1e-4);
        yk_motion motion;
        yk_multibody_motion(model, tip, &motion);
        peak = fmax(peak, fabs(row[2]));
        error = fmax(error, fabs(motion.position.y - row[2]));
        rate_peak = fmax(rate_peak, fabs(row[7]));
        rate_error = fmax(rate_error, fabs(motion.angular_velocity.z - row[7]));
    }
    assert_true(peak > 4e-3);
    assert_near(error / peak, 0, 2e-3);
    assert_near(rate_error / rate_peak, 0, 1e-2);
    yk_multibody_destroy(model);
    reference_table_free(&table);
}

static double strain_energy(const yk_multibody *model, int beams)
{
    double sum = 0;
    for (int i = 0; i < beams; i++) {
        yk_beam_loads loads;
        yk_multibody_beam_loads(model, i, &loads);
        sum += loads.energy;
    }
    return sum;
}

enum { CRANK_ROWS = 400 };

/* Slider and rod at the times of a table, in its columns: position and velocity of the slider,
 * rate of the crank, strain energy and deflection of the rod's middle. */
static int run_slider_crank(yk_context *context, int beams, const reference_table *table,
                            double curve[CRANK_ROWS][5])
{
    int slider, crank, middle, rows = 0;
    beam_model_def *m = flexible_slider_crank(beams, &slider, &crank, &middle);
    yk_multibody *model = beam_model_create(context, m);
    double t = 0, h = 2e-5;
    beam_model_start(context, model, h);
    yk_energy energy;
    yk_multibody_energy(model, &energy);
    double start = energy.kinetic + energy.potential;
    for (int i = 1; i < table->rows && table->value[i][0] < 0.1 && rows < CRANK_ROWS; i++) {
        step_to(context, model, &t, table->value[i][0], h);
        double *row = curve[rows++];
        yk_motion motion, ends[2];
        yk_multibody_motion(model, slider, &motion);
        row[0] = motion.position.x, row[1] = motion.velocity.x;
        yk_multibody_motion(model, crank, &motion);
        row[2] = motion.angular_velocity.x;
        row[3] = strain_energy(model, m->def.beam_count);
        yk_multibody_motion(model, middle - beams, &ends[0]);
        yk_multibody_motion(model, middle + beams, &ends[1]);
        yk_multibody_motion(model, middle, &motion);
        yk_vec3 chord = yk_v3_scale(0.5, yk_v3_add(ends[0].position, ends[1].position));
        row[4] = yk_v3_norm(yk_v3_sub(motion.position, chord));
    }
    yk_multibody_energy(model, &energy);
    assert_near(energy.kinetic + energy.potential, start, 2e-7);
    yk_multibody_destroy(model);
    return rows;
}

/* Five elements of MBDyn are 5e-7 m off in the rod's deflection of 3e-6 m, as a fine mesh shows;
 * five of these a tenth of that. What does not depend on how the rod vibrates agrees with MBDyn
 * to its digits. */
static void flexible_slider_crank_follows_mbdyn(void **state)
{
    static double coarse[CRANK_ROWS][5], fine[CRANK_ROWS][5];
    reference_table table =
        reference_table_read(YOKE_SOURCE_DIR "/models/flexible-slider-crank/reference.csv");
    int rows = run_slider_crank(*state, 5, &table, coarse);
    assert_int_equal(run_slider_crank(*state, 15, &table, fine), rows);
    assert_true(rows > 15);
    for (int i = 0; i < rows; i++) {
        const double *mbdyn = table.value[i + 1];
        assert_near(coarse[i][0], mbdyn[1], 3e-8);
        assert_near(coarse[i][1], mbdyn[2], 1e-4);
        assert_near(coarse[i][2], mbdyn[4], 1e-2);
        assert_near(coarse[i][3], mbdyn[6], 1.8e-6); /* of 6e-6 */
        assert_near(coarse[i][4], mbdyn[7], 5.6e-7); /* of 3e-6 */
        assert_near(coarse[i][0], fine[i][0], 5e-9);
        assert_near(coarse[i][3], fine[i][3], 1.5e-7);
        assert_near(coarse[i][4], fine[i][4], 4.7e-8);
    }
    reference_table_free(&table);
}

/* A bar of four elements, each two and a half thicknesses long, undamped and at steps that
 * resolve all of its vibrations: finite volumes would multiply its motion by exp(40). */
static void short_elements_do_not_grow(void **state)
{
    beam_model_def *m = beam_model_new();
    yk_beam_section_def steel = yk_beam_section_default();
    yk_beam_section_set_rectangle(&steel, 0.01, 0.01);
    yk_beam_section section = yk_beam_section_from_def(&steel);
    int first = beam_model_node(m, yk_v3(0, 0, 0), yk_q_identity());
    int last = beam_model_row(m, first, yk_v3(0.1, 0, 0), 4, &section);
    for (int i = first; i <= last; i++) {
        m->nodes[i].velocity = yk_v3(sin(1 + 7 * i), cos(5 * i), sin(3 * i));
        m->nodes[i].angular_velocity =
            yk_v3(100 * cos(11 * i), 100 * sin(2 + 3 * i), 100 * cos(5 * i * i));
    }
    m->def.options.rho_inf = 1;
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 2e-7);
    yk_energy start, end;
    yk_multibody_energy(model, &start);
    double t = 0;
    for (int i = 1; i <= 20; i++) {
        step_to(*state, model, &t, 1e-4 * i, 2e-7);
        yk_multibody_energy(model, &end);
        assert_relative(end.kinetic + end.potential, start.kinetic, 2e-2);
    }
    yk_multibody_destroy(model);
}

/* Rotating cantilever (tight 5.2.4 with the particles as a rigid mass): it turns about y while a
 * force shakes its tip along y. The reference is Ritz's method with eight polynomials,
 * centrifugal tension included, solved mode by mode. */
enum { POLYNOMIALS = 8 };

typedef struct ritz_beam {
    double omega[POLYNOMIALS], tip[POLYNOMIALS]; /* frequencies and tip deflections of the modes */
} ritz_beam;

static ritz_beam ritz_rotating(yk_context *context, const yk_beam_section *section, double spin)
{
    double length = 0.25, tip_mass = 0.0555, tip_inertia = 2.66e-6;
    double bending = section->stiffness[5][5], mass = section->mass,
           inertia = section->inertia.m[2][2];
    double k[POLYNOMIALS * POLYNOMIALS], m[POLYNOMIALS * POLYNOMIALS], square[POLYNOMIALS];
    for (int i = 0; i < POLYNOMIALS; i++)
        for (int j = 0; j < POLYNOMIALS; j++) {
            /* powers a and b of x / L */
            double a = i + 2, b = j + 2, slopes = a * b / (a + b - 1);
            double tension = mass * length * length / 2 * (slopes - a * b / (a + b + 1)) +
                             tip_mass * length * slopes;
            k[POLYNOMIALS * i + j] =
                bending / pow(length, 3) * a * (a - 1) * b * (b - 1) / (a + b - 3) +
                spin * spin * tension / length;
            m[POLYNOMIALS * i + j] = mass * length / (a + b + 1) + tip_mass +
                                     inertia / length * slopes +
                                     tip_inertia / (length * length) * a * b;
        }
    ritz_beam beam;
    assert_int_equal(yk_eigen_symmetric_pair(context, POLYNOMIALS, k, m, square), YK_OK);
    for (int i = 0; i < POLYNOMIALS; i++) {
        beam.omega[i] = sqrt(square[i]);
        beam.tip[i] = 0;
        for (int j = 0; j < POLYNOMIALS; j++)
            beam.tip[i] += k[POLYNOMIALS * i + j];
    }
    return beam;
}

/* Deflection of the tip under amplitude * sin(w t) from rest. */
static double ritz_response(const ritz_beam *beam, double amplitude, double w, double t)
{
    double sum = 0;
    for (int i = 0; i < POLYNOMIALS; i++) {
        double own = beam->omega[i],
               gain = beam->tip[i] * beam->tip[i] * amplitude / (own * own - w * w);
        sum += gain * (sin(w * t) - w / own * sin(own * t));
    }
    return sum;
}

static double rotating(void *user, double t)
{
    (void)user;
    return 2 * YK_PI * t;
}

static void rotating_cantilever_stiffens(void **state)
{
    beam_model_def *m = tight_cantilever(10);
    int tip = m->def.node_count - 1;
    beam_model_force(m, YK_FORCE_FORCE, tip, yk_v3(0, 1, 0))->load.evaluate = shaker;
    yk_quat z_to_y = yk_so3_exp(yk_v3(-YK_PI / 2, 0, 0));
    m->joints[0].kind = YK_JOINT_REVOLUTE;
    m->joints[0].markers[0].orientation = m->joints[0].markers[1].orientation = z_to_y;
    yk_joint_def *drive = beam_model_joint(m, YK_JOINT_DRIVEN_ROTATION, YK_GROUND_INDEX, 0);
    drive->markers[0].orientation = drive->markers[1].orientation = z_to_y;
    drive->drive.evaluate = rotating;
    for (int i = 0; i <= tip; i++) {
        m->nodes[i].angular_velocity = yk_v3(0, 2 * YK_PI, 0);
        m->nodes[i].velocity = yk_v3_cross(m->nodes[i].angular_velocity, m->nodes[i].position);
    }
    ritz_beam rotating_beam = ritz_rotating(*state, &m->beams[0].sections[0], 2 * YK_PI);
    ritz_beam still_beam = ritz_rotating(*state, &m->beams[0].sections[0], 0);
    assert_relative(still_beam.omega[0] / (2 * YK_PI), 15.6313, 1e-5);
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-4);
    double t = 0, peak = 0, error = 0, still_error = 0;
    for (int i = 1; i <= 250; i++) {
        step_to(*state, model, &t, 4e-3 * i, 1e-4);
        yk_motion motion;
        yk_multibody_motion(model, tip, &motion);
        double expected = ritz_response(&rotating_beam, 0.25, 2 * YK_PI * 15.5, t);
        double still = ritz_response(&still_beam, 0.25, 2 * YK_PI * 15.5, t);
        peak = fmax(peak, fabs(expected));
        error = fmax(error, fabs(motion.position.y - expected));
        still_error = fmax(still_error, fabs(still - expected));
    }
    assert_near(error / peak, 0, 0.01);
    assert_true(still_error / peak > 0.05); /* what turning changes is far above the error */
    yk_motion motion;
    yk_multibody_motion(model, tip, &motion);
    double angle = atan2(-motion.position.z, motion.position.x);
    assert_near(angle, 0, 1e-3); /* one whole rotation */
    yk_multibody_destroy(model);
}

/* A beam that turns and swings freely in space, with its ends bent at the start: what it loses is
 * the integrator's. */
static void free_flight_keeps_energy(void **state)
{
    beam_model_def *m = beam_model_new();
    yk_beam_section_def rubber = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1200};
    yk_beam_section_set_rectangle(&rubber, 0.02, 0.03);
    yk_beam_section section = yk_beam_section_from_def(&rubber);
    int first = beam_model_node(m, yk_v3(0, 0, 0), yk_q_identity());
    int last = beam_model_row(m, first, yk_v3(1, 0, 0), 4, &section);
    for (int i = first; i <= last; i++) {
        yk_vec3 omega = {6, 3, 5}, at = m->nodes[i].position;
        double s = at.x;
        m->nodes[i].angular_velocity = yk_v3_add(omega, yk_v3(0, 0, 40 * s));
        m->nodes[i].velocity = yk_v3_add(yk_v3_cross(omega, at), yk_v3(1, 20 * s * s, 2));
    }
    m->def.options.rho_inf = 1;
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-3);
    yk_energy start, end;
    yk_multibody_energy(model, &start);
    double t = 0, largest_strain = 0;
    for (int i = 1; i <= 10; i++) {
        step_to(*state, model, &t, 0.1 * i, 1e-3);
        yk_multibody_energy(model, &end);
        largest_strain = fmax(largest_strain, end.potential);
        assert_relative(end.kinetic + end.potential, start.kinetic, 1e-3);
    }
    assert_true(largest_strain > 0.005 * start.kinetic);
    yk_multibody_destroy(model);
}

/* Proportional damping takes out of a free vibration what theory says: amplitude exp(-zeta w t),
 * zeta = ratio w / 2. */
static void structural_damping_decays_the_first_mode(void **state)
{
    beam_model_def *m = tight_cantilever(4);
    yk_beam_section_def steel = {
        .young_modulus = 210e9, .poisson_ratio = 0.33, .density = 7845, .rayleigh_beta = 1e-4};
    yk_beam_section_set_rectangle(&steel, 0.002, 0.03);
    for (int i = 0; i < 4; i++)
        m->beams[i].sections[0] = m->beams[i].sections[1] = yk_beam_section_from_def(&steel);
    yk_multibody *model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-3);
    yk_modes_options options = yk_modes_default();
    options.count = 3;
    yk_modes *modes;
    assert_int_equal(yk_modes_find(model, &options, &modes), YK_OK);
    for (int i = 0; i < 3; i++) {
        double size = hypot(modes->mode[i].omega, modes->mode[i].growth);
        assert_relative(modes->mode[i].damping, 0.5e-4 * size, 1e-6);
    }
    double first = modes->mode[0].omega, decay = -modes->mode[0].growth;
    /* Start in the shape of the mode: its velocities, at zero displacement. */
    for (int i = 0; i < m->def.node_count; i++) {
        const double *shape = yk_modes_shape(modes, 0, i, false);
        m->nodes[i].velocity = yk_v3_scale(0.01, yk_v3(shape[0], shape[1], shape[2]));
        m->nodes[i].angular_velocity = yk_v3_scale(0.01, yk_v3(shape[3], shape[4], shape[5]));
    }
    yk_modes_destroy(modes);
    yk_multibody_destroy(model);
    model = beam_model_create(*state, m);
    beam_model_start(*state, model, 1e-4);
    yk_energy start, end;
    yk_multibody_energy(model, &start);
    double t = 0, periods = 5, until = periods * 2 * YK_PI / first;
    step_to(*state, model, &t, until, until / 3500);
    yk_multibody_energy(model, &end);
    assert_relative((end.kinetic + end.potential) / start.kinetic, exp(-2 * decay * until), 2e-3);
    assert_relative(end.dissipated, start.kinetic - end.kinetic - end.potential, 2e-3);
    yk_multibody_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driven_cantilever_follows_mbdyn),
        cmocka_unit_test(flexible_slider_crank_follows_mbdyn),
        cmocka_unit_test(short_elements_do_not_grow),
        cmocka_unit_test(rotating_cantilever_stiffens),
        cmocka_unit_test(free_flight_keeps_energy),
        cmocka_unit_test(structural_damping_decays_the_first_mode),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
