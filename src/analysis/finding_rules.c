#include "analysis/finding_rules.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const yk_finding_rule rules[] = {
    [YK_FINDING_GROWING_OSCILLATION] =
        {.kind = YK_FINDING_GROWING_OSCILLATION,
         .name = "growing_oscillation",
         .meaning = "The wrench at an interface alternates from step to step and grows over at "
                    "least 64 macro steps.",
         .quantity = "growth per macro step",
         .scale = "",
         .warning = NAN,
         .serious = 0.05,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .reason = "The threshold is the final amplitude relative to the largest wrench. Below it "
                   "the oscillation does not show in the motion.",
         .words = {{YK_CAUSE_DEFAULT,
                    "The coupling is unstable at interface '{interface}'. Its wrench alternates "
                    "from step to step and grows by a factor of {value} per step ({steps#} steps, "
                    "until t = {time@} s)"}}},
    [YK_FINDING_ENERGY_ERROR] =
        {.kind = YK_FINDING_ENERGY_ERROR,
         .name = "energy_error",
         .meaning = "The coupling or the integration creates or destroys energy.",
         .quantity = "energy created (positive) or lost (negative)",
         .scale = "initial energy plus external work",
         .warning = 0.02,
         .serious = 0.05,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .is_indirect = true,
         .reason =
             "An error of 3 % in the motion is an error of about 6 % in its energy. Lost energy is "
             "serious above 15 %, since many good methods damp what a step does not resolve.",
         .words = {{YK_CAUSE_COUPLING_CREATES,
                    "The coupling creates {energy} J ({fraction%} % of {scale} J). Most of it at "
                    "interface '{interface}' between '{wrench_side}' and '{motion_side}'"},
                   {YK_CAUSE_COUPLING_DESTROYS,
                    "The coupling destroys {energy} J ({fraction%} % of {scale} J). Most of it at "
                    "interface '{interface}' between '{wrench_side}' and '{motion_side}'"},
                   {YK_CAUSE_INTEGRATION_CREATES,
                    "The integration of '{subsystem}' creates {energy} J ({fraction%} % of {scale} "
                    "J)"},
                   {YK_CAUSE_INTEGRATION_DESTROYS,
                    "The integration of '{subsystem}' loses {energy} J ({fraction%} % of {scale} "
                    "J)"},
                   {YK_CAUSE_RUNAWAY,
                    "The coupling is unstable. The energy grows to {present} J, of which only "
                    "{scale} J were there initially or supplied. Most of it at interface "
                    "'{interface}' between '{wrench_side}' and '{motion_side}'"},
                   {YK_CAUSE_INTEGRATION_RUNAWAY,
                    "The integration of '{subsystem}' creates energy. There are {present} J, of "
                    "which only {scale} J were there initially or supplied"}}},
    [YK_FINDING_NOT_CONVERGED] =
        {.kind = YK_FINDING_NOT_CONVERGED,
         .name = "not_converged",
         .meaning = "The iterations stopped at their limit, or a tolerance is so loose that they "
                    "stop at once.",
         .quantity = "residual",
         .scale = "impulse of the interface",
         .warning = 1e-4,
         .serious = 0.02,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .is_indirect = true,
         .reason = "The residual acts on the motion like a disturbing impulse of the same size.",
         .words = {{YK_CAUSE_ITERATION_LIMIT,
                    "The iterations did not converge in {open#} of {steps#} steps, first at t = "
                    "{time@} s. At interface '{interface}' the residual is up to {residual} N or N "
                    "m ({value%} % of the impulse)"},
                   {YK_CAUSE_LOOSE_TOLERANCE,
                    "The coupling tolerance is too loose: {tolerance} N or N m, but the mean "
                    "wrench at interface '{interface}' is {wrench}"},
                   {YK_CAUSE_SWEEP_LIMIT,
                    "The sweeps did not converge in {open#} of {steps#} steps, first at t = "
                    "{time@} s in subsystem '{subsystem}'. The residuals add up to {value} of the "
                    "typical velocity"}}},
    [YK_FINDING_DRIFT] =
        {.kind = YK_FINDING_DRIFT,
         .name = "drift",
         .meaning = "The gap of an interface grows throughout the run, by more than the motion "
                    "does.",
         .quantity = "gap (m or rad)",
         .scale = "travel of the interface, or 1 rad",
         .warning = 1e-5,
         .serious = 0.1,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .reason = "Gaps of constraint solvers stay; a gap that grows has no bound.",
         .words = {{YK_CAUSE_DEFAULT,
                    "The position gap of interface '{interface}' grows: {quarter} m after a "
                    "quarter of the run, {half} m after half, {value} m at the end"},
                   {YK_CAUSE_ROTATION,
                    "The rotation gap of interface '{interface}' grows: {quarter} rad after a "
                    "quarter of the run, {half} rad after half, {value} rad at the end"}}},
    [YK_FINDING_ALGEBRAIC_LOOP] =
        {.kind = YK_FINDING_ALGEBRAIC_LOOP,
         .name = "algebraic_loop",
         .meaning = "The wrench side of an interface responds immediately, without mass.",
         .quantity = "mass ratio",
         .scale = "",
         .warning = NAN,
         .serious = NAN,
         .severity = YK_SERIOUS_IF_RUN_IS_WRONG,
         .reason = "Found by a trial before the run, in which smaller steps raise the ratio.",
         .words = {{YK_CAUSE_UNSTABLE,
                    "Algebraic loop at interface '{interface}' along {detail}: the wrench side "
                    "responds without mass, so the coupling is unstable. A smaller step does not "
                    "help{others}"},
                   {YK_CAUSE_NO_CONVERGENCE,
                    "Algebraic loop at interface '{interface}' along {detail}: the wrench side "
                    "responds without mass, so the iterations do not converge. A smaller step "
                    "does not help{others}"}}},
    [YK_FINDING_MASS_RATIO] =
        {.kind = YK_FINDING_MASS_RATIO,
         .name = "mass_ratio",
         .meaning = "The motion side of an interface is too heavy for the scheme.",
         .quantity = "mass of the motion side",
         .scale = "mass of the wrench side",
         .warning = NAN,
         .serious = NAN,
         .severity = YK_SERIOUS_IF_RUN_IS_WRONG,
         .reason = "The limit is that of two free masses with the same integrators and step.",
         .words = {{YK_CAUSE_UNSTABLE,
                    "Mass ratio {value} at interface '{interface}' along {detail} ({motion_mass} "
                    "on the motion side, {wrench_mass} on the wrench side, in kg or kg m2). This "
                    "scheme is stable up to {limit}. A smaller step does not help{others}"},
                   {YK_CAUSE_NO_CONVERGENCE,
                    "Mass ratio {value} at interface '{interface}' along {detail} ({motion_mass} "
                    "on the motion side, {wrench_mass} on the wrench side, in kg or kg m2). The "
                    "iterations of this scheme converge up to {limit}. A smaller step does not "
                    "help{others}"},
                   {YK_CAUSE_UNSTABLE_SPRINGS,
                    "Mass ratio {value} at interface '{interface}' along {detail}, because the "
                    "step does not resolve the springs of the motion side. This scheme is stable "
                    "up to {limit}{others}"},
                   {YK_CAUSE_NO_CONVERGENCE_SPRINGS,
                    "Mass ratio {value} at interface '{interface}' along {detail}, because the "
                    "step does not resolve the springs of the motion side. The iterations of this "
                    "scheme converge up to {limit}{others}"}}},
    [YK_FINDING_INTERFACE_GAP] =
        {.kind = YK_FINDING_INTERFACE_GAP,
         .name = "interface_gap",
         .meaning = "The two sides of an interface do not move together.",
         .quantity = "rms velocity gap, or position gap",
         .scale = "rms velocity of the interface, or its travel",
         .warning = 0.05,
         .serious = 0.2,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .is_indirect = true,
         .reason = "Substeps and predictions leave gaps of a few percent in good runs.",
         .words = {{YK_CAUSE_DEFAULT,
                    "The sides of interface '{interface}' do not move together. Their velocities "
                    "differ by {gap} m/s ({value%} %)"},
                   {YK_CAUSE_ROTATION,
                    "The sides of interface '{interface}' do not move together. Their angular "
                    "velocities differ by {gap} rad/s ({value%} %)"},
                   {YK_CAUSE_POSITION,
                    "The sides of interface '{interface}' are up to {gap} m apart, which is "
                    "{value%} % of its travel"}}},
    [YK_FINDING_CONTACT_RESIDUAL] =
        {.kind = YK_FINDING_CONTACT_RESIDUAL,
         .name = "contact_residual",
         .meaning = "Contact problems were left unsolved, with an effect on momentum or energy.",
         .quantity = "impulses that contacts and joints miss in unsolved steps",
         .scale = "impulses that they exchange",
         .warning = 5e-3,
         .serious = 0.02,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .reason =
             "A few badly solved impacts do no lasting harm. Dampers whose contacts miss 1.5 % "
             "dissipate 5 % too much. Also serious if contacts create more than 5 % of the "
             "energy of the motion, since they can only dissipate.",
         .words = {{YK_CAUSE_DEFAULT,
                    "Contacts of '{subsystem}' were not solved in {unresolved%} % of the steps. "
                    "They miss {value%} % of the impulses that they exchange (max residual "
                    "{residual} m/s)"},
                   {YK_CAUSE_CONTACTS_CREATE_ENERGY,
                    "Contacts of '{subsystem}' were not solved in {unresolved%} % of the steps and "
                    "create {energy} J (max residual {residual} m/s)"}}},
    [YK_FINDING_PENETRATION] =
        {.kind = YK_FINDING_PENETRATION,
         .name = "penetration",
         .meaning = "A body whose motion an interface prescribes passes through a fixed body.",
         .quantity = "depth (m)",
         .scale = "radius of the body",
         .warning = NAN,
         .serious = 0.01,
         .severity = YK_SERIOUS_ALWAYS,
         .reason = "The contact is missing from the model as it runs.",
         .words = {{YK_CAUSE_DEFAULT,
                    "A body of '{subsystem}' penetrates a fixed body by {value} m. An interface "
                    "prescribes its motion, so contact cannot stop it. Put both bodies into one "
                    "subsystem"}}},
    [YK_FINDING_RUN_FAILED] =
        {.kind = YK_FINDING_RUN_FAILED,
         .name = "run_failed",
         .meaning = "The run stopped before its end.",
         .quantity = "time reached (s)",
         .scale = "",
         .warning = NAN,
         .serious = NAN,
         .severity = YK_SERIOUS_ALWAYS,
         .reason = "",
         .words = {{YK_CAUSE_DEFAULT,
                    "The run failed at t = {time@} s, in step {step#} of {steps#}"}}},
    [YK_FINDING_RECOVERED] =
        {.kind = YK_FINDING_RECOVERED,
         .name = "recovered",
         .meaning = "Steps failed, and `coupling.on_failure` continued the run.",
         .quantity = "number of failures",
         .scale = "",
         .warning = 0,
         .serious = NAN,
         .severity = YK_SERIOUS_NEVER,
         .reason = "The steps that are in the result succeeded.",
         .words = {{YK_CAUSE_STEPS_REPEATED,
                    "{value#} steps failed and were repeated with smaller steps, down to "
                    "{min_step} s (first at t = {time@} s). First error: {detail}"},
                   {YK_CAUSE_SCHEME_SWITCHED,
                    "Switched from scheme {from} to {to} at t = {time@} s: {detail}"}}},
    [YK_FINDING_EMITTER_SHORTFALL] =
        {.kind = YK_FINDING_EMITTER_SHORTFALL,
         .name = "emitter_shortfall",
         .meaning = "An emitter could not place all particles that were due.",
         .quantity = "particles not placed",
         .scale = "particles due",
         .warning = 0.01,
         .serious = NAN,
         .severity = YK_SERIOUS_NEVER,
         .reason = "",
         .words = {{YK_CAUSE_REGION_FULL,
                    "Emitter of '{subsystem}' is {value%} % short: its region was full. Make the "
                    "region larger or the rate smaller"},
                   {YK_CAUSE_CAPACITY_REACHED,
                    "Emitter of '{subsystem}' is {value%} % short: all of its particles are in "
                    "use. Raise its capacity, or let sinks remove particles"}}},
    [YK_FINDING_WIRE_LOOP] =
        {.kind = YK_FINDING_WIRE_LOOP,
         .name = "wire_loop",
         .meaning = "The scheme cannot solve an algebraic loop of wires, so its signals lag by a "
                    "macro step.",
         .quantity = "loop gain",
         .scale = "",
         .warning = NAN,
         .serious = 1,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .reason = "A lagging loop is a fixed-point iteration, which diverges from a gain of 1 "
                   "on. It is also serious if the signals change by more than 10 % per step.",
         .words = {{YK_CAUSE_DEFAULT,
                    "The wires {detail} form an algebraic loop that this scheme cannot solve. Its "
                    "signals lag by a macro step, and grow without bound if the loop gain is 1 or "
                    "more"},
                   {YK_CAUSE_LOOP_GROWS,
                    "The wires {detail} form an algebraic loop that this scheme cannot solve. Its "
                    "signals lag by a macro step and grow without bound, since the loop gain is "
                    "{value}"},
                   {YK_CAUSE_LOOP_CONVERGES,
                    "The wires {detail} form an algebraic loop that this scheme cannot solve. Its "
                    "signals lag by a macro step and converge, since the loop gain is {value}"},
                   {YK_CAUSE_LOOP_COUPLED,
                    "The wires {detail} form an algebraic loop through a subsystem with "
                    "interfaces, which this scheme cannot solve. Its signals lag by a macro step, "
                    "and the interfaces may amplify the lag also at this loop gain of {value}"}}},
    [YK_FINDING_ESTIMATED_ERROR] =
        {.kind = YK_FINDING_ESTIMATED_ERROR,
         .name = "estimated_error",
         .meaning = "The same scenario with other steps gives another result.",
         .quantity = "estimated error of the worst channel",
         .scale = "range of the channel",
         .warning = NAN,
         .serious = 0.1,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .reason = "The user sets the threshold with `--error-tolerance`. If contact makes single "
                   "trajectories unpredictable, the means and rms of the channels and the "
                   "dissipated energy are compared instead.",
         .words =
             {{YK_CAUSE_DEFAULT,
               "The estimated error is {value%} % of the range of {detail}, above {limit%} % "
               "from t = {time@} s on. The step of {step} s is too large"},
              {YK_CAUSE_UNPREDICTABLE,
               "Beyond t = {time@} s, runs with other steps differ by {value%} % of the range of "
               "{detail}. The step of {step} s is far too large, or the motion is chaotic"},
              {YK_CAUSE_UNBOUNDED, "The error is {detail}"},
              {YK_CAUSE_STATISTICS,
               "The mean or rms of {detail} changes by {value%} % of its range with other steps, "
               "more than {limit%} %. The step of {step} s is too large, or the run is too short "
               "for its statistics"},
              {YK_CAUSE_DISSIPATION,
               "The dissipated energy changes by {value%} % with other steps, more than {limit%} "
               "%. The step of {step} s is too large, or the run is too short for its "
               "statistics"}}},
    [YK_FINDING_INCONSISTENT_MOTION] =
        {.kind = YK_FINDING_INCONSISTENT_MOTION,
         .name = "inconsistent_motion",
         .meaning = "The position of a subsystem at an interface does not follow its velocity.",
         .quantity = "displacement minus integral of the velocity",
         .scale = "travel of the port",
         .warning = 0.1,
         .serious = 0.3,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .reason = "The coupling relies on both. A wrong unit or a constant output makes 100 %; "
                   "macro steps that do not resolve an oscillation make a few percent.",
         .words =
             {{YK_CAUSE_DEFAULT,
               "The positions of '{subsystem}' at interface '{interface}' do not follow its "
               "velocities. They differ by {gap} m ({value%} % of its travel). Check units and "
               "outputs of the subsystem"}}},
    [YK_FINDING_INCONSISTENT_START] =
        {.kind = YK_FINDING_INCONSISTENT_START,
         .name = "inconsistent_start",
         .meaning = "The sides of an interface start with different velocities, and the scheme "
                    "moves one side like the other without an impact.",
         .quantity = "difference of the start velocities, by the share of the motion side in the "
                     "mass",
         .scale = "speed of the interface",
         .warning = 0.01,
         .serious = 0.1,
         .severity = YK_SERIOUS_ABOVE_THRESHOLD,
         .reason = "Momentum is not conserved at the start: the velocity after it is wrong by the "
                   "value.",
         .words = {{YK_CAUSE_DEFAULT,
                    "The sides of interface '{interface}' start with velocities that differ by "
                    "{gap} m/s. The scheme moves '{motion_side}' like '{wrench_side}' without an "
                    "impact, so that the velocity is wrong by up to {value%} %. Give both sides "
                    "the same velocity at the start"},
                   {YK_CAUSE_ROTATION,
                    "The sides of interface '{interface}' start with angular velocities that "
                    "differ by {gap} rad/s. The scheme moves '{motion_side}' like '{wrench_side}' "
                    "without an impact, so that the angular velocity is wrong by up to {value%} %. "
                    "Give both sides the same angular velocity at the start"}}},
};

static_assert(sizeof rules / sizeof *rules == YK_FINDING_COUNT, "a finding has no rule");

const yk_finding_rule *yk_finding_rule_of(yk_finding_kind kind)
{
    assert(kind >= 0 && kind < YK_FINDING_COUNT);
    return &rules[kind];
}

const char *yk_finding_kind_name(yk_finding_kind kind)
{
    if (kind < 0 || kind >= YK_FINDING_COUNT)
        return NULL;
    return rules[kind].name;
}

/* Words ---------------------------------------------------------------------------------------- */

double yk_finding_figure(const yk_finding *finding, const char *name)
{
    if (strcmp(name, "value") == 0)
        return finding->value;
    if (strcmp(name, "limit") == 0)
        return finding->limit;
    if (strcmp(name, "time") == 0)
        return finding->time;
    for (int i = 0; i < YK_FINDING_NUMBERS_MAX && finding->figures[i].name; i++)
        if (strcmp(finding->figures[i].name, name) == 0)
            return finding->figures[i].value;
    return NAN;
}

/* The text that a name in braces stands for, without numbers; NULL if it is a figure. */
static const char *text_of(const yk_scenario_info *info, const yk_finding *f, const char *name)
{
    const yk_interface_def *interface = NULL;
    if (f->interface_index.index >= 0)
        interface = &info->interfaces[f->interface_index.index];
    if (strcmp(name, "detail") == 0)
        return f->detail;
    if (strcmp(name, "subsystem") == 0)
        return f->subsystem.index >= 0 ? info->subsystem_names[f->subsystem.index] : "";
    if (strcmp(name, "from") == 0)
        return info->scheme.ops->name;
    if (strcmp(name, "to") == 0)
        return info->on_failure.fallback_scheme.ops ? info->on_failure.fallback_scheme.ops->name
                                                    : "";
    if (!interface)
        return NULL;
    if (strcmp(name, "interface") == 0)
        return interface->name;
    if (strcmp(name, "wrench_side") == 0)
        return info->subsystem_names[interface->wrench_subsystem.index];
    if (strcmp(name, "motion_side") == 0)
        return info->subsystem_names[interface->motion_subsystem.index];
    return NULL;
}

static void format_figure(double value, char style, char *text, size_t size)
{
    if (style == '%')
        yk_format(text, size, "%.3g", 100 * value);
    else if (style == '#')
        yk_format(text, size, "%.0f", value);
    else if (style == '@')
        yk_format(text, size, "%.6g", value);
    else
        yk_format(text, size, "%.3g", value);
}

/* "; 2 other interfaces are affected" */
static void format_others(double count, char *text, size_t size)
{
    *text = '\0';
    if (count >= 1)
        snprintf(text, size, ". %.0f other interface%s affected", count,
                 count > 1 ? "s are" : " is");
}

void yk_finding_describe(const yk_scenario_info *info, yk_finding *finding)
{
    const yk_finding_rule *rule = yk_finding_rule_of(finding->kind);
    const char *template = rule->words[0].text;
    for (int i = 0; i < YK_FINDING_WORDS_MAX && rule->words[i].text; i++)
        if (rule->words[i].cause == finding->cause)
            template = rule->words[i].text;

    size_t used = 0;
    finding->message[0] = '\0';
    for (const char *c = template; *c && used + 1 < sizeof finding->message;) {
        if (*c != '{') {
            finding->message[used++] = *c++;
            finding->message[used] = '\0';
            continue;
        }

        char name[32];
        size_t length = strcspn(c, "}") - 1;
        snprintf(name, sizeof name, "%.*s", (int)length, c + 1);
        c += length + 2;
        char style = '\0';
        if (length > 0 && strchr("%#@", name[length - 1])) {
            style = name[length - 1];
            name[length - 1] = '\0';
        }

        char figure[64];
        const char *text = text_of(info, finding, name);
        if (!text && strcmp(name, "others") == 0)
            format_others(yk_finding_figure(finding, name), figure, sizeof figure);
        else if (!text)
            format_figure(yk_finding_figure(finding, name), style, figure, sizeof figure);
        snprintf(finding->message + used, sizeof finding->message - used, "%.400s",
                 text ? text : figure);
        used += strlen(finding->message + used);
    }
}

/* Documentation -------------------------------------------------------------------------------- */

static void add_threshold(yk_context *context, yk_text *text, double value)
{
    if (isnan(value))
        yk_text_add(context, text, "| ");
    else
        yk_text_add(context, text, "| %.3g %% ", 100 * value);
}

char *yk_finding_rules_markdown(yk_context *context)
{
    static const char *const severities[] = {
        [YK_SERIOUS_ALWAYS] = "| always ",
        [YK_SERIOUS_NEVER] = "| never ",
        [YK_SERIOUS_IF_RUN_IS_WRONG] = "| if the run has another serious finding ",
    };

    yk_text text = {0};
    yk_text_add(context, &text,
                "| Finding | Meaning | Quantity | Relative to | Warning above | Serious above |\n"
                "|---|---|---|---|---|---|\n");
    for (int i = 0; i < YK_FINDING_COUNT; i++) {
        const yk_finding_rule *rule = &rules[i];
        yk_text_add(context, &text, "| `%s` | %s%s%s | %s | %s ", rule->name, rule->meaning,
                    *rule->reason ? " " : "", rule->reason, rule->quantity, rule->scale);
        add_threshold(context, &text, rule->warning);
        if (rule->severity == YK_SERIOUS_ABOVE_THRESHOLD)
            add_threshold(context, &text, rule->serious);
        else
            yk_text_add(context, &text, "%s", severities[rule->severity]);
        yk_text_add(context, &text, "|\n");
    }

    if (text.failed) {
        yk_text_destroy(context, &text);
        return NULL;
    }
    return text.data;
}
