/* Recorders and records.
 *
 * A recorder takes the results of a run:
 *
 *   begin    title, scenario and channels
 *   sample   a time and a row of doubles: the components of all channels in order
 *   end      the summary of the run; a results file is complete after it
 *
 * Recorders write to memory (yk_record), to a CSV or HDF5 file, or to several of them at once. An object whose first
 * member points to a yk_recorder_ops is a recorder too.
 *
 * HDF5 layout, format version 2, for h5py, MATLAB and h5dump. Datasets are contiguous and not compressed:
 *
 *   /                        attributes: format ("yoke results"), format_version, software, title, command, scenario_yaml,
 *                            is_complete
 *   /time                    seconds, one per row; the dimension scale of the rows of all channels. /frames/time is the
 *                            scale of the frames.
 *   /channels/left/position  rows x components (rows alone if there is one component); attributes: name, units,
 *                            order (of the channel in the file), labels (of up to 4000 components). The dots of
 *                            "left.position" separate groups.
 *   /summary/step_count      one number; attributes: name, units, text, order
 *   /summary/findings/1/     kind, value, message, is_serious, interface, remedy_1, ... of the first finding
 *
 * If the run recorded frames (docs/report.md), in meters and the axes of the system:
 *
 *   /scene                   attributes: contact_count, monitor_version, up (three numbers, against gravity)
 *   /scene/subsystems/       one entry per subsystem: name, solver
 *   /scene/bodies/           one entry per body: name, subsystem, motion (0 fixed, 1 a point, 2 a frame), has_strain,
 *                            position, orientation (w first), both at the start
 *   /scene/shapes/           one entry per shape: name, kind (yk_shape_kind), body (-1: the ground), end_body, position,
 *                            orientation, size, open_walls, point_count
 *   /scene/points            points of all hulls, one hull after the other
 *   /scene/connections/      one entry per interface or wire: name, kind (0 at markers, 1 scalar, 2 wire), from, to
 *   /frames/time             seconds, one per frame; the other datasets have a row per frame, float32
 *   /frames/position         of the bodies that are not fixed
 *   /frames/orientation      of the bodies whose motion is 2
 *   /frames/strain           of the bodies with strain
 *   /frames/wrench           of the interfaces at markers: point, force and torque on the first side
 *   /frames/monitor          of each subsystem the spurious energy of its integration (J), the residual of its contacts
 *                            (m/s), the fraction of steps with unsolved contacts, and the depth to which a body with
 *                            prescribed motion entered a fixed body (m), each NaN if unknown; of each interface its gaps
 *                            (m, rad, m/s, rad/s), the energy that it created (J), and the oscillation of its wrench
 *                            from step to step relative to the maximum; and the iterations of the last macro step
 *   /frames/contact          of the strongest contacts: point, normal, and force on the side that the normal points to;
 *                            zero if there are fewer
 *
 * CSV: one header line with "time [s]" and "left.position.x [m]" (a backslash quotes : [ ] and itself in names), then
 * one line per sample. Both formats keep every bit of every number. CSV keeps neither summary nor scenario, nor the
 * payload of a NaN. */
#ifndef YOKE_RECORD_H
#define YOKE_RECORD_H

#include <stdint.h>

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yk_record_channel {
    const char *name;    /* "left.position", unique; dots separate subsystem, port and quantity */
    const char *unit;    /* "m"; NULL or "" stands for "1", a pure number */
    int component_count; /* at least 1 */
    const char *const
        *labels; /* one per component; NULL: x, y, z of three, w, x, y, z of four, else 1, 2, ... */
} yk_record_channel;

/* The scene of a run -------------------------------------------------------------------------- */

typedef struct yk_record_body {
    const char *name; /* "crank", as in its channels; NULL or "": none */
    int subsystem;
    yk_scene_motion motion;
    bool has_strain;
    yk_vec3 position; /* at the start (m) */
    yk_quat orientation;
} yk_record_body;

/* The numbers are stored in records (/scene/connections/kind). Do not change a number. */
typedef enum yk_connection_kind {
    YK_CONNECTION_MARKERS = 0, /* an interface at markers, with a wrench in every frame */
    YK_CONNECTION_SCALAR = 1,  /* an interface between scalar ports */
    YK_CONNECTION_WIRE = 2
} yk_connection_kind;

typedef struct yk_record_connection {
    const char *name;
    yk_connection_kind kind;
    int from, to; /* subsystems: first and second side, or source and target */
} yk_record_connection;

/* Constant data of a scene, in metres and the axes of the system. */
typedef struct yk_record_scene {
    const char *const *subsystems; /* names */
    const char *const *solvers;    /* their kinds */
    int subsystem_count;
    const yk_record_body *bodies;
    int body_count;
    const yk_shape *shapes; /* on these bodies */
    int shape_count;
    const yk_record_connection *connections;
    int connection_count;
    int contact_count; /* largest number of contact points of a frame */
    int monitor_version; /* layout of YK_FRAME_MONITOR: YK_MONITOR_VERSION, 1 in older records, 0 none */
    yk_vec3 up;          /* opposite to gravity */
} yk_record_scene;

/* Contents of a frame, one after another: positions (3 each) of the bodies that are not fixed,
 * orientations (4 each, w first) of those with full motion, strains of those with strain, point,
 * force and torque (3 each) of the interfaces at markers, monitored values, and point, normal and
 * force (3 each) of contacts.
 *
 * Monitored values: of each subsystem the energy created by its integration (J), the residual of
 * its contacts (m/s), the fraction of its steps so far with unsolved contacts, and the depth to
 * which a driven body entered a fixed one (m), each NaN if unknown; of each interface its gaps in
 * position, rotation, velocity and angular velocity (m, rad, m/s, rad/s), the energy that it
 * created (J), and the oscillation of its wrench from step to step relative to its maximum; and the
 * iterations of the last macro step. Records of layout 1 have only energies, gaps and iterations. */
enum { YK_MONITOR_VERSION = 2, YK_MONITOR_SUBSYSTEM_VALUES = 4, YK_MONITOR_INTERFACE_VALUES = 6 };

typedef enum yk_frame_table {
    YK_FRAME_POSITION,
    YK_FRAME_ORIENTATION,
    YK_FRAME_STRAIN,
    YK_FRAME_WRENCH,
    YK_FRAME_MONITOR,
    YK_FRAME_CONTACT,
    YK_FRAME_TABLE_COUNT
} yk_frame_table;

/* Number of values of one table in a frame, and of all tables. */
size_t yk_scene_table_value_count(const yk_record_scene *scene, yk_frame_table table);
size_t yk_scene_frame_value_count(const yk_record_scene *scene);

/* Strings may be NULL. Recorders keep copies. */
typedef struct yk_record_header {
    const char *title;
    const char *scenario_text; /* the whole scenario file, so that the run can be repeated */
    const char *command;       /* the command line */
    const yk_record_channel *channels;
    int channel_count;
    const yk_record_scene *scene; /* NULL: the scene is not recorded */
} yk_record_header;

/* One value of the summary: a number with its unit, or a text (the number is then meaningless
 * unless the name tells otherwise). */
typedef struct yk_record_value {
    const char *name; /* "steps" */
    double value;
    const char *unit; /* may be NULL */
    const char *text; /* may be NULL */
} yk_record_value;

typedef struct yk_record_summary {
    const yk_record_value *values;
    int count;
} yk_record_summary;

typedef struct yk_recorder yk_recorder;

/* Position of a record: the length of each of its journals, and a digest of their contents, which
 * detects the journals of another run. */
enum { YK_RECORD_FILES_MAX = 64 };
typedef struct yk_journal_position {
    int count;
    uint64_t length[YK_RECORD_FILES_MAX];
    uint64_t digest[YK_RECORD_FILES_MAX];
} yk_journal_position;

typedef struct yk_recorder_ops {
    /* sizeof(yk_recorder_ops) of the header that the implementation was compiled with */
    size_t size;
    const char *kind; /* "memory", "csv", ... */

    /* Starts a record; a previous one is replaced. */
    yk_status (*begin)(yk_recorder *self, const yk_record_header *header);
    yk_status (*sample)(yk_recorder *self, double time, const double *row);
    /* Completes the record; the summary may be NULL. Without this call a file recorder leaves its
     * journal. */
    yk_status (*end)(yk_recorder *self, const yk_record_summary *summary);
    void (*destroy)(yk_recorder *self);
    /* A frame of the scene at a time, with the tables of yk_frame_table. Default: frames are left
     * out. */
    yk_status (*frame)(yk_recorder *self, double time, const float *values);

    /* For runs that are stopped and resumed; NULL: not supported. sync writes everything to the
     * disk and returns the position of the record. resume replaces begin: it continues the record
     * at this position, in another process, as if it had never stopped; the header must be the
     * same. */
    yk_status (*sync)(yk_recorder *self, yk_journal_position *position);
    yk_status (*resume)(yk_recorder *self, const yk_record_header *header,
                        const yk_journal_position *position);
    /* Whether this recorder supports it; NULL: it does if it has the two operations. */
    bool (*can_resume)(const yk_recorder *self);
} yk_recorder_ops;

/* Implementations have this as their first member. */
struct yk_recorder {
    const yk_recorder_ops *ops;
};

/* The operations as functions. destroy accepts NULL. */
yk_status yk_recorder_begin(yk_recorder *recorder, const yk_record_header *header);
yk_status yk_recorder_sample(yk_recorder *recorder, double time, const double *row);
yk_status yk_recorder_frame(yk_recorder *recorder, double time, const float *values);
yk_status yk_recorder_end(yk_recorder *recorder, const yk_record_summary *summary);
bool yk_recorder_can_resume(const yk_recorder *recorder); /* supports sync and resume */
yk_status yk_recorder_sync(yk_recorder *recorder, yk_journal_position *position);
yk_status yk_recorder_resume(yk_recorder *recorder, const yk_record_header *header,
                             const yk_journal_position *position);
void yk_recorder_destroy(yk_recorder *recorder);

/* Files ---------------------------------------------------------------------------------------- */

typedef enum yk_record_format {
    YK_RECORD_FORMAT_FROM_NAME, /* .csv, .h5 or .hdf5 */
    YK_RECORD_FORMAT_CSV,
    YK_RECORD_FORMAT_HDF5
} yk_record_format;

typedef struct yk_file_recorder_def {
    const char *path;
    yk_record_format format;
    /* Rows are written to the journal when this number is buffered, or when this time (s) has
     * passed at a sample: this is what a killed run can lose. */
    int block_rows;
    double flush_interval;
    /* the same for synchronizing to the disk: what a power failure can destroy */
    double sync_interval;
} yk_file_recorder_def;

yk_file_recorder_def yk_file_recorder_default(void);

/* Whether the ending of a file name selects a format. */
bool yk_record_is_known_format(const char *path);
/* Writes the endings that select a format, for messages: ".h5, .hdf5 or .csv". */
void yk_record_endings(char *text, size_t size);

/* A recorder that writes `path`. Until the end, and after a run that did not reach it, the record
 * is the journal `path`.part, in blocks with checksums: a killed process, or a full disk, costs at
 * most the block that was being written. yk_record_load() reads a journal like any results file.
 * The end creates `path` from it at once and reads it back; if anything fails or differs, an older
 * `path` and the journal are unchanged. A record to which a checkpoint refers (sync, resume) keeps
 * its journal until the recorder is destroyed: remove checkpoints between the end and that. A
 * journal belongs to one recorder at a time: begin fails while another process writes it, and keeps
 * the journal of a killed run as `path`.part.old. */
yk_status yk_file_recorder_create(yk_context *context, const yk_file_recorder_def *def,
                                  yk_recorder **recorder);

/* A range of time in which samples or frames are missing (s): from the last one before the damage
 * to the first one after it. NaN if there is none. */
typedef struct yk_recovery_gap {
    double after, before;
} yk_recovery_gap;

enum { YK_RECOVERY_GAPS = 16 };

typedef struct yk_recovery_report {
    bool is_complete; /* the run had reached its end */
    size_t row_count, frame_count;
    /* bytes left out, in gaps and at the end of the journal */
    uint64_t damaged_bytes;
    size_t gap_count;                       /* damaged places followed by valid blocks */
    yk_recovery_gap gaps[YK_RECOVERY_GAPS]; /* the first of them */
} yk_recovery_report;

/* Creates the results file `path` from a journal, which is kept. Damaged blocks are left out; a
 * results file with gaps is not marked as complete. YK_ERROR_INPUT: the file is not a journal or
 * contains no samples. YK_ERROR_FILE: its run is still in progress, or a read error. */
yk_status yk_record_recover_journal(yk_context *context, const char *part, const char *path,
                                    yk_recovery_report *recovery);

/* Passes everything on to several recorders, which the caller owns and which must outlive it.
 * Samples and the end reach all of them even if one fails; the last failure is returned. */
yk_status yk_tee_recorder_create(yk_context *context, yk_recorder *const *recorders, int count,
                                 yk_recorder **tee);

/* Memory --------------------------------------------------------------------------------------- */

/* A recorded run in memory, in columns. */
typedef struct yk_record yk_record;

yk_status yk_record_create(yk_context *context, yk_record **record);
void yk_record_destroy(yk_record *record);

/* The recorder that appends to this record. Either yk_record_destroy() or yk_recorder_destroy()
 * destroys both. */
yk_recorder *yk_record_recorder(yk_record *record);

/* Reads a file written by a file recorder, including the journal of a run that is in progress or
 * did not end, and any CSV file with a header whose first column is time. YK_ERROR_INPUT, with line
 * and reason: the file is of another kind, damaged, or contains no samples. */
yk_status yk_record_load(yk_context *context, const char *path, yk_record **record);

/* The same for records that are larger than what is needed of them: header, summary and number of
 * rows of an HDF5 results file are read now, each channel, the times and the frames when they are
 * first asked for. The file stays open until the record is destroyed, and may be replaced or removed
 * meanwhile. Use the record from one thread at a time. Journals and CSV files are read completely. */
yk_status yk_record_open(yk_context *context, const char *path, yk_record **record);

/* Writes a recorded run to a file of another format, sample by sample, so that memory does not grow
 * with its length. */
yk_status yk_record_convert(yk_context *context, const char *from, const char *to,
                            size_t *sample_count);

/* False after a run that did not reach its end: the rows exist, the summary does not. */
bool yk_record_is_complete(const yk_record *record);

/* Copies of the arguments of begin and end; all strings and labels exist, possibly as "". */
const yk_record_header *yk_record_get_header(const yk_record *record);
const yk_record_summary *yk_record_get_summary(const yk_record *record);

size_t yk_record_row_count(const yk_record *record);
/* Columns of yk_record_row_count() values, valid until the next sample, begin or destroy. NULL: there is
 * no such channel or component, or the file of yk_record_open() cannot be read; yk_last_message()
 * tells which. */
const double *yk_record_times(const yk_record *record);
const double *yk_record_column(const yk_record *record, int channel, int component);

/* Frames, and the values of each; the header contains the scene. NaN and NULL: there is no such
 * frame, or the file of yk_record_open() cannot be read, and the count is 0. */
size_t yk_record_frame_count(const yk_record *record);
double yk_record_frame_time(const yk_record *record, size_t frame);
const float *yk_record_frame(const yk_record *record, size_t frame);

/* Writes the scene and its frames as a VTKHDF file for ParaView and VTK: PolyData with a step per
 * frame. Particles are vertices with their radius, slender parts lines, solids polygons; points
 * have the indices of their subsystem and body, and the strain if any body has strain. An existing
 * file is replaced. YK_ERROR_INPUT: the record has no frames. */
yk_status yk_record_export_vtkhdf(yk_context *context, const yk_record *record, const char *path);

/* Index of the channel with this name, or -1. */
int yk_record_find_channel(const yk_record *record, const char *name);

#ifdef __cplusplus
}
#endif

#endif
