/* Options: one row per key.
 *
 * A row gives the key, its kind of value, unit, range, default and description, and the member of a def struct that
 * receives the value. The same rows are read by the parser of scenarios and its checks, by the functions that fill def
 * structs with defaults, and by the writers of the reference page, of the JSON Schema and of the Python module.
 *
 *     typedef struct sleeper_options {
 *         double mass;
 *         int count;
 *     } sleeper_options;
 *
 *     static const yk_option rows[] = {
 *         {"mass", YK_OPTION_NUMBER, "kg", "1", YK_MEMBER(sleeper_options, mass), .range = YK_POSITIVE,
 *          .description = "mass of the sleeper"},
 *         {"count", YK_OPTION_INTEGER, .default_text = "2", YK_MEMBER(sleeper_options, count), .range = YK_BETWEEN(1, 9),
 *          .description = "number of sleepers"},
 *         {0},
 *     };
 *
 * Schemes (yoke/scheme_ops.h), solvers from outside (yoke/plugin.h) and the scenario itself use this type. */
#ifndef YOKE_OPTION_H
#define YOKE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of values, with the type of the member that receives the value. */
typedef enum yk_option_kind {
    YK_OPTION_NUMBER,     /* double; a number or an expression of parameters */
    YK_OPTION_INTEGER,    /* int */
    YK_OPTION_BOOLEAN,    /* bool */
    YK_OPTION_CHOICE,     /* An enum or int: the index of one of `choices`. */
    YK_OPTION_SUBSYSTEMS, /* yk_subsystem_list; of schemes */
    YK_OPTION_TEXT,       /* const char * */
    YK_OPTION_PATH,       /* const char *: a file, relative to the folder of the scenario */
    /* An array of doubles, also as yk_vec3, if min_count and max_count are equal; otherwise a yk_number_list. */
    YK_OPTION_NUMBERS,
    YK_OPTION_FUNCTION, /* yk_time_function: a number, or an expression of time */
    /* One of `choices`, or the keys of `section`, which are members of the same struct. An enum or int: the index of the
     * choice; for keys, the index after all choices. */
    YK_OPTION_FORM,
    YK_OPTION_ORIENTATION, /* yk_quat: a rotation in one of several notations */
    YK_OPTION_INERTIA,     /* yk_mat3, symmetric: 3 diagonal values, or three rows */

    /* Kinds of the scenario's own tables. */
    YK_OPTION_NAME,      /* A word that other places refer to. */
    YK_OPTION_FUNCTIONS, /* A list of expressions of time. */
    YK_OPTION_SECTION,   /* The keys of `section`. */
    YK_OPTION_VARIANT,   /* Keys that depend on the word under `selector`, or just that word. */
    YK_OPTION_LIST,      /* A list of `item`. */
    YK_OPTION_NAMED, /* Named items: a map of names to `item`, or a list of items with `name`. */
    YK_OPTION_PARAMETERS, /* Named numbers that expressions can use. */
    YK_OPTION_TABLES,     /* Named `item`s that become functions of expressions. */
    YK_OPTION_EXPRESSION, /* An expression with names of its own, which its reader compiles. */
    YK_OPTION_COMPONENTS, /* Named instances of components, described by `item`. */
    YK_OPTION_TREE,       /* Anything; the reader of the file uses it before keys are resolved. */
    YK_OPTION_INCLUDE     /* The rows of `section`, as if they were written here. */
} yk_option_kind;

typedef struct yk_number_list {
    const double *items;
    int count;
} yk_number_list;

typedef struct yk_subsystem_list {
    const int *items; /* Read at creation. */
    int count;
} yk_subsystem_list;

typedef struct yk_option_choice {
    const char *name; /* NULL ends the list. */
    const char *description;
} yk_option_choice;

/* Bounds of a number. An open bound is not a value itself. */
typedef enum yk_bound {
    YK_BOUND_MINIMUM = 1,
    YK_BOUND_MINIMUM_OPEN = 2,
    YK_BOUND_MAXIMUM = 4,
    YK_BOUND_MAXIMUM_OPEN = 8
} yk_bound;

typedef struct yk_range {
    double minimum, maximum;
    unsigned bounds; /* yk_bound bits; 0: any number. */
} yk_range;

#define YK_POSITIVE                                        \
    {                                                      \
        .bounds = YK_BOUND_MINIMUM | YK_BOUND_MINIMUM_OPEN \
    }
#define YK_NOT_NEGATIVE            \
    {                              \
        .bounds = YK_BOUND_MINIMUM \
    }
#define YK_AT_LEAST(bound)                             \
    {                                                  \
        .minimum = (bound), .bounds = YK_BOUND_MINIMUM \
    }
#define YK_BETWEEN(from, to)                                                              \
    {                                                                                     \
        .minimum = (from), .maximum = (to), .bounds = YK_BOUND_MINIMUM | YK_BOUND_MAXIMUM \
    }

/* The option has an effect only if another option of the same section has one of these values. Scenarios that give it
 * otherwise get a warning. */
enum { YK_CONDITION_WORDS_MAX = 3 };
typedef struct yk_option_condition {
    const char *key;                           /* NULL: always. */
    const char *words[YK_CONDITION_WORDS_MAX]; /* Unused ones are NULL. */
} yk_option_condition;

typedef struct yk_option yk_option;
typedef struct yk_option_section yk_option_section;

struct yk_option {
    const char *key; /* NULL ends the list. In `item`: a word for one item. */
    yk_option_kind kind;
    const char *unit; /* NULL: none. */
    /* Value if the key is absent, as in a scenario: a scalar, [a, b] or {}; NULL: zero. */
    const char *default_text;
    size_t offset; /* Of the member that receives the value. */
    size_t size;   /* Of that member; 0: no member receives the value. */
    /* Ratio of the member to the value, such as 0.5 for a radius that is given as a diameter. 0: 1. Of NUMBER and of
     * NUMBERS with a fixed count. */
    double factor;
    yk_range range;
    yk_option_condition only_with;
    /* The option struct's operation `derive` may compute the value from other options if the key is absent. */
    bool has_derived_default;
    bool required; /* Must be given: there is no default. */
    bool
        accepts_auto; /* The word `auto` stands for 0, with which the program chooses the number. */
    /* A finer run of the same scenario divides the value by this power of its refinement: 1 for steps, 3 for limits of the
     * error of a step, -1 for numbers of steps. 0: the value does not change. */
    int refinement_exponent;
    bool is_seed; /* Of random numbers: other realizations of a scenario add their number to it. */
    int min_count, max_count; /* Of the items of a list; max_count 0: no limit. */
    const char *description;
    const yk_option_choice *choices;
    const yk_option_section *section; /* Of a variant: keys that all variants have, or NULL. */
    const yk_option_section *const
        *variants;               /* Ended by NULL. The selector selects one by its name. */
    const char *selector;        /* The key that selects a variant. */
    const char *default_variant; /* Used if the selector is absent; NULL: it is required. */
    const yk_option *item;
};

struct yk_option_section {
    const char *name;
    const char *description;
    const yk_option *options;
};

/* The member of a struct that a row writes. It may be a member of a member. */
#define YK_MEMBER(type, member) \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

#ifdef __cplusplus
}
#endif

#endif
