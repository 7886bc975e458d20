/* Functions of one or two numbers that pass through given points.
 *
 *      f ^      o-----o              `arguments` ascend. Between two points the interpolation
 *        |  o--'       '--o          decides, outside of them the extrapolation. Of two arguments
 *        +--+----+-----+--+--> x     the points are a full grid.
 *
 * Two points with the same argument are a jump, whose second value applies from there on; only the
 * interpolations `step` and `linear` allow it. */
#ifndef YK_MATH_LOOKUP_H
#define YK_MATH_LOOKUP_H

typedef enum yk_lookup_interpolation {
    YK_LOOKUP_STEP,   /* the value of the point before */
    YK_LOOKUP_LINEAR, /* straight lines */
    YK_LOOKUP_CUBIC,  /* cubic spline: two continuous derivatives, ends not-a-knot (de Boor) */
    YK_LOOKUP_AKIMA,  /* Akima 1970: one continuous derivative, does not overshoot at steps */
} yk_lookup_interpolation;

typedef enum yk_lookup_extrapolation {
    YK_LOOKUP_OUTSIDE_HOLD,     /* the value of the nearest end */
    YK_LOOKUP_OUTSIDE_LINEAR,   /* a straight line with the slope of the end */
    YK_LOOKUP_OUTSIDE_PERIODIC, /* the points repeat; the last value must be the first */
    YK_LOOKUP_OUTSIDE_NONE,     /* not a number: the caller reports an error */
} yk_lookup_extrapolation;

typedef struct yk_lookup {
    yk_lookup_interpolation interpolation;
    yk_lookup_extrapolation extrapolation;
    int count;               /* number of arguments, at least 1 */
    int second_count;        /* number of second arguments; 0: a function of one argument */
    const double *arguments; /* ascending */
    const double *second;    /* ascending, strictly */
    const double *values;    /* the second argument varies fastest */
    const double *slopes;    /* of cubic and Akima; set by yk_lookup_compute_slopes() */
} yk_lookup;

/* The slopes at the points for cubic and Akima interpolation of one argument. `work` has 4 count
 * values. The arguments must differ. */
void yk_lookup_compute_slopes(const yk_lookup *lookup, double *slopes, double *work);

double yk_lookup_value(const yk_lookup *lookup, double x);
/* A function of two arguments, by steps or straight lines. */
double yk_lookup_value_2(const yk_lookup *lookup, double x, double y);

#endif
