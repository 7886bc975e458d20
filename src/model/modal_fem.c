/* Modal bodies from the text files that MBDyn's modal joint reads, as its femgen and other
 * programs write them: record groups under lines "** RECORD GROUP n, ...", numbers between
 * blanks, other lines that begin with ** passed over.
 *
 *    1 header            5-7 coordinates of the nodes    11 lumped masses, six of each node   14-18 invariants 3, 4, 8, 5, 9
 *    2 numbers of nodes    8 shapes                      12 mass, centre of mass, inertia     19 stiffness by stress of
 *    3-4 not used       9-10 modal mass and stiffness    13 modal damping                        unit
 * loads */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model/modal_fem.h"

enum { TOKEN = 64 };

/* Text ----------------------------------------------------------------------------------------- */

static int take_character(yk_fem *f)
{
    int c = getc(f->file);
    f->column++;
    if (c == '\n')
        f->line++, f->column = 1;
    return c;
}

static void put_back(yk_fem *f, int c)
{
    if (c == EOF)
        return;

    ungetc(c, f->file);
    if (c == '\n')
        f->line--;
    f->column--;
}

static void skip_line(yk_fem *f)
{
    for (int c = take_character(f); c != '\n' && c != EOF;)
        c = take_character(f);
}

/* A line that begins with **: the marker of a record group, the end of the file, or a comment. */
static void read_comment(yk_fem *f)
{
    char text[TOKEN];
    size_t length = 0;
    int c = take_character(f);
    for (; c != '\n' && c != EOF; c = take_character(f))
        if (length < sizeof text - 1)
            text[length++] = (char)c;
    text[length] = 0;
    static const char marker[] = "* RECORD GROUP ", end[] = "* END OF FILE";
    if (strncmp(text, marker, strlen(marker)) == 0)
        f->next = atoi(text + strlen(marker));
    if (strncmp(text, end, strlen(end)) == 0)
        f->ended = true;
}

/* The next word of the present record group; false at its end. */
static bool take_word(yk_fem *f, char word[TOKEN])
{
    while (!f->next && !f->ended) {
        int c = take_character(f);
        while (isspace(c))
            c = take_character(f);
        if (c == EOF) {
            f->ended = true;
        } else if (c == '*') {
            read_comment(f);
        } else {
            f->token_line = f->line, f->token_column = f->column - 1;
            size_t length = 0;
            for (; c != EOF && !isspace(c); c = take_character(f))
                if (length < TOKEN - 1)
                    word[length++] = (char)c;
            put_back(f, c);
            word[length] = 0;
            return true;
        }
    }
    return false;
}

static yk_status too_short(const yk_fem *f, int group, long got, long wanted)
{
    return yk_fail(
        f->modal->context, YK_ERROR_ARGUMENT,
        "%s:%d: record group %d ends after %ld numbers of %ld: check the counts in record group 1",
        f->path, f->line, group, got, wanted);
}

static yk_status take_number(yk_fem *f, int group, long got, long wanted, double *value)
{
    char word[TOKEN], *end;
    if (!take_word(f, word))
        return too_short(f, group, got, wanted);

    for (char *c = word; *c; c++)
        if (*c == 'D' || *c == 'd')
            *c = 'e'; /* as Fortran writes exponents */
    *value = strtod(word, &end);
    if (*end || !isfinite(*value))
        return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                       "%s:%d:%d: expected a number of record group %d, found '%s'", f->path,
                       f->token_line, f->token_column, group, word);
    return YK_OK;
}

/* Record groups -------------------------------------------------------------------------------- */

static yk_status read_header(yk_fem *f)
{
    char word[TOKEN];
    double count[5];
    skip_line(f); /* names of what follows */
    if (!take_word(f, word))
        word[0] = 0; /* revision */
    for (int k = 0; k < 5; k++) {
        yk_status status = take_number(f, 1, k, 5, &count[k]);
        if (status != YK_OK)
            return status;
        if (!(count[k] >= 0 && count[k] < 1e7 && count[k] == floor(count[k])))
            return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d:%d: expected a count, found %g", f->path, f->token_line,
                           f->token_column, count[k]);
    }
    f->nodes = (int)count[0];
    f->rejected = (int)count[4];
    f->modes = (int)(count[1] + count[2] + count[3]) - f->rejected;
    if (f->nodes < 1 || f->modes < 1)
        return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                       "%s:%d: record group 1 tells of %d nodes and %d modes", f->path,
                       f->token_line, f->nodes, f->modes);
    return YK_OK;
}

/* Names of nodes: whole numbers, or words, of which none is a number to a scenario: then they are
 * counted from 1. */
static yk_status read_names(yk_fem *f)
{
    bool words = false;
    for (int k = 0; k < f->nodes; k++) {
        char word[TOKEN], *end;
        if (!take_word(f, word))
            return too_short(f, 2, k, f->nodes);

        f->record[2][k] = strtod(word, &end);
        words |= *end != 0 || !(fabs(f->record[2][k]) < 2e9) ||
                 f->record[2][k] != floor(f->record[2][k]);
    }
    for (int k = 0; k < f->nodes && words; k++)
        f->record[2][k] = k + 1;
    return YK_OK;
}

/* How many numbers a record group has. */
static long size_of(const yk_fem *f, int group)
{
    long n = f->modes, nodes = f->nodes;
    switch (group) {
    case 2:
    case 5:
    case 6:
    case 7: return nodes;
    case 3:
    case 4: return n;
    case 8: return 6 * nodes * (n + f->rejected);
    case 9:
    case 10:
    case 13: return n * n;
    case 11: return 6 * nodes;
    case 12: return 13;
    case 14:
    case 15: return 3 * n;
    case 16: return 9 * n;
    case 17: return 3 * n * n;
    case 18: return 9 * n * n;
    default: return f->stresses * (1 + n * n);
    }
}

static yk_status read_record(yk_fem *f, int group)
{
    yk_context *context = f->modal->context;
    double count;
    if (group < 1 || group >= YK_FEM_RECORDS)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: record groups 1 to %d are known, not %d",
                       f->path, f->line - 1, YK_FEM_RECORDS - 1, group);
    if (group != 1 && f->modes == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s:%d: record group %d stands before record group 1", f->path, f->line - 1,
                       group);
    if ((group == 1 && f->modes) || f->record[group])
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: record group %d stands there twice",
                       f->path, f->line - 1, group);
    if (group == 1)
        return read_header(f);
    if (group == 19) {
        yk_status status = take_number(f, group, 0, 1, &count);
        if (status != YK_OK)
            return status;
        if (!(count >= 0 && count <= 12 + 6.0 * f->nodes))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s:%d: record group 19 has at most %d matrices, not %g", f->path,
                           f->token_line, 12 + 6 * f->nodes, count);
        f->stresses = (int)count;
    }
    long size = size_of(f, group);
    if (2 * size > f->bytes) /* a number takes a digit and a blank at least */
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s:%d: record group %d would have %ld numbers, more than the file holds: "
                       "check the counts in record "
                       "group 1",
                       f->path, f->line - 1, group, size);
    f->record[group] = yk_modal_take(f->modal, (size_t)size, sizeof *f->record[group]);
    if (!f->record[group])
        return YK_ERROR_MEMORY;

    yk_status status = group == 2 ? read_names(f) : YK_OK;
    for (long k = 0; k < size && status == YK_OK && group != 2; k++)
        status = take_number(f, group, k, size, &f->record[group][k]);
    return status;
}

/* Text before the first record group is for people; after it, a number too many is a mistake in
 * the counts. */
static yk_status read_records(yk_fem *f)
{
    yk_status status = YK_OK;
    int group = 0;
    while (status == YK_OK) {
        char word[TOKEN];
        while (take_word(f, word)) {
            char *end;
            strtod(word, &end);
            if (group && !*end)
                return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                               "%s:%d:%d: record group %d has more numbers than the counts in "
                               "record group 1 say",
                               f->path, f->token_line, f->token_column, group);
            skip_line(f);
        }
        if (f->ended)
            break;

        group = f->next;
        f->next = 0;
        status = read_record(f, group);
    }
    return status;
}

static yk_status check_records(const yk_fem *f)
{
    static const int required[] = {2, 5, 6, 7, 8, 9, 10};
    yk_context *context = f->modal->context;
    if (f->modes == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s has no line '** RECORD GROUP 1'", f->path);

    for (size_t k = 0; k < sizeof required / sizeof *required; k++)
        if (!f->record[required[k]])
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s has no record group %d", f->path,
                           required[k]);
    bool invariants =
        f->record[14] || f->record[15] || f->record[16] || f->record[17] || f->record[18];
    if (!f->record[11] && !f->record[12])
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "%s has neither lumped masses (record group 11) nor a mass (record group 12)", f->path);
    if (invariants && !f->record[12])
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s has invariants of the shapes (record groups 14 to 18) but no mass and "
                       "inertia (record group 12)",
                       f->path);
    if (!f->record[11] && !invariants)
        yk_log(context, YK_LOG_WARNING,
               "%s has neither lumped masses (record group 11) nor invariants of the shapes (14 to "
               "18): weight and "
               "motion of "
               "the frame do not reach its modes",
               f->path);
    for (int group = 3; group <= 4 && f->record[group]; group++)
        for (int k = 0; k < f->modes; k++)
            if (f->record[group][k] != 0) {
                yk_log(
                    context, YK_LOG_WARNING,
                    "%s: initial values in record group %d are not used: bodies start undeformed",
                    f->path, group);
                break;
            }
    return YK_OK;
}

yk_status yk_modal_read_fem(yk_modal *modal)
{
    yk_fem f = {.modal = modal, .path = modal->files->fem, .line = 1, .column = 1};
    f.file = fopen(f.path, "r");
    if (!f.file)
        return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s cannot be opened: %s", f.path,
                       strerror(errno));
    f.bytes = fseek(f.file, 0, SEEK_END) == 0 ? ftell(f.file) : LONG_MAX;
    rewind(f.file);
    yk_status status = read_records(&f);
    fclose(f.file);
    if (status == YK_OK)
        status = check_records(&f);
    return status == YK_OK ? yk_fem_body(&f) : status;
}
