/* What can be read from a model: motions, reactions, energies, channels, shapes. All from the trial, which equals the
 * accepted state between steps. */
#include <stdio.h>
#include <string.h>

#include "smooth/internal.h"
#include "smooth/subsystem.h"

const yk_smooth_def *yk_smooth_definition(const yk_smooth *smooth)
{
    return &smooth->model.def;
}

yk_smooth *yk_smooth_of(yk_subsystem *subsystem)
{
    return subsystem->ops == yk_smooth_ops() ? (yk_smooth *)subsystem : NULL;
}

void yk_smooth_motion_of(const trial_node *node, const yk_marker *marker, yk_motion *motion)
{
    const yk_frame *frame = &node->frame;
    yk_vec3 arm = yk_m3_apply(frame->rotation, marker->offset), w = frame->angular_velocity;
    yk_vec3 swing = yk_v3_cross(w, arm);
    motion->position = yk_v3_add(frame->position, arm);
    motion->velocity = yk_v3_add(frame->velocity, swing);
    motion->acceleration =
        yk_v3_add(node->acceleration, yk_v3_add(yk_v3_cross(node->angular_acceleration, arm), yk_v3_cross(w, swing)));
    motion->orientation = yk_q_mul(node->orientation, marker->orientation);
    motion->angular_velocity = w;
    motion->angular_acceleration = node->angular_acceleration;
}

/* Of a marker on a node or place of the def. */
static yk_motion marker_motion(const yk_smooth_model *model, const yk_smooth_workspace *work, int node,
                               const yk_marker *marker)
{
    trial_node own;
    yk_motion motion;
    yk_smooth_motion_of(yk_smooth_shown(model, work, yk_smooth_frame_of(model, node), &own), marker, &motion);
    return motion;
}

void yk_smooth_marker_motion(const yk_smooth *smooth, int node, const yk_marker *marker, yk_motion *motion)
{
    *motion = marker_motion(&smooth->model, &smooth->work, node, marker);
}

void yk_smooth_motion(const yk_smooth *smooth, int node, yk_motion *motion)
{
    yk_marker origin = yk_marker_default();
    yk_smooth_marker_motion(smooth, node, &origin, motion);
}

/* The joint's wrench on one of its bodies, about its marker there. */
void yk_smooth_joint_wrench(const yk_smooth_workspace *work, const joint_model *joint, int side, yk_wrench *wrench)
{
    yk_drive drive = {0};
    bool driven = joint->driven;
    if (driven) drive = yk_smooth_drive(work, joint, work->t, false);
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(&joint->joint, &work->trial[joint->node[0]].frame, &work->trial[joint->node[1]].frame,
                           driven ? &drive : NULL, &kinematics);
    yk_vec3 arm = side ? kinematics.b.arm : kinematics.a.arm;
    *wrench = (yk_wrench){0};
    for (int r = 0; r < joint->joint.row_count; r++) {
        yk_gradient gradient;
        yk_row_gradient(&joint->joint.row[r], &kinematics, &gradient);
        double lambda = -work->lambda[joint->row + r];
        yk_vec3 torque = yk_v3_sub(gradient.torque[side], yk_v3_cross(arm, gradient.force[side]));
        wrench->force = yk_v3_axpy(lambda, gradient.force[side], wrench->force);
        wrench->torque = yk_v3_axpy(lambda, torque, wrench->torque);
    }
}

/* The distance of two markers. */
static void scalar_motion(const yk_smooth_model *model, const yk_smooth_workspace *work, const port_model *port,
                          yk_motion *motion)
{
    yk_motion a = marker_motion(model, work, port->def.node[0], &port->def.marker[0]);
    yk_motion b = marker_motion(model, work, port->def.node[1], &port->def.marker[1]);
    yk_vec3 d = yk_v3_sub(b.position, a.position), e = yk_v3_unit(d);
    yk_vec3 rate = yk_v3_sub(b.velocity, a.velocity);
    yk_vec3 second = yk_v3_sub(b.acceleration, a.acceleration);
    double length = yk_v3_norm(d), speed = yk_v3_dot(e, rate), rotating = 0;
    if (length > 0) rotating = (yk_v3_norm2(rate) - speed * speed) / length;
    motion->position.x = length;
    motion->velocity.x = speed;
    motion->acceleration.x = yk_v3_dot(e, second) + rotating;
    motion->orientation = yk_q_identity();
}

void yk_smooth_port_output(const yk_smooth_model *model, const yk_smooth_workspace *work, int index,
                           yk_port_value *value)
{
    const port_model *port = &model->ports[index];
    memset(value, 0, sizeof *value);
    if (port->def.kind == YK_PORT_SIGNAL) {
        value->motion.position.x = work->wrench[index].force.x;
        value->motion.orientation = yk_q_identity();
        return;
    }

    /* A port that takes a motion shows the wrench that it needs, and one that takes a wrench shows that. */
    value->wrench = work->wrench[index];
    const joint_model *joint = port->joint >= 0 ? &model->joints[port->joint] : NULL;
    if (port->def.kind == YK_PORT_SCALAR) {
        scalar_motion(model, work, port, &value->motion);
        if (joint) value->wrench.force.x = -work->lambda[joint->row];
        return;
    }
    value->motion = marker_motion(model, work, port->def.node[0], &port->def.marker[0]);
    if (joint) yk_smooth_joint_wrench(work, joint, 0, &value->wrench);

    /* Where merging has put joints in place of the port, their reactions. */
    for (int i = 0; i < port->merged_count; i++) {
        yk_wrench wrench;
        yk_smooth_joint_wrench(work, &model->joints[port->merged + i], port->merged_side, &wrench);
        value->wrench.force = yk_v3_add(value->wrench.force, wrench.force);
        value->wrench.torque = yk_v3_add(value->wrench.torque, wrench.torque);
    }
}

void yk_smooth_reaction(const yk_smooth *smooth, int joint, yk_wrench *reaction)
{
    yk_smooth_joint_wrench(&smooth->work, &smooth->model.joints[joint], 1, reaction);
}

static void beam_loads(const yk_smooth_workspace *work, const beam_model *of, yk_beam_loads *loads)
{
    const yk_frame *const node[YK_BEAM_NODES] = {&work->trial[of->node[0]].frame, &work->trial[of->node[1]].frame,
                                                 &work->trial[of->node[2]].frame};
    yk_beam_evaluate(&of->beam, node, loads, NULL);
}

void yk_smooth_beam_loads(const yk_smooth *smooth, int beam, yk_beam_loads *loads)
{
    beam_loads(&smooth->work, &smooth->model.beams[beam], loads);
}

static double node_potential(const yk_smooth_model *model, const yk_smooth_workspace *work, int i)
{
    const yk_inertia *inertia = &model->nodes[i].inertia;
    const yk_frame *frame = &work->trial[i].frame;
    yk_vec3 moment = yk_v3_axpy(inertia->mass, frame->position, yk_m3_apply(frame->rotation, inertia->moment));
    return -yk_v3_dot(moment, model->def.gravity);
}

void yk_smooth_energy(const yk_smooth *smooth, yk_energy *energy)
{
    const yk_smooth_model *model = &smooth->model;
    const yk_smooth_state *state = &smooth->state;
    const yk_smooth_workspace *work = &smooth->work;
    *energy = (yk_energy){
        .dissipated = state->clock->dissipated, .work = state->clock->work, .port_work = state->clock->port_work};
    for (int i = 0; i < model->node_count; i++) {
        if (!model->nodes[i].massive) continue;
        const yk_frame *frame = &work->trial[i].frame;
        yk_inertia_global inertia;
        yk_inertia_rotate(&model->nodes[i].inertia, &frame->rotation, &inertia);
        yk_momentum momentum = yk_inertia_momentum(&inertia, frame->velocity, frame->angular_velocity);
        energy->kinetic += yk_inertia_kinetic(&momentum, frame->velocity, frame->angular_velocity);
        energy->potential += node_potential(model, work, i);
    }
    for (int i = 0; i < model->def.force_count; i++) {
        const force_model *force = &model->forces[i];
        yk_force_load load;
        yk_force_evaluate(&force->law, &work->trial[force->node[0]].frame, &work->trial[force->node[1]].frame, 0, &load,
                          NULL);
        energy->potential += load.energy;
    }
    for (int i = 0; i < model->def.beam_count; i++) {
        yk_beam_loads loads;
        beam_loads(work, &model->beams[i], &loads);
        energy->potential += loads.energy;
    }
    yk_smooth_flexible_energy(model, work, energy);
}

const double *yk_smooth_flexible_values(const yk_smooth *smooth, int flexible)
{
    return smooth->work.flexibles[flexible].value;
}

void yk_smooth_report_get(const yk_smooth *smooth, yk_smooth_report *report)
{
    *report = smooth->work.report;
    report->factorisations = smooth->solver.factorisations;
}

double yk_smooth_strain_energy(const yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    double sum = 0;
    for (int i = 0; i < model->def.beam_count; i++) {
        yk_beam_loads loads;
        beam_loads(&smooth->work, &model->beams[i], &loads);
        sum += loads.energy;
    }
    for (int i = 0; i < model->def.flexible_count; i++) sum += yk_smooth_flexible_strain(model, &smooth->work, i);
    return sum;
}

double yk_smooth_beam_loss(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    double loss = 0;
    for (int i = 0; i < model->def.beam_count; i++) {
        if (!model->beams[i].beam.damped) continue;
        yk_beam_loads loads;
        beam_loads(work, &model->beams[i], &loads);
        loss += loads.loss;
    }
    return loss + yk_smooth_flexible_loss(model, work);
}

/* Channels -------------------------------------------------------------------------------------------------------- */

typedef struct channel_kind {
    const char *suffix, *unit;
    int components;
    yk_smooth_quantity quantity;
} channel_kind;

static const channel_kind node_channels[] = {
    {"position", "m", 3, YK_QUANTITY_POINT},
    {"orientation", "1", 4, YK_QUANTITY_ORIENTATION},
    {"velocity", "m/s", 3, YK_QUANTITY_VELOCITY},
    {"angular_velocity", "rad/s", 3, YK_QUANTITY_ANGULAR_VELOCITY},
    {"acceleration", "m/s2", 3, YK_QUANTITY_VELOCITY},
    {"angular_acceleration", "rad/s2", 3, YK_QUANTITY_ANGULAR_VELOCITY},
};
/* The last four: of the second marker about and along z of the first, what a sensor in the joint tells. */
static const channel_kind joint_channels[] = {
    {"force", "N", 3, YK_QUANTITY_FORCE},         {"torque", "N m", 3, YK_QUANTITY_TORQUE},
    {"angle", "rad", 1, YK_QUANTITY_NUMBER},      {"angle_rate", "rad/s", 1, YK_QUANTITY_NUMBER},
    {"displacement", "m", 1, YK_QUANTITY_LENGTH}, {"displacement_rate", "m/s", 1, YK_QUANTITY_LENGTH},
};
static const channel_kind length_channels[] = {{"stretch", "m", 1, YK_QUANTITY_LENGTH},
                                               {"stretch_rate", "m/s", 1, YK_QUANTITY_LENGTH}};
static const channel_kind angle_channels[] = {{"stretch", "rad", 1, YK_QUANTITY_NUMBER},
                                              {"stretch_rate", "rad/s", 1, YK_QUANTITY_NUMBER}};
static const channel_kind beam_channels[] = {
    {"force_1", "N", 3, YK_QUANTITY_OWN_FORCE},    {"moment_1", "N m", 3, YK_QUANTITY_OWN_TORQUE},
    {"force_2", "N", 3, YK_QUANTITY_OWN_FORCE},    {"moment_2", "N m", 3, YK_QUANTITY_OWN_TORQUE},
    {"strain_energy", "J", 1, YK_QUANTITY_ENERGY},
};
static const channel_kind strain_channel = {"strain_energy", "J", 1, YK_QUANTITY_ENERGY};
static const channel_kind model_channels[] = {{"energy", "J", 4, YK_QUANTITY_ENERGY},
                                              {"strain_energy", "J", 1, YK_QUANTITY_ENERGY}};

enum { NODE_CHANNELS = 6, JOINT_CHANNELS = 6, FORCE_CHANNELS = 2, BEAM_CHANNELS = 5, MODEL_CHANNELS = 2 };

/* First round with store NULL: the bytes that the names take. */
static size_t name_channels(yk_smooth_model *model, const char *owner, const channel_kind *kinds, int count,
                            char *store, size_t used)
{
    for (int k = 0; k < count; k++) {
        size_t bytes = strlen(owner) + strlen(kinds[k].suffix) + 2;
        if (store) {
            snprintf(store + used, bytes, "%s%s%s", owner, owner[0] ? "." : "", kinds[k].suffix);
            model->quantities[model->channel_count] = kinds[k].quantity;
            model->channels[model->channel_count++] =
                (yk_channel){.name = store + used, .unit = kinds[k].unit, .components = kinds[k].components};
        }
        used += bytes;
    }
    return used;
}

/* Amplitudes of a modal body by number. */
static int amplitudes_of(const yk_smooth_flexible_def *flexible)
{
    return flexible->body->kind == YK_FLEXIBLE_MODAL ? flexible->body->coordinates : 0;
}

static size_t name_flexible(yk_smooth_model *model, const yk_smooth_flexible_def *flexible, char *store, size_t used)
{
    used = name_channels(model, flexible->name, &strain_channel, 1, store, used);
    for (int k = 0; k < amplitudes_of(flexible); k++) {
        char suffix[24];
        snprintf(suffix, sizeof suffix, "amplitude_%d", k + 1);
        channel_kind amplitude = {suffix, "1", 1, YK_QUANTITY_NUMBER};
        used = name_channels(model, flexible->name, &amplitude, 1, store, used);
    }
    return used;
}

static size_t name_all(yk_smooth_model *model, char *store)
{
    const yk_smooth_def *def = &model->def;
    size_t used = name_channels(model, "", model_channels, MODEL_CHANNELS, store, 0);
    for (int i = 0; i < def->node_count; i++)
        used = name_channels(model, def->nodes[i].name, node_channels, NODE_CHANNELS, store, used);
    for (int i = 0; i < def->joint_count; i++)
        used = name_channels(model, def->joints[i].name, joint_channels, JOINT_CHANNELS, store, used);
    for (int i = 0; i < def->force_count; i++) {
        bool angle = yk_force_traits_of(def->forces[i].kind)->motion == YK_FORCE_ANGLE;
        const channel_kind *kinds = angle ? angle_channels : length_channels;
        used = name_channels(model, def->forces[i].name, kinds, FORCE_CHANNELS, store, used);
    }
    for (int i = 0; i < def->beam_count; i++)
        used = name_channels(model, def->beams[i].name, beam_channels, BEAM_CHANNELS, store, used);
    model->attachment_channel = model->channel_count;
    for (int i = 0; i < def->attachment_count; i++)
        used = name_channels(model, def->attachments[i].name, node_channels, NODE_CHANNELS, store, used);
    for (int i = 0; i < def->flexible_count; i++) used = name_flexible(model, &def->flexibles[i], store, used);
    return used;
}

/* Channels by what they belong to, in the order of name_all. */
enum { CHANNEL_GROUPS = 7 };

static int count_channels(const yk_smooth_def *def, int count[CHANNEL_GROUPS])
{
    const int counts[CHANNEL_GROUPS] = {MODEL_CHANNELS,
                                        NODE_CHANNELS * def->node_count,
                                        JOINT_CHANNELS * def->joint_count,
                                        FORCE_CHANNELS * def->force_count,
                                        BEAM_CHANNELS * def->beam_count,
                                        NODE_CHANNELS * def->attachment_count,
                                        def->flexible_count};
    int sum = 0;
    memcpy(count, counts, sizeof counts);
    for (int i = 0; i < def->flexible_count; i++) count[CHANNEL_GROUPS - 1] += amplitudes_of(&def->flexibles[i]);
    for (int g = 0; g < CHANNEL_GROUPS; g++) sum += count[g];
    return sum;
}

/* Each part shows the energy of the whole as its own. */
yk_status yk_smooth_order_channels(yk_smooth_model *model, const yk_merge_def *merge)
{
    int count[CHANNEL_GROUPS], own[CHANNEL_GROUPS], next[CHANNEL_GROUPS], end[CHANNEL_GROUPS], at = 0;
    size_t parts = (size_t)merge->part_count;
    size_t total = (size_t)count_channels(&model->def, count) + parts * MODEL_CHANNELS;
    int *order = model->channel_order = yk_allocate(model->context, total, sizeof *order);
    yk_channel *channels = yk_allocate(model->context, total, sizeof *channels);
    yk_smooth_quantity *quantities = yk_allocate(model->context, total, sizeof *quantities);
    if (merge->transforms) {
        model->part_transforms = yk_allocate(model->context, parts, sizeof *model->part_transforms);
        model->part_channels = yk_allocate(model->context, parts, sizeof *model->part_channels);
    }
    bool placed = !merge->transforms || (model->part_transforms && model->part_channels);
    if (!order || !channels || !quantities || !placed) {
        yk_release(model->context, channels);
        yk_release(model->context, quantities);
        return YK_ERROR_MEMORY;
    }

    /* Of every group those of the first part, then of the second; what joins the parts comes last. */
    for (int g = 0; g < CHANNEL_GROUPS; g++) end[g] = (g ? end[g - 1] : 0) + count[g], next[g] = end[g] - count[g];
    for (size_t p = 0; p < parts; p++) {
        count_channels(&((const yk_smooth *)merge->parts[p])->model.def, own);
        for (int i = 0; i < own[0]; i++) order[at++] = i;
        for (int g = 1; g < CHANNEL_GROUPS; g++)
            for (int i = 0; i < own[g]; i++) order[at++] = next[g]++;
        if (!merge->transforms) continue;
        model->part_transforms[p] = merge->transforms[p];
        model->part_channels[p] = at;
    }
    for (int g = 1; g < CHANNEL_GROUPS; g++)
        while (next[g] < end[g]) order[at++] = next[g]++;

    for (int i = 0; i < at; i++) channels[i] = model->channels[order[i]];
    for (int i = 0; i < at; i++) quantities[i] = model->quantities[order[i]];
    yk_release(model->context, model->channels);
    yk_release(model->context, model->quantities);
    model->channels = channels;
    model->quantities = quantities;
    model->channel_count = at;
    return YK_OK;
}

yk_status yk_smooth_make_channels(yk_smooth_model *model)
{
    int groups[CHANNEL_GROUPS];
    size_t count = (size_t)count_channels(&model->def, groups);
    model->channels = yk_allocate(model->context, count, sizeof *model->channels);
    model->quantities = yk_allocate(model->context, count, sizeof *model->quantities);
    model->channel_names = yk_allocate(model->context, name_all(model, NULL), 1);
    if (!model->channels || !model->quantities || !model->channel_names) return YK_ERROR_MEMORY;
    name_all(model, model->channel_names);
    return YK_OK;
}

int yk_smooth_channels(const yk_smooth_model *model, const yk_channel **list)
{
    *list = model->channels;
    return model->channel_count;
}

static void put_vec3(double *values, yk_vec3 v)
{
    values[0] = v.x, values[1] = v.y, values[2] = v.z;
}

static void read_node(const trial_node *node, int kind, double *values)
{
    switch (kind) {
    case 0: put_vec3(values, node->frame.position); return;
    case 1:
        values[0] = node->orientation.w;
        put_vec3(values + 1, yk_v3(node->orientation.x, node->orientation.y, node->orientation.z));
        return;
    case 2: put_vec3(values, node->frame.velocity); return;
    case 3: put_vec3(values, node->frame.angular_velocity); return;
    case 4: put_vec3(values, node->acceleration); return;
    default: put_vec3(values, node->angular_acceleration); return;
    }
}

static void read_flexible(const yk_smooth_model *model, const yk_smooth_workspace *work, int index, double *values)
{
    const yk_smooth_def *def = &model->def;
    if (index < NODE_CHANNELS * def->attachment_count) {
        trial_node own;
        const trial_node *shown = yk_smooth_shown(model, work, model->attachment_first + index / NODE_CHANNELS, &own);
        read_node(shown, index % NODE_CHANNELS, values);
        return;
    }
    index -= NODE_CHANNELS * def->attachment_count;
    int i = 0;
    for (; index > amplitudes_of(&def->flexibles[i]); i++) index -= 1 + amplitudes_of(&def->flexibles[i]);
    values[0] = index ? work->flexibles[i].value[index - 1] : yk_smooth_flexible_strain(model, work, i);
}

static void read_joint(const yk_smooth *smooth, int index, int kind, double *values)
{
    const yk_smooth_workspace *work = &smooth->work;
    enum { FORCE, TORQUE, ANGLE, ANGLE_RATE, DISPLACEMENT };
    const joint_model *joint = &smooth->model.joints[index];
    if (kind == FORCE || kind == TORQUE) {
        yk_wrench reaction;
        yk_smooth_reaction(smooth, index, &reaction);
        put_vec3(values, kind == TORQUE ? reaction.torque : reaction.force);
        return;
    }
    yk_joint_reading reading =
        yk_joint_read(&joint->joint, &work->trial[joint->node[0]].frame, &work->trial[joint->node[1]].frame);
    switch (kind) {
    case ANGLE: values[0] = reading.angle; return;
    case ANGLE_RATE: values[0] = reading.angle_rate; return;
    case DISPLACEMENT: values[0] = reading.displacement; return;
    default: values[0] = reading.displacement_rate; return;
    }
}

/* A channel by its number in the order of name_all. */
static void read_channel(const yk_smooth *smooth, int channel, double *values)
{
    const yk_smooth_model *model = &smooth->model;
    const yk_smooth_workspace *work = &smooth->work;
    const yk_smooth_def *def = &model->def;
    if (channel >= model->attachment_channel) {
        read_flexible(model, work, channel - model->attachment_channel, values);
        return;
    }
    if (channel == 1) {
        values[0] = yk_smooth_strain_energy(smooth);
        return;
    }
    if (channel == 0) {
        yk_energy energy;
        yk_smooth_energy(smooth, &energy);
        values[0] = energy.kinetic, values[1] = energy.potential;
        values[2] = energy.dissipated, values[3] = energy.work;
        return;
    }
    int index = channel - MODEL_CHANNELS;
    if (index < NODE_CHANNELS * def->node_count) {
        read_node(&work->trial[index / NODE_CHANNELS], index % NODE_CHANNELS, values);
        return;
    }
    index -= NODE_CHANNELS * def->node_count;
    if (index < JOINT_CHANNELS * def->joint_count) {
        read_joint(smooth, index / JOINT_CHANNELS, index % JOINT_CHANNELS, values);
        return;
    }
    index -= JOINT_CHANNELS * def->joint_count;
    if (index >= FORCE_CHANNELS * def->force_count) {
        index -= FORCE_CHANNELS * def->force_count;
        yk_beam_loads loads;
        beam_loads(work, &model->beams[index / BEAM_CHANNELS], &loads);
        int kind = index % BEAM_CHANNELS;
        if (kind == BEAM_CHANNELS - 1) {
            values[0] = loads.energy;
        } else {
            memcpy(values, &loads.resultant[kind / 2][3 * (kind % 2)], 3 * sizeof *values);
        }
        return;
    }
    const force_model *force = &model->forces[index / FORCE_CHANNELS];
    double stretch[2];
    yk_force_stretch(&force->law, &work->trial[force->node[0]].frame, &work->trial[force->node[1]].frame, &stretch[0],
                     &stretch[1]);
    values[0] = stretch[index % FORCE_CHANNELS];
}

void yk_smooth_channel_read(const yk_smooth *smooth, int channel, double *values)
{
    const yk_smooth_model *model = &smooth->model;
    read_channel(smooth, model->channel_order ? model->channel_order[channel] : channel, values);
    if (!model->part_transforms) return;

    int part = 0;
    while (part < model->def.part_count && channel >= model->part_channels[part]) part++;
    if (part == model->def.part_count) return; /* of a joint between parts */
    yk_smooth_quantity_of_part(&model->part_transforms[part], model->quantities[channel],
                               model->channels[channel].components, values);
}

int yk_smooth_channel_find(const yk_smooth *smooth, const char *name)
{
    const yk_smooth_model *model = &smooth->model;
    for (int i = 0; i < model->channel_count; i++)
        if (strcmp(model->channels[i].name, name) == 0) return i;
    return -1;
}

double yk_smooth_channel_value(const yk_smooth *smooth, int channel, int component)
{
    double values[4] = {0};
    channel += smooth->work.first_channel;
    if (channel < 0 || channel >= smooth->model.channel_count || component < 0 || component > 3) return NAN;
    yk_smooth_channel_read(smooth, channel, values);
    return values[component];
}

int yk_smooth_channel_component(const yk_smooth *smooth, int channel, char letter)
{
    const yk_smooth_model *model = &smooth->model;
    if (channel < 0 || channel >= model->channel_count) return -1;
    int count = model->channels[channel].components;
    if (letter == 0 || count == 1) return letter == 0 && count == 1 ? 0 : -1;
    const char *letters = count == 4 ? "wxyz" : "xyz", *found = strchr(letters, letter);
    return found ? (int)(found - letters) : -1;
}
