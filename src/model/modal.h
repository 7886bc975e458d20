/* Modal bodies of other programs under construction: the data that the readers of the formats
 * provide, and the resulting body.
 *
 *   modal_file.c        tables of nodes, modes, frequencies and shapes of second order; writes a
 *                       body as such tables
 *   modal_invariants.c  table of inertia invariants and modal matrices
 *   modal_fem.c         the record groups read by MBDyn's modal joint
 *
 * docs/modal.md describes the formats. Here nodes and modes have indices; their numbers are those
 * of the files. */
#ifndef YK_MODEL_MODAL_H
#define YK_MODEL_MODAL_H

#include "model/yaml_tree.h"
#include "multibody/flexible.h"

/* Files of a body; NULL: not given. */
typedef struct yk_modal_files {
    const char *nodes, *modes, *frequencies, *second_order, *invariants;
    const char *fem;      /* instead of the others */
    double damping_ratio; /* of shapes whose damping is not in the files */
    bool constant_mass;
    const double *use; /* numbers of the modes to use; none: all */
    int use_count;
} yk_modal_files;

typedef struct yk_modal {
    yk_context *context;
    const yk_modal_files *files;
    yk_store store; /* memory of all following members */
    int mode_count, node_count;
    int *mode_number;
    int *node_number;
    int *node_order;       /* nodes by ascending numbers */
    yk_ffrf_point *points; /* nodes */
    yk_vec3 *shapes;       /* per node: displacements, then rotations */
    bool rotates;
    bool weighs; /* the invariants are given: nodes have no mass */
    double mass;
    yk_vec3 moment;
    yk_mat3 second;
    yk_vec3 *shift, *curve;
    yk_mat3 *spread, *pair;
    double *modal_mass; /* NULL: that of the lumped masses */
    double *stiffness, *damping;
} yk_modal;

/* Attachments 0, 1, ... of the body belong to the nodes with these numbers. */
yk_status yk_modal_read(yk_context *context, const yk_modal_files *files, const int *points,
                        int point_count, yk_flexible **body);

/* modal.c: for the readers. */
/* Zeroed; NULL: memory is missing. */
void *yk_modal_take(yk_modal *modal, size_t count, size_t size);
/* Selects the modes to use: those among `numbers` that are requested. */
yk_status yk_modal_take_modes(yk_modal *modal, const int *numbers, int count, const char *path);
/* Allocates nodes, whose numbers and positions the reader sets. */
yk_status yk_modal_take_nodes(yk_modal *modal, int count);
/* Sorts the numbers after all are set; YK_ERROR_ARGUMENT: two are equal. */
yk_status yk_modal_order_nodes(yk_modal *modal, const char *path);
int yk_modal_node(const yk_modal *modal, int number);
int yk_modal_mode(const yk_modal *modal, int number);
/* g_ij of a node, modes x modes; NULL: memory is missing. */
yk_vec3 *yk_modal_bends(yk_modal *modal, int node);
/* Allocates the integrals given in the file. */
yk_status yk_modal_take_invariants(yk_modal *modal);
/* int s_i . s_i over the lumped masses. */
double yk_modal_lumped_mass(const yk_modal *modal, int mode);
/* Sets a fraction of critical damping for all shapes if the files contain no damping. */
void yk_modal_damp(yk_modal *modal);
/* sum of m rho rho^T from an inertia tensor. */
yk_mat3 yk_modal_second_moment(const yk_mat3 *tensor);

/* The readers. */
yk_status yk_modal_read_tables(yk_modal *modal);
yk_status yk_modal_read_fem(yk_modal *modal);
/* Numbers of the modes with a stiffness, in their order; allocated from the store. */
yk_status yk_modal_list_modes(yk_modal *modal, const char *path, int **numbers, int *count);
yk_status yk_modal_read_invariants(yk_modal *modal, const char *path);

/* modal_file.c: nodes.csv, modes.csv, second_order.csv and invariants.csv in a folder that
 * exists. */
yk_status yk_modal_write(yk_context *context, const yk_flexible *body, const char *folder);

#endif
