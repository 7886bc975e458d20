/* Rotations in the spellings that engineers use, all to a unit quaternion (w, x, y, z). */
#include <math.h>
#include <string.h>

#include "math/so3.h"
#include "model/schema.h"

enum { ORDER_XYZ, ORDER_ZYX, ORDER_ZXZ, ORDER_ZYZ, ORDER_COUNT };

static const yk_word orders[] = {
    {"xyz", "about x, then the new y, then the new z"},
    {"zyx", "about z, then the new y, then the new x (yaw, pitch, roll)"},
    {"zxz", "about z, then the new x, then the new z (classical Euler angles)"},
    {"zyz", "about z, then the new y, then the new z"},
    {NULL, NULL},
};

static const yk_field orientation_fields[] = {
    {"quaternion", YK_TYPE_NUMBERS, .least = 4, .most = 4, .text = "unit quaternion [w, x, y, z]"},
    {"axis", YK_TYPE_NUMBERS, .least = 3, .most = 3,
     .text = "axis of a rotation by `angle`, of any length"},
    {"angle", YK_TYPE_NUMBER, "rad", .text = "angle about `axis`; `rad(30)` is 30 degrees"},
    {"vector", YK_TYPE_NUMBERS, "rad", .least = 3, .most = 3,
     .text = "rotation vector: axis times angle"},
    {"euler", YK_TYPE_NUMBERS, "rad", .least = 3, .most = 3,
     .text = "three angles about axes that move along"},
    {"order", YK_TYPE_CHOICE, .words = orders, .text = "axes of `euler`; xyz where it is absent"},
    {"x", YK_TYPE_NUMBERS, .least = 3, .most = 3, .text = "direction of the frame's x axis"},
    {"y", YK_TYPE_NUMBERS, .least = 3, .most = 3,
     .text = "direction of its y axis; made square to the first one given"},
    {"z", YK_TYPE_NUMBERS, .least = 3, .most = 3,
     .text = "direction of its z axis; give two of x, y, z"},
    {0},
};

const yk_section yk_orientation_section = {
    "orientation",
    "A rotation from the frame to the one it is given in: `[w, x, y, z]`, "
    "or a section with one of `quaternion`; `axis` and `angle`; `vector`; "
    "`euler` (and `order`); two of `x`, `y`, `z`.",
    orientation_fields,
};

static yk_quat about(yk_vec3 axis, double angle)
{
    yk_vec3 part = yk_v3_scale(sin(angle / 2), yk_v3_unit(axis));
    return (yk_quat){cos(angle / 2), part.x, part.y, part.z};
}

static yk_quat from_euler(const double *angles, int order)
{
    static const char *const axes[ORDER_COUNT] = {"xyz", "zyx", "zxz", "zyz"};
    yk_quat q = yk_q_identity();
    for (int i = 0; i < 3; i++) {
        char axis = axes[order][i];
        q = yk_q_mul(q, about(yk_v3(axis == 'x', axis == 'y', axis == 'z'), angles[i]));
    }
    return q;
}

static yk_vec3 vector_of(const yk_node *node)
{
    return yk_v3(node->values[0], node->values[1], node->values[2]);
}

/* Two axes of the frame, the second made square to the first; false if they are parallel. */
static bool from_two_axes(const yk_node *const given[3], yk_quat *q)
{
    int first = given[0] ? 0 : 1;
    int second = given[2] ? 2 : 1;
    yk_vec3 axes[3];
    axes[first] = yk_v3_unit(vector_of(given[first]));
    yk_vec3 other = yk_v3_unit(vector_of(given[second]));
    other = yk_v3_axpy(-yk_v3_dot(other, axes[first]), axes[first], other);
    if (yk_v3_norm(axes[first]) == 0 || yk_v3_norm(other) < 1e-6)
        return false;

    axes[second] = yk_v3_unit(other);
    int third = 3 - first - second;
    axes[third] = yk_v3_cross(axes[(third + 1) % 3], axes[(third + 2) % 3]);
    *q = yk_so3_quat(yk_m3_columns(axes[0], axes[1], axes[2]));
    return true;
}

static void fail(yk_resolver *r, yk_node *node, const char *message)
{
    yk_node_error(r->diagnostics, node, "%s", message);
    node->valid = false;
}

static void from_quaternion(yk_resolver *r, yk_node *node, const yk_node *four, yk_quat *q)
{
    *q = (yk_quat){four->values[0], four->values[1], four->values[2], four->values[3]};
    if (fabs(yk_q_norm(*q) - 1) > 1e-3)
        fail(r, node, "a quaternion [w, x, y, z] for a rotation has length 1");
    else
        *q = yk_q_unit(*q);
}

static void from_section(yk_resolver *r, yk_node *node, yk_quat *q)
{
    const yk_node *four = yk_node_get(node, "quaternion"), *axis = yk_node_get(node, "axis");
    const yk_node *angle = yk_node_get(node, "angle"), *vector = yk_node_get(node, "vector");
    const yk_node *euler = yk_node_get(node, "euler"), *order = yk_node_get(node, "order");
    const yk_node *const axes[3] = {yk_node_get(node, "x"), yk_node_get(node, "y"),
                                    yk_node_get(node, "z")};
    int axis_count = !!axes[0] + !!axes[1] + !!axes[2];
    int forms = !!four + (axis || angle) + !!vector + (euler || order) + (axis_count > 0);
    if (forms != 1)
        fail(r, node,
             "give one of: quaternion; axis and angle; vector; euler (and order); two of x, y, z");
    else if (four)
        from_quaternion(r, node, four, q);
    else if (vector)
        *q = about(vector_of(vector), yk_v3_norm(vector_of(vector)));
    else if (euler)
        *q = from_euler(euler->values, order ? order->choice : ORDER_XYZ);
    else if (order)
        fail(r, node, "'order' is for 'euler', which is missing");
    else if (axis_count == 0 && (!axis || !angle))
        fail(r, node,
             axis ? "'angle' in rad is missing beside 'axis'" : "'axis' is missing beside 'angle'");
    else if (axis && yk_v3_norm(vector_of(axis)) == 0)
        fail(r, node, "the axis has no direction: its length is zero");
    else if (axis)
        *q = about(vector_of(axis), angle->value);
    else if (axis_count != 2)
        fail(r, node, "give two of the axes x, y, z; the third follows");
    else if (!from_two_axes(axes, q))
        fail(r, node, "the two axes are parallel, or one has no length");
}

void yk_resolve_orientation(yk_resolver *r, yk_node *node, const yk_field *field)
{
    yk_quat q = yk_q_identity();
    if (node->kind == YK_NODE_MAP) {
        yk_resolve_section(r, node, &yk_orientation_section);
        if (node->valid)
            from_section(r, node, &q);
    } else if (node->kind == YK_NODE_LIST && node->count == 4) {
        yk_resolve(r, node, &orientation_fields[0]);
        if (node->valid)
            from_quaternion(r, node, node, &q);
    } else {
        yk_resolve_mismatch(r, node, field);
    }
    double *values = node->valid ? yk_resolver_take(r, 4 * sizeof *values) : NULL;
    if (!values)
        return;

    memcpy(values, (double[]){q.w, q.x, q.y, q.z}, 4 * sizeof *values);
    node->values = values;
    node->value_count = 4;
}
