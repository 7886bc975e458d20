#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/inputs.h"
#include "model/scenario.h"

/* "# 0123456789abcdef PATH", or "# - PATH" of what cannot be read. */
static void add_file(yk_context *context, yk_text *text, const char *path)
{
    FILE *stream = fopen(path, "rb");
    uint64_t hash = YK_HASH_START;
    char bytes[16384];
    size_t got = 0;
    while (stream && (got = fread(bytes, 1, sizeof bytes, stream)) > 0)
        hash = yk_hash_bytes(hash, bytes, got);

    if (stream && !ferror(stream))
        yk_text_add(context, text, "# %016" PRIx64 " %s\n", hash, path);
    else
        yk_text_add(context, text, "# - %s\n", path);
    if (stream)
        fclose(stream);
}

char *yk_scenario_inputs(const yk_scenario *scenario)
{
    yk_context *context = scenario->context;
    const yk_scenario_info *info = &scenario->info;
    yk_text text = {0};
    yk_text_add(context, &text, "# version %s\n# scenario %s\n", yk_version(), info->path);

    /* The list begins with the last; results and checkpoints are in it too, and are no inputs. */
    for (const yk_scenario_input *file = scenario->builder.files; file; file = file->next) {
        yk_text path = {0};
        const char *folder = file->whole == file->path ? "" : scenario->builder.folder;
        yk_text_add(context, &path, "%s%s", folder, file->path);
        bool output =
            path.data && ((info->record_file && !strcmp(path.data, info->record_file)) ||
                          (info->checkpoint_file && !strcmp(path.data, info->checkpoint_file)));
        if (path.failed)
            text.failed = true;
        else if (!output)
            add_file(context, &text, path.data);
        yk_text_destroy(context, &path);
    }

    for (int i = 0; i < info->plugin_count; i++)
        add_file(context, &text, info->plugins[i].path);

    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}
