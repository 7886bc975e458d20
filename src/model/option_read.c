/* Values of resolved nodes into the members that option rows name. */
#include <string.h>

#include "base/option.h"
#include "model/registry.h"

/* An array in the struct if the length is fixed, else a pointer with a count. */
static void read_numbers(const yk_option *row, const yk_node *node, void *def)
{
    yk_number_list list = {node->values, node->value_count};
    if (row->min_count > 0 && row->min_count == row->max_count)
        yk_option_set_array(row, def, node->values);
    else
        memcpy((char *)def + row->offset, &list, sizeof list);
}

static yk_status read_form(yk_builder *builder, const yk_option *row, const yk_node *node,
                           void *def)
{
    if (node->choice >= 0) {
        yk_option_set_number(row, def, node->choice);
        return YK_OK;
    }

    yk_option_set_number(row, def, yk_option_choice_count(row));
    return yk_option_read_all(builder, row->section->options, node, def);
}

static yk_status read_variant(yk_builder *builder, const yk_option *row, const yk_node *node,
                              void *def)
{
    if (row->size > 0)
        yk_option_set_number(row, def, node->choice);
    yk_status status = YK_OK;
    if (row->section)
        status = yk_option_read_all(builder, row->section->options, node, def);
    if (status != YK_OK)
        return status;
    return yk_option_read_all(builder, row->variants[node->choice]->options, node, def);
}

/* One value. Members are written by bytes, because only their offsets are known here. */
static yk_status read_value(yk_builder *builder, const yk_option *row, const yk_node *node,
                            void *def)
{
    char *member = (char *)def + row->offset;
    yk_status status = YK_OK;
    switch (row->kind) {
    case YK_OPTION_NUMBER:
    case YK_OPTION_INTEGER: yk_option_set_number(row, def, node->value); break;
    case YK_OPTION_BOOLEAN:
    case YK_OPTION_CHOICE: yk_option_set_number(row, def, node->choice); break;
    case YK_OPTION_FORM: return read_form(builder, row, node, def);
    case YK_OPTION_TEXT: memcpy(member, &node->text, sizeof node->text); break;
    case YK_OPTION_PATH: {
        const char *path = yk_builder_path(builder, node->parent, row->key);
        memcpy(member, &path, sizeof path);
        return path ? YK_OK : YK_ERROR_MEMORY;
    }
    case YK_OPTION_NUMBERS: read_numbers(row, node, def); break;
    case YK_OPTION_ORIENTATION:
    case YK_OPTION_INERTIA: memcpy(member, node->values, row->size); break;
    case YK_OPTION_FUNCTION: {
        yk_time_function function;
        status = yk_builder_function_of(builder, node, &function);
        memcpy(member, &function, sizeof function);
        break;
    }
    default: break; /* the reader of the section knows what names and lists refer to */
    }

    return status;
}

yk_status yk_option_read_all(yk_builder *builder, const yk_option *rows, const yk_node *section,
                             void *def)
{
    for (const yk_option *row = rows; row && row->key; row++) {
        yk_status status = YK_OK;
        const yk_node *node = yk_node_get(section, row->key);
        if (row->kind == YK_OPTION_INCLUDE)
            status = yk_option_read_all(builder, row->section->options, section, def);
        else if (!node || !node->valid)
            continue;
        else if (row->kind == YK_OPTION_SECTION)
            status = yk_option_read_all(builder, row->section->options, node, def);
        else if (row->kind == YK_OPTION_VARIANT)
            status = read_variant(builder, row, node, def);
        else if (row->size > 0)
            status = read_value(builder, row, node, def);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}
