/* A host program with a decimal comma: everything that Yoke reads and writes is the same as in the
 * locale "C". */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/scenario_run.h"
#include "contact/read.h"
#include "contact/write.h"
#include "interop/importing.h"
#include "model/files.h"
#include "yoke/analysis.h"

static char folder[] = "/tmp/yoke-locale-XXXXXX";

/* The locale is made for this test if the machine has none with a decimal comma. */
static bool find_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    for (int made = 0; made < 2; made++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
                return true;

        char command[256];
        snprintf(command, sizeof command,
                 "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 >%s/localedef 2>&1",
                 folder, folder);
        if (system(command) != 0)
            return false;
        setenv("LOCPATH", folder, 1);
    }
    return false;
}

static const char *file_in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *to = fopen(file_in_folder(name), "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

/* Append a file to the text that both locales are compared by, and remove the file. */
static void add_file(FILE *to, const char *name)
{
    char bytes[4096];
    FILE *from = fopen(file_in_folder(name), "r");
    assert_non_null(from);
    size_t count, total = 0;
    for (; (count = fread(bytes, 1, sizeof bytes, from)) > 0; total += count)
        fwrite(bytes, 1, count, to);
    assert_true(total > 20);
    fclose(from);
    unlink(file_in_folder(name));
}

/* All bits of a number, which no locale changes. */
static void add_number(FILE *to, double value)
{
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    fprintf(to, "%llx\n", bits);
}

/* Tables in CSV and changed values go in; results in CSV come out and are read again. */
static void add_run(yk_context *context, FILE *to)
{
    static const char *const overrides[] = {"time.end=0.0125", "time.step=2.5e-4", NULL};
    yk_scenario *scenario = load_scenario(context, model_file("modal-cantilever"), NULL, overrides);
    char *text = yk_scenario_resolved_text(scenario);
    assert_non_null(text);
    fputs(text, to);
    yk_free(context, text);

    yk_file_recorder_def file = yk_file_recorder_default();
    file.path = file_in_folder("results.csv");
    yk_recorder *recorder = NULL;
    assert_int_equal(yk_file_recorder_create(context, &file, &recorder), YK_OK);
    yk_run_options def = {.recorder = recorder};
    yk_run_report report;
    assert_int_equal(yk_run(context, scenario, &def, &report), YK_OK);
    add_number(to, report.time);
    yk_recorder_destroy(recorder);
    yk_scenario_destroy(scenario);

    yk_record *record = NULL;
    yk_measure measure;
    double value;
    assert_int_equal(yk_record_load(context, file_in_folder("results.csv"), &record), YK_OK);
    assert_int_equal(
        yk_measure_parse(context, "rms(strip.strip.modal_amplitude_1, 0.0025, 1.01e-2)", &measure),
        YK_OK);
    assert_int_equal(yk_measure_value(context, &measure, record, &value), YK_OK);
    add_number(to, value);
    yk_record_destroy(record);
    add_file(to, "results.csv");
}

static void add_mesh(yk_context *context, FILE *to, const char *name, const char *text)
{
    write_file(name, text);
    yk_mesh mesh;
    assert_int_equal(yk_mesh_read(context, file_in_folder(name), 0.5, &mesh), YK_OK);
    assert_int_equal(mesh.point_count, 3);
    for (int i = 0; i < mesh.point_count; i++) {
        add_number(to, mesh.points[i].x);
        add_number(to, mesh.points[i].y);
        add_number(to, mesh.points[i].z);
    }
    yk_mesh_release(context, &mesh);
    unlink(file_in_folder(name));
}

/* The journal is written, and read by a second sweep. */
static void add_sweep(yk_context *context, FILE *to)
{
    static const char *const stiffnesses[] = {"4000.5", "4.5e3"};
    static const char *const measures[] = {"peak(left.mass.velocity)"};
    char journal[128];
    snprintf(journal, sizeof journal, "%s", file_in_folder("journal"));
    yk_sweep_axis axis = {"parameters.stiffness", stiffnesses, 2};
    yk_sweep_options def = {
        .axes = &axis, .axis_count = 1, .measures = measures, .measure_count = 1};
    def.scenario = yk_scenario_default();
    def.scenario.path = model_file("two-mass-oscillator");
    def.journal = journal;
    def.jobs = 1;
    for (int pass = 0; pass < 2; pass++) {
        yk_diagnostics *diagnostics = NULL;
        double results[2];
        assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
        assert_int_equal(yk_sweep(context, &def, diagnostics, results), YK_OK);
        yk_diagnostics_destroy(diagnostics);
        add_number(to, results[0]);
        add_number(to, results[1]);
    }
    add_file(to, "journal");
}

static void add_contact_problem(yk_context *context, FILE *to)
{
    static const char text[] = "2 1\n0 2 2\n2 2\n 1 0.5 0.25 2\n-1.5 3\n0.4\n";
    yk_contact_problem problem;
    assert_int_equal(yk_contact_parse(context, "text", text, strlen(text), &problem), YK_OK);
    assert_int_equal(yk_contact_write(context, file_in_folder("problem.dat"), &problem), YK_OK);
    yk_contact_problem_destroy(context, &problem);
    add_file(to, "problem.dat");
}

/* Everything in the present locale, as one text to compare; to be freed. */
static char *exchange_everything(void)
{
    yk_context *context = yk_context_create(NULL);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    add_run(context, to);
    add_mesh(context, to, "triangle.obj", "v 0.5 0 0\nv 0 1.25e-1 0\nv 0 0 2.5\nf 1 2 3\n");
    add_mesh(context, to, "triangle.stl",
             "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0.5 0 0\nvertex 0 0.25 0\n"
             "vertex 0.5 1.5 0\nendloop\nendfacet\nendsolid t\n");
    add_sweep(context, to);
    add_contact_problem(context, to);

    yk_import_options options = yk_import_options_default();
    char *imported =
        import_file(context, YOKE_SOURCE_DIR "/examples/robots/arm.urdf", &options, "none");
    assert_non_null(imported);
    fputs(imported, to);
    free(imported);

    /* Messages show values as they are written in files. */
    yk_fail(context, YK_ERROR_INPUT, "%g", 0.5);
    fputs(yk_last_message(context), to);
    fclose(to);
    yk_context_destroy(context);
    return text;
}

static void a_decimal_comma_changes_no_file(void **state)
{
    (void)state;
    setlocale(LC_ALL, "C");
    char *expected = exchange_everything();
    assert_true(find_decimal_comma());
    char *found = exchange_everything();
    assert_string_equal(found, expected);

    /* The locale of the host program stays as it was. */
    char number[8];
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5");
    free(expected);
    free(found);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    if (!find_decimal_comma()) {
        remove_folder(NULL);
        return 77;
    }

    const struct CMUnitTest tests[] = {cmocka_unit_test(a_decimal_comma_changes_no_file)};
    return cmocka_run_group_tests_name("system/locale", tests, NULL, remove_folder);
}
