/* Scenarios from models of other programs.
 *
 *   urdf.c    robots as the Robot Operating System describes them    \
 *                                                                      >  link_tree.h  ->  scenario.c
 *   mjcf.c    models of MuJoCo                                        /
 *   mbdyn.c   models of MBDyn, written down as they are read
 *   ssp.c     systems of FMUs by the standard SSP; ssp_write.c makes one of a scenario
 *
 * A reader fills the robot of link_tree.h: links, joints, shapes in one set of axes and SI units, at
 * the configuration in which the file gives them. scenario.c writes it as a scenario with one
 * subsystem. What a file asks for and a scenario cannot say is never dropped in silence: it is a
 * note with file and line. */
#ifndef YK_IMPORT_IMPORT_H
#define YK_IMPORT_IMPORT_H

#include <stdio.h>

#include "yoke/base.h"

typedef struct yk_import_options {
    enum {
        /* nonsmooth where something can touch the ground or is free to fall, else smooth */
        YK_IMPORT_AUTOMATIC,
        YK_IMPORT_SMOOTH,
        YK_IMPORT_NONSMOOTH
    } solver;
    double end;    /* s, of the run; 0: that of the file, or 1 s */
    double step;   /* s; 0: that of the file, or 1 ms */
    bool floating; /* URDF: the root link is free instead of fixed to the ground */
    /* Where the scenario will be, from the folder of the model, as a path that begins the paths of
     * meshes and FMUs; "": the same folder */
    const char *mesh_folder;
} yk_import_options;

yk_import_options yk_import_default(void);

/* Something of the file that the scenario does not have, or has in another way. */
typedef struct yk_import_note {
    const char *file;
    int line;
    char text[240];
} yk_import_note;

typedef struct yk_import yk_import;

/* Reads a model; its format is that of its root element. Fails with a message that names file and
 * line for what cannot be read at all. */
yk_status yk_import_read(yk_context *context, const char *path, const yk_import_options *options,
                         yk_import **import);
void yk_import_destroy(yk_import *import);

int yk_import_notes(const yk_import *import, const yk_import_note **notes);
/* "12 bodies, 11 joints, 20 shapes" */
void yk_import_summary(const yk_import *import, char *text, size_t size);

/* Writes the scenario. False after an error of the stream. */
bool yk_import_write(const yk_import *import, FILE *to);

/* The description of a system of FMUs in a package of SSP. */
#define YK_SSP_DESCRIPTION "SystemStructure.ssd"

/* The other way round: a scenario, all of whose subsystems are FMUs, as a package of SSP in the
 * file. (ssp_write.c) */
yk_status yk_ssp_write(yk_context *context, const char *path, const char *const *overrides,
                       int override_count, const char *file);

#endif
