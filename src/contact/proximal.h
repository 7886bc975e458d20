/* Proximal point iterations for cone and Coulomb problems that Newton alone does not solve
 * (Rockafellar 1976; for Coulomb friction Acary, Bremond, Huber 2018).
 *
 * Each step solves the problem with W + alpha D in place of W and q - alpha D y in place of q by
 * Newton's method, where D holds the mean diagonals of the contacts' own blocks. With alpha large
 * enough Newton converges, because every contact then answers mostly to itself; its result is
 * where the next step starts, and where nothing moves any more the added terms cancel. alpha
 * follows the trouble that Newton has. The centre y is ahead of the iterates in the direction of
 * the last change (Nesterov 1983) until that fails, for what converges slowly does so in one
 * direction. */
#ifndef YK_CONTACT_PROXIMAL_H
#define YK_CONTACT_PROXIMAL_H

#include "contact/newton.h"

typedef struct yk_proximal {
    const yk_contact_problem *problem;
    yk_contact_problem shifted; /* shares W and mu */
    double *scale;              /* D */
    double *centre, *last;
    double *best, *best_u;
    double alpha, momentum;
    bool undamped; /* tries Newton steps without a line search */
    int age;       /* steps since the centre was last ahead in vain */
} yk_proximal;

yk_status yk_proximal_create(yk_context *context, const yk_contact_problem *problem,
                             yk_proximal *proximal);
void yk_proximal_destroy(yk_context *context, yk_proximal *proximal);

/* From r until the residual is at most `tolerance`, `limit` Newton steps are done, or nothing is
 * gained any more. r, u and *residual hold the best; returns the number of Newton steps. `newton`
 * must belong to the same problem. */
int yk_proximal_iterate(yk_proximal *proximal, yk_newton *newton, double tolerance, int limit,
                        double *r, double *u, double *residual);

#endif
