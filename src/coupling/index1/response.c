/* Derivatives of the motions of a subsystem's ports with respect to the parameters of the coupling
 * wrenches (Meyer et al. 2018, equations 17 and 37).
 *
 * A subsystem with sensitivities returns them with the step. For other subsystems the step is
 * repeated with one parameter changed at a time; the step without a change comes last, so that the
 * subsystem is in the right state afterwards. The subsystems do this independently of each other,
 * each with the parameters of its own interfaces. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "coupling/index1/index1.h"
#include "coupling/participant.h"

/* Changes of a parameter, relative to the largest multiplier: large compared with the rounding
 * errors of motions, and so small that the rotation of bodies caused by the change has little
 * effect. The remaining effect grows with the length of a chain. */
static const double CHANGE = 1e-5;
/* Relative differences between two computations of the same motion. */
static const double ROUNDING = 4 * DBL_EPSILON;
/* Least and largest displacement of a port over the step (m, rad) that a change may cause, and the
 * displacement for which a change is chosen if it exceeds these limits: there, rounding errors and
 * the curvature of the path have similar effects. The least and the usual one are those of a port
 * within 1 m of the origin; rounding errors grow with the distance. */
static const double LEAST_MOTION = 1e-10;
static const double LARGEST_MOTION = 1e-3;
static const double USUAL_MOTION = 1e-8;

/* The multipliers of one interface for a unit of one parameter. */
static void unit_parameter(const yk_index1_interface *own, int column,
                           yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX])
{
    int rows = own->constraint.row_count;
    const double *shape = own->basis->shape[column / rows];
    memset(multiplier, 0, YK_JOINT_ROWS_MAX * sizeof *multiplier);
    memcpy(multiplier[column % rows].power, shape, sizeof multiplier->power);
}

/* Sensitivities -------------------------------------------------------------------------------- */

/* The degree of the wrenches that a participant can follow. */
static int degree_for(const yk_system *system, const yk_participant *p)
{
    if (p->shaped)
        return 1;
    return yk_index1_of(system)->basis->degree;
}

/* The wrench of a unit parameter in the units of the subsystem, in the order of the columns of
 * step_sensitivity; returns the number of coefficients. */
static int unit_coefficients(const yk_system *system, const yk_participant *p,
                             const yk_connection *by, int column, double *coefficients)
{
    const yk_index1_interface *own = &yk_index1_of(system)->interfaces[by->interface];
    yk_port_kind kind = own->constraint.kind;
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
    unit_parameter(own, column, multiplier);

    /* As the subsystem receives it: as lines over substeps, in its own units and axes. */
    yk_input input = {.base_orientation = yk_q_identity()};
    yk_index1_input(own, by->side, system->h, multiplier, &input);
    if (p->shaped) {
        const yk_wrench none = {{0, 0, 0}, {0, 0, 0}};
        input = yk_index1_substep_line(system, p, 0, &input, &none);
    }

    if (p->transform) {
        yk_input local = {.base_orientation = yk_q_identity()};
        yk_transform_input(p->transform, kind, YK_CAUSALITY_WRENCH_INPUT, &input, &local);
        input = local;
    }

    double *next = coefficients;
    for (int power = 0; power <= degree_for(system, p); power++) {
        yk_wrench wrench = {input.linear[power], input.angular[power]};
        next = yk_wrench_pack(kind, &wrench, next);
    }

    return (int)(next - coefficients);
}

/* The response: sensitivities times the wrenches of unit parameters. */
static yk_status advance_with_sensitivities(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    const yk_participant *p = &system->participants[participant];
    yk_port_response *r = yk_jacobian_response(x->jacobian, participant);
    double *sensitivity = x->sensitivity[participant];
    int degree = degree_for(system, p);
    yk_status status = yk_system_advance_sensitive(system, participant, degree, sensitivity);
    if (YK_FAILED(status))
        return status;

    /* Columns of the sensitivities: the coefficients of the wrench of one port after another. */
    int width = 0;
    for (int i = 0; i < r->connection_count; i++) {
        int interface = r->connections[i].interface;
        width += yk_port_freedoms(x->interfaces[interface].constraint.kind) * (degree + 1);
    }

    /* Sensitivities times coefficients, for a unit of each parameter. */
    int offset = 0;
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        const yk_constraint *constraint = &x->interfaces[by->interface].constraint;
        int columns = constraint->row_count * x->basis->parameters;
        for (int column = 0; column < columns; column++) {
            double coefficients[6 * YK_INPUT_COEFFICIENT_COUNT];
            int count = unit_coefficients(system, p, by, column, coefficients);

            for (int row = 0; row < r->rows; row++) {
                const double *of = sensitivity + row * width + offset;
                double sum = 0;
                for (int k = 0; k < count; k++)
                    sum += of[k] * coefficients[k];

                r->matrix[row * r->columns + by->column + column] = sum;
            }
        }

        offset += yk_port_freedoms(constraint->kind) * (degree + 1);
    }

    /* Convert rows from the subsystem's units and axes to those of the system. */
    for (int i = 0; p->transform && i < r->connection_count; i++) {
        const yk_connection *c = &r->connections[i];
        yk_port_kind kind = x->interfaces[c->interface].constraint.kind;
        double *rows = r->matrix + c->row * r->columns;

        for (int column = 0; column < r->columns; column++)
            yk_transform_variation(p->transform, kind, rows + column, r->columns);
    }

    return status;
}

/* Finite differences --------------------------------------------------------------------------- */

static bool is_wire(const yk_system *system, const yk_connection *by)
{
    return by->interface >= system->interface_count;
}

static bool takes_motion(const yk_system *system, const yk_connection *by)
{
    if (is_wire(system, by) || by->side == 0)
        return false;
    return yk_index1_is_relation(&system->interfaces[by->interface]);
}

/* Whether the parameters of an interface are torques, row by row. */
static bool is_torque(const yk_system *system, const yk_connection *by, int column)
{
    const yk_constraint *constraint = &yk_index1_of(system)->interfaces[by->interface].constraint;
    if (constraint->kind != YK_PORT_MARKER)
        return false;
    return constraint->row[column % constraint->row_count].kind == YK_ROW_AXES;
}

void yk_index1_find_change(yk_system *system)
{
    /* The largest multiplier of the whole system at the ends of the step; 1 if all are zero. */
    yk_index1 *x = yk_index1_of(system);
    double largest = 0;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *own = &x->interfaces[i];
        for (int row = 0; row < own->constraint.row_count; row++) {
            const double *power = own->multiplier[row].power;
            double end = 0;

            for (int k = 0; k <= own->basis->degree; k++)
                end += power[k];

            largest = fmax(largest, fmax(fabs(power[0]), fabs(end)));
        }
    }

    x->change_of_wrenches = 1;
    if (largest > 0 && isfinite(largest))
        x->change_of_wrenches = CHANGE * largest;
}

/* The change of a parameter of a connection. */
static double change_of(const yk_system *system, const yk_connection *by, int column)
{
    /* Relative to the typical size of its kind. */
    if (is_wire(system, by))
        return yk_index1_wire_change(system, by->interface - system->interface_count);
    if (takes_motion(system, by))
        return yk_index1_motion_change(system, by->interface);

    double change = yk_index1_of(system)->change_of_wrenches;

    /* A change that moves the port by less than rounding errors, or very far, is useless: for a
     * system at rest without loads the largest multipliers are rounding errors, and 1 N m makes a
     * box of some grams tumble. A mobility that is a rounding error would make the change larger
     * than any load of the model. */
    const yk_index1_interface *changed = &yk_index1_of(system)->interfaces[by->interface];
    yk_mobility known = yk_mobility_of_model(changed->mobility, changed->gradient.distance);
    double mobility = is_torque(system, by, column) ? known.rotation : known.translation;
    double moved = change * mobility * system->h * system->h;
    double distance = fmax(1, changed->gradient.distance);
    double usual = fmin(USUAL_MOTION * sqrt(distance), LARGEST_MOTION);
    bool useful = moved > fmin(LEAST_MOTION * distance, usual) && moved < LARGEST_MOTION;
    if (mobility > 0 && !useful)
        change *= usual / moved;

    return change;
}

/* The input of a port with one parameter changed. */
static void change_input(const yk_system *system, const yk_connection *by, int column,
                         double change, yk_input *input)
{
    const yk_index1 *x = yk_index1_of(system);
    if (is_wire(system, by)) {
        int number = by->interface - system->interface_count;
        yk_index1_wire_input(system, number, x->wires[number].end + change, input);
        return;
    }

    /* A prescribed motion, at its end. */
    const yk_index1_interface *own = &x->interfaces[by->interface];
    if (takes_motion(system, by)) {
        double given[YK_INDEX1_MOTIONS];
        memcpy(given, own->given, sizeof given);
        given[column] += change * yk_level_size(column, system->h);
        yk_index1_motion_input(system, by->interface, given, input);
        return;
    }

    /* A wrench: one coefficient of one multiplier. */
    yk_index1_multiplier unit[YK_JOINT_ROWS_MAX];
    yk_index1_multiplier changed[YK_JOINT_ROWS_MAX];
    unit_parameter(own, column, unit);

    for (int row = 0; row < own->constraint.row_count; row++) {
        const double *now = own->multiplier[row].power;
        for (int power = 0; power < YK_INPUT_COEFFICIENT_COUNT; power++)
            changed[row].power[power] = now[power] + change * unit[row].power[power];
    }

    yk_index1_input(own, by->side, system->h, changed, input);
}

static yk_status advance_with_differences(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_participant *p = &system->participants[participant];
    yk_port_response *r = yk_jacobian_response(x->jacobian, participant);
    int count = r->connection_count;

    /* Runs with one parameter changed at a time, whose results are stored. */
    for (int i = 0; i < count; i++) {
        const yk_connection *by = &r->connections[i];
        int first;
        int columns = yk_jacobian_columns(x->jacobian, by->interface, by->side, &first);

        for (int column = 0; column < columns; column++) {
            double change = change_of(system, by, column);
            yk_input *input = &p->inputs[by->port];
            yk_input kept = *input;
            change_input(system, by, column, change, input);
            yk_status status = yk_system_advance_participant(system, participant);
            *input = kept;

            yk_motion *motion = r->motion + (by->column + column) * count;
            for (int k = 0; k < count; k++) {
                const yk_connection *c = &r->connections[k];
                motion[k] = yk_index1_answer(system, c->interface, c->side);
            }

            if (!YK_FAILED(status))
                status = yk_system_rollback_participant(system, participant);
            if (YK_FAILED(status))
                return status;

            x->difference_runs[participant]++;
        }
    }

    /* The run without a change, with which all others are compared. */
    yk_status status = yk_system_advance_participant(system, participant);
    if (YK_FAILED(status))
        return status;

    /* Rounding errors of positions and rotations, scaled as the response will be. Accelerations are
     * differences of them over a substep. */
    double own_step = system->h / p->substeps;
    for (int i = 0; i < count; i++) {
        yk_connection *c = &r->connections[i];
        if (is_wire(system, c) || takes_motion(system, c))
            continue;

        int rows = x->interfaces[c->interface].constraint.row_count;
        yk_motion now = yk_index1_answer(system, c->interface, c->side);
        c->noise = (yk_mobility){0, 0};
        for (int row = 0; row < rows; row++) {
            double error = ROUNDING / (change_of(system, c, row) * own_step * own_step);
            if (is_torque(system, c, row))
                c->noise.rotation = error;
            else
                c->noise.translation = error * yk_v3_norm(now.position);
        }
    }

    /* Difference quotients, column by column. */
    for (int i = 0; i < count; i++) {
        const yk_connection *by = &r->connections[i];
        int first;
        int columns = yk_jacobian_columns(x->jacobian, by->interface, by->side, &first);

        for (int column = by->column; column < by->column + columns; column++) {
            double factor = 1 / change_of(system, by, column - by->column);
            const yk_motion *motion = r->motion + column * count;
            for (int k = 0; k < count; k++) {
                const yk_connection *c = &r->connections[k];

                /* The target of a wire has no answer. */
                if (is_wire(system, c) && c->side == 1)
                    continue;

                yk_port_kind kind = YK_PORT_SCALAR;
                if (!is_wire(system, c))
                    kind = system->interfaces[c->interface].kind;
                yk_motion now = yk_index1_answer(system, c->interface, c->side);
                double *entry = r->matrix + c->row * r->columns + column;
                yk_motion_difference(kind, &now, &motion[k], factor, entry, r->columns);
            }
        }
    }

    return status;
}

yk_status yk_index1_advance_with_response(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_status status;
    if (x->sensitivity[participant])
        status = advance_with_sensitivities(system, participant);
    else
        status = advance_with_differences(system, participant);
    if (YK_FAILED(status))
        return status;

    /* Scale, so that the response can be used for other step sizes. */
    yk_port_response *r = yk_jacobian_response(x->jacobian, participant);
    yk_response_scale(x->jacobian, r, system->h);

    return status;
}
