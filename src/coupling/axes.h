/* Questions about the constrained axes of an interface, which are yk_axis bits in the frame of the motion side's marker. */
#ifndef YK_COUPLING_AXES_H
#define YK_COUPLING_AXES_H

#include "yoke/subsystem.h"

/* Constrained rotations as bits of the axes about which they turn: YK_AXIS_X for YK_AXIS_RX, and so on. */
static inline unsigned yk_rotation_axes(unsigned constrained)
{
    return (constrained & YK_AXES_ROTATION) / YK_AXIS_RX;
}

static inline unsigned yk_translation_axes(unsigned constrained)
{
    return constrained & YK_AXES_TRANSLATION;
}

/* Whether the origins of the two markers coincide, except for a prescribed motion. */
static inline bool yk_joins_origins(unsigned constrained)
{
    return yk_translation_axes(constrained) == YK_AXES_TRANSLATION;
}

/* Whether one of the three axes is in a set. */
static inline bool yk_is_single_axis(unsigned axes)
{
    return axes == YK_AXIS_X || axes == YK_AXIS_Y || axes == YK_AXIS_Z;
}

/* Whether one rotation is constrained: the reaction torque of a universal joint depends on both sides. */
static inline bool yk_is_universal(unsigned constrained)
{
    return yk_is_single_axis(yk_rotation_axes(constrained));
}

#endif
