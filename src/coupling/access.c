/* Access to a running system (yoke/access.h): bodies, wrenches on them, contacts, parameters, callbacks. Channels are in
 * channels.c, inputs in inputs.c, snapshots in snapshot.c. */
#include "coupling/access.h"

#include <math.h>
#include <string.h>

#include "coupling/arguments.h"
#include "coupling/failure.h"
#include "coupling/interface.h"
#include "coupling/participant.h"
#include "coupling/step_frame.h"
#include "coupling/system.h"
#include "math/so3.h"
#include "math/vec3.h"

/* Bodies --------------------------------------------------------------------------------------- */

/* The bodies of a subsystem are `count` bodies of a participant from `first` on. */
typedef struct body_range {
    yk_participant *participant;
    const yk_body_ops *ops; /* NULL: the subsystem has no bodies */
    int first, count;
} body_range;

static body_range find_bodies(const yk_system *system, const char *function, int subsystem)
{
    body_range range = {0};
    if (!yk_system_has_started(system, function) ||
        !yk_system_has_subsystem(system, function, subsystem))
        return range;

    const yk_system_part *part = &system->parts[subsystem];
    range.participant = &system->participants[part->participant];
    range.ops = range.participant->subsystem->ops->bodies;
    if (!range.ops)
        return range;

    range.first = part->body;
    range.count = range.ops->count(range.participant->subsystem) - part->body;
    if (part->body_count >= 0)
        range.count = part->body_count;
    return range;
}

static yk_status check_bodies(const yk_system *system, const char *function, int subsystem,
                              const body_range *range, int first, int count)
{
    if (!range->participant)
        return YK_ERROR_ARGUMENT;
    if (!range->ops)
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "%s: subsystem '%s' (%s) has no bodies that can be accessed", function,
                       system->parts[subsystem].name, range->participant->subsystem->ops->kind);
    if (first >= 0 && count >= 0 && first <= range->count && count <= range->count - first)
        return YK_OK;
    if (first == YK_NO_ID)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "%s: the id of the body is null, because it was not found or not added",
                       function);
    return yk_fail(system->context, YK_ERROR_ARGUMENT,
                   "%s: bodies %d to %d of subsystem '%s' do not exist; it has %d", function, first,
                   first + count - 1, system->parts[subsystem].name, range->count);
}

int yk_system_body_count(const yk_system *system, yk_subsystem_id subsystem)
{
    return find_bodies(system, __func__, subsystem.index).count;
}

const char *yk_system_body_name(const yk_system *system, yk_subsystem_id subsystem, yk_body_id body)
{
    body_range range = find_bodies(system, __func__, subsystem.index);
    if (check_bodies(system, __func__, subsystem.index, &range, body.index, 1) != YK_OK)
        return NULL;
    return range.ops->name(range.participant->subsystem, range.first + body.index);
}

static const char *name_in_range(const void *list, int index)
{
    const body_range *range = list;
    return range->ops->name(range->participant->subsystem, range->first + index);
}

yk_body_id yk_system_find_body(const yk_system *system, yk_subsystem_id subsystem, const char *name)
{
    body_range range = find_bodies(system, __func__, subsystem.index);
    if (!range.participant || !yk_system_has_memory(system, __func__, "name", name))
        return YK_NULL_BODY;
    for (int i = 0; i < range.count; i++) {
        const char *other = name_in_range(&range, i);
        if (other && strcmp(other, name) == 0)
            return (yk_body_id){i};
    }

    yk_system_report_not_found(system, __func__, "body", name, name_in_range, &range, range.count);
    return YK_NULL_BODY;
}

yk_status yk_system_read_bodies(const yk_system *system, yk_subsystem_id subsystem,
                                yk_body_id first, int count, yk_body_state *states)
{
    body_range range = find_bodies(system, __func__, subsystem.index);
    yk_status status = check_bodies(system, __func__, subsystem.index, &range, first.index, count);
    if (status != YK_OK)
        return status;
    if (count > 0 && !states)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: the array of states is missing",
                       __func__);

    const yk_participant *p = range.participant;
    range.ops->read(p->subsystem, range.first + first.index, count, states);
    if (!p->transform)
        return YK_OK;

    const yk_transform *transform = p->transform;
    for (int i = 0; i < count; i++) {
        yk_body_state *s = &states[i];
        yk_motion motion = {.position = s->position,
                            .velocity = s->velocity,
                            .orientation = s->orientation,
                            .angular_velocity = s->angular_velocity};
        yk_transform_motion(transform, YK_PORT_MARKER, &motion);
        *s = (yk_body_state){motion.position, motion.orientation, motion.velocity,
                             motion.angular_velocity};
    }
    return YK_OK;
}

/* A state in the units and axes of a participant. */
static yk_body_state to_participant(const yk_transform *transform, const yk_body_state *state)
{
    yk_quat back = yk_q_conjugate(transform->orientation);
    double scale = 1 / transform->length_unit;
    yk_vec3 arm = yk_v3_sub(state->position, transform->position);
    return (yk_body_state){.position = yk_v3_scale(scale, yk_q_rotate(back, arm)),
                           .orientation = yk_q_mul(back, state->orientation),
                           .velocity = yk_v3_scale(scale, yk_q_rotate(back, state->velocity)),
                           .angular_velocity = yk_q_rotate(back, state->angular_velocity)};
}

static bool is_valid_state(const yk_body_state *state)
{
    return yk_v3_finite(state->position) && yk_v3_finite(state->velocity) &&
           yk_v3_finite(state->angular_velocity) && fabs(yk_q_norm(state->orientation) - 1) < 1e-6;
}

yk_status yk_system_set_bodies(yk_system *system, yk_subsystem_id subsystem, yk_body_id first,
                               int count, const yk_body_state *states)
{
    body_range range = find_bodies(system, __func__, subsystem.index);
    yk_status status = check_bodies(system, __func__, subsystem.index, &range, first.index, count);
    if (status != YK_OK)
        return status;
    if (count == 0)
        return YK_OK;
    if (!states)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: the array of states is missing",
                       __func__);

    yk_body_state *own = yk_allocate(system->context, (size_t)count, sizeof *own);
    if (!own)
        return YK_ERROR_MEMORY;

    yk_participant *p = range.participant;
    const char *name = system->parts[subsystem.index].name;
    for (int i = 0; status == YK_OK && i < count; i++) {
        if (!is_valid_state(&states[i]))
            status = yk_fail(system->context, YK_ERROR_ARGUMENT,
                             "%s: the state of body %d of subsystem '%s' is not finite, or its "
                             "orientation is not a unit quaternion",
                             __func__, first.index + i, name);
        own[i] = p->transform ? to_participant(p->transform, &states[i]) : states[i];
        own[i].orientation = yk_q_unit(own[i].orientation);
    }

    if (status == YK_OK) {
        status = range.ops->set_states(p->subsystem, range.first + first.index, count, own);
        if (status != YK_OK)
            yk_fail(system->context, status, "%s: subsystem '%s': %s", __func__, name,
                    yk_participant_message(p));
    }
    yk_free(system->context, own);
    if (status != YK_OK)
        return status;

    /* Do not extrapolate over the jump. */
    yk_system_gather(p);
    for (int port = 0; p->mean_wrenches && port < p->port_count; port++)
        p->values[port].wrench = p->mean_wrenches[port];
    yk_system_announce_event(system);
    return YK_OK;
}

/* Wrenches ------------------------------------------------------------------------------------- */

static yk_wrench add_wrenches(yk_wrench a, yk_wrench b)
{
    return (yk_wrench){yk_v3_add(a.force, b.force), yk_v3_add(a.torque, b.torque)};
}

/* The total of the wrenches on a body, in the units and axes of the participant. */
static yk_pending_wrench *find_pending(yk_system *system, int participant, int body)
{
    yk_pending_wrenches *pending = &system->pending;
    for (int i = 0; i < pending->count; i++)
        if (pending->list[i].participant == participant && pending->list[i].body == body)
            return &pending->list[i];

    if (pending->count == pending->capacity) {
        int capacity = pending->capacity ? 2 * pending->capacity : 8;
        yk_pending_wrench *grown =
            yk_reallocate(system->context, pending->list, (size_t)capacity, sizeof *grown);
        if (!grown)
            return NULL;
        pending->list = grown;
        pending->capacity = capacity;
    }

    yk_pending_wrench *made = &pending->list[pending->count++];
    *made = (yk_pending_wrench){.participant = participant, .body = body};
    return made;
}

yk_status yk_system_apply_body_wrench(yk_system *system, yk_subsystem_id subsystem, yk_body_id body,
                                      yk_wrench wrench, const yk_vec3 *point)
{
    body_range range = find_bodies(system, __func__, subsystem.index);
    yk_status status = check_bodies(system, __func__, subsystem.index, &range, body.index, 1);
    if (status != YK_OK)
        return status;
    if (!yk_v3_finite(wrench.force) || !yk_v3_finite(wrench.torque) ||
        (point && !yk_v3_finite(*point)))
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "%s: the wrench on body %d of subsystem '%s' is not finite", __func__,
                       body.index, system->parts[subsystem.index].name);

    if (point) {
        yk_body_state state;
        status = yk_system_read_bodies(system, subsystem, body, 1, &state);
        if (status != YK_OK)
            return status;
        yk_vec3 arm = yk_v3_sub(*point, state.position);
        wrench.torque = yk_v3_add(wrench.torque, yk_v3_cross(arm, wrench.force));
    }

    yk_participant *p = range.participant;
    if (p->transform) {
        yk_input input = {.linear = {wrench.force}, .angular = {wrench.torque}};
        yk_input own;
        yk_transform_input(p->transform, YK_PORT_MARKER, YK_CAUSALITY_WRENCH_INPUT, &input, &own);
        wrench = (yk_wrench){own.linear[0], own.angular[0]};
    }

    int participant = (int)(p - system->participants);
    yk_pending_wrench *pending = find_pending(system, participant, range.first + body.index);
    if (!pending)
        return YK_ERROR_MEMORY;

    yk_wrench sum = add_wrenches(pending->wrench, wrench);
    status = range.ops->set_wrench(p->subsystem, pending->body, &sum);
    if (status != YK_OK)
        return yk_fail(system->context, status, "%s: subsystem '%s': %s", __func__,
                       system->parts[subsystem.index].name, yk_participant_message(p));

    pending->wrench = sum;
    if (system->phase == YK_PHASE_BEFORE_STEP)
        pending->from_callback = add_wrenches(pending->from_callback, wrench);
    return YK_OK;
}

void yk_system_drop_callback_wrenches(yk_system *system)
{
    for (int i = 0; i < system->pending.count; i++) {
        yk_pending_wrench *pending = &system->pending.list[i];
        const yk_wrench *drop = &pending->from_callback;
        if (yk_v3_norm2(drop->force) + yk_v3_norm2(drop->torque) == 0)
            continue;

        yk_subsystem *subsystem = system->participants[pending->participant].subsystem;
        pending->wrench.force = yk_v3_sub(pending->wrench.force, drop->force);
        pending->wrench.torque = yk_v3_sub(pending->wrench.torque, drop->torque);
        pending->from_callback = (yk_wrench){0};
        subsystem->ops->bodies->set_wrench(subsystem, pending->body, &pending->wrench);
    }
}

void yk_system_clear_wrenches(yk_system *system)
{
    static const yk_wrench zero;
    yk_pending_wrenches *pending = &system->pending;
    for (int i = 0; i < pending->count; i++) {
        yk_subsystem *subsystem = system->participants[pending->list[i].participant].subsystem;
        subsystem->ops->bodies->set_wrench(subsystem, pending->list[i].body, &zero);
    }
    pending->count = 0;
}

/* Contacts ------------------------------------------------------------------------------------- */

int yk_system_read_contacts(const yk_system *system, yk_subsystem_id subsystem,
                            yk_contact_point *contacts, int capacity)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_subsystem(system, __func__, subsystem.index))
        return 0;
    if (capacity < 0 || (capacity > 0 && !contacts)) {
        yk_fail(system->context, YK_ERROR_ARGUMENT, "%s: the array of contacts is missing",
                __func__);
        return 0;
    }

    const yk_participant *p = &system->participants[system->parts[subsystem.index].participant];
    const yk_contact_point_ops *ops = p->subsystem->ops->contact_points;
    if (!ops)
        return 0;

    int count = ops->list(p->subsystem, contacts, capacity);
    for (int i = 0; p->transform && i < count && capacity > 0; i++) {
        yk_port_value value = {
            .motion = {.position = contacts[i].point, .orientation = yk_q_identity()},
            .wrench = {.force = contacts[i].force}};
        yk_transform_value(p->transform, YK_PORT_MARKER, &value);
        contacts[i].point = value.motion.position;
        contacts[i].normal = yk_q_rotate(p->transform->orientation, contacts[i].normal);
        contacts[i].force = value.wrench.force;
    }
    return count;
}

/* Parameters ----------------------------------------------------------------------------------- */

/* The subsystem object that has the parameters. Parameters of merged subsystems cannot be changed,
 * because the merged subsystem has copies of the models. */
static yk_subsystem *find_parameters(const yk_system *system, const char *function, int subsystem,
                                     const yk_parameter **list, int *count)
{
    *list = NULL;
    *count = 0;
    if (!yk_system_has_subsystem(system, function, subsystem) || system->merging)
        return NULL;

    yk_subsystem *object = system->participants[system->parts[subsystem].participant].subsystem;
    if (!object->ops->parameters)
        return NULL;
    *count = object->ops->parameters->list(object, list);
    return object;
}

int yk_system_parameter_count(const yk_system *system, yk_subsystem_id subsystem)
{
    const yk_parameter *list;
    int count;
    find_parameters(system, __func__, subsystem.index, &list, &count);
    return count;
}

const yk_parameter *yk_system_parameter_at(const yk_system *system, yk_subsystem_id subsystem,
                                           yk_parameter_id parameter)
{
    const yk_parameter *list;
    int count;
    find_parameters(system, __func__, subsystem.index, &list, &count);
    if (!yk_system_has_subsystem(system, __func__, subsystem.index) ||
        !yk_system_has_parameter(system, __func__, parameter.index, count))
        return NULL;
    return &list[parameter.index];
}

static const char *name_of_parameter(const void *list, int index)
{
    return ((const yk_parameter *)list)[index].name;
}

yk_parameter_id yk_system_find_parameter(const yk_system *system, yk_subsystem_id subsystem,
                                         const char *name)
{
    const yk_parameter *list;
    int count;
    find_parameters(system, __func__, subsystem.index, &list, &count);
    if (!yk_system_has_subsystem(system, __func__, subsystem.index) ||
        !yk_system_has_memory(system, __func__, "name", name))
        return YK_NULL_PARAMETER;
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return (yk_parameter_id){i};

    yk_system_report_not_found(system, __func__, "parameter", name, name_of_parameter, list, count);
    return YK_NULL_PARAMETER;
}

double yk_system_parameter_value(const yk_system *system, yk_subsystem_id subsystem,
                                 yk_parameter_id parameter)
{
    const yk_parameter *list;
    int count;
    const yk_subsystem *object = find_parameters(system, __func__, subsystem.index, &list, &count);
    if (!yk_system_has_subsystem(system, __func__, subsystem.index) ||
        !yk_system_has_parameter(system, __func__, parameter.index, count))
        return NAN;
    return object->ops->parameters->get(object, parameter.index);
}

yk_status yk_system_set_parameter(yk_system *system, yk_subsystem_id subsystem,
                                  yk_parameter_id parameter, double value)
{
    const yk_parameter *list;
    int count;
    yk_subsystem *object = find_parameters(system, __func__, subsystem.index, &list, &count);
    if (!yk_system_has_subsystem(system, __func__, subsystem.index))
        return YK_ERROR_ARGUMENT;

    yk_context *context = system->context;
    const char *name = system->parts[subsystem.index].name;
    if (!object)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "%s: subsystem '%s' has no parameters that can be changed%s", __func__, name,
                       system->merging ? " under a scheme that merges subsystems" : "");
    if (!yk_system_has_parameter(system, __func__, parameter.index, count))
        return YK_ERROR_ARGUMENT;

    const yk_parameter *of = &list[parameter.index];
    if (!(value >= of->minimum && value <= of->maximum))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: parameter '%s' of subsystem '%s' is %g, must be %g to %g %s", __func__,
                       of->name, name, value, of->minimum, of->maximum, of->unit);

    yk_participant *p = &system->participants[system->parts[subsystem.index].participant];
    p->status = object->ops->parameters->set(object, parameter.index, value);
    if (p->status == YK_OK)
        return YK_OK;
    return yk_fail(context, p->status, "%s: subsystem '%s': %s", __func__, name,
                   yk_participant_message(p));
}

/* Callbacks and runs --------------------------------------------------------------------------- */

void yk_system_set_before_step(yk_system *system, yk_step_function before_step, void *user)
{
    if (system)
        system->before_step = (yk_step_callback){before_step, user};
}

void yk_system_set_after_step(yk_system *system, yk_step_function after_step, void *user)
{
    if (system)
        system->after_step = (yk_step_callback){after_step, user};
}
