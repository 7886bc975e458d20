/* Bodies whose motion an interface prescribes, among solids that never move.
 *
 * No force could stop either of them, so there is no contact between them and they pass through each other. Such a run misses a
 * contact, which nothing else in it shows: the depth is kept, as far as it exceeds that at the start. */
#include "nonsmooth/world.h"

/* Passages below this part of the body's radius are the accuracy of a model that touches. */
static const double NOTABLE = 0.01;
/* More pairs of solids than this are not looked at. */
enum { PAIRS_MAX = 100000 };

static bool is_driven(const yk_nonsmooth *self, size_t part)
{
    int32_t body = self->parts[part].body;
    return body >= 0 && self->models[body].drive == YK_PRESCRIBED_BY_PORT;
}

static bool may_pass(const yk_nonsmooth *self, size_t driven, size_t still)
{
    const yk_part *a = &self->parts[driven], *b = &self->parts[still];
    if (b->body >= 0 && self->models[b->body].drive != YK_FIXED) return false;
    if (!yk_solid_is_finite(a->kind) && !yk_solid_is_finite(b->kind)) return false;
    return a->world == b->world && yk_world_layers_meet(self, a, b);
}

/* Of two solids, one of them finite; 0 where they are apart. */
static double depth_of(const yk_nonsmooth *self, const yk_passage *p)
{
    yk_solid a = yk_world_solid(self, p->driven), b = yk_world_solid(self, p->still);
    yk_touch list[YK_MANIFOLD_MAX];
    bool in_order = yk_solid_is_finite(a.kind);
    int count = in_order ? yk_collide(&a, &b, 0, list) : yk_collide(&b, &a, 0, list);
    double depth = 0;
    for (int i = 0; i < count; i++) depth = fmax(depth, -list[i].gap);
    return depth;
}

yk_status yk_world_start_passages(yk_nonsmooth *self)
{
    self->largest_passage = 0;
    if (self->passages) return YK_OK;

    /* Few bodies are driven, and most models have no walls beside them: count before anything is allocated. */
    size_t count = 0;
    for (size_t i = 0; i < self->part_count; i++)
        for (size_t j = 0; j < self->part_count && is_driven(self, i); j++) count += may_pass(self, i, j);
    if (count == 0 || count > PAIRS_MAX) return YK_OK;

    self->passages = yk_allocate(self->context, count, sizeof *self->passages);
    if (!self->passages) return YK_ERROR_MEMORY;
    self->passage_count = 0;
    for (size_t i = 0; i < self->part_count; i++)
        for (size_t j = 0; j < self->part_count && is_driven(self, i); j++) {
            if (!may_pass(self, i, j)) continue;
            yk_passage *p = &self->passages[self->passage_count++];
            yk_solid driven = yk_world_solid(self, i), still = yk_world_solid(self, j);
            *p = (yk_passage){.driven = i, .still = j};
            p->size = yk_solid_radius(yk_solid_is_finite(driven.kind) ? &driven : &still);
            p->start = depth_of(self, p);
        }
    return YK_OK;
}

void yk_world_watch_passages(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->passage_count; i++) {
        const yk_passage *p = &self->passages[i];
        double depth = depth_of(self, p) - p->start;
        if (depth > NOTABLE * p->size) self->largest_passage = fmax(self->largest_passage, depth);
    }
}
