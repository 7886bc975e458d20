/* Merges several multibody systems: their elements are added one after the other to one builder, in
 * the units and axes of the whole (Zhang et al. 2020, equation 20), with joints in place of the
 * coupled ports. Also creates the free mass of the contract. */
#include <stdio.h>

#include "multibody/multibody.h"

enum { NAME_LENGTH = 96 };

/* Units and axes ------------------------------------------------------------------------------- */

/* A part of a merged model in the units and axes of the whole (Zhang et al. 2020, equation 20): a
 * point x of the part is at p + Q (l x) of the whole, and its unit of mass is m. Quantities of the
 * def in global axes are rotated by Q; quantities in the axes of a node are not. The channels of
 * the part are converted back to its own units and axes (channels.c). */

static yk_vec3 vector_of(const yk_transform *at, double unit, yk_vec3 v)
{
    return yk_v3_scale(unit, yk_q_rotate(at->orientation, v));
}

static yk_vec3 point_of(const yk_transform *at, yk_vec3 x)
{
    return yk_v3_add(at->position, vector_of(at, at->length_unit, x));
}

/* Markers are fixed to a node, whose axes rotate with the part, or to the ground, whose axes do
 * not. `at` NULL: no conversion. */
static void convert_marker(const yk_transform *at, int node, yk_marker *marker)
{
    if (!at)
        return;

    if (node != YK_GROUND_INDEX) {
        marker->offset = yk_v3_scale(at->length_unit, marker->offset);
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
            /* Between a translation and a torque, and the reverse. */
            double unit = force;
            if (i < 3 && j < 3)
                unit = force_by_length;
            if (i >= 3 && j >= 3)
                unit = torque;
            matrix[i][j] *= unit;
        }
    }
}

static void convert_node(const yk_transform *at, yk_multibody_node_def *node)
{
    node->position = point_of(at, node->position);
    node->orientation = yk_q_mul(at->orientation, node->orientation);
    node->initial_displacement = vector_of(at, at->length_unit, node->initial_displacement);
    node->initial_rotation = vector_of(at, 1, node->initial_rotation);
    node->velocity = vector_of(at, at->length_unit, node->velocity);
    node->angular_velocity = vector_of(at, 1, node->angular_velocity);
}

/* Coefficients of contacts and fluids; a height is a function in units of its part. */
static void convert_contact(const yk_transform *at, yk_contact_force_def *contact)
{
    double metre = at->length_unit;
    double newton = at->mass_unit * metre;

    contact->radius *= metre;
    contact->clearance *= metre;
    contact->stiffness *= newton / pow(metre, contact->exponent);
    contact->damping /= metre;
    contact->transition_velocity *= metre;
    contact->slip_stiffness *= newton;
    contact->cornering_stiffness *= newton;
    contact->linear_drag *= at->mass_unit;
    contact->quadratic_drag *= at->mass_unit / metre;
    contact->wind = vector_of(at, metre, contact->wind);
    contact->length_unit *= metre;
}

/* Further terms of a law on an angle or on a length. */
static void convert_terms(const yk_transform *at, bool torque, yk_force_terms *terms)
{
    double metre = torque ? 1 : at->length_unit;
    double force = at->mass_unit * at->length_unit * (torque ? at->length_unit : 1);

    terms->play *= metre;
    terms->contact_damping /= metre;
    terms->limits[0] *= metre;
    terms->limits[1] *= metre;
    terms->stop_stiffness *= force / metre;
    terms->coulomb_friction *= force;
    terms->static_friction *= force;
    terms->stribeck_velocity *= metre;
    terms->transition_velocity *= metre;
    terms->length_unit *= metre;
    terms->force_unit *= force;
}

static void convert_force(const yk_transform *at, yk_force_def *force)
{
    const yk_force_traits *traits = yk_force_traits_of(force->kind);
    double newton = at->mass_unit * at->length_unit;
    double newton_metre = newton * at->length_unit;

    /* Coefficients by an angle or by a length. */
    double coefficient = at->mass_unit;
    if (traits->torque)
        coefficient = newton_metre;
    force->stiffness *= coefficient;
    force->damping *= coefficient;
    if (!traits->torque)
        force->free_length *= at->length_unit;

    scale_pairs(at->mass_unit, newton, newton_metre, force->bushing_stiffness);
    scale_pairs(at->mass_unit, newton, newton_metre, force->bushing_damping);
    convert_contact(at, &force->contact);
    convert_terms(at, traits->torque, &force->terms);

    /* The load is a factor of the vector, if there is one. */
    double unit = traits->torque ? newton_metre : newton;
    if (!traits->vector) {
        force->load_scale *= unit;
    } else if (traits->follows) {
        force->vector = yk_v3_scale(unit, force->vector);
    } else {
        force->vector = vector_of(at, unit, force->vector);
    }
}

/* Resultants of a section from dimensionless strains and from curvatures per length. */
static void convert_beam(const yk_transform *at, yk_multibody_beam_def *beam)
{
    double newton = at->mass_unit * at->length_unit;
    double newton_metre = newton * at->length_unit;

    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
        beam->offsets[i] = yk_v3_scale(at->length_unit, beam->offsets[i]);

    /* Stiffness per length, mass and inertia per length. */
    for (int i = 0; i < YK_BEAM_SECTION_COUNT; i++) {
        yk_beam_section *section = &beam->sections[i];
        scale_pairs(newton, newton_metre, newton_metre * at->length_unit, section->stiffness);
        scale_pairs(newton, newton_metre, newton_metre * at->length_unit, section->damping);
        section->mass *= at->mass_unit / at->length_unit;
        section->center_of_mass = yk_v3_scale(at->length_unit, section->center_of_mass);
        section->inertia = yk_m3_scale(newton, section->inertia);
    }
}

static void convert_flexible(const yk_transform *at, yk_multibody_flexible_def *flexible)
{
    flexible->position = point_of(at, flexible->position);
    flexible->orientation = yk_q_mul(at->orientation, flexible->orientation);
    flexible->velocity = vector_of(at, at->length_unit, flexible->velocity);
    flexible->angular_velocity = vector_of(at, 1, flexible->angular_velocity);
    flexible->curvature = yk_v3_scale(1 / at->length_unit, flexible->curvature);
}

/* Parts ---------------------------------------------------------------------------------------- */

static const yk_multibody_description *def_of(const yk_subsystem *part)
{
    return &((const yk_multibody *)part)->model.def;
}

/* First port of a part in the whole. */
static int first_port(const yk_merge_def *merge, int part)
{
    int count = 0;
    for (int i = 0; i < part; i++)
        count += def_of(merge->parts[i])->port_count;

    return count;
}

/* A node of a part, or an attachment of its flexible bodies, as an id of the whole, whose previous
 * elements are `at`. */
static int shifted(const yk_multibody_description *def, const yk_multibody_description *at,
                   int node)
{
    if (node == YK_GROUND_INDEX)
        return node;
    if (node < def->node_count)
        return at->node_count + node;

    return YK_MULTIBODY_FIRST_ATTACHMENT + at->attachment_count + node - def->node_count;
}

/* Appends a part to the previous ones, whose channels end at `channel`; converts its units and axes
 * to those of the whole if there is a transform. */
static void add_part(const yk_multibody_description *def, int part, int channel,
                     const yk_transform *transform, yk_multibody_builder *whole)
{
    const yk_multibody_description at = whole->description;

    for (int i = 0; i < def->node_count; i++) {
        yk_multibody_node_def node = def->nodes[i];
        node.part = part;
        if (transform)
            convert_node(transform, &node);
        YK_MULTIBODY_APPEND(whole, nodes, node_count, &node);
    }

    for (int i = 0; i < def->body_count; i++) {
        yk_multibody_body_def body = def->bodies[i];
        body.node.index += at.node_count;
        if (transform) {
            body.mass *= transform->mass_unit;
            body.center_of_mass = yk_v3_scale(transform->length_unit, body.center_of_mass);
            body.inertia =
                yk_m3_scale(transform->mass_unit * transform->length_unit * transform->length_unit,
                            body.inertia);
        }
        YK_MULTIBODY_APPEND(whole, bodies, body_count, &body);
    }

    for (int i = 0; i < def->joint_count; i++) {
        yk_joint_def joint = def->joints[i];
        for (int side = 0; side < 2; side++) {
            joint.bodies[side] = (yk_body_id){shifted(def, &at, joint.bodies[side].index)};
            convert_marker(transform, joint.bodies[side].index, &joint.markers[side]);
        }

        /* A sum of a coupling keeps its unit. */
        bool coupled = yk_joint_traits_of(joint.kind)->coupled;
        if (joint.adds_to.index != YK_NO_ID)
            joint.adds_to.index += at.joint_count;
        if (joint.signal_port.index != YK_NO_ID)
            joint.signal_port.index += at.port_count;
        if (transform && coupled && joint.kind != YK_JOINT_COUPLED_ROTATION)
            joint.ratio /= transform->length_unit;

        /* Lengths, and drives that are lengths. */
        if (transform)
            joint.length *= transform->length_unit;
        if (transform && !coupled && !yk_joint_traits_of(joint.kind)->drive.angular)
            joint.drive_scale *= transform->length_unit;
        YK_MULTIBODY_APPEND(whole, joints, joint_count, &joint);
    }

    /* The inputs of feedbacks are searched from the first channel of their part on. */
    for (int i = 0; i < def->force_count; i++) {
        int first = channel;
        if (def->force_channels)
            first += def->force_channels[i];
        int count = whole->description.force_count;
        yk_building_append(&whole->building, &whole->force_channels, &count, &first, sizeof first);

        yk_force_def force = def->forces[i];
        if (force.signal_port.index >= 0)
            force.signal_port.index += at.port_count;
        for (int side = 0; side < 2; side++) {
            force.bodies[side] = (yk_body_id){shifted(def, &at, force.bodies[side].index)};
            convert_marker(transform, force.bodies[side].index, &force.markers[side]);
        }

        if (transform)
            convert_force(transform, &force);
        if (force.adds_to.index != YK_NO_ID) {
            /* The sum has the unit of its first term. */
            bool angular = yk_force_traits_of(def->forces[force.adds_to.index].kind)->torque;
            bool own = yk_force_traits_of(force.kind)->torque;
            if (transform && angular != own)
                force.ratio *= angular ? 1 / transform->length_unit : transform->length_unit;
            force.adds_to.index += at.force_count;
        }
        YK_MULTIBODY_APPEND(whole, forces, force_count, &force);
    }

    for (int i = 0; i < def->beam_count; i++) {
        yk_multibody_beam_def beam = def->beams[i];
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++)
            beam.nodes[k] = (yk_body_id){shifted(def, &at, beam.nodes[k].index)};
        if (transform)
            convert_beam(transform, &beam);
        YK_MULTIBODY_APPEND(whole, beams, beam_count, &beam);
    }

    for (int i = 0; i < def->flexible_count; i++) {
        yk_multibody_flexible_def flexible = def->flexibles[i];
        flexible.node = shifted(def, &at, flexible.node);
        flexible.part = part;
        if (transform)
            convert_flexible(transform, &flexible);
        YK_MULTIBODY_APPEND(whole, flexibles, flexible_count, &flexible);
    }

    for (int i = 0; i < def->attachment_count; i++) {
        yk_multibody_attachment_def attachment = def->attachments[i];
        attachment.flexible += at.flexible_count;
        YK_MULTIBODY_APPEND(whole, attachments, attachment_count, &attachment);
    }

    for (int i = 0; i < def->shape_count; i++) {
        yk_multibody_shape_def shape = def->shapes[i];
        shape.node = (yk_body_id){shifted(def, &at, shape.node.index)};
        convert_marker(transform, shape.node.index, &shape.marker);
        if (transform)
            shape.size = yk_v3_scale(transform->length_unit, shape.size);
        YK_MULTIBODY_APPEND(whole, shapes, shape_count, &shape);
    }

    for (int i = 0; i < def->port_count; i++) {
        yk_port_def port = def->ports[i];
        for (int side = 0; side < 2; side++) {
            port.bodies[side] = (yk_body_id){shifted(def, &at, port.bodies[side].index)};
            convert_marker(transform, port.bodies[side].index, &port.markers[side]);
        }
        YK_MULTIBODY_APPEND(whole, ports, port_count, &port);
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

/* Adds the joints that represent an interface, and returns their number. Constrained motions are in
 * the axes of b, so b's marker comes first. */
static yk_status connect_parts(yk_context *context, const yk_merge_def *merge,
                               const yk_merge_joint *joint, yk_multibody_builder *whole,
                               char *names, int *count)
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

    /* Constrained motions, and prescribed motions. */
    unsigned driven = 0;
    for (int k = 0; joint->drive && k < 6; k++) {
        if (joint->drive[k].evaluate)
            driven |= 1u << k;
    }

    yk_joint_piece pieces[YK_JOINT_PIECES_MAX];
    *count = yk_joint_pieces(joint->constrained_axes, driven, pieces);
    if (*count == 0)
        return yk_fail(
            context, YK_ERROR_CAPABILITY,
            "ports '%s' and '%s' cannot be merged: of the rotations between them one can be "
            "prescribed, with the other two held or both free",
            port_a->name, port_b->name);

    /* One joint for each piece; a prescribed length is in the unit of the merge. */
    for (int i = 0; i < *count; i++) {
        const yk_joint_piece *piece = &pieces[i];
        const char *suffix = piece->driven >= 0 ? "-drive" : "";
        char *name = names + (size_t)i * NAME_LENGTH;
        snprintf(name, NAME_LENGTH, "%.40s-%.40s%s", port_a->name, port_b->name, suffix);

        yk_joint_def made = yk_joint_default();
        made.name = name;
        made.kind = piece->kind;
        made.constrained_axes = piece->constrained;
        made.length = joint->radius / merge->length_unit;

        made.bodies[0] = port_b->bodies[0];
        made.bodies[1] = port_a->bodies[0];
        made.markers[0] = port_b->markers[0];
        made.markers[1] = port_a->markers[0];
        for (int side = 0; side < 2; side++)
            made.markers[side].orientation = yk_q_mul(made.markers[side].orientation, piece->axes);

        /* The scheme owns the drive, which outlives the model. */
        if (piece->driven >= 0) {
            made.drive.evaluate = driven_value;
            made.drive.user = (void *)(uintptr_t)&joint->drive[piece->driven];
        }
        if (piece->driven >= 0 && piece->driven < 3)
            made.drive_scale = 1 / merge->length_unit;
        YK_MULTIBODY_APPEND(whole, joints, joint_count, &made);
    }

    return whole->building.status;
}

static yk_vec3 gravity_of(const yk_merge_def *merge, int part)
{
    yk_vec3 gravity = def_of(merge->parts[part])->gravity;
    if (!merge->transforms)
        return gravity;
    return vector_of(&merge->transforms[part], merge->transforms[part].length_unit, gravity);
}

/* The whole has one gravity, one artificial damping and one kind of start. */
static yk_status check_parts(yk_context *context, const yk_merge_def *merge)
{
    const yk_multibody_description *first = def_of(merge->parts[0]);
    yk_vec3 gravity = gravity_of(merge, 0);

    for (int i = 0; i < merge->part_count; i++) {
        const yk_multibody_description *def = def_of(merge->parts[i]);
        const yk_multibody_options *a = &first->options;
        const yk_multibody_options *b = &def->options;

        /* Gravity in the units and axes of the whole. */
        double difference = yk_v3_norm(yk_v3_sub(gravity_of(merge, i), gravity));
        if (difference > 1e-9 * yk_v3_norm(gravity))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "'%s' and '%s' have different gravity and cannot be merged: give both "
                           "the same",
                           first->name, def->name);

        bool damped_alike = a->startup_damping == b->startup_damping &&
                            a->startup_damping_full_until == b->startup_damping_full_until &&
                            a->startup_damping_end == b->startup_damping_end;
        if (!damped_alike || a->start_in_equilibrium != b->start_in_equilibrium)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "'%s' and '%s' have different damping or static_start and cannot be "
                           "merged: give both the same",
                           first->name, def->name);

        /* The integrals of a flexible body have its own units. */
        const yk_transform *at = merge->transforms ? &merge->transforms[i] : NULL;
        if (at && def->flexible_count > 0 && (at->length_unit != 1 || at->mass_unit != 1))
            return yk_fail(
                context, YK_ERROR_CAPABILITY,
                "'%s' has flexible bodies in other units than '%s' and cannot be merged with it: "
                "give both the same units",
                def->name, first->name);
    }

    return YK_OK;
}

/* The whole has one integrator: that of the first part, or of the first that is not explicit; and
 * the smallest of all tolerances. Parts that are relaxed need their equations as ordinary
 * differential equations (Zhou et al. 2022, section 3). */
static yk_multibody_options common_options(yk_context *context, const yk_merge_def *merge)
{
    /* The integrator. */
    int chosen = 0;
    while (chosen < merge->part_count - 1) {
        yk_multibody_integrator kind = def_of(merge->parts[chosen])->options.integrator;
        if (yk_multibody_is_implicit(yk_multibody_integrator_of(kind)))
            break;
        chosen++;
    }

    yk_multibody_options options = def_of(merge->parts[chosen])->options;

    /* The smallest tolerances, and whether all parts agree on the method. */
    bool same = true;
    for (int i = 0; i < merge->part_count; i++) {
        const yk_multibody_options *other = &def_of(merge->parts[i])->options;
        same = same && options.integrator == other->integrator &&
               options.formulation == other->formulation && options.rho_inf == other->rho_inf &&
               options.stabilization_rate == other->stabilization_rate;

        options.newton_relative_tolerance =
            fmin(options.newton_relative_tolerance, other->newton_relative_tolerance);
        options.newton_absolute_tolerance =
            fmin(options.newton_absolute_tolerance, other->newton_absolute_tolerance);
        options.assembly_tolerance = fmin(options.assembly_tolerance, other->assembly_tolerance);
        if (options.max_newton_iterations < other->max_newton_iterations)
            options.max_newton_iterations = other->max_newton_iterations;
        if (options.stages < other->stages)
            options.stages = other->stages;

        double tolerance = other->error_tolerance;
        bool stricter = options.error_tolerance > 0 && options.error_tolerance < tolerance;
        if (tolerance > 0 && !stricter)
            options.error_tolerance = tolerance;
    }

    if (merge->separate_parts) {
        yk_generalized_alpha_as_ode(&options);
    } else if (!same) {
        yk_log(context, YK_LOG_WARNING,
               "the merged parts have different integrators: all take that of '%s'",
               def_of(merge->parts[chosen])->name);
    }

    return options;
}

/* The rate of stabilization of each part (1/s); negative: one over the step; 0: that of the whole,
 * because the integrator of the part has no rate. */
static yk_status take_rates(yk_multibody_model *model, const yk_merge_def *merge)
{
    size_t count = (size_t)merge->part_count;
    model->part_rates = yk_allocate(model->context, count, sizeof *model->part_rates);
    if (!model->part_rates)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < merge->part_count; i++) {
        const yk_multibody_options *own = &def_of(merge->parts[i])->options;
        bool stabilized = own->integrator == YK_MULTIBODY_CHEBYSHEV ||
                          (own->integrator == YK_MULTIBODY_GENERALIZED_ALPHA &&
                           own->formulation == YK_MULTIBODY_FORMULATION_STABILIZED_ODE);
        if (stabilized)
            model->part_rates[i] = own->stabilization_rate > 0 ? own->stabilization_rate : -1;
    }

    return YK_OK;
}

yk_status yk_multibody_merge(const yk_merge_def *merge, yk_subsystem **merged)
{
    *merged = NULL;
    yk_subsystem *const *parts = merge->parts;
    yk_context *context = ((const yk_multibody *)parts[0])->model.context;
    yk_status status = check_parts(context, merge);
    if (status != YK_OK)
        return status;

    /* Names for the largest possible number of joints of the interfaces, and their numbers. */
    size_t interfaces = (size_t)merge->joint_count;
    size_t pieces = YK_JOINT_PIECES_MAX * interfaces;
    char *names = yk_allocate(context, pieces * NAME_LENGTH, 1);
    int *counts = yk_allocate(context, interfaces, sizeof *counts);
    yk_multibody_def def = {
        .name = def_of(parts[0])->name,
        .gravity = gravity_of(merge, 0),
        .length_unit = merge->length_unit,
    };
    def.options = common_options(context, merge);
    yk_multibody_builder *builder = yk_multibody_begin(context, &def);
    if (!names || !counts || !builder)
        status = YK_ERROR_MEMORY;

    /* The parts one after the other. */
    int channel = 0;
    for (int i = 0; i < merge->part_count && status == YK_OK; i++) {
        const yk_transform *transform = merge->transforms ? &merge->transforms[i] : NULL;
        add_part(def_of(parts[i]), i, channel, transform, builder);
        channel += ((const yk_multibody *)parts[i])->model.channel_count;
        status = builder->building.status;
    }

    /* Joints in place of the coupled ports. */
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
    yk_multibody *whole = NULL;
    if (status == YK_OK) {
        yk_multibody_description description = yk_multibody_describe(builder);
        description.part_count = merge->part_count;
        status = yk_multibody_make(context, &description, &whole);
    }
    if (status == YK_OK)
        status = yk_multibody_order_channels(&whole->model, merge);

    /* Parts that are relaxed keep rates of their own. */
    if (status == YK_OK && merge->separate_parts)
        status = take_rates(&whole->model, merge);

    /* Its ports return the wrenches of the joints between the parts: for a, which is the second
     * body of the joints, and the opposite for b. */
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

    yk_multibody_discard(builder);
    yk_free(context, counts);
    yk_free(context, names);
    if (status != YK_OK) {
        yk_multibody_destroy(whole);
        return status;
    }

    *merged = yk_multibody_subsystem(whole);
    return YK_OK;
}

yk_status yk_multibody_free_mass(const yk_subsystem *self, double mass, yk_port_kind kind,
                                 yk_subsystem **made)
{
    *made = NULL;
    if (kind == YK_PORT_SIGNAL)
        return YK_ERROR_CAPABILITY;

    /* The integrator and the options of the given model, and nothing else of it. */
    const yk_multibody *multibody = (const yk_multibody *)self;
    yk_multibody_def def = {.name = "free mass", .options = multibody->model.def.options};
    def.options.start_in_equilibrium = false;
    def.options.startup_damping = 0;
    yk_multibody_builder *builder = yk_multibody_begin(multibody->model.context, &def);

    yk_mat3 inertia = yk_m3_diagonal(mass, mass, mass);
    yk_multibody_body_def body = yk_multibody_body_named("mass", mass, inertia, yk_v3(0, 0, 0));
    yk_body_id id = yk_multibody_add_body(builder, &body);

    /* A scalar port is the distance from a point on the x axis. */
    yk_port_def port = yk_port_default();
    port.name = "mass";
    port.kind = kind;
    port.bodies[0] = id;
    port.bodies[1] = id;
    if (kind == YK_PORT_SCALAR) {
        port.bodies[0] = YK_GROUND;
        port.markers[0].offset = yk_v3(-1, 0, 0);
    }
    yk_multibody_add_port(builder, &port);

    return yk_multibody_create(builder, made);
}
