/* The program's one caller of gnuplot: a script goes in, pictures come out. */
#ifndef YOKE_CLI_GNUPLOT_H
#define YOKE_CLI_GNUPLOT_H

#include "base/text.h"

/* Adds a text as gnuplot reads it between single quotes, where nothing is expanded or run; line
 * breaks become blanks. */
void gnuplot_quote(yk_context *context, yk_text *script, const char *text);

/* Runs the script once per picture, BASE.svg and BASE.png, as high as so many panels one below
 * the other need, and destroys it. The script must not set terminal or output. */
yk_status gnuplot_draw(yk_context *context, const char *base, yk_text *script, int panels);

#endif
