/* Functions of time: polynomials on a macro step, in the local time of the step, and the inputs
 * made of them; piecewise linear tables; and the functions of models (yk_time_function of
 * yoke/base.h). */
#ifndef YK_MATH_POLYNOMIAL_H
#define YK_MATH_POLYNOMIAL_H

#include "math/vec3.h"
#include "yoke/base.h"

/* Degrees of freedom of a port: number of its velocities, and of components of the wrench on it. */
static inline int yk_port_freedoms(yk_port_kind kind)
{
    return kind == YK_PORT_SCALAR ? 1 : 6;
}

/* Value at local time `t` of the polynomial c[0] + c[1] t + ... of any degree. */
double yk_poly_value(const double *c, int degree, double t);
/* Coefficients of the same polynomial about the new origin t0. */
void yk_poly_shift(double *c, int degree, double t0);
/* Through the points (t[i], y[i]), i = 0..degree; the times must differ. */
void yk_poly_interpolate(const double *t, const double *y, int degree, double *c);
/* Fifth degree, with values, rates and second rates at t = 0 and t = h. */
void yk_poly_quintic(double h, double y0, double rate0, double second0, double y1, double rate1,
                     double second1, double c[6]);

/* The same input with its local time starting `t0` later; the base orientation stays, so motions
 * agree exactly. */
yk_input yk_input_shift(const yk_input *input, yk_port_kind kind, double t0);
/* A wrench from local time 0 to h represented by its mean (degree 0), or by a straight line with
 * its mean and its change (degree 1). Values at the ends of steps then add up to its impulse; for
 * lines if the wrench is continuous from step to step. */
yk_input yk_input_reduce(const yk_input *input, double h, int degree);
/* Wrench of a marker port at local time t (scalar ports: yk_input_scalar). */
yk_wrench yk_input_wrench(const yk_input *input, double t);
/* Motion at local time t with all rates; rotations through the tangent of SO(3). */
yk_motion yk_input_motion(const yk_input *input, yk_port_kind kind, double t);

static inline double yk_input_scalar(const yk_input *input, double t)
{
    double value = input->linear[input->degree].x;
    for (int i = input->degree - 1; i >= 0; i--)
        value = value * t + input->linear[i].x;
    return value;
}

static inline double yk_input_scalar_rate(const yk_input *input, double t)
{
    double value = 0;
    for (int i = input->degree; i >= 1; i--)
        value = value * t + i * input->linear[i].x;
    return value;
}

static inline double yk_input_scalar_second_rate(const yk_input *input, double t)
{
    double value = 0;
    for (int i = input->degree; i >= 2; i--)
        value = value * t + i * (i - 1) * input->linear[i].x;
    return value;
}

/* Points with linear interpolation. Times ascend; two points at the same time define a jump, whose
 * second value applies from then on. Before the first point and after the last the value is
 * constant. */
typedef struct yk_table {
    int count; /* at least 1 */
    const double *time, *value;
} yk_table;

double yk_table_value(const yk_table *table, double t);
/* The first point after t; infinity after the last. */
double yk_table_next_point(const yk_table *table, double t);

static inline double yk_function_value(yk_time_function function, double t)
{
    return function.evaluate ? function.evaluate(function.user, t) : 0;
}

static inline double yk_function_next_event(yk_time_function function, double t)
{
    return function.next_event ? function.next_event(function.user, t) : INFINITY;
}

#endif
