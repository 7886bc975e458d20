/* Flexible bodies of smooth models, with modes and in absolute coordinates: soft rods on a
 * bushing that are pushed and led at their far ends. */
#include "conformance.h"

#include <stddef.h>

#include "multibody/def.h"

static yk_beam_section_def rubber(void)
{
    yk_beam_section_def section = yk_beam_section_default();
    section.young_modulus = 2e7, section.poisson_ratio = 0.3, section.density = 1000;
    section.rayleigh_beta = 1e-3;
    yk_beam_section_set_rectangle(&section, 0.02, 0.03);
    return section;
}

static yk_status make_body(yk_context *context, bool modal, yk_flexible **body)
{
    static const double ends[2] = {0, 0.5};
    if (modal) {
        yk_ffrf_rod_def rod = yk_ffrf_rod_default();
        rod.length = 0.5;
        rod.section = rubber();
        rod.damping_ratio = 0.02;
        rod.attachments = ends, rod.attachment_count = 2;
        return yk_flexible_rod(context, &rod, body);
    }
    yk_beam_section_def section = rubber();
    return yk_flexible_ancf(context, 0.5, 2, &section, body);
}

typedef struct variant {
    bool modal;
    yk_multibody_integrator integrator;
    yk_multibody_formulation form;
} variant;

/* A block on a bushing, the rod clamped to it. */
static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    const variant *v = user;
    bool modal = v->modal;
    yk_flexible *rod;
    yk_status status = make_body(context, modal, &rod);
    *subsystem = NULL;
    if (status != YK_OK)
        return status;
    yk_multibody_node_def nodes[2] = {yk_multibody_node_default(), yk_multibody_node_default()};
    nodes[0].name = "block", nodes[1].name = "float";
    yk_multibody_body_def block = yk_multibody_body_default();
    block.name = "block", block.node = (yk_body_id){0}, block.mass = 2,
    block.inertia = yk_m3_diagonal(0.02, 0.03, 0.04);
    yk_force_def mount = yk_force_default();
    mount.name = "mount", mount.kind = YK_FORCE_BUSHING, mount.bodies[1] = (yk_body_id){0};
    for (int k = 0; k < 6; k++) {
        mount.bushing_stiffness[k][k] = k < 3 ? 800 : 40;
        mount.bushing_damping[k][k] = k < 3 ? 4 : 0.2;
    }
    yk_multibody_flexible_def flexible = yk_multibody_flexible_default();
    flexible.name = "rod", flexible.body = rod, flexible.node = 1;
    const yk_multibody_attachment_def attachments[2] = {{"near", 0, 0}, {"far", 0, modal ? 1 : 2}};
    int node_count = modal ? 2 : 1;
    yk_joint_def clamp = yk_joint_default();
    clamp.name = "clamp", clamp.kind = YK_JOINT_FIXED, clamp.bodies[0] = (yk_body_id){0},
    clamp.bodies[1] = (yk_body_id){node_count};
    yk_port_def ports[2] = {yk_port_default(), yk_port_default()};
    ports[0].name = "tip", ports[0].bodies[0] = (yk_body_id){node_count + 1},
    ports[0].markers[0] = yk_marker_at(0.02, 0.01, 0.03);
    ports[1].name = "actuator", ports[1].kind = YK_PORT_SCALAR;
    ports[1].bodies[0] = (yk_body_id){0}, ports[1].bodies[1] = (yk_body_id){node_count + 1};
    ports[1].markers[0] = yk_marker_at(0.1, 0.3, 0);
    yk_multibody_description def = yk_multibody_description_empty();
    def.name = "flexible";
    def.gravity = yk_v3(0, 0, -1);
    def.nodes = nodes, def.node_count = node_count;
    def.bodies = &block, def.body_count = 1;
    def.joints = &clamp, def.joint_count = 1;
    def.forces = &mount, def.force_count = 1;
    def.flexibles = &flexible, def.flexible_count = 1;
    def.attachments = attachments, def.attachment_count = 2;
    def.ports = ports, def.port_count = 2;
    def.options.start_in_equilibrium = true;
    def.options.integrator = v->integrator;
    def.options.formulation = v->form;
    yk_multibody *model;
    status = yk_multibody_make(context, &def, &model);
    if (status == YK_OK)
        *subsystem = yk_multibody_subsystem(model);
    yk_flexible_release(rod);
    return status;
}

static const variant modes = {.modal = true}, rod = {.modal = false};
static const variant alpha_modes = {true, YK_MULTIBODY_GENERALIZED_ALPHA,
                                    YK_MULTIBODY_FORMULATION_INDEX_3};
static const variant alpha_rod = {false, YK_MULTIBODY_GENERALIZED_ALPHA,
                                  YK_MULTIBODY_FORMULATION_INDEX_3};
static const variant ode_modes = {true, YK_MULTIBODY_GENERALIZED_ALPHA,
                                  YK_MULTIBODY_FORMULATION_STABILIZED_ODE};
static const variant ode_rod = {false, YK_MULTIBODY_GENERALIZED_ALPHA,
                                YK_MULTIBODY_FORMULATION_STABILIZED_ODE};

#define WRENCH .causality = YK_CAUSALITY_WRENCH_INPUT, .amplitude = 2, .frequency = 8
#define MOTION .causality = YK_CAUSALITY_MOTION_INPUT, .amplitude = 0.01, .frequency = 8
#define STEPS .step = 5e-4, .steps = 50, .order = 2, .energy_order = 2, .scale = 1

static const conformance_case cases[] = {
    {"modes, force", create, &modes, .port = 0, .constrained = YK_AXIS_Y | YK_AXIS_Z, WRENCH,
     STEPS},
    {"modes, all motions", create, &modes, .port = 0, .constrained = YK_AXES_ALL, MOTION, STEPS},
    {"modes, actuator length", create, &modes, .port = 1, .constrained = YK_AXIS_X, MOTION, STEPS},
    {"rod, force", create, &rod, .port = 0, .constrained = YK_AXIS_Y | YK_AXIS_Z, WRENCH, STEPS},
    {"rod, torque", create, &rod, .port = 0, .constrained = YK_AXIS_RZ, WRENCH, STEPS},
    {"rod, all motions", create, &rod, .port = 0, .constrained = YK_AXES_ALL, MOTION, STEPS},
    {"rod, actuator force", create, &rod, .port = 1, .constrained = YK_AXIS_X, WRENCH, STEPS},
    {"generalised-alpha, modes", create, &alpha_modes, .port = 0,
     .constrained = YK_AXIS_Y | YK_AXIS_Z, WRENCH, STEPS},
    {"generalised-alpha, rod", create, &alpha_rod, .port = 0, .constrained = YK_AXIS_Y | YK_AXIS_Z,
     WRENCH, STEPS},
    {"stabilised, modes", create, &ode_modes, .port = 0, .constrained = YK_AXIS_Y | YK_AXIS_Z,
     WRENCH, STEPS},
    {"stabilised, rod", create, &ode_rod, .port = 0, .constrained = YK_AXIS_Y | YK_AXIS_Z, WRENCH,
     STEPS},
};

int main(void)
{
    return conformance_run(cases, sizeof cases / sizeof *cases);
}
