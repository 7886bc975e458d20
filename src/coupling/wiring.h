/* Creation of the participants, interfaces and wires of a system, and the order in which they are evaluated. */
#ifndef YK_COUPLING_WIRING_H
#define YK_COUPLING_WIRING_H

#include "coupling/system.h"

yk_status yk_wiring_create(yk_system *system, const yk_system_description *def);
void yk_wiring_destroy(yk_system *system);
/* Exchanges the sides of interfaces whose motion side cannot follow the wrench side (sides.c). Before ports are
 * connected. */
yk_status yk_system_choose_sides(yk_system *system);

/* Checks that this library can call the tables of operations of a subsystem. YK_ERROR_CAPABILITY, with the name of the
 * operation or group: a required operation is missing, a group of capabilities is incomplete, or a table was compiled for
 * another version of the contract. */
yk_status yk_contract_check(yk_context *context, const yk_subsystem *subsystem, const char *name);

#endif
