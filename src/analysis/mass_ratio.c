/* Limits of a coupling scheme at an interface, independent of the motion: mass ratios and algebraic
 * loops.
 *
 * A force-motion exchange multiplies errors by the mass ratio of both sides. The largest stable
 * ratio depends on the scheme and on the integrators of both sides. Both numbers are found by
 * trials: the ratio with the system itself (yk_system_probe_interfaces()), the limit with two free
 * masses in subsystems of the same kinds and integrators, coupled by the same scheme
 * (yk_surrogate_create()). */
#include <math.h>
#include <stdio.h>

#include "analysis/finding_rules.h"
#include "analysis/remedies.h"
#include "analysis/run.h"
#include "base/context.h"
#include "coupling/system_arrays.h"

/* Number of bisections (on a logarithmic scale) for a limit, and smallest ratio considered. */
enum { BISECTIONS = 14 };
static const double LEAST_RATIO = 1e-4;
/* Number of smaller steps that are tried, and factor between them. */
enum { REFINEMENTS = 4 };
static const double REFINEMENT = 4;
/* Growth of the ratio with a smaller step that shows a side without mass. */
static const double AT_ONCE = 2;

typedef struct search {
    yk_context *context;
    yk_system *system;
    const yk_scenario_info *info;
    /* at the step of the scenario, then at smaller ones: (1 + REFINEMENTS) x interfaces */
    yk_interface_masses *probes;
} search;

static const yk_interface_masses *probe_at(const search *s, int refinement, int i)
{
    return &s->probes[refinement * s->info->interface_count + i];
}

static yk_status probe_steps(const search *s, int refinement)
{
    double step = s->info->step / pow(REFINEMENT, refinement);
    return yk_system_probe_interfaces(s->system, step,
                                      &s->probes[refinement * s->info->interface_count]);
}

static bool iterates(const search *s)
{
    return yk_scheme_traits(&s->info->scheme) & YK_SCHEME_ITERATES;
}

/* Behavior of the scheme at this mass ratio, for the kinds of both sides. If these cannot create
 * free masses, assume that an exchange without iteration, or a plain iteration, is stable for
 * ratios up to 1. */
static yk_status try_ratio(const search *s, int i, double ratio, yk_surrogate_fate *fate)
{
    /* The kinds of both sides, and of their ports. */
    const yk_interface_def *interface = &s->info->interfaces[i];
    const int sides[2] = {interface->wrench_subsystem.index, interface->motion_subsystem.index};
    const yk_port *ports;
    yk_subsystem *part = s->info->subsystems[interface->wrench_subsystem.index];
    part->ops->ports(part, &ports);
    yk_port_kind kind = ports[interface->wrench_port.index].kind;

    /* Two free masses of this ratio, coupled like the interface. */
    yk_surrogate pair;
    yk_quiet_begin(s->context);
    yk_status status = yk_surrogate_create(s->system, sides, kind, s->info->step, ratio, &pair);
    if (status == YK_OK)
        status = yk_surrogate_try(s->context, &pair, fate);
    yk_surrogate_destroy(&pair);
    yk_quiet_end(s->context);
    if (status == YK_OK || status == YK_ERROR_MEMORY)
        return status;

    /* Their kinds cannot create free masses. */
    bool accelerated = yk_scheme_traits(&s->info->scheme) & YK_SCHEME_ACCELERATES;
    *fate = YK_SURROGATE_STABLE;
    if (!accelerated && ratio >= 1 && iterates(s))
        *fate = YK_SURROGATE_NOT_CONVERGED;
    else if (!accelerated && ratio >= 1)
        *fate = YK_SURROGATE_UNSTABLE;

    return YK_OK;
}

/* The largest stable ratio, by bisection below an unstable one. */
static yk_status find_limit(const search *s, int i, double unstable, double *limit)
{
    *limit = 0;
    double low = LEAST_RATIO;
    double high = unstable;
    yk_surrogate_fate fate = YK_SURROGATE_UNSTABLE;
    yk_status status = try_ratio(s, i, low, &fate);
    if (YK_FAILED(status) || fate != YK_SURROGATE_STABLE)
        return status;

    /* Intervals of ratios are halved on a logarithmic scale. */
    for (int k = 0; status == YK_OK && k < BISECTIONS && high > 1.005 * low; k++) {
        double middle = sqrt(low * high);
        status = try_ratio(s, i, middle, &fate);
        if (fate == YK_SURROGATE_STABLE)
            low = middle;
        else
            high = middle;
    }

    *limit = low;

    return status;
}

/* Dependence of the ratio on the step: masses are constant; the contribution of springs and dampers
 * to the motion side decreases; for a wrench side without mass the ratio grows without limit. */
enum { TREND_MASSES, TREND_SPRINGS, TREND_LOOP };

static yk_status find_trend(const search *s, int i, double limit, int *found)
{
    /* At decreasing steps. */
    double before = probe_at(s, 0, i)->mass_ratio;
    bool grows = true;
    *found = TREND_MASSES;

    for (int k = 1; k <= REFINEMENTS; k++) {
        yk_status status = probe_steps(s, k);
        if (YK_FAILED(status))
            return status;

        double ratio = probe_at(s, k, i)->mass_ratio;
        if (!isfinite(ratio))
            return YK_OK;
        if (ratio <= limit) {
            *found = TREND_SPRINGS;
            return YK_OK;
        }

        if (!(ratio > AT_ONCE * before))
            grows = false;
        before = ratio;
    }

    if (grows)
        *found = TREND_LOOP;

    return YK_OK;
}

/* Remedies by another scheme, for masses and for loops. */
static void offer_schemes(const search *s, yk_finding *f)
{
    yk_choice choices[YK_CHOICES_MAX];
    bool accelerated = yk_scheme_traits(&s->info->scheme) & YK_SCHEME_ACCELERATES;
    if (!accelerated && yk_choices(YK_VARIANT_ANY_MASS_RATIO, choices) > 0)
        yk_finding_choice(f, &choices[0], s->info);

    /* Wrenches on both sides of every interface. */
    const yk_scheme_ops *both = yk_scheme_with(YK_SCHEME_IS_FORCE_FORCE);
    if (both && yk_scheme_fits(both, s->info))
        yk_finding_scheme(f, both);
}

static void add_finding(const search *s, int i, double limit, yk_surrogate_fate fate, int trend,
                        int others, yk_run_report *report)
{
    static const char *const axes[] = {"x", "y", "z", "rx", "ry", "rz"};
    const yk_interface_masses *p = probe_at(s, 0, i);
    const yk_interface_def *interface = &s->info->interfaces[i];
    bool diverges = fate == YK_SURROGATE_NOT_CONVERGED;
    yk_finding f =
        yk_finding_of(YK_FINDING_MASS_RATIO, diverges ? YK_CAUSE_NO_CONVERGENCE : YK_CAUSE_UNSTABLE,
                      p->mass_ratio);
    f.interface_index = (yk_interface_id){i};
    f.limit = limit;
    snprintf(f.detail, sizeof f.detail, "%s", axes[p->axis]);
    yk_finding_set(&f, "others", others);

    if (trend == TREND_LOOP) {
        f.kind = YK_FINDING_ALGEBRAIC_LOOP;
        offer_schemes(s, &f);
        yk_finding_add(report, &f);
        return;
    }

    yk_finding_set(&f, "motion_mass", p->motion_mass);
    yk_finding_set(&f, "wrench_mass", p->wrench_mass);

    /* The step does not resolve the springs, which no scheme can compensate. */
    if (trend == TREND_SPRINGS) {
        f.cause = diverges ? YK_CAUSE_NO_CONVERGENCE_SPRINGS : YK_CAUSE_UNSTABLE_SPRINGS;
        yk_finding_search(&f, YK_REMEDY_RUN_ADVISE);
        yk_finding_add(report, &f);
        return;
    }

    /* One wrench on both sides instead of motion and wrench: works for any masses, without
     * iterations. */
    const yk_subsystem_ops *a = s->info->subsystems[interface->wrench_subsystem.index]->ops;
    const yk_subsystem *second = s->info->subsystems[interface->motion_subsystem.index];
    const yk_subsystem_ops *b = second->ops;
    const yk_port *ports;
    b->ports(second, &ports);
    bool both_take =
        ports[interface->motion_port.index].allowed_causalities & YK_CAUSALITY_WRENCH_INPUT;
    bool a_predicts = a->step_model || a->interface_model;
    bool b_predicts = b->step_model || b->interface_model;
    if (fate != YK_SURROGATE_NOT_CONVERGED && !iterates(s) && both_take) {
        bool balances = yk_scheme_traits(&s->info->scheme) & YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE;
        yk_changes changes = {0};
        if (!balances && a->step_model && b->step_model)
            yk_changes_add(&changes, "coupling.exchange=auto");
        else if (a_predicts && b_predicts)
            yk_changes_add(&changes, "coupling.exchange=force-force");
        if (changes.count > 0)
            yk_finding_change(&f, &changes);
    }

    offer_schemes(s, &f);
    yk_finding_add(report, &f);
}

/* Loops over wires that the scheme cannot solve. A loop that lags by a macro step is a fixed-point
 * iteration, which diverges if the loop gain is 1 or more. A wire with `sample_and_hold` makes the
 * lag part of the model, which helps only if the gain is less. The gain is that of one step with
 * given interface wrenches. If these follow the lagging signals, a smaller gain may diverge too. */
static void report_wire_loops(yk_system *system, const yk_scenario_info *info,
                              yk_run_report *report)
{
    for (int i = 0; i < yk_system_loop_count(system); i++) {
        yk_algebraic_loop loop = yk_system_loop(system, i);
        if (loop.solved)
            continue;

        double gain = yk_system_loop_gain(system, i, info->step);
        bool grows = gain >= 1;
        yk_finding_cause cause = YK_CAUSE_DEFAULT;
        if (grows)
            cause = YK_CAUSE_LOOP_GROWS;
        else if (!isnan(gain))
            cause = loop.coupled ? YK_CAUSE_LOOP_COUPLED : YK_CAUSE_LOOP_CONVERGES;
        yk_finding f = yk_finding_of(YK_FINDING_WIRE_LOOP, cause, gain);
        f.severity = grows ? YK_FINDING_SEVERITY_SERIOUS : YK_FINDING_SEVERITY_WARNING;
        snprintf(f.detail, sizeof f.detail, "%s", loop.text);

        yk_choice choices[YK_CHOICES_MAX];
        if (yk_choices(YK_VARIANT_ANY_MASS_RATIO, choices) > 0 &&
            yk_scheme_fits(choices[0].scheme, info))
            yk_finding_choice(&f, &choices[0], info);

        /* A delay is a remedy only for a loop that tolerates it. */
        yk_changes changes = {0};
        yk_changes_add(&changes, "wires.%.120s.sample_and_hold=true",
                       info->wires[loop.wire.index].name);
        if (!grows && !loop.coupled)
            yk_finding_change(&f, &changes);
        yk_finding_add(report, &f);
    }
}

yk_status yk_limits_find(yk_context *context, yk_system *system, const yk_scenario_info *info,
                         yk_run_report *report, yk_interface_masses *probes)
{
    /* Quantities that cannot be measured are unknown. */
    static const yk_interface_masses unknown = {.axis = -1, NAN, NAN, NAN};
    report->mass_ratio = NAN;
    for (int i = 0; probes && i < info->interface_count; i++)
        probes[i] = unknown;

    report_wire_loops(system, info, report);
    for (int i = 0; i < report->finding_count; i++)
        yk_finding_describe(info, &report->findings[i]);
    unsigned traits = yk_scheme_traits(&info->scheme);
    if (info->interface_count == 0 || traits & YK_SCHEME_MERGES)
        return YK_OK;

    /* Probes at the step of the scenario, and at smaller ones. */
    size_t capacity = (1 + REFINEMENTS) * (size_t)info->interface_count;
    search s = {context, system, info, yk_allocate(context, capacity, sizeof *s.probes)};
    if (!s.probes)
        return YK_ERROR_MEMORY;

    /* The masses at each interface. Only an exchange of motion and wrench has limits. */
    yk_status status = probe_steps(&s, 0);
    for (int i = 0; probes && i < info->interface_count; i++)
        probes[i] = *probe_at(&s, 0, i);

    /* The interface that exceeds its limit most. */
    bool exchanges = traits & YK_SCHEME_EXCHANGES_MOTION;
    int worst = -1;
    int others = -1;
    double worst_limit = 0;
    double excess = 0;
    yk_surrogate_fate worst_fate = YK_SURROGATE_STABLE;

    for (int i = 0; status == YK_OK && exchanges && i < info->interface_count; i++) {
        const yk_interface_masses *p = probe_at(&s, 0, i);
        if (p->axis < 0 || !(p->mass_ratio > LEAST_RATIO))
            continue;
        if (!(p->mass_ratio <= report->mass_ratio))
            report->mass_ratio = p->mass_ratio;

        yk_surrogate_fate fate;
        status = try_ratio(&s, i, p->mass_ratio, &fate);
        if (status != YK_OK || fate == YK_SURROGATE_STABLE)
            continue;

        double limit;
        others++;
        status = find_limit(&s, i, p->mass_ratio, &limit);
        if (status != YK_OK || (worst >= 0 && !(p->mass_ratio > excess * limit)))
            continue;

        worst = i;
        worst_limit = limit;
        worst_fate = fate;
        excess = INFINITY;
        if (limit > 0)
            excess = p->mass_ratio / limit;
    }

    /* The cause, for suitable remedies. */
    int trend = TREND_MASSES;
    if (status == YK_OK && worst >= 0)
        status = find_trend(&s, worst, worst_limit, &trend);
    if (status == YK_OK && worst >= 0)
        add_finding(&s, worst, worst_limit, worst_fate, trend, others, report);
    for (int i = 0; i < report->finding_count; i++)
        yk_finding_describe(info, &report->findings[i]);

    yk_free(context, s.probes);
    return status;
}

yk_status yk_check_coupling_limits(yk_context *context, yk_scenario *scenario,
                                   yk_run_report *report)
{
    if (!scenario || !report)
        return yk_refuse_null(context, __func__, scenario ? "report" : "scenario");
    *report = (yk_run_report){.mass_ratio = NAN};
    yk_system *system;
    yk_status status = yk_scenario_system(scenario, &system);
    if (YK_FAILED(status))
        return status;
    if (!yk_system_has_started(system, __func__))
        return YK_ERROR_ARGUMENT;

    return yk_limits_find(context, system, yk_scenario_get_info(scenario), report, NULL);
}

yk_status yk_limits_ratio(yk_context *context, yk_system *system, const yk_scenario_info *info,
                          int interface, double *limit)
{
    *limit = NAN;
    unsigned traits = yk_scheme_traits(&info->scheme);
    if (traits & YK_SCHEME_MERGES || !(traits & YK_SCHEME_EXCHANGES_MOTION))
        return YK_OK;

    /* A scheme that is stable for the largest tested ratio has no relevant limit. */
    search s = {context, system, info, NULL};
    yk_surrogate_fate fate;
    yk_status status = try_ratio(&s, interface, YK_RATIO_MOST, &fate);
    if (YK_FAILED(status))
        return status;

    *limit = YK_RATIO_MOST;
    if (fate != YK_SURROGATE_STABLE)
        status = find_limit(&s, interface, YK_RATIO_MOST, limit);
    return status;
}
