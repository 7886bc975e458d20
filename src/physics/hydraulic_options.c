/* The options of hydraulic circuits and their cylinders. */
#include "physics/options.h"
#include "yoke/hydraulic.h"

static const yk_option fluid_fields[] = {
    {"density", YK_OPTION_NUMBER, "kg/m³", "850", YK_MEMBER(yk_hydraulic_def, fluid.density),
     .range = YK_POSITIVE, .description = "of the fluid"},
    {"compressibility", YK_OPTION_NUMBER, "1/Pa", "6.53e-10",
     YK_MEMBER(yk_hydraulic_def, fluid.compressibility), .range = YK_POSITIVE,
     .description = "compressibility: density is that at no pressure times 1 + compressibility p + "
                    "compressibility_2 p²"},
    {"compressibility_2", YK_OPTION_NUMBER, "1/Pa²", "-1.19e-18",
     YK_MEMBER(yk_hydraulic_def, fluid.compressibility_2), .description = "the same, second term"},
    {"vapor_pressure", YK_OPTION_NUMBER, "Pa", "0",
     YK_MEMBER(yk_hydraulic_def, fluid.vapor_pressure), .range = YK_NOT_NEGATIVE,
     .description = "pressure that a chamber keeps while a cavity is in it"},
    {0},
};
static const yk_option_section fluid_section = {"fluid", "", fluid_fields};

static const yk_option fixed_fields[] = {
    {"max_step", YK_OPTION_NUMBER, "s", "auto", YK_MEMBER(yk_hydraulic_def, max_step),
     .accepts_auto = true, .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
     .description = "the longest; 0: one step in each that the coupling asks for"},
    {0}};
static const yk_option adaptive_fields[] = {
    {"tolerance", YK_OPTION_NUMBER, YK_MEMBER(yk_hydraulic_def, relative_tolerance),
     .default_text = "1e-8", .range = YK_POSITIVE, .refinement_exponent = 3,
     .description = "relative error of the pressures in a step"},
    {0}};
static const yk_option_section fixed = {"fixed", "Radau IIA of order 5 in equal steps.",
                                        fixed_fields};
static const yk_option_section adaptive = {
    "adaptive", "The same with error control, each cylinder at its own step.", adaptive_fields};
static const yk_option_section *const integrators[] = {&fixed, &adaptive, NULL};

static const yk_option valve_fields[] = {
    {"area", YK_OPTION_NUMBER, "m²", "5e-4",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.valve.area), .range = YK_POSITIVE,
     .description = "of an orifice that is fully open"},
    {"discharge_coefficient", YK_OPTION_NUMBER,
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.valve.discharge_coefficient),
     .default_text = "0.67", .range = YK_POSITIVE, .description = "discharge coefficient"},
    {"time_constant", YK_OPTION_NUMBER, "s", "0",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.valve.time_constant), .range = YK_NOT_NEGATIVE,
     .description = "time constant of the spool behind its command; 0: none"},
    {"allow_backflow", YK_OPTION_BOOLEAN,
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.valve.allow_backflow), .default_text = "false",
     .description = "let fluid flow back into the pump or out of the tank; "
                    "otherwise such flows are zero"},
    {"laminar_pressure", YK_OPTION_NUMBER, "Pa", "100",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.valve.laminar_pressure), .range = YK_POSITIVE,
     .description = "difference of pressures below which the root law of the flow is rounded off"},
    {0},
};
static const yk_option_section valve_section = {"valve", "", valve_fields};
static const yk_option no_fields[] = {{0}};
static const yk_option_section open_centre = {
    "open-center",
    "Spool k in [0, 1]: "
    "pump to chamber 1 and chamber 2 to tank open with k, the other two with 1 - k.",
    no_fields};
static const yk_option_section closed_centre = {
    "closed-center", "Spool k in [-1, 1]: positive extends, negative retracts, 0 closes all.",
    no_fields};
/* In the order of yk_valve_kind. */
static const yk_option_section *const valves[] = {&open_centre, &closed_centre, NULL};

static const yk_option_choice start_words[] = {
    {"steady", "the flows balance at the spool's first command, without motion"}, {NULL, NULL}};
static const yk_option start_fields[] = {
    {"pressures", YK_OPTION_NUMBERS, "Pa", .min_count = 2, .max_count = 2,
     .description = "of chamber 1 and chamber 2"},
    {"force", YK_OPTION_NUMBER, "N",
     .description = "with which the cylinder pushes its ends apart; "
                    "the pressures' mean is that of pump and tank"},
    {0},
};
static const yk_option_section start_section = {"initial_state", "One of both.", start_fields};

static const yk_option cylinder_fields[] = {
    {"area", YK_OPTION_NUMBERS, "m²", .required = true, .min_count = 1, .max_count = 2,
     .description = "of the piston; "
                    "with two numbers, on the side of chamber 1 and of chamber 2, which extends"},
    {"length", YK_OPTION_NUMBER, "m", YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.length),
     .required = true, .range = YK_POSITIVE, .description = "of both chambers together"},
    {"initial_fraction", YK_OPTION_NUMBER,
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.initial_fraction), .default_text = "0.5",
     .range = YK_BETWEEN(0, 1), .description = "of chamber 1 in that length at the start"},
    {"viscous_friction", YK_OPTION_NUMBER, "N s/m", "0",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.viscous_friction), .range = YK_NOT_NEGATIVE,
     .description = "viscous, of the piston"},
    {"leakage", YK_OPTION_NUMBER, "m³/(s Pa)", "0",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.leakage), .range = YK_NOT_NEGATIVE,
     .description = "past the piston"},
    {"min_chamber_length", YK_OPTION_NUMBER, "m",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.min_chamber_length), .range = YK_POSITIVE,
     .description = "length that a chamber keeps when the piston is at its end; "
                    "5 % of `length` where absent"},
    {"stop_stiffness", YK_OPTION_NUMBER, "N/m", "1e8",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.stop_stiffness), .range = YK_POSITIVE,
     .description = "of the end stops"},
    {"stop_damping", YK_OPTION_NUMBER, "s/m", "1",
     YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.stop_damping), .range = YK_NOT_NEGATIVE,
     .description =
         "of the end stops: their force is stiffness times depth times 1 + damping times speed"},
    {"initial_actuator_length", YK_OPTION_NUMBER, "m",
     YK_MEMBER(yk_hydraulic_cylinder_def, initial_actuator_length),
     .description = "at the start, between the ends of the actuator; "
                    "where absent, as the mechanism is then"},
    {"spool_command", YK_OPTION_FUNCTION, YK_MEMBER(yk_hydraulic_cylinder_def, spool_command),
     .description = "command of the valve where no wire brings it; "
                    "where absent, neutral: "
                    "0.5 of an open-center valve, 0 of a closed-center one"},
    {"valve", YK_OPTION_VARIANT, YK_MEMBER(yk_hydraulic_cylinder_def, cylinder.valve.kind),
     .default_text = "{}", .section = &valve_section, .variants = valves, .selector = "type",
     .default_variant = "open-center",
     .description = "Four orifices between pump, chambers and tank"},
    {"initial_state", YK_OPTION_FORM, .default_text = "steady", .choices = start_words,
     .section = &start_section, .description = "pressures at the start"},
    {0},
};
const yk_option_section yk_hydraulic_cylinder_options = {
    "cylinder", "A cylinder with two chambers, behind its own valve.", cylinder_fields};
static const yk_option cylinder_item = {
    "cylinder", YK_OPTION_SECTION, .section = &yk_hydraulic_cylinder_options, .description = ""};

static const yk_option fields[] = {
    {"pump_pressure", YK_OPTION_FUNCTION, "Pa", YK_MEMBER(yk_hydraulic_def, pump_pressure),
     .required = true, .description = "pressure of the pump"},
    {"tank_pressure", YK_OPTION_NUMBER, "Pa", "1e5", YK_MEMBER(yk_hydraulic_def, tank_pressure),
     .range = YK_NOT_NEGATIVE, .description = "pressure of the tank"},
    {"fluid", YK_OPTION_SECTION, .default_text = "{}", .section = &fluid_section,
     .description = "what it is filled with"},
    {"cylinders", YK_OPTION_NAMED, .required = true, .min_count = 1, .item = &cylinder_item,
     .description = "any number of them"},
    {"integrator", YK_OPTION_VARIANT, .default_text = "{}", .variants = integrators,
     .selector = "type", .default_variant = "fixed",
     .description = "How the pressures advance in time"},
    {0},
};

const yk_option_section yk_hydraulic_options = {
    "hydraulic",
    "Cylinders behind valves on one pump and one tank. "
    "Ports of a cylinder NAME: "
    "`NAME` (scalar; takes the motion of the actuator, answers with the force) "
    "and `NAME.spool` (signal; takes the valve's command). "
    "Channels: `NAME.pressure_1`, `pressure_2`, net inflows `flow_1`, `flow_2`, "
    "`piston_force` (pushes the ends apart), `spool_position`, fractions of cavity "
    "`vapor_fraction_1`, "
    "`vapor_fraction_2`, and since the start the times in which fluid was kept "
    "from flowing back (`backflow_blocked_time`), a chamber cavitated (`cavitation_time`), "
    "the piston was at a stop (`stop_time`) and the command was limited (`command_limited_time`), "
    "and a pressure was beyond the range of the bulk modulus (`overpressure_time`).",
    fields};
