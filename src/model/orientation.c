/* Rotations in common notations, converted to a unit quaternion (w, x, y, z). */
#include <math.h>

#include "math/so3.h"
#include "model/schema.h"

enum { ORDER_XYZ, ORDER_ZYX, ORDER_ZXZ, ORDER_ZYZ, ORDER_COUNT };

static const yk_option_choice orders[] = {
    {"xyz", "about x, then the new y, then the new z"},
    {"zyx", "about z, then the new y, then the new x (yaw, pitch, roll)"},
    {"zxz", "about z, then the new x, then the new z (classical Euler angles)"},
    {"zyz", "about z, then the new y, then the new z"},
    {NULL, NULL},
};

static const yk_option orientation_fields[] = {
    {"quaternion", YK_OPTION_NUMBERS, .min_count = 4, .max_count = 4,
     .description = "unit quaternion [w, x, y, z]"},
    {"axis", YK_OPTION_NUMBERS, .min_count = 3, .max_count = 3,
     .description = "axis of a rotation by `angle`, of any length"},
    {"angle", YK_OPTION_NUMBER, "rad",
     .description = "angle about `axis`; `rad(30)` is 30 degrees"},
    {"rotation_vector", YK_OPTION_NUMBERS, "rad", .min_count = 3, .max_count = 3,
     .description = "rotation vector: axis times angle"},
    {"euler", YK_OPTION_NUMBERS, "rad", .min_count = 3, .max_count = 3,
     .description = "three angles about axes that move along"},
    {"euler_order", YK_OPTION_CHOICE, .choices = orders,
     .description = "axes of `euler`; xyz where it is absent"},
    {"x", YK_OPTION_NUMBERS, .min_count = 3, .max_count = 3,
     .description = "direction of the frame's x axis"},
    {"y", YK_OPTION_NUMBERS, .min_count = 3, .max_count = 3,
     .description = "direction of its y axis; made square to the first one given"},
    {"z", YK_OPTION_NUMBERS, .min_count = 3, .max_count = 3,
     .description = "direction of its z axis; give two of x, y, z"},
    {0},
};

const yk_option_section yk_orientation_section = {
    "orientation",
    "A rotation from the frame to the one it is given in: "
    "`[w, x, y, z]`, or a section with one of `quaternion`; `axis` and `angle`; `rotation_vector`; "
    "`euler` (and `euler_order`); two of `x`, `y`, `z`.",
    orientation_fields,
};

static yk_quat about(yk_vec3 axis, double angle)
{
    yk_vec3 part = yk_v3_scale(sin(angle / 2), yk_v3_unit(axis));
    return (yk_quat){cos(angle / 2), part.x, part.y, part.z};
}

static yk_vec3 vector_of(const yk_node *node)
{
    return yk_v3(node->values[0], node->values[1], node->values[2]);
}

/* Two axes of the frame, the second orthogonalized with respect to the first; false if they are
 * parallel. */
static bool from_two_axes(const yk_node *const given[3], yk_quat *q)
{
    /* Which two are given; the third follows from both. */
    int first = given[0] ? 0 : 1;
    int second = given[2] ? 2 : 1;
    int third = 3 - first - second;
    yk_vec3 axes[3];
    axes[first] = yk_v3_unit(vector_of(given[first]));

    /* The part of the second that is square to the first. */
    yk_vec3 other = yk_v3_unit(vector_of(given[second]));
    other = yk_v3_axpy(-yk_v3_dot(other, axes[first]), axes[first], other);
    if (yk_v3_norm(axes[first]) == 0 || yk_v3_norm(other) < 1e-6)
        return false;

    axes[second] = yk_v3_unit(other);
    axes[third] = yk_v3_cross(axes[(third + 1) % 3], axes[(third + 2) % 3]);
    *q = yk_so3_quat(yk_m3_columns(axes[0], axes[1], axes[2]));

    return true;
}

/* From a resolved list of four; returns NULL, or the error. */
static const char *from_quaternion(const yk_node *four, yk_quat *q)
{
    const double *v = four->values;
    *q = (yk_quat){v[0], v[1], v[2], v[3]};
    if (fabs(yk_q_norm(*q) - 1) > 1e-3)
        return "a quaternion [w, x, y, z] for a rotation has length 1";

    *q = yk_q_unit(*q);
    return NULL;
}

/* From a resolved section; returns NULL, or the error. */
static const char *from_section(const yk_node *node, yk_quat *q)
{
    const yk_node *four = yk_node_get(node, "quaternion");
    const yk_node *axis = yk_node_get(node, "axis");
    const yk_node *angle = yk_node_get(node, "angle");
    const yk_node *vector = yk_node_get(node, "rotation_vector");
    const yk_node *euler = yk_node_get(node, "euler");
    const yk_node *order = yk_node_get(node, "euler_order");
    const yk_node *const axes[3] = {
        yk_node_get(node, "x"),
        yk_node_get(node, "y"),
        yk_node_get(node, "z"),
    };

    /* One spelling of several. */
    int axis_count = !!axes[0] + !!axes[1] + !!axes[2];
    int forms = !!four + (axis || angle) + !!vector + (euler || order) + (axis_count > 0);
    if (forms != 1)
        return "give one of: quaternion; axis and angle; rotation_vector; "
               "euler (and euler_order); two of x, y, z";
    if (four)
        return from_quaternion(four, q);
    if (vector) {
        *q = about(vector_of(vector), yk_v3_norm(vector_of(vector)));
        return NULL;
    }

    /* Three angles about axes that rotate along. */
    if (order && !euler)
        return "'euler_order' is for 'euler', which is missing";
    if (euler) {
        static const char *const names[ORDER_COUNT] = {"xyz", "zyx", "zxz", "zyz"};
        const char *name = names[order ? order->choice : ORDER_XYZ];
        for (int i = 0; i < 3; i++) {
            yk_vec3 unit = yk_v3(name[i] == 'x', name[i] == 'y', name[i] == 'z');
            *q = yk_q_mul(*q, about(unit, euler->values[i]));
        }

        return NULL;
    }

    if (axis && !angle)
        return "'angle' in rad is missing next to 'axis'";
    if (angle && !axis)
        return "'axis' is missing next to 'angle'";
    if (axis && yk_v3_norm(vector_of(axis)) == 0)
        return "the axis has no direction: its length is zero";
    if (axis) {
        *q = about(vector_of(axis), angle->value);
        return NULL;
    }

    if (axis_count != 2)
        return "give two of the axes x, y, z; the third follows";
    if (!from_two_axes(axes, q))
        return "the two axes are parallel, or one has no length";

    return NULL;
}

void yk_resolve_orientation(yk_resolver *r, yk_node *node, const yk_option *field)
{
    yk_quat q = yk_q_identity();
    const char *mistake = NULL;

    /* A section in one of the notations, or the quaternion itself. */
    if (node->kind == YK_NODE_MAP) {
        yk_resolve_section(r, node, &yk_orientation_section);
        if (node->valid)
            mistake = from_section(node, &q);
    } else if (node->kind == YK_NODE_LIST && node->count == 4) {
        yk_resolve(r, node, &orientation_fields[0]);
        if (node->valid)
            mistake = from_quaternion(node, &q);
    } else {
        yk_resolve_mismatch(r, node, field);
    }

    /* The error refers to the whole section. */
    if (mistake) {
        yk_node_error(r->diagnostics, node, "%s", mistake);
        node->valid = false;
    }

    if (!node->valid)
        return;

    /* In the order w, x, y, z. */
    double *values = yk_resolver_take(r, 4 * sizeof *values);
    if (!values)
        return;

    values[0] = q.w;
    values[1] = q.x;
    values[2] = q.y;
    values[3] = q.z;
    node->values = values;
    node->value_count = 4;
}
