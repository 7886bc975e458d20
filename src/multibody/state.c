/* The layout of the image. */
#include "multibody/state.h"

#include "multibody/integrator.h"

/* The next words of the image; NULL if they are only counted. */
static double *take_words(double *image, size_t *used, size_t words)
{
    double *at = image ? image + *used : NULL;
    *used += words;
    return at;
}

/* Sets the pointers to the pieces of the image, and returns the number of words. For a state
 * without an image it only counts. */
static yk_state_layout lay_out(const yk_multibody_model *model, yk_multibody_state *state)
{
    const yk_multibody_description *def = &model->def;
    size_t nodes = (size_t)def->node_count;
    size_t coordinates = (size_t)yk_multibody_coordinates_of(def);
    size_t frames = nodes + 1 + (size_t)def->attachment_count;

    /* Rows of the joints, and of ports that receive motions, whose markers prescribe a frame. */
    size_t rows = 0;
    for (int i = 0; i < def->joint_count; i++)
        if (def->joints[i].adds_to.index == YK_NO_ID)
            rows += (size_t)yk_joint_of(&def->joints[i]).row_count;
    for (int i = 0; i < def->port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->causality != YK_CAUSALITY_MOTION_INPUT)
            continue;

        bool marker = port->def.kind == YK_PORT_MARKER;
        rows += marker ? (size_t)yk_multibody_joint_of_port(port).row_count : 1;
        frames += marker;
    }

    /* What is continuous in time. */
    size_t word = sizeof(double);
    size_t node_words = nodes * sizeof(node_state) / word;
    size_t coordinate_words = coordinates * sizeof(coordinate_state) / word;
    size_t method_words = model->integrator->remembers ? 6 * nodes + coordinates : 0;
    double *image = state->image;
    size_t used = 0;
    state->now = (node_state *)take_words(image, &used, node_words);
    state->before = (node_state *)take_words(image, &used, node_words);
    state->coordinate_now = (coordinate_state *)take_words(image, &used, coordinate_words);
    state->coordinate_before = (coordinate_state *)take_words(image, &used, coordinate_words);
    state->rotation = (yk_vec3 *)take_words(image, &used, 3 * nodes);
    state->older_move = (yk_vec3 *)take_words(image, &used, 3 * nodes);
    state->older_rotation = (yk_vec3 *)take_words(image, &used, 3 * nodes);
    state->older_change = take_words(image, &used, coordinates);
    state->lambda = take_words(image, &used, rows);
    state->lambda_before = take_words(image, &used, rows);
    state->method = take_words(image, &used, method_words);
    size_t continuous = used;

    /* Inputs, relaxed parts, and the placement of the factors of the matrix: from `reference` to
     * `clock`. */
    size_t frame_words = frames * sizeof(yk_frame) / word;
    size_t reference_words = coordinates * sizeof(coordinate_reference) / word;
    size_t wrench_words = (size_t)def->port_count * sizeof(yk_wrench) / word;
    state->part_words = sizeof(part_state) / word + frame_words + reference_words;
    state->angle = take_words(image, &used, (size_t)yk_multibody_angles_of(def));
    state->wrench = (yk_wrench *)take_words(image, &used, wrench_words);
    state->driven = (yk_frame *)take_words(image, &used, frame_words);
    state->parts =
        take_words(image, &used, (size_t)yk_multibody_part_count(model) * state->part_words);
    state->reference = (yk_frame *)take_words(image, &used, frame_words);
    state->reference_coordinate = (coordinate_reference *)take_words(image, &used, reference_words);
    state->reference_lambda = take_words(image, &used, rows);
    state->factor = (void *)take_words(image, &used, sizeof *state->factor / word);
    state->clock = (clock_state *)take_words(image, &used, sizeof(clock_state) / word);

    return (yk_state_layout){.word_count = used, .continuous_count = continuous};
}

yk_state_layout yk_multibody_state_layout(const yk_multibody_model *model)
{
    yk_multibody_state without_image = {0};
    return lay_out(model, &without_image);
}

yk_status yk_multibody_state_create(const yk_multibody_model *model, yk_multibody_state *state)
{
    *state = (yk_multibody_state){.words = yk_multibody_state_layout(model).word_count};
    state->image = yk_allocate(model->context, state->words, sizeof *state->image);
    if (!state->image)
        return YK_ERROR_MEMORY;

    lay_out(model, state);
    return YK_OK;
}

void yk_multibody_state_release(const yk_multibody_model *model, yk_multibody_state *state)
{
    yk_free(model->context, state->image);
    *state = (yk_multibody_state){0};
}
