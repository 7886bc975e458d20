/* What schemes that merge make of the subsystems: those that interfaces join become one
 * participant, the others stay participants of their own, and wires run between all of them. See
 * merging.c. */
#ifndef YK_COUPLING_MERGING_H
#define YK_COUPLING_MERGING_H

#include "coupling/system.h"

/* One participant: the subsystems that were merged to it, or the only one. */
typedef struct yk_group {
    /* Numbers of the subsystems in the def of the system. */
    int part_count;
    int *parts;

    /* "left + right" */
    char *name;

    /* Of several parts, with the arrays that it refers to. Transforms of the parts are in the axes
     * of the first; NULL: all are the same. */
    yk_merge_def merge;
    yk_subsystem **objects;
    yk_transform *transforms;
    yk_merge_joint *joints;

    /* Owned; NULL: the only part is the participant. */
    yk_subsystem *merged;

    /* For parts that are solved at the same time: the merged subsystem itself, and copies of it,
     * NULL: none; those of them that other processes have, which are not the group's; the image of
     * the merged subsystem at the start of a step. */
    yk_subsystem **copies;
    yk_subsystem **elsewhere;
    double *image;
} yk_group;

typedef struct yk_merging {
    int group_count;
    yk_group *groups;

    /* Of the def, which are joints inside participants now. */
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

/* Groups the subsystems of the def, merges them, and fills system->parts;
 * system->merging->reduced is what the system is then built from. */
yk_status yk_merging_create(yk_system *system, const yk_system_description *def);
void yk_merging_destroy(yk_system *system);
/* Hands out the merged subsystem that the subsystem is a part of; NULL: it is not merged. */
yk_subsystem *yk_merging_take(yk_system *system, int subsystem);
/* Compares where the parts are by themselves at the start: the assembly of the whole would close
 * any gap between them. */
yk_status yk_merging_check_start(yk_system *system);

/* Steps of the participants that are left, in the sequence of their wires; those that go in a
 * circle are repeated until they settle, at most `iterations` times (monolithic.c). Each step of
 * a participant can be prepared; prepare may be NULL. */
yk_status yk_merging_step(yk_system *system, int iterations,
                          yk_status (*prepare)(yk_system *system, int participant, void *user),
                          void *user, yk_step_report *report);

/* Parts of a merged participant, solved one by one: on the participant itself (copy 0) or on
 * copies of it that run at the same time, one for each further part. At creation: makes the
 * copies. After the participant has started: the words and unknowns of a part; starts the copies.
 * In a step: copies take over the state of the participant; one part is solved with what the
 * others reached last, and `change` is what that did, relative to the typical velocity; what a
 * part has reached. A copy that another process has takes the state with the first relaxation, and
 * begins with relaxations that are posted while others compute. */
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
/* What a copy says of its last status. */
const char *yk_merging_message(const yk_system *system, int participant, int copy);

#endif
