#include "analysis/limits.h"

#include <math.h>
#include <stdio.h>

#include "analysis/finding.h"

static void conclude_feedthrough(const yk_watch *watch, int i, yk_run_report *report)
{
    if (!watch->interfaces[i].probe.feedthrough) return;

    yk_finding *f = yk_finding_add(
        report, YK_FINDING_FEEDTHROUGH, false, i, 1,
        "at interface '%s' the effort side answers an effort at once (an algebraic loop): no step is small "
        "enough for a scheme that does not iterate",
        watch->info->interfaces[i].name);
    yk_finding_remedy(f, "coupling.scheme=tight coupling.relaxation=quasi-newton",
                      "use coupling.scheme tight with coupling.relaxation quasi-newton");
    yk_finding_remedy(f, "", "put mass there");
}

/* The interface where the masses are worst, and how many others are like it. */
static void conclude_masses(const yk_watch *watch, yk_run_report *report)
{
    static const char *const axes[] = {"x", "y", "z", "rx", "ry", "rz"};
    int worst = -1, others = -1;
    for (int i = 0; i < watch->count; i++) {
        const yk_interface_probe *p = &watch->interfaces[i].probe;
        if (p->axis < 0) continue;
        others += p->ratio > 1;
        if (!(p->ratio <= report->mass_ratio)) report->mass_ratio = p->ratio, worst = i;
    }
    bool feels_masses = watch->info->scheme.kind == YK_SCHEME_EXPLICIT || watch->info->scheme.kind == YK_SCHEME_TIGHT;
    if (!feels_masses || worst < 0 || !(report->mass_ratio > 1)) return;

    const yk_interface_probe *p = &watch->interfaces[worst].probe;
    char more[64] = "";
    if (others > 0) snprintf(more, sizeof more, ", and %d other%s likewise", others, others > 1 ? "s" : "");
    yk_finding *f = yk_finding_add(
        report, YK_FINDING_MASS_RATIO, false, worst, p->ratio,
        "at interface '%s' the side that takes the motion is %.3g times as heavy as the other along %s (%.3g by "
        "%.3g kg%s)%s: explicit coupling is stable up to about 1 (index-1 inputs: 1.8), and plain iterations "
        "converge below 1",
        watch->info->interfaces[worst].name, p->ratio, axes[p->axis], p->motion_mass, p->effort_mass,
        p->axis < 3 ? "" : " m2", more);
    yk_finding_remedy(f, "coupling.scheme=tight coupling.relaxation=aitken",
                      "use coupling.scheme tight with coupling.relaxation aitken");
    yk_finding_remedy(f, "coupling.scheme=index1", "use coupling.scheme index1");
    yk_finding_remedy(f, "", "exchange the sides (`between`)");
}

void yk_limits_conclude(const yk_watch *watch, yk_run_report *report)
{
    report->mass_ratio = NAN;
    for (int i = 0; i < watch->count; i++) conclude_feedthrough(watch, i, report);
    conclude_masses(watch, report);
}
