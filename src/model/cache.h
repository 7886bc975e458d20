/* What loading a scenario took long to find, kept for the next load: under a text that holds
 * everything it depends on. */
#ifndef YK_MODEL_CACHE_H
#define YK_MODEL_CACHE_H

#include <stddef.h>

#include "yoke/model.h"

/* Copies what was kept under the key; false if there is nothing of that size. Without a cache
 * (NULL) there never is. */
bool yk_cache_recall(yk_cache *cache, const char *key, void *data, size_t size);
/* Keeps a copy. The first one stays; beyond 256 MiB nothing more is kept, and later loads take as
 * long again. */
void yk_cache_keep(yk_cache *cache, const char *key, const void *data, size_t size);

#endif
