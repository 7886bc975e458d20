/* The options of the nonsmooth solver, apart from its parts. */
#include "nonsmooth/options.h"

#include "yoke/nonsmooth.h"

static const yk_option gravity_rows[] = {
    {"gravity", YK_OPTION_NUMBERS, "m/s²", "[0, 0, -9.81]", YK_MEMBER(yk_nonsmooth_def, gravity),
     .min_count = 3, .max_count = 3, .description = "acceleration of gravity, global axes"},
    {0},
};
const yk_option_section yk_nonsmooth_gravity = {"gravity", NULL, gravity_rows};

/* In the order of yk_contact_method without its last, and of yk_friction_model. */
static const yk_option_choice method_words[] = {
    {"auto", "gauss-seidel; without `max_iterations` with additional sweeps, and interior-point "
             "for islands that do not converge"},
    {"gauss-seidel", "cheapest for many bodies"},
    {"projected-gradient", "accelerated projected gradient"},
    {"interior-point", "accurate to rounding errors, for small hard problems"},
    {NULL, NULL}};
static const yk_option_choice friction_words[] = {{"convex-cone", "convex cone complementarity"},
                                                  {"coulomb", "true Coulomb friction"},
                                                  {"pyramid", "two separate directions"},
                                                  {NULL, NULL}};
static const yk_option_choice impact_words[] = {
    {"newton",
     "each contact rebounds according to its own approach; all of a chain at the same time"},
    {"poisson", "each contact returns its own impulse; creates no energy"},
    {"sequential", "approaching contacts rebound one after another, so that shocks travel through "
                   "touching bodies; creates no energy"},
    {NULL, NULL}};
static const yk_option contact_fields[] = {
    {"method", YK_OPTION_CHOICE, YK_MEMBER(yk_nonsmooth_def, contact_options.method),
     .default_text = "auto", .choices = method_words,
     .description = "solver of the contact problem"},
    {"friction_model", YK_OPTION_CHOICE,
     YK_MEMBER(yk_nonsmooth_def, contact_options.friction_model), .default_text = "convex-cone",
     .choices = friction_words, .description = "law of friction"},
    {"max_iterations", YK_OPTION_INTEGER,
     YK_MEMBER(yk_nonsmooth_def, contact_options.max_iterations), .default_text = "auto",
     .accepts_auto = true, .range = YK_AT_LEAST(0),
     .description = "maximum number of sweeps or steps; 0: auto depends on the accuracy of the "
                    "step, gauss-seidel 50, projected-gradient 200, interior-point 2500"},
    {"tolerance", YK_OPTION_NUMBER, "m/s", "0",
     YK_MEMBER(yk_nonsmooth_def, contact_options.tolerance), .range = YK_NOT_NEGATIVE,
     .refinement_exponent = 1,
     .description = "largest violation at which the iterations end; 0: all iterations are made, "
                    "for interior-point 1e-8 relative to all velocities"},
    {"relaxation_factor", YK_OPTION_NUMBER,
     YK_MEMBER(yk_nonsmooth_def, contact_options.relaxation_factor), .default_text = "1",
     .range = YK_BETWEEN(0.01, 1.99), .description = "over-relaxation factor"},
    {"envelope", YK_OPTION_NUMBER, "m", "auto", YK_MEMBER(yk_nonsmooth_def, envelope),
     .accepts_auto = true, .range = YK_NOT_NEGATIVE,
     .description = "gap below which contacts are detected; 0: 3 % of the smallest radius"},
    {"max_recovery_speed", YK_OPTION_NUMBER, "m/s", "auto",
     YK_MEMBER(yk_nonsmooth_def, max_recovery_speed), .accepts_auto = true,
     .range = YK_NOT_NEGATIVE,
     .description = "maximum speed at which overlaps are removed; 0: the final speed of a fall "
                    "through one envelope, with meshes gravity times step"},
    {"min_bounce_speed", YK_OPTION_NUMBER, "m/s", "auto",
     YK_MEMBER(yk_nonsmooth_def, min_bounce_speed), .accepts_auto = true, .range = YK_NOT_NEGATIVE,
     .description = "slower impacts do not rebound; 0: gravity times step"},
    {"impact_law", YK_OPTION_CHOICE, YK_MEMBER(yk_nonsmooth_def, impact_law),
     .default_text = "newton", .choices = impact_words,
     .description = "impact law if several contacts take part in an impact"},
    {"max_contacts", YK_OPTION_INTEGER, YK_MEMBER(yk_nonsmooth_def, contact_capacity),
     .default_text = "auto", .accepts_auto = true, .range = YK_AT_LEAST(0),
     .description = "number of contact points for which memory is reserved; 0: automatic"},
    {0},
};
static const yk_option_section contact_section = {
    "contact", "Contact detection and contact solver.", contact_fields};

static const yk_option sleeping_fields[] = {
    {"speed_threshold", YK_OPTION_NUMBER, "m/s", "0",
     YK_MEMBER(yk_nonsmooth_def, sleeping.speed_threshold), .range = YK_NOT_NEGATIVE,
     .description = "bodies slower than this are at rest; 0: bodies never sleep"},
    {"angular_speed_threshold", YK_OPTION_NUMBER, "rad/s", "auto",
     .only_with = {.key = "speed_threshold"},
     YK_MEMBER(yk_nonsmooth_def, sleeping.angular_speed_threshold), .accepts_auto = true,
     .range = YK_NOT_NEGATIVE,
     .description =
         "and rotating slower than this; 0: the speed divided by the smallest moving radius"},
    {"delay", YK_OPTION_NUMBER, "s", "0.5", .only_with = {.key = "speed_threshold"},
     YK_MEMBER(yk_nonsmooth_def, sleeping.delay), .range = YK_NOT_NEGATIVE,
     .description = "for this time, with all bodies that they touch or that are connected to them"},
    {0},
};
static const yk_option_section sleeping_section = {
    "sleeping",
    "Bodies that have come to rest with all their neighbours cost almost nothing until contact "
    "with a body that is awake, a moving partner, a changing load or drive, or a port disturbs "
    "them.",
    sleeping_fields};

static const yk_option solver_rows[] = {
    {"contact", YK_OPTION_SECTION, .default_text = "{}", .section = &contact_section,
     .description = "contact detection and contact solver"},
    {"sleeping", YK_OPTION_SECTION, .default_text = "{}", .section = &sleeping_section,
     .description = "bodies at rest"},
    {"threads", YK_OPTION_INTEGER, YK_MEMBER(yk_nonsmooth_def, thread_count),
     .default_text = "auto", .accepts_auto = true, .range = YK_BETWEEN(0, 1024),
     .description = "threads of this subsystem; 0: as many as the run has. The results are the "
                    "same bit for bit"},
    {0},
};
const yk_option_section yk_nonsmooth_options = {"nonsmooth", NULL, solver_rows};
