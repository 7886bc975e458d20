/* What scripts for gnuplot share. */
#ifndef YK_ANALYSIS_PLOT_H
#define YK_ANALYSIS_PLOT_H

#include "base/text.h"

/* A text as gnuplot reads it between single quotes, where nothing is expanded or run; line breaks become blanks. */
void yk_plot_quote(yk_context *context, yk_text *script, const char *text);

/* yk_plot of so many panels one below the other: the picture is as high as they need. */
yk_status yk_plot_panels(yk_context *context, const char *base, const char *script, int panels);

#endif
