/* Memory of a step. Inputs of the model's own and the wrenches of the ports live as long as the
 * model, as callers may ask for them before start. */
#include "smooth/workspace.h"

#include "smooth/integrator.h"

yk_status yk_smooth_workspace_create(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    yk_context *context = model->context;
    size_t frames = (size_t)model->frame_count;
    size_t rows = (size_t)model->row_count;
    size_t unknowns = (size_t)model->unknown_count;
    size_t scratch = 0;

    /* Scratch of the integrator, as much as it asks for. */
    if (model->integrator->scratch_words)
        scratch = model->integrator->scratch_words(model);

    work->trial = yk_allocate(context, frames, sizeof *work->trial);
    work->coordinates =
        yk_allocate(context, (size_t)model->coordinate_count, sizeof *work->coordinates);
    work->lambda = yk_allocate(context, rows, sizeof *work->lambda);
    work->load = yk_allocate(context, frames, sizeof *work->load);
    work->right = yk_allocate(context, unknowns, sizeof *work->right);
    work->work_vector = yk_allocate(context, 2 * unknowns, sizeof *work->work_vector);
    work->scratch = yk_allocate(context, scratch, sizeof *work->scratch);
    bool complete = work->trial && work->coordinates && work->lambda && work->load && work->right &&
                    work->work_vector && work->scratch;
    if (!complete)
        return YK_ERROR_MEMORY;

    /* Frames that nothing moves stand in the origin. */
    for (int i = 0; i < model->frame_count; i++) {
        work->trial[i].frame = yk_frame_ground();
        work->trial[i].orientation = yk_q_identity();
    }

    /* Bodies read their coordinates from arrays of their own; an attachment has the map from them
     * to its frame. */
    const yk_smooth_description *def = &model->def;
    size_t words = 0;
    for (int i = 0; i < def->flexible_count; i++)
        words += yk_smooth_flexible_words(model->flexibles[i].body);
    for (int i = 0; i < def->attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        const yk_flexible *body = model->flexibles[attachment->flexible].body;
        words += yk_smooth_attachment_words(body, attachment);
    }

    size_t bodies = (size_t)def->flexible_count;
    size_t attachments = (size_t)def->attachment_count;
    work->flexibles = yk_allocate(context, bodies, sizeof *work->flexibles);
    work->flexible_loads = yk_allocate(context, bodies, sizeof *work->flexible_loads);
    work->attachments = yk_allocate(context, attachments, sizeof *work->attachments);
    work->flexible_store = yk_allocate(context, words, sizeof *work->flexible_store);
    if (!work->flexibles || !work->flexible_loads || !work->attachments || !work->flexible_store)
        return YK_ERROR_MEMORY;

    /* One block of memory, bodies first and then attachments. */
    double *at = work->flexible_store;
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_flexible *body = model->flexibles[i].body;
        int n = body->coordinates;

        work->flexibles[i] = (flexible_trial){
            .value = at,
            .rate = at + n,
            .second = at + 2 * n,
            .tangent = at + 3 * n,
            .loads = &work->flexible_loads[i],
        };
        at += yk_smooth_flexible_words(body);
    }

    for (int i = 0; i < def->attachment_count; i++) {
        const attachment_model *attachment = &model->attachments[i];
        const yk_flexible *body = model->flexibles[attachment->flexible].body;
        yk_vec3 *pull = (yk_vec3 *)(at + 6 * attachment->count);
        work->attachments[i] = (attachment_trial){.jacobian = at, .pose = {.pull = pull}};
        at += yk_smooth_attachment_words(body, attachment);
    }

    return YK_OK;
}

void yk_smooth_workspace_release(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    yk_context *context = model->context;

    void *const blocks[] = {
        work->trial,       work->coordinates,    work->lambda,         work->load,
        work->right,       work->work_vector,    work->scratch,        work->flexibles,
        work->attachments, work->flexible_loads, work->flexible_store,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_release(context, blocks[i]);

    /* A model is compiled anew when its ports are connected otherwise. */
    work->trial = NULL;
    work->coordinates = NULL;
    work->lambda = NULL;
    work->load = NULL;
    work->right = NULL;
    work->work_vector = NULL;
    work->scratch = NULL;
    work->flexibles = NULL;
    work->flexible_loads = NULL;
    work->attachments = NULL;
    work->flexible_store = NULL;
}
