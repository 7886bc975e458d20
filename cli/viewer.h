/* The page of the viewer, as viewer/ was built with this program. */
#ifndef YOKE_CLI_VIEWER_H
#define YOKE_CLI_VIEWER_H

#include <stddef.h>

/* Its bytes; *length is 0 where the program was built without Node.js. */
const char *viewer_page(size_t *length);

/* Where the data goes in a page: what stands there for it, and where in a page of this length it
 * is; NULL: the page has no room for data. */
#define VIEWER_MARK "<!--yoke-data-->"
const char *viewer_mark(const char *page, size_t length);

#endif
