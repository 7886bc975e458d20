/* yoke draw: the model of a scenario at its start as a picture, or its run as a moving picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "math/vec3.h"
#include "pictures.h"
#include "svg.h"
#include "yoke/access.h"

static const char usage[] =
    "draw SCENARIO [OPTIONS]\n"
    "\n"
    "Draw the model in its initial configuration as SVG, or its run as an animated SVG. Subsystems "
    "have different "
    "colors; joints are white circles, on hatching if they are fixed to the ground, springs have "
    "windings, free ports are dots, interfaces are diamonds. "
    "Subsystems without a position in space, such as controllers, are blocks below "
    "the model.";

static yk_vec3 to_system(const yk_transform *p, yk_vec3 x)
{
    return yk_v3_add(p->position, yk_q_rotate(p->orientation, yk_v3_scale(p->length_unit, x)));
}

/* The content of the picture, and its memory. */
typedef struct collection {
    drawing_part *parts;
    drawing_mark *marks;
    drawing_link *links;
    char (*names)[96]; /* of marks */

    /* In the system's axes and units: each in its present pose, with lines instead of hollow shapes
     * and of those made of points. */
    struct {
        drawing_shape *list;
        int count, capacity;
        int part;
        bool failed; /* out of memory */
    } shapes;
    drawing_frame *frames;
    drawing drawing;
} collection;

static void add(collection *c, const yk_shape *shape)
{
    /* Double the size, so that there are few copies. */
    if (c->shapes.count == c->shapes.capacity) {
        int capacity = 2 * c->shapes.capacity + 64;
        drawing_shape *grown = realloc(c->shapes.list, (size_t)capacity * sizeof *grown);
        if (!grown) {
            c->shapes.failed = true;
            return;
        }

        c->shapes.list = grown;
        c->shapes.capacity = capacity;
    }

    c->shapes.list[c->shapes.count++] = (drawing_shape){.shape = *shape, .part = c->shapes.part};
}

/* An edge between two points in the axes of a shape in its present pose. */
static void add_edge(collection *c, const yk_shape *shape, yk_vec3 from, yk_vec3 end)
{
    yk_shape edge = {.kind = YK_SHAPE_THIN_LINE, .orientation = yk_q_identity()};
    edge.position = yk_v3_add(shape->position, yk_q_rotate(shape->orientation, from));
    edge.size = yk_q_rotate(shape->orientation, yk_v3_sub(end, from));
    add(c, &edge);
}

static void add_shape(collection *c, const yk_transform *transform, const yk_shape *shape,
                      const yk_scene_pose *poses)
{
    /* Its pose: from the axes of its body to those of the subsystem and of the system. */
    static const yk_scene_pose ground = {.orientation = {1, 0, 0, 0}};
    const yk_scene_pose *on = shape->body < 0 ? &ground : &poses[shape->body];
    if (!yk_v3_finite(on->position))
        return; /* the body is absent */
    yk_vec3 position = yk_v3_add(on->position, yk_q_rotate(on->orientation, shape->position));
    yk_quat orientation = yk_q_mul(on->orientation, shape->orientation);

    yk_shape moved = *shape;
    moved.position = to_system(transform, position);
    moved.orientation = yk_q_mul(transform->orientation, orientation);
    moved.size = yk_v3_scale(transform->length_unit, shape->size);

    /* A line to another body is given in global axes. */
    if (shape->end_body != shape->body) {
        on = shape->end_body < 0 ? &ground : &poses[shape->end_body];
        yk_vec3 end = yk_v3_add(on->position, yk_q_rotate(on->orientation, shape->size));
        moved.orientation = yk_q_identity();
        moved.size = yk_v3_sub(to_system(transform, end), moved.position);
    }

    switch (shape->kind) {
    /* Both rims and four lines between them. */
    case YK_SHAPE_CYLINDER_CAVITY: {
        enum { SEGMENTS = 24 };
        double r = moved.size.x;
        double z = moved.size.z;
        for (int i = 0; i < SEGMENTS; i++) {
            double a = 2 * YK_PI * i / SEGMENTS;
            double b = 2 * YK_PI * (i + 1) / SEGMENTS;
            yk_vec3 from = {r * cos(a), r * sin(a), -z};
            yk_vec3 end = {r * cos(b), r * sin(b), -z};
            yk_vec3 above = {from.x, from.y, z};
            add_edge(c, &moved, from, end);
            add_edge(c, &moved, above, yk_v3(end.x, end.y, z));
            if (i % 6 == 0)
                add_edge(c, &moved, from, above);
        }
        break;
    }

    /* Its twelve edges. */
    case YK_SHAPE_BOX_CAVITY: {
        static const int side[2] = {-1, 1};
        const double half[3] = {moved.size.x, moved.size.y, moved.size.z};
        for (int edge = 0; edge < 12; edge++) {
            /* Four along each axis, between the sides of the two others. */
            int along = edge / 4;
            int u = (along + 1) % 3;
            int w = (along + 2) % 3;
            double from[3];
            from[along] = -half[along];
            from[u] = side[edge & 1] * half[u];
            from[w] = side[edge >> 1 & 1] * half[w];

            double end[3] = {from[0], from[1], from[2]};
            end[along] = half[along];
            add_edge(c, &moved, yk_v3(from[0], from[1], from[2]), yk_v3(end[0], end[1], end[2]));
        }
        break;
    }

    /* Without faces, connect every point with every other. */
    case YK_SHAPE_HULL:
        for (int i = 0; i < shape->point_count; i++) {
            yk_vec3 from = yk_v3_scale(transform->length_unit, shape->points[i]);
            for (int k = 0; k < i; k++)
                add_edge(c, &moved, from, yk_v3_scale(transform->length_unit, shape->points[k]));
        }
        break;

    /* Thin lines between two bodies are springs and dampers. */
    case YK_SHAPE_LINE:
    case YK_SHAPE_THIN_LINE:
        if (yk_v3_norm(moved.size) > 0)
            add(c, &moved);
        if (shape->kind == YK_SHAPE_THIN_LINE && shape->end_body != shape->body &&
            c->shapes.count > 0)
            c->shapes.list[c->shapes.count - 1].is_spring = true;
        break;

    /* A rod that comes out of a barrel. */
    case YK_SHAPE_ACTUATOR: {
        yk_shape barrel = moved;
        barrel.kind = YK_SHAPE_LINE;
        barrel.size = yk_v3_scale(0.55, moved.size);
        moved.kind = YK_SHAPE_THIN_LINE;
        add(c, &moved);
        if (yk_v3_norm(barrel.size) > 0)
            add(c, &barrel);
        break;
    }

    /* svg.c draws these unchanged. */
    case YK_SHAPE_SPHERE:
    case YK_SHAPE_BOX:
    case YK_SHAPE_CYLINDER:
    case YK_SHAPE_CAPSULE:
    case YK_SHAPE_ELLIPSOID:
    case YK_SHAPE_PLANE:
    case YK_SHAPE_JOINT: add(c, &moved); break;
    }
}

/* Adds the shapes of a subsystem that has a scene, or of the given part of a merged one, where they are now. False when out of
 * memory. */
static bool add_shapes(collection *c, int index, const yk_subsystem *shown, int part,
                       const yk_transform *transform)
{
    const yk_scene_ops *scene = shown->ops->scene;
    int count = scene->shapes(shown, NULL, 0);
    int bodies = scene->bodies(shown, NULL, 0);
    yk_scene_body *owners = calloc((size_t)bodies + 1, sizeof *owners);
    yk_scene_pose *poses = calloc((size_t)bodies + 1, sizeof *poses);
    yk_shape *shapes = calloc((size_t)count + 1, sizeof *shapes);
    c->shapes.part = index;
    c->shapes.failed = !owners || !poses || !shapes;
    if (!c->shapes.failed) {
        scene->bodies(shown, owners, bodies);
        scene->poses(shown, poses);
        scene->shapes(shown, shapes, count);
    }
    for (int k = 0; k < count && !c->shapes.failed; k++) {
        int owner = shapes[k].body < 0 ? 0 : owners[shapes[k].body].part_index;
        if (owner == part)
            add_shape(c, transform, &shapes[k], poses);
    }

    free(owners);
    free(poses);
    free(shapes);
    return !c->shapes.failed;
}

/* False when out of memory. */
static bool collect(const yk_scenario_info *info, collection *c)
{
    /* Every port may become a mark, every interface and wire a link. */
    int ports = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_port *list;
        ports += info->subsystems[i]->ops->ports(info->subsystems[i], &list);
    }

    int links = info->interface_count + info->wire_count;
    c->parts = calloc((size_t)info->subsystem_count + 1, sizeof *c->parts);
    c->marks = calloc((size_t)ports + 1, sizeof *c->marks);
    c->links = calloc((size_t)links + 1, sizeof *c->links);
    c->names = calloc((size_t)ports + 1, sizeof *c->names);
    if (!c->parts || !c->marks || !c->links || !c->names)
        return false;

    for (int i = 0; i < info->subsystem_count; i++) {
        /* Each subsystem is initialized alone, so that the picture does not depend on a scheme; if
         * that fails, it is drawn as defined. */
        yk_subsystem *part = info->subsystems[i];
        const yk_scene_ops *scene = part->ops->scene;
        part->ops->initialize(part, info->start, info->step, NULL);

        int count = 0;
        if (scene)
            count = scene->shapes(part, NULL, 0);
        c->parts[i] =
            (drawing_part){info->subsystem_names[i], info->subsystem_solvers[i], count > 0};
        if (count == 0)
            continue;

        if (!add_shapes(c, i, part, 0, &info->transforms[i]))
            return false;

        /* Its markers. The two sides of an interface are at one point, so it is marked once, at the
         * wrench side. */
        const yk_port *list;
        int port_count = part->ops->ports(part, &list);
        for (int port = 0; port < port_count; port++) {
            if (list[port].kind != YK_PORT_MARKER)
                continue;

            const yk_interface_def *interface = NULL;
            for (int k = 0; k < info->interface_count && !interface; k++) {
                const yk_interface_def *one = &info->interfaces[k];
                if ((one->wrench_subsystem.index == i && one->wrench_port.index == port) ||
                    (one->motion_subsystem.index == i && one->motion_port.index == port))
                    interface = one;
            }

            if (interface && interface->wrench_subsystem.index != i)
                continue;

            /* Names of interfaces are unique; those of ports belong to their subsystem. */
            int index = c->drawing.mark_count++;
            drawing_mark *mark = &c->marks[index];
            mark->name = c->names[index];
            if (interface) {
                mark->kind = MARK_INTERFACE;
                snprintf(c->names[index], sizeof *c->names, "%s", interface->name);
            } else {
                mark->kind = MARK_PORT;
                snprintf(c->names[index], sizeof *c->names, "%s.%s", info->subsystem_names[i],
                         list[port].name);
            }

            yk_port_value value = {0};
            part->ops->get_port_value(part, port, &value);
            mark->position = to_system(&info->transforms[i], value.motion.position);
        }
    }

    /* Interfaces and wires, for the diagram. */
    drawing *d = &c->drawing;
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *one = &info->interfaces[i];
        const char *name = one->name ? one->name : "";
        c->links[d->link_count++] =
            (drawing_link){one->wrench_subsystem.index, one->motion_subsystem.index, false, name};
    }

    for (int i = 0; i < info->wire_count; i++) {
        const yk_wire_def *wire = &info->wires[i];
        const char *name = wire->name ? wire->name : "";
        c->links[d->link_count++] =
            (drawing_link){wire->source_subsystem.index, wire->target_subsystem.index, true, name};
    }

    /* The collection owns the data of the drawing. */
    d->title = scenario_title(info);
    d->parts = c->parts;
    d->part_count = info->subsystem_count;
    d->shapes = c->shapes.list;
    d->shape_count = c->shapes.count;
    d->marks = c->marks;
    d->links = c->links;
    return true;
}

/* Collects the shapes of all subsystems as they are now. False when out of memory. */
static bool collect_frame(const yk_system *system, const yk_scenario_info *info, collection *c,
                          drawing_frame *frame)
{
    frame->first = c->shapes.count;
    for (int i = 0; i < info->subsystem_count; i++) {
        /* A merged subsystem has the shapes of several. */
        int part;
        yk_transform transform;
        const yk_subsystem *shown =
            yk_system_visible_subsystem(system, (yk_subsystem_id){i}, &part, &transform);
        if (shown && shown->ops->scene && !add_shapes(c, i, shown, part, &transform))
            return false;
    }
    frame->count = c->shapes.count - frame->first;
    return true;
}

/* Runs a scenario and collects so many frames at even times. An interrupt ends the picture with the frames that there are. A
 * run that fails is shown up to its failure, with the reason on stderr. Returns an exit code, after a message if it is not
 * EXIT_GOOD. */
static int collect_run(const char *path, const option_list *sets, int frames, collection *c)
{
    loaded l;
    if (!load_scenario(path, sets, LOAD_AGAIN, &l))
        return l.code;

    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    yk_system *system;
    yk_status status = yk_scenario_system(l.scenario, &system);
    if (status == YK_OK)
        status = yk_system_initialize(system);
    if (YK_FAILED(status)) {
        int code = print_failure(l.context);
        close_scenario(&l);
        return code;
    }

    catch_interrupts();
    drawing *d = &c->drawing;
    c->shapes.count = 0;
    c->frames = calloc((size_t)frames, sizeof *c->frames);
    bool complete = c->frames != NULL;
    double last = info->start;
    while (complete && d->frame_count < frames && !YK_FAILED(status)) {
        complete = collect_frame(system, info, c, &c->frames[d->frame_count]);
        if (!complete)
            break;

        d->frame_count++;
        last = yk_system_time(system);
        char noun[] = "frame";
        if (!show_count(noun, d->frame_count, frames))
            break;
        double part = (double)d->frame_count / frames;
        if (d->frame_count < frames)
            status = yk_system_run_until(system, info->start + part * (info->end - info->start));
    }
    clear_progress();
    if (!complete)
        print_no_memory();
    else if (YK_FAILED(status))
        print_failure(l.context);

    /* In real time, unless that is too fast or too slow to look at. */
    d->frames = c->frames;
    d->shapes = c->shapes.list;
    d->shape_count = c->shapes.count;
    d->duration = fmin(fmax(last - info->start, 2), 12);
    close_scenario(&l);
    return complete ? EXIT_GOOD : EXIT_FAILED;
}

/* Writes the picture to a file (NULL: standard output); returns the exit code. */
static int write_drawing(yk_context *context, const drawing *picture,
                         const drawing_options *options, const char *file)
{
    if (!file) {
        if (drawing_write(picture, options, stdout) && fflush(stdout) == 0)
            return EXIT_GOOD;
        print_unwritable("-");
        return EXIT_FAILED;
    }

    char *svg = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&svg, &length);
    bool written = stream && drawing_write(picture, options, stream);
    if (stream && fclose(stream) != 0)
        written = false;

    int code = EXIT_GOOD;
    if (!written) {
        print_no_memory();
        code = EXIT_FAILED;
    } else if (picture_write_svg(context, file, svg, length) != YK_OK) {
        code = print_failure(context);
    } else {
        print_picture(file);
    }
    free(svg);
    return code;
}

int command_draw(int argc, char **argv)
{
    static const char *const views[] = {"auto", "x", "y", "z", "iso", NULL};
    static const char *const axes[] = {"x", "y", "z", NULL};
    option_list sets = {0};
    const char *file = "model.svg";
    const char *view = "auto";
    const char *up = NULL;
    int frames = 0;
    drawing_options options = drawing_default();

    const option_row rows[] = {
        {"output", OPTION_TEXT, &file, "FILE",
         "Write the picture to FILE, whose name ends in .svg, .png or .pdf, or as SVG to standard "
         "output if it is - (default: model.svg)"},
        {"view", OPTION_TEXT, &view, "VIEW",
         "Look along x, y or z, or use iso or auto (default: auto)"},
        {"up", OPTION_TEXT, &up, "AXIS",
         "Let x, y or z point up (default: opposite to gravity, otherwise z)"},
        {"labels", OPTION_FLAG, &options.names, NULL, "Label ports and interfaces"},
        {"no-annotations", OPTION_FLAG, &options.bare, NULL, "Omit title, legend and scale"},
        {"frames", OPTION_COUNT, &frames, "N",
         "Run the scenario and draw it as a moving picture of N frames, in real time between 2 and "
         "12 s"},
        {"width", OPTION_NUMBER, &options.width, "PIXELS", "Set the width (default: 800)"},
        SET_ROW(&sets),
        RENAMED_ROW("names", "labels"),
        RENAMED_ROW("bare", "no-annotations"),
        {.kind = OPTION_END},
    };

    const char *path;
    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    bool to_file = strcmp(file, "-") != 0;
    if (to_file && !picture_is_named("--output", file))
        return EXIT_MISUSE;

    /* The words of the options. */
    int index;
    if (!options_pick("view", view, views, &index))
        return EXIT_MISUSE;
    options.view = index;
    if (up && !options_pick("up", up, axes, &options.up))
        return EXIT_MISUSE;

    if (frames > 0 && to_file && picture_is_still(file)) {
        print_err("yoke: --frames: %s cannot hold a moving picture; let the name end in .svg\n",
                  file);
        return EXIT_MISUSE;
    }
    if (frames > 1000) {
        print_err("yoke: --frames %d: give at most 1000\n", frames);
        return EXIT_MISUSE;
    }
    if (!(options.width >= 100 && options.width <= 10000)) {
        print_err("yoke: --width %g: give 100 to 10000 pixels\n", options.width);
        return EXIT_MISUSE;
    }

    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_RUN, &l))
        return l.code;

    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);

    /* Up is opposite to the gravity of the first subsystem that has one; z if there is none. */
    bool found = up != NULL;
    if (!found)
        options.up = 2;
    for (int i = 0; i < info->subsystem_count && !found; i++) {
        const yk_subsystem *part = info->subsystems[i];
        if (!part->ops->scene)
            continue;

        yk_vec3 g = yk_q_rotate(info->transforms[i].orientation, part->ops->scene->gravity(part));
        found = yk_v3_norm(g) != 0;
        if (fabs(g.x) > fabs(g.z))
            options.up = 0;
        if (fabs(g.y) > fmax(fabs(g.x), fabs(g.z)))
            options.up = 1;
    }

    /* Collect the content first, so that a failure leaves no file. */
    collection c = {0};
    int code = EXIT_FAILED;
    if (!collect(info, &c))
        print_no_memory();
    else
        code = frames > 0 ? collect_run(path, &sets, frames, &c) : EXIT_GOOD;
    if (code == EXIT_GOOD)
        code = write_drawing(l.context, &c.drawing, &options, to_file ? file : NULL);

    free(c.parts);
    free(c.shapes.list);
    free(c.marks);
    free(c.links);
    free(c.names);
    free(c.frames);
    close_scenario(&l);
    return code;
}
