/* Whether the table of operations of a subsystem is one that this library can call:
 * yoke/subsystem.h. */
#ifndef YK_COUPLING_CONTRACT_H
#define YK_COUPLING_CONTRACT_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

/* YK_ERROR_CAPABILITY, with the operation or group that is wrong, where a required operation is
 * missing, a group of capabilities is not whole, or a table was compiled for another version of
 * the contract. */
yk_status yk_contract_check(yk_context *context, const yk_subsystem *subsystem, const char *name);

#endif
