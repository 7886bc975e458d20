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
#include "coupling/relaxed.h"
#include "coupling/rim.h"
#include "coupling/transform.h"
#include "coupling/unknowns.h"
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
    bool carries_signals; /* it carries wires: yk_system_carry_signals comes before every advance */
    bool merges;          /* the subsystems to one */
} scheme_row;

static const scheme_row schemes[] = {
    [YK_SCHEME_EXPLICIT] = {"explicit", yk_explicit_step, .carries_signals = true},
    [YK_SCHEME_TIGHT] = {"tight", yk_tight_step, .carries_signals = true},
    [YK_SCHEME_MONOLITHIC] = {"monolithic", yk_monolithic_step, .carries_signals = true, .merges = true},
    [YK_SCHEME_INDEX1] = {"index1", yk_index1_step, .carries_signals = true},
    [YK_SCHEME_RIM] = {"rim", yk_rim_step, .carries_signals = true},
    [YK_SCHEME_RELAXED] = {"relaxed", yk_relaxed_step, .carries_signals = true, .merges = true},
};

yk_scheme_def yk_scheme_default(void)
{
    return (yk_scheme_def){.kind = YK_SCHEME_EXPLICIT,
                           .order = YK_ORDER_GAUSS_SEIDEL,
                           .inputs = YK_EXPLICIT_INPUTS_INDEX_1,
                           .tolerance = 1e-6,
                           .iterations = 20,
                           .acceleration = YK_ACCELERATION_QUASI_NEWTON,
                           .threads = 1,
                           .index1 = {.degree = 3, .reuse = true}};
}

bool yk_follows_polynomials(const yk_subsystem *subsystem)
{
    return subsystem->ops->input_degree && subsystem->ops->input_degree(subsystem) >= YK_INPUT_DEGREE_MAX;
}

bool yk_scheme_merges(yk_scheme_kind kind)
{
    return schemes[kind].merges;
}

const char *yk_system_scheme_name(const yk_system *system)
{
    return schemes[system->scheme.kind].name;
}

yk_status yk_system_check_wires(const yk_system *system)
{
    const scheme_row *row = &schemes[system->scheme.kind];
    if (row->carries_signals) return YK_OK;
    return yk_fail(
        system->context, YK_ERROR_CAPABILITY,
        "scheme %s does not carry wires between subsystems; choose the scheme explicit, tight, index1 or rim",
        row->name);
}

/* Verbs ------------------------------------------------------------------------------------------------------------ */

void yk_system_gather(yk_participant *participant)
{
    for (int port = 0; port < participant->port_count; port++) {
        participant->subsystem->ops->output(participant->subsystem, port, &participant->values[port]);
        if (participant->transform)
            yk_transform_value(participant->transform, participant->ports[port].kind, &participant->values[port]);
    }
    yk_wires_read(participant);
}

/* The inputs as the subsystem takes them, from `offset` on in the step. */
static const yk_input *own_inputs(yk_system *system, yk_participant *m, double offset)
{
    if (!m->transform && !m->low_order && offset == 0) return m->inputs;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        bool wrench = &system->participants[interface->def.wrench_subsystem] == m;
        if (!wrench && &system->participants[interface->def.motion_subsystem] != m) continue;
        int port = wrench ? interface->def.wrench_port : interface->def.motion_port;
        yk_causality causality = wrench ? YK_TAKES_WRENCH : yk_interface_takes(system, interface);
        yk_input shifted = m->low_order && causality == YK_TAKES_WRENCH
                               ? yk_index1_substep_input(system, i, wrench ? 0 : 1, offset)
                               : yk_input_shift(&m->inputs[port], interface->kind, offset);
        if (m->transform)
            yk_transform_input(m->transform, interface->kind, causality, &shifted, &m->own_inputs[port]);
        else
            m->own_inputs[port] = shifted;
    }
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        if (&system->participants[def->target_subsystem] == m)
            m->own_inputs[def->target_port] = yk_input_shift(&m->inputs[def->target_port], YK_PORT_SIGNAL, offset);
    }
    return m->own_inputs;
}

const yk_input *yk_system_inputs(yk_system *system, int participant)
{
    return own_inputs(system, &system->participants[participant], 0);
}

typedef yk_status (*participant_move)(yk_system *system, yk_participant *participant);

/* Adds to the mean wrenches at motion ports `factor` times the torque that the last or the mean force has about the marker
 * that the port follows, `t` after the start of the step: markers of some joints slide apart. */
static void add_arms(const yk_system *system, yk_participant *m, double t, double factor, bool mean)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (yk_interface_b(system, interface) != m || interface->kind != YK_PORT_MARKER) continue;
        int port = interface->def.motion_port;
        yk_vec3 followed = yk_input_motion(&m->inputs[port], YK_PORT_MARKER, t).position;
        yk_vec3 force = mean ? m->mean_wrenches[port].force : m->values[port].wrench.force;
        yk_vec3 torque = yk_v3_cross(yk_v3_sub(m->values[port].motion.position, followed), force);
        m->mean_wrenches[port].torque = yk_v3_axpy(factor, torque, m->mean_wrenches[port].torque);
    }
}

/* The wrench of a participant with substeps is the mean over them: what its partner receives is then the whole impulse. */
static void add_mean_wrenches(yk_participant *m)
{
    yk_system_gather(m);
    for (int port = 0; port < m->port_count; port++)
        m->mean_wrenches[port] =
            yk_wrench_combine(m->ports[port].kind, &m->mean_wrenches[port], 1.0 / m->substeps, &m->values[port].wrench);
}

static yk_status step_in_parts(yk_system *system, yk_participant *m)
{
    double h = system->h / m->substeps;
    bool tight = system->scheme.kind == YK_SCHEME_TIGHT;
    yk_status worst = YK_OK;
    memset(m->mean_wrenches, 0, (size_t)m->port_count * sizeof *m->mean_wrenches);
    yk_ledger_begin_substeps(m);
    for (int i = 0; i < m->substeps; i++) {
        yk_status status = m->subsystem->ops->step(m->subsystem, system->t + i * h, h, own_inputs(system, m, i * h));
        if (status < 0) return status;
        if (status > worst) worst = status;
        add_mean_wrenches(m);
        if (tight) add_arms(system, m, (i + 1) * h, 1.0 / m->substeps, false);
        yk_ledger_add_substep(m, h);
        if (m->moments) yk_index1_add_moments(m, i + 1);
    }
    /* As a wrench at its own marker where that is now. */
    if (tight) add_arms(system, m, system->h, -1, true);
    return worst;
}

static yk_status step_participant(yk_system *system, yk_participant *m)
{
    if (m->moments) yk_index1_begin_moments(m);
    if (system->relaxed) {
        yk_status status = yk_relaxed_sweep(system, m);
        if (status < 0) return status;
    }
    if (m->substeps > 1) return step_in_parts(system, m);
    if (m->sensitivity)
        return m->subsystem->ops->sensitivity->step(m->subsystem, system->t, system->h, own_inputs(system, m, 0),
                                                    m->sensitivity_degree, m->sensitivity);
    return m->subsystem->ops->step(m->subsystem, system->t, system->h, own_inputs(system, m, 0));
}

static yk_status iterate_participant(yk_system *system, yk_participant *m)
{
    yk_iteration report;
    return m->subsystem->ops->iteration->iterate(m->subsystem, system->t, system->h, own_inputs(system, m, 0), &report);
}

/* Calls the participant, keeps the time that it took, and reads its outputs. */
static inline yk_status call_participant(yk_system *system, int participant, participant_move move)
{
    yk_participant *m = &system->participants[participant];
    yk_subsystem_statistics *s = &m->statistics;
    bool timed = s->calls % TIMING_STRIDE == 0 || s->seconds > SHORT_STEP * (double)m->timed_calls;
    double begin = timed ? yk_clock_seconds() : 0;
    m->status = move(system, m);
    if (timed) s->seconds += yk_clock_seconds() - begin, m->timed_calls++;
    s->calls++;
    s->steps += m->substeps;
    yk_system_gather(m);
    if (m->moments && m->substeps == 1) yk_index1_add_moments(m, 1);
    for (int port = 0; m->substeps > 1 && port < m->port_count; port++) m->values[port].wrench = m->mean_wrenches[port];
    if (m->substeps > 1) yk_wires_read(m);
    m->advanced = true;
    return m->status;
}

yk_status yk_system_advance(yk_system *system, int participant)
{
    return call_participant(system, participant, step_participant);
}

yk_status yk_system_advance_sensitive(yk_system *system, int participant, int degree, double *sensitivity)
{
    yk_participant *m = &system->participants[participant];
    m->sensitivity = sensitivity, m->sensitivity_degree = degree;
    yk_status status = yk_system_advance(system, participant);
    m->sensitivity = NULL;
    return status;
}

yk_status yk_system_iterate(yk_system *system, int participant)
{
    return call_participant(system, participant, iterate_participant);
}

static const char *participant_message(const yk_participant *m)
{
    const yk_subsystem_ops *ops = m->subsystem->ops;
    return ops->message ? ops->message(m->subsystem) : yk_status_text(m->status);
}

/* What carries a coupling that ran away: wrenches on both sides know no limit of masses or steps. */
static const char *stability_remedy(const yk_scheme_def *scheme)
{
    if (schemes[scheme->kind].merges) return "use a smaller time.step";
    if (scheme->kind == YK_SCHEME_INDEX1) return "let `yoke advise` find a scheme and a step";
    return "use coupling.scheme index1, or let `yoke advise` find a scheme and a step";
}

yk_status yk_system_report_failure(yk_system *system, int participant)
{
    const yk_participant *m = &system->participants[participant];
    const char *why = participant_message(m);
    double t = system->t + system->h;
    long long step = (long long)system->step_count + 1;
    const char *scheme = schemes[system->scheme.kind].name;
    if (system->interface_count + system->wire_count == 0)
        return yk_fail(system->context, m->status, "at t = %g s (step %lld) subsystem '%s' failed: %s", t, step,
                       m->name, why);

    /* A subsystem that is asked for the impossible fails last. */
    bool numerical = m->status == YK_ERROR_NOT_FINITE || m->status == YK_ERROR_DIVERGED;
    yk_runaway run = numerical ? yk_ledger_runaway(system) : (yk_runaway){.known = true};
    if (run.found && run.interface >= 0) {
        const yk_interface *interface = &system->interfaces[run.interface];
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
                       made, interface->def.name, yk_interface_a(system, interface)->name,
                       yk_interface_b(system, interface)->name, m->name, step, scheme, t, length, why,
                       stability_remedy(&system->scheme));
    }
    bool unknown = numerical && !run.known;
    return yk_fail(system->context, m->status, "at t = %g s (step %lld of scheme %s) subsystem '%s' failed: %s%s%s", t,
                   step, scheme, m->name, why, unknown ? "; if the coupling is unstable, " : "",
                   unknown ? stability_remedy(&system->scheme) : "");
}

/* Stepping --------------------------------------------------------------------------------------------------------- */

void yk_system_keep_start(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
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
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        if (!m->earlier) continue;
        for (int port = 0; port < m->port_count; port++)
            if (m->ports[port].kind != YK_PORT_SIGNAL) m->earlier[port] = m->before[port];
        m->earlier_step = system->h;
    }
}

void yk_system_pack_wrenches(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    double *fresh = m->fresh, *applied = m->applied;
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || interface->balanced) continue;
        const yk_port_value *b = &yk_interface_b(system, interface)->values[interface->def.motion_port];
        yk_wrench wrench = yk_wrench_opposite(interface->kind, b, interface->origin);
        fresh = yk_wrench_pack(interface->kind, &wrench, fresh);
        applied = yk_wrench_pack(interface->kind, &interface->applied, applied);
    }
}

void yk_system_apply_wrenches(yk_system *system, int participant, const double *wrenches)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || interface->balanced) continue;
        wrenches = yk_wrench_unpack(interface->kind, wrenches, &interface->applied);
        yk_input_constant(interface->kind, &interface->applied,
                          &system->participants[participant].inputs[interface->def.wrench_port]);
    }
}

static yk_status check_finite(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        for (int port = 0; port < m->port_count; port++) {
            if (yk_port_value_finite(m->ports[port].kind, &m->values[port])) continue;
            m->status = YK_ERROR_NOT_FINITE;
            yk_status status = yk_system_report_failure(system, i);
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

static yk_status start_participant(yk_system *system, int participant, const yk_input *inputs)
{
    yk_participant *m = &system->participants[participant];
    m->status = m->subsystem->ops->start(m->subsystem, system->start, system->h / m->substeps, inputs);
    if (m->status < 0) return yk_system_report_failure(system, participant);
    if (m->status > 0 && !inputs)
        yk_log(system->context, YK_LOG_WARNING, "subsystem '%s': %s", m->name, participant_message(m));
    yk_system_gather(m);
    return YK_OK;
}

yk_status yk_system_start_participant(yk_system *system, int participant)
{
    yk_wires_carry_start(system, participant);
    return start_participant(system, participant, own_inputs(system, &system->participants[participant], 0));
}

/* Wrench sides first, each with the wrench applied to it; then motion sides with the acceleration that follows. The
 * largest relative change of a wire is in `change`. */
static yk_status start_sweep(yk_system *system, double *change)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->wrench_sequence[index];
        yk_participant *m = &system->participants[participant];
        for (int i = 0; i < system->interface_count; i++) {
            yk_interface *interface = &system->interfaces[i];
            if (interface->def.motion_subsystem != participant || interface->balanced) continue;
            yk_motion a = yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
            if (interface->lagged) {
                a.acceleration = interface->given.acceleration;
                a.angular_acceleration = interface->given.angular_acceleration;
            }
            interface->origin = a.position;
            yk_input_taylor(interface->kind, &a, &m->inputs[interface->def.motion_port]);
        }
        yk_wires_carry_start(system, participant);
        yk_status status = start_participant(system, participant, own_inputs(system, m, 0));
        if (status < 0) return status;
    }
    *change = yk_wires_start_change(system);
    return YK_OK;
}

/* Takes the wrenches that the motion sides needed to the wrench sides; returns the largest relative change. */
static double update_start_unknowns(yk_system *system, bool first)
{
    double largest = 0;
    for (int i = 0; i < system->start_unknowns_count; i++) {
        yk_unknowns *w = &system->start_unknowns[i];
        yk_unknowns_read(system, w);
        double change = 0, size = 0;
        for (int k = 0; k < w->size; k++) {
            change += fabs(w->fresh[k] - w->applied[k]);
            size += fabs(w->fresh[k]);
        }
        largest = fmax(largest, change / (1 + size));
        if (first) yk_accelerator_restart(w->accelerator);
        yk_accelerator_next(w->accelerator, w->applied, w->fresh, w->next);
        yk_unknowns_apply(system, w, w->next);
    }
    return largest;
}

/* Initial wrenches and accelerations that fit each other: without them the first step would be of lower order. */
static yk_status start_consistently(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->balanced) continue;
        interface->applied = (yk_wrench){{0, 0, 0}, {0, 0, 0}};
        interface->given = yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
        yk_input_constant(interface->kind, &interface->applied,
                          &yk_interface_a(system, interface)->inputs[interface->def.wrench_port]);
    }
    double change = 0;
    for (int i = 0; i < START_ITERATIONS; i++) {
        double wires;
        yk_status status = start_sweep(system, &wires);
        if (status < 0) return status;
        change = fmax(update_start_unknowns(system, i == 0), wires);
        /* In the first sweep wires may carry what their sources had before they started. */
        bool settled = i > 0 || system->wire_count == 0;
        if (settled && change <= START_TOLERANCE) return YK_OK;
    }
    yk_log(system->context, YK_LOG_WARNING,
           "the initial wrenches and signals did not settle (relative change %g); the first steps are less accurate",
           change);
    return YK_OK;
}

/* The same where some interfaces are balanced: theirs are found with the others as they are, and the others with these. */
static yk_status start_in_balance(yk_system *system)
{
    bool others = system->wire_count > 0;
    for (int i = 0; i < system->interface_count; i++) others = others || !system->interfaces[i].balanced;
    yk_balance_clear(system);
    for (int round = 0; round < (others ? START_ROUNDS : 1); round++) {
        yk_status status = others ? start_consistently(system) : YK_OK;
        if (status == YK_OK) status = yk_balance_start(system);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* A start gap (rad) beyond which the markers are not misplaced by rounding or a guess but turned against each other. */
static const double ROTATED = 0.01;
/* Gaps (m, rad; m/s, rad/s) that are worth a word. */
static const double NOTABLE = 1e-6, NOTABLE_SPEED = 1e-5;

yk_status yk_system_report_start_gap(yk_system *system, const char *name, const yk_interface_error *gap)
{
    /* Merged parts are assembled, which a rough guess of their places is enough for. */
    bool merged = system->merging != NULL;
    yk_log_level level = merged ? YK_LOG_INFO : YK_LOG_WARNING;
    const char *who = merged ? "the assembly pulls" : "the first steps pull";
    const char *when = merged ? "the start" : "the first step";
    if (gap->rotation > ROTATED && !merged)
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

static yk_status check_start_gap(yk_system *system, yk_interface *interface)
{
    yk_ledger_add_gap(system, interface, system->start);
    return yk_system_report_start_gap(system, interface->def.name, &interface->statistics.largest);
}

/* The wrenches that a rollback to the start returns to. */
static void begin_means(yk_participant *m)
{
    for (int port = 0; m->mean_wrenches && port < m->port_count; port++)
        m->mean_wrenches[port] = m->values[port].wrench;
}

yk_status yk_system_start(yk_system *system)
{
    system->step_count = 0;
    system->t = system->start, system->h = system->step;
    system->statistics = (yk_system_statistics){0};
    for (int i = 0; i < system->participant_count; i++) {
        system->participants[i].statistics = (yk_subsystem_statistics){0};
        system->participants[i].timed_calls = 0;
        system->participants[i].earlier_step = 0;
        system->participants[i].difference_runs = 0;
    }
    for (int i = 0; i < system->interface_count; i++) {
        system->interfaces[i].statistics = (yk_interface_statistics){0};
        system->interfaces[i].residual = 0;
    }
    for (int i = 0; i < system->unknowns_count; i++) yk_accelerator_restart(system->unknowns[i].accelerator);
    /* Before the parts are assembled: that closes every gap. */
    yk_status status = system->merging ? yk_merging_check_start(system) : YK_OK;
    for (int i = 0; status == YK_OK && i < system->participant_count; i++) status = start_participant(system, i, NULL);
    yk_system_keep_start(system);
    /* Before the motion sides are told where to be: some go there at once. */
    for (int i = 0; status == YK_OK && i < system->interface_count; i++)
        status = check_start_gap(system, &system->interfaces[i]);
    if (status == YK_OK && system->index1 && system->interface_count > 0)
        status = yk_index1_start(system);
    else if (status == YK_OK && system->balance)
        status = start_in_balance(system);
    else if (status == YK_OK && system->interface_count + system->wire_count > 0)
        status = start_consistently(system);
    if (status == YK_OK && system->relaxed) status = yk_relaxed_start(system);
    if (status == YK_OK && system->rim) yk_rim_start(system);
    if (status == YK_OK) status = yk_system_prepare_states(system);
    if (status == YK_OK) status = yk_controller_start(system);
    if (status < 0) return status;
    for (int i = 0; i < system->interface_count; i++) yk_ledger_add_gap(system, &system->interfaces[i], system->start);
    yk_ledger_start(system);
    for (int i = 0; i < system->participant_count; i++) begin_means(&system->participants[i]);
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

static const yk_participant *participant_of(const yk_system *system, int subsystem)
{
    return &system->participants[system->parts[subsystem].participant];
}

const yk_port_value *yk_system_output(const yk_system *system, int subsystem, int port)
{
    return &participant_of(system, subsystem)->values[system->parts[subsystem].port + port];
}

void yk_system_channel(const yk_system *system, int subsystem, int channel, double *values)
{
    const yk_subsystem *shown = participant_of(system, subsystem)->subsystem;
    shown->ops->channels->read(shown, system->parts[subsystem].channel + channel, values);
}

/* Joints inside a merged participant hold, or close as fast as its stabilisation makes them. */
static yk_interface_error joint_gap(const yk_system *system, const yk_interface_def *def)
{
    const yk_system_part *a = &system->parts[def->wrench_subsystem], *b = &system->parts[def->motion_subsystem];
    const yk_participant *m = &system->participants[a->participant];
    int port = a->port + def->wrench_port;
    return yk_gap_between(m->ports[port].kind, def, &m->values[port].motion,
                          &m->values[b->port + def->motion_port].motion, yk_system_time(system));
}

bool yk_system_prescribes_motion(const yk_system *system, int number)
{
    if (system->merging) return false;
    const yk_interface *interface = &system->interfaces[number];
    return !interface->balanced && yk_interface_takes(system, interface) == YK_TAKES_MOTION;
}

yk_interface_error yk_system_interface_error(const yk_system *system, int number)
{
    if (system->merging) return joint_gap(system, &system->merging->interfaces[number]);
    return yk_system_gap(system, &system->interfaces[number], yk_system_time(system));
}

yk_system_statistics yk_system_statistics_get(const yk_system *system)
{
    yk_system_statistics s = system->statistics;
    for (int i = 0; i < system->participant_count; i++) s.difference_runs += system->participants[i].difference_runs;
    return s;
}

yk_subsystem_statistics yk_system_subsystem_statistics(const yk_system *system, int subsystem)
{
    if (!system->parts[subsystem].shows) return (yk_subsystem_statistics){0};
    const yk_participant *m = participant_of(system, subsystem);
    yk_subsystem_statistics s = m->statistics;
    int64_t timed = m->timed_calls;
    if (timed > 0) s.seconds *= (double)s.calls / (double)timed;
    return s;
}

yk_interface_statistics yk_system_interface_statistics(const yk_system *system, int number)
{
    return system->merging ? (yk_interface_statistics){0} : system->interfaces[number].statistics;
}
