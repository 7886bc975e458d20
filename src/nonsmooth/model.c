/* Construction of a model: bodies, shapes, joints, forces, ports, in the user's numbering. */
#include <stdlib.h>

#include "base/text.h"
#include "mechanics/body.h"
#include "nonsmooth/options.h"
#include "nonsmooth/world.h"

yk_nonsmooth_def yk_nonsmooth_default(void)
{
    /* No tolerance given: the speed that the step resolves determines the accuracy of the contact
     * problem. */
    yk_nonsmooth_def def = {.contact_options = yk_contact_options_default(), .length_unit = 1};
    def.contact_options.warm_start = true;
    yk_option_set_defaults(yk_nonsmooth_gravity.options, &def);
    yk_option_set_defaults(yk_nonsmooth_options.options, &def);
    return def;
}

yk_nonsmooth_body_def yk_nonsmooth_body_default(void)
{
    return (yk_nonsmooth_body_def){
        .orientation = {1, 0, 0, 0}, .mass = 1, .inertia = yk_m3_identity()};
}

yk_nonsmooth_body_def yk_nonsmooth_body_named(const char *name, double mass, yk_mat3 inertia,
                                              yk_vec3 position)
{
    yk_nonsmooth_body_def def = yk_nonsmooth_body_default();
    def.name = name;
    def.mass = mass;
    def.inertia = inertia;
    def.position = position;
    return def;
}

yk_nonsmooth_shape_def yk_nonsmooth_shape_default(void)
{
    return (yk_nonsmooth_shape_def){
        .body = YK_GROUND,
        .kind = YK_SOLID_SPHERE,
        .orientation = {1, 0, 0, 0},
        .size = {1, 1, 1},
        .collision_group = 1,
        .collision_mask = ~0u,
    };
}

void yk_world_model_destroy(yk_world_model *model)
{
    yk_context *context = model->context;

    /* Names belong to the model, each in memory of its own. */
    for (size_t i = 0; model->names && i < model->body_count; i++)
        yk_free(context, model->names[i]);
    for (size_t i = 0; i < model->joint_count; i++)
        yk_free(context, model->joints[i].name);
    for (size_t i = 0; i < model->force_count; i++)
        yk_free(context, model->forces[i].name);
    for (size_t i = 0; i < model->port_count; i++)
        yk_free(context, model->ports[i].name);
    for (size_t i = 0; i < model->signal_count; i++)
        yk_free(context, model->signals[i].name);
    for (size_t i = 0; i < model->emitter_count; i++)
        yk_free(context, model->emitters[i].name);
    for (size_t i = 0; i < model->sink_count; i++)
        yk_free(context, model->sinks[i].name);

    void *blocks[] = {
        model->initial,      model->bodies,        model->names,          model->slot_of,
        model->body_of,      model->tensors,       model->parts,          model->geometries,
        model->points,       model->materials,     model->pair_laws,      model->joints,
        model->forces,       model->ports,         model->signals,        model->port_list,
        model->port_numbers, model->prescriptions, model->world_bodies,   model->world_joints,
        model->world_forces, model->origins,       model->driven_lengths, model->surface_pairs,
        model->emitters,     model->sinks,         model->leaves,         model->exclusions,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(context, blocks[i]);
    *model = (yk_world_model){.context = context};
}

/* Makes room for `extra` more elements; grows by half. */
static yk_status reserve(yk_context *context, void *array, size_t *capacity, size_t count,
                         size_t extra, size_t size)
{
    if (count + extra <= *capacity)
        return YK_OK;

    /* Grow by half, so that a model built one element at a time is copied only a few times. */
    size_t grown = count + extra + count / 2 + 8;
    void **pointer = array;
    void *block = yk_reallocate(context, *pointer, grown, size);
    if (!block)
        return YK_ERROR_MEMORY;

    *pointer = block;
    *capacity = grown;
    return YK_OK;
}

#define RESERVE(model, list, count, capacity, extra)                                     \
    reserve((model)->context, &(model)->list, &(model)->capacity, (model)->count, extra, \
            sizeof *(model)->list)

static const char *name_or_none(const char *name)
{
    return name ? name : "no name";
}

static yk_status check_open(const yk_world_model *model, const char *what)
{
    if (!model->frozen)
        return YK_OK;
    return yk_fail(model->context, YK_ERROR_ARGUMENT,
                   "%s cannot be added after start: the model is frozen", what);
}

static yk_status check_body(const yk_world_model *model, int body, bool world_allowed,
                            const char *what)
{
    if (body >= 0 && (size_t)body < model->body_count)
        return YK_OK;
    if (world_allowed && body == YK_GROUND_INDEX)
        return YK_OK;
    return yk_fail(model->context, YK_ERROR_ARGUMENT,
                   "%s: there is no body %d; bodies are numbered from 0 to %d", what, body,
                   (int)model->body_count - 1);
}

static yk_status copy_name(yk_world_model *model, const char *name, char **copy)
{
    *copy = NULL;
    if (!name)
        return YK_OK;

    *copy = yk_text_copy(model->context, name);
    return *copy ? YK_OK : YK_ERROR_MEMORY;
}

/* Bodies --------------------------------------------------------------------------------------- */

static yk_status check_motion(const yk_world_model *model, const yk_nonsmooth_body_def *def)
{
    /* A quaternion may have any length except zero. */
    double q = yk_q_norm(def->orientation);
    bool finite = yk_v3_finite(def->position) && yk_v3_finite(def->velocity) &&
                  yk_v3_finite(def->angular_velocity);

    if (finite && q > 0 && isfinite(q))
        return YK_OK;
    return yk_fail(model->context, YK_ERROR_ARGUMENT,
                   "body %zu (%s): position, velocity or orientation is not finite",
                   model->body_count, name_or_none(def->name));
}

static yk_status check_inertia(const yk_world_model *model, const yk_nonsmooth_body_def *def)

{
    const yk_mat3 *j = &def->inertia;
    char why[240];

    if (!yk_inertia_possible(j, why, sizeof why))
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "body %zu (%s): no body has its inertia tensor: %s", model->body_count,
                       name_or_none(def->name), why);

    /* Velocities follow impulses through the inverse, so a point mass or a line without thickness
     * is invalid. */
    double minor = j->m[0][0] * j->m[1][1] - j->m[0][1] * j->m[1][0];
    double determinant = yk_m3_determinant(*j);
    bool definite = j->m[0][0] > 0 && minor > 0 && determinant > 0;
    if (isfinite(def->mass) && def->mass > 0 && definite)
        return YK_OK;
    return yk_fail(model->context, YK_ERROR_ARGUMENT,
                   "body %zu (%s): mass must be positive and the inertia tensor positive definite; "
                   "set `fixed` for a "
                   "body that never moves",
                   model->body_count, name_or_none(def->name));
}

static int append_body(yk_world_model *model, const yk_nonsmooth_body_def *def,
                       const yk_body_model *body)
{
    /* Three lists of one length share a capacity, which is increased after all of them have grown. */
    yk_context *context = model->context;
    size_t count = model->body_count,
           capacity[3] = {model->body_capacity, model->body_capacity, model->body_capacity};
    if (reserve(context, &model->initial, &capacity[0], count, 1, sizeof *model->initial) !=
            YK_OK ||
        reserve(context, &model->bodies, &capacity[1], count, 1, sizeof *model->bodies) != YK_OK ||
        reserve(context, &model->names, &capacity[2], count, 1, sizeof *model->names) != YK_OK)
        return YK_NO_ID;

    model->body_capacity = capacity[2];

    if (copy_name(model, def->name, &model->names[count]) != YK_OK)
        return YK_NO_ID;

    /* Count last, so that a failure has no effect. */
    yk_quat orientation = yk_q_unit(def->orientation);
    model->initial[count] =
        (yk_body_state){def->position, orientation, def->velocity, def->angular_velocity};
    model->bodies[count] = *body;
    return (int)model->body_count++;
}

int yk_world_add_body(yk_nonsmooth *self, const yk_nonsmooth_body_def *def)
{
    yk_world_model *model = &self->model;
    yk_status status = check_open(model, "a body");

    if (status == YK_OK)
        status = check_motion(model, def);
    if (status == YK_OK && !def->fixed)
        status = check_inertia(model, def);
    if (status != YK_OK)
        return YK_NO_ID;

    /* Mass and inertia of a fixed body are not used. */
    if (def->fixed) {
        yk_nonsmooth_body_def at_rest = *def;
        at_rest.velocity = at_rest.angular_velocity = yk_v3(0, 0, 0);
        return append_body(model, &at_rest, &(yk_body_model){.tensor = -1, .drive = YK_FIXED});
    }

    if (RESERVE(model, tensors, tensor_count, tensor_capacity, 1) != YK_OK)
        return YK_NO_ID;

    /* Others have a tensor of their own, with its inverse. */
    yk_body_model body = {
        .mass = def->mass, .tensor = (int32_t)model->tensor_count, .drive = YK_MOVED_BY_FORCES};
    model->tensors[model->tensor_count].body = def->inertia;
    model->tensors[model->tensor_count++].inverse = yk_m3_inverse(def->inertia);
    return append_body(model, def, &body);
}

int yk_nonsmooth_body_count(const yk_nonsmooth *self)
{
    return (int)self->model.body_count;
}

double yk_nonsmooth_body_mass(const yk_nonsmooth *self, int body)
{
    const yk_world_model *model = &self->model;
    size_t index = yk_world_body_index(model, (size_t)body);
    return model->bodies[index].mass;
}

/* Shapes --------------------------------------------------------------------------------------- */

/* Index of an equal material among the last few, or of a new one. */
static int32_t material_index(yk_world_model *model, const yk_material *material)
{
    /* Shapes of one material usually follow each other. */
    for (size_t k = 0; k < model->material_count && k < 16; k++) {
        size_t i = model->material_count - 1 - k;
        const yk_material *m = &model->materials[i];
        if (m->friction == material->friction && m->restitution == material->restitution &&
            m->rolling_friction == material->rolling_friction &&
            m->spinning_friction == material->spinning_friction &&
            m->stiffness == material->stiffness && m->damping == material->damping &&
            m->static_friction == material->static_friction &&
            m->stribeck_velocity == material->stribeck_velocity &&
            m->cohesion == material->cohesion && m->cohesion_range == material->cohesion_range &&
            m->plane_strain_modulus == material->plane_strain_modulus &&
            m->surface_id == material->surface_id)
            return (int32_t)i;
    }

    if (RESERVE(model, materials, material_count, material_capacity, 1) != YK_OK)
        return YK_NO_ID;

    /* Merged worlds shift their surface numbers. */
    if (material->surface_id > model->surface_count)
        model->surface_count = material->surface_id;
    model->materials[model->material_count] = *material;
    return (int32_t)model->material_count++;
}

/* `what` is a shape or a pair, `number` its number. */
static yk_status check_material(const yk_world_model *model, const yk_material *m, const char *what,
                                size_t number)
{
    /* A damper alone would never push a surface back. */
    bool yields = m->stiffness >= 0 && m->damping >= 0 && isfinite(m->stiffness + m->damping);
    if (!yields || (m->damping > 0 && !(m->stiffness > 0)))
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "%s %zu: stiffness (%g N/m) and damping (%g N s/m) must not be negative, "
                       "and a damped surface "
                       "needs a stiffness",
                       what, number, m->stiffness, m->damping);
    if (m->surface_id < 0)
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "%s %zu: the number of a surface is %d, it must not be negative", what,
                       number, m->surface_id);

    /* Static friction, cohesion, elasticity. */
    const struct {
        const char *name, *unit;
        double value;
    } others[] = {
        {"static friction", "", m->static_friction},
        {"Stribeck speed", " m/s", m->stribeck_velocity},
        {"cohesion", " N", m->cohesion},
        {"range of cohesion", " m", m->cohesion_range},
        {"modulus", " Pa", m->plane_strain_modulus},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!(others[i].value >= 0) || !isfinite(others[i].value))
            return yk_fail(model->context, YK_ERROR_ARGUMENT,
                           "%s %zu: the %s is %g%s, it must not be negative", what, number,
                           others[i].name, others[i].value, others[i].unit);

    /* Friction, restitution, rolling resistance. */
    bool positive = m->friction >= 0 && m->rolling_friction >= 0 && m->spinning_friction >= 0;
    bool finite =
        isfinite(m->friction) && isfinite(m->rolling_friction) && isfinite(m->spinning_friction);
    if (positive && finite && m->restitution >= 0 && m->restitution <= 1)
        return YK_OK;
    return yk_fail(model->context, YK_ERROR_ARGUMENT,
                   "%s %zu: friction, rolling and spinning must not be negative, restitution "
                   "lies in [0, 1]",
                   what, number);
}

static yk_status check_shape(const yk_world_model *model, const yk_nonsmooth_shape_def *def)
{
    bool good =
        yk_v3_finite(def->position) && yk_v3_finite(def->size) && yk_q_norm(def->orientation) > 0;

    /* A mesh is not a solid itself: its triangles must refer to its points. */
    if (def->kind == YK_SOLID_MESH) {
        good = good && def->points && def->triangles && def->triangle_count > 0;
        for (int i = 0; good && i < 3 * def->triangle_count; i++) {
            int corner = def->triangles[i / 3][i % 3];
            good = corner >= 0 && corner < def->point_count;
        }
    } else {
        yk_solid solid = {.kind = def->kind, .size = def->size, .points = def->points};
        solid.point_count = def->point_count;
        good = good && yk_solid_is_valid(&solid);
    }

    if (good)
        return YK_OK;
    return yk_fail(model->context, YK_ERROR_ARGUMENT,
                   "shape %zu: sizes must be positive, a hull needs four points, a mesh triangles "
                   "of existing points, and the kind (%d) must be a yk_solid_kind",
                   model->shape_count, (int)def->kind);
}

/* A part with a geometry and its points, if it has any. */
static yk_status add_part(yk_world_model *model, const yk_part *part,
                          const yk_part_geometry *geometry, const yk_vec3 *points, int point_count)
{
    if (RESERVE(model, parts, part_count, part_capacity, 1) != YK_OK ||
        RESERVE(model, geometries, geometry_count, geometry_capacity, 1) != YK_OK ||
        RESERVE(model, points, point_count, point_capacity, (size_t)point_count) != YK_OK)
        return YK_ERROR_MEMORY;

    /* Its geometry, with the points behind those of all others. */
    yk_part_geometry *placed = &model->geometries[model->geometry_count];
    *placed = *geometry;
    placed->first_point = (int32_t)model->point_count;
    placed->point_count = point_count;
    for (int i = 0; i < point_count; i++)
        model->points[model->point_count++] = points[i];

    model->parts[model->part_count] = *part;
    model->parts[model->part_count++].geometry = (int32_t)model->geometry_count++;
    return YK_OK;
}

static int compare_edges(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The outside of the triangles of a mesh, as in yk_solid. It is known if every edge belongs to two
 * triangles that use it in opposite directions, and the mesh encloses a volume. */
static yk_status find_outside(yk_context *context, const yk_nonsmooth_shape_def *def, int *outside)
{
    *outside = 0;
    size_t count = 3 * (size_t)def->triangle_count;

    /* The start of an edge in the upper half of its number, its end in the lower half. */
    uint64_t *edges = yk_allocate(context, count, sizeof *edges);
    if (!edges)
        return YK_ERROR_MEMORY;

    /* Six times the volume: tetrahedra over the triangles, from one of the points. */
    double volume = 0;
    yk_vec3 origin = def->points[def->triangles[0][0]];
    for (int i = 0; i < def->triangle_count; i++) {
        const int *corner = def->triangles[i];
        yk_vec3 a = yk_v3_sub(def->points[corner[0]], origin);
        yk_vec3 b = yk_v3_sub(def->points[corner[1]], origin);
        yk_vec3 c = yk_v3_sub(def->points[corner[2]], origin);
        volume += yk_v3_dot(a, yk_v3_cross(b, c));
        for (int k = 0; k < 3; k++)
            edges[3 * i + k] = (uint64_t)corner[k] << 32 | (uint32_t)corner[(k + 1) % 3];
    }

    /* Every edge exists once, and its reverse too. */
    qsort(edges, count, sizeof *edges, compare_edges);
    bool closed = true;
    for (size_t i = 0; i < count && closed; i++) {
        uint64_t back = edges[i] << 32 | edges[i] >> 32;
        bool twice = i + 1 < count && edges[i] == edges[i + 1];
        closed = !twice && bsearch(&back, edges, count, sizeof *edges, compare_edges);
    }

    yk_free(context, edges);

    /* Triangles that run anticlockwise seen from outside enclose a positive volume. */
    if (closed && volume != 0)
        *outside = volume > 0 ? 1 : -1;
    return YK_OK;
}

/* The origin of a triangle is its middle, so that its ball is small. */
static yk_status add_mesh(yk_world_model *model, const yk_nonsmooth_shape_def *def,
                          const yk_part *part, const yk_part_geometry *geometry)
{
    int outside;
    yk_status status = find_outside(model->context, def, &outside);
    if (status != YK_OK)
        return status;

    for (int i = 0; i < def->triangle_count; i++) {
        yk_vec3 corners[3], middle = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            corners[k] = def->points[def->triangles[i][k]];
            middle = yk_v3_axpy(1.0 / 3, corners[k], middle);
        }

        for (int k = 0; k < 3; k++)
            corners[k] = yk_v3_sub(corners[k], middle);

        yk_part_geometry placed = *geometry;
        placed.outside = outside;
        placed.position = yk_v3_add(placed.position, yk_q_rotate(placed.orientation, middle));
        if (add_part(model, part, &placed, corners, 3) != YK_OK)
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

int yk_world_add_shape(yk_nonsmooth *self, const yk_nonsmooth_shape_def *def)
{
    yk_world_model *model = &self->model;
    yk_status status = check_open(model, "a shape");

    if (status == YK_OK)
        status = check_body(model, def->body.index, true, "shape");
    if (status == YK_OK)
        status = check_shape(model, def);
    if (status == YK_OK)
        status = check_material(model, &def->material, "shape", model->shape_count);
    if (status != YK_OK)
        return YK_NO_ID;

    /* What the shape is, and where. */
    yk_part part = {
        .body = def->body.index,
        .shape = (int32_t)model->shape_count,
        .material = material_index(model, &def->material),
        .kind = (uint8_t)def->kind,
    };

    if (part.material < 0)
        return YK_NO_ID;

    /* Pose on its body, and collision groups. */
    yk_part_geometry geometry = {
        .position = def->position,
        .orientation = yk_q_unit(def->orientation),
        .size = def->size,
        .open = def->open_walls,
        .group = def->collision_group,
        .mask = def->collision_mask,
    };

    /* A mesh becomes one part per triangle. */
    if (def->kind == YK_SOLID_MESH) {
        status = add_mesh(model, def, &part, &geometry);
    } else {
        /* The points of kinds without points are ignored. */
        int points = yk_solid_has_points(def->kind) ? def->point_count : 0;
        status = add_part(model, &part, &geometry, def->points, points);
    }

    if (status != YK_OK)
        return YK_NO_ID;
    return (int)model->shape_count++;
}

int yk_world_add_pair(yk_nonsmooth *self, const yk_material_pair_def *def)
{
    yk_world_model *model = &self->model;
    size_t number = model->surface_pair_count;
    yk_status status = check_open(model, "a pair of surfaces");
    if (status == YK_OK)
        status = check_material(model, &def->material, "pair", number);

    /* Each pair of surfaces is given once, in either order. */
    int a = def->surface_ids[0];
    int b = def->surface_ids[1];
    if (status == YK_OK && (a <= 0 || b <= 0))
        status = yk_fail(model->context, YK_ERROR_ARGUMENT,
                         "pair %zu: surfaces %d and %d, they are numbered from 1", number, a, b);
    for (size_t i = 0; status == YK_OK && i < number; i++) {
        const int *other = model->surface_pairs[i].surface_ids;
        if ((other[0] == a && other[1] == b) || (other[0] == b && other[1] == a))
            status = yk_fail(model->context, YK_ERROR_ARGUMENT,
                             "pair %zu: the surfaces %d and %d are a pair already", number, a, b);
    }

    if (status == YK_OK)
        status = RESERVE(model, surface_pairs, surface_pair_count, surface_pair_capacity, 1);
    if (status != YK_OK)
        return YK_NO_ID;

    model->surface_pairs[number] = *def;

    /* Merged worlds shift their surface numbers. */
    for (int side = 0; side < 2; side++)
        if (def->surface_ids[side] > model->surface_count)
            model->surface_count = def->surface_ids[side];
    return (int)model->surface_pair_count++;
}

int yk_world_add_exclusion(yk_nonsmooth *self, const yk_exclusion_def *def)
{
    yk_world_model *model = &self->model;
    size_t number = model->exclusion_count;
    int a = def->bodies[0].index, b = def->bodies[1].index;
    yk_status status = check_open(model, "an exclusion");
    for (int side = 0; status == YK_OK && side < 2; side++)
        if (def->bodies[side].index < 0 || (size_t)def->bodies[side].index >= model->body_count)
            status =
                yk_fail(model->context, YK_ERROR_ARGUMENT,
                        "exclusion %zu: there is no body %d; shapes of the ground are excluded "
                        "by their group",
                        number, def->bodies[side].index);
    if (status == YK_OK && a == b)
        status = yk_fail(model->context, YK_ERROR_ARGUMENT,
                         "exclusion %zu: body %d does not touch itself in any case", number, a);

    if (status == YK_OK)
        status = RESERVE(model, exclusions, exclusion_count, exclusion_capacity, 1);
    if (status != YK_OK)
        return YK_NO_ID;

    model->exclusions[number] = (yk_exclusion){{a < b ? a : b, a < b ? b : a}};
    return (int)model->exclusion_count++;
}

/* No geometry and no tensor, because there may be millions of particles. */
int yk_world_add_sphere(yk_nonsmooth *self, yk_vec3 position, double radius, double density,
                        yk_material material)
{
    yk_world_model *model = &self->model;

    /* A homogeneous ball: m = 4/3 pi r^3 rho, J = 2/5 m r^2. */
    double mass = density * 4.0 / 3.0 * YK_PI * radius * radius * radius;
    double inertia = 0.4 * mass * radius * radius;

    /* Check it like any other body, although its tensor is not stored. */
    yk_nonsmooth_body_def def = yk_nonsmooth_body_default();
    def.position = position;
    def.mass = mass;
    def.inertia = yk_m3_scale(inertia, yk_m3_identity());

    yk_status status = check_open(model, "a sphere");
    if (status == YK_OK)
        status = check_motion(model, &def);
    if (status == YK_OK)
        status = check_inertia(model, &def);
    if (status == YK_OK)
        status = check_material(model, &material, "shape", model->shape_count);
    if (status != YK_OK)
        return YK_NO_ID;

    /* Allocate the part first, so that there is no body without it. */
    int32_t index = material_index(model, &material);
    if (index < 0)
        return YK_NO_ID;
    if (RESERVE(model, parts, part_count, part_capacity, 1) != YK_OK)
        return YK_NO_ID;

    /* The body and its only part, which shares its radius and its frame. */
    yk_body_model round = {
        .mass = mass,
        .radius = radius,
        .inertia = inertia,
        .tensor = -1,
        .drive = YK_MOVED_BY_FORCES,
    };
    int body = append_body(model, &def, &round);
    if (body == YK_NO_ID)
        return YK_NO_ID;

    model->parts[model->part_count++] = (yk_part){
        .body = body,
        .shape = (int32_t)model->shape_count++,
        .material = index,
        .kind = YK_SOLID_SPHERE,
        .round = 1,
        .geometry = -1,
    };
    return body;
}

yk_status yk_nonsmooth_resize_shape(yk_nonsmooth *self, int shape, yk_vec3 size)
{
    yk_world_model *model = &self->model;
    bool positive = size.x > 0 && size.y > 0 && size.z > 0;

    for (size_t i = 0; i < model->part_count && positive; i++) {
        const yk_part *part = &model->parts[i];
        if (part->shape != shape || part->geometry < 0)
            continue;
        if (yk_solid_has_points(part->kind))
            break;

        /* Find contacts again, and wake everything. */
        model->geometries[part->geometry].size = size;
        yk_collision_forget_list(&self->collision);
        if (self->started)
            yk_sleep_wake(self, -1);
        return YK_OK;
    }

    return yk_fail(model->context, YK_ERROR_ARGUMENT,
                   "shape %d cannot be resized: it must be a placed shape other than mesh or hull, "
                   "sizes positive",
                   shape);
}

/* Joints and forces ---------------------------------------------------------------------------- */

int yk_world_add_joint(yk_nonsmooth *self, const yk_joint_def *def)
{
    yk_world_model *model = &self->model;
    yk_status status = check_open(model, "a joint");

    /* Both sides exist and differ; one may be the ground. */
    for (int side = 0; side < 2 && status == YK_OK; side++)
        status = check_body(model, def->bodies[side].index, true, "joint");
    if (status == YK_OK && def->bodies[0].index == def->bodies[1].index)
        status = yk_fail(model->context, YK_ERROR_ARGUMENT, "joint %zu (%s) joins a body to itself",
                         model->joint_count, name_or_none(def->name));
    if (status == YK_OK && (def->signal_port.index != YK_NO_ID || def->adds_to.index != YK_NO_ID))
        status = yk_fail(model->context, YK_ERROR_ARGUMENT,
                         "joint %zu (%s): couplings of joints and drives by a signal need a "
                         "multibody system",
                         model->joint_count, name_or_none(def->name));
    if (status != YK_OK)
        return YK_NO_ID;

    if (RESERVE(model, joints, joint_count, joint_capacity, 1) != YK_OK)
        return YK_NO_ID;

    /* Count last, so that a failure has no effect. */
    yk_joint_model *joint = &model->joints[model->joint_count];
    *joint = (yk_joint_model){.def = *def, .joint = yk_joint_of(def), .port = -1, .driver = -1};
    if (copy_name(model, def->name, &joint->name) != YK_OK)
        return YK_NO_ID;
    return (int)model->joint_count++;
}

int yk_world_add_force(yk_nonsmooth *self, const yk_force_def *def)
{
    yk_world_model *model = &self->model;
    yk_status status = check_open(model, "a force");

    /* Check that the sides exist, and that the load is a function of time or a signal. */
    for (int side = 0; side < 2 && status == YK_OK; side++)
        status = check_body(model, def->bodies[side].index, true, "force");
    if (status == YK_OK && def->feedback.value)
        status = yk_fail(model->context, YK_ERROR_ARGUMENT,
                         "force %zu (%s): loads here are functions of time or signals",
                         model->force_count, name_or_none(def->name));
    if (status == YK_OK && def->signal_port.index >= (int)model->signal_count)
        status = yk_fail(model->context, YK_ERROR_ARGUMENT, "force %zu (%s): there is no signal %d",
                         model->force_count, name_or_none(def->name), def->signal_port.index);
    if (status != YK_OK)
        return YK_NO_ID;

    if (RESERVE(model, forces, force_count, force_capacity, 1) != YK_OK)
        return YK_NO_ID;

    yk_force_model *force = &model->forces[model->force_count];
    *force = (yk_force_model){.def = *def, .law = yk_force_of(def)};
    if (copy_name(model, def->name, &force->name) != YK_OK)
        return YK_NO_ID;
    return (int)model->force_count++;
}

static yk_status add_prescription(yk_world_model *model, const yk_prescription *prescription)
{
    int body = prescription->body;
    yk_status status = check_open(model, "a prescribed motion");

    if (status == YK_OK)
        status = check_body(model, body, false, "prescribed motion");
    if (status == YK_OK && model->bodies[body].drive >= YK_PRESCRIBED_BY_FUNCTION)
        status = yk_fail(model->context, YK_ERROR_ARGUMENT,
                         "the motion of body %d is prescribed twice", body);
    if (status != YK_OK)
        return status;

    if (RESERVE(model, prescriptions, prescription_count, prescription_capacity, 1) != YK_OK)
        return YK_ERROR_MEMORY;

    /* From here on the motion of the body is not an unknown. */
    model->prescriptions[model->prescription_count++] = *prescription;
    model->bodies[body].drive = YK_PRESCRIBED_BY_FUNCTION;
    return YK_OK;
}

yk_status yk_world_prescribe(yk_nonsmooth *self, int body, yk_motion_function function, void *user)
{
    return add_prescription(&self->model,
                            &(yk_prescription){.body = body, .function = function, .user = user});
}

yk_status yk_world_prescribe_path(yk_nonsmooth *self, int body, const yk_prescribed_path *path)
{
    return add_prescription(&self->model, &(yk_prescription){.body = body, .path = *path});
}

/* Ports and signals ---------------------------------------------------------------------------- */

yk_status yk_world_list_ports(yk_world_model *model)
{
    size_t count = model->port_count + model->signal_count;

    /* Allocated memory is stored in the model immediately, so that it is released with it. */
    yk_port *list = yk_reallocate(model->context, model->port_list, count, sizeof *list);

    if (list)
        model->port_list = list;

    int *numbers = yk_reallocate(model->context, model->port_numbers, count, sizeof *numbers);
    if (numbers)
        model->port_numbers = numbers;
    if (!list || !numbers)
        return YK_ERROR_MEMORY;

    /* Ports, then signals of each world, unless they have indices already. */
    int at = 0;
    for (int world = 0; world == 0 || world < model->world_count; world++) {
        int first = at;
        for (size_t i = 0; i < model->port_count; i++) {
            const yk_port_model *port = &model->ports[i];
            if (port->world != world)
                continue;

            int place = port->place > 0 ? first + port->place - 1 : at;
            at++;
            numbers[place] = (int)i;
            list[place] = (yk_port){
                .name = port->name,
                .kind = port->line ? YK_PORT_SCALAR : YK_PORT_MARKER,
                .allowed_causalities = YK_CAUSALITY_WRENCH_INPUT | YK_CAUSALITY_MOTION_INPUT,
            };
        }

        for (size_t i = 0; i < model->signal_count; i++) {
            yk_signal_model *signal = &model->signals[i];
            if (signal->world != world)
                continue;

            /* Signals are marked by the complement of their index. */
            int place = signal->place > 0 ? first + signal->place - 1 : at;
            at++;
            numbers[place] = ~(int)i;
            signal->index = place;
            list[place] = (yk_port){.name = signal->name,
                                    .kind = YK_PORT_SIGNAL,
                                    .allowed_causalities = YK_CAUSALITY_SIGNAL_INPUT};
        }
    }

    return YK_OK;
}

int yk_world_add_signal(yk_nonsmooth *self, const char *name)
{
    yk_world_model *model = &self->model;
    yk_status status = check_open(model, "a signal");

    if (status != YK_OK)
        return YK_NO_ID;

    if (RESERVE(model, signals, signal_count, signal_capacity, 1) != YK_OK)
        return YK_NO_ID;

    yk_signal_model *signal = &model->signals[model->signal_count];
    *signal = (yk_signal_model){0};
    if (copy_name(model, name, &signal->name) != YK_OK)
        return YK_NO_ID;

    /* The list of ports contains the signals too, and is rebuilt. */
    model->signal_count++;
    if (yk_world_list_ports(model) != YK_OK)
        return YK_NO_ID;

    return (int)model->signal_count - 1;
}

static int append_port(yk_world_model *model, const char *name, const yk_port_model *made)
{
    if (RESERVE(model, ports, port_count, port_capacity, 1) != YK_OK)
        return YK_NO_ID;

    /* Connecting the port may create a joint; there is none yet. */
    yk_port_model *port = &model->ports[model->port_count];
    *port = *made;
    port->joint = -1;
    port->marker.orientation = yk_q_unit(port->marker.orientation);
    if (copy_name(model, name, &port->name) != YK_OK)
        return YK_NO_ID;

    model->port_count++;
    if (yk_world_list_ports(model) != YK_OK)
        return YK_NO_ID;

    return (int)model->port_count - 1;
}

int yk_world_add_port(yk_nonsmooth *self, const char *name, int body, const yk_marker *marker)
{
    yk_world_model *model = &self->model;
    yk_status status = check_open(model, "a port");

    if (status == YK_OK)
        status = check_body(model, body, false, "port");
    if (status != YK_OK)
        return YK_NO_ID;

    /* Without a marker the port is at the frame of the body. */
    yk_port_model port = {.body = body, .marker = yk_marker_default(), .far_body = YK_GROUND_INDEX};
    if (marker)
        port.marker = *marker;
    return append_port(model, name, &port);
}

int yk_world_add_line_port(yk_nonsmooth *self, const char *name, const yk_body_id bodies[2],
                           const yk_marker marker[2])
{
    yk_world_model *model = &self->model;

    /* The near end is on a body. */
    int near = bodies[0].index == YK_GROUND_INDEX ? 1 : 0, far = 1 - near;
    yk_status status = check_open(model, "a port");
    if (status == YK_OK)
        status = check_body(model, bodies[near].index, false, "port");
    if (status == YK_OK)
        status = check_body(model, bodies[far].index, true, "port");
    if (status == YK_OK && bodies[0].index == bodies[1].index)
        status = yk_fail(model->context, YK_ERROR_ARGUMENT, "port %s: both ends are on one body",
                         name ? name : "");
    if (status != YK_OK)
        return YK_NO_ID;

    yk_port_model port = {
        .body = bodies[near].index,
        .marker = marker[near],
        .line = true,
        .far_body = bodies[far].index,
        .far_marker = marker[far],
    };
    return append_port(model, name, &port);
}
