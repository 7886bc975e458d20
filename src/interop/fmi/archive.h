/* ZIP archives of FMUs and SSP packages, which are untrusted.
 *
 * An archive is checked as a whole before anything is written. These are errors that name the
 * entry and the limit: names that lead out of the folder, names that occur twice with different
 * contents, links, and contents that are larger than an FMU can reasonably be. */
#ifndef YK_TRANSPORT_FMI_ARCHIVE_H
#define YK_TRANSPORT_FMI_ARCHIVE_H

#include "yoke/base.h"

/* Limits of an archive. */
enum { YK_ARCHIVE_ENTRIES_MAX = 20000 };
#define YK_ARCHIVE_ENTRY_BYTES_MAX (UINT64_C(1) << 30) /* Of one entry, unpacked. */
#define YK_ARCHIVE_TOTAL_BYTES_MAX (UINT64_C(4) << 30) /* Of all entries, unpacked. */
#define YK_ARCHIVE_RATIO_MAX 1000 /* Unpacked size / packed size, of entries above 1 MiB. */

/* Unpacks the archive into a new temporary folder and returns the path of the folder. Remove it
 * with yk_archive_remove(). */
yk_status yk_archive_unpack(yk_context *context, const char *file, char **folder);

/* Unpacks the archive into a folder that must not exist. */
yk_status yk_archive_unpack_to(yk_context *context, const char *file, const char *folder);

/* Removes a folder with its content, and frees the path; NULL is allowed. */
void yk_archive_remove(yk_context *context, char *folder);

/* Creates an empty temporary folder. */
yk_status yk_archive_folder(yk_context *context, char **folder);

/* Write a text, or a copy of a file, to a path below a folder, and create the folders in
 * between. */
yk_status yk_archive_put_text(yk_context *context, const char *folder, const char *name,
                              const char *text);
yk_status yk_archive_put_file(yk_context *context, const char *folder, const char *name,
                              const char *from);

/* Packs all regular files of a folder into a new archive. */
yk_status yk_archive_pack(yk_context *context, const char *folder, const char *file);

#endif
