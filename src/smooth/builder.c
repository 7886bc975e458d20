/* The builder of yoke/smooth.h: parts are collected in the arrays of one description, of which
 * the model is made. */
#include <string.h>

#include "math/so3.h"
#include "smooth/builder.h"

/* Defaults ------------------------------------------------------------------------------------- */

yk_smooth_options yk_smooth_options_default(void)
{
    return (yk_smooth_options){
        .rho_inf = 0.6,
        .newton_relative = 1e-4,
        .newton_absolute = 1e-8,
        .newton_iterations = 30,
        .assembly = 1e-10,
    };
}

yk_smooth_def yk_smooth_default(void)
{
    return (yk_smooth_def){
        .name = "smooth", .gravity = {0, 0, -9.81}, .options = yk_smooth_options_default()};
}

yk_smooth_description yk_smooth_description_empty(void)
{
    return (yk_smooth_description){.name = "smooth", .options = yk_smooth_options_default()};
}

yk_smooth_node_def yk_smooth_node_default(void)
{
    return (yk_smooth_node_def){.orientation = yk_q_identity()};
}

yk_smooth_body_def yk_smooth_body_default(void)
{
    return (yk_smooth_body_def){
        .node = YK_NO_ID, .axes = yk_q_identity(), .orientation = yk_q_identity()};
}

yk_smooth_beam_def yk_smooth_beam_default(void)
{
    yk_smooth_beam_def def = {.node = {YK_GROUND, YK_GROUND, YK_GROUND}};
    for (int i = 0; i < YK_BEAM_NODES; i++)
        def.section_frame[i] = yk_q_identity();
    return def;
}

yk_smooth_shape_def yk_smooth_shape_default(void)
{
    return (yk_smooth_shape_def){
        .node = YK_GROUND, .kind = YK_SHAPE_SPHERE, .marker = yk_marker_default()};
}

yk_smooth_flexible_def yk_smooth_flexible_default(void)
{
    return (yk_smooth_flexible_def){.node = YK_GROUND, .orientation = yk_q_identity()};
}

/* Building ------------------------------------------------------------------------------------- */

/* Ids of places of flexible bodies begin here, so that they do not depend on the number of nodes,
 * which may still grow. */
enum { FIRST_PLACE = 1 << 24 };

enum { MESSAGE_LENGTH = 512 };

struct yk_smooth_builder {
    yk_context *context;
    yk_smooth_description description;
    yk_smooth_node_def *nodes;
    yk_smooth_body_def *bodies;
    yk_joint_def *joints;
    yk_force_def *forces;
    yk_smooth_beam_def *beams;
    yk_smooth_flexible_def *flexibles;
    yk_smooth_attachment_def *attachments;
    yk_smooth_shape_def *shapes;
    yk_port_def *ports;
    yk_status status; /* of the first mistake */
    char message[MESSAGE_LENGTH];
};

yk_smooth_builder *yk_smooth_begin(yk_context *context, const yk_smooth_def *def)
{
    yk_smooth_builder *builder = yk_allocate(context, 1, sizeof *builder);
    if (!builder)
        return NULL;
    yk_smooth_def used = def ? *def : yk_smooth_default();
    builder->context = context;
    builder->description.name = used.name;
    builder->description.gravity = used.gravity;
    builder->description.options = used.options;
    return builder;
}

/* Keeps the first mistake, whose message the context has. */
static int refuse(yk_smooth_builder *builder, yk_status status)
{
    if (builder->status == YK_OK) {
        builder->status = status;
        strncpy(builder->message, yk_last_message(builder->context), MESSAGE_LENGTH - 1);
    }
    return YK_NO_ID;
}

/* Appends a copy of `part` to one of the arrays, which grows by doubling; its index, or
 * YK_NO_ID. */
static int append(yk_smooth_builder *builder, void *array, int *count, const void *part,
                  size_t size)
{
    void **block = array;
    bool full = (*count & (*count - 1)) == 0;
    if (full) {
        size_t capacity = *count ? 2 * (size_t)*count : 1;
        void *grown = yk_reallocate(builder->context, *block, capacity, size);
        if (!grown)
            return refuse(builder, YK_ERROR_MEMORY);
        *block = grown;
    }
    memcpy((char *)*block + (size_t)*count * size, part, size);
    return (*count)++;
}

#define APPEND(builder, list, counter, part)                                 \
    append(builder, &(builder)->list, &(builder)->description.counter, part, \
           sizeof *(builder)->list)

/* Whether all ids are those of nodes, places or the ground. What could not be added was reported
 * where it was added. */
static bool known(yk_smooth_builder *builder, const char *what, const char *name, const int *ids,
                  int count)
{
    const yk_smooth_description *made = &builder->description;
    for (int i = 0; i < count; i++) {
        int id = ids[i];
        bool node = id >= YK_GROUND && id < made->node_count;
        bool attachment = id >= FIRST_PLACE && id < FIRST_PLACE + made->attachment_count;
        if (node || attachment)
            continue;
        if (id == YK_NO_ID && builder->status != YK_OK)
            return false;
        refuse(
            builder,
            yk_fail(
                builder->context, YK_ERROR_ARGUMENT,
                "%s: %s '%s' names body %d, which was not added: take the id that adding returned",
                made->name, what, name ? name : "", id));
        return false;
    }
    return true;
}

int yk_smooth_add_node(yk_smooth_builder *builder, const yk_smooth_node_def *def)
{
    return builder ? APPEND(builder, nodes, node_count, def) : YK_NO_ID;
}

int yk_smooth_add_body(yk_smooth_builder *builder, const yk_smooth_body_def *def)
{
    if (!builder)
        return YK_NO_ID;
    yk_smooth_body_def body = *def;
    if (body.node == YK_NO_ID) {
        yk_smooth_node_def own = yk_smooth_node_default();
        own.name = def->name;
        own.position = def->position;
        own.orientation = def->orientation;
        own.velocity = def->velocity;
        own.angular_velocity = def->angular_velocity;
        body.node = yk_smooth_add_node(builder, &own);
    } else if (!known(builder, "body", def->name, &def->node, 1)) {
        return YK_NO_ID;
    }
    if (body.node == YK_NO_ID || APPEND(builder, bodies, body_count, &body) < 0)
        return YK_NO_ID;
    return body.node;
}

int yk_smooth_add_joint(yk_smooth_builder *builder, const yk_joint_def *def)
{
    if (!builder || !known(builder, "joint", def->name, def->body, 2))
        return YK_NO_ID;
    return APPEND(builder, joints, joint_count, def);
}

int yk_smooth_add_force(yk_smooth_builder *builder, const yk_force_def *def)
{
    if (!builder || !known(builder, "force", def->name, def->body, 2))
        return YK_NO_ID;
    return APPEND(builder, forces, force_count, def);
}

int yk_smooth_add_beam(yk_smooth_builder *builder, const yk_smooth_beam_def *def)
{
    if (!builder || !known(builder, "beam", def->name, def->node, YK_BEAM_NODES))
        return YK_NO_ID;
    return APPEND(builder, beams, beam_count, def);
}

int yk_smooth_add_port(yk_smooth_builder *builder, const yk_port_def *def)
{
    if (!builder || !known(builder, "port", def->name, def->body, 2))
        return YK_NO_ID;
    return APPEND(builder, ports, port_count, def);
}

int yk_smooth_add_shape(yk_smooth_builder *builder, const yk_smooth_shape_def *def)
{
    if (!builder || !known(builder, "shape", "", &def->node, 1))
        return YK_NO_ID;
    return APPEND(builder, shapes, shape_count, def);
}

int yk_smooth_add_flexible(yk_smooth_builder *builder, const yk_smooth_flexible_def *def)
{
    if (!builder || !known(builder, "flexible body", def->name, &def->node, 1))
        return YK_NO_ID;
    return APPEND(builder, flexibles, flexible_count, def);
}

int yk_smooth_add_place(yk_smooth_builder *builder, const yk_smooth_attachment_def *def)
{
    if (!builder)
        return YK_NO_ID;
    int index = APPEND(builder, attachments, attachment_count, def);
    return index < 0 ? YK_NO_ID : FIRST_PLACE + index;
}

/* Beams ---------------------------------------------------------------------------------------- */

yk_vec3 yk_smooth_beam_tangent(const yk_vec3 position[YK_BEAM_NODES], int k)
{
    static const double slope[YK_BEAM_NODES][YK_BEAM_NODES] = {
        {-1.5, 2, -0.5}, {-0.5, 0, 0.5}, {0.5, -2, 1.5}};
    yk_vec3 tangent = {0, 0, 0};
    for (int i = 0; i < YK_BEAM_NODES; i++)
        tangent = yk_v3_axpy(slope[k][i], position[i], tangent);
    return tangent;
}

yk_status yk_smooth_beam_axes(yk_smooth_builder *builder, yk_smooth_beam_def *beam, yk_vec3 up)
{
    if (!builder || !known(builder, "beam", beam->name, beam->node, YK_BEAM_NODES))
        return YK_ERROR_ARGUMENT;
    yk_smooth_node_def nodes[YK_BEAM_NODES];
    yk_vec3 position[YK_BEAM_NODES];
    for (int k = 0; k < YK_BEAM_NODES; k++) {
        nodes[k] = yk_smooth_frame_at(builder, beam->node[k]);
        position[k] = nodes[k].position;
    }

    /* x along the line, z the part of `up` that is square to it, seen from the node. */
    for (int k = 0; k < YK_BEAM_NODES; k++) {
        yk_vec3 tangent = yk_smooth_beam_tangent(position, k);
        yk_vec3 x = yk_v3_unit(tangent);
        yk_vec3 z = yk_v3_axpy(-yk_v3_dot(up, x), x, up);
        if (yk_v3_norm(tangent) == 0 || yk_v3_norm(z) < 1e-6 * yk_v3_norm(up)) {
            yk_status status =
                yk_fail(builder->context, YK_ERROR_ARGUMENT,
                        "beam '%s': 'up' runs along the beam, or its nodes are in one place",
                        beam->name ? beam->name : "");
            refuse(builder, status);
            return status;
        }
        z = yk_v3_unit(z);
        yk_quat axes = yk_so3_quat(yk_m3_columns(x, yk_v3_cross(z, x), z));
        beam->section_frame[k] = yk_q_unit(yk_q_mul(yk_q_conjugate(nodes[k].orientation), axes));
    }
    return YK_OK;
}

/* The whole ------------------------------------------------------------------------------------ */

/* The description with ids of places as the solver counts them: behind the nodes. */
static yk_smooth_description *complete(yk_smooth_builder *builder)
{
    yk_smooth_description *made = &builder->description;
    int shift = made->node_count - FIRST_PLACE;
#define RENUMBER(id)         \
    if ((id) >= FIRST_PLACE) \
    (id) += shift
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < made->joint_count; i++)
            RENUMBER(builder->joints[i].body[side]);
        for (int i = 0; i < made->force_count; i++)
            RENUMBER(builder->forces[i].body[side]);
        for (int i = 0; i < made->port_count; i++)
            RENUMBER(builder->ports[i].body[side]);
    }
    for (int i = 0; i < made->shape_count; i++)
        RENUMBER(builder->shapes[i].node);
#undef RENUMBER
    made->nodes = builder->nodes;
    made->bodies = builder->bodies;
    made->joints = builder->joints;
    made->forces = builder->forces;
    made->beams = builder->beams;
    made->flexibles = builder->flexibles;
    made->attachments = builder->attachments;
    made->shapes = builder->shapes;
    made->ports = builder->ports;
    return made;
}

yk_smooth_node_def yk_smooth_frame_at(const yk_smooth_builder *builder, int id)
{
    yk_smooth_description view = builder->description;
    view.nodes = builder->nodes;
    view.flexibles = builder->flexibles;
    view.attachments = builder->attachments;
    return yk_smooth_start_pose(&view, id >= FIRST_PLACE ? id - FIRST_PLACE + view.node_count : id);
}

int yk_smooth_beams_of(const yk_smooth_builder *builder, const yk_smooth_beam_def **beams)
{
    *beams = builder->beams;
    return builder->description.beam_count;
}

yk_beam_def yk_smooth_beam_element(const yk_smooth_builder *builder, const yk_smooth_beam_def *beam)
{
    yk_smooth_description view = builder->description;
    view.nodes = builder->nodes;
    return yk_smooth_beam_shape(&view, beam);
}

yk_smooth_node_def *yk_smooth_nodes_of(yk_smooth_builder *builder)
{
    return builder->nodes;
}

yk_status yk_smooth_create(yk_smooth_builder *builder, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    if (!builder)
        return YK_ERROR_MEMORY;
    yk_smooth *model = NULL;
    yk_status status = builder->status;
    if (status == YK_OK) {
        status = yk_smooth_make(builder->context, complete(builder), &model);
    } else {
        yk_fail(builder->context, status, "%s", builder->message);
    }
    if (status == YK_OK)
        *subsystem = yk_smooth_subsystem(model);
    yk_smooth_discard(builder);
    return status;
}

void yk_smooth_discard(yk_smooth_builder *builder)
{
    if (!builder)
        return;
    void *blocks[] = {builder->nodes,       builder->bodies, builder->joints,
                      builder->forces,      builder->beams,  builder->flexibles,
                      builder->attachments, builder->shapes, builder->ports};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_release(builder->context, blocks[i]);
    yk_release(builder->context, builder);
}
