/* The floating-frame body as an element: integrals, derivatives, energies, and a rod's shapes. */

#include <string.h>

#include "context.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "math/so3.h"
#include "multibody/flexible.h"
#include "test.h"

enum { MODES = 6, SIZE = 6 + MODES };

static yk_ffrf_rod_def steel_rod(void)
{
    yk_ffrf_rod_def def = yk_ffrf_rod_default();
    def.length = 0.3;
    def.section.young_modulus = 207e9, def.section.poisson_ratio = 0.29, def.section.density = 7870;
    yk_beam_section_set_rectangle(&def.section, 0.012, 0.016);
    return def;
}

static yk_flexible *make(yk_context *context, const yk_ffrf_rod_def *def)
{
    yk_flexible *rod;
    assert_int_equal(yk_flexible_rod(context, def, &rod), YK_OK);
    return rod;
}

/* Integrals ------------------------------------------------------------------------------------ */

/* Pinned sines and a quarter wave of extension, by hand. */
static void integrals_of_a_pinned_rod(void **state)
{
    yk_ffrf_rod_def def = steel_rod();
    def.support = YK_ROD_PINNED_PINNED;
    yk_flexible *rod = make(*state, &def);
    const yk_ffrf *body = &rod->modal;
    double l = def.length, line = def.section.density * def.section.area, m = line * l;
    assert_int_equal(body->modes, MODES);
    assert_relative(body->mass, m, 1e-13);
    assert_relative(body->moment.x, m * l / 2, 1e-13);
    assert_relative(body->second.m[0][0], m * l * l / 3, 1e-13);
    assert_relative(body->second.m[1][1], def.section.density * def.section.area_moment_z * l,
                    1e-13);
    /* sin(pi x/l): mean 2/pi; first moment 1/pi; the second one: 0 and -1/(2 pi). The rotary
     * inertia mixes none. */
    assert_relative(body->shift[0].y, m * 2 / YK_PI, 1e-12);
    assert_near(body->shift[1].y, 0, 1e-15);
    assert_relative(body->spread[0].m[0][1], m * l / YK_PI, 1e-12);
    double rotary = def.section.density * def.section.area_moment_z * l;
    assert_near(body->spread[0].m[1][0], 0,
                1e-15); /* rotary: integral of the slope, which returns to zero */
    assert_relative(body->spread[1].m[0][1], -m * l / (2 * YK_PI), 1e-12);
    assert_relative(body->modal_mass[0], m / 2 + rotary * YK_PI * YK_PI / (2 * l * l), 1e-12);
    double bending =
        def.section.young_modulus * def.section.area_moment_z * pow(YK_PI / l, 4) * l / 2;
    assert_relative(body->stiffness[0], bending, 1e-12);
    assert_relative(body->stiffness[MODES + 1], 16 * bending, 1e-12);
    /* extension sin(pi x / 2 l) */
    assert_relative(body->shift[4].x, m * 2 / YK_PI, 1e-12);
    assert_relative(body->stiffness[4 * MODES + 4],
                    def.section.young_modulus * def.section.area * YK_PI * YK_PI / (8 * l), 1e-12);
    /* torsion: no displacement of the centre line, modal mass of the polar inertia */
    double polar =
        def.section.density * (def.section.area_moment_y + def.section.area_moment_z) * l;
    assert_relative(body->modal_mass[5 * MODES + 5], polar / 2, 1e-12);
    /* shortening by a sine of amplitude p: pi^2 p^2 / (4 l) at the end; its mean is half of that */
    assert_relative(body->curve[0].x, -m * YK_PI * YK_PI / (4 * l), 1e-12);
    yk_flexible_release(rod);
}

/* A dumb-bell of two points: all integrals are sums of two terms. */
static void integrals_of_two_points(void **state)
{
    const yk_vec3 first[2] = {{0, 1, 0}, {0, 0, 2}}, second[2] = {{0, -1, 0}, {1, 0, 0}};
    const yk_ffrf_point points[2] = {{.mass = 2, .position = {1, 0, 0}, .displacement = first},
                                     {.mass = 3, .position = {0, 1, 1}, .displacement = second}};
    const double stiffness[4] = {1, 0, 0, 1};
    yk_ffrf_def def = {.mode_count = 2, .points = points, .point_count = 2, .stiffness = stiffness};
    yk_ffrf body;
    assert_int_equal(yk_ffrf_create(*state, &def, &body), YK_OK);
    assert_near(body.mass, 5, 0);
    assert_near(body.shift[0].y, 2 - 3, 0);
    assert_near(body.spread[0].m[0][1], 2, 0);
    assert_near(body.spread[0].m[1][1], -3, 0);
    assert_near(body.modal_mass[0], 5, 0);
    assert_near(body.modal_mass[3], 11, 0);
    assert_near(body.modal_mass[1], 0, 0);
    /* gyro_01 = 2 sum m s_1 x s_0 = 2 (2 (0,0,2) x (0,1,0) + 3 (1,0,0) x (0,-1,0)) */
    assert_near(body.gyro[1].x, 2 * 2 * -2, 0);
    assert_near(body.gyro[1].z, 2 * 3 * -1, 0);
    yk_ffrf_destroy(*state, &body);
}

/* Motion --------------------------------------------------------------------------------------- */

typedef struct sample {
    double amplitude[MODES], rate[MODES], second[MODES];
    yk_ffrf_motion motion;
} sample;

static void fill_sample(sample *s, double size)
{
    for (int i = 0; i < MODES; i++) {
        s->amplitude[i] = size * sin(1 + 3 * i);
        s->rate[i] = 40 * size * cos(2 + 5 * i);
        s->second[i] = 900 * size * sin(4 + 7 * i);
    }
    s->motion = (yk_ffrf_motion){.frame = {.position = {0.3, -0.2, 0.5},
                                           .rotation = yk_so3_exp_matrix(yk_v3(0.4, -0.7, 1.1)),
                                           .velocity = {1.2, -0.4, 0.9},
                                           .angular_velocity = {3, -5, 7}},
                                 .acceleration = {20, -31, 12},
                                 .angular_acceleration = {-90, 40, 75}};
    s->motion.amplitude = s->amplitude, s->motion.rate = s->rate, s->motion.second = s->second;
}

static const yk_vec3 gravity = {1, 2, -9};

static void loads_vector(const yk_ffrf *body, const sample *s, double *out)
{
    sample copy = *s;
    copy.motion.amplitude = copy.amplitude, copy.motion.rate = copy.rate,
    copy.motion.second = copy.second;
    yk_ffrf_loads loads;
    yk_ffrf_evaluate(body, &copy.motion, gravity, &loads);
    memcpy(out, &loads.force, 3 * sizeof *out);
    memcpy(out + 3, &loads.torque, 3 * sizeof *out);
    memcpy(out + 6, loads.modal, MODES * sizeof *out);
}

/* The motion a time t later, or earlier. */
static void move_in_time(sample *s, double t)
{
    yk_frame *frame = &s->motion.frame;
    yk_vec3 w = yk_v3_axpy(0.5 * t, s->motion.angular_acceleration, frame->angular_velocity);
    frame->position = yk_v3_axpy(t, yk_v3_axpy(0.5 * t, s->motion.acceleration, frame->velocity),
                                 frame->position);
    frame->rotation = yk_m3_mul(yk_so3_exp_matrix(yk_v3_scale(t, w)), frame->rotation);
    frame->velocity = yk_v3_axpy(t, s->motion.acceleration, frame->velocity);
    frame->angular_velocity =
        yk_v3_axpy(t, s->motion.angular_acceleration, frame->angular_velocity);
    for (int i = 0; i < MODES; i++) {
        s->amplitude[i] += t * (s->rate[i] + 0.5 * t * s->second[i]);
        s->rate[i] += t * s->second[i];
    }
}

static void momenta_vector(const yk_ffrf *body, const sample *s, double *out)
{
    sample copy = *s;
    copy.motion.amplitude = copy.amplitude, copy.motion.rate = copy.rate;
    yk_momentum momentum;
    yk_ffrf_loads loads;
    yk_ffrf_rest(body, &copy.motion, gravity, &momentum, out + 6, &loads);
    memcpy(out, &momentum, 6 * sizeof *out);
}

/* v x p and the other terms that do not change momenta. */
static void rest_vector(const yk_ffrf *body, const sample *s, double *out)
{
    sample copy = *s;
    copy.motion.amplitude = copy.amplitude, copy.motion.rate = copy.rate;
    double modal[MODES];
    yk_ffrf_loads loads;
    yk_momentum momentum;
    yk_ffrf_rest(body, &copy.motion, gravity, &momentum, modal, &loads);
    yk_vec3 torque =
        yk_v3_add(loads.torque, yk_v3_cross(copy.motion.frame.velocity, momentum.linear));
    memcpy(out, &loads.force, 3 * sizeof *out);
    memcpy(out + 3, &torque, 3 * sizeof *out);
    memcpy(out + 6, loads.modal, MODES * sizeof *out);
}

/* Both forms of the equations are one: rates of the momenta and the rest are the loads at the
 * accelerations. */
static void momenta_change_by_the_loads(void **state)
{
    for (int variant = 0; variant < 6; variant++) {
        yk_ffrf_rod_def def = steel_rod();
        def.support = variant % 3;
        def.constant_mass = variant >= 3;
        def.damping_ratio = 0.01;
        def.section.young_modulus = 1e6;
        yk_flexible *rod = make(*state, &def);
        sample s, ahead, behind;
        fill_sample(&s, 1e-3);
        ahead = behind = s;
        double h = 1e-5, loads[SIZE], rest[SIZE], plus[SIZE], minus[SIZE];
        move_in_time(&ahead, h), move_in_time(&behind, -h);
        loads_vector(&rod->modal, &s, loads);
        rest_vector(&rod->modal, &s, rest);
        momenta_vector(&rod->modal, &ahead, plus), momenta_vector(&rod->modal, &behind, minus);
        for (int i = 0; i < SIZE; i++)
            assert_near((plus[i] - minus[i]) / (2 * h) + rest[i], loads[i],
                        1e-6 * (1 + fabs(loads[i])));
        yk_flexible_release(rod);
    }
}

/* Moves unknown k by d, and the velocities by d / c as a time integration does. */
static void move_sample(sample *s, int k, double d, double c)
{
    yk_vec3 unit = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, by = yk_v3_scale(d, unit);
    yk_frame *frame = &s->motion.frame;
    if (k < 3) {
        frame->position = yk_v3_add(frame->position, by);
        frame->velocity = yk_v3_axpy(1 / c, by, frame->velocity);
    } else if (k < 6) {
        yk_vec3 spin = yk_v3_axpy(-0.5 * c, yk_v3_cross(frame->angular_velocity, by), by);
        frame->rotation = yk_m3_mul(yk_so3_exp_matrix(by), frame->rotation);
        frame->angular_velocity = yk_v3_axpy(1 / c, spin, frame->angular_velocity);
    } else {
        s->amplitude[k - 6] += d;
        s->rate[k - 6] += d / c;
    }
}

static void tangents_are_derivatives(void **state)
{
    for (int variant = 0; variant < 3; variant++) {
        yk_ffrf_rod_def def = steel_rod();
        def.support = variant;
        def.stiffening = variant != 1;
        def.damping_ratio = 0.01;
        def.section.young_modulus = 1e6; /* inertia and elasticity of one size */
        yk_flexible *rod = make(*state, &def);
        sample s;
        fill_sample(&s, 1e-3);
        double tangent[SIZE * SIZE], rest[2][SIZE], momenta[2][SIZE], c = 0.05, step = 1e-6,
                                                                      damping = 0.3;
        yk_ffrf_tangent(&rod->modal, &s.motion, gravity, c, YK_ROTATION_OF_STEP, damping, tangent);
        for (int k = 0; k < SIZE; k++) {
            for (int side = 0; side < 2; side++) {
                sample moved = s;
                move_sample(&moved, k, side ? step : -step, c);
                rest_vector(&rod->modal, &moved, rest[side]);
                momenta_vector(&rod->modal, &moved, momenta[side]);
            }
            double size = 0;
            for (int i = 0; i < SIZE; i++)
                size = fmax(size, fabs(tangent[SIZE * i + k]));
            for (int i = 0; i < SIZE; i++) {
                double change =
                    (1 / c + damping) * (momenta[1][i] - momenta[0][i]) + rest[1][i] - rest[0][i];
                assert_near(tangent[SIZE * i + k], c * c * change / (2 * step), 1e-7 * size);
            }
        }
        yk_flexible_release(rod);
    }
}

/* Loads against the sum over many points that move on their own. */
static void loads_are_those_of_moving_points(void **state)
{
    enum { POINTS = 7 };
    yk_vec3 shape[POINTS][MODES], pull[POINTS][MODES * MODES];
    yk_ffrf_point points[POINTS];
    double stiffness[MODES * MODES] = {0};
    memset(pull, 0, sizeof pull);
    for (int k = 0; k < POINTS; k++) {
        for (int i = 0; i < MODES; i++)
            shape[k][i] = yk_v3(sin((i + 1) * k + i), cos(3 * k * i), sin(5 * k - i));
        points[k] = (yk_ffrf_point){.mass = 1 + 0.1 * k,
                                    .position = {cos(k), sin(2 * k), cos(3 * k)},
                                    .displacement = shape[k]};
    }
    yk_ffrf_def def = {
        .mode_count = MODES, .points = points, .point_count = POINTS, .stiffness = stiffness};
    yk_ffrf body;
    assert_int_equal(yk_ffrf_create(*state, &def, &body), YK_OK);
    sample s;
    fill_sample(&s, 0.1);
    double got[SIZE], wanted[SIZE] = {0};
    loads_vector(&body, &s, got);
    const yk_frame *frame = &s.motion.frame;
    for (int k = 0; k < POINTS; k++) {
        yk_vec3 u = points[k].position, v = {0, 0, 0}, a = {0, 0, 0};
        for (int i = 0; i < MODES; i++) {
            u = yk_v3_axpy(s.amplitude[i], shape[k][i], u);
            v = yk_v3_axpy(s.rate[i], shape[k][i], v);
            a = yk_v3_axpy(s.second[i], shape[k][i], a);
        }
        yk_vec3 arm = yk_m3_apply(frame->rotation, u), w = frame->angular_velocity;
        yk_vec3 slide = yk_m3_apply(frame->rotation, v);
        yk_vec3 acceleration = yk_v3_add(s.motion.acceleration, yk_m3_apply(frame->rotation, a));
        acceleration = yk_v3_add(acceleration, yk_v3_cross(s.motion.angular_acceleration, arm));
        acceleration =
            yk_v3_add(acceleration, yk_v3_cross(w, yk_v3_axpy(2, slide, yk_v3_cross(w, arm))));
        yk_vec3 force = yk_v3_scale(points[k].mass, yk_v3_sub(acceleration, gravity));
        yk_vec3 torque = yk_v3_cross(arm, force);
        double add[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
        for (int i = 0; i < 6; i++)
            wanted[i] += add[i];
        for (int i = 0; i < MODES; i++)
            wanted[6 + i] += yk_v3_dot(yk_m3_apply(frame->rotation, shape[k][i]), force);
    }
    for (int i = 0; i < SIZE; i++)
        assert_near(got[i], wanted[i], 1e-11 * fabs(wanted[i]) + 1e-9);
    yk_ffrf_destroy(*state, &body);
}

/* The power of the loads is the rate of the energies, also with shapes of second order. */
static void power_is_rate_of_energy(void **state)
{
    yk_ffrf_rod_def def = steel_rod();
    def.section.young_modulus = 1e8;
    yk_flexible *rod = make(*state, &def);
    sample s;
    fill_sample(&s, 3e-3);
    double loads[SIZE], energy[2], h = 1e-6;
    loads_vector(&rod->modal, &s, loads);
    double power = 0;
    const yk_frame *frame = &s.motion.frame;
    const double *velocity = (const double *)&frame->velocity,
                 *spin = (const double *)&frame->angular_velocity;
    for (int i = 0; i < 3; i++)
        power += loads[i] * velocity[i] + loads[3 + i] * spin[i];
    for (int i = 0; i < MODES; i++)
        power += loads[6 + i] * s.rate[i];
    for (int side = 0; side < 2; side++) {
        double t = side ? h : -h;
        sample moved = s;
        moved.motion.amplitude = moved.amplitude, moved.motion.rate = moved.rate,
        moved.motion.second = moved.second;
        yk_frame *at = &moved.motion.frame;
        at->position = yk_v3_axpy(t, frame->velocity, frame->position);
        at->rotation =
            yk_m3_mul(yk_so3_exp_matrix(yk_v3_scale(t, frame->angular_velocity)), frame->rotation);
        at->velocity = yk_v3_axpy(t, s.motion.acceleration, frame->velocity);
        at->angular_velocity =
            yk_v3_axpy(t, s.motion.angular_acceleration, frame->angular_velocity);
        for (int i = 0; i < MODES; i++) {
            moved.amplitude[i] += t * s.rate[i];
            moved.rate[i] += t * s.second[i];
        }
        yk_ffrf_loads result;
        yk_ffrf_evaluate(&rod->modal, &moved.motion, gravity, &result);
        energy[side] = result.kinetic + result.potential;
    }
    assert_relative((energy[1] - energy[0]) / (2 * h), power, 1e-7);
    yk_flexible_release(rod);
}

/* Rigid motions, of any size, load no mode elastically, and the body behaves as the rigid one. */
static void rigid_motion_has_no_strain(void **state)
{
    yk_ffrf_rod_def def = steel_rod();
    yk_flexible *rod = make(*state, &def);
    sample s;
    fill_sample(&s, 0);
    s.motion.frame.rotation = yk_so3_exp_matrix(yk_v3(2, -1, 2));
    double loads[SIZE];
    loads_vector(&rod->modal, &s, loads);
    yk_inertia inertia = yk_ffrf_inertia(&rod->modal, NULL);
    yk_inertia global;
    yk_vec3 force, torque;
    yk_inertia_rotate(&inertia, &s.motion.frame.rotation, &global);
    yk_inertia_bias(&global, &s.motion.frame, &force, &torque);
    yk_momentum change = yk_inertia_momentum(&global, yk_v3_sub(s.motion.acceleration, gravity),
                                             s.motion.angular_acceleration);
    yk_vec3 f = yk_v3_add(change.linear, force), t = yk_v3_add(change.angular, torque);
    assert_near(loads[0], f.x, 1e-12 * yk_v3_norm(f));
    assert_near(loads[5], t.z, 1e-12 * yk_v3_norm(t));
    yk_ffrf_loads at_rest;
    yk_ffrf_motion rest = s.motion;
    rest.acceleration = rest.angular_acceleration = rest.frame.velocity =
        rest.frame.angular_velocity = yk_v3(0, 0, 0);
    yk_ffrf_evaluate(&rod->modal, &rest, yk_v3(0, 0, 0), &at_rest);
    for (int i = 0; i < MODES; i++)
        assert_near(at_rest.modal[i], 0, 0);
    yk_flexible_release(rod);
}

/* Cantilever ----------------------------------------------------------------------------------- */

static yk_ffrf_rod_def thin_cantilever(bool statics, int modes)
{
    yk_ffrf_rod_def def = steel_rod();
    def.length = 1;
    yk_beam_section_set_tube(&def.section, 0.002, 0);
    def.bending_y = def.bending_z = modes;
    def.statics = statics;
    return def;
}

static void cantilever_bends_as_it_should(void **state)
{
    static const double end[1] = {1};
    yk_ffrf_rod_def def = thin_cantilever(true, 1);
    def.attachments = end, def.attachment_count = 1;
    yk_flexible *rod = make(*state, &def);
    int n = rod->modal.modes;
    assert_int_equal(n, 8);
    double matrix[8 * 8], load[8];
    int pivot[8];
    memcpy(matrix, rod->modal.stiffness, sizeof matrix);
    for (int i = 0; i < n; i++)
        load[i] = 2 * rod->nodes[0].displacement[i].y;
    assert_int_equal(yk_lu_factor(n, matrix, pivot), YK_OK);
    yk_lu_solve(n, matrix, pivot, load);
    double tip = 0, rotation = 0, bending = def.section.young_modulus * def.section.area_moment_z;
    for (int i = 0; i < n; i++) {
        tip += load[i] * rod->nodes[0].displacement[i].y;
        rotation += load[i] * rod->nodes[0].rotation[i].z;
    }
    assert_relative(tip, 2 / (3 * bending), 1e-10);
    assert_relative(rotation, 2 / (2 * bending), 1e-10);
    yk_flexible_release(rod);

    /* Shapes of vibration alone come near: four of them to 0.06 percent. */
    def = thin_cantilever(false, 4);
    def.attachments = end, def.attachment_count = 1;
    rod = make(*state, &def);
    tip = 0;
    for (int i = 0; i < 4; i++) {
        double s = rod->nodes[0].displacement[i].y;
        tip += 2 * s * s / rod->modal.stiffness[(rod->modal.modes + 1) * i];
    }
    assert_relative(tip, 2 / (3 * bending), 1e-3);
    yk_flexible_release(rod);
}

static void frequencies_are_those_of_beam_theory(void **state)
{
    static const double roots[3][4] = {
        {1.8751040687119611, 4.6940911329741745, 7.8547574382376126, 10.995540734875467},
        {YK_PI, 2 * YK_PI, 3 * YK_PI, 4 * YK_PI},
        {4.7300407448627040, 7.8532046240958376, 10.995607838001671, 14.137165491257464}};
    for (int support = 0; support < 3; support++) {
        yk_ffrf_rod_def def = thin_cantilever(false, 4);
        def.support = support;
        def.extension = def.torsion = 2;
        yk_flexible *rod = make(*state, &def);
        int n = rod->modal.modes;
        const yk_beam_section_def *s = &def.section;
        double wave = sqrt(s->young_modulus * s->area_moment_z / (s->density * s->area));
        for (int i = 0; i < 4; i++) {
            double omega =
                sqrt(rod->modal.stiffness[(n + 1) * i] / rod->modal.modal_mass[(n + 1) * i]);
            assert_relative(omega, roots[support][i] * roots[support][i] * wave, 1e-3);
        }
        double sound = sqrt(s->young_modulus / s->density) * YK_PI * (support == 2 ? 1 : 0.5);
        assert_relative(
            sqrt(rod->modal.stiffness[(n + 1) * 8] / rod->modal.modal_mass[(n + 1) * 8]), sound,
            1e-12);
        double shear = sqrt(0.5 / (1 + s->poisson_ratio));
        assert_relative(
            sqrt(rod->modal.stiffness[(n + 1) * 10] / rod->modal.modal_mass[(n + 1) * 10]),
            shear * sound, 1e-12);
        yk_flexible_release(rod);
    }
}

/* Modes of a free rod move neither its centre of mass nor turn it, to first order. */
static void free_shapes_keep_the_mean_motion(void **state)
{
    yk_ffrf_rod_def def = steel_rod();
    def.support = YK_ROD_FREE_FREE;
    yk_flexible *rod = make(*state, &def);
    for (int i = 0; i < MODES; i++) {
        assert_near(yk_v3_norm(rod->modal.shift[i]), 0, 1e-4 * rod->modal.mass);
        assert_near(rod->modal.spread[i].m[0][1] + rod->modal.spread[i].m[0][2], 0,
                    1e-3 * rod->modal.mass * def.length);
    }
    yk_flexible_release(rod);
}

/* Places --------------------------------------------------------------------------------------- */

static void node_jacobian_and_bias_are_derivatives(void **state)
{
    static const double at[1] = {0.21};
    yk_ffrf_rod_def def = steel_rod();
    def.attachments = at, def.attachment_count = 1;
    yk_flexible *rod = make(*state, &def);
    const yk_ffrf_node *node = &rod->nodes[0];
    sample s;
    fill_sample(&s, 2e-2);
    yk_vec3 pull[2][MODES];
    yk_ffrf_pose pose = {.pull = pull[0]}, other = {.pull = pull[1]};
    yk_frame here, ahead, behind;
    double jacobian[6 * SIZE], h = 1e-5;
    yk_ffrf_node_pose(node, MODES, &s.motion.frame, s.amplitude, s.rate, &pose, &here);
    yk_ffrf_node_jacobian(node, MODES, &s.motion.frame, &pose, jacobian);
    double velocity[SIZE];
    memcpy(velocity, &s.motion.frame.velocity, sizeof(yk_vec3));
    memcpy(velocity + 3, &s.motion.frame.angular_velocity, sizeof(yk_vec3));
    memcpy(velocity + 6, s.rate, sizeof s.rate);
    double by_map[6] = {0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < SIZE; j++)
            by_map[i] += jacobian[SIZE * i + j] * velocity[j];
    assert_near(by_map[1], here.velocity.y, 1e-12);
    assert_near(by_map[5], here.angular_velocity.z, 1e-12);
    yk_frame frames[2];
    for (int side = 0; side < 2; side++) {
        double t = side ? h : -h, amplitude[MODES];
        frames[side] = s.motion.frame;
        frames[side].position = yk_v3_axpy(t, s.motion.frame.velocity, s.motion.frame.position);
        frames[side].rotation =
            yk_m3_mul(yk_so3_exp_matrix(yk_v3_scale(t, s.motion.frame.angular_velocity)),
                      s.motion.frame.rotation);
        for (int i = 0; i < MODES; i++)
            amplitude[i] = s.amplitude[i] + t * s.rate[i];
        yk_ffrf_node_pose(node, MODES, &frames[side], amplitude, s.rate, &other,
                          side ? &ahead : &behind);
    }
    yk_vec3 moved = yk_v3_scale(0.5 / h, yk_v3_sub(ahead.position, behind.position));
    yk_vec3 rotated = yk_v3_scale(
        0.5 / h, yk_so3_log_matrix(yk_m3_mul(ahead.rotation, yk_m3_transpose(behind.rotation))));
    assert_near(yk_v3_norm(yk_v3_sub(moved, here.velocity)), 0, 1e-7);
    assert_near(yk_v3_norm(yk_v3_sub(rotated, here.angular_velocity)), 0, 1e-6);
    yk_vec3 acceleration, spin;
    yk_ffrf_node_bias(node, MODES, &s.motion.frame, s.amplitude, s.rate, &pose, &acceleration,
                      &spin);
    moved = yk_v3_scale(0.5 / h, yk_v3_sub(ahead.velocity, behind.velocity));
    rotated = yk_v3_scale(0.5 / h, yk_v3_sub(ahead.angular_velocity, behind.angular_velocity));
    assert_near(yk_v3_norm(yk_v3_sub(moved, acceleration)), 0, 1e-6 * yk_v3_norm(acceleration));
    assert_near(yk_v3_norm(yk_v3_sub(rotated, spin)), 0, 1e-6 * yk_v3_norm(spin));
    yk_flexible_release(rod);
}

static void node_stiffness_is_a_derivative(void **state)
{
    static const double at[1] = {0.3};
    yk_ffrf_rod_def def = steel_rod();
    def.attachments = at, def.attachment_count = 1;
    yk_flexible *rod = make(*state, &def);
    const yk_vec3 force = {30, -20, 10}, torque = {3, 4, -5};
    const double load[6] = {30, -20, 10, 3, 4, -5};
    sample s;
    fill_sample(&s, 2e-2);
    double tangent[SIZE * SIZE] = {0}, step = 1e-6;
    yk_vec3 pull[MODES];
    yk_ffrf_pose pose = {.pull = pull};
    yk_frame placed;
    yk_ffrf_node_pose(&rod->nodes[0], MODES, &s.motion.frame, s.amplitude, s.rate, &pose, &placed);
    yk_ffrf_node_stiffness(&rod->nodes[0], MODES, &s.motion.frame, s.amplitude, &pose, force,
                           torque, 1, tangent);
    for (int k = 0; k < SIZE; k++) {
        double general[2][SIZE] = {{0}};
        for (int side = 0; side < 2; side++) {
            sample moved = s;
            move_sample(&moved, k, side ? step : -step, 1);
            double jacobian[6 * SIZE], spread[SIZE] = {0};
            yk_ffrf_node_pose(&rod->nodes[0], MODES, &moved.motion.frame, moved.amplitude,
                              moved.rate, &pose, &placed);
            yk_ffrf_node_jacobian(&rod->nodes[0], MODES, &moved.motion.frame, &pose, jacobian);
            yk_vec3 about = yk_ffrf_node_spread(&rod->nodes[0], MODES, &moved.motion.frame, &pose,
                                                force, torque, spread + 6);
            for (int j = 0; j < SIZE; j++)
                for (int i = 0; i < 6; i++)
                    general[side][j] += jacobian[SIZE * i + j] * load[i];
            assert_near(about.y, general[side][4], 1e-12);
            for (int j = 6; j < SIZE; j++)
                assert_near(spread[j], general[side][j], 1e-12);
        }
        for (int j = 0; j < SIZE; j++)
            assert_near(tangent[SIZE * j + k], (general[1][j] - general[0][j]) / (2 * step), 1e-6);
    }
    yk_flexible_release(rod);
}

static void bad_rods_are_refused(void **state)
{
    yk_flexible *rod;
    yk_ffrf_rod_def def = steel_rod();
    def.length = 0;
    assert_int_equal(yk_flexible_rod(*state, &def, &rod), YK_ERROR_ARGUMENT);
    def = steel_rod();
    def.bending_y = YK_ROD_MODES_MAX + 1;
    assert_int_equal(yk_flexible_rod(*state, &def, &rod), YK_ERROR_ARGUMENT);
    static const double outside[1] = {0.31};
    def = steel_rod();
    def.attachments = outside, def.attachment_count = 1;
    assert_int_equal(yk_flexible_rod(*state, &def, &rod), YK_ERROR_ARGUMENT);
    def = steel_rod();
    def.support = YK_ROD_FREE_FREE, def.statics = true;
    assert_int_equal(yk_flexible_rod(*state, &def, &rod), YK_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integrals_of_a_pinned_rod),
        cmocka_unit_test(integrals_of_two_points),
        cmocka_unit_test(momenta_change_by_the_loads),
        cmocka_unit_test(tangents_are_derivatives),
        cmocka_unit_test(loads_are_those_of_moving_points),
        cmocka_unit_test(power_is_rate_of_energy),
        cmocka_unit_test(rigid_motion_has_no_strain),
        cmocka_unit_test(cantilever_bends_as_it_should),
        cmocka_unit_test(frequencies_are_those_of_beam_theory),
        cmocka_unit_test(free_shapes_keep_the_mean_motion),
        cmocka_unit_test(node_jacobian_and_bias_are_derivatives),
        cmocka_unit_test(node_stiffness_is_a_derivative),
        cmocka_unit_test(bad_rods_are_refused),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
