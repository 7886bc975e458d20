/* Mechanisms that tests and benchmarks share, built in C. */
#ifndef YK_TESTS_MULTIBODY_MODELS_H
#define YK_TESTS_MULTIBODY_MODELS_H

#include "multibody/def.h"

enum { MODEL_PARTS = 64 };

/* A def with room of its own for its parts. */
typedef struct model_kit {
    yk_multibody_description def;
    yk_multibody_node_def *nodes;
    yk_multibody_body_def *bodies;
    yk_joint_def *joints;
    yk_force_def forces[MODEL_PARTS];
    yk_port_def ports[MODEL_PARTS];
    yk_multibody_flexible_def flexible;
    yk_multibody_attachment_def attachments[2];
    char (*names)[24];
    int name_count;
} model_kit;

void kit_open(model_kit *kit, int parts);
void kit_close(model_kit *kit);
/* The def, with its arrays. */
const yk_multibody_description *kit_def(model_kit *kit);

int kit_node(model_kit *kit, const char *name, yk_vec3 position, yk_quat orientation);
/* Inertia about the centre of mass, which is the node, by its diagonal. */
void kit_body(model_kit *kit, int node, double mass, double jx, double jy, double jz);
int kit_joint(model_kit *kit, yk_joint_kind kind, const char *name, int a, yk_marker at_a, int b,
              yk_marker at_b);
/* Turns z to the given direction. */
yk_quat kit_axis(yk_vec3 z);
yk_marker kit_marker(yk_vec3 offset, yk_quat orientation);

/* A chain of n links of 0.1 m and 0.1 kg along +x, pinned at the origin, gravity -9.81 y. */
void kit_chain(model_kit *kit, int links, yk_joint_kind kind);
/* Spatial slider-crank: nodes crank, rod, slider. */
void kit_slider_crank(model_kit *kit);
/* The same with a flexible steel rod of 0.5 kg: six modes, or four elements in absolute
 * coordinates; nodes crank, slider and, with modes, rod. Release kit->flexible.body after the
 * kit. */
yk_status kit_flexible_slider_crank(model_kit *kit, yk_context *context, bool modal);
/* Two links of 0.4 m, 1 kg, J = 1, along +x, 0.5 rad/s about z. */
void kit_double_pendulum(model_kit *kit);
/* Seven bodies; nodes are at the centres of mass, orientations about z as published. */
void kit_andrews(model_kit *kit);
/* 2 n + 1 bars of 1 m and 1 kg in n square loops. */
void kit_four_bars(model_kit *kit, int loops);
/* 3 n bars in n square loops, each on the ground, or each hanging from the last one. */
void kit_separate_four_bars(model_kit *kit, int loops);
void kit_hanging_four_bars(model_kit *kit, int loops);
void kit_bricard(model_kit *kit);
/* A heavy symmetric top on a spherical joint, spinning with 120 rad/s so that it precesses
 * steadily about z with KIT_TOP_RATE rad/s; where its centre of mass is then. */
#define KIT_TOP_RATE 2.0
void kit_top(model_kit *kit);
yk_vec3 kit_top_position(double t);

#endif
