/* Conversion of a robot to a scenario, after its reader (urdf.c, mjcf.c) has filled the link tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "interop/robots/link_tree.h"

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

        /* From the model's folder upwards: the first file that can be read. */
        for (size_t k = 0; k < sizeof up / sizeof *up && !found; k++) {
            char file[4096];
            yk_robot_mesh_path(path, shape, up[k], file, sizeof file);
            found = access(file, R_OK) == 0;
            if (found)
                shape->above = shape->file[0] == '/' ? "" : up[k];
        }

        /* A mesh that was not found is left out, with a note. */
        if (found) {
            robot->shapes[kept++] = *shape;
            continue;
        }

        yk_xml_element nowhere = {.file = path};
        const yk_xml_element *element = &nowhere;
        if (shape->link >= 0)
            element = robot->links[shape->link].element;
        yk_import_add_note(robot->import, element, "mesh '%s' was not found", shape->file);
    }
    robot->shape_count = kept;
}

static void write_summary(const yk_robot *robot)
{
    /* Bodies that move, and joints that constrain a motion or close a loop. */
    int bodies = 0, joints = 0;
    for (int i = 0; i < robot->link_count; i++)
        bodies += robot->links[i].into == i && robot->links[i].body.mass > 0;
    for (int i = 0; i < robot->joint_count; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        bool moves = joint->kind != YK_ROBOT_FIXED && joint->kind != YK_ROBOT_FREE;
        joints += joint->closes || moves;
    }

    yk_import *import = robot->import;
    const char *solver = import->options.solver == YK_IMPORT_MULTIBODY ? "multibody" : "nonsmooth";
    snprintf(import->summary, sizeof import->summary, "solver %s, bodies %d, joints %d, shapes %d",
             solver, bodies, joints, robot->shape_count);
}

static yk_status convert(yk_robot *robot, const char *path)
{
    yk_import *import = robot->import;
    yk_status status = yk_robot_finish(robot);
    if (status != YK_OK)
        return status;
    find_meshes(robot, path);

    /* A model that can touch something needs contact. The selected solver decides what is noted. */
    yk_import_options *options = &import->options;
    if (options->solver == YK_IMPORT_AUTO)
        options->solver = yk_robot_needs_contact(robot) ? YK_IMPORT_NONSMOOTH : YK_IMPORT_MULTIBODY;
    options->step = yk_import_step(import, robot->step);
    options->end = yk_import_end(import);

    status = yk_robot_check(robot);
    if (status == YK_OK && options->solver == YK_IMPORT_NONSMOOTH)
        status = yk_robot_find_exclusions(robot, path);
    if (status != YK_OK)
        return status;

    size_t size;
    FILE *to = open_memstream(&import->scenario, &size);
    if (!to)
        return yk_fail(import->context, YK_ERROR_MEMORY, "out of memory");
    yk_robot_write(robot, to);
    bool complete = !ferror(to);
    if (fclose(to) != 0 || !complete)
        return yk_fail(import->context, YK_ERROR_MEMORY, "out of memory");
    write_summary(robot);
    return YK_OK;
}

yk_status yk_robot_import(yk_import *import, const char *path, yk_xml_element *root,
                          yk_robot_read_function read)
{
    yk_robot robot = {.import = import};
    yk_status status = read(&robot, root);
    if (status == YK_OK)
        status = convert(&robot, path);

    void *lists[] = {robot.links,  robot.joints,      robot.shapes,
                     robot.frames, robot.named_pairs, robot.exclusions};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        yk_free(import->context, lists[i]);
    return status;
}
