#include "model/yaml_tree.h"

#include <stdio.h>
#include <string.h>

/* Nodes ---------------------------------------------------------------------------------------- */

yk_node *yk_node_create(yk_store *store, yk_node_kind kind, yk_location location)
{
    yk_node *node = yk_store_take(store, sizeof *node);
    if (!node)
        return NULL;

    node->kind = kind;
    node->from = location.source;
    node->line = location.line;
    node->column = location.column;
    node->length = location.length;

    /* Never NULL, which simplifies callers. */
    node->text = "";

    return node;
}

void yk_node_append(yk_node *parent, yk_node *child, const char *key, yk_location key_location)
{
    child->parent = parent;
    child->next = NULL;
    child->key = key;
    child->key_line = key_location.line;
    child->key_column = key_location.column;

    /* At the end of the list of children. */
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;

    parent->last = child;
    parent->count++;
}

/* The link that points to the child. */
static yk_node **link_to(yk_node *child, yk_node **before)
{
    *before = NULL;
    yk_node **link = &child->parent->first;
    while (*link != child) {
        *before = *link;
        link = &(*link)->next;
    }

    return link;
}

void yk_node_replace(yk_node *old, yk_node *with)
{
    yk_node *before;
    *link_to(old, &before) = with;
    with->parent = old->parent;
    with->next = old->next;
    with->key = old->key;
    with->replaced = old;
    if (old->parent->last == old)
        old->parent->last = with;
}

void yk_node_remove(yk_node *child)
{
    yk_node *before;
    *link_to(child, &before) = child->next;
    if (child->parent->last == child)
        child->parent->last = before;
    child->parent->count--;
}

yk_node *yk_node_copy(yk_store *store, const yk_node *node, int *budget)
{
    if (--*budget < 0)
        return NULL;

    yk_node *copy = yk_node_create(store, node->kind, yk_node_location(node));
    if (!copy)
        return NULL;

    /* Texts are constant and shared. */
    copy->text = node->text;
    copy->quoted = node->quoted;

    /* Children keep their keys and locations. */
    for (const yk_node *child = node->first; child; child = child->next) {
        yk_node *twin = yk_node_copy(store, child, budget);
        if (!twin)
            return NULL;

        yk_node_append(copy, twin, child->key, yk_node_key_location(child));
    }

    return copy;
}

yk_node *yk_node_get(const yk_node *map, const char *key)
{
    if (map->kind != YK_NODE_MAP)
        return NULL;

    for (yk_node *child = map->first; child; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;

    return NULL;
}

yk_node *yk_node_at(const yk_node *list, int index)
{
    yk_node *child = list->first;
    while (child && index-- > 0)
        child = child->next;
    return child;
}

yk_node *yk_node_items(const yk_node *map, const char *key)
{
    const yk_node *entry = yk_node_get(map, key);
    return entry ? entry->first : NULL;
}

const char *yk_node_name(const yk_node *item)
{
    if (item->key)
        return item->key;

    const yk_node *name = yk_node_get(item, "name");
    if (!name || name->kind != YK_NODE_SCALAR || !name->text[0])
        return NULL;

    return name->text;
}

bool yk_node_is_empty(const yk_node *node)
{
    if (node->kind != YK_NODE_SCALAR || node->quoted)
        return false;
    return !node->text[0] || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0;
}

yk_location yk_node_location(const yk_node *node)
{
    return (yk_location){node->from, node->line, node->column, node->length};
}

yk_location yk_node_key_location(const yk_node *node)
{
    if (!node->key || !node->key_line)
        return yk_node_location(node);

    int length = 0; /* in characters of UTF-8 */
    for (const char *at = node->key; *at; at++)
        length += ((unsigned char)*at & 0xc0) != 0x80;

    return (yk_location){node->from, node->key_line, node->key_column, length};
}

/* Paths ---------------------------------------------------------------------------------------- */

const char *yk_node_path(const yk_node *node, char buffer[YK_PATH_MAX])
{
    /* Written from the end, step by step up the tree, as far as there is space. */
    size_t start = YK_PATH_MAX - 1;
    buffer[start] = '\0';
    for (; node->parent; node = node->parent) {
        char step[YK_PATH_MAX];

        /* A key, or an index in brackets. */
        bool nested = node->parent->parent != NULL;
        if (node->key) {
            snprintf(step, sizeof step, "%s%.64s", nested ? "." : "", node->key);
        } else {
            /* An item that will be appended has the next index. */
            int index = 0;
            const yk_node *sibling = node->parent->first;
            for (; sibling && sibling != node; sibling = sibling->next)
                index++;
            snprintf(step, sizeof step, "[%d]", index);
        }

        /* Prepend to the present text. */
        size_t length = strlen(step);
        if (length >= start)
            break;

        start -= length;
        memcpy(buffer + start, step, length);
    }

    memmove(buffer, buffer + start, YK_PATH_MAX - start);
    return buffer;
}
