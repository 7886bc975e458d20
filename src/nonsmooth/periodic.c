/* Space that repeats itself: whether the solids of a model allow for it.
 *
 * Positions are not changed by it. A contact is that of the images nearest to each other (the minimum
 * image convention; Allen, Tildesley 1987): the second one is shifted by whole periods towards the
 * first, in the broad phase (broad.h) and in the search (search.c), and its contact points are given
 * on the body itself, so that nothing behind the search knows of it. That is right as long as no
 * second image can be near, and walls look the same from every period. */
#include "nonsmooth/model.h"
#include "nonsmooth/solids/solid.h"

/* Cosine of an angle that counts as right. */
static const double SQUARE = 1e-9;

static const char axis_names[3] = {'x', 'y', 'z'};

static double component(yk_vec3 v, int axis)
{
    if (axis == 0)
        return v.x;
    return axis == 1 ? v.y : v.z;
}

/* Whether the motion of the body that a part is on leaves its walls along the periods. */
static bool keeps_orientation(const yk_world_model *model, const yk_part *part)
{
    if (part->body < 0 || model->bodies[part->body].drive == YK_FIXED)
        return true;
    if (model->bodies[part->body].drive != YK_PRESCRIBED_BY_FUNCTION)
        return false;

    for (size_t i = 0; i < model->prescription_count; i++) {
        const yk_prescription *motion = &model->prescriptions[i];
        if (motion->body != model->body_of[part->body])
            continue;

        bool turns = motion->function != NULL;
        for (int k = 0; k < 3; k++)
            turns = turns || motion->path.rotation[k].value;
        return !turns;
    }

    return false;
}

/* Whether the walls of a plane or cavity are the same all along an axis. */
static bool runs_along(const yk_world_model *model, const yk_part *part, int axis)
{
    const yk_part_geometry *geometry = &model->geometries[part->geometry];
    yk_solid solid = yk_world_part_solid(model, part);
    yk_quat orientation = geometry->orientation;
    if (part->body >= 0)
        orientation = yk_q_mul(model->initial[model->body_of[part->body]].orientation, orientation);
    solid.rotation = yk_q_matrix(orientation);

    /* From two places, between which a curved wall is not the same unless it runs along. */
    const yk_vec3 places[2] = {{0.3, 0.5, 0.7}, {-0.6, 0.4, 0.2}};
    const yk_solid_ops *ops = yk_solid_ops_of(solid.kind);
    for (uint32_t wall = 0; wall < YK_WALLS; wall++) {
        for (int k = 0; k < 2 && ops->walls >> wall & 1; k++) {
            double height;
            yk_vec3 inward;
            if (ops->wall(&solid, wall, places[k], &height, &inward) &&
                fabs(component(inward, axis)) > SQUARE)
                return false;
        }
    }

    return true;
}

static yk_status check_axis(const yk_world_model *model, int axis)
{
    yk_context *context = model->context;
    double period = component(model->period, axis);
    char name = axis_names[axis];

    /* Balls of the two largest solids of different bodies. */
    double largest[2] = {0, 0};
    int32_t owner = -2;
    for (size_t i = 0; i < model->finite_count; i++) {
        const yk_part *part = &model->parts[i];
        double radius = yk_world_part_radius(model, part);
        if (part->body == owner && owner >= 0) {
            largest[0] = fmax(largest[0], radius);
        } else if (radius > largest[0]) {
            largest[1] = largest[0];
            largest[0] = radius;
            owner = part->body;
        } else {
            largest[1] = fmax(largest[1], radius);
        }

        /* A body must not meet its own image. */
        double reach = radius;
        if (part->geometry >= 0)
            reach += yk_v3_norm(model->geometries[part->geometry].position);
        if (yk_world_is_dynamic(model, part->body) && 2 * reach > 0.5 * period)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "space repeats itself every %g m along %c, and a body is up to %g m "
                           "long: at most half of the period is possible",
                           period, name, 2 * reach);
    }

    /* As far as the list of near pairs reaches. */
    double margin = YK_REACH_AHEAD * fmax(model->envelope, model->smallest_radius) +
                    fmax(YK_SKIN_MOST * model->smallest_radius, model->def.skin);
    double least = 2 * (largest[0] + largest[1] + margin);
    if (model->finite_count > 0 && period < least)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "space repeats itself every %g m along %c, and the largest solids are %g m "
            "and %g m across: the period must be at least %g m, so that only one image of "
            "a solid is near another one; take planes for what is larger",
            period, name, 2 * largest[0], 2 * largest[1], least);

    for (size_t i = model->finite_count; i < model->part_count; i++) {
        const yk_part *part = &model->parts[i];
        if (!runs_along(model, part, axis))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "space repeats itself along %c, and shape %d, a %s, is not the same all "
                           "along it: turn it, or leave walls across that direction out",
                           name, part->shape, yk_solid_ops_of(part->kind)->name);
        if (!keeps_orientation(model, part))
            return yk_fail(
                context, YK_ERROR_ARGUMENT,
                "space repeats itself along %c, and shape %d, a %s, is on a body that may "
                "turn: put it on the ground, or on a body whose rotation is not "
                "prescribed",
                name, part->shape, yk_solid_ops_of(part->kind)->name);
    }

    return YK_OK;
}

yk_status yk_world_freeze_period(yk_world_model *model)
{
    const yk_periodic *periodic = &model->def.periodic;
    model->period = yk_v3_sub(periodic->high, periodic->low);
    model->periodic = false;

    for (int axis = 0; axis < 3; axis++) {
        double period = component(model->period, axis);
        if (period == 0)
            continue;
        if (!(period > 0 && isfinite(period)))
            return yk_fail(model->context, YK_ERROR_ARGUMENT,
                           "space is to repeat itself along %c from %g m to %g m: the second must "
                           "be larger",
                           axis_names[axis], component(periodic->low, axis),
                           component(periodic->high, axis));

        model->periodic = true;
        yk_status status = check_axis(model, axis);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}
