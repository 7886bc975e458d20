/* Subsystems that an external coupling library controls, in time windows (time_window.c). */
#ifndef YK_COUPLING_TIME_WINDOW_H
#define YK_COUPLING_TIME_WINDOW_H

#include "coupling/system.h"

/* Whether one side of an interface is controlled by an external library. */
bool yk_windows_meet(const yk_system *system, const yk_interface *interface);
/* Prescribes to the motion side the motion that the wrench side has reached, or that is known to be
 * reached. */
void yk_windows_prescribe(yk_system *system, int number, bool a_advanced);
/* Checks that the scheme supports time windows, if there are any. */
yk_status yk_windows_check(const yk_system *system);
/* Called after the start, when it is known whether macro steps may be repeated. */
yk_status yk_windows_start(yk_system *system);
/* Starts a macro step; tells whether the step must be repeated; and returns to its start. */
void yk_windows_keep(yk_system *system);
bool yk_windows_repeat(const yk_system *system);
yk_status yk_windows_return(yk_system *system);

#endif
