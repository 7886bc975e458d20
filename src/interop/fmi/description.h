/* Model descriptions of FMUs: modelDescription.xml of FMI 2.0 and 3.0, and the terminals of
 * terminalsAndIcons.xml.
 *
 * Both versions have the same struct. Integer and Real of FMI 2 are Int32 and Float64 here. A
 * variable of FMI 2 has one element; an array of FMI 3 has the number of elements that its
 * dimensions give with the start values of the structural parameters. Units of declared types
 * are resolved. */
#ifndef YK_TRANSPORT_FMI_DESCRIPTION_H
#define YK_TRANSPORT_FMI_DESCRIPTION_H

#include "base/context.h"

/* X(enumerator, name in messages) */
#define YK_FMI_TYPE_LIST(X)       \
    X(FLOAT64, "Float64")         \
    X(FLOAT32, "Float32")         \
    X(INT8, "Int8")               \
    X(UINT8, "UInt8")             \
    X(INT16, "Int16")             \
    X(UINT16, "UInt16")           \
    X(INT32, "Int32")             \
    X(UINT32, "UInt32")           \
    X(INT64, "Int64")             \
    X(UINT64, "UInt64")           \
    X(ENUMERATION, "Enumeration") \
    X(BOOLEAN, "Boolean")         \
    X(STRING, "String")           \
    X(BINARY, "Binary")           \
    X(CLOCK, "Clock")

typedef enum yk_fmi_type {
#define YK_FMI_TYPE_ENUM(name, text) YK_FMI_##name,
    YK_FMI_TYPE_LIST(YK_FMI_TYPE_ENUM)
#undef YK_FMI_TYPE_ENUM
        YK_FMI_TYPE_COUNT
} yk_fmi_type;

/* The element of an annotation for properties that the standard does not have. */
#define YK_FMI_ANNOTATION "YokeSubsystem"

typedef enum yk_fmi_causality {
    YK_FMI_LOCAL,
    YK_FMI_INPUT,
    YK_FMI_OUTPUT,
    YK_FMI_PARAMETER,
    YK_FMI_CALCULATED_PARAMETER,
    YK_FMI_STRUCTURAL_PARAMETER,
    YK_FMI_INDEPENDENT,
    YK_FMI_CAUSALITY_COUNT
} yk_fmi_causality;

typedef struct yk_fmi_variable {
    const char *name;
    const char *description; /* "" if absent, like the other texts. */
    const char *unit;
    const char *start;
    uint32_t reference;
    yk_fmi_type type;
    yk_fmi_causality causality;
    const char *variability; /* "continuous", ... */
    int size;                /* Number of elements. */
    int derivative_of;       /* Index of the variable of which this is the derivative; -1: none. */
    /* Of an output: the variables on which it depends, by index from 1 (FMI 2) or by reference
     * (FMI 3), separated by spaces; NULL: all. */
    const char *dependencies;
    bool intermediate;  /* May be set or read within a step (FMI 3). */
    const char *clocks; /* References of its clocks, separated by spaces. */
    const char *ticks;  /* Of a clock: "constant", "triggered", ... */
    double interval;    /* Of a clock (s); 0: not given. */
    double shift;       /* Of a clock (s). */
} yk_fmi_variable;

/* Capabilities of one of the two interface types. */
typedef struct yk_fmi_capabilities {
    const char
        *identifier; /* Name of the binary; NULL: the FMU does not have this interface type. */
    bool needs_tool; /* The FMU is only a connection to a program that must be installed. */
    bool variable_step;
    bool interpolates_inputs;   /* FMI 2: uses derivatives of inputs. */
    int output_derivatives;     /* Largest order of derivatives of outputs. */
    bool state;                 /* Get and set. */
    bool serialises;            /* State as bytes. */
    bool directional;           /* Directional derivatives. */
    bool adjoint;               /* Adjoint derivatives. */
    bool event_mode;            /* FMI 3 co-simulation. */
    bool early_return;          /* May end a step early. */
    bool intermediate_update;   /* FMI 3 co-simulation. */
    bool completed_step_unused; /* completedIntegratorStep need not be called. */
    double internal_step;       /* s; 0: not given */
} yk_fmi_capabilities;

typedef struct yk_fmi_member {
    const char *name; /* Of the member within the terminal. */
    const char *variable;
    const char *kind; /* "signal", "inflow", "outflow" */
} yk_fmi_member;

typedef struct yk_fmi_terminal {
    const char *name; /* Of a nested terminal: "outer.inner". */
    const char *kind;
    int first_member, member_count;
} yk_fmi_terminal;

typedef struct yk_fmi_description {
    int version; /* 2 or 3 */
    const char *version_text;
    const char *model_name;
    const char *description;
    const char *tool;
    const char *token; /* GUID of FMI 2. */
    yk_fmi_capabilities co_simulation;
    yk_fmi_capabilities model_exchange;
    bool scheduled;                                     /* Has scheduled execution. */
    double start_time, stop_time, step_size, tolerance; /* Of the default experiment; NaN: none. */
    int variable_count;
    yk_fmi_variable *variables;
    int state_count; /* Continuous states: indices of their derivatives and of themselves. */
    int *derivatives;
    int *states;
    /* Of a subsystem that Yoke exported: largest degree of inputs that its steps follow, -1:
     * another FMU; and, if directional derivatives are those of its last step, the number k such
     * that the reference of an input plus k i stands for the coefficient of t^i, otherwise 0. */
    int input_degree;
    uint32_t derivative_stride;
    int indicator_count; /* FMI 2: number of event indicators. */
    int terminal_count;
    yk_fmi_terminal *terminals;
    yk_fmi_member *members;
    yk_store store; /* Memory of the texts. */
} yk_fmi_description;

/* Reads the description of an unpacked FMU. `file` is the name of the FMU in messages. */
yk_status yk_fmi_describe(yk_context *context, const char *folder, const char *file,
                          yk_fmi_description *description);
void yk_fmi_forget(yk_context *context, yk_fmi_description *description);

const char *yk_fmi_type_name(yk_fmi_type type);
const char *yk_fmi_causality_name(yk_fmi_causality causality);

/* Whether values of the type are numbers or booleans, which a signal can carry. */
bool yk_fmi_type_is_number(yk_fmi_type type);

/* Index of the variable with this name; -1: not found. */
int yk_fmi_find(const yk_fmi_description *description, const char *name);
/* "Did you mean 'x'?", or "". */
const char *yk_fmi_suggest(const yk_fmi_description *description, const char *name,
                           char buffer[160]);
/* Whether the model structure lets an output depend on an input without delay. */
bool yk_fmi_depends(const yk_fmi_description *description, int output, int input);
/* Index of the variable that is the derivative of another; -1: none. */
int yk_fmi_derivative_of(const yk_fmi_description *description, int variable);
int yk_fmi_find_terminal(const yk_fmi_description *description, const char *name);

/* A unit in the form of FMI: its name, and the attributes of <BaseUnit>. */
typedef struct yk_fmi_unit {
    const char *ours, *name, *base;
} yk_fmi_unit;
enum { YK_FMI_UNITS = 19 };
extern const yk_fmi_unit yk_fmi_units[YK_FMI_UNITS];
/* The unit in the form of Yoke; the name itself if the unit is unknown. */
const char *yk_fmi_unit_ours(const char *name);
/* NULL: the unit is unknown. */
const char *yk_fmi_unit_base(const char *name);

#endif
