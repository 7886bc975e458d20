/* The nonsmooth solver behind its ports: a body on a spring driven by force, by a whole
 * prescribed motion and by one prescribed axis, and a bed of spheres in a shaken can, also one
 * that is fed and drained. */
#include "conformance.h"

#include "nonsmooth/nonsmooth.h"

typedef enum scene_kind { SPRING, CAN, SLEEPING_CAN, FED_CAN } scene_kind;

static const scene_kind spring = SPRING, can = CAN, sleeping_can = SLEEPING_CAN, fed_can = FED_CAN;

static yk_status add_sprung_body(yk_nonsmooth *world)
{
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.name = "block";
    body.mass = 2;
    body.inertia = yk_m3_diagonal(0.01, 0.02, 0.025);
    int block = yk_world_add_body(world, &body);
    yk_force_def bushing = yk_force_default();
    bushing.kind = YK_FORCE_BUSHING;
    bushing.bodies[1] = (yk_body_id){block};
    for (int i = 0; i < 6; i++) {
        bushing.bushing_stiffness[i][i] = i < 3 ? 300 : 5;
        bushing.bushing_damping[i][i] = i < 3 ? 1.5 : 0.02;
    }
    int force = yk_world_add_force(world, &bushing);
    yk_marker marker = yk_marker_at(0.05, -0.02, 0.03);
    int port = yk_world_add_port(world, "block", block, &marker);
    yk_body_id ends[2] = {YK_GROUND, {block}};
    yk_marker line[2] = {yk_marker_at(-0.3, 0.1, 0), yk_marker_at(0, 0.03, -0.02)};
    int actuator = yk_world_add_line_port(world, "actuator", ends, line);
    return block < 0 || force < 0 || port < 0 || actuator < 0 ? YK_ERROR_MEMORY : YK_OK;
}

static yk_status add_can(yk_nonsmooth *world)
{
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.name = "can";
    body.mass = 0.5;
    body.inertia = yk_m3_diagonal(1e-3, 1e-3, 1e-3);
    int number = yk_world_add_body(world, &body);
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.body = (yk_body_id){number};
    cavity.kind = YK_SOLID_CYLINDER_CAVITY;
    cavity.size = yk_v3(0.05, 0.05, 0.05);
    cavity.material.friction = 0.4;
    if (yk_world_add_shape(world, &cavity) < 0)
        return YK_ERROR_MEMORY;
    /* All touch at the start, so that there are never more contacts than then. */
    for (int i = 0; i < 27; i++) {
        yk_vec3 at = {-0.02 + 0.02 * (i % 3), -0.02 + 0.02 * (i / 3 % 3), -0.04 + 0.02 * (i / 9)};
        if (yk_world_add_sphere(world, at, 0.01, 2000, cavity.material) < 0)
            return YK_ERROR_MEMORY;
    }
    yk_marker marker = yk_marker_at(0, 0, 0.06);
    return yk_world_add_port(world, "can", number, &marker) < 0 ? YK_ERROR_MEMORY : YK_OK;
}

/* Spheres come in the upper half and leave in a corner of the lower one. */
static yk_status feed_can(yk_nonsmooth *world)
{
    yk_emitter_def emitter = yk_emitter_default();
    emitter.name = "rain";
    emitter.rate = 100;
    emitter.particles = yk_particles_in_box(10, 5e-3, yk_v3(0.02, 0.02, 0.01));
    emitter.particles.position = yk_v3(0, 0, 0.03);
    yk_sink_def sink = yk_sink_default();
    sink.name = "drain";
    sink.kind = YK_SOLID_BOX;
    sink.position = yk_v3(0.05, 0, -0.05);
    sink.size = yk_v3(0.03, 0.1, 0.04);
    if (yk_world_add_emitter(world, &emitter) < 0 || yk_world_add_sink(world, &sink) < 0)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    scene_kind kind = *(const scene_kind *)user;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    bool has_can = kind != SPRING;
    def.gravity = yk_v3(0, 0, has_can ? -9.81 : 0);
    if (kind == SLEEPING_CAN)
        def.sleeping = (yk_sleep_options){
            .speed_threshold = 1e-2, .angular_speed_threshold = 1, .delay = 0.01};
    yk_nonsmooth *world;
    yk_status status = yk_world_create(context, &def, &world);
    if (YK_FAILED(status))
        return status;
    status = has_can ? add_can(world) : add_sprung_body(world);
    if (status == YK_OK && kind == FED_CAN)
        status = feed_can(world);
    if (YK_FAILED(status)) {
        yk_nonsmooth_destroy(world);
        return status;
    }
    *subsystem = yk_nonsmooth_subsystem(world);
    return YK_OK;
}

#define MOTION(axes)                                                                           \
    .port = 0, .causality = YK_CAUSALITY_MOTION_INPUT, .constrained = axes, .amplitude = 0.02, \
    .frequency = 9

static const conformance_case cases[] = {
    {"spring, wrench", create, &spring, .port = 0, .causality = YK_CAUSALITY_WRENCH_INPUT,
     .constrained = YK_AXES_ALL, .amplitude = 0.5, .frequency = 9, .step = 1e-3, .steps = 400,
     .order = 1, .energy_order = 1, .scale = 1},
    {"spring, all motions", create, &spring, MOTION(YK_AXES_ALL), .step = 1e-3, .steps = 400,
     .order = 1, .energy_order = 1, .scale = 1},
    {"spring, one motion", create, &spring, MOTION(YK_AXIS_X), .step = 1e-3, .steps = 400,
     .order = 1, .energy_order = 1, .scale = 1},
    {"actuator, force", create, &spring, .port = 1, .causality = YK_CAUSALITY_WRENCH_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 3, .frequency = 9, .step = 1e-3, .steps = 400,
     .order = 1, .energy_order = 1, .scale = 1},
    {"actuator, length", create, &spring, .port = 1, .causality = YK_CAUSALITY_MOTION_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 0.02, .frequency = 9, .step = 1e-3, .steps = 400,
     .order = 1, .energy_order = 1, .scale = 1},
    /* Impacts: no order, the energy balance is tested with the module. */
    {"can of spheres, all motions", create, &can, MOTION(YK_AXES_ALL), .step = 1e-3, .steps = 200,
     .order = -1, .energy_order = -1, .scale = 1},
    {"fed can, all motions", create, &fed_can, MOTION(YK_AXES_ALL), .step = 1e-3, .steps = 200,
     .order = -1, .energy_order = -1, .scale = 1},
    /* The can holds still, and the bed falls asleep in it. */
    {"sleeping can", create, &sleeping_can, .port = 0, .causality = YK_CAUSALITY_MOTION_INPUT,
     .constrained = YK_AXES_ALL, .amplitude = 0, .frequency = 9, .step = 1e-3, .steps = 400,
     .order = -1, .energy_order = -1, .scale = 1},
};

int main(void)
{
    return conformance_run(cases, sizeof cases / sizeof *cases);
}
