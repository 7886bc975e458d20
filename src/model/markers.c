/* Markers of pairs, inertia of bodies and what sets them in motion, in the spellings that
 * mechanical models share. */
#include <string.h>

#include "math/so3.h"
#include "mechanics/inertia.h"
#include "model/mechanics_words.h"

/* A frame that is given globally, as a marker of the body. */
static yk_marker seen_from(const yk_body_pose *body, yk_vec3 position, yk_quat orientation)
{
    return (yk_marker){
        .offset = yk_q_rotate_back(body->orientation, yk_v3_sub(position, body->position)),
        .orientation = yk_q_unit(yk_q_mul(yk_q_conjugate(body->orientation), orientation))};
}

yk_status yk_read_axis(yk_builder *builder, const yk_node *axis, yk_quat *frame)
{
    yk_vec3 z = yk_v3(axis->values[0], axis->values[1], axis->values[2]), x, y;
    if (yk_v3_norm(z) == 0)
        return yk_builder_error(builder, axis, "the axis has no length");
    yk_v3_tangents(yk_v3_unit(z), &x, &y);
    *frame = yk_so3_quat(yk_m3_columns(x, y, yk_v3_unit(z)));
    return YK_OK;
}

yk_status yk_read_markers(yk_builder *builder, const yk_node *item, const yk_body_pose poses[2],
                          yk_marker markers[2])
{
    const yk_node *given = yk_node_get(item, "markers"), *at = yk_node_get(item, "at");
    const yk_node *axis = yk_node_get(item, "axis"),
                  *orientation = yk_node_get(item, "orientation");
    if (given && (at || axis || orientation))
        return yk_builder_error(builder, given,
                                "give either 'markers', or 'at' with 'axis' or 'orientation'");
    if (axis && orientation)
        return yk_builder_error(builder, axis, "give either 'axis' or 'orientation'");
    yk_quat frame = orientation ? yk_node_orientation(item, "orientation") : yk_q_identity();
    yk_status status = axis ? yk_read_axis(builder, axis, &frame) : YK_OK;
    for (int side = 0; side < 2; side++) {
        if (given) {
            const yk_node *one = yk_node_at(given, side);
            markers[side] =
                (yk_marker){yk_node_vector(one, "offset"), yk_node_orientation(one, "orientation")};
        } else {
            yk_vec3 place = at ? yk_node_vector(item, "at") : poses[side].position;
            markers[side] = seen_from(&poses[side], place, frame);
        }
    }
    return status;
}

yk_status yk_read_inertia(yk_builder *builder, const yk_node *inertia, yk_mat3 *tensor)
{
    char why[240];
    memcpy(tensor->m, inertia->values, sizeof tensor->m);
    if (yk_inertia_possible(tensor, why, sizeof why))
        return YK_OK;
    return yk_builder_error(builder, inertia, "no body has this inertia tensor: %s", why);
}

static bool any_number(const yk_node *item, const char *key)
{
    const yk_node *values = yk_node_get(item, key);
    for (int i = 0; values && i < values->value_count; i++)
        if (values->values[i] != 0)
            return true;
    return false;
}

bool yk_mechanism_rests(const yk_node *section)
{
    static const char *const movers[] = {"nodes", "bodies", "flexible", "particles"};
    static const char *const motions[] = {"velocity", "angular_velocity", "displacement",
                                          "rotation", "amplitudes",       "amplitude_rates",
                                          "curvature"};
    static const char *const drives[] = {"angle", "distance", "length", "rate"};
    const yk_node *forces = yk_node_get(section, "forces"),
                  *joints = yk_node_get(section, "joints");
    if (any_number(section, "gravity") || (forces && forces->count > 0))
        return false;

    for (const yk_node *joint = joints ? joints->first : NULL; joint; joint = joint->next)
        for (size_t k = 0; k < sizeof drives / sizeof *drives; k++)
            if (yk_node_get(joint, drives[k]))
                return false;

    for (size_t m = 0; m < sizeof movers / sizeof *movers; m++) {
        const yk_node *list = yk_node_get(section, movers[m]);
        for (const yk_node *item = list ? list->first : NULL; item; item = item->next) {
            if (yk_node_get(item, "motion"))
                return false;
            for (size_t k = 0; k < sizeof motions / sizeof *motions; k++)
                if (any_number(item, motions[k]))
                    return false;
        }
    }
    return true;
}
