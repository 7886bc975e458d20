#include "record/hdf5_read.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/text.h"
#include "record/hdf5_format.h"

struct yk_hdf5_input {
    yk_context *context;
    char *path;
    FILE *stream;
    int descriptor;
    uint64_t size;
    yk_status status;
    unsigned leaf_entries, tree_children; /* most entries of a node */
    uint64_t root;

    /* The collection of the global heap that was read last. */
    uint64_t collection;
    unsigned char *collection_bytes;
    uint64_t collection_size;
};

bool yk_hdf5_begins(const void *start, size_t bytes)
{
    return bytes >= sizeof hdf5_signature &&
           memcmp(start, hdf5_signature, sizeof hdf5_signature) == 0;
}

yk_status yk_hdf5_status(const yk_hdf5_input *input)
{
    return input->status;
}

void yk_hdf5_retry(yk_hdf5_input *input)
{
    input->status = YK_OK;
}

yk_status yk_hdf5_damaged(yk_hdf5_input *input, const char *reason)
{
    if (input->status == YK_OK)
        input->status =
            yk_fail(input->context, YK_ERROR_INPUT, "'%s' is a damaged or truncated HDF5 file: %s",
                    input->path, reason);
    return input->status;
}

static bool failed(const yk_hdf5_input *input)
{
    return input->status != YK_OK;
}

/* Memory for bytes that are in the file, and one more. */
static void *take(yk_hdf5_input *input, uint64_t bytes)
{
    void *memory = yk_allocate(input->context, (size_t)bytes + 1, 1);
    if (!memory)
        input->status = YK_ERROR_MEMORY;
    return memory;
}

/* Whether the file has so many bytes at an address. */
static bool is_inside(const yk_hdf5_input *input, uint64_t address, uint64_t bytes)
{
    return address <= input->size && bytes <= input->size - address;
}

static bool read_at(yk_hdf5_input *input, uint64_t address, uint64_t bytes, void *to)
{
    if (failed(input))
        return false;
    if (!is_inside(input, address, bytes)) {
        yk_hdf5_damaged(input, "an address is beyond its end");
        return false;
    }

    unsigned char *next = to;
    while (bytes > 0) {
        ssize_t got = pread(input->descriptor, next, (size_t)bytes, (off_t)address);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            input->status =
                yk_fail(input->context, YK_ERROR_FILE, "cannot read '%s': %s", input->path,
                        got < 0 ? strerror(errno) : "the file was cut off meanwhile");
            return false;
        }

        next += got;
        address += (uint64_t)got;
        bytes -= (uint64_t)got;
    }

    return true;
}

/* File ----------------------------------------------------------------------------------------- */

static void read_superblock(yk_hdf5_input *input)
{
    unsigned char block[HDF5_SUPERBLOCK_BYTES];
    if (input->size < sizeof block) {
        yk_hdf5_damaged(input, "it ends before its first object");
        return;
    }

    if (!read_at(input, 0, sizeof block, block))
        return;

    /* Files of other versions are valid, but not supported. */
    if (!yk_hdf5_begins(block, sizeof block) || block[8] != 0 || block[13] != 8 || block[14] != 8) {
        input->status = yk_fail(input->context, YK_ERROR_INPUT,
                                "'%s' is an HDF5 file with a newer layout than that of results of "
                                "Yoke: it was written or changed by "
                                "another program",
                                input->path);
        return;
    }

    input->leaf_entries = 2 * (unsigned)hdf5_get(block + 16, 2);
    input->tree_children = 2 * (unsigned)hdf5_get(block + 18, 2);
    input->root = hdf5_get(block + 64, 8);
    if (hdf5_get(block + 40, 8) > input->size)
        yk_hdf5_damaged(input, "it is cut off");
}

yk_status yk_hdf5_input_open(yk_context *context, const char *path, yk_hdf5_input **input)
{
    *input = NULL;
    yk_hdf5_input *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->collection = HDF5_NO_ADDRESS;
    made->path = yk_text_copy(context, path);
    struct stat found;
    if (!made->path) {
        made->status = YK_ERROR_MEMORY;
    } else {
        made->stream = yk_regular_open(context, path, YK_ERROR_FILE);
        if (!made->stream)
            made->status = YK_ERROR_FILE;
    }

    if (made->stream) {
        made->descriptor = fileno(made->stream);
        if (fstat(made->descriptor, &found) != 0)
            made->status =
                yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
        else
            made->size = (uint64_t)found.st_size;
    }

    if (made->status == YK_OK)
        read_superblock(made);
    if (made->status != YK_OK) {
        yk_status status = made->status;
        yk_hdf5_input_close(made);
        return status;
    }

    *input = made;
    return YK_OK;
}

void yk_hdf5_input_close(yk_hdf5_input *input)
{
    if (!input)
        return;

    if (input->stream)
        fclose(input->stream);
    yk_free(input->context, input->collection_bytes);
    yk_free(input->context, input->path);
    yk_free(input->context, input);
}

/* Object headers ------------------------------------------------------------------------------- */

/* Appends a block of messages of an object header. */
static bool append_block(yk_hdf5_input *input, yk_hdf5_entry *entry, uint64_t address,
                         uint64_t bytes)
{
    if (failed(input))
        return false;
    if (!is_inside(input, address, bytes) || entry->message_bytes + bytes > input->size) {
        yk_hdf5_damaged(input, "an object header is beyond its end");
        return false;
    }

    size_t all = entry->message_bytes + (size_t)bytes;
    unsigned char *grown = yk_reallocate(input->context, entry->messages, all + 1, 1);
    if (!grown) {
        input->status = YK_ERROR_MEMORY;
        return false;
    }

    entry->messages = grown;
    if (!read_at(input, address, bytes, grown + entry->message_bytes))
        return false;

    entry->message_bytes = all;
    return true;
}

/* A message of an object header. */
typedef struct message {
    unsigned type;
    const unsigned char *data;
    size_t bytes;
    bool shared; /* the data are elsewhere */
} message;

/* The message at *offset, which moves to the next one; false at the end. */
static bool next_message(const yk_hdf5_entry *entry, size_t *offset, message *m)
{
    size_t left = entry->message_bytes - *offset;
    if (left < HDF5_MESSAGE_HEAD_BYTES)
        return false;

    const unsigned char *head = entry->messages + *offset;
    m->type = (unsigned)hdf5_get(head, 2);
    m->bytes = (size_t)hdf5_get(head + 2, 2);
    m->shared = (head[4] & 2) != 0;
    m->data = head + HDF5_MESSAGE_HEAD_BYTES;
    if (m->bytes > left - HDF5_MESSAGE_HEAD_BYTES)
        return false;

    *offset += HDF5_MESSAGE_HEAD_BYTES + m->bytes;
    return true;
}

/* The extents of a dataspace message; -1 as the rank if it has another form. */
static int read_space(const unsigned char *data, size_t bytes, uint64_t size[YK_HDF5_RANK_MAX])
{
    for (int i = 0; i < YK_HDF5_RANK_MAX; i++)
        size[i] = 1;
    if (bytes < 8 || data[0] != 1 || data[1] > YK_HDF5_RANK_MAX || bytes < 8 + 8 * (size_t)data[1])
        return -1;

    for (int i = 0; i < data[1]; i++)
        size[i] = hdf5_get(data + 8 + 8 * i, 8);
    return data[1];
}

typedef struct value_type {
    bool known;
    hdf5_class class;
    size_t bytes;
    bool foreign_order, variable_text;
} value_type;

/* Numbers of the usual formats, and texts. */
static value_type read_type(const unsigned char *data, size_t bytes)
{
    value_type type = {0};
    if (bytes < 8 || data[0] >> 4 < 1 || data[0] >> 4 > 3)
        return type;

    type.class = (hdf5_class)(data[0] & 15);
    type.bytes = (size_t)hdf5_get(data + 4, 4);
    bool big = (data[1] & HDF5_BIG_ENDIAN) != 0;
    bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    switch (type.class) {
    case HDF5_CLASS_INTEGER:
        type.known = (type.bytes == 4 || type.bytes == 8) && (data[1] & HDF5_INTEGER_SIGNED);
        type.foreign_order = big != host_big;
        break;
    case HDF5_CLASS_FLOAT:
        /* The sign of an IEEE number is its first bit. */
        type.known = (type.bytes == 4 || type.bytes == 8) && data[2] == 8 * type.bytes - 1;
        type.foreign_order = big != host_big;
        break;
    case HDF5_CLASS_TEXT: type.known = type.bytes > 0; break;
    case HDF5_CLASS_VARIABLE:
        type.variable_text = (data[1] & 15) == HDF5_VARIABLE_TEXT;
        type.known = type.variable_text && type.bytes == HDF5_HEAP_REFERENCE_BYTES;
        break;
    default: break;
    }

    return type;
}

/* All messages of a header, with those that are in continuation blocks. */
static bool read_messages(yk_hdf5_input *input, uint64_t header, yk_hdf5_entry *entry)
{
    enum { BLOCKS_MAX = 1000 };
    unsigned char head[HDF5_HEADER_BYTES];
    if (!read_at(input, header, sizeof head, head))
        return false;
    if (head[0] != 1) {
        yk_hdf5_damaged(input, "an object header has an unknown version");
        return false;
    }

    if (!append_block(input, entry, header + HDF5_HEADER_BYTES, hdf5_get(head + 8, 4)))
        return false;

    int blocks = 0;
    size_t offset = 0;
    message m;
    while (next_message(entry, &offset, &m)) {
        if (m.type != HDF5_MESSAGE_CONTINUATION || m.bytes < 16)
            continue;
        uint64_t address = hdf5_get(m.data, 8);
        uint64_t bytes = hdf5_get(m.data + 8, 8);
        if (++blocks > BLOCKS_MAX) {
            yk_hdf5_damaged(input, "an object header has no end");
            return false;
        }
        if (!append_block(input, entry, address, bytes))
            return false;
    }

    return true;
}

bool yk_hdf5_open(yk_hdf5_input *input, uint64_t header, yk_hdf5_entry *entry)
{
    *entry = (yk_hdf5_entry){.kind = YK_HDF5_OTHER, .rank = -1};
    if (failed(input))
        return false;
    if (!read_messages(input, header, entry)) {
        yk_hdf5_release(input, entry);
        return false;
    }

    value_type type = {0};
    bool contiguous = false;
    bool filtered = false;
    uint64_t data_bytes = 0;
    size_t offset = 0;
    message m;
    while (next_message(entry, &offset, &m)) {
        if (m.shared)
            continue;

        switch (m.type) {
        case HDF5_MESSAGE_SPACE: entry->rank = read_space(m.data, m.bytes, entry->size); break;
        case HDF5_MESSAGE_TYPE: type = read_type(m.data, m.bytes); break;
        case HDF5_MESSAGE_FILTERS: filtered = true; break;
        case HDF5_MESSAGE_LAYOUT:
            contiguous = m.bytes >= 18 && m.data[0] == 3 && m.data[1] == HDF5_LAYOUT_CONTIGUOUS;
            if (contiguous) {
                entry->data = hdf5_get(m.data + 2, 8);
                data_bytes = hdf5_get(m.data + 10, 8);
            }
            break;
        case HDF5_MESSAGE_SYMBOL_TABLE:
            if (m.bytes < 16)
                break;
            entry->kind = YK_HDF5_GROUP;
            entry->tree = hdf5_get(m.data, 8);
            entry->heap = hdf5_get(m.data + 8, 8);
            break;
        default: break;
        }
    }

    if (entry->kind == YK_HDF5_GROUP || !contiguous || filtered || !type.known ||
        type.variable_text || entry->rank < 0)
        return true;

    /* A dataset whose values are all in the file. An empty one has no address. */
    uint64_t values = 1;
    for (int i = 0; i < YK_HDF5_RANK_MAX; i++) {
        if (entry->size[i] > 0 && values > input->size / entry->size[i]) {
            yk_hdf5_damaged(input, "a dataset is larger than the file");
            yk_hdf5_release(input, entry);
            return false;
        }
        values *= entry->size[i];
    }

    if (values > input->size / type.bytes || data_bytes < values * type.bytes ||
        (values > 0 && !is_inside(input, entry->data, values * type.bytes))) {
        yk_hdf5_damaged(input, "the values of a dataset are beyond its end");
        yk_hdf5_release(input, entry);
        return false;
    }

    entry->kind = type.class == HDF5_CLASS_TEXT ? YK_HDF5_TEXTS : YK_HDF5_NUMBERS;
    entry->value_bytes = type.bytes;
    entry->floating = type.class == HDF5_CLASS_FLOAT;
    entry->foreign_order = type.foreign_order;
    return true;
}

void yk_hdf5_release(yk_hdf5_input *input, yk_hdf5_entry *entry)
{
    yk_free(input->context, entry->messages);
    entry->messages = NULL;
    entry->message_bytes = 0;
}

/* Groups --------------------------------------------------------------------------------------- */

typedef struct group_walk {
    yk_hdf5_input *input;
    yk_hdf5_visit_function *visit;
    void *user;
    char *names; /* the local heap, terminated by a zero */
    uint64_t names_bytes;
    uint64_t nodes_left; /* more than the file can contain indicate a cycle */
} group_walk;

static yk_status visit_leaf(group_walk *walk, uint64_t address)
{
    yk_hdf5_input *input = walk->input;
    unsigned char head[8];
    if (!read_at(input, address, sizeof head, head))
        return input->status;

    unsigned used = (unsigned)hdf5_get(head + 6, 2);
    if (memcmp(head, "SNOD", 4) != 0 || used > input->leaf_entries)
        return yk_hdf5_damaged(input, "a node of a symbol table is not one");

    for (unsigned i = 0; i < used; i++) {
        unsigned char entry[HDF5_SYMBOL_BYTES];
        if (!read_at(input, address + 8 + (uint64_t)i * HDF5_SYMBOL_BYTES, sizeof entry, entry))
            return input->status;

        uint64_t name = hdf5_get(entry, 8);
        if (name >= walk->names_bytes)
            return yk_hdf5_damaged(input, "a name is outside of its group");

        /* Symbolic links may refer to anything, and have no object header. */
        uint64_t header = hdf5_get(entry + 8, 8);
        bool link = hdf5_get(entry + 16, 4) == 2 || header == HDF5_NO_ADDRESS;
        yk_status status = link ? YK_OK : walk->visit(walk->user, walk->names + name, header);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static yk_status visit_tree(group_walk *walk, uint64_t address, int level_above)
{
    yk_hdf5_input *input = walk->input;
    unsigned char head[HDF5_TREE_HEAD_BYTES];
    if (!read_at(input, address, sizeof head, head))
        return input->status;

    int level = head[5];
    unsigned used = (unsigned)hdf5_get(head + 6, 2);
    if (memcmp(head, "TREE", 4) != 0 || head[4] != 0 || level >= level_above ||
        used > input->tree_children || walk->nodes_left == 0)
        return yk_hdf5_damaged(input, "a node of a group is not one");

    walk->nodes_left--;
    for (unsigned i = 0; i < used; i++) {
        unsigned char child[8];
        if (!read_at(input, address + HDF5_TREE_HEAD_BYTES + 8 + 16 * (uint64_t)i, sizeof child,
                     child))
            return input->status;
        if (walk->nodes_left == 0)
            return yk_hdf5_damaged(input, "its groups have no end");

        walk->nodes_left--;
        uint64_t next = hdf5_get(child, 8);
        yk_status status = level > 0 ? visit_tree(walk, next, level) : visit_leaf(walk, next);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

yk_status yk_hdf5_visit(yk_hdf5_input *input, const yk_hdf5_entry *group,
                        yk_hdf5_visit_function *visit, void *user)
{
    unsigned char head[HDF5_LOCAL_HEAP_BYTES];
    if (failed(input) || !read_at(input, group->heap, sizeof head, head))
        return input->status;

    uint64_t bytes = hdf5_get(head + 8, 8);
    uint64_t address = hdf5_get(head + 24, 8);
    if (memcmp(head, "HEAP", 4) != 0 || !is_inside(input, address, bytes))
        return yk_hdf5_damaged(input, "the names of a group are beyond its end");

    /* An upper bound of the number of nodes in the file. */
    group_walk walk = {.input = input, .visit = visit, .user = user, .names_bytes = bytes};
    walk.nodes_left = input->size / HDF5_TREE_HEAD_BYTES;
    walk.names = take(input, bytes);
    yk_status status = input->status;
    if (walk.names && read_at(input, address, bytes, walk.names))
        status = visit_tree(&walk, group->tree, INT_MAX);
    else
        status = input->status;
    yk_free(input->context, walk.names);
    return status;
}

typedef struct name_search {
    const char *name;
    size_t length;
    uint64_t header;
} name_search;

static yk_status compare_name(void *user, const char *name, uint64_t header)
{
    name_search *search = user;
    if (strncmp(name, search->name, search->length) == 0 && name[search->length] == '\0')
        search->header = header;
    return YK_OK;
}

bool yk_hdf5_find(yk_hdf5_input *input, const yk_hdf5_entry *group, const char *path,
                  yk_hdf5_entry *found)
{
    *found = (yk_hdf5_entry){.kind = YK_HDF5_OTHER};
    yk_hdf5_entry at = {.kind = YK_HDF5_OTHER};
    if (!group && !yk_hdf5_open(input, input->root, &at))
        return false;

    const yk_hdf5_entry *parent = group ? group : &at;
    while (*path) {
        name_search search = {
            .name = path, .length = strcspn(path, "/"), .header = HDF5_NO_ADDRESS};
        bool opened = parent->kind == YK_HDF5_GROUP &&
                      yk_hdf5_visit(input, parent, compare_name, &search) == YK_OK &&
                      search.header != HDF5_NO_ADDRESS;
        yk_hdf5_release(input, &at);
        opened = opened && yk_hdf5_open(input, search.header, &at);
        if (!opened)
            return false;

        parent = &at;
        path += search.length;
        path += *path == '/';
    }

    *found = at;
    return true;
}

/* Global heap ---------------------------------------------------------------------------------- */

static bool load_collection(yk_hdf5_input *input, uint64_t address)
{
    if (input->collection == address)
        return true;

    unsigned char head[HDF5_COLLECTION_HEAD_BYTES];
    if (!read_at(input, address, sizeof head, head))
        return false;

    uint64_t bytes = hdf5_get(head + 8, 8);
    if (memcmp(head, "GCOL", 4) != 0 || bytes < sizeof head || !is_inside(input, address, bytes)) {
        yk_hdf5_damaged(input, "a text is in no heap");
        return false;
    }

    input->collection = HDF5_NO_ADDRESS;
    yk_free(input->context, input->collection_bytes);
    input->collection_bytes = take(input, bytes);
    if (!input->collection_bytes || !read_at(input, address, bytes, input->collection_bytes))
        return false;

    input->collection = address;
    input->collection_size = bytes;
    return true;
}

/* A text of any length and its length; NULL after a failure. */
static const char *find_text(yk_hdf5_input *input, const unsigned char *reference, size_t *length)
{
    *length = (size_t)hdf5_get(reference, 4);
    uint64_t address = hdf5_get(reference + 4, 8);
    uint64_t index = hdf5_get(reference + 12, 4);
    if (*length == 0)
        return "";
    if (!load_collection(input, address))
        return NULL;

    /* Objects follow each other; index 0 is the free space at the end. */
    uint64_t offset = HDF5_COLLECTION_HEAD_BYTES;
    while (input->collection_size - offset >= HDF5_HEAP_OBJECT_HEAD_BYTES) {
        const unsigned char *object = input->collection_bytes + offset;
        uint64_t own = hdf5_get(object, 2);
        uint64_t bytes = hdf5_get(object + 8, 8);
        uint64_t left = input->collection_size - offset - HDF5_HEAP_OBJECT_HEAD_BYTES;
        if (own == 0 || bytes > left || hdf5_padded(bytes) > left)
            break;
        if (own == index && *length <= bytes)
            return (const char *)object + HDF5_HEAP_OBJECT_HEAD_BYTES;
        if (own == index)
            break;
        offset += HDF5_HEAP_OBJECT_HEAD_BYTES + hdf5_padded(bytes);
    }

    yk_hdf5_damaged(input, "a text is missing");
    return NULL;
}

/* Attributes ----------------------------------------------------------------------------------- */

typedef struct attribute_view {
    value_type type;
    uint64_t count;
    const unsigned char *values;
} attribute_view;

/* The attribute with this name; false if there is none, or none with values that can be read. */
static bool find_attribute(const yk_hdf5_entry *entry, const char *name, attribute_view *view)
{
    size_t offset = 0;
    message m;
    while (next_message(entry, &offset, &m)) {
        if (m.type != HDF5_MESSAGE_ATTRIBUTE || m.shared || m.bytes < 8 || m.data[0] != 1)
            continue;

        size_t name_bytes = (size_t)hdf5_get(m.data + 2, 2);
        size_t type_bytes = (size_t)hdf5_get(m.data + 4, 2);
        size_t space_bytes = (size_t)hdf5_get(m.data + 6, 2);
        size_t type_at = 8 + (size_t)hdf5_padded(name_bytes);
        size_t space_at = type_at + (size_t)hdf5_padded(type_bytes);
        size_t values_at = space_at + (size_t)hdf5_padded(space_bytes);
        if (values_at > m.bytes || name_bytes == 0 || m.data[8 + name_bytes - 1] != '\0' ||
            strcmp((const char *)m.data + 8, name) != 0)
            continue;

        uint64_t size[YK_HDF5_RANK_MAX];
        int rank = read_space(m.data + space_at, space_bytes, size);
        view->type = read_type(m.data + type_at, type_bytes);
        view->count = size[0];
        view->values = m.data + values_at;
        size_t left = m.bytes - values_at;
        return rank >= 0 && rank <= 1 && view->type.known && view->count <= left / view->type.bytes;
    }

    return false;
}

char **yk_hdf5_get_texts(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name,
                         size_t count)
{
    attribute_view view;
    if (failed(input) || !find_attribute(entry, name, &view) || !view.type.variable_text ||
        view.count != count)
        return NULL;

    size_t bytes = (count + 1) * sizeof(char *);
    for (size_t i = 0; i < count; i++)
        bytes += (size_t)hdf5_get(view.values + i * HDF5_HEAP_REFERENCE_BYTES, 4) + 1;
    if (bytes > input->size + count * (sizeof(char *) + 1) + sizeof(char *)) {
        yk_hdf5_damaged(input, "texts are longer than the file");
        return NULL;
    }

    char **texts = take(input, bytes);
    char *to = (char *)(texts ? texts + count + 1 : NULL);
    for (size_t i = 0; texts && i < count; i++) {
        size_t length;
        const char *text = find_text(input, view.values + i * HDF5_HEAP_REFERENCE_BYTES, &length);
        if (!text) {
            yk_free(input->context, texts);
            return NULL;
        }

        texts[i] = to;
        memcpy(to, text, length);
        to += length + 1;
    }

    return texts;
}

char *yk_hdf5_get_text(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name)
{
    char **texts = yk_hdf5_get_texts(input, entry, name, 1);
    if (!texts)
        return NULL;

    /* The text takes the place of the pointer to it. */
    char *text = texts[0];
    memmove(texts, text, strlen(text) + 1);
    return (char *)texts;
}

/* Values ----------------------------------------------------------------------------------------*/

static void swap_bytes(unsigned char *value, size_t bytes)
{
    for (size_t i = 0; i < bytes / 2; i++) {
        unsigned char byte = value[i];
        value[i] = value[bytes - 1 - i];
        value[bytes - 1 - i] = byte;
    }
}

typedef struct stored_number {
    double number;
    int64_t integer;
} stored_number;

static stored_number get_number(const unsigned char *from, size_t bytes, bool floating,
                                bool foreign_order)
{
    unsigned char raw[8];
    memcpy(raw, from, bytes);
    if (foreign_order)
        swap_bytes(raw, bytes);

    float single;
    int32_t small;
    stored_number value = {0};
    if (floating && bytes == sizeof value.number)
        memcpy(&value.number, raw, sizeof value.number);
    else if (floating) {
        memcpy(&single, raw, sizeof single);
        value.number = (double)single;
    } else if (bytes == sizeof value.integer) {
        memcpy(&value.integer, raw, sizeof value.integer);
        value.number = (double)value.integer;
    } else {
        memcpy(&small, raw, sizeof small);
        value.integer = small;
        value.number = small;
    }

    return value;
}

static size_t bytes_of_type(yk_hdf5_type type)
{
    return type == YK_HDF5_FLOAT64 || type == YK_HDF5_INT64 ? 8 : 4;
}

bool yk_hdf5_get_integer(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name,
                         int *value)
{
    attribute_view view;
    if (failed(input) || !find_attribute(entry, name, &view) ||
        view.type.class != HDF5_CLASS_INTEGER || view.count != 1)
        return false;

    int64_t found =
        get_number(view.values, view.type.bytes, false, view.type.foreign_order).integer;
    if (found < INT_MIN || found > INT_MAX)
        return false;

    *value = (int)found;
    return true;
}

bool yk_hdf5_get_doubles(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name,
                         size_t count, double *values)
{
    attribute_view view;
    if (failed(input) || !find_attribute(entry, name, &view) ||
        view.type.class != HDF5_CLASS_FLOAT || view.count != count)
        return false;

    for (size_t i = 0; i < count; i++)
        values[i] = get_number(view.values + i * view.type.bytes, view.type.bytes, true,
                               view.type.foreign_order)
                        .number;
    return true;
}

uint64_t yk_hdf5_value_count(const yk_hdf5_entry *dataset)
{
    uint64_t count = 1;
    for (int i = 0; i < dataset->rank; i++)
        count *= dataset->size[i];
    return count;
}

/* Converts values one by one from a buffer; floating-point numbers are never read as integers. */
static bool read_converted(yk_hdf5_input *input, const yk_hdf5_entry *dataset, yk_hdf5_type type,
                           uint64_t address, size_t count, unsigned char *to)
{
    enum { VALUES = 512 };
    unsigned char raw[8 * VALUES];
    for (size_t done = 0; done < count;) {
        size_t now = count - done < VALUES ? count - done : VALUES;
        if (!read_at(input, address + done * dataset->value_bytes, now * dataset->value_bytes, raw))
            return false;

        for (size_t i = 0; i < now; i++, to += bytes_of_type(type)) {
            stored_number value = get_number(raw + i * dataset->value_bytes, dataset->value_bytes,
                                             dataset->floating, dataset->foreign_order);
            switch (type) {
            case YK_HDF5_FLOAT64: memcpy(to, &value.number, 8); break;
            case YK_HDF5_FLOAT32: {
                float number = (float)value.number;
                memcpy(to, &number, sizeof number);
                break;
            }
            case YK_HDF5_INT64: memcpy(to, &value.integer, 8); break;
            default: {
                if (value.integer < INT32_MIN || value.integer > INT32_MAX) {
                    yk_hdf5_damaged(input, "a number is too large");
                    return false;
                }
                int32_t number = (int32_t)value.integer;
                memcpy(to, &number, sizeof number);
                break;
            }
            }
        }

        done += now;
    }

    return true;
}

bool yk_hdf5_read(yk_hdf5_input *input, const yk_hdf5_entry *dataset, yk_hdf5_type type,
                  uint64_t first, size_t count, void *values)
{
    if (failed(input))
        return false;

    bool floating = type == YK_HDF5_FLOAT64 || type == YK_HDF5_FLOAT32;
    uint64_t all = yk_hdf5_value_count(dataset);
    if (dataset->kind != YK_HDF5_NUMBERS || first > all || count > all - first ||
        (dataset->floating && !floating)) {
        yk_hdf5_damaged(input, "a dataset has other numbers than expected");
        return false;
    }

    uint64_t address = dataset->data + first * dataset->value_bytes;
    bool same = dataset->floating == floating && dataset->value_bytes == bytes_of_type(type) &&
                !dataset->foreign_order;
    if (same)
        return count == 0 || read_at(input, address, count * dataset->value_bytes, values);
    return read_converted(input, dataset, type, address, count, values);
}

char **yk_hdf5_read_texts(yk_hdf5_input *input, const yk_hdf5_entry *dataset)
{
    if (failed(input))
        return NULL;
    if (dataset->kind != YK_HDF5_TEXTS || dataset->rank != 1) {
        yk_hdf5_damaged(input, "a dataset is not a list of texts");
        return NULL;
    }

    /* The values are in the file, which limits their number. */
    size_t count = (size_t)dataset->size[0];
    size_t length = dataset->value_bytes;
    char *column = take(input, count * length);
    char **texts = take(input, (count + 1) * sizeof *texts + count * (length + 1));
    bool read =
        column && texts && (count == 0 || read_at(input, dataset->data, count * length, column));
    if (!read) {
        yk_free(input->context, texts);
        texts = NULL;
    }

    char *to = (char *)(texts ? texts + count + 1 : NULL);
    for (size_t i = 0; texts && i < count; i++) {
        texts[i] = to;
        memcpy(to, column + i * length, length);
        to += length + 1;
    }

    yk_free(input->context, column);
    return texts;
}
