/* The subcommands, one file each. */
#ifndef YOKE_CLI_COMMANDS_H
#define YOKE_CLI_COMMANDS_H

int command_stability(int argc, char **argv);

#endif
