#include "nonsmooth/packing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"

yk_packing_def yk_packing_default(void)
{
    yk_packing_def def = {
        .cavity = YK_SOLID_CYLINDER_CAVITY,
        .size = {10e-3, 10e-3, 10e-3},
        .count = 100,
        .radius = 1e-3,
        .density = 7800,
        .material = {.friction = 0.5},
        .clearance = 0.1,
        .jitter = 0.5,
        .seed = 1,
        .gravity = 9.81,
        .step = 1e-4,
        .time_limit = 2,
        .shake_frequency = 20,
    };
    def.solver = yk_nonsmooth_default().solver;
    def.solver.method = YK_CONTACT_GAUSS_SEIDEL; /* what falls into place need not be exact */
    def.shake_amplitude = 0.5 * def.radius;
    return def;
}

static yk_status reserve(yk_context *context, int count, yk_packing *packing)
{
    *packing = (yk_packing){.count = count};
    packing->positions = yk_allocate(context, (size_t)count, sizeof *packing->positions);
    packing->radii = yk_allocate(context, (size_t)count, sizeof *packing->radii);
    if (packing->positions && packing->radii)
        return YK_OK;

    yk_packing_destroy(context, packing);
    return YK_ERROR_MEMORY;
}

void yk_packing_destroy(yk_context *context, yk_packing *packing)
{
    yk_release(context, packing->positions);
    yk_release(context, packing->radii);
    *packing = (yk_packing){0};
}

/* Lattice -------------------------------------------------------------------------------------- */

/* Cells of the lattice in a row, at most: their number fits into 64 bits squared, and their places
 * into a double. */
static const double CELLS_MAX = 1e9;

/* SplitMix64 (Steele, Lea, Flood 2014): a small generator of our own, so that a seed means the
 * same everywhere. */
static double uniform(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static yk_status check_def(yk_context *context, const yk_packing_def *def)
{
    /* A cylinder has no depth of its own. */
    bool box = def->cavity == YK_SOLID_BOX_CAVITY;
    bool cavity = box || def->cavity == YK_SOLID_CYLINDER_CAVITY;
    bool sizes = def->size.x > 0 && (!box || def->size.y > 0) && def->size.z > 0;
    bool spheres = def->count > 0 && def->radius > 0 && def->density > 0 && def->spread >= 0 &&
                   def->spread < 1;
    bool lattice = def->clearance > 0 && def->jitter >= 0 && def->jitter <= 1;
    if (def->count > YK_PACKING_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: this asks for %d particles, the limit is %d", def->count,
                       YK_PACKING_MAX);
    if (cavity && sizes && spheres && lattice && def->step > 0)
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "packing: count, radius, size, density, step and clearance must be positive, "
                   "spread and jitter lie "
                   "in [0, 1), the cavity is a box or a cylinder");
}

yk_status yk_packing_lattice(yk_context *context, const yk_packing_def *def, yk_packing *packing)
{
    yk_status status = check_def(context, def);
    if (status == YK_OK)
        status = reserve(context, def->count, packing);
    if (status != YK_OK)
        return status;

    /* Cells of one size that hold the largest sphere, as many as fit side by side. */
    bool box = def->cavity == YK_SOLID_BOX_CAVITY;
    double largest = def->radius * (1 + def->spread);
    double half = largest * (1 + def->clearance / 2);
    double width = def->size.x, depth = def->size.x;
    if (box)
        depth = def->size.y;
    double across = floor(width / half);
    double along = floor(depth / half);
    if (!(across >= 1 && along >= 1)) {
        yk_packing_destroy(context, packing);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: not one sphere of radius %g fits in the cavity", def->radius);
    }
    if (!(across <= CELLS_MAX && along <= CELLS_MAX)) {
        yk_packing_destroy(context, packing);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "packing: %g spheres of radius %g fit side by side in the cavity, and the "
                       "limit is %g: is its size in the same unit?",
                       fmax(across, along), def->radius, CELLS_MAX);
    }

    /* Filled from the floor up, layer by layer, row by row; in a cylinder those within its
     * radius. */
    int64_t nx = (int64_t)across, ny = (int64_t)along;
    uint64_t seed = def->seed;
    double room = def->jitter * (half - largest);
    int placed = 0;
    for (int layer = 0; placed < def->count; layer++) {
        for (int64_t row = 0; row < ny && placed < def->count; row++) {
            double y = (double)(2 * row + 1 - ny) * depth / (double)ny;
            double z = (2 * layer + 1) * half - def->size.z;

            /* Columns that may lie in the cylinder, with one to spare on either side. */
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

                yk_vec3 shift = {room * (2 * uniform(&seed) - 1), room * (2 * uniform(&seed) - 1),
                                 room * (2 * uniform(&seed) - 1)};
                packing->radii[placed] = def->radius * (1 + def->spread * (2 * uniform(&seed) - 1));
                packing->positions[placed++] = yk_v3_add(yk_v3(x, y, z), shift);
            }
        }

        if (placed == 0) {
            yk_packing_destroy(context, packing);
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "packing: not one sphere of radius %g fits in the cavity", def->radius);
        }
    }

    for (int i = 0; i < placed; i++)
        packing->height =
            fmax(packing->height, packing->positions[i].z + def->size.z + packing->radii[i]);
    return YK_OK;
}

/* Settling ------------------------------------------------------------------------------------- */

/* One cycle of a sine that begins and ends at rest in position; then nothing. */
typedef struct shake {
    double begin, amplitude, frequency;
    double centre; /* of the cavity, above the middle of the definition's */
} shake;

static void shake_motion(void *user, double t, yk_motion *motion)
{
    const shake *s = user;
    double w = 2 * YK_PI * s->frequency;
    double phase = w * (t - s->begin);

    *motion = (yk_motion){.position = {0, 0, s->centre}, .orientation = {1, 0, 0, 0}};
    if (!(phase > 0 && phase < 2 * YK_PI))
        return;

    motion->position.z += s->amplitude * sin(phase);
    motion->velocity.z = s->amplitude * w * cos(phase);
}

typedef struct bed {
    yk_context *context;
    const yk_packing_def *def;
    yk_nonsmooth *world;
    shake shaker;
    int container, cavity, first;
} bed;

static yk_status build_bed(yk_context *context, const yk_packing_def *def,
                           const yk_packing *lattice, bed *made)
{
    *made = (bed){.context = context, .def = def};
    made->shaker = (shake){.begin = INFINITY, .frequency = def->shake_frequency};
    yk_nonsmooth_def world = yk_nonsmooth_default();
    world.gravity = yk_v3(0, 0, -def->gravity);
    world.solver = def->solver;
    yk_status status = yk_world_create(context, &world, &made->world);
    if (status != YK_OK)
        return status;

    /* The container follows the shaker. The lattice may stand higher than the cavity, so that it
     * begins tall. */
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    made->container = yk_world_add_body(made->world, &body);
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.body = made->container;
    cavity.kind = def->cavity;
    cavity.size = def->size;
    cavity.size.z = fmax(def->size.z, lattice->height / 2 + def->radius);
    cavity.material = def->material;
    made->cavity = yk_world_add_shape(made->world, &cavity);
    if (made->container < 0 || made->cavity < 0)
        return YK_ERROR_MEMORY;

    made->shaker.centre = cavity.size.z - def->size.z;
    status = yk_world_prescribe(made->world, made->container, shake_motion, &made->shaker);
    if (status != YK_OK)
        return status;

    made->first = yk_packing_add(made->world, lattice, yk_v3(0, 0, 0), def->density, def->material);
    return made->first < 0 ? (yk_status)made->first : YK_OK;
}

/* Until the bed rests, after the shaker's cycle if there is one. Then places in the cavity's
 * frame, and the height of the highest point above the floor. */
static yk_status settle(bed *b, yk_packing *packing)
{
    const yk_packing_def *def = b->def;
    double limit = yk_nonsmooth_time(b->world) + def->time_limit;
    double rest = def->rest_speed;

    if (!(rest > 0))
        rest = 0.1 * def->gravity * def->step;
    double shaken = 0;
    if (isfinite(b->shaker.begin))
        shaken = b->shaker.begin + 1 / def->shake_frequency;

    yk_motion motion;
    packing->at_rest = false;
    while (!packing->at_rest && yk_nonsmooth_time(b->world) < limit) {
        if (yk_stop_asked(b->context))
            return yk_fail(b->context, YK_ERROR_STOPPED,
                           "packing: stopped after %g s of "
                           "settling",
                           yk_nonsmooth_time(b->world));

        /* Spheres on a lattice begin at rest: their speed counts after some steps only. */
        for (int i = 0; i < 50; i++) {
            yk_status status = yk_nonsmooth_step(b->world, def->step);
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
    }

    /* Where the spheres lie, seen from the middle of the cavity. */
    yk_motion container;
    yk_nonsmooth_body_motion(b->world, b->container, &container);
    double floor = container.position.z - b->shaker.centre - def->size.z;
    packing->height = 0;
    for (int i = 0; i < def->count; i++) {
        yk_nonsmooth_body_motion(b->world, b->first + i, &motion);
        packing->height = fmax(packing->height, motion.position.z - floor + packing->radii[i]);
        packing->positions[i] = motion.position;
        packing->positions[i].z -= floor + def->size.z;
    }

    packing->seconds = yk_nonsmooth_time(b->world);
    return YK_OK;
}

/* The lid comes down on the highest sphere, the floor stays where it is. */
static yk_status lower_lid(bed *b, double height)
{
    yk_vec3 size = b->def->size;
    if (b->def->cavity != YK_SOLID_BOX_CAVITY)
        size.y = size.x;
    size.z = fmax(height * (1 + 1e-6), 2 * b->def->radius) / 2;

    b->shaker.centre = size.z - b->def->size.z;

    yk_motion placed;
    shake_motion(&b->shaker, -INFINITY, &placed);
    yk_nonsmooth_set_motion(b->world, b->container, &placed);
    return yk_nonsmooth_resize_shape(b->world, b->cavity, size);
}

yk_status yk_packing_make(yk_context *context, const yk_packing_def *def, yk_packing *packing)
{
    bed b = {0};
    yk_status status = yk_packing_lattice(context, def, packing);

    if (status != YK_OK)
        return status;

    /* They fall from the lattice and come to rest. */
    status = build_bed(context, def, packing, &b);
    if (status == YK_OK)
        status = yk_nonsmooth_start(b.world, 0, def->step);
    if (status == YK_OK)
        status = settle(&b, packing);

    /* Shaken under a lid that follows, until the bed no longer gets lower. */
    double lowest = packing->height;
    for (int i = 0; i < def->shakes && status == YK_OK; i++) {
        status = lower_lid(&b, packing->height + def->radius);
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
        int body = yk_world_add_sphere(self, position, packing->radii[i], density, material);
        if (body < 0)
            return body;
    }
    return first;
}

/* Files ---------------------------------------------------------------------------------------- */

static const char HEAD[] = "# packing: x, y, z, radius; from the middle of the cavity\n";

yk_status yk_packing_write(yk_context *context, const yk_packing *packing, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return yk_fail(context, YK_ERROR_FILE, "%s: %s", path, strerror(errno));

    /* Seventeen digits keep every bit. */
    fputs(HEAD, file);
    for (int i = 0; i < packing->count; i++) {
        yk_vec3 p = packing->positions[i];
        fprintf(file, "%.17g,%.17g,%.17g,%.17g\n", p.x, p.y, p.z, packing->radii[i]);
    }

    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return yk_fail(context, YK_ERROR_FILE, "%s: cannot be written to the end", path);
    return YK_OK;
}

/* Comments and empty lines are skipped. Into a packing that has room for as many spheres as the
 * file has lines. */
static yk_status read_lines(yk_context *context, FILE *file, const char *path, yk_packing *packing)
{
    char line[256];
    int count = 0;

    for (int number = 1; fgets(line, sizeof line, file); number++) {
        if (line[0] == '#' || line[0] == '\n')
            continue;

        yk_vec3 *p = &packing->positions[count];
        double *r = &packing->radii[count];
        bool good =
            count < packing->count && sscanf(line, "%lf,%lf,%lf,%lf", &p->x, &p->y, &p->z, r) == 4;
        if (!good || !yk_v3_finite(*p) || !(*r > 0) || !isfinite(*r))
            return yk_fail(context, YK_ERROR_INPUT, "%s:%d: expected x, y, z and a positive radius",
                           path, number);
        count++;
    }

    packing->count = count;
    if (count > 0)
        return YK_OK;
    return yk_fail(context, YK_ERROR_INPUT, "%s: there are no spheres in this file", path);
}

yk_status yk_packing_read(yk_context *context, const char *path, yk_packing *packing)
{
    *packing = (yk_packing){0};
    FILE *file = yk_input_open(context, path, YK_ERROR_FILE);
    if (!file)
        return YK_ERROR_FILE;

    /* No file has more spheres than lines. */
    long long lines = 1;
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        lines += c == '\n';
    rewind(file);

    yk_status status = YK_OK;
    if (lines > YK_PACKING_MAX)
        status = yk_fail(context, YK_ERROR_INPUT, "%s has %lld lines; the limit is %d particles",
                         path, lines, YK_PACKING_MAX);
    if (status == YK_OK)
        status = reserve(context, (int)lines, packing);
    if (status == YK_OK)
        status = read_lines(context, file, path, packing);
    fclose(file);

    if (status != YK_OK)
        yk_packing_destroy(context, packing);
    packing->at_rest = status == YK_OK;
    return status;
}
