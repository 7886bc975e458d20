/* Contact problems in HDF5 files of FCLIB, the collection of frictional contact problems (Acary,
 * Bremond, Koziara, Perignon 2014). One group contains the problem:
 *
 *   fclib_local           spacedim, W, vectors q, mu; with bilateral rows V, R, vectors s
 *                         u = W r + V l + q,  V^T r + R l + s = 0
 *   fclib_global          spacedim, M, H, vectors f, w, mu; with bilateral rows G, vectors b
 *                         M v = H r + G l + f,  u = H^T v + w,  G^T v + b = 0
 *   fclib_global_rolling  the same with mu_r, of dimension 5 (contact/problem.h)
 *
 * A matrix is a group of m, n, nzmax, nz, p, i, x: triplets if nz is not negative (rows i, columns
 * p), otherwise compressed columns (-1) or rows (-2) with starts p. Global problems are condensed. */
#ifndef YK_RECORD_FCLIB_H
#define YK_RECORD_FCLIB_H

#include "contact/problem.h"

/* Whether a file begins as HDF5 files do. */
bool yk_fclib_is_hdf5(const char *path);

/* The caller destroys the problem. The files are other people's: they are read in a process of
 * their own, links to other files are not followed, and sizes and indices are checked before they
 * are used. YK_ERROR_FILE or YK_ERROR_INPUT. */
yk_status yk_fclib_read(yk_context *context, const char *path, yk_contact_problem *problem);

/* As fclib_local, with softness on the diagonal of W. YK_ERROR_CAPABILITY: the format does not
 * support joints, spinning and rolling friction. */
yk_status yk_fclib_write(yk_context *context, const char *path, const yk_contact_problem *problem);

#endif
