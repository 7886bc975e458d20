/* Names of channels: the parts between dots, and the names of earlier versions. */
#ifndef YK_RECORD_CHANNEL_NAMES_H
#define YK_RECORD_CHANNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { YK_CHANNEL_NAME_MAX = 256 };

/* Writes the present name of a channel that an earlier version called `name`. Returns false if its
 * last part, or the part before a component, was never renamed. The result is a suggestion: the
 * caller checks whether the system has such a channel. */
bool yk_channel_new_name(const char *name, char *renamed, size_t size);

#endif
