#include "coupling/slip.h"

#include <string.h>

#include "coupling/path.h"

/* Gauss' quadrature of order 8 over [0, 1]. */
enum { NODES = 4 };
static const double NODE[NODES] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                                   0.93056815579702629};
static const double WEIGHT[NODES] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                     0.17392742256872693};

/* Adds the integral of the rows on velocity level along the paths of both sides over the step. */
static void add_integral(const yk_system *system, const yk_constraint *constraint,
                         const yk_motion *start[2], const yk_motion *end[2],
                         double slip[YK_SLIP_ROWS])
{
    yk_path path[2];
    for (int side = 0; side < 2; side++)
        path[side] = yk_path_between(YK_PORT_MARKER, system->h, start[side], end[side]);

    for (int node = 0; node < NODES; node++) {
        yk_motion motion[2];
        for (int side = 0; side < 2; side++)
            yk_path_at(&path[side], NODE[node] * system->h, &motion[side]);

        yk_constraint_kinematics at;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_kinematics_at(constraint, system->t + NODE[node] * system->h, &motion[0],
                                    &motion[1], &at);
        yk_constraint_value(constraint, &at, g);

        for (int row = 0; row < constraint->row_count; row++)
            if (yk_row_on_velocity(&constraint->row[row]))
                slip[row] += WEIGHT[node] * system->h * g[1][row];
    }
}

void yk_slip_at_end(const yk_system *system, int number, const yk_constraint *constraint,
                    yk_constraint_kinematics *kinematics)
{
    const yk_interface *interface = &system->interfaces[number];
    if (!yk_interface_can_slip(interface))
        return;

    const yk_motion *start[2] = {yk_before_a(system, interface), yk_before_b(system, interface)};
    const yk_motion *end[2] = {&kinematics->a, &kinematics->b};
    memcpy(kinematics->slip, interface->slip, sizeof kinematics->slip);
    add_integral(system, constraint, start, end, kinematics->slip);
}

void yk_slip_add_step(const yk_system *system, yk_interface *interface)
{
    if (!yk_interface_can_slip(interface))
        return;

    yk_constraint constraint = yk_constraint_of(interface->kind, &interface->def);
    const yk_motion *start[2] = {yk_before_a(system, interface), yk_before_b(system, interface)};
    const yk_motion *end[2] = {&yk_value_a(system, interface)->motion,
                               &yk_value_b(system, interface)->motion};
    add_integral(system, &constraint, start, end, interface->slip);
}

size_t yk_slip_words(const yk_system *system)
{
    size_t count = 0;
    for (int i = 0; i < system->interface_count; i++)
        if (yk_interface_can_slip(&system->interfaces[i]))
            count += YK_SLIP_ROWS;
    return count;
}

double *yk_slip_get(const yk_system *system, double *words)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!yk_interface_can_slip(interface))
            continue;

        memcpy(words, interface->slip, sizeof interface->slip);
        words += YK_SLIP_ROWS;
    }

    return words;
}

const double *yk_slip_set(yk_system *system, const double *words)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (!yk_interface_can_slip(interface))
            continue;

        memcpy(interface->slip, words, sizeof interface->slip);
        words += YK_SLIP_ROWS;
    }

    return words;
}
