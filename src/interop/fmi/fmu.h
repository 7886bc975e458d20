/* FMUs as subsystems: FMI 2.0 and 3.0, co-simulation and model exchange.
 *
 * Ports consist of variables of the FMU. A scalar port has one variable per quantity and a
 * signal port has one. A marker port has three variables per quantity; its orientation has four
 * (a quaternion with the scalar first) or nine (a rotation matrix by rows), both from the marker
 * to the global frame. The causality of the variables defines that of the port: if the force is
 * an input, the port receives a wrench; if the motion is an input, it receives a motion.
 * Quantities that the FMU does not have are computed from others: from variables that are
 * declared as their derivatives, from derivatives of outputs if the FMU offers them, otherwise
 * from differences over the step.
 *
 *     co-simulation     The solver of the FMU. Inputs that change within a step are linear if the FMU
 *                       interpolates (FMI 2) or asks for them (FMI 3, intermediate update). Otherwise
 *                       wrenches have their mean, motions and signals their value at the end.
 *     model exchange    The Radau IIA method of order 5 with error control (math/stiff.h). State events
 *                       are located by bisection.
 *
 * Capabilities depend on the FMU: rollback if its state can be read and set (as bytes if it can
 * be serialized, otherwise as handles of the last 64 states), sensitivity if it has directional
 * derivatives with respect to its states, events if it has event mode or model exchange. */
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
    YK_FMU_SIGNAL, /* Of signal ports. */
    YK_FMU_QUANTITIES
};

enum { YK_FMU_COMPONENTS_MAX = 9 };

/* Names of the quantities: "position", ... */
extern const char *const yk_fmu_quantity_names[YK_FMU_QUANTITIES];

/* Variables of one quantity: one per component, or one for all components, which is an array or
 * the stem of name[1], name[2], ... "0" is a component that is always zero. */
typedef struct yk_fmu_variables {
    int count;
    const char *names[YK_FMU_COMPONENTS_MAX];
} yk_fmu_variables;

typedef struct yk_fmu_port_def {
    const char *name;
    yk_port_kind kind;
    /* FMI 3: the quantities are the members of this terminal; NULL: the variables below. */
    const char *terminal;
    yk_fmu_variables quantities[YK_FMU_QUANTITIES];
    /* The force of the FMU is the force on its partner, not on itself. */
    bool reaction;
} yk_fmu_port_def;

/* Value of a variable before the initialization. */
typedef struct yk_fmu_setting {
    const char *variable;
    const double *values; /* As many values as the variable has elements. */
    int count;
    const char *text; /* Of variables of type String; NULL: values. */
} yk_fmu_setting;

typedef struct yk_fmu_def {
    const char *file;
    const char *name; /* Of the instance. */
    enum {
        YK_FMU_AUTO, /* Co-simulation if the FMU has it. */
        YK_FMU_CO_SIMULATION,
        YK_FMU_MODEL_EXCHANGE
    } kind;
    const yk_fmu_port_def *ports;
    int port_count; /* 0: terminals, and a signal port for each other input and output. */
    const yk_fmu_setting *settings;
    int setting_count;
    const char *const *channels; /* Variables to record in addition to the outputs. */
    int channel_count;
    /* Largest step of the FMU (s). 0: co-simulation makes one step per macro step, and the error
     * control selects the steps of model exchange. */
    double step;
    /* Relative tolerance of the solver. 0: co-simulation uses that of the FMU, model exchange
     * that of the default experiment or 1e-8. */
    double tolerance;
    /* Model exchange: absolute tolerance of each state, relative to its nominal value. 0: one
     * hundredth of the relative tolerance, as FMI recommends. */
    double absolute_tolerance;
    bool
        logging; /* Everything that the FMU logs goes to the log of the context, not only warnings. */
    bool derivatives; /* Use directional derivatives if the FMU has them. */
    /* Run the FMU in a child process. If it crashes, or if a call takes longer than the timeout
     * (s), the step fails with a message that names the FMU, and the run keeps its results. */
    bool child;
    double deadline;
    const char *folder; /* Folder of the unpacked FMU; NULL: the file is unpacked. */
} yk_fmu_def;

yk_fmu_def yk_fmu_default(void);

/* The FMU whose code the calling thread runs, and the function; NULL: none. For signal handlers
 * that report a crash: they read memory of the thread only. */
const char *yk_fmu_running_file(void);
const char *yk_fmu_running_function(void);

yk_status yk_fmu_create(yk_context *context, const yk_fmu_def *def, yk_subsystem **fmu);

#endif
