/* Number of the motions prescribed to a subsystem by interfaces that it can make by itself.
 *
 * The subsystem is built again, its ports receive wrenches instead, and its interface model gives
 * the response of their velocities: w' = W f. The prescribed motions are the components P w along
 * the constrained axes; the number of independent ones is the rank of P W P^T. Internal joints that
 * prevent a motion make W zero along it. */
#include <math.h>

#include "math/dense.h"
#include "math/polynomial.h"
#include "yoke/analysis.h"

/* Fraction of a motion's own response below which the motion depends on the others, or is
 * prevented: above rounding errors and the small compliance of redundant joints. */
static const double DEPENDENT = 1e-6;
/* Rotations of a body smaller than 30 km respond by more than this fraction of its translations
 * (1/m2): if the response is smaller, all rotations are prevented. */
static const double LARGEST_BODY = 1e-9;

typedef struct workspace {
    int *first;                  /* column of each port in the model; -1: not connected */
    int size;                    /* columns */
    int rows;                    /* number of prescribed motions */
    double *inverse_mass, *rate; /* size x size: W; size */
    double *along;               /* rows x size: P */
    double *answer;              /* rows x rows: P W P^T */
    double *scale;               /* rows */
    yk_input *inputs;            /* per port */
} workspace;

/* P: the prescribed components, in the present axes of the markers. Each is scaled by the largest
 * response of its kind, translation or rotation, at any port. */
static void fill_directions(const yk_scenario_info *info, int subsystem, workspace *w)
{
    yk_subsystem *part = info->subsystems[subsystem];
    const yk_port *ports;
    int count = part->ops->ports(part, &ports);

    /* The largest responses. */
    double translation = 0;
    double rotation = 0;

    for (int i = 0; i < count; i++) {
        for (int k = 0; w->first[i] >= 0 && k < yk_port_freedoms(ports[i].kind); k++) {
            int column = w->first[i] + k;
            double *largest = k < 3 ? &translation : &rotation;
            *largest = fmax(*largest, w->inverse_mass[column * w->size + column]);
        }
    }

    /* In the units of the subsystem. */
    double length = info->transforms[subsystem].length_unit;
    rotation = fmax(rotation, LARGEST_BODY * translation * length * length);

    /* The axes that are prescribed. */
    int row = 0;
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        if (def->motion_subsystem.index != subsystem)
            continue;

        yk_port_value value = {.motion.orientation = {1, 0, 0, 0}};
        part->ops->get_port_value(part, def->motion_port.index, &value);
        bool scalar = ports[def->motion_port.index].kind == YK_PORT_SCALAR;

        for (int k = 0; k < 6; k++) {
            if (!(def->constrained_axes >> k & 1))
                continue;

            yk_vec3 axis = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            double *along =
                w->along + row * w->size + w->first[def->motion_port.index] + 3 * (k / 3);
            if (scalar) {
                along[0] = axis.x;
            } else {
                axis = yk_q_rotate(value.motion.orientation, axis);
                along[0] = axis.x;
                along[1] = axis.y;
                along[2] = axis.z;
            }

            double own = translation;
            if (k >= 3)
                own = rotation;
            w->scale[row] = 1;
            if (own > 0)
                w->scale[row] = sqrt(own);
            row++;
        }
    }
}

static yk_status count_freedoms(yk_context *context, const yk_scenario_info *info, int subsystem,
                                workspace *w, yk_prescribed_dofs *freedoms)
{
    yk_subsystem *part = info->subsystems[subsystem];
    const yk_subsystem_ops *ops = part->ops;
    const yk_port *ports;
    int count = ops->ports(part, &ports);
    if (!ops->interface_model)
        return YK_ERROR_CAPABILITY;

    w->first = yk_allocate(context, (size_t)count, sizeof *w->first);
    if (!w->first)
        return YK_ERROR_MEMORY;

    /* All ports of interfaces receive wrenches, on either side. */
    for (int i = 0; i < count; i++)
        w->first[i] = -1;

    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        bool second = def->motion_subsystem.index == subsystem;
        if (!second && def->wrench_subsystem.index != subsystem)
            continue;

        int port = def->wrench_port.index;
        if (second)
            port = def->motion_port.index;
        if (!(ports[port].allowed_causalities & YK_CAUSALITY_WRENCH_INPUT))
            return YK_ERROR_CAPABILITY;

        yk_status status =
            ops->connect(part, port, YK_CAUSALITY_WRENCH_INPUT, def->constrained_axes);
        if (YK_FAILED(status))
            return status;

        w->first[port] = 0;
        for (int k = 0; second && k < 6; k++)
            w->rows += def->constrained_axes >> k & 1;
    }

    /* Columns of the model in the order of the ports. */
    for (int i = 0; i < count; i++) {
        if (w->first[i] < 0)
            continue;

        w->first[i] = w->size;
        w->size += yk_port_freedoms(ports[i].kind);
    }

    yk_status status = ops->initialize(part, info->start, info->step, NULL);
    if (YK_FAILED(status))
        return status;

    /* W, about the start. */
    size_t size = (size_t)w->size;
    size_t rows = (size_t)w->rows;
    w->inverse_mass = yk_allocate(context, size * size, sizeof *w->inverse_mass);
    w->rate = yk_allocate(context, size, sizeof *w->rate);
    w->along = yk_allocate(context, rows * size, sizeof *w->along);
    w->answer = yk_allocate(context, rows * rows, sizeof *w->answer);
    w->scale = yk_allocate(context, rows, sizeof *w->scale);
    w->inputs = yk_allocate(context, (size_t)count, sizeof *w->inputs);
    if (!w->inverse_mass || !w->rate || !w->along || !w->answer || !w->scale || !w->inputs)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++)
        w->inputs[i].base_orientation.w = 1;
    yk_interface_model model = {
        .row_count = w->size, .inverse_mass = w->inverse_mass, .free_acceleration = w->rate};
    status = ops->interface_model->evaluate(part, info->start, info->step, w->inputs, &model);
    if (YK_FAILED(status))
        return status;

    /* P W P^T, scaled by the response of a free body. */
    fill_directions(info, subsystem, w);
    for (int i = 0; i < w->rows; i++) {
        for (int j = 0; j < w->rows; j++) {
            double *answer = &w->answer[i * w->rows + j];
            for (int k = 0; k < w->size; k++)
                for (int l = 0; l < w->size; l++)
                    *answer += w->along[i * w->size + k] * w->inverse_mass[k * w->size + l] *
                               w->along[j * w->size + l];
            *answer /= w->scale[i] * w->scale[j];
        }
    }

    freedoms->prescribed_count = w->rows;
    freedoms->independent_count = yk_dense_rank(w->rows, w->answer, DEPENDENT);

    return YK_OK;
}

yk_status yk_scenario_prescribed_dofs(yk_context *context, const yk_scenario_def *def,
                                      yk_subsystem_id subsystem, yk_prescribed_dofs *freedoms)
{
    /* Build it again, because other connections of its ports change it. */
    *freedoms = (yk_prescribed_dofs){0};
    workspace w = {0};
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_scenario_load(context, def, diagnostics, &scenario);
    if (!YK_FAILED(status))
        status =
            count_freedoms(context, yk_scenario_get_info(scenario), subsystem.index, &w, freedoms);

    yk_free(context, w.first);
    yk_free(context, w.inverse_mass);
    yk_free(context, w.rate);
    yk_free(context, w.along);
    yk_free(context, w.answer);
    yk_free(context, w.scale);
    yk_free(context, w.inputs);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    return status;
}
