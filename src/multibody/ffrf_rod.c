/* Shapes of a uniform rod and their integrals by Gauss quadrature, exact to rounding errors for
 * these shapes.
 *
 * Bending shapes of vibration are written with exponentials that decay from the nearer end, so that
 * high modes do not suffer cancellation: cosh(b x) - q sinh(b x) = ((1 + q) exp(-b x) + (1 - q)
 * exp(b x)) / 2 with 1 - q in closed form. */
#include "multibody/flexible.h"

#include <string.h>

#include "math/eigen.h"

enum { PANELS = 24, GAUSS = 6, STATIONS = PANELS * GAUSS, STATICS = 2 };

static const double gauss_node[GAUSS] = {-0.93246951420315202781, -0.66120938646626451366,
                                         -0.23861918608319690863, 0.23861918608319690863,
                                         0.66120938646626451366,  0.93246951420315202781};
static const double gauss_weight[GAUSS] = {0.17132449237917034504, 0.36076157304813860757,
                                           0.46791393457269104739, 0.46791393457269104739,
                                           0.36076157304813860757, 0.17132449237917034504};

/* One raw shape: number 0, 1, ... of vibration, or a deflection under a load at an end. */
typedef struct raw_shape {
    enum { BEND_Y, BEND_Z, EXTEND, TWIST, MOTION_KINDS } kind;
    int number;
    bool fixed_load;
} raw_shape;

typedef struct ordinate {
    double value, slope, curvature; /* derivatives by x / length */
} ordinate;

typedef struct rod_work {
    const yk_ffrf_rod_def *def;
    raw_shape raw[YK_FFRF_MODES_MAX];
    int count;
    /* rows: shapes as combinations of raw ones */
    double mix[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX];
    double stiffness[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX];
    double mass[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX];
    double damping[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX];
} rod_work;

yk_ffrf_rod_def yk_ffrf_rod_default(void)
{
    return (yk_ffrf_rod_def){
        .length = 1,
        .section = yk_beam_section_default(),
        .bending_y = 2,
        .bending_z = 2,
        .extension = 1,
        .torsion = 1,
        .stiffening = true,
    };
}

static bool is_bending(const raw_shape *shape)
{
    return shape->kind == BEND_Y || shape->kind == BEND_Z;
}

/* x / length of a Gauss point of the whole rod, and its weight. */
static double station_at(int k, double *weight)
{
    int panel = k / GAUSS;
    *weight = 0.5 * gauss_weight[k % GAUSS] / PANELS;
    return (panel + 0.5 * (1 + gauss_node[k % GAUSS])) / PANELS;
}

/* Shapes --------------------------------------------------------------------------------------- */

/* cosh - q sinh -+ (cos - q sin), with sign -1 for clamped and +1 for free at x = 0; its absolute
 * value at x = 1 is 1. */
static ordinate bending_mode(int number, double x, double sign)
{
    /* The root of cos(b) cosh(b) = sign by Newton's method. */
    double b = (number + 0.5) * YK_PI;
    if (sign > 0)
        b = (number + 1.5) * YK_PI;
    for (int k = 0; k < 50; k++) {
        double value = cos(b) - sign / cosh(b);
        double slope = -sin(b) + sign * tanh(b) / cosh(b);
        double step = value / slope;

        /* Newton step. It ends at rounding errors. */
        b -= step;
        if (fabs(step) < 1e-15 * b)
            break;
    }

    /* 1 - q, without cancellation */
    double sum = sinh(b) - sign * sin(b);
    double rest = (sin(b) - cos(b) - exp(-b)) / sum;
    if (sign > 0)
        rest = (cos(b) - sin(b) - exp(-b)) / sum;

    /* The exponentials that decay from both ends, and the harmonic part. */
    double q = 1 - rest;
    double fall = 0.5 * (1 + q) * exp(-b * x);
    double rise = 0.5 * rest * exp(b * x);
    double c = cos(b * x);
    double s = sin(b * x);
    return (ordinate){
        .value = 0.5 * (fall + rise + sign * (c - q * s)),
        .slope = 0.5 * b * (rise - fall + sign * (-s - q * c)),
        .curvature = 0.5 * b * b * (fall + rise + sign * (-c + q * s)),
    };
}

static ordinate sine(double factor, double x)
{
    double s = sin(factor * x);
    double c = cos(factor * x);
    return (ordinate){s, factor * c, -factor * factor * s};
}

static ordinate raw_value(const yk_ffrf_rod_def *def, const raw_shape *shape, double x)
{
    /* Deflection under a force or a moment at the free end; under moments at either pinned end. */
    if (shape->fixed_load) {
        double y = 1 - x;
        bool first = shape->number == 0;
        bool clamped = def->support == YK_ROD_CLAMPED_FREE;
        if (clamped && first)
            return (ordinate){0.5 * x * x * (3 - x), 3 * x - 1.5 * x * x, 3 - 3 * x};
        if (clamped)
            return (ordinate){x * x, 2 * x, 2};
        if (first)
            return (ordinate){x * y * (1 + y), 2 - 6 * x + 3 * x * x, 6 * x - 6};
        return (ordinate){x * y * (1 + x), 1 - 3 * x * x, -6 * x};
    }

    /* Sines and cosines that satisfy the conditions at the ends, or shapes of a bent beam. */
    double half_waves = (shape->number + 0.5) * YK_PI;
    double whole_waves = (shape->number + 1) * YK_PI;
    bool bends = is_bending(shape);
    switch (def->support) {
    case YK_ROD_CLAMPED_FREE:
        if (bends)
            return bending_mode(shape->number, x, -1);
        return sine(half_waves, x);
    case YK_ROD_PINNED_PINNED:
        if (bends)
            return sine(whole_waves, x);
        return sine(half_waves, x);
    default:
        if (bends)
            return bending_mode(shape->number, x, 1);
        break;
    }

    /* Free at both ends: a cosine. */
    double s = sin(whole_waves * x);
    double c = cos(whole_waves * x);
    return (ordinate){c, -whole_waves * s, -whole_waves * whole_waves * c};
}

/* Shape i at x (a fraction of the length), combined from raw shapes of its kind. */
static ordinate shape_value(const rod_work *work, int i, double x)
{
    ordinate sum = {0};
    for (int k = 0; k < work->count; k++) {
        double fraction = work->mix[i * work->count + k];
        if (fraction == 0)
            continue;

        ordinate raw = raw_value(work->def, &work->raw[k], x);
        sum.value += fraction * raw.value;
        sum.slope += fraction * raw.slope;
        sum.curvature += fraction * raw.curvature;
    }

    return sum;
}

/* Stiffness and mass of raw shapes, with the same inertia as the points below. */
static void raw_integrals(rod_work *work)
{
    const yk_beam_section_def *section = &work->def->section;
    double e = section->young_modulus;
    double g = 0.5 * e / (1 + section->poisson_ratio);
    double rho = section->density;
    double l = work->def->length;
    double cube = l * l * l;
    double polar = rho * (section->area_moment_y + section->area_moment_z);

    /* By kind of motion: stiffness against curvature or strain, mass, rotary inertia. */
    double slice = rho * section->area * l;
    const double stiffness[MOTION_KINDS] = {
        [BEND_Y] = e * section->area_moment_z / cube,
        [BEND_Z] = e * section->area_moment_y / cube,
        [EXTEND] = e * section->area / l,
        [TWIST] = g * section->torsion_constant / l,
    };
    const double mass[MOTION_KINDS] = {slice, slice, slice, polar * l};
    const double rotary[MOTION_KINDS] = {
        [BEND_Y] = rho * section->area_moment_z / l,
        [BEND_Z] = rho * section->area_moment_y / l,
    };

    /* Sums over the points of Gauss. */
    int n = work->count;

    for (int k = 0; k < STATIONS; k++) {
        double weight;
        double x = station_at(k, &weight);
        ordinate at[YK_FFRF_MODES_MAX];

        for (int i = 0; i < n; i++)
            at[i] = raw_value(work->def, &work->raw[i], x);

        /* Kinds of motion are not coupled. */
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                const raw_shape *shape = &work->raw[i];
                if (work->raw[j].kind != shape->kind)
                    continue;

                /* Curvature of bending, strain of the others; the mass with its rotary inertia. */
                double strain = at[i].slope * at[j].slope;
                if (is_bending(shape))
                    strain = at[i].curvature * at[j].curvature;
                double inertia = mass[shape->kind] * at[i].value * at[j].value;
                inertia = inertia + rotary[shape->kind] * at[i].slope * at[j].slope;
                work->stiffness[n * i + j] += weight * stiffness[shape->kind] * strain;
                work->mass[n * i + j] += weight * inertia;
            }
        }
    }
}

/* Makes the shapes orthogonal with respect to mass and stiffness, each with its own frequency.
 * Shapes of vibration are orthogonal already except for the rotary inertia; deflections under loads
 * are not. Blocks of one kind stay separate, and the largest component of each shape is about one. */
static yk_status orthogonalise(yk_context *context, rod_work *work)
{
    int n = work->count;
    int last = 0;

    for (int first = 0; first < n; first = last) {
        while (last < n && work->raw[last].kind == work->raw[first].kind)
            last++;
        int m = last - first;

        /* The block of this kind. */
        double *stiffness = yk_allocate(context, 2 * (size_t)(m * m), sizeof *stiffness);
        if (!stiffness)
            return YK_ERROR_MEMORY;

        double *mass = stiffness + m * m;
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < m; j++) {
                stiffness[m * i + j] = work->stiffness[n * (first + i) + first + j];
                mass[m * i + j] = work->mass[n * (first + i) + first + j];
            }
        }

        /* Eigenvectors, scaled by their largest component. */
        double values[YK_FFRF_MODES_MAX];
        yk_status status = yk_eigen_symmetric_pair(context, m, stiffness, mass, values);
        for (int i = 0; i < m && status == YK_OK; i++) {
            const double *vector = &stiffness[m * i];
            double largest = 0;
            for (int j = 0; j < m; j++) {
                if (fabs(vector[j]) > fabs(largest))
                    largest = vector[j];
            }
            for (int j = 0; j < m; j++)
                work->mix[n * (first + i) + first + j] = vector[j] / largest;
        }

        yk_free(context, stiffness);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* matrix = mix matrix mix^T */
static void transform(const rod_work *work, double *matrix)
{
    int n = work->count;
    double half[YK_FFRF_MODES_MAX];

    /* From the left, column by column ... */
    for (int column = 0; column < n; column++) {
        for (int i = 0; i < n; i++) {
            half[i] = 0;
            for (int k = 0; k < n; k++)
                half[i] += work->mix[n * i + k] * matrix[n * k + column];
        }

        for (int i = 0; i < n; i++)
            matrix[n * i + column] = half[i];
    }

    /* ... and from the right, row by row. */
    for (int row = 0; row < n; row++) {
        for (int j = 0; j < n; j++) {
            half[j] = 0;
            for (int k = 0; k < n; k++)
                half[j] += matrix[n * row + k] * work->mix[n * j + k];
        }

        for (int j = 0; j < n; j++)
            matrix[n * row + j] = half[j];
    }
}

/* Points --------------------------------------------------------------------------------------- */

/* Shortening by bending between x = 0 and x: g_ij = -(integral of slope_i slope_j) / length, panel
 * by panel. */
static void shortening_at(const rod_work *work, double x, yk_vec3 *shortening)
{
    int n = work->count;
    memset(shortening, 0, (size_t)(n * n) * sizeof *shortening);

    double from = 0;
    for (int panel = 1; panel <= PANELS && from < x; panel++) {
        double to = fmin(x, panel / (double)PANELS);
        for (int g = 0; g < GAUSS; g++) {
            /* A Gauss point between both ends of the panel. */
            double at = from + 0.5 * (1 + gauss_node[g]) * (to - from);
            double weight = 0.5 * gauss_weight[g] * (to - from);
            double slope[YK_FFRF_MODES_MAX];

            for (int i = 0; i < n; i++)
                slope[i] = shape_value(work, i, at).slope;

            /* Pairs that bend in the same plane. */
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    const raw_shape *shape = &work->raw[i];
                    if (work->raw[j].kind != shape->kind || !is_bending(shape))
                        continue;

                    shortening[n * i + j].x -= weight * slope[i] * slope[j] / work->def->length;
                }
            }
        }

        from = to;
    }
}

/* Number of vectors that point_at() stores. */
static size_t point_vectors(const rod_work *work)
{
    size_t n = (size_t)work->count;
    return 2 * n + n * n;
}

/* A slice of the rod at x with the given fraction of its length. */
static yk_ffrf_point point_at(const rod_work *work, double x, double weight, yk_vec3 *store)
{
    const yk_ffrf_rod_def *def = work->def;
    const yk_beam_section_def *section = &def->section;
    size_t n = (size_t)work->count;
    yk_vec3 *displacement = store;
    yk_vec3 *rotation = store + n;
    yk_vec3 *shortening = store + 2 * n;

    /* Displacement and rotation of the slice by each shape. */
    for (int i = 0; i < work->count; i++) {
        ordinate at = shape_value(work, i, x);
        if (fabs(at.value) < 1e-13)
            at.value = 0; /* ends of the shapes, at which an attachment does not move */

        displacement[i] = yk_v3(0, 0, 0);
        rotation[i] = yk_v3(0, 0, 0);
        switch (work->raw[i].kind) {
        case BEND_Y:
            displacement[i].y = at.value;
            rotation[i].z = at.slope / def->length;
            break;
        case BEND_Z:
            displacement[i].z = at.value;
            rotation[i].y = -at.slope / def->length;
            break;
        case EXTEND: displacement[i].x = at.value; break;
        default: rotation[i].x = at.value; break;
        }
    }
    if (def->stiffening)
        shortening_at(work, x, shortening);

    /* Mass and second moments of its piece of the length. */
    double mass = weight * section->density * def->length;
    return (yk_ffrf_point){
        .mass = mass * section->area,
        .position = {x * def->length, 0, 0},
        .second = yk_m3_diagonal(0, mass * section->area_moment_z, mass * section->area_moment_y),
        .displacement = displacement,
        .rotation = rotation,
        .shortening = def->stiffening ? shortening : NULL,
    };
}

/* The body from slices at the points of Gauss. */
static yk_status make_body(yk_context *context, const rod_work *work, yk_ffrf *body)
{
    size_t stride = point_vectors(work);
    yk_vec3 *store = yk_allocate(context, STATIONS * stride + 1, sizeof *store);
    if (!store)
        return YK_ERROR_MEMORY;

    /* Slices at the Gauss points. */
    yk_ffrf_point points[STATIONS];
    for (int k = 0; k < STATIONS; k++) {
        double weight;
        double x = station_at(k, &weight);
        points[k] = point_at(work, x, weight, store + (size_t)k * stride);
    }

    yk_ffrf_def def = {
        .mode_count = work->count,
        .points = points,
        .point_count = STATIONS,
        .stiffness = work->stiffness,
        .damping = work->def->damping_ratio > 0 ? work->damping : NULL,
        .constant_mass = work->def->constant_mass,
    };
    yk_status status = yk_ffrf_create(context, &def, body);
    yk_free(context, store);

    return status;
}

/* Creation ------------------------------------------------------------------------------------- */

static yk_status check_def(yk_context *context, const yk_ffrf_rod_def *def)
{
    const yk_beam_section_def *s = &def->section;
    bool material = s->young_modulus > 0 && s->density > 0;
    bool section =
        s->area > 0 && s->area_moment_y > 0 && s->area_moment_z > 0 && s->torsion_constant > 0;

    if (!(def->length > 0 && material && section))
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "length, Young's modulus, density and section of a flexible rod must be positive");

    /* Shapes, */
    const int counts[MOTION_KINDS] = {def->bending_y, def->bending_z, def->extension, def->torsion};
    for (int k = 0; k < MOTION_KINDS; k++) {
        if (counts[k] < 0 || counts[k] > YK_ROD_MODES_MAX)
            return yk_fail(context, YK_ERROR_ARGUMENT, "a rod has 0 to %d shapes of a kind, not %d",
                           YK_ROD_MODES_MAX, counts[k]);
    }

    /* their supports, */
    if (def->statics && def->support == YK_ROD_FREE_FREE)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a rod that is free at both ends has no static deflections: leave them out, "
                       "or fix its frame at an end");

    /* and the attachments. */
    for (int k = 0; k < def->attachment_count; k++) {
        double at = def->attachments[k];
        if (!(at >= 0 && at <= def->length * (1 + 1e-12)))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "a point at %g is not on the rod, which is %g long", at, def->length);
    }

    return YK_OK;
}

yk_status yk_flexible_rod(yk_context *context, const yk_ffrf_rod_def *def, yk_flexible **body)
{
    *body = NULL;
    yk_status status = check_def(context, def);
    if (status != YK_OK)
        return status;

    rod_work *work = yk_allocate(context, 1, sizeof *work);
    yk_flexible *made = yk_flexible_begin(context);
    if (!work || !made) {
        yk_free(context, work);
        yk_flexible_release(made);
        return YK_ERROR_MEMORY;
    }

    work->def = def;

    /* Raw shapes, those of vibration before static ones of the same kind. */
    const int counts[MOTION_KINDS] = {def->bending_y, def->bending_z, def->extension, def->torsion};
    for (int kind = 0; kind < MOTION_KINDS; kind++) {
        raw_shape shape = {.kind = kind};
        for (shape.number = 0; shape.number < counts[kind]; shape.number++)
            work->raw[work->count++] = shape;
        if (!def->statics || !is_bending(&shape) || counts[kind] == 0)
            continue;

        shape.fixed_load = true;
        for (shape.number = 0; shape.number < STATICS; shape.number++)
            work->raw[work->count++] = shape;
    }

    /* Modal matrices of orthogonal shapes, and the body with them. */
    raw_integrals(work);
    status = orthogonalise(context, work);
    if (status == YK_OK) {
        int n = work->count;
        transform(work, work->stiffness);
        transform(work, work->mass);

        for (int i = 0; i < n; i++) {
            double critical = 2 * def->damping_ratio;
            double square = work->stiffness[n * i + i] * work->mass[n * i + i];
            work->damping[n * i + i] = critical * sqrt(square);
        }

        status = make_body(context, work, &made->modal);
    }

    /* The shapes at the attachments, then those at the outline. */
    if (status == YK_OK) {
        size_t stride = point_vectors(work);
        int count = def->attachment_count + YK_FLEXIBLE_OUTLINE;
        size_t squares = (size_t)(work->count * work->count);

        /* Memory shared by the nodes. */
        made->nodes = yk_allocate(context, (size_t)count, sizeof *made->nodes);
        made->bends = yk_allocate(context, (size_t)count * squares, sizeof *made->bends);
        yk_vec3 *store = yk_allocate(context, (size_t)count * stride, sizeof *store);
        made->store = store;
        if (!made->nodes || !made->bends || !store)
            status = YK_ERROR_MEMORY;

        for (int k = 0; k < count && status == YK_OK; k++) {
            int station = k - def->attachment_count;
            double at = def->length * station / (YK_FLEXIBLE_OUTLINE - 1);
            if (station < 0)
                at = def->attachments[k];
            yk_ffrf_point point = point_at(work, at / def->length, 0, store + (size_t)k * stride);
            made->nodes[k] =
                yk_ffrf_node_of(&point, work->count, made->bends + (size_t)k * squares);
        }
    }

    /* Shapes are scaled to deflections of size 1, or rotations of 1 rad. Only shapes of one kind
     * are combined. */
    if (status == YK_OK) {
        size_t count = (size_t)work->count;
        made->amplitude_units = yk_allocate(context, count, sizeof *made->amplitude_units);
        if (!made->amplitude_units)
            status = YK_ERROR_MEMORY;
        for (size_t i = 0; i < count && status == YK_OK; i++)
            made->amplitude_units[i] = work->raw[i].kind == TWIST ? "rad" : "m";
    }

    yk_free(context, work);
    if (status != YK_OK) {
        yk_flexible_release(made);
        return status;
    }

    made->kind = YK_FLEXIBLE_MODAL;
    made->length = def->length;
    made->coordinates = made->modal.modes;
    made->attachments = def->attachment_count;
    made->outline = YK_FLEXIBLE_OUTLINE;
    *body = made;

    return YK_OK;
}
