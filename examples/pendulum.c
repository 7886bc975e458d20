/* A pendulum that carries a box of particles: two solvers, each with its own method, joined at
 * one marker.
 *
 *   cc pendulum.c $(pkg-config --cflags --libs yoke) -lm */
#include <stdio.h>
#include <yoke/coupling.h>
#include <yoke/nonsmooth.h>
#include <yoke/smooth.h>

int main(void)
{
    yk_context *context = yk_context_create(NULL);

    /* A rod of 2 kg along x, on a pin about y. */
    yk_smooth_builder *pendulum = yk_smooth_begin(context, NULL);
    yk_smooth_body_def rod = yk_smooth_body_default();
    rod.name = "rod", rod.mass = 2, rod.inertia = yk_inertia_box(2, 1, 0.04, 0.04),
    rod.position.x = 0.5;
    int rod_id = yk_smooth_add_body(pendulum, &rod);
    yk_joint_def pin = yk_joint_default();
    pin.name = "pin", pin.kind = YK_JOINT_REVOLUTE, pin.body[1] = rod_id;
    pin.marker[0] = yk_marker_along((yk_vec3){0, 0, 0}, (yk_vec3){0, 1, 0});
    pin.marker[1] = yk_marker_along((yk_vec3){-0.5, 0, 0}, (yk_vec3){0, 1, 0});
    yk_smooth_add_joint(pendulum, &pin);
    yk_port_def tip = yk_marker_port("tip", rod_id, yk_marker_at(0.5, 0, 0));
    yk_smooth_add_port(pendulum, &tip);

    /* A box of 0.2 kg with 60 spheres in it. */
    yk_nonsmooth_builder *damper = yk_nonsmooth_begin(context, NULL);
    yk_nonsmooth_body_def box = yk_nonsmooth_body_default();
    box.name = "box", box.mass = 0.2, box.inertia = yk_inertia_box(0.2, 0.1, 0.1, 0.1),
    box.position.x = 1;
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.body = yk_nonsmooth_add_body(damper, &box);
    cavity.kind = YK_SOLID_BOX_CAVITY, cavity.size = (yk_vec3){0.05, 0.05, 0.05},
    cavity.material.friction = 0.3;
    yk_nonsmooth_add_shape(damper, &cavity);
    yk_particles_def spheres = yk_particles_default();
    spheres.packing.cavity = cavity.kind, spheres.packing.size = cavity.size,
    spheres.packing.material = cavity.material;
    spheres.packing.count = 60, spheres.packing.radius = 0.006, spheres.packing.density = 7800,
    spheres.position.x = 1;
    yk_nonsmooth_add_particles(damper, &spheres);
    yk_port_def container = yk_marker_port("container", cavity.body, yk_marker_default());
    yk_nonsmooth_add_port(damper, &container);

    /* The box is clamped to the tip: it follows the rod, which feels its weight and the impacts
     * in it. */
    yk_subsystem *parts[2];
    yk_status status = yk_smooth_create(pendulum, &parts[0]);
    if (!YK_FAILED(status))
        status = yk_nonsmooth_create(damper, &parts[1]);
    const char *names[] = {"pendulum", "damper"};
    yk_system *system = NULL;
    if (!YK_FAILED(status)) {
        yk_interface_def clamp = {
            .name = "clamp", .motion_subsystem = 1, .constrained = YK_AXES_ALL};
        clamp.wrench_port = yk_subsystem_find_port(parts[0], "tip");
        clamp.motion_port = yk_subsystem_find_port(parts[1], "container");
        yk_system_def def = {parts, names, .subsystem_count = 2, .interfaces = &clamp,
                             .interface_count = 1};
        def.scheme = yk_scheme_default(), def.step = 1e-4;
        status = yk_system_create(context, &def, &system);
    }
    if (!YK_FAILED(status))
        status = yk_system_start(system);
    while (!YK_FAILED(status) && yk_system_time(system) < 0.3)
        status = yk_system_step(system, NULL);
    if (YK_FAILED(status)) {
        fprintf(stderr, "%s: %s\n", yk_status_text(status), yk_last_message(context));
        return 1;
    }
    yk_vec3 at =
        yk_system_output(system, 0, yk_system_find_port(system, 0, "tip"))->motion.position;
    printf("Yoke %s: after %g s the tip is at x = %.4f m, z = %.4f m\n", yk_version(),
           yk_system_time(system), at.x, at.z);
    yk_system_destroy(system);
    for (int i = 0; i < 2; i++)
        parts[i]->ops->destroy(parts[i]);
    yk_context_destroy(context);
    return 0;
}
