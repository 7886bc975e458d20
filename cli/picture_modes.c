/* Mode shapes as stick figures. Points of the model are nodes and the markers of joints on them;
 * lines are the beams and the arms from nodes to markers. */
#include <math.h>

#include "pictures.h"

enum { PANELS_MAX = 12 };

/* A point fixed to a node. */
typedef struct stick_point {
    int node;
    yk_vec3 position, arm; /* at the state of the modes; arm from the node to the point */
} stick_point;

typedef struct figure {
    int count;              /* lines */
    stick_point (*line)[2]; /* their ends */
    double low[3], high[3]; /* the box around it */
    double size;            /* its largest edge */
} figure;

static double component(yk_vec3 v, int axis)
{
    return (&v.x)[axis];
}

static stick_point point_on(const yk_smooth *model, int node, yk_vec3 offset)
{
    yk_motion motion;
    yk_marker origin = yk_marker_default();
    yk_marker marker = {.offset = offset, .orientation = {1, 0, 0, 0}};
    yk_smooth_marker_motion(model, node, &marker, &motion);

    yk_vec3 position = motion.position;
    yk_smooth_marker_motion(model, node, &origin, &motion);
    return (stick_point){node, position, yk_v3_sub(position, motion.position)};
}

static void add_line(figure *f, stick_point a, stick_point b)
{
    if (yk_v3_norm(yk_v3_sub(a.position, b.position)) == 0)
        return;

    f->line[f->count][0] = a;
    f->line[f->count++][1] = b;
}

static yk_status make_figure(yk_context *context, const yk_smooth *model, figure *f)
{
    const yk_smooth_description *def = yk_smooth_definition(model);
    const yk_vec3 none = {0, 0, 0};

    *f = (figure){0};
    size_t most = 2 * (size_t)(def->joint_count + def->beam_count) + (size_t)def->force_count + 1;
    most += (size_t)def->attachment_count;
    f->line = yk_allocate(context, most, sizeof *f->line);
    if (!f->line)
        return YK_ERROR_MEMORY;

    /* Two lines per beam: its middle node may lie beside the line between the ends. */
    for (int i = 0; i < def->beam_count; i++) {
        const yk_smooth_beam_def *beam = &def->beams[i];
        stick_point points[3];
        for (int k = 0; k < 3; k++)
            points[k] = point_on(model, beam->node[k], beam->offset[k]);
        add_line(f, points[0], points[1]);
        add_line(f, points[1], points[2]);
    }

    /* Flexible bodies from node to node; a modal one begins at its floating frame. */
    for (int i = 0; i < def->attachment_count; i++) {
        int flexible = def->attachments[i].flexible;
        int node = def->node_count + i;
        bool first = i == 0 || def->attachments[i - 1].flexible != flexible;
        bool modal = def->flexibles[flexible].body->kind == YK_FLEXIBLE_MODAL;
        if (!first)
            add_line(f, point_on(model, node - 1, none), point_on(model, node, none));
        if (first && modal)
            add_line(f, point_on(model, def->flexibles[flexible].node, none),
                     point_on(model, node, none));
    }

    /* The arms of joints, and forces between two bodies. */
    for (int i = 0; i < def->joint_count; i++) {
        const yk_joint_def *joint = &def->joints[i];
        for (int side = 0; side < 2; side++) {
            int node = joint->body[side];
            if (node == YK_GROUND)
                continue;

            add_line(f, point_on(model, node, none),
                     point_on(model, node, joint->marker[side].offset));
        }
    }

    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        if (!yk_force_on_both(force->kind))
            continue;

        add_line(f, point_on(model, force->body[0], force->marker[0].offset),
                 point_on(model, force->body[1], force->marker[1].offset));
    }

    /* The box around it. */
    for (int axis = 0; axis < 3; axis++) {
        f->low[axis] = INFINITY;
        f->high[axis] = -INFINITY;
        for (int i = 0; i < 2 * f->count; i++) {
            double x = component(f->line[i / 2][i % 2].position, axis);
            f->low[axis] = fmin(f->low[axis], x);
            f->high[axis] = fmax(f->high[axis], x);
        }

        f->size = fmax(f->size, f->high[axis] - f->low[axis]);
    }

    return YK_OK;
}

static yk_vec3 displacement(const yk_modes *modes, int mode, const stick_point *point)
{
    if (point->node == YK_GROUND)
        return yk_v3(0, 0, 0);

    const double *shape = yk_modes_shape(modes, mode, point->node, false);
    yk_vec3 rotation = yk_v3(shape[3], shape[4], shape[5]);
    return yk_v3_add(yk_v3(shape[0], shape[1], shape[2]), yk_v3_cross(rotation, point->arm));
}

static double rotation_about(const yk_modes *modes, int mode, const stick_point *point, int axis)
{
    if (point->node == YK_GROUND)
        return 0;

    return yk_modes_shape(modes, mode, point->node, false)[3 + axis];
}

static int largest_of(const double values[3])
{
    int largest = 0;
    for (int axis = 1; axis < 3; axis++)
        if (values[axis] > values[largest])
            largest = axis;
    return largest;
}

yk_status picture_modes(yk_context *context, const char *base, const yk_smooth *model,
                        const yk_modes *modes)
{
    figure f;
    yk_status status = make_figure(context, model, &f);
    if (status != YK_OK)
        return status;

    int panels = modes->count < PANELS_MAX ? modes->count : PANELS_MAX;
    if (f.count == 0 || panels == 0) {
        yk_release(context, f.line);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "there is nothing to draw: no mode, or neither beams nor joints with arms");
    }

    /* Panels beside each other where they are many. */
    int columns = 1;
    if (panels > 2)
        columns = 2;
    if (panels > 6)
        columns = 3;
    int rows = (panels + columns - 1) / columns;

    yk_text script = {0};
    yk_text_add(context, &script,
                "set multiplot layout %d,%d\nset tics font ',9'\nset title font ',11'\n", rows,
                columns);
    yk_text_add(context, &script,
                "set xlabel offset 0,0.7 font ',10'\nset ylabel offset 1.5,0 font ',10'\n");

    /* A panel per mode, seen from where it moves most. */
    static const char *const names[3] = {"x", "y", "z"};
    for (int mode = 0; mode < panels; mode++) {
        /* How far it moves along the axes and turns about them, and how long the figure is. */
        double moves[3] = {0};
        double rotations[3] = {0};
        double edge[3];
        for (int axis = 0; axis < 3; axis++) {
            edge[axis] = f.high[axis] - f.low[axis];
            for (int i = 0; i < 2 * f.count; i++) {
                const stick_point *point = &f.line[i / 2][i % 2];
                double move = component(displacement(modes, mode, point), axis);
                double rotation = rotation_about(modes, mode, point, axis);
                moves[axis] = fmax(moves[axis], fabs(move));
                rotations[axis] = fmax(rotations[axis], fabs(rotation));
            }
        }

        /* The longest edge of the figure lies across. Where nothing moves but by rotation, its
         * angle goes up; else of the two other axes the one along which it moves more. */
        double most = moves[largest_of(moves)];
        double spin = rotations[largest_of(rotations)];
        int across = largest_of(edge);
        int first = (across + 1) % 3;
        int second = (across + 2) % 3;
        bool twist = most < 1e-6 * spin * f.size;
        int up = first;
        if (twist)
            up = largest_of(rotations);
        else if (moves[second] > moves[first])
            up = second;

        /* A mode that moves along its length alone is seen from its broad side. */
        bool moves_along = fmax(moves[first], moves[second]) < 1e-3 * most;
        if (!twist && moves_along)
            up = edge[second] > edge[first] ? second : first;

        /* The largest angle is 1, and the largest displacement an eighth of the figure, whatever
         * the mode is scaled by. */
        double scale = 0;
        if (twist && spin > 0)
            scale = 1 / spin;
        else if (!twist && most > 0)
            scale = 0.12 * f.size / most;

        /* The lines at rest and displaced. */
        for (int displaced = 0; displaced < 2; displaced++) {
            yk_text_add(context, &script, "$%s%d << EOD\n", displaced ? "mode" : "rest", mode);
            for (int i = 0; i < 2 * f.count; i++) {
                const stick_point *point = &f.line[i / 2][i % 2];
                yk_vec3 position = point->position;
                if (displaced && !twist)
                    position = yk_v3_axpy(scale, displacement(modes, mode, point), position);

                double height = component(position, up);
                if (twist)
                    height = 0;
                if (twist && displaced)
                    height = scale * rotation_about(modes, mode, point, up);

                yk_text_add(context, &script, "%.6g %.6g\n%s", component(position, across), height,
                            i % 2 ? "\n" : "");
            }
            yk_text_add(context, &script, "EOD\n");
        }

        /* Its frequency, or how it grows where it does not swing. */
        const yk_mode *m = &modes->mode[mode];
        yk_text_add(context, &script, "set title '%d: ", mode + 1);
        if (m->free_motion)
            yk_text_add(context, &script, "free'\n");
        else if (m->omega > 0)
            yk_text_add(context, &script, "%.6g Hz'\n", m->frequency);
        else
            yk_text_add(context, &script, "%.4g 1/s'\n", m->growth);

        /* The same part of space in all panels, so that modes can be compared. */
        double margin = 0.15 * f.size;
        yk_text_add(context, &script, "set xrange [%.6g:%.6g]\nset xlabel '%s in m'\n",
                    f.low[across] - margin, f.high[across] + margin, names[across]);
        if (twist)
            yk_text_add(context, &script,
                        "set yrange [-1.2:1.2]\nset ylabel 'rotation about %s (of its largest)'\n",
                        names[up]);
        else
            yk_text_add(context, &script, "set yrange [%.6g:%.6g]\nset ylabel '%s in m'\n",
                        f.low[up] - margin, f.high[up] + margin, names[up]);
        yk_text_add(context, &script,
                    "plot $rest%d with lines dashtype 2 linecolor rgb '#999999' notitle, $mode%d "
                    "with lines linewidth 2 linecolor rgb '#1f5fa8' notitle\n",
                    mode, mode);
    }
    yk_text_add(context, &script, "unset multiplot\n");

    yk_release(context, f.line);
    return gnuplot_draw(context, base, &script, 1);
}
