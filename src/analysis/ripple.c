#include "analysis/ripple.h"

#include <math.h>

/* Ratio of the squares above which it is rough: a swing with a period of four steps has 2, of two steps 4. */
static const double ROUGH = 1.5;
/* Factor of the squares from window to window that counts as growth. */
static const double RISE = 1.2;
/* Swing by the largest effort that is worth a word. */
static const double NOTABLE = 1e-6;

/* Squares that are about to overflow tell nothing any more. */
static const double OVERFLOWING = 1e280;

static void end_window(yk_ripple *r, double time)
{
    bool rough = r->second > ROUGH * r->first && r->first > NOTABLE * NOTABLE * r->size;
    if (rough && r->before > 0 && r->first > RISE * r->before) {
        if (r->rising++ == 0) r->at_begin = r->before;
        if (r->rising > r->longest && r->first < OVERFLOWING) {
            r->longest = r->rising;
            r->growth = pow(r->first / r->at_begin, 0.5 / (r->rising * YK_RIPPLE_WINDOW));
            r->time = time;
        }
    } else {
        r->rising = 0;
    }
    r->before = r->first;
    r->first = r->second = 0;
    r->count = 0;
}

void yk_ripple_add(yk_ripple *r, const yk_effort *effort, double time)
{
    const double values[6] = {effort->force.x,  effort->force.y,  effort->force.z,
                              effort->torque.x, effort->torque.y, effort->torque.z};
    double square = 0;
    bool full = r->count > YK_RIPPLE_WINDOW - YK_RIPPLE_SEEN + 2;
    for (int i = 0; i < 6; i++) {
        square += values[i] * values[i];
        double change = values[i] - r->last[i], second = change - r->change[i];
        r->last[i] = values[i], r->change[i] = change;
        if (!full) continue;
        r->first += change * change;
        r->second += second * second;
    }
    if (square > r->size) r->size = square;
    if (r->count == YK_RIPPLE_WINDOW) end_window(r, time);
}
