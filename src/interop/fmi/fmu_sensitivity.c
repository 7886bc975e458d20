/* Derivatives of a step with respect to the wrenches on it, from directional derivatives of the
 * FMU.
 *
 * The FMU provides A, B, C and D of its equations at the end of the step: derivatives of the rates
 * of its states and of its outputs with respect to states and inputs. A change of a wrench by a
 * polynomial du(t) changes the states and the outputs by
 *
 *   dx' = A dx + B du,  dx(0) = 0        dy = C dx + D du
 *
 * which a Taylor series of the step solves, with the powers of time as additional states. FMUs
 * exported by Yoke provide the derivatives of the step itself. */
#include <math.h>
#include <string.h>

#include "interop/fmi/fmu_internal.h"
#include "math/polynomial.h"
#include "math/so3.h"

yk_status yk_fmu_prepare_sensitivity(yk_fmu *self, bool *offered)
{
    const yk_fmi_description *d = &self->description;
    const yk_fmu_list *inputs = &self->inputs;
    const yk_fmu_list *outputs = &self->outputs;
    *offered = self->instance->can->directional;

    /* Arrays would need element-wise references, which FMI does not have. */
    for (int i = 0; i < d->state_count; i++)
        *offered = *offered && d->variables[d->states[i]].size == 1;
    for (int i = 0; i < inputs->real_count; i++)
        *offered = *offered && d->variables[inputs->variables[i]].size == 1;
    for (int i = 0; i < outputs->real_count; i++)
        *offered = *offered && d->variables[outputs->variables[i]].size == 1;
    if (self->instance->exchange)
        *offered = *offered && self->state_count == d->state_count;

    /* Derivatives of the last step are those of the macro step if it consists of one step. */
    if (d->derivative_stride > 0)
        *offered = *offered && self->longest_step == 0;
    if (!*offered)
        return YK_OK;

    size_t n = (size_t)d->state_count;
    size_t r = n + (size_t)outputs->real_values;
    size_t m = (size_t)inputs->real_count;
    size_t changes = (size_t)(outputs->value_count + self->derived_count);

    /* The derivatives of all rows by each state and each input, by columns; the references of the
     * rows; three vectors of propagate; the change of all outputs, and that by one coefficient. */
    size_t words = r * (n + m + 2) + 3 * (n + YK_INPUT_COEFFICIENT_COUNT) + changes + 2;
    self->sensitivity_work = yk_allocate(self->context, words, sizeof *self->sensitivity_work);
    if (!self->sensitivity_work)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

/* y = exp(h M) y, where y has n states, then the input and its derivatives, and
 *
 *       [ A  b  0 ]
 *   M = [ 0  0  1 ]
 *       [ 0  0  0 ]
 *
 * by the Taylor series over short pieces of h. A has n columns of r numbers; `y` is followed by
 * memory for two more vectors of its size. */
static void propagate(int n, int r, const double *by_state, const double *by_input, double h,
                      double *y)
{
    enum { TERMS = 40, PIECES_MAX = 1000 };
    int size = n + YK_INPUT_COEFFICIENT_COUNT;
    double *term = y + size;
    double *next = term + size;

    /* Pieces over which the norm of h M is at most 1. */
    double norm = 1;
    for (int j = 0; j < n; j++) {
        const double *column = by_state + (size_t)j * (size_t)r;
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += fabs(column[i]);
        norm = fmax(norm, sum);
    }

    int count = (int)fmin(PIECES_MAX, ceil(norm * h));
    double piece = h / count;

    for (int k = 0; k < count; k++) {
        memcpy(term, y, (size_t)size * sizeof *term);
        for (int degree = 1; degree <= TERMS; degree++) {
            /* next = M term. */
            for (int i = 0; i < n; i++)
                next[i] = by_input[i] * term[n];
            for (int j = 0; j < n; j++) {
                const double *column = by_state + (size_t)j * (size_t)r;
                for (int i = 0; i < n; i++)
                    next[i] += column[i] * term[j];
            }

            /* Below A and b: each derivative of the input has the next one as its rate. */
            for (int i = 0; i < YK_INPUT_DEGREE_MAX; i++)
                next[n + i] = term[n + i + 1];
            next[n + YK_INPUT_DEGREE_MAX] = 0;

            /* The next term of the series; all after one that is zero are zero. */
            double largest = 0;
            for (int c = 0; c < size; c++) {
                term[c] = next[c] * piece / degree;
                y[c] += term[c];
                largest = fmax(largest, fabs(term[c]));
            }

            if (largest == 0)
                break;
        }
    }
}

/* Rotation for a change of the orientation's components: the vector of 2 dq q* for a quaternion,
 * that of the skew dR R^T for a matrix. */
static yk_vec3 rotation_change(const yk_fmu *self, const yk_fmu_port *port, const double *change)
{
    double value[9] = {0};
    double delta[9] = {0};

    /* The orientation of the FMU, and its change; a component without a variable is constant. */
    int count = port->count[YK_FMU_ORIENTATION];
    for (int i = 0; i < count; i++) {
        int at = port->at[YK_FMU_ORIENTATION][i];
        if (at < 0)
            continue;

        value[i] = self->outputs.values[at];
        delta[i] = change[at];
    }

    /* dq = (0, r) q / 2, so that r is twice the vector of dq times the conjugate of q. */
    if (count == 4) {
        yk_quat q = {value[0], value[1], value[2], value[3]};
        yk_quat d = {delta[0], delta[1], delta[2], delta[3]};
        yk_quat product = yk_q_mul(d, yk_q_conjugate(q));
        return yk_v3(2 * product.x, 2 * product.y, 2 * product.z);
    }

    if (count != 9)
        return yk_v3(0, 0, 0);

    /* dR = skew(r) R, so that skew(r) is dR times the transpose of R. */
    yk_mat3 r;
    yk_mat3 d;
    memcpy(r.m, value, sizeof r.m);
    memcpy(d.m, delta, sizeof d.m);
    yk_mat3 skew = yk_m3_mul(d, yk_m3_transpose(r));
    return yk_v3(skew.m[2][1], skew.m[0][2], skew.m[1][0]);
}

/* Rows and columns are those of ports that interfaces use. */
static bool takes_wrench(const yk_fmu_port *port)
{
    return port->connected && port->takes == YK_CAUSALITY_WRENCH_INPUT;
}

/* Whether an output is a motion of such a port. Derivatives of others are not needed, and FMUs
 * exported by Yoke do not have them. */
static bool is_motion(const yk_fmu *self, int output)
{
    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        for (int q = 0; takes_wrench(port) && q < YK_FMU_FORCE; q++)
            for (int c = 0; c < port->count[q]; c++)
                if (port->at[q][c] == output)
                    return true;
    }

    return false;
}

/* A column: derivatives of the rates of the first `states` states, then of all outputs, by one
 * known variable; zero for outputs that are no motion. `rows` has memory for their references. */
static yk_status differentiate(yk_fmu *self, int states, uint32_t known, uint32_t *rows,
                               double *column)
{
    const yk_fmi_description *d = &self->description;
    yk_fmi_instance *instance = self->instance;
    int outputs = self->outputs.real_count;
    int count = 0;
    for (int i = 0; i < states; i++)
        rows[count++] = d->variables[d->derivatives[i]].reference;
    for (int i = 0; i < outputs; i++)
        if (is_motion(self, i))
            rows[count++] = self->outputs.references[i];

    yk_status status = YK_OK;
    if (count > 0)
        status = instance->calls->directional(instance, rows, count, known, column);

    /* From the end, because each moves towards it. */
    for (int i = outputs - 1; i >= 0; i--) {
        double value = 0;
        if (is_motion(self, i))
            value = column[--count];
        column[states + i] = value;
    }

    return status;
}

/* A column of the matrix, for all ports that take a wrench, from the change of the outputs. */
static void put_column(const yk_fmu *self, const double *change, double *matrix, int columns,
                       int column)
{
    static const int linear[3] = {YK_FMU_POSITION, YK_FMU_VELOCITY, YK_FMU_ACCELERATION};
    static const int angular[3] = {YK_FMU_ORIENTATION, YK_FMU_ANGULAR_VELOCITY,
                                   YK_FMU_ANGULAR_ACCELERATION};
    int row = 0;
    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        if (!takes_wrench(port))
            continue;

        int size = 6;
        if (self->ports[i].kind == YK_PORT_SCALAR)
            size = 1;

        /* Position, velocity and acceleration, of a marker with their angular ones. */
        for (int level = 0; level < 3; level++) {
            double values[6] = {0};
            for (int c = 0; c < size; c++) {
                int q = c < 3 ? linear[level] : angular[level];
                int component = c % 3;
                if (component < port->count[q] && port->at[q][component] >= 0)
                    values[c] = change[port->at[q][component]];
            }

            /* The rows of an orientation are those of a rotation vector, not of its components. */
            if (size == 6 && level == 0) {
                yk_vec3 rotation = rotation_change(self, port, change);
                memcpy(values + 3, &rotation.x, 3 * sizeof *values);
            }

            for (int c = 0; c < size; c++)
                matrix[row++ * columns + column] = values[c];
        }
    }
}

yk_status yk_fmu_step_sensitivity(yk_subsystem *subsystem, double t, double h,
                                  const yk_input *inputs, int degree, double *matrix)
{
    static const double factorial[YK_INPUT_COEFFICIENT_COUNT] = {1, 1, 2, 6};
    yk_fmu *self = (yk_fmu *)subsystem;
    const yk_fmi_description *d = &self->description;
    yk_fmi_instance *instance = self->instance;
    yk_status status = yk_fmu_step(subsystem, t, h, inputs);
    if (status != YK_OK)
        return status;

    /* Parts of the workspace for n states, r rows (states and outputs) and m inputs. */
    int n = d->state_count;
    int r = n + self->outputs.real_values;
    int m = self->inputs.real_count;
    size_t stride = (size_t)r;
    size_t changes = (size_t)(self->outputs.value_count + self->derived_count);
    double *by_state = self->sensitivity_work;
    double *by_input = by_state + stride * (size_t)n;
    double *y = by_input + stride * (size_t)m;
    double *change = y + 3 * ((size_t)n + YK_INPUT_COEFFICIENT_COUNT);
    double *by_coefficient = change + changes + 1;
    uint32_t *rows = (uint32_t *)(by_coefficient + stride);
    bool of_step = d->derivative_stride > 0;

    /* Columns of [A; C] and of [B; D]. */
    for (int i = 0; i < n && status == YK_OK; i++) {
        uint32_t state = d->variables[d->states[i]].reference;
        status = differentiate(self, n, state, rows, by_state + (size_t)i * stride);
    }

    for (int i = 0; i < m && !of_step && status == YK_OK; i++) {
        uint32_t input = self->inputs.references[i];
        status = differentiate(self, n, input, rows, by_input + (size_t)i * stride);
    }

    if (status != YK_OK)
        return status;

    /* Columns: coefficients of one force of a scalar port, of six components of a marker. */
    int columns = 0;
    for (int i = 0; i < self->port_count; i++) {
        if (!takes_wrench(&self->maps[i]))
            continue;
        if (self->ports[i].kind == YK_PORT_SCALAR)
            columns += degree + 1;
        else
            columns += 6 * (degree + 1);
    }

    /* A column for each port, power of time and component of the wrench. */
    bool lines = instance->can->interpolates_inputs && d->version == 2;
    int column = 0;
    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        if (!takes_wrench(port))
            continue;

        int width = 6;
        if (self->ports[i].kind == YK_PORT_SCALAR)
            width = 1;
        bool follows = instance->exchange || self->longest_step > 0 || port->asks;

        for (int k = 0; k < (degree + 1) * width; k++, column++) {
            int power = k / width;
            int component = k % width;

            /* The unit change of one coefficient of the input, as the step receives it. */
            yk_input seen = {.degree = power};
            seen.linear[power].x = 1;
            if (!follows)
                seen = yk_input_reduce(&seen, h, lines ? 1 : 0);

            /* A component without a variable has no effect. */
            memset(change, 0, changes * sizeof *change);
            int quantity = component < 3 ? YK_FMU_FORCE : YK_FMU_TORQUE;
            int at = -1;
            if (component % 3 < port->count[quantity])
                at = port->at[quantity][component % 3];
            if (at < 0) {
                put_column(self, change, matrix, columns, column);
                continue;
            }

            /* The FMU has the derivatives of its step: the sum over the coefficients it sees. */
            for (int c = 0; of_step && c <= seen.degree; c++) {
                uint32_t known = self->inputs.references[at] + (uint32_t)c * d->derivative_stride;
                if (seen.linear[c].x == 0)
                    continue;

                status = differentiate(self, 0, known, rows, by_coefficient);
                if (status != YK_OK)
                    return status;
                for (int row = 0; row < r - n; row++)
                    change[row] += seen.linear[c].x * by_coefficient[row];
            }

            /* dx(h); inputs are scalars: their values are numbered as they are. */
            const double *b = by_input + (size_t)at * stride;
            memset(y, 0, (size_t)(n + YK_INPUT_COEFFICIENT_COUNT) * sizeof *y);
            for (int c = 0; c <= seen.degree; c++)
                y[n + c] = factorial[c] * seen.linear[c].x;
            if (!of_step)
                propagate(n, r, by_state, b, h, y);

            /* dy = C dx + D du, and rates by differences over the step. */
            for (int row = 0; !of_step && row < self->outputs.real_values; row++) {
                double sum = b[n + row] * pow(h, power);
                for (int j = 0; j < n; j++)
                    sum += by_state[(size_t)j * stride + (size_t)(n + row)] * y[j];
                change[row] = sum;
            }

            for (int c = 0; c < self->rate_count; c++)
                change[self->rates[c].to] = change[self->rates[c].from] / h;
            put_column(self, change, matrix, columns, column);
        }
    }

    return YK_OK;
}
