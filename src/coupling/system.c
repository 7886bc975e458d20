#include "coupling/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "coupling/balance.h"
#include "coupling/index1.h"
#include "coupling/interface.h"
#include "coupling/ledger.h"
#include "coupling/merging.h"
#include "coupling/placement.h"
#include "coupling/relaxed.h"
#include "coupling/rim.h"
#include "coupling/wrenches.h"
#include "math/polynomial.h"

/* Steps that are shorter than this (s) are timed only now and then: reading the clock would cost more than they do. */
static const double SHORT_STEP = 5e-6;
enum { TIMING_STRIDE = 64 };

/* Iterations that a consistent start may take, and what counts as consistent. */
enum { START_ITERATIONS = 100, START_ROUNDS = 3 };
static const double START_TOLERANCE = 1e-12;

typedef struct scheme_row {
    const char *name;
    yk_status (*step)(yk_system *system, yk_step_report *report);
    bool feeds;  /* it carries wires: yk_system_feed comes before every advance */
    bool merges; /* the subsystems to one */
} scheme_row;

static const scheme_row schemes[] = {
    [YK_SCHEME_EXPLICIT] = {"explicit", yk_explicit_step, .feeds = true},
    [YK_SCHEME_TIGHT] = {"tight", yk_tight_step, .feeds = true},
    [YK_SCHEME_MONOLITHIC] = {"monolithic", yk_monolithic_step, .feeds = true, .merges = true},
    [YK_SCHEME_INDEX1] = {"index1", yk_index1_step, .feeds = true},
    [YK_SCHEME_RIM] = {"rim", yk_rim_step, .feeds = true},
    [YK_SCHEME_RELAXED] = {"relaxed", yk_relaxed_step, .feeds = true, .merges = true},
};

yk_scheme_def yk_scheme_default(void)
{
    return (yk_scheme_def){.kind = YK_SCHEME_EXPLICIT,
                           .order = YK_ORDER_GAUSS_SEIDEL,
                           .inputs = YK_INPUTS_INDEX_1,
                           .tolerance = 1e-6,
                           .iterations = 20,
                           .relaxation = YK_RELAXATION_QUASI_NEWTON,
                           .threads = 1,
                           .index1 = {.degree = 3, .reuse = true}};
}

bool yk_follows_polynomials(const yk_subsystem *subsystem)
{
    return subsystem->ops->input_degree && subsystem->ops->input_degree(subsystem) >= YK_SIGNAL_DEGREE_MAX;
}

bool yk_scheme_merges(yk_scheme_kind kind)
{
    return schemes[kind].merges;
}

const char *yk_system_scheme_name(const yk_system *system)
{
    return schemes[system->scheme.kind].name;
}

yk_status yk_system_check_feeds(const yk_system *system)
{
    const scheme_row *row = &schemes[system->scheme.kind];
    if (row->feeds) return YK_OK;
    return yk_fail(
        system->context, YK_ERROR_CAPABILITY,
        "scheme %s does not carry wires between subsystems; choose the scheme explicit, tight, index1 or rim",
        row->name);
}

/* Verbs ------------------------------------------------------------------------------------------------------------ */

void yk_system_gather(yk_member *member)
{
    for (int port = 0; port < member->port_count; port++) {
        member->subsystem->ops->output(member->subsystem, port, &member->values[port]);
        if (member->placement) yk_placement_value(member->placement, member->ports[port].kind, &member->values[port]);
    }
    yk_wires_read(member);
}

/* The inputs as the subsystem takes them, from `offset` on in the step. */
static const yk_signal *own_inputs(yk_system *system, yk_member *m, double offset)
{
    if (!m->placement && !m->low_order && offset == 0) return m->inputs;
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        bool effort = &system->members[link->def.effort_subsystem] == m;
        if (!effort && &system->members[link->def.motion_subsystem] != m) continue;
        int port = effort ? link->def.effort_port : link->def.motion_port;
        yk_causality causality = effort ? YK_TAKES_EFFORT : yk_link_takes(system, link);
        yk_signal shifted = m->low_order && causality == YK_TAKES_EFFORT
                                ? yk_index1_substep_input(system, i, effort ? 0 : 1, offset)
                                : yk_signal_shift(&m->inputs[port], link->kind, offset);
        if (m->placement)
            yk_placement_input(m->placement, link->kind, causality, &shifted, &m->own_inputs[port]);
        else
            m->own_inputs[port] = shifted;
    }
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        if (&system->members[def->target_subsystem] == m)
            m->own_inputs[def->target_port] = yk_signal_shift(&m->inputs[def->target_port], YK_PORT_SIGNAL, offset);
    }
    return m->own_inputs;
}

const yk_signal *yk_system_inputs(yk_system *system, int member)
{
    return own_inputs(system, &system->members[member], 0);
}

typedef yk_status (*member_move)(yk_system *system, yk_member *member);

/* Adds to the mean efforts at motion ports `factor` times the torque that the last or the mean force has about the marker
 * that the port follows, `t` after the start of the step: markers of some joints slide apart. */
static void add_arms(const yk_system *system, yk_member *m, double t, double factor, bool mean)
{
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (yk_link_b(system, link) != m || link->kind != YK_PORT_MARKER) continue;
        int port = link->def.motion_port;
        yk_vec3 followed = yk_signal_motion(&m->inputs[port], YK_PORT_MARKER, t).position;
        yk_vec3 force = mean ? m->mean_efforts[port].force : m->values[port].effort.force;
        yk_vec3 torque = yk_v3_cross(yk_v3_sub(m->values[port].motion.position, followed), force);
        m->mean_efforts[port].torque = yk_v3_axpy(factor, torque, m->mean_efforts[port].torque);
    }
}

/* The effort of a member with substeps is the mean over them: what its partner receives is then the whole impulse. */
static void add_mean_efforts(yk_member *m)
{
    yk_system_gather(m);
    for (int port = 0; port < m->port_count; port++)
        m->mean_efforts[port] =
            yk_effort_combine(m->ports[port].kind, &m->mean_efforts[port], 1.0 / m->substeps, &m->values[port].effort);
}

static yk_status step_in_parts(yk_system *system, yk_member *m)
{
    double h = system->h / m->substeps;
    bool tight = system->scheme.kind == YK_SCHEME_TIGHT;
    yk_status worst = YK_OK;
    memset(m->mean_efforts, 0, (size_t)m->port_count * sizeof *m->mean_efforts);
    yk_ledger_begin_substeps(m);
    for (int i = 0; i < m->substeps; i++) {
        yk_status status = m->subsystem->ops->step(m->subsystem, system->t + i * h, h, own_inputs(system, m, i * h));
        if (status < 0) return status;
        if (status > worst) worst = status;
        add_mean_efforts(m);
        if (tight) add_arms(system, m, (i + 1) * h, 1.0 / m->substeps, false);
        yk_ledger_add_substep(m, h);
        if (m->moments) yk_index1_add_moments(m, i + 1);
    }
    /* As an effort at its own marker where that is now. */
    if (tight) add_arms(system, m, system->h, -1, true);
    return worst;
}

static yk_status step_member(yk_system *system, yk_member *m)
{
    if (m->moments) yk_index1_begin_moments(m);
    if (system->relaxed) {
        yk_status status = yk_relaxed_sweep(system, m);
        if (status < 0) return status;
    }
    if (m->substeps > 1) return step_in_parts(system, m);
    if (m->sensitivity)
        return m->subsystem->ops->step_sensitivity(m->subsystem, system->t, system->h, own_inputs(system, m, 0),
                                                   m->sensitivity_degree, m->sensitivity);
    return m->subsystem->ops->step(m->subsystem, system->t, system->h, own_inputs(system, m, 0));
}

static yk_status iterate_member(yk_system *system, yk_member *m)
{
    yk_iteration report;
    return m->subsystem->ops->iterate(m->subsystem, system->t, system->h, own_inputs(system, m, 0), &report);
}

/* Calls the member, keeps the time that it took, and reads its outputs. */
static inline yk_status call_member(yk_system *system, int member, member_move move)
{
    yk_member *m = &system->members[member];
    yk_subsystem_statistics *s = &m->statistics;
    bool timed = s->calls % TIMING_STRIDE == 0 || s->seconds > SHORT_STEP * (double)m->timed_calls;
    double begin = timed ? yk_clock_seconds() : 0;
    m->status = move(system, m);
    if (timed) s->seconds += yk_clock_seconds() - begin, m->timed_calls++;
    s->calls++;
    s->steps += m->substeps;
    yk_system_gather(m);
    if (m->moments && m->substeps == 1) yk_index1_add_moments(m, 1);
    for (int port = 0; m->substeps > 1 && port < m->port_count; port++) m->values[port].effort = m->mean_efforts[port];
    if (m->substeps > 1) yk_wires_read(m);
    m->advanced = true;
    return m->status;
}

yk_status yk_system_advance(yk_system *system, int member)
{
    return call_member(system, member, step_member);
}

yk_status yk_system_advance_sensitive(yk_system *system, int member, int degree, double *sensitivity)
{
    yk_member *m = &system->members[member];
    m->sensitivity = sensitivity, m->sensitivity_degree = degree;
    yk_status status = yk_system_advance(system, member);
    m->sensitivity = NULL;
    return status;
}

yk_status yk_system_iterate(yk_system *system, int member)
{
    return call_member(system, member, iterate_member);
}

static const char *member_message(const yk_member *m)
{
    const yk_subsystem_ops *ops = m->subsystem->ops;
    return ops->message ? ops->message(m->subsystem) : yk_status_text(m->status);
}

/* What carries a coupling that ran away: efforts on both sides know no limit of masses or steps. */
static const char *steadier(const yk_scheme_def *scheme)
{
    if (schemes[scheme->kind].merges) return "use a smaller time.step";
    if (scheme->kind == YK_SCHEME_INDEX1) return "let `yoke advise` find a scheme and a step";
    return "use coupling.scheme index1, or let `yoke advise` find a scheme and a step";
}

yk_status yk_system_blame(yk_system *system, int member)
{
    const yk_member *m = &system->members[member];
    const char *why = member_message(m);
    double t = system->t + system->h;
    long long step = (long long)system->step_count + 1;
    const char *scheme = schemes[system->scheme.kind].name;
    if (system->link_count + system->wire_count == 0)
        return yk_fail(system->context, m->status, "at t = %g s (step %lld) subsystem '%s' failed: %s", t, step,
                       m->name, why);

    /* A subsystem that is asked for the impossible fails last. */
    bool numerical = m->status == YK_ERROR_NOT_FINITE || m->status == YK_ERROR_DIVERGED;
    yk_runaway run = numerical ? yk_ledger_runaway(system) : (yk_runaway){.known = true};
    if (run.found && run.interface >= 0) {
        const yk_link *link = &system->links[run.interface];
        /* What the solver says, without what it takes for the cause and the remedy. */
        const char *clause = strstr(why, ": ");
        const char *second = clause ? strstr(clause + 2, ": ") : NULL, *end = strchr(why, ';');
        if (second && (!end || second < end)) end = second;
        int length = end ? (int)(end - why) : (int)strlen(why);
        char made[48] = "more energy than can be counted";
        if (isfinite(run.made)) snprintf(made, sizeof made, "%.3g J of nothing", run.made);
        return yk_fail(system->context, m->status,
                       "the coupling is unstable: it made %s, most at interface '%s' between '%s' and '%s', until "
                       "subsystem '%s' could not make step %lld of scheme %s to t = %g s (%.*s); %s",
                       made, link->def.name, yk_link_a(system, link)->name, yk_link_b(system, link)->name, m->name,
                       step, scheme, t, length, why, steadier(&system->scheme));
    }
    bool unknown = numerical && !run.known;
    return yk_fail(system->context, m->status, "at t = %g s (step %lld of scheme %s) subsystem '%s' failed: %s%s%s", t,
                   step, scheme, m->name, why, unknown ? "; if the coupling is unstable, " : "",
                   unknown ? steadier(&system->scheme) : "");
}

/* Stepping --------------------------------------------------------------------------------------------------------- */

void yk_system_keep_start(yk_system *system)
{
    for (int i = 0; i < system->member_count; i++) {
        yk_member *m = &system->members[i];
        for (int port = 0; port < m->port_count; port++) {
            if (m->ports[port].kind == YK_PORT_MARKER) {
                m->before[port] = m->values[port].motion;
                continue;
            }
            m->before[port].position.x = m->values[port].motion.position.x;
            m->before[port].velocity.x = m->values[port].motion.velocity.x;
            m->before[port].acceleration.x = m->values[port].motion.acceleration.x;
        }
        m->advanced = false;
    }
    for (int i = 0; i < system->wire_count; i++) system->wires[i].before = system->wires[i].now;
}

void yk_system_keep_earlier(yk_system *system)
{
    for (int i = 0; i < system->member_count; i++) {
        yk_member *m = &system->members[i];
        if (!m->earlier) continue;
        for (int port = 0; port < m->port_count; port++)
            if (m->ports[port].kind != YK_PORT_SIGNAL) m->earlier[port] = m->before[port];
        m->earlier_step = system->h;
    }
}

void yk_system_pack_efforts(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    double *fresh = m->fresh, *applied = m->applied;
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        if (link->def.effort_subsystem != member || link->balanced) continue;
        const yk_port_value *b = &yk_link_b(system, link)->values[link->def.motion_port];
        yk_effort effort = yk_effort_opposite(link->kind, b, link->origin);
        fresh = yk_effort_pack(link->kind, &effort, fresh);
        applied = yk_effort_pack(link->kind, &link->applied, applied);
    }
}

void yk_system_apply_efforts(yk_system *system, int member, const double *efforts)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        if (link->def.effort_subsystem != member || link->balanced) continue;
        efforts = yk_effort_unpack(link->kind, efforts, &link->applied);
        yk_input_constant(link->kind, &link->applied, &system->members[member].inputs[link->def.effort_port]);
    }
}

static yk_status check_finite(yk_system *system)
{
    for (int i = 0; i < system->member_count; i++) {
        yk_member *m = &system->members[i];
        for (int port = 0; port < m->port_count; port++) {
            if (yk_port_value_finite(m->ports[port].kind, &m->values[port])) continue;
            m->status = YK_ERROR_NOT_FINITE;
            yk_status status = yk_system_blame(system, i);
            return yk_fail(system->context, status, "%s (port '%s')", yk_last_message(system->context),
                           m->ports[port].name);
        }
    }
    return YK_OK;
}

yk_status yk_system_scheme_step(yk_system *system, yk_step_report *report)
{
    yk_status status = schemes[system->scheme.kind].step(system, report);
    if (status < 0) return status;
    yk_status finite = check_finite(system);
    return finite < 0 ? finite : status;
}

/* Start ------------------------------------------------------------------------------------------------------------ */

static yk_status start_member(yk_system *system, int member, const yk_signal *inputs)
{
    yk_member *m = &system->members[member];
    m->status = m->subsystem->ops->start(m->subsystem, system->start, system->h / m->substeps, inputs);
    if (m->status < 0) return yk_system_blame(system, member);
    if (m->status > 0 && !inputs)
        yk_log(system->context, YK_LOG_WARNING, "subsystem '%s': %s", m->name, member_message(m));
    yk_system_gather(m);
    return YK_OK;
}

yk_status yk_system_start_member(yk_system *system, int member)
{
    yk_wires_feed_start(system, member);
    return start_member(system, member, own_inputs(system, &system->members[member], 0));
}

/* Effort sides first, each with the effort applied to it; then motion sides with the acceleration that follows. The
 * largest relative change of a wire is in `change`. */
static yk_status start_sweep(yk_system *system, double *change)
{
    for (int place = 0; place < system->member_count; place++) {
        int member = system->effort_sequence[place];
        yk_member *m = &system->members[member];
        for (int i = 0; i < system->link_count; i++) {
            yk_link *link = &system->links[i];
            if (link->def.motion_subsystem != member || link->balanced) continue;
            yk_motion a = yk_link_a(system, link)->values[link->def.effort_port].motion;
            if (link->lagged) {
                a.acceleration = link->told.acceleration;
                a.angular_acceleration = link->told.angular_acceleration;
            }
            link->origin = a.position;
            yk_input_taylor(link->kind, &a, &m->inputs[link->def.motion_port]);
        }
        yk_wires_feed_start(system, member);
        yk_status status = start_member(system, member, own_inputs(system, m, 0));
        if (status < 0) return status;
    }
    *change = yk_wires_start_change(system);
    return YK_OK;
}

/* Takes the wrenches that the motion sides needed to the effort sides; returns the largest relative change. */
static double update_start_wrenches(yk_system *system, bool first)
{
    double largest = 0;
    for (int i = 0; i < system->start_wrenches_count; i++) {
        yk_wrenches *w = &system->start_wrenches[i];
        yk_wrenches_read(system, w);
        double change = 0, size = 0;
        for (int k = 0; k < w->size; k++) {
            change += fabs(w->fresh[k] - w->applied[k]);
            size += fabs(w->fresh[k]);
        }
        largest = fmax(largest, change / (1 + size));
        if (first) yk_accelerator_restart(w->accelerator);
        yk_accelerator_next(w->accelerator, w->applied, w->fresh, w->next);
        yk_wrenches_apply(system, w, w->next);
    }
    return largest;
}

/* Initial efforts and accelerations that fit each other: without them the first step would be of lower order. */
static yk_status start_consistently(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        if (link->balanced) continue;
        link->applied = (yk_effort){{0, 0, 0}, {0, 0, 0}};
        link->told = yk_link_a(system, link)->values[link->def.effort_port].motion;
        yk_input_constant(link->kind, &link->applied, &yk_link_a(system, link)->inputs[link->def.effort_port]);
    }
    double change = 0;
    for (int i = 0; i < START_ITERATIONS; i++) {
        double wires;
        yk_status status = start_sweep(system, &wires);
        if (status < 0) return status;
        change = fmax(update_start_wrenches(system, i == 0), wires);
        /* In the first sweep wires may carry what their sources had before they started. */
        bool settled = i > 0 || system->wire_count == 0;
        if (settled && change <= START_TOLERANCE) return YK_OK;
    }
    yk_log(system->context, YK_LOG_WARNING,
           "the initial efforts and signals did not settle (relative change %g); the first steps are less accurate",
           change);
    return YK_OK;
}

/* The same where some interfaces are balanced: theirs are found with the others as they are, and the others with these. */
static yk_status start_in_balance(yk_system *system)
{
    bool others = system->wire_count > 0;
    for (int i = 0; i < system->link_count; i++) others = others || !system->links[i].balanced;
    yk_balance_clear(system);
    for (int round = 0; round < (others ? START_ROUNDS : 1); round++) {
        yk_status status = others ? start_consistently(system) : YK_OK;
        if (status == YK_OK) status = yk_balance_start(system);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* A start gap (rad) beyond which the markers are not misplaced by rounding or a guess but turned against each other. */
static const double TURNED = 0.01;
/* Gaps (m, rad; m/s, rad/s) that are worth a word. */
static const double NOTABLE = 1e-6, NOTABLE_SPEED = 1e-5;

yk_status yk_system_report_start_gap(yk_system *system, const char *name, const yk_interface_error *gap)
{
    /* Merged parts are assembled, which a rough guess of their places is enough for. */
    bool merged = system->merging != NULL;
    yk_log_level level = merged ? YK_LOG_INFO : YK_LOG_WARNING;
    const char *who = merged ? "the assembly pulls" : "the first steps pull";
    const char *when = merged ? "the start" : "the first step";
    if (gap->rotation > TURNED && !merged)
        return yk_fail(
            system->context, YK_ERROR_ARGUMENT,
            "interface '%s': its two markers start %.3g rad apart; give the interface an axis or orientation, "
            "turn one of the ports, or free that rotation",
            name, gap->rotation);
    if (gap->position > NOTABLE || gap->rotation > NOTABLE)
        yk_log(system->context, level,
               "interface '%s': its two sides start %.3g m and %.3g rad apart; %s them together", name, gap->position,
               gap->rotation, who);
    if (gap->velocity > NOTABLE_SPEED || gap->angular_velocity > NOTABLE_SPEED)
        yk_log(system->context, level,
               "interface '%s': its two sides start with velocities that differ by %.3g m/s and %.3g rad/s, which %s "
               "takes away like an impact; give both sides the same velocity at the start",
               name, gap->velocity, gap->angular_velocity, when);
    return YK_OK;
}

static yk_status check_start_gap(yk_system *system, yk_link *link)
{
    yk_ledger_add_gap(system, link, system->start);
    return yk_system_report_start_gap(system, link->def.name, &link->statistics.largest);
}

/* The efforts that a rollback to the start returns to. */
static void begin_means(yk_member *m)
{
    for (int port = 0; m->mean_efforts && port < m->port_count; port++) m->mean_efforts[port] = m->values[port].effort;
}

yk_status yk_system_start(yk_system *system)
{
    system->step_count = 0;
    system->t = system->start, system->h = system->step;
    system->statistics = (yk_system_statistics){0};
    for (int i = 0; i < system->member_count; i++) {
        system->members[i].statistics = (yk_subsystem_statistics){0};
        system->members[i].timed_calls = 0;
        system->members[i].earlier_step = 0;
        system->members[i].difference_runs = 0;
    }
    for (int i = 0; i < system->link_count; i++) {
        system->links[i].statistics = (yk_interface_statistics){0};
        system->links[i].residual = 0;
    }
    for (int i = 0; i < system->wrenches_count; i++) yk_accelerator_restart(system->wrenches[i].accelerator);
    /* Before the parts are assembled: that closes every gap. */
    yk_status status = system->merging ? yk_merging_check_start(system) : YK_OK;
    for (int i = 0; status == YK_OK && i < system->member_count; i++) status = start_member(system, i, NULL);
    yk_system_keep_start(system);
    /* Before the motion sides are told where to be: some go there at once. */
    for (int i = 0; status == YK_OK && i < system->link_count; i++) status = check_start_gap(system, &system->links[i]);
    if (status == YK_OK && system->index1 && system->link_count > 0)
        status = yk_index1_start(system);
    else if (status == YK_OK && system->balance)
        status = start_in_balance(system);
    else if (status == YK_OK && system->link_count + system->wire_count > 0)
        status = start_consistently(system);
    if (status == YK_OK && system->relaxed) status = yk_relaxed_start(system);
    if (status == YK_OK && system->rim) yk_rim_start(system);
    if (status == YK_OK) status = yk_system_prepare_states(system);
    if (status == YK_OK) status = yk_controller_start(system);
    if (status < 0) return status;
    for (int i = 0; i < system->link_count; i++) yk_ledger_add_gap(system, &system->links[i], system->start);
    yk_ledger_start(system);
    for (int i = 0; i < system->member_count; i++) begin_means(&system->members[i]);
    return YK_OK;
}

/* What is known ---------------------------------------------------------------------------------------------------- */

double yk_system_time(const yk_system *system)
{
    return system->start + (double)system->step_count * system->step;
}

int64_t yk_system_steps(const yk_system *system)
{
    return system->step_count;
}

static const yk_member *member_of(const yk_system *system, int subsystem)
{
    return &system->members[system->parts[subsystem].member];
}

const yk_port_value *yk_system_output(const yk_system *system, int subsystem, int port)
{
    return &member_of(system, subsystem)->values[system->parts[subsystem].port + port];
}

void yk_system_channel(const yk_system *system, int subsystem, int channel, double *values)
{
    const yk_subsystem *shown = member_of(system, subsystem)->subsystem;
    shown->ops->channel_read(shown, system->parts[subsystem].channel + channel, values);
}

/* Joints inside a merged member hold, or close as fast as its stabilisation makes them. */
static yk_interface_error joint_gap(const yk_system *system, const yk_interface_def *def)
{
    const yk_system_part *a = &system->parts[def->effort_subsystem], *b = &system->parts[def->motion_subsystem];
    const yk_member *m = &system->members[a->member];
    int port = a->port + def->effort_port;
    return yk_gap_between(m->ports[port].kind, def, &m->values[port].motion,
                          &m->values[b->port + def->motion_port].motion, yk_system_time(system));
}

bool yk_system_prescribes_motion(const yk_system *system, int interface)
{
    if (system->merging) return false;
    const yk_link *link = &system->links[interface];
    return !link->balanced && yk_link_takes(system, link) == YK_TAKES_MOTION;
}

yk_interface_error yk_system_interface_error(const yk_system *system, int interface)
{
    if (system->merging) return joint_gap(system, &system->merging->interfaces[interface]);
    return yk_system_gap(system, &system->links[interface], yk_system_time(system));
}

yk_system_statistics yk_system_statistics_get(const yk_system *system)
{
    yk_system_statistics s = system->statistics;
    for (int i = 0; i < system->member_count; i++) s.difference_runs += system->members[i].difference_runs;
    return s;
}

yk_subsystem_statistics yk_system_subsystem_statistics(const yk_system *system, int subsystem)
{
    if (!system->parts[subsystem].shows) return (yk_subsystem_statistics){0};
    const yk_member *m = member_of(system, subsystem);
    yk_subsystem_statistics s = m->statistics;
    int64_t timed = m->timed_calls;
    if (timed > 0) s.seconds *= (double)s.calls / (double)timed;
    return s;
}

yk_interface_statistics yk_system_interface_statistics(const yk_system *system, int interface)
{
    return system->merging ? (yk_interface_statistics){0} : system->links[interface].statistics;
}
