/* Access to a running system as programs use it (yoke/access.h): channels, bodies, wrenches, contacts, inputs,
 * parameters, callbacks and snapshots. */
#include "api.h"

/* Schemes with which the two-body system runs. */
enum { SCHEME_COUNT = 3 };

static yk_scheme_def scheme_at(int index)
{
    static yk_tight_options tight;
    tight = yk_tight_options_default();
    tight.acceleration = YK_ACCELERATION_QUASI_NEWTON;
    switch (index) {
    case 0: return yk_scheme_default();
    case 1: return (yk_scheme_def){yk_scheme_tight(), &tight};
    default: return (yk_scheme_def){yk_scheme_monolithic(), NULL};
    }
}

/* Channels ------------------------------------------------------------------------------------- */

/* Two oscillators on one joint. */
static yk_system *pair(yk_context *context, yk_scheme_def scheme)
{
    yk_system_builder *builder = yk_test_begin(context, 1e-3, scheme);
    yk_system_add_owned_subsystem(builder, "left", yk_test_oscillator(context, 1, 100));
    yk_system_add_owned_subsystem(builder, "right", yk_test_oscillator(context, 2, 50));
    yk_system_connect_ports(builder, "joint", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    return yk_test_start(context, builder);
}

static void test_channels_are_read_in_batches(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    for (int i = 0; i < SCHEME_COUNT; i++) {
        yk_system *system = pair(context, scheme_at(i));
        int count = yk_system_channel_count(system);
        assert_true(count > 8);

        /* Every channel is found by its own name. */
        int numbers = 0;
        for (int k = 0; k < count; k++) {
            yk_channel_info info = yk_system_channel_at(system, (yk_channel_id){k});
            assert_true(info.component_count > 0);
            numbers += info.component_count;
            assert_int_equal(yk_system_find_channel(system, info.name).index, k);
        }

        yk_channel_id batch[3] = {yk_system_find_channel(system, "left.mass.position"),
                                  yk_system_find_channel(system, "left.energy"),
                                  yk_system_find_channel(system, "right.mass.velocity")};
        assert_int_equal(yk_system_channel_at(system, batch[1]).component_count, 4);
        assert_string_equal(yk_system_channel_at(system, batch[2]).unit, "m/s");

        for (int step = 0; step < 20; step++)
            assert_false(YK_FAILED(yk_system_step(system, NULL)));
        double values[6];
        assert_ok(context, yk_system_read_channels(system, batch, 3, values));
        yk_energy energy;
        assert_true(yk_system_energy(system, (yk_subsystem_id){0}, &energy));
        assert_true(
            values[0] ==
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x);
        assert_true(values[1] == energy.kinetic && values[2] == energy.potential);
        assert_true(
            values[5] ==
            yk_system_port_value(system, (yk_subsystem_id){1}, (yk_port_id){0})->motion.velocity.x);

        /* All of them at once. */
        yk_channel_id *all = calloc((size_t)count, sizeof *all);
        double *every = calloc((size_t)numbers + 1, sizeof *every);
        for (int k = 0; k < count; k++)
            all[k].index = k;
        every[numbers] = 42;
        assert_ok(context, yk_system_read_channels(system, all, count, every));
        assert_true(every[numbers] == 42);
        for (int k = 0; k < numbers; k++)
            assert_true(isfinite(every[k]));
        free(all);
        free(every);
        yk_system_destroy(system);
    }
    yk_context_destroy(context);
}

static void test_unknown_channels_get_a_suggestion(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system *system = pair(context, yk_scheme_default());
    assert_false(yk_channel_is_valid(yk_system_find_channel(system, "left.mass.positon")));
    assert_non_null(strstr(yk_last_message(context), "'left.mass.position'"));
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* Bodies --------------------------------------------------------------------------------------- */

static const double STEP = 1e-2;

/* Masses of two free bodies (kg). */
static const double MASSES[2] = {5, 0.05}, TOTAL = 5.05;

static void test_bodies_are_read_in_bulk(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_nonsmooth_def def = yk_nonsmooth_default();
    yk_nonsmooth_builder *model = yk_nonsmooth_begin(context, &def);
    yk_material steel = {.friction = 0.3};
    for (int i = 0; i < 10; i++)
        yk_nonsmooth_add_sphere(model, (yk_vec3){i, 0, 0}, 0.1, 1000, steel);
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "spheres", yk_nonsmooth_create_or_null(model));
    yk_system *system = yk_test_start(context, builder);

    assert_int_equal(yk_system_body_count(system, (yk_subsystem_id){0}), 10);
    assert_ok(context, yk_system_run_until(system, 0.1));
    yk_body_state states[4];
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){6}, 4, states));
    for (int i = 0; i < 4; i++) {
        assert_near(states[i].position.x, 6 + i, 1e-12);
        assert_near(states[i].velocity.z, -9.81 * 0.1, 1e-12);
        /* Semi-implicit Euler: the sum of 1 to 10 velocities. */
        assert_near(states[i].position.z, -9.81 * STEP * STEP * 55, 1e-12);
    }
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){10}, 0, NULL));
    assert_refused(context,
                   yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){7}, 4, states),
                   YK_ERROR_ARGUMENT);
    assert_refused(context,
                   yk_system_read_bodies(system, (yk_subsystem_id){0}, YK_GROUND, 1, states),
                   YK_ERROR_ARGUMENT);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* The velocity of a body along x. */
static double speed(const yk_system *system, int subsystem, int body)
{
    yk_body_state s;
    assert_int_equal(
        yk_system_read_bodies(system, (yk_subsystem_id){subsystem}, (yk_body_id){body}, 1, &s),
        YK_OK);
    return s.velocity.x;
}

/* Two joined bodies. The second one is light, as the explicit scheme needs it. */
static yk_system *joined(yk_context *context, yk_scheme_def scheme, double tolerance,
                         yk_subsystem *left, yk_subsystem *right)
{
    yk_system_def def = yk_system_default();
    def.macro_step = STEP;
    def.scheme = scheme;
    def.step_control.relative_tolerance = tolerance;
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_system_add_owned_subsystem(builder, "left", left);
    yk_system_add_owned_subsystem(builder, "right", right);
    yk_system_connect_ports(builder, "joint", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    return yk_test_start(context, builder);
}

static void push_one_body(yk_context *context, yk_system *system, int subsystem)
{
    const yk_wrench push = {{5, 0, 0}, {0, 0, 0}};
    for (int step = 0; step < 20; step++)
        assert_ok(context, yk_system_step(system, NULL));
    assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){subsystem},
                                                   (yk_body_id){0}, push, NULL));
}

/* The impulse of one step is the force times the step, on whichever side of an interface and with whichever scheme. */
static void test_wrench_gives_an_impulse(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    const yk_wrench push = {{5, 0, 0}, {0, 0, 0}};

    /* Two wrenches on a body add up, and act in one step only. */
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "cube", yk_test_free_cube(context, 2));
    yk_system *system = yk_test_start(context, builder);
    assert_int_equal(yk_system_find_body(system, (yk_subsystem_id){0}, "cube").index, 0);
    assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                   push, NULL));
    assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                   push, NULL));
    for (int step = 0; step < 2; step++) {
        assert_ok(context, yk_system_step(system, NULL));
        assert_near(speed(system, 0, 0), 2 * 5 * STEP / 2, 1e-15);
    }
    yk_system_destroy(system);

    for (int i = 0; i < SCHEME_COUNT; i++) {
        for (int side = 0; side < 2; side++) {
            /* Semi-implicit Euler: in that step, unless the reaction follows one step later. */
            system = joined(context, scheme_at(i), 0, yk_test_free_cube(context, MASSES[0]),
                            yk_test_free_cube(context, MASSES[1]));
            push_one_body(context, system, side);
            for (int step = 0; step < (i == 0 ? 100 : 1); step++)
                assert_ok(context, yk_system_step(system, NULL));
            assert_near(speed(system, 0, 0), 5 * STEP / TOTAL, 1e-12);
            yk_system_destroy(system);

            /* The two-step method spreads the impulse over several steps, and loses nothing of it. */
            system = joined(context, scheme_at(i), 0, yk_test_free_body(context, MASSES[0]),
                            yk_test_free_body(context, MASSES[1]));
            push_one_body(context, system, side);
            for (int step = 0; step < 100; step++)
                assert_ok(context, yk_system_step(system, NULL));
            assert_near(speed(system, 0, 0), 5 * STEP / TOTAL, 1e-12);
            yk_system_destroy(system);
        }
    }
    yk_context_destroy(context);
}

/* The wrench acts during the whole macro step if step control subdivides it, and again if it repeats it. */
static void test_wrench_survives_subdivision(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    for (int i = 0; i < 2; i++) {
        yk_system *system =
            joined(context, scheme_at(i), 1e-6, yk_test_free_cube(context, MASSES[0]),
                   yk_test_free_cube(context, MASSES[1]));
        push_one_body(context, system, 0);
        for (int step = 0; step < 20; step++)
            assert_ok(context, yk_system_step(system, NULL));
        assert_true(yk_system_get_statistics(system).steps_rejected > 0);
        assert_near(speed(system, 0, 0), 5 * STEP / TOTAL, 1e-12);
        yk_system_destroy(system);
    }
    yk_context_destroy(context);
}

/* A subsystem that fails in its third step, whenever it is longer than a limit. */
typedef struct fragile {
    yk_subsystem base;
    double longest; /* s */
    int failures;
} fragile;

static int fragile_ports(const yk_subsystem *self, const yk_port **list)
{
    (void)self;
    *list = NULL;
    return 0;
}

static yk_status fragile_connect(yk_subsystem *self, int port, yk_causality causality,
                                 unsigned axes)
{
    (void)self;
    (void)port;
    (void)causality;
    (void)axes;
    return YK_OK;
}

static yk_status fragile_initialize(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)self;
    (void)t;
    (void)h;
    (void)inputs;
    return YK_OK;
}

static yk_status fragile_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    fragile *f = (fragile *)self;
    (void)inputs;
    if (t < 2.5 * STEP || h <= f->longest)
        return YK_OK;
    f->failures++;
    return YK_ERROR_DIVERGED;
}

static void fragile_value(const yk_subsystem *self, int port, yk_port_value *value)
{
    (void)self;
    (void)port;
    (void)value;
}

static void fragile_destroy(yk_subsystem *self)
{
    (void)self; /* on the stack of the test */
}

static yk_state_layout fragile_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){.word_count = 1};
}

static void fragile_get(const yk_subsystem *self, double *image)
{
    (void)self;
    *image = 1;
}

static yk_status fragile_set(yk_subsystem *self, const double *image)
{
    (void)self;
    (void)image;
    return YK_OK;
}

static const yk_rollback_ops fragile_rollback = {.size = sizeof fragile_rollback,
                                                 .layout = fragile_layout,
                                                 .get = fragile_get,
                                                 .set = fragile_set};
static const yk_subsystem_ops fragile_ops = {
    .size = sizeof fragile_ops,
    .kind = "fragile",
    .ports = fragile_ports,
    .connect = fragile_connect,
    .initialize = fragile_initialize,
    .step = fragile_step,
    .get_port_value = fragile_value,
    .destroy = fragile_destroy,
    .rollback = &fragile_rollback,
};

/* The failure policy repeats a step in parts: the wrench acts in each of them. Without a policy the step fails; the
 * wrench acts in the step that follows. */
static void test_wrench_survives_a_failure(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    for (int policy = 0; policy < 2; policy++) {
        fragile part = {.base = {&fragile_ops}, .longest = 0.3 * STEP};
        yk_system_def def = yk_system_default();
        def.macro_step = STEP;
        if (policy)
            def.on_failure.action = YK_ON_FAILURE_HALVE;
        yk_system_builder *builder = yk_system_begin(context, &def);
        yk_system_add_owned_subsystem(builder, "cube", yk_test_free_cube(context, 2));
        yk_subsystem_def other = yk_subsystem_named("fragile", &part.base);
        yk_system_add_subsystem(builder, &other);
        yk_system *system = yk_test_start(context, builder);

        const yk_wrench push = {{5, 0, 0}, {0, 0, 0}};
        for (int step = 0; step < 3; step++)
            assert_ok(context, yk_system_step(system, NULL));
        assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){0},
                                                       (yk_body_id){0}, push, NULL));
        if (!policy) {
            assert_refused(context, yk_system_step(system, NULL), YK_ERROR_DIVERGED);
            yk_failure failure = yk_system_last_failure(system);
            assert_int_equal(failure.status, YK_ERROR_DIVERGED);
            assert_int_equal(failure.subsystem.index, 1);
            assert_false(yk_interface_is_valid(failure.interface));
            assert_int_equal(failure.step, 4);
            assert_near(failure.time, 4 * STEP, 1e-15);
        } else {
            assert_ok(context, yk_system_step(system, NULL));
            assert_int_equal(part.failures, 2);
            assert_near(speed(system, 0, 0), 5 * STEP / 2, 1e-15);
        }
        yk_system_destroy(system);
    }
    yk_context_destroy(context);
}

/* A force at a point turns the body; axes and units of the subsystem do not matter to the caller. */
static void test_wrench_at_a_point(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    /* The cube of 2 kg and 1 m is one of 2 g and 1 mm, turned by 90 degrees about z. */
    yk_subsystem_def part = yk_subsystem_named("cube", yk_test_free_cube(context, 2));
    part.transform = (yk_transform){.position = {1, 2, 3},
                                    .orientation = {sqrt(0.5), 0, 0, sqrt(0.5)},
                                    .length_unit = 1e-3,
                                    .mass_unit = 1e-3};
    part.owned = true;
    yk_system_add_subsystem(builder, &part);
    yk_system *system = yk_test_start(context, builder);

    yk_body_state cube;
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, &cube));
    assert_near(cube.position.x, 1, 1e-15);
    assert_near(cube.position.z, 3, 1e-15);

    /* 2e-3 kg, 2e-3 / 6 kg mm^2 = 1/3 10^-9 kg m^2; the force is along y, at 1 mm along x. */
    const yk_wrench push = {{0, 1e-3, 0}, {0, 0, 0}};
    const yk_vec3 point = {1 + 1e-3, 2, 3};
    assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                   push, &point));
    assert_ok(context, yk_system_step(system, NULL));
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, &cube));
    assert_relative(cube.velocity.y, 1e-3 * STEP / 2e-3, 1e-12);
    assert_relative(cube.angular_velocity.z, 1e-3 * 1e-3 * STEP / (2e-3 / 6 * 1e-6), 1e-9);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* A sphere on a plane: its contact carries its weight. */
static void test_contacts_are_read(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_nonsmooth_builder *model = yk_nonsmooth_begin(context, NULL);
    yk_material material = {.friction = 0.3};
    yk_nonsmooth_body_def ground = yk_nonsmooth_body_default();
    ground.fixed = true;
    yk_nonsmooth_shape_def plane = yk_nonsmooth_shape_default();
    plane.body = yk_nonsmooth_add_body(model, &ground);
    plane.kind = YK_SOLID_PLANE;
    plane.material = material;
    yk_nonsmooth_add_shape(model, &plane);
    int ball = yk_nonsmooth_add_sphere(model, (yk_vec3){0, 0, 0.1}, 0.1, 1000, material).index;
    yk_system_builder *builder = yk_test_begin(context, 1e-3, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "ball", yk_nonsmooth_create_or_null(model));
    yk_system *system = yk_test_start(context, builder);
    assert_ok(context, yk_system_run_until(system, 0.5));

    int capacity = yk_system_read_contacts(system, (yk_subsystem_id){0}, NULL, 0);
    assert_true(capacity >= 1);
    yk_contact_point contacts[8];
    assert_int_equal(yk_system_read_contacts(system, (yk_subsystem_id){0}, contacts, 8), 1);
    double weight = 9.81 * 1000 * 4.0 / 3 * 3.14159265358979323846 * 1e-3;
    assert_near(contacts[0].point.z, 0, 1e-6);
    assert_relative(fabs(contacts[0].force.z), weight, 1e-6);
    assert_near(fabs(contacts[0].normal.z), 1, 1e-12);

    /* Bodies that do not move refuse wrenches. */
    assert_refused(context,
                   yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                               (yk_wrench){{1, 0, 0}, {0, 0, 0}}, NULL),
                   YK_ERROR_CAPABILITY);
    assert_int_equal(ball, 1);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* A thrown ball is caught and thrown again from another place: it then flies as a ball that starts there. The work of the
 * change is in the balance, and the axes of the subsystem do not matter. */
static void test_body_states_are_set(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_nonsmooth_builder *model = yk_nonsmooth_begin(context, NULL);
    yk_material material = {.friction = 0.3};
    for (int i = 0; i < 3; i++)
        yk_nonsmooth_add_sphere(model, (yk_vec3){i, 0, 0}, 0.1, 1000, material);
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_subsystem_def part = yk_subsystem_named("balls", yk_nonsmooth_create_or_null(model));
    part.transform.position = (yk_vec3){0, 5, 0};
    part.transform.orientation = (yk_quat){sqrt(0.5), 0, 0, sqrt(0.5)};
    part.owned = true;
    yk_system_add_subsystem(builder, &part);
    yk_system *system = yk_test_start(context, builder);
    assert_ok(context, yk_system_run_until(system, 0.5));

    yk_body_state before[3], balls[2], now[3];
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 3, before));
    for (int i = 0; i < 2; i++) {
        balls[i] = before[1 + i];
        balls[i].position = (yk_vec3){1 + i, 2, 3};
        balls[i].velocity = (yk_vec3){0, 1, 4};
        balls[i].angular_velocity = (yk_vec3){0, 0, 7};
    }
    assert_ok(context,
              yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){1}, 2, balls));
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 3, now));
    for (int i = 0; i < 2; i++) {
        assert_near(now[1 + i].position.x, 1 + i, 1e-14);
        assert_near(now[1 + i].position.y, 2, 1e-14);
        assert_near(now[1 + i].velocity.y, 1, 1e-15);
    }
    assert_memory_equal(&now[0], &before[0], sizeof now[0]);

    for (int step = 0; step < 50; step++)
        assert_ok(context, yk_system_step(system, NULL));
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 3, now));
    assert_near(now[1].velocity.z, 4 - 9.81 * 0.5, 1e-12);
    assert_near(now[1].position.y, 2 + 0.5, 1e-12);
    assert_near(now[1].position.z, 3 + 4 * 0.5 - 9.81 * STEP * STEP * (50 * 51 / 2), 1e-12);
    assert_near(now[2].angular_velocity.z, 7, 1e-12);
    yk_energy_balance balance = yk_system_energy_balance(system, (yk_subsystem_id){0});
    double created = balance.kinetic + balance.potential - balance.initial - balance.external_work;

    /* Semi-implicit Euler itself loses m g^2 h^2 / 2 in each step of a fall. */
    double mass = 3 * 1000 * 4.0 / 3 * 3.14159265358979323846 * 1e-3;
    assert_near(created, -100 * mass * 9.81 * 9.81 * STEP * STEP / 2, 1e-9);

    /* All or none. */
    balls[1].velocity.x = NAN;
    assert_refused(context,
                   yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){1}, 2, balls),
                   YK_ERROR_ARGUMENT);
    assert_refused(context,
                   yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){2}, 2, balls),
                   YK_ERROR_ARGUMENT);
    balls[1] = (yk_body_state){.position = {0, 0, 0}};
    assert_refused(context,
                   yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){1}, 2, balls),
                   YK_ERROR_ARGUMENT);
    yk_body_state same[3];
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 3, same));
    assert_memory_equal(same, now, sizeof same);
    yk_system_destroy(system);

    /* A solver with a memory refuses, and says so. */
    system = joined(context, scheme_at(0), 0, yk_test_free_body(context, 5),
                    yk_test_free_body(context, 0.05));
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, now));
    assert_refused(context,
                   yk_system_set_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, now),
                   YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(context), "multibody"));
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* Inputs --------------------------------------------------------------------------------------- */

/* A body of 2 kg on a rail along x, which a signal pushes. */
static yk_subsystem *sled_of_multibody(yk_context *context)
{
    yk_multibody_def def = yk_multibody_default();
    def.gravity = (yk_vec3){0, 0, 0};
    yk_multibody_builder *builder = yk_multibody_begin(context, &def);
    yk_multibody_body_def body =
        yk_multibody_body_named("sled", 2, yk_inertia_box(2, 1, 1, 1), (yk_vec3){1, 0, 0});
    yk_body_id sled = yk_multibody_add_body(builder, &body);
    yk_port_def signal = yk_port_signal("force");
    yk_force_def force = yk_force_default();
    force.name = "drive";
    force.kind = YK_FORCE_FORCE;
    force.bodies[1] = sled;
    force.vector = (yk_vec3){1, 0, 0};
    force.signal_port = yk_multibody_add_port(builder, &signal);
    yk_multibody_add_force(builder, &force);
    return yk_multibody_create_or_null(builder);
}

static yk_subsystem *sled_of_nonsmooth(yk_context *context)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.gravity = (yk_vec3){0, 0, 0};
    yk_nonsmooth_builder *builder = yk_nonsmooth_begin(context, &def);
    yk_nonsmooth_body_def body =
        yk_nonsmooth_body_named("sled", 2, yk_inertia_box(2, 1, 1, 1), (yk_vec3){1, 0, 0});
    yk_body_id sled = yk_nonsmooth_add_body(builder, &body);
    yk_port_def signal = yk_port_signal("force");
    yk_force_def force = yk_force_default();
    force.name = "drive";
    force.kind = YK_FORCE_FORCE;
    force.bodies[1] = sled;
    force.vector = (yk_vec3){1, 0, 0};
    force.signal_port = yk_nonsmooth_add_port(builder, &signal);
    yk_nonsmooth_add_force(builder, &force);
    return yk_nonsmooth_create_or_null(builder);
}

static yk_system *driven_sled(yk_context *context, yk_subsystem *sled, yk_scheme_def scheme)
{
    yk_system_builder *builder = yk_test_begin(context, STEP, scheme);
    yk_subsystem_id id = yk_system_add_owned_subsystem(builder, "sled", sled);
    yk_port_id port =
        sled && sled->ops->ports ? yk_subsystem_find_port(sled, "force") : YK_NULL_PORT;
    yk_system_add_input(builder, "command", id, port, 0);
    return yk_test_start(context, builder);
}

/* The motion of a sampled loop: the command of a PD controller, computed from the state at the start of a step, or of the
 * step before (delay), is constant during the step. */
typedef struct sampled_loop {
    double x, v;
    double command; /* of the step before */
} sampled_loop;

static const double GAIN = 40, RATE_GAIN = 9, SLED_MASS = 2;

static double pd_command(double x, double v)
{
    return -GAIN * x - RATE_GAIN * v;
}

static void advance_loop(sampled_loop *loop, bool delay, bool semi_implicit)
{
    double command = pd_command(loop->x, loop->v);
    double a = (delay ? loop->command : command) / SLED_MASS;
    loop->command = command;
    loop->x += STEP * loop->v + (semi_implicit ? 1 : 0.5) * STEP * STEP * a;
    loop->v += STEP * a;
}

/* A PD controller in the program. Its command acts in the step that follows, without a delay. The solver for nonsmooth
 * mechanics has no memory, and repeats the closed form. The two-step method of the multibody solver spreads a jump of the
 * force over two steps, as a delay by half a step would. */
static void test_controller_in_the_program(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);

    for (int solver = 0; solver < 2; solver++) {
        bool nonsmooth = solver == 1;
        yk_subsystem *sled = nonsmooth ? sled_of_nonsmooth(context) : sled_of_multibody(context);
        yk_system *system = driven_sled(context, sled, yk_scheme_default());
        yk_input_id input = yk_system_find_input(system, "command");
        assert_int_equal(input.index, 0);
        assert_false(yk_input_is_valid(yk_system_find_input(system, "comand")));

        sampled_loop direct = {.x = 1}, delayed = {.x = 1};
        double error = 0, effect_of_delay = 0;
        for (int step = 0; step < 300; step++) {
            yk_body_state body;
            assert_ok(context, yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                     1, &body));
            double command = pd_command(body.position.x, body.velocity.x);
            assert_ok(context, yk_system_set_input(system, input, command));
            assert_true(yk_system_input_value(system, input) == command);
            assert_ok(context, yk_system_step(system, NULL));

            advance_loop(&direct, false, nonsmooth);
            advance_loop(&delayed, true, nonsmooth);
            assert_ok(context, yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                     1, &body));
            error = fmax(error, fabs(body.position.x - direct.x));
            effect_of_delay = fmax(effect_of_delay, fabs(direct.x - delayed.x));
        }
        assert_near(direct.x, 0, 2e-3);
        assert_near(error, 0, nonsmooth ? 1e-12 : 0.55 * effect_of_delay);
        yk_system_destroy(system);
    }
    yk_context_destroy(context);
}

/* Values are kept until they are set again, also under a scheme that merges, and a restart keeps them. */
static void test_inputs_keep_their_values(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    for (int i = 0; i < SCHEME_COUNT; i++) {
        yk_system *system = driven_sled(context, sled_of_nonsmooth(context), scheme_at(i));
        assert_int_equal(yk_system_input_count(system), 1);
        assert_ok(context, yk_system_set_input(system, (yk_input_id){0}, 4));
        for (int step = 0; step < 10; step++)
            assert_ok(context, yk_system_step(system, NULL));
        assert_near(speed(system, 0, 0), 4.0 / 2 * 0.1, 1e-14);
        assert_true(yk_system_input_value(system, (yk_input_id){0}) == 4);
        assert_refused(context, yk_system_set_input(system, (yk_input_id){0}, NAN),
                       YK_ERROR_ARGUMENT);
        assert_refused(context, yk_system_set_input(system, (yk_input_id){1}, 0),
                       YK_ERROR_ARGUMENT);

        assert_ok(context, yk_system_initialize(system));
        assert_true(yk_system_input_value(system, (yk_input_id){0}) == 4);
        assert_near(speed(system, 0, 0), 0, 0);
        yk_system_destroy(system);
    }
    yk_context_destroy(context);
}

static void test_signal_ports_have_one_source(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_subsystem *sled = sled_of_nonsmooth(context);
    yk_port_id port = yk_subsystem_find_port(sled, "force");
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "sled", sled);
    yk_system_add_input(builder, "first", (yk_subsystem_id){0}, port, 0);
    yk_system_add_input(builder, "second", (yk_subsystem_id){0}, port, 0);
    yk_system *system = NULL;
    assert_refused(context, yk_system_create(builder, &system), YK_ERROR_ARGUMENT);
    assert_null(system);
    assert_non_null(strstr(yk_last_message(context), "one source"));
    yk_context_destroy(context);
}

/* Parameters ----------------------------------------------------------------------------------- */

/* The stiffness of an exact oscillator changes at t = 1 s: the motion continues as that of a new model from that state. */
static void test_stiffness_changes_between_steps(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    const double omega[2] = {10, 5};
    yk_oscillator_def def = yk_oscillator_default();
    def.stiffness = omega[0] * omega[0];
    def.position = 0.1;
    def.integrator = YK_OSCILLATOR_EXACT;
    yk_subsystem *mass = NULL;
    assert_ok(context, yk_oscillator_create(context, &def, &mass));
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "mass", mass);
    yk_system *system = yk_test_start(context, builder);

    yk_parameter_id stiffness = yk_system_find_parameter(system, (yk_subsystem_id){0}, "stiffness");
    assert_true(stiffness.index >= 0);
    assert_string_equal(yk_system_parameter_at(system, (yk_subsystem_id){0}, stiffness)->unit,
                        "N/m");
    assert_true(yk_system_parameter_value(system, (yk_subsystem_id){0}, stiffness) == 100);
    assert_ok(context, yk_system_run_until(system, 1));
    assert_ok(context, yk_system_set_parameter(system, (yk_subsystem_id){0}, stiffness,
                                               omega[1] * omega[1]));
    assert_ok(context, yk_system_run_until(system, 2));

    double x = 0.1 * cos(omega[0]), v = -0.1 * omega[0] * sin(omega[0]);
    double exact = x * cos(omega[1]) + v / omega[1] * sin(omega[1]);
    assert_near(
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x,
        exact, 1e-12);

    /* The energy that the change fed in is accounted for. */
    yk_energy energy;
    assert_true(yk_system_energy(system, (yk_subsystem_id){0}, &energy));
    double fed = 0.5 * (omega[1] * omega[1] - omega[0] * omega[0]) * x * x;
    assert_near(energy.kinetic + energy.potential, 0.5 * 100 * 0.01 + fed, 1e-12);
    assert_near(energy.work, fed, 1e-12);

    assert_false(
        yk_parameter_is_valid(yk_system_find_parameter(system, (yk_subsystem_id){0}, "stifness")));
    assert_refused(context, yk_system_set_parameter(system, (yk_subsystem_id){0}, stiffness, NAN),
                   YK_ERROR_ARGUMENT);
    assert_refused(context,
                   yk_system_set_parameter(system, (yk_subsystem_id){0}, (yk_parameter_id){99}, 1),
                   YK_ERROR_ARGUMENT);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* A body of 1 kg between the ground and a spring along x. */
static yk_subsystem *sprung_body(yk_context *context, double stiffness, double position,
                                 double velocity)
{
    yk_multibody_def def = yk_multibody_default();
    def.gravity = (yk_vec3){0, 0, 0};
    yk_multibody_builder *builder = yk_multibody_begin(context, &def);
    yk_multibody_body_def body =
        yk_multibody_body_named("body", 1, yk_inertia_box(1, 1, 1, 1), (yk_vec3){position, 0, 0});
    body.velocity.x = velocity;
    yk_force_def spring = yk_force_default();
    spring.name = "spring";
    spring.kind = YK_FORCE_SPRING;
    spring.bodies[0] = YK_GROUND;
    spring.bodies[1] = yk_multibody_add_body(builder, &body);
    spring.stiffness = stiffness;
    spring.free_length = 1;
    yk_multibody_add_force(builder, &spring);
    return yk_multibody_create_or_null(builder);
}

/* The error at 0.8 s of a run whose stiffness changes from 100 to 400 N/m at 0.3 s. */
static double error_after_change(yk_context *context, double step)
{
    yk_system_builder *builder = yk_test_begin(context, step, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "body", sprung_body(context, 100, 1.1, 0));
    yk_system *system = yk_test_start(context, builder);
    yk_parameter_id stiffness =
        yk_system_find_parameter(system, (yk_subsystem_id){0}, "spring.stiffness");
    assert_true(stiffness.index >= 0);
    assert_ok(context, yk_system_run_until(system, 0.3));
    assert_ok(context, yk_system_set_parameter(system, (yk_subsystem_id){0}, stiffness, 400));
    assert_ok(context, yk_system_run_until(system, 0.8));
    yk_body_state body;
    assert_ok(context,
              yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){0}, 1, &body));
    yk_system_destroy(system);

    double x = 0.1 * cos(10 * 0.3), v = -0.1 * 10 * sin(10 * 0.3);
    return body.position.x - (1 + x * cos(20 * 0.5) + v / 20 * sin(20 * 0.5));
}

/* The two-step method has a memory, so that the jump of the force costs an error of first order. */
static void test_spring_of_a_mechanism_changes(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    double coarse = error_after_change(context, 1e-3);
    double fine = error_after_change(context, 1e-4);
    assert_near(coarse, 0, 1e-3);
    assert_near(fine, 0, 1e-4);
    yk_context_destroy(context);
}

/* The gains of a controller, from 2 to 3: its command follows. */
static void test_gain_of_a_controller_changes(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_control_builder *control = yk_control_begin(context, NULL);
    yk_control_loop_def loop = yk_control_loop_default();
    loop.name = "loop";
    loop.proportional = 2;
    yk_control_add_loop(control, &loop);
    yk_subsystem *subsystem = NULL;
    assert_ok(context, yk_control_create(control, &subsystem));
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_subsystem_id id = yk_system_add_owned_subsystem(builder, "control", subsystem);
    yk_system_add_input(builder, "measured", id, yk_subsystem_find_port(subsystem, "loop.measured"),
                        -1);
    yk_system *system = yk_test_start(context, builder);
    yk_port_id command = yk_system_find_port(system, id, "loop");

    assert_ok(context, yk_system_step(system, NULL));
    assert_near(yk_system_port_value(system, id, command)->motion.position.x, 2, 1e-12);
    yk_parameter_id gain = yk_system_find_parameter(system, id, "loop.proportional");
    assert_ok(context, yk_system_set_parameter(system, id, gain, 3));
    assert_ok(context, yk_system_step(system, NULL));
    assert_near(yk_system_port_value(system, id, command)->motion.position.x, 3, 1e-12);

    /* Limits that exclude each other are refused, and nothing changes. */
    yk_parameter_id least = yk_system_find_parameter(system, id, "loop.min_command");
    yk_parameter_id most = yk_system_find_parameter(system, id, "loop.max_command");
    assert_ok(context, yk_system_set_parameter(system, id, most, 1));
    assert_refused(context, yk_system_set_parameter(system, id, least, 2), YK_ERROR_ARGUMENT);
    assert_true(yk_system_parameter_value(system, id, least) == -INFINITY);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* Gravity changes while a sphere sleeps on a plane: it wakes up and rises. */
static void test_gravity_changes(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    for (int solver = 0; solver < 2; solver++) {
        yk_subsystem *ball;
        if (solver == 0) {
            yk_nonsmooth_def def = yk_nonsmooth_default();
            def.sleeping.speed_threshold = 1e-3;
            def.sleeping.delay = 0.1;
            yk_nonsmooth_builder *model = yk_nonsmooth_begin(context, &def);
            yk_nonsmooth_body_def ground = yk_nonsmooth_body_default();
            ground.fixed = true;
            yk_nonsmooth_shape_def plane = yk_nonsmooth_shape_default();
            plane.body = yk_nonsmooth_add_body(model, &ground);
            plane.kind = YK_SOLID_PLANE;
            yk_nonsmooth_add_shape(model, &plane);
            yk_nonsmooth_add_sphere(model, (yk_vec3){0, 0, 0.1}, 0.1, 1000, plane.material);
            ball = yk_nonsmooth_create_or_null(model);
        } else {
            yk_multibody_def def = yk_multibody_default();
            def.gravity.z = 0;
            yk_multibody_builder *model = yk_multibody_begin(context, &def);
            yk_multibody_body_def body =
                yk_multibody_body_named("ball", 1, yk_inertia_sphere(1, 0.1), (yk_vec3){0, 0, 0.1});
            yk_multibody_add_body(model, &body);
            ball = yk_multibody_create_or_null(model);
        }
        yk_system_builder *builder = yk_test_begin(context, 1e-3, yk_scheme_default());
        yk_system_add_owned_subsystem(builder, "ball", ball);
        yk_system *system = yk_test_start(context, builder);
        assert_ok(context, yk_system_run_until(system, 0.5));

        int body = solver == 0 ? 1 : 0;
        yk_body_state s;
        assert_ok(context,
                  yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){body}, 1, &s));
        assert_near(s.velocity.z, 0, 1e-9);
        yk_parameter_id gravity =
            yk_system_find_parameter(system, (yk_subsystem_id){0}, "gravity.z");
        assert_true(yk_system_parameter_value(system, (yk_subsystem_id){0}, gravity) ==
                    (solver == 0 ? -9.81 : 0));
        assert_ok(context, yk_system_set_parameter(system, (yk_subsystem_id){0}, gravity, 2));
        assert_true(yk_system_parameter_value(system, (yk_subsystem_id){0}, gravity) == 2);
        assert_ok(context, yk_system_run_until(system, 1.0));
        assert_ok(context,
                  yk_system_read_bodies(system, (yk_subsystem_id){0}, (yk_body_id){body}, 1, &s));
        assert_near(s.velocity.z, 2 * 0.5, 2e-3);
        yk_system_destroy(system);
    }
    yk_context_destroy(context);
}

static void test_merged_subsystems_keep_their_parameters(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system *system = pair(context, scheme_at(2));
    assert_int_equal(yk_system_parameter_count(system, (yk_subsystem_id){0}), 0);
    assert_refused(context,
                   yk_system_set_parameter(system, (yk_subsystem_id){0}, (yk_parameter_id){0}, 1),
                   YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(context), "merges"));
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* Callbacks ------------------------------------------------------------------------------------ */

typedef struct calls {
    int before, after;
    double last_before, last_after;
    int pause_before, pause_after; /* number of the call that returns `status` */
    yk_status status;
} calls;

static yk_status count_before(void *user, yk_system *system, double time)
{
    calls *c = user;
    assert_true(time == yk_system_time(system));
    c->last_before = time;
    return ++c->before == c->pause_before ? c->status : YK_OK;
}

static yk_status count_after(void *user, yk_system *system, double time)
{
    calls *c = user;
    assert_true(time == yk_system_time(system));
    c->last_after = time;
    return ++c->after == c->pause_after ? c->status : YK_OK;
}

static yk_system *counted_cubes(yk_context *context, double tolerance, calls *c)
{
    yk_system_def def = yk_system_default();
    def.macro_step = STEP;
    def.scheme = scheme_at(1);
    def.step_control.relative_tolerance = tolerance;
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_system_add_owned_subsystem(builder, "left", yk_test_oscillator(context, 1, 1e4));
    yk_system_add_owned_subsystem(builder, "right", yk_test_oscillator(context, 2, 50));
    yk_system_connect_ports(builder, "joint", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    yk_system *system = yk_test_start(context, builder);
    yk_system_set_before_step(system, count_before, c);
    yk_system_set_after_step(system, count_after, c);
    return system;
}

static void test_callbacks_run_once_per_macro_step(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    calls c = {0};
    yk_system *system = counted_cubes(context, 1e-6, &c);
    assert_ok(context, yk_system_run_until(system, 0.1));
    assert_true(yk_system_get_statistics(system).steps_rejected > 0);
    assert_true(yk_system_get_statistics(system).steps > 10);
    assert_int_equal(c.before, 10);
    assert_int_equal(c.after, 10);
    assert_near(c.last_before, 0.09, 1e-15);
    assert_near(c.last_after, 0.1, 1e-15);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* A run that was paused continues to the same state as one that was not. */
static void test_paused_runs_continue(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        calls c = {.status = YK_INTERRUPTED};
        yk_system *system = counted_cubes(context, 0, &c);
        c.pause_before = i == 1 ? 4 : 0;
        c.pause_after = i == 2 ? 4 : 0;
        if (i > 0) {
            assert_refused(context, yk_system_run_until(system, 0.1), YK_INTERRUPTED);
            assert_int_equal(yk_system_step_count(system), i == 1 ? 3 : 4);
        }
        assert_ok(context, yk_system_run_until(system, 0.1));
        assert_int_equal(yk_system_step_count(system), 10);
        assert_int_equal(c.before, i == 1 ? 11 : 10);
        assert_int_equal(c.after, 10);
        assert_ok(context, yk_system_state_hash(system, &hash[i]));
        yk_system_destroy(system);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    yk_context_destroy(context);
}

/* Other outcomes of a callback end the run; an outcome that no function may have is an error rather than an endless
 * loop. */
static void test_callbacks_end_a_run(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    calls c = {.status = YK_ERROR_ARGUMENT, .pause_before = 3};
    yk_system *system = counted_cubes(context, 0, &c);
    assert_refused(context, yk_system_run_until(system, 0.1), YK_ERROR_ARGUMENT);
    assert_int_equal(yk_system_step_count(system), 2);

    c = (calls){.status = YK_NOT_CONVERGED, .pause_before = 1};
    assert_refused(context, yk_system_run_until(system, 0.1), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "before_step"));
    assert_int_equal(yk_system_step_count(system), 2);

    yk_system_set_before_step(system, NULL, NULL);
    yk_system_set_after_step(system, NULL, NULL);
    assert_ok(context, yk_system_run_until(system, 0.1));
    yk_system_destroy(system);
    yk_context_destroy(context);
}

static yk_status step_inside(void *user, yk_system *system, double time)
{
    (void)time;
    *(yk_status *)user = yk_system_step(system, NULL);
    return YK_OK;
}

static void test_callbacks_cannot_step(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    calls c = {0};
    yk_system *system = counted_cubes(context, 0, &c);
    yk_status inside = YK_OK;
    yk_system_set_before_step(system, step_inside, &inside);
    assert_ok(context, yk_system_step(system, NULL));
    assert_int_equal(inside, YK_ERROR_ARGUMENT);
    assert_int_equal(yk_system_step_count(system), 1);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* A push from a callback acts once, also if the callback then pauses the run, and is applied again. */
typedef struct pusher {
    int calls, pause;
} pusher;

static yk_status push_before(void *user, yk_system *system, double time)
{
    (void)time;
    pusher *p = user;
    const yk_wrench push = {{2, 0, 0}, {0, 0, 0}};
    assert_int_equal(
        yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0}, push, NULL),
        YK_OK);
    return ++p->calls == p->pause ? YK_INTERRUPTED : YK_OK;
}

static void test_wrenches_of_a_paused_callback(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "cube", yk_test_free_cube(context, 2));
    yk_system *system = yk_test_start(context, builder);
    pusher p = {.pause = 3};
    yk_system_set_before_step(system, push_before, &p);
    assert_refused(context, yk_system_run_until(system, 5 * STEP), YK_INTERRUPTED);

    /* Inputs that the program applies while the run is paused are kept. */
    const yk_wrench push = {{100, 0, 0}, {0, 0, 0}};
    assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                   push, NULL));
    assert_ok(context, yk_system_run_until(system, 5 * STEP));
    assert_int_equal(p.calls, 6);
    assert_near(speed(system, 0, 0), (5 * 2 + 100) * STEP / 2, 1e-14);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

/* Snapshots ------------------------------------------------------------------------------------ */

static yk_system *sled_and_cubes(yk_context *context, yk_scheme_def scheme)
{
    yk_system_builder *builder = yk_test_begin(context, STEP, scheme);
    yk_system_add_owned_subsystem(builder, "left", yk_test_free_body(context, MASSES[0]));
    yk_system_add_owned_subsystem(builder, "right", yk_test_free_body(context, MASSES[1]));
    yk_subsystem *sled = sled_of_nonsmooth(context);
    yk_system_add_owned_subsystem(builder, "sled", sled);
    yk_system_connect_ports(builder, "joint", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    yk_system_add_input(builder, "command", (yk_subsystem_id){2},
                        yk_subsystem_find_port(sled, "force"), 1);
    return yk_test_start(context, builder);
}

/* Steps with an input and a wrench that depend on the state. */
static uint64_t excite(yk_context *context, yk_system *system, int steps)
{
    for (int i = 0; i < steps; i++) {
        yk_wrench push = {{sin(0.3 * (double)yk_system_step_count(system)), 0, 1}, {0, 0.1, 0}};
        assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){1},
                                                       (yk_body_id){0}, push, NULL));
        if (i == steps / 2)
            assert_ok(context,
                      yk_system_set_input(system, (yk_input_id){0}, 1 - speed(system, 2, 0)));
        assert_false(YK_FAILED(yk_system_step(system, NULL)));
    }
    uint64_t hash = 0;
    assert_ok(context, yk_system_state_hash(system, &hash));
    return hash;
}

static void test_snapshots_repeat_a_run(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    for (int i = 0; i < SCHEME_COUNT; i++) {
        yk_system *system = sled_and_cubes(context, scheme_at(i));
        excite(context, system, 7);
        yk_snapshot *snapshot = NULL;
        assert_ok(context, yk_snapshot_create(system, &snapshot));
        uint64_t expected = excite(context, system, 9);
        int64_t iterations = yk_system_get_statistics(system).iterations;

        /* In the same system, twice. */
        for (int k = 0; k < 2; k++) {
            assert_ok(context, yk_snapshot_restore(snapshot, system));
            assert_int_equal(yk_system_step_count(system), 7);
            assert_true(excite(context, system, 9) == expected);
            assert_true(yk_system_get_statistics(system).iterations == iterations);
        }

        /* In another one, from a copy, and from bytes. */
        yk_snapshot *copy = NULL, *loaded = NULL;
        assert_ok(context, yk_snapshot_clone(snapshot, &copy));
        size_t size;
        const void *bytes = yk_snapshot_data(snapshot, &size);
        assert_ok(context, yk_snapshot_from_data(context, bytes, size, &loaded));
        yk_snapshot_destroy(snapshot);
        const yk_snapshot *others[] = {copy, loaded};
        for (int k = 0; k < 2; k++) {
            yk_system *other = sled_and_cubes(context, scheme_at(i));
            if (k == 1)
                excite(context, other, 3);
            assert_ok(context, yk_snapshot_restore(others[k], other));
            assert_true(excite(context, other, 9) == expected);
            yk_system_destroy(other);
        }

        /* A snapshot is overwritten by the present state. */
        assert_ok(context, yk_snapshot_save(copy, system));
        expected = excite(context, system, 4);
        assert_ok(context, yk_snapshot_restore(copy, system));
        assert_true(excite(context, system, 4) == expected);
        yk_snapshot_destroy(copy);
        yk_snapshot_destroy(loaded);
        yk_system_destroy(system);
    }
    yk_context_destroy(context);
}

/* A wrench that was not used yet is gone after a restore. */
static void test_restoring_drops_wrenches(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system_builder *builder = yk_test_begin(context, STEP, yk_scheme_default());
    yk_system_add_owned_subsystem(builder, "cube", yk_test_free_cube(context, 2));
    yk_system *system = yk_test_start(context, builder);
    yk_snapshot *snapshot = NULL;
    assert_ok(context, yk_snapshot_create(system, &snapshot));
    assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                   (yk_wrench){{1, 0, 0}, {0, 0, 0}}, NULL));
    assert_ok(context, yk_snapshot_restore(snapshot, system));
    assert_ok(context, yk_system_step(system, NULL));
    assert_near(speed(system, 0, 0), 0, 0);

    /* So is one before a restart. */
    assert_ok(context, yk_system_apply_body_wrench(system, (yk_subsystem_id){0}, (yk_body_id){0},
                                                   (yk_wrench){{1, 0, 0}, {0, 0, 0}}, NULL));
    assert_ok(context, yk_system_initialize(system));
    assert_ok(context, yk_system_step(system, NULL));
    assert_near(speed(system, 0, 0), 0, 0);
    yk_snapshot_destroy(snapshot);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

static void test_wrong_snapshots_are_refused(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_system *system = sled_and_cubes(context, yk_scheme_default());
    yk_system *other = pair(context, yk_scheme_default());
    excite(context, system, 5);
    yk_snapshot *snapshot = NULL;
    assert_ok(context, yk_snapshot_create(system, &snapshot));
    assert_refused(context, yk_snapshot_restore(snapshot, other), YK_ERROR_ARGUMENT);
    assert_refused(context, yk_snapshot_save(snapshot, other), YK_ERROR_ARGUMENT);

    /* Every byte counts. */
    size_t size;
    const unsigned char *bytes = yk_snapshot_data(snapshot, &size);
    unsigned char *damaged = malloc(size);
    yk_snapshot *made = (yk_snapshot *)1;
    for (size_t at = 0; at < size; at += 1 + size / 300) {
        memcpy(damaged, bytes, size);
        damaged[at] ^= 16;
        assert_refused(context, yk_snapshot_from_data(context, damaged, size, &made),
                       YK_ERROR_ARGUMENT);
        assert_null(made);
    }
    for (size_t length = 0; length < size; length += 1 + size / 100)
        assert_refused(context, yk_snapshot_from_data(context, bytes, length, &made),
                       YK_ERROR_ARGUMENT);
    assert_refused(context, yk_snapshot_from_data(context, NULL, size, &made), YK_ERROR_ARGUMENT);
    free(damaged);
    yk_snapshot_destroy(snapshot);
    yk_system_destroy(other);
    yk_system_destroy(system);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_channels_are_read_in_batches),
        cmocka_unit_test(test_unknown_channels_get_a_suggestion),
        cmocka_unit_test(test_bodies_are_read_in_bulk),
        cmocka_unit_test(test_wrench_gives_an_impulse),
        cmocka_unit_test(test_wrench_survives_subdivision),
        cmocka_unit_test(test_wrench_survives_a_failure),
        cmocka_unit_test(test_wrench_at_a_point),
        cmocka_unit_test(test_contacts_are_read),
        cmocka_unit_test(test_body_states_are_set),
        cmocka_unit_test(test_controller_in_the_program),
        cmocka_unit_test(test_inputs_keep_their_values),
        cmocka_unit_test(test_signal_ports_have_one_source),
        cmocka_unit_test(test_stiffness_changes_between_steps),
        cmocka_unit_test(test_spring_of_a_mechanism_changes),
        cmocka_unit_test(test_gain_of_a_controller_changes),
        cmocka_unit_test(test_gravity_changes),
        cmocka_unit_test(test_merged_subsystems_keep_their_parameters),
        cmocka_unit_test(test_callbacks_run_once_per_macro_step),
        cmocka_unit_test(test_paused_runs_continue),
        cmocka_unit_test(test_callbacks_end_a_run),
        cmocka_unit_test(test_callbacks_cannot_step),
        cmocka_unit_test(test_wrenches_of_a_paused_callback),
        cmocka_unit_test(test_snapshots_repeat_a_run),
        cmocka_unit_test(test_restoring_drops_wrenches),
        cmocka_unit_test(test_wrong_snapshots_are_refused),
    };
    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
