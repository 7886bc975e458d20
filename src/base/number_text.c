/* Numbers as text with a decimal point, in every locale. */
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/text.h"

/* The locale "C", which is never freed: neither glibc nor musl allocates memory for it. If it cannot be created, numbers
 * follow the locale of the host program. */
static locale_t plain_locale;
static pthread_once_t plain_locale_once = PTHREAD_ONCE_INIT;

static void create_plain_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Switches the locale of this thread, because other threads belong to the host program. Returns the locale to restore. */
static locale_t use_plain_locale(void)
{
    pthread_once(&plain_locale_once, create_plain_locale);
    return uselocale(plain_locale);
}

double yk_text_number(const char *text, char **end)
{
    locale_t before = use_plain_locale();
    double value = strtod(text, end);
    uselocale(before);
    return value;
}

int yk_format_list(char *buffer, size_t size, const char *format, va_list arguments)
{
    locale_t before = use_plain_locale();
    int length = vsnprintf(buffer, size, format, arguments);
    uselocale(before);
    return length;
}

int yk_format(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = yk_format_list(buffer, size, format, arguments);
    va_end(arguments);
    return length;
}

int yk_print(FILE *file, const char *format, ...)
{
    locale_t before = use_plain_locale();
    va_list arguments;
    va_start(arguments, format);
    int length = vfprintf(file, format, arguments);
    va_end(arguments);
    uselocale(before);
    return length;
}
