/* Puts modes in order: by ascending modulus, with shapes of one frequency orthogonal to each other,
 * and each with the frequency that rounding errors alone could cause. */
#include <float.h>
#include <math.h>

#include "multibody/modes.h"

static void swap(double *a, double *b)
{
    double keep = *a;
    *a = *b;
    *b = keep;
}

static double *shape_of(yk_linear_modes *modes, int i)
{
    return modes->shape + 2 * (size_t)i * (size_t)modes->unknowns;
}

/* x^H A y; the imaginary parts follow the real ones. */
static void inner_product(const yk_linear_matrix *a, int n, const double *x, const double *y,
                          double product[2])
{
    product[0] = 0;
    product[1] = 0;
    for (size_t k = 0; k < a->count; k++) {
        const yk_matrix_entry *e = &a->entries[k];
        int row = e->row;
        int column = e->column;
        product[0] += e->value * (x[row] * y[column] + x[n + row] * y[n + column]);
        product[1] += e->value * (x[row] * y[n + column] - x[n + row] * y[column]);
    }
}

static bool same_frequency(const yk_linear_modes *modes, int i, int j)
{
    /* Free motions all have the frequency zero within rounding errors. */
    double size = hypot(modes->real[j], modes->imaginary[j]);
    if (size < modes->floor[j])
        return hypot(modes->real[i], modes->imaginary[i]) < modes->floor[i];

    double apart_re = modes->real[i] - modes->real[j];
    double apart_im = modes->imaginary[i] - modes->imaginary[j];
    return hypot(apart_re, apart_im) < 1e-8 * size;
}

/* Subtracts the component along mode i from mode j, in the metric of the masses, unless nothing
 * would remain. */
static void separate(const yk_linear_system *system, yk_linear_modes *modes, int i, int j)
{
    int n = system->unknowns;
    double *x = shape_of(modes, i);
    double *y = shape_of(modes, j);
    double own[2];
    double other[2];
    double shared[2];

    inner_product(&system->mass, n, x, x, own);
    inner_product(&system->mass, n, y, y, other);
    inner_product(&system->mass, n, x, y, shared);
    double square = shared[0] * shared[0] + shared[1] * shared[1];
    if (!(own[0] > 0) || square > (1 - 1e-8) * own[0] * other[0])
        return;

    /* y -= x (x^H M y) / (x^H M x) */
    double re = shared[0] / own[0];
    double im = shared[1] / own[0];
    for (int k = 0; k < n; k++) {
        y[k] -= re * x[k] - im * x[n + k];
        y[n + k] -= re * x[n + k] + im * x[k];
    }
}

void yk_linear_modes_order(const yk_linear_system *system, double shift, yk_linear_modes *modes)
{
    int n = system->unknowns;

    /* By ascending modulus. Modes that differ by rounding errors keep their order. */
    for (int i = 1; i < modes->count; i++) {
        for (int j = i; j > 0; j--) {
            double size = hypot(modes->real[j], modes->imaginary[j]);
            double before = hypot(modes->real[j - 1], modes->imaginary[j - 1]);
            if (size >= before * (1 - 1e-12))
                break;

            /* Exchanges values and shapes of both. */
            double *columns[3] = {modes->real, modes->imaginary, modes->residual};
            for (int k = 0; k < 3; k++)
                swap(&columns[k][j], &columns[k][j - 1]);

            double *x = shape_of(modes, j);
            double *y = shape_of(modes, j - 1);
            for (int k = 0; k < 2 * n; k++)
                swap(&x[k], &y[k]);
        }
    }

    /* Rounding errors of the stiffness give a shape without stiffness some s^2 = eps |x|^T |K| |x|
     * / (x^H M x), whatever the units of its unknowns. The shift, from which s^2 is measured, adds
     * eps z^2. */
    for (int i = 0; i < modes->count; i++) {
        const double *x = shape_of(modes, i);
        double mass[2];
        inner_product(&system->mass, n, x, x, mass);

        double form = 0;
        for (size_t k = 0; k < system->stiffness.count; k++) {
            const yk_matrix_entry *e = &system->stiffness.entries[k];
            double row = hypot(x[e->row], x[n + e->row]);
            form += fabs(e->value) * row * hypot(x[e->column], x[n + e->column]);
        }

        double cancelled = 0;
        if (mass[0] > 0)
            cancelled = form / mass[0];
        modes->floor[i] = sqrt(100 * DBL_EPSILON * fmax(cancelled, shift * shift));
    }

    /* Shapes of one frequency span a space and are not unique. They are made orthogonal, so that
     * their properties, such as effective masses, can be added. */
    for (int j = 1; j < modes->count; j++) {
        for (int i = j - 1; i >= 0 && same_frequency(modes, i, j); i--)
            separate(system, modes, i, j);
    }

    /* Divided by the largest component, which becomes one with no imaginary part. */
    for (int i = 0; i < modes->count; i++) {
        double *re = shape_of(modes, i);
        double *im = re + n;
        int top = 0;
        for (int k = 1; k < n; k++) {
            if (hypot(re[k], im[k]) > (1 + 1e-9) * hypot(re[top], im[top]))
                top = k;
        }

        double size2 = re[top] * re[top] + im[top] * im[top];
        if (!(size2 > 0))
            continue;

        /* Multiplied by its inverse. */
        double by_re = re[top] / size2;
        double by_im = -im[top] / size2;
        for (int k = 0; k < n; k++) {
            double a = re[k] * by_re - im[k] * by_im;
            im[k] = re[k] * by_im + im[k] * by_re;
            re[k] = a;
        }
    }
}
