/* FMUs in the suite that every subsystem passes. Kept states (FMI 3 here) have no image that could
 * be compared, so those FMUs are not among the cases. */
#include "conformance.h"

#include "fmus.h"
#include "interop/fmi/fmu.h"

static char *mass_file, *spring_file;

static yk_status create_mass(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    static const double mass = 2, stiffness = 300, position = 0.01;
    static const yk_fmu_setting settings[] = {
        {"m", &mass, 1, NULL}, {"k", &stiffness, 1, NULL}, {"x", &position, 1, NULL}};
    static const yk_fmu_port_def port = {.name = "mass",
                                         .kind = YK_PORT_SCALAR,
                                         .quantities = {[YK_FMU_POSITION] = {1, {"x"}},
                                                        [YK_FMU_VELOCITY] = {1, {"v"}},
                                                        [YK_FMU_ACCELERATION] = {1, {"a"}},
                                                        [YK_FMU_FORCE] = {1, {"f"}}}};
    yk_fmu_def def = yk_fmu_default();
    (void)user;
    def.file = mass_file;
    def.ports = &port;
    def.port_count = 1;
    def.settings = settings;
    def.setting_count = 3;
    return yk_fmu_create(context, &def, subsystem);
}

static yk_status create_spring(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    static const yk_fmu_port_def port = {.name = "end",
                                         .kind = YK_PORT_SCALAR,
                                         .quantities = {[YK_FMU_POSITION] = {1, {"end.x"}},
                                                        [YK_FMU_VELOCITY] = {1, {"end.v"}},
                                                        [YK_FMU_FORCE] = {1, {"end.f"}}}};
    yk_fmu_def def = yk_fmu_default();
    (void)user;
    def.file = spring_file;
    def.ports = &port;
    def.port_count = 1;
    return yk_fmu_create(context, &def, subsystem);
}

static const conformance_case cases[] = {
    /* Lines with the mean of the cubic: second order. */
    {"co-simulation, wrench", create_mass, NULL, .port = 0, .causality = YK_CAUSALITY_WRENCH_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 5, .frequency = 9, .step = 4e-3, .steps = 100,
     .order = 2, .energy_order = -1, .scale = 1},
    {"co-simulation, motion", create_spring, NULL, .port = 0,
     .causality = YK_CAUSALITY_MOTION_INPUT, .constrained = YK_AXIS_X, .amplitude = 0.02,
     .frequency = 9, .step = 4e-3, .steps = 100, .order = 0, .energy_order = -1, .scale = 1},
};

int main(void)
{
    yk_context *context = yk_context_create(NULL);
    mass_file = make_fmu(context, &(fmu_recipe){.name = "mass", MASS2});
    spring_file = make_fmu(context, &(fmu_recipe){.name = "spring", SPRING2});
    int failed = conformance_run(cases, sizeof cases / sizeof *cases);
    remove_test_folder();
    free(mass_file);
    free(spring_file);
    yk_context_destroy(context);
    return failed;
}
