/* yoke flexible: a flexible body of a scenario as tables of nodes, shapes and inertia invariants. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "model/modal.h"
#include "multibody/def.h"

static const char usage[] =
    "flexible SCENARIO SUBSYSTEM.BODY -o FOLDER [OPTIONS]\n"
    "\n"
    "Export a flexible body (a modal body or a rod with shapes) as nodes.csv, "
    "modes.csv, second_order.csv and invariants.csv, and print the section of a "
    "scenario that reads them.";

int command_flexible(int argc, char **argv)
{
    option_list sets = {0};
    const char *folder = NULL;
    const char *operands[2];

    const option_row rows[] = {
        {"output", OPTION_TEXT, &folder, "FOLDER",
         "Write the tables to FOLDER; the folder is created if it does not exist"},
        SET_ROW(&sets),
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, operands, 2, 2);
    if (parsed < 0)
        return options_exit(parsed);

    if (!folder) {
        print_err("yoke: say where to write the tables: -o FOLDER\n");
        return EXIT_MISUSE;
    }

    loaded l;
    if (!load_scenario(operands[0], &sets, LOAD_TO_RUN, &l))
        return l.code;

    /* The body: "SUBSYSTEM.BODY". */
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    const char *name = operands[1];
    const char *dot = strchr(name, '.');

    const yk_multibody_description *def = NULL;
    int index = -1;
    for (int i = 0; dot && index < 0 && i < info->subsystem_count; i++) {
        size_t length = strlen(info->subsystem_names[i]);
        yk_multibody *model = yk_multibody_of(info->subsystems[i]);
        if (!model || length != (size_t)(dot - name) ||
            strncmp(info->subsystem_names[i], name, length) != 0)
            continue;

        def = yk_multibody_definition(model);
        for (int k = 0; k < def->flexible_count; k++)
            if (strcmp(def->flexibles[k].name, dot + 1) == 0)
                index = k;
    }

    /* Its tables, if it has shapes. */
    const yk_flexible *body = NULL;
    if (index >= 0)
        body = def->flexibles[index].body;

    int code = EXIT_MISUSE;
    if (!body)
        print_err("yoke: there is no flexible body '%s': name it as SUBSYSTEM.BODY, of a smooth "
                  "subsystem\n",
                  name);
    else if (body->kind != YK_FLEXIBLE_MODAL)
        print_err("yoke: '%s' has no shapes: bodies of type rod and modal do\n", name);
    else if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        print_err("yoke: cannot make the folder %s: %s\n", folder, strerror(errno));
        code = EXIT_FAILED;
    } else if (yk_modal_write(l.context, body, folder) != YK_OK)
        code = print_failure(l.context);
    else
        code = EXIT_GOOD;

    if (code != EXIT_GOOD) {
        close_scenario(&l);
        return code;
    }

    /* And the item of `flexible` that reads them; second order only if some point has it. */
    print_out("%s:\n  type: modal\n  nodes_file: %s/nodes.csv\n  modes_file: %s/modes.csv\n  "
              "invariants_file: "
              "%s/invariants.csv\n",
              def->flexibles[index].name, folder, folder, folder);

    bool bends = false;
    for (int k = 0; k < body->attachments + body->outline; k++)
        if (body->nodes[k].bend_count > 0)
            bends = true;
    if (bends)
        print_out("  second_order_file: %s/second_order.csv\n", folder);

    /* Points are numbered from 1 in the tables; their names are qualified by that of the body. */
    const char *lead = "  attachments: {";
    for (int i = 0; i < def->attachment_count; i++) {
        const yk_multibody_attachment_def *attachment = &def->attachments[i];
        if (attachment->flexible != index)
            continue;

        print_out("%s%s: %d", lead, behind_last(attachment->name, '.'), attachment->attachment + 1);
        lead = ", ";
    }

    if (strcmp(lead, ", ") == 0)
        print_out("}\n");

    close_scenario(&l);
    return EXIT_GOOD;
}
