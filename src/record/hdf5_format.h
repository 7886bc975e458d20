/* The part of the HDF5 file format that is written and read here: version 0 of the superblock, version 1 of object
 * headers, groups as symbol tables, contiguous datasets. Numbers are those of the HDF5 File Format Specification,
 * version 1.1. All fields of the format have little-endian byte order; lengths are padded to 8 bytes. */
#ifndef YK_RECORD_HDF5_FORMAT_H
#define YK_RECORD_HDF5_FORMAT_H

#include <stddef.h>
#include <stdint.h>

static const unsigned char hdf5_signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

#define HDF5_NO_ADDRESS UINT64_MAX

enum {
    HDF5_SUPERBLOCK_BYTES = 96,
    HDF5_HEADER_BYTES = 16,
    HDF5_MESSAGE_HEAD_BYTES = 8,

    /* Groups: a B-tree whose leaves are symbol-table nodes, and a local heap of names. */
    HDF5_TREE_CHILDREN = 32,
    HDF5_TREE_HEAD_BYTES = 24,
    HDF5_TREE_BYTES = HDF5_TREE_HEAD_BYTES + 16 * HDF5_TREE_CHILDREN + 8,
    HDF5_LEAF_ENTRIES = 8,
    HDF5_SYMBOL_BYTES = 40,
    HDF5_LEAF_BYTES = 8 + HDF5_LEAF_ENTRIES * HDF5_SYMBOL_BYTES,
    HDF5_LOCAL_HEAP_BYTES = 32,
    HDF5_NO_FREE_BLOCK = 1,

    /* Global heap: collections of values of any length. */
    HDF5_COLLECTION_HEAD_BYTES = 16,
    HDF5_COLLECTION_BYTES_MIN = 4096,
    HDF5_HEAP_OBJECT_HEAD_BYTES = 16,
    HDF5_HEAP_REFERENCE_BYTES = 16,

    HDF5_ATTRIBUTE_BYTES_MAX = 60000, /* of its values; a message has at most 65528 bytes */
    HDF5_TYPE_BYTES = 160             /* of the longest type message that is written */
};

typedef enum hdf5_message {
    HDF5_MESSAGE_SPACE = 0x01,
    HDF5_MESSAGE_TYPE = 0x03,
    HDF5_MESSAGE_FILL = 0x05,
    HDF5_MESSAGE_LAYOUT = 0x08,
    HDF5_MESSAGE_FILTERS = 0x0b,
    HDF5_MESSAGE_ATTRIBUTE = 0x0c,
    HDF5_MESSAGE_CONTINUATION = 0x10,
    HDF5_MESSAGE_SYMBOL_TABLE = 0x11
} hdf5_message;

typedef enum hdf5_class {
    HDF5_CLASS_INTEGER = 0,
    HDF5_CLASS_FLOAT = 1,
    HDF5_CLASS_TEXT = 3,
    HDF5_CLASS_COMPOUND = 6,
    HDF5_CLASS_REFERENCE = 7,
    HDF5_CLASS_VARIABLE = 9
} hdf5_class;

enum {
    HDF5_TYPE_VERSION = 1,
    HDF5_BIG_ENDIAN = 1,
    HDF5_INTEGER_SIGNED = 8,
    HDF5_FLOAT_IMPLIED_BIT = 0x20,
    HDF5_TEXT_NULL_PADDED = 1,
    HDF5_TEXT_UTF8 = 0x10,
    HDF5_VARIABLE_TEXT = 1,
    HDF5_VARIABLE_UTF8 = 0x100,
    HDF5_LAYOUT_COMPACT = 0,
    HDF5_LAYOUT_CONTIGUOUS = 1
};

static inline void hdf5_put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        to[i] = (unsigned char)value;
}

static inline uint64_t hdf5_get(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static inline uint64_t hdf5_padded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* The size of a collection whose head and objects take `used` bytes; 0 for none. What is left over has room
 * for the head of a free object, or there is nothing left over. */
static inline uint64_t hdf5_collection_bytes(uint64_t used)
{
    if (used == 0)
        return 0;
    if (used <= HDF5_COLLECTION_BYTES_MIN - HDF5_HEAP_OBJECT_HEAD_BYTES)
        return HDF5_COLLECTION_BYTES_MIN;
    return used + HDF5_HEAP_OBJECT_HEAD_BYTES;
}

#endif
