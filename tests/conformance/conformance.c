#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#include "coupling/system.h"
#include "coupling/wiring.h"
#include "inputs.h"
#include "math/polynomial.h"
#include "math/so3.h"
#include "math/vec3.h"
#include "test.h"

enum { PORTS_MAX = 64 };

/* Counts what is asked of it while `armed`. */
typedef struct counting_allocator {
    bool armed;
    int requests;
} counting_allocator;

static void *count_allocation(void *user, void *block, size_t bytes)
{
    counting_allocator *counter = user;
    if (counter->armed)
        counter->requests++;
    if (bytes)
        return realloc(block, bytes);
    free(block);
    return NULL;
}

typedef struct bed {
    const conformance_case *c;
    counting_allocator counter;
    yk_context *context;
    yk_subsystem *subsystem;
    int port_count;
    yk_input inputs[PORTS_MAX];
} bed;

static void bed_open(bed *b, const conformance_case *c)
{
    *b = (bed){.c = c};
    yk_context_def def = yk_context_default();
    def.allocate = count_allocation;
    def.allocate_user = &b->counter;
    def.thread_count = 1;
    b->context = yk_context_create(&def);
    assert_non_null(b->context);
    yk_status status = c->create(b->context, c->user, &b->subsystem);
    if (status != YK_OK)
        print_error("%s: %s\n", c->name, yk_last_message(b->context));
    assert_int_equal(status, YK_OK);
    const yk_port *ports;
    b->port_count = b->subsystem->ops->ports(b->subsystem, &ports);
    assert_in_range(b->port_count, c->port + 1, PORTS_MAX);
    assert_int_equal(
        b->subsystem->ops->connect(b->subsystem, c->port, c->causality, c->constrained), YK_OK);
}

static void bed_close(bed *b)
{
    b->subsystem->ops->destroy(b->subsystem);
    yk_context_destroy(b->context);
}

static yk_vec3 masked(unsigned axes, double value)
{
    return yk_v3(axes & 1 ? value : 0, axes & 2 ? value : 0, axes & 4 ? value : 0);
}

/* The cubic that meets the driving sine and its rate at both ends of the step. A motion starts
 * where the port is. */
static void drive(bed *b, double t, double h, const yk_motion *origin)
{
    const conformance_case *c = b->c;
    double w = c->frequency, a = c->amplitude, cubic[4];
    /* (1 - cos) starts at rest, so that a prescribed motion is consistent with a subsystem at
     * rest. */
    hermite_cubic(h, a * (1 - cos(w * t)), a * w * sin(w * t), a * (1 - cos(w * (t + h))),
                  a * w * sin(w * (t + h)), cubic);
    yk_input *input = &b->inputs[c->port];
    input->degree = 3;
    input->base_orientation = origin->orientation;
    for (int i = 0; i < 4; i++) {
        input->linear[i] = masked(c->constrained, cubic[i]);
        input->angular[i] = masked(c->constrained >> 3, cubic[i]);
    }
    if (c->causality == YK_CAUSALITY_MOTION_INPUT)
        input->linear[0] = yk_v3_add(input->linear[0], origin->position);
}

static void bed_start(bed *b, double h, yk_motion *origin)
{
    const yk_subsystem_ops *ops = b->subsystem->ops;
    assert_int_equal(ops->initialize(b->subsystem, 0, h, NULL), YK_OK);
    yk_port_value value = {.motion.orientation.w = 1};
    ops->get_port_value(b->subsystem, b->c->port, &value);
    *origin = value.motion;
    drive(b, 0, h, origin);
    assert_int_equal(ops->initialize(b->subsystem, 0, h, b->inputs), YK_OK);
}

static void bed_steps(bed *b, int first, int count, double h, const yk_motion *origin)
{
    for (int i = first; i < first + count; i++) {
        drive(b, i * h, h, origin);
        yk_status status = b->subsystem->ops->step(b->subsystem, i * h, h, b->inputs);
        if (YK_FAILED(status) && b->subsystem->ops->last_message)
            print_error("step %d: %s\n", i, b->subsystem->ops->last_message(b->subsystem));
        assert_true(!YK_FAILED(status));
    }
}

static void read_all(const bed *b, yk_port_value *values)
{
    memset(values, 0, PORTS_MAX * sizeof *values);
    for (int i = 0; i < b->port_count; i++)
        b->subsystem->ops->get_port_value(b->subsystem, i, &values[i]);
}

static void table_of_operations_is_complete(void **state)
{
    bed b;
    bed_open(&b, *state);
    const yk_subsystem_ops *ops = b.subsystem->ops;
    yk_context *context = yk_context_create(NULL);
    if (yk_contract_check(context, b.subsystem, "subsystem") != YK_OK)
        fail_msg("%s", yk_last_message(context));
    yk_context_destroy(context);
    assert_non_null(ops->kind);
    const yk_port *ports;
    for (int i = 0; i < ops->ports(b.subsystem, &ports); i++) {
        assert_non_null(ports[i].name);
        unsigned power = YK_CAUSALITY_WRENCH_INPUT | YK_CAUSALITY_MOTION_INPUT,
                 input =
                     YK_CAUSALITY_SIGNAL_INPUT | YK_CAUSALITY_SIGNAL_OUTPUT | YK_OPTIONAL_SIGNAL;
        assert_in_range(ports[i].allowed_causalities, 1, power | input);
        assert_int_equal((ports[i].allowed_causalities & input) != 0,
                         ports[i].kind == YK_PORT_SIGNAL);
    }
    bed_close(&b);
}

/* Shapes are on bodies that exist, and bodies are somewhere. */
static void the_scene_is_sound(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    yk_motion origin;
    bed_start(&b, c->step, &origin);
    bed_steps(&b, 0, 5, c->step, &origin);
    const yk_scene_ops *scene = b.subsystem->ops->scene;
    if (scene) {
        int body_count = scene->bodies(b.subsystem, NULL, 0);
        int shape_count = scene->shapes(b.subsystem, NULL, 0);
        yk_scene_body *bodies = calloc((size_t)body_count + 1, sizeof *bodies);
        yk_scene_pose *poses = calloc((size_t)body_count + 1, sizeof *poses);
        yk_shape *shapes = calloc((size_t)shape_count + 1, sizeof *shapes);
        assert_int_equal(scene->bodies(b.subsystem, bodies, body_count), body_count);
        assert_int_equal(scene->shapes(b.subsystem, shapes, shape_count), shape_count);
        scene->poses(b.subsystem, poses);
        for (int i = 0; i < body_count; i++) {
            assert_in_range(bodies[i].motion, YK_SCENE_MOTION_FIXED, YK_SCENE_MOTION_FULL);
            if (bodies[i].name) /* particles may be absent */
                assert_true(yk_v3_finite(poses[i].position));
            const yk_quat *q = &poses[i].orientation;
            assert_near(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z, 1, 1e-9);
        }
        for (int i = 0; i < shape_count; i++) {
            assert_in_range(shapes[i].kind, 0, YK_SHAPE_KIND_COUNT - 1);
            assert_in_range(shapes[i].body + 1, 0, body_count);
            assert_in_range(shapes[i].end_body + 1, 0, body_count);
        }
        free(bodies), free(poses), free(shapes);
    }
    bed_close(&b);
}

static void starting_again_returns_to_the_start(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    yk_motion origin;
    yk_port_value first[PORTS_MAX], again[PORTS_MAX];
    bed_start(&b, c->step, &origin);
    read_all(&b, first);
    bed_steps(&b, 0, 5, c->step, &origin);
    bed_start(&b, c->step, &origin);
    read_all(&b, again);
    assert_memory_equal(first, again, sizeof first);
    bed_close(&b);
}

static void rollback_is_bit_exact(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    const yk_subsystem_ops *ops = b.subsystem->ops;
    if (!ops->rollback) {
        bed_close(&b);
        skip();
    }
    yk_motion origin;
    bed_start(&b, c->step, &origin);
    bed_steps(&b, 0, c->steps / 2, c->step, &origin);
    yk_state_layout layout = ops->rollback->layout(b.subsystem);
    assert_true(layout.continuous_count <= layout.word_count && layout.word_count > 0);
    double *mark = malloc(layout.word_count * sizeof *mark),
           *one = malloc(layout.word_count * sizeof *one),
           *two = malloc(layout.word_count * sizeof *two);
    yk_port_value at_mark[PORTS_MAX], restored[PORTS_MAX], end_one[PORTS_MAX], end_two[PORTS_MAX];
    ops->rollback->get(b.subsystem, mark);
    read_all(&b, at_mark);
    bed_steps(&b, c->steps / 2, 7, c->step, &origin);
    ops->rollback->get(b.subsystem, one);
    read_all(&b, end_one);
    assert_int_equal(ops->rollback->set(b.subsystem, mark), YK_OK);
    read_all(&b, restored);
    assert_memory_equal(at_mark, restored, sizeof at_mark);
    bed_steps(&b, c->steps / 2, 7, c->step, &origin);
    ops->rollback->get(b.subsystem, two);
    read_all(&b, end_two);
    assert_memory_equal(one, two, layout.word_count * sizeof *one);
    assert_memory_equal(end_one, end_two, sizeof end_one);
    free(mark), free(one), free(two);
    bed_close(&b);
}

static void an_open_trial_is_discarded_by_rollback(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    const yk_subsystem_ops *ops = b.subsystem->ops;
    if (!ops->iteration || !ops->rollback || c->causality != YK_CAUSALITY_WRENCH_INPUT) {
        bed_close(&b);
        skip();
    }
    yk_motion origin;
    yk_port_value direct[PORTS_MAX], after_trial[PORTS_MAX], iterated[PORTS_MAX];
    bed_start(&b, c->step, &origin);
    bed_steps(&b, 0, 4, c->step, &origin);
    yk_state_layout layout = ops->rollback->layout(b.subsystem);
    double *mark = malloc(layout.word_count * sizeof *mark);
    ops->rollback->get(b.subsystem, mark);
    bed_steps(&b, 4, 1, c->step, &origin);
    read_all(&b, direct);
    yk_iteration_report report;
    ops->rollback->set(b.subsystem, mark);
    assert_true(ops->iteration->iterate(b.subsystem, 4 * c->step, c->step, b.inputs, &report) >= 0);
    ops->rollback->set(b.subsystem, mark);
    bed_steps(&b, 4, 1, c->step, &origin);
    read_all(&b, after_trial);
    assert_memory_equal(direct, after_trial, sizeof direct);
    /* Carried to the end, the trial is the step, up to the solver's tolerance. */
    ops->rollback->set(b.subsystem, mark);
    for (int i = 0; i < 3; i++)
        ops->iteration->iterate(b.subsystem, 4 * c->step, c->step, b.inputs, &report);
    bed_steps(&b, 4, 1, c->step, &origin);
    read_all(&b, iterated);
    assert_near(iterated[c->port].motion.position.x, direct[c->port].motion.position.x,
                1e-7 * c->scale);
    free(mark);
    bed_close(&b);
}

/* Output of the port at the end of a run with `steps * refine` steps, projected on the
 * driven axes. */
static double answer(const conformance_case *c, int refine, double *balance)
{
    bed b;
    bed_open(&b, c);
    yk_motion origin;
    double h = c->step / refine;
    bed_start(&b, h, &origin);
    yk_energy before = {0}, after = {0};
    if (b.subsystem->ops->energy)
        b.subsystem->ops->energy->read(b.subsystem, &before);
    bed_steps(&b, 0, c->steps * refine, h, &origin);
    if (b.subsystem->ops->energy)
        b.subsystem->ops->energy->read(b.subsystem, &after);
    *balance = (after.kinetic + after.potential + after.dissipated - after.work) -
               (before.kinetic + before.potential + before.dissipated - before.work);
    yk_port_value values[PORTS_MAX];
    read_all(&b, values);
    const yk_port_value *v = &values[c->port + c->answer];
    yk_vec3 axis = yk_v3_unit(masked(c->constrained & 7 ? c->constrained : c->constrained >> 3, 1));
    bool wrench = c->causality == YK_CAUSALITY_MOTION_INPUT;
    double result;
    if (c->constrained & 7)
        result = yk_v3_dot(axis, wrench ? v->wrench.force
                                        : yk_v3_add(v->motion.position, v->motion.velocity));
    else
        result = yk_v3_dot(axis, wrench ? v->wrench.torque : v->motion.angular_velocity);
    bed_close(&b);
    return result;
}

/* The error of a method of order p falls by 2^p when the step is halved; differences of three
 * runs show it. */
static void check_order(double coarse, double middle, double fine, double order, double scale)
{
    if (order == 0) {
        assert_near(middle, coarse, 1e-9 * scale);
        assert_near(fine, coarse, 1e-9 * scale);
        return;
    }
    double observed = log2(fabs(coarse - middle) / fabs(middle - fine));
    if (!(observed > order - 0.25))
        print_error("observed order %.3f, promised %g\n", observed, order);
    assert_true(observed > order - 0.25);
}

static void halved_steps_converge_with_the_promised_order(void **state)
{
    const conformance_case *c = *state;
    double balance;
    if (c->order < 0)
        skip();
    check_order(answer(c, 1, &balance), answer(c, 2, &balance), answer(c, 4, &balance), c->order,
                c->scale);
}

static void energy_of_the_ports_balances(void **state)
{
    const conformance_case *c = *state;
    if (c->energy_order < 0)
        skip();
    double coarse, middle, fine;
    answer(c, 1, &coarse), answer(c, 2, &middle), answer(c, 4, &fine);
    if (c->energy_order == 0) {
        assert_near(coarse, 0, 1e-9 * c->scale);
        return;
    }
    double observed = log2(fabs(coarse) / fabs(middle)), again = log2(fabs(middle) / fabs(fine));
    if (!(fmin(observed, again) > c->energy_order - 0.4))
        print_error("balance %g, %g, %g J: orders %.3f and %.3f, promised %g\n", coarse, middle,
                    fine, observed, again, c->energy_order);
    assert_true(fmin(observed, again) > c->energy_order - 0.4);
}

static void stepping_allocates_nothing(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    yk_motion origin;
    bed_start(&b, c->step, &origin);
    bed_steps(&b, 0, 3, c->step, &origin);
    b.counter.armed = true;
    bed_steps(&b, 3, 20, c->step, &origin);
    b.counter.armed = false;
    assert_int_equal(b.counter.requests, 0);
    bed_close(&b);
}

static void prediction_approaches_the_step(void **state)
{
    const conformance_case *c = *state;
    double errors[2];
    for (int refine = 0; refine < 2; refine++) {
        bed b;
        bed_open(&b, c);
        if (!b.subsystem->ops->predict || c->causality != YK_CAUSALITY_WRENCH_INPUT ||
            !(c->constrained & 7)) {
            bed_close(&b);
            skip();
        }
        double h = c->step / (1 << refine);
        int steps = (c->steps - 1) << refine;
        yk_motion origin, predicted = {.orientation.w = 1};
        bed_start(&b, h, &origin);
        bed_steps(&b, 0, steps, h, &origin);
        b.subsystem->ops->predict(b.subsystem, c->port, h, &predicted);
        bed_steps(&b, steps, 1, h, &origin);
        yk_port_value values[PORTS_MAX];
        read_all(&b, values);
        errors[refine] = yk_v3_norm(yk_v3_sub(predicted.position, values[c->port].motion.position));
        bed_close(&b);
    }
    /* A prediction that keeps the velocity at least has an error of second order: a quarter under
     * halved steps. */
    if (!(errors[1] < errors[0] / 3.5 || errors[0] < 1e-12 * c->scale))
        print_error("prediction errors %g, %g\n", errors[0], errors[1]);
    assert_true(errors[1] < errors[0] / 3.5 || errors[0] < 1e-12 * c->scale);
}

enum { MOTIONS = 18, SCALAR_MOTIONS = 3, WRENCHES = 6, DEGREE = 3 };

/* The motion of the driven port as the rows of step_sensitivity, its rotation counted from
 * `from`; returns the orientation. */
static yk_quat motion_rows(const bed *b, bool scalar, const yk_quat *from, double rows[MOTIONS])
{
    yk_port_value value = {.motion.orientation.w = 1};
    b->subsystem->ops->get_port_value(b->subsystem, b->c->port, &value);
    const yk_motion *m = &value.motion;
    yk_vec3 rotation =
        from ? yk_so3_log(yk_q_mul(m->orientation, yk_q_conjugate(*from))) : yk_v3(0, 0, 0);
    const yk_vec3 all[] = {m->position,         rotation,        m->velocity,
                           m->angular_velocity, m->acceleration, m->angular_acceleration};
    for (int i = 0; i < 6 && !scalar; i++)
        rows[3 * i] = all[i].x, rows[3 * i + 1] = all[i].y, rows[3 * i + 2] = all[i].z;
    for (int i = 0; i < 3 && scalar; i++)
        rows[i] = all[2 * i].x;
    return m->orientation;
}

static double *input_component(yk_input *input, int power, int component)
{
    yk_vec3 *v = component < 3 ? &input->linear[power] : &input->angular[power];
    return component % 3 == 0 ? &v->x : component % 3 == 1 ? &v->y : &v->z;
}

/* One column by central differences from the marked state. */
static void difference_column(bed *b, const double *mark, double t, bool scalar, int power,
                              int component, double column[MOTIONS])
{
    const conformance_case *c = b->c;
    double size = 1e-3 * c->amplitude / pow(c->step, power), rows[2][MOTIONS] = {{0}};
    yk_quat first;
    double *place = input_component(&b->inputs[c->port], power, component), kept = *place;
    for (int side = 0; side < 2; side++) {
        *place = kept + (side ? size : -size);
        b->subsystem->ops->rollback->set(b->subsystem, mark);
        assert_true(b->subsystem->ops->step(b->subsystem, t, c->step, b->inputs) >= 0);
        yk_quat reached = motion_rows(b, scalar, side ? &first : NULL, rows[side]);
        if (side == 0)
            first = reached;
    }
    *place = kept;
    for (int i = 0; i < MOTIONS; i++)
        column[i] = (rows[1][i] - rows[0][i]) / (2 * size);
}

static void check_column(const double *matrix, int columns, int column, bool scalar,
                         const double expected[MOTIONS])
{
    int height = scalar ? 1 : WRENCHES;
    for (int level = 0; level < 3; level++) {
        double scale = 0;
        for (int i = 0; i < height; i++)
            scale = fmax(scale, fabs(expected[level * height + i]));
        for (int i = 0; i < height; i++) {
            int row = level * height + i;
            assert_near(matrix[row * columns + column], expected[row], 1e-4 * scale + 1e-14);
        }
    }
}

static void sensitivities_are_the_derivatives_of_the_step(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    const yk_subsystem_ops *ops = b.subsystem->ops;
    if (!ops->sensitivity || c->causality != YK_CAUSALITY_WRENCH_INPUT) {
        bed_close(&b);
        skip();
    }
    const yk_port *ports;
    ops->ports(b.subsystem, &ports);
    bool scalar = ports[c->port].kind == YK_PORT_SCALAR;
    int width = scalar ? 1 : WRENCHES, columns = width * (DEGREE + 1);
    yk_motion origin;
    int steps = c->steps / 2;
    double t = steps * c->step, matrix[MOTIONS * WRENCHES * (DEGREE + 1)], column[MOTIONS];
    bed_start(&b, c->step, &origin);
    bed_steps(&b, 0, steps, c->step, &origin);
    drive(&b, t, c->step, &origin);
    yk_state_layout layout = ops->rollback->layout(b.subsystem);
    double *mark = malloc(layout.word_count * sizeof *mark);
    ops->rollback->get(b.subsystem, mark);
    yk_port_value plain[PORTS_MAX], with_sensitivity[PORTS_MAX];
    assert_true(ops->step(b.subsystem, t, c->step, b.inputs) >= 0);
    read_all(&b, plain);
    ops->rollback->set(b.subsystem, mark);
    assert_true(ops->sensitivity->step_with_sensitivity(b.subsystem, t, c->step, b.inputs, DEGREE,
                                                        matrix) >= 0);
    read_all(&b, with_sensitivity);
    assert_memory_equal(plain, with_sensitivity, sizeof plain);
    for (int power = 0; power <= DEGREE; power++) {
        for (int component = 0; component < width; component++) {
            difference_column(&b, mark, t, scalar, power, component, column);
            check_column(matrix, columns, power * width + component, scalar, column);
        }
    }
    free(mark);
    bed_close(&b);
}

/* The same bits twice, and no influence on the rest of the run. */
static void interface_models_are_reported_without_a_trace(void **state)
{
    enum { SIZE = 6 };
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    const yk_subsystem_ops *ops = b.subsystem->ops;
    if (!ops->interface_model || !ops->rollback || c->causality != YK_CAUSALITY_WRENCH_INPUT) {
        bed_close(&b);
        skip();
    }
    const yk_port *ports;
    ops->ports(b.subsystem, &ports);
    yk_motion origin;
    yk_port_value end[2][PORTS_MAX];
    double inverse_mass[2][SIZE * SIZE] = {{0}}, rate[2][SIZE] = {{0}};
    int size = ports[c->port].kind == YK_PORT_SCALAR ? 1 : SIZE;
    for (int asking = 0; asking < 2; asking++) {
        bed_start(&b, c->step, &origin);
        bed_steps(&b, 0, 5, c->step, &origin);
        size_t words = ops->rollback->layout(b.subsystem).word_count;
        double *before = malloc(words * sizeof *before), *after = malloc(words * sizeof *after);
        ops->rollback->get(b.subsystem, before);
        for (int i = 0; i < 2 * asking; i++) {
            yk_interface_model model = {
                .row_count = size, .inverse_mass = inverse_mass[i], .free_acceleration = rate[i]};
            assert_int_equal(
                ops->interface_model->evaluate(b.subsystem, 5 * c->step, c->step, b.inputs, &model),
                YK_OK);
            assert_true(model.theta >= 0.5 && model.theta <= 1);
        }
        ops->rollback->get(b.subsystem, after);
        assert_memory_equal(before, after, words * sizeof *before);
        free(before), free(after);
        bed_steps(&b, 5, 5, c->step, &origin);
        read_all(&b, end[asking]);
    }
    assert_memory_equal(inverse_mass[0], inverse_mass[1], sizeof inverse_mass[0]);
    assert_memory_equal(rate[0], rate[1], sizeof rate[0]);
    for (int k = 0; k < size; k++)
        assert_true(inverse_mass[0][k * (size + 1)] >= 0);
    assert_memory_equal(end[0], end[1], sizeof end[0]);
    bed_close(&b);
}

/* A free mass of the same kind begins at rest where the contract says, and under a constant
 * wrench gains the velocity F t / m with every method. */
static void free_masses_move_as_masses_do(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    const yk_subsystem_ops *ops = b.subsystem->ops;
    int made = 0;
    for (int k = 0; ops->merge && k < 2; k++) {
        yk_port_kind kind = k == 0 ? YK_PORT_SCALAR : YK_PORT_MARKER;
        yk_subsystem *mass = NULL;
        yk_status status = ops->merge->create_free_mass(b.subsystem, 3, kind, &mass);
        if (status == YK_ERROR_CAPABILITY)
            continue;
        assert_int_equal(status, YK_OK);
        const yk_port *ports;
        assert_int_equal(mass->ops->ports(mass, &ports), 1);
        assert_int_equal(ports[0].kind, kind);
        assert_int_equal(mass->ops->connect(mass, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X), YK_OK);
        yk_input input = {.linear = {{6, 0, 0}}, .base_orientation = {1, 0, 0, 0}};
        assert_true(mass->ops->initialize(mass, 0, 1e-3, &input) >= 0);
        yk_port_value value;
        mass->ops->get_port_value(mass, 0, &value);
        assert_near(value.motion.position.x, kind == YK_PORT_SCALAR ? 1 : 0, 1e-12);
        for (int i = 0; i < 50; i++)
            assert_int_equal(mass->ops->step(mass, i * 1e-3, 1e-3, &input), YK_OK);
        mass->ops->get_port_value(mass, 0, &value);
        assert_near(value.motion.velocity.x, 0.1, 1e-9);
        mass->ops->destroy(mass);
        made++;
    }
    bed_close(&b);
    if (made == 0)
        skip();
}

/* The model of the next step against the step: its motions for the wrenches of the inputs, and
 * their changes with these; and no influence on the rest of the run. */
static void models_of_the_step_predict_it(void **state)
{
    const conformance_case *c = *state;
    bed b;
    bed_open(&b, c);
    const yk_subsystem_ops *ops = b.subsystem->ops;
    if (!ops->step_model || c->causality != YK_CAUSALITY_WRENCH_INPUT) {
        bed_close(&b);
        skip();
    }
    const yk_port *ports;
    ops->ports(b.subsystem, &ports);
    bool scalar = ports[c->port].kind == YK_PORT_SCALAR;
    int size = scalar ? 1 : WRENCHES, steps = c->steps / 2;
    double t = steps * c->step, h = c->step;
    double velocity[WRENCHES], displacement[WRENCHES], mobility[WRENCHES * WRENCHES];
    yk_step_model model = {.row_count = size,
                           .velocity = velocity,
                           .displacement = displacement,
                           .mobility = mobility};
    yk_motion origin;
    bed_start(&b, h, &origin);
    bed_steps(&b, 0, steps, h, &origin);
    drive(&b, t, h, &origin);
    b.inputs[c->port].degree = 0;

    size_t words = ops->rollback->layout(b.subsystem).word_count;
    double *before = malloc(words * sizeof *before), *after = malloc(words * sizeof *after);
    double begin[MOTIONS] = {0}, end[MOTIONS] = {0}, column[MOTIONS];
    yk_port_value shown[2][PORTS_MAX];
    ops->rollback->get(b.subsystem, before);
    yk_quat from = motion_rows(&b, scalar, NULL, begin);
    read_all(&b, shown[0]);
    assert_int_equal(ops->step_model->evaluate(b.subsystem, t, h, b.inputs, &model), YK_OK);
    read_all(&b, shown[1]);
    ops->rollback->get(b.subsystem, after);
    assert_memory_equal(before, after, words * sizeof *before);
    assert_memory_equal(shown[0], shown[1], sizeof shown[0]);

    /* The prediction is the same if the caller does not need the mobility. */
    double short_velocity[WRENCHES], short_displacement[WRENCHES];
    double unused[WRENCHES * WRENCHES];
    yk_step_model prediction = {.row_count = size,
                                .velocity = short_velocity,
                                .displacement = short_displacement,
                                .mobility = unused,
                                .omit_mobility = true};
    assert_int_equal(ops->step_model->evaluate(b.subsystem, t, h, b.inputs, &prediction), YK_OK);
    assert_memory_equal(velocity, short_velocity, (size_t)size * sizeof *velocity);
    assert_memory_equal(displacement, short_displacement, (size_t)size * sizeof *displacement);
    assert_true(prediction.theta == model.theta && prediction.wrench_point == model.wrench_point);

    assert_true(model.theta >= 0.4 && model.theta <= 1 + 1e-12 && model.wrench_point >= 0 &&
                model.wrench_point <= 1);

    assert_true(ops->step(b.subsystem, t, h, b.inputs) >= 0);
    motion_rows(&b, scalar, &from, end);
    double *then = malloc(words * sizeof *then);
    ops->rollback->get(b.subsystem, then);
    ops->rollback->set(b.subsystem, before);
    assert_true(ops->step(b.subsystem, t, h, b.inputs) >= 0);
    ops->rollback->get(b.subsystem, after);
    assert_memory_equal(then, after, words * sizeof *after);

    /* Implicit steps by a correction of their own; others by one evaluation in the middle, at
     * steps that are long for the springs of these models. */
    double tolerance = model.wrench_point == 1 ? 0.02 : 0.3;
    double gained = 0;
    for (int k = 0; k < size; k++) {
        double change =
            end[k] -
            (k < 3 ? begin[k] : 0); /* the rotation behind the position counts from there */
        gained = fmax(gained, fabs(end[size + k] - begin[size + k]));
        assert_near(displacement[k], change, tolerance * h * gained + 1e-10);
        assert_near(velocity[k], end[size + k], tolerance * gained + 1e-9);
    }
    for (int j = 0; j < size; j++) {
        difference_column(&b, before, t, scalar, 0, j, column);
        double scale = 0;
        for (int i = 0; i < size; i++)
            scale = fmax(scale, fabs(column[size + i]));
        for (int i = 0; i < size; i++) {
            assert_near(mobility[i * size + j], column[size + i], tolerance * scale + 1e-14);
            assert_near(model.theta * h * mobility[i * size + j], column[i],
                        tolerance * h * scale + 1e-14);
        }
    }
    free(before), free(after), free(then);
    bed_close(&b);
}

int conformance_run(const conformance_case *cases, int count)
{
    int failed = 0;
    for (int i = 0; i < count; i++) {
        void *c = (void *)(uintptr_t)&cases[i];
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(table_of_operations_is_complete, c),
            cmocka_unit_test_prestate(the_scene_is_sound, c),
            cmocka_unit_test_prestate(starting_again_returns_to_the_start, c),
            cmocka_unit_test_prestate(rollback_is_bit_exact, c),
            cmocka_unit_test_prestate(an_open_trial_is_discarded_by_rollback, c),
            cmocka_unit_test_prestate(halved_steps_converge_with_the_promised_order, c),
            cmocka_unit_test_prestate(energy_of_the_ports_balances, c),
            cmocka_unit_test_prestate(prediction_approaches_the_step, c),
            cmocka_unit_test_prestate(stepping_allocates_nothing, c),
            cmocka_unit_test_prestate(sensitivities_are_the_derivatives_of_the_step, c),
            cmocka_unit_test_prestate(interface_models_are_reported_without_a_trace, c),
            cmocka_unit_test_prestate(models_of_the_step_predict_it, c),
            cmocka_unit_test_prestate(free_masses_move_as_masses_do, c),
        };
        failed += cmocka_run_group_tests_name(cases[i].name, tests, NULL, NULL);
    }
    return failed;
}
