/* The scenes in Yoke, through its public C interface. Methods: chain two-step, runge-kutta; heap default; stack default. */
#include "scene.h"

#include <yoke/access.h>
#include <yoke/multibody.h>
#include <yoke/nonsmooth.h>
#include <yoke/system.h>

static yk_system *create_system(yk_context *context, yk_subsystem *subsystem, double step)
{
    yk_system_def def = yk_system_default();
    def.macro_step = step;
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_system_add_owned_subsystem(builder, "scene", subsystem);
    yk_system *system = NULL;
    if (YK_FAILED(yk_system_create(builder, &system)) || YK_FAILED(yk_system_initialize(system))) {
        fprintf(stderr, "yoke: %s\n", yk_last_message(context));
        exit(1);
    }
    return system;
}

static void run_steps(yk_context *context, yk_system *system, int steps)
{
    for (int i = 0; i < steps; i++) {
        if (YK_FAILED(yk_system_step(system, NULL))) {
            fprintf(stderr, "yoke: %s\n", yk_last_message(context));
            exit(1);
        }
    }
}

static yk_body_state *read_bodies(yk_system *system, yk_body_id first, int count)
{
    yk_body_state *states = calloc((size_t)count, sizeof *states);
    if (!states ||
        YK_FAILED(yk_system_read_bodies(system, (yk_subsystem_id){0}, first, count, states)))
        exit(1);
    return states;
}

static int run_chain(yk_context *context, const request *r)
{
    yk_multibody_def def = yk_multibody_default();
    if (strcmp(r->method, "runge-kutta") == 0)
        def.options.integrator = YK_MULTIBODY_RUNGE_KUTTA;
    else if (strcmp(r->method, "two-step") != 0)
        return unknown_method(r);
    yk_multibody_builder *chain = yk_multibody_begin(context, &def);
    yk_mat3 inertia = yk_inertia_box(LINK_MASS, LINK_LENGTH, LINK_WIDTH, LINK_WIDTH);
    char(*names)[2][32] = calloc((size_t)r->count, sizeof *names);
    yk_body_id before = YK_GROUND;
    for (int i = 0; names && i < r->count; i++) {
        char(*name)[32] = names[i];
        snprintf(name[0], sizeof name[0], "link_%d", i);
        snprintf(name[1], sizeof name[1], "pin_%d", i);
        yk_multibody_body_def link = yk_multibody_body_named(
            name[0], LINK_MASS, inertia, (yk_vec3){(i + 0.5) * LINK_LENGTH, 0, 0});
        yk_body_id body = yk_multibody_add_body(chain, &link);
        yk_marker axis = yk_marker_along((yk_vec3){i * LINK_LENGTH, 0, 0}, (yk_vec3){0, 1, 0});
        yk_joint_def pin = yk_joint_at(name[1], YK_JOINT_REVOLUTE, before, body, axis);
        yk_multibody_add_joint(chain, &pin);
        before = body;
    }
    yk_system *system = create_system(context, yk_multibody_create_or_null(chain), r->step);

    int steps = (int)lround(CHAIN_END / r->step);
    double began = cpu_seconds();
    run_steps(context, system, steps);
    double seconds = cpu_seconds() - began;

    yk_body_state *states = read_bodies(system, (yk_body_id){0}, r->count);
    link_state *links = calloc((size_t)r->count, sizeof *links);
    for (int i = 0; i < r->count; i++) {
        const yk_body_state *s = &states[i];
        yk_quat q = s->orientation;
        links[i] = (link_state){s->position.x,
                                s->position.z,
                                s->velocity.x,
                                s->velocity.z,
                                s->angular_velocity.y,
                                1 - 2 * (q.y * q.y + q.z * q.z),
                                2 * (q.x * q.z - q.w * q.y)};
    }
    report_chain("Yoke", r->method, r->count, r->step, steps, seconds, links);
    free(links);
    free(states);
    free(names);
    yk_system_destroy(system);
    return 0;
}

static int run_heap(yk_context *context, const request *r)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    yk_nonsmooth_builder *heap = yk_nonsmooth_begin(context, &def);
    yk_material material = {.friction = HEAP_FRICTION};
    yk_nonsmooth_shape_def box = yk_nonsmooth_shape_default();
    box.body = YK_GROUND;
    box.kind = YK_SOLID_BOX_CAVITY;
    box.size = (yk_vec3){heap_width() / 2, heap_width() / 2, 5};
    box.position.z = 5;
    box.open_walls = YK_WALL_TOP;
    box.material = material;
    yk_nonsmooth_add_shape(heap, &box);
    yk_body_id first = YK_NULL_BODY;
    for (int i = 0; i < r->count; i++) {
        double center[3];
        heap_start(i, center);
        yk_body_id body = yk_nonsmooth_add_sphere(heap, (yk_vec3){center[0], center[1], center[2]},
                                                  SPHERE_RADIUS, SPHERE_DENSITY, material);
        if (i == 0)
            first = body;
    }
    yk_system *system = create_system(context, yk_nonsmooth_create_or_null(heap), r->step);

    int steps = (int)lround(HEAP_END / r->step), measured = (int)lround(HEAP_MEASURED / r->step);
    run_steps(context, system, steps - measured);
    double began = cpu_seconds();
    run_steps(context, system, measured);
    double seconds = cpu_seconds() - began;

    yk_body_state *states = read_bodies(system, first, r->count);
    double(*center)[3] = calloc((size_t)r->count, sizeof *center),
    (*velocity)[3] = calloc((size_t)r->count, sizeof *velocity);
    for (int i = 0; i < r->count; i++) {
        memcpy(center[i], &states[i].position, sizeof center[i]);
        memcpy(velocity[i], &states[i].velocity, sizeof velocity[i]);
    }
    report_heap("Yoke", r->method, r->count, r->step, measured, seconds, center, velocity);
    free(center);
    free(velocity);
    free(states);
    yk_system_destroy(system);
    return 0;
}

static int run_stack(yk_context *context, const request *r)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    yk_nonsmooth_builder *stack = yk_nonsmooth_begin(context, &def);
    yk_nonsmooth_shape_def floor = yk_nonsmooth_shape_default();
    floor.body = YK_GROUND;
    floor.kind = YK_SOLID_PLANE;
    floor.material = (yk_material){.friction = STACK_FRICTION};
    yk_nonsmooth_add_shape(stack, &floor);
    yk_body_id body = YK_NULL_BODY;
    for (int i = 0; i < STACK_BOXES; i++) {
        double mass = i == STACK_BOXES - 1 ? TOP_MASS : BOX_MASS;
        yk_mat3 inertia = yk_inertia_box(mass, BOX_EDGE, BOX_EDGE, BOX_EDGE);
        yk_nonsmooth_body_def box =
            yk_nonsmooth_body_named(NULL, mass, inertia, (yk_vec3){0, 0, (i + 0.5) * BOX_EDGE});
        body = yk_nonsmooth_add_body(stack, &box);
        yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
        shape.body = body;
        shape.kind = YK_SOLID_BOX;
        shape.size = (yk_vec3){BOX_EDGE / 2, BOX_EDGE / 2, BOX_EDGE / 2};
        shape.material = (yk_material){.friction = STACK_FRICTION};
        yk_nonsmooth_add_shape(stack, &shape);
    }
    yk_system *system = create_system(context, yk_nonsmooth_create_or_null(stack), r->step);

    int steps = (int)lround(STACK_END / r->step);
    double seconds = 0, speed = 0;
    yk_body_state top = {0};
    for (int i = 0; i < steps; i++) {
        double began = cpu_seconds();
        run_steps(context, system, 1);
        seconds += cpu_seconds() - began;
        yk_system_read_bodies(system, (yk_subsystem_id){0}, body, 1, &top);
        yk_vec3 v = top.velocity;
        if (i >= steps - steps / 5)
            speed = fmax(speed, sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
    }
    double position[3] = {top.position.x, top.position.y, top.position.z};
    report_stack("Yoke", r->method, r->step, steps, seconds, position, speed);
    yk_system_destroy(system);
    return 0;
}

int main(int argc, char **argv)
{
    request r = read_request(argc, argv);
    yk_context *context = yk_context_create(NULL);
    int code = strcmp(r.scene, "chain") == 0  ? run_chain(context, &r)
               : strcmp(r.scene, "heap") == 0 ? run_heap(context, &r)
                                              : run_stack(context, &r);
    yk_context_destroy(context);
    return code;
}
