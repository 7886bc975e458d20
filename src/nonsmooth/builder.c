/* The builder of yoke/nonsmooth.h. Parts are added directly to a world that has not started. The
 * first error is stored until the subsystem is created. */
#include "base/builder.h"
#include "base/context.h"
#include "math/vec3.h"
#include "mechanics/force.h"
#include "mechanics/joint.h"
#include "nonsmooth/packing.h"
#include "nonsmooth/world.h"

struct yk_nonsmooth_builder {
    yk_building building;
    yk_nonsmooth *world;
};

static yk_status check_def(yk_context *context, const yk_nonsmooth_def *def)
{
    if (!yk_v3_finite(def->gravity))
        return yk_fail(context, YK_ERROR_ARGUMENT, "gravity is not finite");

    /* For most of these numbers, zero means that the solver chooses. */
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"envelope (m)", def->envelope},
        {"skin (m)", def->skin},
        {"recovery_speed (m/s)", def->max_recovery_speed},
        {"bounce_speed (m/s)", def->min_bounce_speed},
        {"sleeping.speed (m/s)", def->sleeping.speed_threshold},
        {"sleeping.angular_speed (rad/s)", def->sleeping.angular_speed_threshold},
        {"sleeping.after (s)", def->sleeping.delay},
        {"solver.tolerance", def->contact_options.tolerance},
        {"solver.iterations", def->contact_options.max_iterations},
        {"contact_capacity", def->contact_capacity},
        {"threads", def->thread_count},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i].value >= 0 && isfinite(numbers[i].value)))
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s is %g, must not be negative",
                           numbers[i].name, numbers[i].value);

    if ((unsigned)def->contact_options.method > YK_CONTACT_PIVOTING)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "solver.method is %d, there is none with that number",
                       (int)def->contact_options.method);
    if ((unsigned)def->contact_options.friction_model > YK_FRICTION_PYRAMID)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "solver.friction is %d, there is none with that number",
                       (int)def->contact_options.friction_model);
    if ((unsigned)def->impact_law > YK_IMPACT_SEQUENTIAL)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "impact_law is %d, there is none with that number", (int)def->impact_law);

    /* Gauss-Seidel converges for factors between 0 and 2. */
    double factor = def->contact_options.relaxation_factor;
    if (!(factor > 0 && factor < 2))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "solver.relaxation_factor is %g, must be between 0 and 2", factor);
    return YK_OK;
}

yk_nonsmooth_builder *yk_nonsmooth_begin(yk_context *context, const yk_nonsmooth_def *def)
{
    yk_nonsmooth_builder *builder = yk_allocate(context, 1, sizeof *builder);
    if (!builder)
        return NULL;

    builder->building.context = context;

    /* After an error there is a builder too; creating the subsystem reports the error. */
    yk_status status = YK_OK;
    if (def)
        status = check_def(context, def);
    if (status == YK_OK)
        status = yk_world_create(context, def, &builder->world);
    if (status != YK_OK)
        yk_building_refuse(&builder->building, status);
    return builder;
}

/* Whether a part can be added to these bodies. A body that could not be added has been reported
 * before. */
static bool ready(const yk_nonsmooth_builder *builder, const yk_body_id *body, int count)
{
    if (!builder || !builder->world)
        return false;

    for (int i = 0; i < count; i++)
        if (body[i].index == YK_NO_ID && builder->building.status != YK_OK)
            return false;
    return true;
}

static bool has_def(yk_nonsmooth_builder *builder, const char *function, const void *def)
{
    return builder && yk_building_has_def(&builder->building, function, def);
}

/* The id returned by the world. If it is invalid, the context has the error. */
static int taken(yk_nonsmooth_builder *builder, int id)
{
    if (id != YK_NO_ID)
        return id;
    return yk_building_refuse(&builder->building, yk_last_status(builder->building.context));
}

/* The same for parts without an id. */
static yk_status taken_status(yk_nonsmooth_builder *builder, int id)
{
    return taken(builder, id) == YK_NO_ID ? builder->building.status : YK_OK;
}

/* Status of the add functions that return no id. */
static yk_status refused(const yk_nonsmooth_builder *builder)
{
    return builder ? builder->building.status : YK_ERROR_MEMORY;
}

yk_body_id yk_nonsmooth_add_body(yk_nonsmooth_builder *builder, const yk_nonsmooth_body_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_BODY;
    if (!ready(builder, NULL, 0))
        return YK_NULL_BODY;
    return (yk_body_id){taken(builder, yk_world_add_body(builder->world, def))};
}

yk_status yk_nonsmooth_add_shape(yk_nonsmooth_builder *builder, const yk_nonsmooth_shape_def *def)
{
    if (!has_def(builder, __func__, def))
        return refused(builder);
    if (!ready(builder, &def->body, 1))
        return refused(builder);
    return taken_status(builder, yk_world_add_shape(builder->world, def));
}

yk_status yk_nonsmooth_add_material_pair(yk_nonsmooth_builder *builder,
                                         const yk_material_pair_def *def)
{
    if (!has_def(builder, __func__, def))
        return refused(builder);
    if (!ready(builder, NULL, 0))
        return refused(builder);
    return taken_status(builder, yk_world_add_pair(builder->world, def));
}

yk_status yk_nonsmooth_add_exclusion(yk_nonsmooth_builder *builder, const yk_exclusion_def *def)
{
    if (!has_def(builder, __func__, def))
        return refused(builder);
    if (!ready(builder, def->bodies, 2))
        return refused(builder);
    return taken_status(builder, yk_world_add_exclusion(builder->world, def));
}

yk_joint_id yk_nonsmooth_add_joint(yk_nonsmooth_builder *builder, const yk_joint_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_JOINT;
    if (!ready(builder, def->bodies, 2))
        return YK_NULL_JOINT;

    yk_status usable = yk_joint_check(builder->building.context, "nonsmooth", def);
    if (usable != YK_OK) {
        yk_building_refuse(&builder->building, usable);
        return YK_NULL_JOINT;
    }

    /* One global marker, expressed in both bodies at their initial poses. */
    yk_joint_def joint = *def;
    joint.marker_is_global = false;
    for (int side = 0; side < 2 && def->marker_is_global; side++) {
        joint.markers[side] = def->markers[0];
        int body = def->bodies[side].index;
        if (body < 0 || body >= yk_nonsmooth_body_count(builder->world))
            continue; /* the ground, or an error that the world reports */

        yk_motion motion;
        yk_nonsmooth_body_motion(builder->world, body, &motion);
        joint.markers[side] =
            yk_marker_in_body(def->markers[0], motion.position, motion.orientation);
    }

    return (yk_joint_id){taken(builder, yk_world_add_joint(builder->world, &joint))};
}

yk_force_id yk_nonsmooth_add_force(yk_nonsmooth_builder *builder, const yk_force_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_FORCE;
    if (!ready(builder, def->bodies, 2))
        return YK_NULL_FORCE;

    yk_status usable = yk_force_check(builder->building.context, "nonsmooth", def);
    if (usable != YK_OK) {
        yk_building_refuse(&builder->building, usable);
        return YK_NULL_FORCE;
    }

    /* The world numbers signals separately from ports. */
    yk_force_def force = *def;
    int ports = (int)builder->world->model.port_count;
    if (force.signal_port.index >= 0 && force.signal_port.index < ports) {
        yk_status status = yk_fail(builder->building.context, YK_ERROR_ARGUMENT,
                                   "the input of force '%s' is port %d, which is no signal port",
                                   def->name ? def->name : "", def->signal_port.index);
        yk_building_refuse(&builder->building, status);
        return YK_NULL_FORCE;
    }

    if (force.signal_port.index >= 0)
        force.signal_port.index -= ports;
    return (yk_force_id){taken(builder, yk_world_add_force(builder->world, &force))};
}

yk_port_id yk_nonsmooth_add_port(yk_nonsmooth_builder *builder, const yk_port_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_PORT;
    if (!ready(builder, def->bodies, 2))
        return YK_NULL_PORT;

    yk_context *context = builder->building.context;
    yk_nonsmooth *world = builder->world;

    /* Partners find a port by its name. */
    if (!def->name || !def->name[0]) {
        yk_status status = yk_fail(context, YK_ERROR_ARGUMENT, "a port has no name: give it one");
        yk_building_refuse(&builder->building, status);
        return YK_NULL_PORT;
    }

    if ((unsigned)def->kind > YK_PORT_SIGNAL) {
        yk_status status = yk_fail(context, YK_ERROR_ARGUMENT,
                                   "port '%s' is of kind %d, which does not exist: take a "
                                   "yk_port_kind",
                                   def->name, (int)def->kind);
        yk_building_refuse(&builder->building, status);
        return YK_NULL_PORT;
    }

    /* Ports with power are numbered first. */
    if (def->kind == YK_PORT_SIGNAL) {
        int signal = taken(builder, yk_world_add_signal(world, def->name));
        return signal == YK_NO_ID ? YK_NULL_PORT
                                  : (yk_port_id){(int)world->model.port_count + signal};
    }

    if (world->model.signal_count > 0) {
        yk_status status = yk_fail(context, YK_ERROR_ARGUMENT,
                                   "port '%s': add it before all signal ports", def->name);
        yk_building_refuse(&builder->building, status);
        return YK_NULL_PORT;
    }

    if (def->kind == YK_PORT_SCALAR)
        return (yk_port_id){
            taken(builder, yk_world_add_line_port(world, def->name, def->bodies, def->markers))};
    return (yk_port_id){taken(
        builder, yk_world_add_port(world, def->name, def->bodies[0].index, &def->markers[0]))};
}

yk_port_id yk_nonsmooth_add_marker_port(yk_nonsmooth_builder *builder, const char *name,
                                        yk_body_id body, yk_marker marker)
{
    yk_port_def port = yk_port_marker(name, body, marker);
    return yk_nonsmooth_add_port(builder, &port);
}

yk_body_id yk_nonsmooth_add_sphere(yk_nonsmooth_builder *builder, yk_vec3 position, double radius,
                                   double density, yk_material material)
{
    if (!ready(builder, NULL, 0))
        return YK_NULL_BODY;
    if (!(radius > 0) || !(density > 0) || !isfinite(radius * density)) {
        yk_building_refuse(&builder->building,
                           yk_fail(builder->building.context, YK_ERROR_ARGUMENT,
                                   "a sphere has the radius %g m and the density %g kg/m3: "
                                   "both must be positive",
                                   radius, density));
        return YK_NULL_BODY;
    }
    return (yk_body_id){
        taken(builder, yk_world_add_sphere(builder->world, position, radius, density, material))};
}

void yk_nonsmooth_prescribe_motion(yk_nonsmooth_builder *builder, yk_body_id body,
                                   yk_motion_function function, void *user)
{
    if (!ready(builder, &body, 1))
        return;
    if (!function) {
        yk_building_refuse(&builder->building,
                           yk_refuse_null(builder->building.context, __func__, "function"));
        return;
    }

    yk_status status = yk_world_prescribe(builder->world, body.index, function, user);
    if (status != YK_OK)
        yk_building_refuse(&builder->building, status);
}

void yk_nonsmooth_prescribe_path(yk_nonsmooth_builder *builder, yk_body_id body,
                                 const yk_prescribed_path *path)
{
    if (!ready(builder, &body, 1))
        return;
    if (!path) {
        yk_building_refuse(&builder->building,
                           yk_refuse_null(builder->building.context, __func__, "path"));
        return;
    }

    yk_status status = yk_world_prescribe_path(builder->world, body.index, path);
    if (status != YK_OK)
        yk_building_refuse(&builder->building, status);
}

/* Particles ------------------------------------------------------------------------------------ */

yk_particles_def yk_particles_default(void)
{
    return (yk_particles_def){.packing = yk_packing_default()};
}

yk_particles_def yk_particles_in_box(int count, double radius, yk_vec3 half_edges)
{
    yk_particles_def def = yk_particles_default();
    def.packing.cavity = YK_SOLID_BOX_CAVITY;
    def.packing.size = half_edges;
    def.packing.count = count;
    def.packing.radius = radius;
    return def;
}

yk_nonsmooth_shape_def yk_packing_container_shape(const yk_packing_def *packing, yk_body_id body)
{
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = body;
    shape.kind = packing->cavity;
    shape.size = packing->size;
    shape.material = packing->material;
    return shape;
}

int yk_nonsmooth_add_packing(yk_nonsmooth_builder *builder, const yk_packing *packing,
                             const yk_particles_def *def)
{
    const yk_packing_def *of = &def->packing;
    yk_nonsmooth *world = builder->world;
    int first =
        taken(builder, yk_packing_add(world, packing, def->position, of->density, of->material));

    if (first == YK_NO_ID)
        return YK_NO_ID;

    /* All particles start as parts of one rigid body: particles at rest in a moving container. */
    for (int i = first; i < yk_nonsmooth_body_count(world); i++) {
        yk_motion motion;
        yk_nonsmooth_body_motion(world, i, &motion);

        /* v + w x r. */
        yk_vec3 arm = yk_v3_sub(motion.position, def->position);
        motion.velocity = yk_v3_add(def->velocity, yk_v3_cross(def->angular_velocity, arm));
        motion.angular_velocity = def->angular_velocity;

        /* Add the particle's own motion. */
        if (packing->velocities)
            motion.velocity = yk_v3_add(motion.velocity, packing->velocities[i - first]);
        if (packing->angular_velocities)
            motion.angular_velocity =
                yk_v3_add(motion.angular_velocity, packing->angular_velocities[i - first]);
        yk_nonsmooth_set_motion(world, i, &motion);
    }

    return first;
}

yk_body_id yk_nonsmooth_add_particles(yk_nonsmooth_builder *builder, const yk_particles_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_BODY;
    if (!ready(builder, NULL, 0))
        return YK_NULL_BODY;

    yk_context *context = builder->building.context;
    yk_packing packing = {0};
    yk_status status;

    /* Settling simulates a run of its own; a lattice is available immediately. */
    if (def->settled) {
        status = yk_packing_make(context, &def->packing, &packing);
    } else {
        status = yk_packing_lattice(context, &def->packing, &packing);
    }

    if (YK_FAILED(status)) {
        yk_building_refuse(&builder->building, status);
        return YK_NULL_BODY;
    }

    int first = yk_nonsmooth_add_packing(builder, &packing, def);
    yk_packing_destroy(context, &packing);
    return (yk_body_id){first};
}

yk_status yk_nonsmooth_add_emitter(yk_nonsmooth_builder *builder, const yk_emitter_def *def)
{
    if (!has_def(builder, __func__, def))
        return refused(builder);
    if (!ready(builder, NULL, 0))
        return refused(builder);
    return taken_status(builder, yk_world_add_emitter(builder->world, def));
}

yk_status yk_nonsmooth_add_sink(yk_nonsmooth_builder *builder, const yk_sink_def *def)
{
    if (!has_def(builder, __func__, def))
        return refused(builder);
    if (!ready(builder, NULL, 0))
        return refused(builder);
    return taken_status(builder, yk_world_add_sink(builder->world, def));
}

yk_body_id yk_nonsmooth_add_particles_in_body(yk_nonsmooth_builder *builder, yk_body_id body,
                                              const yk_particles_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_BODY;
    if (!ready(builder, &body, 1))
        return YK_NULL_BODY;
    if (body.index < 0 || body.index >= yk_nonsmooth_body_count(builder->world)) {
        yk_building_refuse(
            &builder->building,
            yk_fail(builder->building.context, YK_ERROR_ARGUMENT,
                    "particles are to fill body %d, which was not added: take the id that adding "
                    "returned",
                    body.index));
        return YK_NULL_BODY;
    }

    /* The axes of the cavity are the global axes, as in packings, whatever those of the body. */
    yk_motion motion;
    yk_nonsmooth_body_motion(builder->world, body.index, &motion);
    yk_nonsmooth_shape_def cavity = yk_packing_container_shape(&def->packing, body);
    cavity.orientation = yk_q_conjugate(motion.orientation);
    if (yk_nonsmooth_add_shape(builder, &cavity) != YK_OK)
        return YK_NULL_BODY;

    yk_particles_def particles = *def;
    particles.position = motion.position;
    particles.velocity = motion.velocity;
    particles.angular_velocity = motion.angular_velocity;
    return yk_nonsmooth_add_particles(builder, &particles);
}

/* The whole ------------------------------------------------------------------------------------ */

yk_nonsmooth *yk_nonsmooth_world_of(yk_nonsmooth_builder *builder)
{
    return builder->world;
}

/* Channels and ports are named after parts, so names must be unique. */
static void check_names(yk_nonsmooth_builder *builder)
{
    yk_building *building = &builder->building;
    const yk_world_model *model = &builder->world->model;

    /* Signals are ports too, but have a separate list. */
    yk_building_unique(building, "bodies", model->names, (int)model->body_count,
                       sizeof *model->names);
    if (model->joint_count > 0)
        yk_building_unique(building, "joints", &model->joints->name, (int)model->joint_count,
                           sizeof *model->joints);
    if (model->force_count > 0)
        yk_building_unique(building, "forces", &model->forces->name, (int)model->force_count,
                           sizeof *model->forces);
    if (model->port_count > 0)
        yk_building_unique(building, "ports", &model->ports->name, (int)model->port_count,
                           sizeof *model->ports);
    if (model->emitter_count > 0)
        yk_building_unique(building, "emitters", &model->emitters->name, (int)model->emitter_count,
                           sizeof *model->emitters);
    if (model->sink_count > 0)
        yk_building_unique(building, "sinks", &model->sinks->name, (int)model->sink_count,
                           sizeof *model->sinks);
    if (model->signal_count > 0)
        yk_building_unique(building, "ports", &model->signals->name, (int)model->signal_count,
                           sizeof *model->signals);
}

yk_status yk_nonsmooth_create(yk_nonsmooth_builder *builder, yk_subsystem **subsystem)
{
    if (subsystem)
        *subsystem = NULL;
    if (!builder)
        return YK_ERROR_MEMORY;
    if (!subsystem)
        yk_building_refuse(&builder->building,
                           yk_refuse_null(builder->building.context, __func__, "subsystem"));

    /* Check names last. */
    if (builder->building.status == YK_OK)
        check_names(builder);
    yk_status status = yk_building_finish(&builder->building);

    /* Create the channel names now, because a missing memory cannot be reported when channels are
     * read. */
    if (status == YK_OK)
        status = yk_world_name_channels(builder->world);
    if (status == YK_OK) {
        *subsystem = yk_nonsmooth_subsystem(builder->world);
        builder->world = NULL;
    }

    /* The subsystem owns the world now, or the world is destroyed with the builder. */
    yk_nonsmooth_discard(builder);
    return status;
}

yk_subsystem *yk_nonsmooth_create_or_null(yk_nonsmooth_builder *builder)
{
    yk_subsystem *subsystem;
    yk_nonsmooth_create(builder, &subsystem);
    return subsystem;
}

void yk_nonsmooth_discard(yk_nonsmooth_builder *builder)
{
    if (!builder)
        return;

    yk_nonsmooth_destroy(builder->world);
    yk_free(builder->building.context, builder);
}
