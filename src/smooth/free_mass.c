/* One body in a model of its own, with the integrator and the options of another: see free_mass
 * of the contract. */
#include "smooth/internal.h"

yk_status yk_smooth_free_mass(const yk_subsystem *self, double mass, yk_port_kind kind,
                              yk_subsystem **made)
{
    *made = NULL;
    if (kind == YK_PORT_SIGNAL)
        return YK_ERROR_CAPABILITY;

    const yk_smooth *smooth = (const yk_smooth *)self;

    yk_smooth_node_def node = yk_smooth_node_default();
    node.name = "mass";
    yk_smooth_body_def body = yk_smooth_body_default();
    body.name = "mass";
    body.node = 0;
    body.mass = mass;
    body.inertia = yk_m3_diagonal(mass, mass, mass);

    /* A scalar port is the distance from a point on the x axis. */
    yk_port_def port = yk_port_default();
    port.name = "mass";
    port.kind = kind;
    port.body[0] = kind == YK_PORT_SCALAR ? YK_GROUND : 0;
    port.body[1] = 0;
    if (kind == YK_PORT_SCALAR)
        port.marker[0].offset = yk_v3(-1, 0, 0);

    yk_smooth_description def = yk_smooth_description_empty();
    def.name = "free mass";
    def.gravity = yk_v3(0, 0, 0);
    def.options = yk_smooth_definition(smooth)->options;
    def.options.static_start = false;
    def.options.damping = 0;
    def.nodes = &node;
    def.bodies = &body;
    def.ports = &port;
    def.node_count = def.body_count = def.port_count = 1;

    yk_smooth *created = NULL;
    yk_status status = yk_smooth_make(smooth->model.context, &def, &created);
    if (status == YK_OK)
        *made = yk_smooth_subsystem(created);

    return status;
}
