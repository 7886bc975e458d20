/* Checkpoint files: named sections of bytes under one checksum.
 *
 *   start     "YOKECKPT", version, mark of the byte order, number of sections
 *   section   name, bytes | the bytes
 *   ...
 *   checksum  of all before it
 *
 * A file is written under another name, put on the disk and renamed, so that a checkpoint is there
 * whole or not at all; the one before it is kept as `path`.previous. What the sections mean is for
 * others to know (analysis/checkpoint.c). */
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
/* Whether one can be written there: not in a folder that does not exist, say. Writes none. */
yk_status yk_checkpoint_try(yk_context *context, const char *path);
/* Whether there is one, or the one before it, whatever their contents. */
bool yk_checkpoint_exists(yk_context *context, const char *path);
/* Removes both, and a half-written one. */
void yk_checkpoint_remove(yk_context *context, const char *path);

typedef struct yk_checkpoint_file yk_checkpoint_file;

/* The checkpoint, or the one before it if it is missing, damaged or unreadable, with a warning then.
 * YK_ERROR_INPUT if it is damaged, no checkpoint, or one of another version; YK_ERROR_FILE if it is
 * missing or cannot be read. */
yk_status yk_checkpoint_read(yk_context *context, const char *path, yk_checkpoint_file **file);
void yk_checkpoint_close(yk_context *context, yk_checkpoint_file *file);
/* A section, aligned for doubles; NULL: there is none of this name. */
const void *yk_checkpoint_find(const yk_checkpoint_file *file, const char *name, size_t *count);

#endif
