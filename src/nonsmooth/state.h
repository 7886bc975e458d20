/* The state of a run: all data that determine the next step, and the outputs of the last one.
 * state.c converts it to the flat image and back.
 *
 * Bodies are sorted by slots. Contacts are in canonical order, which depends on positions alone
 * (contact_detection.c). */
#ifndef YK_NONSMOOTH_STATE_H
#define YK_NONSMOOTH_STATE_H

#include "nonsmooth/model.h"

typedef struct yk_twist {
    yk_vec3 linear, angular;
} yk_twist;

/* Means over the last step: wrench about the marker (for a line its x component), acceleration of
 * the body's center of mass (for a line linear.x). */
typedef struct yk_port_state {
    yk_wrench wrench;
    yk_twist rate;
} yk_port_state;

/* A contact point: the two solids and their touching features. */
typedef struct yk_contact_key {
    int32_t a, b; /* parts */
    uint32_t feature;
} yk_contact_key;

/* Contacts in canonical order: the round ones first, in the order of the rows of the list of near
 * pairs, then the general ones in the order of their pairs. */
typedef struct yk_contact_list {
    size_t count, round_count;
    yk_contact_key *keys;
    uint32_t *rows;    /* first round contact of each finite part, and the end of the last */
    yk_vec3 *impulses; /* on a, global axes */
    yk_vec3 *torques;  /* of rolling and spinning friction, on a; general contacts only */
    yk_vec3 *points;   /* point of action on a body with known motion; for sleeping bodies only */
} yk_contact_list;

/* Sleeping bodies (sleep.c). `rest_time` is NULL if sleeping is disabled. */
typedef struct yk_sleep_state {
    size_t asleep;     /* number of sleeping bodies; follows from the rest times */
    double *rest_time; /* per dynamic body: seconds below the limits; infinite: asleep */
    /* for bodies with known motion, then for inputs of ports: pose when they were last seen moving */
    yk_pose *poses;
    yk_wrench *wrenches; /* per dynamic body: wrench when last seen changing; NULL: gravity only */
    double *drives;      /* per joint, likewise */
    yk_contact_list frozen; /* contacts of sleeping bodies, with mean forces instead of impulses */
} yk_sleep_state;

typedef struct yk_world_state {
    /* Numbers of the run as a whole. */
    struct {
        double time;
        double dissipated;
        double work;
        double port_work; /* part of it through ports */
        double step;      /* length of the last own step; 0 before the first */
    } run;
    yk_body_state *bodies;
    yk_port_state *ports;
    double *signals; /* means over the last step */
    /* per body with known motion: mean force and torque that held it on its path */
    yk_wrench *reactions;
    yk_wrench *joints; /* on b at its marker, mean over the last step */
    double *joint_impulses;
    yk_contact_list contacts; /* of the last step, initial guess of the next one */
    yk_sleep_state sleep;
    uint64_t *absent; /* per dynamic body: 1: absent; NULL: none is */
    yk_emitter_state *emitters;
    yk_sink_state *sinks;
} yk_world_state;

yk_status yk_world_state_create(const yk_world_model *model, yk_world_state *state);
void yk_world_state_destroy(const yk_world_model *model, yk_world_state *state);
size_t yk_world_state_bytes(const yk_world_model *model, const yk_world_state *state);
/* Bodies at the user's poses, everything else zero. */
void yk_world_state_begin(const yk_world_model *model, double t, yk_world_state *state);

/* The image. After reading an image, the caller must update the data derived from it. */
yk_state_layout yk_world_image_layout(const yk_world_model *model);
void yk_world_write_image(const yk_world_model *model, const yk_world_state *state, double *image);
yk_status yk_world_read_image(const yk_world_model *model, yk_world_state *state,
                              const double *image);

/* Finds the rows of a list from the keys of its contacts. */
void yk_contact_list_index(const yk_world_model *model, yk_contact_list *list);

static inline bool yk_world_is_asleep(const yk_world_model *model, const yk_world_state *state,
                                      int32_t slot)
{
    const double *rest_time = state->sleep.rest_time;
    return rest_time && slot >= 0 && (size_t)slot < model->dynamic_count && isinf(rest_time[slot]);
}

/* Whether a body is absent: not yet emitted, or removed by a sink. It has no place, and nothing
 * acts on it. */
static inline bool yk_world_is_absent(const yk_world_model *model, const yk_world_state *state,
                                      int32_t slot)
{
    return state->absent && slot >= 0 && (size_t)slot < model->dynamic_count && state->absent[slot];
}

/* No step moves it. */
static inline bool yk_world_is_idle(const yk_world_model *model, const yk_world_state *state,
                                    int32_t slot)
{
    return yk_world_is_asleep(model, state, slot) || yk_world_is_absent(model, state, slot);
}

/* Mass center of a body, or of the ground. */
static inline yk_frame yk_world_frame(const yk_world_state *state, int slot)
{
    if (slot < 0)
        return yk_frame_ground();
    const yk_body_state *body = &state->bodies[slot];
    return (yk_frame){body->position, yk_q_matrix(body->orientation), body->velocity,
                      body->angular_velocity};
}

static inline yk_mat3 yk_world_inverse_inertia(const yk_world_model *model,
                                               const yk_world_state *state, size_t slot)
{
    const yk_mat3 *inverse = &model->tensors[model->bodies[slot].tensor].inverse;
    yk_mat3 r = yk_q_matrix(state->bodies[slot].orientation);
    return yk_m3_mul(yk_m3_mul(r, *inverse), yk_m3_transpose(r));
}

/* Velocity of a point fixed to a body with these velocities. */
static inline yk_vec3 yk_world_point_velocity(const yk_body_state *body, yk_vec3 at)
{
    yk_vec3 arm = yk_v3_sub(at, body->position);
    return yk_v3_add(body->velocity, yk_v3_cross(body->angular_velocity, arm));
}

#endif
