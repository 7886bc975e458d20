/* How often a scenario wants checkpoints: "500 steps", "0.5 s", "10 min wall". */
#include <math.h>
#include <string.h>

#include "model/scenario.h"

static const struct {
    const char *word;
    double seconds;
} units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};

/* False: the text is none of them. */
static bool read_distance(const char *text, yk_checkpoint_unit *unit, double *every)
{
    /* A number and one or two words. */
    char words[3][32] = {"", "", ""};
    for (int i = 0; i < 3; i++) {
        text += strspn(text, " ");
        size_t length = strcspn(text, " ");
        if (length >= sizeof words[i])
            return false;
        memcpy(words[i], text, length);
        words[i][length] = '\0';
        text += length;
    }

    double number;
    const char *word = words[1];
    bool wall = strcmp(words[2], "wall") == 0;
    if (text[strspn(text, " ")] != '\0' || (*words[2] && !wall))
        return false;
    if (!yk_number_read(words[0], &number) || !isfinite(number) || !(number > 0))
        return false;

    if (strcmp(word, "steps") == 0 || strcmp(word, "step") == 0) {
        *unit = YK_CHECKPOINT_STEPS;
        *every = number;
        return number == floor(number) && number < 1e15 && !wall;
    }

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(word, units[i].word) != 0)
            continue;

        *unit = wall ? YK_CHECKPOINT_CLOCK : YK_CHECKPOINT_TIME;
        *every = number * units[i].seconds;
        return true;
    }

    return false;
}

void yk_scenario_read_checkpoint(yk_scenario *scenario)
{
    yk_scenario_info *info = &scenario->info;
    const yk_node *section = yk_node_get(scenario->root, "checkpoint");
    if (!section || section->kind != YK_NODE_MAP || !section->valid)
        return;

    const yk_node *every = yk_node_get(section, "every");
    if (!read_distance(every->text, &info->checkpoint_unit, &info->checkpoint_every)) {
        info->checkpoint_unit = YK_CHECKPOINT_NEVER;
        yk_node_error(scenario->resolver.diagnostics, every,
                      "'%.60s' does not say how often: write a number with a unit, `500 steps`, "
                      "`0.5 s` of simulated time, or `10 min wall`",
                      every->text);
        return;
    }

    if (yk_node_get(section, "file"))
        info->checkpoint_file =
            yk_builder_output(&scenario->builder, yk_node_text(section, "file"));
}
