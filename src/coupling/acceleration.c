/* Aitken's dynamic relaxation of the interface efforts, one factor per interface.
 *
 *   factor(l+1) = -factor(l) r(l) . (r(l+1) - r(l)) / |r(l+1) - r(l)|^2
 *
 * with r the change of the effort in one iteration. On one linear degree of freedom it is the secant method, and exact
 * after two iterations whatever the mass ratio. */
#include "coupling/interface.h"
#include "coupling/system.h"

yk_effort yk_aitken_relax(yk_link *link, const yk_effort *change, bool first)
{
    if (first) {
        link->factor = 1;
    } else {
        yk_effort difference = yk_effort_combine(link->kind, change, -1, &link->residual);
        double square = yk_effort_dot(link->kind, &difference, &difference);
        double slope = yk_effort_dot(link->kind, &link->residual, &difference);
        if (square > 0) link->factor *= -slope / square;
    }
    link->residual = *change;
    return yk_effort_combine(link->kind, &link->applied, link->factor, change);
}
