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

void yk_recorder_destroy(yk_recorder *recorder)
{
    if (recorder)
        recorder->ops->destroy(recorder);
}
