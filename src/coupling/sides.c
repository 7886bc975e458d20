/* The choice of the motion sides.
 *
 * A side that receives a motion must be able to follow it. If its own joints, or the motions that
 * other interfaces prescribe to it, prevent a motion that its partner makes, no iteration finds a
 * wrench for it. The second side of an interface receives the motion unless it cannot follow. In
 * that case the sides are exchanged, and if necessary also those of further interfaces, for example
 * along a chain of subsystems. Channels do not change: they belong to the first side in the def.
 *
 * The motions that a subsystem can make are found from the interface model of a copy: its mobility
 * Y at the ports, and the mobilities of its partners at these ports. With N, the directions of all
 * motions that a subsystem is given, it can follow if N (Y + Y of the partners) N^T has no higher
 * rank than N Y N^T. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "coupling/axes.h"
#include "coupling/scheme_options.h"
#include "coupling/system.h"
#include "coupling/wiring.h"
#include "math/dense.h"
#include "math/vec3.h"

/* Mobilities below this fraction of the largest mobility of a port are rounding errors. */
static const double IMMOBILE = 1e-8;
/* Start of the copies (s); their mobilities depend on positions only. */
static const double STEP = 1e-3;

/* Mobilities of a participant at its marker ports, 6 x 6 blocks in global axes. */
typedef struct mobility {
    bool asked;  /* The evaluation was tried. */
    bool known;  /* It succeeded. */
    int *offset; /* per port, -1: none */
    int size;
    double *matrix;
    yk_quat *axes; /* of the ports' markers */
} mobility;

/* An interface whose second side receives a motion, and whose sides may be exchanged. */
typedef struct choice {
    bool motion, visited;
} choice;

typedef struct sides {
    yk_system *system;
    mobility *mobilities; /* per participant */
    choice *choices;      /* per interface */
} sides;

/* Mobilities ----------------------------------------------------------------------------------- */

/* Initializes a copy with a wrench on every port of an interface, and evaluates its interface
 * model. */
static yk_status evaluate_copy(const sides *s, int participant, yk_subsystem *copy)
{
    mobility *m = &s->mobilities[participant];
    const yk_participant *p = &s->system->participants[participant];
    yk_context *context = s->system->context;

    m->size = 0;
    for (int port = 0; port < p->port_count; port++) {
        bool joined = false;
        for (int i = 0; i < p->joined_count; i++) {
            const yk_interface_def *def = &s->system->interfaces[p->joined[i]].def;
            bool first =
                def->wrench_subsystem.index == participant && def->wrench_port.index == port;
            bool second =
                def->motion_subsystem.index == participant && def->motion_port.index == port;
            joined = joined || first || second;
        }

        m->offset[port] = -1;
        bool takes = p->ports[port].allowed_causalities & YK_CAUSALITY_WRENCH_INPUT;
        if (!joined || !takes || p->ports[port].kind != YK_PORT_MARKER)
            continue;
        yk_status connected =
            copy->ops->connect(copy, port, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL);
        if (YK_FAILED(connected))
            return connected;
        m->offset[port] = m->size;
        m->size += 6;
    }

    size_t n = (size_t)m->size;
    m->matrix = yk_allocate(context, n * n, sizeof *m->matrix);
    double *rate = yk_allocate(context, n, sizeof *rate);
    yk_input *inputs = yk_allocate(context, (size_t)p->port_count, sizeof *inputs);
    yk_status status = m->matrix && rate && inputs ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = copy->ops->initialize(copy, 0, STEP, NULL);

    yk_interface_model model = {
        .row_count = m->size, .inverse_mass = m->matrix, .free_acceleration = rate};
    if (!YK_FAILED(status)) {
        const yk_interface_model_ops *ops = copy->ops->interface_model;
        status = ops->evaluate(copy, 0, STEP, inputs, &model);
    }

    for (int port = 0; !YK_FAILED(status) && port < p->port_count; port++) {
        yk_port_value value;
        if (m->offset[port] < 0)
            continue;
        copy->ops->get_port_value(copy, port, &value);
        m->axes[port] = value.motion.orientation;
    }

    yk_free(context, rate);
    yk_free(context, inputs);
    return status;
}

/* Finds the mobilities of a participant; NULL if it has no interface model, or if the model cannot
 * be evaluated. Only missing memory is an error. */
static yk_status find_mobility(const sides *s, int participant, const mobility **found)
{
    mobility *m = &s->mobilities[participant];
    const yk_participant *p = &s->system->participants[participant];
    yk_context *context = s->system->context;
    const yk_subsystem_ops *ops = p->subsystem->ops;
    *found = m->known ? m : NULL;
    if (m->asked)
        return YK_OK;

    m->asked = true;
    if (!ops->merge || !ops->interface_model)
        return YK_OK;

    size_t ports = (size_t)p->port_count;
    m->offset = yk_allocate(context, ports, sizeof *m->offset);
    m->axes = yk_allocate(context, ports, sizeof *m->axes);
    if (!m->offset || !m->axes)
        return YK_ERROR_MEMORY;

    /* A merged subsystem of one part is a copy. Warnings come from the original subsystem. */
    yk_subsystem *copy = NULL;
    const yk_merge_def merge = {.parts = &p->subsystem, .part_count = 1, .length_unit = 1};
    yk_quiet_begin(context);
    yk_status status = ops->merge->merge(&merge, &copy);
    if (!YK_FAILED(status)) {
        status = evaluate_copy(s, participant, copy);
        copy->ops->destroy(copy);
    }

    yk_quiet_end(context);
    m->known = !YK_FAILED(status);
    *found = m->known ? m : NULL;
    return status == YK_ERROR_MEMORY ? status : YK_OK;
}

/* Directions ----------------------------------------------------------------------------------- */

/* A motion that an interface constrains: a translation or rotation along an axis of a port. */
typedef struct direction {
    int port[2]; /* of the motion side and of the wrench side */
    int partner;
    bool rotation;
    yk_vec3 axis;
} direction;

enum { DIRECTIONS_MAX = 120 };

/* Lists all motions that a participant is given. */
static int list_directions(const sides *s, int participant, const mobility *m,
                           direction list[DIRECTIONS_MAX])
{
    int count = 0;
    const yk_participant *p = &s->system->participants[participant];
    for (int n = 0; n < p->joined_count; n++) {
        int i = p->joined[n];
        const yk_interface_def *def = &s->system->interfaces[i].def;
        bool given = s->choices[i].motion && def->motion_subsystem.index == participant;
        if (!given || m->offset[def->motion_port.index] < 0 || count + 6 > DIRECTIONS_MAX)
            continue;

        for (int k = 0; k < 6; k++) {
            if (!(def->constrained_axes & 1u << k))
                continue;
            yk_vec3 unit = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            list[count++] = (direction){
                .port = {def->motion_port.index, def->wrench_port.index},
                .partner = def->wrench_subsystem.index,
                .rotation = k >= 3,
                .axis = yk_q_rotate(m->axes[def->motion_port.index], unit),
            };
        }
    }

    return count;
}

/* The rate of one motion caused by the wrench of another, at side 0 or 1 of both. */
static double response(const mobility *m, int side, const direction *a, const direction *b)
{
    int row = m->offset[a->port[side]] + 3 * a->rotation;
    int column = m->offset[b->port[side]] + 3 * b->rotation;
    const double u[3] = {a->axis.x, a->axis.y, a->axis.z};
    const double w[3] = {b->axis.x, b->axis.y, b->axis.z};
    double sum = 0;

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum += u[i] * m->matrix[(row + i) * m->size + column + k] * w[k];

    return sum;
}

/* The largest mobility of a port in translation or rotation. The body of a port that cannot rotate
 * counts as one of 1 m. */
static double largest_mobility(const mobility *m, int port, bool rotation)
{
    double largest[2] = {0, 0};
    for (int k = 0; k < 6; k++) {
        int i = m->offset[port] + k;
        largest[k / 3] = fmax(largest[k / 3], m->matrix[i * m->size + i]);
    }

    if (largest[1] < IMMOBILE * largest[0])
        largest[1] = largest[0];
    if (largest[0] < IMMOBILE * largest[1])
        largest[0] = largest[1];
    return largest[rotation];
}

/* The scale of a motion: the root of the inverse of the largest mobility of its port. A port that cannot
 * move at all takes the mobility of its partner, so that the motions of the partner count as missing. */
static yk_status find_scale(const sides *s, const mobility *own, const direction *given,
                            double *scale)
{
    double largest = largest_mobility(own, given->port[0], given->rotation);
    yk_status status = YK_OK;
    if (!(largest > 0)) {
        const mobility *partner;
        status = find_mobility(s, given->partner, &partner);
        if (partner && partner->offset[given->port[1]] >= 0)
            largest = largest_mobility(partner, given->port[1], given->rotation);
    }

    *scale = largest > 0 ? 1 / sqrt(largest) : 1;
    return status;
}

/* Counts the independent motions of its partners that a participant cannot follow. */
static yk_status count_missing(const sides *s, int participant, int *missing)
{
    /* Contacts may open, so only mechanisms without contacts are tested. */
    *missing = 0;
    if (!s->system->participants[participant].subsystem->ops->step_model)
        return YK_OK;

    const mobility *own;
    yk_status status = find_mobility(s, participant, &own);
    if (status != YK_OK || !own)
        return status;

    direction list[DIRECTIONS_MAX];
    int n = list_directions(s, participant, own, list);
    size_t size = (size_t)(n * n);
    double *sum = yk_allocate(s->system->context, 2 * size, sizeof *sum);
    if (!sum)
        return YK_ERROR_MEMORY;

    /* First the own mobilities, scaled by the mobilities of both sides. */
    double *copy = sum + size;
    double scale[DIRECTIONS_MAX];
    for (int i = 0; status == YK_OK && i < n; i++)
        status = find_scale(s, own, &list[i], &scale[i]);
    if (status != YK_OK) {
        yk_free(s->system->context, sum);
        return status;
    }

    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            sum[i * n + k] = scale[i] * scale[k] * response(own, 0, &list[i], &list[k]);

    memcpy(copy, sum, size * sizeof *sum);
    int rank = yk_dense_rank(n, copy, IMMOBILE);
    if (rank == n) {
        yk_free(s->system->context, sum);
        return YK_OK;
    }

    /* Then those of the partners in the same scales, each with a largest mobility of 1. A partner
     * without an interface model counts as free to move. */
    for (int i = 0; status == YK_OK && i < n; i++) {
        const mobility *partner;
        status = find_mobility(s, list[i].partner, &partner);
        if (!partner || partner->offset[list[i].port[1]] < 0) {
            sum[i * n + i] += 1;
            continue;
        }

        double largest = 0;
        for (int k = 0; k < n; k++) {
            if (list[k].partner != list[i].partner || partner->offset[list[k].port[1]] < 0)
                continue;
            double most = largest_mobility(partner, list[k].port[1], list[k].rotation);
            largest = fmax(largest, scale[k] * scale[k] * most);
        }

        for (int k = 0; k < n && largest > 0; k++) {
            if (list[k].partner != list[i].partner || partner->offset[list[k].port[1]] < 0)
                continue;
            double along = response(partner, 1, &list[i], &list[k]);
            sum[i * n + k] += scale[i] * scale[k] * along / largest;
        }
    }

    int more = yk_dense_rank(n, sum, IMMOBILE) - rank;
    yk_free(s->system->context, sum);
    *missing = more > 0 ? more : 0;
    return status;
}

/* The choice ----------------------------------------------------------------------------------- */

/* Whether a joint remains the same if its sides are exchanged. Its axes are those of the second
 * side's marker. They must be common to both sides, or have no influence. */
static bool is_symmetric(unsigned constrained)
{
    unsigned translations = yk_translation_axes(constrained);
    unsigned rotations = yk_rotation_axes(constrained);
    if (constrained & YK_AXIS_DISTANCE)
        return false;
    if (rotations == YK_AXES_TRANSLATION)
        return true;
    if (rotations == 0)
        return translations == 0 || translations == YK_AXES_TRANSLATION;

    /* Two constrained rotations leave the third axis in common: motions along it, or across it in
     * both directions. */
    unsigned common = YK_AXES_TRANSLATION & ~rotations;
    unsigned across = translations & rotations;
    return yk_is_single_axis(common) && (across == 0 || across == rotations);
}

static bool takes_motion(const yk_system *system, const yk_interface_def *def)
{
    const yk_scheme_ops *ops = system->scheme_def.ops;
    const yk_port_pair joined = {
        .subsystem = {system->participants[def->wrench_subsystem.index].subsystem,
                      system->participants[def->motion_subsystem.index].subsystem},
        .subsystem_index = {def->wrench_subsystem.index, def->motion_subsystem.index},
        .port = {def->wrench_port.index, def->motion_port.index},
    };
    return !ops->second_side_causality ||
           ops->second_side_causality(system->options, &joined) == YK_CAUSALITY_MOTION_INPUT;
}

static yk_interface_def exchanged(const yk_interface_def *def)
{
    yk_interface_def other = *def;
    other.wrench_subsystem = def->motion_subsystem;
    other.wrench_port = def->motion_port;
    other.motion_subsystem = def->wrench_subsystem;
    other.motion_port = def->wrench_port;
    return other;
}

static bool can_exchange(const yk_system *system, const yk_interface_def *def)
{
    const yk_participant *a = &system->participants[def->wrench_subsystem.index];
    const yk_participant *b = &system->participants[def->motion_subsystem.index];
    bool ports = a->ports[def->wrench_port.index].allowed_causalities & YK_CAUSALITY_MOTION_INPUT &&
                 b->ports[def->motion_port.index].allowed_causalities & YK_CAUSALITY_WRENCH_INPUT;
    yk_interface_def other = exchanged(def);
    return ports && !def->drive && is_symmetric(def->constrained_axes) &&
           takes_motion(system, &other);
}

static yk_status make_follow(sides *s, int participant, int *missing);

/* Exchanges the sides of an interface, and of further ones until its new motion side can follow.
 * Undoes this if the participant that followed before has no fewer missing freedoms than `missing`,
 * or if the new motion side cannot follow. */
static yk_status try_exchange(sides *s, int participant, yk_interface_def *def, int missing,
                              bool *exchange)
{
    *def = exchanged(def);

    int left, partner_missing = 0;
    int partner = def->motion_subsystem.index;
    yk_status status = count_missing(s, participant, &left);
    *exchange = status == YK_OK && left < missing;
    if (*exchange) {
        status = count_missing(s, partner, &partner_missing);
        if (status == YK_OK && partner_missing > 0)
            status = make_follow(s, partner, &partner_missing);
        *exchange = status == YK_OK && partner_missing == 0;
    }

    if (!*exchange)
        *def = exchanged(def);
    return status;
}

/* Exchanges sides until a participant can follow all motions that it is given. If it cannot, the
 * number of missing freedoms remains positive, and its interfaces are unchanged. */
static yk_status make_follow(sides *s, int participant, int *missing)
{
    yk_system *system = s->system;
    const yk_participant *p = &system->participants[participant];
    yk_status status = count_missing(s, participant, missing);
    while (status == YK_OK && *missing > 0) {
        bool found = false;
        for (int k = 0; status == YK_OK && !found && k < p->joined_count; k++) {
            int i = p->joined[k];
            yk_interface_def *def = &system->interfaces[i].def;
            bool given = s->choices[i].motion && def->motion_subsystem.index == participant;
            if (!given || s->choices[i].visited || !can_exchange(system, def))
                continue;

            s->choices[i].visited = true;
            status = try_exchange(s, participant, def, *missing, &found);
        }

        if (status != YK_OK || !found)
            break;
        status = count_missing(s, participant, missing);
    }

    return status;
}

static yk_status refuse(const sides *s, int participant, int missing)
{
    const yk_system *system = s->system;
    const char *name = "";
    for (int i = 0; i < system->interface_count; i++)
        if (s->choices[i].motion && system->interfaces[i].def.motion_subsystem.index == participant)
            name = system->interfaces[i].def.name;

    return yk_fail(
        system->context, YK_ERROR_CAPABILITY,
        "scheme %s: subsystem '%s' cannot follow the motions that its interfaces, such "
        "as '%s', prescribe to it: %d of them are forbidden by its own joints or by each "
        "other, and exchanging sides of 'between' does not help; choose a scheme that "
        "applies wrenches to both sides, such as %s, or join the parts by %s",
        yk_system_scheme_name(system), system->participants[participant].name, name, missing,
        yk_scheme_name_with(YK_SCHEME_IS_FORCE_FORCE), yk_scheme_name_with(YK_SCHEME_MERGES));
}

static yk_status choose(sides *s)
{
    yk_system *system = s->system;
    for (int i = 0; i < system->interface_count; i++)
        s->choices[i].motion = takes_motion(system, &system->interfaces[i].def);

    for (int p = 0; p < system->participant_count; p++) {
        int missing;
        yk_status status = count_missing(s, p, &missing);
        if (status == YK_OK && missing == 0)
            continue;

        for (int i = 0; i < system->interface_count; i++)
            s->choices[i].visited = false;
        if (status == YK_OK)
            status = make_follow(s, p, &missing);
        if (status != YK_OK)
            return status;
        if (missing > 0)
            return refuse(s, p, missing);
    }

    return YK_OK;
}

yk_status yk_system_choose_sides(yk_system *system)
{
    /* Schemes that merge do not need this. */
    if (system->interface_count == 0 || (system->traits & YK_SCHEME_MERGES))
        return YK_OK;

    yk_context *context = system->context;
    size_t participants = (size_t)system->participant_count;
    size_t interfaces = (size_t)system->interface_count;
    sides s = {
        .system = system,
        .mobilities = yk_allocate(context, participants, sizeof *s.mobilities),
        .choices = yk_allocate(context, interfaces, sizeof *s.choices),
    };
    int *first = yk_allocate(context, interfaces, sizeof *first);
    yk_status status = YK_ERROR_MEMORY;
    if (s.mobilities && s.choices && first) {
        for (int i = 0; i < system->interface_count; i++)
            first[i] = system->interfaces[i].def.wrench_subsystem.index;
        status = choose(&s);
    }

    for (int i = 0; status == YK_OK && i < system->interface_count; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        if (def->wrench_subsystem.index != first[i])
            yk_log(context, YK_LOG_INFO,
                   "interface '%s': subsystem '%s' cannot follow the motion of '%s', so '%s' "
                   "follows instead",
                   def->name, system->participants[def->wrench_subsystem.index].name,
                   system->participants[first[i]].name,
                   system->participants[def->motion_subsystem.index].name);
    }

    for (size_t i = 0; s.mobilities && i < participants; i++) {
        yk_free(context, s.mobilities[i].offset);
        yk_free(context, s.mobilities[i].matrix);
        yk_free(context, s.mobilities[i].axes);
    }

    yk_free(context, s.mobilities);
    yk_free(context, s.choices);
    yk_free(context, first);
    return status;
}
