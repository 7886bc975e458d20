/* The functions of yoke/scheme_ops.h, from which schemes are built: motions and wrenches of an
 * interface, inputs of its sides, and the start and end of a step. */
#include <math.h>

#include "coupling/energy_balance.h"
#include "coupling/loops.h"
#include "coupling/slip.h"
#include "coupling/step_frame.h"
#include "coupling/system.h"
#include "math/integrators.h"
#include "math/so3.h"

yk_context *yk_system_context(const yk_system *system)
{
    return system->context;
}

int yk_system_participant_count(const yk_system *system)
{
    return system->participant_count;
}

int yk_system_interface_count(const yk_system *system)
{
    return system->interface_count;
}

const yk_interface_def *yk_system_interface(const yk_system *system, int number)
{
    return &system->interfaces[number].def;
}

const int *yk_system_step_order(const yk_system *system)
{
    return system->sequence;
}

double yk_system_step_start_time(const yk_system *system)
{
    return system->t;
}

double yk_system_step_size(const yk_system *system)
{
    return system->h;
}

/* Interfaces ----------------------------------------------------------------------------------- */

const yk_motion *yk_system_interface_motion(const yk_system *system, int number, int side)
{
    const yk_interface *interface = &system->interfaces[number];
    if (side == 0)
        return &yk_value_a(system, interface)->motion;
    return &yk_value_b(system, interface)->motion;
}

const yk_motion *yk_system_interface_motion_at_step_start(const yk_system *system, int number,
                                                          int side)
{
    const yk_interface *interface = &system->interfaces[number];
    if (side == 0)
        return yk_before_a(system, interface);
    return yk_before_b(system, interface);
}

yk_wrench yk_system_reaction_wrench(const yk_system *system, int number)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_port_value *b = yk_value_b(system, interface);
    return yk_wrench_opposite(interface->kind, b, interface->origin);
}

void yk_system_prescribe_motion(yk_system *system, int number, const yk_motion *end)
{
    yk_interface *interface = &system->interfaces[number];
    const yk_motion *start = yk_before_a(system, interface);
    yk_input *input = yk_input_b(system, interface);
    /* The wrench of B refers to the present place of A's marker. */
    interface->origin = end->position;
    yk_input_interpolated(interface->kind, system->h, start, end, input);
}

void yk_system_prescribe_weighted(yk_system *system, int number, const yk_input_weights *weights,
                                  const yk_motion *end)
{
    yk_interface *interface = &system->interfaces[number];
    yk_input *input = yk_input_b(system, interface);

    /* The wrench of B refers to this place. */
    interface->origin = end->position;
    if (!weights) {
        const yk_motion *a_start = yk_before_a(system, interface);
        yk_input_original(interface->kind, a_start, end, input);
        return;
    }

    yk_input_modified(interface->kind, interface->def.constrained_axes, weights, system->h,
                      yk_before_a(system, interface), yk_before_b(system, interface), end, input);
}

void yk_system_apply_wrench(yk_system *system, int number, const yk_wrench *wrench)
{
    yk_interface *interface = &system->interfaces[number];
    interface->applied = *wrench;
    yk_input_constant(interface->kind, wrench, yk_input_a(system, interface));
}

void yk_system_set_interface_residual(yk_system *system, int number, double residual)
{
    system->interfaces[number].residual = residual;
}

/* Prediction -------------------------------------------------------------------------------------
 *
 * Predicts the motion of a wrench side at the end of the macro step. A subsystem that has an
 * operation for it gives the best prediction, because its own solver starts from the same values. A
 * subsystem with substeps can predict only a part of the macro step, so the coupling extrapolates
 * its motion over the macro steps in the same way: by the cubic Hermite polynomial of Zhang et al.
 * 2022 (33) with the two-step formula (34) for the rho_inf of its method; rotations in the chart
 * phi = log(R R_n^T) around the present orientation. If there is no earlier step, the acceleration
 * counts as constant. */

/* For subsystems that have no rho_inf: the value recommended for the two-step method. */
static const double RHO_INF = 0.6;

static void predict_by_taylor(yk_port_kind kind, double h, yk_motion *motion)
{
    /* x + h v + h^2 a / 2, through the velocity in the middle of the step. */
    yk_vec3 mean = yk_v3_axpy(h / 2, motion->acceleration, motion->velocity);
    motion->position = yk_v3_axpy(h, mean, motion->position);
    motion->velocity = yk_v3_axpy(h, motion->acceleration, motion->velocity);
    if (kind == YK_PORT_SCALAR)
        return;

    /* The same as a rotation about the angular velocity in the middle. */
    yk_vec3 spin = yk_v3_axpy(h / 2, motion->angular_acceleration, motion->angular_velocity);
    yk_quat rotation = yk_so3_exp(yk_v3_scale(h, spin));
    motion->orientation = yk_q_unit(yk_q_mul(rotation, motion->orientation));
    motion->angular_velocity =
        yk_v3_axpy(h, motion->angular_acceleration, motion->angular_velocity);
}

/* Extrapolates from the displacement of the last step and the rates at its ends: returns the
 * displacement of the next step; *rate receives the rate at its end. */
static yk_vec3 extrapolate(const yk_two_step *k, double h, yk_vec3 last_displacement,
                           yk_vec3 rate_before, yk_vec3 *rate)
{
    /* (33): the slope of the cubic polynomial, extrapolated by one step. */
    yk_vec3 now = *rate;
    yk_vec3 rates = yk_v3_axpy(5, rate_before, yk_v3_scale(8, now));
    yk_vec3 next = yk_v3_axpy(-12 / h, last_displacement, rates);
    *rate = next;

    /* (34): the two-step formula with this rate. */
    yk_vec3 known = yk_v3_axpy(k->b2, rate_before, yk_v3_scale(k->b1, now));
    yk_vec3 sum = yk_v3_axpy(k->b0, next, known);

    return yk_v3_axpy(-k->a2, last_displacement, yk_v3_scale(h, sum));
}

static void predict_by_hermite(yk_port_kind kind, double h, double rho_inf, const yk_motion *before,
                               yk_motion *motion)
{
    yk_two_step k = yk_two_step_coefficients(rho_inf);
    yk_vec3 last = yk_v3_sub(motion->position, before->position);
    yk_vec3 displacement = extrapolate(&k, h, last, before->velocity, &motion->velocity);
    motion->position = yk_v3_add(motion->position, displacement);
    if (kind == YK_PORT_SCALAR)
        return;

    /* In the chart, phi is zero now, and one step earlier it is minus the last rotation, with the
     * rate T(phi)^-1 w. */
    yk_quat since = yk_q_mul(motion->orientation, yk_q_conjugate(before->orientation));
    yk_vec3 last_phi = yk_so3_log(since);
    yk_mat3 back = yk_so3_left_tangent_inverse(yk_v3_neg(last_phi));
    yk_vec3 rate_before = yk_m3_apply(back, before->angular_velocity);
    yk_vec3 rate = motion->angular_velocity;
    yk_vec3 phi = extrapolate(&k, h, last_phi, rate_before, &rate);

    /* R = exp(phi) R_n, w = T(phi) phi'. */
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(phi), motion->orientation));
    motion->angular_velocity = yk_m3_apply(yk_so3_left_tangent(phi), rate);
}

void yk_system_predict_motion(const yk_system *system, int number, yk_motion *motion)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_participant *a = yk_interface_a(system, interface);
    int port = interface->def.wrench_port.index;
    double h = system->h;

    /* By the subsystem itself, if it makes one step per macro step. */
    const yk_subsystem_ops *ops = a->subsystem->ops;
    if (a->substeps == 1 && ops->predict) {
        ops->predict(a->subsystem, port, h, motion);
        if (a->transform)
            yk_transform_motion(a->transform, interface->kind, motion);
        return;
    }

    /* Otherwise from the present motion, and from the previous macro step if it had the same size. */
    *motion = a->before[port];
    bool has_history = a->substeps > 1 && fabs(a->earlier_step - h) <= 1e-9 * h;
    if (!has_history) {
        predict_by_taylor(interface->kind, h, motion);
        return;
    }

    double rho_inf = RHO_INF;
    if (ops->rho_inf)
        rho_inf = ops->rho_inf(a->subsystem);
    predict_by_hermite(interface->kind, h, rho_inf, &a->earlier[port], motion);
}

/* Steps ---------------------------------------------------------------------------------------- */

void yk_system_keep_start(yk_system *system)
{
    yk_loops_begin_step(system);
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];

        /* No subsystem has advanced yet. */
        p->advanced = false;

        for (int port = 0; port < p->port_count; port++) {
            yk_motion *before = &p->before[port];
            const yk_motion *now = &p->values[port].motion;

            /* Scalar ports use the first component only. */
            if (p->ports[port].kind == YK_PORT_MARKER) {
                *before = *now;
                continue;
            }

            before->position.x = now->position.x;
            before->velocity.x = now->velocity.x;
            before->acceleration.x = now->acceleration.x;
        }
    }

    for (int i = 0; i < system->wire_count; i++)
        system->wires[i].before = system->wires[i].now;
}

void yk_system_keep_step(yk_system *system)
{
    yk_ledger_add_step(system);
    for (int i = 0; i < system->interface_count; i++)
        yk_slip_add_step(system, &system->interfaces[i]);

    /* The motions at the start of this step are the earlier motions of the next prediction. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        if (!p->earlier)
            continue;

        for (int port = 0; port < p->port_count; port++)
            if (p->ports[port].kind != YK_PORT_SIGNAL)
                p->earlier[port] = p->before[port];

        p->earlier_step = system->h;
    }
}

void yk_system_begin_part(yk_system *system, double t, double h)
{
    system->t = t;
    system->h = h;
}

void yk_system_end_part(yk_system *system)
{
    yk_system_keep_step(system);
    yk_system_keep_start(system);
}

void yk_system_announce_event(yk_system *system)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    if (ops->handle_event)
        ops->handle_event(system->scheme, system);
}
