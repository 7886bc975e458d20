/* The options of oscillators. */
#include "physics/options.h"
#include "yoke/oscillator.h"

static const yk_option two_step_fields[] = {
    {"rho_inf", YK_OPTION_NUMBER, YK_MEMBER(yk_oscillator_def, rho_inf), .default_text = "0.6",
     .range = YK_BETWEEN(0, 1),
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
    {"mass", YK_OPTION_NUMBER, "kg", YK_MEMBER(yk_oscillator_def, mass), .required = true,
     .range = YK_POSITIVE, .description = "mass"},
    {"stiffness", YK_OPTION_NUMBER, "N/m", "0", YK_MEMBER(yk_oscillator_def, stiffness),
     .range = YK_NOT_NEGATIVE, .description = "spring to the ground"},
    {"damping", YK_OPTION_NUMBER, "N s/m", "0", YK_MEMBER(yk_oscillator_def, damping),
     .range = YK_NOT_NEGATIVE, .description = "damper to the ground"},
    {"position", YK_OPTION_NUMBER, "m", "0", YK_MEMBER(yk_oscillator_def, position),
     .description = "position at the start, from where the spring is relaxed"},
    {"velocity", YK_OPTION_NUMBER, "m/s", "0", YK_MEMBER(yk_oscillator_def, velocity),
     .description = "velocity at the start"},
    {"force", YK_OPTION_FUNCTION, "N", "0", YK_MEMBER(yk_oscillator_def, force),
     .description = "force on the mass"},
    {"integrator", YK_OPTION_VARIANT, YK_MEMBER(yk_oscillator_def, integrator),
     .default_text = "{}", .variants = integrators, .selector = "type",
     .default_variant = "two-step", .description = "How the oscillator advances in time"},
    {0},
};

const yk_option_section yk_oscillator_options = {
    "oscillator",
    "A mass on a spring and a damper. "
    "Port: `mass` (scalar; takes a wrench or a motion).",
    fields};
