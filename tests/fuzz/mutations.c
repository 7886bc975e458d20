/* Files of the tests, changed at random but always in the same way: the reader must survive every
 * one of them.
 *
 * usage: test_mutations [first [count]]   without arguments as many as fit into a few seconds,
 * from 0 on */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scenario_input.h"

enum { FILES_MAX = 300, SIZE_MAX_BYTES = 1 << 16, SECONDS = 3 };
static const double SLOWEST_ALLOWED = 2; /* seconds of processor time for one small input */

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

typedef struct corpus {
    bytes files[FILES_MAX];
    int count;
} corpus;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_file(corpus *c, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || c->count == FILES_MAX)
        exit(1);
    bytes *added = &c->files[c->count++];
    added->data = malloc(SIZE_MAX_BYTES);
    added->size = fread(added->data, 1, SIZE_MAX_BYTES / 4, file);
    fclose(file);
}

/* In the order of their names, so that a mutation has the same number everywhere. */
static void add_folder(corpus *c, const char *folder)
{
    char *names[FILES_MAX];
    int count = 0;
    DIR *open = opendir(folder);
    if (!open)
        exit(1);
    for (struct dirent *entry = readdir(open); entry && count < FILES_MAX; entry = readdir(open))
        if (strstr(entry->d_name, ".yaml"))
            names[count++] = strdup(entry->d_name);
    closedir(open);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        add_file(c, path);
        free(names[i]);
    }
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t limit)
{
    return limit ? (size_t)(draw(state) % limit) : 0;
}

static const char *const words[] = {
    "{",
    "}",
    "[",
    "]",
    ": ",
    ", ",
    "- ",
    "\n",
    "\n  ",
    "\t",
    "#",
    "&a ",
    "*a",
    "<<: *a",
    "!x ",
    "'",
    "\"",
    "|\n",
    "? ",
    "---\n",
    "%",
    "@",
    "~",
    "null",
    "true",
    "1e308",
    "-1",
    "0",
    "1e-320",
    "1/0",
    "t",
    "sin(t)",
    "pi",
    "(",
    ")",
    "max(",
    "2^",
    "a",
    "time: ",
    "subsystems: ",
    "interfaces: ",
    "coupling: ",
    "record: ",
    "parameters: ",
    "channels: ",
    "name: ",
    "between: ",
    "solver: oscillator",
    "mass: ",
    "left",
    "left.mass",
    "integrator: ",
    "repeat: ",
    "{i}",
    "exact",
    "scheme: tight",
    "scheme: monolithic",
    "inputs: ",
    "iterations: ",
    "\xC3\xA9",
    "\xFF",
    "\x01",
    "\xE2\x80\xA8",
    "\xC2\x85",
    "\r",
    "coupling.scheme=tight",
    "interfaces[0].joint=",
    "time.end=",
    "=",
};

static void insert(bytes *b, size_t at, const unsigned char *data, size_t size)
{
    if (b->size + size > SIZE_MAX_BYTES)
        return;
    memmove(b->data + at + size, b->data + at, b->size - at);
    memcpy(b->data + at, data, size);
    b->size += size;
}

static void cut(bytes *b, size_t at, size_t size)
{
    memmove(b->data + at, b->data + at + size, b->size - at - size);
    b->size -= size;
}

static void mutate(const corpus *c, bytes *b, uint64_t *state)
{
    size_t at = below(state, b->size + 1), left = b->size - at;
    size_t some = below(state, left + 1 < 40 ? left + 1 : 40);
    const bytes *other = &c->files[below(state, (size_t)c->count)];
    const char *word = words[below(state, sizeof words / sizeof *words)];
    switch (below(state, 8)) {
    case 0:
        if (left)
            b->data[at] ^= (unsigned char)(1u << below(state, 8));
        break;
    case 1: cut(b, at, some); break;
    case 2:
    case 3:
    case 4: insert(b, at, (const unsigned char *)word, strlen(word)); break;
    case 5: {
        unsigned char copy[40];
        memcpy(copy, b->data + at, some);
        insert(b, below(state, b->size + 1), copy, some);
        break;
    }
    case 6: {
        size_t from = below(state, other->size + 1);
        size_t length = below(state, other->size - from + 1);
        insert(b, at, other->data + from, length < 400 ? length : 400);
        break;
    }
    default:
        if (below(state, 4) == 0)
            insert(b, b->size, (const unsigned char *)"", 1); /* overrides follow */
        break;
    }
}

static volatile long current;

/* Tells which mutation it was; printf is not safe here. */
static void report_crash(int number)
{
    char text[64] = "crash in mutation ", digits[24];
    int length = 0;
    for (long n = current; n > 0 || length == 0; n /= 10)
        digits[length++] = (char)('0' + n % 10);
    size_t used = strlen(text);
    while (length > 0)
        text[used++] = digits[--length];
    text[used++] = '\n';
    if (write(2, text, used) < 0)
        _exit(1);
    signal(number, SIG_DFL);
    raise(number);
}

static double processor_time(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static double try_mutation(const corpus *c, long number)
{
    static unsigned char room[SIZE_MAX_BYTES];
    uint64_t state = (uint64_t)number;
    bytes b = {.data = room};
    const bytes *file = &c->files[below(&state, (size_t)c->count)];
    memcpy(room, file->data, file->size);
    b.size = file->size;
    size_t times = 1 + below(&state, 6);
    for (size_t i = 0; i < times; i++)
        mutate(c, &b, &state);
    double start = processor_time();
    fuzz_scenario(b.data, b.size);
    return processor_time() - start;
}

int main(int count, char **arguments)
{
    static corpus c;
    long first = count > 1 ? atol(arguments[1]) : 0;
    long limit = count > 2 ? first + atol(arguments[2]) : 1000000000;
    add_folder(&c, YOKE_SOURCE_DIR "/tests/fuzz/corpus/scenario");
    add_folder(&c, YOKE_SOURCE_DIR "/tests/model/bad");
    signal(SIGSEGV, report_crash);
    signal(SIGABRT, report_crash);
    double slowest = 0, start = processor_time();
    for (current = first; current < limit; current++) {
        double seconds = try_mutation(&c, current);
        if (seconds > slowest)
            slowest = seconds;
        if (seconds > SLOWEST_ALLOWED) {
            printf("mutation %ld took %.1f s\n", current, seconds);
            return 1;
        }
        if (count < 3 && processor_time() - start > SECONDS)
            break;
    }
    printf("%ld mutations of %d files survived, the slowest took %.4f s\n", current - first,
           c.count, slowest);
    for (int i = 0; i < c.count; i++)
        free(c.files[i].data);
    return 0;
}
