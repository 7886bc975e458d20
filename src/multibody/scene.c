/* Geometry of a mechanism for pictures: its shapes, or a stick figure of beams, arms from nodes to
 * joints, and springs if it has none.
 *
 * The bodies of the scene are the nodes of the def, then the attachments of flexible bodies, so
 * that the index of a node is that of its body; then the points of the lines of flexible bodies,
 * body after body. */
#include "multibody/multibody.h"

/* Bodies --------------------------------------------------------------------------------------- */

int yk_multibody_scene_bodies(const yk_multibody *self, yk_scene_body *list, int capacity)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_description *def = &model->def;
    int count = 0;
    if (!self->compiled)
        return 0;

    /* Nodes. Those of beams can be colored by their strain. */
    for (int i = 0; i < def->node_count; i++) {
        const yk_multibody_node_def *node = &def->nodes[i];
        bool strained = false;
        for (int b = 0; b < def->beam_count && !strained; b++) {
            for (int k = 0; k < YK_BEAM_NODE_COUNT; k++)
                strained = strained || def->beams[b].nodes[k].index == i;
        }

        yk_scene_body body = {.name = node->name,
                              .motion = YK_SCENE_MOTION_FULL,
                              .part_index = node->part,
                              .has_strain = strained};
        if (count < capacity)
            list[count] = body;
        count++;
    }

    /* Attachments of flexible bodies. */
    for (int i = 0; i < def->attachment_count; i++) {
        const yk_multibody_attachment_def *attachment = &def->attachments[i];
        yk_scene_body body = {.name = attachment->name,
                              .motion = YK_SCENE_MOTION_FULL,
                              .part_index = def->flexibles[attachment->flexible].part};

        if (count < capacity)
            list[count] = body;
        count++;
    }

    /* Points of their lines. */
    for (int i = 0; i < def->flexible_count; i++) {
        yk_scene_body body = {.motion = YK_SCENE_MOTION_POINT,
                              .part_index = def->flexibles[i].part};
        int points = yk_multibody_outline(model, i);
        for (int k = 0; k < points; k++) {
            if (count < capacity)
                list[count] = body;
            count++;
        }
    }

    return count;
}

void yk_multibody_scene_poses(const yk_multibody *self, yk_scene_pose *list)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_description *def = &model->def;
    int count = def->node_count + def->attachment_count;

    /* Nodes and attachments. */
    for (int i = 0; i < count; i++) {
        yk_motion motion;
        yk_multibody_motion(self, i, &motion);
        list[i] = (yk_scene_pose){.position = motion.position, .orientation = motion.orientation};
    }

    /* The strains of a beam are known at two points between its nodes: the ends use that of the
     * nearer point, the middle node the mean. */
    for (int i = 0; i < def->beam_count; i++) {
        const yk_multibody_beam_def *beam = &def->beams[i];
        const yk_beam *element = &model->beams[i].beam;
        yk_beam_loads loads;
        yk_multibody_beam_loads(self, i, &loads);

        /* The strain of a tension with the same energy. */
        double strain[YK_BEAM_SECTION_COUNT];
        for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++) {
            const yk_beam_point *point = &element->point[p];
            double density = 0;
            for (int r = 0; r < 6; r++) {
                for (int c = 0; c < 6; c++)
                    density += loads.strain[p][r] * point->stiffness[r][c] * loads.strain[p][c];
            }
            strain[p] = sqrt(fmax(density, 0) / point->stiffness[0][0]);
        }

        /* If elements share a node, it shows the larger strain. */
        const double at[YK_BEAM_NODE_COUNT] = {strain[0], 0.5 * (strain[0] + strain[1]), strain[1]};
        for (int k = 0; k < YK_BEAM_NODE_COUNT; k++) {
            int node = beam->nodes[k].index;
            if (node >= 0 && node < def->node_count)
                list[node].strain = fmax(list[node].strain, at[k]);
        }
    }
    /* Points of the lines. */
    for (int i = 0; i < def->flexible_count; i++) {
        int points = yk_multibody_outline(model, i);
        for (int k = 0; k < points; k++) {
            yk_vec3 position = yk_multibody_outline_point(model, &self->work, i, k);
            list[count++] = (yk_scene_pose){.position = position, .orientation = yk_q_identity()};
        }
    }
}

/* Shapes --------------------------------------------------------------------------------------- */

typedef struct shape_list {
    yk_shape *list;
    int count, capacity;
} shape_list;

/* Frames of flexible bodies are drawn with them. */
static bool has_shape(const yk_multibody_description *def, int node)
{
    if (node < 0 || node >= def->node_count)
        return true;

    for (int i = 0; i < def->shape_count; i++) {
        if (def->shapes[i].node.index == node)
            return true;
    }
    return false;
}

static void add_shape(shape_list *s, const yk_shape *shape)
{
    if (s->count < s->capacity)
        s->list[s->count] = *shape;
    s->count++;
}

/* From a point on one body to a point on another, or on the same. */
static void add_line(shape_list *s, yk_shape_kind kind, const char *name, int body, yk_vec3 from,
                     int end, yk_vec3 to)
{
    yk_shape line = {.kind = kind,
                     .name = name,
                     .body = body,
                     .end_body = end,
                     .position = from,
                     .orientation = yk_q_identity(),
                     .size = to};

    /* On one body the end is relative to the beginning; a line of zero length is left out. */
    if (body == end) {
        line.size = yk_v3_sub(to, from);
        if (yk_v3_norm(line.size) == 0)
            return;
    }

    add_shape(s, &line);
}

/* The arm of a body without shapes, from its node to a point on it. */
static void add_arm(shape_list *s, const yk_multibody_description *def, int node, yk_vec3 to)
{
    if (!has_shape(def, node))
        add_line(s, YK_SHAPE_LINE, NULL, node, yk_v3(0, 0, 0), node, to);
}

int yk_multibody_scene_shapes(const yk_multibody *self, yk_shape *list, int capacity)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_description *def = &model->def;
    const yk_vec3 origin = {0, 0, 0};
    shape_list s = {.list = list, .capacity = capacity};
    if (!self->compiled)
        return 0;

    /* Given shapes. */
    for (int i = 0; i < def->shape_count; i++) {
        const yk_multibody_shape_def *shape = &def->shapes[i];
        add_shape(&s, &(yk_shape){.kind = shape->kind,
                                  .body = shape->node.index,
                                  .end_body = shape->node.index,
                                  .position = shape->marker.offset,
                                  .orientation = shape->marker.orientation,
                                  .size = shape->size});
    }

    /* Lines of flexible bodies as sequences of straight pieces. */
    int point = def->node_count + def->attachment_count;
    for (int i = 0; i < def->flexible_count; i++) {
        int points = yk_multibody_outline(model, i);
        for (int k = 1; k < points; k++)
            add_line(&s, YK_SHAPE_LINE, def->flexibles[i].name, point + k - 1, origin, point + k,
                     origin);

        point += points;
    }

    /* Beams through their three nodes. */
    for (int i = 0; i < def->beam_count; i++) {
        const yk_multibody_beam_def *beam = &def->beams[i];
        for (int k = 0; k + 1 < YK_BEAM_NODE_COUNT; k++) {
            int a = beam->nodes[k].index;
            int b = beam->nodes[k + 1].index;
            if (!has_shape(def, a) && !has_shape(def, b))
                add_line(&s, YK_SHAPE_LINE, beam->name, a, beam->offsets[k], b,
                         beam->offsets[k + 1]);
        }
    }

    /* Rigid bodies as arms from their node to the centre of mass, to joints and to ports. */
    for (int i = 0; i < def->body_count; i++)
        add_arm(&s, def, def->bodies[i].node.index, def->bodies[i].center_of_mass);

    for (int i = 0; i < def->joint_count; i++) {
        for (int side = 0; side < 2; side++)
            add_arm(&s, def, def->joints[i].bodies[side].index,
                    def->joints[i].markers[side].offset);
    }

    for (int i = 0; i < def->port_count; i++) {
        const yk_port_def *port = &def->ports[i];
        if (port->kind == YK_PORT_SIGNAL)
            continue;

        add_arm(&s, def, port->bodies[0].index, port->markers[0].offset);
        if (port->kind != YK_PORT_SCALAR)
            continue;

        /* The distance of two markers is that of an actuator. */
        add_arm(&s, def, port->bodies[1].index, port->markers[1].offset);
        add_line(&s, YK_SHAPE_ACTUATOR, port->name, port->bodies[0].index, port->markers[0].offset,
                 port->bodies[1].index, port->markers[1].offset);
    }

    /* Modal bodies without an outline: lines from the floating frame through the attachments. Rods
     * have a line of their own. */
    for (int i = 0; i < def->attachment_count; i++) {
        int flexible = def->attachments[i].flexible;
        int node = def->node_count + i;
        const yk_flexible *body = def->flexibles[flexible].body;
        if (body->kind != YK_FLEXIBLE_MODAL || body->outline > 1)
            continue;

        bool first = i == 0 || def->attachments[i - 1].flexible != flexible;
        int before = first ? def->flexibles[flexible].node : node - 1;
        add_line(&s, YK_SHAPE_LINE, def->flexibles[flexible].name, before, origin, node, origin);
    }

    /* Springs and other forces between two markers, with arms to them. */
    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        if (!yk_force_kind_acts_on_both(force->kind) || yk_force_traits_of(force->kind)->touches)
            continue;

        for (int side = 0; side < 2; side++)
            add_arm(&s, def, force->bodies[side].index, force->markers[side].offset);
        add_line(&s, YK_SHAPE_THIN_LINE, force->name, force->bodies[0].index,
                 force->markers[0].offset, force->bodies[1].index, force->markers[1].offset);
    }

    /* Joints as symbols: on the ground if one side is there, which pictures show, otherwise at the second marker. Joints
     * that keep a distance are rods. */
    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        if (joint->kind == YK_JOINT_DISTANCE)
            add_line(&s, YK_SHAPE_LINE, joint->name, joint->bodies[0].index,
                     joint->markers[0].offset, joint->bodies[1].index, joint->markers[1].offset);

        int side = joint->bodies[0].index < 0 ? 0 : 1;
        add_shape(&s, &(yk_shape){.kind = YK_SHAPE_JOINT,
                                  .name = joint->name,
                                  .body = joint->bodies[side].index,
                                  .end_body = joint->bodies[side].index,
                                  .position = joint->markers[side].offset,
                                  .orientation = joint->markers[side].orientation});
    }

    return s.count;
}
