/* Observations during a run: wrenches, gaps, energies and loops. findings.c evaluates them. */
#include "analysis/run.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/remedies.h"
#include "base/restored.h"
#include "base/text.h"
#include "math/vec3.h"
#include "yoke/nonsmooth.h"

static const yk_port_value *wrench_side(const yk_watch *watch, int i)
{
    const yk_interface_def *interface = &watch->info->interfaces[i];
    return yk_system_port_value(watch->system, interface->wrench_subsystem, interface->wrench_port);
}

/* The motion of the wrench side (0) or the motion side (1). */
static const yk_motion *side_motion(const yk_watch *watch, int i, int side)
{
    const yk_interface_def *def = &watch->info->interfaces[i];
    yk_subsystem_id subsystem = side == 0 ? def->wrench_subsystem : def->motion_subsystem;
    yk_port_id port = side == 0 ? def->wrench_port : def->motion_port;
    return &yk_system_port_value(watch->system, subsystem, port)->motion;
}

bool yk_watch_has_trait(const yk_watch *watch, unsigned trait)
{
    return yk_scheme_traits(&watch->info->scheme) & trait;
}

void yk_watch_tolerances(const yk_watch *watch, double *absolute, double *relative)
{
    *absolute = 0;
    *relative = 0;
    const yk_scheme_def *scheme = &watch->info->scheme;
    if (yk_watch_has_trait(watch, YK_SCHEME_ITERATES) && scheme->ops->tolerances)
        scheme->ops->tolerances(scheme->options, absolute, relative);
}

/* While the run goes --------------------------------------------------------------------------- */

yk_status yk_watch_open(yk_context *context, yk_system *system, const yk_scenario_info *info,
                        yk_watch *watch)
{
    *watch = (yk_watch){.context = context, .system = system, .info = info};
    yk_budget_open(&watch->budget, system, info);

    /* A merged system has no interfaces to observe. */
    bool merges = yk_watch_has_trait(watch, YK_SCHEME_MERGES);
    int loops = yk_system_loop_count(system);
    if ((info->interface_count == 0 || merges) && loops == 0)
        return YK_OK;

    size_t count = (size_t)info->interface_count;
    watch->interfaces = yk_allocate(context, count, sizeof *watch->interfaces);
    watch->loops = yk_allocate(context, (size_t)loops, sizeof *watch->loops);
    watch->limits = yk_allocate(context, 1, sizeof *watch->limits);

    /* Masses and loops, before anything has moved. */
    yk_interface_masses *probes = yk_allocate(context, count, sizeof *probes);
    yk_status status = YK_OK;
    if (!watch->interfaces || !watch->loops || !watch->limits || !probes) {
        status = YK_ERROR_MEMORY;
    } else {
        watch->count = merges ? 0 : info->interface_count;
        watch->loop_count = loops;
    }

    for (int i = 0; i < watch->loop_count; i++)
        watch->loops[i].last = yk_system_wire_value(system, yk_system_loop(system, i).wire);
    if (status == YK_OK)
        status = yk_limits_find(context, system, info, watch->limits, probes);

    for (int i = 0; status == YK_OK && i < watch->count; i++) {
        yk_watched *w = &watch->interfaces[i];
        w->origin = wrench_side(watch, i)->motion.position;
        w->probe = probes[i];
        const yk_interface_def *def = &info->interfaces[i];
        w->initial_potential[0] = yk_system_energy_balance(system, def->wrench_subsystem).potential;
        w->initial_potential[1] = yk_system_energy_balance(system, def->motion_subsystem).potential;
        yk_watch_tolerances(watch, &w->ripple.resolved, &w->ripple.relative);
        w->last_time = yk_system_time(system);
        for (int k = 0; k < 2; k++) {
            w->paths[k].position = side_motion(watch, i, k)->position;
            w->paths[k].velocity = side_motion(watch, i, k)->velocity;
        }
    }

    yk_free(context, probes);
    return status;
}

void yk_watch_close(yk_watch *watch)
{
    yk_free(watch->context, watch->interfaces);
    yk_free(watch->context, watch->loops);
    yk_free(watch->context, watch->limits);
}

/* The interface that created most energy; -1: there is none. */
static int find_maker(const yk_watch *watch)
{
    int worst = -1;
    double most = -INFINITY;
    for (int i = 0; i < watch->count; i++) {
        double made =
            yk_system_interface_statistics(watch->system, (yk_interface_id){i}).energy_created;
        if (made > most || isnan(made)) {
            most = made;
            worst = i;
        }
    }

    return worst;
}

/* Wrench and energies on both sides of an interface. */
static void observe_sides(yk_watch *watch, int i)
{
    yk_watched *w = &watch->interfaces[i];
    const yk_interface_def *def = &watch->info->interfaces[i];
    const yk_port_value *value =
        yk_system_port_value(watch->system, def->motion_subsystem, def->motion_port);
    w->force_squares += yk_v3_norm2(value->wrench.force);
    w->torque_squares += yk_v3_norm2(value->wrench.torque);

    const yk_subsystem_id sides[2] = {def->wrench_subsystem, def->motion_subsystem};
    for (int k = 0; k < 2; k++) {
        yk_energy_balance b = yk_system_energy_balance(watch->system, sides[k]);
        double released = fabs(b.potential - w->initial_potential[k]);
        w->side_energy[k] = fmax(w->side_energy[k], b.kinetic + released);
    }
}

/* Compares the displacement of both sides with their velocity, by the trapezoidal rule: velocities
 * that jump, and integrators that use those at the end of the step, make errors that do not add
 * up. */
static void follow_paths(yk_watch *watch, int i)
{
    yk_watched *w = &watch->interfaces[i];
    double now = yk_system_time(watch->system);
    double h = now - w->last_time;
    w->last_time = now;
    for (int k = 0; k < 2; k++) {
        const yk_motion *motion = side_motion(watch, i, k);
        yk_watched_path *path = &w->paths[k];
        yk_vec3 moved = yk_v3_sub(motion->position, path->position);
        yk_vec3 mean = yk_v3_scale(0.5 * h, yk_v3_add(motion->velocity, path->velocity));
        path->displacement = yk_v3_add(path->displacement, moved);
        path->integral = yk_v3_add(path->integral, mean);
        double difference = yk_v3_norm(yk_v3_sub(path->displacement, path->integral));
        path->difference = fmax(path->difference, difference);
        path->travel = fmax(path->travel, yk_v3_norm(path->displacement));
        path->travel = fmax(path->travel, yk_v3_norm(path->integral));
        path->position = motion->position;
        path->velocity = motion->velocity;
    }
}

yk_status yk_watch_step(yk_watch *watch, int64_t step)
{
    /* Energies are summed over all subsystems, which is not done in every step. */
    bool look = step >= watch->budget.next;
    if (look) {
        yk_budget_step(&watch->budget, step);
        watch->looks++;
    }

    for (int i = 0; i < watch->loop_count; i++) {
        yk_watched_loop *loop = &watch->loops[i];
        double now = yk_system_wire_value(watch->system, yk_system_loop(watch->system, i).wire);
        loop->change_squares += (now - loop->last) * (now - loop->last);
        loop->squares += now * now;
        loop->last = now;
    }

    int64_t quarter = watch->info->step_count / 4;
    int64_t half = watch->info->step_count / 2;

    for (int i = 0; i < watch->count; i++) {
        yk_watched *w = &watch->interfaces[i];

        /* The wrench of every step, if the ripple needs it. */
        if (yk_ripple_counts(&w->ripple)) {
            const yk_interface_def *def = &watch->info->interfaces[i];
            const yk_port_value *value =
                yk_system_port_value(watch->system, def->motion_subsystem, def->motion_port);
            yk_ripple_add(&w->ripple, &value->wrench, yk_system_time(watch->system));
        }

        follow_paths(watch, i);

        /* Gaps and motions at intervals. */
        if (look) {
            const yk_motion *a = &wrench_side(watch, i)->motion;
            yk_interface_gap gap = yk_system_interface_gap(watch->system, (yk_interface_id){i});
            w->travel = fmax(w->travel, yk_v3_norm(yk_v3_sub(a->position, w->origin)));
            w->gap_squares += gap.velocity * gap.velocity;
            w->speed_squares += yk_v3_norm2(a->velocity);
            w->spin_gap_squares += gap.angular_velocity * gap.angular_velocity;
            w->spin_squares += yk_v3_norm2(a->angular_velocity);
            observe_sides(watch, i);
        }

        /* Drift shows in the largest gaps of growing parts of the run. */
        if (step == quarter) {
            w->quarter =
                yk_system_interface_statistics(watch->system, (yk_interface_id){i}).max_gap;
            w->quarter_travel = w->travel;
        }

        if (step == half) {
            w->half = yk_system_interface_statistics(watch->system, (yk_interface_id){i}).max_gap;
            w->half_travel = w->travel;
        }
    }

    if (!look || !yk_budget_exploded(&watch->budget))
        return YK_OK;

    /* Nothing after this step can be right: its time and location. */
    const yk_scenario_info *info = watch->info;
    int worst = find_maker(watch);
    char where[256] = "";
    if (worst >= 0) {
        const yk_interface_def *interface = &info->interfaces[worst];
        snprintf(where, sizeof where,
                 ", most of it made at interface '%.60s' between '%.60s' and '%.60s'",
                 interface->name, info->subsystem_names[interface->wrench_subsystem.index],
                 info->subsystem_names[interface->motion_subsystem.index]);
    }

    yk_status status = YK_ERROR_DIVERGED;
    const char *size = "a million times";
    if (watch->budget.not_finite) {
        status = YK_ERROR_NOT_FINITE;
        size = "infinitely many times";
    }

    /* A force-motion exchange, the only one that most FMUs allow, is unstable with a heavy motion
     * side. Schemes that repeat steps are stable, if all subsystems support rollback. */
    char remedy[100] = "";
    const yk_scheme_ops *other = yk_scheme_with(YK_SCHEME_IS_FORCE_FORCE);
    yk_choice choices[YK_CHOICES_MAX];
    if (!other || !yk_scheme_fits(other, info))
        other = yk_choices(YK_VARIANT_ANY_MASS_RATIO, choices) > 0 ? choices[0].scheme : NULL;
    bool exchanges = yk_watch_has_trait(watch, YK_SCHEME_EXCHANGES_MOTION) ||
                     yk_watch_has_trait(watch, YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE);
    if (worst >= 0 && exchanges && other && other != info->scheme.ops &&
        yk_scheme_fits(other, info))
        snprintf(remedy, sizeof remedy, "; use coupling.scheme %.40s", other->name);

    return yk_fail(watch->context, status,
                   "the run explodes: at t = %g s (step %lld of %lld) its energy is %s what there "
                   "was and was fed in (%.3g J)%s%s",
                   yk_system_time(watch->system), (long long)step, (long long)info->step_count,
                   size, watch->budget.sound, where, remedy);
}

bool yk_watch_runs_away(const yk_watch *watch, char *reason, size_t capacity)
{
    const yk_scenario_info *info = watch->info;
    double t = yk_system_time(watch->system);

    /* An oscillation that has grown for some windows is significant, however small it still is. */
    for (int i = 0; i < watch->count; i++) {
        const yk_ripple *r = &watch->interfaces[i].ripple;
        if (r->longest < YK_RIPPLE_ALARM)
            continue;

        yk_format(
            reason, capacity,
            "at t = %g s the wrench of interface '%.60s' swings from step to step, and grows by "
            "%.3g per step",
            t, info->interfaces[i].name, r->growth);
        return true;
    }

    if (!yk_budget_runs_away(&watch->budget))
        return false;

    int maker = find_maker(watch);
    const char *name = "";
    if (maker >= 0)
        name = info->interfaces[maker].name;
    yk_format(
        reason, capacity,
        "at t = %g s the energy grows beyond what there was and was fed in, most at interface "
        "'%.60s'",
        t, name);
    return true;
}

/* Channels ------------------------------------------------------------------------------------- */

int yk_watch_find(const yk_scenario_info *info, int subsystem, const char *name)
{
    yk_subsystem *part = info->subsystems[subsystem];
    if (!part->ops->channels)
        return -1;

    /* By name, because names have the same meaning in all kinds of subsystems. */
    const yk_channel *channels;
    int count = part->ops->channels->list(part, &channels);
    for (int i = 0; i < count; i++)
        if (channels[i].component_count == 1 && strcmp(channels[i].name, name) == 0)
            return i;

    return -1;
}

bool yk_watch_channel(yk_system *system, const yk_scenario_info *info, int subsystem,
                      const char *name, double *value)
{
    int channel = yk_watch_find(info, subsystem, name);
    if (channel < 0)
        return false;

    yk_system_read_channel(system, (yk_subsystem_id){subsystem}, channel, value);
    return true;
}

/* Checkpoints ---------------------------------------------------------------------------------- */

enum {
    BUDGET_WORDS = (sizeof(yk_budget) + sizeof(double) - 1) / sizeof(double),
    WATCHED_WORDS = (sizeof(yk_watched) + sizeof(double) - 1) / sizeof(double),
    LOOP_WORDS = sizeof(yk_watched_loop) / sizeof(double),
};

size_t yk_watch_words(const yk_watch *watch)
{
    return 1 + BUDGET_WORDS + (size_t)watch->count * WATCHED_WORDS +
           (size_t)watch->loop_count * LOOP_WORDS;
}

void yk_watch_save(const yk_watch *watch, double *words)
{
    memset(words, 0, yk_watch_words(watch) * sizeof *words);
    memcpy(words, &watch->looks, sizeof watch->looks);

    /* Without the pointers, which differ between processes. */
    yk_budget budget = watch->budget;
    budget.system = NULL;
    budget.info = NULL;
    memcpy(words + 1, &budget, sizeof budget);
    words += 1 + BUDGET_WORDS;
    for (int i = 0; i < watch->count; i++)
        memcpy(words + (size_t)i * WATCHED_WORDS, &watch->interfaces[i], sizeof(yk_watched));
    words += (size_t)watch->count * WATCHED_WORDS;
    for (int i = 0; i < watch->loop_count; i++)
        memcpy(words + (size_t)i * LOOP_WORDS, &watch->loops[i], sizeof(yk_watched_loop));
}

yk_status yk_watch_restore(yk_watch *watch, const double *words)
{
    int64_t stride = watch->budget.stride;
    memcpy(&watch->looks, words, sizeof watch->looks);
    memcpy(&watch->budget, words + 1, sizeof watch->budget);
    watch->budget.system = watch->system;
    watch->budget.info = watch->info;
    words += 1 + BUDGET_WORDS;
    bool valid = yk_is_restored_count(watch->looks) && yk_budget_is_valid(&watch->budget, stride);
    for (int i = 0; i < watch->count; i++) {
        yk_watched *w = &watch->interfaces[i];
        memcpy(w, words + (size_t)i * WATCHED_WORDS, sizeof *w);
        valid = valid && yk_ripple_is_valid(&w->ripple) && w->probe.axis >= -1 && w->probe.axis < 6;
    }

    words += (size_t)watch->count * WATCHED_WORDS;
    for (int i = 0; i < watch->loop_count; i++)
        memcpy(&watch->loops[i], words + (size_t)i * LOOP_WORDS, sizeof(yk_watched_loop));

    if (valid)
        return YK_OK;
    return yk_fail(watch->context, YK_ERROR_INPUT, "what the run has seen so far is damaged");
}
