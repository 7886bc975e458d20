/* Models made of beams, that tests and benchmarks share. */
#ifndef YK_TESTS_BEAM_MODEL_H
#define YK_TESTS_BEAM_MODEL_H

#include <stdio.h>
#include <string.h>

#include "math/so3.h"
#include "multibody/def.h"

enum { BEAM_MODEL_NODES = 401, BEAM_MODEL_PARTS = 64 };

/* A def with room, filled by the functions below. */
typedef struct beam_model_def {
    yk_multibody_description def;
    char name[BEAM_MODEL_NODES + BEAM_MODEL_PARTS][24];
    int names;
    yk_multibody_node_def nodes[BEAM_MODEL_NODES];
    yk_multibody_beam_def beams[BEAM_MODEL_NODES];
    yk_multibody_body_def bodies[BEAM_MODEL_PARTS];
    yk_joint_def joints[BEAM_MODEL_PARTS];
    yk_force_def forces[BEAM_MODEL_PARTS];
} beam_model_def;

static inline beam_model_def *beam_model_new(void)
{
    static beam_model_def model;
    memset(&model, 0, sizeof model);
    model.def = yk_multibody_description_empty();
    model.def.nodes = model.nodes;
    model.def.beams = model.beams;
    model.def.bodies = model.bodies;
    model.def.joints = model.joints;
    model.def.forces = model.forces;
    return &model;
}

static inline const char *beam_model_name(beam_model_def *m, const char *word, int number)
{
    char *name = m->name[m->names++];
    snprintf(name, sizeof m->name[0], "%s-%d", word, number);
    return name;
}

static inline int beam_model_node(beam_model_def *m, yk_vec3 position, yk_quat orientation)
{
    int i = m->def.node_count++;
    m->nodes[i] = yk_multibody_node_default();
    m->nodes[i].name = beam_model_name(m, "node", i);
    m->nodes[i].position = position;
    m->nodes[i].orientation = orientation;
    return i;
}

/* Beams in a row from the present last node to `end`; nodes have the axes of the first. Returns
 * the last node. */
static inline int beam_model_row(beam_model_def *m, int start, yk_vec3 end, int beams,
                                 const yk_beam_section *section)
{
    yk_vec3 from = m->nodes[start].position, along = yk_v3_sub(end, from);
    yk_vec3 direction = yk_v3_unit(along);
    yk_vec3 up = fabs(direction.y) < 0.9 ? yk_v3(0, 1, 0) : yk_v3(0, 0, 1);
    yk_beam_def straight = yk_beam_straight(from, end, up, section);
    int last = start;
    for (int b = 0; b < beams; b++) {
        int i = m->def.beam_count++;
        yk_multibody_beam_def *beam = &m->beams[i];
        *beam = yk_multibody_beam_default();
        beam->name = beam_model_name(m, "beam", i);
        beam->sections[0] = beam->sections[1] = *section;
        beam->nodes[0] = (yk_body_id){last};
        for (int k = 1; k < 3; k++) {
            yk_vec3 place = yk_v3_axpy((2 * b + k) / (2.0 * beams), along, from);
            beam->nodes[k] =
                (yk_body_id){last = beam_model_node(m, place, straight.orientation[0])};
        }
        /* the first node may have axes of its own */
        for (int k = 0; k < 3; k++)
            beam->section_orientations[k] =
                yk_q_mul(yk_q_conjugate(m->nodes[beam->nodes[k].index].orientation),
                         straight.orientation[0]);
    }
    return last;
}

static inline yk_joint_def *beam_model_joint(beam_model_def *m, yk_joint_kind kind, int a, int b)
{
    yk_joint_def *joint = &m->joints[m->def.joint_count];
    *joint = yk_joint_default();
    joint->name = beam_model_name(m, "joint", m->def.joint_count++);
    joint->kind = kind;
    joint->bodies[0] = (yk_body_id){a};
    joint->bodies[1] = (yk_body_id){b};
    return joint;
}

static inline yk_multibody_body_def *beam_model_body(beam_model_def *m, int node, double mass,
                                                     yk_mat3 inertia)
{
    yk_multibody_body_def *body = &m->bodies[m->def.body_count];
    *body = yk_multibody_body_default();
    body->name = beam_model_name(m, "body", m->def.body_count++);
    body->node = (yk_body_id){node};
    body->mass = mass;
    body->inertia = inertia;
    return body;
}

static inline yk_force_def *beam_model_force(beam_model_def *m, yk_force_kind kind, int node,
                                             yk_vec3 vector)
{
    yk_force_def *force = &m->forces[m->def.force_count];
    *force = yk_force_default();
    force->name = beam_model_name(m, "force", m->def.force_count++);
    force->kind = kind;
    force->bodies[1] = (yk_body_id){node};
    force->vector = vector;
    return force;
}

/* The cantilever of tight table 3, with the particles' mass at the tip (see models/cantilever). */
static inline beam_model_def *tight_cantilever(int beams)
{
    beam_model_def *m = beam_model_new();
    yk_beam_section_def steel = {.young_modulus = 210e9, .poisson_ratio = 0.33, .density = 7845};
    yk_beam_section_set_rectangle(&steel, 0.002, 0.03);
    yk_beam_section section = yk_beam_section_from_def(&steel);
    int root = beam_model_node(m, yk_v3(0, 0, 0), yk_q_identity());
    int tip = beam_model_row(m, root, yk_v3(0.25, 0, 0), beams, &section);
    beam_model_joint(m, YK_JOINT_FIXED, YK_GROUND_INDEX, root);
    beam_model_body(m, tip, 0.0555, yk_m3_diagonal(2.66e-6, 4.85e-6, 2.66e-6));
    return m;
}

/* The spatial slider-crank with the rod as steel beams (see models/flexible-slider-crank); tells
 * the nodes of slider, crank and the middle of the rod. */
static inline beam_model_def *flexible_slider_crank(int beams, int *slider, int *crank, int *middle)
{
    beam_model_def *m = beam_model_new();
    m->def.gravity = yk_v3(0, 0, -9.81);
    yk_beam_section_def steel = {.young_modulus = 207e9,
                                 .poisson_ratio = 0.29,
                                 .density = 7870,
                                 .shear_factor_y = 0.8856,
                                 .shear_factor_z = 0.8856};
    steel.area = 0.5 / (0.3 * steel.density);
    steel.area_moment_y = steel.area_moment_z = steel.area * steel.area / (4 * YK_PI);
    steel.torsion_constant = 2 * steel.area_moment_y;
    yk_beam_section section = yk_beam_section_from_def(&steel);
    yk_vec3 a = {0, 0.1, 0.12}, b = {0, 0.1, 0.2}, c = {0.2, 0, 0};
    *crank = beam_model_node(m, a, yk_q_identity());
    *slider = beam_model_node(m, c, yk_q_identity());
    int start =
        beam_model_node(m, b, yk_beam_straight(b, c, yk_v3(0, 1, 0), &section).orientation[0]);
    int end = beam_model_row(m, start, c, beams, &section);
    *middle = start + beams;
    beam_model_body(m, *crank, 0.12, yk_m3_diagonal(1e-4, 1e-4, 1e-4));
    beam_model_body(m, *slider, 2, yk_m3_diagonal(1e-4, 1e-4, 1e-4));
    m->nodes[*crank].angular_velocity = yk_v3(6, 0, 0);
    m->nodes[*slider].velocity = yk_v3(0.24, 0, 0);
    /* The rod starts without strain rates, its spin such that the pin of the universal joint
     * stays perpendicular to x.
     */
    yk_vec3 e = yk_v3_unit(yk_v3_sub(c, b)), pin = yk_v3_unit(yk_v3_cross(e, yk_v3(1, 0, 0)));
    yk_vec3 velocity = {0, -0.48, 0}, relative = {0.24, 0.48, 0},
            across = yk_v3_cross(pin, yk_v3(1, 0, 0));
    yk_vec3 omega = yk_v3_scale(1 / 0.3, yk_v3_cross(e, relative));
    omega = yk_v3_axpy(-yk_v3_dot(omega, across) / yk_v3_dot(e, across), e, omega);
    for (int i = start; i <= end; i++) {
        m->nodes[i].angular_velocity = omega;
        m->nodes[i].velocity =
            yk_v3_add(velocity, yk_v3_cross(omega, yk_v3_sub(m->nodes[i].position, b)));
    }
    yk_quat z_to_x = yk_so3_exp(yk_v3(0, YK_PI / 2, 0));
    yk_joint_def *joint = beam_model_joint(m, YK_JOINT_REVOLUTE, YK_GROUND_INDEX, *crank);
    joint->markers[0] = (yk_marker){.offset = a, .orientation = z_to_x};
    joint->markers[1].orientation = z_to_x;
    joint = beam_model_joint(m, YK_JOINT_SPHERICAL, *crank, start);
    joint->markers[0].offset = yk_v3(0, 0, 0.08);
    joint = beam_model_joint(m, YK_JOINT_PRISMATIC, YK_GROUND_INDEX, *slider);
    joint->markers[0].orientation = joint->markers[1].orientation = z_to_x;
    joint = beam_model_joint(m, YK_JOINT_UNIVERSAL, *slider, end);
    yk_quat pin_axes =
        yk_so3_quat(yk_m3_columns(yk_v3_cross(pin, e), pin, e)); /* y along the pin */
    joint->markers[1].orientation = yk_q_mul(yk_q_conjugate(m->nodes[end].orientation), pin_axes);
    return m;
}

#endif
