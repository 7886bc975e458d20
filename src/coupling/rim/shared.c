/* Interfaces between a fast and a slow participant that both receive a wrench.
 *
 * At every exchange the wrenches are found with which the joints hold at its end: those of the fast participants by their step
 * models over the exchange, those of the slow ones by their reduced models,
 *
 *   w_fast = w_fast0 + Y (f - f0)      w_slow = w + h (r + W f)      g' + g / H = 0 at the end of the exchange
 *
 * with the macro step H, so that the distance that a macro step leaves is closed over the next one and not by a blow. This is one
 * linear system for all such interfaces. The mobilities of both sides add up, so that the mass ratio does not matter, and a fast
 * participant moves as if the mass of the mechanism belonged to its own equations of motion. The slow participants then step
 * with the mean of these wrenches. With one exchange in a macro step this is the exchange of force_force/balance.h. */
#include <string.h>

#include "coupling/failure.h"
#include "coupling/jacobian.h"
#include "coupling/participant.h"
#include "coupling/rim/rim.h"
#include "coupling/slip.h"
#include "math/so3.h"

typedef struct shared_interface {
    int interface;
    yk_constraint constraint;
    yk_constraint_gradient gradient;

    /* Wrenches of a unit multiplier on both sides; multipliers of the last exchange, part of the
     * state. */
    yk_wrench unit[2][YK_JOINT_ROWS_MAX];
    double multiplier[YK_JOINT_ROWS_MAX];

    /* Wrenches of the multipliers of the last exchange in the directions of this one, and the factors of the change since
     * then with which the wrenches on both sides are extrapolated: to the point of the exchange at which the method of a side
     * evaluates them. Otherwise one side would act half an exchange late, which damps or excites every oscillation. */
    yk_wrench last[2];
    double shift[2];

    /* Mean of the wrenches on both sides over the macro step so far, or over the last one. Part of
     * the state. */
    yk_wrench mean[2];
} shared_interface;

/* Step model of a fast participant over an exchange. size is 0 if none is needed. */
typedef struct shared_participant {
    int size;
    int *offsets;
    yk_step_model model;
} shared_participant;

struct yk_rim_shared {
    shared_interface *interfaces;
    int count;
    shared_participant *participants;
    yk_jacobian *jacobian;
    double *residual, *held;
};

/* g / H^2 + g' / H. */
static const double CONDITION[1][YK_LEVELS] = {{1, 1, 0}};

static int participant_on(const yk_interface_def *def, int side)
{
    return side == 0 ? def->wrench_subsystem.index : def->motion_subsystem.index;
}

static int port_on(const yk_interface_def *def, int side)
{
    return side == 0 ? def->wrench_port.index : def->motion_port.index;
}

int yk_rim_slow_port(const yk_system *system, int number, int participant)
{
    const yk_rim *rim = yk_rim_of(system);
    const yk_interface_def *def = &system->interfaces[number].def;
    int role = rim->interfaces[number].role;
    if (role == YK_RIM_MODELLED && def->wrench_subsystem.index == participant)
        return def->wrench_port.index;
    for (int side = 0; side < 2 && role == YK_RIM_SHARED; side++)
        if (participant_on(def, side) == participant && !rim->participants[participant].fast)
            return port_on(def, side);
    return -1;
}

/* Creation ------------------------------------------------------------------------------------- */

static yk_status create_participant(yk_rim_shared *shared, yk_system *system, int participant)
{
    yk_context *context = system->context;
    const yk_participant *p = &system->participants[participant];
    shared_participant *own = &shared->participants[participant];
    if (own->size > 0)
        return YK_OK;

    own->offsets = yk_allocate(context, (size_t)p->port_count, sizeof *own->offsets);
    if (!own->offsets)
        return YK_ERROR_MEMORY;

    own->size = yk_system_number_velocities(system, participant, own->offsets);
    size_t n = (size_t)own->size;
    own->model.velocity = yk_allocate(context, 2 * n + n * n, sizeof *own->model.velocity);
    if (!own->model.velocity)
        return YK_ERROR_MEMORY;

    own->model.row_count = own->size;
    own->model.wrench_point = 0.5;
    own->model.substep_count = yk_rim_of(system)->participants[participant].parts;
    own->model.displacement = own->model.velocity + n;
    own->model.mobility = own->model.displacement + n;
    return YK_OK;
}

static yk_status create_jacobian(yk_rim_shared *shared, yk_system *system)
{
    yk_context *context = system->context;
    size_t count = (size_t)shared->count;
    yk_jacobian_interface *interfaces = yk_allocate(context, count, sizeof *interfaces);
    if (!interfaces)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < shared->count; i++) {
        const shared_interface *own = &shared->interfaces[i];
        const yk_interface_def *def = &system->interfaces[own->interface].def;
        interfaces[i] = (yk_jacobian_interface){
            .participant = {def->wrench_subsystem.index, def->motion_subsystem.index},
            .port = {def->wrench_port.index, def->motion_port.index},
            .rows = own->constraint.row_count,
            .coordinates = yk_coordinates(own->constraint.kind),
        };
    }

    const yk_jacobian_def def = {
        .participant_count = system->participant_count,
        .interface_count = shared->count,
        .interfaces = interfaces,
        .parameters = 1,
        .motions = 1,
    };
    yk_status status = yk_jacobian_create(context, &def, &shared->jacobian);
    yk_free(context, interfaces);
    if (status != YK_OK)
        return status;

    size_t rows = (size_t)yk_jacobian_size(shared->jacobian);
    shared->residual = yk_allocate(context, 2 * rows, sizeof *shared->residual);
    if (!shared->residual)
        return YK_ERROR_MEMORY;

    shared->held = shared->residual + rows;
    return YK_OK;
}

yk_status yk_rim_shared_create(yk_system *system, yk_rim_shared **made)
{
    yk_rim *rim = yk_rim_of(system);
    yk_context *context = system->context;
    int count = 0;
    for (int i = 0; i < system->interface_count; i++)
        count += rim->interfaces[i].role == YK_RIM_SHARED;
    if (count == 0)
        return YK_OK;

    yk_rim_shared *shared = yk_allocate(context, 1, sizeof *shared);
    if (!shared)
        return YK_ERROR_MEMORY;

    *made = shared;
    size_t participants = (size_t)system->participant_count;
    shared->interfaces = yk_allocate(context, (size_t)count, sizeof *shared->interfaces);
    shared->participants = yk_allocate(context, participants, sizeof *shared->participants);
    if (!shared->interfaces || !shared->participants)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (rim->interfaces[i].role != YK_RIM_SHARED)
            continue;

        shared_interface *own = &shared->interfaces[shared->count++];
        own->interface = i;
        own->constraint = yk_constraint_of(interface->kind, &interface->def);
        for (int side = 0; side < 2; side++) {
            int participant = participant_on(&interface->def, side);
            if (!rim->participants[participant].fast)
                continue;

            yk_status status = create_participant(shared, system, participant);
            if (status != YK_OK)
                return status;
        }
    }

    return create_jacobian(shared, system);
}

void yk_rim_shared_destroy(yk_rim_shared *shared, yk_system *system)
{
    if (!shared)
        return;

    for (int i = 0; shared->participants && i < system->participant_count; i++) {
        yk_free(system->context, shared->participants[i].offsets);
        yk_free(system->context, shared->participants[i].model.velocity);
    }

    yk_jacobian_destroy(shared->jacobian);
    yk_free(system->context, shared->interfaces);
    yk_free(system->context, shared->participants);
    yk_free(system->context, shared->residual);
    yk_free(system->context, shared);
}

/* Wrenches ------------------------------------------------------------------------------------- */

static yk_wrench sum_of(const shared_interface *own, int side)
{
    yk_port_kind kind = own->constraint.kind;
    yk_wrench sum = {.force = {0, 0, 0}};
    for (int row = 0; row < own->constraint.row_count; row++)
        sum = yk_wrench_combine(kind, &sum, own->multiplier[row], &own->unit[side][row]);
    return sum;
}

/* The wrench that a side receives. */
static yk_wrench wrench_of(const shared_interface *own, int side)
{
    yk_port_kind kind = own->constraint.kind;
    yk_wrench sum = sum_of(own, side);
    yk_wrench change = yk_wrench_combine(kind, &sum, -1, &own->last[side]);
    return yk_wrench_combine(kind, &sum, own->shift[side], &change);
}

/* A constant wrench acts on a reduced model over the whole exchange. */
static void set_shifts(const yk_rim_shared *shared, const yk_system *system, shared_interface *own)
{
    const yk_interface_def *def = &system->interfaces[own->interface].def;
    double point[2] = {0.5, 0.5};
    for (int side = 0; side < 2; side++) {
        const shared_participant *p = &shared->participants[participant_on(def, side)];
        if (p->size > 0)
            point[side] = p->model.wrench_point;
    }

    double earlier = point[0] < point[1] ? point[0] : point[1];
    own->shift[0] = point[0] - earlier;
    own->shift[1] = point[1] - earlier;
}

/* Applies the multipliers: as inputs of the fast side, and as wrenches on the model of the slow one. */
static void apply(yk_system *system, const shared_interface *own)
{
    yk_rim *rim = yk_rim_of(system);
    yk_interface *interface = &system->interfaces[own->interface];
    for (int side = 0; side < 2; side++) {
        yk_wrench wrench = wrench_of(own, side);
        int participant = participant_on(&interface->def, side);
        int port = port_on(&interface->def, side);
        if (side == 0)
            interface->applied = wrench;

        yk_rim_participant *slow = &rim->participants[participant];
        if (slow->fast) {
            yk_participant *p = &system->participants[participant];
            yk_input_constant(interface->kind, &wrench, &p->inputs[port]);
        } else {
            yk_wrench_pack(interface->kind, &wrench, slow->wrenches + slow->offsets[port]);
        }
    }
}

void yk_rim_shared_restart(yk_rim_shared *shared)
{
    yk_rim_shared_begin(shared);
    for (int i = 0; shared && i < shared->count; i++)
        memset(shared->interfaces[i].multiplier, 0, sizeof shared->interfaces[i].multiplier);
}

void yk_rim_shared_begin(yk_rim_shared *shared)
{
    for (int i = 0; shared && i < shared->count; i++)
        memset(shared->interfaces[i].mean, 0, sizeof shared->interfaces[i].mean);
}

yk_wrench yk_rim_shared_mean(const yk_rim_shared *shared, int interface, int side)
{
    const shared_interface *own = shared->interfaces;
    while (own->interface != interface)
        own++;
    return own->mean[side];
}

yk_wrench yk_rim_shared_wrench(const yk_rim_shared *shared, int interface, int side)
{
    const shared_interface *own = shared->interfaces;
    while (own->interface != interface)
        own++;
    return wrench_of(own, side);
}

/* Exchange ------------------------------------------------------------------------------------- */

static yk_vec3 get3(const double *array)
{
    return yk_v3(array[0], array[1], array[2]);
}

/* Motion of a side at the start of the exchange. */
static yk_motion motion_of(const yk_system *system, int number, int side)
{
    const yk_interface_def *def = &system->interfaces[number].def;
    int participant = participant_on(def, side);
    int port = port_on(def, side);
    if (!yk_rim_of(system)->participants[participant].fast)
        return yk_rim_integrated_motion(system, participant, port, 0);
    return system->participants[participant].values[port].motion;
}

/* Motion of a side at the end of the exchange, with the present wrenches. */
static yk_motion end_of(const yk_rim_shared *shared, const yk_system *system,
                        const yk_interface *interface, int side, double h)
{
    const yk_rim *rim = yk_rim_of(system);
    int participant = participant_on(&interface->def, side);
    int port = port_on(&interface->def, side);
    if (!rim->participants[participant].fast)
        return yk_rim_integrated_motion(system, participant, port, h);

    const shared_participant *own = &shared->participants[participant];
    const double *velocity = own->model.velocity + own->offsets[port];
    const double *displacement = own->model.displacement + own->offsets[port];
    yk_motion end = system->participants[participant].values[port].motion;
    if (interface->kind == YK_PORT_SCALAR) {
        end.position.x += displacement[0];
        end.velocity.x = velocity[0];
        return end;
    }

    yk_quat rotation = yk_so3_exp(get3(displacement + 3));
    end.position = yk_v3_add(end.position, get3(displacement));
    end.orientation = yk_q_unit(yk_q_mul(rotation, end.orientation));
    end.velocity = get3(velocity);
    end.angular_velocity = get3(velocity + 3);
    return end;
}

/* Derivatives of velocities and positions at the end of the exchange with respect to the wrenches: a matrix, and the factors
 * that it is multiplied by. */
typedef struct end_response {
    const double *mobility;
    const int *offsets;
    int size;
    double velocity, position;
} end_response;

static end_response response_of(const yk_rim_shared *shared, const yk_rim *rim, int participant,
                                double h)
{
    const yk_rim_participant *slow = &rim->participants[participant];
    if (!slow->fast)
        return (end_response){slow->model.inverse_mass, slow->offsets, slow->size, h, h * h};

    const shared_participant *own = &shared->participants[participant];
    return (end_response){own->model.mobility, own->offsets, own->size, 1, own->model.theta * h};
}

/* The response of a participant's ports to all multipliers, in the scales of the Jacobian. */
static void fill_response(yk_rim_shared *shared, const yk_system *system, int participant, double h)
{
    yk_port_response *r = yk_jacobian_response(shared->jacobian, participant);
    if (r->connection_count == 0)
        return;

    double H = system->h;
    end_response of = response_of(shared, yk_rim_of(system), participant, h);
    for (int i = 0; i < r->connection_count; i++) {
        yk_connection *by = &r->connections[i];
        const shared_interface *pushed = &shared->interfaces[by->interface];
        yk_port_kind kind = pushed->constraint.kind;
        int first = of.offsets[by->port];
        by->mobility = (yk_mobility){0, 0};
        for (int k = 0; k < yk_port_freedoms(kind); k++) {
            double own = of.velocity * of.mobility[(first + k) * (of.size + 1)] / H;
            double *largest = k < 3 ? &by->mobility.translation : &by->mobility.rotation;
            if (own > *largest)
                *largest = own;
        }

        for (int row = 0; row < pushed->constraint.row_count; row++) {
            double wrench[6];
            yk_wrench unit = pushed->unit[by->side][row];
            unit = yk_wrench_combine(kind, &unit, pushed->shift[by->side], &unit);
            yk_wrench_pack(kind, &unit, wrench);
            for (int j = 0; j < r->connection_count; j++) {
                const yk_connection *moved = &r->connections[j];
                int size = yk_port_freedoms(shared->interfaces[moved->interface].constraint.kind);
                for (int k = 0; k < size; k++) {
                    const double *mobility =
                        of.mobility + (of.offsets[moved->port] + k) * of.size + first;
                    double gain = 0;
                    for (int c = 0; c < yk_port_freedoms(kind); c++)
                        gain += mobility[c] * wrench[c];

                    double *entry = r->matrix + (moved->row + k) * r->columns + by->column + row;
                    entry[0] = of.position * gain / (H * H);
                    entry[size * r->columns] = of.velocity * gain / H;
                }
            }
        }
    }
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_rim_shared *shared = user;
    return &shared->interfaces[interface].gradient;
}

/* The conditions at the end of the exchange, and their derivatives. */
static yk_status linearize(yk_rim_shared *shared, yk_system *system, double tau, double h)
{
    enum { LEVELS = 2 };
    double H = system->h;
    double *residual = shared->residual;
    for (int i = 0; i < shared->count; i++) {
        shared_interface *own = &shared->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        yk_motion a = end_of(shared, system, interface, 0, h);
        yk_motion b = end_of(shared, system, interface, 1, h);
        yk_constraint_kinematics at;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_kinematics_at(&own->constraint, system->t + tau + h, &a, &b, &at);
        yk_slip_at_end(system, own->interface, &own->constraint, &at);
        yk_constraint_value(&own->constraint, &at, g);
        yk_constraint_differentiate_levels(&own->constraint, &at, LEVELS, &own->gradient);
        for (int row = 0; row < own->constraint.row_count; row++)
            *residual++ = CONDITION[0][0] * g[0][row] / (H * H) + CONDITION[0][1] * g[1][row] / H;
    }

    for (int i = 0; i < system->participant_count; i++)
        fill_response(shared, system, i, h);

    yk_jacobian_renew(shared->jacobian);
    yk_status status =
        yk_jacobian_assemble(shared->jacobian, gradient_of, shared, CONDITION, CONDITION, H);
    if (status == YK_OK)
        return YK_OK;
    return yk_fail(
        system->context, status,
        "at t = %g s the joints between fast and slow subsystems have no unique forces: the "
        "motions of both sides do not follow them; remove interfaces that join what is already "
        "joined, or select exchange: force-motion",
        system->t + tau + h);
}

yk_status yk_rim_shared_solve(yk_rim_shared *shared, yk_system *system, double tau, double h)
{
    if (!shared)
        return YK_OK;

    /* Directions at the start of the exchange, and the multipliers of the last one as the wrenches
     * about which the models are linear. */
    for (int i = 0; i < shared->count; i++) {
        shared_interface *own = &shared->interfaces[i];
        yk_motion motion[2];
        for (int side = 0; side < 2; side++)
            motion[side] = motion_of(system, own->interface, side);

        yk_constraint_kinematics at;
        yk_constraint_kinematics_at(&own->constraint, system->t + tau, &motion[0], &motion[1], &at);
        for (int row = 0; row < own->constraint.row_count; row++) {
            yk_wrench unit[2];
            yk_constraint_unit_wrenches(&own->constraint, &at, row, unit);
            own->unit[0][row] = unit[0];
            own->unit[1][row] = unit[1];
        }

        for (int side = 0; side < 2; side++)
            own->last[side] = sum_of(own, side);
        apply(system, own);
    }

    for (int i = 0; i < system->participant_count; i++) {
        shared_participant *own = &shared->participants[i];
        if (own->size == 0)
            continue;

        yk_system_step_model_over(system, i, tau, h, own->offsets, &own->model);
        if (YK_FAILED(system->participants[i].status))
            return yk_system_report_failure_at(system, i, system->t + tau + h);
    }

    for (int i = 0; i < shared->count; i++)
        set_shifts(shared, system, &shared->interfaces[i]);

    yk_status status = linearize(shared, system, tau, h);
    if (status != YK_OK)
        return status;

    double *held = shared->held;
    for (int i = 0; i < shared->count; i++)
        for (int row = 0; row < shared->interfaces[i].constraint.row_count; row++)
            *held++ = shared->interfaces[i].multiplier[row];
    yk_jacobian_solve(shared->jacobian, shared->residual, shared->held);

    const double *correction = shared->residual;
    double fraction = h / system->h;
    for (int i = 0; i < shared->count; i++) {
        shared_interface *own = &shared->interfaces[i];
        for (int row = 0; row < own->constraint.row_count; row++)
            own->multiplier[row] -= *correction++;

        apply(system, own);
        for (int side = 0; side < 2; side++) {
            yk_wrench wrench = wrench_of(own, side);
            own->mean[side] =
                yk_wrench_combine(own->constraint.kind, &own->mean[side], fraction, &wrench);
        }
    }

    return YK_OK;
}

enum { MEAN_WORDS = 2 * sizeof(yk_wrench) / sizeof(double) };

/* State ---------------------------------------------------------------------------------------- */

size_t yk_rim_shared_words(const yk_rim_shared *shared)
{
    size_t words = 0;
    for (int i = 0; shared && i < shared->count; i++)
        words += (size_t)shared->interfaces[i].constraint.row_count + MEAN_WORDS;
    return words;
}

double *yk_rim_shared_get(const yk_rim_shared *shared, double *words)
{
    for (int i = 0; shared && i < shared->count; i++) {
        size_t rows = (size_t)shared->interfaces[i].constraint.row_count;
        memcpy(words, shared->interfaces[i].multiplier, rows * sizeof *words);
        memcpy(words + rows, shared->interfaces[i].mean, MEAN_WORDS * sizeof *words);
        words += rows + MEAN_WORDS;
    }

    return words;
}

const double *yk_rim_shared_set(yk_rim_shared *shared, const double *words)
{
    for (int i = 0; shared && i < shared->count; i++) {
        size_t rows = (size_t)shared->interfaces[i].constraint.row_count;
        memcpy(shared->interfaces[i].multiplier, words, rows * sizeof *words);
        memcpy(shared->interfaces[i].mean, words + rows, MEAN_WORDS * sizeof *words);
        words += rows + MEAN_WORDS;
    }

    return words;
}
