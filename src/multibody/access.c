/* Access while the solver runs: states of the bodies, wrenches on them, and parameters of the springs (yk_body_ops,
 * yk_parameter_ops). Bodies are the nodes of the model, with the ids that the builder returned. */
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
    const yk_multibody *smooth = const_of(self);
    for (int i = 0; i < count; i++) {
        int frame = yk_multibody_frame_of(&smooth->model, first + i);
        const trial_node *node = &smooth->work.trial[frame];
        states[i] = (yk_body_state){node->frame.position, node->orientation, node->frame.velocity,
                                    node->frame.angular_velocity};
    }
}

static yk_status set_body_wrench(yk_subsystem *self, int body, const yk_wrench *wrench)
{
    yk_multibody *smooth = (yk_multibody *)self;
    const yk_multibody_model *model = &smooth->model;
    yk_multibody_workspace *work = &smooth->work;

    if (!work->pushed) {
        work->pushed =
            yk_allocate(model->context, (size_t)model->node_count + 1, sizeof *work->pushed);
        if (!work->pushed)
            return YK_ERROR_MEMORY;
    }
    work->pushed[yk_multibody_frame_of(model, body)] = *wrench;
    return YK_OK;
}

const yk_body_ops yk_multibody_body_ops = {.size = sizeof(yk_body_ops),
                                           .count = body_count,
                                           .name = body_name,
                                           .read = read_bodies,
                                           .set_wrench = set_body_wrench};

/* Parameters ----------------------------------------------------------------------------------- */

typedef enum spring_parameter {
    SPRING_STIFFNESS,
    SPRING_DAMPING,
    SPRING_FREE_LENGTH,
    SPRING_PARAMETER_COUNT
} spring_parameter;

/* Of a spring and of a torsion spring. */
static const struct {
    const char *name[2], *unit[2];
    double minimum;
} spring_parameters[SPRING_PARAMETER_COUNT] = {
    [SPRING_STIFFNESS] = {{"stiffness", "stiffness"}, {"N/m", "N m/rad"}, -DBL_MAX},
    [SPRING_DAMPING] = {{"damping", "damping"}, {"N s/m", "N m s/rad"}, -DBL_MAX},
    [SPRING_FREE_LENGTH] = {{"free_length", "free_angle"}, {"m", "rad"}, -DBL_MAX},
};

static bool is_spring(const yk_force_def *force)
{
    return force->kind == YK_FORCE_SPRING || force->kind == YK_FORCE_TORSION_SPRING;
}

yk_status yk_multibody_list_parameters(yk_multibody_model *model)
{
    int springs = 0;
    size_t bytes = 0;
    for (int i = 0; i < model->def.force_count; i++) {
        if (!is_spring(&model->def.forces[i]))
            continue;
        springs++;
        bytes +=
            SPRING_PARAMETER_COUNT * (strlen(model->def.forces[i].name) + sizeof ".free_length");
    }
    if (springs == 0)
        return YK_OK;

    size_t count = (size_t)springs * SPRING_PARAMETER_COUNT;
    model->parameters = yk_allocate(model->context, count, sizeof *model->parameters);
    model->parameter_names = yk_allocate(model->context, bytes, 1);
    if (!model->parameters || !model->parameter_names)
        return YK_ERROR_MEMORY;

    char *name = model->parameter_names;
    for (int i = 0; i < model->def.force_count; i++) {
        const yk_force_def *force = &model->def.forces[i];
        if (!is_spring(force))
            continue;

        int kind = force->kind == YK_FORCE_TORSION_SPRING;
        for (int k = 0; k < SPRING_PARAMETER_COUNT; k++) {
            size_t left = bytes - (size_t)(name - model->parameter_names);
            int length =
                snprintf(name, left, "%s.%s", force->name, spring_parameters[k].name[kind]);
            model->parameters[model->parameter_count++] = (yk_parameter){
                name, spring_parameters[k].unit[kind], spring_parameters[k].minimum, DBL_MAX};
            name += length + 1;
        }
    }
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

/* The force of a parameter: parameters are listed spring by spring. */
static int force_of(const yk_multibody_model *model, int parameter)
{
    int spring = parameter / SPRING_PARAMETER_COUNT;
    int force = -1;
    while (spring >= 0) {
        force++;
        if (is_spring(&model->def.forces[force]))
            spring--;
    }
    return force;
}

static double *value_in(yk_force_def *force, spring_parameter parameter)
{
    switch (parameter) {
    case SPRING_STIFFNESS: return &force->stiffness;
    case SPRING_DAMPING: return &force->damping;
    case SPRING_FREE_LENGTH:
    case SPRING_PARAMETER_COUNT: break;
    }
    return &force->free_length;
}

static double get_parameter(const yk_subsystem *self, int parameter)
{
    const yk_multibody_model *model = &const_of(self)->model;
    yk_force_def force = model->def.forces[force_of(model, parameter)];
    return *value_in(&force, parameter % SPRING_PARAMETER_COUNT);
}

static double potential_of(const yk_multibody *smooth)
{
    yk_energy energy;
    yk_multibody_energy(smooth, &energy);
    return energy.potential;
}

static yk_status set_parameter(yk_subsystem *self, int parameter, double value)
{
    yk_multibody *smooth = (yk_multibody *)self;
    yk_multibody_model *model = &smooth->model;
    int number = force_of(model, parameter);
    double before = smooth->started ? potential_of(smooth) : 0;

    /* The def is what a later start and merging read. */
    yk_force_def *forces = (yk_force_def *)(uintptr_t)model->def.forces;
    *value_in(&forces[number], parameter % SPRING_PARAMETER_COUNT) = value;
    if (!smooth->started)
        return YK_OK;

    yk_force_law law = yk_force_of(&forces[number]);
    model->forces[number].law.stiffness = law.stiffness;
    model->forces[number].law.damping = law.damping;
    model->forces[number].law.free = law.free;

    /* The factors are those of the old stiffness. The change does work, as whoever turns the screw. */
    smooth->solver.match = false;
    smooth->state.clock->work += potential_of(smooth) - before;
    return YK_OK;
}

const yk_parameter_ops yk_multibody_parameter_ops = {.size = sizeof(yk_parameter_ops),
                                                     .list = list_parameters,
                                                     .get = get_parameter,
                                                     .set = set_parameter};
