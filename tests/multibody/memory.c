/* Every allocation of creation and start fails once: the error is reported and nothing leaks (the
 * sanitizers look). */
#include "failing_allocator.h"
#include "models.h"
#include "test.h"

static bool run_with(int allowed, void (*make)(model_kit *kit), int *live)
{
    budget f = {.fails = -1};
    yk_context *context = budget_context(&f);
    model_kit kit;
    make(&kit);
    long before = f.open;
    f.fails = f.made + allowed;
    yk_multibody *model = NULL;
    yk_status status = yk_multibody_make(context, kit_def(&kit), &model);
    if (status == YK_OK)
        status = yk_multibody_start(model, 0, 1e-3);
    if (!YK_FAILED(status))
        status = yk_multibody_step(model, 0, 1e-3);
    bool done = !YK_FAILED(status);
    if (!done)
        assert_int_equal(status, YK_ERROR_MEMORY);
    if (!done)
        assert_true(yk_last_message(context)[0]);
    yk_multibody_destroy(model);
    *live = (int)(f.open - before);
    yk_context_destroy(context);
    kit_close(&kit);
    return done;
}

static void check(void (*make)(model_kit *kit))
{
    bool done = false;
    for (int allowed = 0; !done; allowed++) {
        int live;
        done = run_with(allowed, make, &live);
        assert_int_equal(live, 0);
        assert_true(allowed < 1000);
    }
}

/* Flexible bodies are made first, and shared with the model. */
static bool run_flexible(int allowed, bool modal, int *live)
{
    budget f = {.fails = -1};
    yk_context *context = budget_context(&f);
    long before = f.open;
    f.fails = f.made + allowed;
    model_kit kit;
    yk_multibody *model = NULL;
    yk_status status = kit_flexible_slider_crank(&kit, context, modal);
    bool made = status == YK_OK;
    if (made)
        status = yk_multibody_make(context, kit_def(&kit), &model);
    if (status == YK_OK)
        status = yk_multibody_start(model, 0, 1e-4);
    if (!YK_FAILED(status))
        status = yk_multibody_step(model, 0, 1e-4);
    bool done = !YK_FAILED(status);
    if (!done)
        assert_int_equal(status, YK_ERROR_MEMORY);
    yk_multibody_destroy(model);
    if (made) {
        yk_flexible_release((yk_flexible *)(uintptr_t)kit.flexible.body);
        kit_close(&kit);
    }
    *live = (int)(f.open - before);
    yk_context_destroy(context);
    return done;
}

static void flexible_bodies_survive(void **state)
{
    (void)state;
    for (int modal = 0; modal < 2; modal++) {
        bool done = false;
        for (int allowed = 0; !done; allowed++) {
            int live;
            done = run_flexible(allowed, modal, &live);
            assert_int_equal(live, 0);
            assert_true(allowed < 1000);
        }
    }
}

static void slider_crank_survives(void **state)
{
    (void)state;
    check(kit_slider_crank);
}

/* With redundant joints, whose report takes memory too. */
static void squeezer_survives(void **state)
{
    (void)state;
    check(kit_andrews);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slider_crank_survives),
                                       cmocka_unit_test(squeezer_survives),
                                       cmocka_unit_test(flexible_bodies_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
