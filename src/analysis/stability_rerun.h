/* A scenario once more with some of its values changed: another step, another scheme. It has a
 * context of its own, so that its messages do not mix with those of the scenario that is asked
 * about. */
#ifndef YK_ANALYSIS_STABILITY_RERUN_H
#define YK_ANALYSIS_STABILITY_RERUN_H

#include "yoke/analysis.h"

enum { YK_RERUN_CHANGES = 8, YK_RERUN_TEXT = 200, YK_RERUN_MESSAGE = 400 };

/* "coupling.scheme=tight": values that differ from the scenario's, applied in order. */
typedef struct yk_changes {
    int count;
    char texts[YK_RERUN_CHANGES][YK_RERUN_TEXT];
} yk_changes;

void yk_changes_add(yk_changes *changes, const char *format, ...) YK_PRINTF(2, 3);

/* What reruns of one scenario share. */
typedef struct yk_rerun_source {
    yk_context *context;
    const yk_scenario_info *info;
    char *text; /* the resolved scenario */
    yk_cache *cache;
    bool owns_cache;
    bool to_rounding; /* the scenario itself was loaded for differences, as its reruns are */
} yk_rerun_source;

yk_status yk_rerun_source_open(yk_context *context, const yk_scenario *scenario,
                               yk_rerun_source *source);
void yk_rerun_source_close(yk_rerun_source *source);

typedef struct yk_rerun {
    yk_context *context;
    yk_scenario *scenario;
    yk_system *system;
    const yk_scenario_info *info;
    char message[YK_RERUN_MESSAGE]; /* why it could not be loaded or started; "" if it could */
} yk_rerun;

/* Loads, creates and starts the system; a negative status leaves its reason in the message. Must
 * be closed in any case. */
yk_status yk_rerun_open(const yk_rerun_source *source, const yk_changes *changes, yk_rerun *rerun);
/* One subsystem of it on its own, its ports left free; started. The system is the caller's. */
yk_status yk_rerun_alone(yk_rerun *rerun, int subsystem, yk_system **system);
void yk_rerun_close(yk_rerun *rerun);

#endif
