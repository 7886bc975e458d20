/* Building a model: bodies, shapes, joints, forces, ports, as the user numbers them. */
#include <string.h>

#include "base/text.h"
#include "mechanics/inertia.h"
#include "nonsmooth/world.h"

yk_nonsmooth_def yk_nonsmooth_default(void)
{
    yk_contact_options solver = yk_contact_options_default();
    solver.method = YK_CONTACT_GAUSS_SEIDEL;
    solver.friction = YK_FRICTION_CONE;
    solver.iterations = 50;
    solver.tolerance = 0;
    solver.warm_start = true;
    return (yk_nonsmooth_def){.gravity = {0, 0, -9.81}, .solver = solver, .sleeping = {.after = 0.5}};
}

yk_nonsmooth_body_def yk_nonsmooth_body_default(void)
{
    return (yk_nonsmooth_body_def){.orientation = {1, 0, 0, 0}, .mass = 1, .inertia = yk_m3_identity()};
}

yk_nonsmooth_shape_def yk_nonsmooth_shape_default(void)
{
    return (yk_nonsmooth_shape_def){.body = YK_WORLD,
                                    .kind = YK_SOLID_SPHERE,
                                    .orientation = {1, 0, 0, 0},
                                    .size = {1, 1, 1},
                                    .group = 1,
                                    .mask = ~0u};
}

yk_nonsmooth_joint_def yk_nonsmooth_joint_default(void)
{
    return (yk_nonsmooth_joint_def){.kind = YK_JOINT_CLAMP,
                                    .body_a = YK_WORLD,
                                    .body_b = YK_WORLD,
                                    .marker_a = yk_marker_default(),
                                    .marker_b = yk_marker_default()};
}

yk_nonsmooth_force_def yk_nonsmooth_force_default(void)
{
    return (yk_nonsmooth_force_def){.law = {.kind = YK_FORCE_VECTOR, .axes = {yk_m3_identity(), yk_m3_identity()}},
                                    .body_a = YK_WORLD,
                                    .body_b = YK_WORLD,
                                    .input = -1};
}

yk_status yk_nonsmooth_create(yk_context *context, const yk_nonsmooth_def *def, yk_nonsmooth **made)
{
    *made = NULL;
    yk_nonsmooth *self = yk_allocate(context, 1, sizeof *self);
    if (!self) return YK_ERROR_MEMORY;
    self->base.ops = yk_nonsmooth_ops();
    self->context = context;
    self->def = def ? *def : yk_nonsmooth_default();
    yk_status status = yk_pool_create(context, self->def.threads, &self->pool);
    if (status < 0) {
        yk_release(context, self);
        return status;
    }
    *made = self;
    return YK_OK;
}

static void release_names(yk_nonsmooth *self)
{
    yk_context *context = self->context;
    for (size_t i = 0; self->names && i < self->body_count; i++) yk_release(context, self->names[i]);
    for (size_t i = 0; i < self->joint_count; i++) yk_release(context, self->joints[i].name);
    for (size_t i = 0; i < self->force_count; i++) yk_release(context, self->forces[i].name);
    for (size_t i = 0; i < self->port_count; i++) yk_release(context, self->ports[i].name);
    for (size_t i = 0; i < self->signal_count; i++) yk_release(context, self->signals[i].name);
    yk_release(context, self->signals);
}

void yk_nonsmooth_destroy(yk_nonsmooth *self)
{
    if (!self) return;
    yk_world_release_layout(self);
    yk_world_release_channels(self);
    release_names(self);
    void *blocks[] = {self->initial,       self->models,       self->names,        self->tensors,
                      self->parts,         self->geometries,   self->points,       self->joints,
                      self->forces,        self->materials,    self->ports,        self->port_list,
                      self->prescriptions, self->port_numbers, self->world_bodies, self->world_joints,
                      self->driven_lengths};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) yk_release(self->context, blocks[i]);
    yk_pool_destroy(self->pool);
    yk_release(self->context, self);
}

/* Makes room for `extra` more elements; grows by half. */
static yk_status reserve(yk_nonsmooth *self, void *array, size_t *capacity, size_t count, size_t extra, size_t size)
{
    if (count + extra <= *capacity) return YK_OK;
    size_t grown = count + extra + count / 2 + 8;
    void **place = array;
    void *block = yk_reallocate(self->context, *place, grown, size);
    if (!block) return YK_ERROR_MEMORY;
    *place = block;
    *capacity = grown;
    return YK_OK;
}

#define RESERVE(self, list, count, capacity, extra) \
    reserve(self, &(self)->list, &(self)->capacity, (self)->count, extra, sizeof *(self)->list)

static yk_status check_open(const yk_nonsmooth *self, const char *what)
{
    if (!self->slot_of) return YK_OK;
    return yk_fail(self->context, YK_ERROR_ARGUMENT, "%s cannot be added after start: the model is frozen", what);
}

static yk_status check_body(const yk_nonsmooth *self, int body, bool world_allowed, const char *what)
{
    if ((body >= 0 && (size_t)body < self->body_count) || (world_allowed && body == YK_WORLD)) return YK_OK;
    return yk_fail(self->context, YK_ERROR_ARGUMENT, "%s: there is no body %d; bodies are numbered from 0 to %d", what,
                   body, (int)self->body_count - 1);
}

static yk_status copy_name(yk_nonsmooth *self, const char *name, char **copy)
{
    *copy = NULL;
    if (!name) return YK_OK;
    *copy = yk_text_copy(self->context, name);
    return *copy ? YK_OK : YK_ERROR_MEMORY;
}

/* Bodies ----------------------------------------------------------------------------------------------------------- */

/* Three lists of one length. */
static yk_status reserve_body(yk_nonsmooth *self)
{
    size_t capacity[3] = {self->body_capacity, self->body_capacity, self->body_capacity}, count = self->body_count;
    if (reserve(self, &self->initial, &capacity[0], count, 1, sizeof *self->initial) < 0 ||
        reserve(self, &self->models, &capacity[1], count, 1, sizeof *self->models) < 0 ||
        reserve(self, &self->names, &capacity[2], count, 1, sizeof *self->names) < 0)
        return YK_ERROR_MEMORY;
    self->body_capacity = capacity[2];
    return YK_OK;
}

static yk_status check_motion(yk_nonsmooth *self, const yk_nonsmooth_body_def *def)
{
    double q = yk_q_norm(def->orientation);
    if (yk_v3_finite(def->position) && yk_v3_finite(def->velocity) && yk_v3_finite(def->angular_velocity) && q > 0 &&
        isfinite(q))
        return YK_OK;
    return yk_fail(self->context, YK_ERROR_ARGUMENT, "body %zu (%s): position, velocity or orientation is not finite",
                   self->body_count, def->name ? def->name : "no name");
}

static yk_status check_inertia(yk_nonsmooth *self, const yk_nonsmooth_body_def *def)
{
    const char *name = def->name ? def->name : "no name";
    const yk_mat3 *j = &def->inertia;
    char why[240];
    if (!yk_inertia_possible(j, why, sizeof why))
        return yk_fail(self->context, YK_ERROR_ARGUMENT, "body %zu (%s): no body has its inertia tensor: %s",
                       self->body_count, name, why);

    /* Velocities follow impulses through the inverse, so a point mass or a line without thickness is not enough. */
    double minor = j->m[0][0] * j->m[1][1] - j->m[0][1] * j->m[1][0];
    double determinant = yk_m3_determinant(*j);
    if (isfinite(def->mass) && def->mass > 0 && j->m[0][0] > 0 && minor > 0 && determinant > 0) return YK_OK;
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "body %zu (%s): mass must be positive and the inertia tensor positive definite; set `fixed` for a "
                   "body that never moves",
                   self->body_count, name);
}

static yk_status add_tensor(yk_nonsmooth *self, const yk_mat3 *inertia, int32_t *index)
{
    if (RESERVE(self, tensors, tensor_count, tensor_capacity, 1) < 0) return YK_ERROR_MEMORY;
    *index = (int32_t)self->tensor_count;
    self->tensors[self->tensor_count++] = (yk_tensor){*inertia, yk_m3_inverse(*inertia)};
    return YK_OK;
}

static int append_body(yk_nonsmooth *self, const yk_nonsmooth_body_def *def, const yk_body_model *model)
{
    char *name;
    if (reserve_body(self) < 0 || copy_name(self, def->name, &name) < 0) return YK_ERROR_MEMORY;
    size_t i = self->body_count++;
    self->names[i] = name;
    self->initial[i] =
        (yk_body_state){def->position, yk_q_unit(def->orientation), def->velocity, def->angular_velocity};
    self->models[i] = *model;
    return (int)i;
}

int yk_nonsmooth_add_body(yk_nonsmooth *self, const yk_nonsmooth_body_def *def)
{
    yk_status status = check_open(self, "a body");
    if (status == YK_OK) status = check_motion(self, def);
    if (status == YK_OK && !def->fixed) status = check_inertia(self, def);
    if (status < 0) return status;
    yk_body_model model = {.tensor = -1, .drive = YK_FIXED};
    yk_nonsmooth_body_def used = *def;
    if (def->fixed) {
        used.velocity = used.angular_velocity = yk_v3(0, 0, 0);
    } else {
        model.mass = def->mass;
        model.drive = YK_MOVED_BY_FORCES;
        if (add_tensor(self, &def->inertia, &model.tensor) < 0) return YK_ERROR_MEMORY;
    }
    return append_body(self, &used, &model);
}

int yk_nonsmooth_find_body(const yk_nonsmooth *self, const char *name)
{
    for (size_t i = 0; i < self->body_count; i++)
        if (self->names[i] && strcmp(self->names[i], name) == 0) return (int)i;
    return -1;
}

int yk_nonsmooth_body_count(const yk_nonsmooth *self)
{
    return (int)self->body_count;
}

/* Shapes ----------------------------------------------------------------------------------------------------------- */

/* Index of an equal material, added where there is none among the last few. */
static int32_t material_index(yk_nonsmooth *self, const yk_material *material)
{
    for (size_t k = 0; k < self->material_count && k < 16; k++) {
        size_t i = self->material_count - 1 - k;
        const yk_material *m = &self->materials[i];
        if (m->friction == material->friction && m->restitution == material->restitution &&
            m->rolling == material->rolling && m->spinning == material->spinning &&
            m->stiffness == material->stiffness && m->damping == material->damping)
            return (int32_t)i;
    }
    if (RESERVE(self, materials, material_count, material_capacity, 1) < 0) return YK_ERROR_MEMORY;
    self->materials[self->material_count] = *material;
    return (int32_t)self->material_count++;
}

static yk_status check_material(yk_nonsmooth *self, const yk_material *m)
{
    if (!(m->stiffness >= 0) || !(m->damping >= 0) || !isfinite(m->stiffness + m->damping) ||
        (m->damping > 0 && !(m->stiffness > 0)))
        return yk_fail(
            self->context, YK_ERROR_ARGUMENT,
            "shape %zu: stiffness (%g N/m) and damping (%g N s/m) must not be negative, and a damped surface "
            "needs a stiffness",
            self->shape_count, m->stiffness, m->damping);
    if (m->friction >= 0 && m->restitution >= 0 && m->restitution <= 1 && m->rolling >= 0 && m->spinning >= 0 &&
        isfinite(m->friction) && isfinite(m->rolling) && isfinite(m->spinning))
        return YK_OK;
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "shape %zu: friction, rolling and spinning must not be negative, restitution lies in [0, 1]",
                   self->shape_count);
}

static bool is_mesh(const yk_nonsmooth_shape_def *def)
{
    if (!def->points || !def->triangles || def->triangle_count <= 0) return false;
    for (int i = 0; i < 3 * def->triangle_count; i++) {
        int corner = def->triangles[i / 3][i % 3];
        if (corner < 0 || corner >= def->point_count) return false;
    }
    return yk_v3_finite(def->size);
}

static yk_status check_shape(yk_nonsmooth *self, const yk_nonsmooth_shape_def *def)
{
    yk_solid solid = {.kind = def->kind, .size = def->size, .points = def->points, .point_count = def->point_count};
    bool good = def->kind == YK_SOLID_TRIANGLE ? is_mesh(def) : yk_solid_is_valid(&solid);
    if (good && yk_v3_finite(def->position) && yk_q_norm(def->orientation) > 0) return YK_OK;
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "shape %zu: sizes must be positive, a hull needs four points, a mesh triangles of existing points",
                   self->shape_count);
}

static yk_status add_points(yk_nonsmooth *self, const yk_vec3 *points, int count, int32_t *first)
{
    if (RESERVE(self, points, point_count, point_capacity, (size_t)count) < 0) return YK_ERROR_MEMORY;
    *first = (int32_t)self->point_count;
    for (int i = 0; i < count; i++) self->points[self->point_count++] = points[i];
    return YK_OK;
}

static yk_status add_part(yk_nonsmooth *self, const yk_part *part, const yk_part_geometry *geometry)
{
    if (RESERVE(self, parts, part_count, part_capacity, 1) < 0) return YK_ERROR_MEMORY;
    self->parts[self->part_count] = *part;
    if (geometry) {
        if (RESERVE(self, geometries, geometry_count, geometry_capacity, 1) < 0) return YK_ERROR_MEMORY;
        self->parts[self->part_count].geometry = (int32_t)self->geometry_count;
        self->geometries[self->geometry_count++] = *geometry;
    }
    self->part_count++;
    return YK_OK;
}

/* Triangles sit at their middle, so that their balls are small. */
static yk_status add_mesh(yk_nonsmooth *self, const yk_nonsmooth_shape_def *def, const yk_part *part,
                          const yk_part_geometry *geometry)
{
    for (int i = 0; i < def->triangle_count; i++) {
        yk_vec3 corners[3], middle = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            corners[k] = def->points[def->triangles[i][k]];
            middle = yk_v3_axpy(1.0 / 3, corners[k], middle);
        }
        for (int k = 0; k < 3; k++) corners[k] = yk_v3_sub(corners[k], middle);
        yk_part_geometry placed = *geometry;
        placed.position = yk_v3_add(placed.position, yk_q_rotate(placed.orientation, middle));
        placed.point_count = 3;
        if (add_points(self, corners, 3, &placed.first_point) < 0) return YK_ERROR_MEMORY;
        if (add_part(self, part, &placed) < 0) return YK_ERROR_MEMORY;
    }
    return YK_OK;
}

int yk_nonsmooth_add_shape(yk_nonsmooth *self, const yk_nonsmooth_shape_def *def)
{
    yk_status status = check_open(self, "a shape");
    if (status == YK_OK) status = check_body(self, def->body, true, "shape");
    if (status == YK_OK) status = check_shape(self, def);
    if (status == YK_OK) status = check_material(self, &def->material);
    if (status < 0) return status;
    yk_part part = {.body = def->body,
                    .shape = (int32_t)self->shape_count,
                    .material = material_index(self, &def->material),
                    .kind = (uint8_t)def->kind,
                    .geometry = -1};
    yk_part_geometry geometry = {.position = def->position,
                                 .orientation = yk_q_unit(def->orientation),
                                 .size = def->size,
                                 .open = def->open,
                                 .group = def->group,
                                 .mask = def->mask};
    if (part.material < 0) return part.material;
    if (def->kind == YK_SOLID_TRIANGLE) {
        status = add_mesh(self, def, &part, &geometry);
    } else {
        if (def->kind == YK_SOLID_HULL) {
            geometry.point_count = def->point_count;
            status = add_points(self, def->points, def->point_count, &geometry.first_point);
        }
        if (status == YK_OK) status = add_part(self, &part, &geometry);
    }
    return status < 0 ? (int)status : (int)self->shape_count++;
}

/* No placement and no tensor: a million of these must stay small. */
int yk_nonsmooth_add_sphere(yk_nonsmooth *self, yk_vec3 position, double radius, double density, yk_material material)
{
    yk_nonsmooth_body_def def = yk_nonsmooth_body_default();
    def.position = position;
    double mass = density * 4.0 / 3.0 * YK_PI * radius * radius * radius;
    def.mass = mass;
    def.inertia = yk_m3_scale(0.4 * mass * radius * radius, yk_m3_identity());
    yk_status status = check_open(self, "a sphere");
    if (status == YK_OK) status = check_motion(self, &def);
    if (status == YK_OK) status = check_inertia(self, &def);
    if (status == YK_OK) status = check_material(self, &material);
    if (status < 0) return status;
    int32_t index = material_index(self, &material);
    if (index < 0) return index;
    yk_body_model model = {.mass = mass,
                           .radius = radius,
                           .inertia = 0.4 * mass * radius * radius,
                           .tensor = -1,
                           .drive = YK_MOVED_BY_FORCES};
    int body = append_body(self, &def, &model);
    if (body < 0) return body;
    yk_part part = {.body = body,
                    .shape = (int32_t)self->shape_count,
                    .material = index,
                    .kind = YK_SOLID_SPHERE,
                    .round = 1,
                    .geometry = -1};
    if (add_part(self, &part, NULL) < 0) return YK_ERROR_MEMORY;
    self->shape_count++;
    return body;
}

yk_status yk_nonsmooth_resize_shape(yk_nonsmooth *self, int shape, yk_vec3 size)
{
    for (size_t i = 0; i < self->part_count; i++) {
        const yk_part *part = &self->parts[i];
        if (part->shape != shape || part->geometry < 0) continue;
        if (!(size.x > 0 && size.y > 0 && size.z > 0) || !yk_solid_is_resizable(part->kind)) break;
        self->geometries[part->geometry].size = size;
        yk_world_forget_list(self);
        if (self->started) yk_sleep_wake(self, -1);
        return YK_OK;
    }
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "shape %d cannot be resized: it must be a placed shape other than mesh or hull, sizes positive",
                   shape);
}

/* Joints, forces, ports -------------------------------------------------------------------------------------------- */

int yk_nonsmooth_add_joint(yk_nonsmooth *self, const yk_nonsmooth_joint_def *def)
{
    yk_status status = check_open(self, "a joint");
    if (status == YK_OK) status = check_body(self, def->body_a, true, "joint");
    if (status == YK_OK) status = check_body(self, def->body_b, true, "joint");
    if (status == YK_OK && def->body_a == def->body_b)
        status = yk_fail(self->context, YK_ERROR_ARGUMENT, "joint %zu (%s) joins a body to itself", self->joint_count,
                         def->name ? def->name : "no name");
    if (status < 0) return status;
    if (RESERVE(self, joints, joint_count, joint_capacity, 1) < 0) return YK_ERROR_MEMORY;
    yk_joint_slot *joint = &self->joints[self->joint_count];
    *joint = (yk_joint_slot){.def = *def,
                             .port = -1,
                             .driver = -1,
                             .joint = yk_joint_make(def->kind, &def->marker_a, &def->marker_b, def->length)};
    if (def->kind == YK_JOINT_AXES) joint->joint = yk_joint_of_axes(def->constrained, &def->marker_a, &def->marker_b);
    if (copy_name(self, def->name, &joint->name) < 0) return YK_ERROR_MEMORY;
    return (int)self->joint_count++;
}

int yk_nonsmooth_add_force(yk_nonsmooth *self, const yk_nonsmooth_force_def *def)
{
    yk_status status = check_open(self, "a force");
    if (status == YK_OK) status = check_body(self, def->body_a, true, "force");
    if (status == YK_OK) status = check_body(self, def->body_b, true, "force");
    if (status == YK_OK && def->input >= (int)self->signal_count)
        status = yk_fail(self->context, YK_ERROR_ARGUMENT, "force %zu (%s): there is no signal %d", self->force_count,
                         def->name ? def->name : "no name", def->input);
    if (status < 0) return status;
    if (RESERVE(self, forces, force_count, force_capacity, 1) < 0) return YK_ERROR_MEMORY;
    yk_force_slot *force = &self->forces[self->force_count];
    *force = (yk_force_slot){.def = *def};
    if (copy_name(self, def->name, &force->name) < 0) return YK_ERROR_MEMORY;
    return (int)self->force_count++;
}

yk_status yk_world_list_ports(yk_nonsmooth *self)
{
    size_t count = self->port_count + self->signal_count;
    yk_port *list = yk_reallocate(self->context, self->port_list, count, sizeof *list);
    if (list) self->port_list = list;
    int *listed = yk_reallocate(self->context, self->port_numbers, count, sizeof *listed);
    if (listed) self->port_numbers = listed;
    if (!list || !listed) return YK_ERROR_MEMORY;

    int at = 0;
    for (int world = 0; world == 0 || world < self->world_count; world++) {
        for (size_t i = 0; i < self->port_count; i++) {
            if (self->ports[i].world != world) continue;
            listed[at] = (int)i;
            list[at++] = (yk_port){.name = self->ports[i].name,
                                   .kind = self->ports[i].line ? YK_PORT_SCALAR : YK_PORT_MARKER,
                                   .causalities = YK_TAKES_WRENCH | YK_TAKES_MOTION};
        }
        for (size_t i = 0; i < self->signal_count; i++) {
            if (self->signals[i].world != world) continue;
            listed[at] = ~(int)i;
            self->signals[i].place = at;
            list[at++] =
                (yk_port){.name = self->signals[i].name, .kind = YK_PORT_SIGNAL, .causalities = YK_TAKES_SIGNAL};
        }
    }
    return YK_OK;
}

int yk_nonsmooth_add_signal(yk_nonsmooth *self, const char *name)
{
    yk_status status = check_open(self, "a signal");
    if (status < 0) return status;
    if (RESERVE(self, signals, signal_count, signal_capacity, 1) < 0) return YK_ERROR_MEMORY;
    yk_signal_slot *signal = &self->signals[self->signal_count];
    *signal = (yk_signal_slot){0};
    if (copy_name(self, name, &signal->name) < 0) return YK_ERROR_MEMORY;
    self->signal_count++;
    status = yk_world_list_ports(self);
    return status < 0 ? status : (int)self->signal_count - 1;
}

int yk_nonsmooth_find_signal(const yk_nonsmooth *self, const char *name)
{
    for (size_t i = 0; i < self->signal_count; i++)
        if (strcmp(self->signals[i].name, name) == 0) return (int)i;
    return -1;
}

static int append_port(yk_nonsmooth *self, const char *name, const yk_port_slot *made)
{
    if (RESERVE(self, ports, port_count, port_capacity, 1) < 0) return YK_ERROR_MEMORY;
    yk_port_slot *port = &self->ports[self->port_count];
    *port = *made;
    port->joint = -1;
    port->marker.orientation = yk_q_unit(port->marker.orientation);
    if (copy_name(self, name, &port->name) < 0) return YK_ERROR_MEMORY;
    self->port_count++;
    yk_status status = yk_world_list_ports(self);
    return status < 0 ? status : (int)self->port_count - 1;
}

int yk_nonsmooth_add_port(yk_nonsmooth *self, const char *name, int body, const yk_marker *marker)
{
    yk_status status = check_open(self, "a port");
    if (status == YK_OK) status = check_body(self, body, false, "port");
    if (status < 0) return status;
    yk_port_slot port = {.body = body, .marker = marker ? *marker : yk_marker_default(), .far_body = YK_WORLD};
    return append_port(self, name, &port);
}

int yk_nonsmooth_add_line_port(yk_nonsmooth *self, const char *name, const int body[2], const yk_marker marker[2])
{
    int near = body[0] == YK_WORLD ? 1 : 0, far = 1 - near;
    yk_status status = check_open(self, "a port");
    if (status == YK_OK) status = check_body(self, body[near], false, "port");
    if (status == YK_OK) status = check_body(self, body[far], true, "port");
    if (status == YK_OK && body[0] == body[1])
        status = yk_fail(self->context, YK_ERROR_ARGUMENT, "port %s: both ends are on one body", name ? name : "");
    if (status < 0) return status;
    yk_port_slot port = {
        .body = body[near], .marker = marker[near], .line = true, .far_body = body[far], .far_marker = marker[far]};
    return append_port(self, name, &port);
}

static yk_status add_prescription(yk_nonsmooth *self, const yk_prescription *prescription)
{
    int body = prescription->body;
    yk_status status = check_open(self, "a prescribed motion");
    if (status == YK_OK) status = check_body(self, body, false, "prescribed motion");
    if (status == YK_OK && self->models[body].drive >= YK_PRESCRIBED_BY_FUNCTION)
        status = yk_fail(self->context, YK_ERROR_ARGUMENT, "the motion of body %d is prescribed twice", body);
    if (status < 0) return status;
    if (RESERVE(self, prescriptions, prescription_count, prescription_capacity, 1) < 0) return YK_ERROR_MEMORY;
    self->prescriptions[self->prescription_count++] = *prescription;
    self->models[body].drive = YK_PRESCRIBED_BY_FUNCTION;
    return YK_OK;
}

yk_status yk_nonsmooth_prescribe(yk_nonsmooth *self, int body, yk_motion_function function, void *user)
{
    return add_prescription(self, &(yk_prescription){.body = body, .function = function, .user = user});
}

yk_status yk_nonsmooth_prescribe_path(yk_nonsmooth *self, int body, const yk_nonsmooth_path *path)
{
    return add_prescription(self, &(yk_prescription){.body = body, .path = *path});
}
