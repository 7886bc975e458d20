/* Markers, defaults and simple inertias: the helpers of yoke/mechanics.h with which mechanisms
 * are described. */
#include "math/so3.h"
#include "mechanics/frame.h"

yk_marker yk_marker_default(void)
{
    return yk_marker_at(0, 0, 0);
}

yk_marker yk_marker_at(double x, double y, double z)
{
    return (yk_marker){.offset = {x, y, z}, .orientation = yk_q_identity()};
}

yk_marker yk_marker_along(yk_vec3 origin, yk_vec3 axis)
{
    yk_vec3 x, y, z = yk_v3_unit(axis);
    yk_v3_tangents(z, &x, &y);
    return (yk_marker){.offset = origin, .orientation = yk_so3_quat(yk_m3_columns(x, y, z))};
}

yk_marker yk_marker_between(yk_vec3 origin, yk_vec3 towards)
{
    return yk_marker_along(origin, yk_v3_sub(towards, origin));
}

yk_marker yk_marker_on(yk_marker global, yk_vec3 position, yk_quat orientation)
{
    return (yk_marker){
        .offset = yk_q_rotate_back(orientation, yk_v3_sub(global.offset, position)),
        .orientation = yk_q_unit(yk_q_mul(yk_q_conjugate(orientation), global.orientation)),
    };
}

yk_mat3 yk_inertia_box(double mass, double x, double y, double z)
{
    double twelfth = mass / 12;
    return yk_m3_diagonal(twelfth * (y * y + z * z), twelfth * (z * z + x * x),
                          twelfth * (x * x + y * y));
}

yk_mat3 yk_inertia_sphere(double mass, double radius)
{
    double moment = 0.4 * mass * radius * radius;
    return yk_m3_diagonal(moment, moment, moment);
}

yk_mat3 yk_inertia_cylinder(double mass, double radius, double length)
{
    double across = mass * (3 * radius * radius + length * length) / 12;
    return yk_m3_diagonal(across, across, 0.5 * mass * radius * radius);
}

yk_joint_def yk_joint_default(void)
{
    return (yk_joint_def){
        .kind = YK_JOINT_CLAMP,
        .body = {YK_GROUND, YK_GROUND},
        .marker = {yk_marker_default(), yk_marker_default()},
        .drive_unit = 1,
    };
}

yk_joint_def yk_joint_named(const char *name, yk_joint_kind kind, int body_a, int body_b)
{
    yk_joint_def def = yk_joint_default();
    def.name = name;
    def.kind = kind;
    def.body[0] = body_a;
    def.body[1] = body_b;
    return def;
}

yk_joint_def yk_joint_at(const char *name, yk_joint_kind kind, int body_a, int body_b,
                         yk_marker global)
{
    yk_joint_def def = yk_joint_named(name, kind, body_a, body_b);
    def.marker[0] = global;
    def.global = true;
    return def;
}

yk_force_def yk_force_default(void)
{
    return (yk_force_def){
        .kind = YK_FORCE_VECTOR,
        .body = {YK_GROUND, YK_GROUND},
        .marker = {yk_marker_default(), yk_marker_default()},
        .input = YK_NO_ID,
        .load_unit = 1,
    };
}

yk_port_def yk_port_default(void)
{
    return (yk_port_def){
        .kind = YK_PORT_MARKER,
        .body = {YK_GROUND, YK_GROUND},
        .marker = {yk_marker_default(), yk_marker_default()},
    };
}

yk_port_def yk_marker_port(const char *name, int body, yk_marker marker)
{
    yk_port_def port = yk_port_default();
    port.name = name;
    port.body[0] = body;
    port.marker[0] = marker;
    return port;
}

yk_port_def yk_distance_port(const char *name, int body_a, yk_marker marker_a, int body_b,
                             yk_marker marker_b)
{
    return (yk_port_def){
        .name = name,
        .kind = YK_PORT_SCALAR,
        .body = {body_a, body_b},
        .marker = {marker_a, marker_b},
    };
}

yk_port_def yk_signal_port(const char *name)
{
    yk_port_def port = yk_port_default();
    port.name = name;
    port.kind = YK_PORT_SIGNAL;
    return port;
}
