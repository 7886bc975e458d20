/* Flexible bodies in multibody systems: statics and modes of a cantilever, motion with constraints
 * and loads, agreement of the descriptions; and what the scenario says about them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "math/so3.h"
#include "models.h"
#include "multibody/modes.h"
#include "test.h"
#include "yoke/scenario.h"

static const double ends[2] = {0, 1};

static yk_beam_section_def steel(void)
{
    yk_beam_section_def section = yk_beam_section_default();
    section.young_modulus = 207e9, section.poisson_ratio = 0.29, section.density = 7870;
    yk_beam_section_set_rectangle(&section, 0.008, 0.012);
    return section;
}

typedef enum description { CLAMPED, CONSTANT, PINNED, ABSOLUTE, DESCRIPTIONS } description;

static yk_flexible *make_body(yk_context *context, description kind)
{
    yk_ffrf_rod_def rod = yk_ffrf_rod_default();
    rod.section = steel();
    rod.support = kind == PINNED ? YK_ROD_PINNED_PINNED : YK_ROD_CLAMPED_FREE;
    rod.bending_y = rod.bending_z = 3;
    rod.statics = true;
    rod.constant_mass = kind == CONSTANT;
    rod.attachments = ends, rod.attachment_count = 2;
    yk_flexible *body = NULL;
    yk_status status = kind == ABSOLUTE ? yk_flexible_ancf(context, 1, 4, &rod.section, &body)
                                        : yk_flexible_rod(context, &rod, &body);
    assert_int_equal(status, YK_OK);
    return body;
}

/* A rod of 1 m along x, tied to the ground at its origin. */
typedef struct setting {
    yk_context *context;
    yk_multibody_description def;
    yk_multibody_node_def node;
    yk_multibody_flexible_def flexible;
    yk_multibody_attachment_def attachments[2];
    yk_joint_def joint;
    yk_force_def force;
    yk_multibody *model;
    int tip;
} setting;

static void set_up(setting *s, yk_context *context, description kind, yk_joint_kind joint)
{
    bool modal = kind != ABSOLUTE;
    *s = (setting){.context = context, .def = yk_multibody_description_empty()};
    s->node = yk_multibody_node_default();
    s->node.name = "frame";
    s->flexible = yk_multibody_flexible_default();
    s->flexible.name = "rod", s->flexible.body = make_body(context, kind), s->flexible.node = 0;
    s->attachments[0] = (yk_multibody_attachment_def){"rod.root", 0, 0};
    s->attachments[1] = (yk_multibody_attachment_def){"rod.tip", 0, modal ? 1 : 4};
    int nodes = modal ? 1 : 0;
    s->joint = yk_joint_default();
    s->joint.name = "root", s->joint.kind = joint, s->joint.bodies[1] = (yk_body_id){nodes};
    s->force = yk_force_default();
    s->force.name = "load", s->force.kind = YK_FORCE_FORCE,
    s->force.bodies[1] = (yk_body_id){s->tip = nodes + 1};
    s->def.nodes = &s->node, s->def.node_count = nodes;
    s->def.flexibles = &s->flexible, s->def.flexible_count = 1;
    s->def.attachments = s->attachments, s->def.attachment_count = 2;
    s->def.joints = &s->joint, s->def.joint_count = 1;
    s->def.forces = &s->force, s->def.force_count = 1;
}

static void start(setting *s, double h)
{
    yk_status status = yk_multibody_make(s->context, &s->def, &s->model);
    if (!YK_FAILED(status))
        status = yk_multibody_start(s->model, 0, h);
    if (YK_FAILED(status))
        print_error("%s\n", yk_last_message(s->context));
    assert_true(!YK_FAILED(status));
}

static void run(setting *s, double h, int steps)
{
    for (int i = 0; i < steps; i++) {
        yk_status status = yk_multibody_step(s->model, i * h, h);
        if (YK_FAILED(status))
            print_error("%s\n", yk_last_message(s->context));
        assert_true(!YK_FAILED(status));
    }
}

static void clean(setting *s)
{
    yk_multibody_destroy(s->model);
    yk_flexible_release((yk_flexible *)(uintptr_t)s->flexible.body);
}

static yk_motion tip_motion(const setting *s)
{
    yk_motion motion;
    yk_multibody_motion(s->model, s->tip, &motion);
    return motion;
}

static double total_energy(const yk_multibody *model)
{
    yk_energy energy;
    yk_multibody_energy(model, &energy);
    return energy.kinetic + energy.potential + energy.dissipated - energy.work;
}

/* Exact for the shapes that hold the deflections under loads; the rod in absolute coordinates
 * also shears. */
static void cantilever_rests_where_beam_theory_says(void **state)
{
    for (int kind = 0; kind < DESCRIPTIONS; kind++) {
        setting s;
        set_up(&s, *state, (description)kind, YK_JOINT_FIXED);
        s.force.vector = yk_v3(0, 1, 2);
        s.def.options.start_in_equilibrium = true;
        start(&s, 1e-3);
        yk_beam_section_def section = steel();
        yk_motion tip = tip_motion(&s);
        assert_relative(tip.position.y, 1 / (3 * section.young_modulus * section.area_moment_z),
                        1e-3);
        assert_relative(tip.position.z, 2 / (3 * section.young_modulus * section.area_moment_y),
                        1e-3);
        yk_vec3 rotation = yk_so3_log(tip.orientation);
        assert_relative(rotation.z, 1 / (2 * section.young_modulus * section.area_moment_z), 1e-3);
        yk_wrench reaction;
        yk_multibody_reaction(s.model, 0, &reaction);
        assert_near(reaction.force.z, -2, 1e-6);
        assert_near(reaction.torque.z, -1, 1e-4);
        clean(&s);
    }
}

static void modes_of_the_cantilever(void **state)
{
    for (int kind = 0; kind < DESCRIPTIONS; kind++) {
        setting s;
        set_up(&s, *state, (description)kind, YK_JOINT_FIXED);
        start(&s, 1e-3);
        yk_beam_section_def section = steel();
        double wave =
            sqrt(section.young_modulus * section.area_moment_z / (section.density * section.area)) /
            (2 * YK_PI);
        static const double root[2] = {1.8751040687119611, 4.6940911329741745};
        yk_modes_options options = yk_modes_default();
        options.count = 4;
        yk_modes *modes;
        assert_int_equal(yk_modes_find(s.model, &options, &modes), YK_OK);
        assert_relative(modes->mode[0].frequency, root[0] * root[0] * wave, 1e-3);
        assert_relative(modes->mode[1].frequency, 1.5 * root[0] * root[0] * wave, 1e-3);
        assert_relative(modes->mode[2].frequency, root[1] * root[1] * wave, 2e-3);
        assert_relative(modes->mode[0].mass[1], 0.6131, 1e-2);
        assert_true(fabs(yk_modes_shape(modes, 0, s.tip, false)[1]) > 0);
        yk_modes_destroy(modes);
        clean(&s);
    }
}

/* A heavy rod swings on a ball joint: no energy is lost, except for the damping of the method in
 * vibrations. */
static void pendulums_agree_and_keep_their_energy(void **state)
{
    yk_vec3 end[DESCRIPTIONS];
    for (int kind = 0; kind < DESCRIPTIONS; kind++) {
        setting s;
        set_up(&s, *state, (description)kind, YK_JOINT_SPHERICAL);
        s.def.gravity = yk_v3(0, 0, -9.81);
        s.force.vector = yk_v3(0, 0, 0);
        start(&s, 1e-3);
        run(&s, 1e-3, 500);
        assert_near(total_energy(s.model), 0, 1e-4);
        end[kind] = tip_motion(&s).position;
        assert_true(end[kind].z < -0.9);
        clean(&s);
        assert_near(yk_v3_norm(yk_v3_sub(end[kind], end[0])), 0, 3e-5);
    }
}

/* Nothing but coordinates of the rod moves: they alone must choose the steps. */
static void error_control_sees_what_deforms(void **state)
{
    /* Modal: one oscillator under a step of force. */
    setting s;
    yk_ffrf_rod_def one = yk_ffrf_rod_default();
    one.section = steel();
    one.bending_y = 1, one.bending_z = one.extension = one.torsion = 0;
    one.attachments = ends, one.attachment_count = 2;
    set_up(&s, *state, CLAMPED, YK_JOINT_FIXED);
    yk_flexible_release((yk_flexible *)(uintptr_t)s.flexible.body);
    yk_flexible *body;
    assert_int_equal(yk_flexible_rod(*state, &one, &body), YK_OK);
    s.flexible.body = body;
    s.force.vector = yk_v3(0, 1, 0);
    s.def.options.error_tolerance = 1e-9;
    start(&s, 0.05);
    run(&s, 0.05, 4);
    double k = body->modal.stiffness[0], omega = sqrt(k / body->modal.modal_mass[0]);
    double push = body->nodes[1].displacement[0].y,
           expected = push * push / k * (1 - cos(0.2 * omega));
    assert_near(tip_motion(&s).position.y, expected, 5e-4 * push * push / k);
    yk_multibody_report report;
    yk_multibody_report_get(s.model, &report);
    assert_true(report.steps > 200 && report.steps < 4000);
    clean(&s);

    /* Absolute coordinates: no node at all. */
    double tip[2];
    for (int fixed = 0; fixed < 2; fixed++) {
        set_up(&s, *state, ABSOLUTE, YK_JOINT_FIXED);
        s.force.vector = yk_v3(0, 1, 0);
        s.def.options.error_tolerance = fixed ? 0 : 1e-8;
        double h = fixed ? 1e-4 : 0.05;
        start(&s, h);
        run(&s, h, fixed ? 1000 : 2);
        tip[fixed] = tip_motion(&s).position.y;
        yk_multibody_report_get(s.model, &report);
        if (!fixed)
            assert_true(report.steps > 50);
        clean(&s);
    }
    assert_near(tip[0], tip[1], 1e-3 * fabs(tip[1]));
}

/* Warnings of a run. */
typedef struct listener {
    int count;
    char text[512];
} listener;

static void listen(void *user, yk_log_level level, const char *message)
{
    listener *heard = user;
    if (level < YK_LOG_WARNING)
        return;
    heard->count++;
    snprintf(heard->text, sizeof heard->text, "%s", message);
}

/* By the load at the tip: small, more than shapes in small deformation should tell, more than
 * they can. */
static void shapes_say_where_they_end(void **state)
{
    (void)state;
    yk_beam_section_def section = steel();
    double unit =
        3 * section.young_modulus * section.area_moment_z; /* bends the rod by its length */
    static const double fractions[] = {0.05, 0.5, 5};
    for (int i = 0; i < 3; i++) {
        listener heard = {0};
        yk_context_def def = yk_context_default();
        def.log = listen, def.log_user = &heard;
        yk_context *context = yk_context_create(&def);
        setting s;
        set_up(&s, context, CLAMPED, YK_JOINT_FIXED);
        s.force.vector = yk_v3(0, fractions[i] * unit, 0);
        s.def.options.start_in_equilibrium = true;
        assert_int_equal(yk_multibody_make(context, &s.def, &s.model), YK_OK);
        yk_status status = yk_multibody_start(s.model, 0, 1e-3);
        assert_int_equal(status, i < 2 ? YK_OK : YK_ERROR_DIVERGED);
        assert_int_equal(strstr(heard.text, "use beams, or absolute coordinates") != NULL, i == 1);
        if (i == 2)
            assert_non_null(strstr(yk_last_message(context), "use beams, or absolute coordinates"));
        clean(&s);
        yk_context_destroy(context);
    }
}

/* A rod with one shape, turning about its start or pushed at its end, for 100 steps that are the
 * given share of its period. */
static listener hear(bool stiffening, yk_vec3 spin, double push, double fraction)
{
    listener heard = {0};
    yk_context_def with_log = yk_context_default();
    with_log.log = listen, with_log.log_user = &heard;
    yk_context *context = yk_context_create(&with_log);
    yk_ffrf_rod_def one = yk_ffrf_rod_default();
    one.section = steel();
    one.bending_y = 1, one.bending_z = one.extension = 0;
    one.stiffening = stiffening;
    one.attachments = ends, one.attachment_count = 2;
    setting s;
    set_up(&s, context, CLAMPED, push > 0 ? YK_JOINT_FIXED : YK_JOINT_SPHERICAL);
    yk_flexible_release((yk_flexible *)(uintptr_t)s.flexible.body);
    yk_flexible *body;
    assert_int_equal(yk_flexible_rod(context, &one, &body), YK_OK);
    s.flexible.body = body;
    s.node.angular_velocity = yk_v3_scale(body->modal.slowest, spin);
    s.force.vector = yk_v3(0, push, 0);
    double h = fraction * 2 * YK_PI / body->modal.slowest;
    start(&s, h);
    run(&s, h, 100);
    clean(&s);
    yk_context_destroy(context);
    return heard;
}

static void runs_reports_when_they_leave_their_range(void **state)
{
    (void)state;
    yk_vec3 none = {0, 0, 0}, across = {0, 0, 0.5}, along = {3, 0, 0}, slowly = {0, 0, 0.2};
    listener heard = hear(false, across, 0, 0.01);
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.text, "rotation stiffens it"));
    assert_int_equal(hear(true, across, 0, 0.01).count, 0);
    assert_int_equal(hear(false, slowly, 0, 0.01).count, 0);
    assert_int_equal(hear(false, along, 0, 0.001).count, 0);
    heard = hear(true, none, 1, 0.25);
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.text, "too long for the motion of flexible body 'rod'"));
    assert_int_equal(hear(true, none, 1, 0.05).count, 0);
    /* Steps far beyond the period damp the vibration and follow the load. */
    assert_int_equal(hear(true, none, 1, 20).count, 0);
}

/* Thrown and turning freely, rods keep their momenta: the centre of mass moves straight on. */
static void free_rods_move_on(void **state)
{
    for (int kind = 0; kind < DESCRIPTIONS; kind++) {
        setting s;
        set_up(&s, *state, (description)kind, YK_JOINT_FIXED);
        s.def.joint_count = 0, s.def.force_count = 0;
        s.node.velocity = s.flexible.velocity = yk_v3(1, 2, 3);
        s.node.angular_velocity = s.flexible.angular_velocity = yk_v3(2, 20, 30);
        start(&s, 1e-4);
        double before = total_energy(s.model);
        run(&s, 1e-4, 500);
        assert_relative(total_energy(s.model), before, 1e-4);
        clean(&s);
    }
}

/* The acceleration of an attachment against differences of its velocity, and ports by merging. */
static void attachments_move_as_they_say(void **state)
{
    for (int kind = 0; kind < DESCRIPTIONS; kind += 3) {
        setting s;
        set_up(&s, *state, (description)kind, YK_JOINT_REVOLUTE);
        s.def.gravity = yk_v3(0, -9.81, 0);
        s.force.vector = yk_v3(0, 3, 1);
        double h = 1e-5;
        start(&s, h);
        run(&s, h, 200);
        yk_motion before = tip_motion(&s);
        assert_true(!YK_FAILED(yk_multibody_step(s.model, 200 * h, h)));
        yk_motion here = tip_motion(&s);
        assert_true(!YK_FAILED(yk_multibody_step(s.model, 201 * h, h)));
        yk_motion after = tip_motion(&s);
        yk_vec3 slope = yk_v3_scale(0.5 / h, yk_v3_sub(after.velocity, before.velocity));
        assert_near(yk_v3_norm(yk_v3_sub(slope, here.acceleration)), 0, 2e-2 * yk_v3_norm(slope));
        slope = yk_v3_scale(0.5 / h, yk_v3_sub(after.position, before.position));
        assert_near(yk_v3_norm(yk_v3_sub(slope, here.velocity)), 0, 1e-4);
        clean(&s);
    }
}

static void bad_attachments_are_refused(void **state)
{
    setting s;
    set_up(&s, *state, CLAMPED, YK_JOINT_FIXED);
    s.attachments[1].attachment = 2;
    assert_int_equal(yk_multibody_make(*state, &s.def, &s.model), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "'rod' has no attachment 2"));
    s.attachments[1].attachment = 1, s.flexible.node = 1;
    assert_int_equal(yk_multibody_make(*state, &s.def, &s.model), YK_ERROR_ARGUMENT);
    s.flexible.node = 0, s.joint.bodies[1] = (yk_body_id){3};
    assert_int_equal(yk_multibody_make(*state, &s.def, &s.model), YK_ERROR_ARGUMENT);
    s.model = NULL;
    clean(&s);
}

/* Scenario ------------------------------------------------------------------------------------- */

/* Messages about the scenario; NULL: none. Release the text. */
static char *complaint(yk_context *context, const char *text)
{
    char path[] = "/tmp/yoke-flexible-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    yk_diagnostics *diagnostics;
    yk_scenario *scenario = NULL;
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    yk_status status = yk_scenario_load(context, &def, diagnostics, &scenario);
    yk_system *system;
    if (status == YK_OK)
        status = yk_scenario_system(scenario, &system);
    char *said = YK_FAILED(status) ? yk_diagnostics_format(diagnostics) : NULL;
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    unlink(path);
    return said;
}

#define HEAD "time: {end: 1, step: 1e-3}\nsubsystems:\n  m:\n    solver: multibody\n"
#define SECTION "section: {type: tube, young_modulus: 2e11, density: 7800, radius: 0.01}"

static void scenarios_say_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {HEAD "    flexible_bodies: {r: {type: rod, length: 1, " SECTION
              ", attachments: {a: 2}}}\n",
         "not on the rod"},
        {HEAD "    flexible_bodies: {r: {type: ancf, length: 1, elements: 2, " SECTION
              ", attachments: {a: 3}}}\n",
         "nodes 0 to 2"},
        {HEAD "    flexible_bodies: {r: {type: rod, length: 1, " SECTION ", attachments: {a: 1}}}\n"
              "    bodies: {b: {mass: 1, node: r.a}}\n",
         "carries no mass"},
        {HEAD "    flexible_bodies: {r: {type: rod, length: 1, " SECTION
              ", attachments: {tip: 1}}}\n"
              "    joints: {j: {type: fixed, between: [ground, r.tp]}}\n",
         "r.tip"},
        {HEAD "    flexible_bodies: {r: {type: modal, nodes_file: none.csv, modes_file: none.csv, "
              "frequencies_file: "
              "none.csv}}\n",
         "cannot be opened"},
        {HEAD
         "    flexible_bodies: {r: {type: modal, nodes_file: none.csv, modes_file: none.csv}}\n",
         "or 'invariants_file', or 'mbdyn_fem_file'"},
        {HEAD "    flexible_bodies: {r: {type: modal, mbdyn_fem_file: none.fem, modes_file: "
              "none.csv}}\n",
         "leave out the other tables"},
        {HEAD "    flexible_bodies: {r: {type: modal, invariants_file: none.csv, nodes_file: "
              "none.csv}}\n",
         "must be given together"},
        {HEAD "    flexible_bodies: {r: {type: modal, invariants_file: none.csv, attachments: {a: "
              "1}}}\n",
         "attachments are nodes of the body"},
        {HEAD "    flexible_bodies: {r: {type: modal, mbdyn_fem_file: none.fem}}\n",
         "none.fem cannot be opened"},
        {HEAD "    flexible_bodies: {r: {type: rod, length: 1, reference_conditions: free-free, "
              "static_modes: true, " SECTION "}}\n",
         "no static deflections"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *said = complaint(*state, wrong[i].text);
        assert_non_null(said);
        if (!strstr(said, wrong[i].part))
            print_error("%s", said);
        assert_non_null(strstr(said, wrong[i].part));
        yk_free(*state, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cantilever_rests_where_beam_theory_says),
        cmocka_unit_test(shapes_say_where_they_end),
        cmocka_unit_test(modes_of_the_cantilever),
        cmocka_unit_test(pendulums_agree_and_keep_their_energy),
        cmocka_unit_test(error_control_sees_what_deforms),
        cmocka_unit_test(runs_reports_when_they_leave_their_range),
        cmocka_unit_test(free_rods_move_on),
        cmocka_unit_test(attachments_move_as_they_say),
        cmocka_unit_test(bad_attachments_are_refused),
        cmocka_unit_test(scenarios_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
