/* Long inputs made to hurt: deep nesting, many keys, expanding aliases, long chains of
 * parameters. Each must be answered within seconds, by messages or by a system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scenario_input.h"

enum { REPEATS = 400000 };
static const double SLOWEST_ALLOWED = 10; /* seconds of processor time, with sanitizers */

typedef struct pattern {
    const char *name, *head, *unit, *tail; /* the unit is repeated; %d in it is a running number */
    int repeats;
} pattern;

#define SCENARIO "time: {end: 1, step: 0.5}\nsubsystems: {a: {solver: oscillator, mass: 1}}\n"

static const pattern patterns[] = {
    {"dashes", "", "- ", "", REPEATS},
    {"brackets", "a: ", "[", "", REPEATS},
    {"sections", "", "{a: ", "", REPEATS},
    {"complex keys", "", "? ", "", REPEATS},
    {"equal keys", "", "a: x\n", "", REPEATS},
    {"unknown keys", SCENARIO, "k%d: 1\n", "", REPEATS / 4},
    {"anchors", "", "- &a x\n", "", REPEATS},
    {"list", "a:\n", "- x\n", "", REPEATS},
    {"merge", "a: &a {", "k%d: 1, ", "}\nb: {<<: *a}\n", REPEATS / 4},
    {"carriage returns", "", "\r", "", REPEATS},
    {"colons", "", ":", "", REPEATS},
    {"long text", "title: ", "x", "\n" SCENARIO, REPEATS},
    {"long word", SCENARIO "record: ", "x", "", REPEATS},
    {"open quote", "title: \"", "\\n", "", REPEATS},
    {"subsystems", "time: {end: 1, step: 1}\nsubsystems:\n",
     "  s%d: {solver: oscillator, mass: 1}\n", "", REPEATS / 4},
    {"parameters", SCENARIO "parameters:\n  p0: 1\n", "  q%d: p0\n", "", 999},
    {"signals", SCENARIO "record: {channels: [", "a.mass.position, ", "]}\n", REPEATS / 8},
    {"bad signals", SCENARIO "record: {channels: [", "a.mass.positon, ", "]}\n", REPEATS / 8},
    {"repetition",
     "time: {end: 1, step: 1}\nsubsystems: {'s{i}': {repeat: 900000, mass: '{i}', x: '", "{2*i+k} ",
     "'}}\n", 200},
    {"repeated text", "time: {end: 1, step: 1}\nsubsystems: {'s{i}': {repeat: 900000, mass: '{i}",
     "x", "'}}\n", REPEATS},
    {"brace groups", "time: {end: 1, step: 1}\nsubsystems: {'s{i}': {repeat: 9, mass: '", "{k}",
     "'}}\n", REPEATS},
    {"long expression", SCENARIO "parameters: {p: ", "1+", "1}\n", REPEATS},
    {"deep expression", SCENARIO "parameters: {p: ", "(", "1}\n", REPEATS},
};

/* Interfaces between a thousand subsystems. */
static char *make_wiring(size_t *length)
{
    char *text = malloc(200000);
    size_t used = (size_t)sprintf(text, "time: {end: 1, step: 1}\ncoupling: {}\nsubsystems:\n");
    for (int i = 0; i < 1000; i++)
        used += (size_t)sprintf(text + used, "  s%d: {solver: oscillator, mass: 1}\n", i);
    used += (size_t)sprintf(text + used, "interfaces:\n");
    for (int i = 0; i < 500; i++)
        used += (size_t)sprintf(text + used, "  i%d: {between: [s%d.mass, s%d.mass]}\n", i, 2 * i,
                                2 * i + 1);
    *length = used;
    return text;
}

static char *make_text(const pattern *p, size_t *length)
{
    char *text =
        malloc(strlen(p->head) + strlen(p->tail) + (strlen(p->unit) + 12) * (size_t)p->repeats + 1);
    size_t used = (size_t)sprintf(text, "%s", p->head);
    const char *number = strstr(p->unit, "%d");
    for (int i = 0; i < p->repeats; i++) {
        if (number)
            used += (size_t)sprintf(text + used, "%.*s%d%s", (int)(number - p->unit), p->unit, i,
                                    number + 2);
        else
            used += (size_t)sprintf(text + used, "%s", p->unit);
    }
    *length = used + (size_t)sprintf(text + used, "%s", p->tail);
    return text;
}

/* Returns whether it was quick enough. */
static int answer(const char *name, char *text, size_t length)
{
    clock_t start = clock();
    fuzz_scenario((const unsigned char *)text, length);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%-18s %8zu bytes %7.3f s\n", name, length, seconds);
    free(text);
    return seconds < SLOWEST_ALLOWED;
}

int main(void)
{
    int good = 1;
    size_t length;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char *text = make_text(&patterns[i], &length);
        good &= answer(patterns[i].name, text, length);
    }
    char *wiring = make_wiring(&length);
    good &= answer("wiring", wiring, length);
    return !good;
}
