/* An FMU as a subsystem: FMI 2.0 and 3.0, co-simulation and model exchange.
 *
 * The ports are made of the FMU's variables. A scalar port has one variable per quantity, a
 * marker port three (an orientation four, a quaternion with the scalar first, or nine, a rotation
 * matrix by rows; both from the marker to the global frame), a signal port one. The causality of
 * the variables says what a port takes: where the force is an input the port takes a wrench,
 * where the motion is one it takes a motion. Quantities that the FMU does not have are found from
 * those that it has: by variables that it declares as their derivatives, by derivatives of
 * outputs where it offers them, else by differences over the step.
 *
 *   co-simulation    the FMU's own solver. Inputs that change within a step are given as a line where
 *                    the FMU interpolates (FMI 2) or asks for them (FMI 3, intermediate update), else
 *                    wrenches as their mean, motions and signals as their value at the end.
 *   model exchange   the Radau IIA method of order 5 with error control (math/stiff.h); state events
 *                    are located by bisection.
 *
 * Capabilities follow those of the FMU: rollback where its state can be read and set (as bytes
 * where it can be serialised, else as handles of the last 64 states), sensitivity where it has
 * directional derivatives by its states, events where it has event mode or model exchange. */
#ifndef YK_TRANSPORT_FMI_FMU_H
#define YK_TRANSPORT_FMI_FMU_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

enum {
    YK_FMU_POSITION,
    YK_FMU_ORIENTATION,
    YK_FMU_VELOCITY,
    YK_FMU_ANGULAR_VELOCITY,
    YK_FMU_ACCELERATION,
    YK_FMU_ANGULAR_ACCELERATION,
    YK_FMU_FORCE,
    YK_FMU_TORQUE,
    YK_FMU_SIGNAL, /* of signal ports */
    YK_FMU_QUANTITIES
};

enum { YK_FMU_COMPONENTS_MAX = 9 };

/* The words of the quantities, "position" and so on. */
extern const char *const yk_fmu_quantity_names[YK_FMU_QUANTITIES];

/* Variables of one quantity: one per component, or one for all, an array (or the stem of name[1],
 * name[2], ...). "0" stands for a component that is always zero. */
typedef struct yk_fmu_variables {
    int count;
    const char *names[YK_FMU_COMPONENTS_MAX];
} yk_fmu_variables;

typedef struct yk_fmu_port_def {
    const char *name;
    yk_port_kind kind;
    /* Of FMI 3: quantities by the members of this terminal; NULL: by the variables below. */
    const char *terminal;
    yk_fmu_variables quantities[YK_FMU_QUANTITIES];
    /* The force that the FMU gives is that on its partner, not on itself. */
    bool reaction;
} yk_fmu_port_def;

/* A value of a variable before the start. */
typedef struct yk_fmu_setting {
    const char *variable;
    const double *values; /* as many as the variable has elements */
    int count;
    const char *text; /* of variables of type String instead; NULL: values */
} yk_fmu_setting;

typedef struct yk_fmu_def {
    const char *file;
    const char *name; /* of the instance */
    enum {
        YK_FMU_AUTO, /* co-simulation where the FMU has it */
        YK_FMU_CO_SIMULATION,
        YK_FMU_MODEL_EXCHANGE
    } kind;
    const yk_fmu_port_def *ports;
    int port_count; /* 0: terminals, and a signal port for each other input and output */
    const yk_fmu_setting *settings;
    int setting_count;
    const char *const *channels; /* variables to be recorded besides the outputs */
    int channel_count;
    /* Longest step of the FMU, s; 0: co-simulation makes one step per macro step, and the error
     * control chooses the steps of model exchange. */
    double step;
    /* Relative tolerance of the solver. 0: co-simulation uses the FMU's own, model exchange that of
     * the FMU's default experiment, or 1e-8. */
    double tolerance;
    /* Model exchange: absolute tolerance of each state, relative to its nominal value. 0: a hundredth
     * of the relative tolerance, as FMI recommends. */
    double absolute_tolerance;
    bool logging;     /* what the FMU logs goes to the context's log, not only warnings */
    bool derivatives; /* directional derivatives are used where the FMU has them */
    /* The FMU runs in a child process: when it crashes, or a call takes longer than the deadline
     * (s), the step fails with a message that names it, and nothing else is lost. */
    bool child;
    double deadline;
    const char *folder; /* where the file has been unpacked already; NULL: it is unpacked */
} yk_fmu_def;

yk_fmu_def yk_fmu_default(void);

/* The FMU whose code the calling thread is in, and the function of it; NULL: in none. For signal
 * handlers that report a crash: they read memory of the thread only. */
const char *yk_fmu_running_file(void);
const char *yk_fmu_running_function(void);

yk_status yk_fmu_create(yk_context *context, const yk_fmu_def *def, yk_subsystem **fmu);

#endif
