/* The polynomials of the scheme index1.
 *
 * The shapes are those of paper index1 (23), (24): a free mass answers to p_1 with its position
 * at the end of the step only, to p_2 with its velocity, to p_3 with its acceleration, so the
 * scaled Jacobian of free masses is diagonal. The same holds for degrees 0 and 1, which have
 * fewer parameters: degree 1 meets position and velocity, degree 0 the sum of both scaled
 * conditions (either of them alone would leave the other undamped).
 *
 * Where the direction of a wrench rotates during the step, the polynomial of the wrench meets
 * direction times multiplier at the nodes of Gauss (degrees 0, 1), Radau (2) and Lobatto (3).
 * With these it has the same first moments over the step, and the same value at the ends where
 * the degree fixes it, up to the order of the scheme. */
#include <string.h>

#include "coupling/index1/index1.h"

static const yk_index1_basis bases[YK_INPUT_COEFFICIENTS] = {
    {.degree = 0, .parameters = 1, .shape = {{2.0 / 3}}, .condition = {{1, 1, 0}}, .node = {0.5}},
    {.degree = 1,
     .parameters = 2,
     .shape = {{6, -12}, {-2, 6}},
     .condition = {{1, 0, 0}, {0, 1, 0}},
     .node = {0.2113248654051871177, 0.7886751345948128823}},
    {.degree = 2,
     .parameters = 3,
     .shape = {{12, -48, 36}, {-6, 30, -24}, {1, -6, 6}},
     .condition = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .node = {0.1550510257216821902, 0.6449489742783178098, 1}},
    {.degree = 3,
     .parameters = 3,
     .shape = {{0, 60, -180, 120}, {0, -24, 84, -60}, {0, 3, -12, 10}},
     .condition = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .node = {0, 0.2763932022500210304, 0.7236067977499789696, 1}},
};

yk_index1_basis yk_index1_basis_of(int degree)
{
    yk_index1_basis basis = bases[degree];
    memcpy(basis.moment, basis.condition, sizeof basis.moment);

    /* A constant wrench is that of the relation at the end of the step. */
    if (degree == 0) {
        basis.moment[0][0] = 0;
        basis.moment[0][1] = 0;
        basis.moment[0][2] = 1 / basis.shape[0][0];
    }

    /* Lagrange's polynomials of the nodes, and their integrals. */
    for (int i = 0; i <= degree; i++) {
        double value[YK_INDEX1_NODES] = {0};
        value[i] = 1;
        yk_poly_interpolate(basis.node, value, degree, basis.lagrange[i]);

        for (int power = 0; power <= degree; power++)
            basis.weight[i] += basis.lagrange[i][power] / (power + 1);
    }

    return basis;
}
