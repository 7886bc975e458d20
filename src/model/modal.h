/* Modal bodies of other programs in the making: what the readers of the formats fill in, and what
 * becomes of it.
 *
 *   modal_file.c        tables of nodes, modes, frequencies and shapes of second order; a body as
 *                       such tables
 *   modal_invariants.c  table of inertia invariants and modal matrices
 *   modal_fem.c         the record groups that MBDyn's modal joint reads
 *
 * docs/modal.md describes the formats. Nodes and modes go by index here; their numbers are those
 * of the files. */
#ifndef YK_MODEL_MODAL_H
#define YK_MODEL_MODAL_H

#include "model/yaml_tree.h"
#include "multibody/flexible.h"

/* Where a body is described; paths, NULL: absent. */
typedef struct yk_modal_files {
    const char *nodes, *modes, *frequencies, *second_order, *invariants;
    const char *fem;      /* instead of the others */
    double damping_ratio; /* of shapes without damping in the files */
    bool constant_mass;
    const double *use; /* numbers of the modes that take part; none: all */
    int use_count;
} yk_modal_files;

typedef struct yk_modal {
    yk_context *context;
    const yk_modal_files *files;
    yk_store store; /* of all that follows */
    int mode_count, node_count;
    int *mode_number;
    int *node_number;
    int *node_order;       /* nodes by rising numbers */
    yk_ffrf_point *points; /* nodes */
    yk_vec3 *shapes;       /* per node: displacements, then rotations */
    bool rotates;
    bool weighs; /* the invariants are given: nodes weigh nothing */
    double mass;
    yk_vec3 moment;
    yk_mat3 second;
    yk_vec3 *shift, *curve;
    yk_mat3 *spread, *pair;
    double *modal_mass; /* NULL: that of the lumps */
    double *stiffness, *damping;
} yk_modal;

/* Points are named by the numbers of their nodes; their attachments are 0, 1, ... */
yk_status yk_modal_read(yk_context *context, const yk_modal_files *files, const int *points,
                        int point_count, yk_flexible **body);

/* modal.c: for the readers. */
/* Zeroed; NULL when out of memory. */
void *yk_modal_take(yk_modal *modal, size_t count, size_t size);
/* The modes that take part, as many as `numbers` has of those that are used. */
yk_status yk_modal_take_modes(yk_modal *modal, const int *numbers, int count, const char *path);
/* Memory for nodes whose numbers and positions follow. */
yk_status yk_modal_take_nodes(yk_modal *modal, int count);
/* After all numbers are there; YK_ERROR_ARGUMENT where two are the same. */
yk_status yk_modal_order_nodes(yk_modal *modal, const char *path);
int yk_modal_node(const yk_modal *modal, int number);
int yk_modal_mode(const yk_modal *modal, int number);
/* g_ij of a node, modes x modes; NULL when out of memory. */
yk_vec3 *yk_modal_bends(yk_modal *modal, int node);
/* Memory for the integrals that the file gives. */
yk_status yk_modal_take_invariants(yk_modal *modal);
/* int s_i . s_i over the lumps. */
double yk_modal_lumped_mass(const yk_modal *modal, int mode);
/* A fraction of critical damping for all shapes, where the files have no damping at all. */
void yk_modal_damp(yk_modal *modal);
/* sum of m rho rho^T from an inertia tensor. */
yk_mat3 yk_modal_second_moment(const yk_mat3 *tensor);

/* The readers. */
yk_status yk_modal_read_tables(yk_modal *modal);
yk_status yk_modal_read_fem(yk_modal *modal);
/* Numbers of the modes that have a stiffness, in their order; taken from the store. */
yk_status yk_modal_list_modes(yk_modal *modal, const char *path, int **numbers, int *count);
yk_status yk_modal_read_invariants(yk_modal *modal, const char *path);

/* modal_file.c: nodes.csv, modes.csv, second_order.csv and invariants.csv in a folder that
 * exists. */
yk_status yk_modal_write(yk_context *context, const yk_flexible *body, const char *folder);

#endif
