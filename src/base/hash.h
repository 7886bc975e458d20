/* FNV-1a over 64 bits: fingerprints of texts and state images. Not for adversaries. */
#ifndef YK_BASE_HASH_H
#define YK_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define YK_HASH_START UINT64_C(14695981039346656037)

/* Goes on from `hash`, at first YK_HASH_START. */
static inline uint64_t yk_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

#endif
