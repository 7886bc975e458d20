/* The options of the solver kinds of this module: rows over the def structs of the public headers. The defaults of the
 * structs, the keys of scenarios and their documentation follow from them. */
#ifndef YK_PHYSICS_OPTIONS_H
#define YK_PHYSICS_OPTIONS_H

#include "base/option.h"

extern const yk_option_section yk_oscillator_options;         /* of yk_oscillator_def */
extern const yk_option_section yk_control_options;            /* of yk_control_def */
extern const yk_option_section yk_control_loop_options;       /* of yk_control_loop_def */
extern const yk_option_section yk_hydraulic_options;          /* of yk_hydraulic_def */
extern const yk_option_section yk_hydraulic_cylinder_options; /* of yk_hydraulic_cylinder_def */

#endif
