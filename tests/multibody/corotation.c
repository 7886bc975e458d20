/* Factors that are rotated with the bodies instead of being recomputed: how long they remain
 * usable, that the motion is the same as with exact factors, and that a rollback restores them. */
#include <stdlib.h>
#include <string.h>

#include "beam_model.h"
#include "context.h"
#include "models.h"
#include "test.h"

enum { STEPS = 500 };

typedef struct outcome {
    double factors; /* per step */
    yk_vec3 slider; /* at the end */
} outcome;

static void go(yk_multibody *model, int from, double h)
{
    for (int i = from; i < STEPS; i++)
        assert_int_equal(yk_multibody_step(model, i * h, h), YK_OK);
}

/* The second half runs twice, from a mark: the factors are those of a step long before it. */
static outcome run(yk_context *context, const yk_multibody_description *def, int slider, double h)
{
    yk_multibody *model = NULL;
    assert_int_equal(yk_multibody_make(context, def, &model), YK_OK);
    assert_true(!YK_FAILED(yk_multibody_start(model, 0, h)));
    yk_subsystem *s = yk_multibody_subsystem(model);
    size_t words = s->ops->rollback->layout(s).word_count;
    double *mark = malloc(3 * words * sizeof *mark), *first = mark + words, *again = first + words;
    for (int i = 0; i < STEPS / 2; i++)
        assert_int_equal(yk_multibody_step(model, i * h, h), YK_OK);
    s->ops->rollback->get(s, mark);
    go(model, STEPS / 2, h);
    s->ops->rollback->get(s, first);
    yk_multibody_report report;
    yk_motion motion;
    yk_multibody_report_get(model, &report);
    yk_multibody_motion(model, slider, &motion);
    s->ops->rollback->set(s, mark);
    go(model, STEPS / 2, h);
    s->ops->rollback->get(s, again);
    assert_memory_equal(first, again, words * sizeof *first);
    free(mark);
    yk_multibody_destroy(model);
    return (outcome){(double)report.factorisations / (double)report.steps, motion.position};
}

/* `most`: factorisations per step; without turning them it would be more than twice as many, in
 * absolute coordinates nine times. */
static void check(yk_context *context, yk_multibody_description *def, int slider, double h,
                  double most, double tolerance)
{
    outcome usual = run(context, def, slider, h);
    assert_true(usual.factors < most);
    def->options.newton_relative_tolerance = 1e-12, def->options.newton_absolute_tolerance = 1e-14;
    outcome exact = run(context, def, slider, h);
    assert_near(yk_v3_norm(yk_v3_sub(usual.slider, exact.slider)), 0, tolerance);
}

static void rod(yk_context *context, bool modal, double most)
{
    model_kit kit;
    assert_int_equal(kit_flexible_slider_crank(&kit, context, modal), YK_OK);
    kit_def(&kit);
    check(context, &kit.def, 1, 1e-4, most, 1e-8);
    yk_flexible_release((yk_flexible *)(uintptr_t)kit.flexible.body);
    kit_close(&kit);
}

static void modal_rod(void **state)
{
    rod(*state, true, 0.1);
}

static void ancf_rod(void **state)
{
    rod(*state, false, 0.04);
}

static void beams(void **state)
{
    int slider, crank, middle;
    beam_model_def *m = flexible_slider_crank(5, &slider, &crank, &middle);
    check(*state, &m->def, slider, 1e-3, 0.4, 1e-7);
}

/* Rigid links that are thinner than they are long by a factor of thirty, turning in space. */
static void slender_links(void **state)
{
    enum { LINKS = 5 };
    model_kit kit;
    kit_chain(&kit, LINKS, YK_JOINT_SPHERICAL);
    for (int i = 0; i < LINKS; i++) {
        kit.bodies[i].inertia = yk_m3_diagonal(1e-7, 8e-5, 8e-5);
        kit.nodes[i].angular_velocity = yk_v3(i == LINKS - 1 ? 20 : 0, 0, 2);
        kit.nodes[i].velocity = yk_v3(0, 0, -0.1 * i);
    }
    kit_def(&kit);
    check(*state, &kit.def, LINKS - 1, 1e-3, 0.7, 1e-7);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modal_rod),
        cmocka_unit_test(ancf_rod),
        cmocka_unit_test(beams),
        cmocka_unit_test(slender_links),
    };
    return cmocka_run_group_tests_name("multibody/corotation", tests, create_context,
                                       destroy_context);
}
