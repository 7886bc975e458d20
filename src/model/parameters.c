/* The parameters of a scenario: numbers and expressions of other parameters, in any order. */
#include <string.h>

#include "model/schema.h"

typedef struct evaluation {
    yk_resolver *r;
    yk_node **nodes;
    enum { WAITING, OPEN, DONE, FAILED } * states;
    int count;
    yk_named_value *values; /* values of evaluated parameters, in the resolver's scope */
    int open;               /* the parameter that is being evaluated */
    bool blocked;           /* it uses a parameter that failed */
    bool unknown;           /* it uses an unknown name */
} evaluation;

static void evaluate(evaluation *e, int index, bool last_chance);

/* Whether a parameter that is not in this evaluation has a value already. */
static bool is_in_scope(const evaluation *e, const char *name, size_t length)
{
    for (int i = 0; i < e->r->scope.parameter_count; i++) {
        const char *other = e->r->scope.parameters[i].name;
        if (strlen(other) == length && strncmp(other, name, length) == 0)
            return true;
    }
    return false;
}

/* Makes sure that a name used by the open parameter has its value. */
static void require_name(void *user, const char *name, size_t length)
{
    evaluation *e = user;

    /* The parameter of that name. */
    int needed = 0;
    while (needed < e->count && (strlen(e->nodes[needed]->key) != length ||
                                 strncmp(e->nodes[needed]->key, name, length) != 0))
        needed++;
    if (needed == e->count) {
        e->unknown = e->unknown || !is_in_scope(e, name, length);
        return;
    }

    /* A parameter that is being evaluated depends on itself. */
    if (e->states[needed] == OPEN && !e->blocked) {
        const yk_node *node = e->nodes[e->open];
        if (needed == e->open)
            yk_node_error(e->r->diagnostics, node,
                          "depends on itself; parameters cannot be circular");
        else
            yk_node_error(e->r->diagnostics, node,
                          "depends on itself through '%s'; parameters cannot be circular",
                          e->nodes[needed]->key);

        e->blocked = true;
    }

    /* Evaluate it first; save the state of the open one. */
    if (e->states[needed] == WAITING) {
        int open = e->open;
        bool blocked = e->blocked;
        bool unknown = e->unknown;
        evaluate(e, needed, false);
        e->open = open;
        e->blocked = blocked;
        e->unknown = unknown;
        if (e->states[needed] == WAITING)
            e->unknown = true; /* the parameter is evaluated again at the end */
    }

    /* A parameter that uses one with an error gets no message of its own. */
    if (e->states[needed] == FAILED)
        e->blocked = true;
}

/* A parameter with an unknown name is evaluated after all others, so that the right name can be
 * suggested. */
static void evaluate(evaluation *e, int index, bool last_chance)
{
    yk_node *node = e->nodes[index];
    e->states[index] = OPEN;
    e->open = index;
    e->blocked = false;
    e->unknown = false;

    /* First the parameters that it uses, */
    if (node->kind == YK_NODE_SCALAR)
        yk_expression_names(node->text, require_name, e);
    if (e->unknown && !e->blocked && !last_chance) {
        e->states[index] = WAITING;
        return;
    }

    /* then the parameter itself; later ones can use it. */
    yk_quantity quantity;
    bool done = !e->blocked && yk_resolve_parameter(e->r, node, &quantity);
    e->states[index] = done ? DONE : FAILED;
    if (done)
        e->values[e->r->scope.parameter_count++] =
            (yk_named_value){node->key, node->value, quantity};
}

void yk_resolve_parameters(yk_resolver *r, yk_node *node, const yk_option *field)
{
    /* A section without entries is allowed, a list is not. */
    if (yk_node_is_empty(node))
        node->kind = YK_NODE_MAP;
    if (node->kind != YK_NODE_MAP) {
        yk_resolve_mismatch(r, node, field);
        return;
    }

    if (field->max_count && node->count > field->max_count) {
        yk_node_error(r->diagnostics, node, "expected at most %d parameters; found %d",
                      field->max_count, node->count);
        return;
    }

    r->scope.parameter_count = 0;
    node->valid = yk_resolve_more_parameters(r, node);
}

/* Makes room for more parameters in the scope of all expressions. */
static yk_named_value *grow_scope(yk_resolver *r, int more)
{
    yk_scope *scope = &r->scope;
    size_t needed = (size_t)scope->parameter_count + (size_t)more + 1;
    if (!scope->parameters || needed > (size_t)r->parameter_capacity) {
        size_t capacity = 2 * needed;
        yk_named_value *values = yk_resolver_take(r, capacity * sizeof *values);
        bool *used = yk_resolver_take(r, capacity * sizeof *used);
        if (!values || !used)
            return NULL;

        if (scope->parameter_count > 0) {
            memcpy(values, scope->parameters, (size_t)scope->parameter_count * sizeof *values);
            memcpy(used, r->parameter_used, (size_t)scope->parameter_count * sizeof *used);
        }
        r->parameter_values = values;
        r->parameter_used = used;
        r->parameter_capacity = (int)capacity;
    }

    scope->parameters = r->parameter_values;
    return r->parameter_values;
}

bool yk_resolve_more_parameters(yk_resolver *r, const yk_node *node)
{
    /* The values go into the scope of all expressions, one by one. */
    size_t count = (size_t)node->count + 1;
    evaluation e = {.r = r};
    e.nodes = yk_resolver_take(r, count * sizeof *e.nodes);
    e.states = yk_resolver_take(r, count * sizeof *e.states);
    e.values = grow_scope(r, node->count);
    if (r->status != YK_OK)
        return false;

    /* A parameter used only by another parameter is not used by the model. */
    int before = r->scope.parameter_count;
    r->scope.used = NULL;
    for (yk_node *child = node->first; child; child = child->next) {
        /* A parameter must not hide a function or time. */
        const char *reason = yk_expression_reserved(child->key);
        if (strcmp(child->key, "t") == 0)
            reason = "is time";
        if (reason)
            yk_node_key_error(r->diagnostics, child, "cannot be a parameter's name: '%.60s' %s",
                              child->key, reason);

        e.states[e.count] = reason ? FAILED : WAITING;
        e.nodes[e.count++] = child;
    }

    /* Evaluate each parameter after those that it uses, and finally those with unknown names. */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < e.count && !yk_diagnostics_full(r->diagnostics); i++)
            if (e.states[i] == WAITING)
                evaluate(&e, i, pass == 1);

    r->scope.used = r->parameter_used;
    return r->scope.parameter_count - before == node->count;
}

/* Uses ----------------------------------------------------------------------------------------- */

/* Marks a parameter by its name; sets `changed` if it was not marked. */
typedef struct marking {
    yk_scope *scope;
    bool changed;
} marking;

static void mark_used(void *user, const char *name, size_t length)
{
    marking *m = user;
    for (int i = 0; i < m->scope->parameter_count; i++) {
        const char *other = m->scope->parameters[i].name;
        if (strlen(other) != length || strncmp(other, name, length) != 0 || m->scope->used[i])
            continue;

        m->scope->used[i] = true;
        m->changed = true;
    }
}

static bool is_used(const yk_scope *scope, const char *name)
{
    for (int i = 0; i < scope->parameter_count; i++)
        if (strcmp(scope->parameters[i].name, name) == 0)
            return scope->used[i];
    return false;
}

static void note_name(void *user, const char *name, size_t length)
{
    (void)name;
    (void)length;
    *(bool *)user = true;
}

static bool is_overridden(const yk_node *parameter)
{
    return !parameter->from || !parameter->from->has_lines;
}

/* Whether a parameter is computed from others: a result for the reader, or for an exact solution
 * with which runs are compared. */
static bool is_computed(const yk_node *parameter)
{
    bool names = false;
    yk_expression_names(parameter->text, note_name, &names);
    return names;
}

void yk_report_unused_parameters(yk_resolver *r, const yk_node *node, bool as_written)
{
    if (!node || node->kind != YK_NODE_MAP || !r->scope.used)
        return;

    /* The parameters from which a used parameter is computed are used too. */
    marking m = {&r->scope, true};
    while (m.changed) {
        m.changed = false;
        for (const yk_node *child = node->first; child; child = child->next)
            if (is_used(&r->scope, child->key))
                yk_expression_names(child->text, mark_used, &m);
    }

    /* Similar names. */
    const char **names = yk_resolver_take(r, ((size_t)node->count + 1) * sizeof *names);
    int count = 0;
    for (const yk_node *child = node->first; names && child; child = child->next)
        if (!child->added && !node->added)
            names[count++] = child->key;

    for (const yk_node *child = node->first; names && child; child = child->next) {
        /* A component may have parameters that an instance does not need. */
        if (is_used(&r->scope, child->key) || strchr(child->key, '.'))
            continue;

        const char *remedy = "The scenario has no parameters.";
        yk_phrase suggestion = yk_suggest_word(child->key, names, count);
        if (count > 0)
            remedy = suggestion.text;
        if (child->added || node->added)
            yk_node_error(r->diagnostics, child, "parameter '%.60s' not found. %s", child->key,
                          remedy);
        else if (is_overridden(child) || (as_written && !is_computed(child)))
            yk_node_warning(r->diagnostics, child,
                            "nothing uses this parameter: changing it changes nothing");
    }
}
