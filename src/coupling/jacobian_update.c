/* Updates of the subsystem responses between computations: by Broyden's formula after every
 * correction, and by the rotation of the bodies. */
#include <math.h>
#include <string.h>

#include "coupling/jacobian.h"
#include "math/so3.h"

/* A change of a subsystem's parameters below this fraction of the largest change of all subsystems
 * is ignored. */
static const double NEGLIGIBLE = 1e-2;

static yk_port_kind kind_of(const yk_jacobian_interface *interface)
{
    if (interface->coordinates == YK_SCALAR_COORDINATES)
        return YK_PORT_SCALAR;
    return YK_PORT_MARKER;
}

static void put_vector(double *out, int stride, yk_vec3 v)
{
    out[0] = v.x;
    out[stride] = v.y;
    out[2 * stride] = v.z;
}

/* Motions as columns of coordinates ------------------------------------------------------------ */

void yk_motion_difference(yk_port_kind kind, const yk_motion *from, const yk_motion *to,
                          double factor, double *column, int stride)
{
    /* Position, velocity, acceleration; of markers each with its rotation. */
    if (kind == YK_PORT_SCALAR) {
        column[0] = factor * (to->position.x - from->position.x);
        column[stride] = factor * (to->velocity.x - from->velocity.x);
        column[2 * stride] = factor * (to->acceleration.x - from->acceleration.x);
        return;
    }

    /* Rotations by their vector in the global frame. */
    yk_quat rotation = yk_q_mul(to->orientation, yk_q_conjugate(from->orientation));
    const yk_vec3 changes[] = {
        yk_v3_sub(to->position, from->position),
        yk_so3_log(rotation),
        yk_v3_sub(to->velocity, from->velocity),
        yk_v3_sub(to->angular_velocity, from->angular_velocity),
        yk_v3_sub(to->acceleration, from->acceleration),
        yk_v3_sub(to->angular_acceleration, from->angular_acceleration),
    };

    for (int i = 0; i < 6; i++)
        put_vector(column + 3 * i * stride, stride, yk_v3_scale(factor, changes[i]));
}

yk_motion yk_jacobian_expect(yk_jacobian *jacobian, const double *step, double h, int interface,
                             int side, const yk_motion *motion)
{
    const yk_jacobian_interface *of = &yk_jacobian_interfaces(jacobian)[interface];
    const yk_port_response *r = yk_jacobian_response(jacobian, of->participant[side]);

    /* Index of the side's first coordinate. */
    int row = 0;

    for (int i = 0; i < r->connection_count; i++)
        if (r->connections[i].interface == interface && r->connections[i].side == side)
            row = r->connections[i].row;

    /* Product of the rows of the side with the change of all parameters that its subsystem sees. */
    double change[YK_MARKER_COORDINATES] = {0};
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        int first;
        int columns = yk_jacobian_columns(jacobian, by->interface, by->side, &first);

        for (int k = 0; k < of->coordinates; k++) {
            const double *entry = r->matrix + (row + k) * r->columns + by->column;
            for (int column = 0; column < columns; column++)
                change[k] += entry[column] * step[first + column];
        }
    }

    for (int k = 0; k < of->coordinates; k++)
        change[k] *= yk_level_size(yk_level_of(of, k), h);

    /* A motion changed by these coordinate differences. */
    yk_motion m = *motion;
    if (kind_of(of) == YK_PORT_SCALAR) {
        m.position.x += change[0];
        m.velocity.x += change[1];
        m.acceleration.x += change[2];
        return m;
    }

    yk_vec3 by[6];
    for (int i = 0; i < 6; i++)
        by[i] = yk_v3(change[3 * i], change[3 * i + 1], change[3 * i + 2]);

    m.position = yk_v3_add(m.position, by[0]);
    m.orientation = yk_q_mul(yk_so3_exp(by[1]), m.orientation);
    m.velocity = yk_v3_add(m.velocity, by[2]);
    m.angular_velocity = yk_v3_add(m.angular_velocity, by[3]);
    m.acceleration = yk_v3_add(m.acceleration, by[4]);
    m.angular_acceleration = yk_v3_add(m.angular_acceleration, by[5]);
    return m;
}

/* Learning ------------------------------------------------------------------------------------- */

void yk_jacobian_keep(yk_jacobian *jacobian,
                      yk_motion (*motion)(void *user, int interface, int side), void *user)
{
    for (int m = 0; m < yk_jacobian_participants(jacobian); m++) {
        yk_port_response *r = yk_jacobian_response(jacobian, m);
        for (int i = 0; i < r->connection_count; i++)
            r->last[i] = motion(user, r->connections[i].interface, r->connections[i].side);
    }
}

/* Collects the changes of a subsystem's parameters; returns the sum of their squares. */
static double parameter_change(const yk_jacobian *j, yk_port_response *r, const double *step)
{
    /* Wrench parameters of its sides, after those of motions. */
    double *parameters = r->change + r->rows;
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *c = &r->connections[i];
        int first;
        int columns = yk_jacobian_columns(j, c->interface, c->side, &first);
        memcpy(parameters + c->column, step + first, (size_t)columns * sizeof *step);
    }

    double square = 0;
    for (int i = 0; i < r->columns; i++)
        square += parameters[i] * parameters[i];

    return square;
}

/* Whether parameters of a subsystem are motions or signals, which cannot be compared with wrenches. */
static bool takes_motion_or_signal(const yk_jacobian *j, const yk_port_response *r)
{
    const yk_jacobian_interface *interfaces = yk_jacobian_interfaces(j);
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *c = &r->connections[i];
        if (!yk_is_motion(&interfaces[c->interface], c->side))
            return true;
    }

    return false;
}

void yk_jacobian_learn(yk_jacobian *jacobian, const double *step, double h,
                       yk_motion (*motion)(void *user, int interface, int side), void *user)
{
    /* The largest change of wrenches on a subsystem. */
    int participants = yk_jacobian_participants(jacobian);
    const yk_jacobian_interface *interfaces = yk_jacobian_interfaces(jacobian);
    double largest = 0;

    for (int m = 0; m < participants; m++) {
        yk_port_response *r = yk_jacobian_response(jacobian, m);
        if (!takes_motion_or_signal(jacobian, r))
            largest = fmax(largest, parameter_change(jacobian, r, step));
    }

    for (int m = 0; m < participants; m++) {
        yk_port_response *r = yk_jacobian_response(jacobian, m);

        /* Very small changes contain only noise and the effect of the rotation of directions. */
        double square = parameter_change(jacobian, r, step);
        double least = NEGLIGIBLE * NEGLIGIBLE * largest;
        if (takes_motion_or_signal(jacobian, r))
            least = 0;
        if (!(square > least))
            continue;

        /* Measured changes of the motions, scaled like the response. */
        for (int i = 0; i < r->connection_count; i++) {
            const yk_connection *c = &r->connections[i];
            const yk_jacobian_interface *interface = &interfaces[c->interface];
            if (yk_jacobian_coordinates(interface, c->side) == 0)
                continue;

            double *change = r->change + c->row;
            yk_motion now = motion(user, c->interface, c->side);
            yk_motion_difference(kind_of(interface), &r->last[i], &now, 1, change, 1);
            if (!yk_is_motion(interface, c->side))
                continue;

            for (int k = 0; k < interface->coordinates; k++)
                change[k] /= yk_level_size(yk_level_of(interface, k), h);
        }

        /* Broyden's good formula: S + (dz - S db) db^T / |db|^2. */
        const double *parameters = r->change + r->rows;

        for (int row = 0; row < r->rows; row++) {
            double *entry = r->matrix + row * r->columns;
            double residual = r->change[row];
            for (int i = 0; i < r->columns; i++)
                residual -= entry[i] * parameters[i];

            for (int i = 0; i < r->columns; i++)
                entry[i] += residual / square * parameters[i];
        }
    }

    yk_jacobian_keep(jacobian, motion, user);
}

/* Rotates three numbers that form a vector, stored with a stride. */
static void rotate_triple(yk_quat q, double *v, int stride)
{
    put_vector(v, stride, yk_q_rotate(q, yk_v3(v[0], v[stride], v[2 * stride])));
}

void yk_jacobian_rotate(yk_jacobian *jacobian,
                        yk_quat (*rotation)(void *user, int participant, int port), void *user)
{
    int parameters = yk_jacobian_parameters(jacobian);
    for (int m = 0; m < yk_jacobian_participants(jacobian); m++) {
        yk_port_response *r = yk_jacobian_response(jacobian, m);
        for (int i = 0; i < r->connection_count; i++) {
            const yk_connection *c = &r->connections[i];
            const yk_jacobian_interface *of = &yk_jacobian_interfaces(jacobian)[c->interface];
            if (of->coordinates != YK_MARKER_COORDINATES)
                continue;

            /* Rows: the motion of the port ... */
            yk_quat q = rotation(user, m, c->port);
            for (int k = 0; k < of->coordinates; k += 3) {
                double *rows = r->matrix + (c->row + k) * r->columns;
                for (int column = 0; column < r->columns; column++)
                    rotate_triple(q, rows + column, r->columns);
            }

            /* ... and columns: the wrenches on it, if their directions are global axes. */
            if (of->global_rows != 3)
                continue;

            for (int row = 0; row < r->rows; row++) {
                double *entry = r->matrix + row * r->columns + c->column;
                for (int k = 0; k < parameters; k++)
                    rotate_triple(q, entry + k * of->rows, 1);
            }
        }
    }
}
