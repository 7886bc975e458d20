#include "analysis/run.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/remedies.h"
#include "base/restored.h"
#include "base/text.h"
#include "math/vec3.h"
#include "yoke/nonsmooth.h"

/* Energy that nobody fed in, as a fraction of the energy at the start and fed in: in a motion
 * that is 3 % off it is about 6 %. Beyond the first it is worth a word, beyond the second the run
 * is wrong. Impacts between two sides, and inputs that damp what they cannot resolve, lose some
 * in runs that are good. */
static const double MADE_NOTABLE = 0.02;
static const double MADE_SERIOUS = 0.05;
static const double LOST_SERIOUS = 0.15;
/* Impacts and friction are known no better than the wrenches that cause them: energy made, by
 * that dissipated, that may be an error of these alone. */
static const double DISSIPATION = 0.1;
/* Where more was made than there is, the run grows by itself. */
static const double UNSTABLE = 1;
/* Velocity gap by the velocity of the interface, both over the run. */
static const double GAP_NOTABLE = 0.05;
static const double LAG_SERIOUS = 0.1; /* RMS change per step of the signal of a loop, by its RMS */
static const double GAP_SERIOUS = 0.2;
/* An interface that moves less than this, by the speed that the energy of the system or its own
 * force could give it, is at rest. */
static const double AT_REST = 1e-3;
/* Times the rounding of positions. */
static const double ROUNDING = 1e4;
/* Impulse that iterations left over, by the impulse of the interface; of relaxed, sum of the
 * velocities that sweeps left, by the typical velocity. */
static const double RESIDUAL_NOTABLE = 1e-4;
static const double RESIDUAL_SERIOUS = 0.02;
/* Tolerance of the iterations, by the mean wrench of an interface, that lets them end before they
 * have begun. */
static const double LOOSE_TOLERANCE = 0.01;
/* Growth of the largest gap from a quarter to half and from there to the whole run that is a
 * drift; and the gap, by the travel of the interface (or in rad), below which it does not matter;
 * gaps of rounding (m, rad) never do. */
static const double DRIFT = 1.7;
static const double NOTABLE_GAP = 1e-5;
static const double ROUNDING_GAP = 1e-12;
/* Fraction of steps whose contact problem was left with more than the step resolves, and the
 * largest of these residuals by that speed: beyond the first a word, beyond both a wrong run. A
 * few steps with an impact that is solved badly do no lasting harm: particle dampers that agree
 * with other programs miss by 22 times in a tenth of their steps, a stack that falls by more, in
 * most of them. */
static const double UNRESOLVED_NOTABLE = 1e-3;
/* Of the particles that were due from an emitter. */
static const double SHORTFALL_NOTABLE = 0.01;
static const double UNRESOLVED_SERIOUS = 0.25;
static const double RATIO_SERIOUS = 30;
/* Contacts up to which the accurate method is proposed; its cost grows with their square. */
static const double ACCURATE_CONTACTS = 1000;

static const yk_port_value *wrench_side(const yk_watch *watch, int i)
{
    const yk_interface_def *interface = &watch->info->interfaces[i];
    return yk_system_port_value(watch->system, interface->wrench_subsystem, interface->wrench_port);
}

/* Of two figures that may have overflowed: what is no number any more counts as infinitely much. */
static double fraction_of(double part, double whole)
{
    double fraction = part / whole;
    return isfinite(part) && isfinite(whole) && !isnan(fraction) ? fraction : INFINITY;
}

static bool has_trait(const yk_watch *watch, unsigned trait)
{
    return yk_scheme_traits(&watch->info->scheme) & trait;
}

/* What iterations leave of a wrench (N or N m, and relative); 0 where nothing is iterated. */
static void tolerances_of(const yk_watch *watch, double *absolute, double *relative)
{
    *absolute = 0;
    *relative = 0;
    const yk_scheme_def *scheme = &watch->info->scheme;
    if (has_trait(watch, YK_SCHEME_ITERATES) && scheme->ops->tolerances)
        scheme->ops->tolerances(scheme->options, absolute, relative);
}

/* While the run goes --------------------------------------------------------------------------- */

yk_status yk_watch_open(yk_context *context, yk_system *system, const yk_scenario_info *info,
                        yk_watch *watch)
{
    *watch = (yk_watch){.context = context, .system = system, .info = info};
    yk_budget_open(&watch->budget, system, info);

    /* A merged system has no interfaces that could be watched. */
    bool merges = has_trait(watch, YK_SCHEME_MERGES);
    int loops = yk_system_loop_count(system);
    if ((info->interface_count == 0 || merges) && loops == 0)
        return YK_OK;

    size_t count = (size_t)info->interface_count;
    watch->interfaces = yk_allocate(context, count, sizeof *watch->interfaces);
    watch->loops = yk_allocate(context, (size_t)loops, sizeof *watch->loops);
    watch->limits = yk_allocate(context, 1, sizeof *watch->limits);

    /* Masses and loops, before anything has moved. */
    yk_interface_masses *probes = yk_allocate(context, count, sizeof *probes);
    yk_status status = YK_OK;
    if (!watch->interfaces || !watch->loops || !watch->limits || !probes) {
        status = YK_ERROR_MEMORY;
    } else {
        watch->count = merges ? 0 : info->interface_count;
        watch->loop_count = loops;
    }

    for (int i = 0; i < watch->loop_count; i++)
        watch->loops[i].last = yk_system_wire_value(system, yk_system_loop(system, i).wire);
    if (status == YK_OK)
        status = yk_limits_find(context, system, info, watch->limits, probes);

    for (int i = 0; status == YK_OK && i < watch->count; i++) {
        yk_watched *w = &watch->interfaces[i];
        w->origin = wrench_side(watch, i)->motion.position;
        w->probe = probes[i];
        tolerances_of(watch, &w->ripple.resolved, &w->ripple.relative);
    }

    yk_free(context, probes);
    return status;
}

void yk_watch_close(yk_watch *watch)
{
    yk_free(watch->context, watch->interfaces);
    yk_free(watch->context, watch->loops);
    yk_free(watch->context, watch->limits);
}

/* The interface that made most energy; -1: there is none. */
static int find_maker(const yk_watch *watch)
{
    int worst = -1;
    double most = -INFINITY;
    for (int i = 0; i < watch->count; i++) {
        double made = yk_system_interface_statistics(watch->system, i).energy_created;
        if (made > most || isnan(made)) {
            most = made;
            worst = i;
        }
    }

    return worst;
}

yk_status yk_watch_step(yk_watch *watch, int64_t step)
{
    /* Energies are summed over all subsystems, which is not done in every step. */
    bool look = step >= watch->budget.next;
    if (look) {
        yk_budget_step(&watch->budget, step);
        watch->looks++;
    }

    for (int i = 0; i < watch->loop_count; i++) {
        yk_watched_loop *loop = &watch->loops[i];
        double now = yk_system_wire_value(watch->system, yk_system_loop(watch->system, i).wire);
        loop->change_squares += (now - loop->last) * (now - loop->last);
        loop->squares += now * now;
        loop->last = now;
    }

    int64_t quarter = watch->info->step_count / 4;
    int64_t half = watch->info->step_count / 2;

    for (int i = 0; i < watch->count; i++) {
        yk_watched *w = &watch->interfaces[i];

        /* The wrench of every step, as far as the ripple needs it. */
        if (yk_ripple_counts(&w->ripple)) {
            const yk_interface_def *def = &watch->info->interfaces[i];
            const yk_port_value *value =
                yk_system_port_value(watch->system, def->motion_subsystem, def->motion_port);
            yk_ripple_add(&w->ripple, &value->wrench, yk_system_time(watch->system));
        }

        /* Gaps and motions now and then. */
        if (look) {
            const yk_motion *a = &wrench_side(watch, i)->motion;
            yk_interface_gap gap = yk_system_interface_gap(watch->system, i);
            w->travel = fmax(w->travel, yk_v3_norm(yk_v3_sub(a->position, w->origin)));
            w->gap_squares += gap.velocity * gap.velocity;
            w->speed_squares += yk_v3_norm2(a->velocity);
            w->spin_gap_squares += gap.angular_velocity * gap.angular_velocity;
            w->spin_squares += yk_v3_norm2(a->angular_velocity);
        }

        /* Drift shows in the largest gaps of growing parts of the run. */
        if (step == quarter) {
            w->quarter = yk_system_interface_statistics(watch->system, i).max_gap;
            w->quarter_travel = w->travel;
        }

        if (step == half) {
            w->half = yk_system_interface_statistics(watch->system, i).max_gap;
            w->half_travel = w->travel;
        }
    }

    if (!look || !yk_budget_exploded(&watch->budget))
        return YK_OK;

    /* Nothing after this step can be right: when and where it began. */
    const yk_scenario_info *info = watch->info;
    int worst = find_maker(watch);
    char where[256] = "";
    if (worst >= 0) {
        const yk_interface_def *interface = &info->interfaces[worst];
        snprintf(where, sizeof where,
                 ", most of it made at interface '%.60s' between '%.60s' and '%.60s'",
                 interface->name, info->subsystem_names[interface->wrench_subsystem],
                 info->subsystem_names[interface->motion_subsystem]);
    }

    yk_status status = YK_ERROR_DIVERGED;
    const char *size = "a million times";
    if (watch->budget.not_finite) {
        status = YK_ERROR_NOT_FINITE;
        size = "infinitely many times";
    }

    /* An exchange of motions for wrenches, all that most FMUs allow, is unstable with a heavy motion
     * side. Schemes that repeat steps are not, if all subsystems can return to earlier states. */
    char remedy[100] = "";
    const yk_scheme_ops *other = yk_scheme_with(YK_SCHEME_IS_FORCE_FORCE);
    yk_choice choices[YK_CHOICES_MAX];
    if (!other || !yk_scheme_fits(other, info))
        other = yk_choices(YK_VARIANT_ANY_MASS_RATIO, choices) > 0 ? choices[0].scheme : NULL;
    bool exchanges = has_trait(watch, YK_SCHEME_EXCHANGES_MOTION) ||
                     has_trait(watch, YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE);
    if (worst >= 0 && exchanges && other && other != info->scheme.ops &&
        yk_scheme_fits(other, info))
        snprintf(remedy, sizeof remedy, "; use coupling.scheme %.40s", other->name);

    return yk_fail(watch->context, status,
                   "the run explodes: at t = %g s (step %lld of %lld) its energy is %s what there "
                   "was and was fed in (%.3g J)%s%s",
                   yk_system_time(watch->system), (long long)step, (long long)info->step_count,
                   size, watch->budget.sound, where, remedy);
}

bool yk_watch_runs_away(const yk_watch *watch, char *reason, size_t capacity)
{
    const yk_scenario_info *info = watch->info;
    double t = yk_system_time(watch->system);

    /* A swing that has grown for some windows is no accident, however small it still is. */
    for (int i = 0; i < watch->count; i++) {
        const yk_ripple *r = &watch->interfaces[i].ripple;
        if (r->longest < YK_RIPPLE_ALARM)
            continue;

        yk_format(
            reason, capacity,
            "at t = %g s the wrench of interface '%.60s' swings from step to step, and grows by "
            "%.3g per step",
            t, info->interfaces[i].name, r->growth);
        return true;
    }

    if (!yk_budget_runs_away(&watch->budget))
        return false;

    int maker = find_maker(watch);
    const char *name = "";
    if (maker >= 0)
        name = info->interfaces[maker].name;
    yk_format(
        reason, capacity,
        "at t = %g s the energy grows beyond what there was and was fed in, most at interface "
        "'%.60s'",
        t, name);
    return true;
}

/* Checkpoints ---------------------------------------------------------------------------------- */

enum {
    BUDGET_WORDS = (sizeof(yk_budget) + sizeof(double) - 1) / sizeof(double),
    WATCHED_WORDS = (sizeof(yk_watched) + sizeof(double) - 1) / sizeof(double),
    LOOP_WORDS = sizeof(yk_watched_loop) / sizeof(double),
};

size_t yk_watch_words(const yk_watch *watch)
{
    return 1 + BUDGET_WORDS + (size_t)watch->count * WATCHED_WORDS +
           (size_t)watch->loop_count * LOOP_WORDS;
}

void yk_watch_save(const yk_watch *watch, double *words)
{
    memset(words, 0, yk_watch_words(watch) * sizeof *words);
    memcpy(words, &watch->looks, sizeof watch->looks);

    /* Without the pointers, which another process has its own of. */
    yk_budget budget = watch->budget;
    budget.system = NULL;
    budget.info = NULL;
    memcpy(words + 1, &budget, sizeof budget);
    words += 1 + BUDGET_WORDS;
    for (int i = 0; i < watch->count; i++)
        memcpy(words + (size_t)i * WATCHED_WORDS, &watch->interfaces[i], sizeof(yk_watched));
    words += (size_t)watch->count * WATCHED_WORDS;
    for (int i = 0; i < watch->loop_count; i++)
        memcpy(words + (size_t)i * LOOP_WORDS, &watch->loops[i], sizeof(yk_watched_loop));
}

yk_status yk_watch_restore(yk_watch *watch, const double *words)
{
    int64_t stride = watch->budget.stride;
    memcpy(&watch->looks, words, sizeof watch->looks);
    memcpy(&watch->budget, words + 1, sizeof watch->budget);
    watch->budget.system = watch->system;
    watch->budget.info = watch->info;
    words += 1 + BUDGET_WORDS;
    bool valid = yk_is_restored_count(watch->looks) && yk_budget_is_valid(&watch->budget, stride);
    for (int i = 0; i < watch->count; i++) {
        yk_watched *w = &watch->interfaces[i];
        memcpy(w, words + (size_t)i * WATCHED_WORDS, sizeof *w);
        valid = valid && yk_ripple_is_valid(&w->ripple) && w->probe.axis >= -1 && w->probe.axis < 6;
    }

    words += (size_t)watch->count * WATCHED_WORDS;
    for (int i = 0; i < watch->loop_count; i++)
        memcpy(&watch->loops[i], words + (size_t)i * LOOP_WORDS, sizeof(yk_watched_loop));

    if (valid)
        return YK_OK;
    return yk_fail(watch->context, YK_ERROR_INPUT, "what the run has seen so far is damaged");
}

/* Remedies ------------------------------------------------------------------------------------- */

/* The interface whose mean wrench (N or N m) is least beside the absolute tolerance of the
 * iterations, so that they end before they have begun; -1 if there is none. */
static int loosely_iterated_interface(const yk_watch *watch, double *wrench)
{
    *wrench = INFINITY;
    double time = yk_system_time(watch->system) - watch->info->start;
    double tolerance;
    double relative;
    tolerances_of(watch, &tolerance, &relative);
    if (!(time > 0))
        return -1;

    /* The smallest mean wrench is the one that suffers most. */
    int worst = -1;
    for (int i = 0; i < watch->count; i++) {
        double mean = yk_system_interface_statistics(watch->system, i).impulse / time;
        bool loose = mean > 0 && tolerance > LOOSE_TOLERANCE * mean;
        if (loose && mean < *wrench) {
            *wrench = mean;
            worst = i;
        }
    }

    return worst;
}

static void add_remedies(const yk_watch *watch, yk_finding *f)
{
    const yk_scenario_info *info = watch->info;

    /* A tolerance that ends the iterations at once explains everything else. */
    double wrench;
    if (loosely_iterated_interface(watch, &wrench) >= 0) {
        yk_changes changes = {0};
        yk_changes_add(&changes, "coupling.tolerance=0");
        yk_changes_add(&changes, "coupling.relative_tolerance=1e-6");
        yk_finding_change(f, &changes);
        return;
    }

    /* One subsystem, or merged ones: only the step is left. */
    if (watch->count == 0) {
        yk_finding_search(f, YK_REMEDY_SMALLER_STEP);
        return;
    }

    /* Wrenches on both sides know neither mass ratios nor substeps; else iterations that converge
     * for all. */
    const yk_scheme_ops *both = yk_scheme_with(YK_SCHEME_IS_FORCE_FORCE);
    if (!has_trait(watch, YK_SCHEME_IS_FORCE_FORCE)) {
        yk_choice choices[YK_CHOICES_MAX];
        if (both && yk_scheme_fits(both, info)) {
            yk_finding_scheme(f, both);
        } else if (!has_trait(watch, YK_SCHEME_ACCELERATES) &&
                   yk_choices(YK_VARIANT_ANY_MASS_RATIO, choices) > 0) {
            yk_finding_choice(f, &choices[0], info);
        }
    }

    yk_finding_search(f, YK_REMEDY_RUN_ADVISE);
}

/* Conclusions ---------------------------------------------------------------------------------- */

/* Iterations that ended too soon, or did not end. */
static void conclude_convergence(const yk_watch *watch, yk_run_report *report)
{
    const yk_scenario_info *info = watch->info;

    /* They end too soon where the tolerance is large beside a wrench. */
    double wrench;
    double tolerance;
    double relative;
    tolerances_of(watch, &tolerance, &relative);
    int loose = loosely_iterated_interface(watch, &wrench);
    if (loose >= 0) {
        yk_finding *f = yk_finding_add(
            report, YK_FINDING_NOT_CONVERGED, false, loose, tolerance / wrench,
            "the iterations end too soon: their tolerance is %.3g N or N m, and the wrench "
            "at interface '%s' %.3g in the mean",
            tolerance, info->interfaces[loose].name, wrench);
        add_remedies(watch, f);
    }

    /* They end at their limit. */
    yk_system_statistics all = yk_system_get_statistics(watch->system);
    long long open = all.steps_not_converged;
    long long steps = all.steps;
    if (open == 0)
        return;

    /* Sweeps over the parts of a merged system leave velocities. */
    if (has_trait(watch, YK_SCHEME_SOLVES_PARTS_SEPARATELY)) {
        double left = all.residual_not_converged;
        if (isnan(left))
            left = INFINITY;
        if (!(left > RESIDUAL_NOTABLE))
            return;

        yk_finding *f = yk_finding_add(
            report, YK_FINDING_NOT_CONVERGED, left > RESIDUAL_SERIOUS, -1, left,
            "the sweeps did not converge in %lld of %lld steps, the first at t = %.4g s in "
            "subsystem '%s', and left %.3g of the typical velocity in all",
            open, steps, all.first_not_converged_time, info->subsystem_names[all.worst_subsystem],
            left);
        if (!has_trait(watch, YK_SCHEME_ACCELERATES)) {
            yk_changes changes = {0};
            yk_changes_add(&changes, "coupling.acceleration=quasi-newton");
            yk_finding_change(f, &changes);
        }

        yk_finding_scheme(f, yk_scheme_with(YK_SCHEME_IS_REFERENCE));
        return;
    }

    /* Iterations over interfaces leave impulses; the interface with the largest part of its own
     * counts. */
    int worst = 0;
    double fraction = -1;

    for (int i = 0; i < watch->count; i++) {
        yk_interface_statistics s = yk_system_interface_statistics(watch->system, i);
        double here = 0;
        if (s.impulse > 0)
            here = fraction_of(s.residual_impulse, s.impulse);
        if (!(here <= fraction)) {
            fraction = here;
            worst = i;
        }
    }

    if (!(fraction > RESIDUAL_NOTABLE))
        return;

    /* What was left there, in its own unit and beside its impulse. */
    yk_interface_statistics s = yk_system_interface_statistics(watch->system, worst);
    yk_finding *f = yk_finding_add(
        report, YK_FINDING_NOT_CONVERGED, fraction > RESIDUAL_SERIOUS, worst, fraction,
        "the iterations did not converge in %lld of %lld steps, the first at t = %.4g s: at "
        "interface '%s' they left up to %.3g N or N m open, %.3g %% of its impulse in all",
        open, steps, all.first_not_converged_time, info->interfaces[worst].name, s.max_residual,
        100 * fraction);
    add_remedies(watch, f);
}

/* A wrench that swings from step to step, and more and more. */
static void conclude_ripple(const yk_watch *watch, yk_run_report *report)
{
    /* The wrenches of a system at rest are rounding. */
    if (!watch->budget.moves)
        return;

    for (int i = 0; i < watch->count; i++) {
        /* A rise that lasted, of a swing that is still there. */
        const yk_ripple *r = &watch->interfaces[i].ripple;
        if (r->longest < YK_RIPPLE_ALARM || !yk_ripple_matters(r))
            continue;

        yk_finding *f = yk_finding_add(report, YK_FINDING_GROWING_OSCILLATION, true, i, r->growth,
                                       "the coupling is unstable at interface '%s': its wrench "
                                       "swings from step to step, and the swing grew by "
                                       "%.3g per step over %d steps up to t = %.4g s",
                                       watch->info->interfaces[i].name, r->growth,
                                       r->longest * YK_RIPPLE_WINDOW, r->time);
        add_remedies(watch, f);
    }
}

/* Energy that nobody fed in, or that the coupling destroyed. */
static void conclude_energy(const yk_watch *watch, yk_run_report *report)
{
    /* Either is a fraction of the energy that is known to be real. */
    const yk_scenario_info *info = watch->info;
    double fraction, fraction_lost, scale;
    yk_budget_conclude(&watch->budget, &fraction, &fraction_lost, &scale);
    bool lost = !(fraction > fraction_lost);
    double limit = MADE_SERIOUS;
    double sign = 1;
    const char *what = "creates";
    if (lost) {
        fraction = fraction_lost;
        limit = LOST_SERIOUS;
        sign = -1;
        what = "destroys";
    }

    /* What was made may be an error of the dissipation alone. */
    bool serious = fraction > limit;
    double made_energy = fraction * scale;
    if (!lost && fraction <= UNSTABLE && !(made_energy > DISSIPATION * watch->budget.dissipated))
        serious = false;
    if (!(fraction > MADE_NOTABLE))
        return;
    if (watch->count == 0 && (!serious || lost))
        return;

    /* What there is now, and in which subsystem the integration made most. */
    double present = 0;
    int maker = 0;

    for (int i = 0; i < info->subsystem_count; i++) {
        yk_energy_balance b = yk_system_energy_balance(watch->system, i);
        present += b.kinetic + b.potential;
        if (b.numerical > yk_system_energy_balance(watch->system, maker).numerical)
            maker = i;
    }

    if (watch->count == 0) {
        yk_finding *f = yk_finding_add(
            report, YK_FINDING_ENERGY_ERROR, true, -1, fraction,
            "the integration of '%s' creates energy: there are %.3g J, and %.3g J were "
            "there at the start and fed in",
            info->subsystem_names[maker], present, scale);
        add_remedies(watch, f);
        return;
    }

    /* The interface at which most of it was made or lost: by itself, and by the integration of its
     * two sides, each of which its interfaces share. */
    int worst = 0;
    double most = -INFINITY;
    double at_interfaces = 0;

    for (int i = 0; i < watch->count; i++) {
        const yk_interface_def *interface = &info->interfaces[i];
        const int sides[2] = {interface->wrench_subsystem, interface->motion_subsystem};
        double made = yk_system_interface_statistics(watch->system, i).energy_created;
        at_interfaces += made;
        if (lost)
            made = -made;

        for (int k = 0; !lost && k < 2; k++) {
            int sharing = 0;
            for (int j = 0; j < info->interface_count; j++) {
                const yk_interface_def *other = &info->interfaces[j];
                if (other->wrench_subsystem == sides[k] || other->motion_subsystem == sides[k])
                    sharing++;
            }

            made += yk_system_energy_balance(watch->system, sides[k]).numerical / sharing;
        }

        if (made > most || isnan(made)) {
            most = made;
            worst = i;
        }
    }

    /* More made than there was is an instability; less is an error. What grew may be gone again, as
     * where the run has fallen back to another scheme. */
    if (report->max_energy > present)
        present = report->max_energy;
    const yk_interface_def *interface = &info->interfaces[worst];
    const char *a = info->subsystem_names[interface->wrench_subsystem];
    const char *b = info->subsystem_names[interface->motion_subsystem];
    yk_finding *f;
    if (!lost && fraction > UNSTABLE)
        f = yk_finding_add(report, YK_FINDING_ENERGY_ERROR, true, worst, fraction,
                           "the coupling is unstable: the energy grew to %.3g J, of which only "
                           "%.3g J were there at the start or fed in, most at interface '%s' "
                           "between '%s' and '%s'",
                           present, scale, interface->name, a, b);
    else if (!lost && at_interfaces < 0.5 * made_energy)
        f = yk_finding_add(report, YK_FINDING_ENERGY_ERROR, serious, worst, fraction,
                           "coupling and integration create energy: %.3g J, %.3g %% of the %.3g J "
                           "at the start and fed in, most of it the integration of '%s'",
                           made_energy, 100 * fraction, scale, info->subsystem_names[maker]);
    else
        f = yk_finding_add(report, YK_FINDING_ENERGY_ERROR, serious, worst, sign * fraction,
                           "the coupling %s energy: %.3g J, %.3g %% of the %.3g J at the start and "
                           "fed in, most at interface '%s' between '%s' and '%s'",
                           what, made_energy, 100 * fraction, scale, interface->name, a, b);
    add_remedies(watch, f);
}

static bool has_serious(const yk_run_report *report)
{
    for (int i = 0; i < report->finding_count; i++)
        if (report->findings[i].serious)
            return true;

    return false;
}

/* Two sides that do not move as one, by the mean squares of their velocities over the run. What
 * runs away has gaps all the same. */
static void conclude_gap(const yk_watch *watch, yk_run_report *report)
{
    double looks = fmax(1, (double)watch->looks);
    double fastest = 0;
    for (int k = 0; k < watch->count; k++)
        fastest = fmax(fastest, sqrt(watch->interfaces[k].speed_squares / looks));

    for (int i = 0; !has_serious(report) && i < watch->count; i++) {
        const yk_watched *w = &watch->interfaces[i];

        /* Speed (m/s) that the energy of the system could give what is behind the interface; 0
         * if its mass is not known. */
        double possible = 0;
        double mass = w->probe.wrench_mass + w->probe.motion_mass;
        bool translates = w->probe.axis >= 0 && w->probe.axis <= 2;
        if (translates && mass > 0)
            possible = sqrt(2 * watch->budget.largest_kinetic / mass);

        /* Speed (m/s) that the mean force of the interface would give its lighter side in a macro
         * step. Forces in balance leave a small part of it. A side that lies in contact may answer
         * against the push: its mass is negative. */
        double unbalanced = 0;
        double lighter = fmin(fabs(w->probe.wrench_mass), fabs(w->probe.motion_mass));
        double duration = yk_system_time(watch->system) - watch->info->start;
        if (translates && lighter > 0 && duration > 0) {
            double impulse = yk_system_interface_statistics(watch->system, i).impulse;
            unbalanced = watch->info->step * impulse / duration / lighter;
        }

        /* An interface at rest has a gap of rounding or of settling, which is no fraction of
         * anything. */
        double speed = sqrt(w->speed_squares / looks);
        double gap = sqrt(w->gap_squares / looks);
        double rounding = ROUNDING * DBL_EPSILON / watch->info->step;
        double distance = yk_v3_norm(w->origin) + w->travel;
        double usual = fmax(unbalanced, fmax(fastest, possible));
        bool moves = speed > AT_REST * usual && speed > rounding * distance;
        double fraction = 0;
        if (moves || !isfinite(speed) || !isfinite(gap))
            fraction = fraction_of(gap, speed);
        const char *what = "velocities";
        const char *unit = "m/s";

        /* A rotation that is slow beside the travel of the interface is none. */
        double spin = sqrt(w->spin_squares / looks);
        double spin_gap = sqrt(w->spin_gap_squares / looks);
        bool rotates = w->travel > 0 && spin > fmax(0.1 * speed / w->travel, rounding);
        if (!isfinite(spin) || !isfinite(spin_gap))
            rotates = true;
        if (rotates && fraction_of(spin_gap, spin) > fraction) {
            fraction = fraction_of(spin_gap, spin);
            gap = spin_gap;
            what = "angular velocities";
            unit = "rad/s";
        }

        if (!(fraction > GAP_NOTABLE))
            continue;

        yk_finding *f = yk_finding_add(
            report, YK_FINDING_INTERFACE_GAP, fraction > GAP_SERIOUS, i, fraction,
            "the two sides of interface '%s' do not move as one: their %s differ by %.3g %s, "
            "%.3g %% of the interface's own",
            watch->info->interfaces[i].name, what, gap, unit, 100 * fraction);
        add_remedies(watch, f);
    }
}

/* A gap that grows from a quarter to half to the whole run, and more than the motion does. */
static bool has_drifted(const double gap[3], const double travel[3], double notable)
{
    if (!isfinite(gap[2]))
        return true;

    /* Each half of the run, against the one before it. */
    for (int k = 1; k < 3; k++) {
        double motion = 1;
        if (travel[k - 1] > 0)
            motion = travel[k] / travel[k - 1];
        if (!(gap[k - 1] > 0 && gap[k] > DRIFT * gap[k - 1] * fmax(1, motion)))
            return false;
    }

    return gap[2] > notable;
}

/* Two sides that drift apart. */
static void conclude_drift(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; !has_serious(report) && i < watch->count; i++) {
        /* Positions first; where they hold, rotations. */
        const yk_watched *w = &watch->interfaces[i];
        yk_interface_gap all = yk_system_interface_statistics(watch->system, i).max_gap;
        const double travel[3] = {w->quarter_travel, w->half_travel, w->travel};
        const double positions[3] = {w->quarter.position, w->half.position, all.position};
        const double rotations[3] = {w->quarter.rotation, w->half.rotation, all.rotation};
        const double *gap;
        const char *unit;
        if (has_drifted(positions, travel, fmax(NOTABLE_GAP * w->travel, ROUNDING_GAP))) {
            gap = positions;
            unit = "m";
        } else if (has_drifted(rotations, travel, NOTABLE_GAP)) {
            gap = rotations;
            unit = "rad";
        } else {
            continue;
        }

        /* The gaps of all three times, so that the reader sees them grow. */
        yk_finding *f = yk_finding_add(
            report, YK_FINDING_DRIFT, !isfinite(gap[2]), i, gap[2],
            "the two sides of interface '%s' drift apart: %.3g %s after a quarter of the run, "
            "%.3g after half, %.3g at the end",
            watch->info->interfaces[i].name, gap[0], unit, gap[1], gap[2]);

        /* Inputs of velocity alone never see the positions part. */
        if (has_trait(watch, YK_SCHEME_IGNORES_POSITIONS)) {
            yk_choice choices[YK_CHOICES_MAX];
            int count = yk_choices(YK_VARIANT_DRIFT_REMEDY, choices);
            for (int k = 0; k < count; k++)
                if (choices[k].scheme == watch->info->scheme.ops)
                    yk_finding_choice(f, &choices[k], watch->info);
        }

        add_remedies(watch, f);
    }
}

int yk_watch_find(const yk_scenario_info *info, int subsystem, const char *name)
{
    yk_subsystem *part = info->subsystems[subsystem];
    if (!part->ops->channels)
        return -1;

    /* By name: what a kind of subsystem calls so means the same in all. */
    const yk_channel *channels;
    int count = part->ops->channels->list(part, &channels);
    for (int i = 0; i < count; i++)
        if (channels[i].component_count == 1 && strcmp(channels[i].name, name) == 0)
            return i;

    return -1;
}

bool yk_watch_channel(yk_system *system, const yk_scenario_info *info, int subsystem,
                      const char *name, double *value)
{
    int channel = yk_watch_find(info, subsystem, name);
    if (channel < 0)
        return false;

    yk_system_read_channel(system, subsystem, channel, value);
    return true;
}

void yk_watch_limits(yk_record_value limits[YK_WATCH_LIMITS])
{
    const yk_record_value all[YK_WATCH_LIMITS] = {
        {.name = "energy_error", .value = MADE_NOTABLE},
        {.name = "energy_created_serious", .value = MADE_SERIOUS},
        {.name = "energy_lost_serious", .value = LOST_SERIOUS},
        {.name = "oscillation_serious", .value = yk_ripple_limit()},
        {.name = "oscillation_steps", .value = YK_RIPPLE_ALARM * YK_RIPPLE_WINDOW},
        {.name = "not_converged", .value = RESIDUAL_NOTABLE},
        {.name = "not_converged_serious", .value = RESIDUAL_SERIOUS},
        {.name = "interface_gap", .value = GAP_NOTABLE},
        {.name = "interface_gap_serious", .value = GAP_SERIOUS},
        {.name = "drift", .value = NOTABLE_GAP},
        {.name = "contact_residual", .value = UNRESOLVED_NOTABLE},
        {.name = "contact_residual_serious", .value = UNRESOLVED_SERIOUS},
        {.name = "contact_ratio_serious", .value = RATIO_SERIOUS},
        {.name = "penetration_serious", .value = YK_NONSMOOTH_PENETRATION_LIMIT},
        {.name = "emitter_shortfall", .value = SHORTFALL_NOTABLE},
        {.name = "mass_ratio_tested", .value = YK_RATIO_MOST},
    };
    memcpy(limits, all, sizeof all);
}

/* Contact problems that the solver left unsolved: bodies sink into each other or are thrown apart,
 * and nothing else in the run shows why. */
static void conclude_contacts(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; i < watch->info->subsystem_count; i++) {
        /* What the subsystem says of its contacts; those without any have none of these
         * channels. */
        const char *name = watch->info->subsystem_names[i];
        double unresolved = 0;
        double ratio = 0;
        double residual = 0;
        double contacts = 0;
        yk_watch_channel(watch->system, watch->info, i, "unsolved_step_fraction", &unresolved);
        yk_watch_channel(watch->system, watch->info, i, "max_contact_residual_ratio", &ratio);
        yk_watch_channel(watch->system, watch->info, i, "max_contact_residual", &residual);
        yk_watch_channel(watch->system, watch->info, i, "contact_count", &contacts);
        bool finite = isfinite(unresolved) && isfinite(ratio) && isfinite(residual);
        if (finite && !(unresolved > UNRESOLVED_NOTABLE))
            continue;

        /* Often and by much is wrong; either alone is worth a word. */
        bool serious = !finite || (unresolved > UNRESOLVED_SERIOUS && ratio > RATIO_SERIOUS);
        yk_finding *f = yk_finding_add(
            report, YK_FINDING_CONTACT_RESIDUAL, serious, -1, ratio,
            "contacts of subsystem '%s' were not solved in %.3g %% of its steps: they missed "
            "their conditions by up to %.3g m/s, %.3g times what a step resolves",
            name, 100 * unresolved, residual, ratio);

        /* The exact method, as long as it can be afforded. */
        yk_changes changes = {0};
        if (contacts <= ACCURATE_CONTACTS) {
            yk_changes_add(&changes, "subsystems.%s.contact.method=accurate", name);
            yk_changes_add(&changes, "subsystems.%s.contact.iterations=0", name);
        } else {
            yk_changes_add(&changes, "subsystems.%s.contact.method=gauss-seidel", name);
            yk_changes_add(&changes, "subsystems.%s.contact.iterations=1000", name);
        }

        yk_finding_change(f, &changes);
    }
}

/* Contacts that a prescribed motion leaves out: nothing else in the run shows that they are
 * missing. */
static void conclude_passages(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; i < watch->info->subsystem_count; i++) {
        /* How deep a body went that was not to be stopped. */
        double depth = 0;
        bool known =
            yk_watch_channel(watch->system, watch->info, i, "max_prescribed_penetration", &depth);
        if (!known || !(depth > 0))
            continue;

        yk_finding_add(report, YK_FINDING_PENETRATION, true, -1, depth,
                       "a body of subsystem '%s' went %.3g m into the ground or a fixed body: its "
                       "motion is prescribed by an interface, so nothing stops it; put it and its "
                       "partner into one subsystem",
                       watch->info->subsystem_names[i], depth);
    }
}

/* Emitters that could not bring what they were to bring. */
static void conclude_emitters(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; i < watch->info->subsystem_count; i++) {
        double shortfall = 0;
        double exhausted = 0;
        yk_watch_channel(watch->system, watch->info, i, "emitter_shortfall", &shortfall);
        yk_watch_channel(watch->system, watch->info, i, "emitter_exhausted", &exhausted);
        if (!(shortfall > SHORTFALL_NOTABLE))
            continue;

        const char *why = "no place in its region was free; make the region larger or the rate "
                          "smaller, or let particles leave it faster";
        if (exhausted > 0)
            why = "all of its particles are there already; raise its capacity, or let sinks take "
                  "particles";
        yk_finding_add(report, YK_FINDING_EMITTER_SHORTFALL, false, -1, shortfall,
                       "an emitter of subsystem '%s' has not brought %.3g %% of its particles: %s",
                       watch->info->subsystem_names[i], 100 * shortfall, why);
    }
}

/* Steps that failed, and what the run did about them. */
static void conclude_failures(const yk_watch *watch, yk_run_report *report)
{
    yk_system_failures f = yk_system_get_failures(watch->system);
    if (f.count == 0)
        return;

    char subsystem[96] = "";
    if (f.subsystem >= 0)
        snprintf(subsystem, sizeof subsystem, " in subsystem '%.60s'",
                 watch->info->subsystem_names[f.subsystem]);
    if (f.used_fallback) {
        const yk_scheme_ops *second = watch->info->on_failure.fallback_scheme.ops;
        yk_finding_add(
            report, YK_FINDING_RECOVERED, false, -1, (double)f.count,
            "the run fell back from scheme %s to %s at t = %.6g s, after a failure%s: %s",
            watch->info->scheme.ops->name, second->name, f.last_time, subsystem, f.first_message);
        return;
    }

    yk_finding *found = yk_finding_add(
        report, YK_FINDING_RECOVERED, false, -1, (double)f.count,
        "steps failed %lld times and were halved, down to %.3g s: first at t = %.6g s%s, last at "
        "t = %.6g s; the first reason: %s",
        (long long)f.count, f.min_step, f.first_time, subsystem, f.last_time, f.first_message);
    yk_finding_search(found, YK_REMEDY_SMALLER_STEP);
}

/* The cause comes first: iterations that do not converge let a coupling run away, and what runs
 * away has gaps, drifts and fails as well. */
static void (*const conclusions[])(const yk_watch *watch, yk_run_report *report) = {
    conclude_contacts, conclude_convergence, conclude_ripple,   conclude_energy,   conclude_gap,
    conclude_drift,    conclude_passages,    conclude_emitters, conclude_failures,
};

/* Whether the signals of a loop that is not solved changed so much from step to step that a lag of
 * one step matters. Signals that grow without bounds do. */
static bool loop_lags_too_far(const yk_watch *watch)
{
    for (int i = 0; i < watch->loop_count; i++) {
        const yk_watched_loop *loop = &watch->loops[i];
        double lag = loop->change_squares / loop->squares;
        bool still = loop->change_squares == 0;
        if (!yk_system_loop(watch->system, i).solved && !still &&
            !(lag <= LAG_SERIOUS * LAG_SERIOUS))
            return true;
    }

    return false;
}

/* Serious findings come first; the last finding of a full list is dropped. */
static void insert_finding(yk_run_report *report, const yk_finding *finding)
{
    yk_finding *findings = report->findings;
    int count = report->finding_count;
    if (count == YK_FINDINGS_MAX)
        count = YK_FINDINGS_MAX - 1;
    int index = finding->serious ? 0 : count;
    memmove(&findings[index + 1], &findings[index], (size_t)(count - index) * sizeof *findings);
    findings[index] = *finding;
    report->finding_count = count + 1;
}

void yk_watch_conclude(const yk_watch *watch, yk_status outcome, yk_run_report *report)
{
    /* Figures of the whole run. */
    const yk_budget *b = &watch->budget;
    double lost;
    yk_budget_conclude(b, &report->spurious_energy, &lost, &report->reference_energy);
    report->finding_count = 0;
    report->energy_rounding = b->rounding;
    report->max_energy = b->largest_kinetic + (b->highest_potential - b->lowest_potential);
    report->energy_created = 0;
    for (int i = 0; i < watch->count; i++)
        report->energy_created += yk_system_interface_statistics(watch->system, i).energy_created;

    for (size_t i = 0; i < sizeof conclusions / sizeof *conclusions; i++)
        conclusions[i](watch, report);
    if (YK_FAILED(outcome) && outcome != YK_INTERRUPTED)
        yk_finding_add(report, YK_FINDING_RUN_FAILED, true, -1, report->time,
                       "the run failed at t = %.4g s, in step %lld of %lld", report->time,
                       (long long)report->step_count + 1, (long long)watch->info->step_count);

    /* What was known of masses and loops before the run: the cause where the run went wrong, and
     * then the first finding. */
    report->mass_ratio = NAN;
    if (watch->limits)
        report->mass_ratio = watch->limits->mass_ratio;
    if (!watch->limits || watch->limits->finding_count == 0)
        return;

    bool cause = has_serious(report);
    bool lags = loop_lags_too_far(watch);
    for (int i = watch->limits->finding_count - 1; i >= 0; i--) {
        yk_finding finding = watch->limits->findings[i];
        finding.serious =
            finding.serious || cause || (lags && finding.kind == YK_FINDING_WIRE_LOOP);

        /* A delay does not help against signals that grow by it. */
        if (lags && finding.kind == YK_FINDING_WIRE_LOOP && isnan(finding.value))
            finding.remedy_count = 0;
        insert_finding(report, &finding);
    }
}
