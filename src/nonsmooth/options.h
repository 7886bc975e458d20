/* The options of the nonsmooth solver: rows over yk_nonsmooth_def, from which its defaults and the keys of scenarios
 * follow. */
#ifndef YK_NONSMOOTH_OPTIONS_H
#define YK_NONSMOOTH_OPTIONS_H

#include "base/option.h"

extern const yk_option_section yk_nonsmooth_gravity;
extern const yk_option_section yk_nonsmooth_options; /* contact, sleeping, threads */

#endif
