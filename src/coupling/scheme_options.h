/* Options of schemes, as a copy that belongs to the system. */
#ifndef YK_COUPLING_SCHEME_OPTIONS_H
#define YK_COUPLING_SCHEME_OPTIONS_H

#include "coupling/system.h"

/* Options that several schemes have: choices of yk_sequence, yk_exchange and yk_acceleration. */
extern const yk_option_choice yk_order_words[];
extern const yk_option_choice yk_exchange_words[];
extern const yk_option_choice yk_acceleration_words[];

/* Copies the options of the scheme, or its defaults, into the system. */
yk_status yk_system_copy_options(yk_system *system, const yk_scheme_def *scheme);
/* Creates the scheme of the system with these options. */
yk_status yk_system_create_scheme(yk_system *system);

/* The first scheme of the library that has a trait, or does not have it, for messages that
 * recommend a scheme. */
const char *yk_scheme_name_with(unsigned trait);
const char *yk_scheme_name_without(unsigned trait);

#endif
