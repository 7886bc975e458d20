/* The page of the viewer, as viewer/ was built with this program. */
#ifndef YOKE_CLI_VIEWER_H
#define YOKE_CLI_VIEWER_H

#include <stddef.h>

/* Its bytes; *length is 0 where the program was built without Node.js. */
const char *viewer_page(size_t *length);

#endif
