/* Particle files in the format that users write. */
#ifndef YOKE_TESTS_NONSMOOTH_PACKING_FILE_H
#define YOKE_TESTS_NONSMOOTH_PACKING_FILE_H

#include <stdio.h>

#include "nonsmooth/packing.h"
#include "test.h"

/* Seventeen digits keep every bit. Columns beyond the radius are named, and then all of them. */
static inline void write_packing(const yk_packing *packing, const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("# x, y, z, radius; from the middle of the cavity\n", file);
    bool more = packing->velocities && packing->angular_velocities && packing->orientations;
    if (more)
        fputs("x,y,z,radius,vx,vy,vz,qw,qx,qy,qz,wx,wy,wz\n", file);

    for (int i = 0; i < packing->count; i++) {
        yk_vec3 p = packing->positions[i];
        fprintf(file, "%.17g,%.17g,%.17g,%.17g", p.x, p.y, p.z, packing->radii[i]);
        if (more) {
            yk_vec3 v = packing->velocities[i];
            yk_quat q = packing->orientations[i];
            yk_vec3 w = packing->angular_velocities[i];
            fprintf(file, ",%.17g,%.17g,%.17g", v.x, v.y, v.z);
            fprintf(file, ",%.17g,%.17g,%.17g,%.17g", q.w, q.x, q.y, q.z);
            fprintf(file, ",%.17g,%.17g,%.17g", w.x, w.y, w.z);
        }
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
}

#endif
