/* Warnings about runs whose steps or flexible bodies leave their range of validity; each warning is
 * given once.
 *
 * Rotation stiffens a body by the centrifugal load along it. Shapes of first order do not include
 * this effect; they have a softening of about the same size instead: |w| r / (length w_1^2) of the
 * smallest stiffness, with r the mean distance of the mass from the axis and w_1 the lowest
 * frequency. For a shaft that rotates about itself r is near zero, so there is no warning.
 *
 * Steps that are too long for the vibration of a body cannot be detected by comparing them with its
 * frequencies: a stiff body that follows slow loads is accurate with steps longer than all its
 * periods. The motion itself shows it: the local error of the step, h^2 times the change of the
 * acceleration over 12, is of the size of the deformation, step after step. An impact on a stiff
 * body causes a few such steps until numerical damping has removed its effect; a window of steps
 * distinguishes it from a continuing vibration.
 *
 * Shapes are valid while a body deforms by a small fraction of its length: the error of the
 * deflection of a cantilever under a force is 0.9 times the square of that fraction. The mass that
 * couples extension with bending grows with the amplitudes, but the corresponding quadratic term of
 * bending is of higher order and neglected: many shapes of a soft rod can make the mass matrix
 * indefinite, and the deformation diverges. Long before that, the neglected inertia changes the
 * frequencies: a rod on a pin and a roller is shortened by its bending and vibrates more slowly, by
 * 1.6 times the square; this is 0.4 times the ratio of the neglected kinetic energy to that of the
 * vibration. Near a resonance even a thousandth changes the motion by several per cent. A
 * cantilever is shortened less, and its stiffening compensates for it. */
#include "multibody/multibody.h"

/* Neglected softening, as a fraction of the stiffness. */
static const double SOFTENING_LIMIT = 0.05;
/* Local error as a fraction of the deformation; for rods, whose coordinates include the whole
 * motion, as a fraction of the length. */
static const double VIBRATION_LIMIT = 0.03;
static const double MOTION_LIMIT = 1e-3;
/* Deformations below this fraction of the length do not matter. */
static const double VISIBLE = 1e-5;
/* Deformation as a fraction of the length: limit of small deformations, and limit of validity. */
static const double MUCH = 0.075;
static const double ABSURD = 3;
/* Error of the deflection, relative to the square of that fraction; error of the frequency,
 * relative to the fraction of neglected kinetic energy. */
static const double MISSED_DEFLECTION = 0.9;
static const double MISSED_FREQUENCY = 0.4;
/* Error of the frequency that is reported. */
static const double FREQUENCY_LIMIT = 1e-3;
/* Below this fraction of the length the neglected terms do not matter. */
static const double SMALL = 0.01;
/* Torque on the substitute inertia of a point mass, as a fraction of mass times acceleration times
 * the size of the model. If joints hold the rotation, it is below 1e-10. */
static const double POINT_TORQUE = 1e-6;
/* And the rotation that the torque makes in a step (rad). */
static const double POINT_TURN = 1e-3;
/* Size of the window of steps; half of them must be too long. */
enum { WINDOW = 20 };
/* Number of failures of Newton's method before they are reported, if they are more than one in five
 * steps. */
enum { CUTS = 10 };

/* Data of a flexible body since the start, and the warnings that were given. */
struct flexible_watch {
    bool warned_spin, warned_steps, warned_size, warned_inertia;
    int steps_seen, steps_coarse;
    double largest;   /* deformation (m) */
    double vibrating; /* largest kinetic energy of the deformation (J) */
    double drawn;     /* and of the shortening by bending */
};

yk_status yk_multibody_watch_create(yk_multibody *self)
{
    size_t count = (size_t)self->model.def.flexible_count;
    self->watch = yk_allocate(self->model.context, count, sizeof *self->watch);
    return self->watch ? YK_OK : YK_ERROR_MEMORY;
}

void yk_multibody_watch_release(yk_multibody *self)
{
    yk_free(self->model.context, self->watch);
    self->watch = NULL;
}

void yk_multibody_watch_reset(yk_multibody *self)
{
    self->warned_cuts = false;
    self->warned_points = false;
    for (int i = 0; i < self->model.def.flexible_count; i++)
        self->watch[i] = (struct flexible_watch){0};
}

static void watch_spin(const yk_multibody_model *model, const yk_multibody_state *state,
                       const yk_multibody_workspace *work, const flexible_model *of,
                       struct flexible_watch *seen)
{
    const yk_ffrf *body = &of->body->modal;

    if (seen->warned_spin || body->slowest == 0)
        return;

    /* The centrifugal load |w| |w x r|, against the stiffness w_1^2 times the length. */
    const yk_frame *frame = &work->trial[of->node].frame;
    yk_vec3 w = yk_m3_apply_transposed(frame->rotation, frame->angular_velocity);
    yk_mat3 tensor = yk_ffrf_tensor(&body->second);
    double spin = fmax(0, yk_v3_dot(w, yk_m3_apply(tensor, w)));
    double load = sqrt(yk_v3_norm2(w) * spin / body->mass);
    double rest = body->slowest * body->slowest * of->body->length;
    if (!(load > SOFTENING_LIMIT * rest))
        return;

    /* Shapes of second order include the effect. */
    if (body->curve_count > 0)
        return;

    /* Attachments may have them as well. */
    for (int k = 0; k < of->body->attachments; k++) {
        if (of->body->nodes[k].bend_count > 0)
            return;
    }

    seen->warned_spin = true;
    yk_log(model->context, YK_LOG_WARNING,
           "%s: flexible body '%s' turns at %.3g rad/s at t = %.6g s, its lowest frequency is %.3g "
           "rad/s: shapes of first order do not know that rotation stiffens it; give it shapes of "
           "second order, or make it of beams or in absolute coordinates",
           model->def.name, of->name, yk_v3_norm(w), state->clock->t, body->slowest);
}

static void watch_steps(const yk_multibody_model *model, const yk_multibody_state *state,
                        const flexible_model *of, struct flexible_watch *seen)
{
    const clock_state *clock = state->clock;
    bool settled = !model->integrator->settles || clock->unchanged >= 3;

    if (seen->warned_steps || clock->steps < 4 || !settled)
        return;

    /* Local error of the last step and size of the deformation (m). Accelerations of vibrations far
     * stiffer than the step say nothing about the position. */
    double h = clock->h;
    double error = 0;
    double size = 0;
    for (int k = of->coordinate; k < of->coordinate + of->body->coordinates; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        const coordinate_state *before = &state->coordinate_before[k];
        double jump = h * h * fabs(now->acceleration - before->acceleration) / 12;
        error = fmax(error, model->reach[k] * fmin(jump, fabs(now->value - before->value)));
        size = fmax(size, model->reach[k] * fabs(now->value));
    }

    /* Relative to the deformation of a modal body, or the length of a rod; over a window of steps. */
    bool modal = of->body->kind == YK_FLEXIBLE_MODAL;
    double length = of->body->length;
    double limit = MOTION_LIMIT * length;
    if (modal && size < VISIBLE * length)
        return;

    /* Relative to the largest deformation, so that passing through zero does not count. */
    seen->largest = fmax(seen->largest, size);
    if (modal)
        limit = VIBRATION_LIMIT * seen->largest;

    /* This step, and the window when it is full. */
    seen->steps_seen++;
    seen->steps_coarse += error > limit;
    if (seen->steps_seen < WINDOW)
        return;

    /* Half of the window decides; then the next window begins. */
    int coarse = seen->steps_coarse;
    seen->steps_seen = seen->steps_coarse = 0;
    seen->warned_steps = 2 * coarse >= WINDOW;
    if (!seen->warned_steps)
        return;

    yk_log(model->context, YK_LOG_WARNING,
           "%s: steps of %.3g s are too long for the motion of flexible body '%s': of the last %d "
           "at t = %.6g s, %d had a local error beyond %g %% of its %s; take smaller steps, or "
           "the error control of the two-step integrator",
           model->def.name, clock->h, of->name, WINDOW, clock->t, coarse,
           100 * (modal ? VIBRATION_LIMIT : MOTION_LIMIT), modal ? "deformation" : "length");
}

/* Kinetic energy of the mean velocity of the shortening by second-order shapes, and of the
 * deformation. The shortening of a rod varies linearly along its length, so the mean square of the
 * velocity is 4/3 of the squared mean. */
static void watch_inertia(const yk_multibody_model *model, const yk_multibody_state *state,
                          const flexible_model *of, struct flexible_watch *seen, double fraction)
{
    const yk_ffrf *body = &of->body->modal;
    const coordinate_state *now = &state->coordinate_now[of->coordinate];

    if (seen->warned_inertia || fraction < SMALL || body->curve_count == 0)
        return;

    /* Mean velocity of the mass by the shapes of second order, and the energy of the first-order
     * shapes. */
    yk_vec3 moment = {0, 0, 0};
    double twice = 0;
    int modes = of->body->coordinates;
    for (int k = 0; k < body->curve_count; k++) {
        const yk_ffrf_bend *curve = &body->curves[k];
        moment = yk_v3_axpy(now[curve->i].rate * now[curve->j].value, curve->value, moment);
    }

    for (int i = 0; i < modes; i++) {
        for (int j = 0; j < modes; j++)
            twice += now[i].rate * body->modal_mass[modes * i + j] * now[j].rate;
    }
    seen->drawn = fmax(seen->drawn, 0.5 * 4.0 / 3 * yk_v3_norm2(moment) / body->mass);
    seen->vibrating = fmax(seen->vibrating, 0.5 * twice);

    /* Relative to the largest of both since the start. */
    double missed = MISSED_FREQUENCY * seen->drawn;
    if (!(missed > FREQUENCY_LIMIT * seen->vibrating))
        return;

    seen->warned_inertia = true;
    yk_log(model->context, YK_LOG_WARNING,
           "%s: flexible body '%s' deforms by %.2g of its length at t = %.6g s, and its bending "
           "draws it in so fast that what shapes in small deformation leave out changes its "
           "frequency by about %.2g %%, and its motion near a resonance by far more: use beams, or "
           "absolute coordinates with a dozen elements",
           model->def.name, of->name, fraction, state->clock->t, 100 * missed / seen->vibrating);
}

static yk_status watch_size(const yk_multibody_model *model, const yk_multibody_state *state,
                            const flexible_model *of, struct flexible_watch *seen)
{
    /* The deformation by the displacements of all coordinates together. */
    double square = 0;
    for (int k = of->coordinate; k < of->coordinate + of->body->coordinates; k++) {
        double move = model->reach[k] * state->coordinate_now[k].value;
        square += move * move;
    }
    double fraction = sqrt(square) / of->body->length;

    /* Invalid, beyond the limit of inertia, beyond small deformations. */
    if (!(fraction < ABSURD))
        return yk_fail(
            model->context, YK_ERROR_DIVERGED,
            "%s: flexible body '%s' deforms by %.3g times its length at t = %.6g s, which its "
            "shapes cannot show: use beams, or absolute coordinates with a dozen elements",
            model->def.name, of->name, fraction, state->clock->t);

    watch_inertia(model, state, of, seen, fraction);
    if (fraction < MUCH || seen->warned_size)
        return YK_OK;

    seen->warned_size = true;
    yk_log(model->context, YK_LOG_WARNING,
           "%s: flexible body '%s' deforms by %.2g of its length at t = %.6g s: shapes are for "
           "small deformation, and its deflections are off by about %.2g %% there, growing with "
           "the square; use beams, or absolute coordinates with a dozen elements",
           model->def.name, of->name, fraction, state->clock->t,
           100 * MISSED_DEFLECTION * fraction * fraction);

    return YK_OK;
}

/* A point mass has a small substitute inertia, so that its rotation is determined (compile.c). A
 * torque that only this inertia resists causes an arbitrary rotation. */
static void watch_points(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    double h = self->state.clock->h;
    for (int i = 0; i < model->node_count && !self->warned_points; i++) {
        const node_model *node = &model->nodes[i];
        if (node->substitute == 0)
            continue;

        const trial_node *now = &self->work.trial[i];
        double turning = yk_v3_norm(now->angular_acceleration);
        double moving = yk_v3_norm(model->def.gravity) + yk_v3_norm(now->acceleration);
        double usual = node->inertia.mass * moving * model->length_scale;
        if (!(node->substitute * turning > POINT_TORQUE * usual && turning * h * h > POINT_TURN))
            continue;

        self->warned_points = true;
        yk_log(model->context, YK_LOG_WARNING,
               "%s: a torque turns '%s' at t = %.6g s, which has mass but no inertia about that "
               "axis: give the body its inertia, or a joint that holds its rotation",
               model->def.name, node->name, self->state.clock->t);
    }
}

yk_status yk_multibody_watch_start(yk_multibody *self, yk_status status)
{
    const yk_multibody_model *model = &self->model;
    watch_points(self);
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        if (of->node < 0)
            continue;

        yk_status outcome = watch_size(model, &self->state, of, &self->watch[i]);
        if (outcome != YK_OK)
            return outcome;
    }

    return status;
}

yk_status yk_multibody_watch(yk_multibody *self, yk_status status)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_state *state = &self->state;
    bool fixed =
        model->def.options.error_tolerance == 0 && yk_multibody_is_implicit(model->integrator);

    /* Steps that Newton's method could not solve without dividing them, for any model. */
    const yk_multibody_report *report = &self->work.report;
    bool often = report->rejected >= CUTS && 5 * report->rejected >= report->steps;
    if (fixed && often && !self->warned_cuts) {
        self->warned_cuts = true;
        yk_log(
            model->context, YK_LOG_WARNING,
            "%s: Newton's method failed %lld times up to t = %.6g s, and steps were cut: they are "
            "too long for the motion; take smaller steps, or the error control of the two-step "
            "integrator",
            model->def.name, (long long)report->rejected, state->clock->t);
    }

    /* Flexible bodies. */
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        struct flexible_watch *seen = &self->watch[i];
        if (of->node >= 0)
            watch_spin(model, state, &self->work, of, seen);
        if (fixed)
            watch_steps(model, state, of, seen);
    }

    return yk_multibody_watch_start(self, status);
}
