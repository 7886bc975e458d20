/* The linear equations of a multibody system: the matrix with its pattern, factors and scaling, and
 * the axes that kept factors turn with. What the matrix means is said in multibody.h; the solver
 * only knows which unknown belongs where. */
#ifndef YK_MULTIBODY_LINEAR_SOLVER_H
#define YK_MULTIBODY_LINEAR_SOLVER_H

#include "math/sparse.h"
#include "multibody/workspace.h"

/* Vectors of unknowns that turn with a body. */
typedef struct carried_vectors {
    int first, vectors;
    /* whose rotation carries them; -1: the section of a rod, by r_y and r_z from coordinate
     * `section` on */
    int node;
    int section;      /* as an unknown */
    yk_mat3 then;     /* axes when the factors were made */
    yk_mat3 rotation; /* since; work space of a solution */
} carried_vectors;

typedef struct yk_linear_solver {
    yk_sparse *matrix;
    int *entry_index; /* entry k of a pass of assembly is added at values[entry_index[k]] */
    size_t entry_count;
    double *entry_scale; /* of each entry of the matrix: the scales of its row and its column */
    carried_vectors *carried;
    int carried_count;
    bool match; /* the factors are those that belong to the state */
    int64_t factorisations;
} yk_linear_solver;

/* linear_solver.c: pattern, order of elimination, scaling. */
yk_status yk_linear_solver_create(const yk_multibody_model *model, yk_multibody_workspace *work,
                                  yk_linear_solver *solver);
void yk_linear_solver_release(const yk_multibody_model *model, yk_linear_solver *solver);
/* New factors of the assembled matrix, or a message that names what has no unique solution. */
yk_status yk_multibody_factor(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              yk_linear_solver *solver);
yk_status yk_multibody_factor_failed(const yk_multibody_model *model,
                                     const yk_multibody_workspace *work, yk_status status,
                                     int column);
/* Solves with the factors at hand, in place; scales in and out. */
void yk_multibody_solve(const yk_multibody_model *model, const yk_linear_solver *solver,
                        double *vector);
/* The same for work->right, against the equations without compliance: what redundant rows leave
 * open becomes least norm. */
void yk_multibody_solve_refined(const yk_multibody_model *model, yk_multibody_workspace *work,
                                const yk_linear_solver *solver);

/* The same with factors of an earlier placement, which turn with the bodies since
 * yk_multibody_carry_from_here was called. */
void yk_multibody_carry_from_here(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, yk_linear_solver *solver);
void yk_multibody_solve_carried(const yk_multibody_model *model, const yk_multibody_workspace *work,
                                yk_linear_solver *solver, double *vector);

#endif
