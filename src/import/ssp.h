/* Systems of FMUs in the format of the standard System Structure and Parameterization, SSP 1.0 and
 * 2.0: a package (.ssp, a ZIP archive) with SystemStructure.ssd, FMUs and parameter sets, or such a
 * description alone (.ssd).
 *
 *   ssp.c         description -> scenario: components are subsystems, connections wires
 *   ssp_write.c   scenario of FMUs -> package
 *
 * The standard has signals only. Ports with power, interfaces between them and the coupling scheme
 * stand in an annotation of the system whose type is YK_SSP_ANNOTATION: sections of a scenario in
 * the words of a scenario, each an element <Section name="..." value="..."/>, with element="..."
 * where it is one of a component. */
#ifndef YK_IMPORT_SSP_H
#define YK_IMPORT_SSP_H

#include "import/robot.h"

#define YK_SSP_ANNOTATION "yoke.coupling"
#define YK_SSP_DESCRIPTION "SystemStructure.ssd" /* in a package */

/* Keys of sections: of the whole system, and of a component; up to a NULL. */
extern const char *const yk_ssp_system_sections[];
extern const char *const yk_ssp_component_sections[];

/* The part of a name of XML behind its prefix: "System" of "ssd:System". */
const char *yk_ssp_local_name(const char *name);

/* A description becomes the text of a scenario, to be freed. The robot keeps the notes. FMUs are
 * named from options->mesh_folder; the summary has the counts. */
yk_status yk_ssp_read(yk_robot *robot, const char *path, const yk_xml_element *root,
                      const yk_import_options *options, char **scenario, char summary[100]);

typedef struct yk_ssp_write_def {
    const char *scenario; /* all of its subsystems are FMUs */
    const char *const *overrides;
    int override_count;
    const char *file; /* the package */
} yk_ssp_write_def;

yk_status yk_ssp_write(yk_context *context, const yk_ssp_write_def *def);

#endif
