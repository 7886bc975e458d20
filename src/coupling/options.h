/* Words of options that several schemes have. */
#ifndef YK_COUPLING_OPTIONS_H
#define YK_COUPLING_OPTIONS_H

#include "yoke/scheme.h"

extern const yk_option_word yk_order_words[];        /* of yk_order */
extern const yk_option_word yk_exchange_words[];     /* of yk_exchange */
extern const yk_option_word yk_acceleration_words[]; /* of yk_acceleration */

#endif
