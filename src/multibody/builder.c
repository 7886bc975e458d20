/* The builder of yoke/multibody.h. It collects the parts in the arrays of one description, from
 * which the model is created. */
#include "multibody/def.h"
#include "multibody/options.h"

#include "base/context.h"
#include "math/so3.h"

/* Defaults ------------------------------------------------------------------------------------- */

yk_multibody_options yk_multibody_options_default(void)
{
    return yk_multibody_default().options;
}

yk_multibody_def yk_multibody_default(void)
{
    yk_multibody_def def = {
        .name = "multibody",
        .options.assembly_tolerance = 1e-10,
        .options.stages = 4,
        .length_unit = 1,
    };
    yk_option_set_defaults(yk_multibody_gravity.options, &def);
    yk_option_set_defaults(yk_multibody_options_rows.options, &def);
    return def;
}

yk_multibody_description yk_multibody_description_empty(void)
{
    return (yk_multibody_description){
        .name = "multibody", .options = yk_multibody_options_default(), .length_unit = 1};
}

yk_multibody_node_def yk_multibody_node_default(void)
{
    return (yk_multibody_node_def){.orientation = yk_q_identity()};
}

yk_multibody_body_def yk_multibody_body_default(void)
{
    return (yk_multibody_body_def){.node = YK_NULL_BODY,
                                   .inertia_orientation = yk_q_identity(),
                                   .orientation = yk_q_identity()};
}

yk_multibody_body_def yk_multibody_body_named(const char *name, double mass, yk_mat3 inertia,
                                              yk_vec3 position)
{
    yk_multibody_body_def def = yk_multibody_body_default();
    def.name = name;
    def.mass = mass;
    def.inertia = inertia;
    def.position = position;
    return def;
}

yk_multibody_beam_def yk_multibody_beam_default(void)
{
    yk_multibody_beam_def def = {.nodes = {YK_GROUND, YK_GROUND, YK_GROUND}};
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
        def.section_orientations[i] = yk_q_identity();
    return def;
}

yk_multibody_shape_def yk_multibody_shape_default(void)
{
    return (yk_multibody_shape_def){
        .node = YK_GROUND, .kind = YK_SHAPE_SPHERE, .marker = yk_marker_default()};
}

yk_multibody_flexible_def yk_multibody_flexible_default(void)
{
    return (yk_multibody_flexible_def){.node = YK_GROUND_INDEX, .orientation = yk_q_identity()};
}

/* Building ------------------------------------------------------------------------------------- */

yk_multibody_builder *yk_multibody_begin(yk_context *context, const yk_multibody_def *def)
{
    yk_multibody_builder *builder = yk_allocate(context, 1, sizeof *builder);
    if (!builder)
        return NULL;

    yk_multibody_def used = def ? *def : yk_multibody_default();
    builder->building.context = context;
    builder->description.name = used.name;
    builder->description.gravity = used.gravity;
    builder->description.options = used.options;
    builder->description.length_unit = used.length_unit > 0 ? used.length_unit : 1;
    return builder;
}

/* Whether all ids are those of nodes, attachments or the ground. Parts that could not be added have
 * been reported before. */
static bool known(yk_multibody_builder *builder, const char *what, const char *name,
                  const yk_body_id *ids, int count)
{
    const yk_multibody_description *made = &builder->description;
    for (int i = 0; i < count; i++) {
        int id = ids[i].index;
        bool node = id >= YK_GROUND_INDEX && id < made->node_count;
        int attached = id - YK_MULTIBODY_FIRST_ATTACHMENT;
        bool attachment = attached >= 0 && attached < made->attachment_count;
        if (node || attachment)
            continue;
        if (id == YK_NO_ID && builder->building.status != YK_OK)
            return false;

        yk_status status = yk_fail(
            builder->building.context, YK_ERROR_ARGUMENT,
            "%s: %s '%s' names body %d, which was not added: take the id that adding returned",
            made->name, what, name ? name : "", id);
        yk_building_refuse(&builder->building, status);
        return false;
    }

    return true;
}

/* Status of the add functions that return no id. */
static yk_status refused(const yk_multibody_builder *builder)
{
    return builder ? builder->building.status : YK_ERROR_MEMORY;
}

static yk_status added(const yk_multibody_builder *builder, int index)
{
    return index == YK_NO_ID ? refused(builder) : YK_OK;
}

static bool has_def(yk_multibody_builder *builder, const char *function, const void *def)
{
    return builder && yk_building_has_def(&builder->building, function, def);
}

yk_body_id yk_multibody_add_node(yk_multibody_builder *builder, const yk_multibody_node_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_BODY;
    return (yk_body_id){YK_MULTIBODY_APPEND(builder, nodes, node_count, def)};
}

yk_body_id yk_multibody_add_body(yk_multibody_builder *builder, const yk_multibody_body_def *def)
{
    if (!has_def(builder, __func__, def))
        return YK_NULL_BODY;

    /* A body without a node creates its own. */
    yk_multibody_body_def body = *def;
    if (body.node.index == YK_NO_ID) {
        yk_multibody_node_def own = yk_multibody_node_default();
        own.name = def->name;
        own.position = def->position;
        own.orientation = def->orientation;
        own.velocity = def->velocity;
        own.angular_velocity = def->angular_velocity;
        body.node = yk_multibody_add_node(builder, &own);
        if (body.node.index == YK_NO_ID)
            return YK_NULL_BODY;
    } else if (!known(builder, "body", def->name, &def->node, 1)) {
        return YK_NULL_BODY;
    }

    /* Bodies are named by their nodes. */
    int index = YK_MULTIBODY_APPEND(builder, bodies, body_count, &body);
    return index == YK_NO_ID ? YK_NULL_BODY : body.node;
}

yk_joint_id yk_multibody_add_joint(yk_multibody_builder *builder, const yk_joint_def *def)
{
    if (!has_def(builder, __func__, def) || !known(builder, "joint", def->name, def->bodies, 2))
        return YK_NULL_JOINT;
    if (!def->marker_is_global)
        return (yk_joint_id){YK_MULTIBODY_APPEND(builder, joints, joint_count, def)};

    /* One global marker, expressed in both bodies. */
    yk_joint_def joint = *def;
    joint.marker_is_global = false;
    for (int side = 0; side < 2; side++) {
        joint.markers[side] = def->markers[0];
        if (def->bodies[side].index == YK_GROUND_INDEX)
            continue;

        yk_multibody_node_def node = yk_multibody_frame_at(builder, def->bodies[side].index);
        joint.markers[side] = yk_marker_in_body(def->markers[0], node.position, node.orientation);
    }
    return (yk_joint_id){YK_MULTIBODY_APPEND(builder, joints, joint_count, &joint)};
}

yk_force_id yk_multibody_add_force(yk_multibody_builder *builder, const yk_force_def *def)
{
    if (!has_def(builder, __func__, def) || !known(builder, "force", def->name, def->bodies, 2))
        return YK_NULL_FORCE;
    return (yk_force_id){YK_MULTIBODY_APPEND(builder, forces, force_count, def)};
}

yk_status yk_multibody_add_beam(yk_multibody_builder *builder, const yk_multibody_beam_def *def)
{
    if (!has_def(builder, __func__, def) ||
        !known(builder, "beam", def->name, def->nodes, YK_BEAM_NODE_COUNT))
        return refused(builder);
    return added(builder, YK_MULTIBODY_APPEND(builder, beams, beam_count, def));
}

yk_port_id yk_multibody_add_port(yk_multibody_builder *builder, const yk_port_def *def)
{
    if (!has_def(builder, __func__, def) || !known(builder, "port", def->name, def->bodies, 2))
        return YK_NULL_PORT;
    return (yk_port_id){YK_MULTIBODY_APPEND(builder, ports, port_count, def)};
}

yk_port_id yk_multibody_add_marker_port(yk_multibody_builder *builder, const char *name,
                                        yk_body_id body, yk_marker marker)
{
    yk_port_def port = yk_port_marker(name, body, marker);
    return yk_multibody_add_port(builder, &port);
}

yk_status yk_multibody_add_shape(yk_multibody_builder *builder, const yk_multibody_shape_def *def)
{
    if (!has_def(builder, __func__, def) || !known(builder, "shape", "", &def->node, 1))
        return refused(builder);
    return added(builder, YK_MULTIBODY_APPEND(builder, shapes, shape_count, def));
}

int yk_multibody_add_flexible(yk_multibody_builder *builder, const yk_multibody_flexible_def *def)
{
    if (!has_def(builder, __func__, def) ||
        !known(builder, "flexible body", def->name, &(yk_body_id){def->node}, 1))
        return YK_NO_ID;
    return YK_MULTIBODY_APPEND(builder, flexibles, flexible_count, def);
}

int yk_multibody_add_attachment(yk_multibody_builder *builder,
                                const yk_multibody_attachment_def *def)
{
    if (!builder)
        return YK_NO_ID;
    int index = YK_MULTIBODY_APPEND(builder, attachments, attachment_count, def);
    return index == YK_NO_ID ? YK_NO_ID : YK_MULTIBODY_FIRST_ATTACHMENT + index;
}

/* Beams ---------------------------------------------------------------------------------------- */

yk_vec3 yk_multibody_beam_tangent(const yk_vec3 position[YK_BEAM_NODE_COUNT], int k)
{
    static const double slope[YK_BEAM_NODE_COUNT][YK_BEAM_NODE_COUNT] = {
        {-1.5, 2, -0.5}, {-0.5, 0, 0.5}, {0.5, -2, 1.5}};

    yk_vec3 tangent = {0, 0, 0};
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
        tangent = yk_v3_axpy(slope[k][i], position[i], tangent);

    return tangent;
}

yk_status yk_multibody_orient_beam_sections(yk_multibody_builder *builder,
                                            yk_multibody_beam_def *beam, yk_vec3 up)
{
    if (!has_def(builder, __func__, beam) ||
        !known(builder, "beam", beam->name, beam->nodes, YK_BEAM_NODE_COUNT))
        return YK_ERROR_ARGUMENT;

    yk_multibody_node_def nodes[YK_BEAM_NODE_COUNT];
    yk_vec3 position[YK_BEAM_NODE_COUNT];
    for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
        nodes[k] = yk_multibody_frame_at(builder, beam->nodes[k].index);
        position[k] = nodes[k].position;
    }

    /* x along the line, z the part of `up` perpendicular to it, in the frame of the node. */
    for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
        yk_vec3 tangent = yk_multibody_beam_tangent(position, k);
        yk_vec3 x = yk_v3_unit(tangent);
        yk_vec3 z = yk_v3_axpy(-yk_v3_dot(up, x), x, up);
        if (yk_v3_norm(tangent) == 0 || yk_v3_norm(z) < 1e-6 * yk_v3_norm(up)) {
            yk_status status =
                yk_fail(builder->building.context, YK_ERROR_ARGUMENT,
                        "beam '%s': 'up' runs along the beam, or its nodes are in one place",
                        beam->name ? beam->name : "");
            yk_building_refuse(&builder->building, status);
            return status;
        }

        z = yk_v3_unit(z);
        yk_quat axes = yk_so3_quat(yk_m3_columns(x, yk_v3_cross(z, x), z));
        beam->section_orientations[k] =
            yk_q_unit(yk_q_mul(yk_q_conjugate(nodes[k].orientation), axes));
    }

    return YK_OK;
}

/* A look at what was added --------------------------------------------------------------------- */

/* The description so far, with ids of attachments as returned by the builder. */
static yk_multibody_description present(const yk_multibody_builder *builder)
{
    yk_multibody_description view = builder->description;

    view.nodes = builder->nodes;
    view.bodies = builder->bodies;
    view.joints = builder->joints;
    view.forces = builder->forces;
    view.beams = builder->beams;
    view.flexibles = builder->flexibles;
    view.attachments = builder->attachments;
    view.shapes = builder->shapes;
    view.ports = builder->ports;
    view.force_channels = builder->force_channels;

    return view;
}

yk_multibody_node_def yk_multibody_frame_at(const yk_multibody_builder *builder, int id)
{
    yk_multibody_description view = present(builder);

    /* The solver numbers attachments after the nodes. */
    if (id >= YK_MULTIBODY_FIRST_ATTACHMENT)
        id += view.node_count - YK_MULTIBODY_FIRST_ATTACHMENT;
    return yk_multibody_start_pose(&view, id);
}

int yk_multibody_beams_of(const yk_multibody_builder *builder, const yk_multibody_beam_def **beams)
{
    *beams = builder->beams;
    return builder->description.beam_count;
}

yk_beam_def yk_multibody_beam_element(const yk_multibody_builder *builder,
                                      const yk_multibody_beam_def *beam)
{
    yk_multibody_description view = present(builder);
    return yk_multibody_beam_shape(&view, beam);
}

yk_multibody_node_def *yk_multibody_nodes_of(yk_multibody_builder *builder)
{
    return builder->nodes;
}

/* The whole ------------------------------------------------------------------------------------ */

/* The solver numbers attachments after the nodes. */
static void renumber(yk_body_id *id, int node_count)
{
    if (id->index >= YK_MULTIBODY_FIRST_ATTACHMENT)
        id->index += node_count - YK_MULTIBODY_FIRST_ATTACHMENT;
}

yk_multibody_description yk_multibody_describe(yk_multibody_builder *builder)
{
    const yk_multibody_description *made = &builder->description;

    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < made->joint_count; i++)
            renumber(&builder->joints[i].bodies[side], made->node_count);
        for (int i = 0; i < made->force_count; i++)
            renumber(&builder->forces[i].bodies[side], made->node_count);
        for (int i = 0; i < made->port_count; i++)
            renumber(&builder->ports[i].bodies[side], made->node_count);
    }

    for (int i = 0; i < made->shape_count; i++)
        renumber(&builder->shapes[i].node, made->node_count);
    return present(builder);
}

/* Channels and ports are named after parts, so names must be unique. A body has the name of its own
 * node. */
static void check_names(yk_multibody_builder *builder)
{
    yk_building *building = &builder->building;
    const yk_multibody_description *made = &builder->description;

    if (made->node_count > 0)
        yk_building_unique(building, "bodies or nodes", &builder->nodes->name, made->node_count,
                           sizeof *builder->nodes);
    if (made->joint_count > 0)
        yk_building_unique(building, "joints", &builder->joints->name, made->joint_count,
                           sizeof *builder->joints);
    if (made->force_count > 0)
        yk_building_unique(building, "forces", &builder->forces->name, made->force_count,
                           sizeof *builder->forces);
    if (made->beam_count > 0)
        yk_building_unique(building, "beams", &builder->beams->name, made->beam_count,
                           sizeof *builder->beams);
    if (made->port_count > 0)
        yk_building_unique(building, "ports", &builder->ports->name, made->port_count,
                           sizeof *builder->ports);
}

yk_status yk_multibody_create(yk_multibody_builder *builder, yk_subsystem **subsystem)
{
    if (subsystem)
        *subsystem = NULL;
    if (!builder)
        return YK_ERROR_MEMORY;
    if (!subsystem)
        yk_building_refuse(&builder->building,
                           yk_refuse_null(builder->building.context, __func__, "subsystem"));

    /* The first error of all calls is reported here. */
    if (builder->building.status == YK_OK)
        check_names(builder);
    yk_status status = yk_building_finish(&builder->building);

    /* The model keeps a copy of the description. */
    if (status == YK_OK) {
        yk_multibody *model = NULL;
        yk_multibody_description whole = yk_multibody_describe(builder);
        status = yk_multibody_make(builder->building.context, &whole, &model);
        if (status == YK_OK)
            *subsystem = yk_multibody_subsystem(model);
    }

    yk_multibody_discard(builder);
    return status;
}

yk_subsystem *yk_multibody_create_or_null(yk_multibody_builder *builder)
{
    yk_subsystem *subsystem;
    yk_multibody_create(builder, &subsystem);
    return subsystem;
}

void yk_multibody_discard(yk_multibody_builder *builder)
{
    if (!builder)
        return;

    void *blocks[] = {
        builder->nodes, builder->bodies,         builder->joints,      builder->forces,
        builder->beams, builder->flexibles,      builder->attachments, builder->shapes,
        builder->ports, builder->force_channels,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(builder->building.context, blocks[i]);
    yk_free(builder->building.context, builder);
}
