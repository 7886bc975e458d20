/* A cache of data that are expensive to compute while loading a scenario, for the next load in the
 * same process. */
#include "model/registry.h"

#include <pthread.h>
#include <string.h>

/* Largest total size (bytes): a sweep over thousands of packings must not fill the memory. */
static const size_t KEPT_MAX = (size_t)256 << 20;

typedef struct entry {
    struct entry *next;
    char *key;
    void *data;
    size_t size;
} entry;

/* Loads may run in several threads, each with its own context; the cache has a context too. */
struct yk_cache {
    yk_context *context;
    pthread_mutex_t lock; /* guards the list and the context */
    entry *first;
    size_t kept; /* bytes */
};

yk_cache *yk_cache_create(void)
{
    /* A context of its own, because those of the loads may be destroyed before the cache. */
    yk_context_def def = yk_context_default();
    def.thread_count = 1;
    def.log = NULL;
    yk_context *context = yk_context_create(&def);
    if (!context)
        return NULL;

    yk_cache *made = yk_allocate(context, 1, sizeof *made);
    if (!made) {
        yk_context_destroy(context);
        return NULL;
    }

    made->context = context;
    pthread_mutex_init(&made->lock, NULL);
    return made;
}

static void release(yk_context *context, entry *e)
{
    yk_free(context, e->key);
    yk_free(context, e->data);
    yk_free(context, e);
}

void yk_cache_destroy(yk_cache *cache)
{
    if (!cache)
        return;

    /* The context is destroyed last, because it has the memory of all entries. */
    yk_context *context = cache->context;
    for (entry *e = cache->first, *next; e; e = next) {
        next = e->next;
        release(context, e);
    }

    pthread_mutex_destroy(&cache->lock);
    yk_free(context, cache);
    yk_context_destroy(context);
}

static const entry *find(const yk_cache *cache, const char *key)
{
    for (const entry *e = cache->first; e; e = e->next)
        if (strcmp(e->key, key) == 0)
            return e;
    return NULL;
}

bool yk_cache_recall(yk_cache *cache, const char *key, void *data, size_t size)
{
    if (!cache)
        return false;

    pthread_mutex_lock(&cache->lock);

    /* A known key with another size is not the requested entry. */
    const entry *e = find(cache, key);
    bool found = e && e->size == size;
    if (found)
        memcpy(data, e->data, size);

    pthread_mutex_unlock(&cache->lock);
    return found;
}

void yk_cache_keep(yk_cache *cache, const char *key, const void *data, size_t size)
{
    if (!cache)
        return;

    /* Another thread may have stored the same entry: the first one is kept. */
    yk_context *context = cache->context;
    pthread_mutex_lock(&cache->lock);
    entry *e = NULL;
    if (!find(cache, key) && size <= KEPT_MAX - cache->kept)
        e = yk_allocate(context, 1, sizeof *e);
    if (e) {
        e->key = yk_allocate(context, strlen(key) + 1, 1);
        e->data = yk_allocate(context, size, 1);
    }

    /* Without memory nothing is stored, and the next load computes the data again. */
    if (e && (!e->key || !e->data)) {
        release(context, e);
        e = NULL;
    }

    if (e) {
        memcpy(e->key, key, strlen(key) + 1);
        memcpy(e->data, data, size);
        e->size = size;
        e->next = cache->first;
        cache->first = e;
        cache->kept += size;
    }

    pthread_mutex_unlock(&cache->lock);
}
