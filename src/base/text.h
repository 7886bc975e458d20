/* Growing text, and the few string questions that C leaves open. */
#ifndef YK_BASE_TEXT_H
#define YK_BASE_TEXT_H

#include "yoke/base.h"

typedef struct yk_text {
    char *data; /* always terminated once something was added; NULL before */
    size_t length;
    size_t capacity;
    bool failed; /* an allocation failed: the text is incomplete */
} yk_text;

void yk_text_add(yk_context *context, yk_text *text, const char *format, ...) YK_PRINTF(3, 4);
/* Text as the value of an attribute of XML. */
void yk_text_add_xml(yk_context *context, yk_text *text, const char *value);
void yk_text_destroy(yk_context *context, yk_text *text);

/* A copy from the context's allocator; NULL when out of memory. */
char *yk_text_copy(yk_context *context, const char *source);
/* The same of one text behind the other. */
char *yk_text_join(yk_context *context, const char *first, const char *second);

/* Length of the folder in the path of a file, with its last slash; 0 where there is none. */
size_t yk_text_folder(const char *path);

/* Edit distance with transpositions (optimal string alignment), capped at `limit` + 1; case
 * differences are free. */
int yk_text_distance(const char *a, const char *b, int limit);

/* The nearest of `words` (NULL-terminated): the only one that begins with the word, or the one
 * with the fewest letters changed. NULL if none is near enough to be meant. */
const char *yk_text_nearest(const char *word, const char *const *words);

#endif
