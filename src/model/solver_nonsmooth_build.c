/* solver: nonsmooth, from a resolved section to a model. Bodies are numbered in their order;
 * particles follow. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "mechanics/body.h"
#include "model/files.h"
#include "model/scenario.h"
#include "nonsmooth/nonsmooth.h"
#include "nonsmooth/options.h"
#include "nonsmooth/packing.h"
#include "nonsmooth/solids/solid.h"

/* Bits of yk_nonsmooth_shape_def; the first one is for shapes without a group, and for particles. */
enum { GROUPS_MAX = 32 };

typedef struct maker {
    yk_builder *builder;
    const yk_node *section;
    yk_nonsmooth_builder *model;
    const yk_names *bodies, *materials;
    yk_vec3 gravity;
    const char *groups[GROUPS_MAX];
    int group_count;
    yk_status status; /* status of the first failure */
} maker;

static void note(maker *m, yk_status status)
{
    if (m->status == YK_OK && YK_FAILED(status))
        m->status = status;
}

/* Reports the solver's message about an invalid part at its item. */
static int added(maker *m, const yk_node *item, int id)
{
    const char *message = yk_last_message(yk_builder_context(m->builder));
    if (id < 0)
        note(m, yk_builder_error(m->builder, item, "%s", message));
    return id;
}

/* Calls a function for each item of a collection. */
static void for_all(maker *m, const char *key, void (*add)(maker *m, const yk_node *item))
{
    for (const yk_node *item = yk_node_items(m->section, key); item; item = item->next)
        add(m, item);
}

/* Values of the item replace the present ones. */
static void read_surface_values(const yk_node *item, yk_material *material)
{
    const struct {
        const char *key;
        double *value;
    } values[] = {
        {"friction", &material->friction},
        {"restitution", &material->restitution},
        {"rolling_friction", &material->rolling_friction},
        {"spinning_friction", &material->spinning_friction},
        {"stiffness", &material->stiffness},
        {"damping", &material->damping},
        {"static_friction", &material->static_friction},
        {"stribeck_velocity", &material->stribeck_velocity},
        {"cohesion", &material->cohesion},
        {"cohesion_range", &material->cohesion_range},
        {"plane_strain_modulus", &material->plane_strain_modulus},
    };

    /* Missing keys without a default keep the present value. */
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (yk_node_get(item, values[i].key))
            *values[i].value = yk_node_number(item, values[i].key);
}

/* The material with the given name; its index in the list, from 1, is its surface. */
static yk_material named_material(maker *m, const yk_node *name)
{
    yk_material material = {0};
    int index = yk_builder_find(m->builder, m->materials, name, "material", NULL);
    if (index < 0) {
        note(m, YK_ERROR_INPUT);
        return material;
    }

    read_surface_values(yk_node_at(yk_node_get(m->section, "materials"), index), &material);
    material.surface_id = index + 1;
    return material;
}

static yk_material material_of(maker *m, const yk_node *item)
{
    /* Without a material the surface is rigid and has no friction. */
    const yk_node *name = yk_node_get(item, "material");
    if (!name)
        return (yk_material){0};
    return named_material(m, name);
}

static void add_pair(maker *m, const yk_node *item)
{
    const yk_node *between = yk_node_get(item, "between");
    yk_material side[2];
    for (int i = 0; i < 2; i++)
        side[i] = named_material(m, yk_node_at(between, i));
    if (m->status != YK_OK)
        return;

    /* Missing properties are combined from the two surfaces. */
    yk_material_pair_def pair = {
        .surface_ids = {side[0].surface_id, side[1].surface_id},
        .material = yk_material_combine(&side[0], &side[1]),
    };
    read_surface_values(item, &pair.material);
    added(m, item, yk_nonsmooth_add_material_pair(m->model, &pair));
}

static void add_exclusion(maker *m, const yk_node *item)
{
    const yk_node *between = yk_node_get(item, "between");
    yk_exclusion_def exclusion;
    for (int i = 0; i < 2; i++) {
        const yk_node *body = yk_node_at(between, i);
        exclusion.bodies[i].index = yk_builder_find(m->builder, m->bodies, body, "body", NULL);
        if (!yk_body_is_valid(exclusion.bodies[i]))
            note(m, YK_ERROR_INPUT);
    }
    if (m->status == YK_OK)
        added(m, item, yk_nonsmooth_add_exclusion(m->model, &exclusion));
}

/* Groups --------------------------------------------------------------------------------------- */

/* The bit of a group; 0: no shape is in it. */
static unsigned group_bit(const maker *m, const char *name)
{
    for (int i = 0; i < m->group_count; i++)
        if (strcmp(m->groups[i], name) == 0)
            return 1u << i;
    return 0;
}

/* Names of the groups of these shapes. */
static void list_groups(maker *m, const yk_node *owner, const char *key)
{
    for (const yk_node *item = yk_node_items(owner, key); item; item = item->next) {
        const yk_node *group = yk_node_get(item, "collision_group");
        if (!group || group_bit(m, group->text))
            continue;

        /* Groups are bits of a mask. */
        if (m->group_count == GROUPS_MAX) {
            note(m,
                 yk_builder_error(m->builder, group, "there are more than %d groups", GROUPS_MAX));
            return;
        }

        m->groups[m->group_count++] = group->text;
    }
}

/* The mask of shapes that a shape touches: none, or all except the groups that it passes through. */
static void read_group(maker *m, const yk_node *item, yk_nonsmooth_shape_def *shape)
{
    /* The bits of its own group and of those that it passes through. */
    const yk_node *group = yk_node_get(item, "collision_group");
    if (group)
        shape->collision_group = group_bit(m, group->text);

    for (const yk_node *name = yk_node_items(item, "no_collision_with"); name; name = name->next) {
        unsigned bit = group_bit(m, name->text);
        if (bit == 0)
            note(m,
                 yk_builder_error(m->builder, name, "no shape is in the group '%s'", name->text));

        shape->collision_mask &= ~bit;
    }

    /* A shape that is only drawn is in no group. */
    if (!yk_node_boolean(item, "collides")) {
        shape->collision_group = 0;
        shape->collision_mask = 0;
    }
}

/* Shapes --------------------------------------------------------------------------------------- */

/* The size of a solid by the keys of its kind. */
static yk_vec3 read_size(maker *m, const yk_node *item, yk_solid_kind kind)
{
    yk_vec3 size = {1, 1, 1};
    const yk_option *keys = yk_solid_ops_of(kind)->section.options;
    note(m, yk_option_read_all(m->builder, keys, item, &size));
    return size;
}

/* A shape without the corners of its surface (see read_surface). */
static yk_nonsmooth_shape_def shape_of(maker *m, const yk_node *item, int body)
{
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){body};
    shape.kind = yk_solid_kind_named(yk_shape_variants[item->choice]->name);
    shape.position = yk_node_vector(item, "position");
    shape.orientation = yk_node_orientation(item, "orientation");
    shape.material = material_of(m, item);
    shape.size = read_size(m, item, shape.kind);

    /* Its mask, and its open walls. */
    read_group(m, item, &shape);
    for (const yk_node *wall = yk_node_items(item, "open_walls"); wall; wall = wall->next)
        shape.open_walls |= 1u << wall->choice;

    return shape;
}

/* Corners and triangles of a hull or a mesh, from the scenario or from a file. Other kinds have an
 * empty surface. The caller releases it. */
static yk_status read_surface(maker *m, const yk_node *item, yk_solid_kind kind, yk_mesh *mesh)
{
    yk_builder *builder = m->builder;
    yk_context *context = yk_builder_context(builder);
    const yk_node *points = yk_node_get(item, "points");
    const yk_node *triangles = yk_node_get(item, "triangles");
    const yk_node *file = yk_node_get(item, "file");

    *mesh = (yk_mesh){0};
    bool hull = kind == YK_SOLID_HULL;
    if (!hull && kind != YK_SOLID_MESH)
        return YK_OK;

    /* Exactly one description. */
    if (file && (points || triangles))
        return yk_builder_error(builder, file,
                                "defines the corners: remove 'points' and 'triangles', or this");
    if (!file && !hull && (!points || !triangles))
        return yk_builder_error(builder, item, "a mesh has 'points' and 'triangles', or a 'file'");
    if (!file && !points)
        return yk_builder_error(builder, item, "a hull has 'points', or a 'file'");

    /* From a file; errors are reported where it is named. */
    if (file) {
        const char *path = yk_builder_path(builder, item, "file");
        if (!path)
            return YK_ERROR_MEMORY;

        yk_status status = yk_mesh_read(context, path, yk_node_number(item, "scale"), mesh);
        if (status != YK_OK && status != YK_ERROR_MEMORY)
            return yk_builder_error(builder, file, "%s", yk_last_message(context));
        return status;
    }

    /* Given in the scenario. */
    mesh->points = yk_allocate(context, (size_t)points->count, sizeof *mesh->points);
    if (!mesh->points)
        return YK_ERROR_MEMORY;

    for (const yk_node *point = points->first; point; point = point->next) {
        const double *at = point->values;
        mesh->points[mesh->point_count++] = yk_v3(at[0], at[1], at[2]);
    }

    if (!triangles)
        return YK_OK;

    /* The triangles of a mesh; hulls have none. */
    mesh->triangles = yk_allocate(context, (size_t)triangles->count, sizeof *mesh->triangles);
    if (!mesh->triangles)
        return YK_ERROR_MEMORY;

    for (const yk_node *corners = triangles->first; corners; corners = corners->next) {
        int *triangle = mesh->triangles[mesh->triangle_count++];
        for (int k = 0; k < 3; k++) {
            double corner = corners->values[k];
            if (!(corner >= 0 && corner < mesh->point_count && corner == floor(corner)))
                return yk_builder_error(m->builder, corners,
                                        "a corner is the number of a point, 0 to %d, not %g",
                                        mesh->point_count - 1, corner);
            triangle[k] = (int)corner;
        }
    }

    return YK_OK;
}

static void add_shapes(maker *m, const yk_node *first, int body)
{
    for (const yk_node *item = first; item; item = item->next) {
        yk_nonsmooth_shape_def shape = shape_of(m, item, body);

        /* Hulls and meshes have a surface, which the model copies. */
        yk_mesh mesh;
        note(m, read_surface(m, item, shape.kind, &mesh));
        shape.points = mesh.points;
        shape.point_count = mesh.point_count;
        if (shape.kind == YK_SOLID_MESH) {
            shape.triangles = (const int(*)[3])mesh.triangles;
            shape.triangle_count = mesh.triangle_count;
        }

        /* After an error, shapes are checked but not added. */
        if (m->status == YK_OK)
            added(m, item, yk_nonsmooth_add_shape(m->model, &shape));

        yk_mesh_release(yk_builder_context(m->builder), &mesh);
    }
}

/* Bodies --------------------------------------------------------------------------------------- */

/* Mass and inertia of the shapes with a density. If the body has a `mass` (otherwise NULL), they
 * are scaled to it, and shapes have equal densities if none is given. The common center must be the
 * body's origin. */
static void weigh_shapes(maker *m, const yk_node *item, const yk_node *mass_given,
                         yk_nonsmooth_body_def *body)
{
    yk_context *context = yk_builder_context(m->builder);
    yk_inertia sum = {0};
    bool has_density = false;
    for (const yk_node *shape = yk_node_items(item, "shapes"); shape; shape = shape->next)
        has_density = has_density || yk_node_get(shape, "density");

    for (const yk_node *shape = yk_node_items(item, "shapes"); shape; shape = shape->next) {
        double density = 1;
        if (yk_node_get(shape, "density"))
            density = yk_node_number(shape, "density");
        else if (has_density || !mass_given)
            continue;

        /* The shape as a solid, with its surface. */
        yk_nonsmooth_shape_def def = shape_of(m, shape, YK_GROUND_INDEX);
        yk_mesh mesh;
        note(m, read_surface(m, shape, def.kind, &mesh));
        yk_solid solid = {.kind = def.kind, .size = def.size};
        solid.points = mesh.points;
        solid.point_count = mesh.point_count;

        /* Mass, center and inertia, in the axes of the body. */
        yk_mat3 inertia;
        double mass = yk_solid_mass(&solid, density, &inertia);
        yk_vec3 centre = yk_q_rotate(def.orientation, yk_solid_centre(&solid));
        yk_mesh_release(context, &mesh);
        if (mass == 0)
            note(m, yk_builder_error(m->builder, shape,
                                     "such a shape has no mass of its own; give the body %s",
                                     mass_given ? "'inertia'" : "'mass' and 'inertia'"));

        centre = yk_v3_add(def.position, centre);
        yk_inertia part = yk_inertia_of_body(mass, centre, inertia, def.orientation);
        yk_inertia_add(&sum, &part);
    }

    if (!(sum.mass > 0)) {
        const char *problem = "the body has no mass: give it 'mass' and 'inertia', its shapes a "
                              "'density', or make it 'fixed'";
        if (mass_given)
            problem = "the inertia is not known: give the body 'inertia', or shapes that have a "
                      "volume";
        if (m->status == YK_OK)
            note(m, yk_builder_error(m->builder, item, "%s", problem));
        return;
    }

    /* Larger than rounding errors, in radii of gyration. */
    double scale = sqrt(sum.tensor.m[0][0] / sum.mass);
    if (yk_v3_norm(sum.moment) > 1e-9 * sum.mass * scale)
        note(m, yk_builder_error(m->builder, item,
                                 "the shapes' centre of mass is at (%g, %g, %g): move them so "
                                 "that it is the body's origin, or give 'mass' and 'inertia'",
                                 sum.moment.x / sum.mass, sum.moment.y / sum.mass,
                                 sum.moment.z / sum.mass));

    double scaling = 1;
    if (mass_given)
        scaling = mass_given->value / sum.mass;
    body->mass = scaling * sum.mass;
    body->inertia = yk_m3_scale(scaling, sum.tensor);
}

static void add_body(maker *m, const yk_node *item)
{
    yk_builder *builder = m->builder;
    const yk_node *motion = yk_node_get(item, "prescribed_motion");
    const yk_node *mass = yk_node_get(item, "mass");
    const yk_node *inertia = yk_node_get(item, "inertia");

    /* The initial state. A body with prescribed motion needs no mass. */
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.name = yk_node_name(item);
    body.position = yk_node_vector(item, "position");
    body.orientation = yk_node_orientation(item, "orientation");
    body.velocity = yk_node_vector(item, "velocity");
    body.angular_velocity = yk_node_vector(item, "angular_velocity");
    body.fixed = yk_node_boolean(item, "fixed") || (motion && !mass);

    /* Mass and inertia, given or from the shapes. */
    if (!body.fixed && mass && inertia)
        body.mass = mass->value;
    else if (!body.fixed)
        weigh_shapes(m, item, mass, &body);
    if (!body.fixed && inertia)
        note(m, yk_read_inertia(builder, inertia, &body.inertia));

    if (m->status != YK_OK)
        return;

    /* The body, and its shapes. */
    int number = added(m, item, yk_nonsmooth_add_body(m->model, &body).index);
    if (number < 0)
        return;

    add_shapes(m, yk_node_items(item, "shapes"), number);
    if (!motion)
        return;

    /* The six functions of a prescribed motion; missing ones are zero. */
    yk_prescribed_path path = {0};
    const yk_node *position = yk_node_items(motion, "displacement");
    for (int i = 0; i < 3 && position; i++, position = position->next)
        note(m, yk_builder_function_of(builder, position, &path.position[i]));

    const yk_node *rotation = yk_node_items(motion, "rotation");
    for (int i = 0; i < 3 && rotation; i++, rotation = rotation->next)
        note(m, yk_builder_function_of(builder, rotation, &path.rotation[i]));

    yk_nonsmooth_prescribe_path(m->model, (yk_body_id){number}, &path);
}

/* Particles ------------------------------------------------------------------------------------ */

/* Variants of `particles`, in the order of the schema. */
enum { FROM_FILE, FROM_LATTICE, SETTLED };

/* The cavity and the sizes of particles, which lattices and emitters share. */
static yk_packing_def sizes_of(maker *m, const yk_node *item, const char *form_key,
                               const char *size_key, yk_material material)
{
    enum { BOX };
    yk_packing_def def = yk_packing_default();
    def.cavity = YK_SOLID_CYLINDER_CAVITY;
    if (yk_node_choice(item, form_key) == BOX)
        def.cavity = YK_SOLID_BOX_CAVITY;

    /* The library uses half extents, scenarios full ones. */
    def.size = yk_v3_scale(0.5, yk_node_vector(item, size_key));
    if (def.cavity == YK_SOLID_CYLINDER_CAVITY && def.size.x != def.size.y)
        note(m, yk_builder_error(m->builder, yk_node_get(item, size_key),
                                 "of a cylinder is the diameter twice and the height; found the "
                                 "diameters %g and %g. Make them equal, or choose %s: box",
                                 2 * def.size.x, 2 * def.size.y, form_key));
    def.radius = 0;
    if (yk_node_get(item, "radius"))
        def.radius = yk_node_number(item, "radius");

    def.size_distribution = (yk_size_distribution)yk_node_choice(item, "size_distribution");
    def.spread = yk_node_number(item, "size_spread");
    def.size_cutoff = yk_node_number(item, "size_cutoff");
    def.aligned = yk_node_boolean(item, "aligned");
    def.density = yk_node_number(item, "density");
    def.material = material;
    def.seed = (uint64_t)yk_node_integer(item, "seed");
    return def;
}

static void show_settling(void *user, const yk_settling *settling)
{
    yk_builder_show_settling(user, settling);
}

static yk_packing_def packing_of(maker *m, const yk_node *item, yk_material material)
{
    /* The lattice. */
    yk_packing_def def = sizes_of(m, item, "container", "container_size", material);
    def.count = yk_node_integer(item, "count");
    def.clearance = yk_node_number(item, "clearance");
    def.jitter = yk_node_number(item, "position_jitter");
    def.gravity = yk_v3_norm(m->gravity);
    if (item->choice != SETTLED)
        return def;

    /* Options of settling. */
    const yk_node *settling = yk_node_get(item, "settling");
    def.settling_step = yk_node_number(settling, "step");
    def.max_settling_time = yk_node_number(settling, "max_time");
    def.max_shakes = yk_node_integer(settling, "max_shakes");
    def.shake_amplitude = yk_node_number(settling, "shake_amplitude");
    def.shake_frequency = yk_node_number(settling, "shake_frequency");
    def.show_settling = show_settling;
    def.show_settling_user = m->builder;

    return def;
}

/* Data of `shape` and `sieves` to which the def points; the caller releases them. */
typedef struct particle_data {
    yk_mesh corners; /* of a hull, or centers of a clump's spheres */
    double *radii;
    yk_sieve_point *sieves;
} particle_data;

static void release_data(maker *m, particle_data *data)
{
    yk_context *context = yk_builder_context(m->builder);
    yk_mesh_release(context, &data->corners);
    yk_free(context, data->radii);
    yk_free(context, data->sieves);
}

/* The shape of the particles, and their sieve curve if there is one. `sized`: the item gives the
 * size of the particles. */
static yk_status read_particle(maker *m, const yk_node *item, bool sized, yk_packing_def *def,
                               particle_data *data)
{
    yk_context *context = yk_builder_context(m->builder);
    const yk_node *shape = yk_node_get(item, "shape");
    yk_particle_shape *made = &def->shape;
    yk_status status = YK_OK;
    bool clump = yk_node_get(shape, "spheres");
    bool ball = false;
    *made = (yk_particle_shape){0};

    if (clump) {
        /* A clump is a sphere with points: the centers of its spheres. */
        const yk_node *spheres = yk_node_get(shape, "spheres");
        made->kind = YK_SOLID_SPHERE;
        data->corners.points = yk_allocate(context, (size_t)spheres->count, sizeof(yk_vec3));
        data->radii = yk_allocate(context, (size_t)spheres->count, sizeof *data->radii);
        if (!data->corners.points || !data->radii)
            return YK_ERROR_MEMORY;

        for (const yk_node *sphere = spheres->first; sphere; sphere = sphere->next) {
            int i = data->corners.point_count++;
            data->corners.points[i] = yk_node_vector(sphere, "position");
            data->radii[i] = yk_node_number(sphere, "radius");
        }
    } else {
        made->kind = yk_solid_kind_named(yk_particle_variants[shape->choice]->name);
        ball = yk_solid_is_ball(made->kind);
        if (yk_solid_has_points(made->kind))
            status = read_surface(m, shape, made->kind, &data->corners);
        else if (!ball)
            made->size = read_size(m, shape, made->kind);
    }

    made->points = data->corners.points;
    made->point_count = data->corners.point_count;
    made->radii = data->radii;
    if (status != YK_OK || !sized)
        return status;

    /* The sizes have a single source. */
    const yk_node *sieves = yk_node_get(item, "sieve_curve");
    const yk_node *radius = yk_node_get(item, "radius");
    if (sieves && radius)
        return yk_builder_error(
            m->builder, radius,
            "the sieves define the size of particles: remove 'radius', or 'sieve_curve'");
    if (!sieves && !radius && ball)
        return yk_builder_error(m->builder, item, "spheres need a 'radius', or 'sieve_curve'");
    if (!sieves)
        return YK_OK;

    data->sieves = yk_allocate(context, (size_t)sieves->count, sizeof *data->sieves);
    if (!data->sieves)
        return YK_ERROR_MEMORY;

    for (const yk_node *sieve = sieves->first; sieve; sieve = sieve->next)
        data->sieves[def->sieve_point_count++] =
            (yk_sieve_point){sieve->values[0], sieve->values[1]};
    def->sieve_curve = data->sieves;
    return YK_OK;
}

/* The key of a settled packing in the cache: all values that packing_of() and read_particle() read. */
static void write_key(const yk_packing_def *def, const char *what, char *key, size_t size)
{
    const yk_material *s = &def->material;
    const yk_particle_shape *p = &def->shape;
    size_t points = (size_t)p->point_count, sieves = (size_t)def->sieve_point_count;

    /* Lists of any length are represented by their hash, numbers by all their bits (%a). */
    uint64_t lists = yk_hash_bytes(YK_HASH_START, p->points, points * sizeof *p->points);
    if (p->radii)
        lists = yk_hash_bytes(lists, p->radii, points * sizeof *p->radii);
    lists = yk_hash_bytes(lists, def->sieve_curve, sieves * sizeof *def->sieve_curve);

    yk_format(
        key, size,
        "%s of %d in %d %a %a %a; %a %a %a; %a %a %a %a %a %a; %a %a %a %a %a; %a %a %llu %a; "
        "%a %a %d %a %a; "
        "%d %a %a %a %d %d %d %a %llu",
        what, def->count, (int)def->cavity, def->size.x, def->size.y, def->size.z, def->radius,
        def->spread, def->density, s->friction, s->restitution, s->rolling_friction,
        s->spinning_friction, s->stiffness, s->damping, s->static_friction, s->stribeck_velocity,
        s->cohesion, s->cohesion_range, s->plane_strain_modulus, def->clearance, def->jitter,
        (unsigned long long)def->seed, def->gravity, def->settling_step, def->max_settling_time,
        def->max_shakes, def->shake_amplitude, def->shake_frequency, (int)p->kind, p->size.x,
        p->size.y, p->size.z, p->point_count, def->aligned, (int)def->size_distribution,
        def->size_cutoff, (unsigned long long)lists);
}

/* Settling takes seconds, and is independent of a change of scheme or step. */
static yk_status settle(const yk_builder *builder, const yk_packing_def *def, yk_packing *packing)
{
    yk_context *context = yk_builder_context(builder);
    yk_cache *cache = yk_builder_cache(builder);
    char positions[1200];
    char radii[1200];
    char orientations[1200];
    write_key(def, "positions", positions, sizeof positions);
    write_key(def, "radii", radii, sizeof radii);
    write_key(def, "orientations", orientations, sizeof orientations);

    /* From the cache, into the memory of the lattice, which has the same number of particles. */
    yk_status status = yk_packing_lattice(context, def, packing);
    if (YK_FAILED(status))
        return status;

    size_t position_bytes = (size_t)def->count * sizeof *packing->positions;
    size_t radius_bytes = (size_t)def->count * sizeof *packing->radii;
    size_t orientation_bytes = (size_t)def->count * sizeof *packing->orientations;
    if (yk_cache_recall(cache, positions, packing->positions, position_bytes) &&
        yk_cache_recall(cache, radii, packing->radii, radius_bytes) &&
        (!packing->orientations ||
         yk_cache_recall(cache, orientations, packing->orientations, orientation_bytes)))
        return YK_OK;

    /* Or settled now, and stored. */
    yk_packing_destroy(context, packing);
    status = yk_packing_make(context, def, packing);
    if (YK_FAILED(status))
        return status;

    yk_cache_keep(cache, positions, packing->positions, position_bytes);
    yk_cache_keep(cache, radii, packing->radii, radius_bytes);
    if (packing->orientations)
        yk_cache_keep(cache, orientations, packing->orientations, orientation_bytes);
    return status;
}

static void add_particles(maker *m, const yk_node *item)
{
    yk_context *context = yk_builder_context(m->builder);
    yk_material material = material_of(m, item);

    /* A sweep over the number of particles may begin without any. */
    if (item->choice != FROM_FILE && yk_node_integer(item, "count") == 0)
        return;

    /* Shape and material. */
    yk_packing_def bed = yk_packing_default();
    if (item->choice != FROM_FILE)
        bed = packing_of(m, item, material);
    particle_data data = {0};
    yk_status status = read_particle(m, item, item->choice != FROM_FILE, &bed, &data);
    if (status != YK_OK) {
        note(m, status);
        release_data(m, &data);
        return;
    }

    /* Positions; nothing settles after an error. */
    bool settles = !yk_builder_leaves_unsettled(m->builder) && m->status == YK_OK;
    yk_packing packing = {0};
    if (item->choice == FROM_FILE) {
        const char *path = yk_builder_path(m->builder, item, "file");
        status = YK_ERROR_MEMORY;
        if (path)
            status = yk_packing_read(context, path, &bed.shape, &packing);
    } else if (item->choice == SETTLED && settles) {
        status = settle(m->builder, &bed, &packing);
    } else {
        status = yk_packing_lattice(context, &bed, &packing);
    }

    release_data(m, &data);

    /* Report the solver's message at the item. */
    if (YK_FAILED(status)) {
        added(m, item, YK_NO_ID);
        return;
    }

    /* All as one rigid body at the start. */
    yk_particles_def def = yk_particles_default();
    def.packing.density = yk_node_number(item, "density");
    def.packing.material = material;
    def.position = yk_node_vector(item, "position");
    def.velocity = yk_node_vector(item, "velocity");
    def.angular_velocity = yk_node_vector(item, "angular_velocity");
    int first = yk_nonsmooth_add_packing(m->model, &packing, &def);
    yk_packing_destroy(context, &packing);
    added(m, item, first);
}

/* Emitters and sinks --------------------------------------------------------------------------- */

static void add_emitter(maker *m, const yk_node *item)
{
    /* By number or by mass. */
    const yk_node *rate = yk_node_get(item, "rate"), *mass_rate = yk_node_get(item, "mass_rate");
    if (!rate == !mass_rate) {
        note(m, yk_builder_error(m->builder, mass_rate ? mass_rate : item,
                                 "an emitter needs either a 'rate' (1/s) or a 'mass_rate' (kg/s)"));
        return;
    }

    /* Without `until` there is no end, without `count` no limit. */
    yk_emitter_def def = yk_emitter_default();
    def.name = item->key;
    if (rate)
        def.rate = yk_node_number(item, "rate");
    if (mass_rate)
        def.mass_rate = yk_node_number(item, "mass_rate");
    def.start_time = yk_node_number(item, "start_time");
    if (yk_node_get(item, "end_time"))
        def.end_time = yk_node_number(item, "end_time");
    if (yk_node_get(item, "max_emitted"))
        def.max_emitted = yk_node_integer(item, "max_emitted");

    /* Particles, and the region in which they appear. */
    yk_particles_def *particles = &def.particles;
    particles->packing = sizes_of(m, item, "region", "region_size", material_of(m, item));
    particles->packing.count = yk_node_integer(item, "max_present");
    particles->position = yk_node_vector(item, "position");
    particles->velocity = yk_node_vector(item, "velocity");
    particles->angular_velocity = yk_node_vector(item, "angular_velocity");
    particle_data data = {0};
    yk_status status = read_particle(m, item, true, &particles->packing, &data);
    if (status == YK_OK)
        added(m, item, yk_nonsmooth_add_emitter(m->model, &def));
    note(m, status);
    release_data(m, &data);
}

static void add_sink(maker *m, const yk_node *item)
{
    yk_sink_def def = yk_sink_default();
    def.name = item->key;
    def.position = yk_node_vector(item, "position");
    def.orientation = yk_node_orientation(item, "orientation");

    def.kind = yk_solid_kind_named(yk_sink_variants[item->choice]->name);
    def.size = read_size(m, item, def.kind);

    added(m, item, yk_nonsmooth_add_sink(m->model, &def));
}

/* Joints, forces, ports ------------------------------------------------------------------------ */

static yk_body_id find_body(void *model, const yk_node *reference)
{
    const maker *m = model;
    if (strcmp(reference->text, "ground") == 0)
        return YK_GROUND;

    int body = yk_builder_find(m->builder, m->bodies, reference, "body", "ground");
    return body < 0 ? YK_NULL_BODY : (yk_body_id){body};
}

static yk_motion pose_of(const void *model, yk_body_id body)
{
    const maker *m = model;
    yk_motion motion = {.orientation = {1, 0, 0, 0}};
    if (yk_body_is_valid(body))
        yk_nonsmooth_body_motion(yk_nonsmooth_world_of(m->model), body.index, &motion);
    return motion;
}

static yk_joint_id add_joint(void *model, const yk_joint_def *def)
{
    return yk_nonsmooth_add_joint(((maker *)model)->model, def);
}

static yk_force_id add_force(void *model, const yk_force_def *def)
{
    return yk_nonsmooth_add_force(((maker *)model)->model, def);
}

static yk_port_id add_port(void *model, const yk_port_def *def)
{
    return yk_nonsmooth_add_port(((maker *)model)->model, def);
}

static const yk_mechanism_ops mechanism_ops = {
    .find = find_body,
    .pose = pose_of,
    .add_joint = add_joint,
    .add_force = add_force,
    .add_port = add_port,
};

/* The whole ------------------------------------------------------------------------------------ */

static yk_status build_nonsmooth(yk_builder *builder, const yk_node *section,
                                 yk_subsystem **subsystem)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.length_unit = yk_builder_length_unit(section);
    def.makes_all_sweeps = builder->repeats;
    yk_status status = yk_option_read_all(builder, yk_nonsmooth_gravity.options, section, &def);
    if (status == YK_OK)
        status = yk_option_read_all(builder, yk_nonsmooth_options.options, section, &def);
    if (status != YK_OK)
        return status;

    /* Along each periodic axis. */
    const yk_node *periodic = yk_node_get(section, "periodic");
    static const char *const axes[3] = {"x", "y", "z"};
    double *low[3] = {&def.periodic.lower.x, &def.periodic.lower.y, &def.periodic.lower.z};
    double *high[3] = {&def.periodic.upper.x, &def.periodic.upper.y, &def.periodic.upper.z};
    for (int k = 0; k < 3 && periodic; k++) {
        const yk_node *range = yk_node_get(periodic, axes[k]);
        if (!range)
            continue;
        if (!(range->values[1] > range->values[0]))
            return yk_builder_error(builder, range,
                                    "a period begins at %g m and ends at %g m: the second must be "
                                    "larger",
                                    range->values[0], range->values[1]);
        *low[k] = range->values[0];
        *high[k] = range->values[1];
    }

    /* References are looked up in sorted names. */
    maker m = {.builder = builder, .section = section, .gravity = def.gravity};
    m.bodies = yk_builder_names(builder, yk_node_get(section, "bodies"));
    m.materials = yk_builder_names(builder, yk_node_get(section, "materials"));
    if (m.bodies && m.materials)
        m.model = yk_nonsmooth_begin(yk_builder_context(builder), &def);
    if (!m.model)
        return YK_ERROR_MEMORY;

    /* Groups may be used before the shape that defines them. */
    m.groups[m.group_count++] = "default";
    for (const yk_node *item = yk_node_items(section, "bodies"); item; item = item->next)
        list_groups(&m, item, "shapes");

    list_groups(&m, section, "ground_shapes");
    for_all(&m, "material_pairs", add_pair);

    /* Bodies are numbered as they are listed; particles follow. */
    for_all(&m, "bodies", add_body);
    add_shapes(&m, yk_node_items(section, "ground_shapes"), YK_GROUND_INDEX);

    /* These refer to bodies: after an error in a body they would only repeat it. */
    if (m.status == YK_OK) {
        for_all(&m, "exclusions", add_exclusion);
        note(&m, yk_read_mechanism(builder, section, &mechanism_ops, &m));
        for_all(&m, "particles", add_particles);
        for_all(&m, "emitters", add_emitter);
        for_all(&m, "sinks", add_sink);
    }

    /* A model with errors is not created. */
    if (m.status != YK_OK) {
        yk_nonsmooth_discard(m.model);
        return m.status;
    }

    status = yk_nonsmooth_create(m.model, subsystem);
    if (YK_FAILED(status))
        return status;

    /* The times of impacts within a step are not resolved, which analyses of errors must know. */
    yk_builder_note_impacts(builder);
    return YK_OK;
}

const yk_solver_kind yk_nonsmooth_kind = {&yk_nonsmooth_section, build_nonsmooth};
