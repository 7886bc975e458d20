/* `particles` of solver: nonsmooth, from a file, a lattice, or settled in their container. */
#include <stdio.h>

#include "model/cache.h"
#include "model/kind_nonsmooth.h"
#include "nonsmooth/builder.h"

static yk_packing_def packing_of(const yk_node *item, double gravity, yk_material material)
{
    enum { BOX };
    yk_packing_def def = yk_packing_default();
    bool box = yk_node_choice(item, "cavity") == BOX;
    def.cavity = box ? YK_SOLID_BOX_CAVITY : YK_SOLID_CYLINDER_CAVITY;
    def.size = yk_v3_scale(0.5, yk_node_vector(item, "size"));
    def.count = yk_node_integer(item, "count");
    def.radius = yk_node_number(item, "radius");
    def.spread = yk_node_number(item, "spread");
    def.density = yk_node_number(item, "density");
    def.material = material;
    def.clearance = yk_node_number(item, "clearance");
    def.jitter = yk_node_number(item, "jitter");
    def.seed = (uint64_t)yk_node_integer(item, "seed");
    def.gravity = gravity;
    if (item->choice != YK_PARTICLES_SETTLED)
        return def;
    def.step = yk_node_number(item, "step");
    def.time_limit = yk_node_number(item, "time_limit");
    def.shakes = yk_node_integer(item, "shakes");
    def.shake_amplitude = yk_node_number(item, "shake_amplitude");
    def.shake_frequency = yk_node_number(item, "shake_frequency");
    return def;
}

/* Everything that packing_of reads. */
static void write_key(const yk_packing_def *def, const char *what, char *key, size_t room)
{
    const yk_material *s = &def->material;
    snprintf(key, room,
             "%s of %d in %d %a %a %a; %a %a %a; %a %a %a %a %a %a; %a %a %llu %a; %a %a %d %a %a",
             what, def->count, (int)def->cavity, def->size.x, def->size.y, def->size.z, def->radius,
             def->spread, def->density, s->friction, s->restitution, s->rolling, s->spinning,
             s->stiffness, s->damping, def->clearance, def->jitter, (unsigned long long)def->seed,
             def->gravity, def->step, def->time_limit, def->shakes, def->shake_amplitude,
             def->shake_frequency);
}

/* Settling takes seconds, and reading a scenario again, for another scheme or step, changes
 * nothing about it. */
static yk_status settle(const yk_builder *builder, const yk_packing_def *def, yk_packing *packing)
{
    yk_context *context = yk_builder_context(builder);
    yk_cache *kept = yk_builder_cache(builder);
    char places[640], radii[640];
    write_key(def, "places", places, sizeof places);
    write_key(def, "radii", radii, sizeof radii);
    yk_status status = yk_packing_lattice(context, def, packing); /* room for it */
    if (status < 0)
        return status;
    size_t place_size = (size_t)def->count * sizeof *packing->positions;
    size_t radius_size = (size_t)def->count * sizeof *packing->radii;
    if (yk_cache_recall(kept, places, packing->positions, place_size) &&
        yk_cache_recall(kept, radii, packing->radii, radius_size))
        return YK_OK;
    yk_packing_destroy(context, packing);
    status = yk_packing_make(context, def, packing);
    if (status < 0)
        return status;
    yk_cache_keep(kept, places, packing->positions, place_size);
    yk_cache_keep(kept, radii, packing->radii, radius_size);
    return status;
}

static yk_status find_places(yk_builder *builder, const yk_node *item, double gravity,
                             yk_material material, yk_packing *packing)
{
    yk_context *context = yk_builder_context(builder);
    if (item->choice == YK_PARTICLES_FROM_FILE) {
        const char *path = yk_builder_path(builder, item, "file");
        return path ? yk_packing_read(context, path, packing) : YK_ERROR_MEMORY;
    }
    yk_packing_def def = packing_of(item, gravity, material);
    return item->choice == YK_PARTICLES_SETTLED ? settle(builder, &def, packing)
                                                : yk_packing_lattice(context, &def, packing);
}

int yk_read_particles(yk_builder *builder, yk_nonsmooth_builder *model, const yk_node *item,
                      double gravity, yk_material material)
{
    yk_packing packing = {0};
    if (find_places(builder, item, gravity, material, &packing) < 0)
        return YK_NO_ID;
    yk_particles_def def = yk_particles_default();
    def.packing.density = yk_node_number(item, "density");
    def.packing.material = material;
    def.position = yk_node_vector(item, "position");
    def.velocity = yk_node_vector(item, "velocity");
    def.angular_velocity = yk_node_vector(item, "angular_velocity");
    int first = yk_nonsmooth_add_packing(model, &packing, &def);
    yk_packing_destroy(yk_builder_context(builder), &packing);
    return first;
}
