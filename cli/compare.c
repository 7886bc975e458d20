/* yoke compare: compares two recorded runs, channel by channel. */
#include "yoke/compare.h"

#include <math.h>
#include <string.h>

#include "cli.h"
#include "json.h"

static const char usage[] =
    "compare A B [OPTIONS]\n\n"
    "Compare the channels of two recorded runs: largest and root mean square difference, and the "
    "component and the time of the largest. B is interpolated at the times of A. Exit code 0: "
    "equal "
    "within the tolerance, 1: different, 2: invalid input.";

static void print_channel(const yk_channel_comparison *channel)
{
    switch (channel->relation) {
    case YK_CHANNELS_EQUAL: print_out("  %-40s equal\n", channel->name); return;
    case YK_CHANNELS_INCOMPATIBLE:
        print_out("  %-40s has other components or another unit in B\n", channel->name);
        return;
    case YK_CHANNELS_ONLY_IN_A: print_out("  %-40s only in A\n", channel->name); return;
    case YK_CHANNELS_ONLY_IN_B: print_out("  %-40s only in B\n", channel->name); return;
    case YK_CHANNELS_WITHIN_TOLERANCE:
    case YK_CHANNELS_DIFFERENT: break;
    }

    char unit[32];
    snprintf(unit, sizeof unit, "[%s]", *channel->unit ? channel->unit : "1");
    print_out("  %-40s %14.4g %14.4g %-8s %-9s %10.5g", channel->name, channel->max_difference,
              channel->rms_difference, unit, *channel->label ? channel->label : "-", channel->time);
    if (channel->relation == YK_CHANNELS_DIFFERENT)
        print_styled(stdout, STYLE_SERIOUS, "  different");
    print_out("\n");
}

static void print_comparison(const yk_comparison *comparison)
{
    print_styled(stdout, STYLE_DIM, "  %-40s %14s %14s %-8s %-9s %10s\n", "channel",
                 "max difference", "rms difference", "", "component", "time s");
    for (int i = 0; i < comparison->channel_count; i++)
        print_channel(&comparison->channels[i]);

    int count = comparison->different_count;
    if (count == 0)
        print_styled(stdout, STYLE_GOOD, "all channels are equal\n");
    else
        print_styled(stdout, STYLE_SERIOUS, "%d channel%s\n", count,
                     count == 1 ? " differs" : "s differ");
}

static void write_json(const yk_comparison *comparison, double tolerance)
{
    static const char *const relations[] = {
        [YK_CHANNELS_EQUAL] = "equal",         [YK_CHANNELS_WITHIN_TOLERANCE] = "within_tolerance",
        [YK_CHANNELS_DIFFERENT] = "different", [YK_CHANNELS_INCOMPATIBLE] = "incompatible",
        [YK_CHANNELS_ONLY_IN_A] = "only_in_a", [YK_CHANNELS_ONLY_IN_B] = "only_in_b",
    };

    json_writer json = json_begin(stdout);
    json_bool(&json, "equal", comparison->different_count == 0);
    json_number(&json, "tolerance", tolerance);
    json_integer(&json, "different_count", comparison->different_count);
    json_open_array(&json, "channels");
    for (int i = 0; i < comparison->channel_count; i++) {
        const yk_channel_comparison *channel = &comparison->channels[i];
        json_open_object(&json, NULL);
        json_text(&json, "name", channel->name);
        json_text(&json, "unit", channel->unit);
        json_text(&json, "relation", relations[channel->relation]);
        if (channel->relation <= YK_CHANNELS_DIFFERENT) {
            json_number(&json, "max_difference", channel->max_difference);
            json_number(&json, "rms_difference", channel->rms_difference);
            json_number(&json, "range", channel->range);
            json_text(&json, "component", channel->label);
            json_number(&json, "time", channel->time);
        }
        json_close(&json);
    }
    json_close(&json);
    json_end(&json);
}

int command_compare(int argc, char **argv)
{
    const char *files[2];
    option_list wanted = {0};
    bool as_json = false;
    yk_compare_options options = yk_compare_options_default();

    const option_row rows[] = {
        {"tolerance", OPTION_NUMBER, &options.tolerance, "X",
         "Accept differences up to X times the range of the channel (default: 0, bitwise)"},
        {"channel", OPTION_LIST, &wanted, "NAME", "Compare only this channel; may be repeated"},
        JSON_ROW(&as_json),
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, files, 2, 2);
    if (parsed < 0)
        return options_exit(parsed);

    options.channels = wanted.items;
    options.channel_count = wanted.count;
    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    yk_record *records[2] = {NULL, NULL};
    yk_comparison *comparison = NULL;
    yk_status status = YK_OK;
    for (int i = 0; i < 2 && status == YK_OK; i++)
        status = yk_record_load(context, files[i], &records[i]);
    if (status == YK_OK)
        status = yk_record_compare(context, records[0], records[1], &options, &comparison);

    int code = EXIT_GOOD;
    if (status != YK_OK) {
        if (status == YK_ERROR_ARGUMENT)
            print_failure_of(files[0], context);
        else
            print_failure(context);
        code = input_code(status);
    } else {
        if (as_json)
            write_json(comparison, options.tolerance);
        else
            print_comparison(comparison);
        if (comparison->different_count > 0)
            code = EXIT_FAILED;
    }

    yk_comparison_destroy(context, comparison);
    yk_record_destroy(records[0]);
    yk_record_destroy(records[1]);
    yk_context_destroy(context);
    return code;
}
