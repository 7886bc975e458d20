/* yoke draw: the model of a scenario at its start, as a picture. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "drawing.h"
#include "math/vec3.h"
#include "scenario.h"

static const char usage[] =
    "draw SCENARIO [-o FILE.svg] [--view iso] [--names]\n\n"
    "Draws the model at its start as SVG: bodies, beams and particles, a colour per subsystem; "
    "joints as white circles, free\n"
    "ports as dots, interfaces as diamonds. Flat models are seen along the axis in which they "
    "are thin, others from above\n"
    "and aside. Subsystems without a place in space, such as oscillators, hydraulics and "
    "controllers, stand as blocks below.";

/* What is drawn, and who owns it. */
typedef struct collection {
    drawing_part *parts;
    drawing_shape *shapes;
    drawing_mark *marks;
    drawing_link *links;
    char (*names)[96]; /* of marks and links */
    int name_count;
    drawing drawing;
} collection;

static yk_vec3 to_system(const yk_transform *p, yk_vec3 x)
{
    return yk_v3_add(p->position, yk_q_rotate(p->orientation, yk_v3_scale(p->length, x)));
}

/* Appends the shapes of a subsystem in the system's axes and units; false when out of memory. */
static bool add_shapes(collection *c, const yk_scenario_info *info, int i)
{
    const yk_subsystem *part = info->subsystems[i];
    const yk_transform *to = &info->transforms[i];
    int count = part->ops->shapes(part, NULL, 0);
    yk_shape *list = calloc((size_t)count + 1, sizeof *list);
    int before = c->drawing.shape_count;
    drawing_shape *grown = realloc(c->shapes, ((size_t)before + (size_t)count + 1) * sizeof *grown);
    if (grown)
        c->shapes = grown;
    if (!list || !grown) {
        free(list);
        return false;
    }

    part->ops->shapes(part, list, count);
    for (int k = 0; k < count; k++) {
        yk_shape s = list[k];
        s.position = to_system(to, s.position);
        s.orientation = yk_q_mul(to->orientation, s.orientation);
        s.size = yk_v3_scale(to->length, s.size);
        c->shapes[before + k] = (drawing_shape){.shape = s, .part = i};
    }
    c->drawing.shape_count = before + count;
    free(list);
    return true;
}

static int find_interface(const yk_scenario_info *info, int subsystem, int port)
{
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *face = &info->interfaces[i];
        if (face->wrench_subsystem == subsystem && face->wrench_port == port)
            return i;
        if (face->motion_subsystem == subsystem && face->motion_port == port)
            return i;
    }
    return -1;
}

/* Marker ports of a subsystem. An interface is marked at the side that takes the force, which is
 * drawn as its other side is. */
static void add_marks(collection *c, const yk_scenario_info *info, int i)
{
    const yk_subsystem *part = info->subsystems[i];
    const yk_port *ports;
    int count = part->ops->ports(part, &ports);
    for (int k = 0; k < count; k++) {
        if (ports[k].kind != YK_PORT_MARKER)
            continue;
        int face = find_interface(info, i, k);
        if (face >= 0 && info->interfaces[face].wrench_subsystem != i)
            continue;

        yk_port_value value = {0};
        part->ops->output(part, k, &value);
        char *name = c->names[c->name_count++];
        if (face >= 0)
            snprintf(name, sizeof *c->names, "%s", info->interfaces[face].name);
        else
            snprintf(name, sizeof *c->names, "%s.%s", info->names[i], ports[k].name);
        c->marks[c->drawing.mark_count++] = (drawing_mark){
            .kind = face >= 0 ? MARK_INTERFACE : MARK_PORT,
            .position = to_system(&info->transforms[i], value.motion.position),
            .name = name,
        };
    }
}

static bool collect(const yk_scenario_info *info, collection *c)
{
    int ports = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_port *list;
        ports += info->subsystems[i]->ops->ports(info->subsystems[i], &list);
    }
    int links = info->interface_count + info->wire_count;
    c->parts = calloc((size_t)info->subsystem_count + 1, sizeof *c->parts);
    c->marks = calloc((size_t)ports + 1, sizeof *c->marks);
    c->links = calloc((size_t)links + 1, sizeof *c->links);
    c->names = calloc((size_t)(ports + links) + 1, sizeof *c->names);
    if (!c->parts || !c->marks || !c->links || !c->names)
        return false;

    /* Each subsystem begins alone, so that the picture depends on no scheme; where it cannot, it
     * is drawn as it was defined. */
    drawing *d = &c->drawing;
    for (int i = 0; i < info->subsystem_count; i++) {
        yk_subsystem *part = info->subsystems[i];
        part->ops->start(part, info->start, info->step, NULL);
        bool in_space = part->ops->shapes && part->ops->shapes(part, NULL, 0) > 0;
        c->parts[i] = (drawing_part){info->names[i], info->solvers[i], in_space};
        if (!in_space)
            continue;
        if (!add_shapes(c, info, i))
            return false;
        add_marks(c, info, i);
    }

    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *face = &info->interfaces[i];
        c->links[d->link_count++] = (drawing_link){face->wrench_subsystem, face->motion_subsystem,
                                                   false, face->name ? face->name : ""};
    }
    for (int i = 0; i < info->wire_count; i++) {
        const yk_wire_def *wire = &info->wires[i];
        c->links[d->link_count++] = (drawing_link){wire->source_subsystem, wire->target_subsystem,
                                                   true, wire->name ? wire->name : ""};
    }

    d->title = *info->title ? info->title : info->path;
    d->parts = c->parts;
    d->part_count = info->subsystem_count;
    d->shapes = c->shapes;
    d->marks = c->marks;
    d->links = c->links;
    return true;
}

/* The axis that points against the gravity of the first subsystem that has one; z if none has. */
static int find_up(yk_context *context, const yk_scenario *scenario)
{
    int up = 2;
    char *text = yk_scenario_text(scenario);
    const char *at = text ? strstr(text, "gravity:") : NULL;
    double g[3];
    if (at && sscanf(at, "gravity: - %lf - %lf - %lf", &g[0], &g[1], &g[2]) == 3)
        for (int k = 0; k < 3; k++)
            if (fabs(g[k]) > fabs(g[up]))
                up = k;
    yk_release(context, text);
    return up;
}

int command_draw(int argc, char **argv)
{
    static const char *const views[] = {"auto", "x", "y", "z", "iso", NULL};
    static const char *const axes[] = {"x", "y", "z", NULL};
    option_list sets = {0};
    const char *file = "model.svg", *view = "auto", *up = NULL;
    drawing_options options = drawing_default();
    const option_row rows[] = {
        {"o", OPTION_TEXT, &file, "FILE", "the picture; - is the standard output [model.svg]"},
        {"view", OPTION_TEXT, &view, "VIEW", "x, y, z (along that axis), iso, or auto [auto]"},
        {"up", OPTION_TEXT, &up, "AXIS",
         "x, y or z: the axis that points up [against gravity, else z]"},
        {"names", OPTION_FLAG, &options.names, NULL,
         "write the names of ports and interfaces beside them"},
        {"bare", OPTION_FLAG, &options.bare, NULL, "the model alone: no title, legend and scale"},
        {"width", OPTION_NUMBER, &options.width, "DOTS", "width of the picture [800]"},
        {"set", OPTION_LIST, &sets, "PATH=VALUE", "override a value of the scenario"},
        {.kind = OPTION_END},
    };
    const char *path;
    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    int index;
    if (!options_pick("view", view, views, &index))
        return EXIT_MISUSE;
    options.view = (drawing_view)index;
    if (up && !options_pick("up", up, axes, &options.up))
        return EXIT_MISUSE;
    if (!(options.width >= 100 && options.width <= 10000)) {
        fprintf(stderr, "yoke: --width %g: ask for 100 to 10000 dots\n", options.width);
        return EXIT_MISUSE;
    }

    loaded l;
    if (!load_scenario(path, &sets, &l))
        return EXIT_MISUSE;
    if (!up)
        options.up = find_up(l.context, l.scenario);

    bool to_file = strcmp(file, "-") != 0;
    collection c = {0};
    int code = EXIT_FAILED;
    FILE *out = NULL;
    if (!collect(yk_scenario_get(l.scenario), &c)) {
        fprintf(stderr, "yoke: out of memory\n");
    } else if (!(out = to_file ? fopen(file, "w") : stdout)) {
        fprintf(stderr, "yoke: cannot write %s: %s\n", file, strerror(errno));
    } else {
        bool written = drawing_write(&c.drawing, &options, out);
        if (to_file && fclose(out) != 0)
            written = false;
        if (!written)
            fprintf(stderr, "yoke: cannot write %s: %s\n", file, strerror(errno));
        if (written && to_file)
            printf("picture %s\n", file);
        if (written)
            code = EXIT_GOOD;
    }
    free(c.parts);
    free(c.shapes);
    free(c.marks);
    free(c.links);
    free(c.names);
    close_scenario(&l);
    return code;
}
