/* Derivatives of a step by the wrenches on two ports of a mechanism, against whole steps that are
 * repeated from the same state with displaced wrenches. The conformance suite does the same with
 * one port; here joints tie both, internal steps are several, and more digits are asked for. */
#include <stdlib.h>
#include <string.h>

#include "math/so3.h"
#include "run.h"

enum {
    DEGREE = 3,
    WRENCHES = 7,
    COLUMNS = WRENCHES * (DEGREE + 1),
    MARKER = 18,
    OUTPUTS = MARKER + 3,
    PORTS = 2
};

/* The slider-crank with a wrench on its rod, off its centre, and an actuator between slider and
 * crank. */
static void mechanism(run *r)
{
    kit_slider_crank(&r->kit);
    for (int i = 0; i < PORTS; i++)
        r->kit.ports[i] = yk_port_default();
    r->kit.ports[0].name = "rod";
    r->kit.ports[0].bodies[0] = (yk_body_id){1};
    r->kit.ports[0].markers[0] = yk_marker_at(0.05, 0.02, -0.03);
    r->kit.ports[1].name = "actuator";
    r->kit.ports[1].kind = YK_PORT_SCALAR;
    r->kit.ports[1].bodies[0] = (yk_body_id){0}, r->kit.ports[1].bodies[1] = (yk_body_id){2};
    r->kit.ports[1].markers[0] = yk_marker_at(0, 0.01, 0.04);
    r->kit.def.port_count = PORTS;
    r->kit.def.options.newton_relative_tolerance = 1e-10;
    r->kit.def.options.newton_absolute_tolerance = 1e-14;
}

static void fill_inputs(yk_input inputs[PORTS])
{
    memset(inputs, 0, PORTS * sizeof *inputs);
    for (int p = 0; p < PORTS; p++) {
        inputs[p].degree = DEGREE;
        inputs[p].base_orientation = yk_q_identity();
    }
    inputs[0].linear[0] = yk_v3(3, -2, 1);
    inputs[0].linear[2] = yk_v3(10, 200, 30);
    inputs[0].angular[1] = yk_v3(1, 2, -3);
    inputs[1].linear[0].x = 5;
    inputs[1].linear[3].x = -700;
}

static void connect_and_run(run *r, double h, int steps, yk_input inputs[PORTS])
{
    run_create(r);
    yk_subsystem *s = yk_multibody_subsystem(r->model);
    for (int p = 0; p < PORTS; p++)
        assert_int_equal(
            s->ops->connect(s, p, YK_CAUSALITY_WRENCH_INPUT, p ? YK_AXIS_X : YK_AXES_ALL), YK_OK);
    assert_int_equal(s->ops->initialize(s, 0, h, NULL), YK_OK);
    fill_inputs(inputs);
    for (int i = 0; i < steps; i++)
        assert_int_equal(s->ops->step(s, i * h, h, inputs), YK_OK);
}

static void read_outputs(yk_subsystem *s, yk_quat *from, bool first, double rows[OUTPUTS])
{
    yk_port_value value;
    s->ops->get_port_value(s, 0, &value);
    const yk_motion *m = &value.motion;
    if (first)
        *from = m->orientation;
    yk_vec3 rotation = yk_so3_log(yk_q_mul(m->orientation, yk_q_conjugate(*from)));
    yk_vec3 all[] = {m->position,         rotation,        m->velocity,
                     m->angular_velocity, m->acceleration, m->angular_acceleration};
    memcpy(rows, all, sizeof all);
    s->ops->get_port_value(s, 1, &value);
    rows[MARKER] = m->position.x, rows[MARKER + 1] = m->velocity.x,
    rows[MARKER + 2] = m->acceleration.x;
}

static double *coefficient(yk_input inputs[PORTS], int column, int *power)
{
    int first = 6 * (DEGREE + 1);
    if (column >= first) {
        *power = column - first;
        return &inputs[1].linear[*power].x;
    }
    *power = column / 6;
    int k = column % 6;
    return &(k < 3 ? (double *)&inputs[0].linear[*power]
                   : (double *)&inputs[0].angular[*power])[k % 3];
}

/* Positions, velocities, accelerations: each relative to the largest of its kind in the column. */
static void compare(const double *matrix, int column, const double expected[OUTPUTS], int levels,
                    double tolerance)
{
    for (int i = 0; i < OUTPUTS; i++) {
        int level = i < MARKER ? i / 6 : i - MARKER;
        if (level >= levels)
            continue;
        double scale = fabs(expected[MARKER + level]);
        for (int k = 0; k < 6; k++)
            scale = fmax(scale, fabs(expected[6 * level + k]));
        assert_near(matrix[i * COLUMNS + column], expected[i], tolerance * scale);
    }
}

static void check(run *r, double h, int steps, double push, double tolerance)
{
    yk_input inputs[PORTS];
    connect_and_run(r, h, steps, inputs);
    yk_subsystem *s = yk_multibody_subsystem(r->model);
    size_t words = s->ops->rollback->layout(s).word_count;
    double *mark = malloc(words * sizeof *mark), *after = malloc(words * sizeof *after),
           *again = malloc(words * sizeof *again);
    double matrix[OUTPUTS * COLUMNS], rows[2][OUTPUTS], t = steps * h;
    s->ops->rollback->get(s, mark);
    assert_int_equal(s->ops->step(s, t, h, inputs), YK_OK);
    s->ops->rollback->get(s, after);
    s->ops->rollback->set(s, mark);
    assert_int_equal(s->ops->sensitivity->step_with_sensitivity(s, t, h, inputs, DEGREE, matrix),
                     YK_OK);
    s->ops->rollback->get(s, again);
    assert_memory_equal(after, again, words * sizeof *after);
    for (int column = 0; column < COLUMNS; column++) {
        yk_quat from = yk_q_identity();
        int power;
        double *place = coefficient(inputs, column, &power), kept = *place,
               size = push / pow(h, power);
        for (int side = 0; side < 2; side++) {
            *place = kept + (side ? size : -size);
            s->ops->rollback->set(s, mark);
            assert_int_equal(s->ops->step(s, t, h, inputs), YK_OK);
            read_outputs(s, &from, side == 0, rows[side]);
        }
        *place = kept;
        for (int i = 0; i < OUTPUTS; i++)
            rows[0][i] = (rows[1][i] - rows[0][i]) / (2 * size);
        compare(matrix, column, rows[0], 3, tolerance);
    }
    free(mark), free(after), free(again);
    run_stop(r);
}

static void two_step(void **state)
{
    (void)state;
    run r;
    mechanism(&r);
    check(&r, 1e-3, 20, 0.5, 2e-6);
}

static void matrix_of(const yk_multibody_options *options, double h,
                      double matrix[OUTPUTS * COLUMNS])
{
    run r;
    mechanism(&r);
    r.kit.def.options = *options;
    yk_input inputs[PORTS];
    connect_and_run(&r, h, 5, inputs);
    yk_subsystem *s = yk_multibody_subsystem(r.model);
    yk_multibody_report before, after;
    yk_multibody_report_get(r.model, &before);
    assert_int_equal(
        s->ops->sensitivity->step_with_sensitivity(s, 5 * h, h, inputs, DEGREE, matrix), YK_OK);
    yk_multibody_report_get(r.model, &after);
    assert_true(options->integrator == YK_MULTIBODY_RUNGE_KUTTA || after.steps - before.steps > 10);
    run_stop(&r);
}

/* Step control chooses other sizes when wrenches are displaced, so that differences
 * of them say little; the exact derivatives are those of the other integrator. What is left is
 * the method's answer to a wrench that begins with a jump, one internal step late, which its
 * accelerations do not forget at once. */
static void two_step_with_several_internal_steps(void **state)
{
    (void)state;
    yk_multibody_options options = yk_multibody_options_default();
    double matrix[OUTPUTS * COLUMNS], exact[OUTPUTS * COLUMNS], column[OUTPUTS];
    options.error_tolerance = 1e-10;
    matrix_of(&options, 1e-2, matrix);
    options.integrator = YK_MULTIBODY_RUNGE_KUTTA;
    options.error_tolerance = 1e-12;
    matrix_of(&options, 1e-2, exact);
    for (int c = 0; c < COLUMNS; c++) {
        for (int i = 0; i < OUTPUTS; i++)
            column[i] = exact[i * COLUMNS + c];
        compare(matrix, c, column, 2, 2e-2);
    }
}

static void runge_kutta(void **state)
{
    (void)state;
    run r;
    mechanism(&r);
    r.kit.def.options.integrator = YK_MULTIBODY_RUNGE_KUTTA;
    r.kit.def.options.error_tolerance = 1e-13;
    check(&r, 1e-2, 5, 0.1, 1e-6);
}

static void runge_kutta_with_several_internal_steps(void **state)
{
    (void)state;
    run r;
    mechanism(&r);
    r.kit.def.options.integrator = YK_MULTIBODY_RUNGE_KUTTA;
    r.kit.def.options.error_tolerance = 1e-13;
    check(&r, 5e-2, 2, 5e-3, 5e-6); /* what the differences hold */
}

static void chebyshev(void **state)
{
    (void)state;
    run r;
    mechanism(&r);
    r.kit.def.options.integrator = YK_MULTIBODY_CHEBYSHEV;
    check(&r, 5e-3, 5, 0.5, 2e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_step),    cmocka_unit_test(two_step_with_several_internal_steps),
        cmocka_unit_test(runge_kutta), cmocka_unit_test(runge_kutta_with_several_internal_steps),
        cmocka_unit_test(chebyshev),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
