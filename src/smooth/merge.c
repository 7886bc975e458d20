/* Several smooth models as one: their elements one after the other in one builder, in the units and
 * axes of the whole (tight (20)), with joints where the ports were coupled. And one body alone, as free_mass of the contract asks for it. */
#include <stdio.h>

#include "smooth/internal.h"

enum { NAME_LENGTH = 96 };

/* Units and axes ------------------------------------------------------------------------------- */

/* A part of a merged model in the units and axes of the whole, paper tight (20): a point that the
 * part calls x is at p + Q (l x) of the whole, and its unit of mass is m. Everything that the def
 * names in global axes turns by Q; what it names in the axes of a node does not. The channels
 * of the part are read in its own units and axes again (channels.c). */

static yk_vec3 vector_of(const yk_transform *at, double unit, yk_vec3 v)
{
    return yk_v3_scale(unit, yk_q_rotate(at->orientation, v));
}

static yk_vec3 point_of(const yk_transform *at, yk_vec3 x)
{
    return yk_v3_add(at->position, vector_of(at, at->length, x));
}

/* Markers are fixed to a node, whose axes turn with the part, or to the ground, whose do not. `at`
 * NULL: in the units and axes of the whole. */
static void convert_marker(const yk_transform *at, int node, yk_marker *marker)
{
    if (!at)
        return;

    if (node != YK_GROUND) {
        marker->offset = yk_v3_scale(at->length, marker->offset);
        return;
    }

    marker->offset = point_of(at, marker->offset);
    marker->orientation = yk_q_mul(at->orientation, marker->orientation);
}

/* Stiffness or damping between six motions and six loads, translations first. */
static void scale_pairs(double force_by_length, double force, double torque, double matrix[6][6])
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            /* Between a translation and a torque, and the other way round. */
            double unit = force;
            if (i < 3 && j < 3)
                unit = force_by_length;
            if (i >= 3 && j >= 3)
                unit = torque;
            matrix[i][j] *= unit;
        }
    }
}

static void convert_node(const yk_transform *at, yk_smooth_node_def *node)
{
    node->position = point_of(at, node->position);
    node->orientation = yk_q_mul(at->orientation, node->orientation);
    node->displacement = vector_of(at, at->length, node->displacement);
    node->rotation = vector_of(at, 1, node->rotation);
    node->velocity = vector_of(at, at->length, node->velocity);
    node->angular_velocity = vector_of(at, 1, node->angular_velocity);
}

static void convert_force(const yk_transform *at, yk_force_def *force)
{
    const yk_force_traits *traits = yk_force_traits_of(force->kind);
    double newton = at->mass * at->length;
    double newton_metre = newton * at->length;

    /* Coefficients by an angle or by a length. */
    double coefficient = at->mass;
    if (traits->torque)
        coefficient = newton_metre;
    force->stiffness *= coefficient;
    force->damping *= coefficient;
    if (!traits->torque)
        force->free *= at->length;

    scale_pairs(at->mass, newton, newton_metre, force->bushing_stiffness);
    scale_pairs(at->mass, newton, newton_metre, force->bushing_damping);

    /* The load is a factor of the vector, if there is one. */
    double unit = traits->torque ? newton_metre : newton;
    if (!traits->vector) {
        force->load_unit *= unit;
    } else if (traits->follows) {
        force->vector = yk_v3_scale(unit, force->vector);
    } else {
        force->vector = vector_of(at, unit, force->vector);
    }
}

/* Resultants of a section from strains without unit and from curvatures per length. */
static void convert_beam(const yk_transform *at, yk_smooth_beam_def *beam)
{
    double newton = at->mass * at->length;
    double newton_metre = newton * at->length;

    for (int i = 0; i < YK_BEAM_NODES; i++)
        beam->offset[i] = yk_v3_scale(at->length, beam->offset[i]);

    /* Stiffness per length, mass and inertia per length. */
    for (int i = 0; i < YK_BEAM_POINTS; i++) {
        yk_beam_section *section = &beam->section[i];
        scale_pairs(newton, newton_metre, newton_metre * at->length, section->stiffness);
        scale_pairs(newton, newton_metre, newton_metre * at->length, section->damping);
        section->mass *= at->mass / at->length;
        section->centre = yk_v3_scale(at->length, section->centre);
        section->inertia = yk_m3_scale(newton, section->inertia);
    }
}

static void convert_flexible(const yk_transform *at, yk_smooth_flexible_def *flexible)
{
    flexible->position = point_of(at, flexible->position);
    flexible->orientation = yk_q_mul(at->orientation, flexible->orientation);
    flexible->velocity = vector_of(at, at->length, flexible->velocity);
    flexible->angular_velocity = vector_of(at, 1, flexible->angular_velocity);
    flexible->curvature = yk_v3_scale(1 / at->length, flexible->curvature);
}

/* Parts ---------------------------------------------------------------------------------------- */

static const yk_smooth_description *def_of(const yk_subsystem *part)
{
    return &((const yk_smooth *)part)->model.def;
}

/* Where the ports of a part begin in the whole. */
static int first_port(const yk_merge_def *merge, int part)
{
    int count = 0;
    for (int i = 0; i < part; i++)
        count += def_of(merge->parts[i])->port_count;

    return count;
}

/* A node of a part, or an attachment of its flexible bodies, as an id of the whole, whose elements
 * up to now are `at`. */
static int shifted(const yk_smooth_description *def, const yk_smooth_description *at, int node)
{
    if (node == YK_GROUND)
        return node;
    if (node < def->node_count)
        return at->node_count + node;

    return YK_SMOOTH_FIRST_ATTACHMENT + at->attachment_count + node - def->node_count;
}

/* Puts a part behind those before it, whose channels end at `channel`; from its own units and axes
 * to those of the whole, where there is a transform. */
static void add_part(const yk_smooth_description *def, int part, int channel,
                     const yk_transform *transform, yk_smooth_builder *whole)
{
    const yk_smooth_description at = whole->description;

    for (int i = 0; i < def->node_count; i++) {
        yk_smooth_node_def node = def->nodes[i];
        node.part = part;
        if (transform)
            convert_node(transform, &node);
        YK_SMOOTH_APPEND(whole, nodes, node_count, &node);
    }

    for (int i = 0; i < def->body_count; i++) {
        yk_smooth_body_def body = def->bodies[i];
        body.node += at.node_count;
        if (transform) {
            body.mass *= transform->mass;
            body.centre = yk_v3_scale(transform->length, body.centre);
            body.inertia =
                yk_m3_scale(transform->mass * transform->length * transform->length, body.inertia);
        }
        YK_SMOOTH_APPEND(whole, bodies, body_count, &body);
    }

    for (int i = 0; i < def->joint_count; i++) {
        yk_joint_def joint = def->joints[i];
        for (int side = 0; side < 2; side++) {
            joint.body[side] = shifted(def, &at, joint.body[side]);
            convert_marker(transform, joint.body[side], &joint.marker[side]);
        }

        /* Lengths, and drives that are lengths. */
        if (transform)
            joint.length *= transform->length;
        if (transform && !yk_joint_traits_of(joint.kind)->drive.angular)
            joint.drive_unit *= transform->length;
        YK_SMOOTH_APPEND(whole, joints, joint_count, &joint);
    }

    /* The inputs of feedbacks are looked for from the first channel of their part on. */
    for (int i = 0; i < def->force_count; i++) {
        int first = channel;
        if (def->force_channels)
            first += def->force_channels[i];
        int count = whole->description.force_count;
        yk_building_append(&whole->building, &whole->force_channels, &count, &first, sizeof first);

        yk_force_def force = def->forces[i];
        if (force.input >= 0)
            force.input += at.port_count;
        for (int side = 0; side < 2; side++) {
            force.body[side] = shifted(def, &at, force.body[side]);
            convert_marker(transform, force.body[side], &force.marker[side]);
        }

        if (transform)
            convert_force(transform, &force);
        YK_SMOOTH_APPEND(whole, forces, force_count, &force);
    }

    for (int i = 0; i < def->beam_count; i++) {
        yk_smooth_beam_def beam = def->beams[i];
        for (int k = 0; k < YK_BEAM_NODES; k++)
            beam.node[k] = shifted(def, &at, beam.node[k]);
        if (transform)
            convert_beam(transform, &beam);
        YK_SMOOTH_APPEND(whole, beams, beam_count, &beam);
    }

    for (int i = 0; i < def->flexible_count; i++) {
        yk_smooth_flexible_def flexible = def->flexibles[i];
        flexible.node = shifted(def, &at, flexible.node);
        flexible.part = part;
        if (transform)
            convert_flexible(transform, &flexible);
        YK_SMOOTH_APPEND(whole, flexibles, flexible_count, &flexible);
    }

    for (int i = 0; i < def->attachment_count; i++) {
        yk_smooth_attachment_def attachment = def->attachments[i];
        attachment.flexible += at.flexible_count;
        YK_SMOOTH_APPEND(whole, attachments, attachment_count, &attachment);
    }

    for (int i = 0; i < def->shape_count; i++) {
        yk_smooth_shape_def shape = def->shapes[i];
        shape.node = shifted(def, &at, shape.node);
        convert_marker(transform, shape.node, &shape.marker);
        if (transform)
            shape.size = yk_v3_scale(transform->length, shape.size);
        YK_SMOOTH_APPEND(whole, shapes, shape_count, &shape);
    }

    for (int i = 0; i < def->port_count; i++) {
        yk_port_def port = def->ports[i];
        for (int side = 0; side < 2; side++) {
            port.body[side] = shifted(def, &at, port.body[side]);
            convert_marker(transform, port.body[side], &port.marker[side]);
        }
        YK_SMOOTH_APPEND(whole, ports, port_count, &port);
    }
}

/* A relative motion that an interface prescribes, as the drive of a joint. */
static double driven_value(void *user, double t)
{
    const yk_relative_motion *drive = user;
    double value[3];
    drive->evaluate(drive->user, t, value);
    return value[0];
}

/* Adds the joints that an interface is made of, and says how many. Constrained motions are named in
 * the axes of b, so b's marker comes first. */
static yk_status connect_parts(yk_context *context, const yk_merge_def *merge,
                               const yk_merge_joint *joint, yk_smooth_builder *whole, char *names,
                               int *count)
{
    *count = 0;
    int a = joint->part_a;
    int b = joint->part_b;
    if (a < 0 || a >= merge->part_count || b < 0 || b >= merge->part_count)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a joint between parts names a part that is not there");

    int ports_a = def_of(merge->parts[a])->port_count;
    int ports_b = def_of(merge->parts[b])->port_count;
    bool known_a = joint->port_a >= 0 && joint->port_a < ports_a;
    bool known_b = joint->port_b >= 0 && joint->port_b < ports_b;
    if (!known_a || !known_b)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a joint between parts names a port that is not there");

    const yk_port_def *port_a = &whole->ports[first_port(merge, a) + joint->port_a];
    const yk_port_def *port_b = &whole->ports[first_port(merge, b) + joint->port_b];
    if (port_a->kind != YK_PORT_MARKER || port_b->kind != YK_PORT_MARKER)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "ports '%s' and '%s' cannot be merged: only markers can be joined rigidly",
                       port_a->name, port_b->name);

    /* Motions that are held, and those that are prescribed. */
    unsigned driven = 0;
    for (int k = 0; joint->drive && k < 6; k++) {
        if (joint->drive[k].evaluate)
            driven |= 1u << k;
    }

    yk_joint_piece pieces[YK_JOINT_PIECES_MAX];
    *count = yk_joint_pieces(joint->constrained, driven, pieces);
    if (*count == 0)
        return yk_fail(
            context, YK_ERROR_CAPABILITY,
            "ports '%s' and '%s' cannot be merged: of the rotations between them one can be "
            "prescribed, with the other two held or both free",
            port_a->name, port_b->name);

    /* A joint for each piece; a prescribed length is given in the unit of the merge. */
    for (int i = 0; i < *count; i++) {
        const yk_joint_piece *piece = &pieces[i];
        const char *suffix = piece->driven >= 0 ? "-drive" : "";
        char *name = names + (size_t)i * NAME_LENGTH;
        snprintf(name, NAME_LENGTH, "%.40s-%.40s%s", port_a->name, port_b->name, suffix);

        yk_joint_def made = yk_joint_default();
        made.name = name;
        made.kind = piece->kind;
        made.constrained = piece->constrained;

        made.body[0] = port_b->body[0];
        made.body[1] = port_a->body[0];
        made.marker[0] = port_b->marker[0];
        made.marker[1] = port_a->marker[0];
        for (int side = 0; side < 2; side++)
            made.marker[side].orientation = yk_q_mul(made.marker[side].orientation, piece->axes);

        /* The scheme owns the drive, which lives longer than the model. */
        if (piece->driven >= 0) {
            made.drive.value = driven_value;
            made.drive.user = (void *)(uintptr_t)&joint->drive[piece->driven];
        }
        if (piece->driven >= 0 && piece->driven < 3)
            made.drive_unit = 1 / merge->length;
        YK_SMOOTH_APPEND(whole, joints, joint_count, &made);
    }

    return whole->building.status;
}

static yk_vec3 gravity_of(const yk_merge_def *merge, int part)
{
    yk_vec3 gravity = def_of(merge->parts[part])->gravity;
    if (!merge->transforms)
        return gravity;
    return vector_of(&merge->transforms[part], merge->transforms[part].length, gravity);
}

/* The whole has one gravity, one artificial damping and one kind of start. */
static yk_status check_parts(yk_context *context, const yk_merge_def *merge)
{
    const yk_smooth_description *first = def_of(merge->parts[0]);
    yk_vec3 gravity = gravity_of(merge, 0);

    for (int i = 0; i < merge->part_count; i++) {
        const yk_smooth_description *def = def_of(merge->parts[i]);
        const yk_smooth_options *a = &first->options;
        const yk_smooth_options *b = &def->options;

        /* Gravity in the units and axes of the whole. */
        double difference = yk_v3_norm(yk_v3_sub(gravity_of(merge, i), gravity));
        if (difference > 1e-9 * yk_v3_norm(gravity))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "'%s' and '%s' have different gravity and cannot be merged: give both "
                           "the same",
                           first->name, def->name);

        bool damped_alike = a->damping == b->damping && a->damping_start == b->damping_start &&
                            a->damping_end == b->damping_end;
        if (!damped_alike || a->static_start != b->static_start)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "'%s' and '%s' have different damping or static_start and cannot be "
                           "merged: give both the same",
                           first->name, def->name);

        /* The integrals of a flexible body have its own units. */
        const yk_transform *at = merge->transforms ? &merge->transforms[i] : NULL;
        if (at && def->flexible_count > 0 && (at->length != 1 || at->mass != 1))
            return yk_fail(
                context, YK_ERROR_CAPABILITY,
                "'%s' has flexible bodies in other units than '%s' and cannot be merged with it: "
                "give both the same units",
                def->name, first->name);
    }

    return YK_OK;
}

/* The whole has one integrator: that of the first part, or of the first that is not explicit; the
 * strictest of all tolerances. Parts that are relaxed need their equations as ordinary
 * differential equations, paper relaxed section 3. */
static yk_smooth_options common_options(yk_context *context, const yk_merge_def *merge)
{
    /* The integrator. */
    int chosen = 0;
    while (chosen < merge->part_count - 1) {
        yk_smooth_integrator kind = def_of(merge->parts[chosen])->options.integrator;
        if (yk_smooth_is_implicit(yk_smooth_integrator_of(kind)))
            break;
        chosen++;
    }

    yk_smooth_options options = def_of(merge->parts[chosen])->options;

    /* The strictest tolerances, and whether all parts agree on the method. */
    bool same = true;
    for (int i = 0; i < merge->part_count; i++) {
        const yk_smooth_options *other = &def_of(merge->parts[i])->options;
        same = same && options.integrator == other->integrator && options.form == other->form &&
               options.rho_inf == other->rho_inf && options.stabilisation == other->stabilisation;

        options.newton_relative = fmin(options.newton_relative, other->newton_relative);
        options.newton_absolute = fmin(options.newton_absolute, other->newton_absolute);
        options.assembly = fmin(options.assembly, other->assembly);
        if (options.newton_iterations < other->newton_iterations)
            options.newton_iterations = other->newton_iterations;

        double tolerance = other->error_tolerance;
        bool stricter = options.error_tolerance > 0 && options.error_tolerance < tolerance;
        if (tolerance > 0 && !stricter)
            options.error_tolerance = tolerance;
    }

    if (merge->relaxed) {
        yk_generalised_alpha_as_ode(&options);
    } else if (!same) {
        yk_log(context, YK_LOG_WARNING,
               "the merged parts have different integrators: all take that of '%s'",
               def_of(merge->parts[chosen])->name);
    }

    return options;
}

yk_status yk_smooth_merge(const yk_merge_def *merge, yk_subsystem **merged)
{
    *merged = NULL;
    yk_subsystem *const *parts = merge->parts;
    yk_context *context = ((const yk_smooth *)parts[0])->model.context;
    yk_status status = check_parts(context, merge);
    if (status != YK_OK)
        return status;

    /* Names of as many joints as the interfaces can be made of, and how many each has. */
    size_t interfaces = (size_t)merge->joint_count;
    size_t pieces = YK_JOINT_PIECES_MAX * interfaces;
    char *names = yk_allocate(context, pieces * NAME_LENGTH, 1);
    int *counts = yk_allocate(context, interfaces, sizeof *counts);
    yk_smooth_def def = {.name = def_of(parts[0])->name, .gravity = gravity_of(merge, 0)};
    def.options = common_options(context, merge);
    yk_smooth_builder *builder = yk_smooth_begin(context, &def);
    if (!names || !counts || !builder)
        status = YK_ERROR_MEMORY;

    /* The parts one after the other. */
    int channel = 0;
    for (int i = 0; i < merge->part_count && status == YK_OK; i++) {
        const yk_transform *transform = merge->transforms ? &merge->transforms[i] : NULL;
        add_part(def_of(parts[i]), i, channel, transform, builder);
        channel += ((const yk_smooth *)parts[i])->model.channel_count;
        status = builder->building.status;
    }

    /* Joints where the ports were coupled. */
    int first = 0;
    if (status == YK_OK)
        first = builder->description.joint_count;
    int made = 0;
    for (int i = 0; i < merge->joint_count && status == YK_OK; i++) {
        char *own = names + (size_t)made * NAME_LENGTH;
        status = connect_parts(context, merge, &merge->joints[i], builder, own, &counts[i]);
        made += counts[i];
    }

    /* The model keeps copies of all arrays. */
    yk_smooth *whole = NULL;
    if (status == YK_OK) {
        yk_smooth_description description = yk_smooth_describe(builder);
        description.part_count = merge->part_count;
        status = yk_smooth_make(context, &description, &whole);
    }
    if (status == YK_OK)
        status = yk_smooth_order_channels(&whole->model, merge);

    /* Its ports show the wrenches of the joints between the parts: on a, which is the second body
     * of the joints, and the opposite on b. */
    for (int i = 0; i < merge->joint_count && status == YK_OK; i++) {
        const yk_merge_joint *joint = &merge->joints[i];
        port_model *ports = whole->model.ports;
        port_model *a = &ports[first_port(merge, joint->part_a) + joint->port_a];
        port_model *b = &ports[first_port(merge, joint->part_b) + joint->port_b];
        a->merged = b->merged = first;
        a->merged_count = b->merged_count = counts[i];
        a->merged_side = 1;
        b->merged_side = 0;
        first += counts[i];
    }

    yk_smooth_discard(builder);
    yk_release(context, counts);
    yk_release(context, names);
    if (status != YK_OK) {
        yk_smooth_destroy(whole);
        return status;
    }

    *merged = yk_smooth_subsystem(whole);
    return YK_OK;
}

yk_status yk_smooth_free_mass(const yk_subsystem *self, double mass, yk_port_kind kind,
                              yk_subsystem **made)
{
    *made = NULL;
    if (kind == YK_PORT_SIGNAL)
        return YK_ERROR_CAPABILITY;

    /* The integrator and the options of the model that asks, and nothing else of it. */
    const yk_smooth *smooth = (const yk_smooth *)self;
    yk_smooth_def def = {.name = "free mass", .options = smooth->model.def.options};
    def.options.static_start = false;
    def.options.damping = 0;
    yk_smooth_builder *builder = yk_smooth_begin(smooth->model.context, &def);

    yk_mat3 inertia = yk_m3_diagonal(mass, mass, mass);
    yk_smooth_body_def body = yk_smooth_body_named("mass", mass, inertia, yk_v3(0, 0, 0));
    int id = yk_smooth_add_body(builder, &body);

    /* A scalar port is the distance from a point on the x axis. */
    yk_port_def port = yk_port_default();
    port.name = "mass";
    port.kind = kind;
    port.body[0] = id;
    port.body[1] = id;
    if (kind == YK_PORT_SCALAR) {
        port.body[0] = YK_GROUND;
        port.marker[0].offset = yk_v3(-1, 0, 0);
    }
    yk_smooth_add_port(builder, &port);

    return yk_smooth_create(builder, made);
}
