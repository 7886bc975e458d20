/* solver: oscillator */
#include "model/registry.h"
#include "yoke/oscillator.h"

static const yk_field two_step_fields[] = {
    {"rho_inf", YK_TYPE_NUMBER, .fallback = "0.6", .range = YK_BETWEEN(0, 1),
     .text = "spectral radius at infinite frequency: "
             "1 no numerical damping, 0 most"},
    {0},
};
static const yk_field no_fields[] = {{0}};

static const yk_section two_step = {"two-step",
                                    "The implicit two-step method; "
                                    "a prescribed motion is a constraint at position level.",
                                    two_step_fields};
static const yk_section semi_implicit = {
    "semi-implicit", "Semi-implicit Euler; a prescribed motion is a constraint at velocity level.",
    no_fields};
static const yk_section exact = {
    "exact", "The matrix exponential, exact for inputs that are polynomials over the step.",
    no_fields};

/* In the order of yk_oscillator_integrator. */
static const yk_section *const integrators[] = {&two_step, &semi_implicit, &exact, NULL};

static const yk_field fields[] = {
    {"mass", YK_TYPE_NUMBER, "kg", .required = true, .range = YK_POSITIVE, .text = "mass"},
    {"stiffness", YK_TYPE_NUMBER, "N/m", "0", .range = YK_NOT_NEGATIVE,
     .text = "spring to the ground"},
    {"damping", YK_TYPE_NUMBER, "N s/m", "0", .range = YK_NOT_NEGATIVE,
     .text = "damper to the ground"},
    {"position", YK_TYPE_NUMBER, "m", "0",
     .text = "position at the start, from where the spring is relaxed"},
    {"velocity", YK_TYPE_NUMBER, "m/s", "0", .text = "velocity at the start"},
    {"force", YK_TYPE_FUNCTION, "N", "0", .text = "force on the mass"},
    {"integrator", YK_TYPE_VARIANT, .fallback = "{}", .variants = integrators, .selector = "type",
     .selector_fallback = "two-step", .text = "How the oscillator advances in time"},
    {0},
};

static const yk_section oscillator_section = {"oscillator",
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
