/* What a field expects and what could be meant, in words; and the values of resolved nodes. */
#include "model/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

const yk_field *yk_section_field(const yk_section *section, const char *key)
{
    for (const yk_field *field = section->fields; field->key; field++) {
        if (field->type == YK_TYPE_INCLUDE) {
            const yk_field *included = yk_section_field(field->section, key);
            if (included)
                return included;
        } else if (strcmp(field->key, key) == 0) {
            return field;
        }
    }

    return NULL;
}

/* Words that are meant ------------------------------------------------------------------------- */

/* Each row: a word of scenarios, and what else it is called in other programs and in daily use. */
enum { OTHERS_MAX = 8 };
static const struct {
    const char *word;
    const char *others[OTHERS_MAX + 1];
} synonyms[] = {
    {"step", {"dt", "h", "delta_t", "timestep", "time_step", "step_size", "stepsize"}},
    {"end", {"duration", "t_end", "tend", "stop", "final", "until"}},
    {"start", {"begin", "t_start", "t0"}},
    {"position", {"pos", "location", "place", "origin", "xyz"}},
    {"orientation", {"rotation", "rot", "attitude", "quaternion", "rpy"}},
    {"velocity", {"vel", "speed"}},
    {"angular_velocity", {"omega", "spin", "rotation_rate"}},
    {"revolute", {"hinge", "pin", "pivot", "pinned"}},
    {"spherical", {"ball", "ball-joint", "ball_joint", "point"}},
    {"prismatic", {"slider", "slide", "translational", "sliding"}},
    {"clamp", {"fixed", "weld", "rigid", "lock", "fix"}},
    {"universal", {"cardan", "hooke"}},
    {"ground", {"world", "earth", "base", "inertial", "fixed", "origin"}},
    {"solver", {"type", "kind", "engine"}},
    {"subsystems", {"parts", "components", "models", "submodels"}},
    {"interfaces", {"connections", "couplings", "connectors"}},
    {"between", {"connect", "connects", "ports", "sides"}},
    {"record", {"output", "outputs", "results", "log"}},
    {"channels", {"signals", "variables", "outputs"}},
    {"acceleration", {"relaxation", "accelerate"}},
    {"wrenches", {"efforts", "forces"}},
    {"coupling", {"cosimulation", "master", "algorithm"}},
    {"scheme", {"algorithm", "method", "coupling"}},
    {"inertia", {"moments", "inertia_tensor", "moment_of_inertia", "moi"}},
    {"stiffness", {"k", "spring_constant", "spring_rate"}},
    {"damping", {"c", "d", "damper", "viscosity"}},
    {"free_length", {"length0", "rest_length", "l0", "natural_length"}},
    {"friction", {"mu", "friction_coefficient"}},
    {"restitution", {"cor", "bounce", "e"}},
    {"integrator", {"method", "solver", "integration"}},
    {"gauss-seidel", {"sequential", "serial"}},
    {"jacobi", {"parallel"}},
    {"tight", {"strong", "implicit", "iterative"}},
    {"monolithic", {"merged", "single", "one"}},
};

const char *yk_word_meant(const char *word, const char *const *valid)
{
    /* Another name is meant where the word that it stands for could stand here. */
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        const char *const *at = valid;
        while (*at && strcmp(*at, synonyms[i].word) != 0)
            at++;
        if (!*at)
            continue;

        for (int k = 0; synonyms[i].others[k]; k++)
            if (strcasecmp(word, synonyms[i].others[k]) == 0)
                return *at;
    }

    /* Else a word that was mistyped. */
    return yk_text_nearest(word, valid);
}

/* Pieces of messages --------------------------------------------------------------------------- */

static void add(yk_phrase *phrase, const char *format, ...) YK_PRINTF(2, 3);

static void add(yk_phrase *phrase, const char *format, ...)
{
    size_t used = strlen(phrase->text);
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(phrase->text + used, sizeof phrase->text - used, format, arguments);
    va_end(arguments);
}

/* One of a row of words that ends with "... or last". */
static void add_alternative(yk_phrase *phrase, bool first, bool last, const char *word)
{
    const char *between = ", ";
    if (last)
        between = " or ";
    if (first)
        between = "";
    add(phrase, "%s%s", between, word);
}

static void add_words(yk_phrase *phrase, const yk_word *words)
{
    for (const yk_word *word = words; word->word; word++)
        add_alternative(phrase, word == words, !word[1].word, word->word);
}

static void add_count(yk_phrase *phrase, const yk_field *field, const char *one, const char *many)
{
    /* The number, the range or the bound. */
    int least = field->least;
    int most = field->most;
    if (least == 1 && most == 1)
        add(phrase, "a list of 1 %s", one);
    else if (least == most && least)
        add(phrase, "a list of %d %s", least, many);
    else if (most && least)
        add(phrase, "a list of %d to %d %s", least, most, many);
    else if (least)
        add(phrase, "a list of %d or more %s", least, many);
    else
        add(phrase, "a list of %s", many);
    if (most && !least)
        add(phrase, ", at most %d", most);
}

/* "a section with keys such as 'offset', 'orientation'": the first few, those that are required
 * before the others. */
static void add_keys(yk_phrase *phrase, const yk_section *section)
{
    enum { SHOWN_MAX = 3 };
    add(phrase, "a section");

    /* Required keys first: one of them is most likely what is missing. */
    int shown = 0;
    for (int required = 1; section && required >= 0; required--)
        for (const yk_field *f = section->fields; f->key && shown < SHOWN_MAX; f++) {
            if (f->type == YK_TYPE_INCLUDE || f->required != required)
                continue;
            add(phrase, "%s'%s'", shown == 0 ? " with keys such as " : ", ", f->key);
            shown++;
        }
}

yk_phrase yk_expected(const yk_field *field)
{
    static const char *const kinds[] = {
        [YK_TYPE_NUMBER] = "a number",
        [YK_TYPE_INTEGER] = "a whole number",
        [YK_TYPE_BOOLEAN] = "true or false",
        [YK_TYPE_TEXT] = "a text",
        [YK_TYPE_NAME] = "a name",
        [YK_TYPE_FUNCTION] = "a number or an expression of time",
        [YK_TYPE_ORIENTATION] =
            "an orientation such as [w, x, y, z] or {axis: [0, 0, 1], angle: 0.5}",
        [YK_TYPE_INERTIA] = "three numbers (a diagonal) or three rows of a symmetric matrix",
        [YK_TYPE_PATH] = "the name of a file",
        [YK_TYPE_NAMED] = "a section of named items, or a list of items with 'name'",
        [YK_TYPE_PARAMETERS] = "a section of names and numbers",
    };
    yk_phrase phrase = {""};

    /* What it is ... */
    switch (field->type) {
    case YK_TYPE_NUMBERS: add_count(&phrase, field, "number", "numbers"); break;
    case YK_TYPE_FUNCTIONS:
        add_count(&phrase, field, "expression of time", "expressions of time");
        break;
    case YK_TYPE_LIST: add_count(&phrase, field, field->item->key, field->item->key); break;
    case YK_TYPE_CHOICE: add_words(&phrase, field->words); break;
    case YK_TYPE_FORM:
        add_words(&phrase, field->words);
        add(&phrase, ", or a section");
        break;
    case YK_TYPE_SECTION: add_keys(&phrase, field->section); break;
    case YK_TYPE_VARIANT:
        add(&phrase, "a section with '%s': ", field->selector);
        for (int i = 0; field->variants[i]; i++)
            add_alternative(&phrase, i == 0, !field->variants[i + 1], field->variants[i]->name);
        break;
    default: add(&phrase, "%s", kinds[field->type]); break;
    }

    /* ... in which unit and between which bounds. */
    if (field->unit)
        add(&phrase, " in %s", field->unit);

    bool low = field->range.bounds & YK_LOW;
    bool high = field->range.bounds & YK_HIGH;
    bool open = field->range.bounds & (YK_LOW_OPEN | YK_HIGH_OPEN);

    /* "between" where both bounds belong to the field->range. */
    const char *above = field->range.bounds & YK_LOW_OPEN ? "greater than" : "at least";
    const char *below = field->range.bounds & YK_HIGH_OPEN ? "less than" : "at most";
    if (low && high && !open)
        add(&phrase, ", between %g and %g", field->range.low, field->range.high);
    else if (low && high)
        add(&phrase, ", %s %g and %s %g", above, field->range.low, below, field->range.high);
    else if (low)
        add(&phrase, ", %s %g", above, field->range.low);
    else if (high)
        add(&phrase, ", %s %g", below, field->range.high);

    return phrase;
}

yk_phrase yk_found(const yk_node *node)
{
    yk_phrase phrase = {""};

    /* Long texts are cut: the excerpt of the file shows them. */
    if (yk_node_is_empty(node))
        add(&phrase, "nothing");
    else if (node->kind == YK_NODE_SCALAR)
        add(&phrase, "'%.40s'", node->text);
    else if (node->kind == YK_NODE_LIST)
        add(&phrase, "a list of %d", node->count);
    else
        add(&phrase, "a section");

    return phrase;
}

/* The word that is meant, or else the introduction and all valid words in quotes of that kind. */
static yk_phrase suggest(const char *word, const char *const *words, int count,
                         const char *introduction, const char *quote)
{
    yk_phrase phrase = {""};

    /* The nearest word is looked for in a list that ends with NULL. */
    const char *valid[YK_SUGGESTED_MAX + 1] = {NULL};
    for (int i = 0; i < count && i < YK_SUGGESTED_MAX; i++)
        valid[i] = words[i];

    const char *nearest = yk_word_meant(word, valid);
    if (nearest) {
        add(&phrase, "did you mean '%s'?", nearest);
        return phrase;
    }

    /* None is near: all of them, as far as they fit. */
    add(&phrase, "%s", introduction);
    for (int i = 0; i < count && strlen(phrase.text) < sizeof phrase.text - 1; i++)
        add(&phrase, "%s%s%s%s", i ? ", " : "", quote, words[i], quote);

    return phrase;
}

yk_phrase yk_suggest_name(const char *word, const char *const *names, int count)
{
    const char *introduction = "there are ";
    if (count == 0)
        introduction = "there are none";
    if (count == 1)
        introduction = "there is only ";
    return suggest(word, names, count, introduction, "'");
}

yk_phrase yk_suggest_word(const char *word, const char *const *words, int count)
{
    return suggest(word, words, count, "expected ", "");
}

/* Values --------------------------------------------------------------------------------------- */

/* The schema guarantees the entry: asking for another one is a mistake in the program. */
static const yk_node *entry(const yk_node *section, const char *key)
{
    const yk_node *node = yk_node_get(section, key);
    assert(node && node->valid);
    return node;
}

double yk_node_number(const yk_node *section, const char *key)
{
    return entry(section, key)->value;
}

int yk_node_integer(const yk_node *section, const char *key)
{
    return (int)entry(section, key)->value;
}

bool yk_node_boolean(const yk_node *section, const char *key)
{
    return entry(section, key)->choice != 0;
}

const char *yk_node_text(const yk_node *section, const char *key)
{
    return entry(section, key)->text;
}

int yk_node_choice(const yk_node *section, const char *key)
{
    return entry(section, key)->choice;
}

yk_vec3 yk_node_vector(const yk_node *section, const char *key)
{
    const yk_node *node = entry(section, key);
    assert(node->value_count == 3);
    return (yk_vec3){node->values[0], node->values[1], node->values[2]};
}

yk_quat yk_node_orientation(const yk_node *section, const char *key)
{
    const yk_node *node = entry(section, key);
    assert(node->value_count == 4);
    return (yk_quat){node->values[0], node->values[1], node->values[2], node->values[3]};
}
