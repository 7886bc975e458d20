/* A description of valid input files as constant tables.
 *
 * The tables determine checks, defaults, typed values and the reference documentation. Resolving a
 * tree against a field reports all errors in one pass, fills in the defaults, and stores the value
 * of each node in the node. */
#ifndef YK_MODEL_SCHEMA_H
#define YK_MODEL_SCHEMA_H

#include "base/option.h"
#include "base/text.h"
#include "model/expression.h"
#include "model/yaml_tree.h"
#include "yoke/subsystem.h"

/* A row that includes the rows of a section. */
#define YK_INCLUDE(keys)                                                    \
    {                                                                       \
        "include", YK_OPTION_INCLUDE, .section = &(keys), .description = "" \
    }

/* Resolving ------------------------------------------------------------------------------------ */

/* Data for resolving. */
typedef struct yk_resolver {
    yk_store *store;
    yk_diagnostics *diagnostics;
    /* filled by a field of type YK_OPTION_PARAMETERS that is resolved before those that use it */
    yk_scope scope;
    struct yk_builder *builder;       /* of the scenario, for the files of its tables */
    const yk_option_section *section; /* whose values are being resolved */
    yk_node *root;                    /* of the scenario */
    const yk_node *templates;         /* components in the scenario itself; NULL: none */
    struct yk_included_file *files;   /* files of `include` and `components`, the last one first */
    yk_named_value *parameter_values; /* the arrays of the scope, and their length */
    bool *parameter_used;
    int parameter_capacity;
    int repeated;      /* number of nodes created by repetitions and instances */
    double refinement; /* see yk_scenario_def; 0: as written */
    int realization;   /* likewise */
    /* Units (m, kg) of the subsystem whose keys are being resolved; 0: SI. */
    double length, mass;
    yk_status status;
} yk_resolver;

/* Sets the value of the node, and `valid`. The reader limits the depth. */
void yk_resolve(yk_resolver *resolver, yk_node *node, const yk_option *field);
void yk_resolve_section(yk_resolver *resolver, yk_node *node, const yk_option_section *section);

/* Functions for the files that resolve nodes of one kind each. */
/* Allocates from the store; sets the resolver's status if memory is missing. */
void *yk_resolver_take(yk_resolver *resolver, size_t bytes);
/* "expected a number in kg greater than 0; found 'heavy'" */
void yk_resolve_mismatch(yk_resolver *resolver, const yk_node *node, const yk_option *field);
/* Evaluates a constant; false after a message. */
bool yk_resolve_number(yk_resolver *resolver, yk_node *node, const yk_option *field);

/* Evaluates a parameter, a constant of any quantity; false after a message. */
bool yk_resolve_parameter(yk_resolver *resolver, yk_node *node, yk_quantity *quantity);

/* Rotations in several notations: [w, x, y, z], {axis, angle}, {euler, order}, ... (orientation.c) */
void yk_resolve_orientation(yk_resolver *resolver, yk_node *node, const yk_option *field);
extern const yk_option_section yk_orientation_section;

/* Named constants, in any order of definition; sets the resolver's scope. (parameters.c) */
void yk_resolve_parameters(yk_resolver *resolver, yk_node *node, const yk_option *field);
/* Adds more of them to the scope: the parameters of an instance, named "INSTANCE.NAME". False after a
 * message. */
bool yk_resolve_more_parameters(yk_resolver *resolver, const yk_node *parameters);
/* Tables from points or files; adds them to the resolver's scope as functions. (tables.c) */
void yk_resolve_tables(yk_resolver *resolver, yk_node *node, const yk_option *field);
extern const yk_option yk_table_item;
/* Called after everything else of a valid scenario is resolved and built. Reports an error for
 * parameters that only an override defines and nothing uses (probably misspelled), and a warning
 * for other unused overridden parameters. If the scenario has no overrides (`as_written`), warns of
 * all unused constants: an override may have replaced the only use. */
void yk_report_unused_parameters(yk_resolver *resolver, const yk_node *parameters, bool as_written);

/* Included files and instances of components (components.c) */

/* A file that was read for `include` or `components`. */
typedef struct yk_included_file {
    const char *path; /* relative to the scenario's folder */
    yk_node *root;    /* NULL: it has an error, which was reported */
    struct yk_included_file *next;
} yk_included_file;

/* Merges the files of the entry `include` into the tree, whose own values have precedence, and
 * removes the entry. */
void yk_resolve_includes(yk_resolver *resolver);
/* Takes the entry `templates` out of the tree, after overrides. */
void yk_take_templates(yk_resolver *resolver);
/* Replaces the entry `components` of a section by the items of its instances. */
void yk_resolve_components(yk_resolver *resolver, yk_node *node, const yk_option *field);
extern const yk_option yk_component_item;
/* Adapts the text of a value before it is resolved: items and parameters of a component become those
 * of its instance, and a path in an included file becomes relative to the scenario's folder. */
void yk_adapt_value(yk_resolver *resolver, yk_node *node, const yk_option *field);

/* Replaces items with `repeat` by their copies; false after a message. (repeat.c) */
bool yk_expand_repeats(yk_resolver *resolver, yk_node *collection);
/* Replaces the expressions of parameters in braces in a text by numbers: "n_{2*elements}". Other
 * braces are kept. */
const char *yk_fill_parameters(yk_resolver *resolver, const char *text);
/* The value of `repeat` in a repeated item. */
extern const yk_option_section yk_repeat_section;

/* Pieces of messages (schema.c) ---------------------------------------------------------------- */

typedef struct yk_phrase {
    char text[410];
} yk_phrase;

/* "a number in kg greater than 0" */
yk_phrase yk_expected(const yk_option *field);
/* "'heavy'", "a list of 4", "nothing" */
yk_phrase yk_found(const yk_node *node);

/* A sentence that corrects an unknown word: "Did you mean 'left'?", or all valid words, "Expected
 * 'left' or 'right'." */
enum { YK_SUGGESTED_MAX = 1000 };
yk_phrase yk_suggest_name(const char *word, const char *const *names, int count);
yk_phrase yk_suggest_word(const char *word, const char *const *words, int count);
/* The same for a key or a value of the file format; "It was renamed to 'body'." for a word of an
 * earlier version. */
typedef enum yk_word_role { YK_WORD_KEY, YK_WORD_VALUE } yk_word_role;
yk_phrase yk_suggest_format_word(yk_word_role role, const char *word, const char *const *words,
                                 int count);

/* The word of the NULL-terminated list `valid` that the user probably means: engineers say "hinge"
 * for "revolute" and "dt" for "step". Scenarios accept one word for each thing; messages suggest
 * it. For a word that is not a synonym, the result is the word with the nearest spelling
 * (base/text.h). NULL: none. */
const char *yk_word_meant(const char *word, const char *const *valid);

/* The present name of a word of an earlier version of the file format, if that name is in `valid`;
 * "SECTION.KEY" if the key moved to a section. NULL: none. */
const char *yk_word_renamed(yk_word_role role, const char *word, const char *const *valid);
/* Row i of the table of renamed words; false after the last. */
bool yk_retired_word(yk_word_role role, int i, const char **old, const char **current);

/* Values --------------------------------------------------------------------------------------- */

/* Values of a resolved section's entries. The key must be required by the schema, have a default,
 * or be known to exist. */
double yk_node_number(const yk_node *section, const char *key);
int yk_node_integer(const yk_node *section, const char *key);
bool yk_node_boolean(const yk_node *section, const char *key);
const char *yk_node_text(const yk_node *section, const char *key);
/* Index of the word in the field's list; of a YK_OPTION_FORM given as a section: -1. */
int yk_node_choice(const yk_node *section, const char *key);
yk_vec3 yk_node_vector(const yk_node *section, const char *key);
yk_quat yk_node_orientation(const yk_node *section, const char *key);

/* Three numbers; a point in metres, by default the origin. */
#define YK_VECTOR .min_count = 3, .max_count = 3
#define YK_ORIGIN YK_OPTION_NUMBERS, "m", "[0, 0, 0]", YK_VECTOR

#endif
