/* Sources and drains of particles: the number and positions of the particles, the mass, momentum
 * and energy they add and remove, and independence of the number of threads and of rollbacks. */
#include "math/so3.h"
#include "scene.h"

#include <stdlib.h>
#include <string.h>

static const double H = 1e-3;

static yk_emitter_def rain_of(int capacity, double rate)
{
    yk_emitter_def def = yk_emitter_default();
    def.name = "rain";
    def.rate = rate;
    def.particles = yk_particles_in_box(capacity, 0.01, yk_v3(0.1, 0.1, 0.05));
    def.particles.packing.density = 1000;
    def.particles.position = yk_v3(0, 0, 1);
    return def;
}

static int add_emitter(scene *s, const yk_emitter_def *def)
{
    int emitter = yk_world_add_emitter(s->world, def);
    if (emitter < 0)
        fail_msg("%s", yk_last_message(s->context));
    return emitter;
}

static int add_drain(scene *s, double z)
{
    yk_sink_def def = yk_sink_default();
    def.name = "drain";
    def.position.z = z;
    int sink = yk_world_add_sink(s->world, &def);
    assert_true(sink >= 0);
    return sink;
}

static int count_present(const scene *s)
{
    int present = 0;
    for (int i = 0; i < yk_nonsmooth_body_count(s->world); i++)
        present += !yk_nonsmooth_is_absent(s->world, i);
    return present;
}

static double channel(const scene *s, const char *name)
{
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s->world);
    const yk_channel *list;
    int count = subsystem->ops->channels->list(subsystem, &list);
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) != 0)
            continue;

        double value;
        assert_int_equal(list[i].component_count, 1);
        subsystem->ops->channels->read(subsystem, i, &value);
        return value;
    }

    fail_msg("there is no channel %s", name);
    return 0;
}

/* Nothing disturbs the flow: the n-th particle is there at n / rate and not a step earlier. */
static void test_count_is_rate_times_time(void **state)
{
    (void)state;
    scene s = scene_make(
        &(yk_nonsmooth_def){.contact_options = scene_default().contact_options, .thread_count = 1});
    yk_emitter_def def = rain_of(200, 100);
    def.particles.velocity = yk_v3(0, 0, -20);
    int rain = add_emitter(&s, &def);
    start(&s, H);
    assert_int_equal(count_present(&s), 0);
    for (int i = 1; i <= 1000; i++) {
        run(&s, H, 1);
        assert_int_equal(yk_nonsmooth_emitted(s.world, rain).count, i / 10);
        assert_int_equal(count_present(&s), i / 10);
    }
    assert_near(channel(&s, "rain.emitted_count"), 100, 0);
    assert_relative(channel(&s, "rain.emitted_mass"), 100 * 4 / 3. * YK_PI * 1e-6 * 1000, 1e-12);
    assert_near(channel(&s, "emitter_shortfall"), 0, 0);
    scene_end(&s);
}

static void test_begin_end_and_limit(void **state)
{
    (void)state;
    scene s = scene_make(
        &(yk_nonsmooth_def){.contact_options = scene_default().contact_options, .thread_count = 1});
    yk_emitter_def def = rain_of(100, 100);
    def.particles.velocity = yk_v3(0, 0, -20);
    def.start_time = 0.1;
    def.end_time = 0.3;
    int first = add_emitter(&s, &def);
    def.name = "second";
    def.particles.position.x = 1;
    def.max_emitted = 7;
    int second = add_emitter(&s, &def);
    start(&s, H);
    run(&s, H, 109);
    assert_int_equal(yk_nonsmooth_emitted(s.world, first).count, 0);
    run(&s, H, 1);
    assert_int_equal(yk_nonsmooth_emitted(s.world, first).count, 1);
    run(&s, H, 390);
    assert_int_equal(yk_nonsmooth_emitted(s.world, first).count, 20);
    assert_int_equal(yk_nonsmooth_emitted(s.world, second).count, 7);
    assert_int_equal(yk_nonsmooth_emitted(s.world, second).waiting, 0);

    /* A run that begins later does not make up for the time before. */
    assert_int_equal(yk_nonsmooth_start(s.world, 0.2, H), YK_OK);
    run(&s, H, 50);
    assert_int_equal(yk_nonsmooth_emitted(s.world, first).count, 5);
    scene_end(&s);
}

/* The mass flow is right to one particle, for every distribution of sizes. */
static void test_mass_rate(void **state)
{
    (void)state;
    scene s = scene_make(
        &(yk_nonsmooth_def){.contact_options = scene_default().contact_options, .thread_count = 1});
    yk_emitter_def def = rain_of(300, 0);
    def.mass_rate = 0.5;
    def.particles.packing.spread = 0.4;
    def.particles.velocity = yk_v3(0, 0, -20);
    int rain = add_emitter(&s, &def);
    start(&s, H);
    double heaviest = 1000 * 4 / 3. * YK_PI * pow(0.014, 3);
    for (int i = 1; i <= 1000; i++) {
        run(&s, H, 1);
        double due = 0.5 * i * H, mass = yk_nonsmooth_emitted(s.world, rain).mass;
        assert_true(mass <= due + 1e-5 * heaviest && mass > due - heaviest);
    }
    assert_relative(channel(&s, "particle_mass"), yk_nonsmooth_emitted(s.world, rain).mass, 1e-12);
    scene_end(&s);
}

/* An emitted sphere falls as any other: z0 + n h v - n (n + 1)/2 g h^2 of the stepping. */
static void test_free_fall(void **state)
{
    (void)state;
    yk_nonsmooth_def world = scene_default();
    scene s = scene_make(&world);
    yk_emitter_def def = rain_of(1, 100);
    def.particles.velocity = yk_v3(0.3, 0, -1);
    def.particles.angular_velocity = yk_v3(0, 5, 0);
    add_emitter(&s, &def);
    start(&s, H);
    run(&s, H, 10);
    assert_int_equal(count_present(&s), 1);
    yk_motion first = motion_of(&s, 0);
    assert_true(fabs(first.position.z - 1) <= 0.04 && fabs(first.position.x) <= 0.09);
    assert_near(first.velocity.z, -1, 0);
    int n = 200;
    run(&s, H, n);
    yk_motion last = motion_of(&s, 0);
    assert_near(last.position.z, first.position.z - n * H - 0.5 * n * (n + 1) * SCENE_G * H * H,
                1e-12);
    assert_near(last.position.x, first.position.x + 0.3 * n * H, 1e-12);
    assert_near(last.velocity.z, -1 - n * H * SCENE_G, 1e-12);
    assert_near(last.angular_velocity.y, 5, 1e-12);
    scene_end(&s);
}

/* Added particles are present or were removed, in number, mass and energy: kinetic + potential + dissipated -
 * work changes by m g^2 h^2/2 per step of free fall alone, the error of the stepping. */
static void test_matter_and_energy_are_kept(void **state)
{
    (void)state;
    yk_nonsmooth_def world = scene_default();
    scene s = scene_make(&world);
    yk_emitter_def def = rain_of(100, 200);
    def.particles.velocity = yk_v3(0, 0, -3);
    def.particles.packing.spread = 0.2;
    int rain = add_emitter(&s, &def), drain = add_drain(&s, -0.5);

    /* Bodies that were there from the beginning leave too; one with a name stays. */
    add_ball(&s, 0.02, yk_v3(0.5, 0, 0.5), rough(0));
    yk_nonsmooth_body_def named = yk_nonsmooth_body_default();
    named.name = "anchor";
    named.position = yk_v3(2, 0, 0);
    int anchor = yk_world_add_body(s.world, &named);
    start(&s, H);

    yk_energy begin, end;
    yk_nonsmooth_energy(s.world, &begin);
    double heavy = yk_nonsmooth_body_mass(s.world, anchor), drift = 0;
    for (int i = 0; i < 1000; i++) {
        drift += 0.5 * SCENE_G * SCENE_G * H * H * (heavy + channel(&s, "particle_mass"));
        run(&s, H, 1);

        yk_emitter_state in = yk_nonsmooth_emitted(s.world, rain);
        yk_sink_state out = yk_nonsmooth_removed(s.world, drain);
        double ball = 1000 * 4 / 3. * YK_PI * 8e-6;
        assert_near(channel(&s, "particle_count"), (double)(in.count + 1 - out.count), 0);
        assert_near(channel(&s, "particle_mass"), in.mass + ball - out.mass, 1e-12);
    }

    assert_true(yk_nonsmooth_removed(s.world, drain).count > 100);
    assert_false(yk_nonsmooth_is_absent(s.world, anchor));
    assert_true(motion_of(&s, anchor).position.z < -0.5);
    yk_nonsmooth_energy(s.world, &end);
    double balance = end.kinetic + end.potential + end.dissipated - end.work -
                     (begin.kinetic + begin.potential + begin.dissipated - begin.work);
    assert_near(balance, -drift, 1e-11 * (fabs(end.potential) + end.kinetic));
    assert_near(end.dissipated, 0, 1e-12);
    assert_true(drift > 1e-6);
    scene_end(&s);
}

/* A slanting tray that is fed and drained, with particles of all kinds. */
static scene fed_tray(int threads, double sleeping)
{
    yk_nonsmooth_def def = scene_default();
    def.gravity = tilted(0.6);
    def.thread_count = threads;
    def.contact_options.max_iterations = 30;
    def.contact_options.tolerance = 0;
    def.sleeping.speed_threshold = sleeping;
    scene s = scene_make(&def);
    yk_nonsmooth_shape_def tray = yk_nonsmooth_shape_default();
    tray.kind = YK_SOLID_BOX_CAVITY;
    tray.size = yk_v3(0.12, 0.12, 2);
    tray.position = yk_v3(0, 0, 1.9);
    tray.open_walls = YK_WALL_TOP | YK_WALL_RIGHT;
    tray.material = rough(0.3);
    assert_true(yk_world_add_shape(s.world, &tray) >= 0);
    yk_sink_def sink = yk_sink_default();
    sink.name = "drain";
    sink.kind = YK_SOLID_BOX;
    sink.position = yk_v3(0.3, 0, 0);
    sink.size = yk_v3(0.1, 1, 1);
    assert_true(yk_world_add_sink(s.world, &sink) >= 0);

    yk_emitter_def rain = rain_of(120, 200);
    rain.particles.position.z = 0.4;
    rain.particles.velocity = yk_v3(0.2, 0, -1);
    rain.particles.packing.spread = 0.2;
    rain.particles.packing.material = rough(0.4);
    add_emitter(&s, &rain);
    rain.name = "boxes";
    rain.particles.packing.shape =
        (yk_particle_shape){.kind = YK_SOLID_BOX, .size = {0.01, 0.008, 0.006}};
    rain.particles.packing.count = 30;
    rain.rate = 80;
    rain.mass_rate = 0;
    add_emitter(&s, &rain);
    yk_vec3 middles[2] = {{0, 0, 0}, {0.01, 0, 0}};
    double radii[2] = {0.008, 0.006};
    rain.name = "clumps";
    rain.particles.packing.shape = (yk_particle_shape){
        .kind = YK_SOLID_SPHERE, .points = middles, .point_count = 2, .radii = radii};
    rain.particles.packing.cavity = YK_SOLID_CYLINDER_CAVITY;
    add_emitter(&s, &rain);
    start(&s, H);
    return s;
}

static void test_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    size_t words, again;
    scene one = fed_tray(1, 0);
    run(&one, H, 800);
    double *expected = image_of(&one, &words);
    assert_true(yk_nonsmooth_removed(one.world, 0).count > 50);
    assert_true(yk_nonsmooth_emitted(one.world, 1).count > 30);
    for (int threads = 2; threads <= 4; threads += 2) {
        scene many = fed_tray(threads, 0);
        run(&many, H, 800);
        double *image = image_of(&many, &again);
        assert_int_equal(words, again);
        assert_memory_equal(image, expected, words * sizeof *image);
        free(image);
        scene_end(&many);
    }
    free(expected);
    scene_end(&one);
}

/* Back to a time when other particles were there; and in another instance. */
static void test_rollback_is_exact(void **state)
{
    (void)state;
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        scene s = fed_tray(1, sleeps * 0.05), other = fed_tray(1, sleeps * 0.05);
        yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
        yk_subsystem *second = yk_nonsmooth_subsystem(other.world);
        size_t words;
        run(&s, H, 300);
        uint64_t emitted = yk_nonsmooth_emitted(s.world, 0).count;
        double *begin = image_of(&s, &words);
        run(&s, H, 157);
        double *end = image_of(&s, &words);
        run(&s, H, 31);
        assert_int_equal(subsystem->ops->rollback->set(subsystem, begin), YK_OK);
        assert_int_equal(yk_nonsmooth_emitted(s.world, 0).count, emitted);
        run(&s, H, 157);
        double *again = image_of(&s, &words);
        assert_memory_equal(again, end, words * sizeof *end);
        assert_true(yk_nonsmooth_emitted(s.world, 0).count > emitted + 20);

        assert_int_equal(second->ops->rollback->set(second, begin), YK_OK);
        run(&other, H, 157);
        double *elsewhere = image_of(&other, &words);
        assert_memory_equal(elsewhere, end, words * sizeof *end);
        free(begin);
        free(end);
        free(again);
        free(elsewhere);
        scene_end(&s);
        scene_end(&other);
    }
}

/* If no place is free, particles wait, and none overlaps another one. */
static void test_blocked_emitter_waits(void **state)
{
    (void)state;
    yk_nonsmooth_def world = scene_default();
    world.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&world);
    yk_emitter_def def = rain_of(2000, 10000);
    int rain = add_emitter(&s, &def);
    add_box(&s, yk_v3(0.05, 0.2, 0.2), yk_v3(0.06, 0, 1), 1, rough(0));
    start(&s, H);
    run(&s, H, 100);

    /* More than any number of particles is due, and nothing worse happens. */
    yk_emitter_def flood = rain_of(1, 1e300);
    scene other = scene_make(&world);
    int emitter = add_emitter(&other, &flood);
    start(&other, H);
    run(&other, H, 3);
    assert_int_equal(yk_nonsmooth_emitted(other.world, emitter).count, 1);
    assert_true(yk_nonsmooth_emitted(other.world, emitter).waiting > 1000000);
    scene_end(&other);

    /* The left 0.11 m of the region: by random sequential addition at most 38 % of it is filled. */
    yk_emitter_state in = yk_nonsmooth_emitted(s.world, rain);
    double ball = 4 / 3. * YK_PI * 1e-6, fraction = (double)in.count * ball / (0.11 * 0.2 * 0.1);
    assert_true(fraction > 0.2 && fraction < 0.4);
    assert_int_equal(in.count + in.waiting, 1000);
    assert_false(in.exhausted);
    assert_near(channel(&s, "emitter_shortfall"), (double)in.waiting / 1000, 1e-12);

    int bodies = yk_nonsmooth_body_count(s.world);
    for (int i = 0; i < bodies - 1; i++) {
        if (yk_nonsmooth_is_absent(s.world, i))
            continue;
        yk_vec3 p = motion_of(&s, i).position;
        assert_true(p.x > -0.09 - 1e-12 && p.x < -1e-12 && fabs(p.y) < 0.09 + 1e-12);
        for (int k = 0; k < i; k++)
            if (!yk_nonsmooth_is_absent(s.world, k))
                assert_true(yk_v3_norm(yk_v3_sub(p, motion_of(&s, k).position)) > 0.02);
    }

    /* The energy is still none. */
    yk_energy energy;
    yk_nonsmooth_energy(s.world, &energy);
    assert_near(energy.kinetic, 0, 1e-20);
    scene_end(&s);
}

/* All there are, and one that leaves comes again. */
static void test_exhausted_emitter_waits_for_sinks(void **state)
{
    (void)state;
    scene s = scene_make(
        &(yk_nonsmooth_def){.contact_options = scene_default().contact_options, .thread_count = 1});
    yk_emitter_def def = rain_of(5, 100);
    def.particles.velocity = yk_v3(0, 0, -2);
    int rain = add_emitter(&s, &def);
    int drain = add_drain(&s, 0);
    start(&s, H);
    run(&s, H, 200);
    yk_emitter_state in = yk_nonsmooth_emitted(s.world, rain);
    assert_int_equal(in.count, 5);
    assert_int_equal(in.waiting, 15);
    assert_true(in.exhausted);
    assert_near(channel(&s, "emitter_exhausted"), 1, 0);

    /* 0.95 to 1.05 m at 2 m/s: the first five leave between 0.48 and 0.58 s. */
    run(&s, H, 400);
    assert_true(yk_nonsmooth_removed(s.world, drain).count >= 5);
    assert_int_equal(yk_nonsmooth_emitted(s.world, rain).count,
                     5 + yk_nonsmooth_removed(s.world, drain).count);
    scene_end(&s);
}

/* Absent bodies are drawn nowhere and have no place in the channel of particles. */
static void test_absent_bodies_are_not_seen(void **state)
{
    (void)state;
    scene s = scene_make(
        &(yk_nonsmooth_def){.contact_options = scene_default().contact_options, .thread_count = 1});
    yk_emitter_def def = rain_of(10, 100);
    def.particles.velocity = yk_v3(0, 0, -20);
    add_emitter(&s, &def);
    start(&s, H);
    run(&s, H, 35);
    yk_scene_pose poses[10];
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
    subsystem->ops->scene->poses(subsystem, poses);
    int seen = 0;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(yk_v3_finite(poses[i].position), !yk_nonsmooth_is_absent(s.world, i));
        seen += yk_v3_finite(poses[i].position);
    }
    assert_int_equal(seen, 3);
    scene_end(&s);
}

/* A sleeping particle is woken by one that falls on it; one that sleeps in a sink is removed, and those above
 * it fall. */
static void test_sleeping(void **state)
{
    (void)state;
    yk_nonsmooth_def world = scene_default();
    world.sleeping =
        (yk_sleep_options){.speed_threshold = 0.01, .angular_speed_threshold = 1, .delay = 0.05};
    scene s = scene_make(&world);
    add_floor(&s, rough(0.5));
    int ball = add_ball(&s, 0.05, yk_v3(0, 0, 0.05), rough(0.5));
    yk_emitter_def def = rain_of(1, 2);
    def.particles = yk_particles_in_box(1, 0.01, yk_v3(0.011, 0.011, 0.02));
    def.particles.position = yk_v3(0, 0, 0.4);
    int rain = add_emitter(&s, &def);
    start(&s, H);
    run(&s, H, 499);
    assert_near(channel(&s, "sleeping_count"), 1, 0);
    assert_near(channel(&s, "particle_count"), 1, 0);
    run(&s, H, 1);
    assert_int_equal(yk_nonsmooth_emitted(s.world, rain).count, 1);
    double before = motion_of(&s, ball).position.x;
    run(&s, H, 400);
    assert_near(channel(&s, "particle_count"), 2, 0);
    assert_true(channel(&s, "contact_count") >= 1);
    assert_true(fabs(motion_of(&s, ball).position.x - before) < 0.05);
    scene_end(&s);
}

static void refuse(yk_emitter_def def, const char *reason)
{
    scene s = scene_make(
        &(yk_nonsmooth_def){.contact_options = scene_default().contact_options, .thread_count = 1});
    assert_true(yk_world_add_emitter(s.world, &def) < 0);
    if (!strstr(yk_last_message(s.context), reason))
        fail_msg("'%s' does not say '%s'", yk_last_message(s.context), reason);
    scene_end(&s);
}

static void test_bad_input_is_refused(void **state)
{
    (void)state;
    yk_emitter_def def = rain_of(10, 100);
    def.mass_rate = 1;
    refuse(def, "one of the two must be positive");
    def = rain_of(10, 0);
    refuse(def, "one of the two must be positive");
    def = rain_of(10, NAN);
    refuse(def, "one of the two must be positive");
    def = rain_of(10, 100);
    def.name = "";
    refuse(def, "no name");
    def = rain_of(10, 100);
    def.end_time = 0;
    refuse(def, "later than");
    def = rain_of(10, 100);
    def.max_emitted = -1;
    refuse(def, "must not be negative");
    def = rain_of(10, 100);
    def.particles.velocity.x = INFINITY;
    refuse(def, "not finite");
    def = rain_of(0, 100);
    refuse(def, "count");
    def = rain_of(10, 100);
    def.particles.packing.size.z = 0.009;
    refuse(def, "0.018 m high");
    def.particles.packing.size = yk_v3(0.009, 1, 1);
    refuse(def, "not one particle");

    /* Sinks that are no region; a joint on what comes and goes. */
    scene s = scene_make(
        &(yk_nonsmooth_def){.contact_options = scene_default().contact_options, .thread_count = 1});
    yk_sink_def sink = yk_sink_default();
    assert_true(yk_world_add_sink(s.world, &sink) < 0);
    sink.name = "drain";
    sink.kind = YK_SOLID_HULL;
    assert_true(yk_world_add_sink(s.world, &sink) < 0);
    sink.kind = YK_SOLID_BOX;
    sink.size = yk_v3(1, -1, 1);
    assert_true(yk_world_add_sink(s.world, &sink) < 0);
    sink.kind = YK_SOLID_CYLINDER;
    sink.size = yk_v3(1, 0, 1);
    assert_true(yk_world_add_sink(s.world, &sink) >= 0);
    def = rain_of(10, 100);
    add_emitter(&s, &def);
    yk_joint_def joint = yk_joint_default();
    joint.bodies[0] = YK_GROUND;
    joint.bodies[1] = (yk_body_id){3};
    assert_true(yk_world_add_joint(s.world, &joint) >= 0);
    assert_true(yk_nonsmooth_start(s.world, 0, H) < 0);
    assert_non_null(strstr(yk_last_message(s.context), "comes and goes"));
    scene_end(&s);
}

/* Each kind of region takes what is in it and nothing else. */
static void test_regions_of_sinks(void **state)
{
    (void)state;
    const yk_solid_kind kinds[3] = {YK_SOLID_BOX, YK_SOLID_CYLINDER, YK_SOLID_PLANE};
    for (int k = 0; k < 3; k++) {
        scene s = scene_make(&(yk_nonsmooth_def){.contact_options = scene_default().contact_options,
                                                 .thread_count = 1});
        yk_sink_def sink = yk_sink_default();
        sink.name = "sink";
        sink.kind = kinds[k];
        sink.position = yk_v3(1, 2, 3);
        sink.orientation = yk_so3_exp(yk_v3(0, YK_PI / 2, 0)); /* its z is the global x */
        sink.size = yk_v3(0.3, 0.3, 0.1);
        assert_true(yk_world_add_sink(s.world, &sink) >= 0);
        /* Along the axis, across it, in a corner of the box, and behind the plane. */
        const yk_vec3 places[6] = {{1.09, 2, 3}, {1.11, 2, 3},    {1, 2.29, 3},
                                   {1, 2.31, 3}, {1, 2.25, 3.25}, {-5, 9, 9}};
        const bool taken[3][6] = {{true, false, true, false, true, false},
                                  {true, false, true, false, false, false},
                                  {false, false, false, false, false, true}};
        for (int i = 0; i < 6; i++)
            add_ball(&s, 1e-3, places[i], rough(0));
        start(&s, H);
        run(&s, H, 1);
        for (int i = 0; i < 6; i++) {
            bool on_plane = k == 2 && places[i].x == 1;
            if (!on_plane)
                assert_int_equal(yk_nonsmooth_is_absent(s.world, i), taken[k][i]);
        }
        scene_end(&s);
    }
}

/* Worlds that are merged keep their own particles, sinks and channels:
 * the first is fed, the second is drained, and a third has neither. */
static void test_merged_worlds(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&def);
    yk_nonsmooth *worlds[3] = {s.world, NULL, NULL};
    yk_subsystem *parts[3];
    for (int i = 0; i < 3; i++) {
        if (i > 0)
            assert_int_equal(yk_world_create(s.context, &def, &worlds[i]), YK_OK);
        parts[i] = yk_nonsmooth_subsystem(worlds[i]);
        int ball = yk_world_add_sphere(worlds[i], yk_v3(0, 0, -1), 0.01, 1000, rough(0));
        assert_int_equal(ball, 0);
    }
    yk_emitter_def rain = rain_of(10, 100);
    rain.particles.velocity = yk_v3(0, 0, -20);
    assert_true(yk_world_add_emitter(worlds[0], &rain) >= 0);
    yk_sink_def sink = yk_sink_default();
    sink.name = "drain";
    assert_true(yk_world_add_sink(worlds[1], &sink) >= 0);

    yk_merge_def merge = {.parts = parts, .part_count = 3, .length_unit = 1};
    yk_subsystem *merged;
    assert_int_equal(parts[0]->ops->merge->merge(&merge, &merged), YK_OK);
    assert_int_equal(merged->ops->initialize(merged, 0, H, NULL), YK_OK);
    for (int i = 0; i < 50; i++)
        assert_int_equal(merged->ops->step(merged, i * H, H, NULL), YK_OK);

    /* The balls at z = -1 are one below the other in all three. */
    yk_nonsmooth *whole = (yk_nonsmooth *)merged;
    assert_false(yk_nonsmooth_is_absent(whole, 0));
    assert_true(yk_nonsmooth_is_absent(whole, 11));
    assert_false(yk_nonsmooth_is_absent(whole, 12));
    assert_int_equal(yk_nonsmooth_emitted(whole, 0).count, 5);

    /* Channels in the order of the parts. */
    const yk_channel *list, *own;
    int count = merged->ops->channels->list(merged, &list), at = 0;
    for (int i = 0; i < 3; i++) {
        int length = parts[i]->ops->channels->list(parts[i], &own);
        for (int k = 0; k < length; k++, at++) {
            assert_string_equal(list[at].name, own[k].name);
            double values[64], expected = i == 0 ? 6 : 0;
            assert_true(list[at].component_count <= 64);
            merged->ops->channels->read(merged, at, values);
            if (strcmp(own[k].name, "particle_count") == 0)
                assert_near(values[0], expected, 0);
            if (strcmp(own[k].name, "drain.removed_count") == 0)
                assert_near(values[0], 1, 0);
        }
    }
    assert_int_equal(at, count);
    merged->ops->destroy(merged);
    yk_nonsmooth_destroy(worlds[1]);
    yk_nonsmooth_destroy(worlds[2]);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_is_rate_times_time),
        cmocka_unit_test(test_begin_end_and_limit),
        cmocka_unit_test(test_mass_rate),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_matter_and_energy_are_kept),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_rollback_is_exact),
        cmocka_unit_test(test_blocked_emitter_waits),
        cmocka_unit_test(test_exhausted_emitter_waits_for_sinks),
        cmocka_unit_test(test_absent_bodies_are_not_seen),
        cmocka_unit_test(test_sleeping),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_regions_of_sinks),
        cmocka_unit_test(test_merged_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
