/* Reads the text files of the FCLIB and Siconos collections: frictional contact problems, also with
 * rolling friction and in the velocities of bodies, LCPs and MLCPs.
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

/* `dim nc <W> q mu [flag]`, and nothing more: problems of other kinds begin alike. With dimension 5
 * `dim nc <W> q mu mu_r`, rows N, T1, T2, R1, R2 (rolling friction). In the velocities of bodies
 * (problem.h) `dim nc <M> <H> q b mu [mu_r]`, with M v = H r + q, u = H^T v + b: condensed to W.
 * The caller destroys the problem. */
yk_status yk_contact_read(yk_context *context, const char *path, yk_contact_problem *problem);

/* LCP `n <M> q [solution] [remark]` and MLCP `st1 st2 n m ...`; the caller destroys the problem. */
yk_status yk_mlcp_read(yk_context *context, const char *path, yk_mlcp *problem);

/* The same from text in memory; `name` stands for the path in messages. */
yk_status yk_contact_parse(yk_context *context, const char *name, const char *text, size_t length,
                           yk_contact_problem *problem);
yk_status yk_mlcp_parse(yk_context *context, const char *name, const char *text, size_t length,
                        yk_mlcp *problem);

#endif
