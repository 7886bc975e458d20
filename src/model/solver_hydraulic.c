/* solver: hydraulic */
#include "model/scenario.h"
#include "physics/options.h"
#include "yoke/hydraulic.h"

static yk_status read_cylinder(yk_builder *builder, const yk_node *item,
                               yk_hydraulic_cylinder_def *def)
{
    *def = yk_hydraulic_cylinder_default();
    def->name = yk_node_name(item);
    yk_cylinder *cylinder = &def->cylinder;
    yk_status status =
        yk_option_read_all(builder, yk_hydraulic_cylinder_options.options, item, def);
    if (status != YK_OK)
        return status;

    /* One area is that of both chambers. */
    const yk_node *area = yk_node_get(item, "area");
    cylinder->area[0] = area->values[0];
    cylinder->area[1] = area->values[area->value_count - 1];
    if (!yk_node_get(item, "min_chamber_length"))
        cylinder->min_chamber_length = 0.05 * cylinder->length;

    /* A function that is always zero is none, so that the neutral command must be zero too. */
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

    return YK_OK;
}

static yk_status build_hydraulic(yk_builder *builder, const yk_node *section,
                                 yk_subsystem **subsystem)
{
    yk_hydraulic_def def = yk_hydraulic_default();
    def.name = yk_node_name(section);
    yk_status status = yk_option_read_all(builder, yk_hydraulic_options.options, section, &def);
    if (status != YK_OK)
        return status;

    const yk_node *units = yk_node_get(section, "units");
    if (units)
        def.pascal = 1 / yk_unit_factor("Pa", yk_length_units[yk_node_choice(units, "length")],
                                        yk_mass_units[yk_node_choice(units, "mass")]);

    /* Report all errors of all cylinders. */
    yk_hydraulic_builder *circuit = yk_hydraulic_begin(yk_builder_context(builder), &def);
    for (const yk_node *item = yk_node_items(section, "cylinders"); item; item = item->next) {
        yk_hydraulic_cylinder_def cylinder;
        yk_status one = read_cylinder(builder, item, &cylinder);
        if (one == YK_OK)
            yk_hydraulic_add_cylinder(circuit, &cylinder);
        else
            status = one;
    }

    /* A circuit with errors is not created. */
    if (status != YK_OK) {
        yk_hydraulic_discard(circuit);
        return status;
    }

    return yk_hydraulic_create(circuit, subsystem);
}

const yk_solver_kind yk_hydraulic_kind = {&yk_hydraulic_options, build_hydraulic};
