/* Mechanisms with published or independently computed answers. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "math/so3.h"
#include "multibody/multibody.h"
#include "run.h"

static double angle_z(yk_quat q)
{
    return 2 * atan2(q.z, q.w);
}

/* log2 of the ratio of errors at steps h and h/2. */
static void assert_second_order(double coarse, double fine)
{
    double order = log2(fabs(coarse) / fabs(fine));
    if (order < 1.8 || order > 2.3)
        print_error("errors %.3g and %.3g: order %.2f\n", coarse, fine, order);
    assert_true(order >= 1.8 && order <= 2.3);
}

/* Pendulum: a point of 1 kg on a massless rod of 1 m, released horizontally. ------------------- */

static double pendulum_period(double h)
{
    run r;
    kit_open(&r.kit, 2);
    r.kit.def.name = "pendulum";
    r.kit.def.gravity = yk_v3(0, -9.81, 0);
    int bob = kit_node(&r.kit, "bob", yk_v3(1, 0, 0), yk_q_identity());
    kit_body(&r.kit, bob, 1, 0, 0, 0);
    kit_joint(&r.kit, YK_JOINT_REVOLUTE, "pin", YK_GROUND_INDEX, yk_marker_default(), bob,
              yk_marker_at(-1, 0, 0));
    run_start(&r, h);
    /* Twice the time between the passages through the lowest point, by the sign of x. */
    double passage[2];
    int count = 0;
    yk_motion last = run_motion(&r, bob);
    for (long i = 0; count < 2; i++) {
        assert_int_equal(yk_multibody_step(r.model, (double)i * h, h), YK_OK);
        yk_motion now = run_motion(&r, bob);
        if (last.position.x * now.position.x < 0)
            passage[count++] =
                ((double)i + last.position.x / (last.position.x - now.position.x)) * h;
        last = now;
    }
    run_stop(&r);
    return 2 * (passage[1] - passage[0]);
}

static void pendulum_has_the_exact_period(void **state)
{
    (void)state;
    double exact = 2.367841947576;
    double coarse = pendulum_period(2e-3) - exact, fine = pendulum_period(1e-3) - exact;
    assert_near(fine, 0, 1e-5);
    assert_second_order(coarse, fine);
}

/* Slider-crank --------------------------------------------------------------------------------- */

static const struct slider_row {
    double t, x, v, omega;
} slider_table[] = {{0.25, 0.2841627474501, 0.3591871034882, 16.12301577868},
                    {0.50, 0.1886173755993, -0.2867660389803, 13.25858290548},
                    {1.00, 0.2363628560001, -0.5841584649506, 11.14860840486},
                    {2.00, 0.2620462718080, 0.4220735747248, 9.563621736241}};

static void slider_crank_meets_the_table(void **state)
{
    (void)state;
    run r;
    kit_slider_crank(&r.kit);
    run_start(&r, 1e-4);
    assert_near(run_energy(&r), 0.7656984, 5e-8);
    for (size_t i = 0; i < sizeof slider_table / sizeof *slider_table; i++) {
        run_to(&r, slider_table[i].t);
        assert_near(run_motion(&r, 2).position.x, slider_table[i].x, 1e-6);
        assert_near(run_motion(&r, 2).velocity.x, slider_table[i].v, 5e-6);
        assert_near(run_motion(&r, 0).angular_velocity.x, slider_table[i].omega, 2e-4);
    }
    assert_near(run_energy(&r), 0.7656984, 5e-7);
    run_stop(&r);
}

static void slider_crank_is_of_second_order(void **state)
{
    (void)state;
    double x[2], v[2];
    for (int i = 0; i < 2; i++) {
        run r;
        kit_slider_crank(&r.kit);
        run_start(&r, i ? 5e-4 : 1e-3);
        run_to(&r, 0.5);
        x[i] = run_motion(&r, 2).position.x - slider_table[1].x;
        v[i] = run_motion(&r, 2).velocity.x - slider_table[1].v;
        run_stop(&r);
    }
    assert_second_order(x[0], x[1]);
    assert_second_order(v[0], v[1]);
}

/* Andrews' squeezer: nine redundant equations, as all its pins are revolute joints in space.
 * ---- */

static void squeezer_angles(double h, double angle[7])
{
    run r;
    kit_andrews(&r.kit);
    run_start(&r, h);
    yk_multibody_report report;
    yk_multibody_report_get(r.model, &report);
    assert_int_equal(report.redundant, 9);
    run_to(&r, 0.03);
    double of[7];
    for (int i = 0; i < 7; i++)
        of[i] = angle_z(run_motion(&r, i).orientation);
    double values[7] = {of[0], of[1] - of[0], of[2], of[3] - of[4], of[4], of[5] - of[6], of[6]};
    memcpy(angle, values, sizeof values);
    run_stop(&r);
}

static void squeezer_meets_the_test_set(void **state)
{
    (void)state;
    static const double exact[7] = {15.81077119629904,   -15.75637105984298, 0.04082224013073101,
                                    -0.5347301163226948, 0.5244099658805304, 0.5347301163226948,
                                    1.048080741042263};
    double coarse[7], fine[7];
    squeezer_angles(1.2e-5, coarse);
    squeezer_angles(2.5e-6, fine);
    for (int i = 0; i < 7; i++)
        assert_near(remainder(fine[i] - exact[i], 2 * YK_PI), 0, 1e-5);
    double rough = remainder(coarse[0] - exact[0], 2 * YK_PI),
           good = remainder(fine[0] - exact[0], 2 * YK_PI);
    double order = log(fabs(rough / good)) / log(1.2e-5 / 2.5e-6);
    assert_true(order > 1.8 && order < 2.3);
}

/* N-four-bar: passes through positions where it could change its mode. ------------------------- */

static yk_motion four_bars_end(double h)
{
    run r;
    kit_four_bars(&r.kit, 2);
    run_start(&r, h);
    run_to(&r, 10);
    yk_marker top = yk_marker_at(0.5, 0, 0);
    yk_motion b0;
    yk_multibody_marker_motion(r.model, 0, &top, &b0);
    run_stop(&r);
    return b0;
}

static void four_bars_follow_one_degree_of_freedom(void **state)
{
    (void)state;
    yk_motion b0 = four_bars_end(2.5e-4);
    assert_near(b0.position.x, 0.3284581115, 1e-5);
    assert_near(b0.position.y, 0.9445185382, 1e-5);
    assert_near(b0.velocity.x, 1.4230514702, 3e-5);
    assert_near(b0.velocity.y, -0.4948688455, 3e-5);
}

/* Near the pose with flat uprights, reactions grow without bound, inversely to the distance from it,
 * and what rounding and the compliance of redundant joints do to the motion grows with them: some
 * 1e-6 m remain below steps of 2e-4 s. */
static void four_bars_are_of_second_order(void **state)
{
    (void)state;
    yk_motion coarse = four_bars_end(1e-3), fine = four_bars_end(5e-4);
    assert_second_order(coarse.position.x - 0.3284581115, fine.position.x - 0.3284581115);
    assert_second_order(coarse.velocity.y + 0.4948688455, fine.velocity.y + 0.4948688455);
}

/* Any number of loops moves like one: with L = 1 bars and N loops, (N+1)/3 + N times phi'' = g
 * ((N+1)/2 + N) sin(phi).
 */
static double four_bar_angle(int loops, double end)
{
    double inertia = (loops + 1) / 3.0 + loops, moment = 9.81 * ((loops + 1) / 2.0 + loops);
    double phi = 0, rate = 1, h = 1e-4;
    for (long i = 0; i < lround(end / h); i++) { /* Runge-Kutta, exact to 1e-12 here */
        double k[4][2], a = moment / inertia;
        for (int s = 0; s < 4; s++) {
            double fraction = s == 0 ? 0 : s == 3 ? h : h / 2;
            double p = phi + (s ? fraction * k[s - 1][0] : 0),
                   w = rate + (s ? fraction * k[s - 1][1] : 0);
            k[s][0] = w, k[s][1] = a * sin(p);
        }
        phi += h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
        rate += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
    }
    return phi;
}

static void four_bars_of_any_number(void **state)
{
    (void)state;
    for (int loops = 1; loops <= 16; loops *= 4) {
        run r;
        kit_four_bars(&r.kit, loops);
        run_start(&r, 5e-4);
        yk_multibody_report report;
        yk_multibody_report_get(r.model, &report);
        assert_int_equal(report.redundant, 3 * loops);
        run_to(&r, 0.6);
        double phi = four_bar_angle(loops, 0.6);
        yk_marker top = yk_marker_at(0.5, 0, 0);
        yk_motion b;
        yk_multibody_marker_motion(r.model, loops, &top, &b);
        assert_near(b.position.x, loops + sin(phi), 2e-6);
        assert_near(b.position.y, cos(phi), 2e-6);
        run_stop(&r);
    }
}

/* Loops in a row, each on the ground, and each hanging from the last: three redundant equations per
 * loop are counted, however many there are. */
static void every_loop_is_counted(void **state)
{
    (void)state;
    void (*const kits[])(model_kit *, int) = {kit_four_bars, kit_separate_four_bars,
                                              kit_hanging_four_bars};
    for (int k = 0; k < 3; k++) {
        run r;
        kits[k](&r.kit, 300);
        run_start(&r, 5e-4);
        yk_multibody_report report;
        yk_multibody_report_get(r.model, &report);
        assert_int_equal(report.redundant, 900);
        run_stop(&r);
    }
}

/* The redundant equations of a long chain of loops are left out like those of a single loop. */
static void long_chains_leave_out_redundant_equations(void **state)
{
    (void)state;
    run r;
    kit_hanging_four_bars(&r.kit, 1000);
    run_start(&r, 5e-4);
    int left_out = 0;
    for (int row = 0; row < r.model->model.row_count; row++)
        left_out += r.model->work.dependent_row[row];
    assert_int_equal(left_out, 3000);
    assert_int_equal(r.model->state.clock->redundant, 0);
    run_stop(&r);
}

/* Processor time of a start in seconds, the smallest of three. */
static double start_time(void (*make_kit)(model_kit *, int), int loops)
{
    run r;
    make_kit(&r.kit, loops);
    run_create(&r);
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        clock_t began = clock();
        assert_int_equal(yk_multibody_start(r.model, 0, 5e-4), YK_REDUNDANT_CONSTRAINTS);
        least = fmin(least, (double)(clock() - began) / CLOCKS_PER_SEC);
    }
    run_stop(&r);
    return least;
}

/* Sixteen times as many loops take about sixteen times as long, not 256 times. */
static void a_start_takes_time_in_proportion_to_the_loops(void **state)
{
    (void)state;
    void (*const kits[])(model_kit *, int) = {kit_four_bars, kit_separate_four_bars,
                                              kit_hanging_four_bars};
    for (int k = 0; k < 3; k++) {
        double few = start_time(kits[k], 100);
        double many = start_time(kits[k], 1600);
        assert_true(many < 50 * few);
    }
}

/* A node that the start is to keep weighs much there: that hides no redundancy. */
static void kept_nodes_hide_no_redundancy(void **state)
{
    (void)state;
    for (int kept = 0; kept < 3; kept++) {
        run r;
        kit_four_bars(&r.kit, 1);
        r.kit.nodes[kept].keep_initial_pose = true;
        run_start(&r, 5e-4);
        yk_multibody_report report;
        yk_multibody_report_get(r.model, &report);
        assert_int_equal(report.redundant, 3);
        run_to(&r, 0.1);
        run_stop(&r);
    }
}

/* Bricard's mechanism -------------------------------------------------------------------------- */

static yk_vec3 bricard_corner(double h)
{
    run r;
    kit_bricard(&r.kit);
    run_create(&r);
    /* Redundancy is reported with the joints. */
    assert_int_equal(yk_multibody_start(r.model, 0, h), YK_REDUNDANT_CONSTRAINTS);
    assert_non_null(strstr(yk_last_message(r.context), "hinge4"));
    r.t = 0, r.h = h;
    run_to(&r, 1);
    yk_marker end = yk_marker_at(0, 0, 0.5);
    yk_motion corner;
    yk_multibody_marker_motion(r.model, 2, &end, &corner);
    run_stop(&r);
    return corner.position;
}

static void bricard_meets_the_reference(void **state)
{
    (void)state;
    yk_vec3 exact = {0.51050146119, -1.6491675994, 0.14012311455};
    yk_vec3 coarse = yk_v3_sub(bricard_corner(1e-3), exact),
            fine = yk_v3_sub(bricard_corner(5e-4), exact);
    assert_near(yk_v3_norm(fine), 0, 1e-5);
    assert_second_order(yk_v3_norm(coarse), yk_v3_norm(fine));
}

/* Reference curves of models, behind a comment and the names of the columns. ------------------- */

static FILE *open_reference(const char *model)
{
    char path[512], head[512];
    snprintf(path, sizeof path, "%s/models/%s/reference.csv", YOKE_SOURCE_DIR, model);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int i = 0; i < 2; i++)
        assert_non_null(fgets(head, sizeof head, file));
    return file;
}

static bool read_row(FILE *file, double *values, int count)
{
    char line[1024];
    if (!fgets(line, sizeof line, file))
        return false;
    char *at = line;
    for (int i = 0; i < count; i++) {
        values[i] = strtod(at, &at);
        if (*at == ',')
            at++;
    }
    return true;
}

static void double_pendulum_follows_the_curve(void **state)
{
    (void)state;
    FILE *file = open_reference("double-pendulum");
    run r;
    kit_double_pendulum(&r.kit);
    run_start(&r, 5e-4);
    double row[7];
    while (read_row(file, row, 7)) {
        run_to(&r, row[0]);
        yk_motion upper = run_motion(&r, 0), lower = run_motion(&r, 1);
        assert_near(upper.position.x, row[1], 2e-5);
        assert_near(lower.position.y, row[4], 2e-5);
        assert_near(upper.angular_velocity.z, row[5], 1e-4);
        assert_near(lower.angular_velocity.z, row[6], 1e-4);
    }
    assert_near(run_energy(&r), 0.3, 2e-5);
    fclose(file);
    run_stop(&r);
}

static void chain_follows_the_curve(void **state)
{
    (void)state;
    FILE *file = open_reference("chain");
    run r;
    kit_chain(&r.kit, 10, YK_JOINT_REVOLUTE);
    run_start(&r, 1e-4);
    double row[5];
    while (read_row(file, row, 5) && row[0] < 0.601) {
        run_to(&r, row[0]);
        yk_motion last = run_motion(&r, 9), first = run_motion(&r, 0);
        assert_near(last.position.x, row[1], 2e-5);
        assert_near(last.position.y, row[2], 2e-5);
        assert_near(first.position.y, row[4], 2e-5);
    }
    fclose(file);
    run_stop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_has_the_exact_period),
        cmocka_unit_test(slider_crank_meets_the_table),
        cmocka_unit_test(slider_crank_is_of_second_order),
        cmocka_unit_test(squeezer_meets_the_test_set),
        cmocka_unit_test(four_bars_follow_one_degree_of_freedom),
        cmocka_unit_test(four_bars_are_of_second_order),
        cmocka_unit_test(four_bars_of_any_number),
        cmocka_unit_test(every_loop_is_counted),
        cmocka_unit_test(long_chains_leave_out_redundant_equations),
        cmocka_unit_test(a_start_takes_time_in_proportion_to_the_loops),
        cmocka_unit_test(kept_nodes_hide_no_redundancy),
        cmocka_unit_test(bricard_meets_the_reference),
        cmocka_unit_test(double_pendulum_follows_the_curve),
        cmocka_unit_test(chain_follows_the_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
