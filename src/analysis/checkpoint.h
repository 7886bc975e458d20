/* Checkpoints of a run: when they are due, what is in them, and how a run goes on from one. */
#ifndef YK_ANALYSIS_CHECKPOINT_H
#define YK_ANALYSIS_CHECKPOINT_H

#include "analysis/watch.h"

/* What the run itself knows, beside its system and its watch. */
typedef struct yk_run_state {
    int64_t step;
    bool converged;
    double seconds; /* that it has taken so far */
} yk_run_state;

typedef struct yk_checkpointer {
    yk_context *context;
    const yk_run_def *def;
    yk_system *system;
    yk_watch *watch;
    const yk_scenario_info *info;
    char *scenario; /* as text */
    size_t state_words, memory_words, watch_words;
    double *words; /* of all three */
    int64_t last_step;
    double last_time, last_clock;
    bool written; /* there is one to go on from */
} yk_checkpointer;

/* After the start of the system and its watch. YK_ERROR_CAPABILITY with the name of what cannot be
 * saved. */
yk_status yk_checkpointer_open(yk_context *context, const yk_run_def *def, yk_scenario *scenario,
                               yk_system *system, yk_watch *watch, yk_checkpointer *made);
void yk_checkpointer_close(yk_checkpointer *self);

/* After a step; `clock` is the time on it. */
bool yk_checkpointer_due(const yk_checkpointer *self, int64_t step, double clock);
yk_status yk_checkpointer_write(yk_checkpointer *self, const yk_run_state *run);

/* System, watch and run as they were; where the record is to go on. */
yk_status yk_checkpointer_restore(yk_checkpointer *self, const yk_checkpoint *from,
                                  yk_run_state *run, yk_record_position *position);

#endif
