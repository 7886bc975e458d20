/* Files of a linear model. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "analysis/linear.h"
#include "base/decimal.h"
#include "base/output.h"
#include "base/text.h"
#include "record/mat.h"

static const char *name_of(const void *list, int index)
{
    return ((const yk_linear_variable *)list)[index].name;
}

static const char *unit_of(const void *list, int index)
{
    return ((const yk_linear_variable *)list)[index].unit;
}

static bool write_mat(const yk_linear_model *model, const char *path)
{
    int n = model->state_count;
    int m = model->input_count;
    int p = model->output_count;
    yk_mat_file file = yk_mat_open(path);
    yk_mat_write_matrix(&file, "A", n, n, model->a);
    yk_mat_write_matrix(&file, "B", n, m, model->b);
    yk_mat_write_matrix(&file, "C", p, n, model->c);
    yk_mat_write_matrix(&file, "D", p, m, model->d);
    yk_mat_write_matrix(&file, "time", 1, 1, &model->time);

    const struct {
        const char *names, *units;
        int count;
        const yk_linear_variable *list;
    } lists[3] = {{"states", "state_units", n, model->states},
                  {"inputs", "input_units", m, model->inputs},
                  {"outputs", "output_units", p, model->outputs}};
    for (int i = 0; i < 3; i++) {
        yk_mat_write_texts(&file, lists[i].names, lists[i].count, name_of, lists[i].list);
        yk_mat_write_texts(&file, lists[i].units, lists[i].count, unit_of, lists[i].list);
    }
    return yk_mat_close(&file);
}

static void write_row(FILE *out, const char *name, const double *first, int first_count,
                      const double *second, int second_count)
{
    char number[YK_DECIMAL_BYTES];
    fputs(name, out);
    for (int i = 0; i < first_count + second_count; i++) {
        double value = i < first_count ? first[i] : second[i - first_count];
        size_t length = yk_decimal_write(value, number);
        fputc(',', out);
        fwrite(number, 1, length, out);
    }
    fputc('\n', out);
}

/* A row per derivative and per output, a column per state and per input. */
static bool write_csv(const yk_linear_model *model, const char *path)
{
    yk_output output = yk_output_open(path);
    FILE *out = output.stream;
    if (out) {
        int n = model->state_count;
        int m = model->input_count;
        fputs("row", out);
        for (int i = 0; i < n; i++)
            fprintf(out, ",%s", model->states[i].name);
        for (int i = 0; i < m; i++)
            fprintf(out, ",%s", model->inputs[i].name);
        fputc('\n', out);
        for (int i = 0; i < n; i++) {
            char name[sizeof model->states[i].name + 8];
            yk_format(name, sizeof name, "d/dt %s", model->states[i].name);
            write_row(out, name, model->a + (size_t)i * (size_t)n, n,
                      model->b + (size_t)i * (size_t)m, m);
        }
        for (int i = 0; i < model->output_count; i++)
            write_row(out, model->outputs[i].name, model->c + (size_t)i * (size_t)n, n,
                      model->d + (size_t)i * (size_t)m, m);
    }
    return yk_output_close(&output);
}

yk_status yk_linear_model_write(const yk_linear_model *model, const char *path)
{
    const char *ending = strrchr(path, '.');
    bool is_mat = ending && strcasecmp(ending, ".mat") == 0;
    bool is_csv = ending && strcasecmp(ending, ".csv") == 0;
    if (!is_mat && !is_csv)
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "the name of the linear model '%s' must end in .mat or .csv", path);
    if (is_mat ? write_mat(model, path) : write_csv(model, path))
        return YK_OK;
    return yk_fail(model->context, YK_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
}
