/* Texts about fields: expected values and suggestions; and access to the values of resolved nodes. */
#include "model/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Words that are meant ------------------------------------------------------------------------- */

/* Words of the file format that an earlier version had. A row applies only if the old word is
 * unknown at its place and the new word is known there, so an old word may have several rows. */
typedef struct retired_word {
    const char *old;
    const char *current; /* a key, a value, or "SECTION.KEY" of a key that moved */
} retired_word;

static const retired_word retired_keys[] = {
    /* time */
    {"smallest", "min_step"},
    {"largest", "max_step"},
    {"tolerance", "step_tolerance"},
    /* subsystems */
    {"micro_step", "max_substep"},
    {"frame", "pose"},
    {"rank", "mpi_rank"},
    {"deadline", "timeout"},
    /* interfaces, wires, coupling, record */
    {"constrain", "constrained_axes"},
    {"length", "distance"},
    {"hold", "sample_and_hold"},
    {"order", "sequence"},
    {"inputs", "modified_inputs"},
    {"iterations", "max_iterations"},
    {"velocity", "prescribed_velocity"},
    {"halvings", "max_halvings"},
    {"degree", "polynomial_degree"},
    {"jacobian", "jacobian_update"},
    {"models", "interface_models"},
    {"wrenches", "slow_wrench"},
    {"positions", "position_update"},
    {"exchanges", "exchanges_per_step"},
    {"fast", "fast_subsystems"},
    {"sweeps", "max_sweeps"},
    {"good_steps", "steps_before_doubling"},
    {"contacts", "max_contacts"},
    /* joints, forces, ports, orientations */
    {"on", "body"},
    {"distance", "displacement"},
    {"rate", "angular_velocity"},
    {"rate", "velocity"},
    {"load", "factor"},
    {"follows", "follower"},
    {"input", "signal_port"},
    {"value", "expression"},
    {"vector", "rotation_vector"},
    {"order", "euler_order"},
    /* solver: control */
    {"form", "output"},
    {"table", "reference_table"},
    {"filter", "derivative_filter"},
    {"offset", "command_offset"},
    {"limits", "command_limits"},
    {"rate_limit", "max_command_rate"},
    {"period", "sample_period"},
    {"step", "max_step"},
    /* solver: fmu */
    {"kind", "interface_type"},
    {"set", "start_values"},
    {"text", "string"},
    {"tolerance", "solver_tolerance"},
    {"logging", "log_all"},
    {"derivatives", "use_directional_derivatives"},
    {"process", "run_in"},
    {"reaction", "force_on_partner"},
    /* solver: hydraulic */
    {"pump", "pump_pressure"},
    {"tank", "tank_pressure"},
    {"a", "compressibility"},
    {"b", "compressibility_2"},
    {"vapour_pressure", "vapor_pressure"},
    {"fraction", "initial_fraction"},
    {"friction", "viscous_friction"},
    {"stop", "min_chamber_length"},
    {"actuator_length", "initial_actuator_length"},
    {"spool", "spool_command"},
    {"start", "initial_state"},
    {"discharge", "discharge_coefficient"},
    {"lag", "time_constant"},
    {"backflow", "allow_backflow"},
    /* solver: mbdyn, precice, remote */
    {"listen", "mbdyn_connects"},
    {"accelerations", "sends_accelerations"},
    {"configuration", "config_file"},
    {"takes", "input"},
    {"subsystem", "remote_name"},
    /* solver: nonsmooth */
    {"rolling", "rolling_friction"},
    {"spinning", "spinning_friction"},
    {"stribeck_speed", "stribeck_velocity"},
    {"modulus", "plane_strain_modulus"},
    {"ground", "ground_shapes"},
    {"motion", "prescribed_motion"},
    {"position", "displacement"},
    {"touches", "collides"},
    {"group", "collision_group"},
    {"passes", "no_collision_with"},
    {"open", "open_walls"},
    {"from", "type"},
    {"cut", "size_cutoff"},
    {"spread", "size_spread"},
    {"distribution", "size_distribution"},
    {"sieves", "sieve_curve"},
    {"cavity", "container"},
    {"size", "container_size"},
    {"jitter", "position_jitter"},
    {"step", "settling.step"},
    {"time_limit", "settling.max_time"},
    {"shakes", "settling.max_shakes"},
    {"shake_amplitude", "settling.shake_amplitude"},
    {"shake_frequency", "settling.shake_frequency"},
    {"from", "start_time"},
    {"until", "end_time"},
    {"count", "max_emitted"},
    {"capacity", "max_present"},
    {"cavity", "region"},
    {"size", "region_size"},
    {"friction", "friction_model"},
    {"recovery_speed", "max_recovery_speed"},
    {"bounce_speed", "min_bounce_speed"},
    {"capacity", "max_contacts"},
    {"speed", "speed_threshold"},
    {"angular_speed", "angular_speed_threshold"},
    {"after", "delay"},
    /* solver: multibody */
    {"flexible", "flexible_bodies"},
    {"static_start", "start_in_equilibrium"},
    {"damping", "startup_damping"},
    {"start", "full_until"},
    {"keep", "keep_initial_pose"},
    {"displacement", "initial_displacement"},
    {"rotation", "initial_rotation"},
    {"centre", "center_of_mass"},
    {"axes", "inertia_orientation"},
    {"shape", "type"},
    {"young", "young_modulus"},
    {"poisson", "poisson_ratio"},
    {"damping_ratio", "rayleigh_beta"},
    {"inertia_y", "area_moment_y"},
    {"inertia_z", "area_moment_z"},
    {"torsion", "torsion_constant"},
    {"shear_y", "shear_factor_y"},
    {"shear_z", "shear_factor_z"},
    {"mass", "mass_per_length"},
    {"inertia", "inertia_per_length"},
    {"end_section", "second_section"},
    {"up", "section_z"},
    {"frame", "reference_conditions"},
    {"bending_y", "bending_modes_y"},
    {"bending_z", "bending_modes_z"},
    {"extension", "extension_modes"},
    {"torsion", "torsion_modes"},
    {"statics", "static_modes"},
    {"stiffening", "geometric_stiffening"},
    {"points", "attachments"},
    {"amplitudes", "initial_amplitudes"},
    {"amplitude_rates", "initial_amplitude_rates"},
    {"constant_mass", "constant_mass_matrix"},
    {"nodes", "nodes_file"},
    {"modes", "modes_file"},
    {"frequencies", "frequencies_file"},
    {"second_order", "second_order_file"},
    {"invariants", "invariants_file"},
    {"fem", "mbdyn_fem_file"},
    {"use", "selected_modes"},
    {"error_tolerance", "step_tolerance"},
    {"newton_relative", "newton_relative_tolerance"},
    {"newton_absolute", "newton_absolute_tolerance"},
    {"iterations", "max_newton_iterations"},
    {"form", "formulation"},
    {"stabilisation", "stabilization_rate"},
    /* last, because solver: fmu has both tolerances */
    {"tolerance", "absolute_tolerance"},
};

static const retired_word retired_values[] = {
    {"smooth", "multibody"},
    {"motion", "force-motion"},
    {"forces", "force-force"},
    {"original", "none"},
    {"marker", "partner"},
    {"fresh", "every-step"},
    {"differences", "finite-differences"},
    {"rim", "interface-model"},
    {"hold", "constant"},
    {"mechanism", "own-step"},
    {"fall-back", "fallback"},
    {"clamp", "fixed"},
    {"orientation", "fixed-orientation"},
    {"rotation", "driven-rotation"},
    {"position", "driven-translation"},
    {"angular-velocity", "driven-angular-velocity"},
    {"velocity", "driven-velocity"},
    {"axes", "custom"},
    {"torsion", "torsion-spring"},
    {"automatic", "auto"},
    {"accurate", "interior-point"},
    {"cone", "convex-cone"},
    {"dae", "index-3"},
    {"ode", "stabilized-ode"},
    {"generalised-alpha", "generalized-alpha"},
    {"open-centre", "open-center"},
    {"closed-centre", "closed-center"},
    {"own", "this-process"},
    {"child", "child-process"},
    {"general", "properties"},
};

/* Each row: a word of scenarios, and its synonyms in other programs and in engineering. */
enum { OTHERS_MAX = 11 };
static const struct {
    const char *word;
    const char *others[OTHERS_MAX + 1];
} synonyms[] = {
    /* solvers and schemes */
    {"multibody", {"mbs", "mbd", "mechanism", "rigid-body", "dae"}},
    {"nonsmooth", {"contact", "dem", "granular", "particles", "nsc", "rigid"}},
    {"control", {"pid", "controller", "controls"}},
    {"blocks", {"block", "signals", "block-diagram", "logic"}},
    {"fmu", {"fmi", "co-simulation"}},
    {"tight",
     {"implicit", "strong", "strongly-coupled", "iterative", "fixed-point", "serial-implicit",
      "parallel-implicit"}},
    {"explicit",
     {"weak", "loose", "staggered", "serial-explicit", "parallel-explicit", "non-iterative"}},
    {"index1", {"index-1", "newton", "high-order", "implicit-constraint"}},
    {"rim", {"reduced-interface-model", "subcycling", "multi-rate"}},
    {"relaxed", {"relaxation", "waveform", "waveform-relaxation"}},
    {"monolithic", {"merged", "single", "one", "reference", "fully-coupled"}},
    /* coupling */
    {"coupling", {"cosimulation", "master", "algorithm"}},
    {"scheme", {"algorithm", "method", "coupling"}},
    {"gauss-seidel", {"sequential", "serial"}},
    {"jacobi", {"parallel"}},
    {"sequence", {"order", "execution", "ordering"}},
    {"acceleration", {"relaxation", "accelerate", "under-relaxation"}},
    {"quasi-newton", {"iqn-ils", "iqn", "anderson", "broyden"}},
    {"max_iterations", {"iterations", "max-iterations", "maxiter", "niter"}},
    {"absolute_tolerance", {"tolerance", "tol", "abs_tol", "atol"}},
    {"relative_tolerance", {"rel_tol", "rtol"}},
    {"modified_inputs", {"inputs", "baumgarte"}},
    /* joints */
    {"fixed", {"weld", "rigid", "lock", "welded", "fix"}},
    {"revolute", {"hinge", "pin", "pivot", "pinned", "continuous"}},
    {"spherical", {"ball", "ball-joint", "ball_joint", "point"}},
    {"prismatic", {"slider", "slide", "translational", "sliding"}},
    {"universal", {"cardan", "hooke", "u-joint"}},
    {"driven-rotation", {"motor", "rheonomic"}},
    {"custom", {"generic", "6dof"}},
    /* time */
    {"step",
     {"dt", "h", "delta_t", "timestep", "time_step", "step_size", "stepsize", "time-window-size"}},
    {"end",
     {"duration", "t_end", "tend", "stop", "final", "until", "max-time", "stop_time", "stopTime"}},
    {"start", {"begin", "t_start", "t0", "startTime"}},
    {"min_step", {"dt_min", "hmin"}},
    {"max_step", {"dt_max", "hmax"}},
    {"max_substep", {"substep", "minor_step"}},
    {"substeps", {"subcycles", "subcycling", "n_substeps"}},
    /* places and motions */
    {"body", {"link", "parent", "attached_to"}},
    {"between", {"bodies", "connect", "connects", "ports", "sides", "parent", "child"}},
    {"position", {"pos", "location", "place", "origin", "xyz", "translation"}},
    {"orientation", {"rotation", "rot", "attitude", "quaternion", "quat", "rpy"}},
    {"center_of_mass", {"center", "com", "cog", "ipos"}},
    {"velocity", {"vel", "speed"}},
    {"angular_velocity", {"omega", "spin", "rotation_rate"}},
    {"ground", {"world", "earth", "base", "inertial", "fixed", "origin"}},
    /* sections */
    {"solver", {"type", "kind", "engine"}},
    {"subsystems", {"parts", "components", "models", "submodels", "participants", "elements"}},
    {"interfaces", {"connections", "couplings", "connectors"}},
    {"wires", {"signals", "links"}},
    {"record", {"output", "outputs", "results", "log"}},
    {"every", {"interval", "stride", "period", "sample_every"}},
    {"channels", {"signals", "variables", "outputs"}},
    {"frames", {"frame_count", "animation"}},
    {"scale", {"unit", "mesh_scale"}},
    {"drive", {"prescribed_motion", "motor", "actuator"}},
    /* bodies and forces */
    {"inertia", {"moments", "inertia_tensor", "moment_of_inertia", "moi", "diaginertia"}},
    {"stiffness", {"k", "spring_constant", "spring_rate"}},
    {"damping", {"c", "d", "damper", "viscosity"}},
    {"free_length", {"length0", "rest_length", "l0", "natural_length", "springlength"}},
    {"young_modulus", {"E", "youngs_modulus", "youngsModulus"}},
    {"poisson_ratio", {"nu"}},
    /* contact */
    {"friction", {"mu", "friction_coefficient"}},
    {"restitution", {"cor", "bounce", "e"}},
    {"rolling_friction", {"roll"}},
    {"collides", {"contact", "contype"}},
    {"no_collision_with", {"exclude", "ignore"}},
    {"friction_model", {"friction_law", "cone"}},
    {"convex-cone", {"ccp", "elliptic"}},
    {"pyramid", {"box", "pyramidal"}},
    {"interior-point", {"ipm", "exact"}},
    {"max_recovery_speed", {"max_depenetration_velocity"}},
    {"min_bounce_speed", {"restitution_threshold"}},
    {"envelope", {"margin", "contact_margin"}},
    /* solvers */
    {"integrator", {"method", "solver", "integration", "stepper"}},
    {"generalized-alpha", {"hht", "newmark", "galpha"}},
    {"timeout", {"time_limit", "wait"}},
};

/* The entry of a NULL-terminated list that equals the first `length` bytes of the word. */
static const char *find_word(const char *word, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && strncmp(*list, word, length) == 0)
            return *list;
    return NULL;
}

const char *yk_word_renamed(yk_word_role role, const char *word, const char *const *valid)
{
    const retired_word *rows = retired_keys;
    size_t count = sizeof retired_keys / sizeof *retired_keys;
    if (role == YK_WORD_VALUE) {
        rows = retired_values;
        count = sizeof retired_values / sizeof *retired_values;
    }

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].old, word) == 0 &&
            find_word(rows[i].current, strcspn(rows[i].current, "."), valid))
            return rows[i].current;
    return NULL;
}

bool yk_retired_word(yk_word_role role, int i, const char **old, const char **current)
{
    const retired_word *rows = retired_keys;
    int count = sizeof retired_keys / sizeof *retired_keys;
    if (role == YK_WORD_VALUE) {
        rows = retired_values;
        count = sizeof retired_values / sizeof *retired_values;
    }
    if (i >= count)
        return false;

    *old = rows[i].old;
    *current = rows[i].current;
    return true;
}

const char *yk_word_meant(const char *word, const char *const *valid)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        const char *meant = find_word(synonyms[i].word, strlen(synonyms[i].word), valid);
        for (int k = 0; meant && synonyms[i].others[k]; k++)
            if (strcasecmp(word, synonyms[i].others[k]) == 0)
                return meant;
    }

    /* A misspelled word. */
    return yk_text_nearest(word, valid);
}

/* Pieces of messages --------------------------------------------------------------------------- */

static void add(yk_phrase *phrase, const char *format, ...) YK_PRINTF(2, 3);

static void add(yk_phrase *phrase, const char *format, ...)
{
    size_t used = strlen(phrase->text);
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(phrase->text + used, sizeof phrase->text - used, format, arguments);
    va_end(arguments);
}

/* One of a list of words that ends with "... or last". */
static void add_alternative(yk_phrase *phrase, bool first, bool last, const char *word)
{
    const char *between = ", ";
    if (last)
        between = " or ";
    if (first)
        between = "";
    add(phrase, "%s%s", between, word);
}

static void add_words(yk_phrase *phrase, const yk_option_choice *words)
{
    for (const yk_option_choice *word = words; word->name; word++)
        add_alternative(phrase, word == words, !word[1].name, word->name);
}

static void add_count(yk_phrase *phrase, const yk_option *field, const char *one, const char *many)
{
    /* The number, the range or the bound. */
    int least = field->min_count;
    int most = field->max_count;
    if (least == 1 && most == 1)
        add(phrase, "a list of 1 %s", one);
    else if (least == most && least)
        add(phrase, "a list of %d %s", least, many);
    else if (most && least)
        add(phrase, "a list of %d to %d %s", least, most, many);
    else if (least)
        add(phrase, "a list of %d or more %s", least, many);
    else
        add(phrase, "a list of %s", many);
    if (most && !least)
        add(phrase, ", at most %d", most);
}

/* "a section with keys such as 'offset', 'orientation'": the first few, required ones first. */
static void add_keys(yk_phrase *phrase, const yk_option_section *section)
{
    enum { SHOWN_MAX = 3 };
    add(phrase, "a section");

    /* Required keys first: one of them is most likely missing. */
    int shown = 0;
    for (int required = 1; section && required >= 0; required--)
        for (const yk_option *f = section->options; f->key && shown < SHOWN_MAX; f++) {
            if (f->kind == YK_OPTION_INCLUDE || f->required != required)
                continue;
            add(phrase, "%s'%s'", shown == 0 ? " with keys such as " : ", ", f->key);
            shown++;
        }
}

yk_phrase yk_expected(const yk_option *field)
{
    static const char *const kinds[] = {
        [YK_OPTION_NUMBER] = "a number",
        [YK_OPTION_INTEGER] = "a whole number",
        [YK_OPTION_BOOLEAN] = "true or false",
        [YK_OPTION_TEXT] = "a text",
        [YK_OPTION_NAME] = "a name",
        [YK_OPTION_FUNCTION] = "a number or an expression of time",
        [YK_OPTION_ORIENTATION] =
            "an orientation such as [w, x, y, z] or {axis: [0, 0, 1], angle: 0.5}",
        [YK_OPTION_INERTIA] = "three numbers (a diagonal) or three rows of a symmetric matrix",
        [YK_OPTION_PATH] = "the name of a file",
        [YK_OPTION_NAMED] = "a section of named items, or a list of items with 'name'",
        [YK_OPTION_TABLES] = "a section of named items, or a list of items with 'name'",
        [YK_OPTION_SUBSYSTEMS] = "a list of subsystems",
        [YK_OPTION_PARAMETERS] = "a section of names and numbers",
        [YK_OPTION_EXPRESSION] = "an expression",
        [YK_OPTION_COMPONENTS] = "a section of named instances, each with 'use'",
        [YK_OPTION_TREE] = "a section",
    };
    yk_phrase phrase = {""};

    /* The type ... */
    switch (field->kind) {
    case YK_OPTION_NUMBERS: add_count(&phrase, field, "number", "numbers"); break;
    case YK_OPTION_FUNCTIONS:
        add_count(&phrase, field, "expression of time", "expressions of time");
        break;
    case YK_OPTION_LIST: add_count(&phrase, field, field->item->key, field->item->key); break;
    case YK_OPTION_CHOICE: add_words(&phrase, field->choices); break;
    case YK_OPTION_FORM:
        add_words(&phrase, field->choices);
        add(&phrase, ", or a section");
        break;
    case YK_OPTION_SECTION: add_keys(&phrase, field->section); break;
    case YK_OPTION_VARIANT:
        add(&phrase, "a section with '%s': ", field->selector);
        for (int i = 0; field->variants[i]; i++)
            add_alternative(&phrase, i == 0, !field->variants[i + 1], field->variants[i]->name);
        break;
    default: add(&phrase, "%s", kinds[field->kind]); break;
    }

    /* ... with its unit and bounds. */
    if (field->unit)
        add(&phrase, " in %s", field->unit);

    bool low = field->range.bounds & YK_BOUND_MINIMUM;
    bool high = field->range.bounds & YK_BOUND_MAXIMUM;
    bool open = field->range.bounds & (YK_BOUND_MINIMUM_OPEN | YK_BOUND_MAXIMUM_OPEN);

    /* "between" where both bounds belong to the field->range. */
    const char *above = field->range.bounds & YK_BOUND_MINIMUM_OPEN ? "greater than" : "at least";
    const char *below = field->range.bounds & YK_BOUND_MAXIMUM_OPEN ? "less than" : "at most";
    if (low && high && !open)
        add(&phrase, ", between %g and %g", field->range.minimum, field->range.maximum);
    else if (low && high)
        add(&phrase, ", %s %g and %s %g", above, field->range.minimum, below, field->range.maximum);
    else if (low)
        add(&phrase, ", %s %g", above, field->range.minimum);
    else if (high)
        add(&phrase, ", %s %g", below, field->range.maximum);
    if (field->accepts_auto)
        add(&phrase, ", or auto");

    return phrase;
}

yk_phrase yk_found(const yk_node *node)
{
    yk_phrase phrase = {""};

    /* Long texts are truncated: the excerpt of the file shows them. */
    if (yk_node_is_empty(node))
        add(&phrase, "nothing");
    else if (node->kind == YK_NODE_SCALAR)
        add(&phrase, "'%.40s'", node->text);
    else if (node->kind == YK_NODE_LIST)
        add(&phrase, "a list of %d", node->count);
    else
        add(&phrase, "a section");

    return phrase;
}

static yk_phrase suggest(const char *word, const char *const *words, int count, const char *quote)
{
    yk_phrase phrase = {""};

    const char *valid[YK_SUGGESTED_MAX + 1] = {NULL};
    for (int i = 0; i < count && i < YK_SUGGESTED_MAX; i++)
        valid[i] = words[i];

    const char *nearest = yk_word_meant(word, valid);
    if (nearest) {
        add(&phrase, "Did you mean '%s'?", nearest);
        return phrase;
    }

    if (count == 0) {
        add(&phrase, "There are none.");
        return phrase;
    }

    /* The phrase is truncated at the end of its buffer. */
    add(&phrase, "Expected ");
    for (int i = 0; i < count && strlen(phrase.text) < sizeof phrase.text - 1; i++) {
        const char *between = i + 1 == count ? " or " : ", ";
        add(&phrase, "%s%s%s%s", i ? between : "", quote, words[i], quote);
    }
    add(&phrase, ".");

    return phrase;
}

yk_phrase yk_suggest_name(const char *word, const char *const *names, int count)
{
    return suggest(word, names, count, "'");
}

yk_phrase yk_suggest_word(const char *word, const char *const *words, int count)
{
    return suggest(word, words, count, "");
}

yk_phrase yk_suggest_format_word(yk_word_role role, const char *word, const char *const *words,
                                 int count)
{
    const char *valid[YK_SUGGESTED_MAX + 1] = {NULL};
    for (int i = 0; i < count && i < YK_SUGGESTED_MAX; i++)
        valid[i] = words[i];

    const char *renamed = yk_word_renamed(role, word, valid);
    if (!renamed)
        return suggest(word, words, count, "");

    yk_phrase phrase = {""};
    add(&phrase, "It was renamed to '%s'.", renamed);
    return phrase;
}

/* Values --------------------------------------------------------------------------------------- */

/* The schema guarantees the entry: a request for another one is an error in the program. */
static const yk_node *entry(const yk_node *section, const char *key)
{
    const yk_node *node = yk_node_get(section, key);
    assert(node && node->valid);
    return node;
}

double yk_node_number(const yk_node *section, const char *key)
{
    return entry(section, key)->value;
}

int yk_node_integer(const yk_node *section, const char *key)
{
    return (int)entry(section, key)->value;
}

bool yk_node_boolean(const yk_node *section, const char *key)
{
    return entry(section, key)->choice != 0;
}

const char *yk_node_text(const yk_node *section, const char *key)
{
    return entry(section, key)->text;
}

int yk_node_choice(const yk_node *section, const char *key)
{
    return entry(section, key)->choice;
}

yk_vec3 yk_node_vector(const yk_node *section, const char *key)
{
    const yk_node *node = entry(section, key);
    assert(node->value_count == 3);
    return (yk_vec3){node->values[0], node->values[1], node->values[2]};
}

yk_quat yk_node_orientation(const yk_node *section, const char *key)
{
    const yk_node *node = entry(section, key);
    assert(node->value_count == 4);
    return (yk_quat){node->values[0], node->values[1], node->values[2], node->values[3]};
}
