/* Elastic and inertial properties of common beam sections. */
#include "math/vec3.h"
#include "yoke/smooth.h"

yk_beam_section_def yk_beam_section_default(void)
{
    yk_beam_section_def def = {.young = 210e9, .poisson = 0.3, .density = 7850};
    yk_beam_section_tube(&def, sqrt(1e-4 / YK_PI), 0);
    return def;
}

void yk_beam_section_rectangle(yk_beam_section_def *def, double width_y, double width_z)
{
    def->area = width_y * width_z;
    def->inertia_y = width_y * width_z * width_z * width_z / 12;
    def->inertia_z = width_z * width_y * width_y * width_y / 12;
    def->shear_y = def->shear_z = 5.0 / 6;

    /* Saint-Venant: J = a b^3 (1/3 - 64 b / (pi^5 a) sum over odd n of tanh(n pi a / 2 b) / n^5)
     * for a >= b. All but the first tangents are one to rounding, and the sum over odd n of 1 / n^5
     * is 31/32 zeta(5). */
    double a = fmax(width_y, width_z);
    double b = fmin(width_y, width_z);
    double sum = 31.0 / 32 * 1.0369277551433699263;
    for (int n = 1; n <= 11; n += 2)
        sum -= (1 - tanh(0.5 * n * YK_PI * a / b)) / pow(n, 5);
    double factor = 1.0 / 3 - 64 / pow(YK_PI, 5) * b / a * sum;
    def->torsion = factor * a * b * b * b;
}

void yk_beam_section_tube(yk_beam_section_def *def, double outer_radius, double inner_radius)
{
    double outer2 = outer_radius * outer_radius;
    double inner2 = inner_radius * inner_radius;

    def->area = YK_PI * (outer2 - inner2);
    def->inertia_y = 0.25 * YK_PI * (outer2 * outer2 - inner2 * inner2);
    def->inertia_z = def->inertia_y;
    def->torsion = 2 * def->inertia_y;

    /* Cowper 1966, with the ratio of both radii squared */
    double nu = def->poisson;
    double m2 = inner2 / outer2;
    double sum2 = (1 + m2) * (1 + m2);
    def->shear_y = 6 * (1 + nu) * sum2 / ((7 + 6 * nu) * sum2 + (20 + 12 * nu) * m2);
    def->shear_z = def->shear_y;
}

yk_beam_section yk_beam_section_create(const yk_beam_section_def *def)
{
    double young = def->young;
    double shear = 0.5 * young / (1 + def->poisson);
    const double stiffness[6] = {
        young * def->area,    shear * def->area * def->shear_y, shear * def->area * def->shear_z,
        shear * def->torsion, young * def->inertia_y,           young * def->inertia_z,
    };

    /* Damping in proportion to the stiffness. */
    yk_beam_section section = {.mass = def->density * def->area};
    for (int i = 0; i < 6; i++) {
        section.stiffness[i][i] = stiffness[i];
        section.damping[i][i] = def->damping_ratio * stiffness[i];
    }

    double polar = def->inertia_y + def->inertia_z;
    double rho = def->density;
    section.inertia = yk_m3_diagonal(rho * polar, rho * def->inertia_y, rho * def->inertia_z);

    return section;
}

/* matrix = p^T matrix p */
static void transform(double matrix[6][6], double p[6][6])
{
    double half[6][6] = {{0}};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            for (int k = 0; k < 6; k++)
                half[i][j] += matrix[i][k] * p[k][j];
        }
    }

    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            matrix[i][j] = 0;
            for (int k = 0; k < 6; k++)
                matrix[i][j] += p[k][i] * half[k][j];
        }
    }
}

yk_beam_section yk_beam_section_moved(const yk_beam_section *section, double angle, double offset_y,
                                      double offset_z)
{
    double c = cos(angle);
    double s = sin(angle);
    yk_mat3 rotation = {{{1, 0, 0}, {0, c, -s}, {0, s, c}}}; /* new components to old */
    yk_vec3 offset = yk_v3(0, offset_y, offset_z);

    /* A section that turns by kappa carries the old line, which sits at -offset, along: gamma_old
     * = gamma - kappa x offset = gamma + skew(offset) kappa, all in old axes. So old strain = p
     * new strain, new matrix = p^T old p. */
    yk_mat3 arm = yk_m3_mul(yk_m3_skew(offset), rotation);
    double p[6][6] = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            p[i][j] = rotation.m[i][j];
            p[i + 3][j + 3] = rotation.m[i][j];
            p[i][j + 3] = arm.m[i][j];
        }
    }

    yk_beam_section moved = *section;
    transform(moved.stiffness, p);
    transform(moved.damping, p);
    moved.centre = yk_m3_apply_transposed(rotation, yk_v3_sub(section->centre, offset));
    moved.inertia = yk_m3_rotate(yk_m3_transpose(rotation), section->inertia);

    return moved;
}
