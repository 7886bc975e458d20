/* Running a model of beams in a test. */
#ifndef YK_TESTS_BEAM_RUN_H
#define YK_TESTS_BEAM_RUN_H

#include "beam_model.h"
#include "test.h"

static inline yk_multibody *beam_model_create(yk_context *context, beam_model_def *m)
{
    yk_multibody *model;
    yk_status status = yk_multibody_make(context, &m->def, &model);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    return model;
}

static inline void beam_model_start(yk_context *context, yk_multibody *model, double h)
{
    yk_status status = yk_multibody_start(model, 0, h);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
}

#endif
