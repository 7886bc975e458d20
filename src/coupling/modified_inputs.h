/* The option `modified_inputs`, which the schemes explicit and tight share (Zhang et al. 2022, equations 25 and 26). */
#ifndef YK_COUPLING_MODIFIED_INPUTS_H
#define YK_COUPLING_MODIFIED_INPUTS_H

#include "coupling/interface.h"
#include "yoke/schemes.h"

/* Names of yk_modified_inputs. */
extern const yk_option_choice yk_modified_inputs_words[];

/* The rows for the weights alpha, beta and gamma, which are members of the given option struct. */
#define YK_MODIFIED_INPUTS_WEIGHTS(type)                     \
    {"alpha",                                                \
     YK_OPTION_NUMBER,                                       \
     YK_MEMBER(type, alpha),                                 \
     .required = true,                                       \
     .unit = "1/s²",                                         \
     .range = YK_NOT_NEGATIVE,                               \
     .description = "weight of the position error"},         \
        {"beta",                                             \
         YK_OPTION_NUMBER,                                   \
         YK_MEMBER(type, beta),                              \
         .required = true,                                   \
         .unit = "1/s",                                      \
         .range = YK_NOT_NEGATIVE,                           \
         .description = "weight of the velocity error"},     \
        {"gamma",                                            \
         YK_OPTION_NUMBER,                                   \
         YK_MEMBER(type, gamma),                             \
         .required = true,                                   \
         .range = YK_NOT_NEGATIVE,                           \
         .description = "weight of the acceleration error"}, \
    {                                                        \
        0                                                    \
    }

/* The weights of (26) with the macro step h; NULL: the inputs are not modified. `own` holds those of alpha, beta and gamma. */
const yk_input_weights *yk_modified_inputs_weights(yk_modified_inputs inputs, double alpha,
                                                   double beta, double gamma, double h,
                                                   yk_input_weights *own);
/* Checks that the weights have a sum that is a divisor. */
yk_status yk_modified_inputs_check(yk_context *context, const char *scheme,
                                   yk_modified_inputs inputs, double alpha, double beta,
                                   double gamma);

#endif
