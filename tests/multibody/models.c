#include "models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/so3.h"

void kit_open(model_kit *kit, int parts)
{
    memset(kit, 0, sizeof *kit);
    kit->def = yk_multibody_description_empty();
    kit->nodes = calloc((size_t)parts, sizeof *kit->nodes);
    kit->bodies = calloc((size_t)parts, sizeof *kit->bodies);
    kit->joints = calloc((size_t)parts, sizeof *kit->joints);
    kit->names = calloc(4 * (size_t)parts, sizeof *kit->names);
}

void kit_close(model_kit *kit)
{
    free(kit->nodes);
    free(kit->bodies);
    free(kit->joints);
    free(kit->names);
}

const yk_multibody_description *kit_def(model_kit *kit)
{
    kit->def.nodes = kit->nodes;
    kit->def.bodies = kit->bodies;
    kit->def.joints = kit->joints;
    kit->def.forces = kit->forces;
    kit->def.ports = kit->ports;
    kit->def.flexibles = &kit->flexible;
    kit->def.attachments = kit->attachments;
    return &kit->def;
}

static const char *keep(model_kit *kit, const char *name)
{
    char *kept = kit->names[kit->name_count++];
    snprintf(kept, sizeof *kit->names, "%s", name);
    return kept;
}

int kit_node(model_kit *kit, const char *name, yk_vec3 position, yk_quat orientation)
{
    int i = kit->def.node_count++;
    kit->nodes[i] = yk_multibody_node_default();
    kit->nodes[i].name = keep(kit, name);
    kit->nodes[i].position = position;
    kit->nodes[i].orientation = orientation;
    return i;
}

void kit_body(model_kit *kit, int node, double mass, double jx, double jy, double jz)
{
    yk_multibody_body_def *body = &kit->bodies[kit->def.body_count++];
    *body = yk_multibody_body_default();
    body->name = kit->nodes[node].name;
    body->node = (yk_body_id){node};
    body->mass = mass;
    body->inertia = yk_m3_diagonal(jx, jy, jz);
}

int kit_joint(model_kit *kit, yk_joint_kind kind, const char *name, int a, yk_marker at_a, int b,
              yk_marker at_b)
{
    int i = kit->def.joint_count++;
    kit->joints[i] = yk_joint_default();
    kit->joints[i].name = keep(kit, name);
    kit->joints[i].kind = kind;
    kit->joints[i].bodies[0] = (yk_body_id){a};
    kit->joints[i].bodies[1] = (yk_body_id){b};
    kit->joints[i].markers[0] = at_a;
    kit->joints[i].markers[1] = at_b;
    return i;
}

yk_quat kit_axis(yk_vec3 z)
{
    yk_vec3 u, w, n = yk_v3_unit(z);
    yk_v3_tangents(n, &u, &w);
    return yk_so3_quat(yk_m3_columns(u, w, n));
}

yk_marker kit_marker(yk_vec3 offset, yk_quat orientation)
{
    return (yk_marker){offset, orientation};
}

void kit_chain(model_kit *kit, int links, yk_joint_kind kind)
{
    double length = 0.1, mass = 0.1;
    kit_open(kit, links + 1);
    kit->def.name = "chain";
    kit->def.gravity = yk_v3(0, -9.81, 0);
    for (int i = 0; i < links; i++) {
        char name[24];
        snprintf(name, sizeof name, "link%d", i + 1);
        kit_node(kit, name, yk_v3((i + 0.5) * length, 0, 0), yk_q_identity());
        kit_body(kit, i, mass, mass * length * length / 120, mass * length * length / 12,
                 mass * length * length / 12);
        snprintf(name, sizeof name, "pin%d", i + 1);
        yk_marker end = i ? yk_marker_at(0.5 * length, 0, 0) : yk_marker_default();
        kit_joint(kit, kind, name, i ? i - 1 : YK_GROUND_INDEX, end, i,
                  yk_marker_at(-0.5 * length, 0, 0));
    }
}

void kit_slider_crank(model_kit *kit)
{
    yk_vec3 a = {0, 0.1, 0.12}, b = {0, 0.1, 0.2}, c = {0.2, 0, 0}, x = {1, 0, 0};
    kit_open(kit, 8);
    kit->def.name = "slider-crank";
    kit->def.gravity = yk_v3(0, 0, -9.81);
    int crank = kit_node(kit, "crank", yk_v3_scale(0.5, yk_v3_add(a, b)), yk_q_identity());
    /* Axes of the rod: x along it, y the pin of the universal joint. */
    yk_vec3 e = yk_v3_unit(yk_v3_sub(c, b)), pin = yk_v3_unit(yk_v3_cross(e, x));
    yk_quat rod_axes = yk_so3_quat(yk_m3_columns(e, pin, yk_v3_cross(e, pin)));
    int rod = kit_node(kit, "rod", yk_v3_scale(0.5, yk_v3_add(b, c)), rod_axes);
    int slider = kit_node(kit, "slider", c, yk_q_identity());
    kit_body(kit, crank, 0.12, 1e-4, 1e-4, 1e-4);
    kit_body(kit, rod, 0.5, 4e-3, 4e-3, 4e-4);
    kit_body(kit, slider, 2.0, 1e-4, 1e-4, 1e-4);
    kit->nodes[crank].velocity = yk_v3(0, -6 * 0.04, 0);
    kit->nodes[crank].angular_velocity = yk_v3(6, 0, 0);
    kit->nodes[crank].keep_initial_pose = true;
    yk_quat about_x = kit_axis(x);
    kit_joint(kit, YK_JOINT_REVOLUTE, "bearing", YK_GROUND_INDEX, kit_marker(a, about_x), crank,
              kit_marker(yk_v3(0, 0, -0.04), about_x));
    kit_joint(kit, YK_JOINT_SPHERICAL, "ball", crank, yk_marker_at(0, 0, 0.04), rod,
              yk_marker_at(-0.15, 0, 0));
    /* Cross of the universal joint: the pin on the rod (its y) and the x axis of the slider; x of
     * a is the slider's x.
     */
    kit_joint(kit, YK_JOINT_UNIVERSAL, "cross", slider, yk_marker_default(), rod,
              yk_marker_at(0.15, 0, 0));
    kit_joint(kit, YK_JOINT_PRISMATIC, "guide", YK_GROUND_INDEX,
              kit_marker(yk_v3(0, 0, 0), about_x), slider, kit_marker(yk_v3(0, 0, 0), about_x));
}

static yk_status steel_rod(yk_context *context, bool modal, yk_flexible **body)
{
    static const double ends[2] = {0, 0.3};
    yk_beam_section_def steel = {.young_modulus = 207e9,
                                 .poisson_ratio = 0.29,
                                 .density = 7870,
                                 .shear_factor_y = 0.8856,
                                 .shear_factor_z = 0.8856};
    steel.area = 0.5 / (0.3 * steel.density);
    steel.area_moment_y = steel.area_moment_z = steel.area * steel.area / (4 * YK_PI);
    steel.torsion_constant = 2 * steel.area_moment_y;
    yk_ffrf_rod_def rod = yk_ffrf_rod_default();
    rod.length = 0.3, rod.section = steel, rod.support = YK_ROD_PINNED_PINNED;
    rod.attachments = ends, rod.attachment_count = 2;
    return modal ? yk_flexible_rod(context, &rod, body)
                 : yk_flexible_ancf(context, 0.3, 4, &steel, body);
}

/* Rigid first, then the rod's node becomes the floating frame at B, or goes. */
yk_status kit_flexible_slider_crank(model_kit *kit, yk_context *context, bool modal)
{
    yk_flexible *body;
    yk_status status = steel_rod(context, modal, &body);
    if (status != YK_OK)
        return status;
    kit_slider_crank(kit);
    yk_multibody_node_def rod = kit->nodes[1], slider = kit->nodes[2];
    kit->nodes[1] = slider;
    kit->nodes[2] = rod;
    kit->nodes[2].position = yk_v3(0, 0.1, 0.2);
    kit->def.node_count = modal ? 3 : 2;
    kit->bodies[1] = kit->bodies[2];
    kit->bodies[1].node = (yk_body_id){1};
    kit->def.body_count = 2;
    kit->flexible = yk_multibody_flexible_default();
    kit->flexible.name = "rod", kit->flexible.body = body, kit->flexible.node = 2;
    /* Without strain rates, the spin such that the pin of the universal joint stays perpendicular
     * to x. */
    kit->nodes[1].velocity = yk_v3(0.24, 0, 0);
    kit->nodes[2].velocity = yk_v3(0, -0.48, 0);
    kit->nodes[2].angular_velocity = yk_v3(1.92, -0.96, 0.48);
    kit->flexible.position = kit->nodes[2].position, kit->flexible.orientation = rod.orientation;
    kit->flexible.velocity = kit->nodes[2].velocity;
    kit->flexible.angular_velocity = kit->nodes[2].angular_velocity;
    kit->attachments[0] = (yk_multibody_attachment_def){"rod.b", 0, 0};
    kit->attachments[1] = (yk_multibody_attachment_def){"rod.c", 0, modal ? 1 : 4};
    kit->def.flexible_count = 1, kit->def.attachment_count = 2;
    for (int j = 1; j < 4; j++) /* ball, cross, guide */
        for (int side = 0; side < 2; side++) {
            yk_joint_def *joint = &kit->joints[j];
            if (joint->bodies[side].index == 2) {
                joint->bodies[side] = (yk_body_id){1};
            } else if (joint->bodies[side].index == 1) {
                joint->bodies[side] = (yk_body_id){kit->def.node_count + (j == 1 ? 0 : 1)};
                joint->markers[side].offset = yk_v3(0, 0, 0);
            }
        }
    return YK_OK;
}

void kit_double_pendulum(model_kit *kit)
{
    double length = 0.4;
    kit_open(kit, 4);
    kit->def.name = "double pendulum";
    kit->def.gravity = yk_v3(0, -9.81, 0);
    for (int i = 0; i < 2; i++) {
        kit_node(kit, i ? "lower" : "upper", yk_v3((i + 0.5) * length, 0, 0), yk_q_identity());
        kit_body(kit, i, 1, 1, 1, 1);
        kit->nodes[i].angular_velocity = yk_v3(0, 0, 0.5);
        kit->nodes[i].velocity = yk_v3(0, 0.5 * (i + 0.5) * length, 0);
    }
    kit_joint(kit, YK_JOINT_REVOLUTE, "top", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_at(-0.5 * length, 0, 0));
    kit_joint(kit, YK_JOINT_REVOLUTE, "elbow", 0, yk_marker_at(0.5 * length, 0, 0), 1,
              yk_marker_at(-0.5 * length, 0, 0));
}

/* Andrews' squeezer: points and offsets as in the index-3 test set. Orientation of body k is the
 * sum of angles that the test set uses for it, so each angle follows from two orientations. */
void kit_andrews(model_kit *kit)
{
    static const double m[7] = {0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498};
    static const double inertia[7] = {2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7,
                                      1.169e-5, 5.667e-7, 1.912e-5};
    double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072;
    double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, ss = 0.035,
           sa = 0.01874;
    double sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916, u = 0.04, ua = 0.01228,
           ub = 0.00449;
    double zf = 0.02, zt = 0.04, fa = 0.01421;
    double be = -0.0617138900142764, th = 0, ga = 0.455279819163070, ph = 0.222668390165886,
           de = 0.487364979543843;
    double om = -0.222668390165886, ep = 1.23054744454982;
    kit_open(kit, 24);
    kit->def.name = "squeezer";
    /* Orientation angle about z and centre of mass. */
    double angle[7] = {be, be + th, ga, ph + de, de, om + ep, ep};
    yk_vec3 centre[7];
    double cb = cos(be), sbe = sin(be), cbt = cos(be + th), sbt = sin(be + th);
    centre[0] = yk_v3(ra * cb, ra * sbe, 0);
    centre[1] = yk_v3(rr * cb - da * cbt, rr * sbe - da * sbt, 0);
    centre[2] = yk_v3(xb + sa * sin(ga) + sb * cos(ga), yb - sa * cos(ga) + sb * sin(ga), 0);
    centre[3] = yk_v3(xa + zt * cos(de) + (e - ea) * sin(ph + de),
                      ya + zt * sin(de) - (e - ea) * cos(ph + de), 0);
    centre[4] = yk_v3(xa + ta * cos(de) - tb * sin(de), ya + ta * sin(de) + tb * cos(de), 0);
    centre[5] = yk_v3(xa + u * sin(ep) + (zf - fa) * cos(om + ep),
                      ya - u * cos(ep) + (zf - fa) * sin(om + ep), 0);
    centre[6] = yk_v3(xa + ua * sin(ep) - ub * cos(ep), ya - ua * cos(ep) - ub * sin(ep), 0);
    for (int i = 0; i < 7; i++) {
        char name[16];
        snprintf(name, sizeof name, "K%d", i + 1);
        kit_node(kit, name, centre[i], yk_so3_exp(yk_v3(0, 0, angle[i])));
        kit_body(kit, i, m[i], inertia[i], inertia[i], inertia[i]);
    }
    yk_vec3 f = {rr * cb - d * cbt, rr * sbe - d * sbt, 0}; /* where K2, K3, K4, K6 meet */
    yk_vec3 drive = {rr * cb, rr * sbe, 0};                 /* K1 - K2 */
    yk_vec3 g = {xa + zt * cos(de), ya + zt * sin(de), 0};  /* K4 - K5 */
    yk_vec3 h = {xa + u * sin(ep), ya - u * cos(ep), 0};    /* K6 - K7 */
    yk_vec3 a = {xa, ya, 0}, b = {xb, yb, 0};
    yk_vec3 spring = {xb + sc * sin(ga) + sd * cos(ga), yb - sc * cos(ga) + sd * sin(ga), 0};
    (void)ss;
    const struct {
        const char *name;
        int first, second;
        yk_vec3 at;
    } pins[] = {{"O", -1, 0, {0, 0, 0}}, {"R", 0, 1, drive}, {"F3", 1, 2, f}, {"F4", 1, 3, f},
                {"F6", 1, 5, f},         {"B", -1, 2, b},    {"G", 3, 4, g},  {"A5", -1, 4, a},
                {"H", 5, 6, h},          {"A7", -1, 6, a}};
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++) {
        yk_marker marker[2];
        int body[2] = {pins[i].first, pins[i].second};
        for (int side = 0; side < 2; side++) {
            marker[side] = kit_marker(pins[i].at, yk_q_identity());
            if (body[side] < 0)
                continue;
            const yk_multibody_node_def *node = &kit->nodes[body[side]];
            marker[side].offset =
                yk_q_rotate_back(node->orientation, yk_v3_sub(pins[i].at, node->position));
        }
        /* Planar: enough to hold each body in the plane once, by its first joint. */
        kit_joint(kit, YK_JOINT_REVOLUTE, pins[i].name, body[0], marker[0], body[1], marker[1]);
    }
    kit->forces[0] = yk_force_default();
    kit->forces[0].name = "spring";
    kit->forces[0].kind = YK_FORCE_SPRING;
    kit->forces[0].bodies[1] = (yk_body_id){2};
    kit->forces[0].markers[0] = yk_marker_at(xc, yc, 0);
    kit->forces[0].markers[1].offset =
        yk_q_rotate_back(kit->nodes[2].orientation, yk_v3_sub(spring, kit->nodes[2].position));
    kit->forces[0].stiffness = 4530;
    kit->forces[0].free_length = 0.07785;
    kit->forces[1] = yk_force_default();
    kit->forces[1].name = "motor";
    kit->forces[1].kind = YK_FORCE_TORQUE;
    kit->forces[1].bodies[1] = (yk_body_id){0};
    kit->forces[1].vector = yk_v3(0, 0, 0.033);
    kit->def.force_count = 2;
}

static int bar(model_kit *kit, const char *name, yk_vec3 from, yk_vec3 to)
{
    yk_vec3 e = yk_v3_unit(yk_v3_sub(to, from));
    yk_vec3 z = {0, 0, 1};
    int node = kit_node(kit, name, yk_v3_scale(0.5, yk_v3_add(from, to)),
                        yk_so3_quat(yk_m3_columns(e, yk_v3_cross(z, e), z)));
    kit_body(kit, node, 1, 1.0 / 12, 1.0 / 12, 1.0 / 12);
    kit->nodes[node].velocity = yk_v3(0, 0, 0);
    return node;
}

void kit_four_bars(model_kit *kit, int loops)
{
    kit_open(kit, 8 * loops + 8);
    kit->def.name = "four-bars";
    kit->def.gravity = yk_v3(0, -9.81, 0);
    /* Uprights A_i B_i, then the couplers B_i B_(i+1). */
    for (int i = 0; i <= loops; i++) {
        char name[24];
        snprintf(name, sizeof name, "upright%d", i);
        int node = bar(kit, name, yk_v3(i, 0, 0), yk_v3(i, 1, 0));
        kit->nodes[node].velocity = yk_v3(0.5, 0, 0);
        kit->nodes[node].angular_velocity = yk_v3(0, 0, -1);
        snprintf(name, sizeof name, "A%d", i);
        kit_joint(kit, YK_JOINT_REVOLUTE, name, YK_GROUND_INDEX, yk_marker_at(i, 0, 0), node,
                  yk_marker_at(-0.5, 0, 0));
    }
    for (int i = 0; i < loops; i++) {
        char name[24];
        snprintf(name, sizeof name, "coupler%d", i);
        int node = bar(kit, name, yk_v3(i, 1, 0), yk_v3(i + 1, 1, 0));
        kit->nodes[node].velocity = yk_v3(1, 0, 0);
        snprintf(name, sizeof name, "B%d", i);
        kit_joint(kit, YK_JOINT_REVOLUTE, name, i, yk_marker_at(0.5, 0, 0), node,
                  yk_marker_at(-0.5, 0, 0));
        snprintf(name, sizeof name, "C%d", i + 1);
        kit_joint(kit, YK_JOINT_REVOLUTE, name, i + 1, yk_marker_at(0.5, 0, 0), node,
                  yk_marker_at(0.5, 0, 0));
    }
}

void kit_separate_four_bars(model_kit *kit, int loops)
{
    kit_open(kit, 8 * loops + 8);
    kit->def.name = "separate-four-bars";
    kit->def.gravity = yk_v3(0, -9.81, 0);
    for (int i = 0; i < loops; i++) {
        char name[24];
        int node[3];
        for (int k = 0; k < 3; k++) {
            yk_vec3 from = yk_v3(2 * i + (k == 1), k == 2, 0);
            snprintf(name, sizeof name, "bar%d-%d", i, k);
            node[k] = bar(kit, name, from, yk_v3_add(from, yk_v3(k == 2, k != 2, 0)));
            kit->nodes[node[k]].velocity = yk_v3(k == 2 ? 1 : 0.5, 0, 0);
            kit->nodes[node[k]].angular_velocity = yk_v3(0, 0, k == 2 ? 0 : -1);
        }
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "A%d-%d", i, k);
            kit_joint(kit, YK_JOINT_REVOLUTE, name, YK_GROUND_INDEX, yk_marker_at(2 * i + k, 0, 0),
                      node[k], yk_marker_at(-0.5, 0, 0));
            snprintf(name, sizeof name, "B%d-%d", i, k);
            kit_joint(kit, YK_JOINT_REVOLUTE, name, node[k], yk_marker_at(0.5, 0, 0), node[2],
                      yk_marker_at(k - 0.5, 0, 0));
        }
    }
}

void kit_hanging_four_bars(model_kit *kit, int loops)
{
    kit_open(kit, 8 * loops + 8);
    kit->def.name = "hanging-four-bars";
    kit->def.gravity = yk_v3(0, -9.81, 0);
    int above = YK_GROUND_INDEX;
    for (int i = 0; i < loops; i++) {
        char name[24];
        int node[3];
        for (int k = 0; k < 3; k++) {
            yk_vec3 from = yk_v3(k == 1, -i - (k == 2), 0);
            snprintf(name, sizeof name, "bar%d-%d", i, k);
            node[k] = bar(kit, name, from, yk_v3_add(from, yk_v3(k == 2, -(k != 2), 0)));
        }
        for (int k = 0; k < 2; k++) {
            double at = above == YK_GROUND_INDEX ? k : k - 0.5;
            snprintf(name, sizeof name, "A%d-%d", i, k);
            kit_joint(kit, YK_JOINT_REVOLUTE, name, above, yk_marker_at(at, 0, 0), node[k],
                      yk_marker_at(-0.5, 0, 0));
            snprintf(name, sizeof name, "B%d-%d", i, k);
            kit_joint(kit, YK_JOINT_REVOLUTE, name, node[k], yk_marker_at(0.5, 0, 0), node[2],
                      yk_marker_at(k - 0.5, 0, 0));
        }
        above = node[2];
    }
}

void kit_bricard(model_kit *kit)
{
    static const yk_vec3 hinge[6] = {{0, 0, 0},  {1, 0, 0},  {1, -1, 0},
                                     {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
    static const yk_vec3 axis[6] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0},
                                    {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    double across = (0.01 + 0.01) / 12, along = (1 + 0.01) / 12;
    kit_open(kit, 8);
    kit->def.name = "bricard";
    kit->def.gravity = yk_v3(0, -9.81, 0);
    for (int i = 0; i < 5; i++) {
        char name[24];
        snprintf(name, sizeof name, "bar%d", i + 1);
        yk_vec3 e = yk_v3_sub(hinge[i + 1], hinge[i]);
        kit_node(kit, name, yk_v3_scale(0.5, yk_v3_add(hinge[i], hinge[i + 1])), yk_q_identity());
        kit_body(kit, i, 1, fabs(e.x) > 0.5 ? across : along, fabs(e.y) > 0.5 ? across : along,
                 fabs(e.z) > 0.5 ? across : along);
    }
    for (int i = 0; i < 6; i++) {
        char name[24];
        snprintf(name, sizeof name, "hinge%d", i + 1);
        int a = i == 0 ? YK_GROUND_INDEX : i - 1, b = i == 5 ? YK_GROUND_INDEX : i;
        yk_vec3 at_a = a < 0 ? hinge[i] : yk_v3_sub(hinge[i], kit->nodes[a].position);
        yk_vec3 at_b = b < 0 ? hinge[i] : yk_v3_sub(hinge[i], kit->nodes[b].position);
        kit_joint(kit, YK_JOINT_REVOLUTE, name, a, kit_marker(at_a, kit_axis(axis[i])), b,
                  kit_marker(at_b, kit_axis(axis[i])));
    }
}

static const double TOP_TILT = 0.5, TOP_ARM = 0.3;

static yk_vec3 top_axis(void)
{
    return yk_v3(sin(TOP_TILT), 0, cos(TOP_TILT));
}

/* Steady precession W of a symmetric top at tilt a: J_t W^2 cos a - J_3 w_3 W + m g l = 0. */
void kit_top(model_kit *kit)
{
    double rate = KIT_TOP_RATE, mass = 1.5, axial = 0.02, transverse = 0.03, gravity = 9.81;
    double pivot = transverse + mass * TOP_ARM * TOP_ARM;
    double w3 = (pivot * rate * rate * cos(TOP_TILT) + mass * gravity * TOP_ARM) / (axial * rate);
    yk_vec3 axis = top_axis(), centre = yk_v3_scale(TOP_ARM, axis);
    yk_vec3 spin = yk_v3_axpy(w3 - rate * cos(TOP_TILT), axis, yk_v3(0, 0, rate));
    kit_open(kit, 2);
    kit->def.gravity = yk_v3(0, 0, -gravity);
    kit_node(kit, "top", centre, yk_so3_exp(yk_v3(0, TOP_TILT, 0)));
    kit_body(kit, 0, mass, transverse, transverse, axial);
    kit->nodes[0].angular_velocity = spin;
    kit->nodes[0].velocity = yk_v3_cross(spin, centre);
    kit_joint(kit, YK_JOINT_SPHERICAL, "tip", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_at(0, 0, -TOP_ARM));
}

yk_vec3 kit_top_position(double t)
{
    return yk_q_rotate(yk_so3_exp(yk_v3(0, 0, KIT_TOP_RATE * t)), yk_v3_scale(TOP_ARM, top_axis()));
}
