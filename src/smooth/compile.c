/* From the def and the connections of the ports to what the solver loops over: numbered unknowns, rows, the pattern of
 * the matrix, and all memory that stepping needs. */
#include <stdio.h>
#include <string.h>

#include "smooth/internal.h"

yk_beam_def yk_smooth_beam_shape(const yk_smooth_def *def, const yk_smooth_beam_def *beam)
{
    yk_beam_def shape = {.section = {beam->section[0], beam->section[1]}};
    for (int k = 0; k < YK_BEAM_NODES; k++) {
        yk_smooth_node_def node = yk_smooth_place_of(def, beam->node[k]);
        shape.position[k] = node.position;
        shape.orientation[k] = node.orientation;
        shape.offset[k] = beam->offset[k];
        shape.section_frame[k] = beam->section_frame[k];
    }
    return shape;
}

/* Portions of the beam become bodies on its nodes. */
static yk_status compile_beam(yk_smooth *model, const yk_smooth_beam_def *def, beam_model *made)
{
    yk_beam_def shape = yk_smooth_beam_shape(&model->def, def);
    made->name = def->name;
    for (int k = 0; k < YK_BEAM_NODES; k++) made->node[k] = yk_smooth_frame_of(model, def->node[k]);
    yk_status status = yk_beam_create(model->context, &shape, &made->beam);
    if (status != YK_OK) {
        char reason[256];
        snprintf(reason, sizeof reason, "%s", yk_last_message(model->context));
        return yk_fail(model->context, status, "%s: '%s': %s", model->def.name, def->name, reason);
    }
    yk_inertia lump[YK_BEAM_NODES];
    yk_beam_lumps(&shape, lump);
    for (int k = 0; k < YK_BEAM_NODES; k++)
        if (lump[k].mass > 0) yk_inertia_add(&model->nodes[made->node[k]].inertia, &lump[k]);
    return YK_OK;
}

static yk_status compile_beams(yk_smooth *model)
{
    const yk_smooth_def *def = &model->def;
    model->beams = yk_allocate(model->context, (size_t)def->beam_count, sizeof *model->beams);
    if (!model->beams) return YK_ERROR_MEMORY;
    for (int i = 0; i < def->beam_count; i++) {
        yk_status status = compile_beam(model, &def->beams[i], &model->beams[i]);
        if (status != YK_OK) return status;
    }
    return YK_OK;
}

/* A mass without inertia, a point, would leave its rotation undetermined: it gets the inertia of a small ball, a
 * hundred-thousandth of the length scale in size. */
static void round_off_points(yk_smooth *model)
{
    double radius = 1e-5 * model->length_scale;
    for (int i = 0; i < model->node_count; i++) {
        yk_inertia *inertia = &model->nodes[i].inertia;
        double least = inertia->mass * radius * radius;
        if (inertia->mass == 0 || yk_inertia_least(inertia) >= least) continue;
        for (int k = 0; k < 3; k++) inertia->tensor.m[k][k] += least;
    }
}

/* Typical mass and radius of gyration: the mean of all bodies. Floating frames carry mass, not on the line of balance. */
static void typical_inertia(yk_smooth *model)
{
    const yk_smooth_def *def = &model->def;
    double mass = 0, square = 0;
    int massive = 0;
    for (int i = 0; i < model->node_count; i++) {
        const yk_inertia *inertia = &model->nodes[i].inertia;
        mass += inertia->mass;
        massive += inertia->mass > 0;
        for (int k = 0; k < 3; k++) square += inertia->tensor.m[k][k] / 3;
    }
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_flexible *body = def->flexibles[i].body;
        mass += yk_flexible_mass(body);
        massive += body->kind == YK_FLEXIBLE_ROD ? body->elements : 1;
        if (body->kind == YK_FLEXIBLE_ROD) continue;
        yk_inertia inertia = yk_ffrf_inertia(&body->modal, NULL);
        for (int k = 0; k < 3; k++) square += inertia.tensor.m[k][k] / 3;
        model->nodes[def->flexibles[i].node].massive = model->nodes[def->flexibles[i].node].eccentric = true;
    }
    model->mass_scale = massive ? mass / massive : 1;
    model->gyration = square > 0 ? sqrt(square / mass) : model->length_scale;
}

static yk_status compile_nodes(yk_smooth *model, int drivers)
{
    const yk_smooth_def *def = &model->def;
    model->node_count = def->node_count;
    model->place_first = def->node_count + 1 + drivers;
    model->frame_count = model->place_first + def->place_count;
    model->nodes = yk_allocate(model->context, (size_t)model->frame_count, sizeof *model->nodes);
    if (!model->nodes) return YK_ERROR_MEMORY;
    for (int i = 0; i < model->frame_count; i++) {
        bool free_node = i < def->node_count;
        model->nodes[i] = (node_model){.name = free_node ? def->nodes[i].name : "ground",
                                       .unknown = free_node ? 6 * i : -1,
                                       .place = i < model->place_first ? -1 : i - model->place_first,
                                       .keep = free_node && def->nodes[i].keep};
    }
    for (int i = 0; i < def->body_count; i++) {
        const yk_smooth_body_def *body = &def->bodies[i];
        yk_inertia part = yk_inertia_of_body(body->mass, body->centre, body->inertia, body->axes);
        yk_inertia_add(&model->nodes[body->node].inertia, &part);
    }
    yk_status status = compile_beams(model);
    if (status != YK_OK) return status;
    round_off_points(model);
    for (int i = 0; i < model->node_count; i++) {
        node_model *node = &model->nodes[i];
        node->massive = node->inertia.mass > 0;
        node->eccentric = yk_v3_norm2(node->inertia.moment) > 0;
    }
    typical_inertia(model);
    return YK_OK;
}

/* A typical size: the largest arm of a marker or distance between the ends of a joint, or the spread of the nodes. */
static double length_scale(const yk_smooth_def *def)
{
    double length = 0;
    for (int i = 0; i < def->joint_count; i++) {
        const yk_smooth_joint_def *joint = &def->joints[i];
        for (int side = 0; side < 2; side++)
            if (joint->node[side] >= 0) length = fmax(length, yk_v3_norm(joint->marker[side].offset));
        if (joint->node[0] >= 0 && joint->node[1] >= 0)
            length = fmax(length, yk_v3_norm(yk_v3_sub(yk_smooth_place_of(def, joint->node[0]).position,
                                                       yk_smooth_place_of(def, joint->node[1]).position)));
    }
    for (int i = 0; i < def->beam_count; i++) {
        const int *node = def->beams[i].node;
        if (node[0] >= 0 && node[2] >= 0)
            length = fmax(length, yk_v3_norm(yk_v3_sub(def->nodes[node[0]].position, def->nodes[node[2]].position)));
    }
    for (int i = 0; i < def->flexible_count; i++) length = fmax(length, def->flexibles[i].body->length);
    if (length > 0) return length;
    for (int i = 1; i < def->node_count; i++)
        length = fmax(length, yk_v3_norm(yk_v3_sub(def->nodes[i].position, def->nodes[0].position)));
    return length > 0 ? length : 1;
}

/* Points that coincide turn no arms where their markers are in the origins. */
static unsigned chained_stiffness(const yk_joint *joint)
{
    unsigned mask = 0;
    for (int r = 0; r < joint->row_count; r++) {
        unsigned bits = yk_row_stiffness_mask(&joint->row[r]);
        for (int side = 0; side < 2; side++) {
            int torque = 2 * side + 1;
            bool arm = yk_v3_norm2(joint->offset[side]) > 0;
            if (joint->row[r].kind == YK_ROW_POINT && !arm) bits &= ~(1u << (4 * torque + torque));
        }
        mask |= bits;
    }
    return mask;
}

static void add_joint(yk_smooth *model, const char *name, yk_joint joint, int a, int b, yk_smooth_function drive,
                      int port)
{
    joint_model *made = &model->joints[model->joint_count++];
    *made = (joint_model){
        .name = name, .joint = joint, .node = {a, b}, .row = model->row_count, .drive = drive, .port = port};
    for (int r = 0; r < joint.row_count; r++) made->stiffness_mask |= yk_row_stiffness_mask(&joint.row[r]);
    made->chained = model->nodes[a].place >= 0 || model->nodes[b].place >= 0;
    if (made->chained) made->stiffness_mask = chained_stiffness(&joint);
    model->row_count += joint.row_count;
}

static double input_distance(void *user, const yk_smooth *model, double t);

static yk_joint joint_of_def(const yk_smooth_joint_def *joint)
{
    if (joint->kind == YK_JOINT_AXES) return yk_joint_of_axes(joint->constrained, &joint->marker[0], &joint->marker[1]);
    return yk_joint_make(joint->kind, &joint->marker[0], &joint->marker[1], joint->length);
}

/* A marker that takes motion is tied to a prescribed frame; its own axes name the motions. */
static yk_joint joint_of_port(const port_model *port)
{
    yk_marker origin = yk_marker_default();
    return yk_joint_of_axes(port->constrained, &port->def.marker[0], &origin);
}

static yk_status compile_joints(yk_smooth *model)
{
    const yk_smooth_def *def = &model->def;
    model->joints = yk_allocate(model->context, (size_t)(def->joint_count + def->port_count), sizeof *model->joints);
    if (!model->joints) return YK_ERROR_MEMORY;
    model->joint_count = 0;
    model->row_count = 0;
    for (int i = 0; i < def->joint_count; i++) {
        const yk_smooth_joint_def *joint = &def->joints[i];
        yk_joint made = joint_of_def(joint);
        add_joint(model, joint->name, made, yk_smooth_frame_of(model, joint->node[0]),
                  yk_smooth_frame_of(model, joint->node[1]), joint->drive, -1);
        model->joints[model->joint_count - 1].drive_unit = joint->drive_unit;
    }
    int driver = model->node_count + 1;
    yk_smooth_function none = {NULL, NULL};
    for (int i = 0; i < def->port_count; i++) {
        port_model *port = &model->ports[i];
        for (int side = 0; side < 2; side++) port->node[side] = yk_smooth_frame_of(model, port->def.node[side]);
        port->joint = port->driver = -1;
        if (port->def.kind == YK_PORT_SCALAR)
            port->distance = yk_joint_make(YK_JOINT_DISTANCE, &port->def.marker[0], &port->def.marker[1], 0);
        if (port->causality != YK_TAKES_MOTION) continue;
        port->joint = model->joint_count;
        if (port->def.kind == YK_PORT_SCALAR) {
            yk_smooth_function drive = {input_distance, port};
            add_joint(model, port->def.name, port->distance, port->node[0], port->node[1], drive, i);
            continue;
        }
        port->driver = driver;
        add_joint(model, port->def.name, joint_of_port(port), port->node[0], driver, none, i);
        driver++;
    }
    return YK_OK;
}

/* The drive of a scalar motion port: its input signal at the time that is asked for. */
static double input_distance(void *user, const yk_smooth *model, double t)
{
    const port_model *port = user;
    const yk_signal *signal = &model->inputs[port - model->ports];
    double time = t - model->t + model->input_time, value = 0;
    for (int i = signal->degree; i >= 0; i--) value = value * time + signal->linear[i].x;
    return value;
}

static yk_status compile_forces(yk_smooth *model)
{
    const yk_smooth_def *def = &model->def;
    model->forces = yk_allocate(model->context, (size_t)def->force_count, sizeof *model->forces);
    if (!model->forces) return YK_ERROR_MEMORY;
    for (int i = 0; i < def->force_count; i++) {
        const yk_smooth_force_def *force = &def->forces[i];
        bool both = yk_force_on_both(force->kind);
        force_model *made = &model->forces[i];
        *made = (force_model){.name = force->name,
                              .first_channel = force->first_channel,
                              .node = {yk_smooth_frame_of(model, both ? force->node[0] : YK_SMOOTH_GROUND),
                                       yk_smooth_frame_of(model, force->node[1])},
                              .load = force->load,
                              .load_unit = force->load_unit,
                              .input = force->input};
        made->chained = model->nodes[made->node[0]].place >= 0 || model->nodes[made->node[1]].place >= 0;
        yk_force_law *law = &made->law;
        law->kind = force->kind;
        for (int side = 0; side < 2; side++) {
            law->offset[side] = force->marker[side].offset;
            law->axes[side] = yk_q_matrix(yk_q_unit(force->marker[side].orientation));
        }
        law->stiffness = force->stiffness;
        law->damping = force->damping;
        law->free = force->free;
        law->vector = force->vector;
        memcpy(law->bushing_stiffness, force->bushing_stiffness, sizeof law->bushing_stiffness);
        memcpy(law->bushing_damping, force->bushing_damping, sizeof law->bushing_damping);
    }
    return YK_OK;
}

/* The image: all that a step depends on, in one array of doubles. */
typedef struct image_size {
    size_t nodes, coordinates, rows, frames, ports, method;
    size_t part; /* words that are kept for each part that can be relaxed */
    size_t continuous, words;
} image_size;

/* From the def and the connections alone, so that callers may ask before start. */
static image_size image_size_of(const yk_smooth *model)
{
    image_size size = {.nodes = (size_t)model->def.node_count, .ports = (size_t)model->def.port_count};
    size.coordinates = (size_t)yk_smooth_coordinates_of(&model->def);
    size.frames = size.nodes + 1 + (size_t)model->def.place_count;
    for (int i = 0; i < model->def.joint_count; i++) size.rows += (size_t)joint_of_def(&model->def.joints[i]).row_count;
    for (int i = 0; i < model->def.port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->causality != YK_TAKES_MOTION) continue;
        bool marker = port->def.kind == YK_PORT_MARKER;
        size.rows += marker ? (size_t)joint_of_port(port).row_count : 1;
        size.frames += marker;
    }
    size_t word = sizeof(double);
    if (model->integrator->remembers) size.method = 6 * size.nodes + size.coordinates;
    size.continuous = 2 * size.nodes * sizeof(node_state) / word + 9 * size.nodes + 2 * size.rows + size.method +
                      2 * size.coordinates * sizeof(coordinate_state) / word + size.coordinates;
    size_t placement = size.frames * sizeof(yk_frame) / word + size.coordinates * sizeof(coordinate_reference) / word;
    size.part = sizeof(part_state) / word + placement;
    size.words = size.continuous + size.ports * sizeof(yk_effort) / word + size.frames * sizeof(yk_frame) / word +
                 (size_t)yk_smooth_part_count(model) * size.part + placement + size.rows +
                 (sizeof(factor_state) + sizeof(clock_state)) / word;
    return size;
}

yk_state_layout yk_smooth_layout(const yk_smooth *model)
{
    image_size size = image_size_of(model);
    return (yk_state_layout){.words = size.words, .continuous = size.continuous};
}

static yk_status compile_state(yk_smooth *model)
{
    image_size size = image_size_of(model);
    size_t n = size.nodes, m = size.rows, words = size.words;
    size_t node_words = sizeof(node_state) / sizeof(double), ports = size.ports * sizeof(yk_effort) / sizeof(double);
    size_t coordinate_words = size.coordinates * sizeof(coordinate_state) / sizeof(double);
    size_t frame_words = size.frames * sizeof(yk_frame) / sizeof(double);
    model->image = yk_allocate(model->context, words, sizeof *model->image);
    if (!model->image) return YK_ERROR_MEMORY;
    model->image_words = words;
    double *at = model->image;
    state_view *view = &model->state;
    view->now = (node_state *)at, at += n * node_words;
    view->before = (node_state *)at, at += n * node_words;
    view->coordinate_now = (coordinate_state *)at, at += coordinate_words;
    view->coordinate_before = (coordinate_state *)at, at += coordinate_words;
    view->turn = (yk_vec3 *)at, at += 3 * n;
    view->older_move = (yk_vec3 *)at, at += 3 * n;
    view->older_turn = (yk_vec3 *)at, at += 3 * n;
    view->older_change = at, at += size.coordinates;
    view->lambda = at, at += m;
    view->lambda_before = at, at += m;
    view->method = at, at += size.method;
    view->effort = (yk_effort *)at, at += ports;
    view->driven = (yk_frame *)at, at += frame_words;
    model->part_words = size.part;
    view->parts = at, at += (size_t)yk_smooth_part_count(model) * size.part;
    view->reference = (yk_frame *)at, at += frame_words;
    view->reference_coordinate = (coordinate_reference *)at;
    at += size.coordinates * sizeof(coordinate_reference) / sizeof(double);
    view->reference_lambda = at, at += m;
    view->factor = (factor_state *)at, at += sizeof(factor_state) / sizeof(double);
    view->clock = (clock_state *)at;
    return YK_OK;
}

/* Coordinates count so that all have the typical mass. */
static void scale_coordinates(yk_smooth *model)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        double *scale = &model->unknown_scale[model->coordinate_first + of->coordinate];
        const yk_flexible *body = of->body;
        for (int k = 0; k < body->coordinates; k++) {
            int vector = k % (YK_ANCF_NODE + YK_ANCF_MIDDLE) / 3; /* of an element; those of its second node repeat */
            double mass = body->kind == YK_FLEXIBLE_MODAL ? body->modal.modal_mass[(body->modal.modes + 1) * k]
                                                          : body->element.mass[vector][vector];
            scale[k] = sqrt(model->mass_scale / mass);
        }
    }
}

/* Rotations count as arcs of the radius of gyration; equations on angles likewise. */
static void scale_unknowns(yk_smooth *model)
{
    for (int i = 0; i < model->motion_count; i++)
        model->unknown_scale[i] = yk_smooth_turns(model, i) ? 1 / model->gyration : 1;
    scale_coordinates(model);
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        for (int r = 0; r < joint->joint.row_count; r++) {
            yk_row_kind kind = joint->joint.row[r].kind;
            bool angle = kind == YK_ROW_AXES || kind == YK_ROW_SPIN;
            model->unknown_scale[model->motion_count + joint->row + r] = angle ? model->gyration : 1;
        }
    }
}

static yk_status compile_trial(yk_smooth *model)
{
    yk_context *context = model->context;
    model->coordinate_count = yk_smooth_coordinates_of(&model->def);
    model->coordinate_first = 6 * model->node_count;
    model->motion_count = model->coordinate_first + model->coordinate_count;
    model->unknown_count = model->motion_count + model->row_count;
    model->coordinates = yk_allocate(context, (size_t)model->coordinate_count, sizeof *model->coordinates);
    model->trial = yk_allocate(context, (size_t)model->frame_count, sizeof *model->trial);
    model->lambda = yk_allocate(context, (size_t)model->row_count, sizeof *model->lambda);
    model->load = yk_allocate(context, (size_t)model->frame_count, sizeof *model->load);
    model->right = yk_allocate(context, (size_t)model->unknown_count, sizeof *model->right);
    model->unknown_scale = yk_allocate(context, (size_t)model->unknown_count, sizeof *model->unknown_scale);
    model->work_vector = yk_allocate(context, 2 * (size_t)model->unknown_count, sizeof *model->work_vector);
    if (!model->coordinates || !model->trial || !model->lambda || !model->load || !model->right ||
        !model->work_vector || !model->unknown_scale)
        return YK_ERROR_MEMORY;
    size_t scratch = model->integrator->scratch_words ? model->integrator->scratch_words(model) : 0;
    model->scratch = yk_allocate(context, scratch, sizeof *model->scratch);
    if (!model->scratch) return YK_ERROR_MEMORY;
    scale_unknowns(model);
    for (int i = 0; i < model->frame_count; i++) {
        model->trial[i].frame = yk_frame_ground();
        model->trial[i].orientation = yk_q_identity();
    }
    return YK_OK;
}

/* Order of elimination: nodes by minimum degree of the graph of joints and forces; each joint's equations right after
 * the first of its nodes while that one has freedom left for them, else after the second. A pivot of an equation is
 * then -G M^-1 G^T and not the zero that stands in the matrix, and a chain is eliminated from its ends inwards without
 * fill. */
typedef struct elimination {
    int *node_order; /* nodes in the order of elimination */
    int *rank;       /* place of a node in it */
    int *freedom;    /* of a node, not yet taken by joints */
    int *owner;      /* of a joint: the node after which it comes */
} elimination;

/* The node that an end of a joint or force moves with: the floating frame of a modal body; -1 where there is none, or only
 * coordinates, which are eliminated first. */
static int graph_node(const yk_smooth *model, int frame)
{
    const node_model *node = &model->nodes[frame];
    if (node->place >= 0) return model->flexibles[model->places[node->place].flexible].node;
    return node->unknown < 0 ? -1 : frame;
}

static size_t graph_edges(const yk_smooth *model, yk_sparse_entry *edges)
{
    size_t count = 0;
    for (int i = 0; i < model->joint_count + model->def.force_count; i++) {
        const int *node = i < model->joint_count ? model->joints[i].node : model->forces[i - model->joint_count].node;
        int a = graph_node(model, node[0]), b = graph_node(model, node[1]);
        if (a < 0 || b < 0) continue;
        edges[count++] = (yk_sparse_entry){a, b};
        edges[count++] = (yk_sparse_entry){b, a};
    }
    for (int i = 0; i < model->def.beam_count; i++)
        for (int k = 0; k < YK_BEAM_NODES; k++) {
            int a = model->beams[i].node[k], b = model->beams[i].node[(k + 1) % YK_BEAM_NODES];
            if (model->nodes[a].unknown < 0 || model->nodes[b].unknown < 0) continue;
            edges[count++] = (yk_sparse_entry){a, b};
            edges[count++] = (yk_sparse_entry){b, a};
        }
    return count;
}

static void assign_joints(yk_smooth *model, elimination *e)
{
    for (int k = 0; k < model->node_count; k++) {
        e->rank[e->node_order[k]] = k;
        e->freedom[k] = 6;
    }
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        int first = -1, last = -1;
        for (int side = 0; side < 2; side++) {
            int node = graph_node(model, joint->node[side]);
            if (node < 0) continue;
            if (first < 0 || e->rank[node] < e->rank[first]) first = node;
            if (last < 0 || e->rank[node] > e->rank[last]) last = node;
        }
        e->owner[i] = first >= 0 && e->freedom[first] >= joint->joint.row_count ? first : last;
        if (joint->chained && e->owner[i] >= 0 && e->freedom[e->owner[i]] < joint->joint.row_count) e->owner[i] = -1;
        if (e->owner[i] >= 0) e->freedom[e->owner[i]] -= joint->joint.row_count;
    }
}

static void write_order(const yk_smooth *model, const elimination *e, int *next, int *head, int *order)
{
    /* Joints of each node as linked lists. */
    for (int i = 0; i < model->node_count; i++) head[i] = -1;
    int at = 0;
    for (int k = 0; k < model->coordinate_count; k++) order[at++] = model->coordinate_first + k;
    for (int i = model->joint_count - 1; i >= 0; i--) {
        if (e->owner[i] < 0) continue;
        next[i] = head[e->owner[i]];
        head[e->owner[i]] = i;
    }
    for (int k = 0; k < model->node_count; k++) {
        int node = e->node_order[k];
        for (int u = 0; u < 6; u++) order[at++] = 6 * node + u;
        for (int i = head[node]; i >= 0; i = next[i])
            for (int r = 0; r < model->joints[i].joint.row_count; r++)
                order[at++] = model->motion_count + model->joints[i].row + r;
    }
    for (int i = 0; i < model->joint_count; i++)
        for (int r = 0; r < model->joints[i].joint.row_count && e->owner[i] < 0; r++)
            order[at++] = model->motion_count + model->joints[i].row + r;
}

static yk_status elimination_order(yk_smooth *model, int *order)
{
    yk_context *context = model->context;
    size_t n = (size_t)model->node_count, m = (size_t)model->joint_count, f = (size_t)model->def.force_count;
    yk_sparse_entry *edges = yk_allocate(context, 2 * (m + f) + 6 * (size_t)model->def.beam_count, sizeof *edges);
    int *block = yk_allocate(context, 4 * n + 2 * m, sizeof *block);
    yk_status status = edges && block ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) {
        elimination e = {.node_order = block, .rank = block + n, .freedom = block + 2 * n, .owner = block + 4 * n};
        size_t count = graph_edges(model, edges);
        if (model->node_count) status = yk_graph_order(context, model->node_count, edges, count, e.node_order);
        if (status == YK_OK) {
            assign_joints(model, &e);
            write_order(model, &e, block + 4 * n + m, block + 3 * n, order);
        }
    }
    yk_release(context, edges);
    yk_release(context, block);
    return status;
}

static void scale_entries(yk_smooth *model)
{
    const int *starts = yk_sparse_column_starts(model->matrix), *rows = yk_sparse_rows(model->matrix);
    for (int j = 0; j < model->unknown_count; j++)
        for (int k = starts[j]; k < starts[j + 1]; k++) {
            bool compliance = rows[k] == j && j >= model->motion_count;
            model->entry_scale[k] = compliance ? 1 : model->unknown_scale[j] * model->unknown_scale[rows[k]];
        }
}

static yk_status compile_matrix(yk_smooth *model)
{
    yk_context *context = model->context;
    model->place_count = yk_smooth_pattern(model, NULL);
    yk_sparse_entry *entries = yk_allocate(context, model->place_count, sizeof *entries);
    int *order = yk_allocate(context, (size_t)model->unknown_count, sizeof *order);
    model->place = yk_allocate(context, model->place_count, sizeof *model->place);
    yk_status status = entries && order && model->place ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) status = elimination_order(model, order);
    if (status == YK_OK) {
        yk_smooth_pattern(model, entries);
        status = yk_sparse_create_ordered(context, model->unknown_count, entries, model->place_count, model->place,
                                          order, &model->matrix);
    }
    yk_release(context, entries);
    yk_release(context, order);
    if (status != YK_OK) return status;
    model->entry_scale = yk_allocate(context, yk_sparse_nonzeros(model->matrix), sizeof *model->entry_scale);
    if (!model->entry_scale) return YK_ERROR_MEMORY;
    scale_entries(model);
    return YK_OK;
}

void yk_smooth_release_compiled(yk_smooth *model)
{
    yk_context *context = model->context;
    yk_smooth_release_interface(model);
    yk_smooth_release_variation(model);
    yk_smooth_release_relaxation(model);
    yk_sparse_destroy(model->matrix);
    model->matrix = NULL;
    yk_release(context, model->nodes), model->nodes = NULL;
    yk_release(context, model->joints), model->joints = NULL;
    yk_release(context, model->forces), model->forces = NULL;
    yk_release(context, model->beams), model->beams = NULL;
    yk_smooth_release_flexibles(model);
    yk_release(context, model->carried), model->carried = NULL;
    yk_release(context, model->image), model->image = NULL;
    yk_release(context, model->trial), model->trial = NULL;
    yk_release(context, model->coordinates), model->coordinates = NULL;
    yk_release(context, model->lambda), model->lambda = NULL;
    yk_release(context, model->load), model->load = NULL;
    yk_release(context, model->right), model->right = NULL;
    yk_release(context, model->work_vector), model->work_vector = NULL;
    yk_release(context, model->scratch), model->scratch = NULL;
    yk_release(context, model->place), model->place = NULL;
    yk_release(context, model->unknown_scale), model->unknown_scale = NULL;
    yk_release(context, model->entry_scale), model->entry_scale = NULL;
    model->compiled = false;
}

yk_status yk_smooth_compile(yk_smooth *model)
{
    yk_smooth_release_compiled(model);
    int drivers = 0;
    for (int i = 0; i < model->def.port_count; i++)
        drivers += model->ports[i].causality == YK_TAKES_MOTION && model->ports[i].def.kind == YK_PORT_MARKER;
    model->length_scale = length_scale(&model->def);
    yk_status status = compile_nodes(model, drivers);
    if (status == YK_OK) status = yk_smooth_compile_flexibles(model);
    if (status == YK_OK) status = compile_joints(model);
    if (status == YK_OK) status = compile_forces(model);
    if (status == YK_OK) status = compile_state(model);
    if (status == YK_OK) status = compile_trial(model);
    if (status == YK_OK) status = yk_smooth_compile_carried(model);
    if (status == YK_OK) status = compile_matrix(model);
    if (status != YK_OK) {
        yk_smooth_release_compiled(model);
        return status;
    }
    model->compiled = true;
    return YK_OK;
}
