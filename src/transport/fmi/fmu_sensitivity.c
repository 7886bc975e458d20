/* Derivatives of a step by the wrenches on it, from directional derivatives of the FMU.
 *
 * The FMU gives A, B, C and D of its equations at the end of the step: rates of its states and its
 * outputs by states and inputs. A wrench that is changed by a polynomial du(t) changes the states
 * and the outputs by
 *
 *   dx' = A dx + B du,  dx(0) = 0        dy = C dx + D du
 *
 * which a Taylor series of the step solves, with the powers of time as states of their own. */
#include <math.h>
#include <string.h>

#include "math/polynomial.h"
#include "math/so3.h"
#include "transport/fmi/fmu_internal.h"

/* Pieces of the work space, for n states, r rows (states and outputs) and m inputs. */
typedef struct pieces {
    int n, r, m;
    uint32_t *unknowns; /* r */
    double *by_state;   /* r x n, by columns */
    double *by_input;   /* r x m, by columns */
    double *vector;     /* 3 (n + YK_INPUT_COEFFICIENTS) */
    double *change;     /* of the outputs' values */
} pieces;

static pieces cut(const yk_fmu *self)
{
    pieces p = {.n = self->description.state_count, .m = self->inputs.real_count};
    p.r = p.n + self->outputs.real_values;
    double *at = self->sensitivity_work;
    p.by_state = at;
    at += (size_t)p.r * (size_t)p.n;
    p.by_input = at;
    at += (size_t)p.r * (size_t)p.m;
    p.vector = at;
    at += 3 * ((size_t)p.n + YK_INPUT_COEFFICIENTS);
    p.change = at;
    at += self->outputs.value_count + self->derived_count + 1;
    p.unknowns = (uint32_t *)at;

    return p;
}

yk_status yk_fmu_prepare_sensitivity(yk_fmu *self, bool *offered)
{
    const yk_fmi_description *d = &self->description;
    *offered = self->instance->can->directional;

    /* Arrays would need element-wise references, which FMI does not have. */
    for (int i = 0; i < d->state_count; i++)
        *offered = *offered && d->variables[d->states[i]].size == 1;
    for (int i = 0; i < self->inputs.real_count; i++)
        *offered = *offered && d->variables[self->inputs.variables[i]].size == 1;
    for (int i = 0; i < self->outputs.real_count; i++)
        *offered = *offered && d->variables[self->outputs.variables[i]].size == 1;
    if (self->instance->kind == YK_FMI_MODEL_EXCHANGE)
        *offered = *offered && self->state_count == d->state_count;
    if (!*offered)
        return YK_OK;

    size_t n = (size_t)d->state_count;
    size_t m = (size_t)self->inputs.real_count;
    size_t values = (size_t)(self->outputs.value_count + self->derived_count);
    size_t r = n + (size_t)self->outputs.real_values;
    size_t words = r * (n + m + 1) + 3 * (n + YK_INPUT_COEFFICIENTS) + values + 2;
    self->sensitivity_work = yk_allocate(self->context, words, sizeof *self->sensitivity_work);

    return self->sensitivity_work ? YK_OK : YK_ERROR_MEMORY;
}

/* Columns of [A; C] and of [B; D]. */
static yk_status linearise(yk_fmu *self, const pieces *p)
{
    yk_fmi_instance *instance = self->instance;
    const yk_fmi_description *d = &self->description;
    for (int i = 0; i < p->n; i++)
        p->unknowns[i] = d->variables[d->derivatives[i]].reference;
    for (int i = 0; i < self->outputs.real_count; i++)
        p->unknowns[p->n + i] = self->outputs.references[i];

    yk_status status = YK_OK;

    for (int i = 0; i < p->n && status == YK_OK; i++)
        status = instance->calls->directional(instance, p->unknowns, p->r,
                                              d->variables[d->states[i]].reference,
                                              p->by_state + (size_t)i * (size_t)p->r);

    for (int i = 0; i < p->m && status == YK_OK; i++)
        status =
            instance->calls->directional(instance, p->unknowns, p->r, self->inputs.references[i],
                                         p->by_input + (size_t)i * (size_t)p->r);

    return status;
}

/* rate = M y with y the states and the input with its derivatives. */
static void multiply(const pieces *p, const double *by_input, const double *y, double *rate)
{
    int n = p->n;
    for (int i = 0; i < n; i++)
        rate[i] = by_input[i] * y[n];
    for (int j = 0; j < n; j++) {
        const double *column = p->by_state + (size_t)j * (size_t)p->r;
        for (int i = 0; i < n; i++)
            rate[i] += column[i] * y[j];
    }

    for (int k = 0; k < YK_INPUT_DEGREE_MAX; k++)
        rate[n + k] = y[n + k + 1];
    rate[n + YK_INPUT_DEGREE_MAX] = 0;
}

/* exp(h M) y in place, by the Taylor series of short pieces of h. */
static void propagate(const pieces *p, const double *by_input, double h, double *y)
{
    enum { TERMS = 40, PIECES_MAX = 1000 };
    int size = p->n + YK_INPUT_COEFFICIENTS;
    double *term = y + size;
    double *next = term + size;

    double norm = 1;

    for (int j = 0; j < p->n; j++) {
        double sum = 0;
        for (int i = 0; i < p->n; i++)
            sum += fabs(p->by_state[(size_t)j * (size_t)p->r + (size_t)i]);
        norm = fmax(norm, sum);
    }

    int count = (int)fmin(PIECES_MAX, ceil(norm * h));
    double piece = h / count;

    for (int k = 0; k < count; k++) {
        memcpy(term, y, (size_t)size * sizeof *term);
        for (int i = 1; i <= TERMS; i++) {
            multiply(p, by_input, term, next);
            double largest = 0;
            for (int c = 0; c < size; c++) {
                term[c] = next[c] * piece / i;
                y[c] += term[c];
                largest = fmax(largest, fabs(term[c]));
            }
            if (largest == 0)
                break;
        }
    }
}

/* The unit change of one coefficient of an input as the step sees it. */
static yk_input seen_input(const yk_fmu *self, const yk_fmu_port *port, int power, double h)
{
    yk_input unit = {.degree = power};
    unit.linear[power].x = 1;
    const yk_fmi_instance *instance = self->instance;
    bool follows = instance->kind == YK_FMI_MODEL_EXCHANGE || self->longest_step > 0 || port->asks;
    if (follows)
        return unit;

    bool lines = instance->can->interpolates_inputs && self->description.version == 2;
    return yk_input_reduce(&unit, h, lines ? 1 : 0);
}

/* Rotation that belongs to a change of the orientation's components. */
static yk_vec3 rotation_change(const yk_fmu *self, const yk_fmu_port *port, const double *change)
{
    double value[9] = {0}, delta[9] = {0};
    int count = port->count[YK_FMU_ORIENTATION];

    for (int i = 0; i < count; i++) {
        int at = port->at[YK_FMU_ORIENTATION][i];
        if (at < 0)
            continue;

        value[i] = self->outputs.values[at];
        delta[i] = change[at];
    }

    if (count == 4) {
        yk_quat q = {value[0], value[1], value[2], value[3]};
        yk_quat d = {delta[0], delta[1], delta[2], delta[3]};
        yk_quat product = yk_q_mul(d, yk_q_conjugate(q));
        return yk_v3(2 * product.x, 2 * product.y, 2 * product.z);
    }
    if (count != 9)
        return yk_v3(0, 0, 0);

    yk_mat3 r, d;
    memcpy(r.m, value, sizeof r.m);
    memcpy(d.m, delta, sizeof d.m);
    yk_mat3 skew = yk_m3_mul(d, yk_m3_transpose(r));

    return yk_v3(skew.m[2][1], skew.m[0][2], skew.m[1][0]);
}

static void put_vector(double *matrix, int columns, int row, int column, yk_vec3 v)
{
    matrix[row * columns + column] = v.x;
    matrix[(row + 1) * columns + column] = v.y;
    matrix[(row + 2) * columns + column] = v.z;
}

/* Rows of all ports that take a wrench, from the change of the outputs. */
static void put_column(const yk_fmu *self, const double *change, double *matrix, int columns,
                       int column)
{
    static const int levels[3] = {YK_FMU_POSITION, YK_FMU_VELOCITY, YK_FMU_ACCELERATION};
    static const int turns[3] = {YK_FMU_ORIENTATION, YK_FMU_ANGULAR_VELOCITY,
                                 YK_FMU_ANGULAR_ACCELERATION};
    int row = 0;

    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        if (port->takes != YK_TAKES_WRENCH)
            continue;

        for (int level = 0; level < 3; level++) {
            double vectors[2][3] = {{0}};
            for (int kind = 0; kind < 2; kind++) {
                int q = kind ? turns[level] : levels[level];
                for (int c = 0; c < port->count[q] && c < 3; c++)
                    if (port->at[q][c] >= 0)
                        vectors[kind][c] = change[port->at[q][c]];
            }
            if (self->ports[i].kind == YK_PORT_SCALAR) {
                matrix[row++ * columns + column] = vectors[0][0];
                continue;
            }
            yk_vec3 turn = yk_v3(vectors[1][0], vectors[1][1], vectors[1][2]);
            if (level == 0)
                turn = rotation_change(self, port, change);
            put_vector(matrix, columns, row, column,
                       yk_v3(vectors[0][0], vectors[0][1], vectors[0][2]));
            put_vector(matrix, columns, row + 3, column, turn);
            row += 6;
        }
    }
}

yk_status yk_fmu_step_sensitivity(yk_subsystem *subsystem, double t, double h,
                                  const yk_input *inputs, int degree, double *matrix)
{
    static const double factorial[YK_INPUT_COEFFICIENTS] = {1, 1, 2, 6};
    yk_fmu *self = (yk_fmu *)subsystem;
    yk_status status = yk_fmu_step(subsystem, t, h, inputs);
    if (status != YK_OK)
        return status;

    pieces p = cut(self);
    status = linearise(self, &p);
    if (status != YK_OK)
        return status;

    int columns = 0;
    for (int i = 0; i < self->port_count; i++)
        if (self->maps[i].takes == YK_TAKES_WRENCH)
            columns += (self->ports[i].kind == YK_PORT_SCALAR ? 1 : 6) * (degree + 1);

    int column = 0;

    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        if (port->takes != YK_TAKES_WRENCH)
            continue;

        int width = self->ports[i].kind == YK_PORT_SCALAR ? 1 : 6;
        for (int power = 0; power <= degree; power++) {
            yk_input seen = seen_input(self, port, power, h);
            for (int c = 0; c < width; c++, column++) {
                int quantity = c < 3 ? YK_FMU_FORCE : YK_FMU_TORQUE;
                int at = c % 3 < port->count[quantity] ? port->at[quantity][c % 3] : -1;
                size_t values = (size_t)(self->outputs.value_count + self->derived_count);
                memset(p.change, 0, values * sizeof *p.change);
                if (at >= 0) {
                    /* Inputs are scalars: their values are numbered as they are. */
                    const double *by_input = p.by_input + (size_t)at * (size_t)p.r;
                    double *y = p.vector;
                    memset(y, 0, (size_t)p.n * sizeof *y);
                    for (int k = 0; k < YK_INPUT_COEFFICIENTS; k++)
                        y[p.n + k] = k <= seen.degree ? factorial[k] * seen.linear[k].x : 0;
                    propagate(&p, by_input, h, y);
                    for (int row = 0; row < self->outputs.real_values; row++) {
                        double sum = by_input[p.n + row] * pow(h, power);
                        for (int j = 0; j < p.n; j++)
                            sum += p.by_state[(size_t)j * (size_t)p.r + (size_t)(p.n + row)] * y[j];
                        p.change[row] = sum;
                    }
                    for (int k = 0; k < self->rate_count; k++)
                        p.change[self->rates[k].to] = p.change[self->rates[k].from] / h;
                }
                put_column(self, p.change, matrix, columns, column);
            }
        }
    }

    return YK_OK;
}
