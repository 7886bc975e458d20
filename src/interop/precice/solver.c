/* solver: precice */
#include "interop/interop.h"
#include "math/vec3.h"
#include "model/files.h"
#include "yoke/precice.h"

enum { PORTS_MAX = 10000 };

/* In the order of yk_causality, from YK_CAUSALITY_WRENCH_INPUT on. */
static const yk_option_choice takes_words[] = {
    {"wrench",
     "forces are written and displacements read: this system loads a structure of the partner"},
    {"motion", "displacements are written and forces read: this system is the structure"},
    {NULL, NULL},
};

static const yk_option vertex_item = {"vertices", YK_OPTION_NUMBERS, "m", YK_VECTOR,
                                      .description = "x, y, z"};
static const yk_option port_fields[] = {
    {"position", YK_OPTION_NUMBERS, "m", .required = true, YK_VECTOR,
     .description = "position of the port without displacements, in the axes of the mesh"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "its axes there"},
    {"vertices", YK_OPTION_LIST, .min_count = 1, .item = &vertex_item,
     .description =
         "points of the mesh that move with the port; default: one, at the position of the port"},
    {"vertices_file", YK_OPTION_PATH,
     .description = "the same from a table with the columns x, y and, in space, z (CSV)"},
    {"axis", YK_OPTION_NUMBERS, YK_VECTOR,
     .description = "makes it a scalar port: its coordinate is the displacement along this axis"},
    {0},
};
static const yk_option_section port_section = {
    "port",
    "Points of the mesh that move with one port as a rigid body: the forces on them are its "
    "wrench, and their displacements follow from its motion, or the reverse.",
    port_fields};
static const yk_option port_item = {"port", YK_OPTION_SECTION, .section = &port_section,
                                    .description = "a port"};

static const yk_option fields[] = {
    {"participant", YK_OPTION_TEXT, .required = true,
     .description = "name of this participant in the configuration of preCICE"},
    {"config_file", YK_OPTION_PATH, .required = true,
     .description = "configuration of preCICE (XML)"},
    {"mesh", YK_OPTION_TEXT, .required = true, .description = "mesh that the participant provides"},
    {"input", YK_OPTION_CHOICE, .default_text = "motion", .choices = takes_words,
     .description = "data that the ports receive from this system"},
    {"displacement", YK_OPTION_TEXT,
     .description =
         "name of the displacements; default: `Displacement`, if `velocity` is not given either"},
    {"velocity", YK_OPTION_TEXT, .description = "name of the velocities; default: none"},
    {"force", YK_OPTION_TEXT, .default_text = "Force", .description = "data of the forces"},
    {"ports", YK_OPTION_NAMED, .required = true, .min_count = 1, .max_count = PORTS_MAX,
     .item = &port_item, .description = "points that can be coupled with other subsystems"},
    {"library", YK_OPTION_TEXT, .default_text = "libprecice.so.3",
     .description = "the library: a name that the system's loader finds, or a path with a slash, "
                    "relative to the folder of the scenario"},
    {"timeout", YK_OPTION_NUMBER, "s", "600", .range = YK_POSITIVE,
     .description =
         "limit for each answer: partners that take longer for a time window end the run"},
    {0},
};

static const yk_option_section precice_section = {
    "precice",
    "A participant of the coupling library preCICE, version 3, whose partners are solvers of flows "
    "and fields (docs/precice.md). The library is loaded at run time, by a child process. For the "
    "scheme explicit with sequence gauss-seidel; an implicit coupling of preCICE repeats macro "
    "steps.",
    fields};

/* A table of points as one list, which lives as long as the scenario. */
static yk_status read_table(yk_builder *builder, const yk_node *node, yk_precice_port_def *port)
{
    static const char *const names[] = {"x", "y", "z", NULL};
    const char *path = yk_builder_file(builder, node->text);
    if (!path)
        return YK_ERROR_MEMORY;

    yk_csv *table = yk_builder_take(builder, sizeof *table);
    if (!table)
        return YK_ERROR_MEMORY;

    int capacity = 0;
    yk_vec3 *points = NULL;
    yk_status status = yk_csv_open(yk_builder_context(builder), path, names, 2, table);
    while (status == YK_OK) {
        bool more;
        status = yk_csv_next(table, &more);
        if (status != YK_OK || !more)
            break;

        /* Memory for twice as many; what it replaces stays until the scenario ends. */
        if (port->vertex_count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            yk_vec3 *grown = yk_builder_take(builder, (size_t)capacity * sizeof *grown);
            if (!grown) {
                status = YK_ERROR_MEMORY;
                break;
            }

            for (int i = 0; points && i < port->vertex_count; i++)
                grown[i] = points[i];
            points = grown;
        }

        /* A table of a plane mesh has no z, which is zero then. */
        yk_vec3 *to = &points[port->vertex_count++];
        double *numbers[] = {&to->x, &to->y, &to->z};
        for (int i = 0; status == YK_OK && i < 3; i++)
            status = yk_csv_number(table, i, numbers[i]);
    }

    yk_csv_close(table);
    port->vertices = points;
    if (status == YK_OK && port->vertex_count == 0)
        return yk_builder_error(builder, node, "has no rows: a port needs a vertex");
    if (status == YK_OK || status == YK_ERROR_MEMORY)
        return status;
    return yk_builder_error(builder, node, "%s", yk_last_message(yk_builder_context(builder)));
}

static yk_vec3 vector_of(const yk_node *node)
{
    return yk_v3(node->values[0], node->values[1], node->values[2]);
}

static yk_status read_port(yk_builder *builder, const yk_node *node, yk_precice_port_def *port)
{
    *port = (yk_precice_port_def){.name = yk_node_name(node)};
    port->position = vector_of(yk_node_get(node, "position"));
    port->orientation = yk_node_orientation(node, "orientation");

    const yk_node *axis = yk_node_get(node, "axis");
    if (axis) {
        port->axis = vector_of(axis);
        if (!(yk_v3_norm(port->axis) > 0))
            return yk_builder_error(builder, axis, "has no direction: it is zero");
    }

    /* One list of vertices, or the other. */
    const yk_node *list = yk_node_get(node, "vertices");
    const yk_node *file = yk_node_get(node, "vertices_file");
    if (list && file)
        return yk_builder_error(builder, file, "defines the vertices twice: leave out one");
    if (file)
        return read_table(builder, file, port);
    if (!list)
        return YK_OK;

    yk_vec3 *points = yk_builder_take(builder, (size_t)list->count * sizeof *points);
    if (!points)
        return YK_ERROR_MEMORY;

    port->vertices = points;
    for (const yk_node *item = list->first; item; item = item->next)
        points[port->vertex_count++] = vector_of(item);
    return YK_OK;
}

static yk_status build_precice(yk_builder *builder, const yk_node *section,
                               yk_subsystem **subsystem)
{
    yk_builder_note_partner(builder);
    yk_precice_def def = yk_precice_default();

    /* The library is code, also in a child process. */
    yk_status status = yk_builder_library(builder, yk_node_get(section, "library"), &def.library);
    if (status != YK_OK)
        return status;

    def.participant = yk_node_text(section, "participant");
    def.config_file = yk_builder_path(builder, section, "config_file");
    def.mesh = yk_node_text(section, "mesh");
    def.causality = (yk_causality)(YK_CAUSALITY_WRENCH_INPUT + yk_node_choice(section, "input"));
    def.force = yk_node_text(section, "force");
    def.timeout = yk_node_number(section, "timeout");
    if (!def.config_file)
        return YK_ERROR_MEMORY;

    /* Velocities only, if only these are named. */
    const yk_node *velocity = yk_node_get(section, "velocity");
    const yk_node *displacement = yk_node_get(section, "displacement");
    if (velocity) {
        def.velocity = velocity->text;
        def.displacement = NULL;
    }

    if (displacement)
        def.displacement = displacement->text;

    /* Report all errors of all ports. */
    const yk_node *list = yk_node_get(section, "ports");
    yk_precice_port_def *ports = yk_builder_take(builder, (size_t)list->count * sizeof *ports);
    if (!ports)
        return YK_ERROR_MEMORY;

    def.ports = ports;
    for (const yk_node *item = yk_node_items(section, "ports"); item; item = item->next) {
        yk_status one = read_port(builder, item, &ports[def.port_count++]);
        if (one != YK_OK)
            status = one;
    }

    if (status != YK_OK)
        return status;

    return yk_precice_create(yk_builder_context(builder), &def, subsystem);
}

const yk_solver_kind yk_precice_kind = {&precice_section, build_precice};
