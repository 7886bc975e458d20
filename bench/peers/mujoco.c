/* The scenes in MuJoCo. Methods: chain euler, rk4; heap newton, cg, pgs; stack newton, pgs. */
#include "scene.h"

#include <mujoco/mujoco.h>
#include <unistd.h>

/* A model from text, through a temporary file: the only way that all versions have. */
static mjModel *load_model(const char *text)
{
    char path[] = "/tmp/yoke-peers-XXXXXX.xml", message[1000] = "";
    int file = mkstemps(path, 4);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (!stream)
        exit(1);
    fputs(text, stream);
    fclose(stream);
    mjModel *model = mj_loadXML(path, NULL, message, sizeof message);
    remove(path);
    if (!model) {
        fprintf(stderr, "mujoco: %s\n", message);
        exit(1);
    }
    return model;
}

static const char *choose(const request *r, const char *const *methods, const char *const *words)
{
    for (int i = 0; methods[i]; i++) {
        if (strcmp(r->method, methods[i]) == 0)
            return words[i];
    }
    exit(unknown_method(r));
}

static int run_chain(const request *r)
{
    const char *integrator = choose(r, (const char *const[]){"euler", "rk4", NULL},
                                    (const char *const[]){"Euler", "RK4"});
    char *text = NULL;
    size_t size = 0;
    FILE *xml = open_memstream(&text, &size);
    fprintf(xml,
            "<mujoco><option timestep='%.17g' gravity='0 0 %.17g' integrator='%s'/><worldbody>",
            r->step, -GRAVITY, integrator);
    for (int i = 0; i < r->count; i++)
        fprintf(xml,
                "<body pos='%.17g 0 0'><joint type='hinge' axis='0 1 0'/><inertial pos='%.17g 0 0' "
                "mass='%.17g' "
                "diaginertia='%.17g %.17g %.17g'/>",
                i > 0 ? LINK_LENGTH : 0, LINK_LENGTH / 2, LINK_MASS, link_inertia_along(),
                link_inertia_across(), link_inertia_across());
    for (int i = 0; i < r->count; i++)
        fprintf(xml, "</body>");
    fprintf(xml, "</worldbody></mujoco>");
    fclose(xml);
    mjModel *model = load_model(text);
    mjData *data = mj_makeData(model);
    int steps = (int)lround(CHAIN_END / r->step);
    double began = cpu_seconds();
    for (int i = 0; i < steps; i++)
        mj_step(model, data);
    double seconds = cpu_seconds() - began;

    link_state *links = calloc((size_t)r->count, sizeof *links);
    links_from_angles(r->count, data->qpos, data->qvel, links);
    report_chain("MuJoCo", r->method, r->count, r->step, steps, seconds, links);
    free(links);
    free(text);
    mj_deleteData(data);
    mj_deleteModel(model);
    return 0;
}

static int run_bodies(const request *r)
{
    int is_heap = strcmp(r->scene, "heap") == 0, count = is_heap ? r->count : STACK_BOXES;
    const char *solver = choose(r, (const char *const[]){"newton", "cg", "pgs", NULL},
                                (const char *const[]){"Newton", "CG", "PGS"});
    char *text = NULL;
    size_t size = 0;
    FILE *xml = open_memstream(&text, &size);
    /* The stiffest contact that the program allows for a step: a time constant of two steps. */
    fprintf(xml,
            "<mujoco><size njmax='%d' nconmax='%d' nstack='%d'/><option timestep='%.17g' "
            "gravity='0 0 %.17g' solver='%s' cone='elliptic' iterations='50'/>"
            "<default><geom solref='%.17g 1' friction='%.17g' "
            "condim='3'/></default><worldbody><geom type='plane' size='5 5 1'/>",
            18 * count + 500, 6 * count + 100, 4000000 + 60000 * count, r->step, -GRAVITY, solver,
            2 * r->step, is_heap ? HEAP_FRICTION : STACK_FRICTION);
    double half = heap_width() / 2;
    if (is_heap)
        fprintf(xml,
                "<geom type='plane' size='5 5 1' pos='%.17g 0 0' zaxis='1 0 0'/><geom type='plane' "
                "size='5 5 1' pos='%.17g 0 0' zaxis='-1 0 0'/>"
                "<geom type='plane' size='5 5 1' pos='0 %.17g 0' zaxis='0 1 0'/><geom type='plane' "
                "size='5 5 1' pos='0 %.17g 0' zaxis='0 -1 0'/>",
                -half, half, -half, half);
    for (int i = 0; i < count; i++) {
        double center[3];
        heap_start(i, center);
        if (is_heap)
            fprintf(xml,
                    "<body pos='%.17g %.17g %.17g'><freejoint/><geom type='sphere' size='%.17g' "
                    "mass='%.17g'/></body>",
                    center[0], center[1], center[2], SPHERE_RADIUS, sphere_mass());
        else
            fprintf(xml,
                    "<body pos='0 0 %.17g'><freejoint/><geom type='box' size='%.17g %.17g %.17g' "
                    "mass='%.17g'/></body>",
                    (i + 0.5) * BOX_EDGE, BOX_EDGE / 2, BOX_EDGE / 2, BOX_EDGE / 2,
                    i == STACK_BOXES - 1 ? TOP_MASS : BOX_MASS);
    }
    fprintf(xml, "</worldbody></mujoco>");
    fclose(xml);
    mjModel *model = load_model(text);
    mjData *data = mj_makeData(model);
    if (!data)
        exit(1);
    double end = is_heap ? HEAP_END : STACK_END, speed = 0, seconds = 0;
    int steps = (int)lround(end / r->step),
        measured = is_heap ? (int)lround(HEAP_MEASURED / r->step) : steps;
    for (int i = 0; i < steps; i++) {
        double began = cpu_seconds();
        mj_step(model, data);
        if (i >= steps - measured)
            seconds += cpu_seconds() - began;
        const double *v = data->qvel + 6 * (count - 1);
        if (i >= steps - steps / 5)
            speed = fmax(speed, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }

    if (is_heap) {
        double(*center)[3] = calloc((size_t)count, sizeof *center),
        (*velocity)[3] = calloc((size_t)count, sizeof *velocity);
        for (int i = 0; i < count; i++) {
            memcpy(center[i], data->qpos + 7 * i, sizeof center[i]);
            memcpy(velocity[i], data->qvel + 6 * i, sizeof velocity[i]);
        }
        report_heap("MuJoCo", r->method, count, r->step, measured, seconds,
                    (const double(*)[3])center, (const double(*)[3])velocity);
        free(center);
        free(velocity);
    } else {
        report_stack("MuJoCo", r->method, r->step, steps, seconds, data->qpos + 7 * (count - 1),
                     speed);
    }
    free(text);
    mj_deleteData(data);
    mj_deleteModel(model);
    return 0;
}

int main(int argc, char **argv)
{
    request r = read_request(argc, argv);
    return strcmp(r.scene, "chain") == 0 ? run_chain(&r) : run_bodies(&r);
}
