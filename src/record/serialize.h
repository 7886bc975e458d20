/* Values as a sequence of bytes, for the blocks of a journal and the sections of a checkpoint, and
 * back.
 *
 * Packing never fails in the middle: if memory is missing the pack is marked as failed, and the
 * code that writes it checks the mark. Unpacking trusts nothing: every length is compared with the
 * remaining bytes, and a pack that ends early is marked likewise and gives zeros and empty texts. */
#ifndef YK_RECORD_PACK_H
#define YK_RECORD_PACK_H

#include <stdint.h>

#include "yoke/base.h"

typedef struct yk_pack {
    yk_context *context;
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} yk_pack;

void yk_pack_bytes(yk_pack *pack, const void *bytes, size_t count);
void yk_pack_number(yk_pack *pack, uint64_t number);
/* NULL is packed as "". */
void yk_pack_text(yk_pack *pack, const char *text);
void yk_pack_destroy(yk_pack *pack);

typedef struct yk_unpack {
    const unsigned char *data;
    size_t size, at;
    bool failed;
} yk_unpack;

/* The next bytes, in the memory of the pack and without alignment; NULL: there are not enough. */
const void *yk_unpack_bytes(yk_unpack *pack, size_t count);
uint64_t yk_unpack_number(yk_unpack *pack);
/* The number of items that follow, each of at least `bytes` bytes; limited by the remaining bytes. */
int yk_unpack_count(yk_unpack *pack, size_t bytes);
/* In the memory of the pack. */
const char *yk_unpack_text(yk_unpack *pack);

#endif
