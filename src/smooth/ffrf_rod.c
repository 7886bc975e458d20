/* Shapes of a uniform rod and their integrals by Gauss quadrature, exact to rounding for the shapes at hand.
 *
 * Bending shapes of vibration are written with exponentials that fall from the nearer end, so that high ones do not
 * cancel: cosh(b x) - q sinh(b x) = ((1 + q) exp(-b x) + (1 - q) exp(b x)) / 2 with 1 - q in closed form. */
#include "smooth/ffrf_rod.h"

#include <string.h>

#include "math/eigen.h"

enum { PANELS = 24, GAUSS = 6, STATIONS = PANELS * GAUSS, STATICS = 2 };

static const double gauss_point[GAUSS] = {-0.93246951420315202781, -0.66120938646626451366, -0.23861918608319690863,
                                          0.23861918608319690863,  0.66120938646626451366,  0.93246951420315202781};
static const double gauss_weight[GAUSS] = {0.17132449237917034504, 0.36076157304813860757, 0.46791393457269104739,
                                           0.46791393457269104739, 0.36076157304813860757, 0.17132449237917034504};

typedef enum motion_kind { BEND_Y, BEND_Z, EXTEND, TWIST, MOTION_KINDS } motion_kind;

/* One raw shape: number 0, 1, ... of vibration, or a deflection under a load at an end. */
typedef struct raw_shape {
    motion_kind kind;
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
    double mix[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX]; /* shapes by rows from raw ones */
    double stiffness[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX];
    double mass[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX];
    double damping[YK_FFRF_MODES_MAX * YK_FFRF_MODES_MAX];
} rod_work;

yk_ffrf_rod_def yk_ffrf_rod_default(void)
{
    return (yk_ffrf_rod_def){.length = 1,
                             .section = yk_beam_section_default(),
                             .bending_y = 2,
                             .bending_z = 2,
                             .extension = 1,
                             .torsion = 1,
                             .stiffening = true};
}

/* Shapes ---------------------------------------------------------------------------------------------------------- */

/* Roots of cos(b) cosh(b) = sign: -1 clamped-free, 1 free-free. */
static double bending_root(int number, double sign)
{
    double b = sign < 0 ? (number + 0.5) * YK_PI : (number + 1.5) * YK_PI;
    for (int k = 0; k < 50; k++) {
        double value = cos(b) - sign / cosh(b), slope = -sin(b) + sign * tanh(b) / cosh(b);
        double step = value / slope;
        b -= step;
        if (fabs(step) < 1e-15 * b) break;
    }
    return b;
}

/* cosh - q sinh -+ (cos - q sin), with sign -1 for clamped and +1 for free at x = 0; 1 at x = 1 in size. */
static ordinate bending_mode(int number, double x, double sign)
{
    double b = bending_root(number, sign);
    double sum = sinh(b) - sign * sin(b);
    double rest = sign < 0 ? (sin(b) - cos(b) - exp(-b)) / sum : (cos(b) - sin(b) - exp(-b)) / sum;
    double q = 1 - rest;
    double fall = 0.5 * (1 + q) * exp(-b * x), rise = 0.5 * rest * exp(b * x);
    double c = cos(b * x), s = sin(b * x), half = 0.5;
    return (ordinate){half * (fall + rise + sign * (c - q * s)), half * b * (rise - fall + sign * (-s - q * c)),
                      half * b * b * (fall + rise + sign * (-c + q * s))};
}

static ordinate sine(double factor, double x)
{
    double s = sin(factor * x), c = cos(factor * x);
    return (ordinate){s, factor * c, -factor * factor * s};
}

static ordinate cosine(double factor, double x)
{
    double s = sin(factor * x), c = cos(factor * x);
    return (ordinate){c, -factor * s, -factor * factor * c};
}

/* Deflection under a force or a moment at the free end; under moments at either pinned end. */
static ordinate static_shape(yk_rod_support support, int number, double x)
{
    if (support == YK_ROD_CLAMPED_FREE)
        return number == 0 ? (ordinate){0.5 * x * x * (3 - x), 3 * x - 1.5 * x * x, 3 - 3 * x}
                           : (ordinate){x * x, 2 * x, 2};
    double y = 1 - x;
    return number == 0 ? (ordinate){x * y * (1 + y), 2 - 6 * x + 3 * x * x, 6 * x - 6}
                       : (ordinate){x * y * (1 + x), 1 - 3 * x * x, -6 * x};
}

static ordinate raw_value(const yk_ffrf_rod_def *def, const raw_shape *shape, double x)
{
    if (shape->fixed_load) return static_shape(def->support, shape->number, x);
    bool bends = shape->kind == BEND_Y || shape->kind == BEND_Z;
    switch (def->support) {
    case YK_ROD_CLAMPED_FREE:
        return bends ? bending_mode(shape->number, x, -1) : sine((shape->number + 0.5) * YK_PI, x);
    case YK_ROD_PINNED_PINNED: return sine(bends ? (shape->number + 1) * YK_PI : (shape->number + 0.5) * YK_PI, x);
    default: return bends ? bending_mode(shape->number, x, 1) : cosine((shape->number + 1) * YK_PI, x);
    }
}

static void list_shapes(const yk_ffrf_rod_def *def, rod_work *work)
{
    const int counts[MOTION_KINDS] = {def->bending_y, def->bending_z, def->extension, def->torsion};
    work->count = 0;
    for (int kind = 0; kind < MOTION_KINDS; kind++) {
        for (int k = 0; k < counts[kind]; k++) work->raw[work->count++] = (raw_shape){(motion_kind)kind, k, false};
        bool bends = kind == BEND_Y || kind == BEND_Z;
        for (int k = 0; k < STATICS && def->statics && bends && counts[kind]; k++)
            work->raw[work->count++] = (raw_shape){(motion_kind)kind, k, true};
    }
}

/* Shape i at x (a fraction of the length), mixed from raw ones of its kind. */
static ordinate shape_value(const rod_work *work, int i, double x)
{
    ordinate sum = {0};
    for (int k = 0; k < work->count; k++) {
        double fraction = work->mix[i * work->count + k];
        if (fraction == 0) continue;
        ordinate raw = raw_value(work->def, &work->raw[k], x);
        sum.value += fraction * raw.value;
        sum.slope += fraction * raw.slope;
        sum.curvature += fraction * raw.curvature;
    }
    return sum;
}

/* Stiffness and mass of raw shapes; inertia as the points below have it. */
static void raw_integrals(rod_work *work)
{
    const yk_ffrf_rod_def *def = work->def;
    const yk_beam_section_def *section = &def->section;
    double shear = 0.5 * section->young / (1 + section->poisson), l = def->length, rho = section->density;
    const double stiffness[MOTION_KINDS] = {section->young * section->inertia_z / (l * l * l),
                                            section->young * section->inertia_y / (l * l * l),
                                            section->young * section->area / l, shear * section->torsion / l};
    const double rotary[MOTION_KINDS] = {rho * section->inertia_z / l, rho * section->inertia_y / l, 0, 0};
    double polar = rho * (section->inertia_y + section->inertia_z);
    int n = work->count;
    for (int k = 0; k < STATIONS; k++) {
        double x = (k / GAUSS + 0.5 * (1 + gauss_point[k % GAUSS])) / PANELS;
        double weight = 0.5 * gauss_weight[k % GAUSS] / PANELS;
        ordinate at[YK_FFRF_MODES_MAX];
        for (int i = 0; i < n; i++) at[i] = raw_value(def, &work->raw[i], x);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                motion_kind kind = work->raw[i].kind;
                if (work->raw[j].kind != kind) continue;
                bool bends = kind == BEND_Y || kind == BEND_Z;
                double strain = bends ? at[i].curvature * at[j].curvature : at[i].slope * at[j].slope;
                double mass = (kind == TWIST ? polar : rho * section->area) * l;
                work->stiffness[n * i + j] += weight * stiffness[kind] * strain;
                work->mass[n * i + j] +=
                    weight * (mass * at[i].value * at[j].value + rotary[kind] * at[i].slope * at[j].slope);
            }
    }
}

/* Shapes that are orthogonal by mass and by stiffness, each of its own frequency: those of vibration are already, but
 * for the rotary inertia; deflections under loads are not. Blocks of one kind stay apart, and each shape keeps a largest
 * share of about one. */
static yk_status orthogonalise(yk_context *context, rod_work *work)
{
    int n = work->count;
    for (int first = 0; first < n;) {
        int last = first;
        while (last < n && work->raw[last].kind == work->raw[first].kind) last++;
        int m = last - first;
        double values[YK_FFRF_MODES_MAX];
        double *stiffness = yk_allocate(context, 2 * (size_t)(m * m), sizeof *stiffness);
        if (!stiffness) return YK_ERROR_MEMORY;
        double *mass = stiffness + m * m;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                stiffness[m * i + j] = work->stiffness[n * (first + i) + first + j];
                mass[m * i + j] = work->mass[n * (first + i) + first + j];
            }
        yk_status status = yk_eigen_symmetric_pair(context, m, stiffness, mass, values);
        for (int i = 0; i < m && status == YK_OK; i++) {
            double largest = 0;
            for (int j = 0; j < m; j++)
                if (fabs(stiffness[m * i + j]) > fabs(largest)) largest = stiffness[m * i + j];
            for (int j = 0; j < m; j++) work->mix[n * (first + i) + first + j] = stiffness[m * i + j] / largest;
        }
        yk_release(context, stiffness);
        if (status != YK_OK) return status;
        first = last;
    }
    return YK_OK;
}

/* mix times matrix times mix^T */
static void transform(const rod_work *work, double *matrix)
{
    int n = work->count;
    double half[YK_FFRF_MODES_MAX];
    double *left = matrix;
    for (int column = 0; column < n; column++) {
        for (int i = 0; i < n; i++) {
            half[i] = 0;
            for (int k = 0; k < n; k++) half[i] += work->mix[n * i + k] * left[n * k + column];
        }
        for (int i = 0; i < n; i++) left[n * i + column] = half[i];
    }
    for (int row = 0; row < n; row++) {
        for (int j = 0; j < n; j++) {
            half[j] = 0;
            for (int k = 0; k < n; k++) half[j] += left[n * row + k] * work->mix[n * j + k];
        }
        for (int j = 0; j < n; j++) left[n * row + j] = half[j];
    }
}

static void damp(rod_work *work)
{
    int n = work->count;
    for (int i = 0; i < n; i++)
        work->damping[n * i + i] =
            2 * work->def->damping_ratio * sqrt(work->stiffness[n * i + i] * work->mass[n * i + i]);
}

/* Points ---------------------------------------------------------------------------------------------------------- */

/* What bending draws in between two stations: g_ij = -(integral of slope_i slope_j) / length along x. */
static void add_shortening(const rod_work *work, double from, double to, yk_vec3 *shortening)
{
    int n = work->count;
    for (int g = 0; g < GAUSS; g++) {
        double x = from + 0.5 * (1 + gauss_point[g]) * (to - from), weight = 0.5 * gauss_weight[g] * (to - from);
        double slope[YK_FFRF_MODES_MAX];
        for (int i = 0; i < n; i++) slope[i] = shape_value(work, i, x).slope;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                motion_kind kind = work->raw[i].kind;
                if (kind != work->raw[j].kind || (kind != BEND_Y && kind != BEND_Z)) continue;
                shortening[n * i + j].x -= weight * slope[i] * slope[j] / work->def->length;
            }
    }
}

static void shortening_at(const rod_work *work, double x, yk_vec3 *shortening)
{
    memset(shortening, 0, (size_t)(work->count * work->count) * sizeof *shortening);
    double from = 0;
    for (int panel = 1; panel <= PANELS && from < x; panel++) {
        double to = fmin(x, panel / (double)PANELS);
        add_shortening(work, from, to, shortening);
        from = to;
    }
}

static void shapes_at(const rod_work *work, double x, yk_vec3 *displacement, yk_vec3 *rotation)
{
    double l = work->def->length;
    for (int i = 0; i < work->count; i++) {
        ordinate at = shape_value(work, i, x);
        displacement[i] = rotation[i] = yk_v3(0, 0, 0);
        if (fabs(at.value) < 1e-13) at.value = 0; /* knots of the shapes, where they leave a place alone */
        switch (work->raw[i].kind) {
        case BEND_Y: displacement[i].y = at.value, rotation[i].z = at.slope / l; break;
        case BEND_Z: displacement[i].z = at.value, rotation[i].y = -at.slope / l; break;
        case EXTEND: displacement[i].x = at.value; break;
        default: rotation[i].x = at.value; break;
        }
    }
}

static size_t numbers_of_point(const rod_work *work)
{
    size_t n = (size_t)work->count;
    return 2 * n + n * n;
}

static yk_ffrf_point point_at(const rod_work *work, double x, double weight, yk_vec3 *store)
{
    const yk_ffrf_rod_def *def = work->def;
    size_t n = (size_t)work->count;
    double mass = weight * def->section.density * def->length;
    shapes_at(work, x, store, store + n);
    if (def->stiffening) shortening_at(work, x, store + 2 * n);
    return (yk_ffrf_point){.mass = mass * def->section.area,
                           .position = {x * def->length, 0, 0},
                           .second = yk_m3_diagonal(0, mass * def->section.inertia_z, mass * def->section.inertia_y),
                           .displacement = store,
                           .rotation = store + n,
                           .shortening = def->stiffening ? store + 2 * n : NULL};
}

static yk_status integrate(yk_context *context, const rod_work *work, yk_ffrf_rod *rod)
{
    size_t stride = numbers_of_point(work);
    yk_vec3 *store = yk_allocate(context, STATIONS * stride + 1, sizeof *store);
    if (!store) return YK_ERROR_MEMORY;
    yk_ffrf_point points[STATIONS];
    for (int k = 0; k < STATIONS; k++) {
        double x = (k / GAUSS + 0.5 * (1 + gauss_point[k % GAUSS])) / PANELS;
        points[k] = point_at(work, x, 0.5 * gauss_weight[k % GAUSS] / PANELS, store + (size_t)k * stride);
    }
    yk_ffrf_def def = {.mode_count = work->count,
                       .points = points,
                       .point_count = STATIONS,
                       .stiffness = work->stiffness,
                       .damping = work->def->damping_ratio > 0 ? work->damping : NULL,
                       .constant_mass = work->def->constant_mass};
    yk_status status = yk_ffrf_create(context, &def, &rod->body);
    yk_release(context, store);
    return status;
}

static yk_status place_nodes(yk_context *context, const rod_work *work, yk_ffrf_rod *rod)
{
    const yk_ffrf_rod_def *def = work->def;
    size_t stride = numbers_of_point(work), count = (size_t)def->attachment_count, n = (size_t)work->count;
    rod->nodes = yk_allocate(context, count, sizeof *rod->nodes);
    rod->bends = yk_allocate(context, count * n * n, sizeof *rod->bends);
    yk_vec3 *store = yk_allocate(context, count * stride, sizeof *store);
    rod->store = store;
    if (!rod->nodes || !rod->bends || !store) return YK_ERROR_MEMORY;
    rod->node_count = def->attachment_count;
    for (size_t k = 0; k < count; k++) {
        yk_ffrf_point at = point_at(work, def->attachments[k] / def->length, 0, store + k * stride);
        rod->nodes[k] = yk_ffrf_node_of(&at, work->count, rod->bends + k * n * n);
    }
    return YK_OK;
}

static yk_status check(yk_context *context, const yk_ffrf_rod_def *def)
{
    const yk_beam_section_def *s = &def->section;
    if (!(def->length > 0 && s->young > 0 && s->density > 0 && s->area > 0 && s->inertia_y > 0 && s->inertia_z > 0 &&
          s->torsion > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "length, Young's modulus, density and section of a flexible rod must be positive");
    const int counts[MOTION_KINDS] = {def->bending_y, def->bending_z, def->extension, def->torsion};
    for (int k = 0; k < MOTION_KINDS; k++)
        if (counts[k] < 0 || counts[k] > YK_ROD_MODES_MAX)
            return yk_fail(context, YK_ERROR_ARGUMENT, "a rod has 0 to %d shapes of a kind, not %d", YK_ROD_MODES_MAX,
                           counts[k]);
    if (def->statics && def->support == YK_ROD_FREE_FREE)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a rod that is free at both ends has no static deflections: leave them out, or fix its frame at "
                       "an end");
    for (int k = 0; k < def->attachment_count; k++)
        if (!(def->attachments[k] >= 0 && def->attachments[k] <= def->length * (1 + 1e-12)))
            return yk_fail(context, YK_ERROR_ARGUMENT, "a point at %g is not on the rod, which is %g long",
                           def->attachments[k], def->length);
    return YK_OK;
}

yk_status yk_ffrf_rod_create(yk_context *context, const yk_ffrf_rod_def *def, yk_ffrf_rod *rod)
{
    *rod = (yk_ffrf_rod){0};
    yk_status status = check(context, def);
    if (status != YK_OK) return status;
    rod_work *work = yk_allocate(context, 1, sizeof *work);
    if (!work) return YK_ERROR_MEMORY;
    work->def = def;
    list_shapes(def, work);
    raw_integrals(work);
    status = orthogonalise(context, work);
    if (status == YK_OK) {
        transform(work, work->stiffness);
        transform(work, work->mass);
        damp(work);
        status = integrate(context, work, rod);
    }
    if (status == YK_OK) status = place_nodes(context, work, rod);
    yk_release(context, work);
    if (status != YK_OK) yk_ffrf_rod_destroy(context, rod);
    return status;
}

void yk_ffrf_rod_destroy(yk_context *context, yk_ffrf_rod *rod)
{
    yk_ffrf_destroy(context, &rod->body);
    yk_release(context, rod->nodes);
    yk_release(context, rod->bends);
    yk_release(context, rod->store);
    *rod = (yk_ffrf_rod){0};
}
