/* solver: smooth, from a resolved section to a model. Nodes are numbered: those of `nodes` first,
 * then one for each body without `node`, then the floating frames of flexible bodies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/so3.h"
#include "model/kind_smooth.h"
#include "model/mechanism.h"
#include "model/scenario.h"
#include "model/schema_words.h"
#include "smooth/builder.h"

/* A node or a point of a flexible body, by its name. */
typedef struct frame_name {
    const char *name;
    int id;
} frame_name;

/* A smooth model in the making. */
typedef struct maker {
    yk_builder *builder;
    const yk_node *section;
    yk_smooth_builder *model;
    int node_count;    /* points of flexible bodies have ids behind those of the nodes */
    frame_name *names; /* sorted, once all are known */
    int name_count;
    yk_flexible **flexible; /* to be released once the model has been made */
    int flexible_count;
    yk_status status; /* of the first mistake */
} maker;

static void note(maker *m, yk_status status)
{
    if (m->status == YK_OK && status != YK_OK)
        m->status = status;
}

static void *take(maker *m, int count, size_t size)
{
    void *memory = yk_store_take(m->builder->store, (size_t)(count > 0 ? count : 1) * size);
    if (!memory)
        note(m, YK_ERROR_MEMORY);
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

/* Nodes and their names ------------------------------------------------------------------------ */

static void name_frame(maker *m, const char *name, int id)
{
    if (id < 0)
        note(m, YK_ERROR_MEMORY);
    m->names[m->name_count++] = (frame_name){name, id};
}

static void add_node(maker *m, const yk_node *item)
{
    yk_smooth_node_def node = yk_smooth_node_default();
    node.name = yk_node_name(item);
    node.position = yk_node_vector(item, "position");
    node.orientation = yk_node_orientation(item, "orientation");
    node.velocity = yk_node_vector(item, "velocity");
    node.angular_velocity = yk_node_vector(item, "angular_velocity");
    node.keep = yk_node_boolean(item, "keep");
    if (yk_node_get(item, "displacement"))
        node.displacement = yk_node_vector(item, "displacement");
    if (yk_node_get(item, "rotation"))
        node.rotation = yk_node_vector(item, "rotation");
    name_frame(m, node.name, yk_smooth_add_node(m->model, &node));
    m->node_count++;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const frame_name *)a)->name, ((const frame_name *)b)->name);
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

static void sort_names(maker *m)
{
    qsort(m->names, (size_t)m->name_count, sizeof *m->names, compare_names);
    for (int i = 0; i < m->name_count; i++) {
        const char *name = m->names[i].name;
        if (strcmp(name, "ground") == 0)
            note(m, yk_builder_error(m->builder, item_named(m, name),
                                     "'ground' is what never moves: choose another name"));
        if (i > 0 && strcmp(m->names[i - 1].name, name) == 0)
            note(m,
                 yk_builder_error(m->builder, item_named(m, name),
                                  "two nodes or bodies are named '%s': rename one of them", name));
    }
}

static int find_frame(void *model, const yk_node *reference)
{
    const maker *m = model;
    const char *text = reference->text;
    if (strcmp(text, "ground") == 0)
        return YK_GROUND;
    frame_name wanted = {text, 0};
    const frame_name *found =
        bsearch(&wanted, m->names, (size_t)m->name_count, sizeof *m->names, compare_names);
    if (found)
        return found->id;

    const char *list[YK_SUGGESTED_MAX] = {"ground"};
    int count = 1;
    for (int i = 0; i < m->name_count && count < YK_SUGGESTED_MAX; i++)
        list[count++] = m->names[i].name;
    yk_builder_error(m->builder, reference, "there is no body or node '%.60s'; %s", text,
                     yk_suggestion(text, list, count).text);
    return YK_NO_ID;
}

/* The same, and the mistake is noted. */
static int find_noted(maker *m, const yk_node *reference)
{
    int id = find_frame(m, reference);
    if (id == YK_NO_ID)
        note(m, YK_ERROR_INPUT);
    return id;
}

/* Bodies --------------------------------------------------------------------------------------- */

/* Its own node, where it has one, follows those of `nodes` in order. */
static void add_body(maker *m, const yk_node *item, int *own)
{
    yk_smooth_body_def body = yk_smooth_body_default();
    const yk_node *node = yk_node_get(item, "node");
    body.name = yk_node_name(item);
    body.node = node ? find_noted(m, node) : (*own)++;
    if (node && body.node == YK_GROUND)
        note(m,
             yk_builder_error(m->builder, node, "a body on the ground cannot move: name a node"));
    if (node && body.node >= m->node_count)
        note(m,
             yk_builder_error(
                 m->builder, node,
                 "a point of a flexible body carries no mass: give the body a node of its own and "
                 "clamp it to '%s'",
                 node->text));
    body.mass = yk_node_number(item, "mass");
    body.centre = yk_node_vector(item, "centre");
    body.axes = yk_node_orientation(item, "axes");
    note(m, yk_read_inertia(m->builder, yk_node_get(item, "inertia"), &body.inertia));
    if (m->status == YK_OK && yk_smooth_add_body(m->model, &body) == YK_NO_ID)
        note(m, YK_ERROR_MEMORY);
}

/* `amplitudes` or `amplitude_rates` as one number per shape; NULL where there are none. */
static const double *amplitudes_of(maker *m, const yk_node *item, const char *key,
                                   const yk_flexible *body)
{
    const yk_node *given = yk_node_get(item, key);
    if (!given)
        return NULL;
    if (given->value_count > body->coordinates) {
        note(m, yk_builder_error(m->builder, given,
                                 "the body has %d shapes, not %d: leave out the last",
                                 body->coordinates, given->value_count));
        return NULL;
    }
    double *all = take(m, body->coordinates, sizeof *all);
    if (!all)
        return NULL;
    memset(all, 0, (size_t)body->coordinates * sizeof *all);
    memcpy(all, given->values, (size_t)given->value_count * sizeof *all);
    return all;
}

static void add_flexible(maker *m, const yk_node *item, int *floating)
{
    int point_count = count_of(item, "points");
    int *attachments = take(m, point_count, sizeof *attachments);
    yk_flexible *body = NULL;
    if (attachments)
        note(m, yk_flexible_build(m->builder, item, attachments, &body));
    if (!body)
        return;
    m->flexible[m->flexible_count++] = body;

    yk_smooth_flexible_def def = yk_smooth_flexible_default();
    def.name = yk_node_name(item);
    def.body = body;
    def.position = yk_node_vector(item, "position");
    def.orientation = yk_node_orientation(item, "orientation");
    def.velocity = yk_node_vector(item, "velocity");
    def.angular_velocity = yk_node_vector(item, "angular_velocity");
    if (body->kind == YK_FLEXIBLE_MODAL) {
        def.node = (*floating)++;
        def.amplitudes = amplitudes_of(m, item, "amplitudes", body);
        def.amplitude_rates = amplitudes_of(m, item, "amplitude_rates", body);
    } else {
        def.curvature = yk_node_vector(item, "curvature");
    }
    int flexible = yk_smooth_add_flexible(m->model, &def);

    /* Its points are named `body.point`. */
    int k = 0;
    for (const yk_node *point = first_of(item, "points"); point; point = point->next) {
        size_t bytes = strlen(def.name) + strlen(yk_node_name(point)) + 2;
        char *name = take(m, (int)bytes, 1);
        if (!name)
            return;
        snprintf(name, bytes, "%s.%s", def.name, yk_node_name(point));
        yk_smooth_attachment_def place = {name, flexible, attachments[k++]};
        name_frame(m, name, yk_smooth_add_attachment(m->model, &place));
    }
}

/* All that joints, forces and beams can name. */
static void add_frames(maker *m)
{
    const yk_node *flexible = first_of(m->section, "flexible");
    int most = count_of(m->section, "nodes") + count_of(m->section, "bodies") +
               count_of(m->section, "flexible");
    for (const yk_node *item = flexible; item; item = item->next)
        most += count_of(item, "points");
    m->names = take(m, most, sizeof *m->names);
    m->flexible = take(m, count_of(m->section, "flexible"), sizeof *m->flexible);
    if (m->status != YK_OK)
        return;

    for (const yk_node *item = first_of(m->section, "nodes"); item; item = item->next)
        add_node(m, item);
    for (const yk_node *item = first_of(m->section, "bodies"); item; item = item->next)
        if (!yk_node_get(item, "node"))
            add_node(m, item);
    int floating = m->node_count;
    for (const yk_node *item = flexible; item; item = item->next)
        if (item->choice != YK_FLEXIBLE_ITEM_ANCF)
            add_node(m, item);
    for (const yk_node *item = flexible; item && m->status == YK_OK; item = item->next)
        add_flexible(m, item, &floating);
    if (m->status == YK_OK)
        sort_names(m);
}

/* Beams ---------------------------------------------------------------------------------------- */

static yk_beam_section section_of(maker *m, const yk_node *node)
{
    if (node->choice != YK_SECTION_MATRIX) {
        yk_beam_section_def def;
        note(m, yk_read_section(m->builder, node, &def));
        return yk_beam_section_create(&def);
    }

    yk_beam_section section = {0};
    const yk_node *centre = yk_node_get(node, "centre");
    note(m, yk_read_six_by_six(m->builder, node, "stiffness", section.stiffness));
    note(m, yk_read_six_by_six(m->builder, node, "damping", section.damping));
    section.mass = yk_node_number(node, "mass");
    section.centre = yk_v3(0, centre->values[0], centre->values[1]);
    memcpy(section.inertia.m, yk_node_get(node, "inertia")->values, sizeof section.inertia.m);
    return section;
}

static void add_beam(maker *m, const yk_node *item)
{
    yk_context *context = yk_builder_context(m->builder);
    yk_smooth_beam_def beam = yk_smooth_beam_default();
    beam.name = yk_node_name(item);
    const yk_node *nodes = yk_node_get(item, "nodes");
    for (int k = 0; k < YK_BEAM_NODES; k++) {
        const yk_node *reference = yk_node_at(nodes, k);
        beam.node[k] = find_noted(m, reference);
        if (beam.node[k] >= m->node_count)
            note(m, yk_builder_error(m->builder, reference,
                                     "a beam needs nodes of its own: clamp one of them to '%s'",
                                     reference->text));
    }
    const yk_node *second = yk_node_get(item, "end_section");
    beam.section[0] = section_of(m, yk_node_get(item, "section"));
    beam.section[1] = second ? section_of(m, second) : beam.section[0];
    if (m->status != YK_OK)
        return;

    /* Section axes and offsets are given globally. */
    if (yk_smooth_beam_axes(m->model, &beam, yk_node_vector(item, "up")) != YK_OK) {
        note(m, yk_builder_error(m->builder, item,
                                 "'up' runs along the beam, or its nodes are in one place"));
        return;
    }
    yk_vec3 offset = yk_node_vector(item, "offset");
    for (int k = 0; k < YK_BEAM_NODES; k++)
        beam.offset[k] =
            yk_q_rotate_back(yk_smooth_frame_at(m->model, beam.node[k]).orientation, offset);

    /* What the element itself refuses, said where it stands. */
    yk_beam element;
    yk_beam_def shape = yk_smooth_beam_element(m->model, &beam);
    if (yk_beam_create(context, &shape, &element) != YK_OK) {
        note(m, yk_builder_error(m->builder, item, "%s", yk_last_message(context)));
    } else if (yk_smooth_add_beam(m->model, &beam) == YK_NO_ID) {
        note(m, YK_ERROR_MEMORY);
    }
}

/* The shortest rotation from one direction to another. */
static yk_vec3 rotation_between(yk_vec3 from, yk_vec3 to)
{
    yk_vec3 cross = yk_v3_cross(from, to);
    double sine = yk_v3_norm(cross);
    double angle = atan2(sine, yk_v3_dot(from, to));
    return sine > 0 ? yk_v3_scale(angle / sine, cross) : yk_v3(0, 0, 0);
}

/* Nodes of beams that are displaced, and have no `rotation`, turn with the line: its tangent is
 * that of the parabola through the nodes, and where two beams meet the mean of both. */
static void rotate_displaced_nodes(maker *m)
{
    int *rotates = take(m, m->node_count, sizeof *rotates);
    yk_vec3 *sum = take(m, m->node_count, sizeof *sum);
    if (m->status != YK_OK)
        return;
    memset(rotates, 0, (size_t)m->node_count * sizeof *rotates);
    memset(sum, 0, (size_t)m->node_count * sizeof *sum);

    const yk_smooth_beam_def *beams;
    int beam_count = yk_smooth_beams_of(m->model, &beams);
    yk_smooth_node_def *nodes = yk_smooth_nodes_of(m->model);
    for (int b = 0; b < beam_count; b++) {
        const yk_smooth_beam_def *beam = &beams[b];
        yk_vec3 position[YK_BEAM_NODES], moved[YK_BEAM_NODES];
        bool displaced = false;
        for (int k = 0; k < YK_BEAM_NODES; k++) {
            const yk_smooth_node_def *node = &nodes[beam->node[k]];
            position[k] =
                yk_v3_add(node->position, yk_q_rotate(node->orientation, beam->offset[k]));
            moved[k] = yk_v3_add(position[k], node->displacement);
            displaced |= yk_v3_norm2(node->displacement) > 0;
        }
        for (int k = 0; k < YK_BEAM_NODES && displaced; k++) {
            int node = beam->node[k];
            yk_vec3 before = yk_smooth_beam_tangent(position, k),
                    after = yk_smooth_beam_tangent(moved, k);
            sum[node] = yk_v3_add(sum[node], rotation_between(before, after));
            rotates[node]++;
        }
    }

    /* In the order in which they were added. */
    static const char *const keys[] = {"nodes", "bodies"};
    int i = 0;
    for (int k = 0; k < 2; k++) {
        for (const yk_node *item = first_of(m->section, keys[k]); item; item = item->next) {
            if (k == 1 && yk_node_get(item, "node"))
                continue;
            if (rotates[i] && !yk_node_get(item, "rotation"))
                nodes[i].rotation = yk_v3_scale(1.0 / rotates[i], sum[i]);
            i++;
        }
    }
}

/* Joints, forces, ports, shapes ---------------------------------------------------------------- */

static yk_body_pose place_of(const void *model, int body)
{
    const maker *m = model;
    yk_smooth_node_def frame = yk_smooth_frame_at(m->model, body);
    return (yk_body_pose){frame.position, frame.orientation};
}

static int add_joint(void *model, const yk_joint_def *def)
{
    return yk_smooth_add_joint(((maker *)model)->model, def);
}

static int add_force(void *model, const yk_force_def *def)
{
    return yk_smooth_add_force(((maker *)model)->model, def);
}

static int add_port(void *model, const yk_port_def *def)
{
    return yk_smooth_add_port(((maker *)model)->model, def);
}

static const yk_mechanism_ops mechanism_ops = {
    .find = find_frame,
    .place = place_of,
    .add_joint = add_joint,
    .add_force = add_force,
    .add_port = add_port,
    .feedback = true,
};

static void add_shape(maker *m, const yk_node *item)
{
    yk_smooth_shape_def shape = yk_smooth_shape_default();
    shape.kind = (yk_shape_kind)item->choice;
    shape.node = find_noted(m, yk_node_get(item, "on"));
    shape.marker = yk_read_marker(item);
    switch (shape.kind) {
    case YK_SHAPE_SPHERE: shape.size.x = yk_node_number(item, "radius"); break;
    case YK_SHAPE_BOX: shape.size = yk_v3_scale(0.5, yk_node_vector(item, "size")); break;
    case YK_SHAPE_LINE: shape.size = yk_node_vector(item, "to"); break;
    default:
        shape.size.x = yk_node_number(item, "radius");
        shape.size.z = 0.5 * yk_node_number(item, "length");
    }
    if (m->status == YK_OK && yk_smooth_add_shape(m->model, &shape) == YK_NO_ID)
        note(m, YK_ERROR_MEMORY);
}

/* The whole ------------------------------------------------------------------------------------ */

/* What Newton's method may leave of a step's local error where steps are repeated and compared:
 * the coupling takes the rest for an answer to its wrenches, and step control for an error that
 * no smaller step removes. */
static const double REPEATED_NEWTON = 1e-8;

static yk_smooth_def read_def(const yk_builder *builder, const yk_node *section)
{
    yk_smooth_def def = yk_smooth_default();
    def.name = yk_node_name(section);
    def.gravity = yk_node_vector(section, "gravity");

    yk_smooth_options *options = &def.options;
    const yk_node *integrator = yk_node_get(section, "integrator");
    options->integrator = (yk_smooth_integrator)integrator->choice;

    /* Each integrator has some of these. */
    const struct {
        const char *key;
        double *value;
    } numbers[] = {
        {"rho_inf", &options->rho_inf},
        {"newton_relative", &options->newton_relative},
        {"newton_absolute", &options->newton_absolute},
        {"error_tolerance", &options->error_tolerance},
        {"stabilisation", &options->stabilisation},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (yk_node_get(integrator, numbers[i].key))
            *numbers[i].value = yk_node_number(integrator, numbers[i].key);
    if (yk_node_get(integrator, "form"))
        options->form = (yk_smooth_form)yk_node_choice(integrator, "form");
    if (yk_node_get(integrator, "iterations"))
        options->newton_iterations = yk_node_integer(integrator, "iterations");

    if (builder->repeats)
        options->newton_relative = fmin(options->newton_relative, REPEATED_NEWTON);
    if (builder->to_rounding) {
        options->newton_relative = 1e-12;
        options->newton_absolute = 1e-14;
    }

    options->static_start = yk_node_boolean(section, "static_start");
    const yk_node *damping = yk_node_get(section, "damping");
    if (damping) {
        options->damping = yk_node_number(damping, "rate");
        options->damping_start = yk_node_number(damping, "start");
        options->damping_end = yk_node_number(damping, "end");
    }
    return def;
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

yk_status yk_smooth_build(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    yk_smooth_def def = read_def(builder, section);
    maker m = {.builder = builder,
               .section = section,
               .model = yk_smooth_begin(yk_builder_context(builder), &def)};
    if (!m.model)
        return YK_ERROR_MEMORY;

    /* Frames first: everything else names them. */
    add_frames(&m);
    if (m.status == YK_OK) {
        int own = count_of(section, "nodes");
        for (const yk_node *item = first_of(section, "bodies"); item; item = item->next)
            add_body(&m, item, &own);
        note(&m, yk_read_mechanism(builder, section, &mechanism_ops, &m));
        for (const yk_node *item = first_of(section, "beams"); item; item = item->next)
            add_beam(&m, item);
        for (const yk_node *item = first_of(section, "shapes"); item; item = item->next)
            add_shape(&m, item);
    }
    if (m.status == YK_OK)
        rotate_displaced_nodes(&m);

    if (m.status == YK_OK) {
        m.status = yk_smooth_create(m.model, subsystem);
        if (m.status != YK_OK)
            m.status = place_message(&m, m.status);
    } else {
        yk_smooth_discard(m.model);
    }
    for (int i = 0; i < m.flexible_count; i++)
        yk_flexible_release(m.flexible[i]);
    return m.status;
}
