/* Numbers in every locale; growing texts; which word is meant by one that is misspelt: the distance of Damerau and
 * Levenshtein, in which two letters that are exchanged count once; and files that others wrote. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers ------------------------------------------------------------------------------------- */

/* The locale "C". Neither glibc nor musl allocates memory for it, so that it is never freed. If
 * another library has no memory for it, numbers follow the locale of the host program. */
static locale_t plain_locale;
static pthread_once_t plain_locale_once = PTHREAD_ONCE_INIT;

static void create_plain_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Switch the locale of this thread only: other threads belong to the host program. Returns the
 * locale to set again. */
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

/* Growing texts -------------------------------------------------------------------------------- */

static bool reserve(yk_context *context, yk_text *text, size_t extra)
{
    size_t needed = text->length + extra + 1;
    if (needed <= text->capacity)
        return true;

    /* Twice as much as before, as often as it takes. */
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
    /* Once to measure, once to write. */
    va_list arguments;
    va_start(arguments, format);
    int length = yk_format_list(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(context, text, (size_t)length))
        return;

    /* Written where the text ends. */
    va_start(arguments, format);
    yk_format_list(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
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

    /* A longer form than necessary, a surrogate, or beyond Unicode. */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < least[bytes] || surrogate || value > 0x10FFFF)
        return (code_point){0, 0};
    return (code_point){value, bytes};
}

size_t yk_text_printable(const char *text)
{
    code_point c = read_code_point(text);
    bool control = c.value < ' ' || (c.value >= 0x7F && c.value < 0xA0);
    bool line_break = c.value == 0x2028 || c.value == 0x2029;
    /* libyaml refuses byte order marks and characters without meaning. */
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

size_t yk_text_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The folder of a file without links, with a slash at its end; NULL if it does not exist. From
 * malloc. */
static char *real_folder(const char *path)
{
    size_t length = yk_text_folder(path);
    char *folder = length > 0 ? strndup(path, length) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    if (!real)
        return NULL;

    size_t end = strlen(real);
    char *whole = realloc(real, end + 2);
    if (!whole) {
        free(real);
        return NULL;
    }

    if (whole[end - 1] != '/')
        strcpy(whole + end, "/");
    return whole;
}

char *yk_path_relative(yk_context *context, const char *path, const char *other)
{
    char *folder = real_folder(path);
    char *from = real_folder(other);
    if (!folder || !from) {
        free(folder);
        free(from);
        return yk_text_copy(context, path);
    }

    /* Folders that both have in common. */
    size_t common = 0;
    for (size_t i = 0; folder[i] && folder[i] == from[i]; i++)
        if (folder[i] == '/')
            common = i + 1;

    yk_text text = {0};
    for (const char *at = from + common; *at; at++)
        if (*at == '/')
            yk_text_add(context, &text, "../");
    yk_text_add(context, &text, "%s%s", folder + common, path + yk_text_folder(path));
    free(folder);
    free(from);
    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}

char *yk_path_resolve(yk_context *context, const char *relative, const char *other)
{
    yk_text text = {0};
    int folder = relative[0] == '/' ? 0 : (int)yk_text_folder(other);
    yk_text_add(context, &text, "%.*s%s", folder, other, relative);
    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}

enum { WORD_MAX = 63 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

int yk_text_distance(const char *a, const char *b, int limit)
{
    size_t length_a = strlen(a);
    size_t length_b = strlen(b);

    if (length_a > WORD_MAX || length_b > WORD_MAX)
        return limit + 1;

    /* The last three rows of the table of distances between the beginnings of both words. */
    int rows[3][WORD_MAX + 1];
    int *before = rows[0];
    int *last = rows[1];
    int *now = rows[2];

    /* The first row: letters of b that are added. */
    for (size_t j = 0; j <= length_b; j++)
        last[j] = (int)j;

    for (size_t i = 1; i <= length_a; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= length_b; j++) {
            int changed = lower(a[i - 1]) != lower(b[j - 1]);
            int either = last[j] < now[j - 1] ? last[j] : now[j - 1];

            /* A letter left out or added, or changed; */
            int replaced = last[j - 1] + changed;
            now[j] = either + 1 < replaced ? either + 1 : replaced;
            if (i < 2 || j < 2)
                continue;

            /* or two that are exchanged. */
            bool first = lower(a[i - 1]) == lower(b[j - 2]);
            bool swapped = first && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }

        /* The rows move on. */
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }

    return last[length_b] > limit ? limit + 1 : last[length_b];
}

/* The only one of `words` that begins with the word: "pos" for "position". */
static const char *only_longer(const char *word, const char *const *words)
{
    const char *found = NULL;
    size_t length = strlen(word);

    for (; *words; words++) {
        /* As many letters as both have in common. */
        size_t i = 0;
        while (i < length && lower(word[i]) == lower((*words)[i]))
            i++;
        if (i < length)
            continue;
        if (found)
            return NULL;

        found = *words;
    }

    return found;
}

const char *yk_text_nearest(const char *word, const char *const *words)
{
    size_t length = strlen(word);

    /* An abbreviation is not near by its letters, but can mean one word only. */
    const char *longer = length > 0 ? only_longer(word, words) : NULL;
    if (longer)
        return longer;

    /* The longer the word, the more letters may differ. */
    int limit = 3;
    if (length <= 6)
        limit = 2;
    if (length <= 3)
        limit = 1;
    if (length <= 1)
        limit = 0;

    /* The first of the nearest. */
    const char *nearest = NULL;
    for (; *words; words++) {
        int distance = yk_text_distance(word, *words, limit);
        if (distance > limit)
            continue;

        limit = distance - 1;
        nearest = *words;
        if (limit < 0)
            break;
    }

    return nearest;
}

/* Files ---------------------------------------------------------------------------------------- */

/* A regular file of at most so many bytes. */
static FILE *open_regular(yk_context *context, const char *path, uint64_t most, yk_status status)
{
    /* Without O_NONBLOCK a pipe that nobody writes to would hold the program here. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        yk_fail(context, status, "%s cannot be opened: %s", path, strerror(errno));
        return NULL;
    }

    /* Devices have no end, and files beyond the limit are no inputs. */
    struct stat about;
    bool good = fstat(descriptor, &about) == 0;
    if (!good) {
        yk_fail(context, status, "%s cannot be read: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        good = false;
        errno = EINVAL;
        yk_fail(context, status, "%s cannot be read: it is not a regular file", path);
    } else if ((uint64_t)about.st_size > most) {
        good = false;
        yk_fail(context, status, "%s has %lld bytes; the limit is %llu", path,
                (long long)about.st_size, (unsigned long long)most);
    }

    /* The stream owns the descriptor from here on, if there is one. */
    FILE *file = NULL;
    if (good) {
        file = fdopen(descriptor, "rb");
        if (!file)
            yk_fail(context, YK_ERROR_MEMORY, "%s cannot be opened: %s", path, strerror(errno));
    }

    if (!file) {
        int error = errno;
        close(descriptor);
        errno = error;
    }

    return file;
}

yk_status yk_input_check(yk_context *context, FILE *file, const char *path, yk_status status)
{
    if (!ferror(file))
        return status;
    return yk_fail(context, YK_ERROR_FILE, "%s cannot be read to its end: read error", path);
}

FILE *yk_input_open(yk_context *context, const char *path, yk_status status)
{
    return open_regular(context, path, YK_INPUT_MAX, status);
}

FILE *yk_regular_open(yk_context *context, const char *path, yk_status status)
{
    return open_regular(context, path, UINT64_MAX, status);
}

yk_status yk_regular_check(yk_context *context, const char *path, yk_status status)
{
    FILE *file = yk_regular_open(context, path, status);
    if (!file)
        return status;

    fclose(file);
    return YK_OK;
}

yk_status yk_input_hash(yk_context *context, const char *path, uint64_t *hash)
{
    *hash = YK_HASH_START;
    FILE *file = yk_input_open(context, path, YK_ERROR_FILE);
    if (!file)
        return YK_ERROR_FILE;

    /* Piece by piece, so that memory does not grow with the file. */
    char bytes[1 << 14];
    size_t count;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        *hash = yk_hash_bytes(*hash, bytes, count);

    yk_status status = yk_input_check(context, file, path, YK_OK);
    fclose(file);
    return status;
}
