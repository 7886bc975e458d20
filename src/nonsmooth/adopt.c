/* Mechanisms of rigid bodies of other solvers as worlds, so that they can be merged with worlds.
 *
 * Bodies, joints, forces and ports keep their numbers. A body of a world has its frame in its center
 * of mass, so that markers are shifted. Gravity of a world is the same everywhere: a mechanism with
 * another one gets the difference as a force on each body. */
#include "mechanics/force.h"
#include "mechanics/joint.h"
#include "mechanics/rigid_parts.h"
#include "nonsmooth/world.h"

/* A marker of the described body in the frame of its center of mass. */
static yk_marker shifted(const yk_rigid_parts *parts, yk_body_id body, yk_marker marker)
{
    if (yk_body_is_valid(body) && body.index < parts->body_count)
        marker.offset = yk_v3_sub(marker.offset, parts->bodies[body.index].center_of_mass);
    return marker;
}

static yk_status add_bodies(yk_nonsmooth *world, const yk_rigid_parts *parts)
{
    yk_vec3 *origins = yk_allocate(world->context, (size_t)parts->body_count + 1, sizeof *origins);
    if (!origins)
        return YK_ERROR_MEMORY;

    world->model.origins = origins;
    for (int i = 0; i < parts->body_count; i++) {
        const yk_rigid_part *part = &parts->bodies[i];
        yk_vec3 arm = yk_q_rotate(part->orientation, part->center_of_mass);

        /* Bodies without a name would be particles. */
        yk_nonsmooth_body_def def =
            yk_nonsmooth_body_named(part->name ? part->name : "", part->mass, part->inertia,
                                    yk_v3_add(part->position, arm));
        def.orientation = part->orientation;
        def.velocity = yk_v3_add(part->velocity, yk_v3_cross(part->angular_velocity, arm));
        def.angular_velocity = part->angular_velocity;
        origins[i] = yk_v3_neg(part->center_of_mass);
        if (yk_world_add_body(world, &def) == YK_NO_ID)
            return yk_last_status(world->context);
    }

    return YK_OK;
}

/* Ports and signals, each at its place in the described list. */
static yk_status add_ports(yk_nonsmooth *world, const yk_rigid_parts *parts)
{
    yk_world_model *model = &world->model;
    for (int i = 0; i < parts->port_count; i++) {
        const yk_port_def *def = &parts->ports[i];
        if (def->kind == YK_PORT_SIGNAL) {
            if (yk_world_add_signal(world, def->name) == YK_NO_ID)
                return yk_last_status(world->context);
            continue;
        }

        yk_marker markers[2];
        for (int side = 0; side < 2; side++)
            markers[side] = shifted(parts, def->bodies[side], def->markers[side]);
        int id = def->kind == YK_PORT_SCALAR
                     ? yk_world_add_line_port(world, def->name, def->bodies, markers)
                     : yk_world_add_port(world, def->name, def->bodies[0].index, &markers[0]);
        if (id == YK_NO_ID)
            return yk_last_status(world->context);
    }

    /* Places are set when all ports exist. */
    size_t port = 0, signal = 0;
    for (int i = 0; i < parts->port_count; i++) {
        if (parts->ports[i].kind == YK_PORT_SIGNAL)
            model->signals[signal++].place = i + 1;
        else
            model->ports[port++].place = i + 1;
    }

    return yk_world_list_ports(model);
}

static yk_status add_joints(yk_nonsmooth *world, const yk_rigid_parts *parts)
{
    for (int i = 0; i < parts->joint_count; i++) {
        yk_joint_def def = parts->joints[i];
        for (int side = 0; side < 2; side++)
            def.markers[side] = shifted(parts, def.bodies[side], def.markers[side]);
        if (yk_world_add_joint(world, &def) == YK_NO_ID)
            return yk_last_status(world->context);
    }

    return YK_OK;
}

static yk_status add_forces(yk_nonsmooth *world, const yk_rigid_parts *parts)
{
    for (int i = 0; i < parts->force_count; i++) {
        yk_force_def def = parts->forces[i];
        for (int side = 0; side < 2; side++)
            def.markers[side] = shifted(parts, def.bodies[side], def.markers[side]);

        /* Signals are numbered apart from ports. */
        if (yk_port_is_valid(def.signal_port)) {
            int signal = 0;
            for (int k = 0; k < def.signal_port.index; k++)
                signal += parts->ports[k].kind == YK_PORT_SIGNAL;
            def.signal_port.index = signal;
        }
        if (yk_world_add_force(world, &def) == YK_NO_ID)
            return yk_last_status(world->context);
    }

    /* The difference of gravity. */
    yk_vec3 difference = yk_v3_sub(parts->gravity, world->model.def.gravity);
    for (int i = 0; i < parts->body_count && yk_v3_norm(difference) > 0; i++) {
        yk_force_def def = yk_force_default();
        def.bodies[1] = (yk_body_id){i};
        def.vector = yk_v3_scale(parts->bodies[i].mass, difference);
        if (yk_world_add_force(world, &def) == YK_NO_ID)
            return yk_last_status(world->context);
    }

    return YK_OK;
}

yk_status yk_nonsmooth_adopt(yk_context *context, const yk_nonsmooth_def *like,
                             const yk_subsystem *part, yk_nonsmooth **made)
{
    *made = NULL;
    yk_rigid_parts parts;
    yk_status status = part->ops->rigid_parts->describe(part, &parts);
    if (status != YK_OK)
        return status;

    yk_nonsmooth *world = NULL;
    status = yk_world_create(context, like, &world);
    if (status == YK_OK)
        status = add_bodies(world, &parts);
    if (status == YK_OK)
        status = add_ports(world, &parts);
    if (status == YK_OK)
        status = add_joints(world, &parts);
    if (status == YK_OK)
        status = add_forces(world, &parts);
    yk_free(context, parts.bodies);
    if (status != YK_OK) {
        yk_nonsmooth_destroy(world);
        return status;
    }

    *made = world;
    return YK_OK;
}
