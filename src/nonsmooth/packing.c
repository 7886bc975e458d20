#include "nonsmooth/packing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"

yk_packing_def yk_packing_default(void)
{
    yk_packing_def def = {
        .cavity = YK_SOLID_CYLINDER_CAVITY,
        .size = {10e-3, 10e-3, 10e-3},
        .count = 100,
        .radius = 1e-3,
        .density = 7800,
        .size_cutoff = 3,
        .material = {.friction = 0.5},
        .clearance = 0.1,
        .jitter = 0.5,
        .seed = 1,
        .gravity = 9.81,
        .settling_step = 1e-4,
        .max_settling_time = 2,
        .shake_frequency = 20,
    };
    def.contact_options = yk_nonsmooth_default().contact_options;
    def.contact_options.method =
        YK_CONTACT_GAUSS_SEIDEL; /* settling particles need no exact contact solution */
    def.shake_amplitude = 0.5 * def.radius;
    return def;
}

/* Allocates that many particles of a shape; spheres have no orientation. */
static yk_status reserve(yk_context *context, const yk_particle_shape *shape, int count,
                         yk_packing *packing)
{
    *packing = (yk_packing){.count = count};
    yk_status status = yk_particle_make(context, shape, &packing->particle);
    if (status != YK_OK)
        return status;

    bool sphere = packing->particle.part_count == 0;
    packing->positions = yk_allocate(context, (size_t)count, sizeof *packing->positions);
    packing->radii = yk_allocate(context, (size_t)count, sizeof *packing->radii);
    if (!sphere)
        packing->orientations = yk_allocate(context, (size_t)count, sizeof *packing->orientations);
    if (packing->positions && packing->radii && (sphere || packing->orientations))
        return YK_OK;

    yk_packing_destroy(context, packing);
    return YK_ERROR_MEMORY;
}

static yk_quat orientation_of(const yk_packing *packing, int i)
{
    return packing->orientations ? packing->orientations[i] : yk_q_identity();
}

/* Extent of a particle above its middle. */
static double top_of(const yk_packing *packing, int i)
{
    return yk_particle_top(&packing->particle, orientation_of(packing, i), packing->radii[i]);
}

void yk_packing_destroy(yk_context *context, yk_packing *packing)
{
    yk_free(context, packing->positions);
    yk_free(context, packing->radii);
    yk_free(context, packing->orientations);
    yk_free(context, packing->velocities);
    yk_free(context, packing->angular_velocities);
    yk_particle_destroy(context, &packing->particle);
    *packing = (yk_packing){0};
}

/* Sizes ---------------------------------------------------------------------------------------- */

static double normal_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* The quantile u of the standard normal distribution, truncated at both ends. */
static double normal_quantile(double u, double cut)
{
    double tail = normal_below(-cut);
    double below = tail + u * (1 - 2 * tail);

    /* By bisection, to the last bit. */
    double low = -cut, high = cut;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (normal_below(middle) < below)
            low = middle;
        else
            high = middle;
    }

    return 0.5 * (low + high);
}

/* If the mass in an interval of a sieve curve is uniform in the diameter d, the number density is
 * proportional to d^-3. Its integral over the interval, up to a common factor. */
static double number_between(const yk_sieve_point *finer, const yk_sieve_point *coarser)
{
    double a = finer->diameter, b = coarser->diameter;
    return (coarser->passing - finer->passing) * (a + b) / (2 * a * a * b * b);
}

/* The radius at the quantile u of all particles. */
static double radius_at(const yk_packing_def *def, double radius, double u)
{
    if (def->sieve_point_count > 0) {
        /* The interval of the curve that contains this quantile. */
        double all = 0;
        for (int i = 1; i < def->sieve_point_count; i++)
            all += number_between(&def->sieve_curve[i - 1], &def->sieve_curve[i]);

        double left = u * all;
        int at = 1;
        double here = number_between(&def->sieve_curve[0], &def->sieve_curve[1]);
        while (at + 1 < def->sieve_point_count && left > here) {
            left -= here;
            at++;
            here = number_between(&def->sieve_curve[at - 1], &def->sieve_curve[at]);
        }

        /* Within it 1/d^2 is uniform. */
        double a = def->sieve_curve[at - 1].diameter, b = def->sieve_curve[at].diameter;
        double fraction = fmin(1, left / here);
        return 0.5 / sqrt((1 - fraction) / (a * a) + fraction / (b * b));
    }

    /* By the inverse of the distribution. */
    switch (def->size_distribution) {
    case YK_SIZE_NORMAL: return radius * (1 + def->spread * normal_quantile(u, def->size_cutoff));
    case YK_SIZE_LOGNORMAL: return radius * exp(def->spread * normal_quantile(u, def->size_cutoff));
    default: return radius * (1 + def->spread * (2 * u - 1));
    }
}

/* The radius in the def: as given, of the shape, or of the coarsest sieve. */
static double nominal_radius(const yk_packing_def *def, const yk_particle *particle)
{
    if (def->sieve_point_count > 0)
        return 0.5 * def->sieve_curve[def->sieve_point_count - 1].diameter;
    if (def->radius > 0)
        return def->radius;
    return particle->radius;
}

static double largest_radius(const yk_packing_def *def, double radius)
{
    if (def->sieve_point_count > 0)
        return radius;
    if (def->size_distribution == YK_SIZE_NORMAL)
        return radius * (1 + def->spread * def->size_cutoff);
    if (def->size_distribution == YK_SIZE_LOGNORMAL)
        return radius * exp(def->spread * def->size_cutoff);
    return radius * (1 + def->spread);
}

static yk_status check_sizes(yk_context *context, const yk_packing_def *def)
{
    /* A sieve curve increases from zero to one. */
    if (def->sieve_point_count > 0) {
        const yk_sieve_point *sieves = def->sieve_curve;
        bool good = def->sieve_point_count >= 2 && sieves[0].diameter > 0 &&
                    sieves[0].passing == 0 && sieves[def->sieve_point_count - 1].passing == 1;
        for (int i = 1; i < def->sieve_point_count && good; i++)
            good = sieves[i].diameter > sieves[i - 1].diameter && isfinite(sieves[i].diameter) &&
                   sieves[i].passing >= sieves[i - 1].passing;
        if (good)
            return YK_OK;
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: diameters of sieves are positive and rise, and the fraction that "
                       "passes rises from 0 at the first to 1 at the last");
    }

    /* Distributions whose radii are all positive. */
    if (def->size_distribution == YK_SIZE_UNIFORM) {
        if (def->spread >= 0 && def->spread < 1)
            return YK_OK;
        return yk_fail(context, YK_ERROR_ARGUMENT, "packing: spread is %g, must lie in [0, 1)",
                       def->spread);
    }

    /* Distributions that must be truncated. */
    bool law =
        def->size_distribution == YK_SIZE_NORMAL || def->size_distribution == YK_SIZE_LOGNORMAL;
    if (!law || !(def->spread >= 0 && def->size_cutoff > 0 && def->size_cutoff <= 8))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: spread is %g, must not be negative, and sizes are cut at %g "
                       "standard deviations, which lies in (0, 8]",
                       def->spread, def->size_cutoff);
    if (def->size_distribution == YK_SIZE_NORMAL && def->spread * def->size_cutoff >= 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: a normal distribution of spread %g, cut at %g standard "
                       "deviations, has radii below 0: cut it earlier, or take a lognormal one",
                       def->spread, def->size_cutoff);
    return YK_OK;
}

/* Lattice -------------------------------------------------------------------------------------- */

/* Largest number of lattice cells in a row: its square fits into 64 bits, and places into a double. */
static const double CELLS_MAX = 1e9;

static yk_status check_def(yk_context *context, const yk_packing_def *def)
{
    /* A cylinder has one diameter. */
    bool box = def->cavity == YK_SOLID_BOX_CAVITY;
    bool cavity = box || def->cavity == YK_SOLID_CYLINDER_CAVITY;
    bool sizes = def->size.x > 0 && (!box || def->size.y > 0) && def->size.z > 0;
    bool particles = def->count > 0 && def->radius >= 0 && def->density > 0;
    bool lattice = def->clearance > 0 && def->jitter >= 0 && def->jitter <= 1;
    if (def->count > YK_PACKING_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: this asks for %d particles, the limit is %d", def->count,
                       YK_PACKING_MAX);
    if (cavity && sizes && particles && lattice && def->settling_step > 0)
        return check_sizes(context, def);
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "packing: count, radius, size, density, step and clearance must be positive, "
                   "jitter lies in [0, 1], the cavity is a box or a cylinder");
}

yk_status yk_packing_lattice(yk_context *context, const yk_packing_def *def, yk_packing *packing)
{
    *packing = (yk_packing){0};
    yk_status status = check_def(context, def);
    if (status == YK_OK)
        status = reserve(context, &def->shape, def->count, packing);
    if (status != YK_OK)
        return status;

    double radius = nominal_radius(def, &packing->particle);
    if (!(radius > 0)) {
        yk_packing_destroy(context, packing);
        return yk_fail(context, YK_ERROR_ARGUMENT, "packing: the radius of the spheres is missing");
    }

    /* Cells of one size that contain the largest particle in any orientation, as many as fit side
     * by side. */
    bool box = def->cavity == YK_SOLID_BOX_CAVITY;
    double largest = largest_radius(def, radius) * packing->particle.reach;
    double half = largest * (1 + def->clearance / 2);
    double width = def->size.x, depth = def->size.x;
    if (box)
        depth = def->size.y;
    double across = floor(width / half);
    double along = floor(depth / half);
    if (!(across >= 1 && along >= 1)) {
        yk_packing_destroy(context, packing);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: not one particle of radius %g fits in the cavity", largest);
    }

    if (!(across <= CELLS_MAX && along <= CELLS_MAX)) {
        yk_packing_destroy(context, packing);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: %g particles of radius %g fit side by side in the cavity, and the "
                       "limit is %g: is its size in the same unit?",
                       fmax(across, along), largest, CELLS_MAX);
    }

    /* Filled from the floor upwards, layer by layer, row by row; in a cylinder only cells within
     * its radius. */
    int64_t nx = (int64_t)across, ny = (int64_t)along;
    /* Orientations use a separate random sequence, so that positions do not depend on them. */
    uint64_t seed = def->seed, orientation_seed = ~def->seed;
    double room = def->jitter * (half - largest);
    int placed = 0;
    for (int layer = 0; placed < def->count; layer++) {
        for (int64_t row = 0; row < ny && placed < def->count; row++) {
            double y = (double)(2 * row + 1 - ny) * depth / (double)ny;
            double z = (2 * layer + 1) * half - def->size.z;

            /* Columns that may be inside the cylinder, with a spare one on either side. */
            int64_t first = 0;
            if (!box) {
                double inner = def->size.x - half;
                double reach = sqrt(fmax(0, inner * inner - y * y));
                first = (int64_t)fmax(0, floor((1 - reach / width) * across / 2) - 1);
            }

            for (int64_t column = first; column < nx - first && placed < def->count; column++) {
                double x = (double)(2 * column + 1 - nx) * width / (double)nx;
                if (!box && sqrt(x * x + y * y) + half > def->size.x)
                    continue;

                yk_vec3 shift = {room * (2 * yk_random(&seed) - 1),
                                 room * (2 * yk_random(&seed) - 1),
                                 room * (2 * yk_random(&seed) - 1)};
                packing->radii[placed] = radius_at(def, radius, yk_random(&seed));

                if (packing->orientations)
                    packing->orientations[placed] = yk_q_identity();
                if (packing->orientations && !def->aligned)
                    packing->orientations[placed] = yk_random_orientation(&orientation_seed);

                packing->positions[placed++] = yk_v3_add(yk_v3(x, y, z), shift);
            }
        }

        /* In a narrow cylinder every cell of the square lattice may intersect the wall. */
        if (placed == 0) {
            yk_packing_destroy(context, packing);
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "packing: not one particle of radius %g fits in the cavity", largest);
        }
    }

    /* The lattice may be higher than the cavity in which it settles. */
    for (int i = 0; i < placed; i++)
        packing->height =
            fmax(packing->height, packing->positions[i].z + def->size.z + top_of(packing, i));
    return YK_OK;
}

/* Settling ------------------------------------------------------------------------------------- */

typedef struct bed {
    yk_context *context;
    const yk_packing_def *def;
    yk_nonsmooth *world;
    struct {
        double begin, amplitude, frequency;
        double centre; /* of the cavity, above the middle of the definition's */
    } shaker;
    double radius; /* typical radius of its particles */
    int container, cavity, first;
} bed;

/* One cycle of a sine that starts and ends at rest; then no motion. */
static void shake_motion(void *user, double t, yk_motion *motion)
{
    const bed *b = user;
    double w = 2 * YK_PI * b->shaker.frequency;
    double phase = w * (t - b->shaker.begin);

    *motion = (yk_motion){.position = {0, 0, b->shaker.centre}, .orientation = {1, 0, 0, 0}};
    if (!(phase > 0 && phase < 2 * YK_PI))
        return;

    motion->position.z += b->shaker.amplitude * sin(phase);
    motion->velocity.z = b->shaker.amplitude * w * cos(phase);
}

static yk_status build_bed(yk_context *context, const yk_packing_def *def,
                           const yk_packing *lattice, bed *made)
{
    *made = (bed){.context = context, .def = def};
    made->radius = nominal_radius(def, &lattice->particle);
    made->shaker.begin = INFINITY;
    made->shaker.frequency = def->shake_frequency;
    yk_nonsmooth_def world = yk_nonsmooth_default();
    world.gravity = yk_v3(0, 0, -def->gravity);
    world.contact_options = def->contact_options;
    /* Errors of contacts would stay in the settled bed. */
    world.makes_all_sweeps = true;
    yk_status status = yk_world_create(context, &world, &made->world);
    if (status != YK_OK)
        return status;

    /* The container follows the shaker. It starts tall, because the lattice may be higher than the
     * cavity. */
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    made->container = yk_world_add_body(made->world, &body);
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.body = (yk_body_id){made->container};
    cavity.kind = def->cavity;
    cavity.size = def->size;
    cavity.size.z = fmax(def->size.z, lattice->height / 2 + made->radius);
    cavity.material = def->material;
    made->cavity = yk_world_add_shape(made->world, &cavity);
    if (made->container == YK_NO_ID || made->cavity == YK_NO_ID)
        return yk_last_status(context);

    made->shaker.centre = cavity.size.z - def->size.z;
    status = yk_world_prescribe(made->world, made->container, shake_motion, made);
    if (status != YK_OK)
        return status;

    made->first = yk_packing_add(made->world, lattice, yk_v3(0, 0, 0), def->density, def->material);
    if (made->first == YK_NO_ID)
        return yk_last_status(context);
    return YK_OK;
}

/* Runs until the bed is at rest, after the shaker's cycle if there is one. Then stores the
 * positions in the cavity's frame, and the height of the highest point above the floor. */
static yk_status settle(bed *b, yk_packing *packing)
{
    const yk_packing_def *def = b->def;
    double limit = yk_nonsmooth_time(b->world) + def->max_settling_time;
    double rest = def->rest_speed;

    /* A tenth of the speed that gravity gives a free body in one step. */
    if (!(rest > 0))
        rest = 0.1 * def->gravity * def->settling_step;

    /* During the shaker's cycle the bed does not count as at rest. */
    double shaken = 0;
    if (isfinite(b->shaker.begin))
        shaken = b->shaker.begin + 1 / def->shake_frequency;

    yk_motion motion;
    packing->at_rest = false;
    while (!packing->at_rest && yk_nonsmooth_time(b->world) < limit) {
        if (yk_context_should_stop(b->context))
            return yk_fail(b->context, YK_ERROR_ABORTED,
                           "packing: stopped after %g s of "
                           "settling",
                           yk_nonsmooth_time(b->world));

        /* Particles on a lattice start at rest, so their speed is checked after some steps. */
        for (int i = 0; i < 50; i++) {
            yk_status status = yk_nonsmooth_step(b->world, def->settling_step);
            if (YK_FAILED(status))
                return status;
        }

        /* The root mean square of all speeds decides. */
        double sum = 0;
        for (int i = 0; i < def->count; i++) {
            yk_nonsmooth_body_motion(b->world, b->first + i, &motion);
            sum += yk_v3_norm2(motion.velocity);
        }

        packing->speed = sqrt(sum / def->count);
        packing->at_rest = yk_nonsmooth_time(b->world) > shaken && packing->speed < rest;
        yk_log(b->context, YK_LOG_DEBUG, "%d particles settle: %.2f s, still %.2g m/s", def->count,
               yk_nonsmooth_time(b->world), packing->speed);

        /* The display shows the requested cavity, not the tall one around the lattice. */
        if (def->show_settling) {
            yk_nonsmooth_body_motion(b->world, b->container, &motion);
            motion.position.z -= b->shaker.centre;
            def->show_settling(def->show_settling_user,
                               &(yk_settling){.bed = yk_nonsmooth_subsystem(b->world),
                                              .count = def->count,
                                              .container = b->container,
                                              .cavity = def->cavity,
                                              .size = def->size,
                                              .middle = motion.position,
                                              .time = yk_nonsmooth_time(b->world),
                                              .time_limit = limit,
                                              .rms_speed = packing->speed});
        }
    }

    /* Positions of the particles relative to the middle of the cavity. */
    yk_motion container;
    yk_nonsmooth_body_motion(b->world, b->container, &container);
    double floor = container.position.z - b->shaker.centre - def->size.z;
    packing->height = 0;
    for (int i = 0; i < def->count; i++) {
        yk_nonsmooth_body_motion(b->world, b->first + i, &motion);
        if (packing->orientations)
            packing->orientations[i] = motion.orientation;
        packing->height = fmax(packing->height, motion.position.z - floor + top_of(packing, i));
        packing->positions[i] = motion.position;
        packing->positions[i].z -= floor + def->size.z;
    }

    packing->seconds = yk_nonsmooth_time(b->world);
    return YK_OK;
}

yk_status yk_packing_make(yk_context *context, const yk_packing_def *def, yk_packing *packing)
{
    bed b = {0};
    yk_status status = yk_packing_lattice(context, def, packing);

    if (status != YK_OK)
        return status;

    /* Let them fall from the lattice and come to rest. */
    status = build_bed(context, def, packing, &b);
    if (status == YK_OK)
        status = yk_nonsmooth_start(b.world, 0, def->settling_step);
    if (status == YK_OK)
        status = settle(&b, packing);

    /* Shake under a lid that follows, until the height of the bed no longer decreases. */
    double lowest = packing->height;
    for (int i = 0; i < def->max_shakes && status == YK_OK; i++) {
        /* Lower the lid to the highest particle; the floor stays in place. */
        yk_vec3 size = def->size;
        if (def->cavity != YK_SOLID_BOX_CAVITY)
            size.y = size.x;
        size.z = fmax((packing->height + b.radius) * (1 + 1e-6), 2 * b.radius) / 2;

        /* Before the cycle begins, the container is at rest. */
        yk_motion lowered;
        b.shaker.centre = size.z - def->size.z;
        shake_motion(&b, -INFINITY, &lowered);
        yk_nonsmooth_set_motion(b.world, b.container, &lowered);
        status = yk_nonsmooth_resize_shape(b.world, b.cavity, size);

        b.shaker.begin = yk_nonsmooth_time(b.world);
        b.shaker.amplitude = def->shake_amplitude;
        if (status == YK_OK)
            status = settle(&b, packing);
        packing->shakes = i + 1;
        if (packing->height > lowest * (1 - 1e-3))
            break;

        lowest = packing->height;
    }

    yk_nonsmooth_destroy(b.world);
    if (YK_FAILED(status)) {
        yk_packing_destroy(context, packing);
        return status;
    }

    if (packing->at_rest)
        return YK_OK;
    return yk_fail(
        context, YK_NOT_CONVERGED,
        "packing: the bed still moves with %g m/s after %g s; raise time_limit or rest_speed",
        packing->speed, packing->seconds);
}

int yk_packing_add(yk_nonsmooth *self, const yk_packing *packing, yk_vec3 origin, double density,
                   yk_material material)
{
    int first = yk_nonsmooth_body_count(self);
    for (int i = 0; i < packing->count; i++) {
        yk_vec3 position = yk_v3_add(origin, packing->positions[i]);
        int body = yk_particle_add(self, &packing->particle, position, orientation_of(packing, i),
                                   packing->radii[i], density, material);
        if (body == YK_NO_ID)
            return YK_NO_ID;
    }

    return first;
}

/* Files ---------------------------------------------------------------------------------------- */

/* All columns. A file without names has the first four, in this order. */
static const char *const column_names[] = {"x",  "y",  "z",  "radius", "vx", "vy", "vz",
                                           "qw", "qx", "qy", "qz",     "wx", "wy", "wz"};
enum {
    COLUMN_POSITION = 0,
    COLUMN_RADIUS = 3,
    COLUMN_VELOCITY = 4,
    COLUMN_ORIENTATION = 7,
    COLUMN_ANGULAR = 11,
    COLUMNS = 14,
    LINE_MAX_LENGTH = 1024
};

/* Columns of the file, from the line of names: `where[k]` is the index of column k of the table, -1
 * if the file does not have it. */
static yk_status read_names(yk_context *context, char *line, const char *path, int number,
                            int *columns, int where[COLUMNS])
{
    *columns = 0;
    for (int k = 0; k < COLUMNS; k++)
        where[k] = -1;

    /* Each name once, in any order. */
    char *rest = NULL;
    for (char *name = strtok_r(line, ", \t\r\n", &rest); name;
         name = strtok_r(NULL, ", \t\r\n", &rest)) {
        int k = 0;
        while (k < COLUMNS && strcmp(name, column_names[k]) != 0)
            k++;
        if (k == COLUMNS || where[k] >= 0)
            return yk_fail(context, YK_ERROR_INPUT,
                           "%s:%d: a column '%s' is unknown or there twice; there are x, y, z, "
                           "radius, vx, vy, vz, qw, qx, qy, qz, wx, wy, wz",
                           path, number, name);

        where[k] = (*columns)++;
    }

    /* Vectors and quaternions must be complete; positions and radii are required. */
    static const int groups[][2] = {{COLUMN_POSITION, COLUMN_RADIUS + 1},
                                    {COLUMN_VELOCITY, COLUMN_ORIENTATION},
                                    {COLUMN_ORIENTATION, COLUMN_ANGULAR},
                                    {COLUMN_ANGULAR, COLUMNS}};
    for (int g = 0; g < 4; g++) {
        int present = 0;
        for (int k = groups[g][0]; k < groups[g][1]; k++)
            present += where[k] >= 0;
        if (present != groups[g][1] - groups[g][0] && (g == 0 || present > 0))
            return yk_fail(context, YK_ERROR_INPUT,
                           "%s:%d: columns from '%s' to '%s' belong together, and %d of them are "
                           "there",
                           path, number, column_names[groups[g][0]], column_names[groups[g][1] - 1],
                           present);
    }

    return YK_OK;
}

/* Parses the values of one line; false if the number of columns is wrong, or a value is no number. */
static bool read_values(const char *line, int count, double *values)
{
    const char *at = line;
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = yk_text_number(at, &end);
        if (end == at || !isfinite(values[i]))
            return false;

        at = end + strspn(end, " \t\r\n");
        if (i + 1 < count && *at++ != ',')
            return false;
    }

    return *at == '\0';
}

/* Reads the particles, skipping comments and empty lines. The packing has room for one particle per
 * line of the file. */
static yk_status read_lines(yk_context *context, FILE *file, const char *path, yk_packing *packing)
{
    /* Without names the columns are positions and radii. */
    int columns = COLUMN_VELOCITY, where[COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        where[k] = k < COLUMN_VELOCITY ? k : -1;

    /* Line by line. */
    char line[LINE_MAX_LENGTH];
    int count = 0, room = packing->count;
    bool named = false;

    for (int number = 1; fgets(line, sizeof line, file); number++) {
        if (line[0] == '#' || line[0] == '\n')
            continue;

        /* The names precede all particles; allocate the columns that exist. */
        if (count == 0 && !named && isalpha((unsigned char)line[0])) {
            named = true;
            yk_status status = read_names(context, line, path, number, &columns, where);
            if (status != YK_OK)
                return status;

            size_t all = (size_t)room;
            bool moving = where[COLUMN_VELOCITY] >= 0;
            bool turned = where[COLUMN_ORIENTATION] >= 0;
            bool turning = where[COLUMN_ANGULAR] >= 0;
            if (moving)
                packing->velocities = yk_allocate(context, all, sizeof *packing->velocities);
            if (turned && !packing->orientations)
                packing->orientations = yk_allocate(context, all, sizeof *packing->orientations);
            if (turning)
                packing->angular_velocities = yk_allocate(context, all, sizeof(yk_vec3));

            if ((moving && !packing->velocities) || (turned && !packing->orientations) ||
                (turning && !packing->angular_velocities))
                return YK_ERROR_MEMORY;

            continue;
        }

        /* All columns of the table; missing columns mean at rest. */
        double found[COLUMNS];
        double v[COLUMNS] = {[COLUMN_ORIENTATION] = 1};
        bool good = count < room && read_values(line, columns, found);
        for (int k = 0; k < COLUMNS && good; k++)
            if (where[k] >= 0)
                v[k] = found[where[k]];

        yk_quat q = {v[COLUMN_ORIENTATION], v[COLUMN_ORIENTATION + 1], v[COLUMN_ORIENTATION + 2],
                     v[COLUMN_ORIENTATION + 3]};
        if (!good || !(v[COLUMN_RADIUS] > 0) || !(yk_q_norm(q) > 0))
            return yk_fail(context, YK_ERROR_INPUT,
                           "%s:%d: expected %d finite numbers with commas between them, a positive "
                           "radius and no quaternion of zeros; columns other than x, y, z, radius "
                           "are named in the first line",
                           path, number, columns);

        /* Copy the columns to the particle. */
        packing->positions[count] = yk_v3(v[0], v[1], v[2]);
        packing->radii[count] = v[COLUMN_RADIUS];
        if (packing->orientations)
            packing->orientations[count] = yk_q_unit(q);
        if (packing->velocities)
            packing->velocities[count] =
                yk_v3(v[COLUMN_VELOCITY], v[COLUMN_VELOCITY + 1], v[COLUMN_VELOCITY + 2]);

        if (packing->angular_velocities)
            packing->angular_velocities[count] =
                yk_v3(v[COLUMN_ANGULAR], v[COLUMN_ANGULAR + 1], v[COLUMN_ANGULAR + 2]);

        count++;
    }

    packing->count = count;
    if (count > 0)
        return YK_OK;
    return yk_fail(context, YK_ERROR_INPUT, "%s: there are no particles in this file", path);
}

yk_status yk_packing_read(yk_context *context, const char *path, const yk_particle_shape *shape,
                          yk_packing *packing)
{
    *packing = (yk_packing){0};
    FILE *file = yk_input_open(context, path, YK_ERROR_FILE);
    if (!file)
        return YK_ERROR_FILE;

    /* The number of lines is an upper bound of the number of particles. */
    long long lines = 1;
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        lines += c == '\n';
    yk_status status = yk_input_check(context, file, path, YK_OK);
    rewind(file);

    /* Without a shape the particles of a file are spheres. */
    yk_particle_shape sphere = {.kind = YK_SOLID_SPHERE};
    if (status == YK_OK && lines > YK_PACKING_MAX)
        status = yk_fail(context, YK_ERROR_INPUT, "%s has %lld lines; the limit is %d particles",
                         path, lines, YK_PACKING_MAX);
    if (status == YK_OK)
        status = reserve(context, shape ? shape : &sphere, (int)lines, packing);
    if (status == YK_OK)
        status = read_lines(context, file, path, packing);
    status = yk_input_check(context, file, path, status);
    fclose(file);

    if (status != YK_OK)
        yk_packing_destroy(context, packing);
    packing->at_rest = status == YK_OK;
    return status;
}
