#include "coupling/interface_newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/restored.h"
#include "coupling/participant.h"
#include "math/sparse.h"

/* Largest number of inputs of a subsystem: its response has the square of this number of entries. */
enum { INPUTS_MAX = 120 };

/* Change of a wrench for finite differences, relative to the largest wrench of all interfaces. */
static const double WRENCH_CHANGE = 1e-6;
/* Change of a position or rotation (m, rad), as a fraction of h^2, and its limits. The accelerations
 * that it causes are small, and its rounding errors too. */
static const double MOTION_CHANGE = 1e-2;
static const double LARGEST_CHANGE = 1e-6;
static const double SMALLEST_CHANGE = 1e-10;

/* Ratio of two changes in a row above which responses are computed again, in this step if they have
 * not been computed in it. */
static const double SLOW = 0.2;
/* Ratio of two changes in a row above which they do not decrease. */
static const double STALLED = 0.5;
/* Number of iterations after which the next step begins with new responses. */
enum { MANY_ITERATIONS = 5 };
/* Rounding errors of a position, relative to its size. */
static const double ROUNDING = 4 * DBL_EPSILON;

/* One side of one interface, from the point of view of a subsystem. Side 0 receives the wrench and
 * returns the motion, side 1 the reverse. */
typedef struct connection {
    int member; /* index in the lists of the unknowns */
    int side;
    int first; /* of its inputs and outputs in the response */
} connection;

typedef struct response {
    int participant;
    connection *connections;
    int connection_count;
    int size;       /* inputs, and outputs */
    double *matrix; /* outputs x inputs, row-major */
} response;

struct yk_interface_newton {
    int size; /* wrenches, then motions in the same order */
    int member_count;
    int *offset; /* per interface: of its wrench; that of its motion is larger by half of `size` */
    response *responses;
    int response_count;

    yk_sparse *matrix;
    int *slots;          /* entries of all responses in the order of assembly, then the diagonal */
    double *scale;       /* of each unknown: N, N m, m, rad */
    double *change;      /* right-hand side, then the change of x */
    yk_port_value *kept; /* outputs of one subsystem */
    /* Per interface: rounding error of its position (m), and the error of its wrench that follows (N). */
    double *noise, *rounding;
    double *vector;       /* workspace of a right-hand side */
    double wrench_errors; /* that the rounding errors of all interfaces together cause (N) */

    /* The responses are known; the next iteration computes them; they were computed in this step. */
    bool known, outdated, renewed;
    bool factored;

    int iterations;
    double last_size;
    double best_size;
    double *best;
};

/* Creation ------------------------------------------------------------------------------------- */

static int freedoms_of(const yk_system *system, const yk_unknowns *w, int member)
{
    return yk_port_freedoms(system->interfaces[w->interfaces[member]].kind);
}

bool yk_interface_newton_applies(const yk_system *system, const yk_unknowns *w)
{
    if (w->start || w->motion != YK_UNKNOWN_POSITION || w->wire_count > 0 ||
        w->lagged_count != w->interface_count)
        return false;

    for (int k = 0; k < w->interface_count; k++) {
        const yk_interface_def *def = &system->interfaces[w->interfaces[k]].def;
        const int sides[2] = {def->wrench_subsystem.index, def->motion_subsystem.index};
        for (int side = 0; side < 2; side++)
            if (6 * system->participants[sides[side]].joined_count > INPUTS_MAX)
                return false;
    }

    return true;
}

static yk_status create_response(const yk_system *system, const yk_unknowns *w,
                                 const int *member_of, response *r)
{
    const yk_participant *p = &system->participants[r->participant];
    r->connections = yk_allocate(system->context, (size_t)p->joined_count, sizeof *r->connections);
    if (!r->connections)
        return YK_ERROR_MEMORY;

    for (int k = 0; k < p->joined_count; k++) {
        int member = member_of[p->joined[k]];
        if (member < 0)
            continue;

        const yk_interface *interface = &system->interfaces[p->joined[k]];
        connection *c = &r->connections[r->connection_count++];
        c->member = member;
        c->side = interface->def.wrench_subsystem.index == r->participant ? 0 : 1;
        c->first = r->size;
        r->size += freedoms_of(system, w, member);
    }

    size_t size = (size_t)r->size;
    r->matrix = yk_allocate(system->context, size * size, sizeof *r->matrix);
    return r->matrix ? YK_OK : YK_ERROR_MEMORY;
}

/* Index of the unknown that a connection takes as its first input, and of the first equation that
 * its output belongs to. */
static int input_of(const yk_interface_newton *n, const connection *c)
{
    return n->offset[c->member] + (c->side == 0 ? 0 : n->size / 2);
}

static int output_of(const yk_interface_newton *n, const connection *c)
{
    return n->offset[c->member] + (c->side == 0 ? n->size / 2 : 0);
}

static int width_of(const response *r, int index)
{
    int end = r->size;
    if (index + 1 < r->connection_count)
        end = r->connections[index + 1].first;
    return end - r->connections[index].first;
}

static yk_status create_matrix(yk_interface_newton *n, yk_context *context)
{
    size_t count = (size_t)n->size;
    for (int i = 0; i < n->response_count; i++)
        count += (size_t)n->responses[i].size * (size_t)n->responses[i].size;

    yk_sparse_entry *entries = yk_allocate(context, count, sizeof *entries);
    int *order = yk_allocate(context, (size_t)n->size, sizeof *order);
    n->slots = yk_allocate(context, count, sizeof *n->slots);
    yk_status status = YK_ERROR_MEMORY;
    if (entries && order && n->slots) {
        yk_sparse_entry *entry = entries;
        for (int i = 0; i < n->response_count; i++) {
            const response *r = &n->responses[i];
            for (int from = 0; from < r->connection_count; from++)
                for (int row = 0; row < width_of(r, from); row++)
                    for (int by = 0; by < r->connection_count; by++)
                        for (int column = 0; column < width_of(r, by); column++)
                            *entry++ = (yk_sparse_entry){output_of(n, &r->connections[from]) + row,
                                                         input_of(n, &r->connections[by]) + column};
        }

        for (int i = 0; i < n->size; i++)
            *entry++ = (yk_sparse_entry){i, i};

        status = yk_graph_order(context, n->size, entries, count, order);
        if (status == YK_OK)
            status = yk_sparse_create_ordered(context, n->size, entries, count, n->slots, order,
                                              &n->matrix);
    }

    yk_free(context, entries);
    yk_free(context, order);
    return status;
}

static yk_status create_parts(yk_interface_newton *n, const yk_system *system, const yk_unknowns *w,
                              int *member_of)
{
    yk_context *context = system->context;
    n->size = w->size;
    n->member_count = w->interface_count;
    size_t size = (size_t)w->size;
    n->offset = yk_allocate(context, (size_t)n->member_count, sizeof *n->offset);
    n->responses = yk_allocate(context, (size_t)system->participant_count, sizeof *n->responses);
    n->scale = yk_allocate(context, 4 * size + 2 * (size_t)n->member_count, sizeof *n->scale);
    if (!n->offset || !n->responses || !n->scale)
        return YK_ERROR_MEMORY;

    n->change = n->scale + size;
    n->best = n->change + size;
    n->vector = n->best + size;
    n->noise = n->vector + size;
    n->rounding = n->noise + n->member_count;

    for (int i = 0; i < system->interface_count; i++)
        member_of[i] = -1;
    int offset = 0;
    for (int k = 0; k < w->interface_count; k++) {
        member_of[w->interfaces[k]] = k;
        n->offset[k] = offset;
        offset += freedoms_of(system, w, k);
    }

    int ports = 0;
    for (int i = 0; i < system->participant_count; i++) {
        response *r = &n->responses[n->response_count];
        r->participant = i;
        yk_status status = create_response(system, w, member_of, r);
        if (r->connection_count > 0)
            n->response_count++;
        else {
            yk_free(context, r->connections);
            yk_free(context, r->matrix);
            *r = (response){0};
        }

        if (status != YK_OK)
            return status;
        if (system->participants[i].port_count > ports)
            ports = system->participants[i].port_count;
    }

    n->kept = yk_allocate(context, (size_t)ports, sizeof *n->kept);
    return n->kept ? create_matrix(n, context) : YK_ERROR_MEMORY;
}

yk_status yk_interface_newton_create(const yk_system *system, const yk_unknowns *w,
                                     yk_interface_newton **newton)
{
    yk_context *context = system->context;
    *newton = yk_allocate(context, 1, sizeof **newton);
    int *member_of = yk_allocate(context, (size_t)system->interface_count, sizeof *member_of);
    yk_status status = YK_ERROR_MEMORY;
    if (*newton && member_of)
        status = create_parts(*newton, system, w, member_of);
    yk_free(context, member_of);
    return status;
}

void yk_interface_newton_destroy(yk_context *context, yk_interface_newton *newton)
{
    if (!newton)
        return;

    for (int i = 0; newton->responses && i < newton->response_count; i++) {
        yk_free(context, newton->responses[i].connections);
        yk_free(context, newton->responses[i].matrix);
    }

    yk_sparse_destroy(newton->matrix);
    yk_free(context, newton->responses);
    yk_free(context, newton->offset);
    yk_free(context, newton->slots);
    yk_free(context, newton->scale);
    yk_free(context, newton->kept);
    yk_free(context, newton);
}

void yk_interface_newton_restart(yk_interface_newton *newton)
{
    newton->known = false;
    newton->factored = false;
    newton->outdated = false;
    yk_interface_newton_begin(newton);
}

void yk_interface_newton_begin(yk_interface_newton *newton)
{
    newton->iterations = 0;
    newton->renewed = false;
    newton->last_size = INFINITY;
    newton->best_size = INFINITY;
}

/* Responses ------------------------------------------------------------------------------------ */

/* Sets one input to a value of x, and applies it. */
static void set_input(yk_system *system, const yk_unknowns *w, const connection *c, const double *x,
                      const yk_interface_inputs *inputs)
{
    int interface = w->interfaces[c->member];
    if (c->side == 0) {
        yk_unknowns_set_wrench(system, interface, x);
        inputs->set_wrench(inputs->user, system, interface);
    } else {
        yk_unknowns_set_motion(system, w, interface, x);
        inputs->set_motion(inputs->user, system, interface);
    }
}

static void read_outputs(const yk_system *system, const yk_unknowns *w, const response *r,
                         double *outputs)
{
    for (int i = 0; i < r->connection_count; i++) {
        const connection *c = &r->connections[i];
        int interface = w->interfaces[c->member];
        if (c->side == 0)
            yk_unknowns_get_motion(system, w, interface, outputs + c->first);
        else
            yk_unknowns_get_reaction(system, interface, outputs + c->first);
    }
}

/* The response of one subsystem: one step for each of its inputs. */
static yk_status find_response(yk_interface_newton *n, yk_system *system, const yk_unknowns *w,
                               const response *r, const yk_interface_inputs *inputs,
                               double wrench_change, double motion_change)
{
    yk_participant *p = &system->participants[r->participant];
    double base[INPUTS_MAX], changed[INPUTS_MAX], x[6];
    size_t ports = (size_t)p->port_count;
    memcpy(n->kept, p->values, ports * sizeof *n->kept);
    read_outputs(system, w, r, base);

    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < r->connection_count; i++) {
        const connection *c = &r->connections[i];
        const double *now = w->applied + input_of(n, c);
        int width = width_of(r, i);
        double change = c->side == 0 ? wrench_change : motion_change;
        for (int k = 0; status == YK_OK && k < width; k++) {
            memcpy(x, now, (size_t)width * sizeof *x);
            x[k] += change;
            set_input(system, w, c, x, inputs);
            status = yk_system_rollback_participant(system, r->participant);
            if (!YK_FAILED(status))
                status = yk_system_advance_participant(system, r->participant);
            if (YK_FAILED(status))
                break;

            status = YK_OK;
            read_outputs(system, w, r, changed);
            for (int row = 0; row < r->size; row++)
                r->matrix[row * r->size + c->first + k] = (changed[row] - base[row]) / change;
        }

        set_input(system, w, c, now, inputs);
    }

    memcpy(p->values, n->kept, ports * sizeof *n->kept);
    return status;
}

static yk_status find_responses(yk_interface_newton *n, yk_system *system, const yk_unknowns *w,
                                const yk_interface_inputs *inputs)
{
    double largest = 0;
    for (int i = 0; i < n->size / 2; i++)
        largest = fmax(largest, fabs(w->applied[i]));

    double wrench_change = WRENCH_CHANGE * (largest > 0 ? largest : 1);
    double motion_change = MOTION_CHANGE * system->h * system->h;
    motion_change = fmax(SMALLEST_CHANGE, fmin(LARGEST_CHANGE, motion_change));
    for (int i = 0; i < n->response_count; i++) {
        yk_status status =
            find_response(n, system, w, &n->responses[i], inputs, wrench_change, motion_change);
        if (status != YK_OK)
            return yk_system_report_failure(system, n->responses[i].participant);
    }

    for (int k = 0; k < n->member_count; k++) {
        const yk_interface *interface = &system->interfaces[w->interfaces[k]];
        double distance = yk_v3_norm(yk_before_a(system, interface)->position);
        n->noise[k] = ROUNDING * fmax(distance, 1);
    }

    n->known = true;
    n->outdated = false;
    n->renewed = true;
    n->factored = false;
    return YK_OK;
}

/* Factors -------------------------------------------------------------------------------------- */

/* Scales: wrenches have the size 1, and motions that which a wrench of this size causes on the
 * wrench side, or if that side is fixed, the motion that causes such a wrench on the motion side. */
static void choose_scales(yk_interface_newton *n)
{
    int half = n->size / 2;
    for (int i = 0; i < half; i++) {
        n->scale[i] = 1;
        n->scale[half + i] = 0;
    }

    for (int i = 0; i < n->response_count; i++) {
        const response *r = &n->responses[i];
        for (int k = 0; k < r->connection_count; k++) {
            const connection *c = &r->connections[k];
            for (int row = 0; row < width_of(r, k); row++) {
                int at = c->first + row;
                double own = fabs(r->matrix[at * r->size + at]);
                double *scale = &n->scale[half + n->offset[c->member] + row];
                if (c->side == 1 && own > 0)
                    own = 1 / own;
                *scale = fmax(*scale, own);
            }
        }
    }

    for (int i = half; i < n->size; i++)
        if (!(n->scale[i] > 0 && isfinite(n->scale[i])))
            n->scale[i] = 1;
}

/* The wrench that a rounding error of the position of an interface causes on its motion side. */
static void estimate_rounding(yk_interface_newton *n)
{
    memset(n->rounding, 0, (size_t)n->member_count * sizeof *n->rounding);
    for (int i = 0; i < n->response_count; i++) {
        const response *r = &n->responses[i];
        for (int k = 0; k < r->connection_count; k++) {
            const connection *c = &r->connections[k];
            if (c->side == 0)
                continue;

            int width = width_of(r, k);
            double stiffest = 0;
            for (int row = c->first; row < c->first + width; row++)
                for (int column = c->first; column < c->first + width; column++)
                    stiffest = fmax(stiffest, fabs(r->matrix[row * r->size + column]));
            n->rounding[c->member] = n->noise[c->member] * stiffest;
        }
    }
}

/* The largest wrench that rounding errors cause through the whole system. A long chain is soft: errors
 * of the same sign at all of its interfaces need a large wrench to be corrected. */
static double wrenches_of_errors(yk_interface_newton *n)
{
    int half = n->size / 2;
    for (int k = 0; k < n->member_count; k++) {
        int end = k + 1 < n->member_count ? n->offset[k + 1] : half;
        for (int i = n->offset[k]; i < end; i++) {
            n->vector[i] = n->rounding[k] / n->scale[i];
            n->vector[half + i] = n->noise[k] / n->scale[half + i];
        }
    }

    yk_sparse_solve(n->matrix, n->vector);
    double largest = 0;
    for (int i = 0; i < half; i++)
        largest = fmax(largest, fabs(n->vector[i] * n->scale[i]));
    return largest;
}

static yk_status factor(yk_interface_newton *n)
{
    choose_scales(n);
    estimate_rounding(n);
    double *values = yk_sparse_values(n->matrix);
    memset(values, 0, yk_sparse_nonzeros(n->matrix) * sizeof *values);
    const int *slot = n->slots;
    for (int i = 0; i < n->response_count; i++) {
        const response *r = &n->responses[i];
        const double *entry = r->matrix;
        for (int from = 0; from < r->connection_count; from++) {
            for (int row = 0; row < width_of(r, from); row++) {
                double row_scale = n->scale[output_of(n, &r->connections[from]) + row];
                for (int by = 0; by < r->connection_count; by++) {
                    int first = input_of(n, &r->connections[by]);
                    for (int column = 0; column < width_of(r, by); column++)
                        values[*slot++] -= *entry++ * n->scale[first + column] / row_scale;
                }
            }
        }
    }

    for (int i = 0; i < n->size; i++)
        values[*slot++] += 1;

    /* Always with new pivots, so that the factors depend on the responses only. */
    yk_status status = yk_sparse_factor(n->matrix, NULL);
    n->factored = status == YK_OK;
    n->wrench_errors = n->factored ? wrenches_of_errors(n) : 0;
    return status;
}

/* Iterations ----------------------------------------------------------------------------------- */

/* Solves for the change of x; returns its largest component in its scale. */
static double find_change(yk_interface_newton *n, const yk_unknowns *w)
{
    for (int i = 0; i < n->size; i++)
        n->change[i] = (w->fresh[i] - w->applied[i]) / n->scale[i];
    yk_sparse_solve(n->matrix, n->change);

    double largest = 0;
    for (int i = 0; i < n->size; i++) {
        if (!(fabs(n->change[i]) <= largest))
            largest = fabs(n->change[i]);
        n->change[i] *= n->scale[i];
    }

    return isfinite(largest) ? largest : INFINITY;
}

/* Whether the residual and the change of every wrench are within the tolerance. Changes that do not
 * decrease any more may be larger, as far as they are effects of rounding errors. */
static bool has_converged(const yk_interface_newton *n, yk_system *system, const yk_unknowns *w,
                          double size)
{
    double errors = size > STALLED * n->last_size ? n->wrench_errors : 0;
    bool converged = true;
    for (int k = 0; k < n->member_count; k++) {
        yk_interface *interface = &system->interfaces[w->interfaces[k]];
        yk_wrench fresh, applied, change;
        yk_wrench_unpack(interface->kind, w->fresh + n->offset[k], &fresh);
        yk_wrench_unpack(interface->kind, w->applied + n->offset[k], &applied);
        yk_wrench_unpack(interface->kind, n->change + n->offset[k], &change);
        yk_wrench residual = yk_wrench_combine(interface->kind, &fresh, -1, &applied);
        double now = yk_wrench_size(interface->kind, &fresh);
        double limit = w->tolerance + w->relative_tolerance * now + n->rounding[k];
        double left = yk_wrench_size(interface->kind, &residual);
        double next = yk_wrench_size(interface->kind, &change);
        interface->residual = 0;
        if (!(left <= limit && next <= limit + errors)) {
            interface->residual = fmax(left, next);
            converged = false;
        }
    }

    return converged;
}

yk_status yk_interface_newton_next(yk_interface_newton *newton, yk_system *system, yk_unknowns *w,
                                   const yk_interface_inputs *inputs, bool *converged)
{
    yk_interface_newton *n = newton;
    *converged = false;
    n->iterations++;
    yk_status status = YK_OK;
    double size = INFINITY;
    bool displaced = false;
    for (bool again = true; again;) {
        again = false;
        if (!n->known || n->outdated) {
            status = find_responses(n, system, w, inputs);
            displaced = true;
        }
        if (status == YK_OK && !n->factored)
            status = factor(n);
        if (status != YK_OK)
            return status;

        size = find_change(n, w);
        *converged = has_converged(n, system, w, size);
        if (!*converged && !n->renewed && !(size <= SLOW * n->last_size)) {
            n->outdated = true;
            again = true;
        }
    }

    /* The responses leave the subsystems at the end of a step with a changed input. Another sweep brings
     * them to x. */
    if (displaced)
        *converged = false;

    if (size <= n->best_size) {
        n->best_size = size;
        memcpy(n->best, w->applied, (size_t)n->size * sizeof *n->best);
    }

    n->last_size = size;
    if (n->iterations > MANY_ITERATIONS && !n->renewed)
        n->outdated = true;
    for (int i = 0; i < n->size; i++)
        w->next[i] = w->applied[i] + n->change[i];
    return YK_OK;
}

void yk_interface_newton_best(const yk_interface_newton *newton, double *x)
{
    if (newton->best_size < INFINITY)
        memcpy(x, newton->best, (size_t)newton->size * sizeof *x);
}

/* State ---------------------------------------------------------------------------------------- */

size_t yk_interface_newton_words(const yk_interface_newton *newton)
{
    size_t words = 2;
    for (int i = 0; i < newton->response_count; i++)
        words += (size_t)newton->responses[i].size * (size_t)newton->responses[i].size;
    return words + (size_t)newton->member_count;
}

void yk_interface_newton_get(const yk_interface_newton *newton, double *words)
{
    *words++ = newton->known;
    *words++ = newton->outdated;
    for (int i = 0; i < newton->response_count; i++) {
        const response *r = &newton->responses[i];
        size_t count = (size_t)r->size * (size_t)r->size;
        memcpy(words, r->matrix, count * sizeof *words);
        words += count;
    }

    memcpy(words, newton->noise, (size_t)newton->member_count * sizeof *words);
}

void yk_interface_newton_set(yk_interface_newton *newton, const double *words)
{
    newton->known = *words++ != 0;
    newton->outdated = *words++ != 0;
    newton->factored = false;
    for (int i = 0; i < newton->response_count; i++) {
        response *r = &newton->responses[i];
        size_t count = (size_t)r->size * (size_t)r->size;
        memcpy(r->matrix, words, count * sizeof *words);
        words += count;
    }

    memcpy(newton->noise, words, (size_t)newton->member_count * sizeof *words);
    yk_interface_newton_begin(newton);
}

bool yk_interface_newton_is_valid(const yk_interface_newton *newton, const double *words)
{
    (void)newton;
    return yk_is_restored_word(words[0], 1) && yk_is_restored_word(words[1], 1);
}
