/* What a running system looks like, for the record: the scenes of its subsystems as one, in metres
 * and the axes of the system, and where everything is at the present time. */
#ifndef YK_ANALYSIS_SCENE_H
#define YK_ANALYSIS_SCENE_H

#include "analysis/watch.h"
#include "yoke/coupling.h"
#include "yoke/model.h"
#include "yoke/record.h"

typedef struct yk_scene {
    yk_context *context;
    const yk_system *system;
    const yk_scenario_info *info;
    const yk_watch *watch;
    yk_record_scene record; /* refers to the lists below and to names of the scenario */
    yk_record_body *bodies;
    yk_shape *shapes;
    yk_record_link *links;
    yk_vec3 *points;
    /* What moves, once each. Its bodies begin at `first`. */
    struct moving {
        const yk_subsystem *subsystem;
        yk_transform transform;
        int first, count; /* bodies */
        int shapes;
        int contacts; /* in a frame at most */
    } * moving;
    int moving_count;
    int *told; /* channels of what is watched, YK_WATCH_SUBSYSTEM of each subsystem; -1: none */
    yk_scene_pose *poses;       /* of the largest of them */
    yk_contact_point *contacts; /* of all of them */
    float *frame;               /* the latest, see yk_frame_table */
} yk_scene;

/* After the system has started, with the watch over it. `contacts`: of a frame at most, for each
 * subsystem. Must be closed, whatever the status. */
yk_status yk_scene_open(yk_context *context, const yk_system *system, const yk_scenario_info *info,
                        const yk_watch *watch, int contacts, yk_scene *scene);
void yk_scene_close(yk_scene *scene);

/* The present time, into scene->frame. Allocates nothing. */
void yk_scene_read(yk_scene *scene);

#endif
