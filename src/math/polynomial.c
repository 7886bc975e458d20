/* Polynomials of numbers and of vectors, inputs of ports, and tables. */
#include "math/polynomial.h"

#include "math/so3.h"

double yk_poly_value(const double *c, int degree, double t)
{
    /* Horner's rule. */
    double value = c[degree];
    for (int i = degree - 1; i >= 0; i--)
        value = value * t + c[i];

    return value;
}

/* Repeated synthetic division by (t - t0) leaves the Taylor coefficients there. */
void yk_poly_shift(double *c, int degree, double t0)
{
    for (int i = 0; i < degree; i++) {
        for (int j = degree - 1; j >= i; j--)
            c[j] += t0 * c[j + 1];
    }
}

/* Newton's divided differences, then expansion of their nested form. */
void yk_poly_interpolate(const double *t, const double *y, int degree, double *c)
{
    /* Divided differences in place. */
    for (int i = 0; i <= degree; i++)
        c[i] = y[i];

    for (int order = 1; order <= degree; order++) {
        for (int i = degree; i >= order; i--)
            c[i] = (c[i] - c[i - 1]) / (t[i] - t[i - order]);
    }

    /* Multiplied out, from the innermost. */
    for (int i = degree - 1; i >= 0; i--) {
        for (int j = i; j < degree; j++)
            c[j] -= t[i] * c[j + 1];
    }
}

/* The last three terms satisfy the conditions at the end that the Taylor polynomial of the start
 * leaves. */
void yk_poly_quintic(double h, double y0, double rate0, double second0, double y1, double rate1,
                     double second1, double c[6])
{
    /* Remainder of the Taylor polynomial of the start, in units of the value. */
    double value = y1 - y0 - h * (rate0 + h / 2 * second0);
    double rate = h * (rate1 - rate0 - h * second0);
    double second = h * h * (second1 - second0);

    c[0] = y0;
    c[1] = rate0;
    c[2] = second0 / 2;
    c[3] = (10 * value - 4 * rate + second / 2) / (h * h * h);
    c[4] = (-15 * value + 7 * rate - second) / (h * h * h * h);
    c[5] = (6 * value - 3 * rate + second / 2) / (h * h * h * h * h);
}

/* A polynomial of vectors and its derivatives, by Horner's rule. */
static void evaluate(const yk_vec3 *c, int degree, double t, yk_vec3 *value, yk_vec3 *rate,
                     yk_vec3 *second_rate)
{
    *value = c[degree];
    *rate = *second_rate = (yk_vec3){0, 0, 0};
    for (int i = degree - 1; i >= 0; i--) {
        *second_rate = yk_v3_axpy(t, *second_rate, yk_v3_scale(2, *rate));
        *rate = yk_v3_axpy(t, *rate, *value);
        *value = yk_v3_axpy(t, *value, c[i]);
    }
}

static void shift_vectors(yk_vec3 *c, int degree, double t0)
{
    for (int i = 0; i < degree; i++) {
        for (int j = degree - 1; j >= i; j--)
            c[j] = yk_v3_axpy(t0, c[j + 1], c[j]);
    }
}

yk_input yk_input_shift(const yk_input *input, yk_port_kind kind, double t0)
{
    yk_input shifted = *input;

    shift_vectors(shifted.linear, shifted.degree, t0);
    if (kind == YK_PORT_MARKER)
        shift_vectors(shifted.angular, shifted.degree, t0);

    return shifted;
}

static void reduce_vectors(const yk_vec3 *c, int degree, double h, yk_vec3 line[2])
{
    yk_vec3 mean = c[0];
    yk_vec3 slope = {0, 0, 0};
    double power = 1; /* h^(i - 1) */
    for (int i = 1; i <= degree; i++) {
        mean = yk_v3_axpy(h * power / (i + 1), c[i], mean);
        slope = yk_v3_axpy(power, c[i], slope);
        power *= h;
    }

    /* The mean over h, and the slope of the chord. */
    line[0] = mean;
    line[1] = slope;
}

yk_input yk_input_reduce(const yk_input *input, double h, int degree)
{
    if (input->degree <= degree)
        return *input;

    /* Mean and slope, then the line through the middle. */
    yk_input line = {.degree = degree, .base_orientation = input->base_orientation};
    reduce_vectors(input->linear, input->degree, h, line.linear);
    reduce_vectors(input->angular, input->degree, h, line.angular);
    if (degree == 0)
        return line;

    line.linear[0] = yk_v3_axpy(-h / 2, line.linear[1], line.linear[0]);
    line.angular[0] = yk_v3_axpy(-h / 2, line.angular[1], line.angular[0]);

    return line;
}

static yk_vec3 vector_value(const yk_vec3 *c, int degree, double t)
{
    yk_vec3 value = c[degree];
    for (int i = degree - 1; i >= 0; i--)
        value = yk_v3_axpy(t, value, c[i]);

    return value;
}

yk_wrench yk_input_wrench(const yk_input *input, double t)
{
    return (yk_wrench){vector_value(input->linear, input->degree, t),
                       vector_value(input->angular, input->degree, t)};
}

yk_motion yk_input_motion(const yk_input *input, yk_port_kind kind, double t)
{
    yk_motion motion = {.orientation = yk_q_identity()};
    evaluate(input->linear, input->degree, t, &motion.position, &motion.velocity,
             &motion.acceleration);
    if (kind != YK_PORT_MARKER)
        return motion;

    /* theta relative to the input's orientation: w = T theta', w' = T' theta' + T theta''. */
    yk_vec3 theta, rate, second_rate;
    evaluate(input->angular, input->degree, t, &theta, &rate, &second_rate);
    yk_mat3 tangent = yk_so3_left_tangent(theta);
    yk_mat3 tangent_rate = yk_so3_left_tangent_rate(theta, rate);
    motion.orientation = yk_q_mul(yk_so3_exp(theta), input->base_orientation);
    motion.angular_velocity = yk_m3_apply(tangent, rate);
    motion.angular_acceleration =
        yk_v3_add(yk_m3_apply(tangent_rate, rate), yk_m3_apply(tangent, second_rate));

    return motion;
}

/* Points with straight lines between them ------------------------------------------------------ */

double yk_table_value(const yk_table *table, double t)
{
    int low = 0;
    int high = table->count - 1;

    /* Constant outside. */
    if (t < table->time[low])
        return table->value[low];
    if (t >= table->time[high])
        return table->value[high];

    /* The two points around t. */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (t >= table->time[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }

    double fraction = (t - table->time[low]) / (table->time[high] - table->time[low]);
    return table->value[low] + fraction * (table->value[high] - table->value[low]);
}

double yk_table_next_point(const yk_table *table, double t)
{
    /* Bisection for the first point after t; the last one means none. */
    int low = 0;
    int high = table->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (table->time[middle] > t) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }

    return low < table->count ? table->time[low] : INFINITY;
}
