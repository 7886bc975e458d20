/* The journal of a run: an append-only file of blocks with checksums, which a record is while its
 * run goes on. The results file is made of it at the end, and by yk_record_recover.
 *
 *   start     "YOKEJRNL", version, mark of the byte order, process that writes it
 *   block     kind, items, bytes, offset in the file, checksum | payload
 *   block     ...
 *
 * The first block is the header of the record; blocks of rows and frames follow in the order in
 * which they came; a block with the summary says that the run came to its end.
 *
 * What this promises. A block is written once and never touched again, so that a process that is
 * killed, or a disk that is full, can only damage the block that was being written. A reader takes
 * blocks as long as their checksum holds and stops at the first that does not: it has all that was
 * flushed, and nothing that was not recorded. The checksum covers the offset too, so that bytes of
 * an older file that a power cut brings back are not taken for a block of this one. */
#ifndef YK_RECORD_JOURNAL_H
#define YK_RECORD_JOURNAL_H

#include <stdint.h>

#include "yoke/record.h"

/* How files of our own begin: journals, and checkpoints. */
typedef struct yk_file_start {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t number; /* the process that writes a journal; sections of a checkpoint */
} yk_file_start;

/* Writing -------------------------------------------------------------------------------------- */

typedef struct yk_journal {
    yk_context *context;
    const char *path; /* for messages */
    int descriptor;   /* -1: none */
    uint64_t length;  /* bytes of whole blocks */
    bool stream;      /* a pipe: written from front to back, and not taken back */
} yk_journal;

/* Opens `path` for this process alone, and writes the start of an empty journal. One that a run
 * has left behind is kept under `old`; a link is not followed. YK_ERROR_FILE where another process
 * holds it, or where it cannot be written. */
yk_status yk_journal_create(yk_context *context, const char *path, const char *old,
                            yk_journal *journal);
/* Opens a journal that is there, to go on behind its first `length` bytes, which must be whole
 * blocks under this header. */
yk_status yk_journal_reopen(yk_context *context, const char *path, const yk_record_header *header,
                            uint64_t length, yk_journal *journal);
/* An empty journal that goes through a pipe to another process. */
yk_status yk_journal_stream(yk_context *context, const char *path, int pipe, yk_journal *journal);
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

/* Passes everything to a recorder: begin, samples and frames, and the end of a journal that is
 * complete; what there was in `contents`. `path` is for messages; the file is one that is open for reading. */
yk_status yk_journal_play(yk_context *context, const char *path, int file, yk_recorder *to,
                          yk_recovery *contents);
/* The same of one that comes through a pipe. */
yk_status yk_journal_play_stream(yk_context *context, const char *path, int pipe, yk_recorder *to,
                                 yk_recovery *contents);
/* The same of a file that is not open yet. */
yk_status yk_journal_play_file(yk_context *context, const char *path, yk_recorder *to,
                               yk_recovery *contents);

#endif
