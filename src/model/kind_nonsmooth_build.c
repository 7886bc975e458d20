/* solver: nonsmooth, from a resolved section to a model. Bodies are numbered as they are listed;
 * particles follow. */
#include <string.h>

#include "mechanics/inertia.h"
#include "model/kind_nonsmooth.h"
#include "model/mechanics_words.h"

typedef struct maker {
    yk_builder *builder;
    const yk_node *section;
    yk_nonsmooth *world;
    const yk_names *bodies, *materials;
    yk_vec3 gravity;
    yk_status status; /* the first failure */
} maker;

static void note(maker *m, yk_status status)
{
    if (m->status == YK_OK && status < 0)
        m->status = status;
}

static const yk_node *first_of(const yk_node *section, const char *key)
{
    const yk_node *list = yk_node_get(section, key);
    return list ? list->first : NULL;
}

/* The solver's own words about what it would not take, at the item. */
static int added(maker *m, const yk_node *item, int result)
{
    if (result >= 0)
        return result;
    if (result == YK_ERROR_MEMORY) {
        note(m, YK_ERROR_MEMORY);
    } else {
        note(m, yk_builder_error(m->builder, item, "%s",
                                 yk_last_message(yk_builder_context(m->builder))));
    }
    return -1;
}

static int find_body(maker *m, const yk_node *reference)
{
    if (strcmp(reference->text, "ground") == 0)
        return YK_GROUND;
    int body = yk_builder_find(m->builder, m->bodies, reference, "body", "ground");
    if (body < 0)
        note(m, YK_ERROR_INPUT);
    return body;
}

static yk_material material_of(maker *m, const yk_node *item)
{
    const yk_node *name = yk_node_get(item, "material");
    if (!name)
        return (yk_material){0};
    int index = yk_builder_find(m->builder, m->materials, name, "material", NULL);
    if (index < 0) {
        note(m, YK_ERROR_INPUT);
        return (yk_material){0};
    }
    const yk_node *material = yk_node_at(yk_node_get(m->section, "materials"), index);
    return (yk_material){
        yk_node_number(material, "friction"),  yk_node_number(material, "restitution"),
        yk_node_number(material, "rolling"),   yk_node_number(material, "spinning"),
        yk_node_number(material, "stiffness"), yk_node_number(material, "damping")};
}

/* Shapes --------------------------------------------------------------------------------------- */

static yk_vec3 size_of(const yk_node *item, yk_solid_kind kind)
{
    switch (kind) {
    case YK_SOLID_SPHERE: return yk_v3(yk_node_number(item, "radius"), 1, 1);
    case YK_SOLID_BOX:
    case YK_SOLID_BOX_CAVITY: return yk_v3_scale(0.5, yk_node_vector(item, "size"));
    case YK_SOLID_CAPSULE:
    case YK_SOLID_CYLINDER:
    case YK_SOLID_CYLINDER_CAVITY: {
        double radius = yk_node_number(item, "radius");
        return yk_v3(radius, radius, 0.5 * yk_node_number(item, "length"));
    }
    default: return yk_v3(1, 1, 1);
    }
}

/* Lists of three numbers each, as one block; released by the caller. */
static void *read_triples(maker *m, const yk_node *item, const char *key, size_t size, int *count)
{
    const yk_node *list = yk_node_get(item, key);
    *count = list ? list->count : 0;
    void *block =
        *count > 0 ? yk_allocate(yk_builder_context(m->builder), (size_t)*count, size) : NULL;
    if (*count > 0 && !block)
        note(m, YK_ERROR_MEMORY);
    return block;
}

static yk_vec3 *read_points(maker *m, const yk_node *item, int *count)
{
    yk_vec3 *points = read_triples(m, item, "points", sizeof *points, count);
    int i = 0;
    for (const yk_node *point = first_of(item, "points"); points && point; point = point->next, i++)
        points[i] = yk_v3(point->values[0], point->values[1], point->values[2]);
    return points;
}

static int (*read_triangles(maker *m, const yk_node *item, int *count))[3]
{
    int(*triangles)[3] = read_triples(m, item, "triangles", sizeof *triangles, count);
    int i = 0;
    for (const yk_node *corner = first_of(item, "triangles"); triangles && corner;
         corner = corner->next, i++)
        for (int k = 0; k < 3; k++)
            triangles[i][k] = (int)corner->values[k];
    return triangles;
}

static yk_nonsmooth_shape_def shape_of(maker *m, const yk_node *item, int body)
{
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = body;
    shape.kind = (yk_solid_kind)item->choice;
    shape.position = yk_node_vector(item, "position");
    shape.orientation = yk_node_orientation(item, "orientation");
    shape.material = material_of(m, item);
    shape.size = size_of(item, shape.kind);
    if (!yk_node_boolean(item, "touches"))
        shape.group = shape.mask = 0;
    for (const yk_node *wall = first_of(item, "open"); wall; wall = wall->next)
        shape.open |= 1u << wall->choice;
    return shape;
}

static void make_shapes(maker *m, const yk_node *list, int body)
{
    yk_context *context = yk_builder_context(m->builder);
    for (const yk_node *item = list ? list->first : NULL; item; item = item->next) {
        yk_nonsmooth_shape_def shape = shape_of(m, item, body);
        int(*triangles)[3] = read_triangles(m, item, &shape.triangle_count);
        yk_vec3 *points = read_points(m, item, &shape.point_count);
        shape.points = points;
        shape.triangles = (const int(*)[3])triangles;
        if (m->status == YK_OK)
            added(m, item, yk_nonsmooth_add_shape(m->world, &shape));
        yk_release(context, points);
        yk_release(context, triangles);
    }
}

/* Bodies --------------------------------------------------------------------------------------- */

/* Mass and inertia of shapes with a density; their common centre must be the body's origin. */
static void weigh_shapes(maker *m, const yk_node *item, yk_nonsmooth_body_def *body)
{
    yk_inertia sum = {0};
    for (const yk_node *shape = first_of(item, "shapes"); shape; shape = shape->next) {
        if (!yk_node_get(shape, "density"))
            continue;
        yk_nonsmooth_shape_def def = shape_of(m, shape, YK_GROUND);
        yk_solid solid = {.kind = def.kind, .size = def.size};
        yk_mat3 inertia;
        double mass = yk_solid_mass(&solid, yk_node_number(shape, "density"), &inertia);
        if (mass == 0)
            note(m, yk_builder_error(m->builder, shape,
                                     "such a shape has no mass of its own; give the body 'mass'"));
        yk_inertia part = yk_inertia_of_body(mass, def.position, inertia, def.orientation);
        yk_inertia_add(&sum, &part);
    }
    if (!(sum.mass > 0)) {
        note(m, yk_builder_error(m->builder, item,
                                 "the body has no mass: give it 'mass' and 'inertia', its shapes a "
                                 "'density', or make it 'fixed'"));
        return;
    }
    double scale = sqrt(sum.tensor.m[0][0] / sum.mass);
    if (yk_v3_norm(sum.moment) > 1e-9 * sum.mass * scale)
        note(m, yk_builder_error(m->builder, item,
                                 "the shapes' centre of mass is at (%g, %g, %g): move them so that "
                                 "it is the body's origin",
                                 sum.moment.x / sum.mass, sum.moment.y / sum.mass,
                                 sum.moment.z / sum.mass));
    body->mass = sum.mass;
    body->inertia = sum.tensor;
}

static void read_mass(maker *m, const yk_node *item, yk_nonsmooth_body_def *body)
{
    const yk_node *inertia = yk_node_get(item, "inertia");
    if (!yk_node_get(item, "mass")) {
        weigh_shapes(m, item, body);
        return;
    }
    body->mass = yk_node_number(item, "mass");
    if (inertia)
        note(m, yk_read_inertia(m->builder, inertia, &body->inertia));
    else
        note(m, yk_builder_error(m->builder, item, "a body with 'mass' needs its 'inertia'"));
}

static void prescribe(maker *m, const yk_node *motion, int body)
{
    yk_nonsmooth_path path;
    const char *const keys[2] = {"position", "rotation"};
    yk_function *functions[2] = {path.position, path.rotation};
    for (int k = 0; k < 2; k++) {
        const yk_node *item = first_of(motion, keys[k]);
        for (int i = 0; i < 3; i++, item = item ? item->next : NULL) {
            functions[k][i] = (yk_function){0};
            if (item)
                note(m, yk_builder_function_of(m->builder, item, &functions[k][i]));
        }
    }
    added(m, motion, yk_nonsmooth_prescribe_path(m->world, body, &path));
}

static void make_body(maker *m, const yk_node *item)
{
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    const yk_node *motion = yk_node_get(item, "motion");
    body.name = yk_node_name(item);
    body.position = yk_node_vector(item, "position");
    body.orientation = yk_node_orientation(item, "orientation");
    body.velocity = yk_node_vector(item, "velocity");
    body.angular_velocity = yk_node_vector(item, "angular_velocity");
    body.fixed = yk_node_boolean(item, "fixed") || (motion && !yk_node_get(item, "mass"));
    if (!body.fixed)
        read_mass(m, item, &body);
    if (m->status != YK_OK)
        return;
    int number = added(m, item, yk_nonsmooth_add_body(m->world, &body));
    if (number < 0)
        return;
    make_shapes(m, yk_node_get(item, "shapes"), number);
    if (motion)
        prescribe(m, motion, number);
}

static void make_particles(maker *m, const yk_node *item)
{
    yk_material material = material_of(m, item);
    if (m->status != YK_OK)
        return;
    added(m, item,
          yk_nonsmooth_add_particles(m->builder, m->world, item, yk_v3_norm(m->gravity), material));
}

/* Joints and forces ---------------------------------------------------------------------------- */

static yk_body_pose pose_of(const maker *m, int body)
{
    yk_motion motion = {.orientation = {1, 0, 0, 0}};
    if (body >= 0)
        yk_nonsmooth_body_motion(m->world, body, &motion);
    return (yk_body_pose){motion.position, motion.orientation};
}

/* Ends and markers of a pair: `markers`, or `at` with `axis` or `orientation`; where nothing is
 * said, the origins. */
static void read_pair(maker *m, const yk_node *item, int body[2], yk_marker marker[2])
{
    const yk_node *between = yk_node_get(item, "between");
    for (int side = 0; side < 2; side++)
        body[side] = find_body(m, yk_node_at(between, side));
    if (m->status != YK_OK)
        return;
    yk_body_pose poses[2] = {pose_of(m, body[0]), pose_of(m, body[1])};
    note(m, yk_read_markers(m->builder, item, poses, marker));
}

static void make_joint(maker *m, const yk_node *item)
{
    yk_nonsmooth_joint_def joint = yk_nonsmooth_joint_default();
    int body[2];
    yk_marker marker[2];
    joint.name = yk_node_name(item);
    joint.kind = (yk_joint_kind)item->choice;
    read_pair(m, item, body, marker);
    const char *drive_key = yk_drive_traits_of(yk_joint_traits_of(joint.kind)->drive)->name;
    const yk_node *drive = drive_key ? yk_node_get(item, drive_key) : NULL;
    if (joint.kind == YK_JOINT_DISTANCE && drive && drive->value_count == 1)
        joint.length = drive->value;
    else if (drive)
        note(m, yk_builder_function_of(m->builder, drive, &joint.drive));
    if (joint.kind == YK_JOINT_ROLLING)
        joint.length = yk_node_number(item, "radius");
    for (const yk_node *axis = first_of(item, "constrain"); axis; axis = axis->next)
        joint.constrained |= 1u << axis->choice;
    if (m->status != YK_OK)
        return;
    joint.body_a = body[0], joint.body_b = body[1];
    joint.marker_a = marker[0], joint.marker_b = marker[1];
    added(m, item, yk_nonsmooth_add_joint(m->world, &joint));
}

static void set_markers(yk_force_law *law, const yk_marker marker[2])
{
    for (int side = 0; side < 2; side++) {
        law->offset[side] = marker[side].offset;
        law->axes[side] = yk_q_matrix(marker[side].orientation);
    }
}

static void read_bushing(maker *m, const yk_node *item, const char *key, double matrix[6][6])
{
    const yk_node *list = yk_node_get(item, key);
    if (list->value_count != 6 && list->value_count != 36)
        note(m, yk_builder_error(m->builder, list, "expected 6 or 36 numbers, not %d",
                                 list->value_count));
    for (int i = 0; i < 6 && list->value_count == 6; i++)
        matrix[i][i] = list->values[i];
    for (int i = 0; i < 36 && list->value_count == 36; i++)
        matrix[i / 6][i % 6] = list->values[i];
}

/* The signal that loads a force, each once; -1: none. */
static int input_of(maker *m, const yk_node *item)
{
    const yk_node *input = yk_node_get(item, "input");
    if (!input)
        return -1;
    for (const yk_node *port = first_of(m->section, "ports"); port; port = port->next)
        if (strcmp(yk_node_name(port), input->text) == 0)
            note(m,
                 yk_builder_error(m->builder, input,
                                  "a port is already named '%s': choose another name for the input",
                                  input->text));
    int known = yk_nonsmooth_find_signal(m->world, input->text);
    return known >= 0 ? known : added(m, input, yk_nonsmooth_add_signal(m->world, input->text));
}

/* Bodies and markers of the joint that a motor drives. */
static void read_motor(maker *m, const yk_node *item, yk_force_kind *kind, int body[2],
                       yk_marker marker[2])
{
    const yk_node *reference = yk_node_get(item, "joint"),
                  *joints = yk_node_get(m->section, "joints");
    const yk_names *names = yk_builder_names(m->builder, joints);
    int index = names ? yk_builder_find(m->builder, names, reference, "joint", NULL) : -1;
    if (index < 0) {
        note(m, names ? YK_ERROR_INPUT : YK_ERROR_MEMORY);
        return;
    }
    const yk_node *joint = yk_node_at(joints, index);
    read_pair(m, joint, body, marker);
    if (!yk_motor_kind((yk_joint_kind)joint->choice, kind))
        note(m,
             yk_builder_error(
                 m->builder, reference,
                 "a motor drives a revolute, cylindrical, rotation, prismatic, in-line or position "
                 "joint; this one is %s",
                 yk_joint_name((yk_joint_kind)joint->choice)));
}

static void make_force(maker *m, const yk_node *item)
{
    yk_nonsmooth_force_def force = yk_nonsmooth_force_default();
    int body[2] = {YK_GROUND, YK_GROUND};
    yk_marker marker[2] = {yk_marker_default(), yk_marker_default()};
    force.name = yk_node_name(item);
    force.law.kind = yk_force_kind_of[item->choice];
    force.input = input_of(m, item);
    if (yk_node_get(item, "feedback"))
        note(m, yk_builder_error(m->builder, yk_node_get(item, "feedback"),
                                 "loads here are functions of time only"));
    if (yk_node_get(item, "load"))
        note(m, yk_builder_function(m->builder, item, "load", &force.load));
    if (force.law.kind == YK_FORCE_MOTOR) {
        read_motor(m, item, &force.law.kind, body, marker);
    } else if (yk_force_on_both(force.law.kind)) {
        read_pair(m, item, body, marker);
        if (force.law.kind == YK_FORCE_BUSHING) {
            read_bushing(m, item, "stiffness", force.law.bushing_stiffness);
            read_bushing(m, item, "damping", force.law.bushing_damping);
        } else {
            force.law.stiffness = yk_node_number(item, "stiffness");
            force.law.damping = yk_node_number(item, "damping");
            force.law.free = yk_node_number(item, force.law.kind == YK_FORCE_SPRING ? "free_length"
                                                                                    : "free_angle");
        }
    } else {
        body[1] = find_body(m, yk_node_get(item, "on"));
        marker[1] =
            (yk_marker){yk_node_vector(item, "offset"), yk_node_orientation(item, "orientation")};
        force.law.vector = yk_node_vector(item, "vector");
        if (yk_node_boolean(item, "follows"))
            force.law.kind =
                force.law.kind == YK_FORCE_VECTOR ? YK_FORCE_FOLLOWER : YK_FORCE_FOLLOWER_TORQUE;
    }
    set_markers(&force.law, marker);
    force.body_a = body[0], force.body_b = body[1];
    if (m->status == YK_OK)
        added(m, item, yk_nonsmooth_add_force(m->world, &force));
}

static void make_port(maker *m, const yk_node *item)
{
    enum { MARKER };
    if (item->choice != MARKER) {
        int bodies[2];
        yk_marker markers[2];
        read_pair(m, item, bodies, markers);
        if (m->status == YK_OK)
            added(m, item,
                  yk_nonsmooth_add_line_port(m->world, yk_node_name(item), bodies, markers));
        return;
    }
    yk_marker marker = {yk_node_vector(item, "offset"), yk_node_orientation(item, "orientation")};
    int body = find_body(m, yk_node_get(item, "on"));
    if (m->status == YK_OK)
        added(m, item, yk_nonsmooth_add_port(m->world, yk_node_name(item), body, &marker));
}

/* The whole ------------------------------------------------------------------------------------ */

static yk_nonsmooth_def read_def(const maker *m)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    const yk_node *contact = yk_node_get(m->section, "contact");
    def.gravity = m->gravity;
    def.solver.method =
        (yk_contact_method)(YK_CONTACT_GAUSS_SEIDEL + yk_node_choice(contact, "method"));
    def.solver.friction = (yk_friction_model)yk_node_choice(contact, "friction");
    def.solver.iterations = yk_node_integer(contact, "iterations");
    def.solver.tolerance = yk_node_number(contact, "tolerance");
    def.solver.relaxation_factor = yk_node_number(contact, "relaxation_factor");
    def.envelope = yk_node_number(contact, "envelope");
    def.recovery_speed = yk_node_number(contact, "recovery_speed");
    def.bounce_speed = yk_node_number(contact, "bounce_speed");
    def.contact_capacity = yk_node_integer(contact, "capacity");
    const yk_node *sleeping = yk_node_get(m->section, "sleeping");
    def.sleeping.speed = yk_node_number(sleeping, "speed");
    def.sleeping.angular_speed = yk_node_number(sleeping, "angular_speed");
    def.sleeping.after = yk_node_number(sleeping, "after");
    return def;
}

static void make_all(maker *m, const char *key, void (*make)(maker *m, const yk_node *item))
{
    for (const yk_node *item = first_of(m->section, key); item && m->status != YK_ERROR_MEMORY;
         item = item->next)
        make(m, item);
}

yk_status yk_nonsmooth_build(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    maker m = {
        .builder = builder, .section = section, .gravity = yk_node_vector(section, "gravity")};
    m.bodies = yk_builder_names(builder, yk_node_get(section, "bodies"));
    m.materials = yk_builder_names(builder, yk_node_get(section, "materials"));
    if (!m.bodies || !m.materials)
        return YK_ERROR_MEMORY;
    yk_nonsmooth_def def = read_def(&m);
    yk_status status = yk_nonsmooth_create(yk_builder_context(builder), &def, &m.world);
    if (status < 0)
        return status;
    make_all(&m, "bodies", make_body);
    make_shapes(&m, yk_node_get(section, "ground"), YK_GROUND);
    if (m.status == YK_OK) {
        make_all(&m, "joints", make_joint);
        make_all(&m, "forces", make_force);
        make_all(&m, "ports", make_port);
        make_all(&m, "particles", make_particles);
    }
    if (m.status < 0) {
        yk_nonsmooth_destroy(m.world);
        return m.status;
    }
    *subsystem = yk_nonsmooth_subsystem(m.world);
    yk_builder_note_impacts(builder);
    if (yk_mechanism_rests(section))
        yk_builder_note_rest(builder);
    return YK_OK;
}
