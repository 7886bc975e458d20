/* How many of the motions that interfaces prescribe to a subsystem it can make by itself.
 *
 * The subsystem is built anew, its ports take wrenches instead, and its interface model tells how
 * their velocities answer: w' = W f. What is prescribed are the components P w along the
 * constrained axes; those that answer independently of each other are as many as the rank of P W
 * P^T. Joints inside that hold a motion make W zero along it. */
#include <math.h>

#include "math/polynomial.h"
#include "yoke/analysis.h"

/* Fraction of a motion's own answer below which it is one of the others, or held: what is left of
 * rounding and of redundant joints, which yield by a billionth. */
static const double DEPENDENT = 1e-6;

typedef struct workspace {
    yk_subsystem *subsystem;
    int *first; /* column of each port in the model; -1: not connected */
    int size;
    bool *rotates; /* per column: an angular velocity */
    double *inverse_mass, *rate;
    int rows;
    double *along;  /* rows x size: P */
    double *answer; /* rows x rows: P W P^T */
} workspace;

/* All ports of the subsystem that take part in interfaces take wrenches. */
static yk_status connect_ports(const yk_scenario_info *info, int subsystem, workspace *w)
{
    const yk_subsystem_ops *ops = w->subsystem->ops;
    const yk_port *ports;
    int count = ops->ports(w->subsystem, &ports);
    for (int i = 0; i < count; i++)
        w->first[i] = -1;
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        bool second = def->motion_subsystem == subsystem;
        if (!second && def->wrench_subsystem != subsystem)
            continue;
        int port = second ? def->motion_port : def->wrench_port;
        if (!(ports[port].causalities & YK_TAKES_WRENCH))
            return YK_ERROR_CAPABILITY;
        yk_status status = ops->connect(w->subsystem, port, YK_TAKES_WRENCH, def->constrained);
        if (status < 0)
            return status;
        w->first[port] = 0;
        for (int k = 0; second && k < 6; k++)
            w->rows += def->constrained >> k & 1;
    }
    for (int i = 0; i < count; i++) {
        if (w->first[i] < 0)
            continue;
        w->first[i] = w->size;
        w->size += yk_port_freedoms(ports[i].kind);
    }
    return YK_OK;
}

/* The components that are prescribed, in the axes of the markers as they are. */
static void fill_directions(const yk_scenario_info *info, int subsystem, workspace *w)
{
    int row = 0;
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        if (def->motion_subsystem != subsystem)
            continue;
        yk_port_value value = {.motion.orientation = {1, 0, 0, 0}};
        const yk_port *ports;
        w->subsystem->ops->ports(w->subsystem, &ports);
        w->subsystem->ops->output(w->subsystem, def->motion_port, &value);
        bool scalar = ports[def->motion_port].kind == YK_PORT_SCALAR;
        for (int k = 0; k < 6; k++) {
            if (!(def->constrained >> k & 1))
                continue;
            yk_vec3 axis = yk_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            if (!scalar)
                axis = yk_q_rotate(value.motion.orientation, axis);
            double *at = w->along + row * w->size + w->first[def->motion_port] + 3 * (k / 3);
            at[0] = axis.x;
            if (!scalar)
                at[1] = axis.y, at[2] = axis.z;
            row++;
        }
    }
}

static void multiply(workspace *w)
{
    for (int i = 0; i < w->rows; i++)
        for (int j = 0; j < w->rows; j++)
            for (int k = 0; k < w->size; k++)
                for (int l = 0; l < w->size; l++)
                    w->answer[i * w->rows + j] += w->along[i * w->size + k] *
                                                  w->inverse_mass[k * w->size + l] *
                                                  w->along[j * w->size + l];
}

/* Rank of a symmetric matrix by Cholesky's method with the largest pivot, rows scaled by what a
 * free body would answer. */
static int rank_of(int n, double *a, const double *scale)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] /= scale[i] * scale[j];
    int rank = 0;
    for (; rank < n; rank++) {
        int best = rank;
        for (int i = rank; i < n; i++)
            if (a[i * n + i] > a[best * n + best])
                best = i;
        for (int j = 0; j < n; j++) {
            double swap = a[rank * n + j];
            a[rank * n + j] = a[best * n + j], a[best * n + j] = swap;
        }
        for (int i = 0; i < n; i++) {
            double swap = a[i * n + rank];
            a[i * n + rank] = a[i * n + best], a[i * n + best] = swap;
        }
        double pivot = a[rank * n + rank];
        if (!(pivot > DEPENDENT))
            break;
        for (int i = rank + 1; i < n; i++)
            for (int j = rank + 1; j < n; j++)
                a[i * n + j] -= a[i * n + rank] * a[rank * n + j] / pivot;
    }
    return rank;
}

/* The largest answers of a translation and of a rotation at any port are what others are measured
 * by. Rotations of a body that is no larger than 30 km answer by more than a billionth of what
 * translations do: below that they are all held. */
static int independent_motions(yk_context *context, const yk_transform *transform, workspace *w)
{
    static const double LARGEST_BODY = 1e-9;
    double largest[2] = {0, 0}, *scale = yk_allocate(context, (size_t)w->rows, sizeof *scale);
    if (!scale)
        return w->rows;
    for (int k = 0; k < w->size; k++) {
        double *of_kind = &largest[w->rotates[k]];
        *of_kind = fmax(*of_kind, w->inverse_mass[k * w->size + k]);
    }
    double least = LARGEST_BODY * largest[0] * transform->length * transform->length;
    largest[1] = fmax(largest[1], least);
    for (int i = 0; i < w->rows; i++) {
        int k = 0;
        while (w->along[i * w->size + k] == 0)
            k++;
        double own = largest[w->rotates[k]];
        scale[i] = own > 0 ? sqrt(own) : 1;
    }
    int rank = rank_of(w->rows, w->answer, scale);
    yk_release(context, scale);
    return rank;
}

static yk_status ask(yk_context *context, const yk_scenario_info *info, int subsystem, workspace *w,
                     yk_freedoms *freedoms)
{
    const yk_subsystem_ops *ops = w->subsystem->ops;
    const yk_port *ports;
    size_t count = (size_t)ops->ports(w->subsystem, &ports);
    if (!ops->interface_model)
        return YK_ERROR_CAPABILITY;
    w->first = yk_allocate(context, count, sizeof *w->first);
    yk_status status = w->first ? connect_ports(info, subsystem, w) : YK_ERROR_MEMORY;
    if (status >= 0)
        status = ops->start(w->subsystem, info->start, info->step, NULL);
    if (status < 0)
        return status;

    size_t size = (size_t)w->size, rows = (size_t)w->rows;
    w->inverse_mass = yk_allocate(context, size * size, sizeof *w->inverse_mass);
    w->rate = yk_allocate(context, size, sizeof *w->rate);
    w->along = yk_allocate(context, rows * size, sizeof *w->along);
    w->answer = yk_allocate(context, rows * rows, sizeof *w->answer);
    w->rotates = yk_allocate(context, size, sizeof *w->rotates);
    yk_input *inputs = yk_allocate(context, count, sizeof *inputs);
    bool complete = w->inverse_mass && w->rate && w->along && w->answer && w->rotates && inputs;
    status = complete ? YK_OK : YK_ERROR_MEMORY;
    yk_interface_model model = {.size = w->size, .inverse_mass = w->inverse_mass, .rate = w->rate};
    for (size_t i = 0; complete && i < count; i++) {
        inputs[i].orientation.w = 1;
        for (int k = 3; w->first[i] >= 0 && k < yk_port_freedoms(ports[i].kind); k++)
            w->rotates[w->first[i] + k] = true;
    }
    if (status == YK_OK)
        status =
            ops->interface_model->evaluate(w->subsystem, info->start, info->step, inputs, &model);
    yk_release(context, inputs);
    if (status < 0)
        return status;

    fill_directions(info, subsystem, w);
    multiply(w);
    *freedoms =
        (yk_freedoms){.prescribed = w->rows,
                      .independent = independent_motions(context, &info->transforms[subsystem], w)};
    return YK_OK;
}

yk_status yk_scenario_freedoms(yk_context *context, const yk_scenario_def *def, int subsystem,
                               yk_freedoms *freedoms)
{
    *freedoms = (yk_freedoms){0};
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    workspace w = {0};
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_scenario_load(context, def, diagnostics, &scenario);
    if (status >= 0) {
        const yk_scenario_info *info = yk_scenario_get(scenario);
        w.subsystem = info->subsystems[subsystem];
        status = ask(context, info, subsystem, &w, freedoms);
    }
    yk_release(context, w.first);
    yk_release(context, w.inverse_mass);
    yk_release(context, w.rate);
    yk_release(context, w.along);
    yk_release(context, w.answer);
    yk_release(context, w.rotates);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    return status;
}
