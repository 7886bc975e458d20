/* Laws in the scheme index1: interfaces whose side B cannot take a wrench, such as hydraulic
 * cylinders, and answers a motion with one.
 *
 * Nothing is to be held there: the position of A is what B is told. Yet the wrench of a stiff
 * relation follows the motion at once, so it is solved for with the constraints, by the same
 * Newton iteration. A receives a polynomial lambda of the shapes of a multiplier. B is told the
 * parabola from where it is to the place and velocity of A at the end of the step, and answers
 * with its wrench f on A after each of its substeps. The conditions are on moments of both,
 *
 *   L1 = int (1 - tau) lambda = f(1/3) / 2,   L2 = int lambda = int f,   L3 = lambda(1) = f(1)
 *
 * by which a free mass under lambda comes to its place, velocity and acceleration at the end of
 * the step. L2 hands over the impulse. L1 is a quadrature at the nodes of Radau, 1/3 and 1: for
 * linear relations this is the method Radau IIA of third order, which takes stiff springs to
 * their rest in one step; the exact first moment would throw them farther each time. The shapes
 * of basis.c are dual to the moments, so that their part of the Jacobian is one. Integrals over
 * substeps are Gregory's; a relation that makes one step only is taken by its wrench at the end.
 * Laws have wrenches of at most the second degree: a cubic that has to begin where the last one
 * ended can swing about a stiff relation from step to step. */
#include <math.h>

#include "coupling/index1/index1.h"
#include "math/polynomial.h"

/* Change of a motion for finite differences, against its size. */
static const double CHANGE = 1e-7;

/* Moments -------------------------------------------------------------------------------------- */

/* Weight of sample i of 0 to n in the integral over n intervals, n >= 2. */
static double gregory(int i, int n)
{
    static const double correction[] = {-1.0 / 8, 1.0 / 6, -1.0 / 24};
    double weight = i == 0 || i == n ? 0.5 : 1;
    if (i < 3)
        weight += correction[i];
    if (n - i < 3)
        weight += correction[n - i];
    return weight;
}

/* The same without sample 0, which is extrapolated: the parabola that is told may begin with
 * another velocity than the last one ended with, and the wrench with a jump. */
static double mean_weight(int i, int n)
{
    static const double by_line[] = {2, -1, 0}, by_parabola[] = {3, -3, 1};
    double weight = gregory(i, n);
    if (i <= 3)
        weight += gregory(0, n) * (n < 3 ? by_line[i - 1] : by_parabola[i - 1]);
    return weight / n;
}

/* Weight of sample i of 1 to n, n >= 2, in the parabola (n = 2: the line) through those near a
 * third of the way. */
static double third_weight(int i, int n)
{
    if (n == 2)
        return i == 1 ? 4.0 / 3 : -1.0 / 3;
    int middle = (int)fmax(2, fmin(n - 1, round(n / 3.0)));
    double x = n / 3.0 - middle; /* in intervals, from the middle one of the three */
    if (i == middle - 1)
        return x * (x - 1) / 2;
    if (i == middle)
        return (1 - x) * (1 + x);
    return i == middle + 1 ? x * (x + 1) / 2 : 0;
}

static void add_sample(yk_motion *moments, int i, int n, double f)
{
    moments->position.x += (n == 1 ? 1 : third_weight(i, n)) / 2 * f;
    moments->velocity.x += (n == 1 ? 1 : mean_weight(i, n)) * f;
    moments->acceleration.x = f;
}

void yk_index1_substep(yk_scheme *scheme, yk_system *system, int participant, int number)
{
    yk_motion *moments = ((yk_index1 *)scheme)->moments[participant];
    const yk_participant *m = &system->participants[participant];
    for (int port = 0; moments && port < m->port_count; port++) {
        if (number == 0)
            moments[port] = (yk_motion){.orientation = yk_q_identity()};
        else
            add_sample(&moments[port], number, m->substeps, -m->values[port].wrench.force.x);
    }
}

/* The moments of a polynomial of tau. */
static void moments_of(const yk_index1_multiplier *multiplier, double moments[YK_LEVELS])
{
    for (int level = 0; level < YK_LEVELS; level++)
        moments[level] = 0;
    for (int power = 0; power < YK_INPUT_COEFFICIENTS; power++) {
        double c = multiplier->power[power];
        moments[0] += c / ((power + 1) * (power + 2));
        moments[1] += c / (power + 1);
        moments[2] += c;
    }
}

/* Motions -------------------------------------------------------------------------------------- */

void yk_index1_predict_relation(yk_system *system, int interface)
{
    const yk_interface *l = &system->interfaces[interface];
    yk_index1_interface *own = &yk_index1_of(system)->interfaces[interface];
    const yk_motion *now = &yk_interface_a(system, l)->before[l->def.wrench_port];
    double h = system->h, last = yk_index1_of(system)->last_step, a = now->acceleration.x;
    double jerk = last > 0 ? (a - own->earlier[0].acceleration.x) / last : 0;
    own->given[0] = now->position.x + h * (now->velocity.x + h * (a / 2 + h * jerk / 6));
    own->given[1] = now->velocity.x + h * (a + h * jerk / 2);
}

void yk_index1_motion_input(const yk_system *system, int interface, const double given[2],
                            yk_input *input)
{
    const yk_interface *l = &system->interfaces[interface];
    double h = system->h, start = yk_interface_b(system, l)->before[l->def.motion_port].position.x;
    double rate = (given[0] - start) / h;
    input->degree = 2;
    input->linear[0].x = start;
    input->linear[1].x = 2 * rate - given[1];
    input->linear[2].x = (given[1] - rate) / h;
}

double yk_index1_motion_change(const yk_system *system, int interface)
{
    const yk_interface *l = &system->interfaces[interface];
    const yk_motion *start = &yk_interface_a(system, l)->before[l->def.wrench_port];
    double h = system->h;
    double size =
        fabs(start->position.x) + h * fabs(start->velocity.x) + h * h * fabs(start->acceleration.x);
    return CHANGE * (size > 0 ? size : 1) / (h * h);
}

/* Conditions ----------------------------------------------------------------------------------- */

double *yk_index1_evaluate_relation(const yk_system *system, int interface, double *residual,
                                    yk_index1_residual *size)
{
    const yk_interface *l = &system->interfaces[interface];
    const yk_index1_interface *own = &yk_index1_of(system)->interfaces[interface];
    const yk_index1_basis *basis = own->basis;
    const yk_motion *a = &yk_interface_a(system, l)->values[l->def.wrench_port].motion;
    const yk_motion answer = yk_index1_answer(system, interface, 1);
    const double wrench[YK_LEVELS] = {answer.position.x, answer.velocity.x, answer.acceleration.x};
    double moments[YK_LEVELS], h = system->h;
    moments_of(&own->multiplier[0], moments);
    for (int e = 0; e < basis->parameters; e++) {
        double sum = 0;
        for (int level = 0; level < YK_LEVELS; level++)
            sum += basis->moment[e][level] * (moments[level] - wrench[level]);
        size->force = fmax(size->force, fabs(sum));
        *residual++ = sum;
    }
    *residual++ = (own->given[0] - a->position.x) / (h * h);
    *residual++ = (own->given[1] - a->velocity.x) / h;
    size->largest = fmax(size->largest, fmax(fabs(residual[-2]), fabs(residual[-1])));
    return residual;
}

void yk_index1_relation_work(const yk_system *system, int interface, yk_interface_work *work)
{
    const yk_interface *l = &system->interfaces[interface];
    const yk_index1_interface *own = &yk_index1_of(system)->interfaces[interface];
    const yk_index1_basis *basis = own->basis;
    const yk_motion *from = &yk_interface_a(system, l)->before[l->def.wrench_port];
    const yk_motion *to = &yk_interface_a(system, l)->values[l->def.wrench_port].motion;
    yk_path path = yk_path_between(YK_PORT_SCALAR, system->h, from, to);
    const yk_input *given = &yk_interface_b(system, l)->inputs[l->def.motion_port];
    for (int node = 0; node <= basis->degree; node++) {
        double t = basis->node[node] * system->h;
        double wrench = yk_poly_value(own->multiplier[0].power, basis->degree, basis->node[node]);
        yk_motion a;
        yk_path_at(&path, t, &a);
        double impulse = basis->weight[node] * system->h * wrench;
        work->on[0] += impulse * a.velocity.x;
        work->on[1] -= impulse * yk_input_scalar_rate(given, t);
    }
    work->created = work->on[0] + work->on[1];
}
