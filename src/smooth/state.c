/* The layout of the image. */
#include "smooth/state.h"

#include "smooth/integrator.h"

typedef struct image_size {
    size_t nodes, coordinates, rows, frames, ports, method;
    size_t part; /* words that are kept for each part that can be relaxed */
    size_t continuous, words;
} image_size;

static image_size image_size_of(const yk_smooth_model *model)
{
    const yk_smooth_description *def = &model->def;
    image_size size = {.nodes = (size_t)def->node_count, .ports = (size_t)def->port_count};
    size.coordinates = (size_t)yk_smooth_coordinates_of(def);
    size.frames = size.nodes + 1 + (size_t)def->attachment_count;

    /* Rows of the joints, and of ports that take motions; markers of these prescribe a frame. */
    for (int i = 0; i < def->joint_count; i++)
        size.rows += (size_t)yk_joint_of(&def->joints[i]).row_count;
    for (int i = 0; i < def->port_count; i++) {
        const port_model *port = &model->ports[i];
        if (port->causality != YK_TAKES_MOTION)
            continue;

        bool marker = port->def.kind == YK_PORT_MARKER;
        size.rows += marker ? (size_t)yk_smooth_joint_of_port(port).row_count : 1;
        size.frames += marker;
    }

    if (model->integrator->remembers)
        size.method = 6 * size.nodes + size.coordinates;

    /* In the order of yk_smooth_state_create. */
    size_t word = sizeof(double);
    size_t nodes = size.nodes * sizeof(node_state) / word;
    size_t coordinates = size.coordinates * sizeof(coordinate_state) / word;
    size.continuous = 2 * nodes + 9 * size.nodes + 2 * size.rows + size.method + 2 * coordinates +
                      size.coordinates;

    /* Then what ports took, prescribed frames, relaxed parts, and what factors belong to. */
    size_t frames = size.frames * sizeof(yk_frame) / word;
    size_t placement = frames + size.coordinates * sizeof(coordinate_reference) / word;
    size_t wrenches = size.ports * sizeof(yk_wrench) / word;
    size_t parts = (size_t)yk_smooth_part_count(model);
    size.part = sizeof(part_state) / word + placement;
    size.words = size.continuous + wrenches + frames + parts * size.part + placement + size.rows;
    size.words += (sizeof(factor_state) + sizeof(clock_state)) / word;

    return size;
}

yk_state_layout yk_smooth_state_layout(const yk_smooth_model *model)
{
    image_size size = image_size_of(model);
    return (yk_state_layout){.words = size.words, .continuous = size.continuous};
}

yk_status yk_smooth_state_create(const yk_smooth_model *model, yk_smooth_state *state)
{
    image_size size = image_size_of(model);
    *state = (yk_smooth_state){.words = size.words, .part_words = size.part};
    state->image = yk_allocate(model->context, size.words, sizeof *state->image);
    if (!state->image)
        return YK_ERROR_MEMORY;

    /* What is continuous in time. */
    size_t word = sizeof(double);
    size_t node_words = size.nodes * sizeof(node_state) / word;
    size_t coordinate_words = size.coordinates * sizeof(coordinate_state) / word;
    double *at = state->image;
    state->now = (node_state *)at;
    at += node_words;
    state->before = (node_state *)at;
    at += node_words;
    state->coordinate_now = (coordinate_state *)at;
    at += coordinate_words;
    state->coordinate_before = (coordinate_state *)at;
    at += coordinate_words;
    state->rotation = (yk_vec3 *)at;
    at += 3 * size.nodes;
    state->older_move = (yk_vec3 *)at;
    at += 3 * size.nodes;
    state->older_rotation = (yk_vec3 *)at;
    at += 3 * size.nodes;
    state->older_change = at;
    at += size.coordinates;
    state->lambda = at;
    at += size.rows;
    state->lambda_before = at;
    at += size.rows;
    state->method = at;
    at += size.method;

    /* Inputs, and what factors and Jacobians belong to: from `reference` to `clock`, those of the
     * matrix. */
    size_t frame_words = size.frames * sizeof(yk_frame) / word;
    state->wrench = (yk_wrench *)at;
    at += size.ports * sizeof(yk_wrench) / word;
    state->driven = (yk_frame *)at;
    at += frame_words;
    state->parts = at;
    at += (size_t)yk_smooth_part_count(model) * size.part;
    state->reference = (yk_frame *)at;
    at += frame_words;
    state->reference_coordinate = (coordinate_reference *)at;
    at += size.coordinates * sizeof(coordinate_reference) / word;
    state->reference_lambda = at;
    at += size.rows;
    state->factor = (factor_state *)at;
    at += sizeof(factor_state) / word;
    state->clock = (clock_state *)at;

    return YK_OK;
}

void yk_smooth_state_release(const yk_smooth_model *model, yk_smooth_state *state)
{
    yk_release(model->context, state->image);
    *state = (yk_smooth_state){0};
}
