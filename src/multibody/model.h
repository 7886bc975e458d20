/* The constant part of a multibody system. The start compiles it from the description and from the
 * connections of the ports; steps do not change it. Parts refer to each other by index.
 *
 *   frames     nodes first, then the ground, then frames that motion ports prescribe, then
 *              attachments of flexible bodies
 *   unknowns   six per node (displacement, rotation) from 6 i on; then generalized coordinates, one
 *              each, from coordinate_first (those of a flexible body in addition to its nodes:
 *              modal amplitudes, gradients); together motion_count. Then one multiplier per
 *              constraint row, from motion_count; together unknown_count
 *   rows       equations of the joints and of motion ports; a joint owns those from its `row` on */
#ifndef YK_MULTIBODY_MODEL_H
#define YK_MULTIBODY_MODEL_H

#include "multibody/def.h"

typedef struct node_model {
    const char *name;
    yk_inertia inertia;
    int unknown;    /* first of six; -1: ground, prescribed, or an attachment of a flexible body */
    int attachment; /* of a flexible body: index of attachments; else -1 */
    bool massive, eccentric;
    double substitute; /* added to the inertia of a point mass; 0: its inertia is sufficient */
    /* heavy in the assembly of positions and velocities, so that it moves little */
    bool keep;
} node_model;

typedef struct joint_model {
    const char *name;
    yk_joint joint;
    int node[2];
    int row; /* first equation, counted from the first multiplier */
    unsigned stiffness_mask;
    bool chained; /* an end is an attachment of a flexible body */
    bool driven;  /* by a function, or by the input of a scalar motion port */
    bool adds;    /* to the equation of an earlier joint, whose row it shares */
    int angle;    /* index of its angle in the state, or -1 */
    double sum;   /* of the coordinates of a coupling at the start, in its first joint */
    yk_time_function drive;
    double drive_unit;
    int port;   /* motion port that created it, or -1 */
    int signal; /* signal port that drives it, or -1 */
} joint_model;

typedef struct force_model {
    const char *name;
    yk_force_law law;
    int node[2];
    bool chained;
    yk_time_function load;
    yk_feedback feedback; /* instead of the load */
    int channel[YK_FEEDBACK_INPUTS_MAX],
        component[YK_FEEDBACK_INPUTS_MAX]; /* channel of each input */
    double load_unit;
    int input; /* signal port; negative: none */
    /* terms of the coordinate on which the law acts: this force and those after it; 0: the force is
     * such a term; 1: no others */
    int term_count;
    double ratio;
    int angle; /* index of its angle in the state, or -1 */
} force_model;

typedef struct beam_model {
    const char *name;
    yk_beam beam;
    int node[YK_BEAM_NODE_COUNT];
} beam_model;

typedef struct flexible_model {
    const char *name;
    const yk_flexible *body;
    int node;       /* of the floating frame; -1 for rods */
    int coordinate; /* first */
} flexible_model;

enum { ATTACHMENT_MOVES = 1, ATTACHMENT_ROTATIONS = 2 };

/* An attachment of a flexible body. Its frame follows the coordinates, so it has no unknowns of its
 * own. */
typedef struct attachment_model {
    int flexible, attachment;
    int frame;
    int count;
    int *column; /* unknowns that move it */
    /* per column: ATTACHMENT_MOVES, ATTACHMENT_ROTATIONS if its structure allows them */
    unsigned char *moves;
} attachment_model;

typedef struct port_model {
    yk_port_def def;
    int node[2]; /* as indices of frames */
    yk_causality causality;
    unsigned constrained;
    int joint; /* of a motion port */
    /* ports that merging has joined: their joints, and the side of the joints that is the port's */
    int merged, merged_count;
    int merged_side;
    int driver;        /* its prescribed frame, an index of nodes; -1 */
    yk_joint distance; /* of a scalar port */
} port_model;

/* Owner of a channel, in the order of the list of channels. */
typedef enum channel_group {
    CHANNEL_MODEL,
    CHANNEL_NODE,
    CHANNEL_JOINT,
    CHANNEL_FORCE,
    CHANNEL_BEAM,
    CHANNEL_ATTACHMENT,
    CHANNEL_FLEXIBLE,
    CHANNEL_GROUPS
} channel_group;

/* The quantity in a channel, for conversion to other units and axes. */
typedef enum channel_quantity {
    YK_QUANTITY_NUMBER, /* the same in all units */
    YK_QUANTITY_POINT,
    YK_QUANTITY_ORIENTATION,
    YK_QUANTITY_VELOCITY, /* or acceleration */
    YK_QUANTITY_ANGULAR_VELOCITY,
    YK_QUANTITY_FORCE,
    YK_QUANTITY_TORQUE,
    YK_QUANTITY_OWN_FORCE, /* in the axes of an element, which rotate with the part */
    YK_QUANTITY_OWN_TORQUE,
    YK_QUANTITY_LENGTH, /* or its rate */
    YK_QUANTITY_ENERGY
} channel_quantity;

typedef struct channel_source {
    channel_group group;
    int index, kind; /* index of the element in the group, and of its channel */
    channel_quantity quantity;
    int part; /* of a merged model, -1: none, for example a joint between parts */
} channel_source;

typedef struct integrator integrator;

typedef struct yk_multibody_model {
    yk_context *context;

    /* Set at creation. */
    yk_multibody_description def; /* deep copy */
    char *name_store;
    const integrator *integrator;
    port_model *ports;
    yk_port *port_list;
    yk_channel *channels;
    channel_source *sources; /* of the channels */
    char *channel_names;
    int channel_count;
    yk_parameter *parameters; /* see access.c */
    char *parameter_names;
    int parameter_count;
    /* merged models whose parts have units or axes of their own; otherwise NULL */
    yk_transform *part_transforms;
    /* merged models whose parts are relaxed: rate of stabilization of each part (merge.c) */
    double *part_rates;

    /* Set by the start. */
    node_model *nodes;    /* of all frames */
    int node_count;       /* free nodes */
    int frame_count;      /* all */
    int attachment_first; /* frame of the first attachment */
    joint_model *joints;
    int joint_count;
    force_model *forces;
    beam_model *beams;
    flexible_model *flexibles;
    attachment_model *attachments;
    int *attachment_columns;
    unsigned char *attachment_moves;

    int angle_count; /* angles that may have any number of turns */
    double *angle_start;

    int row_count;
    int coordinate_count, coordinate_first;
    int motion_count; /* unknowns before the multipliers */
    int unknown_count;

    /* Typical quantities of the model, which scale its unknowns and equations. */
    double mass_scale, length_scale;
    double gyration; /* typical radius of gyration: scales rotations in the matrix */
    double *unknown_scale;
    double *reach;    /* per coordinate: largest displacement of the body per unit of it (m) */
    double *fraction; /* scale of its corrections: see yk_multibody_relative_size() */
} yk_multibody_model;

/* compile.c */
yk_joint yk_multibody_joint_of_port(const port_model *port);

/* Number of angles that the state counts over any number of turns. */
int yk_multibody_angles_of(const yk_multibody_description *def);
/* Whether the law of a force acts on a sum of coordinates, or has further terms. */
bool yk_multibody_is_scalar(const force_model *force);

/* flexible.c */
yk_status yk_multibody_compile_flexibles(yk_multibody_model *model);
void yk_multibody_release_flexibles(yk_multibody_model *model);
int yk_multibody_coordinates_of(const yk_multibody_description *def);
/* Number of doubles in the workspace for a body, and for an attachment. */
size_t yk_multibody_flexible_words(const yk_flexible *body);
size_t yk_multibody_attachment_words(const yk_flexible *body, const attachment_model *attachment);
/* The frame of a node in the def. */
int yk_multibody_frame_of(const yk_multibody_model *model, int node);

/* channels.c: the channels of a model; those of a merged model are in the order of the parts. */
yk_status yk_multibody_make_channels(yk_multibody_model *model);
/* Finds the channel of a name such as "crank.velocity.x", the first of that name from `first` on,
 * and its component; -1: not found. */
void yk_multibody_find_input(const yk_multibody_model *model, const char *name, int first,
                             int *channel, int *component);
yk_status yk_multibody_order_channels(yk_multibody_model *model, const yk_merge_def *merge);
/* yk_subsystem_ops.feeds_through: accelerations and reactions depend on the loads that signals bring. */
bool yk_multibody_feeds_through(const yk_subsystem *subsystem, int input, int port, int channel,
                                int component);

/* relaxed.c: parts for which the image has room; none if they cannot be relaxed. */
int yk_multibody_part_count(const yk_multibody_model *model);

/* Owner of an unknown or equation for messages: "node 'crank'" or "joint 'pin'". */
const char *yk_multibody_owner(const yk_multibody_model *model, int unknown, char *buffer,
                               size_t capacity);

/* Whether an unknown is a rotation, in radians; others are lengths, or amplitudes of modes. */
static inline bool yk_multibody_is_rotation(const yk_multibody_model *model, int unknown)
{
    return unknown < model->coordinate_first && unknown % 6 >= 3;
}

/* Metres per unit of an unknown: arcs of the length scale for rotations, displacements for
 * coordinates. */
static inline double yk_multibody_arm(const yk_multibody_model *model, int unknown)
{
    if (unknown >= model->coordinate_first)
        return model->reach[unknown - model->coordinate_first];
    return unknown % 6 >= 3 ? model->length_scale : 1;
}

/* Size of a unit change of an unknown relative to the size of the model: displacements relative to
 * the length scale; rotations in radians, and also the gradients of rods, which rotate and stretch;
 * amplitudes by the displacement that they cause. */
static inline double yk_multibody_relative_size(const yk_multibody_model *model, int unknown)
{
    if (unknown >= model->coordinate_first)
        return model->fraction[unknown - model->coordinate_first];
    return unknown % 6 >= 3 ? 1 : 1 / model->length_scale;
}

#endif
