/* Contacts as rows of the contact problem, with the laws of their surfaces, and the impulses of the
 * solution. Laws: Stribeck's curve (Armstrong-Helouvry, Dupont, Canudas de Wit 1994), cohesion
 * (Tasora, Anitescu, Negrini, Negrut 2013), Hertz (Tsuji, Tanaka, Ishida 1992; Antypov, Elliott
 * 2011; Schwager, Poeschel 2007).
 *
 * The initial guess of a row is the impulse of the same contact in the last step, which is found by
 * its key. Side p of a row is a dynamic body. If it is body b of the contact, signs are reversed
 * (flipped). */
#include "nonsmooth/world.h"

/* Surfaces ------------------------------------------------------------------------------------- */

/* Laws of two touching surfaces, at one contact point and over one step.
 *
 *   friction    F_T <= mu F_N with mu = mu_k + (mu_s - mu_k) exp(-(v / v_s)^2), where v is the
 *               sliding speed at the start of the step (Stribeck's curve: Armstrong-Helouvry,
 *               Dupont, Canudas de Wit 1994). The coefficient is known before the problem of the
 *               step is solved, so that it remains a problem with Coulomb's law: sticking contacts
 *               have mu_s, sliding contacts mu_k.
 *   cohesion    a constant force c pulls the surfaces together while they touch: F_N >= -c and F_T
 *               <= mu (F_N + c), which is the friction cone shifted down by c (Tasora, Anitescu,
 *               Negrini, Negrut 2013). The problem contains F_N + c and the force c on both bodies.
 *   Hertz       F_N = k d^(3/2) + zeta sqrt(5 m k) d^(1/4) d', k = 4/3 E sqrt(R), for the overlap d
 *               of solids with radii R and the reduced mass m (Tsuji, Tanaka, Ishida 1992)
 *
 * The damper of Hertz's law gives one coefficient of restitution for all speeds. As a function of
 * the variable s, ds = d^(1/4) dt, the contact is a linear oscillator with the damping ratio zeta
 * (Antypov, Elliott 2011). Because contacts do not pull, it ends when the force vanishes, with
 *
 *   e = exp(-2 zeta arccos(zeta) / sqrt(1 - zeta^2))             (Schwager, Poeschel 2007) */

/* Default transition speed between sticking and sliding (m/s); measured values are 1e-5 to 1e-1
 * (Armstrong-Helouvry, Dupont, Canudas de Wit 1994). */
static const double STRIBECK_SPEED = 1e-3;
/* Smallest restitution: below it the damper would be so strong that contacts approach their rest
 * position only slowly. */
static const double LEAST_RESTITUTION = 0.05;
/* Smallest damper of a row, in masses per step: rows need one, and this one has no visible effect. */
static const double LEAST_RATE = 1e-6;

/* The smaller of two numbers that are not zero, or the nonzero one. */
static double smaller_given(double a, double b)
{
    if (a == 0 || b == 0)
        return fmax(a, b);
    return fmin(a, b);
}

yk_material yk_material_combine(const yk_material *a, const yk_material *b)
{
    /* The softer of two surfaces yields; a surface without stiffness is rigid. */
    const yk_material *soft = a;
    if (a->stiffness == 0 || (b->stiffness > 0 && b->stiffness < a->stiffness))
        soft = b;

    /* If both surfaces are elastic, both yield. */
    double modulus = fmax(a->plane_strain_modulus, b->plane_strain_modulus);
    if (a->plane_strain_modulus > 0 && b->plane_strain_modulus > 0)
        modulus = 1 / (1 / a->plane_strain_modulus + 1 / b->plane_strain_modulus);

    /* Without static friction, a surface sticks with its kinetic friction. */
    double static_a = fmax(a->static_friction, a->friction);
    double static_b = fmax(b->static_friction, b->friction);

    /* The smaller friction, restitution and cohesion of both surfaces apply. */
    return (yk_material){
        .friction = fmin(a->friction, b->friction),
        .restitution = fmin(a->restitution, b->restitution),
        .rolling_friction = fmin(a->rolling_friction, b->rolling_friction),
        .spinning_friction = fmin(a->spinning_friction, b->spinning_friction),
        .stiffness = soft->stiffness,
        .damping = soft->damping,
        .static_friction = fmin(static_a, static_b),
        .stribeck_velocity = smaller_given(a->stribeck_velocity, b->stribeck_velocity),
        .cohesion = fmin(a->cohesion, b->cohesion),
        .cohesion_range = smaller_given(a->cohesion_range, b->cohesion_range),
        .plane_strain_modulus = modulus,
    };
}

/* mu at a sliding speed (m/s). */
static double friction_at(const yk_material *material, double sliding)
{
    double more = material->static_friction - material->friction;
    if (!(more > 0))
        return material->friction;

    double speed = STRIBECK_SPEED;
    if (material->stribeck_velocity > 0)
        speed = material->stribeck_velocity;
    double ratio = sliding / speed;
    return material->friction + more * exp(-ratio * ratio);
}

/* -ln e as a function of the damping ratio; it increases with the ratio. */
static double lost(double zeta)
{
    double root = sqrt(fabs(1 - zeta * zeta));
    if (root < 1e-6)
        return 2;
    if (zeta < 1)
        return 2 * zeta * acos(zeta) / root;
    return 2 * zeta * acosh(zeta) / root;
}

yk_surface_law yk_surface_law_of(const yk_material *material)
{
    yk_surface_law law = {.material = *material};
    if (!(material->plane_strain_modulus > 0) || material->restitution >= 1)
        return law;

    /* The damping ratio for a restitution, by bisection. */
    double wanted = -log(fmax(material->restitution, LEAST_RESTITUTION));
    double low = 0, high = 10;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (lost(middle) < wanted)
            low = middle;
        else
            high = middle;
    }

    law.damping_ratio = high;
    return law;
}

/* The force F = F(d) + theta h K rate + D rate at the end of the step, for the overlap d at its
 * start. theta = 0 is explicit and preserves the energy of oscillations that the step resolves;
 * theta = 1 is implicit and stable for any stiffness, but damps. With z = h^2 K / m, theta = z / (1
 * + z) dissipates a fraction of the energy of order z^2 per step for small z, and is implicit for
 * large z. K is the stiffness at the deepest overlap that can occur in the step. */
void yk_surface_hertz(const yk_surface_law *law, const yk_hertz_contact *at, double h,
                      double *softness, double *bias)
{
    double k = 4. / 3 * law->material.plane_strain_modulus / sqrt(at->curvature);
    double overlap = fmax(0, -at->gap);
    double deepest = fmax(overlap, -(at->gap + h * at->separation));
    double stiffness = 1.5 * k * sqrt(deepest);

    double z = h * h * stiffness / at->mass;
    double theta = z / (1 + z);
    double damping = law->damping_ratio * sqrt(5 * at->mass * k) * sqrt(sqrt(overlap));
    double rate = fmax(theta * h * stiffness + damping, LEAST_RATE * at->mass / h);

    /* Before they touch, the gap closes first, then the surfaces yield. */
    *softness = 1 / (h * rate);
    *bias = at->gap / h;
    if (overlap > 0)
        *bias = -k * overlap * sqrt(overlap) / rate;
}

/* The problem ---------------------------------------------------------------------------------- */

/* For models without gravity, m/s^2. */
static const double STANDARD_GRAVITY = 9.81;
/* Default range of cohesion, in envelopes. */
static const double COHESION_RANGE = 0.01;

yk_status yk_problem_create(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    yk_problem *problem = &self->problem;
    yk_network_def def = yk_network_default();

    def.nodes = model->dynamic_count;
    def.contacts = model->contact_capacity;
    def.joint_rows = model->joint_row_count;
    def.pool = self->pool;

    /* Softness needs memory per contact, so it is used only if a surface yields. */
    def.soft = model->yields;

    yk_status status = yk_network_create(self->context, &def, &problem->network);
    if (status != YK_OK)
        return status;

    /* Masses are constant; velocities are set in every step. */
    problem->nodes = yk_network_nodes(problem->network, model->dynamic_count);
    if (!problem->nodes)
        return YK_ERROR_MEMORY;

    for (size_t i = 0; i < model->dynamic_count && status == YK_OK; i++) {
        const yk_body_model *body = &model->bodies[i];
        problem->nodes[i] = (yk_network_node){.inverse_mass = 1 / body->mass};

        /* Allocate tensors here; threads set those in global axes in every step. */
        if (body->radius > 0)
            status = yk_network_radius(problem->network, i, body->radius);
        else
            status = yk_network_inertia(problem->network, i, &model->tensors[body->tensor].inverse);
    }

    return status;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Velocity of a point of a part at the beginning of the step. */
static yk_vec3 velocity_before(const yk_nonsmooth *self, const yk_part *part, yk_vec3 at)
{
    if (part->body < 0)
        return yk_v3(0, 0, 0);

    /* The present solid, with the velocity at the start of the step. */
    yk_body_state body = self->state.bodies[part->body];
    body.velocity = self->step.before[part->body].linear;
    body.angular_velocity = self->step.before[part->body].angular;
    return yk_world_point_velocity(&body, at);
}

/* A triangle has no inside: if it intersects a solid with edges, its contacts may require
 * contradictory directions. For spheres the direction is always clear. */
static bool may_contradict(const yk_part *a, const yk_part *b)
{
    bool thin = yk_solid_is_thin(a->kind) || yk_solid_is_thin(b->kind);
    return thin && !yk_solid_is_ball(a->kind) && !yk_solid_is_ball(b->kind);
}

/* At this recovery speed a body rises by at most one envelope. For a mesh the speed is limited to
 * the change by gravity in a step: contradictory contacts push bodies with the recovery speed, and
 * this limit makes the resulting energy negligible. */
static double recovery_speed(const yk_world_model *model, const yk_part *a, const yk_part *b,
                             double h)
{
    const yk_nonsmooth_def *def = &model->def;
    if (def->max_recovery_speed > 0)
        return def->max_recovery_speed;

    /* v^2 = 2 g e lifts a body by the envelope e. */
    double gravity = yk_v3_norm(def->gravity);
    if (!(gravity > 0))
        gravity = STANDARD_GRAVITY;
    double speed = fmin(model->envelope / h, sqrt(2 * gravity * model->envelope));
    if (may_contradict(a, b))
        speed = fmin(speed, h * gravity);
    return speed;
}

double yk_world_bounce_speed(const yk_world_model *model, double h)
{
    if (model->def.min_bounce_speed > 0)
        return model->def.min_bounce_speed;
    return h * yk_v3_norm(model->def.gravity);
}

/* Gap g of contacts between faces below which it is hardly closed: as g^3 / slack^2. Such gaps depend on each
 * other. The solution for gaps that are only rounding errors of the motion would load some points of a face
 * and lift others by them, and each step would correct the errors of the one before. The slack is 1e-4
 * of the way that gravity moves a body in a step. */
static double gap_slack(const yk_world_model *model, double h)
{
    return 1e-4 * h * h * yk_v3_norm(model->def.gravity);
}

/* Zhang et al. 2020 (19): gap / h, with a bounded recovery speed; or the rebound of Newton's impact
 * law if the contact closes within the step. `separation` is the rate of the gap at the start of
 * the step. */
static double contact_bias(const yk_world_model *model, const yk_part *a, const yk_part *b,
                           double gap, double slack, double restitution, double separation,
                           double h)
{
    /* Slow approaches do not rebound, because otherwise contacts would never come to rest. */
    if (restitution > 0) {
        double least = yk_world_bounce_speed(model, h);
        if (separation < -least && gap + h * separation <= 0)
            return restitution * separation;
    }

    /* Overlaps are removed at a bounded speed. */
    if (slack > 0)
        gap *= gap * gap / (gap * gap + slack * slack);
    double bias = gap / h;
    if (gap < 0)
        bias = fmax(bias, -recovery_speed(model, a, b, h));
    return bias;
}

/* Index of the same contact in the last step, or SIZE_MAX. Round contacts are found by their row,
 * general ones by bisection. */
static size_t find_last(const yk_contact_list *last, const yk_contact_key *key, bool round)
{
    size_t k = last->round_count, end = last->count;

    /* The first contact of the pair. */
    if (round) {
        k = last->rows[key->a];
        end = last->rows[key->a + 1];
    } else {
        for (size_t high = end; k < high;) {
            size_t middle = k + (high - k) / 2;
            const yk_contact_key *at = &last->keys[middle];
            if (at->a < key->a || (at->a == key->a && at->b < key->b))
                k = middle + 1;
            else
                high = middle;
        }
    }

    /* Few contacts per pair: features are compared one by one. */
    for (; k < end && last->keys[k].a == key->a && last->keys[k].b <= key->b; k++)
        if (last->keys[k].b == key->b && last->keys[k].feature == key->feature)
            return k;
    return SIZE_MAX;
}

/* Of a round solid; flat solids, and walls around bodies, have none. */
static double curvature_of(const yk_world_model *model, const yk_part *part)
{
    if (part->round)
        return 1 / model->bodies[part->body].radius;

    yk_solid solid = yk_world_part_solid(model, part);
    double skin = yk_solid_skin(&solid);
    return skin > 0 ? 1 / skin : 0;
}

/* Cohesive impulse on the two sides of contact i in this step. */
static double cohesion_impulse(const yk_nonsmooth *self, size_t i, double h)
{
    const yk_world_model *model = &self->model;
    const yk_contact_list *found = &self->collision.found;
    const yk_part *a = &model->parts[found->keys[i].a], *b = &model->parts[found->keys[i].b];
    const yk_material *material = yk_world_pair_material(model, a, b);
    if (!(material->cohesion > 0))
        return 0;

    double range = material->cohesion_range;
    if (!(range > 0))
        range = COHESION_RANGE * model->envelope;

    /* With the convex cone, sliding contacts have a gap of h mu v. */
    yk_touch touch = yk_collision_touch(&self->collision, found, i);
    if (touch.gap > range && model->def.contact_options.friction_model == YK_FRICTION_CONVEX_CONE) {
        yk_vec3 u = yk_v3_sub(velocity_before(self, a, touch.point_a),
                              velocity_before(self, b, touch.point_b));
        yk_vec3 sliding = yk_v3_axpy(-yk_v3_dot(touch.normal, u), touch.normal, u);
        double mu = fmax(material->friction, material->static_friction);
        range += h * mu * yk_v3_norm(sliding);
    }

    return touch.gap <= range ? h * material->cohesion : 0;
}

double yk_world_contact_row(const yk_nonsmooth *self, size_t i, double h, yk_contact *row)
{
    const yk_world_model *model = &self->model;
    const yk_collision *collision = &self->collision;
    const yk_contact_list *found = &collision->found, *last = &self->state.contacts;
    const yk_contact_key *key = &found->keys[i];
    const yk_pair *nodes = &collision->pairs[i];
    yk_touch touch = yk_collision_touch(collision, found, i);

    /* The two sides: p is a dynamic body, and the normal points towards it. */
    const yk_part *p = &model->parts[key->a], *q = &model->parts[key->b];
    yk_vec3 at_p = touch.point_a, at_q = touch.point_b;
    row->normal = yk_v3_neg(touch.normal);

    bool flipped = !yk_world_is_dynamic(model, p->body);
    if (flipped) {
        p = &model->parts[key->b];
        q = &model->parts[key->a];
        at_p = touch.point_b;
        at_q = touch.point_a;
        row->normal = touch.normal;
    }

    /* The laws that apply. Restitution is a bias with Newton's law only: other laws have acted
     * before, and yielding surfaces rebound by Hertz's law. */
    const yk_surface_law *law = yk_world_pair_law(model, p, q);
    const yk_material *material = &law->material;
    double curvature = 0;
    if (material->plane_strain_modulus > 0)
        curvature = curvature_of(model, p) + curvature_of(model, q);
    double restitution = 0;
    if (model->def.impact_law == YK_IMPACT_NEWTON && curvature == 0)
        restitution = material->restitution;

    /* The velocity at the start of the step, if a law needs it. */
    bool sticks_better = material->static_friction > material->friction;
    double separation = 0;
    row->mu = material->friction;
    if (restitution > 0 || sticks_better || curvature > 0) {
        /* u = (n . u) n + sliding. */
        yk_vec3 u = yk_v3_sub(velocity_before(self, p, at_p), velocity_before(self, q, at_q));
        separation = yk_v3_dot(row->normal, u);
        yk_vec3 sliding = yk_v3_axpy(-separation, row->normal, u);
        if (sticks_better)
            row->mu = friction_at(material, yk_v3_norm(sliding));
    }

    /* Zhang et al. 2020 (19). */
    double slack = 0;
    if (nodes->kind == YK_PAIR_GENERAL)
        slack = gap_slack(model, h);
    row->bias = contact_bias(model, p, q, touch.gap, slack, restitution, separation, h);

    /* Peiret et al. 2020 (41): the force K overlap + D rate at the end of the step. A gap closes
     * first, then the surfaces yield. */
    row->softness = row->creep = 0;
    if (curvature > 0) {
        yk_hertz_contact at = {touch.gap, separation, curvature, 0};
        double inverse_mass = 1 / model->bodies[p->body].mass;
        if (nodes->b != YK_NETWORK_NONE)
            inverse_mass += 1 / model->bodies[q->body].mass;
        at.mass = 1 / inverse_mass;
        yk_surface_hertz(law, &at, h, &row->softness, &row->bias);
    } else if (material->stiffness > 0) {
        double rate = h * material->stiffness + material->damping;
        row->softness = row->creep = 1 / (h * rate);
        if (touch.gap < 0 && row->bias <= 0)
            row->bias = material->stiffness * touch.gap / rate;
    }

    /* The impulse of the last step. */
    row->impulse = row->torque = yk_v3(0, 0, 0);
    size_t before = find_last(last, key, i < found->round_count);
    if (before != SIZE_MAX) {
        double sign = flipped ? -1 : 1;
        row->impulse = yk_v3_scale(sign, last->impulses[before]);
        if (before >= last->round_count)
            row->torque = yk_v3_scale(sign, last->torques[before - last->round_count]);

        /* The problem contains it without cohesion. */
        if (model->coheres)
            row->impulse = yk_v3_axpy(cohesion_impulse(self, i, h), row->normal, row->impulse);
    }

    /* Bodies with known motion already have the velocity at the end of the step. */
    if (nodes->b == YK_NETWORK_NONE) {
        row->surface = yk_v3(0, 0, 0);
        if (q->body >= 0)
            row->surface = yk_world_point_velocity(&self->state.bodies[q->body], at_q);
    }

    /* Round pairs have their arms along the normal and no rolling resistance. */
    if (nodes->kind == YK_PAIR_ROUND)
        return touch.gap;

    row->mu_spin = material->spinning_friction;
    row->mu_roll = material->rolling_friction;
    row->before = yk_v3_sub(velocity_before(self, p, at_p), velocity_before(self, q, at_q));

    row->arm_a = yk_v3_sub(at_p, self->state.bodies[p->body].position);
    if (nodes->b != YK_NETWORK_NONE)
        row->arm_b = yk_v3_sub(at_q, self->state.bodies[q->body].position);
    return touch.gap;
}

static void rows_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    yk_nonsmooth *self = user;
    yk_problem *problem = &self->problem;
    yk_contact row = {.softness = 0};
    double deepest = 0;

    for (size_t i = begin; i < end; i++) {
        double gap = yk_world_contact_row(self, i, self->step.h, &row);
        deepest = fmax(deepest, -gap);
        yk_network_set(problem->network, i, &row);
    }

    problem->deepest[chunk] = deepest;
}

static const char *name_of(const yk_world_model *model, const yk_part *part)
{
    if (part->body < 0)
        return "the ground";

    const char *name = model->names[model->body_of[part->body]];
    return name ? name : "a particle";
}

/* Initial overlaps of the model, if they are larger than the errors of the solver. */
static void warn_of_overlap(const yk_nonsmooth *self, double h)
{
    const yk_world_model *model = &self->model;
    const yk_contact_list *found = &self->collision.found;
    double deepest = -model->envelope;
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < found->count; i++) {
        double gap = yk_collision_touch(&self->collision, found, i).gap;
        if (gap < deepest) {
            deepest = gap;
            worst = i;
        }
    }

    if (worst == SIZE_MAX)
        return;

    /* One warning, of the deepest. */
    const yk_contact_key *key = &found->keys[worst];
    const yk_part *a = &model->parts[key->a], *b = &model->parts[key->b];
    yk_log(self->context, YK_LOG_WARNING,
           "%s and %s overlap by %.3g m at the start; overlaps are undone at %.3g m/s, move them "
           "apart where that disturbs the run",
           name_of(model, a), name_of(model, b), -deepest * model->def.length_unit,
           recovery_speed(model, a, b, h) * model->def.length_unit);
}

/* A fixed size, but no more chunks than the problem has entries for their results. */
static size_t contact_chunk_size(size_t count)
{
    size_t size = count / YK_CONTACT_CHUNKS + 1;
    return size < YK_PAIR_CHUNK ? YK_PAIR_CHUNK : size;
}

yk_status yk_world_set_contacts(yk_nonsmooth *self, double h)
{
    yk_problem *problem = &self->problem;
    size_t count = self->collision.found.count;
    yk_status status = yk_network_plan(problem->network, self->collision.pairs, count);

    if (status != YK_OK)
        return status;

    size_t chunk = contact_chunk_size(count);
    self->step.h = h;
    yk_pool_run(self->pool, count, chunk, rows_chunk, self);

    /* Cohesion acts on the nodes like a load, so that the impulses of the problem are in the cone
     * (see above). Sequentially, because contacts share nodes. */
    for (size_t i = 0; self->model.coheres && i < count; i++) {
        double pull = cohesion_impulse(self, i, h);
        if (pull == 0)
            continue;

        yk_contact row = {.softness = 0};
        yk_world_contact_row(self, i, h, &row);
        yk_vec3 impulse = yk_v3_scale(-pull, row.normal), torque = {0, 0, 0};
        yk_world_push(self, &self->collision.pairs[i], &row, impulse, torque, problem->nodes);
    }

    /* The largest overlap of all chunks. */
    self->report.deepest_overlap = 0;
    for (size_t i = 0; i * chunk < count; i++)
        self->report.deepest_overlap = fmax(self->report.deepest_overlap, problem->deepest[i]);

    /* Only once, at the start of the run: later overlaps are in the report. */
    if (self->steps == 0)
        warn_of_overlap(self, h);
    return YK_OK;
}

/* The fastest approach, and rounding errors of bodies that move together. */
static void approach_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    yk_nonsmooth *self = user;
    const yk_world_model *model = &self->model;
    const yk_collision *collision = &self->collision;
    double fastest = 0;
    double rounding = 0;

    for (size_t i = begin; i < end; i++) {
        const yk_contact_key *key = &collision->found.keys[i];
        yk_touch touch = yk_collision_touch(collision, &collision->found, i);
        yk_vec3 a = velocity_before(self, &model->parts[key->a], touch.point_a);
        yk_vec3 b = velocity_before(self, &model->parts[key->b], touch.point_b);
        fastest = fmax(fastest, yk_v3_dot(touch.normal, yk_v3_sub(a, b)));
        rounding = fmax(rounding, 1e-9 * (yk_v3_norm(a) + yk_v3_norm(b)));
    }

    self->problem.approach[chunk] = fastest;
    self->problem.rounding[chunk] = rounding;
}

double yk_world_resolved_speed(yk_nonsmooth *self, double h)
{
    const yk_world_model *model = &self->model;
    double pushed = h * yk_v3_norm(model->def.gravity);
    double fastest = 0;
    double rounding = 0; /* of bodies that move together without gravity */

    /* Without gravity: the change by loads. */
    for (size_t i = 0; pushed == 0 && self->step.applied && i < model->dynamic_count; i++) {
        double force = yk_v3_norm(self->step.applied[i].force);
        fastest = fmax(fastest, h * force / model->bodies[i].mass);
    }

    pushed = fmax(pushed, fastest);

    /* A hundredth of the fastest approach, if that is larger. */
    size_t count = self->collision.found.count;
    size_t chunk = contact_chunk_size(count);
    yk_pool_run(self->pool, count, chunk, approach_chunk, self);
    fastest = 0;
    for (size_t i = 0; i * chunk < count; i++) {
        fastest = fmax(fastest, self->problem.approach[i]);
        rounding = fmax(rounding, self->problem.rounding[i]);
    }

    return fmax(fmax(pushed, rounding), 0.01 * fastest);
}

/* Impulses ------------------------------------------------------------------------------------- */

void yk_world_clear_received(yk_nonsmooth *self, double h)
{
    for (size_t i = 0; i < yk_world_known_count(&self->model); i++) {
        yk_wrench held = {.force = {0, 0, 0}};
        if (self->state.sleep.rest_time)
            held = self->sleep.received[i];
        self->step.received[i] =
            (yk_wrench){yk_v3_scale(h, held.force), yk_v3_scale(h, held.torque)};
    }
}

/* Impulses of the solution and of the impacts before it, for side a of each contact. */
static void impulse_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    yk_nonsmooth *self = user;
    const yk_world_model *model = &self->model;
    const yk_collision *collision = &self->collision;
    const yk_contact_list *found = &collision->found;
    yk_contact_list *last = &self->state.contacts;
    double exchanged = 0;

    for (size_t i = begin; i < end; i++) {
        bool flipped = !yk_world_is_dynamic(model, model->parts[found->keys[i].a].body);
        yk_vec3 impulse = yk_network_impulse(self->problem.network, i), torque = {0, 0, 0};
        if (collision->pairs[i].kind != YK_PAIR_ROUND)
            torque = yk_network_torque(self->problem.network, i);
        if (self->impact.acted) {
            impulse = yk_v3_add(impulse, self->impact.impulses[i]);
            torque = yk_v3_add(torque, self->impact.torques[i]);
        }

        exchanged += yk_v3_norm(impulse);

        /* Add the cohesion, which was a load in the problem. */
        if (model->coheres) {
            yk_vec3 normal = yk_collision_touch(collision, found, i).normal;
            double pull = cohesion_impulse(self, i, self->step.h);
            impulse = yk_v3_axpy(flipped ? -pull : pull, normal, impulse);
        }

        if (flipped) {
            impulse = yk_v3_neg(impulse);
            torque = yk_v3_neg(torque);
        }

        last->impulses[i] = impulse;
        if (i >= found->round_count)
            last->torques[i - found->round_count] = torque;
    }

    self->problem.exchanged[chunk] = exchanged;
}

/* Bodies whose motion is known receive the opposite impulses about their centers of mass. In the order of
 * the contacts, which share these bodies. */
static void add_received(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    const yk_collision *collision = &self->collision;
    const yk_contact_list *found = &collision->found, *last = &self->state.contacts;
    if (yk_world_known_count(model) == 0)
        return;

    for (size_t i = 0; i < found->count; i++) {
        if (collision->pairs[i].b != YK_NETWORK_NONE)
            continue;
        const yk_part *a = &model->parts[found->keys[i].a], *b = &model->parts[found->keys[i].b];
        bool flipped = !yk_world_is_dynamic(model, a->body);
        const yk_part *other = flipped ? a : b;
        if (other->body < 0)
            continue;

        /* Side a is the dynamic body, unless the contact is flipped. */
        yk_vec3 back = last->impulses[i], twist = {0, 0, 0};
        if (i >= found->round_count)
            twist = last->torques[i - found->round_count];
        if (!flipped) {
            back = yk_v3_neg(back);
            twist = yk_v3_neg(twist);
        }

        yk_touch touch = yk_collision_touch(collision, found, i);
        yk_vec3 at = flipped ? touch.point_a : touch.point_b;
        yk_vec3 arm = yk_v3_sub(at, self->state.bodies[other->body].position);

        yk_wrench *sum = &self->step.received[(size_t)other->body - model->dynamic_count];
        sum->force = yk_v3_add(sum->force, back);
        sum->torque = yk_v3_add(sum->torque, yk_v3_add(twist, yk_v3_cross(arm, back)));
    }
}

void yk_world_take_impulses(yk_nonsmooth *self, double h)
{
    yk_collision *collision = &self->collision;
    yk_contact_list *found = &collision->found, *last = &self->state.contacts;

    /* Forces of sleeping bodies on those with known motion act for the whole step. */
    yk_world_clear_received(self, h);
    self->step.h = h;
    size_t chunk = contact_chunk_size(found->count);
    yk_pool_run(self->pool, found->count, chunk, impulse_chunk, self);
    add_received(self);

    /* All impulses, in an order that does not depend on the number of threads. */
    for (size_t k = 0; k < self->problem.joint_row_count; k++)
        self->exchanged_impulse += fabs(self->problem.joint_rows[k].impulse);
    for (size_t i = 0; i * chunk < found->count; i++)
        self->exchanged_impulse += self->problem.exchanged[i];

    /* The present contacts are the starting point of the next step; their impulses are set already. */
    yk_contact_list used = *last;
    last->count = found->count;
    last->round_count = found->round_count;
    last->keys = found->keys;
    last->rows = found->rows;
    found->keys = used.keys;
    found->rows = used.rows;
    self->has_points = true;
}
