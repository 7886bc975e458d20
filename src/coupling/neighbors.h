/* The interfaces and wires of each participant. */
#ifndef YK_COUPLING_NEIGHBORS_H
#define YK_COUPLING_NEIGHBORS_H

#include "coupling/system.h"

/* Fills the lists `joined` of all participants, whose interfaces exist. */
yk_status yk_neighbors_list_interfaces(yk_system *system);
/* Makes room for the lists `received` and `wires` of all participants; they are empty. */
yk_status yk_neighbors_list_wires(yk_system *system, const yk_system_description *def);
void yk_neighbors_release(yk_system *system);

#endif
