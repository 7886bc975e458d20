/* Growing texts, copies of texts, and UTF-8. */
#include "base/text.h"

#include <string.h>

/* Growing texts -------------------------------------------------------------------------------- */

static bool reserve(yk_context *context, yk_text *text, size_t extra)
{
    size_t needed = text->length + extra + 1;
    if (needed <= text->capacity)
        return true;

    size_t capacity = text->capacity ? 2 * text->capacity : 256;
    while (capacity < needed)
        capacity *= 2;

    char *grown = yk_reallocate(context, text->data, capacity, 1);
    if (!grown) {
        text->failed = true;
        return false;
    }

    text->data = grown;
    text->capacity = capacity;
    return true;
}

void yk_text_add(yk_context *context, yk_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    yk_text_add_list(context, text, format, arguments);
    va_end(arguments);
}

void yk_text_add_list(yk_context *context, yk_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = yk_format_list(NULL, 0, format, arguments);
    if (length >= 0 && reserve(context, text, (size_t)length)) {
        yk_format_list(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void yk_text_add_xml(yk_context *context, yk_text *text, const char *value)
{
    for (; *value; value++) {
        switch (*value) {
        case '&': yk_text_add(context, text, "&amp;"); break;
        case '<': yk_text_add(context, text, "&lt;"); break;
        case '"': yk_text_add(context, text, "&quot;"); break;
        case '\n': yk_text_add(context, text, "&#10;"); break;
        default: yk_text_add(context, text, "%c", *value);
        }
    }
}

void yk_text_add_json(yk_context *context, yk_text *text, const char *value)
{
    yk_text_add(context, text, "\"");
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (c == '"' || c == '\\')
            yk_text_add(context, text, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            yk_text_add(context, text, "\\u%04x", c);
        else
            yk_text_add(context, text, "%c", c);
    }
    yk_text_add(context, text, "\"");
}

void yk_text_destroy(yk_context *context, yk_text *text)
{
    yk_free(context, text->data);
    *text = (yk_text){0};
}

char *yk_text_copy(yk_context *context, const char *source)
{
    size_t bytes = strlen(source) + 1;
    char *copy = yk_allocate(context, bytes, 1);
    if (copy)
        memcpy(copy, source, bytes);
    return copy;
}

char *yk_text_join(yk_context *context, const char *first, const char *second)
{
    yk_text text = {0};
    yk_text_add(context, &text, "%s%s", first, second);
    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}

/* UTF-8 ---------------------------------------------------------------------------------------- */

typedef struct code_point {
    uint32_t value;
    size_t bytes; /* 0: not UTF-8 */
} code_point;

static code_point read_code_point(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80)
        return (code_point){c[0], 1};

    size_t bytes = 2 + (size_t)(c[0] >= 0xE0) + (size_t)(c[0] >= 0xF0);
    if (c[0] < 0xC2 || c[0] > 0xF4)
        return (code_point){0, 0};

    uint32_t value = c[0] & (0xFFU >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return (code_point){0, 0};
        value = value << 6 | (c[i] & 0x3F);
    }

    /* Refuse overlong forms, surrogates, and values beyond Unicode. */
    static const uint32_t min_value[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < min_value[bytes] || surrogate || value > 0x10FFFF)
        return (code_point){0, 0};
    return (code_point){value, bytes};
}

size_t yk_text_printable(const char *text)
{
    code_point c = read_code_point(text);
    bool control = c.value < ' ' || (c.value >= 0x7F && c.value < 0xA0);
    bool line_break = c.value == 0x2028 || c.value == 0x2029;
    /* libyaml refuses byte order marks and noncharacters. */
    bool refused = c.value == 0xFEFF || c.value == 0xFFFE || c.value == 0xFFFF;
    return control || line_break || refused ? 0 : c.bytes;
}

void yk_text_make_printable(char *text)
{
    for (char *from = text, *to = text; *from || (*to = 0);) {
        size_t bytes = yk_text_printable(from);
        if (bytes > 0) {
            memmove(to, from, bytes);
            to += bytes;
            from += bytes;
            continue;
        }

        bytes = read_code_point(from).bytes;
        *to++ = bytes > 0 ? ' ' : '?';
        from += bytes > 0 ? bytes : 1;
    }
}
