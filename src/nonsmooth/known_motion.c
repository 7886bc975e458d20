/* Bodies whose motion is known: they follow a function of time, coordinates along a path, or a
 * port that takes motion. */
#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

/* Differences over this part of a second: rounding and the fifth derivative weigh alike for
 * motions of some ten Hz. */
static const double PATH_WIDTH = 1e-4;

double yk_world_rate(yk_function function, double t, double width)
{
    if (!function.value)
        return 0;

    /* Central differences of fourth order. */
    double inner = yk_function_value(function, t + width) - yk_function_value(function, t - width);
    double outer =
        yk_function_value(function, t + 2 * width) - yk_function_value(function, t - 2 * width);
    return (8 * inner - outer) / (12 * width);
}

static yk_vec3 path_value(const yk_function *f, double t)
{
    return yk_v3(yk_function_value(f[0], t), yk_function_value(f[1], t),
                 yk_function_value(f[2], t));
}

static yk_vec3 path_rate(const yk_function *f, double t)
{
    return yk_v3(yk_world_rate(f[0], t, PATH_WIDTH), yk_world_rate(f[1], t, PATH_WIDTH),
                 yk_world_rate(f[2], t, PATH_WIDTH));
}

static yk_motion prescribed_motion(const yk_world_model *model, const yk_prescription *prescription,
                                   double t)
{
    yk_motion motion = {.orientation = {1, 0, 0, 0}};
    if (prescription->function) {
        prescription->function(prescription->user, t, &motion);
        return motion;
    }

    /* From where the body was placed. */
    const yk_nonsmooth_path *path = &prescription->path;
    const yk_body_state *initial = &model->initial[prescription->body];

    /* A rotation vector: its rate becomes a velocity by the left tangent. */
    yk_vec3 rotation = path_value(path->rotation, t);
    motion.position = yk_v3_add(initial->position, path_value(path->position, t));
    motion.velocity = path_rate(path->position, t);
    motion.orientation = yk_q_mul(yk_so3_exp(rotation), initial->orientation);

    motion.angular_velocity =
        yk_m3_apply(yk_so3_left_tangent(rotation), path_rate(path->rotation, t));
    return motion;
}

/* explicit (18): v(t + h) = u22 - (q(t) - u21) / h, rotations on SO(3); the frame is that of a
 * marker on the body. */
static void follow(yk_body_state *body, const yk_marker *marker, const yk_motion *begin,
                   const yk_motion *end, double h)
{
    /* How far the marker is from where it should be. */
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset);
    yk_quat orientation = yk_q_mul(body->orientation, marker->orientation);
    yk_vec3 apart = yk_v3_sub(yk_v3_add(body->position, arm), begin->position);
    yk_vec3 rotated = yk_so3_log(yk_q_mul(orientation, yk_q_conjugate(begin->orientation)));

    /* The velocity that closes this within the step, at the centre of mass. */
    body->angular_velocity = yk_v3_axpy(-1 / h, rotated, end->angular_velocity);
    yk_vec3 velocity = yk_v3_axpy(-1 / h, apart, end->velocity);
    body->velocity = yk_v3_sub(velocity, yk_v3_cross(body->angular_velocity, arm));
}

void yk_world_follow(const yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                     yk_body_state *known)
{
    const yk_world_model *model = &self->model;

    /* Functions move the centre of mass. */
    yk_marker centre = yk_marker_default();
    for (size_t i = 0; i < model->prescription_count; i++) {
        const yk_prescription *p = &model->prescriptions[i];
        size_t slot = (size_t)model->slot_of[p->body];

        yk_motion begin = prescribed_motion(model, p, t);
        yk_motion end = prescribed_motion(model, p, t + h);
        follow(&known[slot - model->dynamic_count], &centre, &begin, &end, h);
    }

    /* Ports move their marker. */
    for (size_t i = 0; inputs && i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        if (!port->whole_body)
            continue;

        /* Its pose at the beginning, its velocity at the end of the step. */
        yk_motion begin = yk_input_motion(&inputs[i], YK_PORT_MARKER, 0);
        yk_motion end = yk_input_motion(&inputs[i], YK_PORT_MARKER, h);
        follow(&known[(size_t)port->slot - model->dynamic_count], &port->marker, &begin, &end, h);
    }
}

/* The body stands where its marker has the given motion. */
static void stand_at(yk_body_state *body, const yk_marker *marker, const yk_motion *motion)
{
    body->orientation =
        yk_q_unit(yk_q_mul(motion->orientation, yk_q_conjugate(marker->orientation)));
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset);
    body->position = yk_v3_sub(motion->position, arm);
    body->angular_velocity = motion->angular_velocity;
    body->velocity = yk_v3_sub(motion->velocity, yk_v3_cross(motion->angular_velocity, arm));
}

void yk_world_place_known_bodies(yk_nonsmooth *self, double t, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    yk_body_state *bodies = self->state.bodies;

    /* As in yk_world_follow: functions move the centre of mass, ports their marker. */
    yk_marker centre = yk_marker_default();
    for (size_t i = 0; i < model->prescription_count; i++) {
        const yk_prescription *p = &model->prescriptions[i];
        yk_motion motion = prescribed_motion(model, p, t);
        stand_at(&bodies[model->slot_of[p->body]], &centre, &motion);
    }

    for (size_t i = 0; inputs && i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        if (!port->whole_body)
            continue;

        yk_motion motion = yk_input_motion(&inputs[i], YK_PORT_MARKER, 0);
        stand_at(&bodies[port->slot], &port->marker, &motion);
    }
}
