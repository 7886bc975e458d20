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
    yk_smooth_body_def rod = yk_smooth_body_named("rod", 2, yk_inertia_box(2, 1, 0.04, 0.04));
    rod.position.x = 0.5;
    int rod_id = yk_smooth_add_body(pendulum, &rod);
    yk_joint_def pin = yk_joint_named("pin", YK_JOINT_REVOLUTE, YK_GROUND, rod_id);
    pin.marker[0] = yk_marker_along((yk_vec3){0, 0, 0}, (yk_vec3){0, 1, 0});
    pin.marker[1] = yk_marker_on(pin.marker[0], rod.position, rod.orientation);
    yk_smooth_add_joint(pendulum, &pin);
    yk_port_def tip = yk_marker_port("tip", rod_id, yk_marker_at(0.5, 0, 0));
    int tip_id = yk_smooth_add_port(pendulum, &tip);

    /* A box of 0.2 kg at its end, with 60 steel spheres in it. */
    yk_nonsmooth_builder *damper = yk_nonsmooth_begin(context, NULL);
    yk_mat3 inertia = yk_inertia_box(0.2, 0.1, 0.1, 0.1);
    yk_nonsmooth_body_def box = yk_nonsmooth_body_named("box", 0.2, inertia);
    box.position.x = 1;
    int box_id = yk_nonsmooth_add_body(damper, &box);
    yk_particles_def spheres = yk_particles_default();
    spheres.packing.cavity = YK_SOLID_BOX_CAVITY;
    spheres.packing.size = (yk_vec3){0.05, 0.05, 0.05};
    spheres.packing.count = 60;
    spheres.packing.radius = 0.006;
    spheres.position = box.position;
    yk_nonsmooth_shape_def cavity = yk_packing_cavity(&spheres.packing, box_id);
    yk_nonsmooth_add_shape(damper, &cavity);
    yk_nonsmooth_add_particles(damper, &spheres);
    yk_port_def container = yk_marker_port("container", box_id, yk_marker_default());
    int container_id = yk_nonsmooth_add_port(damper, &container);

    /* The box is clamped to the tip: it follows the rod, which feels its weight and the impacts
     * in it. Mistakes in all of the above are reported where the system is created. */
    yk_system_def def = yk_system_default();
    def.step = 1e-4;
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_subsystem_def first = yk_subsystem_named("pendulum", NULL);
    yk_smooth_create(pendulum, &first.subsystem);
    int first_id = yk_system_add_subsystem(builder, &first);
    yk_subsystem_def second = yk_subsystem_named("damper", NULL);
    yk_nonsmooth_create(damper, &second.subsystem);
    int second_id = yk_system_add_subsystem(builder, &second);
    yk_interface_def clamp =
        yk_interface_between("clamp", first_id, tip_id, second_id, container_id);
    yk_system_add_interface(builder, &clamp);
    yk_system *system;
    yk_status status = yk_system_create(builder, &system);

    if (!YK_FAILED(status))
        status = yk_system_start(system);
    while (!YK_FAILED(status) && yk_system_time(system) < 0.3)
        status = yk_system_step(system, NULL);
    if (YK_FAILED(status)) {
        fprintf(stderr, "%s: %s\n", yk_status_text(status), yk_last_message(context));
        return 1;
    }
    yk_vec3 at = yk_system_output(system, first_id, tip_id)->motion.position;
    printf("Yoke %s: after %g s the tip is at x = %.4f m, z = %.4f m\n", yk_version(),
           yk_system_time(system), at.x, at.z);

    yk_system_destroy(system);
    first.subsystem->ops->destroy(first.subsystem);
    second.subsystem->ops->destroy(second.subsystem);
    yk_context_destroy(context);
    return 0;
}
