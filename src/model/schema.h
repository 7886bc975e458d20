/* One description of what an input file may say, as constant tables.
 *
 * From the tables come the checks, the defaults, the typed values and the reference
 * documentation. Resolving a tree against a field reports all mistakes in one pass, fills in the
 * defaults and leaves in each node its value. */
#ifndef YK_MODEL_SCHEMA_H
#define YK_MODEL_SCHEMA_H

#include "base/text.h"
#include "model/expression.h"
#include "model/yaml_tree.h"
#include "yoke/subsystem.h"

/* Bounds of a number. */
enum { YK_LOW = 1, YK_LOW_OPEN = 2, YK_HIGH = 4, YK_HIGH_OPEN = 8 };

#define YK_POSITIVE                    \
    {                                  \
        .bounds = YK_LOW | YK_LOW_OPEN \
    }
#define YK_NOT_NEGATIVE  \
    {                    \
        .bounds = YK_LOW \
    }
#define YK_AT_LEAST(bound)               \
    {                                    \
        .low = (bound), .bounds = YK_LOW \
    }
#define YK_BETWEEN(from, to)                                    \
    {                                                           \
        .low = (from), .high = (to), .bounds = YK_LOW | YK_HIGH \
    }

typedef struct yk_section yk_section;
typedef struct yk_field yk_field;

struct yk_field {
    const char *key; /* NULL ends the list; in `item` a word for what it is */
    enum {
        YK_TYPE_NUMBER, /* a number, or a constant expression */
        YK_TYPE_INTEGER,
        YK_TYPE_BOOLEAN, /* true or false */
        YK_TYPE_TEXT,
        YK_TYPE_NAME,        /* a word that other places refer to */
        YK_TYPE_CHOICE,      /* one of `words` */
        YK_TYPE_FUNCTION,    /* a number, or an expression of time */
        YK_TYPE_NUMBERS,     /* a list of numbers, `least` to `most` of them */
        YK_TYPE_FUNCTIONS,   /* a list of expressions of time */
        YK_TYPE_ORIENTATION, /* a rotation, in several spellings */
        YK_TYPE_INERTIA,     /* a symmetric 3 x 3 matrix: 3 diagonal values, or three rows */
        YK_TYPE_PATH,        /* a file, relative to the scenario's folder */
        YK_TYPE_SECTION,     /* keys of `section` */
        YK_TYPE_FORM,        /* one of `words`, or keys of `section` */
        YK_TYPE_VARIANT,     /* keys that depend on the word under `selector` (or just that word) */
        YK_TYPE_LIST,        /* a list of `item`, `least` to `most` of them */
        YK_TYPE_NAMED, /* named items: a map of name to `item`, or a list of items with `name` */
        YK_TYPE_PARAMETERS, /* named numbers that expressions can use */
        YK_TYPE_INCLUDE     /* the fields of `section`, as if they stood here */
    } type;
    const char *unit;     /* NULL: none */
    const char *fallback; /* used where the key is absent: a scalar, [a, b], or {} */
    bool required;
    bool takes_auto; /* of a number: the word `auto` stands for 0, with which the program chooses */
    struct {
        double low, high;
        unsigned bounds; /* YK_LOW ... */
    } range;
    /* A finer run of the same scenario divides the number by so many powers of its refinement: 1
     * for steps, 3 for what bounds the error of a single step, -1 for counts of steps; 0: it
     * belongs to the model. */
    int refines;
    int least, most; /* items; most 0: any number */
    const char *text;
    const yk_word *words;
    const yk_section *section; /* of a variant: the keys that all of them have; may be NULL */
    const yk_section *const *variants; /* ended by NULL; selected by their names */
    const char *selector;              /* "type" */
    const char *selector_fallback;     /* used where the selector is absent; NULL: it is required */
    const yk_field *item;
};

struct yk_section {
    const char *name;
    const char *text;
    const yk_field *fields;
};

/* A row that includes the fields of a section. */
#define YK_INCLUDE(keys)                                           \
    {                                                              \
        "include", YK_TYPE_INCLUDE, .section = &(keys), .text = "" \
    }

/* The field of that key, with those that a section includes; NULL: none. (schema.c) */
const yk_field *yk_section_field(const yk_section *section, const char *key);

/* Resolving ------------------------------------------------------------------------------------ */

/* What resolving needs. */
typedef struct yk_resolver {
    yk_store *store;
    yk_diagnostics *diagnostics;
    /* filled by a field of type YK_TYPE_PARAMETERS that is resolved before those that use it */
    yk_scope scope;
    const yk_section *section; /* whose values are being resolved */
    int repeated;              /* nodes made by repetitions so far */
    double refinement;         /* see yk_scenario_def; 0: as written */
    /* Units (m, kg) of the subsystem whose keys are being resolved; 0: SI. */
    double length, mass;
    yk_status status;
} yk_resolver;

/* The node gets its value; `valid` says whether it can be used. Depth is bounded by the reader. */
void yk_resolve(yk_resolver *resolver, yk_node *node, const yk_field *field);
void yk_resolve_section(yk_resolver *resolver, yk_node *node, const yk_section *section);

/* For the files that resolve nodes of one kind each. */
/* From the store; sets the resolver's status when memory is out. */
void *yk_resolver_take(yk_resolver *resolver, size_t bytes);
/* "expected a number in kg greater than 0; found 'heavy'" */
void yk_resolve_mismatch(yk_resolver *resolver, const yk_node *node, const yk_field *field);
/* A constant; false after a message. */
bool yk_resolve_number(yk_resolver *resolver, yk_node *node, const yk_field *field);

/* Rotations in several spellings: [w, x, y, z], {axis, angle}, {euler, order}, ...
 * (orientation.c) */
void yk_resolve_orientation(yk_resolver *resolver, yk_node *node, const yk_field *field);
extern const yk_section yk_orientation_section;

/* Named constants, in any order of definition; fills the resolver's scope. (parameters.c) */
void yk_resolve_parameters(yk_resolver *resolver, yk_node *node, const yk_field *field);
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
extern const yk_section yk_repeat_section;

/* Pieces of messages (schema.c) ---------------------------------------------------------------- */

typedef struct yk_phrase {
    char text[410];
} yk_phrase;

/* "a number in kg greater than 0" */
yk_phrase yk_expected(const yk_field *field);
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
/* Index of the word in the field's list; of a YK_TYPE_FORM given as a section: -1. */
int yk_node_choice(const yk_node *section, const char *key);
yk_vec3 yk_node_vector(const yk_node *section, const char *key);
yk_quat yk_node_orientation(const yk_node *section, const char *key);

/* Three numbers; a point in metres, by default the origin. */
#define YK_VECTOR .least = 3, .most = 3
#define YK_ORIGIN YK_TYPE_NUMBERS, "m", "[0, 0, 0]", YK_VECTOR

#endif
