/* Items of `flexible` under solver: smooth: what they may say, and the bodies that they make. */
#include "model/kind_smooth.h"
#include "model/modal.h"

#define COUNT YK_TYPE_INTEGER, .range = YK_AT_LEAST(0)

enum { AMPLITUDES_MAX = 1000 };

static const yk_field moving_fields[] = {
    YK_INCLUDE(yk_node_keys),
    {"amplitudes", YK_TYPE_NUMBERS, .least = 1, .most = AMPLITUDES_MAX,
     .text = "of the shapes at the start, in the order of the channels `amplitude_1` and so on; "
             "those that are left out are zero"},
    {"amplitude_rates", YK_TYPE_NUMBERS, "1/s", .least = 1, .most = AMPLITUDES_MAX,
     .text = "likewise"},
    {"constant_mass", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "neglect the deformation in the inertia, where accelerations enter: "
             "faster to reason about, less exact"},
    {0},
};
static const yk_section moving_keys = {"moving", NULL, moving_fields};

static const yk_field along_item = {"points", YK_TYPE_NUMBER, "m",
                                    .text = "distance from the origin along the rod"};
static const yk_field number_item = {"points", YK_TYPE_INTEGER, .text = "number of a node"};
static const yk_word support_words[] = {
    {"clamped-free", "fixed to the section at the origin: shapes of a cantilever"},
    {"pinned-pinned", "its x axis runs through both ends: half waves"},
    {"free-free", "moves with the mean of the rod: modes of a free rod"},
    {NULL, NULL}};

static const yk_field rod_fields[] = {
    {"length", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along x of its frame"},
    {"section", YK_TYPE_VARIANT, .required = true, .variants = yk_plain_sections,
     .selector = "shape", .text = "What it is made of"},
    {"frame", YK_TYPE_CHOICE, .fallback = "clamped-free", .words = support_words,
     .text = "how the frame floats"},
    {"bending_y", COUNT, .fallback = "2", .text = "shapes of vibration with deflection along y"},
    {"bending_z", COUNT, .fallback = "2", .text = "and along z"},
    {"extension", COUNT, .fallback = "1", .text = "shapes along x"},
    {"torsion", COUNT, .fallback = "1", .text = "shapes about x"},
    {"statics", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "two more shapes in each plane that bends: "
             "the exact deflections under loads at its ends"},
    {"stiffening", YK_TYPE_BOOLEAN, .fallback = "true",
     .text = "bending draws the rod in, so that axial forces and fast rotation stiffen it"},
    {"damping_ratio", YK_TYPE_NUMBER, .fallback = "0", .range = YK_NOT_NEGATIVE,
     .text = "of each shape, as a fraction of critical damping"},
    {"points", YK_TYPE_NAMED, .item = &along_item, .text = "where joints, forces and ports attach"},
    YK_INCLUDE(moving_keys),
    {0}};

static const yk_field modal_fields[] = {
    {"nodes", YK_TYPE_PATH, .text = "table of coordinates and lumped masses, see modal.md"},
    {"modes", YK_TYPE_PATH, .text = "table of displacements, by mode and node"},
    {"frequencies", YK_TYPE_PATH, .text = "table of frequencies, by mode"},
    {"second_order", YK_TYPE_PATH,
     .text = "table of second-order displacements, by two modes and node: "
             "what stiffens the body under loads"},
    {"invariants", YK_TYPE_PATH,
     .text = "table of inertia invariants, in the place of lumped masses, "
             "and of modal mass, stiffness and damping"},
    {"fem", YK_TYPE_PATH,
     .text = "file with the record groups of MBDyn's modal joint, in the place of all tables"},
    {"use", YK_TYPE_NUMBERS, .least = 1, .most = 1000,
     .text = "numbers of the modes that take part; without, all"},
    {"damping_ratio", YK_TYPE_NUMBER, .fallback = "0", .range = YK_NOT_NEGATIVE,
     .text = "of all shapes, as a fraction of critical damping, where the files have no damping"},
    {"points", YK_TYPE_NAMED, .item = &number_item,
     .text = "where joints, forces and ports attach: "
             "numbers of nodes in the table"},
    YK_INCLUDE(moving_keys),
    {0}};

static const yk_field ancf_fields[] = {
    {"length", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along x of its orientation"},
    {"elements", YK_TYPE_INTEGER, .fallback = "4", .range = YK_BETWEEN(1, 100000),
     .text = "of equal length"},
    {"section", YK_TYPE_VARIANT, .required = true, .variants = yk_plain_sections,
     .selector = "shape", .text = "What it is made of"},
    {"points", YK_TYPE_NAMED, .item = &number_item,
     .text = "where joints, forces and ports attach: "
             "numbers of nodes, 0 at the start, `elements` at the end"},
    {"curvature", YK_TYPE_NUMBERS, "1/m", "[0, 0, 0]", YK_VECTOR,
     .text = "at the start, constant along it: "
             "twist about x of its section, bending about y and z"},
    YK_INCLUDE(yk_node_keys),
    {0}};

static const yk_section rod = {
    "rod",
    "A uniform rod in small deformation, seen from a floating frame at its start; "
    "the frame is a node of its name.",
    rod_fields};
static const yk_section modal = {
    "modal", "Any body in small deformation, with the shapes of a finite-element program.",
    modal_fields};
static const yk_section ancf = {
    "ancf",
    "A uniform rod in deformation of any size, in absolute nodal coordinates; "
    "free of strain where it is straight.",
    ancf_fields};

/* In the order of YK_FLEXIBLE_ITEM. */
static const yk_section *const variants[] = {&rod, &modal, &ancf, NULL};
const yk_field yk_flexible_item = {"flexible body", YK_TYPE_VARIANT, .variants = variants,
                                   .selector = "type", .text = "A body that deforms"};

/* Building ------------------------------------------------------------------------------------- */

yk_status yk_read_section(yk_builder *builder, const yk_node *node, yk_beam_section_def *def)
{
    *def = yk_beam_section_default();
    def->young = yk_node_number(node, "young");
    def->poisson = yk_node_number(node, "poisson");
    def->density = yk_node_number(node, "density");
    def->damping_ratio = yk_node_number(node, "damping_ratio");

    /* By its shape, from which area, moments and shear factors follow. */
    if (node->choice == YK_SECTION_RECTANGLE) {
        double width_y = yk_node_number(node, "width_y");
        double width_z = yk_node_number(node, "width_z");
        yk_beam_section_rectangle(def, width_y, width_z);
        return YK_OK;
    }

    if (node->choice == YK_SECTION_TUBE) {
        double outer = yk_node_number(node, "radius");
        double inner = yk_node_number(node, "inner_radius");
        yk_beam_section_tube(def, outer, inner);
        if (!(inner < outer))
            return yk_builder_error(builder, yk_node_get(node, "inner_radius"),
                                    "the inner radius must be less than the outer one, which is %g",
                                    outer);
        return YK_OK;
    }

    /* By its numbers. */
    def->area = yk_node_number(node, "area");
    def->inertia_y = yk_node_number(node, "inertia_y");
    def->inertia_z = yk_node_number(node, "inertia_z");
    def->torsion = yk_node_number(node, "torsion");
    def->shear_y = yk_node_number(node, "shear_y");
    def->shear_z = yk_node_number(node, "shear_z");

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
    for (const yk_node *point = yk_node_items(item, "points"); point; point = point->next, k++) {
        distances[k] = point->value;
        attachments[k] = k;
    }

    /* The material, and the shapes that take part. */
    yk_ffrf_rod_def def = yk_ffrf_rod_default();
    const yk_node *section = yk_node_get(item, "section");
    yk_status status = yk_read_section(builder, section, &def.section);
    if (status != YK_OK)
        return status;

    def.length = yk_node_number(item, "length");
    def.support = (yk_rod_support)yk_node_choice(item, "frame");
    def.bending_y = yk_node_integer(item, "bending_y");
    def.bending_z = yk_node_integer(item, "bending_z");
    def.extension = yk_node_integer(item, "extension");
    def.torsion = yk_node_integer(item, "torsion");
    def.statics = yk_node_boolean(item, "statics");
    def.stiffening = yk_node_boolean(item, "stiffening");
    def.constant_mass = yk_node_boolean(item, "constant_mass");
    def.damping_ratio = yk_node_number(item, "damping_ratio");
    def.attachments = distances;
    def.attachment_count = count;

    /* The section's own ratio is a time; shapes are damped by fractions. */
    if (def.section.damping_ratio > 0)
        return yk_builder_error(builder, section,
                                "a rod with shapes has 'damping_ratio' beside its section: "
                                "a fraction of critical damping");

    return yk_flexible_rod(yk_builder_context(builder), &def, body);
}

/* Whether the files make a body together. */
static yk_status check_files(yk_builder *builder, const yk_node *item, const yk_modal_files *files,
                             int points)
{
    /* One source for everything ... */
    bool tables = files->nodes || files->modes || files->frequencies || files->second_order ||
                  files->invariants;
    if (files->fem && tables)
        return yk_builder_error(builder, item,
                                "'fem' describes the whole body: leave out the tables beside it");
    if (files->fem)
        return YK_OK;

    /* ... or tables that complete each other. */
    bool shaped = files->nodes && files->modes;
    if (!files->invariants && !(shaped && files->frequencies))
        return yk_builder_error(
            builder, item,
            "the body needs 'nodes', 'modes' and 'frequencies', or 'invariants', or 'fem': "
            "see docs/modal.md");
    if (!shaped && (files->nodes || files->modes || files->second_order))
        return yk_builder_error(builder, item,
                                "'nodes' and 'modes' go together, and 'second_order' with them");
    if (!shaped && points)
        return yk_builder_error(builder, yk_node_get(item, "points"),
                                "points are nodes of the body: "
                                "give 'nodes' and 'modes' beside 'invariants'");

    return YK_OK;
}

static yk_status build_modal(yk_builder *builder, const yk_node *item, int count, int *attachments,
                             yk_flexible **body)
{
    yk_modal_files files = {
        .damping_ratio = yk_node_number(item, "damping_ratio"),
        .constant_mass = yk_node_boolean(item, "constant_mass"),
    };
    const yk_node *use = yk_node_get(item, "use");
    if (use) {
        files.use = use->values;
        files.use_count = use->value_count;
    }

    /* The files that are named, from the scenario's folder. */
    const struct {
        const char *key, **path;
    } keys[] = {
        {"nodes", &files.nodes},
        {"modes", &files.modes},
        {"frequencies", &files.frequencies},
        {"second_order", &files.second_order},
        {"invariants", &files.invariants},
        {"fem", &files.fem},
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
    for (const yk_node *point = yk_node_items(item, "points"); point; point = point->next, k++) {
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
    yk_ancf_rod_def def = {
        .length = yk_node_number(item, "length"),
        .elements = yk_node_integer(item, "elements"),
    };
    yk_status status = yk_read_section(builder, yk_node_get(item, "section"), &def.section);
    if (status != YK_OK)
        return status;

    /* Attachments are nodes, counted from the start of the rod. */
    int k = 0;
    for (const yk_node *point = yk_node_items(item, "points"); point; point = point->next, k++) {
        attachments[k] = (int)point->value;
        if (point->value < 0 || point->value > def.elements)
            return yk_builder_error(builder, point, "the rod has nodes 0 to %d, not %g",
                                    def.elements, point->value);
    }

    return yk_flexible_ancf(yk_builder_context(builder), &def, body);
}

yk_status yk_flexible_build(yk_builder *builder, const yk_node *item, int *attachments,
                            yk_flexible **body)
{
    static yk_status (*const build[])(yk_builder *, const yk_node *, int, int *, yk_flexible **) = {
        [YK_FLEXIBLE_ITEM_ROD] = build_rod,
        [YK_FLEXIBLE_ITEM_MODAL] = build_modal,
        [YK_FLEXIBLE_ITEM_ANCF] = build_ancf,
    };
    const yk_node *points = yk_node_get(item, "points");
    int count = points ? points->count : 0;
    yk_status status = build[item->choice](builder, item, count, attachments, body);

    /* Bodies refuse what is wrong with them in words that need the location only. */
    if (status == YK_ERROR_ARGUMENT)
        return yk_builder_error(builder, item, "%s", yk_last_message(yk_builder_context(builder)));

    return status;
}
