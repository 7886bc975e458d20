/* solver: nonsmooth, from a resolved section to a model. Bodies are numbered as they are listed;
 * particles follow. */
#include <string.h>

#include "mechanics/inertia.h"
#include "model/kind_nonsmooth.h"
#include "model/mechanism.h"
#include "model/mesh_file.h"
#include "nonsmooth/builder.h"

typedef struct maker {
    yk_builder *builder;
    const yk_node *section;
    yk_nonsmooth_builder *model;
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

/* What the solver says of a part that it would not take, at the item. */
static int added(maker *m, const yk_node *item, int id)
{
    if (id < 0)
        note(m, yk_builder_error(m->builder, item, "%s",
                                 yk_last_message(yk_builder_context(m->builder))));
    return id;
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

/* Corners and triangles of a hull or a mesh, written out or from a file; to be released. */
static yk_status read_surface(maker *m, const yk_node *item, yk_mesh *mesh)
{
    yk_context *context = yk_builder_context(m->builder);
    const yk_node *points = yk_node_get(item, "points");
    const yk_node *triangles = yk_node_get(item, "triangles");
    const yk_node *file = yk_node_get(item, "file");
    bool hull = item->choice == YK_SOLID_HULL;
    *mesh = (yk_mesh){0};
    if (!hull && item->choice != YK_SOLID_TRIANGLE)
        return YK_OK;
    if (file && (points || triangles))
        return yk_builder_error(m->builder, file,
                                "brings the corners: remove 'points' and 'triangles', or this");
    if (!file && !hull && (!points || !triangles))
        return yk_builder_error(m->builder, item,
                                "a mesh has 'points' and 'triangles', or a 'file'");
    if (!file && !points)
        return yk_builder_error(m->builder, item, "a hull has 'points', or a 'file'");

    if (file) {
        const char *path = yk_builder_path(m->builder, item, "file");
        double scale = yk_node_number(item, "scale");
        yk_status status = path ? yk_mesh_read(context, path, scale, mesh) : YK_ERROR_MEMORY;
        if (status != YK_OK && status != YK_ERROR_MEMORY)
            return yk_builder_error(m->builder, file, "%s", yk_last_message(context));
        return status;
    }

    mesh->points = yk_allocate(context, (size_t)points->count, sizeof *mesh->points);
    if (!mesh->points)
        return YK_ERROR_MEMORY;
    for (const yk_node *point = points->first; point; point = point->next)
        mesh->points[mesh->point_count++] =
            yk_v3(point->values[0], point->values[1], point->values[2]);
    if (!triangles)
        return YK_OK;

    mesh->triangles = yk_allocate(context, (size_t)triangles->count, sizeof *mesh->triangles);
    if (!mesh->triangles)
        return YK_ERROR_MEMORY;
    for (const yk_node *corners = triangles->first; corners; corners = corners->next) {
        for (int k = 0; k < 3; k++)
            mesh->triangles[mesh->triangle_count][k] = (int)corners->values[k];
        mesh->triangle_count++;
    }
    return YK_OK;
}

static void make_shapes(maker *m, const yk_node *list, int body)
{
    for (const yk_node *item = list ? list->first : NULL; item; item = item->next) {
        yk_nonsmooth_shape_def shape = shape_of(m, item, body);
        yk_mesh mesh;
        note(m, read_surface(m, item, &mesh));
        shape.points = mesh.points;
        shape.point_count = mesh.point_count;
        if (shape.kind == YK_SOLID_TRIANGLE) {
            shape.triangles = (const int(*)[3])mesh.triangles;
            shape.triangle_count = mesh.triangle_count;
        }
        if (m->status == YK_OK)
            added(m, item, yk_nonsmooth_add_shape(m->model, &shape));
        yk_mesh_release(yk_builder_context(m->builder), &mesh);
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
        yk_mesh mesh;
        note(m, read_surface(m, shape, &mesh));
        solid.points = mesh.points;
        solid.point_count = mesh.point_count;
        yk_mat3 inertia;
        double mass = yk_solid_mass(&solid, yk_node_number(shape, "density"), &inertia);
        yk_vec3 centre = yk_q_rotate(def.orientation, yk_solid_centre(&solid));
        yk_mesh_release(yk_builder_context(m->builder), &mesh);
        if (mass == 0)
            note(m, yk_builder_error(m->builder, shape,
                                     "such a shape has no mass of its own; give the body 'mass'"));
        yk_inertia part =
            yk_inertia_of_body(mass, yk_v3_add(def.position, centre), inertia, def.orientation);
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
    yk_nonsmooth_prescribe_path(m->model, body, &path);
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
    int number = added(m, item, yk_nonsmooth_add_body(m->model, &body));
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
    added(m, item, yk_read_particles(m->builder, m->model, item, yk_v3_norm(m->gravity), material));
}

/* Joints, forces, ports ------------------------------------------------------------------------ */

static int find_reference(void *model, const yk_node *reference)
{
    const maker *m = model;
    if (strcmp(reference->text, "ground") == 0)
        return YK_GROUND;
    int body = yk_builder_find(m->builder, m->bodies, reference, "body", "ground");
    return body < 0 ? YK_NO_ID : body;
}

static yk_body_pose place_of(const void *model, int body)
{
    const maker *m = model;
    yk_motion motion = {.orientation = {1, 0, 0, 0}};
    if (body >= 0)
        yk_nonsmooth_body_motion(yk_nonsmooth_world_of(m->model), body, &motion);
    return (yk_body_pose){motion.position, motion.orientation};
}

static int add_joint(void *model, const yk_joint_def *def)
{
    return yk_nonsmooth_add_joint(((maker *)model)->model, def);
}

static int add_force(void *model, const yk_force_def *def)
{
    return yk_nonsmooth_add_force(((maker *)model)->model, def);
}

static int add_port(void *model, const yk_port_def *def)
{
    return yk_nonsmooth_add_port(((maker *)model)->model, def);
}

static const yk_mechanism_ops mechanism_ops = {
    .find = find_reference,
    .place = place_of,
    .add_joint = add_joint,
    .add_force = add_force,
    .add_port = add_port,
};

/* The whole ------------------------------------------------------------------------------------ */

static yk_nonsmooth_def read_def(const maker *m)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    const yk_node *contact = yk_node_get(m->section, "contact");
    def.gravity = m->gravity;
    def.solver.method = (yk_contact_method)yk_node_choice(contact, "method");
    def.solver.friction = (yk_friction_model)yk_node_choice(contact, "friction");
    def.solver.iterations = yk_node_integer(contact, "iterations");
    def.solver.tolerance = yk_node_number(contact, "tolerance");
    def.solver.relaxation_factor = yk_node_number(contact, "relaxation_factor");
    def.envelope = yk_node_number(contact, "envelope");
    def.recovery_speed = yk_node_number(contact, "recovery_speed");
    def.bounce_speed = yk_node_number(contact, "bounce_speed");
    def.impact_law = (yk_impact_law)yk_node_choice(contact, "impact_law");
    def.contact_capacity = yk_node_integer(contact, "capacity");
    const yk_node *sleeping = yk_node_get(m->section, "sleeping");
    def.sleeping.speed = yk_node_number(sleeping, "speed");
    def.sleeping.angular_speed = yk_node_number(sleeping, "angular_speed");
    def.sleeping.after = yk_node_number(sleeping, "after");
    return def;
}

yk_status yk_nonsmooth_build(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    maker m = {
        .builder = builder, .section = section, .gravity = yk_node_vector(section, "gravity")};
    m.bodies = yk_builder_names(builder, yk_node_get(section, "bodies"));
    m.materials = yk_builder_names(builder, yk_node_get(section, "materials"));
    yk_nonsmooth_def def = read_def(&m);
    if (m.bodies && m.materials)
        m.model = yk_nonsmooth_begin(yk_builder_context(builder), &def);
    if (!m.model)
        return YK_ERROR_MEMORY;

    /* Bodies are numbered as they are listed; particles follow. */
    for (const yk_node *item = first_of(section, "bodies"); item; item = item->next)
        make_body(&m, item);
    make_shapes(&m, yk_node_get(section, "ground"), YK_GROUND);
    if (m.status == YK_OK) {
        note(&m, yk_read_mechanism(builder, section, &mechanism_ops, &m));
        for (const yk_node *item = first_of(section, "particles"); item; item = item->next)
            make_particles(&m, item);
    }
    if (m.status < 0) {
        yk_nonsmooth_discard(m.model);
        return m.status;
    }
    yk_status status = yk_nonsmooth_create(m.model, subsystem);
    if (status < 0)
        return status;

    yk_builder_note_impacts(builder);
    return YK_OK;
}
