/* FMUs for tests, put together from a description, a binary and what else is asked for. */
#ifndef YOKE_TESTS_FMUS_H
#define YOKE_TESTS_FMUS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interop/fmi/archive.h"
#include "test.h"

/* How an FMU is made; what is NULL is left out or as usual. */
typedef struct fmu_recipe {
    const char *name;           /* of the archive, without .fmu; also the test's folder */
    const char *xml;            /* description: a file of tests/interop/fmi */
    const char *binary;         /* "mass2": library that the build made */
    const char *library;        /* its name in the archive, "mass" */
    const char *platform;       /* folder of the binary; NULL: that of the version */
    const char *terminals;      /* terminalsAndIcons.xml */
    const char *find, *replace; /* a change of the description */
} fmu_recipe;

static char *read_text(const char *path)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    long size = ftell(stream);
    rewind(stream);
    char *text = calloc(1, (size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, stream), size);
    fclose(stream);
    return text;
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    char block[4096];
    for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;)
        assert_int_equal(fwrite(block, 1, got, out), got);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* The folder of this process for FMUs and scenarios. */
static const char *test_folder(void)
{
    static char folder[256];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/fmus-%ld", FMU_BINARIES, (long)getpid());
        mkdir(folder, 0700);
    }
    return folder;
}

/* Makes the archive and returns its path, to be freed. */
static char *make_fmu(yk_context *context, const fmu_recipe *recipe)
{
    char *folder, path[1024], from[1024];
    assert_int_equal(yk_archive_folder(context, &folder), YK_OK);
    if (recipe->xml) {
        snprintf(from, sizeof from, "%s/tests/interop/fmi/%s", YOKE_SOURCE_DIR, recipe->xml);
        char *text = read_text(from);
        char *at = recipe->find ? strstr(text, recipe->find) : NULL;
        snprintf(path, sizeof path, "%s/modelDescription.xml", folder);
        if (recipe->find) {
            assert_non_null(at);
            size_t size = strlen(text) + strlen(recipe->replace) + 1;
            char *changed = calloc(1, size);
            snprintf(changed, size, "%.*s%s%s", (int)(at - text), text, recipe->replace,
                     at + strlen(recipe->find));
            free(text);
            text = changed;
        }
        write_bytes(path, text, strlen(text));
        free(text);
    }
    if (recipe->binary) {
        const char *usual = strchr(recipe->binary, '3') ? "x86_64-linux" : "linux64";
        snprintf(path, sizeof path, "%s/binaries", folder);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/binaries/%s", folder,
                 recipe->platform ? recipe->platform : usual);
        mkdir(path, 0700);
        size_t used = strlen(path);
        snprintf(path + used, sizeof path - used, "/%s.so", recipe->library);
        snprintf(from, sizeof from, "%s/%s.so", FMU_BINARIES, recipe->binary);
        copy_file(from, path);
    }
    if (recipe->terminals) {
        snprintf(path, sizeof path, "%s/terminalsAndIcons", folder);
        mkdir(path, 0700);
        snprintf(from, sizeof from, "%s/tests/interop/fmi/%s", YOKE_SOURCE_DIR, recipe->terminals);
        snprintf(path, sizeof path, "%s/terminalsAndIcons/terminalsAndIcons.xml", folder);
        copy_file(from, path);
    }
    char *file = malloc(1024);
    snprintf(file, 1024, "%s/%s.fmu", test_folder(), recipe->name);
    assert_int_equal(yk_archive_pack(context, folder, file), YK_OK);
    yk_archive_remove(context, folder);
    return file;
}

#define MASS2 .xml = "mass2.xml", .binary = "mass2", .library = "mass"
#define MASS3 .xml = "mass3.xml", .binary = "mass3", .library = "mass", .terminals = "terminals.xml"
#define SPRING2 .xml = "spring2.xml", .binary = "spring2", .library = "spring"
#define BALL2 .xml = "ball2.xml", .binary = "ball2", .library = "ball"
#define SAMPLER3 .xml = "sampler3.xml", .binary = "sampler3", .library = "sampler"
#define STIFF2 .xml = "stiff2.xml", .binary = "stiff2", .library = "stiff"
#define BALL3 .xml = "ball3.xml", .binary = "ball3", .library = "ball"

static void remove_test_folder(void)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder());
    assert_int_equal(system(command), 0);
}

#endif
