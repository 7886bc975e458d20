/* Between modal_fem.c, which reads the record groups of MBDyn's modal joint, and
 * modal_fem_body.c, which makes a body of them. */
#ifndef YK_MODEL_MODAL_FEM_H
#define YK_MODEL_MODAL_FEM_H

#include <stdio.h>

#include "model/modal.h"

enum { YK_FEM_RECORDS = 20 };

typedef struct yk_fem {
    yk_modal *modal;
    const char *path;
    FILE *file;
    long bytes;
    int line, column; /* of the next character */
    int token_line, token_column;
    int next; /* record whose marker has been met; 0: none */
    bool ended;
    int nodes, modes, rejected;
    int *mode; /* of the file, from 0: index among those that take part, or -1 */
    double *record[YK_FEM_RECORDS];
    int stresses; /* matrices of record group 19 */
} yk_fem;

/* From all record groups, which have been checked. */
yk_status yk_fem_body(yk_fem *f);

#endif
