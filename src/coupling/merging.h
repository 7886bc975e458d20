/* Merging of subsystems, for the schemes relaxed and monolithic. Subsystems that interfaces connect
 * become one participant, all others are participants of their own, and wires run between all of
 * them. See merging.c. */
#ifndef YK_COUPLING_MERGING_H
#define YK_COUPLING_MERGING_H

#include "coupling/system.h"

/* One participant: several merged subsystems, or a single one. */
typedef struct yk_group {
    /* Indices of the subsystems in the def of the system. */
    int part_count;
    int *parts;

    /* Names of the parts: "left + right". */
    char *name;

    /* Description of the merge if there are several parts, with the arrays that it points to.
     * Transforms of the parts are in the axes of the first part; NULL: all are the same. */
    yk_merge_def merge;
    yk_subsystem **objects;
    yk_transform *transforms;
    yk_merge_joint *joints;

    /* The merged subsystem, owned. NULL: the only part is the participant. */
    yk_subsystem *merged;

    /* For parts that are solved at the same time: `copies` has the merged subsystem itself and
     * copies of it (NULL: none). Copies that other processes have are not owned by the group. The
     * image is that of the merged subsystem at the start of a step. */
    yk_subsystem **copies;
    yk_subsystem **elsewhere;
    double *image;
} yk_group;

typedef struct yk_merging {
    int group_count;
    yk_group *groups;

    /* Interfaces of the def that are joints inside participants. */
    yk_interface_def *interfaces;
    int interface_count;

    /* The def with participants in place of subsystems, and its arrays. */
    yk_system_description reduced;
    yk_subsystem **subsystems;
    const char **names;
    yk_transform *transforms;
    int *substeps;
    yk_wire_def *wires;
} yk_merging;

/* Groups the subsystems of the def, merges them, and fills system->parts. The system is then built
 * from system->merging->reduced. */
yk_status yk_merging_create(yk_system *system, const yk_system_description *def);
void yk_merging_destroy(yk_system *system);
/* Returns the merged subsystem that contains the subsystem; NULL: it is not merged. */
yk_subsystem *yk_merging_take(yk_system *system, int subsystem);
/* Reports gaps between the parts before the merged subsystem is assembled, because the assembly
 * closes them. */
yk_status yk_merging_check_start(yk_system *system);

/* Steps the participants in the sequence of their wires, and repeats those in a cycle until the
 * wires converge, at most `iterations` times (monolithic.c). `prepare` runs before the step of each
 * participant; it may be NULL. */
yk_status yk_merging_step(yk_system *system, int iterations,
                          yk_status (*prepare)(yk_system *system, int participant, void *user),
                          void *user, yk_step_report *report);

/* Parts of a merged participant, solved one by one: on the participant itself (copy 0), or on one
 * copy for each further part, at the same time.
 *
 * At creation: yk_merging_make_copies() makes the copies. After the participant has been
 * initialized: the number of words and unknowns of a part, and the start of the copies. In a step:
 * the copies receive the state of the participant; one part is solved with the latest results of
 * the others, and *change is its change relative to the typical velocity; then its result is read.
 * A copy in another process receives the state with the first relaxation of a step, and begins
 * relaxations that are posted while other copies compute. */
yk_status yk_merging_make_copies(yk_system *system, int participant);
yk_status yk_merging_part_words(yk_system *system, int participant, int part, size_t *words,
                                size_t *unknowns);
yk_status yk_merging_start_copies(yk_system *system, int participant);
yk_status yk_merging_synchronise(yk_system *system, int participant);
bool yk_merging_is_elsewhere(const yk_system *system, int participant, int copy);
void yk_merging_post(yk_system *system, int participant, int copy, int part, const yk_input *inputs,
                     bool first);
yk_status yk_merging_relax(yk_system *system, int participant, int copy, int part,
                           const yk_input *inputs, double *change);
void yk_merging_part_get(const yk_system *system, int participant, int copy, int part,
                         double *words);
void yk_merging_part_set(yk_system *system, int participant, int copy, int part,
                         const double *words);
/* The message of a copy about its last status. */
const char *yk_merging_message(const yk_system *system, int participant, int copy);

#endif
