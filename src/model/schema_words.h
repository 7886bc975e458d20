/* Pieces of messages about fields and nodes. */
#ifndef YK_MODEL_SCHEMA_WORDS_H
#define YK_MODEL_SCHEMA_WORDS_H

#include "model/schema.h"

typedef struct yk_phrase {
    char text[300];
} yk_phrase;

/* "a number in kg greater than 0" */
yk_phrase yk_expected(const yk_field *field);
/* "'heavy'", "a list of 4", "nothing" */
yk_phrase yk_found(const yk_node *node);
/* "did you mean 'left'?", or else "there are 'left', 'right'" */
enum { YK_SUGGESTED_MAX = 1000 };
yk_phrase yk_suggestion(const char *word, const char *const *names, int count);

#endif
