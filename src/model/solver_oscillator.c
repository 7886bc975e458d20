/* solver: oscillator */
#include "model/registry.h"
#include "physics/options.h"
#include "yoke/oscillator.h"

static yk_status build_oscillator(yk_builder *builder, const yk_node *section,
                                  yk_subsystem **subsystem)
{
    yk_oscillator_def def = yk_oscillator_default();
    yk_status status = yk_option_read_all(builder, yk_oscillator_options.options, section, &def);
    if (status != YK_OK)
        return status;

    return yk_oscillator_create(yk_builder_context(builder), &def, subsystem);
}

const yk_solver_kind yk_oscillator_kind = {&yk_oscillator_options, build_oscillator};
