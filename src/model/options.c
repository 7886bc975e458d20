/* Option rows as keys of a scenario: the fields of the schema that they stand for, and from
 * resolved nodes back into the structs that they describe. */
#include "model/scenario.h"

#include <math.h>
#include <string.h>

static int count_rows(const yk_option *rows)
{
    int count = 0;
    while (rows && rows[count].key)
        count++;
    return count;
}

bool yk_option_field(yk_store *store, const yk_option *row, yk_field *field)
{
    static const yk_type types[] = {
        [YK_OPTION_NUMBER] = YK_TYPE_NUMBER,     [YK_OPTION_INTEGER] = YK_TYPE_INTEGER,
        [YK_OPTION_BOOLEAN] = YK_TYPE_BOOLEAN,   [YK_OPTION_CHOICE] = YK_TYPE_CHOICE,
        [YK_OPTION_SUBSYSTEMS] = YK_TYPE_LIST,   [YK_OPTION_TEXT] = YK_TYPE_TEXT,
        [YK_OPTION_PATH] = YK_TYPE_PATH,         [YK_OPTION_NUMBERS] = YK_TYPE_NUMBERS,
        [YK_OPTION_FUNCTION] = YK_TYPE_FUNCTION,
    };

    /* What all kinds have. */
    static const yk_field subsystem = {"subsystems", YK_TYPE_TEXT, .text = "a subsystem"};
    *field = (yk_field){
        .key = row->key, .type = types[row->kind], .unit = row->unit, .refines = row->refines};
    field->text = row->text;
    field->required = row->required;

    /* Ranges: both bounds zero are none, and an infinite upper one is not written out. */
    bool bounded = row->least != 0 || row->most != 0;
    if (bounded)
        field->range = (yk_range){.low = row->least, .bounds = YK_LOW};
    if (bounded && isfinite(row->most)) {
        field->range.high = row->most;
        field->range.bounds |= YK_HIGH;
    }

    /* Lists. */
    if (row->kind == YK_OPTION_NUMBERS) {
        field->least = row->count;
        field->most = row->count;
    }

    if (row->kind == YK_OPTION_SUBSYSTEMS) {
        field->most = YK_SUBSYSTEMS_MAX;
        field->item = &subsystem;
    }

    if (row->kind != YK_OPTION_CHOICE)
        return true;

    /* The words of a choice. */
    size_t count = 0;
    while (row->words[count].word)
        count++;

    yk_word *words = yk_store_take(store, (count + 1) * sizeof *words);
    if (!words)
        return false;

    for (size_t i = 0; i < count; i++)
        words[i] = (yk_word){row->words[i].word, row->words[i].text};
    field->words = words;
    if (!row->fields)
        return true;

    /* A choice that can also be given by keys of its own. */
    int inner_count = count_rows(row->fields);
    yk_field *inner = yk_store_take(store, ((size_t)inner_count + 1) * sizeof *inner);
    yk_section *section = yk_store_take(store, sizeof *section);
    if (!inner || !section)
        return false;

    for (int i = 0; i < inner_count; i++) {
        const yk_option *from = &row->fields[i];
        inner[i] = (yk_field){
            .key = from->key, .type = YK_TYPE_NUMBER, .unit = from->unit, .text = from->text};
        inner[i].required = true;
        inner[i].range = (yk_range)YK_NOT_NEGATIVE;
    }
    *section = (yk_section){row->key, "Weights of their own; only the ratios matter.", inner};
    field->type = YK_TYPE_FORM;
    field->section = section;

    return true;
}

const yk_section *yk_option_section(yk_store *store, const char *name, const char *text,
                                    const yk_option *rows)
{
    int count = count_rows(rows);
    yk_section *section = yk_store_take(store, sizeof *section);
    yk_field *fields = yk_store_take(store, ((size_t)count + 1) * sizeof *fields);
    if (!section || !fields)
        return NULL;

    for (int i = 0; i < count; i++) {
        if (!yk_option_field(store, &rows[i], &fields[i]))
            return NULL;

        fields[i].fallback = rows[i].fallback;
    }
    *section = (yk_section){name, text, fields};

    return section;
}

yk_status yk_option_read(yk_builder *builder, const yk_option *row, const yk_node *node,
                         void *options)
{
    /* Copied byte by byte: the struct belongs to whoever declared the row. */
    char *target = (char *)options + row->offset;
    switch (row->kind) {
    case YK_OPTION_NUMBER: memcpy(target, &node->value, sizeof node->value); return YK_OK;
    case YK_OPTION_INTEGER: {
        int whole = (int)node->value;
        memcpy(target, &whole, sizeof whole);
        return YK_OK;
    }
    case YK_OPTION_BOOLEAN: {
        bool flag = node->choice != 0;
        memcpy(target, &flag, sizeof flag);
        return YK_OK;
    }
    case YK_OPTION_CHOICE: {
        /* Keys of its own instead of a word have the index behind all words. */
        int choice = node->choice;
        if (choice < 0) {
            for (choice = 0; row->words[choice].word;)
                choice++;
            for (const yk_option *inner = row->fields; inner->key; inner++)
                yk_option_read(builder, inner, yk_node_get(node, inner->key), options);
        }

        memcpy(target, &choice, sizeof choice);
        return YK_OK;
    }
    case YK_OPTION_SUBSYSTEMS: return YK_OK;
    case YK_OPTION_TEXT: memcpy(target, &node->text, sizeof node->text); return YK_OK;
    case YK_OPTION_PATH: {
        const char *path = yk_builder_path(builder, node->parent, row->key);
        memcpy(target, &path, sizeof path);
        return path ? YK_OK : YK_ERROR_MEMORY;
    }
    case YK_OPTION_NUMBERS: {
        /* An array inside the struct where the row says its length, else a pointer with a count. */
        yk_number_list list = {node->values, node->value_count};
        if (row->count > 0)
            memcpy(target, node->values, (size_t)row->count * sizeof *node->values);
        else
            memcpy(target, &list, sizeof list);
        return YK_OK;
    }
    case YK_OPTION_FUNCTION: {
        yk_function function;
        yk_status status = yk_builder_function_of(builder, node, &function);
        memcpy(target, &function, sizeof function);
        return status;
    }
    }

    return YK_OK;
}
