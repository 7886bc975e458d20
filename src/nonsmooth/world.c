/* Creation and destruction of the subsystem, the start of a run, and access between steps. */
#include <string.h>

#include "base/context.h"
#include "math/polynomial.h"
#include "nonsmooth/world.h"

enum { BLOCKS_MAX = 40 };

yk_status yk_world_create(yk_context *context, const yk_nonsmooth_def *def, yk_nonsmooth **made)
{
    *made = NULL;
    yk_nonsmooth *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->base.ops = yk_nonsmooth_ops();
    self->context = context;
    self->model.context = context;
    self->model.def = def ? *def : yk_nonsmooth_default();

    yk_status status = yk_pool_create(context, self->model.def.thread_count, &self->pool);
    if (status != YK_OK) {
        yk_free(context, self);
        return status;
    }

    *made = self;
    return YK_OK;
}

/* Memory of a run ------------------------------------------------------------------------------ */

/* Work space of the step and of sleeping. */
static size_t list_blocks(yk_nonsmooth *self, yk_block *list)
{
    const yk_world_model *model = &self->model;
    size_t bodies = model->body_count, known = yk_world_known_count(model),
           dynamic = model->dynamic_count;
    bool loads = model->force_count > 0 || model->port_count > 0;
    bool sleeps = model->def.sleeping.speed_threshold > 0;
    bool impacts = model->def.impact_law != YK_IMPACT_NEWTON;
    size_t contacts = model->contact_capacity, general = model->general_capacity;

    /* Contacts are moved between two lists through a third one. */
    yk_impact_work *impact = &self->impact;
    const yk_block blocks[] = {
        YK_BLOCK(self->problem.joint_rows, model->joint_row_count),
        YK_BLOCK(self->problem.first_row, model->joint_count),
        YK_BLOCK(self->problem.damper_row, model->force_count),
        YK_BLOCK(self->step.before, bodies),
        YK_BLOCK_IF(loads, self->step.applied, bodies),
        YK_BLOCK(self->step.received, known),
        YK_BLOCK(self->step.line_speeds, model->port_count),
        YK_BLOCK(self->step.partials, bodies / YK_BODY_CHUNK + 1),
        YK_BLOCK_IF(model->emitter_count > 0, self->step.around, model->finite_count),
        YK_BLOCK_IF(model->emitter_count > 0, self->step.around_balls, model->finite_count),
        YK_BLOCK_IF(sleeps, self->sleep.ahead, known),
        YK_BLOCK_IF(sleeps, self->sleep.received, known),
        YK_BLOCK_IF(sleeps, self->sleep.disturbed, bodies),
        YK_BLOCK_IF(sleeps, self->sleep.root, dynamic),
        YK_BLOCK_IF(sleeps, self->sleep.spare.keys, contacts),
        YK_BLOCK_IF(sleeps, self->sleep.spare.impulses, contacts),
        YK_BLOCK_IF(sleeps, self->sleep.spare.torques, general),
        YK_BLOCK_IF(sleeps, self->sleep.spare.points, contacts),
        YK_BLOCK_IF(impacts, impact->rows, contacts),
        YK_BLOCK_IF(impacts, impact->gaps, contacts),
        YK_BLOCK_IF(impacts, impact->impulses, contacts),
        YK_BLOCK_IF(impacts, impact->torques, contacts),
        YK_BLOCK_IF(impacts, impact->contacts, contacts),
        YK_BLOCK_IF(impacts, impact->pairs, contacts),
        YK_BLOCK_IF(impacts, impact->before, contacts),
        YK_BLOCK_IF(impacts, impact->impulse, contacts),
        YK_BLOCK_IF(impacts, impact->torque, contacts),
        YK_BLOCK_IF(impacts, impact->joint_rows, model->joint_row_count),
        YK_BLOCK_IF(impacts, impact->joint_impulses, model->joint_row_count),
        YK_BLOCK_IF(impacts, impact->after, dynamic),
        YK_BLOCK_IF(impacts, impact->compressed, dynamic),
        YK_BLOCK_IF(impacts, impact->root, dynamic),
        YK_BLOCK_IF(impacts, impact->islands, dynamic),
    };
    memcpy(list, blocks, sizeof blocks);
    return sizeof blocks / sizeof *blocks;
}

static void release_run(yk_nonsmooth *self)
{
    if (!self->model.frozen)
        return;

    /* What refers to the state and to contacts goes before them. */
    yk_world_release_interface(self);
    yk_world_release_passages(self);
    yk_world_release_pushes(self);
    yk_network_destroy(self->problem.network);
    self->problem.network = NULL;

    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(self, blocks);
    yk_blocks_release(self->context, blocks, count);
    yk_collision_destroy(&self->collision);
    yk_world_state_destroy(&self->model, &self->state);
    self->laid_out = false;
}

yk_status yk_world_lay_out(yk_nonsmooth *self)
{
    if (self->laid_out)
        return YK_OK;

    /* From here on nothing can be added: sizes follow from the model. */
    if (!self->model.frozen) {
        yk_status frozen = yk_world_freeze(&self->model);
        if (frozen < 0)
            return frozen;
    }

    /* Workspace, state, collision detection, contact problem; all or none. */
    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks(self, blocks);
    yk_status status = yk_blocks_take(self->context, blocks, count);
    if (status == YK_OK)
        status = yk_world_state_create(&self->model, &self->state);
    if (status == YK_OK)
        status = yk_collision_create(self->pool, &self->model, &self->state, &self->collision);
    if (status == YK_OK)
        status = yk_problem_create(self);
    if (status != YK_OK) {
        release_run(self);
        return status;
    }

    self->laid_out = true;
    return YK_OK;
}

void yk_nonsmooth_destroy(yk_nonsmooth *self)
{
    if (!self)
        return;

    /* The run refers to the model, so it is destroyed first. */
    release_run(self);
    yk_world_release_channels(self);
    yk_world_model_destroy(&self->model);
    yk_pool_destroy(self->pool);
    yk_free(self->context, self);
}

size_t yk_nonsmooth_memory(const yk_nonsmooth *self)
{
    size_t bytes = yk_world_model_bytes(&self->model);
    if (!self->laid_out)
        return bytes;

    yk_block blocks[BLOCKS_MAX];
    size_t count = list_blocks((yk_nonsmooth *)(uintptr_t)self, blocks);
    return bytes + yk_blocks_bytes(blocks, count) +
           yk_world_state_bytes(&self->model, &self->state) + yk_collision_bytes(&self->collision) +
           yk_network_memory(self->problem.network);
}

/* Start ---------------------------------------------------------------------------------------- */

yk_status yk_world_start(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    if (!(h > 0))
        return yk_fail(self->context, YK_ERROR_ARGUMENT, "the step %g must be positive", h);

    yk_status status = yk_world_lay_out(self);
    if (status != YK_OK)
        return status;

    const yk_world_model *model = &self->model;
    yk_world_state *state = &self->state;

    /* Reset everything from a previous run. */
    self->started = true;
    self->has_points = false;
    self->report = (yk_nonsmooth_report){0};
    self->largest_residual = 0;
    self->largest_residual_ratio = 0;
    self->exchanged_impulse = 0;
    self->missed_impulse = 0;
    self->steps = 0;
    self->unresolved_steps = 0;

    /* Bodies are at their initial poses again: the list of near pairs is invalid. */
    yk_world_state_begin(model, t, state);
    yk_collision_forget_list(&self->collision);

    /* Outputs before the first step are the inputs. */
    for (size_t i = 0; inputs && i < model->signal_count; i++) {
        const yk_signal_model *signal = &model->signals[i];
        if (signal->connected)
            state->signals[i] = yk_input_scalar(&inputs[signal->index], 0);
    }

    for (size_t i = 0; inputs && i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        if (port->causality != YK_CAUSALITY_WRENCH_INPUT)
            continue;
        if (port->line)
            state->ports[i].wrench.force.x = yk_input_scalar(&inputs[i], 0);
        else
            state->ports[i].wrench = yk_input_wrench(&inputs[i], 0);
    }

    /* Set the poses with known motion before others that refer to them. */
    yk_world_place_known_bodies(self, t, inputs);
    yk_sleep_start(self, t, inputs);
    return yk_world_start_passages(self);
}

yk_status yk_nonsmooth_start(yk_nonsmooth *self, double t, double h)
{
    return yk_world_start(self, t, h, NULL);
}

yk_status yk_nonsmooth_step(yk_nonsmooth *self, double h)
{
    return yk_world_step(self, self->state.run.time, h, NULL);
}

yk_status yk_world_set_state(yk_nonsmooth *self, const double *image)
{
    /* The bodies come first. An image without valid orientations is rejected. */
    const yk_world_model *model = &self->model;
    for (size_t i = 0; i < model->body_count; i++) {
        yk_body_state body;
        memcpy(&body, image + i * (sizeof body / sizeof *image), sizeof body);
        double norm = yk_q_norm(body.orientation);
        const char *name = model->names[model->body_of[i]];
        if (!(norm > 0.5 && norm < 2))
            return yk_fail(self->context, YK_ERROR_ARGUMENT,
                           "the state image gives body %d (%s) an orientation of norm %g, must be "
                           "1: set an image that was read from this model",
                           (int)model->body_of[i], name ? name : "no name", norm);
    }

    yk_status status = yk_world_read_image(&self->model, &self->state, image);
    if (status != YK_OK)
        return status;

    /* Points of contacts are not part of the image. */
    self->has_points = false;

    /* Update derived data: sleeping bodies, and their wrenches on others. */
    if (self->state.sleep.rest_time)
        yk_sleep_sum(self);

    /* Normalize perturbed quaternions; those that are normalized within rounding errors are not
     * changed. */
    for (size_t i = 0; i < self->model.body_count; i++) {
        yk_body_state *body = &self->state.bodies[i];
        double norm = yk_q_norm(body->orientation);
        if (fabs(norm - 1) > 1e-14 && norm > 0)
            body->orientation = yk_q_unit(body->orientation);
    }

    return YK_OK;
}

/* Between steps -------------------------------------------------------------------------------- */

double yk_nonsmooth_time(const yk_nonsmooth *self)
{
    return self->state.run.time;
}

/* Body by the user's number, also before the start. */
static yk_body_state *body_state(const yk_nonsmooth *self, int body)
{
    const yk_world_model *model = &self->model;
    return self->started ? &self->state.bodies[model->slot_of[body]] : &model->initial[body];
}

void yk_nonsmooth_body_motion(const yk_nonsmooth *self, int body, yk_motion *motion)
{
    const yk_body_state *state = body_state(self, body);
    *motion = (yk_motion){
        .position = state->position,
        .velocity = state->velocity,
        .orientation = state->orientation,
        .angular_velocity = state->angular_velocity,
    };
}

void yk_nonsmooth_set_motion(yk_nonsmooth *self, int body, const yk_motion *motion)
{
    yk_quat orientation = yk_q_unit(motion->orientation);
    *body_state(self, body) =
        (yk_body_state){motion->position, orientation, motion->velocity, motion->angular_velocity};

    /* Bodies that rest on this body must notice that it has moved. */
    if (self->started)
        yk_sleep_wake(self, self->model.slot_of[body]);
}

yk_wrench yk_nonsmooth_reaction(const yk_nonsmooth *self, int body)
{
    const yk_world_model *model = &self->model;

    /* Dynamic bodies have none: nothing holds them. */
    size_t slot = (size_t)model->slot_of[body];
    if (slot < model->dynamic_count)
        return (yk_wrench){.force = {0, 0, 0}};
    return self->state.reactions[slot - model->dynamic_count];
}

yk_wrench yk_nonsmooth_joint_reaction(const yk_nonsmooth *self, int joint)
{
    return self->state.joints[joint];
}

enum { ANY_BODY = -2 };

/* Sum of the impulses on the body in slot `slot` from the one in slot `other`, or from all. */
static yk_vec3 sum_between(const yk_world_model *model, const yk_contact_list *list, int32_t slot,
                           int32_t other)
{
    yk_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < list->count; i++) {
        int32_t a = model->parts[list->keys[i].a].body, b = model->parts[list->keys[i].b].body;

        /* Impulses are stored for side a. */
        if (a == slot && (b == other || other == ANY_BODY))
            sum = yk_v3_add(sum, list->impulses[i]);
        if (b == slot && (a == other || other == ANY_BODY))
            sum = yk_v3_sub(sum, list->impulses[i]);
    }

    return sum;
}

static yk_vec3 force_between(const yk_nonsmooth *self, int32_t slot, int32_t other)
{
    const yk_world_model *model = &self->model;
    const yk_world_state *state = &self->state;

    /* Impulses of the last step as mean forces over it. */
    yk_vec3 impulse = sum_between(model, &state->contacts, slot, other);
    yk_vec3 held = sum_between(model, &state->sleep.frozen, slot, other); /* already forces */
    if (!(state->run.step > 0))
        return impulse;
    return yk_v3_axpy(1 / state->run.step, impulse, held);
}

yk_vec3 yk_nonsmooth_contact_force(const yk_nonsmooth *self, int body, int from)
{
    const yk_world_model *model = &self->model;
    int32_t slot = body < 0 ? -1 : model->slot_of[body];
    int32_t other = from < 0 ? -1 : model->slot_of[from];
    return force_between(self, slot, other);
}

yk_vec3 yk_world_contact_force(const yk_nonsmooth *self, int32_t slot)
{
    return force_between(self, slot, ANY_BODY);
}

void yk_nonsmooth_report_read(const yk_nonsmooth *self, yk_nonsmooth_report *report)
{
    *report = self->report;
}

yk_status yk_nonsmooth_problem(yk_nonsmooth *self, yk_contact_problem *problem)
{
    yk_network *network = self->problem.network;
    yk_status status = yk_network_assemble(network, problem);
    if (status != YK_OK)
        return status;

    /* Impulses and velocities of the solution, in the order of the rows. */
    size_t rows = (size_t)problem->row_count;
    double *r = yk_allocate(self->context, rows + 1, sizeof *r);
    double *u = yk_allocate(self->context, rows + 1, sizeof *u);
    if (!r || !u) {
        yk_free(self->context, r);
        yk_free(self->context, u);
        yk_contact_problem_destroy(self->context, problem);
        return YK_ERROR_MEMORY;
    }

    /* Impacts before the contact problem. */
    yk_network_take_impulses(network, problem, r);
    size_t joints = self->problem.joint_row_count;
    for (size_t k = 0; self->impact.acted && k < joints; k++)
        r[rows - joints + k] -= self->impact.joint_impulses[k];

    /* The nodes have their final velocities: q = u - W r. */
    yk_contact_multiply(problem, r, u);
    for (size_t k = 0; k < rows; k++) {
        double soft = problem->softness ? problem->softness[k] * r[k] : 0;
        problem->q[k] -= u[k] - soft;
    }

    yk_free(self->context, r);
    yk_free(self->context, u);
    return YK_OK;
}

void yk_nonsmooth_violation(yk_nonsmooth *self, double *rms, double *largest)
{
    *largest = yk_network_residual(self->problem.network,
                                   self->model.def.contact_options.friction_model, rms);
}
