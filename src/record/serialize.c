#include "record/serialize.h"

#include <limits.h>
#include <string.h>

void yk_pack_bytes(yk_pack *pack, const void *bytes, size_t count)
{
    if (pack->failed || count == 0)
        return;

    /* Double the size, so that many small pieces are cheap. */
    if (pack->capacity - pack->size < count) {
        size_t capacity = 2 * pack->capacity + count + 256;
        unsigned char *grown = yk_reallocate(pack->context, pack->data, capacity, 1);
        if (!grown) {
            pack->failed = true;
            return;
        }

        pack->data = grown;
        pack->capacity = capacity;
    }

    memcpy(pack->data + pack->size, bytes, count);
    pack->size += count;
}

void yk_pack_number(yk_pack *pack, uint64_t number)
{
    yk_pack_bytes(pack, &number, sizeof number);
}

void yk_pack_text(yk_pack *pack, const char *text)
{
    const char *given = text ? text : "";
    size_t bytes = strlen(given) + 1;
    yk_pack_number(pack, bytes);
    yk_pack_bytes(pack, given, bytes);
}

void yk_pack_destroy(yk_pack *pack)
{
    yk_free(pack->context, pack->data);
    *pack = (yk_pack){.context = pack->context};
}

const void *yk_unpack_bytes(yk_unpack *pack, size_t count)
{
    if (pack->failed || pack->size - pack->at < count) {
        pack->failed = true;
        return NULL;
    }

    const void *found = pack->data + pack->at;
    pack->at += count;

    return found;
}

uint64_t yk_unpack_number(yk_unpack *pack)
{
    uint64_t number = 0;
    const void *from = yk_unpack_bytes(pack, sizeof number);
    if (from)
        memcpy(&number, from, sizeof number);

    return number;
}

int yk_unpack_count(yk_unpack *pack, size_t bytes)
{
    /* Do not allocate memory for items that cannot exist. */
    uint64_t count = yk_unpack_number(pack);
    if (count > INT_MAX || count > (pack->size - pack->at) / bytes) {
        pack->failed = true;
        return 0;
    }

    return (int)count;
}

const char *yk_unpack_text(yk_unpack *pack)
{
    /* With its terminator, so that it can be used in place. */
    uint64_t bytes = yk_unpack_number(pack);
    const char *text = yk_unpack_bytes(pack, bytes);
    if (!text || bytes == 0 || text[bytes - 1] != '\0') {
        pack->failed = true;
        return "";
    }

    return text;
}
