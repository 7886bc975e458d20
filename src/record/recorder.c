/* The operations of any recorder, and one that passes everything on to several others. */
#include <string.h>

#include "yoke/record.h"

yk_status yk_recorder_begin(yk_recorder *recorder, const yk_record_header *header)
{
    return recorder->ops->begin(recorder, header);
}

yk_status yk_recorder_sample(yk_recorder *recorder, double time, const double *row)
{
    return recorder->ops->sample(recorder, time, row);
}

yk_status yk_recorder_frame(yk_recorder *recorder, double time, const float *values)
{
    if (!recorder->ops->frame)
        return YK_OK;

    return recorder->ops->frame(recorder, time, values);
}

yk_status yk_recorder_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    return recorder->ops->end(recorder, summary);
}

/* Recorders that were compiled before there were these operations have a shorter table. */
bool yk_recorder_resumes(const yk_recorder *recorder)
{
    /* Recorders that were compiled before there were resumed runs have shorter tables. */
    const yk_recorder_ops *ops = recorder->ops;
    if (ops->size < sizeof *ops || !ops->keep || !ops->resume)
        return false;

    return !ops->can_resume || ops->can_resume(recorder);
}

yk_status yk_recorder_keep(yk_recorder *recorder, yk_record_position *position)
{
    return recorder->ops->keep(recorder, position);
}

yk_status yk_recorder_resume(yk_recorder *recorder, const yk_record_header *header,
                             const yk_record_position *position)
{
    return recorder->ops->resume(recorder, header, position);
}

void yk_recorder_destroy(yk_recorder *recorder)
{
    if (recorder)
        recorder->ops->destroy(recorder);
}

/* Several at once ------------------------------------------------------------------------------ */

typedef struct tee {
    yk_recorder base;
    yk_context *context;
    int count;
    yk_recorder *recorders[];
} tee;

static yk_status tee_begin(yk_recorder *recorder, const yk_record_header *header)
{
    /* Nothing is recorded where one cannot begin. */
    tee *self = (tee *)recorder;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_begin(self->recorders[i], header);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static yk_status tee_sample(yk_recorder *recorder, double time, const double *row)
{
    /* All of them get it, also when one before them fails. */
    tee *self = (tee *)recorder;
    yk_status failure = YK_OK;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_sample(self->recorders[i], time, row);
        if (status != YK_OK)
            failure = status;
    }

    return failure;
}

static yk_status tee_frame(yk_recorder *recorder, double time, const float *values)
{
    tee *self = (tee *)recorder;
    yk_status failure = YK_OK;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_frame(self->recorders[i], time, values);
        if (status != YK_OK)
            failure = status;
    }

    return failure;
}

static yk_status tee_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    tee *self = (tee *)recorder;
    yk_status failure = YK_OK;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_end(self->recorders[i], summary);
        if (status != YK_OK)
            failure = status;
    }

    return failure;
}

/* The positions of all, one each. */
static yk_status tee_keep(yk_recorder *recorder, yk_record_position *position)
{
    tee *self = (tee *)recorder;

    /* The lengths of all files, one behind the other; a tee within a tee has several. */
    position->count = 0;
    for (int i = 0; i < self->count; i++) {
        yk_record_position own = {0};
        yk_status status = yk_recorder_keep(self->recorders[i], &own);
        if (status != YK_OK)
            return status;
        if (own.count != 1 || position->count == YK_RECORD_FILES_MAX)
            return yk_fail(self->context, YK_ERROR_ARGUMENT,
                           "a record that is to be resumed has at most %d files, side by side",
                           YK_RECORD_FILES_MAX);

        position->length[position->count++] = own.length[0];
    }

    return YK_OK;
}

static yk_status tee_resume(yk_recorder *recorder, const yk_record_header *header,
                            const yk_record_position *position)
{
    tee *self = (tee *)recorder;
    if (position->count != self->count)
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "the run that is to be resumed recorded to %d files, and here are %d",
                       position->count, self->count);

    /* Each at its own position; the order is that of the command line, which is kept. */
    for (int i = 0; i < self->count; i++) {
        yk_record_position own = {.count = 1, .length = {position->length[i]}};
        yk_status status = yk_recorder_resume(self->recorders[i], header, &own);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static bool tee_can_resume(const yk_recorder *recorder)
{
    const tee *self = (const tee *)recorder;
    for (int i = 0; i < self->count; i++)
        if (!yk_recorder_resumes(self->recorders[i]))
            return false;

    return true;
}

/* The recorders belong to whoever made them. */
static void tee_destroy(yk_recorder *recorder)
{
    tee *self = (tee *)recorder;
    yk_release(self->context, self);
}

static const yk_recorder_ops tee_ops = {
    .size = sizeof tee_ops,
    .kind = "tee",
    .begin = tee_begin,
    .sample = tee_sample,
    .frame = tee_frame,
    .end = tee_end,
    .destroy = tee_destroy,
    .keep = tee_keep,
    .resume = tee_resume,
    .can_resume = tee_can_resume,
};

yk_status yk_tee_recorder_create(yk_context *context, yk_recorder *const *recorders, int count,
                                 yk_recorder **made)
{
    *made = NULL;
    if (count < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a tee cannot have %d recorders", count);

    size_t list = (size_t)count * sizeof *recorders;
    tee *self = yk_allocate(context, 1, sizeof *self + list);
    if (!self)
        return YK_ERROR_MEMORY;

    *self = (tee){.base.ops = &tee_ops, .context = context, .count = count};
    if (count)
        memcpy(self->recorders, recorders, list);
    *made = &self->base;

    return YK_OK;
}
