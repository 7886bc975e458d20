#include "analysis/run.h"

#include <math.h>

#include "math/vec3.h"

static yk_vec3 to_system(const yk_transform *t, yk_vec3 x)
{
    return yk_v3_add(t->position, yk_q_rotate(t->orientation, yk_v3_scale(t->length_unit, x)));
}

static yk_status fill_bodies(yk_scene *scene)
{
    /* Buffers for the largest subsystem; the poses are used in every frame. */
    size_t largest = 0;
    for (int m = 0; m < scene->moving_count; m++)
        if ((size_t)scene->moving[m].count > largest)
            largest = (size_t)scene->moving[m].count;
    yk_scene_body *list = yk_allocate(scene->context, largest + 1, sizeof *list);
    scene->poses = yk_allocate(scene->context, largest + 1, sizeof *scene->poses);
    if (!list || !scene->poses) {
        yk_free(scene->context, list);
        return YK_ERROR_MEMORY;
    }

    for (int m = 0; m < scene->moving_count; m++) {
        /* The present pose of each body, in the axes of the system. */
        const struct moving *moving = &scene->moving[m];
        const yk_scene_ops *ops = moving->subsystem->ops->scene;
        ops->bodies(moving->subsystem, list, moving->count);
        ops->poses(moving->subsystem, scene->poses);

        /* A merged subsystem has parts, each a subsystem of the scenario. */
        int part = -1;
        int subsystem = 0;

        for (int i = 0; i < moving->count; i++) {
            for (int k = 0; list[i].part_index != part && k < scene->info->subsystem_count; k++) {
                int number;
                yk_transform transform;
                const yk_subsystem *shown = yk_system_visible_subsystem(
                    scene->system, (yk_subsystem_id){k}, &number, &transform);
                if (shown != moving->subsystem || number != list[i].part_index)
                    continue;

                subsystem = k;
                break;
            }

            part = list[i].part_index;

            /* Bodies that are absent at the start appear in frames only. */
            yk_scene_pose *pose = &scene->poses[i];
            if (!yk_v3_finite(pose->position))
                pose->position = yk_v3(0, 0, 0);
            scene->bodies[moving->first + i] = (yk_record_body){
                .name = list[i].name,
                .subsystem = subsystem,
                .motion = list[i].motion,
                .has_strain = list[i].has_strain,
                .position = to_system(&moving->transform, pose->position),
                .orientation = yk_q_mul(moving->transform.orientation, pose->orientation),
            };
        }
    }

    yk_free(scene->context, list);
    return YK_OK;
}

/* Shapes keep their pose on the body, whose axes are those of the system now. Shapes on the ground
 * get the pose of the subsystem. */
static void fill_shapes(yk_scene *scene)
{
    yk_shape *shape = scene->shapes;
    for (int m = 0; m < scene->moving_count; m++) {
        const struct moving *moving = &scene->moving[m];
        const yk_transform *transform = &moving->transform;
        const yk_scene_ops *ops = moving->subsystem->ops->scene;
        ops->shapes(moving->subsystem, shape, moving->shapes);

        for (int i = 0; i < moving->shapes; i++, shape++) {
            /* In metres; on the ground also converted from the axes of the subsystem. */
            bool ends_elsewhere = shape->end_body != shape->body;
            shape->position = yk_v3_scale(transform->length_unit, shape->position);
            shape->size = yk_v3_scale(transform->length_unit, shape->size);
            if (shape->body == YK_SCENE_GROUND) {
                shape->position = yk_v3_add(transform->position,
                                            yk_q_rotate(transform->orientation, shape->position));
                shape->orientation = yk_q_mul(transform->orientation, shape->orientation);
            }

            if (ends_elsewhere && shape->end_body == YK_SCENE_GROUND)
                shape->size = yk_v3_add(transform->position,
                                        yk_q_rotate(transform->orientation, shape->size));

            /* Bodies are numbered over all subsystems. */
            if (shape->body != YK_SCENE_GROUND)
                shape->body += moving->first;
            if (shape->end_body != YK_SCENE_GROUND)
                shape->end_body += moving->first;
        }
    }
}

/* Points of hulls in metres, in their own memory; then connections between the subsystems. */
static yk_status fill_points_and_links(yk_scene *scene)
{
    size_t points = 0;
    for (int i = 0; i < scene->record.shape_count; i++)
        points += (size_t)scene->shapes[i].point_count;

    scene->points = yk_allocate(scene->context, points + 1, sizeof *scene->points);
    if (!scene->points)
        return YK_ERROR_MEMORY;

    /* Shape by shape, in the order of their owners. */
    yk_vec3 *to = scene->points;
    yk_shape *shape = scene->shapes;

    for (int m = 0; m < scene->moving_count; m++) {
        const struct moving *moving = &scene->moving[m];

        for (int i = 0; i < moving->shapes; i++, shape++) {
            const yk_vec3 *from = shape->points;
            shape->points = to;
            for (int k = 0; k < shape->point_count; k++)
                *to++ = yk_v3_scale(moving->transform.length_unit, from[k]);
        }
    }

    /* Interfaces first, then wires. */
    const yk_scenario_info *info = scene->info;
    int count = 0;

    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        const yk_subsystem *side = info->subsystems[def->wrench_subsystem.index];
        const yk_port *ports;
        side->ops->ports(side, &ports);
        yk_connection_kind kind = YK_CONNECTION_SCALAR;
        if (ports[def->wrench_port.index].kind == YK_PORT_MARKER)
            kind = YK_CONNECTION_MARKERS;
        scene->links[count++] = (yk_record_connection){def->name, kind, def->wrench_subsystem.index,
                                                       def->motion_subsystem.index};
    }

    for (int i = 0; i < info->wire_count; i++) {
        const yk_wire_def *def = &info->wires[i];
        scene->links[count++] =
            (yk_record_connection){def->name, YK_CONNECTION_WIRE, def->source_subsystem.index,
                                   def->target_subsystem.index};
    }

    return YK_OK;
}

/* Monitored channels of a subsystem, in the order of YK_FRAME_MONITOR; its energy is not a channel. */
static const char *const told_names[YK_MONITOR_SUBSYSTEM_VALUES] = {
    "", "contact_residual", "unsolved_step_fraction", "max_prescribed_penetration"};

yk_status yk_scene_open(yk_context *context, const yk_system *system, const yk_scenario_info *info,
                        const yk_watch *watch, int contacts, yk_scene *scene)
{
    *scene = (yk_scene){.context = context, .system = system, .info = info, .watch = watch};
    yk_record_scene *record = &scene->record;
    size_t capacity = (size_t)info->subsystem_count;
    scene->moving = yk_allocate(context, capacity, sizeof *scene->moving);
    scene->told = yk_allocate(context, YK_MONITOR_SUBSYSTEM_VALUES * capacity, sizeof *scene->told);
    if (!scene->moving || !scene->told)
        return YK_ERROR_MEMORY;

    /* Contact data that each subsystem reports. */
    for (int i = 0; i < info->subsystem_count; i++)
        for (int k = 0; k < YK_MONITOR_SUBSYSTEM_VALUES; k++)
            scene->told[YK_MONITOR_SUBSYSTEM_VALUES * i + k] =
                yk_watch_find(info, i, told_names[k]);

    /* Moving objects. Merged subsystems appear once, as a whole. */
    for (int i = 0; i < info->subsystem_count; i++) {
        int part;
        yk_transform transform;
        const yk_subsystem *shown =
            yk_system_visible_subsystem(system, (yk_subsystem_id){i}, &part, &transform);
        const yk_scene_ops *ops = shown->ops->scene;
        bool known = false;
        for (int k = 0; k < scene->moving_count; k++)
            known = known || scene->moving[k].subsystem == shown;
        if (!ops || known)
            continue;

        int bodies = ops->bodies(shown, NULL, 0);
        int shapes = ops->shapes(shown, NULL, 0);
        int points = 0;
        if (shown->ops->contact_points)
            points = shown->ops->contact_points->list(shown, NULL, 0);
        if (points > contacts)
            points = contacts;
        scene->moving[scene->moving_count++] =
            (struct moving){shown, transform, record->body_count, bodies, shapes, points};
        record->body_count += bodies;
        record->shape_count += shapes;
        record->contact_count += points;

        /* Up is opposite to the first gravity found. */
        yk_vec3 gravity = yk_q_rotate(transform.orientation, ops->gravity(shown));
        bool first = yk_v3_norm(record->up) == 0;
        if (first && yk_v3_norm(gravity) > 0)
            record->up = yk_v3_scale(-1 / yk_v3_norm(gravity), gravity);
    }

    /* Without gravity the z axis is up. */
    if (yk_v3_norm(record->up) == 0)
        record->up = yk_v3(0, 0, 1);

    /* Names and lists of the record. */
    record->subsystems = info->subsystem_names;
    record->solvers = info->subsystem_solvers;
    record->subsystem_count = info->subsystem_count;
    record->monitor_version = YK_MONITOR_VERSION;
    record->connection_count = info->interface_count + info->wire_count;
    scene->bodies = yk_allocate(context, (size_t)record->body_count + 1, sizeof *scene->bodies);
    scene->shapes = yk_allocate(context, (size_t)record->shape_count + 1, sizeof *scene->shapes);
    scene->links = yk_allocate(context, (size_t)record->connection_count + 1, sizeof *scene->links);
    scene->contacts =
        yk_allocate(context, (size_t)record->contact_count + 1, sizeof *scene->contacts);
    if (!scene->bodies || !scene->shapes || !scene->links || !scene->contacts)
        return YK_ERROR_MEMORY;

    record->bodies = scene->bodies;
    record->shapes = scene->shapes;
    record->connections = scene->links;

    yk_status status = fill_bodies(scene);
    if (status != YK_OK)
        return status;

    fill_shapes(scene);
    status = fill_points_and_links(scene);
    if (status != YK_OK)
        return status;

    scene->frame =
        yk_allocate(context, yk_scene_frame_value_count(record) + 1, sizeof *scene->frame);
    if (!scene->frame)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

void yk_scene_close(yk_scene *scene)
{
    yk_free(scene->context, scene->moving);
    yk_free(scene->context, scene->told);
    yk_free(scene->context, scene->bodies);
    yk_free(scene->context, scene->shapes);
    yk_free(scene->context, scene->links);
    yk_free(scene->context, scene->points);
    yk_free(scene->context, scene->poses);
    yk_free(scene->context, scene->contacts);
    yk_free(scene->context, scene->frame);
    *scene = (yk_scene){0};
}

static float *put_vector(float *to, yk_vec3 v)
{
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
    return to + 3;
}

void yk_scene_read(yk_scene *scene)
{
    /* The tables one after another, see yk_frame_table. */
    const yk_record_scene *record = &scene->record;
    float *position = scene->frame;
    float *orientation = position + yk_scene_table_value_count(record, YK_FRAME_POSITION);
    float *strain = orientation + yk_scene_table_value_count(record, YK_FRAME_ORIENTATION);
    float *wrench = strain + yk_scene_table_value_count(record, YK_FRAME_STRAIN);

    for (int m = 0; m < scene->moving_count; m++) {
        /* Poses of movable bodies, and the strain of deformable ones. */
        const struct moving *moving = &scene->moving[m];
        const yk_transform *transform = &moving->transform;
        moving->subsystem->ops->scene->poses(moving->subsystem, scene->poses);

        for (int i = 0; i < moving->count; i++) {
            const yk_record_body *body = &scene->bodies[moving->first + i];
            const yk_scene_pose *pose = &scene->poses[i];
            if (body->motion != YK_SCENE_MOTION_FIXED)
                position = put_vector(position, to_system(transform, pose->position));

            if (body->motion == YK_SCENE_MOTION_FULL) {
                yk_quat q = yk_q_mul(transform->orientation, pose->orientation);
                *orientation++ = (float)q.w;
                orientation = put_vector(orientation, yk_v3(q.x, q.y, q.z));
            }

            if (body->has_strain)
                *strain++ = (float)pose->strain;
        }
    }

    /* Wrenches on the wrench sides. */
    for (int i = 0; i < scene->info->interface_count; i++) {
        if (scene->links[i].kind != YK_CONNECTION_MARKERS)
            continue;

        const yk_interface_def *def = &scene->info->interfaces[i];
        const yk_port_value *value =
            yk_system_port_value(scene->system, def->wrench_subsystem, def->wrench_port);
        wrench = put_vector(wrench, value->motion.position);
        wrench = put_vector(wrench, value->wrench.force);
        wrench = put_vector(wrench, value->wrench.torque);
    }

    /* Monitored values: of subsystems the energy created by integration, and their contact data;
     * ... */
    float *watch = wrench;
    for (int i = 0; i < scene->info->subsystem_count; i++) {
        yk_energy_balance balance = yk_system_energy_balance(scene->system, (yk_subsystem_id){i});
        *watch++ = balance.known ? (float)balance.numerical : NAN;
        for (int k = 1; k < YK_MONITOR_SUBSYSTEM_VALUES; k++) {
            int channel = scene->told[YK_MONITOR_SUBSYSTEM_VALUES * i + k];
            double value = NAN;
            if (channel >= 0)
                yk_system_read_channel(scene->system, (yk_subsystem_id){i}, channel, &value);
            *watch++ = (float)value;
        }
    }

    /* ... of interfaces gaps, energies and oscillations; and iterations. */
    for (int i = 0; i < scene->info->interface_count; i++) {
        yk_interface_gap gap = yk_system_interface_gap(scene->system, (yk_interface_id){i});
        *watch++ = (float)gap.position;
        *watch++ = (float)gap.rotation;
        *watch++ = (float)gap.velocity;
        *watch++ = (float)gap.angular_velocity;
        *watch++ = (float)yk_system_interface_statistics(scene->system, (yk_interface_id){i})
                       .energy_created;
        double swing = NAN;
        if (i < scene->watch->count)
            swing = scene->watch->interfaces[i].ripple.swing;
        *watch++ = (float)swing;
    }

    *watch++ = (float)yk_system_get_statistics(scene->system).last_iterations;

    /* Contacts of each subsystem, zero after the last. */
    float *contact = watch;
    for (int m = 0; m < scene->moving_count; m++) {
        const struct moving *moving = &scene->moving[m];
        const yk_transform *transform = &moving->transform;
        if (moving->contacts == 0)
            continue;
        int count = moving->subsystem->ops->contact_points->list(moving->subsystem, scene->contacts,
                                                                 moving->contacts);
        double newton = transform->mass_unit * transform->length_unit; /* N per unit of force */
        for (int i = 0; i < moving->contacts; i++) {
            yk_contact_point p = {.point = {0, 0, 0}};
            if (i < count) {
                p = scene->contacts[i];
                p.point = to_system(transform, p.point);
                p.normal = yk_q_rotate(transform->orientation, p.normal);
                p.force = yk_q_rotate(transform->orientation, yk_v3_scale(newton, p.force));
            }
            contact = put_vector(contact, p.point);
            contact = put_vector(contact, p.normal);
            contact = put_vector(contact, p.force);
        }
    }
}
