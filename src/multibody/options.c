/* The options of multibody systems, apart from their parts. */
#include "multibody/options.h"

#include "yoke/multibody.h"

static const yk_option gravity_rows[] = {
    {"gravity", YK_OPTION_NUMBERS, "m/s²", "[0, 0, -9.81]", YK_MEMBER(yk_multibody_def, gravity),
     .min_count = 3, .max_count = 3, .description = "acceleration of gravity, global axes"},
    {0},
};
const yk_option_section yk_multibody_gravity = {"gravity", NULL, gravity_rows};

static const char rho_text[] =
    "spectral radius at infinite frequency: 1 no numerical damping, 0 maximum damping; with joints "
    "at most 0.9 (except formulation stabilized-ode), because errors of their reactions would grow "
    "without damping";
static const yk_option newton_fields[] = {
    {"newton_relative_tolerance", YK_OPTION_NUMBER,
     YK_MEMBER(yk_multibody_def, options.newton_relative_tolerance), .default_text = "1e-4",
     .range = YK_POSITIVE, .refinement_exponent = 1,
     .description = "iterations stop when the remaining error is this fraction of the step's local "
                    "error; at most 1e-8 if steps are repeated and compared: schemes tight and "
                    "index1, and time.step_tolerance"},
    {"newton_absolute_tolerance", YK_OPTION_NUMBER, "m, rad", "1e-8",
     YK_MEMBER(yk_multibody_def, options.newton_absolute_tolerance), .range = YK_POSITIVE,
     .refinement_exponent = 3, .description = "and below this"},
    {"max_newton_iterations", YK_OPTION_INTEGER,
     YK_MEMBER(yk_multibody_def, options.max_newton_iterations), .default_text = "30",
     .range = YK_AT_LEAST(1), .description = "maximum number per step"},
    {0},
};
static const yk_option_section newton_keys = {"newton", NULL, newton_fields};
static const yk_option two_step_fields[] = {
    {"rho_inf", YK_OPTION_NUMBER, YK_MEMBER(yk_multibody_def, options.rho_inf),
     .default_text = "0.6", .range = YK_BETWEEN(0, 1), .description = rho_text},
    {"step_tolerance", YK_OPTION_NUMBER, "m, rad", "0",
     YK_MEMBER(yk_multibody_def, options.error_tolerance), .range = YK_NOT_NEGATIVE,
     .refinement_exponent = 3,
     .description =
         "local error of an internal step, of nodes and of the deformation of flexible bodies; "
         "internal steps then have variable size; 0: the macro step is the step"},
    {"include", YK_OPTION_INCLUDE, .section = &newton_keys, .description = ""},
    {0},
};
static const yk_option runge_kutta_fields[] = {
    {"step_tolerance", YK_OPTION_NUMBER, YK_MEMBER(yk_multibody_def, options.error_tolerance),
     .default_text = "1e-12", .range = YK_NOT_NEGATIVE, .refinement_exponent = 3,
     .description = "local error of an internal step, "
                    "relative to the model's length and its typical speed; "
                    "0: the macro step is the step"},
    {0},
};
static const yk_option_choice form_words[] = {
    {"index-3", "the constraints themselves at the end of the step: index 3"},
    {"stabilized-ode", "constraints stabilized, multipliers eliminated (Zhou et al. 2022)"},
    {NULL, NULL}};
static const yk_option generalized_alpha_fields[] = {
    {"formulation", YK_OPTION_CHOICE, YK_MEMBER(yk_multibody_def, options.formulation),
     .default_text = "index-3", .choices = form_words,
     .description = "formulation of the constraints"},
    {"rho_inf", YK_OPTION_NUMBER, YK_MEMBER(yk_multibody_def, options.rho_inf),
     .default_text = "0.6", .range = YK_BETWEEN(0, 1), .description = rho_text},
    {"stabilization_rate", YK_OPTION_NUMBER, "1/s", "auto",
     .only_with = {"formulation", {"stabilized-ode"}},
     YK_MEMBER(yk_multibody_def, options.stabilization_rate), .accepts_auto = true,
     .range = YK_NOT_NEGATIVE,
     .description =
         "beta of the formulation stabilized-ode, the rate at which gaps of joints close; 0: "
         "one over the step"},
    {"include", YK_OPTION_INCLUDE, .section = &newton_keys, .description = ""},
    {0},
};
static const yk_option chebyshev_fields[] = {
    {"stages", YK_OPTION_INTEGER, YK_MEMBER(yk_multibody_def, options.stages), .default_text = "4",
     .range = YK_BETWEEN(2, 100),
     .description = "number of stages s; decay rates up to 0.65 (s² - 1) / step are stable"},
    {"stabilization_rate", YK_OPTION_NUMBER, "1/s", "auto",
     YK_MEMBER(yk_multibody_def, options.stabilization_rate), .accepts_auto = true,
     .range = YK_NOT_NEGATIVE,
     .description = "beta, the rate at which gaps of joints close; 0: one over the step"},
    {0},
};
static const yk_option_section chebyshev = {
    "runge-kutta-chebyshev",
    "Explicit, second order, for models with strong damping; joints stabilized as a pair of "
    "equations "
    "of first order (Zhou et al. 2022, 35 and 37). Oscillations without damping grow by "
    "0.025 (omega step)^4 per step at most.",
    chebyshev_fields};
static const yk_option_section generalized_alpha = {
    "generalized-alpha", "Implicit, second order, on acceleration level, with numerical damping.",
    generalized_alpha_fields};
static const yk_option_section two_step = {
    "two-step", "Implicit, second order, with numerical damping.", two_step_fields};
static const yk_option_section runge_kutta = {
    "runge-kutta",
    "Explicit, order 8, with steps of variable size inside the macro step and projection onto the "
    "joints: for highly accurate results of models without beams or stiff springs.",
    runge_kutta_fields};
/* In the order of yk_multibody_integrator. */
static const yk_option_section *const integrators[] = {&two_step, &runge_kutta, &generalized_alpha,
                                                       &chebyshev, NULL};
static const yk_option damping_fields[] = {
    {"rate", YK_OPTION_NUMBER, "1/s", YK_MEMBER(yk_multibody_def, options.startup_damping),
     .required = true, .range = YK_NOT_NEGATIVE, .description = "force per momentum"},
    {"full_until", YK_OPTION_NUMBER, "s", "0",
     YK_MEMBER(yk_multibody_def, options.startup_damping_full_until),
     .description = "end of full damping"},
    {"end", YK_OPTION_NUMBER, "s", YK_MEMBER(yk_multibody_def, options.startup_damping_end),
     .required = true, .description = "end of the linear decrease to zero"},
    {0},
};
static const yk_option_section damping_section = {
    "startup_damping",
    "Artificial damping of all motion that is gradually removed, to settle under gravity.",
    damping_fields};

static const yk_option solver_rows[] = {
    {"integrator", YK_OPTION_VARIANT, YK_MEMBER(yk_multibody_def, options.integrator),
     .default_text = "{}", .variants = integrators, .selector = "type",
     .default_variant = "two-step", .description = "Time integration"},
    {"start_in_equilibrium", YK_OPTION_BOOLEAN,
     YK_MEMBER(yk_multibody_def, options.start_in_equilibrium), .default_text = "false",
     .description = "start in static equilibrium"},
    {"startup_damping", YK_OPTION_SECTION, .section = &damping_section,
     .description = "artificial damping at the start"},
    {0},
};
const yk_option_section yk_multibody_options_rows = {"multibody", NULL, solver_rows};
