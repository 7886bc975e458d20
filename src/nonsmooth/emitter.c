/* Particles that enter and leave during a run: emitters add them, sinks remove them.
 *
 * All particles of an emitter are bodies of the model from the beginning, and absent until they are
 * due. A particle removed by a sink is absent again, and can be emitted again. So no array changes
 * its size in a run, and all changing data are part of the state image: absent bodies, random
 * numbers, and sums. Emitters and sinks act after each step, sequentially and in one thread, so
 * that the results are the same bit for bit for any number of threads.
 *
 * A particle appears where it touches nothing: places are drawn at random until one is free. The
 * kinetic and potential energy of emitted particles is work on the system; that of removed
 * particles is work done by it. */

#include "base/text.h"
#include "nonsmooth/packing.h"
#include "nonsmooth/solids/solid.h"
#include "nonsmooth/world.h"

enum { ATTEMPTS = 100 };

/* Tolerance of a due time: particles that are due at the end of a step appear in this step and not
 * in the next one, despite rounding errors of the time. */
static const double DUE = 1e-6;
static const double MOST_DUE = 1e15;

yk_emitter_def yk_emitter_default(void)
{
    return (yk_emitter_def){.particles = yk_particles_default(), .end_time = INFINITY};
}

yk_sink_def yk_sink_default(void)
{
    return (yk_sink_def){.kind = YK_SOLID_PLANE, .orientation = {1, 0, 0, 0}};
}

/* Building ------------------------------------------------------------------------------------- */

static yk_status check_open(const yk_world_model *model, const char *what, const char *name)
{
    if (!name || !name[0])
        return yk_fail(model->context, YK_ERROR_ARGUMENT, "%s has no name: give it one", what);
    if (model->frozen)
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "%s '%s' cannot be added after start: the model is frozen", what, name);
    return YK_OK;
}

static yk_status check_emitter(const yk_world_model *model, const yk_emitter_def *def)
{
    yk_context *context = model->context;
    yk_status status = check_open(model, "an emitter", def->name);
    if (status != YK_OK)
        return status;

    /* Exactly one finite rate. */
    bool by_count = def->rate > 0 && isfinite(def->rate);
    bool by_mass = def->mass_rate > 0 && isfinite(def->mass_rate);
    if (by_count == by_mass || def->rate < 0 || def->mass_rate < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "emitter '%s': %g particles per second and %g kg/s, one of the two must be "
                       "positive and the other zero",
                       def->name, def->rate, def->mass_rate);

    if (!isfinite(def->start_time) || !(def->end_time > def->start_time))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "emitter '%s': it ends at %g s, which must be later than %g s, where it "
                       "begins",
                       def->name, def->end_time, def->start_time);
    if (def->max_emitted < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "emitter '%s': it is to emit %d particles at most, must not be negative",
                       def->name, def->max_emitted);

    /* Counts and sizes are checked when the lattice of the particles is created. */
    const yk_particles_def *particles = &def->particles;
    bool finite = yk_v3_finite(particles->position) && yk_v3_finite(particles->velocity) &&
                  yk_v3_finite(particles->angular_velocity) &&
                  yk_v3_finite(particles->packing.size);
    if (finite)
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "emitter '%s': position, size or velocity is not finite", def->name);
}

int yk_world_add_emitter(yk_nonsmooth *self, const yk_emitter_def *def)
{
    yk_world_model *model = &self->model;
    yk_status status = check_emitter(model, def);
    if (status != YK_OK)
        return YK_NO_ID;

    /* Sizes and orientations are those of a lattice, whose position does not matter. */
    const yk_packing_def *packing_def = &def->particles.packing;
    yk_packing packing = {0};
    status = yk_packing_lattice(model->context, packing_def, &packing);
    if (status != YK_OK)
        return YK_NO_ID;

    /* The lattice has checked that the largest particle fits between the sides. */
    double tallest = 0;
    for (int i = 0; i < packing.count; i++)
        tallest = fmax(tallest, packing.radii[i] * packing.particle.reach);
    if (tallest > packing_def->size.z) {
        yk_packing_destroy(model->context, &packing);
        yk_fail(model->context, YK_ERROR_ARGUMENT,
                "emitter '%s': its region is %g m high, and a particle may need %g m", def->name,
                2 * packing_def->size.z, 2 * tallest);
        return YK_NO_ID;
    }

    /* All of them are bodies from the beginning, absent until they are due: steps allocate no
     * memory. */
    int first = yk_packing_add(self, &packing, def->particles.position, packing_def->density,
                               packing_def->material);
    bool shaped = packing.orientations != NULL;
    yk_packing_destroy(model->context, &packing);
    if (first == YK_NO_ID)
        return YK_NO_ID;

    /* The list grows by one, because there are few emitters. */
    size_t number = model->emitter_count;
    yk_emitter_model *list =
        yk_reallocate(model->context, model->emitters, number + 1, sizeof *list);
    if (!list)
        return YK_NO_ID;
    model->emitters = list;

    char *name = yk_text_copy(model->context, def->name);
    if (!name)
        return YK_NO_ID;

    list[number] = (yk_emitter_model){
        .name = name,
        .first = (size_t)first,
        .count = (size_t)packing_def->count,
        .rate = def->rate,
        .mass_rate = def->mass_rate,
        .from = def->start_time,
        .until = def->end_time,
        .limit = def->max_emitted > 0 ? (uint64_t)def->max_emitted : UINT64_MAX,
        .cylinder = packing_def->cavity == YK_SOLID_CYLINDER_CAVITY,
        .size = packing_def->size,
        .position = def->particles.position,
        .motion = {.orientation = {1, 0, 0, 0},
                   .velocity = def->particles.velocity,
                   .angular_velocity = def->particles.angular_velocity},
        .random_orientation = shaped && !packing_def->aligned,
        .seed = packing_def->seed,
    };
    return (int)model->emitter_count++;
}

int yk_world_add_sink(yk_nonsmooth *self, const yk_sink_def *def)
{
    yk_world_model *model = &self->model;
    yk_status status = check_open(model, "a sink", def->name);
    if (status != YK_OK)
        return YK_NO_ID;

    yk_solid region = {.kind = def->kind, .position = def->position, .size = def->size};
    const yk_solid_ops *ops = yk_solid_ops_of(def->kind);
    bool kind = ops && ops->contains;
    bool placed = yk_v3_finite(def->position) && yk_q_norm(def->orientation) > 0;
    bool sized = kind && yk_solid_is_valid(&region);
    if (!kind || !placed || !sized) {
        yk_fail(model->context, YK_ERROR_ARGUMENT,
                "sink '%s': it is a box or a cylinder of positive size, or a plane, at a finite "
                "position",
                def->name);
        return YK_NO_ID;
    }

    region.rotation = yk_q_matrix(yk_q_unit(def->orientation));

    size_t number = model->sink_count;
    yk_sink_model *list = yk_reallocate(model->context, model->sinks, number + 1, sizeof *list);
    if (!list)
        return YK_NO_ID;
    model->sinks = list;

    char *name = yk_text_copy(model->context, def->name);
    if (!name)
        return YK_NO_ID;

    list[number] = (yk_sink_model){.name = name, .region = region};
    return (int)model->sink_count++;
}

/* Marks a body to which something is joined; false if it is a particle of an emitter. */
static bool hold(yk_world_model *model, int body)
{
    if (body < 0)
        return true;

    for (size_t i = 0; i < model->emitter_count; i++) {
        const yk_emitter_model *emitter = &model->emitters[i];
        if ((size_t)body >= emitter->first && (size_t)body < emitter->first + emitter->count)
            return false;
    }

    size_t slot = (size_t)model->slot_of[body];
    if (slot < model->dynamic_count)
        model->leaves[slot] = 0;
    return true;
}

yk_status yk_world_freeze_flow(yk_world_model *model)
{
    if (!yk_world_may_be_absent(model))
        return YK_OK;

    uint8_t *leaves =
        yk_reallocate(model->context, model->leaves, model->dynamic_count + 1, sizeof *leaves);
    if (!leaves)
        return YK_ERROR_MEMORY;
    model->leaves = leaves;

    /* Particles have no name. */
    for (size_t slot = 0; slot < model->dynamic_count; slot++)
        leaves[slot] = model->names[model->body_of[slot]] == NULL;

    /* Bodies with joints cannot be removed; particles of emitters have no joints. */
    bool good = true;
    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_body_id *body = model->joints[i].def.bodies;
        good = hold(model, body[0].index) && hold(model, body[1].index) && good;
    }

    for (size_t i = 0; i < model->force_count; i++) {
        const yk_body_id *body = model->forces[i].def.bodies;
        good = hold(model, body[0].index) && hold(model, body[1].index) && good;
    }

    for (size_t i = 0; i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        good = hold(model, port->body) && good;
        if (port->line)
            good = hold(model, port->far_body) && good;
    }

    for (size_t i = 0; i < model->prescription_count; i++)
        good = hold(model, model->prescriptions[i].body) && good;
    if (good)
        return YK_OK;
    return yk_fail(
        model->context, YK_ERROR_ARGUMENT,
        "a joint, force, port or prescribed motion is on a particle of an emitter, which "
        "comes and goes: add it to a body of its own");
}

/* Sinks ---------------------------------------------------------------------------------------- */

static double energy_of(const yk_nonsmooth *self, size_t slot)
{
    const yk_body_state *body = &self->state.bodies[slot];
    double kinetic = yk_world_body_kinetic(self, slot, body->velocity, body->angular_velocity);
    double mass = self->model.bodies[slot].mass;
    return kinetic - mass * yk_v3_dot(self->model.def.gravity, body->position);
}

static bool is_inside(const yk_solid *region, yk_vec3 at)
{
    yk_vec3 p = yk_m3_apply_transposed(region->rotation, yk_v3_sub(at, region->position));
    return yk_solid_ops_of(region->kind)->contains(region, p);
}

/* Whether a body and a sink or an emitter belong to the same world. */
static bool same_world(const yk_world_model *model, size_t slot, int world)
{
    if (model->world_count == 0)
        return true;

    size_t body = (size_t)model->body_of[slot];
    return body >= model->world_bodies[world] && body < model->world_bodies[world + 1];
}

void yk_world_drain(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    yk_world_state *state = &self->state;

    for (size_t slot = 0; model->sink_count > 0 && slot < model->dynamic_count; slot++) {
        if (!model->leaves[slot] || state->absent[slot])
            continue;

        /* The first sink that contains it removes it. */
        yk_body_state *body = &state->bodies[slot];
        yk_vec3 at = yk_world_wrap(model, body->position);
        for (size_t i = 0; i < model->sink_count; i++) {
            const yk_sink_model *sink = &model->sinks[i];
            if (!same_world(model, slot, sink->world) || !is_inside(&sink->region, at))
                continue;

            state->run.work -= energy_of(self, slot);
            state->sinks[i].count++;
            state->sinks[i].mass += model->bodies[slot].mass;

            /* Wake the island that has lost a member. */
            if (yk_world_is_asleep(model, state, (int32_t)slot))
                yk_sleep_wake(self, (int32_t)slot);
            if (state->sleep.rest_time)
                state->sleep.rest_time[slot] = 0;
            body->velocity = body->angular_velocity = yk_v3(0, 0, 0);
            state->absent[slot] = 1;
            break;
        }
    }
}

/* Emitters ------------------------------------------------------------------------------------- */

/* Finite parts of a body, which are consecutive. */
static size_t first_part(const yk_world_model *model, size_t slot)
{
    size_t low = 0, high = model->finite_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int32_t body = model->parts[middle].body;
        if (body >= 0 && (size_t)body < slot)
            low = middle + 1;
        else
            high = middle;
    }

    return low;
}

/* Lists a finite part with the ball that contains it. */
static void add_around(yk_nonsmooth *self, size_t part)
{
    size_t at = self->step.around_count++;
    self->step.around[at] = (int32_t)part;
    self->step.around_balls[at] = (yk_ball){yk_world_part_centre(&self->model, &self->state, part),
                                            self->collision.balls[part].radius};
}

/* Whether an absent body would touch nothing at the pose in its state. */
static bool is_free(const yk_nonsmooth *self, size_t slot)
{
    const yk_world_model *model = &self->model;
    const yk_world_state *state = &self->state;
    yk_touch list[YK_MANIFOLD_MAX];

    for (size_t i = first_part(model, slot); i < model->finite_count; i++) {
        if (model->parts[i].body != (int32_t)slot)
            break;

        yk_solid a = yk_world_solid(model, state, i);
        double radius = self->collision.balls[i].radius;

        /* Balls decide in most cases, and for all spheres. */
        for (size_t k = 0; k < self->step.around_count; k++) {
            const yk_ball *ball = &self->step.around_balls[k];
            yk_vec3 shift = yk_world_image(model, a.position, ball->centre);
            yk_vec3 d = yk_v3_add(yk_v3_sub(ball->centre, a.position), shift);
            double near = radius + ball->radius + model->envelope;
            size_t j = (size_t)self->step.around[k];
            if (yk_v3_norm2(d) >= near * near || !yk_world_may_touch(model, i, j))
                continue;
            if (yk_solid_is_ball(a.kind) && yk_solid_is_ball(model->parts[j].kind))
                return false;

            /* The shapes themselves, with the nearest image of the other one. */
            yk_solid b = yk_world_solid(model, state, j);
            b.position = yk_v3_add(b.position, shift);
            if (yk_collide(&a, &b, model->envelope, list) > 0)
                return false;
        }

        /* Planes and cavities. */
        for (size_t j = model->finite_count; j < model->part_count; j++) {
            yk_solid b = yk_world_solid(model, state, j);
            if (yk_world_may_touch(model, i, j) && yk_collide(&a, &b, model->envelope, list) > 0)
                return false;
        }
    }

    return true;
}

/* Places a body at a free position of the region; false if none is found. */
static bool place(yk_nonsmooth *self, const yk_emitter_model *emitter, yk_emitter_state *state,
                  size_t slot)
{
    /* The ball about its center of mass must be inside the region. */
    const yk_world_model *model = &self->model;
    double reach = 0;
    for (size_t i = first_part(model, slot); i < model->finite_count; i++) {
        const yk_part *part = &model->parts[i];
        if (part->body != (int32_t)slot)
            break;

        double radius = self->collision.balls[i].radius;
        if (part->geometry >= 0)
            radius += yk_v3_norm(model->geometries[part->geometry].position);
        reach = fmax(reach, radius);
    }

    /* The remaining region for the center; its middle if the region is too narrow. */
    yk_body_state *body = &self->state.bodies[slot];
    yk_vec3 room = {fmax(0, emitter->size.x - reach), fmax(0, emitter->size.y - reach),
                    fmax(0, emitter->size.z - reach)};

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        *body = emitter->motion;
        double u = yk_random(&state->random), v = yk_random(&state->random);
        yk_vec3 at = {room.x * (2 * u - 1), room.y * (2 * v - 1), 0};
        if (emitter->cylinder) {
            /* Uniform on the disc. */
            double r = room.x * sqrt(u), angle = 2 * YK_PI * v;
            at = yk_v3(r * cos(angle), r * sin(angle), 0);
        }
        at.z = room.z * (2 * yk_random(&state->random) - 1);
        body->position = yk_v3_add(emitter->position, at);
        if (emitter->random_orientation)
            body->orientation = yk_random_orientation(&state->random);

        if (is_free(self, slot))
            return true;
    }

    /* The body remains absent, at rest. */
    body->velocity = body->angular_velocity = yk_v3(0, 0, 0);
    return false;
}

void yk_world_emit(yk_nonsmooth *self, double t)
{
    const yk_world_model *model = &self->model;
    yk_world_state *state = &self->state;

    for (size_t i = 0; i < model->emitter_count; i++) {
        const yk_emitter_model *emitter = &model->emitters[i];
        yk_emitter_state *now = &state->emitters[i];
        bool listed = false;

        now->exhausted = 0;
        for (;;) {
            /* The first absent one, in a fixed order. */
            size_t k = 0, slot = 0;
            for (; k < emitter->count; k++) {
                size_t number = (now->next + k) % emitter->count;
                slot = (size_t)model->slot_of[emitter->first + number];
                if (state->absent[slot])
                    break;
            }

            /* Number of particles of its mass that are due and have not appeared; limited to the
             * largest countable number. */
            double mass = model->bodies[slot].mass;
            double duration = fmax(0, fmin(t, emitter->until) - now->from);
            double due = emitter->rate * duration - (double)now->count;
            if (emitter->mass_rate > 0)
                due = (emitter->mass_rate * duration - now->mass) / mass;
            due = fmin(floor(due + DUE), MOST_DUE);

            now->waiting = 0;
            if (due > 0)
                now->waiting = (uint64_t)due;
            if (now->waiting > emitter->limit - now->count)
                now->waiting = emitter->limit - now->count;
            if (now->waiting == 0)
                break;

            /* All its bodies are in use: the next particle appears after a sink has removed one. */
            if (k == emitter->count) {
                now->exhausted = 1;
                break;
            }

            /* List the parts that overlap the region once, if a particle is due. */
            yk_vec3 half = emitter->size;
            if (emitter->cylinder)
                half.y = half.x;
            if (!listed)
                self->step.around_count = 0;
            for (size_t part = 0; !listed && part < model->finite_count; part++) {
                if (yk_world_is_absent(model, state, model->parts[part].body))
                    continue;

                yk_vec3 centre = yk_world_part_centre(model, state, part);
                yk_vec3 d = yk_v3_sub(centre, emitter->position);
                d = yk_v3_add(d, yk_world_image(model, emitter->position, centre));
                double reach = self->collision.balls[part].radius + model->envelope;
                if (fabs(d.x) < half.x + reach && fabs(d.y) < half.y + reach &&
                    fabs(d.z) < half.z + reach)
                    add_around(self, part);
            }

            listed = true;

            /* If there is no free position, all due particles wait for the next step. */
            if (!place(self, emitter, now, slot))
                break;

            /* The particle is active from here on; its energy is external work. */
            state->absent[slot] = 0;
            if (state->sleep.rest_time)
                state->sleep.rest_time[slot] = 0;
            state->run.work += energy_of(self, slot);
            now->next = (now->next + k + 1) % emitter->count;
            now->count++;
            now->mass += mass;

            /* The next particles must not overlap it. */
            for (size_t part = first_part(model, slot);
                 part < model->finite_count && model->parts[part].body == (int32_t)slot; part++)
                add_around(self, part);
        }
    }
}

/* What can be asked ---------------------------------------------------------------------------- */

size_t yk_world_present(const yk_nonsmooth *self, int world, double *mass)
{
    const yk_world_model *model = &self->model;
    const yk_world_state *state = &self->state;

    size_t present = 0;
    *mass = 0;
    for (size_t slot = 0; state->absent && slot < model->dynamic_count; slot++) {
        if (!model->leaves[slot] || state->absent[slot] || !same_world(model, slot, world))
            continue;

        present++;
        *mass += model->bodies[slot].mass;
    }

    return present;
}

double yk_world_shortfall(const yk_nonsmooth *self, int world, bool *exhausted)
{
    double shortfall = 0;
    *exhausted = false;
    for (size_t i = 0; i < self->model.emitter_count; i++) {
        const yk_emitter_state *now = &self->state.emitters[i];
        if (now->waiting == 0 || self->model.emitters[i].world != world)
            continue;

        double fraction = (double)now->waiting / (double)(now->count + now->waiting);
        if (fraction > shortfall) {
            shortfall = fraction;
            *exhausted = now->exhausted;
        }
    }

    return shortfall;
}

yk_emitter_state yk_nonsmooth_emitted(const yk_nonsmooth *self, int emitter)
{
    return self->state.emitters[emitter];
}

yk_sink_state yk_nonsmooth_removed(const yk_nonsmooth *self, int sink)
{
    return self->state.sinks[sink];
}

bool yk_nonsmooth_is_absent(const yk_nonsmooth *self, int body)
{
    return yk_world_is_absent(&self->model, &self->state, self->model.slot_of[body]);
}
