/* A linear model: its memory, its modes, its frequency response. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linear.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "math/vec3.h"

yk_status yk_linear_model_create(yk_context *context, int states, int inputs, int outputs,
                                 yk_linear_model **model)
{
    size_t n = (size_t)states;
    size_t m = (size_t)inputs;
    size_t p = (size_t)outputs;
    yk_linear_model *made = yk_allocate(context, 1, sizeof *made);
    *model = made;
    if (!made)
        return YK_ERROR_MEMORY;

    *made = (yk_linear_model){
        .context = context, .state_count = states, .input_count = inputs, .output_count = outputs};
    made->states = yk_allocate(context, n + m + p + 1, sizeof *made->states);
    made->a = yk_allocate(context, n * n + n * m + p * n + p * m + 1, sizeof *made->a);
    made->modes = yk_allocate(context, n + 1, sizeof *made->modes);
    made->shapes = yk_allocate(context, 2 * n * n + 1, sizeof *made->shapes);
    if (!made->states || !made->a || !made->modes || !made->shapes) {
        yk_linear_model_destroy(made);
        *model = NULL;
        return YK_ERROR_MEMORY;
    }

    made->inputs = made->states + n;
    made->outputs = made->inputs + m;
    made->b = made->a + n * n;
    made->c = made->b + n * m;
    made->d = made->c + p * n;
    return YK_OK;
}

void yk_linear_model_destroy(yk_linear_model *model)
{
    if (!model)
        return;
    yk_free(model->context, model->states);
    yk_free(model->context, model->a);
    yk_free(model->context, model->modes);
    yk_free(model->context, model->shapes);
    yk_free(model->context, model);
}

/* Modes ---------------------------------------------------------------------------------------- */

static int compare_modes(const void *a, const void *b)
{
    const yk_linear_mode *p = a;
    const yk_linear_mode *q = b;
    double x = hypot(p->real, p->imaginary);
    double y = hypot(q->real, q->imaginary);
    return (x > y) - (x < y);
}

yk_status yk_linear_model_find_modes(yk_linear_model *model)
{
    int n = model->state_count;
    size_t size = (size_t)n;
    model->mode_count = 0;
    if (n == 0)
        return YK_OK;

    double *work = yk_allocate(model->context, 2 * size * size + 2 * size, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;
    double *vectors = work + size * size;
    double *real = vectors + size * size;
    double *imaginary = real + size;
    memcpy(work, model->a, size * size * sizeof *work);
    yk_status status = yk_eigen_general_vectors(model->context, n, work, real, imaginary, vectors);

    for (int i = 0; status == YK_OK && i < n; i++) {
        if (imaginary[i] < 0)
            continue;

        double *shape = model->shapes + 2 * size * (size_t)model->mode_count;
        memcpy(shape, vectors + (size_t)i * size, size * sizeof *shape);
        memset(shape + size, 0, size * sizeof *shape);
        if (imaginary[i] > 0)
            memcpy(shape + size, vectors + (size_t)(i + 1) * size, size * sizeof *shape);

        double modulus = hypot(real[i], imaginary[i]);
        model->modes[model->mode_count++] = (yk_linear_mode){
            .real = real[i],
            .imaginary = imaginary[i],
            .frequency = imaginary[i] / (2 * YK_PI),
            .damping = modulus > 0 ? -real[i] / modulus : 0,
            .shape_real = shape,
            .shape_imaginary = shape + size,
        };
    }

    if (status == YK_OK)
        qsort(model->modes, (size_t)model->mode_count, sizeof *model->modes, compare_modes);
    yk_free(model->context, work);
    return status;
}

/* Frequency response --------------------------------------------------------------------------- */

yk_status yk_linear_model_response(const yk_linear_model *model, double frequency, double *real,
                                   double *imaginary)
{
    /* (i w - A) (x + i y) = B as real equations: (-A, -w; w, -A) (x; y) = (B; 0). */
    int n = model->state_count;
    int m = model->input_count;
    size_t size = 2 * (size_t)n;
    double omega = 2 * YK_PI * frequency;
    double *matrix = yk_allocate(model->context, size * size + size + 1, sizeof *matrix);
    int *pivot = yk_allocate(model->context, size + 1, sizeof *pivot);
    yk_status status = matrix && pivot ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double value = -model->a[i * n + j];
                matrix[(size_t)i * size + (size_t)j] = value;
                matrix[(size_t)(n + i) * size + (size_t)(n + j)] = value;
            }
            matrix[(size_t)i * size + (size_t)(n + i)] = -omega;
            matrix[(size_t)(n + i) * size + (size_t)i] = omega;
        }
        if (n > 0)
            status = yk_lu_factor((int)size, matrix, pivot);
        if (status == YK_ERROR_SINGULAR)
            status = yk_fail(model->context, YK_ERROR_SINGULAR,
                             "frequency response: an undamped mode has the frequency %g Hz, where "
                             "the response is infinite; choose another frequency",
                             frequency);
    }

    double *column = status == YK_OK ? matrix + size * size : NULL;
    for (int k = 0; status == YK_OK && k < m; k++) {
        for (int i = 0; i < n; i++) {
            column[i] = model->b[i * m + k];
            column[n + i] = 0;
        }
        if (n > 0)
            yk_lu_solve((int)size, matrix, pivot, column);
        for (int o = 0; o < model->output_count; o++) {
            const double *row = model->c + (size_t)o * (size_t)n;
            real[o * m + k] = model->d[o * m + k] + yk_dense_dot((size_t)n, row, column);
            imaginary[o * m + k] = yk_dense_dot((size_t)n, row, column + n);
        }
    }

    yk_free(model->context, matrix);
    yk_free(model->context, pivot);
    return status;
}
