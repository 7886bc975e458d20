/* Access to a running solver: states of the bodies, wrenches on them, and parameters of the springs
 * (yk_body_ops, yk_parameter_ops). Bodies are the nodes of the model, with the ids that the builder
 * returned. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "multibody/multibody.h"

static const yk_multibody *const_of(const yk_subsystem *self)
{
    return (const yk_multibody *)self;
}

/* Bodies --------------------------------------------------------------------------------------- */

static int body_count(const yk_subsystem *self)
{
    return const_of(self)->model.def.node_count;
}

static const char *body_name(const yk_subsystem *self, int body)
{
    return const_of(self)->model.def.nodes[body].name;
}

static void read_bodies(const yk_subsystem *self, int first, int count, yk_body_state *states)
{
    const yk_multibody *multibody = const_of(self);
    for (int i = 0; i < count; i++) {
        int frame = yk_multibody_frame_of(&multibody->model, first + i);
        const trial_node *node = &multibody->work.trial[frame];
        states[i] = (yk_body_state){node->frame.position, node->orientation, node->frame.velocity,
                                    node->frame.angular_velocity};
    }
}

static yk_status set_body_wrench(yk_subsystem *self, int body, const yk_wrench *wrench)
{
    yk_multibody *multibody = (yk_multibody *)self;
    const yk_multibody_model *model = &multibody->model;
    yk_multibody_workspace *work = &multibody->work;

    if (!work->pushed) {
        work->pushed =
            yk_allocate(model->context, (size_t)model->node_count + 1, sizeof *work->pushed);
        if (!work->pushed)
            return YK_ERROR_MEMORY;
    }
    work->pushed[yk_multibody_frame_of(model, body)] = *wrench;
    return YK_OK;
}

/* Multistep integrators have a history, and coordinates and multipliers must satisfy the joints
 * together. */
static yk_status set_body_states(yk_subsystem *self, int first, int count,
                                 const yk_body_state *states)
{
    yk_multibody *multibody = (yk_multibody *)self;
    (void)first;
    (void)count;
    (void)states;
    return yk_keep_message(
        &multibody->message, multibody->model.context,
        yk_fail(multibody->model.context, YK_ERROR_CAPABILITY,
                "the multibody solver cannot continue from other states of its bodies: apply "
                "wrenches, or start a new model"));
}

const yk_body_ops yk_multibody_body_ops = {.size = sizeof(yk_body_ops),
                                           .count = body_count,
                                           .name = body_name,
                                           .read = read_bodies,
                                           .set_wrench = set_body_wrench,
                                           .set_states = set_body_states};

/* Parameters: three of each spring, then gravity ------------------------------------------------ */

typedef enum spring_parameter {
    SPRING_STIFFNESS,
    SPRING_DAMPING,
    SPRING_FREE_LENGTH,
    SPRING_PARAMETER_COUNT
} spring_parameter;

typedef struct parameter_row {
    const char *name, *unit;
} parameter_row;

static const parameter_row spring_rows[SPRING_PARAMETER_COUNT] = {
    [SPRING_STIFFNESS] = {"stiffness", "N/m"},
    [SPRING_DAMPING] = {"damping", "N s/m"},
    [SPRING_FREE_LENGTH] = {"free_length", "m"},
};

static const parameter_row torsion_spring_rows[SPRING_PARAMETER_COUNT] = {
    [SPRING_STIFFNESS] = {"stiffness", "N m/rad"},
    [SPRING_DAMPING] = {"damping", "N m s/rad"},
    [SPRING_FREE_LENGTH] = {"free_angle", "rad"},
};

enum { GRAVITY_PARAMETER_COUNT = 3 };

static const char *const gravity_names[GRAVITY_PARAMETER_COUNT] = {"gravity.x", "gravity.y",
                                                                   "gravity.z"};

static bool is_spring(const yk_force_def *force)
{
    return force->kind == YK_FORCE_SPRING || force->kind == YK_FORCE_TORSION_SPRING;
}

yk_status yk_multibody_list_parameters(yk_multibody_model *model)
{
    int springs = 0;
    size_t bytes = 1;
    for (int i = 0; i < model->def.force_count; i++) {
        if (!is_spring(&model->def.forces[i]))
            continue;
        springs++;
        bytes +=
            SPRING_PARAMETER_COUNT * (strlen(model->def.forces[i].name) + sizeof ".free_length");
    }

    size_t count = (size_t)springs * SPRING_PARAMETER_COUNT + GRAVITY_PARAMETER_COUNT;
    model->parameters = yk_allocate(model->context, count, sizeof *model->parameters);
    model->parameter_names = yk_allocate(model->context, bytes, 1);
    if (!model->parameters || !model->parameter_names)
        return YK_ERROR_MEMORY;

    char *name = model->parameter_names;
    for (int i = 0; i < model->def.force_count; i++) {
        const yk_force_def *force = &model->def.forces[i];
        if (!is_spring(force))
            continue;

        const parameter_row *rows = spring_rows;
        if (force->kind == YK_FORCE_TORSION_SPRING)
            rows = torsion_spring_rows;
        for (int k = 0; k < SPRING_PARAMETER_COUNT; k++) {
            size_t left = bytes - (size_t)(name - model->parameter_names);
            int length = snprintf(name, left, "%s.%s", force->name, rows[k].name);
            model->parameters[model->parameter_count++] =
                (yk_parameter){name, rows[k].unit, -DBL_MAX, DBL_MAX};
            name += length + 1;
        }
    }

    for (int k = 0; k < GRAVITY_PARAMETER_COUNT; k++)
        model->parameters[model->parameter_count++] =
            (yk_parameter){gravity_names[k], "m/s^2", -DBL_MAX, DBL_MAX};
    return YK_OK;
}

void yk_multibody_release_parameters(yk_multibody_model *model)
{
    yk_free(model->context, model->parameters);
    yk_free(model->context, model->parameter_names);
}

static int list_parameters(const yk_subsystem *self, const yk_parameter **list)
{
    const yk_multibody_model *model = &const_of(self)->model;
    *list = model->parameters;
    return model->parameter_count;
}

/* The force of a parameter; -1: the parameter is a component of gravity. */
static int force_of(const yk_multibody_model *model, int parameter)
{
    if (parameter >= model->parameter_count - GRAVITY_PARAMETER_COUNT)
        return -1;

    int spring = parameter / SPRING_PARAMETER_COUNT;
    int force = -1;
    while (spring >= 0) {
        force++;
        if (is_spring(&model->def.forces[force]))
            spring--;
    }
    return force;
}

/* The value of a parameter in the def, which a later start and merging read. */
static double *value_in_def(const yk_multibody_model *model, int parameter)
{
    int force = force_of(model, parameter);
    if (force < 0) {
        yk_vec3 *gravity = (yk_vec3 *)(uintptr_t)&model->def.gravity;
        double *const components[GRAVITY_PARAMETER_COUNT] = {&gravity->x, &gravity->y, &gravity->z};
        return components[parameter - (model->parameter_count - GRAVITY_PARAMETER_COUNT)];
    }

    yk_force_def *def = (yk_force_def *)(uintptr_t)&model->def.forces[force];
    switch ((spring_parameter)(parameter % SPRING_PARAMETER_COUNT)) {
    case SPRING_STIFFNESS: return &def->stiffness;
    case SPRING_DAMPING: return &def->damping;
    case SPRING_FREE_LENGTH:
    case SPRING_PARAMETER_COUNT: break;
    }
    return &def->free_length;
}

static double get_parameter(const yk_subsystem *self, int parameter)
{
    return *value_in_def(&const_of(self)->model, parameter);
}

static double potential_of(const yk_multibody *multibody)
{
    yk_energy energy;
    yk_multibody_energy(multibody, &energy);
    return energy.potential;
}

static yk_status set_parameter(yk_subsystem *self, int parameter, double value)
{
    yk_multibody *multibody = (yk_multibody *)self;
    yk_multibody_model *model = &multibody->model;
    double before = multibody->started ? potential_of(multibody) : 0;
    *value_in_def(model, parameter) = value;
    if (!multibody->started)
        return YK_OK;

    int number = force_of(model, parameter);
    if (number >= 0) {
        yk_force_law law = yk_force_of(&model->def.forces[number]);
        model->forces[number].law.stiffness = law.stiffness;
        model->forces[number].law.damping = law.damping;
        model->forces[number].law.free = law.free;
    }

    /* The factors of the old stiffness are invalid. The change of the potential energy is external work. */
    multibody->solver.match = false;
    multibody->state.clock->work += potential_of(multibody) - before;
    return YK_OK;
}

const yk_parameter_ops yk_multibody_parameter_ops = {.size = sizeof(yk_parameter_ops),
                                                     .list = list_parameters,
                                                     .get = get_parameter,
                                                     .set = set_parameter};
