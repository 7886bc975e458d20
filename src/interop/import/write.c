/* Values, names and notes of the scenarios that readers write. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "interop/import/importer.h"

/* Prints as few digits as give the same number back. A remainder of rounding is printed as 0. */
void yk_write_number(FILE *to, double value)
{
    char text[40];
    if (fabs(value) < 1e-15)
        value = 0;

    /* Six digits do for most numbers that people write, 17 for every double. */
    for (int digits = 6; digits <= 17; digits++) {
        yk_format(text, sizeof text, "%.*g", digits, value);
        if (fabs(yk_text_number(text, NULL) - value) <= 4e-16 * fabs(value))
            break;
    }

    fputs(text, to);
}

void yk_write_vector(FILE *to, yk_vec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    for (int i = 0; i < 3; i++) {
        fputs(i == 0 ? "[" : ", ", to);
        yk_write_number(to, values[i]);
    }
    fputs("]", to);
}

void yk_write_quaternion(FILE *to, yk_quat q)
{
    /* The quaternion of a rotation with a positive real part. */
    double sign = q.w < 0 ? -1 : 1;
    const double values[4] = {sign * q.w, sign * q.x, sign * q.y, sign * q.z};
    for (int i = 0; i < 4; i++) {
        fputs(i == 0 ? "[" : ", ", to);
        yk_write_number(to, values[i]);
    }
    fputs("]", to);
}

void yk_import_clean_name(const char *name, const char *fallback, char text[YK_IMPORT_NAME_BYTES])
{
    size_t length = 0;
    if (!name || !name[0])
        name = fallback;

    /* Names of a scenario begin with a letter. */
    bool letter = (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z');
    if (!letter)
        text[length++] = 'n';

    /* Anything else becomes an underscore. */
    for (; *name && length < YK_IMPORT_NAME_LENGTH; name++) {
        bool word = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                    (*name >= '0' && *name <= '9') || *name == '_' || *name == '-';
        text[length++] = word ? *name : '_';
    }

    /* The ground's own name cannot be a body's. */
    text[length] = 0;
    if (strcmp(text, "ground") == 0)
        strcat(text, "_");
}

double yk_import_step(const yk_import *import, double model_step)
{
    static const double default_step = 1e-3;
    if (import->options.step > 0)
        return import->options.step;
    if (model_step > 0)
        return model_step;
    return default_step;
}

double yk_import_end(const yk_import *import)
{
    static const double default_end = 1;
    return import->options.end > 0 ? import->options.end : default_end;
}

void yk_import_write_notes(const yk_import *import, FILE *to)
{
    fprintf(to, "# Written by `yoke import`.\n");
    if (import->note_count > 0)
        fprintf(to, "# Not as in the model, or left out:\n");

    for (int i = 0; i < import->note_count; i++)
        fprintf(to, "#   line %d: %s\n", import->notes[i].line, import->notes[i].text);
}
