/* Wrenches of the program (yoke/access.h) within a macro step. */
#ifndef YK_COUPLING_ACCESS_H
#define YK_COUPLING_ACCESS_H

#include "coupling/system.h"

/* Ends all wrenches that the program applied for one macro step. */
void yk_system_clear_wrenches(yk_system *system);
/* Ends those among them that the function before_step applied. */
void yk_system_drop_callback_wrenches(yk_system *system);

#endif
