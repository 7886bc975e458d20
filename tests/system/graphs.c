#include "graphs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

const char *const graph_names[GRAPH_KIND_COUNT] = {"chain", "ring", "tree", "star", "grid"};

static const double PI = 3.14159265358979323846;

typedef struct placement {
    double x, y, angle; /* m, m, rad about z */
} placement;

static int column_count(const graph_def *def)
{
    return (int)ceil(sqrt(def->parts));
}

static placement place(const graph_def *def, int part)
{
    double angle = 2 * PI * part / def->parts;
    double radius = 0.5 / tan(PI / def->parts);
    switch (def->kind) {
    case GRAPH_RING: return (placement){radius * cos(angle), radius * sin(angle), angle + PI / 2};
    case GRAPH_STAR:
        if (part == 0)
            return (placement){0, 0, 0};
        return (placement){1.5 * cos(angle), 1.5 * sin(angle), angle};
    case GRAPH_TREE: return (placement){floor(log2(part + 1)) + 0.5, 0, 0};
    case GRAPH_GRID: {
        int columns = column_count(def);
        return (placement){part % columns, -(double)(part / columns), 0};
    }
    default: return (placement){part + 0.5, 0, 0};
    }
}

/* The part that holds this one; -1: none. */
static int parent_of(const graph_def *def, int part)
{
    switch (def->kind) {
    case GRAPH_TREE: return part == 0 ? -1 : (part - 1) / 2;
    case GRAPH_STAR: return part == 0 ? -1 : 0;
    default: return part - 1;
    }
}

static void write_arm(FILE *out, const char *name, const placement *at, double x, double y)
{
    fprintf(out, "      %s: {mass: 0.2, inertia: [0.02, 0.02, 0.02], position: [%g, %g, 0]}\n",
            name, at->x + x, at->y + y);
}

static void write_bushing(FILE *out, const char *name, double x, double y)
{
    fprintf(out,
            "      hold_%s: {type: bushing, between: [body, %s], at: [%.15g, %.15g, 0], "
            "stiffness: [1e4, 1e4, 1e4, 1e3, 1e3, 1e3], damping: [20, 20, 20, 2, 2, 2]}\n",
            name, name, x, y);
}

static void write_part(FILE *out, const graph_def *def, int part)
{
    placement at = place(def, part);
    double mass = part % 2 ? def->mass_ratio : 1;
    fprintf(out,
            "  - name: part_%d\n    solver: multibody\n    gravity: [0, -9.81, 0]\n    bodies:\n"
            "      body: {mass: %g, inertia: [%g, %g, %g], position: [%.15g, %.15g, 0], "
            "orientation: {axis: [0, 0, 1], angle: %.15g}}\n",
            part, mass, 0.1 * mass, 0.1 * mass, 0.1 * mass, at.x, at.y, at.angle);

    if (def->kind == GRAPH_GRID) {
        write_arm(out, "right", &at, 1, 0);
        write_arm(out, "down", &at, 0, -1);
        fprintf(out, "    forces:\n");
        write_bushing(out, "right", at.x + 1, at.y);
        write_bushing(out, "down", at.x, at.y - 1);
    }

    /* The first part is held by the ground. */
    if (part == 0)
        fprintf(out,
                "    joints: {ground: {type: %s, between: [ground, body], at: [%.15g, 0, 0]}}\n",
                def->kind == GRAPH_CHAIN || def->kind == GRAPH_TREE ? "revolute" : "fixed",
                def->kind == GRAPH_CHAIN || def->kind == GRAPH_TREE ? 0 : at.x);

    fprintf(out, "    ports:\n");
    if (def->kind == GRAPH_GRID) {
        fprintf(out, "      from_left: {body: body}\n      from_above: {body: body}\n"
                     "      right: {body: right}\n      down: {body: down}\n");
        return;
    }
    fprintf(out, "      start: {body: body, offset: [-0.5, 0, 0]}\n");
    if (def->kind != GRAPH_STAR || part > 0)
        fprintf(out, "      end: {body: body, offset: [0.5, 0, 0]}\n");
    if (def->kind == GRAPH_TREE)
        fprintf(out, "      other: {body: body, offset: [0.5, 0, 0]}\n");
    for (int i = 1; def->kind == GRAPH_STAR && part == 0 && i < def->parts; i++) {
        placement rod = place(def, i);
        fprintf(out, "      end_%d: {body: body, offset: [%.15g, %.15g, 0]}\n", i, cos(rod.angle),
                sin(rod.angle));
    }
}

static void write_interface(FILE *out, int part, const char *port, int other,
                            const char *other_port, const char *joint)
{
    fprintf(out, "  - {name: %s_%d_%d, between: [part_%d.%s, part_%d.%s], joint: %s}\n", joint,
            other, part, part, port, other, other_port, joint);
}

static void write_interfaces(FILE *out, const graph_def *def)
{
    int columns = column_count(def);
    for (int i = 0; i < def->parts; i++) {
        int parent = parent_of(def, i);
        char port[32] = "end";
        if (def->kind == GRAPH_GRID) {
            if (i % columns > 0)
                write_interface(out, i, "from_left", i - 1, "right", "fixed");
            if (i >= columns)
                write_interface(out, i, "from_above", i - columns, "down", "fixed");
            continue;
        }
        if (parent < 0)
            continue;
        if (def->kind == GRAPH_TREE && i % 2 == 0)
            snprintf(port, sizeof port, "other");
        if (def->kind == GRAPH_STAR)
            snprintf(port, sizeof port, "end_%d", i);
        bool hinge = def->kind == GRAPH_CHAIN || def->kind == GRAPH_STAR;
        write_interface(out, i, "start", parent, port, hinge ? "revolute" : "spherical");
    }
    if (def->kind == GRAPH_RING)
        write_interface(out, 0, "start", def->parts - 1, "end", "spherical");
}

char *graph_text(const graph_def *def)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;

    fprintf(out, "time: {end: %g, step: %g}\nsubsystems:\n", 10 * def->step, def->step);
    for (int i = 0; i < def->parts; i++)
        write_part(out, def, i);
    fprintf(out, "interfaces:\n");
    write_interfaces(out, def);
    fprintf(out, "coupling: %s\nrecord: {channels: [part_0.body.position]}\n", def->coupling);
    if (fclose(out) != 0)
        return NULL;
    return text;
}
