/* The motion of a wrench side at the end of the macro step, before it is known.
 *
 * A subsystem that predicts does it best: its own solver starts from the same values. One with
 * substeps can only predict a part of the macro step, so the coupling extrapolates its motion
 * over the macro steps in the same way, by the cubic Hermite polynomial of paper explicit (33)
 * closed with the two-step formula (34). Where there is no history, the acceleration is taken to
 * stay. */
#include <math.h>

#include "coupling/system.h"
#include "coupling/transform.h"
#include "math/so3.h"
#include "math/two_step.h"

/* Asymptotic spectral radius of the closing formula: the papers' recommendation for the two-step
 * method. */
static const double RHO_INF = 0.6;

static void predict_by_taylor(yk_port_kind kind, double h, yk_motion *motion)
{
    motion->position =
        yk_v3_axpy(h, yk_v3_axpy(h / 2, motion->acceleration, motion->velocity), motion->position);
    motion->velocity = yk_v3_axpy(h, motion->acceleration, motion->velocity);
    if (kind == YK_PORT_SCALAR)
        return;
    yk_vec3 rotation =
        yk_v3_scale(h, yk_v3_axpy(h / 2, motion->angular_acceleration, motion->angular_velocity));
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(rotation), motion->orientation));
    motion->angular_velocity =
        yk_v3_axpy(h, motion->angular_acceleration, motion->angular_velocity);
}

/* From the way of the last step and the rates at its ends: the rate at the end of the next, and
 * the way to there. */
static yk_vec3 extrapolate(const yk_two_step *k, double h, yk_vec3 last_displacement,
                           yk_vec3 rate_before, yk_vec3 *rate)
{
    yk_vec3 now = *rate;
    yk_vec3 next =
        yk_v3_axpy(-12 / h, last_displacement, yk_v3_axpy(5, rate_before, yk_v3_scale(8, now)));
    *rate = next;
    yk_vec3 sum = yk_v3_axpy(k->b0, next, yk_v3_axpy(k->b2, rate_before, yk_v3_scale(k->b1, now)));
    return yk_v3_axpy(-k->a2, last_displacement, yk_v3_scale(h, sum));
}

static void predict_by_hermite(yk_port_kind kind, double h, const yk_motion *before,
                               yk_motion *motion)
{
    yk_two_step k = yk_two_step_coefficients(RHO_INF);
    yk_vec3 last_displacement = yk_v3_sub(motion->position, before->position);
    yk_vec3 displacement =
        extrapolate(&k, h, last_displacement, before->velocity, &motion->velocity);
    motion->position = yk_v3_add(motion->position, displacement);
    if (kind == YK_PORT_SCALAR)
        return;
    yk_vec3 last_rotation =
        yk_so3_log(yk_q_mul(motion->orientation, yk_q_conjugate(before->orientation)));
    yk_vec3 rotation =
        extrapolate(&k, h, last_rotation, before->angular_velocity, &motion->angular_velocity);
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(rotation), motion->orientation));
}

void yk_system_predict(const yk_system *system, int number, yk_motion *motion)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_participant *a = yk_interface_a(system, interface);
    int port = interface->def.wrench_port;
    if (a->substeps == 1 && a->subsystem->ops->predict) {
        a->subsystem->ops->predict(a->subsystem, port, system->h, motion);
        if (a->transform)
            yk_transform_motion(a->transform, interface->kind, motion);
        return;
    }
    *motion = a->before[port];
    bool has_history = a->substeps > 1 && fabs(a->earlier_step - system->h) <= 1e-9 * system->h;
    if (has_history)
        predict_by_hermite(interface->kind, system->h, &a->earlier[port], motion);
    else
        predict_by_taylor(interface->kind, system->h, motion);
}
