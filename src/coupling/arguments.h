/* Checks of the arguments that users pass to the functions of a system.
 *
 * Each check returns true if the argument is valid. Otherwise it sets YK_ERROR_ARGUMENT in the
 * context, with a message that names the function and the argument. A NULL system has no context,
 * so the check only returns false. */
#ifndef YK_COUPLING_ARGUMENTS_H
#define YK_COUPLING_ARGUMENTS_H

#include "coupling/system.h"

bool yk_system_has_subsystem(const yk_system *system, const char *function, int subsystem);
bool yk_system_has_port(const yk_system *system, const char *function, int subsystem, int port);
bool yk_system_has_channel(const yk_system *system, const char *function, int subsystem,
                           int channel);
bool yk_system_has_interface(const yk_system *system, const char *function, int interface);
bool yk_system_has_wire(const yk_system *system, const char *function, int wire);
bool yk_system_has_loop(const yk_system *system, const char *function, int loop);
bool yk_system_has_input(const yk_system *system, const char *function, int input);
/* `count`: number of parameters of the subsystem. */
bool yk_system_has_parameter(const yk_system *system, const char *function, int parameter,
                             int count);
bool yk_system_has_memory(const yk_system *system, const char *function, const char *argument,
                          const void *memory);

/* The name of an element of a list; NULL: none. */
typedef const char *(*yk_name_at)(const void *list, int index);
/* Sets the message about a name that was not found, with the most similar name of the list. */
void yk_system_report_not_found(const yk_system *system, const char *function, const char *what,
                                const char *name, yk_name_at name_at, const void *list, int count);

#endif
