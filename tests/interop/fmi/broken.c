/* FMUs that cannot be used, and what is said about each. */
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "fmus.h"
#include "interop/fmi/fmu.h"
#include "the_context.h"
#include <zip.h>

static const yk_fmu_port_def mass_port = {
    .name = "mass",
    .kind = YK_PORT_SCALAR,
    .quantities = {[YK_FMU_POSITION] = {1, {"x"}}, [YK_FMU_FORCE] = {1, {"f"}}}};

/* Loading fails with a message that, after the name of the file, is this text. */
static void expect(const char *file, const yk_fmu_port_def *port, const yk_fmu_setting *setting,
                   const char *text)
{
    yk_fmu_def def = yk_fmu_default();
    def.file = file;
    def.ports = port;
    def.port_count = port ? 1 : 0;
    def.settings = setting;
    def.setting_count = setting ? 1 : 0;
    yk_subsystem *subsystem;
    assert_true(YK_FAILED(yk_fmu_create(context, &def, &subsystem)));
    assert_null(subsystem);
    const char *message = yk_last_message(context);
    const char *rest = strstr(message, ".fmu");
    assert_non_null(rest);
    assert_string_equal(rest + 4, text);
}

typedef struct row {
    fmu_recipe recipe;
    const char *text;
} row;

static void descriptions_and_binaries(void **state)
{
    (void)state;
    static const row rows[] = {
        {{.name = "empty", .binary = "mass2", .library = "mass"},
         " is no FMU: the archive has no modelDescription.xml"},
        {{.name = "malformed", MASS2, .find = "</ModelVariables>", .replace = "</Model>"},
         ": modelDescription.xml, line 19: mismatched tag"},
        {{.name = "version", MASS2, .find = "fmiVersion=\"2.0\"", .replace = "fmiVersion=\"1.0\""},
         ": modelDescription.xml, line 2: it is an FMU of FMI 1.0; versions 2.0 and 3.0 can be "
         "used"},
        {{.name = "entity",
          MASS2,
          .find = "<fmiModelDescription",
          .replace = "<!DOCTYPE a [<!ENTITY e SYSTEM \"/etc/passwd\">]><fmiModelDescription"},
         ": modelDescription.xml, line 2: it has a document type declaration, which descriptions "
         "of models have not"},
        {{.name = "guid", MASS2, .find = "guid=\"{mass}\"", .replace = "guid=\"{other}\""},
         ": fmi2Instantiate made no instance; it logged: the GUID {other} is not that of the "
         "binary, {mass}"},
        {{.name = "token", MASS3, .find = "Token=\"{mass}\"", .replace = "Token=\"{other}\""},
         ": fmi3InstantiateCoSimulation made no instance; it logged: the token is not that of the "
         "binary"},
        {{.name = "platform", MASS2, .platform = "win64"},
         " has no binary for this platform, binaries/linux64/mass.so; it has those of win64"},
        {{.name = "no-binary", .xml = "mass2.xml"},
         " has no binary for this platform, binaries/linux64/mass.so; it has no binaries at all"},
        {{.name = "function", .xml = "mass2.xml", .binary = "incomplete2", .library = "mass"},
         ": its binary mass.so lacks the function fmi2DoStep"},
        {{.name = "tool",
          MASS2,
          .find = "<CoSimulation",
          .replace = "<CoSimulation needsExecutionTool=\"true\""},
         " holds no model, only a connection to the program that made it (Yoke tests): export it "
         "again with the solver inside"},
        {{.name = "reference",
          MASS2,
          .find = "valueReference=\"3\"",
          .replace = "valueReference=\"x\""},
         ": modelDescription.xml, line 13: valueReference is 'x', expected a whole number"},
        {{.name = "triggered",
          SAMPLER3,
          .find = "intervalVariability=\"constant\"",
          .replace = "intervalVariability=\"triggered\""},
         ": the clock 'tick' is an input that is triggered; only clocks that tick at constant "
         "intervals can be used"},
        {{.name = "interval", SAMPLER3, .find = "intervalDecimal=\"0.1\"", .replace = ""},
         ": the description gives no interval of the clock 'tick'"},
        {{.name = "no-events", SAMPLER3, .find = "hasEventMode=\"true\"", .replace = ""},
         ": the clock 'tick' is an input, but the FMU has no event mode in which it could tick"},
        {{.name = "kinds",
          MASS2,
          .find = "<CoSimulation modelIdentifier=\"mass\"",
          .replace = "<Else"},
         " has neither co-simulation nor model exchange"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *file = make_fmu(context, &rows[i].recipe);
        expect(file, NULL, NULL, rows[i].text);
        free(file);
    }
}

static void variables_and_ports(void **state)
{
    (void)state;
    char *file = make_fmu(context, &(fmu_recipe){.name = "ports", MASS2});
    yk_fmu_port_def port = mass_port;
    port.quantities[YK_FMU_FORCE].names[0] = "ff";
    expect(file, &port, NULL, ": port 'mass': force: there is no variable 'ff'; did you mean 'f'?");
    port.quantities[YK_FMU_FORCE].names[0] = "a";
    expect(file, &port, NULL,
           ": port 'mass' needs either a force that is an input and a motion that is not, or a "
           "motion that is an input and a force that is not");
    port = mass_port;
    port.quantities[YK_FMU_POSITION].count = 0;
    expect(file, &port, NULL, ": port 'mass' has no variable for its position");
    port = (yk_fmu_port_def){.name = "p", .terminal = "flange"};
    expect(file, &port, NULL, ": port 'p': there is no terminal 'flange'; the FMU has 0 terminals");

    double values[2] = {1, 2};
    expect(file, &mass_port, &(yk_fmu_setting){"mm", values, 1, NULL},
           ": there is no variable 'mm' to be set; did you mean 'm'?");
    expect(file, &mass_port, &(yk_fmu_setting){"m", values, 2, NULL},
           ": the variable 'm' has 1 element, 2 values were given");
    expect(file, &mass_port, &(yk_fmu_setting){"m", NULL, 0, "heavy"},
           ": the variable 'm' is of type Float64 and cannot be set to a text");
    free(file);
}

/* Archives ------------------------------------------------------------------------------------- */

/* An archive with two entries; libzip refuses names that occur twice, so the second name may be
 * overwritten in the finished file. */
static char *make_archive(const char *name, const char *first, const char *second,
                          const char *renamed, size_t size)
{
    char *file = malloc(1024);
    snprintf(file, 1024, "%s/%s.fmu", test_folder(), name);
    int code;
    zip_t *archive = zip_open(file, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(archive);
    char *zeros = calloc(1, size);
    const char *names[] = {first, second};
    for (int i = 0; i < 2; i++) {
        zip_source_t *source = zip_source_buffer(archive, zeros, i == 0 ? 10 : size, 0);
        assert_true(zip_file_add(archive, names[i], source, 0) >= 0);
    }
    assert_int_equal(zip_close(archive), 0);
    free(zeros);
    if (!renamed)
        return file;

    FILE *stream = fopen(file, "r+b");
    assert_non_null(stream);
    char bytes[4096];
    size_t got = fread(bytes, 1, sizeof bytes, stream);
    for (size_t i = 0; i + strlen(second) <= got; i++)
        if (memcmp(bytes + i, second, strlen(second)) == 0)
            memcpy(bytes + i, renamed, strlen(second));
    rewind(stream);
    assert_int_equal(fwrite(bytes, 1, got, stream), got);
    fclose(stream);
    return file;
}

static void archives(void **state)
{
    (void)state;
    char *file = malloc(1024);
    snprintf(file, 1024, "%s/text.fmu", test_folder());
    write_bytes(file, "no archive", 10);
    expect(file, NULL, NULL, " cannot be opened as a ZIP archive: Not a zip archive");
    snprintf(file, 1024, "%s/absent.fmu", test_folder());
    expect(file, NULL, NULL, " cannot be opened: No such file or directory");
    free(file);

    file = make_archive("escape", "a", "resources/../../evil", NULL, 10);
    expect(file, NULL, NULL, ": the entry 'resources/../../evil' leaves the folder of the FMU");
    free(file);
    file = make_archive("absolute", "a", "/evil", NULL, 10);
    expect(file, NULL, NULL, ": the entry '/evil' is not a relative path with '/'");
    free(file);
    file = make_archive("twice", "same", "othr", "same", 11);
    expect(file, NULL, NULL, ": the entry 'same' occurs twice with different contents");
    free(file);
    file = make_archive("equal", "same", "othr", "same", 10);
    expect(file, NULL, NULL, " is no FMU: the archive has no modelDescription.xml");
    free(file);
    file = make_archive("folders", "same/", "othr/", "same/", 10);
    expect(file, NULL, NULL, " is no FMU: the archive has no modelDescription.xml");
    free(file);

    /* How well zeros are packed is the library's affair. */
    file = make_archive("bomb", "a", "zeros", NULL, 64 << 20);
    yk_fmu_def def = yk_fmu_default();
    def.file = file;
    yk_subsystem *subsystem;
    assert_true(YK_FAILED(yk_fmu_create(context, &def, &subsystem)));
    assert_non_null(strstr(yk_last_message(context), ": the entry 'zeros' grows from "));
    assert_non_null(
        strstr(yk_last_message(context), " to 67108864 bytes, more than the limit of 1000 times"));
    free(file);
}

/* Programs that write an archive in one pass leave checksum and size open before each entry, and
 * give them behind it and in the directory: such an FMU is a good one. */
static void archives_of_one_pass(void **state)
{
    (void)state;
    char *file = make_fmu(context, &(fmu_recipe){.name = "one-pass", MASS2});
    FILE *stream = fopen(file, "r+b");
    assert_non_null(stream);
    unsigned char header[30];
    assert_int_equal(fread(header, 1, sizeof header, stream), sizeof header);
    assert_memory_equal(header, "PK\3\4", 4);
    header[6] |= 8;
    memset(header + 14, 0, 8);
    rewind(stream);
    assert_int_equal(fwrite(header, 1, sizeof header, stream), sizeof header);
    fclose(stream);

    yk_fmu_def def = yk_fmu_default();
    def.file = file;
    def.ports = &mass_port;
    def.port_count = 1;
    yk_subsystem *subsystem;
    if (yk_fmu_create(context, &def, &subsystem) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    subsystem->ops->destroy(subsystem);
    free(file);
}

/* A folder with a file in it that looks an hour old. */
static char *old_folder(void)
{
    char *folder, path[600];
    assert_int_equal(yk_archive_folder(context, &folder), YK_OK);
    snprintf(path, sizeof path, "%s/file", folder);
    write_bytes(path, "text", 4);
    struct timespec times[2] = {{.tv_sec = time(NULL) - 3600}, {.tv_sec = time(NULL) - 3600}};
    assert_int_equal(utimensat(AT_FDCWD, folder, times, 0), 0);
    return folder;
}

/* The folder of a killed process is removed when the next folder is made; folders of processes that
 * live, of other names and behind links stay. */
static void folders_of_ended_processes_are_removed(void **state)
{
    (void)state;
    char base[400], left[600], linked[600], target[600], kept[700];
    snprintf(base, sizeof base, "%s/temporary", test_folder());
    assert_int_equal(mkdir(base, 0700), 0);
    assert_int_equal(setenv("TMPDIR", base, 1), 0);

    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        char *folder = old_folder();
        size_t length = strlen(folder) + 1;
        _exit(write(pipes[1], folder, length) == (ssize_t)length ? 0 : 1);
    }
    assert_true(read(pipes[0], left, sizeof left) > 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(left, F_OK), 0);

    snprintf(target, sizeof target, "%s/target", base);
    snprintf(kept, sizeof kept, "%s/file", target);
    snprintf(linked, sizeof linked, "%s/yoke-fmu.link", base);
    assert_int_equal(mkdir(target, 0700), 0);
    write_bytes(kept, "text", 4);
    assert_int_equal(symlink(target, linked), 0);

    char *own = old_folder();
    char *next;
    assert_int_equal(yk_archive_folder(context, &next), YK_OK);
    assert_int_not_equal(access(left, F_OK), 0);
    assert_int_equal(access(own, F_OK), 0);
    assert_int_equal(access(kept, F_OK), 0);
    snprintf(left, sizeof left, "%s", own);
    yk_archive_remove(context, own);
    assert_int_not_equal(access(left, F_OK), 0);
    yk_archive_remove(context, next);
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_and_binaries),
        cmocka_unit_test(variables_and_ports),
        cmocka_unit_test(archives),
        cmocka_unit_test(archives_of_one_pass),
        cmocka_unit_test(folders_of_ended_processes_are_removed),
    };
    int failed = cmocka_run_group_tests_name("broken", tests, open_context, close_context);
    remove_test_folder();
    return failed;
}
