/* yoke modes: eigenfrequencies, damping, participation and shapes of a multibody subsystem, as a
 * table and as pictures. */
#include <math.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "multibody/modes.h"
#include "pictures.h"

static const char usage[] =
    "modes SCENARIO [OPTIONS]\n"
    "\n"
    "Compute the modes of a multibody subsystem about its initial state, from the "
    "lowest frequency up. Coupled ports are left free.";

/* Pictures ------------------------------------------------------------------------------------- */

/* Mode shapes as stick figures. Points of the model are nodes and the markers of joints on them;
 * lines are the beams and the arms from nodes to markers. */
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

static stick_point point_on(const yk_multibody *model, int node, yk_vec3 offset)
{
    yk_motion motion;
    yk_marker origin = yk_marker_default();
    yk_marker marker = {.offset = offset, .orientation = {1, 0, 0, 0}};
    yk_multibody_marker_motion(model, node, &marker, &motion);

    yk_vec3 position = motion.position;
    yk_multibody_marker_motion(model, node, &origin, &motion);
    return (stick_point){node, position, yk_v3_sub(position, motion.position)};
}

static void add_line(figure *f, stick_point a, stick_point b)
{
    if (yk_v3_norm(yk_v3_sub(a.position, b.position)) == 0)
        return;

    f->line[f->count][0] = a;
    f->line[f->count++][1] = b;
}

static yk_status make_figure(yk_context *context, const yk_multibody *model, figure *f)
{
    const yk_multibody_description *def = yk_multibody_definition(model);
    const yk_vec3 none = {0, 0, 0};

    *f = (figure){0};
    size_t most = 2 * (size_t)(def->joint_count + def->beam_count) + (size_t)def->force_count + 1;
    most += (size_t)def->attachment_count;
    f->line = yk_allocate(context, most, sizeof *f->line);
    if (!f->line)
        return YK_ERROR_MEMORY;

    /* Two lines per beam, because its middle node may be off the line between the ends. */
    for (int i = 0; i < def->beam_count; i++) {
        const yk_multibody_beam_def *beam = &def->beams[i];
        stick_point points[3];
        for (int k = 0; k < 3; k++)
            points[k] = point_on(model, beam->nodes[k].index, beam->offsets[k]);
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
            int node = joint->bodies[side].index;
            if (node == YK_GROUND_INDEX)
                continue;

            add_line(f, point_on(model, node, none),
                     point_on(model, node, joint->markers[side].offset));
        }
    }

    for (int i = 0; i < def->force_count; i++) {
        const yk_force_def *force = &def->forces[i];
        if (!yk_force_kind_acts_on_both(force->kind))
            continue;

        add_line(f, point_on(model, force->bodies[0].index, force->markers[0].offset),
                 point_on(model, force->bodies[1].index, force->markers[1].offset));
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
    if (point->node == YK_GROUND_INDEX)
        return yk_v3(0, 0, 0);

    const double *shape = yk_modes_shape(modes, mode, point->node, false);
    yk_vec3 rotation = yk_v3(shape[3], shape[4], shape[5]);
    return yk_v3_add(yk_v3(shape[0], shape[1], shape[2]), yk_v3_cross(rotation, point->arm));
}

static double rotation_about(const yk_modes *modes, int mode, const stick_point *point, int axis)
{
    if (point->node == YK_GROUND_INDEX)
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

/* How a mode is seen: from where it moves most. */
typedef struct mode_view {
    int across, up; /* axes of space */
    bool is_twist;  /* nothing moves but by rotation: its angle goes up */
    double scale;   /* of the displacement, or of the angle */
} mode_view;

static mode_view choose_view(const figure *f, const yk_modes *modes, int mode)
{
    /* Motion along the axes and rotation about them, and size of the figure. */
    double moves[3] = {0};
    double rotations[3] = {0};
    double edge[3];
    for (int axis = 0; axis < 3; axis++) {
        edge[axis] = f->high[axis] - f->low[axis];
        for (int i = 0; i < 2 * f->count; i++) {
            const stick_point *point = &f->line[i / 2][i % 2];
            double move = component(displacement(modes, mode, point), axis);
            double rotation = rotation_about(modes, mode, point, axis);
            moves[axis] = fmax(moves[axis], fabs(move));
            rotations[axis] = fmax(rotations[axis], fabs(rotation));
        }
    }

    /* The longest edge of the figure lies across. A twist shows its angle; of the two other axes, another mode shows the one
     * along which it moves more. */
    double most = moves[largest_of(moves)];
    double spin = rotations[largest_of(rotations)];
    int across = largest_of(edge);
    int first = (across + 1) % 3;
    int second = (across + 2) % 3;
    mode_view view = {.across = across, .up = first, .is_twist = most < 1e-6 * spin * f->size};
    if (view.is_twist)
        view.up = largest_of(rotations);
    else if (moves[second] > moves[first])
        view.up = second;

    /* A mode that moves along its length only is shown from its broad side. */
    bool moves_along = fmax(moves[first], moves[second]) < 1e-3 * most;
    if (!view.is_twist && moves_along)
        view.up = edge[second] > edge[first] ? second : first;

    /* The largest angle is 1, and the largest displacement an eighth of the figure, whatever the
     * scale of the mode. */
    if (view.is_twist && spin > 0)
        view.scale = 1 / spin;
    else if (!view.is_twist && most > 0)
        view.scale = 0.12 * f->size / most;
    return view;
}

/* The lines of the figure one after the other, with a gap behind each. */
static void trace_figure(const figure *f, const yk_modes *modes, int mode, const mode_view *view,
                         bool displaced, double *x, double *y)
{
    for (int i = 0; i < 2 * f->count; i++) {
        const stick_point *point = &f->line[i / 2][i % 2];
        yk_vec3 position = point->position;
        if (displaced && !view->is_twist)
            position = yk_v3_axpy(view->scale, displacement(modes, mode, point), position);

        double height = component(position, view->up);
        if (view->is_twist)
            height = displaced ? view->scale * rotation_about(modes, mode, point, view->up) : 0;

        *x++ = component(position, view->across);
        *y++ = height;
        if (i % 2) {
            *x++ = NAN;
            *y++ = NAN;
        }
    }
}

/* The first modes, one panel each: the model at rest and displaced, in the plane in which the mode moves most. */
static yk_status picture_modes(yk_context *context, const char *name, const char *title,
                               const yk_multibody *model, const yk_modes *modes)
{
    static const char *const axis_names[3] = {"x", "y", "z"};
    static const char *const angle_names[3] = {"rotation about x", "rotation about y",
                                               "rotation about z"};
    figure f;
    yk_status status = make_figure(context, model, &f);
    if (status != YK_OK)
        return status;

    int count = modes->count < PANELS_MAX ? modes->count : PANELS_MAX;
    if (f.count == 0 || count == 0) {
        yk_free(context, f.line);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "there is nothing to draw: no mode, or neither beams nor joints with arms");
    }

    /* Two traces of x and y per mode. */
    size_t points = 3 * (size_t)f.count;
    double *values = yk_allocate(context, 4 * points * (size_t)count, sizeof *values);
    if (!values)
        status = YK_ERROR_MEMORY;

    chart_panel panels[PANELS_MAX];
    chart_curve curves[PANELS_MAX][2];
    char titles[PANELS_MAX][64];
    double margin = 0.15 * f.size;
    for (int mode = 0; mode < count && values; mode++) {
        mode_view view = choose_view(&f, modes, mode);
        for (int displaced = 0; displaced < 2; displaced++) {
            double *x = values + (4 * (size_t)mode + 2 * (size_t)displaced) * points;
            trace_figure(&f, modes, mode, &view, displaced, x, x + points);
            curves[mode][displaced] = (chart_curve){
                .name = "",
                .x = x,
                .y = x + points,
                .count = points,
                .style = displaced ? CHART_THICK_LINE : CHART_GUIDE,
            };
        }

        /* Its frequency, or how it grows if it does not oscillate. */
        const yk_mode *m = &modes->mode[mode];
        if (m->free_motion)
            snprintf(titles[mode], sizeof *titles, "%d: free", mode + 1);
        else if (m->omega > 0)
            snprintf(titles[mode], sizeof *titles, "%d: %.6g Hz", mode + 1, m->frequency);
        else
            snprintf(titles[mode], sizeof *titles, "%d: %.4g 1/s", mode + 1, m->growth);

        /* The same region in all panels, so that modes can be compared. */
        panels[mode] = (chart_panel){
            .title = titles[mode],
            .x = {.name = axis_names[view.across],
                  .unit = "m",
                  .low = f.low[view.across] - margin,
                  .high = f.high[view.across] + margin},
            .y = {.name = axis_names[view.up],
                  .unit = "m",
                  .low = f.low[view.up] - margin,
                  .high = f.high[view.up] + margin},
            .curves = curves[mode],
            .curve_count = 2,
            .is_to_scale = !view.is_twist,
        };
        if (view.is_twist)
            panels[mode].y = (chart_axis){.name = angle_names[view.up], .low = -1.2, .high = 1.2};
    }

    if (status == YK_OK) {
        chart picture = {.title = title,
                         .panels = panels,
                         .panel_count = count,
                         .column_count = 1 + (count > 2) + (count > 6),
                         .panel_height = count > 2 ? 150 : 220};
        status = picture_write(context, name, &picture);
    }
    yk_free(context, values);
    yk_free(context, f.line);
    return status;
}

/* The command ---------------------------------------------------------------------------------- */

static void write_json(const char *scenario, const yk_modes *modes)
{
    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", scenario);
    json_open_array(&json, "modes");
    for (int i = 0; i < modes->count; i++) {
        const yk_mode *mode = &modes->mode[i];
        json_open_object(&json, NULL);
        json_number(&json, "frequency", mode->frequency);
        json_number(&json, "damping", mode->damping);
        json_number(&json, "growth", mode->growth);
        json_bool(&json, "free", mode->free_motion);
        json_open_array(&json, "mass_fraction");
        for (int k = 0; k < 3; k++)
            json_number(&json, NULL, mode->mass[k]);
        json_close(&json);
        json_number(&json, "residual", mode->residual);
        json_close(&json);
    }
    json_close(&json);
    json_end(&json);
}

/* Prints the table of modes, and writes their shapes to a file if one is given. False after a
 * message. */
static bool report_modes(const yk_multibody *model, const yk_modes *modes, int asked,
                         const char *file)
{
    /* A row per mode; free motions have no frequency, overdamped ones no oscillation. */
    int growing = 0;
    int idle = 0;
    print_out("\n  mode   frequency Hz      damping   growth 1/s     mass along x, y, z %%\n");

    for (int i = 0; i < modes->count; i++) {
        const yk_mode *mode = &modes->mode[i];
        print_out("  %4d ", i + 1);
        if (mode->free_motion)
            print_out("%14s %12s", "free", "-");
        else if (mode->omega > 0)
            print_out("%14.6f %12.6f", mode->frequency, mode->damping);
        else
            print_out("%14s %12.6f", "0", mode->damping);

        /* Masses along the axes, of the whole. */
        print_out(" %12.5g   %7.3f %7.3f %7.3f\n", mode->growth, 100 * mode->mass[0],
                  100 * mode->mass[1], 100 * mode->mass[2]);

        /* Growth below rounding errors of the frequency is zero. */
        if (mode->free_motion)
            idle++;
        else if (mode->growth > 1e-9 * (mode->omega + fabs(mode->growth)))
            growing++;
    }

    /* Remarks about the modes. */
    if (modes->count < asked)
        print_out(
            "\n  %d mode%s of the %d asked for: there are no others, or they are 1e6 times as "
            "fast as the slowest\n",
            modes->count, plural(modes->count), asked);

    if (idle > 0)
        print_out("\n  %d free motion%s: nothing resists, the frequency is zero\n", idle,
                  plural(idle));

    if (growing > 0)
        print_out("\n  %d mode%s grow%s: the state is unstable\n", growing, plural(growing),
                  growing > 1 ? "" : "s");

    /* A model that moves has no equilibrium. */
    yk_energy energy;
    yk_multibody_energy(model, &energy);
    if (energy.kinetic > 1e-12)
        print_out(
            "\n  the model moves (%.3g J): these are the modes of the moment in fixed axes, not "
            "of an equilibrium (see\n  --equilibrium); they are right for rotors that look the "
            "same "
            "at every angle, not for blades and cranks\n",
            energy.kinetic);

    if (!file)
        return true;

    /* Rows that spreadsheets can filter by mode and node: displacement and rotation, real and
     * imaginary. */
    yk_output output = yk_output_open(file);
    FILE *out = output.stream;
    if (out)
        fprintf(out, "mode,frequency_Hz,damping,growth,node,ux,uy,uz,rx,ry,rz,ux_im,uy_im,uz_im,"
                     "rx_im,ry_im,rz_im\n");

    const yk_multibody_description *def = yk_multibody_definition(model);
    for (int i = 0; out && i < modes->count; i++) {
        const yk_mode *mode = &modes->mode[i];
        for (int n = 0; n < modes->node_count; n++) {
            fprintf(out, "%d,%.15g,%.15g,%.15g,%s", i + 1, mode->frequency, mode->damping,
                    mode->growth, yk_multibody_start_pose(def, n).name);
            for (int k = 0; k < 12; k++)
                fprintf(out, ",%.9g", yk_modes_shape(modes, i, n, k >= 6)[k % 6]);
            fprintf(out, "\n");
        }
    }

    return close_written(&output, file);
}

int command_modes(int argc, char **argv)
{
    option_list sets = {0};
    const char *path;
    const char *subsystem = NULL;
    const char *output = NULL;
    const char *plot = NULL;
    double count = 10;
    double time = 0;
    bool equilibrium = false;
    bool as_json = false;

    const option_row rows[] = {
        {"count", OPTION_NUMBER, &count, "N", "Compute N modes (default: 10)"},
        {"equilibrium", OPTION_FLAG, &equilibrium, NULL, "Linearize about static equilibrium"},
        {"at", OPTION_NUMBER, &time, "SECONDS", "Linearize about the state at this time"},
        {"subsystem", OPTION_TEXT, &subsystem, "NAME", "Select the subsystem"},
        SET_ROW(&sets),
        {"output", OPTION_TEXT, &output, "FILE", "Write the shapes as CSV"},
        {"plot", OPTION_TEXT, &plot, "BASE",
         "Draw the shapes as BASE.svg, or as the .svg, .png or .pdf file of this name"},
        RENAMED_ROW("static", "equilibrium"),
        RENAMED_ROW("time", "at"),
        JSON_ROW(&as_json),
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    if (!picture_is_named("--plot", plot))
        return EXIT_MISUSE;

    if (!(count >= 1 && count <= 10000)) {
        print_err("yoke: --count %g: ask for 1 to 10000 modes\n", count);
        return EXIT_MISUSE;
    }

    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_RUN, &l))
        return l.code;

    /* The requested subsystem, or the only multibody one. */
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    yk_multibody *model = NULL;
    const char *solver = NULL; /* of the one with this name */
    int candidates = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        if (subsystem && strcmp(subsystem, info->subsystem_names[i]) != 0)
            continue;

        solver = info->subsystem_solvers[i];
        yk_multibody *smooth = yk_multibody_of(info->subsystems[i]);
        if (!smooth)
            continue;

        candidates++;
        model = smooth;
    }

    if (candidates != 1) {
        if (candidates > 1)
            print_err(
                "yoke: %d subsystems have the solver multibody; choose one with --subsystem\n",
                candidates);
        else if (subsystem && solver)
            print_err(
                "yoke: subsystem '%s' has the solver %s; modes are computed for subsystems with "
                "the solver multibody\n",
                subsystem, solver);
        else if (subsystem)
            print_err("yoke: there is no subsystem '%s'\n", subsystem);
        else
            print_err("yoke: modes are computed for subsystems with the solver multibody, and this "
                      "scenario has none; yoke stability shows the modes of any coupling\n");

        close_scenario(&l);
        return EXIT_MISUSE;
    }

    /* Advances to the state about which the modes are computed. */
    double t = info->start;
    yk_status status = yk_multibody_start(model, info->start, info->step);
    for (long i = 0; !YK_FAILED(status) && t < time - 0.5 * info->step; i++) {
        status = yk_multibody_step(model, t, info->step);
        t = info->start + (double)(i + 1) * info->step;
    }

    /* Steps that did not fully converge are accurate enough for a linearization. */
    if (!YK_FAILED(status))
        status = YK_OK;
    if (status == YK_OK && equilibrium)
        status = yk_multibody_statics(model, t);

    /* Redundant joints are reported as a warning by the context. */
    yk_modes *modes = NULL;
    yk_modes_options options = yk_modes_default();
    options.count = (int)count;
    if (status == YK_OK)
        status = yk_modes_find(model, &options, &modes);

    /* The table, the shapes for other programs, and a picture of them. */
    int code = EXIT_GOOD;
    if (modes && as_json) {
        write_json(path, modes);
    } else if (modes) {
        print_out("%s\n", scenario_title(info));
        if (!report_modes(model, modes, options.count, output))
            code = EXIT_FAILED;
        else if (plot &&
                 picture_modes(l.context, plot, scenario_title(info), model, modes) != YK_OK)
            code = print_failure(l.context);
        else if (plot) {
            print_out("\n  ");
            print_picture(plot);
        }
    }

    /* Print the modes found, even if the search did not converge. */
    if (!modes || status == YK_NOT_CONVERGED)
        code = print_failure(l.context);

    yk_modes_destroy(modes);
    close_scenario(&l);
    return code;
}
