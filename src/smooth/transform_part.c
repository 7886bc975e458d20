/* A part of a merged model in the units and axes of the whole, paper tight (20): a point that the
 * part calls x is at p + Q (l x) of the whole, and its unit of mass is m. Everything that the def
 * names in global axes turns by Q; what it names in the axes of a node does not. The channels of
 * the part are read in its own units and axes again. */
#include "smooth/transform_part.h"

#include "math/so3.h"

static yk_vec3 vector_of(const yk_transform *at, double unit, yk_vec3 v)
{
    return yk_v3_scale(unit, yk_q_rotate(at->orientation, v));
}

static yk_vec3 point_of(const yk_transform *at, yk_vec3 x)
{
    return yk_v3_add(at->position, vector_of(at, at->length, x));
}

/* Markers are fixed to a node, whose axes turn with the part, or to the ground, whose do not. */
static void place_marker(const yk_transform *at, int node, yk_marker *marker)
{
    if (node != YK_GROUND) {
        marker->offset = yk_v3_scale(at->length, marker->offset);
        return;
    }

    marker->offset = point_of(at, marker->offset);
    marker->orientation = yk_q_mul(at->orientation, marker->orientation);
}

/* Stiffness or damping between six motions and six loads, translations first. */
static void scale_pairs(double force_by_length, double force, double torque, double matrix[6][6])
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            /* Between a translation and a torque, and the other way round. */
            double unit = force;
            if (i < 3 && j < 3)
                unit = force_by_length;
            if (i >= 3 && j >= 3)
                unit = torque;
            matrix[i][j] *= unit;
        }
    }
}

void yk_smooth_convert_node(const yk_transform *at, yk_smooth_node_def *node)
{
    node->position = point_of(at, node->position);
    node->orientation = yk_q_mul(at->orientation, node->orientation);
    node->displacement = vector_of(at, at->length, node->displacement);
    node->rotation = vector_of(at, 1, node->rotation);
    node->velocity = vector_of(at, at->length, node->velocity);
    node->angular_velocity = vector_of(at, 1, node->angular_velocity);
}

void yk_smooth_convert_body(const yk_transform *at, yk_smooth_body_def *body)
{
    body->mass *= at->mass;
    body->centre = yk_v3_scale(at->length, body->centre);
    body->inertia = yk_m3_scale(at->mass * at->length * at->length, body->inertia);
}

void yk_smooth_convert_joint(const yk_transform *at, yk_joint_def *joint)
{
    for (int side = 0; side < 2; side++)
        place_marker(at, joint->body[side], &joint->marker[side]);

    /* Lengths, and drives that are lengths. */
    joint->length *= at->length;
    if (!yk_joint_traits_of(joint->kind)->drive.angular)
        joint->drive_unit *= at->length;
}

void yk_smooth_convert_force(const yk_transform *at, yk_force_def *force)
{
    const yk_force_traits *traits = yk_force_traits_of(force->kind);
    double newton = at->mass * at->length;
    double newton_metre = newton * at->length;

    for (int side = 0; side < 2; side++)
        place_marker(at, force->body[side], &force->marker[side]);

    /* Coefficients by an angle or by a length. */
    double coefficient = at->mass;
    if (traits->torque)
        coefficient = newton_metre;
    force->stiffness *= coefficient;
    force->damping *= coefficient;
    if (!traits->torque)
        force->free *= at->length;

    scale_pairs(at->mass, newton, newton_metre, force->bushing_stiffness);
    scale_pairs(at->mass, newton, newton_metre, force->bushing_damping);

    /* The load is a factor of the vector, if there is one. */
    double unit = traits->torque ? newton_metre : newton;
    if (!traits->vector) {
        force->load_unit *= unit;
    } else if (traits->follows) {
        force->vector = yk_v3_scale(unit, force->vector);
    } else {
        force->vector = vector_of(at, unit, force->vector);
    }
}

/* Resultants of a section from strains without unit and from curvatures per length. */
void yk_smooth_convert_beam(const yk_transform *at, yk_smooth_beam_def *beam)
{
    double newton = at->mass * at->length;
    double newton_metre = newton * at->length;

    for (int i = 0; i < YK_BEAM_NODES; i++)
        beam->offset[i] = yk_v3_scale(at->length, beam->offset[i]);

    /* Stiffness per length, mass and inertia per length. */
    for (int i = 0; i < YK_BEAM_POINTS; i++) {
        yk_beam_section *section = &beam->section[i];
        scale_pairs(newton, newton_metre, newton_metre * at->length, section->stiffness);
        scale_pairs(newton, newton_metre, newton_metre * at->length, section->damping);
        section->mass *= at->mass / at->length;
        section->centre = yk_v3_scale(at->length, section->centre);
        section->inertia = yk_m3_scale(newton, section->inertia);
    }
}

void yk_smooth_convert_flexible(const yk_transform *at, yk_smooth_flexible_def *flexible)
{
    flexible->position = point_of(at, flexible->position);
    flexible->orientation = yk_q_mul(at->orientation, flexible->orientation);
    flexible->velocity = vector_of(at, at->length, flexible->velocity);
    flexible->angular_velocity = vector_of(at, 1, flexible->angular_velocity);
    flexible->curvature = yk_v3_scale(1 / at->length, flexible->curvature);
}

void yk_smooth_convert_shape(const yk_transform *at, yk_smooth_shape_def *shape)
{
    place_marker(at, shape->node, &shape->marker);
    shape->size = yk_v3_scale(at->length, shape->size);
}

void yk_smooth_convert_port(const yk_transform *at, yk_port_def *port)
{
    for (int side = 0; side < 2; side++)
        place_marker(at, port->body[side], &port->marker[side]);
}

yk_vec3 yk_smooth_convert_gravity(const yk_transform *at, yk_vec3 gravity)
{
    return vector_of(at, at->length, gravity);
}

/* Back to the part ----------------------------------------------------------------------------- */

static void rotate_back(const yk_transform *at, double unit, double *values)
{
    yk_vec3 v = yk_q_rotate_back(at->orientation, yk_v3(values[0], values[1], values[2]));

    values[0] = v.x / unit;
    values[1] = v.y / unit;
    values[2] = v.z / unit;
}

void yk_smooth_quantity_of_part(const yk_transform *at, yk_smooth_quantity quantity, int components,
                                double *values)
{
    double newton = at->mass * at->length;
    double newton_metre = newton * at->length;
    double unit = 1;

    switch (quantity) {
    case YK_QUANTITY_POINT:
        values[0] -= at->position.x;
        values[1] -= at->position.y;
        values[2] -= at->position.z;
        rotate_back(at, at->length, values);
        return;
    case YK_QUANTITY_ORIENTATION: {
        yk_quat q = {values[0], values[1], values[2], values[3]};
        q = yk_q_mul(yk_q_conjugate(at->orientation), q);
        values[0] = q.w;
        values[1] = q.x;
        values[2] = q.y;
        values[3] = q.z;
        return;
    }
    case YK_QUANTITY_VELOCITY: rotate_back(at, at->length, values); return;
    case YK_QUANTITY_ANGULAR_VELOCITY: rotate_back(at, 1, values); return;
    case YK_QUANTITY_FORCE: rotate_back(at, newton, values); return;
    case YK_QUANTITY_TORQUE: rotate_back(at, newton_metre, values); return;
    case YK_QUANTITY_LENGTH: unit = at->length; break;
    case YK_QUANTITY_OWN_FORCE: unit = newton; break;
    case YK_QUANTITY_OWN_TORQUE:
    case YK_QUANTITY_ENERGY: unit = newton_metre; break;
    case YK_QUANTITY_NUMBER: break;
    }

    /* Numbers without axes. */
    for (int i = 0; i < components; i++)
        values[i] /= unit;
}
