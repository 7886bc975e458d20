/* The builder of yoke/nonsmooth.h: parts go straight into a world that has not started; the first
 * mistake is kept until the subsystem is asked for. */
#include <string.h>

#include "nonsmooth/builder.h"
#include "nonsmooth/packing.h"
#include "nonsmooth/world.h"

enum { MESSAGE_LENGTH = 512 };

struct yk_nonsmooth_builder {
    yk_context *context;
    yk_nonsmooth *world;
    yk_status status; /* of the first mistake */
    char message[MESSAGE_LENGTH];
};

yk_nonsmooth_builder *yk_nonsmooth_begin(yk_context *context, const yk_nonsmooth_def *def)
{
    yk_nonsmooth_builder *builder = yk_allocate(context, 1, sizeof *builder);
    if (!builder)
        return NULL;
    builder->context = context;
    if (yk_world_create(context, def, &builder->world) == YK_OK)
        return builder;
    yk_release(context, builder);
    return NULL;
}

/* The id of what was added, or a status whose message the context has. */
static int taken(yk_nonsmooth_builder *builder, int result)
{
    if (result >= 0)
        return result;
    if (builder->status == YK_OK) {
        builder->status = (yk_status)result;
        strncpy(builder->message, yk_last_message(builder->context), MESSAGE_LENGTH - 1);
    }
    return YK_NO_ID;
}

/* Whether a part cannot be added because of a body that could not: that was reported. */
static bool missing(const yk_nonsmooth_builder *builder, const int *body, int count)
{
    if (!builder)
        return true;
    for (int i = 0; i < count; i++)
        if (body[i] == YK_NO_ID && builder->status != YK_OK)
            return true;
    return false;
}

int yk_nonsmooth_add_body(yk_nonsmooth_builder *builder, const yk_nonsmooth_body_def *def)
{
    return builder ? taken(builder, yk_world_add_body(builder->world, def)) : YK_NO_ID;
}

int yk_nonsmooth_add_shape(yk_nonsmooth_builder *builder, const yk_nonsmooth_shape_def *def)
{
    if (missing(builder, &def->body, 1))
        return YK_NO_ID;
    return taken(builder, yk_world_add_shape(builder->world, def));
}

int yk_nonsmooth_add_joint(yk_nonsmooth_builder *builder, const yk_joint_def *def)
{
    if (missing(builder, def->body, 2))
        return YK_NO_ID;
    return taken(builder, yk_world_add_joint(builder->world, def));
}

int yk_nonsmooth_add_force(yk_nonsmooth_builder *builder, const yk_force_def *def)
{
    if (missing(builder, def->body, 2))
        return YK_NO_ID;

    /* The world counts signals apart from the ports before them. */
    yk_force_def force = *def;
    int ports = (int)builder->world->model.port_count;
    if (force.input >= 0 && force.input < ports)
        return taken(builder,
                     yk_fail(builder->context, YK_ERROR_ARGUMENT,
                             "the input of force '%s' is no signal port of the model", def->name));
    if (force.input >= 0)
        force.input -= ports;
    return taken(builder, yk_world_add_force(builder->world, &force));
}

int yk_nonsmooth_add_port(yk_nonsmooth_builder *builder, const yk_port_def *def)
{
    if (missing(builder, def->body, 2))
        return YK_NO_ID;

    yk_nonsmooth *world = builder->world;
    if (def->kind == YK_PORT_SIGNAL) {
        int signal = taken(builder, yk_world_add_signal(world, def->name));
        return signal < 0 ? signal : (int)world->model.port_count + signal;
    }
    if (world->model.signal_count > 0)
        return taken(builder,
                     yk_fail(builder->context, YK_ERROR_ARGUMENT,
                             "port '%s': add it before the signals", def->name ? def->name : ""));
    if (def->kind == YK_PORT_SCALAR)
        return taken(builder, yk_world_add_line_port(world, def->name, def->body, def->marker));
    return taken(builder, yk_world_add_port(world, def->name, def->body[0], &def->marker[0]));
}

int yk_nonsmooth_add_sphere(yk_nonsmooth_builder *builder, yk_vec3 position, double radius,
                            double density, yk_material material)
{
    if (!builder)
        return YK_NO_ID;
    return taken(builder, yk_world_add_sphere(builder->world, position, radius, density, material));
}

void yk_nonsmooth_prescribe(yk_nonsmooth_builder *builder, int body, yk_motion_function function,
                            void *user)
{
    if (!missing(builder, &body, 1))
        taken(builder, yk_world_prescribe(builder->world, body, function, user));
}

void yk_nonsmooth_prescribe_path(yk_nonsmooth_builder *builder, int body,
                                 const yk_nonsmooth_path *path)
{
    if (!missing(builder, &body, 1))
        taken(builder, yk_world_prescribe_path(builder->world, body, path));
}

/* Particles ------------------------------------------------------------------------------------ */

yk_particles_def yk_particles_default(void)
{
    return (yk_particles_def){.packing = yk_packing_default()};
}

int yk_nonsmooth_add_packing(yk_nonsmooth_builder *builder, const yk_packing *packing,
                             const yk_particles_def *def)
{
    const yk_packing_def *of = &def->packing;
    yk_nonsmooth *world = builder->world;
    int first =
        taken(builder, yk_packing_add(world, packing, def->position, of->density, of->material));

    if (first < 0)
        return first;

    /* All begin as parts of one rigid body: particles at rest in a container that moves. */
    for (int i = first; i < yk_nonsmooth_body_count(world); i++) {
        yk_motion motion;
        yk_nonsmooth_body_motion(world, i, &motion);
        yk_vec3 arm = yk_v3_sub(motion.position, def->position);
        motion.velocity = yk_v3_add(def->velocity, yk_v3_cross(def->angular_velocity, arm));
        motion.angular_velocity = def->angular_velocity;
        yk_nonsmooth_set_motion(world, i, &motion);
    }

    return first;
}

int yk_nonsmooth_add_particles(yk_nonsmooth_builder *builder, const yk_particles_def *def)
{
    if (!builder)
        return YK_NO_ID;

    yk_packing packing = {0};
    yk_status status;
    if (def->settled) {
        status = yk_packing_make(builder->context, &def->packing, &packing);
    } else {
        status = yk_packing_lattice(builder->context, &def->packing, &packing);
    }
    if (status != YK_OK)
        return taken(builder, status);

    int first = yk_nonsmooth_add_packing(builder, &packing, def);
    yk_packing_destroy(builder->context, &packing);
    return first;
}

/* The whole ------------------------------------------------------------------------------------ */

yk_nonsmooth *yk_nonsmooth_world_of(yk_nonsmooth_builder *builder)
{
    return builder->world;
}

yk_status yk_nonsmooth_create(yk_nonsmooth_builder *builder, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    if (!builder)
        return YK_ERROR_MEMORY;

    yk_status status = builder->status;
    if (status == YK_OK) {
        *subsystem = yk_nonsmooth_subsystem(builder->world);
        builder->world = NULL;
    } else {
        yk_fail(builder->context, status, "%s", builder->message);
    }
    yk_nonsmooth_discard(builder);
    return status;
}

void yk_nonsmooth_discard(yk_nonsmooth_builder *builder)
{
    if (!builder)
        return;
    yk_nonsmooth_destroy(builder->world);
    yk_release(builder->context, builder);
}
