/* Smooth models: an offset marker on a body that hangs on springs, by wrenches and by motions, in
 * part and in full, and an actuator between two bodies. */
#include "conformance.h"

#include <stddef.h>

#include "multibody/def.h"

/* Two bodies on a bushing and a revolute joint, with damping and an eccentric mass. */
static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    yk_multibody_node_def nodes[2] = {yk_multibody_node_default(), yk_multibody_node_default()};
    nodes[0].name = "frame", nodes[1].name = "arm";
    nodes[1].position = yk_v3(0.5, 0, 0);
    yk_multibody_body_def bodies[2] = {yk_multibody_body_default(), yk_multibody_body_default()};
    for (int i = 0; i < 2; i++) {
        bodies[i].name = nodes[i].name;
        bodies[i].node = (yk_body_id){i};
        bodies[i].mass = 2 - i;
        bodies[i].inertia = yk_m3_diagonal(0.02, 0.03, 0.04);
    }
    bodies[1].center_of_mass = yk_v3(0.1, 0.05, 0);
    yk_joint_def pin = yk_joint_default();
    pin.name = "pin";
    pin.kind = YK_JOINT_REVOLUTE;
    pin.bodies[0] = (yk_body_id){0}, pin.bodies[1] = (yk_body_id){1};
    pin.markers[0] = yk_marker_at(0.3, 0, 0), pin.markers[1] = yk_marker_at(-0.2, 0, 0);
    yk_force_def forces[2] = {yk_force_default(), yk_force_default()};
    forces[0].name = "mount";
    forces[0].kind = YK_FORCE_BUSHING;
    forces[0].bodies[1] = (yk_body_id){0};
    for (int k = 0; k < 6; k++) {
        forces[0].bushing_stiffness[k][k] = k < 3 ? 800 : 40;
        forces[0].bushing_damping[k][k] = k < 3 ? 4 : 0.2;
    }
    forces[1].name = "hinge spring";
    forces[1].kind = YK_FORCE_TORSION_SPRING;
    forces[1].bodies[0] = (yk_body_id){0}, forces[1].bodies[1] = (yk_body_id){1};
    forces[1].stiffness = 30, forces[1].damping = 0.1;
    yk_port_def ports[2] = {yk_port_default(), yk_port_default()};
    ports[0].name = "tip";
    ports[0].bodies[0] = (yk_body_id){1};
    ports[0].markers[0] = yk_marker_at(0.2, 0.1, 0.05);
    ports[1].name = "actuator";
    ports[1].kind = YK_PORT_SCALAR;
    ports[1].bodies[0] = (yk_body_id){0}, ports[1].bodies[1] = (yk_body_id){1};
    ports[1].markers[0] = yk_marker_at(0, 0.2, 0), ports[1].markers[1] = yk_marker_at(0.1, 0, 0);
    yk_multibody_description def = yk_multibody_description_empty();
    def.name = "conforming";
    def.options.newton_relative_tolerance = 1e-8; /* differences of steps are compared */
    if (user)
        def.options = *(const yk_multibody_options *)user;
    def.nodes = nodes, def.node_count = 2;
    def.bodies = bodies, def.body_count = 2;
    def.joints = &pin, def.joint_count = 1;
    def.forces = forces, def.force_count = 2;
    def.ports = ports, def.port_count = 2;
    yk_multibody *model;
    yk_status status = yk_multibody_make(context, &def, &model);
    *subsystem = status == YK_OK ? yk_multibody_subsystem(model) : NULL;
    return status;
}

#define WRENCH .causality = YK_CAUSALITY_WRENCH_INPUT, .amplitude = 2, .frequency = 8
#define MOTION .causality = YK_CAUSALITY_MOTION_INPUT, .amplitude = 0.01, .frequency = 8
#define STEPS .step = 4e-3, .steps = 90, .order = 2, .energy_order = 2, .scale = 1

/* The only errors are those of the inputs: cubics through values and slopes of a sine, with errors
 * of order 4, and of order 2 in the accelerations that wrenches answer to. */
static const yk_multibody_options runge_kutta = {.integrator = YK_MULTIBODY_RUNGE_KUTTA,
                                                 .rho_inf = 0.6,
                                                 .newton_relative_tolerance = 1e-4,
                                                 .newton_absolute_tolerance = 1e-8,
                                                 .max_newton_iterations = 30,
                                                 .assembly_tolerance = 1e-12,
                                                 .error_tolerance = 1e-13};
static const yk_multibody_options generalized_alpha = {.integrator = YK_MULTIBODY_GENERALIZED_ALPHA,
                                                       .rho_inf = 0.6,
                                                       .newton_relative_tolerance = 1e-8,
                                                       .newton_absolute_tolerance = 1e-10,
                                                       .max_newton_iterations = 30,
                                                       .assembly_tolerance = 1e-12};
static const yk_multibody_options stabilised = {.integrator = YK_MULTIBODY_GENERALIZED_ALPHA,
                                                .formulation =
                                                    YK_MULTIBODY_FORMULATION_STABILIZED_ODE,
                                                .rho_inf = 0.6,
                                                .newton_relative_tolerance = 1e-8,
                                                .newton_absolute_tolerance = 1e-10,
                                                .max_newton_iterations = 30,
                                                .assembly_tolerance = 1e-12};
static const yk_multibody_options chebyshev = {.integrator = YK_MULTIBODY_CHEBYSHEV,
                                               .stages = 5,
                                               .rho_inf = 0.6,
                                               .newton_relative_tolerance = 1e-8,
                                               .newton_absolute_tolerance = 1e-10,
                                               .max_newton_iterations = 30,
                                               .assembly_tolerance = 1e-12};
#define SMALL .step = 1e-3, .steps = 200, .order = 2, .energy_order = 2, .scale = 1
#define FINE .step = 2e-2, .steps = 20, .energy_order = 0, .scale = 1

static const conformance_case cases[] = {
    {"marker, force", create, NULL, .port = 0, .constrained = YK_AXIS_X | YK_AXIS_Y, WRENCH, STEPS},
    {"marker, torque", create, NULL, .port = 0, .constrained = YK_AXIS_RZ, WRENCH, STEPS},
    {"marker, all motions", create, NULL, .port = 0, .constrained = YK_AXES_ALL, MOTION, STEPS},
    {"marker, position", create, NULL, .port = 0, .constrained = YK_AXES_TRANSLATION, MOTION,
     STEPS},
    {"marker, one axis", create, NULL, .port = 0, .constrained = YK_AXIS_Y, MOTION, STEPS},
    {"actuator, force", create, NULL, .port = 1, .constrained = YK_AXIS_X, WRENCH, STEPS},
    {"actuator, length", create, NULL, .port = 1, .constrained = YK_AXIS_X, MOTION, STEPS},
    {"generalised-alpha, force", create, &generalized_alpha, .port = 0,
     .constrained = YK_AXIS_X | YK_AXIS_Y, WRENCH, STEPS},
    {"generalised-alpha, position", create, &generalized_alpha, .port = 0,
     .constrained = YK_AXES_TRANSLATION, MOTION, STEPS},
    {"stabilised, actuator", create, &stabilised, .port = 1, .constrained = YK_AXIS_X, WRENCH,
     STEPS},
    {"stabilised, position", create, &stabilised, .port = 0, .constrained = YK_AXES_TRANSLATION,
     MOTION, STEPS},
    {"chebyshev, force", create, &chebyshev, .port = 0, .constrained = YK_AXIS_X | YK_AXIS_Y,
     WRENCH, SMALL},
    {"chebyshev, position", create, &chebyshev, .port = 0, .constrained = YK_AXES_TRANSLATION,
     MOTION, SMALL},
    {"chebyshev, actuator", create, &chebyshev, .port = 1, .constrained = YK_AXIS_X, WRENCH, SMALL},
    {"runge-kutta, force", create, &runge_kutta, .port = 0, .constrained = YK_AXIS_X | YK_AXIS_Y,
     WRENCH, FINE, .order = 4},
    {"runge-kutta, motions", create, &runge_kutta, .port = 0, .constrained = YK_AXES_ALL, MOTION,
     FINE, .order = 2},
    {"runge-kutta, position", create, &runge_kutta, .port = 0, .constrained = YK_AXES_TRANSLATION,
     MOTION, FINE, .order = 2},
    {"runge-kutta, actuator", create, &runge_kutta, .port = 1, .constrained = YK_AXIS_X, WRENCH,
     FINE, .order = 4},
    {"runge-kutta, length", create, &runge_kutta, .port = 1, .constrained = YK_AXIS_X, MOTION, FINE,
     .order = 2},
};

int main(void)
{
    return conformance_run(cases, sizeof cases / sizeof *cases);
}
