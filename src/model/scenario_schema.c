/* What a scenario file may say. */
#include <string.h>

#include "model/scenario.h"

static const yk_field time_fields[] = {
    {"start", YK_TYPE_NUMBER, "s", "0", .text = "time of the initial state"},
    {"end", YK_TYPE_NUMBER, "s", .required = true, .text = "time after the last macro step"},
    {"step", YK_TYPE_NUMBER, "s", .required = true, .range = YK_POSITIVE, .refines = 1,
     .text = "macro step: how often the subsystems exchange what they know; "
             "with a tolerance, the largest one"},
    {"step_tolerance", YK_TYPE_NUMBER, .fallback = "0", .range = YK_BETWEEN(0, 1), .refines = 3,
     .text = "error of the interface motions in one macro step, "
             "relative to the largest velocity that they have had, "
             "for which the size of steps is chosen; "
             "0: all are as long as `step`. "
             "Results stay at multiples of `step`"},
    {"min_step", YK_TYPE_NUMBER, "s", .range = YK_POSITIVE, .refines = 1,
     .text = "with a tolerance: the macro step that is taken whatever its error, as at impacts; "
             "a ten-thousandth of the largest where it is absent"},
    {"max_step", YK_TYPE_NUMBER, "s", .range = YK_POSITIVE, .refines = 1,
     .text = "with a tolerance: the macro step that is taken however small its error; "
             "`step` where it is absent"},
    {"events", YK_TYPE_NUMBERS, "s", .least = 0, .most = YK_EVENTS_MAX,
     .text = "times at which forces or inputs jump, in ascending order: "
             "macro steps end there, and at the points of tables that subsystems announce"},
    {0},
};
static const yk_section time_section = {"time", NULL, time_fields};

/* Subsystems ----------------------------------------------------------------------------------- */

/* In the order of yk_length_units and yk_mass_units. */
const yk_word yk_length_words[] = {
    {"m", NULL}, {"cm", NULL}, {"mm", NULL}, {"um", NULL}, {NULL, NULL}};
const yk_word yk_mass_words[] = {
    {"kg", NULL}, {"g", NULL}, {"mg", NULL}, {"t", NULL}, {NULL, NULL}};
const double yk_length_units[] = {1, 1e-2, 1e-3, 1e-6};
const double yk_mass_units[] = {1, 1e-3, 1e-6, 1e3};

static const yk_field units_fields[] = {
    {"length", YK_TYPE_CHOICE, .fallback = "m", .words = yk_length_words, .text = "unit of length"},
    {"mass", YK_TYPE_CHOICE, .fallback = "kg", .words = yk_mass_words, .text = "unit of mass"},
    {0},
};
static const yk_section units_section = {
    "units",
    "Units of the subsystem's own numbers; "
    "the units named in this reference are then the corresponding ones, "
    "forces for instance in g mm/s². "
    "Defaults are SI values and are converted: gravity stays 9.81 m/s². "
    "What leaves the subsystem is in SI units: interfaces, wires from it and everything that is "
    "recorded. "
    "A wire to a signal port of the subsystem brings a number in the subsystem's units; "
    "its `gain` converts.",
    units_fields};
static const yk_field frame_fields[] = {
    {"position", YK_TYPE_NUMBERS, "m", "[0, 0, 0]", .least = 3, .most = 3,
     .text = "where the subsystem's origin is in the whole system, "
             "in metres whatever the subsystem's units are"},
    {"orientation", YK_TYPE_ORIENTATION, .fallback = "[1, 0, 0, 0]",
     .text = "rotation from the subsystem's axes to those of the whole system"},
    {0},
};
static const yk_section frame_section = {
    "pose", "Origin and axes of the subsystem, where they are not those of the whole system.",
    frame_fields};
static const yk_field subsystem_fields[] = {
    {"substeps", YK_TYPE_INTEGER, .range = YK_AT_LEAST(1),
     .text = "steps that the subsystem makes in one macro step; "
             "without it 1, and 4 under the scheme index1 unless its integrator is exact or "
             "runge-kutta"},
    {"max_substep", YK_TYPE_NUMBER, "s", .range = YK_POSITIVE, .refines = 1,
     .text = "in place of substeps: "
             "they are as many as keep its steps from being longer than this"},
    {"units", YK_TYPE_SECTION, .section = &units_section,
     .text = "units of the subsystem's numbers, if not SI"},
    {"pose", YK_TYPE_SECTION, .section = &frame_section, .text = "its pose in the whole system"},
    {"mpi_rank", YK_TYPE_INTEGER, .range = YK_AT_LEAST(0),
     .text = "under `mpirun`, the process that computes it, from 0 on; "
             "without it subsystems are spread over all of them"},
    {0},
};
static const yk_section subsystem_section = {"subsystem",
                                             "Keys of every subsystem:", subsystem_fields};

/* Interfaces ----------------------------------------------------------------------------------- */

static const yk_word axis_words[] = {
    {"x", NULL}, {"y", NULL}, {"z", NULL}, {"rx", NULL}, {"ry", NULL}, {"rz", NULL}, {NULL, NULL},
};
static const yk_field axis_item = {"axes", YK_TYPE_CHOICE, .words = axis_words,
                                   .text = "a relative motion"};
static const yk_field joint_fields[] = {
    {"constrained_axes", YK_TYPE_LIST, .required = true, .least = 1, .most = 6, .item = &axis_item,
     .text = "the relative motions that the joint removes: "
             "`x`, `y`, `z`, `rx`, `ry`, `rz`"},
    {0},
};
static const yk_section joint_section = {
    "joint", "A joint by its axes, in the frame of the second side's marker.", joint_fields};

static const yk_word joint_words[] = {
    {"fixed", "no relative motion; the joint of scalar ports"},
    {"spherical", "rotations are free"},
    {"revolute", "the rotation about z is free"},
    {"universal", "rotations about the second side's x and the first side's y are free"},
    {"cylindrical", "translation along z and rotation about it are free"},
    {"prismatic", "the translation along z is free"},
    {"planar", "translations along x and y and the rotation about z are free"},
    {"in-line", "the first side's origin stays on z of the second, all else is free"},
    {"in-plane", "the first side's origin stays in x and y of the second, all else is free"},
    {"parallel-axes", "the z axes stay parallel, all else is free"},
    {"fixed-orientation", "no relative rotation; translations are free"},
    {"driven-rotation", "the angle about the common z axis alone, to be prescribed by `drive`"},
    {"driven-translation", "the displacement along z alone, to be prescribed by `drive`"},
    {"distance", "the distance of the two origins, `distance`; all else is free"},
    {NULL, NULL},
};
const unsigned yk_joint_axes[] = {
    YK_AXES_ALL,
    YK_AXES_TRANSLATION,
    YK_AXES_ALL & ~YK_AXIS_RZ,
    YK_AXES_TRANSLATION | YK_AXIS_RZ,
    YK_AXES_ALL & ~(YK_AXIS_Z | YK_AXIS_RZ),
    YK_AXES_ALL & ~YK_AXIS_Z,
    YK_AXIS_Z | YK_AXIS_RX | YK_AXIS_RY,
    YK_AXIS_X | YK_AXIS_Y,
    YK_AXIS_Z,
    YK_AXIS_RX | YK_AXIS_RY,
    YK_AXES_ROTATION,
    YK_AXIS_RZ,
    YK_AXIS_Z,
    YK_AXIS_DISTANCE,
};

static const yk_field drive_fields[] = {
    {"x", YK_TYPE_FUNCTION, "m",
     .text = "displacement along x; "
             "of scalar ports the difference of the two sides"},
    {"y", YK_TYPE_FUNCTION, "m", .text = "displacement along y"},
    {"z", YK_TYPE_FUNCTION, "m", .text = "displacement along z"},
    {"rx", YK_TYPE_FUNCTION, "rad", .text = "rotation vector, x"},
    {"ry", YK_TYPE_FUNCTION, "rad", .text = "rotation vector, y"},
    {"rz", YK_TYPE_FUNCTION, "rad", .text = "rotation vector, z"},
    {0},
};
static const yk_section drive_section = {
    "drive",
    "Prescribed motions of the first side's marker in the frame of the second side's, "
    "along axes that the joint constrains.",
    drive_fields};

static const yk_field side_item = {"ports", YK_TYPE_TEXT, .text = "`subsystem.port`"};
static const yk_field interface_fields[] = {
    {"between", YK_TYPE_LIST, .required = true, .least = 2, .most = 2, .item = &side_item,
     .text = "two ports, `subsystem.port`: "
             "the first receives the wrench, "
             "the second the motion (index1: both a wrench, but scalar ports "
             "that take motion only). "
             "A port takes part in one interface; a body can have several"},
    {"joint", YK_TYPE_FORM, .fallback = "fixed", .words = joint_words, .section = &joint_section,
     .text = "which relative motions are constrained, in the frame of the second side's marker"},
    {"at", YK_TYPE_NUMBERS, "m", .least = 3, .most = 3,
     .text = "where both markers are at the start, in the whole system: "
             "the markers of the two ports are moved there on their bodies, "
             "and what is recorded of the ports is of that point"},
    {"axis", YK_TYPE_NUMBERS, .least = 3, .most = 3,
     .text = "direction of both z axes at the start, in the whole system, of any length: "
             "the axis of a hinge or slider"},
    {"orientation", YK_TYPE_ORIENTATION,
     .text = "of both markers at the start, in the whole system; instead of `axis`"},
    {"distance", YK_TYPE_FUNCTION, "m",
     .text = "of the joint `distance`: a number or an expression of time. "
             "For the schemes that `drive` is for"},
    {"drive", YK_TYPE_SECTION, .section = &drive_section,
     .text = "relative motions that are prescribed, as expressions of time: "
             "a motor angle as `rz` of a `fixed` joint or of `driven-rotation`, the stroke of a "
             "ram as `z`. "
             "For the schemes index1, monolithic and relaxed, "
             "and for explicit, loose and rim between multibody subsystems"},
    {0},
};
static const yk_section interface_section = {"interface", "Where two subsystems meet.",
                                             interface_fields};
static const yk_field interface_item = {"interface", YK_TYPE_SECTION, .section = &interface_section,
                                        .text = ""};

/* Wires ---------------------------------------------------------------------------------------- */

static const yk_field wire_fields[] = {
    {"from", YK_TYPE_TEXT, .required = true,
     .text = "what is carried: "
             "a single number named as under `record.channels`, `subsystem.port.velocity`, "
             "`subsystem.channel` or a signal port that gives, `subsystem.port`"},
    {"to", YK_TYPE_TEXT, .required = true,
     .text = "the signal port that takes it, `subsystem.port`"},
    {"gain", YK_TYPE_NUMBER, .fallback = "1",
     .text = "factor on the number that is carried, such as 0.001 from mm to m"},
    {"offset", YK_TYPE_NUMBER, .fallback = "0", .text = "added to it, after the factor"},
    {"sample_and_hold", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "carry the value at the start of the macro step over the whole of it, "
             "as a sampled signal; "
             "otherwise a straight line to the value at the end where that is known already"},
    {0},
};
static const yk_section wire_section = {
    "wire",
    "A signal without power from one subsystem to another: "
    "a measured length, a valve's command. "
    "In the order gauss-seidel the source of a wire goes before its target "
    "where the interfaces allow it; "
    "in a circle the motion of wrench sides is taken as measured "
    "at the start of the step. "
    "The scheme tight repeats wires with the interfaces, "
    "index1 solves for them with the wrenches where both ends are differenced; "
    "rim carries wires between fast subsystems at every exchange; "
    "monolithic and relaxed repeat the step until wires that go in a circle have settled.",
    wire_fields};
static const yk_field wire_item = {"wire", YK_TYPE_SECTION, .section = &wire_section, .text = ""};

/* Record --------------------------------------------------------------------------------------- */

static const yk_field channel_item = {"channels", YK_TYPE_TEXT, .text = ""};
static const yk_field record_fields[] = {
    {"every", YK_TYPE_INTEGER, .fallback = "1", .range = YK_AT_LEAST(1), .refines = -1,
     .text = "macro steps between two samples"},
    {"channels", YK_TYPE_LIST, .most = YK_CHANNELS_MAX, .item = &channel_item,
     .text = "what to record; all ports, energies and interface errors where it is absent"},
    {"frames", YK_TYPE_INTEGER, .fallback = "600", .range = YK_AT_LEAST(0),
     .text = "about so many times in the run it is recorded where everything is, "
             "for `yoke report`; "
             "fewer where they would need more than 256 MB; 0: never"},
    {"max_contacts", YK_TYPE_INTEGER, .fallback = "200", .range = YK_BETWEEN(0, 1000000),
     .text = "contact points of each subsystem in a frame, those with the largest forces; 0: none"},
    {"file", YK_TYPE_PATH, .text = "where the results go, from the scenario's folder"},
    {0},
};
static const yk_section record_section = {
    "record",
    "Everything is recorded in SI units, whatever the `units` of a subsystem are, and labelled "
    "with "
    "its unit. "
    "Only the variables of an FMU whose description declares another unit, such as bar or mm, stay "
    "in "
    "that unit and have it as their label. "
    "Ports are in the axes of the whole system, all else of a subsystem is in the axes of its "
    "`pose`.\n\n"
    "A channel is named by its owner and its quantity:\n\n"
    "- `subsystem.port.quantity`, "
    "or `interface.quantity` for the first side of an interface: "
    "`position`, `velocity`, `acceleration`, `force`; "
    "of markers also `orientation` (w, x, y, z), `angular_velocity`, "
    "`angular_acceleration`, `torque`, `wrench` (force and torque). "
    "One component is `.x`, `.y`, `.z` (or `.w` of an orientation).\n"
    "- `interface.gap_position`, `interface.gap_rotation`, "
    "`interface.gap_velocity`, `interface.gap_angular_velocity`: "
    "how far its two sides are apart; `interface.energy_created`: "
    "work that the coupling put into the system.\n"
    "- `coupling.iteration_count`: sweeps over all subsystems in the last macro step.\n"
    "- `subsystem.port` of a signal port (or `subsystem.port.value`), and `wire.value`.\n"
    "- `subsystem.energy`: kinetic, potential, dissipated, work; "
    "one of them is `subsystem.energy.kinetic`.\n"
    "- `subsystem.channel` for what else a subsystem reports, such as reactions.",
    record_fields};

/* Checkpoints ---------------------------------------------------------------------------------- */

static const yk_field checkpoint_fields[] = {
    {"every", YK_TYPE_TEXT, .required = true,
     .text = "how often: macro steps (`500 steps`), simulated time (`0.5 s`; also `ms`, `min`, "
             "`h`), or time on the clock (`10 min wall`)"},
    {"file", YK_TYPE_PATH,
     .text = "where they go, from the scenario's folder; the results file with `.checkpoint` "
             "behind it where it is absent"},
    {0},
};
static const yk_section checkpoint_section = {
    "checkpoint",
    "The whole state of the run now and then, and when it is stopped by SIGINT or SIGTERM, so that "
    "`yoke resume` goes on from there as if it had never stopped. The last two are kept.",
    checkpoint_fields};

/* The file ------------------------------------------------------------------------------------- */

enum { SUBSYSTEMS_FIELD = 5, COUPLING_FIELD = 8 };

static const yk_field plugin_item = {"plugins", YK_TYPE_TEXT, .text = "a shared library"};

static const yk_field scenario_fields[] = {
    {"title", YK_TYPE_TEXT, .text = "one line for summaries and reports"},
    {"description", YK_TYPE_TEXT, .text = "what the scenario shows"},
    {"plugins", YK_TYPE_LIST, .most = YK_PLUGINS_MAX, .item = &plugin_item,
     .text = "shared libraries with solvers and schemes of their own, from the scenario's folder; "
             "they run with all rights of the program"},
    {"parameters", YK_TYPE_PARAMETERS, .most = YK_PARAMETERS_MAX,
     .text =
         "named numbers that expressions can use, given as numbers or expressions of each other"},
    {"time", YK_TYPE_SECTION, .required = true, .section = &time_section,
     .text = "from when to when, in which steps"},
    [SUBSYSTEMS_FIELD] = {"subsystems", YK_TYPE_NAMED, .required = true, .least = 1,
                          .most = YK_SUBSYSTEMS_MAX, /* its item comes from the solvers */
                          .text = "the parts, each with its own solver"},
    {"interfaces", YK_TYPE_NAMED, .most = YK_INTERFACES_MAX, .item = &interface_item,
     .text = "where the subsystems are joined"},
    {"wires", YK_TYPE_NAMED, .most = YK_WIRES_MAX, .item = &wire_item,
     .text = "signals without power from one subsystem to another"},
    [COUPLING_FIELD] = {"coupling", YK_TYPE_SECTION, /* its section comes from the schemes */
                        .text = "how the subsystems are coupled; "
                                "required where there are interfaces"},
    {"record", YK_TYPE_SECTION, .fallback = "{}", .section = &record_section,
     .text = "what is recorded, and where"},
    {"checkpoint", YK_TYPE_SECTION, .section = &checkpoint_section,
     .text = "how often the state is saved, to go on from; never where it is absent"},
    {0},
};

const yk_section *yk_scenario_section(yk_store *store, const yk_extensions *extensions,
                                      const yk_scheme_ops *chosen, const yk_scheme_ops *fall_back)
{
    size_t own = (size_t)yk_solver_kind_count;
    size_t all = own + (size_t)extensions->solver_count;
    yk_section *section = yk_store_take(store, sizeof *section);
    yk_field *fields = yk_store_take(store, sizeof scenario_fields);
    yk_field *subsystem = yk_store_take(store, sizeof *subsystem);
    const yk_section **variants = yk_store_take(store, (all + 1) * sizeof *variants);
    if (!section || !fields || !subsystem || !variants)
        return NULL;

    /* A subsystem by any of the solvers: those of the library, then those from outside. */
    for (size_t i = 0; i < own; i++)
        variants[i] = yk_solver_kinds[i]->section;

    for (size_t i = own; i < all; i++) {
        const yk_solver_ops *ops = extensions->solvers[i - own];
        variants[i] = yk_option_section(store, ops->name, ops->description, ops->options);
        if (!variants[i])
            return NULL;
    }
    *subsystem = (yk_field){
        .key = "subsystem",
        .type = YK_TYPE_VARIANT,
        .section = &subsystem_section,
        .variants = variants,
        .selector = "solver",
        .text = "One subsystem with its own solver",
    };

    memcpy(fields, scenario_fields, sizeof scenario_fields);
    fields[SUBSYSTEMS_FIELD].item = subsystem;
    fields[COUPLING_FIELD].section = yk_coupling_section(store, extensions, chosen, fall_back);
    if (!fields[COUPLING_FIELD].section)
        return NULL;

    *section = (yk_section){"scenario", NULL, fields};
    return section;
}
