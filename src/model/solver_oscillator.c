/* solver: oscillator */
#include "model/registry.h"
#include "yoke/oscillator.h"

static const yk_option two_step_fields[] = {
    {"rho_inf", YK_OPTION_NUMBER, .default_text = "0.6", .range = YK_BETWEEN(0, 1),
     .description = "spectral radius at infinite frequency: "
                    "1 no numerical damping, 0 most"},
    {0},
};
static const yk_option no_fields[] = {{0}};

static const yk_option_section two_step = {"two-step",
                                           "The implicit two-step method; "
                                           "a prescribed motion is a constraint at position level.",
                                           two_step_fields};
static const yk_option_section semi_implicit = {
    "semi-implicit", "Semi-implicit Euler; a prescribed motion is a constraint at velocity level.",
    no_fields};
static const yk_option_section exact = {
    "exact", "The matrix exponential, exact for inputs that are polynomials over the step.",
    no_fields};

/* In the order of yk_oscillator_integrator. */
static const yk_option_section *const integrators[] = {&two_step, &semi_implicit, &exact, NULL};

static const yk_option fields[] = {
    {"mass", YK_OPTION_NUMBER, "kg", .required = true, .range = YK_POSITIVE, .description = "mass"},
    {"stiffness", YK_OPTION_NUMBER, "N/m", "0", .range = YK_NOT_NEGATIVE,
     .description = "spring to the ground"},
    {"damping", YK_OPTION_NUMBER, "N s/m", "0", .range = YK_NOT_NEGATIVE,
     .description = "damper to the ground"},
    {"position", YK_OPTION_NUMBER, "m", "0",
     .description = "position at the start, from where the spring is relaxed"},
    {"velocity", YK_OPTION_NUMBER, "m/s", "0", .description = "velocity at the start"},
    {"force", YK_OPTION_FUNCTION, "N", "0", .description = "force on the mass"},
    {"integrator", YK_OPTION_VARIANT, .default_text = "{}", .variants = integrators,
     .selector = "type", .default_variant = "two-step",
     .description = "How the oscillator advances in time"},
    {0},
};

static const yk_option_section oscillator_section = {
    "oscillator",
    "A mass on a spring and a damper. "
    "Port: `mass` (scalar; takes a wrench or a motion).",
    fields};

static yk_status build_oscillator(yk_builder *builder, const yk_node *section,
                                  yk_subsystem **subsystem)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = yk_node_number(section, "mass");
    def.stiffness = yk_node_number(section, "stiffness");
    def.damping = yk_node_number(section, "damping");
    def.position = yk_node_number(section, "position");
    def.velocity = yk_node_number(section, "velocity");

    /* Only the two-step method has a parameter. */
    const yk_node *integrator = yk_node_get(section, "integrator");
    def.integrator = (yk_oscillator_integrator)integrator->choice;
    if (yk_node_get(integrator, "rho_inf"))
        def.rho_inf = yk_node_number(integrator, "rho_inf");

    yk_status status = yk_builder_function(builder, section, "force", &def.force);
    if (status != YK_OK)
        return status;

    return yk_oscillator_create(yk_builder_context(builder), &def, subsystem);
}

const yk_solver_kind yk_oscillator_kind = {&oscillator_section, build_oscillator};
