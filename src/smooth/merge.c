/* Several smooth models as one: their defs one after the other, with joints where the ports were
 * coupled. */
#include <stdio.h>
#include <string.h>

#include "smooth/generalised_alpha.h"
#include "smooth/internal.h"

static const yk_smooth_description *def_of(const yk_subsystem *part)
{
    return &((const yk_smooth *)part)->model.def;
}

/* Where the nodes and ports of each part begin in the whole. */
typedef struct totals {
    int nodes, bodies, joints, forces, beams, flexibles, attachments, shapes, ports, channels;
} totals;

static totals totals_before(yk_subsystem *const *parts, int part)
{
    totals sum = {0};
    for (int i = 0; i < part; i++) {
        const yk_smooth_description *def = def_of(parts[i]);
        sum.nodes += def->node_count;
        sum.bodies += def->body_count;
        sum.joints += def->joint_count;
        sum.forces += def->force_count;
        sum.beams += def->beam_count;
        sum.flexibles += def->flexible_count;
        sum.attachments += def->attachment_count;
        sum.shapes += def->shape_count;
        sum.ports += def->port_count;
        sum.channels += ((const yk_smooth *)parts[i])->model.channel_count;
    }

    return sum;
}

typedef struct arrays {
    yk_smooth_node_def *nodes;
    yk_smooth_body_def *bodies;
    yk_joint_def *joints;
    yk_force_def *forces;
    yk_smooth_beam_def *beams;
    yk_smooth_flexible_def *flexibles;
    yk_smooth_attachment_def *attachments;
    yk_smooth_shape_def *shapes;
    yk_port_def *ports;
    int *force_channels;
    char *names; /* of the connecting joints */
} arrays;

enum { NAME_LENGTH = 96 };

/* A node of a part, or an attachment of its flexible bodies, as an index of the whole: there the
 * nodes of all parts come first, then all attachments. */
static int shifted(const yk_smooth_description *def, const totals *at, int all_nodes, int node)
{
    if (node == YK_GROUND)
        return node;
    if (node < def->node_count)
        return at->nodes + node;
    return all_nodes + at->attachments + node - def->node_count;
}

/* Puts a part behind those before it; from its own units and axes to those of the whole, where
 * there is a transform. */
static void add_part(const yk_smooth_description *def, int part, const totals *at, int all_nodes,
                     const yk_transform *transform, arrays *to)
{
    for (int i = 0; i < def->node_count; i++) {
        yk_smooth_node_def *node = &to->nodes[at->nodes + i];
        *node = def->nodes[i];
        node->part = part;
        if (transform)
            yk_smooth_convert_node(transform, node);
    }

    for (int i = 0; i < def->body_count; i++) {
        yk_smooth_body_def *body = &to->bodies[at->bodies + i];
        *body = def->bodies[i];
        body->node += at->nodes;
        if (transform)
            yk_smooth_convert_body(transform, body);
    }

    for (int i = 0; i < def->joint_count; i++) {
        yk_joint_def *joint = &to->joints[at->joints + i];
        *joint = def->joints[i];
        for (int side = 0; side < 2; side++)
            joint->body[side] = shifted(def, at, all_nodes, joint->body[side]);
        if (transform)
            yk_smooth_convert_joint(transform, joint);
    }

    for (int i = 0; i < def->force_count; i++) {
        yk_force_def *force = &to->forces[at->forces + i];
        *force = def->forces[i];
        int channels = at->channels;
        if (def->force_channels)
            channels += def->force_channels[i];
        to->force_channels[at->forces + i] = channels;
        if (force->input >= 0)
            force->input += at->ports;
        for (int side = 0; side < 2; side++)
            force->body[side] = shifted(def, at, all_nodes, force->body[side]);
        if (transform)
            yk_smooth_convert_force(transform, force);
    }

    for (int i = 0; i < def->beam_count; i++) {
        yk_smooth_beam_def *beam = &to->beams[at->beams + i];
        *beam = def->beams[i];
        for (int k = 0; k < YK_BEAM_NODES; k++)
            beam->node[k] = shifted(def, at, all_nodes, beam->node[k]);
        if (transform)
            yk_smooth_convert_beam(transform, beam);
    }

    for (int i = 0; i < def->flexible_count; i++) {
        yk_smooth_flexible_def *flexible = &to->flexibles[at->flexibles + i];
        *flexible = def->flexibles[i];
        flexible->node = shifted(def, at, all_nodes, flexible->node);
        flexible->part = part;
        if (transform)
            yk_smooth_convert_flexible(transform, flexible);
    }

    for (int i = 0; i < def->attachment_count; i++) {
        to->attachments[at->attachments + i] = def->attachments[i];
        to->attachments[at->attachments + i].flexible += at->flexibles;
    }

    for (int i = 0; i < def->shape_count; i++) {
        yk_smooth_shape_def *shape = &to->shapes[at->shapes + i];
        *shape = def->shapes[i];
        shape->node = shifted(def, at, all_nodes, shape->node);
        if (transform)
            yk_smooth_convert_shape(transform, shape);
    }

    for (int i = 0; i < def->port_count; i++) {
        yk_port_def *port = &to->ports[at->ports + i];
        *port = def->ports[i];
        for (int side = 0; side < 2; side++)
            port->body[side] = shifted(def, at, all_nodes, port->body[side]);
        if (transform)
            yk_smooth_convert_port(transform, port);
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

/* The joints that an interface is made of, into `made`, and how many. Constrained motions are
 * named in the axes of b, so b's marker comes first. */
static yk_status connect_parts(yk_context *context, const yk_merge_def *merge,
                               const yk_merge_joint *joint, const arrays *to, char *names,
                               yk_joint_def *made, int *count)
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

    const yk_port_def *port_a = &to->ports[totals_before(merge->parts, a).ports + joint->port_a];
    const yk_port_def *port_b = &to->ports[totals_before(merge->parts, b).ports + joint->port_b];
    if (port_a->kind != YK_PORT_MARKER || port_b->kind != YK_PORT_MARKER)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "ports '%s' and '%s' cannot be merged: only markers can be joined rigidly",
                       port_a->name, port_b->name);

    /* Motions that are held, and those that are prescribed. */
    unsigned driven = 0;
    for (int k = 0; joint->drive && k < 6; k++)
        if (joint->drive[k].evaluate)
            driven |= 1u << k;

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

        yk_joint_def *of = &made[i];
        *of = yk_joint_default();
        of->name = name;
        of->kind = piece->kind;
        of->constrained = piece->constrained;

        of->body[0] = port_b->body[0];
        of->body[1] = port_a->body[0];
        of->marker[0] = port_b->marker[0];
        of->marker[1] = port_a->marker[0];
        for (int side = 0; side < 2; side++)
            of->marker[side].orientation = yk_q_mul(of->marker[side].orientation, piece->axes);

        if (piece->driven < 0)
            continue;

        of->drive = (yk_function){.value = driven_value,
                                  .user = (void *)(uintptr_t)&joint->drive[piece->driven]};
        if (piece->driven < 3)
            of->drive_unit = 1 / merge->length;
    }

    return YK_OK;
}

static yk_vec3 gravity_of(const yk_merge_def *merge, int part)
{
    yk_vec3 gravity = def_of(merge->parts[part])->gravity;
    if (!merge->transforms)
        return gravity;
    return yk_smooth_convert_gravity(&merge->transforms[part], gravity);
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

/* One model from the arrays of all parts; its ports show the wrenches of the joints between
 * them. */
static yk_status create_whole(yk_context *context, const yk_merge_def *merge, const totals *sum,
                              const int *counts, const arrays *to, yk_smooth **whole)
{
    int joint_count = sum->joints;
    for (int i = 0; i < merge->joint_count; i++)
        joint_count += counts[i];

    yk_smooth_description def = *def_of(merge->parts[0]);
    def.gravity = gravity_of(merge, 0);
    def.options = common_options(context, merge);
    def.part_count = merge->part_count;
    def.nodes = to->nodes;
    def.bodies = to->bodies;
    def.joints = to->joints;
    def.forces = to->forces;
    def.beams = to->beams;
    def.flexibles = to->flexibles;
    def.attachments = to->attachments;
    def.shapes = to->shapes;
    def.ports = to->ports;
    def.force_channels = to->force_channels;
    def.node_count = sum->nodes;
    def.body_count = sum->bodies;
    def.joint_count = joint_count;
    def.force_count = sum->forces;
    def.beam_count = sum->beams;
    def.flexible_count = sum->flexibles;
    def.attachment_count = sum->attachments;
    def.shape_count = sum->shapes;
    def.port_count = sum->ports;

    yk_status status = yk_smooth_make(context, &def, whole);
    if (status == YK_OK)
        status = yk_smooth_order_channels(&(*whole)->model, merge);
    if (status != YK_OK) {
        yk_smooth_destroy(*whole);
        return status;
    }

    /* The wrench on a, which is the second body of the joints, and its opposite on b. */
    port_model *ports = (*whole)->model.ports;
    int first = sum->joints;
    for (int i = 0; i < merge->joint_count; i++) {
        const yk_merge_joint *joint = &merge->joints[i];
        port_model *a = &ports[totals_before(merge->parts, joint->part_a).ports + joint->port_a];
        port_model *b = &ports[totals_before(merge->parts, joint->part_b).ports + joint->port_b];

        a->merged = b->merged = first;
        a->merged_count = b->merged_count = counts[i];
        a->merged_side = 1;
        b->merged_side = 0;
        first += counts[i];
    }

    return YK_OK;
}

yk_status yk_smooth_merge(const yk_merge_def *merge, yk_subsystem **merged)
{
    *merged = NULL;
    yk_subsystem *const *parts = merge->parts;
    yk_context *context = ((const yk_smooth *)parts[0])->model.context;
    yk_status status = check_parts(context, merge);
    if (status != YK_OK)
        return status;

    /* Arrays for all parts, and for as many joints as the interfaces can be made of. */
    totals sum = totals_before(parts, merge->part_count);
    size_t interfaces = (size_t)merge->joint_count;
    size_t pieces = YK_JOINT_PIECES_MAX * interfaces;
    arrays to = {0};
#define ALLOCATE(array, count) to.array = yk_allocate(context, (size_t)(count), sizeof *to.array)
    ALLOCATE(nodes, sum.nodes);
    ALLOCATE(bodies, sum.bodies);
    ALLOCATE(joints, (size_t)sum.joints + pieces);
    ALLOCATE(forces, sum.forces);
    ALLOCATE(beams, sum.beams);
    ALLOCATE(flexibles, sum.flexibles);
    ALLOCATE(attachments, sum.attachments);
    ALLOCATE(shapes, sum.shapes);
    ALLOCATE(ports, sum.ports);
    ALLOCATE(force_channels, sum.forces);
    ALLOCATE(names, pieces * NAME_LENGTH);
#undef ALLOCATE
    int *counts = yk_allocate(context, interfaces, sizeof *counts); /* joints of each */
    void *const blocks[] = {to.nodes, to.bodies,         to.joints,      to.forces,
                            to.beams, to.flexibles,      to.attachments, to.shapes,
                            to.ports, to.force_channels, to.names,       counts};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!blocks[i])
            status = YK_ERROR_MEMORY;

    /* The parts one after the other. */
    for (int i = 0; i < merge->part_count && status == YK_OK; i++) {
        totals at = totals_before(parts, i);
        const yk_transform *transform = merge->transforms ? &merge->transforms[i] : NULL;
        add_part(def_of(parts[i]), i, &at, sum.nodes, transform, &to);
    }

    /* Joints where the ports were coupled. */
    int made = 0;
    for (int i = 0; i < merge->joint_count && status == YK_OK; i++) {
        char *names = to.names + (size_t)made * NAME_LENGTH;
        yk_joint_def *joints = &to.joints[sum.joints + made];
        status = connect_parts(context, merge, &merge->joints[i], &to, names, joints, &counts[i]);
        made += counts[i];
    }

    /* The model keeps copies of all arrays. */
    yk_smooth *whole = NULL;

    if (status == YK_OK)
        status = create_whole(context, merge, &sum, counts, &to, &whole);
    if (status == YK_OK)
        *merged = yk_smooth_subsystem(whole);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_release(context, blocks[i]);

    return status;
}
