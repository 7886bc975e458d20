/* The input language of MBDyn: statements `keyword: argument, argument, ...;` of constants,
 * reference frames and drives. model.c reads the elements.
 *
 * The arguments of a statement are read one after another. A missing argument, or one that is not a
 * number, is stored as the problem of the statement, and all values read after it are zero. */
#ifndef YK_INTEROP_MBDYN_LANGUAGE_H
#define YK_INTEROP_MBDYN_LANGUAGE_H

#include "interop/import/importer.h"
#include "model/expression.h"

enum { YK_MBD_ARGUMENTS = 4096, YK_MBD_CONSTANTS = 4096, YK_MBD_FRAMES = 20000 };
enum { YK_MBD_TEXT = 400, YK_MBD_NAME = 64 };

/* A reference frame or a node: its initial pose and velocities. */
typedef struct yk_mbd_frame {
    double label;
    bool node;
    char name[YK_MBD_NAME];
    yk_pose pose;
    yk_vec3 velocity, angular_velocity;
} yk_mbd_frame;

extern const yk_mbd_frame yk_mbd_global;

typedef struct yk_mbd yk_mbd;
struct yk_mbd {
    yk_import *import; /* keeps the notes */
    void (*statement)(yk_mbd *r, const char *keyword);
    void *user; /* of the function */

    const char *file;
    int line;   /* of the statement */
    int depth;  /* of files that include each other */
    bool ended; /* MBDyn reads nothing after the elements */
    bool failed;
    char problem[300]; /* of the statement that failed */
    char problem_file[300];
    int problem_line;

    yk_named_value *constants;
    /* value that each constant had when it was first used as a label; NaN: not used */
    double *labels;
    int constant_count;
    yk_mbd_frame *frames;
    int frame_count;

    char *arguments[YK_MBD_ARGUMENTS]; /* of the statement */
    int argument_count, at;
    char values[YK_MBD_ARGUMENTS][32]; /* of arguments that were lists of statements */
    char block[YK_MBD_NAME];           /* between begin and end */
};

/* Calls the function for every statement of a file but `set` and `include`. */
void yk_mbd_read_file(yk_mbd *r, const char *path);

void yk_mbd_note(yk_mbd *r, const char *format, ...) YK_PRINTF(2, 3);
/* Keeps the problem, if it is the statement's first. */
void yk_mbd_refuse(yk_mbd *r, const char *format, ...) YK_PRINTF(2, 3);

/* Whether the next argument is this word; `take` also skips it. */
bool yk_mbd_next_is(const yk_mbd *r, const char *word);
bool yk_mbd_take(yk_mbd *r, const char *word);
const char *yk_mbd_take_text(yk_mbd *r);

double yk_mbd_evaluate(yk_mbd *r, const char *text);
bool yk_mbd_number_follows(yk_mbd *r);
double yk_mbd_take_number(yk_mbd *r);
/* Reports another word in terms of `what`. */
int yk_mbd_take_whole(yk_mbd *r, const char *what, int least, int most);
yk_vec3 yk_mbd_take_numbers(yk_mbd *r);
yk_mat3 yk_mbd_take_matrix(yk_mbd *r);

/* A name for the scenario: that of the constant with which a label was given (returns true), or the
 * kind with its number. */
bool yk_mbd_name_of(yk_mbd *r, const char *kind, const char *label, char *name);

/* In global axes. `own` is the default frame, `other` that of the previous node. */
const yk_mbd_frame *yk_mbd_find_frame(yk_mbd *r, double label, bool node);
const yk_mbd_frame *yk_mbd_take_reference(yk_mbd *r, const yk_mbd_frame *own,
                                          const yk_mbd_frame *other);
yk_vec3 yk_mbd_take_position(yk_mbd *r, const yk_mbd_frame *own, const yk_mbd_frame *other);
yk_vec3 yk_mbd_take_direction(yk_mbd *r, const yk_mbd_frame *own);
yk_quat yk_mbd_take_orientation(yk_mbd *r, const yk_mbd_frame *own, const yk_mbd_frame *other);

/* A drive as an expression of t, of at most YK_MBD_TEXT bytes. */
void yk_mbd_take_drive(yk_mbd *r, char *text);

#endif
