#include "import/mbdyn_language.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "math/so3.h"

enum { FILE_BYTES_MAX = 16 << 20, INCLUDES_MAX = 16 };

/* Messages ------------------------------------------------------------------------------------- */

void yk_mbd_note(yk_mbd *r, const char *format, ...)
{
    char text[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    yk_xml_element here = {.file = r->file, .line = r->line};
    yk_robot_note(r->robot, &here, "%s", text);
}

void yk_mbd_refuse(yk_mbd *r, const char *format, ...)
{
    if (r->failed)
        return;

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->problem, sizeof r->problem, format, arguments);
    va_end(arguments);

    /* The first problem is the one to report; it keeps the file and line where it occurred. */
    snprintf(r->problem_file, sizeof r->problem_file, "%s", r->file);
    r->problem_line = r->line;
    r->failed = true;
}

/* Arguments ------------------------------------------------------------------------------------ */

bool yk_mbd_next_is(const yk_mbd *r, const char *word)
{
    return r->at < r->argument_count && strcasecmp(r->arguments[r->at], word) == 0;
}

bool yk_mbd_take(yk_mbd *r, const char *word)
{
    if (!yk_mbd_next_is(r, word))
        return false;

    r->at++;
    return true;
}

const char *yk_mbd_take_text(yk_mbd *r)
{
    if (r->at < r->argument_count)
        return r->arguments[r->at++];

    yk_mbd_refuse(r, "the statement ends too early");
    return "";
}

double yk_mbd_evaluate(yk_mbd *r, const char *text)
{
    yk_scope scope = {.parameters = r->constants, .parameter_count = r->constant_count};
    yk_expression_error error;
    double value;
    yk_context *context = r->robot->context;
    if (yk_expression_constant(context, text, &scope, &error, &value) == YK_OK)
        return value;

    /* Behind the semicolon stands a remedy for scenarios, whose keys a model does not have. */
    int length = (int)strcspn(error.message, ";");
    yk_mbd_refuse(r, "'%.60s' is not a number: %.*s", text, length, error.message);
    return 0;
}

double yk_mbd_take_number(yk_mbd *r)
{
    const char *text = yk_mbd_take_text(r);
    if (r->failed)
        return 0;
    return yk_mbd_evaluate(r, text);
}

int yk_mbd_take_whole(yk_mbd *r, const char *what, int least, int most)
{
    double value = yk_mbd_take_number(r);
    if (value >= least && value <= most && value == floor(value))
        return (int)value;

    yk_mbd_refuse(r, "%s is a whole number, %d to %d, not %g", what, least, most, value);
    return least;
}

/* Whether the next argument is a number or a formula of constants. */
bool yk_mbd_number_follows(yk_mbd *r)
{
    if (r->at >= r->argument_count)
        return false;

    yk_scope scope = {.parameters = r->constants, .parameter_count = r->constant_count};
    yk_expression_error error;
    double value;
    return yk_expression_constant(r->robot->context, r->arguments[r->at], &scope, &error, &value) ==
           YK_OK;
}

yk_vec3 yk_mbd_take_numbers(yk_mbd *r)
{
    if (yk_mbd_take(r, "null"))
        return yk_v3(0, 0, 0);

    double x = yk_mbd_take_number(r);
    double y = yk_mbd_take_number(r);
    double z = yk_mbd_take_number(r);
    return yk_v3(x, y, z);
}

/* Frames --------------------------------------------------------------------------------------- */

const yk_mbd_frame yk_mbd_global = {.pose = {.orientation = {1, 0, 0, 0}}};

const yk_mbd_frame *yk_mbd_find_frame(yk_mbd *r, double label, bool node)
{
    for (int i = 0; i < r->frame_count; i++)
        if (r->frames[i].node == node && r->frames[i].label == label)
            return &r->frames[i];

    yk_mbd_refuse(r, "there is no %s %g", node ? "node" : "reference", label);
    return &yk_mbd_global;
}

/* `reference, X,` before a vector or a matrix; else the frame in which they are given by
 * default. */
const yk_mbd_frame *yk_mbd_take_reference(yk_mbd *r, const yk_mbd_frame *own,
                                          const yk_mbd_frame *other)
{
    if (!yk_mbd_take(r, "reference"))
        return own;

    if (yk_mbd_take(r, "global"))
        return &yk_mbd_global;
    if (yk_mbd_take(r, "node"))
        return own;
    if (yk_mbd_take(r, "other node"))
        return other ? other : own;

    return yk_mbd_find_frame(r, yk_mbd_take_number(r), false);
}

yk_vec3 yk_mbd_take_position(yk_mbd *r, const yk_mbd_frame *own, const yk_mbd_frame *other)
{
    const yk_mbd_frame *in = yk_mbd_take_reference(r, own, other);
    yk_vec3 v = yk_q_rotate(in->pose.orientation, yk_mbd_take_numbers(r));
    return yk_v3_add(in->pose.position, v);
}

yk_vec3 yk_mbd_take_direction(yk_mbd *r, const yk_mbd_frame *own)
{
    const yk_mbd_frame *in = yk_mbd_take_reference(r, own, NULL);
    return yk_q_rotate(in->pose.orientation, yk_mbd_take_numbers(r));
}

/* By rows. */
yk_mat3 yk_mbd_take_matrix(yk_mbd *r)
{
    /* Words for common matrices. */
    yk_mat3 m = yk_m3_zero();
    if (yk_mbd_take(r, "null"))
        return m;
    if (yk_mbd_take(r, "eye"))
        return yk_m3_identity();

    if (yk_mbd_take(r, "diag")) {
        yk_vec3 d = yk_mbd_take_numbers(r);
        return yk_m3_diagonal(d.x, d.y, d.z);
    }

    /* A symmetric one has its upper triangle only. */
    bool symmetric = yk_mbd_take(r, "sym");
    if (!symmetric)
        yk_mbd_take(r, "matr");

    for (int i = 0; i < 3; i++) {
        for (int j = symmetric ? i : 0; j < 3; j++) {
            m.m[i][j] = yk_mbd_take_number(r);
            if (symmetric)
                m.m[j][i] = m.m[i][j];
        }
    }
    return m;
}

yk_quat yk_mbd_take_orientation(yk_mbd *r, const yk_mbd_frame *own, const yk_mbd_frame *other)
{
    static const struct {
        const char *word;
        int axes[3];
    } angles[] = {{"euler", {0, 1, 2}},
                  {"euler123", {0, 1, 2}},
                  {"euler313", {2, 0, 2}},
                  {"euler321", {2, 1, 0}}};
    const yk_mbd_frame *in = yk_mbd_take_reference(r, own, other);
    yk_quat frame = in->pose.orientation;

    /* By a matrix, or by a rotation vector. */
    if (yk_mbd_next_is(r, "eye") || yk_mbd_next_is(r, "matr"))
        return yk_q_unit(yk_q_mul(frame, yk_so3_quat(yk_mbd_take_matrix(r))));
    if (yk_mbd_take(r, "vector"))
        return yk_q_unit(yk_q_mul(frame, yk_so3_exp(yk_mbd_take_numbers(r))));

    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        if (!yk_mbd_take(r, angles[i].word))
            continue;

        /* The angles turn about the axes of the frame as it has been turned so far. */
        yk_quat q = yk_q_identity();
        for (int k = 0; k < 3; k++) {
            double value = yk_mbd_take_number(r);
            int axis = angles[i].axes[k];
            double theta[3] = {0};
            theta[axis] = value;
            q = yk_q_mul(q, yk_so3_exp(yk_v3(theta[0], theta[1], theta[2])));
        }
        return yk_q_unit(yk_q_mul(frame, q));
    }

    /* By two axes: the first as it is, the second as near as it can be. */
    int first = yk_mbd_take_whole(r, "an axis", 1, 3) - 1;
    yk_vec3 a = yk_v3_unit(yk_mbd_take_numbers(r));
    int second = (first + 1) % 3;

    /* A second axis may be absent or a guess; then any direction across the first one does. */
    yk_vec3 b, rest;
    yk_v3_tangents(a, &b, &rest);
    if (yk_mbd_number_follows(r)) {
        second = yk_mbd_take_whole(r, "an axis", 1, 3) - 1;
        if (!yk_mbd_take(r, "guess"))
            b = yk_mbd_take_numbers(r);
    }

    b = yk_v3_unit(yk_v3_axpy(-yk_v3_dot(a, b), a, b));
    if (first == second || !(yk_v3_norm2(b) > 0.5)) {
        yk_mbd_refuse(r, "the orientation is given by two axes that are none");
        return yk_q_unit(frame);
    }

    /* The third axis completes a right-handed frame, in whichever order the two came. */
    yk_vec3 axes[3] = {a, a, a};
    int third = 3 - first - second;
    axes[second] = b;
    axes[third] = yk_v3_cross(a, b);
    if ((first + 1) % 3 != second)
        axes[third] = yk_v3_neg(axes[third]);
    yk_quat turned = yk_so3_quat(yk_m3_columns(axes[0], axes[1], axes[2]));
    return yk_q_unit(yk_q_mul(frame, turned));
}

bool yk_mbd_name_of(yk_mbd *r, const char *kind, const char *label, char *name)
{
    /* A label may be any formula of constants; only a plain word can be a name. */
    bool word = isalpha((unsigned char)label[0]) != 0;
    for (const char *c = label; *c; c++)
        word = word && (isalnum((unsigned char)*c) || *c == '_');

    /* A variable that has another value by now counts through elements, and names none of them. */
    for (int i = 0; word && i < r->constant_count; i++) {
        if (strcmp(r->constants[i].name, label) != 0)
            continue;
        if (isnan(r->labels[i]))
            r->labels[i] = r->constants[i].value;
        word = r->labels[i] == r->constants[i].value;
    }

    /* The scenario keeps "ground" for what does not move. */
    if (word)
        snprintf(name, YK_MBD_NAME, "%.40s%s", label, strcmp(label, "ground") == 0 ? "_" : "");
    else
        snprintf(name, YK_MBD_NAME, "%s_%.0f", kind, yk_mbd_evaluate(r, label));
    return word;
}

/* Drives --------------------------------------------------------------------------------------- */

/* A formula of the time with the constants' values in place of their names. */
static void formula(yk_mbd *r, const char *text, char *out)
{
    size_t length = 0;
    out[0] = 0;

    /* Quotes around the formula are not part of it. */
    for (const char *c = text; *c && length < YK_MBD_TEXT - 60;) {
        if (*c == '"') {
            c++;
            continue;
        }

        /* Names and numbers as one word; signs and parentheses as they are. */
        size_t word = 0;
        while (isalnum((unsigned char)c[word]) || c[word] == '_' || (word > 0 && c[word] == '.'))
            word++;
        if (word == 0) {
            out[length++] = *c++;
            continue;
        }

        /* The time, a constant, or a function and number as they are. */
        char value[40];
        snprintf(value, sizeof value, "%.*s", word < 39 ? (int)word : 39, c);
        if (strcasecmp(value, "Time") == 0)
            snprintf(value, sizeof value, "t");

        for (int i = 0; i < r->constant_count && isalpha((unsigned char)*c); i++)
            if (strlen(r->constants[i].name) == word && strncmp(r->constants[i].name, c, word) == 0)
                snprintf(value, sizeof value, "(%.17g)", r->constants[i].value);

        length += (size_t)snprintf(out + length, 41, "%s", value);
        c += word;
    }
    out[length] = 0;
}

/* A drive as an expression of t. */
void yk_mbd_take_drive(yk_mbd *r, char *text)
{
    snprintf(text, YK_MBD_TEXT, "0");
    if (r->at >= r->argument_count || yk_mbd_take(r, "null"))
        return;

    if (yk_mbd_take(r, "unit")) {
        snprintf(text, YK_MBD_TEXT, "1");
    } else if (yk_mbd_take(r, "time")) {
        snprintf(text, YK_MBD_TEXT, "t");
    } else if (yk_mbd_take(r, "const") || yk_mbd_number_follows(r)) {
        snprintf(text, YK_MBD_TEXT, "%.17g", yk_mbd_take_number(r));
    } else if (yk_mbd_take(r, "linear")) {
        /* The value at t = 0, and the slope. */
        double value = yk_mbd_take_number(r);
        snprintf(text, YK_MBD_TEXT, "%.17g + %.17g*t", value, yk_mbd_take_number(r));
    } else if (yk_mbd_take(r, "step")) {
        /* In MBDyn's order: when, how high, and from which value on. */
        double at = yk_mbd_take_number(r);
        double height = yk_mbd_take_number(r);
        snprintf(text, YK_MBD_TEXT, "%.17g + %.17g*step(t, %.17g)", yk_mbd_take_number(r), height,
                 at);
    } else if (yk_mbd_take(r, "ramp")) {
        double slope = yk_mbd_take_number(r);
        double begin = yk_mbd_take_number(r);

        /* It rises until an end that may never come. */
        double end = 1e30;
        if (!yk_mbd_take(r, "forever"))
            end = yk_mbd_take_number(r);
        snprintf(text, YK_MBD_TEXT, "%.17g + %.17g*(min(max(t, %.17g), %.17g) - %.17g)",
                 yk_mbd_take_number(r), slope, begin, end, begin);
    } else if (yk_mbd_next_is(r, "sine") || yk_mbd_next_is(r, "cosine")) {
        /* Both count from their beginning, and are constant before it. */
        bool sine = yk_mbd_next_is(r, "sine");
        r->at++;
        double begin = yk_mbd_take_number(r);
        double omega = yk_mbd_take_number(r);
        double height = yk_mbd_take_number(r);

        if (!yk_mbd_take(r, "forever"))
            yk_mbd_note(r, "the %s drive goes on forever instead of %s cycles",
                        sine ? "sine" : "cosine", yk_mbd_take_text(r));

        double initial = 0;
        if (r->at < r->argument_count)
            initial = yk_mbd_take_number(r);

        if (sine)
            snprintf(text, YK_MBD_TEXT, "%.17g + %.17g*sin(%.17g*(t - %.17g))*step(t, %.17g)",
                     initial, height, omega, begin, begin);
        else
            snprintf(text, YK_MBD_TEXT, "%.17g + %.17g*(1 - cos(%.17g*(t - %.17g)))*step(t, %.17g)",
                     initial, height, omega, begin, begin);
    } else if (yk_mbd_take(r, "string")) {
        formula(r, yk_mbd_take_text(r), text);
    } else {
        yk_mbd_note(r, "drive '%s': it is 0", yk_mbd_take_text(r));
    }
}

/* Statements ----------------------------------------------------------------------------------- */

/* `set: [const] [real] NAME = expression`. */
static void read_constant(yk_mbd *r, char *text)
{
    char *equals = strchr(text, '=');

    /* Without one it is a formula, which is only checked. */
    if (!equals) {
        yk_mbd_evaluate(r, text);
        return;
    }

    /* The name is the last word before the equals sign, the type before it does not matter. */
    *equals = 0;
    char *name = text, *word = strtok(text, " ");
    for (; word; word = strtok(NULL, " "))
        name = word;

    for (char *c = equals + 1; *c == ' ';)
        memmove(c, c + 1, strlen(c));

    if (equals[1] == '"')
        return; /* a text */
    if (yk_expression_reserved(name))
        return; /* pi and the like have their value already */

    /* A constant may be set anew. */
    double value = yk_mbd_evaluate(r, equals + 1);
    for (int i = 0; i < r->constant_count; i++) {
        if (strcmp(r->constants[i].name, name) == 0) {
            r->constants[i].value = value;
            return;
        }
    }

    if (r->constant_count == YK_MBD_CONSTANTS) {
        yk_mbd_refuse(r, "there are more than %d constants", YK_MBD_CONSTANTS);
        return;
    }

    yk_parameter *constant = &r->constants[r->constant_count];
    *constant = (yk_parameter){strdup(name), value};
    if (!constant->name) {
        yk_mbd_refuse(r, "out of memory");
        return;
    }
    r->constant_count++;
}

/* Splits `keyword: a, b, c` at its commas, outside of parentheses and quotes. */
static void split_statement(yk_mbd *r, char *text)
{
    /* Keyword and arguments, without the spaces around them. */
    char *colon = strchr(text, ':');
    char *rest = text + strlen(text);
    if (colon) {
        *colon = 0;
        rest = colon + 1;
    }

    while (*rest == ' ')
        rest++;
    for (char *end = text + strlen(text); end > text && end[-1] == ' ';)
        *--end = 0;

    /* Constants keep their text whole: formulas may have commas. */
    if (strcasecmp(text, "set") == 0) {
        read_constant(r, rest);
        return;
    }

    r->argument_count = r->at = 0;
    int depth = 0;
    bool quoted = false;
    char *begin = rest;
    for (char *c = rest;; c++) {
        /* Commas within quotes and parentheses belong to the argument. */
        if (*c == '"')
            quoted = !quoted;
        if (!quoted && *c == '(')
            depth++;
        if (!quoted && *c == ')')
            depth--;

        bool last = !*c;
        if (!last && (*c != ',' || quoted || depth > 0))
            continue;

        /* An argument without the spaces around it. */
        *c = 0;
        while (*begin == ' ')
            begin++;
        for (char *end = begin + strlen(begin); end > begin && end[-1] == ' ';)
            *--end = 0;

        /* An empty argument counts, but not behind the last comma. */
        if (*begin || !last) {
            if (r->argument_count == YK_MBD_ARGUMENTS) {
                yk_mbd_refuse(r, "the statement has more than %d arguments", YK_MBD_ARGUMENTS);
                return;
            }
            r->arguments[r->argument_count++] = begin;
        }

        begin = c + 1;
        if (last)
            break;
    }

    if (strcasecmp(text, "include") != 0) {
        r->statement(r, text);
        return;
    }

    /* An included file: its name may stand in quotes, and is seen from the folder of the file that
     * includes it. Notes refer to the name, so it stays. */
    const char *name = yk_mbd_take_text(r);
    size_t quote = name[0] == '"';
    size_t length = strlen(name + quote);
    if (length > 0 && name[quote + length - 1] == '"')
        length--;

    int folder = 0;
    if (name[quote] != '/')
        folder = (int)yk_text_folder(r->file);
    char path[4096];
    snprintf(path, sizeof path, "%.*s%.*s", folder, r->file, (int)length, name + quote);

    const char *kept = yk_robot_keep(r->robot, path);
    if (kept)
        yk_mbd_read_file(r, kept);
    else
        yk_mbd_refuse(r, "more than %d files are included", (int)YK_ROBOT_FILES);
}

void yk_mbd_read_file(yk_mbd *r, const char *path)
{
    /* A file that includes itself would never end. */
    if (r->depth == INCLUDES_MAX) {
        yk_mbd_refuse(r, "files include each other more than %d deep", INCLUDES_MAX);
        return;
    }

    FILE *file = yk_input_open(r->robot->context, path, YK_ERROR_FILE);
    if (!file) {
        yk_mbd_refuse(r, "%s", yk_last_message(r->robot->context));
        return;
    }

    char *text = malloc(FILE_BYTES_MAX + 1);
    size_t count = 0;
    if (text)
        count = fread(text, 1, FILE_BYTES_MAX, file);
    /* A zero byte would end the text before its end. */
    bool whole = text && feof(file) && !ferror(file) && !memchr(text, 0, count);

    fclose(file);
    if (!whole) {
        yk_mbd_refuse(r, "%s: not a text of at most 16 MiB", path);
        free(text);
        return;
    }

    /* What is included is read in place of the statement, with its own lines. */
    text[count] = 0;

    const char *outer = r->file;
    int outer_line = r->line;
    r->depth++;
    r->file = path;
    r->line = 1;

    /* Statements end with a semicolon; comments run from # or // to the end of the line, or between
     * slashes and stars. Spaces and line feeds become one space each. The text is packed in place:
     * `out` writes behind `c`, and `begin` is where the statement began. */
    int line = 1;
    char *out = text;
    char *begin = text;
    bool quoted = false;
    for (char *c = text; *c && !r->failed; c++) {
        bool long_comment = !quoted && c[0] == '/' && c[1] == '*';
        if (!quoted && (*c == '#' || (c[0] == '/' && c[1] == '/')))
            while (c[1] && c[1] != '\n')
                c++;
        else if (long_comment) {
            /* Lines of comments count too: notes name the line of a statement. */
            for (c += 2; *c && !(c[0] == '*' && c[1] == '/'); c++)
                line += *c == '\n';
            if (!*c)
                break;

            c++;
        } else if (*c == ';' && !quoted) {
            /* A statement is complete; the text behind it starts the next one. */
            *out = 0;
            if (*begin)
                split_statement(r, begin);
            begin = out = c + 1;
            r->line = line;
        } else if (isspace((unsigned char)*c)) {
            /* Runs of spaces shrink to one, those at the beginning of a statement vanish. */
            line += *c == '\n';
            if (out == begin)
                r->line = line;
            else if (out[-1] != ' ')
                *out++ = ' ';
        } else {
            if (*c == '"')
                quoted = !quoted;
            *out++ = *c;
        }
    }

    r->depth--;
    r->file = outer;
    if (!r->failed)
        r->line = outer_line;
    free(text);
}
