/* Writer of JSON documents for --json: one object per command on standard output.
 *
 * Numbers have all digits that a double needs; NaN and infinite numbers are null. In arrays, the key
 * is NULL. */
#ifndef YOKE_CLI_JSON_H
#define YOKE_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH_MAX = 16 };

typedef struct json_writer {
    FILE *stream;
    int depth;
    bool has_items[JSON_DEPTH_MAX]; /* whether the open object or array has an item, by depth */
    char closing[JSON_DEPTH_MAX];
} json_writer;

/* Opens the document, which is an object. */
json_writer json_begin(FILE *stream);
/* Closes the document; every other object and array must be closed. */
void json_end(json_writer *json);

void json_open_object(json_writer *json, const char *key);
void json_open_array(json_writer *json, const char *key);
/* Closes the innermost object or array. */
void json_close(json_writer *json);

void json_text(json_writer *json, const char *key, const char *text); /* NULL: null */
void json_number(json_writer *json, const char *key, double number);
void json_integer(json_writer *json, const char *key, int64_t number);
void json_bool(json_writer *json, const char *key, bool value);

#endif
