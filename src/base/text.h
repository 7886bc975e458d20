/* Numbers in every locale, growing text, string functions that C does not have, fingerprints, and
 * input files. */
#ifndef YK_BASE_TEXT_H
#define YK_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "yoke/base.h"

/* strtod, snprintf, vsnprintf and fprintf with a decimal point, even if the host program has set a
 * locale with a decimal comma. Use them for every number in files, protocols, options and messages. */
double yk_text_number(const char *text, char **end);
int yk_format(char *buffer, size_t size, const char *format, ...) YK_PRINTF(3, 4);
int yk_format_list(char *buffer, size_t size, const char *format, va_list arguments)
    YK_PRINTF(3, 0);
int yk_print(FILE *file, const char *format, ...) YK_PRINTF(2, 3);

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

/* Bytes of the character at the start of a text if a YAML file may have it on one line: UTF-8,
 * neither a control character nor a line break. 0 otherwise, and at the end of the text. */
size_t yk_text_printable(const char *text);
/* Replaces all other characters: bytes that are not UTF-8 by '?', the rest by spaces. */
void yk_text_make_printable(char *text);

/* Length of the folder in the path of a file, with its last slash; 0 where there is none. */
size_t yk_text_folder(const char *path);

/* The path of a file as seen from the folder of another one: "../data/a.csv". A copy of the path if
 * one of the folders does not exist; NULL when out of memory. */
char *yk_path_relative(yk_context *context, const char *path, const char *other);
/* Inverse of it: the path of a file that is named from the folder of another one. */
char *yk_path_resolve(yk_context *context, const char *relative, const char *other);

/* Edit distance with transpositions (optimal string alignment), capped at `limit` + 1; case
 * differences are free. */
int yk_text_distance(const char *a, const char *b, int limit);

/* The nearest of `words` (NULL-terminated): the only one that begins with the word, or the one
 * with the fewest letters changed. NULL if none is near enough to be meant. */
const char *yk_text_nearest(const char *word, const char *const *words);

/* FNV-1a over 64 bits: fingerprints of texts and state images. Not for adversaries. */
#define YK_HASH_START UINT64_C(14695981039346656037)

/* Goes on from `hash`, at first YK_HASH_START. */
static inline uint64_t yk_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Files that somebody else wrote, opened only where reading them comes to an end. */

/* What is larger was not meant (bytes). */
#define YK_INPUT_MAX (UINT64_C(2) << 30)

/* A regular file of at most YK_INPUT_MAX bytes, open for reading. Devices, pipes and folders are
 * refused: they may have no end, or let the reader wait. NULL after yk_fail with the status. */
FILE *yk_input_open(yk_context *context, const char *path, yk_status status);

/* The status of a file that was read with `status`. Readers take a read error for the end of the file,
 * so that they have to ask at the end: YK_ERROR_FILE after a read error. */
yk_status yk_input_check(yk_context *context, FILE *file, const char *path, yk_status status);
/* The same without a limit on its size, for files that Yoke wrote itself. errno says why not, EINVAL
 * of what is not a regular file. */
FILE *yk_regular_open(yk_context *context, const char *path, yk_status status);

/* Whether a library may open the file by its path: the loader, libzip and libhdf5 would wait for a
 * pipe that nobody writes to. */
yk_status yk_regular_check(yk_context *context, const char *path, yk_status status);

/* A hash of all bytes of such a file. */
yk_status yk_input_hash(yk_context *context, const char *path, uint64_t *hash);

#endif
