/* One description of what an input file may say, as constant tables.
 *
 * From the tables come the checks, the defaults, the typed values and the reference
 * documentation. Resolving a tree against a field reports all mistakes in one pass, fills in the
 * defaults and leaves in each node its value. */
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

/* What resolving needs. */
typedef struct yk_resolver {
    yk_store *store;
    yk_diagnostics *diagnostics;
    /* filled by a field of type YK_OPTION_PARAMETERS that is resolved before those that use it */
    yk_scope scope;
    const yk_option_section *section; /* whose values are being resolved */
    int repeated;                     /* nodes made by repetitions so far */
    double refinement;                /* see yk_scenario_def; 0: as written */
    /* Units (m, kg) of the subsystem whose keys are being resolved; 0: SI. */
    double length, mass;
    yk_status status;
} yk_resolver;

/* The node gets its value; `valid` says whether it can be used. Depth is bounded by the reader. */
void yk_resolve(yk_resolver *resolver, yk_node *node, const yk_option *field);
void yk_resolve_section(yk_resolver *resolver, yk_node *node, const yk_option_section *section);

/* For the files that resolve nodes of one kind each. */
/* From the store; sets the resolver's status when memory is out. */
void *yk_resolver_take(yk_resolver *resolver, size_t bytes);
/* "expected a number in kg greater than 0; found 'heavy'" */
void yk_resolve_mismatch(yk_resolver *resolver, const yk_node *node, const yk_option *field);
/* A constant; false after a message. */
bool yk_resolve_number(yk_resolver *resolver, yk_node *node, const yk_option *field);

/* Rotations in several spellings: [w, x, y, z], {axis, angle}, {euler, order}, ...
 * (orientation.c) */
void yk_resolve_orientation(yk_resolver *resolver, yk_node *node, const yk_option *field);
extern const yk_option_section yk_orientation_section;

/* Named constants, in any order of definition; fills the resolver's scope. (parameters.c) */
void yk_resolve_parameters(yk_resolver *resolver, yk_node *node, const yk_option *field);
/* Once everything else of a scenario without errors is resolved and built: an error for parameters
 * that only an override gives and nothing uses, as a misspelt one, and a warning for others that are
 * overridden. If the scenario is as its file has it (`as_written`), a warning for all constants that
 * nothing uses: an override may have replaced the only use. */
void yk_report_unused_parameters(yk_resolver *resolver, const yk_node *parameters, bool as_written);

/* Replaces items with `repeat` by their copies; false after a message. (repeat.c) */
bool yk_expand_repeats(yk_resolver *resolver, yk_node *collection);
/* The text with the expressions of parameters that it has in braces as numbers: "n_{2*elements}".
 * Braces with anything else in them stay. */
const char *yk_fill_parameters(yk_resolver *resolver, const char *text);
/* What stands under `repeat` in an item that stands for many. */
extern const yk_option_section yk_repeat_section;

/* Pieces of messages (schema.c) ---------------------------------------------------------------- */

typedef struct yk_phrase {
    char text[410];
} yk_phrase;

/* "a number in kg greater than 0" */
yk_phrase yk_expected(const yk_option *field);
/* "'heavy'", "a list of 4", "nothing" */
yk_phrase yk_found(const yk_node *node);

/* A sentence that says what to write instead of an unknown word: "Did you mean 'left'?", or all
 * that could stand there, "Expected 'left' or 'right'." */
enum { YK_SUGGESTED_MAX = 1000 };
yk_phrase yk_suggest_name(const char *word, const char *const *names, int count);
yk_phrase yk_suggest_word(const char *word, const char *const *words, int count);
/* The same for a key or a value of the file format; "It was renamed to 'body'." if an earlier version
 * had the word. */
typedef enum yk_word_role { YK_WORD_KEY, YK_WORD_VALUE } yk_word_role;
yk_phrase yk_suggest_format_word(yk_word_role role, const char *word, const char *const *words,
                                 int count);

/* The word of the NULL-terminated list `valid` that the user means: engineers say "hinge" for
 * "revolute" and "dt" for "step". Scenarios accept one word for each thing; messages suggest it. If
 * the word is no synonym, the result is the word with the nearest spelling (base/text.h). NULL: none. */
const char *yk_word_meant(const char *word, const char *const *valid);

/* The present name of a word that an earlier version of the file format had, if that name is in
 * `valid`; "SECTION.KEY" if the key moved to a section. NULL: none. */
const char *yk_word_renamed(yk_word_role role, const char *word, const char *const *valid);
/* Row i of the table of renamed words; false behind the last. */
bool yk_retired_word(yk_word_role role, int i, const char **old, const char **current);

/* Values --------------------------------------------------------------------------------------- */

/* Values of a resolved section's entries; the key must be one that the schema requires or has a
 * default for, or be known to be present. */
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
