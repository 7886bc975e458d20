/* The scenarios of models/, as users run them, compared with the reference results in their
 * folders. The columns of a reference file are named after the signals that the scenario records;
 * other columns are ignored. */
#include <stdlib.h>
#include <string.h>

#include "system/scenario_run.h"
#include "test.h"
#include "yoke/scenario.h"

enum { COLUMNS_MAX = 32, LINE_MAX_LENGTH = 4096 };

typedef struct benchmark_case {
    const char *model;
    double tolerance; /* of positions (m) */
    double rates;     /* of velocities, absolute */
    double end;       /* compare up to this time; 0: all */
} benchmark_case;

static const benchmark_case cases[] = {
    {"pendulum", 4e-5, 0, 0},
    {"double-pendulum", 2e-5, 1e-4, 0},
    {"slider-crank", 1e-6, 2e-4, 0},
    {"squeezer", 1e-6, 0, 0},
    {"four-bars", 1e-5, 2e-5, 0},
    {"bricard", 1e-5, 0, 0},
    {"top", 2e-4, 0, 0},
    {"upright-top", 1e-7, 0, 0},
    {"rolling-wheel", 1e-5, 0, 0},
    {"chain", 2e-5, 0, 0},
    {"cantilever", 4e-5, 2e-2, 0.2},
    {"governor", 2e-5, 2e-4, 0},
    {"car", 2e-5, 9e-4, 0},
    {"rotating-cantilever", 1.35e-4, 0, 0.5},
    {"beam-circle", 1.5e-4, 0, 0},
    {"princeton-beam", 1e-6, 0, 0},
    {"flexible-slider-crank", 1e-6, 2e-2, 0.25},
    {"floating-slider-crank", 3e-6, 0, 0},
    {"ancf-slider-crank", 3e-6, 0, 0},
    {"spin-up", 2e-5, 0, 7.5},
    {"modal-cantilever", 6e-5, 0, 0},
    {"modal-spin-up", 2e-5, 0, 0},
    {"rolling-sphere", 0, 1e-7, 0},
    {"sliding-block", 1e-8, 0, 0},
    {"tipping-box", 0, 5e-4, 0},
    {"thrown-sphere", 1e-6, 1e-8, 0},
    {"oblique-impact", 0, 1e-9, 0},
    {"bouncing-ball", 1e-3, 0, 0},
    {"three-balls", 0, 1e-9, 0},
    {"newton-cradle", 1e-5, 0, 0},
    {"painleve-rod", 0, 2e-4, 0},
    {"rough-oscillator", 5e-4, 0, 0},
    {"box-stack", 1e-5, 0, 0},
    {"cylinder-pile", 1e-5, 0, 0},
    {"heap", 2e-3, 0, 0},
    {"hopper", 2e-2, 0, 0},
    {"particle-damper", 9e-5, 0, 0},
    {"gripper", 1e-4, 2e-3, 0},
};

/* Place in the sample of "signal" or "signal.x"; -1 if it is not recorded. */
static int place_of(const run *r, const char *column)
{
    int offset = 0;
    for (int i = 0; i < r->info->channel_count; i++) {
        const yk_channel *channel = &r->info->channels[i];
        size_t length = strlen(channel->name);
        if (strncmp(column, channel->name, length) == 0) {
            if (!column[length])
                return offset;
            if (column[length] == '.' && column[length + 1] && !column[length + 2])
                return offset + (column[length + 1] - 'x');
        }
        offset += channel->component_count;
    }
    return -1;
}

static int read_header(const run *r, char *line, int place[COLUMNS_MAX], bool rate[COLUMNS_MAX])
{
    int count = 0;
    for (char *name = strtok(line, ",\n"); name && count < COLUMNS_MAX;
         name = strtok(NULL, ",\n")) {
        place[count] = count ? place_of(r, name) : -1;
        rate[count++] = strstr(name, "velocity") != NULL;
    }
    return count;
}

static int compare_row(run *r, const benchmark_case *c, char *line, int columns, const int *place,
                       const bool *rate)
{
    int compared = 0;
    char *at = line;
    double t = strtod(at, &at);
    if (c->end > 0 && t > c->end)
        return 0;
    run_to(r, t - 0.5 * r->info->step);
    for (int i = 1; i < columns; i++) {
        double expected = strtod(at + 1, &at);
        if (place[i] < 0)
            continue;
        assert_near(r->sample[place[i]], expected, rate[i] ? c->rates : c->tolerance);
        compared++;
    }
    return compared;
}

static void model_meets_its_reference(void **state)
{
    const benchmark_case *c = *state;
    run r = open_text(model_file(c->model), NULL, NULL);
    char path[512], line[LINE_MAX_LENGTH];
    snprintf(path, sizeof path, "%s/models/%s/reference.csv", YOKE_SOURCE_DIR, c->model);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int place[COLUMNS_MAX], columns = 0, compared = 0;
    bool rate[COLUMNS_MAX];
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        if (!columns) {
            columns = read_header(&r, line, place, rate);
        } else {
            compared += compare_row(&r, c, line, columns, place, rate);
        }
    }
    fclose(file);
    assert_true(compared > 0);
    close_run(&r);
}

/* Forces of single steps are impacts, up to twice the weight; their mean is the weight of the beads,
 * apart from the momentum that the beads gain: 0.4 kg, less than 0.1 m/s, in 2 s. */
static void drum_bears_its_beads(void **state)
{
    (void)state;
    run r = open_text(model_file("drum"), NULL, NULL);
    int force = place_of(&r, "world.drum.force.y");
    assert_true(force >= 0);

    double sum = 0;
    int steps = 0;
    run_to(&r, 1 - 0.5 * r.info->step);
    while (yk_system_time(r.system) < 3 - 0.5 * r.info->step) {
        step(&r);
        sum += r.sample[force];
        steps++;
    }
    assert_near(sum / steps, 3.6818461, 0.02);
    close_run(&r);
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 1] = {[COUNT] = cmocka_unit_test(drum_bears_its_beads)};
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].model,
                                       .test_func = model_meets_its_reference,
                                       .initial_state = (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
