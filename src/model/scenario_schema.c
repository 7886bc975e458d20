/* The schema of scenario files. */
#include <string.h>

#include "model/scenario.h"

static const yk_option time_fields[] = {
    {"start", YK_OPTION_NUMBER, "s", "0", .description = "time of the initial state"},
    {"end", YK_OPTION_NUMBER, "s", .required = true,
     .description = "time after the last macro step"},
    {"step", YK_OPTION_NUMBER, "s", .required = true, .range = YK_POSITIVE,
     .refinement_exponent = 1,
     .description = "macro step: interval at which the subsystems exchange data; with a tolerance, "
                    "the largest one"},
    {"step_tolerance", YK_OPTION_NUMBER, .default_text = "0", .range = YK_BETWEEN(0, 1),
     .refinement_exponent = 3,
     .description = "error of the interface motions per macro step, relative to their largest "
                    "velocity so far, from which the step size is chosen; 0: all steps are `step`. "
                    "Results remain at multiples of `step`"},
    {"min_step", YK_OPTION_NUMBER, "s", .only_with = {.key = "step_tolerance"},
     .range = YK_POSITIVE, .refinement_exponent = 1,
     .description = "smallest macro step, accepted with any error, for example at impacts; "
                    "default: 1e-4 times the largest"},
    {"max_step", YK_OPTION_NUMBER, "s", .only_with = {.key = "step_tolerance"},
     .range = YK_POSITIVE, .refinement_exponent = 1,
     .description = "largest macro step; default: `step`"},
    {"events", YK_OPTION_NUMBERS, "s", .min_count = 0, .max_count = YK_EVENTS_MAX,
     .description = "times at which forces or inputs jump, in ascending order: "
                    "macro steps end there, and at the points of tables that subsystems announce"},
    {0},
};
static const yk_option_section time_section = {"time", NULL, time_fields};

/* Subsystems ----------------------------------------------------------------------------------- */

/* In the order of yk_length_units and yk_mass_units. */
const yk_option_choice yk_length_words[] = {
    {"m", NULL}, {"cm", NULL}, {"mm", NULL}, {"um", NULL}, {NULL, NULL}};
const yk_option_choice yk_mass_words[] = {
    {"kg", NULL}, {"g", NULL}, {"mg", NULL}, {"t", NULL}, {NULL, NULL}};
const double yk_length_units[] = {1, 1e-2, 1e-3, 1e-6};
const double yk_mass_units[] = {1, 1e-3, 1e-6, 1e3};

static const yk_option units_fields[] = {
    {"length", YK_OPTION_CHOICE, .default_text = "m", .choices = yk_length_words,
     .description = "unit of length"},
    {"mass", YK_OPTION_CHOICE, .default_text = "kg", .choices = yk_mass_words,
     .description = "unit of mass"},
    {0},
};
static const yk_option_section units_section = {
    "units",
    "Units of the subsystem's own numbers; the units in this reference are then the corresponding "
    "ones, for example forces in g mm/s². Defaults are SI values and are converted: gravity "
    "remains 9.81 m/s². Data outside the subsystem are in SI units: interfaces, wires from it and "
    "all recorded channels. A wire to a signal port of the subsystem delivers a number in the "
    "subsystem's units; its `gain` converts.",
    units_fields};
static const yk_option frame_fields[] = {
    {"position", YK_OPTION_NUMBERS, "m", "[0, 0, 0]", .min_count = 3, .max_count = 3,
     .description = "position of the subsystem's origin in the whole system, always in metres"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from the subsystem's axes to those of the whole system"},
    {0},
};
static const yk_option_section frame_section = {
    "pose", "Origin and axes of the subsystem, if they differ from those of the whole system.",
    frame_fields};
static const yk_option subsystem_fields[] = {
    {"substeps", YK_OPTION_INTEGER, .range = YK_AT_LEAST(1),
     .description = "steps of the subsystem per macro step; default: 1, and 4 under the scheme "
                    "index1 unless its integrator is exact or runge-kutta"},
    {"max_substep", YK_OPTION_NUMBER, "s", .range = YK_POSITIVE, .refinement_exponent = 1,
     .description =
         "instead of substeps: the number of substeps is chosen so that none is longer than this"},
    {"units", YK_OPTION_SECTION, .section = &units_section,
     .description = "units of the subsystem's numbers, if not SI"},
    {"pose", YK_OPTION_SECTION, .section = &frame_section,
     .description = "its pose in the whole system"},
    {"mpi_rank", YK_OPTION_INTEGER, .range = YK_AT_LEAST(0),
     .description = "under `mpirun`, the process that computes it, from 0 on; default: subsystems "
                    "are distributed over all processes"},
    {0},
};
static const yk_option_section subsystem_section = {"subsystem",
                                                    "Keys of every subsystem:", subsystem_fields};

/* Interfaces ----------------------------------------------------------------------------------- */

static const yk_option_choice axis_words[] = {
    {"x", NULL}, {"y", NULL}, {"z", NULL}, {"rx", NULL}, {"ry", NULL}, {"rz", NULL}, {NULL, NULL},
};
static const yk_option axis_item = {"axes", YK_OPTION_CHOICE, .choices = axis_words,
                                    .description = "a relative motion"};
static const yk_option joint_fields[] = {
    {"constrained_axes", YK_OPTION_LIST, .required = true, .min_count = 1, .max_count = 6,
     .item = &axis_item,
     .description = "the constrained relative motions: `x`, `y`, `z`, `rx`, `ry`, `rz`"},
    {0},
};
static const yk_option_section joint_section = {
    "joint", "A joint by its axes, in the frame of the second side's marker.", joint_fields};

static const yk_option_choice joint_words[] = {
    {"fixed", "no relative motion; the joint of scalar ports"},
    {"spherical", "rotations are free"},
    {"revolute", "the rotation about z is free"},
    {"universal", "rotations about the second side's x and the first side's y are free"},
    {"cylindrical", "translation along z and rotation about it are free"},
    {"prismatic", "the translation along z is free"},
    {"planar", "translations along x and y and the rotation about z are free"},
    {"in-line", "the first side's origin remains on z of the second, all other motions are free"},
    {"in-plane",
     "the first side's origin remains in x and y of the second, all other motions are free"},
    {"parallel-axes", "the z axes remain parallel, all other motions are free"},
    {"fixed-orientation", "no relative rotation; translations are free"},
    {"driven-rotation", "only the angle about the common z axis, to be prescribed by `drive`"},
    {"driven-translation", "only the displacement along z, to be prescribed by `drive`"},
    {"distance", "the distance of the two origins, `distance`; all other motions are free"},
    {"knife-edge",
     "the first side's origin moves relative to the second only along its own x and z: a skate"},
    {"rolling", "a disc about z of the first side, of the given `radius`, rolls without slip on x "
                "and y of the second"},
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
    YK_AXIS_KNIFE_EDGE,
    YK_AXIS_ROLLING,
};

static const yk_option drive_fields[] = {
    {"x", YK_OPTION_FUNCTION, "m",
     .description = "displacement along x; "
                    "of scalar ports the difference of the two sides"},
    {"y", YK_OPTION_FUNCTION, "m", .description = "displacement along y"},
    {"z", YK_OPTION_FUNCTION, "m", .description = "displacement along z"},
    {"rx", YK_OPTION_FUNCTION, "rad", .description = "rotation vector, x"},
    {"ry", YK_OPTION_FUNCTION, "rad", .description = "rotation vector, y"},
    {"rz", YK_OPTION_FUNCTION, "rad", .description = "rotation vector, z"},
    {0},
};
static const yk_option_section drive_section = {
    "drive",
    "Prescribed motions of the first side's marker in the frame of the second side's, "
    "along axes that the joint constrains.",
    drive_fields};

static const yk_option side_item = {"ports", YK_OPTION_TEXT, .description = "`subsystem.port`"};
static const yk_option interface_fields[] = {
    {"between", YK_OPTION_LIST, .required = true, .min_count = 2, .max_count = 2,
     .item = &side_item,
     .description =
         "two ports, `subsystem.port`: the first receives the wrench, the second the motion "
         "(index1: both receive a wrench, except scalar ports that receive motion only). A port "
         "can be part of one interface; a body can have several ports"},
    {"joint", YK_OPTION_FORM, .default_text = "fixed", .choices = joint_words,
     .section = &joint_section,
     .description = "constrained relative motions, in the frame of the second side's marker"},
    {"at", YK_OPTION_NUMBERS, "m", .min_count = 3, .max_count = 3,
     .description =
         "initial position of both markers, in the whole system: the markers of the two ports are "
         "moved there on their bodies, and recorded quantities of the ports refer to that point"},
    {"axis", YK_OPTION_NUMBERS, .min_count = 3, .max_count = 3,
     .description = "initial direction of both z axes, in the whole system, of any length: the "
                    "axis of a hinge or slider"},
    {"orientation", YK_OPTION_ORIENTATION,
     .description = "initial orientation of both markers, in the whole system; instead of `axis`"},
    {"distance", YK_OPTION_FUNCTION, "m",
     .description = "of the joint `distance`: a number or an expression of time. For the same "
                    "schemes as `drive`"},
    {"radius", YK_OPTION_NUMBER, "m", .range = YK_POSITIVE,
     .description = "of the joint `rolling`: the radius of the disc. `knife-edge` and `rolling` "
                    "are possible in the same "
                    "schemes as `drive`"},
    {"drive", YK_OPTION_SECTION, .section = &drive_section,
     .description =
         "prescribed relative motions, as expressions of time: a motor angle as `rz` of a `fixed` "
         "joint or of `driven-rotation`, the stroke of a ram as `z`. For the schemes index1, "
         "monolithic and relaxed, and for explicit, loose and rim between multibody subsystems"},
    {0},
};
static const yk_option_section interface_section = {"interface", "A connection of two subsystems.",
                                                    interface_fields};
static const yk_option interface_item = {"interface", YK_OPTION_SECTION,
                                         .section = &interface_section, .description = ""};

/* Wires ---------------------------------------------------------------------------------------- */

static const yk_option wire_fields[] = {
    {"from", YK_OPTION_TEXT, .required = true,
     .description =
         "the source: a single number named as under `record.channels`, `subsystem.port.velocity`, "
         "`subsystem.channel` or a signal output, `subsystem.port`"},
    {"to", YK_OPTION_TEXT, .required = true,
     .description = "the target: a signal input, `subsystem.port`"},
    {"gain", YK_OPTION_NUMBER, .default_text = "1",
     .description = "factor, such as 0.001 from mm to m"},
    {"offset", YK_OPTION_NUMBER, .default_text = "0", .description = "added after the factor"},
    {"sample_and_hold", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "the target receives the value at the start of the macro step for the whole "
                    "step, like a sampled signal; otherwise a straight line to the value at the "
                    "end if that is known already"},
    {0},
};
static const yk_option_section wire_section = {
    "wire",
    "A signal without power from one subsystem to another: a measured length, a valve's command. "
    "In the sequence gauss-seidel the source of a wire steps before its target if the interfaces "
    "allow it; in a cycle the motion of wrench sides is used as measured at the start of the step. "
    "The scheme tight repeats wires with the interfaces, index1 solves for them with the wrenches "
    "if both ends are differentiated by finite differences; rim updates wires between fast "
    "subsystems at every exchange; monolithic and relaxed repeat the step until wires in cycles "
    "converge.",
    wire_fields};
static const yk_option wire_item = {"wire", YK_OPTION_SECTION, .section = &wire_section,
                                    .description = ""};

/* Record --------------------------------------------------------------------------------------- */

static const yk_option channel_item = {"channels", YK_OPTION_TEXT, .description = ""};
static const yk_option record_fields[] = {
    {"every", YK_OPTION_INTEGER, .default_text = "1", .range = YK_AT_LEAST(1),
     .refinement_exponent = -1, .description = "macro steps between two samples"},
    {"channels", YK_OPTION_LIST, .max_count = YK_CHANNELS_MAX, .item = &channel_item,
     .description = "channels to record; default: all ports, energies and interface gaps"},
    {"frames", YK_OPTION_INTEGER, .default_text = "600", .range = YK_AT_LEAST(0),
     .description = "approximate number of 3D frames of the run, for `yoke report`; fewer if they "
                    "would need more than 256 MB; 0: none"},
    {"max_contacts", YK_OPTION_INTEGER, .default_text = "200", .range = YK_BETWEEN(0, 1000000),
     .description = "largest number of contact points of each subsystem in a frame, those with the "
                    "largest forces; 0: none"},
    {"file", YK_OPTION_PATH, .description = "results file, relative to the scenario's folder"},
    {0},
};
static const yk_option_section record_section = {
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

static const yk_option checkpoint_fields[] = {
    {"every", YK_OPTION_TEXT, .required = true,
     .description = "interval: macro steps (`500 steps`), simulated time (`0.5 s`; also `ms`, "
                    "`min`, `h`), or wall time (`10 min wall`)"},
    {"file", YK_OPTION_PATH,
     .description = "checkpoint file, relative to the scenario's folder; default: the results file "
                    "with `.checkpoint` appended"},
    {0},
};
static const yk_option_section checkpoint_section = {
    "checkpoint",
    "Saves the whole state of the run at intervals, and when it is stopped by SIGINT or SIGTERM, "
    "so that `yoke resume` continues it as if it had never stopped. The last two checkpoints are "
    "kept.",
    checkpoint_fields};

/* The file ------------------------------------------------------------------------------------- */

enum { SUBSYSTEMS_FIELD = 9, COUPLING_FIELD = 12 };

static const yk_option plugin_item = {"plugins", YK_OPTION_TEXT, .description = "a shared library"};

static const yk_option scenario_fields[] = {
    {"title", YK_OPTION_TEXT, .description = "one line for summaries and reports"},
    {"description", YK_OPTION_TEXT, .description = "purpose of the scenario"},
    {"plugins", YK_OPTION_LIST, .max_count = YK_PLUGINS_MAX, .item = &plugin_item,
     .description = "shared libraries with additional solvers and schemes, relative to the "
                    "scenario's folder; they run with all rights of the program"},
    {"parameters", YK_OPTION_PARAMETERS, .max_count = YK_PARAMETERS_MAX,
     .description = "named numbers that expressions can use, given as numbers or expressions of "
                    "other parameters"},
    {"tables", YK_OPTION_TABLES, .max_count = YK_PARAMETERS_MAX, .item = &yk_table_item,
     .description = "named functions from points or files, which expressions can call"},
    {"include", YK_OPTION_TREE,
     .description = "a file, or a list of files, whose content is part of the scenario; values "
                    "that the scenario gives itself have precedence"},
    {"templates", YK_OPTION_TREE,
     .description = "components by name, for `components` to use; a component may also be a file"},
    {"components", YK_OPTION_COMPONENTS, .item = &yk_component_item,
     .description = "instances of components that consist of subsystems, interfaces and wires"},
    {"time", YK_OPTION_SECTION, .required = true, .section = &time_section,
     .description = "start, end and macro step"},
    [SUBSYSTEMS_FIELD] = {"subsystems", YK_OPTION_NAMED, .required = true, .min_count = 1,
                          .max_count = YK_SUBSYSTEMS_MAX, /* The item is defined by the solvers. */
                          .description = "the parts, each with its own solver"},
    {"interfaces", YK_OPTION_NAMED, .max_count = YK_INTERFACES_MAX, .item = &interface_item,
     .description = "connections of subsystems"},
    {"wires", YK_OPTION_NAMED, .max_count = YK_WIRES_MAX, .item = &wire_item,
     .description = "signals without power from one subsystem to another"},
    [COUPLING_FIELD] = {"coupling", YK_OPTION_SECTION, /* The section is defined by the schemes. */
                        .description =
                            "coupling of the subsystems; required if there are interfaces"},
    {"record", YK_OPTION_SECTION, .default_text = "{}", .section = &record_section,
     .description = "recorded channels and results file"},
    {"checkpoint", YK_OPTION_SECTION, .section = &checkpoint_section,
     .description = "checkpoints, from which a run can be resumed; default: none"},
    {0},
};

static const yk_option no_options[] = {{0}};

const yk_option_section *yk_scenario_section(yk_store *store, const yk_extensions *extensions,
                                             const yk_scheme_ops *chosen,
                                             const yk_scheme_ops *fall_back)
{
    size_t own = (size_t)yk_solver_kind_count;
    size_t all = own + (size_t)extensions->solver_count;
    yk_option_section *section = yk_store_take(store, sizeof *section);
    yk_option *fields = yk_store_take(store, sizeof scenario_fields);
    yk_option *subsystem = yk_store_take(store, sizeof *subsystem);
    const yk_option_section **variants = yk_store_take(store, (all + 1) * sizeof *variants);
    if (!section || !fields || !subsystem || !variants)
        return NULL;

    /* A subsystem of any solver: those of the library, then external ones. */
    for (size_t i = 0; i < own; i++)
        variants[i] = yk_solver_kinds[i]->section;

    for (size_t i = own; i < all; i++) {
        const yk_solver_ops *ops = extensions->solvers[i - own];
        yk_option_section *outside = yk_store_take(store, sizeof *outside);
        if (!outside)
            return NULL;
        *outside = (yk_option_section){ops->name, ops->description, ops->options};
        if (!ops->options)
            outside->options = no_options;
        variants[i] = outside;
    }
    *subsystem = (yk_option){
        .key = "subsystem",
        .kind = YK_OPTION_VARIANT,
        .section = &subsystem_section,
        .variants = variants,
        .selector = "solver",
        .description = "One subsystem with its own solver",
    };

    memcpy(fields, scenario_fields, sizeof scenario_fields);
    fields[SUBSYSTEMS_FIELD].item = subsystem;
    fields[COUPLING_FIELD].section = yk_coupling_section(store, extensions, chosen, fall_back);
    if (!fields[COUPLING_FIELD].section)
        return NULL;

    *section = (yk_option_section){"scenario", NULL, fields};
    return section;
}
