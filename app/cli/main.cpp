// attnscope: one binary, a window and subcommands.
#include "app/cli/program.h"

int main(int argc, char** argv) { return attnscope::run_command_line(argc, argv); }
