/* solver: remote */
#include "model/registry.h"
#include "yoke/remote.h"

static const yk_option fields[] = {
    {"address", YK_OPTION_TEXT, .required = true,
     .description =
         "address of the server: `unix:PATH` (relative to the present folder) or `tcp:HOST:PORT`"},
    {"remote_name", YK_OPTION_TEXT,
     .description = "its name at the server; optional if the server has only one"},
    {"timeout", YK_OPTION_NUMBER, "s", "30", .range = YK_POSITIVE,
     .description = "limit for each answer: a partner that takes longer ends the run"},
    {"secret_file", YK_OPTION_PATH,
     .description = "a file whose first line is known to both sides; required by servers that "
                    "other machines can reach"},
    {"shared_memory", YK_OPTION_BOOLEAN, .default_text = "true",
     .description = "use shared memory for frames, if the address is `unix:`"},
    {0},
};

static const yk_option_section remote_section = {
    "remote",
    "A subsystem in another process, offered by `yoke serve` or by any program that supports the "
    "protocol (docs/protocol.md). It has the ports, channels and capabilities of the remote "
    "subsystem; the results are the same bit for bit.",
    fields};

static yk_status build_remote(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    yk_context *context = yk_builder_context(builder);
    yk_builder_note_partner(builder);
    yk_remote_def def = yk_remote_default();
    def.address = yk_node_text(section, "address");
    def.timeout = yk_node_number(section, "timeout");
    def.disable_shared_memory = !yk_node_boolean(section, "shared_memory");

    /* A server with one subsystem needs no name. */
    if (yk_node_get(section, "remote_name"))
        def.subsystem = yk_node_text(section, "remote_name");

    /* The secret is used once, when the connection is made. */
    char secret[YK_SECRET_MAX];
    const yk_node *file = yk_node_get(section, "secret_file");
    if (file) {
        const char *path = yk_builder_path(builder, section, "secret_file");
        if (!path)
            return YK_ERROR_MEMORY;
        if (yk_read_secret_file(context, path, secret) != YK_OK)
            return yk_builder_error(builder, file, "%s", yk_last_message(context));

        def.secret = secret;
    }

    return yk_remote_create(context, &def, subsystem);
}

const yk_solver_kind yk_remote_kind = {&remote_section, build_remote};
