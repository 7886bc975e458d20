#include "math/lookup.h"

#include <math.h>
#include <stdbool.h>

/* Slopes --------------------------------------------------------------------------------------- */

/* Solves a tridiagonal system in place: row i is lower[i], diagonal[i], upper[i]. Without pivoting;
 * the systems of splines do not need it. */
static void solve_tridiagonal(int n, const double *lower, double *diagonal, const double *upper,
                              double *right)
{
    for (int i = 1; i < n; i++) {
        double factor = lower[i] / diagonal[i - 1];
        diagonal[i] -= factor * upper[i - 1];
        right[i] -= factor * right[i - 1];
    }

    right[n - 1] /= diagonal[n - 1];
    for (int i = n - 2; i >= 0; i--)
        right[i] = (right[i] - upper[i] * right[i + 1]) / diagonal[i];
}

static double width(const yk_lookup *l, int i)
{
    return l->arguments[i + 1] - l->arguments[i];
}

/* Slope of the chord from point i to the next. */
static double chord(const yk_lookup *l, int i)
{
    return (l->values[i + 1] - l->values[i]) / width(l, i);
}

/* The second derivative is continuous at the points, and the third at the second and at the last
 * but one (not-a-knot). */
static void spline_slopes(const yk_lookup *l, double *slopes, double *work)
{
    int n = l->count;
    double *lower = work;
    double *diagonal = work + n;
    double *upper = work + 2 * n;

    if (n == 2) {
        slopes[0] = slopes[1] = chord(l, 0);
        return;
    }

    for (int i = 1; i < n - 1; i++) {
        double before = width(l, i - 1);
        double after = width(l, i);
        lower[i] = after;
        diagonal[i] = 2 * (before + after);
        upper[i] = before;
        slopes[i] = 3 * (after * chord(l, i - 1) + before * chord(l, i));
    }

    /* Three points lie on a parabola: the slope at an end is 2 chord - the slope in the middle. */
    if (n == 3) {
        double before = width(l, 0);
        double after = width(l, 1);
        double middle = (after * chord(l, 0) + before * chord(l, 1)) / (before + after);
        slopes[0] = 2 * chord(l, 0) - middle;
        slopes[1] = middle;
        slopes[2] = 2 * chord(l, 1) - middle;
        return;
    }

    double first = width(l, 0);
    double second = width(l, 1);
    double both = first + second;
    lower[0] = 0;
    diagonal[0] = second;
    upper[0] = both;
    slopes[0] = ((first + 2 * both) * second * chord(l, 0) + first * first * chord(l, 1)) / both;

    double last = width(l, n - 2);
    double previous = width(l, n - 3);
    both = last + previous;
    lower[n - 1] = both;
    diagonal[n - 1] = previous;
    upper[n - 1] = 0;
    slopes[n - 1] =
        (last * last * chord(l, n - 3) + (2 * both + last) * previous * chord(l, n - 2)) / both;

    solve_tridiagonal(n, lower, diagonal, upper, slopes);
}

/* The first and the last point are one. The cyclic system is a tridiagonal one with a correction of
 * rank one (Sherman, Morrison). */
static void periodic_spline_slopes(const yk_lookup *l, double *slopes, double *work)
{
    int n = l->count - 1;
    if (n == 1) {
        slopes[0] = slopes[1] = 0;
        return;
    }

    if (n == 2) {
        double sum = chord(l, 0) / width(l, 0) + chord(l, 1) / width(l, 1);
        slopes[0] = sum / (1 / width(l, 0) + 1 / width(l, 1));
        slopes[1] = slopes[2] = slopes[0];
        return;
    }

    double *lower = work;
    double *diagonal = work + n;
    double *upper = work + 2 * n;
    double *corner = work + 3 * n;
    for (int i = 0; i < n; i++) {
        int previous = i > 0 ? i - 1 : n - 1;
        double before = width(l, previous);
        double after = width(l, i);
        lower[i] = after;
        diagonal[i] = 2 * (before + after);
        upper[i] = before;
        slopes[i] = 3 * (after * chord(l, previous) + before * chord(l, i));
        corner[i] = 0;
    }

    /* The matrix is T + c v^T with c = (g, 0, ..., upper) and v = (1, 0, ..., lower / g). */
    double g = -diagonal[0];
    double left = lower[0];
    double right = upper[n - 1];
    diagonal[0] -= g;
    diagonal[n - 1] -= left * right / g;
    corner[0] = g;
    corner[n - 1] = right;

    /* The elimination changes the diagonal: repeat it for the second right side. */
    for (int i = 1; i < n; i++) {
        double factor = lower[i] / diagonal[i - 1];
        diagonal[i] -= factor * upper[i - 1];
        slopes[i] -= factor * slopes[i - 1];
        corner[i] -= factor * corner[i - 1];
    }

    slopes[n - 1] /= diagonal[n - 1];
    corner[n - 1] /= diagonal[n - 1];
    for (int i = n - 2; i >= 0; i--) {
        slopes[i] = (slopes[i] - upper[i] * slopes[i + 1]) / diagonal[i];
        corner[i] = (corner[i] - upper[i] * corner[i + 1]) / diagonal[i];
    }

    double share =
        (slopes[0] + left / g * slopes[n - 1]) / (1 + corner[0] + left / g * corner[n - 1]);
    for (int i = 0; i < n; i++)
        slopes[i] -= share * corner[i];
    slopes[n] = slopes[0];
}

/* Chords before the first and after the last point: on a parabola through the outer three points,
 * or repeated. */
static double chord_beyond(const yk_lookup *l, int i)
{
    int n = l->count - 1;
    if (i >= 0 && i < n)
        return chord(l, i);
    if (l->extrapolation == YK_LOOKUP_OUTSIDE_PERIODIC)
        return chord(l, (i + n) % n);
    if (n == 1)
        return chord(l, 0);
    if (i < 0)
        return chord(l, 0) - i * (chord(l, 0) - chord(l, 1));
    return chord(l, n - 1) + (i - n + 1) * (chord(l, n - 1) - chord(l, n - 2));
}

/* Akima 1970, equation 1: the mean of the neighbouring chords, each weighted by the change of slope
 * on the other side. */
static void akima_slopes(const yk_lookup *l, double *slopes)
{
    for (int i = 0; i < l->count; i++) {
        double before = chord_beyond(l, i - 1);
        double after = chord_beyond(l, i);
        double change_after = fabs(chord_beyond(l, i + 1) - after);
        double change_before = fabs(before - chord_beyond(l, i - 2));
        double sum = change_after + change_before;

        /* Straight on both sides: the mean. */
        double scale = fabs(before) + fabs(after);
        if (sum <= 1e-9 * scale || sum == 0)
            slopes[i] = 0.5 * (before + after);
        else
            slopes[i] = (change_after * before + change_before * after) / sum;
    }
}

void yk_lookup_compute_slopes(const yk_lookup *l, double *slopes, double *work)
{
    if (l->count == 1)
        slopes[0] = 0;
    else if (l->interpolation == YK_LOOKUP_AKIMA)
        akima_slopes(l, slopes);
    else if (l->extrapolation == YK_LOOKUP_OUTSIDE_PERIODIC)
        periodic_spline_slopes(l, slopes, work);
    else
        spline_slopes(l, slopes, work);
}

/* Values --------------------------------------------------------------------------------------- */

/* The last point at or before x, from 0 to count - 2. */
static int interval_of(const double *arguments, int count, double x)
{
    int low = 0;
    int high = count - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (arguments[middle] <= x)
            low = middle;
        else
            high = middle;
    }

    return low;
}

/* Slope of the interpolation at an end, to the inside. */
static double slope_at_end(const yk_lookup *l, bool last)
{
    if (l->slopes)
        return l->slopes[last ? l->count - 1 : 0];
    if (l->interpolation == YK_LOOKUP_STEP || l->count < 2)
        return 0;

    /* A jump at the end has no slope. */
    int i = last ? l->count - 2 : 0;
    return width(l, i) > 0 ? chord(l, i) : 0;
}

double yk_lookup_value(const yk_lookup *l, double x)
{
    int n = l->count;
    double first = l->arguments[0];
    double last = l->arguments[n - 1];
    if (isnan(x))
        return x;

    if (l->extrapolation == YK_LOOKUP_OUTSIDE_PERIODIC && n > 1) {
        double period = last - first;
        x -= period * floor((x - first) / period);
    }

    if (x < first || x > last) {
        bool after = x > last;
        double end = after ? last : first;
        double value = l->values[after ? n - 1 : 0];
        if (l->extrapolation == YK_LOOKUP_OUTSIDE_NONE)
            return NAN;
        if (l->extrapolation == YK_LOOKUP_OUTSIDE_LINEAR)
            return value + (x - end) * slope_at_end(l, after);
        return value;
    }

    if (n == 1 || x == last)
        return l->values[n - 1];

    int i = interval_of(l->arguments, n, x);
    double h = width(l, i);
    if (l->interpolation == YK_LOOKUP_STEP)
        return l->values[i];

    double s = (x - l->arguments[i]) / h;
    double begin = l->values[i];
    double end = l->values[i + 1];
    if (!l->slopes)
        return begin + s * (end - begin);

    /* Cubic Hermite polynomial. */
    double rest = 1 - s;
    double slope = h * s * rest * (rest * l->slopes[i] - s * l->slopes[i + 1]);
    return begin * rest * rest * (1 + 2 * s) + end * s * s * (3 - 2 * s) + slope;
}

/* Position of x among ascending arguments: the interval and the fraction of it. Linear
 * extrapolation leaves the fraction outside of 0 to 1. False: there is no value. */
static bool place(const yk_lookup *l, const double *arguments, int count, double x, int *interval,
                  double *fraction)
{
    double first = arguments[0];
    double last = arguments[count - 1];
    *interval = 0;
    *fraction = 0;
    if (l->extrapolation == YK_LOOKUP_OUTSIDE_NONE && (x < first || x > last))
        return false;
    if (count == 1)
        return true;
    if (l->extrapolation == YK_LOOKUP_OUTSIDE_HOLD)
        x = fmax(first, fmin(last, x));

    *interval = interval_of(arguments, count, x);
    double begin = arguments[*interval];
    *fraction = (x - begin) / (arguments[*interval + 1] - begin);
    if (l->interpolation == YK_LOOKUP_STEP)
        *fraction = *fraction >= 1 ? 1 : 0;

    return true;
}

double yk_lookup_value_2(const yk_lookup *l, double x, double y)
{
    int i;
    int j;
    double s;
    double r;
    if (isnan(x) || isnan(y) || !place(l, l->arguments, l->count, x, &i, &s) ||
        !place(l, l->second, l->second_count, y, &j, &r))
        return NAN;

    /* A grid of one row or one column has no neighbours. */
    int m = l->second_count;
    int next = l->count > 1 ? m : 0;
    int beside = m > 1 ? 1 : 0;
    const double *corner = l->values + i * m + j;
    double low = corner[0] + r * (corner[beside] - corner[0]);
    double high = corner[next] + r * (corner[next + beside] - corner[next]);
    return low + s * (high - low);
}
