/* Commands over the processes that a launcher has started (mpirun -n N yoke ...): rank 0 is the
 * program that the user sees, the others work for it.
 *
 * Every rank parses the same command line. Rank 0 decides which rank has which subsystem, or makes
 * which run, and the others follow until there is no more work. */
#ifndef YOKE_CLI_MPI_H
#define YOKE_CLI_MPI_H

#include "cli.h"
#include "remote/mpi_ranks.h"

/* Limits (s) for one macro step of a subsystem on another rank, and for one of many runs. */
enum { RANKS_DEADLINE = 60 };
/* For commands that distribute their runs. */
#define RANKS_DEADLINE_TEXT                                                                        \
    "Under mpirun: repeat a run if its rank takes longer than this and ten times the longest run " \
    "(default: 60)"

/* Initializes the communication if a launcher has started several processes; false after a message.
 * The MPI library is loaded only in this case. */
bool ranks_begin(void);
/* Releases the others, or ends them if one does not answer. Returns the exit code. */
int ranks_end(int code);

/* The number of this process; 0 without a launcher. */
int ranks_own(void);

/* Rank 0: the placement of subsystems for a scenario that will run; limit for answers of other
 * ranks (s). NULL without a launcher. */
const yk_subsystem_placement *ranks_hosts(double deadline);
/* Rank 0, after a scenario was loaded and before it runs: measures the costs of its subsystems if
 * another placement could be better. True: load it again with the new placement. */
bool ranks_measure(const loaded *l);
/* Other ranks: serves the subsystems placed here, until rank 0 has no more requests. Returns the
 * exit code. */
int ranks_serve(const yk_scenario_def *def);
/* All ranks: for analyses that share their runs. A rank is presumed lost if a run takes longer than
 * this (s), and than ten times the longest. NULL without a launcher. */
const yk_process_group *ranks_team(double deadline);
/* Rank 0: a line per rank with its subsystems. */
void ranks_print(const yk_scenario_info *info);
/* Rank 0: traffic between the ranks in a run of this number of macro steps. */
void ranks_print_traffic(int64_t steps);

#endif
