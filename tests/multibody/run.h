/* Runs a multibody model in a test. */
#ifndef YK_TESTS_MULTIBODY_RUN_H
#define YK_TESTS_MULTIBODY_RUN_H

#include "models.h"
#include "test.h"

typedef struct run {
    yk_context *context;
    model_kit kit;
    yk_multibody *model;
    double t, h;
} run;

static inline void run_create(run *r)
{
    r->context = yk_context_create(NULL);
    yk_status status = yk_multibody_make(r->context, kit_def(&r->kit), &r->model);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(r->context));
    assert_int_equal(status, YK_OK);
}

static inline void run_start(run *r, double h)
{
    run_create(r);
    r->t = 0;
    r->h = h;
    yk_status status = yk_multibody_start(r->model, 0, h);
    if (YK_FAILED(status))
        print_error("%s\n", yk_last_message(r->context));
    assert_true(!YK_FAILED(status));
}

/* Steps of the size given at the start, up to time `end`. */
static inline void run_to(run *r, double end)
{
    long first = lround(r->t / r->h), last = lround(end / r->h);
    for (long i = first; i < last; i++) {
        yk_status status = yk_multibody_step(r->model, (double)i * r->h, r->h);
        if (status != YK_OK)
            print_error("%s\n", yk_last_message(r->context));
        assert_int_equal(status, YK_OK);
    }
    r->t = end;
}

static inline void run_stop(run *r)
{
    yk_multibody_destroy(r->model);
    kit_close(&r->kit);
    yk_context_destroy(r->context);
}

static inline yk_motion run_motion(const run *r, int node)
{
    yk_motion motion;
    yk_multibody_motion(r->model, node, &motion);
    return motion;
}

static inline double run_energy(const run *r)
{
    yk_energy energy;
    yk_multibody_energy(r->model, &energy);
    return energy.kinetic + energy.potential + energy.dissipated - energy.work;
}

#endif
