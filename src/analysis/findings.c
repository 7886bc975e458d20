/* Evaluates the observations of a run (watch.c): measures the quantity of each rule
 * (finding_rules.c) and adds a finding if it is above the threshold. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/finding_rules.h"
#include "analysis/remedies.h"
#include "analysis/run.h"
#include "analysis/scenario_run.h"
#include "base/text.h"
#include "math/vec3.h"
#include "yoke/nonsmooth.h"

/* Lost energy, relative to the reference energy; corresponds to an amplitude that is 8 % too small.
 * Impacts between two sides, and methods that damp unresolved motion, lose some energy in good
 * runs. */
static const double LOSS_SERIOUS = 0.15;
/* The error of impacts and friction follows from that of the wrenches: energy created, relative to
 * that dissipated, that this error can explain. */
static const double DISSIPATION = 0.1;
/* Created energy relative to the reference energy above which the run is unstable. */
static const double UNSTABLE = 1;
/* RMS change per step of the signal of a loop, relative to its RMS. */
static const double LAG_SERIOUS = 0.1;
/* An interface whose motion is below this fraction of the motion that the energy or force of the
 * system could cause is at rest. */
static const double AT_REST = 1e-3;
/* Multiple of the rounding of positions. */
static const double ROUNDING = 1e4;
/* Tolerance of the iterations, relative to the mean wrench of an interface, above which they end
 * immediately. */
static const double LOOSE_TOLERANCE = 0.01;
/* Growth of the largest gap from a quarter to half and from there to the whole run that counts as
 * drift. Gaps of rounding size (m, rad) never do. */
static const double DRIFT = 1.7;
static const double ROUNDING_GAP = 1e-12;
/* Energy created by contacts, relative to the energy of the motion, above which unsolved contact
 * problems are serious. Friction and impacts can only dissipate. */
static const double CONTACT_ENERGY_SERIOUS = 0.05;
/* Number of contacts up to which the interior-point method is recommended; its cost grows with the
 * square. */
static const double ACCURATE_CONTACTS = 1000;

static double warning_threshold(yk_finding_kind kind)
{
    return yk_finding_rule_of(kind)->warning;
}

/* Numbers that have overflowed count as infinite. */
static double fraction_of(double part, double whole)
{
    double fraction = part / whole;
    return isfinite(part) && isfinite(whole) && !isnan(fraction) ? fraction : INFINITY;
}

static bool has_serious(const yk_run_report *report)
{
    yk_finding_kind kind;
    return yk_report_serious(report, &kind);
}

/* Whether something grew, which explains gaps and drifts: a serious finding other than a loss of
 * energy. */
static bool has_grown(const yk_run_report *report)
{
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        bool lost = f->kind == YK_FINDING_ENERGY_ERROR && f->value < 0;
        if (f->severity == YK_FINDING_SEVERITY_SERIOUS && !lost)
            return true;
    }

    return false;
}

/* Remedies ------------------------------------------------------------------------------------- */

/* Whether the impulse of an interface is a rounding error of the momentum that the energy of the
 * system could give to the parts at it. */
static bool is_rounding(const yk_watch *watch, int interface, double impulse)
{
    const yk_watched *w = &watch->interfaces[interface];
    double mass = w->probe.wrench_mass + w->probe.motion_mass;
    if (!(mass > 0))
        return false;

    double momentum = sqrt(2 * watch->budget.largest_kinetic * mass);
    return impulse < ROUNDING * DBL_EPSILON * momentum;
}

/* The interface whose mean wrench (N or N m) is smallest relative to the absolute tolerance of the
 * iterations, so that they end immediately; -1 if there is none. */
static int loosely_iterated_interface(const yk_watch *watch, double *wrench)
{
    *wrench = INFINITY;
    double time = yk_system_time(watch->system) - watch->info->start;
    double tolerance;
    double relative;
    yk_watch_tolerances(watch, &tolerance, &relative);
    if (!(time > 0))
        return -1;

    /* The smallest mean wrench is the one that suffers most. */
    int worst = -1;
    for (int i = 0; i < watch->count; i++) {
        double impulse =
            yk_system_interface_statistics(watch->system, (yk_interface_id){i}).impulse;
        double mean = impulse / time;
        bool loose = mean > 0 && tolerance > LOOSE_TOLERANCE * mean;
        if (loose && mean < *wrench && !is_rounding(watch, i, impulse)) {
            *wrench = mean;
            worst = i;
        }
    }

    return worst;
}

static void add_remedies(const yk_watch *watch, yk_finding *f)
{
    const yk_scenario_info *info = watch->info;

    /* A tolerance that ends the iterations immediately explains everything else. */
    double wrench;
    if (loosely_iterated_interface(watch, &wrench) >= 0) {
        yk_changes changes = {0};
        yk_changes_add(&changes, "coupling.absolute_tolerance=0");
        yk_changes_add(&changes, "coupling.relative_tolerance=1e-6");
        yk_finding_change(f, &changes);
        return;
    }

    /* One subsystem, or merged ones: only the step can be changed. */
    if (watch->count == 0) {
        yk_finding_search(f, YK_REMEDY_SMALLER_STEP);
        return;
    }

    /* With wrenches on both sides, mass ratios and substeps do not matter; otherwise recommend
     * iterations that converge for all. */
    const yk_scheme_ops *both = yk_scheme_with(YK_SCHEME_IS_FORCE_FORCE);
    if (!yk_watch_has_trait(watch, YK_SCHEME_IS_FORCE_FORCE)) {
        yk_choice choices[YK_CHOICES_MAX];
        if (both && yk_scheme_fits(both, info)) {
            yk_finding_scheme(f, both);
        } else if (!yk_watch_has_trait(watch, YK_SCHEME_ACCELERATES) &&
                   yk_choices(YK_VARIANT_ANY_MASS_RATIO, choices) > 0) {
            yk_finding_choice(f, &choices[0], info);
        }
    }

    yk_finding_search(f, YK_REMEDY_RUN_ADVISE);
}

/* Conclusions ---------------------------------------------------------------------------------- */

/* Iterations that end at once because their tolerance is large relative to a wrench. */
static void judge_tolerance(const yk_watch *watch, yk_run_report *report)
{
    double wrench;
    double tolerance;
    double relative;
    yk_watch_tolerances(watch, &tolerance, &relative);
    int loose = loosely_iterated_interface(watch, &wrench);
    if (loose < 0)
        return;

    yk_finding f =
        yk_finding_of(YK_FINDING_NOT_CONVERGED, YK_CAUSE_LOOSE_TOLERANCE, tolerance / wrench);
    f.severity = YK_FINDING_SEVERITY_WARNING;
    f.limit = LOOSE_TOLERANCE;
    f.interface_index = (yk_interface_id){loose};
    yk_finding_set(&f, "tolerance", tolerance);
    yk_finding_set(&f, "wrench", wrench);
    add_remedies(watch, &f);
    yk_finding_add(report, &f);
}

/* Sweeps over the parts of a merged system leave velocity residuals. */
static void judge_sweeps(const yk_watch *watch, const yk_system_statistics *all,
                         yk_run_report *report)
{
    double residual = all->residual_not_converged;
    if (isnan(residual))
        residual = INFINITY;
    if (!(residual > warning_threshold(YK_FINDING_NOT_CONVERGED)))
        return;

    yk_finding f = yk_finding_of(YK_FINDING_NOT_CONVERGED, YK_CAUSE_SWEEP_LIMIT, residual);
    f.subsystem = all->worst_subsystem;
    f.time = all->first_not_converged_time;
    yk_finding_set(&f, "open", (double)all->steps_not_converged);
    yk_finding_set(&f, "steps", (double)all->steps);
    if (!yk_watch_has_trait(watch, YK_SCHEME_ACCELERATES)) {
        yk_changes changes = {0};
        yk_changes_add(&changes, "coupling.acceleration=quasi-newton");
        yk_finding_change(&f, &changes);
    }

    yk_finding_scheme(&f, yk_scheme_with(YK_SCHEME_IS_REFERENCE));
    yk_finding_add(report, &f);
}

/* Iterations that reached their limit. Iterations over interfaces leave impulses, and the interface
 * with the largest fraction of its own impulse counts. */
static void judge_convergence(const yk_watch *watch, yk_run_report *report)
{
    judge_tolerance(watch, report);
    yk_system_statistics all = yk_system_get_statistics(watch->system);
    if (all.steps_not_converged == 0)
        return;
    if (yk_watch_has_trait(watch, YK_SCHEME_SOLVES_PARTS_SEPARATELY)) {
        judge_sweeps(watch, &all, report);
        return;
    }

    int worst = 0;
    double fraction = -1;
    for (int i = 0; i < watch->count; i++) {
        yk_interface_statistics s =
            yk_system_interface_statistics(watch->system, (yk_interface_id){i});
        double here = 0;
        if (s.impulse > 0)
            here = fraction_of(s.residual_impulse, s.impulse);
        if (!(here <= fraction)) {
            fraction = here;
            worst = i;
        }
    }

    if (!(fraction > warning_threshold(YK_FINDING_NOT_CONVERGED)))
        return;

    yk_interface_statistics s =
        yk_system_interface_statistics(watch->system, (yk_interface_id){worst});
    yk_finding f = yk_finding_of(YK_FINDING_NOT_CONVERGED, YK_CAUSE_ITERATION_LIMIT, fraction);
    f.interface_index = (yk_interface_id){worst};
    f.time = all.first_not_converged_time;
    yk_finding_set(&f, "open", (double)all.steps_not_converged);
    yk_finding_set(&f, "steps", (double)all.steps);
    yk_finding_set(&f, "residual", s.max_residual);
    add_remedies(watch, &f);
    yk_finding_add(report, &f);
}

/* A wrench that alternates from step to step with growing amplitude. */
static void judge_oscillation(const yk_watch *watch, yk_run_report *report)
{
    /* The wrenches of a system at rest are rounding errors. */
    if (!watch->budget.moves)
        return;

    for (int i = 0; i < watch->count; i++) {
        const yk_ripple *r = &watch->interfaces[i].ripple;
        if (r->longest < YK_RIPPLE_ALARM || !yk_ripple_matters(r))
            continue;

        yk_finding f = yk_finding_of(YK_FINDING_GROWING_OSCILLATION, YK_CAUSE_DEFAULT, r->growth);
        f.severity = YK_FINDING_SEVERITY_SERIOUS;
        f.interface_index = (yk_interface_id){i};
        f.time = r->time;
        yk_finding_set(&f, "steps", r->longest * YK_RIPPLE_WINDOW);
        yk_finding_set(&f, "amplitude", r->swing);
        add_remedies(watch, &f);
        yk_finding_add(report, &f);
    }
}

/* The interface at which most energy was created (sign 1) or destroyed (-1): by the interface
 * itself and, for created energy, by the integration of its two sides, which is shared by all of
 * their interfaces. */
static int interface_of_energy(const yk_watch *watch, double sign)
{
    const yk_scenario_info *info = watch->info;
    int worst = 0;
    double most = -INFINITY;
    for (int i = 0; i < watch->count; i++) {
        const yk_interface_def *interface = &info->interfaces[i];
        const int sides[2] = {interface->wrench_subsystem.index, interface->motion_subsystem.index};
        double energy =
            sign *
            yk_system_interface_statistics(watch->system, (yk_interface_id){i}).energy_created;

        for (int k = 0; sign > 0 && k < 2; k++) {
            int sharing = 0;
            for (int j = 0; j < info->interface_count; j++) {
                const yk_interface_def *other = &info->interfaces[j];
                if (other->wrench_subsystem.index == sides[k] ||
                    other->motion_subsystem.index == sides[k])
                    sharing++;
            }

            energy +=
                yk_system_energy_balance(watch->system, (yk_subsystem_id){sides[k]}).numerical /
                sharing;
        }

        if (energy > most || isnan(energy)) {
            most = energy;
            worst = i;
        }
    }

    return worst;
}

/* The subsystem whose integration created (sign 1) or lost (-1) most energy. */
static int subsystem_of_energy(const yk_watch *watch, double sign)
{
    int worst = 0;
    double most = -INFINITY;
    for (int i = 0; i < watch->info->subsystem_count; i++) {
        double energy =
            sign * yk_system_energy_balance(watch->system, (yk_subsystem_id){i}).numerical;
        if (energy > most) {
            most = energy;
            worst = i;
        }
    }

    return worst;
}

/* Energy that is neither initial nor supplied, or that was lost. */
static void judge_energy(const yk_watch *watch, yk_run_report *report)
{
    const yk_scenario_info *info = watch->info;
    yk_energy_error error = yk_budget_conclude(&watch->budget);
    double sign = error.fraction < 0 ? -1 : 1;
    double fraction = sign * error.fraction;
    if (!(fraction > warning_threshold(YK_FINDING_ENERGY_ERROR)))
        return;

    double energy = sign * error.energy;
    bool by_coupling = watch->count > 0 && sign * error.at_interfaces >= 0.5 * energy;

    yk_finding_cause cause = YK_CAUSE_INTEGRATION_CREATES;
    if (sign > 0 && fraction > UNSTABLE)
        cause = watch->count > 0 ? YK_CAUSE_RUNAWAY : YK_CAUSE_INTEGRATION_RUNAWAY;
    else if (by_coupling)
        cause = sign > 0 ? YK_CAUSE_COUPLING_CREATES : YK_CAUSE_COUPLING_DESTROYS;
    else if (sign < 0)
        cause = YK_CAUSE_INTEGRATION_DESTROYS;

    yk_finding f = yk_finding_of(YK_FINDING_ENERGY_ERROR, cause, sign * fraction);
    f.subsystem = (yk_subsystem_id){subsystem_of_energy(watch, sign)};
    if (watch->count > 0)
        f.interface_index = (yk_interface_id){interface_of_energy(watch, sign)};
    if (sign < 0) {
        f.limit = LOSS_SERIOUS;
        if (!(fraction > f.limit))
            f.severity = YK_FINDING_SEVERITY_WARNING;
    }

    /* The created energy may be an error of the dissipation alone. */
    if (sign > 0 && fraction <= UNSTABLE && !(energy > DISSIPATION * watch->budget.dissipated))
        f.severity = YK_FINDING_SEVERITY_WARNING;

    /* Energy that grew may have disappeared again, for example after a switch to another scheme. */
    double present = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        yk_energy_balance b = yk_system_energy_balance(watch->system, (yk_subsystem_id){i});
        present += b.kinetic + b.potential;
    }

    yk_finding_set(&f, "energy", energy);
    yk_finding_set(&f, "fraction", fraction);
    yk_finding_set(&f, "scale", error.scale);
    yk_finding_set(&f, "present", report->max_energy > present ? report->max_energy : present);
    add_remedies(watch, &f);
    yk_finding_add(report, &f);
}

/* The scales of the motion at an interface, from the parts on its two sides: energy, speed and
 * duration. They do not depend on coordinates. */
typedef struct interface_scales {
    double energy;        /* J, of the side with less energy, if both report any; 0: unknown */
    double usual;         /* m/s, speed that the motion of the system could cause here */
    double duration;      /* s */
    double force, torque; /* N, N m, rms */
    double speed, spin;   /* m/s, rad/s, rms */
    double gap, spin_gap; /* the same for the difference of both sides */
} interface_scales;

/* A side with less than this fraction of the other side's energy is fixed. */
static const double FIXED_SIDE = 1e-9;

static interface_scales scales_of(const yk_watch *watch, int i, double fastest)
{
    const yk_watched *w = &watch->interfaces[i];
    double looks = fmax(1, (double)watch->looks);
    interface_scales s = {
        .usual = fastest,
        .duration = yk_system_time(watch->system) - watch->info->start,
        .force = sqrt(w->force_squares / looks),
        .torque = sqrt(w->torque_squares / looks),
        .speed = sqrt(w->speed_squares / looks),
        .spin = sqrt(w->spin_squares / looks),
        .gap = sqrt(w->gap_squares / looks),
        .spin_gap = sqrt(w->spin_gap_squares / looks),
    };

    double low = fmin(w->side_energy[0], w->side_energy[1]);
    double high = fmax(w->side_energy[0], w->side_energy[1]);
    s.energy = low > FIXED_SIDE * high ? low : high;

    /* Speed that the energy of the system could give to the parts at the interface, and that the
     * mean force would give to its lighter side in a macro step. A side in contact may have a
     * negative mass. */
    double mass = w->probe.wrench_mass + w->probe.motion_mass;
    bool translates = w->probe.axis >= 0 && w->probe.axis <= 2;
    if (translates && mass > 0)
        s.usual = fmax(s.usual, sqrt(2 * watch->budget.largest_kinetic / mass));
    double lighter = fmin(fabs(w->probe.wrench_mass), fabs(w->probe.motion_mass));
    if (translates && lighter > 0 && s.duration > 0) {
        double impulse =
            yk_system_interface_statistics(watch->system, (yk_interface_id){i}).impulse;
        s.usual = fmax(s.usual, watch->info->step * impulse / s.duration / lighter);
    }

    return s;
}

/* Whether a wrench component does notable work along a motion, relative to the energy of the parts.
 * If they report no energy, every motion counts. */
static bool does_work(const interface_scales *s, double wrench, double rate)
{
    return !(s->energy > 0) || wrench * rate * s->duration > AT_REST * s->energy;
}

/* The length below which an interface is at rest: a small part of the motion of its parts, or of the
 * energy of its parts by its force. */
static double rest_length(const interface_scales *s, double furthest)
{
    double length = AT_REST * fmax(furthest, s->usual * s->duration);
    if (s->force > 0)
        length = fmax(length, AT_REST * s->energy / s->force);
    return length;
}

/* The length that gaps are compared with: the travel of the interface, or more if it is at rest. */
static double length_of(const yk_watched *w, const interface_scales *s, double furthest)
{
    return fmax(w->travel, rest_length(s, furthest));
}

/* Two sides that do not move together, by the mean squares of their velocities over the run. */
static void judge_velocity_gaps(const yk_watch *watch, yk_run_report *report)
{
    double looks = fmax(1, (double)watch->looks);
    double fastest = 0;
    for (int k = 0; k < watch->count; k++)
        fastest = fmax(fastest, sqrt(watch->interfaces[k].speed_squares / looks));

    /* An unstable run has gaps in any case. */
    for (int i = 0; !has_grown(report) && i < watch->count; i++) {
        const yk_watched *w = &watch->interfaces[i];
        interface_scales s = scales_of(watch, i, fastest);

        /* The gap of an interface at rest is rounding or settling, and cannot be compared with its
         * motion. */
        double rounding = ROUNDING * DBL_EPSILON / watch->info->step;
        double distance = yk_v3_norm(w->origin) + w->travel;
        bool moves = s.speed > AT_REST * s.usual && s.speed > rounding * distance &&
                     does_work(&s, s.force, s.speed);
        double fraction = 0;
        double gap = s.gap;
        yk_finding_cause cause = YK_CAUSE_DEFAULT;
        if (moves || !isfinite(s.speed) || !isfinite(s.gap))
            fraction = fraction_of(s.gap, s.speed);

        /* A rotation that is slow relative to the travel of the interface does not count. */
        bool rotates = w->travel > 0 && s.spin > fmax(0.1 * s.speed / w->travel, rounding) &&
                       does_work(&s, s.torque, s.spin);
        if (!isfinite(s.spin) || !isfinite(s.spin_gap))
            rotates = true;
        if (rotates && fraction_of(s.spin_gap, s.spin) > fraction) {
            fraction = fraction_of(s.spin_gap, s.spin);
            gap = s.spin_gap;
            cause = YK_CAUSE_ROTATION;
        }

        if (!(fraction > warning_threshold(YK_FINDING_INTERFACE_GAP)))
            continue;

        yk_finding f = yk_finding_of(YK_FINDING_INTERFACE_GAP, cause, fraction);
        f.interface_index = (yk_interface_id){i};
        yk_finding_set(&f, "gap", gap);
        add_remedies(watch, &f);
        yk_finding_add(report, &f);
    }
}

static double furthest_travel(const yk_watch *watch)
{
    double furthest = 0;
    for (int k = 0; k < watch->count; k++)
        furthest = fmax(furthest, watch->interfaces[k].travel);
    return furthest;
}

/* Sides whose distance is larger than the motion can explain. A fixed interface has no travel: the
 * energy of its parts divided by its force is a length that replaces it. */
static void judge_position_gaps(const yk_watch *watch, yk_run_report *report)
{
    double furthest = furthest_travel(watch);
    for (int i = 0; !has_grown(report) && i < watch->count; i++) {
        const yk_watched *w = &watch->interfaces[i];
        interface_scales s = scales_of(watch, i, 0);
        double gap =
            yk_system_interface_statistics(watch->system, (yk_interface_id){i}).max_gap.position;
        double length = length_of(w, &s, furthest);
        if (!(gap > ROUNDING_GAP) || !(length > 0))
            continue;

        double fraction = fraction_of(gap, length);
        if (!(fraction > warning_threshold(YK_FINDING_INTERFACE_GAP)))
            continue;

        yk_finding f = yk_finding_of(YK_FINDING_INTERFACE_GAP, YK_CAUSE_POSITION, fraction);
        f.interface_index = (yk_interface_id){i};
        if (fraction <= 1)
            f.severity = YK_FINDING_SEVERITY_WARNING;
        f.limit = 1;
        yk_finding_set(&f, "gap", gap);
        add_remedies(watch, &f);
        yk_finding_add(report, &f);
    }
}

/* Sides with different velocities at the start, of which the scheme prescribes one. It gets the motion of
 * the other side without the impulse that an impact would need, which matters by its share of the mass. */
static void judge_starts(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; !has_grown(report) && i < watch->count; i++) {
        if (!yk_system_is_motion_prescribed(watch->system, (yk_interface_id){i}))
            continue;

        yk_interface_gap start = yk_system_interface_start_gap(watch->system, (yk_interface_id){i});
        const yk_interface_masses *probe = &watch->interfaces[i].probe;
        interface_scales s = scales_of(watch, i, 0);
        double share = 1;
        if (probe->wrench_mass > 0 && probe->motion_mass > 0)
            share = probe->motion_mass / (probe->wrench_mass + probe->motion_mass);
        bool known_to_turn = share < 1 && probe->axis >= 3;

        double translation =
            start.velocity > 0 ? start.velocity / fmax(s.speed, start.velocity) : 0;
        double rotation = start.angular_velocity > 0
                              ? start.angular_velocity / fmax(s.spin, start.angular_velocity)
                              : 0;
        translation *= known_to_turn ? 1 : share;
        rotation *= known_to_turn ? share : 1;

        bool turns = rotation > translation;
        double fraction = fmax(translation, rotation);
        if (!(fraction > warning_threshold(YK_FINDING_INCONSISTENT_START)))
            continue;

        yk_finding f = yk_finding_of(YK_FINDING_INCONSISTENT_START,
                                     turns ? YK_CAUSE_ROTATION : YK_CAUSE_DEFAULT, fraction);
        f.interface_index = (yk_interface_id){i};
        yk_finding_set(&f, "gap", turns ? start.angular_velocity : start.velocity);
        const yk_scheme_ops *both = yk_scheme_with(YK_SCHEME_IS_FORCE_FORCE);
        if (both && yk_scheme_fits(both, watch->info))
            yk_finding_scheme(&f, both);
        yk_finding_add(report, &f);
    }
}

/* Positions that do not follow velocities, as of a partner with a wrong unit or a constant output.
 * The two sides may agree nevertheless, since many schemes exchange only one of both. */
static void judge_paths(const yk_watch *watch, yk_run_report *report)
{
    double furthest = 0;
    for (int i = 0; i < watch->count; i++)
        for (int k = 0; k < 2; k++)
            furthest = fmax(furthest, watch->interfaces[i].paths[k].travel);
    for (int i = 0; !has_grown(report) && i < watch->count; i++) {
        const yk_interface_def *def = &watch->info->interfaces[i];
        const yk_subsystem_id sides[2] = {def->wrench_subsystem, def->motion_subsystem};
        for (int k = 0; k < 2; k++) {
            const yk_watched_path *path = &watch->interfaces[i].paths[k];
            double rounding = ROUNDING * DBL_EPSILON * yk_v3_norm(path->position) + ROUNDING_GAP;
            double fraction = fraction_of(path->difference, path->travel);
            interface_scales s = scales_of(watch, i, 0);
            if (!(path->travel > rest_length(&s, furthest)) || !(path->difference > rounding) ||
                !(fraction > warning_threshold(YK_FINDING_INCONSISTENT_MOTION)))
                continue;

            yk_finding f =
                yk_finding_of(YK_FINDING_INCONSISTENT_MOTION, YK_CAUSE_DEFAULT, fraction);
            f.interface_index = (yk_interface_id){i};
            f.subsystem = sides[k];
            yk_finding_set(&f, "gap", path->difference);
            yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
            yk_finding_add(report, &f);
        }
    }
}

/* A gap that grows from a quarter to half to the whole run, and more than the motion does. */
static bool has_drifted(const double gap[3], const double travel[3], double notable)
{
    if (!isfinite(gap[2]))
        return true;

    /* Each half of the run, compared with the previous one. */
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
static void judge_drift(const yk_watch *watch, yk_run_report *report)
{
    double notable = warning_threshold(YK_FINDING_DRIFT);
    double furthest = furthest_travel(watch);
    for (int i = 0; !has_grown(report) && i < watch->count; i++) {
        const yk_watched *w = &watch->interfaces[i];
        yk_interface_gap all =
            yk_system_interface_statistics(watch->system, (yk_interface_id){i}).max_gap;
        const double travel[3] = {w->quarter_travel, w->half_travel, w->travel};
        const double positions[3] = {w->quarter.position, w->half.position, all.position};
        const double rotations[3] = {w->quarter.rotation, w->half.rotation, all.rotation};
        const double *gap;
        double scale = 1;
        yk_finding_cause cause = YK_CAUSE_ROTATION;
        interface_scales s = scales_of(watch, i, 0);
        double length = length_of(w, &s, furthest);
        if (has_drifted(positions, travel, fmax(notable * length, ROUNDING_GAP))) {
            gap = positions;
            scale = length;
            cause = YK_CAUSE_DEFAULT;
        } else if (has_drifted(rotations, travel, notable)) {
            gap = rotations;
        } else {
            continue;
        }

        yk_finding f = yk_finding_of(YK_FINDING_DRIFT, cause, gap[2]);
        f.limit = yk_finding_rule_of(YK_FINDING_DRIFT)->serious * scale;
        f.severity = gap[2] <= f.limit ? YK_FINDING_SEVERITY_WARNING : YK_FINDING_SEVERITY_SERIOUS;
        f.interface_index = (yk_interface_id){i};
        yk_finding_set(&f, "quarter", gap[0]);
        yk_finding_set(&f, "half", gap[1]);

        /* Inputs of velocity alone do not depend on the positions. */
        if (yk_watch_has_trait(watch, YK_SCHEME_IGNORES_POSITIONS)) {
            yk_choice choices[YK_CHOICES_MAX];
            int count = yk_choices(YK_VARIANT_DRIFT_REMEDY, choices);
            for (int k = 0; k < count; k++)
                if (choices[k].scheme == watch->info->scheme.ops)
                    yk_finding_choice(&f, &choices[k], watch->info);
        }

        add_remedies(watch, &f);
        yk_finding_add(report, &f);
    }
}

/* Contact problems that the solver left unsolved: bodies sink into each other or are thrown apart.
 * Single large residuals do no harm if they last for a few steps; what counts is the momentum that
 * contacts failed to exchange, and the energy that they created. */
static void judge_contacts(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; i < watch->info->subsystem_count; i++) {
        /* A subsystem without contacts has none of these channels. */
        const char *name = watch->info->subsystem_names[i];
        double unresolved = 0;
        double missed = 0;
        double residual = 0;
        double contacts = 0;
        yk_watch_channel(watch->system, watch->info, i, "unsolved_step_fraction", &unresolved);
        yk_watch_channel(watch->system, watch->info, i, "unsolved_impulse_fraction", &missed);
        yk_watch_channel(watch->system, watch->info, i, "max_contact_residual", &residual);
        yk_watch_channel(watch->system, watch->info, i, "contact_count", &contacts);
        bool finite = isfinite(unresolved) && isfinite(missed) && isfinite(residual);
        double created = unresolved > 0 ? watch->budget.undissipated : 0;
        double motion = watch->budget.largest_kinetic + watch->budget.highest_potential -
                        watch->budget.lowest_potential;
        bool creates = created > CONTACT_ENERGY_SERIOUS * motion;
        if (finite && !creates && !(missed > warning_threshold(YK_FINDING_CONTACT_RESIDUAL)))
            continue;

        yk_finding f = yk_finding_of(YK_FINDING_CONTACT_RESIDUAL,
                                     creates ? YK_CAUSE_CONTACTS_CREATE_ENERGY : YK_CAUSE_DEFAULT,
                                     finite ? missed : INFINITY);
        if (creates)
            f.severity = YK_FINDING_SEVERITY_SERIOUS;
        f.subsystem = (yk_subsystem_id){i};
        yk_finding_set(&f, "unresolved", unresolved);
        yk_finding_set(&f, "residual", residual);
        yk_finding_set(&f, "energy", created);

        /* The interior-point method, if its cost is acceptable. */
        yk_changes changes = {0};
        if (contacts <= ACCURATE_CONTACTS) {
            yk_changes_add(&changes, "subsystems.%s.contact.method=interior-point", name);
            yk_changes_add(&changes, "subsystems.%s.contact.max_iterations=0", name);
        } else {
            yk_changes_add(&changes, "subsystems.%s.contact.method=gauss-seidel", name);
            yk_changes_add(&changes, "subsystems.%s.contact.max_iterations=1000", name);
        }

        yk_finding_change(&f, &changes);
        yk_finding_add(report, &f);
    }
}

/* Contacts that a prescribed motion ignores: nothing else in the run shows that they are missing. */
static void judge_penetration(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; i < watch->info->subsystem_count; i++) {
        double depth = 0;
        bool known =
            yk_watch_channel(watch->system, watch->info, i, "max_prescribed_penetration", &depth);
        if (!known || !(depth > 0))
            continue;

        yk_finding f = yk_finding_of(YK_FINDING_PENETRATION, YK_CAUSE_DEFAULT, depth);
        f.subsystem = (yk_subsystem_id){i};
        yk_finding_add(report, &f);
    }
}

/* Emitters that could not place all of their particles. */
static void judge_emitters(const yk_watch *watch, yk_run_report *report)
{
    for (int i = 0; i < watch->info->subsystem_count; i++) {
        double shortfall = 0;
        double exhausted = 0;
        yk_watch_channel(watch->system, watch->info, i, "emitter_shortfall", &shortfall);
        yk_watch_channel(watch->system, watch->info, i, "emitter_exhausted", &exhausted);
        if (!(shortfall > warning_threshold(YK_FINDING_EMITTER_SHORTFALL)))
            continue;

        yk_finding f = yk_finding_of(
            YK_FINDING_EMITTER_SHORTFALL,
            exhausted > 0 ? YK_CAUSE_CAPACITY_REACHED : YK_CAUSE_REGION_FULL, shortfall);
        f.subsystem = (yk_subsystem_id){i};
        yk_finding_add(report, &f);
    }
}

/* Failed steps, and the reaction of the run to them. */
static void judge_recovery(const yk_watch *watch, yk_run_report *report)
{
    yk_system_failures failures = yk_system_get_failures(watch->system);
    if (failures.count == 0)
        return;

    bool switched = failures.used_fallback;
    yk_finding f = yk_finding_of(YK_FINDING_RECOVERED,
                                 switched ? YK_CAUSE_SCHEME_SWITCHED : YK_CAUSE_STEPS_REPEATED,
                                 (double)failures.count);
    f.subsystem = failures.subsystem;
    f.time = switched ? failures.last_time : failures.first_time;
    const char *where =
        f.subsystem.index >= 0 ? watch->info->subsystem_names[f.subsystem.index] : NULL;
    snprintf(f.detail, sizeof f.detail, "%s%.60s%s%.170s", where ? "subsystem '" : "",
             where ? where : "", where ? "': " : "", failures.first_message);
    yk_finding_set(&f, "min_step", failures.min_step);
    if (!switched)
        yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
    yk_finding_add(report, &f);
}

/* Causes before their consequences: iterations that do not converge make a coupling unstable, and
 * an unstable run has gaps, drifts and failures as well. */
typedef void judge_function(const yk_watch *watch, yk_run_report *report);

static judge_function *const judges[] = {
    judge_contacts, judge_convergence, judge_oscillation,   judge_energy,
    judge_starts,   judge_paths,       judge_velocity_gaps, judge_position_gaps,
    judge_drift,    judge_penetration, judge_emitters,      judge_recovery,
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
    int index = finding->severity == YK_FINDING_SEVERITY_SERIOUS ? 0 : count;
    memmove(&findings[index + 1], &findings[index], (size_t)(count - index) * sizeof *findings);
    findings[index] = *finding;
    report->finding_count = count + 1;
}

/* Findings of the trials before the run: they are the cause of errors, so they come first if there
 * are errors. */
static void insert_limits(const yk_watch *watch, yk_run_report *report)
{
    bool wrong = has_serious(report);
    bool lags = loop_lags_too_far(watch);
    for (int i = watch->limits->finding_count - 1; i >= 0; i--) {
        yk_finding finding = watch->limits->findings[i];
        bool loop = finding.kind == YK_FINDING_WIRE_LOOP;
        if (wrong || (lags && loop))
            finding.severity = YK_FINDING_SEVERITY_SERIOUS;

        /* A delay does not help against signals that grow because of it. */
        if (lags && loop && isnan(finding.value))
            finding.remedy_count = 0;
        insert_finding(report, &finding);
    }
}

void yk_watch_conclude(const yk_watch *watch, yk_status outcome, yk_run_report *report)
{
    const yk_budget *b = &watch->budget;
    yk_energy_error error = yk_budget_conclude(b);
    report->spurious_energy = error.fraction;
    report->reference_energy = error.scale;
    report->finding_count = 0;
    report->energy_rounding = b->rounding;
    report->max_energy = b->largest_kinetic + (b->highest_potential - b->lowest_potential);
    report->dissipated_energy = b->dissipated;
    report->energy_created = error.at_interfaces;

    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
        judges[i](watch, report);
    if (YK_FAILED(outcome) && outcome != YK_INTERRUPTED) {
        yk_finding f = yk_finding_of(YK_FINDING_RUN_FAILED, YK_CAUSE_DEFAULT, report->time);
        f.time = report->time;
        yk_finding_set(&f, "step", (double)report->step_count + 1);
        yk_finding_set(&f, "steps", (double)watch->info->step_count);
        yk_finding_add(report, &f);
    }

    report->mass_ratio = NAN;
    if (watch->limits) {
        report->mass_ratio = watch->limits->mass_ratio;
        insert_limits(watch, report);
    }

    for (int i = 0; i < report->finding_count; i++)
        yk_finding_describe(watch->info, &report->findings[i]);
}
