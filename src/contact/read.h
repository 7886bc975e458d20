/* Reads the text files of the FCLIB and Siconos collections: frictional contact problems, LCPs
 * and MLCPs.
 *
 * Files are other people's: sizes are checked against what the file can hold before anything is
 * reserved, every number is checked, and an error names the file, the line and what was expected
 * there. */
#ifndef YK_CONTACT_READ_H
#define YK_CONTACT_READ_H

#include "contact/mlcp.h"
#include "contact/problem.h"

typedef enum yk_problem_kind {
    YK_PROBLEM_CONTACT,
    YK_PROBLEM_LCP,
    YK_PROBLEM_MLCP
} yk_problem_kind;

/* What a file holds, from its first numbers. YK_ERROR_FILE or YK_ERROR_INPUT. */
yk_status yk_problem_file_kind(yk_context *context, const char *path, yk_problem_kind *kind);

/* `dim nc <W> q mu [flag]`, and nothing more: problems of other kinds begin alike. The caller
 * destroys the problem. */
yk_status yk_contact_read(yk_context *context, const char *path, yk_contact_problem *problem);

/* LCP `n <M> q [solution] [remark]` and MLCP `st1 st2 n m ...`; the caller destroys the problem. */
yk_status yk_mlcp_read(yk_context *context, const char *path, yk_mlcp *problem);

/* The same from text in memory; `name` stands for the path in messages. */
yk_status yk_contact_parse(yk_context *context, const char *name, const char *text, size_t length,
                           yk_contact_problem *problem);
yk_status yk_mlcp_parse(yk_context *context, const char *name, const char *text, size_t length,
                        yk_mlcp *problem);

#endif
