/* Control of a run from the page of its live view: pause, resume, advance to the next frame, and change
 * parameters. The page's thread posts requests; the run's thread carries them out before its next
 * macro step. Changes are listed for the record, because such a run cannot be reproduced from its
 * scenario. */
#ifndef YOKE_CLI_LIVE_CONTROL_H
#define YOKE_CLI_LIVE_CONTROL_H

#include "base/text.h"
#include "yoke/access.h"
#include "yoke/scenario.h"

typedef struct live_control live_control;

typedef enum live_request { LIVE_PAUSE, LIVE_RESUME, LIVE_ADVANCE } live_request;

/* NULL: out of memory. */
live_control *live_control_create(void);
void live_control_destroy(live_control *control);

/* The thread of the run ------------------------------------------------------------------------ */

/* Lists the parameters of the scenario's system and follows its steps from now on. `can_pause`: false
 * if the steps are tied to the clock. */
yk_status live_control_attach(live_control *control, const yk_scenario_info *info,
                              yk_system *system, bool can_pause);
/* A frame, or a sample of a run without frames, was recorded, which ends an advance. */
void live_control_end_advance(live_control *control);
/* The changes of parameters, one after another: "t = 0.5 s: left.stiffness = 300 N/m; ..."; NULL: none. Valid
 * until the next change. */
const char *live_control_changes(const live_control *control);

/* The thread of the page ----------------------------------------------------------------------- */

/* False: this run cannot be paused. */
bool live_control_post(live_control *control, live_request request);
/* Sets a parameter before the next macro step. Returns NULL, or the reason why the value is refused. */
const char *live_control_set(live_control *control, const char *name, double value);
/* As JSON: {"paused": false, "can_pause": true, "refusal": "", "parameters": [{"name": ..., "unit": ..., "value": ...,
 * "minimum": ..., "maximum": ...}, ...]}. A limit of null means that there is none. */
void live_control_write(live_control *control, yk_context *context, yk_text *json);

#endif
