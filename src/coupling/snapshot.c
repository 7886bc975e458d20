/* Snapshots: the state of a system and the data of its checkpoints in one block of memory. */
#include <string.h>

#include "base/text.h"
#include "coupling/access.h"
#include "coupling/arguments.h"
#include "coupling/channels.h"
#include "coupling/system.h"

/* Header before the words. A snapshot of a system with another description is rejected. */
typedef struct header {
    uint64_t magic;
    uint64_t state_size, data_size; /* 8-byte words */
    uint64_t hash;                  /* of the words */
} header;

static const uint64_t MAGIC = UINT64_C(0x31746f6873706e73); /* "snpshot1" */

struct yk_snapshot {
    yk_context *context;
    size_t bytes;
    header *block; /* followed by the words of the state and of the checkpoint data */
};

static double *words_of(const yk_snapshot *snapshot)
{
    return (double *)(snapshot->block + 1);
}

static uint64_t hash_words(const yk_snapshot *snapshot)
{
    return yk_hash_bytes(YK_HASH_START, words_of(snapshot), snapshot->bytes - sizeof(header));
}

static yk_status allocate_snapshot(yk_context *context, size_t bytes, yk_snapshot **snapshot)
{
    yk_snapshot *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->bytes = bytes;
    made->block = yk_allocate(context, bytes, 1);
    if (!made->block) {
        yk_free(context, made);
        return YK_ERROR_MEMORY;
    }
    *snapshot = made;
    return YK_OK;
}

void yk_snapshot_destroy(yk_snapshot *snapshot)
{
    if (!snapshot)
        return;

    yk_free(snapshot->context, snapshot->block);
    yk_free(snapshot->context, snapshot);
}

yk_status yk_snapshot_create(yk_system *system, yk_snapshot **snapshot)
{
    if (snapshot)
        *snapshot = NULL;
    if (!yk_system_has_memory(system, __func__, "snapshot", snapshot) ||
        !yk_system_has_started(system, __func__))
        return YK_ERROR_ARGUMENT;

    /* The layout for states that are restored. Subsystems prepare for it. */
    size_t state = yk_system_state_layout(system).word_count;
    if (state == 0) {
        int without = yk_system_first_without_state(system).index;
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "subsystem '%s' cannot save its state, so the system has no snapshots",
                       without >= 0 ? system->parts[without].name : "?");
    }

    size_t data = yk_system_checkpoint_size(system);
    size_t bytes = sizeof(header) + (state + data) * sizeof(double);
    yk_status status = allocate_snapshot(system->context, bytes, snapshot);
    if (status != YK_OK)
        return status;

    *(*snapshot)->block = (header){.magic = MAGIC, .state_size = state, .data_size = data};
    status = yk_snapshot_save(*snapshot, system);
    if (status != YK_OK) {
        yk_snapshot_destroy(*snapshot);
        *snapshot = NULL;
    }
    return status;
}

/* Whether a snapshot fits a system. */
static yk_status check_sizes(const yk_snapshot *snapshot, const yk_system *system,
                             const char *function)
{
    if (!yk_system_has_memory(system, function, "snapshot", snapshot) ||
        !yk_system_has_started(system, function))
        return YK_ERROR_ARGUMENT;

    const header *block = snapshot->block;
    size_t state = yk_system_state_layout(system).word_count;
    size_t data = yk_system_checkpoint_size(system);
    if (block->state_size == state && block->data_size == data)
        return YK_OK;
    return yk_fail(system->context, YK_ERROR_ARGUMENT,
                   "%s: the snapshot belongs to a system of another description", function);
}

yk_status yk_snapshot_save(yk_snapshot *snapshot, const yk_system *system)
{
    yk_status status = check_sizes(snapshot, system, __func__);
    if (status != YK_OK)
        return status;

    double *words = words_of(snapshot);
    status = yk_system_get_state(system, words);
    if (status == YK_OK)
        status = yk_system_get_checkpoint_data(system, words + snapshot->block->state_size);
    return status;
}

yk_status yk_snapshot_restore(const yk_snapshot *snapshot, yk_system *system)
{
    yk_status status = check_sizes(snapshot, system, __func__);
    if (status != YK_OK)
        return status;

    const double *words = words_of(snapshot);
    yk_system_clear_wrenches(system);
    status = yk_system_set_state(system, words);
    if (status == YK_OK)
        status = yk_system_set_checkpoint_data(system, words + snapshot->block->state_size);
    return status;
}

yk_status yk_snapshot_clone(const yk_snapshot *snapshot, yk_snapshot **copy)
{
    if (!copy)
        return YK_ERROR_ARGUMENT;
    *copy = NULL;
    if (!snapshot)
        return YK_ERROR_ARGUMENT;

    yk_status status = allocate_snapshot(snapshot->context, snapshot->bytes, copy);
    if (status == YK_OK)
        memcpy((*copy)->block, snapshot->block, snapshot->bytes);
    return status;
}

const void *yk_snapshot_data(const yk_snapshot *snapshot, size_t *size)
{
    if (size)
        *size = snapshot ? snapshot->bytes : 0;
    if (!snapshot)
        return NULL;

    /* The hash is needed only for data that leave the process. */
    snapshot->block->hash = hash_words(snapshot);
    return snapshot->block;
}

yk_status yk_snapshot_from_data(yk_context *context, const void *data, size_t size,
                                yk_snapshot **snapshot)
{
    if (!snapshot)
        return YK_ERROR_ARGUMENT;
    *snapshot = NULL;

    header block = {0};
    if (data && size >= sizeof block)
        memcpy(&block, data, sizeof block);
    size_t words = (size - sizeof block) / sizeof(double);
    bool fits = block.magic == MAGIC && size % sizeof(double) == 0 && block.state_size <= words &&
                block.data_size == words - block.state_size;
    if (!fits)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s: the data are not a snapshot", __func__);

    yk_status status = allocate_snapshot(context, size, snapshot);
    if (status != YK_OK)
        return status;
    memcpy((*snapshot)->block, data, size);
    if (hash_words(*snapshot) == block.hash)
        return YK_OK;

    yk_snapshot_destroy(*snapshot);
    *snapshot = NULL;
    return yk_fail(context, YK_ERROR_ARGUMENT, "%s: the snapshot is damaged", __func__);
}
