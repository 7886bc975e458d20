#include "contact/homotopy.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"

/* A piece is the set of friction groups that slide, or OPEN. */
enum { OPEN = 1 << YK_FRICTION_GROUPS, CORRECTIONS = 4 };

/* How far a line may leave the path, as a part of |F_0| and of theta, which counts as no less than the second number; and
 * which part of it must be left before the next line. */
static const double straying = 0.1, straying_at_end = 1e-2, closeness = 1e-3;

/* One contact as the function sees it. */
typedef struct place {
    yk_cone cone;
    double rho;
    double pressure;                 /* n */
    double norm[YK_FRICTION_GROUPS]; /* |v_g|, v = r - rho u */
    double v[YK_CONTACT_DIM_MAX];
} place;

static place look(const yk_newton *newton, int contact, const double *r, const double *u)
{
    place p = {.cone = yk_problem_cone(newton->problem, contact), .rho = newton->rho[contact]};
    int first = newton->problem->w.first[contact];
    for (int k = 0; k < p.cone.dim; k++) p.v[k] = r[first + k] - p.rho * u[first + k];
    p.pressure = p.v[0];
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < p.cone.dim; g++)
        p.norm[g] = yk_cone_group_norm(p.cone.dim, g, p.v);
    return p;
}

static unsigned char piece_of(const place *p)
{
    if (p->pressure <= 0) return OPEN;
    unsigned piece = 0;
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < p->cone.dim; g++)
        if (p->cone.mu[g] <= 0 || p->norm[g] > p->cone.mu[g] * p->pressure) piece |= 1u << g;
    return (unsigned char)piece;
}

static double direction(const place *p, int group, int k)
{
    return p->norm[group] > 0 ? p->v[k] / p->norm[group] : 0;
}

/* The formula of the piece, wherever r and u are. */
static void evaluate(const place *p, unsigned piece, const double *r, const double *u, double *f)
{
    f[0] = piece == OPEN ? r[0] : p->rho * u[0];
    for (int g = 0; g < YK_FRICTION_GROUPS; g++)
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(p->cone.dim, g); k++) {
            if (piece == OPEN)
                f[k] = r[k];
            else if (piece >> g & 1)
                f[k] = r[k] - p->cone.mu[g] * p->pressure * direction(p, g, k);
            else
                f[k] = p->rho * u[k];
        }
}

/* The derivative of the piece as L (W dr) + R dr = df / rho. */
static void differentiate(const place *p, unsigned piece, double *left, double *right)
{
    int dim = p->cone.dim;
    memset(left, 0, (size_t)(dim * dim) * sizeof *left);
    memset(right, 0, (size_t)(dim * dim) * sizeof *right);
    if (piece == OPEN) {
        for (int k = 0; k < dim; k++) right[k * dim + k] = 1 / p->rho;
        return;
    }
    left[0] = 1;
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        double mu = p->cone.mu[g], across = p->norm[g] > 0 ? fmax(0, fmin(1, mu * p->pressure / p->norm[g])) : 0;
        int start = yk_cone_group_start[g], end = yk_cone_group_end(dim, g);
        for (int k = start; k < end; k++) {
            if (!(piece >> g & 1)) {
                left[k * dim + k] = 1;
                continue;
            }
            left[k * dim] = mu * direction(p, g, k);
            right[k * dim] = -left[k * dim] / p->rho;
            for (int l = start; l < end; l++) {
                left[k * dim + l] = across * ((k == l) - direction(p, g, k) * direction(p, g, l));
                right[k * dim + l] = ((k == l) - left[k * dim + l]) / p->rho;
            }
        }
    }
}

yk_status yk_homotopy_create(yk_context *context, const yk_contact_problem *problem, yk_homotopy *h)
{
    size_t rows = (size_t)problem->row_count + 1;
    *h = (yk_homotopy){.piece = yk_allocate(context, (size_t)problem->contact_count + 1, sizeof *h->piece)};
    double **vectors[] = {&h->start,   &h->tangent_rhs, &h->correction, &h->correction_u,
                          &h->tangent, &h->tangent_u,   &h->ahead,      &h->base};
    bool good = h->piece != NULL;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = yk_allocate(context, rows, sizeof **vectors[i]);
        good = good && *vectors[i];
    }
    if (good) return YK_OK;
    yk_homotopy_destroy(context, h);
    return YK_ERROR_MEMORY;
}

void yk_homotopy_destroy(yk_context *context, yk_homotopy *h)
{
    void *arrays[] = {h->piece,   h->start,     h->tangent_rhs, h->correction, h->correction_u,
                      h->tangent, h->tangent_u, h->ahead,       h->base};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yk_release(context, arrays[i]);
    *h = (yk_homotopy){0};
}

/* Where the walk along the path is. */
typedef struct walker {
    yk_homotopy *h;
    yk_newton *newton;
    double *r, *u;
    double theta;
    double size;               /* |F_0| */
    double sign;               /* of dtheta along the way */
    int arrived;               /* contact at whose kink the last line ended; -1: none */
    unsigned char to;          /* the piece behind it */
    int crossed;               /* contact that has just changed its piece; -1: none */
    unsigned char from;        /* the piece that it left */
    double base_theta, length; /* of the last line */
    double cap;                /* on the length of the next one */
    int corrections;           /* since the last line */
} walker;

static double inner_product(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* F_0 and the pieces of the start. */
static void begin(walker *w)
{
    const yk_contact_problem *problem = w->newton->problem;
    for (int i = 0; i < problem->contact_count; i++) {
        int first = problem->w.first[i];
        place p = look(w->newton, i, w->r, w->u);
        w->h->piece[i] = piece_of(&p);
        evaluate(&p, w->h->piece[i], w->r + first, w->u + first, w->h->start + first);
    }
    for (int k = problem->w.first[problem->contact_count]; k < problem->row_count; k++) w->h->start[k] = w->u[k];
    w->size = sqrt(inner_product(problem->row_count, w->h->start, w->h->start));
}

/* Matrix and both right-hand sides; returns |F - theta F_0|. */
static double linearise(walker *w)
{
    const yk_contact_problem *problem = w->newton->problem;
    yk_newton *newton = w->newton;
    yk_homotopy *h = w->h;
    double sum = 0, f[YK_CONTACT_DIM_MAX];
    for (int i = 0; i < problem->contact_count; i++) {
        int first = problem->w.first[i];
        place p = look(newton, i, w->r, w->u);
        evaluate(&p, h->piece[i], w->r + first, w->u + first, f);
        size_t offset = newton->block_offset[i];
        differentiate(&p, h->piece[i], newton->left + offset, newton->right + offset);
        for (int k = 0; k < p.cone.dim; k++) {
            f[k] = w->theta * h->start[first + k] - f[k];
            sum += f[k] * f[k];
            newton->rhs[first + k] = f[k] / p.rho;
            h->tangent_rhs[first + k] = h->start[first + k] / p.rho;
        }
    }
    yk_newton_hold_bilateral(newton);
    for (int k = problem->w.first[problem->contact_count]; k < problem->row_count; k++) {
        newton->rhs[k] = w->theta * h->start[k] - w->u[k];
        h->tangent_rhs[k] = h->start[k];
        sum += newton->rhs[k] * newton->rhs[k];
    }
    return sqrt(sum);
}

static void solve_directions(walker *w)
{
    yk_homotopy *h = w->h;
    size_t bytes = (size_t)w->newton->problem->row_count * sizeof *w->r;
    yk_newton_factor(w->newton);
    yk_newton_solve(w->newton, 1);
    memcpy(h->correction, w->newton->step, bytes);
    memcpy(w->newton->rhs, h->tangent_rhs, bytes);
    yk_newton_solve(w->newton, 1);
    memcpy(h->tangent, w->newton->step, bytes);
    yk_contact_multiply(w->newton->problem, h->correction, h->correction_u);
    yk_contact_multiply(w->newton->problem, h->tangent, h->tangent_u);
}

/* Rate of v = r - rho u of one contact along the tangent. */
static void rate_of(const walker *w, const place *p, int contact, double *rate)
{
    int first = w->newton->problem->w.first[contact];
    for (int k = 0; k < p->cone.dim; k++) rate[k] = w->h->tangent[first + k] - p->rho * w->h->tangent_u[first + k];
}

/* Along the tangent, does the contact that crossed a kink go on into its new piece? */
static bool goes_on(const walker *w)
{
    double rate[YK_CONTACT_DIM_MAX];
    place p = look(w->newton, w->crossed, w->r, w->u);
    unsigned now = w->h->piece[w->crossed], changed = now ^ w->from;
    rate_of(w, &p, w->crossed, rate);
    if (changed & OPEN) return now == OPEN ? rate[0] < 0 : rate[0] > 0;
    int g = 0;
    while (!(changed >> g & 1)) g++;
    double outwards = -p.cone.mu[g] * rate[0];
    for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(p.cone.dim, g); k++)
        outwards += direction(&p, g, k) * rate[k];
    return now >> g & 1 ? outwards > 0 : outwards < 0;
}

static void orient(walker *w)
{
    if (w->crossed >= 0)
        w->sign = goes_on(w) ? 1 : -1;
    else if (w->length > 0)
        w->sign = inner_product(w->newton->problem->row_count, w->h->tangent, w->h->ahead) >= 0 ? 1 : -1;
}

/* Back to the path, across it. */
static void correct(walker *w)
{
    yk_homotopy *h = w->h;
    int rows = w->newton->problem->row_count;
    double square = inner_product(rows, h->tangent, h->tangent);
    double along = square > 0 ? -inner_product(rows, h->correction, h->tangent) / square : 0;
    for (int k = 0; k < rows; k++) {
        w->r[k] += h->correction[k] + along * h->tangent[k];
        w->u[k] += h->correction_u[k] + along * h->tangent_u[k];
    }
    w->theta += along;
}

/* The first s > 0 at which a s^2 + 2 b s + c, negative before, is positive; where it is positive by a little already,
 * what counts is whether it grows. */
static double first_root(double a, double b, double c)
{
    if (c >= 0) {
        if (b > 0) return 0;
        return a > 0 ? -2 * b / a : INFINITY;
    }
    double discriminant = b * b - a * c;
    if (discriminant < 0) return INFINITY;
    double sum = b + sqrt(discriminant);
    return sum > 0 ? -c / sum : INFINITY;
}

/* How far a contact stays on its piece, and which one comes after. */
static double reach(const place *p, const double *rate, unsigned char piece, unsigned char *next)
{
    double best = INFINITY;
    *next = piece;
    if (piece == OPEN) {
        if (rate[0] <= 0) return best;
        *next = 0;
        for (int g = 0; g < YK_FRICTION_GROUPS; g++)
            if (yk_cone_group_start[g] < p->cone.dim) *next |= (unsigned char)(1u << g);
        return fmax(0, -p->pressure / rate[0]);
    }
    if (rate[0] < 0) {
        best = fmax(0, -p->pressure / rate[0]);
        *next = OPEN;
    }
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < p->cone.dim; g++) {
        double mu = p->cone.mu[g], sign = piece >> g & 1 ? -1 : 1;
        if (mu <= 0) continue;
        double a = -mu * mu * rate[0] * rate[0], b = -mu * mu * p->pressure * rate[0];
        double c = p->norm[g] * p->norm[g] - mu * mu * p->pressure * p->pressure;
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(p->cone.dim, g); k++) {
            a += rate[k] * rate[k];
            b += p->v[k] * rate[k];
        }
        double length = first_root(sign * a, sign * b, sign * c);
        if (length >= best) continue;
        best = length;
        *next = (unsigned char)(piece ^ (1u << g));
    }
    return best;
}

/* How far until directions of sliding have turned so much that the line leaves the path by `error`. */
static double straight(const place *p, const double *rate, unsigned piece, double error)
{
    double best = INFINITY;
    for (int g = 0; piece != OPEN && g < YK_FRICTION_GROUPS; g++) {
        double radius = p->cone.mu[g] * p->pressure, along = 0, square = 0;
        if (!(piece >> g & 1) || radius <= 2 * error) continue;
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(p->cone.dim, g); k++) {
            along += direction(p, g, k) * rate[k];
            square += rate[k] * rate[k];
        }
        double across = sqrt(fmax(0, square - along * along));
        if (across > 0) best = fmin(best, sqrt(2 * error / radius) * p->norm[g] / across);
    }
    return best;
}

static double tolerance_of(const walker *w)
{
    return straying * fmax(fabs(w->theta), straying_at_end) * w->size;
}

/* Along the tangent to the next kink or to the end. False where it leads nowhere. */
static bool walk(walker *w)
{
    const yk_contact_problem *problem = w->newton->problem;
    yk_homotopy *h = w->h;
    double best = fmin(w->cap, w->sign < 0 ? w->theta : INFINITY);
    int who = -1;
    unsigned char to = 0;
    for (int i = 0; i < problem->contact_count; i++) {
        double rate[YK_CONTACT_DIM_MAX];
        unsigned char next;
        place p = look(w->newton, i, w->r, w->u);
        rate_of(w, &p, i, rate);
        for (int k = 0; k < p.cone.dim; k++) rate[k] *= w->sign;
        double length = straight(&p, rate, h->piece[i], tolerance_of(w));
        if (length < best) {
            best = length;
            who = -1;
        }
        length = reach(&p, rate, h->piece[i], &next);
        if (length >= best) continue;
        best = length;
        who = i;
        to = next;
    }
    if (!isfinite(best)) return false;
    memcpy(h->base, w->r, (size_t)problem->row_count * sizeof *h->base);
    w->base_theta = w->theta;
    for (int k = 0; k < problem->row_count; k++) {
        h->ahead[k] = w->sign * h->tangent[k];
        w->r[k] += best * h->ahead[k];
    }
    w->theta += w->sign * best;
    w->length = best;
    w->cap = INFINITY;
    w->corrections = 0;
    w->crossed = -1;
    w->arrived = who;
    w->to = to;
    return true;
}

/* Over the kink at which the last line ended, if the path is near there; returns the distance. */
static double cross(walker *w, double distance)
{
    int who = w->arrived;
    w->arrived = -1;
    if (who < 0 || !(distance <= closeness * tolerance_of(w))) return distance;
    w->crossed = who;
    w->from = w->h->piece[who];
    w->h->piece[who] = w->to;
    return linearise(w);
}

/* The last line was too long: back to its begin, for a shorter one. */
static bool retreat(walker *w)
{
    if (!(w->length > 0)) return false;
    if (w->crossed >= 0) w->h->piece[w->crossed] = w->from;
    w->crossed = w->arrived = -1;
    memcpy(w->r, w->h->base, (size_t)w->newton->problem->row_count * sizeof *w->r);
    w->theta = w->base_theta;
    w->cap = w->length / 4;
    w->corrections = 0;
    return w->cap > 1e-9 * fmax(1, fabs(w->theta));
}

/* Newton steps on the pieces of the end. */
static int finish(walker *w, int limit)
{
    const yk_contact_problem *problem = w->newton->problem;
    int steps = 0;
    w->theta = 0;
    while (steps < CORRECTIONS && steps < limit && linearise(w) > 1e-12 * w->size) {
        yk_newton_factor(w->newton);
        yk_newton_solve(w->newton, 1);
        for (int k = 0; k < problem->row_count; k++) w->r[k] += w->newton->step[k];
        yk_contact_residual(problem, w->newton->friction, w->r, w->u);
        steps++;
    }
    return steps;
}

/* True when the end of the path was reached. */
static bool travel(walker *w, int limit, int *steps)
{
    const yk_contact_problem *problem = w->newton->problem;
    while (*steps < limit && fabs(w->theta) < 1e3) {
        double distance = cross(w, linearise(w));
        if (w->corrections > CORRECTIONS || !isfinite(distance)) {
            if (!retreat(w)) return false;
            yk_contact_residual(problem, w->newton->friction, w->r, w->u);
            distance = linearise(w);
        }
        if (w->theta <= 0 && distance <= closeness * tolerance_of(w)) return true;
        solve_directions(w);
        ++*steps;
        correct(w);
        w->corrections++;
        if (w->theta > 0 && distance <= closeness * tolerance_of(w)) {
            orient(w);
            if (!walk(w)) return false;
        }
        yk_contact_residual(problem, w->newton->friction, w->r, w->u); /* for u */
    }
    return false;
}

int yk_homotopy_follow(yk_homotopy *h, yk_newton *newton, int limit, double *r, double *u, double *residual)
{
    walker w = {.h = h,
                .newton = newton,
                .r = r,
                .u = u,
                .theta = 1,
                .sign = -1,
                .arrived = -1,
                .crossed = -1,
                .cap = INFINITY};
    int steps = 0;
    begin(&w);
    if (!(w.size > 0)) return 0;
    if (travel(&w, limit, &steps)) steps += finish(&w, limit - steps);
    *residual = yk_contact_residual(newton->problem, newton->friction, r, u);
    return steps;
}
