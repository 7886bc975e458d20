/* Bodies whose motion an interface prescribes, among solids that never move.
 *
 * No force could stop either of them, so there is no contact between them and they pass through
 * each other. Such a run misses a contact, which nothing else in it shows: the depth is kept, as
 * far as it exceeds that at the start. */
#include "nonsmooth/world.h"

/* More pairs of solids than this are not looked at. */
enum { PAIRS_MAX = 100000 };

/* Whether two solids would touch, were it not for their prescribed motion. The model need not be
 * frozen. */
static bool may_pass(const yk_world_model *model, size_t driven, size_t still)
{
    const yk_part *a = &model->parts[driven];
    const yk_part *b = &model->parts[still];

    /* One follows its port, the other never moves; of two unbounded solids depth says nothing. */
    if (a->body < 0 || model->bodies[a->body].drive != YK_PRESCRIBED_BY_PORT)
        return false;
    if (b->body >= 0 && model->bodies[b->body].drive != YK_FIXED)
        return false;
    if (!yk_solid_is_finite(a->kind) && !yk_solid_is_finite(b->kind))
        return false;
    return a->world == b->world && yk_world_layers_meet(model, a, b);
}

bool yk_world_body_may_pass(const yk_world_model *model, int body)
{
    for (size_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].body != body)
            continue;

        for (size_t j = 0; j < model->part_count; j++) {
            if (may_pass(model, i, j))
                return true;
        }
    }

    return false;
}

/* Of two solids, one of them finite; 0 where they are apart. */
static double depth_of(const yk_nonsmooth *self, const yk_passage *p)
{
    yk_solid a = yk_world_solid(&self->model, &self->state, p->driven);
    yk_solid b = yk_world_solid(&self->model, &self->state, p->still);

    /* The image nearest to it. */
    if (yk_solid_is_finite(a.kind) && yk_solid_is_finite(b.kind))
        b.position = yk_v3_add(b.position, yk_world_image(&self->model, a.position, b.position));

    /* Depth does not depend on the side that it is seen from. */
    yk_touch list[YK_MANIFOLD_MAX];
    int count;
    if (yk_solid_is_finite(a.kind)) {
        count = yk_collide(&a, &b, 0, list);
    } else {
        count = yk_collide(&b, &a, 0, list);
    }

    double depth = 0;
    for (int i = 0; i < count; i++)
        depth = fmax(depth, -list[i].gap);
    return depth;
}

yk_status yk_world_start_passages(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    self->largest_passage = 0;
    if (self->passages)
        return YK_OK;

    /* Few bodies are driven, and most models have no walls beside them: count before anything is
     * allocated. */
    size_t count = 0;
    for (size_t i = 0; i < model->part_count; i++) {
        int32_t body = model->parts[i].body;
        bool driven = body >= 0 && model->bodies[body].drive == YK_PRESCRIBED_BY_PORT;
        for (size_t j = 0; j < model->part_count && driven; j++)
            count += may_pass(model, i, j);
    }

    if (count == 0 || count > PAIRS_MAX)
        return YK_OK;

    /* Depths at the start do not count. */
    self->passages = yk_allocate(self->context, count, sizeof *self->passages);
    if (!self->passages)
        return YK_ERROR_MEMORY;

    self->passage_count = 0;
    for (size_t i = 0; i < model->part_count; i++) {
        for (size_t j = 0; j < model->part_count; j++) {
            if (!may_pass(model, i, j))
                continue;

            /* Depths are compared with the size of a solid that has one. */
            size_t finite = yk_solid_is_finite(model->parts[i].kind) ? i : j;

            yk_passage *p = &self->passages[self->passage_count++];
            *p = (yk_passage){.driven = i, .still = j};
            p->size = yk_world_part_radius(model, &model->parts[finite]);
            p->start = depth_of(self, p);
        }
    }

    return YK_OK;
}

void yk_world_release_passages(yk_nonsmooth *self)
{
    yk_release(self->context, self->passages);
    self->passages = NULL;
    self->passage_count = 0;
}

void yk_world_watch_passages(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->passage_count; i++) {
        const yk_passage *p = &self->passages[i];

        double depth = depth_of(self, p) - p->start;
        if (depth > YK_NONSMOOTH_PASSAGE * p->size)
            self->largest_passage = fmax(self->largest_passage, depth);
    }
}
