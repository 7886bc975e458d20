/* solver: smooth, from a resolved section to a model. Nodes are numbered: those of `nodes` first,
 * then one for each body without `node`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/so3.h"
#include "model/kind_smooth.h"
#include "model/mechanics_words.h"
#include "model/scenario.h"
#include "model/schema_words.h"
#include "smooth/smooth.h"

typedef struct node_name {
    const char *name;
    int index;
} node_name;

/* A smooth model in the making. */
typedef struct maker {
    yk_builder *builder;
    const yk_node *section;
    yk_smooth_description def;
    yk_smooth_node_def *nodes;
    yk_smooth_body_def *bodies;
    yk_joint_def *joints;
    yk_force_def *forces;
    yk_smooth_beam_def *beams;
    yk_smooth_flexible_def *flexibles;
    yk_smooth_attachment_def *attachments;
    yk_smooth_shape_def *shapes;
    yk_port_def *ports;
    const char **inputs; /* names of the signals that load forces, each once */
    int input_count;
    node_name *names; /* of nodes and places, sorted */
    int name_count;
    yk_status status; /* the first failure */
} maker;

static void fail(maker *m, yk_status status)
{
    if (m->status == YK_OK)
        m->status = status;
}

static void *take(maker *m, size_t count, size_t size)
{
    void *memory = yk_store_take(m->builder->store, (count ? count : 1) * size);
    if (!memory)
        fail(m, YK_ERROR_MEMORY);
    return memory;
}

static int count_of(const yk_node *section, const char *key)
{
    const yk_node *list = yk_node_get(section, key);
    return list ? list->count : 0;
}

static const yk_node *first_of(const yk_node *section, const char *key)
{
    const yk_node *list = yk_node_get(section, key);
    return list ? list->first : NULL;
}

/* Functions ------------------------------------------------------------------------------------ */

/* An expression of time and of channels of the model. */
typedef struct feedback_expression {
    yk_expression *expression;
    int input_count;
    const char *inputs[YK_FEEDBACK_MAX];
} feedback_expression;

static double feedback_value(void *user, double t, const double *inputs)
{
    const feedback_expression *f = user;
    double variables[1 + YK_FEEDBACK_MAX] = {t};
    memcpy(variables + 1, inputs, (size_t)f->input_count * sizeof *inputs);
    return yk_expression_value(f->expression, variables);
}

static yk_feedback feedback_of(maker *m, const yk_node *section)
{
    const char *variables[1 + YK_FEEDBACK_MAX] = {"t"};
    feedback_expression *f = take(m, 1, sizeof *f);
    if (!f)
        return (yk_feedback){0};
    f->input_count = 0;
    for (const yk_node *input = first_of(section, "inputs"); input; input = input->next) {
        f->inputs[f->input_count++] = input->text;
        variables[f->input_count] = yk_node_name(input);
    }
    yk_status status = yk_builder_expression(m->builder, yk_node_get(section, "value"), variables,
                                             1 + f->input_count, &f->expression);
    if (status != YK_OK)
        fail(m, status);
    return (yk_feedback){feedback_value, f, f->inputs, f->input_count};
}

/* Nodes and bodies ----------------------------------------------------------------------------- */

static void make_node(const yk_node *item, yk_smooth_node_def *node)
{
    *node = yk_smooth_node_default();
    node->name = yk_node_name(item);
    node->position = yk_node_vector(item, "position");
    node->orientation = yk_node_orientation(item, "orientation");
    node->velocity = yk_node_vector(item, "velocity");
    node->angular_velocity = yk_node_vector(item, "angular_velocity");
    node->keep = yk_node_boolean(item, "keep");
    if (yk_node_get(item, "displacement"))
        node->displacement = yk_node_vector(item, "displacement");
    if (yk_node_get(item, "rotation"))
        node->rotation = yk_node_vector(item, "rotation");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const node_name *)a)->name, ((const node_name *)b)->name);
}

/* Rigid bodies without `node` and flexible ones with a floating frame have a node of their name. */
static void make_nodes(maker *m)
{
    size_t most = (size_t)(count_of(m->section, "nodes") + count_of(m->section, "bodies"));
    most += (size_t)count_of(m->section, "flexible");
    m->nodes = take(m, most, sizeof *m->nodes);
    if (m->status != YK_OK)
        return;
    int count = 0;
    for (const yk_node *item = first_of(m->section, "nodes"); item; item = item->next)
        make_node(item, &m->nodes[count++]);
    for (const yk_node *item = first_of(m->section, "bodies"); item; item = item->next)
        if (!yk_node_get(item, "node"))
            make_node(item, &m->nodes[count++]);
    for (const yk_node *item = first_of(m->section, "flexible"); item; item = item->next)
        if (item->choice != YK_FLEXIBLE_ITEM_ANCF)
            make_node(item, &m->nodes[count++]);
    m->def.nodes = m->nodes;
    m->def.node_count = count;
}

/* Flexible bodies ------------------------------------------------------------------------------ */

static const char *point_name(maker *m, const yk_node *item, const yk_node *point)
{
    const char *body = yk_node_name(item), *name = yk_node_name(point);
    size_t bytes = strlen(body) + strlen(name) + 2;
    char *full = take(m, bytes, 1);
    if (full)
        snprintf(full, bytes, "%s.%s", body, name);
    return full;
}

/* `amplitudes` or `amplitude_rates` as one number per shape; NULL where there are none. */
static const double *amplitudes_of(maker *m, const yk_node *item, const char *key,
                                   const yk_flexible *body)
{
    const yk_node *given = yk_node_get(item, key);
    if (!given)
        return NULL;
    if (given->value_count > body->coordinates) {
        fail(m, yk_builder_error(m->builder, given,
                                 "the body has %d shapes, not %d: leave out the last",
                                 body->coordinates, given->value_count));
        return NULL;
    }
    double *all = take(m, (size_t)body->coordinates, sizeof *all);
    if (!all)
        return NULL;
    memset(all, 0, (size_t)body->coordinates * sizeof *all);
    memcpy(all, given->values, (size_t)given->value_count * sizeof *all);
    return all;
}

static void make_flexible(maker *m, const yk_node *item, int *node)
{
    int index = m->def.flexible_count, count = count_of(item, "points");
    yk_smooth_flexible_def *made = &m->flexibles[index];
    int *attachments = take(m, (size_t)count, sizeof *attachments);
    yk_flexible *body = NULL;
    *made = yk_smooth_flexible_default();
    if (!attachments)
        return;
    yk_status status = yk_flexible_build(m->builder, item, attachments, &body);
    if (status != YK_OK) {
        fail(m, status);
        return;
    }
    m->def.flexible_count++;
    made->name = yk_node_name(item);
    made->body = body;
    made->position = yk_node_vector(item, "position");
    made->orientation = yk_node_orientation(item, "orientation");
    made->velocity = yk_node_vector(item, "velocity");
    made->angular_velocity = yk_node_vector(item, "angular_velocity");
    if (body->kind == YK_FLEXIBLE_MODAL) {
        made->node = (*node)++;
        made->amplitudes = amplitudes_of(m, item, "amplitudes", body);
        made->amplitude_rates = amplitudes_of(m, item, "amplitude_rates", body);
    } else {
        made->curvature = yk_node_vector(item, "curvature");
    }
    int k = 0;
    for (const yk_node *point = first_of(item, "points"); point; point = point->next, k++)
        m->attachments[m->def.attachment_count++] =
            (yk_smooth_attachment_def){point_name(m, item, point), index, attachments[k]};
}

static void make_flexibles(maker *m)
{
    size_t points = 0;
    for (const yk_node *item = first_of(m->section, "flexible"); item; item = item->next)
        points += (size_t)count_of(item, "points");
    m->flexibles = take(m, (size_t)count_of(m->section, "flexible"), sizeof *m->flexibles);
    m->attachments = take(m, points, sizeof *m->attachments);
    if (m->status != YK_OK)
        return;
    int node = m->def.node_count;
    for (const yk_node *item = first_of(m->section, "flexible"); item; item = item->next)
        node -= item->choice != YK_FLEXIBLE_ITEM_ANCF;
    for (const yk_node *item = first_of(m->section, "flexible"); item; item = item->next)
        make_flexible(m, item, &node);
    m->def.flexibles = m->flexibles;
    m->def.attachments = m->attachments;
}

static void release_flexibles(maker *m)
{
    for (int i = 0; i < m->def.flexible_count; i++)
        yk_flexible_release((yk_flexible *)(uintptr_t)m->flexibles[i].body);
}

/* The last item of that name among those that have nodes. */
static const yk_node *item_named(const maker *m, const char *name)
{
    static const char *const keys[] = {"nodes", "bodies", "flexible"};
    const yk_node *found = m->section;
    for (int k = 0; k < 3; k++)
        for (const yk_node *item = first_of(m->section, keys[k]); item; item = item->next)
            if (strcmp(yk_node_name(item), name) == 0)
                found = item;
    return found;
}

static void check_names(maker *m)
{
    for (int i = 0; i < m->name_count; i++) {
        const char *name = m->names[i].name;
        if (strcmp(name, "ground") == 0)
            fail(m, yk_builder_error(m->builder, item_named(m, name),
                                     "'ground' is what never moves: choose another name"));
        if (i > 0 && strcmp(m->names[i - 1].name, name) == 0)
            fail(m,
                 yk_builder_error(m->builder, item_named(m, name),
                                  "two nodes or bodies are named '%s': rename one of them", name));
    }
}

static void sort_names(maker *m)
{
    int count = m->def.node_count + m->def.attachment_count;
    m->names = take(m, (size_t)count, sizeof *m->names);
    if (m->status != YK_OK)
        return;
    m->name_count = count;
    for (int i = 0; i < count; i++)
        m->names[i] = (node_name){
            i < m->def.node_count ? m->nodes[i].name : m->attachments[i - m->def.node_count].name,
            i};
    qsort(m->names, (size_t)count, sizeof *m->names, compare_names);
    check_names(m);
}

static int find_node(maker *m, const yk_node *reference)
{
    if (strcmp(reference->text, "ground") == 0)
        return YK_GROUND;
    node_name wanted = {reference->text, 0};
    const node_name *found =
        bsearch(&wanted, m->names, (size_t)m->name_count, sizeof *m->names, compare_names);
    if (found)
        return found->index;
    const char *list[YK_SUGGESTED_MAX] = {"ground"};
    int count = 1;
    for (int i = 0; i < m->name_count && count < YK_SUGGESTED_MAX; i++)
        list[count++] = m->names[i].name;
    fail(m, yk_builder_error(m->builder, reference, "there is no body or node '%.60s'; %s",
                             reference->text, yk_suggestion(reference->text, list, count).text));
    return YK_GROUND;
}

/* The item's own node, where it has one: bodies without `node` follow those of `nodes` in order. */
static void make_bodies(maker *m)
{
    int count = 0, own = count_of(m->section, "nodes");
    m->bodies = take(m, (size_t)count_of(m->section, "bodies"), sizeof *m->bodies);
    for (const yk_node *item = first_of(m->section, "bodies"); item && m->bodies;
         item = item->next) {
        yk_smooth_body_def *body = &m->bodies[count++];
        const yk_node *node = yk_node_get(item, "node");
        *body = yk_smooth_body_default();
        body->name = yk_node_name(item);
        body->node = node ? find_node(m, node) : own++;
        if (node && body->node == YK_GROUND)
            fail(m, yk_builder_error(m->builder, node,
                                     "a body on the ground cannot move: name a node"));
        if (node && body->node >= m->def.node_count)
            fail(m, yk_builder_error(m->builder, node,
                                     "a point of a flexible body carries no mass: give the body a "
                                     "node of its own and "
                                     "clamp it to '%s'",
                                     node->text));
        body->mass = yk_node_number(item, "mass");
        body->centre = yk_node_vector(item, "centre");
        body->axes = yk_node_orientation(item, "axes");
        yk_status status =
            yk_read_inertia(m->builder, yk_node_get(item, "inertia"), &body->inertia);
        if (status != YK_OK)
            fail(m, status);
    }
    m->def.bodies = m->bodies;
    m->def.body_count = count;
}

/* Markers -------------------------------------------------------------------------------------- */

static yk_smooth_node_def node_at(const maker *m, int node)
{
    return yk_smooth_start_pose(&m->def, node);
}

static void read_pair(maker *m, const yk_node *item, int node[2], yk_marker marker[2])
{
    const yk_node *between = yk_node_get(item, "between");
    yk_body_pose attachments[2];
    for (int side = 0; side < 2; side++) {
        node[side] = find_node(m, yk_node_at(between, side));
        yk_smooth_node_def frame = node_at(m, node[side]);
        attachments[side] = (yk_body_pose){frame.position, frame.orientation};
    }
    yk_status status = yk_read_markers(m->builder, item, attachments, marker);
    if (status != YK_OK)
        fail(m, status);
    if (node[0] == node[1] && m->status == YK_OK)
        fail(m, yk_builder_error(m->builder, between, "both ends are on '%s'",
                                 yk_node_at(between, 0)->text));
}

static void read_single(maker *m, const yk_node *item, int *node, yk_marker *marker)
{
    *node = find_node(m, yk_node_get(item, "on"));
    *marker = (yk_marker){yk_node_vector(item, "offset"), yk_node_orientation(item, "orientation")};
}

/* Joints and forces ---------------------------------------------------------------------------- */

static void make_joint(maker *m, const yk_node *item, yk_joint_def *joint)
{
    *joint = yk_joint_default();
    joint->name = yk_node_name(item);
    joint->kind = (yk_joint_kind)item->choice;
    read_pair(m, item, joint->body, joint->marker);
    const char *drive_key = yk_drive_traits_of(yk_joint_traits_of(joint->kind)->drive)->name;
    const yk_node *drive = drive_key ? yk_node_get(item, drive_key) : NULL;
    if (joint->kind == YK_JOINT_DISTANCE && drive && drive->value_count == 1) {
        joint->length = drive->value;
    } else if (drive) {
        yk_status status = yk_builder_function_of(m->builder, drive, &joint->drive);
        if (status != YK_OK)
            fail(m, status);
    }
    if (joint->kind == YK_JOINT_ROLLING)
        joint->length = yk_node_number(item, "radius");
    for (const yk_node *axis = first_of(item, "constrain"); axis; axis = axis->next)
        joint->constrained |= 1u << axis->choice;
}

static void read_six_by_six(maker *m, const yk_node *item, const char *key, double matrix[6][6])
{
    const yk_node *list = yk_node_get(item, key);
    if (list->value_count != 6 && list->value_count != 36)
        fail(m, yk_builder_error(m->builder, list, "expected 6 or 36 numbers, not %d",
                                 list->value_count));
    for (int i = 0; i < 6 && list->value_count == 6; i++)
        matrix[i][i] = list->values[i];
    for (int i = 0; i < 36 && list->value_count == 36; i++)
        matrix[i / 6][i % 6] = list->values[i];
}

/* The signal port that loads a force, behind those of `ports`; -1: none. */
static int input_of(maker *m, const yk_node *item)
{
    const yk_node *input = yk_node_get(item, "input");
    if (!input)
        return -1;
    int count = count_of(m->section, "ports"), k = 0;
    for (const yk_node *port = first_of(m->section, "ports"); port; port = port->next)
        if (strcmp(yk_node_name(port), input->text) == 0)
            fail(m,
                 yk_builder_error(m->builder, input,
                                  "a port is already named '%s': choose another name for the input",
                                  input->text));
    if (!m->inputs)
        m->inputs = take(m, (size_t)count_of(m->section, "forces"), sizeof *m->inputs);
    if (!m->inputs)
        return -1;
    while (k < m->input_count && strcmp(m->inputs[k], input->text) != 0)
        k++;
    m->inputs[k] = input->text;
    if (k == m->input_count)
        m->input_count++;
    return count + k;
}

/* Bodies and markers of the joint that a motor drives. */
static void read_motor(maker *m, const yk_node *item, yk_force_def *force)
{
    const yk_node *reference = yk_node_get(item, "joint");
    const yk_names *names = yk_builder_names(m->builder, yk_node_get(m->section, "joints"));
    int index = names ? yk_builder_find(m->builder, names, reference, "joint", NULL) : -1;
    if (index < 0) {
        fail(m, names ? YK_ERROR_INPUT : YK_ERROR_MEMORY);
        return;
    }
    const yk_joint_def *joint = &m->joints[index];
    for (int side = 0; side < 2; side++) {
        force->body[side] = joint->body[side];
        force->marker[side] = joint->marker[side];
    }
    if (!yk_motor_kind(joint->kind, &force->kind))
        fail(m,
             yk_builder_error(
                 m->builder, reference,
                 "a motor drives a revolute, cylindrical, rotation, prismatic, in-line or position "
                 "joint; this one is %s",
                 yk_joint_name(joint->kind)));
}

static void make_force(maker *m, const yk_node *item, yk_force_def *force)
{
    *force = yk_force_default();
    force->name = yk_node_name(item);
    force->kind = yk_force_kind_of[item->choice];
    force->input = input_of(m, item);
    const yk_node *feedback = yk_node_get(item, "feedback"), *load = yk_node_get(item, "load");
    if (force->kind != YK_FORCE_BUSHING && force->input < 0) {
        yk_status status = YK_OK;
        if (feedback) {
            force->feedback = feedback_of(m, feedback);
        } else if (load) {
            status = yk_builder_function_of(m->builder, load, &force->load);
        }
        if (status != YK_OK)
            fail(m, status);
    }
    switch (force->kind) {
    case YK_FORCE_MOTOR: read_motor(m, item, force); return;
    case YK_FORCE_SPRING:
    case YK_FORCE_TORSION:
        read_pair(m, item, force->body, force->marker);
        force->stiffness = yk_node_number(item, "stiffness");
        force->damping = yk_node_number(item, "damping");
        force->free =
            yk_node_number(item, force->kind == YK_FORCE_SPRING ? "free_length" : "free_angle");
        return;
    case YK_FORCE_BUSHING:
        read_pair(m, item, force->body, force->marker);
        read_six_by_six(m, item, "stiffness", force->bushing_stiffness);
        read_six_by_six(m, item, "damping", force->bushing_damping);
        return;
    default:
        read_single(m, item, &force->body[1], &force->marker[1]);
        if (m->status == YK_OK && force->body[1] == YK_GROUND)
            fail(m, yk_builder_error(m->builder, yk_node_get(item, "on"),
                                     "the ground does not move: name a body or node"));
        force->vector = yk_node_vector(item, "vector");
        if (yk_node_boolean(item, "follows"))
            force->kind =
                force->kind == YK_FORCE_VECTOR ? YK_FORCE_FOLLOWER : YK_FORCE_FOLLOWER_TORQUE;
        return;
    }
}

/* Beams ---------------------------------------------------------------------------------------- */

static yk_beam_section matrix_section(maker *m, const yk_node *node)
{
    yk_beam_section section = {0};
    const yk_node *centre = yk_node_get(node, "centre");
    read_six_by_six(m, node, "stiffness", section.stiffness);
    read_six_by_six(m, node, "damping", section.damping);
    section.mass = yk_node_number(node, "mass");
    section.centre = yk_v3(0, centre->values[0], centre->values[1]);
    memcpy(section.inertia.m, yk_node_get(node, "inertia")->values, sizeof section.inertia.m);
    return section;
}

static yk_beam_section section_of(maker *m, const yk_node *node)
{
    if (node->choice == YK_SECTION_MATRIX)
        return matrix_section(m, node);
    yk_beam_section_def def;
    yk_status status = yk_read_section(m->builder, node, &def);
    if (status != YK_OK)
        fail(m, status);
    return yk_beam_section_create(&def);
}

/* What the element itself refuses, said where it stands. */
static void check_beam(maker *m, const yk_node *item, const yk_smooth_beam_def *beam)
{
    yk_beam made;
    yk_context *context = yk_builder_context(m->builder);
    yk_beam_def shape = yk_smooth_beam_shape(&m->def, beam);
    if (m->status == YK_OK && yk_beam_create(context, &shape, &made) != YK_OK)
        fail(m, yk_builder_error(m->builder, item, "%s", yk_last_message(context)));
}

/* Of the parabola through three nodes, at one of them. */
static yk_vec3 tangent_at(const yk_vec3 place[YK_BEAM_NODES], int k)
{
    static const double slope[YK_BEAM_NODES][YK_BEAM_NODES] = {
        {-1.5, 2, -0.5}, {-0.5, 0, 0.5}, {0.5, -2, 1.5}};
    yk_vec3 tangent = {0, 0, 0};
    for (int i = 0; i < YK_BEAM_NODES; i++)
        tangent = yk_v3_axpy(slope[k][i], place[i], tangent);
    return tangent;
}

/* Section axes at a node: x along the parabola through the three nodes, z towards `up`. */
static bool section_axes(const yk_vec3 place[YK_BEAM_NODES], int k, yk_vec3 up, yk_quat *axes)
{
    yk_vec3 tangent = tangent_at(place, k);
    yk_vec3 x = yk_v3_unit(tangent), z = yk_v3_axpy(-yk_v3_dot(up, x), x, up);
    if (yk_v3_norm(tangent) == 0 || yk_v3_norm(z) < 1e-6 * yk_v3_norm(up))
        return false;
    z = yk_v3_unit(z);
    *axes = yk_so3_quat(yk_m3_columns(x, yk_v3_cross(z, x), z));
    return true;
}

static void make_beam(maker *m, const yk_node *item, yk_smooth_beam_def *beam)
{
    *beam = yk_smooth_beam_default();
    beam->name = yk_node_name(item);
    const yk_node *nodes = yk_node_get(item, "nodes"), *second = yk_node_get(item, "end_section");
    yk_vec3 place[YK_BEAM_NODES], up = yk_node_vector(item, "up"),
                                  offset = yk_node_vector(item, "offset");
    for (int k = 0; k < YK_BEAM_NODES; k++) {
        beam->node[k] = find_node(m, yk_node_at(nodes, k));
        if (beam->node[k] >= m->def.node_count)
            fail(m, yk_builder_error(m->builder, yk_node_at(nodes, k),
                                     "a beam needs nodes of its own: clamp one of them to '%s'",
                                     yk_node_at(nodes, k)->text));
        place[k] = node_at(m, beam->node[k]).position;
    }
    beam->section[0] = section_of(m, yk_node_get(item, "section"));
    beam->section[1] = second ? section_of(m, second) : beam->section[0];
    for (int k = 0; k < YK_BEAM_NODES && m->status == YK_OK; k++) {
        yk_quat axes, node = node_at(m, beam->node[k]).orientation;
        if (!section_axes(place, k, up, &axes)) {
            fail(m, yk_builder_error(m->builder, item,
                                     "'up' runs along the beam, or its nodes are in one place"));
            return;
        }
        beam->section_frame[k] = yk_q_unit(yk_q_mul(yk_q_conjugate(node), axes));
        beam->offset[k] = yk_q_rotate_back(node, offset);
    }
    check_beam(m, item, beam);
}

/* Rotations of displaced nodes ----------------------------------------------------------------- */

/* The shortest rotation from one direction to another. */
static yk_vec3 rotation_between(yk_vec3 from, yk_vec3 to)
{
    yk_vec3 cross = yk_v3_cross(from, to);
    double sine = yk_v3_norm(cross), angle = atan2(sine, yk_v3_dot(from, to));
    return sine > 0 ? yk_v3_scale(angle / sine, cross) : yk_v3(0, 0, 0);
}

/* Nodes of beams that are displaced and not told how they turn go with the line: its tangent is
 * that of the parabola through the nodes, and where two beams meet the mean of both. */
static void rotate_displaced_nodes(maker *m)
{
    int *beams = take(m, (size_t)m->def.node_count, sizeof *beams);
    yk_vec3 *sum = take(m, (size_t)m->def.node_count, sizeof *sum);
    if (m->status != YK_OK)
        return;
    memset(beams, 0, (size_t)m->def.node_count * sizeof *beams);
    memset(sum, 0, (size_t)m->def.node_count * sizeof *sum);
    for (int b = 0; b < m->def.beam_count; b++) {
        const yk_smooth_beam_def *beam = &m->beams[b];
        yk_vec3 place[YK_BEAM_NODES], moved[YK_BEAM_NODES];
        bool displaced = false;
        for (int k = 0; k < YK_BEAM_NODES; k++) {
            const yk_smooth_node_def *node = &m->nodes[beam->node[k]];
            place[k] = yk_v3_add(node->position, yk_q_rotate(node->orientation, beam->offset[k]));
            moved[k] = yk_v3_add(place[k], node->displacement);
            displaced |= yk_v3_norm2(node->displacement) > 0;
        }
        for (int k = 0; k < YK_BEAM_NODES && displaced; k++) {
            yk_vec3 rotation = rotation_between(tangent_at(place, k), tangent_at(moved, k));
            sum[beam->node[k]] = yk_v3_add(sum[beam->node[k]], rotation);
            beams[beam->node[k]]++;
        }
    }

    int index = 0;
    static const char *const keys[] = {"nodes", "bodies"};
    for (int k = 0; k < 2; k++)
        for (const yk_node *item = first_of(m->section, keys[k]); item; item = item->next) {
            if (k == 1 && yk_node_get(item, "node"))
                continue;
            int i = index++;
            if (beams[i] && !yk_node_get(item, "rotation"))
                m->nodes[i].rotation = yk_v3_scale(1.0 / beams[i], sum[i]);
        }
}

/* Ports and shapes ----------------------------------------------------------------------------- */

static void make_port(maker *m, const yk_node *item, yk_port_def *port)
{
    enum { MARKER };
    *port = yk_port_default();
    port->name = yk_node_name(item);
    if (item->choice == MARKER) {
        read_single(m, item, &port->body[0], &port->marker[0]);
        return;
    }
    port->kind = YK_PORT_SCALAR;
    read_pair(m, item, port->body, port->marker);
}

static void make_shape(maker *m, const yk_node *item, yk_smooth_shape_def *shape)
{
    shape->kind = (yk_shape_kind)item->choice;
    read_single(m, item, &shape->node, &shape->marker);
    switch (shape->kind) {
    case YK_SHAPE_SPHERE: shape->size.x = yk_node_number(item, "radius"); return;
    case YK_SHAPE_BOX: shape->size = yk_v3_scale(0.5, yk_node_vector(item, "size")); return;
    case YK_SHAPE_LINE: shape->size = yk_node_vector(item, "to"); return;
    default:
        shape->size.x = yk_node_number(item, "radius");
        shape->size.z = 0.5 * yk_node_number(item, "length");
        return;
    }
}

/* The whole ------------------------------------------------------------------------------------ */

#define MAKE_ALL(m, key, array, counter, make)                                           \
    do {                                                                                 \
        (m)->array = take((m), (size_t)count_of((m)->section, key), sizeof *(m)->array); \
        const yk_node *item = first_of((m)->section, key);                               \
        for (; item && (m)->array; item = item->next)                                    \
            make((m), item, &(m)->array[(m)->def.counter++]);                            \
        (m)->def.array = (m)->array;                                                     \
    } while (0)

/* The section of an integrator has the keys that it takes; what it does not take keeps its
 * default. */
static void read_integrator(const yk_node *node, yk_smooth_options *options)
{
    const struct {
        const char *key;
        double *value;
    } numbers[] = {{"rho_inf", &options->rho_inf},
                   {"newton_relative", &options->newton_relative},
                   {"newton_absolute", &options->newton_absolute},
                   {"error_tolerance", &options->error_tolerance},
                   {"stabilisation", &options->stabilisation}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (yk_node_get(node, numbers[i].key))
            *numbers[i].value = yk_node_number(node, numbers[i].key);

    options->integrator = (yk_smooth_integrator)node->choice;
    if (yk_node_get(node, "form"))
        options->form = (yk_smooth_form)yk_node_choice(node, "form");
    if (yk_node_get(node, "iterations"))
        options->newton_iterations = yk_node_integer(node, "iterations");
}

/* What Newton's method may leave of a step's local error where steps are repeated and compared:
 * the coupling takes the rest for an answer to its wrenches, and step control for an error that
 * no smaller step removes. */
static const double REPEATED_NEWTON = 1e-8;

static void read_options(maker *m)
{
    yk_smooth_options *options = &m->def.options;
    const yk_node *damping = yk_node_get(m->section, "damping");
    read_integrator(yk_node_get(m->section, "integrator"), options);
    if (m->builder->repeats)
        options->newton_relative = fmin(options->newton_relative, REPEATED_NEWTON);
    if (m->builder->to_rounding)
        options->newton_relative = 1e-12, options->newton_absolute = 1e-14;
    options->static_start = yk_node_boolean(m->section, "static_start");
    if (!damping)
        return;
    options->damping = yk_node_number(damping, "rate");
    options->damping_start = yk_node_number(damping, "start");
    options->damping_end = yk_node_number(damping, "end");
}

/* Those of `ports`, and a signal for each input of forces. */
static void make_ports(maker *m)
{
    m->ports = take(m, (size_t)(count_of(m->section, "ports") + m->input_count), sizeof *m->ports);
    m->def.ports = m->ports;
    for (const yk_node *item = first_of(m->section, "ports"); item && m->ports; item = item->next)
        make_port(m, item, &m->ports[m->def.port_count++]);
    for (int i = 0; i < m->input_count && m->ports; i++) {
        yk_port_def *port = &m->ports[m->def.port_count++];
        *port = yk_port_default();
        port->name = m->inputs[i];
        port->kind = YK_PORT_SIGNAL;
    }
}

/* Channels exist only in the model, so a feedback's input that names none is found by the solver:
 * its message, where the input stands. */
static yk_status place_message(maker *m, yk_status status)
{
    const char *message = yk_last_message(yk_builder_context(m->builder));
    for (const yk_node *force = first_of(m->section, "forces"); force; force = force->next) {
        const yk_node *feedback = yk_node_get(force, "feedback");
        for (const yk_node *input = feedback ? first_of(feedback, "inputs") : NULL; input;
             input = input->next) {
            char quoted[96];
            snprintf(quoted, sizeof quoted, "'%.80s'", input->text);
            if (strstr(message, "the feedback of") && strstr(message, quoted))
                return yk_builder_error(m->builder, input, "%s", message);
        }
    }
    return status;
}

/* All that refers to nodes and points by name, and the model. */
static yk_status build_rest(maker *m, yk_subsystem **subsystem)
{
    make_bodies(m);
    MAKE_ALL(m, "joints", joints, joint_count, make_joint);
    MAKE_ALL(m, "forces", forces, force_count, make_force);
    MAKE_ALL(m, "beams", beams, beam_count, make_beam);
    rotate_displaced_nodes(m);
    make_ports(m);
    MAKE_ALL(m, "shapes", shapes, shape_count, make_shape);
    if (m->status != YK_OK)
        return m->status;
    yk_smooth *model;
    yk_status status = yk_smooth_make(yk_builder_context(m->builder), &m->def, &model);
    if (status != YK_OK)
        return place_message(m, status);
    *subsystem = yk_smooth_subsystem(model);
    if (yk_mechanism_rests(m->section))
        yk_builder_note_rest(m->builder);
    return YK_OK;
}

yk_status yk_smooth_build(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    maker m = {.builder = builder, .section = section, .def = yk_smooth_description_empty()};
    m.def.name = yk_node_name(section);
    m.def.gravity = yk_node_vector(section, "gravity");
    read_options(&m);
    make_nodes(&m);
    if (m.status == YK_OK)
        make_flexibles(&m);
    if (m.status == YK_OK)
        sort_names(&m);
    yk_status status = m.status == YK_OK ? build_rest(&m, subsystem) : m.status;
    release_flexibles(&m);
    return status;
}
