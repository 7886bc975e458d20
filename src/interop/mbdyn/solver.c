/* solver: mbdyn */
#include "interop/interop.h"
#include "yoke/mbdyn.h"

enum { NODES_MAX = 10000 };

/* In the order of yk_mbdyn_coupling and yk_mbdyn_orientation. */
static const yk_option_choice couplings[] = {
    {"staggered", "after each converged step: for the schemes explicit and loose"},
    {"loose", "after the prediction of each step: for the scheme loose"},
    {"tight", "after the prediction and in every Newton iteration: for the scheme tight"},
    {NULL, NULL},
};
static const yk_option_choice orientations[] = {
    {"matrix", "`orientation matrix`, MBDyn's default"},
    {"vector", "`orientation vector`"},
    {"euler123", "`euler 123`"},
    {NULL, NULL},
};

static const yk_option node_item = {"nodes", YK_OPTION_TEXT, .description = "the name of a port"};
static const yk_option fields[] = {
    {"address", YK_OPTION_TEXT, .required = true,
     .description = "`unix:PATH` or `tcp:HOST:PORT`, as in the force of MBDyn's input file"},
    {"mbdyn_connects", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "MBDyn connects (`create, no`); otherwise it listens (`create, yes`)"},
    {"nodes", YK_OPTION_LIST, .required = true, .min_count = 1, .max_count = NODES_MAX,
     .item = &node_item,
     .description = "names for the nodes of the force, in its order; "
                    "each becomes a marker port"},
    {"coupling", YK_OPTION_CHOICE, .default_text = "staggered", .choices = couplings,
     .description = "exchange of motions and forces, as in MBDyn's input file"},
    {"orientation", YK_OPTION_CHOICE, .default_text = "matrix", .choices = orientations,
     .description = "format of orientations, as in MBDyn's input file"},
    {"sends_accelerations", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "whether MBDyn sends accelerations, as in its input file"},
    {"timeout", YK_OPTION_NUMBER, "s", "30", .range = YK_POSITIVE,
     .description = "limit for each answer, and for the connection"},
    {0},
};

static const yk_option_section mbdyn_section = {
    "mbdyn",
    "A model that runs in MBDyn, which exchanges motions and forces by its `force: ..., external "
    "structural` over a socket (docs/mbdyn.md). MBDyn's time step must be the step of the "
    "subsystem. Ports: its nodes (markers; they receive a wrench).",
    fields};

static yk_status build_mbdyn(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    yk_builder_note_partner(builder);
    const yk_node *list = yk_node_get(section, "nodes");
    const char **names = yk_builder_take(builder, (size_t)list->count * sizeof *names);
    if (!names)
        return YK_ERROR_MEMORY;

    /* A port for each node, in the order of the force. */
    yk_mbdyn_def def = yk_mbdyn_default();
    def.address = yk_node_text(section, "address");
    def.mbdyn_connects = yk_node_boolean(section, "mbdyn_connects");
    def.nodes = names;

    for (const yk_node *item = list->first; item; item = item->next)
        names[def.node_count++] = item->text;

    /* The external force as MBDyn's input file describes it. */
    def.coupling = (yk_mbdyn_coupling)yk_node_choice(section, "coupling");
    def.orientation = (yk_mbdyn_orientation)yk_node_choice(section, "orientation");
    def.sends_accelerations = yk_node_boolean(section, "sends_accelerations");
    def.timeout = yk_node_number(section, "timeout");

    return yk_mbdyn_create(yk_builder_context(builder), &def, subsystem);
}

const yk_solver_kind yk_mbdyn_kind = {&mbdyn_section, build_mbdyn};
