/* Checkpoint files: named sections of bytes with one checksum.
 *
 *   start     "YOKECKPT", version, mark of the byte order, number of sections
 *   section   name, bytes | the bytes
 *   ...
 *   checksum  of everything before it
 *
 * A file is written under another name, synchronized to the disk and renamed, so that a checkpoint
 * is complete or does not exist; the previous one is kept as `path`.previous. The callers define
 * the contents of the sections (analysis/checkpoint.c). */
#ifndef YK_RECORD_CHECKPOINT_H
#define YK_RECORD_CHECKPOINT_H

#include <stdint.h>

#include "yoke/base.h"

enum { YK_SECTION_NAME_BYTES = 24 };

typedef struct yk_checkpoint_section {
    char name[YK_SECTION_NAME_BYTES];
    const void *bytes;
    size_t count;
} yk_checkpoint_section;

yk_status yk_checkpoint_write(yk_context *context, const char *path,
                              const yk_checkpoint_section *sections, int count);
/* Whether a checkpoint can be written there, for example not in a missing folder. Writes nothing. */
yk_status yk_checkpoint_try(yk_context *context, const char *path);
/* Whether the file, or the previous one, exists. The contents are not read. */
bool yk_checkpoint_exists(yk_context *context, const char *path);
/* Removes both, and an incomplete one. */
void yk_checkpoint_remove(yk_context *context, const char *path);

typedef struct yk_checkpoint_file yk_checkpoint_file;

/* Reads the checkpoint, or with a warning the previous one if it is missing, damaged or unreadable.
 * YK_ERROR_INPUT: it is damaged, not a checkpoint, or of another version. YK_ERROR_FILE: it is
 * missing or cannot be read. */
yk_status yk_checkpoint_read(yk_context *context, const char *path, yk_checkpoint_file **file);
void yk_checkpoint_close(yk_context *context, yk_checkpoint_file *file);
/* A section, aligned for doubles; NULL: there is none with this name. */
const void *yk_checkpoint_find(const yk_checkpoint_file *file, const char *name, size_t *count);

#endif
