/* How the motions of a subsystem's ports follow the parameters of the coupling wrenches.
 *
 * paper index1 (17), (37). A subsystem that knows its own sensitivities gives them with the step.
 * Of the others the step is repeated with one parameter changed at a time; the plain step comes
 * last, so that the subsystem stands where it should. The subsystems do this independently of
 * each other, each with the parameters of its own interfaces. */
#include <math.h>
#include <string.h>

#include "coupling/index1/index1.h"
#include "coupling/interface.h"

/* Changes of a parameter, relative to the largest multiplier: large against the rounding of
 * motions, and so small that the turning of bodies under it does not show. What is left of that
 * is felt the more the longer a chain is. */
static const double CHANGE = 1e-5;

/* The multipliers of one interface for a unit of one parameter. */
static void unit_parameter(const yk_index1_basis *basis, int rows, int column,
                           yk_index1_multiplier *multiplier)
{
    memset(multiplier, 0, YK_JOINT_ROWS_MAX * sizeof *multiplier);
    memcpy(multiplier[column % rows].power, basis->shape[column / rows], sizeof multiplier->power);
}

static void put_vector(double *place, int stride, yk_vec3 v)
{
    place[0] = v.x, place[stride] = v.y, place[2 * stride] = v.z;
}

/* Sensitivities -------------------------------------------------------------------------------- */

/* The coefficients of a wrench in the order of step_sensitivity's columns. */
static int pack_input(yk_port_kind kind, int degree, const yk_input *input, double *coefficients)
{
    int n = 0;
    for (int power = 0; power <= degree; power++) {
        if (kind == YK_PORT_SCALAR) {
            coefficients[n++] = input->linear[power].x;
            continue;
        }
        put_vector(coefficients + n, 1, input->linear[power]);
        put_vector(coefficients + n + 3, 1, input->angular[power]);
        n += 6;
    }
    return n;
}

static int wrench_coefficients(yk_port_kind kind, int degree)
{
    return yk_port_freedoms(kind) * (degree + 1);
}

/* The degree of the wrenches that a participant sees. */
static int degree_for(const yk_system *system, const yk_participant *m)
{
    return m->shaped ? 1 : yk_index1_of(system)->basis->degree;
}

/* One column: the sensitivities times the wrench of a unit parameter, as the subsystem takes it. */
static void transform_column(const yk_system *system, int participant, const yk_connection *by,
                             int column, int width, int offset, const double *sensitivity)
{
    yk_index1 *x = yk_index1_of(system);
    const yk_participant *m = &system->participants[participant];
    const yk_index1_interface *interface = &x->interfaces[by->interface];
    yk_port_response *r = yk_jacobian_response(x->jacobian, participant);
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
    double coefficients[6 * YK_INPUT_COEFFICIENTS];
    yk_input input = {.orientation = yk_q_identity()}, own = input;
    unit_parameter(interface->basis, interface->constraint.row_count, column, multiplier);
    yk_index1_input(interface, by->side, system->h, multiplier, &input);
    if (m->shaped)
        input = yk_index1_substep_line(system, m, 0, &input, &(yk_wrench){{0, 0, 0}, {0, 0, 0}});
    if (m->transform)
        yk_transform_input(m->transform, interface->constraint.kind, YK_TAKES_WRENCH, &input, &own);
    else
        own = input;
    int count = pack_input(interface->constraint.kind, degree_for(system, m), &own, coefficients);
    for (int row = 0; row < r->rows; row++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += sensitivity[row * width + offset + i] * coefficients[i];
        r->matrix[row * r->columns + by->column + column] = sum;
    }
}

/* Rows of the response from the subsystem's units and axes to those of the system. */
static void place_rows(const yk_participant *m, yk_port_response *r,
                       const yk_index1_interface *interfaces)
{
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *c = &r->connections[i];
        yk_port_kind kind = interfaces[c->interface].constraint.kind;
        for (int column = 0; column < r->columns; column++)
            yk_transform_variation(m->transform, kind, r->matrix + c->row * r->columns + column,
                                   r->columns);
    }
}

static void transform(const yk_system *system, int participant, const double *sensitivity)
{
    yk_index1 *x = yk_index1_of(system);
    yk_port_response *r = yk_jacobian_response(x->jacobian, participant);
    int width = 0, degree = degree_for(system, &system->participants[participant]);
    for (int i = 0; i < r->connection_count; i++)
        width +=
            wrench_coefficients(x->interfaces[r->connections[i].interface].constraint.kind, degree);
    for (int i = 0, offset = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        const yk_constraint *constraint = &x->interfaces[by->interface].constraint;
        for (int column = 0; column < constraint->row_count * x->basis->parameters; column++)
            transform_column(system, participant, by, column, width, offset, sensitivity);
        offset += wrench_coefficients(constraint->kind, degree);
    }
    if (system->participants[participant].transform)
        place_rows(&system->participants[participant], r, x->interfaces);
}

/* Finite differences --------------------------------------------------------------------------- */

/* Half the largest multiplier of the whole system at the ends of the step; 1 where there is
 * none. */
static double change_size(const yk_system *system)
{
    double largest = 0;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *interface = &yk_index1_of(system)->interfaces[i];
        for (int row = 0; row < interface->constraint.row_count; row++) {
            double end = 0;
            for (int power = 0; power <= interface->basis->degree; power++)
                end += interface->multiplier[row].power[power];
            largest = fmax(largest, fmax(fabs(interface->multiplier[row].power[0]), fabs(end)));
        }
    }
    return largest > 0 && isfinite(largest) ? CHANGE * largest : 1;
}

/* The input of a port with one parameter changed. */
static void change_wrench(const yk_system *system, const yk_connection *by, int column,
                          double change, yk_input *input)
{
    const yk_index1 *x = yk_index1_of(system);
    const yk_index1_interface *interface = &x->interfaces[by->interface];
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX], unit[YK_JOINT_ROWS_MAX];
    unit_parameter(interface->basis, interface->constraint.row_count, column, unit);
    for (int row = 0; row < interface->constraint.row_count; row++)
        for (int power = 0; power < YK_INPUT_COEFFICIENTS; power++)
            multiplier[row].power[power] =
                interface->multiplier[row].power[power] + change * unit[row].power[power];
    yk_index1_input(interface, by->side, system->h, multiplier, input);
}

static void change_motion(const yk_system *system, const yk_connection *by, int column,
                          double change, yk_input *input)
{
    double given[YK_INDEX1_MOTIONS];
    memcpy(given, yk_index1_of(system)->interfaces[by->interface].given, sizeof given);
    given[column] += change * yk_level_size(column, system->h);
    yk_index1_motion_input(system, by->interface, given, input);
}

static bool is_wire(const yk_system *system, const yk_connection *by)
{
    return by->interface >= system->interface_count;
}

static bool takes_motion_or_signal(const yk_system *system, const yk_connection *by)
{
    return !is_wire(system, by) && yk_index1_is_relation(&system->interfaces[by->interface]) &&
           by->side == 1;
}

static void change_wire(const yk_system *system, const yk_connection *by, double change,
                        yk_input *input)
{
    int number = by->interface - system->interface_count;
    yk_index1_wire_input(system, number, yk_index1_of(system)->wires[number].end + change, input);
}

static yk_status step_changed(yk_system *system, int participant, const yk_connection *by,
                              int column, double change, yk_motion *motion)
{
    yk_participant *m = &system->participants[participant];
    const yk_port_response *r = yk_jacobian_response(yk_index1_of(system)->jacobian, participant);
    yk_input kept = m->inputs[by->port];
    if (is_wire(system, by))
        change_wire(system, by, change, &m->inputs[by->port]);
    else if (takes_motion_or_signal(system, by))
        change_motion(system, by, column, change, &m->inputs[by->port]);
    else
        change_wrench(system, by, column, change, &m->inputs[by->port]);
    yk_status status = yk_system_advance(system, participant);
    m->inputs[by->port] = kept;
    for (int i = 0; i < r->connection_count; i++)
        motion[i] = yk_index1_answer(system, r->connections[i].interface, r->connections[i].side);
    return status;
}

static void differences(const yk_system *system, yk_port_response *r, int column, double change)
{
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *c = &r->connections[i];
        if (is_wire(system, c) && c->side == 1)
            continue;
        yk_motion now = yk_index1_answer(system, c->interface, c->side);
        yk_motion_difference(is_wire(system, c) ? YK_PORT_SCALAR
                                                : system->interfaces[c->interface].kind,
                             &now, &r->motion[column * r->connection_count + i], 1 / change,
                             r->matrix + c->row * r->columns + column, r->columns);
    }
}

/* Columns of a connection in a response, and the change of one. */
static int columns_of(const yk_system *system, const yk_connection *by, double *change)
{
    int first;
    if (is_wire(system, by))
        *change = yk_index1_wire_change(system, by->interface - system->interface_count);
    else
        *change = takes_motion_or_signal(system, by)
                      ? yk_index1_motion_change(system, by->interface)
                      : change_size(system);
    return yk_jacobian_columns(yk_index1_of(system)->jacobian, by->interface, by->side, &first);
}

static yk_status advance_with_differences(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_port_response *r = yk_jacobian_response(x->jacobian, participant);
    double change;
    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        int columns = columns_of(system, by, &change);
        for (int column = 0; column < columns; column++) {
            yk_motion *motion = r->motion + (by->column + column) * r->connection_count;
            yk_status status = step_changed(system, participant, by, column, change, motion);
            if (status >= 0)
                status = yk_system_rewind(system, participant);
            if (status < 0)
                return status;
            yk_index1_of(system)->difference_runs[participant]++;
        }
    }
    yk_status status = yk_system_advance(system, participant);
    for (int i = 0; status >= 0 && i < r->connection_count; i++) {
        int columns = columns_of(system, &r->connections[i], &change);
        for (int k = 0; k < columns; k++)
            differences(system, r, r->connections[i].column + k, change);
    }
    return status;
}

static yk_status advance_with_sensitivities(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    int degree = degree_for(system, &system->participants[participant]);
    yk_status status =
        yk_system_advance_sensitive(system, participant, degree, x->sensitivity[participant]);
    if (status >= 0)
        transform(system, participant, x->sensitivity[participant]);
    return status;
}

yk_status yk_index1_advance_with_response(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_status status = x->sensitivity[participant] ? advance_with_sensitivities(system, participant)
                                                   : advance_with_differences(system, participant);
    if (status >= 0)
        yk_response_scale(x->jacobian, yk_jacobian_response(x->jacobian, participant), system->h);
    return status;
}
