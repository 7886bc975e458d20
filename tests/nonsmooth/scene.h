/* Small scenes for the tests of the nonsmooth module. */
#ifndef YOKE_TESTS_NONSMOOTH_SCENE_H
#define YOKE_TESTS_NONSMOOTH_SCENE_H

#include <stdlib.h>

#include "nonsmooth/nonsmooth.h"
#include "test.h"

static const double SCENE_G = 9.81;

typedef struct scene {
    yk_context *context;
    yk_nonsmooth *world;
} scene;

static inline yk_nonsmooth_def scene_default(void)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.gravity = yk_v3(0, 0, -SCENE_G);
    def.contact_options.max_iterations = 1000;
    def.contact_options.tolerance = 1e-12;
    def.thread_count = 1;
    return def;
}

static inline scene scene_make(const yk_nonsmooth_def *def)
{
    scene s = {.context = yk_context_create(NULL)};
    assert_non_null(s.context);
    assert_int_equal(yk_world_create(s.context, def, &s.world), YK_OK);
    return s;
}

static inline void scene_end(scene *s)
{
    yk_nonsmooth_destroy(s->world);
    yk_context_destroy(s->context);
}

static inline yk_vec3 tilted(double angle)
{
    return yk_v3(SCENE_G * sin(angle), 0, -SCENE_G * cos(angle));
}

static inline yk_material rough(double friction)
{
    return (yk_material){.friction = friction};
}

static inline int add_floor(scene *s, yk_material material)
{
    yk_nonsmooth_shape_def floor = yk_nonsmooth_shape_default();
    floor.kind = YK_SOLID_PLANE;
    floor.material = material;
    int shape = yk_world_add_shape(s->world, &floor);
    assert_true(shape >= 0);
    return shape;
}

static inline int add_solid(scene *s, yk_solid_kind kind, yk_vec3 size, yk_vec3 position,
                            yk_quat orientation, double mass, yk_mat3 inertia, yk_material material)
{
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.position = position;
    body.orientation = orientation;
    body.mass = mass;
    body.inertia = inertia;
    int number = yk_world_add_body(s->world, &body);
    assert_true(number >= 0);
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){number};
    shape.kind = kind;
    shape.size = size;
    shape.material = material;
    assert_true(yk_world_add_shape(s->world, &shape) >= 0);
    return number;
}

/* Half edges; mass homogeneous. */
static inline int add_box(scene *s, yk_vec3 half, yk_vec3 position, double mass,
                          yk_material material)
{
    double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    yk_mat3 inertia = yk_m3_scale(mass / 3, yk_m3_diagonal(y + z, x + z, x + y));
    return add_solid(s, YK_SOLID_BOX, half, position, yk_q_identity(), mass, inertia, material);
}

static inline int add_ball(scene *s, double radius, yk_vec3 position, yk_material material)
{
    int ball = yk_world_add_sphere(s->world, position, radius, 1000, material);
    assert_true(ball >= 0);
    return ball;
}

static inline void set_velocity(scene *s, int body, yk_vec3 velocity, yk_vec3 angular)
{
    yk_motion motion;
    yk_nonsmooth_body_motion(s->world, body, &motion);
    motion.velocity = velocity;
    motion.angular_velocity = angular;
    yk_nonsmooth_set_motion(s->world, body, &motion);
}

/* The state image, for the caller to free. */
static inline double *image_of(const scene *s, size_t *words)
{
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s->world);
    *words = subsystem->ops->rollback->layout(subsystem).word_count;
    double *image = malloc(*words * sizeof *image);
    subsystem->ops->rollback->get(subsystem, image);
    return image;
}

static inline yk_motion motion_of(const scene *s, int body)
{
    yk_motion motion;
    yk_nonsmooth_body_motion(s->world, body, &motion);
    return motion;
}

static inline void run(scene *s, double h, int steps)
{
    for (int i = 0; i < steps; i++) {
        yk_status status = yk_nonsmooth_step(s->world, h);
        if (YK_FAILED(status))
            fail_msg("step %d: %s", i, yk_last_message(s->context));
    }
}

static inline void start(scene *s, double h)
{
    yk_status status = yk_nonsmooth_start(s->world, 0, h);
    if (YK_FAILED(status))
        fail_msg("start: %s", yk_last_message(s->context));
}

#endif
