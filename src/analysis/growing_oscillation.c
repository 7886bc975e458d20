/* Oscillation of an interface wrench from macro step to macro step: the signature of an unstable
 * coupling.
 *
 * A motion that the steps resolve changes a wrench by similar differences from one step to the
 * next. An unstable coupling makes it alternate with a period of two to five steps, with an
 * amplitude that grows by a fixed factor: it is a mode of the linear map from step to step, so each
 * difference follows from the two previous ones, d[k+1] = a d[k] + b d[k-1], and the roots of z^2 =
 * a z + b give the factor. Wrenches of impacts are rough too, and may grow for a while, but follow
 * no such law. Only the last steps of each window are evaluated, so that most steps only increment
 * a counter. */
#include <math.h>

#include "analysis/run.h"
#include "base/restored.h"
#include "math/vec3.h"

/* Ratio of the squares of second and first differences above which a wrench is rough: an
 * oscillation with a period of four steps has 2, of two steps 4. */
static const double ROUGH = 1.5;
/* Fraction of the squares that the law of a mode need not explain. */
static const double MISFIT = 0.1;
/* Factor of the squares from window to window that counts as growth. */
static const double RISE = 1.2;
/* Amplitude, relative to the largest wrench of the interface, that is analyzed, and that matters at
 * the end. */
static const double NOTABLE = 1e-4;
static const double MATTERS = 0.05;
/* Multiple of the tolerance of the iterations. */
static const double NOISE = 10;
/* Squares near overflow are meaningless. */
static const double OVERFLOWING = 1e280;

enum { DIFFERENCES = YK_RIPPLE_SEEN - 1 };

static double sum_of_products(const double *a, const double *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The fraction of the squares that the best d[k+1] = a d[k] + b d[k-1] leaves unexplained. For an
 * oscillation of period two, d[k] is parallel to d[k-1] and one coefficient is sufficient; the
 * small regularization handles this case. */
static double misfit(const double *d)
{
    const int count = DIFFERENCES - 2;
    const double *next = d + 2;
    const double *now = d + 1;
    const double *last = d;

    /* The normal equations of a and b. */
    double square = sum_of_products(next, next, count);
    double ridge = 1e-9 * square;
    double nn = sum_of_products(now, now, count) + ridge;
    double nl = sum_of_products(now, last, count);
    double ll = sum_of_products(last, last, count) + ridge;
    double fn = sum_of_products(next, now, count);
    double fl = sum_of_products(next, last, count);
    double determinant = nn * ll - nl * nl;
    if (!(determinant > 0))
        return 1;

    double a = (fn * ll - fl * nl) / determinant;
    double b = (fl * nn - fn * nl) / determinant;

    /* The unexplained remainder. */
    double left = 0;
    for (int k = 0; k < count; k++) {
        double error = next[k] - a * now[k] - b * last[k];
        left += error * error;
    }

    return left / square;
}

void yk_ripple_add(yk_ripple *r, const yk_wrench *wrench, double time)
{
    /* Values of the end of the window, and the largest wrench so far. */
    const yk_vec3 *force = &wrench->force;
    const yk_vec3 *torque = &wrench->torque;
    const double values[6] = {force->x, force->y, force->z, torque->x, torque->y, torque->z};
    int slot = r->count - (YK_RIPPLE_WINDOW - YK_RIPPLE_SEEN) - 1;
    for (int i = 0; i < 6; i++)
        r->components[i].seen[slot] = values[i];

    r->size = fmax(r->size, sqrt(fmax(yk_v3_norm2(*force), yk_v3_norm2(*torque))));
    if (r->count < YK_RIPPLE_WINDOW)
        return;

    /* The window is full. */
    r->swing = 0;
    for (int i = 0; i < 6 && r->size > 0; i++) {
        const double *seen = r->components[i].seen;
        double d[DIFFERENCES];
        double second[DIFFERENCES - 1];
        for (int k = 0; k < DIFFERENCES; k++)
            d[k] = seen[k + 1] - seen[k];
        for (int k = 0; k < DIFFERENCES - 1; k++)
            second[k] = d[k + 1] - d[k];

        /* Whether the window shows an oscillation with the law of a mode; its size is that of the
         * squared differences. */
        double squares = sum_of_products(d + 1, d + 1, DIFFERENCES - 1);
        double least = fmax(NOTABLE * r->size, NOISE * (r->resolved + r->relative * r->size));
        bool notable = squares > least * least;
        bool rough = sum_of_products(second, second, DIFFERENCES - 1) > ROUGH * squares;
        bool swings = notable && rough && misfit(d) < MISFIT;
        if (swings)
            r->swing = fmax(r->swing, sqrt(squares / (DIFFERENCES - 1)) / r->size);

        /* Number of consecutive windows in which it grew; the longest sequence is stored. */
        double before = r->components[i].before;
        int rising = 0;
        if (swings && before > 0 && squares > RISE * before)
            rising = r->components[i].rising + 1;
        if (rising == 1)
            r->components[i].at_begin = before;

        if (rising > r->longest && squares < OVERFLOWING) {
            double rise = squares / r->components[i].at_begin;
            r->longest = rising;
            r->growth = pow(rise, 0.5 / (rising * YK_RIPPLE_WINDOW));
            r->time = time;
        }

        r->components[i].rising = rising;
        r->components[i].before = squares;
    }

    r->count = 0;
}

bool yk_ripple_is_valid(const yk_ripple *ripple)
{
    bool valid = ripple->count >= 0 && ripple->count < YK_RIPPLE_WINDOW;
    for (int i = 0; i < 6; i++)
        valid = valid && yk_is_restored_small_count(ripple->components[i].rising);
    return valid && yk_is_restored_small_count(ripple->longest);
}

bool yk_ripple_matters(const yk_ripple *ripple)
{
    return ripple->swing > MATTERS;
}

double yk_ripple_limit(void)
{
    return MATTERS;
}
