/* The scheme index1 with 33 digits, independent of the library: orders beyond the reach of double
 * precision.
 *
 * Meyer et al. 2018, figures 7, 8, 12, 13. Oscillator: both masses by the matrix exponential.
 * Double pendulum: both links by extrapolation of the midpoint rule to order 20, with fully
 * converged Newton iterations. The reference is the same system without the cut. Prints CSV. */
#include <stdio.h>
#include <string.h>

__extension__ typedef __float128 real;

enum { POWERS = 4, UNKNOWNS_MAX = 6, STATES_MAX = 8 };

/* Elementary functions ------------------------------------------------------------------------- */

static real magnitude(real x)
{
    return x < 0 ? -x : x;
}

static real larger(real a, real b)
{
    return a > b ? a : b;
}

static real root(real x)
{
    real y = x > 1 ? x : 1;
    for (int i = 0; i < 120; i++)
        y = (y + x / y) / 2;
    return y;
}

/* Taylor series after halving the angle six times. */
static void sine_cosine(real x, real *s, real *c)
{
    enum { HALVINGS = 6, TERMS = 18 };
    real y = x / (1 << HALVINGS), term = 1;
    *s = 0, *c = 1;
    for (int i = 1; i <= 2 * TERMS; i++) {
        term *= y / i;
        real with_sign = (i / 2) % 2 ? -term : term;
        if (i % 2)
            *s += with_sign;
        else
            *c += with_sign;
    }
    for (int i = 0; i < HALVINGS; i++) {
        real twice = 2 * *s * *c;
        *c = 1 - 2 * *s * *s;
        *s = twice;
    }
}

/* log2 of a ratio, to a few digits. */
static double order(real coarse, real fine)
{
    real ratio = coarse / fine;
    double whole = 0;
    while (ratio >= 2)
        ratio /= 2, whole++;
    while (ratio < 1 && ratio > 0)
        ratio *= 2, whole--;
    double fraction = 0;
    for (int bit = 1; bit < 20; bit++) {
        ratio *= ratio;
        if (ratio >= 2)
            ratio /= 2, fraction += 1.0 / (1 << bit);
    }
    return whole + fraction;
}

/* Gaussian elimination with pivots; the solution replaces b. */
static void solve(int n, real a[UNKNOWNS_MAX][UNKNOWNS_MAX], real *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (magnitude(a[i][k]) > magnitude(a[pivot][k]))
                pivot = i;
        for (int j = 0; j < n; j++) {
            real swapped = a[k][j];
            a[k][j] = a[pivot][j], a[pivot][j] = swapped;
        }
        real swapped = b[k];
        b[k] = b[pivot], b[pivot] = swapped;
        for (int i = k + 1; i < n; i++) {
            real factor = a[i][k] / a[k][k];
            for (int j = k; j < n; j++)
                a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

/* Scheme --------------------------------------------------------------------------------------- */

/* Meyer et al. 2018 (23), (24), in powers of tau. */
static const int shapes[2][3][POWERS] = {{{12, -48, 36, 0}, {-6, 30, -24, 0}, {1, -6, 6, 0}},
                                         {{0, 60, -180, 120}, {0, -24, 84, -60}, {0, 3, -12, 10}}};

/* A system split in two: `rows` constraints, its state, and the multipliers of the last step in
 * powers of tau. */
typedef struct cut {
    int rows;
    real state[STATES_MAX];
    real multiplier[2][POWERS];
} cut;

/* Advances the parts with the multipliers of the cut, and gives g, g', g'' of all rows. */
typedef void (*advance)(const cut *from, real h, cut *to, real g[3][2]);

static void conditions(advance step, const cut *from, real h, const real *parameters, int degree,
                       cut *to, real *r)
{
    cut start = *from;
    real g[3][2] = {{0}};
    for (int row = 0; row < from->rows; row++) {
        real last = 0;
        for (int power = 0; power < POWERS; power++)
            last += from->multiplier[row][power];
        for (int power = 0; power < POWERS; power++) {
            start.multiplier[row][power] = degree == 3 && power == 0 ? last : 0;
            for (int k = 0; k < 3; k++)
                start.multiplier[row][power] +=
                    parameters[k * from->rows + row] * shapes[degree - 2][k][power];
        }
    }
    *to = start;
    step(&start, h, to, g);
    for (int row = 0; row < from->rows; row++) {
        r[row] = g[0][row] / (h * h);
        r[from->rows + row] = g[1][row] / h;
        r[2 * from->rows + row] = g[2][row];
    }
}

/* One macro step: Newton's method with finite differences until convergence. */
static void macro_step(advance step, const cut *from, real h, int degree, cut *to)
{
    int n = 3 * from->rows;
    real parameters[UNKNOWNS_MAX] = {0}, r[UNKNOWNS_MAX], changed[UNKNOWNS_MAX],
         jacobian[UNKNOWNS_MAX][UNKNOWNS_MAX];
    const real difference = (real)1e-14;
    for (int iteration = 0; iteration < 4; iteration++) {
        conditions(step, from, h, parameters, degree, to, r);
        for (int j = 0; j < n; j++) {
            cut other;
            parameters[j] += difference;
            conditions(step, from, h, parameters, degree, &other, changed);
            parameters[j] -= difference;
            for (int i = 0; i < n; i++)
                jacobian[i][j] = (changed[i] - r[i]) / difference;
        }
        solve(n, jacobian, r);
        for (int j = 0; j < n; j++)
            parameters[j] -= r[j];
    }
    conditions(step, from, h, parameters, degree, to, r);
}

/* Oscillator ----------------------------------------------------------------------------------- */

static const real OSCILLATOR_STIFFNESS = 1000, OSCILLATOR_DAMPING = 10;

/* exp(h A) by Taylor series with squaring: position, velocity, and the powers of an input as
 * further states. */
enum { EXTENDED = 6 };

static void exponential(real mass, real stiffness, real damping, real h, real e[EXTENDED][EXTENDED])
{
    real a[EXTENDED][EXTENDED] = {{0}}, term[EXTENDED][EXTENDED] = {{0}}, next[EXTENDED][EXTENDED];
    int halvings = 12;
    real s = h / (1 << halvings);
    a[0][1] = s, a[1][0] = -s * stiffness / mass, a[1][1] = -s * damping / mass, a[1][2] = s / mass;
    for (int i = 2; i < EXTENDED - 1; i++)
        a[i][i + 1] = s;
    memset(e, 0, sizeof(real[EXTENDED][EXTENDED]));
    for (int i = 0; i < EXTENDED; i++)
        e[i][i] = term[i][i] = 1;
    for (int n = 1; n < 30 + halvings; n++) {
        int terms = n < 30;
        for (int i = 0; i < EXTENDED; i++)
            for (int j = 0; j < EXTENDED; j++) {
                next[i][j] = 0;
                for (int k = 0; k < EXTENDED; k++)
                    next[i][j] += terms ? term[i][k] * a[k][j] / n : e[i][k] * e[k][j];
            }
        for (int i = 0; i < EXTENDED; i++)
            for (int j = 0; j < EXTENDED; j++) {
                term[i][j] = next[i][j];
                e[i][j] = terms ? e[i][j] + next[i][j] : next[i][j];
            }
    }
}

static real maps[2][EXTENDED][EXTENDED], whole[EXTENDED][EXTENDED];

static void prepare_oscillator(real h)
{
    for (int i = 0; i < 2; i++)
        exponential(1 + i, OSCILLATOR_STIFFNESS, OSCILLATOR_DAMPING, h, maps[i]);
    exponential(3, 2 * OSCILLATOR_STIFFNESS, 2 * OSCILLATOR_DAMPING, h, whole);
}

/* States: x1, v1, x2, v2. */
static void advance_oscillator(const cut *from, real h, cut *to, real g[3][2])
{
    static const int factorial[POWERS] = {1, 1, 2, 6};
    real end[2][3], power_of_h = 1, value = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            end[i][k] = maps[i][k][0] * from->state[2 * i] + maps[i][k][1] * from->state[2 * i + 1];
    for (int power = 0; power < POWERS; power++, power_of_h *= h) {
        real u = factorial[power] * from->multiplier[0][power] / power_of_h;
        value += from->multiplier[0][power];
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 2; k++)
                end[i][k] += (i ? -1 : 1) * maps[i][k][2 + power] * u;
    }
    for (int i = 0; i < 2; i++) {
        real force = (i ? -value : value) - OSCILLATOR_STIFFNESS * end[i][0] -
                     OSCILLATOR_DAMPING * end[i][1];
        end[i][2] = force / (1 + i);
        to->state[2 * i] = end[i][0], to->state[2 * i + 1] = end[i][1];
    }
    for (int level = 0; level < 3; level++)
        g[level][0] = end[0][level] - end[1][level];
}

/* Double pendulum ------------------------------------------------------------------------------ */

static const real GRAVITY = (real)981 / 100;

typedef struct link_force {
    real x, y;
} link_force;

static link_force force_at(const cut *c, real tau)
{
    link_force f = {0, 0};
    for (int power = POWERS - 1; power >= 0; power--) {
        f.x = f.x * tau + c->multiplier[0][power];
        f.y = f.y * tau + c->multiplier[1][power];
    }
    return f;
}

enum { CUT_STATES = 8, WHOLE_STATES = 4 };

/* y: phi1, omega1, x, y, phi2, vx, vy, omega2. */
static void cut_rates(const real *y, link_force f, real *rate)
{
    real s1, c1, s2, c2;
    sine_cosine(y[0], &s1, &c1);
    sine_cosine(y[4], &s2, &c2);
    rate[0] = y[1];
    rate[1] = 3 * (-GRAVITY * c1 / 2 + s1 * f.x - c1 * f.y);
    rate[2] = y[5], rate[3] = y[6], rate[4] = y[7];
    rate[5] = f.x, rate[6] = f.y - GRAVITY;
    rate[7] = 12 * (-(c2 * f.y - s2 * f.x) / 2);
}

/* y: phi1, phi2, omega1, omega2. */
static void whole_rates(const real *y, link_force f, real *rate)
{
    (void)f;
    real s1, c1, s2, c2, s, c;
    sine_cosine(y[0], &s1, &c1);
    sine_cosine(y[1], &s2, &c2);
    s = s1 * c2 - c1 * s2, c = c1 * c2 + s1 * s2;
    real m11 = 4 / (real)3, m22 = 1 / (real)3, m12 = c / 2;
    real f1 = -s * y[3] * y[3] / 2 - 3 * GRAVITY * c1 / 2,
         f2 = s * y[2] * y[2] / 2 - GRAVITY * c2 / 2;
    real det = m11 * m22 - m12 * m12;
    rate[0] = y[2], rate[1] = y[3];
    rate[2] = (m22 * f1 - m12 * f2) / det, rate[3] = (m11 * f2 - m12 * f1) / det;
}

typedef void (*rates)(const real *y, link_force f, real *rate);

/* The midpoint rule with 2, 4, ... substeps, extrapolated in their squares (Gragg, Bulirsch,
 * Stoer). */
static void extrapolate(rates f, int n, const cut *c, real h, real *y)
{
    enum { COLUMNS = 10 };
    real table[COLUMNS][CUT_STATES];
    for (int j = 0; j < COLUMNS; j++) {
        int steps = 2 * (j + 1);
        real d = h / steps, before[CUT_STATES], now[CUT_STATES], rate[CUT_STATES];
        memcpy(before, y, (size_t)n * sizeof *y);
        f(y, c ? force_at(c, 0) : (link_force){0, 0}, rate);
        for (int i = 0; i < n; i++)
            now[i] = y[i] + d * rate[i];
        for (int k = 1; k <= steps; k++) {
            f(now, c ? force_at(c, (real)k / steps) : (link_force){0, 0}, rate);
            if (k == steps)
                break;
            for (int i = 0; i < n; i++) {
                real next = before[i] + 2 * d * rate[i];
                before[i] = now[i], now[i] = next;
            }
        }
        for (int i = 0; i < n; i++)
            table[j][i] = (now[i] + before[i] + d * rate[i]) / 2;
        for (int k = j - 1; k >= 0; k--) {
            real ratio = (real)(j + 1) / (k + 1);
            for (int i = 0; i < n; i++)
                table[k][i] =
                    table[k + 1][i] + (table[k + 1][i] - table[k][i]) / (ratio * ratio - 1);
        }
    }
    memcpy(y, table[0], (size_t)n * sizeof *y);
}

static void advance_pendulum(const cut *from, real h, cut *to, real g[3][2])
{
    real y[CUT_STATES], rate[CUT_STATES], s1, c1, s2, c2;
    memcpy(y, from->state, sizeof y);
    extrapolate(cut_rates, CUT_STATES, from, h, y);
    cut_rates(y, force_at(from, 1), rate);
    memcpy(to->state, y, sizeof y);
    sine_cosine(y[0], &s1, &c1);
    sine_cosine(y[4], &s2, &c2);
    g[0][0] = y[2] - c2 / 2 - c1, g[0][1] = y[3] - s2 / 2 - s1;
    g[1][0] = y[5] + s2 * y[7] / 2 + s1 * y[1], g[1][1] = y[6] - c2 * y[7] / 2 - c1 * y[1];
    g[2][0] = rate[5] + (s2 * rate[7] + c2 * y[7] * y[7]) / 2 + s1 * rate[1] + c1 * y[1] * y[1];
    g[2][1] = rate[6] - (c2 * rate[7] - s2 * y[7] * y[7]) / 2 - c1 * rate[1] + s1 * y[1] * y[1];
}

/* Place, velocity and acceleration of the second link's centre in the whole pendulum. */
static void centre(const real *y, real place[2], real velocity[2], real acceleration[2])
{
    real s1, c1, s2, c2, rate[WHOLE_STATES];
    sine_cosine(y[0], &s1, &c1);
    sine_cosine(y[1], &s2, &c2);
    whole_rates(y, (link_force){0, 0}, rate);
    place[0] = c1 + c2 / 2, place[1] = s1 + s2 / 2;
    velocity[0] = -s1 * y[2] - s2 * y[3] / 2, velocity[1] = c1 * y[2] + c2 * y[3] / 2;
    acceleration[0] = -s1 * rate[2] - c1 * y[2] * y[2] - (s2 * rate[3] + c2 * y[3] * y[3]) / 2;
    acceleration[1] = c1 * rate[2] - s1 * y[2] * y[2] + (c2 * rate[3] - s2 * y[3] * y[3]) / 2;
}

/* Cuts the whole pendulum: states, and the force that the joint has there. */
static void cut_pendulum(const real *y, cut *c)
{
    real place[2], velocity[2], acceleration[2];
    centre(y, place, velocity, acceleration);
    const real states[CUT_STATES] = {y[0], y[2],        place[0],    place[1],
                                     y[1], velocity[0], velocity[1], y[3]};
    *c = (cut){.rows = 2};
    memcpy(c->state, states, sizeof states);
    c->multiplier[0][0] = acceleration[0], c->multiplier[1][0] = acceleration[1] + GRAVITY;
}

/* Errors --------------------------------------------------------------------------------------- */

typedef struct errors {
    real place, velocity;
} errors;

static errors oscillator_errors(int degree, real h, int steps)
{
    cut now = {.rows = 1, .state = {0, 100, 0, 100}}, next;
    real x = 0, v = 100;
    errors largest = {0, 0};
    now.multiplier[0][0] = 1000 / (real)3;
    prepare_oscillator(h);
    for (int n = 0; n < steps; n++) {
        macro_step(advance_oscillator, &now, h, degree, &next);
        now = next;
        real moved = whole[0][0] * x + whole[0][1] * v;
        v = whole[1][0] * x + whole[1][1] * v, x = moved;
        largest.place = larger(largest.place, magnitude(now.state[0] - x));
        largest.velocity = larger(largest.velocity, magnitude(now.state[1] - v));
    }
    return largest;
}

/* The state of the whole pendulum at the time `begin`. */
static errors pendulum_errors(int degree, real h, int steps, real begin)
{
    const real quarter_pi =
        (real)0.78539816339744831 + (real)3.061616997868383e-17; /* in two parts */
    real y[WHOLE_STATES] = {quarter_pi, -quarter_pi, 0, 0}, place[2], velocity[2], acceleration[2];
    errors largest = {0, 0};
    for (int i = 0; begin > 0 && i < 40; i++)
        extrapolate(whole_rates, WHOLE_STATES, NULL, begin / 40, y);
    cut now, next;
    cut_pendulum(y, &now);
    for (int n = 0; n < steps; n++) {
        macro_step(advance_pendulum, &now, h, degree, &next);
        now = next;
        for (int i = 0; i < 2; i++)
            extrapolate(whole_rates, WHOLE_STATES, NULL, h / 2, y);
        centre(y, place, velocity, acceleration);
        const real *s = now.state;
        real dx = s[2] - place[0], dy = s[3] - place[1], dv = s[5] - velocity[0],
             dw = s[6] - velocity[1];
        largest.place = larger(largest.place, root(dx * dx + dy * dy));
        largest.velocity = larger(largest.velocity, root(dv * dv + dw * dw));
    }
    return largest;
}

/* Output --------------------------------------------------------------------------------------- */

/* Errors of both degrees for steps halved from 1 / `first` to 1 / `last`, as CSV. */
static void print_errors(const char *system, int first, int last)
{
    printf("k,H,position,order,velocity,order\n");
    for (int degree = 2; degree < 4; degree++) {
        errors coarse = {0, 0};

        for (int n = first; n <= last; n *= 2) {
            real h = 1 / (real)n;
            errors e;
            if (strcmp(system, "oscillator") == 0)
                e = oscillator_errors(degree, h, n);
            else if (strcmp(system, "oscillator-local") == 0)
                e = oscillator_errors(degree, h, 1);
            else if (strcmp(system, "pendulum") == 0)
                e = pendulum_errors(degree, h, n / 2, 0);
            else
                e = pendulum_errors(degree, h, 1, (real)3 / 10);

            printf("%d,%.6g,%.4g,", degree, (double)h, (double)e.place);
            if (n > first)
                printf("%.2f", order(coarse.place, e.place));
            printf(",%.4g,", (double)e.velocity);
            if (n > first)
                printf("%.2f", order(coarse.velocity, e.velocity));
            printf("\n");
            coarse = e;
        }
    }
}

/* The four sets of errors: over 1 s and in the first step of the oscillator (figures 7 and 8), over
 * 0.5 s and in a step from t = 0.3 s on of the pendulum (12 and 13). */
int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int first, last;
    } sets[] = {{"oscillator", 50, 1600},
                {"oscillator-local", 125, 4000},
                {"pendulum", 40, 320},
                {"pendulum-local", 50, 1600}};

    for (size_t i = 0; count == 2 && i < sizeof sets / sizeof *sets; i++)
        if (strcmp(arguments[1], sets[i].name) == 0) {
            print_errors(sets[i].name, sets[i].first, sets[i].last);
            return 0;
        }
    fprintf(stderr, "usage: index1_extended oscillator|oscillator-local|pendulum|pendulum-local\n");
    return 2;
}
