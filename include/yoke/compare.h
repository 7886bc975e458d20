/* Comparison of two recorded runs, channel by channel. */
#ifndef YOKE_COMPARE_H
#define YOKE_COMPARE_H

#include "yoke/record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yk_compare_options {
    size_t size;      /* sizeof (yk_compare_options) */
    double tolerance; /* largest difference that is accepted, by the range of the channel in A */
    const char *const *channels; /* names; NULL: all channels */
    int channel_count;
} yk_compare_options;

/* Tolerance 0: every sample must be equal. All channels. */
yk_compare_options yk_compare_options_default(void);

typedef enum yk_channel_relation {
    YK_CHANNELS_EQUAL,
    YK_CHANNELS_WITHIN_TOLERANCE,
    YK_CHANNELS_DIFFERENT,
    YK_CHANNELS_INCOMPATIBLE, /* another number of components, or another unit */
    YK_CHANNELS_ONLY_IN_A,
    YK_CHANNELS_ONLY_IN_B
} yk_channel_relation;

typedef struct yk_channel_comparison {
    const char *name; /* name and unit belong to the records */
    const char *unit;
    yk_channel_relation relation;
    /* Differences of channels in both records, in the channel's unit. */
    double max_difference; /* infinite if only one of them is NaN */
    double rms_difference;
    double range;      /* largest minus smallest value in A, of the component with the widest */
    double time;       /* s, of the largest difference; NaN if the channels are equal */
    int component;     /* of the largest difference */
    const char *label; /* of that component; "" if the channel has one component */
} yk_channel_comparison;

typedef struct yk_comparison {
    int channel_count;
    yk_channel_comparison *channels; /* those of A in their order, then those of B alone */
    int different_count;             /* channels that are neither equal nor within the tolerance */
} yk_comparison;

/* Compares A with B, which is interpolated linearly at the times of A that lie within it. The records
 * must outlive the comparison. YK_ERROR_ARGUMENT if A does not have a channel of the options. */
yk_status yk_record_compare(yk_context *context, const yk_record *a, const yk_record *b,
                            const yk_compare_options *options, yk_comparison **comparison);
void yk_comparison_destroy(yk_context *context, yk_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif
