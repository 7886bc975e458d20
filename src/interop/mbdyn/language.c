#include "interop/mbdyn/language.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/input.h"
#include "base/text.h"
#include "math/so3.h"

enum { FILE_BYTES_MAX = 16 << 20, INCLUDES_MAX = 16 };
/* Lists of statements are evaluated recursively. */
enum { PARENTHESES_MAX = 64 };

/* Messages ------------------------------------------------------------------------------------- */

void yk_mbd_note(yk_mbd *r, const char *format, ...)
{
    char text[240];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(text, sizeof text, format, arguments);
    va_end(arguments);

    yk_xml_element here = {.file = r->file, .line = r->line};
    yk_import_add_note(r->import, &here, "%s", text);
}

void yk_mbd_refuse(yk_mbd *r, const char *format, ...)
{
    if (r->failed)
        return;

    va_list arguments;
    va_start(arguments, format);
    yk_format_list(r->problem, sizeof r->problem, format, arguments);
    va_end(arguments);

    /* Report the first problem, with the file and line where it occurred. */
    snprintf(r->problem_file, sizeof r->problem_file, "%s", r->file);
    r->problem_line = r->line;
    r->failed = true;
}

/* Expressions ------------------------------------------------------------------------------------
 *
 * The supported part of MBDyn's grammar:
 *
 *   list      = statement {";" statement}      its value is that of the last statement
 *   statement = ["ifndef"] ["const"] type NAME ["=" expression] | NAME "=" expression | expression
 *   type      = "bool" | "integer" | "real" | "string"
 *
 * A list may replace every expression in parentheses. */

/* A part of a text that need not end with a zero byte. */
typedef struct span {
    const char *text;
    size_t length;
} span;

static span trim(span s)
{
    while (s.length > 0 && isspace((unsigned char)s.text[0]))
        s = (span){s.text + 1, s.length - 1};
    while (s.length > 0 && isspace((unsigned char)s.text[s.length - 1]))
        s.length--;
    return s;
}

/* Bytes up to the first `end` outside of quotes and parentheses, or all of them. */
static size_t length_until(span s, char end)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < s.length; i++) {
        char c = s.text[i];
        if (!quoted && depth == 0 && c == end)
            return i;
        if (c == '"')
            quoted = !quoted;
        depth += !quoted && c == '(';
        depth -= !quoted && c == ')';
    }
    return s.length;
}

/* Position of an equals sign that assigns, outside of quotes and parentheses; the length if there
 * is none. */
static size_t find_assignment(span s)
{
    for (size_t i = length_until(s, '='); i < s.length;) {
        bool doubled = i + 1 < s.length && s.text[i + 1] == '=';
        bool compares = doubled || (i > 0 && strchr("<>!", s.text[i - 1]));
        if (!compares)
            return i;

        i += doubled ? 2 : 1;
        i += length_until((span){s.text + i, s.length - i}, '=');
    }
    return s.length;
}

/* The list behind an opening parenthesis; empty if the parentheses hold a plain expression. */
static span list_in_parentheses(span s)
{
    span inside = {s.text + 1, s.length - 1};
    inside.length = length_until(inside, ')');
    if (length_until(inside, ';') < inside.length || find_assignment(inside) < inside.length)
        return inside;
    return (span){inside.text, 0};
}

static bool has_list(const char *text)
{
    span s = {text, strlen(text)};
    bool quoted = false;
    for (size_t i = 0; i < s.length; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        if (!quoted && text[i] == '(' &&
            list_in_parentheses((span){text + i, s.length - i}).length > 0)
            return true;
    }
    return false;
}

/* Whether the formula of a drive, in quotes, has more than one statement or assigns a variable. */
static bool has_assignment(const char *quoted)
{
    for (size_t i = 0; quoted[i]; i++) {
        bool compares = quoted[i + 1] == '=' || (i > 0 && strchr("<>!=", quoted[i - 1]));
        if (quoted[i] == ';' || (quoted[i] == '=' && !compares))
            return true;
    }
    return false;
}

static double evaluate_list(yk_mbd *r, span list);

static double evaluate_expression(yk_mbd *r, span s)
{
    /* Lists in parentheses are replaced by their values. */
    char text[YK_EXPRESSION_LENGTH_MAX + 1];
    size_t length = 0;
    s = trim(s);
    for (size_t i = 0; i < s.length && !r->failed; i++) {
        if (length + 40 > sizeof text) {
            yk_mbd_refuse(r, "'%.60s...' is longer than %d bytes", text, (int)(sizeof text - 40));
            return 0;
        }

        span list = {NULL, 0};
        if (s.text[i] == '(')
            list = list_in_parentheses((span){s.text + i, s.length - i});
        if (list.length > 0) {
            length += (size_t)snprintf(text + length, 40, "(%.17g)", evaluate_list(r, list));
            i += list.length + 1;
        } else {
            text[length++] = isspace((unsigned char)s.text[i]) ? ' ' : s.text[i];
        }
    }
    text[length] = 0;
    if (r->failed)
        return 0;

    yk_scope scope = {
        .parameters = r->constants, .parameter_count = r->constant_count, .without_units = true};
    yk_expression_error error;
    double value;
    if (yk_expression_constant(r->import->context, text, &scope, &error, &value, NULL) == YK_OK)
        return value;

    /* After the semicolon the message recommends keys of scenarios, which do not apply to a model. */
    int until = (int)strcspn(error.message, ";");
    yk_mbd_refuse(r, "'%.60s' is not a number: %.*s", text, until, error.message);
    return 0;
}

double yk_mbd_evaluate(yk_mbd *r, const char *text)
{
    return evaluate_expression(r, (span){text, strlen(text)});
}

/* NULL if there is none of this name. */
static yk_named_value *find_constant(yk_mbd *r, const char *name)
{
    for (int i = 0; i < r->constant_count; i++)
        if (strcmp(r->constants[i].name, name) == 0)
            return &r->constants[i];
    return NULL;
}

static void set_constant(yk_mbd *r, const char *name, double value)
{
    yk_named_value *constant = find_constant(r, name);
    if (constant) {
        constant->value = value;
        return;
    }

    if (r->constant_count == YK_MBD_CONSTANTS) {
        yk_mbd_refuse(r, "there are more than %d constants", YK_MBD_CONSTANTS);
        return;
    }

    constant = &r->constants[r->constant_count];
    *constant = (yk_named_value){.name = strdup(name), .value = value};
    if (constant->name)
        r->constant_count++;
    else
        yk_mbd_refuse(r, "out of memory");
}

/* Takes a name off the front. Empty, and nothing is taken, if there is none. */
static void take_name(span *s, char name[YK_MBD_NAME])
{
    *s = trim(*s);
    size_t length = 0;
    while (length < s->length &&
           (isalnum((unsigned char)s->text[length]) || s->text[length] == '_'))
        length++;
    if (length >= YK_MBD_NAME || (length > 0 && isdigit((unsigned char)s->text[0])))
        length = 0;

    snprintf(name, YK_MBD_NAME, "%.*s", (int)length, s->text);
    *s = trim((span){s->text + length, s->length - length});
}

static double evaluate_statement(yk_mbd *r, span statement)
{
    static const char *const types[] = {"bool", "integer", "real", "string"};
    bool only_if_new = false, declares = false, is_text = false;
    char name[YK_MBD_NAME];
    span rest = statement;
    take_name(&rest, name);
    if (strcmp(name, "ifndef") == 0) {
        only_if_new = true;
        take_name(&rest, name);
    }
    if (strcmp(name, "const") == 0)
        take_name(&rest, name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        declares = declares || strcmp(name, types[i]) == 0;
    if (declares) {
        is_text = strcmp(name, "string") == 0;
        take_name(&rest, name);
    }

    bool assigns = name[0] && rest.length > 0 && find_assignment(rest) == 0;
    bool has_default = name[0] && declares && rest.length == 0;
    if (!assigns && !has_default)
        return evaluate_expression(r, statement);

    /* Texts have no use in a scenario, and pi is predefined. */
    span value = {rest.text, 0};
    if (assigns)
        value = trim((span){rest.text + 1, rest.length - 1});
    if (is_text || (value.length > 0 && value.text[0] == '"') || yk_expression_reserved(name))
        return 0;

    const yk_named_value *known = find_constant(r, name);
    if (known && (only_if_new || has_default))
        return known->value;

    double number = has_default ? 0 : evaluate_expression(r, value);
    if (!r->failed)
        set_constant(r, name, number);
    return number;
}

static double evaluate_list(yk_mbd *r, span list)
{
    /* A problem is reported with the line of its statement in the list. */
    int first_line = r->line;
    int line = first_line;
    double value = 0;
    for (bool more = true; more && !r->failed;) {
        size_t length = length_until(list, ';');
        span statement = trim((span){list.text, length});
        for (const char *c = list.text; c < statement.text; c++)
            line += *c == '\n';
        r->line = line;
        if (statement.length > 0)
            value = evaluate_statement(r, statement);

        for (const char *c = statement.text; c < list.text + length; c++)
            line += *c == '\n';
        more = length < list.length;
        size_t used = length + more;
        list = (span){list.text + used, list.length - used};
    }
    r->line = first_line;
    return value;
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

    yk_scope scope = {
        .parameters = r->constants, .parameter_count = r->constant_count, .without_units = true};
    yk_expression_error error;
    double value;
    return yk_expression_constant(r->import->context, r->arguments[r->at], &scope, &error, &value,
                                  NULL) == YK_OK;
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

/* `reference, X,` before a vector or a matrix; otherwise the default frame. */
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

        /* The angles are about the axes of the frame as rotated so far. */
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

    /* By two axes: the first exactly, the second as close as possible. */
    int first = yk_mbd_take_whole(r, "an axis", 1, 3) - 1;
    yk_vec3 a = yk_v3_unit(yk_mbd_take_numbers(r));
    int second = (first + 1) % 3;

    /* A second axis may be missing or a guess; then use any direction perpendicular to the first. */
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
    /* A label may be any formula of constants, but only a plain word can be a name. */
    bool word = isalpha((unsigned char)label[0]) != 0;
    for (const char *c = label; *c; c++)
        word = word && (isalnum((unsigned char)*c) || *c == '_');

    /* A variable whose value has changed is a counter, and does not name an element. */
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
        yk_format(name, YK_MBD_NAME, "%s_%.0f", kind, yk_mbd_evaluate(r, label));
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

        /* Names and numbers as one word; signs and parentheses unchanged. */
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
                yk_format(value, sizeof value, "(%.17g)", r->constants[i].value);

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
        yk_format(text, YK_MBD_TEXT, "%.17g", yk_mbd_take_number(r));
    } else if (yk_mbd_take(r, "linear")) {
        /* The value at t = 0, and the slope. */
        double value = yk_mbd_take_number(r);
        yk_format(text, YK_MBD_TEXT, "%.17g + %.17g*t", value, yk_mbd_take_number(r));
    } else if (yk_mbd_take(r, "step")) {
        /* In MBDyn's order: start time, height, and initial value. */
        double at = yk_mbd_take_number(r);
        double height = yk_mbd_take_number(r);
        yk_format(text, YK_MBD_TEXT, "%.17g + %.17g*step(t, %.17g)", yk_mbd_take_number(r), height,
                  at);
    } else if (yk_mbd_take(r, "ramp")) {
        double slope = yk_mbd_take_number(r);
        double begin = yk_mbd_take_number(r);

        /* It rises until an end, which may be infinite. */
        double end = 1e30;
        if (!yk_mbd_take(r, "forever"))
            end = yk_mbd_take_number(r);
        yk_format(text, YK_MBD_TEXT, "%.17g + %.17g*(min(max(t, %.17g), %.17g) - %.17g)",
                  yk_mbd_take_number(r), slope, begin, end, begin);
    } else if (yk_mbd_next_is(r, "sine") || yk_mbd_next_is(r, "cosine")) {
        /* Both begin at a start time, and are constant before it. */
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
            yk_format(text, YK_MBD_TEXT, "%.17g + %.17g*sin(%.17g*(t - %.17g))*step(t, %.17g)",
                      initial, height, omega, begin, begin);
        else
            yk_format(text, YK_MBD_TEXT,
                      "%.17g + %.17g*(1 - cos(%.17g*(t - %.17g)))*step(t, %.17g)", initial, height,
                      omega, begin, begin);
    } else if (yk_mbd_take(r, "string")) {
        const char *quoted = yk_mbd_take_text(r);
        if (has_assignment(quoted))
            yk_mbd_refuse(r, "the formula %.60s assigns variables; assign them by 'set' before it",
                          quoted);
        formula(r, quoted, text);
    } else {
        yk_mbd_note(r, "drive '%s': it is 0", yk_mbd_take_text(r));
    }
}

/* Statements ----------------------------------------------------------------------------------- */

/* Replaces each argument that contains lists of statements by its value, so that they are evaluated
 * once and in order, however often the argument is read. */
static void evaluate_lists_of_arguments(yk_mbd *r)
{
    for (int i = 0; i < r->argument_count; i++) {
        if (!has_list(r->arguments[i]))
            continue;

        /* A reader that needs the value reports the problem again. */
        double value = yk_mbd_evaluate(r, r->arguments[i]);
        if (!r->failed) {
            snprintf(r->values[i], sizeof r->values[i], "%.17g", value);
            r->arguments[i] = r->values[i];
        }
        r->failed = false;
    }
}

/* Splits `keyword: a, b, c` at its commas, outside of parentheses and quotes. */
static void split_statement(yk_mbd *r, char *text)
{
    /* Scenarios are UTF-8. Comments, which are not part of a statement, may be anything. */
    for (const char *c = text; *c;) {
        size_t bytes = yk_text_printable(c);
        if (bytes == 0 && *c != '\n') {
            yk_mbd_refuse(r, "a character that is not UTF-8 or cannot be printed; save the file in "
                             "UTF-8 encoding");
            return;
        }
        c += bytes > 0 ? bytes : 1;
    }

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

    /* Constants keep their text unchanged, because formulas may contain commas. */
    if (strcasecmp(text, "set") == 0) {
        if (*rest == '[')
            yk_mbd_note(r, "variable %.60s that follows the motion", rest);
        else
            evaluate_list(r, (span){rest, strlen(rest)});
        return;
    }

    for (char *c = rest; *c; c++)
        if (*c == '\n')
            *c = ' ';

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

        /* An empty argument counts, but not after the last comma. */
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

    evaluate_lists_of_arguments(r);
    if (strcasecmp(text, "include") != 0) {
        r->statement(r, text);
        return;
    }

    /* An included file: its name may be quoted, and is relative to the folder of the file that
     * includes it. Notes refer to the name, so it is kept. */
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

    const char *kept = yk_import_keep_name(r->import, path);
    if (kept)
        yk_mbd_read_file(r, kept);
    else
        yk_mbd_refuse(r, "more than %d files are included", (int)YK_IMPORT_FILES_MAX);
}

void yk_mbd_read_file(yk_mbd *r, const char *path)
{
    /* A file that includes itself would never end. */
    if (r->depth == INCLUDES_MAX) {
        yk_mbd_refuse(r, "files include each other more than %d deep", INCLUDES_MAX);
        return;
    }

    FILE *file = yk_input_open(r->import->context, path, YK_ERROR_FILE);
    if (!file) {
        yk_mbd_refuse(r, "%s", yk_last_message(r->import->context));
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

    /* The included file replaces the statement, with its own lines. */
    text[count] = 0;

    const char *outer = r->file;
    int outer_line = r->line;
    r->depth++;
    r->file = path;
    r->line = 1;

    /* Statements end with a semicolon outside of parentheses; comments run from # or // to the end of
     * the line, or between slashes and stars. Runs of spaces and line feeds become one space. Line
     * feeds in parentheses stay, because the lines of a list of statements are counted by them. The
     * text is packed in place: `out` is never ahead of `c`, and `begin` is the start of the
     * statement. */
    int line = 1;
    int parentheses = 0;
    char *out = text;
    char *begin = text;
    bool quoted = false;
    for (char *c = text; *c && !r->failed && !r->ended; c++) {
        bool long_comment = !quoted && c[0] == '/' && c[1] == '*';
        if (!quoted && (*c == '#' || (c[0] == '/' && c[1] == '/')))
            while (c[1] && c[1] != '\n')
                c++;
        else if (long_comment) {
            /* Lines of comments count too: notes name the line of a statement. */
            for (c += 2; *c && !(c[0] == '*' && c[1] == '/'); c++) {
                line += *c == '\n';
                if (*c == '\n' && parentheses > 0)
                    *out++ = '\n';
            }
            if (!*c)
                break;

            c++;
        } else if (*c == ';' && !quoted && parentheses <= 0) {
            *out = 0;
            if (*begin)
                split_statement(r, begin);
            begin = out = c + 1;
            parentheses = 0;
            r->line = line;
        } else if (isspace((unsigned char)*c)) {
            /* Runs of spaces shrink to one, those at the beginning of a statement vanish. */
            line += *c == '\n';
            if (out == begin)
                r->line = line;
            else if (*c == '\n' && parentheses > 0)
                *out++ = '\n';
            else if (!isspace((unsigned char)out[-1]))
                *out++ = ' ';
        } else {
            if (*c == '"')
                quoted = !quoted;
            parentheses += !quoted && *c == '(';
            parentheses -= !quoted && *c == ')';
            if (parentheses > PARENTHESES_MAX)
                yk_mbd_refuse(r, "parentheses are nested more than %d deep", PARENTHESES_MAX);
            *out++ = *c;
        }
    }

    if (!r->ended && (parentheses > 0 || quoted))
        yk_mbd_refuse(r, "the statement does not end: a %s is missing",
                      quoted ? "closing quote" : "')'");

    r->depth--;
    r->file = outer;
    if (!r->failed)
        r->line = outer_line;
    free(text);
}
