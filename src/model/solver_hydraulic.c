/* solver: hydraulic */
#include "model/scenario.h"
#include "yoke/hydraulic.h"

static const yk_option fluid_fields[] = {
    {"density", YK_OPTION_NUMBER, "kg/m³", "850", .range = YK_POSITIVE,
     .description = "of the fluid"},
    {"compressibility", YK_OPTION_NUMBER, "1/Pa", "6.53e-10", .range = YK_POSITIVE,
     .description = "compressibility: density is that at no pressure times 1 + compressibility p + "
                    "compressibility_2 p²"},
    {"compressibility_2", YK_OPTION_NUMBER, "1/Pa²", "-1.19e-18",
     .description = "the same, second term"},
    {"vapor_pressure", YK_OPTION_NUMBER, "Pa", "0", .range = YK_NOT_NEGATIVE,
     .description = "pressure that a chamber keeps while a cavity is in it"},
    {0},
};
static const yk_option_section fluid_section = {"fluid", "", fluid_fields};

static const yk_option fixed_fields[] = {
    {"max_step", YK_OPTION_NUMBER, "s", "auto", .accepts_auto = true, .range = YK_NOT_NEGATIVE,
     .refinement_exponent = 1,
     .description = "the longest; 0: one step in each that the coupling asks for"},
    {0}};
static const yk_option adaptive_fields[] = {
    {"tolerance", YK_OPTION_NUMBER, .default_text = "1e-8", .range = YK_POSITIVE,
     .refinement_exponent = 3, .description = "relative error of the pressures in a step"},
    {0}};
static const yk_option_section fixed = {"fixed", "Radau IIA of order 5 in equal steps.",
                                        fixed_fields};
static const yk_option_section adaptive = {
    "adaptive", "The same with error control, each cylinder at its own step.", adaptive_fields};
enum { FIXED };
static const yk_option_section *const integrators[] = {&fixed, &adaptive, NULL};

static const yk_option valve_fields[] = {
    {"area", YK_OPTION_NUMBER, "m²", "5e-4", .range = YK_POSITIVE,
     .description = "of an orifice that is fully open"},
    {"discharge_coefficient", YK_OPTION_NUMBER, .default_text = "0.67", .range = YK_POSITIVE,
     .description = "discharge coefficient"},
    {"time_constant", YK_OPTION_NUMBER, "s", "0", .range = YK_NOT_NEGATIVE,
     .description = "time constant of the spool behind its command; 0: none"},
    {"allow_backflow", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "let fluid flow back into the pump or out of the tank; "
                    "otherwise such flows are zero"},
    {"laminar_pressure", YK_OPTION_NUMBER, "Pa", "100", .range = YK_POSITIVE,
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
    {"length", YK_OPTION_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .description = "of both chambers together"},
    {"initial_fraction", YK_OPTION_NUMBER, .default_text = "0.5", .range = YK_BETWEEN(0, 1),
     .description = "of chamber 1 in that length at the start"},
    {"viscous_friction", YK_OPTION_NUMBER, "N s/m", "0", .range = YK_NOT_NEGATIVE,
     .description = "viscous, of the piston"},
    {"leakage", YK_OPTION_NUMBER, "m³/(s Pa)", "0", .range = YK_NOT_NEGATIVE,
     .description = "past the piston"},
    {"min_chamber_length", YK_OPTION_NUMBER, "m", .range = YK_POSITIVE,
     .description = "length that a chamber keeps when the piston is at its end; "
                    "5 % of `length` where absent"},
    {"stop_stiffness", YK_OPTION_NUMBER, "N/m", "1e8", .range = YK_POSITIVE,
     .description = "of the end stops"},
    {"stop_damping", YK_OPTION_NUMBER, "s/m", "1", .range = YK_NOT_NEGATIVE,
     .description =
         "of the end stops: their force is stiffness times depth times 1 + damping times speed"},
    {"initial_actuator_length", YK_OPTION_NUMBER, "m",
     .description = "at the start, between the ends of the actuator; "
                    "where absent, as the mechanism is then"},
    {"spool_command", YK_OPTION_FUNCTION,
     .description = "command of the valve where no wire brings it; "
                    "where absent, neutral: "
                    "0.5 of an open-center valve, 0 of a closed-center one"},
    {"valve", YK_OPTION_VARIANT, .default_text = "{}", .section = &valve_section,
     .variants = valves, .selector = "type", .default_variant = "open-center",
     .description = "Four orifices between pump, chambers and tank"},
    {"initial_state", YK_OPTION_FORM, .default_text = "steady", .choices = start_words,
     .section = &start_section, .description = "pressures at the start"},
    {0},
};
static const yk_option_section cylinder_section = {
    "cylinder", "A cylinder with two chambers, behind its own valve.", cylinder_fields};
static const yk_option cylinder_item = {"cylinder", YK_OPTION_SECTION, .section = &cylinder_section,
                                        .description = ""};

static const yk_option fields[] = {
    {"pump_pressure", YK_OPTION_FUNCTION, "Pa", .required = true,
     .description = "pressure of the pump"},
    {"tank_pressure", YK_OPTION_NUMBER, "Pa", "1e5", .range = YK_NOT_NEGATIVE,
     .description = "pressure of the tank"},
    {"fluid", YK_OPTION_SECTION, .default_text = "{}", .section = &fluid_section,
     .description = "what it is filled with"},
    {"cylinders", YK_OPTION_NAMED, .required = true, .min_count = 1, .item = &cylinder_item,
     .description = "any number of them"},
    {"integrator", YK_OPTION_VARIANT, .default_text = "{}", .variants = integrators,
     .selector = "type", .default_variant = "fixed",
     .description = "How the pressures advance in time"},
    {0},
};

static const yk_option_section hydraulic_section = {
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

static yk_status read_cylinder(yk_builder *builder, const yk_node *item,
                               yk_hydraulic_cylinder_def *def)
{
    *def = yk_hydraulic_cylinder_default();
    def->name = yk_node_name(item);
    if (yk_node_get(item, "initial_actuator_length"))
        def->initial_actuator_length = yk_node_number(item, "initial_actuator_length");

    /* Its geometry; of one area both sides have it. */
    const yk_node *area = yk_node_get(item, "area");
    yk_cylinder *cylinder = &def->cylinder;
    cylinder->area[0] = area->values[0];
    cylinder->area[1] = area->values[area->value_count - 1];
    cylinder->length = yk_node_number(item, "length");
    cylinder->initial_fraction = yk_node_number(item, "initial_fraction");
    cylinder->viscous_friction = yk_node_number(item, "viscous_friction");
    cylinder->leakage = yk_node_number(item, "leakage");

    /* What a chamber keeps at the end of the stroke: a twentieth, unless it is given. */
    cylinder->min_chamber_length = 0.05 * cylinder->length;
    if (yk_node_get(item, "min_chamber_length"))
        cylinder->min_chamber_length = yk_node_number(item, "min_chamber_length");

    cylinder->stop_stiffness = yk_node_number(item, "stop_stiffness");
    cylinder->stop_damping = yk_node_number(item, "stop_damping");

    /* The valve. A command that is always zero is no function: then the neutral one is zero. */
    const yk_node *valve = yk_node_get(item, "valve");
    cylinder->valve = (yk_valve){
        .kind = (yk_valve_kind)valve->choice,
        .area = yk_node_number(valve, "area"),
        .discharge_coefficient = yk_node_number(valve, "discharge_coefficient"),
        .time_constant = yk_node_number(valve, "time_constant"),
        .laminar_pressure = yk_node_number(valve, "laminar_pressure"),
        .allow_backflow = yk_node_boolean(valve, "allow_backflow"),
    };
    if (yk_node_get(item, "spool_command"))
        def->neutral_command = 0;

    /* The start: `steady`, or one of two keys. */
    enum { STEADY };
    const yk_node *start = yk_node_get(item, "initial_state");
    const yk_node *pressures = yk_node_get(start, "pressures");
    const yk_node *force = yk_node_get(start, "force");
    if (start->choice != STEADY && (pressures != NULL) == (force != NULL))
        return yk_builder_error(builder, start, "expected one of 'pressures' and 'force'");
    if (start->choice != STEADY && force) {
        def->initial_state = YK_HYDRAULIC_INITIAL_FORCE;
        def->force = force->value;
    } else if (start->choice != STEADY) {
        def->initial_state = YK_HYDRAULIC_INITIAL_PRESSURE;
        def->pressure[0] = pressures->values[0];
        def->pressure[1] = pressures->values[1];
    }

    return yk_builder_function(builder, item, "spool_command", &def->spool_command);
}

static yk_status build_hydraulic(yk_builder *builder, const yk_node *section,
                                 yk_subsystem **subsystem)
{
    yk_hydraulic_def def = yk_hydraulic_default();
    def.name = yk_node_name(section);
    def.tank_pressure = yk_node_number(section, "tank_pressure");
    const yk_node *units = yk_node_get(section, "units");
    if (units)
        def.pascal = 1 / yk_unit_factor("Pa", yk_length_units[yk_node_choice(units, "length")],
                                        yk_mass_units[yk_node_choice(units, "mass")]);

    /* The fluid, the same in all cylinders. */
    const yk_node *fluid = yk_node_get(section, "fluid");
    def.fluid.compressibility = yk_node_number(fluid, "compressibility");
    def.fluid.compressibility_2 = yk_node_number(fluid, "compressibility_2");
    def.fluid.density = yk_node_number(fluid, "density");
    def.fluid.vapor_pressure = yk_node_number(fluid, "vapor_pressure");

    /* A tolerance selects steps of variable size. */
    const yk_node *integrator = yk_node_get(section, "integrator");
    if (integrator->choice == FIXED)
        def.max_step = yk_node_number(integrator, "max_step");
    else
        def.relative_tolerance = yk_node_number(integrator, "tolerance");

    yk_status status = yk_builder_function(builder, section, "pump_pressure", &def.pump_pressure);
    if (status != YK_OK)
        return status;

    /* All mistakes of all cylinders are reported. */
    yk_hydraulic_builder *circuit = yk_hydraulic_begin(yk_builder_context(builder), &def);
    for (const yk_node *item = yk_node_items(section, "cylinders"); item; item = item->next) {
        yk_hydraulic_cylinder_def cylinder;
        yk_status one = read_cylinder(builder, item, &cylinder);
        if (one == YK_OK)
            yk_hydraulic_add_cylinder(circuit, &cylinder);
        else
            status = one;
    }

    /* A circuit with mistakes is not made. */
    if (status != YK_OK) {
        yk_hydraulic_discard(circuit);
        return status;
    }

    return yk_hydraulic_create(circuit, subsystem);
}

const yk_solver_kind yk_hydraulic_kind = {&hydraulic_section, build_hydraulic};
