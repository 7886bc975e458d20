/* The extrapolation of a subsystem with substeps over macro steps, paper explicit (33) and (34):
 * with the rho_inf of its own method, and on SO(3) as its solver does it. The subsystems move as
 * is prescribed here, so that every prediction has a known answer. */
#include <stdlib.h>

#include "any_scheme.h"
#include "coupling/extrapolation.h"
#include "coupling/step_frame.h"
#include "coupling/system.h"
#include "math/integrators.h"
#include "math/so3.h"
#include "test.h"
#include "yoke/oscillator.h"

static yk_context *context;

/* A marker on a cubic path that precesses: R = exp(precession t z) exp(spin t axis). */
typedef struct moving {
    yk_subsystem base;
    yk_vec3 path[4];
    yk_vec3 axis;
    double spin, precession;
    double rho_inf;
    double t;
} moving;

static yk_motion motion_at(const moving *m, double t)
{
    yk_quat whole = yk_so3_exp(yk_v3(0, 0, m->precession * t));
    yk_quat own = yk_so3_exp(yk_v3_scale(m->spin * t, m->axis));
    yk_vec3 spin = yk_v3_scale(m->spin, yk_q_rotate(whole, m->axis));
    yk_vec3 up = {0, 0, m->precession};
    yk_motion motion = {.orientation = yk_q_mul(whole, own),
                        .angular_velocity = yk_v3_add(up, spin),
                        .angular_acceleration = yk_v3_cross(up, spin)};
    double power[3] = {1, 0, 0}; /* t^k and its derivatives */
    for (int k = 0; k < 4; k++) {
        motion.position = yk_v3_axpy(power[0], m->path[k], motion.position);
        motion.velocity = yk_v3_axpy(power[1], m->path[k], motion.velocity);
        motion.acceleration = yk_v3_axpy(power[2], m->path[k], motion.acceleration);
        power[2] = t * power[2] + 2 * power[1];
        power[1] = t * power[1] + power[0];
        power[0] = t * power[0];
    }
    return motion;
}

static int ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"marker", YK_PORT_MARKER,
                                 YK_CAUSALITY_WRENCH_INPUT | YK_CAUSALITY_MOTION_INPUT};
    (void)self;
    *list = &port;
    return 1;
}

static yk_status connect(yk_subsystem *self, int port, yk_causality causality, unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)h, (void)inputs;
    ((moving *)self)->t = t;
    return YK_OK;
}

static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)inputs;
    ((moving *)self)->t = t + h;
    return YK_OK;
}

static void output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const moving *m = (const moving *)self;
    (void)port;
    *value = (yk_port_value){.motion = motion_at(m, m->t)};
}

static void destroy(yk_subsystem *self)
{
    (void)self;
}

static double rho_inf(const yk_subsystem *self)
{
    return ((const moving *)self)->rho_inf;
}

static const yk_subsystem_ops plain_ops = {.size = sizeof(yk_subsystem_ops),
                                           .kind = "moving",
                                           .ports = ports,
                                           .connect = connect,
                                           .initialize = start,
                                           .step = step,
                                           .get_port_value = output,
                                           .destroy = destroy};

/* The prediction for the end of the third macro step, at 3 h, and the motions at h and 2 h from which it follows. */
static yk_motion predicted(yk_subsystem *of, yk_subsystem *partner, yk_port_kind kind, double h,
                           yk_motion known[2])
{
    yk_subsystem *both[2] = {of, partner};
    static const char *const names[2] = {"a", "b"};
    static const int substeps[2] = {2, 1};
    yk_interface_def joint = {.name = "joint", .motion_subsystem = {1}};
    joint.constrained_axes = kind == YK_PORT_SCALAR ? YK_AXIS_X : YK_AXES_ALL;
    yk_system_description def = {.subsystems = both,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .substeps = substeps,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = h};
    any_scheme scheme = any_scheme_default();
    yk_system *system = NULL;
    assert_int_equal(any_scheme_create(context, &def, &scheme, &system), YK_OK);
    assert_true(!YK_FAILED(yk_system_initialize(system)));
    for (int n = 0; n < 2; n++)
        assert_true(!YK_FAILED(yk_system_step(system, NULL)));

    yk_system_keep_start(system);
    yk_motion motion;
    yk_system_predict_motion(system, 0, &motion);
    known[0] = system->participants[0].earlier[0];
    known[1] = system->participants[0].before[0];
    yk_system_destroy(system);
    return motion;
}

static yk_motion predicted_motion(moving m, bool with_rho_inf, double h)
{
    yk_subsystem_ops ops = plain_ops;
    if (with_rho_inf)
        ops.rho_inf = rho_inf;
    m.base.ops = &ops;
    moving partner = m;
    yk_motion known[2];
    return predicted(&m.base, &partner.base, YK_PORT_MARKER, h, known);
}

static void assert_vectors_near(yk_vec3 a, yk_vec3 b, double tolerance)
{
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

static const moving cubic = {.path = {{1, 2, 3}, {-1, 0.5, 2}, {3, -2, 1}, {5, 4, -6}}};

/* On a cubic path the Hermite rate is exact, and the position is what the closing formula makes of
 * exact rates: with rho_inf = 0 BDF2, with 1 the trapezoidal rule over both steps. */
static void closes_with_the_rho_inf_of_the_method(void **state)
{
    (void)state;
    double h = 0.3;
    yk_motion before = motion_at(&cubic, h);
    yk_motion now = motion_at(&cubic, 2 * h);
    yk_motion end = motion_at(&cubic, 3 * h);

    moving m = cubic;
    yk_motion damped = predicted_motion(m, true, h);
    yk_vec3 past = yk_v3_axpy(4.0 / 3, now.position, yk_v3_scale(-1.0 / 3, before.position));
    assert_vectors_near(damped.velocity, end.velocity, 1e-12);
    assert_vectors_near(damped.position, yk_v3_axpy(2.0 / 3 * h, end.velocity, past), 1e-12);

    m.rho_inf = 1;
    yk_motion undamped = predicted_motion(m, true, h);
    yk_vec3 ends = yk_v3_add(before.velocity, end.velocity);
    yk_vec3 mean = yk_v3_axpy(0.5, ends, now.velocity);
    assert_vectors_near(undamped.velocity, end.velocity, 1e-12);
    assert_vectors_near(undamped.position, yk_v3_axpy(h, mean, before.position), 1e-12);

    /* Without one of its own: that of the papers. */
    m.rho_inf = 0.6;
    yk_motion own = predicted_motion(m, true, h);
    yk_motion none = predicted_motion(m, false, h);
    assert_vectors_near(own.position, none.position, 0);
    assert_true(fabs(own.position.x - damped.position.x) > 1e-3);
}

/* An oscillator with two substeps is extrapolated as it extrapolates over its own steps. */
static void an_oscillator_is_extrapolated_as_by_itself(void **state)
{
    (void)state;
    static const double rho[3] = {0, 0.5, 1};
    for (int i = 0; i < 3; i++) {
        yk_subsystem *mass[2];
        yk_oscillator_def def = yk_oscillator_default();
        def.stiffness = 40;
        def.position = 0.1;
        def.rho_inf = rho[i];
        for (int k = 0; k < 2; k++)
            assert_int_equal(yk_oscillator_create(context, &def, &mass[k]), YK_OK);
        double h = 0.05;
        yk_motion known[2];
        yk_motion motion = predicted(mass[0], mass[1], YK_PORT_SCALAR, h, known);

        double x[2] = {known[0].position.x, known[1].position.x};
        double v[2] = {known[0].velocity.x, known[1].velocity.x};
        double rate = -12 / h * (x[1] - x[0]) + 8 * v[1] + 5 * v[0];
        yk_two_step k = yk_two_step_coefficients(rho[i]);
        double rates = k.b0 * rate + k.b1 * v[1] + k.b2 * v[0];
        assert_near(motion.velocity.x, rate, 1e-12);
        assert_near(motion.position.x, k.a1 * x[1] + k.a2 * x[0] + h * rates, 1e-14);
        for (int n = 0; n < 2; n++)
            mass[n]->ops->destroy(mass[n]);
    }
}

/* A rotation at a constant rate about a skew axis, a radian per step. */
static void a_constant_rotation_is_exact(void **state)
{
    (void)state;
    moving m = {.axis = yk_v3_unit(yk_v3(1, -2, 0.5)), .spin = 2, .rho_inf = 0.3};
    yk_motion motion = predicted_motion(m, true, 0.5);
    yk_motion exact = motion_at(&m, 1.5);
    yk_vec3 apart = yk_so3_log(yk_q_mul(motion.orientation, yk_q_conjugate(exact.orientation)));
    assert_vectors_near(apart, yk_v3(0, 0, 0), 1e-13);
    assert_vectors_near(motion.angular_velocity, exact.angular_velocity, 1e-12);
}

/* If the axis moves, the angular velocity is of third order, as the Hermite polynomial is: a
 * rate of phi that is taken for an angular velocity would leave the second. */
static void a_precession_is_of_third_order(void **state)
{
    (void)state;
    moving m = {.axis = yk_v3_unit(yk_v3(1, 0, 1)), .spin = 3, .precession = 2, .rho_inf = 1};
    double error[3];
    double h = 0.04;
    for (int i = 0; i < 3; i++, h /= 2) {
        yk_motion motion = predicted_motion(m, true, h);
        yk_motion exact = motion_at(&m, 3 * h);
        error[i] = yk_v3_norm(yk_v3_sub(motion.angular_velocity, exact.angular_velocity));
    }
    assert_true(log2(error[0] / error[1]) > 2.8);
    assert_true(log2(error[1] / error[2]) > 2.8);
}

/* The motion of the third step by the last two or three starts, with a first step of another size; and the errors of position
 * and velocity. */
static void errors_of_extrapolation(yk_motion_extrapolation kind, const moving *m, double h,
                                    double error[4])
{
    moving sides[2] = {*m, *m};
    for (int i = 0; i < 2; i++)
        sides[i].base.ops = &plain_ops;
    yk_subsystem *both[2] = {&sides[0].base, &sides[1].base};
    static const char *const names[2] = {"a", "b"};
    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXES_ALL};
    yk_system_description def = {.subsystems = both,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = h};
    any_scheme scheme = any_scheme_default();
    yk_system *system = NULL;
    assert_int_equal(any_scheme_create(context, &def, &scheme, &system), YK_OK);
    assert_true(!YK_FAILED(yk_system_initialize(system)));

    /* Steps of 0.7 h, h and 0.8 h. */
    static const double parts[3] = {0.7, 1, 0.8};
    yk_motion_history *history = NULL;
    assert_int_equal(yk_motion_history_create(system, kind, &history), YK_OK);
    assert_non_null(history);
    double t = 0;
    yk_motion end;
    for (int n = 0; n < 3; n++) {
        yk_system_begin_part(system, t, parts[n] * h);
        *yk_before_a(system, &system->interfaces[0]) = motion_at(m, t);
        yk_motion_history_predict(history, system, 0, &end);
        yk_motion_history_add_step(history, system);
        t += parts[n] * h;
    }
    yk_motion_history_destroy(history, system);
    yk_system_destroy(system);

    yk_motion exact = motion_at(m, t);
    yk_quat apart = yk_q_mul(end.orientation, yk_q_conjugate(exact.orientation));
    error[0] = yk_v3_norm(yk_v3_sub(end.position, exact.position));
    error[1] = yk_v3_norm(yk_v3_sub(end.velocity, exact.velocity));
    error[2] = yk_v3_norm(yk_so3_log(apart));
    error[3] = yk_v3_norm(yk_v3_sub(end.angular_velocity, exact.angular_velocity));
}

/* The velocity of a polynomial of degree k has an error of order k + 1, its integral one more; the cubic of Hermite has the
 * orders 3 and 4. Translations and rotations, also with steps of different sizes. */
static void extrapolations_have_their_orders(void **state)
{
    (void)state;
    moving m = {.path = {{1, 2, 3}, {-1, 0.5, 2}, {3, -2, 1}, {5, 4, -6}},
                .axis = yk_v3_unit(yk_v3(1, 0, 1)),
                .spin = 3,
                .precession = 2};
    static const struct {
        yk_motion_extrapolation kind;
        int rate_order;
    } cases[] = {{YK_MOTION_EXTRAPOLATION_CONSTANT, 1},
                 {YK_MOTION_EXTRAPOLATION_LINEAR, 2},
                 {YK_MOTION_EXTRAPOLATION_QUADRATIC, 3},
                 {YK_MOTION_EXTRAPOLATION_HERMITE, 3}};
    for (int c = 0; c < 4; c++) {
        double coarse[4];
        double fine[4];
        errors_of_extrapolation(cases[c].kind, &m, 0.02, coarse);
        errors_of_extrapolation(cases[c].kind, &m, 0.01, fine);
        for (int i = 0; i < 4; i++) {
            bool is_exact = i < 2 && cases[c].rate_order == 3;
            double expected = cases[c].rate_order + (i % 2 == 0);
            if (is_exact)
                assert_true(fine[i] < 1e-12);
            else
                assert_near(log2(coarse[i] / fine[i]), expected, 0.1);
        }
    }
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closes_with_the_rho_inf_of_the_method),
        cmocka_unit_test(an_oscillator_is_extrapolated_as_by_itself),
        cmocka_unit_test(a_constant_rotation_is_exact),
        cmocka_unit_test(a_precession_is_of_third_order),
        cmocka_unit_test(extrapolations_have_their_orders),
    };
    int failed = cmocka_run_group_tests_name("predict", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
