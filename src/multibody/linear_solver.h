/* The linear equations of a multibody system: the matrix with its pattern, factors and scaling, and
 * the body axes in which old factors remain valid. The meaning of the matrix is described in
 * multibody.h; the solver only knows the place of each unknown. */
#ifndef YK_MULTIBODY_LINEAR_SOLVER_H
#define YK_MULTIBODY_LINEAR_SOLVER_H

#include "math/sparse.h"
#include "multibody/workspace.h"

/* A vector of unknowns that rotates with a body. */
typedef struct carried_vectors {
    int first, vectors;
    /* node whose rotation applies; -1: the section of a rod, by r_y and r_z from coordinate
     * `section` on */
    int node;
    int section;      /* as an unknown */
    yk_mat3 then;     /* axes when the factors were made */
    yk_mat3 rotation; /* rotation since then; workspace of a solution */
} carried_vectors;

typedef struct yk_linear_solver {
    yk_sparse *matrix;
    int *entry_index; /* entry k of a pass of assembly is added at values[entry_index[k]] */
    size_t entry_count;
    double *entry_scale; /* of each entry of the matrix: the scales of its row and its column */
    carried_vectors *carried;
    int carried_count;
    bool match; /* the factors belong to the state */
    int64_t factorisations;
} yk_linear_solver;

/* linear_solver.c: pattern, order of elimination, scaling. */
yk_status yk_linear_solver_create(const yk_multibody_model *model, yk_multibody_workspace *work,
                                  yk_linear_solver *solver);
void yk_linear_solver_release(const yk_multibody_model *model, yk_linear_solver *solver);
/* Factors the assembled matrix. The message of an error names the part without a unique solution. */
yk_status yk_multibody_factor(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              yk_linear_solver *solver);
yk_status yk_multibody_factor_failed(const yk_multibody_model *model,
                                     const yk_multibody_workspace *work, yk_status status,
                                     int column);
/* Solves with the present factors, in place, including scaling. */
void yk_multibody_solve(const yk_multibody_model *model, const yk_linear_solver *solver,
                        double *vector);
/* The same for work->right and the equations without compliance: the undetermined part of redundant
 * rows gets the least norm. */
void yk_multibody_solve_refined(const yk_multibody_model *model, yk_multibody_workspace *work,
                                const yk_linear_solver *solver);

/* The same with factors of an earlier placement, rotated with the bodies since the call of
 * yk_multibody_carry_from_here(). */
void yk_multibody_carry_from_here(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, yk_linear_solver *solver);
void yk_multibody_solve_carried(const yk_multibody_model *model, const yk_multibody_workspace *work,
                                yk_linear_solver *solver, double *vector);

#endif
