/* A model of rigid bodies as plain data, for solvers of another kind (mechanics/rigid_parts.h). */
#include <math.h>

#include "math/so3.h"
#include "mechanics/rigid_parts.h"
#include "multibody/multibody.h"

/* A body without rotational inertia gets this fraction of its mass times the square of its longest
 * arm, because other solvers divide by the inertia. A body that cannot rotate gets more: the value
 * has no effect on the motion, and iterative solvers converge faster. */
static const double POINT_INERTIA = 1e-6;
static const double HELD_INERTIA = 1e-2;

/* The first feature of the model that a world of rigid bodies does not support; NULL: none. */
static const char *obstacle(const yk_multibody_description *def)
{
    if (def->beam_count > 0)
        return "beams";
    if (def->flexible_count > 0)
        return "flexible bodies";
    if (def->options.start_in_equilibrium)
        return "static_start";
    if (def->options.startup_damping > 0)
        return "startup_damping";
    for (int i = 0; i < def->force_count; i++) {
        if (def->forces[i].feedback.value)
            return "forces that depend on channels";
        if (def->forces[i].adds_to.index != YK_NO_ID)
            return "forces on sums of coordinates";
    }
    for (int i = 0; i < def->joint_count; i++) {
        if (yk_joint_traits_of(def->joints[i].kind)->coupled)
            return "gears and other couplings of joints";
        if (def->joints[i].signal_port.index != YK_NO_ID)
            return "joints that a signal drives";
    }
    return NULL;
}

/* The longest arm from a center of mass to a marker on the body, or 1. */
static double arm_of(const yk_multibody_description *def, int node, yk_vec3 center)
{
    double arm = 0;
    for (int i = 0; i < def->joint_count; i++) {
        for (int side = 0; side < 2; side++) {
            yk_vec3 offset = def->joints[i].markers[side].offset;
            if (def->joints[i].bodies[side].index == node)
                arm = fmax(arm, yk_v3_norm(yk_v3_sub(offset, center)));
        }
    }
    for (int i = 0; i < def->port_count; i++) {
        yk_vec3 offset = def->ports[i].markers[0].offset;
        if (def->ports[i].bodies[0].index == node)
            arm = fmax(arm, yk_v3_norm(yk_v3_sub(offset, center)));
    }
    return arm > 0 ? arm : 1 / def->length_unit;
}

/* Whether a joint with the ground prevents all rotations of a body. */
static bool cannot_rotate(const yk_multibody_description *def, int node)
{
    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        bool holds = joint->kind == YK_JOINT_FIXED || joint->kind == YK_JOINT_PRISMATIC;
        if (joint->kind == YK_JOINT_CUSTOM)
            holds = (joint->constrained_axes & YK_AXES_ROTATION) == YK_AXES_ROTATION;
        int a = joint->bodies[0].index, b = joint->bodies[1].index;
        int other = a == node ? b : a;
        bool own = a == node || b == node;
        if (own && other == YK_GROUND_INDEX && holds)
            return true;
    }
    return false;
}

static yk_status describe_body(const yk_multibody_model *model, int index, yk_rigid_part *part)
{
    const yk_multibody_description *def = &model->def;
    const yk_multibody_node_def *node = &def->nodes[index];

    /* The sum of all bodies on the node. */
    yk_inertia sum = {0};
    for (int i = 0; i < def->body_count; i++) {
        const yk_multibody_body_def *body = &def->bodies[i];
        if (body->node.index != index)
            continue;

        yk_inertia own = yk_inertia_of_body(body->mass, body->center_of_mass, body->inertia,
                                            body->inertia_orientation);
        yk_inertia_add(&sum, &own);
    }
    if (!(sum.mass > 0))
        return yk_fail(model->context, YK_ERROR_CAPABILITY,
                       "'%s' has the node '%s' without mass, and the contact solver divides by the "
                       "mass of every body",
                       def->name, node->name ? node->name : "");

    yk_vec3 center = yk_v3_scale(1 / sum.mass, sum.moment);
    yk_mat3 inertia = yk_m3_sub(sum.tensor, yk_inertia_of_point(sum.mass, center));
    double arm = arm_of(def, index, center);
    double fraction = cannot_rotate(def, index) ? HELD_INERTIA : POINT_INERTIA;
    double least = fraction * sum.mass * arm * arm;
    if (yk_inertia_least(&sum) < 0.5 * least)
        inertia = yk_m3_add(inertia, yk_m3_diagonal(least, least, least));

    yk_quat initial = yk_q_mul(yk_so3_exp(node->initial_rotation), node->orientation);
    *part = (yk_rigid_part){
        .name = node->name,
        .mass = sum.mass,
        .center_of_mass = center,
        .inertia = inertia,
        .position = yk_v3_add(node->position, node->initial_displacement),
        .orientation = initial,
        .velocity = node->velocity,
        .angular_velocity = node->angular_velocity,
    };
    return YK_OK;
}

yk_status yk_multibody_describe_rigid(const yk_subsystem *self, yk_rigid_parts *parts)
{
    const yk_multibody_model *model = &((const yk_multibody *)self)->model;
    const yk_multibody_description *def = &model->def;
    const char *why = obstacle(def);
    if (why)
        return yk_fail(model->context, YK_ERROR_CAPABILITY,
                       "'%s' has %s, which only the multibody solver has, and contact, which only "
                       "the nonsmooth solver has, is in its partner",
                       def->name, why);

    *parts = (yk_rigid_parts){
        .gravity = def->gravity,
        .joints = def->joints,
        .forces = def->forces,
        .ports = def->ports,
        .body_count = def->node_count,
        .joint_count = def->joint_count,
        .force_count = def->force_count,
        .port_count = def->port_count,
    };
    parts->bodies = yk_allocate(model->context, (size_t)def->node_count + 1, sizeof *parts->bodies);
    if (!parts->bodies)
        return YK_ERROR_MEMORY;

    yk_status status = YK_OK;
    for (int i = 0; i < def->node_count && status == YK_OK; i++)
        status = describe_body(model, i, &parts->bodies[i]);
    if (status != YK_OK) {
        yk_free(model->context, parts->bodies);
        parts->bodies = NULL;
    }
    return status;
}
