/* Data for recording and display: channels, and the scene. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "nonsmooth/solids/solid.h"
#include "nonsmooth/world.h"

/* Channels ------------------------------------------------------------------------------------- */

typedef enum channel_kind {
    CHANNEL_CONTACTS,
    CHANNEL_OVERLAP,
    CHANNEL_RESIDUAL,
    CHANNEL_LARGEST_RESIDUAL,
    CHANNEL_LARGEST_RESIDUAL_RATIO,
    CHANNEL_UNRESOLVED,
    CHANNEL_MISSED,
    CHANNEL_PASSAGE,
    CHANNEL_ITERATIONS,
    CHANNEL_ASLEEP,
    CHANNEL_PRESENT,
    CHANNEL_PRESENT_MASS,
    CHANNEL_SHORTFALL,
    CHANNEL_EXHAUSTED,
    CHANNEL_EMITTED,
    CHANNEL_EMITTED_MASS,
    CHANNEL_WAITING,
    CHANNEL_REMOVED,
    CHANNEL_REMOVED_MASS,
    CHANNEL_PARTICLES,
    CHANNEL_ENERGY,
    CHANNEL_ZERO,
    CHANNEL_ELONGATION,
    CHANNEL_ELONGATION_RATE,
    CHANNEL_POSITION,
    CHANNEL_ORIENTATION,
    CHANNEL_VELOCITY,
    CHANNEL_ANGULAR_VELOCITY,
    CHANNEL_CONTACT_FORCE,
    CHANNEL_ACCELERATION,
    CHANNEL_ANGULAR_ACCELERATION,
    CHANNEL_FORCE,
    CHANNEL_TORQUE,
    CHANNEL_JOINT_FORCE,
    CHANNEL_JOINT_TORQUE,
    CHANNEL_JOINT_ANGLE,
    CHANNEL_JOINT_ANGLE_RATE,
    CHANNEL_JOINT_DISPLACEMENT,
    CHANNEL_JOINT_DISPLACEMENT_RATE
} channel_kind;

typedef struct channel_row {
    channel_kind kind;
    const char *name, *unit;
    int components;
} channel_row;

/* Contacts and the residual of their equations belong to the whole. */
static const channel_row world_channels[] = {
    {CHANNEL_CONTACTS, "contact_count", "1", 1},
    {CHANNEL_OVERLAP, "max_penetration", "m", 1},
    {CHANNEL_RESIDUAL, "contact_residual", "m/s", 1},
    {CHANNEL_LARGEST_RESIDUAL, "max_contact_residual", "m/s", 1},
    {CHANNEL_LARGEST_RESIDUAL_RATIO, "max_contact_residual_ratio", "1", 1},
    {CHANNEL_UNRESOLVED, "unsolved_step_fraction", "1", 1},
    {CHANNEL_MISSED, "unsolved_impulse_fraction", "1", 1},
    {CHANNEL_PASSAGE, "max_prescribed_penetration", "m", 1},
    {CHANNEL_ITERATIONS, "contact_iteration_count", "1", 1},
};
static const channel_row asleep_channel = {CHANNEL_ASLEEP, "sleeping_count", "1", 1};

/* With emitters: number and mass of present particles; the largest fraction of due particles that
 * could not be placed; and totals of each emitter and sink. */
static const channel_row flow_channels[] = {
    {CHANNEL_PRESENT, "particle_count", "1", 1},
    {CHANNEL_PRESENT_MASS, "particle_mass", "kg", 1},
    {CHANNEL_SHORTFALL, "emitter_shortfall", "1", 1},
    {CHANNEL_EXHAUSTED, "emitter_exhausted", "1", 1},
};

static const channel_row emitter_channels[] = {
    {CHANNEL_EMITTED, "emitted_count", "1", 1},
    {CHANNEL_EMITTED_MASS, "emitted_mass", "kg", 1},
    {CHANNEL_WAITING, "waiting_count", "1", 1},
};

static const channel_row sink_channels[] = {
    {CHANNEL_REMOVED, "removed_count", "1", 1},
    {CHANNEL_REMOVED_MASS, "removed_mass", "kg", 1},
};

/* Force and torque of a body are those that hold it on a prescribed motion. */
static const channel_row body_channels[] = {
    {CHANNEL_POSITION, "position", "m", 3},
    {CHANNEL_ORIENTATION, "orientation", "1", 4},
    {CHANNEL_VELOCITY, "velocity", "m/s", 3},
    {CHANNEL_ANGULAR_VELOCITY, "angular_velocity", "rad/s", 3},
    {CHANNEL_CONTACT_FORCE, "contact_force", "N", 3},
    {CHANNEL_FORCE, "force", "N", 3},
    {CHANNEL_TORQUE, "torque", "N m", 3},
};

static const channel_row joint_channels[] = {
    {CHANNEL_JOINT_FORCE, "force", "N", 3},
    {CHANNEL_JOINT_TORQUE, "torque", "N m", 3},
    {CHANNEL_JOINT_ANGLE, "angle", "rad", 1},
    {CHANNEL_JOINT_ANGLE_RATE, "angular_velocity", "rad/s", 1},
    {CHANNEL_JOINT_DISPLACEMENT, "displacement", "m", 1},
    {CHANNEL_JOINT_DISPLACEMENT_RATE, "velocity", "m/s", 1},
};

/* Channels of adopted models that other worlds do not have. Accelerations are means over the last
 * step. */
static const channel_row adopted_body_channels[] = {
    {CHANNEL_ACCELERATION, "acceleration", "m/s^2", 3},
    {CHANNEL_ANGULAR_ACCELERATION, "angular_acceleration", "rad/s^2", 3},
};

static const channel_row adopted_force_channels[] = {
    {CHANNEL_ELONGATION, "elongation", "m", 1},
    {CHANNEL_ELONGATION_RATE, "elongation_rate", "m/s", 1},
    {CHANNEL_ELONGATION, "angle", "rad", 1},
    {CHANNEL_ELONGATION_RATE, "angular_velocity", "rad/s", 1},
};

/* Energies are those of the whole; rigid bodies store no strain energy. */
static const channel_row adopted_channels[] = {
    {CHANNEL_ENERGY, "energy", "J", 4},
    {CHANNEL_ZERO, "strain_energy", "J", 1},
};

enum {
    FLOW_CHANNELS = sizeof flow_channels / sizeof *flow_channels,
    EMITTER_CHANNELS = sizeof emitter_channels / sizeof *emitter_channels,
    SINK_CHANNELS = sizeof sink_channels / sizeof *sink_channels,
    WORLD_CHANNELS = sizeof world_channels / sizeof *world_channels,
    BODY_CHANNELS = sizeof body_channels / sizeof *body_channels,
    JOINT_CHANNELS = sizeof joint_channels / sizeof *joint_channels
};

static yk_status add_channel(yk_nonsmooth *self, const channel_row *row, size_t index,
                             const char *owner)
{
    yk_text name = {0};

    /* Channels of the whole have no owner; others are named after their owner. */
    yk_text_add(self->context, &name, "%s%s%s", owner, owner[0] ? "." : "", row->name);
    if (name.failed) {
        yk_text_destroy(self->context, &name);
        return YK_ERROR_MEMORY;
    }

    size_t at = self->channel_count++;
    self->channels[at] = (yk_channel){name.data, row->unit, row->components};
    self->channel_sources[at].kind = (int)row->kind;
    self->channel_sources[at].index = index;
    return YK_OK;
}

/* Bodies, joints and forces of one world of a merged model, or all of them. */
typedef struct extent {
    size_t body, body_end, joint, joint_end, force, force_end;
} extent;

static extent extent_of(const yk_world_model *model, int world)
{
    if (model->world_count == 0)
        return (extent){0, model->body_count, 0, model->joint_count, 0, model->force_count};
    return (extent){
        model->world_bodies[world], model->world_bodies[world + 1],
        model->world_joints[world], model->world_joints[world + 1],
        model->world_forces[world], model->world_forces[world + 1],
    };
}

static yk_status name_world_channels(yk_nonsmooth *self, int world)
{
    const yk_world_model *model = &self->model;

    extent e = extent_of(model, world);
    yk_status status = YK_OK;

    /* Of the whole. */
    for (int i = 0; i < WORLD_CHANNELS && status == YK_OK; i++)
        status = add_channel(self, &world_channels[i], 0, "");
    if (status == YK_OK && model->def.sleeping.speed_threshold > 0)
        status = add_channel(self, &asleep_channel, 0, "");

    /* Emitters and sinks of this world, in total and one by one. */
    bool flows = false;
    for (size_t i = 0; i < model->emitter_count; i++)
        flows = flows || model->emitters[i].world == world;
    for (size_t i = 0; i < model->sink_count; i++)
        flows = flows || model->sinks[i].world == world;
    for (int k = 0; k < FLOW_CHANNELS && flows && status == YK_OK; k++)
        status = add_channel(self, &flow_channels[k], (size_t)world, "");
    for (size_t i = 0; i < model->emitter_count; i++) {
        bool own = model->emitters[i].world == world;
        for (int k = 0; k < EMITTER_CHANNELS && own && status == YK_OK; k++)
            status = add_channel(self, &emitter_channels[k], i, model->emitters[i].name);
    }

    for (size_t i = 0; i < model->sink_count; i++) {
        bool own = model->sinks[i].world == world;
        for (int k = 0; k < SINK_CHANNELS && own && status == YK_OK; k++)
            status = add_channel(self, &sink_channels[k], i, model->sinks[i].name);
    }

    /* Bodies without a name are particles, which share one channel. */
    int particles = 0;
    for (size_t i = e.body; i < e.body_end; i++)
        particles += model->names[i] == NULL;

    channel_row positions = {CHANNEL_PARTICLES, "particle_positions", "m", 3 * particles};
    if (status == YK_OK && particles > 0)
        status = add_channel(self, &positions, (size_t)world, "");

    /* Named bodies, with reactions if their motion is known from the start. */
    for (size_t i = e.body; i < e.body_end; i++) {
        if (!model->names[i])
            continue;

        uint8_t drive = model->bodies[yk_world_body_index(model, i)].drive;
        bool known = drive == YK_FIXED || drive == YK_PRESCRIBED_BY_FUNCTION;
        for (int k = 0; k < BODY_CHANNELS && status == YK_OK; k++)
            if (body_channels[k].kind < CHANNEL_FORCE || known)
                status = add_channel(self, &body_channels[k], i, model->names[i]);
    }

    /* Joints that have a name. */
    for (size_t i = e.joint; i < e.joint_end; i++) {
        const char *name = model->joints[i].name;
        for (int k = 0; name && k < JOINT_CHANNELS && status == YK_OK; k++)
            status = add_channel(self, &joint_channels[k], i, name);
    }

    return status;
}

/* The row whose name follows the last dot of a channel's name; NULL: none. */
static const channel_row *row_of(const channel_row *rows, size_t count, const char *name,
                                 int components)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0 && rows[i].components == components)
            return &rows[i];
    return NULL;
}

static bool is_owner(const char *owner, const char *name, size_t length)
{
    return owner && strlen(owner) == length && strncmp(owner, name, length) == 0;
}

/* The channels of a part of another kind, which have the names, units and order of their kind. */
static yk_status name_adopted_channels(yk_nonsmooth *self, int world, const yk_subsystem *part)
{
    const yk_world_model *model = &self->model;
    const yk_channel *channels = NULL;
    int count = part->ops->channels ? part->ops->channels->list(part, &channels) : 0;
    extent e = extent_of(model, world);

    for (int c = 0; c < count; c++) {
        const char *name = channels[c].name;
        int components = channels[c].component_count;
        const char *dot = strrchr(name, '.');
        const char *own = dot ? dot + 1 : name;
        size_t length = dot ? (size_t)(dot - name) : 0;

        /* A body, a joint or a force of this name, or the whole. */
        const channel_row *row = NULL;
        size_t index = 0;
        for (size_t i = e.body; i < e.body_end && dot && !row; i++) {
            if (!is_owner(model->names[i], name, length))
                continue;
            index = i;
            row = row_of(body_channels, BODY_CHANNELS, own, components);
            if (!row)
                row = row_of(adopted_body_channels, 2, own, components);
        }
        for (size_t i = e.joint; i < e.joint_end && dot && !row; i++) {
            if (!is_owner(model->joints[i].name, name, length))
                continue;
            index = i;
            row = row_of(joint_channels, JOINT_CHANNELS, own, components);
        }
        for (size_t i = e.force; i < e.force_end && dot && !row; i++) {
            if (!is_owner(model->forces[i].name, name, length))
                continue;
            index = i;
            row = row_of(adopted_force_channels, 4, own, components);
        }
        if (!row && !dot)
            row = row_of(adopted_channels, 2, own, components);

        /* Every channel of rigid bodies has its row. */
        assert(row);
        channel_row named = {row ? row->kind : CHANNEL_ZERO, name, channels[c].unit, components};
        yk_status status = add_channel(self, &named, index, "");
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

yk_status yk_world_name_channels(yk_nonsmooth *self)
{
    return yk_world_name_merged_channels(self, NULL);
}

/* Named once, when the model is complete. */
yk_status yk_world_name_merged_channels(yk_nonsmooth *self, yk_subsystem *const *parts)
{
    const yk_world_model *model = &self->model;
    if (self->channels)
        return YK_OK;

    /* Upper bound. */
    size_t named = 0, worlds = model->world_count > 0 ? (size_t)model->world_count : 1;
    for (size_t i = 0; i < model->body_count; i++)
        named += model->names[i] != NULL;

    size_t most =
        (WORLD_CHANNELS + 2) * worlds + BODY_CHANNELS * named + JOINT_CHANNELS * model->joint_count;
    most += FLOW_CHANNELS * worlds + EMITTER_CHANNELS * model->emitter_count +
            SINK_CHANNELS * model->sink_count;
    for (size_t i = 0; i < worlds && parts; i++) {
        const yk_channel *list = NULL;
        if (parts[i]->ops != yk_nonsmooth_ops() && parts[i]->ops->channels)
            most += (size_t)parts[i]->ops->channels->list(parts[i], &list);
    }

    self->channels = yk_allocate(self->context, most, sizeof *self->channels);
    self->channel_sources = yk_allocate(self->context, most, sizeof *self->channel_sources);
    if (!self->channels || !self->channel_sources)
        return YK_ERROR_MEMORY;

    /* Worlds of a merged model are named one after another, each as if it were alone. */
    yk_status status = YK_OK;
    for (size_t i = 0; i < worlds && status == YK_OK; i++) {
        bool adopted = parts && parts[i]->ops != yk_nonsmooth_ops();
        status = adopted ? name_adopted_channels(self, (int)i, parts[i])
                         : name_world_channels(self, (int)i);
    }
    return status;
}

void yk_world_release_channels(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->channel_count; i++)
        yk_free(self->context, (char *)(uintptr_t)self->channels[i].name);
    yk_free(self->context, self->channels);
    yk_free(self->context, self->channel_sources);
    self->channels = NULL;
    self->channel_sources = NULL;
    self->channel_count = 0;
}

/* Values --------------------------------------------------------------------------------------- */

static void write_vector(double *values, yk_vec3 v)
{
    values[0] = v.x;
    values[1] = v.y;
    values[2] = v.z;
}

/* State of an absent body. */
static const yk_vec3 NOWHERE = {NAN, NAN, NAN};

/* Positions of all bodies without a name; those of absent bodies are not finite. */
static void write_particles(const yk_nonsmooth *self, int world, double *values)
{
    const yk_world_model *model = &self->model;
    extent e = extent_of(model, world);

    for (size_t i = e.body; i < e.body_end; i++) {
        if (model->names[i])
            continue;

        int32_t slot = model->slot_of[i];
        yk_vec3 position = self->state.bodies[slot].position;
        if (yk_world_is_absent(model, &self->state, slot))
            position = NOWHERE;
        write_vector(values, position);
        values += 3;
    }
}

bool yk_world_is_diagnostic_channel(const yk_nonsmooth *self, int channel)
{
    int kind = self->channel_sources[channel].kind;
    for (size_t i = 0; i < WORLD_CHANNELS; i++)
        if (world_channels[i].kind == (channel_kind)kind)
            return true;
    return kind == CHANNEL_ASLEEP;
}

void yk_world_read_channel(const yk_nonsmooth *self, size_t channel, double *values)
{
    const yk_world_model *model = &self->model;
    const yk_world_state *state = &self->state;
    channel_kind kind = (channel_kind)self->channel_sources[channel].kind;

    size_t index = self->channel_sources[channel].index;

    /* State of a body, or distance of the markers of a joint. */
    yk_body_state body = {.position = {0, 0, 0}};
    yk_joint_reading joint = {0};
    double stretch[2] = {0, 0};
    if (kind == CHANNEL_ELONGATION || kind == CHANNEL_ELONGATION_RATE) {
        const yk_force_model *force = &model->forces[index];
        yk_frame a = yk_world_frame(state, force->slot_a);
        yk_frame b = yk_world_frame(state, force->slot_b);
        yk_force_stretch(&force->law, &a, &b, &stretch[0], &stretch[1]);
    } else if (kind >= CHANNEL_JOINT_ANGLE) {
        const yk_joint_model *source = &model->joints[index];
        yk_frame a = yk_world_frame(state, source->slot_a);
        yk_frame b = yk_world_frame(state, source->slot_b);
        joint = yk_joint_read(&source->joint, &a, &b);
    } else if (kind >= CHANNEL_POSITION && kind < CHANNEL_JOINT_FORCE) {
        body = state->bodies[model->slot_of[index]];
    }

    /* From the center of mass to the origin of the frame of an adopted body. */
    yk_vec3 arm = {0, 0, 0};
    if (model->origins && kind >= CHANNEL_POSITION && kind < CHANNEL_JOINT_FORCE)
        arm = yk_q_rotate(body.orientation, model->origins[index]);

    double mass;
    bool exhausted;
    switch (kind) {
    case CHANNEL_CONTACTS:
        values[0] = (double)(state->contacts.count + state->sleep.frozen.count);
        break;
    case CHANNEL_OVERLAP: values[0] = self->report.deepest_overlap; break;
    case CHANNEL_RESIDUAL: values[0] = self->report.solver.residual; break;
    case CHANNEL_LARGEST_RESIDUAL: values[0] = self->largest_residual; break;
    case CHANNEL_LARGEST_RESIDUAL_RATIO: values[0] = self->largest_residual_ratio; break;
    case CHANNEL_UNRESOLVED:
        values[0] = 0;
        if (self->steps > 0)
            values[0] = (double)self->unresolved_steps / (double)self->steps;
        break;
    case CHANNEL_MISSED:
        values[0] = 0;
        if (self->missed_impulse > 0)
            values[0] = self->missed_impulse / self->exchanged_impulse;
        break;
    case CHANNEL_PASSAGE: values[0] = self->largest_passage; break;
    case CHANNEL_ITERATIONS: values[0] = (double)self->report.solver.iterations; break;
    case CHANNEL_ASLEEP: values[0] = (double)state->sleep.asleep; break;
    case CHANNEL_PRESENT: values[0] = (double)yk_world_present(self, (int)index, &mass); break;
    case CHANNEL_PRESENT_MASS: yk_world_present(self, (int)index, &values[0]); break;
    case CHANNEL_SHORTFALL: values[0] = yk_world_shortfall(self, (int)index, &exhausted); break;
    case CHANNEL_EXHAUSTED:
        yk_world_shortfall(self, (int)index, &exhausted);
        values[0] = exhausted;
        break;
    case CHANNEL_EMITTED: values[0] = (double)state->emitters[index].count; break;
    case CHANNEL_EMITTED_MASS: values[0] = state->emitters[index].mass; break;
    case CHANNEL_WAITING: values[0] = (double)state->emitters[index].waiting; break;
    case CHANNEL_REMOVED: values[0] = (double)state->sinks[index].count; break;
    case CHANNEL_REMOVED_MASS: values[0] = state->sinks[index].mass; break;
    case CHANNEL_PARTICLES: write_particles(self, (int)index, values); break;
    case CHANNEL_POSITION: write_vector(values, yk_v3_add(body.position, arm)); break;
    case CHANNEL_ORIENTATION:
        values[0] = body.orientation.w;
        write_vector(values + 1, yk_v3(body.orientation.x, body.orientation.y, body.orientation.z));
        break;
    case CHANNEL_VELOCITY:
        write_vector(values, yk_v3_add(body.velocity, yk_v3_cross(body.angular_velocity, arm)));
        break;
    case CHANNEL_ANGULAR_VELOCITY: write_vector(values, body.angular_velocity); break;
    case CHANNEL_CONTACT_FORCE:
        write_vector(values, yk_world_contact_force(self, model->slot_of[index]));
        break;
    case CHANNEL_ENERGY: {
        yk_energy energy;
        yk_nonsmooth_energy(self, &energy);
        values[0] = energy.kinetic;
        values[1] = energy.potential;
        values[2] = energy.dissipated;
        values[3] = energy.work;
        break;
    }
    case CHANNEL_ZERO: values[0] = 0; break;
    case CHANNEL_ELONGATION: values[0] = stretch[0]; break;
    case CHANNEL_ELONGATION_RATE: values[0] = stretch[1]; break;
    case CHANNEL_ACCELERATION:
    case CHANNEL_ANGULAR_ACCELERATION: {
        /* The change over the last step. */
        yk_vec3 w = body.angular_velocity;
        yk_vec3 linear = {0, 0, 0}, angular = {0, 0, 0};
        if (self->step.before && state->run.step > 0) {
            const yk_twist *before = &self->step.before[model->slot_of[index]];
            linear = yk_v3_scale(1 / state->run.step, yk_v3_sub(body.velocity, before->linear));
            angular = yk_v3_scale(1 / state->run.step, yk_v3_sub(w, before->angular));
        }
        linear = yk_v3_add(linear, yk_v3_cross(angular, arm));
        linear = yk_v3_add(linear, yk_v3_cross(w, yk_v3_cross(w, arm)));
        write_vector(values, kind == CHANNEL_ACCELERATION ? linear : angular);
        break;
    }
    case CHANNEL_FORCE: write_vector(values, yk_nonsmooth_reaction(self, (int)index).force); break;
    case CHANNEL_TORQUE:
        write_vector(values, yk_nonsmooth_reaction(self, (int)index).torque);
        break;
    case CHANNEL_JOINT_FORCE: write_vector(values, state->joints[index].force); break;
    case CHANNEL_JOINT_TORQUE: write_vector(values, state->joints[index].torque); break;
    case CHANNEL_JOINT_ANGLE: values[0] = joint.angle; break;
    case CHANNEL_JOINT_ANGLE_RATE: values[0] = joint.angle_rate; break;
    case CHANNEL_JOINT_DISPLACEMENT: values[0] = joint.displacement; break;
    case CHANNEL_JOINT_DISPLACEMENT_RATE: values[0] = joint.displacement_rate; break;
    }
}

/* Contact points ------------------------------------------------------------------------------- */

static bool is_weaker(const yk_contact_point *a, const yk_contact_point *b)
{
    return yk_v3_norm2(a->force) < yk_v3_norm2(b->force);
}

/* Restores a heap (smallest force first) by moving the first element down. */
static void sink(yk_contact_point *heap, int count)
{
    for (int i = 0;;) {
        /* The smaller of the two children, if it is smaller than its parent. */
        int least = i;
        for (int child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
            if (is_weaker(&heap[child], &heap[least]))
                least = child;
        if (least == i)
            return;

        yk_contact_point upper = heap[i];
        heap[i] = heap[least];
        heap[least] = upper;
        i = least;
    }
}

/* Moves the last element up. */
static void rise(yk_contact_point *heap, int count)
{
    for (int i = count - 1; i > 0 && is_weaker(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2) {
        yk_contact_point upper = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = heap[i];
        heap[i] = upper;
    }
}

/* Contacts of sleeping bodies are not included. */
int yk_world_contact_points(const yk_nonsmooth *self, yk_contact_point *list, int capacity)
{
    const yk_world_model *model = &self->model;
    const yk_contact_list *contacts = &self->state.contacts;
    if (capacity <= 0)
        return (int)self->model.contact_capacity;
    if (!self->has_points || !(self->state.run.step > 0))
        return 0;

    /* A heap with the smallest force first keeps the largest ones in one pass. */
    int count = 0;
    for (size_t i = 0; i < contacts->count; i++) {
        if (yk_v3_norm2(contacts->impulses[i]) == 0)
            continue;

        /* Impulses act on side a, the reported force acts on side b. */
        yk_touch touch = yk_collision_touch(&self->collision, contacts, i);
        yk_contact_point found = {
            .point = yk_world_wrap(model, yk_v3_axpy(0.5 * touch.gap, touch.normal, touch.point_a)),
            .normal = touch.normal,
            .force = yk_v3_scale(-1 / self->state.run.step, contacts->impulses[i]),
        };

        /* If the list is full, replace the smallest. */
        if (count < capacity) {
            list[count++] = found;
            rise(list, count);
        } else if (is_weaker(&list[0], &found)) {
            list[0] = found;
            sink(list, count);
        }
    }

    return count;
}

/* Scene ---------------------------------------------------------------------------------------- */

/* Bodies are in the user's order, whatever their slots. */
static int body_at(const yk_world_model *model, int slot)
{
    if (slot < 0 || !model->frozen)
        return slot;
    return model->body_of[slot];
}

int yk_world_scene_bodies(const yk_nonsmooth *self, yk_scene_body *list, int capacity)
{
    const yk_world_model *model = &self->model;
    int part = 0;
    for (size_t i = 0; i < model->body_count; i++) {
        /* The world that the body came from. */
        while (part + 1 < model->world_count && i >= model->world_bodies[part + 1])
            part++;

        /* Particles need no orientation: they are drawn as points with a radius. */
        const yk_body_model *body = &model->bodies[yk_world_body_index(model, i)];
        yk_scene_body seen = {
            .name = model->names[i], .motion = YK_SCENE_MOTION_FULL, .part_index = part};
        if (body->drive == YK_FIXED)
            seen.motion = YK_SCENE_MOTION_FIXED;
        else if (!seen.name && body->radius > 0)
            seen.motion = YK_SCENE_MOTION_POINT;
        if (i < (size_t)capacity)
            list[i] = seen;
    }

    return (int)model->body_count;
}

void yk_world_scene_poses(const yk_nonsmooth *self, yk_scene_pose *list)
{
    const yk_world_model *model = &self->model;
    for (size_t i = 0; i < model->body_count; i++) {
        /* Before the start, bodies are at the poses of the model. */
        const yk_body_state *body = &model->initial[i];
        bool absent = false;
        if (self->laid_out) {
            body = &self->state.bodies[model->slot_of[i]];
            absent = yk_world_is_absent(model, &self->state, model->slot_of[i]);
        }

        list[i] = (yk_scene_pose){.position = body->position, .orientation = body->orientation};
        if (model->origins)
            list[i].position =
                yk_v3_add(body->position, yk_q_rotate(body->orientation, model->origins[i]));

        /* The image in the first period is shown if it can move there. */
        if (model->frozen && (size_t)model->slot_of[i] < model->dynamic_count)
            list[i].position = yk_world_wrap(model, body->position);
        if (absent)
            list[i].position = NOWHERE;
    }
}

typedef struct shape_list {
    yk_shape *list;
    int count, capacity;
} shape_list;

static void add_shape(shape_list *s, const yk_shape *shape)
{
    if (s->count < s->capacity)
        s->list[s->count] = *shape;
    s->count++;
}

/* A body without solids is drawn as arms from its center of mass to its joints and ports. */
static void add_arm(shape_list *s, const yk_world_model *model, int slot, yk_vec3 to)
{
    if (slot < 0 || yk_v3_norm(to) == 0)
        return;

    for (size_t i = 0; i < model->part_count; i++)
        if (model->parts[i].body == slot)
            return;

    int body = body_at(model, slot);
    add_shape(s, &(yk_shape){.kind = YK_SHAPE_LINE,
                             .body = body,
                             .end_body = body,
                             .orientation = yk_q_identity(),
                             .size = to});
}

int yk_world_scene_shapes(const yk_nonsmooth *self, yk_shape *list, int capacity)
{
    const yk_world_model *model = &self->model;
    shape_list s = {list, 0, capacity};

    /* Solids as they are. */
    for (size_t i = 0; i < model->part_count; i++) {
        const yk_part *part = &model->parts[i];
        yk_solid solid = yk_world_part_solid(model, part);
        int body = body_at(model, part->body);
        yk_shape shape = {.kind = yk_solid_ops_of(solid.kind)->shape,
                          .body = body,
                          .end_body = body,
                          .orientation = yk_q_identity(),
                          .size = solid.size,
                          .open_walls = solid.open,
                          .points = solid.points,
                          .point_count = solid.point_count};

        /* Spheres without a geometry are at the origin of their body. */
        if (part->geometry >= 0) {
            shape.position = model->geometries[part->geometry].position;
            shape.orientation = model->geometries[part->geometry].orientation;
        }

        add_shape(&s, &shape);
    }

    /* Joints of the model; those created by ports are drawn by their partners. */
    for (size_t i = 0; i < model->joint_count; i++) {
        const yk_joint_model *joint = &model->joints[i];
        if (joint->port >= 0)
            continue;

        add_arm(&s, model, joint->slot_a, joint->joint.offset[0]);
        add_arm(&s, model, joint->slot_b, joint->joint.offset[1]);
        int body = body_at(model, joint->slot_a);
        add_shape(&s, &(yk_shape){.kind = YK_SHAPE_JOINT,
                                  .name = joint->name,
                                  .body = body,
                                  .end_body = body,
                                  .position = joint->joint.offset[0],
                                  .orientation = yk_q_identity()});
    }

    /* Ports, and actuators between two markers. */
    for (size_t i = 0; i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        add_arm(&s, model, port->slot, port->marker.offset);
        if (!port->line)
            continue;

        add_shape(&s, &(yk_shape){.kind = YK_SHAPE_ACTUATOR,
                                  .name = port->name,
                                  .body = body_at(model, port->slot),
                                  .end_body = body_at(model, port->far_slot),
                                  .position = port->marker.offset,
                                  .orientation = yk_q_identity(),
                                  .size = port->far_marker.offset});
    }

    return s.count;
}
