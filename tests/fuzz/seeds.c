/* Every target on its seeds, and on seeds that are cut, spliced and changed at random but always in
 * the same way: no reader may crash, hang or break a promise.
 *
 * usage: test_seeds [count]   changed inputs of each target, 300 where nothing is said */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "targets.h"

enum { SEEDS_MAX = 32, BYTES_MAX = 1 << 15 };

static const struct {
    const char *name; /* also its folder of seeds */
    void (*run)(const unsigned char *data, size_t size);
} targets[] = {
    {"expression", fuzz_expression}, {"mesh", fuzz_mesh},     {"modal", fuzz_modal},
    {"contact", fuzz_contact},       {"fmu", fuzz_fmu},       {"frames", fuzz_frames},
    {"results", fuzz_results},       {"import", fuzz_import}, {"journal", fuzz_journal},
    {"checkpoint", fuzz_checkpoint}, {"resume", fuzz_resume}, {"hdf5", fuzz_hdf5},
};

typedef struct seed {
    unsigned char bytes[BYTES_MAX];
    size_t size;
} seed;

static seed seeds[SEEDS_MAX];

/* SplitMix64 (Steele, Lea, Flood 2014). */
static size_t below(uint64_t *state, size_t limit)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return limit > 0 ? (size_t)(z % limit) : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that an input has the same number everywhere. */
static int load_seeds(const char *target)
{
    char folder[512];
    snprintf(folder, sizeof folder, YOKE_SOURCE_DIR "/tests/fuzz/corpus/%s", target);
    DIR *directory = opendir(folder);
    char *names[SEEDS_MAX];
    int count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory)) && count < SEEDS_MAX;)
        if (entry->d_name[0] != '.')
            names[count++] = strdup(entry->d_name);
    if (directory)
        closedir(directory);
    qsort(names, (size_t)count, sizeof *names, by_name);

    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "rb");
        seeds[i].size = file ? fread(seeds[i].bytes, 1, BYTES_MAX / 2, file) : 0;
        if (file)
            fclose(file);

        /* Bytes are changed, not the digits that stand for them. */
        unsigned char *bytes = fuzz_take_bytes(seeds[i].bytes, &seeds[i].size);
        memcpy(seeds[i].bytes, bytes, seeds[i].size);
        free(bytes);
        free(names[i]);
    }
    return count;
}

/* Numbers that break arithmetic, and marks that break syntax. */
static const char *const words[] = {"0",
                                    "-1",
                                    "1e999",
                                    "nan",
                                    "4294967297",
                                    "1e-320",
                                    ",",
                                    "\n",
                                    "%%\n",
                                    "(",
                                    ")",
                                    "/",
                                    "\"",
                                    "<",
                                    "f 1 ",
                                    ":",
                                    " ",
                                    "-",
                                    "99999999999999999999"};

static void change(seed *input, int count, uint64_t *state)
{
    switch (below(state, 5)) {
    case 0: input->size = below(state, input->size + 1); break;
    case 1:
        if (input->size > 0)
            input->bytes[below(state, input->size)] = (unsigned char)below(state, 256);
        break;
    case 2: {
        const char *word = words[below(state, sizeof words / sizeof *words)];
        size_t length = strlen(word), at = below(state, input->size + 1);
        if (input->size + length > BYTES_MAX)
            break;
        memmove(input->bytes + at + length, input->bytes + at, input->size - at);
        memcpy(input->bytes + at, word, length);
        input->size += length;
        break;
    }
    case 3: {
        size_t at = below(state, input->size + 1);
        size_t length = below(state, input->size - at + 1);
        memmove(input->bytes + at, input->bytes + at + length, input->size - at - length);
        input->size -= length;
        break;
    }
    default: {
        const seed *other = &seeds[below(state, (size_t)count)];
        size_t from = below(state, other->size + 1), at = below(state, input->size + 1);
        size_t length = other->size - from;
        if (at + length > BYTES_MAX)
            length = BYTES_MAX - at;
        memcpy(input->bytes + at, other->bytes + from, length);
        input->size = at + length;
    }
    }
}

int main(int argc, char **argv)
{
    int changed = argc > 1 ? atoi(argv[1]) : 300;
    alarm(250); /* a reader that hangs is a failure */
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        int count = load_seeds(targets[t].name);
        if (count == 0) {
            fprintf(stderr, "%s has no seeds\n", targets[t].name);
            return 1;
        }

        for (int i = 0; i < count; i++)
            targets[t].run(seeds[i].bytes, seeds[i].size);
        for (int i = 0; i < changed; i++) {
            static seed input;
            uint64_t state = (uint64_t)i;
            input = seeds[below(&state, (size_t)count)];
            size_t changes = 1 + below(&state, 4);
            for (size_t k = 0; k < changes; k++)
                change(&input, count, &state);
            targets[t].run(input.bytes, input.size);
        }
        printf("%s: %d seeds, %d changed inputs\n", targets[t].name, count, changed);
    }
    return 0;
}
