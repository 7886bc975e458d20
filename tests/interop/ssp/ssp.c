/* Systems of FMUs by the standard SSP: read, run, refused with a reason, written and read again. */
#include <math.h>
#include <sys/wait.h>

#include "fmus.h"
#include "interop/import/import.h"
#include "interop/ssp/ssp.h"
#include "system/scenario_run.h"

static yk_context *context;

#define HEAD                                                                      \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                \
    "<ssd:SystemStructureDescription version=\"1.0\" name=\"Mass on a spring\"\n" \
    " xmlns:ssd=\"ssd\" xmlns:ssc=\"ssc\" xmlns:ssv=\"ssv\" xmlns:ssm=\"ssm\">\n"

/* A mass and a spring, which is in a system of its own and answers with the force on itself. The
 * connectors of that system are in millimetres and kilonewtons. */
static const char description[] = HEAD
    "<ssd:System name=\"root\">\n"
    " <ssd:ParameterBindings>\n"
    "  <ssd:ParameterBinding source=\"resources/values.ssv\">\n"
    "   <ssd:ParameterMapping source=\"resources/names.ssm\"/>\n"
    "  </ssd:ParameterBinding>\n"
    " </ssd:ParameterBindings>\n"
    " <ssd:Elements>\n"
    "  <ssd:Component name=\"mass\" type=\"application/x-fmu-sharedlibrary\" "
    "source=\"resources/mass.fmu\">\n"
    "   <ssd:Connectors>\n"
    "    <ssd:Connector name=\"x\" kind=\"output\"><ssc:Real unit=\"m\"/></ssd:Connector>\n"
    "    <ssd:Connector name=\"f\" kind=\"input\"><ssc:Real unit=\"N\"/></ssd:Connector>\n"
    "   </ssd:Connectors>\n"
    "  </ssd:Component>\n"
    "  <ssd:System name=\"support\">\n"
    "   <ssd:Connectors>\n"
    "    <ssd:Connector name=\"travel\" kind=\"input\"><ssc:Real unit=\"mm\"/></ssd:Connector>\n"
    "    <ssd:Connector name=\"force\" kind=\"output\"><ssc:Real unit=\"kN\"/></ssd:Connector>\n"
    "    <ssd:Connector name=\"rate\" kind=\"parameter\"><ssc:Real/></ssd:Connector>\n"
    "   </ssd:Connectors>\n"
    "   <ssd:Elements>\n"
    "    <ssd:Component name=\"spring\" source=\"resources/spring.fmu\" "
    "implementation=\"CoSimulation\">\n"
    "     <ssd:ParameterBindings>\n"
    "      <ssd:ParameterBinding><ssd:ParameterValues>\n"
    "       <ssv:ParameterSet version=\"1.0\" name=\"own\"><ssv:Parameters>\n"
    "        <ssv:Parameter name=\"k\"><ssv:Real value=\"7\"/></ssv:Parameter>\n"
    "        <ssv:Parameter name=\"end.x\"><ssv:Real value=\"100\" unit=\"mm\"/></ssv:Parameter>\n"
    "       </ssv:Parameters></ssv:ParameterSet>\n"
    "      </ssd:ParameterValues></ssd:ParameterBinding>\n"
    "     </ssd:ParameterBindings>\n"
    "    </ssd:Component>\n"
    "   </ssd:Elements>\n"
    "   <ssd:Connections>\n"
    "    <ssd:Connection startConnector=\"travel\" endElement=\"spring\" endConnector=\"end.x\"/>\n"
    "    <ssd:Connection startElement=\"spring\" startConnector=\"end.f\" "
    "endConnector=\"force\"/>\n"
    "    <ssd:Connection startConnector=\"rate\" endElement=\"spring\" endConnector=\"k\"/>\n"
    "   </ssd:Connections>\n"
    "  </ssd:System>\n"
    " </ssd:Elements>\n"
    " <ssd:Connections>\n"
    "  <ssd:Connection startElement=\"mass\" startConnector=\"x\" endElement=\"support\" "
    "endConnector=\"travel\"/>\n"
    "  <ssd:Connection startElement=\"support\" startConnector=\"force\" endElement=\"mass\" "
    "endConnector=\"f\">\n"
    "   <ssc:LinearTransformation factor=\"-1\"/>\n"
    "  </ssd:Connection>\n"
    " </ssd:Connections>\n"
    "</ssd:System>\n"
    "<ssd:Units>\n"
    " <ssc:Unit name=\"m\"><ssc:BaseUnit m=\"1\"/></ssc:Unit>\n"
    " <ssc:Unit name=\"mm\"><ssc:BaseUnit m=\"1\" factor=\"0.001\"/></ssc:Unit>\n"
    " <ssc:Unit name=\"N\"><ssc:BaseUnit kg=\"1\" m=\"1\" s=\"-2\"/></ssc:Unit>\n"
    " <ssc:Unit name=\"kN\"><ssc:BaseUnit kg=\"1\" m=\"1\" s=\"-2\" factor=\"1000\"/></ssc:Unit>\n"
    "</ssd:Units>\n"
    "<ssd:DefaultExperiment startTime=\"0\" stopTime=\"0.5\"/>\n"
    "</ssd:SystemStructureDescription>\n";

static const char values[] =
    "<ssv:ParameterSet version=\"1.0\" name=\"values\" xmlns:ssv=\"ssv\" xmlns:ssc=\"ssc\">\n"
    "<ssv:Parameters>\n"
    " <ssv:Parameter name=\"heavy\"><ssv:Real value=\"2000\" unit=\"g\"/></ssv:Parameter>\n"
    " <ssv:Parameter name=\"begin\"><ssv:Real value=\"0.1\" unit=\"m\"/></ssv:Parameter>\n"
    " <ssv:Parameter name=\"soft\"><ssv:Real value=\"25\"/></ssv:Parameter>\n"
    " <ssv:Parameter name=\"unused\"><ssv:Real value=\"1\"/></ssv:Parameter>\n"
    "</ssv:Parameters>\n"
    "<ssv:Units>\n"
    " <ssc:Unit name=\"g\"><ssc:BaseUnit kg=\"1\" factor=\"0.001\"/></ssc:Unit>\n"
    " <ssc:Unit name=\"kg\"><ssc:BaseUnit kg=\"1\"/></ssc:Unit>\n"
    "</ssv:Units>\n"
    "</ssv:ParameterSet>\n";

static const char names[] =
    "<ssm:ParameterMapping version=\"1.0\" xmlns:ssm=\"ssm\" xmlns:ssc=\"ssc\">\n"
    " <ssm:MappingEntry source=\"heavy\" target=\"mass.m\"/>\n"
    " <ssm:MappingEntry source=\"begin\" target=\"mass.x\"/>\n"
    " <ssm:MappingEntry source=\"soft\" target=\"support.rate\">"
    "<ssc:LinearTransformation factor=\"2\"/></ssm:MappingEntry>\n"
    "</ssm:ParameterMapping>\n";

/* The same by hand: 2 kg on 50 N/m. */
static const char by_hand[] =
    "time: {end: 0.5, step: 0.001}\n"
    "subsystems:\n"
    "  mass: {solver: fmu, file: resources/mass.fmu, start_values: [{variable: m, value: 2}, "
    "{variable: x, "
    "value: 0.1}],\n"
    "    ports: {x: {type: signal, variable: x}, f: {type: signal, variable: f}}}\n"
    "  spring: {solver: fmu, file: resources/spring.fmu, start_values: [{variable: k, value: 50}, "
    "{variable: end.x, value: 0.1}],\n"
    "    ports: {x: {type: signal, variable: end.x}, f: {type: signal, variable: end.f}}}\n"
    "wires:\n  there: {from: mass.x, to: spring.x}\n  back: {from: spring.f, to: mass.f, gain: "
    "-1}\n"
    "record: {channels: [mass.x]}\n";

static char folder[300];

static int make_package(void **state)
{
    (void)state;
    context = yk_context_create(NULL);
    char path[400];
    snprintf(folder, sizeof folder, "%s/system", test_folder());
    mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/resources", folder);
    mkdir(path, 0700);
    free(make_fmu(context, &(fmu_recipe){.name = "system/resources/mass", MASS2}));
    free(make_fmu(context, &(fmu_recipe){.name = "system/resources/spring", SPRING2}));
    yk_archive_put_text(context, folder, "resources/values.ssv", values);
    yk_archive_put_text(context, folder, "resources/names.ssm", names);
    yk_archive_put_text(context, folder, YK_SSP_DESCRIPTION, description);
    return 0;
}

static int remove_package(void **state)
{
    (void)state;
    yk_context_destroy(context);
    remove_test_folder();
    return 0;
}

/* The scenario of the description in the folder, to be freed; NULL where it is refused. */
static char *read_system(double step)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, YK_SSP_DESCRIPTION);
    yk_import_options options = yk_import_options_default();
    options.step = step;
    yk_import *import;
    if (yk_import_read(context, path, &options, &import) != YK_OK)
        return NULL;
    char *text = strdup(yk_import_scenario(import));
    assert_non_null(text);
    yk_import_destroy(import);
    return text;
}

static void a_system_is_the_scenario_by_hand(void **state)
{
    (void)state;
    char path[400];
    snprintf(path, sizeof path, "%s/scenario.yaml", folder);
    char *text = read_system(1e-3);
    if (!text)
        fail_msg("%s", yk_last_message(context));
    char whole[9000];
    snprintf(whole, sizeof whole, "%srecord: {channels: [mass.x]}\n", text);
    free(text);
    run inside = open_text(path, by_hand, NULL);
    run system = open_text(path, whole, NULL);
    assert_near(system.info->end, 0.5, 0);
    for (int i = 0; i < 100; i++) {
        step(&inside);
        step(&system);
        assert_near(system.sample[0], inside.sample[0], 1e-15);
    }
    assert_near(inside.sample[0], 0.1 * cos(0.5), 1e-3);
    close_run(&inside);
    close_run(&system);
}

/* Version 2.0 has the types of FMI 3 and the same elements. */
static void version_2_is_read(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"version=\"1.0\" name=\"Mass", "version=\"2.0\" name=\"Mass"},
        {"ssc:Real", "ssc:Float64"},
        {"ssv:Real", "ssv:Float64"},
    };
    char *text = calloc(1, 20000);
    strcpy(text, description);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *find = changes[i][0], *with = changes[i][1];
        for (char *at = text; (at = strstr(at, find)); at += strlen(with)) {
            memmove(at + strlen(with), at + strlen(find), strlen(at + strlen(find)) + 1);
            memcpy(at, with, strlen(with));
        }
    }
    char *first = read_system(1e-3);
    yk_archive_put_text(context, folder, YK_SSP_DESCRIPTION, text);
    char *second = read_system(1e-3);
    yk_archive_put_text(context, folder, YK_SSP_DESCRIPTION, description);
    if (!second)
        fail_msg("%s", yk_last_message(context));
    assert_string_equal(first, second);
    free(first);
    free(second);
    free(text);
}

/* The program: a package runs like a scenario, and is converted to one with its FMUs next to it. */
static void packages_run(void **state)
{
    (void)state;
    char package[400], command[3000];
    snprintf(package, sizeof package, "%s/system.ssp", test_folder());
    assert_int_equal(yk_archive_pack(context, folder, package), YK_OK);
    snprintf(command, sizeof command,
             "cd '%s' && '%s' run system.ssp --quiet -o a.csv 2>/dev/null && "
             "'%s' import system.ssp -o it.yaml 2>/dev/null && test -f it/resources/mass.fmu && "
             "'%s' run it.yaml --quiet -o b.csv && cmp a.csv b.csv",
             test_folder(), YOKE_PROGRAM, YOKE_PROGRAM, YOKE_PROGRAM);
    assert_int_equal(system(command), 0);

    /* A folder that is there already is not written into, and without -o there is no place. */
    snprintf(command, sizeof command,
             "cd '%s' && '%s' import system.ssp -o it.yaml 2>&1 | grep -q 'cannot make the folder "
             "it' && '%s' import system.ssp 2>&1 | grep -q 'name the scenario with -o'",
             test_folder(), YOKE_PROGRAM, YOKE_PROGRAM);
    assert_int_equal(system(command), 0);
}

/* Descriptions with one change each. */
typedef struct change {
    const char *find, *replace, *message;
} change;

static const change mistakes[] = {
    {"version=\"1.0\" name=\"Mass", "version=\"9.0\" name=\"Mass", "version is '9.0'"},
    {"ssd:System name=\"root\">", "ssd:Other name=\"root\">", "mismatched tag"},
    {"resources/mass.fmu", "resources/other.fmu", "'resources/other.fmu' is not in the package"},
    {"resources/mass.fmu", "../mass.fmu", "source is '../mass.fmu'"},
    {"resources/mass.fmu", "http://a/b.fmu", "source is 'http://a/b.fmu'"},
    {"resources/mass.fmu", "resources/values.ssv", "component 'mass': "},
    {"x-fmu-sharedlibrary", "x-ssp-package", "only FMUs"},
    {"<ssd:System name=\"support\">", "<ssd:System name=\"mass\">", "'mass' occurs twice"},
    {"startConnector=\"x\"", "startConnector=\"y\"", "has no variable 'y'"},
    {"startElement=\"support\"", "startElement=\"suport\"", "'suport' is no part of 'root'"},
    {"endConnector=\"travel\"", "endConnector=\"path\"", "'path' is no connector of 'support'"},
    {"<ssc:Unit name=\"mm\">", "<ssc:Unit name=\"um\">", "'mm' is not defined"},
    {"<ssc:BaseUnit m=\"1\" factor=\"0.001\"/>", "<ssc:BaseUnit kg=\"1\"/>",
     "are of different kinds"},
    {"factor=\"-1\"", "factor=\"minus\"", "factor is 'minus', expected a number"},
    {"factor=\"-1\"", "factor=\"0\"", "factor is 0"},
    {"LinearTransformation factor=\"-1\"", "BooleanMappingTransformation", "is not supported"},
    {"<ssv:Real value=\"7\"/>", "<ssv:Real/>", "parameter 'k' has no value"},
    {"<ssv:Real value=\"7\"/>", "<ssv:String value=\"7\"/>", "'k' is of type Float64"},
    {"resources/values.ssv", "resources/names.ssm", "expected <ParameterSet>"},
    {"</ssd:System>\n<ssd:Units>",
     "<ssd:Annotations><ssc:Annotation type=\"yoke.coupling\"><Coupling><Section name=\"plugins\" "
     "value=\"[a.so]\"/></Coupling></ssc:Annotation></ssd:Annotations></ssd:System>\n<ssd:Units>",
     "'plugins' is no section"},
};

/* Parts that can be left out; the scenario lists them at its head. */
static const change omissions[] = {
    {"name=\"k\"><ssv", "name=\"kk\"><ssv", "the value of 'kk': 'spring' has no such variable"},
    {"endElement=\"support\" endConnector=\"travel\"",
     "endElement=\"support\" endConnector=\"rate\" suppressUnitConversion=\"true\"",
     "'end.x' of 'spring': nothing gives its value"},
    {"endElement=\"support\" endConnector=\"travel\"",
     "endElement=\"support\" endConnector=\"rate\" suppressUnitConversion=\"true\"",
     "'k' of 'spring': it is no input"},
};

static char *read_changed(const change *c)
{
    const char *at = strstr(description, c->find);
    assert_non_null(at);
    char changed[9000];
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - description), description, c->replace,
             at + strlen(c->find));
    yk_archive_put_text(context, folder, YK_SSP_DESCRIPTION, changed);
    char *text = read_system(0);
    yk_archive_put_text(context, folder, YK_SSP_DESCRIPTION, description);
    return text;
}

static void mistakes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        if (read_changed(&mistakes[i]))
            fail_msg("'%s' was not refused", mistakes[i].replace);
        const char *message = yk_last_message(context);
        if (!strstr(message, mistakes[i].message))
            fail_msg("'%s' does not say '%s'", message, mistakes[i].message);
    }
}

static void omissions_are_noted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof omissions / sizeof *omissions; i++) {
        char *text = read_changed(&omissions[i]);
        assert_non_null(text);
        if (!strstr(text, omissions[i].message))
            fail_msg("'%s' does not say '%s'", text, omissions[i].message);
        free(text);
    }
}

/* Archives that are none, or have no description, or leave their folder. */
static void broken_packages_are_refused(void **state)
{
    (void)state;
    char command[3000];
    snprintf(command, sizeof command,
             "cd '%s' && echo no archive > none.ssp && '%s' run none.ssp 2>&1 | grep -q 'cannot be "
             "opened as a ZIP archive' && '%s' check absent.ssp 2>&1 | grep -q 'No such file' && "
             "cp system/resources/mass.fmu empty.ssp && '%s' run empty.ssp 2>&1 | grep -q "
             "'SystemStructure.ssd'",
             test_folder(), YOKE_PROGRAM, YOKE_PROGRAM, YOKE_PROGRAM);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "cd '%s' && '%s' run none.ssp 2>/dev/null", test_folder(),
             YOKE_PROGRAM);
    assert_int_equal(WEXITSTATUS(system(command)), 2);
}

/* A scenario with an interface, a wire and values: written, read, the same bits. */
static const char coupled[] =
    "title: Held & \"sprung\"\n"
    "parameters: {held: 0.1}\n"
    "time: {end: 0.2, step: 1e-3}\n"
    "subsystems:\n"
    "  a: {solver: fmu, file: resources/mass.fmu, ports: {p: {position: x, velocity: v, "
    "acceleration: a, force: f}},\n"
    "      start_values: [{variable: m, value: 2}, {variable: x, value: held}]}\n"
    "  b: {solver: fmu, file: resources/spring.fmu, max_step: 5e-4, ports: {p: {position: end.x, "
    "velocity: end.v, force: end.f}},\n"
    "      start_values: [{variable: k, value: 50}, {variable: end.x, value: held}]}\n"
    "  c: {solver: fmu, file: resources/mass.fmu, ports: {u: {type: signal, variable: f}}}\n"
    "interfaces:\n  - {name: lock, between: [a.p, b.p], joint: fixed}\n"
    "wires:\n  drive: {from: a.p.velocity, to: c.u, gain: 3, offset: 0.5}\n"
    "coupling: {scheme: tight}\n"
    "record: {channels: [a.p.position, c.x, lock.force]}\n";

static void a_scenario_is_written_and_read(void **state)
{
    (void)state;
    yk_archive_put_text(context, folder, "coupled.yaml", coupled);
    char command[3000];
    snprintf(command, sizeof command,
             "cd '%s' && '%s' ssp export system/coupled.yaml -o coupled.ssp >/dev/null && "
             "'%s' run system/coupled.yaml --quiet -o c.csv && "
             "'%s' run coupled.ssp --quiet -o d.csv 2>/dev/null && cmp c.csv d.csv",
             test_folder(), YOKE_PROGRAM, YOKE_PROGRAM, YOKE_PROGRAM);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command,
             "cd '%s' && '%s' ssp export '%s/models/pendulum/scenario.yaml' -o no.ssp 2>&1 | grep "
             "-q \"subsystem 'mechanism' is no FMU\"",
             test_folder(), YOKE_PROGRAM, YOKE_SOURCE_DIR);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_system_is_the_scenario_by_hand),
        cmocka_unit_test(version_2_is_read),
        cmocka_unit_test(packages_run),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(omissions_are_noted),
        cmocka_unit_test(broken_packages_are_refused),
        cmocka_unit_test(a_scenario_is_written_and_read),
    };
    return cmocka_run_group_tests_name("systems of FMUs", tests, make_package, remove_package);
}
