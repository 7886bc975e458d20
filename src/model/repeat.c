/* Repeated items: an item of a list or of a named collection with `repeat` is replaced by copies,
 * one for each value of its index. In the copies, {index} and expressions of it in braces become
 * numbers, in values and names: name: link_{i}, position: ['({i} - 0.5)*length', 0, 0]. Expressions
 * of parameters alone are evaluated in all values and names: body: "n_{2*elements}". */
#include <math.h>
#include <string.h>

#include "model/schema.h"

static const yk_option repeat_fields[] = {
    {"index", YK_OPTION_NAME, .default_text = "i",
     .description = "name of the number in braces that counts the copies"},
    {"from", YK_OPTION_INTEGER, .default_text = "1", .description = "its first value"},
    {"to", YK_OPTION_INTEGER, .required = true,
     .description = "its last value; none is made if it is below `from`"},
    {0},
};
const yk_option_section yk_repeat_section = {
    "repeat",
    "An item of a list or of named items with `repeat` stands for many: "
    "it is copied for each value of an index, "
    "and expressions of the index in braces become numbers, in values and in names: "
    "`{name: \"link_{i}\", repeat: n, position: [\"{i}*length\", 0, 0]}`. "
    "`repeat: n` is short for `repeat: {index: i, from: 1, to: n}`. "
    "Without `repeat`, expressions of the parameters in braces become numbers too, "
    "wherever a name or a value stands: `body: \"n_{2*elements}\"`.",
    repeat_fields};
static const yk_option repeat_field = {"repeat", YK_OPTION_SECTION, .section = &yk_repeat_section,
                                       .description = ""};

enum { COMPILED_MAX = 32 };

typedef struct repetition {
    yk_resolver *r;
    const char *index; /* "": there is no index, only parameters are evaluated */
    double value;
    /* Brace groups of the item by their places; all copies share them. */
    struct {
        const char *start;
        yk_expression *expression; /* NULL: uses unknown names */
    } groups[COMPILED_MAX];
    int group_count;
    bool exhausted; /* the limit of values is reached */

    /* Data for visitors of the names in an expression. */
    bool unknown;     /* a name is neither the index nor a parameter */
    yk_text *out;     /* receives the expression with its index filled in */
    const char *rest; /* text that is not copied yet */
} repetition;

/* Limit of everything that a repetition creates: nodes, brace groups, and text in units of the size
 * of a node. */
static bool spend(repetition *p, size_t amount)
{
    size_t left = (size_t)(YK_YAML_NODES_MAX - p->r->repeated);
    bool enough = amount <= left;
    p->r->repeated = enough ? p->r->repeated + (int)amount : YK_YAML_NODES_MAX;
    p->exhausted = p->exhausted || !enough;
    return enough;
}

static bool is_index(const repetition *p, const char *name, size_t length)
{
    return strlen(p->index) == length && strncmp(name, p->index, length) == 0;
}

/* Names that are neither the index nor parameters belong to another context. */
static void check_name(void *user, const char *name, size_t length)
{
    repetition *p = user;
    bool known = is_index(p, name, length);
    for (int i = 0; i < p->r->scope.parameter_count && !known; i++) {
        const char *other = p->r->scope.parameters[i].name;
        known = strncmp(name, other, length) == 0 && !other[length];
    }

    p->unknown = p->unknown || !known;
}

/* Compiles the expression in braces with the index as its variable; NULL if that is not
 * possible. */
static yk_expression *compile(repetition *p, const char *start, size_t length)
{
    if (length > YK_EXPRESSION_LENGTH_MAX)
        return NULL;

    /* An expression of the index and of parameters alone. */
    char inner[YK_EXPRESSION_LENGTH_MAX + 1];
    memcpy(inner, start, length);
    inner[length] = '\0';
    p->unknown = false;
    yk_expression_names(inner, check_name, p);
    if (p->unknown)
        return NULL;

    /* With the index as its variable, so that all copies can share it. */
    yk_scope scope = p->r->scope;
    scope.variables = &p->index;
    scope.variable_count = *p->index ? 1 : 0;
    yk_expression_error error;
    yk_expression *expression;
    yk_context *context = p->r->store->context;
    yk_status status = yk_expression_create(context, inner, &scope, &error, &expression);
    if (status == YK_ERROR_MEMORY)
        p->r->status = status;

    return expression;
}

/* Copies the text up to the name, and the value if the name is the index. */
static void replace_name(void *user, const char *name, size_t length)
{
    repetition *p = user;
    if (!is_index(p, name, length))
        return;

    yk_text_add(p->r->store->context, p->out, "%.*s(%.0f)", (int)(name - p->rest), p->rest,
                p->value);
    p->rest = name + length;
}

/* Writes the result of a brace group: a number if it can be evaluated; otherwise the group with the
 * index filled in, for an inner repetition or for a later message. */
static void add_group(repetition *p, yk_text *out, const char *start, size_t length)
{
    yk_context *context = p->r->store->context;

    /* Compiled once for all copies, as long as there is space. */
    int number = 0;
    while (number < p->group_count && p->groups[number].start != start)
        number++;
    if (number == COMPILED_MAX)
        yk_expression_destroy(p->groups[--number].expression);
    if (number == p->group_count || p->groups[number].start != start) {
        p->groups[number].start = start;
        p->groups[number].expression = compile(p, start, length);
        p->group_count = number + 1;
    }

    /* A number, without a decimal point if it is an integer, because it may be part of a name. */
    yk_expression *expression = p->groups[number].expression;
    if (expression) {
        double value = yk_expression_value(expression, &p->value);
        bool whole = value == floor(value) && fabs(value) < 1e15;
        yk_text_add(context, out, whole ? "%.0f" : "%.17g", value);

        /* A quantity is in SI, also where plain numbers are in other units. */
        yk_quantity quantity = yk_expression_quantity(expression);
        yk_unit_name unit = yk_dimension_name(quantity.dimension);
        if (quantity.has_unit && strcmp(unit.text, "1") != 0)
            yk_text_add(context, out, " %s", unit.text);
        return;
    }

    /* A longer text is not an expression, and is copied unchanged. */
    char inner[YK_EXPRESSION_LENGTH_MAX + 1];
    size_t kept = length < sizeof inner ? length : 0;
    memcpy(inner, start, kept);
    inner[kept] = '\0';
    p->out = out;
    p->rest = inner;
    yk_text_add(context, out, "{");
    yk_expression_names(inner, replace_name, p);
    yk_text_add(context, out, "%s%.*s}", p->rest, (int)(length - kept), start);
}

/* The text with its brace groups filled in, in the store; the text itself if it has none. */
static const char *fill_in(repetition *p, const char *text)
{
    if (!strchr(text, '{'))
        return text;

    yk_context *context = p->r->store->context;
    yk_text out = {0};
    while (*text && spend(p, 1)) {
        /* Up to the next group; an unclosed brace is plain text. */
        const char *open = strchr(text, '{');
        const char *close = open ? strchr(open, '}') : NULL;
        if (!close) {
            yk_text_add(context, &out, "%s", text);
            break;
        }

        yk_text_add(context, &out, "%.*s", (int)(open - text), text);
        add_group(p, &out, open + 1, (size_t)(close - open) - 1);
        text = close + 1;
    }

    /* Long texts count as much as nodes of the same size. */
    spend(p, out.length / sizeof(yk_node));

    /* In the store, where the node can point to it. */
    const char *filled = NULL;
    if (!out.failed)
        filled = yk_store_text(p->r->store, out.data ? out.data : "", out.length);

    yk_text_destroy(context, &out);
    if (!filled)
        p->r->status = YK_ERROR_MEMORY;

    return filled;
}

/* NULL: memory is missing or the limit is reached. */
static yk_node *copy_filled(repetition *p, const yk_node *node)
{
    /* A few lines could create more nodes than memory has. */
    if (!spend(p, 1))
        return NULL;

    yk_node *copy = yk_node_create(p->r->store, node->kind, yk_node_location(node));
    if (!copy) {
        p->r->status = YK_ERROR_MEMORY;
        return NULL;
    }

    /* Its text ... */
    copy->quoted = node->quoted;
    copy->instance = node->instance;
    copy->text = "";
    if (node->kind == YK_NODE_SCALAR)
        copy->text = fill_in(p, node->text);
    if (!copy->text)
        return NULL;

    /* ... and its children, with keys filled in as well. */
    for (const yk_node *child = node->first; child; child = child->next) {
        yk_node *twin = copy_filled(p, child);
        if (!twin)
            return NULL;

        const char *key = child->key;
        if (key)
            key = fill_in(p, key);
        if (child->key && !key)
            return NULL;

        yk_node_append(copy, twin, key, yk_node_key_location(child));
    }

    return copy;
}

/* The range of a `repeat`, a section or only the last value; false after a message. */
static bool read_range(yk_resolver *r, yk_node *repeat, repetition *p, double *last)
{
    static const yk_option count = {"repeat", YK_OPTION_INTEGER, .description = ""};
    if (repeat->kind != YK_NODE_MAP) {
        /* In short: `repeat: 5` counts i from 1 to 5. */
        p->index = "i";
        p->value = 1;
        yk_resolve(r, repeat, &count);
        *last = repeat->value;
        return repeat->valid;
    }

    yk_resolve(r, repeat, &repeat_field);
    if (!repeat->valid)
        return false;

    p->index = yk_node_text(repeat, "index");
    p->value = yk_node_number(repeat, "from");
    *last = yk_node_number(repeat, "to");

    /* The index must not hide another name. */
    const char *reason = yk_expression_reserved(p->index);
    for (int i = 0; i < r->scope.parameter_count && !reason; i++)
        if (strcmp(r->scope.parameters[i].name, p->index) == 0)
            reason = "is a parameter";
    if (reason)
        yk_node_error(r->diagnostics, repeat, "the index cannot be '%.60s', which %s", p->index,
                      reason);

    return !reason;
}

static void release_groups(repetition *p)
{
    for (int i = 0; i < p->group_count; i++)
        yk_expression_destroy(p->groups[i].expression);
}

/* Appends the copies of an item to the new content of the collection. */
static bool add_copies(yk_resolver *r, yk_node *item, yk_node *repeat, yk_node *collection)
{
    repetition p = {.r = r};
    double last;
    if (!read_range(r, repeat, &p, &last))
        return false;

    /* Copies are items like any other. */
    yk_node_remove(repeat);
    bool good = true;
    while (p.value <= last && good) {
        yk_node *copy = copy_filled(&p, item);
        const char *name = NULL;
        if (copy && item->key)
            name = fill_in(&p, item->key);
        if (p.exhausted)
            yk_node_error(r->diagnostics, item, "the repetition makes more than a million values");

        /* Stop at a copy without a name, or at the limit. */
        good = copy && (!item->key || name) && !p.exhausted && r->status == YK_OK;
        if (good)
            yk_node_append(collection, copy, name, yk_node_key_location(item));
        p.value++;
    }

    release_groups(&p);
    return good;
}

const char *yk_fill_parameters(yk_resolver *r, const char *text)
{
    if (!strchr(text, '{'))
        return text;

    /* No index: only the parameters are known. */
    repetition p = {.r = r, .index = ""};
    const char *filled = fill_in(&p, text);
    release_groups(&p);
    if (!filled || p.exhausted)
        return text;

    return filled;
}

bool yk_expand_repeats(yk_resolver *r, yk_node *collection)
{
    if (collection->kind == YK_NODE_SCALAR)
        return true;

    /* Most collections have no repetitions; then only names are filled in. */
    bool repeats = false;
    for (yk_node *item = collection->first; item; item = item->next) {
        if (yk_node_get(item, "repeat"))
            repeats = true;
        else if (item->key)
            item->key = yk_fill_parameters(r, item->key);
    }

    if (!repeats)
        return true;

    /* Rebuild the collection, with copies in place of items with `repeat`. */
    yk_node *item = collection->first;
    collection->first = collection->last = NULL;
    collection->count = 0;

    /* After an error in a repetition, continue checking the others. */
    bool good = true;
    while (item) {
        /* The item leaves its list before it is appended. */
        yk_node *next = item->next;
        yk_node *repeat = yk_node_get(item, "repeat");
        if (repeat)
            good = add_copies(r, item, repeat, collection) && good;
        else
            yk_node_append(collection, item, item->key, yk_node_key_location(item));

        item = next;
        if (r->status != YK_OK)
            return false;
    }

    return good;
}
