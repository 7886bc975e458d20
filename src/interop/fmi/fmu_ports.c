/* Ports of an FMU from its variables: assigns variables to components of quantities, and converts
 * inputs of ports to values of the FMU and back. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/text.h"
#include "interop/fmi/fmu_internal.h"
#include "math/polynomial.h"
#include "math/so3.h"

const char *const yk_fmu_quantity_names[YK_FMU_QUANTITIES] = {
    "position",     "orientation",          "velocity", "angular_velocity",
    "acceleration", "angular_acceleration", "force",    "torque",
    "signal"};

/* Components of a marker's quantities; an orientation may also have nine. */
static const int marker_size[YK_FMU_QUANTITIES] = {3, 4, 3, 3, 3, 3, 3, 3, 0};

static bool is_wrench(int quantity)
{
    return quantity == YK_FMU_FORCE || quantity == YK_FMU_TORQUE;
}

/* Lists ---------------------------------------------------------------------------------------- */

/* Index of a variable in a list, by its reference in the FMU: a reference may have several names.
 * -1: not found. */
static int list_find(const yk_fmu *self, const yk_fmu_list *list, int variable)
{
    const yk_fmi_variable *all = self->description.variables;
    const yk_fmi_variable *wanted = &all[variable];

    for (int i = 0; i < list->count; i++) {
        const yk_fmi_variable *v = &all[list->variables[i]];
        if (v->reference == wanted->reference && v->type == wanted->type)
            return i;
    }

    return -1;
}

/* Puts a variable into a list unless it is there already. */
static yk_status list_add(yk_fmu *self, yk_fmu_list *list, int variable)
{
    /* Two ports may name one variable; an alias is the same value too. */
    if (list_find(self, list, variable) >= 0)
        return YK_OK;

    if (list->count == list->capacity) {
        int capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        int *grown = yk_reallocate(self->context, list->variables, (size_t)capacity, sizeof *grown);
        if (!grown)
            return YK_ERROR_MEMORY;

        list->variables = grown;
        list->capacity = capacity;
    }

    list->variables[list->count++] = variable;
    return YK_OK;
}

/* The order of the variables in the list and their values; `more` values follow them. */
static yk_status list_lay_out(yk_fmu *self, yk_fmu_list *list, int more)
{
    const yk_fmi_variable *all = self->description.variables;
    yk_context *context = self->context;
    size_t count = (size_t)list->count + 1;
    list->references = yk_allocate(context, count, sizeof *list->references);
    list->first = yk_allocate(context, count, sizeof *list->first);
    int *ordered = yk_allocate(context, count, sizeof *ordered);

    if (!list->references || !list->first || !ordered) {
        yk_free(context, ordered);
        return YK_ERROR_MEMORY;
    }

    /* Continuous variables of type Float64 first: they are set and read in one call. */
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < list->count; i++) {
            const yk_fmi_variable *v = &all[list->variables[i]];
            bool continuous = v->type == YK_FMI_FLOAT64 && strcmp(v->variability, "discrete") != 0;

            if (continuous == (pass == 0))
                ordered[n++] = list->variables[i];
        }

        if (pass == 0)
            list->real_count = n;
    }

    yk_free(context, list->variables);
    list->variables = ordered;

    /* Arrays have several values each. */
    for (int i = 0; i < list->count; i++) {
        const yk_fmi_variable *v = &all[ordered[i]];
        list->references[i] = v->reference;
        list->first[i] = list->value_count;
        list->value_count += v->size;

        if (i < list->real_count)
            list->real_values = list->value_count;
    }

    size_t values = (size_t)(list->value_count + more) + 1;
    list->values = yk_allocate(context, values, sizeof *list->values);
    if (!list->values)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

/* Names ---------------------------------------------------------------------------------------- */

/* The components of a quantity as named: each a variable and an element of it. */
typedef struct quantity_map {
    int count;
    struct {
        int variable; /* -1: always zero */
        int element;
    } parts[YK_FMU_COMPONENTS_MAX];
} quantity_map;

/* A name of a variable, or of one element of an array of FMI 3, as name[2]. */
static bool find_component(const yk_fmi_description *d, const char *name, int *found, int *part)
{
    /* In FMI 2 "name[2]" is a variable of its own. */
    *found = yk_fmi_find(d, name);
    *part = 0;
    if (*found >= 0)
        return true;

    /* "name[2]", counted from 1. */
    const char *bracket = strrchr(name, '[');
    char stem[300];
    if (!bracket || (size_t)(bracket - name) >= sizeof stem)
        return false;

    char *end;
    long element = strtol(bracket + 1, &end, 10);
    if (end == bracket + 1 || strcmp(end, "]") != 0)
        return false;

    snprintf(stem, sizeof stem, "%.*s", (int)(bracket - name), name);
    int variable = yk_fmi_find(d, stem);
    if (variable < 0 || element < 1 || element > d->variables[variable].size)
        return false;

    *found = variable;
    *part = (int)element - 1;
    return true;
}

static yk_status refuse_name(yk_fmu *self, const char *port, int quantity, const char *name)
{
    char hint[160];
    return yk_fail(self->context, YK_ERROR_INPUT, "%s: port '%s': %s: there is no variable '%s'%s",
                   self->file, port, yk_fmu_quantity_names[quantity], name,
                   yk_fmi_suggest(&self->description, name, hint));
}

/* The variables of one quantity of a port, each checked. */
static yk_status map_quantity(yk_fmu *self, const yk_fmu_port_def *port, int quantity,
                              quantity_map *map)
{
    const yk_fmi_description *d = &self->description;
    const yk_fmu_variables *names = &port->quantities[quantity];
    const char *word = yk_fmu_quantity_names[quantity];
    bool signal = port->kind == YK_PORT_SIGNAL;
    map->count = 0;

    if (names->count == 0)
        return YK_OK;

    /* How many components the quantity has. */
    int wanted = 1;
    if (port->kind == YK_PORT_MARKER)
        wanted = marker_size[quantity];

    if (names->count == 1 && wanted > 1) {
        /* One name for all components: an array, or the stem of name[1], name[2], ... */
        const char *name = names->names[0];
        int array = yk_fmi_find(d, name);
        int size = 0;

        if (array >= 0)
            size = d->variables[array].size;
        if (quantity == YK_FMU_ORIENTATION && size == 9)
            wanted = 9;

        for (int i = 0; i < wanted; i++) {
            map->parts[i].variable = array;
            map->parts[i].element = i;
            map->count++;
            if (array >= 0 && size == wanted)
                continue;

            /* No array of that size: the elements are variables of their own, as in FMI 2. */
            char element[320];
            snprintf(element, sizeof element, "%.300s[%d]", name, i + 1);
            if (find_component(d, element, &map->parts[i].variable, &map->parts[i].element))
                continue;
            if (array < 0)
                return refuse_name(self, port->name, quantity, name);

            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: port '%s': %s: '%s' has %d element%s, expected %d", self->file,
                           port->name, word, name, size, size == 1 ? "" : "s", wanted);
        }
    } else {
        /* One name per component; an orientation may be a matrix. */
        bool matrix = quantity == YK_FMU_ORIENTATION && names->count == 9;

        if (names->count != wanted && !matrix)
            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: port '%s': %s has %d variables, expected %d%s", self->file,
                           port->name, word, names->count, wanted,
                           quantity == YK_FMU_ORIENTATION ? " or 9" : "");

        /* "0" is a component that is always zero. */
        for (int i = 0; i < names->count; i++) {
            int *variable = &map->parts[i].variable;
            int *element = &map->parts[i].element;
            *variable = -1;
            *element = 0;
            map->count++;

            bool zero = strcmp(names->names[i], "0") == 0;
            if (!zero && !find_component(d, names->names[i], variable, element))
                return refuse_name(self, port->name, quantity, names->names[i]);
        }
    }

    /* Quantities with power are real numbers. */
    for (int i = 0; i < map->count; i++) {
        if (map->parts[i].variable < 0)
            continue;

        const yk_fmi_variable *v = &d->variables[map->parts[i].variable];
        bool usable = v->type == YK_FMI_FLOAT64 || (signal && yk_fmi_type_is_number(v->type));

        if (!usable)
            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: port '%s': %s: the variable '%s' is of type %s, expected %s",
                           self->file, port->name, word, v->name, yk_fmi_type_name(v->type),
                           signal ? "a number" : "Float64 (Real)");
    }

    return YK_OK;
}

/* Terminals ------------------------------------------------------------------------------------ */

/* Names of members other than our own: those of Modelica's flanges and frames. */
static const struct {
    const char *member;
    int quantity;
} member_names[] = {
    {"s", YK_FMU_POSITION}, {"phi", YK_FMU_POSITION},   {"v", YK_FMU_VELOCITY},
    {"w", YK_FMU_VELOCITY}, {"omega", YK_FMU_VELOCITY}, {"a", YK_FMU_ACCELERATION},
    {"f", YK_FMU_FORCE},    {"tau", YK_FMU_FORCE},      {"r_0", YK_FMU_POSITION},
    {"t", YK_FMU_TORQUE},   {"signal", YK_FMU_SIGNAL},
};

/* The quantity of a member and its component from 0, or -1 for all of them: "force", "force.x",
 * "position[2]". False: the member is unknown. */
static bool read_member(const char *name, int *quantity, int *element)
{
    /* Our own word for the quantity, or Modelica's. */
    size_t length = strcspn(name, ".[");
    *quantity = -1;
    for (int i = 0; i < YK_FMU_QUANTITIES; i++)
        if (strlen(yk_fmu_quantity_names[i]) == length &&
            strncmp(name, yk_fmu_quantity_names[i], length) == 0)
            *quantity = i;

    for (size_t i = 0; i < sizeof member_names / sizeof *member_names && *quantity < 0; i++)
        if (strlen(member_names[i].member) == length &&
            strncmp(name, member_names[i].member, length) == 0)
            *quantity = member_names[i].quantity;

    if (*quantity < 0)
        return false;

    /* All of it, or one component by its number or its letter. */
    *element = -1;
    if (name[length] == '[') {
        char *end;
        long number = strtol(name + length + 1, &end, 10);
        if (strcmp(end, "]") != 0 || number < 1 || number > 9)
            return false;

        *element = (int)number - 1;
        return true;
    }
    if (name[length] == '\0')
        return true;

    /* ".x" and the like; a quaternion begins with its scalar part. */
    const char *letters = "xyz";
    if (*quantity == YK_FMU_ORIENTATION)
        letters = "wxyz";
    const char *letter = name + length + 1;
    const char *found = NULL;
    if (letter[0] && !letter[1])
        found = strchr(letters, letter[0]);
    if (!found)
        return false;

    *element = (int)(found - letters);
    return true;
}

/* Converts the members of a terminal to variables of quantities; the port is a marker if a member
 * has components. */
static yk_status read_terminal(yk_fmu *self, yk_fmu_port_def *port)
{
    const yk_fmi_description *d = &self->description;
    int index = yk_fmi_find_terminal(d, port->terminal);
    if (index < 0)
        return yk_fail(self->context, YK_ERROR_INPUT,
                       "%s: port '%s': there is no terminal '%s'; the FMU has %d terminal%s",
                       self->file, port->name, port->terminal, d->terminal_count,
                       d->terminal_count == 1 ? "" : "s");

    /* Unknown members are ignored. */
    const yk_fmi_terminal *terminal = &d->terminals[index];
    const yk_fmi_member *members = &d->members[terminal->first_member];
    port->kind = YK_PORT_SCALAR;
    for (int i = 0; i < terminal->member_count; i++) {
        int quantity;
        int element;

        if (!read_member(members[i].name, &quantity, &element))
            continue;

        /* A member for the whole quantity; it may be an array. */
        yk_fmu_variables *to = &port->quantities[quantity];
        if (element < 0) {
            int variable = yk_fmi_find(d, members[i].variable);

            if (variable >= 0 && d->variables[variable].size > 1)
                port->kind = YK_PORT_MARKER;
            to->count = 1;
            to->names[0] = members[i].variable;
            continue;
        }

        /* One component: previous ones are zero until they are found. */
        port->kind = YK_PORT_MARKER;
        while (to->count <= element)
            to->names[to->count++] = "0";
        to->names[element] = members[i].variable;
    }

    /* Components of a marker without a member are zero. */
    for (int q = 0; q < YK_FMU_QUANTITIES && port->kind == YK_PORT_MARKER; q++) {
        yk_fmu_variables *to = &port->quantities[q];
        while (to->count > 1 && to->count < marker_size[q])
            to->names[to->count++] = "0";
    }

    /* One that carries a signal has no power. */
    if (port->quantities[YK_FMU_SIGNAL].count > 0)
        port->kind = YK_PORT_SIGNAL;
    return YK_OK;
}

/* One port ------------------------------------------------------------------------------------- */

/* The causality of the port, from those of its variables. */
static yk_status decide(yk_fmu *self, const yk_fmu_port_def *def, const quantity_map *maps,
                        yk_fmu_port *port)
{
    int given[2][2] = {{0, 0}, {0, 0}}; /* [is a wrench][is an input] */
    int signals[2] = {0, 0};

    /* The variables of a quantity are all inputs, or none is. */
    for (int q = 0; q < YK_FMU_QUANTITIES; q++) {
        int inputs = 0;
        int others = 0;

        for (int i = 0; i < maps[q].count; i++) {
            int variable = maps[q].parts[i].variable;
            if (variable < 0)
                continue;

            if (self->description.variables[variable].causality == YK_FMI_INPUT)
                inputs++;
            else
                others++;
        }

        if (inputs > 0 && others > 0)
            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: port '%s': %s: some of its variables are inputs and others are not",
                           self->file, def->name, yk_fmu_quantity_names[q]);

        if (maps[q].count > 0 && q == YK_FMU_SIGNAL)
            signals[inputs > 0]++;
        else if (maps[q].count > 0)
            given[is_wrench(q)][inputs > 0]++;
    }

    /* A signal has only a direction. */
    if (def->kind == YK_PORT_SIGNAL) {
        if (signals[0] + signals[1] == 0)
            return yk_fail(self->context, YK_ERROR_INPUT, "%s: port '%s' names no variable",
                           self->file, def->name);

        port->takes = signals[1] ? YK_CAUSALITY_SIGNAL_INPUT : YK_CAUSALITY_SIGNAL_OUTPUT;
        return YK_OK;
    }

    /* One side of the power must be an input, the other one not. */
    bool takes_wrench = given[1][1] > 0 && given[1][0] == 0 && given[0][1] == 0;
    bool takes_motion = given[0][1] > 0 && given[0][0] == 0 && given[1][1] == 0;
    if (!takes_wrench && !takes_motion)
        return yk_fail(self->context, YK_ERROR_INPUT,
                       "%s: port '%s' needs either a force that is an input and a motion that is "
                       "not, or a motion that is an input and a force that is not",
                       self->file, def->name);

    /* The required outputs of the port. */
    port->takes = takes_wrench ? YK_CAUSALITY_WRENCH_INPUT : YK_CAUSALITY_MOTION_INPUT;
    if (takes_wrench && maps[YK_FMU_POSITION].count == 0)
        return yk_fail(self->context, YK_ERROR_INPUT,
                       "%s: port '%s' has no variable for its position", self->file, def->name);
    if (takes_motion && given[1][0] == 0)
        return yk_fail(self->context, YK_ERROR_INPUT, "%s: port '%s' has no variable for its force",
                       self->file, def->name);

    /* Without it the power of a torque is unknown. */
    if (def->kind == YK_PORT_MARKER && takes_wrench && maps[YK_FMU_ORIENTATION].count > 0 &&
        maps[YK_FMU_ANGULAR_VELOCITY].count == 0)
        return yk_fail(self->context, YK_ERROR_INPUT,
                       "%s: port '%s' has an orientation and no angular_velocity", self->file,
                       def->name);
    return YK_OK;
}

static bool is_input(const yk_fmu_port *port, int quantity)
{
    if (quantity == YK_FMU_SIGNAL)
        return port->takes == YK_CAUSALITY_SIGNAL_INPUT;

    return is_wrench(quantity) == (port->takes == YK_CAUSALITY_WRENCH_INPUT);
}

/* Rates that a wrench port must return, and the quantities of which they are rates. */
static const int rate_of[][2] = {{YK_FMU_VELOCITY, YK_FMU_POSITION},
                                 {YK_FMU_ACCELERATION, YK_FMU_VELOCITY},
                                 {YK_FMU_ANGULAR_ACCELERATION, YK_FMU_ANGULAR_VELOCITY}};
enum { RATE_ROWS = sizeof rate_of / sizeof *rate_of };

/* Reads the terminal of a port, if it has one, finds its variables and determines its causality. */
static yk_status map_port(yk_fmu *self, yk_fmu_port_def *port, quantity_map maps[YK_FMU_QUANTITIES],
                          yk_fmu_port *to)
{
    /* Names first, because the kind of a port follows from its variables. */
    yk_status status = YK_OK;
    if (port->terminal)
        status = read_terminal(self, port);
    for (int q = 0; q < YK_FMU_QUANTITIES && status == YK_OK; q++)
        status = map_quantity(self, port, q, &maps[q]);

    if (status == YK_OK)
        status = decide(self, port, maps, to);
    if (status != YK_OK || to->takes != YK_CAUSALITY_WRENCH_INPUT)
        return status;

    /* Rates that are missing, from variables that the FMU declares as derivatives. */
    for (int row = 0; row < RATE_ROWS; row++) {
        quantity_map *rate = &maps[rate_of[row][0]];
        const quantity_map *of = &maps[rate_of[row][1]];
        if (rate->count > 0 || of->count == 0)
            continue;

        /* All components of a rate, or none. */
        quantity_map found = {.count = of->count};
        bool all = true;
        for (int i = 0; i < of->count && all; i++) {
            found.parts[i] = of->parts[i];
            if (of->parts[i].variable < 0)
                continue;

            int variable = yk_fmi_derivative_of(&self->description, of->parts[i].variable);
            found.parts[i].variable = variable;
            all = variable >= 0;
        }

        if (all)
            *rate = found;
    }

    return YK_OK;
}

/* All ports ------------------------------------------------------------------------------------ */

/* The default ports of an FMU: terminals, then every other input and output. */
static yk_status default_ports(yk_fmu *self, yk_fmu_port_def **made, int *count)
{
    const yk_fmi_description *d = &self->description;
    size_t most = (size_t)d->terminal_count + (size_t)d->variable_count + 1;
    yk_fmu_port_def *list = yk_allocate(self->context, most, sizeof *list);
    if (!list)
        return YK_ERROR_MEMORY;

    /* Terminals with another meaning, such as buses, are left to the user. */
    int n = 0;
    for (int i = 0; i < d->terminal_count; i++) {
        const char *name = d->terminals[i].name;
        yk_fmu_port_def port = {.name = name, .terminal = name};
        quantity_map maps[YK_FMU_QUANTITIES];
        yk_fmu_port trial = {0};

        /* A terminal that does not fit is not an error here, so nothing is reported. */
        yk_quiet_begin(self->context);
        bool usable = map_port(self, &port, maps, &trial) == YK_OK;
        yk_quiet_end(self->context);

        if (usable)
            list[n++] = port;
    }

    /* Inputs that belong to a terminal have one source already; outputs may be read twice. */
    int terminals = n;
    for (int i = 0; i < d->variable_count; i++) {
        const yk_fmi_variable *v = &d->variables[i];
        bool outside = v->causality == YK_FMI_INPUT || v->causality == YK_FMI_OUTPUT;
        if (!outside || !yk_fmi_type_is_number(v->type) || v->size != 1)
            continue;

        bool used = false;
        for (int k = 0; k < terminals && !used && v->causality == YK_FMI_INPUT; k++) {
            const yk_fmu_variables *quantities = list[k].quantities;
            for (int q = 0; q < YK_FMU_QUANTITIES; q++)
                for (int c = 0; c < quantities[q].count; c++)
                    used = used || strcmp(quantities[q].names[c], v->name) == 0;
        }

        if (used)
            continue;

        /* Power needs a force and a motion: a single variable is a signal. */
        list[n] = (yk_fmu_port_def){.name = v->name, .kind = YK_PORT_SIGNAL};
        list[n].quantities[YK_FMU_SIGNAL] = (yk_fmu_variables){1, {v->name}};
        n++;
    }

    *made = list;
    *count = n;
    return YK_OK;
}

/* FMI 3: ports all of whose inputs may be set within a step. */
static void find_asking_ports(yk_fmu *self)
{
    const yk_fmu_list *list = &self->inputs;

    /* One input that may not be set there limits the whole port. */
    for (int i = 0; i < self->port_count; i++) {
        yk_fmu_port *port = &self->maps[i];
        port->asks = self->instance->can->intermediate_update;

        for (int q = 0; q < YK_FMU_QUANTITIES; q++) {
            for (int c = 0; c < port->count[q] && is_input(port, q); c++) {
                for (int k = 0; k < list->count && port->at[q][c] >= 0; k++) {
                    const yk_fmi_variable *v = &self->description.variables[list->variables[k]];
                    int element = port->at[q][c] - list->first[k];

                    if (element >= 0 && element < v->size)
                        port->asks = port->asks && v->intermediate;
                }
            }
        }
    }
}

/* Lists of all variables of the ports, and the index of each component in their values. `maps` has
 * the quantities of all ports. */
static yk_status locate(yk_fmu *self, const quantity_map *maps)
{
    /* First collect the variables: several ports may name the same one. */
    for (int i = 0; i < self->port_count * YK_FMU_QUANTITIES; i++) {
        const yk_fmu_port *port = &self->maps[i / YK_FMU_QUANTITIES];
        yk_fmu_list *list = &self->outputs;
        if (is_input(port, i % YK_FMU_QUANTITIES))
            list = &self->inputs;

        for (int c = 0; c < maps[i].count; c++) {
            if (maps[i].parts[c].variable < 0)
                continue;

            yk_status status = list_add(self, list, maps[i].parts[c].variable);
            if (status != YK_OK)
                return status;
        }
    }

    /* Three rates of three components at most come after the outputs of each port. */
    int derived = self->port_count * 9;
    self->rates = yk_allocate(self->context, (size_t)derived + 1, sizeof *self->rates);
    if (!self->rates)
        return YK_ERROR_MEMORY;

    yk_status status = list_lay_out(self, &self->inputs, 0);
    if (status == YK_OK)
        status = list_lay_out(self, &self->outputs, derived);
    if (status != YK_OK)
        return status;

    /* Then the places of their values. */
    for (int i = 0; i < self->port_count * YK_FMU_QUANTITIES; i++) {
        int q = i % YK_FMU_QUANTITIES;
        yk_fmu_port *port = &self->maps[i / YK_FMU_QUANTITIES];
        const yk_fmu_list *list = is_input(port, q) ? &self->inputs : &self->outputs;

        port->count[q] = maps[i].count;
        for (int c = 0; c < maps[i].count; c++) {
            int variable = maps[i].parts[c].variable;
            port->at[q][c] = -1;
            if (variable >= 0)
                port->at[q][c] =
                    list->first[list_find(self, list, variable)] + maps[i].parts[c].element;
        }
    }

    return YK_OK;
}

/* Rates that are not variables: values after those of the outputs, from derivatives of outputs if
 * the FMU has them, otherwise from differences. */
static void add_rates(yk_fmu *self, yk_fmu_port *port)
{
    const yk_fmu_list *outputs = &self->outputs;
    bool can_ask = !self->instance->exchange && self->instance->can->output_derivatives >= 1;

    for (int row = 0; row < RATE_ROWS; row++) {
        int to = rate_of[row][0];
        int from = rate_of[row][1];
        if (port->count[to] > 0 || port->count[from] == 0)
            continue;

        /* The rate of a constant zero is zero, and needs no slot. */
        port->count[to] = port->count[from];
        for (int i = 0; i < port->count[from]; i++) {
            int source = port->at[from][i];
            port->at[to][i] = -1;
            if (source < 0)
                continue;

            int rate = self->rate_count++;
            int index = outputs->value_count + self->derived_count++;
            port->at[to][i] = index;
            self->rates[rate].to = index;
            self->rates[rate].from = source;

            /* The FMU provides rates of scalar outputs. */
            for (int k = 0; k < outputs->real_count && can_ask; k++) {
                const yk_fmi_variable *v = &self->description.variables[outputs->variables[k]];
                if (outputs->first[k] != source || v->size != 1 || v->causality != YK_FMI_OUTPUT)
                    continue;

                self->rates[rate].asked = true;
                self->rates[rate].reference = v->reference;
            }
        }
    }
}

yk_status yk_fmu_map_ports(yk_fmu *self, const yk_fmu_def *def)
{
    yk_context *context = self->context;
    const yk_fmu_port_def *ports = def->ports;
    yk_fmu_port_def *made = NULL;
    yk_status status = YK_OK;
    self->port_count = def->port_count;

    /* Without ports in the definition, those that the FMU suggests. */
    if (def->port_count == 0) {
        status = default_ports(self, &made, &self->port_count);
        ports = made;
    }

    size_t count = (size_t)self->port_count + 1;
    self->ports = yk_allocate(context, count, sizeof *self->ports);
    self->maps = yk_allocate(context, count, sizeof *self->maps);
    quantity_map *maps = yk_allocate(context, count * YK_FMU_QUANTITIES, sizeof *maps);
    if (status == YK_OK && (!self->ports || !self->maps || !maps))
        status = YK_ERROR_MEMORY;

    for (int i = 0; i < self->port_count && status == YK_OK; i++) {
        yk_fmu_port *to = &self->maps[i];
        yk_fmu_port_def port = ports[i];
        status = map_port(self, &port, maps + i * YK_FMU_QUANTITIES, to);
        if (status != YK_OK)
            break;

        /* A wrench may be defined as acting on the FMU or on its partner. */
        to->wrench_sign = port.reaction ? -1 : 1;
        char *name = yk_text_copy(context, port.name);
        self->ports[i] = (yk_port){name, port.kind, to->takes};
        if (!name)
            status = YK_ERROR_MEMORY;
    }

    /* Slots of all variables first; rates that are not variables follow. */
    if (status == YK_OK)
        status = locate(self, maps);

    for (int i = 0; i < self->port_count && status == YK_OK; i++)
        if (self->maps[i].takes == YK_CAUSALITY_WRENCH_INPUT)
            add_rates(self, &self->maps[i]);
    if (status == YK_OK)
        find_asking_ports(self);

    yk_free(context, maps);
    yk_free(context, made);
    return status;
}

/* Values --------------------------------------------------------------------------------------- */

static void put(yk_fmu *self, const yk_fmu_port *port, int quantity, const double *from)
{
    for (int i = 0; i < port->count[quantity]; i++)
        if (port->at[quantity][i] >= 0)
            self->inputs.values[port->at[quantity][i]] = from[i];
}

static void put_motion(yk_fmu *self, const yk_fmu_port *port, const yk_motion *motion)
{
    put(self, port, YK_FMU_POSITION, &motion->position.x);
    put(self, port, YK_FMU_VELOCITY, &motion->velocity.x);
    put(self, port, YK_FMU_ANGULAR_VELOCITY, &motion->angular_velocity.x);
    put(self, port, YK_FMU_ACCELERATION, &motion->acceleration.x);
    put(self, port, YK_FMU_ANGULAR_ACCELERATION, &motion->angular_acceleration.x);

    /* A quaternion with the scalar first, or a matrix by rows. */
    yk_quat o = motion->orientation;
    if (port->count[YK_FMU_ORIENTATION] == 4) {
        const double components[4] = {o.w, o.x, o.y, o.z};
        put(self, port, YK_FMU_ORIENTATION, components);
    } else if (port->count[YK_FMU_ORIENTATION] == 9) {
        yk_mat3 matrix = yk_q_matrix(o);
        put(self, port, YK_FMU_ORIENTATION, &matrix.m[0][0]);
    }
}

/* The mean of a wrench between two local times: of c_i t^i it is
 *
 *   c_i (to^(i+1) - from^(i+1)) / ((i + 1) (to - from)). */
static yk_wrench mean_wrench(const yk_input *input, yk_port_kind kind, double from, double to)
{
    /* Over no time at all the mean is the value. */
    if (from == to) {
        if (kind == YK_PORT_SCALAR)
            return (yk_wrench){.force.x = yk_input_scalar(input, to)};

        return yk_input_wrench(input, to);
    }

    /* The integral of each power of time, divided by the length of the interval. */
    yk_wrench mean = {{0, 0, 0}, {0, 0, 0}};
    double low = from;
    double high = to;

    for (int i = 0; i <= input->degree; i++) {
        double weight = (high - low) / ((i + 1) * (to - from));
        mean.force = yk_v3_axpy(weight, input->linear[i], mean.force);

        if (kind == YK_PORT_MARKER)
            mean.torque = yk_v3_axpy(weight, input->angular[i], mean.torque);

        low *= from;
        high *= to;
    }

    return mean;
}

static void fill_ports(yk_fmu *self, const yk_input *inputs, double from, double to, bool within)
{
    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        const yk_input *input = &inputs[i];
        yk_port_kind kind = self->ports[i].kind;
        bool scalar = kind == YK_PORT_SCALAR;
        if (!port->connected || (within && !port->asks))
            continue;

        /* A constant force, the most frequent input, needs no mean. */
        if (port->takes == YK_CAUSALITY_WRENCH_INPUT && scalar && input->degree == 0) {
            put(self, port, YK_FMU_FORCE, &input->linear[0].x);
        } else if (port->takes == YK_CAUSALITY_WRENCH_INPUT) {
            yk_wrench wrench = mean_wrench(input, kind, from, to);
            put(self, port, YK_FMU_FORCE, &wrench.force.x);
            put(self, port, YK_FMU_TORQUE, &wrench.torque.x);
        } else if (port->takes == YK_CAUSALITY_MOTION_INPUT && scalar) {
            /* The mean of a motion would lag: use its value at the end. */
            double position = yk_input_scalar(input, to);
            double velocity = yk_input_scalar_rate(input, to);
            double acceleration = yk_input_scalar_second_rate(input, to);
            put(self, port, YK_FMU_POSITION, &position);
            put(self, port, YK_FMU_VELOCITY, &velocity);
            put(self, port, YK_FMU_ACCELERATION, &acceleration);
        } else if (port->takes == YK_CAUSALITY_MOTION_INPUT) {
            yk_motion motion = yk_input_motion(input, YK_PORT_MARKER, to);
            put_motion(self, port, &motion);
        } else if (port->takes == YK_CAUSALITY_SIGNAL_INPUT) {
            double value = yk_input_scalar(input, to);
            put(self, port, YK_FMU_SIGNAL, &value);
        }
    }
}

void yk_fmu_fill(yk_fmu *self, const yk_input *inputs, double from, double to)
{
    fill_ports(self, inputs, from, to, false);
}

void yk_fmu_fill_within(yk_fmu *self, const yk_input *inputs, double at)
{
    fill_ports(self, inputs, at, at, true);
}

bool yk_fmu_inputs_are_held(const yk_fmu *self, const yk_input *inputs)
{
    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        if (port->connected && (port->takes == YK_CAUSALITY_MOTION_INPUT || inputs[i].degree > 0))
            return false;
    }

    return true;
}

void yk_fmu_fill_lines(yk_fmu *self, const yk_input *inputs, double from, double to)
{
    yk_fmu_list *list = &self->inputs;
    double *slopes = self->input_rates;
    double *mean = slopes + list->value_count;
    size_t bytes = (size_t)list->value_count * sizeof *slopes;
    double h = to - from;

    /* Slopes from the values at both ends. */
    yk_fmu_fill(self, inputs, from, from);
    memcpy(slopes, list->values, bytes);
    yk_fmu_fill(self, inputs, from, to);
    memcpy(mean, list->values, bytes);
    yk_fmu_fill(self, inputs, to, to);

    for (int i = 0; i < list->value_count; i++) {
        double begin = slopes[i];
        slopes[i] = (list->values[i] - begin) / h;
        list->values[i] = begin;
    }

    /* Wrenches keep their mean, and so their impulse. */
    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        if (!port->connected || port->takes != YK_CAUSALITY_WRENCH_INPUT)
            continue;

        for (int q = YK_FMU_FORCE; q <= YK_FMU_TORQUE; q++) {
            for (int c = 0; c < port->count[q]; c++) {
                int at = port->at[q][c];

                if (at >= 0)
                    list->values[at] = mean[at] - 0.5 * h * slopes[at];
            }
        }
    }
}

/* One component of an input or an output of a port. */
static double component_of(const yk_fmu *self, const yk_fmu_port *port, int quantity, int i)
{
    if (i >= port->count[quantity] || port->at[quantity][i] < 0)
        return 0;

    const yk_fmu_list *list = is_input(port, quantity) ? &self->inputs : &self->outputs;
    return list->values[port->at[quantity][i]];
}

static yk_vec3 vector_of(const yk_fmu *self, const yk_fmu_port *port, int quantity)
{
    double x = component_of(self, port, quantity, 0);
    double y = component_of(self, port, quantity, 1);
    double z = component_of(self, port, quantity, 2);
    return yk_v3(x, y, z);
}

void yk_fmu_read_port(const yk_fmu *self, int index, yk_port_value *value)
{
    const yk_fmu_port *port = &self->maps[index];
    yk_motion *motion = &value->motion;

    /* The contract stores the value of a signal in place of a scalar position. */
    if (self->ports[index].kind == YK_PORT_SIGNAL) {
        motion->position.x = component_of(self, port, YK_FMU_SIGNAL, 0);
        return;
    }

    /* A force returned by the FMU may act on its partner. */
    double sign = 1;
    if (port->takes == YK_CAUSALITY_MOTION_INPUT)
        sign = port->wrench_sign;

    if (self->ports[index].kind == YK_PORT_SCALAR) {
        motion->position.x = component_of(self, port, YK_FMU_POSITION, 0);
        motion->velocity.x = component_of(self, port, YK_FMU_VELOCITY, 0);
        motion->acceleration.x = component_of(self, port, YK_FMU_ACCELERATION, 0);
        value->wrench.force.x = sign * component_of(self, port, YK_FMU_FORCE, 0);
        return;
    }

    motion->position = vector_of(self, port, YK_FMU_POSITION);
    motion->velocity = vector_of(self, port, YK_FMU_VELOCITY);
    motion->acceleration = vector_of(self, port, YK_FMU_ACCELERATION);
    motion->angular_velocity = vector_of(self, port, YK_FMU_ANGULAR_VELOCITY);
    motion->angular_acceleration = vector_of(self, port, YK_FMU_ANGULAR_ACCELERATION);

    /* Normalized, because that of the FMU may be inaccurate. */
    motion->orientation = yk_q_identity();
    if (port->count[YK_FMU_ORIENTATION] == 4) {
        double q[4];
        for (int i = 0; i < 4; i++)
            q[i] = component_of(self, port, YK_FMU_ORIENTATION, i);
        motion->orientation = yk_q_unit((yk_quat){q[0], q[1], q[2], q[3]});
    } else if (port->count[YK_FMU_ORIENTATION] == 9) {
        yk_mat3 matrix;
        for (int i = 0; i < 9; i++)
            matrix.m[i / 3][i % 3] = component_of(self, port, YK_FMU_ORIENTATION, i);
        motion->orientation = yk_so3_quat(matrix);
    }

    value->wrench.force = yk_v3_scale(sign, vector_of(self, port, YK_FMU_FORCE));
    value->wrench.torque = yk_v3_scale(sign, vector_of(self, port, YK_FMU_TORQUE));
}

const char *yk_fmu_port_unit(const yk_subsystem *subsystem, int index, int offset)
{
    static const size_t begin[YK_FMU_QUANTITIES] = {
        [YK_FMU_POSITION] = offsetof(yk_port_value, motion.position),
        [YK_FMU_ORIENTATION] = offsetof(yk_port_value, motion.orientation),
        [YK_FMU_VELOCITY] = offsetof(yk_port_value, motion.velocity),
        [YK_FMU_ANGULAR_VELOCITY] = offsetof(yk_port_value, motion.angular_velocity),
        [YK_FMU_ACCELERATION] = offsetof(yk_port_value, motion.acceleration),
        [YK_FMU_ANGULAR_ACCELERATION] = offsetof(yk_port_value, motion.angular_acceleration),
        [YK_FMU_FORCE] = offsetof(yk_port_value, wrench.force),
        [YK_FMU_TORQUE] = offsetof(yk_port_value, wrench.torque),
        [YK_FMU_SIGNAL] = offsetof(yk_port_value, motion.position),
    };
    const yk_fmu *self = (const yk_fmu *)subsystem;
    const yk_fmu_port *port = &self->maps[index];

    /* The first component of the quantity with a variable: all have one unit. */
    for (int q = 0; q < YK_FMU_QUANTITIES; q++) {
        const yk_fmu_list *list = is_input(port, q) ? &self->inputs : &self->outputs;
        int component = offset - (int)(begin[q] / sizeof(double));
        if (component < 0 || component >= port->count[q])
            continue;

        for (int i = 0; i < list->count; i++) {
            const yk_fmi_variable *v = &self->description.variables[list->variables[i]];
            int element = port->at[q][component] - list->first[i];
            if (port->at[q][component] >= 0 && element >= 0 && element < v->size)
                return yk_fmi_unit_ours(v->unit);
        }
    }

    return NULL;
}
