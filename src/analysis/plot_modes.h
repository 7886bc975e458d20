/* Pictures of mode shapes. */
#ifndef YK_ANALYSIS_PLOT_MODES_H
#define YK_ANALYSIS_PLOT_MODES_H

#include "smooth/modes.h"

/* Draws the first modes (at most twelve), one panel each, to base.svg and base.png: the model as beams and lines
 * between its joints, at rest and displaced, in the plane in which the mode moves most. */
yk_status yk_plot_modes(yk_context *context, const char *base, const yk_smooth *model, const yk_modes *modes);

#endif
