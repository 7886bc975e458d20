/* Robots in URDF and MJCF as scenarios: poses, inertia and joints against known numbers, and clear
 * refusals. */
#include "interop/importing.h"
#include "math/vec3.h"

static yk_context *context;

/* The scenario of a model, with channels to record; to be freed. NULL where it is refused. */
static char *import_with(const char *model, const yk_import_options *options, const char *channels)
{
    char path[] = "/tmp/yoke-import-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, model, strlen(model)), (long)strlen(model));
    close(file);

    char *text = import_file(context, path, options, channels);
    unlink(path);
    return text;
}

static char *import_for(int solver, const char *model, const char *channels)
{
    yk_import_options options = yk_import_options_default();
    options.solver = solver;
    char *text = import_with(model, &options, channels);
    if (!text)
        fail_msg("%s", yk_last_message(context));
    return text;
}

static void assert_vector(const double *actual, double x, double y, double z, double tolerance)
{
    assert_near(actual[0], x, tolerance);
    assert_near(actual[1], y, tolerance);
    assert_near(actual[2], z, tolerance);
}

/* A rod with round ends and a ball at its end, by geoms and a default class: the torque of gravity
 * over the moment of inertia, both by hand. */
static void test_geoms_have_mass(void **state)
{
    (void)state;
    static const char model[] =
        "<mujoco><option gravity='0 0 -10'/>\n"
        "<default><geom density='500'/><default class='rod'><geom type='capsule' size='0.05'/>"
        "</default></default>\n"
        "<worldbody><body name='arm' pos='0 0 2'><joint name='pin' axis='0 1 0'/>"
        "<geom class='rod' fromto='0 0 0 0.6 0 0'/>"
        "<geom type='sphere' size='0.1' pos='0.6 0 0' mass='3'/></body></worldbody></mujoco>";
    char *text = import_for(YK_IMPORT_MULTIBODY, model, "robot.arm.angular_acceleration");
    run r = open_text("pendulum.yaml", text, NULL);

    double radius = 0.05, length = 0.6, ball = 3;
    double middle = 500 * YK_PI * radius * radius * length;
    double ends = 500 * 4 * YK_PI / 3 * radius * radius * radius;
    double rod = middle + ends;
    double about_end = middle * (length * length / 3 + radius * radius / 4) +
                       ends * (0.4 * radius * radius + 0.375 * length * radius) +
                       ends * length * length / 2;
    double inertia = about_end + ball * (0.4 * 0.01 + length * length);
    double torque = 10 * (rod * length / 2 + ball * length);
    assert_vector(r.sample, 0, torque / inertia, 0, 1e-8 * torque / inertia);
    close_run(&r);
    free(text);
}

/* Frames by roll, pitch and yaw about fixed axes, one on the other; what is fixed becomes part of
 * what carries it, with its mass, and a port. */
static void test_frames_follow_each_other(void **state)
{
    (void)state;
    static const char model[] =
        "<robot name='frames'><link name='base'/>\n"
        "<link name='arm'><inertial><mass value='2'/><origin xyz='0.5 0 0' rpy='0 0 "
        "1.5707963267948966'/>"
        "<inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
        "<link name='tool 1'><inertial><mass value='1'/><inertia ixx='0' iyy='0' izz='0' ixy='0' "
        "ixz='0' "
        "iyz='0'/></inertial></link>\n"
        "<joint name='turn' type='continuous'><parent link='base'/><child link='arm'/>"
        "<origin xyz='0 0 1' rpy='1.5707963267948966 0 1.5707963267948966'/><axis xyz='0 0 "
        "2'/></joint>\n"
        "<joint name='flange' type='fixed'><parent link='arm'/><child link='tool 1'/>"
        "<origin xyz='2 0 0.1' rpy='0 1.5707963267948966 0'/></joint></robot>";
    static const char channels[] =
        "robot.tool_1.position, robot.arm.position, robot.arm.angular_acceleration";
    for (int k = YK_IMPORT_MULTIBODY; k <= YK_IMPORT_NONSMOOTH; k++) {
        const char *recorded = channels;
        if (k == YK_IMPORT_NONSMOOTH)
            recorded = "robot.tool_1.position, robot.arm.position";
        char *text = import_for(k, model, recorded);
        run r = open_text("frames.yaml", text, NULL);

        /* Roll lifts y to z, then yaw turns x to y: the arm's x, y, z are y, z, x. */
        assert_vector(r.sample, 0.1, 2, 1, 1e-14);
        if (k == YK_IMPORT_NONSMOOTH) {
            assert_vector(r.sample + 3, 0.1 / 3, 1, 1, 1e-14); /* the common centre of mass */
        } else {
            assert_vector(r.sample + 3, 0, 0, 1, 1e-14);
            /* About the axis, which is x: z of the link, where the inertia stays 2.5. */
            double inertia = 2.5 + 2 * 0.25 + 1 * 4;
            double torque = -9.81 * (2 * 0.5 + 1 * 2);
            assert_vector(r.sample + 6, torque / inertia, 0, 0, 1e-8 * fabs(torque / inertia));
        }
        close_run(&r);
        free(text);
    }
}

static const char planar[] =
    "<mujoco><compiler angle='degree'/><option timestep='0.001'/>\n"
    "<worldbody><body name='torso' pos='0 0 3' euler='0 90 0'>"
    "<joint name='x' type='slide' axis='0 0 1'/><joint name='z' type='slide' axis='-1 0 0'/>"
    "<joint name='pitch' axis='0 1 0'/><geom type='box' size='0.1 0.2 0.3'/>"
    "<site name='nose' pos='0 0 0.3'/>"
    "<body name='leg' pos='-0.3 0 0'><joint name='hip' axis='1 0 0' pos='0 0 0'/>"
    "<joint name='knee' axis='1 1 0' pos='0 0 0'/>"
    "<geom type='cylinder' size='0.05' fromto='0 0 0 -0.5 0 0'/></body>"
    "</body></worldbody></mujoco>";

/* Two slides and a hinge: links without mass between them, or one planar joint. Free of the
 * ground, all falls as one. */
static void test_several_joints_of_a_body(void **state)
{
    (void)state;
    char *text =
        import_for(YK_IMPORT_MULTIBODY, planar, "robot.torso.position, robot.nose.position");
    assert_contains(text, "torso_1: {position: [0, 0, 3]");
    run r = open_text("planar.yaml", text, NULL);
    assert_vector(r.sample + 3, 0.3, 0, 3, 1e-14);
    run_to(&r, 0.1);
    assert_vector(r.sample, 0, 0, 3 - 0.5 * 9.81 * 0.01, 1e-9);
    close_run(&r);
    free(text);

    text = import_for(YK_IMPORT_NONSMOOTH, planar, "robot.torso.position");
    assert_contains(text, "type: planar, between: [ground, torso]");
    assert_contains(text, "between the 2 joints of link 'leg'");
    assert_contains(text, "- {between: [torso, leg]}"); /* they overlap at the hip */
    r = open_text("planar.yaml", text, NULL);
    run_to(&r, 0.1);
    assert_vector(r.sample, 0, 0, 3 - 0.5 * 9.81 * 0.1 * (0.1 + 0.001), 1e-9);
    close_run(&r);
    free(text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' is in\n%s", part, text);
}

/* A base on the ground, an arm of three links, a sleeve fixed to the first. Neighbours overlap at
 * their joints, also the base with the first link and the sleeve with the second. The third link
 * reaches back to the first. */
static const char arm[] =
    "<robot name='arm'>"
    "<link name='base'><collision><geometry><box size='0.4 0.4 0.4'/>"
    "</geometry></collision></link>\n"
    "<link name='one'><inertial><mass value='1'/>"
    "<inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0.2 0 0'/><geometry><box size='0.4 0.1 0.1'/>"
    "</geometry></collision></link>\n"
    "<link name='sleeve'><inertial><mass value='1'/>"
    "<inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0 0 0'/><geometry><box size='0.2 0.2 0.2'/>"
    "</geometry></collision></link>\n"
    "<link name='wire'/>\n"
    "<link name='two'><inertial><mass value='1'/>"
    "<inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0.2 0 0'/><geometry><box size='0.5 0.1 0.1'/>"
    "</geometry></collision></link>\n"
    "<link name='three'><inertial><mass value='1'/>"
    "<inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0.2 0 0'/><geometry><box size='0.6 0.1 0.1'/>"
    "</geometry></collision></link>\n"
    "<joint name='j1' type='continuous'><parent link='base'/><child link='one'/>"
    "<axis xyz='0 0 1'/></joint>\n"
    "<joint name='f' type='fixed'><parent link='one'/><child link='sleeve'/>"
    "<origin xyz='0.4 0 0'/></joint>\n"
    "<joint name='j2' type='continuous'><parent link='sleeve'/><child link='wire'/>"
    "<axis xyz='0 0 1'/></joint>\n"
    "<joint name='j3' type='continuous'><parent link='wire'/><child link='two'/>"
    "<axis xyz='0 1 0'/></joint>\n"
    "<joint name='j4' type='continuous'><parent link='two'/><child link='three'/>"
    "<origin xyz='0.4 0 0' rpy='0 0 3.14159265358979'/><axis xyz='0 0 1'/></joint>\n"
    "</robot>";

/* Links of a URDF that joints connect do not touch, also through merged links, through links without
 * shape, and with the base on the ground. Others that overlap in the file are named. */
static void test_neighbours_do_not_touch(void **state)
{
    (void)state;
    yk_import_options options = yk_import_options_default();
    options.solver = YK_IMPORT_NONSMOOTH;
    char *text = import_with(arm, &options, "robot.three.velocity");
    assert_non_null(text);
    assert_contains(text, "group: base}");
    assert_contains(text, "no_collision_with: [base]");
    assert_contains(text, "- {between: [one, two]}");
    assert_contains(text, "- {between: [two, three]}");
    assert_contains(text, "line 6: links 'one' and 'three' overlap in the configuration of the "
                          "file: they do not touch each other");
    assert_contains(text, "- {between: [one, three]}");

    /* It falls as it does without contact: the other solver has none. */
    run r = open_text("robot.yaml", text, NULL);
    run_to(&r, 0.1);
    double with_contact[3];
    memcpy(with_contact, r.sample, sizeof with_contact);
    close_run(&r);
    free(text);

    text = import_for(YK_IMPORT_MULTIBODY, arm, "robot.three.velocity");
    r = open_text("robot.yaml", text, NULL);
    run_to(&r, 0.1);
    assert_true(r.sample[2] < -0.1);
    assert_vector(with_contact, r.sample[0], r.sample[1], r.sample[2], 0.02);
    close_run(&r);
    free(text);
}

/* The semantic description next to a URDF disables pairs. */
static void test_disabled_collisions(void **state)
{
    (void)state;
    char folder[] = "/tmp/yoke-import-XXXXXX", model[60], semantic[60];
    assert_non_null(mkdtemp(folder));
    snprintf(model, sizeof model, "%s/arm.urdf", folder);
    snprintf(semantic, sizeof semantic, "%s/arm.srdf", folder);
    FILE *file = fopen(model, "w");
    fputs(arm, file);
    fclose(file);
    file = fopen(semantic, "w");
    fputs("<robot name='arm'>\n<disable_collisions link1='one' link2='three' reason='Never'/>\n"
          "<disable_collisions link1='one' link2='four' reason='Never'/></robot>",
          file);
    fclose(file);

    yk_import_options options = yk_import_options_default();
    options.solver = YK_IMPORT_NONSMOOTH;
    char *text = import_file(context, model, &options, "robot.three.velocity");
    assert_non_null(text);
    assert_contains(text, "- {between: [one, three]}");
    assert_lacks(text, "overlap in the configuration");
    assert_contains(text, "line 3: <disable_collisions> of 'one' and 'four'");
    free(text);
    unlink(model);
    unlink(semantic);
    rmdir(folder);
}

/* MuJoCo's rules: a child does not touch its parent, unless the parent is static; types and affinities
 * of geoms; <exclude>. Fingers touch each other, and both the floor and another tree. */
#define FINGER(name, at, bits)                                                               \
    "<body name='" name "' pos='" at "'><joint axis='0 1 0'/><geom size='0.06' " bits "/></" \
    "body>\n"

static void test_rules_of_mujoco(void **state)
{
    (void)state;
    static const char model[] =
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/>\n"
        "<body name='stand' pos='0 0 1'><geom type='box' size='0.1 0.1 0.1'/>\n"
        "<body name='palm' pos='0 0 0.25'><joint axis='1 0 0'/><geom type='box' size='0.1 0.1 "
        "0.1'/>" FINGER("left", "0.1 0 0.1", "") FINGER("right", "-0.1 0 0.1", "") FINGER(
            "ghost", "0 0.1 0.1",
            "contype='2' conaffinity='4'") "</body></body>\n"
                                           "<body name='ball' pos='1 0 1'><freejoint/><geom "
                                           "size='0.1'/></body></worldbody>\n"
                                           "<contact><exclude body1='stand' body2='left'/><exclude "
                                           "body1='left' body2='nothing'/>"
                                           "</contact></mujoco>";
    char *text = import_for(YK_IMPORT_NONSMOOTH, model, "robot.palm.velocity");
    assert_contains(text, "- {between: [palm, left]}");
    assert_contains(text, "- {between: [palm, right]}");
    assert_lacks(text, "- {between: [left, right]}");
    assert_contains(text, "<exclude> of bodies 'left' and 'nothing'");
    assert_contains(text, "collision_group: stand_type_1_1, no_collision_with: [type_2_4]");
    assert_contains(
        text,
        "collision_group: type_1_1, no_collision_with: [stand_type_1_1, type_2_4]");   /* left */
    assert_contains(text, "collision_group: type_1_1, no_collision_with: [type_2_4]"); /* palm */
    assert_contains(
        text, "collision_group: type_2_4, no_collision_with: [type_1_1, stand_type_1_1, type_2_4]");
    run r = open_text("hand.yaml", text, NULL);
    close_run(&r);
    free(text);

    static const char unfiltered[] =
        "<mujoco><option><flag filterparent='disable'/></option><worldbody>\n"
        "<body name='palm' pos='0 0 1'><freejoint/><geom size='0.1'/>\n" FINGER(
            "left", "0.3 0 0", "") FINGER("right", "-0.1 0 0", "") "</body></worldbody></mujoco>";
    text = import_for(YK_IMPORT_NONSMOOTH, unfiltered, "robot.palm.velocity");
    assert_lacks(text, "- {between: [palm, left]}");
    assert_contains(text, "- {between: [palm, right]}");
    assert_contains(text, "links 'palm' and 'right' overlap");
    free(text);
}

/* Several joints of one body become one joint if there is a kind with the same free motions. */
static void test_kinds_of_joints_of_a_body(void **state)
{
    (void)state;
    static const char body[] = "<mujoco><worldbody><body name='b' pos='0 0 3'>%s"
                               "<geom type='sphere' size='0.1'/></body></worldbody></mujoco>";
    static const struct {
        const char *joints, *kind;
    } cases[] = {
        {"<joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 0 1'/>", "cylindrical"},
        {"<joint type='slide' axis='1 1 1'/><joint type='hinge' axis='1 1 1'/>", "cylindrical"},
        {"<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
         "<joint type='slide' axis='0 0 1'/>",
         "fixed-orientation"},
        {"<joint type='hinge' axis='1 0 0'/><joint type='hinge' axis='0 1 0'/>", "universal"},
        {"<joint type='ball'/>", "spherical"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[600], expected[80];
        snprintf(model, sizeof model, body, cases[i].joints);
        snprintf(expected, sizeof expected, "type: %s, between: [ground, b]", cases[i].kind);
        char *text = import_for(YK_IMPORT_NONSMOOTH, model, "robot.b.position");
        assert_contains(text, expected);
        free(text);
    }

    /* Along a diagonal it slides down by the third of its weight that is along it. */
    char model[600];
    snprintf(model, sizeof model, body, cases[1].joints);
    char *diagonal = import_for(YK_IMPORT_NONSMOOTH, model, "robot.b.position");
    run r = open_text("diagonal.yaml", diagonal, NULL);
    run_to(&r, 0.1);
    double way = -0.5 * 9.81 / 3 * 0.1 * (0.1 + 0.002);
    assert_vector(r.sample, way, way, 3 + way, 1e-9);
    close_run(&r);
    free(diagonal);

    /* A slide across the hinge is none. */
    snprintf(model, sizeof model, body,
             "<joint type='slide' axis='1 0 0'/><joint type='hinge' axis='0 0 1'/>");
    char *text = import_for(YK_IMPORT_NONSMOOTH, model, "robot.b.position");
    assert_null(strstr(text, "type: cylindrical"));
    assert_contains(text, "between the 2 joints of link 'b'");
    free(text);
}

/* A four-bar linkage that <connect> closes: its ends stay together while it swings. */
static void test_loops_close(void **state)
{
    (void)state;
    static const char model[] =
        "<mujoco><worldbody>"
        "<body name='crank'><joint axis='0 1 0'/><geom type='capsule' size='0.02' fromto='0 0 0 "
        "0.3 0 0'/>"
        "<body name='rod' pos='0.3 0 0'><joint axis='0 1 0'/>"
        "<geom type='capsule' size='0.02' fromto='0 0 0 0.5 0 0.4'/><site name='end' pos='0.5 0 "
        "0.4'/></body></body>"
        "<body name='rocker' pos='0.8 0 0'><joint axis='0 1 0'/>"
        "<geom type='capsule' size='0.02' fromto='0 0 0 0 0 0.4'/><site name='top' pos='0 0 "
        "0.4'/></body>"
        "</worldbody><equality><connect body1='rod' body2='rocker' anchor='0.5 0 0.4'/></equality>"
        "<actuator><motor joint='crank'/><motor site='end'/></actuator></mujoco>";
    char *text = import_for(YK_IMPORT_MULTIBODY, model, "robot.end.position, robot.top.position");
    assert_contains(text, "connect: {type: spherical, between: [rocker, rod], at: [0.8, 0, 0.4]}");
    assert_contains(text, "type: motor, joint: crank_j, load: 0");
    assert_contains(text, "actuator <motor>");
    run r = open_text("loop.yaml", text, NULL);
    double swung = r.sample[0];
    run_to(&r, 0.3);
    assert_true(fabs(r.sample[0] - swung) > 0.01);
    assert_vector(r.sample, r.sample[3], r.sample[4], r.sample[5], 1e-8);
    close_run(&r);
    free(text);
}

/* A finger with light links and strong dampers, for which an explicit method would need steps below
 * 0.1 ms: at 1 ms it falls as slowly as with fine steps, and no note asks for smaller ones. */
static void test_damped_finger_at_one_millisecond(void **state)
{
    (void)state;
    static const char model[] =
        "<mujoco><option timestep='0.001'/><default><joint damping='0.05' axis='0 1 0'/></default>"
        "<worldbody><geom type='plane' pos='0 0 -1' size='1 1 1'/>"
        "<body name='palm' pos='0 0 0.1'>"
        "<joint name='wrist' type='slide' axis='0 0 1' damping='50' stiffness='1000'/>"
        "<geom type='sphere' size='0.02' mass='0.1' contype='0' conaffinity='0'/>"
        "<body name='near' pos='0.03 0 0'><joint name='j1'/>"
        "<geom type='capsule' fromto='0 0 0 0.03 0 0' size='0.008' mass='0.01'/>"
        "<body name='middle' pos='0.03 0 0'><joint name='j2'/>"
        "<geom type='capsule' fromto='0 0 0 0.02 0 0' size='0.008' mass='0.006'/>"
        "<body name='tip' pos='0.02 0 0'><joint name='j3'/>"
        "<geom type='capsule' fromto='0 0 0 0.02 0 0' size='0.008' mass='0.004'/>"
        "</body></body></body></body></worldbody></mujoco>";
    double fall[2];
    for (int fine = 0; fine < 2; fine++) {
        yk_import_options options = yk_import_options_default();
        options.solver = YK_IMPORT_NONSMOOTH;
        options.step = fine ? 5e-5 : 1e-3;
        char *text = import_with(model, &options, "robot.tip.position");
        assert_non_null(text);
        assert_lacks(text, "needs steps");
        run r = open_text("finger.yaml", text, NULL);
        double begin = r.sample[2];
        run_to(&r, 0.2);
        fall[fine] = begin - r.sample[2];
        close_run(&r);
        free(text);
    }
    assert_true(fall[1] > 1e-3);
    assert_relative(fall[0], fall[1], 1e-2);
}

/* Elements that a scenario cannot have are named with their line; all others are converted. */
static void test_notes_and_names(void **state)
{
    (void)state;
    static const char model[] =
        "<robot name='a \"b\"'><link name='ground'/>\n"
        "<link name='1st/link'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial><visual><geometry><mesh "
        "filename='package://p/a.dae'/></geometry>"
        "</visual></link>\n"
        "<link name='1st?link'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial></link><link name='flag'/>\n"
        "<joint name='ground' type='prismatic'><parent link='ground'/><child link='1st/link'/>"
        "<limit lower='0' upper='2'/><dynamics damping='3'/></joint>\n"
        "<joint name='second' type='floating'><parent link='ground'/><child "
        "link='1st?link'/></joint>\n"
        "<joint name='third' type='revolute'><parent link='1st/link'/><child link='flag'/>"
        "<limit lower='-1' upper='1'/></joint>\n"
        "</robot>";
    char *text = import_for(YK_IMPORT_AUTO, model, "robot.n1st_link.position");
    assert_contains(text, "solver: nonsmooth"); /* a link floats */
    assert_contains(text, "#   line 2: mesh 'package://p/a.dae': only STL and OBJ are read");
    assert_contains(text, "#   line 4: limits of joint 'ground' (0 to 2)");
    assert_contains(text, "#   line 3: link 'flag' has no mass");
    assert_contains(text, "n1st_link_1:\n");
    assert_contains(text, "n1st_link:\n");
    assert_contains(text, "ground__j: {type: prismatic, between: [ground, n1st_link_1]");
    assert_contains(text, "damping: [0, 0, 3, 0, 0, 0]");
    run r = open_text("names.yaml", text, NULL);
    close_run(&r);
    free(text);
}

/* Moments of inertia that no body has become those of one, with a note. */
static void test_inertia_is_mended(void **state)
{
    (void)state;
    static const char model[] =
        "<robot><link name='base'/><link name='arm'><inertial><mass value='2'/><inertia ixx='1' "
        "iyy='5' izz='2' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='j' type='continuous'><parent link='base'/><child "
        "link='arm'/></joint></robot>";
    char *text = import_for(YK_IMPORT_MULTIBODY, model, "robot.arm.position");
    assert_contains(text,
                    "no body has the principal moments 1, 2, 5 kg m^2; taken as 1.667, 3.333, 5");
    run r = open_text("mended.yaml", text, NULL);
    close_run(&r);
    free(text);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *model, *message;
    } cases[] = {
        {"<robot><link name='a'></robot>", ":1: not read as XML"},
        {"<!DOCTYPE x [<!ENTITY e 'x'>]><robot/>", "document type"},
        {"<sdf/>", "the root element <sdf> is unknown. Expected one of"},
        {"<robot/>", "no root link"},
        {"<robot><link name='a'/>\n<link name='b'/></robot>",
         ":2: links 'a' and 'b' hang on nothing"},
        {"<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='b'/>"
         "</joint></robot>",
         "joint 'j' has the child 'b', which is no link"},
        {"<robot><link name='a'/>\n<link name='b'/><joint name='j' type='screw'><parent link='a'/>"
         "<child link='b'/></joint></robot>",
         ":2: joint 'j' is of type 'screw'"},
        {"<robot><link name='a'><inertial><mass value='heavy'/></inertial></link></robot>",
         "value of <mass>: 'heavy' is not a number"},
        {"<robot><link name='a'><inertial><mass value='-1'/></inertial></link></robot>",
         "negative"},
        {"<robot><link name='a'><visual><geometry><box size='1 "
         "2'/></geometry></visual></link></robot>",
         "size of <box> has 2 numbers, expected 3"},
        {"<mujoco><worldbody><body><joint type='screw'/></body></worldbody></mujoco>",
         "joint of type 'screw'"},
        {"<mujoco><worldbody><body><joint axis='0 0 0'/></body></worldbody></mujoco>", "axis"},
        {"<mujoco><worldbody><body><geom type='box' size='1'/></body></worldbody></mujoco>",
         "the geom (box) has no size"},
        {"<mujoco><worldbody><body><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
         "there is no mesh 'm'"},
        {"<mujoco><include file='/nowhere.xml'/></mujoco>", "nowhere.xml"},
        {"<robot><link name='a'><inertial><mass value='1'/></inertial></link></robot>",
         "nothing in the model moves"},
        {"<mujoco><compiler coordinate='global'/></mujoco>", "global coordinates"},
        {"<robot><link name='a'/><link name='b'/><link name='c'/>"
         "<joint name='j' type='fixed'><parent link='b'/><child link='c'/></joint>"
         "<joint name='k' type='fixed'><parent link='c'/><child link='b'/></joint>"
         "<joint name='l' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
         "ring"},
    };
    yk_import_options options = yk_import_options_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = import_with(cases[i].model, &options, "");
        assert_null(text);
        assert_contains(yk_last_message(context), cases[i].message);
    }
}

/* Names with line breaks and control characters (C1, U+2028) do not end the comment or the title that
 * contains them. Latin-1 is converted if the document declares it. */
static void test_encoding(void **state)
{
    (void)state;
    static const char *const models[] = {
        "<?xml version='1.0' encoding='ISO-8859-1'?><mujoco model='Gr\xF6\xDF"
        "e &#x81;&#x2028;b'><worldbody><body name='arm'>"
        "<joint name='a&#10;b: [' axis='0 1 0' limited='true' range='0 1'/>"
        "<geom size='.1'/></body></worldbody></mujoco>",
        "<mujoco model='Gr\xC3\xB6\xC3\x9F"
        "e &#x7F;&#x9F;'><worldbody><body name='arm'>"
        "<joint axis='0 1 0'/><geom size='.1'/></body></worldbody></mujoco>"};
    for (int i = 0; i < 2; i++) {
        char *text = import_for(YK_IMPORT_MULTIBODY, models[i], "robot.arm.position");
        assert_contains(text, "title: \"Gr\xC3\xB6\xC3\x9F"
                              "e");
        run r = open_text("encoding.yaml", text, NULL);
        close_run(&r);
        free(text);
    }

    yk_import_options options = yk_import_options_default();
    assert_null(import_with("<robot>\n<link name='L\xE4nge'/></robot>", &options, ""));
    assert_contains(yk_last_message(context), ":2: not read as XML");
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_geoms_have_mass),
        cmocka_unit_test(test_frames_follow_each_other),
        cmocka_unit_test(test_several_joints_of_a_body),
        cmocka_unit_test(test_neighbours_do_not_touch),
        cmocka_unit_test(test_disabled_collisions),
        cmocka_unit_test(test_rules_of_mujoco),
        cmocka_unit_test(test_kinds_of_joints_of_a_body),
        cmocka_unit_test(test_loops_close),
        cmocka_unit_test(test_damped_finger_at_one_millisecond),
        cmocka_unit_test(test_notes_and_names),
        cmocka_unit_test(test_inertia_is_mended),
        cmocka_unit_test(test_encoding),
        cmocka_unit_test(test_refusals),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
