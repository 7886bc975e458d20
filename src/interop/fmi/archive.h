/* Archives of FMUs and of systems of them: ZIP files that strangers made.
 *
 * An archive is checked as a whole before anything of it is written: names that would leave the
 * folder, names that occur twice with different contents, links, and contents larger than an FMU can reasonably be are
 * errors that name the entry and the limit. */
#ifndef YK_TRANSPORT_FMI_ARCHIVE_H
#define YK_TRANSPORT_FMI_ARCHIVE_H

#include "yoke/base.h"

/* What an archive may hold; larger ones are refused. */
enum { YK_ARCHIVE_ENTRIES_MAX = 20000 };
#define YK_ARCHIVE_ENTRY_BYTES_MAX (UINT64_C(1) << 30) /* of one entry, unpacked */
#define YK_ARCHIVE_TOTAL_BYTES_MAX (UINT64_C(4) << 30) /* of all entries, unpacked */
#define YK_ARCHIVE_RATIO_MAX 1000 /* unpacked by packed, of entries over 1 MiB */

/* Unpacks the archive into a new folder for temporary files and returns the folder's path, to be
 * given to yk_archive_remove. */
yk_status yk_archive_unpack(yk_context *context, const char *file, char **folder);

/* The same into a folder that must not exist yet. */
yk_status yk_archive_unpack_to(yk_context *context, const char *file, const char *folder);

/* Removes such a folder with all that is in it, and releases the path; NULL: nothing to do. */
void yk_archive_remove(yk_context *context, char *folder);

/* A new empty folder for temporary files. */
yk_status yk_archive_folder(yk_context *context, char **folder);

/* Writes a text, or a copy of a file, to a path below a folder, with the folders above it. */
yk_status yk_archive_put_text(yk_context *context, const char *folder, const char *name,
                              const char *text);
yk_status yk_archive_put_file(yk_context *context, const char *folder, const char *name,
                              const char *from);

/* Packs all regular files of a folder into a new archive. */
yk_status yk_archive_pack(yk_context *context, const char *folder, const char *file);

#endif
