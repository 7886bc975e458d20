/* Common parts of the readers of all formats: the model that is being imported, its notes, and the writing
 * of scenario texts. */
#ifndef YK_INTEROP_IMPORT_IMPORTER_H
#define YK_INTEROP_IMPORT_IMPORTER_H

#include <stdio.h>

#include "base/builder.h"
#include "interop/import/import.h"
#include "interop/import/xml.h"
#include "math/vec3.h"

enum { YK_IMPORT_FILES_MAX = 64, YK_IMPORT_DOCUMENTS_MAX = 32 };

/* A model that is being imported. A reader fills `scenario` and `summary` and adds notes. */
struct yk_import {
    yk_context *context;
    yk_import_options options;
    yk_building building; /* memory of the lists of this struct and of the reader */
    yk_import_note *notes;
    int note_count;
    char *files[YK_IMPORT_FILES_MAX]; /* names of files, to which notes refer */
    int file_count;
    /* Documents that the model includes; elements of them live as long as the import. */
    yk_xml *documents[YK_IMPORT_DOCUMENTS_MAX];
    int document_count;
    char *scenario; /* text of the scenario, from open_memstream() */
    char summary[100];
};

/* A format of models. */
typedef struct yk_import_format {
    const char *name;         /* "URDF" */
    const char *root_element; /* of an XML format, without prefix; NULL: not XML */
    const char *endings[3];   /* of a format that is not XML: ".mbd"; ended by NULL */
    /* Converts the model. `root` is NULL if the format is not XML. */
    yk_status (*read)(yk_import *import, const char *path, yk_xml_element *root);
} yk_import_format;

/* All formats of this build, ended by NULL. Defined in src/interop/registry.c. */
extern const yk_import_format *const yk_import_formats[];

/* Keeps the name of a file as long as the import; NULL if there are too many or memory is missing. */
const char *yk_import_keep_name(yk_import *import, const char *file);
/* Adds a note on an element. */
void yk_import_add_note(yk_import *import, const yk_xml_element *element, const char *format, ...)
    YK_PRINTF(3, 4);
/* Fails with YK_ERROR_INPUT and a message that names file and line of an element. */
yk_status yk_import_fail(yk_import *import, const yk_xml_element *element, const char *format, ...)
    YK_PRINTF(3, 4);

/* Reads `min_count` to `max_count` numbers from the text of an attribute. Values without a number do not
 * change. `count` receives how many were read; it may be NULL. */
yk_status yk_import_read_numbers(yk_import *import, const yk_xml_element *element, const char *name,
                                 const char *text, double *values, int min_count, int max_count,
                                 int *count);

/* Mass properties of a body that is put together from parts. */
typedef struct yk_import_mass {
    double mass;     /* kg */
    yk_vec3 center;  /* center of mass (m), global axes */
    yk_mat3 inertia; /* about the center (kg m^2), global axes */
} yk_import_mass;

/* A part with its center of mass at `pose` and an inertia about it in the axes of `pose`. */
void yk_import_add_mass(yk_import_mass *body, double mass, yk_pose pose, yk_mat3 inertia);
/* Raises principal moments that are too small for any body, with a note on the element that calls the body
 * `name` ("link 'arm'"). The inertia of a point mass may stay zero if `may_vanish` is set. */
yk_status yk_import_repair_inertia(yk_import *import, const yk_xml_element *element,
                                   const char *name, yk_import_mass *body, bool may_vanish);

/* Writing (write.c) ---------------------------------------------------------------------------- */

/* Step of the scenario (s): the option, otherwise `model_step` if it is positive, otherwise 1 ms. */
double yk_import_step(const yk_import *import, double model_step);
/* End of the run (s) of a model that does not state one: the option, otherwise 1 s. */
double yk_import_end(const yk_import *import);
/* Notes as comments at the head of a scenario. */
void yk_import_write_notes(const yk_import *import, FILE *to);
/* A name in the form that scenarios accept: a letter first, then letters, digits, _ and -. */
enum { YK_IMPORT_NAME_BYTES = 80, YK_IMPORT_NAME_LENGTH = 60 };
void yk_import_clean_name(const char *name, const char *fallback, char text[YK_IMPORT_NAME_BYTES]);
/* Values of a scenario, with as few digits as give the same number back. */
void yk_write_number(FILE *to, double value);
void yk_write_vector(FILE *to, yk_vec3 v);
void yk_write_quaternion(FILE *to, yk_quat q);

#endif
