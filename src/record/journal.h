/* The journal of a run: an append-only file of blocks with checksums that contains the record
 * during the run. The results file is made from it at the end, or by yk_record_recover_journal().
 *
 *   start     "YOKEJRNL", version, mark of the byte order, process that writes it
 *   block     kind, items, bytes, offset in the file, checksum | payload
 *   block     ...
 *
 * The first block is the header of the record. Blocks of rows and frames follow in the order of
 * recording. A block with the summary marks the end of the run.
 *
 * Guarantees. A block is written once and never changed, so that a killed process or a full disk
 * can only damage the block that was being written. Only blocks with a valid checksum are used.
 * Damage at the end is the block that was being written; damage followed by valid blocks is an
 * error, unless the journal is recovered, which leaves a gap. The checksum covers the offset too,
 * so that bytes of an older file that reappear after a power failure are not mistaken for a block
 * of this file, and so that the next block after a damaged one can be found. A read error is not
 * damage: it is reported as such. */
#ifndef YK_RECORD_JOURNAL_H
#define YK_RECORD_JOURNAL_H

#include <stdint.h>

#include "yoke/record.h"

/* How files of our own begin: journals, and checkpoints. */
typedef struct yk_file_start {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t number; /* process that writes a journal; sections of a checkpoint */
} yk_file_start;

/* Writing -------------------------------------------------------------------------------------- */

typedef struct yk_journal {
    yk_context *context;
    const char *path; /* for messages */
    int descriptor;   /* -1: none */
    uint64_t length;  /* bytes of complete blocks */
    uint64_t digest;  /* of all blocks: equal digests and lengths mean equal journals */
    bool has_rest;    /* blocks of the stopped run still follow after `length` */
} yk_journal;

/* Position of a journal when a checkpoint was written. */
typedef struct yk_journal_place {
    uint64_t length, digest;
} yk_journal_place;

/* Opens `path` exclusively, and writes the start of an empty journal. The journal of an unfinished
 * run is kept as `old`, or as `old`.2, `old`.3, ... if there are others. Symbolic links are not
 * followed. YK_ERROR_FILE: another process has locked the journal, or it cannot be written. */
yk_status yk_journal_create(yk_context *context, const char *path, const char *old,
                            yk_journal *journal);
/* Opens an existing journal, to continue it at this position. The data before it must be those that
 * the stopped run had written, with the same header. */
yk_status yk_journal_reopen(yk_context *context, const char *path, const yk_record_header *header,
                            const yk_journal_place *position, yk_journal *journal);
/* Holds a journal that is there, so that nobody writes it, and changes nothing. */
yk_status yk_journal_lock(yk_context *context, const char *path, yk_journal *journal);
yk_status yk_journal_header(yk_journal *journal, const yk_record_header *header);
yk_status yk_journal_rows(yk_journal *journal, const double *rows, size_t count, size_t stride);
yk_status yk_journal_frame(yk_journal *journal, double time, const float *values, size_t size);
yk_status yk_journal_summary(yk_journal *journal, const yk_record_summary *summary);
/* Waits until the disk has everything. */
yk_status yk_journal_sync(yk_journal *journal);
void yk_journal_close(yk_journal *journal);

/* All bytes to a file at an offset; false with errno. */
bool yk_write_all(int descriptor, const void *bytes, size_t count, uint64_t offset);
/* Waits until a folder has the names of its files on the disk, as far as its system can tell. */
void yk_sync_folder(const char *path_of_file);

/* Reading -------------------------------------------------------------------------------------- */

/* Whether a file begins as a journal does. */
bool yk_is_journal(const void *start, size_t bytes);

/* Demands on a journal that is read. */
typedef enum yk_journal_use {
    YK_JOURNAL_READ,     /* of a running or killed run: sound up to its end */
    YK_JOURNAL_COMPLETE, /* of a finished run: valid, with a summary; otherwise YK_ERROR_FILE */
    YK_JOURNAL_RECOVER   /* all valid blocks; damaged ones become gaps */
} yk_journal_use;

/* Passes the contents to a recorder: begin, samples and frames, and the end of a journal that is
 * complete and has no gaps. `contents` counts the data found. `path` is for messages; the file is
 * open for reading. A read error is YK_ERROR_FILE, damage is YK_ERROR_INPUT. */
yk_status yk_journal_play(yk_context *context, const char *path, int file, yk_journal_use use,
                          yk_recorder *to, yk_recovery_report *contents);
/* The same as YK_JOURNAL_READ of a file that is not open yet. */
yk_status yk_journal_play_file(yk_context *context, const char *path, yk_recorder *to,
                               yk_recovery_report *contents);

#endif
