/* The subcommands, one file each. */
#ifndef YOKE_CLI_COMMANDS_H
#define YOKE_CLI_COMMANDS_H

int command_run(int argc, char **argv);
int command_advise(int argc, char **argv);
int command_check(int argc, char **argv);
int command_draw(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_stability(int argc, char **argv);
int command_converge(int argc, char **argv);
int command_modes(int argc, char **argv);
int command_body(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_contact(int argc, char **argv);
int command_fmu(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_serve(int argc, char **argv);

#endif
