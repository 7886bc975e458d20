/* A run while it goes on, in the browser: the viewer of `yoke report` on a port of this machine.
 *
 * A live view is a recorder beside the ones that write files. It keeps what pages need, and a
 * thread of its own hands it out over HTTP:
 *
 *   GET  /KEY/        the viewer
 *   GET  /KEY/start   title, channels and scene, packed as a report without samples and frames
 *                     (report.h); 204 where there is nothing yet, while the scenario is loaded
 *   GET  /KEY/more?rows=N&frames=M
 *                     how far the run is, samples from N and frames from M on:
 *                     "YKL1", u32 length of the JSON, JSON, zeros up to a multiple of 8 bytes, then
 *                     doubles: times of the samples, samples, times of the frames; floats: frames
 *   POST /KEY/stop    ends the run as an interrupt does: after the present step, with its record
 *
 * Particles that settle before the run begins are shown in the same way, as runs of their own: the
 * JSON of `more` and the header Yoke-Act of `start` have the number of the one that is shown, and a
 * page that sees it change starts anew.
 *
 * It listens on 127.0.0.1 alone. KEY is drawn at random and stands in the address that is printed:
 * other users of the machine and pages of other sites do not have it, and a request whose Host is
 * not this address is refused, so that no name of another site can be made to lead here. Nothing
 * but the end of the run can be caused from outside. */
#ifndef YOKE_CLI_LIVE_H
#define YOKE_CLI_LIVE_H

#include "yoke/analysis.h"
#include "yoke/nonsmooth.h"

typedef struct live_view live_view;

/* Opens the port (0: any that is free) and prints the address. NULL after a message. */
live_view *live_open(int port);

/* The recorder that feeds it, the view's own. About so many samples will come: where they are more
 * than a plot can show, pages get some of them. */
yk_recorder *live_recorder(live_view *view, double samples);

/* What is done while the scenario is loaded, particles that settle then, and how far the run is. */
void live_loading(live_view *view, const char *message);
void live_settling(live_view *view, const yk_settling *settling);
void live_progress(live_view *view, const yk_run_progress *progress);

/* Waits a few seconds for open pages to take the end of the run; NULL is allowed. */
void live_close(live_view *view);

#endif
