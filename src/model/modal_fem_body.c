/* A modal body of the record groups that MBDyn's modal joint reads.
 *
 * Invariants follow their definitions there: I3 = int s_i, I4 = int u0 x s_i, I5_ij = int s_i x
 * s_j, I8_i = int (u0.s_i - s_i u0^T), I9_ij = int (s_j s_i^T - s_i.s_j). The stiffness K that a
 * load adds to that of the body is what shapes of second order make of this load, so it is read
 * as integrals of such shapes: see add_stress_stiffness. */
#include <string.h>

#include "model/modal_fem.h"

static yk_status take_modes(yk_fem *f)
{
    int *numbers = yk_modal_take(f->modal, (size_t)f->modes, sizeof *numbers);
    f->mode = yk_modal_take(f->modal, (size_t)f->modes, sizeof *f->mode);
    if (!numbers || !f->mode)
        return YK_ERROR_MEMORY;

    for (int k = 0; k < f->modes; k++)
        numbers[k] = k + 1;
    yk_status status = yk_modal_take_modes(f->modal, numbers, f->modes, f->path);
    for (int k = 0; k < f->modes; k++)
        f->mode[k] = yk_modal_mode(f->modal, k + 1);
    return status;
}

static yk_status fill_nodes(yk_fem *f)
{
    yk_modal *modal = f->modal;
    yk_status status = yk_modal_take_nodes(modal, f->nodes);
    if (status != YK_OK)
        return status;

    size_t n = (size_t)modal->mode_count;
    modal->rotates = true;
    for (int k = 0; k < f->nodes; k++) {
        yk_ffrf_point *point = &modal->points[k];
        modal->node_number[k] = (int)f->record[2][k];
        point->position = yk_v3(f->record[5][k], f->record[6][k], f->record[7][k]);
        if (f->record[11]) {
            const double *lump = &f->record[11][6 * k];
            yk_mat3 tensor = yk_m3_diagonal(lump[3], lump[4], lump[5]);
            point->mass = lump[0];
            point->second = yk_modal_second_moment(&tensor);
        }
        for (int mode = 0; mode < f->modes; mode++) {
            if (f->mode[mode] < 0)
                continue;

            const double *from = &f->record[8][6 * ((long)f->nodes * (f->rejected + mode) + k)];
            yk_vec3 *shape = modal->shapes + 2 * n * (size_t)k + f->mode[mode];
            shape[0] = yk_v3(from[0], from[1], from[2]);
            shape[n] = yk_v3(from[3], from[4], from[5]);
        }
    }
    return yk_modal_order_nodes(modal, f->path);
}

/* The matrix of the modes that take part. */
static double *choose(const yk_fem *f, const double *from)
{
    int n = f->modal->mode_count;
    double *to = yk_modal_take(f->modal, (size_t)(n * n), sizeof *to);
    for (int i = 0; to && i < f->modes; i++)
        for (int j = 0; j < f->modes; j++)
            if (f->mode[i] >= 0 && f->mode[j] >= 0)
                to[n * f->mode[i] + f->mode[j]] = from[f->modes * i + j];
    return to;
}

static yk_status fill_matrices(yk_fem *f)
{
    yk_modal *modal = f->modal;
    modal->modal_mass = choose(f, f->record[9]);
    modal->stiffness = choose(f, f->record[10]);
    if (f->record[13])
        modal->damping = choose(f, f->record[13]);
    if (!modal->modal_mass || !modal->stiffness || !modal->damping)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < modal->mode_count; i++) {
        double mass = modal->modal_mass[(modal->mode_count + 1) * i],
               k = modal->stiffness[(modal->mode_count + 1) * i];
        if (k <= 0 && mass > 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s: mode %d has the stiffness %g: leave the rigid modes out with the "
                           "key 'use', the frame moves "
                           "instead",
                           f->path, modal->mode_number[i], k);
    }
    return YK_OK;
}

/* From record group 12: about the origin. */
static void fill_rigid(yk_fem *f)
{
    const double *v = f->record[12];
    yk_vec3 centre = {v[1], v[2], v[3]};
    yk_mat3 tensor = {{{v[4], v[5], v[6]}, {v[7], v[8], v[9]}, {v[10], v[11], v[12]}}};
    tensor = yk_m3_scale(0.5, yk_m3_add(tensor, yk_m3_transpose(tensor)));
    f->modal->mass = v[0];
    f->modal->moment = yk_v3_scale(v[0], centre);
    f->modal->second =
        yk_m3_add(yk_modal_second_moment(&tensor), yk_m3_scale(v[0], yk_m3_outer(centre, centre)));
}

/* Entry `row` of a vector for each mode, or pair of modes, side by side in three rows. */
static yk_vec3 vector_of(const double *record, long width, long at)
{
    if (!record)
        return yk_v3(0, 0, 0);
    return yk_v3(record[at], record[width + at], record[2 * width + at]);
}

/* The symmetric part of int u s^T from int (u.s - s u^T), given times a sign. */
static yk_mat3 symmetric_of(const double *record, long width, long at, double sign)
{
    yk_mat3 t = yk_m3_zero();
    if (!record)
        return t;

    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            t.m[r][c] = sign * record[width * r + 3 * at + c];
    double trace = 0.5 * (t.m[0][0] + t.m[1][1] + t.m[2][2]);
    yk_mat3 whole = yk_m3_sub(yk_m3_diagonal(trace, trace, trace), t);
    return yk_m3_scale(0.5, yk_m3_add(whole, yk_m3_transpose(whole)));
}

static yk_mat3 with_axial(yk_mat3 symmetric, yk_vec3 axial)
{
    return yk_m3_add(symmetric, yk_m3_scale(-0.5, yk_m3_skew(axial)));
}

static void fill_shape_invariants(yk_fem *f)
{
    yk_modal *modal = f->modal;
    long count = f->modes;
    int n = modal->mode_count;
    for (int i = 0; i < f->modes; i++) {
        int a = f->mode[i];
        if (a < 0)
            continue;

        modal->shift[a] = vector_of(f->record[14], count, i);
        modal->spread[a] = with_axial(symmetric_of(f->record[16], 3 * count, i, 1),
                                      vector_of(f->record[15], count, i));
        for (int j = 0; j < f->modes; j++) {
            int b = f->mode[j];
            if (b < 0)
                continue;

            yk_vec3 rotation = yk_v3_neg(vector_of(f->record[17], count * count, count * i + j));
            modal->pair[n * a + b] = with_axial(
                symmetric_of(f->record[18], 3 * count * count, count * i + j, -1), rotation);
        }
    }
}

/* Integrals over the lumps, where invariants of record group 12 replace those of the rigid body
 * alone. */
static yk_status fill_lumped(yk_fem *f)
{
    yk_modal *modal = f->modal;
    size_t n = (size_t)modal->mode_count;
    for (int k = 0; k < modal->node_count; k++)
        modal->points[k].rotation = modal->points[k].displacement + n;
    yk_ffrf_def def = {.mode_count = modal->mode_count,
                       .points = modal->points,
                       .point_count = modal->node_count,
                       .mass = modal->modal_mass,
                       .stiffness = modal->stiffness};
    yk_ffrf lumped;
    yk_status status = yk_ffrf_create(modal->context, &def, &lumped);
    if (status != YK_OK)
        return status;

    modal->mass = lumped.mass, modal->moment = lumped.moment, modal->second = lumped.second;
    memcpy(modal->shift, lumped.shift, n * sizeof *modal->shift);
    memcpy(modal->spread, lumped.spread, n * sizeof *modal->spread);
    memcpy(modal->pair, lumped.pair, n * n * sizeof *modal->pair);
    yk_ffrf_destroy(modal->context, &lumped);
    return YK_OK;
}

/* Stiffness by unit loads, in the order of their numbers: products of angular velocities xx, yy,
 * zz, xy, yz, zx; angular accelerations; accelerations; then forces and torques at each node.
 * With H = int u0 g^T of shapes of second order g the equations of motion contain, in the place
 * of K p: w.(H + H^T) w / 2 - tr(H) w.w, (int u0 x g).w', (int g).(v' - weight) and -g.F at a
 * node. Torques have no counterpart: shapes of second order do not turn their places. */
static void add_stress_stiffness(yk_fem *f, long load, const double *k, bool *rotates)
{
    static const int row[] = {0, 1, 2, 0, 1, 2}, column[] = {0, 1, 2, 1, 2, 0};
    yk_modal *modal = f->modal;
    int n = modal->mode_count;
    for (int i = 0; i < n * n; i++) {
        double *curve = &modal->curve[i].x;
        if (load < 3) {
            for (int d = 0; d < 3; d++)
                modal->pair[i].m[d][d] += (d == load ? 0.5 : -0.5) * k[i];
        } else if (load < 6) {
            modal->pair[i].m[row[load]][column[load]] += 0.5 * k[i];
            modal->pair[i].m[column[load]][row[load]] += 0.5 * k[i];
        } else if (load < 9) {
            yk_vec3 axial = {load == 6 ? k[i] : 0, load == 7 ? k[i] : 0, load == 8 ? k[i] : 0};
            modal->pair[i] = with_axial(modal->pair[i], axial);
        } else if (load < 12) {
            curve[load - 9] += k[i];
        } else if ((load - 12) % 6 < 3) {
            double *bend = (double *)(uintptr_t)&modal->points[(load - 12) / 6].shortening[i];
            bend[(load - 12) % 6] -= k[i];
        } else {
            *rotates |= k[i] != 0;
        }
    }
}

static yk_status fill_stress_stiffness(yk_fem *f)
{
    bool rotates = false;
    for (int m = 0; m < f->stresses; m++) {
        const double *at = &f->record[19][(long)m * (1 + (long)f->modes * f->modes)];
        double load = at[0] - 1;
        if (!(load >= 0 && load < 12 + 6.0 * f->nodes && load == floor(load)))
            return yk_fail(
                f->modal->context, YK_ERROR_ARGUMENT,
                "%s: record group 19 has a matrix for load %g: loads are counted from 1 to %d",
                f->path, at[0], 12 + 6 * f->nodes);
        const double *k = choose(f, at + 1);
        if (!k)
            return YK_ERROR_MEMORY;
        if (load >= 12 && !yk_modal_bends(f->modal, (int)(load - 12) / 6))
            return YK_ERROR_MEMORY;

        add_stress_stiffness(f, (long)load, k, &rotates);
    }
    if (rotates)
        yk_log(f->modal->context, YK_LOG_WARNING,
               "%s: stiffness by torques at nodes (record group 19) is not used: that by forces "
               "and motion is",
               f->path);
    return YK_OK;
}

static yk_status fill_inertia(yk_fem *f)
{
    bool invariants =
        f->record[14] || f->record[15] || f->record[16] || f->record[17] || f->record[18];
    yk_status status = yk_modal_take_invariants(f->modal);
    if (status == YK_OK && f->record[11] && !invariants)
        status = fill_lumped(f);
    if (status != YK_OK)
        return status;
    if (invariants)
        fill_shape_invariants(f);
    if (f->record[12])
        fill_rigid(f);
    return fill_stress_stiffness(f);
}

yk_status yk_fem_body(yk_fem *f)
{
    yk_status status = take_modes(f);
    if (status == YK_OK)
        status = fill_nodes(f);
    if (status == YK_OK)
        status = fill_matrices(f);
    if (status == YK_OK)
        status = fill_inertia(f);
    if (status == YK_OK)
        yk_modal_damp(f->modal);
    return status;
}
