/* A mechanism as a stick figure, where it has no shapes of its own: beams, arms from nodes to
 * joints and springs as lines; and the places of all joints. */
#include "smooth/internal.h"

typedef struct stick_list {
    yk_shape *list;
    int count, capacity;
} stick_list;

/* Frames of flexible bodies are drawn with them. */
static bool has_shape(const yk_smooth_description *def, int node)
{
    if (node < 0 || node >= def->node_count)
        return true;

    for (int i = 0; i < def->shape_count; i++)
        if (def->shapes[i].node == node)
            return true;
    return false;
}

static yk_vec3 point_on(const yk_smooth *smooth, int node, yk_vec3 offset)
{
    yk_motion motion;
    yk_marker marker = {.offset = offset, .orientation = {1, 0, 0, 0}};
    yk_smooth_marker_motion(smooth, node, &marker, &motion);
    return motion.position;
}

static void add(stick_list *s, yk_shape_kind kind, yk_vec3 from, yk_vec3 to)
{
    yk_shape shape = {
        .kind = kind, .position = from, .orientation = {1, 0, 0, 0}, .size = yk_v3_sub(to, from)};
    if (kind != YK_SHAPE_JOINT && yk_v3_norm(shape.size) == 0)
        return;
    if (s->count < s->capacity)
        s->list[s->count] = shape;
    s->count++;
}

int yk_smooth_sticks(const yk_smooth *smooth, yk_shape *list, int capacity)
{
    const yk_smooth_description *def = yk_smooth_definition(smooth);
    const yk_vec3 origin = {0, 0, 0};
    stick_list s = {.list = list, .capacity = capacity};

    /* Beams through their three nodes. */
    for (int i = 0; i < def->beam_count; i++) {
        const yk_smooth_beam_def *beam = &def->beams[i];
        for (int k = 0; k + 1 < YK_BEAM_NODES; k++) {
            if (has_shape(def, beam->node[k]) || has_shape(def, beam->node[k + 1]))
                continue;

            add(&s, YK_SHAPE_LINE, point_on(smooth, beam->node[k], beam->offset[k]),
                point_on(smooth, beam->node[k + 1], beam->offset[k + 1]));
        }
    }

    /* Rigid bodies as arms from their node to the joints and to the centre of mass. */
    for (int i = 0; i < def->body_count; i++) {
        const yk_smooth_body_def *body = &def->bodies[i];
        if (has_shape(def, body->node))
            continue;

        add(&s, YK_SHAPE_LINE, point_on(smooth, body->node, origin),
            point_on(smooth, body->node, body->centre));
    }

    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        for (int side = 0; side < 2; side++) {
            int node = joint->body[side];
            if (has_shape(def, node))
                continue;

            add(&s, YK_SHAPE_LINE, point_on(smooth, node, origin),
                point_on(smooth, node, joint->marker[side].offset));
        }
    }

    for (int i = 0; i < def->port_count; i++) {
        const yk_port_def *port = &def->ports[i];
        if (port->kind == YK_PORT_SIGNAL || has_shape(def, port->body[0]))
            continue;

        add(&s, YK_SHAPE_LINE, point_on(smooth, port->body[0], origin),
            point_on(smooth, port->body[0], port->marker[0].offset));
    }

    /* Modal bodies from their floating frame from place to place, where they have no outline;
     * rods have a line of their own. */
    for (int i = 0; i < def->attachment_count; i++) {
        int flexible = def->attachments[i].flexible;
        int node = def->node_count + i;
        const yk_flexible *body = def->flexibles[flexible].body;
        if (body->kind != YK_FLEXIBLE_MODAL || body->outline > 1)
            continue;

        bool first = i == 0 || def->attachments[i - 1].flexible != flexible;
        int before = first ? def->flexibles[flexible].node : node - 1;
        add(&s, YK_SHAPE_LINE, point_on(smooth, before, origin), point_on(smooth, node, origin));
    }

    /* Springs and other forces between two markers, with arms to them. */
    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        if (!yk_force_on_both(force->kind))
            continue;

        for (int side = 0; side < 2; side++) {
            int node = force->body[side];
            if (has_shape(def, node))
                continue;

            add(&s, YK_SHAPE_LINE, point_on(smooth, node, origin),
                point_on(smooth, node, force->marker[side].offset));
        }

        add(&s, YK_SHAPE_EDGE, point_on(smooth, force->body[0], force->marker[0].offset),
            point_on(smooth, force->body[1], force->marker[1].offset));
    }

    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        yk_vec3 attachment = point_on(smooth, joint->body[1], joint->marker[1].offset);
        add(&s, YK_SHAPE_JOINT, attachment, attachment);
    }

    return s.count;
}
