#include "record/hdf5_write.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "record/hdf5_format.h"
#include "record/journal.h"

/* Objects in memory ---------------------------------------------------------------------------- */

typedef enum payload_kind {
    PAYLOAD_BYTES,      /* as they are */
    PAYLOAD_TEXTS,      /* consecutive terminated texts: references to the global heap */
    PAYLOAD_SCALE,      /* DIMENSION_LIST: for each dimension a list of scales */
    PAYLOAD_REFERENCES, /* REFERENCE_LIST: datasets that use a scale */
} payload_kind;

typedef struct attribute {
    struct attribute *next;
    char *name;
    unsigned char type[HDF5_TYPE_BYTES];
    size_t type_bytes;
    int rank;
    uint64_t count;
    payload_kind kind;
    unsigned char *bytes;
    size_t byte_count;                 /* of the payload in the file */
    const yk_hdf5_object *scale;       /* PAYLOAD_SCALE */
    const yk_hdf5_object **references; /* PAYLOAD_REFERENCES */
} attribute;

struct yk_hdf5_object {
    yk_hdf5_object *next; /* of all objects, in the order of creation */
    char *name;
    bool group;
    yk_hdf5_object **members;
    size_t member_count, member_capacity;
    unsigned char type[HDF5_TYPE_BYTES];
    size_t type_bytes, value_bytes;
    int rank;
    uint64_t size[YK_HDF5_RANK_MAX];
    uint64_t data, data_bytes; /* place of the values */
    attribute *attributes, **last_attribute;

    /* Places in the file, assigned by finish. */
    uint64_t header, tree, heap;
};

struct yk_hdf5_output {
    yk_context *context;
    char *path;
    int descriptor;
    int error; /* errno of the first write that failed; 0: none */
    bool out_of_memory;
    uint64_t end; /* of the data so far */
    yk_hdf5_object *root, *last;
};

static bool failed(const yk_hdf5_output *output)
{
    return output->error != 0 || output->out_of_memory;
}

void yk_hdf5_fail(yk_hdf5_output *output)
{
    output->out_of_memory = true;
}

static void *take(yk_hdf5_output *output, size_t count, size_t size)
{
    if (failed(output))
        return NULL;

    void *memory = yk_allocate(output->context, count, size);
    if (!memory)
        output->out_of_memory = true;
    return memory;
}

static void write_at(yk_hdf5_output *output, uint64_t address, const void *bytes, size_t count)
{
    if (!failed(output) && !yk_write_all(output->descriptor, bytes, count, address))
        output->error = errno ? errno : EIO;
}

/* Datatype messages ---------------------------------------------------------------------------- */

typedef struct number_format {
    unsigned char class;
    unsigned char bytes;
    unsigned char exponent_bits, mantissa_bits; /* of floating-point numbers */
    uint32_t exponent_bias;
} number_format;

static const number_format number_formats[YK_HDF5_TYPE_COUNT] = {
    [YK_HDF5_FLOAT64] = {HDF5_CLASS_FLOAT, 8, 11, 52, 1023},
    [YK_HDF5_FLOAT32] = {HDF5_CLASS_FLOAT, 4, 8, 23, 127},
    [YK_HDF5_INT32] = {HDF5_CLASS_INTEGER, 4, 0, 0, 0},
    [YK_HDF5_INT64] = {HDF5_CLASS_INTEGER, 8, 0, 0, 0},
};

/* Numbers are stored in the byte order of this machine, which their type tells. */
static unsigned char byte_order_bit(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static size_t put_type_head(unsigned char *to, unsigned class, unsigned bits, size_t size)
{
    to[0] = (unsigned char)(HDF5_TYPE_VERSION << 4 | class);
    to[1] = (unsigned char)bits;
    to[2] = (unsigned char)(bits >> 8);
    to[3] = (unsigned char)(bits >> 16);
    hdf5_put(to + 4, size, 4);
    return 8;
}

static size_t put_number_type(unsigned char *to, yk_hdf5_type type)
{
    const number_format *f = &number_formats[type];
    unsigned bits = f->bytes * 8u;
    if (f->class == HDF5_CLASS_INTEGER) {
        size_t at = put_type_head(to, f->class, byte_order_bit() | HDF5_INTEGER_SIGNED, f->bytes);
        hdf5_put(to + at, 0, 2);
        hdf5_put(to + at + 2, bits, 2);
        return at + 4;
    }

    /* IEEE 754: the sign is the first bit, the leading bit of the mantissa is implied. */
    size_t at = put_type_head(
        to, f->class, byte_order_bit() | HDF5_FLOAT_IMPLIED_BIT | (bits - 1) << 8, f->bytes);
    hdf5_put(to + at, 0, 2);
    hdf5_put(to + at + 2, bits, 2);
    to[at + 4] = f->mantissa_bits;
    to[at + 5] = f->exponent_bits;
    to[at + 6] = 0;
    to[at + 7] = f->mantissa_bits;
    hdf5_put(to + at + 8, f->exponent_bias, 4);
    return at + 12;
}

static size_t put_fixed_text_type(unsigned char *to, size_t length, bool utf8)
{
    return put_type_head(to, HDF5_CLASS_TEXT, HDF5_TEXT_NULL_PADDED | (utf8 ? HDF5_TEXT_UTF8 : 0),
                         length);
}

static size_t put_reference_type(unsigned char *to)
{
    return put_type_head(to, HDF5_CLASS_REFERENCE, 0, 8);
}

/* Texts of any length: a sequence of bytes in the global heap. */
static size_t put_text_type(unsigned char *to)
{
    size_t at = put_type_head(to, HDF5_CLASS_VARIABLE, HDF5_VARIABLE_TEXT | HDF5_VARIABLE_UTF8,
                              HDF5_HEAP_REFERENCE_BYTES);
    at += put_type_head(to + at, HDF5_CLASS_INTEGER, 0, 1);
    hdf5_put(to + at, 0, 2);
    hdf5_put(to + at + 2, 8, 2);
    return at + 4;
}

static size_t put_scale_list_type(unsigned char *to)
{
    size_t at = put_type_head(to, HDF5_CLASS_VARIABLE, 0, HDF5_HEAP_REFERENCE_BYTES);
    return at + put_reference_type(to + at);
}

enum { REFERENCE_ENTRY_BYTES = 16 };

/* A member of a compound type: its name, its offset, and no dimensions. */
static size_t put_compound_member(unsigned char *to, const char *name, size_t offset)
{
    enum { DIMENSION_BYTES = 28 };
    size_t at = hdf5_padded(strlen(name) + 1);
    memset(to, 0, at + 4 + DIMENSION_BYTES);
    strcpy((char *)to, name);
    hdf5_put(to + at, offset, 4);
    return at + 4 + DIMENSION_BYTES;
}

static size_t put_reference_list_type(unsigned char *to)
{
    size_t at = put_type_head(to, HDF5_CLASS_COMPOUND, 2, REFERENCE_ENTRY_BYTES);
    at += put_compound_member(to + at, "dataset", 0);
    at += put_reference_type(to + at);
    at += put_compound_member(to + at, "dimension", 8);
    return at + put_number_type(to + at, YK_HDF5_INT32);
}

/* Creation ------------------------------------------------------------------------------------- */

static yk_hdf5_object *add_object(yk_hdf5_output *output, yk_hdf5_object *group, const char *name)
{
    if (!group || failed(output))
        return NULL;

    assert(group->group && *name && !strchr(name, '/') && !yk_hdf5_member(group, name));
    if (group->member_count == group->member_capacity) {
        size_t capacity = 2 * group->member_capacity + 8;
        yk_hdf5_object **grown =
            yk_reallocate(output->context, group->members, capacity, sizeof(yk_hdf5_object *));
        if (!grown) {
            output->out_of_memory = true;
            return NULL;
        }

        group->members = grown;
        group->member_capacity = capacity;
    }

    yk_hdf5_object *object = take(output, 1, sizeof *object);
    if (!object)
        return NULL;

    object->last_attribute = &object->attributes;
    output->last->next = object;
    output->last = object;
    object->name = yk_text_copy(output->context, name);
    if (!object->name) {
        output->out_of_memory = true;
        return NULL;
    }

    group->members[group->member_count++] = object;
    return object;
}

yk_status yk_hdf5_output_create(yk_context *context, const char *path, yk_hdf5_output **output)
{
    *output = NULL;
    yk_hdf5_output *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->descriptor = -1;
    made->end = HDF5_SUPERBLOCK_BYTES;
    made->path = yk_text_copy(context, path);
    made->root = yk_allocate(context, 1, sizeof *made->root);
    if (!made->path || !made->root) {
        yk_hdf5_output_destroy(made);
        return YK_ERROR_MEMORY;
    }

    made->root->group = true;
    made->root->last_attribute = &made->root->attributes;
    made->last = made->root;

    /* A link is not followed, and an existing file is not overwritten. */
    made->descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made->descriptor < 0) {
        int error = errno;
        yk_hdf5_output_destroy(made);
        return yk_fail(context, YK_ERROR_FILE, "cannot write '%s': %s", path, strerror(error));
    }

    *output = made;
    return YK_OK;
}

void yk_hdf5_output_destroy(yk_hdf5_output *output)
{
    if (!output)
        return;

    if (output->descriptor >= 0)
        close(output->descriptor);
    yk_context *context = output->context;
    while (output->root) {
        yk_hdf5_object *object = output->root;
        output->root = object->next;
        while (object->attributes) {
            attribute *a = object->attributes;
            object->attributes = a->next;
            yk_free(context, a->name);
            yk_free(context, a->bytes);
            yk_free(context, a->references);
            yk_free(context, a);
        }

        yk_free(context, object->members);
        yk_free(context, object->name);
        yk_free(context, object);
    }

    yk_free(context, output->path);
    yk_free(context, output);
}

yk_hdf5_object *yk_hdf5_root(yk_hdf5_output *output)
{
    return output->root;
}

bool yk_hdf5_is_group(const yk_hdf5_object *object)
{
    return object->group;
}

yk_hdf5_object *yk_hdf5_member(const yk_hdf5_object *group, const char *name)
{
    /* The newest first: channels come in the order of their subsystems. */
    for (size_t i = group->member_count; i-- > 0;)
        if (strcmp(group->members[i]->name, name) == 0)
            return group->members[i];

    return NULL;
}

yk_hdf5_object *yk_hdf5_add_group(yk_hdf5_output *output, yk_hdf5_object *group, const char *name)
{
    yk_hdf5_object *made = add_object(output, group, name);
    if (made)
        made->group = true;
    return made;
}

/* Assigns a dataset its place in the file. */
static void reserve_data(yk_hdf5_output *output, yk_hdf5_object *dataset)
{
    dataset->data_bytes = dataset->value_bytes;
    for (int i = 0; i < dataset->rank; i++)
        dataset->data_bytes *= dataset->size[i];
    dataset->data = output->end;
    output->end += hdf5_padded(dataset->data_bytes);
}

yk_hdf5_object *yk_hdf5_add_dataset(yk_hdf5_output *output, yk_hdf5_object *group, const char *name,
                                    yk_hdf5_type type, int rank, const uint64_t *size)
{
    assert(rank >= 0 && rank <= YK_HDF5_RANK_MAX);
    yk_hdf5_object *made = add_object(output, group, name);
    if (!made)
        return NULL;

    made->type_bytes = put_number_type(made->type, type);
    made->value_bytes = number_formats[type].bytes;
    made->rank = rank;
    for (int i = 0; i < rank; i++)
        made->size[i] = size[i];
    reserve_data(output, made);
    return made;
}

yk_hdf5_object *yk_hdf5_add_texts(yk_hdf5_output *output, yk_hdf5_object *group, const char *name,
                                  const char *const *texts, size_t count)
{
    size_t length = 1;
    for (size_t i = 0; i < count; i++)
        if (texts[i] && strlen(texts[i]) > length)
            length = strlen(texts[i]);

    yk_hdf5_object *made = add_object(output, group, name);
    char *column = take(output, count + 1, length);
    if (made && column) {
        for (size_t i = 0; i < count; i++)
            if (texts[i])
                memcpy(column + i * length, texts[i], strlen(texts[i]));
        made->type_bytes = put_fixed_text_type(made->type, length, true);
        made->value_bytes = length;
        made->rank = 1;
        made->size[0] = count;
        reserve_data(output, made);
        yk_hdf5_write(output, made, 0, count, column);
    }

    yk_free(output->context, column);
    return made;
}

void yk_hdf5_write(yk_hdf5_output *output, const yk_hdf5_object *dataset, uint64_t first,
                   size_t count, const void *values)
{
    if (!dataset || failed(output))
        return;

    assert((first + count) * dataset->value_bytes <= dataset->data_bytes);
    write_at(output, dataset->data + first * dataset->value_bytes, values,
             count * dataset->value_bytes);
}

/* Attributes ----------------------------------------------------------------------------------- */

static attribute *add_attribute(yk_hdf5_output *output, yk_hdf5_object *object, const char *name)
{
    if (!object)
        return NULL;

    attribute *made = take(output, 1, sizeof *made);
    if (!made)
        return NULL;

    *object->last_attribute = made;
    object->last_attribute = &made->next;
    made->name = yk_text_copy(output->context, name);
    if (!made->name)
        output->out_of_memory = true;
    return made;
}

static void set_bytes(yk_hdf5_output *output, attribute *a, const void *bytes, size_t count)
{
    a->byte_count = count;
    a->bytes = take(output, count + 1, 1);
    if (a->bytes && count > 0)
        memcpy(a->bytes, bytes, count);
}

void yk_hdf5_set_numbers(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                         yk_hdf5_type type, size_t count, const void *values)
{
    attribute *a = add_attribute(output, object, name);
    if (!a)
        return;

    a->type_bytes = put_number_type(a->type, type);
    a->rank = count > 0;
    a->count = count;
    set_bytes(output, a, values, (count > 0 ? count : 1) * number_formats[type].bytes);
}

void yk_hdf5_set_integer(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                         int value)
{
    yk_hdf5_set_numbers(output, object, name, YK_HDF5_INT32, 0, &(int32_t){value});
}

void yk_hdf5_set_fixed_text(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                            const char *text, size_t length)
{
    attribute *a = add_attribute(output, object, name);
    if (!a)
        return;

    a->type_bytes = put_fixed_text_type(a->type, length, false);
    set_bytes(output, a, text, length);
}

static void set_texts(yk_hdf5_output *output, yk_hdf5_object *object, const char *name, int rank,
                      const char *const *texts, size_t count)
{
    assert(count <= YK_HDF5_TEXTS_MAX);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(texts[i]) + 1;

    attribute *a = add_attribute(output, object, name);
    if (!a)
        return;

    a->type_bytes = put_text_type(a->type);
    a->kind = PAYLOAD_TEXTS;
    a->rank = rank;
    a->count = count;
    a->byte_count = count * HDF5_HEAP_REFERENCE_BYTES;
    a->bytes = take(output, bytes + 1, 1);
    char *to = (char *)a->bytes;
    for (size_t i = 0; to && i < count; i++) {
        strcpy(to, texts[i]);
        to += strlen(to) + 1;
    }
}

void yk_hdf5_set_text(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                      const char *text)
{
    set_texts(output, object, name, 0, &text, 1);
}

void yk_hdf5_set_texts(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                       const char *const *texts, size_t count)
{
    set_texts(output, object, name, 1, texts, count);
}

void yk_hdf5_set_scale(yk_hdf5_output *output, yk_hdf5_object *scale, const char *name,
                       yk_hdf5_object *const *datasets, size_t count)
{
    static const char class[] = "DIMENSION_SCALE";
    yk_hdf5_set_fixed_text(output, scale, "CLASS", class, sizeof class);
    yk_hdf5_set_fixed_text(output, scale, "NAME", name, strlen(name) + 1);

    for (size_t i = 0; i < count; i++) {
        attribute *a = add_attribute(output, datasets[i], "DIMENSION_LIST");
        if (!a)
            return;

        a->type_bytes = put_scale_list_type(a->type);
        a->kind = PAYLOAD_SCALE;
        a->rank = 1;
        a->count = (uint64_t)datasets[i]->rank;
        a->byte_count = (size_t)a->count * HDF5_HEAP_REFERENCE_BYTES;
        a->scale = scale;
    }

    /* The list of users is optional; an attribute cannot contain a long one. */
    if (count == 0 || count * REFERENCE_ENTRY_BYTES > HDF5_ATTRIBUTE_BYTES_MAX)
        return;

    attribute *a = add_attribute(output, scale, "REFERENCE_LIST");
    if (!a)
        return;

    a->type_bytes = put_reference_list_type(a->type);
    a->kind = PAYLOAD_REFERENCES;
    a->rank = 1;
    a->count = count;
    a->byte_count = count * REFERENCE_ENTRY_BYTES;
    a->references = take(output, count, sizeof *a->references);
    for (size_t i = 0; a->references && i < count; i++)
        a->references[i] = datasets[i];
}

/* Descriptions in the file -----------------------------------------------------------------------
 *
 * The image contains everything after the data: object headers, symbol tables, and the global heap.
 * First all objects get their addresses, then the heap is filled, then the rest is written with the
 * known addresses. */

typedef struct image {
    unsigned char *bytes;
    uint64_t base; /* address of the first byte */
    uint64_t size;
    uint64_t heap_start, heap_collection; /* addresses; of the collection that is being filled */
    uint64_t heap_used;                   /* bytes of the collection */
    unsigned heap_index;                  /* of the last object in it */
} image;

static unsigned char *at(const image *im, uint64_t address)
{
    return im->bytes + (address - im->base);
}

static size_t message_bytes(size_t data)
{
    return HDF5_MESSAGE_HEAD_BYTES + hdf5_padded(data);
}

static size_t space_bytes(int rank)
{
    return 8 + 8 * (size_t)rank;
}

static size_t attribute_data_bytes(const attribute *a)
{
    return 8 + hdf5_padded(strlen(a->name) + 1) + hdf5_padded(a->type_bytes) +
           hdf5_padded(space_bytes(a->rank)) + a->byte_count;
}

enum { FILL_BYTES = 8, LAYOUT_BYTES = 18, SYMBOL_TABLE_BYTES = 16 };

static size_t messages_bytes(const yk_hdf5_object *object)
{
    size_t bytes = message_bytes(SYMBOL_TABLE_BYTES);
    if (!object->group)
        bytes = message_bytes(space_bytes(object->rank)) + message_bytes(object->type_bytes) +
                message_bytes(FILL_BYTES) + message_bytes(LAYOUT_BYTES);
    for (const attribute *a = object->attributes; a; a = a->next)
        bytes += message_bytes(attribute_data_bytes(a));
    return bytes;
}

/* Levels of the B-tree over `leaves` symbol-table nodes, and its nodes in all. */
static size_t tree_nodes(size_t leaves)
{
    size_t nodes = 0;
    size_t level = leaves;
    do {
        level = (level + HDF5_TREE_CHILDREN - 1) / HDF5_TREE_CHILDREN;
        if (level == 0)
            level = 1;
        nodes += level;
    } while (level > 1);
    return nodes;
}

static size_t leaf_count(const yk_hdf5_object *group)
{
    return (group->member_count + HDF5_LEAF_ENTRIES - 1) / HDF5_LEAF_ENTRIES;
}

static size_t names_bytes(const yk_hdf5_object *group)
{
    size_t bytes = 8; /* the empty name */
    for (size_t i = 0; i < group->member_count; i++)
        bytes += hdf5_padded(strlen(group->members[i]->name) + 1);
    return bytes;
}

static uint64_t heap_object_bytes(uint64_t bytes)
{
    return HDF5_HEAP_OBJECT_HEAD_BYTES + hdf5_padded(bytes);
}

/* Gives all objects their addresses; returns the end. */
static uint64_t place_objects(const yk_hdf5_output *output, uint64_t end)
{
    for (yk_hdf5_object *object = output->root; object; object = object->next) {
        object->header = end;
        end += HDF5_HEADER_BYTES + messages_bytes(object);
        if (!object->group)
            continue;

        object->heap = end;
        end += HDF5_LOCAL_HEAP_BYTES + names_bytes(object);
        object->tree = end;
        end +=
            tree_nodes(leaf_count(object)) * HDF5_TREE_BYTES + leaf_count(object) * HDF5_LEAF_BYTES;
    }

    return end;
}

/* The number of heap objects of an attribute, and the size of each in turn. */
static size_t heap_objects(const attribute *a)
{
    if (a->kind == PAYLOAD_TEXTS)
        return (size_t)a->count;
    return a->kind == PAYLOAD_SCALE ? 1 : 0;
}

/* Collections hold a bounded number of objects, but always a whole one. */
static bool starts_collection(unsigned index, uint64_t used, uint64_t bytes)
{
    enum { OBJECTS_MAX = 2000, BYTES_MAX = 1 << 16 };
    return index == 0 || index == OBJECTS_MAX || used + bytes > BYTES_MAX;
}

/* Bytes that all collections of the global heap need. */
static uint64_t heap_bytes(const yk_hdf5_output *output)
{
    uint64_t total = 0;
    uint64_t used = 0;
    unsigned index = 0;
    for (const yk_hdf5_object *object = output->root; object; object = object->next) {
        for (const attribute *a = object->attributes; a; a = a->next) {
            const char *text = (const char *)a->bytes;
            for (size_t i = 0; i < heap_objects(a); i++) {
                uint64_t bytes = heap_object_bytes(8);
                if (a->kind == PAYLOAD_TEXTS) {
                    bytes = heap_object_bytes(strlen(text));
                    text += strlen(text) + 1;
                }

                if (starts_collection(index, used, bytes)) {
                    total += hdf5_collection_bytes(used);
                    index = 0;
                    used = HDF5_COLLECTION_HEAD_BYTES;
                }

                index++;
                used += bytes;
            }
        }
    }

    return total + hdf5_collection_bytes(used);
}

/* Ends the present collection: its size, and the free space behind its objects. */
static void close_collection(image *im)
{
    if (im->heap_index == 0)
        return;

    uint64_t bytes = hdf5_collection_bytes(im->heap_used);
    unsigned char *to = at(im, im->heap_collection);
    memcpy(to, "GCOL", 4);
    to[4] = 1;
    hdf5_put(to + 8, bytes, 8);
    if (bytes > im->heap_used)
        hdf5_put(to + im->heap_used + 8, bytes - im->heap_used, 8);
    im->heap_collection += bytes;
    im->heap_index = 0;
    im->heap_used = 0;
}

/* Puts bytes into the global heap and a reference to them at `to`; `length` counts values. */
static void put_in_heap(image *im, unsigned char *to, const void *bytes, size_t count,
                        size_t length)
{
    if (starts_collection(im->heap_index, im->heap_used, heap_object_bytes(count))) {
        close_collection(im);
        im->heap_used = HDF5_COLLECTION_HEAD_BYTES;
    }

    im->heap_index++;
    unsigned char *object = at(im, im->heap_collection) + im->heap_used;
    hdf5_put(object, im->heap_index, 2);
    hdf5_put(object + 8, count, 8);
    if (count > 0)
        memcpy(object + HDF5_HEAP_OBJECT_HEAD_BYTES, bytes, count);
    im->heap_used += heap_object_bytes(count);

    hdf5_put(to, length, 4);
    hdf5_put(to + 4, im->heap_collection, 8);
    hdf5_put(to + 12, im->heap_index, 4);
}

static unsigned char *put_message_head(unsigned char *to, unsigned type, size_t data)
{
    hdf5_put(to, type, 2);
    hdf5_put(to + 2, hdf5_padded(data), 2);
    return to + HDF5_MESSAGE_HEAD_BYTES;
}

static void put_space(unsigned char *to, int rank, const uint64_t *size)
{
    to[0] = 1;
    to[1] = (unsigned char)rank;
    for (int i = 0; i < rank; i++)
        hdf5_put(to + 8 + 8 * i, size[i], 8);
}

static void put_attribute_payload(image *im, const attribute *a, unsigned char *to)
{
    switch (a->kind) {
    case PAYLOAD_BYTES: memcpy(to, a->bytes, a->byte_count); break;
    case PAYLOAD_TEXTS: {
        const char *text = (const char *)a->bytes;
        for (size_t i = 0; i < a->count; i++) {
            size_t length = strlen(text);
            put_in_heap(im, to + i * HDF5_HEAP_REFERENCE_BYTES, text, length, length);
            text += length + 1;
        }
        break;
    }
    case PAYLOAD_SCALE: {
        unsigned char reference[8];
        hdf5_put(reference, a->scale->header, 8);
        put_in_heap(im, to, reference, sizeof reference, 1);
        break;
    }
    case PAYLOAD_REFERENCES:
        for (size_t i = 0; i < a->count; i++)
            hdf5_put(to + i * REFERENCE_ENTRY_BYTES, a->references[i]->header, 8);
        break;
    }
}

static unsigned char *put_attribute(image *im, const attribute *a, unsigned char *to)
{
    size_t data = attribute_data_bytes(a);
    unsigned char *from = put_message_head(to, HDF5_MESSAGE_ATTRIBUTE, data);
    from[0] = 1;
    hdf5_put(from + 2, strlen(a->name) + 1, 2);
    hdf5_put(from + 4, a->type_bytes, 2);
    hdf5_put(from + 6, space_bytes(a->rank), 2);

    unsigned char *part = from + 8;
    strcpy((char *)part, a->name);
    part += hdf5_padded(strlen(a->name) + 1);
    memcpy(part, a->type, a->type_bytes);
    part += hdf5_padded(a->type_bytes);
    put_space(part, a->rank, &a->count);
    part += hdf5_padded(space_bytes(a->rank));
    put_attribute_payload(im, a, part);
    return from + hdf5_padded(data);
}

static void put_header(image *im, const yk_hdf5_object *object)
{
    unsigned char *to = at(im, object->header);
    size_t count = object->group ? 1 : 4;
    for (const attribute *a = object->attributes; a; a = a->next)
        count++;
    to[0] = 1;
    hdf5_put(to + 2, count, 2);
    hdf5_put(to + 4, 1, 4); /* one link leads here */
    hdf5_put(to + 8, messages_bytes(object), 4);
    to += HDF5_HEADER_BYTES;

    if (object->group) {
        unsigned char *data = put_message_head(to, HDF5_MESSAGE_SYMBOL_TABLE, SYMBOL_TABLE_BYTES);
        hdf5_put(data, object->tree, 8);
        hdf5_put(data + 8, object->heap, 8);
        to += message_bytes(SYMBOL_TABLE_BYTES);
    } else {
        put_space(put_message_head(to, HDF5_MESSAGE_SPACE, space_bytes(object->rank)), object->rank,
                  object->size);
        to += message_bytes(space_bytes(object->rank));
        memcpy(put_message_head(to, HDF5_MESSAGE_TYPE, object->type_bytes), object->type,
               object->type_bytes);
        to += message_bytes(object->type_bytes);

        /* Storage is allocated early, and there is no fill value. */
        static const unsigned char fill[FILL_BYTES] = {2, 1, 1, 0};
        memcpy(put_message_head(to, HDF5_MESSAGE_FILL, FILL_BYTES), fill, FILL_BYTES);
        to += message_bytes(FILL_BYTES);

        unsigned char *layout = put_message_head(to, HDF5_MESSAGE_LAYOUT, LAYOUT_BYTES);
        layout[0] = 3;
        layout[1] = HDF5_LAYOUT_CONTIGUOUS;
        hdf5_put(layout + 2, object->data_bytes > 0 ? object->data : HDF5_NO_ADDRESS, 8);
        hdf5_put(layout + 10, object->data_bytes, 8);
        to += message_bytes(LAYOUT_BYTES);
    }

    for (const attribute *a = object->attributes; a; a = a->next)
        to = put_attribute(im, a, to);
}

static int compare_objects(const void *a, const void *b)
{
    return strcmp((*(yk_hdf5_object *const *)a)->name, (*(yk_hdf5_object *const *)b)->name);
}

/* The offset of a name in the local heap of its group, whose members are sorted. */
static void put_names(const image *im, const yk_hdf5_object *group, uint64_t *offsets)
{
    unsigned char *to = at(im, group->heap);
    memcpy(to, "HEAP", 4);
    hdf5_put(to + 8, names_bytes(group), 8);
    hdf5_put(to + 16, HDF5_NO_FREE_BLOCK, 8);
    hdf5_put(to + 24, group->heap + HDF5_LOCAL_HEAP_BYTES, 8);

    uint64_t offset = 8;
    for (size_t i = 0; i < group->member_count; i++) {
        strcpy((char *)to + HDF5_LOCAL_HEAP_BYTES + offset, group->members[i]->name);
        offsets[i] = offset;
        offset += hdf5_padded(strlen(group->members[i]->name) + 1);
    }
}

/* One level of a B-tree: nodes from `address` on over `count` children of `child_bytes` each. A key is the last name
 * below the child before it; `last_member` is the index of that name. Returns the number of nodes. */
static size_t put_tree_level(const image *im, const yk_hdf5_object *group, const uint64_t *offsets,
                             unsigned level, uint64_t address, uint64_t children,
                             size_t child_bytes, size_t count, size_t members_per_child)
{
    size_t nodes = (count + HDF5_TREE_CHILDREN - 1) / HDF5_TREE_CHILDREN;
    if (nodes == 0)
        nodes = 1;

    for (size_t n = 0; n < nodes; n++) {
        unsigned char *to = at(im, address + n * HDF5_TREE_BYTES);
        size_t first = n * HDF5_TREE_CHILDREN;
        size_t used = count - first < HDF5_TREE_CHILDREN ? count - first : HDF5_TREE_CHILDREN;
        memcpy(to, "TREE", 4);
        to[5] = (unsigned char)level;
        hdf5_put(to + 6, used, 2);
        hdf5_put(to + 8, n > 0 ? address + (n - 1) * HDF5_TREE_BYTES : HDF5_NO_ADDRESS, 8);
        hdf5_put(to + 16, n + 1 < nodes ? address + (n + 1) * HDF5_TREE_BYTES : HDF5_NO_ADDRESS, 8);

        unsigned char *entry = to + HDF5_TREE_HEAD_BYTES;
        size_t before = first * members_per_child;
        hdf5_put(entry, before > 0 ? offsets[before - 1] : 0, 8);
        for (size_t k = 0; k < used; k++) {
            size_t last = (first + k + 1) * members_per_child;
            if (last > group->member_count)
                last = group->member_count;
            hdf5_put(entry + 8, children + (first + k) * child_bytes, 8);
            hdf5_put(entry + 16, offsets[last - 1], 8);
            entry += 16;
        }
    }

    return nodes;
}

/* Symbol-table nodes and the B-tree over them; the root comes first, because the header refers to it. */
static void put_symbol_table(const image *im, const yk_hdf5_object *group, const uint64_t *offsets)
{
    size_t leaves = leaf_count(group);
    size_t all = tree_nodes(leaves);
    uint64_t leaf_start = group->tree + all * HDF5_TREE_BYTES;
    for (size_t i = 0; i < leaves; i++) {
        unsigned char *to = at(im, leaf_start + i * HDF5_LEAF_BYTES);
        size_t first = i * HDF5_LEAF_ENTRIES;
        size_t used = group->member_count - first;
        if (used > HDF5_LEAF_ENTRIES)
            used = HDF5_LEAF_ENTRIES;
        memcpy(to, "SNOD", 4);
        to[4] = 1;
        hdf5_put(to + 6, used, 2);
        for (size_t k = 0; k < used; k++) {
            unsigned char *entry = to + 8 + k * HDF5_SYMBOL_BYTES;
            hdf5_put(entry, offsets[first + k], 8);
            hdf5_put(entry + 8, group->members[first + k]->header, 8);
        }
    }

    /* Level by level from the leaves up, each in front of the level below it. */
    uint64_t end = leaf_start;
    uint64_t children = leaf_start;
    size_t child_bytes = HDF5_LEAF_BYTES;
    size_t count = leaves;
    size_t members = HDF5_LEAF_ENTRIES;
    for (unsigned level = 0; end > group->tree; level++) {
        size_t nodes = (count + HDF5_TREE_CHILDREN - 1) / HDF5_TREE_CHILDREN;
        if (nodes == 0)
            nodes = 1;
        uint64_t start = end - nodes * HDF5_TREE_BYTES;
        put_tree_level(im, group, offsets, level, start, children, child_bytes, count, members);
        end = children = start;
        child_bytes = HDF5_TREE_BYTES;
        count = nodes;
        members *= HDF5_TREE_CHILDREN;
    }
}

static void put_group(yk_hdf5_output *output, const image *im, yk_hdf5_object *group)
{
    uint64_t *offsets = take(output, group->member_count + 1, sizeof *offsets);
    if (!offsets)
        return;

    if (group->member_count > 1)
        qsort(group->members, group->member_count, sizeof *group->members, compare_objects);
    put_names(im, group, offsets);
    put_symbol_table(im, group, offsets);
    yk_free(output->context, offsets);
}

static void write_superblock(yk_hdf5_output *output, uint64_t end)
{
    unsigned char block[HDF5_SUPERBLOCK_BYTES] = {0};
    memcpy(block, hdf5_signature, sizeof hdf5_signature);
    block[13] = 8; /* bytes of an address */
    block[14] = 8; /* bytes of a length */
    hdf5_put(block + 16, HDF5_LEAF_ENTRIES / 2, 2);
    hdf5_put(block + 18, HDF5_TREE_CHILDREN / 2, 2);
    hdf5_put(block + 32, HDF5_NO_ADDRESS, 8); /* no free space */
    hdf5_put(block + 40, end, 8);
    hdf5_put(block + 48, HDF5_NO_ADDRESS, 8); /* no driver */
    hdf5_put(block + 64, output->root->header, 8);
    write_at(output, 0, block, sizeof block);
}

static void write_descriptions(yk_hdf5_output *output)
{
    if (failed(output))
        return;

    image im = {.base = output->end};
    im.heap_start = im.heap_collection = place_objects(output, im.base);
    uint64_t end = im.heap_start + heap_bytes(output);
    im.size = end - im.base;
    im.bytes = take(output, (size_t)im.size, 1);
    for (yk_hdf5_object *object = output->root; object && im.bytes; object = object->next) {
        put_header(&im, object);
        if (object->group)
            put_group(output, &im, object);
    }

    if (im.bytes) {
        close_collection(&im);
        write_at(output, im.base, im.bytes, (size_t)im.size);
        write_superblock(output, end);
    }

    yk_free(output->context, im.bytes);
}

yk_status yk_hdf5_output_status(const yk_hdf5_output *output)
{
    if (output->error != 0)
        return yk_fail(output->context, YK_ERROR_FILE, "cannot write '%s': %s", output->path,
                       strerror(output->error));
    return output->out_of_memory ? YK_ERROR_MEMORY : YK_OK;
}

yk_status yk_hdf5_output_finish(yk_hdf5_output *output)
{
    write_descriptions(output);

    /* Some file systems do not support synchronization. */
    if (!failed(output) && fsync(output->descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
        output->error = errno;
    if (close(output->descriptor) != 0 && !failed(output))
        output->error = errno;
    output->descriptor = -1;
    return yk_hdf5_output_status(output);
}
