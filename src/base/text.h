/* Text: numbers in every locale (number_text.c), growing texts and UTF-8 (text.c), paths (path.c), the nearest word
 * (nearest.c), and hashes. */
#ifndef YK_BASE_TEXT_H
#define YK_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "yoke/base.h"

/* strtod, snprintf, vsnprintf and fprintf with a decimal point, even if the host program has set a
 * locale with a decimal comma. Use them for every number in files, protocols, options and messages. */
double yk_text_number(const char *text, char **end);
int yk_format(char *buffer, size_t size, const char *format, ...) YK_PRINTF(3, 4);
int yk_format_list(char *buffer, size_t size, const char *format, va_list arguments)
    YK_PRINTF(3, 0);
int yk_print(FILE *file, const char *format, ...) YK_PRINTF(2, 3);

typedef struct yk_text {
    char *data; /* Terminated by 0; NULL before anything was added. */
    size_t length;
    size_t capacity;
    bool failed; /* An allocation failed and the text is incomplete. */
} yk_text;

void yk_text_add(yk_context *context, yk_text *text, const char *format, ...) YK_PRINTF(3, 4);
void yk_text_add_list(yk_context *context, yk_text *text, const char *format, va_list arguments)
    YK_PRINTF(3, 0);
/* Adds a text in the form of an XML attribute value. */
void yk_text_add_xml(yk_context *context, yk_text *text, const char *value);
/* Adds a text as a JSON string, with its quotes. */
void yk_text_add_json(yk_context *context, yk_text *text, const char *value);
void yk_text_destroy(yk_context *context, yk_text *text);

/* A copy from the allocator of the context; NULL if memory is missing. */
char *yk_text_copy(yk_context *context, const char *source);
/* A copy of both texts, one after the other. */
char *yk_text_join(yk_context *context, const char *first, const char *second);

/* Number of bytes of the first character if it is valid UTF-8 and may stand within a line of a YAML file: no control
 * character, no line break. 0 otherwise, and at the end of the text. */
size_t yk_text_printable(const char *text);
/* Replaces bytes that are not valid UTF-8 by '?', and other characters that are not printable by spaces. */
void yk_text_make_printable(char *text);

/* Length of the folder of a path, including its last slash; 0 if the path has no folder. */
size_t yk_text_folder(const char *path);

/* The path of a file relative to the folder of `other`: "../data/a.csv". A copy of the path if one of the folders does not
 * exist; NULL if memory is missing. */
char *yk_path_relative(yk_context *context, const char *path, const char *other);
/* The inverse: the path of a file that is given relative to the folder of `other`. */
char *yk_path_resolve(yk_context *context, const char *relative, const char *other);

/* Edit distance with transpositions (optimal string alignment), at most `limit` + 1. Upper and lower case are equal. */
int yk_text_distance(const char *a, const char *b, int limit);

/* The word of `words` (ended by NULL) that was probably meant: the only one that starts with `word`, or the one with the
 * smallest edit distance. NULL if none is similar enough. */
const char *yk_text_nearest(const char *word, const char *const *words);

/* FNV-1a with 64 bits, for texts and states. Not resistant to deliberate collisions. */
#define YK_HASH_START UINT64_C(14695981039346656037)

/* Continues from `hash`, which is YK_HASH_START at first. */
static inline uint64_t yk_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/* The same for large data: word by word, about eight times faster. Pieces of data have a length that is a multiple of 8,
 * except for the last one. Any change of a single word changes the result. */
static inline uint64_t yk_checksum_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 32;
    }
    return yk_hash_bytes(hash, at, bytes);
}

#endif
