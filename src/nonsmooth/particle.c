/* One particle of any shape: volume, inertia, and its parts at unit size. */
#include "mechanics/body.h"
#include "nonsmooth/packing.h"

/* Columns across the overlaps of a clump, each way. */
enum { COLUMNS = 400 };

static const yk_quat ALIGNED = {1, 0, 0, 0};

/* The inertia, for density 1, of volume that several spheres of a clump share: each point counts
 * once for every additional sphere that contains it. Along columns parallel to z the integration is
 * exact; over the columns the midpoint rule is used. */
static yk_inertia overlaps_of(const yk_particle_shape *clump)
{
    yk_inertia sum = {0};
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

    /* The rectangle in x and y that contains the boxes in which pairs overlap. */
    for (int i = 0; i < clump->point_count; i++) {
        for (int k = 0; k < i; k++) {
            yk_vec3 p = clump->points[i], q = clump->points[k];
            double a = clump->radii[i], b = clump->radii[k];
            if (yk_v3_norm(yk_v3_sub(p, q)) >= a + b)
                continue;

            low[0] = fmin(low[0], fmax(p.x - a, q.x - b));
            high[0] = fmax(high[0], fmin(p.x + a, q.x + b));
            low[1] = fmin(low[1], fmax(p.y - a, q.y - b));
            high[1] = fmax(high[1], fmin(p.y + a, q.y + b));
        }
    }

    if (!(low[0] < high[0]))
        return sum;

    double across = (high[0] - low[0]) / COLUMNS, along = (high[1] - low[1]) / COLUMNS;
    double xx = 0, yy = 0, zz = 0, xy = 0, yz = 0, zx = 0;
    for (int column = 0; column < COLUMNS * COLUMNS; column++) {
        int row = column / COLUMNS;
        double x = low[0] + (column % COLUMNS + 0.5) * across;
        double y = low[1] + (row + 0.5) * along;

        /* Intervals of the spheres in the column, sorted by their lower end. */
        double from[YK_CLUMP_SPHERES_MAX], to[YK_CLUMP_SPHERES_MAX];
        int count = 0;
        for (int i = 0; i < clump->point_count; i++) {
            yk_vec3 p = clump->points[i];
            double half2 =
                clump->radii[i] * clump->radii[i] - (x - p.x) * (x - p.x) - (y - p.y) * (y - p.y);
            if (!(half2 > 0))
                continue;

            double half = sqrt(half2);
            int at = count++;

            for (; at > 0 && from[at - 1] > p.z - half; at--) {
                from[at] = from[at - 1];
                to[at] = to[at - 1];
            }

            from[at] = p.z - half;
            to[at] = p.z + half;
        }

        /* Intervals below the highest end so far are covered already. */
        double end = -INFINITY;
        for (int i = 0; i < count; i++) {
            double bottom = from[i], top = fmin(to[i], end);
            end = fmax(end, to[i]);
            if (!(top > bottom))
                continue;

            double volume = (top - bottom) * across * along;
            double z = 0.5 * (top + bottom);

            /* Zeroth, first and second moments. */
            sum.mass += volume;
            sum.moment = yk_v3_axpy(volume, yk_v3(x, y, z), sum.moment);
            xx += volume * x * x;
            yy += volume * y * y;
            zz += volume * (top * top + top * bottom + bottom * bottom) / 3;
            xy += volume * x * y;
            yz += volume * y * z;
            zx += volume * z * x;
        }
    }

    sum.tensor = (yk_mat3){{{yy + zz, -xy, -zx}, {-xy, zz + xx, -yz}, {-zx, -yz, xx + yy}}};
    return sum;
}

yk_status yk_particle_make(yk_context *context, const yk_particle_shape *shape, yk_particle *made)
{
    *made = (yk_particle){.reach = 1, .radius = shape->size.x};
    bool clump = shape->kind == YK_SOLID_SPHERE && shape->points;
    if (shape->kind == YK_SOLID_SPHERE && !clump)
        return YK_OK;

    yk_solid solid = {.kind = shape->kind,
                      .rotation = yk_m3_identity(),
                      .size = shape->size,
                      .points = shape->points,
                      .point_count = shape->point_count};

    if (!clump && !(yk_solid_is_valid(&solid) && yk_solid_has_mass(shape->kind)))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "particles: their shape is a solid with a volume and of positive size, or "
                       "a clump");

    /* Spheres of a clump. */
    int parts = 1;
    if (clump)
        parts = shape->point_count;
    if (parts < 1 || parts > YK_CLUMP_SPHERES_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "particles: a clump of %d spheres, the limit is %d", parts,
                       YK_CLUMP_SPHERES_MAX);

    for (int i = 0; i < parts && clump; i++) {
        double radius = shape->radii[i];
        if (!yk_v3_finite(shape->points[i]) || !(radius > 0 && isfinite(radius)))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "particles: sphere %d of the clump has the radius %g m, it must be "
                           "positive, and its position finite",
                           i, radius);
    }

    /* Mass, first and second moments of the given shape. */
    yk_inertia whole = {0};
    if (clump) {
        for (int i = 0; i < parts; i++) {
            yk_solid sphere = {.kind = YK_SOLID_SPHERE, .size = {shape->radii[i], 0, 0}};
            yk_mat3 central;
            double mass = yk_solid_mass(&sphere, 1, &central);
            yk_inertia part = yk_inertia_of_body(mass, shape->points[i], central, ALIGNED);
            yk_inertia_add(&whole, &part);
        }

        /* Minus the volume that several spheres share. */
        yk_inertia twice = overlaps_of(shape);
        whole.mass -= twice.mass;
        whole.moment = yk_v3_sub(whole.moment, twice.moment);
        whole.tensor = yk_m3_sub(whole.tensor, twice.tensor);
    } else {
        yk_mat3 central;
        double mass = yk_solid_mass(&solid, 1, &central);
        whole = yk_inertia_of_body(mass, yk_solid_centre(&solid), central, ALIGNED);
    }

    if (!(whole.mass > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "particles: their shape has no volume, or too many corners to find it");

    /* About the center of mass: minus the tensor of a point mass there. Then at unit size. */
    yk_vec3 centre = yk_v3_scale(1 / whole.mass, whole.moment);
    yk_inertia point = yk_inertia_of_body(whole.mass, centre, yk_m3_zero(), ALIGNED);

    /* Scale lengths by the radius of the ball of equal volume, inertia at density 1 by its fifth
     * power. */
    made->radius = cbrt(whole.mass / (4.0 / 3.0 * YK_PI));
    double scale = 1 / made->radius;
    made->inertia = yk_m3_scale(pow(scale, 5), yk_m3_sub(whole.tensor, point.tensor));

    /* The parts relative to the center. Corners are moved directly. */
    size_t corners = 0;
    if (yk_solid_has_points(shape->kind))
        corners = (size_t)shape->point_count;
    made->parts = yk_allocate(context, (size_t)parts, sizeof *made->parts);
    if (corners > 0)
        made->points = yk_allocate(context, 2 * corners, sizeof *made->points);
    if (!made->parts || (corners > 0 && !made->points)) {
        yk_particle_destroy(context, made);
        return YK_ERROR_MEMORY;
    }

    for (size_t i = 0; i < corners; i++)
        made->points[i] = yk_v3_scale(scale, yk_v3_sub(shape->points[i], centre));

    made->part_count = parts;
    made->reach = 0;

    for (int i = 0; i < parts; i++) {
        yk_solid *part = &made->parts[i];
        *part = solid;
        part->points = made->points;
        part->point_count = (int)corners;
        part->size = yk_v3_scale(scale, shape->size);
        if (clump) {
            part->size = yk_v3(scale * shape->radii[i], 0, 0);
            part->position = yk_v3_scale(scale, yk_v3_sub(shape->points[i], centre));
        }

        made->reach = fmax(made->reach, yk_v3_norm(part->position) + yk_solid_radius(part));
    }

    return YK_OK;
}

void yk_particle_destroy(yk_context *context, yk_particle *particle)
{
    yk_free(context, particle->parts);
    yk_free(context, particle->points);
    *particle = (yk_particle){0};
}

double yk_particle_top(const yk_particle *particle, yk_quat orientation, double radius)
{
    if (particle->part_count == 0)
        return radius;

    /* The farthest point along the vertical, in the axes of the particle. */
    yk_vec3 up = yk_q_rotate_back(orientation, yk_v3(0, 0, 1));
    double top = 0;
    for (int i = 0; i < particle->part_count; i++) {
        yk_vec3 farthest = yk_solid_support(&particle->parts[i], up);
        top = fmax(top, yk_v3_dot(farthest, up));
    }

    return radius * top;
}

int yk_particle_add(yk_nonsmooth *self, const yk_particle *particle, yk_vec3 position,
                    yk_quat orientation, double radius, double density, yk_material material)
{
    if (particle->part_count == 0)
        return yk_world_add_sphere(self, position, radius, density, material);

    /* Mass and inertia as in packing.h. */
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.position = position;
    body.orientation = orientation;
    body.mass = density * 4.0 / 3.0 * YK_PI * radius * radius * radius;
    body.inertia = yk_m3_scale(density * pow(radius, 5), particle->inertia);

    int number = yk_world_add_body(self, &body);
    if (number == YK_NO_ID)
        return YK_NO_ID;

    /* Its shapes, as large as it is. */
    for (int i = 0; i < particle->part_count; i++) {
        const yk_solid *part = &particle->parts[i];
        yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
        shape.body = (yk_body_id){number};
        shape.kind = part->kind;
        shape.position = yk_v3_scale(radius, part->position);
        shape.size = yk_v3_scale(radius, part->size);
        shape.material = material;

        /* The model copies the corners. */
        if (part->point_count > 0) {
            yk_vec3 *scaled = particle->points + part->point_count;
            for (int k = 0; k < part->point_count; k++)
                scaled[k] = yk_v3_scale(radius, part->points[k]);
            shape.points = scaled;
            shape.point_count = part->point_count;
        }

        if (yk_world_add_shape(self, &shape) == YK_NO_ID)
            return YK_NO_ID;
    }

    return number;
}
