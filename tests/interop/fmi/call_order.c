/* Exported FMUs called in every order, and with arguments that make no sense: a call that the
 * standard does not allow is an error, and leaves the instance as it was. */
#include <math.h>

#include "exported.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/fmu_internal.h"

/* A mass that is moved, with a parameter; references as the export counts them. */
static const char *const scenario =
    "parameters: {m: 2, twice: 2*m}\n"
    "time: {end: 1, step: 1e-2}\n"
    "subsystems:\n"
    "  left: {solver: oscillator, mass: 1, velocity: 1}\n"
    "  right: {solver: oscillator, mass: twice/2}\n"
    "interfaces: {joint: {between: [left.mass, right.mass], joint: fixed}}\n"
    "coupling: {scheme: tight}\n";

typedef struct fmu {
    yk_context *context;
    char *folder;
    yk_fmi_description description;
    yk_fmi_instance *instance;
    uint32_t parameter, input, output;
} fmu;

static uint32_t reference_of(const fmu *f, const char *name)
{
    int index = yk_fmi_find(&f->description, name);
    assert_true(index >= 0);
    return f->description.variables[index].reference;
}

static fmu open_fmu(int version)
{
    char path[400], file[600];
    snprintf(path, sizeof path, "%s/moved.yaml", folder);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(scenario, stream);
    assert_int_equal(fclose(stream), 0);
    export_file(path, "right", false, version, "moved");
    fmu f = {.context = yk_context_create(NULL)};
    snprintf(file, sizeof file, "%s/moved.fmu", folder);
    assert_int_equal(yk_archive_unpack(f.context, file, &f.folder), YK_OK);
    assert_int_equal(yk_fmi_describe(f.context, f.folder, "moved.fmu", &f.description), YK_OK);
    f.parameter = reference_of(&f, "parameters.m");
    f.input = reference_of(&f, "mass.velocity");
    f.output = reference_of(&f, "mass.force");
    return f;
}

static void close_fmu(fmu *f)
{
    yk_fmi_forget(f->context, &f->description);
    yk_archive_remove(f->context, f->folder);
    yk_context_destroy(f->context);
}

/* The standard's calls of both versions under one name each. */
typedef enum call {
    SET_UP,
    ENTER,
    EXIT,
    STEP,
    TERMINATE,
    RESET,
    GET_OUTPUT,
    SET_INPUT,
    SET_PARAMETER,
    SET_RATE,
    GET_STATE,
    CALLS
} call;

static const char *const call_names[CALLS] = {"SetupExperiment",
                                              "EnterInitializationMode",
                                              "ExitInitializationMode",
                                              "DoStep",
                                              "Terminate",
                                              "Reset",
                                              "get an output",
                                              "set an input",
                                              "set a parameter",
                                              "set a rate",
                                              "get the state"};

static bool step_by(fmu *f, double t, double h)
{
    void *c = f->instance->component;
    bool event, terminate, early;
    double last;
    if (f->description.version == 2)
        return f->instance->functions.two.DoStep(c, t, h, 1) == YK_FMI_OK;
    return f->instance->functions.three.DoStep(c, t, h, true, &event, &terminate, &early, &last) ==
           YK_FMI_OK;
}

static bool set_value(fmu *f, uint32_t reference, double value)
{
    void *c = f->instance->component;
    if (f->description.version == 2)
        return f->instance->functions.two.SetReal(c, &reference, 1, &value) == YK_FMI_OK;
    return f->instance->functions.three.SetFloat64(c, &reference, 1, &value, 1) == YK_FMI_OK;
}

static bool enter_at(fmu *f, double start, bool has_stop, double stop)
{
    void *c = f->instance->component;
    if (f->description.version == 2)
        return f->instance->functions.two.SetupExperiment(c, 0, 0, start, has_stop, stop) ==
                   YK_FMI_OK &&
               f->instance->functions.two.EnterInitializationMode(c) == YK_FMI_OK;
    return f->instance->functions.three.EnterInitializationMode(c, false, 0, start, has_stop,
                                                                stop) == YK_FMI_OK;
}

static double output_of(fmu *f)
{
    double value = NAN;
    assert_int_equal(f->instance->calls->get(f->instance, YK_FMI_FLOAT64, &f->output, 1, &value, 1),
                     YK_OK);
    return value;
}

/* Whether a call succeeds. */
static bool make_call(fmu *f, call what)
{
    yk_fmi_instance *i = f->instance;
    void *c = i->component;
    bool two = f->description.version == 2;
    double value;
    const int order = 1;
    const double rate = 1;
    void *state = NULL;
    bool good = false;
    switch (what) {
    case SET_UP: return i->functions.two.SetupExperiment(c, 0, 0, 0, 0, 0) == YK_FMI_OK;
    case ENTER:
        if (two)
            return i->functions.two.EnterInitializationMode(c) == YK_FMI_OK;
        return enter_at(f, 0, false, 0);
    case EXIT: return i->calls->initialise(i) == YK_OK;
    case STEP: return step_by(f, 0, 1e-2);
    case TERMINATE:
        return (two ? i->functions.two.Terminate(c) : i->functions.three.Terminate(c)) == YK_FMI_OK;
    case RESET: return i->calls->reset(i) == YK_OK;
    case GET_OUTPUT: return i->calls->get(i, YK_FMI_FLOAT64, &f->output, 1, &value, 1) == YK_OK;
    case SET_INPUT: return set_value(f, f->input, 0.5);
    case SET_PARAMETER: return set_value(f, f->parameter, 3);
    case SET_RATE: return i->calls->input_rates(i, &f->input, 1, &order, &rate) == YK_OK;
    case GET_STATE:
        good = i->calls->state_get(i, &state) == YK_OK;
        i->calls->state_free(i, &state);
        return good;
    default: return false;
    }
}

static void start_instance(fmu *f)
{
    assert_int_equal(yk_fmi_load(f->context, &f->description, false, "moved.fmu", f->folder,
                                 "moved", &f->instance),
                     YK_OK);
    assert_int_equal(f->instance->calls->instantiate(f->instance), YK_OK);
}

/* Modes, each reached by the calls up to it. */
enum { INSTANTIATED = 1, INITIALISATION = 2, STEPPING = 4, TERMINATED = 8, ALWAYS = 15 };

/* By version: the modes in which a call is allowed (FMI 2.0.4, 4.2.4; FMI 3.0.1, 4.2). */
static const struct {
    call what;
    int allowed[2];
} rows[] = {
    {SET_UP, {INSTANTIATED, 0}},
    {ENTER, {INSTANTIATED, INSTANTIATED}},
    {EXIT, {INITIALISATION, INITIALISATION}},
    {STEP, {STEPPING, STEPPING}},
    {TERMINATE, {STEPPING, STEPPING}},
    {RESET, {ALWAYS, ALWAYS}},
    {GET_OUTPUT, {INITIALISATION | STEPPING | TERMINATED, ALWAYS}},
    {SET_INPUT, {ALWAYS & ~TERMINATED, ALWAYS & ~TERMINATED}},
    {SET_PARAMETER, {INSTANTIATED | INITIALISATION, INSTANTIATED | INITIALISATION}},
    {SET_RATE, {ALWAYS & ~TERMINATED, 0}},
    {GET_STATE, {ALWAYS, ALWAYS}},
};

static void calls_are_allowed_by_mode(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f = open_fmu(version);
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
            for (int mode = INSTANTIATED; mode <= TERMINATED; mode *= 2) {
                if (version == 3 && rows[row].what == SET_UP)
                    continue;
                start_instance(&f);
                if (mode >= INITIALISATION)
                    assert_true(enter_at(&f, 0, false, 0));
                if (mode >= STEPPING)
                    assert_true(make_call(&f, EXIT));
                if (mode == TERMINATED)
                    assert_true(make_call(&f, TERMINATE));
                bool allowed = rows[row].allowed[version - 2] & mode;
                if (make_call(&f, rows[row].what) != allowed)
                    fail_msg("FMI %d, mode %d: %s", version, mode, call_names[rows[row].what]);
                yk_fmi_unload(f.instance);
            }
        }
        close_fmu(&f);
    }
}

/* Steps that make no sense are refused, and the next one that does is made as if nothing had been. */
static void wrong_steps_change_nothing(void **state)
{
    (void)state;
    static const double wrong[][2] = {
        {NAN, 1e-2}, {0.01, NAN}, {0.01, -1e-2}, {0.01, 0},     {0.01, INFINITY},
        {0.5, 1e-2}, {0, 1e-2},   {0.02, 1e-2},  {0.01, 0.995},
    };
    for (int version = 2; version <= 3; version++) {
        fmu f = open_fmu(version);
        double force[2];
        for (int pass = 0; pass < 2; pass++) {
            start_instance(&f);
            assert_true(enter_at(&f, 0, true, 1));
            assert_true(make_call(&f, EXIT));
            assert_true(step_by(&f, 0, 1e-2));
            for (size_t i = 0; pass == 1 && i < sizeof wrong / sizeof *wrong; i++)
                if (step_by(&f, wrong[i][0], wrong[i][1]))
                    fail_msg("FMI %d accepts a step from %g s by %g s", version, wrong[i][0],
                             wrong[i][1]);
            if (pass == 1) {
                assert_false(set_value(&f, f.input, NAN));
                assert_false(set_value(&f, f.input, INFINITY));
                assert_false(set_value(&f, f.parameter, 3));
                assert_false(set_value(&f, f.output, 1));
                assert_false(set_value(&f, 12345, 1));
            }
            assert_true(set_value(&f, f.input, 0.25));
            assert_true(step_by(&f, 1e-2, 1e-2));
            force[pass] = output_of(&f);
            yk_fmi_unload(f.instance);
        }
        assert_true(isfinite(force[0]));
        assert_true(force[0] == force[1]);
        close_fmu(&f);
    }
}

/* Parameters hold whether they are set before or in initialization mode, and others that depend on
 * them follow. */
static void parameters_hold_in_initialization_mode(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f = open_fmu(version);
        double force[3];
        for (int pass = 0; pass < 3; pass++) {
            start_instance(&f);
            if (pass == 1)
                assert_true(set_value(&f, f.parameter, 6));
            assert_true(set_value(&f, f.input, 0));
            assert_true(enter_at(&f, 0, false, 0));
            if (pass == 2)
                assert_true(set_value(&f, f.parameter, 6));
            assert_true(make_call(&f, EXIT));
            assert_true(set_value(&f, f.input, 0.1));
            assert_true(step_by(&f, 0, 1e-2));
            force[pass] = output_of(&f);
            yk_fmi_unload(f.instance);
        }
        assert_true(force[1] == force[2]);
        assert_near(force[1], 3 * force[0], 1e-9 * fabs(force[1]));
        close_fmu(&f);
    }
}

/* Bytes that are no state, a damaged state, and one of other parameters are refused. */
static void states_are_checked(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f = open_fmu(version);
        start_instance(&f);
        yk_fmi_instance *i = f.instance;
        const yk_fmi_calls *calls = i->calls;
        assert_true(enter_at(&f, 0, false, 0));
        assert_true(make_call(&f, EXIT));
        assert_true(step_by(&f, 0, 1e-2));
        void *saved = NULL, *read = NULL;
        size_t size;
        assert_int_equal(calls->state_get(i, &saved), YK_OK);
        assert_int_equal(calls->state_size(i, saved, &size), YK_OK);
        unsigned char *bytes = calloc(1, size), *zeros = calloc(1, size);
        assert_int_equal(calls->serialise(i, saved, bytes, size), YK_OK);

        assert_true(YK_FAILED(calls->deserialise(i, zeros, size, &read)));
        assert_true(YK_FAILED(calls->state_set(i, zeros)));
        for (size_t at = 0; at < size; at++) {
            bytes[at] ^= 16;
            if (!YK_FAILED(calls->deserialise(i, bytes, size, &read)))
                fail_msg("FMI %d accepts a state with byte %zu damaged", version, at);
            bytes[at] ^= 16;
        }
        assert_true(YK_FAILED(calls->deserialise(i, bytes, size - 1, &read)));
        assert_int_equal(calls->deserialise(i, bytes, size, &read), YK_OK);

        /* The instance continues from where it was, and from the state. */
        assert_true(step_by(&f, 1e-2, 1e-2));
        assert_int_equal(calls->state_set(i, read), YK_OK);
        assert_true(step_by(&f, 1e-2, 1e-2));
        calls->state_free(i, &saved);
        calls->state_free(i, &read);
        yk_fmi_unload(i);

        start_instance(&f);
        i = f.instance;
        assert_true(set_value(&f, f.parameter, 6));
        assert_true(enter_at(&f, 0, false, 0));
        assert_true(make_call(&f, EXIT));
        assert_int_equal(calls->deserialise(i, bytes, size, &read), YK_OK);
        assert_true(YK_FAILED(calls->state_set(i, read)));
        assert_non_null(strstr(i->message, "other parameters"));
        calls->state_free(i, &read);
        yk_fmi_unload(i);
        free(bytes);
        free(zeros);
        close_fmu(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_allowed_by_mode),
        cmocka_unit_test(wrong_steps_change_nothing),
        cmocka_unit_test(parameters_hold_in_initialization_mode),
        cmocka_unit_test(states_are_checked),
    };
    return cmocka_run_group_tests_name("call order", tests, make_folder, remove_folder);
}
