/* What a scenario file may say. */
#include "model/scenario.h"

static const yk_field time_fields[] = {
    {"start", YK_TYPE_NUMBER, "s", "0", .text = "time of the initial state"},
    {"end", YK_TYPE_NUMBER, "s", .required = true, .text = "time after the last macro step"},
    {"step", YK_TYPE_NUMBER, "s", .required = true, .range = YK_POSITIVE, .refines = 1,
     .text = "macro step: how often the subsystems exchange what they know; with a tolerance, the largest one"},
    {"tolerance", YK_TYPE_NUMBER, .fallback = "0", .range = YK_BETWEEN(0, 1), .refines = 3,
     .text =
         "error of the interface motions in one macro step, relative to the largest velocity that they have had, for "
         "which the size of steps is chosen; 0: all are as long as `step`. Results stay at multiples of `step`"},
    {"smallest", YK_TYPE_NUMBER, "s", .range = YK_POSITIVE, .refines = 1,
     .text =
         "with a tolerance: the macro step that is taken whatever its error, as at impacts; a ten-thousandth of the "
         "largest where it is absent"},
    {"largest", YK_TYPE_NUMBER, "s", .range = YK_POSITIVE, .refines = 1,
     .text = "with a tolerance: the macro step that is taken however small its error; `step` where it is absent"},
    {"events", YK_TYPE_NUMBERS, "s", .least = 0, .most = YK_EVENTS_MAX,
     .text =
         "times at which forces or inputs jump, in ascending order: macro steps end there, and at the points of tables "
         "that subsystems announce"},
    {0},
};
static const yk_section time_section = {"time", NULL, time_fields};

/* Subsystems ----------------------------------------------------------------------------------------------------- */

/* In the order of yk_length_units and yk_mass_units. */
static const yk_word length_words[] = {{"m", NULL}, {"cm", NULL}, {"mm", NULL}, {"um", NULL}, {NULL, NULL}};
static const yk_word mass_words[] = {{"kg", NULL}, {"g", NULL}, {"mg", NULL}, {"t", NULL}, {NULL, NULL}};
const double yk_length_units[] = {1, 1e-2, 1e-3, 1e-6};
const double yk_mass_units[] = {1, 1e-3, 1e-6, 1e3};

static const yk_field units_fields[] = {
    {"length", YK_TYPE_CHOICE, .fallback = "m", .words = length_words, .text = "unit of length"},
    {"mass", YK_TYPE_CHOICE, .fallback = "kg", .words = mass_words, .text = "unit of mass"},
    {0},
};
static const yk_section units_section = {"units",
                                         "Units of the subsystem's own numbers; the units named in this reference are "
                                         "then the corresponding ones, forces for "
                                         "instance in g mm/s². Interfaces and recorded ports are always in SI units.",
                                         units_fields};
static const yk_field frame_fields[] = {
    {"position", YK_TYPE_NUMBERS, "m", "[0, 0, 0]", .least = 3, .most = 3,
     .text = "where the subsystem's origin is in the whole system, in metres whatever the subsystem's units are"},
    {"orientation", YK_TYPE_ORIENTATION, .fallback = "[1, 0, 0, 0]",
     .text = "rotation from the subsystem's axes to those of the whole system"},
    {0},
};
static const yk_section frame_section = {"frame",
                                         "Origin and axes of the subsystem, where they are not those of the "
                                         "whole system.",
                                         frame_fields};
static const yk_field subsystem_fields[] = {
    {"substeps", YK_TYPE_INTEGER, .range = YK_AT_LEAST(1),
     .text = "steps that the subsystem makes in one macro step; without it 1, and 4 under the scheme index1 unless its "
             "integrator is exact or runge-kutta"},
    {"micro_step", YK_TYPE_NUMBER, "s", .range = YK_POSITIVE, .refines = 1,
     .text = "in place of substeps: they are as many as keep its steps from being longer than this"},
    {"units", YK_TYPE_SECTION, .section = &units_section, .text = "units of the subsystem's numbers, if not SI"},
    {"frame", YK_TYPE_SECTION, .section = &frame_section, .text = "its place in the whole system"},
    {0},
};
static const yk_section subsystem_section = {"subsystem", "Keys of every subsystem:", subsystem_fields};

static const yk_field subsystem_item = {"subsystem",
                                        YK_TYPE_VARIANT,
                                        .section = &subsystem_section,
                                        .variants = yk_kind_sections,
                                        .selector = "solver",
                                        .text = "One subsystem with its own solver"};

/* Interfaces ----------------------------------------------------------------------------------------------------- */

static const yk_word axis_words[] = {
    {"x", NULL}, {"y", NULL}, {"z", NULL}, {"rx", NULL}, {"ry", NULL}, {"rz", NULL}, {NULL, NULL},
};
static const yk_field axis_item = {"axes", YK_TYPE_CHOICE, .words = axis_words, .text = "a relative motion"};
static const yk_field joint_fields[] = {
    {"constrain", YK_TYPE_LIST, .required = true, .least = 1, .most = 6, .item = &axis_item,
     .text = "the relative motions that the joint removes: `x`, `y`, `z`, `rx`, `ry`, `rz`"},
    {0},
};
static const yk_section joint_section = {"joint", "A joint by its axes, in the frame of the second side's marker.",
                                         joint_fields};

static const yk_word joint_words[] = {
    {"clamp", "no relative motion; the joint of scalar ports"},
    {"spherical", "rotations are free"},
    {"revolute", "the rotation about z is free"},
    {"universal", "rotations about the second side's x and the first side's y are free"},
    {"cylindrical", "translation along z and rotation about it are free"},
    {"prismatic", "the translation along z is free"},
    {"planar", "translations along x and y and the rotation about z are free"},
    {"in-line", "the first side's origin stays on z of the second, all else is free"},
    {"in-plane", "the first side's origin stays in x and y of the second, all else is free"},
    {"parallel-axes", "the z axes stay parallel, all else is free"},
    {"orientation", "no relative rotation; translations are free"},
    {"rotation", "the angle about the common z axis alone, to be prescribed by `drive`"},
    {"position", "the displacement along z alone, to be prescribed by `drive`"},
    {"distance", "the distance of the two origins, `length`; all else is free"},
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
    {"x", YK_TYPE_FUNCTION, "m", .text = "displacement along x; of scalar ports the difference of the two sides"},
    {"y", YK_TYPE_FUNCTION, "m", .text = "displacement along y"},
    {"z", YK_TYPE_FUNCTION, "m", .text = "displacement along z"},
    {"rx", YK_TYPE_FUNCTION, "rad", .text = "rotation vector, x"},
    {"ry", YK_TYPE_FUNCTION, "rad", .text = "rotation vector, y"},
    {"rz", YK_TYPE_FUNCTION, "rad", .text = "rotation vector, z"},
    {0},
};
static const yk_section drive_section = {"drive",
                                         "Prescribed motions of the first side's marker in the frame of the second "
                                         "side's, along axes that the joint constrains.",
                                         drive_fields};

static const yk_field side_item = {"ports", YK_TYPE_TEXT, .text = "`subsystem.port`"};
static const yk_field interface_fields[] = {
    {"between", YK_TYPE_LIST, .required = true, .least = 2, .most = 2, .item = &side_item,
     .text = "two ports, `subsystem.port`: the first receives the wrench, the second the motion (index1: both a "
             "wrench, but scalar ports that take motion only). A port takes part in one interface; a body can have "
             "several"},
    {"joint", YK_TYPE_FORM, .fallback = "clamp", .words = joint_words, .section = &joint_section,
     .text = "which relative motions are constrained, in the frame of the second side's marker"},
    {"at", YK_TYPE_NUMBERS, "m", .least = 3, .most = 3,
     .text =
         "where both markers are at the start, in the whole system: the markers of the two ports are moved there on "
         "their bodies, and what is recorded of the ports is of that point"},
    {"axis", YK_TYPE_NUMBERS, .least = 3, .most = 3,
     .text =
         "direction of both z axes at the start, in the whole system, of any length: the axis of a hinge or slider"},
    {"orientation", YK_TYPE_ORIENTATION,
     .text = "of both markers at the start, in the whole system; instead of `axis`"},
    {"length", YK_TYPE_FUNCTION, "m",
     .text = "of the joint `distance`: a number or an expression of time. For the schemes that `drive` is for"},
    {"drive", YK_TYPE_SECTION, .section = &drive_section,
     .text =
         "relative motions that are prescribed, as expressions of time: a motor angle as `rz` of a clamp or of "
         "`rotation`, the stroke of a ram as `z`. For the schemes index1, monolithic and relaxed, and for explicit, "
         "loose and rim between smooth subsystems"},
    {0},
};
static const yk_section interface_section = {"interface", "Where two subsystems meet.", interface_fields};
static const yk_field interface_item = {"interface", YK_TYPE_SECTION, .section = &interface_section, .text = ""};

/* Wires ---------------------------------------------------------------------------------------------------------- */

static const yk_field wire_fields[] = {
    {"from", YK_TYPE_TEXT, .required = true,
     .text = "what is carried: a single number named as under `record.channels`, `subsystem.port.velocity`, "
             "`subsystem.channel` or a signal port that gives, `subsystem.port`"},
    {"to", YK_TYPE_TEXT, .required = true, .text = "the signal port that takes it, `subsystem.port`"},
    {"hold", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "carry the value at the start of the macro step over the whole of it, as a sampled signal; otherwise a "
             "straight line to the value at the end where that is known already"},
    {0},
};
static const yk_section wire_section = {
    "wire",
    "A signal without power from one subsystem to another: a measured length, a valve's command. In the order "
    "gauss-seidel the "
    "source of a wire goes before its target where the interfaces allow it; in a circle the motion of wrench sides is "
    "taken "
    "as measured at the start of the step. The scheme tight repeats wires with the interfaces, index1 solves for them "
    "with the wrenches where both ends are "
    "differenced; rim carries wires "
    "between fast subsystems at every exchange; monolithic and relaxed repeat the step until wires that go in a circle "
    "have settled.",
    wire_fields};
static const yk_field wire_item = {"wire", YK_TYPE_SECTION, .section = &wire_section, .text = ""};

/* Coupling ------------------------------------------------------------------------------------------------------- */

/* In the order of yk_scheme_kind (and one more), yk_order, yk_exchange, yk_relaxation, yk_extrapolation, yk_rim_positions; of the
 * Jacobian: kept, fresh, by differences. */
static const yk_word scheme_words[] = {
    {"explicit", "each subsystem is called once per macro step"},
    {"tight", "the macro step is repeated until the interface wrenches converge"},
    {"monolithic", "subsystems that interfaces join as one, with the joints as constraints: the reference; for "
                   "interfaces between subsystems of one kind"},
    {"index1", "wrenches on both sides as polynomials in time, constraints held on position, velocity and acceleration "
               "level; of high order"},
    {"rim", "fast subsystems in small steps against reduced models of the slow ones, nothing repeated"},
    {"relaxed", "the subsystems in turn by ordinary differential equations that know all constraints, repeated until "
                "nothing changes; for interfaces between smooth subsystems"},
    [YK_SCHEME_WORD_LOOSE] = {"loose", "the scheme tight with `iterations` 0: nothing is repeated"},
    {NULL, NULL},
};
static const yk_word order_words[] = {
    {"gauss-seidel", "the sides that receive a motion first, then the others with the new wrenches"},
    {"jacobi", "all at once, with what was known at the start of the step"},
    {NULL, NULL},
};
static const yk_word inputs_words[] = {
    {"original", "the predicted motion as it is"},
    {"index-1", "modified inputs with alpha = 2/h², beta = 2/h, gamma = 1"},
    {"index-2", "modified inputs with alpha = 1/h, beta = 1, gamma = 0"},
    {"index-3", "modified inputs with alpha = 1, beta = gamma = 0"},
    {NULL, NULL},
};
static const yk_word exchange_words[] = {
    {"motion", "a motion to the second side, and the wrench that it took to the first: the schemes of the papers"},
    {"auto",
     "one wrench to both sides, so that the joint holds at the end of the step whatever their masses, where both "
     "say what their next step will do (smooth mechanisms, oscillators); else motion"},
    {"forces", "the same, also where a subsystem tells an interface model only (nonsmooth)"},
    {NULL, NULL},
};
static const yk_word relaxation_words[] = {
    {"none", "as they are"},
    {"aitken", "by a factor from the last two changes (Aitken)"},
    {"quasi-newton", "by least squares over all changes, those of earlier steps too (IQN-ILS)"},
    {NULL, NULL},
};
static const yk_word velocity_words[] = {
    {"difference", "from the positions at both ends of the step, by SLERP for rotations"},
    {"marker", "that of the partner's marker at the end of the step"},
    {NULL, NULL},
};
static const yk_word jacobian_words[] = {
    {"reuse", "kept over steps and improved by every correction, renewed when it does not serve any more"},
    {"fresh", "renewed in every step"},
    {"differences", "renewed in every step by finite differences, even where subsystems tell their sensitivities"},
    {NULL, NULL},
};
static const yk_word extrapolation_words[] = {
    {"rim", "by a reduced interface model, which feels the wrenches of the fast subsystems"},
    {"hold", "the velocity at the start of the macro step"},
    {"linear", "from the velocities at the last two macro steps"},
    {"quadratic", "from those at the last three"},
    {NULL, NULL},
};
static const yk_word models_words[] = {
    {"reported", "by the subsystems where they can, else identified"},
    {"identified", "by trial steps, which see what happens within the macro step: for flexible mechanisms"},
    {NULL, NULL},
};
static const yk_word wrenches_words[] = {
    {"mean", "the mean over a macro step, which keeps the impulse"},
    {"last", "the value at its end"},
    {NULL, NULL},
};
static const yk_word positions_words[] = {
    {"mechanism", "where the slow subsystem itself would come to in one step"},
    {"integral", "the integral of the model's velocities"},
    {NULL, NULL},
};
static const yk_field fast_item = {"fast", YK_TYPE_TEXT, .text = "a subsystem"};
static const yk_field inputs_fields[] = {
    {"alpha", YK_TYPE_NUMBER, "1/s²", .required = true, .range = YK_NOT_NEGATIVE,
     .text = "weight of the position error"},
    {"beta", YK_TYPE_NUMBER, "1/s", .required = true, .range = YK_NOT_NEGATIVE, .text = "weight of the velocity error"},
    {"gamma", YK_TYPE_NUMBER, .required = true, .range = YK_NOT_NEGATIVE, .text = "weight of the acceleration error"},
    {0},
};
static const yk_section inputs_section = {
    "inputs", "Modified inputs with weights of their own; only the ratios matter.", inputs_fields};
static const yk_field coupling_fields[] = {
    {"scheme", YK_TYPE_CHOICE, .fallback = "explicit", .words = scheme_words, .text = "coupling scheme"},
    {"order", YK_TYPE_CHOICE, .fallback = "gauss-seidel", .words = order_words,
     .text = "explicit, rim, relaxed: order of the subsystems; with rim, whether slow ones take the mean wrench of the "
             "present "
             "macro step or of the last"},
    {"exchange", YK_TYPE_CHOICE, .words = exchange_words,
     .text =
         "explicit, loose, rim: what crosses an interface; auto where it is absent, but motion where `inputs` of the "
         "scheme explicit are given"},
    {"inputs", YK_TYPE_FORM, .words = inputs_words, .section = &inputs_section,
     .text = "explicit: what is prescribed to the sides that receive a motion; index-1 where it is absent"},
    {"tolerance", YK_TYPE_NUMBER, "N, N m", .range = YK_NOT_NEGATIVE, .refines = 1,
     .text = "tight, index1: largest change of an interface wrench that counts as converged, 1e-6 where it is absent"},
    {"relative_tolerance", YK_TYPE_NUMBER, .range = YK_NOT_NEGATIVE, .refines = 1,
     .text = "tight, index1: the same, relative to the wrench; relaxed: largest change of a velocity, relative to the "
             "typical velocity. Where it is absent: 1e-9 for tight with a relaxation, 1e-10 for relaxed, else 0"},
    {"iterations", YK_TYPE_INTEGER, .range = YK_NOT_NEGATIVE,
     .text = "tight, index1: largest number of repetitions of a macro step; 0 is the loose scheme, 1 of index1 the "
             "single Newton step of its paper. monolithic: of wires that go in a circle. Where it is absent: 50 for "
             "tight with a relaxation, else 20"},
    {"sweeps", YK_TYPE_INTEGER, .fallback = "200", .range = YK_AT_LEAST(1),
     .text = "relaxed: largest number of sweeps over the subsystems in a macro step"},
    {"acceleration", YK_TYPE_CHOICE, .words = relaxation_words,
     .text =
         "tight: how new wrenches, relaxed: how the accelerations of all subsystems follow from the last repetitions; "
         "quasi-newton where it is absent"},
    {"velocity", YK_TYPE_CHOICE, .fallback = "difference", .words = velocity_words,
     .text = "tight: the velocity that is prescribed to the sides that receive a motion"},
    {"halvings", YK_TYPE_INTEGER, .fallback = "0", .range = YK_BETWEEN(0, 20),
     .text = "tight: how often a step that does not converge may be halved"},
    {"threads", YK_TYPE_INTEGER, .fallback = "1", .range = YK_BETWEEN(0, 1024),
     .text =
         "explicit and relaxed in order jacobi, index1: subsystems that advance at the same time; 0 is one per core"},
    {"degree", YK_TYPE_INTEGER, .fallback = "3", .range = YK_BETWEEN(0, 3),
     .text = "index1: degree of the wrenches in time; with exact solvers the order is 2, 4, 5, 6 for 0 to 3, with "
             "others theirs"},
    {"jacobian", YK_TYPE_CHOICE, .fallback = "reuse", .words = jacobian_words,
     .text = "index1: how the coupling Jacobian is found"},
    {"extrapolation", YK_TYPE_CHOICE, .fallback = "rim", .words = extrapolation_words,
     .text = "rim: what fast subsystems are told of the motion of slow ones within a macro step"},
    {"models", YK_TYPE_CHOICE, .fallback = "reported", .words = models_words,
     .text = "rim: where the reduced models come from"},
    {"wrenches", YK_TYPE_CHOICE, .fallback = "mean", .words = wrenches_words,
     .text = "rim: what slow subsystems receive of the wrenches of fast ones"},
    {"positions", YK_TYPE_CHOICE, .fallback = "mechanism", .words = positions_words,
     .text = "rim: where the reduced model says that the ports are"},
    {"exchanges", YK_TYPE_INTEGER, .fallback = "0", .range = YK_NOT_NEGATIVE,
     .text =
         "rim: how often fast subsystems and models exchange in a macro step; 0 is at every common step of the fast "
         "ones"},
    {"fast", YK_TYPE_LIST, .most = YK_SUBSYSTEMS_MAX, .item = &fast_item,
     .text = "rim: the fast subsystems; without it those with substeps that receive no wrench, else those that receive "
             "motions alone"},
    {0},
};
static const yk_section coupling_section = {"coupling",
                                            "How the subsystems are coupled. Keys of other schemes than the chosen one "
                                            "are not used, so that one line changes the "
                                            "scheme.",
                                            coupling_fields};

/* Record --------------------------------------------------------------------------------------------------------- */

static const yk_field channel_item = {"channels", YK_TYPE_TEXT, .text = ""};
static const yk_field record_fields[] = {
    {"every", YK_TYPE_INTEGER, .fallback = "1", .range = YK_AT_LEAST(1), .refines = -1,
     .text = "macro steps between two samples"},
    {"channels", YK_TYPE_LIST, .most = YK_CHANNELS_MAX, .item = &channel_item,
     .text = "what to record; all ports, energies and interface errors where it is absent"},
    {"file", YK_TYPE_PATH, .text = "where the results go, from the scenario's folder"},
    {0},
};
static const yk_section record_section = {
    "record",
    "A channel is named by its place and its quantity:\n\n"
    "- `subsystem.port.quantity`, or `interface.quantity` for the first side of an interface: `position`, `velocity`, "
    "`acceleration`, `force`; of markers also `orientation` (w, x, y, z), `angular_velocity`, `angular_acceleration`, "
    "`torque`, `wrench` (force and torque). One component is `.x`, `.y`, `.z` (or `.w` of an orientation).\n"
    "- `interface.gap`, `interface.gap_rotation`, `interface.gap_velocity`, `interface.gap_angular_velocity`: how far "
    "its "
    "two sides are apart; `interface.energy_created`: work that the coupling put into the system.\n"
    "- `subsystem.port` of a signal port (or `subsystem.port.value`), and `wire.value`.\n"
    "- `subsystem.energy`: kinetic, potential, dissipated, work; one of them is `subsystem.energy.kinetic`.\n"
    "- `subsystem.channel` for what else a subsystem tells, such as reactions.",
    record_fields};

/* The file ------------------------------------------------------------------------------------------------------- */

static const yk_field scenario_fields[] = {
    {"title", YK_TYPE_TEXT, .text = "one line for summaries and reports"},
    {"description", YK_TYPE_TEXT, .text = "what the scenario shows"},
    {"parameters", YK_TYPE_PARAMETERS, .most = YK_PARAMETERS_MAX,
     .text = "named numbers that expressions can use, given as numbers or expressions of each other"},
    {"time", YK_TYPE_SECTION, .required = true, .section = &time_section, .text = "from when to when, in which steps"},
    {"subsystems", YK_TYPE_NAMED, .required = true, .least = 1, .most = YK_SUBSYSTEMS_MAX, .item = &subsystem_item,
     .text = "the parts, each with its own solver"},
    {"interfaces", YK_TYPE_NAMED, .most = YK_INTERFACES_MAX, .item = &interface_item,
     .text = "where the subsystems are joined"},
    {"wires", YK_TYPE_NAMED, .most = YK_WIRES_MAX, .item = &wire_item,
     .text = "signals without power from one subsystem to another"},
    {"coupling", YK_TYPE_SECTION, .section = &coupling_section,
     .text = "how the subsystems are coupled; required where there are interfaces"},
    {"record", YK_TYPE_SECTION, .fallback = "{}", .section = &record_section, .text = "what is recorded, and where"},
    {0},
};
const yk_section yk_scenario_section = {"scenario", NULL, scenario_fields};
