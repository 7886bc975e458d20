/* Summary of a run (summary.h). */
#include "summary.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "mpi.h"

/* Numbers -------------------------------------------------------------------------------------- */

void format_number(char *text, size_t capacity, double value)
{
    bool is_small = fabs(value) < 0.01 && value != 0;
    for (int digits = 1; digits <= 6; digits++) {
        if (is_small)
            snprintf(text, capacity, "%.*e", digits - 1, value);
        else
            snprintf(text, capacity, "%.*g", digits, value);
        if (yk_text_number(text, NULL) == value)
            return;
    }
}

static void format_duration(char *text, size_t capacity, double seconds)
{
    if (seconds < 1e-3)
        snprintf(text, capacity, "%.*g us", seconds < 1e-4 ? 2 : 3, 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, capacity, "%.*g ms", seconds < 0.1 ? 2 : 3, 1e3 * seconds);
    else if (seconds < 600)
        snprintf(text, capacity, "%.3g s", seconds);
    else
        snprintf(text, capacity, "%.0f min", seconds / 60);
}

/* Energies at rounding of the largest one are zero. */
static double without_rounding(double energy, double scale)
{
    return fabs(energy) > 1e-12 * scale ? energy : 0;
}

/* Headline ------------------------------------------------------------------------------------- */

void print_headline(const yk_scenario_info *info)
{
    char step[32];
    char end[32];
    format_number(step, sizeof step, info->step);
    format_number(end, sizeof end, info->end);

    print_styled(stdout, STYLE_TITLE, "%s\n", scenario_title(info));
    if (info->subsystem_count > 1) {
        /* "explicit, gauss-seidel": the options of the scheme are put in parentheses. */
        char scheme[80];
        yk_scheme_display_name(&info->scheme, scheme, sizeof scheme);
        char *options = strstr(scheme, ", ");
        if (options)
            *options = '\0';
        print_out(options ? "scheme %s (%s), " : "scheme %s, ", scheme, options ? options + 2 : "");
    }
    print_out("%lld macro steps of %s s, end %s s\n", (long long)info->step_count, step, end);
}

/* Tables --------------------------------------------------------------------------------------- */

/* Wall time of short steps is sampled and scaled, and may come out larger than that of the run. */
static void print_subsystem_row(const char *name, const char *solver, int64_t calls, double own,
                                double all)
{
    double percent = 0;
    if (all > 0)
        percent = fmin(100, 100 * own / all);
    print_out("  %-20s %-12s %11lld %13.3g %10.0f\n", name, solver, (long long)calls,
              fmin(own, all), percent);
}

static void print_subsystems(const yk_scenario_info *info, const yk_system *system,
                             const yk_run_report *report, bool merged)
{
    print_styled(stdout, STYLE_DIM, "\n  %-20s %-12s %11s %13s %10s\n", "subsystem", "solver",
                 "calls", "wall time s", "% of run");
    for (int i = 0; i < info->subsystem_count; i++) {
        const char *name = info->subsystem_names[i];
        if (merged && i > 0) {
            print_out("  %-20s (merged into '%s')\n", name, info->subsystem_names[0]);
            continue;
        }

        yk_subsystem_statistics s = yk_system_subsystem_statistics(system, (yk_subsystem_id){i});
        print_subsystem_row(name, info->subsystem_solvers[i], s.calls, s.wall_time,
                            report->wall_time);
        if (s.model_calls > 0)
            print_subsystem_row("  interface model", "", s.model_calls, s.model_wall_time,
                                report->wall_time);
    }
}

static void print_contact_residuals(const loaded *l, const yk_scenario_info *info)
{
    static const double ROUNDING = 1e-12; /* m/s */
    const char *lead = "\n";
    for (int i = 0; i < info->subsystem_count; i++) {
        double residual;
        if (!yk_run_max_contact_residual(l->scenario, (yk_subsystem_id){i}, &residual) ||
            residual <= ROUNDING)
            continue;

        print_out("%s  contacts of '%s': max residual %.3g m/s\n", lead, info->subsystem_names[i],
                  residual);
        lead = "";
    }
}

static void print_interfaces(const yk_scenario_info *info, const yk_system *system)
{
    /* Columns of rotations are left out if nothing rotates apart. */
    static const double ROUNDING = 1e-12; /* rad, rad/s */
    bool rotates = false;
    for (int i = 0; i < info->interface_count; i++) {
        yk_interface_gap gap = yk_system_interface_statistics(system, (yk_interface_id){i}).max_gap;
        rotates = rotates || gap.rotation > ROUNDING || gap.angular_velocity > ROUNDING;
    }

    print_styled(stdout, STYLE_DIM, "\n  %-20s %13s %14s", "interface", "max gap m", "max gap m/s");
    if (rotates)
        print_styled(stdout, STYLE_DIM, " %14s %14s", "max gap rad", "max gap rad/s");
    print_styled(stdout, STYLE_DIM, " %18s\n", "energy created J");

    for (int i = 0; i < info->interface_count; i++) {
        yk_interface_statistics s = yk_system_interface_statistics(system, (yk_interface_id){i});
        print_out("  %-20s %13.2g %14.2g", info->interfaces[i].name, s.max_gap.position,
                  s.max_gap.velocity);
        if (rotates)
            print_out(" %14.2g %14.2g", s.max_gap.rotation, s.max_gap.angular_velocity);
        print_out(" %18.2g\n", s.energy_created);
    }
}

/* Subsystems that do not report their energy are left out. The sum is that of the verdict: a mean
 * over the end of the run, since sound methods let the energy oscillate. */
static void print_energies(const yk_scenario_info *info, const yk_system *system,
                           const yk_run_report *report)
{
    bool has_header = false;
    for (int i = 0; i < info->subsystem_count; i++) {
        yk_energy energy;
        if (!yk_system_energy(system, (yk_subsystem_id){i}, &energy))
            continue;

        if (!has_header)
            print_styled(stdout, STYLE_DIM, "\n  %-20s %10s %10s %12s %15s %16s %11s\n", "energy J",
                         "initial", "final", "dissipated", "external work", "interface work",
                         "numerical");
        has_header = true;

        yk_energy_balance b = yk_system_energy_balance(system, (yk_subsystem_id){i});
        double final = b.kinetic + b.potential;
        double scale = fmax(fmax(fabs(b.initial), fabs(final)),
                            fmax(fabs(b.external_work), fabs(b.interface_work)));
        print_out("  %-20s %10.3g %10.3g %12.3g %15.3g %16.3g %11.2g\n", info->subsystem_names[i],
                  b.initial, final, without_rounding(b.dissipated, scale),
                  without_rounding(b.external_work, scale),
                  without_rounding(b.interface_work, scale), without_rounding(b.numerical, scale));
    }

    double all = report->spurious_energy * report->reference_energy;
    if (!has_header || !isfinite(all) || !(report->reference_energy > 0))
        return;

    print_out("  created by interfaces %.3g J, by integration %.3g J (means over the end of the "
              "run): %.3g J\n",
              report->energy_created, all - report->energy_created, all);
}

static void print_pace(const yk_run_report *report)
{
    const yk_pace_report *pace = &report->pace;
    char longest[32];
    char late[32];
    format_duration(longest, sizeof longest, pace->longest_step);
    format_duration(late, sizeof late, pace->largest_lateness);
    print_out("pace %g: %lld of %lld steps late", pace->factor, (long long)pace->overruns,
              (long long)report->step_count);
    if (pace->overruns > 0)
        print_out(", by %s at most", late);
    print_out("; longest step %s, to t = %g s\n", longest, pace->longest_step_time);
}

static void print_cost(yk_system *system, const yk_run_report *report)
{
    char run[32];
    format_duration(run, sizeof run, report->wall_time);
    double step = 1e6 * report->wall_time / (double)report->step_count;
    print_out("finished in %s (%.*f us per step)", run, step < 10 ? 2 : step < 100 ? 1 : 0, step);

    yk_system_statistics all = yk_system_get_statistics(system);
    if (all.iterations > all.steps)
        print_out(", %.3g iterations per step (max %d)", (double)all.iterations / (double)all.steps,
                  all.max_iterations);
    print_out("\n");

    const yk_error_estimate *e = &report->estimate;
    if (e->run_count > 0 && e->cpu_time > 0) {
        char estimate[32];
        format_duration(estimate, sizeof estimate, e->cpu_time);
        print_out("estimating the error took %s of processor time (%d run%s with other steps",
                  estimate, e->run_count, plural(e->run_count));
        if (e->relative_cost < 1)
            print_out(", %.0f %% of the run)\n", fmax(1, 100 * e->relative_cost));
        else
            print_out(", %.2g times the run)\n", e->relative_cost);
    }

    if (all.min_step < all.max_step)
        print_out("%lld macro steps of %.3g to %.3g s, %lld rejected, %lld accepted at the minimum "
                  "step\n",
                  (long long)all.steps, all.min_step, all.max_step, (long long)all.steps_rejected,
                  (long long)all.steps_accepted_at_min_step);

    yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX];
    int count = yk_system_scheme_statistics(system, rows);
    for (int i = 0; i < count; i++)
        print_out("%s%.0f %s", i ? ", " : "", rows[i].value, rows[i].name);
    if (count > 0)
        print_out("\n");
    ranks_print_traffic(report->step_count);
}

/* Findings ------------------------------------------------------------------------------------- */

static const char *finding_name(const yk_finding *finding)
{
    return yk_finding_kind_name(finding->kind);
}

static bool is_serious(const yk_finding *finding)
{
    return finding->severity == YK_FINDING_SEVERITY_SERIOUS;
}

bool has_serious_finding(const yk_run_report *report)
{
    for (int i = 0; i < report->finding_count; i++)
        if (is_serious(&report->findings[i]))
            return true;
    return false;
}

/* "mass_ratio at interface 'joint'" */
static void print_finding_name(FILE *stream, const yk_scenario_info *info,
                               const yk_finding *finding)
{
    print_styled(stream, is_serious(finding) ? STYLE_SERIOUS : STYLE_WARNING, "%s",
                 finding_name(finding));
    int interface = finding->interface_index.index;
    if (interface >= 0 && interface < info->interface_count)
        print_to(stream, " at interface '%s'", info->interfaces[interface].name);
}

/* The message as a sentence, wrapped and indented. */
static void print_message(FILE *stream, int indent, const char *message)
{
    enum { LINE_WIDTH = 100 };
    size_t width = (size_t)indent;
    print_to(stream, "%*s", indent, "");
    for (bool first = true; *message; first = false) {
        size_t length = strcspn(message, " \n");
        if (width > (size_t)indent && width + 1 + length > LINE_WIDTH) {
            print_to(stream, "\n%*s", indent, "");
            width = (size_t)indent;
        } else if (!first) {
            print_to(stream, " ");
            width++;
        }

        if (first)
            print_to(stream, "%c%.*s", toupper((unsigned char)*message), (int)length - 1,
                     message + 1);
        else
            print_to(stream, "%.*s", (int)length, message);
        width += length;
        message += length;
        bool is_last = !message[strspn(message, " \n")];
        if (is_last && message[-1] != '.')
            print_to(stream, ".");
        message += strspn(message, " \n");
    }
    print_to(stream, "\n");
}

static bool is_same_remedy(const yk_remedy *a, const yk_remedy *b)
{
    if (a->kind != b->kind || a->override_count != b->override_count)
        return false;
    for (int i = 0; i < a->override_count; i++)
        if (strcmp(a->overrides[i], b->overrides[i]) != 0)
            return false;
    return true;
}

/* The first of these findings that has this remedy; -1: none. */
static int find_remedy(const yk_finding *findings, int count, const yk_remedy *remedy)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < findings[i].remedy_count; k++)
            if (is_same_remedy(&findings[i].remedies[k], remedy))
                return i;
    return -1;
}

static void print_remedy(FILE *stream, const char *path, const yk_remedy *remedy)
{
    switch (remedy->kind) {
    case YK_REMEDY_OVERRIDES:
        for (int i = 0; i < remedy->override_count; i++)
            print_to(stream, "%s--set %s", i ? " " : "", remedy->overrides[i]);
        break;
    case YK_REMEDY_RUN_ADVISE: print_to(stream, "run `yoke advise %s`", path); break;
    case YK_REMEDY_SMALLER_STEP:
        print_to(stream, "reduce time.step (`yoke convergence %s` shows how far)", path);
        break;
    }

    if (remedy->verified_until > 0 && isfinite(remedy->estimated_error))
        print_styled(stream, STYLE_DIM, "  (tried up to t = %.4g s: estimated error %.2g %%)",
                     remedy->verified_until, 100 * remedy->estimated_error);
    else if (remedy->verified_until > 0)
        print_styled(stream, STYLE_DIM, "  (tried up to t = %.4g s: no serious finding)",
                     remedy->verified_until);
    else if (remedy->kind == YK_REMEDY_OVERRIDES)
        print_styled(stream, STYLE_DIM, "  (not tried)");
}

/* The remedies of a finding, without those that earlier findings have. */
static void print_remedies(FILE *stream, int indent, const char *path, const yk_finding *findings,
                           int index)
{
    const yk_finding *finding = &findings[index];
    int printed = 0;
    for (int i = 0; i < finding->remedy_count; i++) {
        const yk_remedy *remedy = &finding->remedies[i];
        int earlier = find_remedy(findings, index, remedy);
        if (earlier >= 0 && i == 0) {
            print_to(stream, "%*s", indent, "");
            print_styled(stream, STYLE_GOOD, "Fix:");
            print_to(stream, " same as %d\n", earlier + 1);
            return;
        }
        if (earlier >= 0)
            continue;

        print_to(stream, "%*s", indent, "");
        if (printed == 0)
            print_styled(stream, STYLE_GOOD, "Fix:");
        else
            print_to(stream, "    ");
        print_to(stream, " ");
        print_remedy(stream, path, remedy);
        print_to(stream, "\n");
        printed++;
    }
}

void print_findings(const yk_scenario_info *info, const yk_finding *findings, int count)
{
    enum { INDENT = 3 };
    for (int i = 0; i < count; i++) {
        print_out("\n%d. ", i + 1);
        print_finding_name(stdout, info, &findings[i]);
        print_out("\n");
        print_message(stdout, INDENT, findings[i].message);
        print_remedies(stdout, INDENT, info->path, findings, i);
    }
}

void print_warnings(const char *lead, const yk_scenario_info *info, const yk_finding *findings,
                    int count)
{
    enum { INDENT = 2 };
    for (int i = 0; i < count; i++) {
        print_err("yoke: %s: ", lead);
        print_finding_name(stderr, info, &findings[i]);
        print_err("\n");
        print_message(stderr, INDENT, findings[i].message);
        print_remedies(stderr, INDENT, info->path, findings, i);
    }
}

/* Verdict -------------------------------------------------------------------------------------- */

/* The error of what can be predicted, if contact makes single trajectories unpredictable. */
static void print_statistics(const yk_error_estimate *e)
{
    print_out(", statistics of contact");
    if (*e->statistics_channel)
        print_out(": means and rms within %.2g %% (worst: %s)", 100 * e->statistics_error,
                  e->statistics_channel);
    if (isfinite(e->dissipation_error))
        print_out("%s dissipated energy within %.2g %%", *e->statistics_channel ? "," : ":",
                  100 * e->dissipation_error);
    if (!e->available)
        print_out(", single trajectories not predictable beyond t = %.4g s", e->reliable_until);
}

static void print_verdict(const yk_run_report *report, bool coupled)
{
    int serious = 0;
    for (int i = 0; i < report->finding_count; i++)
        serious += is_serious(&report->findings[i]);
    int warnings = report->finding_count - serious;

    print_out("\n");
    if (serious > 0) {
        print_styled(stdout, STYLE_ALARM, "NOT TRUSTWORTHY");
        print_out(": %d serious finding%s", serious, plural(serious));
        if (warnings > 0)
            print_out(" and %d warning%s", warnings, plural(warnings));
    } else {
        print_styled(stdout, STYLE_GOOD, "OK");
        if (warnings > 0)
            print_out(": %d warning%s", warnings, plural(warnings));
        else
            print_out(": no findings");
    }

    const yk_error_estimate *e = &report->estimate;
    if (e->available && *e->channel && !(e->relative_error <= 10))
        print_out(", estimated error above 1000 %% (worst: %s)", e->channel);
    else if (e->available && *e->channel)
        print_out(", estimated error %.2g %% (worst: %s)", 100 * e->relative_error, e->channel);
    else if (e->available)
        print_out(", nothing that is recorded moves");
    else if (*e->reason && !e->by_statistics)
        print_out(", error not estimated (%s)", e->reason);
    if (e->by_statistics)
        print_statistics(e);
    if (e->available && *e->uncovered)
        print_out(", without the errors inside of %s", e->uncovered);
    if (coupled && serious == 0)
        print_out(", coupling stable");

    /* A much larger error is a finding, and a percentage of it says nothing. */
    if (report->reference_energy > 0 && fabs(report->spurious_energy) < 10)
        print_out(", energy error %.3g %% of %.3g J", 100 * report->spurious_energy,
                  report->reference_energy);
    print_out("\n");
}

void print_summary(const loaded *l, const yk_run_report *report, bool verbose)
{
    yk_system *system;
    if (yk_scenario_system(l->scenario, &system) != YK_OK)
        return;

    /* A merged system has no interfaces left. */
    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    bool merges = yk_scheme_traits(&info->scheme) & YK_SCHEME_MERGES;
    bool merged = info->subsystem_count > 1 && merges;
    bool begun = report->step_count > 0;
    bool coupled = begun && info->interface_count > 0 && !merged;
    bool all_tables = verbose || !has_serious_finding(report);

    if (begun)
        print_cost(system, report);
    if (begun && report->pace.factor > 0)
        print_pace(report);
    if (begun && all_tables) {
        print_subsystems(info, system, report, merged);
        print_contact_residuals(l, info);
    }
    if (coupled)
        print_interfaces(info, system);
    if (coupled && all_tables)
        print_energies(info, system, report);

    print_verdict(report, coupled);
    print_findings(info, report->findings, report->finding_count);
}

void print_results(const option_list *files, const yk_run_report *report)
{
    bool written = files->count > 0 && report->record_is_complete;
    if (!written && report->state_hash == 0)
        return;

    print_out(report->finding_count > 0 ? "\n" : "");
    if (written)
        print_out("results written to");
    for (int i = 0; written && i < files->count; i++) {
        print_out(" ");
        print_styled(stdout, STYLE_FILE, "%s", files->items[i]);
    }

    if (report->state_hash != 0)
        print_out(written ? " (state hash %016" PRIx64 ")" : "state hash %016" PRIx64,
                  report->state_hash);
    print_out("\n");
}

/* Data ----------------------------------------------------------------------------------------- */

static void write_remedy_json(json_writer *json, const yk_remedy *remedy)
{
    static const char *const kinds[] = {
        [YK_REMEDY_OVERRIDES] = "overrides",
        [YK_REMEDY_RUN_ADVISE] = "run_advise",
        [YK_REMEDY_SMALLER_STEP] = "smaller_step",
    };

    json_open_object(json, NULL);
    json_text(json, "kind", kinds[remedy->kind]);
    json_open_array(json, "overrides");
    for (int i = 0; i < remedy->override_count; i++)
        json_text(json, NULL, remedy->overrides[i]);
    json_close(json);
    json_number(json, "verified_until", remedy->verified_until > 0 ? remedy->verified_until : NAN);
    json_close(json);
}

void write_findings_json(json_writer *json, const yk_scenario_info *info,
                         const yk_finding *findings, int count)
{
    json_open_array(json, "findings");
    for (int i = 0; i < count; i++) {
        const yk_finding *finding = &findings[i];
        int interface = finding->interface_index.index;
        bool has_interface = interface >= 0 && interface < info->interface_count;
        json_open_object(json, NULL);
        json_text(json, "name", finding_name(finding));
        json_bool(json, "serious", is_serious(finding));
        json_text(json, "interface", has_interface ? info->interfaces[interface].name : NULL);
        json_number(json, "value", finding->value);
        json_text(json, "message", finding->message);
        json_open_array(json, "remedies");
        for (int k = 0; k < finding->remedy_count; k++)
            write_remedy_json(json, &finding->remedies[k]);
        json_close(json);
        json_close(json);
    }
    json_close(json);
}

static void write_subsystems_json(json_writer *json, const loaded *l, const yk_system *system)
{
    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    json_open_array(json, "subsystems");
    for (int i = 0; i < info->subsystem_count; i++) {
        yk_subsystem_statistics s = yk_system_subsystem_statistics(system, (yk_subsystem_id){i});
        json_open_object(json, NULL);
        json_text(json, "name", info->subsystem_names[i]);
        json_text(json, "solver", info->subsystem_solvers[i]);
        json_integer(json, "calls", s.calls);
        json_number(json, "wall_time", s.wall_time);

        double residual;
        if (yk_run_max_contact_residual(l->scenario, (yk_subsystem_id){i}, &residual))
            json_number(json, "max_contact_residual", residual);

        yk_energy energy;
        if (yk_system_energy(system, (yk_subsystem_id){i}, &energy)) {
            yk_energy_balance b = yk_system_energy_balance(system, (yk_subsystem_id){i});
            json_open_object(json, "energy");
            json_number(json, "initial", b.initial);
            json_number(json, "final", b.kinetic + b.potential);
            json_number(json, "dissipated", b.dissipated);
            json_number(json, "external_work", b.external_work);
            json_number(json, "interface_work", b.interface_work);
            json_number(json, "numerical", b.numerical);
            json_close(json);
        }
        json_close(json);
    }
    json_close(json);
}

static void write_interfaces_json(json_writer *json, const yk_scenario_info *info,
                                  const yk_system *system)
{
    json_open_array(json, "interfaces");
    for (int i = 0; i < info->interface_count; i++) {
        yk_interface_statistics s = yk_system_interface_statistics(system, (yk_interface_id){i});
        json_open_object(json, NULL);
        json_text(json, "name", info->interfaces[i].name);
        json_number(json, "max_gap", s.max_gap.position);
        json_number(json, "max_gap_velocity", s.max_gap.velocity);
        json_number(json, "max_gap_rotation", s.max_gap.rotation);
        json_number(json, "max_gap_angular_velocity", s.max_gap.angular_velocity);
        json_number(json, "energy_created", s.energy_created);
        json_close(json);
    }
    json_close(json);
}

/* The estimated error, and what it cost. */
static void write_estimate_json(json_writer *json, const yk_error_estimate *e)
{
    json_open_object(json, "estimate");
    json_bool(json, "available", e->available);
    json_text(json, "reason", *e->reason ? e->reason : NULL);
    json_number(json, "relative_error", e->available ? e->relative_error : NAN);
    json_text(json, "channel", *e->channel ? e->channel : NULL);
    json_text(json, "uncovered", *e->uncovered ? e->uncovered : NULL);
    json_number(json, "reliable_until", e->reliable_until);
    json_number(json, "statistics_error", e->by_statistics ? e->statistics_error : NAN);
    json_number(json, "dissipation_error", e->by_statistics ? e->dissipation_error : NAN);
    json_integer(json, "runs", e->run_count);
    json_number(json, "cpu_time", e->cpu_time);
    json_number(json, "relative_cost", e->relative_cost);
    json_close(json);
}

void write_run_json(const loaded *l, const yk_run_report *report, yk_status status,
                    const option_list *files)
{
    yk_system *system;
    if (yk_scenario_system(l->scenario, &system) != YK_OK)
        return;

    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    bool completed = status == YK_OK || status == YK_NOT_CONVERGED;
    char scheme[80];
    char hash[24];
    yk_scheme_display_name(&info->scheme, scheme, sizeof scheme);
    snprintf(hash, sizeof hash, "%016" PRIx64, report->state_hash);

    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", info->path);
    json_text(&json, "title", info->title);
    json_bool(&json, "completed", completed);
    json_bool(&json, "trustworthy", completed && !has_serious_finding(report));
    json_text(&json, "message", completed ? NULL : yk_last_message(l->context));
    json_text(&json, "scheme", scheme);
    json_number(&json, "step", info->step);
    json_integer(&json, "steps", report->step_count);
    json_number(&json, "time", report->time);
    json_number(&json, "wall_time", report->wall_time);
    if (report->pace.factor > 0) {
        json_number(&json, "pace", report->pace.factor);
        json_integer(&json, "overruns", report->pace.overruns);
        json_number(&json, "largest_lateness", report->pace.largest_lateness);
        json_number(&json, "longest_step", report->pace.longest_step);
        json_number(&json, "longest_step_time", report->pace.longest_step_time);
    }
    json_text(&json, "state_hash", report->state_hash ? hash : NULL);
    json_number(&json, "energy_error", report->spurious_energy);
    json_number(&json, "reference_energy", report->reference_energy);
    write_estimate_json(&json, &report->estimate);

    yk_system_statistics all = yk_system_get_statistics(system);
    json_integer(&json, "iterations", all.iterations);
    json_integer(&json, "max_iterations", all.max_iterations);

    write_subsystems_json(&json, l, system);
    bool merged =
        info->subsystem_count > 1 && (yk_scheme_traits(&info->scheme) & YK_SCHEME_MERGES) != 0;
    if (!merged)
        write_interfaces_json(&json, info, system);
    write_findings_json(&json, info, report->findings, report->finding_count);

    json_open_array(&json, "results");
    for (int i = 0; report->record_is_complete && i < files->count; i++)
        json_text(&json, NULL, files->items[i]);
    json_close(&json);
    json_end(&json);
}
