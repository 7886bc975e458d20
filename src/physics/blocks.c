/* Block diagrams (blocks.h) as subsystems. */
#include "physics/blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/restored.h"
#include "base/text.h"
#include "math/dense.h"
#include "math/polynomial.h"

/* Blocks that are computed at the same time: one, or those of an algebraic loop. */
typedef struct group {
    int first, count; /* in the order */
    bool loop;
} group;

typedef struct blocks {
    yk_subsystem subsystem;
    yk_context *context;
    yk_blocks_def def;
    yk_block_def *list; /* own copy */
    yk_block_transition *transitions;
    char *names;
    yk_port *ports; /* inputs, then blocks */
    yk_channel *channels;
    int *order; /* of the blocks */
    group *groups;
    int group_count;
    bool *reaches; /* block (row) by input: without delay */
    bool *connected;
    int *state_at, *memory_at; /* of each block */
    int state_count, memory_count;

    /* The state: continuous states, memories, signals of inputs and blocks, and the time of the
     * start. */
    double *image;
    double *x, *memory, *signals, *start;

    /* Workspace of a step: signals of inputs and blocks, four slopes and a trial of the states. */
    double *now;
    double *slopes[4], *trial;
    double *jacobian, *residual, *shifted;
    int *pivot;
    char failure[200];
} blocks;

static const yk_subsystem_ops blocks_ops;

enum { LOOP_ITERATIONS = 50 };

/* Signals -------------------------------------------------------------------------------------- */

static double evaluate(const yk_block_function *function, const double *signals, double t,
                       double since)
{
    if (!function->value)
        return 0;

    double arguments[YK_BLOCK_ARGUMENTS_MAX];
    for (int i = 0; i < function->argument_count; i++) {
        int of = function->arguments[i];
        if (of == YK_BLOCK_TIME)
            arguments[i] = t;
        else if (of == YK_BLOCK_STATE_TIME)
            arguments[i] = t - since;
        else
            arguments[i] = signals[of];
    }

    return function->value(function->user, arguments);
}

static yk_block_view view_of(const blocks *self, int block, double t, const double *x)
{
    return (yk_block_view){
        .def = &self->list[block],
        .t = t,
        .start = *self->start,
        .x = x + self->state_at[block],
        .memory = self->memory + self->memory_at[block],
    };
}

/* The output of a block from the signals. Blocks without direct input do not read it. */
static double output_of(blocks *self, int block, double t, const double *x)
{
    yk_block_view v = view_of(self, block, t, x);
    if (yk_block_is_direct(v.def))
        v.input = evaluate(&v.def->input, self->now, t, t);
    return yk_block_output(&v);
}

/* Newton's method for the outputs of a loop, with differences. */
static yk_status solve_loop(blocks *self, const group *loop, double t, const double *x)
{
    int n = loop->count;
    const int *order = self->order + loop->first;
    double *signals = self->now + self->def.input_count;
    for (int iteration = 0; iteration < LOOP_ITERATIONS; iteration++) {
        double largest = 0;
        double scale = 0;
        for (int i = 0; i < n; i++) {
            self->residual[i] = output_of(self, order[i], t, x) - signals[order[i]];
            largest = fmax(largest, fabs(self->residual[i]));
            scale = fmax(scale, fabs(signals[order[i]]));
        }
        if (!isfinite(largest))
            return YK_ERROR_NOT_FINITE;
        if (largest <= 1e-12 * fmax(scale, 1e-3))
            return YK_OK;

        for (int k = 0; k < n; k++) {
            double kept = signals[order[k]];
            double step = 1e-7 * fmax(fabs(kept), 1e-3);
            signals[order[k]] = kept + step;
            for (int i = 0; i < n; i++) {
                double moved = output_of(self, order[i], t, x) - signals[order[i]];
                self->jacobian[n * i + k] = (self->residual[i] - moved) / step;
            }
            signals[order[k]] = kept;
        }

        if (yk_lu_factor(n, self->jacobian, self->pivot) != YK_OK)
            break;
        yk_lu_solve(n, self->jacobian, self->pivot, self->residual);
        for (int i = 0; i < n; i++)
            signals[order[i]] += self->residual[i];
    }

    yk_format(self->failure, sizeof self->failure,
              "the algebraic loop of the block '%s' has no solution that Newton's method finds at "
              "t = %g s: put a delay or a first-order block into the loop",
              self->list[order[0]].name, t);
    return YK_ERROR_NO_SOLUTION;
}

/* All signals at a time; `begin` is the start of the local time of the inputs. */
static yk_status compute_signals(blocks *self, double t, double begin, const yk_input *inputs,
                                 const double *x)
{
    for (int i = 0; i < self->def.input_count; i++) {
        bool known = inputs && self->connected[i];
        self->now[i] = known ? yk_input_scalar(&inputs[i], t - begin) : 0;
    }

    double *signals = self->now + self->def.input_count;
    for (int g = 0; g < self->group_count; g++) {
        const group *of = &self->groups[g];
        int block = self->order[of->first];
        if (!of->loop) {
            signals[block] = output_of(self, block, t, x);
            continue;
        }

        yk_status status = solve_loop(self, of, t, x);
        if (status != YK_OK)
            return status;
    }

    for (int i = 0; i < self->def.block_count; i++) {
        if (isfinite(signals[i]))
            continue;

        yk_format(self->failure, sizeof self->failure,
                  "the block '%s' is not finite at t = %g s: check its expression and its inputs",
                  self->list[i].name, t);
        return YK_ERROR_NOT_FINITE;
    }

    return YK_OK;
}

/* Steps ---------------------------------------------------------------------------------------- */

static yk_status compute_rates(blocks *self, double t, double begin, const yk_input *inputs,
                               const double *x, double *rates)
{
    yk_status status = compute_signals(self, t, begin, inputs, x);
    for (int i = 0; i < self->def.block_count && status == YK_OK; i++) {
        yk_block_view v = view_of(self, i, t, x);
        if (yk_block_state_count(v.def) == 0)
            continue;

        v.input = evaluate(&v.def->input, self->now, t, t);
        yk_block_rates(&v, rates + self->state_at[i]);
    }

    return status;
}

/* The transition of a state machine that takes place, or -1. */
static int fired(blocks *self, const yk_block_view *v)
{
    for (int k = 0; k < v->def->transition_count; k++) {
        const yk_block_transition *transition = &v->def->transitions[k];
        if (transition->from == (int)v->memory[0] &&
            evaluate(&transition->when, self->now, v->t, v->memory[1]) != 0)
            return k;
    }

    return -1;
}

/* Memories change together, from the signals before. */
static void update_memories(blocks *self, double t, double h)
{
    for (int i = 0; i < self->def.block_count; i++) {
        yk_block_view v = view_of(self, i, t, self->x);
        bool limited = v.def->kind == YK_BLOCK_INTEGRATOR;
        if (!yk_block_traits_of(v.def->kind)->follows && !limited)
            continue;

        v.input = evaluate(&v.def->input, self->now, t, t);
        int fire = v.def->kind == YK_BLOCK_STATE_MACHINE ? fired(self, &v) : -1;
        yk_block_update(&v, h, fire, self->x + self->state_at[i],
                        self->memory + self->memory_at[i]);
    }
}

/* One step of the classical Runge-Kutta method. */
static yk_status advance(blocks *self, double t, double h, double begin, const yk_input *inputs)
{
    static const double at[4] = {0, 0.5, 0.5, 1};
    size_t n = (size_t)self->state_count;
    yk_status status = YK_OK;
    for (int stage = 0; stage < 4 && n > 0; stage++) {
        for (size_t k = 0; k < n; k++) {
            double slope = stage > 0 ? self->slopes[stage - 1][k] : 0;
            self->trial[k] = self->x[k] + at[stage] * h * slope;
        }
        status =
            compute_rates(self, t + at[stage] * h, begin, inputs, self->trial, self->slopes[stage]);
        if (status != YK_OK)
            return status;
    }

    for (size_t k = 0; k < n; k++)
        self->x[k] += h / 6 *
                      (self->slopes[0][k] + 2 * self->slopes[1][k] + 2 * self->slopes[2][k] +
                       self->slopes[3][k]);

    status = compute_signals(self, t + h, begin, inputs, self->x);
    if (status != YK_OK)
        return status;

    update_memories(self, t + h, h);
    return compute_signals(self, t + h, begin, inputs, self->x);
}

static void keep_signals(blocks *self)
{
    size_t count = (size_t)(self->def.input_count + self->def.block_count);
    memcpy(self->signals, self->now, count * sizeof *self->signals);
}

/* Largest number of own steps in one step. */
static const double PARTS_MAX = 1e7;

static yk_status blocks_step(yk_subsystem *subsystem, double t, double h, const yk_input *inputs)
{
    blocks *self = (blocks *)subsystem;
    double longest = self->def.max_step > 0 ? self->def.max_step : h;
    double end = t + h;

    self->failure[0] = '\0';
    for (int i = 0; i < self->def.block_count; i++)
        if (self->list[i].kind == YK_BLOCK_DELAY)
            longest = fmin(longest, self->list[i].time);
    if (h / longest > PARTS_MAX) {
        yk_format(self->failure, sizeof self->failure,
                  "a step of %g s has more than %g own steps of %g s: increase 'max_step'", h,
                  PARTS_MAX, longest);
        return YK_ERROR_ARGUMENT;
    }

    /* Loops start from the last signals. */
    size_t count = (size_t)(self->def.input_count + self->def.block_count);
    memcpy(self->now, self->signals, count * sizeof *self->signals);
    double from = t;
    while (from < end - 1e-9 * h) {
        double next = end;
        for (int i = 0; i < self->def.block_count; i++) {
            double event = yk_block_next_event(&self->list[i], *self->start, from);
            if (event < next - 1e-9 * h)
                next = event;
        }

        int parts = (int)fmax(1, ceil((next - from) / longest * (1 - 1e-9)));
        double width = (next - from) / parts;
        for (int k = 0; k < parts; k++) {
            yk_status status = advance(self, from + k * width, width, t, inputs);
            if (status != YK_OK)
                return status;
        }
        from = next;
    }

    keep_signals(self);
    return YK_OK;
}

static yk_status start_phase(blocks *self, yk_block_phase phase, double t, const yk_input *inputs)
{
    for (int i = 0; i < self->def.block_count; i++) {
        yk_block_view v = view_of(self, i, t, self->x);
        v.input = evaluate(&v.def->input, self->now, t, t);
        yk_block_start(&v, phase, self->x + self->state_at[i], self->memory + self->memory_at[i]);
    }

    return compute_signals(self, t, t, inputs, self->x);
}

static yk_status blocks_initialize(yk_subsystem *subsystem, double t, double h,
                                   const yk_input *inputs)
{
    blocks *self = (blocks *)subsystem;
    (void)h;
    memset(self->image, 0, (size_t)self->state_count * sizeof *self->image);
    memset(self->memory, 0, (size_t)self->memory_count * sizeof *self->memory);
    memset(self->now, 0,
           (size_t)(self->def.input_count + self->def.block_count) * sizeof *self->now);
    *self->start = t;
    self->failure[0] = '\0';

    /* Blocks that depend on an input may also depend on blocks of other inputs. */
    yk_status status = start_phase(self, YK_BLOCK_GIVEN, t, inputs);
    for (int round = 0; round <= self->def.block_count && status == YK_OK; round++)
        status = start_phase(self, YK_BLOCK_FOLLOWS, t, inputs);
    if (status == YK_OK)
        status = start_phase(self, YK_BLOCK_SAMPLES, t, inputs);

    keep_signals(self);
    return status;
}

/* Operations ----------------------------------------------------------------------------------- */

static int get_ports(const yk_subsystem *subsystem, const yk_port **list)
{
    const blocks *self = (const blocks *)subsystem;
    *list = self->ports;
    return self->def.input_count + self->def.block_count;
}

static yk_status blocks_connect(yk_subsystem *subsystem, int port, yk_causality causality,
                                unsigned constrained)
{
    blocks *self = (blocks *)subsystem;
    (void)constrained;
    if (port < 0 || port >= self->def.input_count + self->def.block_count ||
        !(self->ports[port].allowed_causalities & causality))
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "%s: port %d cannot be connected like this", self->def.name, port);
    self->connected[port] = true;
    return YK_OK;
}

static void blocks_get_port_value(const yk_subsystem *subsystem, int port, yk_port_value *value)
{
    const blocks *self = (const blocks *)subsystem;
    value->motion.position.x = self->signals[port];
}

static bool blocks_feeds_through(const yk_subsystem *subsystem, int input, int port, int channel,
                                 int component)
{
    (void)component;
    const blocks *self = (const blocks *)subsystem;
    int block = port >= 0 ? port - self->def.input_count : channel;
    if (block < 0 || input >= self->def.input_count)
        return false;
    return self->reaches[block * self->def.input_count + input];
}

static const char *blocks_message(const yk_subsystem *subsystem)
{
    const blocks *self = (const blocks *)subsystem;
    return self->failure[0] ? self->failure : "a signal is not finite";
}

static size_t image_words(const blocks *self)
{
    int signals = self->def.input_count + self->def.block_count;
    return (size_t)(self->state_count + self->memory_count + signals) + 1;
}

static yk_state_layout blocks_state_layout(const yk_subsystem *subsystem)
{
    const blocks *self = (const blocks *)subsystem;
    return (yk_state_layout){.word_count = image_words(self),
                             .continuous_count = (size_t)self->state_count};
}

static void blocks_get_state(const yk_subsystem *subsystem, double *image)
{
    const blocks *self = (const blocks *)subsystem;
    memcpy(image, self->image, image_words(self) * sizeof *image);
}

static yk_status blocks_set_state(yk_subsystem *subsystem, const double *image)
{
    blocks *self = (blocks *)subsystem;
    if (!isfinite(image[image_words(self) - 1]))
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "the state does not belong to these blocks");

    /* Indices into the memory of delays, and states of machines. */
    for (int i = 0; i < self->def.block_count; i++) {
        const double *memory = image + self->state_count + self->memory_at[i];
        yk_block_kind kind = self->list[i].kind;
        bool valid = true;
        if (kind == YK_BLOCK_DELAY)
            valid = yk_is_restored_word(memory[0], 1024) && yk_is_restored_word(memory[1], 1023);
        if (kind == YK_BLOCK_STATE_MACHINE)
            valid = yk_is_restored_word(memory[0], YK_RESTORED_MOST);
        if (!valid)
            return yk_fail(self->context, YK_ERROR_ARGUMENT,
                           "the state does not belong to these blocks");
    }

    memcpy(self->image, image, image_words(self) * sizeof *image);
    return YK_OK;
}

static int get_channels(const yk_subsystem *subsystem, const yk_channel **list)
{
    const blocks *self = (const blocks *)subsystem;
    *list = self->channels;
    return self->def.block_count;
}

static void channel_read(const yk_subsystem *subsystem, int channel, double *values)
{
    const blocks *self = (const blocks *)subsystem;
    *values = self->signals[self->def.input_count + channel];
}

static double blocks_next_event(const yk_subsystem *subsystem, double t)
{
    const blocks *self = (const blocks *)subsystem;
    double next = INFINITY;
    for (int i = 0; i < self->def.block_count; i++) {
        double event = yk_block_next_event(&self->list[i], *self->start, t);
        if (event > t && event < next)
            next = event;
    }

    return next;
}

static void blocks_destroy(yk_subsystem *subsystem)
{
    blocks *self = (blocks *)subsystem;
    if (!self)
        return;

    void *const parts[] = {self->list,      self->transitions, self->names,     self->ports,
                           self->channels,  self->order,       self->groups,    self->reaches,
                           self->connected, self->state_at,    self->memory_at, self->image,
                           self->now,       self->slopes[0],   self->jacobian,  self->pivot};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        yk_free(self->context, parts[i]);
    yk_free(self->context, self);
}

/* Creation ------------------------------------------------------------------------------------- */

/* Whether a block reads another one (or itself) without delay. */
static bool reads(const blocks *self, int block, int other)
{
    const yk_block_def *def = &self->list[block];
    if (!yk_block_is_direct(def))
        return false;
    for (int i = 0; i < def->input.argument_count; i++)
        if (def->input.arguments[i] == self->def.input_count + other)
            return true;
    return false;
}

/* Sorts the blocks by Tarjan's algorithm for strongly connected components, which lists every
 * component after those that it reads. */
typedef struct sorter {
    blocks *self;
    int *index, *low, *stack;
    bool *stacked;
    int next, height, placed;
} sorter;

static void visit(sorter *s, int block)
{
    blocks *self = s->self;
    s->index[block] = s->low[block] = ++s->next;
    s->stack[s->height++] = block;
    s->stacked[block] = true;
    for (int other = 0; other < self->def.block_count; other++) {
        if (!reads(self, block, other))
            continue;
        if (s->index[other] == 0) {
            visit(s, other);
            s->low[block] = s->low[other] < s->low[block] ? s->low[other] : s->low[block];
        } else if (s->stacked[other] && s->index[other] < s->low[block]) {
            s->low[block] = s->index[other];
        }
    }
    if (s->low[block] != s->index[block])
        return;

    group *made = &self->groups[self->group_count++];
    *made = (group){.first = s->placed};
    int member;
    do {
        member = s->stack[--s->height];
        s->stacked[member] = false;
        self->order[s->placed++] = member;
        made->count++;
    } while (member != block);
    made->loop = made->count > 1 || reads(self, block, block);
}

static yk_status sort_blocks(blocks *self)
{
    int n = self->def.block_count;
    int *words = yk_allocate(self->context, 4 * (size_t)n, sizeof *words);
    if (!words)
        return YK_ERROR_MEMORY;

    sorter s = {.self = self, .index = words, .low = words + n, .stack = words + 2 * n};
    s.stacked = (bool *)(words + 3 * n);
    for (int i = 0; i < n; i++)
        if (s.index[i] == 0)
            visit(&s, i);
    yk_free(self->context, words);

    /* Inputs that reach a block without delay; in loops until nothing changes. */
    int inputs = self->def.input_count;
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = 0; b < n; b++) {
            const yk_block_def *def = &self->list[b];
            for (int i = 0; yk_block_is_direct(def) && i < def->input.argument_count; i++) {
                int of = def->input.arguments[i];
                for (int k = 0; of >= 0 && k < inputs; k++) {
                    bool reached =
                        of == k || (of >= inputs && self->reaches[(of - inputs) * inputs + k]);
                    if (reached && !self->reaches[b * inputs + k])
                        self->reaches[b * inputs + k] = changed = true;
                }
            }
        }
    }

    return YK_OK;
}

static yk_status check_block(yk_context *context, const yk_blocks_def *def,
                             const yk_block_def *block)
{
    const char *problem = NULL;
    if ((unsigned)block->kind >= YK_BLOCK_KIND_COUNT)
        problem = "is of no known kind";
    else if (!(block->limits[0] <= block->limits[1]))
        problem = "has limits in the wrong order";
    else if (block->order < 0 || block->order > YK_BLOCK_ORDER_MAX)
        problem = "has too many states";
    bool timed = block->kind == YK_BLOCK_DERIVATIVE || block->kind == YK_BLOCK_DELAY ||
                 block->kind == YK_BLOCK_SAMPLE || block->kind == YK_BLOCK_NOISE ||
                 (block->kind == YK_BLOCK_PID && block->derivative != 0);
    if (!problem && timed && !(block->time > 0 && isfinite(block->time)))
        problem = "needs a positive time";
    if (!problem)
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT, "%s: the block '%s' %s", def->name,
                   block->name ? block->name : "", problem);
}

static yk_status allocate_blocks(blocks *self, const yk_blocks_def *def)
{
    yk_context *context = self->context;
    size_t n = (size_t)def->block_count;
    size_t inputs = (size_t)def->input_count;
    size_t transitions = 0;
    size_t bytes = strlen(def->name) + 1;
    for (size_t i = 0; i < inputs; i++)
        bytes += strlen(def->inputs[i]) + 1;
    for (size_t i = 0; i < n; i++) {
        bytes += strlen(def->blocks[i].name) + 1;
        transitions += (size_t)def->blocks[i].transition_count;
    }

    self->list = yk_allocate(context, n, sizeof *self->list);
    self->transitions = yk_allocate(context, transitions, sizeof *self->transitions);
    self->names = yk_allocate(context, bytes, 1);
    self->ports = yk_allocate(context, n + inputs, sizeof *self->ports);
    self->connected = yk_allocate(context, n + inputs, sizeof *self->connected);
    self->channels = yk_allocate(context, n, sizeof *self->channels);
    self->order = yk_allocate(context, n, sizeof *self->order);
    self->groups = yk_allocate(context, n, sizeof *self->groups);
    self->reaches = yk_allocate(context, n * inputs, sizeof *self->reaches);
    self->state_at = yk_allocate(context, n, sizeof *self->state_at);
    self->memory_at = yk_allocate(context, n, sizeof *self->memory_at);
    self->now = yk_allocate(context, n + inputs, sizeof *self->now);
    if (!self->list || !self->transitions || !self->names || !self->ports || !self->connected ||
        !self->channels || !self->order || !self->groups || !self->reaches || !self->state_at ||
        !self->memory_at || !self->now)
        return YK_ERROR_MEMORY;

    /* Own copies of names, blocks and transitions. */
    size_t used = 0;
    char *name = self->names;
    memcpy(name, def->name, strlen(def->name) + 1);
    self->def.name = name;
    name += strlen(name) + 1;
    for (size_t i = 0; i < inputs + n; i++) {
        const char *from = i < inputs ? def->inputs[i] : def->blocks[i - inputs].name;
        memcpy(name, from, strlen(from) + 1);
        bool input = i < inputs;
        self->ports[i] = (yk_port){.name = name,
                                   .kind = YK_PORT_SIGNAL,
                                   .allowed_causalities = input ? YK_CAUSALITY_SIGNAL_INPUT
                                                                : YK_CAUSALITY_SIGNAL_OUTPUT};
        if (!input) {
            yk_block_def *own = &self->list[i - inputs];
            *own = def->blocks[i - inputs];
            own->name = name;
            self->channels[i - inputs] = (yk_channel){name, "1", 1};
            size_t count = (size_t)own->transition_count;
            for (size_t k = 0; k < count; k++)
                self->transitions[used + k] = own->transitions[k];
            own->transitions = self->transitions + used;
            used += count;
            self->state_at[i - inputs] = self->state_count;
            self->memory_at[i - inputs] = self->memory_count;
            self->state_count += yk_block_state_count(own);
            self->memory_count += yk_block_memory_count(own);
        }
        name += strlen(name) + 1;
    }

    size_t states = (size_t)self->state_count;
    self->image = yk_allocate(context, image_words(self), sizeof *self->image);
    self->slopes[0] = yk_allocate(context, 5 * states, sizeof *self->slopes[0]);
    self->jacobian = yk_allocate(context, n * n + n, sizeof *self->jacobian);
    self->pivot = yk_allocate(context, n, sizeof *self->pivot);
    if (!self->image || !self->slopes[0] || !self->jacobian || !self->pivot)
        return YK_ERROR_MEMORY;

    self->x = self->image;
    self->memory = self->x + states;
    self->signals = self->memory + self->memory_count;
    self->start = self->signals + inputs + n;
    for (int k = 1; k < 4; k++)
        self->slopes[k] = self->slopes[k - 1] + states;
    self->trial = self->slopes[3] + states;
    self->residual = self->jacobian + n * n;
    return YK_OK;
}

yk_block_def yk_block_default(void)
{
    return (yk_block_def){.limits = {-INFINITY, INFINITY}, .values = {0, 1}, .deviation = 1};
}

yk_status yk_blocks_create(yk_context *context, const yk_blocks_def *def, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    if (def->block_count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s: a block diagram needs a block", def->name);
    for (int i = 0; i < def->block_count; i++) {
        yk_status status = check_block(context, def, &def->blocks[i]);
        if (status != YK_OK)
            return status;
    }

    blocks *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->subsystem.ops = &blocks_ops;
    self->context = context;
    self->def = *def;
    yk_status status = allocate_blocks(self, def);
    if (status == YK_OK)
        status = sort_blocks(self);
    if (status != YK_OK) {
        blocks_destroy(&self->subsystem);
        return status;
    }

    *subsystem = &self->subsystem;
    return YK_OK;
}

static const yk_rollback_ops blocks_rollback_ops = {.size = sizeof(yk_rollback_ops),
                                                    .layout = blocks_state_layout,
                                                    .get = blocks_get_state,
                                                    .set = blocks_set_state};
static const yk_event_ops blocks_event_ops = {.size = sizeof(yk_event_ops),
                                              .next_time = blocks_next_event};
static const yk_channel_ops blocks_channel_ops = {
    .size = sizeof(yk_channel_ops), .list = get_channels, .read = channel_read};
static const yk_subsystem_ops blocks_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "blocks",
    .ports = get_ports,
    .connect = blocks_connect,
    .initialize = blocks_initialize,
    .step = blocks_step,
    .get_port_value = blocks_get_port_value,
    .destroy = blocks_destroy,
    .last_message = blocks_message,
    .feeds_through = blocks_feeds_through,
    .rollback = &blocks_rollback_ops,
    .channels = &blocks_channel_ops,
    .events = &blocks_event_ops,
};
