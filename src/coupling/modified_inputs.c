#include "coupling/modified_inputs.h"

#include <math.h>

static const yk_input_weights INDEX_2 = {1, 1, 0};
static const yk_input_weights INDEX_3 = {1, 0, 0};

const yk_option_choice yk_modified_inputs_words[] = {
    {"none", "the predicted motion itself"},
    {"index-1", "modified inputs with alpha = 2/h², beta = 2/h, gamma = 1"},
    {"index-2", "modified inputs with alpha = 1/h, beta = 1, gamma = 0"},
    {"index-3", "modified inputs with alpha = 1, beta = gamma = 0"},
    {NULL, NULL},
};

const yk_input_weights *yk_modified_inputs_weights(yk_modified_inputs inputs, double alpha,
                                                   double beta, double gamma, double h,
                                                   yk_input_weights *own)
{
    *own = (yk_input_weights){alpha * h * h, beta * h, gamma};
    switch (inputs) {
    case YK_MODIFIED_INPUTS_NONE: return NULL;
    case YK_MODIFIED_INPUTS_INDEX_1: return &yk_weights_index1;
    case YK_MODIFIED_INPUTS_INDEX_2: return &INDEX_2;
    case YK_MODIFIED_INPUTS_INDEX_3: return &INDEX_3;
    case YK_MODIFIED_INPUTS_WEIGHTED: return own;
    }
    return NULL;
}

yk_status yk_modified_inputs_check(yk_context *context, const char *scheme,
                                   yk_modified_inputs inputs, double alpha, double beta,
                                   double gamma)
{
    if (inputs != YK_MODIFIED_INPUTS_WEIGHTED)
        return YK_OK;

    /* The sum of the weights is the divisor in equation (26). */
    double sum = alpha + beta + gamma;
    bool negative = alpha < 0 || beta < 0 || gamma < 0;
    if (!negative && sum > 0 && isfinite(sum))
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "scheme %s: the weights of the modified inputs (alpha %g, beta %g, gamma "
                   "%g) must not be negative, and one must be greater than 0",
                   scheme, alpha, beta, gamma);
}
