/* The kinds of blocks of blocks.h. */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "physics/blocks.h"

/* Memory of a delay: number of stored points, index of the newest, then times and values. */
enum { DELAY_POINTS = 1024, DELAY_COUNT = 0, DELAY_NEWEST = 1, DELAY_FIRST = 2 };
/* Memory of a state machine: state, and the time at which it was entered. */
enum { MACHINE_STATE, MACHINE_SINCE, MACHINE_WORDS };
/* Memory of a sampler: value, and the number of samples taken. */
enum { SAMPLE_VALUE, SAMPLE_COUNT, SAMPLE_WORDS };
/* States of a PID controller: integral and filtered error. */
enum { PID_INTEGRAL, PID_FILTER, PID_STATES };

static const yk_block_traits traits[YK_BLOCK_KIND_COUNT] = {
    [YK_BLOCK_EXPRESSION] = {"expression", .direct = true},
    [YK_BLOCK_INTEGRATOR] = {.name = "integrator"},
    [YK_BLOCK_DERIVATIVE] = {"derivative", .direct = true},
    [YK_BLOCK_STATE_SPACE] = {"state-space", .direct = true},
    [YK_BLOCK_SATURATION] = {"saturation", .direct = true},
    [YK_BLOCK_DEAD_ZONE] = {"dead-zone", .direct = true},
    [YK_BLOCK_RATE_LIMIT] = {"rate-limit", .follows = true},
    [YK_BLOCK_DELAY] = {"delay", .follows = true},
    [YK_BLOCK_SAMPLE] = {"sample", .follows = true},
    [YK_BLOCK_RELAY] = {"relay", .follows = true},
    [YK_BLOCK_STATE_MACHINE] = {"state-machine", .follows = true},
    [YK_BLOCK_PID] = {"pid", .direct = true},
    [YK_BLOCK_NOISE] = {.name = "noise"},
};

const yk_block_traits *yk_block_traits_of(yk_block_kind kind)
{
    return &traits[kind];
}

bool yk_block_is_direct(const yk_block_def *def)
{
    if (def->kind == YK_BLOCK_STATE_SPACE)
        return def->d != 0;
    return traits[def->kind].direct;
}

int yk_block_state_count(const yk_block_def *def)
{
    switch (def->kind) {
    case YK_BLOCK_INTEGRATOR:
    case YK_BLOCK_DERIVATIVE: return 1;
    case YK_BLOCK_STATE_SPACE: return def->order;
    case YK_BLOCK_PID: return PID_STATES;
    default: return 0;
    }
}

int yk_block_memory_count(const yk_block_def *def)
{
    switch (def->kind) {
    case YK_BLOCK_RATE_LIMIT:
    case YK_BLOCK_RELAY: return 1;
    case YK_BLOCK_DELAY: return DELAY_FIRST + 2 * DELAY_POINTS;
    case YK_BLOCK_SAMPLE: return SAMPLE_WORDS;
    case YK_BLOCK_STATE_MACHINE: return MACHINE_WORDS;
    default: return 0;
    }
}

static double within(const double limits[2], double value)
{
    return fmax(limits[0], fmin(limits[1], value));
}

/* Noise ---------------------------------------------------------------------------------------- */

/* A number in (0, 1) from the seed and a counter (SplitMix64, Steele et al. 2014). The noise is a
 * function of time alone, so that repeated steps see the same values. */
static double uniform(uint64_t seed, uint64_t counter)
{
    uint64_t z = seed + counter * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double noise(const yk_block_def *def, double since_start)
{
    double interval = floor(since_start / def->time * (1 + 1e-12) + 1e-9);
    uint64_t counter = 2 * (uint64_t)(int64_t)fmax(0, interval);
    uint64_t seed = (uint64_t)def->seed * 0xd1342543de82ef95u + 1;
    double radius = sqrt(-2 * log(uniform(seed, counter)));
    return def->initial + def->deviation * radius * cos(2 * YK_PI * uniform(seed, counter + 1));
}

/* Delay ---------------------------------------------------------------------------------------- */

static double delayed(const double *memory, double t)
{
    int count = (int)memory[DELAY_COUNT];
    int at = (int)memory[DELAY_NEWEST];
    const double *points = memory + DELAY_FIRST;

    /* From the newest point back to the one before t. */
    double later_time = 0;
    double later = points[2 * at + 1];
    for (int k = 0; k < count; k++) {
        double time = points[2 * at];
        double value = points[2 * at + 1];
        if (time <= t) {
            if (k == 0 || later_time <= time)
                return value;
            return value + (later - value) * (t - time) / (later_time - time);
        }

        later_time = time;
        later = value;
        at = (at + DELAY_POINTS - 1) % DELAY_POINTS;
    }

    return later;
}

/* Stores a point; points that are closer than the memory can hold replace the newest. */
static void store(double *memory, double time, double t, double value)
{
    double *points = memory + DELAY_FIRST;
    int count = (int)memory[DELAY_COUNT];
    int newest = (int)memory[DELAY_NEWEST];
    int before = (newest + DELAY_POINTS - 1) % DELAY_POINTS;
    double apart = time / (DELAY_POINTS - 8);
    bool close = count > 1 && points[2 * newest] - points[2 * before] < apart * (1 - 1e-9);

    if (!close) {
        newest = count == 0 ? 0 : (newest + 1) % DELAY_POINTS;
        if (count < DELAY_POINTS)
            count++;
    }
    points[2 * newest] = t;
    points[2 * newest + 1] = value;
    memory[DELAY_COUNT] = count;
    memory[DELAY_NEWEST] = newest;
}

/* Output --------------------------------------------------------------------------------------- */

static double pid_command(const yk_block_view *v)
{
    const yk_block_def *def = v->def;
    double command = def->initial + def->proportional * v->input + v->x[PID_INTEGRAL];
    if (def->derivative != 0)
        command += def->derivative * (v->input - v->x[PID_FILTER]) / def->time;
    return command;
}

double yk_block_output(const yk_block_view *v)
{
    const yk_block_def *def = v->def;
    switch (def->kind) {
    case YK_BLOCK_INTEGRATOR: return within(def->limits, v->x[0]);
    case YK_BLOCK_DERIVATIVE: return (v->input - v->x[0]) / def->time;
    case YK_BLOCK_STATE_SPACE: {
        double y = def->d != 0 ? def->d * v->input : 0;
        for (int i = 0; i < def->order; i++)
            y += def->c[i] * v->x[i];
        return y;
    }
    case YK_BLOCK_SATURATION: return within(def->limits, v->input);
    case YK_BLOCK_DEAD_ZONE: return v->input - within(def->limits, v->input);
    case YK_BLOCK_DELAY: return delayed(v->memory, v->t - def->time);
    case YK_BLOCK_RATE_LIMIT:
    case YK_BLOCK_SAMPLE:
    case YK_BLOCK_STATE_MACHINE: return v->memory[0];
    case YK_BLOCK_RELAY: return def->values[v->memory[0] != 0];
    case YK_BLOCK_PID: return within(def->limits, pid_command(v));
    case YK_BLOCK_NOISE: return noise(def, v->t - v->start);
    default: return v->input;
    }
}

void yk_block_rates(const yk_block_view *v, double *rates)
{
    const yk_block_def *def = v->def;
    switch (def->kind) {
    case YK_BLOCK_INTEGRATOR: {
        bool held = (v->x[0] >= def->limits[1] && v->input > 0) ||
                    (v->x[0] <= def->limits[0] && v->input < 0);
        rates[0] = held ? 0 : v->input;
        return;
    }
    case YK_BLOCK_DERIVATIVE: rates[0] = (v->input - v->x[0]) / def->time; return;
    case YK_BLOCK_STATE_SPACE:
        for (int i = 0; i < def->order; i++) {
            rates[i] = def->b[i] * v->input;
            for (int k = 0; k < def->order; k++)
                rates[i] += def->a[i][k] * v->x[k];
        }
        return;
    case YK_BLOCK_PID: {
        /* The integral stops while the command is limited and the error drives it further. */
        double command = pid_command(v);
        double grows = def->integral * v->input;
        bool held =
            (command > def->limits[1] && grows > 0) || (command < def->limits[0] && grows < 0);
        rates[PID_INTEGRAL] = held ? 0 : grows;
        rates[PID_FILTER] = def->derivative != 0 ? (v->input - v->x[PID_FILTER]) / def->time : 0;
        return;
    }
    default: return;
    }
}

/* Memory --------------------------------------------------------------------------------------- */

static void start_given(const yk_block_view *v, double *x, double *memory)
{
    const yk_block_def *def = v->def;
    if (def->kind == YK_BLOCK_INTEGRATOR)
        x[0] = def->initial;
    if (def->kind == YK_BLOCK_SAMPLE || def->kind == YK_BLOCK_STATE_MACHINE)
        memory[0] = def->initial;
    if (def->kind == YK_BLOCK_STATE_MACHINE)
        memory[MACHINE_SINCE] = v->t;
}

static void start_following(const yk_block_view *v, double *x, double *memory)
{
    const yk_block_def *def = v->def;
    switch (def->kind) {
    case YK_BLOCK_DERIVATIVE: x[0] = v->input; return;
    case YK_BLOCK_PID: x[PID_FILTER] = v->input; return;
    case YK_BLOCK_RATE_LIMIT: memory[0] = v->input; return;
    case YK_BLOCK_RELAY: memory[0] = v->input >= def->levels[1]; return;
    case YK_BLOCK_DELAY:
        memory[DELAY_COUNT] = 0;
        store(memory, def->time, v->t, v->input);
        return;
    default: return;
    }
}

void yk_block_start(const yk_block_view *v, yk_block_phase phase, double *x, double *memory)
{
    switch (phase) {
    case YK_BLOCK_GIVEN: start_given(v, x, memory); return;
    case YK_BLOCK_FOLLOWS: start_following(v, x, memory); return;
    case YK_BLOCK_SAMPLES:
        if (v->def->kind == YK_BLOCK_SAMPLE && v->def->offset <= 0) {
            memory[SAMPLE_VALUE] = v->input;
            memory[SAMPLE_COUNT] = 1;
        }
    }
}

void yk_block_update(const yk_block_view *v, double h, int fire, double *x, double *memory)
{
    const yk_block_def *def = v->def;
    switch (def->kind) {
    case YK_BLOCK_INTEGRATOR: x[0] = within(def->limits, x[0]); return;
    case YK_BLOCK_RATE_LIMIT: {
        double change = v->input - memory[0];
        memory[0] += fmax(def->limits[0] * h, fmin(def->limits[1] * h, change));
        return;
    }
    case YK_BLOCK_DELAY: store(memory, def->time, v->t, v->input); return;
    case YK_BLOCK_SAMPLE: {
        double next = v->start + def->offset + memory[SAMPLE_COUNT] * def->time;
        if (v->t >= next - 1e-9 * def->time) {
            memory[SAMPLE_VALUE] = v->input;
            memory[SAMPLE_COUNT]++;
        }
        return;
    }
    case YK_BLOCK_RELAY:
        if (v->input >= def->levels[1])
            memory[0] = 1;
        else if (v->input <= def->levels[0])
            memory[0] = 0;
        return;
    case YK_BLOCK_STATE_MACHINE:
        if (fire >= 0) {
            memory[MACHINE_STATE] = def->transitions[fire].to;
            memory[MACHINE_SINCE] = v->t;
        }
        return;
    default: return;
    }
}

double yk_block_next_event(const yk_block_def *def, double start, double t)
{
    if (def->kind != YK_BLOCK_SAMPLE && def->kind != YK_BLOCK_NOISE)
        return INFINITY;

    double first = start + (def->kind == YK_BLOCK_SAMPLE ? def->offset : 0);
    double count = floor((t - first) / def->time + 1e-9) + 1;
    return first + fmax(0, count) * def->time;
}
