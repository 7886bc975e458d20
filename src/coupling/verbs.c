/* The verbs that schemes are made of (yoke/scheme.h): what is known of an interface, and the
 * inputs of its sides. */
#include "coupling/interface.h"
#include "coupling/system.h"

yk_context *yk_system_context(const yk_system *system)
{
    return system->context;
}

int yk_system_participant_count(const yk_system *system)
{
    return system->participant_count;
}

int yk_system_interface_count(const yk_system *system)
{
    return system->interface_count;
}

const yk_interface_def *yk_system_interface(const yk_system *system, int number)
{
    return &system->interfaces[number].def;
}

const int *yk_system_sequence(const yk_system *system)
{
    return system->sequence;
}

double yk_system_step_begin(const yk_system *system)
{
    return system->t;
}

double yk_system_step_size(const yk_system *system)
{
    return system->h;
}

/* Interfaces ----------------------------------------------------------------------------------- */

const yk_motion *yk_system_motion(const yk_system *system, int number, int side)
{
    const yk_interface *interface = &system->interfaces[number];
    if (side == 0)
        return &yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
    return &yk_interface_b(system, interface)->values[interface->def.motion_port].motion;
}

const yk_motion *yk_system_motion_before(const yk_system *system, int number, int side)
{
    const yk_interface *interface = &system->interfaces[number];
    if (side == 0)
        return &yk_interface_a(system, interface)->before[interface->def.wrench_port];
    return &yk_interface_b(system, interface)->before[interface->def.motion_port];
}

yk_wrench yk_system_required_wrench(const yk_system *system, int number)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_port_value *b = &yk_interface_b(system, interface)->values[interface->def.motion_port];
    return yk_wrench_opposite(interface->kind, b, interface->origin);
}

void yk_system_prescribe_motion(yk_system *system, int number, const yk_motion *end)
{
    yk_interface *interface = &system->interfaces[number];
    const yk_motion *start = yk_system_motion_before(system, number, 0);
    interface->origin = end->position;
    yk_input_interpolated(interface->kind, system->h, start, end,
                          &yk_interface_b(system, interface)->inputs[interface->def.motion_port]);
}

void yk_system_apply_wrench(yk_system *system, int number, const yk_wrench *wrench)
{
    yk_interface *interface = &system->interfaces[number];
    interface->applied = *wrench;
    yk_input_constant(interface->kind, wrench,
                      &yk_interface_a(system, interface)->inputs[interface->def.wrench_port]);
}

void yk_system_set_residual(yk_system *system, int number, double residual)
{
    system->interfaces[number].residual = residual;
}

/* Steps ---------------------------------------------------------------------------------------- */

void yk_system_keep_start(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        for (int port = 0; port < m->port_count; port++) {
            if (m->ports[port].kind == YK_PORT_MARKER) {
                m->before[port] = m->values[port].motion;
                continue;
            }
            m->before[port].position.x = m->values[port].motion.position.x;
            m->before[port].velocity.x = m->values[port].motion.velocity.x;
            m->before[port].acceleration.x = m->values[port].motion.acceleration.x;
        }
        m->advanced = false;
    }
    for (int i = 0; i < system->wire_count; i++)
        system->wires[i].before = system->wires[i].now;
}

/* The start of a step that is kept is the earlier motion that the next prediction of participants
 * with substeps knows. */
static void keep_earlier(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        if (!m->earlier)
            continue;
        for (int port = 0; port < m->port_count; port++)
            if (m->ports[port].kind != YK_PORT_SIGNAL)
                m->earlier[port] = m->before[port];
        m->earlier_step = system->h;
    }
}

void yk_system_keep_step(yk_system *system)
{
    yk_system_observe(system);
    keep_earlier(system);
}

void yk_system_begin_part(yk_system *system, double t, double h)
{
    system->t = t;
    system->h = h;
}

void yk_system_end_part(yk_system *system)
{
    yk_system_keep_step(system);
    yk_system_keep_start(system);
}
