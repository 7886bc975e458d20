#include "coupling/extrapolation.h"

#include <math.h>
#include <string.h>

#include "math/so3.h"

enum { PAST = 2, MOTION_WORDS = sizeof(yk_motion) / sizeof(double), OPAQUE_WORDS = PAST + 1 };

struct yk_motion_history {
    yk_motion_extrapolation kind;
    size_t interface_count;
    yk_motion
        *past; /* Per interface: the motions at the starts of the last steps, the last first. */
    double sizes[PAST];  /* Of these steps (s), the last first. */
    int64_t known_steps; /* At most PAST. */
};

const yk_option_choice yk_extrapolation_words[] = {
    {"solver", "the subsystem's own prediction of its next step"},
    {"constant", "the velocity at the start of the step"},
    {"linear", "the velocity, from the starts of the last two steps"},
    {"quadratic", "the velocity, from the starts of the last three steps"},
    {"hermite", "the cubic through positions and velocities at the starts of the last two steps"},
    {NULL, NULL},
};

/* Polynomials ---------------------------------------------------------------------------------- */

yk_vec3 yk_extrapolate_rate(int degree, const double steps[2], double tau, yk_vec3 now,
                            const yk_vec3 *past, yk_vec3 *displacement)
{
    /* Divided differences of Newton's form. */
    yk_vec3 first = yk_v3(0, 0, 0);
    yk_vec3 second = yk_v3(0, 0, 0);
    if (degree >= 1)
        first = yk_v3_scale(1 / steps[0], yk_v3_sub(now, past[0]));
    if (degree >= 2) {
        yk_vec3 before = yk_v3_scale(1 / steps[1], yk_v3_sub(past[0], past[1]));
        second = yk_v3_scale(1 / (steps[0] + steps[1]), yk_v3_sub(first, before));
    }

    /* now + first tau + second tau (tau + steps[0]) */
    yk_vec3 slope = yk_v3_axpy(steps[0], second, first);
    yk_vec3 mean = yk_v3_axpy(tau / 2, slope, yk_v3_scale(tau * tau / 3, second));
    *displacement = yk_v3_scale(tau, yk_v3_add(now, mean));
    return yk_v3_add(now, yk_v3_axpy(tau, slope, yk_v3_scale(tau * tau, second)));
}

/* The cubic y with y(0) = 0, y'(0) = now, y(-step) = -last and y'(-step) = past, at tau. */
static yk_vec3 extrapolate_cubic(double step, double tau, yk_vec3 now, yk_vec3 past, yk_vec3 last,
                                 yk_vec3 *displacement)
{
    yk_vec3 mean = yk_v3_scale(1 / step, last);
    yk_vec3 sum = yk_v3_add(now, past);
    yk_vec3 quadratic = yk_v3_scale(1 / step, yk_v3_axpy(-3, mean, yk_v3_add(now, sum)));
    yk_vec3 cubic = yk_v3_scale(1 / (step * step), yk_v3_axpy(-2, mean, sum));

    yk_vec3 curve = yk_v3_axpy(tau, cubic, quadratic);
    *displacement = yk_v3_scale(tau, yk_v3_axpy(tau, curve, now));
    yk_vec3 slope = yk_v3_axpy(3 * tau, cubic, yk_v3_scale(2, quadratic));
    return yk_v3_axpy(tau, slope, now);
}

/* Prediction ----------------------------------------------------------------------------------- */

/* The rate `tau` after now, by the rates and the displacement of the last steps, and its integral. */
static yk_vec3 extrapolate(const yk_motion_history *history, double tau, yk_vec3 now,
                           const yk_vec3 *past, yk_vec3 last, yk_vec3 *displacement)
{
    if (history->kind == YK_MOTION_EXTRAPOLATION_HERMITE && history->known_steps > 0)
        return extrapolate_cubic(history->sizes[0], tau, now, past[0], last, displacement);

    int degree = 0;
    if (history->kind == YK_MOTION_EXTRAPOLATION_LINEAR)
        degree = 1;
    if (history->kind == YK_MOTION_EXTRAPOLATION_QUADRATIC)
        degree = 2;
    if (degree > history->known_steps)
        degree = (int)history->known_steps;
    return yk_extrapolate_rate(degree, history->sizes, tau, now, past, displacement);
}

void yk_motion_history_predict(const yk_motion_history *history, const yk_system *system,
                               int number, yk_motion *end)
{
    if (!history) {
        yk_system_predict_motion(system, number, end);
        return;
    }

    const yk_interface *interface = &system->interfaces[number];
    const yk_motion *now = yk_before_a(system, interface);
    const yk_motion *past = &history->past[(size_t)number * PAST];
    double tau = system->h;
    int known = (int)history->known_steps;

    yk_vec3 rates[PAST] = {past[0].velocity, past[1].velocity};
    yk_vec3 last = yk_v3_sub(now->position, past[0].position);
    yk_vec3 displacement;
    *end = *now;
    end->velocity = extrapolate(history, tau, now->velocity, rates, last, &displacement);
    end->position = yk_v3_add(now->position, displacement);
    if (interface->kind == YK_PORT_SCALAR)
        return;

    /* In the chart phi = log(R R_n^T) phi is 0 now, and phi' = T(phi)^-1 w at any time. */
    yk_vec3 phi[PAST] = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < known; k++) {
        yk_quat back = yk_q_conjugate(now->orientation);
        phi[k] = yk_so3_log(yk_q_mul(past[k].orientation, back));
        yk_mat3 tangent = yk_so3_left_tangent_inverse(phi[k]);
        rates[k] = yk_m3_apply(tangent, past[k].angular_velocity);
    }

    yk_vec3 rotation;
    yk_vec3 rate =
        extrapolate(history, tau, now->angular_velocity, rates, yk_v3_neg(phi[0]), &rotation);
    end->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(rotation), now->orientation));
    end->angular_velocity = yk_m3_apply(yk_so3_left_tangent(rotation), rate);
}

void yk_motion_history_add_step(yk_motion_history *history, const yk_system *system)
{
    if (!history)
        return;

    for (size_t i = 0; i < history->interface_count; i++) {
        yk_motion *past = &history->past[i * PAST];
        past[1] = past[0];
        past[0] = *yk_before_a(system, &system->interfaces[i]);
    }

    history->sizes[1] = history->sizes[0];
    history->sizes[0] = system->h;
    if (history->known_steps < PAST)
        history->known_steps++;
}

void yk_motion_history_restart(yk_motion_history *history)
{
    if (history)
        history->known_steps = 0;
}

/* Life ----------------------------------------------------------------------------------------- */

yk_status yk_motion_history_create(yk_system *system, yk_motion_extrapolation kind,
                                   yk_motion_history **history)
{
    *history = NULL;
    if (kind == YK_MOTION_EXTRAPOLATION_SOLVER || system->interface_count == 0)
        return YK_OK;

    yk_motion_history *made = yk_allocate(system->context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->kind = kind;
    made->interface_count = (size_t)system->interface_count;
    made->past = yk_allocate(system->context, PAST * made->interface_count, sizeof *made->past);
    if (!made->past) {
        yk_motion_history_destroy(made, system);
        return YK_ERROR_MEMORY;
    }

    *history = made;
    return YK_OK;
}

void yk_motion_history_destroy(yk_motion_history *history, yk_system *system)
{
    if (!history)
        return;

    yk_free(system->context, history->past);
    yk_free(system->context, history);
}

/* State ---------------------------------------------------------------------------------------- */

static size_t count_continuous(const yk_motion_history *history)
{
    return history->interface_count * PAST * MOTION_WORDS;
}

yk_state_layout yk_motion_history_layout(const yk_motion_history *history)
{
    if (!history)
        return (yk_state_layout){0};
    size_t words = count_continuous(history);
    return (yk_state_layout){.word_count = words + OPAQUE_WORDS, .continuous_count = words};
}

double *yk_motion_history_get(const yk_motion_history *history, double *continuous, double *opaque)
{
    if (!history)
        return continuous;

    size_t words = count_continuous(history);
    memcpy(continuous, history->past, words * sizeof *continuous);
    memcpy(opaque, history->sizes, sizeof history->sizes);
    memcpy(opaque + PAST, &history->known_steps, sizeof *opaque);
    return continuous + words;
}

const double *yk_motion_history_set(yk_motion_history *history, const double *continuous,
                                    const double *opaque)
{
    if (!history)
        return continuous;

    size_t words = count_continuous(history);
    memcpy(history->past, continuous, words * sizeof *continuous);
    memcpy(history->sizes, opaque, sizeof history->sizes);
    memcpy(&history->known_steps, opaque + PAST, sizeof *opaque);
    return continuous + words;
}

bool yk_motion_history_is_valid(const yk_motion_history *history, const double *opaque)
{
    if (!history)
        return true;

    int64_t known;
    memcpy(&known, opaque + PAST, sizeof known);
    if (known < 0 || known > PAST)
        return false;
    for (int k = 0; k < known; k++)
        if (!(opaque[k] > 0) || !isfinite(opaque[k]))
            return false;
    return true;
}
