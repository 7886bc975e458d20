/* A modal body as the tables that modal_file.c and modal_invariants.c read, with all digits.
 * Modes are counted from 1; nodes are its attachments and, of a built-in rod, the stations that are
 * drawn. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/modal.h"

static void write_number(FILE *out, const char *quantity, const int mode[2], const char *component,
                         double value)
{
    if (value == 0)
        return;

    /* Modes are counted from 1; quantities of fewer leave columns empty. */
    fprintf(out, "%s,", quantity);
    for (int k = 0; k < 2; k++) {
        if (mode && mode[k] >= 0)
            fprintf(out, "%d", mode[k] + 1);
        fputc(',', out);
    }

    fprintf(out, "%s,%.17g\n", component, value);
}

static void write_vector(FILE *out, const char *quantity, const int mode[2], yk_vec3 v)
{
    write_number(out, quantity, mode, "x", v.x);
    write_number(out, quantity, mode, "y", v.y);
    write_number(out, quantity, mode, "z", v.z);
}

static void write_tensor(FILE *out, const char *quantity, const int mode[2], const yk_mat3 *t)
{
    static const char *const names[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    static const int row[] = {0, 1, 2, 0, 0, 1};
    static const int column[] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        write_number(out, quantity, mode, names[k], t->m[row[k]][column[k]]);
}

static void write_matrix(FILE *out, const char *quantity, int n, const double *matrix)
{
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            const int mode[2] = {i, j};
            write_number(out, quantity, mode, "", matrix[n * i + j]);
        }
    }
}

static void write_invariants(FILE *out, const yk_flexible *flexible)
{
    const yk_ffrf *body = &flexible->modal;
    int n = body->modes;

    /* The rigid body. */
    yk_inertia rigid = yk_ffrf_inertia(body, NULL);
    fprintf(out, "quantity,i,j,component,value\n");
    write_number(out, "mass", NULL, "", body->mass);
    write_vector(out, "moment", NULL, body->moment);
    write_tensor(out, "inertia", NULL, &rigid.tensor);

    /* Each shape. */
    for (int i = 0; i < n; i++) {
        const int mode[2] = {i, -1};
        yk_mat3 slope = yk_ffrf_tensor_change(&body->spread[i]);
        write_vector(out, "momentum", mode, body->shift[i]);
        write_vector(out, "spin", mode, yk_ffrf_axial_of(&body->spread[i]));
        write_tensor(out, "inertia_slope", mode, &slope);
    }

    /* Each pair of shapes: the symmetric part of both orders, and both axial parts as their
     * difference and sum. */
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            const int mode[2] = {i, j};
            const yk_mat3 *one = &body->pair[n * i + j];
            const yk_mat3 *other = &body->pair[n * j + i];
            yk_mat3 mean = yk_m3_scale(0.5, yk_m3_add(*one, *other));
            yk_mat3 curve = yk_ffrf_tensor_change(&mean);
            yk_vec3 a = yk_ffrf_axial_of(one);
            yk_vec3 b = yk_ffrf_axial_of(other);
            write_tensor(out, "inertia_curve", mode, &curve);
            write_vector(out, "coriolis", mode, yk_v3_scale(0.5, yk_v3_sub(b, a)));
            write_vector(out, "swing", mode, yk_v3_scale(0.5, yk_v3_add(a, b)));
            write_vector(out, "shortening", mode, body->curve[n * i + j]);
        }
    }

    write_matrix(out, "modal_mass", n, body->modal_mass);
    write_matrix(out, "stiffness", n, body->stiffness);
    write_matrix(out, "damping", n, body->damping);
}

static void write_nodes(FILE *out, const yk_flexible *flexible)
{
    fprintf(out, "node,x,y,z\n");
    for (int k = 0; k < flexible->attachments + flexible->outline; k++) {
        yk_vec3 at = flexible->nodes[k].position;
        fprintf(out, "%d,%.17g,%.17g,%.17g\n", k + 1, at.x, at.y, at.z);
    }
}

static void write_modes(FILE *out, const yk_flexible *flexible)
{
    fprintf(out, "mode,node,ux,uy,uz,rx,ry,rz\n");
    for (int i = 0; i < flexible->modal.modes; i++) {
        for (int k = 0; k < flexible->attachments + flexible->outline; k++) {
            const yk_ffrf_node *node = &flexible->nodes[k];

            /* Stations of a drawn line may have no rotation. */
            yk_vec3 u = node->displacement[i];
            yk_vec3 r = yk_v3(0, 0, 0);
            if (node->rotation)
                r = node->rotation[i];

            fprintf(out, "%d,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", i + 1, k + 1, u.x, u.y, u.z,
                    r.x, r.y, r.z);
        }
    }
}

/* Each pair of shapes in one order. */
static void write_second_order(FILE *out, const yk_flexible *flexible)
{
    fprintf(out, "mode,other,node,ux,uy,uz\n");
    for (int k = 0; k < flexible->attachments + flexible->outline; k++) {
        const yk_ffrf_node *node = &flexible->nodes[k];
        for (int b = 0; b < node->bend_count; b++) {
            const yk_ffrf_bend *bend = &node->bends[b];

            /* The other order says the same. */
            if (bend->j < bend->i)
                continue;

            yk_vec3 g = bend->value;
            fprintf(out, "%d,%d,%d,%.17g,%.17g,%.17g\n", bend->i + 1, bend->j + 1, k + 1, g.x, g.y,
                    g.z);
        }
    }
}

yk_status yk_modal_write(yk_context *context, const yk_flexible *body, const char *folder)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out, const yk_flexible *flexible);
    } tables[] = {
        {"nodes.csv", write_nodes},
        {"modes.csv", write_modes},
        {"second_order.csv", write_second_order},
        {"invariants.csv", write_invariants},
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        /* A path that is cut would name another file. */
        char path[1024];
        int length = snprintf(path, sizeof path, "%s/%s", folder, tables[i].name);
        if ((size_t)length >= sizeof path)
            return yk_fail(context, YK_ERROR_ARGUMENT, "the path %.200s... is too long", folder);

        /* What is still in the buffer may fail to reach the disc when the file is closed. */
        FILE *out = fopen(path, "w");
        if (out)
            tables[i].write(out, body);
        if (!out || ferror(out) | fclose(out))
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s cannot be written: %s", path,
                           strerror(errno));
    }

    return YK_OK;
}
