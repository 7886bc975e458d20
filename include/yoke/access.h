/* Access to a running system: read everything that a recorder can see, and change inputs, forces and parameters between
 * steps.
 *
 *     yk_channel_id tip = yk_system_find_channel(system, "arm.tip.position");
 *     yk_input_id command = yk_system_find_input(system, "command");
 *     while (yk_system_time(system) < 2.0) {
 *         double position[3];
 *         yk_system_read_channels(system, &tip, 1, position);
 *         yk_system_set_input(system, command, controller(position));     // acts in the next step, without delay
 *         yk_status status = yk_system_step(system, NULL);
 *         if (YK_FAILED(status))
 *             break;
 *     }
 *
 * Call these functions between macro steps, from the thread that steps the system. Everything that is set is constant
 * during a macro step. A step that is repeated (iterations, step control, a failure policy) uses the same values
 * again. */
#ifndef YOKE_ACCESS_H
#define YOKE_ACCESS_H

#include "yoke/system.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Channels ------------------------------------------------------------------------------------- */

/* A quantity of the system, named as in `record.channels` of a scenario: "left.mass.velocity", "joint.force",
 * "left.energy", "arm.crank.angle". */
typedef struct yk_channel_info {
    const char *name; /* "" if there is no such channel. */
    const char *unit; /* "1" for pure numbers. */
    int component_count;
} yk_channel_info;

/* All channels of a system: quantities of ports, channels and energies of subsystems, quantities of interfaces, wires.
 * The list is constant after yk_system_create(). */
int yk_system_channel_count(const yk_system *system);
yk_channel_info yk_system_channel_at(const yk_system *system, yk_channel_id channel);
/* YK_NULL_CHANNEL: not found; the message suggests similar names. */
yk_channel_id yk_system_find_channel(const yk_system *system, const char *name);
/* Reads several channels; `values` receives their components one after another. */
yk_status yk_system_read_channels(const yk_system *system, const yk_channel_id *channels, int count,
                                  double *values);

/* Bodies --------------------------------------------------------------------------------------- */

/* Bodies of a subsystem that has them (yk_body_ops): multibody and nonsmooth. Their ids are those that the builders
 * returned. Other subsystems have no bodies. */
int yk_system_body_count(const yk_system *system, yk_subsystem_id subsystem);
const char *yk_system_body_name(const yk_system *system, yk_subsystem_id subsystem,
                                yk_body_id body);
/* YK_NULL_BODY: not found; the message suggests similar names. */
yk_body_id yk_system_find_body(const yk_system *system, yk_subsystem_id subsystem,
                               const char *name);
/* Reads the states of `count` bodies from `first` on, in SI units and in the axes of the system. */
yk_status yk_system_read_bodies(const yk_system *system, yk_subsystem_id subsystem,
                                yk_body_id first, int count, yk_body_state *states);
/* Sets the states of `count` bodies from `first` on, all of them or none. The subsystem then has to satisfy its joints and
 * contacts from there: gaps and overlaps are corrected in the following steps. The work that the change does is part of
 * the energy balance. Outputs show the new states at once; forces and accelerations are those of the last step.
 * YK_ERROR_CAPABILITY: the solver cannot continue from other states (multibody), or a body is fixed or prescribed. */
yk_status yk_system_set_bodies(yk_system *system, yk_subsystem_id subsystem, yk_body_id first,
                               int count, const yk_body_state *states);
/* Applies a wrench to a body during the next macro step, in addition to everything else: a force (N) at `point` (m) and a
 * torque (N m), in the axes of the system. NULL: the origin of the body. Several wrenches on a body add up. The wrench
 * ends with the macro step; a step that fails or is repeated uses it again. The change of momentum is the force times
 * the macro step. An integrator with a memory (the two-step method of the multibody solver) spreads it over several steps,
 * and loses a part of it if the wrench acts in one of the first two steps of a run. */
yk_status yk_system_apply_body_wrench(yk_system *system, yk_subsystem_id subsystem, yk_body_id body,
                                      yk_wrench wrench, const yk_vec3 *point);
/* Reads at most `capacity` contact points, those with the largest forces, and returns their number. With a capacity of 0:
 * the largest possible number. In SI units and in the axes of the system. */
int yk_system_read_contacts(const yk_system *system, yk_subsystem_id subsystem,
                            yk_contact_point *contacts, int capacity);

/* Inputs --------------------------------------------------------------------------------------- */

/* Signals that the program sets (yk_system_add_input()). A value acts from the next macro step on, without delay, until
 * it is set again; yk_system_initialize() keeps it. An integrator with a memory spreads a jump over two steps. */
int yk_system_input_count(const yk_system *system);
/* YK_NULL_INPUT: not found. */
yk_input_id yk_system_find_input(const yk_system *system, const char *name);
yk_status yk_system_set_input(yk_system *system, yk_input_id input, double value);
/* NaN: there is no such input. */
double yk_system_input_value(const yk_system *system, yk_input_id input);

/* Parameters ----------------------------------------------------------------------------------- */

/* Numbers of a subsystem's model that may be changed between steps (yk_parameter_ops): gains of a controller
 * ("loop.proportional"), springs ("spring.stiffness"), gravity ("gravity.z"). A change acts from the next macro step on. It
 * is not part of the state; yk_system_initialize() keeps it. Subsystems that the scheme has merged have none. */
int yk_system_parameter_count(const yk_system *system, yk_subsystem_id subsystem);
/* NULL: there is no such parameter. */
const yk_parameter *yk_system_parameter_at(const yk_system *system, yk_subsystem_id subsystem,
                                           yk_parameter_id parameter);
/* YK_NULL_PARAMETER: not found. */
yk_parameter_id yk_system_find_parameter(const yk_system *system, yk_subsystem_id subsystem,
                                         const char *name);
/* In the units of the subsystem. NaN: there is no such parameter. */
double yk_system_parameter_value(const yk_system *system, yk_subsystem_id subsystem,
                                 yk_parameter_id parameter);
yk_status yk_system_set_parameter(yk_system *system, yk_subsystem_id subsystem,
                                  yk_parameter_id parameter, double value);

/* Callbacks and runs --------------------------------------------------------------------------- */

/* Called with the time at the start (before_step) or at the end (after_step) of a macro step. Returns YK_OK to continue,
 * YK_INTERRUPTED to pause, or an error; yk_system_step() and yk_system_run_until() then return that status. The function
 * may not step or initialize the system. */
typedef yk_status (*yk_step_function)(void *user, yk_system *system, double time);

/* Calls a function before each macro step, once, also if the step is subdivided or repeated. The function may set inputs,
 * wrenches and parameters. If it does not return YK_OK, or if the step fails, then the function is called again at the next
 * attempt, and the wrenches that it applied are dropped. NULL: none. */
void yk_system_set_before_step(yk_system *system, yk_step_function before_step, void *user);
/* Calls a function after each macro step that was accepted. NULL: none. */
void yk_system_set_after_step(yk_system *system, yk_step_function after_step, void *user);

/* Steps an initialized system to the first macro step that ends at or after `end` (s). YK_INTERRUPTED: a callback or the
 * context's should_stop() paused the run; call the function again to continue. YK_NOT_CONVERGED: at least one step did
 * not converge. */
yk_status yk_system_run_until(yk_system *system, double end);

/* Snapshots ------------------------------------------------------------------------------------ */

/* A snapshot holds everything that the rest of a run depends on: the state, the statistics and the inputs. Restoring it
 * in the same system, or in another system that was created from the same description and initialized, repeats the
 * following steps bit for bit. Parameters that were changed and wrenches for the next step are not part of it. */
typedef struct yk_snapshot yk_snapshot;

/* YK_ERROR_CAPABILITY: a subsystem cannot save its state. */
yk_status yk_snapshot_create(yk_system *system, yk_snapshot **snapshot);
/* Overwrites a snapshot with the present state of a system of the same description. */
yk_status yk_snapshot_save(yk_snapshot *snapshot, const yk_system *system);
yk_status yk_snapshot_restore(const yk_snapshot *snapshot, yk_system *system);
yk_status yk_snapshot_clone(const yk_snapshot *snapshot, yk_snapshot **copy);
/* The content as bytes, valid until the snapshot changes, and a snapshot from such bytes. The bytes are valid for the
 * same version of the library on the same kind of machine. */
const void *yk_snapshot_data(const yk_snapshot *snapshot, size_t *size);
yk_status yk_snapshot_from_data(yk_context *context, const void *data, size_t size,
                                yk_snapshot **snapshot);
/* NULL is allowed. */
void yk_snapshot_destroy(yk_snapshot *snapshot);

#ifdef __cplusplus
}
#endif

#endif
