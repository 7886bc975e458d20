/* Modal bodies from the text files that MBDyn's modal joint reads, as written by its femgen and
 * other programs: record groups after lines "** RECORD GROUP n, ...", with numbers separated by
 * white space; other lines that begin with ** are skipped.
 *
 *    1     header: counts of nodes and modes     11     lumped masses, six of each node
 *    2     numbers of nodes                      12     mass, center of mass, inertia
 *    3-4   initial values, not used              13     modal damping
 *    5-7   coordinates of the nodes              14-18  invariants 3, 4, 8, 5, 9
 *    8     shapes                                19     stiffness by stress of unit loads
 *    9-10  modal mass and stiffness
 *
 * Invariants have MBDyn's definitions: I3 = int s_i, I4 = int u0 x s_i, I5_ij = int s_i x s_j, I8_i
 * = int (u0.s_i - s_i u0^T), I9_ij = int (s_j s_i^T - s_i.s_j). The stiffness K that a load adds to
 * that of the body is equivalent to the effect of the load on shapes of second order, so it is
 * converted to integrals of such shapes: see add_stress_stiffness(). */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"
#include "model/modal.h"

enum { RECORDS = 20, TOKEN = 64 };

typedef struct fem {
    yk_modal *modal;
    const char *path;
    FILE *file;
    long bytes;
    int line, column; /* of the next character */
    int token_line, token_column;
    int next; /* number of the next record group, whose marker has been read; 0: none */
    bool ended;
    int nodes, modes, rejected;
    int *mode; /* modes of the file, from 0: index among the used ones, or -1 */
    double *record[RECORDS];
    bool has_invariants; /* any of groups 14 to 18 exists */
    int stresses;        /* number of matrices in record group 19 */
} fem;

/* Text ----------------------------------------------------------------------------------------- */

static int take_character(fem *f)
{
    int c = getc(f->file);
    f->column++;
    if (c == '\n') {
        f->line++;
        f->column = 1;
    }

    return c;
}

static void skip_line(fem *f)
{
    int c = take_character(f);
    while (c != '\n' && c != EOF)
        c = take_character(f);
}

/* The next word of the present record group; false at its end. */
static bool take_word(fem *f, char word[TOKEN])
{
    static const char marker[] = "* RECORD GROUP ";
    static const char end[] = "* END OF FILE";
    while (!f->next && !f->ended) {
        int c = take_character(f);
        while (isspace(c))
            c = take_character(f);
        if (c == EOF) {
            f->ended = true;
            continue;
        }

        /* A line that begins with **: the marker of a record group, the end of the file, or a
         * comment. */
        size_t length = 0;
        if (c == '*') {
            char text[TOKEN];
            for (c = take_character(f); c != '\n' && c != EOF; c = take_character(f))
                if (length < sizeof text - 1)
                    text[length++] = (char)c;

            text[length] = 0;

            if (strncmp(text, marker, strlen(marker)) == 0)
                f->next = (int)strtol(text + strlen(marker), NULL, 10);
            if (strncmp(text, end, strlen(end)) == 0)
                f->ended = true;

            continue;
        }

        /* A word, and its location. */
        f->token_line = f->line;
        f->token_column = f->column - 1;
        for (; c != EOF && !isspace(c); c = take_character(f))
            if (length < TOKEN - 1)
                word[length++] = (char)c;

        word[length] = 0;

        /* The white space after it may end the line, and is read again. */
        if (c != EOF) {
            ungetc(c, f->file);
            if (c == '\n')
                f->line--;

            f->column--;
        }

        return true;
    }

    return false;
}

static yk_status too_short(const fem *f, int group, long got, long wanted)
{
    return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                   "%s:%d: record group %d ends after %ld numbers of %ld: check the counts in "
                   "record group 1",
                   f->path, f->line, group, got, wanted);
}

static yk_status take_number(fem *f, int group, long got, long wanted, double *value)
{
    char word[TOKEN];
    if (!take_word(f, word))
        return too_short(f, group, got, wanted);

    /* Fortran writes exponents with D. */
    for (char *c = word; *c; c++)
        if (*c == 'D' || *c == 'd')
            *c = 'e';

    /* A word that is not a number is an error in the counts or in the file. */
    char *end;
    *value = yk_text_number(word, &end);
    if (*end || !isfinite(*value))
        return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                       "%s:%d:%d: expected a number of record group %d, found '%s'", f->path,
                       f->token_line, f->token_column, group, word);

    return YK_OK;
}

/* Record groups -------------------------------------------------------------------------------- */

static yk_status read_header(fem *f)
{
    /* A line of column names, then the revision. */
    char revision[TOKEN];
    skip_line(f);
    take_word(f, revision);

    /* The numbers of nodes, of three kinds of modes, and of rejected modes. */
    double count[5] = {0};
    for (int k = 0; k < 5; k++) {
        yk_status status = take_number(f, 1, k, 5, &count[k]);
        if (status != YK_OK)
            return status;
        if (!(count[k] >= 0 && count[k] < 1e7 && count[k] == floor(count[k])))
            return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d:%d: expected a count, found %g", f->path, f->token_line,
                           f->token_column, count[k]);
    }

    /* Normal, constraint and attachment modes, without the rejected ones. */
    f->nodes = (int)count[0];
    f->rejected = (int)count[4];
    f->modes = (int)(count[1] + count[2] + count[3]) - f->rejected;
    if (f->nodes < 1 || f->modes < 1)
        return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                       "%s:%d: record group 1 announces %d nodes and %d modes", f->path,
                       f->token_line, f->nodes, f->modes);

    return YK_OK;
}

/* Number of values in a record group. */
static long size_of(const fem *f, int group)
{
    /* Invariants are stored in rows of three, over all modes or pairs of them. */
    long n = f->modes;
    long nodes = f->nodes;

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

static yk_status read_record(fem *f, int group)
{
    /* Each group once, the header first. */
    yk_context *context = f->modal->context;
    int line = f->line - 1;
    if (group < 1 || group >= RECORDS)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: record groups 1 to %d are known, not %d",
                       f->path, line, RECORDS - 1, group);
    if (group != 1 && f->modes == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: record group %d precedes record group 1",
                       f->path, line, group);
    if ((group == 1 && f->modes) || f->record[group])
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: record group %d occurs twice", f->path,
                       line, group);
    if (group == 1)
        return read_header(f);

    /* Group 19 has a count of its own. */
    if (group == 19) {
        double count = 0;
        yk_status status = take_number(f, group, 0, 1, &count);
        if (status != YK_OK)
            return status;
        if (!(count >= 0 && count <= 12 + 6.0 * f->nodes))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s:%d: record group 19 has at most %d matrices, not %g", f->path,
                           f->token_line, 12 + 6 * f->nodes, count);

        f->stresses = (int)count;
    }

    /* Do not allocate memory that the file cannot fill: a number needs at least a digit and a
     * space. */
    long size = size_of(f, group);
    if (2 * size > f->bytes)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s:%d: record group %d would have %ld numbers, more than the file holds: "
                       "check the counts in record group 1",
                       f->path, f->line - 1, group, size);

    f->record[group] = yk_modal_take(f->modal, (size_t)size, sizeof *f->record[group]);
    if (!f->record[group])
        return YK_ERROR_MEMORY;

    /* Values are numbers, except for the names of nodes: integers, or words. If some name is not an
     * integer, the nodes are numbered from 1. */
    double *record = f->record[group];
    if (group != 2) {
        yk_status status = YK_OK;
        for (long k = 0; k < size && status == YK_OK; k++)
            status = take_number(f, group, k, size, &record[k]);
        return status;
    }

    bool words = false;
    for (int k = 0; k < f->nodes; k++) {
        char word[TOKEN];
        if (!take_word(f, word))
            return too_short(f, 2, k, f->nodes);

        char *end;
        record[k] = yk_text_number(word, &end);
        words |= *end != 0 || !(fabs(record[k]) < 2e9) || record[k] != floor(record[k]);
    }

    for (int k = 0; k < f->nodes && words; k++)
        record[k] = k + 1;

    return YK_OK;
}

/* Whether the groups define a complete body. */
static yk_status check_records(fem *f)
{
    static const int required[] = {2, 5, 6, 7, 8, 9, 10};
    yk_context *context = f->modal->context;
    if (f->modes == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s has no line '** RECORD GROUP 1'", f->path);

    /* Nodes, shapes and matrices are there. */
    for (size_t k = 0; k < sizeof required / sizeof *required; k++)
        if (!f->record[required[k]])
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s has no record group %d", f->path,
                           required[k]);

    /* Inertia: lumps, or mass and invariants. */
    for (int group = 14; group <= 18; group++)
        f->has_invariants = f->has_invariants || f->record[group];

    bool lumps = f->record[11];
    bool mass = f->record[12];
    if (!lumps && !mass)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s has neither lumped masses (record group 11) nor a mass (record group "
                       "12)",
                       f->path);
    if (f->has_invariants && !mass)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s has invariants of the shapes (record groups 14 to 18) but no mass and "
                       "inertia (record group 12)",
                       f->path);
    if (!lumps && !f->has_invariants)
        yk_log(context, YK_LOG_WARNING,
               "%s has neither lumped masses (record group 11) nor invariants of the shapes "
               "(14 to 18): weight and motion of the frame do not reach its modes",
               f->path);

    /* Initial values of the modes and of their rates. */
    for (int group = 3; group <= 4 && f->record[group]; group++) {
        bool given = false;
        for (int k = 0; k < f->modes; k++)
            given = given || f->record[group][k] != 0;
        if (given)
            yk_log(context, YK_LOG_WARNING,
                   "%s: initial values in record group %d are not used: bodies start undeformed",
                   f->path, group);
    }

    return YK_OK;
}

/* Nodes, shapes and matrices ------------------------------------------------------------------- */

/* Modes are numbered from 1. */
static yk_status fill_modes(fem *f)
{
    int *numbers = yk_modal_take(f->modal, (size_t)f->modes, sizeof *numbers);
    f->mode = yk_modal_take(f->modal, (size_t)f->modes, sizeof *f->mode);
    if (!numbers || !f->mode)
        return YK_ERROR_MEMORY;

    for (int k = 0; k < f->modes; k++)
        numbers[k] = k + 1;
    yk_status status = yk_modal_take_modes(f->modal, numbers, f->modes, f->path);

    /* From the numbers of the file to indices of the body. */
    for (int k = 0; k < f->modes; k++)
        f->mode[k] = yk_modal_mode(f->modal, k + 1);

    return status;
}

static yk_status fill_nodes(fem *f)
{
    yk_modal *modal = f->modal;

    yk_status status = yk_modal_take_nodes(modal, f->nodes);
    if (status != YK_OK)
        return status;

    /* These files always contain rotations. */
    size_t n = (size_t)modal->mode_count;
    modal->rotates = true;
    for (int k = 0; k < f->nodes; k++) {
        /* Position and lump of the node. */
        yk_ffrf_point *point = &modal->points[k];
        modal->node_number[k] = (int)f->record[2][k];
        point->position = yk_v3(f->record[5][k], f->record[6][k], f->record[7][k]);
        if (f->record[11]) {
            const double *lump = &f->record[11][6 * k];
            yk_mat3 tensor = yk_m3_diagonal(lump[3], lump[4], lump[5]);
            point->mass = lump[0];
            point->second = yk_modal_second_moment(&tensor);
        }

        /* Displacements and rotations, after those of the modes that MBDyn rejects. */
        for (int mode = 0; mode < f->modes; mode++) {
            if (f->mode[mode] < 0)
                continue;

            long row = (long)f->nodes * (f->rejected + mode) + k;
            const double *from = &f->record[8][6 * row];
            yk_vec3 *shape = modal->shapes + 2 * n * (size_t)k + f->mode[mode];
            shape[0] = yk_v3(from[0], from[1], from[2]);
            shape[n] = yk_v3(from[3], from[4], from[5]);
        }
    }

    return yk_modal_order_nodes(modal, f->path);
}

/* The matrix of the used modes. */
static double *choose(const fem *f, const double *from)
{
    int n = f->modal->mode_count;
    double *to = yk_modal_take(f->modal, (size_t)(n * n), sizeof *to);
    for (int i = 0; to && i < f->modes; i++)
        for (int j = 0; j < f->modes; j++)
            if (f->mode[i] >= 0 && f->mode[j] >= 0)
                to[n * f->mode[i] + f->mode[j]] = from[f->modes * i + j];

    return to;
}

static yk_status fill_matrices(fem *f)
{
    yk_modal *modal = f->modal;

    /* Damping is optional: see yk_modal_damp. */
    modal->modal_mass = choose(f, f->record[9]);
    modal->stiffness = choose(f, f->record[10]);
    if (f->record[13])
        modal->damping = choose(f, f->record[13]);
    if (!modal->modal_mass || !modal->stiffness || !modal->damping)
        return YK_ERROR_MEMORY;

    /* A shape with mass and without stiffness would drift. */
    for (int i = 0; i < modal->mode_count; i++) {
        int diagonal = (modal->mode_count + 1) * i;
        double stiffness = modal->stiffness[diagonal];
        if (stiffness <= 0 && modal->modal_mass[diagonal] > 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s: mode %d has the stiffness %g: leave the rigid modes out with the "
                           "key 'selected_modes', the frame moves instead",
                           f->path, modal->mode_number[i], stiffness);
    }

    return YK_OK;
}

/* Inertia -------------------------------------------------------------------------------------- */

/* Integrals over the lumped masses, if record group 12 gives invariants of the rigid body only. */
static yk_status fill_lumped(fem *f)
{
    yk_modal *modal = f->modal;
    yk_status status = yk_modal_take_invariants(modal);
    if (status != YK_OK || !f->record[11] || f->has_invariants)
        return status;

    /* A body of the lumped masses has these integrals. */
    size_t n = (size_t)modal->mode_count;
    for (int k = 0; k < modal->node_count; k++)
        modal->points[k].rotation = modal->points[k].displacement + n;

    yk_ffrf_def def = {
        .mode_count = modal->mode_count,
        .points = modal->points,
        .point_count = modal->node_count,
        .mass = modal->modal_mass,
        .stiffness = modal->stiffness,
    };
    yk_ffrf lumped;
    status = yk_ffrf_create(modal->context, &def, &lumped);
    if (status != YK_OK)
        return status;

    /* The body is needed for its integrals only. */
    modal->mass = lumped.mass;
    modal->moment = lumped.moment;
    modal->second = lumped.second;
    memcpy(modal->shift, lumped.shift, n * sizeof *modal->shift);
    memcpy(modal->spread, lumped.spread, n * sizeof *modal->spread);
    memcpy(modal->pair, lumped.pair, n * n * sizeof *modal->pair);
    yk_ffrf_destroy(modal->context, &lumped);

    return YK_OK;
}

/* A vector for each mode, or pair of modes, stored in three rows: the vector in column `at`. */
static yk_vec3 vector_of(const double *record, long width, long at)
{
    if (!record)
        return yk_v3(0, 0, 0);
    return yk_v3(record[at], record[width + at], record[2 * width + at]);
}

/* The symmetric part of int u s^T from int (u.s - s u^T), with a sign. */
static yk_mat3 symmetric_of(const double *record, long width, long at, double sign)
{
    yk_mat3 t = yk_m3_zero();
    if (!record)
        return t;

    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            t.m[r][c] = sign * record[width * r + 3 * at + c];

    /* T = tr(S) - S, so S = tr(T) / 2 - T. */
    double trace = 0.5 * (t.m[0][0] + t.m[1][1] + t.m[2][2]);
    yk_mat3 whole = yk_m3_sub(yk_m3_diagonal(trace, trace, trace), t);

    return yk_m3_scale(0.5, yk_m3_add(whole, yk_m3_transpose(whole)));
}

static yk_mat3 with_axial(yk_mat3 symmetric, yk_vec3 axial)
{
    return yk_m3_add(symmetric, yk_m3_scale(-0.5, yk_m3_skew(axial)));
}

/* From the invariants of record groups 14 to 18. */
static yk_status fill_invariants(fem *f)
{
    if (!f->has_invariants)
        return YK_OK;

    yk_modal *modal = f->modal;
    int n = modal->mode_count;
    long count = f->modes;
    long pairs = count * count;

    for (int i = 0; i < f->modes; i++) {
        int a = f->mode[i];
        if (a < 0)
            continue;

        /* Integrals of one shape ... */
        yk_mat3 spread = symmetric_of(f->record[16], 3 * count, i, 1);
        modal->shift[a] = vector_of(f->record[14], count, i);
        modal->spread[a] = with_axial(spread, vector_of(f->record[15], count, i));
        for (int j = 0; j < f->modes; j++) {
            int b = f->mode[j];
            if (b < 0)
                continue;

            /* ... and of two. */
            long at = count * i + j;
            yk_vec3 rotation = yk_v3_neg(vector_of(f->record[17], pairs, at));
            yk_mat3 pair = symmetric_of(f->record[18], 3 * pairs, at, -1);
            modal->pair[n * a + b] = with_axial(pair, rotation);
        }
    }

    return YK_OK;
}

/* Mass, center and tensor of the rigid body; integrals are about the origin. */
static yk_status fill_rigid(fem *f)
{
    yk_modal *modal = f->modal;
    const double *v = f->record[12];
    if (!v)
        return YK_OK;

    /* The file gives the tensor about the centre of mass. */
    yk_vec3 centre = {v[1], v[2], v[3]};
    yk_mat3 tensor = {{{v[4], v[5], v[6]}, {v[7], v[8], v[9]}, {v[10], v[11], v[12]}}};
    tensor = yk_m3_scale(0.5, yk_m3_add(tensor, yk_m3_transpose(tensor)));
    yk_mat3 steiner = yk_m3_scale(v[0], yk_m3_outer(centre, centre));
    modal->mass = v[0];
    modal->moment = yk_v3_scale(v[0], centre);
    modal->second = yk_m3_add(yk_modal_second_moment(&tensor), steiner);

    return YK_OK;
}

/* Stiffness by unit loads, numbered in this order: products of angular velocities xx, yy, zz, xy,
 * yz, zx; angular accelerations; accelerations; then forces and torques at each node. With H = int
 * u0 g^T of shapes of second order g, the equations of motion contain, instead of K p: w.(H + H^T)
 * w / 2 - tr(H) w.w, (int u0 x g).w', (int g).(v' - weight) and -g.F at a node. Torques have no
 * counterpart, because shapes of second order do not rotate their nodes. */
static void add_stress_stiffness(fem *f, long load, const double *k, bool *rotates)
{
    static const int row[] = {0, 1, 2, 0, 1, 2};
    static const int column[] = {0, 1, 2, 1, 2, 0};
    yk_modal *modal = f->modal;
    int n = modal->mode_count;

    for (int i = 0; i < n * n; i++) {
        yk_mat3 *pair = &modal->pair[i];
        if (load < 3) {
            for (int d = 0; d < 3; d++)
                pair->m[d][d] += (d == load ? 0.5 : -0.5) * k[i];
        } else if (load < 6) {
            pair->m[row[load]][column[load]] += 0.5 * k[i];
            pair->m[column[load]][row[load]] += 0.5 * k[i];
        } else if (load < 9) {
            double axial[3] = {0};
            axial[load - 6] = k[i];
            *pair = with_axial(*pair, yk_v3(axial[0], axial[1], axial[2]));
        } else if (load < 12) {
            double *curve = &modal->curve[i].x;
            curve[load - 9] += k[i];
        } else if ((load - 12) % 6 < 3) {
            yk_vec3 *bends = yk_modal_bends(modal, (int)(load - 12) / 6);
            double *bend = &bends[i].x;
            bend[(load - 12) % 6] -= k[i];
        } else {
            *rotates |= k[i] != 0;
        }
    }
}

static yk_status fill_stress_stiffness(fem *f)
{
    bool rotates = false;
    for (int m = 0; m < f->stresses; m++) {
        /* A number of the load, then its matrix. */
        const double *at = &f->record[19][(long)m * (1 + (long)f->modes * f->modes)];
        double load = at[0] - 1;
        if (!(load >= 0 && load < 12 + 6.0 * f->nodes && load == floor(load)))
            return yk_fail(f->modal->context, YK_ERROR_ARGUMENT,
                           "%s: record group 19 has a matrix for load %g: loads are counted from "
                           "1 to %d",
                           f->path, at[0], 12 + 6 * f->nodes);

        /* Loads at nodes need shapes of second order there. */
        const double *k = choose(f, at + 1);
        if (!k)
            return YK_ERROR_MEMORY;
        if (load >= 12 && !yk_modal_bends(f->modal, (int)(load - 12) / 6))
            return YK_ERROR_MEMORY;

        add_stress_stiffness(f, (long)load, k, &rotates);
    }

    if (rotates)
        yk_log(f->modal->context, YK_LOG_WARNING,
               "%s: stiffness by torques at nodes (record group 19) is not used: that by forces "
               "and motion is",
               f->path);

    return YK_OK;
}

/* The file ------------------------------------------------------------------------------------- */

yk_status yk_modal_read_fem(yk_modal *modal)
{
    fem f = {.modal = modal, .path = modal->files->fem, .line = 1, .column = 1};
    f.file = yk_input_open(modal->context, f.path, YK_ERROR_ARGUMENT);
    if (!f.file)
        return YK_ERROR_ARGUMENT;

    /* The file size limits the possible counts. */
    f.bytes = LONG_MAX;
    if (fseek(f.file, 0, SEEK_END) == 0)
        f.bytes = ftell(f.file);

    rewind(f.file);

    /* Text before the first record group is a comment; after it, an additional number is an error
     * in the counts. */
    yk_status status = YK_OK;
    int group = 0;
    while (status == YK_OK) {
        char word[TOKEN];
        while (status == YK_OK && take_word(&f, word)) {
            char *end;
            yk_text_number(word, &end);
            if (group && !*end)
                status = yk_fail(modal->context, YK_ERROR_ARGUMENT,
                                 "%s:%d:%d: record group %d has more numbers than the counts in "
                                 "record group 1 say",
                                 f.path, f.token_line, f.token_column, group);

            skip_line(&f);
        }

        if (status != YK_OK || f.ended)
            break;

        /* The marker that ended the previous words begins the next group. */
        group = f.next;
        f.next = 0;
        status = read_record(&f, group);
    }

    status = yk_input_check(modal->context, f.file, f.path, status);
    fclose(f.file);

    /* From the groups to the body. */
    yk_status (*const stages[])(fem *) = {
        check_records, fill_modes,      fill_nodes, fill_matrices,
        fill_lumped,   fill_invariants, fill_rigid, fill_stress_stiffness,
    };

    for (size_t i = 0; i < sizeof stages / sizeof *stages && status == YK_OK; i++)
        status = stages[i](&f);
    if (status == YK_OK)
        yk_modal_damp(modal);

    return status;
}
