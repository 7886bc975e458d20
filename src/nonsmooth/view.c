/* What can be seen from outside: channels to record, shapes to draw. */
#include "base/text.h"
#include "nonsmooth/solids/solid.h"
#include "nonsmooth/world.h"

/* Channels --------------------------------------------------------------------------------------------------------- */

typedef enum channel_kind {
    CHANNEL_CONTACTS,
    CHANNEL_OVERLAP,
    CHANNEL_RESIDUAL,
    CHANNEL_LARGEST_RESIDUAL,
    CHANNEL_PASSAGE,
    CHANNEL_ASLEEP,
    CHANNEL_PARTICLES,
    CHANNEL_POSITION,
    CHANNEL_ORIENTATION,
    CHANNEL_VELOCITY,
    CHANNEL_ANGULAR_VELOCITY,
    CHANNEL_FORCE,
    CHANNEL_TORQUE,
    CHANNEL_JOINT_FORCE,
    CHANNEL_JOINT_TORQUE,
    CHANNEL_JOINT_ANGLE,
    CHANNEL_JOINT_ANGLE_RATE,
    CHANNEL_JOINT_DISPLACEMENT,
    CHANNEL_JOINT_DISPLACEMENT_RATE
} channel_kind;

static yk_status add_channel(yk_nonsmooth *self, channel_kind kind, size_t index, const char *owner, const char *what,
                             const char *unit, int components)
{
    yk_text name = {0};
    yk_text_add(self->context, &name, "%s%s%s", owner, owner[0] ? "." : "", what);
    if (name.failed) {
        yk_text_destroy(self->context, &name);
        return YK_ERROR_MEMORY;
    }
    self->channels[self->channel_count] = (yk_channel){name.data, unit, components};
    self->channel_sources[self->channel_count++] = (yk_channel_source){(int)kind, index};
    return YK_OK;
}

typedef struct channel_row {
    channel_kind kind;
    const char *name, *unit;
    int components;
} channel_row;

/* Force and torque of a body are those that hold it on a prescribed motion. */
static const channel_row body_channels[] = {
    {CHANNEL_POSITION, "position", "m", 3},   {CHANNEL_ORIENTATION, "orientation", "1", 4},
    {CHANNEL_VELOCITY, "velocity", "m/s", 3}, {CHANNEL_ANGULAR_VELOCITY, "angular_velocity", "rad/s", 3},
    {CHANNEL_FORCE, "force", "N", 3},         {CHANNEL_TORQUE, "torque", "N m", 3},
};
enum { BODY_CHANNELS = sizeof body_channels / sizeof *body_channels, JOINT_CHANNELS = 6 };

static yk_status name_body_channels(yk_nonsmooth *self, size_t body)
{
    const yk_body_model *model = &self->models[self->slot_of ? (size_t)self->slot_of[body] : body];
    bool known = model->drive == YK_FIXED || model->drive == YK_PRESCRIBED_BY_FUNCTION;
    yk_status status = YK_OK;
    for (int i = 0; i < BODY_CHANNELS && status == YK_OK; i++) {
        const channel_row *row = &body_channels[i];
        if (row->kind < CHANNEL_FORCE || known)
            status = add_channel(self, row->kind, body, self->names[body], row->name, row->unit, row->components);
    }
    return status;
}

static yk_status name_joint_channels(yk_nonsmooth *self, size_t joint)
{
    const char *name = self->joints[joint].name;
    yk_status status = add_channel(self, CHANNEL_JOINT_FORCE, joint, name, "force", "N", 3);
    if (status == YK_OK) status = add_channel(self, CHANNEL_JOINT_TORQUE, joint, name, "torque", "N m", 3);
    if (status == YK_OK) status = add_channel(self, CHANNEL_JOINT_ANGLE, joint, name, "angle", "rad", 1);
    if (status == YK_OK) status = add_channel(self, CHANNEL_JOINT_ANGLE_RATE, joint, name, "angle_rate", "rad/s", 1);
    if (status == YK_OK) status = add_channel(self, CHANNEL_JOINT_DISPLACEMENT, joint, name, "displacement", "m", 1);
    if (status == YK_OK)
        status = add_channel(self, CHANNEL_JOINT_DISPLACEMENT_RATE, joint, name, "displacement_rate", "m/s", 1);
    return status;
}

/* Bodies and joints of one world of a merged model, or all of them. */
typedef struct extent {
    size_t body, body_end, joint, joint_end;
} extent;

static extent extent_of(const yk_nonsmooth *self, int world)
{
    if (self->world_count == 0) return (extent){0, self->body_count, 0, self->joint_count};
    return (extent){self->world_bodies[world], self->world_bodies[world + 1], self->world_joints[world],
                    self->world_joints[world + 1]};
}

static size_t particles_of(const yk_nonsmooth *self, const extent *e)
{
    size_t count = 0;
    for (size_t i = e->body; i < e->body_end; i++) count += self->names[i] == NULL;
    return count;
}

/* Contacts and what is left of their equations are told of the whole. */
static yk_status name_world_channels(yk_nonsmooth *self, int world)
{
    extent e = extent_of(self, world);
    size_t particles = particles_of(self, &e);
    yk_status status = add_channel(self, CHANNEL_CONTACTS, 0, "", "contacts", "1", 1);
    if (status == YK_OK) status = add_channel(self, CHANNEL_OVERLAP, 0, "", "overlap", "m", 1);
    if (status == YK_OK) status = add_channel(self, CHANNEL_RESIDUAL, 0, "", "residual", "m/s", 1);
    if (status == YK_OK) status = add_channel(self, CHANNEL_LARGEST_RESIDUAL, 0, "", "largest_residual", "m/s", 1);
    if (status == YK_OK) status = add_channel(self, CHANNEL_PASSAGE, 0, "", "largest_passage", "m", 1);
    if (status == YK_OK && self->def.sleeping.speed > 0)
        status = add_channel(self, CHANNEL_ASLEEP, 0, "", "asleep", "1", 1);
    if (status == YK_OK && particles > 0)
        status = add_channel(self, CHANNEL_PARTICLES, (size_t)world, "", "particles", "m", (int)(3 * particles));
    for (size_t i = e.body; i < e.body_end && status == YK_OK; i++)
        if (self->names[i]) status = name_body_channels(self, i);
    for (size_t i = e.joint; i < e.joint_end && status == YK_OK; i++)
        if (self->joints[i].name) status = name_joint_channels(self, i);
    return status;
}

/* Named when they are first asked for, which is before start. */
yk_status yk_world_name_channels(yk_nonsmooth *self)
{
    if (self->channels) return YK_OK;
    size_t named = 0, worlds = self->world_count > 0 ? (size_t)self->world_count : 1;
    for (size_t i = 0; i < self->body_count; i++) named += self->names[i] != NULL;
    size_t most = 7 * worlds + BODY_CHANNELS * named + JOINT_CHANNELS * self->joint_count;
    self->channels = yk_allocate(self->context, most, sizeof *self->channels);
    self->channel_sources = yk_allocate(self->context, most, sizeof *self->channel_sources);
    if (!self->channels || !self->channel_sources) return YK_ERROR_MEMORY;
    yk_status status = YK_OK;
    for (size_t i = 0; i < worlds && status == YK_OK; i++) status = name_world_channels(self, (int)i);
    return status;
}

static void write_vector(double *values, yk_vec3 v)
{
    values[0] = v.x;
    values[1] = v.y;
    values[2] = v.z;
}

static void write_quaternion(double *values, yk_quat q)
{
    values[0] = q.w;
    write_vector(values + 1, yk_v3(q.x, q.y, q.z));
}

static void read_body_channel(const yk_nonsmooth *self, channel_kind kind, size_t body, double *values)
{
    const yk_body_state *state = &self->bodies[self->slot_of[body]];
    switch (kind) {
    case CHANNEL_POSITION: write_vector(values, state->position); break;
    case CHANNEL_ORIENTATION: write_quaternion(values, state->orientation); break;
    case CHANNEL_VELOCITY: write_vector(values, state->velocity); break;
    case CHANNEL_ANGULAR_VELOCITY: write_vector(values, state->angular_velocity); break;
    case CHANNEL_FORCE: write_vector(values, yk_nonsmooth_reaction(self, (int)body).force); break;
    default: write_vector(values, yk_nonsmooth_reaction(self, (int)body).torque); break;
    }
}

void yk_world_release_channels(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->channel_count; i++)
        yk_release(self->context, (char *)(uintptr_t)self->channels[i].name);
    yk_release(self->context, self->channels);
    yk_release(self->context, self->channel_sources);
    self->channels = NULL;
    self->channel_sources = NULL;
    self->channel_count = 0;
}

static void write_particles(double *values, const yk_nonsmooth *self, int world)
{
    extent e = extent_of(self, world);
    for (size_t i = e.body; i < e.body_end; i++) {
        if (self->names[i]) continue;
        write_vector(values, self->bodies[self->slot_of[i]].position);
        values += 3;
    }
}

static yk_joint_reading joint_reading(const yk_nonsmooth *self, size_t index)
{
    const yk_joint_slot *joint = &self->joints[index];
    yk_frame a = yk_world_frame(self, joint->slot_a), b = yk_world_frame(self, joint->slot_b);
    return yk_joint_read(&joint->joint, &a, &b);
}

void yk_world_read_channel(const yk_nonsmooth *self, size_t channel, double *values)
{
    const yk_channel_source *source = &self->channel_sources[channel];
    switch ((channel_kind)source->kind) {
    case CHANNEL_CONTACTS: values[0] = (double)(self->cache.count + self->sleep.frozen.count); break;
    case CHANNEL_OVERLAP: values[0] = self->report.deepest_overlap; break;
    case CHANNEL_RESIDUAL: values[0] = self->report.solver.residual; break;
    case CHANNEL_LARGEST_RESIDUAL: values[0] = self->largest_residual; break;
    case CHANNEL_PASSAGE: values[0] = self->largest_passage; break;
    case CHANNEL_ASLEEP: values[0] = (double)self->sleep.asleep; break;
    case CHANNEL_PARTICLES: write_particles(values, self, (int)source->index); break;
    case CHANNEL_JOINT_FORCE: write_vector(values, self->joints[source->index].wrench.force); break;
    case CHANNEL_JOINT_TORQUE: write_vector(values, self->joints[source->index].wrench.torque); break;
    case CHANNEL_JOINT_ANGLE: values[0] = joint_reading(self, source->index).angle; break;
    case CHANNEL_JOINT_ANGLE_RATE: values[0] = joint_reading(self, source->index).angle_rate; break;
    case CHANNEL_JOINT_DISPLACEMENT: values[0] = joint_reading(self, source->index).displacement; break;
    case CHANNEL_JOINT_DISPLACEMENT_RATE: values[0] = joint_reading(self, source->index).displacement_rate; break;
    default: read_body_channel(self, (channel_kind)source->kind, source->index, values);
    }
}

/* Shapes ----------------------------------------------------------------------------------------------------------- */

int yk_world_shapes(const yk_nonsmooth *self, yk_shape *list, int capacity)
{
    yk_picture picture = {list, capacity, 0};
    for (size_t i = 0; i < self->part_count; i++) {
        yk_solid solid = yk_world_solid(self, i);
        const yk_solid_ops *kind = yk_solid_ops_of(solid.kind);
        if (kind->draw) kind->draw(&solid, yk_world_part_orientation(self, i), &picture);
    }
    return picture.count;
}
