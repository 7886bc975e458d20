/* solver: remote */
#include <stdio.h>
#include <string.h>

#include "model/registry.h"
#include "yoke/transport.h"

static const yk_field fields[] = {
    {"address", YK_TYPE_TEXT, .required = true,
     .text = "of the server: `unix:PATH` (from the present folder) or `tcp:HOST:PORT`"},
    {"subsystem", YK_TYPE_TEXT,
     .text = "its name at the server; may be left out where the server has only one"},
    {"deadline", YK_TYPE_NUMBER, "s", "30", .range = YK_POSITIVE,
     .text = "for each answer: a partner that takes longer ends the run"},
    {"secret_file", YK_TYPE_PATH,
     .text = "a file whose first line both sides know; servers that other machines can reach ask "
             "for it"},
    {"shared_memory", YK_TYPE_BOOLEAN, .fallback = "true",
     .text = "frames go through memory that both processes share, where the address is `unix:`"},
    {0},
};

const yk_section yk_remote_section = {
    "remote",
    "A subsystem in another process, offered by `yoke serve` or by any program that speaks the "
    "protocol (docs/protocol.md). It has the ports, channels and capabilities of what is behind "
    "it; the results are the same to the last bit.",
    fields};

/* The first line of the file. */
static yk_status read_secret(yk_builder *builder, const yk_node *section, const char **secret)
{
    const yk_node *node = yk_node_get(section, "secret_file");
    const char *path = yk_builder_path(builder, section, "secret_file");
    enum { LINE = 1024, SHORTEST = 16 };
    char *line = yk_builder_take(builder, LINE);
    if (!path || !line)
        return YK_ERROR_MEMORY;

    FILE *file = fopen(path, "r");
    if (!file)
        return yk_builder_error(builder, node, "there is no file %s that can be read", path);

    bool got = fgets(line, LINE, file);
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (!got || strlen(line) < SHORTEST)
        return yk_builder_error(builder, node,
                                "the first line of %s is the secret, and has %d letters at least",
                                path, SHORTEST);
    *secret = line;
    return YK_OK;
}

yk_status yk_remote_build(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    yk_remote_def def = yk_remote_default();
    def.address = yk_node_text(section, "address");
    if (yk_node_get(section, "subsystem"))
        def.subsystem = yk_node_text(section, "subsystem");
    def.deadline = yk_node_number(section, "deadline");
    def.socket_only = !yk_node_boolean(section, "shared_memory");
    if (yk_node_get(section, "secret_file")) {
        yk_status status = read_secret(builder, section, &def.secret);
        if (status != YK_OK)
            return status;
    }
    return yk_remote_create(yk_builder_context(builder), &def, subsystem);
}
