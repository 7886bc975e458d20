/* solver: blocks */
#include <string.h>

#include "model/expression.h"
#include "model/registry.h"
#include "physics/blocks.h"

#define OF(member) YK_MEMBER(yk_block_def, member)
#define INPUT                                                                                \
    {                                                                                        \
        "input", YK_OPTION_TEXT,                                                             \
            .required = true,                                                                \
            .description = "expression of the inputs, the blocks, the time `t`, parameters " \
                           "and tables"                                                      \
    }
#define LIMITS(text)                                                             \
    {                                                                            \
        "limits", YK_OPTION_NUMBERS, .min_count = 2, .max_count = 2, OF(limits), \
                                     .description = text                         \
    }
#define INITIAL(text)                                                            \
    {                                                                            \
        "initial", YK_OPTION_NUMBER, NULL, "0", OF(initial), .description = text \
    }
#define TIME(key, text)                                                               \
    {                                                                                 \
        key, YK_OPTION_NUMBER, "s", .required = true, .range = YK_POSITIVE, OF(time), \
                                    .description = text                               \
    }

static const yk_option expression_fields[] = {
    {"value", YK_OPTION_TEXT, .required = true,
     .description = "expression of the inputs, the blocks, the time `t`, parameters and tables: "
                    "gains, sums, products, logic, tables"},
    {0}};
static const yk_option integrator_fields[] = {
    INPUT,
    INITIAL("value at the start"),
    LIMITS("least and largest value; the integral stops there"),
    {0}};
static const yk_option derivative_fields[] = {
    INPUT, TIME("filter", "time constant that smooths the derivative"), {0}};
static const yk_option transfer_fields[] = {
    INPUT,
    {"numerator", YK_OPTION_NUMBERS, .required = true, .min_count = 1,
     .max_count = YK_BLOCK_ORDER_MAX + 1,
     .description = "coefficients of the powers of s, the highest first"},
    {"denominator", YK_OPTION_NUMBERS, .required = true, .min_count = 2,
     .max_count = YK_BLOCK_ORDER_MAX + 1,
     .description = "coefficients in the same order; at least of the degree of the numerator"},
    {0}};
static const yk_option space_fields[] = {
    INPUT,
    {"a", YK_OPTION_NUMBERS, .required = true, .min_count = 1,
     .max_count = YK_BLOCK_ORDER_MAX * YK_BLOCK_ORDER_MAX,
     .description = "matrix of x' = a x + b u, by rows"},
    {"b", YK_OPTION_NUMBERS, .required = true, .min_count = 1, .max_count = YK_BLOCK_ORDER_MAX,
     .description = "column of the input"},
    {"c", YK_OPTION_NUMBERS, .required = true, .min_count = 1, .max_count = YK_BLOCK_ORDER_MAX,
     .description = "row of the output y = c x + d u"},
    {"d", YK_OPTION_NUMBER, NULL, "0", OF(d), .description = "direct part"},
    {0}};
static const yk_option saturation_fields[] = {INPUT,
                                              {"limits", YK_OPTION_NUMBERS, .required = true,
                                               .min_count = 2, .max_count = 2, OF(limits),
                                               .description = "least and largest value"},
                                              {0}};
static const yk_option zone_fields[] = {
    INPUT,
    {"limits", YK_OPTION_NUMBERS, .required = true, .min_count = 2, .max_count = 2, OF(limits),
     .description = "between them the output is 0, outside it is the distance from them"},
    {0}};
static const yk_option rate_fields[] = {INPUT,
                                        {"rates", YK_OPTION_NUMBERS, "1/s", .required = true,
                                         .min_count = 2, .max_count = 2, OF(limits),
                                         .description = "fastest fall (negative) and rise"},
                                        {0}};
static const yk_option delay_fields[] = {INPUT, TIME("time", "by which the signal is late"), {0}};
static const yk_option sample_fields[] = {
    INPUT,
    TIME("period", "between samples"),
    {"offset", YK_OPTION_NUMBER, "s", "0", OF(offset), .range = YK_NOT_NEGATIVE,
     .description = "time of the first sample after the start"},
    INITIAL("value before the first sample"),
    {0}};
static const yk_option relay_fields[] = {
    INPUT,
    {"levels", YK_OPTION_NUMBERS, .required = true, .min_count = 2, .max_count = 2, OF(levels),
     .description = "it switches off at or below the first, on at or above the second"},
    {"values", YK_OPTION_NUMBERS, NULL, "[0, 1]", .min_count = 2, .max_count = 2, OF(values),
     .description = "the output when it is off and on"},
    {0}};
static const yk_option state_item = {"states", YK_OPTION_TEXT, .description = "a name"};
static const yk_option transition_fields[] = {
    {"from", YK_OPTION_TEXT, .required = true, .description = "a state"},
    {"to", YK_OPTION_TEXT, .required = true, .description = "the next state"},
    {"when", YK_OPTION_TEXT, .required = true,
     .description = "expression that is not 0 when the transition takes place; `duration` is the "
                    "time since the state was entered"},
    {0}};
static const yk_option_section transition_section = {"transition", "A change of the state.",
                                                     transition_fields};
static const yk_option transition_item = {"transitions", YK_OPTION_SECTION,
                                          .section = &transition_section, .description = ""};
static const yk_option machine_fields[] = {
    {"states", YK_OPTION_LIST, .required = true, .min_count = 1, .item = &state_item,
     .description = "names; the output is the number of the present one, from 0"},
    {"initial_state", YK_OPTION_TEXT, .description = "state at the start; default: the first"},
    {"transitions", YK_OPTION_LIST, .item = &transition_item,
     .description = "the first that applies takes place, at most one per own step"},
    {0}};
static const yk_option pid_fields[] = {
    {"input", YK_OPTION_TEXT, .required = true,
     .description = "the error, such as `reference - measured`"},
    {"proportional", YK_OPTION_NUMBER, NULL, "0", OF(proportional), .description = "P"},
    {"integral", YK_OPTION_NUMBER, "1/s", "0", OF(integral), .description = "I"},
    {"derivative", YK_OPTION_NUMBER, "s", "0", OF(derivative), .description = "D"},
    {"derivative_filter", YK_OPTION_NUMBER, "s", "0", OF(time), .range = YK_NOT_NEGATIVE,
     .description = "time constant of the derivative; required if D is not 0"},
    INITIAL("output without error"),
    LIMITS("least and largest output; the integral does not wind up there"),
    {0}};
static const yk_option noise_fields[] = {
    TIME("interval", "between independent values, which are held; the power spectral density is "
                     "2 interval deviation^2 up to frequencies near 1/(2 interval): shape it by a "
                     "transfer function"),
    {"deviation", YK_OPTION_NUMBER, NULL, "1", OF(deviation), .range = YK_NOT_NEGATIVE,
     .description = "standard deviation"},
    {"mean", YK_OPTION_NUMBER, NULL, "0", OF(initial), .description = "mean value"},
    {"seed", YK_OPTION_INTEGER, NULL, "1", OF(seed), .is_seed = true, .range = YK_NOT_NEGATIVE,
     .description = "the same seed gives the same values"},
    {0}};

#define SECTION(name, word, text, fields) static const yk_option_section name = {word, text, fields}
SECTION(expression_block, "expression", "A function of other signals.", expression_fields);
SECTION(integrator_block, "integrator", "The integral of its input.", integrator_fields);
SECTION(derivative_block, "derivative", "The filtered derivative of its input.", derivative_fields);
SECTION(transfer_block, "transfer-function", "A rational transfer function, at rest at the start.",
        transfer_fields);
SECTION(space_block, "state-space", "A linear system with one input and one output.", space_fields);
SECTION(saturation_block, "saturation", "Limits its input.", saturation_fields);
SECTION(zone_block, "dead-zone", "Ignores small values.", zone_fields);
SECTION(rate_block, "rate-limit", "Follows its input with a limited rate.", rate_fields);
SECTION(delay_block, "delay", "Its input, later; before that the input at the start.",
        delay_fields);
SECTION(sample_block, "sample", "Samples its input and holds the value.", sample_fields);
SECTION(relay_block, "relay", "A switch with hysteresis.", relay_fields);
SECTION(machine_block, "state-machine", "Changes between named states.", machine_fields);
SECTION(pid_block, "pid", "PID control of an error, with limits and without windup.", pid_fields);
SECTION(noise_block, "noise", "Random values with a normal distribution.", noise_fields);

static const yk_option_section *const block_variants[] = {
    &expression_block, &integrator_block, &derivative_block, &transfer_block, &space_block,
    &saturation_block, &zone_block,       &rate_block,       &delay_block,    &sample_block,
    &relay_block,      &machine_block,    &pid_block,        &noise_block,    NULL};
static const yk_block_kind block_kinds[] = {
    YK_BLOCK_EXPRESSION,  YK_BLOCK_INTEGRATOR, YK_BLOCK_DERIVATIVE, YK_BLOCK_STATE_SPACE,
    YK_BLOCK_STATE_SPACE, YK_BLOCK_SATURATION, YK_BLOCK_DEAD_ZONE,  YK_BLOCK_RATE_LIMIT,
    YK_BLOCK_DELAY,       YK_BLOCK_SAMPLE,     YK_BLOCK_RELAY,      YK_BLOCK_STATE_MACHINE,
    YK_BLOCK_PID,         YK_BLOCK_NOISE};
static const yk_option block_item = {"block",
                                     YK_OPTION_VARIANT,
                                     .variants = block_variants,
                                     .selector = "type",
                                     .default_variant = "expression",
                                     .description = "Gives one signal"};
static const yk_option input_item = {"inputs", YK_OPTION_TEXT, .description = "a name"};

static const yk_option fields[] = {
    {"inputs", YK_OPTION_LIST, .item = &input_item,
     .description = "names of signals that wires bring: `to: SUBSYSTEM.NAME`"},
    {"blocks", YK_OPTION_NAMED, .required = true, .min_count = 1, .item = &block_item,
     .description = "in any order; each reads others by their names"},
    {"max_step", YK_OPTION_NUMBER, "s", "auto", YK_MEMBER(yk_blocks_def, max_step),
     .accepts_auto = true, .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
     .description = "longest own step; by default one in each that the coupling asks for"},
    {0}};
static const yk_option_section blocks_section = {
    "blocks",
    "Signal blocks. Every block NAME gives the signal `NAME`, to wires and as a channel, and other "
    "blocks read it by this name. Blocks are sorted, and algebraic loops are solved by Newton's "
    "method. Continuous blocks are integrated by the classical Runge-Kutta method; blocks with a "
    "memory (delay, sample, relay, rate limit, state machine) change at the ends of its steps.",
    fields};

/* Reading -------------------------------------------------------------------------------------- */

/* The names of a diagram: inputs, then blocks. */
typedef struct diagram {
    yk_builder *builder;
    const char **names;
    int count;
    yk_status status;
} diagram;

static void note(diagram *d, yk_status status)
{
    if (d->status == YK_OK && YK_FAILED(status))
        d->status = status;
}

/* The signals that an expression names. */
typedef struct naming {
    const diagram *of;
    yk_block_function *function;
    const char *variables[YK_BLOCK_ARGUMENTS_MAX];
    bool in_transition, too_many;
} naming;

static void take_name(void *user, const char *name, size_t length)
{
    static const char time[] = "t", duration[] = "duration";
    naming *n = user;
    const char *found = NULL;
    int signal = 0;
    if (length == 1 && name[0] == 't') {
        found = time;
        signal = YK_BLOCK_TIME;
    } else if (n->in_transition && length == strlen(duration) &&
               memcmp(name, duration, length) == 0) {
        found = duration;
        signal = YK_BLOCK_STATE_TIME;
    }
    for (int i = 0; i < n->of->count && !found; i++) {
        if (strlen(n->of->names[i]) == length && memcmp(n->of->names[i], name, length) == 0) {
            found = n->of->names[i];
            signal = i;
        }
    }
    if (!found)
        return;

    for (int i = 0; i < n->function->argument_count; i++)
        if (n->function->arguments[i] == signal)
            return;
    if (n->function->argument_count == YK_BLOCK_ARGUMENTS_MAX) {
        n->too_many = true;
        return;
    }

    n->variables[n->function->argument_count] = found;
    n->function->arguments[n->function->argument_count++] = signal;
}

static double expression_value(void *user, const double *arguments)
{
    return yk_expression_value(user, arguments);
}

static void read_function(diagram *d, const yk_node *node, bool in_transition,
                          yk_block_function *function)
{
    *function = (yk_block_function){0};
    naming n = {.of = d, .function = function, .in_transition = in_transition};
    yk_expression_names(node->text, take_name, &n);
    if (n.too_many) {
        note(d, yk_builder_error(d->builder, node,
                                 "the expression reads more than %d signals: divide it into two "
                                 "blocks",
                                 YK_BLOCK_ARGUMENTS_MAX));
        return;
    }

    yk_expression *expression = NULL;
    note(d, yk_builder_expression(d->builder, node, n.variables, function->argument_count,
                                  &expression));
    function->value = expression_value;
    function->user = expression;
}

/* The controllable canonical form of a transfer function. */
static void read_transfer(diagram *d, const yk_node *item, yk_block_def *def)
{
    const yk_node *numerator = yk_node_get(item, "numerator");
    const yk_node *denominator = yk_node_get(item, "denominator");
    int order = denominator->value_count - 1;
    int lead = order - (numerator->value_count - 1);
    if (lead < 0) {
        note(d, yk_builder_error(d->builder, numerator,
                                 "its degree is higher than that of the denominator: such a "
                                 "transfer function is not causal"));
        return;
    }
    if (denominator->values[0] == 0) {
        note(d, yk_builder_error(d->builder, denominator, "the first coefficient is 0"));
        return;
    }

    double scale = 1 / denominator->values[0];
    def->order = order;
    def->d = lead == 0 ? scale * numerator->values[0] : 0;
    for (int i = 0; i < order; i++) {
        /* Coefficient of s^i, from the end of the lists. */
        double a = scale * denominator->values[order - i];
        int at = numerator->value_count - 1 - i;
        double b = at >= 0 ? scale * numerator->values[at] : 0;
        def->a[order - 1][i] = -a;
        if (i + 1 < order)
            def->a[i][i + 1] = 1;
        def->c[i] = b - def->d * a;
    }
    def->b[order - 1] = 1;
}

static void read_space(diagram *d, const yk_node *item, yk_block_def *def)
{
    const yk_node *a = yk_node_get(item, "a");
    const yk_node *b = yk_node_get(item, "b");
    const yk_node *c = yk_node_get(item, "c");
    int n = b->value_count;
    if (a->value_count != n * n || c->value_count != n) {
        note(d,
             yk_builder_error(d->builder, a, "'b' has %d numbers, so 'a' must have %d and 'c' %d",
                              n, n * n, n));
        return;
    }

    def->order = n;
    for (int i = 0; i < n; i++) {
        def->b[i] = b->values[i];
        def->c[i] = c->values[i];
        for (int k = 0; k < n; k++)
            def->a[i][k] = a->values[n * i + k];
    }
}

static int find_state(diagram *d, const yk_node *item, const yk_node *word)
{
    int index = 0;
    for (const yk_node *state = yk_node_items(item, "states"); state; state = state->next, index++)
        if (strcmp(state->text, word->text) == 0)
            return index;

    note(d, yk_builder_error(d->builder, word, "there is no state '%s' in 'states'", word->text));
    return 0;
}

static void read_machine(diagram *d, const yk_node *item, yk_block_def *def)
{
    const yk_node *initial = yk_node_get(item, "initial_state");
    const yk_node *list = yk_node_get(item, "transitions");
    if (initial)
        def->initial = find_state(d, item, initial);
    if (!list)
        return;

    yk_block_transition *transitions =
        yk_builder_take(d->builder, (size_t)list->count * sizeof *transitions);
    if (!transitions) {
        note(d, YK_ERROR_MEMORY);
        return;
    }

    def->transitions = transitions;
    for (const yk_node *one = list->first; one; one = one->next) {
        yk_block_transition *made = &transitions[def->transition_count++];
        made->from = find_state(d, item, yk_node_get(one, "from"));
        made->to = find_state(d, item, yk_node_get(one, "to"));
        read_function(d, yk_node_get(one, "when"), true, &made->when);
    }
}

static void read_block(diagram *d, const yk_node *item, yk_block_def *def)
{
    enum { TRANSFER = 3, SPACE = 4 };
    *def = yk_block_default();
    def->name = yk_node_name(item);
    def->kind = block_kinds[item->choice];
    note(d, yk_option_read_all(d->builder, block_variants[item->choice]->options, item, def));

    const yk_node *input = yk_node_get(item, "input");
    if (!input)
        input = yk_node_get(item, "value");
    if (input)
        read_function(d, input, false, &def->input);
    if (item->choice == TRANSFER)
        read_transfer(d, item, def);
    if (item->choice == SPACE)
        read_space(d, item, def);
    if (def->kind == YK_BLOCK_STATE_MACHINE)
        read_machine(d, item, def);
    if (!(def->limits[0] <= def->limits[1]))
        note(d, yk_builder_error(d->builder, item, "the first limit must be below the second"));
    if (def->kind == YK_BLOCK_PID && def->derivative != 0 && def->time <= 0)
        note(d, yk_builder_error(d->builder, item,
                                 "a derivative needs a 'derivative_filter', such as a tenth of "
                                 "the shortest time of the loop"));
}

static void take_signal(diagram *d, const yk_node *node, const char *name)
{
    const char *reason = yk_expression_reserved(name);
    if (strcmp(name, "t") == 0)
        reason = "is the time";
    if (reason)
        note(d, yk_builder_error(d->builder, node, "'%s' %s: choose another name", name, reason));
    for (int i = 0; i < d->count; i++)
        if (strcmp(d->names[i], name) == 0)
            note(d, yk_builder_error(d->builder, node,
                                     "two signals are named '%s': rename one of them", name));
    d->names[d->count++] = name;
}

static yk_status build_blocks(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    yk_blocks_def def = {.name = yk_node_name(section)};
    yk_status status = yk_option_read_all(builder, fields, section, &def);
    if (status != YK_OK)
        return status;

    const yk_node *inputs = yk_node_get(section, "inputs");
    const yk_node *list = yk_node_get(section, "blocks");
    size_t input_count = inputs ? (size_t)inputs->count : 0;
    size_t block_count = (size_t)list->count;
    diagram d = {.builder = builder};
    d.names = yk_builder_take(builder, (input_count + block_count) * sizeof *d.names);
    yk_block_def *made = yk_builder_take(builder, block_count * sizeof *made);
    if (!d.names || !made)
        return YK_ERROR_MEMORY;

    for (const yk_node *item = yk_node_items(section, "inputs"); item; item = item->next)
        take_signal(&d, item, item->text);
    for (const yk_node *item = list->first; item; item = item->next)
        take_signal(&d, item, yk_node_name(item));

    size_t i = 0;
    for (const yk_node *item = list->first; item; item = item->next)
        read_block(&d, item, &made[i++]);
    if (d.status != YK_OK)
        return d.status;

    def.inputs = d.names;
    def.input_count = (int)input_count;
    def.blocks = made;
    def.block_count = (int)block_count;
    return yk_blocks_create(yk_builder_context(builder), &def, subsystem);
}

const yk_solver_kind yk_blocks_kind = {&blocks_section, build_blocks};
