/* The options of controllers. */
#include "physics/options.h"
#include "yoke/control.h"

static const yk_option_choice form_words[] = {
    {"value", "the command is offset + P e + I ∫e + D e'"},
    {"rate", "the command's rate is P e + I ∫e + D e', from the offset on"},
    {NULL, NULL},
};
static const yk_option point_item = {"points", YK_OPTION_NUMBERS, .min_count = 2, .max_count = 2,
                                     .description = "time (s) and value"};

static const yk_option loop_fields[] = {
    {"reference", YK_OPTION_FUNCTION, YK_MEMBER(yk_control_loop_def, reference),
     .default_text = "0", .description = "what the measured signal is to be"},
    {"reference_table", YK_OPTION_LIST, .min_count = 1, .item = &point_item,
     .description =
         "the reference by points [time, value] instead, with straight lines between them; "
         "two points at one time are a jump"},
    {"output", YK_OPTION_CHOICE, YK_MEMBER(yk_control_loop_def, output), .default_text = "value",
     .choices = form_words, .description = "what the gains act on"},
    {"proportional", YK_OPTION_NUMBER, YK_MEMBER(yk_control_loop_def, proportional),
     .default_text = "0", .description = "P, on the error e = reference - measured"},
    {"integral", YK_OPTION_NUMBER, YK_MEMBER(yk_control_loop_def, integral), .default_text = "0",
     .description = "I, on its integral"},
    {"derivative", YK_OPTION_NUMBER, YK_MEMBER(yk_control_loop_def, derivative),
     .default_text = "0", .description = "D, on its derivative"},
    {"derivative_filter", YK_OPTION_NUMBER, "s", "0",
     YK_MEMBER(yk_control_loop_def, derivative_filter), .range = YK_NOT_NEGATIVE,
     .description = "time constant that smooths the derivative; 0: none"},
    {"command_offset", YK_OPTION_NUMBER, YK_MEMBER(yk_control_loop_def, command_offset),
     .default_text = "0",
     .description = "command without error; of output rate: command at the start"},
    {"command_limits", YK_OPTION_NUMBERS, .min_count = 2, .max_count = 2,
     .description = "least and largest command"},
    {"max_command_rate", YK_OPTION_NUMBER, "1/s", YK_MEMBER(yk_control_loop_def, max_command_rate),
     .range = YK_POSITIVE, .description = "fastest change of the command"},
    {0},
};
const yk_option_section yk_control_loop_options = {
    "loop", "A measured signal, its reference and the command that follows.", loop_fields};
static const yk_option loop_item = {"loop", YK_OPTION_SECTION, .section = &yk_control_loop_options,
                                    .description = ""};

static const yk_option fields[] = {
    {"loops", YK_OPTION_NAMED, .required = true, .min_count = 1, .item = &loop_item,
     .description = "any number of them"},
    {"sample_period", YK_OPTION_NUMBER, "s", "0", YK_MEMBER(yk_control_def, sample_period),
     .range = YK_NOT_NEGATIVE,
     .description = "between samples; 0: the signals are followed continuously"},
    {"max_step", YK_OPTION_NUMBER, "s", "auto", YK_MEMBER(yk_control_def, max_step),
     .accepts_auto = true, .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
     .description = "longest own step of a continuous controller; "
                    "0: one in each that the coupling asks for"},
    {0},
};

const yk_option_section yk_control_options = {
    "control",
    "PID control with limits; integrals do not wind up. "
    "Ports of a loop NAME, all signals: "
    "it gives `NAME` and takes `NAME.measured`, "
    "`NAME.rate` (derivative of what is measured, if there is a wire) "
    "and `NAME.reference` (if there is a wire, instead of the key). "
    "Channels: `NAME.error`, `NAME.integral`, `NAME.command_limited_time` since the start. "
    "A wire from a controller with a period should be held.",
    fields};
