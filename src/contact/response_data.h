/* What is inside a response; for response.c (who takes part, and the equations of each) and
 * response_solve.c (all of them together). */
#ifndef YK_CONTACT_RESPONSE_DATA_H
#define YK_CONTACT_RESPONSE_DATA_H

#include "contact/factor.h"
#include "contact/network_data.h"
#include "contact/response.h"
#include "math/sparse.h"

enum { RESPONSE_OPEN, RESPONSE_CLOSED, RESPONSE_CAUGHT /* closed by a review: it sticks */ };

/* A contact or joint that takes part. */
typedef struct response_part {
    uint32_t element;
    int32_t side[2]; /* slots of its nodes, or -1 */
    int32_t first;   /* row */
    int32_t dim;
} response_part;

/* Its equations: for both sides the coefficients G of its rows, and -M^-1 D of its unknowns,
 * which are scaled with the masses that they move; C. */
typedef struct response_coefficients {
    double rows[2][YK_CONTACT_DIM_MAX][6];
    double columns[2][YK_CONTACT_DIM_MAX][6];
    double softness[YK_CONTACT_DIM_MAX];
} response_coefficients;

struct yk_response {
    yk_context *context;
    const yk_network *network;
    int32_t *group;  /* per node: another node of its island, or itself */
    int32_t *slot;   /* per node: its slot, or -1 */
    int32_t *nodes;  /* per slot */
    uint8_t *closed; /* per contact: response_state */
    response_part *parts;
    response_coefficients *coefficients; /* per part */
    size_t part_count;
    int slot_count, row_count;
    double *right;  /* six per slot, then one per row; solutions too */
    double *biases; /* per row */
    double *traces; /* per row: softness that is not the model's */
    double *refinement;
    yk_incidence incidence;   /* parts on each slot */
    const int32_t (*ends)[2]; /* slots of each part */
    bool by_blocks;
    yk_block_matrix blocks; /* W; the softness of the rows in `diagonal` */
    double *diagonal;
    size_t *diagonal_offset;
    yk_factor *factor;
    yk_sparse *matrix; /* where W would have too many blocks */
    int *entry_index;
    /* The pattern that factor or matrix were made for. */
    response_part *last_parts;
    size_t last_part_count;
    int last_slot_count;
    array group_array, slot_array, nodes_array, closed_array, parts_array, coefficient_array,
        right_array, bias_array, trace_array, refinement_array, incidence_array, block_index_array,
        block_offset_array, block_value_array, block_diagonal_array, last_parts_array, entry_array,
        entry_index_array;
    int closed_count; /* contacts that take part */
};

/* response_solve.c */
yk_status yk_response_factor_all(yk_response *response);

#endif
