/* What an interface joins, found out by trying: each side is carried over one step twice, with and without a small change
 * of its input, and everything is taken back.
 *
 *   a side that takes an effort   mass = change of the force / change of its acceleration
 *   a side that takes a motion    mass = change of the force that it needs / change of the acceleration that it is told
 *
 * along each constrained axis; torques and angular accelerations give inertias. Steps of another size show whether the
 * answer to an effort comes at once: what has mass changes its velocity in proportion to the length of the step, a massless
 * damper or a throttle does not. Then the efforts of both sides are tied by an algebraic loop, which no step size opens. */
#include <math.h>
#include <string.h>

#include "coupling/interface.h"
#include "coupling/system.h"
#include "math/vec3.h"

typedef struct trial {
    yk_system *system;
    const yk_link *link;
    int side; /* 0: A */
    int axis; /* 0 to 2: translations, 3 to 5: rotations */
    yk_vec3 direction;
} trial;

static yk_member *member_of(const trial *t)
{
    return t->side == 0 ? yk_link_a(t->system, t->link) : yk_link_b(t->system, t->link);
}

static int port_of(const trial *t)
{
    return t->side == 0 ? t->link->def.effort_port : t->link->def.motion_port;
}

/* Adds a constant effort, or an acceleration from zero change of place and velocity, along the direction. */
static void change_input(const trial *t, bool effort, double amount, yk_signal *input)
{
    int power = effort ? 0 : 2;
    while (input->degree < power) {
        input->degree++;
        input->linear[input->degree] = input->angular[input->degree] = yk_v3(0, 0, 0);
    }
    yk_vec3 *target = t->axis < 3 ? &input->linear[power] : &input->angular[power];
    *target = yk_v3_axpy(effort ? amount : amount / 2, t->direction, *target);
}

typedef struct answer {
    double effort, acceleration, velocity;
} answer;

static yk_status try_step(const trial *t, double h, bool effort, double amount, const double *image, answer *out)
{
    yk_system *system = t->system;
    yk_member *m = member_of(t);
    int port = port_of(t), member = (int)(m - system->members);
    yk_status status = yk_system_state_set(system, image);
    if (status < 0) return status;
    yk_signal kept = m->inputs[port];
    if (amount != 0) change_input(t, effort, amount, &m->inputs[port]);
    system->t = yk_system_time(system), system->h = h;
    status = yk_system_advance(system, member);
    m->inputs[port] = kept;
    const yk_port_value *value = &m->values[port];
    bool turning = t->axis >= 3;
    yk_vec3 load = turning ? value->effort.torque : value->effort.force;
    yk_vec3 acceleration = turning ? value->motion.angular_acceleration : value->motion.acceleration;
    yk_vec3 velocity = turning ? value->motion.angular_velocity : value->motion.velocity;
    *out = (answer){yk_v3_dot(load, t->direction), yk_v3_dot(acceleration, t->direction),
                    yk_v3_dot(velocity, t->direction)};
    return status;
}

/* Change of the velocity by an effort over a part of the step; none where it is noise, which does not double with it. */
static yk_status velocity_answer(const trial *t, double h, double amount, const double *image, double *change)
{
    answer base = {0}, once = {0}, twice = {0};
    yk_status status = try_step(t, h, true, 0, image, &base);
    if (status >= 0) status = try_step(t, h, true, amount, image, &once);
    if (status >= 0) status = try_step(t, h, true, 2 * amount, image, &twice);
    *change = once.velocity - base.velocity;
    if (fabs(twice.velocity - base.velocity - 2 * *change) > 0.1 * fabs(*change)) *change = 0;
    return status;
}

/* Answers to an effort along each axis after two steps so short that even a stiff spring behind the port has not answered:
 * what is left is mass, or none. */
typedef struct answers {
    double longer[6], shorter[6];
    double amount[6];  /* of the effort */
    double partner[6]; /* mass that the partner would have to move at once */
} answers;

static yk_status try_at_once(const trial *t, double amount, const double *image, answers *found)
{
    double h = t->system->step / 100;
    found->amount[t->axis] = amount;
    yk_status status = velocity_answer(t, h, amount, image, &found->longer[t->axis]);
    if (status >= 0) status = velocity_answer(t, h / 10, amount, image, &found->shorter[t->axis]);
    return status;
}

/* An axis that another joint blocks answers with rounding only, or with what little joints yield: it must stand out from
 * that beside the others, and the effort by which the partner follows within a step must matter beside the one that
 * caused it. */
static bool is_at_once(const answers *found, double step)
{
    static const double STANDS_OUT = 1e-8, MATTERS = 1e-3;
    for (int turning = 0; turning < 2; turning++) {
        const double *longer = &found->longer[3 * turning], *shorter = &found->shorter[3 * turning];
        double largest = fmax(fabs(longer[0]), fmax(fabs(longer[1]), fabs(longer[2])));
        for (int i = 0; i < 3; i++) {
            int axis = 3 * turning + i;
            double gain = fabs(longer[i]) * found->partner[axis] / (step * found->amount[axis]);
            bool stands_out = fabs(longer[i]) > STANDS_OUT * largest && largest > 1e-15 && !(gain < MATTERS);
            if (stands_out && fabs(shorter[i]) > 0.5 * fabs(longer[i])) return true;
        }
    }
    return false;
}

/* Effective mass or inertia; for effort sides also whether the velocity answers at once. */
static yk_status try_side(const trial *t, bool effort, const double *image, double *mass, answers *found)
{
    double h = t->system->step;
    answer base, changed;
    yk_status status = try_step(t, h, effort, 0, image, &base);
    double amount = 1e-3 * (1 + fabs(effort ? base.effort : base.acceleration));
    if (status >= 0) status = try_step(t, h, effort, amount, image, &changed);
    if (status < 0) return status;
    *mass = effort ? amount / (changed.acceleration - base.acceleration) : (changed.effort - base.effort) / amount;
    return effort && t->side == 0 ? try_at_once(t, 1 + fabs(base.effort), image, found) : status;
}

static void try_axis(yk_system *system, const yk_link *link, int axis, const double *image, answers *found,
                     yk_interface_probe *probe)
{
    yk_quat frame = yk_link_b(system, link)->values[link->def.motion_port].motion.orientation;
    yk_vec3 unit = yk_v3(axis % 3 == 0, axis % 3 == 1, axis % 3 == 2);
    bool scalar = link->kind == YK_PORT_SCALAR, both_efforts = yk_link_takes(system, link) == YK_TAKES_EFFORT;
    double mass[2] = {NAN, NAN};
    for (int side = 0; side < 2; side++) {
        trial t = {system, link, side, axis, scalar ? unit : yk_q_rotate(frame, unit)};
        bool effort = side == 0 || both_efforts;
        if (try_side(&t, effort, image, &mass[side], found) < 0) return;
    }
    found->partner[axis] = mass[1];
    double ratio = mass[1] / mass[0];
    bool known = isfinite(ratio) && isfinite(mass[0]) && mass[0] > 0 && mass[1] >= 0;
    if (!known || (probe->axis >= 0 && !(ratio > probe->ratio))) return;
    *probe = (yk_interface_probe){.axis = axis, .effort_mass = mass[0], .motion_mass = mass[1], .ratio = ratio};
}

yk_status yk_system_probe(yk_system *system, int interface, yk_interface_probe *probe)
{
    *probe = (yk_interface_probe){.axis = -1, .effort_mass = NAN, .motion_mass = NAN, .ratio = NAN};
    if (system->merging || interface < 0 || interface >= system->link_count || system->layout.words == 0) return YK_OK;
    /* One effort on both sides: no ratio of masses limits that, and no loop is left open. */
    if (system->links[interface].balanced) return YK_OK;
    yk_context *context = system->context;
    size_t members = (size_t)system->member_count;
    double *image = yk_allocate(context, system->layout.words, sizeof *image);
    yk_member *kept = yk_allocate(context, members, sizeof *kept);
    yk_status status = image && kept ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) {
        const yk_link *link = &system->links[interface];
        double t = system->t, h = system->h;
        answers found = {.longer = {0}};
        memcpy(kept, system->members, members * sizeof *kept);
        yk_system_state_get(system, image);
        for (int axis = 0; axis < 6; axis++)
            if (link->def.constrained >> axis & 1) try_axis(system, link, axis, image, &found, probe);
        probe->feedthrough = is_at_once(&found, system->step);
        status = yk_system_state_set(system, image);
        system->t = t, system->h = h;
        for (size_t i = 0; i < members; i++) {
            system->members[i].statistics = kept[i].statistics;
            system->members[i].timed_calls = kept[i].timed_calls;
            system->members[i].status = kept[i].status;
            system->members[i].advanced = kept[i].advanced;
        }
    }
    yk_release(context, image);
    yk_release(context, kept);
    return status;
}
