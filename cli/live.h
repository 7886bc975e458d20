/* A run in progress in the browser: the viewer of `yoke report` on a port of this machine.
 *
 * A live view is a recorder in addition to those that write files. It stores the data for pages,
 * and a thread of its own serves them over HTTP:
 *
 *   GET  /KEY/        the viewer
 *   GET  /KEY/start title, channels and scene, packed as a report without samples and frames
 *        (report.h); 204 if there are none yet, while the scenario is loaded
 *   GET  /KEY/more?rows=N&frames=M
 *                     progress of the run, samples from N and frames from M on: "YKL1", u32 length
 *                     of the JSON, JSON, zeros up to a multiple of 8 bytes, then doubles: times of
 *                     the samples, samples, times of the frames; floats: frames
 *   GET  /KEY/control whether the run is paused, and its parameters (live_control_write())
 *   POST /KEY/pause, /KEY/resume, /KEY/advance
 *                     pauses before the next macro step, continues, or continues to the next frame
 *   POST /KEY/set?parameter=NAME&value=NUMBER
 *                     changes a parameter before the next macro step
 *   POST /KEY/stop    ends the run like an interrupt: after the present step, with its record
 *
 * Particles that settle before the run are shown in the same way, as runs of their own: the JSON of
 * `more` and the header Yoke-Act of `start` have the index of the one that is shown, and a page
 * that detects a change starts again.
 *
 * It listens on 127.0.0.1 only. KEY is random and part of the printed address: other users of the
 * machine and pages of other sites do not know it. A request whose Host is not this address is
 * rejected, so that another site cannot redirect one of its names to it. A page can stop and pause the
 * run and change its parameters within their limits, and nothing else. */
#ifndef YOKE_CLI_LIVE_H
#define YOKE_CLI_LIVE_H

#include "yoke/analysis.h"
#include "yoke/nonsmooth.h"
#include "yoke/scenario.h"
#include "yoke/system.h"

typedef struct live_view live_view;

/* Opens the port (0: any free one) and prints the address. NULL after a message. */
live_view *live_open(int port);

/* The recorder that feeds the view, owned by it. `samples`: expected number; if there are more than
 * a plot can show, pages get some of them. */
yk_recorder *live_recorder(live_view *view, double samples);

/* Lets pages control the run of a system. `paced`: its steps are tied to the clock, so that it cannot be
 * paused. */
yk_status live_attach(live_view *view, const yk_scenario_info *info, yk_system *system, bool paced);
/* The parameters that pages changed, for the record; NULL: none. */
const char *live_changes(const live_view *view);

/* Work during the load of the scenario, settling particles, and progress of the run. */
void live_loading(live_view *view, const char *message);
void live_settling(live_view *view, const yk_settling *settling);
void live_progress(live_view *view, const yk_run_progress *progress);

/* Waits a few seconds for open pages to receive the end of the run; NULL is allowed. */
void live_close(live_view *view);

#endif
