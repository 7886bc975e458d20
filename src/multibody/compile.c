/* Compiles the def and the connections of the ports to the arrays of the solver: frames with their
 * inertia, elements between frames, numbered unknowns and rows, and typical scales of the model. */
#include <stdio.h>

#include "multibody/multibody.h"

yk_beam_def yk_multibody_beam_shape(const yk_multibody_description *def,
                                    const yk_multibody_beam_def *beam)
{
    yk_beam_def shape = {.section = {beam->sections[0], beam->sections[1]}};
    for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
        yk_multibody_node_def node = yk_multibody_start_pose(def, beam->nodes[k].index);
        shape.position[k] = node.position;
        shape.orientation[k] = node.orientation;
        shape.offset[k] = beam->offsets[k];
        shape.section_frame[k] = beam->section_orientations[k];
    }

    return shape;
}

/* A typical size: the largest arm of a marker or distance between the ends of a joint, otherwise
 * the spread of the nodes, or 1 m. */
static double length_scale(const yk_multibody_description *def)
{
    double length = 0;

    /* Arms of joints, and distances over which joints connect bodies. */
    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        for (int side = 0; side < 2; side++) {
            if (joint->bodies[side].index >= 0)
                length = fmax(length, yk_v3_norm(joint->markers[side].offset));
        }
        if (joint->bodies[0].index < 0 || joint->bodies[1].index < 0)
            continue;

        yk_vec3 a = yk_multibody_start_pose(def, joint->bodies[0].index).position;
        yk_vec3 b = yk_multibody_start_pose(def, joint->bodies[1].index).position;
        length = fmax(length, yk_v3_norm(yk_v3_sub(a, b)));
    }

    /* Beams and flexible bodies have their own lengths. */
    for (int i = 0; i < def->beam_count; i++) {
        const yk_body_id *node = def->beams[i].nodes;
        if (node[0].index < 0 || node[2].index < 0)
            continue;

        yk_vec3 along =
            yk_v3_sub(def->nodes[node[0].index].position, def->nodes[node[2].index].position);
        length = fmax(length, yk_v3_norm(along));
    }

    for (int i = 0; i < def->flexible_count; i++)
        length = fmax(length, def->flexibles[i].body->length);
    if (length > 0)
        return length;

    /* Bodies without joints: their spread. */
    for (int i = 1; i < def->node_count; i++) {
        yk_vec3 apart = yk_v3_sub(def->nodes[i].position, def->nodes[0].position);
        length = fmax(length, yk_v3_norm(apart));
    }

    return length > 0 ? length : 1 / def->length_unit;
}

/* Beams as elements. Portions of their mass become bodies on their nodes. */
static yk_status compile_beams(yk_multibody_model *model)
{
    const yk_multibody_description *def = &model->def;
    model->beams = yk_allocate(model->context, (size_t)def->beam_count, sizeof *model->beams);
    if (!model->beams)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < def->beam_count; i++) {
        const yk_multibody_beam_def *beam = &def->beams[i];
        yk_beam_def shape = yk_multibody_beam_shape(def, beam);
        beam_model *made = &model->beams[i];

        made->name = beam->name;
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++)
            made->node[k] = yk_multibody_frame_of(model, beam->nodes[k].index);

        /* The element gives the reason, but does not know its name. */
        yk_status status = yk_beam_create(model->context, &shape, &made->beam);
        if (status != YK_OK) {
            char reason[256];
            snprintf(reason, sizeof reason, "%s", yk_last_message(model->context));
            return yk_fail(model->context, status, "%s: '%s': %s", def->name, beam->name, reason);
        }

        /* Portions of its mass on the nodes. */
        yk_inertia lump[YK_BEAM_NODE_COUNT];
        yk_beam_lumps(&shape, lump);
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
            if (lump[k].mass > 0)
                yk_inertia_add(&model->nodes[made->node[k]].inertia, &lump[k]);
        }
    }

    return YK_OK;
}

/* Frames and the inertia on them; from it the typical mass and radius of gyration. */
static yk_status compile_nodes(yk_multibody_model *model)
{
    const yk_multibody_description *def = &model->def;
    int drivers = 0;

    /* Frames: the nodes, the ground, one for each marker whose motion is prescribed,
     * attachments. */
    for (int i = 0; i < def->port_count; i++) {
        const port_model *port = &model->ports[i];
        drivers += port->causality == YK_CAUSALITY_MOTION_INPUT && port->def.kind == YK_PORT_MARKER;
    }

    model->node_count = def->node_count;
    model->attachment_first = def->node_count + 1 + drivers;
    model->frame_count = model->attachment_first + def->attachment_count;
    model->nodes = yk_allocate(model->context, (size_t)model->frame_count, sizeof *model->nodes);
    if (!model->nodes)
        return YK_ERROR_MEMORY;

    /* Nodes have unknowns; other frames follow something else. */
    for (int i = 0; i < model->frame_count; i++) {
        node_model *node = &model->nodes[i];
        *node = (node_model){.name = "ground", .unknown = -1, .attachment = -1};
        if (i >= model->attachment_first)
            node->attachment = i - model->attachment_first;
        if (i >= def->node_count)
            continue;

        node->name = def->nodes[i].name;
        node->unknown = 6 * i;
        node->keep = def->nodes[i].keep_initial_pose;
    }

    /* Sum bodies and beams to the inertia of their nodes. */
    for (int i = 0; i < def->body_count; i++) {
        const yk_multibody_body_def *body = &def->bodies[i];
        yk_inertia part = yk_inertia_of_body(body->mass, body->center_of_mass, body->inertia,
                                             body->inertia_orientation);
        yk_inertia_add(&model->nodes[body->node.index].inertia, &part);
    }

    yk_status status = compile_beams(model);
    if (status != YK_OK)
        return status;

    /* A mass without inertia (a point) would leave its rotation undetermined. It gets the inertia
     * of a small ball whose radius is 1e-5 of the length scale. */
    double radius = 1e-5 * model->length_scale;
    for (int i = 0; i < model->node_count; i++) {
        node_model *node = &model->nodes[i];
        yk_inertia *inertia = &node->inertia;
        double least = inertia->mass * radius * radius;
        bool point = inertia->mass != 0 && yk_inertia_least(inertia) < least;
        if (point)
            node->substitute = least;
        for (int k = 0; k < 3 && point; k++)
            inertia->tensor.m[k][k] += least;

        node->massive = inertia->mass > 0;
        node->eccentric = yk_v3_norm2(inertia->moment) > 0;
    }

    /* The typical mass is the mean of all bodies. */
    double mass = 0;
    double square = 0;
    int massive = 0;
    for (int i = 0; i < model->node_count; i++) {
        const yk_inertia *inertia = &model->nodes[i].inertia;
        mass += inertia->mass;
        massive += inertia->mass > 0;
        for (int k = 0; k < 3; k++)
            square += inertia->tensor.m[k][k] / 3;
    }

    for (int i = 0; i < def->flexible_count; i++) {
        const yk_flexible *body = def->flexibles[i].body;
        mass += yk_flexible_mass(body);
        massive += body->kind == YK_FLEXIBLE_ROD ? body->elements : 1;
        if (body->kind == YK_FLEXIBLE_ROD)
            continue;

        yk_inertia inertia = yk_ffrf_inertia(&body->modal, NULL);
        for (int k = 0; k < 3; k++)
            square += inertia.tensor.m[k][k] / 3;

        /* Floating frames carry mass, and their origin is not its center. */
        node_model *node = &model->nodes[def->flexibles[i].node];
        node->massive = node->eccentric = true;
    }

    model->mass_scale = massive ? mass / massive : 1;
    model->gyration = square > 0 ? sqrt(square / mass) : model->length_scale;

    return YK_OK;
}

/* Joints --------------------------------------------------------------------------------------- */

/* A marker port that receives motion is connected to a prescribed frame. Its own axes define the
 * motions. */
yk_joint yk_multibody_joint_of_port(const port_model *port)
{
    yk_marker origin = yk_marker_default();
    return yk_joint_of_axes(port->constrained, &port->def.markers[0], &origin);
}

static joint_model *add_joint(yk_multibody_model *model, const char *name, yk_joint joint, int a,
                              int b)
{
    joint_model *made = &model->joints[model->joint_count++];
    *made = (joint_model){.name = name,
                          .joint = joint,
                          .row = model->row_count,
                          .port = -1,
                          .signal = -1,
                          .angle = -1};
    made->node[0] = a;
    made->node[1] = b;
    made->chained = model->nodes[a].attachment >= 0 || model->nodes[b].attachment >= 0;
    model->row_count += joint.row_count;

    /* Possible stiffness blocks of its rows. */
    for (int r = 0; r < joint.row_count; r++) {
        unsigned bits = yk_row_stiffness_mask(&joint.row[r]);

        /* At attachments of flexible bodies, joints of coinciding points have no lever arms if
         * their markers are at the origins. */
        for (int side = 0; side < 2 && made->chained; side++) {
            int torque = 2 * side + 1;
            bool arm = yk_v3_norm2(joint.offset[side]) > 0;
            if (joint.row[r].kind == YK_ROW_POINT && !arm)
                bits &= ~(1u << (4 * torque + torque));
        }

        made->stiffness_mask |= bits;
    }

    return made;
}

/* Rotation of a marker and its body at the start, and the place of the marker. */
static yk_frame start_frame(const yk_multibody_description *def, int body)
{
    if (body == YK_GROUND_INDEX)
        return yk_frame_ground();

    yk_multibody_node_def node = yk_multibody_start_pose(def, body);
    return (yk_frame){.position = node.position,
                      .rotation = yk_q_matrix(yk_q_unit(node.orientation)),
                      .velocity = node.velocity,
                      .angular_velocity = node.angular_velocity};
}

/* Number of an angle that the state counts. */
static int add_angle(yk_multibody_model *model, double start)
{
    model->angle_start[model->angle_count] = start;
    return model->angle_count++;
}

/* A term of a coupling: its equation is that of the first term, which has the sum at the start. The
 * terms of a coupling follow each other. */
static void add_term(yk_multibody_model *model, int index, joint_model *made)
{
    const yk_multibody_description *def = &model->def;
    const yk_joint_def *joint = &def->joints[index];
    if (!yk_joint_traits_of(joint->kind)->coupled)
        return;

    joint_model *first = &model->joints[index];
    if (joint->adds_to.index != YK_NO_ID) {
        first = &model->joints[joint->adds_to.index];
        made->adds = true;
        model->row_count -= made->joint.row_count;
        made->row = first->row;
    }

    yk_frame a = start_frame(def, joint->bodies[0].index);
    yk_frame b = start_frame(def, joint->bodies[1].index);
    yk_joint_kinematics kinematics;
    yk_drive none = {0};
    yk_joint_kinematics_at(&made->joint, &a, &b, &none, &kinematics);
    double value = yk_row_value(&made->joint.row[0], &kinematics);
    first->sum += value;
    if (joint->kind == YK_JOINT_COUPLED_ROTATION)
        made->angle = add_angle(model, value / joint->ratio);
}

int yk_multibody_angles_of(const yk_multibody_description *def)
{
    int count = 0;
    for (int i = 0; i < def->joint_count; i++)
        count += def->joints[i].kind == YK_JOINT_COUPLED_ROTATION;
    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        bool sum = force->adds_to.index != YK_NO_ID ||
                   (i + 1 < def->force_count && def->forces[i + 1].adds_to.index == i);
        bool angle = yk_force_traits_of(force->kind)->motion == YK_FORCE_ANGLE;
        count += angle && (sum || yk_force_of(force).has_terms);
    }

    return count;
}

bool yk_multibody_is_scalar(const force_model *force)
{
    return force->term_count != 1 ||
           (force->law.has_terms && yk_force_kind_has_coordinate(force->law.kind));
}

static yk_status compile_joints(yk_multibody_model *model)
{
    const yk_multibody_description *def = &model->def;
    model->joints = yk_allocate(model->context, (size_t)(def->joint_count + def->port_count),
                                sizeof *model->joints);
    if (!model->joints)
        return YK_ERROR_MEMORY;

    size_t angle_count = (size_t)yk_multibody_angles_of(def);
    model->angle_count = 0;
    model->angle_start = yk_allocate(model->context, angle_count, sizeof *model->angle_start);
    if (!model->angle_start)
        return YK_ERROR_MEMORY;

    model->joint_count = 0;
    model->row_count = 0;

    /* Joints of the model. */
    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        int a = yk_multibody_frame_of(model, joint->bodies[0].index);
        int b = yk_multibody_frame_of(model, joint->bodies[1].index);
        joint_model *made = add_joint(model, joint->name, yk_joint_of(joint), a, b);
        add_term(model, i, made);
        made->drive = joint->drive;
        made->drive_unit = joint->drive_scale;
        if (joint->signal_port.index != YK_NO_ID)
            made->signal = joint->signal_port.index;
        made->driven = joint->drive.evaluate != NULL || made->signal >= 0;
        if (made->adds)
            made->driven = model->joints[joint->adds_to.index].driven;
    }

    /* A motion port is a joint to a prescribed frame, or a distance that arrives with the
     * inputs. */
    int driver = model->node_count + 1;
    for (int i = 0; i < def->port_count; i++) {
        port_model *port = &model->ports[i];
        const yk_port_def *of = &port->def;
        bool scalar = of->kind == YK_PORT_SCALAR;

        for (int side = 0; side < 2; side++)
            port->node[side] = yk_multibody_frame_of(model, of->bodies[side].index);

        if (scalar)
            port->distance = yk_joint_make(YK_JOINT_DISTANCE, &of->markers[0], &of->markers[1], 0);

        /* Ports that receive wrenches add no equation. */
        port->joint = port->driver = -1;
        if (port->causality != YK_CAUSALITY_MOTION_INPUT)
            continue;

        /* The others add a joint. */
        port->joint = model->joint_count;
        joint_model *made;
        if (scalar) {
            made = add_joint(model, of->name, port->distance, port->node[0], port->node[1]);
            made->driven = true;
        } else {
            port->driver = driver++;
            made = add_joint(model, of->name, yk_multibody_joint_of_port(port), port->node[0],
                             port->driver);
        }

        made->port = i;
    }

    return YK_OK;
}

static yk_status compile_forces(yk_multibody_model *model)
{
    const yk_multibody_description *def = &model->def;
    model->forces = yk_allocate(model->context, (size_t)def->force_count, sizeof *model->forces);
    if (!model->forces)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        bool both = yk_force_kind_acts_on_both(force->kind);
        int a = yk_multibody_frame_of(model, both ? force->bodies[0].index : YK_GROUND_INDEX);
        int b = yk_multibody_frame_of(model, force->bodies[1].index);
        force_model *made = &model->forces[i];

        *made = (force_model){
            .name = force->name,
            .law = yk_force_of(force),
            .node = {a, b},
            .load = force->load,
            .feedback = force->feedback,
            .load_unit = force->load_scale,
            .input = force->signal_port.index,
        };
        made->chained = model->nodes[a].attachment >= 0 || model->nodes[b].attachment >= 0;

        /* Terms of a sum follow each other, and the law is that of the first. */
        made->term_count = force->adds_to.index == YK_NO_ID;
        made->ratio = force->ratio;
        made->angle = -1;
        if (force->adds_to.index != YK_NO_ID)
            model->forces[force->adds_to.index].term_count++;

        /* Feedbacks read channels, which were numbered at creation. */
        int first = def->force_channels ? def->force_channels[i] : 0;
        for (int k = 0; k < made->feedback.input_count; k++)
            yk_multibody_find_input(model, made->feedback.inputs[k], first, &made->channel[k],
                                    &made->component[k]);
    }

    /* Angles of laws on coordinates are counted over turns. */
    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        force_model *made = &model->forces[i];
        bool angle = yk_force_traits_of(force->kind)->motion == YK_FORCE_ANGLE;
        if (!angle || !yk_multibody_is_scalar(made))
            continue;

        yk_frame a = start_frame(def, force->bodies[0].index);
        yk_frame b = start_frame(def, force->bodies[1].index);
        double value = yk_force_coordinate_at(&made->law, &a, &b, 0).value;
        made->angle = add_angle(model, value);
    }

    return YK_OK;
}

/* Scales of unknowns and equations with which all pivots of a body have a similar size: rotations,
 * and equations on angles, as arcs of the radius of gyration; coordinates so that all have the
 * typical mass. */
static yk_status compile_scales(yk_multibody_model *model)
{
    model->coordinate_count = yk_multibody_coordinates_of(&model->def);
    model->coordinate_first = 6 * model->node_count;
    model->motion_count = model->coordinate_first + model->coordinate_count;
    model->unknown_count = model->motion_count + model->row_count;

    /* One scale per unknown, for its column and its row. */
    model->unknown_scale =
        yk_allocate(model->context, (size_t)model->unknown_count, sizeof *model->unknown_scale);
    if (!model->unknown_scale)
        return YK_ERROR_MEMORY;

    /* Rotations by the radius of gyration. */
    for (int i = 0; i < model->coordinate_first; i++) {
        bool rotation = yk_multibody_is_rotation(model, i);
        model->unknown_scale[i] = rotation ? 1 / model->gyration : 1;
    }

    /* All elements of a rod have equal masses, so use one of them; those of its second node repeat. */
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        const yk_flexible *body = of->body;
        double *scale = &model->unknown_scale[model->coordinate_first + of->coordinate];

        for (int k = 0; k < body->coordinates; k++) {
            int vector = k % (YK_ANCF_NODE + YK_ANCF_MIDDLE) / 3;
            double mass = body->element.mass[vector][vector];
            if (body->kind == YK_FLEXIBLE_MODAL)
                mass = body->modal.modal_mass[(body->modal.modes + 1) * k];
            scale[k] = sqrt(model->mass_scale / mass);
        }
    }

    /* Rows on angles likewise. */
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        double *scale = &model->unknown_scale[model->motion_count + joint->row];
        for (int r = 0; r < joint->joint.row_count; r++) {
            const yk_row *row = &joint->joint.row[r];
            bool angle =
                row->kind == YK_ROW_AXES || row->kind == YK_ROW_SPIN || row->kind == YK_ROW_ANGLE;
            if (joint->adds)
                continue;
            scale[r] = angle ? model->gyration : 1;
        }
    }

    return YK_OK;
}

/* From the def and the connections of the ports. */
static yk_status compile_model(yk_multibody_model *model)
{
    /* In the order of their dependencies. */
    model->length_scale = length_scale(&model->def);
    yk_status status = compile_nodes(model);
    if (status == YK_OK)
        status = yk_multibody_compile_flexibles(model);
    if (status == YK_OK)
        status = compile_joints(model);
    if (status == YK_OK)
        status = compile_forces(model);
    if (status == YK_OK)
        status = compile_scales(model);

    return status;
}

/* Keeps the data of creation. */
static void release_model(yk_multibody_model *model)
{
    yk_context *context = model->context;
    void *const blocks[] = {model->nodes, model->joints,        model->forces,
                            model->beams, model->unknown_scale, model->angle_start};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(context, blocks[i]);

    model->nodes = NULL;
    model->joints = NULL;
    model->forces = NULL;
    model->beams = NULL;
    model->angle_start = NULL;
    model->unknown_scale = NULL;
    yk_multibody_release_flexibles(model);
}

/* The owner of an unknown, in the order of nodes, coordinates, rows. */
const char *yk_multibody_owner(const yk_multibody_model *model, int unknown, char *buffer,
                               size_t capacity)
{
    if (unknown < model->coordinate_first) {
        snprintf(buffer, capacity, "node '%s'", model->nodes[unknown / 6].name);
        return buffer;
    }

    /* A coordinate: the last body that begins before it. */
    if (unknown < model->motion_count) {
        int coordinate = unknown - model->coordinate_first;
        int last = model->def.flexible_count - 1;
        while (last > 0 && model->flexibles[last].coordinate > coordinate)
            last--;
        const flexible_model *body = &model->flexibles[last];
        snprintf(buffer, capacity, "coordinate %d of '%s'", coordinate - body->coordinate + 1,
                 body->name);
        return buffer;
    }

    /* A row: the first joint that ends after it. */
    int row = unknown - model->motion_count;
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        if (row >= joint->row + joint->joint.row_count)
            continue;

        const char *what = joint->port >= 0 ? "port" : "joint";
        snprintf(buffer, capacity, "%s '%s'", what, joint->name);
        return buffer;
    }

    snprintf(buffer, capacity, "equation %d", unknown);
    return buffer;
}

/* The object ----------------------------------------------------------------------------------- */

void yk_multibody_release_compiled(yk_multibody *self)
{
    /* First data created on request, then data of the start. */
    yk_multibody_release_interface(self);
    yk_multibody_release_variation(self);
    yk_multibody_release_relaxation(self);
    yk_multibody_watch_release(self);
    yk_linear_solver_release(&self->model, &self->solver);
    yk_multibody_workspace_release(&self->model, &self->work);
    yk_multibody_state_release(&self->model, &self->state);
    release_model(&self->model);
    self->compiled = false;
}

yk_status yk_multibody_compile(yk_multibody *self)
{
    yk_multibody_release_compiled(self);
    yk_status status = compile_model(&self->model);
    if (status == YK_OK)
        status = yk_multibody_state_create(&self->model, &self->state);
    if (status == YK_OK)
        status = yk_multibody_workspace_create(&self->model, &self->work);
    if (status == YK_OK)
        status = yk_linear_solver_create(&self->model, &self->work, &self->solver);
    if (status == YK_OK)
        status = yk_multibody_watch_create(self);

    if (status != YK_OK)
        yk_multibody_release_compiled(self);
    self->compiled = status == YK_OK;
    return status;
}
