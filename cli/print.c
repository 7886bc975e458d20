/* Text for the terminal. Titles, names and messages come from files and partners: their control
 * characters must not move the cursor, change the title of the window or hide lines. */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

/* Length of the character at the start of the text if a terminal shows it and does not obey it:
 * printable ASCII, tab, newline, or valid UTF-8 beyond the control characters U+0080 to U+009F.
 * 0: the byte must be escaped. */
static size_t printable_length(const unsigned char *at)
{
    if (at[0] < 0x80)
        return (at[0] >= 0x20 && at[0] != 0x7f) || at[0] == '\n' || at[0] == '\t';

    size_t length = 0;
    if (at[0] >= 0xc2 && at[0] <= 0xdf)
        length = 2;
    else if (at[0] >= 0xe0 && at[0] <= 0xef)
        length = 3;
    else if (at[0] >= 0xf0 && at[0] <= 0xf4)
        length = 4;

    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;

    bool control = at[0] == 0xc2 && at[1] < 0xa0;
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    return control || overlong ? 0 : length;
}

static void print_escaped(FILE *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        const unsigned char *start = at;
        for (size_t length; *at && (length = printable_length(at)) > 0;)
            at += length;
        fwrite(start, 1, (size_t)(at - start), stream);
        for (; *at && printable_length(at) == 0; at++)
            fprintf(stream, "\\x%02x", *at);
    }
}

static void YK_PRINTF(2, 0) print_list(FILE *stream, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    char brief[1024];
    int length = vsnprintf(brief, sizeof brief, format, arguments);

    /* A long text is cut off if there is no memory for it. */
    char *text = NULL;
    if (length >= (int)sizeof brief)
        text = malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);

    if (length >= 0)
        print_escaped(stream, text ? text : brief);
    free(text);
}

void print_to(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_list(stream, format, arguments);
    va_end(arguments);
}

void print_out(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_list(stdout, format, arguments);
    va_end(arguments);
}

void print_err(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_list(stderr, format, arguments);
    va_end(arguments);
}

static color_when color = COLOR_AUTO;

void set_color(color_when when)
{
    color = when;
}

static bool has_color(FILE *stream)
{
    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;

    const char *refusal = getenv("NO_COLOR"); /* https://no-color.org */
    const char *terminal = getenv("TERM");
    return !(refusal && *refusal) && terminal && strcmp(terminal, "dumb") != 0 &&
           isatty(fileno(stream));
}

void print_styled(FILE *stream, text_style style, const char *format, ...)
{
    static const char *const codes[STYLE_COUNT] = {
        [STYLE_TITLE] = "1",      [STYLE_DIM] = "2",        [STYLE_GOOD] = "1;32",
        [STYLE_WARNING] = "1;33", [STYLE_SERIOUS] = "1;31", [STYLE_ALARM] = "1;37;41",
        [STYLE_FILE] = "4",
    };

    bool styled = has_color(stream);
    if (styled)
        fprintf(stream, "\033[%sm", codes[style]);

    va_list arguments;
    va_start(arguments, format);
    print_list(stream, format, arguments);
    va_end(arguments);

    if (styled)
        fputs("\033[0m", stream);
}
