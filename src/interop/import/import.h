/* Conversion of models of other programs to scenarios.
 *
 * A format is one row (yk_import_format in importer.h) with a reader in a folder of its own, which
 * writes the text of a scenario. Features of a model that a scenario cannot describe are never
 * dropped silently: each is a note with file and line. */
#ifndef YK_INTEROP_IMPORT_IMPORT_H
#define YK_INTEROP_IMPORT_IMPORT_H

#include <stdio.h>

#include "yoke/base.h"

/* Solver of the bodies of a robot. */
typedef enum yk_import_solver {
    /* nonsmooth if something can touch the ground or can fall, otherwise multibody */
    YK_IMPORT_AUTO,
    YK_IMPORT_MULTIBODY,
    YK_IMPORT_NONSMOOTH
} yk_import_solver;

typedef struct yk_import_options {
    yk_import_solver solver;
    double end;         /* End of the run (s); 0: that of the model, otherwise 1 s. */
    double step;        /* Macro step (s); 0: that of the model, otherwise 1 ms. */
    bool floating_base; /* URDF: the root link is free instead of fixed to the ground. */
    /* Path from the folder of the scenario to the folder of the model, with a slash at its end, which
     * becomes the start of the paths of meshes and FMUs; "": the same folder. */
    const char *mesh_folder;
} yk_import_options;

yk_import_options yk_import_options_default(void);

/* A feature of the model that the scenario does not have, or has in another form. */
typedef struct yk_import_note {
    const char *file;
    int line;
    char text[240];
} yk_import_note;

typedef struct yk_import yk_import;

/* Reads a model and converts it. The format follows from the ending of the file or from the root
 * element. The message of an error names file and line. */
yk_status yk_import_read(yk_context *context, const char *path, const yk_import_options *options,
                         yk_import **import);
void yk_import_destroy(yk_import *import);

int yk_import_notes(const yk_import *import, const yk_import_note **notes);
/* A summary of the conversion, such as "solver multibody, bodies 12, joints 11, shapes 20". */
const char *yk_import_summary(const yk_import *import);
/* The text of the scenario, valid until the import is destroyed. */
const char *yk_import_scenario(const yk_import *import);

#endif
