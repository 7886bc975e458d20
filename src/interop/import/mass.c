/* Mass properties of imported bodies. */
#include <math.h>
#include <string.h>

#include "interop/import/importer.h"
#include "math/eigen.h"
#include "mechanics/body.h"

/* Radius of gyration of bodies that a model gives no extent (m). */
static const double MIN_RADIUS_OF_GYRATION = 1e-3;

void yk_import_add_mass(yk_import_mass *body, double mass, yk_pose pose, yk_mat3 inertia)
{
    double sum = body->mass + mass;
    if (!(sum > 0))
        return;

    /* The common center of mass. */
    yk_vec3 weighed = yk_v3_scale(body->mass / sum, body->center);
    yk_vec3 common = yk_v3_axpy(mass / sum, pose.position, weighed);

    /* Steiner's theorem for both. */
    yk_mat3 first = yk_inertia_of_point(body->mass, yk_v3_sub(body->center, common));
    yk_mat3 second = yk_inertia_of_point(mass, yk_v3_sub(pose.position, common));
    yk_mat3 added = yk_m3_rotate(yk_q_matrix(pose.orientation), inertia);
    body->inertia = yk_m3_add(yk_m3_add(body->inertia, first), yk_m3_add(added, second));

    body->mass = sum;
    body->center = common;
}

/* No body has a principal moment that is larger than the sum of the other two, but models often state
 * one, and a body without extent has no moments at all. */
yk_status yk_import_repair_inertia(yk_import *import, const yk_xml_element *element,
                                   const char *name, yk_import_mass *body, bool may_vanish)
{
    /* Principal axes and moments. */
    double axes[9], unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, moments[3];
    memcpy(axes, body->inertia.m, sizeof axes);
    yk_status status = yk_eigen_symmetric_pair(import->context, 3, axes, unit, moments);
    if (status != YK_OK)
        return status;

    /* The moments are in ascending order. If two must be raised, both get the same factor. */
    double min_moment = 0;
    if (!may_vanish)
        min_moment = MIN_RADIUS_OF_GYRATION * MIN_RADIUS_OF_GYRATION * body->mass;
    double raised[3] = {fmax(moments[0], min_moment), fmax(moments[1], min_moment),
                        fmax(moments[2], min_moment)};

    /* The smaller two must sum to the largest one at least. */
    double sum = raised[0] + raised[1];
    if (sum < raised[2] && sum > 0) {
        raised[0] *= raised[2] / sum;
        raised[1] *= raised[2] / sum;
    } else if (sum < raised[2]) {
        raised[0] = raised[1] = raised[2] / 2;
    }

    /* A change by rounding only leaves the inertia as it was given. */
    double change =
        fmax(raised[0] - moments[0], fmax(raised[1] - moments[1], raised[2] - moments[2]));
    if (!(change > 1e-9 * raised[2]))
        return YK_OK;

    yk_import_add_note(import, element,
                       "inertia of %s: no body has the principal moments %.4g, %.4g, %.4g kg m^2; "
                       "taken as %.4g, %.4g, %.4g",
                       name, moments[0], moments[1], moments[2], raised[0], raised[1], raised[2]);

    /* The sum of moment * axis * axis^T. */
    body->inertia = yk_m3_zero();
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                body->inertia.m[i][j] += raised[k] * axes[3 * k + i] * axes[3 * k + j];

    return YK_OK;
}
