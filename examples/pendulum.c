/* A pendulum that carries a box of particles: two solvers, each with its own method, connected at
 * one marker.
 *
 *   cc pendulum.c $(pkg-config --cflags --libs yoke) -lm
 *
 * If the library is not in a folder of the system, add -Wl,-rpath,$(pkg-config --variable=libdir yoke). */
#include <stdio.h>
#include <yoke/multibody.h>
#include <yoke/nonsmooth.h>
#include <yoke/system.h>

int main(void)
{
    yk_context *context = yk_context_create(NULL);

    /* A rod of 2 kg along x, on a pin about y at the origin. */
    yk_multibody_builder *pendulum = yk_multibody_begin(context, NULL);
    yk_mat3 inertia = yk_inertia_box(2, 1, 0.04, 0.04);
    yk_multibody_body_def rod = yk_multibody_body_named("rod", 2, inertia, (yk_vec3){0.5, 0, 0});
    yk_body_id rod_id = yk_multibody_add_body(pendulum, &rod);
    yk_marker axis = yk_marker_along((yk_vec3){0, 0, 0}, (yk_vec3){0, 1, 0});
    yk_joint_def pin = yk_joint_at("pin", YK_JOINT_REVOLUTE, YK_GROUND, rod_id, axis);
    yk_multibody_add_joint(pendulum, &pin);
    yk_port_id tip = yk_multibody_add_marker_port(pendulum, "tip", rod_id, yk_marker_at(0.5, 0, 0));

    /* A box of 0.2 kg at its end, with 60 steel spheres of 12 mm in it. */
    yk_nonsmooth_builder *damper = yk_nonsmooth_begin(context, NULL);
    inertia = yk_inertia_box(0.2, 0.1, 0.1, 0.1);
    yk_nonsmooth_body_def box = yk_nonsmooth_body_named("box", 0.2, inertia, (yk_vec3){1, 0, 0});
    yk_body_id box_id = yk_nonsmooth_add_body(damper, &box);
    yk_particles_def spheres = yk_particles_in_box(60, 0.006, (yk_vec3){0.05, 0.05, 0.05});
    yk_nonsmooth_add_particles_in_body(damper, box_id, &spheres);
    yk_port_id container =
        yk_nonsmooth_add_marker_port(damper, "container", box_id, yk_marker_default());

    /* The box is fixed to the tip: it follows the rod, which feels its weight and the impacts in
     * it. Errors in the description are reported when the system is created. */
    yk_system_def def = yk_system_default();
    def.macro_step = 1e-4;
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_subsystem_id first =
        yk_system_add_owned_subsystem(builder, "pendulum", yk_multibody_create_or_null(pendulum));
    yk_subsystem_id second =
        yk_system_add_owned_subsystem(builder, "damper", yk_nonsmooth_create_or_null(damper));
    yk_system_connect_ports(builder, "clamp", first, tip, second, container);

    yk_system *system;
    yk_status status = yk_system_create(builder, &system);
    if (status == YK_OK)
        status = yk_system_run(system, 0.3);
    if (YK_FAILED(status)) {
        fprintf(stderr, "%s: %s\n", yk_status_text(status), yk_last_message(context));
        return 1;
    }

    yk_vec3 at = yk_system_port_value(system, first, tip)->motion.position;
    printf("Yoke %s: at 0.3 s the tip is at x = %.4f m, z = %.4f m\n", yk_version(), at.x, at.z);

    yk_system_destroy(system);
    yk_context_destroy(context);
    return 0;
}
