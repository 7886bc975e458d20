/* Mode shapes as stick figures. Points of the model are nodes and the markers of joints on them; lines are the beams
 * and the arms from nodes to markers. */
#include "analysis/plot_modes.h"

#include "base/text.h"
#include "yoke/analysis.h"

enum { PANELS_MAX = 12 };

/* A point fixed to a node. */
typedef struct stick_point {
    int node;
    yk_vec3 place, arm; /* at the state of the modes; arm from the node to the point */
} stick_point;

typedef struct figure {
    int count;              /* lines */
    stick_point (*line)[2]; /* their ends */
    yk_vec3 low, high;      /* the box around it */
    double size;            /* its largest edge */
} figure;

/* What one panel shows: axes 0 to 2 are x, y, z; a twist shows the angle about an axis over the place along another. */
typedef struct view {
    int across, up;
    bool twist;
    double scale; /* of displacements */
} view;

static stick_point point_on(const yk_smooth *model, int node, yk_vec3 offset)
{
    yk_motion motion;
    yk_marker origin = yk_marker_default(), marker = {.offset = offset, .orientation = {1, 0, 0, 0}};
    yk_smooth_marker_motion(model, node, &marker, &motion);
    yk_vec3 place = motion.position;
    yk_smooth_marker_motion(model, node, &origin, &motion);
    return (stick_point){node, place, yk_v3_sub(place, motion.position)};
}

static void add_line(figure *f, stick_point a, stick_point b)
{
    if (yk_v3_norm(yk_v3_sub(a.place, b.place)) == 0) return;
    f->line[f->count][0] = a;
    f->line[f->count++][1] = b;
}

static yk_status make_figure(yk_context *context, const yk_smooth *model, figure *f)
{
    const yk_smooth_def *def = yk_smooth_definition(model);
    yk_vec3 none = {0, 0, 0};
    *f = (figure){0};
    size_t most = 2 * (size_t)(def->joint_count + def->beam_count) + (size_t)def->force_count + 1;
    most += (size_t)def->place_count;
    f->line = yk_allocate(context, most, sizeof *f->line);
    if (!f->line) return YK_ERROR_MEMORY;
    for (int i = 0; i < def->beam_count; i++)
        for (int k = 0; k < 2; k++) {
            const yk_smooth_beam_def *beam = &def->beams[i];
            add_line(f, point_on(model, beam->node[k], beam->offset[k]),
                     point_on(model, beam->node[k + 1], beam->offset[k + 1]));
        }
    /* Flexible bodies from place to place; a modal one that has a single place from its floating frame. */
    for (int i = 0; i < def->place_count; i++) {
        int flexible = def->places[i].flexible, node = def->node_count + i;
        bool first = i == 0 || def->places[i - 1].flexible != flexible;
        bool modal = def->flexibles[flexible].body->kind == YK_FLEXIBLE_MODAL;
        if (!first) add_line(f, point_on(model, node - 1, none), point_on(model, node, none));
        if (first && modal)
            add_line(f, point_on(model, def->flexibles[flexible].node, none), point_on(model, node, none));
    }
    for (int i = 0; i < def->joint_count; i++)
        for (int side = 0; side < 2; side++) {
            const yk_smooth_joint_def *joint = &def->joints[i];
            if (joint->node[side] == YK_SMOOTH_GROUND) continue;
            add_line(f, point_on(model, joint->node[side], none),
                     point_on(model, joint->node[side], joint->marker[side].offset));
        }
    for (int i = 0; i < def->force_count; i++) {
        const yk_smooth_force_def *force = &def->forces[i];
        if (!yk_force_on_both(force->kind)) continue;
        add_line(f, point_on(model, force->node[0], force->marker[0].offset),
                 point_on(model, force->node[1], force->marker[1].offset));
    }
    return YK_OK;
}

static void measure(figure *f)
{
    f->low = yk_v3(INFINITY, INFINITY, INFINITY);
    f->high = yk_v3(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < f->count; i++)
        for (int end = 0; end < 2; end++)
            for (int axis = 0; axis < 3; axis++) {
                double x = (&f->line[i][end].place.x)[axis];
                double *low = &(&f->low.x)[axis], *high = &(&f->high.x)[axis];
                *low = fmin(*low, x), *high = fmax(*high, x);
            }
    for (int axis = 0; axis < 3; axis++) f->size = fmax(f->size, (&f->high.x)[axis] - (&f->low.x)[axis]);
}

static yk_vec3 displacement(const yk_modes *modes, int mode, const stick_point *point)
{
    if (point->node == YK_SMOOTH_GROUND) return yk_v3(0, 0, 0);
    const double *shape = yk_modes_shape(modes, mode, point->node, false);
    return yk_v3_add(yk_v3(shape[0], shape[1], shape[2]), yk_v3_cross(yk_v3(shape[3], shape[4], shape[5]), point->arm));
}

static double turn_about(const yk_modes *modes, int mode, const stick_point *point, int axis)
{
    return point->node == YK_SMOOTH_GROUND ? 0 : yk_modes_shape(modes, mode, point->node, false)[3 + axis];
}

/* The longest edge of the figure lies across; up goes what moves most, if it is not the same. */
static view choose_view(const figure *f, const yk_modes *modes, int mode)
{
    double moves[3] = {0}, turns[3] = {0}, edge[3];
    for (int axis = 0; axis < 3; axis++) {
        edge[axis] = (&f->high.x)[axis] - (&f->low.x)[axis];
        for (int i = 0; i < 2 * f->count; i++) {
            const stick_point *point = &f->line[i / 2][i % 2];
            yk_vec3 move = displacement(modes, mode, point);
            moves[axis] = fmax(moves[axis], fabs((&move.x)[axis]));
            turns[axis] = fmax(turns[axis], fabs(turn_about(modes, mode, point, axis)));
        }
    }
    view v = {0};
    for (int axis = 1; axis < 3; axis++)
        if (edge[axis] > edge[v.across]) v.across = axis;
    int first = (v.across + 1) % 3, second = (v.across + 2) % 3;
    double most = fmax(moves[0], fmax(moves[1], moves[2])), spin = fmax(turns[0], fmax(turns[1], turns[2]));
    v.twist = most < 1e-6 * spin * f->size;
    if (v.twist) {
        for (int axis = 1; axis < 3; axis++)
            if (turns[axis] > turns[v.up]) v.up = axis;
        v.scale = spin > 0 ? 1 / spin : 0;
        return v;
    }
    v.up = moves[second] > moves[first] ? second : first;
    if (fmax(moves[first], moves[second]) < 1e-3 * most) v.up = edge[second] > edge[first] ? second : first;
    v.scale = most > 0 ? 0.12 * f->size / most : 0;
    return v;
}

static void add_panel_data(yk_context *context, yk_text *script, const figure *f, const yk_modes *modes, int mode,
                           const view *v)
{
    for (int displaced = 0; displaced < 2; displaced++) {
        yk_text_add(context, script, "$%s%d << EOD\n", displaced ? "mode" : "rest", mode);
        for (int i = 0; i < 2 * f->count; i++) {
            const stick_point *point = &f->line[i / 2][i % 2];
            yk_vec3 place = point->place;
            if (displaced && !v->twist) place = yk_v3_axpy(v->scale, displacement(modes, mode, point), place);
            double up = (&place.x)[v->up];
            if (v->twist) up = displaced ? v->scale * turn_about(modes, mode, point, v->up) : 0;
            yk_text_add(context, script, "%.6g %.6g\n%s", (&place.x)[v->across], up, i % 2 ? "\n" : "");
        }
        yk_text_add(context, script, "EOD\n");
    }
}

static void add_panel(yk_context *context, yk_text *script, const figure *f, const yk_modes *modes, int mode)
{
    static const char *const names[3] = {"x", "y", "z"};
    const yk_mode *m = &modes->mode[mode];
    view v = choose_view(f, modes, mode);
    add_panel_data(context, script, f, modes, mode, &v);
    yk_text_add(context, script, "set title '%d: ", mode + 1);
    if (m->free_motion) {
        yk_text_add(context, script, "free'\n");
    } else if (m->omega > 0) {
        yk_text_add(context, script, "%.6g Hz'\n", m->frequency);
    } else {
        yk_text_add(context, script, "%.4g 1/s'\n", m->growth);
    }
    yk_text_add(context, script, "set xlabel '%s'\nset ylabel '%s%s'\n", names[v.across], v.twist ? "turn about " : "",
                names[v.up]);
    if (!v.twist) {
        double margin = 0.15 * f->size, low = (&f->low.x)[v.up] - margin, high = (&f->high.x)[v.up] + margin;
        yk_text_add(context, script, "set yrange [%.6g:%.6g]\n", low, high);
    } else {
        yk_text_add(context, script, "set yrange [-1.2:1.2]\n");
    }
    yk_text_add(context, script,
                "plot $rest%d with lines dashtype 2 linecolor rgb '#999999' notitle, $mode%d with lines linewidth 2 "
                "linecolor rgb '#1f5fa8' notitle\n",
                mode, mode);
}

yk_status yk_plot_modes(yk_context *context, const char *base, const yk_smooth *model, const yk_modes *modes)
{
    figure f;
    yk_status status = make_figure(context, model, &f);
    if (status != YK_OK) return status;
    measure(&f);
    int panels = modes->count < PANELS_MAX ? modes->count : PANELS_MAX;
    if (f.count == 0 || panels == 0) {
        yk_release(context, f.line);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "there is nothing to draw: no mode, or neither beams nor joints with arms");
    }
    int columns = panels <= 2 ? 1 : panels <= 6 ? 2 : 3, rows = (panels + columns - 1) / columns;
    yk_text script = {0};
    yk_text_add(context, &script, "set multiplot layout %d,%d\nset tics font ',9'\nset title font ',11'\n", rows,
                columns);
    yk_text_add(context, &script, "set xlabel offset 0,0.7 font ',10'\nset ylabel offset 1.5,0 font ',10'\n");
    for (int i = 0; i < panels; i++) {
        view v = choose_view(&f, modes, i);
        double low = (&f.low.x)[v.across], high = (&f.high.x)[v.across], margin = 0.15 * f.size;
        yk_text_add(context, &script, "set xrange [%.6g:%.6g]\n", low - margin, high + margin);
        add_panel(context, &script, &f, modes, i);
    }
    yk_text_add(context, &script, "unset multiplot\n");
    status = script.failed ? YK_ERROR_MEMORY : yk_plot(context, base, script.data);
    yk_text_destroy(context, &script);
    yk_release(context, f.line);
    return status;
}
