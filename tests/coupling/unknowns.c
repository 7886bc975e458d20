/* The groups of interfaces whose unknowns are solved together: those that subsystems connect; each
 * interface belongs to one group. */
#include "coupling/interface_fixed_point.h"

#include "model/loading.h"

/* Two chains of three bodies and of two. */
static const char chains[] = "time: {end: 1, step: 1e-3}\n"
                             "subsystems:\n"
                             "  a: &body\n"
                             "    solver: multibody\n"
                             "    bodies: {bar: {mass: 1, inertia: [1, 1, 1]}}\n"
                             "    ports: {start: {body: bar}, end: {body: bar}}\n"
                             "  b: {<<: *body}\n"
                             "  c: {<<: *body}\n"
                             "  d: {<<: *body}\n"
                             "  e: {<<: *body}\n"
                             "interfaces:\n"
                             "  - {name: first, between: [a.end, b.start], joint: spherical}\n"
                             "  - {name: other, between: [d.end, e.start], joint: spherical}\n"
                             "  - {name: second, between: [b.end, c.start], joint: spherical}\n"
                             "coupling: {scheme: tight}\n";

static void chains_are_one_vector_each(void **state)
{
    (void)state;
    loading l = load_good(chains);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    yk_unknowns_def def = {.what = YK_UNKNOWNS_OF_JOINED, .tolerance = 1e-6};
    yk_unknowns *list = NULL;
    int count = 0;
    assert_int_equal(yk_unknowns_create(system, &def, &list, &count), YK_OK);
    assert_int_equal(count, 2);
    assert_int_equal(list[0].interface_count, 2);
    assert_int_equal(list[0].interfaces[0], 0);
    assert_int_equal(list[0].interfaces[1], 2);
    assert_int_equal(list[1].interface_count, 1);
    assert_int_equal(list[1].interfaces[0], 1);
    yk_unknowns_destroy(l.context, list, count);
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_one_vector_each),
    };
    return cmocka_run_group_tests_name("unknowns", tests, NULL, NULL);
}
