/* Ids of objects in models and systems.
 *
 * Builders return an id for each part that other parts or run-time functions refer to. Each kind of object has its own
 * type, so that a joint cannot be passed for a body:
 *
 *     yk_subsystem_id arm = yk_system_add_owned_subsystem(builder, "arm", subsystem);
 *     yk_port_id tip = yk_subsystem_find_port(subsystem, "tip");
 *     if (!yk_port_is_valid(tip))
 *         ...
 *
 * All models and systems are built in the same way: a def struct from its `_default()` function, `begin`, `add` functions
 * that return ids, and one `create`, which returns the status of the first error with a message that names the part. `add`
 * returns a null id for a part that is invalid, and the functions that receive this id later do not report it again.
 *
 * An id is an index that counts from 0 in the order of addition, so that loops can make ids: (yk_body_id){i}. It is valid
 * for the model or system that it comes from, and for every other one that is built in the same way. Functions report an
 * id that is out of range or null; none of them has undefined behavior with a wrong id.
 *
 * Indices of operation tables (yoke/subsystem.h, yoke/scheme_ops.h) are plain integers, because implementations use them
 * for their own arrays. */
#ifndef YOKE_IDS_H
#define YOKE_IDS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parts of a system (yoke/system.h, yoke/access.h). */
typedef struct yk_subsystem_id {
    int index;
} yk_subsystem_id;

typedef struct yk_interface_id {
    int index;
} yk_interface_id;

typedef struct yk_wire_id {
    int index;
} yk_wire_id;

/* A signal that the program sets. */
typedef struct yk_input_id {
    int index;
} yk_input_id;

/* A recorded quantity of a system. */
typedef struct yk_channel_id {
    int index;
} yk_channel_id;

/* Parts of a subsystem. */
typedef struct yk_port_id {
    int index;
} yk_port_id;

typedef struct yk_parameter_id {
    int index;
} yk_parameter_id;

/* A body, or a node of a multibody model. */
typedef struct yk_body_id {
    int index;
} yk_body_id;

typedef struct yk_joint_id {
    int index;
} yk_joint_id;

typedef struct yk_force_id {
    int index;
} yk_force_id;

/* Indices with a special meaning. */
enum {
    YK_GROUND_INDEX = -1, /* Of YK_GROUND. */
    YK_NO_ID = -2         /* Of null ids: the object does not exist, or could not be added. */
};

#ifdef __cplusplus
#define YK_MAKE_ID(type, number) (type{number})
#else
#define YK_MAKE_ID(type, number) ((type){number})
#endif

#define YK_NULL_SUBSYSTEM YK_MAKE_ID(yk_subsystem_id, YK_NO_ID)
#define YK_NULL_INTERFACE YK_MAKE_ID(yk_interface_id, YK_NO_ID)
#define YK_NULL_WIRE YK_MAKE_ID(yk_wire_id, YK_NO_ID)
#define YK_NULL_INPUT YK_MAKE_ID(yk_input_id, YK_NO_ID)
#define YK_NULL_CHANNEL YK_MAKE_ID(yk_channel_id, YK_NO_ID)
#define YK_NULL_PORT YK_MAKE_ID(yk_port_id, YK_NO_ID)
#define YK_NULL_PARAMETER YK_MAKE_ID(yk_parameter_id, YK_NO_ID)
#define YK_NULL_BODY YK_MAKE_ID(yk_body_id, YK_NO_ID)
#define YK_NULL_JOINT YK_MAKE_ID(yk_joint_id, YK_NO_ID)
#define YK_NULL_FORCE YK_MAKE_ID(yk_force_id, YK_NO_ID)

/* The ground, which never moves, in place of a body. It is not a body itself: yk_body_is_valid() is false. */
#define YK_GROUND YK_MAKE_ID(yk_body_id, YK_GROUND_INDEX)

/* Whether an id is that of an object, and not null. */
static inline bool yk_subsystem_is_valid(yk_subsystem_id id)
{
    return id.index >= 0;
}

static inline bool yk_interface_is_valid(yk_interface_id id)
{
    return id.index >= 0;
}

static inline bool yk_wire_is_valid(yk_wire_id id)
{
    return id.index >= 0;
}

static inline bool yk_input_is_valid(yk_input_id id)
{
    return id.index >= 0;
}

static inline bool yk_channel_is_valid(yk_channel_id id)
{
    return id.index >= 0;
}

static inline bool yk_port_is_valid(yk_port_id id)
{
    return id.index >= 0;
}

static inline bool yk_parameter_is_valid(yk_parameter_id id)
{
    return id.index >= 0;
}

static inline bool yk_body_is_valid(yk_body_id id)
{
    return id.index >= 0;
}

static inline bool yk_joint_is_valid(yk_joint_id id)
{
    return id.index >= 0;
}

static inline bool yk_force_is_valid(yk_force_id id)
{
    return id.index >= 0;
}

#ifdef __cplusplus
}
#endif

#endif
