/* Reading a model by the format of its root element, and what is kept of it. */
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "import/link_tree.h"

struct yk_import {
    yk_robot robot;
    yk_import_options options;
    yk_xml *xml;
    yk_xml *included[YK_MJCF_FILES];
    int included_count;
    char *scenario; /* of MBDyn and SSP; NULL: the robot's */
    char summary[100];
};

yk_import_options yk_import_default(void)
{
    return (yk_import_options){.mesh_folder = ""};
}

void yk_robot_mesh_path(const char *model, const yk_robot_shape *shape, const char *above,
                        char *path, size_t size)
{
    const char *inner = shape->folder ? shape->folder : "";
    const char *between = inner[0] ? "/" : "";

    /* An absolute name needs no folder before it. */
    if (shape->file[0] == '/')
        snprintf(path, size, "%s%s%s", inner, between, shape->file);
    else
        snprintf(path, size, "%.*s%s%s%s%s", (int)yk_text_folder(model), model, above, inner,
                 between, shape->file);
}

/* Models name meshes from the root of a package, which lies somewhere above their own folder. */
static void find_meshes(yk_robot *robot, const char *path)
{
    static const char *const up[] = {"", "../", "../../", "../../../"};

    int kept = 0;
    for (int i = 0; i < robot->shape_count; i++) {
        yk_robot_shape *shape = &robot->shapes[i];
        bool found = shape->kind != YK_ROBOT_MESH;

        /* From the model's folder upwards; the first file that can be read is it. */
        for (size_t k = 0; k < sizeof up / sizeof *up && !found; k++) {
            char file[4096];
            yk_robot_mesh_path(path, shape, up[k], file, sizeof file);
            found = access(file, R_OK) == 0;
            if (found)
                shape->above = shape->file[0] == '/' ? "" : up[k];
        }

        /* A mesh that is nowhere is left out, with a note. */
        if (found) {
            robot->shapes[kept++] = *shape;
            continue;
        }

        yk_xml_element nowhere = {.file = path};
        const yk_xml_element *element = &nowhere;
        if (shape->link >= 0)
            element = robot->links[shape->link].element;
        yk_robot_note(robot, element, "mesh '%s' was not found", shape->file);
    }
    robot->shape_count = kept;
}

yk_status yk_import_read(yk_context *context, const char *path, const yk_import_options *options,
                         yk_import **import)
{
    *import = NULL;
    yk_import *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->robot.context = context;
    self->robot.building.context = context;
    self->options = *options;
    /* One second, where neither the caller nor the model says how long. */
    if (!(options->end > 0))
        self->options.end = 1;

    /* MBDyn's models are no XML; of the other formats the root element says which it is. */
    yk_robot *robot = &self->robot;
    const char *name = yk_robot_keep(robot, path);
    const char *dot = strrchr(path, '.');
    bool mbdyn = dot && (strcmp(dot, ".mbd") == 0 || strcmp(dot, ".mbdyn") == 0);
    yk_xml_element *root = NULL;
    yk_status status = YK_OK;
    if (!name)
        status = YK_ERROR_MEMORY;
    if (status == YK_OK && !mbdyn)
        status = yk_xml_read(context, path, &self->xml);
    if (status == YK_OK && !mbdyn)
        root = yk_xml_root(self->xml);

    if (status == YK_OK && mbdyn) {
        status = yk_mbdyn_read(robot, name, &self->options, &self->scenario);
        snprintf(self->summary, sizeof self->summary, "solver smooth");
    } else if (root && strcmp(yk_ssp_local_name(root->name), "SystemStructureDescription") == 0) {
        status = yk_ssp_read(robot, name, root, options, &self->scenario, self->summary);
    } else if (root && yk_xml_is(root, "robot")) {
        status = yk_urdf_read(robot, root, options);
    } else if (root && yk_xml_is(root, "mujoco")) {
        status = yk_mjcf_read(robot, root, self->included, &self->included_count);
    } else if (root) {
        status = yk_robot_fail(robot, root,
                               "<%s> is no model that can be read; expected <robot> (URDF), "
                               "<mujoco> (MJCF) or <SystemStructureDescription> (SSP)",
                               root->name);
    }

    /* Those of MBDyn and SSP are scenarios now. Of robots, links that do not move against each other
     * are welded, and meshes looked for. */
    bool is_robot = !self->scenario;
    if (status == YK_OK && is_robot)
        status = yk_robot_finish(robot);
    if (status == YK_OK && is_robot)
        find_meshes(robot, path);

    /* A model that can touch something needs contact; the solver decides what must be noted. */
    if (status == YK_OK && is_robot && self->options.solver == YK_IMPORT_AUTOMATIC) {
        self->options.solver = YK_IMPORT_SMOOTH;
        if (yk_robot_touches(robot))
            self->options.solver = YK_IMPORT_NONSMOOTH;
    }

    if (status == YK_OK && is_robot) {
        self->options.step = yk_robot_step(robot, &self->options);
        status = yk_robot_check(robot, &self->options);
    }
    if (status == YK_OK && is_robot && self->options.solver == YK_IMPORT_NONSMOOTH)
        status = yk_robot_find_exclusions(robot, path);

    if (status != YK_OK) {
        yk_import_destroy(self);
        return status;
    }

    *import = self;
    return YK_OK;
}

void yk_import_destroy(yk_import *import)
{
    if (!import)
        return;

    yk_robot *robot = &import->robot;
    yk_context *context = robot->context;
    void *lists[] = {robot->links, robot->joints,      robot->shapes,    robot->frames,
                     robot->notes, robot->named_pairs, robot->exclusions};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        yk_free(context, lists[i]);

    for (int i = 0; i < import->included_count; i++)
        yk_xml_destroy(import->included[i]);
    yk_xml_destroy(import->xml);

    for (int i = 0; i < robot->file_count; i++)
        yk_free(context, robot->files[i]);
    /* Made by a memory stream, not by the context's allocator. */
    free(import->scenario);
    yk_free(context, import);
}

int yk_import_notes(const yk_import *import, const yk_import_note **notes)
{
    *notes = import->robot.notes;
    return import->robot.note_count;
}

void yk_import_summary(const yk_import *import, char *text, size_t size)
{
    if (import->scenario) {
        snprintf(text, size, "%s", import->summary);
        return;
    }

    /* Bodies that move, and joints that hold something. */
    const yk_robot *robot = &import->robot;
    int bodies = 0, joints = 0;
    for (int i = 0; i < robot->link_count; i++)
        bodies += robot->links[i].into == i && robot->links[i].mass > 0;

    for (int i = 0; i < robot->joint_count; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        bool moves = joint->kind != YK_ROBOT_FIXED && joint->kind != YK_ROBOT_FREE;
        joints += joint->closes || moves;
    }

    const char *solver = import->options.solver == YK_IMPORT_SMOOTH ? "smooth" : "nonsmooth";
    snprintf(text, size, "solver %s, bodies %d, joints %d, shapes %d", solver, bodies, joints,
             robot->shape_count);
}

bool yk_import_write(const yk_import *import, FILE *to)
{
    if (import->scenario)
        fputs(import->scenario, to);
    else
        yk_robot_write(&import->robot, &import->options, to);
    return !ferror(to);
}
