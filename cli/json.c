/* Writer of JSON documents (json.h). */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* Control characters, quotes and backslashes are escaped. A byte that is not UTF-8 becomes U+FFFD,
 * so that every reader takes the document. */
static void write_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = 1;
        if (at[0] >= 0xc2 && at[0] <= 0xdf)
            length = 2;
        else if (at[0] >= 0xe0 && at[0] <= 0xef)
            length = 3;
        else if (at[0] >= 0xf0 && at[0] <= 0xf4)
            length = 4;

        bool valid = at[0] < 0x80 || length > 1;
        for (size_t i = 1; valid && i < length; i++)
            valid = (at[i] & 0xc0) == 0x80;

        if (!valid) {
            fputs("\\ufffd", stream);
            at++;
            continue;
        }

        if (at[0] == '"' || at[0] == '\\')
            fprintf(stream, "\\%c", at[0]);
        else if (at[0] == '\n')
            fputs("\\n", stream);
        else if (at[0] < 0x20)
            fprintf(stream, "\\u%04x", (unsigned)at[0]);
        else
            fwrite(at, 1, length, stream);
        at += length;
    }
    fputc('"', stream);
}

/* The comma, the line and the key before a value. */
static void write_lead(json_writer *json, const char *key)
{
    assert(json->depth > 0 && (key != NULL) == (json->closing[json->depth - 1] == '}'));
    if (json->has_items[json->depth - 1])
        fputc(',', json->stream);
    json->has_items[json->depth - 1] = true;

    fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    if (!key)
        return;
    write_string(json->stream, key);
    fputs(": ", json->stream);
}

static void open_level(json_writer *json, char opening, char closing)
{
    assert(json->depth < JSON_DEPTH_MAX);
    fputc(opening, json->stream);
    json->has_items[json->depth] = false;
    json->closing[json->depth] = closing;
    json->depth++;
}

json_writer json_begin(FILE *stream)
{
    json_writer json = {.stream = stream};
    open_level(&json, '{', '}');
    return json;
}

void json_end(json_writer *json)
{
    assert(json->depth == 1);
    json_close(json);
    fputc('\n', json->stream);
}

void json_open_object(json_writer *json, const char *key)
{
    write_lead(json, key);
    open_level(json, '{', '}');
}

void json_open_array(json_writer *json, const char *key)
{
    write_lead(json, key);
    open_level(json, '[', ']');
}

void json_close(json_writer *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->has_items[json->depth])
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    fputc(json->closing[json->depth], json->stream);
}

void json_text(json_writer *json, const char *key, const char *text)
{
    write_lead(json, key);
    if (text)
        write_string(json->stream, text);
    else
        fputs("null", json->stream);
}

void json_number(json_writer *json, const char *key, double number)
{
    write_lead(json, key);
    if (isfinite(number))
        fprintf(json->stream, "%.17g", number);
    else
        fputs("null", json->stream);
}

void json_integer(json_writer *json, const char *key, int64_t number)
{
    write_lead(json, key);
    fprintf(json->stream, "%" PRId64, number);
}

void json_bool(json_writer *json, const char *key, bool value)
{
    write_lead(json, key);
    fputs(value ? "true" : "false", json->stream);
}
