/* Trials that may fail, and about which nobody is to be told: while a context is quiet, nothing
 * is logged and the last message stays. Calls nest. */
#ifndef YK_BASE_QUIET_H
#define YK_BASE_QUIET_H

#include "yoke/base.h"

void yk_quiet_begin(yk_context *context);
void yk_quiet_end(yk_context *context);

#endif
