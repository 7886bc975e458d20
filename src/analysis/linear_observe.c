/* The quantities of a system as numbers: motions of all bodies, and all channels. */
#include <stdio.h>
#include <string.h>

#include "analysis/linear.h"
#include "math/so3.h"
#include "math/vec3.h"
#include "model/scenario.h"

/* Numbers of a body in a raw observation, and of its differences. */
enum { BODY_RAW = 13, BODY_ROWS = 12 };

static const char *const axis_letters = "xyz";

static bool has_unit(const char *unit, const char *const *units)
{
    for (int i = 0; units[i]; i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

static bool contains(const char *name, const char *const *parts)
{
    for (int i = 0; parts[i]; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

/* Channels that follow from the state and from the loads are outputs only. */
static yk_observed_class classify(const char *name, const char *unit, int components)
{
    static const char *const motions[] = {"m", "rad", "m/s", "rad/s", NULL};
    static const char *const loads[] = {"N", "N m", "N, N m", "m/s^2", "rad/s^2", "J", "W", NULL};
    static const char *const judgements[] = {".gap_", ".created", "iteration", "residual", NULL};
    if (components == 4 || has_unit(unit, loads) || contains(name, judgements))
        return YK_OBSERVED_OUTPUT;
    return has_unit(unit, motions) ? YK_OBSERVED_MOTION : YK_OBSERVED_OTHER;
}

static yk_observed_row *add_row(yk_observer *o, yk_observed_class kind, int raw, const char *unit)
{
    yk_observed_row *row = &o->rows[o->row_count++];
    *row = (yk_observed_row){.kind = kind, .raw = raw};
    snprintf(row->unit, sizeof row->unit, "%s", unit && *unit ? unit : "1");
    return row;
}

static void add_body(yk_observer *o, const char *subsystem, const char *body, int index)
{
    static const struct {
        const char *name, *unit;
        int raw;
    } quantities[4] = {{"position", "m", 0},
                       {"rotation", "rad", 3},
                       {"velocity", "m/s", 7},
                       {"angular_velocity", "rad/s", 10}};
    char number[24];
    snprintf(number, sizeof number, "%d", index);
    if (!body)
        body = number;
    for (int q = 0; q < 4; q++)
        for (int axis = 0; axis < 3; axis++) {
            yk_observed_row *row = add_row(o, YK_OBSERVED_MOTION, o->raw_count + quantities[q].raw,
                                           quantities[q].unit);
            row->is_rotation = q == 1;
            row->axis = axis;
            if (!row->is_rotation)
                row->raw += axis;
            snprintf(row->name, sizeof row->name, "%.60s.%.60s.%s.%c", subsystem, body,
                     quantities[q].name, axis_letters[axis]);
        }
    o->raw_count += BODY_RAW;
}

static void add_channel(yk_observer *o, yk_channel_info info)
{
    yk_observed_class kind = classify(info.name, info.unit, info.component_count);
    for (int k = 0; k < info.component_count; k++) {
        yk_observed_row *row = add_row(o, kind, o->raw_count++, info.unit);
        if (info.component_count == 1)
            snprintf(row->name, sizeof row->name, "%s", info.name);
        else if (info.component_count == 3)
            snprintf(row->name, sizeof row->name, "%.150s.%c", info.name, axis_letters[k]);
        else if (info.component_count == 4)
            snprintf(row->name, sizeof row->name, "%.150s.%c", info.name, "wxyz"[k]);
        else
            snprintf(row->name, sizeof row->name, "%.140s.%d", info.name, k + 1);
    }
}

/* The state of a subsystem that has no bodies, such as a controller: it may have states that no
 * channel shows. */
static yk_state_layout hidden_layout(const yk_subsystem *subsystem, int body_count)
{
    const yk_rollback_ops *ops = subsystem->ops->rollback;
    if (body_count > 0 || !ops)
        return (yk_state_layout){0};
    return ops->layout(subsystem);
}

yk_status yk_observer_create(yk_context *context, const yk_scenario *scenario, yk_system *system,
                             yk_observer *o)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    *o = (yk_observer){.context = context,
                       .system = system,
                       .body_subsystems = info->subsystem_count,
                       .channel_count = yk_system_channel_count(system)};

    /* Count. */
    size_t bodies = 0;
    size_t most = 0;
    size_t rows = 0;
    for (int s = 0; s < info->subsystem_count; s++) {
        size_t own = (size_t)yk_system_body_count(system, (yk_subsystem_id){s});
        bodies += own;
        most = own > most ? own : most;
    }
    rows += BODY_ROWS * bodies;
    for (int i = 0; i < o->channel_count; i++)
        rows += (size_t)yk_system_channel_at(system, (yk_channel_id){i}).component_count;

    o->words = yk_allocate(context, (size_t)info->subsystem_count + 1, sizeof *o->words);
    if (!o->words)
        return YK_ERROR_MEMORY;
    size_t longest = 0;
    for (int s = 0; s < info->subsystem_count; s++) {
        yk_state_layout layout =
            hidden_layout(info->subsystems[s], yk_system_body_count(system, (yk_subsystem_id){s}));
        o->words[s] = (int)layout.continuous_count;
        rows += layout.continuous_count;
        longest = layout.word_count > longest ? layout.word_count : longest;
    }

    o->rows = yk_allocate(context, rows + 1, sizeof *o->rows);
    o->image = yk_allocate(context, longest + 1, sizeof *o->image);
    o->channels = yk_allocate(context, (size_t)o->channel_count + 1, sizeof *o->channels);
    o->bodies = yk_allocate(context, most + 1, sizeof *o->bodies);
    if (!o->rows || !o->image || !o->channels || !o->bodies) {
        yk_observer_release(o);
        return YK_ERROR_MEMORY;
    }

    /* Describe. */
    for (int s = 0; s < info->subsystem_count; s++)
        for (int b = 0; b < yk_system_body_count(system, (yk_subsystem_id){s}); b++)
            add_body(o, info->subsystem_names[s],
                     yk_system_body_name(system, (yk_subsystem_id){s}, (yk_body_id){b}), b);
    o->channel_raw = o->raw_count;
    for (int i = 0; i < o->channel_count; i++) {
        o->channels[i] = (yk_channel_id){i};
        add_channel(o, yk_system_channel_at(system, o->channels[i]));
    }
    o->subsystems = info->subsystems;
    o->word_raw = o->raw_count;
    for (int s = 0; s < info->subsystem_count; s++)
        for (int i = 0; i < o->words[s]; i++) {
            yk_observed_row *row = add_row(o, YK_OBSERVED_WORD, o->raw_count++, "");
            snprintf(row->name, sizeof row->name, "%.100s.state_%d", info->subsystem_names[s],
                     i + 1);
        }
    return YK_OK;
}

void yk_observer_release(yk_observer *o)
{
    if (!o->context)
        return;
    yk_free(o->context, o->rows);
    yk_free(o->context, o->words);
    yk_free(o->context, o->image);
    yk_free(o->context, o->channels);
    yk_free(o->context, o->bodies);
    *o = (yk_observer){0};
}

yk_status yk_observer_read(yk_observer *o, double *raw)
{
    double *to = raw;
    for (int s = 0; s < o->body_subsystems; s++) {
        yk_subsystem_id subsystem = {s};
        int count = yk_system_body_count(o->system, subsystem);
        if (count == 0)
            continue;
        yk_status status =
            yk_system_read_bodies(o->system, subsystem, (yk_body_id){0}, count, o->bodies);
        if (YK_FAILED(status))
            return status;
        for (int b = 0; b < count; b++, to += BODY_RAW) {
            const yk_body_state *body = &o->bodies[b];
            const double numbers[BODY_RAW] = {
                body->position.x,         body->position.y,         body->position.z,
                body->orientation.w,      body->orientation.x,      body->orientation.y,
                body->orientation.z,      body->velocity.x,         body->velocity.y,
                body->velocity.z,         body->angular_velocity.x, body->angular_velocity.y,
                body->angular_velocity.z,
            };
            memcpy(to, numbers, sizeof numbers);
        }
    }

    yk_status status =
        yk_system_read_channels(o->system, o->channels, o->channel_count, raw + o->channel_raw);
    to = raw + o->word_raw;
    for (int s = 0; s < o->body_subsystems; s++) {
        if (o->words[s] == 0)
            continue;
        o->subsystems[s]->ops->rollback->get(o->subsystems[s], o->image);
        memcpy(to, o->image, (size_t)o->words[s] * sizeof *to);
        to += o->words[s];
    }
    return YK_FAILED(status) ? status : YK_OK;
}

void yk_observer_difference(const yk_observer *o, double factor, const double *plus,
                            const double *minus, double *rows)
{
    for (int i = 0; i < o->row_count; i++) {
        const yk_observed_row *row = &o->rows[i];
        const double *p = plus + row->raw;
        const double *m = minus + row->raw;
        if (!row->is_rotation) {
            rows[i] = factor * (*p - *m);
            continue;
        }
        yk_quat end = {p[0], p[1], p[2], p[3]};
        yk_quat begin = {m[0], m[1], m[2], m[3]};
        yk_vec3 turned = yk_so3_log(yk_q_mul(end, yk_q_conjugate(begin)));
        const double angles[3] = {turned.x, turned.y, turned.z};
        rows[i] = factor * angles[row->axis];
    }
}

int yk_observer_find(const yk_observer *o, const char *name, int *first)
{
    /* A component, or a channel with all of them. */
    size_t length = strlen(name);
    int count = 0;
    for (int i = 0; i < o->row_count; i++) {
        const yk_observed_row *row = &o->rows[i];
        if (strcmp(row->name, name) == 0) {
            *first = i;
            return 1;
        }
        bool is_component = strncmp(row->name, name, length) == 0 && row->name[length] == '.' &&
                            strlen(row->name + length) == 2;
        if (!is_component)
            continue;
        if (count == 0)
            *first = i;
        else if (i != *first + count)
            break;
        count++;
    }
    return count;
}
