/* The scenes that bench/peers/run measures in several programs: sizes, starts, and the measures of the result, the same for all
 * programs. A driver builds a scene with the interface of its program, steps it, and calls one of the report functions. */
#ifndef YOKE_BENCH_PEERS_SCENE_H
#define YOKE_BENCH_PEERS_SCENE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double GRAVITY = 9.81; /* m/s2, along -z */

/* CPU time of all threads of the process (s). */
static inline double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Chain: links of a box shape on hinges about y. The first hinge is on the ground at the origin. The chain starts at rest along
 * x, and falls. */
static const double LINK_LENGTH = 0.1, LINK_WIDTH = 0.02; /* m */
static const double LINK_MASS = 0.1;                      /* kg */
static const double CHAIN_STEP = 1e-3, CHAIN_END = 0.5;   /* s */

static inline double link_inertia_along(void)
{
    return LINK_MASS * 2 * LINK_WIDTH * LINK_WIDTH / 12;
}

static inline double link_inertia_across(void)
{
    return LINK_MASS * (LINK_LENGTH * LINK_LENGTH + LINK_WIDTH * LINK_WIDTH) / 12;
}

/* Center (x, z), velocity of the center and angular velocity about y of a link at the end. */
typedef struct link_state {
    double x, z, vx, vz, wy;
    double axis_x, axis_z; /* direction of the link */
} link_state;

/* States of the links from joint angles about y and their rates, for programs that use joint coordinates. */
static inline void links_from_angles(int count, const double *angle, const double *rate,
                                     link_state *links)
{
    double a = 0, w = 0, x = 0, z = 0, vx = 0, vz = 0, half = 0.5 * LINK_LENGTH;
    for (int i = 0; i < count; i++) {
        a += angle[i];
        w += rate[i];
        double ex = cos(a), ez = -sin(a), nx = ez * w,
               nz = -ex * w; /* axis of the link, and its rate */
        links[i].x = x + half * ex, links[i].z = z + half * ez;
        links[i].vx = vx + half * nx, links[i].vz = vz + half * nz;
        links[i].wy = w, links[i].axis_x = ex, links[i].axis_z = ez;
        x += LINK_LENGTH * ex, z += LINK_LENGTH * ez;
        vx += LINK_LENGTH * nx, vz += LINK_LENGTH * nz;
    }
}

/* Prints the tip, the energy relative to the fall of the centers, and the largest gap of a hinge. */
static inline void report_chain(const char *program, const char *method, int count, double step,
                                int steps, double seconds, const link_state *links)
{
    double energy = 0, fallen = 0, gap = 0, end_x = 0, end_z = 0;
    for (int i = 0; i < count; i++) {
        const link_state *l = &links[i];
        double half = 0.5 * LINK_LENGTH;
        gap = fmax(gap, hypot(l->x - half * l->axis_x - end_x, l->z - half * l->axis_z - end_z));
        end_x = l->x + half * l->axis_x;
        end_z = l->z + half * l->axis_z;
        energy += 0.5 * LINK_MASS * (l->vx * l->vx + l->vz * l->vz) +
                  0.5 * link_inertia_across() * l->wy * l->wy + LINK_MASS * GRAVITY * l->z;
        fallen += LINK_MASS * GRAVITY * fabs(l->z);
    }
    printf("chain-%d\t%s\t%s\t%.3g\t%.4g\t%.12g\t%.12g\t%.3g\t%.3g\n", count, program, method, step,
           1e6 * seconds / steps, end_x, end_z, energy / fallen, gap);
}

/* Heap: spheres that fall from a lattice into an open box and come to rest. */
enum { HEAP_COLUMNS = 10 }; /* of spheres in each direction of the floor */
static const double SPHERE_RADIUS = 0.05, SPHERE_DENSITY = 2500; /* m, kg/m3 */
static const double HEAP_FRICTION = 0.5;
static const double HEAP_STEP = 4e-3, HEAP_END = 2; /* s */
static const double HEAP_MEASURED =
    0.4; /* last part of the run, over which the cost is measured (s) */

static inline double heap_width(void)
{
    return (2.1 * HEAP_COLUMNS + 0.5) * SPHERE_RADIUS;
}

static inline double sphere_mass(void)
{
    return SPHERE_DENSITY * 4.0 / 3.0 * 3.14159265358979323846 * pow(SPHERE_RADIUS, 3);
}

/* Center of a sphere at the start; the box stands on z = 0 with its middle at x = y = 0. */
static inline void heap_start(int i, double center[3])
{
    int column[3] = {i % HEAP_COLUMNS, i / HEAP_COLUMNS % HEAP_COLUMNS,
                     i / HEAP_COLUMNS / HEAP_COLUMNS};
    for (int k = 0; k < 3; k++) {
        /* A small displacement, so that columns of spheres do not balance. */
        double noise = fmod(sin(12.9898 * (3 * i + k) + 4.1414) * 43758.5453, 1.0);
        center[k] =
            (2.1 * (column[k] - (k < 2 ? 0.5 * (HEAP_COLUMNS - 1) : -0.55)) + 0.04 * noise) *
            SPHERE_RADIUS;
    }
}

/* Prints the deepest overlap of two spheres in radii, the root mean square of the speed, and the mean height. */
static inline void report_heap(const char *program, const char *method, int count, double step,
                               int steps, double seconds, const double (*center)[3],
                               const double (*velocity)[3])
{
    double deepest = 0, speed = 0, height = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++)
            speed += velocity[i][k] * velocity[i][k] / count;
        height += center[i][2] / count;
        deepest = fmax(deepest, SPHERE_RADIUS - center[i][2]);
        for (int k = 0; k < 2; k++)
            deepest = fmax(deepest, fabs(center[i][k]) + SPHERE_RADIUS - heap_width() / 2);
        for (int j = 0; j < i; j++) {
            double d = 0;
            for (int k = 0; k < 3; k++)
                d += (center[i][k] - center[j][k]) * (center[i][k] - center[j][k]);
            deepest = fmax(deepest, 2 * SPHERE_RADIUS - sqrt(d));
        }
    }
    printf("heap-%d\t%s\t%s\t%.3g\t%.4g\t%.3g\t%.3g\t%.5g\n", count, program, method, step,
           1e6 * seconds / steps, deepest / SPHERE_RADIUS, sqrt(speed), height);
}

/* Stack: nine cubes and a cube of a thousand times their mass on top. It must stay at rest. */
enum { STACK_BOXES = 10 };
static const double BOX_EDGE = 0.2, BOX_MASS = 1, TOP_MASS = 1000; /* m, kg */
static const double STACK_FRICTION = 0.5;
static const double STACK_STEP = 2e-3, STACK_END = 2; /* s */

/* Prints the displacement of the top box in edges, and its largest speed in the last fifth of the run. */
static inline void report_stack(const char *program, const char *method, double step, int steps,
                                double seconds, const double top[3], double speed)
{
    double height = (STACK_BOXES - 0.5) * BOX_EDGE;
    double moved = sqrt(top[0] * top[0] + top[1] * top[1] + (top[2] - height) * (top[2] - height));
    printf("stack\t%s\t%s\t%.3g\t%.4g\t%.3g\t%.3g\n", program, method, step, 1e6 * seconds / steps,
           moved / BOX_EDGE, speed);
}

/* The scene that the command line names: SCENE METHOD [COUNT [STEP]]. */
typedef struct request {
    const char *scene, *method;
    int count;
    double step;
} request;

static inline request read_request(int argc, char **argv)
{
    request r = {argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "", 0, 0};
    int is_chain = strcmp(r.scene, "chain") == 0, is_heap = strcmp(r.scene, "heap") == 0;
    r.count = argc > 3 ? atoi(argv[3]) : is_chain ? 10 : 1000;
    r.step = argc > 4 ? atof(argv[4]) : is_chain ? CHAIN_STEP : is_heap ? HEAP_STEP : STACK_STEP;
    if ((!is_chain && !is_heap && strcmp(r.scene, "stack") != 0) || r.count < 1 || !(r.step > 0)) {
        fprintf(stderr, "usage: %s chain|heap|stack METHOD [COUNT [STEP]]\n", argv[0]);
        exit(2);
    }
    return r;
}

static inline int unknown_method(const request *r)
{
    fprintf(stderr, "there is no method '%s' for scene '%s' in this program\n", r->method,
            r->scene);
    return 2;
}

#endif
