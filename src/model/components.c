/* Included files, and components: parts of a model that are written once and used several times.
 *
 * A component is a file or an entry of `templates`. It has parameters, names, and items of the
 * collections of a section, such as bodies and joints:
 *
 *   parameters: {x: , stiffness: 20 kN/m}    # without a value: the instance must give it
 *   names: {chassis: chassis}                # texts, used as "{chassis}"
 *   bodies:
 *     wheel: {mass: 40, inertia: [1, 1, 1], position: [x, 0, 0.3]}
 *   forces:
 *     spring: {type: spring, between: ["{chassis}", wheel], stiffness: stiffness, ...}
 *
 * An instance `fl: {use: corner.yaml, with: {x: 1.2}}` in a section's `components` adds the items to
 * the collections of the section, before these are resolved, as if they had been written there: the
 * item `wheel` as `fl_wheel`, and the parameter `x` as `SECTION.fl.x`. Names in the component's
 * values are adapted when the values are resolved, because only the schema knows which texts are
 * expressions and which are names. Everything else of the program sees plain items. */
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"
#include "model/schema.h"

enum { NESTING_MAX = 16, NAME_LENGTH_MAX = 60, NAMES_MAX = 1000 };

static const yk_option component_fields[] = {
    {"use", YK_OPTION_TEXT, .required = true,
     .description = "the component: a file, relative to the file that names it, or an entry of "
                    "`templates`"},
    {"with", YK_OPTION_TREE,
     .description = "values of its parameters, and texts for its names; default: those that the "
                    "component gives"},
    {0},
};
static const yk_option_section component_section = {
    "component",
    "An instance of a component. The component is a section with `parameters` (an empty value must "
    "be given by the instance), `names` (texts, used in braces: `\"{chassis}\"`), `components` of "
    "its "
    "own, and items of the section in which it is used, such as `bodies` and `joints`.\n\n"
    "The instance adds these items to the section. Their names begin with that of the instance: "
    "`wheel` in the component is `fl_wheel` in the model, and the parameter `x` of the instance "
    "`fl` "
    "in the subsystem `car` is `car.fl.x`. Names of other items, `ground` and the parameters of "
    "the "
    "scenario are used as they are. "
    "Other keys of the instance change the component's items: "
    "`{use: corner.yaml, bodies: {wheel: {mass: 45}}}`; so does an item of the section that has "
    "the "
    "full name, `bodies: {fl_wheel: {mass: 45}}`, and "
    "`--set subsystems.car.bodies.fl_wheel.mass=45`. "
    "`yoke check --origins` shows the items with the lines from which their values come.",
    component_fields};
const yk_option yk_component_item = {"component", YK_OPTION_SECTION, .section = &component_section,
                                     .description = ""};

/* A text argument: "{name}" stands for the text. */
typedef struct word {
    const char *name, *text;
} word;

/* Names to which the values of an instance refer. */
typedef struct yk_instance {
    const char *prefix; /* of its items: "front_left" */
    const char *scope;  /* of its parameters: "car.front_left" */
    const char **parameters;
    word *words;
    const char **items; /* their names in the component; braces stand for any text */
    int parameter_count, word_count, item_count;
} yk_instance;

/* A text in the store; NULL, with the status set, if memory is missing. */
static char *make_text(yk_resolver *r, const char *first, const char *between, const char *second)
{
    size_t lengths[] = {strlen(first), strlen(between), strlen(second)};
    char *text = yk_resolver_take(r, lengths[0] + lengths[1] + lengths[2] + 1);
    if (!text)
        return NULL;

    memcpy(text, first, lengths[0]);
    memcpy(text + lengths[0], between, lengths[1]);
    memcpy(text + lengths[0] + lengths[1], second, lengths[2]);
    return text;
}

/* Values of an instance ------------------------------------------------------------------------ */

/* An expression whose parameters are renamed. */
typedef struct renaming {
    yk_resolver *r;
    const yk_instance *instance;
    yk_text out;
    const char *rest; /* text that is not copied yet */
    bool changed;
} renaming;

static void rename_parameter(void *user, const char *name, size_t length)
{
    renaming *change = user;
    const yk_instance *instance = change->instance;
    for (int i = 0; i < instance->parameter_count; i++) {
        const char *own = instance->parameters[i];
        if (strlen(own) != length || strncmp(own, name, length) != 0)
            continue;

        yk_text_add(change->r->store->context, &change->out, "%.*s%s.", (int)(name - change->rest),
                    change->rest, instance->scope);
        change->rest = name;
        change->changed = true;
    }
}

/* The text in the store, if a visitor changed it. */
static const char *finish_renaming(renaming *change, const char *text)
{
    yk_context *context = change->r->store->context;
    const char *renamed = text;
    if (change->changed) {
        yk_text_add(context, &change->out, "%s", change->rest);
        renamed = NULL;
        if (!change->out.failed)
            renamed = yk_store_text(change->r->store, change->out.data, change->out.length);
        if (!renamed)
            change->r->status = YK_ERROR_MEMORY;
    }

    yk_text_destroy(context, &change->out);
    return renamed ? renamed : text;
}

static const char *rename_parameters(yk_resolver *r, const yk_instance *instance, const char *text)
{
    renaming change = {.r = r, .instance = instance, .rest = text};
    yk_expression_names(text, rename_parameter, &change);
    return finish_renaming(&change, text);
}

/* The text with the names in braces replaced by their texts, and with the parameters in braces
 * renamed. */
static const char *fill_words(yk_resolver *r, const yk_instance *instance, const char *text)
{
    renaming change = {.r = r, .instance = instance, .rest = text};
    const char *open = strchr(text, '{');
    while (open) {
        const char *close = strchr(open, '}');
        if (!close)
            break;

        size_t length = (size_t)(close - open) - 1;
        const char *inner = yk_store_text(r->store, open + 1, length);
        if (!inner) {
            r->status = YK_ERROR_MEMORY;
            break;
        }

        /* A name with its braces, or an expression within them. */
        const char *filled = NULL;
        for (int i = 0; i < instance->word_count; i++)
            if (strcmp(instance->words[i].name, inner) == 0)
                filled = instance->words[i].text;

        const char *renamed = filled ? filled : rename_parameters(r, instance, inner);
        if (renamed != inner) {
            size_t before = (size_t)(open - change.rest);
            yk_text_add(r->store->context, &change.out, filled ? "%.*s%s" : "%.*s{%s}", (int)before,
                        change.rest, renamed);
            change.rest = close + 1;
            change.changed = true;
        }
        open = strchr(close, '{');
    }

    return finish_renaming(&change, text);
}

/* Whether a name is the name of an item, in which expressions in braces stand for any text. */
static bool matches(const char *name, size_t length, const char *item)
{
    if (*item == '{') {
        const char *close = strchr(item, '}');
        const char *rest = close ? close + 1 : item + strlen(item);
        for (size_t skipped = 1; skipped <= length; skipped++)
            if (matches(name + skipped, length - skipped, rest))
                return true;
        return false;
    }

    if (*item == '\0' || length == 0)
        return *item == '\0' && length == 0;
    return *name == *item && matches(name + 1, length - 1, item + 1);
}

/* "wheel.velocity" -> "fl_wheel.velocity" if the instance has an item `wheel`. */
static const char *rename_item(yk_resolver *r, const yk_instance *instance, const char *text)
{
    size_t length = strcspn(text, ".");
    for (int i = 0; i < instance->item_count; i++) {
        if (!matches(text, length, instance->items[i]))
            continue;

        const char *renamed = make_text(r, instance->prefix, "_", text);
        return renamed ? renamed : text;
    }

    return text;
}

/* The folder of the file in which a node is written, relative to the scenario's; "": the same. */
static const char *folder_of(yk_resolver *r, const yk_node *node)
{
    if (!node->from || !node->from->has_lines || !r->root)
        return "";

    const char *own = node->from->name;
    const char *scenario = r->root->from->name;
    size_t skipped = yk_text_folder(scenario);
    size_t length = yk_text_folder(own);
    if (length <= skipped || strncmp(own, scenario, skipped) != 0)
        return "";

    const char *folder = yk_store_text(r->store, own + skipped, length - skipped);
    if (!folder)
        r->status = YK_ERROR_MEMORY;
    return folder ? folder : "";
}

/* A path in a file, relative to the scenario's folder. */
static const char *path_from(yk_resolver *r, const yk_node *node, const char *path)
{
    const char *folder = folder_of(r, node);
    if (path[0] == '/' || !folder[0])
        return path;

    const char *whole = make_text(r, folder, "", path);
    return whole ? whole : path;
}

void yk_adapt_value(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (node->kind != YK_NODE_SCALAR)
        return;

    const yk_instance *instance = node->instance;
    node->instance = NULL;
    switch (field->kind) {
    case YK_OPTION_PATH: node->text = path_from(r, node, node->text); break;
    case YK_OPTION_TEXT:
        if (instance)
            node->text = rename_item(r, instance, node->text);
        break;
    case YK_OPTION_NUMBER:
    case YK_OPTION_INTEGER:
    case YK_OPTION_FUNCTION:
    case YK_OPTION_EXPRESSION:
        if (instance)
            node->text = rename_parameters(r, instance, node->text);
        break;
    default: break;
    }
}

/* Trees ---------------------------------------------------------------------------------------- */

/* A copy of a part of a component, in which the names in braces are filled in. NULL, with the status
 * set or after a message, if memory is missing or the instances are too large. */
static yk_node *copy_tree(yk_resolver *r, const yk_node *node, const yk_instance *instance)
{
    if (++r->repeated > YK_YAML_NODES_MAX) {
        if (r->repeated == YK_YAML_NODES_MAX + 1)
            yk_node_error(r->diagnostics, node, "the instances have more than a million values");
        return NULL;
    }

    yk_node *copy = yk_node_create(r->store, node->kind, yk_node_location(node));
    if (!copy) {
        r->status = YK_ERROR_MEMORY;
        return NULL;
    }

    copy->text = fill_words(r, instance, node->text);
    copy->quoted = node->quoted;
    copy->instance = instance;
    for (const yk_node *child = node->first; child; child = child->next) {
        yk_node *twin = copy_tree(r, child, instance);
        if (!twin)
            return NULL;

        const char *key = child->key ? fill_words(r, instance, child->key) : NULL;
        yk_node_append(copy, twin, key, yk_node_key_location(child));
    }

    return copy;
}

/* The child of a map or list that has the key or name of another node. */
static yk_node *find_twin(const yk_node *tree, const yk_node *node)
{
    const char *name = yk_node_name(node);
    for (yk_node *child = tree->first; child && name; child = child->next) {
        const char *other = yk_node_name(child);
        if (other && strcmp(other, name) == 0)
            return child;
    }

    return NULL;
}

static void move_child(yk_node *tree, yk_node *child)
{
    yk_location key_location = {.line = child->key_line, .column = child->key_column};
    yk_node_remove(child);
    yk_node_append(tree, child, child->key, key_location);
}

/* Moves the values of one tree into another. Maps are merged; other values are replaced. */
static void merge_tree(yk_node *tree, yk_node *values)
{
    for (yk_node *next, *value = values->first; value; value = next) {
        next = value->next;
        yk_node *present = find_twin(tree, value);
        if (present && present->kind == YK_NODE_MAP && value->kind == YK_NODE_MAP) {
            merge_tree(present, value);
        } else if (present) {
            yk_node_remove(value);
            value->key_line = present->key_line;
            value->key_column = present->key_column;
            yk_node_replace(present, value);
        } else {
            move_child(tree, value);
        }
    }
}

/* Files ---------------------------------------------------------------------------------------- */

/* The content of a file that `use` or `include` names; NULL after a message. */
static yk_node *read_file(yk_resolver *r, const yk_node *name)
{
    const char *path = path_from(r, name, name->text);
    for (const yk_included_file *file = r->files; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return file->root;

    const char *scenario = r->root->from->name;
    const char *folder = yk_store_text(r->store, scenario, yk_text_folder(scenario));
    yk_included_file *file = yk_resolver_take(r, sizeof *file);
    yk_source *source = yk_resolver_take(r, sizeof *source);
    const char *whole = folder && path[0] != '/' ? make_text(r, folder, "", path) : path;
    if (!folder || !file || !source || !whole) {
        r->status = YK_ERROR_MEMORY;
        return NULL;
    }

    /* The message names the key, and not only the file. */
    *file = (yk_included_file){.path = path, .next = r->files};
    r->files = file;
    if (yk_regular_check(r->store->context, whole, YK_ERROR_INPUT) != YK_OK) {
        yk_node_error(r->diagnostics, name, "%s", yk_last_message(r->store->context));
        return NULL;
    }

    r->status = yk_yaml_open(r->store, whole, r->diagnostics, source);
    if (r->status == YK_OK && source->text)
        r->status = yk_yaml_read(r->store, source, r->diagnostics, &file->root);
    if (file->root && file->root->kind != YK_NODE_MAP) {
        yk_node_error(r->diagnostics, file->root,
                      "expected a section, as in a scenario, because '%.60s' is included",
                      name->text);
        file->root = NULL;
    }

    return file->root;
}

static void include_file(yk_resolver *r, yk_node *tree, const yk_node *name, int nesting);

/* Merges the files that a tree names into it. */
static void include_files(yk_resolver *r, yk_node *tree, int nesting)
{
    yk_node *include = yk_node_get(tree, "include");
    if (!include)
        return;

    yk_node_remove(include);
    if (include->kind == YK_NODE_SCALAR && !yk_node_is_empty(include)) {
        include_file(r, tree, include, nesting);
        return;
    }

    /* If two files give the same value, the first one has precedence. */
    for (const yk_node *name = include->first; name; name = name->next) {
        if (include->kind == YK_NODE_LIST && name->kind == YK_NODE_SCALAR)
            include_file(r, tree, name, nesting);
        else
            yk_node_error(r->diagnostics, name, "expected the name of a file, but found %s",
                          yk_found(name).text);
    }
}

static void include_file(yk_resolver *r, yk_node *tree, const yk_node *name, int nesting)
{
    if (nesting == NESTING_MAX) {
        yk_node_error(r->diagnostics, name,
                      "files include each other more than %d levels deep; does a file include "
                      "itself?",
                      NESTING_MAX);
        return;
    }

    const yk_node *content = read_file(r, name);
    if (!content || r->status != YK_OK)
        return;

    static const yk_instance none = {0};
    yk_node *copy = copy_tree(r, content, &none);
    if (!copy)
        return;

    include_files(r, copy, nesting + 1);

    /* The values of the tree replace those of the file, in the order of the file. */
    yk_node own = *tree;
    tree->first = tree->last = NULL;
    tree->count = 0;
    for (yk_node *child = own.first; child; child = child->next)
        child->parent = &own;
    merge_tree(tree, copy);
    merge_tree(tree, &own);
}

void yk_resolve_includes(yk_resolver *r)
{
    include_files(r, r->root, 0);
}

void yk_take_templates(yk_resolver *r)
{
    yk_node *templates = yk_node_get(r->root, "templates");
    if (!templates)
        return;

    r->templates = templates;
    yk_node_remove(templates);
    if (templates->kind != YK_NODE_MAP && !yk_node_is_empty(templates))
        yk_node_error(r->diagnostics, templates, "expected a section of components, but found %s",
                      yk_found(templates).text);
}

/* The component that `use` names; NULL after a message. */
static const yk_node *find_component(yk_resolver *r, const yk_node *use)
{
    const char *names[NAMES_MAX];
    int count = 0;
    const yk_node *template = r->templates ? r->templates->first : NULL;
    for (; template && template->key; template = template->next) {
        if (strcmp(template->key, use->text) == 0)
            return template;
        if (count < NAMES_MAX)
            names[count++] = template->key;
    }

    /* A word without a point or a slash cannot be meant as a file. */
    if (strpbrk(use->text, "./"))
        return read_file(r, use);
    yk_node_error(r->diagnostics, use, "component '%.60s' not found. %s", use->text,
                  count > 0 ? yk_suggest_name(use->text, names, count).text
                            : "Add it to 'templates', or name a file such as corner.yaml.");
    return NULL;
}

/* Instances ------------------------------------------------------------------------------------ */

/* One use of a component. */
typedef struct expansion {
    yk_resolver *r;
    yk_node *section;      /* that receives the items */
    const yk_option *rows; /* of that section */
    int nesting;
} expansion;

static bool is_collection(const yk_option *row)
{
    return row && (row->kind == YK_OPTION_NAMED || row->kind == YK_OPTION_LIST);
}

static bool is_header(const char *key)
{
    static const char *const keys[] = {"parameters", "names", "components"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Appends the keys of the collections of a section, for messages. */
static void list_collections(const yk_option *rows, const char **keys, int *count)
{
    for (; rows->key; rows++) {
        if (rows->kind == YK_OPTION_INCLUDE)
            list_collections(rows->section->options, keys, count);
        else if (is_collection(rows) && *count < NAMES_MAX)
            keys[(*count)++] = rows->key;
    }
}

/* A component has items only; false after a message. */
static bool check_component(const expansion *e, const yk_node *component)
{
    yk_diagnostics *diagnostics = e->r->diagnostics;
    bool valid = true;
    for (const yk_node *entry = component->first; entry; entry = entry->next) {
        const char *key = entry->key;
        const yk_option *row = key ? yk_option_find(e->rows, key) : NULL;
        bool empty = yk_node_is_empty(entry);
        if (key && is_header(key) && (empty || entry->kind == YK_NODE_MAP))
            continue;
        if (is_collection(row) && (empty || entry->kind != YK_NODE_SCALAR))
            continue;

        valid = false;
        const char *keys[NAMES_MAX] = {"parameters", "names", "components"};
        int count = 3;
        list_collections(e->rows, keys, &count);
        if (key && (is_header(key) || is_collection(row)))
            yk_node_error(diagnostics, entry, "expected a section of named items, but found %s",
                          yk_found(entry).text);
        else if (row)
            yk_node_key_error(diagnostics, entry,
                              "a component has items only, such as bodies; set '%.60s' in the "
                              "section that uses the component",
                              key);
        else
            yk_node_key_error(
                diagnostics, entry, "unknown key '%.60s' of a component. %s", key ? key : "",
                yk_suggest_format_word(YK_WORD_KEY, key ? key : "", keys, count).text);
    }

    return valid;
}

/* Names of the items of a component, as in its text. */
static bool list_items(yk_instance *instance, yk_resolver *r, const yk_node *component)
{
    size_t count = 0;
    for (const yk_node *entry = component->first; entry; entry = entry->next)
        count += (size_t)entry->count;

    /* An item may name a port in addition to itself. */
    instance->items = yk_resolver_take(r, (2 * count + 1) * sizeof *instance->items);
    if (!instance->items)
        return false;

    for (const yk_node *entry = component->first; entry; entry = entry->next) {
        if (strcmp(entry->key, "parameters") == 0 || strcmp(entry->key, "names") == 0)
            continue;

        bool nested = strcmp(entry->key, "components") == 0;
        for (const yk_node *item = entry->first; item; item = item->next) {
            const char *name = yk_node_name(item);

            /* Items of an inner instance begin with its name. */
            if (name && nested)
                name = make_text(r, name, "_", "{item}");
            if (name)
                instance->items[instance->item_count++] = name;

            /* This key gives a new port its name. */
            const yk_node *port = yk_node_get(item, "signal_port");
            if (port && port->kind == YK_NODE_SCALAR)
                instance->items[instance->item_count++] = port->text;
        }
    }

    return r->status == YK_OK;
}

/* The value of a parameter or name: of the instance, or of the component. */
static const yk_node *choose_value(const expansion *e, const yk_node *item, const yk_node *own,
                                   const yk_node *with, const char *what)
{
    const yk_node *given = with ? yk_node_get(with, own->key) : NULL;
    const yk_node *value = given ? given : own;
    if (value->kind == YK_NODE_SCALAR && !yk_node_is_empty(value))
        return value;

    if (value->kind != YK_NODE_SCALAR)
        yk_node_error(e->r->diagnostics, value, "expected one value, but found %s",
                      yk_found(value).text);
    else
        yk_node_key_error(e->r->diagnostics, item,
                          "the %s '%.60s' of the component has no value. Give one: with: {%.60s: "
                          "...}",
                          what, own->key, own->key);
    return NULL;
}

/* Adds a parameter of the instance to those that are evaluated. */
static bool add_parameter(const expansion *e, const yk_instance *instance, const yk_node *own,
                          const yk_node *value, yk_node *parameters)
{
    yk_resolver *r = e->r;
    const char *key = make_text(r, instance->scope, ".", own->key);
    yk_node *parameter = yk_node_create(r->store, YK_NODE_SCALAR, yk_node_location(value));
    yk_node *usual = yk_node_create(r->store, YK_NODE_SCALAR, yk_node_location(own));
    if (!key || !parameter || !usual) {
        r->status = YK_ERROR_MEMORY;
        return false;
    }

    if (strlen(key) > NAME_LENGTH_MAX) {
        yk_node_key_error(
            r->diagnostics, own,
            "the parameter's name '%.120s' has more than %d characters: shorten it, or "
            "the name of the instance",
            key, NAME_LENGTH_MAX);
        return false;
    }

    /* Values of the instance are expressions of the section around it, values of the component may
     * also use other parameters of the component. */
    const yk_instance *scope = value == own ? instance : value->instance;
    parameter->text = value->text;
    if (scope)
        parameter->text = rename_parameters(r, scope, fill_words(r, scope, value->text));
    parameter->quoted = value->quoted;

    /* A plain number has the unit of the component's value. */
    usual->text = rename_parameters(r, instance, own->text);
    if (value != own && !yk_node_is_empty(own))
        parameter->replaced = usual;
    yk_node_append(parameters, parameter, key, (yk_location){0});
    return true;
}

/* Reads the parameters and names of a component, and evaluates the parameters. */
static bool set_arguments(const expansion *e, yk_instance *instance, const yk_node *item,
                          const yk_node *component)
{
    yk_resolver *r = e->r;
    const yk_node *with = yk_node_get(item, "with");
    const yk_node *parameters = yk_node_get(component, "parameters");
    const yk_node *names = yk_node_get(component, "names");
    size_t parameter_count = parameters ? (size_t)parameters->count : 0;
    size_t name_count = names ? (size_t)names->count : 0;
    const char **known = yk_resolver_take(r, (parameter_count + name_count + 1) * sizeof *known);
    instance->parameters = yk_resolver_take(r, (parameter_count + 1) * sizeof *known);
    instance->words = yk_resolver_take(r, (name_count + 1) * sizeof *instance->words);
    int count = 0;
    yk_node *values = yk_node_create(r->store, YK_NODE_MAP, yk_node_location(item));
    if (!known || !instance->parameters || !instance->words || !values) {
        r->status = YK_ERROR_MEMORY;
        return false;
    }

    /* All names of parameters first, because one may use another. */
    const yk_node *own = parameters ? parameters->first : NULL;
    for (; own; own = own->next) {
        instance->parameters[instance->parameter_count++] = own->key;
        known[count++] = own->key;
    }

    bool valid = true;
    for (own = names ? names->first : NULL; own; own = own->next) {
        const yk_node *value = choose_value(e, item, own, with, "name");
        known[count++] = own->key;
        valid = valid && value;
        if (!value)
            continue;

        /* The text may be the name of an item of the component around the instance. */
        const char *text = value->text;
        if (value->instance)
            text = rename_item(r, value->instance, text);
        instance->words[instance->word_count++] = (word){own->key, text};
    }

    for (own = parameters ? parameters->first : NULL; own; own = own->next) {
        const yk_node *value = choose_value(e, item, own, with, "parameter");
        valid = value && add_parameter(e, instance, own, value, values) && valid;
    }

    /* Misspelled ones. */
    for (const yk_node *given = with ? with->first : NULL; given; given = given->next) {
        bool found = false;
        for (int i = 0; i < count && given->key; i++)
            found = found || strcmp(known[i], given->key) == 0;
        if (found)
            continue;

        valid = false;
        yk_node_key_error(r->diagnostics, given, "the component has no parameter '%.60s'. %s",
                          given->key ? given->key : "",
                          count > 0
                              ? yk_suggest_name(given->key ? given->key : "", known, count).text
                              : "It has none.");
    }

    if (!valid || r->status != YK_OK || !yk_resolve_more_parameters(r, values))
        return false;

    /* They become parameters of the scenario, which a resolved scenario contains. */
    yk_node *all = yk_node_get(r->root, "parameters");
    if (!all || all->kind != YK_NODE_MAP) {
        all = yk_node_create(r->store, YK_NODE_MAP, yk_node_location(item));
        if (!all) {
            r->status = YK_ERROR_MEMORY;
            return false;
        }
        all->valid = true;
        yk_node_append(r->root, all, "parameters", (yk_location){0});
    }
    while (values->first)
        move_child(all, values->first);
    return true;
}

/* Changes the copy of a component by the other keys of the instance. */
static bool change_items(const expansion *e, const yk_node *item, const yk_instance *instance,
                         yk_node *items)
{
    yk_diagnostics *diagnostics = e->r->diagnostics;
    bool valid = true;
    for (const yk_node *entry = item->first; entry; entry = entry->next) {
        static const char *const own[] = {"use", "with", "name"};
        bool skipped = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            skipped = skipped || strcmp(entry->key, own[i]) == 0;
        if (skipped)
            continue;

        /* A collection of the component, and items of it. */
        yk_node *collection = yk_node_get(items, entry->key);
        const char *names[NAMES_MAX] = {"use", "with"};
        int count = 2;
        for (const yk_node *other = items->first; other && count < NAMES_MAX; other = other->next)
            if (!is_header(other->key))
                names[count++] = other->key;
        if (!collection) {
            yk_node_key_error(diagnostics, entry, "the component has no '%.60s'. %s", entry->key,
                              yk_suggest_name(entry->key, names, count).text);
            valid = false;
            continue;
        }

        count = 0;
        for (const yk_node *other = collection->first; other && count < NAMES_MAX;
             other = other->next)
            if (yk_node_name(other))
                names[count++] = yk_node_name(other);
        for (const yk_node *change = entry->first; change; change = change->next) {
            const char *name = yk_node_name(change);
            if (name && find_twin(collection, change))
                continue;

            valid = false;
            yk_node_key_error(diagnostics, change, "the component has no '%.60s' in its %.60s. %s",
                              name ? name : "", entry->key,
                              yk_suggest_name(name ? name : "", names, count).text);
        }

        yk_node *copy = valid ? copy_tree(e->r, entry, instance) : NULL;
        if (copy)
            merge_tree(collection, copy);
    }

    return valid;
}

/* An item of a list has its name in the entry `name`, an item of a map in its key. */
static bool name_item(yk_resolver *r, yk_node *item, const char *name, bool in_list)
{
    yk_node *entry = yk_node_get(item, "name");
    if (!in_list) {
        if (entry)
            yk_node_remove(entry);
        return true;
    }

    if (!entry) {
        entry = yk_node_create(r->store, YK_NODE_SCALAR, yk_node_key_location(item));
        if (!entry || item->kind != YK_NODE_MAP) {
            r->status = entry ? r->status : YK_ERROR_MEMORY;
            return entry;
        }
        yk_node_append(item, entry, "name", (yk_location){0});
    }

    entry->text = name;
    return true;
}

/* The item of a section that is not of an instance. Those of instances follow it. */
static yk_node *find_own_item(const yk_node *collection, const char *name)
{
    for (yk_node *item = collection->first; item && !item->instance; item = item->next) {
        const char *own = yk_node_name(item);
        if (own && strcmp(own, name) == 0)
            return item;
    }

    return NULL;
}

/* Moves the items of a collection of the instance into that of the section. */
static bool move_items(const expansion *e, const yk_instance *instance, yk_node *from)
{
    yk_resolver *r = e->r;
    yk_node *to = yk_node_get(e->section, from->key);
    if (!to) {
        to = yk_node_create(r->store, from->kind, yk_node_location(from));
        if (!to) {
            r->status = YK_ERROR_MEMORY;
            return false;
        }
        yk_node_append(e->section, to, from->key, yk_node_key_location(from));
    }
    if (yk_node_is_empty(to))
        to->kind = from->kind;

    bool in_list = to->kind == YK_NODE_LIST;
    while (from->first) {
        yk_node *item = from->first;
        const char *name = yk_node_name(item);
        yk_location key_location = yk_node_key_location(item);
        yk_node_remove(item);
        if (!name) {
            yk_node_append(to, item, NULL, key_location);
            continue;
        }

        name = make_text(r, instance->prefix, "_", name);
        if (!name || !name_item(r, item, name, in_list))
            return false;

        /* An item of the section that has the full name changes that of the component. */
        yk_node *change = find_own_item(to, name);
        if (change && change->kind == YK_NODE_MAP && item->kind == YK_NODE_MAP) {
            merge_tree(item, change);
            yk_node_remove(change);
        } else if (change) {
            yk_node_remove(change);
            item = change;
            item->added = false;
        }
        yk_node_append(to, item, in_list ? NULL : name, key_location);
    }

    return true;
}

/* Whether expanding must end, after a message. */
static bool must_stop(const yk_resolver *r)
{
    return r->status != YK_OK || r->repeated > YK_YAML_NODES_MAX ||
           yk_diagnostics_full(r->diagnostics);
}

static void make_instance(const expansion *e, const yk_node *item);

static void make_nested(const expansion *e, const yk_instance *instance, yk_node *components)
{
    expansion inner = *e;
    inner.nesting++;
    if (!yk_expand_repeats(e->r, components))
        return;

    for (yk_node *item = components->first; item && !must_stop(e->r); item = item->next) {
        const char *name = yk_node_name(item);
        item->key = name ? make_text(e->r, instance->prefix, "_", name) : NULL;
        make_instance(&inner, item);
    }
}

/* Adds the items of one instance to the section. */
static void make_instance(const expansion *e, const yk_node *item)
{
    yk_resolver *r = e->r;
    yk_diagnostics *diagnostics = r->diagnostics;
    const yk_node *use = yk_node_get(item, "use");
    const char *name = yk_node_name(item);
    if (item->kind != YK_NODE_MAP || !name) {
        yk_node_error(diagnostics, item,
                      "expected a named instance, as in fl: {use: corner.yaml}, but found %s",
                      yk_found(item).text);
        return;
    }

    if (!use || use->kind != YK_NODE_SCALAR) {
        yk_node_key_error(diagnostics, item,
                          "'use' is missing. Expected a file or the name of a template.");
        return;
    }

    const yk_node *with = yk_node_get(item, "with");
    if (with && with->kind != YK_NODE_MAP && !yk_node_is_empty(with)) {
        yk_node_error(diagnostics, with, "expected names and values, but found %s",
                      yk_found(with).text);
        return;
    }

    if (e->nesting == NESTING_MAX) {
        yk_node_error(diagnostics, use,
                      "components contain each other more than %d levels deep; does a component "
                      "contain itself?",
                      NESTING_MAX);
        return;
    }

    const yk_node *component = find_component(r, use);
    if (!component || r->status != YK_OK || !check_component(e, component))
        return;

    /* Parameters of subsystems' instances have the name of the subsystem in theirs. In expressions,
     * '-' is an operator. */
    yk_instance *instance = yk_resolver_take(r, sizeof *instance);
    const char *owner = e->section == r->root ? NULL : yk_node_name(e->section);
    char *scope = make_text(r, owner ? owner : "", owner ? "." : "", name);
    for (char *at = scope; at && *at; at++)
        if (*at == '-')
            *at = '_';
    if (!instance || !scope)
        return;

    *instance = (yk_instance){.prefix = name, .scope = scope};
    if (!set_arguments(e, instance, item, component))
        return;

    /* Names of items may contain words, so that they are listed in the copy. */
    yk_node *copy = copy_tree(r, component, instance);
    if (!copy || !change_items(e, item, instance, copy) || !list_items(instance, r, copy))
        return;

    for (yk_node *entry = copy->first; entry && !must_stop(r); entry = entry->next) {
        if (strcmp(entry->key, "components") == 0)
            make_nested(e, instance, entry);
        if (is_header(entry->key))
            continue;

        /* Repeated items one by one, because the section may change each of them. */
        if (!yk_expand_repeats(r, entry) || !move_items(e, instance, entry))
            return;
    }
}

void yk_resolve_components(yk_resolver *r, yk_node *node, const yk_option *field)
{
    /* The items of the instances replace the entry. */
    const expansion e = {.r = r, .section = node->parent, .rows = r->section->options};
    yk_node_remove(node);
    node->valid = true;
    if (yk_node_is_empty(node))
        return;

    if (node->kind == YK_NODE_SCALAR) {
        yk_resolve_mismatch(r, node, field);
        return;
    }

    if (!yk_expand_repeats(r, node))
        return;

    int errors = yk_diagnostics_error_count(r->diagnostics);
    for (const yk_node *item = node->first; item && !must_stop(r); item = item->next)
        make_instance(&e, item);
    node->valid = yk_diagnostics_error_count(r->diagnostics) == errors;
}
