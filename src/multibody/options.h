/* The options of multibody systems: rows over yk_multibody_def, from which its defaults and the keys of scenarios follow. */
#ifndef YK_MULTIBODY_OPTIONS_H
#define YK_MULTIBODY_OPTIONS_H

#include "base/option.h"

extern const yk_option_section yk_multibody_gravity;
extern const yk_option_section yk_multibody_options_rows; /* integrator, start */

#endif
