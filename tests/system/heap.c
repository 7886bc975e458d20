/* Failing memory allocations during loading, starting and the first steps of a model: every request
 * of the program to the C library fails once, including the requests of the libraries it uses. Each
 * failure is either reported or recovered from; no failure crashes the program or changes a result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

#if !SANITIZED
static long requests;   /* so far */
static long fails = -1; /* the number of the one that is refused */

static bool refused(void)
{
    if (requests++ != fails)
        return false;

    errno = ENOMEM;
    return true;
}

void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes)
{
    return refused() ? NULL : __libc_malloc(bytes);
}

void *__libc_calloc(size_t count, size_t bytes);
void *calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __libc_calloc(count, bytes);
}

void *__libc_realloc(void *block, size_t bytes);
void *realloc(void *block, size_t bytes)
{
    return refused() ? NULL : __libc_realloc(block, bytes);
}

void *__libc_memalign(size_t alignment, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refused() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    void *found = refused() ? NULL : __libc_memalign(alignment, bytes);
    if (!found)
        return ENOMEM;

    *block = found;
    return 0;
}

/* Models with expressions of parameters, of time and of signals, for several solvers. */
static const char *const models[] = {"servo-cylinder", "controlled-arm", "split-pendulum",
                                     "slider-crank", "box-stack"};

enum { STEPS = 3 };

typedef struct outcome {
    yk_status status;
    uint64_t hash;
    long requests;
} outcome;

static outcome run(const char *model, long number)
{
    outcome end = {.status = YK_ERROR_MEMORY};
    requests = 0;
    fails = number;

    yk_context *context = yk_context_create(NULL);
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_system *system = NULL;
    if (context)
        end.status = yk_diagnostics_create(context, &diagnostics);
    yk_scenario_def def = describe_scenario(model_file(model), NULL, NULL);
    if (context && end.status == YK_OK)
        end.status = yk_scenario_load(context, &def, diagnostics, &scenario);
    if (end.status == YK_OK)
        end.status = yk_scenario_system(scenario, &system);
    if (end.status == YK_OK)
        end.status = yk_system_initialize(system);
    for (int i = 0; i < STEPS && system && !YK_FAILED(end.status); i++)
        end.status = yk_system_step(system, NULL);
    if (!YK_FAILED(end.status))
        end.status = yk_system_state_hash(system, &end.hash);

    /* A file that cannot be opened says why. */
    if (end.status == YK_ERROR_INPUT && strstr(yk_last_message(context), strerror(ENOMEM)))
        end.status = YK_ERROR_MEMORY;
    if (YK_FAILED(end.status) && end.status != YK_ERROR_MEMORY)
        print_error("%s\n", yk_last_message(context));

    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    fails = -1;
    end.requests = requests;
    return end;
}

static void every_request_may_fail(void **state)
{
    /* Libraries allocate their permanent memory before the counting starts. */
    const char *model = *state;
    run(model, -1);
    outcome whole = run(model, -1);
    assert_false(YK_FAILED(whole.status));
    assert_true(whole.requests > 100);

    for (long number = 0; number < whole.requests; number++) {
        outcome end = run(model, number);
        bool good = !YK_FAILED(end.status) && end.hash == whole.hash;
        if (!good && end.status != YK_ERROR_MEMORY)
            print_error("%s: request %ld of %ld fails, status %d\n", model, number, whole.requests,
                        end.status);
        assert_true(good || end.status == YK_ERROR_MEMORY);
    }
}
#endif

int main(void)
{
#if SANITIZED
    puts("skipped: sanitizers bring an allocator of their own");
    return 77;
#else
    enum { COUNT = sizeof models / sizeof *models };
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){models[i], every_request_may_fail, NULL, NULL,
                                       (void *)(uintptr_t)models[i]};
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
#endif
}
