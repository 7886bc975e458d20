/* Flexible bodies in a model: their coordinates, and the frames of their places, which follow the coordinates and are
 * never solved for. */
#include <stdio.h>
#include <string.h>

#include "math/so3.h"
#include "smooth/internal.h"

enum { RIGID = 6 };

int yk_smooth_coordinates_of(const yk_smooth_def *def)
{
    int count = 0;
    for (int i = 0; i < def->flexible_count; i++) count += def->flexibles[i].body->coordinates;
    return count;
}

int yk_smooth_frame_of(const yk_smooth *model, int node)
{
    if (node == YK_SMOOTH_GROUND) return model->node_count;
    return node < model->node_count ? node : model->place_first + node - model->node_count;
}

static yk_frame start_frame(const yk_smooth_flexible_def *def)
{
    return (yk_frame){.position = def->position,
                      .rotation = yk_q_matrix(yk_q_unit(def->orientation)),
                      .velocity = def->velocity,
                      .angular_velocity = def->angular_velocity};
}

yk_smooth_node_def yk_smooth_place_of(const yk_smooth_def *def, int node)
{
    if (node == YK_SMOOTH_GROUND) return yk_smooth_node_default();
    if (node < def->node_count) return def->nodes[node];
    const yk_smooth_place_def *place = &def->places[node - def->node_count];
    const yk_smooth_flexible_def *flexible = &def->flexibles[place->flexible];
    yk_smooth_node_def at = {.name = place->name,
                             .position = flexible->position,
                             .orientation = flexible->orientation,
                             .velocity = flexible->velocity,
                             .angular_velocity = flexible->angular_velocity};
    if (flexible->body->kind == YK_FLEXIBLE_MODAL) {
        at = def->nodes[flexible->node];
        at.name = place->name;
    }
    yk_vec3 arm = yk_q_rotate(at.orientation, yk_flexible_place(flexible->body, place->place));
    at.position = yk_v3_add(at.position, arm);
    at.velocity = yk_v3_add(at.velocity, yk_v3_cross(at.angular_velocity, arm));
    return at;
}

/* Compilation ----------------------------------------------------------------------------------------------------- */

static int columns_of(const yk_flexible *body)
{
    return body->kind == YK_FLEXIBLE_MODAL ? RIGID + body->coordinates : YK_ANCF_SECTION;
}

static size_t tangent_words(const yk_flexible *body)
{
    size_t n = body->kind == YK_FLEXIBLE_MODAL ? (size_t)(RIGID + body->coordinates) : YK_ANCF_COORDINATES;
    return (body->kind == YK_FLEXIBLE_MODAL ? 1 : 2) * n * n;
}

static yk_status take_stores(yk_smooth *model)
{
    const yk_smooth_def *def = &model->def;
    size_t words = 0, columns = 0;
    for (int i = 0; i < def->flexible_count; i++)
        words += 3 * (size_t)def->flexibles[i].body->coordinates + tangent_words(def->flexibles[i].body);
    for (int i = 0; i < def->place_count; i++)
        columns += (size_t)columns_of(def->flexibles[def->places[i].flexible].body);
    model->flexibles = yk_allocate(model->context, (size_t)def->flexible_count, sizeof *model->flexibles);
    model->places = yk_allocate(model->context, (size_t)def->place_count, sizeof *model->places);
    model->flexible_store = yk_allocate(model->context, words + 6 * columns, sizeof *model->flexible_store);
    model->place_columns = yk_allocate(model->context, columns, sizeof *model->place_columns);
    bool complete = model->flexibles && model->places && model->flexible_store && model->place_columns;
    return complete ? YK_OK : YK_ERROR_MEMORY;
}

static void list_columns(const yk_smooth *model, const flexible_model *of, place_model *place)
{
    int first = 6 * model->node_count + of->coordinate;
    if (of->body->kind == YK_FLEXIBLE_MODAL) {
        for (int k = 0; k < place->count; k++) place->column[k] = k < RIGID ? 6 * of->node + k : first + k - RIGID;
        return;
    }
    /* r, then r_y and r_z: the gradient along the line stands between them */
    first += yk_flexible_rod_node(place->place);
    for (int k = 0; k < YK_ANCF_SECTION; k++) place->column[k] = first + (k < 3 ? k : k + 3);
}

yk_status yk_smooth_compile_flexibles(yk_smooth *model)
{
    const yk_smooth_def *def = &model->def;
    yk_status status = take_stores(model);
    if (status != YK_OK) return status;
    double *at = model->flexible_store;
    int *column = model->place_columns, coordinate = 0;
    for (int i = 0; i < def->flexible_count; i++) {
        const yk_smooth_flexible_def *flexible = &def->flexibles[i];
        int n = flexible->body->coordinates;
        bool modal = flexible->body->kind == YK_FLEXIBLE_MODAL;
        flexible_model *made = &model->flexibles[i];
        *made = (flexible_model){.name = flexible->name,
                                 .body = flexible->body,
                                 .node = modal ? flexible->node : -1,
                                 .coordinate = coordinate,
                                 .value = at,
                                 .rate = at + n,
                                 .second = at + 2 * n,
                                 .tangent = at + 3 * n};
        at += 3 * (size_t)n + tangent_words(flexible->body);
        coordinate += n;
    }
    for (int i = 0; i < def->place_count; i++) {
        const flexible_model *of = &model->flexibles[def->places[i].flexible];
        place_model *made = &model->places[i];
        *made = (place_model){.flexible = def->places[i].flexible,
                              .place = def->places[i].place,
                              .frame = model->place_first + i,
                              .count = columns_of(of->body),
                              .column = column,
                              .jacobian = at};
        column += made->count;
        at += 6 * made->count;
        list_columns(model, of, made);
    }
    return YK_OK;
}

void yk_smooth_release_flexibles(yk_smooth *model)
{
    yk_release(model->context, model->flexibles), model->flexibles = NULL;
    yk_release(model->context, model->places), model->places = NULL;
    yk_release(model->context, model->flexible_store), model->flexible_store = NULL;
    yk_release(model->context, model->place_columns), model->place_columns = NULL;
}

/* Modal bodies start undeformed, rods straight. */
void yk_smooth_start_flexibles(yk_smooth *model)
{
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *of = &model->flexibles[i];
        if (of->body->kind == YK_FLEXIBLE_MODAL) continue;
        yk_frame start = start_frame(&model->def.flexibles[i]);
        coordinate_state *now = &model->state.coordinate_now[of->coordinate];
        double part = of->body->element.length, value[YK_ANCF_COORDINATES], rate[YK_ANCF_COORDINATES];
        for (int e = 0; e < of->body->elements; e++) {
            yk_ancf_straight(&start, e * part, part, value, rate);
            for (int k = 0; k < YK_ANCF_COORDINATES; k++)
                now[yk_flexible_rod_node(e) + k] = (coordinate_state){.value = value[k], .rate = rate[k]};
        }
    }
}

/* Places ---------------------------------------------------------------------------------------------------------- */

static void gather(yk_smooth *model, flexible_model *of)
{
    const trial_coordinate *trial = &model->coordinates[of->coordinate];
    for (int k = 0; k < of->body->coordinates; k++) {
        of->value[k] = trial[k].value;
        of->rate[k] = trial[k].rate;
        of->second[k] = trial[k].acceleration;
    }
}

static void section_of(int node, const double *from, double section[YK_ANCF_SECTION])
{
    const double *at = from + yk_flexible_rod_node(node);
    for (int k = 0; k < YK_ANCF_SECTION; k++) section[k] = at[k < 3 ? k : k + 3];
}

static void place_one(yk_smooth *model, const place_model *place, bool with_bias)
{
    const flexible_model *of = &model->flexibles[place->flexible];
    trial_node *trial = &model->trial[place->frame];
    if (of->body->kind == YK_FLEXIBLE_MODAL) {
        const yk_ffrf_node *node = &of->body->nodes[place->place];
        const yk_frame *frame = &model->trial[of->node].frame;
        int modes = of->body->coordinates;
        yk_ffrf_node_place(node, modes, frame, of->value, of->rate, &trial->frame, place->jacobian);
        if (with_bias)
            yk_ffrf_node_bias(node, modes, frame, of->value, of->rate, &trial->acceleration,
                              &trial->angular_acceleration);
        return;
    }
    double value[YK_ANCF_SECTION], rate[YK_ANCF_SECTION];
    section_of(place->place, of->value, value);
    section_of(place->place, of->rate, rate);
    yk_ancf_section_place(value, rate, &trial->frame, place->jacobian);
    if (with_bias) yk_ancf_section_bias(value, rate, &trial->acceleration, &trial->angular_acceleration);
}

void yk_smooth_place_flexibles(yk_smooth *model, bool with_bias)
{
    for (int i = 0; i < model->def.flexible_count; i++) gather(model, &model->flexibles[i]);
    for (int i = 0; i < model->def.place_count; i++) place_one(model, &model->places[i], with_bias);
}

/* Acceleration of an unknown of motion in the trial. */
static double acceleration_of(const yk_smooth *model, int unknown)
{
    if (unknown >= model->coordinate_first) return model->coordinates[unknown - model->coordinate_first].acceleration;
    const trial_node *node = &model->trial[unknown / 6];
    yk_vec3 a = unknown % 6 < 3 ? node->acceleration : node->angular_acceleration;
    return unknown % 3 == 0 ? a.x : unknown % 3 == 1 ? a.y : a.z;
}

void yk_smooth_show_places(yk_smooth *model)
{
    if (model->def.flexible_count == 0) return;
    /* A restored state has no more than the orientation of its nodes: what is shown must not depend on more. */
    for (int i = 0; i < model->def.flexible_count; i++) {
        if (model->flexibles[i].node < 0) continue;
        trial_node *node = &model->trial[model->flexibles[i].node];
        node->frame.rotation = yk_q_matrix(yk_q_unit(node->orientation));
    }
    yk_smooth_place_flexibles(model, true);
    for (int i = 0; i < model->def.place_count; i++) {
        const place_model *place = &model->places[i];
        trial_node *trial = &model->trial[place->frame];
        double sum[6] = {0};
        for (int k = 0; k < place->count; k++) {
            double a = acceleration_of(model, place->column[k]);
            for (int r = 0; r < 6; r++) sum[r] += place->jacobian[place->count * r + k] * a;
        }
        trial->acceleration = yk_v3_add(trial->acceleration, yk_v3(sum[0], sum[1], sum[2]));
        trial->angular_acceleration = yk_v3_add(trial->angular_acceleration, yk_v3(sum[3], sum[4], sum[5]));
        trial->orientation = yk_so3_quat(trial->frame.rotation);
    }
}

void yk_smooth_push_frame(const yk_smooth *model, int frame, double scale, const yk_effort *effort, double *right)
{
    const node_model *node = &model->nodes[frame];
    const double load[6] = {effort->force.x,  effort->force.y,  effort->force.z,
                            effort->torque.x, effort->torque.y, effort->torque.z};
    if (node->unknown >= 0)
        for (int k = 0; k < 6; k++) right[node->unknown + k] += scale * load[k];
    if (node->place < 0) return;
    const place_model *place = &model->places[node->place];
    for (int k = 0; k < place->count; k++) {
        double sum = 0;
        for (int r = 0; r < 6; r++) sum += place->jacobian[place->count * r + k] * load[r];
        right[place->column[k]] += scale * sum;
    }
}

void yk_smooth_pull_frame(const yk_smooth *model, int frame, const double *change, yk_vec3 *linear, yk_vec3 *angular)
{
    const node_model *node = &model->nodes[frame];
    double sum[6] = {0};
    if (node->unknown >= 0) memcpy(sum, change + node->unknown, sizeof sum);
    if (node->place >= 0) {
        const place_model *place = &model->places[node->place];
        for (int k = 0; k < place->count; k++)
            for (int r = 0; r < 6; r++) sum[r] += place->jacobian[place->count * r + k] * change[place->column[k]];
    }
    *linear = yk_v3(sum[0], sum[1], sum[2]);
    *angular = yk_v3(sum[3], sum[4], sum[5]);
}

/* Pieces of an element that are drawn straight. */
enum { PIECES = 4 };

int yk_smooth_outline(const yk_smooth *model, int flexible)
{
    const yk_flexible *body = model->flexibles[flexible].body;
    return body->kind == YK_FLEXIBLE_ROD ? PIECES * body->elements + 1 : body->outline;
}

yk_vec3 yk_smooth_outline_point(const yk_smooth *model, int flexible, int point)
{
    const flexible_model *of = &model->flexibles[flexible];
    if (of->body->kind == YK_FLEXIBLE_MODAL) {
        yk_frame placed;
        yk_ffrf_node_place(&of->body->nodes[of->body->places + point], of->body->coordinates,
                           &model->trial[of->node].frame, of->value, of->rate, &placed, NULL);
        return placed.position;
    }
    int last = of->body->elements - 1, element = point / PIECES < last ? point / PIECES : last;
    double xi = (double)(point - PIECES * element) / PIECES;
    return yk_ancf_line(&of->body->element, of->value + yk_flexible_rod_node(element), xi);
}

const double *yk_smooth_flexible_values(const yk_smooth *model, int flexible)
{
    return model->flexibles[flexible].value;
}
