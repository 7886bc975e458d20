/* Rods in a model: a row of equal elements in absolute nodal coordinates (ancf.h). An attachment is
 * an end node of an element, and its frame that of the section: it is moved by r, r_y and r_z of
 * the node. */
#include <string.h>

#include "multibody/flexible_kind.h"

enum { N = YK_ANCF_COORDINATES };

/* First coordinate of a node: an end node has twelve, a middle node six. */
static int first_of_node(int node)
{
    return (YK_ANCF_NODE + YK_ANCF_MIDDLE) * node;
}

yk_status yk_flexible_ancf(yk_context *context, double length, int elements,
                           const yk_beam_section_def *section, yk_flexible **body)
{
    *body = NULL;
    if (elements < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a rod needs at least one element, not %d",
                       elements);

    yk_flexible *made = yk_flexible_begin(context);
    if (!made)
        return YK_ERROR_MEMORY;

    /* Nodes at the ends of elements and in their middles. */
    made->kind = YK_FLEXIBLE_ROD;
    made->length = length;
    made->elements = elements;
    made->coordinates = first_of_node(elements) + YK_ANCF_NODE;
    made->attachments = elements + 1;

    /* One element, which is straight if it has no strain, represents all. */
    double part = length / elements;
    double coordinates[YK_ANCF_COORDINATES];
    yk_frame origin = yk_frame_ground();
    yk_ancf_straight(&origin, 0, part, coordinates, NULL);

    yk_status status = yk_ancf_create(context, part, section, coordinates, &made->element);
    if (status != YK_OK) {
        yk_flexible_release(made);
        return status;
    }

    *body = made;
    return YK_OK;
}

static int attachment_columns(const yk_flexible *body)
{
    (void)body;
    return YK_ANCF_SECTION;
}

/* Derivatives by coordinates and by rates of one element. */
static size_t tangent_words(const yk_flexible *body)
{
    (void)body;
    return 2 * (size_t)(N * N);
}

static size_t attachment_words(const yk_flexible *body)
{
    (void)body;
    return 0;
}

/* Coordinate k of a section among those of its node: the gradient along the line is between r and
 * r_y. */
static int section_coordinate(int k)
{
    return k < 3 ? k : k + 3;
}

static void section_at(int node, const double *from, double section[YK_ANCF_SECTION])
{
    const double *at = from + first_of_node(node);

    for (int k = 0; k < YK_ANCF_SECTION; k++)
        section[k] = at[section_coordinate(k)];
}

static void map_attachment(const yk_multibody_model *model, attachment_model *attachment)
{
    /* Nine unknowns of the node: r moves, r_y and r_z rotate. */
    int coordinate =
        model->flexibles[attachment->flexible].coordinate + first_of_node(attachment->attachment);

    for (int k = 0; k < YK_ANCF_SECTION; k++) {
        attachment->column[k] = 6 * model->node_count + coordinate + section_coordinate(k);
        attachment->moves[k] = k < 3 ? ATTACHMENT_MOVES : ATTACHMENT_ROTATIONS;
    }
}

static void rod_start(const yk_multibody_flexible_def *def, coordinate_state *now)
{
    yk_frame start = {
        .position = def->position,
        .rotation = yk_q_matrix(yk_q_unit(def->orientation)),
        .velocity = def->velocity,
        .angular_velocity = def->angular_velocity,
    };

    /* Element by element along an arc of constant curvature. */
    double part = def->body->element.length;
    for (int e = 0; e < def->body->elements; e++) {
        double value[N];
        double rate[N];
        yk_ancf_arc(&start, def->curvature, e * part, part, value, rate);

        /* Neighbours share a node, for which both give the same values. */
        coordinate_state *element = &now[first_of_node(e)];
        for (int k = 0; k < N; k++)
            element[k] = (coordinate_state){.value = value[k], .rate = rate[k]};
    }
}

/* Attachments ---------------------------------------------------------------------------------- */

static void locate(const yk_multibody_model *model, yk_multibody_workspace *work, int index,
                   unsigned what)
{
    const attachment_model *attachment = &model->attachments[index];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    trial_node *trial = &work->trial[attachment->frame];
    double value[YK_ANCF_SECTION];
    double rate[YK_ANCF_SECTION];

    /* The section at this node, and the unknowns that move it. */
    section_at(attachment->attachment, at->value, value);
    section_at(attachment->attachment, at->rate, rate);

    yk_ancf_section_pose(value, rate, &trial->frame,
                         what ? work->attachments[index].jacobian : NULL);
    if (what & ATTACHMENT_BIASES)
        yk_ancf_section_bias(value, rate, &trial->acceleration, &trial->angular_acceleration);
}

static void accelerate(const yk_multibody_model *model, const yk_multibody_workspace *work,
                       int index, trial_node *own)
{
    const attachment_model *attachment = &model->attachments[index];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    double value[YK_ANCF_SECTION];
    double rate[YK_ANCF_SECTION];
    double second[YK_ANCF_SECTION];

    /* The section with two derivatives. */
    section_at(attachment->attachment, at->value, value);
    section_at(attachment->attachment, at->rate, rate);
    section_at(attachment->attachment, at->second, second);

    yk_frame moved; /* its velocities are the map times the second derivatives */
    yk_ancf_section_bias(value, rate, &own->acceleration, &own->angular_acceleration);
    yk_ancf_section_pose(value, second, &moved, NULL);
    own->acceleration = yk_v3_add(own->acceleration, moved.velocity);
    own->angular_acceleration = yk_v3_add(own->angular_acceleration, moved.angular_velocity);
}

static void spread_load(const yk_multibody_model *model, yk_multibody_workspace *work, int index,
                        yk_vec3 force, yk_vec3 torque)
{
    const attachment_model *attachment = &model->attachments[index];
    const double *jacobian = work->attachments[index].jacobian;
    const double value[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};

    /* The transposed map from coordinates to the frame. */
    for (int k = 0; k < attachment->count; k++) {
        double sum = 0;
        for (int r = 0; r < 6; r++)
            sum += jacobian[attachment->count * r + k] * value[r];

        work->coordinates[attachment->column[k] - model->coordinate_first].load += sum;
    }
}

static void spread_stiffness(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int index, const yk_wrench *load, double scale)
{
    const attachment_model *attachment = &model->attachments[index];
    const flexible_trial *at = &work->flexibles[attachment->flexible];
    double section[YK_ANCF_SECTION];
    section_at(attachment->attachment, at->value, section);

    yk_ancf_section_stiffness(section, load->torque, scale, at->tangent);
}

/* Momenta and energies ------------------------------------------------------------------------- */

/* The mass matrix times the rates, or accelerations, of the coordinates. */
static void apply_mass(const yk_flexible *body, const double *rate, double *momentum)
{
    memset(momentum, 0, (size_t)body->coordinates * sizeof *momentum);
    for (int e = 0; e < body->elements; e++) {
        /* Neighbours share a node, to which both contribute. */
        int first = first_of_node(e);
        yk_ancf_momenta(&body->element, rate + first, momentum + first);
    }
}

static void rod_momenta(const yk_multibody_model *model, yk_multibody_workspace *work, int flexible,
                        bool with_rates, double *momentum)
{
    (void)with_rates;
    apply_mass(model->flexibles[flexible].body, work->flexibles[flexible].rate, momentum);
}

static void momentum_rates(const yk_multibody_model *model, yk_multibody_workspace *work,
                           int flexible)
{
    const flexible_model *of = &model->flexibles[flexible];
    const flexible_trial *at = &work->flexibles[flexible];
    trial_coordinate *trial = &work->coordinates[of->coordinate];
    double *result = at->value; /* workspace; copied again before the next use */

    /* One product after the other. */
    apply_mass(of->body, at->rate, result);
    for (int k = 0; k < of->body->coordinates; k++)
        trial[k].momentum = result[k];

    apply_mass(of->body, at->second, result);
    for (int k = 0; k < of->body->coordinates; k++)
        trial[k].momentum_rate = result[k];
}

static yk_vec3 vector_at(const double *coordinates, int i)
{
    return yk_v3(coordinates[3 * i], coordinates[3 * i + 1], coordinates[3 * i + 2]);
}

static void add_energy(const yk_multibody_model *model, const yk_multibody_workspace *work,
                       int flexible, yk_energy *energy, double *loss)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    const flexible_trial *at = &work->flexibles[flexible];
    const yk_ancf *element = &body->element;

    for (int e = 0; e < body->elements; e++) {
        const double *q = at->value + first_of_node(e);
        const double *v = at->rate + first_of_node(e);

        /* Strain energy and losses by damping. */
        yk_ancf_loads loads;
        yk_ancf_evaluate(element, q, v, &loads);
        *loss += loads.loss;
        energy->potential += loads.energy;

        /* Weight and kinetic energy of the vectors. */
        for (int i = 0; i < YK_ANCF_VECTORS; i++) {
            double height = yk_v3_dot(model->def.gravity, vector_at(q, i));
            energy->potential -= element->weight[i] * height;
            for (int j = 0; j < YK_ANCF_VECTORS; j++) {
                double product = yk_v3_dot(vector_at(v, i), vector_at(v, j));
                energy->kinetic += 0.5 * element->mass[i][j] * product;
            }
        }
    }
}

static double strain_energy(const yk_flexible *body, const flexible_trial *at)
{
    double sum = 0;
    for (int e = 0; e < body->elements; e++) {
        int first = first_of_node(e);
        yk_ancf_loads loads;
        yk_ancf_evaluate(&body->element, at->value + first, at->rate + first, &loads);
        sum += loads.energy;
    }

    return sum;
}

/* Equations ------------------------------------------------------------------------------------ */

static void pass(const yk_multibody_model *model, yk_multibody_workspace *work, int flexible,
                 assembly_level level, double weight, sink *to, sink_mode mode)
{
    (void)level;
    (void)weight; /* of nodes, which a rod does not have */
    const flexible_model *of = &model->flexibles[flexible];
    const flexible_trial *at = &work->flexibles[flexible];
    const yk_ancf *element = &of->body->element;

    /* Elastic forces and weight. */
    const double g[3] = {model->def.gravity.x, model->def.gravity.y, model->def.gravity.z};
    for (int e = 0; e < of->body->elements && mode != SINK_RECORD; e++) {
        int first = first_of_node(e);
        trial_coordinate *trial = &work->coordinates[of->coordinate + first];

        yk_ancf_loads loads;
        yk_ancf_evaluate(element, at->value + first, at->rate + first, &loads);

        work->potential += loads.energy;
        for (int i = 0; i < N; i++) {
            double own_weight = element->weight[i / 3] * g[i % 3];
            trial[i].load += loads.force[i] + own_weight;
            work->potential -= own_weight * trial[i].value;
        }
    }

    if (mode == SINK_NONE)
        return;

    /* Mass, stiffness and damping. */
    double(*transform)[N] = (double(*)[N])at->tangent;
    double(*rate)[N] = transform + N;
    bool stiff = mode == SINK_ADD && to->node > 0;
    bool damped = stiff && element->damping_ratio > 0;
    double inertia = to->inertia * (1 + to->c * work->damping);
    for (int e = 0; e < of->body->elements; e++) {
        int first = first_of_node(e);
        int unknown = model->coordinate_first + of->coordinate + first;

        const double *q = at->value + first;
        const double *v = at->rate + first;
        if (stiff)
            yk_ancf_tangent(element, q, v, transform, damped ? rate : NULL);

        for (int j = 0; j < N; j++) {
            for (int i = 0; i < N; i++) {
                /* Inertia couples components of one axis only. */
                double value = 0;
                if (mode == SINK_ADD && i % 3 == j % 3)
                    value = inertia * element->mass[i / 3][j / 3];
                if (stiff)
                    value -= to->node * transform[i][j];
                if (damped)
                    value -= to->rate * rate[i][j];
                sink_put(to, mode, unknown + i, unknown + j, value);
            }
        }
    }
}

/* Pieces of an element that are drawn as straight lines. */
enum { PIECES = 4 };

static int outline(const yk_flexible *body)
{
    return PIECES * body->elements + 1;
}

static yk_vec3 outline_point(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int flexible, int point)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    int last = body->elements - 1;
    int element = point / PIECES < last ? point / PIECES : last;
    double xi = (double)(point - PIECES * element) / PIECES;

    const double *from = work->flexibles[flexible].value + first_of_node(element);
    return yk_ancf_line(&body->element, from, xi);
}

const flexible_kind yk_flexible_kind_rod = {
    .attachment_columns = attachment_columns,
    .tangent_words = tangent_words,
    .attachment_words = attachment_words,
    .map_attachment = map_attachment,
    .start = rod_start,
    .locate = locate,
    .accelerate = accelerate,
    .momenta = rod_momenta,
    .momentum_rates = momentum_rates,
    .energy = add_energy,
    .strain_energy = strain_energy,
    .pass = pass,
    .spread_load = spread_load,
    .spread_stiffness = spread_stiffness,
    .outline = outline,
    .outline_point = outline_point,
};
