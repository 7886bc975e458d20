/* Channels: quantities of a model that can be recorded by name and read by its functions. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "multibody/multibody.h"

/* A number or vector of an element of some group. */
typedef struct channel_kind {
    const char *suffix, *unit;
    int components;
    int quantity; /* of channel_source */
} channel_kind;

enum {
    FIRST_ACCELERATION = 4, /* of the channels of a node */
    NODE_CHANNELS = 6,
    REACTION_CHANNELS = 2, /* the first ones of a joint */
    JOINT_CHANNELS = 6,
    FORCE_CHANNELS = 2,
    BEAM_CHANNELS = 5,
    MODEL_CHANNELS = 2
};

static const channel_kind model_channels[MODEL_CHANNELS] = {
    {"energy", "J", 4, YK_QUANTITY_ENERGY}, {"strain_energy", "J", 1, YK_QUANTITY_ENERGY}};
static const channel_kind node_channels[NODE_CHANNELS] = {
    {"position", "m", 3, YK_QUANTITY_POINT},
    {"orientation", "1", 4, YK_QUANTITY_ORIENTATION},
    {"velocity", "m/s", 3, YK_QUANTITY_VELOCITY},
    {"angular_velocity", "rad/s", 3, YK_QUANTITY_ANGULAR_VELOCITY},
    {"acceleration", "m/s^2", 3, YK_QUANTITY_VELOCITY},
    {"angular_acceleration", "rad/s^2", 3, YK_QUANTITY_ANGULAR_VELOCITY},
};
/* The last four: motion of the second marker about and along z of the first, as measured by a
 * sensor in the joint. */
static const channel_kind joint_channels[JOINT_CHANNELS] = {
    {"force", "N", 3, YK_QUANTITY_FORCE},
    {"torque", "N m", 3, YK_QUANTITY_TORQUE},
    {"angle", "rad", 1, YK_QUANTITY_NUMBER},
    {"angular_velocity", "rad/s", 1, YK_QUANTITY_NUMBER},
    {"displacement", "m", 1, YK_QUANTITY_LENGTH},
    {"velocity", "m/s", 1, YK_QUANTITY_LENGTH},
};
static const channel_kind length_channels[FORCE_CHANNELS] = {
    {"elongation", "m", 1, YK_QUANTITY_LENGTH}, {"elongation_rate", "m/s", 1, YK_QUANTITY_LENGTH}};
static const channel_kind angle_channels[FORCE_CHANNELS] = {
    {"angle", "rad", 1, YK_QUANTITY_NUMBER}, {"angular_velocity", "rad/s", 1, YK_QUANTITY_NUMBER}};
static const channel_kind beam_channels[BEAM_CHANNELS] = {
    {"section_force_1", "N", 3, YK_QUANTITY_OWN_FORCE},
    {"section_moment_1", "N m", 3, YK_QUANTITY_OWN_TORQUE},
    {"section_force_2", "N", 3, YK_QUANTITY_OWN_FORCE},
    {"section_moment_2", "N m", 3, YK_QUANTITY_OWN_TORQUE},
    {"strain_energy", "J", 1, YK_QUANTITY_ENERGY},
};
static const channel_kind strain_channel = {"strain_energy", "J", 1, YK_QUANTITY_ENERGY};

/* The list ------------------------------------------------------------------------------------- */

/* Adds the channels of an element, the first of which is `source`, to those of the model, and the
 * size of their names to `bytes`. A first pass, without memory for names, only counts. */
static void add_channel(yk_multibody_model *model, size_t *bytes, const char *owner,
                        channel_source source, const channel_kind *kinds, int count)
{
    source.part = -1;
    for (int k = 0; k < count; k++) {
        const channel_kind *kind = &kinds[k];
        size_t length = strlen(owner) + strlen(kind->suffix) + 2;

        if (model->channel_names) {
            char *name = model->channel_names + *bytes;
            snprintf(name, length, "%s%s%s", owner, owner[0] ? "." : "", kind->suffix);
            model->channels[model->channel_count] =
                (yk_channel){name, kind->unit, kind->components};
            source.quantity = kind->quantity;
            model->sources[model->channel_count] = source;
        }

        source.kind++;
        model->channel_count++;
        *bytes += length;
    }
}

/* All channels; returns the size of their names. */
static size_t add_all(yk_multibody_model *model)
{
    const yk_multibody_description *def = &model->def;
    size_t bytes = 0;
    model->channel_count = 0;

    add_channel(model, &bytes, "", (channel_source){.group = CHANNEL_MODEL}, model_channels,
                MODEL_CHANNELS);

    for (int i = 0; i < def->node_count; i++)
        add_channel(model, &bytes, def->nodes[i].name,
                    (channel_source){.group = CHANNEL_NODE, .index = i}, node_channels,
                    NODE_CHANNELS);
    for (int i = 0; i < def->joint_count; i++)
        add_channel(model, &bytes, def->joints[i].name,
                    (channel_source){.group = CHANNEL_JOINT, .index = i}, joint_channels,
                    JOINT_CHANNELS);
    for (int i = 0; i < def->force_count; i++) {
        bool angle = yk_force_traits_of(def->forces[i].kind)->motion == YK_FORCE_ANGLE;
        const channel_kind *kinds = angle ? angle_channels : length_channels;
        add_channel(model, &bytes, def->forces[i].name,
                    (channel_source){.group = CHANNEL_FORCE, .index = i}, kinds, FORCE_CHANNELS);
    }

    /* Beams, and attachments with the channels of nodes. */
    for (int i = 0; i < def->beam_count; i++)
        add_channel(model, &bytes, def->beams[i].name,
                    (channel_source){.group = CHANNEL_BEAM, .index = i}, beam_channels,
                    BEAM_CHANNELS);
    for (int i = 0; i < def->attachment_count; i++)
        add_channel(model, &bytes, def->attachments[i].name,
                    (channel_source){.group = CHANNEL_ATTACHMENT, .index = i}, node_channels,
                    NODE_CHANNELS);

    /* Strain energy of a flexible body, and the numbered amplitudes of a modal one. */
    for (int i = 0; i < def->flexible_count; i++) {
        const char *name = def->flexibles[i].name;
        const yk_flexible *body = def->flexibles[i].body;

        add_channel(model, &bytes, name, (channel_source){.group = CHANNEL_FLEXIBLE, .index = i},
                    &strain_channel, 1);
        for (int k = 0; k < body->coordinates && body->kind == YK_FLEXIBLE_MODAL; k++) {
            char suffix[40];
            snprintf(suffix, sizeof suffix, "modal_amplitude_%d", k + 1);
            channel_kind amplitude = {suffix, "1", 1, YK_QUANTITY_NUMBER};
            if (body->amplitude_units)
                amplitude.unit = body->amplitude_units[k];
            if (strcmp(amplitude.unit, "m") == 0)
                amplitude.quantity = YK_QUANTITY_LENGTH;
            add_channel(model, &bytes, name,
                        (channel_source){.group = CHANNEL_FLEXIBLE, .index = i, .kind = 1 + k},
                        &amplitude, 1);
        }
    }

    return bytes;
}

yk_status yk_multibody_make_channels(yk_multibody_model *model)
{
    size_t bytes = add_all(model);
    size_t count = (size_t)model->channel_count;
    model->channels = yk_allocate(model->context, count, sizeof *model->channels);
    model->sources = yk_allocate(model->context, count, sizeof *model->sources);
    model->channel_names = yk_allocate(model->context, bytes, 1);
    if (!model->channels || !model->sources || !model->channel_names)
        return YK_ERROR_MEMORY;

    add_all(model);
    return YK_OK;
}

/* Accelerations and reactions depend on the loads at the same time, however short the step is; the
 * other quantities are states. */
static bool is_immediate_channel(const channel_source *source)
{
    switch (source->group) {
    case CHANNEL_NODE:
    case CHANNEL_ATTACHMENT: return source->kind >= FIRST_ACCELERATION;
    case CHANNEL_JOINT: return source->kind < REACTION_CHANNELS;
    default: return false;
    }
}

static bool is_immediate_at_port(const port_model *port, int component)
{
    size_t at = (size_t)component * sizeof(double);
    if (at >= offsetof(yk_port_value, wrench))
        return port->causality == YK_CAUSALITY_MOTION_INPUT || port->merged_count > 0;

    size_t in_motion = at - offsetof(yk_port_value, motion);
    return in_motion - offsetof(yk_motion, acceleration) < sizeof(yk_vec3) ||
           in_motion - offsetof(yk_motion, angular_acceleration) < sizeof(yk_vec3);
}

bool yk_multibody_feeds_through(const yk_subsystem *subsystem, int input, int port, int channel,
                                int component)
{
    const yk_multibody_model *model = &((const yk_multibody *)subsystem)->model;
    bool is_load = false;
    for (int i = 0; i < model->def.force_count && !is_load; i++)
        is_load = model->def.forces[i].signal_port.index == input;

    /* A prescribed motion is in all motions at the same time. */
    for (int i = 0; i < model->def.joint_count; i++)
        if (model->def.joints[i].signal_port.index == input)
            return port < 0 || model->ports[port].def.kind != YK_PORT_SIGNAL;
    if (!is_load)
        return false;
    if (port < 0)
        return is_immediate_channel(&model->sources[channel]);
    if (model->ports[port].def.kind == YK_PORT_SIGNAL)
        return false;
    return is_immediate_at_port(&model->ports[port], component);
}

/* Channels of the first part, then of the second, and so on; those of joints between parts come
 * last. Each part has the energies of the whole as its own. */
yk_status yk_multibody_order_channels(yk_multibody_model *model, const yk_merge_def *merge)
{
    yk_context *context = model->context;
    size_t parts = (size_t)merge->part_count;
    size_t most = (size_t)model->channel_count + parts * MODEL_CHANNELS;
    yk_channel *channels = yk_allocate(context, most, sizeof *channels);
    channel_source *sources = yk_allocate(context, most, sizeof *sources);

    /* Transforms, if parts have units or axes of their own. */
    if (merge->transforms)
        model->part_transforms = yk_allocate(context, parts, sizeof *model->part_transforms);
    if (!channels || !sources || (merge->transforms && !model->part_transforms)) {
        yk_free(context, channels);
        yk_free(context, sources);
        return YK_ERROR_MEMORY;
    }

    /* In the whole, the channels of every group are consecutive, those of the first part first. */
    int next[CHANNEL_GROUPS] = {0};
    int end[CHANNEL_GROUPS] = {0};
    int count = 0;
    for (int i = 0; i < model->channel_count; i++)
        end[model->sources[i].group] = i + 1;
    for (int i = model->channel_count - 1; i >= 0; i--)
        next[model->sources[i].group] = i;

    /* Each part takes the next channels of each group. */
    for (int p = 0; p < merge->part_count; p++) {
        const yk_multibody_model *part = &((const yk_multibody *)merge->parts[p])->model;
        for (int i = 0; i < part->channel_count; i++) {
            int group = part->sources[i].group;
            int from = group == CHANNEL_MODEL ? part->sources[i].kind : next[group]++;
            channels[count] = model->channels[from];
            sources[count] = model->sources[from];
            sources[count].part = p;
            count++;
        }

        if (merge->transforms)
            model->part_transforms[p] = merge->transforms[p];
    }

    /* Channels that belong to no part: joints between parts. */
    for (int g = CHANNEL_MODEL + 1; g < CHANNEL_GROUPS; g++) {
        for (int from = next[g]; from < end[g]; from++) {
            channels[count] = model->channels[from];
            sources[count++] = model->sources[from];
        }
    }

    /* The new order replaces the old. */
    yk_free(context, model->channels);
    yk_free(context, model->sources);
    model->channels = channels;
    model->sources = sources;
    model->channel_count = count;

    return YK_OK;
}

/* Reading -------------------------------------------------------------------------------------- */

static void put_vector(double *values, yk_vec3 v)
{
    values[0] = v.x;
    values[1] = v.y;
    values[2] = v.z;
}

static void read_node(const trial_node *node, int kind, double *values)
{
    const yk_vec3 vectors[NODE_CHANNELS] = {
        node->frame.position, {node->orientation.x, node->orientation.y, node->orientation.z},
        node->frame.velocity, node->frame.angular_velocity,
        node->acceleration,   node->angular_acceleration};

    /* An orientation has four numbers, the first before its vector. */
    bool orientation = node_channels[kind].components == 4;
    if (orientation)
        values[0] = node->orientation.w;
    put_vector(orientation ? values + 1 : values, vectors[kind]);
}

static void read_source(const yk_multibody *self, const channel_source *source, double *values)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    int index = source->index;
    int kind = source->kind;

    switch (source->group) {
    case CHANNEL_MODEL: {
        if (kind == 1) {
            values[0] = yk_multibody_strain_energy(self);
            return;
        }

        yk_energy energy;
        yk_multibody_energy(self, &energy);
        values[0] = energy.kinetic;
        values[1] = energy.potential;
        values[2] = energy.dissipated;
        values[3] = energy.work;
        return;
    }

    case CHANNEL_NODE: read_node(&work->trial[index], kind, values); return;
    case CHANNEL_JOINT: {
        if (kind < REACTION_CHANNELS) {
            yk_wrench reaction;
            yk_multibody_reaction(self, index, &reaction);
            put_vector(values, kind == 0 ? reaction.force : reaction.torque);
            return;
        }

        /* The value of a sensor in the joint. */
        const joint_model *joint = &model->joints[index];
        const yk_frame *a = &work->trial[joint->node[0]].frame;
        const yk_frame *b = &work->trial[joint->node[1]].frame;
        yk_joint_reading reading = yk_joint_read(&joint->joint, a, b);
        const double numbers[4] = {reading.angle, reading.angle_rate, reading.displacement,
                                   reading.displacement_rate};
        values[0] = numbers[kind - REACTION_CHANNELS];
        return;
    }

    case CHANNEL_FORCE: {
        const force_model *force = &model->forces[index];
        const yk_frame *a = &work->trial[force->node[0]].frame;
        const yk_frame *b = &work->trial[force->node[1]].frame;
        double stretch[FORCE_CHANNELS];
        yk_force_stretch(&force->law, a, b, &stretch[0], &stretch[1]);

        /* A sum of coordinates, and an angle over any number of turns. */
        if (force->term_count > 1 || force->angle >= 0) {
            stretch[0] = stretch[1] = 0;
            int count = force->term_count > 1 ? force->term_count : 1;
            for (int k = 0; k < count; k++) {
                double ratio = count > 1 ? force[k].ratio : 1;
                yk_force_coordinate term = yk_multibody_coordinate(work, &force[k]);
                stretch[0] += ratio * term.value;
                stretch[1] += ratio * term.rate;
            }
        }

        values[0] = stretch[kind];
        return;
    }

    case CHANNEL_BEAM: {
        yk_beam_loads loads;
        yk_multibody_beam_loads(self, index, &loads);
        if (kind == BEAM_CHANNELS - 1) {
            values[0] = loads.energy;
        } else {
            memcpy(values, &loads.resultant[kind / 2][3 * (kind % 2)], 3 * sizeof *values);
        }

        return;
    }

    case CHANNEL_ATTACHMENT: {
        trial_node own;
        read_node(yk_multibody_shown(model, work, model->attachment_first + index, &own), kind,
                  values);
        return;
    }

    default:
        if (kind == 0) {
            values[0] = yk_multibody_flexible_strain(model, work, index);
        } else {
            values[0] = work->flexibles[index].value[kind - 1];
        }
    }
}

static void rotate_back(const yk_transform *at, double unit, double *values)
{
    yk_vec3 v = yk_q_rotate_back(at->orientation, yk_v3(values[0], values[1], values[2]));

    values[0] = v.x / unit;
    values[1] = v.y / unit;
    values[2] = v.z / unit;
}

/* Converts a value of the whole to the units and axes of the part. */
static void to_part(const yk_transform *at, const channel_source *source, int components,
                    double *values)
{
    double newton = at->mass_unit * at->length_unit;
    double newton_metre = newton * at->length_unit;
    double unit = 1;

    switch (source->quantity) {
    case YK_QUANTITY_POINT:
        values[0] -= at->position.x;
        values[1] -= at->position.y;
        values[2] -= at->position.z;
        rotate_back(at, at->length_unit, values);
        return;
    case YK_QUANTITY_ORIENTATION: {
        yk_quat q = {values[0], values[1], values[2], values[3]};
        q = yk_q_mul(yk_q_conjugate(at->orientation), q);
        values[0] = q.w;
        values[1] = q.x;
        values[2] = q.y;
        values[3] = q.z;
        return;
    }
    case YK_QUANTITY_VELOCITY: rotate_back(at, at->length_unit, values); return;
    case YK_QUANTITY_ANGULAR_VELOCITY: rotate_back(at, 1, values); return;
    case YK_QUANTITY_FORCE: rotate_back(at, newton, values); return;
    case YK_QUANTITY_TORQUE: rotate_back(at, newton_metre, values); return;
    case YK_QUANTITY_LENGTH: unit = at->length_unit; break;
    case YK_QUANTITY_OWN_FORCE: unit = newton; break;
    case YK_QUANTITY_OWN_TORQUE:
    case YK_QUANTITY_ENERGY: unit = newton_metre; break;
    case YK_QUANTITY_NUMBER: break;
    }

    /* Numbers without axes. */
    for (int i = 0; i < components; i++)
        values[i] /= unit;
}

void yk_multibody_channel_read(const yk_multibody *self, int channel, double *values)
{
    const yk_multibody_model *model = &self->model;
    const channel_source *source = &model->sources[channel];
    read_source(self, source, values);

    /* Parts use their own units and axes. */
    if (!model->part_transforms || source->part < 0)
        return;

    to_part(&model->part_transforms[source->part], source, model->channels[channel].component_count,
            values);
}

double yk_multibody_channel_value(const yk_multibody *self, int channel, int component)
{
    double values[4] = {0};
    if (channel < 0 || channel >= self->model.channel_count || component < 0 || component > 3)
        return NAN;

    yk_multibody_channel_read(self, channel, values);
    return values[component];
}

void yk_multibody_find_input(const yk_multibody_model *model, const char *name, int first,
                             int *channel, int *component)
{
    *channel = *component = -1;

    /* A single letter after the last period names the component; the rest is the channel. */
    const char *last = strrchr(name, '.');
    bool lettered = last && last[1] && !last[2] && strchr("wxyz", last[1]);
    size_t length = lettered ? (size_t)(last - name) : strlen(name);

    for (int i = first; i < model->channel_count && *channel < 0; i++) {
        const char *other = model->channels[i].name;
        if (strncmp(other, name, length) == 0 && !other[length])
            *channel = i;
    }

    if (*channel < 0)
        return;

    /* Components are x, y, z, or w, x, y, z of an orientation; a single number has no letter. */
    int count = model->channels[*channel].component_count;
    if (count == 1 && !lettered)
        *component = 0;
    if (count == 1 || !lettered)
        return;

    const char *letters = count == 4 ? "wxyz" : "xyz";
    const char *found = strchr(letters, last[1]);
    if (found)
        *component = (int)(found - letters);
}
