#include "analysis/error_monitor.h"

#include <math.h>

#include "analysis/finding_rules.h"
#include "model/scenario.h"

/* Samples of the run that are compared, at most, and values in them. */
static const double ROWS = 20000;
static const double VALUES = 4e6;

yk_status yk_error_monitor_open(yk_context *context, yk_scenario *scenario,
                                const yk_run_options *options, yk_error_monitor *monitor)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    *monitor = (yk_error_monitor){.context = context, .scenario = scenario, .info = info};
    if (!options->verdict_scenario)
        return YK_OK;

    monitor->source = options->verdict_scenario;
    monitor->tolerance = options->error_tolerance > 0
                             ? options->error_tolerance
                             : yk_finding_rule_of(YK_FINDING_ESTIMATED_ERROR)->serious;
    if (options->resume_from)
        monitor->reason = "the run was resumed";
    else if (info->partners)
        monitor->reason = "a partner runs in another process";
    else if (options->verdict_scenario->placement)
        monitor->reason = "subsystems run on several ranks";
    else if (info->channel_count == 0)
        monitor->reason = "nothing is recorded";
    if (monitor->reason)
        return YK_OK;

    /* The distance between samples is a power of two, so that coarser runs have them too. */
    double rows = fmax(2, fmin(ROWS, VALUES / fmax(1, info->values_per_sample)));
    monitor->stride = 1;
    while ((double)info->step_count > rows * (double)monitor->stride)
        monitor->stride *= 2;

    yk_record_channel *channels =
        yk_allocate(context, (size_t)info->channel_count, sizeof *channels);
    if (!channels)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < info->channel_count; i++)
        channels[i] = (yk_record_channel){.name = info->channels[i].name,
                                          .unit = info->channels[i].unit,
                                          .component_count = info->channels[i].component_count};
    yk_record_header header = {.title = info->title,
                               .scenario_text = "",
                               .channels = channels,
                               .channel_count = info->channel_count};
    yk_status status = yk_record_create(context, &monitor->record);
    if (!YK_FAILED(status))
        status = yk_recorder_begin(yk_record_recorder(monitor->record), &header);
    yk_free(context, channels);
    return status;
}

void yk_error_monitor_close(yk_error_monitor *monitor)
{
    yk_record_destroy(monitor->record);
    monitor->record = NULL;
}

yk_status yk_error_monitor_sample(yk_error_monitor *monitor, int64_t step, double time, double *row)
{
    if (!monitor->record || step % monitor->stride != 0)
        return YK_OK;

    yk_scenario_read_sample(monitor->scenario, row);
    return yk_recorder_sample(yk_record_recorder(monitor->record), time, row);
}
