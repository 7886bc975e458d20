/* Commands over the processes that a launcher has started (mpirun -n N yoke ...): rank 0 is the
 * program that the user sees, the others work for it.
 *
 * Every rank parses the same command line. Rank 0 decides which rank has which subsystem, or does
 * which run, and the others do what it says until it has no more for them. */
#ifndef YOKE_CLI_MPI_H
#define YOKE_CLI_MPI_H

#include "cli.h"
#include "remote/mpi_ranks.h"

/* s, for one macro step of a subsystem on another rank, and for one of many runs. */
enum { RANKS_DEADLINE = 60 };
/* Of those that share their runs. */
#define RANKS_DEADLINE_TEXT                                                                        \
    "Under mpirun: repeat a run if its rank takes longer than this and ten times the longest run " \
    "(default: 60)"

/* Meets the others, where a launcher has started several; false after a message. The library behind
 * it is loaded then, and only then. */
bool ranks_begin(void);
/* Lets the others go, or ends them where one does not answer. Returns the exit code. */
int ranks_end(int code);

/* The number of this process; 0 without a launcher. */
int ranks_own(void);

/* Rank 0: where subsystems are, for a scenario that is to run; answers of other ranks may take so
 * long (s). NULL without a launcher. */
const yk_subsystem_placement *ranks_hosts(double deadline);
/* Rank 0, after a scenario was loaded and before it runs: measures what the steps of its subsystems
 * cost where another placement could be better. True: load it again, and they are placed by it. */
bool ranks_measure(const loaded *l);
/* Other ranks: the subsystems that rank 0 wants to be here, until it has no more questions. Returns
 * the exit code. */
int ranks_serve(const yk_scenario_def *def);
/* All ranks: for analyses that share their runs; one that takes longer for a run (s) than this, and
 * than ten times the longest, is lost. NULL without a launcher. */
const yk_process_group *ranks_team(double deadline);
/* Rank 0: a line per rank with its subsystems. */
void ranks_print(const yk_scenario_info *info);
/* Rank 0: what went between the ranks in a run of so many macro steps. */
void ranks_print_traffic(int64_t steps);

#endif
