/* Mass, elastic forces and their derivatives of the rod element in absolute nodal coordinates;
 * ancf.h has the method.
 *
 * All strain measures are scalar products of the five gradients, so with the stress of each
 * product the force on a gradient is a sum of the others, and the stiffness at a point is a small
 * matrix of five by five blocks. */
#include "multibody/ancf.h"

#include <string.h>

#include "math/so3.h"

enum { RX, RY, RZ, RY_SLOPE, RZ_SLOPE };

/* The vectors of an element: r, r_x, r_y, r_z of node 0; r_y, r_z of the middle; r, r_x, r_y, r_z
 * of node 1. */
enum { R0, X0, Y0, Z0, YM, ZM, R1, X1, Y1, Z1 };

/* A strain measure: a factor times the product of two gradients. */
typedef struct strain_product {
    int a, b;
    double factor;
} strain_product;

/* Strains of the line, then k_y, then k_z. */
static const strain_product product[YK_ANCF_STRAINS] = {
    {RX, RX, 0.5},     {RY, RY, 0.5},     {RZ, RZ, 0.5},     {RX, RY, 1},
    {RX, RZ, 1},       {RY, RZ, 1},       {RX, RY_SLOPE, 1}, {RY, RY_SLOPE, 1},
    {RZ, RY_SLOPE, 1}, {RX, RZ_SLOPE, 1}, {RY, RZ_SLOPE, 1}, {RZ, RZ_SLOPE, 1},
};

static yk_vec3 vector_at(const double *coordinates, int k)
{
    return yk_v3(coordinates[3 * k], coordinates[3 * k + 1], coordinates[3 * k + 2]);
}

static void add_vector(double *coordinates, int k, double scale, yk_vec3 v)
{
    coordinates[3 * k] += scale * v.x;
    coordinates[3 * k + 1] += scale * v.y;
    coordinates[3 * k + 2] += scale * v.z;
}

/* The vectors that contribute to each gradient. */
static const int parts[YK_ANCF_GRADIENTS][4] = {
    {R0, X0, R1, X1}, {Y0, YM, Y1, -1}, {Z0, ZM, Z1, -1}, {Y0, YM, Y1, -1}, {Z0, ZM, Z1, -1}};
static const int part_count[YK_ANCF_GRADIENTS] = {4, 3, 3, 3, 3};

static void gradients_at(const yk_ancf_point *point, const double *coordinates,
                         yk_vec3 gradient[YK_ANCF_GRADIENTS])
{
    for (int m = 0; m < YK_ANCF_GRADIENTS; m++) {
        yk_vec3 sum = {0, 0, 0};
        for (int k = 0; k < part_count[m]; k++) {
            int vector = parts[m][k];
            sum = yk_v3_axpy(point->shape[m][vector], vector_at(coordinates, vector), sum);
        }

        gradient[m] = sum;
    }
}

/* Creation ------------------------------------------------------------------------------------- */

/* Hermite cubics for r, in the order of parts[RX]. */
static void line_shapes(double xi, double l, double shape[4])
{
    double square = xi * xi;
    double cube = square * xi;

    shape[0] = 1 - 3 * square + 2 * cube;
    shape[1] = l * (xi - 2 * square + cube);
    shape[2] = 3 * square - 2 * cube;
    shape[3] = l * (cube - square);
}

yk_vec3 yk_ancf_line(const yk_ancf *element, const double *coordinates, double xi)
{
    double shape[4];
    yk_vec3 sum = {0, 0, 0};

    line_shapes(xi, element->length, shape);
    for (int k = 0; k < 4; k++)
        sum = yk_v3_axpy(shape[k], vector_at(coordinates, parts[RX][k]), sum);
    return sum;
}

/* Lagrange parabolas for r_y and r_z. */
static void section_shapes(double xi, double shape[3])
{
    /* Their sum is one. */
    shape[0] = 1 - 3 * xi + 2 * xi * xi;
    shape[1] = 4 * xi * (1 - xi);
    shape[2] = xi * (2 * xi - 1);
}

/* Shapes of the gradients at a Gauss point: derivatives of the cubics, the parabolas and their
 * derivatives. */
static void fill_point(double xi, double l, yk_ancf_point *point)
{
    /* Derivatives of Hermite's cubics along the line, of the parabolas along the rod. */
    double square = xi * xi;
    const double line[4] = {
        (6 * square - 6 * xi) / l,
        1 - 4 * xi + 3 * square,
        (6 * xi - 6 * square) / l,
        3 * square - 2 * xi,
    };
    const double slope[3] = {(4 * xi - 3) / l, (4 - 8 * xi) / l, (4 * xi - 1) / l};
    double across[3];

    section_shapes(xi, across);

    /* Which vectors make them up: see parts. */
    memset(point->shape, 0, sizeof point->shape);
    for (int k = 0; k < 4; k++)
        point->shape[RX][parts[RX][k]] = line[k];
    for (int k = 0; k < 3; k++) {
        point->shape[RY][parts[RY][k]] = across[k];
        point->shape[RZ][parts[RZ][k]] = across[k];
        point->shape[RY_SLOPE][parts[RY][k]] = slope[k];
        point->shape[RZ_SLOPE][parts[RZ][k]] = slope[k];
    }
}

/* Products of cubics are of sixth degree: four points integrate them exactly. */
static void fill_mass(const yk_beam_section_def *section, yk_ancf *element)
{
    static const double node[4] = {-0.86113631159405257522, -0.33998104358485626480,
                                   0.33998104358485626480, 0.86113631159405257522};
    static const double gauss[4] = {0.34785484513745385737, 0.65214515486254614263,
                                    0.65214515486254614263, 0.34785484513745385737};
    double l = element->length;
    double rho = section->density;
    double area = section->area;

    /* The weight of the line is the area, the weights of the gradients across it are the second
     * moments of area. */
    for (int g = 0; g < 4; g++) {
        double xi = 0.5 * (1 + node[g]);
        double weight = 0.5 * gauss[g] * l;
        double line[4];
        double across[3];

        line_shapes(xi, l, line);
        section_shapes(xi, across);

        /* The line: weight and mass of its four vectors. */
        for (int i = 0; i < 4; i++) {
            int a = parts[RX][i];
            element->weight[a] += weight * rho * area * line[i];
            for (int j = 0; j < 4; j++)
                element->mass[a][parts[RX][j]] += weight * rho * area * line[i] * line[j];
        }

        /* Both gradients across it. */
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double fraction = weight * rho * across[i] * across[j];
                element->mass[parts[RY][i]][parts[RY][j]] += fraction * section->area_moment_z;
                element->mass[parts[RZ][i]][parts[RZ][j]] += fraction * section->area_moment_y;
            }
        }
    }
}

/* In the order of `product`. */
static void fill_law(const yk_beam_section_def *section,
                     double law[YK_ANCF_STRAINS][YK_ANCF_STRAINS])
{
    double e = section->young_modulus;
    double nu = section->poisson_ratio;
    double g = 0.5 * e / (1 + nu);
    double lame = e * nu / ((1 + nu) * (1 - 2 * nu));
    double a = section->area;
    double y_square = section->area_moment_z;
    double z_square = section->area_moment_y;
    double polar = y_square + z_square;

    /* Strains of the line. */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            law[i][j] = a * lame;
        law[i][i] = a * (lame + 2 * g);
    }

    /* Shear of the line against the section. */
    law[3][3] = g * a * section->shear_factor_y;
    law[4][4] = g * a * section->shear_factor_z;
    law[5][5] = g * a;

    /* Bending, and shear within the section that varies along the rod. */
    law[6][6] = e * y_square;
    law[7][7] = g * y_square;
    law[9][9] = e * z_square;
    law[11][11] = g * z_square;

    /* Twist is half the difference of z.k_y and y.k_z and is resisted by the torsion constant. Half
     * their sum, a shear of the section that varies along the rod, is resisted by the polar moment. */
    law[8][8] = 0.25 * g * (polar + section->torsion_constant);
    law[10][10] = law[8][8];
    law[8][10] = 0.25 * g * (polar - section->torsion_constant);
    law[10][8] = law[8][10];
}

/* The products of the gradients, in the order of `product`. */
static void strain_measures(const yk_vec3 g[YK_ANCF_GRADIENTS], double strain[YK_ANCF_STRAINS])
{
    strain[0] = 0.5 * yk_v3_norm2(g[RX]);
    strain[1] = 0.5 * yk_v3_norm2(g[RY]);
    strain[2] = 0.5 * yk_v3_norm2(g[RZ]);
    strain[3] = yk_v3_dot(g[RX], g[RY]);
    strain[4] = yk_v3_dot(g[RX], g[RZ]);
    strain[5] = yk_v3_dot(g[RY], g[RZ]);

    /* Products with the slopes of r_y and of r_z. */
    for (int k = 0; k < 3; k++) {
        strain[6 + k] = yk_v3_dot(g[RX + k], g[RY_SLOPE]);
        strain[9 + k] = yk_v3_dot(g[RX + k], g[RZ_SLOPE]);
    }
}

yk_status yk_ancf_create(yk_context *context, double length, const yk_beam_section_def *section,
                         const double coordinates[YK_ANCF_COORDINATES], yk_ancf *element)
{
    static const double node[YK_ANCF_POINTS] = {-0.77459666924148337704, 0, 0.77459666924148337704};
    static const double gauss[YK_ANCF_POINTS] = {5.0 / 9, 8.0 / 9, 5.0 / 9};

    /* Requirements for positive mass and stiffness. */
    bool geometry =
        length > 0 && section->area > 0 && section->area_moment_y > 0 && section->area_moment_z > 0;
    bool factors =
        section->torsion_constant > 0 && section->shear_factor_y > 0 && section->shear_factor_z > 0;
    bool material = section->young_modulus > 0 && section->density > 0 &&
                    section->poisson_ratio > -1 && section->poisson_ratio < 0.5;
    if (!(geometry && factors && material))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "length, material and section of a rod must be positive, and Poisson's "
                       "ratio below 0.5");

    *element = (yk_ancf){.length = length, .damping_ratio = section->rayleigh_beta};
    fill_mass(section, element);
    fill_law(section, element->law);

    /* Shapes at the Gauss points, and the strain of the undeformed shape. */
    for (int g = 0; g < YK_ANCF_POINTS; g++) {
        yk_ancf_point *point = &element->point[g];
        yk_vec3 gradient[YK_ANCF_GRADIENTS];
        fill_point(0.5 * (1 + node[g]), length, point);
        point->weight = 0.5 * gauss[g] * length;
        gradients_at(point, coordinates, gradient);
        strain_measures(gradient, point->reference);
    }

    return YK_OK;
}

/* Initial shapes ------------------------------------------------------------------------------- */

/* The vectors of the first end, the middle and the last. */
static const int station[3][4] = {{R0, X0, Y0, Z0}, {-1, -1, YM, ZM}, {R1, X1, Y1, Z1}};

/* The vectors of a station rigidly connected to the start: `arm` from there, `frame` of the
 * section. */
static void set_station(const int vector[4], const yk_frame *start, yk_vec3 arm,
                        const yk_mat3 *frame, double *coordinates, double *rates)
{
    for (int k = 0; k < 4; k++) {
        if (vector[k] < 0)
            continue;

        /* A position from the start, or an axis of the section. */
        yk_vec3 v = arm;
        if (k > 0)
            v = yk_m3_column(frame, k - 1);
        yk_vec3 rate = yk_v3_cross(start->angular_velocity, v);
        if (k == 0) {
            v = yk_v3_add(start->position, v);
            rate = yk_v3_add(start->velocity, rate);
        }

        add_vector(coordinates, vector[k], 1, v);
        if (rates)
            add_vector(rates, vector[k], 1, rate);
    }
}

void yk_ancf_straight(const yk_frame *start, double from, double length, double *coordinates,
                      double *rates)
{
    memset(coordinates, 0, YK_ANCF_COORDINATES * sizeof *coordinates);
    if (rates)
        memset(rates, 0, YK_ANCF_COORDINATES * sizeof *rates);

    yk_vec3 x = yk_m3_column(&start->rotation, 0);
    for (int p = 0; p < 3; p++) {
        yk_vec3 arm = yk_v3_scale(from + 0.5 * p * length, x);
        set_station(station[p], start, arm, &start->rotation, coordinates, rates);
    }
}

void yk_ancf_arc(const yk_frame *start, yk_vec3 curvature, double from, double length,
                 double *coordinates, double *rates)
{
    if (yk_v3_norm2(curvature) == 0) {
        yk_ancf_straight(start, from, length, coordinates, rates);
        return;
    }

    /* The rotation of a section is curvature times arc length. */
    memset(coordinates, 0, YK_ANCF_COORDINATES * sizeof *coordinates);
    memset(rates, 0, YK_ANCF_COORDINATES * sizeof *rates);
    for (int p = 0; p < 3; p++) {
        double s = from + 0.5 * p * length;
        yk_vec3 psi = yk_v3_scale(s, curvature);
        yk_mat3 frame = yk_m3_mul(start->rotation, yk_so3_exp_matrix(psi));
        yk_vec3 along = yk_m3_apply(yk_so3_left_tangent(psi), yk_v3(s, 0, 0));
        set_station(station[p], start, yk_m3_apply(start->rotation, along), &frame, coordinates,
                    rates);
    }
}

/* Forces --------------------------------------------------------------------------------------- */

/* The mass matrix couples the vectors of the line with each other, and those of r_y and r_z. */
void yk_ancf_momenta(const yk_ancf *element, const double *rates, double *momenta)
{
    for (int m = RX; m <= RZ; m++) {
        for (int a = 0; a < part_count[m]; a++) {
            const double *mass = element->mass[parts[m][a]];
            yk_vec3 sum = {0, 0, 0};
            for (int b = 0; b < part_count[m]; b++)
                sum = yk_v3_axpy(mass[parts[m][b]], vector_at(rates, parts[m][b]), sum);
            add_vector(momenta, parts[m][a], 1, sum);
        }
    }
}

/* The material law has one full block of three strains and one of two. */
static void apply_law(const double law[YK_ANCF_STRAINS][YK_ANCF_STRAINS], const double *strain,
                      double *stress)
{
    for (int i = 0; i < YK_ANCF_STRAINS; i++)
        stress[i] = law[i][i] * strain[i];

    /* The full block of three. */
    double side = law[0][1];
    double sum = side * (strain[0] + strain[1] + strain[2]);
    for (int i = 0; i < 3; i++)
        stress[i] += sum - side * strain[i];

    /* The block of two. */
    stress[8] += law[8][10] * strain[10];
    stress[10] += law[8][10] * strain[8];
}

/* Gradients, their rates and the stresses at a point. */
typedef struct point_state {
    yk_vec3 gradient[YK_ANCF_GRADIENTS];
    yk_vec3 rate[YK_ANCF_GRADIENTS];
    double stress[YK_ANCF_STRAINS];
    double energy, loss;
} point_state;

static void point_at(const yk_ancf *element, const yk_ancf_point *point, const double *coordinates,
                     const double *rates, point_state *at)
{
    /* Elastic stress and energy. */
    double strain[YK_ANCF_STRAINS];
    gradients_at(point, coordinates, at->gradient);
    strain_measures(at->gradient, strain);
    for (int s = 0; s < YK_ANCF_STRAINS; s++)
        strain[s] -= point->reference[s];
    apply_law(element->law, strain, at->stress);
    at->energy = 0;
    for (int s = 0; s < YK_ANCF_STRAINS; s++)
        at->energy += 0.5 * at->stress[s] * strain[s];

    /* Without damping, this is the result. */
    at->loss = 0;
    if (element->damping_ratio == 0)
        return;

    /* Viscous stress: the law of the strain rates. */
    double strain_rate[YK_ANCF_STRAINS];
    double viscous[YK_ANCF_STRAINS];
    gradients_at(point, rates, at->rate);
    for (int s = 0; s < YK_ANCF_STRAINS; s++) {
        int a = product[s].a;
        int b = product[s].b;
        double both =
            yk_v3_dot(at->gradient[a], at->rate[b]) + yk_v3_dot(at->rate[a], at->gradient[b]);
        strain_rate[s] = product[s].factor * both;
    }

    apply_law(element->law, strain_rate, viscous);
    for (int s = 0; s < YK_ANCF_STRAINS; s++) {
        at->stress[s] += element->damping_ratio * viscous[s];
        at->loss += element->damping_ratio * viscous[s] * strain_rate[s];
    }
}

void yk_ancf_evaluate(const yk_ancf *element, const double *coordinates, const double *rates,
                      yk_ancf_loads *loads)
{
    memset(loads, 0, sizeof *loads);
    for (int g = 0; g < YK_ANCF_POINTS; g++) {
        const yk_ancf_point *point = &element->point[g];

        point_state at;
        point_at(element, point, coordinates, rates, &at);

        /* Minus the derivative of the energy with respect to each gradient. */
        yk_vec3 force[YK_ANCF_GRADIENTS] = {{0, 0, 0}};
        for (int s = 0; s < YK_ANCF_STRAINS; s++) {
            int a = product[s].a;
            int b = product[s].b;
            double stress = -point->weight * product[s].factor * at.stress[s];
            force[a] = yk_v3_axpy(stress, at.gradient[b], force[a]);
            force[b] = yk_v3_axpy(stress, at.gradient[a], force[b]);
        }

        /* And from the gradients to the coordinates. */
        for (int m = 0; m < YK_ANCF_GRADIENTS; m++) {
            for (int k = 0; k < part_count[m]; k++)
                add_vector(loads->force, parts[m][k], point->shape[m][parts[m][k]], force[m]);
        }

        loads->energy += point->weight * at.energy;
        loads->loss += point->weight * at.loss;
    }
}

/* Derivatives ---------------------------------------------------------------------------------- */

enum { LOCAL = 3 * YK_ANCF_GRADIENTS };

/* Derivative of strain s with respect to the gradients: two vectors. */
static void strain_gradient(const yk_vec3 *gradient, int s, double row[LOCAL])
{
    memset(row, 0, LOCAL * sizeof *row);
    add_vector(row, product[s].a, product[s].factor, gradient[product[s].b]);
    add_vector(row, product[s].b, product[s].factor, gradient[product[s].a]);
}

/* -sum of law_st (d strain_s)^T (d other_t): `other` are the strains, or their rates as functions
 * of the gradients. */
static void add_material(const yk_ancf *element, const yk_vec3 *gradient, const yk_vec3 *other,
                         double scale, double local[LOCAL][LOCAL])
{
    double left[YK_ANCF_STRAINS][LOCAL];
    double right[YK_ANCF_STRAINS][LOCAL];

    /* Derivatives of all strains on both sides. */
    for (int s = 0; s < YK_ANCF_STRAINS; s++) {
        strain_gradient(gradient, s, left[s]);
        strain_gradient(other, s, right[s]);
    }

    /* The material law couples few pairs of strains. */
    for (int s = 0; s < YK_ANCF_STRAINS; s++) {
        for (int t = 0; t < YK_ANCF_STRAINS; t++) {
            double law = scale * element->law[s][t];
            if (law == 0)
                continue;

            for (int i = 0; i < LOCAL; i++) {
                if (left[s][i] != 0) {
                    for (int j = 0; j < LOCAL; j++)
                        local[i][j] -= law * left[s][i] * right[t][j];
                }
            }
        }
    }
}

/* From the gradients of a point to the coordinates of the element. */
static void add_to_element(const yk_ancf_point *point, double local[LOCAL][LOCAL],
                           double result[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES])
{
    for (int m = 0; m < YK_ANCF_GRADIENTS; m++) {
        for (int n = 0; n < YK_ANCF_GRADIENTS; n++) {
            for (int p = 0; p < part_count[m]; p++) {
                for (int q = 0; q < part_count[n]; q++) {
                    int row = parts[m][p];
                    int column = parts[n][q];
                    double shape = point->weight * point->shape[m][row] * point->shape[n][column];
                    for (int i = 0; i < 3; i++) {
                        for (int j = 0; j < 3; j++)
                            result[3 * row + i][3 * column + j] +=
                                shape * local[3 * m + i][3 * n + j];
                    }
                }
            }
        }
    }
}

void yk_ancf_tangent(const yk_ancf *element, const double *coordinates, const double *rates,
                     double transform[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES],
                     double rate[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES])
{
    size_t bytes = sizeof(double[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES]);
    double damping = element->damping_ratio;

    memset(transform, 0, bytes);
    if (rate)
        memset(rate, 0, bytes);

    for (int g = 0; g < YK_ANCF_POINTS; g++) {
        const yk_ancf_point *point = &element->point[g];

        point_state at;
        point_at(element, point, coordinates, rates, &at);

        /* The stress changes with the strains and their rates. */
        double local[LOCAL][LOCAL] = {{0}};
        add_material(element, at.gradient, at.gradient, 1, local);
        if (damping > 0)
            add_material(element, at.gradient, at.rate, damping, local);

        /* The strains' derivatives change under the stress. */
        for (int s = 0; s < YK_ANCF_STRAINS; s++) {
            double stress = product[s].factor * at.stress[s];
            for (int k = 0; k < 3; k++) {
                int a = 3 * product[s].a + k;
                int b = 3 * product[s].b + k;
                local[a][b] -= stress;
                local[b][a] -= stress;
            }
        }

        add_to_element(point, local, transform);

        /* With respect to the rates: the viscous part only. */
        if (!rate || damping == 0)
            continue;

        double viscous[LOCAL][LOCAL] = {{0}};
        add_material(element, at.gradient, at.gradient, damping, viscous);
        add_to_element(point, viscous, rate);
    }
}

/* Sections ------------------------------------------------------------------------------------- */

/* The frame of a section in absolute nodal coordinates, and its derivatives.
 *
 * With x along r_y x r_z and y*, z* the dual vectors of r_y, r_z in the section's plane,
 *
 *   dtheta = - (x cross y*) (x . dr_y) - (x cross z*) (x . dr_z) + x (turn_y . dr_y + turn_z .
 *   dr_z) / 2,
 *
 * turn_y = (x cross r_y) / |r_y|^2: tilts of the plane, and the mean of the rotations of both
 * gradients in it. Second derivatives come from forward differentiation of these lines, one
 * direction at a time. */

/* A number or vector and its derivative in one direction. */
typedef struct scalar {
    double v, d;
} scalar;

typedef struct vector {
    yk_vec3 v, d;
} vector;

static scalar dot(vector a, vector b)
{
    return (scalar){yk_v3_dot(a.v, b.v), yk_v3_dot(a.d, b.v) + yk_v3_dot(a.v, b.d)};
}

static vector cross(vector a, vector b)
{
    return (vector){yk_v3_cross(a.v, b.v), yk_v3_add(yk_v3_cross(a.d, b.v), yk_v3_cross(a.v, b.d))};
}

static vector scale(scalar s, vector a)
{
    return (vector){yk_v3_scale(s.v, a.v), yk_v3_axpy(s.d, a.v, yk_v3_scale(s.v, a.d))};
}

static vector add(vector a, vector b)
{
    return (vector){yk_v3_add(a.v, b.v), yk_v3_add(a.d, b.d)};
}

static scalar inverse(scalar s)
{
    return (scalar){1 / s.v, -s.d / (s.v * s.v)};
}

static scalar negative(scalar s)
{
    return (scalar){-s.v, -s.d};
}

static scalar half(scalar s)
{
    return (scalar){0.5 * s.v, 0.5 * s.d};
}

/* The section's normal, the tilts (x cross dual) and the rotations of both gradients. */
typedef struct section {
    vector x, tilt[2], rotation[2];
} section;

static section section_of(vector y, vector z)
{
    vector normal = cross(y, z);
    scalar square = dot(normal, normal);
    double length = sqrt(square.v);
    scalar area = {length, 0.5 * square.d / length};
    scalar by_area = inverse(area);
    section s = {.x = scale(by_area, normal)};

    /* y* = z cross x / area, so x cross y* = z / area; likewise x cross z* = -y / area. */
    s.tilt[0] = scale(by_area, z);
    s.tilt[1] = scale(negative(by_area), y);

    /* Half of each, because their mean is used. */
    s.rotation[0] = scale(half(inverse(dot(y, y))), cross(s.x, y));
    s.rotation[1] = scale(half(inverse(dot(z, z))), cross(s.x, z));

    return s;
}

static vector vector_of(const double *value, const double *direction)
{
    vector v = {{value[0], value[1], value[2]}, {0, 0, 0}};
    if (direction)
        v.d = yk_v3(direction[0], direction[1], direction[2]);
    return v;
}

void yk_ancf_section_pose(const double coordinates[YK_ANCF_SECTION],
                          const double rates[YK_ANCF_SECTION], yk_frame *placed, double *jacobian)
{
    vector y = vector_of(coordinates + 3, NULL);
    vector z = vector_of(coordinates + 6, NULL);
    section s = section_of(y, z);

    placed->position = yk_v3(coordinates[0], coordinates[1], coordinates[2]);
    placed->velocity = yk_v3(rates[0], rates[1], rates[2]);

    /* The axes y and z rotated by equal angles from r_y and r_z: the bisector of their directions
     * is that of the frame's axes. */
    yk_vec3 normal = s.x.v;
    yk_vec3 middle = yk_v3_unit(yk_v3_add(yk_v3_unit(y.v), yk_v3_unit(z.v)));
    yk_vec3 across = yk_v3_cross(normal, middle);
    yk_vec3 second = yk_v3_scale(sqrt(0.5), yk_v3_sub(middle, across));
    placed->rotation = yk_m3_columns(normal, second, yk_v3_cross(normal, second));

    /* dtheta above, with rates instead of changes */
    yk_vec3 y_rate = yk_v3(rates[3], rates[4], rates[5]);
    yk_vec3 z_rate = yk_v3(rates[6], rates[7], rates[8]);
    double twist = yk_v3_dot(s.rotation[0].v, y_rate) + yk_v3_dot(s.rotation[1].v, z_rate);
    yk_vec3 spin = yk_v3_scale(-yk_v3_dot(s.x.v, y_rate), s.tilt[0].v);
    spin = yk_v3_axpy(-yk_v3_dot(s.x.v, z_rate), s.tilt[1].v, spin);
    placed->angular_velocity = yk_v3_axpy(twist, s.x.v, spin);
    if (!jacobian)
        return;

    /* The same by each coordinate. */
    memset(jacobian, 0, 6 * YK_ANCF_SECTION * sizeof *jacobian);
    for (int i = 0; i < 3; i++)
        jacobian[YK_ANCF_SECTION * i + i] = 1;
    for (int k = 0; k < 2; k++) {
        yk_mat3 map =
            yk_m3_sub(yk_m3_outer(s.x.v, s.rotation[k].v), yk_m3_outer(s.tilt[k].v, s.x.v));
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                jacobian[YK_ANCF_SECTION * (3 + i) + 3 + 3 * k + j] = map.m[i][j];
        }
    }
}

void yk_ancf_section_bias(const double coordinates[YK_ANCF_SECTION],
                          const double rates[YK_ANCF_SECTION], yk_vec3 *acceleration,
                          yk_vec3 *angular_acceleration)
{
    /* The angular velocity, differentiated along the rates. */
    vector y = vector_of(coordinates + 3, rates + 3);
    vector z = vector_of(coordinates + 6, rates + 6);
    section s = section_of(y, z);
    vector spin = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 2; k++) {
        vector rate = vector_of(rates + 3 + 3 * k, NULL);
        spin = add(spin, scale(negative(dot(s.x, rate)), s.tilt[k]));
        spin = add(spin, scale(dot(s.rotation[k], rate), s.x));
    }

    *acceleration = yk_v3(0, 0, 0);
    *angular_acceleration = spin.d;
}

void yk_ancf_section_stiffness(const double coordinates[YK_ANCF_SECTION], yk_vec3 torque,
                               double factor, double *tangent)
{
    vector fixed = {torque, {0, 0, 0}};
    for (int column = 3; column < YK_ANCF_SECTION; column++) {
        double direction[YK_ANCF_SECTION] = {0};
        direction[column] = 1;
        section s = section_of(vector_of(coordinates + 3, direction + 3),
                               vector_of(coordinates + 6, direction + 6));

        /* The torque on r_y and r_z: the transposed map times the torque, differentiated along one
         * coordinate. */
        for (int k = 0; k < 2; k++) {
            vector twist = scale(dot(fixed, s.x), s.rotation[k]);
            vector load = add(twist, scale(negative(dot(fixed, s.tilt[k])), s.x));
            double *at = &tangent[YK_ANCF_SECTION * (3 + 3 * k) + column];
            at[0] += factor * load.d.x;
            at[YK_ANCF_SECTION] += factor * load.d.y;
            at[2 * YK_ANCF_SECTION] += factor * load.d.z;
        }
    }
}
