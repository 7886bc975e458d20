/* solver: multibody, from a resolved section to a model. Nodes are numbered: those of `nodes`
 * first, then one for each body without `node`, then the floating frames of flexible bodies. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/so3.h"
#include "model/modal.h"
#include "model/scenario.h"
#include "multibody/def.h"
#include "multibody/flexible.h"
#include "multibody/options.h"

/* A multibody model under construction. */
typedef struct maker {
    yk_builder *builder;
    const yk_node *section;
    yk_multibody_builder *model;
    int node_count;         /* ids of points of flexible bodies follow those of the nodes */
    yk_names *names;        /* of nodes and points; sorted after all are known */
    yk_flexible **flexible; /* released after the model has been created */
    int flexible_count;
    int own_node;      /* node of the next body without `node` */
    int floating_node; /* of the next flexible body in a floating frame */
    yk_status status;  /* status of the first error */
} maker;

static void note(maker *m, yk_status status)
{
    if (m->status == YK_OK && status != YK_OK)
        m->status = status;
}

static void *take(maker *m, size_t bytes)
{
    void *memory = yk_builder_take(m->builder, bytes);
    if (!memory)
        note(m, YK_ERROR_MEMORY);
    return memory;
}

/* Calls a function for each item of a collection. */
static void for_all(maker *m, const char *key, void (*add)(maker *m, const yk_node *item))
{
    for (const yk_node *item = yk_node_items(m->section, key); item; item = item->next)
        add(m, item);
}

static int count_of(const yk_node *section, const char *key)
{
    const yk_node *list = yk_node_get(section, key);
    return list ? list->count : 0;
}

/* Flexible bodies ------------------------------------------------------------------------------ */

/* Sections of beams and rods, and items of `flexible`, in the order of solver_multibody.c. */
enum { SECTION_RECTANGLE, SECTION_TUBE, SECTION_GENERAL, SECTION_MATRIX };
enum { FLEXIBLE_ROD, FLEXIBLE_MODAL, FLEXIBLE_ANCF };

/* By one of the sections except the last; reports contradictions. */
static yk_status read_section(yk_builder *builder, const yk_node *node, yk_beam_section_def *def)
{
    *def = yk_beam_section_default();
    def->young_modulus = yk_node_number(node, "young_modulus");
    def->poisson_ratio = yk_node_number(node, "poisson_ratio");
    def->density = yk_node_number(node, "density");
    def->rayleigh_beta = yk_node_number(node, "rayleigh_beta");

    /* By its shape, which determines area, moments and shear factors. */
    if (node->choice == SECTION_RECTANGLE) {
        double width_y = yk_node_number(node, "width_y");
        double width_z = yk_node_number(node, "width_z");
        yk_beam_section_set_rectangle(def, width_y, width_z);
        return YK_OK;
    }

    if (node->choice == SECTION_TUBE) {
        double outer = yk_node_number(node, "radius");
        double inner = yk_node_number(node, "inner_radius");
        yk_beam_section_set_tube(def, outer, inner);
        if (!(inner < outer))
            return yk_builder_error(builder, yk_node_get(node, "inner_radius"),
                                    "the inner radius must be less than the outer one, which is %g",
                                    outer);
        return YK_OK;
    }

    /* By its numbers. */
    def->area = yk_node_number(node, "area");
    def->area_moment_y = yk_node_number(node, "area_moment_y");
    def->area_moment_z = yk_node_number(node, "area_moment_z");
    def->torsion_constant = yk_node_number(node, "torsion_constant");
    def->shear_factor_y = yk_node_number(node, "shear_factor_y");
    def->shear_factor_z = yk_node_number(node, "shear_factor_z");

    return YK_OK;
}

static yk_status build_rod(yk_builder *builder, const yk_node *item, int count, int *attachments,
                           yk_flexible **body)
{
    /* Attachments by their distance from the origin. */
    double *distances = yk_builder_take(builder, ((size_t)count + 1) * sizeof *distances);
    if (!distances)
        return YK_ERROR_MEMORY;

    int k = 0;
    for (const yk_node *point = yk_node_items(item, "attachments"); point;
         point = point->next, k++) {
        distances[k] = point->value;
        attachments[k] = k;
    }

    /* The material, and the shapes to use. */
    yk_ffrf_rod_def def = yk_ffrf_rod_default();
    const yk_node *section = yk_node_get(item, "section");
    yk_status status = read_section(builder, section, &def.section);
    if (status != YK_OK)
        return status;

    def.length = yk_node_number(item, "length");
    def.support = yk_node_choice(item, "reference_conditions");
    def.bending_y = yk_node_integer(item, "bending_modes_y");
    def.bending_z = yk_node_integer(item, "bending_modes_z");
    def.extension = yk_node_integer(item, "extension_modes");
    def.torsion = yk_node_integer(item, "torsion_modes");
    def.statics = yk_node_boolean(item, "static_modes");
    def.stiffening = yk_node_boolean(item, "geometric_stiffening");
    def.constant_mass = yk_node_boolean(item, "constant_mass_matrix");
    def.damping_ratio = yk_node_number(item, "damping_ratio");
    def.attachments = distances;
    def.attachment_count = count;

    /* The section's own ratio is a time; damping of shapes is a fraction of critical. */
    if (def.section.rayleigh_beta > 0)
        return yk_builder_error(builder, section,
                                "a rod with shapes has 'damping_ratio' next to its section: a "
                                "fraction of critical damping");

    return yk_flexible_rod(yk_builder_context(builder), &def, body);
}

/* Whether the files define a complete body. */
static yk_status check_files(yk_builder *builder, const yk_node *item, const yk_modal_files *files,
                             int points)
{
    /* One source for everything ... */
    bool tables = files->nodes || files->modes || files->frequencies || files->second_order ||
                  files->invariants;
    if (files->fem && tables)
        return yk_builder_error(
            builder, item, "'mbdyn_fem_file' describes the whole body: leave out the other tables");
    if (files->fem)
        return YK_OK;

    /* ... or tables that complete each other. */
    bool shaped = files->nodes && files->modes;
    if (!files->invariants && !(shaped && files->frequencies))
        return yk_builder_error(builder, item,
                                "the body needs 'nodes_file', 'modes_file' and 'frequencies_file', "
                                "or 'invariants_file', or 'mbdyn_fem_file': "
                                "see docs/modal.md");
    if (!shaped && (files->nodes || files->modes || files->second_order))
        return yk_builder_error(
            builder, item,
            "'nodes_file' and 'modes_file' must be given together; 'second_order_file' needs both");
    if (!shaped && points)
        return yk_builder_error(builder, yk_node_get(item, "attachments"),
                                "attachments are nodes of the body: give 'nodes_file' and "
                                "'modes_file' in addition to 'invariants_file'");

    return YK_OK;
}

static yk_status build_modal(yk_builder *builder, const yk_node *item, int count, int *attachments,
                             yk_flexible **body)
{
    yk_modal_files files = {
        .damping_ratio = yk_node_number(item, "damping_ratio"),
        .constant_mass = yk_node_boolean(item, "constant_mass_matrix"),
    };
    const yk_node *use = yk_node_get(item, "selected_modes");
    if (use) {
        files.use = use->values;
        files.use_count = use->value_count;
    }

    /* The named files, relative to the scenario's folder. */
    const struct {
        const char *key, **path;
    } keys[] = {
        {"nodes_file", &files.nodes},
        {"modes_file", &files.modes},
        {"frequencies_file", &files.frequencies},
        {"second_order_file", &files.second_order},
        {"invariants_file", &files.invariants},
        {"mbdyn_fem_file", &files.fem},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!yk_node_get(item, keys[i].key))
            continue;

        *keys[i].path = yk_builder_path(builder, item, keys[i].key);
        if (!*keys[i].path)
            return YK_ERROR_MEMORY;
    }

    yk_status status = check_files(builder, item, &files, count);
    if (status != YK_OK)
        return status;

    /* Points are named by the numbers of their nodes. */
    int *numbers = yk_builder_take(builder, ((size_t)count + 1) * sizeof *numbers);
    if (!numbers)
        return YK_ERROR_MEMORY;

    int k = 0;
    for (const yk_node *point = yk_node_items(item, "attachments"); point;
         point = point->next, k++) {
        numbers[k] = (int)point->value;
        attachments[k] = k;
    }

    return yk_modal_read(yk_builder_context(builder), &files, numbers, count, body);
}

static yk_status build_ancf(yk_builder *builder, const yk_node *item, int count, int *attachments,
                            yk_flexible **body)
{
    (void)count;

    /* Equal elements of one section. */
    int elements = yk_node_integer(item, "elements");
    yk_beam_section_def section;
    yk_status status = read_section(builder, yk_node_get(item, "section"), &section);
    if (status != YK_OK)
        return status;

    /* Attachments are nodes, counted from the start of the rod. */
    int k = 0;
    for (const yk_node *point = yk_node_items(item, "attachments"); point;
         point = point->next, k++) {
        attachments[k] = (int)point->value;
        if (point->value < 0 || point->value > elements)
            return yk_builder_error(builder, point, "the rod has nodes 0 to %d, not %g", elements,
                                    point->value);
    }

    return yk_flexible_ancf(yk_builder_context(builder), yk_node_number(item, "length"), elements,
                            &section, body);
}

/* Nodes and their names ------------------------------------------------------------------------ */

static void name_frame(maker *m, const char *name, int id)
{
    if (id < 0)
        note(m, YK_ERROR_MEMORY);
    m->names->entries[m->names->count].name = name;
    m->names->entries[m->names->count].index = id;
    m->names->count++;
}

static void add_node(maker *m, const yk_node *item)
{
    yk_multibody_node_def node = yk_multibody_node_default();
    node.name = yk_node_name(item);
    node.position = yk_node_vector(item, "position");
    node.orientation = yk_node_orientation(item, "orientation");
    node.velocity = yk_node_vector(item, "velocity");
    node.angular_velocity = yk_node_vector(item, "angular_velocity");
    node.keep_initial_pose = yk_node_boolean(item, "keep_initial_pose");

    /* Beams are strain-free without these displacements. */
    if (yk_node_get(item, "initial_displacement"))
        node.initial_displacement = yk_node_vector(item, "initial_displacement");
    if (yk_node_get(item, "initial_rotation"))
        node.initial_rotation = yk_node_vector(item, "initial_rotation");

    name_frame(m, node.name, yk_multibody_add_node(m->model, &node).index);
    m->node_count++;
}

/* The last item of that name among those with nodes. */
static const yk_node *item_named(const maker *m, const char *name)
{
    /* A duplicate name is reported at its second place. */
    static const char *const keys[] = {"nodes", "bodies", "flexible_bodies"};
    const yk_node *found = m->section;
    for (int k = 0; k < 3; k++)
        for (const yk_node *item = yk_node_items(m->section, keys[k]); item; item = item->next)
            if (strcmp(yk_node_name(item), name) == 0)
                found = item;

    return found;
}

static yk_body_id find_frame(void *model, const yk_node *reference)
{
    const maker *m = model;

    /* The ground has no node. */
    if (strcmp(reference->text, "ground") == 0)
        return YK_GROUND;

    int id = yk_builder_find(m->builder, m->names, reference, "body or node", "ground");
    return id < 0 ? YK_NULL_BODY : (yk_body_id){id};
}

/* The same, and stores the status of an error. */
static yk_body_id find_noted(maker *m, const yk_node *reference)
{
    yk_body_id id = find_frame(m, reference);
    if (id.index == YK_NO_ID)
        note(m, YK_ERROR_INPUT);
    return id;
}

/* Bodies --------------------------------------------------------------------------------------- */

/* A rigid body on the named node, or on its own. */
static void add_body(maker *m, const yk_node *item)
{
    yk_builder *builder = m->builder;
    yk_multibody_body_def body = yk_multibody_body_default();
    body.name = yk_node_name(item);
    const yk_node *node = yk_node_get(item, "node");

    /* Its own node, or a node that can carry mass. */
    if (!node) {
        body.node = (yk_body_id){m->own_node++};
    } else {
        body.node = find_noted(m, node);
        if (body.node.index == YK_GROUND_INDEX)
            note(m,
                 yk_builder_error(builder, node, "a body on the ground cannot move: name a node"));
        if (body.node.index >= m->node_count)
            note(m, yk_builder_error(builder, node,
                                     "a point of a flexible body carries no mass: give the body a "
                                     "node of its own and fix it to '%s'",
                                     node->text));
    }

    /* Mass, and an inertia that a mass distribution can have. */
    body.mass = yk_node_number(item, "mass");
    body.center_of_mass = yk_node_vector(item, "center_of_mass");
    body.inertia_orientation = yk_node_orientation(item, "inertia_orientation");
    note(m, yk_read_inertia(builder, yk_node_get(item, "inertia"), &body.inertia));
    if (m->status == YK_OK && yk_multibody_add_body(m->model, &body).index == YK_NO_ID)
        note(m, YK_ERROR_MEMORY);
}

/* `amplitudes` or `amplitude_rates` as one number per shape; NULL if not given. */
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

    /* Shapes that are left out start at zero. */
    double *all = take(m, (size_t)body->coordinates * sizeof *all);
    if (all)
        memcpy(all, given->values, (size_t)given->value_count * sizeof *all);

    return all;
}

static void add_flexible(maker *m, const yk_node *item)
{
    static yk_status (*const build[])(yk_builder *, const yk_node *, int, int *, yk_flexible **) = {
        [FLEXIBLE_ROD] = build_rod,
        [FLEXIBLE_MODAL] = build_modal,
        [FLEXIBLE_ANCF] = build_ancf,
    };
    if (m->status != YK_OK)
        return;

    /* The body, with the attachments of its points. */
    int count = count_of(item, "attachments");
    int *attachments = take(m, (size_t)count * sizeof *attachments);
    if (!attachments)
        return;

    yk_flexible *body = NULL;
    yk_status status = build[item->choice](m->builder, item, count, attachments, &body);

    /* The messages of bodies need only the location. */
    if (status == YK_ERROR_ARGUMENT)
        status = yk_builder_error(m->builder, item, "%s",
                                  yk_last_message(yk_builder_context(m->builder)));
    note(m, status);
    if (!body)
        return;

    /* Released at the end, whether or not the model has copied it. */
    m->flexible[m->flexible_count++] = body;

    /* Its initial state: amplitudes of shapes, or curvature of a rod. */
    yk_multibody_flexible_def def = yk_multibody_flexible_default();
    def.name = yk_node_name(item);
    def.body = body;
    def.position = yk_node_vector(item, "position");
    def.orientation = yk_node_orientation(item, "orientation");
    def.velocity = yk_node_vector(item, "velocity");
    def.angular_velocity = yk_node_vector(item, "angular_velocity");
    if (body->kind == YK_FLEXIBLE_MODAL) {
        def.node = m->floating_node++;
        def.amplitudes = amplitudes_of(m, item, "initial_amplitudes", body);
        def.amplitude_rates = amplitudes_of(m, item, "initial_amplitude_rates", body);
    } else {
        def.curvature = yk_node_vector(item, "curvature");
    }

    int flexible = yk_multibody_add_flexible(m->model, &def);

    /* Its points are named `body.point`. */
    int k = 0;
    for (const yk_node *point = yk_node_items(item, "attachments"); point; point = point->next) {
        size_t bytes = strlen(def.name) + strlen(yk_node_name(point)) + 2;
        char *name = take(m, bytes);
        if (!name)
            return;

        snprintf(name, bytes, "%s.%s", def.name, yk_node_name(point));
        yk_multibody_attachment_def attachment = {name, flexible, attachments[k++]};
        name_frame(m, name, yk_multibody_add_attachment(m->model, &attachment));
    }
}

/* A body's own node. */
static void add_own_node(maker *m, const yk_node *item)
{
    if (!yk_node_get(item, "node"))
        add_node(m, item);
}

/* Rods in absolute coordinates have no floating frame. */
static void add_floating_node(maker *m, const yk_node *item)
{
    if (item->choice != FLEXIBLE_ANCF)
        add_node(m, item);
}

/* All names that joints, forces and beams can use. */
static void add_frames(maker *m)
{
    const yk_node *section = m->section;
    int flexible_count = count_of(section, "flexible_bodies");
    int most = count_of(section, "nodes") + count_of(section, "bodies") + flexible_count;

    for (const yk_node *item = yk_node_items(section, "flexible_bodies"); item; item = item->next)
        most += count_of(item, "attachments");

    /* A name for each node and each point. */
    m->names = take(m, sizeof *m->names + (size_t)most * sizeof *m->names->entries);
    m->flexible = take(m, (size_t)flexible_count * sizeof *m->flexible);
    if (m->status != YK_OK)
        return;

    /* Nodes in the order of their numbers, then flexible bodies with their points. */
    for_all(m, "nodes", add_node);
    m->own_node = m->node_count;
    for_all(m, "bodies", add_own_node);
    m->floating_node = m->node_count;
    for_all(m, "flexible_bodies", add_floating_node);
    for_all(m, "flexible_bodies", add_flexible);
    if (m->status != YK_OK)
        return;

    /* Each name is used once. */
    yk_names_sort(m->names);
    for (int i = 0; i < m->names->count; i++) {
        const char *name = m->names->entries[i].name;
        if (strcmp(name, "ground") == 0)
            note(m,
                 yk_builder_error(m->builder, item_named(m, name),
                                  "'ground' is the name of the fixed ground: choose another name"));
        if (i > 0 && strcmp(m->names->entries[i - 1].name, name) == 0)
            note(m,
                 yk_builder_error(m->builder, item_named(m, name),
                                  "two nodes or bodies are named '%s': rename one of them", name));
    }
}

/* Beams ---------------------------------------------------------------------------------------- */

static yk_beam_section section_of(maker *m, const yk_node *node)
{
    /* From material and shape. */
    if (node->choice != SECTION_MATRIX) {
        yk_beam_section_def def;
        note(m, read_section(m->builder, node, &def));
        return yk_beam_section_from_def(&def);
    }

    /* Given directly. */
    yk_beam_section section = {0};
    const yk_node *centre = yk_node_get(node, "center_of_mass");
    const yk_node *inertia = yk_node_get(node, "inertia_per_length");
    note(m, yk_read_six_by_six(m->builder, node, "stiffness", section.stiffness));
    note(m, yk_read_six_by_six(m->builder, node, "damping", section.damping));
    section.mass = yk_node_number(node, "mass_per_length");
    section.center_of_mass = yk_v3(0, centre->values[0], centre->values[1]);
    memcpy(section.inertia.m, inertia->values, sizeof section.inertia.m);

    return section;
}

static void add_beam(maker *m, const yk_node *item)
{
    yk_context *context = yk_builder_context(m->builder);
    yk_multibody_beam_def beam = yk_multibody_beam_default();
    beam.name = yk_node_name(item);

    /* Three nodes, which must not be points of a flexible body. */
    const yk_node *nodes = yk_node_get(item, "nodes");
    for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
        const yk_node *reference = yk_node_at(nodes, k);
        beam.nodes[k] = find_noted(m, reference);
        if (beam.nodes[k].index >= m->node_count)
            note(m, yk_builder_error(m->builder, reference,
                                     "a beam needs nodes of its own: fix one of them to '%s'",
                                     reference->text));
    }

    /* A section for each half. */
    const yk_node *second = yk_node_get(item, "second_section");
    beam.sections[0] = section_of(m, yk_node_get(item, "section"));
    beam.sections[1] = beam.sections[0];
    if (second)
        beam.sections[1] = section_of(m, second);
    if (m->status != YK_OK)
        return;

    /* Section axes and offsets are given globally. */
    if (yk_multibody_orient_beam_sections(m->model, &beam, yk_node_vector(item, "section_z")) !=
        YK_OK) {
        note(m, yk_builder_error(m->builder, item,
                                 "'section_z' is along the beam, or its nodes coincide"));
        return;
    }

    yk_vec3 offset = yk_node_vector(item, "offset");
    for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
        yk_quat axes = yk_multibody_frame_at(m->model, beam.nodes[k].index).orientation;
        beam.offsets[k] = yk_q_rotate_back(axes, offset);
    }

    /* Report the errors of the element at its place. */
    yk_beam element;
    yk_beam_def shape = yk_multibody_beam_element(m->model, &beam);
    if (yk_beam_create(context, &shape, &element) != YK_OK)
        note(m, yk_builder_error(m->builder, item, "%s", yk_last_message(context)));
    else if (yk_multibody_add_beam(m->model, &beam) != YK_OK)
        note(m, YK_ERROR_MEMORY);
}

/* Nodes of beams that are displaced, and have no `rotation`, rotate with the line: its tangent is
 * that of the parabola through the nodes; at a node of two beams it is the mean of both. */
static void rotate_displaced_nodes(maker *m)
{
    size_t node_count = (size_t)m->node_count;
    int *rotates = take(m, node_count * sizeof *rotates);
    yk_vec3 *sum = take(m, node_count * sizeof *sum);
    if (m->status != YK_OK)
        return;

    /* Sums of the rotations of all beams at a node, and their number. */
    const yk_multibody_beam_def *beams;
    int beam_count = yk_multibody_beams_of(m->model, &beams);
    yk_multibody_node_def *nodes = yk_multibody_nodes_of(m->model);
    for (int b = 0; b < beam_count; b++) {
        const yk_multibody_beam_def *beam = &beams[b];

        /* The beam's line before and after the displacement. */
        yk_vec3 position[YK_BEAM_NODE_COUNT];
        yk_vec3 moved[YK_BEAM_NODE_COUNT];
        bool displaced = false;
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
            const yk_multibody_node_def *node = &nodes[beam->nodes[k].index];
            yk_vec3 offset = yk_q_rotate(node->orientation, beam->offsets[k]);
            position[k] = yk_v3_add(node->position, offset);
            moved[k] = yk_v3_add(position[k], node->initial_displacement);
            displaced |= yk_v3_norm2(node->initial_displacement) > 0;
        }

        /* The shortest rotation from one tangent to the other. */
        for (int k = 0; k < YK_BEAM_NODE_COUNT && displaced; k++) {
            int node = beam->nodes[k].index;
            yk_vec3 before = yk_multibody_beam_tangent(position, k);
            yk_vec3 after = yk_multibody_beam_tangent(moved, k);
            yk_vec3 cross = yk_v3_cross(before, after);
            double sine = yk_v3_norm(cross);
            double angle = atan2(sine, yk_v3_dot(before, after));
            yk_vec3 rotation = yk_v3(0, 0, 0);
            if (sine > 0)
                rotation = yk_v3_scale(angle / sine, cross);

            /* A node of two beams has the mean of both. */
            sum[node] = yk_v3_add(sum[node], rotation);
            rotates[node]++;
        }
    }

    /* Their mean, for each node in the order in which they were added. */
    static const char *const keys[] = {"nodes", "bodies"};
    int i = 0;
    for (int k = 0; k < 2; k++) {
        for (const yk_node *item = yk_node_items(m->section, keys[k]); item; item = item->next) {
            if (k == 1 && yk_node_get(item, "node"))
                continue;
            if (rotates[i] && !yk_node_get(item, "initial_rotation"))
                nodes[i].initial_rotation = yk_v3_scale(1.0 / rotates[i], sum[i]);

            i++;
        }
    }
}

/* Joints, forces, ports, shapes ---------------------------------------------------------------- */

static yk_motion pose_of(const void *model, yk_body_id body)
{
    const maker *m = model;
    yk_multibody_node_def frame = yk_multibody_frame_at(m->model, body.index);
    return (yk_motion){.position = frame.position, .orientation = frame.orientation};
}

static yk_joint_id add_joint(void *model, const yk_joint_def *def)
{
    return yk_multibody_add_joint(((maker *)model)->model, def);
}

static yk_force_id add_force(void *model, const yk_force_def *def)
{
    return yk_multibody_add_force(((maker *)model)->model, def);
}

static yk_port_id add_port(void *model, const yk_port_def *def)
{
    return yk_multibody_add_port(((maker *)model)->model, def);
}

static const yk_mechanism_ops mechanism_ops = {
    .find = find_frame,
    .pose = pose_of,
    .add_joint = add_joint,
    .add_force = add_force,
    .add_port = add_port,
    .feedback = true,
};

static void add_shape(maker *m, const yk_node *item)
{
    yk_multibody_shape_def shape = yk_multibody_shape_default();
    shape.kind = yk_drawing_kinds[item->choice];
    shape.node = find_noted(m, yk_node_get(item, "body"));
    shape.marker = yk_read_marker(item);

    /* The keys of all variants write the size. */
    const yk_option *keys = yk_drawing_variants[item->choice]->options;
    note(m, yk_option_read_all(m->builder, keys, item, &shape.size));

    if (m->status == YK_OK && yk_multibody_add_shape(m->model, &shape) != YK_OK)
        note(m, YK_ERROR_MEMORY);
}

/* The whole ------------------------------------------------------------------------------------ */

/* Fraction of a step's local error that Newton's method may leave if steps are repeated and
 * compared: the coupling would take the rest for a response to its wrenches, and step control for
 * an error that does not depend on the step size. */
static const double REPEATED_NEWTON = 1e-8;

static yk_status read_def(yk_builder *builder, const yk_node *section, yk_multibody_def *def)
{
    *def = yk_multibody_default();
    def->name = yk_node_name(section);
    def->length_unit = yk_builder_length_unit(section);
    yk_multibody_options *options = &def->options;
    yk_status status = yk_option_read_all(builder, yk_multibody_gravity.options, section, def);
    if (status == YK_OK)
        status = yk_option_read_all(builder, yk_multibody_options_rows.options, section, def);
    if (status != YK_OK)
        return status;

    /* If steps are repeated and compared, or rounding accuracy is requested, iterate further. */
    if (builder->repeats)
        options->newton_relative_tolerance =
            fmin(options->newton_relative_tolerance, REPEATED_NEWTON);
    if (builder->to_rounding) {
        options->newton_relative_tolerance = 1e-12;
        options->newton_absolute_tolerance = 1e-14;
    }

    return YK_OK;
}

/* Channels exist only in the model, so the solver detects an unknown input of a feedback: report
 * its message at the input. */
static yk_status report_input(maker *m, yk_status status)
{
    yk_context *context = yk_builder_context(m->builder);
    const yk_failure_subject subject = yk_last_subject(context);
    for (const yk_node *force = yk_node_items(m->section, "forces"); force; force = force->next) {
        const yk_node *feedback = yk_node_get(force, "feedback");
        if (!feedback || strncmp(yk_node_name(force), subject.part, sizeof subject.part - 1) != 0)
            continue;

        const yk_node *input = yk_node_items(feedback, "inputs");
        for (; input; input = input->next)
            if (strncmp(input->text, subject.item, sizeof subject.item - 1) == 0)
                return yk_builder_error(m->builder, input, "%s", yk_last_message(context));
    }

    return status;
}

static yk_status build_multibody(yk_builder *builder, const yk_node *section,
                                 yk_subsystem **subsystem)
{
    yk_context *context = yk_builder_context(builder);
    yk_multibody_def def;
    yk_status status = read_def(builder, section, &def);
    if (status != YK_OK)
        return status;

    maker m = {.builder = builder, .section = section};
    m.model = yk_multibody_begin(context, &def);
    if (!m.model)
        return YK_ERROR_MEMORY;

    /* Frames first, because everything else refers to them. */
    add_frames(&m);
    if (m.status == YK_OK) {
        for_all(&m, "bodies", add_body);
        note(&m, yk_read_mechanism(builder, section, &mechanism_ops, &m));
        for_all(&m, "beams", add_beam);
        for_all(&m, "shapes", add_shape);
    }

    /* All beams of the nodes are known now. */
    if (m.status == YK_OK)
        rotate_displaced_nodes(&m);

    /* The model copies the data of flexible bodies. */
    if (m.status == YK_OK) {
        m.status = yk_multibody_create(m.model, subsystem);
        if (m.status != YK_OK)
            m.status = report_input(&m, m.status);
    } else {
        yk_multibody_discard(m.model);
    }

    for (int i = 0; i < m.flexible_count; i++)
        yk_flexible_release(m.flexible[i]);

    return m.status;
}

const yk_solver_kind yk_multibody_kind = {&yk_multibody_section, build_multibody};
