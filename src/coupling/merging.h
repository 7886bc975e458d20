/* What schemes that merge make of the subsystems: those that interfaces join become one participant, the others stay participants
 * of their own, and wires run between all of them. See merging.c. */
#ifndef YK_COUPLING_MERGING_H
#define YK_COUPLING_MERGING_H

#include "coupling/system.h"

/* One participant: the subsystems that were merged to it, or the only one. */
typedef struct yk_group {
    int part_count;
    int *parts;         /* numbers of the subsystems in the def of the system */
    yk_merge_def merge; /* of several; refers to the arrays that follow */
    yk_subsystem **objects;
    yk_transform *transforms; /* of the parts in the axes of the first; NULL: all are the same */
    yk_merge_joint *joints;
    yk_subsystem *merged; /* owned; NULL: the only part is the participant */
    char *name;           /* "left + right" */
} yk_group;

typedef struct yk_merging {
    int group_count;
    yk_group *groups;
    yk_interface_def *interfaces; /* of the def, which are joints inside participants now */
    int interface_count;
    /* The def with participants in place of subsystems, and its arrays. */
    yk_system_def reduced;
    yk_subsystem **subsystems;
    const char **names;
    yk_transform *transforms;
    int *substeps;
    yk_wire_def *wires;
} yk_merging;

/* Groups the subsystems of the def, merges them, and fills system->parts; system->merging->reduced is what the system is
 * then built from. */
yk_status yk_merging_create(yk_system *system, const yk_system_def *def);
void yk_merging_destroy(yk_system *system);
/* Compares where the parts are by themselves at the start: the assembly of the whole would close any gap between them. */
yk_status yk_merging_check_start(yk_system *system);
/* Another subsystem merged from the parts of a group. */
yk_status yk_merging_copy(const yk_system *system, const yk_group *group, yk_subsystem **merged);

#endif
