/* Models in MBDyn's input language, as described in its input manual: blocks of statements
 * `keyword: argument, argument, ...;` with mathematical constants, reference frames, nodes and
 * elements. Lengths are taken as metres and angles as radians, because MBDyn has no units.
 *
 * Supported: set, include, reference, structural nodes, bodies, joints (clamp, distance, spherical
 * and revolute hinges and pins, universal hinge, in line, prismatic, axial rotation, total joint,
 * rod, deformable joints), forces, couples, gravity, three-node beams, drives that are formulas of
 * the time. Everything else is reported in a note.
 *
 * Statements are short and each becomes one line of the scenario, so they are written as they are
 * read, into one text per section. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "interop/interop.h"
#include "interop/mbdyn/language.h"

/* Sections of the scenario. */
enum { NODES, BODIES, JOINTS, FORCES, BEAMS, PORTS, SECTIONS };

/* Results of the statements so far. */
typedef struct model {
    FILE *sections[SECTIONS];
    int counts[SECTIONS];
    yk_vec3 gravity;
    double start, end, step, rho_inf;
} model;

static model *model_of(yk_mbd *r)
{
    return r->user;
}

/* Nodes ---------------------------------------------------------------------------------------- */

/* Reference frames and nodes have the same four parts. */
static void read_frame(yk_mbd *r, bool node)
{
    const char *label = yk_mbd_take_text(r);
    yk_mbd_frame f = {.node = node, .label = yk_mbd_evaluate(r, label)};
    yk_mbd_name_of(r, "node", label, f.name);

    /* Only nodes with six motions become nodes of the scenario. */
    if (node && !yk_mbd_take(r, "dynamic") && !yk_mbd_take(r, "static")) {
        yk_mbd_note(r, "node '%s' of type '%s'", f.name, yk_mbd_take_text(r));
        return;
    }

    /* Its pose. */
    yk_mbd_take(r, "position");
    const yk_mbd_frame *in = &yk_mbd_global;
    f.pose.position = yk_mbd_take_position(r, in, NULL);
    yk_mbd_take(r, "orientation");
    f.pose.orientation = yk_mbd_take_orientation(r, in, NULL);

    if (yk_mbd_take(r, "orientation description"))
        yk_mbd_take_text(r); /* of MBDyn's output */

    /* Velocities are those in the reference frame, plus those of the frame itself. */
    yk_mbd_take(r, "velocity");
    in = yk_mbd_take_reference(r, &yk_mbd_global, NULL);

    yk_vec3 arm = yk_v3_sub(f.pose.position, in->pose.position);
    f.velocity = yk_q_rotate(in->pose.orientation, yk_mbd_take_numbers(r));
    f.velocity = yk_v3_add(f.velocity, in->velocity);
    f.velocity = yk_v3_add(f.velocity, yk_v3_cross(in->angular_velocity, arm));

    yk_mbd_take(r, "angular velocity");
    in = yk_mbd_take_reference(r, &yk_mbd_global, NULL);
    f.angular_velocity = yk_q_rotate(in->pose.orientation, yk_mbd_take_numbers(r));
    f.angular_velocity = yk_v3_add(f.angular_velocity, in->angular_velocity);

    if (r->failed)
        return;

    if (r->frame_count == YK_MBD_FRAMES) {
        yk_mbd_refuse(r, "there are more than %d nodes and references", YK_MBD_FRAMES);
        return;
    }

    r->frames[r->frame_count++] = f;
    if (!node)
        return;

    /* References are used up while reading; nodes are written. */
    FILE *to = model_of(r)->sections[NODES];
    model_of(r)->counts[NODES]++;

    fprintf(to, "      %s: {position: ", f.name);
    yk_write_vector(to, f.pose.position);
    fputs(", orientation: ", to);
    yk_write_quaternion(to, f.pose.orientation);
    fputs(", velocity: ", to);
    yk_write_vector(to, f.velocity);
    fputs(", angular_velocity: ", to);
    yk_write_vector(to, f.angular_velocity);
    fputs("}\n", to);
}

/* Elements ------------------------------------------------------------------------------------- */

/* Begins a line `name: {type: TYPE` of a section; what follows goes to the stream. */
static FILE *begin_line(yk_mbd *r, int part, const char *kind, const char *label, const char *type)
{
    char name[YK_MBD_NAME];
    bool word = yk_mbd_name_of(r, kind, label, name);
    model_of(r)->counts[part]++;

    /* Labels that are words may be those of nodes too. */
    FILE *to = model_of(r)->sections[part];
    if (word)
        fprintf(to, "      %s_%s: {", name, kind);
    else
        fprintf(to, "      %s: {", name);

    if (type)
        fprintf(to, "type: %s", type);
    return to;
}

static void write_marker(FILE *to, const yk_mbd_frame *on, yk_vec3 position, yk_quat orientation)
{
    /* The scenario gives markers in the axes of their node. */
    yk_vec3 arm = yk_v3_sub(position, on->pose.position);
    yk_quat back = yk_q_conjugate(on->pose.orientation);

    fputs("{offset: ", to);
    yk_write_vector(to, yk_q_rotate(back, arm));
    fputs(", orientation: ", to);
    yk_write_quaternion(to, yk_q_unit(yk_q_mul(back, orientation)));
    fputs("}", to);
}

/* One end of a joint: its node, or the ground, and its marker in global axes. */
typedef struct joint_end {
    const yk_mbd_frame *on;
    yk_pose marker;
} joint_end;

static void write_between(FILE *to, const joint_end *a, const joint_end *b)
{
    /* Frames that are not nodes are fixed in space. */
    const char *names[2] = {"ground", "ground"};
    if (a->on->node)
        names[0] = a->on->name;
    if (b->on->node)
        names[1] = b->on->name;

    fprintf(to, ", between: [%s, %s], markers: [", names[0], names[1]);
    write_marker(to, a->on, a->marker.position, a->marker.orientation);
    fputs(", ", to);
    write_marker(to, b->on, b->marker.position, b->marker.orientation);
    fputs("]", to);
}

static const yk_mbd_frame *take_node(yk_mbd *r)
{
    return yk_mbd_find_frame(r, yk_mbd_take_number(r), true);
}

/* `[position,] vector, [orientation, matrix]` after a node; `other` is the previous node. Joints
 * that need no position have it only after its keyword. */
static void take_marker(yk_mbd *r, joint_end *e, const yk_mbd_frame *other, bool needs_position)
{
    e->marker = e->on->pose;
    bool named = yk_mbd_take(r, "position");

    if (named || needs_position)
        e->marker.position = yk_mbd_take_position(r, e->on, other);

    /* Joints of several kinds have different keywords for their orientations. */
    while (yk_mbd_take(r, "orientation") || yk_mbd_take(r, "hinge") ||
           yk_mbd_take(r, "position orientation") || yk_mbd_take(r, "rotation orientation"))
        e->marker.orientation = yk_mbd_take_orientation(r, e->on, other);
}

static void take_two_ends(yk_mbd *r, joint_end *a, joint_end *b, bool needs_position)
{
    a->on = take_node(r);
    take_marker(r, a, NULL, needs_position);
    b->on = take_node(r);
    take_marker(r, b, a->on, needs_position);
}

/* A joint to the ground: the marker on the node, then the one in space, which by default coincides
 * with the first. */
static void take_pin(yk_mbd *r, joint_end *a, joint_end *b, bool needs_position)
{
    b->on = take_node(r);
    take_marker(r, b, NULL, needs_position);

    a->on = &yk_mbd_global;
    take_marker(r, a, b->on, needs_position);
    if (!needs_position)
        a->marker = b->marker;
}

/* A linear law of n motions: force = prestress + stiffness (strain - prestrain) + damping (strain
 * rate). Stiffness and damping are diagonals or whole matrices in rows of 6. */
typedef struct law {
    double stiffness[36], damping[36];
    double prestress;            /* of laws of one motion */
    char prestrain[YK_MBD_TEXT]; /* of laws of one motion: an expression of t; "": none */
    bool known;
} law;

/* `[prestress, F] [prestrain, drive]` after a law. Scenarios have them for one motion only. */
static void take_prestress_and_prestrain(yk_mbd *r, law *l, int n)
{
    if (yk_mbd_take(r, "prestress")) {
        bool null = n > 1 && yk_mbd_take(r, "null");
        for (int i = 0; i < n && !null; i++) {
            double value = yk_mbd_take_number(r);
            if (n == 1)
                l->prestress = value;
            else if (value != 0)
                yk_mbd_refuse(r, "a prestress can be imported for rods only");
        }
    }

    if (!yk_mbd_take(r, "prestrain") || yk_mbd_take(r, "null") || yk_mbd_take(r, "zero"))
        return;
    if (n > 1) {
        yk_mbd_refuse(r, "a prestrain can be imported for rods only");
        return;
    }

    /* The two words are equivalent for one motion, and may be missing. */
    if (!yk_mbd_take(r, "single"))
        yk_mbd_take(r, "component");
    yk_mbd_take_drive(r, l->prestrain);
}

static law take_law(yk_mbd *r, int n)
{
    /* The words of its name determine the numbers that follow. */
    law l = {.known = true};
    const char *word = yk_mbd_take_text(r);
    bool viscous = strncasecmp(word, "linear viscoelastic", 19) == 0;
    const char *kind = NULL;
    if (viscous)
        kind = word + strlen("linear viscoelastic");
    else if (strncasecmp(word, "linear elastic", 14) == 0)
        kind = word + strlen("linear elastic");

    /* Nonlinear laws, and those with special couplings of motions, have no counterpart in the
     * scenario. Without a further word a law is isotropic. */
    bool generic = kind && strcasecmp(kind, " generic") == 0;
    bool isotropic = kind && (*kind == '\0' || strcasecmp(kind, " isotropic") == 0);
    if (!generic && !isotropic) {
        yk_mbd_note(r, "constitutive law '%s'", word);
        l.known = false;
        return l;
    }

    /* One number for all motions, or a matrix. */
    double *parts[2] = {l.stiffness, l.damping};
    int part_count = viscous ? 2 : 1;
    for (int k = 0; k < part_count; k++) {
        if (k == 1 && yk_mbd_take(r, "proportional")) {
            /* Damping may be a multiple of the stiffness, equal for all motions. */
            double factor = yk_mbd_take_number(r);
            for (int i = 0; i < 36; i++)
                l.damping[i] = factor * l.stiffness[i];
        } else if (generic && n > 1) {
            /* A symmetric matrix is given by its upper triangle, a diagonal matrix by its diagonal. */
            bool diagonal = yk_mbd_take(r, "diag");
            bool symmetric = !diagonal && yk_mbd_take(r, "sym");
            if (!diagonal && !symmetric)
                yk_mbd_take(r, "matr");

            for (int i = 0; i < n; i++) {
                int first = 0;
                int last = n - 1;
                if (diagonal || symmetric)
                    first = i;
                if (diagonal)
                    last = i;

                for (int j = first; j <= last; j++) {
                    parts[k][6 * i + j] = yk_mbd_take_number(r);
                    if (symmetric)
                        parts[k][6 * j + i] = parts[k][6 * i + j];
                }
            }
        } else {
            /* One number: the diagonal, whose entries lie 7 apart in rows of 6. */
            double value = yk_mbd_take_number(r);
            for (int i = 0; i < n; i++)
                parts[k][7 * i] = value;
        }
    }

    take_prestress_and_prestrain(r, &l, n);
    return l;
}

/* Rows [first, first + n) of a six by six matrix that is zero elsewhere. */
static void write_six(FILE *to, const double *m, int first, int n)
{
    /* The scenario takes six numbers for a diagonal matrix, 36 for any other. */
    bool diagonal = true;
    for (int i = 0; i < 36; i++)
        diagonal = diagonal && (i % 7 == 0 || m[i] == 0);

    fputs("[", to);
    bool any = false;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            if (diagonal && j != i)
                continue;

            /* The n motions of the law are a block of the six: displacements begin at 0, rotations
             * at 3. */
            bool inside = i >= first && i < first + n && j >= first && j < first + n;
            double value = 0;
            if (inside)
                value = m[6 * (i - first) + j - first];

            if (any)
                fputs(", ", to);
            any = true;
            yk_write_number(to, value);
        }
    }
    fputs("]", to);
}

static void read_bushing(yk_mbd *r, const char *label, int first, int n)
{
    joint_end a, b;
    take_two_ends(r, &a, &b, first == 0);

    law l = take_law(r, n);
    if (r->failed || !l.known)
        return;

    FILE *to = begin_line(r, FORCES, "bushing", label, "bushing");
    write_between(to, &a, &b);
    fputs(", stiffness: ", to);
    write_six(to, l.stiffness, first, n);
    fputs(", damping: ", to);
    write_six(to, l.damping, first, n);
    fputs("}\n", to);
}

static void read_rod(yk_mbd *r, const char *label)
{
    joint_end a, b;
    take_two_ends(r, &a, &b, false);

    /* Unstretched length: the distance of the nodes, or as given. */
    double length = yk_v3_norm(yk_v3_sub(b.marker.position, a.marker.position));
    if (!yk_mbd_take(r, "from nodes"))
        length = yk_mbd_take_number(r);

    law l = take_law(r, 1);
    if (!(length > 0))
        yk_mbd_refuse(r, "the length %g m of a rod is not positive", length);
    if (r->failed || !l.known)
        return;

    /* The law gives the tension as a function of the strain. Prestress and prestrain are a tension
     * that is added: F - k eps(t). */
    FILE *to = begin_line(r, FORCES, "rod", label, "spring");
    write_between(to, &a, &b);
    fputs(", stiffness: ", to);
    yk_write_number(to, l.stiffness[0] / length);
    fputs(", damping: ", to);
    yk_write_number(to, l.damping[0] / length);
    fputs(", free_length: ", to);
    yk_write_number(to, length);
    if (l.prestress != 0 || l.prestrain[0]) {
        fputs(", load: \"", to);
        yk_write_number(to, l.prestress);
        if (l.prestrain[0]) {
            fputs(" - (", to);
            yk_write_number(to, l.stiffness[0]);
            fprintf(to, ")*(%s)", l.prestrain);
        }
        fputs("\"", to);
    }
    fputs("}\n", to);
}

/* Any set of relative motions; prescribed values other than zero are not supported. */
static void read_total_joint(yk_mbd *r, const char *label, bool pin)
{
    static const char *const words[6] = {"x", "y", "z", "rx", "ry", "rz"};
    static const char *const constraints[2] = {"position constraint", "orientation constraint"};

    joint_end a, b;
    if (pin)
        take_pin(r, &a, &b, false);
    else
        take_two_ends(r, &a, &b, false);

    /* Constrained motions, and whether they follow a function. */
    bool held[6] = {false}, follows = false;
    for (int part = 0; part < 2; part++) {
        if (!yk_mbd_take(r, constraints[part]))
            continue;

        /* MBDyn has several words for a constrained motion. */
        for (int k = 0; k < 3; k++) {
            const char *word = yk_mbd_take_text(r);
            held[3 * part + k] = strcasecmp(word, "active") == 0 ||
                                 strcasecmp(word, "position") == 0 ||
                                 strcasecmp(word, "rotation") == 0 || strcmp(word, "1") == 0;
        }

        /* A motion other than zero has arguments of its own, up to the next part. */
        bool zero = yk_mbd_take(r, "null");
        follows = follows || !zero;
        while (!zero && r->at < r->argument_count && !yk_mbd_next_is(r, "orientation constraint"))
            r->at++;
    }

    if (r->failed)
        return;
    /* A joint of the scenario constrains these motions to zero. */
    if (follows) {
        yk_mbd_note(r, "total joint %s, which imposes a motion", label);
        return;
    }

    FILE *to = begin_line(r, JOINTS, "joint", label, "custom");
    write_between(to, &a, &b);
    fputs(", constrained_axes: [", to);

    bool any = false;
    for (int k = 0; k < 6; k++) {
        if (held[k])
            fprintf(to, "%s%s", any ? ", " : "", words[k]);
        any = any || held[k];
    }
    fputs("]}\n", to);
}

static void read_joint(yk_mbd *r, const char *keyword)
{
    (void)keyword;
    static const struct {
        const char *word, *type;
        enum { TWO_ENDS, PIN, ORIENTATIONS, LINE, DRIVEN } form;
    } kinds[] = {{"revolute hinge", "revolute", TWO_ENDS},
                 {"spherical hinge", "spherical", TWO_ENDS},
                 {"universal hinge", "universal", TWO_ENDS},
                 {"cardano hinge", "universal", TWO_ENDS},
                 {"prismatic", "fixed-orientation", ORIENTATIONS},
                 {"revolute rotation", "parallel-axes", ORIENTATIONS},
                 {"in line", "in-line", LINE},
                 {"revolute pin", "revolute", PIN},
                 {"spherical pin", "spherical", PIN},
                 {"pin", "spherical", PIN},
                 {"axial rotation", "revolute", DRIVEN}};

    const char *label = yk_mbd_take_text(r);
    const char *word = yk_mbd_take_text(r);

    /* Elastic ones become forces. */
    if (strcasecmp(word, "rod") == 0) {
        read_rod(r, label);
    } else if (strcasecmp(word, "deformable displacement joint") == 0) {
        read_bushing(r, label, 0, 3);
    } else if (strcasecmp(word, "deformable hinge") == 0) {
        read_bushing(r, label, 3, 3);
    } else if (strcasecmp(word, "deformable joint") == 0) {
        read_bushing(r, label, 0, 6);
    } else if (strncasecmp(word, "total", 5) == 0) {
        read_total_joint(r, label, strcasecmp(word, "total pin joint") == 0);
    } else if (strcasecmp(word, "clamp") == 0) {
        const yk_mbd_frame *node = take_node(r);
        if (r->failed)
            return;

        /* The node stays where it is. */
        joint_end a = {&yk_mbd_global, node->pose};
        joint_end b = {node, node->pose};
        FILE *to = begin_line(r, JOINTS, "joint", label, "fixed");
        write_between(to, &a, &b);
        fputs("}\n", to);
    } else if (strcasecmp(word, "distance") == 0) {
        joint_end a, b;
        char length[YK_MBD_TEXT];
        take_two_ends(r, &a, &b, false);
        double from_nodes = yk_v3_norm(yk_v3_sub(b.marker.position, a.marker.position));

        /* A length that may change with time, or the present one. */
        if (yk_mbd_take(r, "from nodes"))
            yk_format(length, sizeof length, "%.17g", from_nodes);
        else
            yk_mbd_take_drive(r, length);
        if (r->failed)
            return;

        FILE *to = begin_line(r, JOINTS, "joint", label, "distance");
        write_between(to, &a, &b);
        fprintf(to, ", distance: \"%s\"}\n", length);
    } else {
        /* The other kinds differ in the data of the two ends, and in the scenario's word. */
        size_t k = 0;
        while (k < sizeof kinds / sizeof *kinds && strcasecmp(kinds[k].word, word) != 0)
            k++;

        if (k == sizeof kinds / sizeof *kinds) {
            yk_mbd_note(r, "joint '%s'", word);
            return;
        }

        /* Joints that hold orientations alone have no points. */
        joint_end a, b;
        bool at_points = kinds[k].form != ORIENTATIONS;

        if (kinds[k].form == PIN) {
            take_pin(r, &a, &b, true);
        } else if (kinds[k].form == LINE) {
            /* A line through the first node, on which a point of the second one stays. */
            a.on = take_node(r);
            a.marker.position = yk_mbd_take_position(r, a.on, NULL);
            a.marker.orientation = yk_mbd_take_orientation(r, a.on, NULL);

            b.on = take_node(r);
            b.marker = b.on->pose;
            if (yk_mbd_take(r, "offset"))
                b.marker.position = yk_mbd_take_position(r, b.on, a.on);
        } else {
            take_two_ends(r, &a, &b, at_points);
        }

        if (r->failed)
            return;

        FILE *to = begin_line(r, JOINTS, "joint", label, kinds[k].type);
        write_between(to, &a, &b);
        fputs("}\n", to);
        if (kinds[k].form != DRIVEN)
            return;

        /* A drive makes the rotation follow. */
        char rate[YK_MBD_TEXT];
        yk_mbd_take_drive(r, rate);
        to = begin_line(r, JOINTS, "drive", label, "driven-angular-velocity");
        write_between(to, &a, &b);
        fprintf(to, ", angular_velocity: \"%s\"}\n", rate);
    }
}

static void read_body(yk_mbd *r, const char *keyword)
{
    (void)keyword;

    /* A condensed body is the sum of its parts. */
    const char *label = yk_mbd_take_text(r);
    const yk_mbd_frame *node = take_node(r);
    int parts = 1;
    if (yk_mbd_take(r, "condense"))
        parts = yk_mbd_take_whole(r, "the number of parts of a body", 1, 1000);

    /* Its parts about their common centre, in global axes. */
    yk_import_mass sum = {0};
    for (int i = 0; i < parts && !r->failed; i++) {
        double mass = yk_mbd_take_number(r);
        yk_pose centre = node->pose;
        centre.position = yk_mbd_take_position(r, node, NULL);
        yk_mat3 inertia = yk_mbd_take_matrix(r);
        if (yk_mbd_take(r, "inertial"))
            centre.orientation = yk_mbd_take_orientation(r, node, NULL);
        yk_import_add_mass(&sum, mass, centre, inertia);
    }

    if (r->failed)
        return;
    if (!(sum.mass > 0)) {
        yk_mbd_note(r, "body %s without mass", label);
        return;
    }

    yk_xml_element statement = {.file = r->file, .line = r->line};
    char name[120];
    snprintf(name, sizeof name, "body %.100s", label);
    if (yk_import_repair_inertia(r->import, &statement, name, &sum, true) != YK_OK) {
        yk_mbd_refuse(r, "its inertia has no principal moments");
        return;
    }

    /* In the axes of the node. */
    yk_mat3 axes = yk_q_matrix(node->pose.orientation);
    yk_mat3 own = yk_m3_rotate(yk_m3_transpose(axes), sum.inertia);
    /* Rotated, it is symmetric to rounding only. */
    own = yk_m3_scale(0.5, yk_m3_add(own, yk_m3_transpose(own)));
    yk_vec3 centre =
        yk_q_rotate_back(node->pose.orientation, yk_v3_sub(sum.center, node->pose.position));

    FILE *to = begin_line(r, BODIES, "body", label, NULL);
    fprintf(to, "node: %s, mass: ", node->name);
    yk_write_number(to, sum.mass);
    fputs(", center_of_mass: ", to);
    yk_write_vector(to, centre);
    fputs(", inertia: [", to);

    for (int k = 0; k < 3; k++) {
        yk_write_vector(to, yk_m3_row(&own, k));
        fputs(k < 2 ? ", " : "]}\n", to);
    }
}

/* Forces and couples with a direction and a drive. */
static void read_force(yk_mbd *r, const char *keyword)
{
    bool couple = strcasecmp(keyword, "couple") == 0;
    const char *label = yk_mbd_take_text(r);

    /* Forces of another program act on nodes, which become ports. The number of these nodes
     * determines the number of the following arguments. */
    if (!couple && yk_mbd_take(r, "external structural")) {
        int count = 0;
        while (r->at < r->argument_count && count == 0) {
            int after = r->argument_count - r->at - 1;
            bool number = yk_mbd_number_follows(r);
            const char *text = yk_mbd_take_text(r);
            if (number && after > 0 && yk_mbd_evaluate(r, text) == after)
                count = after;
        }

        /* The exchange of the other program is ignored; its points of action are read, so that a
         * subsystem can replace it. */
        const char *outcome = "";
        if (count > 0)
            outcome = ": its nodes are ports";
        yk_mbd_note(r, "force of type 'external structural'%s", outcome);
        for (int i = 0; i < count && !r->failed; i++) {
            const yk_mbd_frame *node = take_node(r);
            if (r->failed)
                return;

            fprintf(model_of(r)->sections[PORTS], "      %s: {body: %s}\n", node->name, node->name);
            model_of(r)->counts[PORTS]++;
        }

        return;
    }

    /* A follower rotates with its node, an absolute load does not. */
    bool follows = yk_mbd_take(r, "follower");
    if (!follows && !yk_mbd_take(r, "absolute")) {
        yk_mbd_note(r, "%s of type '%s'", couple ? "couple" : "force", yk_mbd_take_text(r));
        return;
    }

    /* Point of action: a force may act anywhere on the node, a couple may omit it. */
    const yk_mbd_frame *node = take_node(r);
    joint_end at = {node, node->pose};
    bool named = yk_mbd_take(r, "position");
    if (named || !couple)
        at.marker.position = yk_mbd_take_position(r, node, NULL);

    /* Its direction, and how much of it. */
    yk_mbd_take(r, "single");
    const yk_mbd_frame *axes = &yk_mbd_global;
    if (follows)
        axes = node;
    yk_vec3 direction = yk_mbd_take_direction(r, axes);

    char load[YK_MBD_TEXT];
    yk_mbd_take_drive(r, load);
    if (r->failed)
        return;

    /* The scenario has offsets in the axes of the body, and the vector in those that rotate (or
     * not) with the load. */
    FILE *to = begin_line(r, FORCES, "force", label, couple ? "torque" : "force");
    yk_vec3 arm = yk_v3_sub(at.marker.position, node->pose.position);
    fprintf(to, ", body: %s, offset: ", node->name);
    yk_write_vector(to, yk_q_rotate_back(node->pose.orientation, arm));
    fputs(", vector: ", to);
    if (follows)
        direction = yk_q_rotate_back(node->pose.orientation, direction);
    yk_write_vector(to, direction);
    fprintf(to, ", follower: %s, factor: \"%s\"}\n", follows ? "true" : "false", load);
}

static void read_gravity(yk_mbd *r, const char *keyword)
{
    (void)keyword;
    yk_mbd_take(r, "uniform");
    yk_vec3 direction = yk_mbd_take_direction(r, &yk_mbd_global);
    char text[YK_MBD_TEXT], *end;
    yk_mbd_take_drive(r, text);

    /* The scenario has a constant gravity: only the leading number of a drive is used. */
    double value = yk_text_number(text, &end);
    if (*end)
        yk_mbd_note(r, "gravity that changes with time: it is %g m/s^2", value);
    model_of(r)->gravity = yk_v3_scale(value, direction);
}

/* Three nodes with the offsets of the beam from them, then orientation and law of each half. */
static void read_beam(yk_mbd *r, const char *keyword)
{
    (void)keyword;
    static const char *const sections[2] = {"section", "second_section"};
    const char *label = yk_mbd_take_text(r);
    joint_end ends[3];
    yk_vec3 offset[3];
    for (int i = 0; i < 3; i++) {
        ends[i].on = take_node(r);
        take_marker(r, &ends[i], NULL, true);
        offset[i] = yk_v3_sub(ends[i].marker.position, ends[i].on->pose.position);
    }

    /* Each half has an orientation and a law; the second may repeat those of the first. */
    yk_vec3 up[2] = {{0, 0, 1}, {0, 0, 1}};
    law laws[2];
    for (int half = 0; half < 2; half++) {
        if (half == 1 && yk_mbd_take(r, "same")) {
            up[1] = up[0];
        } else if (!yk_mbd_take(r, "from nodes")) {
            yk_quat q = yk_mbd_take_orientation(r, &yk_mbd_global, NULL);
            up[half] = yk_q_rotate(q, yk_v3(0, 0, 1));
        }

        if (half == 1 && yk_mbd_take(r, "same"))
            laws[1] = laws[0];
        else
            laws[half] = take_law(r, 6);
        if (!laws[half].known)
            return;
    }

    if (r->failed)
        return;

    FILE *to = begin_line(r, BEAMS, "beam", label, NULL);
    fprintf(to, "nodes: [%s, %s, %s], section_z: ", ends[0].on->name, ends[1].on->name,
            ends[2].on->name);
    yk_write_vector(to, up[0]);

    /* The scenario has one offset for the whole beam. */
    double apart =
        yk_v3_norm(yk_v3_sub(offset[0], offset[1])) + yk_v3_norm(yk_v3_sub(offset[1], offset[2]));
    if (apart > 1e-12 * (1 + yk_v3_norm(offset[0])))
        yk_mbd_note(r, "beam %s: its three offsets differ, the first counts", label);

    fputs(", offset: ", to);
    yk_write_vector(to, offset[0]);

    /* MBDyn has a law for each half, the scenario one at each end. The mass of the beam is that of
     * bodies. */
    for (int half = 0; half < 2; half++) {
        fprintf(to, ", %s: {type: matrix, mass_per_length: 0, stiffness: ", sections[half]);
        write_six(to, laws[half].stiffness, 0, 6);
        fputs(", damping: ", to);
        write_six(to, laws[half].damping, 0, 6);
        fputs("}", to);
    }
    fputs("}\n", to);
}

/* Statements ----------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    void (*read)(yk_mbd *r, const char *keyword);
} elements[] = {
    {"body", read_body},       {"joint", read_joint}, {"force", read_force}, {"couple", read_force},
    {"gravity", read_gravity}, {"beam3", read_beam},  {"beam", read_beam},
};

enum { ELEMENTS = sizeof elements / sizeof *elements };

/* An element that cannot be read is left out, with a note; the others are kept. */
static void read_element(yk_mbd *r, const char *keyword)
{
    int kind = 0;
    while (kind < ELEMENTS && strcasecmp(elements[kind].word, keyword) != 0)
        kind++;
    if (kind == ELEMENTS) {
        yk_mbd_note(r, "element '%s'", keyword);
        return;
    }

    const char *label = "";
    if (r->argument_count > 0)
        label = r->arguments[0];
    int notes = r->import->note_count;
    elements[kind].read(r, keyword);

    if (r->failed) {
        r->failed = false;
        yk_mbd_note(r, "%s %.40s: %s", keyword, label, r->problem);
        return;
    }

    /* Unknown arguments are reported. Those of the output have no effect. */
    bool noted = r->import->note_count > notes;
    if (!noted && r->at < r->argument_count && !yk_mbd_next_is(r, "output"))
        yk_mbd_note(r, "%s %.40s: its arguments from '%.40s' on", keyword, label,
                    r->arguments[r->at]);
}

/* Only an initial value problem can become a scenario. */
static void check_problem(yk_mbd *r, const char *problem)
{
    static const char *const known[] = {"initial value", "parallel initial value", "multistep"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(problem, known[i]) == 0)
            return;

    yk_mbd_refuse(r,
                  "the problem '%.40s' cannot be imported, because a scenario computes the motion "
                  "from the forces; give the model forces and 'problem: initial value', or run it "
                  "in MBDyn",
                  problem);
}

static void read_statement(yk_mbd *r, const char *keyword)
{
    static const struct {
        const char *word;
        enum { START, END, STEP } number;
    } times[] = {{"initial time", START}, {"final time", END}, {"time step", STEP}};

    /* Blocks change the meaning of statements. */
    if (strcasecmp(keyword, "begin") == 0) {
        snprintf(r->block, sizeof r->block, "%s", yk_mbd_take_text(r));
        if (strcasecmp(r->block, "inverse dynamics") == 0)
            check_problem(r, r->block);
    } else if (strcasecmp(keyword, "end") == 0) {
        r->ended = strcasecmp(r->block, "elements") == 0;
        r->block[0] = 0;
    } else if (strcasecmp(r->block, "data") == 0 &&
               (strcasecmp(keyword, "problem") == 0 || strcasecmp(keyword, "integrator") == 0)) {
        check_problem(r, yk_mbd_take_text(r));
    } else if (strcasecmp(r->block, "control data") == 0 &&
               (strcasecmp(keyword, "model") == 0 ||
                strcasecmp(keyword, "rigid body kinematics") == 0)) {
        yk_mbd_note(r, "%s '%s'", keyword, yk_mbd_take_text(r));
    } else if (strcasecmp(keyword, "reference") == 0) {
        read_frame(r, false);
    } else if (strcasecmp(r->block, "nodes") == 0 && strcasecmp(keyword, "structural") == 0) {
        read_frame(r, true);
    } else if (strcasecmp(r->block, "elements") == 0) {
        read_element(r, keyword);
    } else if (strcasecmp(r->block, "nodes") == 0) {
        yk_mbd_note(r, "node '%s'", keyword);
    } else if (strcasecmp(keyword, "method") == 0 &&
               (yk_mbd_take(r, "ms") || yk_mbd_take(r, "hope"))) {
        /* The first number of these methods is their spectral radius at infinite frequency. */
        model_of(r)->rho_inf = yk_mbd_take_number(r);
    } else {
        /* The times of the problem; the rest of its control does not change the model. */
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            double *values[] = {&model_of(r)->start, &model_of(r)->end, &model_of(r)->step};
            if (strcasecmp(keyword, times[i].word) == 0 && yk_mbd_number_follows(r))
                *values[times[i].number] = yk_mbd_take_number(r);
        }
    }
}

static yk_status import_mbdyn(yk_import *import, const char *path, yk_xml_element *root)
{
    (void)root;
    yk_context *context = import->context;
    model m = {.end = yk_import_end(import), .rho_inf = 0.6};
    yk_mbd *r = calloc(1, sizeof *r);
    bool memory = r != NULL;
    if (r) {
        *r = (yk_mbd){.import = import,
                      .statement = read_statement,
                      .user = &m,
                      .file = path,
                      .constants = calloc(YK_MBD_CONSTANTS, sizeof(yk_named_value)),
                      .labels = calloc(YK_MBD_CONSTANTS, sizeof(double)),
                      .frames = calloc(YK_MBD_FRAMES, sizeof(yk_mbd_frame))};
        memory = r->constants && r->labels && r->frames;
        /* No constant has served as a label yet. */
        for (int i = 0; memory && i < YK_MBD_CONSTANTS; i++)
            r->labels[i] = NAN;
    }

    /* One stream per section, since statements of different sections mix. */
    char *texts[SECTIONS] = {NULL};
    size_t sizes[SECTIONS] = {0};
    for (int i = 0; i < SECTIONS; i++) {
        m.sections[i] = open_memstream(&texts[i], &sizes[i]);
        memory = memory && m.sections[i];
    }

    /* Constants of MBDyn's input manual, except pi and those of the machine. */
    static const yk_named_value known[] = {{.name = "deg2rad", .value = YK_PI / 180},
                                           {.name = "rad2deg", .value = 180 / YK_PI},
                                           {.name = "e", .value = 2.71828182845904523536},
                                           {.name = "TRUE", .value = 1},
                                           {.name = "FALSE", .value = 0},
                                           {.name = "in2m", .value = 0.0254},
                                           {.name = "m2in", .value = 1 / 0.0254},
                                           {.name = "in2mm", .value = 25.4},
                                           {.name = "mm2in", .value = 1 / 25.4},
                                           {.name = "ft2m", .value = 0.3048},
                                           {.name = "m2ft", .value = 1 / 0.3048},
                                           {.name = "lb2kg", .value = 0.45359237},
                                           {.name = "kg2lb", .value = 1 / 0.45359237},
                                           {.name = "slug2kg", .value = 14.5939},
                                           {.name = "kg2slug", .value = 1 / 14.5939}};
    for (size_t i = 0; memory && i < sizeof known / sizeof *known; i++) {
        char *copy = strdup(known[i].name);
        memory = copy != NULL;
        r->constants[r->constant_count++] = (yk_named_value){.name = copy, .value = known[i].value};
    }

    yk_status status = YK_OK;
    if (memory)
        yk_mbd_read_file(r, path);
    else
        status = yk_fail(context, YK_ERROR_MEMORY, "out of memory");

    /* A failure within an element has become a note; any other failure ends the reading. */
    if (r && r->failed)
        status = yk_fail(context, YK_ERROR_INPUT, "%s:%d: %s", r->problem_file, r->problem_line,
                         r->problem);

    /* The streams must be closed before their texts are complete. */
    for (int i = 0; i < SECTIONS; i++)
        if (m.sections[i])
            fclose(m.sections[i]);

    /* MBDyn also has models of electric or hydraulic nodes alone. */
    if (status == YK_OK && m.counts[NODES] == 0)
        status = yk_fail(context, YK_ERROR_INPUT, "%s: there is no structural node in it", path);

    /* The scenario around the sections. */
    size_t size = 0;
    FILE *to = NULL;
    if (status == YK_OK) {
        to = open_memstream(&import->scenario, &size);
        if (!to)
            status = yk_fail(context, YK_ERROR_MEMORY, "out of memory");
    }

    if (to) {
        static const char *const heads[] = {"nodes",  "bodies", "joints",
                                            "forces", "beams",  "ports"};
        yk_import_write_notes(import, to);

        fputs("time: {start: ", to);
        yk_write_number(to, m.start);
        fputs(", end: ", to);
        yk_write_number(to, m.end);
        fputs(", step: ", to);
        yk_write_number(to, yk_import_step(import, m.step));

        /* MBDyn's spectral radius, at most 0.9 so that some damping is left. */
        fputs("}\n\nsubsystems:\n  model:\n    solver: multibody\n    gravity: ", to);
        yk_write_vector(to, m.gravity);
        fputs("\n    integrator: {type: two-step, rho_inf: ", to);
        yk_write_number(to, fmin(m.rho_inf, 0.9));
        fputs("}\n", to);

        /* Sections without entries have no heading. */
        for (int i = 0; i < SECTIONS; i++)
            if (m.counts[i] > 0)
                fprintf(to, "    %s:\n%s", heads[i], texts[i]);
        if (fclose(to) != 0)
            status = yk_fail(context, YK_ERROR_MEMORY, "out of memory");
    }

    snprintf(import->summary, sizeof import->summary, "solver smooth");
    for (int i = 0; i < SECTIONS; i++)
        free(texts[i]);

    for (int i = 0; r && i < r->constant_count; i++)
        free((char *)(uintptr_t)r->constants[i].name);
    if (r) {
        free(r->constants);
        free(r->labels);
        free(r->frames);
    }
    free(r);
    return status;
}

const yk_import_format yk_mbdyn_format = {
    .name = "MBDyn", .endings = {".mbd", ".mbdyn"}, .read = import_mbdyn};
