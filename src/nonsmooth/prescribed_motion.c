/* Bodies with known motion: they follow a function of time, coordinates along a path, or a port
 * that receives motion. And the depth to which they penetrate solids that never move. */
#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

/* Motion --------------------------------------------------------------------------------------- */

/* Step of finite differences (s): rounding errors and the fifth derivative have the same effect for
 * motions of some ten Hz. */
static const double PATH_WIDTH = 1e-4;

double yk_world_rate(yk_time_function function, double t, double width)
{
    if (!function.evaluate)
        return 0;

    /* Central differences of fourth order. */
    double inner = yk_function_value(function, t + width) - yk_function_value(function, t - width);
    double outer =
        yk_function_value(function, t + 2 * width) - yk_function_value(function, t - 2 * width);
    return (8 * inner - outer) / (12 * width);
}

static yk_vec3 path_value(const yk_time_function *f, double t)
{
    return yk_v3(yk_function_value(f[0], t), yk_function_value(f[1], t),
                 yk_function_value(f[2], t));
}

static yk_vec3 path_rate(const yk_time_function *f, double t)
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

    /* Relative to the initial pose of the body. */
    const yk_prescribed_path *path = &prescription->path;
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

/* Zhang et al. 2022 (18): v(t + h) = u22 - (q(t) - u21) / h, rotations on SO(3); the frame is that
 * of a marker on the body. */
static void follow(yk_body_state *body, const yk_marker *marker, const yk_motion *begin,
                   const yk_motion *end, double h)
{
    /* Deviation of the marker from its prescribed pose. */
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset);
    yk_quat orientation = yk_q_mul(body->orientation, marker->orientation);
    yk_vec3 apart = yk_v3_sub(yk_v3_add(body->position, arm), begin->position);
    yk_vec3 rotated = yk_so3_log(yk_q_mul(orientation, yk_q_conjugate(begin->orientation)));

    /* The velocity at the center of mass that corrects it within the step. */
    body->angular_velocity = yk_v3_axpy(-1 / h, rotated, end->angular_velocity);
    yk_vec3 velocity = yk_v3_axpy(-1 / h, apart, end->velocity);
    body->velocity = yk_v3_sub(velocity, yk_v3_cross(body->angular_velocity, arm));
}

void yk_world_follow(const yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                     yk_body_state *known)
{
    const yk_world_model *model = &self->model;

    /* Functions move the center of mass. */
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

        /* The pose at the start, the velocity at the end of the step. */
        yk_motion begin = yk_input_motion(&inputs[i], YK_PORT_MARKER, 0);
        yk_motion end = yk_input_motion(&inputs[i], YK_PORT_MARKER, h);
        follow(&known[(size_t)port->slot - model->dynamic_count], &port->marker, &begin, &end, h);
    }
}

/* The state of a body whose marker has the given motion. */
static void stand_at(yk_body_state *body, const yk_marker *marker, const yk_motion *motion)
{
    body->orientation =
        yk_q_unit(yk_q_mul(motion->orientation, yk_q_conjugate(marker->orientation)));
    /* x = x_m - arm, v = v_m - w x arm. */
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset);
    body->position = yk_v3_sub(motion->position, arm);
    body->angular_velocity = motion->angular_velocity;
    body->velocity = yk_v3_sub(motion->velocity, yk_v3_cross(motion->angular_velocity, arm));
}

void yk_world_place_known_bodies(yk_nonsmooth *self, double t, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    yk_body_state *bodies = self->state.bodies;

    /* As in yk_world_follow(): functions move the center of mass, ports their marker. */
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

/* Passages ------------------------------------------------------------------------------------- */

/* Penetration of bodies whose motion an interface prescribes into solids that never move.
 *
 * No force could stop either of them, so there is no contact between them and they pass through
 * each other. Such a run misses a contact, which nothing else shows. So the penetration depth
 * beyond that at the start is recorded. */

/* Largest number of pairs of solids that are checked. */
enum { PAIRS_MAX = 100000 };

/* Whether two solids would touch if their motion were not prescribed. The model need not be frozen. */
static bool may_pass(const yk_world_model *model, size_t driven, size_t still)
{
    const yk_part *a = &model->parts[driven];
    const yk_part *b = &model->parts[still];

    /* One follows its port, the other never moves. Depth is undefined for two unbounded solids. */
    if (a->body < 0 || model->bodies[a->body].drive != YK_PRESCRIBED_BY_PORT)
        return false;
    if (b->body >= 0 && model->bodies[b->body].drive != YK_FIXED)
        return false;
    if (!yk_solid_is_finite(a->kind) && !yk_solid_is_finite(b->kind))
        return false;
    return a->world == b->world && yk_world_layers_meet(model, a, b);
}

bool yk_world_body_may_pass(const yk_world_model *model, int body)
{
    for (size_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].body != body)
            continue;

        for (size_t j = 0; j < model->part_count; j++) {
            if (may_pass(model, i, j))
                return true;
        }
    }

    return false;
}

/* Depth for two solids, one of them finite; 0 if they are apart. */
static double depth_of(const yk_nonsmooth *self, size_t driven, size_t still)
{
    yk_solid a = yk_world_solid(&self->model, &self->state, driven);
    yk_solid b = yk_world_solid(&self->model, &self->state, still);

    /* The image nearest to it. */
    if (yk_solid_is_finite(a.kind) && yk_solid_is_finite(b.kind))
        b.position = yk_v3_add(b.position, yk_world_image(&self->model, a.position, b.position));

    /* Depth does not depend on the order of the solids. */
    yk_touch list[YK_MANIFOLD_MAX];
    int count;
    if (yk_solid_is_finite(a.kind)) {
        count = yk_collide(&a, &b, 0, list);
    } else {
        count = yk_collide(&b, &a, 0, list);
    }

    double depth = 0;
    for (int i = 0; i < count; i++)
        depth = fmax(depth, -list[i].gap);
    return depth;
}

yk_status yk_world_start_passages(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    self->largest_passage = 0;
    if (self->passages)
        return YK_OK;

    /* Few bodies are driven, and most models have no walls near them: count before allocating. */
    size_t count = 0;
    for (size_t i = 0; i < model->part_count; i++) {
        int32_t body = model->parts[i].body;
        bool driven = body >= 0 && model->bodies[body].drive == YK_PRESCRIBED_BY_PORT;
        for (size_t j = 0; j < model->part_count && driven; j++)
            count += may_pass(model, i, j);
    }

    if (count == 0 || count > PAIRS_MAX)
        return YK_OK;

    /* Only depth beyond that at the start counts. */
    self->passages = yk_allocate(self->context, count, sizeof *self->passages);
    if (!self->passages)
        return YK_ERROR_MEMORY;

    self->passage_count = 0;
    for (size_t i = 0; i < model->part_count; i++) {
        for (size_t j = 0; j < model->part_count; j++) {
            if (!may_pass(model, i, j))
                continue;

            /* Depths are compared with the size of a solid that has one. */
            size_t finite = yk_solid_is_finite(model->parts[i].kind) ? i : j;

            size_t at = self->passage_count++;
            self->passages[at].driven = i;
            self->passages[at].still = j;
            self->passages[at].size = yk_world_part_radius(model, &model->parts[finite]);
            self->passages[at].start = depth_of(self, i, j);
        }
    }

    return YK_OK;
}

void yk_world_release_passages(yk_nonsmooth *self)
{
    yk_free(self->context, self->passages);
    self->passages = NULL;
    self->passage_count = 0;
}

void yk_world_watch_passages(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->passage_count; i++) {
        double depth = depth_of(self, self->passages[i].driven, self->passages[i].still);
        depth -= self->passages[i].start;
        if (depth > YK_NONSMOOTH_PENETRATION_LIMIT * self->passages[i].size)
            self->largest_passage = fmax(self->largest_passage, depth);
    }
}
