/* A macro step of two FMUs in this process, a mass on a spring, compared with the same calls of
 * their functions alone: the difference is the cost of coupling FMUs. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "coupling/system_arrays.h"
#include "interop/fmi/fmu.h"
#include "interop/fmi/functions.h"

enum { STEPS = 1000 };
static const double STEP = 1e-4; /* s */

static void ignore(void *environment, const char *instance, yk_fmi_status status,
                   const char *category, const char *message, ...)
{
    (void)environment, (void)instance, (void)status, (void)category, (void)message;
}

/* One FMU by its bare functions. */
typedef struct bare {
    void *library, *component;
    yk_fmi2_callbacks callbacks;
    struct {
        YK_FMI2_LIST(YK_FMI_POINTER)
    } f;
} bare;

static bool open_bare(bench *run, const char *path, const char *guid, bare *b)
{
    *b = (bare){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!b->library) {
        bench_fail(run, "%s", dlerror());
        return false;
    }
#define FIND(who, type, name, arguments)               \
    {                                                  \
        void *found = dlsym(b->library, "fmi2" #name); \
        memcpy(&b->f.name, &found, sizeof found);      \
    }
    YK_FMI2_LIST(FIND)
#undef FIND
    b->callbacks = (yk_fmi2_callbacks){.logger = ignore, .allocate = calloc, .release = free};
    b->component = b->f.Instantiate("bare", YK_FMI2_CO_SIMULATION, guid, "", &b->callbacks, 0, 0);
    return b->component != NULL;
}

static void close_bare(bare *b)
{
    if (b->component)
        b->f.FreeInstance(b->component);
    if (b->library)
        dlclose(b->library);
}

/* References of the models: x, v, a, f of the mass; x, v, f of the spring. */
static void calls_alone(bench *run)
{
    static const uint32_t mass_out[] = {0, 1, 2}, mass_in[] = {3};
    static const uint32_t spring_out[] = {2}, spring_in[] = {0, 1};
    static const int order[] = {1};
    bare mass, spring = {0};
    bool good =
        open_bare(run, BENCH_FMUS "/mass/binaries/linux64/mass.so", "{mass}", &mass) &&
        open_bare(run, BENCH_FMUS "/spring/binaries/linux64/spring.so", "{spring}", &spring);
    while (good && bench_repeat(run)) {
        double motion[3] = {0.1, 0, 0}, force = 0;
        bench_start(run);
        for (int i = 0; i < STEPS; i++) {
            double t = i * STEP, rate = 0, applied;
            spring.f.SetReal(spring.component, spring_in, 2, motion);
            spring.f.DoStep(spring.component, t, STEP, 0);
            spring.f.GetReal(spring.component, spring_out, 1, &force);
            applied = -force;
            mass.f.SetReal(mass.component, mass_in, 1, &applied);
            mass.f.SetRealInputDerivatives(mass.component, mass_in, 1, order, &rate);
            mass.f.DoStep(mass.component, t, STEP, 0);
            mass.f.GetReal(mass.component, mass_out, 3, motion);
        }
        bench_stop(run, STEPS);
    }
    close_bare(&mass);
    close_bare(&spring);
}

static yk_status create(bench *run, const char *name, const yk_fmu_port_def *port,
                        yk_subsystem **subsystem)
{
    static const double offset = 0.1;
    char folder[1000];
    yk_fmu_setting setting = {strcmp(name, "mass") == 0 ? "x" : "end.x", &offset, 1, NULL};
    yk_fmu_def def = yk_fmu_default();
    snprintf(folder, sizeof folder, "%s/%s", BENCH_FMUS, name);
    def.file = name;
    def.folder = folder;
    def.name = name;
    def.ports = port;
    def.port_count = 1;
    def.settings = &setting;
    def.setting_count = 1;
    return yk_fmu_create(bench_context(run), &def, subsystem);
}

static void coupled(bench *run)
{
    static const yk_fmu_port_def mass_port = {.name = "p",
                                              .kind = YK_PORT_SCALAR,
                                              .quantities = {[YK_FMU_POSITION] = {1, {"x"}},
                                                             [YK_FMU_VELOCITY] = {1, {"v"}},
                                                             [YK_FMU_ACCELERATION] = {1, {"a"}},
                                                             [YK_FMU_FORCE] = {1, {"f"}}}};
    static const yk_fmu_port_def spring_port = {.name = "p",
                                                .kind = YK_PORT_SCALAR,
                                                .quantities = {[YK_FMU_POSITION] = {1, {"end.x"}},
                                                               [YK_FMU_VELOCITY] = {1, {"end.v"}},
                                                               [YK_FMU_FORCE] = {1, {"end.f"}}}};
    static const char *const names[] = {"mass", "spring"};
    yk_subsystem *parts[2] = {NULL, NULL};
    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    yk_explicit_options options = yk_explicit_options_default();
    options.exchange = YK_EXCHANGE_FORCE_MOTION;
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .scheme = {yk_scheme_explicit(), &options},
                                 .step = STEP};
    yk_system *system = NULL;
    bool good = bench_check(run, create(run, "mass", &mass_port, &parts[0])) &&
                bench_check(run, create(run, "spring", &spring_port, &parts[1])) &&
                bench_check(run, yk_system_make(bench_context(run), &def, &system));
    while (good && bench_repeat(run)) {
        good = bench_check(run, yk_system_initialize(system));
        bench_start(run);
        for (int i = 0; good && i < STEPS; i++)
            yk_system_step(system, NULL);
        bench_stop(run, STEPS);
    }
    if (system)
        yk_system_destroy(system);
    for (int i = 0; i < 2; i++)
        if (parts[i])
            parts[i]->ops->destroy(parts[i]);
}

const bench_case bench_fmu[] = {
    {"fmu/calls of two FMUs alone", "macro step", calls_alone, NULL, false},
    {"fmu/explicit coupling of two FMUs", "macro step", coupled, "fmu/calls of two FMUs alone",
     false},
    {0},
};
