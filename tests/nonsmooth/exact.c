/* Rigid contact with answers in closed form. Where time stepping has an exact answer of its own,
 * that is what is asserted; elsewhere the tolerance is the stated order of the step. */
#include "scene.h"

/* A sphere on an incline rolls iff tan(angle) <= 7/2 mu; its acceleration is constant from the
 * first step, so that v(n h) = a n h holds to the solver's tolerance. */
static void sphere_on_incline(double angle, double mu, double *acceleration, double *spin)
{
    yk_nonsmooth_def def = scene_default();
    def.gravity = tilted(angle);
    scene s = scene_make(&def);
    add_floor(&s, rough(mu));
    int ball = add_ball(&s, 0.1, yk_v3(0, 0, 0.1), rough(mu));
    double h = 1e-3;
    int settle = 100, steps = 400;
    start(&s, h);
    run(&s, h, settle);
    yk_motion first = motion_of(&s, ball);
    run(&s, h, steps);
    yk_motion last = motion_of(&s, ball);
    *acceleration = (last.velocity.x - first.velocity.x) / (steps * h);
    *spin = (last.angular_velocity.y - first.angular_velocity.y) / (steps * h);
    scene_end(&s);
}

static void test_sphere_rolls_down(void **state)
{
    (void)state;
    double angle = 0.5, a, spin;
    sphere_on_incline(angle, 0.9 * tan(angle) * 2 / 7 / 0.9 * 1.05, &a, &spin);
    assert_relative(a, SCENE_G * sin(angle) * 5 / 7, 1e-8);
    assert_relative(spin, a / 0.1, 1e-8);
}

static void test_sphere_slips_down(void **state)
{
    (void)state;
    double angle = 0.5, mu = 0.1, a, spin;
    sphere_on_incline(angle, mu, &a, &spin);
    assert_relative(a, SCENE_G * (sin(angle) - mu * cos(angle)), 1e-8);
    assert_relative(spin, 2.5 * mu * SCENE_G * cos(angle) / 0.1, 1e-8);
}

static double block_on_incline(double angle, double mu, yk_friction_model friction)
{
    yk_nonsmooth_def def = scene_default();
    def.gravity = tilted(angle);
    def.contact_options.friction_model = friction;
    scene s = scene_make(&def);
    add_floor(&s, rough(mu));
    int box = add_box(&s, yk_v3(0.5, 0.5, 0.1), yk_v3(0, 0, 0.1), 2, rough(mu));
    start(&s, 1e-3);
    run(&s, 1e-3, 200);
    double v = motion_of(&s, box).velocity.x;
    scene_end(&s);
    return v;
}

static void test_block_sticks_and_slides(void **state)
{
    (void)state;
    double angle = 0.4, t = 0.2;
    assert_near(block_on_incline(angle, 1.01 * tan(angle), YK_FRICTION_CONVEX_CONE), 0, 1e-9);
    assert_near(block_on_incline(angle, 1.01 * tan(angle), YK_FRICTION_PYRAMID), 0, 1e-9);
    double mu = 0.5 * tan(angle);
    /* The convex law lifts a block that speeds up by h mu v, which costs normal force once, in
     * the first step. */
    assert_relative(block_on_incline(angle, mu, YK_FRICTION_CONVEX_CONE),
                    SCENE_G * (sin(angle) - mu * cos(angle)) * t, 5e-3);
    assert_relative(block_on_incline(angle, mu, YK_FRICTION_PYRAMID),
                    SCENE_G * (sin(angle) - mu * cos(angle)) * t, 1e-8);
}

/* Implicit Euler stops exactly v0 h/2 short of v0^2/(2 mu g) where v0/(mu g h) is an integer. */
static double stop_distance(double v0, double mu, double h, yk_friction_model friction,
                            yk_vec3 direction, yk_vec3 *end)
{
    yk_nonsmooth_def def = scene_default();
    def.contact_options.friction_model = friction;
    scene s = scene_make(&def);
    add_floor(&s, rough(mu));
    int box = add_box(&s, yk_v3(0.5, 0.5, 0.1), yk_v3(0, 0, 0.1), 2, rough(mu));
    set_velocity(&s, box, yk_v3_scale(v0, direction), yk_v3(0, 0, 0));
    start(&s, h);
    run(&s, h, (int)(v0 / (mu * SCENE_G * h)) + 10);
    yk_motion motion = motion_of(&s, box);
    assert_near(yk_v3_norm(motion.velocity), 0, 1e-8);
    *end = yk_v3(motion.position.x, motion.position.y, 0);
    scene_end(&s);
    return yk_v3_norm(*end);
}

static void test_block_stops(void **state)
{
    (void)state;
    double mu = 0.5, h = 1e-3;
    double v0 = 400 * mu * SCENE_G * h, expected = v0 * v0 / (2 * mu * SCENE_G) - v0 * h / 2;
    yk_vec3 end;
    assert_relative(stop_distance(v0, mu, h, YK_FRICTION_COULOMB, yk_v3(1, 0, 0), &end), expected,
                    1e-8);
    assert_relative(stop_distance(v0, mu, h, YK_FRICTION_PYRAMID, yk_v3(1, 0, 0), &end), expected,
                    1e-8);
    yk_vec3 diagonal = {0.8, 0.6, 0};
    assert_relative(stop_distance(v0, mu, h, YK_FRICTION_COULOMB, diagonal, &end), expected, 1e-8);
    assert_relative(end.y / end.x, 0.75, 1e-8);
}

/* A pyramid lets friction act along its axes independently: the path of a diagonal slide bends
 * towards the axis along which it was slower, and each component decelerates by mu g. */
static void test_pyramid_bends_the_path(void **state)
{
    (void)state;
    double mu = 0.5, h = 1e-3, v0 = 400 * mu * SCENE_G * h;
    yk_vec3 end;
    stop_distance(v0, mu, h, YK_FRICTION_PYRAMID, yk_v3(0.8, 0.6, 0), &end);
    double expected_x = 0.64 * v0 * v0 / (2 * mu * SCENE_G) - 0.8 * v0 * h / 2;
    double expected_y = 0.36 * v0 * v0 / (2 * mu * SCENE_G) - 0.6 * v0 * h / 2;
    assert_relative(end.x, expected_x, 1e-6);
    assert_relative(end.y, expected_y, 1e-6);
}

/* A box of width b and height H on an incline tips iff b/H < tan(angle). */
static double tipping_rate(double ratio)
{
    yk_nonsmooth_def def = scene_default();
    double angle = 0.3, width = 1, height = ratio * width / tan(angle);
    def.gravity = tilted(angle);
    scene s = scene_make(&def);
    add_floor(&s, rough(2));
    int box =
        add_box(&s, yk_v3(width / 2, width / 2, height / 2), yk_v3(0, 0, height / 2), 1, rough(2));
    start(&s, 1e-3);
    run(&s, 1e-3, 300);
    double rate = motion_of(&s, box).angular_velocity.y;
    scene_end(&s);
    return rate;
}

static void test_box_tips(void **state)
{
    (void)state;
    assert_near(tipping_rate(0.98), 0, 1e-7);
    /* About the lower edge: moment m g cos(angle) b/2 (ratio - 1), inertia m (b^2 + H^2)/3; it
     * grows as the box leans.
     */
    double angle = 0.3, height = 1.02 / tan(angle);
    double slow = SCENE_G * cos(angle) / 2 * 0.02 * 3 / (1 + height * height) * 0.3;
    double rate = tipping_rate(1.02);
    assert_true(rate > slow && rate < 1.5 * slow);
}

/* Thrown without spin: angular momentum about the floor is kept, so that rolling at 5/7 v0 is
 * exact, reached within a step of t = 2 v0/(7 mu g); 2/7 of the energy is lost. */
static void thrown_sphere(yk_friction_model friction)
{
    yk_nonsmooth_def def = scene_default();
    def.contact_options.friction_model = friction;
    scene s = scene_make(&def);
    double mu = 0.3, v0 = 2, r = 0.1, h = 1e-3;
    add_floor(&s, rough(mu));
    int ball = add_ball(&s, r, yk_v3(0, 0, r), rough(mu));
    set_velocity(&s, ball, yk_v3(v0, 0, 0), yk_v3(0, 0, 0));
    start(&s, h);
    int steps = 0;
    while (steps < 1000 &&
           motion_of(&s, ball).velocity.x - r * motion_of(&s, ball).angular_velocity.y > 1e-6) {
        run(&s, h, 1);
        steps++;
    }
    run(&s, h, 10);
    assert_near(steps * h, 2 * v0 / (7 * mu * SCENE_G), 2 * h);
    yk_motion motion = motion_of(&s, ball);
    assert_relative(motion.velocity.x, 5.0 / 7 * v0, 1e-9);
    assert_relative(motion.angular_velocity.y, 5.0 / 7 * v0 / r, 1e-9);
    yk_energy energy;
    yk_nonsmooth_energy(s.world, &energy);
    double lost = 2.0 / 7 * 0.5 * yk_nonsmooth_body_mass(s.world, ball) * v0 * v0;
    assert_relative(energy.dissipated, lost, 1e-6);
    scene_end(&s);
}

static void test_thrown_sphere_rolls(void **state)
{
    (void)state;
    thrown_sphere(YK_FRICTION_CONVEX_CONE);
    thrown_sphere(YK_FRICTION_COULOMB);
}

/* Oblique impact of a sphere: sticks iff vt <= 7/2 mu (1 + e) vn. */
static yk_vec3 impact(double vn, double vt, double mu, double e, yk_friction_model friction)
{
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    def.contact_options.friction_model = friction;
    scene s = scene_make(&def);
    yk_material material = {.friction = mu, .restitution = e};
    add_floor(&s, material);
    int ball = add_ball(&s, 0.1, yk_v3(0, 0, 0.1 + 0.0103), material);
    set_velocity(&s, ball, yk_v3(vt, 0, -vn), yk_v3(0, 0, 0));
    start(&s, 1e-3);
    run(&s, 1e-3, 100);
    yk_vec3 v = motion_of(&s, ball).velocity;
    scene_end(&s);
    return v;
}

static void test_oblique_impact(void **state)
{
    (void)state;
    double vn = 1, e = 0.5, mu = 0.2, limit = 3.5 * mu * (1 + e) * vn;
    yk_vec3 v = impact(vn, 0.9 * limit, mu, e, YK_FRICTION_CONVEX_CONE);
    assert_relative(v.x, 5.0 / 7 * 0.9 * limit, 1e-9);
    assert_relative(v.z, e * vn, 1e-9);
    v = impact(vn, 0.9 * limit, mu, e, YK_FRICTION_COULOMB);
    assert_relative(v.x, 5.0 / 7 * 0.9 * limit, 1e-9);
    v = impact(vn, 2 * limit, mu, e, YK_FRICTION_COULOMB);
    assert_relative(v.x, 2 * limit - mu * (1 + e) * vn, 1e-9);
    assert_relative(v.z, e * vn, 1e-9);
    v = impact(vn, 2 * limit, mu, e, YK_FRICTION_PYRAMID);
    assert_relative(v.x, 2 * limit - mu * (1 + e) * vn, 1e-9);
}

/* Comes to rest at sqrt(2 h0/g) (1 + e)/(1 - e). Every bounce is up to a step early or late and
 * up to g h too fast, which all later bounces inherit: n h (1 + e)/(1 - e) in all for n bounces
 * down to the speed g h, the last that is resolved. */
static void test_bouncing_ball_comes_to_rest(void **state)
{
    (void)state;
    double e = 0.7, h0 = 1, h = 1e-4, r = 0.1;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    yk_material material = {.restitution = e};
    add_floor(&s, material);
    int ball = add_ball(&s, r, yk_v3(0, 0, r + h0), material);
    start(&s, h);
    double last = 0, top = 0;
    for (int i = 0; i < 40000; i++) {
        run(&s, h, 1);
        yk_motion motion = motion_of(&s, ball);
        if (fabs(motion.velocity.z) > 1e-6)
            last = yk_nonsmooth_time(s.world);
        if (yk_nonsmooth_time(s.world) > sqrt(2 * h0 / SCENE_G))
            top = fmax(top, motion.position.z - r);
    }
    double exact = sqrt(2 * h0 / SCENE_G) * (1 + e) / (1 - e);
    double bounces = log(sqrt(2 * SCENE_G * h0) / (SCENE_G * h)) / log(1 / e);
    assert_near(last, exact, bounces * (1 + e) / (1 - e) * h);
    assert_near(top, e * e * h0, 2 * h * sqrt(2 * SCENE_G * h0));
    assert_near(motion_of(&s, ball).position.z, r, 1e-9);
    scene_end(&s);
}

static void test_three_balls_in_line(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&def);
    int balls[3];
    for (int i = 0; i < 3; i++)
        balls[i] = add_ball(&s, 0.5, yk_v3(i, 0, 0), rough(0));
    set_velocity(&s, balls[0], yk_v3(3, 0, 0), yk_v3(0, 0, 0));
    start(&s, 1e-3);
    run(&s, 1e-3, 1);
    for (int i = 0; i < 3; i++)
        assert_near(motion_of(&s, balls[i]).velocity.x, 1, 1e-9);
    scene_end(&s);
}

/* Painleve's rod slides on its end at tan(angle) = 2 with mu > 4/3: no acceleration solves the
 * contact, an impulse does: the end stops dead. */
static void test_painleve_rod(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++) {
        yk_nonsmooth_def def = scene_default();
        def.contact_options.friction_model = model ? YK_FRICTION_COULOMB : YK_FRICTION_CONVEX_CONE;
        scene s = scene_make(&def);
        double mu = 1.6, l = 1, angle = atan(2), tip = 1e-3, m = 1;
        add_floor(&s, rough(mu));
        yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
        body.position = yk_v3(0, 0, l * sin(angle) + tip);
        body.mass = m;
        body.inertia = yk_m3_diagonal(m * l * l / 3, m * l * l / 3, m * l * l / 3);
        int rod = yk_world_add_body(s.world, &body);
        yk_nonsmooth_shape_def end = yk_nonsmooth_shape_default();
        end.body = (yk_body_id){rod};
        /* Sliding towards the end that leans back pushes the rod into the floor. */
        end.position = yk_v3(l * cos(angle), 0, -l * sin(angle));
        end.size.x = tip;
        end.material = rough(mu);
        yk_world_add_shape(s.world, &end);
        set_velocity(&s, rod, yk_v3(1, 0, 0), yk_v3(0, 0, 0));
        double h = 1e-4;
        start(&s, h);
        for (int i = 0; i < 50; i++) {
            run(&s, h, 1);
            double rms, largest;
            yk_nonsmooth_violation(s.world, &rms, &largest);
            assert_true(largest < 1e-9);
            yk_vec3 f = yk_nonsmooth_contact_force(s.world, rod, YK_GROUND_INDEX);
            assert_true(f.z >= 0);
            assert_true(fabs(f.x) <= mu * f.z * (1 + 1e-9));
        }
        yk_motion motion = motion_of(&s, rod);
        yk_vec3 arm = yk_q_rotate(motion.orientation, end.position);
        yk_vec3 v = yk_v3_add(motion.velocity, yk_v3_cross(motion.angular_velocity, arm));
        assert_true(fabs(v.x) < 1e-6 || v.z > 0);
        yk_energy energy;
        yk_nonsmooth_energy(s.world, &energy);
        assert_true(energy.dissipated > 0);
        scene_end(&s);
    }
}

/* Amplitude falls by 2 mu N/k per half cycle, and the mass stops where |x| <= mu N/k; first order
 * in h omega. */
static void test_spring_on_rough_floor(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.contact_options.friction_model = YK_FRICTION_COULOMB;
    scene s = scene_make(&def);
    double m = 1, k = 100, mu = 0.1, x0 = 0.1, h = 1e-4;
    double loss = 2 * mu * m * SCENE_G / k;
    add_floor(&s, rough(mu));
    int box = add_box(&s, yk_v3(0.1, 0.1, 0.01), yk_v3(x0, 0, 0.01), m, rough(mu));
    yk_force_def spring = yk_force_default();
    spring.kind = YK_FORCE_SPRING;
    spring.stiffness = k;
    spring.free_length = 10;
    spring.markers[0].offset = yk_v3(-10, 0, 0.01);
    spring.bodies[1] = (yk_body_id){box};
    assert_true(yk_world_add_force(s.world, &spring) >= 0);
    start(&s, h);
    double expected = x0, before = x0, speed = 0;
    int rotates = 0, still = 0;
    for (int i = 0; i < 30000 && still < 20; i++) {
        run(&s, h, 1);
        yk_motion motion = motion_of(&s, box);
        bool moves = fabs(motion.velocity.x) > 1e-9;
        still = i > 100 && !moves ? still + 1 : 0;
        if ((moves && speed * motion.velocity.x < 0) || still == 20) {
            expected -= loss;
            rotates++;
            assert_near(fabs(before), expected, 2 * rotates * h * sqrt(k / m) * x0);
        }
        if (moves)
            speed = motion.velocity.x;
        before = motion.position.x;
    }
    assert_int_equal(rotates, (int)ceil((x0 - loss / 2) / loss));
    assert_true(fabs(before) <= loss / 2);
    scene_end(&s);
}

/* The force at each interface of a stack is the weight above it. */
static void check_stack(int boxes, double top_mass)
{
    yk_nonsmooth_def def = scene_default();
    def.contact_options.method = YK_CONTACT_INTERIOR_POINT;
    def.contact_options.tolerance = 1e-10;
    scene s = scene_make(&def);
    add_floor(&s, rough(0.5));
    int numbers[16];
    for (int i = 0; i < boxes; i++)
        numbers[i] = add_box(&s, yk_v3(0.5, 0.5, 0.5), yk_v3(0, 0, 0.5 + i),
                             i == boxes - 1 ? top_mass : 1, rough(0.5));
    start(&s, 1e-3);
    run(&s, 1e-3, 50);
    double above = 0;
    for (int i = boxes - 1; i >= 0; i--) {
        above += SCENE_G * (i == boxes - 1 ? top_mass : 1);
        yk_vec3 f = yk_nonsmooth_contact_force(s.world, numbers[i],
                                               i == 0 ? YK_GROUND_INDEX : numbers[i - 1]);
        assert_relative(f.z, above, 1e-6);
        assert_near(f.x, 0, 1e-6 * above);
        assert_near(motion_of(&s, numbers[i]).position.z, 0.5 + i, 1e-7);
    }
    scene_end(&s);
}

static void test_stack(void **state)
{
    (void)state;
    check_stack(10, 1);
}

static void test_heavy_on_light(void **state)
{
    (void)state;
    check_stack(10, 1000);
}

/* Two cylinders on the floor and one on top rest iff mu between them >= tan 15 deg and mu on the
 * floor >= tan 15 deg / 3. */
static double three_cylinders(double mu_cylinder, double mu_floor)
{
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    add_floor(&s, rough(mu_floor));
    double r = 0.5, m = 1, l = 0.5;
    yk_mat3 inertia = yk_m3_diagonal(m * (3 * r * r + 4 * l * l) / 12,
                                     m * (3 * r * r + 4 * l * l) / 12, m * r * r / 2);
    /* Axes along y. The floor's friction is the smaller one of the pair. */
    yk_quat lying = {sqrt(0.5), sqrt(0.5), 0, 0};
    yk_vec3 places[3] = {{-r, 0, r}, {r, 0, r}, {0, 0, r + r * sqrt(3)}};
    int body[3];
    for (int i = 0; i < 3; i++)
        body[i] = add_solid(&s, YK_SOLID_CYLINDER, yk_v3(r, r, l), places[i], lying, m, inertia,
                            rough(mu_cylinder));
    start(&s, 1e-3);
    run(&s, 1e-3, 200);
    double fall = places[2].z - motion_of(&s, body[2]).position.z;
    scene_end(&s);
    return fall;
}

static void test_three_cylinders(void **state)
{
    (void)state;
    double limit = tan(15 * YK_PI / 180);
    assert_near(three_cylinders(1.05 * limit, 1.05 * limit / 3), 0, 1e-5);
    assert_true(three_cylinders(0.9 * limit, limit) > 1e-3);
    assert_true(three_cylinders(1.05 * limit, 0.9 * limit / 3) > 1e-3);
}

static int add_link(scene *s, double x, double inertia)
{
    yk_nonsmooth_body_def def = yk_nonsmooth_body_default();
    def.mass = 1e-3;
    def.inertia = yk_m3_diagonal(inertia, inertia, inertia);
    def.position = yk_v3(x, 0, 0);
    return yk_world_add_body(s->world, &def);
}

/* A joint and a damper between two bodies, along or about z. */
static void add_damped_joint(scene *s, yk_joint_kind kind, int a, int b, double stiffness,
                             double damping)
{
    yk_joint_def joint = yk_joint_default();
    joint.kind = kind;
    joint.bodies[0] = (yk_body_id){a};
    joint.bodies[1] = (yk_body_id){b};
    assert_true(yk_world_add_joint(s->world, &joint) >= 0);

    yk_force_def force = yk_force_default();
    bool slides = kind == YK_JOINT_PRISMATIC;
    force.kind = slides ? YK_FORCE_BUSHING : YK_FORCE_TORSION_SPRING;
    force.bodies[0] = (yk_body_id){b};
    force.bodies[1] = (yk_body_id){a};
    force.stiffness = stiffness;
    force.damping = damping;
    force.bushing_stiffness[2][2] = stiffness;
    force.bushing_damping[2][2] = damping;
    assert_true(yk_world_add_force(s->world, &force) >= 0);
}

/* v1 = (v0 - h k x0 / m) / (1 + c h / m), x1 = x0 + h v1: for dampers that are weak and that are far
 * too strong for an explicit method, on a hinge and on a slide. */
static void check_damper(yk_joint_kind kind, double stiffness, double damping)
{
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&def);
    bool slides = kind == YK_JOINT_PRISMATIC;
    double h = 1e-3, inertia = 1e-6, mass = slides ? 1e-3 : inertia;
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.mass = 1e-3;
    body.inertia = yk_m3_diagonal(inertia, inertia, inertia);
    if (slides)
        body.velocity = yk_v3(0, 0, 1);
    else
        body.angular_velocity = yk_v3(0, 0, 1);
    int link = yk_world_add_body(s.world, &body);
    add_damped_joint(&s, kind, YK_GROUND_INDEX, link, stiffness, damping);
    start(&s, h);

    yk_energy energy;
    yk_nonsmooth_energy(s.world, &energy);
    double v = 1, x = 0, lost = 0, tolerance = 1e-11;
    for (int i = 0; i < 50; i++) {
        double before = v;
        v = (v - h * stiffness * x / mass) / (1 + damping * h / mass);
        lost += h * damping * v * (v + before) / 2;
        x += h * v;
        run(&s, h, 1);
        yk_motion motion = motion_of(&s, link);
        double speed = slides ? motion.velocity.z : motion.angular_velocity.z;
        assert_near(speed, v, tolerance);
        if (stiffness == 0)
            assert_true(speed >= -tolerance && speed <= before + tolerance);
        yk_nonsmooth_energy(s.world, &energy);
        assert_near(energy.dissipated, lost, 1e-9 * mass);
    }
    scene_end(&s);
}

static void test_dampers_are_implicit(void **state)
{
    (void)state;
    static const double damping[] = {1e-6, 1e-3, 1e-2, 10, 1e4};
    for (int i = 0; i < 5; i++) {
        check_damper(YK_JOINT_REVOLUTE, 0, damping[i]);
        check_damper(YK_JOINT_PRISMATIC, 0, damping[i]);
        check_damper(YK_JOINT_REVOLUTE, 0.1, damping[i]);
        check_damper(YK_JOINT_PRISMATIC, 10, damping[i]);
    }
}

/* Two links that turn freely with a damper between them, without and with a joint: the sum of their
 * angular momenta stays, their difference decays with c h (1/J1 + 1/J2). */
static void test_damper_between_links(void **state)
{
    (void)state;
    for (int jointed = 0; jointed < 2; jointed++) {
        yk_nonsmooth_def def = scene_default();
        def.gravity = yk_v3(0, 0, 0);
        scene s = scene_make(&def);
        double h = 1e-3, c = 0.01, j[2] = {1e-6, 4e-6};
        int a = add_link(&s, 0, j[0]);
        yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
        body.mass = 1e-3;
        body.inertia = yk_m3_diagonal(j[1], j[1], j[1]);
        body.angular_velocity = yk_v3(0, 0, 2);
        int b = yk_world_add_body(s.world, &body);
        if (jointed) {
            add_damped_joint(&s, YK_JOINT_REVOLUTE, a, b, 0, c);
        } else {
            yk_force_def force = yk_force_default();
            force.kind = YK_FORCE_TORSION_SPRING;
            force.bodies[0] = (yk_body_id){a};
            force.bodies[1] = (yk_body_id){b};
            force.damping = c;
            assert_true(yk_world_add_force(s.world, &force) >= 0);
        }
        start(&s, h);
        double apart = 2;
        for (int i = 0; i < 20; i++) {
            apart /= 1 + c * h * (1 / j[0] + 1 / j[1]);
            run(&s, h, 1);
            double wa = motion_of(&s, a).angular_velocity.z;
            double wb = motion_of(&s, b).angular_velocity.z;
            assert_near(wb - wa, apart, 1e-11);
            assert_near(j[0] * wa + j[1] * wb, 2 * j[1], 1e-9 * j[1]);
        }
        scene_end(&s);
    }
}

/* Dampers have no impulse within an impact: in the step in which a ball rebounds, and before and
 * after it, a damped link slows down by the same factor. */
static void test_damper_under_impact_laws(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    def.impact_law = YK_IMPACT_POISSON;
    scene s = scene_make(&def);
    double h = 1e-3, c = 1e-3, inertia = 1e-6;
    yk_material bouncy = {.restitution = 1};
    add_floor(&s, bouncy);
    int ball = add_ball(&s, 0.1, yk_v3(1, 0, 0.1005), bouncy);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.mass = 1e-3;
    body.inertia = yk_m3_diagonal(inertia, inertia, inertia);
    body.angular_velocity = yk_v3(0, 0, 1);
    int link = yk_world_add_body(s.world, &body);
    add_damped_joint(&s, YK_JOINT_REVOLUTE, YK_GROUND_INDEX, link, 0, c);
    start(&s, h);
    set_velocity(&s, ball, yk_v3(0, 0, -1), yk_v3(0, 0, 0));
    run(&s, h, 3);
    assert_near(motion_of(&s, ball).velocity.z, 1, 1e-9);
    assert_near(motion_of(&s, link).angular_velocity.z, pow(1 + c * h / inertia, -3), 1e-11);
    scene_end(&s);
}

/* A body that is held gets the torque of a damper: its reaction is -c w. Asleep, the link has no
 * rows. */
static void test_damper_on_a_held_body(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    def.sleeping.speed_threshold = 1e-4;
    def.sleeping.angular_speed_threshold = 1e-4;
    def.sleeping.delay = 5e-3;
    scene s = scene_make(&def);
    double h = 1e-3, c = 1e-3, inertia = 1e-6;
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.mass = 1e-3;
    body.inertia = yk_m3_diagonal(inertia, inertia, inertia);
    body.fixed = true;
    int held = yk_world_add_body(s.world, &body);
    body.fixed = false;
    body.angular_velocity = yk_v3(0, 0, 1);
    int link = yk_world_add_body(s.world, &body);
    add_damped_joint(&s, YK_JOINT_REVOLUTE, held, link, 0, c);
    start(&s, h);
    for (int i = 1; i <= 40; i++) {
        run(&s, h, 1);
        double w = motion_of(&s, link).angular_velocity.z;
        double expected = pow(1 + c * h / inertia, -i);
        assert_near(w, expected, expected > 1e-4 ? 1e-11 : 1e-4);
        if (w != 0)
            assert_near(yk_nonsmooth_reaction(s.world, held).torque.z, -c * w, 1e-11 * c);
    }
    assert_near(motion_of(&s, link).angular_velocity.z, 0, 0);
    assert_near(yk_nonsmooth_reaction(s.world, held).torque.z, 0, 0);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere_rolls_down),
        cmocka_unit_test(test_sphere_slips_down),
        cmocka_unit_test(test_block_sticks_and_slides),
        cmocka_unit_test(test_block_stops),
        cmocka_unit_test(test_pyramid_bends_the_path),
        cmocka_unit_test(test_box_tips),
        cmocka_unit_test(test_thrown_sphere_rolls),
        cmocka_unit_test(test_oblique_impact),
        cmocka_unit_test(test_bouncing_ball_comes_to_rest),
        cmocka_unit_test(test_three_balls_in_line),
        cmocka_unit_test(test_painleve_rod),
        cmocka_unit_test(test_spring_on_rough_floor),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_heavy_on_light),
        cmocka_unit_test(test_three_cylinders),
        cmocka_unit_test(test_dampers_are_implicit),
        cmocka_unit_test(test_damper_between_links),
        cmocka_unit_test(test_damper_under_impact_laws),
        cmocka_unit_test(test_damper_on_a_held_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
